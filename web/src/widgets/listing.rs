//! A long text in lines, some of them lit. Only the lines in view, and some around them, are in the document.
//!
//! Each row has one height: lines that are too long for the pane are broken into rows here, not by the
//! browser. So the place of each line is known before any line is drawn.

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
pub use view::{LineMark, LineNote, Listing};
