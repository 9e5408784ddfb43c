//! Trials of a runner, with a release build: long forms of tests that `cargo xtask test` runs for a short
//! time.

use anyhow::Result;

use crate::process::{cargo, run};

fn tests(package: &str, which: &str) -> std::process::Command {
    let mut command = cargo();
    command.args(["test", "--locked", "--release", "--package", package, "--test", "main"]);
    command.args([which, "--", "--nocapture"]);
    command
}

/// Jobs of four clients one after another, for so long; jobs that are cancelled, and very many who wait for events.
pub(crate) fn load(seconds: u64) -> Result<()> {
    let mut command = tests("isobar-runner", "load::");
    // One at a time.
    command.args(["--test-threads", "1"]);
    command.env("ISOBAR_LOAD_SECONDS", seconds.to_string());
    command.envs([("ISOBAR_LOAD_STREAMS", "10000"), ("ISOBAR_LOAD_CANCELS", "100")]);
    run(&mut command, "send a runner jobs, and see how many come back and how fast")
}

/// A job that breaks out where it can.
pub(crate) fn escape() -> Result<()> {
    run(&mut tests("isobar-hostile", ""), "try to break out of a job")?;
    run(&mut tests("isobar-runner", "confined::"), "end a runner, and see what goes on without it")
}
