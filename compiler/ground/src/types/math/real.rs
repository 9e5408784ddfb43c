//! The arithmetic over which definitions of functions are written.
//!
//! A definition is one generic function. With `f64` for [`Real`] it computes; with what a
//! [`Recorder`](super::record::Recorder) hands out it writes its steps down, and code generators
//! translate those. So there are no branches in a definition: both sides of a choice are computed.
//!
//! Every operation is exact or correctly rounded everywhere, and none is fused but
//! [`Real::product_error`], whose result is the same with a fused operation and without.

use std::ops::{Add, BitAnd, BitOr, Div, Mul, Neg, Not, Shl, Shr, Sub};

/// Numbers that a definition looks up; its text is part of the generated code.
#[derive(Debug)]
pub struct Table {
    /// In capitals, as in the formulas.
    pub name: &'static str,
    /// The meaning of the entries, in one line.
    pub about: &'static str,
    pub values: &'static [f64],
}

/// The answer to a comparison.
pub trait Truth: Copy + BitAnd<Output = Self> + BitOr<Output = Self> + Not<Output = Self> {}

/// The bits of a number, as an integer of 64 bits that wraps.
pub trait Bits:
    Copy
    + BitAnd<u64, Output = Self>
    + BitOr<u64, Output = Self>
    + BitOr<Output = Self>
    + Shl<u32, Output = Self>
    + Shr<u32, Output = Self>
{
    /// The sum, wrapping.
    #[must_use]
    fn plus(self, other: Self) -> Self;

    /// The sum with a constant, wrapping.
    #[must_use]
    fn plus_constant(self, other: u64) -> Self;
}

/// A number in double precision.
pub trait Real:
    Copy
    + Neg<Output = Self>
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
    + Add<f64, Output = Self>
    + Sub<f64, Output = Self>
    + Mul<f64, Output = Self>
    + Div<f64, Output = Self>
{
    type Truth: Truth;
    type Bits: Bits;

    /// A number that is the same in every call; `self` only tells where to compute.
    #[must_use]
    fn constant(self, value: f64) -> Self;

    /// Names this value in generated code. It changes nothing.
    #[must_use]
    fn named(self, name: &'static str) -> Self;

    #[must_use]
    fn abs(self) -> Self;

    #[must_use]
    fn sqrt(self) -> Self;

    #[must_use]
    fn floor(self) -> Self;

    /// The nearest integer, ties to the even one.
    #[must_use]
    fn nearest(self) -> Self;

    /// `self * other - product` exactly, given the rounded product.
    ///
    /// One fused operation where there is one, and Dekker's splitting elsewhere. They agree as long as the
    /// product is below 2^996 and its last bit is above 2^-1074. Elsewhere, and where the product is not
    /// finite, a definition must not depend on the result.
    #[must_use]
    fn product_error(self, other: Self, product: Self) -> Self;

    /// `self < other`
    fn less(self, other: Self) -> Self::Truth;

    /// `self == other`
    fn equals(self, other: Self) -> Self::Truth;

    /// `yes` where the condition holds, else `no`.
    #[must_use]
    fn choose(condition: Self::Truth, yes: Self, no: Self) -> Self;

    fn bits(self) -> Self::Bits;

    #[must_use]
    fn of_bits(bits: Self::Bits) -> Self;

    /// The entry of a table; the index is in it.
    #[must_use]
    fn pick(table: &'static Table, index: Self::Bits) -> Self;

    /// `self < bound`
    #[inline]
    fn below(self, bound: f64) -> Self::Truth {
        self.less(self.constant(bound))
    }

    /// `self > bound`
    #[inline]
    fn above(self, bound: f64) -> Self::Truth {
        self.constant(bound).less(self)
    }

    /// `self == value`
    #[inline]
    fn is(self, value: f64) -> Self::Truth {
        self.equals(self.constant(value))
    }

    #[inline]
    fn is_nan(self) -> Self::Truth {
        !self.equals(self)
    }

    /// `other` where the condition holds.
    #[inline]
    #[must_use]
    fn but(self, condition: Self::Truth, other: f64) -> Self {
        Self::choose(condition, self.constant(other), self)
    }

    /// The plain NaN where `x` is one: which NaN a machine makes is its own choice.
    #[inline]
    #[must_use]
    fn or_nan_of(self, x: Self) -> Self {
        self.but(x.is_nan(), f64::NAN)
    }

    /// Times the sign of another number.
    #[inline]
    #[must_use]
    fn signed_as(self, other: Self) -> Self {
        Self::of_bits(self.bits().plus(other.bits() & SIGN_BIT))
    }
}

/// The bit of the sign.
const SIGN_BIT: u64 = 1 << 63;

impl Truth for bool {}

impl Bits for u64 {
    #[inline]
    fn plus(self, other: Self) -> Self {
        self.wrapping_add(other)
    }

    #[inline]
    fn plus_constant(self, other: u64) -> Self {
        self.wrapping_add(other)
    }
}

/// Computes.
impl Real for f64 {
    type Truth = bool;
    type Bits = u64;

    #[inline]
    fn constant(self, value: f64) -> f64 {
        value
    }

    #[inline]
    fn named(self, _: &'static str) -> f64 {
        self
    }

    #[inline]
    fn abs(self) -> f64 {
        f64::abs(self)
    }

    #[inline]
    fn sqrt(self) -> f64 {
        f64::sqrt(self)
    }

    #[inline]
    fn floor(self) -> f64 {
        f64::floor(self)
    }

    #[inline]
    fn nearest(self) -> f64 {
        self.round_ties_even()
    }

    /// T. J. Dekker, "A floating-point technique for extending the available precision", Numerische
    /// Mathematik 18 (1971), section 5. Both factors are split into two numbers of 26 bits, whose products
    /// are exact. Not [`f64::mul_add`], which is a call where the target has no such operation.
    #[inline]
    fn product_error(self, other: f64, product: f64) -> f64 {
        let (a, a_rest) = halves(self);
        let (b, b_rest) = halves(other);
        ((a * b - product) + a * b_rest + a_rest * b) + a_rest * b_rest
    }

    #[inline]
    fn less(self, other: f64) -> bool {
        self < other
    }

    #[inline]
    #[expect(clippy::float_cmp, reason = "the comparison is what is asked for")]
    fn equals(self, other: f64) -> bool {
        self == other
    }

    #[inline]
    fn choose(condition: bool, yes: f64, no: f64) -> f64 {
        if condition { yes } else { no }
    }

    #[inline]
    fn bits(self) -> u64 {
        self.to_bits()
    }

    #[inline]
    fn of_bits(bits: u64) -> f64 {
        f64::from_bits(bits)
    }

    #[inline]
    #[expect(clippy::cast_possible_truncation, reason = "an index is small")]
    fn pick(table: &'static Table, index: u64) -> f64 {
        table.values[index as usize]
    }
}

/// `a` as two numbers of 26 bits.
#[inline]
fn halves(a: f64) -> (f64, f64) {
    // 2^27 + 1
    let scaled = 134_217_729.0 * a;
    let high = scaled - (scaled - a);
    (high, a - high)
}

/// `c[0] + c[1] x + c[2] x^2 + ...` for at least one coefficient: blocks of four from the highest
/// down, so that few operations wait for others.
#[inline]
pub(super) fn polynomial<T: Real, const N: usize>(x: T, c: [f64; N]) -> T {
    let square = x * x;
    let step = square * square;
    let block = |at: usize| match N - at {
        1 => x.constant(c[at]),
        2 => x * c[at + 1] + c[at],
        3 => square * c[at + 2] + (x * c[at + 1] + c[at]),
        _ => square * (x * c[at + 3] + c[at + 2]) + (x * c[at + 1] + c[at]),
    };
    let mut at = (N - 1) / 4 * 4;
    let mut sum = block(at);
    while at > 0 {
        at -= 4;
        sum = step * sum + block(at);
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_error_of_a_product_is_that_of_a_fused_operation() {
        let mut state = 0x9e37_79b9_7f4a_7c15_u64;
        let mut random = || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            // Exponents from -400 to 400.
            let exponent = 1023 - 400 + (state >> 3) % 801;
            f64::from_bits((state & ((1 << 63) | ((1 << 52) - 1))) | exponent << 52)
        };
        for _ in 0..100_000 {
            let (a, b) = (random(), random());
            let p = a * b;
            #[expect(clippy::disallowed_methods, reason = "the other way to compute the same")]
            let fused = f64::mul_add(a, b, -p);
            assert_eq!(a.product_error(b, p).to_bits(), (fused + 0.0).to_bits(), "{a} * {b}");
        }
    }

    #[test]
    fn polynomials_have_their_coefficients_in_order() {
        assert_eq!(polynomial(2.0, [3.0]).to_bits(), 3.0_f64.to_bits());
        assert_eq!(polynomial(2.0, [3.0, 1.0]).to_bits(), 5.0_f64.to_bits());
        assert_eq!(polynomial(2.0, [3.0, 1.0, 5.0]).to_bits(), 25.0_f64.to_bits());
        assert_eq!(polynomial(2.0, [3.0, 1.0, 5.0, 1.0]).to_bits(), 33.0_f64.to_bits());
        assert_eq!(polynomial(2.0, [1.0; 9]).to_bits(), 511.0_f64.to_bits());
        assert_eq!(polynomial(2.0, [1.0; 16]).to_bits(), 65535.0_f64.to_bits());
        assert_eq!(polynomial(2.0, [0.0, 0.0, 0.0, 0.0, 0.0, 1.0, 1.0]).to_bits(), 96.0_f64.to_bits());
    }
}
