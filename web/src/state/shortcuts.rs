//! Keys that act wherever the focus is: one table, for the keyboard and for the help.

use isobar_compiler::pipeline::Stage;
use isobar_protocol::worker::Which;
use leptos::prelude::*;

use super::App;
use super::layout::Tab;
use super::view::points_along;
use crate::bridge::keys;
use crate::bridge::locale::t;

/// A key and what it does.
#[derive(Clone, Copy, Debug)]
pub struct Shortcut {
    /// As [`keys::Press`] spells it. Without a modifier it acts outside of text only, and can be turned off.
    pub chord: &'static str,
    pub title: fn() -> &'static str,
    act: Act,
}

/// What a key does.
#[derive(Clone, Copy, Debug)]
enum Act {
    Always(fn(App)),
    /// Tells whether it did anything: else the browser has the key.
    Perhaps(fn(App) -> bool),
}

const fn shortcut(chord: &'static str, title: fn() -> &'static str, act: fn(App)) -> Shortcut {
    Shortcut { chord, title, act: Act::Always(act) }
}

const fn perhaps(chord: &'static str, title: fn() -> &'static str, act: fn(App) -> bool) -> Shortcut {
    Shortcut { chord, title, act: Act::Perhaps(act) }
}

/// Every one of them, in the order of the help.
pub const SHORTCUTS: [Shortcut; 30] = [
    shortcut("Mod+Enter", || t!("state-key-run"), |app| app.run_chosen()),
    shortcut("Mod+Alt+Enter", || t!("state-key-run-runner"), |app| app.with_runner(App::run_on_runner)),
    shortcut("Mod+Shift+Enter", || t!("state-key-compare"), |app| app.with_runner(App::compare)),
    // The editor has this key too, for fixes, while nothing runs.
    perhaps("Mod+.", || t!("state-key-stop"), App::stop_what_runs),
    shortcut("Mod+Alt+S", || t!("state-key-share"), |app| app.share()),
    shortcut(
        "Mod+S",
        || t!("state-key-save"),
        |app| {
            app.run.say(t!("state-key-save-said"));
        },
    ),
    shortcut("Mod+Alt+1", || t!("state-key-editor"), |app| app.focus_pane(0)),
    shortcut("Mod+Alt+2", || t!("state-key-stages"), |app| app.focus_pane(1)),
    shortcut("Mod+Alt+3", || t!("state-key-result"), |app| app.focus_pane(2)),
    perhaps("F6", || t!("state-key-next-pane"), |app| app.next_pane(1)),
    perhaps("Shift+F6", || t!("state-key-previous-pane"), |app| app.next_pane(-1)),
    shortcut("F8", || t!("state-key-next-problem"), |app| app.next_problem(1)),
    shortcut("Shift+F8", || t!("state-key-previous-problem"), |app| app.next_problem(-1)),
    shortcut("Mod+I", || t!("state-key-fix"), App::quick_fix),
    shortcut("Alt+Enter", || t!("state-key-remarks"), App::open_remarks),
    shortcut("Alt+Z", || t!("state-key-wrap"), App::toggle_wrap),
    shortcut("s", || t!("state-key-next-stage"), |app| app.next_stage(1)),
    shortcut("S", || t!("state-key-previous-stage"), |app| app.next_stage(-1)),
    shortcut("n", || t!("state-key-next-pass"), |app| app.next_pass(1, false)),
    shortcut("p", || t!("state-key-previous-pass"), |app| app.next_pass(-1, false)),
    shortcut(">", || t!("state-key-next-change"), |app| app.next_pass(1, true)),
    shortcut("<", || t!("state-key-previous-change"), |app| app.next_pass(-1, true)),
    perhaps(".", || t!("state-key-step"), App::step_by_key),
    perhaps(",", || t!("state-key-restart"), App::restart_by_key),
    shortcut("]", || t!("state-key-next-level"), |app| app.next_level(1)),
    shortcut("[", || t!("state-key-previous-level"), |app| app.next_level(-1)),
    shortcut("d", || t!("state-key-which"), |app| app.next_result()),
    shortcut("i", || t!("state-key-inputs"), |app| app.layout.inputs_open.update(|it| *it = !*it)),
    shortcut("e", || t!("state-key-editor"), |app| app.focus_pane(0)),
    shortcut("?", || t!("state-key-help"), |app| app.layout.help_open.set(true)),
];

/// What the three panes are, and where the keyboard goes in each.
const PANES: [(Tab, &str, &str); 3] = [
    (Tab::Code, ".column-code", ".editor"),
    (Tab::Stages, ".column-stages", ".column-stages [role=tab][aria-selected=true]"),
    (Tab::Result, ".column-result", ".pane-result"),
];

impl Shortcut {
    /// A single letter or sign.
    #[must_use]
    pub fn is_single(&self) -> bool {
        self.chord.chars().count() == 1
    }
}

/// The keys of a chord, as this machine's keyboard has them.
#[must_use]
pub fn spelled(chord: &'static str) -> Vec<&'static str> {
    let (modifier, control) =
        if keys::has_command_key() { ("⌘", "⌃") } else { (t!("state-key-ctrl"), t!("state-key-ctrl")) };
    let spelled = |it| match it {
        "Mod" => modifier,
        "Ctrl" => control,
        "Shift" => t!("state-key-shift"),
        other => other,
    };
    chord.split('+').map(spelled).collect()
}

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
            match found.act {
                Act::Always(act) => {
                    act(self);
                    true
                }
                Act::Perhaps(act) => act(self),
            }
        });
    }

    fn with_runner(self, act: fn(App)) {
        if untrack(|| self.connection.is_there()) {
            act(self);
        } else {
            self.run.say(t!("state-runner-none-said"));
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
        let active = self.layout.open.with_untracked(|it| it.stages.get(it.active).copied());
        let at = Stage::ALL.iter().position(|it| Some(*it) == active).unwrap_or(0);
        let next = at.checked_add_signed(by).and_then(|it| Stage::ALL.get(it));
        if let Some(&next) = next {
            self.layout.choose_stage(next);
        }
    }

    fn next_level(self, by: i64) {
        let across = self.view.across.get_untracked();
        let points = untrack(|| self.shown_field()).and_then(|it| points_along(&it, across));
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_key_has_two_meanings() {
        for (at, one) in SHORTCUTS.iter().enumerate() {
            assert!(SHORTCUTS[at + 1..].iter().all(|it| it.chord != one.chord), "{}", one.chord);
        }
    }

    #[test]
    fn keys_of_browsers_and_screen_readers_are_left_alone() {
        for chord in [
            "F7",
            "F12",
            "Alt+ArrowLeft",
            "Alt+ArrowRight",
            "Mod+T",
            "Mod+N",
            "Mod+W",
            "Mod+Shift+S",
            "Insert",
            "CapsLock",
        ] {
            assert!(SHORTCUTS.iter().all(|it| it.chord != chord), "{chord}");
        }
        for digit in '1'..='9' {
            assert!(SHORTCUTS.iter().all(|it| it.chord != format!("Mod+{digit}")));
        }
    }
}
