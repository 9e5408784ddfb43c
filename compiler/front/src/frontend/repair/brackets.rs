//! Brackets without a partner.

use crate::frontend::tokens::{Token, TokenKind};

/// The first bracket that has no partner.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Unbalanced {
    /// Brackets that are never closed, from outside in; never empty.
    Open {
        open: Vec<Token>,
        /// Where their statement starts, and where it was meant to close them.
        statement: u32,
        end: u32,
    },
    /// A bracket of another kind closes it.
    Crossed { open: Token, close: Token, statement: u32 },
    /// Nothing was opened.
    Alone { close: Token, statement: u32 },
}

/// How the end of a statement is known whose brackets are open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum StatementEnd {
    /// By a line that looks like the next statement.
    Lines,
    /// By the end of the file alone.
    Brackets,
}

/// Words that start a statement and stand in no expression.
const STATEMENTS: [&str; 15] = [
    "def", "class", "with", "return", "import", "while", "pass", "elif", "try", "raise", "del", "global",
    "break", "continue", "assert",
];
/// Words whose line ends with a colon.
pub(super) const HEADERS: [&str; 11] =
    ["def", "class", "with", "if", "elif", "else", "while", "for", "try", "except", "finally"];

/// The first bracket without a partner.
pub(super) fn unbalanced(text: &str, tokens: &[Token], reading: StatementEnd) -> Option<Unbalanced> {
    let mut open: Vec<Token> = Vec::new();
    // The first token of the statement, and how far it is indented.
    let mut statement = (0, 0);
    let mut header = None;
    let mut last: Option<Token> = None;
    let tokens: Vec<Token> = tokens.iter().copied().filter(|it| is_visible(*it)).collect();
    for (at, &token) in tokens.iter().enumerate() {
        let indent = indent_of_first(text, token);
        if let (Some(indent), Some(before)) = (indent, last) {
            let is_behind_header = before.is(text, ":") && header.is_some();
            let is_next = reading == StatementEnd::Lines
                && !open.is_empty()
                && (is_behind_header || starts_statement(text, &tokens[at..], indent <= statement.1));
            if is_next {
                let end = if is_behind_header { before.start } else { before.end };
                return Some(Unbalanced::Open { open, statement: statement.0, end });
            }
        }
        if let Some(indent) = indent.filter(|_| open.is_empty()) {
            statement = (token.start, indent);
            header = HEADERS.into_iter().find(|it| token.is_word(text, it));
        }
        match token.kind {
            TokenKind::Open => open.push(token),
            TokenKind::Close => match open.last().copied() {
                None => return Some(Unbalanced::Alone { close: token, statement: statement.0 }),
                Some(top) if closer(text, top) == token.text(text) => drop(open.pop()),
                Some(top) => {
                    // The partner of the closing bracket stands further out, so the brackets inside are open.
                    let partner = open.iter().rposition(|it| closer(text, *it) == token.text(text));
                    return Some(match partner {
                        Some(partner) => Unbalanced::Open {
                            open: open.split_off(partner + 1),
                            statement: statement.0,
                            end: token.start,
                        },
                        None => Unbalanced::Crossed { open: top, close: token, statement: statement.0 },
                    });
                }
            },
            _ => {}
        }
        last = Some(token);
    }
    let end = last.filter(|_| !open.is_empty())?;
    let end = if end.is(text, ":") && header.is_some() { end.start } else { end.end };
    Some(Unbalanced::Open { open, statement: statement.0, end })
}

fn is_visible(token: Token) -> bool {
    // The end of the file is a token where a bracket is open there.
    !token.is_in_string
        && token.start < token.end
        && !matches!(
            token.kind,
            TokenKind::Comment
                | TokenKind::Newline
                | TokenKind::LineBreak
                | TokenKind::Indent
                | TokenKind::Dedent
        )
}

/// Whether the tokens of a line start a statement; `is_outer` where it is indented no further than the one before.
fn starts_statement(text: &str, tokens: &[Token], is_outer: bool) -> bool {
    let [first, rest @ ..] = tokens else { return false };
    let ends_with_colon = || {
        let mut line = tokens.iter().enumerate().skip(1);
        let next = line.find(|(_, it)| indent_of_first(text, **it).is_some()).map_or(tokens.len(), |it| it.0);
        tokens[next - 1].is(text, ":")
    };
    match first.kind {
        TokenKind::Keyword => {
            let word = first.text(text);
            STATEMENTS.contains(&word) || is_outer && HEADERS.contains(&word) && ends_with_colon()
        }
        TokenKind::Sign => is_outer && first.is(text, "@"),
        TokenKind::Name => {
            let assigns = |it: &Token| {
                it.kind == TokenKind::Sign
                    && it.text(text).ends_with('=')
                    && !["==", "!=", "<=", ">=", ":="].contains(&it.text(text))
            };
            is_outer && rest.first().is_some_and(assigns)
        }
        _ => false,
    }
}

/// How far the line of a token is indented, where it is the first of the line.
fn indent_of_first(text: &str, token: Token) -> Option<usize> {
    let before = text.get(..token.start as usize)?;
    let line = &before[before.rfind('\n').map_or(0, |it| it + 1)..];
    line.chars().all(char::is_whitespace).then(|| line.chars().count())
}

/// The closing bracket of an opening one.
pub(super) fn closer(text: &str, open: Token) -> &'static str {
    match open.text(text) {
        "(" => ")",
        "[" => "]",
        _ => "}",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frontend::tokens::tokens;

    fn found(text: &str) -> String {
        match unbalanced(text, &tokens(text), StatementEnd::Lines) {
            None => String::new(),
            Some(Unbalanced::Open { open, end, .. }) => {
                let open: Vec<String> =
                    open.iter().map(|it| format!("{}{}", it.text(text), it.start)).collect();
                format!("{} open at {end}", open.join(" "))
            }
            Some(Unbalanced::Crossed { open, close, .. }) => {
                format!("{}{} by {}{}", open.text(text), open.start, close.text(text), close.start)
            }
            Some(Unbalanced::Alone { close, .. }) => format!("{}{} alone", close.text(text), close.start),
        }
    }

    #[test]
    fn a_bracket_without_a_partner_is_found() {
        for (text, expected) in [
            ("a = (b[0])\n", ""),
            ("a = f(b,\n      c=1)\n", ""),
            ("a = (b\nb = c\n", "(4 open at 6"),
            ("a = f(b,\n  (c\nd: x = 1\nreturn d\n", "(5 (11 open at 22"),
            ("def f(a:\n  b = a\n", "(5 open at 7"),
            ("a = b)\n", ")5 alone"),
            ("a = (b]\n", "(4 by ]6"),
            ("a = (b[0)\n", "[6 open at 8"),
            ("a = '(' # (\n", ""),
            ("a = (", "(4 open at 5"),
        ] {
            assert_eq!(found(text), expected, "{text}");
        }
    }
}
