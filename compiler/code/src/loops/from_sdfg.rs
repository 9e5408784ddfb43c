//! SDFG to statements: maps and loop regions become loops, tasklets assignments.
//!
//! | of the graph | becomes |
//! |---|---|
//! | a container in memory | an array |
//! | a register | a local |
//! | a map that is spread over threads | a function, and a [`Launch`] of it |
//! | any other map | parallel loops, one for each of its parameters |
//! | a loop region | a loop that goes up or down |
//! | a conditional block, a `while` block | [`If`], [`While`] |
//! | a tasklet | an assignment of one element or local |
//! | what a tasklet finds at run time | a [`BoundsCheck`] around it |
//! | a nested graph | what stands in it, with its names replaced by those outside |
//! | states, or their nodes, one behind the other | steps; those that hand on a local are one |
//!
//! Memlets are gone: an assignment reads and writes elements where the tasklet had connectors. Edges were the order of
//! nodes, which is the order of statements now. Whatever is unknown until the call (strides, sizes, levels beside the
//! domain) stays a symbol.
//!
//! Indices count from the start of the compute domain, so that one position means the same point in all
//! arrays. An array that an iteration has for itself counts from its own start. Seen from the domain, that
//! start would move with the iteration.

use std::collections::{BTreeMap, BTreeSet};

use super::nodes::{
    Array, ArrayKind, Assign, BoundsCheck, Branch, Decisions, DimensionIndex, Element, For, Function,
    GpuAxis, If, Index, Integer, Item, Launch, Local, Positions, Program, Read, Side, Step, Strides,
    SymbolMeaning, Target, Trap, While,
};
use super::reserved::RESERVED;
use super::visit::{each_local, walk};
use crate::diag::{LevelOrder, Origin, ProgramOrder, ProgramPoint, StmtId};
use crate::entity::{Arena, Handle, Namer, SideTable};
use crate::expr::{Expr, ExprKind};
use crate::sdfg::nodes::{
    self as nodes, BlockKind, Condition, ConditionalBlock, Container, ContainerKind, ControlFlowRegion,
    Input, LoopOrder, LoopRegion, Map, MapParam, Memlet, NestedSdfg, Node, NodeKind, Operand, Range,
    Schedule, Sdfg, State, Storage, Tasklet,
};
use crate::space::{Affine, Axis, Size, Symbol, names};
use crate::types::DType;

/// Lowers a valid graph.
#[must_use]
pub fn lower(sdfg: &Sdfg) -> Program {
    let mut namer = Namer::new(RESERVED);
    let mut arrays = Arena::default();
    let mut of_containers = SideTable::default();
    for (handle, it) in sdfg.containers.iter() {
        of_containers.insert(handle, arrays.push(array(it, &mut namer)));
    }
    let sizes = Axis::ALL.iter().map(|&axis| (Symbol::new(axis.name()), SymbolMeaning::Size(axis)));
    let levels = levels(sdfg, &of_containers).into_iter();
    let levels = levels.map(|(symbol, (array, side))| (symbol, SymbolMeaning::Levels { array, side }));
    let program = Program {
        name: sdfg.name.clone(),
        arguments: sdfg.arguments.iter().map(|&it| of_containers[it]).collect(),
        functions: Arena::default(),
        steps: Vec::new(),
        locals: Arena::default(),
        arrays,
        integers: Arena::default(),
        symbols: sizes.chain(levels).collect(),
        n_loops: 0,
        n_branches: 0,
        decisions: Decisions::default(),
        namer,
    };
    let mut lowering = Lowering {
        program,
        scopes: Vec::new(),
        outermost: None,
        is_in_while: false,
        is_spread: false,
        gpu: None,
        order: &sdfg.order,
        ending: BTreeSet::new(),
        unplaced: SideTable::default(),
        n_launched: 0,
    };
    let mut graph = Graph { sdfg, places: BTreeMap::new(), mapped: BTreeMap::new() };
    for (handle, it) in sdfg.containers.iter() {
        let place = match it.storage {
            Storage::Register => lowering.local(it),
            Storage::Caller | Storage::Heap | Storage::Private => ContainerBinding::Array {
                array: of_containers[handle],
                is_private: it.storage == Storage::Private,
            },
        };
        graph.places.insert(handle, place);
    }
    // Each node at the top of a state is a piece of its own, and so is each loop and branch beside the
    // states. The locals that pieces hand on decide below which of them share a step.
    let mut pieces = Vec::new();
    for block in sdfg.region.in_sequence() {
        match &block.kind {
            BlockKind::State(state) => {
                for node in state.in_order(None).expect("data flow has no circles") {
                    let items = lowering.node(&graph, state, node);
                    pieces.push(lowering.piece(items));
                }
            }
            kind => {
                let items = lowering.block(&graph, kind);
                pieces.push(lowering.piece(items));
            }
        }
    }
    for step in joined(pieces) {
        lowering.finish_step(step);
    }
    let mut program = lowering.program;
    // The graph may mark a field as read, though no statement that reads it is left.
    program.forget_reads();
    program
}

/// A container as an array, with its name.
fn array(it: &Container, namer: &mut Namer) -> Array {
    let array = Array {
        name: None,
        stencil_name: names::of_stencil(&it.name).to_owned(),
        dtype: it.dtype,
        kind: match it.kind {
            ContainerKind::Field { is_read, is_written } => ArrayKind::Field { is_read, is_written },
            ContainerKind::Scalar => ArrayKind::Scalar,
            ContainerKind::Temporary | ContainerKind::Local => ArrayKind::Temporary,
        },
        axes: it.axes,
        shape: it.shape.clone(),
        shift: it.shift.clone(),
        strides: match it.strides {
            nodes::Strides::Given(_) => Strides::Given,
            nodes::Strides::Packed => Strides::Packed,
        },
        storage: match it.storage {
            Storage::Caller => super::nodes::Storage::Caller,
            Storage::Heap => super::nodes::Storage::Heap,
            Storage::Private => super::nodes::Storage::Private,
            Storage::Register => super::nodes::Storage::Register,
        },
        ring: it.ring,
        place: match it.place {
            Some(nodes::GpuMemory::Register) => Some(super::nodes::GpuMemory::Register),
            Some(nodes::GpuMemory::Shared) => Some(super::nodes::GpuMemory::Shared),
            Some(nodes::GpuMemory::Scratch) => Some(super::nodes::GpuMemory::Scratch),
            // Known when all arrays are.
            Some(nodes::GpuMemory::Over(_)) | None => None,
        },
        owner: None,
        is_per_thread: false,
    };
    array.with_name(&it.name, namer)
}

/// The statements of one block of the outermost graph, and the sweeps of the text that may end the run there.
#[derive(Default)]
struct BlockItems {
    items: Vec<Item>,
    ending: BTreeSet<u32>,
}

/// Joins pieces to steps. Pieces that hand on a local are one step, since a local ends with its function.
///
/// ```text
/// piece 0: x = a[i]      piece 1: c[i] = 1.0      piece 2: b[i] = x      piece 3: d[i] = 2.0
/// step 1:  pieces 0, 1, 2, since `x` lives from 0 to 2       step 2: piece 3
/// ```
fn joined(pieces: Vec<BlockItems>) -> Vec<BlockItems> {
    let mut last_uses: BTreeMap<Handle<Local>, usize> = BTreeMap::new();
    for (at, piece) in pieces.iter().enumerate() {
        each_local(&piece.items, &mut |local| {
            last_uses.insert(local, at);
        });
    }
    let (mut steps, mut end): (Vec<BlockItems>, usize) = (Vec::new(), 0);
    for (at, mut piece) in pieces.into_iter().enumerate() {
        let mut own_end = at;
        each_local(&piece.items, &mut |local| own_end = own_end.max(last_uses[&local]));
        match steps.last_mut().filter(|_| at > 0 && at <= end) {
            Some(step) => {
                step.items.append(&mut piece.items);
                step.ending.append(&mut piece.ending);
            }
            None => steps.push(piece),
        }
        end = end.max(own_end);
    }
    steps
}

/// Gives launches their functions, now that these stand in the program.
fn place_launched(items: &mut [Item], placed: &SideTable<Function, Handle<Function>>) {
    for item in items {
        if let Item::Launch(launch) = item {
            launch.function = placed[launch.function];
        }
        item.blocks_mut().into_iter().for_each(|it| place_launched(it, placed));
    }
}

/// The symbols that tell which levels the array of an argument has, and whose they are.
fn levels(
    sdfg: &Sdfg,
    arrays: &SideTable<Container, Handle<Array>>,
) -> BTreeMap<Symbol, (Handle<Array>, Side)> {
    let mut levels = BTreeMap::new();
    for &handle in &sdfg.arguments {
        let name = &sdfg.containers[handle].name;
        levels.insert(names::levels_below(name), (arrays[handle], Side::Below));
        levels.insert(names::levels_above(name), (arrays[handle], Side::Above));
    }
    levels
}

/// Where a container of a graph is found in the generated code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum ContainerBinding {
    /// A private array counts from its own start, also where it was passed on.
    Array {
        array: Handle<Array>,
        is_private: bool,
    },
    Local(Handle<Local>),
}

/// A graph, and what its names mean in the generated code.
struct Graph<'s> {
    sdfg: &'s Sdfg,
    places: BTreeMap<Handle<Container>, ContainerBinding>,
    /// Symbols that stand for something else outside.
    mapped: BTreeMap<Symbol, Affine>,
}

struct Lowering<'n> {
    program: Program,
    /// The loops around, from outside in.
    scopes: Vec<Scope>,
    /// The statement with control flow that holds all others around.
    outermost: Option<StmtId>,
    /// Whether the innermost loop around is a `while`.
    is_in_while: bool,
    /// Whether a loop around is spread over the cores already.
    is_spread: bool,
    /// Which of the loops around that a GPU spreads is the innermost.
    gpu: Option<GpuAxis>,
    order: &'n ProgramOrder,
    /// The sweeps of the text that may end the run in this step.
    ending: BTreeSet<u32>,
    /// The functions of launches whose step is not known yet. A launch has their number in the place of a function.
    unplaced: SideTable<Function, UnplacedFunction>,
    n_launched: usize,
}

/// A launched function before its step is known, and with it its name.
struct UnplacedFunction {
    positions: Vec<Symbol>,
    body: Vec<Item>,
}

/// A loop around.
struct Scope {
    axis: Axis,
    variable: Symbol,
    order: Option<LoopOrder>,
}

impl Lowering<'_> {
    /// Makes a piece of the items of one block, with the sweeps that its traps have noted meanwhile.
    fn piece(&mut self, items: Vec<Item>) -> BlockItems {
        BlockItems { items, ending: std::mem::take(&mut self.ending) }
    }

    /// Makes a function of the statements of one step, behind those that it launches. Without statements there is
    /// no step.
    fn finish_step(&mut self, BlockItems { mut items, ending }: BlockItems) {
        if items.is_empty() {
            return;
        }
        let step = self.program.steps.len() + 1;
        let mut launched = Vec::new();
        walk(&items, &mut |it| {
            if let Item::Launch(it) = it {
                launched.push(it.function);
            }
        });
        let mut placed = SideTable::default();
        for &number in &launched {
            let UnplacedFunction { positions, body } =
                self.unplaced.remove(number).expect("each function is launched once");
            let name = self.program.namer.name(&format!("step_{step}_at"));
            placed.insert(number, self.program.functions.push(Function { name, step, positions, body }));
        }
        place_launched(&mut items, &placed);
        let name = self.program.namer.name(&format!("step_{step}"));
        let function = Function { name, step, positions: Vec::new(), body: items };
        let function = self.program.functions.push(function);
        self.program.steps.push(Step { function, is_spread: !launched.is_empty(), ending });
    }

    /// Adds a container that a nested graph has for itself.
    ///
    /// Inside of a map that is spread over threads, each thread has its own: iterations in other threads have
    /// another one.
    fn owned(&mut self, container: &Container) -> ContainerBinding {
        if container.storage == Storage::Register {
            return self.local(container);
        }
        let array = array(container, &mut self.program.namer);
        let is_per_thread = self.is_spread;
        let array = self.program.arrays.push(Array { owner: self.gpu, is_per_thread, ..array });
        ContainerBinding::Array { array, is_private: container.storage == Storage::Private }
    }

    /// A register, under a name that nothing else has: two graphs may call theirs the same.
    fn local(&mut self, container: &Container) -> ContainerBinding {
        let name = self.program.namer.name(&container.name);
        let local = Local { name, dtype: container.dtype, is_read: false };
        ContainerBinding::Local(self.program.locals.push(local))
    }

    /// An integer of run time.
    fn integer(&mut self, wanted: &str) -> Handle<Integer> {
        let name = self.program.namer.name(wanted);
        self.program.integers.push(Integer { name })
    }

    /// Gives the variable of a loop its name.
    ///
    /// Loops that follow each other may share a variable, and its name.
    fn variable(&mut self, symbol: &Symbol) {
        if self.program.symbols.contains_key(symbol) {
            return;
        }
        // The letters are kept free for the positions.
        let is_letter = Axis::ALL.iter().any(|it| it.position_name() == symbol.name());
        let name = if is_letter { symbol.name().to_owned() } else { self.program.namer.name(symbol.name()) };
        self.program.symbols.insert(symbol.clone(), SymbolMeaning::Position(name));
    }

    /// Blocks, one after the other.
    fn region(&mut self, graph: &Graph<'_>, region: &ControlFlowRegion) -> Vec<Item> {
        let mut items = Vec::new();
        for at in region.order() {
            if region.is_behind_barrier(at) {
                items.push(Item::Barrier);
            }
            items.extend(self.block(graph, &region.blocks[at].kind));
        }
        items
    }

    /// A state, a loop or a branch as statements.
    fn block(&mut self, graph: &Graph<'_>, block: &BlockKind) -> Vec<Item> {
        match block {
            BlockKind::State(state) => self.scope(graph, state, None),
            BlockKind::Loop(it) => vec![self.loop_region(graph, it)],
            BlockKind::While(it) => {
                let condition = self.condition(graph, &it.condition);
                let trap = self.trap(&it.origin);
                let counter = self.integer("turn");
                let is_in_while = std::mem::replace(&mut self.is_in_while, true);
                let body = self.inside(&it.origin, |this| this.region(graph, &it.body));
                self.is_in_while = is_in_while;
                vec![Item::While(While { condition, origin: it.origin.clone(), trap, counter, body })]
            }
            BlockKind::Conditional(it) => {
                let Some(first) = it.branches.first() else { return Vec::new() };
                self.inside(&first.origin, |this| this.conditional(graph, it))
            }
        }
    }

    /// Calls `make` for the inside of a statement with control flow, and notes that statement if it is the
    /// outermost.
    fn inside<T>(&mut self, origin: &Origin, make: impl FnOnce(&mut Self) -> T) -> T {
        let outer = self.outermost;
        self.outermost = outer.or(Some(origin.stmt));
        let made = make(self);
        self.outermost = outer;
        made
    }

    /// Lowers branches, in the order in which their conditions are evaluated.
    fn conditional(&mut self, graph: &Graph<'_>, it: &ConditionalBlock) -> Vec<Item> {
        let branches = it.branches.iter().map(|branch| {
            let condition = self.condition(graph, &branch.condition);
            let body = self.region(graph, &branch.body);
            Branch { condition, origin: branch.origin.clone(), body }
        });
        let branches = branches.collect();
        let otherwise = it.otherwise.as_ref().map(|it| self.region(graph, it)).unwrap_or_default();
        vec![Item::If(If { id: self.program.new_branch(), branches, otherwise })]
    }

    /// The report of a statement that must end the run here.
    ///
    /// Reports are in the order of the text. The order of the loops may differ, since a schedule can swap
    /// loops and merge sweeps. So [`ProgramOrder`] gives the sweep, and the loops around give the cell only.
    /// A statement that it does not know is taken to run where it stands.
    fn trap(&mut self, origin: &Origin) -> Trap {
        let innermost = |axis: Axis| self.scopes.iter().rev().find(|it| it.axis == axis);
        let at = |it: &Scope| Affine::symbol(&it.variable);
        let cell = Axis::ALL.map(|axis| innermost(axis).map(at).unwrap_or_default());
        let by_loop =
            innermost(Axis::K).and_then(|it| it.order).map_or(LevelOrder::Unordered, |it| match it {
                LoopOrder::Ascending => LevelOrder::Ascending,
                LoopOrder::Descending => LevelOrder::Descending,
            });
        let as_it_stands =
            ProgramPoint { sweep: 0, levels: by_loop, statement: self.outermost.unwrap_or(origin.stmt) };
        let ProgramPoint { sweep, levels, statement } = self.order.of(origin.stmt).unwrap_or(as_it_stands);
        let k = &cell[Axis::K.index()];
        let turn = match levels {
            LevelOrder::Unordered => Affine::default(),
            LevelOrder::Ascending => k.clone(),
            LevelOrder::Descending => &Affine::default() - k,
        };
        self.ending.insert(sweep);
        Trap { statement: origin.stmt, sweep, turn, outermost: statement, cell }
    }

    fn loop_region(&mut self, graph: &Graph<'_>, it: &LoopRegion) -> Item {
        let range = Range::new(it.start.clone(), it.end.clone());
        self.for_loop(graph, (&it.variable, it.axis, &range, it.step), Some(it.order), |this| {
            this.region(graph, &it.body)
        })
    }

    /// Lowers a loop over one variable, and its body while that variable is known. A loop inside of a `while`
    /// is no `while` itself: a check in it leaves out one iteration of that loop.
    fn for_loop(
        &mut self,
        graph: &Graph<'_>,
        (symbol, axis, range, step): (&Symbol, Axis, &Range, i64),
        order: Option<LoopOrder>,
        body: impl FnOnce(&mut Self) -> Vec<Item>,
    ) -> Item {
        let positions = self.positions(graph, symbol, range, step);
        self.scopes.push(Scope { axis, variable: symbol.clone(), order });
        let is_in_while = std::mem::replace(&mut self.is_in_while, false);
        let body = body(self);
        self.is_in_while = is_in_while;
        self.scopes.pop();
        let is_descending = order == Some(LoopOrder::Descending);
        let is_parallel = order.is_none();
        let id = self.program.new_loop();
        Item::For(For { id, positions, axis, is_descending, is_parallel, is_simd: false, gpu: None, body })
    }

    /// A range in the symbols of the whole program.
    fn positions(&mut self, graph: &Graph<'_>, symbol: &Symbol, range: &Range, step: i64) -> Positions {
        self.variable(symbol);
        let (start, end) = (graph.size(&range.start), graph.size(&range.end));
        Positions { variable: symbol.clone(), start, end, step }
    }

    /// The nodes of a scope, one after the other.
    fn scope(&mut self, graph: &Graph<'_>, state: &State, scope: Option<Handle<Node>>) -> Vec<Item> {
        let order = state.in_order(scope).expect("data flow has no circles");
        order.into_iter().flat_map(|node| self.node(graph, state, node)).collect()
    }

    /// A node as statements. Access nodes only order other nodes, and the exit of a map is its end; neither
    /// becomes a statement.
    fn node(&mut self, graph: &Graph<'_>, state: &State, node: Handle<Node>) -> Vec<Item> {
        match &state.nodes[node].kind {
            NodeKind::Access(_) | NodeKind::MapExit { .. } => Vec::new(),
            NodeKind::Tasklet(it) => self.tasklet(graph, state, node, it),
            NodeKind::MapEntry(map) => self.map(graph, state, node, map),
            NodeKind::NestedSdfg(it) => self.nested(graph, state, node, it),
        }
    }

    /// A map as loops, or as a function that the threads share. It stays loops where a local goes in or out,
    /// since a function does not see the locals of another one. It also stays loops inside of a map that is
    /// spread already.
    fn map(&mut self, graph: &Graph<'_>, state: &State, entry: Handle<Node>, map: &Map) -> Vec<Item> {
        let touches_register = |it: &crate::sdfg::nodes::Edge| {
            it.memlet.as_ref().is_some_and(|it| matches!(graph.places[&it.data], ContainerBinding::Local(_)))
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
        self.nest(graph, &map.params, map.schedule, &mut |this| this.scope(graph, state, Some(entry)))
    }

    /// Loops over the parameters of a map, the first one outermost. Lanes are for the innermost alone.
    fn nest(
        &mut self,
        graph: &Graph<'_>,
        params: &[MapParam],
        schedule: Schedule,
        body: &mut dyn FnMut(&mut Self) -> Vec<Item>,
    ) -> Vec<Item> {
        let [first, rest @ ..] = params else { return body(self) };
        let MapParam { symbol, axis, range, step } = first;
        let gpu = match schedule {
            Schedule::Grid => Some(GpuAxis::Grid),
            Schedule::Block => Some(GpuAxis::Block),
            Schedule::Sequential | Schedule::Threads | Schedule::Simd => None,
        };
        let outer = self.gpu;
        self.gpu = gpu.or(outer);
        let item = self.for_loop(graph, (symbol, *axis, range, *step), None, |this| {
            this.nest(graph, rest, schedule, body)
        });
        self.gpu = outer;
        let Item::For(it) = item else { return vec![item] };
        let is_simd = schedule == Schedule::Simd && rest.is_empty();
        vec![Item::For(For { is_simd, gpu, ..it })]
    }

    /// A map whose iterations the threads share: its body becomes a function.
    fn spread(&mut self, graph: &Graph<'_>, state: &State, entry: Handle<Node>, map: &Map) -> Item {
        let outer: Vec<Symbol> = self.scopes.iter().map(|it| it.variable.clone()).collect();
        let mut positions = Vec::new();
        for param in &map.params {
            positions.push(self.positions(graph, &param.symbol, &param.range, param.step));
            self.scopes.push(Scope { axis: param.axis, variable: param.symbol.clone(), order: None });
        }
        self.is_spread = true;
        let body = self.scope(graph, state, Some(entry));
        self.is_spread = false;
        self.scopes.truncate(self.scopes.len() - map.params.len());
        let all = outer.iter().chain(positions.iter().map(|it| &it.variable)).cloned().collect();
        let function = Handle::new(self.n_launched);
        self.n_launched += 1;
        self.unplaced.insert(function, UnplacedFunction { positions: all, body });
        Item::Launch(Launch { positions, function, outer })
    }

    /// Lowers a nested graph, which has no function of its own. Its arguments are the containers that the
    /// edges of its node move. Its symbols are the values that the node maps them to.
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
        for (handle, container) in nested.sdfg.containers.iter() {
            // A container that lies over an output is written to it in this graph or in one inside. So the
            // graph has that output.
            if let (Some(nodes::GpuMemory::Over(output)), ContainerBinding::Array { array, .. }) =
                (&container.place, inner.places[&handle])
                && let Some(output) = nested.sdfg.containers.find(|it| it.name == *output)
                && let ContainerBinding::Array { array: output, .. } = inner.places[&output]
            {
                self.program.arrays[array].place = Some(super::nodes::GpuMemory::Over(output));
            }
        }
        for (symbol, value) in &nested.symbol_mapping {
            let outside = outer.affine(value);
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
        let found: Vec<Handle<Integer>> = tasklet.found.iter().map(|it| self.integer(&it.name)).collect();
        let place = TaskletContext { graph, state, node, tasklet, found: &found };
        let value = self.code(&place, &tasklet.code);
        let out =
            state.edges_out_of(node).find(|it| it.source_connector.as_ref() == Some(&tasklet.output.name));
        let memlet = out.and_then(|it| it.memlet.as_ref()).expect("an output connector has an edge");
        let target = match place.moved(memlet, &tasklet.output_at) {
            Read::Element(element) => Target::Element(element),
            Read::Local(local) => Target::Local(local),
            Read::Sum(_) => unreachable!("memory is no sum"),
        };
        let origin = tasklet.origin.clone();
        let mut items = vec![Item::Assign(Assign { target, value, origin })];
        // `found[1]` reads an element that `found[0]` picks: then the check of the first has to stand around the second.
        //
        // ```text
        // find n in [0, K) = int64(a[i, j, k])
        // check …:
        //   find m in [0, K) = int64(b[i, j, {n}])
        //   check …:
        //     c[i, j, k] = d[i, j, {m}]
        // ```
        // From the last to the first, so that those before stand around.
        let mut at = tasklet.found.len();
        while at > 0 {
            // An index that picks no element needs no check before, and stands beside the others.
            let first = (0..at).rev().find(|&it| it == 0 || picks(&tasklet.found[it].code)).unwrap_or(0);
            let indices = (first..at).map(|it| {
                let nodes::RunTimeIndex { code, size, .. } = &tasklet.found[it];
                Index { integer: found[it], value: self.code(&place, code), size: graph.size(size) }
            });
            let indices = indices.collect();
            let origin = tasklet.origin.clone();
            let trap = self.trap(&origin);
            let is_in_while = self.is_in_while;
            items = vec![Item::Checked(BoundsCheck { indices, trap, is_in_while, origin, body: items })];
            at = first;
        }
        items
    }

    /// Code of a tasklet, over what its connectors bring.
    fn code(&mut self, place: &TaskletContext<'_>, code: &Expr<Input>) -> Expr<Read> {
        let mut code = code.map_accesses(&mut |input| {
            let (connector, at) = match input {
                Input::Symbolic(sum) => return Read::Sum(place.graph.affine(sum)),
                Input::Connector(connector) => (*connector, &[][..]),
                Input::Element { connector, at } => (*connector, at.as_slice()),
            };
            let name = &place.tasklet.inputs[connector].name;
            let edge =
                place.state.edges_into(place.node).find(|it| it.target_connector.as_ref() == Some(name));
            let memlet = edge.and_then(|it| it.memlet.as_ref()).expect("an input connector has an edge");
            self.read(place.moved(memlet, at))
        });
        cast_sums(&mut code);
        code
    }

    /// A condition over containers, which it names without connectors. Its indices are known: a statement
    /// before it finds those of run time.
    fn condition(&mut self, graph: &Graph<'_>, condition: &Condition) -> Expr<Read> {
        let mut condition = condition.map_accesses(&mut |operand| match operand {
            Operand::Element { container, index } => {
                self.read(graph.element(*container, index.iter().cloned().map(DimensionIndex::Known)))
            }
            Operand::Symbolic(sum) => Read::Sum(graph.affine(sum)),
        });
        cast_sums(&mut condition);
        condition
    }

    /// Notes that a local is read.
    fn read(&mut self, read: Read) -> Read {
        if let Read::Local(local) = read {
            self.program.locals[local].is_read = true;
        }
        read
    }
}

/// Casts sums of symbols to the type of their expression, where that is not int64.
///
/// A sum is an int64 in all code generators, and an expression may want another type of it.
fn cast_sums(expr: &mut Expr<Read>) {
    match &expr.kind {
        ExprKind::Access(Read::Sum(_)) if expr.dtype != DType::Int64 => {
            let sum = Expr { dtype: DType::Int64, ..expr.clone() };
            expr.kind = ExprKind::Cast(expr.dtype, Box::new(sum));
        }
        _ => expr.operands_mut().into_iter().for_each(cast_sums),
    }
}

impl Graph<'_> {
    /// A sum in the symbols of the whole program.
    fn affine(&self, sum: &Affine) -> Affine {
        let mapped = self.mapped.iter().filter(|(symbol, _)| sum.factor(symbol) != 0);
        // Names inside may be names outside that mean something else, so all are replaced at once.
        let mut whole = Affine::of(
            sum.terms()
                .filter(|(symbol, _)| !self.mapped.contains_key(symbol))
                .map(|(it, n)| (it.clone(), n)),
            sum.offset(),
        );
        for (symbol, value) in mapped {
            let factor = sum.factor(symbol);
            for _ in 0..factor.unsigned_abs() {
                whole = if factor > 0 { &whole + value } else { &whole - value };
            }
        }
        whole
    }

    /// The same for a size.
    fn size(&self, size: &Size) -> Size {
        let all = |parts: &[Size]| parts.iter().map(|it| self.size(it)).collect();
        match size {
            Size::Affine(sum) => Size::Affine(self.affine(sum)),
            Size::Min(parts) => Size::Min(all(parts)),
            Size::Max(parts) => Size::Max(all(parts)),
        }
    }

    /// The element with these indices into the container's array, as its positions.
    fn element(&self, data: Handle<Container>, index: impl Iterator<Item = DimensionIndex>) -> Read {
        let container = &self.sdfg.containers[data];
        let (array, is_own) = match self.places[&data] {
            ContainerBinding::Local(local) => return Read::Local(local),
            // An iteration's own array counts from its own start: that of the domain may be far away.
            ContainerBinding::Array { array, is_private } => (array, is_private),
        };
        let index = index.zip(&container.shift).map(|(at, own)| {
            let none = Affine::default();
            let own = if is_own { &none } else { own };
            match at {
                DimensionIndex::Known(at) => DimensionIndex::Known(self.affine(&(&at - own))),
                DimensionIndex::Found { integer, .. } => {
                    DimensionIndex::Found { integer, shift: self.affine(own) }
                }
            }
        });
        Read::Element(Element { array, index: index.collect() })
    }
}

/// A tasklet, and what its names mean in the generated code.
#[derive(Clone, Copy)]
struct TaskletContext<'s> {
    graph: &'s Graph<'s>,
    state: &'s State,
    node: Handle<Node>,
    tasklet: &'s Tasklet,
    /// The integers that it finds.
    found: &'s [Handle<Integer>],
}

impl TaskletContext<'_> {
    /// The element that the tasklet picks from the subset of a memlet.
    fn moved(&self, memlet: &Memlet, picked: &[nodes::RunTimeSubscript]) -> Read {
        let index = memlet.subset.iter().enumerate().map(|(dimension, range)| {
            match picked.iter().find(|it| it.dimension == dimension) {
                Some(it) => DimensionIndex::Found { integer: self.found[it.found], shift: Affine::default() },
                None => DimensionIndex::Known(
                    range.as_point().expect("a tasklet reads and writes single elements").clone(),
                ),
            }
        });
        self.graph.element(memlet.data, index)
    }
}

/// Whether code reads an element that has to be checked before.
fn picks(code: &Expr<Input>) -> bool {
    let mut is_picked = false;
    code.accesses(&mut |it| is_picked |= matches!(it, Input::Element { .. }));
    is_picked
}
