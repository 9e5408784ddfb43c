//! How the passes are looked at.

use std::sync::Arc;

use isobar_protocol::passes::{Moment, PassDiff, PassStep};

use crate::difference::DiffView;
use crate::picks::Pick;
use crate::remarks::RemarkEntry;
use crate::run::WorkerGone;

/// The passes of all levels.
#[derive(Debug)]
pub struct PassesState {
    /// The view of each stage, by name, in the order of the journey.
    pub(super) looks: Vec<(&'static str, PassesLook)>,
    /// The outcome of each pass, in the last answer.
    pub steps: Arc<Vec<PassStep>>,
    /// The edit that `steps` belongs to.
    pub revision: u64,
    /// Why there is no answer.
    pub trouble: Option<WorkerGone>,
    pub told: ToldDecisions,
    pub(super) question: PassesQuestion,
}

/// The question to the worker.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum PassesQuestion {
    #[default]
    None,
    Asked,
    /// Something else is looked at since.
    AskedAndDue,
}

/// The view of the passes in one pane.
#[derive(Clone, Debug, Default)]
pub struct PassesLook {
    pub side: DiffView,
    /// None where the list of passes is closed.
    pub(super) open: Option<OpenList>,
}

/// The list of the passes of a level.
#[derive(Clone, Debug, Default)]
pub(super) struct OpenList {
    pub(super) pick: Pick,
    /// The level around the pick; around the previous pick, until the answer comes.
    pub(super) around: Option<Arc<PassDiff>>,
}

/// Remarks and tombstones of the last compilation that a rest of the keyboard followed.
#[derive(Clone, Debug, Default)]
pub struct ToldDecisions {
    pub entries: Arc<Vec<RemarkEntry>>,
    /// Counts how often they were told, unchanged ones included.
    pub count: u64,
    /// Whether they are of a text from before an edit with errors.
    pub are_stale: bool,
    /// The count of opened stencils that they belong to.
    pub(super) opened: u64,
}

impl PassesLook {
    /// Whether the list of passes is open.
    #[must_use]
    pub fn is_open(&self) -> bool {
        self.open.is_some()
    }

    /// The moment that is shown.
    #[must_use]
    pub fn pick(&self) -> Pick {
        self.open.as_ref().map(|it| it.pick.clone()).unwrap_or_default()
    }

    /// The level around the pick; around the previous pick, until the answer comes.
    #[must_use]
    pub fn around(&self) -> Option<Arc<PassDiff>> {
        self.open.as_ref().and_then(|it| it.around.clone())
    }

    /// The moment to ask for.
    fn moment(&self, stage: &str) -> Option<Moment> {
        let pass = match &self.open.as_ref()?.pick {
            Pick::AfterAll => return None,
            Pick::BeforeAll => None,
            Pick::Pass(pass) => Some(pass.clone()),
        };
        Some(Moment { stage: stage.to_owned(), pass })
    }
}

impl PassesState {
    /// Nobody looks; `stages` are the names of all stages, in the order of the journey.
    #[must_use]
    pub fn new(stages: impl IntoIterator<Item = &'static str>) -> Self {
        Self {
            looks: stages.into_iter().map(|it| (it, PassesLook::default())).collect(),
            steps: Arc::default(),
            revision: 0,
            trouble: None,
            told: ToldDecisions::default(),
            question: PassesQuestion::None,
        }
    }

    /// The view of the passes in the pane of a stage.
    #[must_use]
    pub fn look(&self, stage: &str) -> Option<&PassesLook> {
        self.looks.iter().find(|it| it.0 == stage).map(|it| &it.1)
    }

    /// Whether the worker is asked.
    #[must_use]
    pub fn is_asked(&self) -> bool {
        self.question != PassesQuestion::None
    }

    /// The moments that are looked at; none where no list is open.
    #[must_use]
    pub fn looked_at(&self) -> Option<Vec<Moment>> {
        let is_open = self.looks.iter().any(|(_, look)| look.is_open());
        is_open.then(|| self.looks.iter().filter_map(|(stage, look)| look.moment(stage)).collect())
    }
}
