//! A call of a compiled stencil: what all back ends share with their callers.
//!
//! A call has a [`Signature`](signature::Signature), the [`Array`](array::Array)s, and the checked
//! [`Launch`](launch::Launch).

pub mod aliasing;
pub mod array;
pub mod buffer;
pub mod launch;
pub mod layout;
mod ordered;
pub mod run;
pub mod signature;
