//! `cargo xtask dace`: our graphs under two versions of DaCe.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use crate::process::{cargo, program, root, run, target_dir};

/// A version, and what it needs beside it: later releases of the same packages do not go with it.
struct Version {
    name: &'static str,
    packages: &'static [&'static str],
}

const VERSIONS: [Version; 2] = [
    Version { name: "1.0.2", packages: &["dace==1.0.2", "networkx==3.4.2", "numpy==1.26.4", "setuptools"] },
    Version { name: "2.0.0b1", packages: &["dace==2.0.0b1", "numpy==2.4.6", "setuptools"] },
];

/// Builds the Python environments where they are missing, and loads, runs and compares.
pub(crate) fn dace(limit: u32, paths: &[PathBuf], libraries: &[PathBuf]) -> Result<()> {
    let folder = target_dir().join("dace");
    let mut command = cargo();
    command.args(["run", "--locked", "--package", "isobar-tests", "--bin", "dace", "--"]);
    command.arg(folder.join("work")).arg(limit.to_string());
    for version in &VERSIONS {
        command.arg(environment(&folder, version)?);
    }
    for library in libraries {
        command.arg("--with").arg(library);
    }
    command.arg("--").args(paths);
    run(&mut command, "load, validate, compile and run graphs with DaCe, and compare")
}

/// A Python that has this version.
fn environment(folder: &Path, version: &Version) -> Result<PathBuf> {
    let venv = folder.join(format!("venv-{}", version.name));
    let python = venv.join("bin/python");
    let stamp = folder.join(format!("installed-{}", version.name));
    let wanted = version.packages.join("\n");
    if python.exists() && fs::read_to_string(&stamp).is_ok_and(|it| it == wanted) {
        return Ok(python);
    }
    fs::create_dir_all(folder).with_context(|| folder.display().to_string())?;
    run(program("python3").current_dir(root()).args(["-m", "venv"]).arg(&venv), "make a Python environment")?;
    let mut install = program(&python);
    install.args(["-m", "pip", "install", "--quiet", "--pre"]).args(version.packages);
    run(&mut install, "install DaCe from the Python registry")?;
    fs::write(&stamp, wanted).with_context(|| stamp.display().to_string())?;
    Ok(python)
}
