//! Calls that go slab by slab: some rows along j, with all of their columns.
//!
//! A column solver along k has its lanes along i, so fields of NumPy are copied into rows for it. Copied
//! whole, each field crosses memory twice more. Where rows along j are independent, a call does the same for
//! some rows after the others. Their copies stay in a cache, and memory traffic is the least possible. Slabs
//! are independent as well, so each thread takes some.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use isobar_compiler::call::launch::{Argument, Launch};
use isobar_compiler::call::signature::{Param, ParamKind};
use isobar_compiler::inputs::Workers;
use isobar_compiler::schedule::analysis::cost::Machine;
use isobar_compiler::space::{Axis, Domain};

use super::blocks::CopyDirection;
use super::copies::{CallerField, Move, layout};
use super::{copied_outlines, outline, own};
use crate::events::{self, CallLayout};
use crate::executors::cancel::Cancel;
use crate::executors::pool::RunThreads;
use crate::executors::{Caller, Code, Failure, Progress};

/// The speed of the cache that holds the copies of a slab, as a multiple of that of memory.
const CACHE: f64 = 4.0;

/// How a call goes slab by slab.
#[derive(Clone, Debug)]
pub(super) struct Slabs {
    /// The domain of one slab.
    domain: Domain,
    /// The copies of the first one, by position among the arguments.
    moves: Vec<Option<Move>>,
    /// The copies of each slab.
    all: Vec<Vec<Option<Move>>>,
    /// The number of threads that are worth waking.
    most_threads: usize,
}

/// The sizes of slabs.
#[derive(Clone, Copy, Debug)]
pub(super) struct SlabSizes {
    /// The most bytes for the copies of one slab, where that can be.
    pub(super) of_slab: u64,
    /// The least bytes that each thread copies.
    pub(super) of_thread: u64,
}

impl Slabs {
    /// The slabs of a call; none where there would be only one.
    pub(super) fn of(params: &[Param], launch: &Launch, sizes: SlabSizes) -> Option<Self> {
        let n = launch.domain.j;
        let of_row: u64 = moves(params, launch, (0, 1))?.iter().flatten().map(|it| it.bytes() as u64).sum();
        let most = i64::try_from(sizes.of_slab / of_row.max(1)).unwrap_or(i64::MAX).clamp(1, n);
        // All slabs have one size, so that one code serves them.
        let rows = (1..=most).rev().find(|it| n % it == 0)?;
        if rows == n {
            return None;
        }
        let all = (0..n / rows).map(|at| moves(params, launch, (at * rows, rows)));
        let all = all.collect::<Option<Vec<_>>>()?;
        let is_like = |one: &Option<Move>, other: &Option<Move>| match (one, other) {
            (Some(one), Some(other)) => one.is_like(other),
            (one, other) => one.is_none() && other.is_none(),
        };
        let first = all.first()?.clone();
        let are_alike = all.iter().all(|it| it.iter().zip(&first).all(|(one, other)| is_like(one, other)));
        let domain = Domain { j: rows, ..launch.domain };
        let mut slabs = Self { domain, moves: first, all, most_threads: 1 };
        let most = slabs.bytes() / sizes.of_thread.max(1);
        slabs.most_threads = usize::try_from(most).unwrap_or(usize::MAX).clamp(1, slabs.all.len());
        are_alike.then_some(slabs)
    }

    /// The expected time of a call, in nanoseconds of one core. Each element crosses memory once and a cache
    /// twice, where arithmetic finds it.
    pub(super) fn time(&self, operations: f64, machine: &Machine) -> f64 {
        (1.0 + 2.0 / CACHE) * self.bytes() as f64 / machine.bytes_per_ns
            + operations / machine.operations_per_ns
    }

    /// The bytes that are copied there and back, for all slabs.
    fn bytes(&self) -> u64 {
        let times = |it: &Move| u64::from(it.is_needed()) + u64::from(it.is_written());
        let of_one: u64 = self.moves.iter().flatten().map(|it| it.bytes() as u64 * times(it)).sum();
        of_one.saturating_mul(self.all.len() as u64)
    }

    /// The layout of a call's fields, and of their copies.
    pub(super) fn layout(&self, params: &[Param], arguments: &[Argument]) -> CallLayout {
        let mut layout = layout(params, arguments, events::LayoutTreatment::Copied, &self.moves);
        let n = self.all.len() as u64;
        layout.rows = u64::try_from(self.domain.j).ok();
        for bytes in [&mut layout.there_bytes, &mut layout.back_bytes] {
            *bytes = bytes.saturating_mul(n);
        }
        layout
    }

    /// The launch of one slab, without elements.
    pub(super) fn launch(&self, arguments: &[Argument]) -> Launch {
        Launch { domain: self.domain, arguments: copied_outlines(arguments, &self.moves) }
    }
}

/// The copies of all fields for a slab, which begins at row `first` and has `rows` rows.
fn moves(params: &[Param], launch: &Launch, (first, rows): (i64, i64)) -> Option<Vec<Option<Move>>> {
    let domain = Domain { j: rows, ..launch.domain };
    let each = params.iter().zip(&launch.arguments).map(|(param, argument)| {
        let (ParamKind::Field { axes, .. }, Argument::Field(field)) = (&param.kind, argument) else {
            return Some(None);
        };
        let mut of_slab = outline(field);
        if axes.has(Axis::J) {
            of_slab.origin[Axis::J.index()] += first;
        }
        Some(Some(Move::of((param, &Argument::Field(of_slab)), domain)?))
    });
    each.collect()
}

/// The state of one thread for slabs.
struct SlabThread {
    caller: Box<dyn Caller>,
    launch: Launch,
}

/// The state that is kept from one call slab by slab to the next.
#[derive(Default)]
pub(super) struct SlabCaller {
    moves: Vec<Option<Move>>,
    threads: Vec<SlabThread>,
}

impl SlabCaller {
    /// Calls slab by slab, as many at a time as there are threads; `code` is for one thread.
    pub(super) fn run(
        &mut self,
        slabs: &Slabs,
        launch: &mut Launch,
        (code, near): (&Arc<dyn Code>, &RunThreads),
        progress: &Progress,
    ) -> Result<(), Failure> {
        if self.moves != slabs.moves {
            *self = Self::default();
            for _ in 0..near.threads().min(slabs.most_threads) {
                let own = own::fields(&slabs.moves, usize::MAX)?;
                let arguments = own.fields.into_iter().map(|it| it.map_or(Argument::Unused, Argument::Field));
                let launch = Launch { domain: slabs.domain, arguments: arguments.collect() };
                self.threads.push(SlabThread { caller: Arc::clone(code).caller(), launch });
            }
            self.moves.clone_from(&slabs.moves);
        }
        for own in &mut self.threads {
            for (own, argument) in own.launch.arguments.iter_mut().zip(&launch.arguments) {
                if let Argument::Scalar(_) | Argument::Unused = argument {
                    own.clone_from(argument);
                }
            }
        }
        let given: Vec<Option<CallerField>> = launch.arguments.iter_mut().map(CallerField::of).collect();
        let n_threads = self.threads.len();
        let (cancel, next) = (Cancel::current(), AtomicUsize::new(0));
        let shared = SlabRun { slabs, n_threads, given, cancel, next, ended: Mutex::default() };
        let shared = &shared;
        match self.threads.as_mut_slice() {
            // No other thread is woken.
            [own] => shared.take_part(own, progress),
            all => {
                let work = all.iter_mut().map(|own| Box::new(move || shared.take_part(own, progress)) as _);
                near.all(work.collect());
            }
        }
        let ended = shared.ended.lock().unwrap_or_else(PoisonError::into_inner);
        progress.set_steps(&ended.step_ms);
        match &ended.failure {
            Some((_, why)) => Err(why.clone()),
            None => Ok(()),
        }
    }
}

/// The state that the threads of a call share.
struct SlabRun<'a> {
    slabs: &'a Slabs,
    n_threads: usize,
    given: Vec<Option<CallerField>>,
    /// The token that may end the call.
    cancel: Option<Cancel>,
    /// The first slab that no thread has begun yet.
    next: AtomicUsize,
    ended: Mutex<SlabOutcome>,
}

/// The outcome of the slabs.
#[derive(Default)]
struct SlabOutcome {
    /// The time of each step, as the mean of the threads.
    step_ms: Vec<f64>,
    /// The first slab that failed, and why.
    failure: Option<(usize, Failure)>,
}

impl SlabRun<'_> {
    fn take_part(&self, own: &mut SlabThread, progress: &Progress) {
        let told = own.caller.progress();
        let mut step_ms: Vec<f64> = Vec::new();
        let mut is_first = true;
        loop {
            let at = self.next.fetch_add(1, Ordering::Relaxed);
            let Some(moves) = self.slabs.all.get(at) else { break };
            if self.cancel.as_ref().is_some_and(Cancel::is_wanted) {
                let mut ended = self.ended.lock().unwrap_or_else(PoisonError::into_inner);
                ended.failure.get_or_insert((at, Failure::Cancelled));
                break;
            }
            if self.ended.lock().unwrap_or_else(PoisonError::into_inner).failure.is_some() {
                break;
            }
            for ((it, given), copy) in moves.iter().zip(&self.given).zip(&mut own.launch.arguments) {
                // A field without rows along j is the same for all slabs.
                if let (Some(it), Some(given), Argument::Field(copy)) = (it, given, copy)
                    && it.is_needed()
                    && (is_first || it.has_rows())
                {
                    it.copy_alone(given, copy, CopyDirection::There);
                }
            }
            is_first = false;
            let ran = own.caller.run(&mut own.launch);
            for ((it, given), copy) in moves.iter().zip(&self.given).zip(&mut own.launch.arguments) {
                if let (Some(it), Some(given), Argument::Field(copy)) = (it, given, copy)
                    && it.is_written()
                    && (ran.is_ok() || it.is_needed())
                {
                    it.copy_alone(given, copy, CopyDirection::Back);
                }
            }
            let of_slab = told.step_ms();
            step_ms.resize(step_ms.len().max(of_slab.len()), 0.0);
            step_ms.iter_mut().zip(&of_slab).for_each(|(sum, it)| *sum += it);
            progress.total.store(told.total.load(Ordering::Relaxed), Ordering::Relaxed);
            if let Err(why) = ran {
                let mut ended = self.ended.lock().unwrap_or_else(PoisonError::into_inner);
                if ended.failure.as_ref().is_none_or(|(other, _)| at < *other) {
                    ended.failure = Some((at, behind(why, at as i64 * self.slabs.domain.j)));
                }
            }
        }
        let mut ended = self.ended.lock().unwrap_or_else(PoisonError::into_inner);
        let n = ended.step_ms.len().max(step_ms.len());
        ended.step_ms.resize(n, 0.0);
        ended.step_ms.iter_mut().zip(&step_ms).for_each(|(sum, it)| *sum += it / self.n_threads as f64);
    }
}

/// The failure of a slab that begins at a row, as one of the whole call.
fn behind(failure: Failure, row: i64) -> Failure {
    match failure {
        Failure::Trap { message, statement, cell: [i, j, k] } => {
            Failure::Trap { message, statement, cell: [i, j + row, k] }
        }
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::events::Event;
    use crate::executors::rayon::Rayon;
    use crate::executors::{Relayout, Setting, prepare_compiled};
    use isobar_compiler::call::array::{Array, Elements};
    use isobar_compiler::call::launch::{Call, ScalarInput};
    use isobar_compiler::config::Config;
    use isobar_compiler::pipeline::{Compilation, NoHook, Plan, route};
    use isobar_compiler::project::Project;
    use isobar_compiler::types::{DType, Value};

    fn compiled(text: &str) -> Compilation {
        let compilation = route::compile(&Project::of_one("main.py", text), &Config::default(), &mut NoHook);
        assert!(!compilation.has_errors(), "{:?}", compilation.notes.diagnostics);
        compilation
    }

    fn may_be_of(text: &str) -> bool {
        let compilation = compiled(text);
        Plan::of(&compilation).expect("it compiles").has_rows_apart
    }

    #[test]
    fn rows_that_see_each_other_are_no_slabs() {
        let of = |body: &str| {
            may_be_of(&format!(
                "def s(a: Field[float], out: Field[float], more: Field[float]):
    with computation(FORWARD), interval(...):
        {body}
"
            ))
        };
        assert!(of("t = a[0, 1, 0] + 1.0\n        out = t[0, -2, 0]"));
        assert!(of("with horizontal(region[I[0], :]):\n            out = a"));
        // Where a row lies matters.
        assert!(!of("with horizontal(region[:, J[0]]):\n            out = a"));
    }

    /// Arrays in the order of C, whose elements are small numbers of their places.
    fn arrays(shapes: &[(&str, &[usize])]) -> Vec<(String, Array)> {
        let each = shapes.iter().map(|(name, shape)| {
            let n: usize = shape.iter().product();
            let mut elements = Elements::zeros(DType::Float64, n);
            (0..n).for_each(|at| elements.set(at, Value::Float64((at * 7 % 31) as f64 / 8.0)));
            ((*name).to_owned(), Array::from_c_order(elements, shape).expect("as many as the shape says"))
        });
        each.collect()
    }

    #[test]
    fn slabs_give_what_the_whole_gives_on_any_number_of_threads() {
        let compilation = compiled(
            "def s(a: Field[float], p: Field[IK, float], q: Field[J, float], r: Field[K, float], out: Field[float], x: float):
    with computation(FORWARD):
        with interval(0, 1):
            out = a[0, 1, 0] + p * x
        with interval(1, None):
            t = a - r
            out = out[0, 0, -1] * q + t[0, -1, 0] - t[1, 0, 0]
",
        );
        let given =
            arrays(&[("a", &[34, 14, 9]), ("p", &[33, 9]), ("q", &[12]), ("r", &[9]), ("out", &[33, 13, 9])]);
        let run = |relayout, threads| {
            let setting = Setting { relayout, threads, ..Setting::embedded() };
            let mut prepared = prepare_compiled(&Rayon, &compilation, setting, &|_| ()).unwrap();
            let told = Mutex::new(None);
            // A second call has other values.
            let results = [1.5, -0.25].map(|x| {
                let mut call = Call { domain: Some([33, 12, 9]), ..Call::default() };
                call.fields = given.iter().cloned().collect();
                call.origin.insert("a".to_owned(), vec![0, 1, 0]);
                call.scalars.insert("x".to_owned(), ScalarInput::Typed(Value::Float64(x)));
                let mut launch = compilation.front.bind(call).unwrap();
                let sink = |event| {
                    if let Event::Layout(it) = event {
                        *told.lock().unwrap() = Some(it.rows);
                    }
                };
                prepared.fit(&launch, &sink).unwrap();
                prepared.run(&mut launch).unwrap();
                let Argument::Field(found) = &launch.arguments[4] else { panic!("it is a field") };
                found.array.elements.clone()
            });
            (results, told.into_inner().unwrap().flatten())
        };
        let meant = run(Relayout::Never, 1);
        assert_eq!(meant.1, None);
        for threads in [1, 3] {
            assert_eq!(run(Relayout::Slabs, threads), (meant.0.clone(), Some(1)), "{threads} threads");
        }
    }

    #[test]
    fn a_trap_tells_its_row_and_what_was_written_stays() {
        let compilation = compiled(
            "def s(a: Field[float], n: Field[IJ, int], out: Field[float]):
    with computation(FORWARD), interval(...):
        out = a[0, 0, n]
",
        );
        let mut call = Call { domain: Some([8, 6, 4]), ..Call::default() };
        call.fields = arrays(&[("a", &[8, 6, 4]), ("out", &[8, 6, 4])]).into_iter().collect();
        let mut levels = Elements::zeros(DType::Int64, 48);
        levels.set(5 * 6 + 4, Value::Int64(100));
        let levels = Array::from_c_order(levels, &[8, 6]).expect("as many as the shape says");
        call.fields.insert("n".to_owned(), levels);
        let mut launch = compilation.front.bind(call).unwrap();
        let setting = Setting { relayout: Relayout::Slabs, ..Setting::embedded() };
        let mut prepared = prepare_compiled(&Rayon, &compilation, setting, &|_| ()).unwrap();
        let failed = prepared.run(&mut launch).unwrap_err();
        assert!(matches!(failed, Failure::Trap { cell: [5, 4, 0], .. }), "{failed:?}");
        let [Argument::Field(a), _, Argument::Field(out)] = &launch.arguments[..] else {
            panic!("they are fields")
        };
        assert_eq!(out.array.get(&[7, 3, 3]), a.array.get(&[7, 3, 3]));
    }
}
