//! Calls that go slab by slab: some rows along j, with all of their columns.
//!
//! A column solver along k has its lanes along i, so fields of NumPy are copied into rows for it. Copied whole, each field
//! crosses memory twice more. Where no row along j hands anything on to another one, a call does the same for some rows
//! after the others: their copies stay in a cache, and memory sees what has to be moved and no more. Slabs do not see each
//! other either, so each thread takes some.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use isobar_compiler::backend::launch::{Argument, Launch};
use isobar_compiler::backend::signature::{Param, ParamKind, Signature};
use isobar_compiler::inputs::Workers;
use isobar_compiler::schedule::analysis::cost::Machine;
use isobar_compiler::space::{Axis, Domain, Side};
use isobar_compiler::tree::Tree;
use isobar_compiler::tree::nodes::Node;

use super::blocks::Way;
use super::copies::{Given, Move, layout};
use super::{copied_outlines, outline, own};
use crate::events::{self, Layout};
use crate::executors::pool::Near;
use crate::executors::{Caller, Code, Failure, Progress};

/// So many times as fast as memory is the cache in which the copies of a slab are.
const CACHE: f64 = 4.0;

/// Whether a stencil may be called slab by slab: no row along j reads what another one writes, and none is told apart
/// from others by where it lies.
pub(super) fn may_be(signature: &Signature, tree: &Tree) -> bool {
    let is_fit = |it: &Param| match &it.kind {
        ParamKind::Field { axes, .. } if it.access.is_written() => {
            axes.has(Axis::J) && it.kind.halo(Axis::J) == (0, 0)
        }
        ParamKind::Field { .. } | ParamKind::Scalar { .. } => true,
    };
    let mut is_alike = true;
    for node in &tree.children {
        node.walk(&mut |it| {
            is_alike &= !matches!(it, Node::Region(it) if it.region.j != Side::default());
        });
    }
    is_alike && signature.params.iter().all(is_fit)
}

/// How a call goes slab by slab.
#[derive(Clone, Debug)]
pub(super) struct Slabs {
    /// Of one slab.
    domain: Domain,
    /// The copies of the first one, by position among the arguments.
    moves: Vec<Option<Move>>,
    /// The same for all of them.
    all: Vec<Vec<Option<Move>>>,
}

impl Slabs {
    /// The slabs of a call, so that the copies of one take no more than so many bytes where that can be; none where it
    /// would be one alone.
    pub(super) fn of(params: &[Param], launch: &Launch, bytes: u64) -> Option<Self> {
        let n = launch.domain.j;
        let of_row: u64 = moves(params, launch, (0, 1))?.iter().flatten().map(|it| it.bytes() as u64).sum();
        let most = i64::try_from(bytes / of_row.max(1)).unwrap_or(i64::MAX).clamp(1, n);
        // All of one size, for which there is one code.
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
        are_alike.then(|| Self { domain: Domain { j: rows, ..launch.domain }, moves: first, all })
    }

    /// What a call takes, in nanoseconds of one core: each element crosses memory once and a cache twice, where arithmetic
    /// finds it.
    pub(super) fn time(&self, operations: f64, machine: &Machine) -> f64 {
        let of_one: f64 = self.moves.iter().flatten().map(|it| it.bytes() as f64 * it.times()).sum();
        let bytes = of_one * self.all.len() as f64;
        (1.0 + 2.0 / CACHE) * bytes / machine.bytes_per_ns + operations / machine.operations_per_ns
    }

    /// How the fields of a call lie, and what is made of that.
    pub(super) fn layout(&self, params: &[Param], arguments: &[Argument]) -> Layout {
        let mut layout = layout(params, arguments, events::Way::Copied, &self.moves);
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

/// What is copied of all fields for a slab that begins at a row, and has so many.
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

/// What one thread has for slabs.
struct Own {
    caller: Box<dyn Caller>,
    launch: Launch,
}

/// What is kept from one call slab by slab to the next.
#[derive(Default)]
pub(super) struct Kept {
    moves: Vec<Option<Move>>,
    threads: Vec<Own>,
}

impl Kept {
    /// Calls slab by slab, as many at a time as there are threads; `code` is for one thread.
    pub(super) fn run(
        &mut self,
        slabs: &Slabs,
        launch: &mut Launch,
        (code, near): (&Arc<dyn Code>, &Near),
        progress: &Progress,
    ) -> Result<(), Failure> {
        if self.moves != slabs.moves {
            *self = Self::default();
            for _ in 0..near.threads().min(slabs.all.len()) {
                let fields = own::fields(&slabs.moves)?;
                let arguments = fields.into_iter().map(|it| it.map_or(Argument::Unused, Argument::Field));
                let launch = Launch { domain: slabs.domain, arguments: arguments.collect() };
                self.threads.push(Own { caller: Arc::clone(code).caller(), launch });
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
        let given: Vec<Option<Given>> = launch.arguments.iter_mut().map(Given::of).collect();
        let n_threads = self.threads.len();
        let shared = Shared { slabs, n_threads, given, next: AtomicUsize::new(0), ended: Mutex::default() };
        let shared = &shared;
        let work = self.threads.iter_mut().map(|own| Box::new(move || shared.take_part(own, progress)) as _);
        near.all(work.collect());
        let ended = shared.ended.lock().unwrap_or_else(PoisonError::into_inner);
        progress.set_steps(&ended.step_ms);
        match &ended.failure {
            Some((_, why)) => Err(why.clone()),
            None => Ok(()),
        }
    }
}

/// What the threads of a call share.
struct Shared<'a> {
    slabs: &'a Slabs,
    n_threads: usize,
    given: Vec<Option<Given>>,
    /// The slab that nobody has begun yet.
    next: AtomicUsize,
    ended: Mutex<Ended>,
}

/// What came of slabs.
#[derive(Default)]
struct Ended {
    /// Of each step, as the mean of the threads.
    step_ms: Vec<f64>,
    /// The first slab that failed, and why.
    failure: Option<(usize, Failure)>,
}

impl Shared<'_> {
    fn take_part(&self, own: &mut Own, progress: &Progress) {
        let told = own.caller.progress();
        let mut step_ms: Vec<f64> = Vec::new();
        let mut is_first = true;
        loop {
            let at = self.next.fetch_add(1, Ordering::Relaxed);
            let Some(moves) = self.slabs.all.get(at) else { break };
            if self.ended.lock().unwrap_or_else(PoisonError::into_inner).failure.is_some() {
                break;
            }
            for ((it, given), copy) in moves.iter().zip(&self.given).zip(&mut own.launch.arguments) {
                // What has no rows is the same for all slabs.
                if let (Some(it), Some(given), Argument::Field(copy)) = (it, given, copy)
                    && it.is_needed()
                    && (is_first || it.has_rows())
                {
                    it.copy_alone(given, copy, Way::There);
                }
            }
            is_first = false;
            let ran = own.caller.run(&mut own.launch);
            for ((it, given), copy) in moves.iter().zip(&self.given).zip(&mut own.launch.arguments) {
                if let (Some(it), Some(given), Argument::Field(copy)) = (it, given, copy)
                    && it.is_written()
                    && (ran.is_ok() || it.is_needed())
                {
                    it.copy_alone(given, copy, Way::Back);
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
