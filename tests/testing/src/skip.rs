//! Skips, printed in the form that the test runner counts.
//!
//! libtest captures both lines with the output of the test that prints them. The runner reads them there and holds
//! them against `tests/skips.txt`, which lists the skips of the machine that CI has.

#![expect(clippy::print_stdout, reason = "the test runner reads skips from the output of a test")]

use std::fmt::Display;

/// Tells that the running test leaves out everything, so that it counts as skipped and not as passed.
pub fn skip(what: impl Display, why: impl Display) {
    println!("skipped: {}", line(&what, &why));
}

/// Tells that the running test leaves out a part: it counts as passed, and the part as skipped.
pub fn skip_part(what: impl Display, why: impl Display) {
    println!("skipped in part: {}", line(&what, &why));
}

/// Both in one line, since the runner reads lines.
fn line(what: &dyn Display, why: &dyn Display) -> String {
    format!("{what}, {why}").split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reason_of_several_lines_is_one_line() {
        assert_eq!(
            line(&"openmp", &"there is no compiler:\n  cc: not found\n"),
            "openmp, there is no compiler: cc: not found"
        );
    }
}
