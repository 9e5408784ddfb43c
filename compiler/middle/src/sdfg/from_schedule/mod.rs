//! Lowers the schedule tree: loops become maps and loop regions, statements become tasklets.
//!
//! Statements share a state as long as data flow alone orders them. A map holds a nested SDFG where its body
//! needs more than one state, or control flow. That graph gets whole containers and indexes them with the
//! parameters of the maps around it.

mod dataflow;
mod effects;

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use self::dataflow::StateBuilder;
use self::effects::{Effects, ElementOrder, Memo, SubtreeAccesses, handed_on};
use super::nodes::{
    Block, BlockKind, Branch, Condition, ConditionalBlock, Container, ContainerKind, ControlFlowRegion,
    GpuMemory, LoopOrder, LoopRegion, NestedSdfg, Operand, Sdfg, State, Storage, Strides, WhileLoop,
};
use crate::diag::Span;
use crate::entity::{Arena, Handle};
use crate::expr::{Expr, ExprKind};
use crate::schedule::analysis::accesses::Accesses;
use crate::schedule::nodes as schedule;
use crate::schedule::nodes::{Access, If, Loop, Node, Order as LoopKind, RegionScope, Tree, Where};
use crate::schedule::visit::numbering::{Numbered, NumberedBlock, Numbering};
use crate::space::{Affine, Axis, Level, Size, Symbol};
use crate::types::{BinaryOp, DType};

/// Lowers a whole schedule tree.
#[must_use]
pub fn lower(tree: &Tree) -> Sdfg {
    let uses = SubtreeAccesses::of_all(&tree.children);
    let owners = tree.containers.iter().filter_map(|(_, it)| match &it.storage {
        schedule::Storage::Private(variable) => Some(variable.clone()),
        schedule::Storage::Caller | schedule::Storage::Heap | schedule::Storage::Register => None,
    });
    let owners = owners.collect();
    let context = Context {
        tree,
        numbering: Numbering::of(tree),
        uses,
        handed_on: handed_on(tree),
        owners,
        effects: Memo::default(),
        merged: Memo::default(),
        uses_of: Memo::default(),
        one_scopes: Memo::default(),
    };
    let mut graph = Graph::new(&context, Vec::new());
    let root = context.numbering.root(tree);
    let own = context.own(root);
    // Arguments that no statement touches stay: they are part of the signature.
    for (handle, container) in tree.containers.iter() {
        let is_argument =
            matches!(container.kind, schedule::ContainerKind::Field { .. } | schedule::ContainerKind::Scalar);
        if is_argument || own.contains(&handle) {
            graph.declare(handle, !is_argument);
        }
    }
    context.registers_outside_maps(&tree.children, &mut graph.taken);
    let region = graph.region(root);
    let symbols = Axis::ALL.iter().map(|axis| Symbol::new(axis.name())).collect();
    graph.finish(tree.name.clone(), tree.span, symbols, region)
}

/// The context of the whole lowering.
struct Context<'t> {
    tree: &'t Tree,
    numbering: Numbering,
    /// The whole tree.
    uses: SubtreeAccesses,
    /// The registers whose value may come from outside of the loop that reads it.
    handed_on: BTreeSet<Handle<schedule::Container>>,
    /// The variables of the loops that have arrays of their own in each iteration.
    owners: BTreeSet<Symbol>,
    effects: Memo<Rc<Effects>>,
    /// The same with one subset per container.
    merged: Memo<Rc<Effects>>,
    uses_of: Memo<Rc<SubtreeAccesses>>,
    /// Whether one scope of data flow can hold the body of a loop.
    one_scopes: Memo<bool>,
}

impl<'t> Context<'t> {
    /// The effects of a node of a state, as data flow around it sees them.
    fn effects(&self, node: Numbered<'t>) -> Rc<Effects> {
        match node.it {
            Node::Assign(_) => Effects::of(self, node),
            Node::Loop(_)
            | Node::If(_)
            | Node::While(_)
            | Node::Region(_)
            | Node::Where(_)
            | Node::Barrier => {
                let merged = || Rc::new(Effects::of(self, node).merged(self.tree));
                self.merged.get_or(node.handle, merged)
            }
        }
    }

    /// The uses in all iterations of a loop.
    fn uses_of(&self, it: Numbered<'t, Loop>) -> Rc<SubtreeAccesses> {
        self.uses_of.get_or(it.handle, || Rc::new(SubtreeAccesses::of_loop(&it)))
    }

    /// Whether one scope of data flow can hold the body of a loop.
    ///
    /// It cannot where an array lives in each iteration: that takes a graph of its own.
    fn is_one_scope(&self, it: Numbered<'t, Loop>) -> bool {
        let is_one = || {
            let mut order = ElementOrder::default();
            !self.owners.contains(&it.variable)
                && self
                    .numbering
                    .nodes(it.block(&it.it.children))
                    .all(|node| is_dataflow(&node) && order.admit(self.effects(node)))
        };
        self.one_scopes.get_or(it.handle, is_one)
    }

    /// The registers that statements right in a block use, and that no loop takes from outside.
    fn registers_in(&self, nodes: &[Node]) -> Vec<Handle<schedule::Container>> {
        let statements = nodes.iter().filter(|it| !matches!(it, Node::Loop(_)));
        let touched: BTreeSet<_> =
            statements.flat_map(|it| Accesses::of(std::slice::from_ref(it)).counts().into_keys()).collect();
        let is_register = |it: &Handle<schedule::Container>| match &self.tree.containers[*it].storage {
            schedule::Storage::Register => !self.handed_on.contains(it),
            schedule::Storage::Private(_) | schedule::Storage::Caller | schedule::Storage::Heap => false,
        };
        touched.into_iter().filter(is_register).collect()
    }

    /// The same for all nodes that are not inside of a parallel loop.
    fn registers_outside_maps(&self, nodes: &[Node], found: &mut BTreeSet<Handle<schedule::Container>>) {
        found.extend(self.registers_in(nodes));
        for node in nodes {
            if let Node::Loop(it) = node
                && !is_parallel(it)
            {
                self.registers_outside_maps(&it.children, found);
            }
        }
    }

    /// The containers that a graph of these nodes has: all that they touch, without those that belong to a
    /// graph inside.
    fn own(&self, nodes: NumberedBlock<'t>) -> BTreeSet<Handle<schedule::Container>> {
        let mut own = BTreeSet::new();
        self.add_own(nodes, &mut own);
        own
    }

    fn add_own(&self, nodes: NumberedBlock<'t>, own: &mut BTreeSet<Handle<schedule::Container>>) {
        for node in self.numbering.nodes(nodes) {
            node.each_own_access(&mut |_, access| {
                own.insert(access.container);
            });
            match node.it {
                Node::Loop(it) if !is_parallel(it) || self.is_one_scope(node.as_part(it)) => {
                    self.add_own(node.block(&it.children), own);
                }
                Node::Loop(it) => {
                    let inside = self.uses_of(node.as_part(it));
                    let is_private = |it| self.uses.is_private(self, it, &inside);
                    own.extend(inside.containers().filter(|&it| !is_private(it)));
                }
                Node::Region(it) => self.add_own(node.block(&it.children), own),
                Node::Where(it) => self.add_own(node.block(&it.children), own),
                Node::If(it) => {
                    let then = node.block(&it.then);
                    self.add_own(then, own);
                    self.add_own(self.numbering.block_behind(then, &it.otherwise), own);
                }
                Node::While(it) => self.add_own(node.block(&it.body), own),
                Node::Assign(_) | Node::Barrier => {}
            }
        }
    }
}

/// The blocks of a region in the making, each with whether a barrier stands before it.
#[derive(Default)]
struct Blocks {
    all: Vec<(Block, bool)>,
    /// Whether a barrier stands before the next one.
    is_behind_barrier: bool,
}

impl Blocks {
    fn push(&mut self, block: Block) {
        self.all.push((block, std::mem::take(&mut self.is_behind_barrier)));
    }
}

/// One graph in the making.
struct Graph<'c> {
    context: &'c Context<'c>,
    containers: Arena<Container>,
    /// The names of the containers.
    names: BTreeSet<String>,
    /// The container here for each container of the tree, inside of the scope at hand.
    declared: BTreeMap<Handle<schedule::Container>, Handle<Container>>,
    /// The registers that some scope of this graph uses already.
    taken: BTreeSet<Handle<schedule::Container>>,
    /// The variables of the loops around, from outside in.
    variables: Vec<(Axis, Symbol)>,
    /// The number of those that the graph gets from outside.
    given_variables: usize,
    labels: BTreeMap<&'static str, usize>,
}

impl<'c> Graph<'c> {
    fn new(context: &'c Context<'c>, variables: Vec<(Axis, Symbol)>) -> Self {
        let given_variables = variables.len();
        let (containers, declared, labels) = (Arena::default(), BTreeMap::new(), BTreeMap::new());
        let names = BTreeSet::new();
        let taken = BTreeSet::new();
        Self { context, containers, names, declared, taken, variables, given_variables, labels }
    }

    fn finish(self, name: String, span: Span, mut symbols: Vec<Symbol>, region: ControlFlowRegion) -> Sdfg {
        for (_, container) in self.containers.iter() {
            for symbol in container.level_symbols() {
                if !symbols.contains(symbol) {
                    symbols.push(symbol.clone());
                }
            }
            if let Strides::Given(strides) = &container.strides {
                symbols.extend(strides.iter().cloned());
            }
        }
        symbols.extend(self.variables[..self.given_variables].iter().map(|(_, it)| it.clone()));
        let arguments = self.containers.iter().filter(|(_, it)| !it.is_transient).map(|(it, _)| it).collect();
        Sdfg { name, span, arguments, containers: self.containers, symbols, region, ..Sdfg::default() }
    }

    /// Adds a container of the tree to this graph.
    fn declare(&mut self, handle: Handle<schedule::Container>, is_transient: bool) {
        let from = &self.context.tree.containers[handle];
        let strides = match from.kind {
            schedule::ContainerKind::Field { .. } => {
                let symbol = |along: String| Symbol::new(&format!("__{}_{along}_stride", from.name));
                let data = (0..from.shape.len() - from.axes.len()).map(|at| format!("data{at}"));
                let dimensions = from.axes.iter().map(|axis| axis.to_string()).chain(data);
                Strides::Given(dimensions.map(symbol).collect())
            }
            schedule::ContainerKind::Scalar
            | schedule::ContainerKind::Temporary
            | schedule::ContainerKind::Local => Strides::Packed,
        };
        let container = Container {
            name: from.name.clone(),
            dtype: from.dtype,
            kind: match from.kind {
                schedule::ContainerKind::Field { is_read, is_written } => {
                    ContainerKind::Field { is_read, is_written }
                }
                schedule::ContainerKind::Scalar => ContainerKind::Scalar,
                schedule::ContainerKind::Temporary => ContainerKind::Temporary,
                schedule::ContainerKind::Local => ContainerKind::Local,
            },
            is_transient,
            axes: from.axes,
            shape: from.shape.clone(),
            shift: from.shift.clone(),
            strides,
            storage: match &from.storage {
                schedule::Storage::Caller => Storage::Caller,
                schedule::Storage::Heap => Storage::Heap,
                // Outside of all maps the iterations follow each other, and one array does for all.
                schedule::Storage::Private(_) if self.given_variables == 0 => Storage::Heap,
                schedule::Storage::Private(_) => Storage::Private,
                schedule::Storage::Register => Storage::Register,
            },
            // An array of the whole run is seen from the start of the domain, and has all places.
            ring: from.ring.filter(|_| self.given_variables > 0),
            place: from.place.filter(|_| self.given_variables > 0).map(|it| self.place(it)),
            span: from.span,
        };
        self.names.insert(from.name.clone());
        let declared = self.containers.push(container);
        self.declared.insert(handle, declared);
    }

    fn place(&self, place: schedule::GpuMemory) -> GpuMemory {
        match place {
            schedule::GpuMemory::Register => GpuMemory::Register,
            schedule::GpuMemory::Shared => GpuMemory::Shared,
            schedule::GpuMemory::Scratch => GpuMemory::Scratch,
            schedule::GpuMemory::Over(output) => {
                GpuMemory::Over(self.context.tree.containers[output].name.clone())
            }
        }
    }

    /// Gives a scope of data flow with these nodes registers of its own, where another scope has taken them.
    /// Returns the containers that stood for them before.
    ///
    /// Nothing orders two scopes that share a register only, and iterations of a map may run at the same time.
    fn enter(&mut self, nodes: &[Node]) -> Vec<(Handle<schedule::Container>, Handle<Container>)> {
        let mut before = Vec::new();
        for handle in self.context.registers_in(nodes) {
            if self.taken.insert(handle) {
                continue;
            }
            let mut own = self.containers[self.declared[&handle]].clone();
            let numbered = (1..).map(|number| format!("{}_{number}", own.name));
            own.name = numbered.into_iter().find(|it| !self.names.contains(it)).unwrap_or_default();
            self.names.insert(own.name.clone());
            let own = self.containers.push(own);
            before.extend(self.declared.insert(handle, own).map(|it| (handle, it)));
        }
        before
    }

    fn leave(&mut self, before: Vec<(Handle<schedule::Container>, Handle<Container>)>) {
        self.declared.extend(before);
    }

    /// This graph's name for a container of the tree.
    fn container(&self, handle: Handle<schedule::Container>) -> Handle<Container> {
        self.declared[&handle]
    }

    fn containers(&self) -> &Arena<Container> {
        &self.containers
    }

    /// The variable that is the position along `axis` here.
    fn position(&self, axis: Axis) -> &Symbol {
        let innermost = self.variables.iter().rev().find(|(it, _)| *it == axis);
        &innermost.expect("a position is read inside a loop over its axis").1
    }

    fn label(&mut self, kind: &'static str) -> String {
        let number = self.labels.entry(kind).or_default();
        let label = format!("{kind}_{number}");
        *number += 1;
        label
    }

    /// The blocks that carry out nodes one after the other.
    fn region(&mut self, nodes: NumberedBlock<'c>) -> ControlFlowRegion {
        let mut blocks = Blocks::default();
        self.add_blocks(nodes, &mut blocks);
        if blocks.is_behind_barrier {
            // A barrier is an edge, and needs something to lead to.
            let label = self.label("state");
            blocks.push(Block { label, kind: BlockKind::State(State::default()) });
        }
        ControlFlowRegion::with_barriers(blocks.all)
    }

    fn add_blocks(&mut self, nodes: NumberedBlock<'c>, blocks: &mut Blocks) {
        let mut open: Option<(StateBuilder, ElementOrder)> = None;
        for node in self.context.numbering.nodes(nodes) {
            if is_dataflow(&node) {
                let effects = self.context.effects(node);
                if let Some((state, order)) = &mut open
                    && order.admit(Rc::clone(&effects))
                {
                    state.add(self, node);
                    continue;
                }
                self.close(open.take(), blocks);
                let mut order = ElementOrder::default();
                let is_admitted = order.admit(effects);
                debug_assert!(is_admitted, "nothing stands before the first node of a state");
                let mut state = StateBuilder::default();
                state.add(self, node);
                open = Some((state, order));
                continue;
            }
            self.close(open.take(), blocks);
            self.add_control_flow(node, blocks);
        }
        self.close(open, blocks);
    }

    fn close(&mut self, open: Option<(StateBuilder, ElementOrder)>, blocks: &mut Blocks) {
        if let Some((state, _)) = open {
            blocks.push(Block { label: self.label("state"), kind: BlockKind::State(state.finish()) });
        }
    }

    fn add_control_flow(&mut self, node: Numbered<'c>, blocks: &mut Blocks) {
        let (kind, label) = match node.it {
            Node::Loop(it) => {
                self.variables.push((it.axis, it.variable.clone()));
                let label = self.label("loop");
                let body = self.region(node.block(&it.children));
                self.variables.pop();
                let order = match it.order {
                    LoopKind::Descending => LoopOrder::Descending,
                    LoopKind::Parallel | LoopKind::Ascending => LoopOrder::Ascending,
                };
                let (start, end, step) = (it.start.clone(), it.end.clone(), it.step);
                let variable = it.variable.clone();
                let region = LoopRegion { variable, axis: it.axis, start, end, step, order, body };
                (BlockKind::Loop(region), label)
            }
            Node::While(it) => {
                let label = self.label("while");
                let condition = self.condition(&it.condition);
                let body = self.region(node.block(&it.body));
                (BlockKind::While(WhileLoop { condition, body, origin: it.origin.clone() }), label)
            }
            Node::If(it) => {
                let label = self.label("if");
                (BlockKind::Conditional(self.conditional(node.as_part(it))), label)
            }
            Node::Region(it) => match self.region_condition(it) {
                Some(condition) => {
                    let label = self.label("region");
                    let body = self.region(node.block(&it.children));
                    let branches = vec![Branch { condition, body, origin: it.origin.clone() }];
                    (BlockKind::Conditional(ConditionalBlock { branches, otherwise: None }), label)
                }
                None => return self.add_blocks(node.block(&it.children), blocks),
            },
            Node::Where(it) => {
                let Some(origin) = node.first_origin().cloned() else { return };
                let Some(condition) = limits(it, origin.span()) else {
                    return self.add_blocks(node.block(&it.children), blocks);
                };
                let label = self.label("where");
                let body = self.region(node.block(&it.children));
                let branches = vec![Branch { condition, body, origin }];
                (BlockKind::Conditional(ConditionalBlock { branches, otherwise: None }), label)
            }
            Node::Barrier => {
                if blocks.all.is_empty() {
                    let label = self.label("state");
                    blocks.push(Block { label, kind: BlockKind::State(State::default()) });
                }
                blocks.is_behind_barrier = true;
                return;
            }
            Node::Assign(_) => unreachable!("a statement is data flow"),
        };
        blocks.push(Block { label, kind });
    }

    /// A chain of `elif` is one block with a branch for each.
    fn conditional(&mut self, first: Numbered<'c, If>) -> ConditionalBlock {
        let numbering = &self.context.numbering;
        let mut branches = Vec::new();
        let mut next = first;
        loop {
            let condition = self.condition(&next.condition);
            let then = next.block(&next.it.then);
            let body = self.region(then);
            branches.push(Branch { condition, body, origin: next.origin.clone() });
            let otherwise = numbering.block_behind(then, &next.it.otherwise);
            let mut inside = numbering.nodes(otherwise);
            let (first, second) = (inside.next(), inside.next());
            match (first.map(|it| (it, it.it)), second) {
                (None, _) => return ConditionalBlock { branches, otherwise: None },
                (Some((node, Node::If(elif))), None) => next = node.as_part(elif),
                (Some(_), _) => {
                    let otherwise = Some(self.region(otherwise));
                    return ConditionalBlock { branches, otherwise };
                }
            }
        }
    }

    fn condition(&self, expr: &schedule::Expr) -> Condition {
        self.converted(expr, &mut |access| {
            let known = access.index.iter().map(|it| it.as_known().cloned());
            let index = known.collect::<Option<_>>();
            let index = index.expect("a condition that finds an index is evaluated by a statement before");
            Operand::Element { container: self.container(access.container), index }
        })
    }

    /// Whether the columns at hand lie in the region; `None` where all of them do.
    fn region_condition(&self, scope: &RegionScope) -> Option<Condition> {
        let span = scope.origin.span();
        let mut tests = Vec::new();
        for axis in [Axis::I, Axis::J] {
            let side = scope.region.along(axis);
            for (bound, op) in [(side.start, BinaryOp::Ge), (side.end, BinaryOp::Lt)] {
                let Some(bound) = bound else { continue };
                let limit = match bound.level {
                    Level::Start => Affine::constant(bound.offset.into()),
                    Level::End => Affine::beside(&Symbol::new(axis.name()), bound.offset.into()),
                };
                tests.push(compared(self.position(axis), op, &limit.into(), span));
            }
        }
        joined(BinaryOp::And, tests)
    }

    /// The body of a loop as a graph of its own. `effects` are those of the body.
    fn nested(&mut self, it: Numbered<'c, Loop>, effects: &Effects) -> NestedSdfg {
        let inside = self.context.uses_of(it);
        let mut inner = Graph::new(self.context, self.variables.clone());
        let body = it.block(&it.it.children);
        for handle in self.context.own(body) {
            let is_private = self.context.uses.is_private(self.context, handle, &inside);
            inner.declare(handle, is_private);
        }
        self.context.registers_outside_maps(&it.children, &mut inner.taken);
        let region = inner.region(body);
        let sizes = Axis::ALL.iter().map(|axis| Symbol::new(axis.name())).collect();
        let name = format!("{}_body", self.label("map"));
        let sdfg = inner.finish(name, self.context.tree.span, sizes, region);
        let names = |touched: &[effects::ContainerSubset]| {
            let mut names: Vec<String> = Vec::new();
            for it in touched {
                let name = &self.context.tree.containers[it.container].name;
                if !names.contains(name) && sdfg.arguments.iter().any(|&it| sdfg.containers[it].name == *name)
                {
                    names.push(name.clone());
                }
            }
            names
        };
        let (inputs, outputs) = (names(&effects.reads), names(&effects.writes));
        let symbol_mapping = sdfg.symbols.iter().map(|it| (it.clone(), Affine::symbol(it))).collect();
        NestedSdfg { sdfg, inputs, outputs, symbol_mapping }
    }

    /// An expression with its leaves replaced, and each position by the variable of its loop.
    fn converted<B: From<Affine>>(
        &self,
        expr: &schedule::Expr,
        leaf: &mut impl FnMut(&Access) -> B,
    ) -> Expr<B> {
        let boxed = |it: &schedule::Expr, leaf: &mut _| Box::new(self.converted(it, leaf));
        let kind = match &expr.kind {
            ExprKind::Literal(value) => ExprKind::Literal(*value),
            ExprKind::Access(access) | ExprKind::Element(access, _) => ExprKind::Access(leaf(access)),
            ExprKind::Position(axis) => ExprKind::Access(Affine::symbol(self.position(*axis)).into()),
            ExprKind::Unary(op, operand) => ExprKind::Unary(*op, boxed(operand, leaf)),
            ExprKind::Binary(op, left, right) => {
                let left = boxed(left, leaf);
                ExprKind::Binary(*op, left, boxed(right, leaf))
            }
            ExprKind::Ternary { condition, then, otherwise } => {
                let then = boxed(then, leaf);
                let condition = boxed(condition, leaf);
                ExprKind::Ternary { condition, then, otherwise: boxed(otherwise, leaf) }
            }
            ExprKind::Call(function, arguments) => {
                ExprKind::Call(*function, arguments.iter().map(|it| self.converted(it, leaf)).collect())
            }
            ExprKind::Cast(to, operand) => ExprKind::Cast(*to, boxed(operand, leaf)),
        };
        Expr { kind, dtype: expr.dtype, span: expr.span }
    }
}

/// Whether the variable lies within the limits; `None` where no limit is one.
fn limits(it: &Where, span: Span) -> Option<Condition> {
    let tests = [(&it.start, BinaryOp::Ge), (&it.end, BinaryOp::Lt)];
    joined(BinaryOp::And, tests.map(|(limit, op)| compared(&it.variable, op, limit, span)))
}

/// A variable against a bound. At least the greatest of several is at least all of them, and so on.
fn compared(variable: &Symbol, op: BinaryOp, limit: &Size, span: Span) -> Condition {
    let parts = match limit {
        Size::Affine(limit) => {
            let symbolic = |sum: Affine| {
                Box::new(Expr { kind: ExprKind::Access(Operand::Symbolic(sum)), dtype: DType::Int64, span })
            };
            let kind = ExprKind::Binary(op, symbolic(Affine::symbol(variable)), symbolic(limit.clone()));
            return Expr { kind, dtype: DType::Bool, span };
        }
        Size::Min(parts) | Size::Max(parts) => parts,
    };
    let needs_all = matches!(limit, Size::Max(_)) == (op == BinaryOp::Ge);
    let tests = parts.iter().map(|it| compared(variable, op, it, span));
    let test = joined(if needs_all { BinaryOp::And } else { BinaryOp::Or }, tests);
    test.expect("a least or a greatest is one of at least one")
}

fn joined(op: BinaryOp, tests: impl IntoIterator<Item = Condition>) -> Option<Condition> {
    tests.into_iter().reduce(|all, next| {
        let span = all.span;
        let kind = ExprKind::Binary(op, Box::new(all), Box::new(next));
        Expr { kind, dtype: DType::Bool, span }
    })
}

/// Whether the iterations of a loop have no order.
fn is_parallel(it: &Loop) -> bool {
    match it.order {
        LoopKind::Parallel => true,
        LoopKind::Ascending | LoopKind::Descending => false,
    }
}

/// Whether a node can stand in a state: it is a statement, or a loop whose iterations have no order.
fn is_dataflow(node: &Node) -> bool {
    match node {
        Node::Assign(_) => true,
        Node::Loop(it) => is_parallel(it),
        Node::If(_) | Node::While(_) | Node::Region(_) | Node::Where(_) | Node::Barrier => false,
    }
}

#[cfg(test)]
mod tests;
