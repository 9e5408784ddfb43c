//! Back ends: they turn a level into something that runs.
//!
//! A back end is a folder and starts from one level. All back ends share the contract with the caller: a
//! [`Signature`](signature::Signature), the [`Array`](array::Array)s of a call, and the checked
//! [`Launch`](launch::Launch).

pub mod aliasing;
pub mod array;
pub mod buffer;
pub mod c;
pub mod emit;
pub mod launch;
pub mod layout;
pub mod kernel;
mod ordered;
pub mod run;
pub mod signature;

pub mod cuda;
pub mod debug;
pub mod numpy;
pub mod wgsl;
