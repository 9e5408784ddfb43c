//! The data of a program: functions of statements that name arrays, locals and integers by their handles.

mod decisions;

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::diag::{Origin, Span, StmtId};
use crate::entity::{Arena, Handle, Namer};
use crate::expr::Expr;
use crate::space::order::is_at_most;
use crate::space::{Affine, Axis, AxisSet, Ring, Size, Symbol};
use crate::types::DType;

pub use decisions::{Decisions, Lanes, RowBuffer, SkippedArms, Stores};

/// A graph as functions; each step is one of them, called after the other.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Program {
    pub name: String,
    /// Each after those that it launches.
    pub functions: Arena<Function>,
    pub steps: Vec<Step>,
    /// Those that the caller passes, in the order of the signature.
    pub arguments: Vec<Handle<Array>>,
    pub locals: Arena<Local>,
    /// The arrays that code names: those of the outermost graph. Behind them stand the arrays that an
    /// iteration of some loop has for itself.
    pub arrays: Arena<Array>,
    pub integers: Arena<Integer>,
    pub symbols: BTreeMap<Symbol, SymbolMeaning>,
    /// How many handles of loops were given away: see [`Program::new_loop`].
    pub n_loops: usize,
    /// The same for branches: see [`Program::new_branch`].
    pub n_branches: usize,
    /// The decisions of passes about all of it.
    pub decisions: Decisions,
    /// Gives names to what passes add.
    pub namer: Namer,
}

/// The meaning of a symbol.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum SymbolMeaning {
    /// The size of the compute domain.
    Size(Axis),
    /// The levels that an array has beside those of the compute domain.
    Levels { array: Handle<Array>, side: Side },
    /// The position of a loop, under this name.
    Position(String),
}

/// A function that runs when the one before it has ended.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Step {
    pub function: Handle<Function>,
    /// Whether it spreads its work over the cores itself.
    pub is_spread: bool,
    /// The sweeps of the text that may end the run here.
    pub ending: BTreeSet<u32>,
}

/// The subject of a step.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StepSubject {
    /// The arrays that it writes, by their names in the stencil, in the order of its text. Arrays that each
    /// thread has for itself count only if there are no others.
    pub writes: Vec<String>,
    /// Where its statements stand in the stencil, each once, in the order of the file.
    pub spans: Vec<Span>,
}

/// A function of the program.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Function {
    pub name: String,
    /// The step that it belongs to, counted from 1.
    pub step: usize,
    /// Positions that it gets.
    pub positions: Vec<Symbol>,
    pub body: Vec<Item>,
}

/// An array in memory, or one value that the caller passes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Array {
    /// The name in code; none for a local.
    pub name: Option<String>,
    /// As the stencil calls it.
    pub stencil_name: String,
    pub dtype: DType,
    pub kind: ArrayKind,
    pub axes: AxisSet,
    /// Per dimension: those of `axes` in their order, then those of data; empty for one value.
    pub shape: Vec<Size>,
    /// Per dimension: index = position in the compute domain + shift. Data has no positions, and 0 here.
    pub shift: Vec<Affine>,
    pub strides: Strides,
    pub storage: Storage,
    /// The ring, where fewer elements are kept along a dimension than the shape says.
    pub ring: Option<Ring>,
    /// Which memory of a GPU it lives in, where the schedule tells that.
    pub place: Option<GpuMemory>,
    /// For an array that each iteration has for itself: the innermost of the loops around that a GPU spreads.
    pub owner: Option<GpuAxis>,
    /// Whether each thread has one.
    pub is_per_thread: bool,
}

/// The role of an array in the stencil.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ArrayKind {
    /// A field of the caller; what the program does with it.
    Field { is_read: bool, is_written: bool },
    /// A scalar of the caller.
    Scalar,
    /// An array that does not outlive the run.
    Temporary,
}

/// How far apart neighbours along each dimension lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Strides {
    /// Known at the call only.
    Given,
    /// Without gaps, the first dimension fastest.
    Packed,
}

/// Where an array lives, and for how long.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Storage {
    /// With the caller.
    Caller,
    /// Allocated for the whole run.
    Heap,
    /// An array of its own for each iteration of the loops around its uses.
    Private,
    /// It is a local.
    Register,
}

/// Where on a GPU an array lives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum GpuMemory {
    /// In registers of one thread.
    Register,
    /// In the shared memory of a block; that of a thread as one element for each thread.
    Shared,
    /// In the memory of the device, one for each thread or block.
    Scratch,
    /// In an output. Along the axes that both arrays have, the index is
    /// the same position. Along all other axes of the output, it is the position of the loops around. The
    /// final values of the output are written after the last use.
    Over(Handle<Array>),
}

/// A value that lives in a block.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Local {
    pub name: String,
    pub dtype: DType,
    /// Whether a statement or a condition uses its value.
    pub is_read: bool,
}

/// An integer that is found at run time, or a counter of iterations.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Integer {
    pub name: String,
}

/// A leaf of an expression.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Read {
    Element(Element),
    Local(Handle<Local>),
    /// An integer made of symbols.
    Sum(Affine),
}

/// An element in memory; one value, where there are no indices.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Element {
    pub array: Handle<Array>,
    /// Per dimension, counted from the start of the compute domain, or of the array where that is an iteration's own.
    pub index: Vec<DimensionIndex>,
}

/// An index into one dimension.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum DimensionIndex {
    Known(Affine),
    /// An integer of run time, less the shift.
    Found {
        integer: Handle<Integer>,
        shift: Affine,
    },
}

/// A statement.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum Item {
    Assign(Assign),
    Declare(Declare),
    Checked(BoundsCheck),
    For(For),
    Strips(Strips),
    Launch(Launch),
    If(If),
    While(While),
    /// The threads of a GPU's block wait here for each other.
    Barrier,
}

/// `target = value;`
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Assign {
    pub target: Target,
    pub value: Expr<Read>,
    pub origin: Origin,
}

/// The target of an assignment.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Target {
    Element(Element),
    Local(Handle<Local>),
}

/// Indices that are found at run time, and the statements that run if all of them exist.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct BoundsCheck {
    pub indices: Vec<Index>,
    pub trap: Trap,
    /// Whether it stands in the body of a `while`. That loop must end where the check fails, since the
    /// statements that would end it are left out.
    pub is_in_while: bool,
    pub origin: Origin,
    pub body: Vec<Item>,
}

/// An index under a name, and the size that it has to be less than.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Index {
    pub integer: Handle<Integer>,
    pub value: Expr<Read>,
    pub size: Size,
}

/// The report where the run must end: the statement, the cell, and the numbers that order several reports.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Trap {
    pub statement: StmtId,
    /// Which loop over the levels it stands in, in the text.
    pub sweep: u32,
    /// The level, in the order in which a sweep comes to it; 0 where levels have no order.
    pub turn: Affine,
    /// The outermost statement around, which is finished at all points before the next one starts.
    pub outermost: StmtId,
    pub cell: [Affine; 3],
}

/// A local, declared before its first use, with the value of its first assignment where that stands in the same block.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Declare {
    pub local: Handle<Local>,
    /// The value, and the statement that it is from.
    pub value: Option<(Expr<Read>, Origin)>,
    pub is_const: bool,
}

/// A loop over positions.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct For {
    /// The loop's own; tables of decisions name it by this.
    pub id: Handle<For>,
    pub positions: Positions,
    pub axis: Axis,
    pub is_descending: bool,
    /// Whether its iterations do not depend on each other.
    pub is_parallel: bool,
    /// Whether the schedule gives them to vector lanes, and no pass has taken them from there.
    pub is_simd: bool,
    /// Which dimension of a GPU's grid or of its blocks the schedule gives them to, if any.
    pub gpu: Option<GpuAxis>,
    pub body: Vec<Item>,
}

/// The part of a GPU that a loop is spread over.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum GpuAxis {
    Grid,
    Block,
}

/// A loop along a row, strip-mined: each part runs for all iterations of a strip before the next part does.
///
/// The iterations are parallel and ascend by 1. Each sees the same operations in the same order as in one loop.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Strips {
    pub positions: Positions,
    /// Iterations of a strip.
    pub width: u32,
    /// Locals that go from one part to another, in order: each iteration of a strip has its own.
    pub kept: Vec<Handle<Local>>,
    pub parts: Vec<StripPart>,
}

/// A part of a strip-mined loop.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum StripPart {
    /// Runs in lanes.
    Lanes(Vec<Item>),
    /// Repeats its parts as long as an iteration of the strip goes on. Iterations that have ended keep their
    /// values.
    While(Box<WhileOfStrip>),
    /// Runs each arm that some iteration of the strip takes, for those iterations.
    Branch(BranchOfStrip),
}

/// Branches of strips are nested at most so deep.
pub const MOST_BRANCHES: usize = 3;

/// A branch of all iterations of a strip: an arm that none of them takes is skipped.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct BranchOfStrip {
    /// The first whose condition holds is taken.
    pub arms: Vec<ArmOfStrip>,
    pub otherwise: Vec<StripPart>,
}

/// An arm of a branch of a strip.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ArmOfStrip {
    pub condition: Expr<Read>,
    pub origin: Origin,
    pub parts: Vec<StripPart>,
}

impl BranchOfStrip {
    /// The parts of all arms, those of the last one without a condition.
    pub fn arms(&self) -> impl Iterator<Item = &[StripPart]> {
        self.arms.iter().map(|it| it.parts.as_slice()).chain([self.otherwise.as_slice()])
    }
}

/// A `while` of all iterations of a strip.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct WhileOfStrip {
    pub condition: Expr<Read>,
    pub origin: Origin,
    /// The report of a loop that does not end.
    pub trap: Trap,
    /// The counter of iterations.
    pub counter: Handle<Integer>,
    /// Each is a loop in lanes.
    pub parts: Vec<Vec<Item>>,
}

/// The variable of a loop, its start, its end and its step.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Positions {
    pub variable: Symbol,
    pub start: Size,
    pub end: Size,
    pub step: i64,
}

impl Positions {
    /// Returns the only position of a loop that has at most one, and the conditions on its existence. Each
    /// condition is a pair of sizes: the first must be below the second.
    #[must_use]
    pub fn only_turn(&self) -> Option<(Size, Vec<(Size, Size)>)> {
        if self.step != 1 || !is_at_most(&self.end, &self.start.moved(1)) {
            return None;
        }
        // Where there is a position it is the first and the last.
        let is_simple = matches!(self.start, Size::Affine(_)) || !matches!(self.end, Size::Affine(_));
        let position = if is_simple { self.start.clone() } else { self.end.moved(-1) };
        let lows = match &self.start {
            Size::Max(parts) => parts.clone(),
            one => vec![one.clone()],
        };
        let lows = lows.into_iter().filter(|it| !is_at_most(&it.moved(1), &self.end));
        Some((position, lows.map(|it| (it, self.end.clone())).collect()))
    }
}

/// Calls a function for positions in parallel; without positions, once.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Launch {
    pub positions: Vec<Positions>,
    pub function: Handle<Function>,
    /// Positions of the loops around, that the function gets before its own.
    pub outer: Vec<Symbol>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct If {
    /// The branch's own; tables of decisions name it by this.
    pub id: Handle<If>,
    pub branches: Vec<Branch>,
    pub otherwise: Vec<Item>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Branch {
    pub condition: Expr<Read>,
    pub origin: Origin,
    pub body: Vec<Item>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct While {
    pub condition: Expr<Read>,
    pub origin: Origin,
    /// The report of a loop that does not end.
    pub trap: Trap,
    /// The counter of iterations.
    pub counter: Handle<Integer>,
    pub body: Vec<Item>,
}

/// Bytes of a cache line, and of the widest vector. Memory that a run allocates starts at a multiple of it,
/// and so do the rows of threads.
pub const LINE_BYTES: u64 = 64;

/// Bytes that stay free between the arrays of one thread and those of the next: one page. Processors fetch
/// ahead up to the end of a page. If one of them writes a line that another one has fetched, both have to
/// wait.
pub const BETWEEN_THREADS: u32 = 4096;

/// Returns the bytes that so many threads take with `own` bytes each; none where that is beyond any memory.
#[must_use]
pub fn bytes_of_threads(own: u64, threads: u32) -> Option<u64> {
    if own == 0 {
        Some(0)
    } else {
        own.checked_add(u64::from(BETWEEN_THREADS))?.checked_mul(u64::from(threads))
    }
}

/// Below the compute domain, or above it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Side {
    Below,
    Above,
}

impl Side {
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Side::Below => "below",
            Side::Above => "above",
        }
    }
}

impl Element {
    /// Whether this one and another one of the array are never the same.
    #[must_use]
    pub fn is_apart_from(&self, other: &Self, ring: Option<Ring>) -> bool {
        (0..self.index.len()).any(|it| self.is_apart_along(it, other, ring))
    }

    /// Whether they are never the same, in any two iterations of the loop over a variable.
    #[must_use]
    pub fn is_apart_from_all(&self, other: &Self, ring: Option<Ring>, variable: &Symbol) -> bool {
        let is_same =
            |at: &DimensionIndex| matches!(at, DimensionIndex::Known(sum) if sum.factor(variable) == 0);
        (0..self.index.len()).any(|it| is_same(&self.index[it]) && self.is_apart_along(it, other, ring))
    }

    fn is_apart_along(&self, dimension: usize, other: &Self, ring: Option<Ring>) -> bool {
        let (Some(DimensionIndex::Known(one)), Some(DimensionIndex::Known(other))) =
            (self.index.get(dimension), other.index.get(dimension))
        else {
            return false;
        };
        let places = Ring::places_along(ring, dimension);
        one.distance_from(other).is_some_and(|it| places.map_or(it, |places| it % places) != 0)
    }
}

impl Array {
    /// Gives it a name that resembles `wanted`, and keeps the names of its strides and levels free.
    pub(super) fn with_name(mut self, wanted: &str, namer: &mut Namer) -> Self {
        let sides = [Side::Below, Side::Above].map(|it| format!("_{}", it.name()));
        let sides = sides.into_iter().filter(|_| self.level_symbols().next().is_some());
        // Code that stores its rows past the caches needs these names.
        let is_field = matches!(self.kind, ArrayKind::Field { .. });
        let rows = ["_row", "_to", "_step"].into_iter().filter(|_| is_field).map(str::to_owned);
        let suffixes: Vec<String> =
            (0..self.shape.len()).map(|it| self.suffix(it)).chain(sides).chain(rows).collect();
        let suffixes: Vec<&str> = suffixes.iter().map(String::as_str).collect();
        self.name = (self.storage != Storage::Register).then(|| namer.family(wanted, &suffixes));
        self
    }

    /// Returns the suffix of its name in the name of its stride along a dimension.
    #[must_use]
    pub fn suffix(&self, dimension: usize) -> String {
        match self.axes.iter().nth(dimension) {
            Some(axis) => format!("_{}", axis.position_name()),
            None => format!("_d{}", dimension - self.axes.len()),
        }
    }

    /// The symbols in its shape beside the sizes of the compute domain: how many levels it has.
    pub fn level_symbols(&self) -> impl Iterator<Item = &Symbol> {
        let sums = self.shape.iter().filter_map(|it| match it {
            Size::Affine(sum) => Some(sum),
            Size::Min(_) | Size::Max(_) => None,
        });
        let is_size = |symbol: &Symbol| Axis::ALL.iter().any(|axis| axis.name() == symbol.name());
        sums.flat_map(Affine::terms).map(|(symbol, _)| symbol).filter(move |it| !is_size(it))
    }

    /// Whether it is one value.
    #[must_use]
    pub fn is_scalar(&self) -> bool {
        self.shape.is_empty()
    }

    /// Whether a run allocates it.
    #[must_use]
    pub fn is_own(&self) -> bool {
        matches!(self.storage, Storage::Heap | Storage::Private)
    }

    /// The length along each dimension, with so many unused elements before a row.
    fn places(&self, row_start: u64) -> impl Iterator<Item = Size> {
        let free = row_start as i64;
        let along =
            move |(dimension, size): (usize, Size)| if dimension == 0 { size.moved(free) } else { size };
        let places = self.shape.iter().enumerate().map(|(dimension, size)| {
            match Ring::places_along(self.ring, dimension) {
                Some(places) => Affine::constant(places).into(),
                None => size.clone(),
            }
        });
        places.enumerate().map(along)
    }

    /// The multiple to which the length along its first dimension is rounded up, in elements. With it, all
    /// rows that a thread has for itself start at a cache line.
    #[must_use]
    pub fn row_unit(&self) -> u64 {
        let is_of_rows = self.is_per_thread && self.shape.len() > 1;
        if is_of_rows { LINE_BYTES / self.dtype.size_bytes() as u64 } else { 1 }
    }

    /// Whether it is one value that the caller passes.
    #[must_use]
    pub fn is_scalar_argument(&self) -> bool {
        self.is_scalar() && self.storage == Storage::Caller
    }

    /// The dimensions along which the stride is not 1 by construction.
    #[must_use]
    pub fn strided(&self) -> std::ops::Range<usize> {
        usize::from(self.strides == Strides::Packed)..self.shape.len()
    }
}

/// A handle that was not given away before, by the number of those that were.
pub(super) fn next_handle<T>(n: &mut usize) -> Handle<T> {
    *n += 1;
    Handle::new(*n - 1)
}

impl Program {
    /// Gives away the handle of a loop, which no other loop has.
    pub fn new_loop(&mut self) -> Handle<For> {
        next_handle(&mut self.n_loops)
    }

    /// Gives away the handle of a branch, which no other branch has.
    pub fn new_branch(&mut self) -> Handle<If> {
        next_handle(&mut self.n_branches)
    }

    /// The length of an array along each dimension, with the unused elements before a row.
    pub fn places(&self, array: Handle<Array>) -> impl Iterator<Item = Size> {
        self.arrays[array].places(self.decisions.row_start(array))
    }

    /// Returns the least sweep in which a later step may end the run, if a sweep up to this step stands
    /// behind it. A trap in a sweep behind the returned one does not end the run yet: a later step may have
    /// an earlier trap.
    #[must_use]
    pub fn least_sweep_after(&self, step: usize) -> Option<u32> {
        let so_far = self.steps[..=step].iter().flat_map(|it| &it.ending).max()?;
        let to_come = self.steps[step + 1..].iter().flat_map(|it| &it.ending).min()?;
        (to_come < so_far).then_some(*to_come)
    }
}
