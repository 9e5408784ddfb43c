//! Every sentence about a stencil that a user can read, one constructor per code.
//!
//! The sentences stand in one file per subject; the codes are listed in the manual.

pub mod syntax;
pub mod signature;
pub mod names;
pub mod computations;
pub mod statements;
pub mod expressions;
pub mod data;
pub mod functions;
pub mod compile_time;

pub mod call;
pub mod directive;
pub mod extents;
pub mod rules;
pub mod programs;
pub mod schedule;
pub mod types;
pub mod warnings;
