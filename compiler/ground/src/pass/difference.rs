//! Differences between two moments of a level. They are lines, with the unchanged ones counted, or a whole
//! text with marks.

use std::ops::Range;

use super::trace::{Snapshot, Trace, TraceItem, indented};
use crate::diag::StmtId;

/// A line of a comparison.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ComparedLine {
    /// In both; the number of lines, where there are many.
    Same(String),
    Kept(usize),
    Removed(String),
    Added(String),
}

/// How a line of a difference stands to the two moments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DifferenceMark {
    /// It is in both.
    Same,
    Removed,
    Added,
}

/// Both moments as one text, in which each line is marked.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Difference {
    pub lines: Vec<(DifferenceMark, String)>,
    /// As those of a listing: a parent stands before its children.
    pub nodes: Vec<DifferenceNode>,
}

/// A node of either moment, or of both.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DifferenceNode {
    pub kind: &'static str,
    pub stmts: Vec<StmtId>,
    pub lines: Range<u32>,
    pub parent: Option<usize>,
}

impl Trace {
    /// The differences between two moments, as lines; lines that did not change are counted.
    #[must_use]
    pub fn changes(&self, before: Snapshot, after: Snapshot) -> Vec<ComparedLine> {
        let mut found = Vec::new();
        self.compare(before, after, 0, &mut found);
        found
    }

    /// The two moments as one text.
    #[must_use]
    pub fn difference(&self, before: Snapshot, after: Snapshot) -> Difference {
        let mut writer = Writer::default();
        self.compare(before, after, 0, &mut writer);
        writer.made
    }

    fn compare(&self, before: Snapshot, after: Snapshot, base: usize, found: &mut dyn DifferenceSink) {
        if before == after {
            found.keep(self, after, base);
            return;
        }
        found.open(self, &[before, after]);
        let (old, new) = (&self.node(before).parts, &self.node(after).parts);
        let keys = |parts: &[TraceItem]| parts.iter().map(|it| self.key(it)).collect::<Vec<_>>();
        let (old_keys, new_keys) = (keys(old), keys(new));
        // The same parts in the same order, as many as can be.
        let common = longest_common(old.len(), new.len(), |a, b| old[a] == new[b]);
        let (mut a, mut b) = (0, 0);
        for (next_a, next_b) in common.into_iter().chain([(old.len(), new.len())]) {
            // Between two of these, parts that are about the same thing are compared further.
            let alike = longest_common(next_a - a, next_b - b, |x, y| {
                old_keys[a + x].is_some() && old_keys[a + x] == new_keys[b + y]
            });
            let (mut x, mut y) = (a, b);
            for (at, other) in alike.iter().map(|(at, other)| (a + at, b + other)).chain([(next_a, next_b)]) {
                old[x..at].iter().for_each(|it| found.part(self, it, base, DifferenceMark::Removed));
                new[y..other].iter().for_each(|it| found.part(self, it, base, DifferenceMark::Added));
                if let (
                    Some(TraceItem::Node { node: one, .. }),
                    Some(TraceItem::Node { node: another, indent }),
                ) = (old.get(at).filter(|_| at < next_a), new.get(other).filter(|_| other < next_b))
                {
                    self.compare(*one, *another, base + indent, found);
                }
                (x, y) = (at + 1, other + 1);
            }
            match new.get(next_b) {
                Some(TraceItem::Node { indent, node }) => found.keep(self, *node, base + indent),
                Some(part @ TraceItem::Line { .. }) => found.part(self, part, base, DifferenceMark::Same),
                None => {}
            }
            (a, b) = (next_a + 1, next_b + 1);
        }
        found.close();
    }

    /// The key that two parts must share to be compared further: the kind of a node, and its first statement.
    fn key(&self, part: &TraceItem) -> Option<(&'static str, Vec<StmtId>)> {
        let TraceItem::Node { node, .. } = part else { return None };
        Some((self.node(*node).kind, self.first_statement(*node).into_iter().collect()))
    }

    fn first_statement(&self, of: Snapshot) -> Option<StmtId> {
        let node = self.node(of);
        node.stmts.first().copied().or_else(|| {
            node.parts.iter().find_map(|it| match it {
                TraceItem::Line { .. } => None,
                TraceItem::Node { node, .. } => self.first_statement(*node),
            })
        })
    }
}

/// Takes the findings of a comparison, from the first line to the last.
trait DifferenceSink {
    /// All parts up to the matching [`close`](Self::close) are inside of these: one node, at one moment or
    /// two.
    fn open(&mut self, _trace: &Trace, _nodes: &[Snapshot]) {}

    fn close(&mut self) {}

    fn part(&mut self, trace: &Trace, part: &TraceItem, base: usize, mark: DifferenceMark);

    /// A tree that is in both.
    fn keep(&mut self, trace: &Trace, of: Snapshot, base: usize);
}

impl DifferenceSink for Vec<ComparedLine> {
    fn part(&mut self, trace: &Trace, part: &TraceItem, base: usize, mark: DifferenceMark) {
        let as_change = match mark {
            DifferenceMark::Same => ComparedLine::Same,
            DifferenceMark::Removed => ComparedLine::Removed,
            DifferenceMark::Added => ComparedLine::Added,
        };
        match part {
            TraceItem::Line { indent, text } => self.push(as_change(indented(base + indent, text))),
            TraceItem::Node { indent, node } => {
                trace.each_line(*node, base + indent, &mut |line| self.push(as_change(line.to_owned())));
            }
        }
    }

    /// Its first line, and how many more it has.
    fn keep(&mut self, trace: &Trace, of: Snapshot, base: usize) {
        let mut lines = Vec::new();
        trace.each_line(of, base, &mut |line| lines.push(line.to_owned()));
        let n_more = lines.len().saturating_sub(1);
        self.extend(lines.into_iter().next().map(ComparedLine::Same));
        if n_more > 0 {
            self.push(ComparedLine::Kept(n_more));
        }
    }
}

/// Writes a [`Difference`].
#[derive(Debug, Default)]
struct Writer {
    made: Difference,
    open: Vec<usize>,
}

impl Writer {
    fn at(&self) -> u32 {
        u32::try_from(self.made.lines.len()).unwrap_or(u32::MAX)
    }

    fn tree(&mut self, trace: &Trace, of: Snapshot, base: usize, mark: DifferenceMark) {
        self.open(trace, &[of]);
        for part in &trace.node(of).parts {
            self.part(trace, part, base, mark);
        }
        self.close();
    }
}

impl DifferenceSink for Writer {
    fn open(&mut self, trace: &Trace, nodes: &[Snapshot]) {
        let mut stmts: Vec<StmtId> = Vec::new();
        for &stmt in nodes.iter().flat_map(|it| &trace.node(*it).stmts) {
            if !stmts.contains(&stmt) {
                stmts.push(stmt);
            }
        }
        let kind = nodes.last().map_or("", |it| trace.node(*it).kind);
        let start = self.at();
        let parent = self.open.last().copied();
        self.open.push(self.made.nodes.len());
        self.made.nodes.push(DifferenceNode { kind, stmts, lines: start..start, parent });
    }

    fn close(&mut self) {
        let end = self.at();
        if let Some(at) = self.open.pop() {
            self.made.nodes[at].lines.end = end;
        }
    }

    fn part(&mut self, trace: &Trace, part: &TraceItem, base: usize, mark: DifferenceMark) {
        match part {
            TraceItem::Line { indent, text } => self.made.lines.push((mark, indented(base + indent, text))),
            TraceItem::Node { indent, node } => self.tree(trace, *node, base + indent, mark),
        }
    }

    fn keep(&mut self, trace: &Trace, of: Snapshot, base: usize) {
        self.tree(trace, of, base, DifferenceMark::Same);
    }
}

/// Above this many comparisons, only what both begin and end with is taken to be common.
const MOST_COMPARISONS: usize = 1 << 20;

/// Positions of a longest sequence that both have, in order.
fn longest_common(n: usize, m: usize, are_equal: impl Fn(usize, usize) -> bool) -> Vec<(usize, usize)> {
    let start = (0..n.min(m)).take_while(|&at| are_equal(at, at)).count();
    let end = (0..n.min(m) - start).take_while(|&at| are_equal(n - 1 - at, m - 1 - at)).count();
    let (rows, columns) = (n - start - end, m - start - end);
    let mut middle = Vec::new();
    if rows.saturating_mul(columns) <= MOST_COMPARISONS && rows > 0 && columns > 0 {
        // lengths[a][b]: of the longest one of what is behind a and b.
        let mut lengths = vec![vec![0_u32; columns + 1]; rows + 1];
        for a in (0..rows).rev() {
            for b in (0..columns).rev() {
                lengths[a][b] = if are_equal(start + a, start + b) {
                    lengths[a + 1][b + 1] + 1
                } else {
                    lengths[a + 1][b].max(lengths[a][b + 1])
                };
            }
        }
        let (mut a, mut b) = (0, 0);
        while a < rows && b < columns {
            if are_equal(start + a, start + b) {
                middle.push((start + a, start + b));
                (a, b) = (a + 1, b + 1);
            } else if lengths[a + 1][b] >= lengths[a][b + 1] {
                a += 1;
            } else {
                b += 1;
            }
        }
    }
    let head = (0..start).map(|at| (at, at));
    let tail = (0..end).rev().map(|at| (n - 1 - at, m - 1 - at));
    head.chain(middle).chain(tail).collect()
}

/// A comparison as text: `+` and `-` before what changed.
#[must_use]
pub fn text_of(changes: &[ComparedLine]) -> String {
    let mut text = String::new();
    for change in changes {
        let line = match change {
            ComparedLine::Same(line) => format!("  {line}"),
            ComparedLine::Kept(1) => "    ... 1 line".to_owned(),
            ComparedLine::Kept(n) => format!("    ... {n} lines"),
            ComparedLine::Removed(line) => format!("- {line}"),
            ComparedLine::Added(line) => format!("+ {line}"),
        };
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::super::trace::tests::level;
    use super::*;

    /// A level before and after a pass that merges two loops.
    fn merged() -> Trace {
        let mut trace = Trace::default();
        trace.record("oir", None, Some(&level(&[("k", &[0, 1]), ("j", &[2]), ("i", &[3])])));
        trace.record("oir", Some("oir/merge"), Some(&level(&[("k", &[0, 1]), ("j", &[2, 3, 4])])));
        trace
    }

    #[test]
    fn a_comparison_shows_what_a_pass_changed() {
        let trace = merged();
        let changes = trace.changes(trace.steps[0].after, trace.steps[1].after);
        expect![[r#"
              tree
              k
                ... 2 lines
              j
                x2 = 2
            +   x3 = 3
            +   x4 = 4
            - i
            -   x3 = 3
        "#]]
        .assert_eq(&text_of(&changes));
    }

    #[test]
    fn a_difference_has_every_line_with_its_statements() {
        let trace = merged();
        let found = trace.difference(trace.steps[0].after, trace.steps[1].after);
        let mut text = String::new();
        for (at, (mark, line)) in (0_u32..).zip(&found.lines) {
            let sign = match mark {
                DifferenceMark::Same => ' ',
                DifferenceMark::Removed => '-',
                DifferenceMark::Added => '+',
            };
            let around = found.nodes.iter().rfind(|it| it.lines.contains(&at));
            let stmts = around.map_or(&[][..], |it| &it.stmts);
            let stmts: Vec<String> = stmts.iter().map(ToString::to_string).collect();
            text.push_str(format!("{sign} {line}  {}", stmts.join(" ")).trim_end());
            text.push('\n');
        }
        expect![[r#"
              tree
              k
                x0 = 0  s0
                x1 = 1  s1
              j
                x2 = 2  s2
            +   x3 = 3  s3
            +   x4 = 4  s4
            - i
            -   x3 = 3  s3
        "#]]
        .assert_eq(&text);
    }
}
