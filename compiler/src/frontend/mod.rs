//! The front end: text to syntax trees, and names to what they mean.
//!
//! It never fails: a text with errors is understood as far as it goes. It knows
//! no IR; [`defir::from_syntax`](crate::defir::from_syntax) is the door out.
//!
//! Reading order: [`syntax`] is the tree, [`limits`] and [`parse`] make it, [`tokens`] is what it stands on,
//! [`repair`] reads a text with slips as it was meant, [`decorators`] marks the functions that are meant as stencils,
//! [`program`] holds the files; [`constants`] is what a name can stand for,
//! [`modules`] finds it, by what `imports` reads in each file, [`reaching`] says which binding holds at a place, `assigned` what another
//! file may have changed, [`evaluate`] computes it, [`field_types`] makes types of it,
//! [`builtins`] knows the rest, and [`spelling`] which of it a slip may have meant.
//! [`externals`] is what a stencil asks for, [`given`] what its text answers, [`missing`] which modules
//! it would need beside, [`arguments`] what else builds it.

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
pub mod externals;
pub mod given;
pub mod missing;
pub mod arguments;

#[cfg(test)]
mod tests;

pub use modules::Names;
pub use program::{ParsedFiles, Program, StencilName, named, parse};
