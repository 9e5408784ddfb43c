//! Places in the source text.

use serde::{Deserialize, Serialize};

/// A file of the project: its position in the project's list of files, sorted by name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct FileId(pub u16);

/// A half-open range of bytes in one file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Span {
    pub file: FileId,
    pub start: u32,
    pub end: u32,
}

impl Span {
    #[must_use]
    pub fn new(file: FileId, start: u32, end: u32) -> Self {
        Self { file, start, end }
    }

    /// The smallest range of the same file that holds both; the first, where the files differ.
    #[must_use]
    pub fn to(self, other: Span) -> Self {
        if self.file != other.file {
            return self;
        }
        Self { file: self.file, start: self.start.min(other.start), end: self.end.max(other.end) }
    }
}

/// A position as people count: line and column from 1, the column in characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LineCol {
    pub line: u32,
    pub col: u32,
}

/// Finds lines and columns in one text.
#[derive(Clone, Debug)]
pub struct LineIndex {
    starts: Vec<u32>,
}

impl LineIndex {
    /// # Panics
    ///
    /// When the text is 4 GiB or longer, which the limits on source size exclude.
    #[must_use]
    pub fn new(text: &str) -> Self {
        let mut starts = vec![0];
        for (at, byte) in text.bytes().enumerate() {
            if byte == b'\n' {
                starts.push(u32::try_from(at + 1).expect("a source file is shorter than 4 GiB"));
            }
        }
        Self { starts }
    }

    /// The line, from 1, that holds byte `offset`.
    #[must_use]
    pub fn line(&self, offset: u32) -> u32 {
        u32::try_from(self.starts.partition_point(|&start| start <= offset)).unwrap_or(u32::MAX)
    }

    /// Line and column of byte `offset` of `text`, the text this index was made for.
    #[must_use]
    pub fn line_col(&self, text: &str, offset: u32) -> LineCol {
        let line = self.line(offset);
        let start = self.starts[line as usize - 1] as usize;
        let end = (offset as usize).min(text.len());
        let before = text.get(start..end).unwrap_or("");
        let col = u32::try_from(before.chars().count()).unwrap_or(u32::MAX).saturating_add(1);
        LineCol { line, col }
    }

    /// The byte of a position of `text`; past the end of a line it is the line's end, past the last line the text's.
    #[must_use]
    pub fn offset(&self, text: &str, at: LineCol) -> u32 {
        let end = u32::try_from(text.len()).unwrap_or(u32::MAX);
        let Some(&start) = self.starts.get((at.line as usize).saturating_sub(1)) else { return end };
        let line = text.get(start as usize..).and_then(|it| it.split('\n').next()).unwrap_or("");
        let before =
            line.chars().take((at.col as usize).saturating_sub(1)).map(char::len_utf8).sum::<usize>();
        start.saturating_add(u32::try_from(before).unwrap_or(0)).min(end)
    }
}
