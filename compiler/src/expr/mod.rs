//! Expressions, and the statements around them: the shapes that levels share.
//!
//! All levels have the same expressions. They differ in what one may *read*: a field beside the point
//! in the Definition IR, GTIR and OIR, an element of a container from the Tree IR
//! on, a connector in a tasklet. So the leaf is a parameter. The Definition IR
//! does not know types yet, and has `()` in their place.

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
