//! Element types, values, operators and functions of the language.

pub mod dtype;
pub mod function;
pub mod math;
pub mod operator;
pub mod value;

pub use dtype::DType;
pub use function::Function;
pub use operator::{BinaryOp, UnaryOp};
pub use value::Value;
