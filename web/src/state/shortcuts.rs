//! Keys that act wherever the focus is: one table, for the keyboard and for the help.

use crate::bridge::locale::t;

/// A key and what it does.
#[derive(Clone, Copy, Debug)]
pub struct Shortcut {
    /// As `bridge::keys` spells it. Without a modifier it acts outside of text only, and can be turned off.
    pub chord: &'static str,
    pub title: fn() -> &'static str,
    pub act: Act,
}

/// The action of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Act {
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

const fn shortcut(chord: &'static str, title: fn() -> &'static str, act: Act) -> Shortcut {
    Shortcut { chord, title, act }
}

/// Every one of them, in the order of the help.
pub const SHORTCUTS: [Shortcut; 30] = [
    shortcut("Mod+Enter", || t!("state-key-run"), Act::Run),
    shortcut("Mod+Alt+Enter", || t!("state-key-run-runner"), Act::RunOnRunner),
    shortcut("Mod+Shift+Enter", || t!("state-key-compare"), Act::Compare),
    // The editor has this key too, for fixes, while nothing runs.
    shortcut("Mod+.", || t!("state-key-stop"), Act::Stop),
    shortcut("Mod+Alt+S", || t!("state-key-share"), Act::Share),
    shortcut("Mod+S", || t!("state-key-save"), Act::SaySaved),
    shortcut("Mod+Alt+1", || t!("state-key-editor"), Act::FocusPane(0)),
    shortcut("Mod+Alt+2", || t!("state-key-stages"), Act::FocusPane(1)),
    shortcut("Mod+Alt+3", || t!("state-key-result"), Act::FocusPane(2)),
    shortcut("F6", || t!("state-key-next-pane"), Act::NextPane(1)),
    shortcut("Shift+F6", || t!("state-key-previous-pane"), Act::NextPane(-1)),
    shortcut("F8", || t!("state-key-next-problem"), Act::NextProblem(1)),
    shortcut("Shift+F8", || t!("state-key-previous-problem"), Act::NextProblem(-1)),
    shortcut("Mod+I", || t!("state-key-fix"), Act::QuickFix),
    shortcut("Alt+Enter", || t!("state-key-remarks"), Act::OpenRemarks),
    shortcut("Alt+Z", || t!("state-key-wrap"), Act::ToggleWrap),
    shortcut("s", || t!("state-key-next-stage"), Act::NextStage(1)),
    shortcut("S", || t!("state-key-previous-stage"), Act::NextStage(-1)),
    shortcut("n", || t!("state-key-next-pass"), Act::NextPass(1)),
    shortcut("p", || t!("state-key-previous-pass"), Act::NextPass(-1)),
    shortcut(">", || t!("state-key-next-change"), Act::NextChange(1)),
    shortcut("<", || t!("state-key-previous-change"), Act::NextChange(-1)),
    shortcut(".", || t!("state-key-step"), Act::Step),
    shortcut(",", || t!("state-key-restart"), Act::Restart),
    shortcut("]", || t!("state-key-next-level"), Act::NextLevel(1)),
    shortcut("[", || t!("state-key-previous-level"), Act::NextLevel(-1)),
    shortcut("d", || t!("state-key-which"), Act::NextResult),
    shortcut("i", || t!("state-key-inputs"), Act::ToggleInputs),
    shortcut("e", || t!("state-key-editor"), Act::FocusPane(0)),
    shortcut("?", || t!("state-key-help"), Act::Help),
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
