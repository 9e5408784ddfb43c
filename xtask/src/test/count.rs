//! How many tests passed and failed, read from what test programs print.

use std::ops::AddAssign;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Count {
    pub(super) passed: usize,
    pub(super) failed: usize,
}

impl Count {
    /// One check that passed.
    pub(super) fn one() -> Self {
        Self { passed: 1, failed: 0 }
    }

    /// Adds what a line of `cargo test` tells, such as `test result: ok. 3 passed; 0 failed; 0 ignored`.
    pub(super) fn add_cargo_line(&mut self, line: &str) {
        if let Some(result) = line.trim().strip_prefix("test result:") {
            self.passed += number_before(result, " passed");
            self.failed += number_before(result, " failed");
        }
    }

    /// Adds what a closing line tells: `3 passed, 0 failed`, with nothing before it.
    pub(super) fn add_closing_line(&mut self, line: &str) {
        let (Some((passed, rest)), Some(_)) = (line.split_once(" passed, "), line.strip_suffix(" failed"))
        else {
            return;
        };
        if let (Ok(passed), Ok(failed)) =
            (passed.parse::<usize>(), rest.trim_end_matches(" failed").parse::<usize>())
        {
            self.passed += passed;
            self.failed += failed;
        }
    }
}

impl AddAssign for Count {
    fn add_assign(&mut self, other: Self) {
        self.passed += other.passed;
        self.failed += other.failed;
    }
}

fn number_before(text: &str, word: &str) -> usize {
    let before = text.split(word).next().unwrap_or_default();
    before.rsplit(|it: char| !it.is_ascii_digit()).next().and_then(|it| it.parse().ok()).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_results_of_several_test_programs_are_summed() {
        let mut count = Count::default();
        count.add_cargo_line(
            "test result: ok. 12 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; in 0.1s",
        );
        count.add_cargo_line("test a::result ... ok");
        count.add_cargo_line("test result: FAILED. 3 passed; 2 failed; 0 ignored");
        assert_eq!(count, Count { passed: 15, failed: 2 });
    }

    #[test]
    fn a_closing_line_stands_alone() {
        let mut count = Count::default();
        count.add_closing_line("7 passed, 1 failed");
        count.add_closing_line("so far 7 passed, 1 failed");
        assert_eq!(count, Count { passed: 7, failed: 1 });
    }
}
