//! Places calling threads and those of OpenMP on processors of their own, like those of
//! [`pool`](super::pool).

use std::cell::RefCell;

use super::pool::places;

pub(super) use imp::Home;

/// `GOMP_parallel` of GCC's library of OpenMP, which LLVM's has too. It takes a function, its argument, the
/// number of threads that call it, and flags.
pub(super) type Parallel =
    unsafe extern "C" fn(extern "C" fn(*mut std::ffi::c_void), *mut std::ffi::c_void, u32, u32);

thread_local! {
    /// The placement of the threads with which the calls of this one share their loops.
    static TEAM: RefCell<TeamPlacement> = const { RefCell::new(TeamPlacement::Unknown) };
}

enum TeamPlacement {
    /// Nothing was called yet.
    Unknown,
    /// Each stays on a processor.
    Placed { threads: usize, home: Box<Home> },
    /// The system places them.
    Free,
}

/// Calls code that shares its loops among so many threads. The first call starts the threads. After it, each
/// thread gets a processor of its own, where there is one for each. This thread is on its processor during
/// calls. Between calls it may be on any, as may the programs that it starts.
///
/// A system that wakes two threads on one processor needs milliseconds to notice, which is longer than many calls take.
pub(super) fn on_places<T>(threads: u32, team: Option<Parallel>, call: impl FnOnce() -> T) -> T {
    let threads = usize::try_from(threads).unwrap_or(1);
    let Some(parallel) = team.filter(|_| threads > 1) else { return call() };
    TEAM.with_borrow_mut(|team| match team {
        TeamPlacement::Placed { threads: placed, home } if *placed == threads => home.during(call),
        TeamPlacement::Unknown => {
            let (done, home) = first_call(threads, parallel, call);
            *team = home
                .map_or(TeamPlacement::Free, |home| TeamPlacement::Placed { threads, home: Box::new(home) });
            done
        }
        TeamPlacement::Placed { .. } | TeamPlacement::Free => call(),
    })
}

/// Runs the call. Then gives each thread that it started a place, where there is one for each.
fn first_call<T>(threads: usize, parallel: Parallel, call: impl FnOnce() -> T) -> (T, Option<Home>) {
    let places = places(threads);
    if places.is_empty() {
        return (call(), None);
    }
    let done = call();
    let started = imp::others(threads, parallel);
    let home = if started.len() + 1 == threads { imp::place(&started, &places) } else { None };
    (done, home)
}

impl Home {
    /// The place of a thread whose calls share their loops among so many threads, where there is a processor
    /// for each.
    pub(super) fn of(threads: usize) -> Option<Self> {
        places(threads).first().and_then(|&it| Self::at(it))
    }
}

#[cfg(target_os = "linux")]
mod imp {
    use std::ffi::c_void;
    use std::sync::{Mutex, PoisonError};

    use rustix::process::Pid;
    use rustix::thread::{CpuSet, gettid, sched_getaffinity, sched_setaffinity};

    use super::Parallel;

    /// The processor of this thread during calls, and those that it may be on between them.
    #[derive(Debug)]
    pub(in super::super) struct Home {
        only: CpuSet,
        all: CpuSet,
    }

    impl Home {
        /// This processor, for the thread at hand.
        pub(super) fn at(place: usize) -> Option<Self> {
            let all = sched_getaffinity(None).ok()?;
            Some(Self { only: only(place), all })
        }

        /// Calls on the processor of this thread.
        pub(in super::super) fn during<T>(&self, call: impl FnOnce() -> T) -> T {
            let is_there = sched_setaffinity(None, &self.only).is_ok();
            let done = call();
            if is_there {
                // These processors were allowed before, so that they are allowed again.
                let _ = sched_setaffinity(None, &self.all);
            }
            done
        }
    }

    /// The threads that share the loops of this one, as each tells its own number. No file is read for that,
    /// since this process may not be allowed to open one any more.
    #[expect(unsafe_code, reason = "OpenMP is asked to have its threads tell who they are")]
    pub(super) fn others(threads: usize, parallel: Parallel) -> Vec<i32> {
        extern "C" fn tell(told: *mut c_void) {
            // SAFETY: it points to the list below, which lives until all threads have reported.
            let told = unsafe { &*told.cast::<Mutex<Vec<i32>>>() };
            told.lock().unwrap_or_else(PoisonError::into_inner).push(gettid().as_raw_nonzero().get());
        }
        let mut told = Mutex::new(Vec::new());
        // SAFETY: OpenMP calls `tell` once on each of so many threads, and returns when all are done.
        unsafe { parallel(tell, (&raw mut told).cast(), u32::try_from(threads).unwrap_or(1), 0) };
        let own = gettid().as_raw_nonzero().get();
        let all = told.into_inner().unwrap_or_else(PoisonError::into_inner);
        all.into_iter().filter(|it| *it != own).collect()
    }

    /// Gives each thread a place, and this thread the first, which it takes during calls. None where that was
    /// not granted.
    pub(super) fn place(started: &[i32], places: &[usize]) -> Option<Home> {
        let (&first, others) = places.split_first()?;
        let mut pairs = started.iter().zip(others);
        let are_placed = pairs.all(|(&thread, &place)| {
            Pid::from_raw(thread).is_some_and(|it| sched_setaffinity(Some(it), &only(place)).is_ok())
        });
        if are_placed { Home::at(first) } else { None }
    }

    fn only(place: usize) -> CpuSet {
        let mut only = CpuSet::new();
        only.set(place);
        only
    }
}

#[cfg(not(target_os = "linux"))]
mod imp {
    /// This system places no threads.
    #[derive(Debug)]
    pub(in super::super) enum Home {}

    impl Home {
        pub(super) fn at(_: usize) -> Option<Self> {
            None
        }

        pub(in super::super) fn during<T>(&self, call: impl FnOnce() -> T) -> T {
            call()
        }
    }

    pub(super) fn others(_: usize, _: super::Parallel) -> Vec<i32> {
        Vec::new()
    }

    pub(super) fn place(_: &[i32], _: &[usize]) -> Option<Home> {
        None
    }
}
