//! Every level before and after each pass, as a tree whose unchanged parts are one and the same.
//!
//! A snapshot is made from the level's listing: each of its nodes becomes a [`TraceNode`], and two that read
//! the same, with the same statements, are one node. So a trace of thirty passes takes little more than one
//! text, and what a pass changed is found by comparing numbers.

use std::collections::BTreeMap;

use crate::diag::{Listing, StmtId};

/// Names a node of a trace; equal numbers are equal trees.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Snapshot(u32);

/// A node of a level, with all inside.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct TraceNode {
    /// In the level's words: `assign`, `loop`.
    pub kind: &'static str,
    /// The statements that it carries out itself.
    pub stmts: Vec<StmtId>,
    /// Its own lines and the nodes inside, in order.
    pub parts: Vec<Part>,
}

/// A part of a node.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Part {
    /// A line, and how far it is indented beyond the first line of the node around.
    Line {
        indent: usize,
        text: String,
    },
    Node {
        indent: usize,
        node: Snapshot,
    },
}

/// A level as it was at one moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TraceStep {
    /// `oir`, `schedule`, ...
    pub level: &'static str,
    /// The pass that made it so; none for the level as it was lowered.
    pub pass: Option<&'static str>,
    pub after: Snapshot,
}

/// The levels of a compilation, moment by moment.
#[derive(Clone, Debug, Default)]
pub struct Trace {
    nodes: Vec<TraceNode>,
    known: BTreeMap<TraceNode, Snapshot>,
    pub steps: Vec<TraceStep>,
}

/// A line of a comparison.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Change {
    /// In both; the number of lines, where there are many.
    Same(String),
    Kept(usize),
    Removed(String),
    Added(String),
}

impl Snapshot {
    /// Its position among the nodes of the trace.
    #[must_use]
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

impl Trace {
    /// Records a level; without a listing, it is as it was after the step before.
    pub fn record(&mut self, level: &'static str, pass: Option<&'static str>, listing: Option<&Listing>) {
        let after = match listing {
            Some(listing) => self.snapshot(listing),
            None => match self.steps.iter().rev().find(|it| it.level == level) {
                Some(before) => before.after,
                None => return,
            },
        };
        self.steps.push(TraceStep { level, pass, after });
    }

    /// The node of that name.
    ///
    /// # Panics
    ///
    /// When it is of another trace.
    #[must_use]
    pub fn node(&self, Snapshot(at): Snapshot) -> &TraceNode {
        &self.nodes[at as usize]
    }

    /// All nodes, by position.
    #[must_use]
    pub fn nodes(&self) -> &[TraceNode] {
        &self.nodes
    }

    /// How many different nodes all levels have together.
    #[must_use]
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// The step right before one, of the same level.
    #[must_use]
    pub fn before(&self, step: usize) -> Option<&TraceStep> {
        let level = self.steps.get(step)?.level;
        self.steps[..step].iter().rev().find(|it| it.level == level)
    }

    fn snapshot(&mut self, listing: &Listing) -> Snapshot {
        let lines: Vec<&str> = listing.text.lines().collect();
        let mut children: BTreeMap<Option<usize>, Vec<usize>> = BTreeMap::new();
        for (at, node) in listing.nodes.iter().enumerate() {
            children.entry(node.parent).or_default().push(at);
        }
        let inside = |at: Option<usize>| children.get(&at).map_or(&[][..], Vec::as_slice);
        // Children stand behind their parents.
        let mut made: BTreeMap<usize, (Snapshot, usize)> = BTreeMap::new();
        for (at, it) in listing.nodes.iter().enumerate().rev() {
            let range = it.lines.start as usize..it.lines.end as usize;
            let base = lines.get(range.start).map_or(0, |it| indent_of(it));
            let parts = self.parts(&lines, range, base, inside(Some(at)), listing, &made);
            let node = TraceNode { kind: it.kind, stmts: it.stmts.clone(), parts };
            made.insert(at, (self.intern(node), base));
        }
        let parts = self.parts(&lines, 0..lines.len(), 0, inside(None), listing, &made);
        self.intern(TraceNode { kind: "level", stmts: Vec::new(), parts })
    }

    fn parts(
        &self,
        lines: &[&str],
        range: std::ops::Range<usize>,
        base: usize,
        children: &[usize],
        listing: &Listing,
        made: &BTreeMap<usize, (Snapshot, usize)>,
    ) -> Vec<Part> {
        let mut parts = Vec::new();
        let mut next = range.start;
        let line = |at: usize, parts: &mut Vec<Part>| {
            let text = lines[at];
            let indent = indent_of(text).saturating_sub(base);
            parts.push(Part::Line { indent, text: text.trim_start().to_owned() });
        };
        for &child in children {
            let inner = &listing.nodes[child].lines;
            while next < inner.start as usize {
                line(next, &mut parts);
                next += 1;
            }
            if let Some(&(node, indent)) = made.get(&child) {
                parts.push(Part::Node { indent: indent.saturating_sub(base), node });
            }
            next = next.max(inner.end as usize);
        }
        while next < range.end {
            line(next, &mut parts);
            next += 1;
        }
        parts
    }

    fn intern(&mut self, node: TraceNode) -> Snapshot {
        if let Some(&known) = self.known.get(&node) {
            return known;
        }
        let name = Snapshot(u32::try_from(self.nodes.len()).expect("a trace has fewer than 2^32 nodes"));
        self.nodes.push(node.clone());
        self.known.insert(node, name);
        name
    }

    /// The text of a level as it was.
    #[must_use]
    pub fn text(&self, of: Snapshot) -> String {
        let mut text = String::new();
        self.each_line(of, 0, &mut |line| {
            text.push_str(line);
            text.push('\n');
        });
        text
    }

    fn each_line(&self, of: Snapshot, base: usize, each: &mut dyn FnMut(&str)) {
        for part in &self.node(of).parts {
            match part {
                Part::Line { text, .. } if text.is_empty() => each(""),
                Part::Line { indent, text } => each(&format!("{:1$}{text}", "", base + indent)),
                Part::Node { indent, node } => self.each_line(*node, base + indent, each),
            }
        }
    }

    /// What differs between two moments, as lines; what did not change is counted.
    #[must_use]
    pub fn changes(&self, before: Snapshot, after: Snapshot) -> Vec<Change> {
        let mut found = Vec::new();
        self.compare(before, after, 0, &mut found);
        found
    }

    fn compare(&self, before: Snapshot, after: Snapshot, base: usize, found: &mut Vec<Change>) {
        if before == after {
            self.keep(after, base, found);
            return;
        }
        let (old, new) = (&self.node(before).parts, &self.node(after).parts);
        let keys = |parts: &[Part]| parts.iter().map(|it| self.key(it)).collect::<Vec<_>>();
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
                old[x..at].iter().for_each(|it| self.all(it, base, found, &Change::Removed));
                new[y..other].iter().for_each(|it| self.all(it, base, found, &Change::Added));
                if let (Some(Part::Node { node: one, .. }), Some(Part::Node { node: another, indent })) =
                    (old.get(at).filter(|_| at < next_a), new.get(other).filter(|_| other < next_b))
                {
                    self.compare(*one, *another, base + indent, found);
                }
                (x, y) = (at + 1, other + 1);
            }
            if let Some(part) = new.get(next_b) {
                match part {
                    Part::Line { indent, text } => found.push(Change::Same(indented(base + indent, text))),
                    Part::Node { indent, node } => self.keep(*node, base + indent, found),
                }
            }
            (a, b) = (next_a + 1, next_b + 1);
        }
    }

    /// What two parts must have in common to be compared further: nodes of a kind that share a statement.
    fn key(&self, part: &Part) -> Option<(&'static str, Vec<StmtId>)> {
        let Part::Node { node, .. } = part else { return None };
        Some((self.node(*node).kind, self.first_statement(*node).into_iter().collect()))
    }

    fn first_statement(&self, of: Snapshot) -> Option<StmtId> {
        let node = self.node(of);
        node.stmts.first().copied().or_else(|| {
            node.parts.iter().find_map(|it| match it {
                Part::Line { .. } => None,
                Part::Node { node, .. } => self.first_statement(*node),
            })
        })
    }

    /// A tree that is in both: its first line, and how many more it has.
    fn keep(&self, of: Snapshot, base: usize, found: &mut Vec<Change>) {
        let mut lines = Vec::new();
        self.each_line(of, base, &mut |line| lines.push(line.to_owned()));
        let n_more = lines.len().saturating_sub(1);
        found.extend(lines.into_iter().next().map(Change::Same));
        match (n_more, found.last_mut()) {
            (0, _) => {}
            (_, _) => found.push(Change::Kept(n_more)),
        }
    }

    fn all(&self, part: &Part, base: usize, found: &mut Vec<Change>, as_: &dyn Fn(String) -> Change) {
        match part {
            Part::Line { indent, text } => found.push(as_(indented(base + indent, text))),
            Part::Node { indent, node } => {
                self.each_line(*node, base + indent, &mut |line| found.push(as_(line.to_owned())));
            }
        }
    }
}

fn indented(by: usize, text: &str) -> String {
    if text.is_empty() { String::new() } else { format!("{:by$}{text}", "") }
}

fn indent_of(line: &str) -> usize {
    line.len() - line.trim_start().len()
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
pub fn text_of(changes: &[Change]) -> String {
    let mut text = String::new();
    for change in changes {
        let line = match change {
            Change::Same(line) => format!("  {line}"),
            Change::Kept(1) => "    ... 1 line".to_owned(),
            Change::Kept(n) => format!("    ... {n} lines"),
            Change::Removed(line) => format!("- {line}"),
            Change::Added(line) => format!("+ {line}"),
        };
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;
    use crate::diag::{ListingWriter, Origin, Span};

    /// Loops with statements, as `j: s0 s1`.
    fn level(loops: &[(&str, &[u32])]) -> Listing {
        let mut writer = ListingWriter::new();
        writer.open("t", "tree", []);
        writer.line("tree");
        for (at, (name, stmts)) in loops.iter().enumerate() {
            writer.open(format!("n{at}"), "loop", []);
            writer.line(name);
            for &stmt in *stmts {
                let origin = Origin::new(StmtId(stmt), &[Span::default()]);
                writer.open(format!("s{stmt}"), "assign", [&origin]);
                writer.indented(|it| it.line(format_args!("x{stmt} = {stmt}")));
                writer.close();
            }
            writer.close();
        }
        writer.close();
        writer.finish()
    }

    #[test]
    fn what_did_not_change_is_one_and_the_same() {
        let mut trace = Trace::default();
        trace.record("oir", None, Some(&level(&[("k", &[0, 1]), ("j", &[2])])));
        let n_nodes = trace.len();
        trace.record("oir", Some("oir/one"), None);
        trace.record("oir", Some("oir/two"), Some(&level(&[("k", &[0, 1]), ("i", &[2])])));
        assert_eq!(trace.steps[0].after, trace.steps[1].after);
        assert_eq!(trace.len() - n_nodes, 3, "the loop over i, the tree and the level are new");
        assert_eq!(trace.text(trace.steps[2].after), level(&[("k", &[0, 1]), ("i", &[2])]).text);
    }

    #[test]
    fn a_comparison_shows_what_a_pass_changed() {
        let mut trace = Trace::default();
        trace.record("oir", None, Some(&level(&[("k", &[0, 1]), ("j", &[2]), ("i", &[3])])));
        trace.record("oir", Some("oir/merge"), Some(&level(&[("k", &[0, 1]), ("j", &[2, 3, 4])])));
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
}
