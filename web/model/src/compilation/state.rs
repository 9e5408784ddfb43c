//! How the compiler stands: its question, its answer, its failure.

use isobar_protocol::request::Request;

use super::answer::{CompilerAnswer, StageView};

/// Why nothing is compiled at the moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CompilerFailure {
    /// The worker's program did not start.
    NotLoaded(String),
    /// It fell over this text.
    Crashed(String),
    TookTooLong,
}

/// All that the page knows about the compiler.
#[derive(Debug)]
pub struct CompilerState {
    /// Whether compiling waits, because the page ended twice before the compiler answered.
    pub is_safe: bool,
    pub answer: CompilerAnswer,
    /// How much of the compiler's program has arrived of how much, in kB, until it has answered.
    pub loading: Option<[u64; 2]>,
    /// All stages, by name, in the order of the journey.
    pub(super) stages: Vec<(&'static str, StageView)>,
    /// The stages whose texts are made.
    pub(super) wanted: Vec<&'static str>,
    /// None where it ended, and before the first question.
    pub(super) worker: Option<CompilerWorker>,
    pub(super) trouble: Option<CompilerTrouble>,
    /// Counts the questions.
    pub(super) n_asked: u64,
}

/// A worker that was started.
#[derive(Debug, Default)]
pub(super) struct CompilerWorker {
    pub(super) has_answered: bool,
    /// The stages that were asked for in vain, until the second part of its program is there.
    pub(super) half: Vec<String>,
    pub(super) asked: Option<PendingCompilation>,
}

/// The question that the worker works on.
#[derive(Debug)]
pub(super) struct PendingCompilation {
    pub(super) number: u64,
    pub(super) request: Request,
    /// Whether an edit came meanwhile.
    pub(super) is_due: bool,
}

/// A failure that no answer followed yet.
#[derive(Debug)]
pub(super) struct CompilerTrouble {
    pub(super) failure: CompilerFailure,
    /// The request that the worker fell over; not tried again until some part of it changes.
    pub(super) over: Option<Request>,
}

impl CompilerState {
    /// Before the first question; `stages` are the names of all stages, in the order of the journey.
    #[must_use]
    pub fn new(stages: impl IntoIterator<Item = &'static str>) -> Self {
        Self {
            is_safe: false,
            answer: CompilerAnswer::default(),
            loading: None,
            stages: stages.into_iter().map(|it| (it, StageView::default())).collect(),
            wanted: Vec::new(),
            worker: None,
            trouble: None,
            n_asked: 0,
        }
    }

    /// The shown text of a stage.
    #[must_use]
    pub fn stage(&self, name: &str) -> StageView {
        let found = self.stages.iter().find(|(stage, _)| *stage == name);
        found.map(|(_, view)| view.clone()).unwrap_or_default()
    }

    /// Why nothing is compiled at the moment.
    #[must_use]
    pub fn failure(&self) -> Option<&CompilerFailure> {
        self.trouble.as_ref().map(|it| &it.failure)
    }

    /// Whether the compiler has spoken on this edit, or will not.
    #[must_use]
    pub fn is_answered(&self, revision: u64) -> bool {
        let is_asked = self.worker.as_ref().is_some_and(|it| it.asked.is_some());
        self.answer.revision == revision || !is_asked && self.trouble.is_some()
    }
}
