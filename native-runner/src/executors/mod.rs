//! What runs an artifact with its inputs. This happens in a job's process only.

pub mod events;
pub mod foreign;
mod helpers;
mod interface;
pub mod interpreters;
pub mod openmp;
mod pool;
pub mod rayon;
mod team;
mod workspace;

use std::path::Path;
use std::sync::atomic::AtomicI64;
use std::sync::{Arc, Mutex, PoisonError};

use isobar_compiler::backend::launch::{Argument, Launch};
use isobar_compiler::diag::StmtId;
use isobar_compiler::pipeline::Compilation;
use isobar_compiler::space::Domain;
use isobar_protocol::request::Request;

use crate::config::Tools;
use crate::error::ApiError;

use events::Sink;
pub use openmp::CCompiler;
pub(crate) use pool::Near;

/// A back end of this runner.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Backend {
    Debug,
    Numpy,
    Rayon,
    Openmp,
}

impl Backend {
    pub const ALL: [Backend; 4] = [Backend::Debug, Backend::Numpy, Backend::Rayon, Backend::Openmp];

    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Backend::Debug => "debug",
            Backend::Numpy => "numpy",
            Backend::Rayon => "rayon",
            Backend::Openmp => "openmp",
        }
    }

    /// The back end that a request names; machine code made in process where it names none.
    ///
    /// # Errors
    ///
    /// When it names one that is not known.
    pub fn of(request: &Request) -> Result<Self, ApiError> {
        request.backend.as_deref().map_or(Ok(Backend::Rayon), Self::named)
    }

    /// The back ends that a request measures, or the one that it runs.
    ///
    /// # Errors
    ///
    /// When it names one that is not known.
    pub fn all_of(request: &Request) -> Result<Vec<Self>, ApiError> {
        match &request.bench {
            Some(bench) if !bench.backends.is_empty() => {
                let mut found = Vec::new();
                for name in &bench.backends {
                    let it = Self::named(name)?;
                    if !found.contains(&it) {
                        found.push(it);
                    }
                }
                Ok(found)
            }
            _ => Self::of(request).map(|it| vec![it]),
        }
    }

    fn named(name: &str) -> Result<Self, ApiError> {
        let found = Self::ALL.into_iter().find(|it| it.name() == name);
        found.ok_or_else(|| ApiError::UnknownBackend { name: name.to_owned(), known: Self::names() })
    }

    fn names() -> Vec<&'static str> {
        Self::ALL.iter().map(|it| it.name()).collect()
    }

    /// Whether it can run here.
    ///
    /// # Errors
    ///
    /// The reason why it cannot.
    pub fn check(self, tools: &Tools) -> Result<(), ApiError> {
        match (self, &tools.cc) {
            (Backend::Openmp, Err(reason)) => {
                Err(ApiError::BackendUnavailable { name: self.name().to_owned(), reason: reason.clone() })
            }
            (Backend::Rayon, _) => rayon::check()
                .map(|_| ())
                .map_err(|reason| ApiError::BackendUnavailable { name: self.name().to_owned(), reason }),
            (Backend::Debug | Backend::Numpy | Backend::Openmp, _) => Ok(()),
        }
    }

    /// Whether it runs loops as a schedule says.
    #[must_use]
    pub fn follows_schedules(self) -> bool {
        match self {
            Backend::Rayon | Backend::Openmp => true,
            Backend::Debug | Backend::Numpy => false,
        }
    }

    /// What runs it.
    #[must_use]
    pub fn executor(self) -> Box<dyn Executor> {
        match self {
            Backend::Debug => Box::new(interpreters::Debug),
            Backend::Numpy => Box::new(interpreters::Numpy),
            Backend::Rayon => Box::new(rayon::Rayon),
            Backend::Openmp => Box::new(openmp::Openmp),
        }
    }
}

/// All back ends, with what they found here or why they cannot run.
#[must_use]
pub fn backends(tools: &Tools) -> Vec<isobar_protocol::job::Backend> {
    let describe = |it: Backend| {
        let (available, detail) = match (it, &tools.cc) {
            (Backend::Debug, _) => (true, "interpreter, defines the meaning".to_owned()),
            (Backend::Numpy, _) => (true, "operations on whole arrays".to_owned()),
            (Backend::Rayon, _) => match rayon::check() {
                Ok(processor) => (true, format!("machine code made in process, {processor}")),
                Err(reason) => (false, reason),
            },
            (Backend::Openmp, Ok(cc)) => (true, cc.version.clone()),
            (Backend::Openmp, Err(reason)) => (false, reason.clone()),
        };
        isobar_protocol::job::Backend {
            name: it.name().to_owned(),
            device: "cpu".to_owned(),
            available,
            detail,
        }
    };
    Backend::ALL.into_iter().map(describe).collect()
}

/// What a back end may use while it gets ready.
#[derive(Clone, Copy, Debug)]
pub struct Setting<'a> {
    /// The C compiler, or why there is none.
    pub cc: &'a Result<CCompiler, String>,
    /// Where compiled code is kept, if anywhere.
    pub cache: Option<&'a Path>,
    /// A folder for what is needed in between; for its owner alone.
    pub temporary: &'a Path,
    /// Threads of a run.
    pub threads: u32,
    pub mode: Mode,
    /// Whether compiled code tells which lines of the stencil it comes from.
    pub has_lines: bool,
    pub vectors: Vectors,
}

/// How exactly a run keeps to the meaning.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mode {
    /// The bits of the interpreter.
    #[default]
    Reproducible,
    /// A product and a sum may be rounded once, and sums may be taken in another order.
    Fast,
}

/// The vectors of machine code that is made here.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Vectors {
    /// The widest that the processor has, as far as they are known here.
    #[default]
    Widest,
    /// Those of 256 bits, where they are known here.
    Half,
    /// Those of 128 bits, which all processors have.
    Common,
}

/// Why a run ended before its end.
#[derive(Debug)]
pub enum Failure {
    Cancelled,
    OutOfMemory,
    Trap {
        message: String,
        statement: StmtId,
        cell: [i64; 3],
    },
    /// The C compiler refused; this is what it said.
    Code(String),
    Machine(String),
}

/// The contract with each back end.
pub trait Executor {
    /// What a run with so many threads allocates beside its arguments, and with none what all threads share; `None`
    /// where that is beyond any memory. `arguments` are none where they are not made yet.
    fn workspace_bytes(
        &self,
        compilation: &Compilation,
        domain: Domain,
        threads: u32,
        arguments: &[Argument],
    ) -> Option<u64>;

    /// Makes a stencil ready to be called: compiles it, or takes it from the cache, and loads it. The steps are told.
    ///
    /// # Errors
    ///
    /// Where there is nothing to run, or the machine refuses.
    fn prepare<'a>(
        &self,
        compilation: &'a Compilation,
        setting: Setting<'_>,
        sink: Sink<'_>,
    ) -> Result<Box<dyn Prepared + 'a>, Failure>;
}

/// A stencil that is ready to be called, as often as one likes.
pub trait Prepared {
    /// Does beforehand what depends on the sizes and strides of a launch, so that the call has nothing left to do
    /// but its work; tells that as a step. A call that was not prepared so does it itself.
    ///
    /// # Errors
    ///
    /// Where the machine refuses.
    fn fit(&mut self, _launch: &Launch, _sink: Sink<'_>) -> Result<(), Failure> {
        Ok(())
    }

    /// Calls it once; the arrays of the launch are updated in place. The launch was bound with the signature of the
    /// same compilation.
    ///
    /// # Errors
    ///
    /// Where the run ends before its end; what it has written by then stays.
    fn run(&mut self, launch: &mut Launch) -> Result<(), Failure>;

    /// How far the call at hand is, for another thread to look at.
    fn progress(&self) -> Arc<Progress>;
}

/// How far a call is.
#[derive(Debug, Default)]
pub struct Progress {
    pub done: AtomicI64,
    pub total: AtomicI64,
    /// When the first step of the call began, and when each ended, in milliseconds from whenever.
    moments: Mutex<Vec<f64>>,
}

impl Progress {
    /// Replaces what is known of the last call by these moments.
    fn set_moments(&self, moments: Vec<f64>) {
        *self.moments.lock().unwrap_or_else(PoisonError::into_inner) = moments;
    }

    /// How long each step of the last call took that has ended, in milliseconds; nothing where the back end has no
    /// steps, or does not tell.
    #[must_use]
    pub fn step_ms(&self) -> Vec<f64> {
        let moments = self.moments.lock().unwrap_or_else(PoisonError::into_inner);
        moments.windows(2).map(|it| it[1] - it[0]).collect()
    }
}
