//! Options of the commands that call a stencil or a program: once, in turn with others, or on several back ends.

use std::path::PathBuf;

use clap::Args;
use isobar_protocol::request::PlaneAt;
use isobar_protocol::worker::Across;

use super::shared::{CALL, DOMAIN, MACHINE, MODE, OUT, RUNNER, SCHEDULE, TEXT, TUNED, Taking};

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
  isobar compare --program step.json --layout 4,1 --halo periodic --domain 64,64,20 --fields in.npz --scalars scalars.json

With --passes, runs the stencil as it means, and every level as it stands behind each pass, also on tiny domains
where the inputs are made; each in the order of its text, and with iterations without an order in that of each seed.
With --backends, runs the same call with each of them and with `debug`, and counts the elements that differ.";

/// Back ends whose code is made of loops.
pub(super) const MAKING_LOOPS: [&str; 4] = ["rayon", "openmp", "cuda", "wgpu"];

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
    /// Of a program: the values that its exchanges store in halos; without, `none`. On a `cube`, six faces are neighbours of
    /// each other, and fields have the faces as their last dimension
    #[arg(long, value_name = "FILL", value_parser = clap::builder::PossibleValuesParser::new(TOPOLOGIES))]
    pub halo: Option<String>,
    /// Of a program: cut the domain, or each face, into so many ranks along I and J, as `2,2`. Each is a thread, and
    /// exchanges are messages between them
    #[arg(long, value_name = "I,J", value_parser = layout)]
    pub layout: Option<[u32; 2]>,
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

/// The values of `--halo` for one domain.
pub(super) const FILLS: [&str; 3] = ["none", "periodic", "zero-gradient"];

/// The value of `--halo` for exchanges that the caller of exported code carries out.
pub const CALLER: &str = "caller";

/// The values of `--halo` for exported code.
pub(super) const EXPORTED_FILLS: [&str; 4] = ["none", "periodic", "zero-gradient", CALLER];

/// The value of `--halo` for six faces.
pub const CUBE: &str = "cube";

/// The values of `--halo` for ranks.
const TOPOLOGIES: [&str; 4] = ["none", "periodic", "zero-gradient", CUBE];

/// `2,3` as the ranks along I and J.
fn layout(text: &str) -> Result<[u32; 2], String> {
    let both = text.split_once(',').and_then(|(i, j)| Some([i.trim().parse().ok()?, j.trim().parse().ok()?]));
    let is_fine = |it: &[u32; 2]| it.iter().all(|it| (1..=64).contains(it));
    both.filter(is_fine).ok_or_else(|| "a layout is I,J, each from 1 to 64, as `2,2`".to_owned())
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
    /// Of a program: the values that its exchanges store in halos; without, as its text says, or `none`
    #[arg(long, value_name = "FILL", value_parser = clap::builder::PossibleValuesParser::new(FILLS))]
    pub halo: Option<String>,
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
    /// Of a program: the values that its exchanges store in halos; without, as its text says, or `none`. It may run on the six
    /// faces of a `cube`
    #[arg(long, value_name = "FILL", value_parser = clap::builder::PossibleValuesParser::new(TOPOLOGIES), conflicts_with = "passes")]
    pub halo: Option<String>,
    /// Of a program: cut the domain, or each face, into so many ranks along I and J, as `2,2`. Their results are compared
    /// with those of one rank. Without `--backends`, `debug` runs them
    #[arg(long, value_name = "I,J", value_parser = layout)]
    pub layout: Option<[u32; 2]>,
    /// Compare the level behind each pass with the meaning of the stencil
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
