//! Numbers as unevaluated sums of two doubles: about 106 bits.
//!
//! T. J. Dekker, "A floating-point technique for extending the available precision",
//! Numerische Mathematik 18 (1971); the names follow D. E. Knuth and J. R. Shewchuk.

use super::real::Real;

/// `high + low`, with `low` at most a few units in the last place of `high`.
#[derive(Clone, Copy)]
pub(super) struct Double<T> {
    pub(super) high: T,
    pub(super) low: T,
}

/// `a + b` exactly, for `|a| >= |b|` or `a == 0`.
#[inline]
pub(super) fn quick_two_sum<T: Real>(a: T, b: T) -> Double<T> {
    let high = a + b;
    Double { high, low: b - (high - a) }
}

/// `a * b` exactly, within the range of [`Real::product_error`].
#[inline]
pub(super) fn two_product<T: Real>(a: T, b: T) -> Double<T> {
    let high = a * b;
    Double { high, low: a.product_error(b, high) }
}

/// `a * b` to about 104 bits, not normalised.
#[inline]
pub(super) fn product<T: Real>(a: Double<T>, b: Double<T>) -> Double<T> {
    let p = two_product(a.high, b.high);
    Double { high: p.high, low: p.low + (a.high * b.low + a.low * b.high) }
}
