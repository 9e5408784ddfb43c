//! Diagnostics as text: a list of them in Markdown, and which of them stand at a word.

use isobar_protocol::diagnostic::{Diagnostic, Position};

/// A line for each, and its help below: as somebody asks others about them.
#[must_use]
pub fn markdown(all: &[Diagnostic]) -> String {
    let mut out = String::new();
    for it in all {
        let place = match it.file.as_str() {
            "" => String::new(),
            file => format!(" `{}:{}:{}`", file.replace('`', "'"), it.start.line, it.start.col),
        };
        out += &format!("- **{} {}**{place}: {}\n", it.severity, it.code, it.message);
        let help = it.help.as_deref().map(|it| format!("help: {it}"));
        for note in it.notes.iter().cloned().chain(help) {
            out += &format!("  - {note}\n");
        }
    }
    out
}

/// The word that touches a place, from its first character to behind its last one.
#[must_use]
pub fn word_at(text: &str, at: Position) -> [Position; 2] {
    let line: Vec<char> =
        text.lines().nth(at.line.saturating_sub(1) as usize).unwrap_or_default().chars().collect();
    let is_word = |it: &char| it.is_alphanumeric() || *it == '_';
    let col = (at.col.saturating_sub(1) as usize).min(line.len());
    let before = line[..col].iter().rev().take_while(|it| is_word(it)).count();
    let behind = line[col..].iter().take_while(|it| is_word(it)).count();
    let place = |col: usize| Position { line: at.line, col: u32::try_from(col + 1).unwrap_or(u32::MAX) };
    [place(col - before), place(col + behind)]
}

/// Whether a squiggle of the diagnostic would stand at the word.
#[must_use]
pub fn touches(diagnostic: &Diagnostic, word: [Position; 2]) -> bool {
    diagnostic.start <= word[1] && diagnostic.end >= word[0]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(line: u32, col: u32) -> Position {
        Position { line, col }
    }

    fn diagnostic(start: Position, end: Position) -> Diagnostic {
        Diagnostic { start, end, file: "main.py".to_owned(), ..Diagnostic::without_place("E1", "", "") }
    }

    #[test]
    fn a_word_is_found_from_either_end_and_from_within() {
        let text = "a\nq = flüx_1 + 2\n";
        for col in [5, 7, 11] {
            assert_eq!(word_at(text, at(2, col)), [at(2, 5), at(2, 11)], "{col}");
        }
        assert_eq!(word_at(text, at(2, 4)), [at(2, 4), at(2, 4)], "there is none between signs");
        assert_eq!(word_at(text, at(9, 4)), [at(9, 1), at(9, 1)]);
    }

    #[test]
    fn problems_are_a_list_in_markdown() {
        let one = Diagnostic {
            notes: vec!["seen before".to_owned()],
            help: Some("write `q`".to_owned()),
            ..diagnostic(at(2, 5), at(2, 11))
        };
        let other = Diagnostic::without_place("E91", "no call", "");
        let lines = "\
- **error E1** `main.py:2:5`: 
  - seen before
  - help: write `q`
- **error E91**: no call
";
        assert_eq!(markdown(&[one, other]), lines);
    }

    #[test]
    fn a_problem_of_the_word_is_spared_and_one_beside_it_is_not() {
        let word = [at(2, 5), at(2, 11)];
        assert!(touches(&diagnostic(at(2, 5), at(2, 11)), word));
        assert!(touches(&diagnostic(at(2, 11), at(2, 11)), word), "what is expected behind it");
        assert!(!touches(&diagnostic(at(2, 1), at(2, 4)), word));
        assert!(!touches(&diagnostic(at(3, 1), at(3, 4)), word));
    }
}
