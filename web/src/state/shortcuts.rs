//! Keys that act wherever the focus is: one table, for the keyboard and for the help.

use crate::bridge::locale::t;

/// A key and what it does.
#[derive(Clone, Copy, Debug)]
pub struct Shortcut {
    /// As `bridge::keys` spells it. Without a modifier it acts outside of text only, and can be turned off.
    pub chord: &'static str,
    pub title: fn() -> &'static str,
    pub act: KeyAction,
}

/// The action of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyAction {
    Run,
    RunOnRunner,
    Compare,
    Stop,
    Share,
    SaySaved,
    FocusPane(usize),
    NextPane(isize),
    NextProblem(isize),
    QuickFix,
    OpenRemarks,
    ToggleWrap,
    NextStage(isize),
    NextPass(isize),
    NextChange(isize),
    Step,
    Restart,
    NextLevel(i64),
    NextResult,
    ToggleInputs,
    Help,
}

const fn shortcut(chord: &'static str, title: fn() -> &'static str, act: KeyAction) -> Shortcut {
    Shortcut { chord, title, act }
}

/// Every one of them, in the order of the help.
pub const SHORTCUTS: [Shortcut; 30] = [
    shortcut("Mod+Enter", || t!("state-key-run"), KeyAction::Run),
    shortcut("Mod+Alt+Enter", || t!("state-key-run-runner"), KeyAction::RunOnRunner),
    shortcut("Mod+Shift+Enter", || t!("state-key-compare"), KeyAction::Compare),
    // The editor has this key too, for fixes, while nothing runs.
    shortcut("Mod+.", || t!("state-key-stop"), KeyAction::Stop),
    shortcut("Mod+Alt+S", || t!("state-key-share"), KeyAction::Share),
    shortcut("Mod+S", || t!("state-key-save"), KeyAction::SaySaved),
    shortcut("Mod+Alt+1", || t!("state-key-editor"), KeyAction::FocusPane(0)),
    shortcut("Mod+Alt+2", || t!("state-key-stages"), KeyAction::FocusPane(1)),
    shortcut("Mod+Alt+3", || t!("state-key-result"), KeyAction::FocusPane(2)),
    shortcut("F6", || t!("state-key-next-pane"), KeyAction::NextPane(1)),
    shortcut("Shift+F6", || t!("state-key-previous-pane"), KeyAction::NextPane(-1)),
    shortcut("F8", || t!("state-key-next-problem"), KeyAction::NextProblem(1)),
    shortcut("Shift+F8", || t!("state-key-previous-problem"), KeyAction::NextProblem(-1)),
    shortcut("Mod+I", || t!("state-key-fix"), KeyAction::QuickFix),
    shortcut("Alt+Enter", || t!("state-key-remarks"), KeyAction::OpenRemarks),
    shortcut("Alt+Z", || t!("state-key-wrap"), KeyAction::ToggleWrap),
    shortcut("s", || t!("state-key-next-stage"), KeyAction::NextStage(1)),
    shortcut("S", || t!("state-key-previous-stage"), KeyAction::NextStage(-1)),
    shortcut("n", || t!("state-key-next-pass"), KeyAction::NextPass(1)),
    shortcut("p", || t!("state-key-previous-pass"), KeyAction::NextPass(-1)),
    shortcut(">", || t!("state-key-next-change"), KeyAction::NextChange(1)),
    shortcut("<", || t!("state-key-previous-change"), KeyAction::NextChange(-1)),
    shortcut(".", || t!("state-key-step"), KeyAction::Step),
    shortcut(",", || t!("state-key-restart"), KeyAction::Restart),
    shortcut("]", || t!("state-key-next-level"), KeyAction::NextLevel(1)),
    shortcut("[", || t!("state-key-previous-level"), KeyAction::NextLevel(-1)),
    shortcut("d", || t!("state-key-which"), KeyAction::NextResult),
    shortcut("i", || t!("state-key-inputs"), KeyAction::ToggleInputs),
    shortcut("e", || t!("state-key-editor"), KeyAction::FocusPane(0)),
    shortcut("?", || t!("state-key-help"), KeyAction::Help),
];

impl Shortcut {
    /// A single letter or sign.
    #[must_use]
    pub fn is_single(&self) -> bool {
        self.chord.chars().count() == 1
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
