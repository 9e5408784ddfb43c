//! The inputs of a run: scalars, externals and fields of the stencil, and the origins of their values.
//!
//! All of it follows from three things: the text's own lines, the compiler's words on the text, and the values that the
//! user set. Those stay when the text is another, and no run hears of one that its stencil does not take.

mod fields;
mod listed;
mod usable;

pub use fields::{FieldInput, FieldSource, fields, line_of, with_line};
pub use listed::{
    InputControl, InputType, TakenInput, UserValue, ValueInput, ValueOrigin, externals, function, scalars,
};
pub use usable::{keep_declared, n_made_up, readable, usable_inputs, usable_scalars};

#[cfg(test)]
mod tests;
