//! The rate at which this machine copies memory. It is the bound that each run is compared with: no code that
//! reads and writes memory is faster. A run on a device is compared with the copies of that device within its
//! own memory.

use std::hint::{black_box, spin_loop};
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Barrier};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use isobar_compiler::pass::MachineModel;
use serde::{Deserialize, Serialize};

use crate::cache;
use crate::events::milliseconds;

/// Threads that copy at the same time, each between two arrays of its own.
#[derive(Debug)]
pub struct Copiers {
    own: CopyArrays,
    shared: Arc<CopierState>,
    others: Vec<JoinHandle<()>>,
    calls: usize,
}

#[derive(Debug)]
struct CopyArrays {
    from: Vec<u64>,
    to: Vec<u64>,
}

#[derive(Debug)]
struct CopierState {
    threads: usize,
    /// Threads wait here for the next call, and use no processor time meanwhile.
    wake: Barrier,
    /// Counts the threads that woke up, and the threads that finished, over all calls so far.
    awake: AtomicUsize,
    done: AtomicUsize,
    is_over: AtomicBool,
}

impl CopyArrays {
    /// Arrays of this many words. The thread that works on them writes them first, so that their memory is
    /// near.
    fn new(words: usize) -> Self {
        let mut part = Self { from: vec![1; words], to: vec![0; words] };
        part.copy();
        part
    }

    fn copy(&mut self) {
        self.to.copy_from_slice(black_box(&self.from));
        black_box(&mut self.to);
    }
}

impl CopierState {
    /// Counts this thread, and waits until all threads have been counted once for each call.
    fn meet(&self, counter: &AtomicUsize, calls: usize) {
        counter.fetch_add(1, Ordering::SeqCst);
        for turn in 0_u32.. {
            if counter.load(Ordering::SeqCst) >= calls * self.threads {
                break;
            }
            // Where there are more threads than cores, the threads that are late need a core.
            if turn % 64 == 63 { std::thread::yield_now() } else { spin_loop() }
        }
    }
}

impl Copiers {
    /// Allocates arrays with `bytes` bytes in total, and starts the threads that copy them.
    pub fn new(bytes: u64, threads: u32) -> Self {
        let threads = usize::try_from(threads).unwrap_or(1).max(1);
        let words = usize::try_from(bytes / 16).unwrap_or(usize::MAX).div_ceil(threads).max(1);
        let shared = Arc::new(CopierState {
            threads,
            wake: Barrier::new(threads),
            awake: AtomicUsize::new(0),
            done: AtomicUsize::new(0),
            is_over: AtomicBool::new(false),
        });
        let others = (1..threads).map(|_| {
            let shared = Arc::clone(&shared);
            std::thread::spawn(move || {
                let mut part = CopyArrays::new(words);
                for calls in 1.. {
                    shared.wake.wait();
                    if shared.is_over.load(Ordering::SeqCst) {
                        break;
                    }
                    shared.meet(&shared.awake, calls);
                    part.copy();
                    shared.done.fetch_add(1, Ordering::SeqCst);
                }
            })
        });
        let others = others.collect();
        Self { own: CopyArrays::new(words), shared, others, calls: 0 }
    }

    /// Copies once, and returns how long it took.
    pub fn copy(&mut self) -> Duration {
        self.calls += 1;
        self.shared.wake.wait();
        self.shared.meet(&self.shared.awake, self.calls);
        let begun = Instant::now();
        self.own.copy();
        self.shared.meet(&self.shared.done, self.calls);
        begun.elapsed()
    }
}

impl Drop for Copiers {
    fn drop(&mut self) {
        self.shared.is_over.store(true, Ordering::SeqCst);
        self.shared.wake.wait();
        for other in self.others.drain(..) {
            // A thread that panicked has reported it already.
            let _ = other.join();
        }
    }
}

/// How fast a machine copies.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct CopyRate {
    /// Bytes read and bytes written, together.
    pub bytes_per_s: f64,
    /// Threads that copied at the same time; 0 where a device copied within its own memory.
    pub threads: u32,
}

/// Copies of a device within its own memory, between two arrays that are larger than its caches.
#[derive(Clone, Debug, PartialEq)]
pub struct CopyMeasurement {
    /// Bytes read and bytes written by each copy, together.
    pub bytes: u64,
    /// How long each copy took on the device; there is at least one.
    pub ms: Vec<f64>,
}

impl CopyMeasurement {
    /// Bytes of each of the two arrays of a device, at most.
    pub(crate) const MOST_BYTES: u64 = 256 << 20;
    /// Bytes of each of them, at least: on a device with less memory, nothing is measured.
    pub(crate) const LEAST_BYTES: u64 = 1 << 20;
    /// Copies that a device makes at most, after the first copies, which do not count.
    pub(crate) const TIMES: usize = 20;
    const LONGEST: Duration = Duration::from_millis(300);

    /// Whether more copies are needed. The time is limited, since a slow device would keep the user waiting.
    pub(crate) fn go_on(ms: &[f64], warm: usize, begun: Instant) -> bool {
        let least = warm + 3;
        ms.len() < least || ms.len() < warm + Self::TIMES && begun.elapsed() < Self::LONGEST
    }

    /// The valid measurements; `None` where there are none.
    pub(crate) fn of(bytes: u64, ms: Vec<f64>) -> Option<Self> {
        let ms: Vec<f64> = ms.into_iter().filter(|it| it.is_finite() && *it > 0.0).collect();
        (!ms.is_empty()).then_some(Self { bytes, ms })
    }

    /// Returns the kind of copies with the higher best rate.
    pub(crate) fn faster(one: Option<Self>, other: Option<Self>) -> Option<Self> {
        [one, other]
            .into_iter()
            .flatten()
            .max_by(|one, other| one.rate().bytes_per_s.total_cmp(&other.rate().bytes_per_s))
    }

    /// The rate of the fastest copy: the causes that slowed down the others have nothing to do with copying.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "a rate of some digits")]
    pub fn rate(&self) -> CopyRate {
        let least = self.ms.iter().copied().fold(f64::INFINITY, f64::min);
        CopyRate { bytes_per_s: self.bytes as f64 / (least * 1e-3), threads: 0 }
    }
}

/// Rates that were measured on this machine, as a file keeps them.
#[derive(Debug, Default, Serialize, Deserialize)]
struct CopyRateFile {
    /// The machine of the rates, as a hash. On another machine the rates are measured again.
    machine: String,
    rates: Vec<CopyRate>,
    #[serde(default)]
    proof: String,
}

impl CopyRateFile {
    /// The text that the proof signs.
    fn claim(&self) -> String {
        let rates: Vec<String> =
            self.rates.iter().map(|it| format!("{} {:x}", it.threads, it.bytes_per_s.to_bits())).collect();
        format!("copying of {}: {}", self.machine, rates.join(", "))
    }
}

/// The arrays are larger than the largest cache by this factor.
const BEYOND_CACHE: u64 = 8;
const LEAST_BYTES: u64 = 128 << 20;
const MOST_BYTES: u64 = 512 << 20;
const TIMES: usize = 5;

/// File with the measured rates, below the folder of the cache.
const FILE: &str = "copy.json";

fn kept(root: &Path, machine: &MachineModel) -> CopyRateFile {
    let processor = cache::KeyParts::of("", String::new(), String::new()).processor;
    let name = cache::hash(&[processor.as_bytes(), format!("{machine:?}").as_bytes()]);
    let file = root.join(cache::OF_MACHINE).join(FILE);
    let kept = std::fs::read(file).ok().and_then(|it| serde_json::from_slice::<CopyRateFile>(&it).ok());
    // Only the owner of the cache signs a measurement.
    let is_ours = |it: &CopyRateFile| it.machine == name && cache::is_signed(root, &it.claim(), &it.proof);
    kept.filter(is_ours).unwrap_or(CopyRateFile { machine: name, rates: Vec::new(), proof: String::new() })
}

/// How fast this machine copies with `threads` threads, where it was measured before.
#[must_use]
pub fn known(root: &Path, machine: &MachineModel, threads: u32) -> Option<CopyRate> {
    kept(root, machine).rates.into_iter().find(|it| it.threads == threads)
}

/// Keeps a rate of this machine, where none is known for its number of threads. Where the file cannot be
/// written, the next run measures it again.
pub fn keep(root: &Path, machine: &MachineModel, rate: CopyRate) {
    let mut kept = kept(root, machine);
    let is_known = kept.rates.iter().any(|it| it.threads == rate.threads);
    let is_one = rate.threads > 0 && rate.bytes_per_s.is_finite() && rate.bytes_per_s > 0.0;
    let Some(folder) = cache::private(root, cache::OF_MACHINE).ok().filter(|_| is_one && !is_known) else {
        return;
    };
    kept.rates.push(rate);
    let Some(proof) = cache::sign(root, &kept.claim()) else { return };
    kept.proof = proof;
    if let Ok(text) = serde_json::to_vec(&kept) {
        let _ = cache::put(&folder, &folder.join(FILE), &text);
    }
}

/// Bytes of the arrays that are copied to measure a machine.
#[must_use]
pub fn measured_bytes(machine: &MachineModel) -> u64 {
    let last = machine.caches.iter().map(|it| it.bytes).max().unwrap_or(0);
    last.saturating_mul(BEYOND_CACHE).clamp(LEAST_BYTES, MOST_BYTES)
}

/// Measures the rate of copies between arrays with `bytes` bytes in total.
#[expect(clippy::cast_precision_loss, reason = "a rate of some digits")]
pub fn measured(bytes: u64, threads: u32) -> Option<CopyRate> {
    let mut copiers = Copiers::new(bytes, threads);
    let mut times: Vec<f64> = (0..TIMES).map(|_| milliseconds(copiers.copy())).collect();
    times.sort_by(f64::total_cmp);
    let ms = times[TIMES / 2];
    (ms > 0.0).then(|| CopyRate { bytes_per_s: bytes as f64 / (ms * 1e-3), threads })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_threads_copy_their_part_each_time() {
        for threads in [1, 2, 5] {
            let mut copiers = Copiers::new(1 << 20, threads);
            for _ in 0..3 {
                copiers.own.to.fill(0);
                assert!(copiers.copy() > Duration::ZERO);
                assert_eq!(copiers.own.from, copiers.own.to);
            }
            assert_eq!(copiers.shared.done.load(Ordering::SeqCst), 3 * threads as usize);
            let words = copiers.own.to.len() as u64;
            assert!(words * 16 * u64::from(threads) >= 1 << 20, "{words}");
        }
    }

    #[test]
    fn the_best_of_a_device_is_what_its_runs_are_held_against() {
        assert_eq!(CopyMeasurement::of(8, vec![0.0, f64::NAN]), None);
        let slow = CopyMeasurement::of(4_000_000, vec![2.0, 1.0, 4.0]);
        let fast = CopyMeasurement::of(8_000_000, vec![1.0, 9.0]);
        let found = CopyMeasurement::faster(slow, fast).expect("both were measured");
        assert_eq!(found.rate(), CopyRate { bytes_per_s: 8e9, threads: 0 });
    }

    #[test]
    fn a_rate_is_measured_once_on_each_machine() {
        let root = tempfile::tempdir().expect("a folder");
        let machine = |cores| MachineModel { cores, caches: Vec::new(), line_bytes: 64, vector_bytes: 16 };
        let rate = |cores, bytes_per_s| {
            keep(root.path(), &machine(cores), CopyRate { bytes_per_s, threads: 1 });
            known(root.path(), &machine(cores), 1).map(|it| it.bytes_per_s)
        };
        assert_eq!(known(root.path(), &machine(2), 1), None);
        assert_eq!(rate(2, f64::NAN), None);
        assert_eq!(rate(2, 1e9), Some(1e9));
        assert_eq!(rate(2, 2e9), Some(1e9));
        assert_eq!(known(root.path(), &machine(2), 2), None);
        assert_eq!(rate(4, 3e9), Some(3e9));
        assert_eq!(rate(2, 4e9), Some(4e9));
        assert!(measured(1 << 20, 2).is_some_and(|it| it.bytes_per_s > 0.0 && it.threads == 2));
    }
}
