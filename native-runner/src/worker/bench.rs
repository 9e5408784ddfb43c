//! Measures: all back ends in turn, round after round, beside copying as much memory.

mod layouts;

use std::cell::Cell;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use isobar_compiler::call::array::{Array, Elements};
use isobar_compiler::call::launch::{Argument, Launch};
use isobar_compiler::pipeline::Compilation;
use isobar_compiler::space::Domain;
use isobar_protocol::bench::{BackendMeasurement, Benchmark, OnDevice, Samples, gigabytes_per_second};
use isobar_protocol::job::EventKind;
use isobar_protocol::report::MeasuredStep;
use isobar_protocol::request::Bench;
use isobar_protocol::tune::Tuned;
use isobar_runtime::Device;
use isobar_runtime::copying::Copiers;
use isobar_runtime::plans::Plans;

use isobar_runtime::wanted::FetchSelection;

use super::copies::device_copy_rate;
use super::steps::graph_steps;
use super::{End, StencilPlans, Tell, failed, inputs, refused, room, runs, with_kept};
use crate::backends::events::{Event, PROGRESS, milliseconds};
use crate::backends::{Backend, Executor, Failure, Prepared, RunThreads, Setting, prepare};
use crate::plan;
use crate::translate;
use crate::wire::Order;

/// A back end with all that it needs to be called.
struct Contestant<'a> {
    backend: Backend,
    compilation: &'a Compilation,
    /// Where it runs, if that is not the host.
    device: Option<Arc<dyn Device>>,
    ready: Vec<MeasuredStep>,
    prepared: Prepared,
    launch: Launch,
    first_ms: f64,
    ms: Vec<f64>,
    /// Of each call that counts, what its steps took.
    steps: Vec<Vec<f64>>,
    tuned: Option<Tuned>,
}

impl Contestant<'_> {
    /// Calls it once, and tells how long it took.
    fn call(&mut self) -> Result<f64, Failure> {
        let begun = Instant::now();
        self.prepared.run(&mut self.launch)?;
        Ok(milliseconds(begun.elapsed()))
    }
}

pub(super) fn measure(
    order: &Order,
    bench: &Bench,
    compiled: &StencilPlans,
    npz: Option<Vec<u8>>,
    tell: Tell<'_>,
) -> Result<(), End> {
    let backends = &compiled.backends;
    let executors: Vec<Box<dyn Executor>> = backends.iter().map(|it| it.executor()).collect();
    let (launch, mut memory) = inputs(order, (&compiled.source, &compiled.plans), npz, &executors, tell)?;
    let Some(signature) = &compiled.compilation().front.signature else { return Ok(()) };
    let own: Vec<Arc<Plans>> = backends.iter().map(|&it| compiled.plans_for(it)).collect();
    let mut kept = Vec::with_capacity(backends.len());
    for &backend in backends {
        let found = with_kept(order, &compiled.source, backend, launch.domain, tell);
        if let Some((other, _)) = &found {
            let needed = plan::needed(other, &launch, &room(order, &executors))
                .map_err(|refusal| refused(order, refusal, other, tell))?;
            memory = if needed.asked_bytes() > memory.asked_bytes() { needed } else { memory };
        }
        kept.push(found);
    }
    tell(EventKind::Memory { memory }, None);
    let (domain, bytes) = (launch.domain, signature.compulsory_bytes(launch.domain));

    let near = RunThreads::of(order.threads);
    let mut contestants = Vec::with_capacity(backends.len());
    for (((&backend, executor), kept), own) in backends.iter().zip(&executors).zip(&kept).zip(&own) {
        let plans = kept.as_ref().map_or(own, |it| &it.0);
        let compilation: &Compilation = plans.compilation();
        let steps = Mutex::new(Vec::new());
        let sink = |event: Event| match event {
            Event::Timing { step, ms, bytes } => {
                let mut steps = steps.lock().unwrap_or_else(PoisonError::into_inner);
                steps.push(MeasuredStep { step: step.to_owned(), ms, bytes });
            }
            other => tell(translate::event(other), None),
        };
        // The time to compile is measured too, so the cache is not used.
        let setting = Setting { cache: None, ..order.setting() };
        let prepared = prepare(&**executor, plans, setting, &sink).and_then(|prepared| {
            prepared.fit(&launch, &sink)?;
            Ok(prepared)
        });
        let prepared = prepared.map_err(|failure| failed(failure, compilation, tell))?;
        let ready = steps.into_inner().unwrap_or_else(PoisonError::into_inner);
        let (launch, ms) = (near.copy(&launch), Vec::new());
        let (steps, tuned) = (Vec::new(), kept.as_ref().map(|it| it.1.clone()));
        let (device, first_ms) = (executor.device(), 0.0);
        let contestant =
            Contestant { backend, compilation, device, ready, prepared, launch, first_ms, ms, steps, tuned };
        contestants.push(contestant);
    }
    drop(launch);

    let rounds = bench.rounds.unwrap_or(Bench::ROUNDS).clamp(1, Bench::MOST_ROUNDS);
    let axes = bench.axes();
    let of_layouts = |it: &Contestant<'_>| !axes.is_empty() && it.backend.follows_schedules();
    let parts = 1 + contestants.iter().filter(|it| of_layouts(it)).count();
    let progress = Rounds::new(rounds, parts, tell);
    let mut copiers = Copiers::new(bytes, order.threads);
    for it in contestants.iter_mut().filter(|it| of_layouts(it)) {
        // Later nothing is compiled any more.
        layouts::fit(it, &signature.params, &axes, &near)
            .map_err(|failure| failed(failure, compiled.compilation(), tell))?;
    }
    runs(order, backends).map_err(|failure| failed(failure, compiled.compilation(), tell))?;
    let copies = called(&mut contestants, &mut copiers, &progress)
        .map_err(|failure| failed(failure, compiled.compilation(), tell))?;
    let mut agree = contestants.windows(2).all(|it| same_bits(&it[0].launch, &it[1].launch));
    let copy = Samples::of(copies).unwrap_or_default();
    let mut on_layouts = Vec::with_capacity(contestants.len());
    let mut part = 0;
    for it in &mut contestants {
        if !of_layouts(it) {
            on_layouts.push(Vec::new());
            continue;
        }
        part += 1;
        let asked = layouts::LayoutSelection { params: &signature.params, axes: &axes, near: &near };
        let (found, is_same) = layouts::measured(it, &asked, &mut copiers, (part, &progress))
            .map_err(|failure| failed(failure, compiled.compilation(), tell))?;
        agree &= is_same;
        on_layouts.push(found);
    }
    drop(copiers);
    let measured = contestants.into_iter().zip(on_layouts).map(|(it, mut layouts)| {
        for on in &mut layouts {
            on.of_copy = (bytes > 0 && on.calls.median_ms > 0.0).then(|| copy.median_ms / on.calls.median_ms);
        }
        let calls = Samples::of(it.ms).unwrap_or_default();
        let own_copy = it.device.as_ref().and_then(|device| device_copy_rate(&**device, tell));
        let of_host = || (bytes > 0 && calls.median_ms > 0.0).then(|| copy.median_ms / calls.median_ms);
        let of_copy = match (&it.device, own_copy) {
            (None, _) => of_host(),
            // The copy rate of the host is no measure for a device.
            (Some(_), own) => own.and_then(|it| it.part(bytes, calls.median_ms)),
        };
        let on_device = own_copy.and_then(|copy| {
            let told = it.steps.iter().filter(|steps| !steps.is_empty());
            OnDevice::of(told.map(|steps| steps.iter().sum()).collect(), bytes, copy)
        });
        BackendMeasurement {
            backend: it.backend.name().to_owned(),
            ready: it.ready,
            first_ms: it.first_ms,
            gb_per_s: gigabytes_per_second(bytes, calls.median_ms),
            steps: graph_steps(it.compilation, &it.steps),
            tuned: it.tuned,
            layouts,
            of_copy,
            on_device,
            calls,
        }
    });
    let Domain { i, j, k } = domain;
    let benchmark = Benchmark {
        stencil: compiled.compilation().front.stencil.clone().unwrap_or_else(|| signature.name.clone()),
        domain: [i, j, k],
        threads: order.threads,
        mode: order.request.options.mode,
        rounds,
        bytes,
        backends: measured.collect(),
        copy,
        agree,
    };
    tell(EventKind::Benchmark { benchmark: Box::new(benchmark) }, None);
    Ok(())
}

/// How far all rounds are.
pub(super) struct Rounds<'a> {
    each: u32,
    /// So many times as many rounds follow each other.
    parts: u64,
    tell: Tell<'a>,
    told: Cell<Instant>,
}

impl<'a> Rounds<'a> {
    pub(super) fn new(each: u32, parts: usize, tell: Tell<'a>) -> Self {
        Self { each, parts: parts as u64, tell, told: Cell::new(Instant::now()) }
    }

    /// A round of a part is over, counted from 1.
    pub(super) fn over(&self, part: u64, round: u32) {
        let each = u64::from(self.each);
        let (done, total) = (part * each + u64::from(round), self.parts * each);
        if done == total || self.told.get().elapsed() >= PROGRESS {
            self.told.set(Instant::now());
            (self.tell)(EventKind::Progress { done, total }, None);
        }
    }
}

/// Calls all of them once, and then in turn; answers how long each copy took.
fn called(
    contestants: &mut [Contestant<'_>],
    copiers: &mut Copiers,
    rounds: &Rounds<'_>,
) -> Result<Vec<f64>, Failure> {
    for it in contestants.iter_mut() {
        // Arrays on a device stay there for all calls.
        it.prepared.keep(&it.launch)?;
        it.first_ms = it.call()?;
    }
    let mut copies = Vec::new();
    for round in 1..=rounds.each {
        // Each comes first in some rounds, and behind each of the others.
        contestants.rotate_left(1);
        for it in contestants.iter_mut() {
            let ms = it.call()?;
            it.ms.push(ms);
            it.steps.push(it.prepared.progress().step_ms());
        }
        copies.push(milliseconds(copiers.copy()));
        rounds.over(0, round);
    }
    contestants.rotate_right(rounds.each as usize % contestants.len().max(1));
    contestants
        .iter_mut()
        .try_for_each(|it| it.prepared.fetch(&mut it.launch, &FetchSelection::default()))?;
    Ok(copies)
}

/// Whether all fields have the same bits.
pub(super) fn same_bits(one: &Launch, other: &Launch) -> bool {
    one.arguments.iter().zip(&other.arguments).all(|both| match both {
        (Argument::Field(one), Argument::Field(other)) => same_elements(&one.array, &other.array),
        _ => true,
    })
}

fn same_elements(one: &Array, other: &Array) -> bool {
    match (&one.elements, &other.elements) {
        // One NaN is as good as another.
        (Elements::Float32(one), Elements::Float32(other)) => one
            .iter()
            .zip(other.iter())
            .all(|(one, other)| one.to_bits() == other.to_bits() || one.is_nan() && other.is_nan()),
        (Elements::Float64(one), Elements::Float64(other)) => one
            .iter()
            .zip(other.iter())
            .all(|(one, other)| one.to_bits() == other.to_bits() || one.is_nan() && other.is_nan()),
        (one, other) => one == other,
    }
}
