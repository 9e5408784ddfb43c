//! The drawing as a table of numbers, for readers who cannot see the picture or want the digits.

use std::sync::Arc;

use leptos::prelude::*;

use super::picture::place;
use crate::bridge::locale::{decimal, t};
use crate::plots::export::PlotDrawing;
use crate::plots::plane::Plane;
use crate::state::use_app;

/// Columns and rows of a plane that are shown at a time, around the cell.
const WINDOW: usize = 12;
/// Rows of a chart.
const MOST_ROWS: usize = 400;

/// The values around the cell, or those of the chart. Reads what is drawn.
#[component]
pub fn Values(drawn: Memo<Option<PlotDrawing>>) -> impl IntoView {
    let app = use_app();
    let is_open = RwSignal::new(false);
    let table = Memo::new(move |_| {
        // Not computed while the table is closed.
        is_open.get().then_some(())?;
        let cell = app.view.shown.get().and_then(|it| place(&it, app.view.cursor()?));
        let text = drawn.with(|it| match it.as_ref()? {
            PlotDrawing::Plane(plane) => {
                Some(PlotDrawing::Plane(window(plane, cell.unwrap_or_default())).csv())
            }
            chart @ PlotDrawing::Chart(_) => Some(chart.csv()),
        })?;
        let rows = text.lines().take(MOST_ROWS + 1);
        Some(rows.map(|it| it.split(',').map(str::to_owned).collect::<Vec<_>>()).collect::<Vec<_>>())
    });
    let is_plane = move || drawn.with(|it| matches!(it, Some(PlotDrawing::Plane(_))));
    let body = move || {
        let mut rows = table.get()?.into_iter();
        let head = rows.next()?;
        let cells = move |row: Vec<String>| {
            let mut cells = row.into_iter();
            let first = cells.next().unwrap_or_default();
            view! {
                <tr>
                    <th scope="row" class="number">{first}</th>
                    {cells.map(|it| view! { <td class="number">{decimal(it)}</td> }).collect_view()}
                </tr>
            }
        };
        Some(view! {
            <div class="values-window" tabindex="0" role="group" aria-label=t!("table")>
                <table class="values" data-testid="values-table">
                    <thead>
                        <tr>
                            {head.into_iter().map(|it| view! { <th scope="col" class="number">{it}</th> }).collect_view()}
                        </tr>
                    </thead>
                    <tbody>{rows.map(cells).collect_view()}</tbody>
                </table>
            </div>
        })
    };
    view! {
        <details
            class="values-of"
            on:toggle:target=move |event| is_open.set(event.target().has_attribute("open"))
        >
            <summary data-testid="values-toggle">{t!("table-toggle")}</summary>
            <Show when=is_plane>
                <p class="muted">{t!("table-about")}</p>
            </Show>
            {body}
        </details>
    }
}

/// The part of a plane around a cell.
fn window(plane: &Plane, (column, row): (usize, usize)) -> Plane {
    let part = |at: usize, n: usize| {
        let start = at.saturating_sub(WINDOW / 2).min(n.saturating_sub(WINDOW));
        (start, (start + WINDOW).min(n))
    };
    let (columns, rows) = (part(column, plane.width), part(row, plane.height));
    let mut values = Vec::new();
    for row in rows.0..rows.1 {
        let start = row * plane.width;
        values.extend(plane.values.get(start + columns.0..start + columns.1).unwrap_or_default());
    }
    Plane {
        values: Arc::new(values),
        width: columns.1 - columns.0,
        height: rows.1 - rows.0,
        first: [
            plane.first[0].saturating_add_unsigned(columns.0 as u64),
            plane.first[1].saturating_add_unsigned(rows.0 as u64),
        ],
        ..plane.clone()
    }
}
