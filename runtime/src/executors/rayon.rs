//! Machine code made in this process, its tiles spread over rayon's pool: no compiler, no files.

use std::ffi::c_void;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use ::rayon::current_num_threads;
use isobar_codegen::{Given, Machine, Options, Raised, Shape, Team, Vectors, vector_bits, word};
use isobar_compiler::backend::launch::{Argument, Launch};
use isobar_compiler::backend::signature::{ParamKind, Signature};
use isobar_compiler::inputs::{Rows, strides_with};
use isobar_compiler::loops::nodes::ArrayKind;
use isobar_compiler::loops::nodes::{BETWEEN_THREADS, Program};
use isobar_compiler::loops::ready_without;
use isobar_compiler::pipeline::Compilation;
use isobar_compiler::sdfg::nodes::Sdfg;
use isobar_compiler::space::{Axis, Domain, names};
use isobar_compiler::target::Target;

use super::helpers::Helpers;
use super::interface::start_of;
use super::workspace::Workspace;
use super::{Executor, Failure, Mode, Prepared, Progress, Setting};
use crate::events::{Sink, milliseconds, step};

/// Machine code made in this process.
#[derive(Clone, Copy, Debug)]
pub struct Rayon;

/// After so many turns at one cell, a `while` loop counts as endless.
const MAX_TURNS: u64 = isobar_compiler::backend::run::MAX_ITERATIONS;

/// The program of a compilation for machine code with such vectors.
fn program(compilation: &Compilation, flow: &Sdfg, vectors: Vectors) -> Program {
    let target = Target::native(vector_bits(vectors), compilation.machine.as_ref());
    ready_without(flow, &target, &compilation.skip)
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
    fn workspace_bytes(
        &self,
        compilation: &Compilation,
        domain: Domain,
        threads: u32,
        arguments: &[Argument],
    ) -> Option<u64> {
        let flow = compilation.levels.sdfg.as_ref()?;
        let program = program(compilation, flow, Vectors::Widest);
        let signature = compilation.signature.as_ref()?;
        let given = |at: usize| given(flow, at, signature, arguments, domain).map(|(_, given)| given);
        let Domain { i, j, k } = domain;
        Shape::of(&program, [i, j, k], &given)?.workspace_bytes(threads)
    }

    fn prepare<'a>(
        &self,
        compilation: &'a Compilation,
        setting: Setting<'_>,
        _: Sink<'_>,
    ) -> Result<Box<dyn Prepared + 'a>, Failure> {
        let missing = || Failure::Machine("there is no graph to make code of".to_owned());
        let flow = compilation.levels.sdfg.as_ref().ok_or_else(missing)?;
        let signature = compilation.signature.as_ref().ok_or_else(missing)?;
        let threads = usize::try_from(setting.threads).unwrap_or(1);
        let threads = if threads == 0 { current_num_threads() } else { threads };
        let may_fuse = setting.mode == Mode::Fast;
        let vectors = setting.vectors;
        let options = Options { max_turns: MAX_TURNS, may_fuse, vectors, keeps_text: false };
        let program = program(compilation, flow, vectors);
        Ok(Box::new(Made::new(program, flow, signature, threads, options)))
    }
}

/// The code for arrays as a run makes them, with such rows, before it is machine code; instructions tell their statements.
///
/// # Errors
///
/// Where the stencil does not compile, or no code can be made here.
pub fn listing(compilation: &Compilation, domain: Domain, rows: Rows) -> Result<String, String> {
    let missing = || "the stencil does not compile".to_owned();
    let flow = compilation.levels.sdfg.as_ref().ok_or_else(missing)?;
    let signature = compilation.signature.as_ref().ok_or_else(missing)?;
    let program = program(compilation, flow, Vectors::Widest);
    let given = |at: usize| {
        let container = flow.arguments.iter().find(|it| it.index() == at).map(|&it| &flow.containers[it])?;
        let name = names::of_stencil(&container.name);
        let param = signature.params.iter().find(|it| it.name == name)?;
        let Some(strides) = strides_with(param, domain, rows) else { return Some(Given::default()) };
        let strides = strides.into_iter().map(signed).collect();
        let (below, above) = param.kind.halo(Axis::K);
        let has_levels = matches!(param.kind, ParamKind::Field { axes, .. } if axes.has(Axis::K));
        let levels = if has_levels { [below, above] } else { [0, 0] };
        Some(Given { strides, levels })
    };
    let Domain { i, j, k } = domain;
    let shape = Shape::of(&program, [i, j, k], &given).ok_or("the domain is too large")?;
    let vectors = Vectors::Widest;
    let options = Options { max_turns: MAX_TURNS, may_fuse: false, vectors, keeps_text: true };
    Ok(Machine::new(&program, &shape, options)?.text.clone())
}

fn signed(it: usize) -> i64 {
    i64::try_from(it).unwrap_or(i64::MAX)
}

/// The argument that a container of the outermost graph is, by position in the launch, and how it lies in memory.
fn given(
    flow: &Sdfg,
    array: usize,
    signature: &Signature,
    arguments: &[Argument],
    domain: Domain,
) -> Option<(usize, Given)> {
    let container = flow.arguments.iter().find(|it| it.index() == array).map(|&it| &flow.containers[it])?;
    let name = names::of_stencil(&container.name);
    let position = signature.params.iter().position(|it| it.name == name)?;
    let (ParamKind::Field { axes, .. }, Some(Argument::Field(field))) =
        (&signature.params[position].kind, arguments.get(position))
    else {
        return Some((position, Given::default()));
    };
    let strides = field.strides(*axes);
    let of_axes = axes.iter().map(|axis| strides[axis.index()]);
    let of_data = field.data_strides(*axes).iter().copied();
    let levels = field.levels_beside(*axes, domain);
    Some((position, Given { strides: of_axes.chain(of_data).collect(), levels }))
}

/// A program, code for the shape that it was called with last, and the memory of its temporaries.
struct Made<'f> {
    flow: &'f Sdfg,
    signature: &'f Signature,
    threads: usize,
    options: Options,
    program: Program,
    code: Option<(Shape, Machine)>,
    workspace: Workspace,
    /// Where there is more than one thread, as soon as there is code.
    helpers: Option<Helpers>,
    progress: Arc<Progress>,
}

impl Prepared for Made<'_> {
    fn fit(&mut self, launch: &Launch, sink: Sink<'_>) -> Result<(), Failure> {
        if launch.domain.points() == 0 {
            return Ok(());
        }
        step("machine code", sink, || self.make(launch))
    }

    fn run(&mut self, launch: &mut Launch) -> Result<(), Failure> {
        if launch.domain.points() == 0 {
            return Ok(());
        }
        self.make(launch)?;
        self.call(launch)
    }

    fn progress(&self) -> Arc<Progress> {
        Arc::clone(&self.progress)
    }
}

impl<'f> Made<'f> {
    fn new(
        program: Program,
        flow: &'f Sdfg,
        signature: &'f Signature,
        threads: usize,
        options: Options,
    ) -> Self {
        let progress = Arc::new(Progress::default());
        progress.total.store(i64::try_from(program.steps.len()).unwrap_or(i64::MAX), Ordering::Relaxed);
        Self {
            flow,
            signature,
            threads,
            options,
            program,
            code: None,
            workspace: Workspace::default(),
            helpers: None,
            progress,
        }
    }

    /// Makes code for the launch, where what there is does not fit, and the threads that share its loops.
    fn make(&mut self, launch: &Launch) -> Result<(), Failure> {
        if self.threads > 1 && self.helpers.is_none() {
            self.helpers = Some(Helpers::of(self.threads)?);
        }
        let Domain { i, j, k } = launch.domain;
        let given = |at: usize| {
            given(self.flow, at, self.signature, &launch.arguments, launch.domain).map(|(_, it)| it)
        };
        let shape = Shape::of(&self.program, [i, j, k], &given).ok_or(Failure::OutOfMemory)?;
        if self.code.as_ref().is_some_and(|(known, _)| *known == shape) {
            return Ok(());
        }
        let machine = Machine::new(&self.program, &shape, self.options)
            .map_err(|why| Failure::Machine(format!("the code generator refuses its input: {why}")))?;
        self.code = Some((shape, machine));
        Ok(())
    }

    /// The words of a frame, the first of which is the host's.
    fn frame(&mut self, launch: &mut Launch) -> Result<Vec<u64>, Failure> {
        let (signature, threads) = (self.signature, self.threads);
        let missing = || Failure::Machine("the code asks for an argument that was not passed".to_owned());
        let (shape, _) = self.code.as_ref().ok_or_else(missing)?;
        let n_threads = u32::try_from(threads).unwrap_or(u32::MAX);
        let bytes = shape.workspace_bytes(n_threads).ok_or(Failure::OutOfMemory)?;
        self.workspace.reserve(bytes).ok_or(Failure::OutOfMemory)?;
        let behind = |at: *mut u8, bytes: i64| at.wrapping_add(usize::try_from(bytes).unwrap_or(0));
        let mut free = self.workspace.start();
        let mut own_free = behind(behind(free, shape.shared_bytes), i64::from(BETWEEN_THREADS));
        let mut frame = vec![0_u64; 1 + self.program.arrays.len()];
        for (at, array) in self.program.arrays.iter().enumerate() {
            let address = |it: *mut c_void| it as u64;
            if array.is_own() {
                let own = &shape.arrays[at];
                let start = own.start * array.dtype.size_bytes() as i64;
                let free = if array.is_per_thread { &mut own_free } else { &mut free };
                frame[1 + at] = address(free.cast()).wrapping_add_signed(start);
                *free = behind(*free, own.bytes);
            } else if let Some((position, _)) =
                given(self.flow, at, signature, &launch.arguments, launch.domain)
            {
                let axes = match &signature.params[position].kind {
                    ParamKind::Field { axes, .. } => Some(*axes),
                    ParamKind::Scalar { .. } => None,
                };
                frame[1 + at] = match (&mut launch.arguments[position], axes) {
                    (Argument::Field(field), Some(axes)) if field.array.dtype() == array.dtype => {
                        let start = field.start(axes);
                        address(start_of(&mut field.array.elements, start))
                    }
                    (Argument::Scalar(value), None)
                        if value.dtype() == array.dtype && array.kind == ArrayKind::Scalar =>
                    {
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
    fn call(&mut self, launch: &mut Launch) -> Result<(), Failure> {
        let frame = self.frame(launch)?;
        let helpers = self.helpers.as_ref();
        let Some((_, machine)) = &self.code else { return Ok(()) };
        let begun = Instant::now();
        let moments = Mutex::new(vec![0.0]);
        let progress = |done: usize| {
            let now = milliseconds(begun.elapsed());
            moments.lock().unwrap_or_else(PoisonError::into_inner).push(now);
            self.progress.done.store(i64::try_from(done).unwrap_or(i64::MAX), Ordering::Relaxed);
        };
        let team = helpers.map(|it| it as &dyn Team);
        // SAFETY: the code was made for the shape of this launch, whose arrays `bind` checked: each holds every element
        // that the domain and the stencil's extents reach, and run-time indices are guarded by the code. The launch is
        // lent for this call alone, its arrays are distinct, and the frame was made for as many threads as these.
        let run = || unsafe { machine.run(frame, team, progress) };
        let raised = match helpers {
            Some(helpers) => helpers.during(run),
            None => run(),
        };
        self.progress.set_moments(moments.into_inner().unwrap_or_else(PoisonError::into_inner));
        match raised {
            None => Ok(()),
            Some(Raised { cell: [k, j, i], statement, .. }) => Err(Failure::Trap {
                message: "an index that is computed here leaves its field, or a `while` does not end"
                    .to_owned(),
                statement,
                cell: [i, j, k],
            }),
        }
    }
}
