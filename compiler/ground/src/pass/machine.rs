//! The machine that schedules are made for, as the caller describes it.

use serde::{Deserialize, Serialize};

/// Facts of a machine that decide how loops are tiled.
///
/// Equal models give equal schedules, on whatever machine they are made. Without one, that of
/// [`Machine::CPU`](crate::schedule::analysis::cost::Machine::CPU) is taken.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct MachineModel {
    /// As many threads as can work at the same time.
    pub cores: u32,
    /// For data, the one next to the core first.
    pub caches: Vec<Cache>,
    /// Bytes that move between caches at a time.
    pub line_bytes: u32,
    /// The widest vector of the processor.
    pub vector_bytes: u32,
}

/// A cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Cache {
    pub bytes: u64,
    /// How many cores share it.
    pub cores: u32,
}

impl MachineModel {
    /// [`stream_from_bytes`](Self::stream_from_bytes) of a machine that nobody described.
    pub const STREAM_FROM_BYTES: u64 = 16 << 20;

    /// From so many bytes of all fields on, rows that nobody reads again are written past the caches.
    ///
    /// More than half of the last cache is lost before the next call: elements that are read and written
    /// evict each other.
    #[must_use]
    pub fn stream_from_bytes(&self) -> u64 {
        match self.last_cache_bytes() {
            0 => Self::STREAM_FROM_BYTES,
            bytes => bytes / 2,
        }
    }

    /// The bytes of cache that a core has for itself, where the machine is not known.
    pub const CORE_CACHE_BYTES: u64 = 1 << 20;

    /// The bytes that a core has for itself of the second cache, or of the first where there is no other.
    #[must_use]
    pub fn core_cache_bytes(&self) -> Option<u64> {
        let cache = self.caches.get(1).or(self.caches.first())?;
        Some(cache.bytes / u64::from(cache.cores.max(1)))
    }

    /// The bytes that a core has of the last cache behind the second; 0 if there is none.
    #[must_use]
    pub fn share_of_last_cache_bytes(&self) -> u64 {
        self.caches.iter().skip(2).next_back().map_or(0, |it| it.bytes / u64::from(it.cores.max(1)))
    }

    /// The cache that lies before memory.
    #[must_use]
    pub fn last_cache_bytes(&self) -> u64 {
        self.caches.last().map_or(0, |it| it.bytes)
    }
}

/// Facts of a GPU that decide which loops become one launch, and how that is cut.
///
/// Equal models give equal schedules. The figures of the fixed ones are rounded from what vendors publish.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GpuModel {
    /// Multiprocessors; each holds several blocks at a time.
    pub multiprocessors: u32,
    pub clock_mhz: u32,
    /// Gigabytes per second between memory and chip.
    pub bandwidth_gb: u32,
    pub l2_bytes: u64,
    /// Shared memory of a multiprocessor, and as much of it as one block may have.
    pub shared_bytes: u64,
    pub shared_bytes_of_block: u64,
    /// Registers of 32 bits of a multiprocessor.
    pub registers: u32,
    /// Threads of a multiprocessor, and of one block.
    pub threads: u32,
    pub threads_of_block: u32,
    /// Operations on 32 bits that a multiprocessor does in a cycle, and bytes of shared memory that it moves.
    pub lanes: u32,
    /// How many operations on 32 bits take as long as one on 64.
    pub f64_ratio: u32,
    /// Threads of a multiprocessor that have work for others while one waits for what it computes.
    pub threads_at_work: u32,
    /// The time that a stage, and a wait for others, take of a multiprocessor for each thread, in
    /// picoseconds.
    pub stage_ps: u32,
    pub barrier_ps: u32,
    /// From one launch to the next.
    pub launch_ns: u32,
}

impl GpuModel {
    /// An H100 (SXM).
    pub const H100: Self = Self {
        multiprocessors: 132,
        clock_mhz: 1700,
        bandwidth_gb: 3350,
        l2_bytes: 50 << 20,
        shared_bytes: 227 << 10,
        shared_bytes_of_block: 227 << 10,
        registers: 65536,
        threads: 2048,
        threads_of_block: 1024,
        lanes: 128,
        f64_ratio: 2,
        threads_at_work: 512,
        stage_ps: 50,
        barrier_ps: 20,
        launch_ns: 3000,
    };

    /// An H200, which is an H100 with faster memory.
    pub const H200: Self = Self { bandwidth_gb: 4800, ..Self::H100 };

    /// The limits of each browser with `WebGPU`, on a graphics card of today.
    pub const WEBGPU: Self = Self {
        multiprocessors: 24,
        clock_mhz: 1700,
        bandwidth_gb: 400,
        l2_bytes: 4 << 20,
        shared_bytes: 64 << 10,
        shared_bytes_of_block: 16 << 10,
        registers: 65536,
        threads: 1536,
        threads_of_block: 256,
        lanes: 128,
        f64_ratio: 32,
        threads_at_work: 512,
        stage_ps: 50,
        barrier_ps: 20,
        launch_ns: 24000,
    };

    /// Mesa's device of cores of the processor, whose shared memory is memory. Its threads are lanes of
    /// vectors, which load and store one by one. At a barrier a group of them saves its registers, and the
    /// next group restores its own. The times of stages and barriers are from measured forms of the gallery.
    pub const LAVAPIPE: Self = Self {
        multiprocessors: 4,
        clock_mhz: 2500,
        bandwidth_gb: 20,
        l2_bytes: 32 << 20,
        shared_bytes: 32 << 10,
        shared_bytes_of_block: 32 << 10,
        registers: 65536,
        threads: 1024,
        threads_of_block: 1024,
        lanes: 2,
        f64_ratio: 2,
        threads_at_work: 1,
        stage_ps: 20_000,
        barrier_ps: 25_000,
        launch_ns: 20000,
    };
}
