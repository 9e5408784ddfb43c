//! The one place that knows the shape of a graph: its nesting, its order, and its accesses.
//!
//! Blocks hold regions and conditions, states hold nodes and edges. Every search in a graph asks here: for
//! states, conditions, nested graphs, or accesses of containers, each with its [`AccessRole`].
//!
//! ```text
//! n3: b[i, j, k] = a[i, j, {n[i, j]}]
//! ```
//!
//! is three accesses of the tasklet `n3`, in the order of its edges: `a` is read, `n` is an index, `b` is written.

use std::collections::{BTreeMap, BTreeSet};

use super::nodes::{
    Block, BlockKind, Condition, ControlFlowRegion, Edge, Input, Memlet, NestedSdfg, Node, NodeKind, Sdfg,
    State, Tasklet,
};
use crate::diag::Origin;
use crate::entity::Handle;

/// The purpose of an access to a container.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum AccessRole {
    /// A statement computes with it, or a nested graph gets it.
    Read,
    /// Control flow depends on it.
    Condition,
    /// It only selects the element of another container.
    Index,
    Write,
}

impl AccessRole {
    #[must_use]
    pub fn is_write(self) -> bool {
        match self {
            AccessRole::Write => true,
            AccessRole::Read | AccessRole::Condition | AccessRole::Index => false,
        }
    }
}

/// An access at the end of an edge.
#[derive(Clone, Copy, Debug)]
pub struct EdgeAccess<'s> {
    /// The tasklet or nested graph.
    pub node: Handle<Node>,
    pub role: AccessRole,
    /// The source of the edge: the node itself, for a write.
    pub source: Handle<Node>,
    pub memlet: &'s Memlet,
}

impl BlockKind {
    /// The regions right inside, in the order in which they may run.
    pub fn regions(&self) -> impl Iterator<Item = &ControlFlowRegion> {
        let (first, branches, last) = match self {
            BlockKind::State(_) => (None, &[][..], None),
            BlockKind::Loop(it) => (Some(&it.body), &[][..], None),
            BlockKind::While(it) => (Some(&it.body), &[][..], None),
            BlockKind::Conditional(it) => (None, it.branches.as_slice(), it.otherwise.as_ref()),
        };
        first.into_iter().chain(branches.iter().map(|it| &it.body)).chain(last)
    }

    /// The same, to be changed.
    pub fn regions_mut(&mut self) -> impl Iterator<Item = &mut ControlFlowRegion> {
        let (first, branches, last) = match self {
            BlockKind::State(_) => (None, &mut [][..], None),
            BlockKind::Loop(it) => (Some(&mut it.body), &mut [][..], None),
            BlockKind::While(it) => (Some(&mut it.body), &mut [][..], None),
            BlockKind::Conditional(it) => (None, it.branches.as_mut_slice(), it.otherwise.as_mut()),
        };
        first.into_iter().chain(branches.iter_mut().map(|it| &mut it.body)).chain(last)
    }

    /// The conditions that it evaluates itself.
    pub fn conditions(&self) -> impl Iterator<Item = &Condition> {
        let (first, branches) = match self {
            BlockKind::State(_) | BlockKind::Loop(_) => (None, &[][..]),
            BlockKind::While(it) => (Some(&it.condition), &[][..]),
            BlockKind::Conditional(it) => (None, it.branches.as_slice()),
        };
        first.into_iter().chain(branches.iter().map(|it| &it.condition))
    }

    /// The same, to be changed.
    pub fn conditions_mut(&mut self) -> impl Iterator<Item = &mut Condition> {
        let (first, branches) = match self {
            BlockKind::State(_) | BlockKind::Loop(_) => (None, &mut [][..]),
            BlockKind::While(it) => (Some(&mut it.condition), &mut [][..]),
            BlockKind::Conditional(it) => (None, it.branches.as_mut_slice()),
        };
        first.into_iter().chain(branches.iter_mut().map(|it| &mut it.condition))
    }
}

impl ControlFlowRegion {
    /// Calls `each` for every state, those in loops and branches too, but not those of nested graphs.
    pub fn each_state<'a>(&'a self, each: &mut dyn FnMut(&'a State)) {
        for block in &self.blocks {
            if let BlockKind::State(state) = &block.kind {
                each(state);
            }
            block.kind.regions().for_each(|it| it.each_state(each));
        }
    }

    /// The same, to be changed.
    pub fn each_state_mut(&mut self, each: &mut dyn FnMut(&mut State)) {
        for block in &mut self.blocks {
            if let BlockKind::State(state) = &mut block.kind {
                each(state);
            }
            block.kind.regions_mut().for_each(|it| it.each_state_mut(each));
        }
    }

    /// Calls `each` for every condition between blocks.
    pub fn each_condition<'a>(&'a self, each: &mut dyn FnMut(&'a Condition)) {
        for block in &self.blocks {
            block.kind.conditions().for_each(&mut *each);
            block.kind.regions().for_each(|it| it.each_condition(each));
        }
    }

    /// The same, to be changed.
    pub fn each_condition_mut(&mut self, each: &mut dyn FnMut(&mut Condition)) {
        for block in &mut self.blocks {
            block.kind.conditions_mut().for_each(&mut *each);
            block.kind.regions_mut().for_each(|it| it.each_condition_mut(each));
        }
    }

    /// Whether something in it, or in graphs inside, may have to end the run: a `while`, or an index of run time.
    #[must_use]
    pub fn may_end(&self) -> bool {
        self.blocks.iter().any(|block| match &block.kind {
            BlockKind::State(state) => state.nodes.iter().any(|(_, it)| it.kind.may_end()),
            BlockKind::While(_) => true,
            BlockKind::Loop(_) | BlockKind::Conditional(_) => block.kind.regions().any(Self::may_end),
        })
    }

    fn n_nodes(&self) -> usize {
        let of_block = |block: &Block| match &block.kind {
            BlockKind::State(state) => {
                let inside = state.nodes.iter().filter_map(|(_, it)| it.kind.nested());
                state.nodes.len() + inside.map(|it| it.sdfg.n_nodes()).sum::<usize>()
            }
            BlockKind::Loop(_) | BlockKind::While(_) | BlockKind::Conditional(_) => {
                block.kind.regions().map(Self::n_nodes).sum()
            }
        };
        self.blocks.iter().map(of_block).sum()
    }

    /// The positions of the blocks in the order in which they run, as far as these are one chain.
    pub fn order(&self) -> impl Iterator<Item = usize> {
        let first = (!self.blocks.is_empty()).then_some(0);
        // Where the edges are in the order of the blocks, each stands at its place.
        let next = |at: &usize| {
            let at_its_place = self.edges.get(*at).filter(|it| it.source == *at);
            at_its_place.or_else(|| self.edges.iter().find(|it| it.source == *at)).map(|it| it.target)
        };
        std::iter::successors(first, next).take_while(|&at| at < self.blocks.len()).take(self.blocks.len())
    }

    /// The blocks in that order.
    pub fn in_sequence(&self) -> impl Iterator<Item = &Block> {
        self.order().map(|at| &self.blocks[at])
    }

    /// Takes the blocks out, in that order, each with whether a barrier stands before it.
    pub fn take_sequence(&mut self) -> impl Iterator<Item = (Block, bool)> + use<> {
        let order: Vec<(usize, bool)> = self.order().map(|at| (at, self.is_behind_barrier(at))).collect();
        let mut blocks: Vec<Option<Block>> = std::mem::take(&mut self.blocks).into_iter().map(Some).collect();
        order.into_iter().filter_map(move |(at, is_behind)| Some((blocks[at].take()?, is_behind)))
    }

    /// Whether a barrier stands before the block at a position.
    #[must_use]
    pub fn is_behind_barrier(&self, at: usize) -> bool {
        self.edges.iter().any(|it| it.target == at && it.is_barrier)
    }
}

impl Sdfg {
    /// How many nodes all states have together, those of nested graphs too.
    #[must_use]
    pub fn n_nodes(&self) -> usize {
        self.region.n_nodes()
    }

    /// Calls `each` for every graph right inside of a node of this one.
    pub fn each_inner<'a>(&'a self, each: &mut dyn FnMut(&'a NestedSdfg)) {
        self.region.each_state(&mut |state| {
            state.nodes.iter().filter_map(|(_, it)| it.kind.nested()).for_each(&mut *each);
        });
    }

    /// The same, to be changed.
    pub fn each_inner_mut(&mut self, each: &mut dyn FnMut(&mut NestedSdfg)) {
        self.region.each_state_mut(&mut |state| {
            for (_, node) in state.nodes.iter_mut() {
                if let NodeKind::NestedSdfg(nested) = &mut node.kind {
                    each(nested);
                }
            }
        });
    }

    /// Calls `each` for every nested graph, outermost first.
    pub fn each_nested_mut(&mut self, each: &mut dyn FnMut(&mut NestedSdfg)) {
        self.each_inner_mut(&mut |nested| {
            each(nested);
            nested.sdfg.each_nested_mut(each);
        });
    }

    /// Calls `each` for the origin of every statement, those of nested graphs too.
    pub fn each_origin<'a>(&'a self, each: &mut dyn FnMut(&'a Origin)) {
        self.region.each_state(&mut |state| {
            for (_, node) in state.nodes.iter() {
                node.kind.each_origin(each);
            }
        });
    }
}

impl NodeKind {
    /// The statement, where it is one.
    #[must_use]
    pub fn tasklet(&self) -> Option<&Tasklet> {
        match self {
            NodeKind::Tasklet(it) => Some(it),
            NodeKind::Access(_)
            | NodeKind::MapEntry(_)
            | NodeKind::MapExit { .. }
            | NodeKind::NestedSdfg(_) => None,
        }
    }

    /// The nested graph, where it is one.
    #[must_use]
    pub fn nested(&self) -> Option<&NestedSdfg> {
        match self {
            NodeKind::NestedSdfg(it) => Some(it),
            NodeKind::Access(_) | NodeKind::MapEntry(_) | NodeKind::MapExit { .. } | NodeKind::Tasklet(_) => {
                None
            }
        }
    }

    /// Whether it may have to end the run.
    #[must_use]
    pub fn may_end(&self) -> bool {
        match self {
            NodeKind::Tasklet(it) => !it.found.is_empty(),
            NodeKind::NestedSdfg(it) => it.sdfg.region.may_end(),
            NodeKind::Access(_) | NodeKind::MapEntry(_) | NodeKind::MapExit { .. } => false,
        }
    }

    /// Calls `each` for the origins of the statements that it carries out.
    pub fn each_origin<'a>(&'a self, each: &mut dyn FnMut(&'a Origin)) {
        match self {
            NodeKind::Tasklet(it) => each(&it.origin),
            NodeKind::NestedSdfg(it) => it.sdfg.each_origin(each),
            NodeKind::Access(_) | NodeKind::MapEntry(_) | NodeKind::MapExit { .. } => {}
        }
    }

    /// The role of an edge that ends here at `connector`; `None` for nodes that only hand its data on.
    pub fn role_of_input(&self, connector: Option<&str>) -> Option<AccessRole> {
        match self {
            NodeKind::Tasklet(it) => Some(it.role_of_input(connector)),
            NodeKind::NestedSdfg(_) => Some(AccessRole::Read),
            NodeKind::Access(_) | NodeKind::MapEntry(_) | NodeKind::MapExit { .. } => None,
        }
    }

    /// The same for an edge that starts here.
    pub fn role_of_output(&self) -> Option<AccessRole> {
        match self {
            NodeKind::Tasklet(_) | NodeKind::NestedSdfg(_) => Some(AccessRole::Write),
            NodeKind::Access(_) | NodeKind::MapEntry(_) | NodeKind::MapExit { .. } => None,
        }
    }
}

impl Tasklet {
    fn role_of_input(&self, connector: Option<&str>) -> AccessRole {
        let mut is_value = false;
        self.code.accesses(&mut |input| match input {
            Input::Connector(at) | Input::Element { connector: at, .. } => {
                is_value |= self.inputs.get(*at).is_some_and(|it| Some(it.name.as_str()) == connector);
            }
            Input::Symbolic(_) => {}
        });
        if is_value { AccessRole::Read } else { AccessRole::Index }
    }
}

impl State {
    /// The edges that end at `node`.
    pub fn edges_into(&self, node: Handle<Node>) -> impl Iterator<Item = &Edge> {
        self.edges.ending_at(node)
    }

    /// The edges that start at `node`.
    pub fn edges_out_of(&self, node: Handle<Node>) -> impl Iterator<Item = &Edge> {
        self.edges.starting_at(node)
    }

    /// The nodes right inside `scope`, each after those that it depends on, else
    /// in order of creation; `None` where the edges run in a circle.
    #[must_use]
    pub fn in_order(&self, scope: Option<Handle<Node>>) -> Option<Vec<Handle<Node>>> {
        self.in_order_by(scope, |node| (!matches!(self.nodes[node].kind, NodeKind::Access(_)), node))
    }

    /// The same, where of those that could be next the one of least `rank` comes first.
    #[must_use]
    pub fn in_order_by<K: Ord>(
        &self,
        scope: Option<Handle<Node>>,
        rank: impl Fn(Handle<Node>) -> K,
    ) -> Option<Vec<Handle<Node>>> {
        // An edge to or from an inner map ends at its entry or exit, which stand in this scope.
        let is_member = |it: Handle<Node>| self.nodes[it].scope == scope;
        let members: Vec<_> = self.nodes.handles().filter(|&it| is_member(it)).collect();
        let mut exits = BTreeMap::new();
        let mut waits_for = Vec::with_capacity(members.len());
        for &node in &members {
            let mut count = self.edges_into(node).filter(|it| is_member(it.source)).count();
            if let NodeKind::MapExit { entry } = self.nodes[node].kind {
                exits.insert(entry, node);
                count += 1;
            }
            waits_for.push(count);
        }
        let ranked = |node: Handle<Node>| (rank(node), node);
        let free = members.iter().zip(&waits_for).filter(|(_, count)| **count == 0);
        let mut ready: BTreeSet<_> = free.map(|(&it, _)| ranked(it)).collect();
        let mut order = Vec::with_capacity(members.len());
        while let Some((_, node)) = ready.pop_first() {
            order.push(node);
            let followers = self.edges_out_of(node).map(|it| it.target).filter(|&it| is_member(it));
            for next in followers.chain(exits.get(&node).copied()) {
                let Ok(at) = members.binary_search(&next) else { continue };
                waits_for[at] -= 1;
                if waits_for[at] == 0 {
                    ready.insert(ranked(next));
                }
            }
        }
        (order.len() == members.len()).then_some(order)
    }

    /// Calls `each` for every access of a container by a tasklet or a nested graph, in the order of the
    /// edges. At one edge, the write comes before the read.
    pub fn each_access<'s>(&'s self, each: &mut dyn FnMut(EdgeAccess<'s>)) {
        for edge in &self.edges {
            let Some(memlet) = &edge.memlet else { continue };
            let out_of = self.nodes[edge.source].kind.role_of_output();
            let into = self.nodes[edge.target].kind.role_of_input(edge.target_connector.as_deref());
            for (node, role) in [(edge.source, out_of), (edge.target, into)] {
                if let Some(role) = role {
                    each(EdgeAccess { node, role, source: edge.source, memlet });
                }
            }
        }
    }

    /// The entries of the maps around a node, from inside out.
    pub fn scopes_around(&self, node: Handle<Node>) -> impl Iterator<Item = Handle<Node>> {
        let outer = |it: &Handle<Node>| self.nodes[*it].scope;
        std::iter::successors(outer(&node), outer)
    }
}
