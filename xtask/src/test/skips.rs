//! Skips that CI allows: `tests/skips.txt`, a line for each with its reason.

use std::fs;

use anyhow::{Context, Result};

use crate::process::root;

const LIST: &str = "tests/skips.txt";

/// The skips that no line of the list allows.
pub(super) fn unexpected(skips: &[String]) -> Result<Vec<String>> {
    let list = fs::read_to_string(root().join(LIST)).context(LIST)?;
    let allowed = allowed(&list);
    Ok(skips.iter().filter(|skip| !allowed.iter().any(|it| skip.contains(it))).cloned().collect())
}

/// The parts of skips that the lines allow: the text before ` # ` and the reason.
fn allowed(list: &str) -> Vec<&str> {
    let lines = list.lines().map(str::trim).filter(|it| !it.is_empty() && !it.starts_with('#'));
    lines.map(|it| it.split_once(" # ").map_or(it, |it| it.0).trim()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_allows_what_it_is_a_part_of() {
        let list = "# What CI does not have.\n\ncuda, there is no driver # no NVIDIA GPU\na::b: # root\n";
        assert_eq!(allowed(list), ["cuda, there is no driver", "a::b:"]);
    }

    #[test]
    fn the_list_is_there_and_each_line_has_a_reason() {
        let list = fs::read_to_string(root().join(LIST)).expect("it is in the sources");
        for line in list.lines().filter(|it| !it.is_empty() && !it.starts_with('#')) {
            assert!(line.contains(" # "), "{line}");
        }
    }
}
