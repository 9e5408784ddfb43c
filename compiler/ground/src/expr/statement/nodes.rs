//! The data of a statement.

use crate::diag::{Origin, Span};
use crate::expr::{Expr, Index};
use crate::space::Region;
use crate::types::DType;

/// A statement that assigns to a `T` and reads through leaves of type `A`; `D` is the type of its expressions.
#[derive(Clone, Debug)]
pub struct Stmt<T, A, D = DType> {
    pub kind: StmtKind<T, A, D>,
    pub origin: Origin,
}

/// The kind of a statement. Where expressions are typed, conditions are bool.
#[derive(Clone, Debug)]
pub enum StmtKind<T, A, D = DType> {
    /// Writes one element, in the column of the point. Where expressions are typed, the value has the target's type.
    Assign {
        target: T,
        /// Which element.
        index: Index<A, D>,
        /// Where the target is written in the text.
        target_span: Span,
        value: Expr<A, D>,
    },
    /// A branch; the condition is evaluated once, before either. `elif` is an `If` alone in `otherwise`.
    If { condition: Expr<A, D>, then: Vec<Stmt<T, A, D>>, otherwise: Vec<Stmt<T, A, D>> },
    /// A loop at one point.
    While { condition: Expr<A, D>, body: Vec<Stmt<T, A, D>> },
    /// Limits its body to one rectangle of columns.
    Region { region: Region, body: Vec<Stmt<T, A, D>> },
}
