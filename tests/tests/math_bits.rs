//! Generated C computes the same bits as the compiler's own mathematics.
//!
//! A child program is compiled from the headers that generated code carries. It reads operands and writes
//! results. Each function is a loop over arrays, as in generated code, so that the C compiler vectorises it
//! where it can.
//!
//! It is compiled three times: as a run is, for a machine without a fused operation, and without any
//! optimisation. In the last one every operation is done one by one.

#![expect(clippy::cast_possible_truncation, reason = "operands are drawn as bits and cut to their type")]

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use isobar_compiler::c_family::Language;
use isobar_compiler::c_family::math::{Callee, FLAGS, name, sections};
use isobar_compiler::expr::evaluate::integer_power;
use isobar_compiler::types::{DType, Function, Primitive, math};

/// A C function and what its result must be; operands and results are bits, widened with zeros.
struct Case {
    symbol: String,
    dtype: DType,
    arity: usize,
    /// Whether a NaN must have the same bits too, and not only be one.
    is_nan_exact: bool,
    expected: Box<dyn Fn(u64, u64) -> u64>,
}

#[test]
fn every_function_has_the_same_bits_in_c() {
    let cases = cases();
    let source = source(&cases);
    let ways = [(&["-O3", "-march=native"][..], 100_000), (&["-O2"], 30_000), (&["-O0"], 10_000)];
    for (flags, n_random) in ways {
        let Some(program) = compile(&source, flags) else {
            return isobar_testing::skip("functions in C", "there is no C compiler `cc`");
        };
        for case in &cases {
            check(case, &program, flags, n_random);
        }
    }
}

fn check(case: &Case, program: &Path, flags: &[&str], n_random: usize) {
    let (a, b) = operands(case, n_random);
    let results = run(program, case, &a, &b);
    assert_eq!(results.len(), a.len());
    for ((&a, &b), &result) in a.iter().zip(&b).zip(&results) {
        let expected = (case.expected)(a, b);
        let same =
            expected == result || (!case.is_nan_exact && is_nan(case, expected) && is_nan(case, result));
        assert!(
            same,
            "{}({a:#x}, {b:#x}) is {result:#x} in C with {flags:?} and not {expected:#x}",
            case.symbol
        );
    }
}

fn is_nan(case: &Case, bits: u64) -> bool {
    match case.dtype {
        DType::Float64 => f64::from_bits(bits).is_nan(),
        DType::Float32 => single(bits).is_nan(),
        _ => false,
    }
}

/// Every function of the language on every type that it has in C.
fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for function in Function::all() {
        let arity = function.arity();
        if function.is_predicate() {
            continue;
        }
        for dtype in DType::ALL.into_iter().filter(|&it| it != DType::Bool) {
            let Some(symbol) = name(Callee::of(function), dtype) else { continue };
            if cases.iter().any(|it: &Case| it.symbol == symbol) {
                continue;
            }
            let expected: Box<dyn Fn(u64, u64) -> u64> = match dtype {
                DType::Float64 => Box::new(move |a, b| {
                    let (a, b) = (f64::from_bits(a), f64::from_bits(b));
                    function.of_f64(a, b).to_bits()
                }),
                DType::Float32 => Box::new(move |a, b| {
                    let (a, b) = (single(a), single(b));
                    u64::from(function.of_f32(a, b).to_bits())
                }),
                _ => Box::new(move |a, b| {
                    let (a, b) = (signed(a, dtype), signed(b, dtype));
                    let y = match function.primitive() {
                        Some(Primitive::Unary(op)) => math::unary_int(op, a),
                        Some(Primitive::Binary(op)) => math::binary_int(op, a, b),
                        it => panic!("{it:?} has no name for integers"),
                    };
                    wrapped(y, dtype)
                }),
            };
            let is_nan_exact = match function.primitive() {
                None => true,
                Some(Primitive::Binary(op)) => op.is_remainder(),
                Some(Primitive::Unary(_) | Primitive::Predicate(_)) => false,
            };
            cases.push(Case { symbol, dtype, arity, is_nan_exact, expected });
        }
    }
    for dtype in DType::ALL.into_iter().filter(|&it| it != DType::Bool) {
        let symbol = name(Callee::Pow, dtype).expect("every type has powers");
        let expected: Box<dyn Fn(u64, u64) -> u64> = match dtype {
            DType::Float64 => Box::new(|a, b| math::pow_f64(f64::from_bits(a), f64::from_bits(b)).to_bits()),
            DType::Float32 => Box::new(|a, b| u64::from(math::pow_f32(single(a), single(b)).to_bits())),
            _ => Box::new(move |a, b| wrapped(integer_power(signed(a, dtype), signed(b, dtype)), dtype)),
        };
        cases.push(Case { symbol, dtype, arity: 2, is_nan_exact: true, expected });
    }
    cases
}

fn single(bits: u64) -> f32 {
    f32::from_bits(bits as u32)
}

fn signed(bits: u64, dtype: DType) -> i64 {
    match dtype {
        DType::Int8 => i64::from(bits as i8),
        DType::Int16 => i64::from(bits as i16),
        DType::Int32 => i64::from(bits as i32),
        _ => bits as i64,
    }
}

fn wrapped(value: i64, dtype: DType) -> u64 {
    let n_bits = 8 * dtype.size_bytes();
    value as u64 & (u64::MAX >> (64 - n_bits))
}

// ---- operands ---------------------------------------------------------------------------------

/// Every pair of special values, then random ones of three kinds: any bits, moderate, near one.
fn operands(case: &Case, n_random: usize) -> (Vec<u64>, Vec<u64>) {
    let (mut a, mut b) = (Vec::new(), Vec::new());
    let specials = specials(case.dtype);
    for &x in &specials {
        for &y in &specials {
            a.push(x);
            b.push(y);
        }
    }
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    for n in 0..n_random {
        a.push(random.operand(case.dtype, n % 3));
        b.push(random.operand(case.dtype, n / 3 % 3));
    }
    (a, b)
}

fn specials(dtype: DType) -> Vec<u64> {
    const POSITIVE: [f64; 24] = [
        0.0,
        f64::from_bits(1),
        2.225_073_858_507_201e-308,
        f64::MIN_POSITIVE,
        1e-300,
        1e-45,
        1.2e-38,
        0.1,
        0.499_999_999_999_999_94,
        0.499_999_97,
        0.5,
        0.999_999_999_999_999_9,
        1.0,
        1.000_000_000_000_000_2,
        2.0,
        2.5,
        3.0,
        88.722_84,
        709.782_712_893_384,
        745.133_219_101_941_1,
        4_503_599_627_370_495.5,
        9_007_199_254_740_991.0,
        1e300,
        f64::MAX,
    ];
    let floats = POSITIVE.iter().copied().chain([f64::INFINITY, f64::NAN]).flat_map(|it| [it, -it]);
    match dtype {
        DType::Float64 => floats.map(f64::to_bits).collect(),
        DType::Float32 => floats.map(|it| u64::from((it as f32).to_bits())).collect(),
        _ => [0, 1, 2, 3, 7, 10, -1, -2, -3, -10, 63, 64, 100, i64::MIN, i64::MAX]
            .into_iter()
            .chain([i64::from(i8::MIN), i64::from(i16::MIN), i64::from(i32::MIN), i64::from(i32::MAX)])
            .map(|it| wrapped(it, dtype))
            .collect(),
    }
}

/// Marsaglia's xorshift: the same numbers in every run.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    fn operand(&mut self, dtype: DType, kind: usize) -> u64 {
        let bits = self.next();
        let unit = (self.next() >> 11) as f64 / (1_u64 << 53) as f64;
        let float = match kind {
            1 => (unit - 0.5) * if bits & 1 == 0 { 1600.0 } else { 20.0 },
            _ => 0.5 + unit * 1.5,
        };
        match (dtype, kind) {
            (DType::Float64, 0) => bits,
            (DType::Float64, _) => float.to_bits(),
            (DType::Float32, 0) => bits & 0xffff_ffff,
            (DType::Float32, _) => u64::from((float as f32).to_bits()),
            (_, 0) => wrapped(bits as i64, dtype),
            _ => wrapped((float * 10.0) as i64, dtype),
        }
    }
}

// ---- the child program ------------------------------------------------------------------------

fn c_type(dtype: DType) -> &'static str {
    match dtype {
        DType::Bool | DType::Int8 => "int8_t",
        DType::Int16 => "int16_t",
        DType::Int32 => "int32_t",
        DType::Int64 => "int64_t",
        DType::Float32 => "float",
        DType::Float64 => "double",
    }
}

fn source(cases: &[Case]) -> String {
    let all = Function::all().map(Callee::of).chain([Callee::Pow]);
    let used = all.flat_map(|it| DType::ALL.map(|dtype| (it, dtype)));
    let mut text = sections(Language::C, used).concat();
    text.push_str("#include <stdio.h>\n#include <stdlib.h>\n");
    text.push_str(
        "#define CASE1(F, T) static void run_##F(size_t n, const T *restrict a, T *restrict y) \\\n\
         { for (size_t i = 0; i < n; i++) y[i] = F(a[i]); }\n\
         #define CASE2(F, T) static void run_##F(size_t n, const T *restrict a, T *restrict y) \\\n\
         { const T *restrict b = a + n; for (size_t i = 0; i < n; i++) y[i] = F(a[i], b[i]); }\n",
    );
    for case in cases {
        writeln!(text, "CASE{}({}, {})", case.arity, case.symbol, c_type(case.dtype)).expect("a string");
    }
    text.push_str(
        "int main(int n_args, char **args)\n{\n\
         if (n_args < 3) return 2;\n\
         size_t n = strtoull(args[2], NULL, 10);\n\
         char *in = malloc(16 * n), *out = malloc(8 * n);\n\
         if (!in || !out) return 3;\n\
         size_t width = 0;\n\
         size_t size = fread(in, 1, 16 * n, stdin);\n",
    );
    for case in cases {
        let (symbol, of) = (&case.symbol, c_type(case.dtype));
        let arity = case.arity;
        writeln!(
            text,
            "if (!strcmp(args[1], \"{symbol}\")) {{ width = sizeof({of}); \
             if (size != {arity} * n * width) return 4; run_{symbol}(n, ({of} *)in, ({of} *)out); }}"
        )
        .expect("a string");
    }
    text.push_str("return fwrite(out, width, n, stdout) == n ? 0 : 5;\n}\n");
    text
}

/// The compiled program, or nothing where there is no compiler.
fn compile(source: &str, flags: &[&str]) -> Option<PathBuf> {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let path = folder.join("math_bits.c");
    let program = folder.join(format!("math_bits{}", flags.concat()));
    std::fs::write(&path, source).expect("the folder for temporary files is writable");
    let output = Command::new("cc")
        .args(["-std=c11", "-Wall", "-Wextra", "-Werror", "-pedantic"])
        .args(FLAGS)
        .args(flags)
        .arg("-o")
        .args([&program, &path])
        .arg("-lm")
        .output()
        .ok()?;
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    Some(program)
}

fn run(program: &Path, case: &Case, a: &[u64], b: &[u64]) -> Vec<u64> {
    let width = case.dtype.size_bytes();
    let operands = if case.arity == 2 { [a, b].concat() } else { a.to_vec() };
    let bytes: Vec<u8> = operands.iter().flat_map(|it| it.to_le_bytes().into_iter().take(width)).collect();
    let mut child = Command::new(program)
        .args([&case.symbol, &a.len().to_string()])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("the program was just compiled");
    // The child reads everything before it writes; closing the pipe ends its reading.
    child.stdin.take().expect("it is piped").write_all(&bytes).expect("the child reads all");
    let output = child.wait_with_output().expect("the child ends");
    assert!(output.status.success(), "{}: {:?}", case.symbol, output.status);
    output
        .stdout
        .chunks_exact(width)
        .map(|it| it.iter().rev().fold(0, |bits, &byte| bits << 8 | u64::from(byte)))
        .collect()
}
