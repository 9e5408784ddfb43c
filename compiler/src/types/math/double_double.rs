//! Numbers as unevaluated sums of two doubles: about 106 bits.
//!
//! T. J. Dekker, "A floating-point technique for extending the available precision",
//! Numerische Mathematik 18 (1971); the names follow D. E. Knuth and J. R. Shewchuk.

/// `high + low`, with `low` at most half a unit in the last place of `high`.
#[derive(Clone, Copy)]
pub(super) struct Double {
    pub(super) high: f64,
    pub(super) low: f64,
}

/// `a + b` exactly, for `|a| >= |b|` or `a == 0`.
#[inline]
pub(super) fn quick_two_sum(a: f64, b: f64) -> Double {
    let high = a + b;
    Double { high, low: b - (high - a) }
}

/// `a + b` exactly, whichever is larger.
#[inline]
pub(super) fn two_sum(a: f64, b: f64) -> Double {
    let high = a + b;
    let b_part = high - a;
    Double { high, low: (a - (high - b_part)) + (b - b_part) }
}

/// `a` as two numbers of 26 bits, whose products with another such pair are exact.
#[inline]
fn split(a: f64) -> Double {
    // 2^27 + 1
    let scaled = 134_217_729.0 * a;
    let high = scaled - (scaled - a);
    Double { high, low: a - high }
}

/// `a * b` exactly, while neither overflows nor underflows. Without a fused operation, so that it
/// costs the same on every machine and has the same bits.
#[inline]
pub(super) fn two_product(a: f64, b: f64) -> Double {
    let high = a * b;
    let (x, y) = (split(a), split(b));
    let low = ((x.high * y.high - high) + x.high * y.low + x.low * y.high) + x.low * y.low;
    Double { high, low }
}

/// `a * b` to about 104 bits, not normalised.
#[inline]
pub(super) fn product(a: Double, b: Double) -> Double {
    let p = two_product(a.high, b.high);
    Double { high: p.high, low: p.low + (a.high * b.low + a.low * b.high) }
}
