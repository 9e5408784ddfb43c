//! A back end that breaks out where it can gets nowhere, and each attempt is logged.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on may end")]

use std::path::Path;
use std::process::{Command, Output, Stdio};

const COPY: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../static/gallery/copy_scale.py");

fn hostile(arguments: &[&str], folder: &Path) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_isobar-hostile"));
    let folders = [("XDG_CACHE_HOME", folder.join("cache")), ("TMPDIR", folder.join("tmp"))];
    command.args(arguments).envs(folders).stdin(Stdio::null()).output().unwrap()
}

fn places() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("tmp")).unwrap();
    folder
}

/// Whether this kernel has what holds jobs; where it lacks something, that is said, and what depends on it is not held.
fn holds(folder: &Path, what: &str) -> bool {
    let told = hostile(&["worker", "probe", "--probe"], folder).stdout;
    let told: serde_json::Value = serde_json::from_slice(&told).unwrap();
    let is_held = told["held"].as_array().unwrap().iter().any(|it| it == what);
    if !is_held {
        isobar_testing::skip(what, format_args!("this machine lacks {}", told["missing"]));
    }
    is_held
}

#[test]
fn whoever_makes_code_reaches_nothing_beyond_the_job() {
    let folder = places();
    if !["Landlock", "a list of system calls", "a root of its own"].iter().all(|it| holds(folder.path(), it))
    {
        return;
    }
    let output =
        hostile(&["run", COPY, "--backend", "hostile", "--init", "--domain", "200,4,4"], folder.path());
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success(), "{said}");
    let answers: Vec<(&str, i64)> = said
        .lines()
        .filter_map(|it| it.rsplit_once(": ").and_then(|(name, answer)| Some((name, answer.parse().ok()?))))
        .collect();
    let names = String::from_utf8(hostile(&["making"], folder.path()).stdout).unwrap();
    assert_eq!(answers.len(), names.lines().count(), "{said}");
    for (name, answer) in answers {
        assert!(answer < 0, "{name} answers {answer}");
    }
}

#[test]
fn whoever_runs_code_reaches_nothing_at_all_and_each_attempt_is_logged() {
    let folder = places();
    if !holds(folder.path(), "nothing opened or started while code runs") {
        return;
    }
    let names = String::from_utf8(hostile(&["attempts"], folder.path()).stdout).unwrap();
    assert!(names.lines().count() > 20);
    for (at, name) in names.lines().enumerate() {
        let domain = format!("{},4,4", at + 1);
        let arguments = ["run", COPY, "--backend", "hostile", "--init", "--domain", &domain];
        let output = hostile(&arguments, folder.path());
        let said = String::from_utf8(output.stderr).unwrap();
        let is_logged =
            said.contains("a job tried what no job may") && said.contains(&format!("calls=\"{name}\""));
        assert!(is_logged, "attempt {at}, {name}: {said}");
        // Opening a file fails, and the process goes on; all others end it.
        assert_eq!(output.status.success(), name == "openat", "attempt {at}, {name}: {said}");
    }
    let left = |name: &str| std::fs::read_dir(folder.path().join(name)).into_iter().flatten().count();
    assert_eq!(left("tmp"), 0);
    assert_eq!(left("cache/c"), 0);
}

#[test]
fn a_crash_is_told_as_one_and_is_no_attempt() {
    let folder = places();
    let lines = |it: &str| String::from_utf8(hostile(&[it], folder.path()).stdout).unwrap();
    let first = lines("attempts").lines().count() + 1;
    for (at, signal) in lines("crashes").lines().enumerate() {
        let domain = format!("{},4,4", first + at);
        let arguments = ["run", COPY, "--backend", "hostile", "--init", "--domain", &domain];
        let said = String::from_utf8(hostile(&arguments, folder.path()).stderr).unwrap();
        assert!(said.contains("crashed") && said.contains(signal), "{signal}: {said}");
        assert!(!said.contains("tried what no job may"), "{signal}: {said}");
    }
}
