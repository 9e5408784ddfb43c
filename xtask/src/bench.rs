//! `cargo xtask bench`: what `cargo bench` measures, and `bench kernels` and `bench models` with their own options.

use std::path::Path;

use anyhow::Result;

use crate::agree;
use crate::process::{cargo, output, program, run, say};

/// Large arrays lie in large pages, as NumPy asks for them: without, a good part of a run is looking up addresses.
const TUNABLES: &str = "glibc.malloc.hugetlb=1";

/// Benchmarks with options of their own, and what they measure.
const OWN: [(&str, &str); 2] = [
    ("kernels", "measure the kernels against C by hand, and others"),
    ("models", "measure stencils of a checkout, drawn by lot, on each layout, and gt4py beside us"),
];

/// Runs the benchmarks; `args` are those of `cargo bench`, or one of [`OWN`] with its options.
pub(crate) fn bench(args: &[String]) -> Result<()> {
    let mut command = cargo();
    command.args(["bench", "--package", "isobar-tests"]);
    let own = OWN.iter().find(|(name, _)| args.first().is_some_and(|it| it == name));
    let Some((&(name, what), (_, options))) = own.zip(args.split_first()) else {
        return run(command.args(args), "measure what the benchmarks measure");
    };
    command.args(["--locked", "--bench", name, "--"]).args(options);
    if name == "kernels" && !options.iter().any(|it| it.starts_with("--date")) {
        // The report has no clock of its own.
        command.arg("--date").arg(output(program("date").arg("+%Y-%m-%d"))?.trim());
    }
    run(command.env("GLIBC_TUNABLES", TUNABLES), what)
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
