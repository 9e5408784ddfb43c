//! The command line.

use std::ffi::OsString;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, Parser, Subcommand, ValueEnum};

use crate::commands::{self, Outcome};
use crate::config::Environment;

/// Compiles and runs GTScript and NDSL stencils.
#[derive(Debug, Parser)]
#[command(name = "isobar", version, max_term_width = 100)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Print what is wrong with stencils, and nothing else
    Check(CheckArgs),
    /// Print a level of the compiler, or the code that it generates
    Emit(EmitArgs),
    /// Run a stencil: inputs in, written fields out
    Run(RunArgs),
    /// Print what can run here, and why the rest cannot
    Backends(BackendsArgs),
    /// Serve the page and the runner on one address
    Serve(ServeArgs),
    /// Work on one job that comes on standard input
    #[command(hide = true)]
    Worker {
        /// The job's name, for those who look at the list of processes
        job: String,
    },
}

/// How answers are printed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Format {
    #[default]
    Human,
    /// One document on standard output, nothing else there
    Json,
}

/// Options of `check`.
#[derive(Debug, Args)]
pub struct CheckArgs {
    /// Python files with stencils
    #[arg(required_unless_present = "request")]
    pub files: Vec<PathBuf>,
    #[command(flatten)]
    pub shared: Shared,
}

/// Options of `emit`.
#[derive(Debug, Args)]
pub struct EmitArgs {
    /// The Python file with the stencil
    #[arg(required_unless_present = "request")]
    pub file: Option<PathBuf>,
    /// definition, gtir, oir, tree, schedule, sdfg or c
    #[arg(long)]
    pub stage: String,
    /// Stop after this pass of the level
    #[arg(long, value_name = "PASS")]
    pub after: Option<String>,
    #[command(flatten)]
    pub shared: Shared,
}

/// Options of `run`.
#[derive(Debug, Args)]
pub struct RunArgs {
    /// The Python file with the stencil
    pub file: Option<PathBuf>,
    /// debug or openmp
    #[arg(long)]
    pub backend: Option<String>,
    /// Threads of the back end; all cores without
    #[arg(long)]
    pub threads: Option<u32>,
    /// Make the inputs that are not given from the file's `# @input` lines; NAME=GENERATOR for one of them
    #[arg(long, value_name = "NAME=GENERATOR", num_args = 0..=1, default_missing_value = "")]
    pub init: Vec<String>,
    #[command(flatten)]
    pub shared: Shared,
}

/// Options of `backends`.
#[derive(Debug, Args)]
pub struct BackendsArgs {
    #[arg(long, value_enum, default_value_t)]
    pub format: Format,
    /// Ask this runner instead; the token comes from ISOBAR_TOKEN
    #[arg(long, value_name = "URL")]
    pub runner: Option<String>,
}

/// Options of `serve`.
#[derive(Debug, Args)]
pub struct ServeArgs {
    /// Address and port; the next free port is taken where this one is not, any with port 0
    #[arg(long, default_value = "127.0.0.1:8787")]
    pub bind: SocketAddr,
    /// Open the page in a browser
    #[arg(long)]
    pub open: bool,
    /// Allow an address that other machines can reach. The connection is not encrypted, and whoever
    /// has the token can use this machine's processor and memory
    #[arg(long)]
    pub allow_remote: bool,
    /// A further name under which the runner may be asked; repeatable
    #[arg(long, value_name = "NAME")]
    pub host: Vec<String>,
    /// Jobs that work at the same time
    #[arg(long)]
    pub jobs: Option<u64>,
    /// Memory that one job may have, in MiB
    #[arg(long, value_name = "MIB")]
    pub job_memory: Option<u64>,
    /// Time that one job may take, in seconds
    #[arg(long, value_name = "SECONDS")]
    pub job_time: Option<u64>,
}

/// Options of everything that compiles.
#[derive(Clone, Debug, Default, Args)]
pub struct Shared {
    /// Which stencil; may be left out when the file has one
    #[arg(long, value_name = "NAME")]
    pub stencil: Option<String>,
    /// A further file or folder of modules; repeatable
    #[arg(long = "module", value_name = "PATH")]
    pub modules: Vec<PathBuf>,
    #[arg(long, value_name = "FILE.json")]
    pub externals: Option<PathBuf>,
    #[arg(long, value_name = "FILE.json")]
    pub dtypes: Option<PathBuf>,
    /// Bits of literals and of NDSL's Float and Int
    #[arg(long, value_name = "32|64", value_parser = clap::builder::PossibleValuesParser::new(["32", "64"]))]
    pub precision: Option<String>,
    /// Points of the compute domain
    #[arg(long, value_name = "I,J,K", value_delimiter = ',', num_args = 1, allow_hyphen_values = true)]
    pub domain: Vec<i64>,
    #[arg(long, value_name = "FILE.json")]
    pub origin: Option<PathBuf>,
    /// Arrays by parameter name
    #[arg(long, value_name = "FILE.npz")]
    pub fields: Option<PathBuf>,
    #[arg(long, value_name = "FILE.json")]
    pub scalars: Option<PathBuf>,
    /// Where the written fields go: whole arrays, halo included
    #[arg(long, value_name = "FILE.npz")]
    pub out: Option<PathBuf>,
    #[arg(long, value_enum, default_value_t)]
    pub format: Format,
    /// Do it on this runner instead of here; the token comes from ISOBAR_TOKEN
    #[arg(long, value_name = "URL")]
    pub runner: Option<String>,
    /// All of the above in one document, the same that the HTTP API takes
    #[arg(long, value_name = "FILE.json")]
    pub request: Option<PathBuf>,
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
    let done = match cli.command {
        Command::Check(args) => commands::check::check(&args, environment),
        Command::Emit(args) => commands::emit::emit(&args, environment),
        Command::Run(args) => commands::run::run(args, environment),
        Command::Backends(args) => commands::backends::backends(&args, environment),
        Command::Serve(args) => commands::serve::serve(&args, environment),
        Command::Worker { job: _ } => return crate::worker::main(),
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
