//! The mathematics errs by no more than it states, against exact values.

use std::collections::BTreeMap;

use isobar_compiler::types::{Function, math};

/// Largest error in units in the last place: in double precision, in single precision, and why.
///
/// 0.5 is what rounding alone costs. All single-precision functions are computed in double
/// precision, so that nothing but rounding remains.
const BOUNDS: [(&str, f64, f64, &str); 20] = [
    ("exp", 0.78, 0.5001, "0.66, and a second rounding where the result is subnormal"),
    ("log", 0.68, 0.5001, "near 1.4, where the series counts most"),
    ("log10", 0.501, 0.5001, "computed with some 100 bits"),
    ("pow", 0.78, 0.5001, "as exp: the logarithm has some 68 bits"),
    ("sin", 1.0, 0.5001, "libm"),
    ("cos", 1.0, 0.5001, "libm"),
    ("tan", 1.0, 0.5001, "libm"),
    ("asin", 1.0, 0.5001, "libm"),
    ("acos", 1.0, 0.5001, "libm"),
    ("atan", 1.0, 0.5001, "libm"),
    ("sinh", 2.0, 0.5001, "libm, from expm1"),
    ("cosh", 2.0, 0.5001, "libm, from expm1"),
    ("tanh", 2.0, 0.5001, "libm, from expm1"),
    ("asinh", 2.0, 0.5001, "libm, from log1p"),
    ("acosh", 2.0, 0.5001, "libm, from log1p"),
    ("atanh", 2.0, 0.5001, "libm, from log1p"),
    ("cbrt", 0.5001, 0.5001, "libm, correctly rounded"),
    ("gamma", 10.0, 0.5001, "libm: Lanczos' sum, whose power loses digits as x grows"),
    ("erf", 1.0, 0.5001, "libm"),
    ("erfc", 2.5, 0.5001, "libm, as the product of two exponentials"),
];

#[test]
fn no_function_errs_more_than_stated() {
    let mut worst: BTreeMap<(&str, &str), (f64, &str)> = BTreeMap::new();
    for line in include_str!("../golden/math_reference.txt").lines().filter(|it| !it.starts_with('#')) {
        let words: Vec<&str> = line.split(' ').collect();
        let [function, precision, arguments @ .., rounded, remainder] = words.as_slice() else {
            panic!("not a line of the table: {line}");
        };
        let arguments: Vec<u64> = arguments.iter().map(|it| bits(it)).collect();
        let remainder: f64 = remainder.parse().expect("a number");
        let distance = match *precision {
            "f64" => ordinal_f64(call_f64(function, &arguments)) - ordinal_f64(f64::from_bits(bits(rounded))),
            _ => ordinal_f32(call_f32(function, &arguments)) - ordinal_f32(single(bits(rounded))),
        };
        // Both grow with the value, also below zero.
        let error = (distance as f64 - remainder).abs();
        let entry = worst.entry((function, precision)).or_default();
        if error > entry.0 {
            *entry = (error, line);
        }
    }

    assert_eq!(worst.len(), 2 * BOUNDS.len(), "the table has every function in both precisions");
    for (function, double, single, _) in BOUNDS {
        for (precision, bound) in [("f64", double), ("f32", single)] {
            let (error, line) = worst[&(function, precision)];
            println!("{function} {precision}: {error:.4}");
            assert!(error <= bound, "{function} {precision} errs by {error:.4} and states {bound}: {line}");
        }
    }
}

#[test]
fn every_approximated_function_states_its_error() {
    for function in Function::ALL.into_iter().filter(|it| it.is_transcendental()) {
        assert!(BOUNDS.iter().any(|(name, ..)| *name == function.name()), "{function}");
    }
}

fn call_f64(function: &str, arguments: &[u64]) -> f64 {
    let x = f64::from_bits(arguments[0]);
    match Function::from_name(function) {
        Some(function) => math::call_f64(function, x),
        None => math::pow_f64(x, f64::from_bits(arguments[1])),
    }
}

fn call_f32(function: &str, arguments: &[u64]) -> f32 {
    let x = single(arguments[0]);
    match Function::from_name(function) {
        Some(function) => math::call_f32(function, x),
        None => math::pow_f32(x, single(arguments[1])),
    }
}

fn bits(hex: &str) -> u64 {
    u64::from_str_radix(hex, 16).expect("hexadecimal digits")
}

fn single(bits: u64) -> f32 {
    f32::from_bits(u32::try_from(bits).expect("32 bits"))
}

/// Numbers neighbouring floats with neighbouring integers; both zeros are 0.
fn ordinal_f64(x: f64) -> i64 {
    let size = (x.to_bits() & (u64::MAX >> 1)) as i64;
    if x.is_sign_negative() { -size } else { size }
}

fn ordinal_f32(x: f32) -> i64 {
    let size = i64::from(x.to_bits() & (u32::MAX >> 1));
    if x.is_sign_negative() { -size } else { size }
}
