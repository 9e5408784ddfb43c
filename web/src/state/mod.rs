//! What the page knows, and the actions that change it.
//!
//! Panes read these signals and call these actions; nobody else writes a signal.

// Plain data, and what follows from it.
pub mod arrival;
pub mod broken;
pub mod diagnostics;
pub mod difference;
pub mod filenames;
pub mod findings;
pub mod gallery;
pub mod head;
pub mod inputs;
pub mod journey;
pub mod links;
pub mod manual;
pub mod measures;
pub mod offsets;
pub mod open;
pub mod picks;
pub mod progress;
pub mod remarks;
pub mod route;
pub mod shortcuts;
pub mod values;
pub mod why;

// Signals and actions.
mod app;
pub mod benchmark;
pub mod card;
pub mod clock;
pub mod compilation;
pub mod drawer;
pub mod editor;
pub mod examples;
pub mod exports;
pub mod files;
pub mod given;
mod keeping;
pub mod keyboard;
pub mod layout;
pub mod learn;
pub mod look;
pub mod output;
pub mod passes;
pub mod paste;
pub mod problems;
pub mod project;
pub mod reference;
pub mod remedies;
pub mod run;
pub mod runner;
pub mod settings;
pub mod sharing;
pub mod teller;
pub mod version;
pub mod view;
pub mod workspaces;

pub use app::{App, use_app};
