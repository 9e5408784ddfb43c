//! The meaning of a stencil. `front` compiles it to the OIR, `inputs` makes its fields, and two back ends run it.
//! `debug` defines the meaning, and `numpy` is faster.

use isobar_front::{config, conventions, defir, frontend, gtir, oir, project};
use isobar_ground::{call, diag, emit, entity, expr, for_elements, pass, space, types};

// The inputs of a run.
pub mod inputs;

// The level of whole arrays.
pub mod npir;

// Common parts of the Python texts of both.
pub mod python;

// Back ends.
pub mod debug;
pub mod numpy;

// The way from the text to the optimised OIR.
pub mod front;
