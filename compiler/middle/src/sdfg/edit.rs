//! Changes that keep a graph in shape: what is taken out leaves no ends hanging.

use std::collections::BTreeMap;

use super::nodes::{
    BlockKind, Container, ControlFlowRegion, Edge, Input, Node, NodeKind, Operand, Range, Sdfg, State,
};
use crate::entity::{Arena, Handle};
use crate::space::{Affine, Size, Symbol};

impl Sdfg {
    /// Nobody may make one map of two: which of them are one was decided before.
    pub fn keep_maps_apart(&mut self) {
        let mut all = std::collections::BTreeSet::new();
        self.each_origin(&mut |it| {
            all.insert(it.stmt);
        });
        self.apart = all;
    }

    /// Replaces every container that something of this graph names; nested graphs have names of their own.
    pub fn replace_containers(&mut self, by: &mut dyn FnMut(Handle<Container>) -> Handle<Container>) {
        self.arguments.iter_mut().for_each(|it| *it = by(*it));
        self.region.each_state_mut(&mut |state| {
            for (_, node) in state.nodes.iter_mut() {
                if let NodeKind::Access(data) = &mut node.kind {
                    *data = by(*data);
                }
            }
            for memlet in state.edges.memlets_mut() {
                memlet.data = by(memlet.data);
            }
        });
        self.region.each_condition_mut(&mut |condition| {
            condition.accesses_mut(&mut |operand| {
                if let Operand::Element { container, .. } = operand {
                    *container = by(*container);
                }
            });
        });
    }

    /// Drops transient containers that nothing names.
    pub fn drop_unused_containers(&mut self) {
        let mut is_used = vec![false; self.containers.len()];
        self.arguments.iter().for_each(|it| is_used[it.index()] = true);
        self.region.each_state(&mut |state| {
            for (_, node) in state.nodes.iter() {
                if let NodeKind::Access(data) = node.kind {
                    is_used[data.index()] = true;
                }
            }
            for memlet in state.edges.iter().filter_map(|it| it.memlet.as_ref()) {
                is_used[memlet.data.index()] = true;
            }
        });
        self.region.each_condition(&mut |condition| {
            condition.accesses(&mut |operand| {
                if let Operand::Element { container, .. } = operand {
                    is_used[container.index()] = true;
                }
            });
        });
        if is_used.iter().all(|&it| it) {
            return;
        }
        let mut kept = Arena::default();
        let mut renamed = BTreeMap::new();
        for (handle, container) in std::mem::take(&mut self.containers).iter() {
            if is_used[handle.index()] {
                renamed.insert(handle, kept.push(container.clone()));
            }
        }
        self.containers = kept;
        self.replace_containers(&mut |it| renamed.get(&it).copied().unwrap_or(it));
    }
}

impl State {
    /// Drops nodes, and the edges at them; then what led to them and leads nowhere now.
    pub fn remove(&mut self, is_removed: &dyn Fn(Handle<Node>) -> bool) {
        let mut keep: Vec<bool> = self.nodes.handles().map(|it| !is_removed(it)).collect();
        loop {
            let is_kept = |it: Handle<Node>, keep: &[bool]| keep[it.index()];
            self.edges.retain(|edge| is_kept(edge.source, &keep) && is_kept(edge.target, &keep));
            let mut has_body = vec![false; keep.len()];
            for (it, node) in self.nodes.iter() {
                if let Some(entry) = node.scope.filter(|_| keep[it.index()]) {
                    has_body[entry.index()] = true;
                }
            }
            let is_idle = |it: Handle<Node>| keep[it.index()] && self.is_idle(it, &keep, &has_body);
            let idle: Vec<Handle<Node>> = self.nodes.handles().filter(|&it| is_idle(it)).collect();
            let n_edges = self.edges.len();
            self.close_connectors();
            if idle.is_empty() && n_edges == self.edges.len() {
                break;
            }
            idle.into_iter().for_each(|it| keep[it.index()] = false);
        }
        self.compact(&keep);
        self.tie_loose_ends();
    }

    /// Whether a node does nothing: a map without a body, or a container that nothing reads or writes.
    fn is_idle(&self, node: Handle<Node>, keep: &[bool], has_body: &[bool]) -> bool {
        match self.nodes[node].kind {
            NodeKind::MapEntry(_) => !has_body[node.index()],
            NodeKind::MapExit { entry } => !keep[entry.index()] || !has_body[entry.index()],
            NodeKind::Access(_) => {
                let moves = |edge: &Edge| edge.memlet.is_some();
                !self.edges_into(node).any(moves) && !self.edges_out_of(node).any(moves)
            }
            NodeKind::Tasklet(_) | NodeKind::NestedSdfg(_) => false,
        }
    }

    /// Drops edges that move into a map what nothing in it reads, and out of one what nothing in it writes.
    fn close_connectors(&mut self) {
        let moves = |edge: &Edge, data| edge.memlet.as_ref().is_some_and(|it| it.data == data);
        let leads_on = |edge: &Edge| match (&self.nodes[edge.target].kind, &edge.memlet) {
            (NodeKind::MapEntry(_), Some(memlet)) => {
                self.edges_out_of(edge.target).any(|it| moves(it, memlet.data))
            }
            _ => true,
        };
        let comes_from = |edge: &Edge| match (&self.nodes[edge.source].kind, &edge.memlet) {
            (NodeKind::MapExit { .. }, Some(memlet)) => {
                self.edges_into(edge.source).any(|it| moves(it, memlet.data))
            }
            _ => true,
        };
        let is_kept: Vec<bool> = self.edges.iter().map(|it| leads_on(it) && comes_from(it)).collect();
        let mut is_kept = is_kept.into_iter();
        self.edges.retain(|_| is_kept.next() == Some(true));
    }

    /// Gives the nodes that stay new handles.
    fn compact(&mut self, keep: &[bool]) {
        let mut n_kept = 0;
        let renamed: Vec<Handle<Node>> = keep
            .iter()
            .map(|&is_kept| {
                let own = Handle::new(n_kept);
                n_kept += usize::from(is_kept);
                own
            })
            .collect();
        let renamed = |it: Handle<Node>| renamed[it.index()];
        let mut nodes = Arena::default();
        for (mut node, _) in std::mem::take(&mut self.nodes).into_iter().zip(keep).filter(|(_, keep)| **keep)
        {
            node.scope = node.scope.map(renamed);
            if let NodeKind::MapExit { entry } = &mut node.kind {
                *entry = renamed(*entry);
            }
            nodes.push(node);
        }
        self.nodes = nodes;
        for edge in &mut self.edges {
            (edge.source, edge.target) = (renamed(edge.source), renamed(edge.target));
        }
    }

    /// Every node of a map lies between its entry and its exit.
    pub(super) fn tie_loose_ends(&mut self) {
        let exits: Vec<(Handle<Node>, Handle<Node>)> = self.exits().collect();
        for (entry, exit) in exits {
            let inside: Vec<Handle<Node>> =
                self.nodes.handles().filter(|&it| self.nodes[it].scope == Some(entry)).collect();
            for node in inside {
                let kind = &self.nodes[node].kind;
                let is_source = !matches!(kind, NodeKind::MapExit { .. });
                let is_target = !matches!(kind, NodeKind::MapEntry(_));
                if is_source && self.edges_into(node).next().is_none() {
                    self.order(entry, node);
                }
                if is_target && self.edges_out_of(node).next().is_none() {
                    self.order(node, exit);
                }
            }
        }
    }

    /// The entry and the exit of each map.
    pub fn exits(&self) -> impl Iterator<Item = (Handle<Node>, Handle<Node>)> {
        self.nodes.iter().filter_map(|(handle, node)| match node.kind {
            NodeKind::MapExit { entry } => Some((entry, handle)),
            _ => None,
        })
    }

    /// One node before another, without data between.
    pub(super) fn order(&mut self, source: Handle<Node>, target: Handle<Node>) {
        self.edges.push(Edge {
            source,
            source_connector: None,
            target,
            target_connector: None,
            memlet: None,
        });
    }

    /// For each node, those that a path leads to; a map leads from its entry to its exit.
    #[must_use]
    pub fn reached(&self) -> Vec<Vec<bool>> {
        let followers = self.followers();
        (0..self.nodes.len()).map(|from| reached_from(&followers, from)).collect()
    }

    /// The nodes that a path leads to from this one.
    #[must_use]
    pub fn reached_from(&self, from: Handle<Node>) -> Vec<bool> {
        reached_from(&self.followers(), from.index())
    }

    /// The nodes that a path leads from to this one.
    #[must_use]
    pub fn leading_to(&self, to: Handle<Node>) -> Vec<bool> {
        let entries: BTreeMap<_, _> = self.exits().map(|(entry, exit)| (exit, entry)).collect();
        let (mut seen, mut open) = (vec![false; self.nodes.len()], vec![to]);
        while let Some(at) = open.pop() {
            let before = self.edges_into(at).map(|it| it.source).chain(entries.get(&at).copied());
            for node in before {
                if !std::mem::replace(&mut seen[node.index()], true) {
                    open.push(node);
                }
            }
        }
        seen
    }

    /// Whether a path leads from one node to another.
    #[must_use]
    pub fn reaches(&self, from: Handle<Node>, to: Handle<Node>) -> bool {
        self.reached_from(from)[to.index()]
    }

    fn followers(&self) -> Vec<Vec<usize>> {
        let mut followers = vec![Vec::new(); self.nodes.len()];
        for edge in &self.edges {
            followers[edge.source.index()].push(edge.target.index());
        }
        for (entry, exit) in self.exits() {
            followers[entry.index()].push(exit.index());
        }
        followers
    }

    /// Whether a node stands in a map, at any depth.
    #[must_use]
    pub fn is_inside(&self, node: Handle<Node>, entry: Handle<Node>) -> bool {
        self.scopes_around(node).any(|it| it == entry)
    }

    /// Gives a symbol another name inside of a map; answers how often it, or a parameter of that name, was found. Nested
    /// graphs have names of their own: they only get another value, but what they bind counts.
    pub fn rename_inside(&mut self, entry: Handle<Node>, from: &Symbol, to: &Symbol) -> usize {
        let inside: Vec<bool> = self.nodes.handles().map(|it| self.is_inside(it, entry)).collect();
        let mut renaming = Renaming { from, to, n_found: 0 };
        for (node, it) in self.nodes.iter_mut() {
            if !inside[node.index()] {
                continue;
            }
            match &mut it.kind {
                NodeKind::Tasklet(it) => {
                    it.found.iter_mut().for_each(|it| renaming.size(&mut it.size));
                    let codes = it.found.iter_mut().map(|it| &mut it.code).chain([&mut it.code]);
                    codes.for_each(|code| {
                        code.accesses_mut(&mut |input| {
                            if let Input::Symbolic(sum) = input {
                                renaming.sum(sum);
                            }
                        });
                    });
                }
                NodeKind::MapEntry(map) => {
                    for param in &mut map.params {
                        renaming.n_found += usize::from(param.symbol == *from);
                        renaming.range(&mut param.range);
                    }
                }
                NodeKind::NestedSdfg(it) => {
                    it.symbol_mapping.iter_mut().for_each(|(_, value)| renaming.sum(value));
                    renaming.n_found += usize::from(binds(&it.sdfg.region, from));
                }
                NodeKind::Access(_) | NodeKind::MapExit { .. } => {}
            }
        }
        for edge in &mut self.edges {
            let is_here = inside[edge.source.index()] || inside[edge.target.index()];
            if let (true, Some(memlet)) = (is_here, &mut edge.memlet) {
                memlet.subset.iter_mut().for_each(|it| renaming.range(it));
                let ranges = memlet.volume.terms.iter_mut().flat_map(|(_, ranges)| ranges);
                ranges.for_each(|it| renaming.range(it));
            }
        }
        renaming.n_found
    }
}

/// Whether a map or loop has a symbol as its parameter, in graphs inside too.
fn binds(region: &ControlFlowRegion, symbol: &Symbol) -> bool {
    let in_node = |it: &NodeKind| match it {
        NodeKind::MapEntry(map) => map.params.iter().any(|it| it.symbol == *symbol),
        NodeKind::NestedSdfg(it) => binds(&it.sdfg.region, symbol),
        NodeKind::Access(_) | NodeKind::MapExit { .. } | NodeKind::Tasklet(_) => false,
    };
    region.blocks.iter().any(|block| {
        let is_here = match &block.kind {
            BlockKind::State(state) => state.nodes.iter().any(|(_, it)| in_node(&it.kind)),
            BlockKind::Loop(it) => it.variable == *symbol,
            BlockKind::While(_) | BlockKind::Conditional(_) => false,
        };
        is_here || block.kind.regions().any(|it| binds(it, symbol))
    })
}

fn reached_from(followers: &[Vec<usize>], from: usize) -> Vec<bool> {
    let (mut seen, mut open) = (vec![false; followers.len()], vec![from]);
    while let Some(at) = open.pop() {
        for &next in &followers[at] {
            if !std::mem::replace(&mut seen[next], true) {
                open.push(next);
            }
        }
    }
    seen
}

/// One symbol in the place of another.
struct Renaming<'s> {
    from: &'s Symbol,
    to: &'s Symbol,
    n_found: usize,
}

impl Renaming<'_> {
    fn sum(&mut self, sum: &mut Affine) {
        if sum.factor(self.from) != 0 {
            self.n_found += 1;
            *sum = sum.substituted(self.from, &Affine::symbol(self.to));
        }
    }

    fn size(&mut self, size: &mut Size) {
        match size {
            Size::Affine(sum) => self.sum(sum),
            Size::Min(parts) | Size::Max(parts) => parts.iter_mut().for_each(|it| self.size(it)),
        }
    }

    fn range(&mut self, range: &mut Range) {
        self.size(&mut range.start);
        self.size(&mut range.end);
    }
}

impl Range {
    /// The same with one symbol in the place of another.
    #[must_use]
    pub fn with_symbol(&self, from: &Symbol, to: &Symbol) -> Self {
        let mut range = self.clone();
        Renaming { from, to, n_found: 0 }.range(&mut range);
        range
    }
}
