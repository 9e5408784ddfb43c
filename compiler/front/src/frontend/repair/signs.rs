//! Signs and words of other languages, and a sign that is missing.

use super::brackets::HEADERS;
use super::text::TextChange;
use crate::frontend::tokens::{Token, TokenKind};

/// One slip in a line, and how the line was meant.
#[derive(Clone, Debug)]
pub(super) struct Slip {
    pub(super) what: SlipKind,
    pub(super) changes: Vec<TextChange>,
}

/// The kind of a slip.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SlipKind {
    /// `if a = b:`
    Assignment,
    /// `if a > b` with nothing behind it; the word that starts the line.
    NoColon(&'static str),
    /// `else if a:`
    ElseIf,
    /// The operator of another language that was written, and the one of Python that was meant.
    Operator { written: &'static str, meant: &'static str },
}

/// Every slip that a line may have; `line` are its tokens.
pub(super) fn slips(text: &str, line: &[Token]) -> Vec<Slip> {
    let words = [else_if(text, line), assignments(text, line)];
    let signs =
        [("&&", "and"), ("||", "or"), ("<>", "!="), ("=<", "<="), ("=>", ">="), ("!", "not")].map(|it| {
            let changes = operators(text, line, it);
            let what = SlipKind::Operator { written: it.0, meant: it.1 };
            (!changes.is_empty()).then_some(Slip { what, changes })
        });
    words.into_iter().chain(signs).chain([colon(text, line)]).flatten().collect()
}

/// `=` where a condition stands.
fn assignments(text: &str, line: &[Token]) -> Option<Slip> {
    let mut changes = Vec::new();
    // For each open bracket, whether it is of a call, whose keywords have an `=` of their own.
    let mut open: Vec<bool> = Vec::new();
    // How many brackets were open where the condition starts.
    let mut condition: Option<usize> = None;
    let mut before: Option<Token> = None;
    for &token in line {
        match token.kind {
            TokenKind::Open => {
                let is_called =
                    before.is_some_and(|it| matches!(it.kind, TokenKind::Name | TokenKind::Close));
                open.push(is_called);
            }
            TokenKind::Close => {
                open.pop();
                condition = condition.filter(|depth| *depth <= open.len());
            }
            TokenKind::Keyword => match token.text(text) {
                "if" | "elif" | "while" => condition = Some(open.len()),
                "else" | "for" => condition = None,
                _ => {}
            },
            TokenKind::Sign if token.is(text, ":") => {
                condition = condition.filter(|depth| *depth < open.len());
            }
            TokenKind::Sign if token.is(text, "=") => {
                let inside = condition.map(|depth| open.get(depth..).unwrap_or_default());
                if inside.is_some_and(|it| it.last() != Some(&true)) {
                    changes.push(TextChange { range: token.start..token.end, text: "==".to_owned() });
                }
            }
            _ => {}
        }
        before = Some(token);
    }
    (!changes.is_empty()).then_some(Slip { what: SlipKind::Assignment, changes })
}

/// Two signs side by side, or one, that Python writes otherwise.
fn operators(text: &str, line: &[Token], (written, meant): (&str, &str)) -> Vec<TextChange> {
    let is_word = meant.starts_with(char::is_alphabetic);
    let n = u32::try_from(written.len()).unwrap_or(1);
    let starts = line.iter().enumerate().filter(|(at, it)| {
        let is_whole = text.get(it.start as usize..).is_some_and(|it| it.starts_with(written));
        let next = line.get(at + 1);
        let is_pair = || it.end == it.start + 1 && next.is_some_and(|it| it.end == line[*at].start + n);
        let is_sign = matches!(it.kind, TokenKind::Sign | TokenKind::Unknown);
        is_sign && is_whole && !it.is_in_string && (it.end == it.start + n || is_pair())
    });
    let spaced = |start: u32, end: u32| {
        let is_space = |it: Option<char>| it.is_none_or(char::is_whitespace);
        let before = is_space(text.get(..start as usize).and_then(|it| it.chars().next_back()));
        let after = is_space(text.get(end as usize..).and_then(|it| it.chars().next()));
        let is_first = text.get(..start as usize).is_some_and(|it| it.ends_with(['(', '[']));
        let space = |is_there: bool| if is_there || !is_word { "" } else { " " };
        format!("{}{meant}{}", space(before || is_first), space(after))
    };
    starts
        .map(|(_, it)| TextChange { range: it.start..it.start + n, text: spaced(it.start, it.start + n) })
        .collect()
}

fn else_if(text: &str, line: &[Token]) -> Option<Slip> {
    let [first, second, ..] = line else { return None };
    let is_else_if = first.is_word(text, "else") && second.is_word(text, "if");
    let change = TextChange { range: first.start..second.end, text: "elif".to_owned() };
    is_else_if.then(|| Slip { what: SlipKind::ElseIf, changes: vec![change] })
}

/// A colon behind the last token of a line that needs one.
fn colon(text: &str, line: &[Token]) -> Option<Slip> {
    let (first, last) = (line.first()?, line.last()?);
    let word = HEADERS.into_iter().find(|it| first.is_word(text, it))?;
    let mut depth = 0_u32;
    for token in line {
        match token.kind {
            TokenKind::Open => depth += 1,
            TokenKind::Close => depth = depth.checked_sub(1)?,
            _ if depth == 0 && token.is(text, ":") => return None,
            _ => {}
        }
    }
    let change = TextChange { range: last.end..last.end, text: ":".to_owned() };
    (depth == 0).then(|| Slip { what: SlipKind::NoColon(word), changes: vec![change] })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frontend::tokens::tokens;

    fn meant(line: &str) -> Vec<String> {
        let all = tokens(line);
        let all: Vec<Token> = all.into_iter().filter(|it| it.kind != TokenKind::Newline).collect();
        let mut found = Vec::new();
        for slip in slips(line, &all) {
            let mut text = line.to_owned();
            for it in slip.changes.iter().rev() {
                text.replace_range(it.range.start as usize..it.range.end as usize, &it.text);
            }
            found.push(text);
        }
        found
    }

    #[test]
    fn a_line_is_written_as_it_was_meant() {
        for (line, expected) in [
            ("if a = 0.0:", &["if a == 0.0:"][..]),
            ("while (a = b) and f(a, x=1, y=(b = c)):", &["while (a == b) and f(a, x=1, y=(b == c)):"]),
            ("x = 1 if a = b else c", &["x = 1 if a == b else c"]),
            ("x = f(a if b else c, d=1)", &[]),
            ("else if a:", &["elif a:"]),
            ("if a&&b || !c:", &["if a and b || !c:", "if a&&b or !c:", "if a&&b || not c:"]),
            ("if (!a):", &["if (not a):"]),
            ("if a <> b:", &["if a != b:"]),
            ("if a[0:1]", &["if a[0:1]:"]),
            ("x = a", &[]),
        ] {
            assert_eq!(meant(line), expected, "{line}");
        }
    }
}
