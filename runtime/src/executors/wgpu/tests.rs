//! The results of a device have the bits of the interpreter's own functions. The tests cover each prelude
//! function, builtin, operator and conversion, with doubles of the device and with pairs of words.

use std::sync::Arc;

use isobar_compiler::diag::Span;
use isobar_compiler::expr::evaluate;
use isobar_compiler::expr::{Expr, ExprKind};
use isobar_compiler::types::{BinaryOp, DType, Function, UnaryOp, Value};
use isobar_compiler::wgsl::expression::Wording;
use isobar_compiler::wgsl::prelude::Prelude;
use isobar_compiler::wgsl::{Doubles, WgslOptions};
use isobar_testing::{Shard, skip};
use wgpu::{BindGroupDescriptor, BindGroupEntry, CommandEncoderDescriptor, ComputePassDescriptor};

use super::device::{Devices, Gpu};

// An expression is printed as kernels print it, over values that lie in buffers, and computed at each of some thousand
// positions by one launch. The interpreter's own functions say what is meant. Where a device has doubles, both kinds of
// texts are tried on it, each as the device asks for and with everything by hand.

/// The device, or nothing where there is none, which is said aloud.
fn gpu() -> Option<Arc<Gpu>> {
    match Devices::here().find() {
        Ok(gpu) => Some(gpu),
        Err(why) => {
            skip("a test of the GPU", why);
            None
        }
    }
}

/// Reads argument 0 or 1.
type Tried = Expr<usize>;

fn read(at: usize, dtype: DType) -> Box<Tried> {
    Box::new(Expr { kind: ExprKind::Access(at), dtype, span: Span::default() })
}

fn expr(kind: ExprKind<usize>, dtype: DType) -> Tried {
    Expr { kind, dtype, span: Span::default() }
}

/// Values of a type, the same for each seed: special ones, all near powers of two, any bits.
fn samples(dtype: DType, seed: u64) -> Vec<Value> {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64 ^ seed.wrapping_mul(0x2545_f491_4f6c_dd1d);
    let mut random = move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    };
    let specials = [
        0.0,
        -0.0,
        1.0,
        -1.0,
        0.5,
        -0.5,
        1.5,
        2.5,
        -2.5,
        3.0,
        0.1,
        1e-310,
        -5e-324,
        5e-324,
        1e-45,
        1e-40,
        -1e-40,
        1.2e-38,
        1e38,
        3e38,
        -3e38,
        1e300,
        -1e300,
        1e-300,
        709.7,
        745.1,
        88.7,
        -87.4,
        170.5,
        26.5,
        1e22,
        4503599627370495.5,
        4503599627370496.5,
        2147483648.0,
        -2147483649.0,
        9.3e18,
        -9.3e18,
        4294967296.5,
        0.499_999_999_999_999_94,
        0.499_999_97,
        8388607.5,
        16777217.0,
        std::f64::consts::PI,
        f64::MAX,
        f64::MIN_POSITIVE,
        f64::INFINITY,
        f64::NEG_INFINITY,
        f64::NAN,
        127.5,
        -128.5,
        32768.0,
        255.0,
        1e9,
        -1e9,
        7.0,
        -7.0,
    ];
    #[expect(clippy::cast_possible_truncation, reason = "any bits do")]
    let any = move |at: usize| {
        let bits = random();
        match dtype {
            DType::Float64 if at.is_multiple_of(3) => Value::Float64(f64::from_bits(bits)),
            DType::Float32 if at.is_multiple_of(3) => Value::Float32(f32::from_bits(bits as u32)),
            DType::Float64 | DType::Float32 => {
                let exponent = bits % if at.is_multiple_of(2) { 60 } else { 8 };
                let one = f64::from_bits((bits >> 12) | (1018 + exponent) << 52 | bits << 63);
                Value::Float64(one).cast(dtype)
            }
            DType::Bool => Value::Bool(bits & 1 == 1),
            _ => Value::Int64((bits as i64) >> (bits % 60)).cast(dtype),
        }
    };
    let given = specials.into_iter().map(|it| Value::Float64(it).cast(dtype));
    given
        .chain([i64::MIN, i64::MAX, -1, 2, 3].map(|it| Value::Int64(it).cast(dtype)))
        .chain((0..1500).map(any))
        .collect()
}

fn bytes(value: Value, options: &WgslOptions) -> Vec<u8> {
    let bits = value.bits();
    match options.element_bytes(value.dtype()) {
        8 => bits.to_le_bytes().to_vec(),
        _ => u32::try_from(bits & 0xffff_ffff).unwrap().to_le_bytes().to_vec(),
    }
}

fn value(bytes: &[u8], dtype: DType) -> Value {
    let word = || u32::from_le_bytes(bytes[..4].try_into().unwrap());
    let long = || u64::from_le_bytes(bytes[..8].try_into().unwrap());
    match dtype {
        DType::Float64 => Value::Float64(f64::from_bits(long())),
        DType::Int64 => Value::Int64(long().cast_signed()),
        DType::Float32 => Value::Float32(f32::from_bits(word())),
        // A narrow integer is its own sign extension.
        _ => Value::Int32(word().cast_signed()).cast(if dtype == DType::Bool { DType::Int32 } else { dtype }),
    }
}

/// A text that computes each of some expressions of the same arguments at each position.
fn text(tried: &[Tried], given: &[Vec<Value>], options: WgslOptions) -> (String, Vec<u64>) {
    let mut wording = Wording::new(options);
    let mut lines = Vec::new();
    for (at, it) in tried.iter().enumerate() {
        let mut leaf = |wording: &mut Wording, argument: &usize, dtype: DType| {
            wording.loaded(format!("given_{argument}[n]"), dtype)
        };
        let of = wording.of(it, &mut leaf);
        lines.push(format!("  found_{at}[n] = {};", wording.stored(of, it.dtype)));
    }
    let prelude = Prelude::of(&wording.needs, &options);
    let mut text = "@group(0) @binding(0) var<storage, read> sizes: array<u32>;\n".to_owned();
    let of_tables = if options.doubles == Doubles::Native { "f64" } else { "vec2<u32>" };
    text += &format!("@group(0) @binding(1) var<storage, read> tables: array<{of_tables}>;\n");
    let mut binding = 2;
    for (at, values) in given.iter().enumerate() {
        let of = options.element_type(values[0].dtype());
        text += &format!("@group(0) @binding({binding}) var<storage, read> given_{at}: array<{of}>;\n");
        binding += 1;
    }
    for (at, it) in tried.iter().enumerate() {
        let of = options.element_type(it.dtype);
        text += &format!("@group(0) @binding({binding}) var<storage, read_write> found_{at}: array<{of}>;\n");
        binding += 1;
    }
    text += &prelude.texts.join("\n");
    text += "@compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3<u32>) {\n  let n = id.x;\n";
    text += &format!("  if n >= {}u {{ return; }}\n{}\n}}\n", given[0].len(), lines.join("\n"));
    (text, prelude.tables.entries)
}

/// The results of the device: per expression, per position.
fn found(gpu: &Gpu, tried: &[Tried], given: &[Vec<Value>], options: WgslOptions) -> Vec<Vec<Value>> {
    let (text, tables) = text(tried, given, options);
    let module =
        gpu.module(&text, &[("main".to_owned(), [64, 1, 1])]).unwrap_or_else(|why| panic!("{why:?}\n{text}"));
    let mut are_read = vec![true; 2 + given.len()];
    are_read.extend(vec![false; tried.len()]);
    let layout = gpu.layout(&are_read).unwrap();
    let pipeline = gpu.pipeline(&module, "main", &layout, 0).unwrap();
    let storage = |bytes: &[u8]| {
        let buffer = gpu.storage(bytes.len() as u64).unwrap();
        gpu.write(&buffer, 0, bytes).unwrap();
        buffer
    };
    let mut buffers = vec![storage(&[0; 16])];
    buffers.push(storage(&tables.iter().flat_map(|it| it.to_le_bytes()).collect::<Vec<u8>>()));
    for values in given {
        let sent: Vec<u8> = values.iter().flat_map(|it| bytes(*it, &options)).collect();
        buffers.push(storage(&sent));
    }
    let n = given[0].len();
    for it in tried {
        buffers.push(gpu.storage(options.element_bytes(it.dtype) * n as u64).unwrap());
    }
    gpu.guarded(|| {
        let entries: Vec<_> = (0..)
            .zip(&buffers)
            .map(|(binding, it)| BindGroupEntry { binding, resource: it.as_entire_binding() })
            .collect();
        let of = BindGroupDescriptor { label: None, layout: &layout, entries: &entries };
        let group = gpu.device.create_bind_group(&of);
        let mut encoder = gpu.device.create_command_encoder(&CommandEncoderDescriptor::default());
        {
            let mut pass = encoder.begin_compute_pass(&ComputePassDescriptor::default());
            pass.set_pipeline(&pipeline);
            pass.set_bind_group(0, &group, &[]);
            pass.dispatch_workgroups(u32::try_from(n.div_ceil(64)).unwrap(), 1, 1);
        }
        gpu.queue.submit([encoder.finish()]);
    })
    .unwrap();
    let all = tried.iter().zip(&buffers[2 + given.len()..]).map(|(it, buffer)| {
        let size = options.element_bytes(it.dtype);
        let read = gpu.read(buffer, 0, size * n as u64).unwrap();
        read.chunks(usize::try_from(size).unwrap()).map(|bytes| value(bytes, it.dtype)).collect()
    });
    all.collect()
}

fn is_nan(it: Value) -> bool {
    match it {
        Value::Float32(it) => it.is_nan(),
        Value::Float64(it) => it.is_nan(),
        _ => false,
    }
}

/// The result of the interpreter.
fn meaning(expr: &Tried, given: &dyn Fn(usize) -> Value) -> Value {
    let of = |it: &Tried| meaning(it, given);
    match &expr.kind {
        ExprKind::Literal(value) => *value,
        ExprKind::Access(at) => given(*at),
        ExprKind::Element(..) | ExprKind::Position(_) => panic!("nothing of that is tried"),
        ExprKind::Unary(op, operand) => evaluate::unary(*op, of(operand)),
        ExprKind::Binary(op, left, right) => evaluate::binary(*op, of(left), of(right)),
        ExprKind::Ternary { condition, then, otherwise } => {
            evaluate::ternary(of(condition), of(then), of(otherwise))
        }
        ExprKind::Call(function, arguments) => {
            evaluate::call(*function, of(&arguments[0]), arguments.get(1).map(of))
        }
        ExprKind::Cast(to, operand) => of(operand).cast(*to),
    }
}

/// Compares expressions of the same arguments with the interpreter, a few at a time.
fn check(gpu: &Gpu, tried: &[Tried], given: &[Vec<Value>], options: WgslOptions) {
    // As many results as a device binds beside the arguments.
    for tried in tried.chunks(4) {
        let found = found(gpu, tried, given, options);
        for (it, found) in tried.iter().zip(found) {
            hold(it, found, given, options);
        }
    }
}

/// Compares the results of a device for an expression with the interpreter.
fn hold(it: &Tried, found: Vec<Value>, given: &[Vec<Value>], options: WgslOptions) {
    let mut wrong = Vec::new();
    for (n, got) in found.into_iter().enumerate() {
        let expected = meaning(it, &|at| given[at][n]);
        let expected = if it.dtype == DType::Bool { expected.cast(DType::Int32) } else { expected };
        if got != expected && !(is_nan(got) && is_nan(expected)) {
            let arguments: Vec<Value> = given.iter().map(|it| it[n]).collect();
            wrong.push(format!("of {arguments:?}: {got:?}, and not {expected:?}"));
        }
    }
    let n = wrong.len();
    wrong.truncate(8);
    assert!(wrong.is_empty(), "{n} wrong of {:?} with {options:?}: {wrong:#?}", it.kind);
}

/// Pairs of everything special with everything special, and of any bits.
fn pairs(dtype: DType) -> Vec<Vec<Value>> {
    let (one, other) = (samples(dtype, 1), samples(dtype, 2));
    let (mut a, mut b) = (Vec::new(), Vec::new());
    for x in &one[..60] {
        for y in &other[..60] {
            a.push(*x);
            b.push(*y);
        }
    }
    a.extend(&one[60..]);
    b.extend(&other[60..]);
    vec![a, b]
}

fn modes(gpu: &Gpu) -> Vec<WgslOptions> {
    let plain = WgslOptions { doubles: Doubles::Pairs, ..WgslOptions::default() };
    let mut modes = vec![plain, WgslOptions { keeps: true, divides: true, ..plain }];
    if gpu.options.doubles == Doubles::Native {
        modes.push(gpu.options);
        modes.push(WgslOptions { keeps: true, divides: true, ..gpu.options });
    }
    modes
}

isobar_testing::shards! {
    operators_have_the_interpreters_bits: 4 shards of operators;
    exact_builtins_have_the_interpreters_bits: 3 shards of exact_builtins;
    formulas_have_the_interpreters_bits: 8 shards of formulas;
    converted_values_compare_with_constants_as_they_are: 8 shards of converted_values;
    zeros_and_other_constants_are_no_ones_to_fold: 2 shards of constants;
}

// Everything special with everything special: subnormals, signed zeros, infinities, NaN.
fn operators(shard: Shard) {
    let Some(gpu) = gpu() else { return };
    use BinaryOp::{Add, Div, Eq, Ge, Gt, Le, Lt, Mod, Mul, Ne, Sub};
    for options in modes(&gpu) {
        for dtype in shard.of(DType::ALL) {
            let binary = |op: BinaryOp| {
                let of = if op.is_comparison() { DType::Bool } else { dtype };
                expr(ExprKind::Binary(op, read(0, dtype), read(1, dtype)), of)
            };
            let mut tried: Vec<Tried> = [Lt, Le, Gt, Ge, Eq, Ne].map(binary).into();
            if dtype != DType::Bool {
                tried.extend([Add, Sub, Mul, Mod].map(binary));
                tried.push(expr(ExprKind::Unary(UnaryOp::Minus, read(0, dtype)), dtype));
                if dtype.is_float() {
                    tried.push(binary(Div));
                }
            }
            check(&gpu, &tried, &pairs(dtype), options);
        }
    }
}

// Each type to each type, `bool` among them: what is too large saturates in 64 bits, and wraps in fewer.
#[test]
fn conversions_have_the_interpreters_bits() {
    let Some(gpu) = gpu() else { return };
    for options in modes(&gpu) {
        for from in DType::ALL {
            let casts = DType::ALL.map(|to| expr(ExprKind::Cast(to, read(0, from)), to));
            check(&gpu, &casts, &[samples(from, 3)], options);
        }
    }
}

// A negative exponent gives the real power without its fraction.
#[test]
fn whole_powers_have_the_interpreters_bits() {
    let Some(gpu) = gpu() else { return };
    for options in modes(&gpu) {
        for dtype in [DType::Int8, DType::Int32, DType::Int64] {
            let power = expr(ExprKind::Binary(BinaryOp::Pow, read(0, dtype), read(1, dtype)), dtype);
            check(&gpu, &[power], &pairs(dtype), options);
        }
    }
}

// Extrema, remainders, rounding, roots and questions: what IEEE 754 or `types/math` prescribes to the bit.
fn exact_builtins(shard: Shard) {
    let Some(gpu) = gpu() else { return };
    for options in modes(&gpu) {
        for dtype in shard.of([DType::Float64, DType::Float32, DType::Int8, DType::Int32, DType::Int64]) {
            let given = pairs(dtype);
            let mut tried = Vec::new();
            for function in Function::all().filter(|it| !it.is_transcendental()) {
                if !dtype.is_float() && (!function.keeps_integers() || function.is_predicate()) {
                    continue;
                }
                let of = if function.is_predicate() { DType::Bool } else { dtype };
                let arguments = (0..function.arity()).map(|at| *read(at, dtype)).collect();
                tried.push(expr(ExprKind::Call(function, arguments), of));
            }
            assert!(!tried.is_empty());
            check(&gpu, &tried, &given, options);
        }
    }
}

// Functions of mathematics, printed from their definitions or as tables of steps, which lie in a buffer.
fn formulas(shard: Shard) {
    let Some(gpu) = gpu() else { return };
    for options in modes(&gpu) {
        // Once with doubles of each kind: what remains does not depend on how singles are kept.
        if options.keeps {
            continue;
        }
        for dtype in [DType::Float64, DType::Float32] {
            for function in shard.of(Function::all().filter(|it| it.is_transcendental())) {
                let call = expr(ExprKind::Call(function, vec![*read(0, dtype)]), dtype);
                check(&gpu, &[call], &[samples(dtype, 4)], options);
            }
        }
    }
}

// A power is a formula of two operands.
#[test]
fn powers_have_the_interpreters_bits() {
    let Some(gpu) = gpu() else { return };
    for options in modes(&gpu).into_iter().filter(|it| !it.keeps) {
        for dtype in [DType::Float64, DType::Float32] {
            let power = expr(ExprKind::Binary(BinaryOp::Pow, read(0, dtype), read(1, dtype)), dtype);
            check(&gpu, &[power], &pairs(dtype), options);
        }
    }
}

// Mesa 22.3 takes `i64(a) < 0` of an integer of 32 bits for false.
fn converted_values(shard: Shard) {
    let Some(gpu) = gpu() else { return };
    for options in modes(&gpu) {
        for from in shard.of(DType::ALL) {
            let mut tried = Vec::new();
            for to in DType::ALL.into_iter().filter(|it| *it != DType::Bool) {
                for constant in [0, 1, -1, 100, i64::from(i32::MAX) + 1] {
                    let constant = Value::Int64(constant).cast(to);
                    let converted = expr(ExprKind::Cast(to, read(0, from)), to);
                    let constant = expr(ExprKind::Literal(constant), to);
                    for op in [BinaryOp::Lt, BinaryOp::Ge, BinaryOp::Eq] {
                        let compared =
                            ExprKind::Binary(op, Box::new(converted.clone()), Box::new(constant.clone()));
                        tried.push(expr(compared, DType::Bool));
                    }
                }
            }
            check(&gpu, &tried, &[samples(from, 7)], options);
        }
    }
}

// Expressions that compilers of shaders are known to fold. They are `x + 0.0`, `0.0 / x`, `(x + c) - c`, a
// product with a sum, and choices that look like extrema.
fn constants(shard: Shard) {
    let Some(gpu) = gpu() else { return };
    let literal = |value: Value| Box::new(expr(ExprKind::Literal(value), value.dtype()));
    for options in modes(&gpu) {
        for dtype in shard.of([DType::Float64, DType::Float32]) {
            let mut tried = Vec::new();
            for constant in [0.0, -0.0, 1.0, 3.0, 0.1, f64::INFINITY, f64::NAN, 1e-40] {
                let constant = Value::Float64(constant).cast(dtype);
                for op in [BinaryOp::Add, BinaryOp::Sub, BinaryOp::Mul, BinaryOp::Div, BinaryOp::Lt] {
                    let of = if op.is_comparison() { DType::Bool } else { dtype };
                    tried.push(expr(ExprKind::Binary(op, read(0, dtype), literal(constant)), of));
                    tried.push(expr(ExprKind::Binary(op, literal(constant), read(0, dtype)), of));
                    tried.push(expr(ExprKind::Binary(op, literal(constant), literal(constant)), of));
                }
            }
            // (x + c) - c, x * y + x, and choices that look like extrema.
            let sum = |a, b| Box::new(expr(ExprKind::Binary(BinaryOp::Add, a, b), dtype));
            let large = || literal(Value::Float64(1048576.0).cast(dtype));
            tried.push(expr(ExprKind::Binary(BinaryOp::Sub, sum(read(0, dtype), large()), large()), dtype));
            let product =
                Box::new(expr(ExprKind::Binary(BinaryOp::Mul, read(0, dtype), read(1, dtype)), dtype));
            tried.push(*sum(product, read(0, dtype)));
            for (left, right) in [(0, 1), (1, 0)] {
                let condition = Box::new(expr(
                    ExprKind::Binary(BinaryOp::Lt, read(left, dtype), read(right, dtype)),
                    DType::Bool,
                ));
                let (then, otherwise) = (read(0, dtype), read(1, dtype));
                tried.push(expr(ExprKind::Ternary { condition, then, otherwise }, dtype));
            }
            let below = ExprKind::Binary(BinaryOp::Lt, sum(read(0, dtype), read(1, dtype)), read(0, dtype));
            tried.push(expr(below, DType::Bool));
            check(&gpu, &tried, &[samples(dtype, 5), samples(dtype, 6)], options);
        }
    }
}
