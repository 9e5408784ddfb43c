//! `cargo xtask play`: from a clone to a running playground.

use crate::page::{Profile, page};
use crate::process::{cargo, program, run, say, target_dir};
use anyhow::Result;

fn is_root() -> bool {
    use std::os::unix::fs::MetadataExt;
    std::fs::metadata("/proc/self").is_ok_and(|it| it.uid() == 0)
}

/// Builds page and runner and serves both; returns when the runner ends.
pub(crate) fn play(bind: Option<&str>, open: bool) -> Result<()> {
    page(Profile::Release)?;
    run(
        cargo().args(["build", "--locked", "--release", "--package", "isobar-runner", "--bin", "isobar"]),
        "build the runner, with the page inside",
    )?;
    let mut serve = program(target_dir().join("release").join("isobar"));
    serve.arg("serve");
    if let Some(address) = bind {
        serve.args(["--bind", address]);
    }
    if open {
        serve.arg("--open");
    }
    if is_root() {
        say(
            "this is root, which `isobar serve` refuses unasked: --allow-root is given, as for a machine of one's own",
        );
        serve.arg("--allow-root");
    }
    run(&mut serve, "serve (Ctrl+C ends it)")
}
