//! Whether gt4py makes the same of a stencil: what is handed to it, and how answers are compared.
//!
//! [`subject`] is a stencil with all that decides its meaning, [`handed`] how it is handed over, [`prepare`]
//! compiles and runs it here and writes down what gt4py needs, [`functions`] lends gt4py our elementary functions, and
//! [`verdict`] compares.
//! [`kept`] is what of it is committed, so that CI needs no Python.

pub mod subject;
pub mod values;
pub mod handed;
pub mod prepare;
pub mod functions;
pub mod verdict;
pub mod kept;
