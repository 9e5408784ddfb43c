//! Builds with cargo, and reads its messages: programs, and lints of our own crates.
//!
//! Lints cost no build of their own. Cargo hands each crate of the workspace to `clippy-driver`, which
//! compiles it as `rustc` does and lints it on the way. Crates of registries go to `rustc`, so they are
//! shared with plain cargo.

use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};
use serde_json::Value;

use crate::process::{cargo, root, say, spelled};

/// `cargo` that lints what it builds. One wrapper for all builds of the dev profile: another one builds anew.
pub(crate) fn linting_cargo() -> Command {
    let mut command = cargo();
    lint(&mut command);
    command
}

/// Makes a program that calls cargo build as [`linting_cargo`] does.
pub(crate) fn lint(command: &mut Command) {
    command.env("RUSTC_WORKSPACE_WRAPPER", root().join("xtask/lint"));
}

/// A program of tests that cargo built.
#[derive(Clone, Debug)]
pub(crate) struct TestProgram {
    pub(crate) package: String,
    /// `lib`, `bin` or `test`, as cargo names kinds of targets.
    pub(crate) kind: String,
    pub(crate) executable: PathBuf,
    /// The folder of its package, in which cargo runs tests.
    pub(crate) folder: PathBuf,
}

/// The outcome of a build.
#[derive(Clone, Debug, Default)]
pub(crate) struct Built {
    pub(crate) test_programs: Vec<TestProgram>,
    /// Crates without lints, and crates with some.
    pub(crate) n_clean: usize,
    pub(crate) n_linted: usize,
}

/// Runs a build with messages as JSON, and shows its diagnostics.
///
/// # Errors
///
/// Where something does not compile. A lint is no error here: the caller counts it, and the tests run all the same.
pub(crate) fn build(command: &mut Command, why: &str) -> Result<Built> {
    build_telling(command, why, &mut |_| Ok(()))
}

/// The same; calls `each` for a program of tests as soon as it is there, while others are built.
///
/// # Errors
///
/// Besides, the first one of `each`.
pub(crate) fn build_telling(
    command: &mut Command,
    why: &str,
    each: &mut dyn FnMut(&TestProgram) -> Result<()>,
) -> Result<Built> {
    let line = spelled(command);
    say(&format!("{why}: {line}"));
    command.arg("--message-format=json").stdout(Stdio::piped());
    let mut child = command.spawn().with_context(|| format!("`{line}` could not be started"))?;
    let (mut built, mut outcome) = (Built::default(), Ok(()));
    if let Some(stdout) = child.stdout.take() {
        let mut linted = std::collections::BTreeSet::new();
        for line in BufReader::new(stdout).lines() {
            let line = line?;
            // Build scripts may print.
            let Ok(message) = serde_json::from_str::<Value>(&line) else { continue };
            let n_told = built.test_programs.len();
            built.read(&message, &mut linted);
            outcome = outcome.and_then(|()| built.test_programs[n_told..].iter().try_for_each(&mut *each));
        }
        built.n_linted = linted.len();
        built.n_clean = built.n_clean.saturating_sub(built.n_linted);
    }
    let status = child.wait()?;
    if !status.success() {
        bail!("`{line}` failed ({status})");
    }
    outcome.map(|()| built)
}

impl Built {
    /// Adds the results of another build.
    pub(crate) fn add(&mut self, other: Self) {
        self.test_programs.extend(other.test_programs);
        self.n_clean += other.n_clean;
        self.n_linted += other.n_linted;
    }

    fn read(&mut self, message: &Value, linted: &mut std::collections::BTreeSet<String>) {
        match message["reason"].as_str() {
            Some("compiler-message") => {
                if let Some(text) = message["message"]["rendered"].as_str() {
                    eprint!("{text}");
                }
                // The last message sums up the others, and has no place.
                let has_place = message["message"]["spans"].as_array().is_some_and(|it| !it.is_empty());
                if message["message"]["level"] == "warning" && has_place {
                    linted.insert(unit(message));
                }
            }
            Some("compiler-artifact") => self.take(message),
            _ => {}
        }
    }

    fn take(&mut self, message: &Value) {
        let id = message["package_id"].as_str().unwrap_or_default();
        // Crates of registries are not linted.
        if !id.starts_with("path+") {
            return;
        }
        self.n_clean += 1;
        let kind = message["target"]["kind"][0].as_str().unwrap_or_default();
        let is_test = message["profile"]["test"] == true && ["lib", "bin", "test"].contains(&kind);
        let manifest = message["manifest_path"].as_str().map(PathBuf::from).unwrap_or_default();
        if let (true, Some(executable)) = (is_test, message["executable"].as_str()) {
            self.test_programs.push(TestProgram {
                package: package(id),
                kind: kind.to_owned(),
                executable: executable.into(),
                folder: manifest.parent().map(PathBuf::from).unwrap_or_default(),
            });
        }
    }
}

/// One compilation: a target of a package, as tests or not.
fn unit(message: &Value) -> String {
    format!("{} {} {}", message["package_id"], message["target"]["name"], message["target"]["kind"])
}

/// The name in `path+file:///folder#name@0.1.0`, or in `path+file:///folder/name#0.1.0`.
fn package(id: &str) -> String {
    let (path, version) = id.split_once('#').unwrap_or((id, ""));
    let name = version.split_once('@').map_or_else(|| path.rsplit('/').next().unwrap_or(path), |it| it.0);
    name.to_owned()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    fn read(lines: &[&str]) -> (Built, usize) {
        let (mut built, mut linted) = (Built::default(), BTreeSet::new());
        for line in lines {
            built.read(&serde_json::from_str(line).expect("it is JSON"), &mut linted);
        }
        (built, linted.len())
    }

    #[test]
    fn programs_of_tests_are_found_and_benchmarks_are_not() {
        let artifact = |kind: &str, is_test: bool| {
            format!(
                r#"{{"reason":"compiler-artifact","package_id":"path+file:///a/codegen#isobar-codegen@0.1.0","manifest_path":"/a/codegen/Cargo.toml","target":{{"kind":["{kind}"],"name":"main"}},"profile":{{"test":{is_test}}},"executable":"/a/target/debug/deps/x"}}"#
            )
        };
        let lines = [artifact("lib", true), artifact("bench", true), artifact("bin", false)];
        let (built, linted) = read(&lines.each_ref().map(String::as_str));
        let [program] = built.test_programs.as_slice() else { panic!("{built:?}") };
        assert_eq!((program.package.as_str(), program.kind.as_str()), ("isobar-codegen", "lib"));
        assert_eq!(program.folder, PathBuf::from("/a/codegen"));
        assert_eq!((built.n_clean, linted), (3, 0));
    }

    #[test]
    fn a_crate_with_warnings_counts_once_and_the_sum_of_them_does_not() {
        let warning = r#"{"reason":"compiler-message","package_id":"path+file:///a#b@0.1.0","target":{"kind":["lib"],"name":"b"},"message":{"level":"warning","spans":[{}]}}"#;
        let sum = r#"{"reason":"compiler-message","package_id":"path+file:///a#c@0.1.0","target":{"kind":["lib"],"name":"c"},"message":{"level":"warning","spans":[]}}"#;
        assert_eq!(read(&[warning, warning, sum]).1, 1);
    }

    #[test]
    fn the_name_of_a_package_is_read_from_both_forms_of_its_id() {
        assert_eq!(package("path+file:///a/native-runner#isobar-runner@0.1.0"), "isobar-runner");
        assert_eq!(package("path+file:///a/xtask#0.1.0"), "xtask");
    }
}
