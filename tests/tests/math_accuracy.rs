//! The mathematics errs by no more than it states, against exact values.

use std::collections::BTreeMap;

use isobar_compiler::types::{Function, math};

/// Largest error in units in the last place: in double precision, in single precision, and where it is.
///
/// 0.5 is what rounding alone costs. All single-precision functions are computed in double
/// precision, so that nothing but rounding remains. `docs/math.md` has these figures.
const BOUNDS: [(&str, f64, f64, &str); 20] = [
    (
        "exp",
        0.87,
        0.501,
        "near the ends of an interval, where the sum with 1 rounds most; a subnormal result is rounded twice",
    ),
    ("log", 0.76, 0.501, "near 1.4, where the series counts most"),
    ("log10", 0.501, 0.501, "computed with some 68 bits"),
    ("pow", 0.9, 0.501, "as exp"),
    ("sin", 0.82, 0.501, "near pi/4"),
    ("cos", 0.85, 0.501, "near pi/4"),
    ("tan", 0.96, 0.501, "both together"),
    ("asin", 0.68, 0.501, "from 0.4 to 0.6, where the polynomial counts most"),
    ("acos", 0.67, 0.501, "as asin"),
    ("atan", 0.83, 0.501, "near tan(pi/8)"),
    ("sinh", 0.72, 0.501, "near 0.35, where two terms cancel"),
    ("cosh", 0.61, 0.501, "as sinh"),
    ("tanh", 0.73, 0.501, "both together"),
    ("asinh", 0.64, 0.501, "below 0.25, the polynomial"),
    ("acosh", 0.6, 0.501, "below 1.03, the polynomial"),
    ("atanh", 0.58, 0.501, "below 0.25, the polynomial"),
    ("cbrt", 0.501, 0.501, "computed with more than 60 bits"),
    ("gamma", 0.9, 0.501, "where a negative number is mirrored, or the result is subnormal"),
    ("erf", 0.85, 0.501, "just above 0.5"),
    ("erfc", 0.92, 0.501, "just above 0.5"),
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
    for function in Function::all().filter(|it| it.is_transcendental()) {
        assert!(BOUNDS.iter().any(|(name, ..)| *name == function.name()), "{function}");
    }
}

fn call_f64(function: &str, arguments: &[u64]) -> f64 {
    let x = f64::from_bits(arguments[0]);
    match Function::from_name(function) {
        Some(function) => function.of_f64(x, x),
        None => math::pow_f64(x, f64::from_bits(arguments[1])),
    }
}

fn call_f32(function: &str, arguments: &[u64]) -> f32 {
    let x = single(arguments[0]);
    match Function::from_name(function) {
        Some(function) => function.of_f32(x, x),
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

#[test]
fn the_manual_has_the_figures() {
    let manual = include_str!("../../docs/math.md");
    for (function, double, single, _) in BOUNDS {
        let name = if function == "pow" { "**" } else { function };
        let row = format!("| `{name}` | {double} | {single} |");
        assert!(manual.contains(&row), "docs/math.md lacks `{row}`");
    }
}
