//! Random choices from a seed: the same ones on every machine.

/// A generator of random numbers (splitmix64).
#[derive(Clone, Debug)]
pub struct Random {
    state: u64,
}

impl Random {
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self { state: seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) }
    }

    /// 64 random bits.
    pub fn bits(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut it = self.state;
        it = (it ^ (it >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        it = (it ^ (it >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        it ^ (it >> 31)
    }

    /// One of `0 .. n`; 0 for no choice at all.
    pub fn below(&mut self, n: usize) -> usize {
        usize::try_from(self.bits() >> 33).unwrap_or(0) % n.max(1)
    }

    /// One of `low ..= high`.
    pub fn between(&mut self, low: i32, high: i32) -> i32 {
        let width = usize::try_from(high - low).unwrap_or(0);
        low + i32::try_from(self.below(width + 1)).unwrap_or(0)
    }

    /// True in `percent` of a hundred cases.
    pub fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    /// One of several.
    ///
    /// # Panics
    ///
    /// When there is none.
    pub fn pick<'a, T>(&mut self, from: &'a [T]) -> &'a T {
        &from[self.below(from.len())]
    }
}
