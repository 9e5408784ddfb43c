//! Measures a class on all back ends in turn, round after round, beside copying as much memory.

use std::cell::Cell;
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use isobar_classes::opened::ProgramChoice;
use isobar_compiler::call::run::NoControl;
use isobar_protocol::bench::{BackendMeasurement, Benchmark, Samples, gigabytes_per_second};
use isobar_protocol::job::{EndReason, EventKind};
use isobar_protocol::report::MeasuredStep;
use isobar_protocol::request::Bench;
use isobar_runtime::copying::Copiers;

use super::super::bench::{Rounds, same_bits};
use super::{ClassOn, End, ReadyClass, Tell, begin, code, ended, given, ready, unknown_backend};
use crate::backends::Backends;
use crate::backends::events::{Event, milliseconds};
use crate::problems;
use crate::translate;
use crate::wire::Order;

/// A back end with a program that it runs.
struct Contestant {
    name: String,
    ready: Vec<MeasuredStep>,
    class: ReadyClass,
    first_ms: f64,
    ms: Vec<f64>,
}

/// Runs a class on each back end once in each round. Back ends that make one piece of code of several calls run it once
/// more, with the code of each stencil alone.
pub(in super::super) fn measure(
    order: &Order,
    (backends, bench): (&Backends, &Bench),
    choice: &ProgramChoice,
    npz: Option<Vec<u8>>,
    tell: Tell<'_>,
) -> Result<(), End> {
    let all = backends.all_of(&order.request).map_err(|_| unknown_backend())?;
    if !bench.axes().is_empty() {
        let why = "layouts are measured of stencils, and this is a program: choose one of its stencils";
        return Err(End(EndReason::Error, Some(problems::CALL_REFUSED.problem(why))));
    }
    let fields = given(order, npz, tell)?;
    let bytes_there = Cell::new(0);
    let mut contestants = Vec::new();
    for &backend in &all {
        let joins = code(order, backend).is_some_and(|it| it.joins_calls());
        for joins_calls in [true, false].into_iter().filter(|it| *it || joins) {
            let steps = Mutex::new(Vec::new());
            let sink = |event: Event| match event {
                Event::Timing { step, ms, bytes } => {
                    let mut steps = steps.lock().unwrap_or_else(PoisonError::into_inner);
                    steps.push(MeasuredStep { step: step.to_owned(), ms, bytes });
                }
                other => tell(translate::event(other), None),
            };
            let class = ClassOn { choice, backend, joins_calls };
            let made = ready(order, class, fields.clone(), (&bytes_there, &sink), tell)?;
            let scope = if joins_calls { "" } else { ", one by one" };
            contestants.push(Contestant {
                name: format!("{}{scope}", backend.name()),
                ready: steps.into_inner().unwrap_or_else(PoisonError::into_inner),
                class: made,
                first_ms: 0.0,
                ms: Vec::new(),
            });
        }
    }
    let Some(first) = contestants.first() else { return Err(unknown_backend()) };
    let (name, domain) = (first.class.run.signature().name.clone(), first.class.run.domain());
    let bytes = first.class.run.signature().compulsory_bytes(domain);
    let rounds = bench.rounds.unwrap_or(Bench::ROUNDS).clamp(1, Bench::MOST_ROUNDS);
    let progress = Rounds::new(rounds, 1, tell);
    let mut copiers = Copiers::new(bytes, order.threads);
    begin(order, &all)?;
    for it in &mut contestants {
        it.first_ms = call(it, tell)?;
    }
    let mut copies = Vec::new();
    for round in 1..=rounds {
        // Each comes first in some rounds, and behind each of the others.
        contestants.rotate_left(1);
        for it in &mut contestants {
            let ms = call(it, tell)?;
            it.ms.push(ms);
        }
        copies.push(milliseconds(copiers.copy()));
        progress.over(0, round);
    }
    let n = contestants.len();
    contestants.rotate_right(rounds as usize % n);
    let copy = Samples::of(copies).unwrap_or_default();
    let mut launches = Vec::new();
    let mut measured = Vec::new();
    for it in contestants {
        let calls = Samples::of(it.ms).unwrap_or_default();
        launches.push(it.class.run.into_launch().1);
        measured.push(BackendMeasurement {
            backend: it.name,
            ready: it.ready,
            first_ms: it.first_ms,
            gb_per_s: gigabytes_per_second(bytes, calls.median_ms),
            of_copy: (bytes > 0 && calls.median_ms > 0.0).then(|| copy.median_ms / calls.median_ms),
            on_device: None,
            steps: Vec::new(),
            tuned: None,
            layouts: Vec::new(),
            calls,
        });
    }
    let benchmark = Benchmark {
        stencil: name,
        domain: [domain.i, domain.j, domain.k],
        threads: order.threads,
        mode: order.request.options.mode,
        rounds,
        bytes,
        backends: measured,
        copy,
        agree: launches.windows(2).all(|it| same_bits(&it[0], &it[1])),
    };
    tell(EventKind::Benchmark { benchmark: Box::new(benchmark) }, None);
    Ok(())
}

fn call(it: &mut Contestant, tell: Tell<'_>) -> Result<f64, End> {
    let begun = Instant::now();
    it.class.advance(&mut NoControl).map_err(|it| ended(it, tell))?;
    Ok(milliseconds(begun.elapsed()))
}
