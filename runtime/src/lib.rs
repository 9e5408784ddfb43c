//! Runs compiled stencils inside another program: no server, no command line, no process of its own.
//!
//! The compiler makes levels of a stencil's text; this crate prepares one of them and calls it. It knows
//! executors, threads, memory, the machine, and the cache of compiled code. It speaks no wire format: its
//! errors and events are its own, and programs translate them to their protocols.
//!
//! A program makes an [`Executable`] of a stencil and a back end, once. It lends fields as [`Buffer`]s. These
//! have shape and strides in elements, in the order I, J, K, then data dimensions. [`Executable::bind`]
//! checks the fields, and [`Executable::run`] calls the stencil, from any thread. `tests/embed.rs` is such a
//! program.

// The machine, and values that are kept.
pub mod machine;
pub mod cache;
pub mod store;
pub mod plans;
pub mod copying;

// Failures and events.
pub mod failure;
pub mod events;

// Devices and fields.
mod bytes;
pub mod boxes;
pub mod device;
pub mod buffer;
pub mod wanted;

// Back ends; a stencil with its back end, and the stencils of a program of calls.
pub mod executors;
pub mod executable;
pub mod programs;

pub use buffer::Buffer;
pub use device::Device;
pub use executable::{Arguments, Executable};
