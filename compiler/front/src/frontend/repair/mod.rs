//! Slips that break the syntax. Each is reported once, at its place, and corrected in a copy that is parsed
//! instead.
//!
//! A parser that recovers from errors reports many faults behind one slip, and its reading of the lines
//! around is a guess. Here the slip itself is searched for: [`characters`] that only look like others,
//! [`brackets`] without a partner, [`signs`] of other languages. A slip counts if the corrected copy has
//! fewer faults.
//!
//! Before: `if a = 0.0:`, for which the parser reports "expected `:`, found `=`" and three more errors.
//! After: one diagnostic at the `=`, and the tree of `if a == 0.0:`, whose places are those of the text as
//! written.

mod brackets;
mod characters;
mod signs;
mod text;

use std::cell::Cell;
use std::collections::BTreeSet;
use std::ops::Range;

use self::brackets::{StatementEnd, Unbalanced};
use self::signs::SlipKind;
pub(super) use self::text::TextCopy;

use self::text::TextChange;
use super::tokens::{Token, TokenKind};
use crate::diag::catalog::syntax::{self as catalog, SyntaxFault};
use crate::diag::mend::mend;
use crate::diag::{Diagnostic, FileId, Fix, Span, TextEdit};

/// More slips of one file say nothing new, and each is read for.
const MOST_SLIPS: usize = 12;
/// More errors of one file say nothing new.
const MOST_FAULTS: usize = 100;
/// Of so many lines the signs are looked at.
const MOST_LINES: usize = 16;
/// So many characters are put right at once.
const MOST_CHARACTERS: usize = 4096;
/// A text is parsed at most this many times, and a long one less often. So all readings of any text together
/// take no longer than parsing a few long files.
const MOST_READINGS: usize = 64;
const MOST_BYTES_READ: usize = 8 << 20;

/// A text as the parser takes it.
#[derive(Clone, Debug, Default)]
pub(super) struct ParserReading {
    pub(super) tokens: Vec<Token>,
    /// Where its statements end.
    pub(super) ends: Vec<Range<u32>>,
    /// In order of their places.
    pub(super) faults: Vec<Fault>,
}

/// A fault that the parser reports.
#[derive(Clone, Debug)]
pub(super) struct Fault {
    pub(super) range: Range<u32>,
    pub(super) kind: SyntaxFault,
    pub(super) message: String,
}

/// A text with faults, and what became of it.
#[derive(Debug)]
pub(super) struct RepairedText<'t> {
    /// The text to read instead, with the places of the text as written.
    pub(super) copy: TextCopy<'t>,
    pub(super) told: Vec<Diagnostic>,
    /// Lines that could not be read: what else is said of them is guesswork.
    pub(super) broken: Vec<Span>,
    /// Lines with a slip, read as they were meant.
    pub(super) slipped: Vec<Span>,
}

/// Finds what is wrong with a text that has faults.
pub(super) fn repair<'t>(
    file: FileId,
    written: &'t str,
    read: &dyn Fn(&str) -> ParserReading,
) -> RepairedText<'t> {
    let copy = TextCopy::of(written);
    let reading = read(written);
    let repaired = RepairedText { copy, told: Vec::new(), broken: Vec::new(), slipped: Vec::new() };
    let left = (MOST_BYTES_READ / written.len().max(1)).min(MOST_READINGS);
    let mut work = Repair { file, read, left: Cell::new(left), reading, unclosed: None, repaired };
    work.characters();
    for _ in 0..MOST_SLIPS {
        if work.reading.faults.is_empty() || !(work.bracket() || work.sign()) {
            break;
        }
    }
    work.faults();
    work.fixes(written);
    work.repaired
}

struct Repair<'t, 'r> {
    file: FileId,
    read: &'r dyn Fn(&str) -> ParserReading,
    /// How often it may be called yet.
    left: Cell<usize>,
    /// Of the copy.
    reading: ParserReading,
    /// Where in the copy a bracket opens that could not be closed: what follows is read inside of it.
    unclosed: Option<u32>,
    repaired: RepairedText<'t>,
}

impl Repair<'_, '_> {
    /// The place in the written text of a range of the copy.
    fn span(&self, range: &Range<u32>) -> Span {
        let copy = &self.repaired.copy;
        let (start, end) = (copy.start(range.start), copy.end(range.end));
        Span::new(self.file, start, end.max(start))
    }

    /// An empty place, widened to the character behind it, so that it can be underlined.
    fn visible(&self, span: Span) -> Span {
        let next = self.repaired.copy.written.get(span.start as usize..).and_then(|it| it.chars().next());
        match next.filter(|it| span.start == span.end && !matches!(it, '\n' | '\r')) {
            Some(next) => Span { end: span.start + u32::try_from(next.len_utf8()).unwrap_or(1), ..span },
            None => span,
        }
    }

    fn edits(&self, changes: &[TextChange]) -> Vec<TextEdit> {
        let edit = |it: &TextChange| {
            let span = self.span(&it.range);
            let span = if it.range.is_empty() { Span { end: span.start, ..span } } else { span };
            TextEdit::replace(span, it.text.as_str())
        };
        changes.iter().map(edit).collect()
    }

    /// Takes a slip out of the copy, which is `mended` then.
    fn take(&mut self, told: Diagnostic, line: &Range<u32>, changes: &[TextChange], reading: ParserReading) {
        let Some(copy) = self.repaired.copy.with(changes) else { return };
        let line = self.span(line);
        self.repaired.slipped.push(line);
        self.repaired.told.push(told);
        self.repaired.copy = copy;
        self.reading = reading;
    }

    fn read_with(&self, changes: &[TextChange]) -> Option<ParserReading> {
        self.read(&self.repaired.copy.with(changes)?.text)
    }

    /// Parses a text; `None` after too many readings.
    fn read(&self, text: &str) -> Option<ParserReading> {
        self.left.set(self.left.get().checked_sub(1)?);
        Some((self.read)(text))
    }

    /// All characters that look like others, at once: they come in numbers, out of a document.
    fn characters(&mut self) {
        let mut groups = characters::groups(&self.repaired.copy.text, &self.reading.tokens);
        groups.iter_mut().for_each(|it| it.changes.truncate(MOST_CHARACTERS));
        let mut changes: Vec<TextChange> = groups.iter().flat_map(|it| it.changes.iter().cloned()).collect();
        changes.sort_by_key(|it| it.range.start);
        let Some(reading) = self.read_with(&changes).filter(|_| !changes.is_empty()) else { return };
        if reading.faults.len() >= self.reading.faults.len() {
            return;
        }
        for it in &groups {
            let spans: Vec<Span> = it.changes.iter().map(|it| self.span(&it.range)).collect();
            let edits = self.edits(&it.changes);
            self.repaired.told.push(catalog::lookalike(it.name, it.first, &it.meant, &spans, edits));
        }
        let mut last = 0;
        for it in &changes {
            if last <= it.range.start {
                let line = self.line_of(it.range.start);
                last = line.end.max(it.range.end);
                let line = self.span(&(line.start.min(it.range.start)..last));
                self.repaired.slipped.push(line);
            }
        }
        if let Some(copy) = self.repaired.copy.with(&changes) {
            self.repaired.copy = copy;
            self.reading = reading;
        }
    }

    /// Closes the first bracket that is open; answers whether the copy is another one.
    fn bracket(&mut self) -> bool {
        if self.unclosed.is_some() {
            return false;
        }
        let text = self.repaired.copy.text.clone();
        let mut found = None;
        for by in [StatementEnd::Lines, StatementEnd::Brackets] {
            let Some(unbalanced) = brackets::unbalanced(&text, &self.reading.tokens, by) else { continue };
            let (statement, change) = match &unbalanced {
                Unbalanced::Open { open, statement, end } => {
                    let closers = open.iter().rev().map(|it| brackets::closer(&text, *it)).collect();
                    (*statement, TextChange { range: *end..*end, text: closers })
                }
                Unbalanced::Crossed { open, close, statement } => {
                    let meant = brackets::closer(&text, *open).to_owned();
                    (*statement, TextChange { range: close.start..close.end, text: meant })
                }
                Unbalanced::Alone { close, statement } => {
                    (*statement, TextChange { range: close.start..close.end, text: String::new() })
                }
            };
            let end = change.range.end;
            let changes = [change];
            if let Some(reading) = self.read_with(&changes) {
                // Behind the change is the end of the line, or the colon of its statement.
                let rest = text.get(end as usize..).and_then(|it| it.split('\n').next()).map_or(0, str::len);
                let line = statement..end + u32::try_from(rest).unwrap_or(0);
                let added = u32::try_from(changes[0].text.len()).unwrap_or(0);
                let is_sound = |it: &Fault| it.range.start < line.start || it.range.start > line.end + added;
                if reading.faults.iter().all(is_sound) {
                    let told = self.about_bracket(&unbalanced);
                    self.take(told, &line, &changes, reading);
                    return true;
                }
            }
            found = Some(unbalanced);
        }
        // It is open for certain, wherever it was meant to be closed.
        if let Some(unbalanced @ Unbalanced::Open { .. }) = found {
            let Unbalanced::Open { open, .. } = &unbalanced else { return false };
            self.unclosed = open.first().map(|it| it.start);
            let told = self.about_bracket(&unbalanced);
            self.repaired.told.push(told);
        }
        false
    }

    fn about_bracket(&self, unbalanced: &Unbalanced) -> Diagnostic {
        let text = &self.repaired.copy.text;
        let span = |it: &Token| self.span(&(it.start..it.end));
        match unbalanced {
            Unbalanced::Open { open, end, .. } => {
                let shown: Vec<(&str, Span)> = open.iter().map(|it| (it.text(text), span(it))).collect();
                let closer = open.last().map_or(")", |it| brackets::closer(text, *it));
                catalog::never_closed(&shown, closer, self.span(&(*end..*end)))
            }
            Unbalanced::Crossed { open, close, .. } => {
                let meant = brackets::closer(text, *open);
                catalog::closed_by(open.text(text), close.text(text), meant, span(open), span(close))
            }
            Unbalanced::Alone { close, .. } => catalog::closes_nothing(close.text(text), span(close)),
        }
    }

    /// Puts one sign right; answers whether the copy is another one.
    fn sign(&mut self) -> bool {
        let mut seen: Vec<Range<u32>> = Vec::new();
        for fault in &self.reading.faults {
            let line = self.line_of(fault.range.start);
            if seen.last() == Some(&line) || self.unclosed.is_some_and(|it| it < line.end) {
                continue;
            }
            if seen.len() == MOST_LINES {
                break;
            }
            let is_of_line = |it: &&Token| {
                line.start <= it.start
                    && it.end <= line.end
                    && !matches!(
                        it.kind,
                        TokenKind::Newline
                            | TokenKind::LineBreak
                            | TokenKind::Indent
                            | TokenKind::Dedent
                            | TokenKind::Comment
                    )
            };
            let first = self.reading.tokens.partition_point(|it| it.start < line.start);
            let tokens = self.reading.tokens[first..].iter().take_while(|it| it.start < line.end);
            let tokens: Vec<Token> = tokens.filter(is_of_line).copied().collect();
            for slip in signs::slips(&self.repaired.copy.text, &tokens) {
                let Some(reading) = self.read_with(&slip.changes) else { continue };
                if reading.faults.len() < self.reading.faults.len() {
                    let spans: Vec<Span> = slip.changes.iter().map(|it| self.span(&it.range)).collect();
                    let edits = self.edits(&slip.changes);
                    let told = match slip.what {
                        SlipKind::Assignment => catalog::assignment_in_condition(&spans, edits),
                        SlipKind::NoColon(word) => catalog::colon_missing(word, spans[0], edits),
                        SlipKind::ElseIf => catalog::else_if(spans[0], edits),
                        SlipKind::Operator { written, meant } => {
                            catalog::foreign_operator(written, meant, &spans, edits)
                        }
                    };
                    self.take(told, &line, &slip.changes, reading);
                    return true;
                }
            }
            seen.push(line);
        }
        false
    }

    /// Reports the remaining faults: the first one of each line that has no slip.
    fn faults(&mut self) {
        let mut broken: Vec<Range<u32>> = Vec::new();
        for fault in std::mem::take(&mut self.reading.faults) {
            if broken.len() == MOST_FAULTS {
                break;
            }
            if let Some(open) = self.unclosed.filter(|it| *it <= fault.range.start) {
                broken.push(open..fault.range.end);
                continue;
            }
            let line = self.line_of(fault.range.start);
            let is_told =
                broken.iter().any(|it| it.start < line.end.max(line.start + 1) && line.start < it.end);
            // A block below a line that is no header is no fault of its own.
            let between = broken.last().and_then(|it| {
                self.repaired.copy.text.get(it.end as usize..fault.range.start.max(it.end) as usize)
            });
            let is_block =
                fault.kind == SyntaxFault::IndentedLine && between.is_some_and(|it| it.trim().is_empty());
            if is_told || is_block {
                continue;
            }
            let span = self.visible(self.span(&fault.range));
            let written = self.span(&line);
            let is_slipped = |it: &Span| it.start < written.end && written.start < it.end;
            if !self.repaired.slipped.iter().any(is_slipped) {
                let unknown = self.unknown_at(&fault.range);
                self.repaired.told.push(match unknown {
                    Some(it) => catalog::unknown_character(it, span),
                    None => catalog::syntax_error(fault.kind, &fault.message, span),
                });
            }
            broken.push(line);
        }
        self.repaired.broken = broken.iter().map(|it| self.span(it)).collect();
    }

    /// Leaves each fix that mends the text as it is written: alone, or with the others of its line.
    fn fixes(&mut self, written: &str) {
        let n_faults = |fix: &Fix| Some(self.read(&mend(written, self.file, [fix]).0)?.faults.len());
        let Some(before) = self.read(written).map(|it| it.faults.len()) else { return };
        let mut starts: Vec<u32> = self.repaired.slipped.iter().map(|it| it.start).collect();
        starts.sort_unstable();
        let line = |it: &TextEdit| starts.partition_point(|start| *start <= it.span.start);
        let lines = |fix: &Fix| fix.edits.iter().map(line).collect::<BTreeSet<usize>>();
        let told = &self.repaired.told;
        let all: Vec<(&Fix, BTreeSet<usize>)> =
            told.iter().filter_map(|it| it.fixes.first()).map(|it| (it, lines(it))).collect();
        let is_mended = |fix: &Fix| n_faults(fix).is_some_and(|it| it < before);
        let sound = |fix: &Fix| {
            if is_mended(fix) {
                return Some(fix.clone());
            }
            let own = lines(fix);
            let of_line = all.iter().filter(|it| !it.1.is_disjoint(&own));
            let mut edits: Vec<TextEdit> = of_line.flat_map(|it| it.0.edits.iter().cloned()).collect();
            edits.sort_by_key(|it| it.span);
            let whole = Fix { title: format!("{}, and mend the line", fix.title), edits };
            (whole.edits.len() > fix.edits.len() && is_mended(&whole)).then_some(whole)
        };
        let kept: Vec<Vec<Fix>> =
            told.iter().map(|it| it.fixes.first().and_then(sound).into_iter().collect()).collect();
        for (it, fixes) in self.repaired.told.iter_mut().zip(kept) {
            it.fixes = fixes;
        }
    }

    /// The character at a place, where it is one that Python does not know.
    fn unknown_at(&self, range: &Range<u32>) -> Option<char> {
        let is_it = |it: &&Token| it.kind == TokenKind::Unknown && it.start == range.start;
        let token = self.reading.tokens.iter().find(is_it)?;
        let mut characters = token.text(&self.repaired.copy.text).chars();
        let first = characters.next()?;
        (characters.next().is_none() && first != '\\').then_some(first)
    }

    /// The statement that a byte of the copy stands in, without the line break at its end; of a block its first line.
    fn line_of(&self, at: u32) -> Range<u32> {
        let ends = &self.reading.ends;
        let text = &self.repaired.copy.text;
        let len = u32::try_from(text.len()).unwrap_or(u32::MAX);
        // A fault at the line break is one of the line before it.
        let before = ends.partition_point(|it| it.start < at);
        let end = ends.get(before).map_or(len, |it| it.start);
        let start = before.checked_sub(1).map_or(0, |it| ends[it].end.min(at));
        let lead = text.get(start as usize..end as usize).map_or(0, |it| it.len() - it.trim_start().len());
        (start + u32::try_from(lead).unwrap_or(0)).min(end)..end
    }
}

#[cfg(test)]
mod tests;
