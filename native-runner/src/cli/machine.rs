//! Options of the commands about this machine: its back ends, its cache, and the runner that it serves.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};
use isobar_protocol::limits::MOST_CONNECTIONS;

use super::Format;
use super::shared::{DOMAIN, MACHINE, MODE, SCHEDULE, TEXT, TUNED, Taking};

const SERVE_EXAMPLES: &str = "\
Examples:
  isobar serve --open
  isobar serve --jobs 1 --job-memory 2048 --job-time 60
  isobar serve --token-file ~/.config/isobar/token --log json --metrics 127.0.0.1:9187

On another machine: start it there, forward its port with `ssh -L 8787:127.0.0.1:8787 HOST`, and open the
address that it printed.";

/// How the runner notes what it does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum LogFormat {
    Json,
    Text,
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
