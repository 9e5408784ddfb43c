//! Messages to people: places in the text, diagnostics, remarks, listings.

pub mod span;
pub mod cells;
pub mod origin;
pub mod program_order;
pub mod code;
pub mod diagnostic;
pub mod similar;
pub mod mend;
pub mod written;
pub mod remark;
pub mod listing;
pub mod outline;
pub mod catalog;
pub mod render;

pub use code::Code;
pub use diagnostic::{Diagnostic, Diagnostics, Fix, Label, Remedy, Severity, TextEdit};
pub use listing::{ListedNode, Listing, ListingWriter};
pub use origin::{Origin, StmtId};
pub use program_order::{LevelOrder, ProgramOrder, ProgramPoint};
pub use remark::{Remark, Tombstone, Traffic};
pub use similar::{Similar, similar};
pub use span::{FileId, LineCol, LineIndex, Span};
