//! An order by chance, which a seed decides.

/// Numbers that look random: SplitMix64.
#[derive(Clone, Debug)]
pub(super) struct Chance(u64);

impl Chance {
    pub(super) fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub(super) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = self.0;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        bits ^ (bits >> 31)
    }

    /// Puts the items in another order.
    pub(super) fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            let bound = last as u64 + 1;
            let chosen = usize::try_from(self.next() % bound).unwrap_or(last);
            items.swap(last, chosen);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shuffle_keeps_all_items_and_a_seed_decides_it() {
        let shuffled = |seed| {
            let mut items: Vec<u32> = (0..20).collect();
            Chance::new(seed).shuffle(&mut items);
            items
        };
        let (once, other) = (shuffled(1), shuffled(2));
        assert_eq!(once, shuffled(1));
        assert_ne!(once, other);
        let mut sorted = once;
        sorted.sort_unstable();
        assert_eq!(sorted, (0..20).collect::<Vec<_>>());
    }
}
