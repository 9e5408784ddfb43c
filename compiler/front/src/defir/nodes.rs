//! The data of the Definition IR.

use crate::diag::Span;
use crate::entity::{Arena, Handle, Spelled};
use crate::expr;
use crate::space::{AxisSet, Interval, LoopOrder, Offset};
use crate::types::{DType, Value};

/// One stencil, after inlining.
#[derive(Clone, Debug, Default)]
pub struct Stencil {
    pub name: String,
    /// The name in the `def`.
    pub span: Span,
    /// In the order of the signature.
    pub params: Vec<Param>,
    /// Parameters first, in their order; then temporaries, in the order they are first met.
    pub fields: Arena<Field>,
    pub scalars: Arena<Scalar>,
    pub computations: Vec<Computation>,
}

/// A parameter of the stencil.
#[derive(Clone, Debug)]
pub struct Param {
    pub what: ParamKind,
    /// Whether it stands behind `*` and must be passed by name.
    pub is_keyword_only: bool,
    pub default: ParamDefault,
}

/// Whether a parameter is a field or a scalar.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ParamKind {
    Field(Handle<Field>),
    Scalar(Handle<Scalar>),
}

/// The default of a parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ParamDefault {
    /// It must be passed.
    Required,
    /// A field that may be left out where no statement uses it.
    None,
    Value(Value),
}

/// A field parameter or a temporary.
#[derive(Clone, Debug)]
pub struct Field {
    /// Unique within the stencil. A local of an inlined function is named after
    /// the function and the call: `flux_2_delta`.
    pub name: String,
    pub axes: AxisSet,
    /// The sizes of the dimensions behind the axes. A table has no axes and only these.
    pub data_dims: Vec<u32>,
    /// `None` for a temporary whose first assignment decides.
    pub dtype: Option<DType>,
    pub is_temporary: bool,
    /// Where it is declared or first assigned.
    pub span: Span,
}

/// A scalar parameter; read-only.
#[derive(Clone, Debug)]
pub struct Scalar {
    pub name: String,
    pub dtype: DType,
    pub span: Span,
}

/// `with computation(order), interval(...)`; one for each interval.
#[derive(Clone, Debug)]
pub struct Computation {
    pub order: LoopOrder,
    pub interval: Interval,
    /// The first level that runs, found at run time; together with the interval, which is then wider.
    pub from: Option<Expr>,
    /// The first level behind those that run, likewise.
    pub to: Option<Expr>,
    /// The `interval(...)` that was written.
    pub span: Span,
    pub body: Vec<Stmt>,
}

/// A statement; at the top of a computation's body each is one block of the execution model. Several
/// regions of one `with` are several statements.
pub type Stmt = expr::statement::Stmt<Handle<Field>, Access, ()>;

/// The kind of a statement.
pub type StmtKind = expr::statement::StmtKind<Handle<Field>, Access, ()>;

/// An expression whose type is not known yet. Literals are typed: the configured precision decides theirs.
pub type Expr = expr::Expr<Access, ()>;

/// Which element of a field is meant.
pub type Index = expr::Index<Access, ()>;

/// The leaf of an expression that reads a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
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
