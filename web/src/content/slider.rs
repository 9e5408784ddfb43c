//! How far a slider reaches.

/// The range of a slider around a value of unknown limits: up to twice the value, or -1 to 1 for zero.
#[must_use]
pub fn around(value: f64) -> [f64; 2] {
    let twice = 2.0 * value;
    match value {
        it if it > 0.0 => [0.0, twice],
        it if it < 0.0 => [twice, 0.0],
        _ => [-1.0, 1.0],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slider_reaches_from_zero_to_twice_the_value() {
        let ends = |it| format!("{:?}", around(it));
        assert_eq!(ends(0.025), "[0.0, 0.05]");
        assert_eq!(ends(-3.0), "[-6.0, 0.0]");
        assert_eq!(ends(0.0), "[-1.0, 1.0]");
    }
}
