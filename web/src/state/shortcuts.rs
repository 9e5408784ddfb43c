//! Keys that act wherever the focus is: one table, for the keyboard and for the help.

use isobar_compiler::pipeline::Stage;
use isobar_protocol::worker::Which;
use leptos::prelude::*;

use super::App;
use super::layout::Tab;
use super::view::points_along;
use crate::bridge::keys;

/// A key and what it does.
#[derive(Clone, Copy, Debug)]
pub struct Shortcut {
    /// As [`keys::Press`] spells it. Without a modifier it acts outside of text only, and can be turned off.
    pub chord: &'static str,
    pub title: &'static str,
    act: Act,
}

/// What a key does.
#[derive(Clone, Copy, Debug)]
enum Act {
    Always(fn(App)),
    /// Tells whether it did anything: else the browser has the key.
    Perhaps(fn(App) -> bool),
}

const fn shortcut(chord: &'static str, title: &'static str, act: fn(App)) -> Shortcut {
    Shortcut { chord, title, act: Act::Always(act) }
}

const fn perhaps(chord: &'static str, title: &'static str, act: fn(App) -> bool) -> Shortcut {
    Shortcut { chord, title, act: Act::Perhaps(act) }
}

/// Every one of them, in the order of the help.
pub const SHORTCUTS: [Shortcut; 25] = [
    shortcut("Mod+Enter", "run in this tab", |app| app.run_here()),
    shortcut("Mod+Alt+Enter", "run on the runner", |app| app.with_runner(App::run_on_runner)),
    shortcut("Mod+Shift+Enter", "run both and compare", |app| app.with_runner(App::compare)),
    // The editor has this key too, for fixes, while nothing runs.
    perhaps("Mod+.", "stop", App::stop_what_runs),
    shortcut("Mod+Alt+S", "share a link", |app| app.share()),
    shortcut("Mod+S", "nothing: your text is kept as you type", |app| {
        app.run.say("Your text is kept in this browser as you type; Share makes a link of it.");
    }),
    shortcut("Mod+Alt+1", "go to the editor", |app| app.focus_pane(0)),
    shortcut("Mod+Alt+2", "go to the stages", |app| app.focus_pane(1)),
    shortcut("Mod+Alt+3", "go to the result", |app| app.focus_pane(2)),
    perhaps("F6", "next pane", |app| app.next_pane(1)),
    perhaps("Shift+F6", "previous pane", |app| app.next_pane(-1)),
    shortcut("F8", "next problem", |app| app.next_problem(1)),
    shortcut("Shift+F8", "previous problem", |app| app.next_problem(-1)),
    shortcut("n", "next stage", |app| app.next_stage(1)),
    shortcut("p", "previous stage", |app| app.next_stage(-1)),
    shortcut(".", "next pass of the stage", |app| app.next_pass(1, false)),
    shortcut(",", "previous pass of the stage", |app| app.next_pass(-1, false)),
    shortcut(">", "next pass that changed something", |app| app.next_pass(1, true)),
    shortcut("<", "previous pass that changed something", |app| app.next_pass(-1, true)),
    shortcut("]", "next level of the field", |app| app.next_level(1)),
    shortcut("[", "previous level of the field", |app| app.next_level(-1)),
    shortcut("d", "result A, B, or their difference", |app| app.next_result()),
    shortcut("i", "fold and unfold the inputs", |app| app.layout.inputs_open.update(|it| *it = !*it)),
    shortcut("e", "go to the editor", |app| app.focus_pane(0)),
    shortcut("?", "this help", |app| app.layout.help_open.set(true)),
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
    let (modifier, control) = if keys::has_command_key() { ("⌘", "⌃") } else { ("Ctrl", "Ctrl") };
    let spelled = |it| match it {
        "Mod" => modifier,
        "Ctrl" => control,
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
            self.run.say("This page is served without a runner: start one with `isobar serve`.");
        }
    }

    fn focus_pane(self, at: usize) {
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

    /// Goes to the problem after or before the caret, round the end.
    fn next_problem(self, by: isize) {
        let caret = self.compilation.caret.get_untracked();
        let main = untrack(|| self.project.main());
        let mut places: Vec<_> = self
            .compilation
            .diagnostics
            .with_untracked(|it| it.iter().filter(|it| it.file == main).map(|it| it.start).collect());
        places.sort_by_key(|it| (it.line, it.col));
        let here = (caret.line, caret.col);
        let next = if by > 0 {
            places.iter().find(|it| (it.line, it.col) > here).or(places.first())
        } else {
            places.iter().rev().find(|it| (it.line, it.col) < here).or(places.last())
        };
        match next {
            Some(&at) => self.reveal(at),
            None => self.run.say("There are no problems."),
        }
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
