//! The definitions by name, each recorded when it is first asked for.

use std::sync::OnceLock;

use super::record::{Definition, Number, Recorder};
use super::{arc, area, cbrt, erf, exp, gamma, hyperbolic, log, pow, trigonometric};
use crate::types::{DType, Function};

/// How a function is computed; none for one that is not transcendental, and of an integer.
#[must_use]
pub fn definition(function: Function, dtype: DType) -> Option<&'static Definition> {
    let row = ROWS.iter().find(|it| it.function == function)?;
    let cells = &row.recorded;
    match dtype {
        DType::Float64 => Some(cells[0].get_or_init(|| record(row, dtype, row.double))),
        DType::Float32 => Some(cells[1].get_or_init(|| record(row, dtype, row.single))),
        _ => None,
    }
}

/// How `**` of floats is computed; none for integers.
#[must_use]
pub fn power_definition(dtype: DType) -> Option<&'static Definition> {
    static RECORDED: [OnceLock<Definition>; 2] = [const { OnceLock::new() }; 2];
    let record = |define: for<'r> fn(Number<'r>, Number<'r>) -> Number<'r>| {
        let recorder = Recorder::default();
        let result = define(recorder.param(0, dtype), recorder.param(1, dtype));
        let method = "exp(y log |x|) with a logarithm of some 68 bits; the special cases are those of C99";
        recorder.finish("pow", dtype, method, vec!["x", "y"], result)
    };
    match dtype {
        DType::Float64 => Some(RECORDED[0].get_or_init(|| record(|x, y| pow::pow(x, y)))),
        DType::Float32 => Some(RECORDED[1].get_or_init(|| record(|x, y| pow::pow_single(x, y)))),
        _ => None,
    }
}

type Define = for<'r> fn(Number<'r>) -> Number<'r>;

struct Row {
    function: Function,
    method: &'static str,
    double: Define,
    single: Define,
    recorded: [OnceLock<Definition>; 2],
}

macro_rules! row {
    ($function:ident, $double:path, $single:path, $method:literal $(,)?) => {
        Row {
            function: Function::$function,
            method: $method,
            double: |x| $double(x),
            single: |x| $single(x),
            recorded: [const { OnceLock::new() }; 2],
        }
    };
}

fn record(row: &Row, dtype: DType, define: Define) -> Definition {
    let recorder = Recorder::default();
    let result = define(recorder.param(0, dtype));
    recorder.finish(row.function.name(), dtype, row.method, vec!["x"], result)
}

static ROWS: [Row; 19] = [
    row!(Exp, exp::exp, exp::exp_single, "exp(x) = 2^k (1 + r + r^2 P(r)) with |r| <= ln(2)/2"),
    row!(Log, log::log, log::log_single, "log(2^k m) = k ln(2) + 2 atanh((m - 1) / (m + 1))"),
    row!(
        Log10,
        log::log10,
        log::log10_single,
        "log10(x): the natural logarithm to some 68 bits, times 1/ln(10)"
    ),
    row!(
        Sin,
        trigonometric::sin,
        trigonometric::sin,
        "sin(x) from the remainder of x by pi/2, found with as many bits of 2/pi as matter"
    ),
    row!(
        Cos,
        trigonometric::cos,
        trigonometric::cos,
        "cos(x) from the remainder of x by pi/2, found with as many bits of 2/pi as matter"
    ),
    row!(
        Tan,
        trigonometric::tan,
        trigonometric::tan,
        "tan(x), a quotient of sine and cosine of the remainder of x by pi/2"
    ),
    row!(
        Asin,
        arc::asin,
        arc::asin,
        "asin(x), a polynomial up to 1/2, and pi/2 - 2 asin(sqrt((1 - x)/2)) beyond"
    ),
    row!(Acos, arc::acos, arc::acos, "acos(x): pi/2 - asin(x), and 2 asin(sqrt((1 - x)/2)) beyond 1/2"),
    row!(
        Atan,
        arc::atan,
        arc::atan,
        "atan(x) = atan(c) + atan((x - c)/(1 + c x)) with a c of 0, 1 or infinity"
    ),
    row!(Sinh, hyperbolic::sinh, hyperbolic::sinh, "sinh(k ln(2) + r) by the formula for a sum"),
    row!(Cosh, hyperbolic::cosh, hyperbolic::cosh, "cosh(k ln(2) + r) by the formula for a sum"),
    row!(Tanh, hyperbolic::tanh, hyperbolic::tanh, "tanh(x), the quotient of sine and cosine"),
    row!(
        Asinh,
        area::asinh,
        area::asinh,
        "asinh(x): a polynomial where x is small, else the logarithm of x + sqrt(x^2 + 1)"
    ),
    row!(
        Acosh,
        area::acosh,
        area::acosh,
        "acosh(x): a polynomial where x is near 1, else the logarithm of x + sqrt(x^2 - 1)"
    ),
    row!(
        Atanh,
        area::atanh,
        area::atanh,
        "atanh(x): a polynomial where x is small, else half the logarithm of (1 + x)/(1 - x)"
    ),
    row!(
        Cbrt,
        cbrt::cbrt,
        cbrt::cbrt,
        "cbrt(2^(3 n) m) = 2^n cbrt(m), by a polynomial and two steps that improve it"
    ),
    row!(
        Gamma,
        gamma::gamma,
        gamma::gamma,
        "gamma(x) by Stirling's series from 8 on, by its recurrence below, mirrored at 0"
    ),
    row!(Erf, erf::erf, erf::erf, "erf(x): a polynomial up to 1/2, else 1 - erfc(x)"),
    row!(
        Erfc,
        erf::erfc,
        erf::erfc,
        "erfc(x) = exp(-x^2) f(t) / (1 + 2 x), a polynomial f in t = (x - 4)/(x + 4)"
    ),
];

#[cfg(test)]
mod tests {
    use super::super::record::{Kind, Op, Step};
    use super::*;
    use crate::entity::Handle;
    use crate::types::math;

    /// The steps done one by one on bits, with the error of a product from a fused operation.
    fn done(definition: &Definition, params: &[f64]) -> u64 {
        let mut values: Vec<u64> = Vec::new();
        for (_, step) in definition.steps.iter() {
            let bits = |it: Handle<Step>| values[it.index()];
            let double = |it: Handle<Step>| f64::from_bits(values[it.index()]);
            let holds = |it: Handle<Step>| values[it.index()] == 1;
            #[expect(clippy::float_cmp, reason = "the comparison is what is asked for")]
            let value = match step.op {
                Op::Param(n) | Op::SingleParam(n) => params[n].to_bits(),
                Op::Constant(it) => it.to_bits(),
                Op::Neg(a) => (-double(a)).to_bits(),
                Op::Abs(a) => double(a).abs().to_bits(),
                Op::Sqrt(a) => double(a).sqrt().to_bits(),
                Op::Floor(a) => double(a).floor().to_bits(),
                Op::Nearest(a) => double(a).round_ties_even().to_bits(),
                Op::Add(a, b) => (double(a) + double(b)).to_bits(),
                Op::Sub(a, b) => (double(a) - double(b)).to_bits(),
                Op::Mul(a, b) => (double(a) * double(b)).to_bits(),
                Op::Div(a, b) => (double(a) / double(b)).to_bits(),
                #[expect(clippy::disallowed_methods, reason = "the other way to compute the same")]
                Op::ProductError(a, b, p) => f64::mul_add(double(a), double(b), -double(p)).to_bits(),
                Op::Less(a, b) => u64::from(double(a) < double(b)),
                Op::Equal(a, b) => u64::from(double(a) == double(b)),
                Op::And(a, b) => u64::from(holds(a) & holds(b)),
                Op::Or(a, b) => u64::from(holds(a) | holds(b)),
                Op::Not(a) => u64::from(!holds(a)),
                Op::Choose(a, b, c) => {
                    if holds(a) {
                        bits(b)
                    } else {
                        bits(c)
                    }
                }
                Op::BitsOf(a) | Op::OfBits(a) => bits(a),
                Op::BitsConstant(it) => it,
                Op::Plus(a, b) => bits(a).wrapping_add(bits(b)),
                Op::BitAnd(a, mask) => bits(a) & mask,
                Op::BitOr(a, b) => bits(a) | bits(b),
                Op::ShiftLeft(a, by) => bits(a) << by,
                Op::ShiftRight(a, by) => bits(a) >> by,
                Op::Pick(table, a) => table.values[usize::try_from(bits(a)).expect("an index")].to_bits(),
                Op::Narrow(a) => u64::from(math::narrow(double(a)).to_bits()),
            };
            values.push(value);
        }
        values[definition.result.index()]
    }

    /// Bits of every kind: special values, any bits, moderate numbers.
    fn samples() -> impl Iterator<Item = f64> {
        let specials = [
            0.0,
            1.0,
            0.5,
            2.0,
            3.0,
            0.1,
            5e-324,
            1e-310,
            f64::MIN_POSITIVE,
            1e-300,
            1e300,
            f64::MAX,
            f64::INFINITY,
            f64::NAN,
            170.5,
            709.7,
            745.1,
            26.5,
            1e22,
        ];
        let mut state = 0x9e37_79b9_7f4a_7c15_u64;
        let random = std::iter::from_fn(move || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            #[expect(clippy::cast_precision_loss, reason = "any number will do")]
            Some(match state % 3 {
                0 => f64::from_bits(state.wrapping_mul(0x2545_f491_4f6c_dd1d)),
                1 => (state >> 40) as f64 / 16_777_216.0 * 40.0 - 20.0,
                _ => (state >> 40) as f64 / 16_777_216.0 * 2.0 - 1.0,
            })
        });
        specials.into_iter().flat_map(|it| [it, -it]).chain(random.take(3000))
    }

    #[test]
    fn recorded_steps_compute_the_function_with_a_fused_operation_too() {
        for function in Function::ALL {
            for dtype in [DType::Float64, DType::Float32] {
                let Some(definition) = definition(function, dtype) else { continue };
                for x in samples() {
                    if dtype == DType::Float64 {
                        let expected = math::call_f64(function, x).to_bits();
                        assert_eq!(done(definition, &[x]), expected, "{function}({x:?})");
                    } else {
                        let x = math::narrow(x);
                        let expected = u64::from(math::call_f32(function, x).to_bits());
                        assert_eq!(done(definition, &[f64::from(x)]), expected, "{function}({x:?})");
                    }
                }
            }
        }
    }

    #[test]
    fn recorded_steps_compute_powers_with_a_fused_operation_too() {
        let double = power_definition(DType::Float64).expect("floats have powers");
        let single = power_definition(DType::Float32).expect("floats have powers");
        let exponents: Vec<f64> = samples().take(200).collect();
        for (n, x) in samples().enumerate() {
            for m in 0..40 {
                let y = exponents[(n * 7 + m) % exponents.len()];
                assert_eq!(done(double, &[x, y]), math::pow_f64(x, y).to_bits(), "{x:?} ** {y:?}");
                let (x, y) = (math::narrow(x), math::narrow(y));
                let expected = u64::from(math::pow_f32(x, y).to_bits());
                assert_eq!(done(single, &[x.into(), y.into()]), expected, "{x:?} ** {y:?}");
            }
        }
    }

    #[test]
    fn every_transcendental_function_has_a_definition_that_uses_each_of_its_steps() {
        for function in Function::ALL {
            for dtype in [DType::Float64, DType::Float32] {
                let definition = definition(function, dtype);
                assert_eq!(definition.is_some(), function.is_transcendental(), "{function}");
                let Some(definition) = definition else { continue };
                assert!(definition.uses().iter().all(|&it| it > 0), "{function}");
                let of = if dtype == DType::Float32 { Kind::Single } else { Kind::Double };
                assert_eq!(definition.steps[definition.result].op.kind(), of, "{function}");
            }
        }
    }
}
