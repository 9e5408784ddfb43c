//! A listing read back: lines, nested by their indent.

use super::{FileId, Span};

/// A line of a text, with the lines that are indented below it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutlineLine<'a> {
    /// Without indent and trailing space.
    pub text: &'a str,
    pub span: Span,
    pub children: Vec<OutlineLine<'a>>,
}

/// A fault of a listing, with its line (from 1).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListingFault {
    pub line: u32,
    pub message: String,
}

impl std::fmt::Display for ListingFault {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "line {}: {}", self.line, self.message)
    }
}

impl std::error::Error for ListingFault {}

/// The value that was read, or the place and the message of a fault.
pub type LineResult<T> = Result<T, (Span, String)>;

impl ListingFault {
    /// A fault at a place of `text`.
    #[must_use]
    pub fn at(text: &str, (span, message): (Span, String)) -> Self {
        Self { line: super::LineIndex::new(text).line(span.start), message }
    }
}

/// Nests the lines of `text`; empty ones are left out.
#[must_use]
pub fn outline(text: &str) -> Vec<OutlineLine<'_>> {
    let mut open: Vec<(usize, OutlineLine<'_>)> = Vec::new();
    let mut top = Vec::new();
    let mut start = 0;
    for raw in text.split_inclusive('\n') {
        let indent = raw.len() - raw.trim_start().len();
        let content = raw.trim();
        let at = |offset: usize| u32::try_from(offset).unwrap_or(u32::MAX);
        let span = Span::new(FileId(0), at(start + indent), at(start + indent + content.len()));
        start += raw.len();
        if content.is_empty() {
            continue;
        }
        close(&mut open, &mut top, indent);
        open.push((indent, OutlineLine { text: content, span, children: Vec::new() }));
    }
    close(&mut open, &mut top, 0);
    top
}

/// Moves the lines that are indented at least as far as `indent` into the lines around them.
fn close<'a>(open: &mut Vec<(usize, OutlineLine<'a>)>, top: &mut Vec<OutlineLine<'a>>, indent: usize) {
    while open.last().is_some_and(|(it, _)| *it >= indent) {
        let Some((_, line)) = open.pop() else { return };
        match open.last_mut() {
            Some((_, parent)) => parent.children.push(line),
            None => top.push(line),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_nest_by_indent() {
        let lines = outline("a\n  b\n    c\n\n  d\ne");
        let names = |lines: &[OutlineLine<'_>]| lines.iter().map(|it| it.text.to_owned()).collect::<Vec<_>>();
        assert_eq!(names(&lines), ["a", "e"]);
        assert_eq!(names(&lines[0].children), ["b", "d"]);
        assert_eq!(names(&lines[0].children[0].children), ["c"]);
        assert_eq!(lines[1].span, Span::new(FileId(0), 17, 18));
    }
}
