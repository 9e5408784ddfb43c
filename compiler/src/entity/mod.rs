//! Names for things: handles, the arenas they point into, and facts kept beside.

pub mod handle;
pub mod arena;
pub mod side_table;

pub use arena::Arena;
pub use handle::{Handle, Spelled};
pub use side_table::SideTable;
