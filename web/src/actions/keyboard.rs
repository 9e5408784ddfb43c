//! Hears the keys, and does what they stand for.

use isobar_compiler::pipeline::Stage;
use isobar_page_model::open::OpenStages;
use isobar_protocol::worker::Which;
use leptos::prelude::*;

use crate::bridge::keys;
use crate::bridge::locale::t;
use crate::state::App;
use crate::state::layout::Tab;
use crate::state::shortcuts::{KeyAction, SHORTCUTS};
use crate::state::view::points_along;

/// The three panes: the tab, the selector of the pane, and that of the element that takes the focus.
const PANES: [(Tab, &str, &str); 3] = [
    (Tab::Code, ".column-code", ".editor"),
    (Tab::Stages, ".column-stages", ".column-stages [role=tab][aria-selected=true]"),
    (Tab::Result, ".column-result", ".pane-result"),
];

impl App {
    /// Hears the keys from now on.
    pub(super) fn start_shortcuts(self) {
        keys::on_press(move |press| {
            let found = SHORTCUTS.iter().find(|it| it.chord == press.chord);
            let Some(found) = found else { return false };
            if found.is_single() && (press.is_in_text || !self.settings.letters.get_untracked()) {
                return false;
            }
            // A run takes what its field shows.
            keys::commit_typed();
            self.carry_out(found.act)
        });
    }

    /// Does what a key stands for. Tells whether it did anything: else the browser has the key.
    fn carry_out(self, act: KeyAction) -> bool {
        match act {
            KeyAction::Stop => return self.stop_what_runs(),
            KeyAction::NextPane(by) => return self.next_pane(by),
            KeyAction::Step => return self.step_by_key(),
            KeyAction::Restart => return self.restart_by_key(),
            KeyAction::Run => self.run_chosen(),
            KeyAction::RunOnRunner => self.with_runner(App::run_on_runner),
            KeyAction::Compare => self.with_runner(App::compare),
            KeyAction::Share => self.share(),
            KeyAction::SaySaved => self.status.say(t!("state-key-save-said")),
            KeyAction::FocusPane(at) => self.focus_pane(at),
            KeyAction::NextProblem(by) => self.next_problem(by),
            KeyAction::QuickFix => self.quick_fix(),
            KeyAction::OpenRemarks => self.open_remarks(),
            KeyAction::ToggleWrap => self.toggle_wrap(),
            KeyAction::NextStage(by) => self.next_stage(by),
            KeyAction::NextPass(by) => self.next_pass(by, false),
            KeyAction::NextChange(by) => self.next_pass(by, true),
            KeyAction::NextLevel(by) => self.next_level(by),
            KeyAction::NextResult => self.next_result(),
            KeyAction::ToggleInputs => self.layout.inputs_open.update(|it| *it = !*it),
            KeyAction::Help => self.layout.help_open.set(true),
        }
        true
    }

    fn with_runner(self, act: fn(App)) {
        if untrack(|| self.connection.is_there()) {
            act(self);
        } else {
            self.status.say(t!("state-runner-none-said"));
        }
    }

    /// Tells whether there are time steps to take.
    fn step_by_key(self) -> bool {
        let can = untrack(|| self.can_step());
        if can {
            self.step_once();
        }
        can
    }

    /// Tells whether there is a step to go back from.
    fn restart_by_key(self) -> bool {
        let can = untrack(|| self.can_step() && self.clock.step.with(Option::is_some));
        if can {
            self.restart();
        }
        can
    }

    /// Gives the keyboard to the editor, the stages or the result, in this order.
    pub fn focus_pane(self, at: usize) {
        let (tab, _, selector) = PANES[at];
        self.layout.tab.set(tab);
        if tab == Tab::Code {
            self.focus_editor();
        } else {
            // A narrow page shows the pane first.
            request_animation_frame(move || keys::focus(selector));
        }
    }

    /// Tells whether there is one: past the last pane the focus goes on to the browser.
    fn next_pane(self, by: isize) -> bool {
        let here = keys::focused_among(&PANES.map(|(_, around, _)| around));
        let next = match here {
            Some(at) => at.checked_add_signed(by).filter(|it| *it < PANES.len()),
            None => Some(if by > 0 { 0 } else { PANES.len() - 1 }),
        };
        if let Some(at) = next {
            self.focus_pane(at);
        }
        next.is_some()
    }

    /// Of the column that has the keyboard: the text, or the stages.
    fn toggle_wrap(self) {
        if keys::focused_among(&[PANES[1].1]).is_some() {
            self.settings.wrap_stages(!self.settings.wraps_stages.get_untracked());
        } else {
            self.settings.wrap_text(!self.settings.wraps_text.get_untracked());
        }
    }

    /// Brings a stage into view, and gives its tab the keyboard.
    pub fn choose_stage_and_focus(self, stage: Stage) {
        self.layout.choose_stage(stage);
        request_animation_frame(move || keys::focus(&format!("#stage-tab-{stage}")));
    }

    fn next_stage(self, by: isize) {
        let active = self.layout.open.with_untracked(OpenStages::active);
        let all = untrack(|| self.compilation.shown_stages());
        let at = all.iter().position(|it| *it == active).unwrap_or(0);
        let next = at.checked_add_signed(by).and_then(|it| all.get(it));
        if let Some(&next) = next {
            self.layout.choose_stage(next);
        }
    }

    fn next_level(self, by: i64) {
        let across = self.view.across.get_untracked();
        let points = untrack(|| self.view.shown_field()).and_then(|it| points_along(&it, across));
        let Some(last) = points.and_then(|it| it.checked_sub(1)) else { return };
        let at = self.view.at.get_untracked().min(last);
        self.view.choose_at(at.saturating_add_signed(by).min(last));
    }

    fn next_result(self) {
        let (has_a, has_b) =
            (self.run.a.with_untracked(Option::is_some), self.run.b.with_untracked(Option::is_some));
        let all = [(Which::A, has_a), (Which::B, has_b), (Which::Difference, has_a && has_b)];
        let now = self.view.which.get_untracked();
        let at = all.iter().position(|(which, _)| *which == now).unwrap_or(0);
        let next = all.iter().cycle().skip(at + 1).take(all.len()).find(|(_, is_there)| *is_there);
        if let Some(&(which, _)) = next {
            self.view.which.set(which);
        }
    }
}
