//! Lays a text out: changes indents, spaces and blank lines only.
//!
//! It changes only the white space between tokens, and never where a line of a statement ends. The tree of
//! the text and its comments stay the same, which is checked before an edit is made. There is a library that
//! would do more, but it brings a file system and a command line with it.

use super::analysis::{Analysis, Edit};
use isobar_front::frontend::parse as frontend;
use isobar_front::frontend::tokens::{Token, TokenKind, tokens};
use isobar_ground::diag::{Diagnostics, FileId, Span};

/// How far one block stands in another.
const INDENT: usize = 4;

/// The edits that lay a file out; none where its syntax is broken.
#[must_use]
pub fn format(analysis: &Analysis, file: FileId) -> Vec<Edit> {
    let text = analysis.project.text(file);
    let edits = edits(text);
    let out = applied_to(text, &edits);
    if !is_same(text, &out) {
        return Vec::new();
    }
    edits
        .into_iter()
        .map(|(range, text)| Edit { span: Span::new(file, range.start, range.end), text })
        .collect()
}

/// A text after its gaps are others.
fn applied_to(text: &str, gaps: &[Gap]) -> String {
    let mut out = String::with_capacity(text.len());
    let mut at = 0;
    for (range, new) in gaps {
        out.push_str(text.get(at..range.start as usize).unwrap_or(""));
        out.push_str(new);
        at = range.end as usize;
    }
    out.push_str(text.get(at..).unwrap_or(""));
    out
}

/// A piece of text between two tokens, and what should stand there.
type Gap = (std::ops::Range<u32>, String);

/// Whether two texts have the same tokens, but for the space between them.
fn is_same(before: &str, after: &str) -> bool {
    let mut found = Diagnostics::default();
    for text in [before, after] {
        frontend::module(FileId(0), text, &mut found);
    }
    let letters = |text: &str| -> Vec<(TokenKind, String)> {
        let all = tokens(text).into_iter().filter(|it| it.kind != TokenKind::LineBreak);
        all.map(|it| match it.kind {
            TokenKind::Indent | TokenKind::Dedent | TokenKind::Newline => (it.kind, String::new()),
            TokenKind::Comment => (it.kind, it.text(text).trim_end().to_owned()),
            _ => (it.kind, it.text(text).to_owned()),
        })
        .collect()
    };
    // Comments may stand before or behind the end of a block.
    let statements = |text: &str| -> Vec<(TokenKind, String)> {
        letters(text).into_iter().filter(|(kind, _)| *kind != TokenKind::Comment).collect()
    };
    let comments = |text: &str| -> Vec<(TokenKind, String)> {
        letters(text).into_iter().filter(|(kind, _)| *kind == TokenKind::Comment).collect()
    };
    !found.has_errors() && statements(before) == statements(after) && comments(before) == comments(after)
}

/// The gaps between tokens that should change, with their new text.
fn edits(text: &str) -> Vec<Gap> {
    // A line that ends with a carriage return alone is from a machine of the last century.
    if text.replace("\r\n", "\n").contains('\r') {
        return Vec::new();
    }
    let all = tokens(text);
    let mut layout = FormatState {
        text,
        newline: if text.contains("\r\n") { "\r\n" } else { "\n" },
        blocks: vec![0],
        brackets: Vec::new(),
        shift: 0,
        before: [None; 2],
        is_below_definition: false,
        is_decorated: false,
    };
    let mut gaps = Vec::new();
    let mut end = if text.starts_with('\u{feff}') { 3 } else { 0 };
    for (at, token) in all.iter().enumerate() {
        match token.kind {
            TokenKind::Indent => layout.blocks.push(width(token.text(text))),
            TokenKind::Dedent => {
                layout.blocks.pop();
            }
            TokenKind::Newline | TokenKind::LineBreak => {}
            _ => {
                let mut token = *token;
                if token.kind == TokenKind::Comment {
                    token.end = token.start + length(token.text(text).trim_end());
                }
                let range = end..token.start;
                let old = text.get(range.start as usize..range.end as usize).unwrap_or("");
                if let Some(new) = layout.gap(token, &all[at + 1..], old).filter(|it| it != old) {
                    gaps.push((range, new));
                }
                layout.pass(token);
                end = token.end;
            }
        }
    }
    let old = text.get(end as usize..).unwrap_or("");
    let new = if layout.before[0].is_some() { layout.newline } else { "" };
    if old != new && !old.contains('\\') {
        gaps.push((end..length(text), new.to_owned()));
    }
    gaps
}

/// An open bracket.
#[derive(Clone, Copy, Debug)]
struct Bracket {
    /// Whether it holds the index of something, where a colon makes a slice.
    is_index: bool,
    is_round: bool,
    /// Whether it holds the parameters of a `def`, and the present one is annotated.
    is_header: bool,
    is_annotated: bool,
}

/// The state of the text up to a token.
struct FormatState<'t> {
    text: &'t str,
    newline: &'static str,
    /// The columns of the open blocks, as they are written.
    blocks: Vec<usize>,
    brackets: Vec<Bracket>,
    /// How far the present statement moves to the right.
    shift: isize,
    /// The last token, and the one before it.
    before: [Option<Token>; 2],
    /// Whether the last statement at the top was a `def` or `class`.
    is_below_definition: bool,
    /// Whether the last line was a decorator.
    is_decorated: bool,
}

impl FormatState<'_> {
    /// The white space that should stand before `token`; none where it stays as it is.
    fn gap(&mut self, token: Token, rest: &[Token], old: &str) -> Option<String> {
        if token.is_in_string || old.contains('\\') {
            return None;
        }
        let Some(before) = self.before[0] else {
            self.shift = 0;
            self.starts(token, 0);
            return Some(String::new());
        };
        let n_lines = old.matches('\n').count();
        if n_lines == 0 {
            return self.space(before, token, old);
        }
        let column = width(old.rsplit('\n').next().unwrap_or(""));
        if !self.brackets.is_empty() {
            let moved = column.saturating_add_signed(self.shift);
            return Some(format!("{}{}", self.newline.repeat(n_lines.min(2)), " ".repeat(moved)));
        }
        let level = self.level(token, rest, column);
        let n_blank = self.blank_lines(before, token, level, n_lines - 1);
        let indent = level * INDENT;
        self.shift = isize::try_from(indent).unwrap_or(0) - isize::try_from(column).unwrap_or(0);
        self.starts(token, level);
        Some(format!("{}{}", self.newline.repeat(n_blank + 1), " ".repeat(indent)))
    }

    /// The block that a line belongs to. A comment before the end of a block, or before the first line of one,
    /// belongs to the one whose column it has.
    fn level(&self, token: Token, rest: &[Token], column: usize) -> usize {
        if token.kind != TokenKind::Comment {
            return self.blocks.len() - 1;
        }
        let mut blocks = self.blocks.clone();
        for next in rest {
            match next.kind {
                TokenKind::Indent => blocks.push(width(next.text(self.text))),
                TokenKind::Comment | TokenKind::Newline | TokenKind::LineBreak => {}
                _ => break,
            }
        }
        blocks.iter().rposition(|it| *it <= column).unwrap_or(0)
    }

    fn blank_lines(&self, before: Token, token: Token, level: usize, n_blank: usize) -> usize {
        if self.is_decorated {
            return 0;
        }
        let continues = ["elif", "else", "except", "finally"].iter().any(|it| token.is_word(self.text, it));
        if level > 0 || continues {
            return n_blank.min(1);
        }
        // A comment right above belongs to what it stands above.
        let is_attached = before.kind == TokenKind::Comment && n_blank == 0;
        let stands_apart = self.is_definition(token) || self.is_below_definition;
        if stands_apart && !is_attached { 2 } else { n_blank.min(2) }
    }

    fn is_definition(&self, token: Token) -> bool {
        let is_word = ["def", "class", "async"].iter().any(|it| token.is_word(self.text, it));
        is_word || token.is(self.text, "@")
    }

    /// Takes note of the first token of a line.
    fn starts(&mut self, token: Token, level: usize) {
        self.is_decorated = token.is(self.text, "@");
        if level == 0 {
            self.is_below_definition = self.is_definition(token);
        }
    }

    /// The white space between two tokens of a line; none where it stays as it is.
    fn space(&self, before: Token, token: Token, old: &str) -> Option<String> {
        let some = |it: &str| Some(it.to_owned());
        let kept = || Some(if old.is_empty() { String::new() } else { " ".to_owned() });
        if token.kind == TokenKind::Comment {
            return some("  ");
        }
        if before.kind == TokenKind::Unknown || token.kind == TokenKind::Unknown || before.is_in_string {
            return None;
        }
        if before.kind == TokenKind::Open || token.kind == TokenKind::Close {
            return some("");
        }
        let is_sign =
            |it: Token, signs: &[&str]| it.kind == TokenKind::Sign && signs.contains(&it.text(self.text));
        let is_word = |it: Token| it.kind == TokenKind::Keyword;
        if is_sign(token, &[",", ";"]) {
            return some("");
        }
        if is_sign(before, &[",", ";"]) {
            return some(" ");
        }
        if is_sign(token, &["."]) || is_sign(before, &["."]) {
            let is_apart = is_word(before) || is_word(token);
            return match before.kind {
                TokenKind::Number => None,
                _ => some(if is_apart { " " } else { "" }),
            };
        }
        let bracket = self.brackets.last();
        let is_in_index = bracket.is_some_and(|it| it.is_index);
        if is_sign(token, &[":"]) {
            return if is_in_index { kept() } else { some("") };
        }
        if is_sign(before, &[":"]) {
            return if is_in_index { kept() } else { some(" ") };
        }
        if is_sign(token, &["="]) || is_sign(before, &["="]) {
            let is_tight = bracket.is_some_and(|it| it.is_round && !(it.is_header && it.is_annotated));
            return some(if is_tight { "" } else { " " });
        }
        if self.is_unary(before) {
            return some("");
        }
        if let Some(power) = [before, token].into_iter().find(|it| is_sign(*it, &["**"])) {
            // Some write it with space around it and some without: as it is, but on both sides the same.
            let is_space = |it: Option<char>| it.is_some_and(|it| it == ' ' || it == '\t');
            let (left, right) = (self.text.get(..power.start as usize), self.text.get(power.end as usize..));
            let is_loose = is_space(left.and_then(|it| it.chars().next_back()))
                && is_space(right.and_then(|it| it.chars().next()));
            return some(if is_loose { " " } else { "" });
        }
        if token.kind == TokenKind::Open && !matches!(before.kind, TokenKind::Sign | TokenKind::Keyword) {
            return if token.text(self.text) == "{" { kept() } else { some("") };
        }
        let is_operator = |it: Token| it.kind == TokenKind::Sign && it.text(self.text) != "...";
        if is_operator(before) || is_operator(token) || is_word(before) || is_word(token) {
            return some(" ");
        }
        kept()
    }

    /// Whether the last token is a sign with one operand, or a decorator's.
    fn is_unary(&self, sign: Token) -> bool {
        let letters = sign.text(self.text);
        if sign.kind != TokenKind::Sign || !matches!(letters, "+" | "-" | "~" | "*" | "**" | "@") {
            return false;
        }
        let Some(earlier) = self.before[1] else { return true };
        let between = self.text.get(earlier.end as usize..sign.start as usize).unwrap_or("");
        if self.brackets.is_empty() && between.contains('\n') && !between.contains('\\') {
            return true;
        }
        match earlier.kind {
            TokenKind::Open | TokenKind::Keyword | TokenKind::Comment => true,
            TokenKind::Sign => earlier.text(self.text) != "...",
            _ => false,
        }
    }

    /// Goes behind a token.
    fn pass(&mut self, token: Token) {
        match token.kind {
            TokenKind::Open if !token.is_in_string => {
                let letters = token.text(self.text);
                let is_value =
                    |it: Token| matches!(it.kind, TokenKind::Name | TokenKind::Close | TokenKind::String);
                self.brackets.push(Bracket {
                    is_index: letters == "[" && self.before[0].is_some_and(is_value),
                    is_round: letters == "(",
                    is_header: self.before[1].is_some_and(|it| it.is_word(self.text, "def")),
                    is_annotated: false,
                });
            }
            TokenKind::Close if !token.is_in_string => {
                self.brackets.pop();
            }
            TokenKind::Sign => {
                if let Some(bracket) = self.brackets.last_mut() {
                    match token.text(self.text) {
                        ":" => bracket.is_annotated = true,
                        "," => bracket.is_annotated = false,
                        _ => {}
                    }
                }
            }
            _ => {}
        }
        self.before = [Some(token), self.before[0]];
    }
}

fn width(indent: &str) -> usize {
    indent.chars().fold(0, |at, it| if it == '\t' { at / 8 * 8 + 8 } else { at + 1 })
}

fn length(text: &str) -> u32 {
    u32::try_from(text.len()).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;
    use crate::analysis::applied;
    use isobar_front::config::Config;
    use isobar_front::project::Project;

    fn formatted(text: &str) -> String {
        let project = Project::of_one("a.py", text);
        let analysis = Analysis::new(&project, &Config::default());
        applied(&project, &format(&analysis, FileId(0))).text(FileId(0)).to_owned()
    }

    #[expect(clippy::needless_pass_by_value, reason = "an expectation is made for one check")]
    fn check(text: &str, expected: Expect) {
        let once = formatted(text);
        expected.assert_eq(&once);
        assert_eq!(formatted(&once), once, "a second time nothing changes");
    }

    #[test]
    fn blocks_are_indented_by_four() {
        check(
            "def f(q:FloatField,o :FloatField) :\n  # all of it\n  with computation( PARALLEL ) , interval( ... ):\n       o=q[ 1,0,0 ]*-2.0   # twice\n       # behind\n  # and below\n",
            expect![[r#"
                def f(q: FloatField, o: FloatField):
                    # all of it
                    with computation(PARALLEL), interval(...):
                        o = q[1, 0, 0] * -2.0  # twice
                        # behind
                    # and below
            "#]],
        );
    }

    #[test]
    fn calls_defaults_and_keywords_are_tight() {
        check(
            "@ gtscript . function\ndef f (a,*,b = 1,c : float=2.0)->float :\n    return g (a ,b = -1) if not(a<b) else- a** 2\n",
            expect![[r#"
                @gtscript.function
                def f(a, *, b=1, c: float = 2.0) -> float:
                    return g(a, b=-1) if not (a < b) else -a**2
            "#]],
        );
    }

    #[test]
    fn definitions_stand_apart_and_nothing_else_far() {
        check(
            "\n\nimport a\nfrom . import b\n# why\ndef f():\n    x = 1\n\n\n\n    y = 2\nz = 3\n\n\n\n\nw = 4\n\n\n",
            expect![[r#"
                import a
                from . import b
                # why
                def f():
                    x = 1

                    y = 2


                z = 3


                w = 4
            "#]],
        );
    }

    #[test]
    fn lines_of_a_statement_keep_their_place_in_it() {
        check(
            "if x:\n  y = f(1,\n        2,  # two\n\n\n        q[3:4, a  : b])\n",
            expect![[r#"
            if x:
                y = f(1,
                      2,  # two

                      q[3:4, a : b])
        "#]],
        );
    }

    #[test]
    fn strings_and_broken_texts_stay_as_they_are() {
        for text in ["x=(1,\n", "def f(:\n  y=1\n", "x = f'{a  !r}'\n", "x = '''\n  a  \n'''\n", "a=\rb"] {
            assert_eq!(formatted(text), text);
        }
    }
}
