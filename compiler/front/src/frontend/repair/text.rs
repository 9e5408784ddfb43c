//! A text that was changed for the parser, with the places of the text as it was written.

use std::ops::Range;

/// New text for a range of bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct TextChange {
    pub(super) range: Range<u32>,
    pub(super) text: String,
}

/// A copy of a text with changes.
#[derive(Clone, Debug)]
pub(in crate::frontend) struct TextCopy<'t> {
    pub(super) written: &'t str,
    pub(in crate::frontend) text: String,
    /// In order of their places in the written text, none over another.
    changes: Vec<TextChange>,
    /// For each change, where its text stands in the copy.
    in_copy: Vec<Range<u32>>,
}

impl<'t> TextCopy<'t> {
    pub(super) fn of(written: &'t str) -> Self {
        Self { written, text: written.to_owned(), changes: Vec::new(), in_copy: Vec::new() }
    }

    /// The same with further changes, whose places are those of this copy; `None` where one changes what was changed.
    pub(super) fn with(&self, further: &[TextChange]) -> Option<Self> {
        let mut changes = self.changes.clone();
        for it in further {
            let range = self.start(it.range.start)..self.end(it.range.end);
            let range = if it.range.is_empty() { range.start..range.start } else { range };
            if range.start > range.end {
                return None;
            }
            changes.push(TextChange { range, text: it.text.clone() });
        }
        changes.sort_by_key(|it| (it.range.start, it.range.end));
        let is_apart = |it: &[TextChange]| it[0].range.end <= it[1].range.start && it[0].range != it[1].range;
        if !changes.windows(2).all(is_apart) {
            return None;
        }
        let (mut text, mut in_copy, mut done) = (String::new(), Vec::new(), 0);
        for it in &changes {
            text += self.written.get(done as usize..it.range.start as usize)?;
            let start = u32::try_from(text.len()).ok()?;
            text += &it.text;
            in_copy.push(start..u32::try_from(text.len()).ok()?);
            done = it.range.end;
        }
        text += self.written.get(done as usize..)?;
        Some(Self { written: self.written, text, changes, in_copy })
    }

    /// Where that which starts at a byte of the copy starts in the written text.
    pub(in crate::frontend) fn start(&self, at: u32) -> u32 {
        let before = self.in_copy.partition_point(|it| it.start <= at);
        let Some(last) = before.checked_sub(1) else { return at };
        let (copied, written) = (&self.in_copy[last], &self.changes[last].range);
        if at < copied.end { written.start } else { written.end + (at - copied.end) }
    }

    /// Where that which ends at a byte of the copy ends in the written text.
    pub(in crate::frontend) fn end(&self, at: u32) -> u32 {
        let before = self.in_copy.partition_point(|it| it.start < at);
        let Some(last) = before.checked_sub(1) else { return at };
        let (copied, written) = (&self.in_copy[last], &self.changes[last].range);
        if at < copied.end { written.end } else { written.end + (at - copied.end) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn change(range: Range<u32>, text: &str) -> TextChange {
        TextChange { range, text: text.to_owned() }
    }

    #[test]
    fn places_are_those_of_the_written_text() {
        let copy = TextCopy::of("if a = bc: d").with(&[change(5..6, "==")]).unwrap();
        assert_eq!(copy.text, "if a == bc: d");
        let copy = copy.with(&[change(3..4, ""), change(13..13, "!")]).unwrap();
        assert_eq!(copy.text, "if  == bc: d!");
        // `==`, `bc`, `d`, `!`.
        let places = [(4, 6), (7, 9), (11, 12), (12, 13)];
        let written = places.map(|(start, end)| (copy.start(start), copy.end(end)));
        assert_eq!(written, [(5, 6), (7, 9), (11, 12), (12, 12)]);
        assert!(copy.with(&[change(4..6, "is")]).is_none(), "that was changed already");
    }
}
