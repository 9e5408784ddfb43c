//! Compares the results of gt4py with ours: how a stencil is handed to it, and how its answers are read.
//!
//! [`subject`] is a stencil with all that decides its meaning, and [`handed`] is how it is handed over.
//! [`prepare`] compiles and runs it here and writes down what gt4py needs. [`functions`] lends gt4py our
//! elementary functions, and [`verdict`] compares.
//! [`kept`] is the part that is committed, so that CI needs no Python.

pub mod subject;
pub mod values;
pub mod handed;
pub mod prepare;
pub mod functions;
pub mod verdict;
pub mod kept;
