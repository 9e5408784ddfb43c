//! Which views are open, and how wide they are.

use isobar_compiler::pipeline::Stage;
use isobar_page_model::open::OpenStages;
use leptos::prelude::*;

use crate::bridge::locale::t;

/// The views of a narrow page, which shows one at a time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Tab {
    #[default]
    Code,
    Stages,
    Result,
    /// The lesson beside the editor, or the list of them.
    Learn,
}

impl Tab {
    pub const ALL: [Tab; 4] = [Tab::Code, Tab::Stages, Tab::Result, Tab::Learn];

    /// As style sheets name it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Tab::Code => "code",
            Tab::Stages => "stages",
            Tab::Result => "result",
            Tab::Learn => "learn",
        }
    }

    #[must_use]
    pub fn title(self) -> &'static str {
        match self {
            Tab::Code => t!("state-tab-code"),
            Tab::Stages => t!("state-tab-stages"),
            Tab::Result => t!("state-tab-result"),
            Tab::Learn => t!("state-tab-learn"),
        }
    }
}

/// The frame of the page.
#[derive(Clone, Copy, Debug)]
pub struct PageLayout {
    pub open: RwSignal<OpenStages<Stage>>,
    pub tab: RwSignal<Tab>,
    /// Whether the inputs of a run are unfolded.
    pub inputs_open: RwSignal<bool>,
    pub help_open: RwSignal<bool>,
    /// Parts of the width that editor and results have; the stages have the rest.
    pub editor_part: RwSignal<f64>,
    pub result_part: RwSignal<f64>,
    /// Whether a lesson has the stages beside the editor, and not the result.
    pub lesson_shows_stages: RwSignal<bool>,
}

/// The initial widths of editor and results, as parts of the page.
pub const EDITOR_PART: f64 = 0.36;
pub const RESULT_PART: f64 = 0.29;

/// No column becomes narrower than this part of the page.
const NARROWEST: f64 = 0.15;

impl PageLayout {
    pub(crate) fn new() -> Self {
        Self {
            open: RwSignal::new(OpenStages::one(Stage::OIR)),
            tab: RwSignal::default(),
            inputs_open: RwSignal::new(false),
            help_open: RwSignal::new(false),
            editor_part: RwSignal::new(EDITOR_PART),
            result_part: RwSignal::new(RESULT_PART),
            lesson_shows_stages: RwSignal::new(false),
        }
    }

    /// How far the edge between editor and stages can be moved, as parts of the width.
    #[must_use]
    pub fn editor_range(self) -> [f64; 2] {
        [NARROWEST, 1.0 - NARROWEST - self.result_part.get()]
    }

    /// The same of the edge between stages and results.
    #[must_use]
    pub fn result_range(self) -> [f64; 2] {
        [self.editor_part.get() + NARROWEST, 1.0 - NARROWEST]
    }

    /// Moves the edge between editor and stages.
    pub fn move_editor_edge(self, by: f64) {
        let most = 1.0 - NARROWEST - self.result_part.get_untracked();
        self.editor_part.update(|it| *it = (*it + by).clamp(NARROWEST, most));
    }

    /// Moves the edge between stages and results.
    pub fn move_result_edge(self, by: f64) {
        let most = 1.0 - NARROWEST - self.editor_part.get_untracked();
        self.result_part.update(|it| *it = (*it - by).clamp(NARROWEST, most));
    }

    pub fn choose_stage(self, stage: Stage) {
        self.open.update(|it| it.choose(stage));
    }
}
