//! How many tests passed, failed and were skipped, read from what test programs print.

use std::fmt;
use std::ops::AddAssign;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Count {
    pub(crate) passed: usize,
    pub(crate) failed: usize,
    pub(crate) skipped: usize,
}

impl Count {
    /// One check that passed.
    pub(crate) fn one() -> Self {
        Self { passed: 1, ..Self::default() }
    }

    /// One check that failed.
    pub(crate) fn failure() -> Self {
        Self { failed: 1, ..Self::default() }
    }

    /// A check that passed for each of `passed`, and failed for each of `failed`.
    pub(crate) fn of(passed: usize, failed: usize) -> Self {
        Self { passed, failed, skipped: 0 }
    }

    /// Adds what a closing line tells: `3 passed, 0 failed, 1 skipped`, with nothing before it.
    pub(crate) fn add_closing_line(&mut self, line: &str) {
        let numbers: Option<Vec<usize>> = line
            .split(", ")
            .zip([" passed", " failed", " skipped"])
            .map(|(part, word)| part.strip_suffix(word)?.parse().ok())
            .collect();
        let n_parts = line.split(", ").count();
        if let (Some(numbers), 2 | 3) = (numbers, n_parts) {
            let number = |at: usize| numbers.get(at).copied().unwrap_or(0);
            *self += Self { passed: number(0), failed: number(1), skipped: number(2) };
        }
    }
}

impl AddAssign for Count {
    fn add_assign(&mut self, other: Self) {
        self.passed += other.passed;
        self.failed += other.failed;
        self.skipped += other.skipped;
    }
}

impl fmt::Display for Count {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{} passed, {} failed, {} skipped", self.passed, self.failed, self.skipped)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(line: &str) -> [usize; 3] {
        let mut count = Count::default();
        count.add_closing_line(line);
        [count.passed, count.failed, count.skipped]
    }

    #[test]
    fn a_closing_line_stands_alone() {
        assert_eq!(told("7 passed, 1 failed"), [7, 1, 0]);
        assert_eq!(told("7 passed, 1 failed, 2 skipped"), [7, 1, 2]);
        assert_eq!(told("so far 7 passed, 1 failed"), [0; 3]);
        assert_eq!(told("7 passed, 1 failed, 2 skipped, 3 lost"), [0; 3]);
        assert_eq!(told("7 passed"), [0; 3]);
    }

    #[test]
    fn a_count_reads_what_a_count_writes() {
        let count = Count { passed: 3, failed: 2, skipped: 1 };
        assert_eq!(told(&count.to_string()), [3, 2, 1]);
    }
}
