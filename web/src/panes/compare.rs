//! How the two results differ.

use isobar_protocol::field::Difference;
use leptos::prelude::*;

use crate::bridge::locale::t;
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

/// The comparison in a sentence.
fn sentence(differences: &[Difference]) -> String {
    let cells: u64 = differences.iter().map(|it| it.cells).sum();
    let differing: u64 = differences.iter().map(|it| it.differing).sum();
    if differing == 0 {
        return t!("compare-same", cells = cells);
    }
    t!("compare-differs", differing = differing, cells = cells, largest = largest(differences))
}

/// The largest difference of all; a NaN on one side is larger than any number.
fn largest(differences: &[Difference]) -> String {
    if differences.iter().any(|it| it.max_ulp.is_none()) {
        return t!("compare-nan").to_owned();
    }
    let ulp = differences.iter().filter_map(|it| it.max_ulp).max().unwrap_or(0);
    format!("{ulp} ULP")
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sentence_names_the_number_of_cells_and_the_largest_difference() {
        let same = Difference { cells: 8, max_ulp: Some(0), ..Difference::default() };
        let other = Difference { cells: 8, differing: 2, max_ulp: Some(3), ..Difference::default() };
        let nan = Difference { cells: 8, differing: 1, max_ulp: None, ..Difference::default() };
        assert_eq!(
            sentence(&[same.clone(), same.clone()]),
            "0 cells differ: all 16 values have the same bits."
        );
        assert_eq!(sentence(&[same, other.clone()]), "2 of 16 cells differ, by 3 ULP at most.");
        assert_eq!(sentence(&[other, nan]), "3 of 16 cells differ, by NaN on one side at most.");
    }
}
