//! The trip of a stencil, and who may watch it.

pub mod stage;
pub mod hook;
pub mod levels;
pub mod compilation;
mod interface;
pub mod route;

pub use compilation::Compilation;
pub use hook::{Hook, NoHook};
pub use levels::Levels;
pub use stage::Stage;
