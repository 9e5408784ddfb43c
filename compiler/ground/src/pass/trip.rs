//! The steps of a compilation: doors and passes, each watched, held to its rules and noted.

use std::collections::BTreeMap;

use super::{
    Analyses, Hook, Level, LogEntry, LogValue, PassOptions, Pipeline, Step, StepKind, Trace, Watch,
    show_first,
};
use crate::diag::{Diagnostic, Listing, Remark, Tombstone};

/// The notes of doors and passes about a stencil.
#[derive(Clone, Debug, Default)]
pub struct Notes {
    /// Sorted by place; errors and warnings.
    pub diagnostics: Vec<Diagnostic>,
    /// Changes and refusals of the passes, in the order in which they ran.
    pub remarks: Vec<Remark>,
    /// Values that the passes measured.
    pub log: Vec<LogEntry>,
    /// Results of analyses, by the name of the level, then of the analysis; each as it was computed last.
    pub results: BTreeMap<&'static str, BTreeMap<&'static str, LogValue>>,
    /// The statements that passes removed.
    pub tombstones: Vec<Tombstone>,
    /// The levels before and after each pass, where the options ask for them.
    pub trace: Option<Trace>,
}

/// Takes a stencil from level to level, under the eyes of a hook.
pub struct Trip<'a> {
    pub hook: &'a mut dyn Hook,
    pub options: &'a PassOptions,
    pub notes: Notes,
}

impl std::fmt::Debug for Trip<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Trip")
            .field("options", self.options)
            .field("notes", &self.notes)
            .finish_non_exhaustive()
    }
}

impl<'a> Trip<'a> {
    /// A trip that begins with these notes.
    pub fn new(hook: &'a mut dyn Hook, options: &'a PassOptions, notes: Notes) -> Self {
        Self { hook, options, notes }
    }

    /// Goes through a door.
    pub fn door<T>(&mut self, name: &'static str, work: impl FnOnce() -> T) -> T {
        let step = Step { kind: StepKind::Door, name };
        self.hook.begin(step);
        let result = work();
        self.hook.end(step);
        result
    }

    /// Holds the result of a door to the rules of its level, and tells the hook.
    pub fn validate(
        &mut self,
        name: &'static str,
        violations: impl FnOnce() -> Vec<String>,
        listing: impl Fn() -> Listing,
    ) {
        check(name, violations, listing);
        if cfg!(debug_assertions) {
            self.hook.validated(Step { kind: StepKind::Door, name });
        }
    }

    /// Runs the passes of a level. Returns whether the compilation goes on after them.
    pub fn passes<I: Level>(&mut self, pipeline: &Pipeline<I>, ir: &mut I, options: I::Options) -> bool {
        if !self.show_first(ir) {
            return false;
        }
        let trace = self.notes.trace.as_mut();
        let mut watch = Watch { hook: self.hook, options: self.options, trace };
        let mut outcome = pipeline.run(ir, options, &mut watch);
        let notes = &mut self.notes;
        notes.remarks.append(&mut outcome.remarks);
        notes.log.append(&mut outcome.log);
        notes.results.entry(I::NAME).or_default().append(&mut outcome.results);
        notes.tombstones.append(&mut outcome.tombstones);
        !outcome.is_stopped
    }

    /// Shows a level before its first pass. Returns whether the compilation goes on.
    pub fn show_first<I: Level>(&mut self, ir: &I) -> bool {
        if let Some(trace) = &mut self.notes.trace {
            trace.record(I::NAME, None, Some(&ir.listing(&mut Analyses::default())));
        }
        show_first(ir, self.hook)
    }

    /// Shows a level that no pass changes.
    pub fn show(&mut self, level: &'static str, listing: &dyn Fn() -> Listing) {
        self.hook.show(Step { kind: StepKind::Door, name: level }, &listing);
        if let Some(trace) = &mut self.notes.trace {
            trace.record(level, None, Some(&listing()));
        }
    }
}

/// Asserts that a validator finds nothing. A finding is a fault of the compiler. So builds with debug
/// assertions fail, and other builds save the time of the check.
///
/// # Panics
///
/// In builds with debug assertions, where the validator finds a violation.
pub fn check(step: &str, violations: impl FnOnce() -> Vec<String>, listing: impl Fn() -> Listing) {
    if cfg!(debug_assertions) {
        let violations = violations();
        assert!(
            violations.is_empty(),
            "invalid IR after {step}:\n{}\n\n{}",
            violations.join("\n"),
            listing().text
        );
    }
}
