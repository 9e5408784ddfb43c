//! The cubic root.
//!
//! |x| = 2^(3 n) m with m in [1, 8): a polynomial gives the root of m to 13 bits, Halley's step
//! makes some 40 of them, and Newton's, with the cube in two parts, more than a double has.

use super::SHIFT;
use super::double_double::two_product;
use super::real::{Bits, Real, polynomial};

/// `cbrt(x)`
#[inline]
pub(super) fn cbrt<T: Real>(x: T) -> T {
    // 2^54; its cube root is 2^18.
    const SCALE: f64 = 18_014_398_509_481_984.0;
    let size = x.abs().named("size");
    let is_subnormal = size.below(f64::MIN_POSITIVE);
    let scaled = T::choose(is_subnormal, size * SCALE, size).named("scaled");
    let e = T::of_bits((scaled.bits() >> 52) | TWO_52_BITS) - (TWO_52 + 1023.0);
    let e = e.named("e");
    let n = (e * (1.0 / 3.0) + 0.166_666_666_666_666_66).floor().named("n");
    let rest = (e - n * 3.0).named("rest");
    let (one, two) = (rest.is(1.0), rest.is(2.0));
    let fraction = T::of_bits((scaled.bits() & 0x000f_ffff_ffff_ffff) | ONE_BITS).named("fraction");
    let m = (fraction * x.constant(1.0).but(one, 2.0).but(two, 4.0)).named("m");

    // The root of 1 to 2; the error is 2^-13 of it.
    const C: [f64; 4] = [
        0.552_823_478_091_478_5,
        0.587_114_141_619_623_5,
        -0.162_969_550_483_524_27,
        0.023_104_933_170_781_047,
    ];
    let factor = x.constant(1.0).but(one, CBRT_2).but(two, CBRT_4);
    let guess = (polynomial(fraction, C) * factor).named("guess");
    let cube = ((guess * guess) * guess).named("cube");
    let y = (guess * ((cube + m * 2.0) / (cube * 2.0 + m))).named("y");
    let square = two_product(y, y);
    let third = two_product(square.high, y);
    let beyond = ((third.high - m) + third.low) + square.low * y;
    let y = y - beyond / (square.high * 3.0);

    let shift = T::choose(is_subnormal, n - 18.0, n);
    let y = T::of_bits(y.bits().plus((shift + SHIFT).bits() << 52)).signed_as(x);
    // Zeros and infinities are their own roots.
    T::choose((size.above(0.0)) & size.below(f64::INFINITY), y, x).or_nan_of(x)
}

const CBRT_2: f64 = 1.259_921_049_894_873_2;
const CBRT_4: f64 = 1.587_401_051_968_199_4;
/// 2^52: its low bits, set to an integer, make that integer plus 2^52.
const TWO_52: f64 = 4_503_599_627_370_496.0;
const TWO_52_BITS: u64 = 0x4330_0000_0000_0000;
const ONE_BITS: u64 = 0x3ff0_0000_0000_0000;
