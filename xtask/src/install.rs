//! Tools that the chores need on the machine. Missing ones are installed, after a message that says so.

use crate::process::{cargo, find, output, program, root, run, say};
use anyhow::{Context, Result, bail};
use std::fs;
use std::path::PathBuf;
use std::process::Command;

const WASM: &str = "wasm32-unknown-unknown";

/// The folder of everything that comes from the npm registry.
pub(crate) fn npm_dir() -> PathBuf {
    root().join("web/editor")
}

/// The compiler's standard library for the page.
pub(crate) fn wasm_target() -> Result<()> {
    if find("rustup").is_none() {
        // A toolchain from elsewhere: it has the target or it has not.
        let lib = output(program("rustc").args(["--print", "target-libdir", "--target", WASM]))?;
        if PathBuf::from(lib.trim()).is_dir() {
            return Ok(());
        }
        bail!("the Rust toolchain has no {WASM} target, and there is no rustup to add it");
    }
    let installed = output(program("rustup").args(["target", "list", "--installed"]))?;
    if installed.lines().any(|line| line.trim() == WASM) {
        return Ok(());
    }
    run(program("rustup").args(["target", "add", WASM]), "install the target that the page is compiled for")
}

/// The editor's parts, esbuild, wasm-opt and the browser driver, exactly as `package-lock.json` names them.
pub(crate) fn npm_packages() -> Result<()> {
    for tool in ["node", "npm"] {
        if find(tool).is_none() {
            bail!("`{tool}` is missing: install Node.js 20 or newer (Debian: apt-get install nodejs npm)");
        }
    }
    let dir = npm_dir();
    let lock = fs::read(dir.join("package-lock.json")).context("web/editor/package-lock.json")?;
    // A copy of the lock file is left among the packages: equal copies mean equal packages.
    let stamp = dir.join("node_modules/.installed-lock");
    if fs::read(&stamp).is_ok_and(|installed| installed == lock) {
        return Ok(());
    }
    run(
        program("npm").current_dir(&dir).args(["ci", "--ignore-scripts", "--no-audit", "--no-fund"]),
        "install the editor's parts, esbuild, wasm-opt and playwright-core into web/editor/node_modules",
    )?;
    fs::write(&stamp, lock).context("web/editor/node_modules is not writable")
}

/// A Chromium for the end-to-end tests: the one that `ISOBAR_CHROMIUM` names, one on PATH, or Debian's.
pub(crate) fn chromium() -> Result<PathBuf> {
    browser("ISOBAR_CHROMIUM", "chromium", &["chromium", "chromium-browser", "google-chrome"])
}

/// A Firefox for the same: the one that `ISOBAR_FIREFOX` names, one on PATH, or Debian's.
pub(crate) fn firefox() -> Result<PathBuf> {
    browser("ISOBAR_FIREFOX", "firefox-esr", &["firefox-esr", "firefox"])
}

/// The browser that the variable names, one of these programs on PATH, or Debian's package.
fn browser(variable: &str, package: &str, programs: &[&str]) -> Result<PathBuf> {
    if let Some(named) = std::env::var_os(variable) {
        return Ok(named.into());
    }
    let on_path = || programs.iter().find_map(|it| find(it));
    if let Some(found) = on_path() {
        return Ok(found);
    }
    if find("apt-get").is_none() {
        bail!("no {package} on PATH, and no apt-get to install it: install it, or name it in {variable}");
    }
    run(&mut as_root("apt-get", &["update", "--quiet"]), "learn what Debian offers, to install a browser")?;
    run(
        &mut as_root(
            "apt-get",
            &["install", "--quiet", "--yes", "--no-install-recommends", package, "fonts-dejavu-core"],
        ),
        "install a browser that the end-to-end tests drive, and a font for it",
    )?;
    on_path().with_context(|| format!("apt-get installed {package}, but it is not on PATH"))
}

/// A GPU for the tests: the card's, or what computes on the processor in its place. Where none can be had, the tests say
/// that they are skipped.
pub(crate) fn vulkan() -> Result<()> {
    let has_driver = |folder: &str| fs::read_dir(folder).is_ok_and(|mut it| it.next().is_some());
    let is_there = ["/usr/share/vulkan/icd.d", "/etc/vulkan/icd.d"].into_iter().any(has_driver);
    if is_there {
        return Ok(());
    }
    if find("apt-get").is_none() {
        say(
            "there is no Vulkan driver, and no apt-get to install mesa-vulkan-drivers: tests of the GPU are skipped",
        );
        return Ok(());
    }
    run(
        &mut as_root("apt-get", &["update", "--quiet"]),
        "learn what Debian offers, to install a Vulkan driver",
    )?;
    run(
        &mut as_root(
            "apt-get",
            &["install", "--quiet", "--yes", "--no-install-recommends", "mesa-vulkan-drivers", "libvulkan1"],
        ),
        "install lavapipe, on which the tests run kernels of GPUs",
    )
}

/// A compiler of Fortran, and what finds libraries, for the tests of exported projects.
pub(crate) fn fortran() -> Result<()> {
    let missing: Vec<&str> = ["gfortran", "pkg-config"].into_iter().filter(|it| find(it).is_none()).collect();
    if missing.is_empty() {
        return Ok(());
    }
    if find("apt-get").is_none() {
        bail!("{} is missing, and there is no apt-get to install it", missing.join(" and "));
    }
    run(&mut as_root("apt-get", &["update", "--quiet"]), "learn what Debian offers, to install gfortran")?;
    let options = ["install", "--quiet", "--yes", "--no-install-recommends"];
    run(
        &mut as_root("apt-get", &[&options[..], &missing].concat()),
        "install what builds the programs that call exported stencils",
    )
}

pub(crate) fn as_root(name: &str, args: &[&str]) -> Command {
    let is_root = output(program("id").arg("-u")).is_ok_and(|id| id.trim() == "0");
    let mut command = if is_root {
        program(name)
    } else {
        let mut sudo = program("sudo");
        sudo.args(["--preserve-env=DEBIAN_FRONTEND", name]);
        sudo
    };
    command.args(args).env("DEBIAN_FRONTEND", "noninteractive");
    command
}

/// The crates that `Cargo.lock` names, so that a missing network shows here and not in the middle of a build.
pub(crate) fn crates() -> Result<()> {
    say("fetch the crates that Cargo.lock names and that are not here yet");
    output(cargo().args(["fetch", "--locked", "--quiet"])).map(drop)
}
