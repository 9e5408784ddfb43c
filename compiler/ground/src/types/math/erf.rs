//! The error function and its complement.
//!
//! erf(x) is a polynomial up to 1/2. Beyond, erfc(x) = exp(-x^2) f(t) / (1 + 2 x), where f is a
//! polynomial in t = (x - 4) / (x + 4) (M. M. Shepherd and J. G. Laframboise, "Chebyshev approximation
//! of (1 + 2x) exp(x^2) erfc x in 0 <= x < infinity", Mathematics of Computation 36 (1981)); what is
//! large is in two parts.

use super::double_double::{Double, product, quick_two_sum, quotient, two_product, two_sum};
use super::exp::{exp_double, power_of_two};
use super::real::{Real, polynomial};

/// `erf(x)`
#[inline]
pub(super) fn erf<T: Real>(x: T) -> T {
    let size = x.abs().named("size");
    let small = near(size).rounded();
    // Beyond, the result is 1.
    let (y, k) = complement(size.but(size.above(6.0), 6.0));
    let power = power_of_two(k).named("power");
    let far = quick_two_sum(x.constant(1.0), -(y.high * power));
    let far = far.high + (far.low - y.low * power);
    T::choose(size.below(0.5), small.named("small"), far.named("far")).signed_as(x).or_nan_of(x)
}

/// `erfc(x)`
#[inline]
pub(super) fn erfc<T: Real>(x: T) -> T {
    let size = x.abs().named("size");
    let small = near(x);
    let one = quick_two_sum(x.constant(1.0), -small.high);
    let small = one.high + (one.low - small.low);

    let (y, k) = complement(size);
    // For a large number the result is subnormal. So it is multiplied by the power of two in two steps, and
    // only the second rounds.
    let half = (k * 0.5).nearest().named("half");
    let (first, second) = (power_of_two(half).named("first"), power_of_two(k - half).named("second"));
    let positive = (y.rounded() * first) * second;
    let (high, low) = (((y.high * first) * second).named("high"), (y.low * first) * second);
    let two = quick_two_sum(x.constant(2.0), -high);
    let negative = two.high + (two.low - low);
    let far = T::choose(x.below(0.0), negative.named("negative"), positive.named("positive"));
    T::choose(size.below(0.5), small.named("small"), far).or_nan_of(x)
}

/// `erf(x)` of a number up to 1/2.
#[inline]
fn near<T: Real>(x: T) -> Double<T> {
    // erf(x) / x - 1; the error is 2^-56.
    const C: [f64; 9] = [
        0.128_379_167_095_512_56,
        -0.376_126_389_031_834_76,
        0.112_837_916_709_255_61,
        -0.026_866_170_632_954_18,
        0.005_223_977_374_062_389,
        -0.000_854_829_784_248_427_3,
        0.000_120_533_393_219_192_21,
        -1.484_595_256_862_008_5e-05,
        1.472_689_842_017_577_3e-06,
    ];
    Double { high: x, low: (x * polynomial(x * x, C)).named("low") }
}

/// `erfc(size)` over 2^k, and k, for a number from 1/2 on.
#[inline]
fn complement<T: Real>(size: T) -> (Double<T>, T) {
    // f(t) = (1 + 2 x) exp(x^2) erfc(x), first of t = 0, then what t multiplies; the error is 2^-56.
    let middle = Double::constant(size, 1.232_995_118_625_552_6, -4.625_318_921_008_717e-17);
    const C: [f64; 22] = [
        -0.139_621_116_840_562_5,
        0.015_379_652_102_619_915,
        0.068_097_054_254_688_2,
        -0.101_039_066_036_314_14,
        0.093_732_834_998_549_17,
        -0.066_330_365_811_979_42,
        0.037_167_515_533_467_19,
        -0.016_197_734_060_912_284,
        0.005_031_970_022_229_555,
        -0.000_757_773_264_180_216_8,
        -0.000_199_256_989_241_020_57,
        0.000_150_621_555_631_099_32,
        -2.439_796_345_920_962_3e-5,
        -1.122_165_356_399_192_7e-5,
        5.706_263_472_764_989e-6,
        2.930_659_803_852_392e-7,
        -8.191_629_717_051_326e-7,
        7.553_729_451_905_039e-8,
        1.029_700_052_638_308_1e-7,
        -1.854_040_529_517_527_8e-8,
        -9.550_921_365_366_54e-9,
        2.026_164_261_365_748_7e-9,
    ];
    // The derivative of f to some 1 %.
    const SLOPE: [f64; 5] = [
        -0.134_826_694_171_042_15,
        0.087_418_974_659_508_61,
        0.103_440_928_531_155_01,
        -0.763_564_187_090_314,
        0.803_016_690_336_880_3,
    ];
    // Beyond, the result is zero.
    let a = size.but(size.above(30.0), 30.0).named("a");
    let four = a.constant(4.0);
    let t = quotient(two_sum(a, -four), two_sum(a, four));
    let (t, t_low) = (t.high.named("t"), t.low);
    let sum = quick_two_sum(middle.high, (t * polynomial(t, C)).named("steep"));
    let f = Double { high: sum.high, low: sum.low + (middle.low + t_low * polynomial(t, SLOPE)) };

    let ratio = quotient(f, two_sum(a.constant(1.0), a * 2.0));
    let square = two_product(a, a);
    let (power, k) = exp_double(Double { high: -square.high, low: -square.low });
    let y = product(power, ratio);
    (quick_two_sum(y.high, y.low), k)
}
