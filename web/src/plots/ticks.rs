//! Where an axis has its numbers, and how they are written.

use crate::bridge::locale::decimal;

/// The numbers of an axis. All have as many decimals; a common power of ten stands apart.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Ticks {
    pub at: Vec<f64>,
    pub labels: Vec<String>,
    /// The power of ten by which the labels are to be multiplied.
    pub power: i32,
}

impl Ticks {
    /// The common factor in words: `×10⁻⁵`; empty where there is none.
    #[must_use]
    pub fn factor(&self) -> String {
        if self.power == 0 { String::new() } else { format!("×10{}", raised(self.power)) }
    }
}

/// Round numbers from `low` to `high`, about `most` of them and never more than twice as many.
#[must_use]
pub fn nice(low: f64, high: f64, most: usize) -> Ticks {
    if !low.is_finite() || !high.is_finite() || low >= high {
        return Ticks::default();
    }
    #[expect(clippy::cast_precision_loss, reason = "a handful")]
    let most = most.max(1) as f64;
    // Parts first: the width may be more than a double can hold.
    let rough = high / most - low / most;
    if rough <= f64::MIN_POSITIVE {
        return Ticks::default();
    }
    let (exponent, factor) = step_above(rough);
    let size = factor * power_of_ten(exponent);
    let (first, last) = ((low / size - 1e-9).ceil(), (high / size + 1e-9).floor());
    let far = low.abs().max(high.abs());
    let power = match exponent_of(far) {
        it if (-3..=5).contains(&it) => 0,
        it => it,
    };
    let decimals = usize::try_from(power - exponent).unwrap_or(0);
    let mut ticks = Ticks { power, ..Ticks::default() };
    let mut index = first;
    while index <= last && ticks.at.len() < 64 {
        let value = index * size;
        // Where the range is as narrow as doubles are, what is rounded may lie outside of it.
        let slack = size * 1e-6;
        if value >= low - slack && value <= high + slack {
            ticks.at.push(value);
            // From the index, so that 0.3 is written as 3 tenths and not as the sum of three tenths.
            let shown = index * factor * power_of_ten(exponent - power);
            ticks.labels.push(decimal(minus(&format!("{shown:.decimals$}"))));
        }
        // Beyond 2^53 there is no next one.
        if index + 1.0 <= index {
            break;
        }
        index += 1.0;
    }
    ticks
}

/// How many numbers a length has room for, at so much for each; two at least.
#[must_use]
pub fn room_for(length: f64, each: f64) -> usize {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "2 to 64")]
    let n = (length / each).clamp(2.0, 64.0) as usize;
    n
}

/// Whole positions from `first` to `last`, about `most` of them.
#[must_use]
pub fn whole(first: i64, last: i64, most: usize) -> Ticks {
    let most = i64::try_from(most.max(1)).unwrap_or(i64::MAX);
    let rough = last.saturating_sub(first).saturating_add(most - 1) / most;
    let mut step = 1_i64;
    for factor in [2, 5, 10].into_iter().cycle() {
        if step >= rough {
            break;
        }
        // 1, 2, 5, 10, 20, …
        step = match factor {
            2 => step.saturating_mul(2),
            5 => (step / 2).saturating_mul(5),
            _ => step.saturating_mul(2),
        };
    }
    let mut ticks = Ticks::default();
    let mut at = first.div_euclid(step).saturating_mul(step);
    while at <= last && ticks.at.len() < 64 {
        if at >= first {
            #[expect(clippy::cast_precision_loss, reason = "positions of points")]
            ticks.at.push(at as f64);
            ticks.labels.push(minus(&at.to_string()));
        }
        at = at.saturating_add(step);
    }
    ticks
}

/// The smallest of 1, 2 and 5 times a power of ten that is no less than `rough`.
fn step_above(rough: f64) -> (i32, f64) {
    let exponent = exponent_of(rough);
    let part = rough / power_of_ten(exponent);
    match part {
        it if it <= 1.0 => (exponent, 1.0),
        it if it <= 2.0 => (exponent, 2.0),
        it if it <= 5.0 => (exponent, 5.0),
        _ => (exponent + 1, 1.0),
    }
}

fn exponent_of(value: f64) -> i32 {
    if value == 0.0 {
        return 0;
    }
    #[expect(clippy::cast_possible_truncation, reason = "-324 to 308")]
    let exponent = value.abs().log10().floor() as i32;
    exponent
}

fn power_of_ten(exponent: i32) -> f64 {
    // Exact as far as doubles are, which a product of tenths is not.
    format!("1e{exponent}").parse().unwrap_or(0.0)
}

/// With the sign that is as wide as a plus; a zero has none.
fn minus(number: &str) -> String {
    match number.strip_prefix('-') {
        Some(rest) if rest.chars().all(|it| matches!(it, '0' | '.')) => rest.to_owned(),
        Some(rest) => format!("−{rest}"),
        None => number.to_owned(),
    }
}

fn raised(number: i32) -> String {
    let of = |it| match it {
        '-' => '⁻',
        '1' => '¹',
        '2' => '²',
        '3' => '³',
        '4' => '⁴',
        '5' => '⁵',
        '6' => '⁶',
        '7' => '⁷',
        '8' => '⁸',
        '9' => '⁹',
        _ => '⁰',
    };
    number.to_string().chars().map(of).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(low: f64, high: f64) -> Vec<String> {
        nice(low, high, 5).labels
    }

    #[test]
    fn ticks_are_round_and_have_the_same_decimals() {
        assert_eq!(labels(-0.1, 1.09), ["0.0", "0.5", "1.0"]);
        assert_eq!(labels(-2.5, 2.5), ["−2", "−1", "0", "1", "2"]);
        assert_eq!(labels(0.0, 1.0), ["0.0", "0.2", "0.4", "0.6", "0.8", "1.0"]);
        assert_eq!(labels(297.1, 345.0), ["300", "310", "320", "330", "340"]);
        assert_eq!(labels(1013.25, 1013.29), ["1013.25", "1013.26", "1013.27", "1013.28", "1013.29"]);
    }

    #[test]
    fn very_large_and_very_small_numbers_have_a_common_factor() {
        let small = nice(0.0, 4.2e-5, 5);
        assert_eq!(
            (small.labels, small.power),
            (vec!["0".into(), "1".into(), "2".into(), "3".into(), "4".into()], -5)
        );
        assert_eq!(nice(-3e8, 3e8, 5).factor(), "×10⁸");
        assert_eq!(nice(0.0, 30_000.0, 5).factor(), "");
    }

    #[test]
    fn zero_has_no_sign() {
        assert_eq!(minus("-0.00"), "0.00");
        assert_eq!(labels(-1.0, 0.0).last().map(String::as_str), Some("0.0"));
    }

    #[test]
    fn the_ticks_of_any_range_lie_within_it_and_are_few() {
        for (low, high) in [
            (-f64::MAX, f64::MAX),
            (1.0, 1.0_f64.next_up()),
            (1e-300, 2e-300),
            (-1e-5, 1e5),
            (0.999_999, 1.000_001),
        ] {
            let found = nice(low, high, 5);
            assert!(found.at.len() <= 11, "{low} to {high}: {found:?}");
            let slack = (high / 2.0 - low / 2.0) * 1e-6;
            assert!(found.at.iter().all(|it| *it >= low - slack && *it <= high + slack), "{found:?}");
        }
        for (low, high) in [(f64::NAN, 1.0), (1.0, 1.0), (2.0, 1.0), (0.0, f64::INFINITY)] {
            assert_eq!(nice(low, high, 5), Ticks::default());
        }
    }

    #[test]
    fn positions_are_whole() {
        assert_eq!(whole(0, 63, 6).labels, ["0", "20", "40", "60"]);
        assert_eq!(whole(0, 4, 6).labels, ["0", "1", "2", "3", "4"]);
        assert_eq!(whole(-3, 12, 6).labels, ["0", "5", "10"]);
        assert_eq!(whole(-3, 3, 8).labels, ["−3", "−2", "−1", "0", "1", "2", "3"]);
        assert_eq!(whole(0, 0, 5).labels, ["0"]);
        assert_eq!(whole(0, 1_000_000, 5).at.len(), 6);
    }
}
