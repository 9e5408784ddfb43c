//! The environment of the runner: read once by `main`, handed down from there.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use isobar_protocol::request::Machine;
use isobar_runtime::machine;

use crate::backends::{AvailableTools, Backends, CCompiler};

/// The part of the environment that counts. `main` is the only place that reads it.
#[derive(Clone, Debug, Default)]
pub struct Environment {
    pub path: OsString,
    /// `CC`: the C compiler to use.
    pub cc: Option<String>,
    /// `ISOBAR_TOKEN`: the token of a remote runner.
    pub token: Option<String>,
    /// Where compiled code is kept.
    pub cache: Option<PathBuf>,
    /// Where a runner keeps the jobs that are not over.
    pub state: Option<PathBuf>,
    /// `TMPDIR`.
    pub temporary: PathBuf,
    /// This program, to be started again as a job's process.
    pub program: PathBuf,
    /// `ISOBAR_LOG`: what is logged, as `isobar_runner=debug`.
    pub log: Option<String>,
    /// The back ends of this program.
    pub backends: Backends,
}

/// Folders beside that of a compiler's program. They have the files that the compiler starts and includes.
const OF_COMPILERS: [&str; 6] = ["lib", "lib32", "lib64", "libexec", "include", "share"];

/// The programs, folders and settings that jobs work with.
#[derive(Clone, Debug)]
pub struct Tools {
    /// This program, to be started again as a job's process.
    pub worker: PathBuf,
    pub path: OsString,
    pub temporary: PathBuf,
    pub cache: Option<PathBuf>,
    /// The C compiler, or why there is none.
    pub cc: Result<CCompiler, String>,
    pub cores: u32,
    /// The machine that schedules of runs are made for.
    pub machine: Machine,
    /// Where each value of it is from.
    pub machine_from: BTreeMap<String, String>,
    pub backends: Backends,
    /// Variables that tell a job's process where the libraries of a GPU are; it inherits no others.
    pub for_kernels: Vec<(&'static str, OsString)>,
    /// The parts of the sandbox that worked here in a test process. If one of them fails in a job, that job
    /// ends. Empty where nothing was tested.
    pub promised: Vec<String>,
}

impl Tools {
    /// Looks for what jobs need.
    #[must_use]
    pub fn find(environment: &Environment) -> Self {
        let machine::DetectedMachine { machine, from } = machine::DetectedMachine::here();
        let machine = Machine::from(&machine);
        Self {
            worker: environment.program.clone(),
            path: environment.path.clone(),
            temporary: environment.temporary.clone(),
            cache: environment.cache.clone(),
            cc: isobar_runtime::executors::openmp::find_compiler(
                environment.cc.as_deref(),
                &environment.path,
            ),
            cores: machine.cores,
            machine,
            machine_from: from,
            backends: environment.backends.clone(),
            for_kernels: isobar_runtime::executors::cuda::places::handed_down(),
            promised: Vec::new(),
        }
    }

    /// The paths that a job's process may read beside those of the system. They are this program, the C
    /// compiler, and the folders of a GPU's libraries.
    pub(crate) fn readable(&self) -> Vec<PathBuf> {
        let beside = |it: &Path| it.canonicalize().ok().and_then(|it| it.parent().map(Path::to_owned));
        let mut all: Vec<PathBuf> = self.worker.canonicalize().into_iter().collect();
        if let Some(bin) = self.cc.as_ref().ok().and_then(|it| beside(&it.program)) {
            // Its neighbours are the files that it starts and includes, and perhaps somebody's home.
            let prefix = bin.parent().unwrap_or(&bin);
            all.extend(OF_COMPILERS.map(|it| prefix.join(it)));
            let entries = std::fs::read_dir(prefix).into_iter().flatten().flatten();
            let is_target =
                |it: &PathBuf| it.file_name().is_some_and(|it| it.to_string_lossy().contains("-linux-"));
            all.extend(entries.map(|it| it.path()).filter(is_target));
            all.push(bin);
        }
        for (_, value) in &self.for_kernels {
            all.extend(std::env::split_paths(value).filter(|it| it.is_absolute()).flat_map(|it| {
                let folder = if it.is_dir() { Some(it.clone()) } else { beside(&it) };
                folder.into_iter().chain([it])
            }));
        }
        all
    }

    /// The tools that back ends ask for.
    #[must_use]
    pub fn found(&self) -> AvailableTools<'_> {
        AvailableTools { cc: &self.cc }
    }
}
