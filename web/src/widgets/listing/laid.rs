//! The text of a listing as it stands: its lines, their rows, and what of them can be seen.

use std::ops::Range;
use std::sync::Arc;

use super::paint::Painter;
use super::rows::{LineRows, breaks};

/// How many lines are lit outside of what can be seen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OffScreen {
    pub above: usize,
    pub below: usize,
}

/// How large things are, in pixels.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Sizes {
    pub width: f64,
    pub height: f64,
    pub row: f64,
    pub character: f64,
}

/// The text as it stands, and what of it is in the document.
#[derive(Debug, Default)]
pub struct TextLayout {
    pub text: Arc<str>,
    pub lines: Vec<Range<usize>>,
    pub rows: LineRows,
    /// Characters of a row; 0 where lines are not broken.
    pub columns: usize,
    /// Characters of the longest line.
    pub widest: usize,
    /// The painter's state before each line, as far as somebody asked.
    pub states: Vec<u8>,
    pub drawn: Vec<(usize, String)>,
    pub sizes: Sizes,
    pub top: f64,
    /// A line to bring into view once there is a view.
    pub awaited: Option<u32>,
}

impl TextLayout {
    pub fn line(&self, at: usize) -> &str {
        self.lines.get(at).and_then(|it| self.text.get(it.clone())).unwrap_or_default()
    }

    pub fn is_hidden(&self) -> bool {
        self.sizes.height <= 0.0 || self.sizes.row <= 0.0
    }

    /// Takes a text.
    pub fn take(&mut self, text: Arc<str>) {
        if *self.text != *text {
            self.text = text;
            self.lines.clear();
            self.states.clear();
            let begin = self.text.as_ptr() as usize;
            self.lines.extend(self.text.lines().map(|it| {
                let start = it.as_ptr() as usize - begin;
                start..start + it.len()
            }));
            self.widest = self.lines.iter().map(ExactSizeIterator::len).max().unwrap_or(0);
        }
    }

    /// Finds where its lines stand; `folded` ones at the start take no rows, and a row has `columns` characters.
    pub fn lay(&mut self, folded: usize, columns: usize) {
        self.columns = columns;
        let height = |at: usize| match columns {
            _ if at < folded => 0,
            0 => 1,
            columns => u32::try_from(breaks(self.line(at), columns).len()).unwrap_or(0) + 1,
        };
        self.rows = LineRows::new((0..self.lines.len()).map(height));
    }

    /// The painter's state before a line.
    pub fn state(&mut self, painter: Painter, line: usize) -> u8 {
        let Some(after) = painter.after else { return 0 };
        if self.states.is_empty() {
            self.states.push(0);
        }
        while self.states.len() <= line {
            let at = self.states.len() - 1;
            let state = after(self.line(at), self.states[at]);
            self.states.push(state);
        }
        self.states[line]
    }

    /// The rows that can be seen.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a float of the browser's, clamped"
    )]
    pub fn seen(&self) -> Range<u32> {
        let first = (self.top / self.sizes.row).floor().max(0.0);
        let end = ((self.top + self.sizes.height) / self.sizes.row).ceil().max(first);
        first as u32..end as u32
    }

    pub fn off_screen(&self, lit: &[u32]) -> OffScreen {
        let mut found = OffScreen::default();
        if self.is_hidden() {
            // Nothing of a hidden listing is on screen, and none of it is missed.
            return found;
        }
        let (top, bottom) = (self.top, self.top + self.sizes.height);
        for &line in lit {
            let line = line as usize;
            let start = f64::from(self.rows.start(line)) * self.sizes.row;
            let end = f64::from(self.rows.start(line + 1)) * self.sizes.row;
            if end <= top {
                found.above += 1;
            } else if start >= bottom {
                found.below += 1;
            }
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn laid(text: &str, folded: usize, columns: usize) -> TextLayout {
        let mut laid = TextLayout {
            sizes: Sizes { width: 400.0, height: 40.0, row: 20.0, character: 8.0 },
            ..TextLayout::default()
        };
        laid.take(text.into());
        laid.lay(folded, columns);
        laid
    }

    #[test]
    fn what_is_lit_out_of_view_is_counted_by_its_side() {
        let mut laid = laid("a\nb\nc\nd\ne\n", 0, 0);
        laid.top = 20.0;
        assert_eq!(laid.seen(), 1..3);
        assert_eq!(laid.off_screen(&[0, 1, 2, 3, 4]), OffScreen { above: 1, below: 2 });
        laid.sizes.height = 0.0;
        assert_eq!(laid.off_screen(&[0, 4]), OffScreen::default(), "nothing of a hidden listing is missed");
    }

    #[test]
    fn folded_lines_take_no_rows_and_broken_ones_several() {
        let laid = laid(&format!("one\ntwo\n{}\nthree", "x".repeat(40)), 2, 20);
        assert_eq!(laid.rows.n_rows(), 4);
        assert_eq!(laid.line(2).len(), 40);
    }

    #[test]
    fn the_state_of_a_painter_goes_from_line_to_line() {
        let painter = Painter {
            tokens: |_, _| Vec::new(),
            after: Some(|line, state| {
                if line == "open" {
                    1
                } else if line == "close" {
                    0
                } else {
                    state
                }
            }),
        };
        let mut laid = laid("a\nopen\nb\nclose\nc", 0, 0);
        assert_eq!([4, 2, 1].map(|it| laid.state(painter, it)), [0, 1, 0]);
    }
}
