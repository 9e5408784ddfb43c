//! The `isobar` command with one back end more.

use std::process::ExitCode;

use isobar_runner::backends::Backends;
use isobar_runner::config::Environment;

fn main() -> ExitCode {
    let environment = Environment {
        path: std::env::var_os("PATH").unwrap_or_default(),
        temporary: std::env::temp_dir(),
        // Its jobs run in this program too.
        program: std::env::current_exe().unwrap_or_else(|_| "isobar-toy".into()),
        backends: Backends::default().with(&isobar_toy::ROW),
        ..Environment::default()
    };
    isobar_runner::cli::main(&environment)
}
