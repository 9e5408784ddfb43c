//! The playground: one page, and the program of its workers.
//!
//! Data goes round in one direction: the editor's text to `state`, through
//! `bridge` to the worker or the runner, back to `state`, and to the panes.

pub mod app;
pub mod state;

// What panes are made of.
pub mod panes;
pub mod content;
pub mod plots;
pub mod widgets;

// What they do not see.
pub mod bridge;
pub mod files;

pub mod parts;

// What runs in the worker.
pub mod compile;
pub mod gpu;
pub mod worker;
