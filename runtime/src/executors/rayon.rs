//! Machine code made in this process, its tiles spread over rayon's pool: no compiler, no files.

use std::ffi::c_void;
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::Builder;
use std::time::Instant;

use ::rayon::current_num_threads;
use isobar_codegen::{
    ArgumentShape, Machine, Object, Options, RunOutcome, Shape, Team, TrapReport, Vectors, vector_bits, word,
};
use isobar_compiler::call::launch::{Argument, Launch};
use isobar_compiler::call::signature::{ParamKind, Signature};
use isobar_compiler::entity::{Handle, SideTable};
use isobar_compiler::inputs::{Rows, strides_with};
use isobar_compiler::loops::nodes::{Array, ArrayKind, BETWEEN_THREADS, Program};
use isobar_compiler::pass::CodeGenerator;
use isobar_compiler::pipeline::{Compilation, ProgramKind};
use isobar_compiler::space::{Axis, AxisSet, Domain};
use isobar_compiler::types::DType;
use serde::{Deserialize, Serialize};

use super::helpers::Helpers;
use super::interface::start_of;
use super::layouts::{self, CodeMaker};
use super::workspace::Workspace;
use super::{Caller, Code, Executor, Failure, Mode, Prepared, Progress, Setting, cancel};
use crate::events::{Sink, milliseconds, step};
use crate::plans::{PlanHandle, Plans};
use crate::store::{Store, StoreEntry};

/// Machine code made in this process.
#[derive(Clone, Copy, Debug)]
pub struct Rayon;

/// After so many iterations at one cell, a `while` loop counts as endless.
const MAX_TURNS: u64 = isobar_compiler::call::run::MAX_ITERATIONS;

/// Loops for machine code with such vectors.
fn program_kind(vectors: Vectors) -> ProgramKind {
    ProgramKind::Loops(CodeGenerator::Native { vector_bits: vector_bits(vectors) })
}

/// Whether machine code can be made here, and for which processor.
///
/// # Errors
///
/// Why not.
pub fn check() -> Result<String, String> {
    isobar_codegen::check()
}

impl Executor for Rayon {
    fn program(&self, setting: Setting<'_>) -> ProgramKind {
        program_kind(setting.vectors)
    }

    fn workspace_bytes(
        &self,
        plan: &PlanHandle,
        domain: Domain,
        threads: u32,
        arguments: &[Argument],
    ) -> Option<u64> {
        let (signature, program) = (&plan.plan().ok()?.contract.signature, plan.loops().ok()?);
        let places = places(&program, signature);
        let given = |array: Handle<Array>| given(*places.get(array)?, arguments, domain);
        let Domain { i, j, k } = domain;
        let copies = layouts::bytes(signature, domain, arguments);
        Shape::of(&program, [i, j, k], &given)?.workspace_bytes(threads)?.checked_add(copies)
    }

    fn prepare(&self, plan: &PlanHandle, setting: Setting<'_>, sink: Sink<'_>) -> Result<Prepared, Failure> {
        Ok(Prepared::of(layouts::code(*self, plan, setting, sink)?))
    }

    fn stores_plans(&self) -> bool {
        true
    }
}

impl CodeMaker for Rayon {
    fn code(self, plan: &PlanHandle, setting: Setting<'_>, _: Sink<'_>) -> Result<Arc<dyn Code>, Failure> {
        let of_stencil = plan.ready_plan()?;
        let make = || Ok(FrameLayout::of(&*plan.loops()?, &of_stencil.contract.signature));
        let frame = plan.derived("frame", &(), make)?;
        Ok(Arc::new(MachineCode::of(frame, plan.clone(), setting)))
    }
}

/// The code before it is machine code, for arrays that a run makes with such rows. Instructions tell their
/// statements.
///
/// # Errors
///
/// Where the stencil does not compile, or no code can be made here.
pub fn listing(compilation: &Compilation, domain: Domain, rows: Rows) -> Result<String, String> {
    let missing = || "the stencil does not compile".to_owned();
    let signature = compilation.front.signature.as_ref().ok_or_else(missing)?;
    let plan = Plans::of(compilation.clone()).plan_for(program_kind(Vectors::Widest));
    let program = plan.loops().map_err(|_| missing())?;
    let places = places(&program, signature);
    let given = |array: Handle<Array>| {
        let param = &signature.params[places.get(array)?.position];
        let Some(strides) = strides_with(param, domain, rows) else { return Some(ArgumentShape::default()) };
        let strides = strides.into_iter().map(signed).collect();
        let (below, above) = param.kind.halo(Axis::K);
        let has_levels = matches!(param.kind, ParamKind::Field { axes, .. } if axes.has(Axis::K));
        let levels = if has_levels { [below, above] } else { [0, 0] };
        Some(ArgumentShape { strides, levels })
    };
    let Domain { i, j, k } = domain;
    let shape = Shape::of(&program, [i, j, k], &given).ok_or("the domain is too large")?;
    let vectors = Vectors::Widest;
    let options = Options { max_turns: MAX_TURNS, may_fuse: false, vectors, keeps_text: true };
    Ok(Object::of(&program, &shape, options, None)?.text)
}

fn signed(it: usize) -> i64 {
    i64::try_from(it).unwrap_or(i64::MAX)
}

/// Which argument an array of the program is.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct ArgumentSlot {
    /// Its position in the launch.
    position: usize,
    /// Of a field.
    axes: Option<AxisSet>,
}

/// The arguments for the program's arrays; none for arrays that a run allocates.
fn places(program: &Program, signature: &Signature) -> SideTable<Array, ArgumentSlot> {
    let place = |handle: Handle<Array>| {
        let array = program.arguments.contains(&handle).then(|| &program.arrays[handle])?;
        let position = signature.params.iter().position(|it| it.name == array.stencil_name)?;
        let axes = match signature.params[position].kind {
            ParamKind::Field { axes, .. } => Some(axes),
            ParamKind::Scalar { .. } => None,
        };
        Some((handle, ArgumentSlot { position, axes }))
    };
    program.arrays.handles().filter_map(place).collect()
}

/// How an argument lies in memory.
fn given(place: ArgumentSlot, arguments: &[Argument], domain: Domain) -> Option<ArgumentShape> {
    let ArgumentSlot { position, axes } = place;
    let (Some(axes), Some(Argument::Field(field))) = (axes, arguments.get(position)) else {
        return Some(ArgumentShape::default());
    };
    let strides = field.strides(axes);
    let of_axes = axes.iter().map(|axis| strides[axis.index()]);
    let of_data = field.data_strides(axes).iter().copied();
    let levels = field.levels_beside(axes, domain);
    Some(ArgumentShape { strides: of_axes.chain(of_data).collect(), levels })
}

/// The layout of the frames that code is called with.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct FrameLayout {
    /// One for each array of the program.
    arrays: SideTable<Array, FrameArray>,
    /// None for arrays that a run allocates.
    places: SideTable<Array, ArgumentSlot>,
    n_steps: usize,
}

/// An array, as far as frames are made of it.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct FrameArray {
    dtype: DType,
    /// Whether a run allocates it, or each of its threads.
    is_own: bool,
    is_per_thread: bool,
    is_scalar: bool,
}

impl FrameLayout {
    fn of(program: &Program, signature: &Signature) -> Self {
        let arrays = program.arrays.iter().map(|(handle, it)| {
            let (is_own, is_scalar) = (it.is_own(), it.kind == ArrayKind::Scalar);
            (handle, FrameArray { dtype: it.dtype, is_own, is_per_thread: it.is_per_thread, is_scalar })
        });
        let places = places(program, signature);
        Self { arrays: arrays.collect(), places, n_steps: program.steps.len() }
    }
}

/// The machine code of a plan: one for each layout of arrays that it was called with.
struct MachineCode {
    frame: FrameLayout,
    plan: PlanHandle,
    threads: usize,
    options: Options,
    makers: MakerThreads,
    is_embedded: bool,
    code: Store<ArrayLayouts, FittedCode>,
}

/// How the arrays of a call lie, which decides its code.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct ArrayLayouts {
    domain: [i64; 3],
    /// None for arrays that a run allocates.
    given: SideTable<Array, ArgumentShape>,
}

impl ArrayLayouts {
    fn of(launch: &Launch, places: &SideTable<Array, ArgumentSlot>) -> Self {
        let Domain { i, j, k } = launch.domain;
        let given = places
            .iter()
            .filter_map(|(array, &it)| Some((array, given(it, &launch.arguments, launch.domain)?)));
        Self { domain: [i, j, k], given: given.collect() }
    }

    fn are_those_of(&self, launch: &Launch, places: &SideTable<Array, ArgumentSlot>) -> bool {
        let Domain { i, j, k } = launch.domain;
        self.domain == [i, j, k]
            && places.iter().all(|(array, place)| {
                let known = self.given.get(array);
                known.is_some_and(|known| lies_as(place, &launch.arguments, launch.domain, known))
            })
    }
}

/// Code for arrays that lie so.
struct FittedCode {
    shape: Shape,
    machine: Machine,
}

type StoredCode = Arc<StoreEntry<ArrayLayouts, FittedCode>>;

impl Code for MachineCode {
    fn fit(&self, launch: &Launch, sink: Sink<'_>) -> Result<(), Failure> {
        if launch.domain.points() == 0 {
            return Ok(());
        }
        step("machine code", sink, || self.code_for(launch).map(drop))
    }

    fn caller(self: Arc<Self>) -> Box<dyn Caller> {
        let progress = Arc::new(Progress::default());
        progress.total.store(i64::try_from(self.frame.n_steps).unwrap_or(i64::MAX), Ordering::Relaxed);
        let workspace = Workspace::default();
        Box::new(RayonCaller { code: self, last: None, workspace, helpers: None, progress })
    }
}

impl MachineCode {
    fn of(frame: FrameLayout, plan: PlanHandle, setting: Setting<'_>) -> Self {
        let threads = usize::try_from(setting.threads).unwrap_or(1);
        let may_fuse = setting.mode == Mode::Fast;
        let vectors = setting.vectors;
        Self {
            frame,
            plan,
            threads: if threads == 0 { current_num_threads() } else { threads },
            options: Options { max_turns: MAX_TURNS, may_fuse, vectors, keeps_text: false },
            makers: MakerThreads { threads: setting.makers() },
            is_embedded: setting.is_embedded,
            code: Store::default(),
        }
    }

    /// The code for the arrays of a launch.
    fn code_for(&self, launch: &Launch) -> Result<StoredCode, Failure> {
        self.code.get(ArrayLayouts::of(launch, &self.frame.places), |lies| {
            let (shape, object) = self.plan.derived("code", lies, || self.object(lies))?;
            Ok(FittedCode { shape, machine: Machine::load(&object).map_err(fault)? })
        })
    }

    fn object(&self, lies: &ArrayLayouts) -> Result<(Shape, Object), Failure> {
        let program = self.plan.loops()?;
        let given = |array: Handle<Array>| lies.given.get(array).cloned();
        let shape = Shape::of(&program, lies.domain, &given).ok_or(Failure::OutOfMemory)?;
        let object = Object::of(&program, &shape, self.options, Some(&self.makers)).map_err(fault)?;
        Ok((shape, object))
    }
}

fn fault(why: String) -> Failure {
    Failure::Machine(format!("the code generator refuses its input: {why}"))
}

/// Threads that make code, and end when it is made.
#[derive(Clone, Copy, Debug)]
struct MakerThreads {
    threads: usize,
}

impl Team for MakerThreads {
    fn share(&self, total: usize, part: &(dyn Fn(Range<usize>, usize) + Sync)) {
        let next = AtomicUsize::new(0);
        let take_part = |thread: usize| {
            while let Some(at) = Some(next.fetch_add(1, Ordering::Relaxed)).filter(|&it| it < total) {
                part(at..at + 1, thread);
            }
        };
        std::thread::scope(|scope| {
            for thread in 1..self.threads.min(total) {
                // A thread that does not start leaves its part to the others.
                let _ = Builder::new().spawn_scoped(scope, move || take_part(thread));
            }
            take_part(0);
        });
    }
}

/// The state of one caller.
struct RayonCaller {
    code: Arc<MachineCode>,
    /// The code of the last call, which the next call compares without making a key.
    last: Option<StoredCode>,
    /// The memory of its temporaries.
    workspace: Workspace,
    /// Made by the first call, where there is more than one thread.
    helpers: Option<Helpers>,
    progress: Arc<Progress>,
}

/// Whether an argument lies in memory as this one did.
fn lies_as(place: &ArgumentSlot, arguments: &[Argument], domain: Domain, known: &ArgumentShape) -> bool {
    let (Some(axes), Some(Argument::Field(field))) = (place.axes, arguments.get(place.position)) else {
        return known.strides.is_empty();
    };
    known.levels == field.levels_beside(axes, domain) && known.strides == field.array.strides
}

impl Caller for RayonCaller {
    fn run(&mut self, launch: &mut Launch) -> Result<(), Failure> {
        if launch.domain.points() == 0 {
            return Ok(());
        }
        let code = Arc::clone(&self.code);
        if code.threads > 1 && self.helpers.as_ref().is_none_or(|it| !it.are_here()) {
            // Dropping the helpers of another process would wait for them.
            std::mem::forget(self.helpers.take());
            self.helpers = Some(Helpers::of(code.threads, code.is_embedded)?);
        }
        let places = &code.frame.places;
        if self.last.as_ref().is_none_or(|it| !it.key.are_those_of(launch, places)) {
            self.last = Some(code.code_for(launch)?);
        }
        let Some(fitted) = self.last.as_ref().map(Arc::clone) else { return Ok(()) };
        let fitted = fitted.get()?;
        let frame = self.frame(&code, &fitted.shape, launch)?;
        self.call(&fitted.machine, frame)
    }

    fn progress(&self) -> Arc<Progress> {
        Arc::clone(&self.progress)
    }
}

impl RayonCaller {
    /// The words of a frame. The first word is the host's.
    fn frame(&mut self, code: &MachineCode, shape: &Shape, launch: &mut Launch) -> Result<Vec<u64>, Failure> {
        let missing = || Failure::Machine("the code asks for an argument that was not passed".to_owned());
        let n_threads = u32::try_from(code.threads).unwrap_or(u32::MAX);
        let bytes = shape.workspace_bytes(n_threads).ok_or(Failure::OutOfMemory)?;
        self.workspace.reserve(bytes).ok_or(Failure::OutOfMemory)?;
        let behind = |at: *mut u8, bytes: i64| at.wrapping_add(usize::try_from(bytes).unwrap_or(0));
        let mut free = self.workspace.start();
        let mut own_free = behind(behind(free, shape.shared_bytes), i64::from(BETWEEN_THREADS));
        let mut frame = vec![0_u64; 1 + code.frame.arrays.iter().count()];
        for (handle, array) in code.frame.arrays.iter() {
            let at = handle.index();
            let address = |it: *mut c_void| it as u64;
            if array.is_own {
                let own = &shape.arrays[handle];
                let start = own.start * array.dtype.size_bytes() as i64;
                let free = if array.is_per_thread { &mut own_free } else { &mut free };
                frame[1 + at] = address(free.cast()).wrapping_add_signed(start);
                *free = behind(*free, own.bytes);
            } else if let Some(&ArgumentSlot { position, axes }) = code.frame.places.get(handle) {
                frame[1 + at] = match (&mut launch.arguments[position], axes) {
                    (Argument::Field(field), Some(axes)) if field.array.dtype() == array.dtype => {
                        let start = field.start(axes);
                        address(start_of(&mut field.array.elements, start))
                    }
                    (Argument::Scalar(value), None) if value.dtype() == array.dtype && array.is_scalar => {
                        word(*value)
                    }
                    _ => return Err(missing()),
                };
            }
        }
        Ok(frame)
    }

    /// One call.
    #[expect(unsafe_code, reason = "this is where generated code is entered")]
    fn call(&self, machine: &Machine, frame: Vec<u64>) -> Result<(), Failure> {
        let helpers = self.helpers.as_ref();
        // A program that embeds a stencil is not told of its steps: its calls may be as short as noting the
        // time.
        let moments = (!self.code.is_embedded).then(|| (Instant::now(), Mutex::new(vec![0.0])));
        let progress = |done: usize| {
            if let Some((begun, moments)) = &moments {
                let now = milliseconds(begun.elapsed());
                moments.lock().unwrap_or_else(PoisonError::into_inner).push(now);
            }
            self.progress.done.store(i64::try_from(done).unwrap_or(i64::MAX), Ordering::Relaxed);
            !cancel::is_wanted()
        };
        let team = helpers.map(|it| it as &dyn Team);
        // SAFETY: the code was made for the shape of this launch. `bind` checked its arrays: each holds every
        // element that the domain and the stencil's extents reach. The code guards run-time indices. The
        // launch is lent for this call alone, and none of its arrays that is written lies in another one.
        // Frame and workspace are this caller's own, made for as many threads as these.
        let run = || unsafe { machine.run(frame, team, progress) };
        let ended = match helpers {
            Some(helpers) => helpers.during(run),
            None => run(),
        };
        if let Some((_, moments)) = moments {
            self.progress.set_moments(moments.into_inner().unwrap_or_else(PoisonError::into_inner));
        }
        match ended {
            RunOutcome::Whole => Ok(()),
            RunOutcome::Cancelled => Err(Failure::Cancelled),
            RunOutcome::Raised(TrapReport { cell: [k, j, i], statement, .. }) => Err(Failure::Trap {
                message: "an index that is computed here leaves its field, or a `while` does not end"
                    .to_owned(),
                statement,
                cell: [i, j, k],
            }),
        }
    }
}
