//! The threads of OpenMP, which stay on processors of their own, as those of [`pool`](super::pool) do.

use std::cell::Cell;

use super::pool::places;

thread_local! {
    /// What is known of the threads that the calls of this one share their loops with.
    static TEAM: Cell<Team> = const { Cell::new(Team::Unknown) };
}

#[derive(Clone, Copy)]
enum Team {
    /// Nothing was called yet.
    Unknown,
    /// Each stays on a processor.
    Placed { threads: usize },
    /// The system places them.
    Free,
}

/// Calls code that shares its loops among so many threads. Where there is a processor for each, the first call, which
/// starts the threads, is followed by giving each its own; this thread is on its processor for as long as a call takes,
/// and anywhere between them, as programs that it starts are.
///
/// A system that wakes two threads on one processor needs milliseconds to notice, which is longer than many calls take.
pub(super) fn on_places<T>(threads: u32, call: impl FnOnce() -> T) -> T {
    let threads = usize::try_from(threads).unwrap_or(1);
    if threads < 2 {
        return call();
    }
    match TEAM.get() {
        Team::Placed { threads: placed } if placed == threads => imp::at_home(call),
        Team::Unknown => {
            let places = places(threads);
            let before = imp::threads();
            let done = call();
            let started: Vec<i32> = imp::threads().into_iter().filter(|it| !before.contains(it)).collect();
            // Others that were started meanwhile are not to be told from them.
            let are_known = !places.is_empty() && started.len() + 1 == threads;
            let is_placed = are_known && imp::place(&started, &places);
            TEAM.set(if is_placed { Team::Placed { threads } } else { Team::Free });
            done
        }
        Team::Placed { .. } | Team::Free => call(),
    }
}

#[cfg(target_os = "linux")]
mod imp {
    use std::cell::RefCell;
    use std::fs;

    use rustix::process::Pid;
    use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

    thread_local! {
        /// The processor of this thread during calls, and those that it may be on between them.
        static HOME: RefCell<Option<(CpuSet, CpuSet)>> = const { RefCell::new(None) };
    }

    /// The threads of this process.
    pub(super) fn threads() -> Vec<i32> {
        let entries = fs::read_dir("/proc/self/task").into_iter().flatten().flatten();
        entries.filter_map(|it| it.file_name().to_str()?.parse().ok()).collect()
    }

    /// Gives each thread a place, and this one the first, which it takes during calls; tells whether that was granted.
    pub(super) fn place(started: &[i32], places: &[usize]) -> bool {
        let Some((&first, others)) = places.split_first() else { return false };
        let Ok(all) = sched_getaffinity(None) else { return false };
        let only = |place: usize| {
            let mut only = CpuSet::new();
            only.set(place);
            only
        };
        let mut pairs = started.iter().zip(others);
        let are_placed = pairs.all(|(&thread, &place)| {
            Pid::from_raw(thread).is_some_and(|it| sched_setaffinity(Some(it), &only(place)).is_ok())
        });
        if are_placed {
            HOME.set(Some((only(first), all)));
        }
        are_placed
    }

    /// Calls on the processor of this thread.
    pub(super) fn at_home<T>(call: impl FnOnce() -> T) -> T {
        HOME.with_borrow(|home| {
            let is_there = home.as_ref().is_some_and(|(only, _)| sched_setaffinity(None, only).is_ok());
            let done = call();
            if let Some((_, all)) = home.as_ref().filter(|_| is_there) {
                // What was granted before is granted again.
                let _ = sched_setaffinity(None, all);
            }
            done
        })
    }
}

#[cfg(not(target_os = "linux"))]
mod imp {
    pub(super) fn threads() -> Vec<i32> {
        Vec::new()
    }

    pub(super) fn place(_: &[i32], _: &[usize]) -> bool {
        false
    }

    pub(super) fn at_home<T>(call: impl FnOnce() -> T) -> T {
        call()
    }
}
