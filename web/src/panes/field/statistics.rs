//! Numbers of what is shown: the plane, and the whole field; of a difference, the difference's.

use isobar_protocol::field::FieldInfo;
use isobar_protocol::picture::{Extreme, Summary};
use leptos::prelude::*;

use super::describe;
use crate::bridge::locale::t;
use crate::content::field::letter;
use crate::plots::number::{grouped, short};
use crate::state::use_app;

/// A table of the plane's and of the field's numbers. Reads them; moves to a cell.
#[component]
pub fn Statistics() -> impl IntoView {
    let app = use_app();
    let plane = Memo::new(move |_| app.view.shown.get().map(|it| it.slice.summary.clone()));
    let whole = Memo::new(move |_| app.view.look.whole.get().map(|it| it.summary.clone()));
    let of = move |which: Memo<Option<Summary>>, value: fn(&Summary) -> Option<f64>| {
        which.with(|it| it.as_ref().and_then(value)).map_or_else(|| "–".to_owned(), |it| short(it, 6))
    };
    let count = move |which: Memo<Option<Summary>>, value: fn(&Summary) -> u64| {
        which.with(|it| it.as_ref().map(value)).map_or_else(|| "–".to_owned(), grouped)
    };
    let extreme = move |which: Memo<Option<Summary>>, value: fn(&Summary) -> Option<Extreme>| {
        let found = which.with(|it| it.as_ref().and_then(value));
        match found {
            Some(Extreme { value, at }) => view! {
                {short(value, 6)}
                <button
                    type="button"
                    class="cell-link"
                    title=t!("statistics-go")
                    on:click=move |_| app.view.choose_cell(at)
                >
                    {describe::cell(app, at)}
                </button>
            }
            .into_any(),
            None => "–".into_any(),
        }
    };
    let has_odd = move |which: Memo<Option<Summary>>| {
        which.with(|it| it.as_ref().is_some_and(|it| it.nan + it.inf > 0))
    };
    let both = move |value: fn(&Summary) -> Option<f64>| {
        view! {
            <td class="number">{move || of(plane, value)}</td>
            <td class="number">{move || of(whole, value)}</td>
        }
    };
    let extremes = move |value: fn(&Summary) -> Option<Extreme>| {
        view! {
            <td class="number">{move || extreme(plane, value)}</td>
            <td class="number">{move || extreme(whole, value)}</td>
        }
    };
    let counts = move |value: fn(&Summary) -> u64| {
        view! {
            <td class="number">{move || count(plane, value)}</td>
            <td class="number">{move || count(whole, value)}</td>
        }
    };
    let verdict = move || {
        let summary = whole.get()?;
        let differing = summary.differing?;
        Some(if summary.is_identical() {
            t!("statistics-same", cells = grouped(summary.cells))
        } else {
            t!(
                "statistics-differ",
                count = differing,
                differing = grouped(differing),
                cells = grouped(summary.cells),
            )
        })
    };
    let is_identical = move || whole.with(|it| it.as_ref().is_some_and(Summary::is_identical));
    let kind = move || app.view.shown_field().map(|it| shape(&it));
    view! {
        <div class="statistics" data-testid="statistics">
            {move || verdict().map(|it| view! {
                <p class="sameness" class:ok=is_identical class:warn=move || !is_identical() data-testid="sameness">{it}</p>
            })}
            <table class="table statistics-table">
                <thead>
                    <tr>
                        <td class="kind">{kind}</td>
                        <th scope="col" class="number">{move || t!("this-plane", axis = letter(app.view.across.get()))}</th>
                        <th scope="col" class="number">{t!("whole-field")}</th>
                    </tr>
                </thead>
                <tbody>
                    <tr data-testid="stat-min"><th scope="row">{t!("statistics-min")}</th>{extremes(|it| it.min)}</tr>
                    <tr data-testid="stat-max"><th scope="row">{t!("statistics-max")}</th>{extremes(|it| it.max)}</tr>
                    <tr data-testid="stat-mean"><th scope="row">{t!("statistics-mean")}</th>{both(|it| it.mean)}</tr>
                    <tr data-testid="stat-std">
                        <th scope="row"><abbr title=t!("statistics-std-about")>{t!("statistics-std")}</abbr></th>
                        {both(|it| it.deviation)}
                    </tr>
                    <tr data-testid="stat-nan" class:warn=move || has_odd(whole)>
                        <th scope="row">"NaN"</th>
                        {counts(|it| it.nan)}
                    </tr>
                    <tr data-testid="stat-inf" class:warn=move || has_odd(whole)>
                        <th scope="row">"Inf"</th>
                        {counts(|it| it.inf)}
                    </tr>
                </tbody>
            </table>
        </div>
    }
}

/// The type, the axes, and the sizes of data dimensions: `float64 IJK [3, 2]`.
fn shape(field: &FieldInfo) -> String {
    let data = field.data_dims();
    let data = if data.is_empty() { String::new() } else { format!(" {data:?}") };
    format!("{} {}{data}", field.dtype, field.axes)
}
