//! `cargo xtask model`: PyFV3's dynamical core with every stencil by Isobar, beside GT4Py's own back end.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use serde::Deserialize;

use crate::page::Profile;
use crate::process::{built, output, program, root, run, say, target_dir};
use crate::{agree, python};

/// The packages that NDSL 2025.05 and PyFV3 import.
const PACKAGES: [&str; 16] = [
    agree::PACKAGES[0],
    agree::PACKAGES[1],
    "mpi4py==4.1.2",
    "mpich==5.0.2",
    "f90nml",
    "xarray",
    "h5netcdf",
    "netcdf4",
    "scipy",
    "dask",
    "fsspec",
    "cftime",
    "matplotlib",
    "pyyaml",
    "aenum",
    "fparser",
];

/// NDSL 2025.05 was written for this one, which gt4py does not ask for; nothing is compiled with it.
const DACE: &str = "dace==1.0.2";

/// The allowed distance of results from those of GT4Py's `numpy`, as a part of the largest value. The first
/// is for fields. The second is for the vertical wind, which is a small difference of large numbers.
const TOLERANCES: (f64, f64) = (1e-13, 1e-9);

/// NumPy's functions differ with the alignment of arrays where it has these.
const WITHOUT: &str = "AVX512F AVX512CD AVX512_SKX AVX512_CLX AVX512_CNL AVX512_ICL";

/// Where the model is, and how large it runs.
#[derive(Debug)]
pub(crate) struct Order {
    pub(crate) ndsl: PathBuf,
    pub(crate) pyfv3: PathBuf,
    pub(crate) points: u32,
    pub(crate) levels: u32,
    pub(crate) steps: u32,
    /// Whether GT4Py's `numpy`, which takes minutes, runs too.
    pub(crate) has_reference: bool,
    /// Whether GT4Py's compiled back end, which takes an hour to build, runs too.
    pub(crate) has_compiled: bool,
}

/// The report of a run.
#[derive(Debug, Deserialize)]
struct Told {
    built: f64,
    stencils: usize,
    objects: usize,
    steps: Vec<f64>,
    hashes: Vec<String>,
    /// Of a program.
    memory: Option<ProgramMemory>,
}

/// The bytes of a program's locals on a rank.
#[derive(Debug, Deserialize)]
struct ProgramMemory {
    locals: u64,
    locals_alone: u64,
}

/// One way to run it.
struct Way {
    name: &'static str,
    backend: &'static str,
    /// None: as the environment says.
    threads: Option<u32>,
    is_mpi: bool,
    /// Whether the step of each rank is one program.
    is_program: bool,
}

const WAYS: [Way; 10] = [
    Way {
        name: "`rayon`, six ranks as threads, first time",
        backend: "isobar",
        threads: Some(1),
        is_mpi: false,
        is_program: false,
    },
    Way { name: "the same again", backend: "isobar", threads: Some(1), is_mpi: false, is_program: false },
    Way {
        name: "`rayon`, as many threads a run as there are processors",
        backend: "isobar",
        threads: None,
        is_mpi: false,
        is_program: false,
    },
    Way {
        name: "`rayon`, six ranks of MPI",
        backend: "isobar",
        threads: Some(1),
        is_mpi: true,
        is_program: false,
    },
    Way {
        name: "`openmp`, first time",
        backend: "isobar:openmp",
        threads: Some(1),
        is_mpi: false,
        is_program: false,
    },
    Way {
        name: "`openmp`, compiled code in the cache",
        backend: "isobar:openmp",
        threads: Some(1),
        is_mpi: false,
        is_program: false,
    },
    Way {
        name: "`rayon`, the step of each rank as one program, first time",
        backend: "isobar",
        threads: Some(1),
        is_mpi: false,
        is_program: true,
    },
    Way { name: "the same again", backend: "isobar", threads: Some(1), is_mpi: false, is_program: true },
    Way {
        name: "`rayon`, programs on six ranks of MPI",
        backend: "isobar",
        threads: Some(1),
        is_mpi: true,
        is_program: true,
    },
    Way { name: "`debug`", backend: "isobar:debug", threads: Some(1), is_mpi: false, is_program: false },
];

/// Runs it in all ways, holds them against each other, and writes docs/benchmarks/model.md.
pub(crate) fn model(order: &Order) -> Result<()> {
    let folder = target_dir().join("model");
    let interpreter = agree::environment(&folder, &PACKAGES)?;
    let mut dace = program(&interpreter);
    dace.args(["-m", "pip", "install", "--quiet", "--no-deps", DACE]);
    run(&mut dace, "install the DaCe that NDSL imports")?;
    let wheel = python::build(Profile::Release)?;
    let mut install = program(&interpreter);
    install.args(["-m", "pip", "install", "--quiet", "--no-deps", "--force-reinstall"]).arg(&wheel);
    run(&mut install, "install Isobar")?;
    // Code that others compiled must not be measured.
    let cache = folder.join("cache");
    if cache.exists() {
        fs::remove_dir_all(&cache).with_context(|| cache.display().to_string())?;
    }
    let runs = Runs { order, interpreter, folder, cache };
    runs.updates()?;
    let mut table = String::new();
    let mut meant: Option<Vec<String>> = None;
    let mut memory = None;
    for way in &WAYS {
        let told = runs.once(way, "isobar.ndsl", "ours")?;
        table += &row(way.name, &told);
        memory = told.memory.or(memory);
        match &meant {
            None => meant = Some(told.hashes),
            Some(meant) if *meant != told.hashes => {
                bail!(
                    "{}: the states have the hashes {:?}, and those before {meant:?}",
                    way.name,
                    told.hashes
                )
            }
            Some(_) => {}
        }
    }
    if order.has_compiled {
        for name in ["GT4Py's `gt:cpu_ifirst`, first time", "the same again"] {
            let compiled =
                Way { name, backend: "gt:cpu_ifirst", threads: Some(1), is_mpi: false, is_program: false };
            table += &row(name, &runs.once(&compiled, "", "compiled")?);
        }
    }
    let mut apart = String::new();
    if order.has_reference {
        let numpy = Way {
            name: "GT4Py's `numpy`",
            backend: "numpy",
            threads: Some(1),
            is_mpi: false,
            is_program: false,
        };
        table += &row("GT4Py's `numpy`", &runs.once(&numpy, "", "theirs")?);
        apart = runs.compare()?;
    }
    let page = root().join("docs/benchmarks/model.md");
    fs::write(&page, report(order, (&table, memory.as_ref()), &apart)?)
        .with_context(|| page.display().to_string())?;
    say("docs/benchmarks/model.md has the table");
    Ok(())
}

struct Runs<'a> {
    order: &'a Order,
    interpreter: PathBuf,
    folder: PathBuf,
    cache: PathBuf,
}

impl Runs<'_> {
    /// Holds exchanges of ranks that cut a cube or a tile against NDSL's updates of halos.
    fn updates(&self) -> Result<()> {
        let isobar = built("isobar")?;
        let mut command = program(&self.interpreter);
        command.current_dir(&self.folder).args(["-W", "ignore"]).arg(root().join("tests/model/cube.py"));
        command.env("PYTHONPATH", absolute(&self.order.ndsl)?).env("ISOBAR_BIN", isobar.get_program());
        run(&mut command, "compare exchanges between ranks with NDSL's updates of halos")
    }

    fn once(&self, way: &Way, plugin: &str, out: &str) -> Result<Told> {
        let Order { ndsl, pyfv3, points, levels, steps, .. } = self.order;
        let mut command = if way.is_mpi {
            let mut command = program(self.interpreter.with_file_name("mpiexec"));
            command.args(["-n", "6"]).arg(&self.interpreter);
            command
        } else {
            program(&self.interpreter)
        };
        command.current_dir(&self.folder).args(["-W", "ignore"]).arg(root().join("tests/model/pyfv3.py"));
        command.arg("--config").arg(absolute(pyfv3)?.join("examples/configs/c12_baroclinic.yaml"));
        command.args(["--backend", way.backend, "--plugin", plugin, "--out", out]);
        for (name, number) in [("--points", points), ("--levels", levels), ("--steps", steps)] {
            command.arg(name).arg(number.to_string());
        }
        let paths = std::env::join_paths([absolute(ndsl)?, absolute(pyfv3)?])?;
        command.env("PYTHONPATH", paths).env("XDG_CACHE_HOME", &self.cache);
        command.env("NPY_DISABLE_CPU_FEATURES", WITHOUT);
        if way.is_program {
            command.arg("--program");
        }
        match way.threads {
            Some(threads) => command.env("ISOBAR_NUM_THREADS", threads.to_string()),
            None => command.env_remove("ISOBAR_NUM_THREADS"),
        };
        say(&format!("run the model: {}", way.name));
        let said = output(&mut command)?;
        let last = said.lines().rev().find(|it| it.starts_with('{')).context("the model told nothing")?;
        let told: Told = serde_json::from_str(last)?;
        say(&format!("built in {:.1} s, steps {}", told.built, seconds(&told.steps)));
        Ok(told)
    }

    /// How far our last state is from theirs.
    fn compare(&self) -> Result<String> {
        let mut command = program(&self.interpreter);
        command.current_dir(&self.folder).arg(root().join("tests/model/differ.py")).args(["ours", "theirs"]);
        let said = output(&mut command)?;
        let apart: BTreeMap<String, f64> = serde_json::from_str(said.trim())?;
        let mut table = String::from("| field | largest difference, of the largest value |\n|---|---|\n");
        for (name, &it) in &apart {
            writeln!(table, "| `{name}` | {it:.1e} |")?;
            let most = if name == "w" { TOLERANCES.1 } else { TOLERANCES.0 };
            if it > most {
                bail!("`{name}` is {it:e} of its largest value away from GT4Py's, and {most:e} is allowed");
            }
        }
        Ok(table)
    }
}

fn absolute(path: &Path) -> Result<PathBuf> {
    std::path::absolute(path).with_context(|| path.display().to_string())
}

fn seconds(all: &[f64]) -> String {
    all.iter().map(|it| format!("{it:.2}")).collect::<Vec<_>>().join(", ")
}

fn row(name: &str, told: &Told) -> String {
    let (first, others) =
        told.steps.split_first().map_or((0.0, [].as_slice()), |(first, others)| (*first, others));
    let least = others.iter().copied().fold(f64::INFINITY, f64::min);
    let most = others.iter().copied().fold(0.0, f64::max);
    let others = if others.is_empty() { "-".to_owned() } else { format!("{least:.2} to {most:.2}") };
    format!(
        "| {name} | {} of {} | {:.1} | {first:.1} | {others} |\n",
        told.stencils, told.objects, told.built
    )
}

fn report(order: &Order, (table, memory): (&str, Option<&ProgramMemory>), apart: &str) -> Result<String> {
    let Order { points, levels, steps, has_reference, .. } = order;
    let mut text = format!(
        "# A model: PyFV3's dynamical core\n\n\
         Six tiles of {points}x{points} columns with {levels} levels, a baroclinic wave from an analytic state, {steps} \
         steps. Every stencil by the back end of the row; the states behind each step are equal in all bits, in all rows \
         of Isobar.\n\n\
         | how | stencils of objects | built, s | first step, s | other steps, s |\n|---|---|---|---|---|\n{table}\n"
    );
    if *has_reference {
        writeln!(text, "The last state beside that of GT4Py's `numpy`:\n\n{apart}")?;
    }
    if let Some(ProgramMemory { locals, locals_alone }) = memory {
        let megabytes = |bytes: u64| bytes as f64 / 1e6;
        writeln!(
            text,
            "The locals of a rank's program take {:.1} MB together, {:.0} % of the {:.1} MB that they would take one by one.\n",
            megabytes(*locals),
            100.0 * megabytes(*locals) / megabytes(*locals_alone),
            megabytes(*locals_alone)
        )?;
    }
    let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let date = output(program("date").arg("+%Y-%m-%d"))?;
    writeln!(
        text,
        "Measured on {}, on {cores} processors, by `cargo xtask model --ndsl NDSL --pyfv3 PyFV3 --points {points} --levels \
         {levels} --steps {steps}` with NDSL 2025.05.00 and PyFV3 8d99d40. A first step has machine code made for the \
         shapes of its arrays, unless another process made it before.",
        date.trim()
    )?;
    Ok(text)
}
