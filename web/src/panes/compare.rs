//! How the two results differ.

use isobar_protocol::field::Difference;
use leptos::prelude::*;

use crate::bridge::locale::t;
use crate::content::compare::sentence;
use crate::plots::number;
use crate::state::use_app;

/// The comparison of the last two results, if there is one. Reads it.
#[component]
pub fn Comparison() -> impl IntoView {
    let app = use_app();
    move || {
        app.run.differences.get().map(|differences| {
            let sentence = sentence(&differences);
            let is_equal = differences.iter().all(|it| it.differing == 0);
            view! {
                <section class="comparison" aria-label=t!("compare")>
                    <p class="comparison-sentence" class:ok=is_equal class:warn=!is_equal data-testid="compare-result">
                        {sentence}
                        <Show when=move || app.is_comparison_old()><span class="stage-note">" "{t!("stale")}</span></Show>
                    </p>
                    <table class="table">
                        <thead>
                            <tr>
                                <th scope="col">{t!("compare-field")}</th>
                                <th scope="col" class="number">{t!("compare-cells")}</th>
                                <th scope="col" class="number">{t!("compare-differ")}</th>
                                <th scope="col">{t!("compare-largest")}</th>
                                <th scope="col">{t!("compare-where")}</th>
                            </tr>
                        </thead>
                        <tbody>{differences.into_iter().map(row).collect_view()}</tbody>
                    </table>
                </section>
            }
        })
    }
}

fn row(difference: Difference) -> impl IntoView {
    let largest = if difference.differing == 0 {
        "–".to_owned()
    } else {
        match difference.max_ulp {
            Some(ulp) => format!("{ulp} ULP ({})", number::short(difference.max_abs, 3)),
            None => t!("compare-nan").to_owned(),
        }
    };
    let place = match (difference.worst, difference.worst_values) {
        (Some([i, j, k]), Some([a, b])) => t!("compare-place", i = i, j = j, k = k, a = a, b = b),
        _ => String::new(),
    };
    view! {
        <tr>
            <th scope="row"><code>{difference.name}</code></th>
            <td class="number">{difference.cells}</td>
            <td class="number">{difference.differing}</td>
            <td>{largest}</td>
            <td class="wrap">{place}</td>
        </tr>
    }
}
