//! Where the containers of a graph are read and written.

use crate::entity::Handle;
use crate::sdfg::nodes::{
    BlockKind, Condition, Container, ControlFlowRegion, MapParam, Node, NodeKind, Operand, Range, Sdfg, State,
};
use crate::sdfg::subset::propagated_over;

/// A statement that reads or writes elements of a container, or something else that touches it.
#[derive(Debug)]
pub(super) struct Touch {
    pub(super) data: Handle<Container>,
    pub(super) is_write: bool,
    /// Whether a nested graph, a condition or an index of run time touches it: nobody says where.
    pub(super) is_whole: bool,
    /// In all iterations of what is around.
    pub(super) subset: Vec<Range>,
    /// Whether a branch or a `while` is around.
    pub(super) is_conditional: bool,
    /// Whether a loop whose iterations run in order is around.
    pub(super) is_in_loop: bool,
    /// The block of the outermost region that holds it, in order, and the node where that is a state.
    block: usize,
    node: Option<Handle<Node>>,
}

impl Touch {
    /// Whether this has happened wherever the other one happens.
    pub(super) fn is_before(&self, other: &Touch, sdfg: &Sdfg) -> bool {
        if self.block != other.block {
            return self.block < other.block;
        }
        let block = sdfg.region.in_sequence().nth(self.block);
        match (block.map(|it| &it.kind), self.node, other.node) {
            (Some(BlockKind::State(state)), Some(one), Some(other)) => state.reaches(one, other),
            _ => false,
        }
    }
}

/// Everything that happens in a graph.
pub(super) fn touches(sdfg: &Sdfg) -> Vec<Touch> {
    let mut walk = Walk { found: Vec::new(), around: Vec::new(), is_conditional: false, block: 0 };
    for (number, block) in sdfg.region.in_sequence().enumerate() {
        walk.block = number;
        walk.block_of(&block.kind);
    }
    walk.found
}

struct Walk {
    found: Vec<Touch>,
    /// The loops around, from outside in.
    around: Vec<MapParam>,
    is_conditional: bool,
    block: usize,
}

impl Walk {
    fn region(&mut self, region: &ControlFlowRegion) {
        region.blocks.iter().for_each(|it| self.block_of(&it.kind));
    }

    fn block_of(&mut self, block: &BlockKind) {
        let outer = self.is_conditional;
        match block {
            BlockKind::State(state) => self.state(state),
            BlockKind::Loop(it) => {
                let range = Range::new(it.start.clone(), it.end.clone());
                let (symbol, axis) = (it.variable.clone(), it.axis);
                self.around.push(MapParam { symbol, axis, range, step: it.step });
                self.region(&it.body);
                self.around.pop();
            }
            BlockKind::While(it) => {
                self.condition(&it.condition);
                self.is_conditional = true;
                self.region(&it.body);
            }
            BlockKind::Conditional(it) => {
                it.branches.iter().for_each(|it| self.condition(&it.condition));
                self.is_conditional = true;
                it.branches.iter().for_each(|it| self.region(&it.body));
                it.otherwise.iter().for_each(|it| self.region(it));
            }
        }
        self.is_conditional = outer;
    }

    fn condition(&mut self, condition: &Condition) {
        condition.accesses(&mut |operand| {
            if let Operand::Element { container, .. } = operand {
                self.touch(*container, false, None, Vec::new());
            }
        });
    }

    fn state(&mut self, state: &State) {
        for edge in &state.edges {
            let Some(memlet) = &edge.memlet else { continue };
            for (node, is_write) in [(edge.source, true), (edge.target, false)] {
                match &state.nodes[node].kind {
                    NodeKind::Tasklet(_) if memlet.as_element().is_some() => {
                        let mut params = self.around.clone();
                        params.extend(maps_around(state, node));
                        let subset = propagated_over(&memlet.subset, &params);
                        self.touch(memlet.data, is_write, Some(node), subset);
                    }
                    NodeKind::Tasklet(_) | NodeKind::NestedSdfg(_) => {
                        self.touch(memlet.data, is_write, None, Vec::new());
                    }
                    NodeKind::Access(_) | NodeKind::MapEntry(_) | NodeKind::MapExit { .. } => {}
                }
            }
        }
    }

    fn touch(
        &mut self,
        data: Handle<Container>,
        is_write: bool,
        node: Option<Handle<Node>>,
        subset: Vec<Range>,
    ) {
        self.found.push(Touch {
            data,
            is_write,
            is_whole: node.is_none(),
            subset,
            is_conditional: self.is_conditional,
            is_in_loop: !self.around.is_empty(),
            block: self.block,
            node,
        });
    }
}

/// The parameters of the maps around a node, from outside in.
fn maps_around(state: &State, node: Handle<Node>) -> Vec<MapParam> {
    let scopes = std::iter::successors(state.nodes[node].scope, |it| state.nodes[*it].scope);
    let mut maps: Vec<&[MapParam]> = scopes
        .filter_map(|it| match &state.nodes[it].kind {
            NodeKind::MapEntry(map) => Some(map.params.as_slice()),
            _ => None,
        })
        .collect();
    maps.reverse();
    maps.concat()
}
