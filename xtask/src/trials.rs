//! What is tried on a runner: long forms of tests that `cargo xtask test` runs shortly, with a release build.

use anyhow::Result;

use crate::process::{cargo, run};

fn tests(package: &str, which: &str) -> std::process::Command {
    let mut command = cargo();
    command.args(["test", "--locked", "--release", "--package", package, "--test", "main"]);
    command.args([which, "--", "--nocapture"]);
    command
}

/// Jobs of four clients one after another, for so long.
pub(crate) fn load(seconds: u64) -> Result<()> {
    let mut command = tests("isobar-runner", "load::");
    command.env("ISOBAR_LOAD_SECONDS", seconds.to_string());
    run(&mut command, "send a runner jobs, and see how many come back and how fast")
}

/// A job that breaks out where it can.
pub(crate) fn escape() -> Result<()> {
    run(&mut tests("isobar-hostile", ""), "try to break out of a job")?;
    run(&mut tests("isobar-runner", "confined::"), "end a runner, and see what goes on without it")
}
