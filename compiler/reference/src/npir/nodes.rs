//! The data of NPIR.

use crate::diag::{Origin, Span};
use crate::entity::{Arena, Handle, Spelled};
use crate::expr;
use crate::space::{AxisSet, Extent, Interval, LoopOrder, Offset, Region};
use crate::types::{DType, Value};

/// A stencil as operations on whole arrays.
#[derive(Clone, Debug, Default)]
pub struct Stencil {
    pub name: String,
    pub span: Span,
    /// In the order of the signature.
    pub params: Vec<Param>,
    /// Parameters first, in their order; then temporaries.
    pub fields: Arena<Field>,
    pub scalars: Arena<Scalar>,
    pub locals: Arena<Local>,
    pub passes: Vec<VerticalPass>,
}

/// A parameter of the stencil.
#[derive(Clone, Copy, Debug)]
pub struct Param {
    pub what: ParamKind,
    pub is_keyword_only: bool,
    pub default: Option<Value>,
    pub is_optional: bool,
}

/// Whether a parameter is a field or a scalar.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ParamKind {
    Field(Handle<Field>),
    Scalar(Handle<Scalar>),
}

/// A field parameter or a temporary.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Field {
    pub name: String,
    pub axes: AxisSet,
    /// The sizes of the dimensions behind the axes.
    pub data_dims: Vec<u32>,
    pub dtype: DType,
    pub is_temporary: bool,
    /// Holds every column that is touched, whatever the size of the domain, and the compute domain.
    pub extent: Extent,
    /// The name of the copy that a block reads as [`Access::Kept`], if one does.
    pub kept_as: Option<String>,
    pub span: Span,
}

/// A scalar parameter; read-only.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Scalar {
    pub name: String,
    pub dtype: DType,
    pub span: Span,
}

/// An array with one element for each point of one block: a value of the stencil's, or a mask of ours.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Local {
    pub name: String,
    pub dtype: DType,
    pub is_mask: bool,
    pub span: Span,
}

/// A range of levels and the order in which they are visited. Parallel: a statement is finished on all
/// levels before the next; else all blocks are finished on one level before the next level.
#[derive(Clone, Debug)]
pub struct VerticalPass {
    pub order: LoopOrder,
    pub interval: Interval,
    pub blocks: Vec<Block>,
}

/// Statements on one range of columns, each finished on all of them before the next.
///
/// Fields that a block writes are read in it only in the present column. So its points may also be computed
/// one by one, or several at a time.
#[derive(Clone, Debug)]
pub struct Block {
    /// The columns.
    pub extent: Extent,
    /// Fields that are copied before the block: it reads what they held then as [`Access::Kept`].
    pub kept: Vec<Handle<Field>>,
    pub body: Vec<Stmt>,
}

/// A statement.
#[derive(Clone, Debug)]
pub struct Stmt {
    pub kind: StmtKind,
    pub origin: Origin,
}

/// The kind of a statement. Where it has a mask, nothing is read or written at the points where that is
/// false.
#[derive(Clone, Debug)]
pub enum StmtKind {
    /// Evaluates the value at all points, then stores it. It has the target's type.
    Assign { target: Target, index: Index, value: Expr, mask: Option<Handle<Local>> },
    /// Makes a mask: the points of `within` at which the condition holds.
    Mask { mask: Handle<Local>, within: Option<Handle<Local>>, condition: Expr },
    /// Makes a mask: the points of `within` at which `of` is false.
    Rest { mask: Handle<Local>, within: Option<Handle<Local>>, of: Handle<Local> },
    /// Runs the body as long as `active` is true anywhere.
    ///
    /// At first it is true at the points of `within` at which the condition holds. After each iteration it
    /// stays true at those of them at which the condition still holds.
    While { active: Handle<Local>, within: Option<Handle<Local>>, condition: Expr, body: Vec<Stmt> },
    /// Limits its body to one slice of the block.
    Region { region: Region, body: Vec<Stmt> },
}

/// The target of an assignment, written at the point itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Target {
    Field(Handle<Field>),
    Local(Handle<Local>),
}

/// A typed expression.
pub type Expr = expr::Expr<Access>;

/// Which element of a field is meant.
pub type Index = expr::Index<Access>;

/// The leaf of an expression that reads a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Access {
    Field {
        field: Handle<Field>,
        offset: Offset,
    },
    /// The value of the field before the block.
    Kept {
        field: Handle<Field>,
        offset: Offset,
    },
    Scalar(Handle<Scalar>),
    Local(Handle<Local>),
}

impl Spelled for Field {
    const PREFIX: &'static str = "f";
}
impl Spelled for Scalar {
    const PREFIX: &'static str = "p";
}
impl Spelled for Local {
    const PREFIX: &'static str = "l";
}
