//! `cargo xtask play`: from a clone to a running playground.

use crate::binary::binary;
use crate::page::{Profile, page};
use crate::process::{built_beside, program, run, say, target_dir};
use anyhow::Result;
use std::process::Command;
use std::thread;

fn is_root() -> bool {
    use std::os::unix::fs::MetadataExt;
    std::fs::metadata("/proc/self").is_ok_and(|it| it.uid() == 0)
}

/// Builds page and runner and serves both; returns when the runner ends.
pub(crate) fn play(bind: Option<&str>, open: bool, profile: Profile) -> Result<()> {
    let mut serve = match profile {
        Profile::Quick => quick()?,
        Profile::Release => released()?,
    };
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

/// The runner as the tests build it, which reads the page when it is asked for it. Both are built at the same time.
fn quick() -> Result<Command> {
    say("a quick build, which the tests share; `cargo xtask play --release` builds a faster one");
    thread::scope(|scope| {
        let page = scope.spawn(|| page(Profile::Quick));
        let runner = built_beside("isobar");
        page.join().expect("the thread of the page does not panic")?;
        runner
    })
}

/// The runner as it is released, with the page inside.
fn released() -> Result<Command> {
    page(Profile::Release)?;
    binary()?;
    Ok(program(target_dir().join("release").join("isobar")))
}
