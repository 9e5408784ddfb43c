//! The data of GTIR.

use crate::diag::Span;
use crate::entity::{Arena, Handle, Spelled};
use crate::expr;
use crate::space::{AxisSet, Interval, LoopOrder, Offset};
use crate::types::{DType, Value};

/// A typed stencil.
#[derive(Clone, Debug, Default)]
pub struct Stencil {
    pub name: String,
    pub span: Span,
    /// In the order of the signature.
    pub params: Vec<Param>,
    /// Parameters first, in their order; then temporaries.
    pub fields: Arena<Field>,
    pub scalars: Arena<Scalar>,
    /// In textual order; each `(computation, interval)` pair is one.
    pub vertical_loops: Vec<VerticalLoop>,
}

/// A parameter of the stencil.
#[derive(Clone, Debug)]
pub struct Param {
    pub what: ParamKind,
    pub is_keyword_only: bool,
    /// The value of a scalar that is not passed.
    pub default: Option<Value>,
    /// Whether a field may be left out, where it is not used.
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
    /// The sizes of the dimensions behind the axes. A table has no axes and only these.
    pub data_dims: Vec<u32>,
    pub dtype: DType,
    pub is_temporary: bool,
    pub span: Span,
}

/// A scalar parameter; read-only.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Scalar {
    pub name: String,
    pub dtype: DType,
    pub span: Span,
}

/// One interval of a computation; its top-level statements are the blocks of the execution model.
#[derive(Clone, Debug)]
pub struct VerticalLoop {
    pub order: LoopOrder,
    pub interval: Interval,
    pub span: Span,
    pub body: Vec<Stmt>,
}

/// A statement.
pub type Stmt = expr::statement::Stmt<Handle<Field>, Access>;

/// The kind of a statement.
pub type StmtKind = expr::statement::StmtKind<Handle<Field>, Access>;

/// A typed expression.
pub type Expr = expr::Expr<Access>;

/// Which element of a field is meant.
pub type Index = expr::Index<Access>;

/// The leaf of an expression that reads a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Access {
    Field { field: Handle<Field>, offset: Offset },
    Scalar(Handle<Scalar>),
}

impl Spelled for Field {
    const PREFIX: &'static str = "f";
}
impl Spelled for Scalar {
    const PREFIX: &'static str = "p";
}
