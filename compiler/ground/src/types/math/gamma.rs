//! The gamma function.
//!
//! From 8 on, log(gamma(x)) is Stirling's series, with all large terms in two parts (J. F. Hart et al.,
//! "Computer Approximations", 1968, section 6.6). Below 8, gamma(x) = gamma(x + n) / (x (x + 1) ... (x + n -
//! 1)). For negative numbers, gamma(-x) = -pi / (x sin(pi x) gamma(x)).

use super::double_double::{Double, product, quick_two_sum, quotient, two_sum};
use super::exp::exp_double;
use super::exp::power_of_two;
use super::log::log_double;
use super::real::{Real, polynomial};
use super::trigonometric::{cosine, sine};

const PI: (f64, f64) = (std::f64::consts::PI, 1.224_646_799_147_353_2e-16);
/// log(2 pi) / 2
const HALF_LOG_2_PI: (f64, f64) = (0.918_938_533_204_672_8, -3.878_294_158_067_241_4e-17);

/// `gamma(x)`
#[inline]
pub(super) fn gamma<T: Real>(x: T) -> T {
    let size = x.abs().named("size");
    let is_negative = x.below(0.0);
    // Beyond, the result is infinite, or zero.
    let a = size.but(size.above(200.0), 200.0).named("a");

    // Up to 8, with the product of what is passed.
    let (zero, one) = (x.constant(0.0), x.constant(1.0));
    let mut passed = Double { high: one, low: zero };
    let mut at = Double { high: a, low: zero };
    for _ in 0..8 {
        let is_low = at.high.below(8.0);
        let next = product(passed, at);
        passed = Double::choose(is_low, quick_two_sum(next.high, next.low), passed);
        let next = two_sum(at.high, one);
        at = Double::choose(is_low, Double { high: next.high, low: next.low + at.low }, at);
    }
    let at = quick_two_sum(at.high, at.low);

    // (x - 1/2) log(x) - x + log(2 pi)/2 + series
    let log = log_double(at.high);
    let log = Double { high: log.high, low: log.low + at.low / at.high };
    let less = two_sum(at.high, x.constant(-0.5));
    let main = product(Double { high: less.high, low: less.low + at.low }, log);
    let first = two_sum(main.high, -at.high);
    let second = two_sum(first.high, x.constant(HALF_LOG_2_PI.0));
    // Stirling's series in 1/x^2, times x; the error is 2^-63.
    const C: [f64; 7] = [
        0.083_333_333_333_333_33,
        -0.002_777_777_777_767_437,
        0.000_793_650_786_410_803,
        -0.000_595_235_853_405_156_2,
        0.000_841_392_283_330_206_9,
        -0.001_886_407_138_905_207,
        0.004_987_735_991_580_663,
    ];
    let inverse = (one / at.high).named("inverse");
    let series = inverse * polynomial(inverse * inverse, C);
    let low = ((main.low - at.low) + (first.low + second.low)) + (series + HALF_LOG_2_PI.1);
    let (power, k) = exp_double(quick_two_sum(second.high, low));

    // sin(pi x), from the distance to the nearest integer.
    let n = size.nearest().named("n");
    let distance = (size - n).abs().named("distance");
    let is_far = distance.above(0.25);
    let angle = T::choose(is_far, -distance + 0.5, distance).named("angle");
    let angle = product(Double::constant(x, PI.0, PI.1), Double { high: angle, low: zero });
    let angle = quick_two_sum(angle.high, angle.low);
    let sin = Double::choose(is_far, cosine(angle), sine(angle));
    let sin = quick_two_sum(sin.high, sin.low);

    let mirrored = product(product(Double { high: a, low: zero }, sin), power);
    let upper = Double::choose(is_negative, product(Double::constant(x, PI.0, PI.1), passed), power);
    let lower = Double::choose(is_negative, mirrored, passed);
    let y = quotient(upper, lower).rounded().named("y");
    let k = T::choose(is_negative, -k, k);
    let half = (k * 0.5).nearest().named("half");
    let y = (y * power_of_two(half)) * power_of_two(k - half);

    // Between -1 and 0 it is negative, between -2 and -1 positive, and so on.
    let below = (size.floor() * 0.5).named("below");
    let is_minus = is_negative & below.floor().equals(below);
    let y = T::choose(is_minus, -y, y);
    let y = T::choose(size.below(TINY), one / x, y);
    let is_pole = is_negative & (n.equals(size) & size.above(0.0));
    y.but(x.is(f64::INFINITY), f64::INFINITY).but(is_pole | x.is_nan(), f64::NAN)
}

/// Below, the result is 1/x.
const TINY: f64 = 1e-20;
