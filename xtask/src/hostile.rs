//! `cargo xtask hostile`: requests that nobody means well, many more of them than the tests send.

use anyhow::Result;

use crate::process::{cargo, run};

/// Starts a runner with folders of its own, and sends it so many requests over several connections. Fails
/// where an answer is a fault of the runner, where it is silent, or where it has more memory than it should.
pub(crate) fn hostile(requests: u64, seed: u64) -> Result<()> {
    let mut command = cargo();
    command.args(["test", "--locked", "--release", "--package", "isobar-runner", "--test", "main"]);
    command.args(["hostile::", "--", "--nocapture"]);
    command.env("ISOBAR_HOSTILE_REQUESTS", requests.to_string());
    command.env("ISOBAR_HOSTILE_SEED", seed.to_string());
    run(&mut command, &format!("send {requests} hostile requests to a runner"))
}
