//! Expressions, and the statements around them: the shapes that levels share.
//!
//! All levels have the same expressions, but differ in what an expression may *read*. In the Definition IR,
//! GTIR and OIR that is a field at an offset from the point. From the Tree IR on it is an element of a
//! container, and in a tasklet a connector. So the leaf is a parameter. The Definition IR does not know types
//! yet, and has `()` in their place.

pub mod nodes;
pub mod parse;
pub mod print;
pub mod subscript;
pub mod visit;
pub mod validate;
pub mod evaluate;
pub mod statement;
pub mod declaration;

pub use nodes::{Expr, ExprKind, Index, Vertical};
pub use subscript::Subscript;
