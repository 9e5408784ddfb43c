//! The threads of runs. They also fill fields and copy them, so that memory lies near them.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use ::rayon::{ThreadPool, ThreadPoolBuilder};
use isobar_compiler::call::array::{Array, Elements};
use isobar_compiler::call::launch::{Argument, FieldArgument, Launch};
use isobar_compiler::inputs::{CallingThread, WorkItem, Workers};

use super::Failure;

/// Pieces for each thread, so that a late thread does not hold up the others.
const PIECES: usize = 4;

/// Fields of fewer bytes lie in few pages.
const LEAST_BYTES: usize = 64 * 1024;

/// The threads of runs, which also fill fields and copy them: the system gives memory where it is first
/// touched. They share pieces as they share the levels of a loop, so that the pages of a field lie near all
/// of them in turn. In both cases any thread may take any piece.
#[derive(Clone, Copy, Debug)]
pub struct RunThreads {
    threads: usize,
    is_embedded: bool,
}

impl RunThreads {
    /// The threads of runs on so many threads, which are started when they are needed.
    pub fn of(threads: u32) -> Self {
        Self { threads: usize::try_from(threads).unwrap_or(1).max(1), is_embedded: false }
    }

    /// The threads of a setting, where 0 stands for as many threads as rayon has.
    pub(super) fn beside(threads: u32, is_embedded: bool) -> Self {
        let threads = usize::try_from(threads).unwrap_or(1);
        let threads = if threads == 0 { ::rayon::current_num_threads() } else { threads };
        Self { threads, is_embedded }
    }

    /// The number of threads.
    pub(super) fn threads(&self) -> usize {
        self.threads
    }

    /// The same arguments in arrays of their own.
    pub fn copy(&self, launch: &Launch) -> Launch {
        let arguments = launch.arguments.iter().map(|it| match it {
            Argument::Field(FieldArgument { array, origin }) => {
                let Array { elements, first, shape, strides } = array;
                let (elements, shape, strides) = (self.elements(elements), shape.clone(), strides.clone());
                let array = Array { elements, first: *first, shape, strides };
                Argument::Field(FieldArgument { array, origin: *origin })
            }
            Argument::Scalar(_) | Argument::Unused => it.clone(),
        });
        Launch { domain: launch.domain, arguments: arguments.collect() }
    }

    fn elements(&self, from: &Elements) -> Elements {
        if self.threads == 1 || from.bytes() < LEAST_BYTES {
            return from.clone();
        }
        let mut to = from.zeros_like();
        match (from, &mut to) {
            (Elements::Bool(from), Elements::Bool(to)) => self.copy_in_pieces(from, to),
            (Elements::Int8(from), Elements::Int8(to)) => self.copy_in_pieces(from, to),
            (Elements::Int16(from), Elements::Int16(to)) => self.copy_in_pieces(from, to),
            (Elements::Int32(from), Elements::Int32(to)) => self.copy_in_pieces(from, to),
            (Elements::Int64(from), Elements::Int64(to)) => self.copy_in_pieces(from, to),
            (Elements::Float32(from), Elements::Float32(to)) => self.copy_in_pieces(from, to),
            (Elements::Float64(from), Elements::Float64(to)) => self.copy_in_pieces(from, to),
            (from, to) => to.clone_from(from),
        }
        to
    }

    fn copy_in_pieces<T: Copy + Send + Sync>(&self, from: &[T], to: &mut [T]) {
        let each = from.len().div_ceil(self.pieces()).max(1);
        let pieces = to.chunks_mut(each).zip(from.chunks(each));
        self.all(
            pieces.map(|(to, from)| Box::new(move || to.copy_from_slice(from)) as WorkItem<'_>).collect(),
        );
    }
}

impl Workers for RunThreads {
    fn pieces(&self) -> usize {
        if self.threads > 1 { PIECES * self.threads } else { CallingThread.pieces() }
    }

    fn all(&self, work: Vec<WorkItem<'_>>) {
        if self.threads == 1 {
            return CallingThread.all(work);
        }
        // A pool that cannot be made is an error of the run.
        let Ok(pool) = pool(self.threads, self.is_embedded) else { return CallingThread.all(work) };
        let left = Mutex::new(work.into_iter());
        let next = || left.lock().unwrap_or_else(PoisonError::into_inner).next();
        let take_part = || {
            while let Some(piece) = next() {
                piece();
            }
        };
        pool.in_place_scope(|scope| {
            (1..self.threads).for_each(|_| scope.spawn(|_| take_part()));
            take_part();
        });
    }
}

/// A processor for each thread, where there are exactly as many; else none. A thread then stays on its
/// processor, and the memory that it touched first stays near. A system that wakes two threads on one
/// processor needs milliseconds to notice.
pub(super) fn places(threads: usize) -> Vec<usize> {
    #[cfg(target_os = "linux")]
    {
        use rustix::thread::{CpuSet, sched_getaffinity};
        let allowed = sched_getaffinity(None).unwrap_or_else(|_| CpuSet::new());
        let all: Vec<usize> = (0..CpuSet::MAX_CPU).filter(|&it| allowed.is_set(it)).collect();
        if all.len() == threads { all } else { Vec::new() }
    }
    #[cfg(not(target_os = "linux"))]
    {
        let _ = threads;
        Vec::new()
    }
}

/// Keeps this thread on a processor. Where that is not granted, the system places it.
fn stay(place: Option<usize>) {
    #[cfg(target_os = "linux")]
    if let Some(place) = place {
        use rustix::thread::{CpuSet, sched_setaffinity};
        let mut only = CpuSet::new();
        only.set(place);
        let _ = sched_setaffinity(None, &only);
    }
    #[cfg(not(target_os = "linux"))]
    let _ = place;
}

type Pools = BTreeMap<(usize, bool), Arc<ThreadPool>>;

/// The pools of one process, and those of the copies that `fork` makes of it. The lock of an older process may be held
/// by a thread that stayed behind, and dropping its pools would wait for their threads. So both are left alone.
#[derive(Default)]
struct Process {
    pools: Mutex<Pools>,
    copy: OnceLock<Box<Process>>,
}

static FIRST: Process = Process { pools: Mutex::new(BTreeMap::new()), copy: OnceLock::new() };

/// The number of forks between the first process and this one, as far as they were told.
static FORKS: AtomicU64 = AtomicU64::new(0);

/// Tells that this process is a copy that `fork` has just made. Threads stay behind at a fork, so pools are
/// made anew when they are needed. A program that embeds stencils and forks calls this in the child.
pub fn after_fork() {
    FORKS.fetch_add(1, Ordering::AcqRel);
}

/// The number of forks that [`after_fork`] counts.
pub(super) fn forks() -> u64 {
    FORKS.load(Ordering::Acquire)
}

/// The pools of this process.
fn pools() -> &'static Mutex<Pools> {
    let process = (0..forks()).fold(&FIRST, |it, _| it.copy.get_or_init(Box::default));
    &process.pools
}

/// The pool with one thread less than `threads`, since the calling thread takes part. It is made once, since
/// threads are expensive. `threads` is two or more. In a process that has other work the system places them.
pub(super) fn pool(threads: usize, is_embedded: bool) -> Result<Arc<ThreadPool>, Failure> {
    let mut pools = pools().lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(pool) = pools.get(&(threads, is_embedded)) {
        return Ok(pool.clone());
    }
    // The first processor is for the calling thread.
    let places = if is_embedded { Vec::new() } else { places(threads) };
    let made = ThreadPoolBuilder::new()
        .num_threads(threads - 1)
        .thread_name(|at| format!("isobar-{}", at + 1))
        .start_handler(move |at| stay(places.get(at + 1).copied()))
        .build();
    let pool = Arc::new(made.map_err(|why| Failure::Machine(format!("no threads: {why}")))?);
    pools.insert((threads, is_embedded), pool.clone());
    Ok(pool)
}

#[cfg(test)]
mod tests {
    use super::*;
    use isobar_compiler::for_elements;
    use isobar_compiler::space::Domain;
    use isobar_compiler::types::{DType, Value};

    fn launch(n: usize) -> Launch {
        let arrays = [DType::Float64, DType::Bool, DType::Int16].map(|dtype| {
            let shape = vec![n, 7];
            let mut elements = Elements::zeros_at_line(dtype, 7 * n, 3, 64);
            (0..7 * n).for_each(|at| elements.set(at, Value::Int64(at as i64 % 11)));
            let strides = vec![1, n as i64];
            FieldArgument { array: Array { elements, first: 0, shape, strides }, origin: [3, 0, 0] }
        });
        let mut arguments: Vec<Argument> = arrays.map(Argument::Field).into();
        arguments.push(Argument::Scalar(Value::Int64(3)));
        Launch { domain: Domain::new(1, 1, 1), arguments }
    }

    #[test]
    fn a_copy_of_the_process_waits_for_no_lock_of_it() {
        let before = pool(2, true).expect("there are threads");
        let held = pools().lock().expect("nobody panicked");
        after_fork();
        let after = pool(2, true).expect("there are threads");
        assert!(!Arc::ptr_eq(&before, &after), "the threads of the pool stayed behind");
        assert!(Arc::ptr_eq(&after, &pool(2, true).expect("there are threads")));
        drop(held);
    }

    #[test]
    fn copies_are_the_same_and_lie_at_lines_whoever_makes_them() {
        for threads in [1, 2, 3] {
            let near = RunThreads::of(threads);
            for n in [0, 1, 1000, 70_001] {
                let given = launch(n);
                let copy = near.copy(&given);
                assert_eq!(copy.arguments.len(), 4);
                for (one, other) in given.arguments.iter().zip(&copy.arguments) {
                    match (one, other) {
                        (Argument::Field(one), Argument::Field(other)) => {
                            assert_eq!((&one.array, one.origin), (&other.array, other.origin));
                            let start = |it: &FieldArgument| for_elements!(&it.array.elements, it => it.as_ptr().addr());
                            assert_ne!(start(one), start(other));
                            assert_eq!(start(one) % 64, start(other) % 64);
                        }
                        (Argument::Scalar(one), Argument::Scalar(other)) => assert_eq!(one, other),
                        _ => panic!("another argument"),
                    }
                }
            }
        }
    }
}
