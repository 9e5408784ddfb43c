//! `isobar worker`: the process of one job. It takes an order on standard input, reports on standard output,
//! and dies with the runner that started it.

mod again;
mod bench;
mod classes;
mod copies;
mod heats;
mod ready;
mod said;
mod send;
mod steps;
mod tune;

use std::io::Write;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Instant;

use isobar_compiler::call::array::Array;
use isobar_compiler::call::launch::Launch;
use isobar_compiler::call::signature::Signature;
use isobar_compiler::diag::Severity;
use isobar_compiler::pass::{self, GpuModel, StepKind};
use isobar_compiler::pipeline::{self, Compilation, Hook};
use isobar_compiler::space::{Axis, Domain};
use isobar_protocol::bench::Memory;
use isobar_protocol::diagnostic::{Diagnostic, SpanResolver};
use isobar_protocol::job::{EndReason, EventKind};
use isobar_protocol::layout::{Layout, StrideHandling};
use isobar_protocol::problem::{LimitHit, Problem};
use isobar_protocol::request::{PlaneAt, Results};
use isobar_protocol::tune::Tuned;
use isobar_protocol::worker::Across;
use isobar_runtime::cache;
use isobar_runtime::executors::watch;
use isobar_runtime::plans::Plans;
use isobar_runtime::wanted::FetchSelection;
use rustix::process::{
    Resource, Rlimit, Signal, kill_current_process_group, set_parent_process_death_signal, setrlimit,
};
use rustix::thread::{set_name, set_no_new_privs};

use crate::backends::events::{Event, Sink, Step, milliseconds, step};
use crate::backends::{Backend, Backends, Executor, Failure, prepare};
use crate::compile::{self, ConfiguredProject, STACK_BYTES};
use crate::confine::{self, Attempt, Confined, Needs};
use crate::error::count;
use crate::plan::{self, Callable, LaunchResources, Refusal};
use crate::problems;
use crate::translate;
use crate::tuned::{self, For};
use crate::wire::{self, Order, WorkerMessage};
use again::Again;
use copies::{ON_GPU, device_copy_rate, tell_copy_rate};
use ready::ReadyStencil;
use steps::{steps_of, timed};

/// Room for this program itself, the C compiler, and the stacks of threads, beside what a job may have.
const OWN_BYTES: u64 = 2 * 1024 * 1024 * 1024;
const THREAD_BYTES: u64 = 96 * 1024 * 1024;
const OPEN_FILES: u64 = 256;
/// No file that a job writes is larger: C text and compiled code.
const FILE_BYTES: u64 = 256 * 1024 * 1024;

/// Processes and threads beside those that work: the compilers'.
const OTHERS: u64 = 64;

/// Works on one order, with these back ends.
#[must_use]
pub fn main(backends: &Backends) -> ExitCode {
    // The runner's end is noticed twice: by this signal, and by the end of standard input below.
    let _ = set_parent_process_death_signal(Some(Signal::KILL));
    // No program that is started from here gets rights that this one has not.
    let _ = set_no_new_privs(true);
    if confine::let_go().is_err() {
        return ExitCode::from(2);
    }
    let alone = confine::alone();
    let is_alone = alone.is_ok();
    let mut stdin = std::io::stdin();
    let Ok((order, npz)) = wire::read::<Order>(&mut stdin) else { return ExitCode::from(2) };
    // As much of it as the system takes.
    let name: String = format!("job {}", order.job).chars().take(15).collect();
    let _ = std::ffi::CString::new(name).map(|it| set_name(&it));
    limit(&order, backends, is_alone);
    let needs = needs(&order, backends);
    let sees_itself = !needs.has_gpu || confine::sees_itself();
    let mut confined = confine::making(&needs, is_alone);
    confined.note(confine::NAMESPACE, alone);
    if let Err(why) = confined.keeps(&order.promised) {
        let reason = EndReason::Error;
        said::event(EventKind::Ended { reason, problem: Some(unconfined(&why)) }, None);
        return ExitCode::SUCCESS;
    }
    std::thread::spawn(said::watch);
    cache::hand_over(|handed, code| said::send(&WorkerMessage::Entry(handed), code.unwrap_or_default()));
    if order.compiles {
        // It was asked before whether all stages are known.
        let texts = backends.wanted(&order.request).unwrap_or_default();
        said::send(&WorkerMessage::Compiled(Box::new(compile::here(&order.request, &texts))), &[]);
        return ExitCode::SUCCESS;
    }
    // Known before anything runs: later nobody may ask the machine.
    let _ = cache::processor();
    let tell = |event: EventKind, field: Option<&Array>| said::event(event, field);
    let begun = Instant::now();
    let job = || if sees_itself { work(&order, backends, npz, &tell) } else { no_own_processes() };
    let ended = compile::on_large_stack(job).unwrap_or_else(|panic| {
        let report = crate::random::hex(8);
        // The runner writes it to its log, under this name.
        let _ = writeln!(std::io::stderr(), "report {report}: {panic}");
        let mut problem = problems::INTERNAL.problem("the compiler or the run crashed");
        problem.report_id = Some(report);
        End(EndReason::Error, Some(problem))
    });
    tell(
        EventKind::Timing { name: "total".to_owned(), ms: milliseconds(begun.elapsed()), bytes: None },
        None,
    );
    tell(EventKind::Ended { reason: ended.0, problem: ended.1 }, None);
    ExitCode::SUCCESS
}

/// Tests in this process which parts of the sandbox the machine allows.
fn probe() -> Confined {
    let is_alone = confine::alone();
    let folder = std::env::temp_dir();
    let needs = Needs { folder: &folder, read: Vec::new(), has_gpu: false, has_compiler: false };
    let _ = set_no_new_privs(true);
    let mut confined = confine::making(&needs, is_alone.is_ok());
    confined.note(confine::NAMESPACE, is_alone);
    confined.note(confine::WHILE_RUNNING, confine::running(false));
    confined
}

/// Tells what holds a job here, as a document.
#[must_use]
pub fn tell_probe() -> ExitCode {
    match serde_json::to_writer(std::io::stdout(), &probe()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) => ExitCode::from(2),
    }
}

/// Tries a way out of a job's process, as the runner asks it to.
#[must_use]
pub fn tell_attempt(name: &str, target: &str, is_held: bool) -> ExitCode {
    match Attempt::named(name) {
        Some(attempt) => {
            confine::attempt(attempt, target, is_held);
            ExitCode::SUCCESS
        }
        None => ExitCode::from(2),
    }
}

/// Drivers of GPUs fail without a word that helps.
fn no_own_processes() -> End {
    let why = "the driver of a GPU looks for its threads in `/proc`, and this machine allows a job in its PID namespace \
        none of its own, as where parts of `/proc` are covered: see the runner's page on deploying";
    End(EndReason::Error, Some(problems::BACKEND_UNAVAILABLE.problem(why)))
}

/// The paths and tools that an order's process needs while its code is made.
fn needs<'a>(order: &'a Order, backends: &Backends) -> Needs<'a> {
    let asked = backends.all_of(&order.request).unwrap_or_default();
    Needs {
        folder: &order.temporary,
        read: order.readable.clone(),
        has_gpu: asked.iter().any(|it| it.is_on_gpu()),
        has_compiler: !order.compiles && asked.iter().any(|it| it.starts_compiler()),
    }
}

/// From now on code runs that was made here.
///
/// # Errors
///
/// Where a promised part of the sandbox fails. Where nothing was promised, as when `isobar run` started it,
/// the process goes on.
fn runs(order: &Order, backends: &[Backend]) -> Result<(), Failure> {
    said::send(&WorkerMessage::Runs, &[]);
    let mut confined = Confined::default();
    confined.note(confine::WHILE_RUNNING, confine::running(backends.iter().any(|it| it.is_on_gpu())));
    confined.keeps(&order.promised).map_err(|why| Failure::Machine(format!("{UNCONFINED} ({why})")))
}

/// The message for a job that would run without a promised part of the sandbox.
const UNCONFINED: &str =
    "the process of this job is not confined as this runner promises, so nothing of it ran";

fn unconfined(why: &str) -> Problem {
    problems::BACKEND_UNAVAILABLE.problem(format!("{UNCONFINED} ({why})"))
}

/// Ends this process and all that it started.
fn stop() -> ! {
    if !confine::is_running() {
        let _ = kill_current_process_group(Signal::KILL);
    }
    confine::end()
}

/// Limits that hold for this process and all that it starts.
fn limit(order: &Order, backends: &Backends, is_alone: bool) {
    let threads = u64::from(order.threads).saturating_mul(THREAD_BYTES);
    let memory = order.memory_bytes.saturating_add(OWN_BYTES).saturating_add(threads);
    // Drivers of GPUs reserve more addresses than there is memory, and start nothing where they get none: what counts is
    // memory that is written.
    let is_on_device = backends.all_of(&order.request).is_ok_and(|all| all.iter().any(|it| it.is_on_gpu()));
    let of_memory = if is_on_device { Resource::Data } else { Resource::As };
    for (resource, most) in [
        (of_memory, memory.saturating_add(STACK_BYTES as u64)),
        (Resource::Cpu, order.processor_seconds),
        (Resource::Nofile, OPEN_FILES),
        (Resource::Fsize, FILE_BYTES),
        (Resource::Core, 0),
        // Where it is alone, others of this user do not count.
        (
            Resource::Nproc,
            if is_alone { u64::from(order.threads).saturating_mul(4) + OTHERS } else { u64::MAX },
        ),
    ] {
        // A lower limit that is there already stays.
        let _ = setrlimit(resource, Rlimit { current: Some(most), maximum: Some(most) });
    }
}

/// Tells the runner; of a field, with its array.
type Tell<'a> = &'a (dyn Fn(EventKind, Option<&Array>) + Sync);

struct End(EndReason, Option<Problem>);

fn work(order: &Order, backends: &Backends, npz: Vec<u8>, tell: Tell<'_>) -> End {
    let npz = order.has_fields.then_some(npz);
    let Order { request, .. } = order;
    let class = compile::program_of(request);
    let done = match (&request.tune, &request.bench) {
        _ if class.is_none() && request.halo.is_some() => {
            let why = "a stencil has no exchanges: `halo` is for programs";
            Err(End(EndReason::Error, Some(problems::CALL_REFUSED.problem(why))))
        }
        (tune, bench) if class.is_some() => match class {
            Some(choice) if tune.is_none() => match bench {
                Some(bench) => classes::measure(order, (backends, bench), &choice, npz, tell),
                None => classes::run(order, backends, &choice, npz, tell),
            },
            _ => Err(classes::no_tuning()),
        },
        (Some(tune), _) => {
            compiled(order, backends, tell).and_then(|it| tune::tune(order, tune, &it, npz, tell))
        }
        (None, Some(bench)) => {
            compiled(order, backends, tell).and_then(|it| bench::measure(order, bench, &it, npz, tell))
        }
        (None, None) => run(order, backends, npz, tell),
    };
    match done {
        Ok(()) => End(EndReason::Ok, None),
        Err(end) => end,
    }
}

/// A stencil without errors.
struct StencilPlans {
    source: ConfiguredProject,
    plans: Arc<Plans>,
    /// The back ends to measure, or the one that runs.
    backends: Vec<Backend>,
}

impl StencilPlans {
    fn compilation(&self) -> &Arc<Compilation> {
        self.plans.compilation()
    }

    /// The plans for a back end. Where it has another GPU than the first one, the stencil is compiled once more.
    fn plans_for(&self, backend: Backend) -> Arc<Plans> {
        let known = self.source.config.passes.gpu;
        match found_gpu(&self.source, &[backend]).filter(|it| known != Some(*it)) {
            None => Arc::clone(&self.plans),
            Some(gpu) => {
                let mut source = self.source.clone();
                source.config.passes.gpu = Some(gpu);
                let plans = Plans::of(source.compile(&mut pipeline::NoHook));
                make_ready(&[backend], &plans, &|_| ());
                plans
            }
        }
    }
}

/// The GPU that the first of these back ends runs on which has one; none where the request names a GPU.
fn found_gpu(source: &ConfiguredProject, backends: &[Backend]) -> Option<GpuModel> {
    let is_free = source.config.passes.device == pass::Device::Cpu;
    let on_gpu = backends.iter().filter(|it| is_free && it.is_on_gpu());
    on_gpu.filter_map(|it| it.executor().device()?.model()).next()
}

/// Compiles the stencil of the request, and tells what is to be said of it.
fn compiled(order: &Order, backends: &Backends, tell: Tell<'_>) -> Result<StencilPlans, End> {
    let request = &order.request;
    let backends = backends.all_of(request).map_err(|_| unknown_backend())?;
    let mut source = ConfiguredProject::of(request);
    if let Some(gpu) = found_gpu(&source, &backends) {
        source.config.passes.gpu = Some(gpu);
    }
    // A document for these is one of launches.
    if source.config.passes.schedule.is_some() && backends.iter().all(|it| it.is_on_gpu()) {
        source.config.passes.device = pass::Device::Gpu;
    }
    let sink = |event: Event| tell(translate::event(event), None);
    let mut levels = Levels { sink: &sink, open: None };
    let compilation = source.compile(&mut levels);
    levels.close();
    let places = SpanResolver::new(compilation.front.sources());
    for diagnostic in &compilation.notes.diagnostics {
        tell(EventKind::Diagnostic { diagnostic: places.diagnostic(diagnostic) }, None);
    }
    if compilation.has_errors() {
        let errors = compilation.notes.diagnostics.iter().filter(|it| it.severity == Severity::Error).count();
        let problem = problems::COMPILE_FAILED
            .problem(format!("the stencil does not compile: {}", count(errors, "error")));
        return Err(End(EndReason::Error, Some(problem)));
    }
    if compilation.front.stencil.is_none() {
        tell(EventKind::Diagnostic { diagnostic: compile::no_stencil(request) }, None);
        let problem = problems::COMPILE_FAILED.problem("there is no stencil to run");
        return Err(End(EndReason::Error, Some(problem)));
    }
    let plans = Plans::of(compilation);
    make_ready(&backends, &plans, &sink);
    Ok(StencilPlans { source, plans, backends })
}

/// Makes what back ends start from and the compiler makes only for who asks, each as a step.
fn make_ready(backends: &[Backend], plans: &Arc<Plans>, sink: Sink<'_>) {
    for (backend, artifact) in backends.iter().filter_map(|it| Some((it, it.artifact()?))) {
        let handle = ready::handle(plans, &*backend.executor());
        step(artifact.step, sink, || (artifact.make)(&handle));
    }
}

/// Makes or reads the inputs, and finds out what the run needs.
fn inputs(
    order: &Order,
    (source, stencil): (&ConfiguredProject, &dyn Callable),
    npz: Option<Vec<u8>>,
    executors: &[Box<dyn Executor>],
    tell: Tell<'_>,
) -> Result<(Launch, Memory), End> {
    let sink = |event: Event| tell(translate::event(event), None);
    let room = room(order, executors);
    let planned = step("inputs", &sink, || plan::launch(&order.request, source, stencil, npz, &room));
    let plan::Planned { launch, memory, read } =
        planned.map_err(|refusal| refused(order, refusal, stencil, tell))?;
    if let Some(found) = read {
        let layout =
            Layout { way: StrideHandling::Read, there_bytes: 0, back_bytes: 0, ..translate::layout(found) };
        tell(EventKind::Layout { layout }, None);
    }
    Ok((launch, memory))
}

fn room<'a>(order: &Order, executors: &'a [Box<dyn Executor>]) -> LaunchResources<'a> {
    LaunchResources {
        executors,
        threads: order.threads,
        allowed_bytes: order.memory_bytes,
        has_copies: order.request.bench.is_some(),
        layouts: order.request.bench.as_ref().map_or(0, |it| it.axes().len()),
        asks: said::ask,
    }
}

/// Tells why the run does not begin.
fn refused(order: &Order, refusal: Refusal, stencil: &dyn Callable, tell: Tell<'_>) -> End {
    match refusal {
        Refusal::Call(found) => {
            let places = SpanResolver::new(stencil.compilation().front.sources());
            for diagnostic in &found {
                tell(EventKind::Diagnostic { diagnostic: places.diagnostic(diagnostic) }, None);
            }
            let problem = problems::CALL_REFUSED.problem("the arguments do not fit the stencil");
            End(EndReason::Error, Some(problem))
        }
        Refusal::Memory { asked, allowed } => End(EndReason::Limit, Some(too_much(asked, allowed))),
        Refusal::Unmade => {
            let why = match &order.request.passes.stop_after {
                Some(last) => format!(
                    "the compilation was told to stop after `{last}`, where there is nothing yet that could run"
                ),
                None => "the stencil was not compiled as far as the back end needs it".to_owned(),
            };
            End(EndReason::Error, Some(problems::COMPILE_FAILED.problem(why)))
        }
    }
}

fn unknown_backend() -> End {
    End(EndReason::Error, Some(problems::BACKEND_UNAVAILABLE.problem("the back end is not known")))
}

fn run(order: &Order, backends: &Backends, npz: Option<Vec<u8>>, tell: Tell<'_>) -> Result<(), End> {
    let all = backends.all_of(&order.request).map_err(|_| unknown_backend())?;
    let &[backend] = all.as_slice() else { return Err(unknown_backend()) };
    let executors = [backend.executor()];
    let ready = ReadyStencil::of(order, backends, &*executors[0], tell)?;
    let (source, stencil) = (&ready.source, &ready.plans as &dyn Callable);
    let again = Again::of(order, (source, stencil), backend, npz.as_ref());
    let (mut launch, mut memory) = inputs(order, (source, stencil), npz, &executors, tell)?;
    let sink = |event: Event| tell(translate::event(event), None);
    let tuned = with_kept(order, source, backend, launch.domain, tell);
    if let Some((other, _)) = &tuned {
        memory = plan::needed(other, &launch, &room(order, &executors))
            .map_err(|refusal| refused(order, refusal, other, tell))?;
    }
    let tuned = tuned.map(|(other, tuned)| {
        tell(EventKind::Tuned { tuned }, None);
        other
    });
    tell(EventKind::Memory { memory }, None);
    let plans = tuned.as_ref().unwrap_or(&ready.plans);
    let stencil: &dyn Callable = plans;
    let Some(signature) = &stencil.signature(&*executors[0]) else { return Ok(()) };
    let wanted = wanted(order.request.results.as_ref(), signature, launch.domain)?;
    let bytes = signature.compulsory_bytes(launch.domain);
    let [executor] = executors;
    let device = executor.device();
    // Before code of a client runs here, which could say anything after that.
    if device.is_none() && backend.nears_copying() && bytes > 0 {
        tell_copy_rate(order, memory.asked_bytes(), tell);
    }
    let prepared = prepare(&*executor, plans, order.setting(), &sink);
    let ran = prepared.and_then(|mut prepared| {
        prepared.fit(&launch, &sink)?;
        if device.is_some() {
            // The time of a call does not include the transfer of its fields.
            step("upload", &sink, || prepared.keep(&launch))?;
        }
        let on_host = if device.is_some() { 0 } else { bytes };
        runs(order, &[backend])?;
        watch::run(&mut prepared, &mut launch, on_host, &sink)?;
        let step_ms = prepared.progress().step_ms();
        if device.is_some() {
            if !step_ms.is_empty() {
                sink(Event::Timing { step: ON_GPU, ms: step_ms.iter().sum(), bytes: Some(bytes) });
            }
            step("download", &sink, || prepared.fetch(&mut launch, &wanted))?;
        }
        // Interpreters tell none.
        if !step_ms.is_empty() {
            let steps =
                timed(tuned.as_ref().map_or(ready.steps, |it| steps_of(it.compilation())), &[step_ms]);
            if !steps.is_empty() {
                tell(EventKind::Steps { steps }, None);
            }
        }
        Ok(())
    });
    if let Err(failure) = ran {
        // There may be no memory for both.
        drop(launch);
        return Err(failed(again.in_words_of_debug(failure), stencil.compilation(), tell));
    }
    step("fields", &sink, || send::fields(signature, &launch, &wanted, tell));
    drop(launch);
    if let Some(device) = device.filter(|_| bytes > 0)
        && let Some(copy) = device_copy_rate(&*device, tell)
    {
        tell(EventKind::Copy { copy }, None);
    }
    Ok(())
}

/// The part of the fields that is answered.
fn wanted(results: Option<&Results>, signature: &Signature, domain: Domain) -> Result<FetchSelection, End> {
    let Some(results) = results else { return Ok(FetchSelection::default()) };
    let refused = |why: String| End(EndReason::Error, Some(problems::CALL_REFUSED.problem(why)));
    let written = || signature.params.iter().enumerate().filter(|(_, it)| it.access.is_written());
    let position = |name: &String| {
        let found = written().find(|(_, it)| it.name == *name).map(|it| it.0);
        found.ok_or_else(|| {
            let known: Vec<String> = written().map(|(_, it)| format!("`{}`", it.name)).collect();
            refused(format!("`{name}` is no field that the stencil writes; it writes {}", known.join(", ")))
        })
    };
    let arguments = results.fields.as_ref().map(|them| them.iter().map(position).collect()).transpose()?;
    let plane = results.plane.map(|PlaneAt { across, at }| {
        let (axis, name) = match across {
            Across::I => (Axis::I, "i"),
            Across::J => (Axis::J, "j"),
            Across::K => (Axis::K, "k"),
        };
        let points = domain.along(axis);
        let at = i64::try_from(at).ok().filter(|it| *it < points);
        at.map(|at| (axis, at)).ok_or_else(|| {
            refused(format!(
                "the domain has {points} points along {name}, and no plane there; the first is 0"
            ))
        })
    });
    Ok(FetchSelection { arguments, plane: plane.transpose()? })
}

/// The stencil with the schedule that was stored for it, where there is one.
fn with_kept(
    order: &Order,
    source: &ConfiguredProject,
    backend: Backend,
    domain: Domain,
    tell: Tell<'_>,
) -> Option<(Arc<Plans>, Tuned)> {
    let (request, cc) = (&order.request, &order.cc);
    let root = order.cache.as_ref().filter(|_| tuned::is_wanted(request, backend))?;
    let key = For { request, source, backend, threads: order.threads, cc, domain }.key();
    let kept = tuned::find(root, &key)?;
    let sink = |event: Event| tell(translate::event(event), None);
    let plans = step("kept schedule", &sink, || {
        let source = source.scheduled_for(backend).with_schedule(&kept.document);
        let plans = Plans::of(source.compile(&mut pipeline::NoHook));
        make_ready(&[backend], &plans, &|_| ());
        plans
    });
    // The compiler was another one when it was kept. That is no error of this run.
    if plans.compilation().has_errors() {
        let text = "a schedule was kept for this stencil and cannot be followed any more; tune it again";
        sink(Event::Log { text: text.to_owned() });
        return None;
    }
    Some((plans, kept.entry.tuned))
}

/// Tells the levels of a compilation as steps; passes count to their level.
struct Levels<'a> {
    sink: Sink<'a>,
    open: Option<Step<'a>>,
}

impl Levels<'_> {
    fn close(&mut self) {
        if let Some(step) = self.open.take() {
            step.end();
        }
    }
}

impl Hook for Levels<'_> {
    fn begin(&mut self, step: pipeline::Step) {
        let level = match step.kind {
            StepKind::Door | StepKind::Pipeline => step.name,
            // These lie within a pipeline, which has begun.
            StepKind::Pass | StepKind::Analysis => return,
        };
        if self.open.as_ref().is_none_or(|it| it.name != level) {
            self.close();
            self.open = Some(Step::begin(level, self.sink));
        }
    }
}

fn too_much(asked: u64, allowed: u64) -> Problem {
    problems::DOMAIN_TOO_LARGE
        .problem("the fields and temporaries of the run need more memory than it may have")
        .with_limit(LimitHit::new("memory", allowed, asked, "bytes"))
}

fn failed(failure: Failure, compilation: &Compilation, tell: Tell<'_>) -> End {
    let places = SpanResolver::new(compilation.front.sources());
    match failure {
        Failure::Cancelled => {
            End(EndReason::Cancelled, Some(problems::CANCELLED.problem("the run was cancelled")))
        }
        Failure::OutOfMemory => {
            let problem =
                problems::DOMAIN_TOO_LARGE.problem("there was no memory for the temporaries of the run");
            End(EndReason::Limit, Some(problem))
        }
        Failure::Trap { message, statement, cell: [i, j, k] } => {
            let detail = format!("{message}, at i={i}, j={j}, k={k}");
            let mut diagnostic =
                Diagnostic::without_place("R01", detail.clone(), "correct the index or the condition");
            if let Some(span) = compile::span_of(compilation, statement) {
                (diagnostic.file, diagnostic.start, diagnostic.end) = places.of(span);
                diagnostic.label = "stopped here".to_owned();
            }
            let cell = Some([i, j, k]);
            tell(EventKind::Trap { message: detail.clone(), diagnostic: Some(diagnostic), cell }, None);
            End(EndReason::Trap, Some(problems::RUN_TRAPPED.problem(detail)))
        }
        Failure::Code(said) => {
            let said: String = said.chars().take(4000).collect();
            tell(EventKind::Log { text: said }, None);
            let problem =
                problems::CODE_GENERATION_FAILED.problem("the C compiler refused the generated code");
            End(EndReason::Error, Some(problem))
        }
        Failure::Machine(what) => End(EndReason::Error, Some(problems::BACKEND_UNAVAILABLE.problem(what))),
    }
}
