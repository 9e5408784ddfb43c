//! The way out of the page: pictures, arrays, and numbers as text.

use isobar_page_model::filenames::file_name;
use leptos::prelude::*;

use super::describe;
use crate::bridge::locale::t;
use crate::plots::export::PlotDrawing;
use crate::state::use_app;

/// Buttons for files. Reads what is drawn.
#[component]
pub fn Exports(drawn: Memo<Option<PlotDrawing>>) -> impl IntoView {
    let app = use_app();
    // In a file nothing else tells where the numbers come from.
    let told = move || {
        let provenance = describe::provenance(app);
        let note = |note: String| {
            if note.is_empty() { provenance.clone() } else { format!("{note}  ·  {provenance}") }
        };
        drawn.get_untracked().map(|it| match it {
            PlotDrawing::Plane(mut plane) => {
                plane.note = note(plane.note);
                PlotDrawing::Plane(plane)
            }
            PlotDrawing::Chart(mut chart) => {
                chart.note = note(chart.note);
                PlotDrawing::Chart(chart)
            }
        })
    };
    let name = move |ending: &str| {
        let title = told().map(|it| match it {
            PlotDrawing::Plane(plane) => plane.title,
            PlotDrawing::Chart(chart) => chart.title,
        });
        let title = title.unwrap_or_default().replace(" = ", "").replace([',', ' '], "-").replace("--", "-");
        format!("{}.{ending}", file_name(&title))
    };
    let png = move |_| {
        if let Some(bytes) = untrack(told).and_then(|it| it.png()) {
            app.save_file(&untrack(|| name("png")), "image/png", &bytes);
        }
    };
    let svg = move |_| {
        if let Some(text) = untrack(told).and_then(|it| it.svg()) {
            app.save_file(&untrack(|| name("svg")), "image/svg+xml", text.as_bytes());
        }
    };
    let csv = move |_| {
        if let Some(it) = drawn.get_untracked() {
            app.copy_text(it.csv());
        }
    };
    let is_empty = move || drawn.with(Option::is_none);
    view! {
        <div class="exports" role="group" aria-label=t!("field-save")>
            <span class="control-label">{t!("field-save-label")}</span>
            <button type="button" class="quiet" data-testid="export-png" disabled=is_empty on:click=png
                title=t!("field-png-about")>"PNG"</button>
            <button type="button" class="quiet" data-testid="export-svg" disabled=is_empty on:click=svg
                title=t!("field-svg-about")>"SVG"</button>
            <button type="button" class="quiet" data-testid="export-npz" on:click=move |_| app.save_archive()
                title=t!("field-npz-about")>".npz"</button>
            <button type="button" class="quiet" data-testid="copy-csv" disabled=is_empty on:click=csv
                title=t!("field-csv-about")>{t!("field-csv")}</button>
        </div>
    }
}
