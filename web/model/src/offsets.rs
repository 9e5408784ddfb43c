//! Lines and columns, as the compiler counts them, and offsets, as the editor counts them.

use isobar_protocol::diagnostic::Position;

/// Converts between positions (line and column from 1, in characters) and offsets (from 0, in UTF-16 units).
#[derive(Clone, Debug)]
pub struct Offsets<'a> {
    text: &'a str,
    /// Of each line: its first byte and its first UTF-16 unit.
    lines: Vec<(usize, usize)>,
}

impl<'a> Offsets<'a> {
    #[must_use]
    pub fn new(text: &'a str) -> Self {
        let mut lines = vec![(0, 0)];
        let (mut bytes, mut units) = (0, 0);
        for line in text.split_inclusive('\n') {
            bytes += line.len();
            units += line.encode_utf16().count();
            if line.ends_with('\n') {
                lines.push((bytes, units));
            }
        }
        Self { text, lines }
    }

    /// The offset of a position; past the end of a line it is the line's end, past the last line the text's.
    #[must_use]
    pub fn offset(&self, at: Position) -> usize {
        let line = (at.line as usize).saturating_sub(1);
        let Some(&(byte, unit)) = self.lines.get(line) else {
            return self.text.encode_utf16().count();
        };
        let before = (at.col as usize).saturating_sub(1);
        let rest = &self.text[byte..];
        unit + rest.chars().take_while(|it| *it != '\n').take(before).map(char::len_utf16).sum::<usize>()
    }

    /// The position of an offset.
    #[must_use]
    pub fn position(&self, offset: usize) -> Position {
        let line = self.lines.partition_point(|&(_, unit)| unit <= offset).max(1);
        let (byte, unit) = self.lines[line - 1];
        let mut left = offset - unit.min(offset);
        let mut col = 1;
        for char in self.text[byte..].chars().take_while(|it| *it != '\n') {
            if left < char.len_utf16() {
                break;
            }
            left -= char.len_utf16();
            col += 1;
        }
        Position { line: u32::try_from(line).unwrap_or(u32::MAX), col }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "ab\n\u{1f300}c é\n";

    fn at(line: u32, col: u32) -> Position {
        Position { line, col }
    }

    #[test]
    fn characters_beyond_the_first_plane_count_twice() {
        let offsets = Offsets::new(TEXT);
        assert_eq!(offsets.offset(at(2, 1)), 3);
        assert_eq!(offsets.offset(at(2, 2)), 5);
        assert_eq!(offsets.position(5), at(2, 2));
        assert_eq!(offsets.position(6), at(2, 3));
    }

    #[test]
    fn positions_outside_move_to_the_nearest_end() {
        let offsets = Offsets::new(TEXT);
        assert_eq!(offsets.offset(at(1, 99)), 2);
        assert_eq!(offsets.offset(at(99, 1)), 9);
        assert_eq!(offsets.position(99), at(3, 1));
        assert_eq!(Offsets::new("").position(7), at(1, 1));
    }
}
