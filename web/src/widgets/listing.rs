//! A long text in lines, of which some are lit. Only the lines in view, and some around them, are in the document.
//!
//! A row has one height: a line that is too long for the pane is broken into rows here, and not by the browser, so
//! that it is known where each line stands before any of them is drawn.

pub mod find;
pub mod laid;
pub mod paint;
pub mod rows;

#[cfg(target_arch = "wasm32")]
pub mod view;
#[cfg(target_arch = "wasm32")]
mod window;

pub use laid::OffScreen;
pub use paint::{Painter, Token};
#[cfg(target_arch = "wasm32")]
pub use view::{Listing, Mark, Note};
