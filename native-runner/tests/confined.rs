//! The processes that a job started end with it, also when the runner is killed.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on may end")]

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

const GALLERY: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../static/gallery/copy_scale.py");

/// How long it works, which tells its processes from all others.
const SLEEPS: &str = "86399.25";

/// The processes that work for the C compiler below.
fn working() -> usize {
    let lines =
        fs::read_dir("/proc").unwrap().flatten().filter_map(|it| fs::read(it.path().join("cmdline")).ok());
    lines.filter(|it| String::from_utf8_lossy(it).contains(SLEEPS)).count()
}

fn wait(until: impl Fn() -> bool) -> bool {
    let begun = Instant::now();
    while !until() {
        if begun.elapsed() > Duration::from_secs(10) {
            return false;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    true
}

/// A C compiler that starts another program, as GCC does, and never ends.
fn compiler(folder: &Path) -> String {
    let program = folder.join("bin/cc");
    fs::create_dir_all(program.parent().unwrap()).unwrap();
    let text =
        format!("#!/bin/sh\ncase $1 in --version) echo slow 1.0; exit;; esac\nsleep {SLEEPS} & wait\n");
    fs::write(&program, text).unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    program.display().to_string()
}

#[test]
fn the_c_compiler_ends_with_its_job_also_when_the_runner_is_killed() {
    let probe =
        Command::new(env!("CARGO_BIN_EXE_isobar")).args(["worker", "probe", "--probe"]).output().unwrap();
    let told = String::from_utf8(probe.stdout).unwrap();
    let is_alone = told.split("missing").next().unwrap().contains("a PID namespace");
    let folder = tempfile::tempdir().unwrap();
    let cc = compiler(folder.path());
    // Killed from outside without a word, and told to end.
    for signal in ["KILL", "TERM"] {
        let mut runner = Command::new(env!("CARGO_BIN_EXE_isobar"))
            .args(["run", GALLERY, "--backend", "openmp", "--init", "--domain", "4,4,4"])
            .env("CC", &cc)
            .env("TMPDIR", folder.path())
            .env("XDG_CACHE_HOME", folder.path().join("cache"))
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        assert!(wait(|| working() > 0), "the compiler started");
        let pid = runner.id().to_string();
        assert!(Command::new("kill").args([&format!("-{signal}"), &pid]).status().unwrap().success());
        runner.wait().unwrap();
        let is_over = wait(|| working() == 0);
        assert!(is_over || !is_alone, "{signal}: the compiler goes on");
    }
    if !is_alone {
        isobar_testing::skip_part(
            "the end of the compiler",
            format_args!("there is no PID namespace: {told}"),
        );
    }
}

/// Where the descriptors lead that a process has, of those that end in `name`.
fn leading_to(process: &Path, name: &str) -> usize {
    let Ok(all) = fs::read_dir(process.join("fd")) else { return 0 };
    all.flatten().filter_map(|it| fs::read_link(it.path()).ok()).filter(|it| it.ends_with(name)).count()
}

/// The processes that wait for jobs of a runner, or work.
fn workers(of: &Path) -> Vec<std::path::PathBuf> {
    let mark = of.display().to_string();
    let processes = fs::read_dir("/proc").unwrap().flatten().map(|it| it.path());
    let is_worker = |process: &std::path::PathBuf| {
        let read = |name: &str| fs::read(process.join(name)).unwrap_or_default();
        let (line, environment) = (read("cmdline"), read("environ"));
        String::from_utf8_lossy(&line).contains("worker")
            && String::from_utf8_lossy(&environment).contains(&mark)
    };
    processes.filter(is_worker).collect()
}

#[test]
fn what_the_parent_of_the_runner_has_open_reaches_no_job() {
    let folder = tempfile::tempdir().unwrap();
    let (secret, temporary) = (folder.path().join("secret"), folder.path().join("temporary"));
    fs::write(&secret, "of somebody else").unwrap();
    fs::create_dir(&temporary).unwrap();
    let script = "exec 9<>\"$SECRET\"; exec \"$ISOBAR\" serve --allow-root --bind 127.0.0.1:0";
    let mut runner = Command::new("sh")
        .args(["-c", script])
        .env("SECRET", &secret)
        .env("ISOBAR", env!("CARGO_BIN_EXE_isobar"))
        .env("TMPDIR", &temporary)
        .env("XDG_CACHE_HOME", folder.path().join("cache"))
        .env("XDG_STATE_HOME", folder.path().join("state"))
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let has_workers = wait(|| !workers(&temporary).is_empty());
    // The first work of these processes is to close the files that they inherited.
    let is_let_go = wait(|| workers(&temporary).iter().all(|it| leading_to(it, "secret") == 0));
    runner.kill().unwrap();
    runner.wait().unwrap();
    assert!(has_workers, "processes wait for jobs");
    assert!(is_let_go, "a process of a job has a file of the runner's parent");
}

#[test]
fn a_runner_that_must_confine_its_jobs_tries_each_way_out_first() {
    use std::io::{BufRead, BufReader};
    let probe =
        Command::new(env!("CARGO_BIN_EXE_isobar")).args(["worker", "probe", "--probe"]).output().unwrap();
    let is_whole = String::from_utf8(probe.stdout).unwrap().contains("\"missing\":[]");
    let mut runner = Command::new(env!("CARGO_BIN_EXE_isobar"))
        .args(["serve", "--require-sandbox", "--allow-root", "--no-state", "--bind", "127.0.0.1:0"])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let told = BufReader::new(runner.stderr.take().unwrap()).lines().map_while(Result::ok);
    let told = told.into_iter().find(|it| it.contains("way out") || it.contains("not confined"));
    let _ = runner.kill();
    let _ = runner.wait();
    // On a machine that lacks some of it, the runner refuses to start.
    let expected = if is_whole { "none leads out" } else { "jobs are not confined here" };
    assert!(told.as_ref().is_some_and(|it| it.contains(expected)), "{told:?}");
}
