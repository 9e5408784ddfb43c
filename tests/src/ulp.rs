//! Distances between floating-point numbers, counted in units in the last place.

use isobar_compiler::types::Value;

/// How many representable numbers lie between two values of one type, plus one; 0 for the same
/// number, for both zeros, and for two NaNs. Values of different types are as far apart as can be.
#[must_use]
pub fn distance(a: Value, b: Value) -> u64 {
    match (a, b) {
        (Value::Float64(a), Value::Float64(b)) => {
            between(a.is_nan(), b.is_nan(), line(a.to_bits(), 63), line(b.to_bits(), 63))
        }
        (Value::Float32(a), Value::Float32(b)) => between(
            a.is_nan(),
            b.is_nan(),
            line(u64::from(a.to_bits()), 31),
            line(u64::from(b.to_bits()), 31),
        ),
        (a, b) if a.dtype() == b.dtype() => a.as_i64().abs_diff(b.as_i64()),
        _ => u64::MAX,
    }
}

/// The difference of two floats in units in the last place of a third, rounded up; integers differ by [`distance`].
#[must_use]
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "saturates, and is not negative")]
pub fn distance_at(a: Value, b: Value, scale: Value) -> u64 {
    let unit = match scale {
        Value::Float64(it) => it.next_up() - it,
        Value::Float32(it) => f64::from(it.next_up() - it),
        _ => return distance(a, b),
    };
    let difference = (a.as_f64() - b.as_f64()).abs();
    if difference.is_nan() { distance(a, b) } else { (difference / unit).ceil() as u64 }
}

/// The place of a float among all floats in order; both zeros have the place 0.
#[expect(clippy::cast_possible_wrap, reason = "the sign bit was taken off")]
fn line(bits: u64, sign: u32) -> i64 {
    let magnitude = (bits & ((1 << sign) - 1)) as i64;
    if bits >> sign == 0 { magnitude } else { -magnitude }
}

fn between(is_a_nan: bool, is_b_nan: bool, a: i64, b: i64) -> u64 {
    match (is_a_nan, is_b_nan) {
        (false, false) => a.abs_diff(b),
        (true, true) => 0,
        _ => u64::MAX,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours_are_one_apart_across_zero_too() {
        let apart = |a: f64, b: f64| distance(Value::Float64(a), Value::Float64(b));
        assert_eq!(apart(1.0, 1.0_f64.next_up()), 1);
        assert_eq!(apart(0.0, -0.0), 0);
        assert_eq!(apart(0.0_f64.next_up(), 0.0_f64.next_down()), 2);
        assert_eq!(apart(f64::NAN, f64::NAN), 0);
        assert_eq!(apart(f64::NAN, 1.0), u64::MAX);
        assert_eq!(distance(Value::Float32(1.0), Value::Float32(1.0_f32.next_down())), 1);
        assert_eq!(distance(Value::Int32(-2), Value::Int32(5)), 7);
        assert_eq!(distance(Value::Int32(1), Value::Float32(1.0)), u64::MAX);
    }

    #[test]
    fn a_scale_says_how_large_a_unit_is() {
        let (zero, tiny) = (Value::Float64(0.0), Value::Float64(1e-16));
        assert_eq!(distance_at(zero, tiny, Value::Float64(1.0)), 1);
        assert_eq!(distance_at(zero, Value::Float64(1.0), Value::Float64(1.0)), 1 << 52);
    }
}
