//! Looks for a faster schedule: makes those that may be, holds each against the one that the compiler chooses, and
//! measures them in turn.

use std::cell::Cell;
use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use isobar_compiler::call::array::Elements;
use isobar_compiler::call::launch::{Argument, Launch};
use isobar_compiler::kernel;
use isobar_compiler::pass;
use isobar_compiler::pipeline::{Compilation, NoHook, ScheduleVariant};
use isobar_compiler::space::Domain;
use isobar_protocol::job::{EndReason, EventKind};
use isobar_protocol::request::{Mode, Tune};
use isobar_protocol::tune::{Candidate, Tuning};
use isobar_runtime::plans::Plans;
use rustix::time::{ClockId, clock_gettime};

use super::bench::same_bits;
use super::heats::{Times, contest};
use super::{End, StencilPlans, Tell, failed, inputs, runs, said, unknown_backend};
use crate::backends::events::{Event, Sink, milliseconds};
use crate::backends::{Backend, Executor, Failure, Prepared, RunThreads, Setting, prepare};
use crate::compile::ConfiguredProject;
use crate::problems;
use crate::translate;
use crate::tuned::For;
use crate::wire::{Order, WorkerMessage};

/// A schedule, before anybody called it.
struct Entry {
    what: String,
    document: String,
    compilation: Arc<Compilation>,
}

/// How often variants of the fastest known schedule are tried. The second generation can find, for example,
/// tiles in other merged loops, which the first cannot.
const GENERATIONS: usize = 3;

/// The parts of the time after which no more schedules are made, and after which no more are compiled. Time
/// must be left to call them.
const MADE: [f64; GENERATIONS] = [0.3, 0.7, 0.78];
const COMPILED: [f64; GENERATIONS] = [0.65, 0.75, 0.8];

/// The part of the time after which no more rounds begin: the final rounds need time too.
const MEASURED: f64 = 0.85;

pub(super) fn tune(
    order: &Order,
    tune: &Tune,
    compiled: &StencilPlans,
    npz: Option<Vec<u8>>,
    tell: Tell<'_>,
) -> Result<(), End> {
    let &[backend] = compiled.backends.as_slice() else { return Err(unknown_backend()) };
    let refuse = |why: &str| End(EndReason::Error, Some(problems::BACKEND_UNAVAILABLE.problem(why)));
    if !backend.may_be_tuned() {
        return Err(refuse("the back end has no schedule that could be another"));
    }
    // As they are given, as calls change them, and as the compiler's own schedule leaves them.
    let executors: Vec<Box<dyn Executor>> = (0..3).map(|_| backend.executor()).collect();
    let (given, memory) = inputs(order, (&compiled.source, &compiled.plans), npz, &executors, tell)?;
    tell(EventKind::Memory { memory }, None);
    let Some(signature) = &compiled.compilation().front.signature else { return Ok(()) };
    let begun = Clock::WALL.now();
    let seconds = u64::from(tune.seconds.unwrap_or(Tune::SECONDS)).min(allowed_seconds(order));
    let seconds = Duration::from_secs(seconds);
    let is_late = |part: f64| Clock::WALL.now().saturating_sub(begun) > seconds.mul_f64(part);

    let near = RunThreads::of(order.threads);
    let source = compiled.source.scheduled_for(backend);
    let mut making = Making::new(&source);
    let own = making.own().ok_or_else(|| refuse("there is no code of this stencil to measure"))?;
    let mut trial = Trial {
        order,
        backend,
        given: &given,
        work: near.copy(&given),
        expected: None,
        clock: Clock { is_of_processor: tune.processor_time && order.threads == 1 },
        is_late: &is_late,
        tell,
    };
    // Code is made until the end: where the C compiler makes it, it runs as what makes it may.
    if backend.starts_compiler() {
        said::send(&WorkerMessage::Runs, &[]);
    } else {
        runs(order, &[backend]).map_err(|failure| failed(failure, compiled.compilation(), tell))?;
    }
    let most = usize::try_from(tune.candidates.unwrap_or(Tune::CANDIDATES)).unwrap_or(usize::MAX);
    let mut entries = vec![own];
    let mut told: Vec<Candidate> = Vec::new();
    let mut best: Option<String> = None;
    for generation in 0..GENERATIONS {
        let known = entries.len();
        // A part of what may be tried is for what comes of the first.
        let left = if generation == 0 { (2 * most).div_ceil(3) } else { most - making.n_tried.min(most) };
        let Some(around) = entries.pop() else { break };
        let is_own = generation == 0;
        entries.extend(making.around(around, is_own, left, &|| is_late(MADE[generation])));
        if !is_own && entries.len() == known {
            break;
        }
        let outcome = trial.measure(&entries, COMPILED[generation], MEASURED)?;
        making.n_untried += outcome.n_untried;
        told.retain(|it| outcome.candidates.iter().all(|known| known.document != it.document));
        let chosen = outcome.chosen.map(|it| outcome.candidates[it].document.clone());
        told = outcome.candidates.into_iter().chain(told).collect();
        // Where the fastest stays the fastest, what is around it is known.
        let Some(chosen) = chosen.filter(|it| best.as_ref() != Some(it)) else { break };
        entries.retain(|it| it.document == told[0].document || it.document == chosen);
        best = Some(chosen);
    }
    // Code and arrays lie elsewhere when they are made again, which alone may be some percent: who is faster there too
    // is chosen.
    if let Some(document) = best.take() {
        entries.retain(|it| it.document == told[0].document || it.document == document);
        trial.work = near.copy(&given);
        let outcome = trial.measure(&entries, 1.0, 1.0)?;
        best = outcome.chosen.map(|_| document);
        told.retain(|it| outcome.candidates.iter().all(|known| known.document != it.document));
        told = outcome.candidates.into_iter().chain(told).collect();
    }

    let Domain { i, j, k } = given.domain;
    let (request, source, cc) = (&order.request, &compiled.source, &order.cc);
    let key = For { request, source, backend, threads: order.threads, cc, domain: given.domain }.key();
    let tuning = Tuning {
        key,
        stencil: compiled.compilation().front.stencil.clone().unwrap_or_else(|| signature.name.clone()),
        backend: backend.name().to_owned(),
        domain: [i, j, k],
        threads: order.threads,
        mode: order.request.options.mode,
        chosen: best.and_then(|best| told.iter().position(|it| it.document == best)),
        candidates: told,
        same: making.n_same,
        untried: making.n_untried,
        is_kept: false,
    };
    tell(EventKind::Tuning { tuning: Box::new(tuning) }, None);
    Ok(())
}

/// The state of making the schedules of one request.
struct Making<'a> {
    source: &'a ConfiguredProject,
    /// Documents and code that were there before.
    seen: BTreeSet<String>,
    n_tried: usize,
    n_same: u32,
    n_untried: u32,
}

impl<'a> Making<'a> {
    fn new(source: &'a ConfiguredProject) -> Self {
        Self { source, seen: BTreeSet::new(), n_tried: 0, n_same: 0, n_untried: 0 }
    }

    /// The compiler's own.
    fn own(&mut self) -> Option<Entry> {
        let mut source = self.source.clone();
        source.config.passes.schedule = None;
        source.config.passes.steps = true;
        let compilation = source.compile(&mut NoHook);
        let (document, text) = compilation.schedule_document().zip(code(&compilation))?;
        self.seen.extend([document.clone(), text]);
        Some(Entry { what: "as the compiler chooses".to_owned(), document, compilation })
    }

    /// A schedule, and so many others that are made from it and differ in their code from all before.
    fn around(&mut self, known: Entry, is_own: bool, most: usize, is_late: &dyn Fn() -> bool) -> Vec<Entry> {
        let passes = &self.source.config.passes;
        let variants = match (&passes.machine, passes.gpu) {
            // Each is made from nothing, so that there are no others around it.
            (_, Some(gpu)) if passes.device == pass::Device::Gpu && is_own => Compilation::gpu_variants(&gpu),
            (Some(machine), _) if passes.device == pass::Device::Cpu => {
                known.compilation.schedule_variants(machine)
            }
            _ => Vec::new(),
        };
        let before = if is_own { String::new() } else { format!("{}; ", known.what) };
        let mut found = vec![known];
        let n = variants.len();
        for (at, variant) in variants.into_iter().enumerate() {
            if found.len() > most || is_late() {
                // Around another one, most of them are what they were around the first.
                if is_own {
                    self.n_untried += u32::try_from(n - at).unwrap_or(u32::MAX);
                }
                break;
            }
            // A variant that cannot be carried out is skipped.
            let Some(document) = carried_out(self.source, &variant) else { continue };
            if !self.seen.insert(document.clone()) {
                self.n_same += u32::from(is_own);
                continue;
            }
            // The measured schedule is made from the document alone, because the document is kept.
            let mut source = self.source.with_schedule(&document);
            source.config.passes.steps = true;
            let compilation = source.compile(&mut NoHook);
            let Some(text) = code(&compilation).filter(|_| !compilation.has_errors()) else { continue };
            if self.seen.insert(text) {
                self.n_tried += 1;
                found.push(Entry { what: format!("{before}{}", variant.what), document, compilation });
            } else {
                self.n_same += 1;
            }
        }
        found
    }
}

/// Calls schedules, all with the same arrays.
struct Trial<'a> {
    order: &'a Order,
    backend: Backend,
    given: &'a Launch,
    work: Launch,
    expected: Option<Launch>,
    clock: Clock,
    /// Whether such a part of the time is over.
    is_late: &'a dyn Fn(f64) -> bool,
    tell: Tell<'a>,
}

/// The results of some schedules.
struct Outcome {
    /// The first of them first, then the others from the fastest on.
    candidates: Vec<Candidate>,
    chosen: Option<usize>,
    n_untried: u32,
}

impl Trial<'_> {
    /// Compares all schedules with the first, and measures them in turn. Nothing new is compiled and no round
    /// begins after these parts of the time.
    fn measure(
        &mut self,
        entries: &[Entry],
        compiled_until: f64,
        measured_until: f64,
    ) -> Result<Outcome, End> {
        let tell = self.tell;
        let sink = |event: Event| {
            if let Event::Log { .. } | Event::Layout(_) = event {
                tell(translate::event(event), None);
            }
        };
        let mut contestants: Vec<Contestant> = Vec::new();
        let mut candidates: Vec<Candidate> = Vec::new();
        let mut n_untried = 0;
        for (at, entry) in entries.iter().enumerate() {
            if at > 1 && (self.is_late)(compiled_until) {
                n_untried = u32::try_from(entries.len() - at).unwrap_or(u32::MAX);
                break;
            }
            tell(EventKind::Progress { done: at as u64, total: entries.len() as u64 }, None);
            let prepared = match self.called_once(entry, &sink) {
                Ok(prepared) => prepared,
                Err(failure) if at == 0 => return Err(failed(failure, &entry.compilation, tell)),
                // It cannot stand in the place of the compiler's own, which did not end so; who finds no memory has no
                // other results for that.
                Err(failure) => {
                    candidates.push(entry.candidate(!matches!(failure, Failure::Trap { .. })));
                    continue;
                }
            };
            let agrees = match &self.expected {
                None => {
                    self.expected = Some(self.work.clone());
                    true
                }
                Some(expected) => {
                    self.order.request.options.mode == Mode::Fast || same_bits(expected, &self.work)
                }
            };
            if agrees {
                contestants.push(Contestant { candidate: candidates.len(), prepared });
            }
            candidates.push(entry.candidate(agrees));
        }
        let times = self
            .contest(&mut contestants, measured_until)
            .map_err(|it| failed(it, &entries[0].compilation, tell))?;
        let (candidates, chosen) = ranked(candidates, &contestants, &times);
        Ok(Outcome { candidates, chosen, n_untried })
    }

    /// Makes a schedule ready, and calls it once with the arrays as they were given.
    fn called_once(&mut self, entry: &Entry, sink: Sink<'_>) -> Result<Prepared, Failure> {
        // Most are for nobody, and so for no cache.
        let setting = Setting { cache: None, ..self.order.setting() };
        let mut prepared =
            prepare(&*self.backend.executor(), &Plans::of(Arc::clone(&entry.compilation)), setting, sink)?;
        prepared.fit(self.given, sink)?;
        restore(&mut self.work, self.given);
        prepared.run(&mut self.work)?;
        Ok(prepared)
    }

    fn contest(&mut self, contestants: &mut [Contestant], until: f64) -> Result<Times, Failure> {
        let (clock, given, is_late) = (self.clock, self.given, self.is_late);
        let is_on_gpu = self.backend.is_on_gpu();
        let work = &mut self.work;
        let is_first = Cell::new(true);
        let begin = || {
            is_first.set(true);
            !is_late(until)
        };
        contest(contestants.len(), begin, |it| {
            if is_first.replace(false) {
                restore(work, given);
            }
            let prepared = &mut contestants[it].prepared;
            // The first call finds the arrays as another one left them in the caches.
            prepared.run(work)?;
            let begun = clock.now();
            prepared.run(work)?;
            let by_host = milliseconds(clock.now().saturating_sub(begun));
            // The transfer to and from a GPU is the same for all schedules, so it does not count.
            let on_device: f64 = if is_on_gpu { prepared.progress().step_ms().iter().sum() } else { 0.0 };
            Ok(if on_device > 0.0 { on_device } else { by_host })
        })
    }
}

/// The time for the search. A process that is killed at the end of its time reports nothing, so the search
/// ends a little earlier.
fn allowed_seconds(order: &Order) -> u64 {
    let cores = order.request.passes.machine.as_ref().map_or(1, |it| it.cores);
    let allowed = order.processor_seconds / u64::from(order.threads.max(cores).max(1));
    allowed.saturating_sub(10).max(1)
}

impl Entry {
    fn candidate(&self, agrees: bool) -> Candidate {
        let (what, document) = (self.what.clone(), self.document.clone());
        Candidate { what, calls: None, ratio: None, agrees, document }
    }
}

/// The schedule document that a variant results in.
fn carried_out(source: &ConfiguredProject, variant: &ScheduleVariant) -> Option<String> {
    let mut source = source.with_schedule(&variant.document);
    let passes = &mut source.config.passes;
    passes.steps = true;
    passes.skip.extend(variant.skip.iter().map(|&it| it.to_owned()));
    if variant.machine.is_some() {
        passes.machine.clone_from(&variant.machine);
    }
    passes.gpu = variant.gpu.or(passes.gpu);
    passes.gpu_form = variant.gpu_form;
    let made = source.compile(&mut NoHook);
    made.schedule_document().filter(|_| !made.has_errors())
}

/// The code that distinguishes schedules: all back ends carry out the same program, and all GPUs the same
/// kernels.
fn code(compilation: &Compilation) -> Option<String> {
    match compilation.c() {
        Some(it) => Some(it.listing.text.clone()),
        None => compilation.kernels().map(|it| kernel::print::listing(it).text),
    }
}

/// A schedule that can be called.
struct Contestant {
    /// Its position among the candidates.
    candidate: usize,
    prepared: Prepared,
}

/// The candidates as they are told, and which of them is the fastest.
fn ranked(
    mut candidates: Vec<Candidate>,
    contestants: &[Contestant],
    times: &Times,
) -> (Vec<Candidate>, Option<usize>) {
    for (at, it) in contestants.iter().enumerate() {
        let candidate = &mut candidates[it.candidate];
        (candidate.calls, candidate.ratio) = (times.calls(at), times.ratio(at));
    }
    let mut places: Vec<usize> =
        std::iter::once(0).chain(times.ranking()).map(|it| contestants[it].candidate).collect();
    let chosen = times.fastest().map(|it| contestants[it].candidate);
    // Behind them those that nobody may choose.
    places.extend((0..candidates.len()).filter(|it| contestants.iter().all(|known| known.candidate != *it)));
    let chosen = chosen.and_then(|it| places.iter().position(|place| *place == it));
    (places.into_iter().map(|it| candidates[it].clone()).collect(), chosen)
}

/// Gives arrays their elements again, where they are.
fn restore(work: &mut Launch, given: &Launch) {
    for both in work.arguments.iter_mut().zip(&given.arguments) {
        if let (Argument::Field(to), Argument::Field(from)) = both {
            copy(&mut to.array.elements, &from.array.elements);
        }
    }
}

fn copy(to: &mut Elements, from: &Elements) {
    match (to, from) {
        (Elements::Bool(to), Elements::Bool(from)) => to.copy_from_slice(from),
        (Elements::Int8(to), Elements::Int8(from)) => to.copy_from_slice(from),
        (Elements::Int16(to), Elements::Int16(from)) => to.copy_from_slice(from),
        (Elements::Int32(to), Elements::Int32(from)) => to.copy_from_slice(from),
        (Elements::Int64(to), Elements::Int64(from)) => to.copy_from_slice(from),
        (Elements::Float32(to), Elements::Float32(from)) => to.copy_from_slice(from),
        (Elements::Float64(to), Elements::Float64(from)) => to.copy_from_slice(from),
        // They are of one signature.
        (to, from) => to.clone_from(from),
    }
}

/// That of the wall, or of the processor, which stands while others have it.
#[derive(Clone, Copy)]
struct Clock {
    is_of_processor: bool,
}

impl Clock {
    const WALL: Clock = Clock { is_of_processor: false };

    fn now(self) -> Duration {
        let now =
            clock_gettime(if self.is_of_processor { ClockId::ProcessCPUTime } else { ClockId::Monotonic });
        let seconds = u64::try_from(now.tv_sec).unwrap_or_default();
        Duration::new(seconds, u32::try_from(now.tv_nsec).unwrap_or_default())
    }
}
