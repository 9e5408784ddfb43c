//! What makes a stencil ready and calls it: one executor for each back end, behind one contract.

pub mod foreign;
mod helpers;
mod interface;
pub mod interpreters;
pub mod openmp;
mod pool;
pub mod rayon;
mod team;
pub mod watch;
mod workspace;

use std::path::Path;
use std::sync::atomic::AtomicI64;
use std::sync::{Arc, Mutex, PoisonError};

use isobar_compiler::backend::launch::{Argument, Launch};
use isobar_compiler::diag::StmtId;
use isobar_compiler::pipeline::Compilation;
use isobar_compiler::space::Domain;

use crate::events::Sink;
pub use isobar_codegen::Vectors;
pub use openmp::CCompiler;
pub use pool::Near;

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
