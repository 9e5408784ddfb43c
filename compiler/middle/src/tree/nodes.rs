//! The data of the Tree IR.

use crate::diag::{Origin, Span};
use crate::entity::{Arena, Handle, Spelled};
use crate::expr;
use crate::space::{Affine, Axis, AxisSet, LoopOrder, Region, Size};
use crate::types::DType;

/// A stencil as a tree of loops. The sizes of the compute domain are the symbols `I`, `J`, `K`. The loop
/// variables are `i`, `j`, `k`, 0 at the start of the compute domain.
#[derive(Clone, Debug, Default)]
pub struct Tree {
    pub name: String,
    pub span: Span,
    /// Arguments in the order of the signature (those that are used), then
    /// temporaries, then locals.
    pub containers: Arena<Container>,
    pub children: Vec<Node>,
}

/// Something that holds values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Container {
    /// Unique within the tree, and no letter of a position or a size (`space::names`).
    pub name: String,
    pub dtype: DType,
    pub kind: ContainerKind,
    /// Which axes it has; one dimension for each, in index order. Empty for scalars, locals and tables.
    pub axes: AxisSet,
    /// Per dimension: those of the axes, then those of data. For a field argument, the part that the stencil
    /// touches, its true range of indices. Where levels are found at run time, these are all levels that its
    /// array has, told by symbols (`space::names`).
    pub shape: Vec<Size>,
    /// Per dimension: index = position in the compute domain + shift, so that the first element that is
    /// touched has index 0. Data has no positions, and 0 here.
    pub shift: Vec<Affine>,
    pub span: Span,
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
    /// One value per point that does not outlive the innermost loop's iteration.
    Local,
}

/// A node of the tree.
#[derive(Clone, Debug)]
pub enum Node {
    VerticalLoop(VerticalLoop),
    HorizontalLoop(HorizontalLoop),
    If(If),
    While(While),
    Region(RegionScope),
    Assign(Assign),
}

/// A loop over levels `start <= k < end`; parallel loops have no order.
#[derive(Clone, Debug)]
pub struct VerticalLoop {
    pub order: LoopOrder,
    pub start: Size,
    pub end: Size,
    pub children: Vec<Node>,
}

/// A loop over the points of a plane, in no order; its children are the body of one horizontal execution.
#[derive(Clone, Debug)]
pub struct HorizontalLoop {
    pub i: (Size, Size),
    pub j: (Size, Size),
    pub children: Vec<Node>,
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

/// Limits its children to a rectangle of columns; not an [`If`], since a schedule may peel it.
#[derive(Clone, Debug)]
pub struct RegionScope {
    pub region: Region,
    pub children: Vec<Node>,
    pub origin: Origin,
}

/// Writes one element; the value has the container's type.
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

/// The symbol of a size: `I`, `J`, `K`.
#[must_use]
pub fn size_symbol(axis: Axis) -> crate::space::Symbol {
    crate::space::Symbol::new(axis.name())
}

/// The symbol of a loop variable: `i`, `j`, `k`.
#[must_use]
pub fn position_symbol(axis: Axis) -> crate::space::Symbol {
    crate::space::Symbol::new(axis.position_name())
}

impl Spelled for Container {
    const PREFIX: &'static str = "c";
}
