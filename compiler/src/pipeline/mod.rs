//! The trip of a stencil, and who may watch it.

pub mod compilation;
pub mod hook;
pub mod stage;

pub use compilation::Compilation;
pub use hook::{Hook, NoHook};
pub use stage::Stage;
