//! The course of a run: seconds and counts of each step, the slowest tests, skips, and what is over its bound.

use std::time::{Duration, Instant};

use anyhow::Result;

use super::count::Count;
use super::skips;

/// Steps, and the seconds that none should take: twice what each took on two quiet cores when the bound was set. A step
/// over its bound is told and fails nothing: machines differ.
const BOUNDS: [(&str, f64); 11] = [
    ("format", 5.0),
    ("tidy", 7.0),
    ("typos", 10.0),
    ("deny", 4.0),
    ("install", 60.0),
    ("build and lint", 820.0),
    ("page, and lint it", 2_100.0),
    ("tests beside each other", 1_120.0),
    ("tests alone", 160.0),
    ("end to end", 850.0),
    ("all", 3_140.0),
];

/// So many of the slowest tests are told.
const N_SLOWEST: usize = 12;

/// The report of a step.
#[derive(Debug, Default)]
pub(crate) struct Told {
    pub(crate) count: Count,
    /// `test: why` for each skip.
    pub(crate) skips: Vec<String>,
    /// Failures that are told and do not count.
    pub(crate) finds: Vec<String>,
}

impl Told {
    pub(super) fn add(&mut self, other: Self) {
        self.count += other.count;
        self.skips.extend(other.skips);
        self.finds.extend(other.finds);
    }
}

impl From<Count> for Told {
    fn from(count: Count) -> Self {
        Self { count, ..Self::default() }
    }
}

/// A step that ran.
#[derive(Debug)]
struct Step {
    name: String,
    time: Duration,
    count: Count,
}

/// The steps that ran so far.
#[derive(Debug)]
pub(super) struct Report {
    start: Instant,
    steps: Vec<Step>,
    pub(super) total: Count,
    skips: Vec<String>,
    finds: Vec<String>,
    slowest: Vec<(String, Duration)>,
}

impl Report {
    pub(super) fn new() -> Self {
        Self {
            start: Instant::now(),
            steps: Vec::new(),
            total: Count::default(),
            skips: Vec::new(),
            finds: Vec::new(),
            slowest: Vec::new(),
        }
    }

    /// Runs one step; a step that cannot even run counts as one failure, and the next ones run all the same.
    pub(super) fn step<T: Into<Told>>(&mut self, name: &str, work: impl FnOnce() -> Result<T>) {
        let start = Instant::now();
        let told = work().map_or_else(
            |error| {
                println!("error: {name}: {error:#}");
                Count::failure().into()
            },
            Into::into,
        );
        self.add(name, start.elapsed(), told);
    }

    /// Adds a step that ran elsewhere.
    pub(super) fn add(&mut self, name: &str, time: Duration, told: Told) {
        let Told { count, skips, finds } = told;
        self.total += count;
        self.skips.extend(skips);
        self.finds.extend(finds);
        self.steps.push(Step { name: name.to_owned(), time, count });
    }

    /// Adds the steps that ran beside this report's own, before those that follow.
    pub(super) fn join(&mut self, other: Self) {
        let Self { start: _, steps, total, skips, finds, slowest } = other;
        self.total += total;
        self.skips.extend(skips);
        self.finds.extend(finds);
        self.steps.extend(steps);
        self.add_times(slowest);
    }

    /// Remembers how long single tests took.
    pub(super) fn add_times(&mut self, times: impl IntoIterator<Item = (String, Duration)>) {
        self.slowest.extend(times);
        self.slowest.sort_by_key(|it| std::cmp::Reverse(it.1));
        self.slowest.truncate(N_SLOWEST);
    }

    /// Fails where something is skipped that the list does not have.
    pub(super) fn hold_skips(&mut self) {
        match skips::unexpected(&self.skips) {
            Err(error) => {
                println!("error: {error:#}");
                self.total.failed += 1;
            }
            Ok(unexpected) => {
                for skip in &unexpected {
                    println!("error: tests/skips.txt does not allow in CI: skipped: {skip}");
                }
                self.total.failed += unexpected.len();
            }
        }
    }

    /// Prints all of it. The last line is `N passed, N failed, N skipped`.
    pub(super) fn print(&self) {
        println!();
        if !self.slowest.is_empty() {
            println!("the slowest tests:");
        }
        for (name, time) in &self.slowest {
            println!("{:>8.1} s  {name}", time.as_secs_f64());
        }
        for skip in &self.skips {
            println!("skipped: {skip}");
        }
        for find in &self.finds {
            println!("found by seeds that this tree chose, and not counted: {find}");
        }
        println!();
        for Step { name, time, count } in &self.steps {
            println!("{name:<28} {:>7.1} s   {count}", time.as_secs_f64());
        }
        let all = self.start.elapsed();
        println!("{:<28} {:>7.1} s", "all", all.as_secs_f64());
        for (name, seconds, bound) in self.over_bounds(&BOUNDS, all) {
            println!(
                "over its bound: `{name}` took {seconds:.0} s, and {bound:.0} s is twice what it took once"
            );
        }
        println!("\n{}", self.total);
    }

    fn over_bounds<'a>(&'a self, bounds: &[(&str, f64)], all: Duration) -> Vec<(&'a str, f64, f64)> {
        let bound = |name: &str| bounds.iter().find(|it| it.0 == name).map(|it| it.1);
        let steps = self.steps.iter().map(|it| (it.name.as_str(), it.time.as_secs_f64()));
        let all = [("all", all.as_secs_f64())];
        steps
            .chain(all)
            .filter_map(|(name, seconds)| Some((name, seconds, bound(name)?)))
            .filter(|(_, seconds, bound)| seconds > bound)
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_that_cannot_run_fails_and_the_next_one_runs() {
        let mut report = Report::new();
        report.step("one", || -> Result<Count> { anyhow::bail!("no") });
        report.step("two", || Ok(Count::one()));
        assert_eq!(report.total, Count { passed: 1, failed: 1, skipped: 0 });
    }

    #[test]
    fn a_step_over_its_bound_is_told() {
        let mut report = Report::new();
        report.add("slow", Duration::from_secs(9), Count::one().into());
        report.add("quick", Duration::from_secs(1), Count::one().into());
        let over =
            report.over_bounds(&[("slow", 4.0), ("quick", 4.0), ("all", 9.0)], Duration::from_secs(10));
        assert_eq!(over, [("slow", 9.0, 4.0), ("all", 10.0, 9.0)]);
    }
}
