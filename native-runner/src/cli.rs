//! The command line.

mod shared;

use std::ffi::OsString;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, Parser, Subcommand, ValueEnum};

use isobar_protocol::limits::MOST_CONNECTIONS;
use isobar_protocol::request::PlaneAt;
use isobar_protocol::worker::Across;

use shared::{CALL, DOMAIN, MACHINE, MODE, OUT, RUNNER, SCHEDULE, TEXT, TUNED};
pub use shared::{Shared, Taking};

use crate::commands::{self, Outcome};
use crate::config::Environment;

/// Compiles and runs GTScript and NDSL stencils.
#[derive(Debug, Parser)]
#[command(name = "isobar", version, max_term_width = 100, after_help = EXITS)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Print the errors and warnings of stencils, without running them
    Check(CheckArgs),
    /// Print what a diagnostic means, with an example
    Explain(ExplainArgs),
    /// Print a level of the compiler, or the code that it generates
    Emit(EmitArgs),
    /// Write a project that C, C++, Fortran, Python and Rust call a stencil from
    Export(ExportArgs),
    /// Run a stencil: inputs in, written fields out
    Run(RunArgs),
    /// Measure back ends against each other and against copying
    Bench(BenchArgs),
    /// Look for a schedule that is faster than the compiler's own, and keep it for runs here
    Tune(TuneArgs),
    /// Compare back ends, or every level and pass of the compiler, with what the stencil means
    Compare(CompareArgs),
    /// Find the pass of the compiler that changes what a stencil gives
    Bisect(BisectArgs),
    /// Write the files of a link of the page into a folder
    Open(OpenArgs),
    /// Print what can run here, and why the rest cannot
    Backends(BackendsArgs),
    /// Print what compiled code and which schedules are kept, remove them, or say why a run does not find its own
    Cache(CacheArgs),
    /// Print what decides how things run here, and where each value is from
    Config(ConfigArgs),
    /// Say whether this machine has what a runner needs, and what to do where not
    Doctor(DoctorArgs),
    /// Serve the page and the runner on one address
    Serve(ServeArgs),
    /// Speak the language server protocol with an editor, on standard input and output
    Lsp(LspArgs),
    /// Work on one job that comes on standard input
    #[command(hide = true)]
    Worker {
        /// The job's name, for those who look at the list of processes
        job: String,
        /// Tell what holds a job on this machine, and end
        #[arg(long)]
        probe: bool,
        /// Try a way out of such a process, to what stands in the place of the name
        #[arg(long)]
        attempt: Option<String>,
        /// With nothing that holds the process
        #[arg(long)]
        unheld: bool,
    },
}

const EXITS: &str = "\
Exit codes: 0 fine, 1 the stencil or the run failed, 2 the command cannot be followed.
With --format json, standard output has one document, and `diagnostics` in it say what failed.";

const CHECK_EXAMPLES: &str = "\
Examples:
  isobar check stencils/*.py
  isobar check diffusion.py --fix
  isobar check model.py --module lib --format json";

const EMIT_EXAMPLES: &str = "\
Examples:
  isobar emit diffusion.py --stage oir
  isobar emit diffusion.py --stage oir --after prune-temporaries
  isobar emit diffusion.py --stage all --format json
  isobar emit diffusion.py --stage sdfg --form sdfg > diffusion.sdfg
  isobar emit steps.py --stencil Diffusion --stage program
  isobar emit --program step.json --stage program
  isobar emit --program step.json --stage schedule --remarks
  isobar emit --program step.json --group 0 --stage sdfg --form sdfg > step.sdfg";

const EXPORT_EXAMPLES: &str = "\
Examples:
  isobar export diffusion.py -o diffusion
  isobar export diffusion.py --bindings c,fortran --name diffusion_lib -o lib/diffusion
  isobar export model.py --stencil advect --machine here -o advect --force

The folder is new or empty; with --force, files that an export wrote there are replaced, and no others. It has a
README, builds with CMake or with one line of gcc, and works wherever it is moved to. Without --stencil all stencils
of a file are in one library.";

const RUN_EXAMPLES: &str = "\
Examples:
  isobar run diffusion.py --backend openmp --init --domain 128,128,80
  isobar run diffusion.py --backend debug --init 'q=constant(1)' --init
  isobar run diffusion.py --backend openmp --fields in.npz --scalars scalars.json --out out.npz
  isobar run diffusion.py --backend wgpu --init
  isobar run steps.py --stencil Diffusion --backend rayon --init
  isobar run --program step.json --backend rayon --domain 64,64,20 --fields in.npz --scalars scalars.json
  isobar run --request request.json --runner http://127.0.0.1:8787

Prints each written field with the hash of its bytes, and the time of each step in milliseconds. GB/s count
each input once and each output once, whatever the code moves. It is the first call, for which memory and threads
are not warm; `isobar bench` measures others too.
On a GPU, `run` is how long somebody waits for the call, and `on the GPU` what its kernels take by the GPU's own
clock, held against what that GPU copies within its memory; how fields get there and back is told apart.
Equal hashes are equal bits: all back ends give the same.";

const BENCH_EXAMPLES: &str = "\
Examples:
  isobar bench diffusion.py --backends numpy,openmp --domain 128,128,80
  isobar bench diffusion.py --backends openmp --mode fast --threads 1 --repeats 101 --format json
  isobar bench diffusion.py --backends cuda,wgpu --domain 512,512,80
  isobar bench --program step.json --backends rayon,openmp --domain 128,128,80 --fields in.npz --scalars scalars.json

In each round every back end is called once, and as much memory is copied as a call has to move at least: each
input once, each output once. Each call goes on from the fields that the one before left. Nothing is taken from
the cache of compiled code. Prints medians, and between which times each lies with 95 % confidence.
On a GPU fields stay there for all calls, which are held against what that GPU copies within its memory.";

const TUNE_EXAMPLES: &str = "\
Examples:
  isobar tune diffusion.py --backend openmp --domain 128,128,80
  isobar tune diffusion.py --backend rayon --threads 1 --seconds 30 --output fast.schedule
  isobar tune diffusion.py --backend openmp --domain 128,128,80 --export fast.schedule
  isobar run  diffusion.py --backend openmp --schedule fast.schedule --init

Measures schedules in turn: other tiles and rows, loops apart, passes left out, other assumptions about the
machine. After each heat the slower half is out. What is faster for certain is kept, and taken by runs, benchmarks
and jobs here of the same text with the same options on a domain of about this size; `--no-tuned` runs without it.
Every schedule has to give the bits of the compiler's own.";

const COMPARE_EXAMPLES: &str = "\
Examples:
  isobar compare diffusion.py --passes --domain 6,5,4
  isobar compare diffusion.py --passes --backend rayon --domain 6,5,4
  isobar compare diffusion.py --passes --fields in.npz --seed 1 --seed 2
  isobar compare diffusion.py --backends rayon,openmp,wgpu --domain 64,64,20
  isobar compare --program step.json --backends rayon,openmp --domain 64,64,20 --fields in.npz --scalars scalars.json

With --passes, runs the stencil as it means, and every level as it stands behind each pass, also on tiny domains
where the inputs are made; each in the order of its text, and with iterations without an order in that of each seed.
With --backends, runs the same call with each of them and with `debug`, and counts the elements that differ.";

const OPEN_EXAMPLES: &str = "\
Examples:
  isobar open 'https://example.org/isobar/#s=2...'
  isobar open 'http://127.0.0.1:8787/#s=2...' --output diffusion

Reads nothing but the link: no address is asked, and nothing runs. Beside the files it writes `workspace.json`, with
the settings that the page had, and prints the command that runs the stencil with as many of them as it takes.";

const LSP_EXAMPLES: &str = "\
Editors start it themselves. Neovim:
  vim.lsp.config('isobar', { cmd = { 'isobar', 'lsp' }, filetypes = { 'python' } })
  vim.lsp.enable('isobar')
Helix, in languages.toml:
  language-server.isobar = { command = \"isobar\", args = [\"lsp\"] }";

const SERVE_EXAMPLES: &str = "\
Examples:
  isobar serve --open
  isobar serve --jobs 1 --job-memory 2048 --job-time 60
  isobar serve --token-file ~/.config/isobar/token --log json --metrics 127.0.0.1:9187

On another machine: start it there, forward its port with `ssh -L 8787:127.0.0.1:8787 HOST`, and open the
address that it printed.";

/// How answers are printed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// Text for people
    #[default]
    Human,
    /// One document on standard output, nothing else there
    Json,
}

/// How a graph is printed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum GraphFormat {
    /// Text for people
    #[default]
    Listing,
    /// The JSON of a `.sdfg` file
    Sdfg,
}

/// Options of `check`.
#[derive(Debug, Args)]
#[command(after_help = CHECK_EXAMPLES)]
pub struct CheckArgs {
    /// Python files with stencils, or folders of them
    #[arg(required_unless_present = "request")]
    pub files: Vec<PathBuf>,
    /// Carry out the changes that are certain, and write the files back
    #[arg(long, requires = "files")]
    pub fix: bool,
    #[command(flatten)]
    pub shared: Taking<{ TEXT | SCHEDULE | DOMAIN | RUNNER }>,
}

/// Options of `explain`.
#[derive(Debug, Args)]
pub struct ExplainArgs {
    /// The code, as `E16`
    pub code: String,
}

/// Options of `open`.
#[derive(Debug, Args)]
#[command(after_help = OPEN_EXAMPLES)]
pub struct OpenArgs {
    /// The whole link, or what stands behind its `#`
    pub link: String,
    /// The folder; it is made where it is missing
    #[arg(long, short, value_name = "FOLDER", default_value = "stencil")]
    pub output: PathBuf,
    /// Write over files that are there
    #[arg(long)]
    pub force: bool,
}

/// How much of the course of a compilation is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Log {
    Steps,
    Levels,
}

/// How the runner notes what it does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum LogFormat {
    Json,
    Text,
}

/// Options of `emit`.
#[derive(Debug, Args)]
#[command(after_help = EMIT_EXAMPLES)]
pub struct EmitArgs {
    /// The Python file with the stencil
    #[arg(required_unless_present_any = ["request", "program"])]
    pub file: Option<PathBuf>,
    /// A program document instead of a stencil. Its stage is `program`; those from `tree` on are of its groups, the calls
    /// that become one piece of code
    #[arg(long, value_name = "FILE.json", conflicts_with = "file")]
    pub program: Option<PathBuf>,
    /// Of a program: the one group of this number
    #[arg(long, value_name = "N")]
    pub group: Option<usize>,
    /// Of a class as a program: points of the halo along I and J; without, 3
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(0..=64))]
    pub halo_points: Option<u32>,
    /// definition, gtir, oir, npir, tree, schedule, sdfg, loops, kernels, python, numpy, c, clif, wgsl, cuda, or all of
    /// them
    #[arg(long)]
    pub stage: String,
    /// Of the graph: `listing`, or `sdfg` for the file that DaCe reads
    #[arg(long, value_enum, default_value_t)]
    pub form: GraphFormat,
    /// With `--form sdfg`: states with conditions between them instead of loops and branches, for old viewers
    #[arg(long)]
    pub flat: bool,
    /// Stop after this pass, as `oir/prune-regions`; a wrong name is answered with those there are
    #[arg(long, alias = "after", value_name = "PASS")]
    pub stop_after: Option<String>,
    /// Print the changes of each pass of the level, as a comparison of lines, instead of the level
    #[arg(long)]
    pub print_changed: bool,
    /// Tell each step of the compilation and what passes report on stderr: `steps`, or with them each level as it
    /// changes: `levels`
    #[arg(long, value_enum, value_name = "WHAT", num_args = 0..=1, require_equals = true, default_missing_value = "steps")]
    pub log: Option<Log>,
    /// Make the schedule for this kind of machine; `gpu` is `h100`
    #[arg(long, value_name = "cpu|gpu|MODEL", value_parser = clap::builder::PossibleValuesParser::new(["cpu", "gpu", "h100", "h200", "webgpu", "lavapipe"]))]
    pub target: Option<String>,
    /// Make the loops for this back end; without, for `openmp`, or for the GPU that is named
    #[arg(long, value_name = "BACKEND", value_parser = clap::builder::PossibleValuesParser::new(MAKING_LOOPS))]
    pub backend: Option<String>,
    /// With a GPU as `--target`: form launches this way where it is legal, instead of the form predicted to
    /// be fastest. `points` and `P` use a thread for each point, `T` tiles, `R` rolled tiles, `C` columns,
    /// `S` tiles of columns. `L` launches each level by itself
    #[arg(long, value_name = "FORM", value_parser = clap::builder::PossibleValuesParser::new(["points", "P", "T", "R", "C", "S", "L"]))]
    pub gpu_form: Option<String>,
    /// Make the schedule for arrays whose neighbours along this axis lie side by side
    #[arg(long, value_name = "i|j|k", value_parser = clap::builder::PossibleValuesParser::new(["i", "j", "k"]))]
    pub contiguous: Option<String>,
    /// The schedule as a document of steps, for `--schedule`, instead of the level
    #[arg(long)]
    pub steps: bool,
    /// Print the changes that the passes up to the level made or refused, and why
    #[arg(long)]
    pub remarks: bool,
    /// With `--stage c`: `#line` directives, so that compilers, debuggers and profilers name the stencil's lines, instead
    /// of comments that do
    #[arg(long)]
    pub lines: bool,
    #[command(flatten)]
    pub shared: Taking<{ TEXT | SCHEDULE | MACHINE | DOMAIN | RUNNER }>,
}

/// Options of `export`.
#[derive(Debug, Args)]
#[command(after_help = EXPORT_EXAMPLES)]
pub struct ExportArgs {
    /// The Python file with the stencil
    #[arg(required_unless_present = "request")]
    pub file: Option<PathBuf>,
    /// The languages that call it
    #[arg(long, value_name = "L,..", value_delimiter = ',', default_value = "c,cpp,fortran,python,rust")]
    pub bindings: Vec<String>,
    /// The folder of the project
    #[arg(short, long, value_name = "FOLDER")]
    pub output: PathBuf,
    /// Name of the library, module and package; without, that of the stencil
    #[arg(long, value_name = "NAME")]
    pub name: Option<String>,
    /// Replace files that an export wrote into the folder before
    #[arg(long)]
    pub force: bool,
    /// The axis along which neighbours lie side by side in the arrays of callers; all strides work, these are fast
    #[arg(long, value_name = "i|k", value_parser = ["i", "k"])]
    pub contiguous: Option<String>,
    #[command(flatten)]
    pub shared: Taking<{ TEXT | SCHEDULE | MACHINE | MODE | DOMAIN }>,
}

/// Back ends whose code is made of loops.
const MAKING_LOOPS: [&str; 4] = ["rayon", "openmp", "cuda", "wgpu"];

/// The GPUs that schedules can be made for without one.
const GPUS: [&str; 4] = ["h100", "h200", "webgpu", "lavapipe"];

/// Options of `run`.
#[derive(Debug, Args)]
#[command(after_help = RUN_EXAMPLES)]
pub struct RunArgs {
    /// The Python file with the stencil
    pub file: Option<PathBuf>,
    /// A program document instead of a stencil, which runs once: on `debug`, or on the back end that is named; it needs
    /// --domain
    #[arg(long, value_name = "FILE.json", conflicts_with = "file")]
    pub program: Option<PathBuf>,
    /// Of a program: the values that its exchanges store in halos; without, `none`
    #[arg(long, value_name = "FILL", value_parser = clap::builder::PossibleValuesParser::new(["none", "periodic", "zero-gradient"]))]
    pub halo: Option<String>,
    /// Of a program: `program` makes one piece of code of calls that stand behind each other; `stencil` makes code of each
    /// stencil. Both have the same bits; without, `program`
    #[arg(long, value_name = "SCOPE", value_parser = clap::builder::PossibleValuesParser::new(["program", "stencil"]))]
    pub scope: Option<String>,
    /// Of a class as a program: points of the halo along I and J; without, 3
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(0..=64))]
    pub halo_points: Option<u32>,
    /// debug, numpy, rayon, openmp, cuda or wgpu; see `isobar backends`
    #[arg(long)]
    pub backend: Option<String>,
    /// On a GPU: make its kernels as for this one, instead of the one that is found
    #[arg(long, value_name = "MODEL", value_parser = clap::builder::PossibleValuesParser::new(GPUS))]
    pub target: Option<String>,
    /// Threads of the back end; all cores without
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..))]
    pub threads: Option<u32>,
    /// Answer these fields alone, as `q_out,flux`; nothing else comes back from a GPU
    #[arg(long, value_name = "FIELD,..", value_delimiter = ',')]
    pub only: Vec<String>,
    /// Answer one plane of each field, as `k=40`: a point of the domain along `i`, `j` or `k`; a GPU cuts it itself
    #[arg(long, value_name = "AXIS=POINT", value_parser = plane)]
    pub plane: Option<PlaneAt>,
    /// Give the code of `openmp` a table of the stencil's lines, for debuggers and profilers
    #[arg(long)]
    pub lines: bool,
    /// Make the inputs that are not given from the file's `# @input` and `# @scalar` lines. With
    /// NAME=GENERATOR one of them is made in another way, as `q=linear(low=0, high=1, along=k)`; repeatable
    #[arg(long, value_name = "NAME=GENERATOR", num_args = 0..=1, default_missing_value = "")]
    pub init: Vec<String>,
    #[command(flatten)]
    pub shared: Taking<{ TEXT | SCHEDULE | MACHINE | MODE | TUNED | DOMAIN | CALL | OUT | RUNNER }>,
}

/// `k=40` as a plane.
fn plane(text: &str) -> Result<PlaneAt, String> {
    let (axis, at) = text.split_once('=').ok_or("a plane is AXIS=POINT, as `k=40`")?;
    let across = match axis {
        "i" | "I" => Across::I,
        "j" | "J" => Across::J,
        "k" | "K" => Across::K,
        _ => return Err("a plane lies across `i`, `j` or `k`".to_owned()),
    };
    let at = at.parse().map_err(|_| "a plane lies at a point of the domain, counted from 0")?;
    Ok(PlaneAt { across, at })
}

/// Options of `bench`.
#[derive(Debug, Args)]
#[command(after_help = BENCH_EXAMPLES)]
pub struct BenchArgs {
    /// The Python file with the stencil
    #[arg(required_unless_present_any = ["request", "program"])]
    pub file: Option<PathBuf>,
    /// A program document instead of a stencil
    #[arg(long, value_name = "FILE", conflicts_with_all = ["file", "request"])]
    pub program: Option<PathBuf>,
    /// Which back ends, as `debug,numpy,openmp`; see `isobar backends`
    #[arg(long, value_name = "B,..", value_delimiter = ',', required_unless_present = "request")]
    pub backends: Vec<String>,
    /// On GPUs: make kernels as for this one, instead of the one that is found
    #[arg(long, value_name = "MODEL", value_parser = clap::builder::PossibleValuesParser::new(GPUS))]
    pub target: Option<String>,
    /// Number of rounds; each calls every back end once; 31 without
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub repeats: Option<u32>,
    /// Measure back ends of a CPU also on arrays of callers that are contiguous along these axes, or `none`.
    /// Without, `i,k`: the layouts of Fortran and NumPy
    #[arg(long, value_name = "AXES", value_delimiter = ',', value_parser = ["i", "j", "k", "none"])]
    pub layouts: Option<Vec<String>>,
    /// Threads of the back ends and of copying; all cores without
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..))]
    pub threads: Option<u32>,
    /// Make an input in another way than its `# @input` line says, as `q=constant(1)`; repeatable. Inputs
    /// that are not given are made without this option too
    #[arg(long, value_name = "NAME=GENERATOR")]
    pub init: Vec<String>,
    #[command(flatten)]
    pub shared: Taking<{ TEXT | SCHEDULE | MACHINE | MODE | TUNED | DOMAIN | CALL | RUNNER }>,
}

/// Options of `tune`.
#[derive(Debug, Args)]
#[command(after_help = TUNE_EXAMPLES)]
pub struct TuneArgs {
    /// The Python file with the stencil
    #[arg(required_unless_present = "request")]
    pub file: Option<PathBuf>,
    /// rayon or openmp
    #[arg(long)]
    pub backend: Option<String>,
    /// How many schedules are tried at most, beside the compiler's own; 24 without
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub candidates: Option<u32>,
    /// After so many seconds nothing new is begun; 120 without
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=86_400))]
    pub seconds: Option<u32>,
    /// Write the fastest schedule to this file, for `--schedule`
    #[arg(long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Measure nothing, and write the schedule that is kept to this file
    #[arg(long, value_name = "FILE", conflicts_with = "output")]
    pub export: Option<PathBuf>,
    /// Measure the time of the processor, which others do not disturb, with `--threads 1`
    #[arg(long, requires = "threads")]
    pub processor_time: bool,
    /// Threads of the back end; all cores without
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..))]
    pub threads: Option<u32>,
    /// Make an input in another way than its `# @input` line says, as `q=constant(1)`; repeatable. Inputs
    /// that are not given are made without this option too
    #[arg(long, value_name = "NAME=GENERATOR")]
    pub init: Vec<String>,
    #[command(flatten)]
    pub shared: Taking<{ TEXT | MACHINE | MODE | DOMAIN | CALL | RUNNER }>,
}

/// Options of `config`.
#[derive(Debug, Args)]
pub struct ConfigArgs {
    /// How to print
    #[arg(long, value_enum, default_value_t)]
    pub format: Format,
}

/// Options of `cache`.
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub struct CacheArgs {
    #[command(subcommand)]
    pub command: Option<CacheCommand>,
    /// How to print
    #[arg(long, value_enum, default_value_t)]
    pub format: Format,
}

/// Actions on the cache; without one, its entries are printed.
#[derive(Debug, Subcommand)]
pub enum CacheCommand {
    /// Print the entries, the one that was used last first
    List {
        /// How to print
        #[arg(long, value_enum, default_value_t)]
        format: Format,
    },
    /// Remove all compiled code, all schedules that were kept, and the measurements of this machine
    Clear {
        /// How to print
        #[arg(long, value_enum, default_value_t)]
        format: Format,
    },
    /// Say whether a run finds its code, and if not, what differs from the nearest
    Explain(Box<ExplainMissArgs>),
}

/// Options of `cache explain`.
#[derive(Debug, Args)]
pub struct ExplainMissArgs {
    /// The Python file with the stencil
    #[arg(required_unless_present = "request")]
    pub file: Option<PathBuf>,
    /// rayon, openmp, cuda or wgpu; without, that of a run
    #[arg(long)]
    pub backend: Option<String>,
    #[command(flatten)]
    pub shared: Taking<{ TEXT | SCHEDULE | MACHINE | MODE | TUNED | DOMAIN }>,
}

/// Options of `compare`.
#[derive(Debug, Args)]
#[command(after_help = COMPARE_EXAMPLES)]
pub struct CompareArgs {
    /// The Python file with the stencil
    #[arg(required_unless_present_any = ["request", "program"])]
    pub file: Option<PathBuf>,
    /// A program document instead of a stencil, with `--backends`
    #[arg(long, value_name = "FILE", conflicts_with_all = ["file", "request", "passes"])]
    pub program: Option<PathBuf>,
    /// Run every level as it stands behind each pass
    #[arg(long, conflicts_with = "backends")]
    pub passes: bool,
    /// With `--passes`: the levels of this back end, as for this machine; without, those for C on a common one
    #[arg(long, value_name = "BACKEND", requires = "passes", value_parser = clap::builder::PossibleValuesParser::new(MAKING_LOOPS))]
    pub backend: Option<String>,
    /// Run iterations that have no order in one that this number decides; repeatable
    #[arg(long, value_name = "N", requires = "passes")]
    pub seed: Vec<u64>,
    /// Compare the results of these with those of `debug`, as `rayon,wgpu`; see `isobar backends`
    #[arg(long, value_name = "B,..", value_delimiter = ',')]
    pub backends: Vec<String>,
    /// On GPUs: make kernels as for this one, instead of the one that is found
    #[arg(long, value_name = "MODEL", value_parser = clap::builder::PossibleValuesParser::new(GPUS))]
    pub target: Option<String>,
    /// Threads of the back ends; all cores without
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..))]
    pub threads: Option<u32>,
    /// Make an input in another way than its `# @input` line says, as `q=constant(1)`; repeatable. Inputs
    /// that are not given are made without this option too
    #[arg(long, value_name = "NAME=GENERATOR")]
    pub init: Vec<String>,
    #[command(flatten)]
    pub shared: Taking<{ TEXT | SCHEDULE | MACHINE | MODE | TUNED | DOMAIN | CALL | RUNNER }>,
}

/// Options of `bisect`.
#[derive(Debug, Args)]
pub struct BisectArgs {
    /// The Python file with the stencil
    #[arg(required_unless_present = "request")]
    pub file: Option<PathBuf>,
    /// Search the levels of this back end, as for this machine; without, those for C on a common one
    #[arg(long, value_name = "BACKEND", value_parser = clap::builder::PossibleValuesParser::new(MAKING_LOOPS))]
    pub backend: Option<String>,
    /// Run iterations that have no order in one that this number decides; repeatable
    #[arg(long, value_name = "N")]
    pub seed: Vec<u64>,
    /// Make an input in another way than its `# @input` line says, as `q=constant(1)`; repeatable. Inputs
    /// that are not given are made without this option too
    #[arg(long, value_name = "NAME=GENERATOR")]
    pub init: Vec<String>,
    #[command(flatten)]
    pub shared: Taking<{ TEXT | SCHEDULE | MACHINE | DOMAIN | CALL }>,
}

/// Options of `doctor`.
#[derive(Debug, Args)]
pub struct DoctorArgs {
    /// The address that the runner shall have
    #[arg(long, default_value = "127.0.0.1:8787")]
    pub bind: SocketAddr,
    /// How to print
    #[arg(long, value_enum, default_value_t)]
    pub format: Format,
}

/// Options of `backends`.
#[derive(Debug, Args)]
pub struct BackendsArgs {
    /// How to print
    #[arg(long, value_enum, default_value_t)]
    pub format: Format,
    /// Ask this runner instead; the token comes from ISOBAR_TOKEN
    #[arg(long, value_name = "URL")]
    pub runner: Option<String>,
}

/// Options of `lsp`.
#[derive(Debug, Args)]
#[command(after_help = LSP_EXAMPLES)]
pub struct LspArgs {
    /// A further folder with modules, beside those that the editor opens; repeatable
    #[arg(long = "module", value_name = "PATH")]
    pub modules: Vec<PathBuf>,
    /// 32 or 64: the precision of literals and of NDSL's `Float`
    #[arg(long, value_parser = ["32", "64"])]
    pub precision: Option<String>,
    /// For editors that say how they speak; it is always so
    #[arg(long, hide = true)]
    pub stdio: bool,
}

/// Options of `serve`.
#[derive(Debug, Args)]
#[command(after_help = SERVE_EXAMPLES)]
pub struct ServeArgs {
    /// Address and port, any port with port 0. Without it 127.0.0.1:8787, or the next port that is free
    #[arg(long)]
    pub bind: Option<SocketAddr>,
    /// Open the page in a browser
    #[arg(long)]
    pub open: bool,
    /// Allow an address that other machines can reach. The connection is not encrypted, and anybody with the
    /// token can use this machine's processor and memory
    #[arg(long)]
    pub allow_remote: bool,
    /// Serve as root. Anybody with the token then runs code with the part of root's rights that jobs keep. An
    /// ordinary user has less to lose
    #[arg(long)]
    pub allow_root: bool,
    /// Start only where every part of the sandbox works on this machine, as test processes that try to break
    /// out confirm. This is the default where other machines can reach the address; `false` turns it off
    #[arg(
        long,
        value_name = "true|false",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "true"
    )]
    pub require_sandbox: Option<bool>,
    /// Address under which a browser opens the page behind a proxy with TLS or a tunnel on another port
    #[arg(long, value_name = "URL")]
    pub public_url: Option<String>,
    /// A further name under which the runner may be asked; repeatable
    #[arg(long, value_name = "NAME")]
    pub host: Vec<String>,
    /// Connections that are open at the same time
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(2..=MOST_CONNECTIONS))]
    pub connections: Option<u64>,
    /// Those of one address, fewer than all; programs of this machine count together
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..MOST_CONNECTIONS))]
    pub connections_per_address: Option<u64>,
    /// Keep unfinished jobs in this folder, so that a runner that was killed can resume them after a restart.
    /// Without, the folder is below XDG_STATE_HOME or .local/state
    #[arg(long, value_name = "FOLDER", conflicts_with = "no_state")]
    pub state: Option<PathBuf>,
    /// Keep no jobs: they end with the runner
    #[arg(long)]
    pub no_state: bool,
    /// Use the token in this file instead of a new one at each start. A missing file is made. Nobody else may
    /// be able to read it
    #[arg(long, value_name = "FILE")]
    pub token_file: Option<PathBuf>,
    /// How long jobs that work may go on after the runner was told to end, in seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 10)]
    pub drain: u64,
    /// Note each request and each job on standard error, as lines of JSON or as text; without, only problems
    #[arg(long, value_enum, value_name = "json|text")]
    pub log: Option<LogFormat>,
    /// Answer `GET /metrics` for Prometheus on this address, without a token
    #[arg(long, value_name = "ADDRESS")]
    pub metrics: Option<SocketAddr>,
    /// Jobs that work at the same time
    #[arg(long)]
    pub jobs: Option<u64>,
    /// Memory that one job may have, in MiB
    #[arg(long, value_name = "MIB")]
    pub job_memory: Option<u64>,
    /// Memory that the fields of all jobs may have together, in MiB; three quarters of the machine's without it
    #[arg(long, value_name = "MIB")]
    pub memory: Option<u64>,
    /// Time that one job may take, in seconds
    #[arg(long, value_name = "SECONDS")]
    pub job_time: Option<u64>,
}

/// The names of all commands except hidden ones.
#[must_use]
pub fn actions() -> Vec<String> {
    let cli = <Cli as clap::CommandFactory>::command();
    cli.get_subcommands().filter(|it| !it.is_hide_set()).map(|it| it.get_name().to_owned()).collect()
}

/// Runs the command line of this process.
#[must_use]
pub fn main(environment: &Environment) -> ExitCode {
    run(std::env::args_os(), environment)
}

fn run(arguments: impl IntoIterator<Item = OsString>, environment: &Environment) -> ExitCode {
    let cli = match Cli::try_parse_from(arguments) {
        Ok(cli) => cli,
        Err(error) => {
            // `--help` and `--version` go to standard output and are no errors.
            let is_wrong = error.use_stderr();
            return if error.print().is_ok() && !is_wrong { ExitCode::SUCCESS } else { ExitCode::from(2) };
        }
    };
    match &cli.command {
        Command::Serve(args) => commands::log(environment, commands::Notes::of_runner(args.log)),
        _ => commands::log(environment, commands::Notes::Errors),
    }
    let done = match cli.command {
        Command::Check(args) => commands::check::check(&args, environment),
        Command::Explain(args) => commands::explain::explain(&args),
        Command::Emit(args) => commands::emit::emit(&args, environment),
        Command::Export(args) => commands::export::export(&args),
        Command::Bench(args) => commands::bench::bench(&args, environment),
        Command::Cache(args) => commands::cache::cache(&args, environment),
        Command::Config(args) => commands::config::config(&args, environment),
        Command::Run(args) => commands::run::run(args, environment),
        Command::Tune(args) => commands::tune::tune(&args, environment),
        Command::Compare(args) => commands::compare::compare(&args, environment),
        Command::Bisect(args) => commands::compare::bisect(&args),
        Command::Backends(args) => commands::backends::backends(&args, environment),
        Command::Open(args) => commands::open::open(&args),
        Command::Doctor(args) => commands::doctor::doctor(&args, environment),
        Command::Serve(args) => commands::serve::serve(&args, environment),
        Command::Lsp(args) => commands::lsp::lsp(&args),
        Command::Worker { probe: true, .. } => return crate::worker::tell_probe(),
        Command::Worker { job, attempt: Some(attempt), unheld, .. } => {
            return crate::worker::tell_attempt(&attempt, &job, !unheld);
        }
        Command::Worker { .. } => return crate::worker::main(&environment.backends),
    };
    match done {
        Ok(Outcome::Fine) => ExitCode::SUCCESS,
        Ok(Outcome::Failed) => ExitCode::from(1),
        Err(usage) => {
            commands::say(&format!("error: {usage}"));
            ExitCode::from(2)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn every_command_and_option_says_what_it_is_for() {
        let cli = Cli::command();
        cli.clone().debug_assert();
        for command in cli.get_subcommands() {
            assert!(command.get_about().is_some(), "{}", command.get_name());
            for argument in command.get_arguments() {
                assert!(argument.get_help().is_some(), "{} {}", command.get_name(), argument.get_id());
            }
        }
    }
}
