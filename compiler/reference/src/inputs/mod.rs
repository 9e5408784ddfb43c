//! The inputs to run a stencil with, given in comments at the head of its text.
//!
//! A gallery entry, a shared link or a file on disk is one text with its own domain, inputs and externals.
//! They stand in ordinary comments, so the text stays valid Python and means the same to every other tool:
//!
//! ```text
//! # @title Horizontal diffusion            a title
//! # @about One paragraph of physics.       may be repeated; the lines are joined
//! # @stencil horizontal_diffusion          which stencil, where there are several
//! # @domain 64 64 40                       points of the compute domain along I, J, K
//! # @input q bell(low=0, high=1, at_i=0.4) a generator for a field
//! # @scalar alpha = 0.025 from 0 to 0.1    the value of a scalar parameter, and where else it may lie
//! # @external i_start = I[0]               the value of an external
//! # @plot q_out k=10                       which field to show first
//! # @step q = q_out periodic               what a field holds when the next time step begins
//! # @halo periodic                         the values that the exchanges of a program store in halos
//! ```
//!
//! - [`directive`] reads these lines.
//! - [`generator`] lists the generators, [`parse`] reads one, and [`generate`] makes its numbers.
//! - [`call`] fills whole arrays for a signature, and [`rows`] tells where their rows lie.
//! - [`step`] leads from one time step to the next.
//! - [`made_up`] describes inputs for fields and scalars that have none.

pub mod call;
pub mod directive;
pub mod generate;
pub mod generator;
pub mod made_up;
pub mod parse;
pub mod rows;
pub mod step;
pub mod workers;

pub use call::{bytes_for, bytes_with, call_for, call_with, fill, strides_with};
pub use directive::{
    Directives, ExternalDirective, InputDirective, KeepDirective, LoopProperty, Plot, ScalarDirective,
};
pub use generate::value_at;
pub use generator::Generator;
pub use rows::Rows;
pub use step::StepDirective;
pub use workers::{CallingThread, WorkItem, Workers};
