//! The front end: turns text into syntax trees, and names into their meanings.
//!
//! It never fails: a text with errors is understood as far as possible. It knows no IR;
//! [`defir::from_syntax`](crate::defir::from_syntax) is the way out.
//!
//! Reading order:
//!
//! - [`syntax`] is the tree.
//! - [`limits`] and [`parse`] make it, and [`tokens`] holds the tokens below it.
//! - [`repair`] reads a text with slips as it was meant.
//! - [`decorators`] marks the functions that are meant as stencils.
//! - [`program`] holds the files.
//! - [`constants`] are the values that a name can have.
//! - [`modules`] finds the value, from the imports that `imports` reads in each file.
//! - [`reaching`] says which binding holds at a place, and `assigned` what another file may have changed.
//! - [`evaluate`] computes the value, and [`field_types`] makes types of it.
//! - [`builtins`] holds the names that are known without a file, and [`spelling`] those that a slip may mean.
//! - [`externals`] are the values that a stencil asks for, and [`given`] those that its text provides.
//! - [`models`] finds the classes that may be programs.
//! - [`missing`] finds the modules that the stencil would need in addition.
//! - [`arguments`] checks the other arguments with which it is built.

pub mod syntax;

pub mod limits;
pub mod parse;
pub mod tokens;
mod repair;
pub mod decorators;
mod imports;
pub mod program;

pub mod builtins;
pub mod spelling;
mod ndsl_constants;
pub mod constants;
pub mod evaluate;
pub mod field_types;
mod makers;
mod parametrized;
mod ids;
mod bindings;
pub mod reaching;
mod assigned;
mod classes;
pub mod modules;
pub mod models;
pub mod externals;
pub mod given;
pub mod missing;
pub mod arguments;
pub mod docstring;

#[cfg(test)]
mod tests;

pub use modules::Names;
pub use program::{ParsedFiles, Program, StencilName, named, parse};
