//! The graph as a `.sdfg` file, and back.
//!
//! `json` writes the file: nodes, edges and memlets as other readers of the format know them. `flat` writes
//! the same for readers that know no loops and branches. `portable` first brings conditions into a form that
//! all readers understand alike. `python` is the code of tasklets and conditions in the file. `notation` adds
//! what that Python does not tell: types, sizes and places. `import` reads our files again, and writes the
//! graph that it read to compare it.
//!
//! ```text
//! b[i, j, k] = a[i, j, k] * 2.0
//! ```
//!
//! becomes a `Tasklet` with the code `b_out = (a_in * 2.0)`, and edges with the memlets `a[i, j, k]` and
//! `b[i, j, k]`. An attribute that only our reader asks for has the typed expression and the place in the
//! source.

pub mod json;
mod flat;
mod portable;
mod python;
mod notation;
pub mod import;
