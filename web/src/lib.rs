//! The playground: one page, and the program of its workers.
//!
//! Data flows in one direction. The editor's text goes to `state`, and through `bridge` to the worker or the
//! runner. Answers go back to `state`, and from there to the panes.
//!
//! Modules with signals, views or foreign calls are for browsers alone. All others are built natively as
//! well, where their tests run.

#[cfg(target_arch = "wasm32")]
pub mod app;
#[cfg(target_arch = "wasm32")]
pub mod actions;
pub mod state;

// Panes and their parts.
#[cfg(target_arch = "wasm32")]
pub mod panes;
pub mod content;
pub mod plots;
pub mod widgets;

// Access to the browser and to files.
pub mod bridge;
pub mod files;
