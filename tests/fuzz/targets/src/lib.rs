//! Functions that take any bytes: no panic, no hang, bounded memory.
//!
//! Two programs call them. `cargo xtask fuzz` builds them with instrumentation (`tests/fuzz/src/bin`), so that coverage
//! guides the inputs. The plain tests of this crate try our own texts and mutations of them, without instrumentation.

mod editor;
mod link;
mod notation;
mod request;
mod stencil;

pub mod mutate;
pub mod seeds;

pub use editor::editor;
pub use link::link;
pub use notation::notation;
pub use request::request;
pub use stencil::stencil;

/// A function that takes any bytes, and panics where it finds a bug.
#[derive(Clone, Copy, Debug)]
pub struct Target {
    /// Names its program, and its folder below `tests/fuzz/corpus`.
    pub name: &'static str,
    pub hold: fn(&[u8]),
}

pub const TARGETS: [Target; 5] = [
    Target { name: "stencil", hold: stencil },
    Target { name: "editor", hold: editor },
    Target { name: "notation", hold: notation },
    Target { name: "request", hold: request },
    Target { name: "link", hold: link },
];
