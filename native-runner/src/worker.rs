//! `isobar worker` — the process of one job: takes an order on standard input, tells what happens on
//! standard output, and dies with the runner that started it.

use std::io::{Read, Write};
use std::process::ExitCode;
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use isobar_compiler::backend::array::{Array, Elements};
use isobar_compiler::backend::launch::{Argument, Launch};
use isobar_compiler::backend::signature::Signature;
use isobar_compiler::diag::Severity;
use isobar_compiler::pipeline::{self, Compilation, Hook};
use isobar_protocol::diagnostic::{Diagnostic, Places};
use isobar_protocol::field::{FieldInfo, Statistics};
use isobar_protocol::job::{EndReason, EventKind};
use isobar_protocol::problem::{LimitHit, Problem};
use rustix::process::{
    Resource, Rlimit, Signal, kill_current_process_group, set_parent_process_death_signal, setrlimit,
};
use rustix::thread::set_no_new_privs;
use serde::Serialize;

use crate::compile::{self, STACK_BYTES, Source, milliseconds};
use crate::error::count;
use crate::executors::steps::{self, Sink, Step, step};
use crate::executors::{Backend, Failure};
use crate::plan::{self, Refusal};
use crate::problems;
use crate::wire::{self, Order};

/// Room for this program itself, the C compiler, and the stacks of threads, beside what a job may have.
const OWN_BYTES: u64 = 2 * 1024 * 1024 * 1024;
const THREAD_BYTES: u64 = 96 * 1024 * 1024;
const OPEN_FILES: u64 = 256;
/// No file that a job writes is larger: C text and compiled code.
const FILE_BYTES: u64 = 256 * 1024 * 1024;

/// Works on one order.
#[must_use]
pub fn main() -> ExitCode {
    // The runner's end is noticed twice: by this signal, and by the end of standard input below.
    let _ = set_parent_process_death_signal(Some(Signal::KILL));
    let mut stdin = std::io::stdin();
    let Ok((order, npz)) = wire::read::<Order>(&mut stdin) else { return ExitCode::from(2) };
    confine(&order);
    std::thread::spawn(move || {
        // Nothing more is ever sent: this returns when the runner is gone.
        let _ = stdin.read(&mut [0]);
        let _ = kill_current_process_group(Signal::KILL);
    });
    let out = Mutex::new(std::io::stdout());
    let tell = |event: EventKind, bytes: &[u8]| write(&out, &event, bytes);
    let begun = Instant::now();
    let ended = compile::on_large_stack(|| work(&order, &npz, &tell)).unwrap_or_else(|panic| {
        let report = crate::random::hex(8);
        // The runner writes it to its log, under this name.
        let _ = writeln!(std::io::stderr(), "report {report}: {panic}");
        let mut problem = problems::INTERNAL.problem("the compiler or the run crashed");
        problem.report_id = Some(report);
        End(EndReason::Error, Some(problem))
    });
    tell(EventKind::Timing { name: "total".to_owned(), ms: milliseconds(begun.elapsed()), bytes: None }, &[]);
    tell(EventKind::Ended { reason: ended.0, problem: ended.1 }, &[]);
    ExitCode::SUCCESS
}

/// Limits that hold for this process and all that it starts.
fn confine(order: &Order) {
    // No program that is started from here gets rights that this one has not.
    let _ = set_no_new_privs(true);
    let threads = u64::from(order.threads).saturating_mul(THREAD_BYTES);
    let memory = order.memory_bytes.saturating_add(OWN_BYTES).saturating_add(threads);
    for (resource, most) in [
        (Resource::As, memory.saturating_add(STACK_BYTES as u64)),
        (Resource::Cpu, order.processor_seconds),
        (Resource::Nofile, OPEN_FILES),
        (Resource::Fsize, FILE_BYTES),
        (Resource::Core, 0),
    ] {
        // A lower limit that is there already stays.
        let _ = setrlimit(resource, Rlimit { current: Some(most), maximum: Some(most) });
    }
}

fn write<T: Serialize>(out: &Mutex<std::io::Stdout>, event: &T, bytes: &[u8]) {
    let mut out = out.lock().unwrap_or_else(PoisonError::into_inner);
    // Where nobody listens any more, nobody needs the work either.
    if wire::write(&mut *out, event, bytes).is_err() {
        let _ = kill_current_process_group(Signal::KILL);
    }
}

type Tell<'a> = &'a (dyn Fn(EventKind, &[u8]) + Sync);

struct End(EndReason, Option<Problem>);

fn work(order: &Order, npz: &[u8], tell: Tell<'_>) -> End {
    let request = &order.request;
    let Ok(backend) = Backend::of(request) else {
        return End(
            EndReason::Error,
            Some(problems::BACKEND_UNAVAILABLE.problem("the back end is not known")),
        );
    };
    let source = Source::of(request);
    let sink = |event: EventKind| tell(event, &[]);
    let mut levels = Levels { sink: &sink, open: None };
    let compilation = source.compile(&mut levels);
    levels.close();
    let places = Places::new(compilation.sources());
    for diagnostic in &compilation.diagnostics {
        tell(EventKind::Diagnostic { diagnostic: places.diagnostic(diagnostic) }, &[]);
    }
    if compilation.has_errors() {
        let errors = compilation.diagnostics.iter().filter(|it| it.severity == Severity::Error).count();
        let problem = problems::COMPILE_FAILED
            .problem(format!("the stencil does not compile: {}", count(errors, "error")));
        return End(EndReason::Error, Some(problem));
    }

    if compilation.stencil.is_none() {
        tell(EventKind::Diagnostic { diagnostic: compile::no_stencil(request) }, &[]);
        return End(EndReason::Error, Some(problems::COMPILE_FAILED.problem("there is no stencil to run")));
    }

    let executor = backend.executor();
    let prepared = step("inputs", &sink, || {
        let npz = order.has_fields.then_some(npz);
        let (bytes, threads) = (order.memory_bytes, order.threads);
        plan::launch(request, &source, &compilation, npz, executor.as_ref(), bytes, threads)
    });
    let mut launch = match prepared {
        Ok(launch) => launch,
        Err(Refusal::Call(found)) => {
            for diagnostic in &found {
                tell(EventKind::Diagnostic { diagnostic: places.diagnostic(diagnostic) }, &[]);
            }
            let problem = problems::CALL_REFUSED.problem("the arguments do not fit the stencil");
            return End(EndReason::Error, Some(problem));
        }
        Err(Refusal::Memory { asked, allowed }) => {
            return End(EndReason::Limit, Some(too_much(asked, allowed)));
        }
    };

    let ran = executor.prepare(&compilation, order.setting(), &sink).and_then(|mut prepared| {
        let bytes = compilation.signature.as_ref().map_or(0, |it| it.compulsory_bytes(launch.domain));
        step("fit", &sink, || prepared.fit(&launch))?;
        steps::run(prepared.as_mut(), &mut launch, bytes, &sink)
    });
    if let Err(failure) = ran {
        return failed(failure, &compilation, &places, tell);
    }
    step("fields", &sink, || send_fields(&compilation, &launch, tell));
    End(EndReason::Ok, None)
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
        let level = step.name.split('/').next().unwrap_or(step.name);
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

fn failed(failure: Failure, compilation: &Compilation, places: &Places<'_>, tell: Tell<'_>) -> End {
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
            tell(EventKind::Trap { message: detail.clone(), diagnostic: Some(diagnostic), cell }, &[]);
            End(EndReason::Trap, Some(problems::RUN_TRAPPED.problem(detail)))
        }
        Failure::Code(said) => {
            let said: String = said.chars().take(4000).collect();
            tell(EventKind::Log { text: said }, &[]);
            let problem =
                problems::CODE_GENERATION_FAILED.problem("the C compiler refused the generated code");
            End(EndReason::Error, Some(problem))
        }
        Failure::Machine(what) => End(EndReason::Error, Some(problems::BACKEND_UNAVAILABLE.problem(what))),
    }
}

fn send_fields(compilation: &Compilation, launch: &Launch, tell: Tell<'_>) {
    let Some(signature) = &compilation.signature else { return };
    for field in written(signature, launch) {
        let (info, array) = field;
        tell(EventKind::Field { field: info }, &c_order(array).to_le_bytes());
    }
}

/// The fields that the stencil may write, described.
fn written<'a>(signature: &'a Signature, launch: &'a Launch) -> impl Iterator<Item = (FieldInfo, &'a Array)> {
    signature.params.iter().zip(&launch.arguments).filter_map(|(param, argument)| {
        let (Some(axes), Argument::Field(field)) = (plan::axes_of(&param.kind), argument) else {
            return None;
        };
        if !param.access.is_written() {
            return None;
        }
        let whole = |it: i64| u64::try_from(it).unwrap_or(0);
        let data = field.array.shape.iter().skip(axes.len()).map(|&size| size as u64);
        let origin = axes.iter().map(|axis| whole(field.origin[axis.index()]));
        let origin: Vec<u64> = origin.chain(data.clone().map(|_| 0)).collect();
        let domain: Vec<u64> = axes.iter().map(|axis| whole(launch.domain.along(axis))).chain(data).collect();
        let info = FieldInfo {
            name: param.name.clone(),
            dtype: field.array.dtype().to_string(),
            axes: axes.to_string(),
            shape: field.array.shape.iter().map(|&it| it as u64).collect(),
            statistics: statistics(&field.array, &origin, &domain),
            origin,
            domain,
        };
        Some((info, &field.array))
    })
}

/// Of the compute domain; the mean is summed in C order, so that it is the same everywhere.
fn statistics(array: &Array, origin: &[u64], domain: &[u64]) -> Statistics {
    let mut found = Statistics::default();
    let (mut sum, mut n) = (0.0, 0_u32);
    let index = |it: &u64| usize::try_from(*it).unwrap_or(0);
    let start: usize = origin.iter().zip(&array.strides).map(|(at, stride)| index(at) * stride).sum();
    let sizes: Vec<usize> = domain.iter().map(index).collect();
    each(start, &sizes, &array.strides, &mut |position| {
        let value = array.elements.get(position).as_f64();
        if value.is_nan() {
            found.nan += 1;
        } else if value.is_infinite() {
            found.inf += 1;
        } else {
            found.min = Some(found.min.map_or(value, |it| it.min(value)));
            found.max = Some(found.max.map_or(value, |it| it.max(value)));
            sum += value;
            n = n.saturating_add(1);
        }
    });
    found.mean = (n > 0).then(|| sum / f64::from(n));
    found
}

/// Visits positions in C order.
fn each(start: usize, sizes: &[usize], strides: &[usize], visit: &mut impl FnMut(usize)) {
    match (sizes, strides) {
        ([], _) | (_, []) => visit(start),
        (&[size], &[stride]) => (0..size).for_each(|at| visit(start + at * stride)),
        (&[size, ref sizes @ ..], &[stride, ref strides @ ..]) => {
            (0..size).for_each(|at| each(start + at * stride, sizes, strides, visit));
        }
    }
}

/// The elements in C order.
fn c_order(array: &Array) -> Elements {
    fn gather<T: Copy>(from: &[T], array: &Array) -> Vec<T> {
        let mut out = Vec::with_capacity(array.shape.iter().product());
        each(0, &array.shape, &array.strides, &mut |position| out.push(from[position]));
        out
    }
    match &array.elements {
        Elements::Bool(it) => Elements::Bool(gather(it, array)),
        Elements::Int8(it) => Elements::Int8(gather(it, array)),
        Elements::Int16(it) => Elements::Int16(gather(it, array)),
        Elements::Int32(it) => Elements::Int32(gather(it, array)),
        Elements::Int64(it) => Elements::Int64(gather(it, array)),
        Elements::Float32(it) => Elements::Float32(gather(it, array)),
        Elements::Float64(it) => Elements::Float64(gather(it, array)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use isobar_compiler::types::{DType, Value};

    #[test]
    fn c_order_and_statistics_follow_the_strides() {
        let mut array = Array::zeros(DType::Float64, &[2, 3]);
        for (n, index) in array.indices().enumerate() {
            let position = array.position(&index);
            array.elements.set(position, Value::Float64(n as f64));
        }
        array.elements.set(array.position(&[1, 1]), Value::Float64(f64::NAN));
        assert_eq!(c_order(&array).to_le_bytes(), array.to_c_order_le_bytes());
        let found = statistics(&array, &[0, 1], &[2, 2]);
        assert_eq!((found.min, found.max, found.nan, found.inf), (Some(1.0), Some(5.0), 1, 0));
        assert_eq!(found.mean, Some((1.0 + 2.0 + 5.0) / 3.0));
    }
}
