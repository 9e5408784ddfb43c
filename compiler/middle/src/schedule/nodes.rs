//! The data of the schedule tree.

use std::collections::BTreeSet;

use super::step::{Pin, Step};
use crate::diag::{Origin, Span};
use crate::entity::{Arena, Handle, Spelled};
use crate::expr;
use crate::space::{Affine, Axis, AxisSet, Region, Ring, Size, Symbol};
use crate::types::DType;

/// A stencil as scheduled loops. Sizes of the compute domain are the symbols `I`, `J`, `K`.
#[derive(Clone, Debug, Default)]
pub struct Tree {
    pub name: String,
    pub span: Span,
    /// Arguments in the order of the signature (those that are used), then temporaries, then locals.
    pub containers: Arena<Container>,
    pub children: Vec<Node>,
    /// The steps that led here from the tree as it was lowered, in order.
    pub steps: Vec<Step>,
    /// The choices that passes leave as they are.
    pub pins: BTreeSet<Pin>,
}

/// Something that holds values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Container {
    /// Unique within the tree.
    pub name: String,
    pub dtype: DType,
    pub kind: ContainerKind,
    pub axes: AxisSet,
    /// Per dimension: those of `axes` in their order, then those of data; empty for scalars and locals.
    pub shape: Vec<Size>,
    /// Per dimension: index = position in the compute domain + shift. Data has no positions, and 0 here.
    pub shift: Vec<Affine>,
    pub storage: Storage,
    /// Present where fewer places suffice than the shape says.
    pub ring: Option<Ring>,
    /// The memory of a GPU that an iteration's own array lives in, where a pass has decided that.
    pub place: Option<GpuMemory>,
    pub span: Span,
}

impl Container {
    /// A value of this name, of the type of an element of another container.
    #[must_use]
    pub fn local(name: String, of: &Self) -> Self {
        Self {
            name,
            dtype: of.dtype,
            kind: ContainerKind::Local,
            axes: AxisSet::of(&[]),
            shape: Vec::new(),
            shift: Vec::new(),
            storage: Storage::Register,
            ring: None,
            place: None,
            span: of.span,
        }
    }
}

/// The owner of a container.
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

/// Where a container lives, and for how long.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Storage {
    /// With the caller.
    Caller,
    /// Allocated for the whole run.
    Heap,
    /// An array of its own for each iteration of the loop over this variable, which stands around all its uses.
    /// Its shape and its shift may count from that variable and from those of loops around.
    Private(Symbol),
    /// One value in each iteration of the loops around all its uses.
    Register,
}

/// The memory of a GPU that an iteration's own array lives in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum GpuMemory {
    /// In registers of one thread.
    Register,
    /// In the shared memory of a block.
    Shared,
    /// In the memory of the device.
    Scratch,
    /// In an output, whose final values are written after the last use.
    Over(Handle<Container>),
}

/// A node of the tree.
#[derive(Clone, Debug)]
pub enum Node {
    Loop(Loop),
    If(If),
    While(While),
    Region(RegionScope),
    Where(Where),
    Assign(Assign),
    /// The threads of a GPU's block wait here for each other.
    Barrier,
}

/// A loop over one axis, `start <= variable < end`.
#[derive(Clone, Debug)]
pub struct Loop {
    /// `i`, `j`, `k`: a position of the compute domain, 0 at its start. `i_tile`, ...: the start of a tile of
    /// positions ([`space::names::tile`](crate::space::names::tile)). `i_front`, ...: a front that stages
    /// inside follow at their distances ([`space::names::front`](crate::space::names::front)). Unique on
    /// every path from the root.
    pub variable: Symbol,
    pub axis: Axis,
    pub start: Size,
    pub end: Size,
    /// From one iteration to the next; at least 1, and 1 where the variable is a position.
    pub step: i64,
    pub order: Order,
    pub placement: Placement,
    pub children: Vec<Node>,
}

/// Whether the iterations depend on each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Order {
    /// They do not, and may run at the same time.
    Parallel,
    /// From `start` up.
    Ascending,
    /// From `end - 1` down.
    Descending,
}

/// The hardware that carries out the iterations.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Placement {
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

/// A branch; the condition is evaluated once, before either branch.
#[derive(Clone, Debug)]
pub struct If {
    pub condition: Expr,
    pub then: Vec<Node>,
    pub otherwise: Vec<Node>,
    pub origin: Origin,
}

/// A loop at one point.
#[derive(Clone, Debug)]
pub struct While {
    pub condition: Expr,
    pub body: Vec<Node>,
    pub origin: Origin,
}

/// Limits its children to a rectangle of columns.
#[derive(Clone, Debug)]
pub struct RegionScope {
    pub region: Region,
    pub children: Vec<Node>,
    pub origin: Origin,
}

/// Limits its children to a part of a loop around: `start <= variable < end`.
///
/// Not an [`If`], since it reads nothing but symbols. Not a region either, since nobody wrote it: loops of
/// different ranges were merged here.
#[derive(Clone, Debug)]
pub struct Where {
    pub variable: Symbol,
    pub start: Size,
    pub end: Size,
    pub children: Vec<Node>,
}

/// Writes one element.
#[derive(Clone, Debug)]
pub struct Assign {
    pub target: Access,
    pub value: Expr,
    pub origin: Origin,
}

/// A typed expression.
pub type Expr = expr::Expr<Access>;

/// One element of a container: an index for each dimension.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Access {
    pub container: Handle<Container>,
    pub index: Vec<Subscript>,
}

/// The place of an element along one dimension.
pub type Subscript = expr::Subscript<Access>;

impl Spelled for Container {
    const PREFIX: &'static str = "c";
}
