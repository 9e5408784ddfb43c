//! Threads of rayon's pool that take part in the loops of a run, beside the thread that calls.

use std::ptr::{from_ref, null_mut};
use std::sync::Arc;
use std::sync::atomic::{AtomicPtr, AtomicU8, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use ::rayon::ThreadPool;
use isobar_codegen::Team;

use super::Failure;
use super::pool::{forks, pool};
use super::team::Home;

/// The time for which helpers with a processor of their own look out for the next run.
const LINGERS: Duration = Duration::from_micros(100);

/// The time for which a thread with a processor of its own spins before it yields.
const AWAKE: Duration = Duration::from_micros(50);

/// Parts of a loop for each thread, so that a late thread does not hold up the others.
const PARTS: usize = 4;

/// The threads of the runs of one stencil. The calling thread takes part. A helper that has not begun when
/// the others are done is not waited for: waking one takes longer than many runs.
#[derive(Debug)]
pub(super) struct Helpers {
    pool: Arc<ThreadPool>,
    /// The processor of the calling thread during a call, if there is one for each thread.
    home: Option<Home>,
    common: Arc<TeamState>,
    /// The count of forks at the start of the threads, which tells their process.
    forks: u64,
}

impl Helpers {
    /// The helpers for runs on so many threads, more than one. In a process that has other work, none of them
    /// has a processor of its own.
    ///
    /// # Errors
    ///
    /// Where the system gives no threads.
    pub(super) fn of(threads: usize, is_embedded: bool) -> Result<Self, Failure> {
        let pool = pool(threads, is_embedded)?;
        let home = if is_embedded { None } else { Home::of(threads) };
        let seats = (1..threads).map(|_| AtomicU8::new(Seat::EMPTY)).collect();
        let common = TeamState {
            door: Door(AtomicU64::new(0)),
            work: AtomicPtr::new(null_mut()),
            seats,
            has_processors: home.is_some(),
        };
        Ok(Self { pool, home, common: Arc::new(common), forks: forks() })
    }

    /// Whether the threads are in this process, which may be a copy of the one that made them.
    pub(super) fn are_here(&self) -> bool {
        self.forks == forks()
    }

    /// Wakes the helpers, which take part in the loops that `call` shares, and runs `call`.
    pub(super) fn during<T>(&self, call: impl FnOnce() -> T) -> T {
        for (at, seat) in self.common.seats.iter().enumerate() {
            if seat.swap(Seat::CALLED, Ordering::AcqRel) == Seat::EMPTY {
                let common = Arc::clone(&self.common);
                self.pool.spawn(move || common.help(at));
            }
        }
        let done = match &self.home {
            Some(home) => home.during(call),
            None => call(),
        };
        self.common.seats.iter().for_each(|seat| seat.store(Seat::DONE, Ordering::Release));
        done
    }
}

/// Shares among this thread, which is number 0, and the helpers that have begun.
impl Team for Helpers {
    fn share(&self, total: usize, part: &(dyn Fn(std::ops::Range<usize>, usize) + Sync)) {
        let threads = 1 + self.common.seats.len();
        let n_parts = total.min(threads * PARTS);
        let work = SharedLoop { shares: RemainingParts::all(n_parts, threads), n_parts, total, part };
        let inside = self.common.open(&work);
        work.take_part(0);
        drop(inside);
    }
}

/// The state of a helper.
struct Seat;

impl Seat {
    /// There is no helper, and none on its way.
    const EMPTY: u8 = 0;
    /// A run is going on.
    const CALLED: u8 = 1;
    /// No run is going on. The helper leaves when it has waited for another.
    const DONE: u8 = 2;
}

/// A loop whose parts are shared.
struct SharedLoop<'w> {
    /// The parts that are left to each thread.
    shares: Vec<RemainingParts>,
    n_parts: usize,
    total: usize,
    part: &'w (dyn Fn(std::ops::Range<usize>, usize) + Sync),
}

impl SharedLoop<'_> {
    /// Runs the parts that are left to this thread, and then those left to others.
    fn take_part(&self, thread: usize) {
        let start_of = |part: usize| part * self.total / self.n_parts;
        let run = |part: usize| (self.part)(start_of(part)..start_of(part + 1), thread);
        while let Some(part) = self.shares[thread].take_first() {
            run(part);
        }
        let (before, behind) = self.shares.split_at(thread);
        for other in behind.iter().chain(before) {
            while let Some(part) = other.take_last() {
                run(part);
            }
        }
    }
}

/// The parts of one thread that are not taken yet: start and end. Shares of two threads lie apart, since most
/// of the time one thread writes each.
#[repr(align(128))]
#[derive(Debug)]
struct RemainingParts(AtomicU64);

impl RemainingParts {
    fn all(n_parts: usize, threads: usize) -> Vec<Self> {
        let start_of = |thread: usize| (thread * n_parts / threads) as u64;
        (0..threads).map(|it| Self(AtomicU64::new(start_of(it) << 32 | start_of(it + 1)))).collect()
    }

    fn take_first(&self) -> Option<usize> {
        self.take(|start, end| ((start + 1, end), start))
    }

    fn take_last(&self) -> Option<usize> {
        self.take(|start, end| ((start, end - 1), end - 1))
    }

    /// Takes a part, if one is left. `taken` gives the start and end that remain, and the part that is taken.
    fn take(&self, taken: impl Fn(u64, u64) -> ((u64, u64), u64)) -> Option<usize> {
        let ends = |it: u64| (it >> 32, it & u64::from(u32::MAX));
        let left = |it: u64| {
            let (start, end) = ends(it);
            (start < end).then(|| taken(start, end).0).map(|(start, end)| start << 32 | end)
        };
        let before = self.0.fetch_update(Ordering::AcqRel, Ordering::Acquire, left).ok()?;
        let (start, end) = ends(before);
        usize::try_from(taken(start, end).1).ok()
    }
}

/// The state that the threads of a run share. A helper touches the loop that a run lends only while it is
/// inside the door.
#[derive(Debug)]
struct TeamState {
    door: Door,
    /// The loop of the calling thread; valid while the door is open or a helper is inside.
    work: AtomicPtr<SharedLoop<'static>>,
    /// One for each helper.
    seats: Vec<AtomicU8>,
    /// Whether there is a processor for each thread.
    has_processors: bool,
}

impl TeamState {
    /// Lets helpers take part in the work until the result is dropped. Dropping it waits for the helpers
    /// inside.
    fn open<'w>(&'w self, work: &'w SharedLoop<'w>) -> OpenDoor<'w> {
        self.work.store(from_ref(work).cast_mut().cast(), Ordering::Release);
        self.door.open();
        OpenDoor(self)
    }

    fn awake(&self) -> Duration {
        if self.has_processors { AWAKE } else { Duration::ZERO }
    }

    /// Takes part in one loop after the other; leaves when there has been no run for a while.
    fn help(&self, at: usize) {
        let seat = &self.seats[at];
        let lingers = if self.has_processors { LINGERS } else { Duration::ZERO };
        let mut last = None;
        let mut wait = Wait::new(self.awake());
        loop {
            if self.take_part(at + 1, &mut last) {
                wait = Wait::new(self.awake());
                continue;
            }
            let is_late = wait.turn() > lingers;
            // A call that begins now finds the seat empty, or this helper stays.
            let leaves = is_late
                && seat
                    .compare_exchange(Seat::DONE, Seat::EMPTY, Ordering::AcqRel, Ordering::Acquire)
                    .is_ok();
            if leaves {
                return;
            }
        }
    }

    /// Takes part in the loop at hand, unless it is the last one that this thread took part in.
    #[expect(unsafe_code, reason = "the thread that calls lends its loop to the helpers")]
    fn take_part(&self, thread: usize, last: &mut Option<u64>) -> bool {
        let Some(inside) = self.door.enter(*last) else { return false };
        *last = Some(inside.loops);
        // SAFETY: `open` stored the address before the door opened. `OpenDoor` does not release the loop
        // before all helpers that came in have left.
        let work = unsafe { &*self.work.load(Ordering::Acquire) };
        work.take_part(thread);
        drop(inside);
        true
    }
}

/// An open door. Dropping it closes the door, and waits until all helpers have left.
struct OpenDoor<'c>(&'c TeamState);

impl Drop for OpenDoor<'_> {
    fn drop(&mut self) {
        let TeamState { door, .. } = self.0;
        door.close();
        let mut wait = Wait::new(self.0.awake());
        while door.is_in_use() {
            wait.turn();
        }
    }
}

/// Whether it is open (lowest bit), how many are inside (31 bits), and how often it was opened (32 bits).
#[derive(Debug)]
struct Door(AtomicU64);

impl Door {
    const IS_OPEN: u64 = 1;
    const ONE: u64 = 2;
    const OPENED: u64 = 1 << 32;

    /// Opens the door, which is closed and has nobody inside.
    fn open(&self) {
        self.0.fetch_add(Self::OPENED | Self::IS_OPEN, Ordering::AcqRel);
    }

    fn close(&self) {
        self.0.fetch_sub(Self::IS_OPEN, Ordering::AcqRel);
    }

    fn is_in_use(&self) -> bool {
        self.0.load(Ordering::Acquire) % Self::OPENED >= Self::ONE
    }

    /// Enters, if the door is open and was opened again since the `last` time.
    fn enter(&self, last: Option<u64>) -> Option<DoorGuard<'_>> {
        let may = |it: u64| it & Self::IS_OPEN > 0 && last != Some(it / Self::OPENED);
        if !may(self.0.load(Ordering::Relaxed)) {
            return None;
        }
        let enter = |it: u64| may(it).then(|| it + Self::ONE);
        let before = self.0.fetch_update(Ordering::AcqRel, Ordering::Relaxed, enter).ok()?;
        Some(DoorGuard { door: self, loops: before / Self::OPENED })
    }
}

struct DoorGuard<'d> {
    door: &'d Door,
    /// How often the door was opened.
    loops: u64,
}

impl Drop for DoorGuard<'_> {
    fn drop(&mut self) {
        self.door.0.fetch_sub(Door::ONE, Ordering::AcqRel);
    }
}

/// A wait for another thread, which spins first and then yields.
struct Wait {
    awake: Duration,
    begun: Option<Instant>,
}

impl Wait {
    /// Spins between two readings of the clock.
    const LOOKS: u32 = 32;

    fn new(awake: Duration) -> Self {
        Self { awake, begun: None }
    }

    /// Waits a little; returns how long it has waited.
    fn turn(&mut self) -> Duration {
        for _ in 0..Self::LOOKS {
            std::hint::spin_loop();
        }
        let waited = self.begun.get_or_insert_with(Instant::now).elapsed();
        if waited >= self.awake {
            std::thread::yield_now();
        }
        waited
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicUsize;

    use super::*;

    #[test]
    fn each_number_is_taken_once_whoever_comes_in_time() {
        for threads in [2, 3, 7] {
            let helpers = Helpers::of(threads, false).unwrap();
            for total in [0, 1, 2, 5, 64, 1000] {
                // One call after the other, with and without time for helpers to leave; two loops each.
                for call in 0..20 {
                    let taken: Vec<AtomicUsize> = (0..total).map(|_| AtomicUsize::new(0)).collect();
                    helpers.during(|| {
                        for turn in 0..2 {
                            helpers.share(total, &|range, thread| {
                                assert!(thread < threads);
                                range.for_each(|at| {
                                    assert_eq!(taken[at].fetch_add(1, Ordering::Relaxed), turn)
                                });
                            });
                        }
                    });
                    taken.iter().for_each(|it| assert_eq!(it.load(Ordering::Relaxed), 2));
                    if call % 5 == 4 {
                        std::thread::sleep(3 * LINGERS);
                    }
                }
            }
        }
    }

    #[test]
    fn helpers_take_part_each_with_a_number_of_its_own() {
        let threads = 3;
        let helpers = Helpers::of(threads, false).unwrap();
        let inside: Vec<AtomicUsize> = (0..threads).map(|_| AtomicUsize::new(0)).collect();
        let seen: Vec<AtomicUsize> = (0..threads).map(|_| AtomicUsize::new(0)).collect();
        let begun = Instant::now();
        // Helpers that are slow to wake take part in a later call.
        while seen.iter().any(|it| it.load(Ordering::Relaxed) == 0) {
            assert!(begun.elapsed() < Duration::from_secs(60), "a helper never came");
            helpers.during(|| {
                helpers.share(12, &|_, thread| {
                    assert_eq!(inside[thread].fetch_add(1, Ordering::AcqRel), 0, "two threads of one number");
                    seen[thread].fetch_add(1, Ordering::Relaxed);
                    std::thread::sleep(Duration::from_millis(1));
                    inside[thread].fetch_sub(1, Ordering::AcqRel);
                });
            });
        }
    }

    #[test]
    fn a_helper_that_cannot_come_is_not_waited_for() {
        let helpers = Helpers::of(2, false).unwrap();
        let (free, wait) = std::sync::mpsc::channel::<()>();
        // The only thread of the pool has something else to do.
        helpers.pool.spawn(move || {
            let _ = wait.recv();
        });
        let done = AtomicUsize::new(0);
        let all_of = |range: std::ops::Range<usize>, _: usize| {
            done.fetch_add(range.len(), Ordering::Relaxed);
        };
        helpers.during(|| helpers.share(100, &all_of));
        assert_eq!(done.load(Ordering::Relaxed), 100);
        drop(free);
    }
}
