//! The context of a pass: the options and facts that it may use, and the record of its changes.

use std::rc::Rc;

use super::analysis::{Analyses, Analysis};
use super::log::{LogEntry, LogPoint, LogValue};
use super::pipeline::Level;
use crate::diag::{Origin, Remark, Traffic};

/// The options and analyses that a pass may use, and its remarks and log.
pub struct PassCx<I: Level> {
    pub options: I::Options,
    analyses: Analyses<I>,
    remarks: Vec<Remark>,
    log: Vec<LogEntry>,
    /// The pass that runs.
    pass: &'static str,
    /// Changes that it made, and how many it may make.
    decisions: usize,
    limit: Option<usize>,
}

impl<I: Level> std::fmt::Debug for PassCx<I> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("PassCx").field("pass", &self.pass).field("remarks", &self.remarks).finish()
    }
}

impl<I: Level> PassCx<I> {
    #[must_use]
    pub fn new(options: I::Options) -> Self {
        Self {
            options,
            analyses: Analyses::default(),
            remarks: Vec::new(),
            log: Vec::new(),
            pass: "",
            decisions: 0,
            limit: None,
        }
    }

    /// The fact about the level as it is; see [`Analyses::get`].
    pub fn get<A: Analysis<I>>(&mut self, ir: &I) -> Rc<A::Fact> {
        self.analyses.get::<A>(ir)
    }

    /// The level was changed in the middle of a pass: nothing that was known of it holds any more.
    pub fn forget(&mut self) {
        self.analyses.keep(&[]);
    }

    /// Whether one more change may be made; a pass asks before each, and makes it if so.
    ///
    /// `isobar bisect` finds the decision that changes a result by allowing fewer and fewer.
    pub fn may_change(&mut self) -> bool {
        let may = self.limit.is_none_or(|limit| self.decisions < limit);
        self.decisions += usize::from(may);
        may
    }

    /// Tells what the pass did.
    pub fn applied<'o>(&mut self, message: impl Into<String>, origins: impl IntoIterator<Item = &'o Origin>) {
        self.remark(true, message.into(), origins, None);
    }

    /// Tells what the pass left, and why.
    pub fn missed<'o>(&mut self, message: impl Into<String>, origins: impl IntoIterator<Item = &'o Origin>) {
        self.remark(false, message.into(), origins, None);
    }

    /// Tells what the pass did or left, and what that means for the memory.
    pub fn remark<'o>(
        &mut self,
        is_applied: bool,
        message: String,
        origins: impl IntoIterator<Item = &'o Origin>,
        traffic: Option<Traffic>,
    ) {
        let mut all: Vec<Origin> = Vec::new();
        for origin in origins {
            if !all.contains(origin) {
                all.push(origin.clone());
            }
        }
        self.remarks.push(Remark { pass: self.pass, is_applied, message, origins: all, traffic });
    }

    /// Reports a value.
    pub fn log(&mut self, point: &'static LogPoint, value: LogValue) {
        self.log.push(LogEntry { pass: self.pass, point, value });
    }

    /// The remarks so far.
    #[must_use]
    pub fn remarks(&self) -> &[Remark] {
        &self.remarks
    }

    /// A pass begins.
    pub(super) fn enter(&mut self, pass: &'static str, limit: Option<usize>) {
        (self.pass, self.limit, self.decisions) = (pass, limit, 0);
    }

    /// How many changes the pass that runs has made.
    pub(super) fn decisions(&self) -> usize {
        self.decisions
    }

    pub(super) fn analyses(&mut self) -> &mut Analyses<I> {
        &mut self.analyses
    }

    pub(super) fn logged(&self) -> &[LogEntry] {
        &self.log
    }

    /// Everything that was told.
    pub(super) fn finish(self) -> (Vec<Remark>, Vec<LogEntry>, Analyses<I>) {
        (self.remarks, self.log, self.analyses)
    }
}
