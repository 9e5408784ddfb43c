//! The state of the page as plain data, and what each event makes of it.
//!
//! It knows no signal, no view and no browser, so its tests are native. The page words what is said here.

// The address, files and texts.
pub mod arrival;
pub mod diagnostics;
pub mod filenames;
pub mod offsets;
pub mod route;

// Lessons.
pub mod progress;
pub mod learn;

// Fields and stages.
pub mod findings;
pub mod links;

// The workspace.
pub mod project;
pub mod workspaces;

// The inputs of runs.
pub mod inputs;
pub mod values;

// The compiler, and runs.
pub mod compilation;
pub mod problems;
pub mod run;

// Stages that are open, and passes.
pub mod open;
pub mod journey;
pub mod difference;
pub mod picks;
pub mod remarks;
pub mod passes;
