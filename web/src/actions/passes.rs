//! Passes that are picked or left out, and places that remarks are about.

use isobar_compiler::pipeline::Stage;
use isobar_page_model::open::OpenStages;
use isobar_page_model::picks::{Pick, next_pick, picks};
use isobar_page_model::project::ProjectEvent;
use isobar_page_model::remarks::DecisionKind;
use isobar_protocol::passes::PassOutcome;
use leptos::prelude::*;

use crate::bridge::locale::t;
use crate::state::App;
use crate::state::layout::Tab;

impl App {
    /// Goes to another pass of the active stage; with `only_changes`, to one that changed something.
    pub(super) fn next_pass(self, by: isize, only_changes: bool) {
        let stage = self.layout.open.with_untracked(OpenStages::active);
        if !stage.has_passes() {
            let known = Stage::ALL.into_iter().filter(|it| it.has_passes()).map(Stage::title);
            let known = known.collect::<Vec<_>>().join(", ");
            self.status.say(t!("state-passes-none-here", stages = known));
            return;
        }
        let look = self.passes.look(stage);
        let from = look.pick.get_untracked();
        let steps = self.passes.steps.get_untracked();
        let changed = |pass: &str| steps.iter().any(|it| it.pass == pass && it.went == PassOutcome::Changed);
        let is_wanted = |pass: &str| !only_changes || changed(pass);
        if steps.is_empty() {
            // They are told once the list is open.
            return self.passes.open(stage);
        }
        match next_pick(&picks(stage.name(), &steps), &from, by, is_wanted) {
            Some(pick) => self.passes.pick(stage, pick),
            None => self.passes.open(stage),
        }
    }

    /// Leaves a pass out of every compilation and run from now on, or puts it back.
    pub fn toggle_skip(self, pass: &str) {
        self.project.happened(ProjectEvent::PassToggled(pass.to_owned()));
    }

    /// Lets all passes run.
    pub fn skip_nothing(self) {
        self.project.happened(ProjectEvent::AllPassesWanted);
    }

    /// Lights what an entry is about, and shows its level around its pass.
    pub fn show_entry(self, at: usize) {
        let Some(entry) = self.passes.entries.with_untracked(|it| it.get(at).cloned()) else { return };
        self.layout.tab.set(Tab::Stages);
        if let Some(stage) = entry.level().and_then(Stage::from_name) {
            self.layout.choose_stage(stage);
            // A pass that missed its goal changed nothing, so there is no change to show.
            let pick =
                if entry.shown == DecisionKind::Missed { Pick::AfterAll } else { Pick::Pass(entry.pass) };
            if pick != Pick::AfterAll || self.passes.look(stage).is_open.get_untracked() {
                self.passes.pick(stage, pick);
            }
        }
        self.pin(entry.links.into_iter().collect());
    }

    /// Goes to a place that an entry is about, and lights what it is about.
    pub fn show_place(self, at: usize, line: u32) {
        let Some(entry) = self.passes.entries.with_untracked(|it| it.get(at).cloned()) else { return };
        if let Some(place) = entry.places.iter().find(|it| it.start.line == line) {
            self.reveal(place.start);
        }
        self.pin(entry.links.into_iter().collect());
    }
}
