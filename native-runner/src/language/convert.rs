//! Bytes of a text to lines and columns as an editor counts them, and back.

use lsp_types::{Position, Range};

/// The unit in which an editor counts columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Encoding {
    Utf8,
    Utf16,
}

impl Encoding {
    fn length(self, char: char) -> usize {
        match self {
            Encoding::Utf8 => char.len_utf8(),
            Encoding::Utf16 => char.len_utf16(),
        }
    }

    /// How much a text counts.
    #[must_use]
    pub fn count(self, text: &str) -> u32 {
        u32::try_from(text.chars().map(|it| self.length(it)).sum::<usize>()).unwrap_or(u32::MAX)
    }

    /// Line and column of a byte.
    #[must_use]
    pub fn position(self, text: &str, offset: u32) -> Position {
        let mut offset = (offset as usize).min(text.len());
        while !text.is_char_boundary(offset) {
            offset -= 1;
        }
        let before = &text[..offset];
        let line = u32::try_from(before.matches('\n').count()).unwrap_or(u32::MAX);
        let start = before.rfind('\n').map_or(0, |it| it + 1);
        Position { line, character: self.count(&before[start..]) }
    }

    /// The byte of a position; past the end of a line it is the line's end, past the last line the text's.
    #[must_use]
    pub fn offset(self, text: &str, at: Position) -> u32 {
        let mut start = 0;
        for _ in 0..at.line {
            match text[start..].find('\n') {
                Some(next) => start += next + 1,
                None => return u32::try_from(text.len()).unwrap_or(u32::MAX),
            }
        }
        let line = text[start..].split(['\n', '\r']).next().unwrap_or("");
        let mut left = at.character as usize;
        let mut end = start;
        for char in line.chars() {
            let length = self.length(char);
            if left < length {
                break;
            }
            left -= length;
            end += char.len_utf8();
        }
        u32::try_from(end).unwrap_or(u32::MAX)
    }

    #[must_use]
    pub fn range(self, text: &str, start: u32, end: u32) -> Range {
        Range { start: self.position(text, start), end: self.position(text, end) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_position_is_counted_as_the_editor_counts() {
        let text = "a\né𝒙b\r\nc";
        for (encoding, b) in [(Encoding::Utf8, 6), (Encoding::Utf16, 3)] {
            let at = u32::try_from(text.find('b').unwrap()).unwrap();
            assert_eq!(encoding.position(text, at), Position { line: 1, character: b });
            for at in [0, 1, 2, 4, at, at + 1] {
                assert_eq!(encoding.offset(text, encoding.position(text, at)), at);
            }
        }
    }

    #[test]
    fn a_position_outside_is_the_nearest_inside() {
        let far = |line, character| Encoding::Utf16.offset("ab\ncd", Position { line, character });
        assert_eq!((far(0, 9), far(9, 0), far(1, 9)), (2, 5, 5));
    }
}
