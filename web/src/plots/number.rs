//! Numbers for people: short in a legend, exact under the pointer.
//!
//! Short numbers are written as the reader's language writes them, exact ones as code does.

use crate::bridge::locale::{decimal, t};

/// At most `digits` significant digits, without trailing zeros; with an exponent where that is shorter to read.
#[must_use]
pub fn short(value: f64, digits: usize) -> String {
    if value.is_nan() {
        return "NaN".to_owned();
    }
    if value.is_infinite() {
        return if value > 0.0 { "inf" } else { "-inf" }.to_owned();
    }
    if value == 0.0 {
        // A legend has no use for the sign of a zero.
        return "0".to_owned();
    }
    let scientific = format!("{value:.*e}", digits.saturating_sub(1));
    let (mantissa, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    if !(-4..=6).contains(&exponent) {
        return decimal(format!("{}e{exponent}", trimmed(mantissa)));
    }
    let decimals = i32::try_from(digits).unwrap_or(6) - 1 - exponent;
    decimal(trimmed(&format!("{value:.*}", usize::try_from(decimals.max(0)).unwrap_or(0))).to_owned())
}

fn trimmed(number: &str) -> &str {
    if number.contains('.') { number.trim_end_matches('0').trim_end_matches('.') } else { number }
}

/// So many digits that a value of the type reads back to the same bits.
#[must_use]
pub fn exact(value: f64, dtype: &str) -> String {
    if value.is_nan() {
        return "NaN".to_owned();
    }
    #[expect(clippy::cast_possible_truncation, reason = "the value was a float32 before")]
    match dtype {
        "float64" => format!("{value:?}"),
        "float32" => format!("{:?}", value as f32),
        "bool" => if value == 0.0 { "false" } else { "true" }.to_owned(),
        _ => format!("{value}"),
    }
}

/// `1,234,567`
#[must_use]
pub fn grouped(count: u64) -> String {
    let (digits, mark) = (count.to_string(), t!("plots-thousands"));
    let mut out = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push_str(mark);
        }
        out.push(digit);
    }
    out
}

/// Milliseconds with no more digits than mean something.
#[must_use]
pub fn milliseconds(ms: f64) -> String {
    decimal(if ms >= 10_000.0 {
        format!("{:.1} s", ms / 1000.0)
    } else if ms >= 100.0 {
        format!("{ms:.0} ms")
    } else if ms >= 1.0 {
        format!("{ms:.1} ms")
    } else {
        format!("{ms:.2} ms")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn legends_are_short() {
        assert_eq!(short(0.0, 4), "0");
        assert_eq!(short(-0.0, 4), "0");
        assert_eq!(short(1.0, 4), "1");
        assert_eq!(short(-0.123_456, 4), "-0.1235");
        assert_eq!(short(300.0, 4), "300");
        assert_eq!(short(1.0e-9, 4), "1e-9");
        assert_eq!(short(1.234_567e12, 4), "1.235e12");
        assert_eq!(short(f64::NAN, 4), "NaN");
        assert_eq!(short(f64::NEG_INFINITY, 4), "-inf");
    }

    #[test]
    fn counts_are_grouped_by_thousands() {
        assert_eq!(grouped(0), "0");
        assert_eq!(grouped(999), "999");
        assert_eq!(grouped(1_234_567), "1,234,567");
    }

    #[test]
    fn values_under_the_pointer_are_exact() {
        assert_eq!(exact(0.1, "float64"), "0.1");
        assert_eq!(exact(f64::from(0.1_f32), "float32"), "0.1");
        assert_eq!(exact(3.0, "int32"), "3");
        assert_eq!(exact(1.0, "bool"), "true");
    }
}
