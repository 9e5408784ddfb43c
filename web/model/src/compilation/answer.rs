//! The answers of the compiler: its words about the text, and the texts of stages.

use std::sync::Arc;

use isobar_protocol::compile::{Compiled, Remark, Signature, StageText, StepTime, Tombstone};
use isobar_protocol::diagnostic::Diagnostic;
use isobar_protocol::request::Request;
use isobar_protocol::worker::Defaults;

/// Whether a stage's text belongs to the newest edit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Freshness {
    /// The stage has no text: the worker has not answered, or the stage is not open.
    #[default]
    Waiting,
    Fresh,
    /// The text is from before an edit with errors.
    Stale,
    /// There is no text, because of errors.
    Refused,
}

impl Freshness {
    /// As the end-to-end tests read it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Freshness::Waiting => "waiting",
            Freshness::Fresh => "fresh",
            Freshness::Stale => "stale",
            Freshness::Refused => "refused",
        }
    }
}

/// The shown text of one stage.
#[derive(Clone, Debug, Default)]
pub struct StageView {
    pub freshness: Freshness,
    /// The edit that the text belongs to.
    pub revision: u64,
    pub text: Arc<StageText>,
}

/// Each text that comes is another one: texts are long, and are not compared.
impl PartialEq for StageView {
    fn eq(&self, other: &Self) -> bool {
        (self.freshness, self.revision) == (other.freshness, other.revision)
            && Arc::ptr_eq(&self.text, &other.text)
    }
}

impl StageView {
    /// The text that was made of the newest edit, or is shown in its place.
    #[must_use]
    pub fn answered(&self) -> Option<&Arc<StageText>> {
        (self.freshness != Freshness::Waiting).then_some(&self.text)
    }

    /// Takes the text of an answer that was asked for this stage, where it was reached.
    pub(super) fn take(&mut self, revision: u64, text: Option<StageText>, has_errors: bool, is_half: bool) {
        match text {
            // A stage that was reached in spite of errors further down is as good as any.
            Some(text) => *self = Self { freshness: Freshness::Fresh, revision, text: Arc::new(text) },
            None if has_errors && !self.text.text.is_empty() => self.freshness = Freshness::Stale,
            None if is_half => self.freshness = Freshness::Waiting,
            None => *self = Self { freshness: Freshness::Refused, revision, ..Self::default() },
        }
    }
}

/// The newest answer. A part that is as before stays the same allocation, so that nothing is drawn anew for it.
#[derive(Clone, Debug, Default)]
pub struct CompilerAnswer {
    /// The edit that was answered last; 0 before the first answer.
    pub revision: u64,
    /// Counts the answers: one can be about the same edit as that before it.
    pub count: u64,
    pub diagnostics: Arc<Vec<Diagnostic>>,
    /// The stencils of the text.
    pub stencils: Arc<Vec<String>>,
    pub stencil: Option<String>,
    /// That of the last text without errors.
    pub signature: Option<Arc<Signature>>,
    pub remarks: Arc<Vec<Remark>>,
    pub tombstones: Arc<Vec<Tombstone>>,
    pub timings: Arc<Vec<StepTime>>,
    pub defaults: Arc<Defaults>,
}

impl CompilerAnswer {
    /// The request of the last answer, with the inputs that the page chose for its text.
    #[must_use]
    pub fn completed(&self, request: Request) -> Request {
        let mut request = self.defaults.made.complete(request);
        // A request that gives nothing to make runs as it always did.
        if let (Some(init), Some(signature)) = (&mut request.init, &self.signature) {
            init.retain(|name, _| signature.fields.iter().any(|it| it.name == *name));
        }
        request
    }

    /// Takes an answer without the texts of its stages.
    pub(super) fn take(&mut self, revision: u64, compiled: Compiled, defaults: Defaults) {
        renew(&mut self.diagnostics, compiled.diagnostics);
        renew(&mut self.stencils, compiled.stencils);
        self.stencil = compiled.stencil;
        if n_errors(&self.diagnostics) == 0 && self.signature.as_deref() != compiled.signature.as_ref() {
            self.signature = compiled.signature.map(Arc::new);
        }
        renew(&mut self.remarks, compiled.remarks);
        renew(&mut self.tombstones, compiled.tombstones);
        // An answer from memory took no time; the times of its compilation still hold.
        if !compiled.timings.is_empty() {
            renew(&mut self.timings, compiled.timings);
        }
        renew(&mut self.defaults, defaults);
        self.revision = revision;
        self.count += 1;
    }
}

/// Errors among diagnostics.
#[must_use]
pub fn n_errors(diagnostics: &[Diagnostic]) -> usize {
    diagnostics.iter().filter(|it| it.severity == "error").count()
}

fn renew<T: PartialEq>(slot: &mut Arc<T>, value: T) {
    if **slot != value {
        *slot = Arc::new(value);
    }
}
