//! Runs compiled stencils inside another program: no server, no command line, no process of its own.
//!
//! The compiler makes levels of a stencil's text; this crate makes one of them ready and calls it. It knows executors,
//! threads, memory, the machine, and what is kept of compiled code. It speaks no wire format: its errors and events
//! are its own, and whoever has a protocol translates them.

// What it finds, and what it keeps.
pub mod machine;
pub mod cache;
pub mod copying;

// What happens.
pub mod events;

// What runs.
pub mod executors;
