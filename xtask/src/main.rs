//! The chores: what builds, checks, serves and measures Isobar, on a developer's machine and in CI alike.
#![expect(clippy::print_stdout, reason = "a command-line program talks to its user on stdout")]

mod agree;
mod bench;
mod binary;
mod build;
mod dace;
mod endure;
mod explore;
mod fuzz;
mod hostile;
mod install;
mod measure;
mod model;
mod nvrtc;
mod page;
mod play;
mod process;
mod python;
mod registry;
mod rooms;
mod size;
mod test;
mod tidy;
mod trials;

use clap::{Parser, Subcommand};
use std::process::ExitCode;

#[derive(Debug, Parser)]
#[command(name = "cargo xtask", about = "Builds, serves, checks and measures Isobar")]
struct Cli {
    #[command(subcommand)]
    chore: Chore,
}

#[derive(Debug, Subcommand)]
enum Chore {
    /// Install what is missing, build page and runner, serve both and print the address
    Play {
        /// Address and port to serve on
        #[arg(long)]
        bind: Option<String>,
        /// Open the browser as well
        #[arg(long)]
        open: bool,
        /// Build page and runner as they are released: faster, and some minutes more to build
        #[arg(long)]
        release: bool,
    },
    /// Build the page into dist/
    Page {
        /// Build it quickly and large, as `play` and the tests have it
        #[arg(long)]
        quick: bool,
    },
    /// Build page and program as they are published, with the program's line tables in a file beside it
    Binary,
    /// Check format, rooms, lints and unit tests: minutes, and nothing of page or browser
    Check,
    /// Hold what `test` leaves to this: the page as it is released, Firefox, instrumented fuzzing, 20,000 seeds, a long
    /// mixed load; two hours
    Release,
    /// Install what is missing and run every check and test
    Test {
        /// Run only the tests whose name contains this, and build no page; `e2e` and `e2e:PART` are those in a browser
        filter: Option<String>,
    },
    /// Prove a course: every solution passes, every start fails, links hold, and checks take little time
    Lessons {
        /// The folder of the course
        #[arg(default_value = "static/lessons/first-course")]
        folder: std::path::PathBuf,
    },
    /// Run the scenarios in a browser, or measure the page as somebody who visits it has it
    E2e {
        /// Only the scenarios whose name contains this
        filter: Option<String>,
        /// Instead print the numbers of the page, and write them to docs/playground.md
        #[arg(long, conflicts_with = "filter")]
        measure: bool,
        /// Instead inject so many faults while somebody types, and write to docs/playground.md what they cost
        #[arg(long, value_name = "HOW_MANY", conflicts_with_all = ["filter", "measure"])]
        faults: Option<u32>,
        /// In Firefox: what a newcomer meets, or the scenarios whose name contains the filter
        #[arg(long, conflicts_with_all = ["measure", "faults"])]
        firefox: bool,
    },
    /// Run PyFV3's dynamical core with every stencil by Isobar, hold back ends against each other and against GT4Py's
    /// `numpy`, and write docs/benchmarks/model.md
    Model {
        /// A checkout of NDSL, 2025.05.00
        #[arg(long)]
        ndsl: std::path::PathBuf,
        /// A checkout of PyFV3, 8d99d40
        #[arg(long)]
        pyfv3: std::path::PathBuf,
        /// Points along each edge of a tile
        #[arg(long, default_value_t = 12)]
        points: u32,
        #[arg(long, default_value_t = 10)]
        levels: u32,
        #[arg(long, default_value_t = 3)]
        steps: u32,
        /// Without GT4Py's `numpy`, which takes minutes to build
        #[arg(long)]
        alone: bool,
        /// Beside GT4Py's compiled back end `gt:cpu_ifirst`, which needs Boost and an hour
        #[arg(long)]
        compiled: bool,
    },
    /// Build the `isobar` command as the tests build it, and run it with these arguments
    Isobar {
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        args: Vec<String>,
    },
    /// Send a runner jobs of four clients for a while, and tell how many come back and how fast
    Load {
        #[arg(long, default_value_t = 60)]
        seconds: u64,
    },
    /// Try to break out of a job, while its code is made and while it runs
    Escape,
    /// Build the wheel of the Python package, check its types, and run its tests under the system's Python
    Python {
        /// The wheel as it is released, instead of one from what the tests build
        #[arg(long)]
        release: bool,
    },
    /// Write what of the manual is made from the sources: docs/diagnostics.md
    Manual,
    /// Check what each room may import, and that no leftovers are in the sources
    Tidy {
        /// Keep the numbers of today of sentences that have to be read twice, where they are lower than before
        #[arg(long)]
        lower: bool,
    },
    /// Measure the page: sizes of its files and the time to load it; writes docs/benchmarks/size.md
    Size,
    /// Run the benchmarks: `bench kernels --help` tells of those against C by hand, NumPy and gt4py
    Bench {
        /// `kernels` and its options, or what is passed on to `cargo bench`
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        args: Vec<String>,
    },
    /// Build a Python environment with gt4py, for `bench kernels --gt4py`
    BenchEnv {
        /// The folder to make it in
        folder: std::path::PathBuf,
    },
    /// Compile every stencil below folders through every level, and run each on small random fields
    Corpus {
        /// Checkouts of models, or any folder with Python files
        #[arg(required = true)]
        paths: Vec<std::path::PathBuf>,
        /// Folders with modules that those import; their own stencils are not meant
        #[arg(long)]
        with: Vec<std::path::PathBuf>,
        /// Run every level and every pass too, and hold them against what the stencil means
        #[arg(long)]
        passes: bool,
        /// Run each also on `rayon` or `openmp`, with 1, 2 and 7 threads, and compare with `debug` bit by bit
        #[arg(long, value_delimiter = ',')]
        backend: Vec<String>,
        /// Count the files that show a field on the page where each is pasted alone, with what is made up for it
        #[arg(long, conflicts_with_all = ["with", "passes", "backend"])]
        as_pasted: bool,
    },
    /// Hold every level and every pass, or back ends, against what generated stencils mean
    Equivalence {
        /// How many
        #[arg(long, default_value_t = 1000)]
        generated: u64,
        /// The seed of the first
        #[arg(long, default_value_t = 0)]
        first: u64,
        /// Instead of levels and passes hold `rayon` or `openmp`, with 1, 2 and 7 threads, `wgpu`, `cuda`, or
        /// `cuda-emulation`
        #[arg(long, value_delimiter = ',')]
        backend: Vec<String>,
        /// `kernels` holds that level alone, in each form of launches. `programs` holds the groups of generated programs on
        /// all levels. `whole` holds each as one schedule and one graph, and `ranks` on ranks that compute while messages
        /// are on their way. `results` holds programs whose fields are mostly no results
        #[arg(long, conflicts_with = "backend")]
        levels: Option<String>,
        /// Instead of generated stencils hold what people wrote: gallery, kernels, conformance pages, and what is below
        /// the folders of `--in`; on GPUs
        #[arg(long, requires = "backend")]
        written: bool,
        /// A checkout of a model, or any folder with Python files
        #[arg(long = "in", requires = "written")]
        folders: Vec<std::path::PathBuf>,
        /// How many at the same time; as many as there are processors where it is not given
        #[arg(long)]
        jobs: Option<u32>,
        /// Call each with one array for several of its parameters; `--backend` names the back ends
        #[arg(long, requires = "backend")]
        shared: bool,
    },
    /// Look where no run looked: properties, generated stencils and the fuzzer, with other seeds each time
    Explore {
        /// Of this alone: schedules that somebody could have written, legal and hostile ones
        what: Option<explore::What>,
        /// So many of them
        #[arg(default_value_t = 1000)]
        count: u64,
        /// How long, about, where everything is looked at
        #[arg(long, default_value_t = 600)]
        seconds: u64,
        /// The seed of the first round, as a round that failed told it
        #[arg(long)]
        seed: Option<u64>,
    },
    /// Look for inputs that break the front end: coverage-guided, built with instrumentation
    Fuzz {
        /// How long all targets together
        #[arg(long, default_value_t = 60)]
        seconds: u64,
    },
    /// Send a runner what nobody means well, and see that it answers, keeps its memory and makes no fault
    Hostile {
        /// How many requests
        #[arg(long, default_value_t = 50_000)]
        requests: u64,
        /// The seed that they are made from
        #[arg(long, default_value_t = 1)]
        seed: u64,
    },
    /// Ask a runner for everything at once for a long time: nothing may grow, and each job has one end
    Soak {
        /// How long
        #[arg(long, default_value_t = 30)]
        minutes: u64,
        /// In the dev profile
        #[arg(long)]
        dev: bool,
    },
    /// Inject faults into a runner: killed workers and runners, a full disk, damaged caches, clients that vanish
    Faults {
        /// How often each
        #[arg(long, default_value_t = 50)]
        rounds: u64,
        /// In the dev profile
        #[arg(long)]
        dev: bool,
    },
    /// Run stencils with gt4py and with Isobar on the same inputs, and compare bit by bit
    Agree {
        /// How many generated stencils
        #[arg(long, default_value_t = 300)]
        generated: u32,
        /// Write what gt4py gives to tests/golden/agreed.jsonl, which CI checks without it
        #[arg(long)]
        keep: bool,
        /// Run the generated texts `python` and `numpy` with Python instead, and compare with `debug`
        #[arg(long, conflicts_with = "keep")]
        texts: bool,
        /// Checkouts of models beside our own stencils
        paths: Vec<std::path::PathBuf>,
    },
    /// Compile the CUDA of our stencils, and of generated ones, to machine code of GPUs: it needs no GPU
    Nvrtc {
        /// How many generated stencils
        #[arg(long, default_value_t = 0)]
        generated: u32,
        /// The seed of the first
        #[arg(long, default_value_t = 0)]
        first: u64,
        /// Architectures
        #[arg(long, value_delimiter = ',', default_value = "sm_80,sm_90,sm_100")]
        arch: Vec<String>,
        /// Folders with more stencils
        paths: Vec<std::path::PathBuf>,
    },
    /// Load, validate, compile and run our graphs with two versions of DaCe, and compare bit by bit
    Dace {
        /// How many stencils of the checkouts
        #[arg(long, default_value_t = 32)]
        limit: u32,
        /// Folders with modules that those import; their own stencils are not meant
        #[arg(long)]
        with: Vec<std::path::PathBuf>,
        /// Checkouts of models beside our own stencils
        paths: Vec<std::path::PathBuf>,
    },
}

fn main() -> ExitCode {
    let outcome = match Cli::parse().chore {
        Chore::Play { bind, open, release } => play::play(bind.as_deref(), open, profile(!release)),
        Chore::Page { quick } => page::page(profile(quick)).map(drop),
        Chore::Binary => page::page(page::Profile::Release).and_then(|_| binary::binary()),
        Chore::Check => test::check(),
        Chore::Release => test::release(),
        Chore::Test { filter } => test::test(filter.as_deref()),
        Chore::Lessons { folder } => lessons(&folder),
        Chore::E2e { measure: true, .. } => measure::measure(),
        Chore::E2e { faults: Some(count), .. } => measure::faults(count),
        Chore::E2e { filter, firefox, .. } => {
            let browser = if firefox { "firefox" } else { "e2e" };
            test::test(Some(&format!("{browser}:{}", filter.unwrap_or_default())))
        }
        Chore::Manual => manual(),
        Chore::Model { ndsl, pyfv3, points, levels, steps, alone, compiled } => {
            let (has_reference, has_compiled) = (!alone, compiled);
            model::model(&model::Order { ndsl, pyfv3, points, levels, steps, has_reference, has_compiled })
        }
        Chore::Isobar { args } => isobar(&args),
        Chore::Load { seconds } => trials::load(seconds),
        Chore::Escape => trials::escape(),
        Chore::Python { release } => test::python(profile(!release)),
        Chore::Tidy { lower: true } => tidy::lower(),
        Chore::Tidy { lower: false } => tidy::tidy(),
        Chore::Size => size::size(),
        Chore::Bench { args } => bench::bench(&args),
        Chore::BenchEnv { folder } => bench::environment(&folder),
        Chore::Corpus { paths, as_pasted: true, .. } => as_pasted(&paths),
        Chore::Corpus { paths, with, passes, backend, as_pasted: false } => {
            corpus(&paths, &with, passes, &backend)
        }
        Chore::Equivalence { backend, written: true, folders, .. } => equivalence(&backend, |command| {
            command.arg("written");
            folders.iter().for_each(|it| {
                command.arg("--in").arg(it);
            });
        }),
        Chore::Equivalence { generated, first, backend, jobs, shared, levels, .. } => {
            let held = Held { first, generated, jobs, is_shared: shared, levels: levels.as_deref() };
            equivalence(&backend, |command| held.ask(command))
        }
        Chore::Explore { what: Some(what), count, seed, .. } => explore::only(what, count, seed),
        Chore::Explore { seconds, seed, .. } => explore::explore(seconds, seed),
        Chore::Fuzz { seconds } => fuzz::fuzz(fuzz::Effort::Seconds(seconds)),
        Chore::Hostile { requests, seed } => hostile::hostile(requests, seed),
        Chore::Soak { minutes, dev } => endure::soak(minutes, dev),
        Chore::Faults { rounds, dev } => endure::faults(rounds, dev),
        Chore::Nvrtc { generated, first, arch, paths } => nvrtc::nvrtc(generated, first, &arch, &paths),
        Chore::Dace { limit, with, paths } => dace::dace(limit, &paths, &with),
        Chore::Agree { generated, texts: true, .. } => agree::texts(generated),
        Chore::Agree { generated, keep, texts: false, paths } => agree::agree(generated, keep, &paths),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

/// Runs the command where it was called, and ends as it ended.
fn isobar(args: &[String]) -> anyhow::Result<()> {
    let mut command = process::built("isobar")?;
    let status = command.current_dir(std::env::current_dir()?).args(args).status()?;
    anyhow::ensure!(status.success(), "isobar {} ended with {status}", args.join(" "));
    Ok(())
}

fn profile(is_quick: bool) -> page::Profile {
    if is_quick { page::Profile::Quick } else { page::Profile::Release }
}

fn manual() -> anyhow::Result<()> {
    let mut command = build::linting_cargo();
    command.args(["test", "--locked"]).args(process::WORKSPACE).args(["--test", "main", "manual::"]);
    process::run(command.env("UPDATE_EXPECT", "1"), "write the pages that are made from the sources")
}

/// Holds every level and every pass of so many generated stencils against what they mean, from the first seed on.
pub(crate) fn generated(n_seeds: u64) -> anyhow::Result<()> {
    let held = Held { first: 0, generated: n_seeds, jobs: None, is_shared: false, levels: None };
    equivalence(&[], |command| held.ask(command))
}

/// The options of `cargo xtask equivalence` beside back ends, as its program takes them.
struct Held<'a> {
    first: u64,
    generated: u64,
    jobs: Option<u32>,
    is_shared: bool,
    levels: Option<&'a str>,
}

/// Runs the program that compares levels and back ends with the meaning of stencils.
fn equivalence(backends: &[String], asks: impl FnOnce(&mut std::process::Command)) -> anyhow::Result<()> {
    let mut command = process::cargo();
    command.args(["run", "--locked", "--release", "--package", "isobar-tests", "--bin", "equivalence", "--"]);
    asks(&mut command);
    for backend in backends {
        command.args(["--backend", backend]);
    }
    process::run(&mut command, "hold levels, passes or back ends against what stencils mean")
}

impl Held<'_> {
    fn ask(&self, command: &mut std::process::Command) {
        command.args([self.first, self.generated].map(|it| it.to_string()));
        if let Some(jobs) = self.jobs {
            command.args(["--jobs".to_owned(), jobs.to_string()]);
        }
        if self.is_shared {
            command.args(["--arrays", "shared"]);
        }
        if let Some(levels) = self.levels {
            command.args(["--levels", levels]);
        }
    }
}

/// Proves the lessons of a course; `cargo xtask test` runs it too.
pub(crate) fn lessons(folder: &std::path::Path) -> anyhow::Result<()> {
    process::run(process::built("lessons")?.arg(folder), "prove the lessons of a course")
}

/// Pastes each file alone and reports what the page shows, by the page's own code.
fn as_pasted(paths: &[std::path::PathBuf]) -> anyhow::Result<()> {
    let mut command = process::cargo();
    command.args(["run", "--locked", "--release", "--package", "isobar-web", "--example", "as_pasted", "--"]);
    process::run(command.args(paths), "paste each file below these folders")
}

fn corpus(
    paths: &[std::path::PathBuf],
    libraries: &[std::path::PathBuf],
    compares: bool,
    backends: &[String],
) -> anyhow::Result<()> {
    let mut command = process::cargo();
    command.args(["run", "--locked", "--release", "--package", "isobar-tests", "--bin", "corpus", "--"]);
    for library in libraries {
        command.arg("--with").arg(library);
    }
    if compares {
        command.arg("--passes");
    }
    for backend in backends {
        command.args(["--backend", backend]);
    }
    process::run(command.args(paths), "compile and run the stencils below these folders")
}
