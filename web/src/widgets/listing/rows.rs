//! Where the lines of a listing stand: how many rows each takes, so that a window of them can be drawn in its place.

use std::ops::Range;

/// Least characters of a row that a long line is broken into.
const NARROWEST: usize = 16;
/// The indent of the further rows of a line, in characters, beside the line's own indent.
const HANG: usize = 2;

/// Where each line of a text stands, in rows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LineRows {
    /// The first row of each line, and behind them the number of all rows.
    starts: Vec<u32>,
}

impl LineRows {
    /// From the rows that each line takes; a line that is folded away takes none.
    pub fn new(heights: impl Iterator<Item = u32>) -> Self {
        let mut starts = vec![0];
        let mut sum = 0_u32;
        for height in heights {
            sum = sum.saturating_add(height);
            starts.push(sum);
        }
        Self { starts }
    }

    pub fn n_lines(&self) -> usize {
        self.starts.len().saturating_sub(1)
    }

    pub fn n_rows(&self) -> u32 {
        self.starts.last().copied().unwrap_or(0)
    }

    /// The first row of a line; past the last line, the end.
    pub fn start(&self, line: usize) -> u32 {
        self.starts.get(line).copied().unwrap_or_else(|| self.n_rows())
    }

    pub fn height(&self, line: usize) -> u32 {
        self.start(line + 1) - self.start(line)
    }

    /// The lines that have any of these rows.
    pub fn lines(&self, rows: Range<u32>) -> Range<usize> {
        if self.n_rows() == 0 || rows.is_empty() {
            return 0..0;
        }
        let first = rows.start.min(self.n_rows() - 1);
        let start = self.starts.partition_point(|it| *it <= first) - 1;
        let end = self.starts[..self.n_lines()].partition_point(|it| *it < rows.end);
        start..end.max(start)
    }
}

/// The characters that the further rows of a line are indented by.
pub fn hang(line: &str, columns: usize) -> usize {
    let indent = line.len() - line.trim_start().len();
    (indent + HANG).min(columns / 2)
}

/// The bytes at which further rows of a line begin, where a row has room for `columns` characters.
pub fn breaks(line: &str, columns: usize) -> Vec<usize> {
    let columns = columns.max(NARROWEST);
    if line.len() <= columns {
        return Vec::new();
    }
    let hang = hang(line, columns);
    let mut found = Vec::new();
    let mut start = 0;
    let mut room = columns;
    loop {
        let rest = &line[start..];
        let Some((end, _)) = rest.char_indices().nth(room) else { return found };
        // Behind a space where one stands in the later half, else behind a sign that parts names.
        let behind = |signs: &[char]| rest[..end].rfind(signs).map_or(0, |it| it + 1);
        let (space, sign) = (behind(&[' ']), behind(&[',', '(', '[', ')', ']', '.']));
        let length = [space, sign].into_iter().find(|it| *it > end / 2).unwrap_or(end);
        start += length;
        found.push(start);
        room = columns - hang;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_window_of_rows_has_the_lines_that_stand_in_it() {
        let rows = LineRows::new([1, 0, 0, 3, 1].into_iter());
        assert_eq!((rows.n_lines(), rows.n_rows()), (5, 5));
        assert_eq!(rows.lines(0..1), 0..1);
        assert_eq!(rows.lines(1..2), 3..4, "what is folded away is in no window");
        assert_eq!(rows.lines(2..5), 3..5);
        assert_eq!(rows.lines(9..12), 4..5);
        assert_eq!((rows.start(3), rows.height(3), rows.height(1)), (1, 3, 0));
        assert_eq!(LineRows::new(std::iter::empty()).lines(0..9), 0..0);
    }

    #[test]
    fn a_long_line_is_broken_between_words_and_loses_nothing() {
        let line = "    result = left + right * (first - second) + third";
        let at = breaks(line, 24);
        let ends = at.iter().copied().chain([line.len()]);
        let mut start = 0;
        let rows: Vec<&str> = ends.map(|end| &line[std::mem::replace(&mut start, end)..end]).collect();
        assert_eq!(rows, ["    result = left + ", "right * (first - ", "second) + third"]);
    }

    #[test]
    fn a_word_that_is_longer_than_a_row_is_cut() {
        assert_eq!(breaks(&"é".repeat(20), 16), [32]);
        assert_eq!(breaks("short", 80), Vec::<usize>::new());
        assert!(breaks(&"x".repeat(4000), 0).len() > 200, "a pane without width ends as well");
    }
}
