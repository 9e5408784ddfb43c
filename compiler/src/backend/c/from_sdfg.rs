//! SDFG to statements: maps and loop regions become loops, tasklets assignments.

use std::collections::{BTreeMap, BTreeSet};

use super::code::{
    Assign, Branch, Checked, For, Function, If, Index, Item, Launch, Local, Positions, Side, Target, Trap,
    Uses, While, any,
};
use super::declare::declare_locals;
use super::expression::{self, ATOM, Bound, TERNARY, Wording, affine};
use crate::backend::emit::Namer;
use crate::diag::{Levels, Moment, Origin, ProgramOrder, StmtId};
use crate::entity::Handle;
use crate::expr::Expr;
use crate::sdfg::nodes::{
    self as nodes, BlockKind, Condition, ConditionalBlock, Container, ControlFlowRegion, Input, LoopOrder,
    LoopRegion, Map, MapParam, Memlet, NestedSdfg, Node, NodeKind, Operand, Range, Schedule, Sdfg, State,
    Storage, Tasklet,
};
use crate::space::{Affine, Axis, Size, Symbol, names};
use crate::types::DType;

/// A graph as functions; each step is one of them, called after the other.
pub(super) struct Program {
    pub(super) functions: Vec<Function>,
    pub(super) steps: Vec<Step>,
    pub(super) locals: Vec<Local>,
    /// What code names beside locals: the containers of the outermost graph, by position, and behind them
    /// those that an iteration of some loop has for itself.
    pub(super) arrays: Vec<Array>,
    pub(super) wording: Wording,
}

/// A function that runs when the one before it has ended.
pub(super) struct Step {
    pub(super) name: String,
    /// Whether it spreads its work over the cores itself.
    pub(super) is_spread: bool,
    /// The sweeps of the text that may end the run here.
    pub(super) ending: BTreeSet<u32>,
}

/// A container in memory.
#[derive(Debug)]
pub(super) struct Array {
    /// None for what is a local.
    pub(super) name: Option<String>,
    pub(super) container: Container,
    /// Whether each thread has one.
    pub(super) is_per_thread: bool,
}

impl Array {
    /// A container, with its name and those of its strides and levels kept free.
    fn new(container: &Container, namer: &mut Namer, is_per_thread: bool) -> Self {
        let sides = [Side::Below, Side::Above].map(|it| format!("_{}", it.name()));
        let sides = sides.into_iter().filter(|_| container.level_symbols().next().is_some());
        let own = is_per_thread.then(|| "_each".to_owned());
        let suffixes: Vec<String> =
            (0..container.shape.len()).map(|it| suffix(container, it)).chain(sides).chain(own).collect();
        let suffixes: Vec<&str> = suffixes.iter().map(String::as_str).collect();
        let name = (container.storage != Storage::Register).then(|| namer.family(&container.name, &suffixes));
        Self { name, container: container.clone(), is_per_thread }
    }
}

/// Lowers a valid graph.
pub(super) fn lower<'n>(sdfg: &'n Sdfg, namer: &'n mut Namer) -> Program {
    let arrays = sdfg.containers.iter().map(|(_, it)| Array::new(it, namer, false)).collect();
    let program = Program {
        functions: Vec::new(),
        steps: Vec::new(),
        locals: Vec::new(),
        arrays,
        wording: Wording::default(),
    };
    let mut lowering = Lowering {
        program,
        namer,
        variables: BTreeMap::new(),
        levels: levels(sdfg),
        scopes: Vec::new(),
        outermost: None,
        is_in_while: false,
        step: 0,
        is_spread: false,
        order: &sdfg.order,
        ending: BTreeSet::new(),
    };
    let mut graph = Graph { sdfg, places: BTreeMap::new(), mapped: BTreeMap::new() };
    for (handle, it) in sdfg.containers.iter() {
        let place = match it.storage {
            Storage::Register => lowering.local(it),
            Storage::Caller | Storage::Heap | Storage::Private => Place::Array(handle.index()),
        };
        graph.places.insert(handle, place);
    }
    for block in sdfg.region.in_sequence() {
        match &block.kind {
            BlockKind::State(state) => {
                for node in state.in_order(None).expect("data flow has no circles") {
                    let items = lowering.node(&graph, state, node);
                    lowering.finish_step(items);
                }
            }
            kind => {
                let items = lowering.block(&graph, kind);
                lowering.finish_step(items);
            }
        }
    }
    lowering.program
}

/// What stands behind the name of a container for its stride along a dimension.
pub(super) fn suffix(container: &Container, dimension: usize) -> String {
    match container.axes.iter().nth(dimension) {
        Some(axis) => format!("_{}", axis.position_name()),
        None => format!("_d{}", dimension - container.axes.len()),
    }
}

/// The symbols that tell which levels the array of an argument has, and whose they are.
pub(super) fn levels(sdfg: &Sdfg) -> BTreeMap<Symbol, (usize, Side)> {
    let mut levels = BTreeMap::new();
    for &handle in &sdfg.arguments {
        let name = &sdfg.containers[handle].name;
        levels.insert(names::levels_below(name), (handle.index(), Side::Below));
        levels.insert(names::levels_above(name), (handle.index(), Side::Above));
    }
    levels
}

/// Where a container of a graph is found in the generated code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Place {
    /// One of [`Program::arrays`], by position.
    Array(usize),
    Local(usize),
}

/// A graph, and what its names mean in the generated code.
struct Graph<'s> {
    sdfg: &'s Sdfg,
    places: BTreeMap<Handle<Container>, Place>,
    /// Symbols that stand for something else outside.
    mapped: BTreeMap<Symbol, Affine>,
}

struct Lowering<'n> {
    program: Program,
    namer: &'n mut Namer,
    /// The C name of each loop variable.
    variables: BTreeMap<Symbol, String>,
    levels: BTreeMap<Symbol, (usize, Side)>,
    /// The loops around, from outside in.
    scopes: Vec<Scope>,
    /// The statement with control flow that holds all others around.
    outermost: Option<StmtId>,
    /// Whether the innermost loop around is a `while`.
    is_in_while: bool,
    step: usize,
    /// Whether a loop around is spread over the cores already.
    is_spread: bool,
    order: &'n ProgramOrder,
    /// The sweeps of the text that may end the run in this step.
    ending: BTreeSet<u32>,
}

/// A loop around.
struct Scope {
    axis: Axis,
    /// Its variable.
    name: String,
    order: Option<LoopOrder>,
}

impl Lowering<'_> {
    /// Makes a function of what one step does.
    fn finish_step(&mut self, mut items: Vec<Item>) {
        if items.is_empty() {
            return;
        }
        declare_locals(&mut items);
        let is_spread = any(&items, &mut |it| matches!(it, Item::Launch(_)));
        self.step += 1;
        let name = self.namer.name(&format!("step_{}", self.step));
        let ending = std::mem::take(&mut self.ending);
        self.program.steps.push(Step { name: name.clone(), is_spread, ending });
        let about = about(&items);
        self.program.functions.push(Function { name, about, positions: Vec::new(), body: items });
    }

    /// What a nested graph has for itself.
    fn owned(&mut self, container: &Container) -> Place {
        if container.storage == Storage::Register {
            return self.local(container);
        }
        self.program.arrays.push(Array::new(container, self.namer, self.is_spread));
        Place::Array(self.program.arrays.len() - 1)
    }

    fn local(&mut self, container: &Container) -> Place {
        let name = self.namer.name(&container.name);
        self.program.locals.push(Local { name, dtype: container.dtype, is_read: false });
        Place::Local(self.program.locals.len() - 1)
    }

    fn variable(&mut self, symbol: &Symbol) -> String {
        if let Some(name) = self.variables.get(symbol) {
            return name.clone();
        }
        // The letters are kept free for the positions.
        let is_letter = Axis::ALL.iter().any(|it| it.position_name() == symbol.name());
        let name = if is_letter { symbol.name().to_owned() } else { self.namer.name(symbol.name()) };
        self.variables.insert(symbol.clone(), name.clone());
        name
    }

    fn region(&mut self, graph: &Graph<'_>, region: &ControlFlowRegion) -> Vec<Item> {
        region.in_sequence().flat_map(|block| self.block(graph, &block.kind)).collect()
    }

    fn block(&mut self, graph: &Graph<'_>, block: &BlockKind) -> Vec<Item> {
        match block {
            BlockKind::State(state) => self.scope(graph, state, None),
            BlockKind::Loop(it) => vec![self.loop_region(graph, it)],
            BlockKind::While(it) => {
                let (condition, mut uses) = self.condition(graph, &it.condition);
                let trap = self.trap(&it.origin, &mut uses);
                let counter = self.namer.name("turn");
                let is_in_while = std::mem::replace(&mut self.is_in_while, true);
                let body = self.inside(&it.origin, |this| this.region(graph, &it.body));
                self.is_in_while = is_in_while;
                vec![Item::While(While { condition, uses, origin: it.origin.clone(), trap, counter, body })]
            }
            BlockKind::Conditional(it) => {
                let Some(first) = it.branches.first() else { return Vec::new() };
                self.inside(&first.origin, |this| this.conditional(graph, it))
            }
        }
    }

    /// What stands inside of a statement with control flow.
    fn inside<T>(&mut self, origin: &Origin, make: impl FnOnce(&mut Self) -> T) -> T {
        let outer = self.outermost;
        self.outermost = outer.or(Some(origin.stmt));
        let made = make(self);
        self.outermost = outer;
        made
    }

    fn conditional(&mut self, graph: &Graph<'_>, it: &ConditionalBlock) -> Vec<Item> {
        let branches = it.branches.iter().map(|branch| {
            let (condition, uses) = self.condition(graph, &branch.condition);
            let body = self.region(graph, &branch.body);
            Branch { condition, uses, origin: branch.origin.clone(), body }
        });
        let branches = branches.collect();
        let otherwise = it.otherwise.as_ref().map(|it| self.region(graph, it)).unwrap_or_default();
        vec![Item::If(If { branches, otherwise })]
    }

    /// The report of a statement that must end the run here.
    fn trap(&mut self, origin: &Origin, uses: &mut Uses) -> Trap {
        let innermost = |axis: Axis| self.scopes.iter().rev().find(|it| it.axis == axis);
        let name = |it: &Scope| it.name.clone();
        let cell = Axis::ALL.map(|axis| innermost(axis).map_or_else(|| "0".to_owned(), name));
        uses.positions.extend(cell.iter().filter(|it| *it != "0").cloned());
        let by_loop = innermost(Axis::K).and_then(|it| it.order).map_or(Levels::Unordered, |it| match it {
            LoopOrder::Ascending => Levels::Ascending,
            LoopOrder::Descending => Levels::Descending,
        });
        let as_it_stands =
            Moment { sweep: 0, levels: by_loop, statement: self.outermost.unwrap_or(origin.stmt) };
        let Moment { sweep, levels, statement } = self.order.of(origin.stmt).unwrap_or(as_it_stands);
        let turn = match (levels, cell[Axis::K.index()].as_str()) {
            (Levels::Unordered, _) | (_, "0") => "0".to_owned(),
            (Levels::Ascending, k) => k.to_owned(),
            (Levels::Descending, k) => format!("-{k}"),
        };
        self.ending.insert(sweep);
        Trap { statement: origin.stmt.0, sweep, turn, outermost: statement.0, cell }
    }

    fn loop_region(&mut self, graph: &Graph<'_>, it: &LoopRegion) -> Item {
        let range = Range::new(it.start.clone(), it.end.clone());
        self.for_loop(graph, (&it.variable, it.axis, &range, it.step), Some(it.order), |this| {
            this.region(graph, &it.body)
        })
    }

    fn for_loop(
        &mut self,
        graph: &Graph<'_>,
        (symbol, axis, range, step): (&Symbol, Axis, &Range, i64),
        order: Option<LoopOrder>,
        body: impl FnOnce(&mut Self) -> Vec<Item>,
    ) -> Item {
        let mut uses = Uses::default();
        let start = self.size(graph, &range.start, &mut uses);
        let end = self.size(graph, &range.end, &mut uses);
        let variable = self.variable(symbol);
        self.scopes.push(Scope { axis, name: variable.clone(), order });
        let is_in_while = std::mem::replace(&mut self.is_in_while, false);
        let body = body(self);
        self.is_in_while = is_in_while;
        self.scopes.pop();
        let is_descending = order == Some(LoopOrder::Descending);
        Item::For(For { variable, start, end, step, is_descending, is_simd: false, uses, body })
    }

    /// The nodes of a scope, one after the other.
    fn scope(&mut self, graph: &Graph<'_>, state: &State, scope: Option<Handle<Node>>) -> Vec<Item> {
        let order = state.in_order(scope).expect("data flow has no circles");
        order.into_iter().flat_map(|node| self.node(graph, state, node)).collect()
    }

    fn node(&mut self, graph: &Graph<'_>, state: &State, node: Handle<Node>) -> Vec<Item> {
        match &state.nodes[node].kind {
            NodeKind::Access(_) | NodeKind::MapExit { .. } => Vec::new(),
            NodeKind::Tasklet(it) => self.tasklet(graph, state, node, it),
            NodeKind::MapEntry(map) => self.map(graph, state, node, map),
            NodeKind::NestedSdfg(it) => self.nested(graph, state, node, it),
        }
    }

    fn map(&mut self, graph: &Graph<'_>, state: &State, entry: Handle<Node>, map: &Map) -> Vec<Item> {
        let touches_register = |it: &crate::sdfg::nodes::Edge| {
            it.memlet.as_ref().is_some_and(|it| matches!(graph.places[&it.data], Place::Local(_)))
        };
        let exit = state
            .nodes
            .handles()
            .find(|&it| matches!(state.nodes[it].kind, NodeKind::MapExit { entry: of } if of == entry));
        let is_closed = !state.edges_into(entry).any(touches_register)
            && !exit.is_some_and(|exit| state.edges_out_of(exit).any(touches_register));
        if map.schedule == Schedule::Threads && is_closed && !self.is_spread {
            return vec![self.spread(graph, state, entry, map)];
        }
        let is_simd = map.schedule == Schedule::Simd;
        self.nest(graph, &map.params, is_simd, &mut |this| this.scope(graph, state, Some(entry)))
    }

    fn nest(
        &mut self,
        graph: &Graph<'_>,
        params: &[MapParam],
        is_simd: bool,
        body: &mut dyn FnMut(&mut Self) -> Vec<Item>,
    ) -> Vec<Item> {
        let [first, rest @ ..] = params else { return body(self) };
        let is_innermost = rest.is_empty();
        let MapParam { symbol, axis, range, step } = first;
        let item = self.for_loop(graph, (symbol, *axis, range, *step), None, |this| {
            this.nest(graph, rest, is_simd, body)
        });
        match item {
            // What may have to report a trap is no vector loop.
            Item::For(it) if is_innermost && is_simd => {
                let has_trap = any(&it.body, &mut |it| matches!(it, Item::While(_) | Item::Checked(_)));
                vec![Item::For(For { is_simd: !has_trap, ..it })]
            }
            item => vec![item],
        }
    }

    /// A map whose iterations the threads share: its body becomes a function.
    fn spread(&mut self, graph: &Graph<'_>, state: &State, entry: Handle<Node>, map: &Map) -> Item {
        let outer: Vec<String> = self.scopes.iter().map(|it| it.name.clone()).collect();
        let mut uses = Uses::default();
        uses.positions.extend(outer.iter().cloned());
        let mut positions = Vec::new();
        for param in &map.params {
            let start = self.size(graph, &param.range.start, &mut uses);
            let end = self.size(graph, &param.range.end, &mut uses);
            let variable = self.variable(&param.symbol);
            positions.push(Positions { variable: variable.clone(), start, end, step: param.step });
            self.scopes.push(Scope { axis: param.axis, name: variable, order: None });
        }
        self.is_spread = true;
        let mut body = self.scope(graph, state, Some(entry));
        self.is_spread = false;
        declare_locals(&mut body);
        self.scopes.truncate(self.scopes.len() - map.params.len());
        let own: Vec<String> = positions.iter().map(|it| it.variable.clone()).collect();
        let name = self.namer.name(&format!("step_{}_at", self.step + 1));
        let about = format!("What step {} does at one position {}.", self.step + 1, own.join(", "));
        let all = outer.iter().chain(&own).cloned().collect();
        self.program.functions.push(Function { name: name.clone(), about, positions: all, body });
        Item::Launch(Launch { positions, function: name, outer, uses })
    }

    fn nested(
        &mut self,
        outer: &Graph<'_>,
        state: &State,
        node: Handle<Node>,
        nested: &NestedSdfg,
    ) -> Vec<Item> {
        let edge_for = |name: &str| {
            let into = state.edges_into(node).find(|it| it.target_connector.as_deref() == Some(name));
            let out_of = || state.edges_out_of(node).find(|it| it.source_connector.as_deref() == Some(name));
            into.or_else(out_of).and_then(|it| it.memlet.as_ref())
        };
        let mut inner = Graph { sdfg: &nested.sdfg, places: BTreeMap::new(), mapped: BTreeMap::new() };
        for (handle, container) in nested.sdfg.containers.iter() {
            let place = if container.is_transient {
                self.owned(container)
            } else {
                let memlet = edge_for(&container.name).expect("a nested graph's arguments are connected");
                outer.places[&memlet.data]
            };
            inner.places.insert(handle, place);
        }
        for (symbol, value) in &nested.symbol_mapping {
            let outside = value.terms().fold(Affine::constant(value.offset()), |sum, (symbol, factor)| {
                let term = outer.mapped.get(symbol).cloned().unwrap_or_else(|| Affine::symbol(symbol));
                (0..factor.unsigned_abs())
                    .fold(sum, |sum, _| if factor > 0 { &sum + &term } else { &sum - &term })
            });
            if outside != Affine::symbol(symbol) {
                inner.mapped.insert(symbol.clone(), outside);
            }
        }
        self.region(&inner, &nested.sdfg.region)
    }

    /// The assignment; inside of checks where indices are found at run time.
    fn tasklet(
        &mut self,
        graph: &Graph<'_>,
        state: &State,
        node: Handle<Node>,
        tasklet: &Tasklet,
    ) -> Vec<Item> {
        let found: Vec<String> = tasklet.found.iter().map(|it| self.namer.name(&it.name)).collect();
        let place = TaskletPlace { graph, state, node, tasklet, found: &found };
        let mut uses = Uses::default();
        let (value, read) = self.code(&place, &tasklet.code, &mut uses);
        let out =
            state.edges_out_of(node).find(|it| it.source_connector.as_ref() == Some(&tasklet.output.name));
        let memlet = out.and_then(|it| it.memlet.as_ref()).expect("an output connector has an edge");
        let target = match graph.places[&memlet.data] {
            Place::Local(local) => {
                uses.locals.insert(local);
                Target::Local(local)
            }
            Place::Array(_) => Target::Element(self.moved(&place, memlet, &tasklet.output_at, &mut uses).0),
        };
        let reads_target = matches!(target, Target::Local(local) if read.contains(&Place::Local(local)));
        let origin = tasklet.origin.clone();
        let mut items = vec![Item::Assign(Assign { target, value, reads_target, origin, uses })];
        // From the last to the first, so that those before stand around.
        let mut at = tasklet.found.len();
        while at > 0 {
            // What picks no element needs no check before, and stands beside the others.
            let first = (0..at).rev().find(|&it| it == 0 || picks(&tasklet.found[it].code)).unwrap_or(0);
            let mut uses = Uses::default();
            let indices = (first..at).map(|it| {
                let nodes::Found { code, size, .. } = &tasklet.found[it];
                let (value, _) = self.code(&place, code, &mut uses);
                Index { name: found[it].clone(), value, size: self.size(graph, size, &mut uses) }
            });
            let indices = indices.collect();
            let origin = tasklet.origin.clone();
            let trap = self.trap(&origin, &mut uses);
            items = vec![Item::Checked(Checked {
                indices,
                trap,
                is_in_while: self.is_in_while,
                uses,
                origin,
                body: items,
            })];
            at = first;
        }
        items
    }

    /// Code of a tasklet, and what it reads.
    fn code(
        &mut self,
        place: &TaskletPlace<'_>,
        code: &Expr<Input>,
        uses: &mut Uses,
    ) -> (String, BTreeSet<Place>) {
        let TaskletPlace { graph, state, node, tasklet, .. } = *place;
        let mut read = BTreeSet::new();
        let mut wording = std::mem::take(&mut self.program.wording);
        let (text, _) = wording.text(code, &mut |input: &Input, dtype| {
            let (connector, at) = match input {
                Input::Symbolic(sum) => return self.symbolic(graph, sum, dtype, uses),
                Input::Connector(connector) => (*connector, &[][..]),
                Input::Element { connector, at } => (*connector, at.as_slice()),
            };
            let name = &tasklet.inputs[connector].name;
            let edge = state.edges_into(node).find(|it| it.target_connector.as_ref() == Some(name));
            let memlet = edge.and_then(|it| it.memlet.as_ref()).expect("an input connector has an edge");
            read.insert(graph.places[&memlet.data]);
            self.note_read(graph.places[&memlet.data]);
            let text = self.moved(place, memlet, at, uses);
            as_value(text, dtype, graph.places[&memlet.data])
        });
        self.program.wording = wording;
        (text, read)
    }

    /// The element that a tasklet picks of what a memlet moves.
    fn moved(
        &mut self,
        place: &TaskletPlace<'_>,
        memlet: &Memlet,
        picked: &[nodes::At],
        uses: &mut Uses,
    ) -> Bound {
        let index = memlet.subset.iter().enumerate().map(|(dimension, range)| {
            match picked.iter().find(|it| it.dimension == dimension) {
                Some(it) => At::Found(&place.found[it.found]),
                None => At::Known(range.as_point().expect("a tasklet reads and writes single elements")),
            }
        });
        let index: Vec<At<'_>> = index.collect();
        self.element(place.graph, memlet.data, &index, uses)
    }

    fn condition(&mut self, graph: &Graph<'_>, condition: &Condition) -> (String, Uses) {
        let mut uses = Uses::default();
        let mut wording = std::mem::take(&mut self.program.wording);
        let (text, _) = wording.text(condition, &mut |operand: &Operand, dtype| match operand {
            Operand::Element { container, index } => {
                self.note_read(graph.places[container]);
                let index: Vec<At<'_>> = index.iter().map(At::Known).collect();
                let text = self.element(graph, *container, &index, &mut uses);
                as_value(text, dtype, graph.places[container])
            }
            Operand::Symbolic(sum) => self.symbolic(graph, sum, dtype, &mut uses),
        });
        self.program.wording = wording;
        (text, uses)
    }

    fn note_read(&mut self, place: Place) {
        if let Place::Local(local) = place {
            self.program.locals[local].is_read = true;
        }
    }

    fn symbolic(&mut self, graph: &Graph<'_>, sum: &Affine, dtype: DType, uses: &mut Uses) -> Bound {
        let text = affine(sum, 0, &mut |symbol| self.symbol(graph, symbol, uses));
        match dtype {
            DType::Int64 => text,
            other => {
                let operand = expression::at_least(text, ATOM);
                (format!("({}){operand}", expression::c_type(other)), ATOM - 1)
            }
        }
    }

    fn size(&mut self, graph: &Graph<'_>, size: &Size, uses: &mut Uses) -> String {
        expression::size(size, &mut |symbol| self.symbol(graph, symbol, uses)).0
    }

    fn symbol(&mut self, graph: &Graph<'_>, symbol: &Symbol, uses: &mut Uses) -> String {
        if let Some(value) = graph.mapped.get(symbol) {
            let text = affine(value, 0, &mut |symbol| self.outer_symbol(symbol, uses));
            return expression::at_least(text, ATOM);
        }
        self.outer_symbol(symbol, uses)
    }

    fn outer_symbol(&mut self, symbol: &Symbol, uses: &mut Uses) -> String {
        match Axis::ALL.iter().find(|axis| axis.name() == symbol.name()) {
            Some(axis) => {
                uses.sizes.insert(axis.index());
                axis.name().to_owned()
            }
            None => {
                if let Some(&(container, side)) = self.levels.get(symbol) {
                    uses.levels.insert((container, side));
                    let name = self.program.arrays[container].name.as_deref().unwrap_or_default();
                    return format!("{name}_{}", side.name());
                }
                let name = self.variable(symbol);
                uses.positions.insert(name.clone());
                name
            }
        }
    }

    /// An element as it is written in C; positions count from the start of the compute domain.
    fn element(
        &mut self,
        graph: &Graph<'_>,
        data: Handle<Container>,
        index: &[At<'_>],
        uses: &mut Uses,
    ) -> Bound {
        let container = &graph.sdfg.containers[data];
        let outer = match graph.places[&data] {
            Place::Local(local) => {
                uses.locals.insert(local);
                return (self.program.locals[local].name.clone(), ATOM);
            }
            Place::Array(outer) => outer,
        };
        uses.containers.insert(outer);
        let name = self.program.arrays[outer].name.clone().unwrap_or_default();
        if container.is_scalar() {
            return (name, ATOM);
        }
        // An iteration's own array is not seen from the start of the domain, which may be far away.
        let none = Affine::constant(0);
        let is_own = container.storage == Storage::Private;
        let is_packed = container.strides == crate::sdfg::nodes::Strides::Packed;
        let mut terms = Vec::new();
        for (dimension, (at, shift)) in index.iter().zip(&container.shift).enumerate() {
            let mut spell = |symbol: &Symbol| self.symbol(graph, symbol, uses);
            let shift = if is_own { &none } else { shift };
            let position = match at {
                At::Known(at) => affine(&(*at - shift), 0, &mut spell),
                At::Found(at) if *shift == Affine::constant(0) => ((*at).to_owned(), ATOM),
                At::Found(at) => {
                    let shift = expression::at_least(affine(shift, 0, &mut spell), ATOM);
                    (format!("{at} - {shift}"), TERNARY)
                }
            };
            if position.0 == "0" {
                continue;
            }
            if is_packed && dimension == 0 {
                terms.push(position.0);
            } else {
                uses.strides.insert((outer, dimension));
                let position = expression::at_least(position, ATOM);
                terms.push(format!("{position} * {name}{}", suffix(container, dimension)));
            }
        }
        let text = if terms.is_empty() { "0".to_owned() } else { terms.join(" + ") };
        (format!("{name}[{text}]"), ATOM)
    }
}

/// A tasklet, and what its names mean in the generated code.
#[derive(Clone, Copy)]
struct TaskletPlace<'s> {
    graph: &'s Graph<'s>,
    state: &'s State,
    node: Handle<Node>,
    tasklet: &'s Tasklet,
    /// The names of what it finds.
    found: &'s [String],
}

/// Whether code reads an element that has to be checked before.
fn picks(code: &Expr<Input>) -> bool {
    let mut is_picked = false;
    code.accesses(&mut |it| is_picked |= matches!(it, Input::Element { .. }));
    is_picked
}

/// An index into one dimension.
enum At<'a> {
    Known(&'a Affine),
    /// Under this name.
    Found(&'a str),
}

/// What an element in memory means: any byte but 0 is true.
fn as_value(text: Bound, dtype: DType, place: Place) -> Bound {
    if dtype == DType::Bool && matches!(place, Place::Array(_)) {
        return (format!("({} != 0)", expression::at_least(text, TERNARY)), ATOM);
    }
    text
}

/// A comment that says what a step does.
fn about(items: &[Item]) -> String {
    let describe = |item: &Item| match item {
        Item::For(it) if it.is_descending => format!("{} from {} down to {}", it.variable, it.end, it.start),
        Item::For(it) => format!("{} from {} to {}", it.variable, it.start, it.end),
        Item::Launch(it) => {
            let parts: Vec<String> = it
                .positions
                .iter()
                .map(|Positions { variable, start, end, step }| {
                    let step = if *step == 1 { String::new() } else { format!(" in steps of {step}") };
                    format!("{variable} from {start} to {end}{step}")
                })
                .collect();
            format!("{}, shared by the threads", parts.join(", "))
        }
        Item::Assign(_) | Item::Declare(_) | Item::Checked(_) | Item::If(_) | Item::While(_) => {
            "once".to_owned()
        }
    };
    items.last().map(describe).unwrap_or_default()
}
