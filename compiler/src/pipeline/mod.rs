//! The trip of a stencil, and who may watch it.

pub mod stage;
pub mod hook;
pub mod compilation;

pub use compilation::Compilation;
pub use hook::{Hook, NoHook};
pub use stage::Stage;
