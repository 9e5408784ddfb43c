//! `cargo xtask bench`: what `cargo bench` measures, and `bench kernels` with its own options.

use std::path::Path;

use anyhow::Result;

use crate::agree;
use crate::process::{cargo, output, program, run, say};

/// Large arrays lie in large pages, as NumPy asks for them: without, a good part of a run is looking up addresses.
const TUNABLES: &str = "glibc.malloc.hugetlb=1";

/// Runs the benchmarks; `args` are those of `cargo bench`, or `kernels` with options of its own.
pub(crate) fn bench(args: &[String]) -> Result<()> {
    let mut command = cargo();
    command.args(["bench", "--package", "isobar-tests"]);
    let Some((_, of_kernels)) = args.split_first().filter(|(first, _)| *first == "kernels") else {
        return run(command.args(args), "measure what the benchmarks measure");
    };
    command.args(["--locked", "--bench", "kernels", "--"]).args(of_kernels);
    if !of_kernels.iter().any(|it| it.starts_with("--date")) {
        // The report has no clock of its own.
        command.arg("--date").arg(output(program("date").arg("+%Y-%m-%d"))?.trim());
    }
    run(command.env("GLIBC_TUNABLES", TUNABLES), "measure the kernels against C by hand, and others")
}

/// Builds the Python environment where it is missing; its C++ back ends need Python's headers and a C++ compiler.
pub(crate) fn environment(folder: &Path) -> Result<()> {
    let folder = std::path::absolute(folder)?;
    let packages = [agree::PACKAGES.as_slice(), &["setuptools"]].concat();
    let python = agree::environment(&folder, &packages)?;
    let told =
        "import sysconfig, pathlib; print(pathlib.Path(sysconfig.get_path('include'), 'Python.h').exists())";
    if output(program(&python).args(["-c", told]))?.trim() != "True" {
        say(
            "this Python has no headers: install them (Debian: python3-dev), or the C++ back ends are left out",
        );
    }
    say(&format!("measure with it: cargo xtask bench kernels --gt4py {}", folder.join("venv").display()));
    Ok(())
}
