//! Executors make a stencil ready and call it: one for each back end, behind one contract.

pub mod cancel;
pub mod cuda;
pub mod foreign;
mod helpers;
mod inert;
mod interface;
pub mod interpreters;
mod layouts;
pub mod openmp;
mod pool;
pub mod rayon;
mod team;
pub mod watch;
pub mod wgpu;
mod workspace;

use std::fmt;
use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicI64;
use std::sync::{Arc, LazyLock, Mutex, PoisonError};
use std::thread::available_parallelism;

use isobar_compiler::call::launch::{Argument, Launch};
use isobar_compiler::pipeline::{Compilation, ProgramKind};
use isobar_compiler::space::Domain;

use crate::cache::{CodeKind, KeyParts};
use crate::device::{Device, DeviceMemory, DeviceSequence, Ticket};
use crate::events::Sink;
pub use crate::failure::Failure;
use crate::plans::{PlanHandle, Plans};
use crate::wanted::FetchSelection;
pub use isobar_codegen::Vectors;
pub use layouts::{along, in_rows};
pub use openmp::CCompiler;
pub use pool::{RunThreads, after_fork};

/// Tools and limits of a back end that gets ready.
#[derive(Clone, Copy, Debug)]
pub struct Setting<'a> {
    /// The C compiler, or why there is none.
    pub cc: &'a Result<CCompiler, String>,
    /// The cache folder of compiled code, if code is stored.
    pub cache: Option<&'a Path>,
    /// A folder for temporary files, for its owner alone.
    pub temporary: &'a Path,
    /// Threads of a run.
    pub threads: u32,
    pub mode: Mode,
    /// Whether compiled code tells which lines of the stencil it comes from.
    pub has_lines: bool,
    pub vectors: Vectors,
    /// The treatment of fields that do not lie along i.
    pub relayout: Relayout,
    /// Whether the process has other work to do. Then the system places all threads, none of them spins while
    /// it waits, and code is made on as many threads as it runs on. Otherwise each thread has a processor of
    /// its own where there is one, and code is made on all processors.
    pub is_embedded: bool,
}

impl Setting<'static> {
    /// The setting of a program that runs stencils beside its own work: one thread, the bits of the
    /// interpreter, no files.
    #[must_use]
    pub fn embedded() -> Self {
        static NONE: LazyLock<Result<CCompiler, String>> =
            LazyLock::new(|| Err("no C compiler was looked for".to_owned()));
        Self {
            cc: &NONE,
            cache: None,
            temporary: Path::new(""),
            threads: 1,
            mode: Mode::Reproducible,
            has_lines: false,
            vectors: Vectors::Widest,
            relayout: Relayout::ByCost,
            is_embedded: true,
        }
    }
}

impl Setting<'_> {
    /// The number of threads that make code.
    fn makers(&self) -> usize {
        match self.is_embedded {
            true => usize::try_from(self.threads).unwrap_or(1).max(1),
            false => available_parallelism().map_or(1, NonZero::get),
        }
    }
}

/// An owned [`Setting`].
#[derive(Clone, Debug)]
pub struct OwnedSetting {
    pub cc: Result<CCompiler, String>,
    pub cache: Option<PathBuf>,
    pub temporary: PathBuf,
    pub threads: u32,
    pub mode: Mode,
    pub has_lines: bool,
    pub vectors: Vectors,
    pub relayout: Relayout,
    pub is_embedded: bool,
}

impl OwnedSetting {
    /// The owned form of [`Setting::embedded`], with so many threads.
    #[must_use]
    pub fn embedded(threads: u32) -> Self {
        Self { threads, ..Self::of(Setting::embedded()) }
    }

    /// The owned form of a setting.
    #[must_use]
    pub fn of(setting: Setting<'_>) -> Self {
        let Setting { cc, cache, temporary, threads, mode, has_lines, vectors, relayout, is_embedded } =
            setting;
        let (cc, cache, temporary) = (cc.clone(), cache.map(Into::into), temporary.to_owned());
        Self { cc, cache, temporary, threads, mode, has_lines, vectors, relayout, is_embedded }
    }

    /// The borrowed form of this setting.
    #[must_use]
    pub fn borrow(&self) -> Setting<'_> {
        let Self { cc, cache, temporary, threads, mode, has_lines, vectors, relayout, is_embedded } = self;
        Setting {
            cc,
            cache: cache.as_deref(),
            temporary,
            threads: *threads,
            mode: *mode,
            has_lines: *has_lines,
            vectors: *vectors,
            relayout: *relayout,
            is_embedded: *is_embedded,
        }
    }
}

/// The treatment of fields that do not lie along i.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Relayout {
    /// The treatment that is expected to be fastest.
    #[default]
    ByCost,
    /// Nothing: code has the strides of the caller.
    Never,
    /// Fields are copied.
    Copies,
    /// Fields are copied one row along j after the other, where rows are independent.
    Slabs,
    /// Loops are turned where they can be; else fields are copied.
    Turns,
}

/// How exactly results follow the meaning of the stencil.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mode {
    /// The bits of the interpreter.
    #[default]
    Reproducible,
    /// A product and a sum may be rounded once, and sums may be taken in another order.
    Fast,
}

/// The contract with each back end.
pub trait Executor: fmt::Debug + Send + Sync {
    /// The kind of program that it runs, or makes code of.
    fn program(&self, setting: Setting<'_>) -> ProgramKind;

    /// Returns the bytes that a run on so many threads allocates beside its arguments. For 0 threads these
    /// are the bytes that all threads share. `None` where the number is beyond any memory. `arguments` are
    /// empty where they are not made yet.
    fn workspace_bytes(
        &self,
        plan: &PlanHandle,
        domain: Domain,
        threads: u32,
        arguments: &[Argument],
    ) -> Option<u64>;

    /// Whether another process may make a stencil ready by its stored plan, without compiling it.
    fn stores_plans(&self) -> bool {
        false
    }

    /// The keys of a stencil's compiled code in the cache, the most usual first. There is one for each kind
    /// of arrays that calls have, for so many levels where these are known. Empty where nothing is stored, or
    /// where the machine lacks a tool or a device that decides the key.
    fn code_keys(&self, _: &PlanHandle, _levels: Option<u32>, _: Setting<'_>) -> Vec<(CodeKind, KeyParts)> {
        Vec::new()
    }

    /// The device that it runs on, where its fields have to lie; none for the host.
    fn device(&self) -> Option<Arc<dyn Device>> {
        None
    }

    /// Makes a stencil ready to be called: compiles it, or takes it from the cache, and loads it. The steps are told.
    ///
    /// # Errors
    ///
    /// Where there is nothing to run, or the machine refuses.
    fn prepare(&self, plan: &PlanHandle, setting: Setting<'_>, sink: Sink<'_>) -> Result<Prepared, Failure>;
}

/// Makes a stencil ready to be called, for one back end; see [`Executor::prepare`].
///
/// # Errors
///
/// Those of [`Executor::prepare`].
pub fn prepare(
    executor: &dyn Executor,
    plans: &Arc<Plans>,
    setting: Setting<'_>,
    sink: Sink<'_>,
) -> Result<Prepared, Failure> {
    executor.prepare(&plans.plan_for(executor.program(setting)), setting, sink)
}

/// The same for a compilation, whose plans nobody else needs.
///
/// # Errors
///
/// Those of [`Executor::prepare`].
pub fn prepare_compiled(
    executor: &dyn Executor,
    compilation: &Compilation,
    setting: Setting<'_>,
    sink: Sink<'_>,
) -> Result<Prepared, Failure> {
    prepare(executor, &Plans::of(compilation.clone()), setting, sink)
}

/// The part that all callers of a stencil share: its code, for each shape of arrays that it was called with.
pub trait Code: Send + Sync {
    /// Makes the code for the sizes and strides of a launch, and tells that as a step.
    ///
    /// # Errors
    ///
    /// Where the machine refuses.
    fn fit(&self, _launch: &Launch, _sink: Sink<'_>) -> Result<(), Failure> {
        Ok(())
    }

    /// Whether a call may end early because of its values.
    fn may_trap(&self) -> bool {
        true
    }

    /// Makes one more caller.
    fn caller(self: Arc<Self>) -> Box<dyn Caller>;
}

/// The part that one caller of a stencil has for itself: frame, workspace, and how far its call is.
pub trait Caller: Send {
    /// Calls it once.
    ///
    /// # Errors
    ///
    /// Where the run ends early.
    fn run(&mut self, launch: &mut Launch) -> Result<(), Failure>;

    /// Copies the fields of a launch to the device that computes. They stay there for calls with the same
    /// launch, until they are fetched. On the host this does nothing.
    ///
    /// # Errors
    ///
    /// Where there is no such memory.
    fn keep(&mut self, _launch: &Launch) -> Result<(), Failure> {
        Ok(())
    }

    /// Brings back the wanted parts of the fields that calls since [`keep`](Self::keep) wrote. On the host
    /// this does nothing.
    ///
    /// # Errors
    ///
    /// Where the device fails.
    fn fetch(&mut self, _launch: &mut Launch, _wanted: &FetchSelection) -> Result<(), Failure> {
        Ok(())
    }

    /// Starts one call on a device, and returns before it is over. The fields lie in these memories, in the
    /// order of the launch's arguments. The arrays of the launch tell shapes and strides alone.
    ///
    /// # Errors
    ///
    /// Where the call does not begin.
    fn start(
        &mut self,
        _launch: &mut Launch,
        _memories: &[Option<&dyn DeviceMemory>],
    ) -> Result<Box<dyn Ticket>, Failure> {
        Err(Failure::Machine("this back end runs on the host alone".to_owned()))
    }

    /// Adds one call to a sequence of its device, as [`start`](Self::start) starts one. It is never ended early.
    ///
    /// # Errors
    ///
    /// As for [`start`](Self::start).
    fn add(
        &mut self,
        _launch: &Launch,
        _memories: &[Option<&dyn DeviceMemory>],
        _sequence: &mut dyn DeviceSequence,
    ) -> Result<SequenceAddition, Failure> {
        Err(Failure::Machine("this back end has no sequences".to_owned()))
    }

    fn progress(&self) -> Arc<Progress>;
}

/// Whether a call was added to a sequence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SequenceAddition {
    Added,
    /// Not before the sequence is over: memory that its calls use is to be freed.
    AfterSubmission,
}

/// A stencil that is ready to be called, as often as one likes. A clone is another caller of the same code, on any
/// thread, at the same time.
pub struct Prepared {
    code: Arc<dyn Code>,
    caller: Box<dyn Caller>,
}

impl Prepared {
    /// The first caller of this code.
    #[must_use]
    pub fn of(code: Arc<dyn Code>) -> Self {
        Self { caller: Arc::clone(&code).caller(), code }
    }

    /// Makes the code for the sizes and strides of a launch before the call, and tells that as a step. A call
    /// without this preparation makes it itself.
    ///
    /// # Errors
    ///
    /// Where the machine refuses.
    pub fn fit(&self, launch: &Launch, sink: Sink<'_>) -> Result<(), Failure> {
        self.code.fit(launch, sink)
    }

    /// Calls it once; the arrays of the launch are updated in place. The launch was bound with the signature of the
    /// same compilation.
    ///
    /// # Errors
    ///
    /// Where the run ends early; results written by then stay.
    pub fn run(&mut self, launch: &mut Launch) -> Result<(), Failure> {
        self.caller.run(launch)
    }

    /// Copies the fields of a launch to the device that computes, for later calls; see [`Caller::keep`].
    ///
    /// # Errors
    ///
    /// Where there is no such memory.
    pub fn keep(&mut self, launch: &Launch) -> Result<(), Failure> {
        self.caller.keep(launch)
    }

    /// Brings back the wanted parts of the fields that calls since [`keep`](Self::keep) wrote; see
    /// [`Caller::fetch`].
    ///
    /// # Errors
    ///
    /// Where the device fails.
    pub fn fetch(&mut self, launch: &mut Launch, wanted: &FetchSelection) -> Result<(), Failure> {
        self.caller.fetch(launch, wanted)
    }

    /// The part that it shares with its clones.
    pub(crate) fn code(&self) -> Arc<dyn Code> {
        Arc::clone(&self.code)
    }

    /// Whether a call may end early because of its values.
    pub(crate) fn may_trap(&self) -> bool {
        self.code.may_trap()
    }

    /// Has the device of the back end call it once; see [`Caller::start`].
    pub(crate) fn start(
        &mut self,
        launch: &mut Launch,
        memories: &[Option<&dyn DeviceMemory>],
    ) -> Result<Box<dyn Ticket>, Failure> {
        self.caller.start(launch, memories)
    }

    /// Adds a call to a sequence; see [`Caller::add`].
    pub(crate) fn add(
        &mut self,
        launch: &Launch,
        memories: &[Option<&dyn DeviceMemory>],
        sequence: &mut dyn DeviceSequence,
    ) -> Result<SequenceAddition, Failure> {
        self.caller.add(launch, memories, sequence)
    }

    /// How far the call at hand is, for another thread to look at.
    #[must_use]
    pub fn progress(&self) -> Arc<Progress> {
        self.caller.progress()
    }
}

impl Clone for Prepared {
    fn clone(&self) -> Self {
        Self::of(Arc::clone(&self.code))
    }
}

impl fmt::Debug for Prepared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Prepared").finish_non_exhaustive()
    }
}

/// How far a call is.
#[derive(Debug, Default)]
pub struct Progress {
    pub done: AtomicI64,
    pub total: AtomicI64,
    /// When the first step of the call began, and when each step ended, in milliseconds from any origin.
    moments: Mutex<Vec<f64>>,
}

impl Progress {
    /// Replaces the moments of the last call.
    fn set_moments(&self, moments: Vec<f64>) {
        *self.moments.lock().unwrap_or_else(PoisonError::into_inner) = moments;
    }

    /// Replaces the moments of the last call by those of steps that took so many milliseconds each.
    fn set_steps(&self, steps: &[f64]) {
        let mut moments = vec![0.0];
        let mut sum = 0.0;
        for it in steps {
            sum += it;
            moments.push(sum);
        }
        self.set_moments(moments);
    }

    /// Takes over the numbers of another progress.
    fn take_from(&self, other: &Self) {
        use std::sync::atomic::Ordering::Relaxed;
        self.total.store(other.total.load(Relaxed), Relaxed);
        self.done.store(other.done.load(Relaxed), Relaxed);
        self.set_moments(other.moments.lock().unwrap_or_else(PoisonError::into_inner).clone());
    }

    /// The duration of each step of the last call that has ended, in milliseconds. Empty where the back end
    /// has no steps, or does not tell.
    #[must_use]
    pub fn step_ms(&self) -> Vec<f64> {
        let moments = self.moments.lock().unwrap_or_else(PoisonError::into_inner);
        moments.windows(2).map(|it| it[1] - it[0]).collect()
    }
}
