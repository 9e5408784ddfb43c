//! How two results differ, in a sentence.

use isobar_protocol::field::Difference;

use crate::bridge::locale::t;

/// The comparison in a sentence.
#[must_use]
pub fn sentence(differences: &[Difference]) -> String {
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
