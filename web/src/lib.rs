//! The playground: one page, and the program of its workers.
//!
//! Data goes round in one direction: the editor's text to `state`, through
//! `bridge` to the worker or the runner, back to `state`, and to the panes.
//!
//! What has signals, views or foreign calls is for browsers alone. All else is built natively as well, where its tests
//! run.

#[cfg(target_arch = "wasm32")]
pub mod app;
pub mod state;

// What panes are made of.
#[cfg(target_arch = "wasm32")]
pub mod panes;
pub mod content;
pub mod plots;
pub mod widgets;

// What they do not see.
pub mod bridge;
pub mod files;

#[cfg(target_arch = "wasm32")]
pub mod parts;

// What runs in the worker.
pub mod compile;
#[cfg(target_arch = "wasm32")]
pub mod gpu;
#[cfg(target_arch = "wasm32")]
pub mod worker;
