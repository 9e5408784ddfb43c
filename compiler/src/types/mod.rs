//! Element types, values, operators and functions of the language.

pub mod dtype;
pub mod value;
pub mod operator;
pub mod function;
pub mod math;

pub use dtype::DType;
pub use function::Function;
pub use operator::{BinaryOp, UnaryOp};
pub use value::Value;
