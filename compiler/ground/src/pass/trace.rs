//! Every level before and after each pass, as a tree whose unchanged parts are one and the same.
//!
//! A snapshot is made from the level's listing: each of its nodes becomes a [`TraceNode`]. Two nodes that
//! read the same, with the same statements, are one node. So a trace of thirty passes takes little more
//! memory than one text, and the changes of a pass are found by comparing numbers.

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
    pub parts: Vec<TraceItem>,
}

/// A part of a node.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum TraceItem {
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
    ) -> Vec<TraceItem> {
        let mut parts = Vec::new();
        let mut next = range.start;
        let line = |at: usize, parts: &mut Vec<TraceItem>| {
            let text = lines[at];
            let indent = indent_of(text).saturating_sub(base);
            parts.push(TraceItem::Line { indent, text: text.trim_start().to_owned() });
        };
        for &child in children {
            let inner = &listing.nodes[child].lines;
            while next < inner.start as usize {
                line(next, &mut parts);
                next += 1;
            }
            if let Some(&(node, indent)) = made.get(&child) {
                parts.push(TraceItem::Node { indent: indent.saturating_sub(base), node });
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

    pub(super) fn each_line(&self, of: Snapshot, base: usize, each: &mut dyn FnMut(&str)) {
        for part in &self.node(of).parts {
            match part {
                TraceItem::Line { text, .. } if text.is_empty() => each(""),
                TraceItem::Line { indent, text } => each(&format!("{:1$}{text}", "", base + indent)),
                TraceItem::Node { indent, node } => self.each_line(*node, base + indent, each),
            }
        }
    }
}

pub(super) fn indented(by: usize, text: &str) -> String {
    if text.is_empty() { String::new() } else { format!("{:by$}{text}", "") }
}

fn indent_of(line: &str) -> usize {
    line.len() - line.trim_start().len()
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::diag::{ListingWriter, Origin, Span};

    /// Loops with statements, as `j: s0 s1`.
    pub(in crate::pass) fn level(loops: &[(&str, &[u32])]) -> Listing {
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
}
