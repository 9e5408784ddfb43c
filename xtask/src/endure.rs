//! `cargo xtask soak` and `cargo xtask faults`: what a runner endures, by its tests with more time and more faults.

use anyhow::Result;

use crate::process::{cargo, run};

/// A mixed load for so many minutes.
pub(crate) fn soak(minutes: u64, is_dev: bool) -> Result<()> {
    let seconds = minutes.saturating_mul(60).to_string();
    tests("soak::", "ISOBAR_SOAK_SECONDS", &seconds, is_dev, "hold a runner under a mixed load")
}

/// Each fault so many times.
pub(crate) fn faults(rounds: u64, is_dev: bool) -> Result<()> {
    tests("injected::", "ISOBAR_FAULT_ROUNDS", &rounds.to_string(), is_dev, "inject faults into a runner")
}

/// Runs the tests of one file, which print their figures, one after the other.
fn tests(filter: &str, variable: &str, value: &str, is_dev: bool, why: &str) -> Result<()> {
    let mut command = cargo();
    command.args(["test", "--locked", "--package", "isobar-runner", "--test", "main"]);
    if !is_dev {
        command.arg("--release");
    }
    command.args([filter, "--", "--nocapture", "--test-threads", "1"]).env(variable, value);
    run(&mut command, why)
}
