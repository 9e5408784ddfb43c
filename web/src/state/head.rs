//! The lines `# @...` at the head of a text.

use crate::bridge::locale::t;

/// An example of a line, for users who have never written one.
type Example = fn() -> &'static str;

/// The words that lines can begin with, in the order in which they are offered, each with an example.
pub const WORDS: [(&str, Example); 8] = [
    ("title", || t!("state-head-title")),
    ("about", || t!("state-head-about")),
    ("stencil", || "advect"),
    ("domain", || "64 64 40"),
    ("input", || "q bell(low=0, high=1)"),
    ("scalar", || "dt = 225.0"),
    ("external", || "hord = 6"),
    ("plot", || "q k=10"),
];

/// A line of the head.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HeadLine {
    /// Its number in the text, from 0.
    pub at: usize,
    /// `input`
    pub word: String,
    /// `q bell(low=0, high=1)`
    pub rest: String,
}

/// The lines of a text's head: those before the first line that is neither empty nor a comment.
#[must_use]
pub fn lines(text: &str) -> Vec<HeadLine> {
    let comments = text.lines().enumerate().take_while(|(_, it)| {
        let line = it.trim();
        line.is_empty() || line.starts_with('#')
    });
    comments
        .filter_map(|(at, line)| {
            let said = line.trim().strip_prefix('#')?.trim_start().strip_prefix('@')?;
            let (word, rest) = said.split_once(char::is_whitespace).unwrap_or((said, ""));
            let is_word = !word.is_empty() && word.bytes().all(|it| it.is_ascii_lowercase());
            is_word.then(|| HeadLine { at, word: word.to_owned(), rest: rest.trim().to_owned() })
        })
        .collect()
}

/// The text with another `rest` in a line of its head; without the line where that is empty.
#[must_use]
pub fn with(text: &str, at: usize, word: &str, rest: &str) -> String {
    let rest = one_line(rest);
    let changed = text.split_inclusive('\n').enumerate().map(|(number, line)| match number == at {
        false => line.to_owned(),
        true if rest.is_empty() => String::new(),
        true => format!("# @{word} {rest}{}", if line.ends_with('\n') { "\n" } else { "" }),
    });
    changed.collect()
}

/// The text with further lines: each below the last one of its word, or below the others, or at the top.
#[must_use]
pub fn plus(text: &str, added: &[(&str, String)]) -> String {
    added.iter().fold(text.to_owned(), |text, (word, rest)| {
        let head = lines(&text);
        let after = head.iter().rev().find(|it| it.word == *word).or(head.last());
        let at = after.map_or(0, |it| it.at + 1);
        let all: Vec<&str> = text.split_inclusive('\n').collect();
        let (before, behind) = (all[..at].concat(), all[at..].concat());
        let edge = if before.is_empty() || before.ends_with('\n') { "" } else { "\n" };
        format!("{before}{edge}# @{word} {}\n{behind}", one_line(rest))
    })
}

fn one_line(text: &str) -> String {
    text.split(['\n', '\r']).map(str::trim).collect::<Vec<_>>().join(" ").trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "# @title Old\n# a remark\n\n#  @input q 1\nx = 1\n# @scalar a = 1\n";

    #[test]
    fn the_head_ends_with_the_first_statement() {
        let found: Vec<_> = lines(TEXT).into_iter().map(|it| (it.at, it.word, it.rest)).collect();
        assert_eq!(
            found,
            [(0, "title".to_owned(), "Old".to_owned()), (3, "input".to_owned(), "q 1".to_owned())]
        );
        assert_eq!(lines("# @stencil(externals={})\n# @gtscript.function\ndef f():\n"), []);
    }

    #[test]
    fn a_line_is_changed_or_taken_out_and_the_rest_of_the_text_stays() {
        assert_eq!(with(TEXT, 0, "title", "New\nname "), TEXT.replace("Old", "New name"));
        assert_eq!(with(TEXT, 3, "input", ""), TEXT.replace("#  @input q 1\n", ""));
        assert_eq!(with("# @title a", 0, "title", "b"), "# @title b");
    }

    #[test]
    fn lines_are_added_below_their_like() {
        let added = plus(TEXT, &[("input", "p 2".to_owned()), ("domain", "4 4 4".to_owned())]);
        assert_eq!(added, TEXT.replace("#  @input q 1\n", "#  @input q 1\n# @input p 2\n# @domain 4 4 4\n"));
        assert_eq!(plus("x = 1\n", &[("title", "t".to_owned())]), "# @title t\nx = 1\n");
        assert_eq!(plus("", &[("title", "t".to_owned())]), "# @title t\n");
    }
}
