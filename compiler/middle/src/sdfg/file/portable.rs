//! Brings a graph into the part of the format that all its readers understand alike.
//!
//! A condition between blocks is a C++ expression for some readers and Python for others. They agree on
//! comparisons of single values and numbers. A statement before evaluates any other condition. It also
//! evaluates elements of arrays, since not all readers look for the strides of an array in conditions.

use crate::diag::{Origin, Span};
use crate::entity::{Arena, Handle};
use crate::expr::{Expr, ExprKind};
use crate::sdfg::nodes::{
    Block, BlockKind, Condition, Connector, Container, ContainerKind, ControlFlowRegion, Edge, Input, Memlet,
    Node, NodeKind, Operand, Sdfg, State, Storage, Strides, Tasklet,
};
use crate::space::AxisSet;
use crate::types::{BinaryOp, DType, UnaryOp, Value};

/// The same graph with plain conditions only.
#[must_use]
pub(super) fn portable(sdfg: &Sdfg) -> Sdfg {
    let mut sdfg = sdfg.clone();
    let region = std::mem::take(&mut sdfg.region);
    let mut graph = Graph { taken: names(&sdfg), containers: &mut sdfg.containers, span: sdfg.span };
    sdfg.region = graph.region(region);
    sdfg
}

/// The names that no new container may have.
fn names(sdfg: &Sdfg) -> Vec<String> {
    let symbols = sdfg.symbols.iter().map(|it| it.name().to_owned());
    sdfg.containers.iter().map(|(_, it)| it.name.clone()).chain(symbols).collect()
}

struct Graph<'g> {
    taken: Vec<String>,
    containers: &'g mut Arena<Container>,
    span: Span,
}

impl Graph<'_> {
    fn region(&mut self, mut region: ControlFlowRegion) -> ControlFlowRegion {
        let mut all = Vec::new();
        for (block, is_behind_barrier) in region.take_sequence() {
            let mut blocks = Vec::new();
            self.block(block, &mut blocks);
            let blocks = blocks.into_iter().enumerate();
            all.extend(blocks.map(|(at, block)| (block, at == 0 && is_behind_barrier)));
        }
        ControlFlowRegion::with_barriers(all)
    }

    fn block(&mut self, mut block: Block, blocks: &mut Vec<Block>) {
        let label = block.label.clone();
        match &mut block.kind {
            BlockKind::State(state) => {
                for (_, node) in state.nodes.iter_mut() {
                    if let NodeKind::NestedSdfg(nested) = &mut node.kind {
                        nested.sdfg = portable(&nested.sdfg);
                    }
                }
            }
            BlockKind::Loop(it) => it.body = self.region(std::mem::take(&mut it.body)),
            BlockKind::While(it) => {
                it.body = self.region(std::mem::take(&mut it.body));
                if !is_plain(&it.condition) {
                    let holds = self.flag(&label);
                    let test = std::mem::replace(&mut it.condition, reads(holds, it.origin.span()));
                    let state = |graph: &Self| BlockKind::State(graph.test(&test, holds, &it.origin));
                    blocks.push(Block { label: format!("{label}_test"), kind: state(self) });
                    let mut inside = std::mem::take(&mut it.body).blocks;
                    inside.push(Block { label: format!("{label}_test_again"), kind: state(self) });
                    it.body = ControlFlowRegion::sequence(inside);
                }
            }
            BlockKind::Conditional(it) => {
                for (at, branch) in it.branches.iter_mut().enumerate() {
                    branch.body = self.region(std::mem::take(&mut branch.body));
                    if !is_plain(&branch.condition) {
                        let label = format!("{label}_{at}");
                        let holds = self.flag(&label);
                        let test =
                            std::mem::replace(&mut branch.condition, reads(holds, branch.origin.span()));
                        let state = self.test(&test, holds, &branch.origin);
                        blocks.push(Block { label: format!("{label}_test"), kind: BlockKind::State(state) });
                    }
                }
                it.otherwise = it.otherwise.take().map(|it| self.region(it));
            }
        }
        blocks.push(block);
    }

    /// A container for whether a condition holds.
    fn flag(&mut self, label: &str) -> Handle<Container> {
        let name = self.free_name(&format!("{label}_holds"));
        self.taken.push(name.clone());
        self.containers.push(Container {
            name,
            dtype: DType::Bool,
            kind: ContainerKind::Local,
            is_transient: true,
            axes: AxisSet::of(&[]),
            shape: Vec::new(),
            shift: Vec::new(),
            strides: Strides::Packed,
            storage: Storage::Register,
            ring: None,
            place: None,
            span: self.span,
        })
    }

    fn free_name(&self, wanted: &str) -> String {
        let numbered = (1..).map(|number| format!("{wanted}_{number}"));
        let mut all = std::iter::once(wanted.to_owned()).chain(numbered);
        all.find(|it| !self.taken.contains(it)).unwrap_or_default()
    }

    /// The state that evaluates a condition.
    fn test(&self, condition: &Condition, holds: Handle<Container>, origin: &Origin) -> State {
        let mut state = State::default();
        let mut inputs: Vec<Connector> = Vec::new();
        let mut moved: Vec<Memlet> = Vec::new();
        let code = condition.map_accesses(&mut |operand| match operand {
            Operand::Symbolic(sum) => Input::Symbolic(sum.clone()),
            Operand::Element { container, index } => {
                let memlet = Memlet::element(*container, index);
                let known = moved.iter().position(|it| *it == memlet);
                Input::Connector(known.unwrap_or_else(|| {
                    let Container { name, dtype, .. } = &self.containers[*container];
                    let name = self.free_name(&format!("{name}_in_{}", moved.len()));
                    inputs.push(Connector { name, dtype: *dtype });
                    moved.push(memlet);
                    moved.len() - 1
                }))
            }
        });
        let output = Connector { name: self.free_name("holds_out"), dtype: DType::Bool };
        let names: Vec<String> = inputs.iter().map(|it| it.name.clone()).collect();
        let connector = output.name.clone();
        let tasklet = Tasklet {
            inputs,
            found: Vec::new(),
            output,
            output_at: Vec::new(),
            code,
            origin: origin.clone(),
        };
        let node = state.nodes.push(Node { kind: NodeKind::Tasklet(tasklet), scope: None });
        let mut sources: Vec<(Handle<Container>, Handle<Node>)> = Vec::new();
        for (name, memlet) in names.into_iter().zip(moved) {
            let known = sources.iter().find(|it| it.0 == memlet.data).map(|it| it.1);
            let source = known.unwrap_or_else(|| {
                let source = state.nodes.push(Node { kind: NodeKind::Access(memlet.data), scope: None });
                sources.push((memlet.data, source));
                source
            });
            state.edges.push(Edge {
                source,
                source_connector: None,
                target: node,
                target_connector: Some(name),
                memlet: Some(memlet),
            });
        }
        let target = state.nodes.push(Node { kind: NodeKind::Access(holds), scope: None });
        state.edges.push(Edge {
            source: node,
            source_connector: Some(connector),
            target,
            target_connector: None,
            memlet: Some(Memlet::element(holds, &[])),
        });
        state
    }
}

fn reads(container: Handle<Container>, span: Span) -> Condition {
    let kind = ExprKind::Access(Operand::Element { container, index: Vec::new() });
    Expr { kind, dtype: DType::Bool, span }
}

/// Whether a condition compares single values, symbols and numbers with each other, and joins comparisons.
fn is_plain(condition: &Condition) -> bool {
    match &condition.kind {
        ExprKind::Access(Operand::Symbolic(_)) => true,
        ExprKind::Access(Operand::Element { index, .. }) => index.is_empty(),
        ExprKind::Literal(value) => !value.dtype().is_float() || value.as_f64().is_finite(),
        ExprKind::Unary(UnaryOp::Not, operand) => is_plain(operand),
        ExprKind::Binary(op, left, right) => {
            let joins = matches!(op, BinaryOp::And | BinaryOp::Or);
            (joins || op.is_comparison()) && is_plain(left) && is_plain(right)
        }
        _ => false,
    }
}

/// A plain condition with numbers of the widest type: all readers know that, and no comparison changes.
pub(super) fn with_wide_numbers(condition: &Condition) -> Condition {
    fn widen(expr: &mut Condition) {
        if let ExprKind::Literal(value) = &mut expr.kind {
            *value = match value.dtype() {
                DType::Bool => *value,
                it if it.is_float() => Value::Float64(value.as_f64()),
                _ => Value::Int64(value.as_i64()),
            };
        }
        expr.operands_mut().into_iter().for_each(widen);
    }
    let mut wide = condition.clone();
    widen(&mut wide);
    wide
}
