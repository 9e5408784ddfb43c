//! The data of the SDFG.

use std::collections::BTreeSet;

use super::edges::Edges;
use crate::diag::{Origin, ProgramOrder, Span, StmtId};
use crate::entity::{Arena, Handle, Spelled};
use crate::expr;
use crate::space::{Affine, Axis, AxisSet, Ring, Size, Symbol};
use crate::types::DType;

/// A stencil as data flow, or the part of one that a map holds.
#[derive(Clone, Debug, Default)]
pub struct Sdfg {
    pub name: String,
    pub span: Span,
    /// Everything that is not transient; of the outermost graph, in the order of the signature.
    pub arguments: Vec<Handle<Container>>,
    pub containers: Arena<Container>,
    /// Integers that come from outside: sizes of the domain and strides of the caller's fields. In a nested
    /// graph, also the variables of the loops around it.
    pub symbols: Vec<Symbol>,
    pub region: ControlFlowRegion,
    /// Of the outermost graph: statements whose maps are not fused with those before them, since somebody
    /// pinned that.
    pub apart: BTreeSet<StmtId>,
    /// Of the outermost graph: when its statements run as they are written, where that is known.
    pub order: ProgramOrder,
}

/// Something that holds values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Container {
    /// Unique within its graph; one container keeps its name in the graphs that it is passed into.
    pub name: String,
    pub dtype: DType,
    pub kind: ContainerKind,
    /// Whether its values come into being and end with this graph.
    pub is_transient: bool,
    pub axes: AxisSet,
    /// Per dimension: those of `axes` in their order, then those of data; empty for one value.
    pub shape: Vec<Size>,
    /// Per dimension: index = position in the compute domain + shift. Data has no positions, and 0 here.
    pub shift: Vec<Affine>,
    pub strides: Strides,
    pub storage: Storage,
    /// Present where fewer places suffice than the shape says.
    pub ring: Option<Ring>,
    /// The memory of a GPU that it lives in, where that is decided; a file does not tell it.
    pub place: Option<GpuMemory>,
    pub span: Span,
}

/// The role of a container in the stencil.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ContainerKind {
    /// A field of the caller, and whether the stencil reads and writes it.
    Field { is_read: bool, is_written: bool },
    /// A scalar of the caller.
    Scalar,
    /// A field that does not outlive the stencil.
    Temporary,
    /// One value that does not outlive the iteration that wrote it.
    Local,
}

/// How far apart neighbours along each dimension lie.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Strides {
    /// Known at the call only: a symbol per dimension.
    Given(Vec<Symbol>),
    /// Without gaps, the first dimension fastest.
    Packed,
}

/// Where a container lives, and for how long.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Storage {
    /// With the caller.
    Caller,
    /// Allocated for the whole run.
    Heap,
    /// An array of its own for each time that its graph runs.
    Private,
    /// One value in each iteration of the scopes around all its uses.
    Register,
}

/// The memory of a GPU for an array of a graph that a map of a grid or of blocks holds.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum GpuMemory {
    /// In registers of one thread.
    Register,
    /// In the shared memory of a block.
    Shared,
    /// In the memory of the device.
    Scratch,
    /// In the output of this name, whose final values are written after the last use.
    Over(String),
}

/// Blocks that run one after the other along the edges, from the first one on.
#[derive(Clone, Debug, Default)]
pub struct ControlFlowRegion {
    pub blocks: Vec<Block>,
    pub edges: Vec<InterstateEdge>,
}

/// An edge between blocks of a region, named by position. Branches and loops are
/// blocks of their own here, so an edge has neither condition nor assignments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InterstateEdge {
    pub source: usize,
    pub target: usize,
    /// Whether the threads of a GPU's block wait for each other on it.
    pub is_barrier: bool,
}

/// One step of the control flow.
#[derive(Clone, Debug)]
pub struct Block {
    /// Unique within the graph.
    pub label: String,
    pub kind: BlockKind,
}

/// The kind of a block, with its content.
#[derive(Clone, Debug)]
pub enum BlockKind {
    State(State),
    Loop(LoopRegion),
    While(WhileLoop),
    Conditional(ConditionalBlock),
}

/// A loop whose iterations run in order, `start <= variable < end`.
#[derive(Clone, Debug)]
pub struct LoopRegion {
    pub variable: Symbol,
    pub axis: Axis,
    pub start: Size,
    pub end: Size,
    /// From one iteration to the next, at least 1; 1 where the loop descends.
    pub step: i64,
    pub order: LoopOrder,
    pub body: ControlFlowRegion,
}

/// From which end a loop runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum LoopOrder {
    Ascending,
    Descending,
}

/// A loop at one point, as long as the condition holds.
#[derive(Clone, Debug)]
pub struct WhileLoop {
    pub condition: Condition,
    pub body: ControlFlowRegion,
    pub origin: Origin,
}

/// Runs the first branch whose condition holds, else `otherwise`.
#[derive(Clone, Debug)]
pub struct ConditionalBlock {
    pub branches: Vec<Branch>,
    pub otherwise: Option<ControlFlowRegion>,
}

/// One branch of a [`ConditionalBlock`].
#[derive(Clone, Debug)]
pub struct Branch {
    pub condition: Condition,
    pub body: ControlFlowRegion,
    pub origin: Origin,
}

/// A bool that is evaluated once when control flow gets there.
pub type Condition = expr::Expr<Operand>;

/// An operand of a condition.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Operand {
    Element {
        container: Handle<Container>,
        index: Vec<Affine>,
    },
    /// An integer made of symbols.
    Symbolic(Affine),
}

/// Acyclic data flow: nodes without a path between them may run in any order.
#[derive(Clone, Debug, Default)]
pub struct State {
    pub nodes: Arena<Node>,
    pub edges: Edges,
}

/// A node of a state.
#[derive(Clone, Debug)]
pub struct Node {
    pub kind: NodeKind,
    /// The entry of the map around it.
    pub scope: Option<Handle<Node>>,
}

/// The kind of a node.
#[derive(Clone, Debug)]
pub enum NodeKind {
    /// A container, at one moment of the state.
    Access(Handle<Container>),
    Tasklet(Tasklet),
    MapEntry(Map),
    MapExit {
        entry: Handle<Node>,
    },
    NestedSdfg(NestedSdfg),
}

/// One statement without control flow: reads its inputs, then writes its output.
#[derive(Clone, Debug)]
pub struct Tasklet {
    pub inputs: Vec<Connector>,
    /// Indices that are found at run time, in the order in which they are evaluated. Where one is outside of
    /// its dimension, the run ends with a trap, and nothing behind it is evaluated or written.
    pub found: Vec<RunTimeIndex>,
    pub output: Connector,
    /// The place of the output, in the dimensions that its memlet moves as a whole.
    pub output_at: Vec<RunTimeSubscript>,
    /// Has the type of the output.
    pub code: expr::Expr<Input>,
    pub origin: Origin,
}

/// The index into one dimension of a container, by position in [`Tasklet::found`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RunTimeSubscript {
    pub dimension: usize,
    pub found: usize,
}

/// An index that is found at run time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunTimeIndex {
    /// Different from every container, symbol and connector.
    pub name: String,
    /// An int64, which reads nothing that is found later.
    pub code: expr::Expr<Input>,
    /// The index has to be at least 0 and less than this.
    pub size: Size,
}

/// The end of an edge at a tasklet: one value under a name, or an array from which the tasklet picks one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Connector {
    /// Different from every container and symbol of the graph.
    pub name: String,
    pub dtype: DType,
}

/// An operand of a tasklet's code.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Input {
    /// The input connector of that position.
    Connector(usize),
    /// The element of an array at a connector that is found at run time.
    Element {
        connector: usize,
        /// The place of the element, in the dimensions that the memlet moves as a whole.
        at: Vec<RunTimeSubscript>,
    },
    /// An integer made of symbols.
    Symbolic(Affine),
}

/// Iterations that do not depend on each other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Map {
    pub params: Vec<MapParam>,
    pub schedule: Schedule,
}

/// A parameter of a map, `start <= symbol < end`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MapParam {
    pub symbol: Symbol,
    pub axis: Axis,
    pub range: Range,
    /// From one iteration to the next, at least 1.
    pub step: i64,
}

/// The hardware that carries out the iterations of a map.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Schedule {
    /// One after the other.
    Sequential,
    /// Spread over the cores.
    Threads,
    /// Lanes of a vector unit.
    Simd,
    /// Blocks of a GPU's grid.
    Grid,
    /// Threads of one block of a GPU.
    Block,
}

/// A graph as a node: the body of a map that has control flow, or statements that data flow alone does not
/// put in order.
///
/// Its containers that are not transient are whole containers of the graph around it, under connectors of
/// their names.
#[derive(Clone, Debug)]
pub struct NestedSdfg {
    pub sdfg: Sdfg,
    pub inputs: Vec<String>,
    pub outputs: Vec<String>,
    /// Inner symbol, and its value outside.
    pub symbol_mapping: Vec<(Symbol, Affine)>,
}

/// Data on its way from one node to another; without a memlet, only an order.
#[derive(Clone, Debug)]
pub struct Edge {
    pub source: Handle<Node>,
    /// The value of a tasklet, or the argument of a nested graph. An access node has none. Neither has the
    /// entry or the exit of a map: each container passes through it once, and the memlet tells which one.
    pub source_connector: Option<String>,
    pub target: Handle<Node>,
    /// As for the source.
    pub target_connector: Option<String>,
    pub memlet: Option<Memlet>,
}

/// Which elements move along an edge.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Memlet {
    pub data: Handle<Container>,
    /// One range of indices per dimension.
    pub subset: Vec<Range>,
    pub volume: Volume,
}

/// A half-open range of integers.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Range {
    pub start: Size,
    pub end: Size,
}

/// How many elements move: the sum, over the terms, of the number times the lengths of the ranges.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Volume {
    pub terms: Vec<(u64, Vec<Range>)>,
    /// Whether it is only a bound, since control flow decides.
    pub is_bound: bool,
}

impl Range {
    #[must_use]
    pub fn new(start: Size, end: Size) -> Self {
        Self { start, end }
    }

    /// The one index `at`.
    #[must_use]
    pub fn point(at: &Affine) -> Self {
        Self { start: at.clone().into(), end: at.clone().moved(1).into() }
    }

    /// The one index that it holds, where it can be seen to hold one.
    #[must_use]
    pub fn as_point(&self) -> Option<&Affine> {
        let (Size::Affine(start), Size::Affine(end)) = (&self.start, &self.end) else { return None };
        (end.distance_from(start) == Some(1)).then_some(start)
    }
}

impl Volume {
    /// One element.
    #[must_use]
    pub fn one() -> Self {
        Self { terms: vec![(1, Vec::new())], is_bound: false }
    }

    /// One element, or none where a trap comes before it.
    #[must_use]
    pub fn at_most_one() -> Self {
        Self { is_bound: true, ..Self::one() }
    }
}

impl Memlet {
    /// One element of `data`.
    #[must_use]
    pub fn element(data: Handle<Container>, index: &[Affine]) -> Self {
        Self { data, subset: index.iter().map(Range::point).collect(), volume: Volume::one() }
    }

    /// The index of the one element that moves.
    #[must_use]
    pub fn as_element(&self) -> Option<Vec<Affine>> {
        self.subset.iter().map(|range| range.as_point().cloned()).collect()
    }
}

impl Container {
    /// The symbols in its shape beside the sizes of the compute domain. They tell how many levels its array
    /// has.
    pub fn level_symbols(&self) -> impl Iterator<Item = &Symbol> {
        let sums = self.shape.iter().filter_map(|it| match it {
            Size::Affine(sum) => Some(sum),
            Size::Min(_) | Size::Max(_) => None,
        });
        let is_size = |symbol: &Symbol| Axis::ALL.iter().any(|axis| axis.name() == symbol.name());
        sums.flat_map(Affine::terms).map(|(symbol, _)| symbol).filter(move |it| !is_size(it))
    }

    /// How many positions along each dimension have a place of their own.
    pub fn places(&self) -> impl Iterator<Item = Size> {
        let all = self.shape.iter().enumerate();
        all.map(|(dimension, size)| match Ring::places_along(self.ring, dimension) {
            Some(places) => Affine::constant(places).into(),
            None => size.clone(),
        })
    }

    /// Whether it is one value and not an array.
    #[must_use]
    pub fn is_scalar(&self) -> bool {
        self.shape.is_empty()
    }
}

impl ControlFlowRegion {
    /// The blocks one after the other.
    #[must_use]
    pub fn sequence(blocks: Vec<Block>) -> Self {
        Self::with_barriers(blocks.into_iter().map(|it| (it, false)).collect())
    }

    /// The blocks one after the other, each with whether a barrier stands before it; there is none before the first.
    #[must_use]
    pub fn with_barriers(blocks: Vec<(Block, bool)>) -> Self {
        let (blocks, barriers): (Vec<_>, Vec<_>) = blocks.into_iter().unzip();
        let edge = |at: usize| InterstateEdge { source: at - 1, target: at, is_barrier: barriers[at] };
        let edges = (1..blocks.len()).map(edge).collect();
        Self { blocks, edges }
    }
}

impl Spelled for Container {
    const PREFIX: &'static str = "c";
}
impl Spelled for Node {
    const PREFIX: &'static str = "n";
}
