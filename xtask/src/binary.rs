//! `cargo xtask binary`: the program as it is published, with its line tables in a file beside it.

use std::fs;

use anyhow::{Context, Result, ensure};

use crate::process::{cargo, output, program, run, say, target_dir};

/// The program is at most so large. Line tables and names for backtraces are in `isobar.debug`.
const MOST_BYTES: u64 = 50 << 20;

/// Builds the runner, which has the page inside, and moves its line tables to a file beside it.
///
/// The program finds that file by its name in the same folder (`.gnu_debuglink`), and does without where it is not there.
pub(crate) fn binary() -> Result<()> {
    let command = ["build", "--locked", "--release", "--package", "isobar-runner", "--bin", "isobar"];
    run(cargo().args(command), "build the runner, with the page inside")?;
    let folder = target_dir().join("release");
    let (whole, tables) = (folder.join("isobar"), folder.join("isobar.debug"));
    let size = || -> Result<u64> {
        Ok(fs::metadata(&whole).with_context(|| format!("{} is not there", whole.display()))?.len())
    };
    // cargo leaves a program alone that is up to date, and so is one without its tables.
    let sections = output(program("readelf").args(["--sections", "--wide"]).arg(&whole))?;
    if !sections.contains(".gnu_debuglink") {
        let mut copy = program("objcopy");
        copy.arg("--only-keep-debug").arg(&whole).arg(&tables);
        run(&mut copy, "write line tables and names to a file of their own")?;
        let mut strip = program("objcopy");
        strip.arg("--strip-all").arg(format!("--add-gnu-debuglink={}", tables.display())).arg(&whole);
        run(&mut strip, "take tables and names out of the program")?;
    }
    let (bytes, most) = (size()?, MOST_BYTES);
    ensure!(bytes <= most, "{} has {bytes} bytes, and at most {most} are published", whole.display());
    say(&format!("{} has {} MB", whole.display(), bytes >> 20));
    Ok(())
}
