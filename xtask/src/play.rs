//! `cargo xtask play`: from a clone to a running playground.

use crate::binary::binary;
use crate::page::{Profile, page};
use crate::process::{built, program, run, say, target_dir};
use anyhow::Result;
use std::process::Command;

fn is_root() -> bool {
    use std::os::unix::fs::MetadataExt;
    std::fs::metadata("/proc/self").is_ok_and(|it| it.uid() == 0)
}

/// Builds page and runner and serves both; returns when the runner ends.
pub(crate) fn play(bind: Option<&str>, open: bool, profile: Profile) -> Result<()> {
    page(profile)?;
    let mut serve = runner(profile)?;
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

/// The runner: as the tests build it, or as it is released.
fn runner(profile: Profile) -> Result<Command> {
    match profile {
        Profile::Quick => {
            say("a quick build, which the tests share; `cargo xtask play --release` builds a faster one");
            built("isobar")
        }
        Profile::Release => {
            binary()?;
            Ok(program(target_dir().join("release").join("isobar")))
        }
    }
}
