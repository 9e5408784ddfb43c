//! Looks for a faster schedule: makes those that may be, holds each against the one that the compiler chooses, and
//! measures them in turn.

use std::cell::Cell;
use std::collections::BTreeSet;
use std::fs;
use std::sync::Arc;
use std::time::Duration;

use isobar_compiler::backend::array::Elements;
use isobar_compiler::backend::launch::{Argument, Launch};
use isobar_compiler::pipeline::{Compilation, Variant};
use isobar_compiler::space::Domain;
use isobar_protocol::job::{EndReason, EventKind};
use isobar_protocol::report::TunedEntry;
use isobar_protocol::request::{Mode, Tune};
use isobar_protocol::tune::{Candidate, Tuned, Tuning};
use rustix::time::{ClockId, clock_gettime};

use super::bench::same_bits;
use super::heats::{Times, contest};
use super::{Compiled, End, Tell, failed, inputs, unknown_backend};
use crate::compile::{self, Source, milliseconds};
use crate::executors::{Backend, Executor, Failure, Prepared, Setting};
use crate::problems;
use crate::tuned::{self, For, Kept};
use crate::wire::Order;

/// A schedule, before anybody called it.
struct Entry {
    what: String,
    document: String,
    compilation: Arc<Compilation>,
}

/// What is tried, and what is not.
struct Entries {
    /// The compiler's own first.
    all: Vec<Entry>,
    same: u32,
    untried: u32,
}

pub(super) fn tune(
    order: &Order,
    tune: &Tune,
    compiled: &Compiled,
    npz: Option<Vec<u8>>,
    tell: Tell<'_>,
) -> Result<(), End> {
    let backend = Backend::of(&order.request).map_err(|_| unknown_backend())?;
    if !backend.follows_schedules() {
        let problem =
            problems::BACKEND_UNAVAILABLE.problem("the back end has no schedule that could be another");
        return Err(End(EndReason::Error, Some(problem)));
    }
    // As they are given, as calls change them, and as the compiler's own schedule leaves them.
    let executors: Vec<Box<dyn Executor>> = (0..3).map(|_| backend.executor()).collect();
    let (given, memory) = inputs(order, compiled, npz, &executors, tell)?;
    tell(EventKind::Memory { memory }, None);
    let Some(signature) = &compiled.compilation.signature else { return Ok(()) };
    let clock = Clock { is_of_processor: tune.processor_time && order.threads == 1 };
    let begun = Clock::WALL.now();
    let seconds =
        Duration::from_secs(u64::from(tune.seconds.unwrap_or(Tune::SECONDS)).min(allowed_seconds(order)));
    // What is made must be called too.
    let is_late = |part: f64| Clock::WALL.now().saturating_sub(begun) > seconds.mul_f64(part);

    let most = usize::try_from(tune.candidates.unwrap_or(Tune::CANDIDATES)).unwrap_or(usize::MAX);
    let Entries { all: entries, same, mut untried } = entries(&compiled.source, most, &|| is_late(0.3));
    let sink = |event: EventKind| {
        if let EventKind::Log { .. } = event {
            tell(event, None)
        }
    };
    let mut contestants: Vec<Contestant<'_>> = Vec::new();
    let mut candidates: Vec<Candidate> = Vec::new();
    let (mut work, mut expected) = (given.clone(), None);
    for (at, entry) in entries.iter().enumerate() {
        if at > 0 && is_late(0.6) {
            untried += u32::try_from(entries.len() - at).unwrap_or(u32::MAX);
            break;
        }
        tell(EventKind::Progress { done: at as u64, total: entries.len() as u64 }, None);
        let prepared = prepare(order, backend, entry, (at, &given), &sink).and_then(|mut prepared| {
            restore(&mut work, &given);
            prepared.run(&mut work)?;
            Ok(prepared)
        });
        let prepared = match prepared {
            Ok(prepared) => prepared,
            Err(failure) if at == 0 => return Err(failed(failure, &entry.compilation, tell)),
            // What traps or finds no memory otherwise than the compiler's own cannot stand in its place.
            Err(_) => {
                candidates.push(entry.candidate(None));
                continue;
            }
        };
        let agrees = match &expected {
            None => {
                expected = Some(work.clone());
                true
            }
            Some(expected) => order.request.options.mode == Mode::Fast || same_bits(expected, &work),
        };
        if agrees {
            contestants.push(Contestant { candidate: candidates.len(), prepared });
        }
        candidates.push(entry.candidate(Some(agrees)));
    }

    let is_first = Cell::new(true);
    let begin = || {
        is_first.set(true);
        !is_late(1.0)
    };
    let times = contest(contestants.len(), begin, |it| {
        if is_first.replace(false) {
            restore(&mut work, &given);
        }
        let prepared = &mut contestants[it].prepared;
        // The first call finds the arrays as another one left them in the caches.
        prepared.run(&mut work)?;
        let begun = clock.now();
        prepared.run(&mut work)?;
        Ok(milliseconds(clock.now().saturating_sub(begun)))
    });
    let times = times.map_err(|failure| failed(failure, &compiled.compilation, tell))?;
    let (candidates, chosen) = ranked(candidates, &contestants, &times);
    drop(contestants);

    let Domain { i, j, k } = given.domain;
    let (request, source, cc) = (&order.request, &compiled.source, &order.cc);
    let key = For { request, source, backend, threads: order.threads, cc, domain: given.domain }.key();
    let mut tuning = Tuning {
        key,
        stencil: signature.name.clone(),
        backend: backend.name().to_owned(),
        domain: [i, j, k],
        threads: order.threads,
        mode: order.request.options.mode,
        candidates,
        same,
        untried,
        chosen,
        is_kept: false,
    };
    keep(order, &mut tuning, tell);
    tell(EventKind::Tuning { tuning: Box::new(tuning) }, None);
    Ok(())
}

/// What is killed at the end of its time finds nothing: a little before it nothing new is begun.
fn allowed_seconds(order: &Order) -> u64 {
    let cores = order.request.passes.machine.as_ref().map_or(1, |it| it.cores);
    let allowed = order.processor_seconds / u64::from(order.threads.max(cores).max(1));
    allowed.saturating_sub(10).max(1)
}

impl Entry {
    /// Nothing is known of its results where it could not be called.
    fn candidate(&self, agrees: Option<bool>) -> Candidate {
        let (what, document) = (self.what.clone(), self.document.clone());
        Candidate { what, calls: None, ratio: None, agrees: agrees != Some(false), document }
    }
}

/// Schedules that differ in the code that comes of them, the compiler's own first.
fn entries(source: &Source, most: usize, is_late: &dyn Fn() -> bool) -> Entries {
    let mut own = source.clone();
    own.config.passes.schedule = None;
    own.config.passes.steps = true;
    let chosen = own.compile(&mut isobar_compiler::pipeline::NoHook);
    let mut found = Entries { all: Vec::new(), same: 0, untried: 0 };
    let Some((document, text)) = chosen.schedule_document().zip(code(&chosen)) else { return found };
    let mut seen: BTreeSet<String> = [document.clone(), text].into();
    let machine = own.config.passes.machine.clone();
    let variants = machine.map(|it| chosen.schedule_variants(&it)).unwrap_or_default();
    found.all.push(Entry { what: "as the compiler chooses".to_owned(), document, compilation: chosen });
    let n = variants.len();
    for (at, variant) in variants.into_iter().enumerate() {
        if found.all.len() > most || is_late() {
            found.untried = u32::try_from(n - at).unwrap_or(u32::MAX);
            break;
        }
        // One that cannot be carried out is none.
        let Some(document) = carried_out(&own, &variant) else { continue };
        if !seen.insert(document.clone()) {
            found.same += 1;
            continue;
        }
        // What is measured is what is kept: the document alone.
        let compilation = source.with_schedule(&document).compile(&mut isobar_compiler::pipeline::NoHook);
        let Some(text) = code(&compilation).filter(|_| !compilation.has_errors()) else { continue };
        if seen.insert(text) {
            found.all.push(Entry { what: variant.what, document, compilation });
        } else {
            found.same += 1;
        }
    }
    found
}

/// The document of what comes of a variant.
fn carried_out(own: &Source, variant: &Variant) -> Option<String> {
    let mut source = own.with_schedule(&variant.document);
    let passes = &mut source.config.passes;
    passes.steps = true;
    passes.skip.extend(variant.skip.iter().map(|&it| it.to_owned()));
    if variant.machine.is_some() {
        passes.machine.clone_from(&variant.machine);
    }
    let made = source.compile(&mut isobar_compiler::pipeline::NoHook);
    made.schedule_document().filter(|_| !made.has_errors())
}

/// What tells schedules apart: all back ends carry out the same program.
fn code(compilation: &Compilation) -> Option<String> {
    compile::artifact(compilation).map(|it| it.listing.text.clone())
}

/// A schedule that can be called.
struct Contestant<'a> {
    /// Its position among the candidates.
    candidate: usize,
    prepared: Box<dyn Prepared + 'a>,
}

fn prepare<'a>(
    order: &Order,
    backend: Backend,
    entry: &'a Entry,
    (at, given): (usize, &Launch),
    sink: &(dyn Fn(EventKind) + Sync),
) -> Result<Box<dyn Prepared + 'a>, Failure> {
    // Each has a folder: of two libraries with one path only the first would be loaded. Most are for nobody, and so
    // for no cache.
    let temporary = order.temporary.join(format!("candidate-{at}"));
    fs::create_dir_all(&temporary).map_err(|error| Failure::Machine(error.to_string()))?;
    let setting = Setting { cache: None, temporary: &temporary, ..order.setting() };
    let mut prepared = backend.executor().prepare(&entry.compilation, setting, sink)?;
    prepared.fit(given, sink)?;
    Ok(prepared)
}

/// The candidates as they are told, and which of them is the fastest.
fn ranked(
    mut candidates: Vec<Candidate>,
    contestants: &[Contestant<'_>],
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

/// Keeps what was chosen; where nothing was, what was kept before is no longer right.
fn keep(order: &Order, tuning: &mut Tuning, tell: Tell<'_>) {
    let Some(root) = &order.cache else { return };
    let median = |it: &Candidate| it.calls.as_ref().map_or(0.0, |it| it.median_ms);
    let done = match tuning.chosen {
        None => tuned::forget(root, &tuning.key).map_err(|error| error.to_string()),
        Some(chosen) => {
            let candidate = &tuning.candidates[chosen];
            let tuned = Tuned {
                key: tuning.key.clone(),
                backend: tuning.backend.clone(),
                what: candidate.what.clone(),
                domain: tuning.domain,
                ms: median(candidate),
                default_ms: median(&tuning.candidates[0]),
            };
            let entry = TunedEntry { stencil: tuning.stencil.clone(), threads: order.threads, tuned };
            tuned::keep(root, &Kept { entry, document: candidate.document.clone() })
        }
    };
    match done {
        Ok(()) => tuning.is_kept = tuning.chosen.is_some(),
        Err(why) => tell(EventKind::Log { text: format!("the schedule is not kept: {why}") }, None),
    }
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
