//! The runner: the `isobar` command, the HTTP API with the page, and the process of a job.
//!
//! It takes stencils as text and never foreign code. Whatever runs one does so in a child process.

// What comes in.
pub mod cli;
pub mod commands;
pub mod document;

// What it stands on.
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

// Whether this machine has what it needs.
pub mod doctor;

// The door of the compiler.
pub mod compile;
pub mod plan;

// What editors speak.
pub mod language;

// HTTP.
pub mod assets;
pub mod auth;
pub mod routes;
pub mod server;
pub mod state;
pub mod uploads;

// Jobs: the server's side, the child's side, and what runs there.
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
