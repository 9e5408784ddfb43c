//! Reads what a program of tests prints, as Rust's test harness prints it with `--show-output` and one thread.

use std::time::{Duration, Instant};

use super::count::Count;

/// How a line starts that says why a whole test does not run here.
const SKIPPED: &str = "skipped: ";
/// How a line starts that names the part of a test that does not run here.
const SKIPPED_IN_PART: &str = "skipped in part: ";
/// Tests of seeds that the tree chooses. Their finds are told, and fail no run.
const WINDOW: &str = "window_of_the_tree";

/// The outcome of some tests of one program.
#[derive(Debug, Default)]
pub(super) struct Outcome {
    pub(super) count: Count,
    /// `test: why` for each skip.
    pub(super) skips: Vec<String>,
    /// Tests of the tree's window that failed.
    pub(super) finds: Vec<String>,
    /// How long each test took.
    pub(super) times: Vec<(String, Duration)>,
    /// All that it printed.
    pub(super) text: String,
    failed: Vec<String>,
    /// Whose output the lines are.
    section: Option<String>,
    /// Tests that say that they do not run here.
    whole: Vec<String>,
    has_result: bool,
}

impl Outcome {
    /// Takes the next line, which came at that moment; `before` is when the one before it came.
    pub(super) fn read(&mut self, line: &str, before: Instant, now: Instant) {
        self.text.push_str(line);
        self.text.push('\n');
        if let Some(result) = line.strip_prefix("test result: ") {
            self.has_result = true;
            self.count.passed += number_before(result, " passed");
            self.count.failed += number_before(result, " failed");
            return;
        }
        if let Some((name, how)) = line.strip_prefix("test ").and_then(|it| it.split_once(" ... ")) {
            self.times.push((name.to_owned(), now - before));
            if how.ends_with("FAILED") {
                self.failed.push(name.to_owned());
            }
        } else if let Some(name) = line.strip_prefix("---- ").and_then(|it| it.strip_suffix(" ----")) {
            let name = name.strip_suffix(" stdout").unwrap_or(name);
            self.section = Some(name.to_owned());
        } else if let Some(name) = &self.section {
            if let Some(why) = line.strip_prefix(SKIPPED) {
                if !self.whole.contains(name) {
                    self.whole.push(name.clone());
                    self.skips.push(format!("{name}: {why}"));
                }
            } else if let Some(why) = line.strip_prefix(SKIPPED_IN_PART) {
                let skip = format!("{name}: {why}");
                if !self.skips.contains(&skip) {
                    self.skips.push(skip);
                }
            }
        }
    }

    /// The program ended, well or not.
    pub(super) fn end(&mut self, is_success: bool) {
        self.failed.sort();
        self.failed.dedup();
        let (finds, failed): (Vec<_>, Vec<_>) =
            std::mem::take(&mut self.failed).into_iter().partition(|it| it.ends_with(WINDOW));
        self.count.failed = self.count.failed.saturating_sub(finds.len());
        if !is_success && (!self.has_result || (self.count.failed == 0 && finds.is_empty())) {
            // It crashed: no line told so.
            self.count.failed += 1;
        }
        self.whole.retain(|it| !failed.contains(it));
        self.count.passed = self.count.passed.saturating_sub(self.whole.len());
        self.count.skipped = self.skips.len();
        self.finds = finds;
    }
}

fn number_before(text: &str, word: &str) -> usize {
    let before = text.split(word).next().unwrap_or_default();
    before.rsplit(|it: char| !it.is_ascii_digit()).next().and_then(|it| it.parse().ok()).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str, is_success: bool) -> Outcome {
        let mut outcome = Outcome::default();
        let now = Instant::now();
        text.lines().for_each(|it| outcome.read(it, now, now));
        outcome.end(is_success);
        outcome
    }

    #[test]
    fn a_test_that_says_so_is_skipped_and_not_passed() {
        let outcome = read(
            "running 3 tests\ntest a::one ... ok\ntest a::two ... ok\ntest a::three ... ok\n\nsuccesses:\n\n\
             ---- a::one stdout ----\nskipped: the GPU, there is none\nskipped: the GPU, there is none\n\n\
             ---- a::two stdout ----\nskipped in part: cuda, there is no driver\nnot skipped: this\n\n\
             successes:\n    a::one\n\ntest result: ok. 3 passed; 0 failed; 0 ignored; in 0.1s\n",
            true,
        );
        assert_eq!(outcome.count, Count { passed: 2, failed: 0, skipped: 2 });
        assert_eq!(
            outcome.skips,
            ["a::one: the GPU, there is none", "a::two: cuda, there is no driver"].map(str::to_owned)
        );
        assert_eq!(outcome.times.len(), 3);
    }

    #[test]
    fn what_the_window_of_the_tree_finds_is_told_and_fails_nothing() {
        let text = "test a::one ... ok\ntest a::window_of_the_tree ... FAILED\n\
                    test result: FAILED. 1 passed; 1 failed; 0 ignored\n";
        let outcome = read(text, false);
        assert_eq!(outcome.count, Count { passed: 1, failed: 0, skipped: 0 });
        assert_eq!(outcome.finds, ["a::window_of_the_tree".to_owned()]);
        let text = text.replace("a::one ... ok", "a::one ... FAILED").replace("1 passed; 1", "0 passed; 2");
        assert_eq!(read(&text, false).count, Count { passed: 0, failed: 1, skipped: 0 });
    }

    #[test]
    fn a_program_that_crashes_fails() {
        assert_eq!(read("test a::one ... ok\n", false).count.failed, 1);
        assert_eq!(read("test a ... ok\ntest result: ok. 1 passed; 0 failed\n", true).count, Count::one());
    }
}
