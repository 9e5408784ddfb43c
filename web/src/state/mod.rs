//! The state of the page: areas of signals. An area changes itself alone, and knows the areas below it.
//!
//! Panes read these signals. They and `actions`, which cross areas, change them; nobody else writes a signal.
//!
//! The areas with logic hold a state of the model: an event changes it, and the area or `actions` carries out the effects.

// Plain data, and what follows from it.
pub mod broken;
pub mod difference;
pub mod gallery;
pub mod head;
pub mod journey;
pub mod manual;
pub mod remarks;
pub mod sentences;
pub mod shortcuts;
pub mod why;

// Signals and actions: of the browser alone.
#[cfg(target_arch = "wasm32")]
mod app;
#[cfg(target_arch = "wasm32")]
pub mod benchmark;
#[cfg(target_arch = "wasm32")]
pub mod card;
#[cfg(target_arch = "wasm32")]
pub mod clock;
#[cfg(target_arch = "wasm32")]
pub mod compilation;
#[cfg(target_arch = "wasm32")]
pub mod drawer;
#[cfg(target_arch = "wasm32")]
pub mod editor;
#[cfg(target_arch = "wasm32")]
pub mod examples;
#[cfg(target_arch = "wasm32")]
pub mod files;
#[cfg(target_arch = "wasm32")]
pub(crate) mod keeping;
#[cfg(target_arch = "wasm32")]
pub mod keyboard;
#[cfg(target_arch = "wasm32")]
pub mod layout;
#[cfg(target_arch = "wasm32")]
pub mod learn;
#[cfg(target_arch = "wasm32")]
pub mod look;
#[cfg(target_arch = "wasm32")]
pub mod output;
#[cfg(target_arch = "wasm32")]
pub mod passes;
#[cfg(target_arch = "wasm32")]
pub mod problems;
#[cfg(target_arch = "wasm32")]
pub mod project;
#[cfg(target_arch = "wasm32")]
pub mod reference;
#[cfg(target_arch = "wasm32")]
pub mod remedies;
#[cfg(target_arch = "wasm32")]
pub mod run;
#[cfg(target_arch = "wasm32")]
pub mod runner;
#[cfg(target_arch = "wasm32")]
pub mod settings;
#[cfg(target_arch = "wasm32")]
pub mod sharing;
#[cfg(target_arch = "wasm32")]
pub mod status;
#[cfg(target_arch = "wasm32")]
pub mod teller;
#[cfg(target_arch = "wasm32")]
pub mod version;
#[cfg(target_arch = "wasm32")]
pub mod view;
#[cfg(target_arch = "wasm32")]
pub mod workspaces;

#[cfg(target_arch = "wasm32")]
pub use app::{App, use_app};
