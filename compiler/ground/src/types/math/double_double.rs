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

/// `a + b` exactly, whichever is larger.
#[inline]
pub(super) fn two_sum<T: Real>(a: T, b: T) -> Double<T> {
    let high = a + b;
    let b_part = high - a;
    Double { high, low: (a - (high - b_part)) + (b - b_part) }
}

/// `a / b` to about 104 bits, not normalised.
#[inline]
pub(super) fn quotient<T: Real>(a: Double<T>, b: Double<T>) -> Double<T> {
    let high = (a.high / b.high).named("quotient");
    let p = two_product(high, b.high);
    let missing = ((a.high - p.high) - p.low) + (a.low - high * b.low);
    Double { high, low: missing / b.high }
}

/// The square root to about 104 bits, not normalised; of zero, zero.
#[inline]
pub(super) fn root<T: Real>(a: Double<T>) -> Double<T> {
    let high = a.high.sqrt().named("root");
    let square = two_product(high, high);
    let missing = ((a.high - square.high) - square.low) + a.low;
    let twice = high * 2.0;
    Double { high, low: missing / twice.but(high.is(0.0), 1.0) }
}

impl<T: Real> Double<T> {
    /// A constant.
    #[inline]
    pub(super) fn constant(beside: T, high: f64, low: f64) -> Self {
        Self { high: beside.constant(high), low: beside.constant(low) }
    }

    /// The nearest double.
    #[inline]
    pub(super) fn rounded(self) -> T {
        self.high + self.low
    }

    /// `yes` where the condition holds, else `no`.
    #[inline]
    pub(super) fn choose(condition: T::Truth, yes: Self, no: Self) -> Self {
        Self { high: T::choose(condition, yes.high, no.high), low: T::choose(condition, yes.low, no.low) }
    }
}
