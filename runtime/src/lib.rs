//! Runs compiled stencils inside another program: no server, no command line, no process of its own.
//!
//! The compiler makes levels of a stencil's text; this crate makes one of them ready and calls it. It knows executors,
//! threads, memory, the machine, and what is kept of compiled code. It speaks no wire format: its errors and events
//! are its own, and whoever has a protocol translates them.
//!
//! A program makes an [`Executable`] of a stencil and a back end, once. It lends fields as [`Buffer`]s, which have shape
//! and strides in elements, in the order I, J, K, then data dimensions; [`Executable::bind`] checks them, and
//! [`Executable::run`] calls the stencil, from any thread. `tests/embed.rs` is such a program.

// What it finds, and what it keeps.
pub mod machine;
pub mod cache;
pub mod store;
pub mod plans;
pub mod copying;

// What happens.
pub mod failure;
pub mod events;

// What it runs on, and with.
pub mod device;
pub mod buffer;
pub mod wanted;

// What runs: back ends, and a stencil with one of them, for programs.
pub mod executors;
pub mod executable;

pub use buffer::Buffer;
pub use device::Device;
pub use executable::{Arguments, Executable};
