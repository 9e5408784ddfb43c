//! The `isobar` command.

use std::path::PathBuf;
use std::process::ExitCode;

use isobar_runner::backends::Backends;
use isobar_runner::config::Environment;

/// The only place that reads the environment.
fn main() -> ExitCode {
    let variable = |name: &str| std::env::var_os(name).filter(|it| !it.is_empty());
    let text = |name: &str| variable(name).and_then(|it| it.into_string().ok());
    let home = |folder: &str| variable("HOME").map(|it| PathBuf::from(it).join(folder));
    // The convention asks to ignore a path that is not absolute.
    let given = |name: &str| variable(name).map(PathBuf::from).filter(|it| it.is_absolute());
    let cache = given("XDG_CACHE_HOME").or_else(|| home(".cache"));
    let state = given("XDG_STATE_HOME").or_else(|| home(".local/state"));
    let temporary = std::env::temp_dir();
    let environment = Environment {
        path: variable("PATH").unwrap_or_default(),
        cc: text("CC"),
        token: text("ISOBAR_TOKEN"),
        cache: cache.map(|it| it.join("isobar")),
        state: state.map(|it| it.join("isobar")),
        // Jobs work in a folder of their own.
        temporary: std::path::absolute(&temporary).unwrap_or(temporary),
        program: std::env::current_exe().unwrap_or_else(|_| PathBuf::from("isobar")),
        log: text("ISOBAR_LOG"),
        backends: Backends::default(),
    };
    isobar_runner::cli::main(&environment)
}
