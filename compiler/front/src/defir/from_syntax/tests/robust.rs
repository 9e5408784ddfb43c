//! No text makes the compiler fall over.

use proptest::prelude::*;

use super::{GALLERY, build, gallery, gallery_config};
use crate::project::Project;

/// Pieces that texts are disturbed with.
const PIECES: [&str; 40] = [
    "(",
    ")",
    "[",
    "]",
    ":",
    ",",
    "=",
    "+",
    "-",
    "*",
    "\n",
    "    ",
    " ",
    "\"",
    "'",
    "#",
    "\\",
    "0",
    "-1",
    "1e400",
    "None",
    "...",
    "if ",
    "else:",
    "elif q:",
    "return q",
    "with ",
    "computation(",
    "interval(",
    "region[",
    "I[0]",
    "def f(q):",
    "@function\n",
    "__INLINED(",
    "from x import *\n",
    "q[1, 0, 0]",
    "é",
    "\t",
    "\u{0}",
    "f\"{",
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn a_disturbed_stencil_is_answered(
        which in 0..GALLERY.len(),
        changes in proptest::collection::vec((any::<prop::sample::Index>(), 0..PIECES.len(), 0..12_usize), 1..8),
    ) {
        let mut text: Vec<char> = gallery(GALLERY[which]).chars().collect();
        for (at, piece, removed) in changes {
            let at = at.index(text.len());
            let end = (at + removed).min(text.len());
            text.splice(at..end, PIECES[piece].chars());
        }
        let text: String = text.into_iter().collect();
        build(&Project::of_one("main.py", &text), &gallery_config());
    }

    #[test]
    fn lines_in_any_order_are_answered(
        which in 0..GALLERY.len(),
        order in proptest::collection::vec(any::<prop::sample::Index>(), 1..60),
    ) {
        let text = gallery(GALLERY[which]);
        let lines: Vec<&str> = text.lines().collect();
        let shuffled: Vec<&str> = order.iter().map(|it| lines[it.index(lines.len())]).collect();
        build(&Project::of_one("main.py", &(text.clone() + &shuffled.join("\n"))), &gallery_config());
        build(&Project::of_one("main.py", &shuffled.join("\n")), &gallery_config());
    }

    #[test]
    fn any_text_is_answered(text in "[ -~\\n]{0,300}") {
        build(&Project::of_one("main.py", &text), &gallery_config());
    }
}
