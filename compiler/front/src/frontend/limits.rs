//! Refuses texts that are too long or nested too deeply, and names that are too long, before the parser sees them.
//!
//! The parser and every step after it recurse, and a stack in the browser does not grow. A text of twenty
//! thousand opening parentheses must end in an answer, not in a crash.

use crate::diag::{FileId, Span};

/// The longest file, in bytes.
pub const MAX_SOURCE_BYTES: usize = 1 << 20;
/// The most files of one project.
pub const MAX_FILES: usize = 1024;
/// The deepest nesting of blocks, brackets and operators together.
pub const MAX_NESTING: usize = 256;
/// The longest name, in bytes.
pub const MAX_NAME_BYTES: usize = 256;

/// The place where `text` is first nested more deeply than [`MAX_NESTING`].
///
/// The depth is an upper estimate, made without a parser. Each open block, `elif` of a chain, open bracket
/// and operator since the last comma counts one.
#[must_use]
pub fn too_deep(file: FileId, text: &str) -> Option<Span> {
    Scanner::of(text).run(file)
}

/// The first name of `text` that is longer than [`MAX_NAME_BYTES`], outside of strings and comments.
///
/// Every level, diagnostic and generated text repeats names, so a text of one long name grows a hundredfold.
#[must_use]
pub fn long_name(file: FileId, text: &str) -> Option<Span> {
    let mut scanner = Scanner::of(text);
    scanner.run(file);
    let [start, end] = scanner.long_name?;
    Some(Span::new(file, u32::try_from(start).ok()?, u32::try_from(end).ok()?))
}

/// An open block of statements.
#[derive(Clone, Copy, Debug, Default)]
struct Block {
    indent: usize,
    /// `elif`s since the last other statement; each nests in the one before.
    elifs: usize,
}

#[derive(Debug)]
struct Scanner<'t> {
    bytes: &'t [u8],
    at: usize,
    /// For the statement and each open bracket: operators since the last comma.
    open: Vec<usize>,
    blocks: Vec<Block>,
    /// `lambda`s of the statement; a comma does not end one.
    lambdas: usize,
    /// Whether something counted since the depth was last compared.
    is_deeper: bool,
    /// Where the first name that is too long starts and ends.
    long_name: Option<[usize; 2]>,
}

/// Words that make an expression deeper.
const OPERATOR_WORDS: [&[u8]; 11] =
    [b"not", b"and", b"or", b"if", b"else", b"await", b"yield", b"in", b"is", b"for", b"async"];

impl<'t> Scanner<'t> {
    fn of(text: &'t str) -> Self {
        let (open, blocks) = (vec![0], vec![Block::default()]);
        Self { bytes: text.as_bytes(), at: 0, open, blocks, lambdas: 0, is_deeper: false, long_name: None }
    }

    fn run(&mut self, file: FileId) -> Option<Span> {
        self.start_of_line();
        while let Some(&byte) = self.bytes.get(self.at) {
            let start = self.at;
            self.at += 1;
            match byte {
                b'#' => self.skip_comment(),
                b'\\' => self.skip_escaped(),
                b'\n' if self.open.len() == 1 => {
                    self.open[0] = 0;
                    self.lambdas = 0;
                    self.start_of_line();
                }
                b';' if self.open.len() == 1 => self.open[0] = 0,
                b'"' | b'\'' => self.skip_string(byte, false),
                b'(' | b'[' | b'{' => {
                    // A call of a call of a call nests to the left.
                    self.count(1);
                    self.open.push(0);
                }
                b')' | b']' | b'}' => {
                    if self.open.len() > 1 {
                        self.open.pop();
                    }
                }
                b',' => self.reset(),
                b'+' | b'-' | b'*' | b'/' | b'%' | b'@' | b'&' | b'|' | b'^' | b'~' | b'<' | b'>' | b'.'
                | b':' => {
                    self.count(1);
                }
                it if it.is_ascii_alphabetic() || it == b'_' || it >= 0x80 => self.word(start),
                it if it.is_ascii_digit() => self.number(),
                _ => continue,
            }
            if !std::mem::take(&mut self.is_deeper) {
                continue;
            }
            let blocks: usize = self.blocks.iter().map(|it| 1 + it.elifs).sum();
            let brackets: usize = self.open.iter().map(|it| 1 + it).sum();
            if blocks + brackets + self.lambdas > MAX_NESTING + 2 {
                let (start, end) = (u32::try_from(start).ok()?, u32::try_from(start + 1).ok()?);
                return Some(Span::new(file, start, end));
            }
        }
        None
    }

    fn count(&mut self, n: usize) {
        if let Some(last) = self.open.last_mut() {
            *last += n;
            self.is_deeper = true;
        }
    }

    fn reset(&mut self) {
        if let Some(last) = self.open.last_mut() {
            *last = 0;
        }
    }

    fn skip_comment(&mut self) {
        while self.bytes.get(self.at).is_some_and(|&it| it != b'\n') {
            self.at += 1;
        }
    }

    /// Behind a backslash: a line break there does not end the statement.
    fn skip_escaped(&mut self) {
        if self.bytes.get(self.at) == Some(&b'\r') {
            self.at += 1;
        }
        self.at += 1;
    }

    fn number(&mut self) {
        while self
            .bytes
            .get(self.at)
            .is_some_and(|it| it.is_ascii_alphanumeric() || matches!(it, b'.' | b'_'))
        {
            self.at += 1;
        }
    }

    fn word(&mut self, start: usize) {
        while self
            .bytes
            .get(self.at)
            .is_some_and(|&it| it.is_ascii_alphanumeric() || it == b'_' || it >= 0x80)
        {
            self.at += 1;
        }
        let word = &self.bytes[start..self.at];
        if word.len() > MAX_NAME_BYTES && self.long_name.is_none() {
            self.long_name = Some([start, self.at]);
        }
        match self.bytes.get(self.at) {
            Some(&quote @ (b'"' | b'\'')) if word.len() <= 2 => {
                self.at += 1;
                let is_formatted = word.iter().any(|it| b"fFtT".contains(it));
                self.skip_string(quote, is_formatted);
            }
            _ if word == b"lambda" => {
                self.lambdas += 1;
                self.is_deeper = true;
            }
            _ if OPERATOR_WORDS.contains(&word) => self.count(1),
            _ => {}
        }
    }

    /// Behind the first quote of a string. Inside `f"..{}.."` everything that could nest counts.
    fn skip_string(&mut self, quote: u8, is_formatted: bool) {
        let is_triple = self.bytes[self.at..].starts_with(&[quote, quote]);
        if is_triple {
            self.at += 2;
        }
        if is_formatted {
            self.count(1);
        }
        let mut is_expression = false;
        while let Some(&byte) = self.bytes.get(self.at) {
            self.at += 1;
            match byte {
                b'\\' => self.at += 1,
                b'\n' if !is_triple => {
                    self.at -= 1;
                    return;
                }
                it if it == quote => {
                    if !is_triple {
                        return;
                    }
                    if self.bytes[self.at.min(self.bytes.len())..].starts_with(&[quote, quote]) {
                        self.at += 2;
                        return;
                    }
                }
                b'{' if is_formatted => {
                    is_expression = true;
                    self.count(1);
                }
                b'+' | b'-' | b'*' | b'~' | b'(' | b'[' | b'.' if is_expression => self.count(1),
                _ => {}
            }
        }
    }

    /// At the first byte of a line: closes and opens blocks as its indent says.
    fn start_of_line(&mut self) {
        self.is_deeper = true;
        let mut indent = 0;
        let mut at = self.at;
        while let Some(&byte) = self.bytes.get(at) {
            match byte {
                b' ' => indent += 1,
                b'\t' => indent += 8,
                b'\x0c' => indent = 0,
                _ => break,
            }
            at += 1;
        }
        self.at = at;
        if matches!(self.bytes.get(at), None | Some(b'\n' | b'\r' | b'#')) {
            return;
        }
        while self.blocks.len() > 1 && self.blocks.last().is_some_and(|it| it.indent > indent) {
            self.blocks.pop();
        }
        if self.blocks.last().is_none_or(|it| it.indent < indent) {
            self.blocks.push(Block { indent, elifs: 0 });
        }
        let rest = &self.bytes[at..];
        if let Some(block) = self.blocks.last_mut() {
            if rest.starts_with(b"elif") {
                block.elifs += 1;
            } else if !rest.starts_with(b"else") {
                block.elifs = 0;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_refused(text: &str) -> bool {
        too_deep(FileId(0), text).is_some()
    }

    #[test]
    fn everything_that_nests_is_counted() {
        for deep in ["(", "[", "-", "not ", "a if b else ", "a.", "f()", "lambda: ", "a**", "f\"{"] {
            assert!(is_refused(&format!("x = {}", deep.repeat(300))), "{deep}");
            assert!(!is_refused(&format!("x = {}", deep.repeat(40))), "{deep}");
        }
        let elifs = format!("if a:\n  b\n{}", "elif a:\n  b\n".repeat(300));
        assert!(is_refused(&elifs));
        let blocks: String = (0..300).map(|it| format!("{}if a:\n", " ".repeat(it))).collect();
        assert!(is_refused(&blocks));
    }

    #[test]
    fn a_long_name_is_found_and_a_long_string_or_comment_is_none() {
        let long = "é".repeat(MAX_NAME_BYTES / 2 + 1);
        let found = |text: &str| long_name(FileId(0), text).map(|it| (it.start, it.end));
        let end = u32::try_from(4 + long.len()).expect("it is short");
        assert_eq!(found(&format!("x = {long} + 1")), Some((4, end)));
        assert_eq!(found(&"x".repeat(MAX_NAME_BYTES)), None);
        for text in [format!("# {long}"), format!("x = '{long}'"), format!("\"\"\"{long}\"\"\"")] {
            assert_eq!(found(&text), None, "{text}");
        }
    }

    #[test]
    fn length_alone_is_not_depth() {
        assert!(!is_refused(&format!("x = [{}]", "-a.b[0] + 1,\n".repeat(5000))));
        assert!(!is_refused(&"a = b + c # ((((\n".repeat(5000)));
        assert!(!is_refused(&format!("\"\"\"{}\"\"\"", "(((- ".repeat(1000))));
        assert!(!is_refused(&"x = 'it''s (((((('\n".repeat(1000)));
    }
}
