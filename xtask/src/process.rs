//! Running other programs, and saying so first.

use crate::build::{lint, linting_cargo};
use anyhow::{Context, Result, bail};
use std::env;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The root of the repository.
pub(crate) fn root() -> PathBuf {
    let mut root = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    root.pop();
    root
}

/// Where cargo puts what it builds.
pub(crate) fn target_dir() -> PathBuf {
    env::var_os("CARGO_TARGET_DIR").map_or_else(|| root().join("target"), |dir| root().join(dir))
}

/// Tells the user what happens next, in one line.
pub(crate) fn say(what: &str) {
    println!("==> {what}");
}

/// `cargo`, the one that runs us, at the root.
pub(crate) fn cargo() -> Command {
    let mut command = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.current_dir(root());
    command
}

/// `cargo` that leaves processors to others where these want them.
pub(crate) fn patient_cargo() -> Command {
    let Some(nice) = find("nice") else { return cargo() };
    let mut command = program(nice);
    command.args(["-n", "10"]).arg(cargo().get_program());
    command
}

/// All crates, to cargo, but the one that takes the page's programs apart: it is built with the page.
pub(crate) const WORKSPACE: [&str; 3] = ["--workspace", "--exclude", "isobar-glue"];

/// A program of the sources by its name, as the tests of all crates build it.
pub(crate) fn built(name: &str) -> Result<Command> {
    built_by(linting_cargo(), name)
}

/// The same, beside the page: both then end at about the same time.
pub(crate) fn built_beside(name: &str) -> Result<Command> {
    let mut build = patient_cargo();
    lint(&mut build);
    built_by(build, name)
}

fn built_by(mut build: Command, name: &str) -> Result<Command> {
    build.args(["build", "--locked", "--quiet"]).args(WORKSPACE).args(["--bin", name]);
    run(&mut build, &format!("build `{name}`"))?;
    Ok(program(target_dir().join("debug").join(name)))
}

/// `program` at the root.
pub(crate) fn program(program: impl AsRef<OsStr>) -> Command {
    let mut command = Command::new(program);
    command.current_dir(root());
    command
}

/// Says what is done and why, does it, and fails when it fails.
pub(crate) fn run(command: &mut Command, why: &str) -> Result<()> {
    let line = spelled(command);
    say(&format!("{why}: {line}"));
    let status = command.status().with_context(|| format!("`{line}` could not be started"))?;
    if !status.success() {
        bail!("`{line}` failed ({status})");
    }
    Ok(())
}

/// Returns the output of `command` on stdout; fails when the command fails.
pub(crate) fn output(command: &mut Command) -> Result<String> {
    let line = spelled(command);
    let output = command.output().with_context(|| format!("`{line}` could not be started"))?;
    if !output.status.success() {
        bail!("`{line}` failed ({}): {}", output.status, String::from_utf8_lossy(&output.stderr).trim());
    }
    String::from_utf8(output.stdout).with_context(|| format!("`{line}` printed something that is not text"))
}

/// Where `name` is on PATH.
pub(crate) fn find(name: &str) -> Option<PathBuf> {
    let path = env::var_os("PATH")?;
    env::split_paths(&path).map(|dir| dir.join(name)).find(|file| is_executable(file))
}

#[cfg(unix)]
fn is_executable(file: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    file.metadata().is_ok_and(|it| it.is_file() && it.permissions().mode() & 0o111 != 0)
}

#[cfg(not(unix))]
fn is_executable(file: &Path) -> bool {
    file.is_file()
}

/// The command as one would type it, with paths below the root made short.
pub(crate) fn spelled(command: &Command) -> String {
    let root = root();
    let short = |word: &OsStr| {
        let path = Path::new(word);
        path.strip_prefix(&root).unwrap_or(path).display().to_string()
    };
    let program = Path::new(command.get_program());
    let name =
        program.file_name().map_or_else(|| short(program.as_os_str()), |it| it.to_string_lossy().into());
    [name].into_iter().chain(command.get_args().map(short)).collect::<Vec<_>>().join(" ")
}
