//! The command line.

mod calls;
mod machine;
mod shared;
mod texts;

use std::ffi::OsString;
use std::process::ExitCode;

use clap::{Parser, Subcommand, ValueEnum};

pub use calls::{BenchArgs, BisectArgs, CALLER, CUBE, CompareArgs, RunArgs, TuneArgs};
pub use machine::{
    BackendsArgs, CacheArgs, CacheCommand, ConfigArgs, DoctorArgs, ExplainMissArgs, LogFormat, ServeArgs,
};
pub use shared::{Shared, Taking};
pub use texts::{
    CheckArgs, EDGES, EmitArgs, ExplainArgs, ExportArgs, GraphFormat, Log, LspArgs, NO_EDGES, OpenArgs,
};

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

/// How answers are printed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// Text for people
    #[default]
    Human,
    /// One document on standard output, nothing else there
    Json,
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
