//! `cargo xtask agree`: our stencils, and those of checkouts, under gt4py and under Isobar.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use crate::process::{cargo, program, root, run, target_dir};

/// The packages that are installed; another version may have other bugs.
pub(crate) const PACKAGES: [&str; 2] = ["gt4py==1.1.12", "numpy==2.4.6"];

/// The packages that generated texts need.
const NUMPY: [&str; 1] = [PACKAGES[1]];

/// Runs the texts `python` and `numpy` under Python, and compares with the interpreter.
pub(crate) fn texts(generated: u32) -> Result<()> {
    let folder = target_dir().join("texts");
    let python = environment(&folder, &NUMPY)?;
    let mut command = cargo();
    command.args(["run", "--locked", "--package", "isobar-tests", "--bin", "texts", "--"]);
    command.arg(python).arg(folder.join("work")).arg(generated.to_string());
    run(&mut command, "run generated texts with Python, and compare with the interpreter")
}

/// Builds the Python environment where it is missing, and compares.
pub(crate) fn agree(generated: u32, keep: bool, paths: &[PathBuf]) -> Result<()> {
    let folder = target_dir().join("oracle");
    let python = environment(&folder, &PACKAGES)?;
    let mut command = cargo();
    command.args(["run", "--locked", "--release", "--package", "isobar-tests", "--bin", "agree", "--"]);
    command.arg(python).arg(folder.join("work")).arg(generated.to_string());
    command.args(keep.then_some("--keep")).args(paths);
    run(&mut command, "run stencils with gt4py and with Isobar, and compare")
}

/// A Python that has these packages.
pub(crate) fn environment(folder: &Path, packages: &[&str]) -> Result<PathBuf> {
    let venv = folder.join("venv");
    let python = venv.join("bin/python");
    let stamp = folder.join("installed");
    let wanted = packages.join("\n");
    if python.exists() && fs::read_to_string(&stamp).is_ok_and(|it| it == wanted) {
        return Ok(python);
    }
    fs::create_dir_all(folder).with_context(|| folder.display().to_string())?;
    run(program("python3").current_dir(root()).args(["-m", "venv"]).arg(&venv), "make a Python environment")?;
    let mut install = program(&python);
    install.args(["-m", "pip", "install", "--quiet"]).args(packages);
    run(&mut install, "install packages from the Python registry")?;
    fs::write(&stamp, wanted).with_context(|| stamp.display().to_string())?;
    Ok(python)
}
