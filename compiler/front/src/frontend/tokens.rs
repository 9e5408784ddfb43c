//! Text to tokens, for what an editor shows while a text does not parse.
//!
//! The tree has no comments, no brackets and nothing of a broken line; the tokens have all of it. Beside
//! [`parse`](super::parse) this is the only file that knows the parser library.

use ruff_python_ast::token::{TokenKind as Py, Tokens};
use ruff_python_parser::{Mode, ParseOptions, parse_unchecked};
use ruff_text_size::Ranged;

use super::limits::{self, MAX_SOURCE_BYTES};
use crate::diag::FileId;

/// A piece of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Token {
    pub kind: TokenKind,
    /// Bytes of the text.
    pub start: u32,
    pub end: u32,
    /// Whether it stands in a formatted string, whose spaces are part of its value.
    pub is_in_string: bool,
}

/// The kind of a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TokenKind {
    Name,
    Number,
    String,
    Comment,
    /// A word that is no name.
    Keyword,
    /// `True`, `False`, `None`.
    Value,
    /// Every sign that opens or closes nothing: operators, commas, colons, dots.
    Sign,
    Open,
    Close,
    /// The end of a statement.
    Newline,
    /// The end of a line inside of a statement, or of one without a statement.
    LineBreak,
    Indent,
    Dedent,
    /// Text that is no token of Python.
    Unknown,
}

impl Token {
    /// Its letters.
    #[must_use]
    pub fn text(self, source: &str) -> &str {
        source.get(self.start as usize..self.end as usize).unwrap_or("")
    }

    /// Whether it is a sign or bracket of these letters.
    #[must_use]
    pub fn is(self, source: &str, sign: &str) -> bool {
        matches!(self.kind, TokenKind::Sign | TokenKind::Open | TokenKind::Close) && self.text(source) == sign
    }

    /// Whether it is this keyword.
    #[must_use]
    pub fn is_word(self, source: &str, word: &str) -> bool {
        self.kind == TokenKind::Keyword && self.text(source) == word
    }
}

/// The tokens of a text in its order; none of a text that the parser is not given.
#[must_use]
pub fn tokens(text: &str) -> Vec<Token> {
    if text.len() > MAX_SOURCE_BYTES || limits::too_deep(FileId(0), text).is_some() {
        return Vec::new();
    }
    listed(text, parse_unchecked(text, ParseOptions::from(Mode::Module)).tokens())
}

/// The parser's tokens of a text as ours.
pub(super) fn listed(text: &str, tokens: &Tokens) -> Vec<Token> {
    let mut strings = 0_u32;
    let mut found: Vec<Token> = Vec::new();
    for token in tokens.iter() {
        let kind = kind(token.kind());
        let starts = matches!(token.kind(), Py::FStringStart | Py::TStringStart);
        let ends = matches!(token.kind(), Py::FStringEnd | Py::TStringEnd);
        let is_in_string = strings > 0;
        strings = (strings + u32::from(starts)).saturating_sub(u32::from(ends));
        let (start, end) = (token.range().start().to_u32(), token.range().end().to_u32());
        // The parser reads some places twice; what is kept stands in order.
        let is_behind = found.last().is_none_or(|it| it.end <= start);
        if token.kind() != Py::EndOfFile && is_behind && text.get(start as usize..end as usize).is_some() {
            found.push(Token { kind, start, end, is_in_string });
        }
    }
    found
}

fn kind(kind: Py) -> TokenKind {
    match kind {
        Py::Name => TokenKind::Name,
        Py::Int | Py::Float | Py::Complex => TokenKind::Number,
        Py::String
        | Py::FStringStart
        | Py::FStringMiddle
        | Py::FStringEnd
        | Py::TStringStart
        | Py::TStringMiddle
        | Py::TStringEnd => TokenKind::String,
        Py::Comment => TokenKind::Comment,
        Py::Newline => TokenKind::Newline,
        Py::NonLogicalNewline => TokenKind::LineBreak,
        Py::Indent => TokenKind::Indent,
        Py::Dedent => TokenKind::Dedent,
        Py::Lpar | Py::Lsqb | Py::Lbrace => TokenKind::Open,
        Py::Rpar | Py::Rsqb | Py::Rbrace => TokenKind::Close,
        Py::Unknown | Py::IpyEscapeCommand | Py::Question | Py::Exclamation | Py::EndOfFile => {
            TokenKind::Unknown
        }
        Py::True | Py::False | Py::None => TokenKind::Value,
        it if it.is_keyword() => TokenKind::Keyword,
        _ => TokenKind::Sign,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str) -> String {
        let found = tokens(text).into_iter().map(|it| format!("{:?}:{}", it.kind, it.text(text).trim()));
        found.collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn comments_and_line_breaks_are_tokens() {
        assert_eq!(
            shown("f(a,\n  1) # why\n"),
            "Name:f Open:( Name:a Sign:, LineBreak: Number:1 Close:) Comment:# why Newline:"
        );
    }

    #[test]
    fn a_broken_line_leaves_the_lines_below_it_alone() {
        let text = "a = b(1,\nwith computation(PARALLEL):\n    c = 1\n";
        assert!(shown(text).ends_with("Indent: Name:c Sign:= Number:1 Newline: Dedent:"), "{}", shown(text));
    }

    #[test]
    fn tokens_stand_in_order_and_within_the_text() {
        for text in
            ["f'{a!r:>{w}} é' + \"\"\"", "é = 'ü\n\t\\\n", "((((", "if a:\n\tb\n  c\n", "\u{feff}a = 1"]
        {
            let found = tokens(text);
            assert!(found.windows(2).all(|it| it[0].end <= it[1].start), "{text}");
            assert!(found.iter().all(|it| it.end as usize <= text.len()), "{text}");
        }
    }
}
