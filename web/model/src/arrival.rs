//! The compiler's program on its way.

/// How much of the program has arrived of how much, in kB as they travel.
#[must_use]
pub fn loaded(arrived: u64, is_packed: bool, sizes: Option<[u64; 2]>) -> Option<[u64; 2]> {
    let [unpacked, packed] = sizes?;
    let total = if is_packed { packed } else { unpacked };
    Some([arrived.min(unpacked) * total / unpacked.max(1) / 1000, total / 1000])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_has_arrived_is_told_as_it_travels() {
        assert_eq!(loaded(2_000_000, true, Some([4_000_000, 900_000])), Some([450, 900]));
        assert_eq!(loaded(2_000_000, false, Some([4_000_000, 900_000])), Some([2000, 4000]));
        assert_eq!(loaded(9, true, Some([0, 0])), Some([0, 0]));
        assert_eq!(loaded(9, true, None), None);
    }
}
