//! The names of keys.

use crate::bridge::keys;
use crate::bridge::locale::t;

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
