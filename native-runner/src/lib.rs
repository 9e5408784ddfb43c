//! The runner: the `isobar` command, the HTTP API with the page, and the process of a job.
//!
//! It takes stencils as text and never foreign code. Whatever runs one does so in a child process.

// Input: the command line and request documents.
pub mod cli;
pub mod commands;
pub mod document;

// Foundations that the other modules use.
pub mod config;
pub mod error;
pub mod limits;
pub mod npz;
pub mod problems;
mod ready;
mod tuned;
mod random;
pub mod telemetry;
pub mod translate;
pub mod turns;

// The check of the machine.
pub mod doctor;

// Calls into the compiler.
pub mod compile;
pub mod plan;

// The language server for editors.
pub mod language;

// HTTP.
pub mod assets;
pub mod auth;
pub mod routes;
pub mod server;
pub mod state;
pub mod uploads;

// Jobs: the server's side, the child's side, and the code that runs in a child.
pub mod backends;
pub mod confine;
pub mod jobs;
pub mod wire;
pub mod worker;

use axum::Router;

/// The whole HTTP interface.
pub fn app(state: state::AppState) -> Router {
    routes::router(state)
}

/// The figures of the runner, for a listener of their own that answers under the names of `hosts`.
pub fn figures(state: state::AppState, hosts: auth::Hosts) -> Router {
    routes::metrics::router(state, hosts)
}
