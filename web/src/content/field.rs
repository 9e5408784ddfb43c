//! The words beside the picture of a field: axes, units and cells.

use isobar_protocol::worker::{Across, Which};

use crate::bridge::locale::t;

/// How the axes are called beside a picture.
#[must_use]
pub fn names() -> [&'static str; 3] {
    ["i", "j", t!("field-axis-k")]
}

/// How an axis is called in what is written.
#[must_use]
pub fn letter(across: Across) -> &'static str {
    match across {
        Across::I => "i",
        Across::J => "j",
        Across::K => "k",
    }
}

/// The quantity that a number stands for, with its unit: `q_out (kg/kg)`.
#[must_use]
pub fn quantity(which: Which, field: &str, unit: &str) -> String {
    let unit = if unit.is_empty() { String::new() } else { format!(" ({unit})") };
    match which {
        Which::A | Which::B => format!("{field}{unit}"),
        Which::Difference => t!("field-quantity-difference", field = field, unit = unit),
        Which::Relative => t!("field-quantity-relative", field = field),
        Which::Ulp => t!("field-quantity-ulp", field = field),
    }
}

/// The field as a title has it.
#[must_use]
pub fn subject(which: Which, field: &str) -> String {
    match which {
        Which::A => field.to_owned(),
        Which::B => format!("{field} (B)"),
        Which::Difference => format!("{field}, A − B"),
        Which::Relative => t!("field-subject-relative", field = field),
        Which::Ulp => t!("field-subject-ulp", field = field),
    }
}

/// `(12, 40, 3)`; an axis that is not among `axes` is left out.
#[must_use]
pub fn cell_of(axes: &str, at: [i64; 3]) -> String {
    let kept = "IJK".chars().zip(at).filter(|(letter, _)| axes.is_empty() || axes.contains(*letter));
    let kept: Vec<String> = kept.map(|(_, at)| at.to_string()).collect();
    format!("({})", kept.join(", "))
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
