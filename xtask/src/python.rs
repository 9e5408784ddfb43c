//! `cargo xtask python`: the wheel, its types, and its tests under the system's Python, with and without GT4Py.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};

use crate::build::lint;
use crate::page::Profile;
use crate::process::{program, root, run, say, target_dir};
use crate::registry;

/// The package, where nothing else of the sources is seen.
pub(crate) struct Installed {
    /// The interpreter that has it.
    python: PathBuf,
}

/// The environment that wheels are built and tested in.
fn environment() -> Result<PathBuf> {
    let why = "install maturin, mypy, NumPy and GT4Py from Python's registry";
    registry::installed("python", "python", why)
}

/// Builds the wheel, and installs it beside GT4Py.
pub(crate) fn install(profile: Profile) -> Result<Installed> {
    let wheel = build(profile)?;
    let python = environment()?.join("bin/python");
    let mut install = program(&python);
    install.args(["-m", "pip", "install", "--quiet", "--no-deps", "--force-reinstall"]).arg(&wheel);
    run(&mut install, "install the wheel")?;
    Ok(Installed { python })
}

/// Builds the wheel.
pub(crate) fn build(profile: Profile) -> Result<PathBuf> {
    let venv = environment()?;
    let python = venv.join("bin/python");
    let wheels = target_dir().join("python/wheels");
    if wheels.exists() {
        fs::remove_dir_all(&wheels).with_context(|| wheels.display().to_string())?;
    }
    let mut build = program(venv.join("bin/maturin"));
    build.args(["build", "--locked", "--quiet", "--strip", "--profile"]);
    match profile {
        // With what the tests build.
        Profile::Quick => {
            lint(&mut build);
            build.arg("dev")
        }
        Profile::Release => build.arg("release"),
    };
    build.arg("--interpreter").arg(&python).arg("--out").arg(&wheels);
    build.arg("--manifest-path").arg(root().join("python/Cargo.toml"));
    run(&mut build, "build the wheel of the Python package")?;
    let wheel = fs::read_dir(&wheels)?
        .flatten()
        .map(|it| it.path())
        .find(|it| it.extension().is_some_and(|it| it == "whl"));
    let wheel = wheel.context("maturin left no wheel")?;
    say(&format!("the wheel: {}", wheel.display()));
    Ok(wheel)
}

impl Installed {
    /// Holds the package against its own types, and the native part against its stub.
    pub(crate) fn check_types(&self) -> Result<()> {
        let mut types = self.module("mypy");
        types.arg("--config-file").arg(root().join("python/pyproject.toml"));
        run(&mut types, "check the types of the Python package")?;
        run(self.module("mypy.stubtest").arg("isobar._native"), "hold the native part against its stub")
    }

    /// The tests; the last line that they print is `N passed, M failed`.
    pub(crate) fn tests(&self) -> Command {
        let mut tests = program(&self.python);
        tests.current_dir(self.elsewhere()).arg(root().join("python/tests/run.py"));
        // Not the cache that somebody has at home.
        tests.env("ISOBAR_CACHE", "off");
        // Calls over the wire go to the runner of the same sources, where it is built.
        let runner = target_dir().join("debug/isobar");
        if runner.exists() {
            tests.env("ISOBAR_BIN", runner);
        }
        tests
    }

    fn module(&self, name: &str) -> Command {
        let mut command = program(&self.python);
        command.current_dir(self.elsewhere()).args(["-m", name]);
        command
    }

    /// A folder from which the sources are not imported by accident.
    fn elsewhere(&self) -> &Path {
        self.python.parent().unwrap_or(Path::new("."))
    }
}
