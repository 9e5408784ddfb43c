//! The passes of a level, one after the other.

use std::any::Any;
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

use super::analysis::Analyses;
use super::cx::PassCx;
use super::hook::{Hook, LevelView, Step, StepKind};
use super::log::{LogEntry, LogValue};
use super::options::PassOptions;
use super::trace::Trace;
use crate::diag::{Listing, Origin, Remark, Tombstone};

/// A level that passes change.
pub trait Level: Sized + 'static {
    /// `oir`, `schedule`: as stages are named.
    const NAME: &'static str;
    /// Choices beside the level itself, such as the machine that it is scheduled for.
    type Options: Clone;

    /// All violations of the level's rules: faults of ours.
    fn violations(&self) -> Vec<String>;

    /// The level as text. `facts` are those that are known of it.
    fn listing(&self, facts: &mut Analyses<Self>) -> Listing;

    /// Drops what a change left without use.
    fn tidy(&mut self) {}

    /// Calls `each` for every statement that is there.
    fn each_statement(&self, each: &mut dyn FnMut(&Origin));
}

/// A pass: its name, what it does, and the function that is it.
pub struct Pass<I: Level> {
    /// `oir/merge-horizontal-executions`, as `--stop-after` takes it.
    pub name: &'static str,
    pub run: fn(&mut I, &mut PassCx<I>),
    /// The analyses that hold after it, though it changed something.
    pub preserves: &'static [&'static str],
}

impl<I: Level> std::fmt::Debug for Pass<I> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name)
    }
}

impl<I: Level> Pass<I> {
    /// Runs this pass alone, with at most so many changes; answers whether it made one.
    pub fn apply(&self, ir: &mut I, cx: &mut PassCx<I>, limit: Option<usize>) -> bool {
        cx.enter(self.name, limit);
        (self.run)(ir, cx);
        let is_changed = cx.decisions() > 0;
        if is_changed {
            ir.tidy();
            cx.analyses().keep(self.preserves);
        }
        is_changed
    }
}

/// The passes of a level in the order in which they run.
pub struct Pipeline<I: Level> {
    pub passes: &'static [Pass<I>],
    /// Those that whatever comes next cannot do without: they run also where they are to be skipped.
    pub needed: &'static [&'static str],
}

impl<I: Level> Clone for Pipeline<I> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<I: Level> Copy for Pipeline<I> {}

impl<I: Level> std::fmt::Debug for Pipeline<I> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(self.passes).finish()
    }
}

/// The observer of a pipeline, the options, and the trace.
pub struct Watch<'a> {
    pub hook: &'a mut dyn Hook,
    pub options: &'a PassOptions,
    pub trace: Option<&'a mut Trace>,
}

impl std::fmt::Debug for Watch<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Watch").field("options", self.options).finish_non_exhaustive()
    }
}

/// The reports of a pipeline.
#[derive(Clone, Debug, Default)]
pub struct PipelineReport {
    pub remarks: Vec<Remark>,
    pub log: Vec<LogEntry>,
    /// The values that analyses reported, each as it was computed last.
    pub results: BTreeMap<&'static str, LogValue>,
    /// The statements that passes removed.
    pub tombstones: Vec<Tombstone>,
    /// Whether the options stopped the trip here.
    pub is_stopped: bool,
}

impl<I: Level> Pipeline<I> {
    /// Whether a pass does not run where these are to be skipped.
    #[must_use]
    pub fn skips(&self, pass: &str, skip: &BTreeSet<String>) -> bool {
        skip.contains(pass) && !self.needed.contains(&pass)
    }

    /// Runs the passes on a valid level.
    ///
    /// # Panics
    ///
    /// In debug builds, where a pass breaks a rule of the level: that is a fault of ours.
    pub fn run(&self, ir: &mut I, options: I::Options, watch: &mut Watch<'_>) -> PipelineReport {
        let mut cx = PassCx::new(options);
        let mut outcome = PipelineReport::default();
        let pipeline = Step { kind: StepKind::Pipeline, name: I::NAME };
        watch.hook.begin(pipeline);
        let mut n_logged = 0;
        let mut present = PresentStmts::of(ir);
        for pass in self.passes {
            if self.skips(pass.name, &watch.options.skip) {
                continue;
            }
            let step = Step { kind: StepKind::Pass, name: pass.name };
            watch.hook.begin(step);
            let is_changed = pass.apply(ir, &mut cx, watch.options.limit_of(pass.name));
            if is_changed {
                let gone = present.without(ir);
                bury(&mut outcome.tombstones, gone, pass.name, cx.remarks(), I::NAME);
            }
            for name in cx.analyses().take_computed() {
                let analysis = Step { kind: StepKind::Analysis, name };
                watch.hook.begin(analysis);
                watch.hook.end(analysis);
            }
            for logged in &cx.logged()[n_logged..] {
                watch.hook.log(logged);
            }
            n_logged = cx.logged().len();
            watch.hook.end(step);
            if !watch.hook.holds_rules() {
                check(pass.name, ir);
                if cfg!(debug_assertions) {
                    watch.hook.validated(step);
                }
            }
            let told = is_changed.then(|| last_change(cx.remarks(), pass.name)).flatten();
            let level = LevelWithFacts { ir: &*ir, facts: RefCell::new(cx.analyses()), told };
            if is_changed {
                watch.hook.show(step, &level);
            }
            if let Some(trace) = &mut watch.trace {
                trace.record(I::NAME, Some(pass.name), is_changed.then(|| level.listing()).as_ref());
            }
            outcome.is_stopped =
                watch.hook.is_over() || watch.options.stop_after.as_deref() == Some(pass.name);
            if outcome.is_stopped {
                break;
            }
        }
        watch.hook.end(pipeline);
        let (remarks, log, analyses) = cx.finish();
        PipelineReport { remarks, log, results: analyses.results(), ..outcome }
    }
}

/// A level with its facts, for hooks and traces.
struct LevelWithFacts<'a, I: Level> {
    ir: &'a I,
    facts: RefCell<&'a mut Analyses<I>>,
    told: Option<String>,
}

impl<I: Level> LevelView for LevelWithFacts<'_, I> {
    fn listing(&self) -> Listing {
        self.ir.listing(&mut self.facts.borrow_mut())
    }

    fn level(&self) -> Option<&dyn Any> {
        Some(self.ir)
    }

    fn told(&self) -> Option<&str> {
        self.told.as_deref()
    }
}

/// Shows a level as it is before its first pass; answers whether the passes are to run.
pub fn show_first<I: Level>(ir: &I, hook: &mut dyn Hook) -> bool {
    let mut facts = Analyses::default();
    let level = LevelWithFacts { ir, facts: RefCell::new(&mut facts), told: None };
    hook.show(Step { kind: StepKind::Door, name: I::NAME }, &level);
    !hook.is_over()
}

fn last_change(remarks: &[Remark], pass: &str) -> Option<String> {
    remarks.iter().rev().find(|it| it.pass == pass && it.is_applied).map(|it| it.message.clone())
}

/// Panics in debug builds where a level is invalid. Such a level is a fault of ours, so tests must fail.
/// Users do not wait for the check.
fn check<I: Level>(step: &str, ir: &I) {
    if cfg!(debug_assertions) {
        let violations = ir.violations();
        assert!(
            violations.is_empty(),
            "invalid IR after {step}:\n{}\n\n{}",
            violations.join("\n"),
            ir.listing(&mut Analyses::default()).text
        );
    }
}

/// The statements that a level has.
#[derive(Debug, Default)]
struct PresentStmts {
    /// Every statement that was ever there, by number.
    origins: Vec<Option<Origin>>,
    /// Whether each statement is there now, by number.
    is_there: Vec<bool>,
}

impl PresentStmts {
    fn of<I: Level>(ir: &I) -> Self {
        let mut present = Self::default();
        present.look(ir);
        present
    }

    fn look<I: Level>(&mut self, ir: &I) {
        self.is_there.fill(false);
        ir.each_statement(&mut |origin| {
            let at = origin.stmt.0 as usize;
            if self.is_there.len() <= at {
                self.is_there.resize(at + 1, false);
                self.origins.resize(at + 1, None);
            }
            if !std::mem::replace(&mut self.is_there[at], true) && self.origins[at].is_none() {
                self.origins[at] = Some(origin.clone());
            }
        });
    }

    /// Looks again, and answers the statements that are gone since.
    fn without<I: Level>(&mut self, ir: &I) -> Vec<Origin> {
        let before = self.is_there.clone();
        self.look(ir);
        let was_there = (0..before.len()).filter(|&at| before[at] && !self.is_there[at]);
        was_there.filter_map(|at| self.origins[at].clone()).collect()
    }
}

/// Records the statements that a pass removed. The reason is that of its last remark about one.
fn bury(
    tombstones: &mut Vec<Tombstone>,
    gone: Vec<Origin>,
    pass: &'static str,
    remarks: &[Remark],
    level: &'static str,
) {
    if gone.is_empty() {
        return;
    }
    let mut reasons = BTreeMap::new();
    for remark in remarks.iter().filter(|it| it.pass == pass && it.is_applied) {
        reasons.extend(remark.origins.iter().map(|it| (it.stmt, remark)));
    }
    for origin in gone {
        let reason = reasons.get(&origin.stmt).map(|it| it.message.clone());
        tombstones.push(Tombstone { origin, level, pass, reason });
    }
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;
    use crate::pass::{Analyses, Analysis, LevelView, LogPoint};

    /// A level of numbers.
    #[derive(Debug)]
    struct Numbers(Vec<i64>);

    impl Level for Numbers {
        const NAME: &'static str = "numbers";
        type Options = ();

        fn violations(&self) -> Vec<String> {
            Vec::new()
        }

        fn listing(&self, _: &mut Analyses<Self>) -> Listing {
            Listing { text: format!("{:?}\n", self.0), ..Listing::default() }
        }

        fn each_statement(&self, _: &mut dyn FnMut(&Origin)) {}
    }

    struct Sum;

    impl Analysis<Numbers> for Sum {
        const NAME: &'static str = "numbers/sum";
        type Fact = i64;

        fn compute(numbers: &Numbers, _: &mut Analyses<Numbers>) -> i64 {
            numbers.0.iter().sum()
        }

        fn told(sum: &i64) -> Option<LogValue> {
            Some(LogValue::Integer(*sum))
        }
    }

    const FOUND: LogPoint = LogPoint { name: "found", about: "the sum of all numbers" };

    /// Asks for the sum, and changes nothing.
    fn look(numbers: &mut Numbers, cx: &mut PassCx<Numbers>) {
        let sum = *cx.get::<Sum>(numbers);
        cx.log(&FOUND, LogValue::Map(BTreeMap::from([("sum".to_owned(), LogValue::Integer(sum))])));
    }

    /// Keeps the sum.
    fn reverse(numbers: &mut Numbers, cx: &mut PassCx<Numbers>) {
        if cx.may_change() {
            numbers.0.reverse();
        }
    }

    fn double(numbers: &mut Numbers, cx: &mut PassCx<Numbers>) {
        if cx.may_change() {
            numbers.0.iter_mut().for_each(|it| *it *= 2);
        }
    }

    const PIPELINE: Pipeline<Numbers> = Pipeline {
        passes: &[
            Pass { name: "numbers/look", run: look, preserves: &[] },
            Pass { name: "numbers/look-again", run: look, preserves: &[] },
            Pass { name: "numbers/reverse", run: reverse, preserves: &[Sum::NAME] },
            Pass { name: "numbers/look-behind", run: look, preserves: &[] },
            Pass { name: "numbers/double", run: double, preserves: &[] },
            Pass { name: "numbers/look-at-last", run: look, preserves: &[] },
        ],
        needed: &[],
    };

    /// Writes down what it is told, in order.
    #[derive(Debug, Default)]
    struct Course(Vec<String>);

    impl Hook for Course {
        fn begin(&mut self, step: Step) {
            self.0.push(format!("begin {:?} {step}", step.kind));
        }

        fn end(&mut self, step: Step) {
            self.0.push(format!("end {:?} {step}", step.kind));
        }

        fn show(&mut self, step: Step, level: &dyn LevelView) {
            self.0.push(format!("show {step}: {}", level.listing().text.trim_end()));
        }

        fn log(&mut self, logged: &LogEntry) {
            self.0.push(format!("log {}: {}", logged.point.name, logged.value));
        }
    }

    /// The hook's notes, and the outcome of the passes.
    fn run() -> (Vec<String>, PipelineReport) {
        let mut course = Course::default();
        let options = PassOptions::default();
        let mut watch = Watch { hook: &mut course, options: &options, trace: None };
        let outcome = PIPELINE.run(&mut Numbers(vec![1, 2]), (), &mut watch);
        (course.0, outcome)
    }

    #[test]
    fn a_hook_is_told_of_every_step_in_order() {
        expect![[r#"
            begin Pipeline numbers
            begin Pass numbers/look
            begin Analysis numbers/sum
            end Analysis numbers/sum
            log found: {"sum":3}
            end Pass numbers/look
            begin Pass numbers/look-again
            log found: {"sum":3}
            end Pass numbers/look-again
            begin Pass numbers/reverse
            end Pass numbers/reverse
            show numbers/reverse: [2, 1]
            begin Pass numbers/look-behind
            log found: {"sum":3}
            end Pass numbers/look-behind
            begin Pass numbers/double
            end Pass numbers/double
            show numbers/double: [4, 2]
            begin Pass numbers/look-at-last
            begin Analysis numbers/sum
            end Analysis numbers/sum
            log found: {"sum":6}
            end Pass numbers/look-at-last
            end Pipeline numbers"#]]
        .assert_eq(&run().0.join("\n"));
    }

    #[test]
    fn a_fact_is_computed_again_only_behind_a_pass_that_does_not_keep_it() {
        let (course, _) = run();
        let computed = course.iter().enumerate().filter(|(_, it)| *it == "begin Analysis numbers/sum");
        let asked_by: Vec<&str> = computed.map(|(at, _)| course[at - 1].as_str()).collect();
        assert_eq!(asked_by, ["begin Pass numbers/look", "begin Pass numbers/look-at-last"]);
    }

    #[test]
    fn what_was_found_and_reported_is_there_when_the_passes_are_over() {
        let (_, outcome) = run();
        assert_eq!(outcome.results, BTreeMap::from([(Sum::NAME, LogValue::Integer(6))]));
        let reported: Vec<_> =
            outcome.log.iter().map(|it| (it.pass, it.point.name, it.value.to_json())).collect();
        assert_eq!(reported.len(), 4);
        assert_eq!(reported[3], ("numbers/look-at-last", "found", serde_json::json!({"sum": 6})));
    }
}
