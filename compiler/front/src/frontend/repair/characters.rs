//! Characters that look like others and mean nothing in a program, and what was meant by them.

use super::text::TextChange;
use crate::frontend::tokens::{Token, TokenKind};

/// The name of such a character, and the character that Python knows in its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Lookalike {
    pub(super) name: &'static str,
    pub(super) meant: &'static str,
}

/// Characters of one name: as they stand in the text, and what to write for each.
#[derive(Clone, Debug)]
pub(super) struct CharacterGroup {
    pub(super) name: &'static str,
    /// The first of them, and what is meant by it.
    pub(super) first: char,
    pub(super) meant: String,
    /// In order of their places; neighbours are one.
    pub(super) changes: Vec<TextChange>,
}

/// The lookalikes among the tokens that mean nothing, in order of their first places.
pub(super) fn groups(text: &str, tokens: &[Token]) -> Vec<CharacterGroup> {
    let mut groups: Vec<CharacterGroup> = Vec::new();
    for token in tokens.iter().filter(|it| it.kind == TokenKind::Unknown) {
        let Some(first) = token.text(text).chars().next() else { continue };
        // Of an open string that is one token, only the quotation mark is strange.
        let end = token.start + u32::try_from(first.len_utf8()).unwrap_or(1);
        let Some(Lookalike { name, meant }) = lookalike(first) else { continue };
        let text = meant_text(first, meant);
        let known = groups.iter().position(|it| it.name == name && (it.meant == text || meant == OWN));
        let at = known.unwrap_or_else(|| {
            groups.push(CharacterGroup { name, first, meant: text.clone(), changes: Vec::new() });
            groups.len() - 1
        });
        let changes = &mut groups[at].changes;
        match changes.last_mut() {
            Some(last) if last.range.end == token.start => {
                last.range.end = end;
                last.text += &text;
            }
            _ => changes.push(TextChange { range: token.start..end, text }),
        }
    }
    groups
}

/// Stands for the character of usual width, which is another one for each.
const OWN: &str = "usual width";

fn meant_text(character: char, meant: &str) -> String {
    if meant != OWN {
        return meant.to_owned();
    }
    // The block repeats ASCII in its order.
    let ascii = u32::from(character).checked_sub(0xFEE0).and_then(char::from_u32);
    ascii.map(String::from).unwrap_or_default()
}

/// The lookalike of a character that Python does not know, if only one meaning is possible.
pub(super) fn lookalike(character: char) -> Option<Lookalike> {
    let (name, meant) = match character {
        '\u{a0}' => ("a no-break space", " "),
        '\u{202f}' => ("a narrow no-break space", " "),
        '\u{3000}' => ("an ideographic space", " "),
        '\u{1680}' | '\u{2000}'..='\u{200a}' | '\u{205f}' => ("a typographic space", " "),
        '\u{200b}' => ("a zero-width space", ""),
        '\u{200c}' | '\u{200d}' | '\u{2060}' => ("a zero-width joiner", ""),
        '\u{feff}' => ("a byte order mark", ""),
        '\u{ad}' => ("a soft hyphen", ""),
        '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => {
            ("a mark of writing direction", "")
        }
        '\u{2018}'..='\u{201b}' => ("a typographic quotation mark", "'"),
        '\u{201c}'..='\u{201f}' | '«' | '»' => ("a typographic quotation mark", "\""),
        '\u{2010}' | '\u{2011}' => ("a typographic hyphen", "-"),
        '\u{2012}' | '\u{2013}' => ("an en dash", "-"),
        '\u{2014}' | '\u{2015}' => ("an em dash", "-"),
        '\u{2212}' => ("a minus sign", "-"),
        '×' => ("a multiplication sign", "*"),
        '·' | '\u{22c5}' | '\u{2219}' => ("a multiplication dot", "*"),
        '÷' => ("a division sign", "/"),
        '\u{2215}' => ("a division slash", "/"),
        '\u{2264}' => ("a less-or-equal sign", "<="),
        '\u{2265}' => ("a greater-or-equal sign", ">="),
        '\u{2260}' => ("a not-equal sign", "!="),
        '\u{2026}' => ("an ellipsis", "..."),
        '\u{ff01}'..='\u{ff5e}' => ("a full-width character", OWN),
        _ => return None,
    };
    Some(Lookalike { name, meant })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frontend::tokens::tokens;

    #[test]
    fn neighbours_are_one_and_strings_are_left_alone() {
        let text = "\u{a0}\u{a0}b = a\u{a0}− “x”\u{ff0b}１ # “–”\nc = '–\u{a0}'\n";
        let found = groups(text, &tokens(text));
        let shown = found.iter().map(|it| {
            let texts: Vec<&str> = it.changes.iter().map(|it| it.text.as_str()).collect();
            format!("{} {texts:?}", it.name)
        });
        assert_eq!(
            shown.collect::<Vec<_>>(),
            [
                "a no-break space [\"  \", \" \"]",
                "a minus sign [\"-\"]",
                "a typographic quotation mark [\"\\\"\", \"\\\"\"]",
                "a full-width character [\"+1\"]",
            ]
        );
    }
}
