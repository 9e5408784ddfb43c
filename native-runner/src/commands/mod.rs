//! The commands, one file each, and how they print.

pub mod across;
pub mod backends;
pub mod bench;
pub mod cache;
pub mod check;
pub mod check_folder;
pub mod client;
pub mod compare;
pub mod config;
pub mod doctor;
pub mod emit;
pub mod explain;
pub mod export;
pub mod human;
mod job;
pub mod lsp;
pub mod open;
mod program;
pub mod run;
pub mod serve;
mod terminal;
pub mod tune;

use std::io::Write;

use isobar_protocol::diagnostic::Diagnostic;
use serde::Serialize;
use tracing_subscriber::EnvFilter;
use tracing_subscriber::fmt::writer::BoxMakeWriter;

use crate::cli::LogFormat;
use crate::config::Environment;
pub use crate::document::Usage;
use crate::telemetry::NOTES;
use crate::telemetry::lines::Lines;

/// The outcome of a command whose arguments were valid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    Fine,
    /// The stencil or the run failed, and the diagnostics say why.
    Failed,
}

impl Outcome {
    /// Failed where one of the diagnostics is an error.
    #[must_use]
    pub fn of(diagnostics: &[Diagnostic]) -> Self {
        if diagnostics.iter().any(|it| it.severity == "error") { Outcome::Failed } else { Outcome::Fine }
    }
}

/// The notes that go to standard error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Notes {
    Errors,
    Warnings,
    /// A line for each request and job, too.
    All(LogFormat),
}

impl Notes {
    pub(crate) fn of_runner(format: Option<LogFormat>) -> Self {
        format.map_or(Notes::Warnings, Notes::All)
    }
}

/// Sends notes to standard error. `ISOBAR_LOG`, where it is set, says which notes instead.
pub(crate) fn log(environment: &Environment, notes: Notes) {
    let own = || match notes {
        Notes::Errors => EnvFilter::new("isobar_runner=error"),
        Notes::Warnings => EnvFilter::new(format!("isobar_runner=info,{NOTES}=off")),
        Notes::All(_) => EnvFilter::new("isobar_runner=info"),
    };
    let filter = match &environment.log {
        Some(wanted) => EnvFilter::try_new(wanted).unwrap_or_else(|_| own()),
        None => own(),
    };
    if let Notes::All(_) = notes {
        // Only the place: the message of a panic may hold words of a client.
        std::panic::set_hook(Box::new(|panic| {
            let place = panic.location().map(ToString::to_string).unwrap_or_default();
            tracing::error!("a thread panicked at {place}");
        }));
    }
    // A runner does not wait for the reader of its log, and goes on where a line cannot be written.
    let writer = match notes {
        Notes::Errors => BoxMakeWriter::new(std::io::stderr),
        Notes::Warnings | Notes::All(_) => BoxMakeWriter::new(Lines::of_process()),
    };
    let lines = tracing_subscriber::fmt().with_env_filter(filter).with_writer(writer);
    let lines = lines.log_internal_errors(false);
    let _ = match notes {
        Notes::All(LogFormat::Json) => lines.json().flatten_event(true).with_current_span(false).try_init(),
        Notes::Errors | Notes::Warnings | Notes::All(LogFormat::Text) => lines.try_init(),
    };
}

/// Writes to standard output, with characters that a terminal would obey spelled out. It is no error if
/// nobody reads the output any more.
pub(crate) fn print(text: &str) {
    write(&terminal::harmless(text));
}

fn write(text: &str) {
    let mut out = std::io::stdout().lock();
    let _ = out.write_all(text.as_bytes());
    let _ = out.flush();
}

/// Writes a line to standard error, as [`print`] does.
pub(crate) fn say(line: &str) {
    let _ = writeln!(std::io::stderr().lock(), "{}", terminal::harmless(line));
}

/// Prints the one document of `--format json`.
pub(crate) fn print_json<T: Serialize>(document: &T) {
    let mut text = serde_json::to_string_pretty(document)
        .expect("reports have string keys and no fallible parts, so they always serialise");
    text.push('\n');
    write(&terminal::harmless_json(&text));
}
