//! The data of OIR.

use crate::diag::Span;
use crate::entity::{Arena, Handle, Spelled};
use crate::expr;
use crate::space::{AxisSet, Interval, LoopOrder, Offset};
use crate::types::{DType, Value};

/// A stencil, ready to be optimized.
#[derive(Clone, Debug, Default)]
pub struct Stencil {
    pub name: String,
    pub span: Span,
    /// In the order of the signature.
    pub params: Vec<Param>,
    /// Parameters first, in their order; then temporaries.
    pub fields: Arena<Field>,
    pub scalars: Arena<Scalar>,
    /// Values that live within one horizontal execution, one per point.
    pub locals: Arena<Local>,
    pub executions: Arena<HorizontalExecution>,
    pub vertical_loops: Vec<VerticalLoop>,
}

/// A parameter of the stencil.
#[derive(Clone, Debug)]
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

/// A value that lives within one horizontal execution; written before it is read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Local {
    pub name: String,
    pub dtype: DType,
    pub span: Span,
}

/// A sweep along k. Sections do not overlap and are listed in sweep order.
#[derive(Clone, Debug)]
pub struct VerticalLoop {
    pub order: LoopOrder,
    pub sections: Vec<Section>,
}

/// A range of levels. Parallel: each execution is finished on all its levels
/// before the next starts; else all executions are finished on one level before
/// the next level.
#[derive(Clone, Debug)]
pub struct Section {
    pub interval: Interval,
    pub executions: Vec<Handle<HorizontalExecution>>,
}

/// Statements that run, in order, at each point of one (i, j) domain.
///
/// No point may observe another point's progress: a value written here is
/// readable here at the zero horizontal offset only.
#[derive(Clone, Debug)]
pub struct HorizontalExecution {
    pub body: Vec<Stmt>,
}

/// A statement.
pub type Stmt = expr::statement::Stmt<Target, Access>;

/// The kind of a statement.
pub type StmtKind = expr::statement::StmtKind<Target, Access>;

/// The target of an assignment, written at the point itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Target {
    Field(Handle<Field>),
    Local(Handle<Local>),
}

impl Target {
    /// The field, where it is one.
    #[must_use]
    pub fn field(self) -> Option<Handle<Field>> {
        match self {
            Target::Field(field) => Some(field),
            Target::Local(_) => None,
        }
    }
}

/// A typed expression.
pub type Expr = expr::Expr<Access>;

/// Which element of a field is meant.
pub type Index = expr::Index<Access>;

/// The leaf of an expression that reads a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Access {
    Field { field: Handle<Field>, offset: Offset },
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
impl Spelled for HorizontalExecution {
    const PREFIX: &'static str = "x";
}
