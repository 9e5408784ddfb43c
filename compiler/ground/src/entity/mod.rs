//! Names for things: handles, the arenas they point into, facts kept beside, and identifiers of generated code.

pub mod handle;
pub mod arena;
pub mod side_table;
pub mod namer;

pub use arena::Arena;
pub use handle::{Handle, Spelled};
pub use namer::Namer;
pub use side_table::SideTable;
