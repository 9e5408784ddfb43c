//! The SDFG, run as it stands.
//!
//! The nodes of a state run in any order that its edges allow, and the iterations of a map in
//! any order. A nested graph has the containers that are passed into it, and those of its own.

use std::collections::BTreeMap;

use super::machine;
use super::memory::symbols_of_call;
use super::program::{
    Assign, Container, ContainerKind, Element, ElementExpr, ElementIndex, If, IterationOrder, Leaf, Loop,
    Program, Stage, Step, Sum, Symbols, While,
};
use super::run::{Options, Stop, Writers};
use super::shuffle::Chance;
use isobar_compiler::call::launch::Launch;
use isobar_compiler::diag::ProgramOrder;
use isobar_compiler::entity::Handle;
use isobar_compiler::expr::Expr;
use isobar_compiler::sdfg::nodes::{
    self as sdfg, Block, BlockKind, Condition, ControlFlowRegion, Input, LoopOrder, LoopRegion, Map,
    MapParam, Memlet, NestedSdfg, Node, NodeKind, Operand, Sdfg, State, Storage, Strides, Tasklet,
};
use isobar_compiler::space::{Affine, Axis, Size, Symbol, names};

/// Runs a graph. `params` are the names of the arguments of `launch`, whose arrays are updated in place.
/// `order` is that of the text, by which the first of several places is found where the run must end.
///
/// # Errors
///
/// When a fault of the stencil or of the graph ended the run early.
pub fn run(
    sdfg: &Sdfg,
    params: &[&str],
    order: &ProgramOrder,
    launch: &mut Launch,
    options: &Options,
) -> Result<Writers, Stop> {
    if launch.domain.points() == 0 {
        return Ok(Writers::default());
    }
    let program = prepared(sdfg, params, launch, options)?;
    machine::run(&program, order, launch, options)
}

fn prepared(sdfg: &Sdfg, params: &[&str], launch: &Launch, options: &Options) -> Result<Program, Stop> {
    let place = |it: &sdfg::Container| params.iter().position(|name| *name == names::of_stencil(&it.name));
    let arguments = sdfg.arguments.iter().filter_map(|&it| {
        let it = &sdfg.containers[it];
        Some((&*it.name, it.axes, place(it)?))
    });
    let mut graph = Graph { symbols: symbols_of_call(launch, arguments), containers: BTreeMap::new() };
    for (_, it) in sdfg.containers.iter() {
        // No index mentions these: they are for code that finds elements in memory.
        if let Strides::Given(strides) = &it.strides {
            strides.iter().for_each(|it| drop(graph.symbols.set(it, Sum::constant(0))));
        }
    }
    let chance = options.seed.map(Chance::new);
    let mut lowering = Lowering { program: Program::default(), chance };
    for (handle, it) in sdfg.containers.iter() {
        let kind = match (it.is_transient, place(it)) {
            (false, Some(at)) => ContainerKind::Argument(at),
            (false, None) => {
                return Err(Stop::Fault(format!("`{}` is no parameter of the stencil", it.name)));
            }
            (true, _) => kept(it),
        };
        let number = lowering.declare(&graph, it, kind)?;
        graph.containers.insert(handle, number);
    }
    let mut n_parts = 0;
    for block in in_sequence(&sdfg.region)? {
        let stage = lowering.stage(&mut graph, block, n_parts)?;
        n_parts += stage.parts.len();
        lowering.program.stages.push(stage);
    }
    lowering.program.place_registers();
    Ok(lowering.program)
}

fn kept(container: &sdfg::Container) -> ContainerKind {
    match container.storage {
        Storage::Register => ContainerKind::Register,
        Storage::Private => ContainerKind::Private,
        Storage::Caller | Storage::Heap => ContainerKind::Kept,
    }
}

/// A graph, and what its names mean here.
struct Graph {
    symbols: Symbols,
    containers: BTreeMap<Handle<sdfg::Container>, usize>,
}

struct Lowering {
    program: Program,
    chance: Option<Chance>,
}

/// Makes the steps inside of a map.
type Body<'b> = dyn FnMut(&mut Lowering, &mut Graph) -> Result<Vec<Step>, Stop> + 'b;

impl Lowering {
    fn declare(&mut self, graph: &Graph, it: &sdfg::Container, kind: ContainerKind) -> Result<usize, Stop> {
        let (shape, shift) = graph.symbols.measures(&it.shape, &it.shift)?;
        let (name, dtype, axes) = (it.name.clone(), it.dtype, it.axes.iter().collect());
        let ring = it.ring;
        self.program.containers.push(Container {
            name,
            dtype,
            kind,
            axes,
            shape,
            shift,
            ring,
            is_shared: false,
        });
        Ok(self.program.containers.len() - 1)
    }

    /// A block of the outermost graph. The nodes of a state are parts of their own, in an order of chance,
    /// which know their place in the order of the text.
    fn stage(&mut self, graph: &mut Graph, block: &Block, first: usize) -> Result<Stage, Stop> {
        let BlockKind::State(state) = &block.kind else {
            return Ok(Stage { parts: vec![(first, self.block(graph, block)?)] });
        };
        let places: BTreeMap<_, _> =
            ordered(state, None, &mut None)?.into_iter().enumerate().map(|(at, node)| (node, at)).collect();
        let order = ordered(state, None, &mut self.chance)?;
        let parts = order.into_iter().map(|node| {
            let place = places.get(&node).copied().unwrap_or(0);
            Ok((first + place, self.node(graph, state, node)?))
        });
        Ok(Stage { parts: parts.collect::<Result<_, Stop>>()? })
    }

    fn region(&mut self, graph: &mut Graph, region: &ControlFlowRegion) -> Result<Vec<Step>, Stop> {
        let mut steps = Vec::new();
        for block in in_sequence(region)? {
            steps.extend(self.block(graph, block)?);
        }
        Ok(steps)
    }

    fn block(&mut self, graph: &mut Graph, block: &Block) -> Result<Vec<Step>, Stop> {
        Ok(match &block.kind {
            BlockKind::State(state) => self.scope(graph, state, None)?,
            BlockKind::Loop(it) => vec![self.loop_region(graph, it)?],
            BlockKind::While(it) => vec![Step::While(While {
                condition: condition(graph, &it.condition)?,
                body: self.region(graph, &it.body)?,
                origin: it.origin.clone(),
            })],
            BlockKind::Conditional(it) => {
                let mut branches = Vec::new();
                for branch in &it.branches {
                    branches.push((condition(graph, &branch.condition)?, self.region(graph, &branch.body)?));
                }
                let otherwise = match &it.otherwise {
                    Some(otherwise) => self.region(graph, otherwise)?,
                    None => Vec::new(),
                };
                let origin = it.branches.first().map(|it| it.origin.clone());
                vec![Step::If(If { branches, otherwise, origin })]
            }
        })
    }

    fn loop_region(&mut self, graph: &mut Graph, it: &LoopRegion) -> Result<Step, Stop> {
        let order = match it.order {
            LoopOrder::Ascending => IterationOrder::Ascending,
            LoopOrder::Descending => IterationOrder::Descending,
        };
        self.looped(graph, (&it.variable, it.axis), (&it.start, &it.end, it.step), order, |this, graph| {
            this.region(graph, &it.body)
        })
    }

    fn looped(
        &mut self,
        graph: &mut Graph,
        (symbol, axis): (&Symbol, Axis),
        (start, end, stride): (&Size, &Size, i64),
        order: IterationOrder,
        body: impl FnOnce(&mut Self, &mut Graph) -> Result<Vec<Step>, Stop>,
    ) -> Result<Step, Stop> {
        let (start, end) = (graph.symbols.bound(start)?, graph.symbols.bound(end)?);
        let variable = self.program.n_variables;
        self.program.n_variables += 1;
        let outer = graph.symbols.set(symbol, Sum::variable(variable));
        let body = body(self, graph)?;
        graph.symbols.restore(symbol, outer);
        Ok(Step::Loop(Loop { variable, axis, start, end, stride, order, repeats: false, body }))
    }

    fn scope(
        &mut self,
        graph: &mut Graph,
        state: &State,
        scope: Option<Handle<Node>>,
    ) -> Result<Vec<Step>, Stop> {
        let mut steps = Vec::new();
        for node in ordered(state, scope, &mut self.chance)? {
            steps.extend(self.node(graph, state, node)?);
        }
        Ok(steps)
    }

    fn node(&mut self, graph: &mut Graph, state: &State, node: Handle<Node>) -> Result<Vec<Step>, Stop> {
        match &state.nodes[node].kind {
            NodeKind::Access(_) | NodeKind::MapExit { .. } => Ok(Vec::new()),
            NodeKind::Tasklet(it) => {
                Ok(vec![Step::Assign(TaskletPlace { graph, state, node, tasklet: it }.assign()?)])
            }
            NodeKind::MapEntry(map) => self.map(graph, state, node, map),
            NodeKind::NestedSdfg(it) => self.nested(graph, state, node, it),
        }
    }

    fn map(
        &mut self,
        graph: &mut Graph,
        state: &State,
        entry: Handle<Node>,
        map: &Map,
    ) -> Result<Vec<Step>, Stop> {
        self.nest(graph, &map.params, &mut |this, graph| this.scope(graph, state, Some(entry)))
    }

    fn nest(
        &mut self,
        graph: &mut Graph,
        params: &[MapParam],
        body: &mut Body<'_>,
    ) -> Result<Vec<Step>, Stop> {
        let [first, rest @ ..] = params else { return body(self, graph) };
        let bounds = (&first.range.start, &first.range.end, first.step);
        let step = self.looped(
            graph,
            (&first.symbol, first.axis),
            bounds,
            IterationOrder::Parallel,
            |this, graph| this.nest(graph, rest, body),
        )?;
        Ok(vec![step])
    }

    fn nested(
        &mut self,
        outer: &Graph,
        state: &State,
        node: Handle<Node>,
        nested: &NestedSdfg,
    ) -> Result<Vec<Step>, Stop> {
        let mut symbols = Symbols::default();
        for (symbol, value) in &nested.symbol_mapping {
            symbols.set(symbol, outer.symbols.sum(value)?);
        }
        let mut inner = Graph { symbols, containers: BTreeMap::new() };
        for (handle, it) in nested.sdfg.containers.iter() {
            let number = if it.is_transient {
                self.declare(&inner, it, kept(it))?
            } else {
                let memlet = passed(state, node, &it.name);
                let passed = memlet.and_then(|it| outer.containers.get(&it.data));
                let missing =
                    || Stop::Fault(format!("`{}` is not passed into `{}`", it.name, nested.sdfg.name));
                *passed.ok_or_else(missing)?
            };
            inner.containers.insert(handle, number);
        }
        let mut steps = self.region(&mut inner, &nested.sdfg.region)?;
        let is_private = |it: &&usize| self.program.containers[**it].kind == ContainerKind::Private;
        let own = nested.sdfg.containers.iter().filter(|(_, it)| it.is_transient);
        let own: Vec<usize> = own.map(|(handle, _)| inner.containers[&handle]).collect();
        let fresh: Vec<usize> = own.iter().filter(is_private).copied().collect();
        if !fresh.is_empty() {
            steps.insert(0, Step::Fresh(fresh));
        }
        Ok(steps)
    }
}

/// The memlet that is passed into a nested graph, or out of it, under a name.
fn passed<'s>(state: &'s State, node: Handle<Node>, name: &str) -> Option<&'s Memlet> {
    let into = state.edges_into(node).find(|it| it.target_connector.as_deref() == Some(name));
    let out_of = || state.edges_out_of(node).find(|it| it.source_connector.as_deref() == Some(name));
    into.or_else(out_of).and_then(|it| it.memlet.as_ref())
}

/// The nodes right inside a scope in an order that the edges allow.
fn ordered(
    state: &State,
    scope: Option<Handle<Node>>,
    chance: &mut Option<Chance>,
) -> Result<Vec<Handle<Node>>, Stop> {
    let order = match chance {
        None => state.in_order(scope),
        Some(chance) => {
            let ranks: Vec<u64> = state.nodes.handles().map(|_| chance.next()).collect();
            state.in_order_by(scope, |node| ranks[node.index()])
        }
    };
    order.ok_or_else(|| Stop::Fault("a state runs in a circle".to_owned()))
}

/// The blocks of a region in the order in which they run.
fn in_sequence(region: &ControlFlowRegion) -> Result<Vec<&Block>, Stop> {
    let blocks: Vec<&Block> = region.in_sequence().collect();
    if blocks.len() == region.blocks.len() {
        Ok(blocks)
    } else {
        Err(Stop::Fault("the blocks of a region are not one chain".to_owned()))
    }
}

fn condition(graph: &Graph, condition: &Condition) -> Result<ElementExpr, Stop> {
    code(condition, &mut |operand| match operand {
        Operand::Element { container, index } => {
            let index =
                index.iter().map(|it| Ok(ElementIndex { known: graph.symbols.sum(it)?, found: None }));
            let index = index.collect::<Result<_, Stop>>()?;
            Ok(Leaf::Element(Element { container: graph.number(*container)?, index }))
        }
        Operand::Symbolic(sum) => Ok(Leaf::Sum(graph.symbols.sum(sum)?)),
    })
}

/// An expression with its leaves replaced.
fn code<A>(expr: &Expr<A>, leaf: &mut impl FnMut(&A) -> Result<Leaf, Stop>) -> Result<ElementExpr, Stop> {
    let mut wrong = None;
    let code = expr.map_accesses(&mut |it| {
        leaf(it).unwrap_or_else(|why| {
            wrong.get_or_insert(why);
            Leaf::Sum(Sum::constant(0))
        })
    });
    wrong.map_or(Ok(code), Err)
}

impl Graph {
    fn number(&self, container: Handle<sdfg::Container>) -> Result<usize, Stop> {
        let unknown = || Stop::Fault("a container is used in a graph that does not have it".to_owned());
        self.containers.get(&container).copied().ok_or_else(unknown)
    }
}

/// A tasklet, and what its names mean.
#[derive(Clone, Copy)]
struct TaskletPlace<'s> {
    graph: &'s Graph,
    state: &'s State,
    node: Handle<Node>,
    tasklet: &'s Tasklet,
}

impl TaskletPlace<'_> {
    fn assign(self) -> Result<Assign, Stop> {
        let value = self.code(&self.tasklet.code)?;
        let name = &self.tasklet.output.name;
        let edge = self.state.edges_out_of(self.node).find(|it| it.source_connector.as_ref() == Some(name));
        let memlet = edge.and_then(|it| it.memlet.as_ref());
        let memlet = memlet.ok_or_else(|| Stop::Fault(format!("`{name}` goes nowhere")))?;
        let target = self.element(memlet, &self.tasklet.output_at)?;
        Ok(Assign { target, value, origin: self.tasklet.origin.clone() })
    }

    fn code(self, expr: &Expr<Input>) -> Result<ElementExpr, Stop> {
        code(expr, &mut |input| {
            let (connector, at) = match input {
                Input::Symbolic(sum) => return Ok(Leaf::Sum(self.graph.symbols.sum(sum)?)),
                Input::Connector(connector) => (*connector, &[][..]),
                Input::Element { connector, at } => (*connector, at.as_slice()),
            };
            let name = self.tasklet.inputs.get(connector).map(|it| &it.name);
            let edge = self.state.edges_into(self.node).find(|it| it.target_connector.as_ref() == name);
            let memlet = edge.and_then(|it| it.memlet.as_ref());
            let missing = || Stop::Fault(format!("nothing comes in at connector {connector}"));
            Ok(Leaf::Element(self.element(memlet.ok_or_else(missing)?, at)?))
        })
    }

    /// The element that is picked of what a memlet moves.
    fn element(self, memlet: &Memlet, picked: &[sdfg::RunTimeSubscript]) -> Result<Element, Stop> {
        let index = memlet.subset.iter().enumerate().map(|(dimension, range)| {
            if let Some(picked) = picked.iter().find(|it| it.dimension == dimension) {
                let missing = || Stop::Fault("an index is found nowhere".to_owned());
                let found = self.tasklet.found.get(picked.found).ok_or_else(missing)?;
                // Evaluated anew at each use, which gives the same: the tasklet has not written yet.
                let found = Some(Box::new(self.code(&found.code)?));
                return Ok(ElementIndex { known: Sum::constant(0), found });
            }
            let several = || Stop::Fault("a tasklet moves more than one element".to_owned());
            let known: &Affine = range.as_point().ok_or_else(several)?;
            Ok(ElementIndex { known: self.graph.symbols.sum(known)?, found: None })
        });
        let index = index.collect::<Result<_, Stop>>()?;
        Ok(Element { container: self.graph.number(memlet.data)?, index })
    }
}
