//! Options of the commands that read texts, and show what the compiler makes of them.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::calls::{EXPORTED_FILLS, FILLS, MAKING_LOOPS};
use super::shared::{DOMAIN, MACHINE, MODE, RUNNER, SCHEDULE, TEXT, Taking};

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
  isobar emit --program step.json --stage sdfg --form sdfg > step.sdfg";

/// The edges of a tile, as `--edges` names them.
pub const EDGES: [&str; 4] = ["west", "east", "south", "north"];

/// The value of `--edges` for a domain that has none.
pub const NO_EDGES: &str = "none";

const EXPORT_EXAMPLES: &str = "\
Examples:
  isobar export diffusion.py -o diffusion
  isobar export diffusion.py --bindings c,fortran --name diffusion_lib -o lib/diffusion
  isobar export model.py --stencil advect --machine here -o advect --force
  isobar export steps.py --stencil Diffusion --domain 64,64,20 -o diffusion_steps
  isobar export --program step.json --halo periodic -o step
  isobar export steps.py --stencil Diffusion --domain 32,32,20 --halo caller --edges west,south -o diffusion_rank

The folder is new or empty; with --force, files that an export wrote there are replaced, and no others. It has a
README, builds with CMake or with one line of gcc, and works wherever it is moved to. Without --stencil all stencils
of a file are in one library. A program is one function; that of a class is for one domain. Callbacks of a program,
and with --halo caller its exchanges, are left to a function of the caller's.";

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

/// Options of `emit`.
#[derive(Debug, Args)]
#[command(after_help = EMIT_EXAMPLES)]
pub struct EmitArgs {
    /// The Python file with the stencil
    #[arg(required_unless_present_any = ["request", "program"])]
    pub file: Option<PathBuf>,
    /// A program document instead of a stencil. Its stage is `program`; `schedule`, `sdfg` and `loops` are of all of it. The
    /// others from `tree` on are of its groups, the calls that become one piece of code
    #[arg(long, value_name = "FILE.json", conflicts_with = "file")]
    pub program: Option<PathBuf>,
    /// Of a program: the one group of this number
    #[arg(long, value_name = "N")]
    pub group: Option<usize>,
    /// Of a program as one piece: the values that its exchanges store in halos; without, as its text says, or `none`
    #[arg(long, value_name = "FILL", value_parser = clap::builder::PossibleValuesParser::new(FILLS))]
    pub halo: Option<String>,
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
    /// The Python file with the stencil, or with the class that --stencil names
    #[arg(required_unless_present_any = ["request", "program"])]
    pub file: Option<PathBuf>,
    /// A program document instead of a stencil
    #[arg(long, value_name = "FILE.json", conflicts_with_all = ["file", "request"])]
    pub program: Option<PathBuf>,
    /// Of a program: the values that its exchanges store in halos; without, as its text says, or `none`. With `caller`, a
    /// function of the caller's carries them out, as between ranks
    #[arg(long, value_name = "FILL", value_parser = clap::builder::PossibleValuesParser::new(EXPORTED_FILLS))]
    pub halo: Option<String>,
    /// Of a class as a program: points of the halo along I and J; without, 3
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(0..=64))]
    pub halo_points: Option<u32>,
    /// Of a class for one rank of several: the edges of the tile that its domain has; without, all
    #[arg(long, value_name = "EDGE,..", value_delimiter = ',', value_parser = clap::builder::PossibleValuesParser::new(EDGES.into_iter().chain([NO_EDGES])))]
    pub edges: Vec<String>,
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
