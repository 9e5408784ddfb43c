//! What a picture is called: fields, units, cells and results in words.

use isobar_protocol::worker::{Across, Documented, Which};
use leptos::prelude::*;

use crate::bridge::locale::t;
use crate::state::App;
use crate::state::run::Outcome;

/// How the axes are called beside a picture.
pub(super) fn names() -> [&'static str; 3] {
    ["i", "j", t!("field-axis-k")]
}

pub(super) fn letter(across: Across) -> &'static str {
    match across {
        Across::I => "i",
        Across::J => "j",
        Across::K => "k",
    }
}

/// What the docstring says of the field.
pub(super) fn documented(app: App, field: &str) -> Documented {
    app.compilation.defaults.with(|it| it.documented.get(field).cloned()).unwrap_or_default()
}

/// What a number stands for, with its unit: `q_out (kg/kg)`.
pub(super) fn quantity(which: Which, field: &str, unit: &str) -> String {
    let unit = if unit.is_empty() { String::new() } else { format!(" ({unit})") };
    match which {
        Which::A | Which::B => format!("{field}{unit}"),
        Which::Difference => t!("field-quantity-difference", field = field, unit = unit),
        Which::Relative => t!("field-quantity-relative", field = field),
        Which::Ulp => t!("field-quantity-ulp", field = field),
    }
}

/// The field as a title has it.
pub(super) fn subject(which: Which, field: &str) -> String {
    match which {
        Which::A => field.to_owned(),
        Which::B => format!("{field} (B)"),
        Which::Difference => format!("{field}, A − B"),
        Which::Relative => t!("field-subject-relative", field = field),
        Which::Ulp => t!("field-subject-ulp", field = field),
    }
}

/// The element of the data dimensions, where there are some: `[2, 1]`.
pub(super) fn element(app: App) -> String {
    let field = app.shown_field().filter(|it| it.n_elements() > 1);
    field
        .map(|it| format!("{:?}", it.data_index(app.view.element.get().min(it.n_elements() - 1))))
        .unwrap_or_default()
}

/// `(12, 40, 3)`; an axis that the field has not is left out.
pub(super) fn cell(app: App, at: [i64; 3]) -> String {
    let axes = app.shown_field().map(|it| it.axes).unwrap_or_default();
    cell_of(&axes, at)
}

fn cell_of(axes: &str, at: [i64; 3]) -> String {
    let kept = "IJK".chars().zip(at).filter(|(letter, _)| axes.is_empty() || axes.contains(*letter));
    let kept: Vec<String> = kept.map(|(_, at)| at.to_string()).collect();
    format!("({})", kept.join(", "))
}

/// Back ends, precision, domain and machine of what is shown.
pub(super) fn provenance(app: App) -> String {
    let one = |name: &str, outcome: &Outcome| {
        let [i, j, k] = outcome.domain;
        format!("{name}: {} fp{}, {i}×{j}×{k}, {}", outcome.backend, outcome.precision, outcome.machine)
    };
    let a = app.run.a.get().map(|it| one("A", &it)).unwrap_or_default();
    let b = app.run.b.get().map(|it| one("B", &it)).unwrap_or_default();
    match app.view.which.get() {
        Which::A => a,
        Which::B => b,
        Which::Difference | Which::Relative | Which::Ulp => t!("field-less", a = a, b = b),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quantity_has_its_unit() {
        assert_eq!(quantity(Which::A, "p", "Pa"), "p (Pa)");
        assert_eq!(quantity(Which::B, "p", ""), "p");
        assert_eq!(quantity(Which::Difference, "p", "Pa"), "A − B of p (Pa)");
    }

    #[test]
    fn a_cell_has_the_axes_of_its_field() {
        assert_eq!(cell_of("IJK", [1, 2, 3]), "(1, 2, 3)");
        assert_eq!(cell_of("IJ", [1, 2, 3]), "(1, 2)");
        assert_eq!(cell_of("K", [1, 2, 3]), "(3)");
    }
}
