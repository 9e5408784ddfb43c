//! One cell: its value in all digits, what stands around it, and what the other fields have there.

use std::sync::Arc;

use isobar_page_model::findings::{CellReadings, number};
use isobar_page_model::run::RunResult;
use isobar_protocol::picture::Reading;
use isobar_protocol::worker::Across;
use leptos::prelude::*;

use super::describe;
use super::picture::axes;
use crate::bridge::locale::t;
use crate::content::field::letter;
use crate::plots::number::short;
use crate::state::use_app;

/// The chosen cell, once one is chosen. Reads it; lets go of it.
#[component]
pub fn Inspector() -> impl IntoView {
    let app = use_app();
    let look = app.view.look;
    // Of the results that are of one text: the keeper may have another one of a text before.
    let found = Memo::new(move |_| {
        let found = look.inspected.get()?;
        let revision = app.view.outcome()?.revision;
        let is_of = |it: &Arc<RunResult>| it.revision == revision;
        let (has_a, has_b) =
            (app.run.a.get().is_some_and(|it| is_of(&it)), app.run.b.get().is_some_and(|it| is_of(&it)));
        let readings = found.readings.iter().cloned().filter_map(|it| {
            let (a, b) = (it.a.filter(|_| has_a), it.b.filter(|_| has_b));
            let has_both = a.is_some() && b.is_some();
            let is_there = a.is_some() || b.is_some();
            let difference = it.difference.filter(|_| has_both);
            is_there.then_some(Reading { a, b, difference, ..it })
        });
        Some(Arc::new(CellReadings { at: found.at, readings: readings.collect() }))
    });
    let said = Memo::new(move |_| {
        let found = found.get()?;
        let field = app.view.shown_field()?;
        let reading = found.readings.iter().find(|it| it.field == field.name)?;
        let values = [("", &reading.a), ("B ", &reading.b)];
        let values: Vec<String> =
            values.into_iter().filter_map(|(name, it)| Some(format!("{name}{}", it.as_ref()?))).collect();
        let [i, j, k] = found.at;
        let unit = describe::documented(app, &field.name).unit;
        let values = if values.is_empty() { t!("cell-no-value").to_owned() } else { values.join(", ") };
        Some(format!("i {i}, j {j}, k {k}: {values} {unit}").trim_end().to_owned())
    });
    view! {
        <p class="visually-hidden" role="status" aria-live="polite" data-testid="cell-announcement">
            {move || said.get().unwrap_or_default()}
        </p>
        {move || found.get().map(|it| view! { <Cell found=it /> })}
    }
}

#[component]
fn Cell(found: Arc<CellReadings>) -> impl IntoView {
    let app = use_app();
    let [i, j, k] = found.at;
    let shown = Memo::new(move |_| app.view.shown_field().map(|it| it.name).unwrap_or_default());
    let rows = found.readings.clone().into_iter().map(move |reading| {
        let name = reading.field.clone();
        let values = [("a", "A", reading.a), ("b", "B", reading.b)];
        let n = values.iter().filter(|(_, _, it)| it.is_some()).count();
        let mut lines: Vec<(&str, &str, String)> =
            values.into_iter().filter_map(|(of, title, it)| Some((of, title, it?))).collect();
        if let Some(difference) = reading.difference {
            lines.push(("difference", "A − B", difference));
        }
        if n == 2 {
            lines.push(("ulp", "ULP", reading.ulp.map_or_else(|| "NaN".to_owned(), |it| it.to_string())));
        }
        let is_alone = lines.len() == 1;
        let lines = lines.into_iter().map(|(of, title, value)| {
            view! {
                <div class="reading-line">
                    <span class="control-label">{(!is_alone).then_some(title)}</span>
                    <span class="number" data-of=of>{value}</span>
                </div>
            }
        });
        view! {
            <tr
                data-testid="reading"
                data-field=reading.field.clone()
                aria-current=move || (shown.get() == name).then_some("true")
            >
                <th scope="row"><code>{reading.field.clone()}</code></th>
                <td>{lines.collect_view()}</td>
            </tr>
        }
    });
    view! {
        <section class="inspector" aria-label=t!("cell") data-testid="inspector" data-cell=format!("{i},{j},{k}")>
            <div class="inspector-head">
                <h3>{t!("cell")}" "<span class="number">{format!("({i}, {j}, {k})")}</span></h3>
                <button
                    type="button"
                    class="quiet"
                    data-testid="inspector-close"
                    on:click=move |_| app.view.look.cell.set(None)
                >
                    {t!("cell-let-go")}
                </button>
            </div>
            <div class="inspector-body">
                <Around />
                <table class="table readings" aria-label=t!("cell-values")>
                    <tbody>{rows.collect_view()}</tbody>
                </table>
            </div>
        </section>
    }
}

/// The cells around the chosen one: those of its plane, and of the planes before and behind.
#[component]
fn Around() -> impl IntoView {
    let app = use_app();
    let look = app.view.look;
    move || {
        let around = look.around.get()?;
        let across = app.view.across.get();
        let [columns, rows] = axes(across).map(number);
        let layer = |step: i64| {
            let position = around.at[number(across)].saturating_add(step);
            let lines = [-1_i64, 0, 1].map(|line| {
                [-1_i64, 0, 1].map(|column| {
                    let mut steps = [0; 3];
                    steps[number(across)] = step;
                    steps[columns] = column;
                    // The picture has its first row at the bottom where it is a plan.
                    steps[rows] = if across == Across::K { -line } else { line };
                    (steps == [0; 3], around.value(steps))
                })
            });
            let is_there = lines.iter().flatten().any(|it| it.1.is_some());
            is_there.then(|| {
                let rows = lines.map(|values| {
                    let values = values.map(|(is_it, value)| {
                        let text = value.map_or_else(|| "·".to_owned(), |it| short(it, 5));
                        view! { <td class="number" class:here=is_it>{text}</td> }
                    });
                    view! { <tr>{values.collect_view()}</tr> }
                });
                let test_id = if step == 0 { "neighbours" } else { "neighbours-beside" };
                view! {
                    <table class="around" data-testid=test_id>
                        <caption>{letter(across)}" = "{position}</caption>
                        <tbody>{rows.collect_view()}</tbody>
                    </table>
                }
            })
        };
        Some(view! { <div class="around-all">{[-1, 0, 1].map(layer).collect_view()}</div> })
    }
}
