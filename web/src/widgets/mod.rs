//! The parts that panes are made of; nothing here knows stencils.

#[cfg(target_arch = "wasm32")]
pub mod article;
#[cfg(target_arch = "wasm32")]
pub mod direction;
#[cfg(target_arch = "wasm32")]
pub mod figure;
#[cfg(target_arch = "wasm32")]
pub mod later;
pub mod listing;
#[cfg(target_arch = "wasm32")]
pub mod popover;
#[cfg(target_arch = "wasm32")]
pub mod prose;
pub mod quotes;
#[cfg(target_arch = "wasm32")]
pub mod split;
#[cfg(target_arch = "wasm32")]
pub mod tabs;
