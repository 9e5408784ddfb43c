//! Element types, values, operators and functions of the language.

pub mod dtype;
pub mod value;
pub mod operator;
pub mod primitive;
pub mod math;
pub mod function;

pub use dtype::DType;
pub use function::Function;
pub use operator::{BinaryOp, UnaryOp};
pub use primitive::{BinaryPrimitive, Predicate, Primitive, UnaryPrimitive};
pub use value::Value;
