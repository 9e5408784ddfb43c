//! The machine that schedules are made for: what is told of it, by whoever knows.

/// What of a machine decides how loops are tiled.
///
/// Equal models give equal schedules, on whatever machine they are made. Without one, that of
/// [`Machine::CPU`](crate::schedule::analysis::cost::Machine::CPU) is taken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MachineModel {
    /// As many threads as can work at the same time.
    pub cores: u32,
    /// For data, the one next to the core first.
    pub caches: Vec<Cache>,
    /// What moves between caches at a time.
    pub line_bytes: u32,
    /// The widest vector of the processor.
    pub vector_bytes: u32,
}

/// A cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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
    /// More than half of the last cache is not there any more when the next call comes: what was read and what the
    /// call writes take turns in it.
    #[must_use]
    pub fn stream_from_bytes(&self) -> u64 {
        match self.last_cache_bytes() {
            0 => Self::STREAM_FROM_BYTES,
            bytes => bytes / 2,
        }
    }

    /// What a core has for itself of the second cache, or of the first where there is no other.
    #[must_use]
    pub fn core_cache_bytes(&self) -> Option<u64> {
        let cache = self.caches.get(1).or(self.caches.first())?;
        Some(cache.bytes / u64::from(cache.cores.max(1)))
    }

    /// What a core has of a cache behind the second, if there is one.
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
