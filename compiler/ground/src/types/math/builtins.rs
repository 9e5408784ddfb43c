//! The builtins: a row for each function that a stencil can call, and for its like with C's arithmetic.
//!
//! A row describes a builtin completely: its names, its arguments, and its computation. The computation is a
//! [primitive](crate::types::primitive), which every back end implements, or a [`Formula`], whose steps they
//! translate. So a back end names no builtin. A new builtin is a row here and, where it is a formula, a
//! generic function over [`Real`](super::real::Real) beside. `tests/tests/builtins.rs` counts the files.

use super::formula::{ArrayLoops, Formula, formula};
use super::{arc, area, cbrt, erf, exp, gamma, hyperbolic, log, trigonometric};
use crate::types::primitive::{BinaryPrimitive, Predicate, Primitive, UnaryPrimitive};

/// A builtin function.
#[derive(Debug)]
pub struct Builtin {
    /// In the IRs' text, and, where it is [not instead of](Self::instead_of) another one, in the language.
    pub name: &'static str,
    /// How a stencil calls it.
    pub form: &'static str,
    /// A description for authors of stencils.
    pub about: &'static str,
    pub meaning: Meaning,
    pub integers: IntegerTreatment,
    /// The builtin whose calls it stands for where a project asks for C's arithmetic.
    pub instead_of: Option<&'static str>,
    /// Its further names in NumPy.
    pub in_numpy: &'static [&'static str],
    /// Its name in a `.sdfg` file, where that is another one: it becomes C++.
    pub in_dace: Option<&'static str>,
}

/// The computation of a builtin.
#[derive(Clone, Copy, Debug)]
pub enum Meaning {
    /// An operation that every back end has.
    Primitive(Primitive),
    /// Steps on floats, whose bits depend on an approximation.
    Formula(&'static Formula),
}

/// The treatment of an argument that is an integer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IntegerTreatment {
    /// It is taken to a float first.
    Converted,
    /// The result is an integer too.
    Kept,
    /// It is the result.
    Themselves,
}

impl Builtin {
    const fn new(name: &'static str, form: &'static str, about: &'static str, meaning: Meaning) -> Self {
        Self {
            name,
            form,
            about,
            meaning,
            integers: IntegerTreatment::Converted,
            instead_of: None,
            in_numpy: &[],
            in_dace: None,
        }
    }

    const fn integers(mut self, integers: IntegerTreatment) -> Self {
        self.integers = integers;
        self
    }

    const fn instead_of(mut self, builtin: &'static str) -> Self {
        self.instead_of = Some(builtin);
        self
    }

    const fn in_numpy(mut self, names: &'static [&'static str]) -> Self {
        self.in_numpy = names;
        self
    }

    const fn in_dace(mut self, name: &'static str) -> Self {
        self.in_dace = Some(name);
        self
    }
}

const fn unary(op: UnaryPrimitive) -> Meaning {
    Meaning::Primitive(Primitive::Unary(op))
}

const fn binary(op: BinaryPrimitive) -> Meaning {
    Meaning::Primitive(Primitive::Binary(op))
}

const fn predicate(question: Predicate) -> Meaning {
    Meaning::Primitive(Primitive::Predicate(question))
}

/// A builtin of one number that is a formula. It gets the definitions in double and in single precision,
/// whether there are loops of it, and how it is computed.
macro_rules! of_formula {
    ($name:literal, $about:literal, $double:path, $single:path, $method:literal $(,)?) => {
        of_formula!(@ $name, $about, $double, $single, None, $method)
    };
    ($name:literal, $about:literal, $double:path, $single:path, in loops, $method:literal $(,)?) => {
        of_formula!(
            @ $name,
            $about,
            $double,
            $single,
            Some(ArrayLoops {
                double: |to, from| to.iter_mut().zip(from).for_each(|(to, x)| *to = $double(*x)),
                single: |to, from| {
                    to.iter_mut().zip(from).for_each(|(to, x)| *to = super::narrow($single(f64::from(*x))));
                },
            }),
            $method
        )
    };
    (@ $name:literal, $about:literal, $double:path, $single:path, $loops:expr, $method:literal) => {{
        static FORMULA: Formula = formula!($name, [x], $double, $single, loops: $loops, $method);
        Builtin::new($name, concat!($name, "(x)"), $about, Meaning::Formula(&FORMULA))
    }};
}

/// All rows. Their order is that of functions wherever these are sorted.
pub static ROWS: [Builtin; 35] = [
    Builtin::new(
        "abs",
        "abs(x)",
        "The distance of `x` from zero; keeps the type.",
        unary(UnaryPrimitive::Magnitude),
    )
    .integers(IntegerTreatment::Kept)
    .in_numpy(&["absolute", "fabs"]),
    Builtin::new(
        "min",
        "min(a, b)",
        "The smaller of two; NaN where one of them is.",
        binary(BinaryPrimitive::Minimum),
    )
    .integers(IntegerTreatment::Kept)
    .in_numpy(&["minimum"]),
    Builtin::new(
        "max",
        "max(a, b)",
        "The larger of two; NaN where one of them is.",
        binary(BinaryPrimitive::Maximum),
    )
    .integers(IntegerTreatment::Kept)
    .in_numpy(&["maximum"]),
    Builtin::new(
        "mod",
        "mod(a, b)",
        "What is left of `a` divided by `b`, with the sign of `b`; the same as `a % b`.",
        binary(BinaryPrimitive::FlooredRemainder),
    )
    .integers(IntegerTreatment::Kept),
    Builtin::new("min_c", "min(a, b)", "", binary(BinaryPrimitive::Lesser))
        .integers(IntegerTreatment::Kept)
        .instead_of("min")
        .in_dace("min"),
    Builtin::new("max_c", "max(a, b)", "", binary(BinaryPrimitive::Greater))
        .integers(IntegerTreatment::Kept)
        .instead_of("max")
        .in_dace("max"),
    Builtin::new("mod_c", "mod(a, b)", "", binary(BinaryPrimitive::TruncatedRemainder))
        .integers(IntegerTreatment::Kept)
        .instead_of("mod")
        .in_dace("fmod"),
    Builtin::new(
        "sqrt",
        "sqrt(x)",
        "The square root; NaN below zero. Rounded correctly.",
        unary(UnaryPrimitive::SquareRoot),
    ),
    of_formula!("exp", "e to the power of `x`.", exp::exp, exp::exp_single, in loops, "exp(x) = 2^k (1 + r + r^2 P(r)) with |r| <= ln(2)/2"),
    of_formula!("log", "The natural logarithm; -inf at zero, NaN below.", log::log, log::log_single, in loops, "log(2^k m) = k ln(2) + 2 atanh((m - 1) / (m + 1))"),
    of_formula!("log10", "The logarithm to the base 10.", log::log10, log::log10_single, in loops, "log10(x): the natural logarithm to some 68 bits, times 1/ln(10)"),
    of_formula!(
        "sin",
        "The sine of an angle in radians.",
        trigonometric::sin,
        trigonometric::sin,
        "sin(x) from the remainder of x by pi/2, found with as many bits of 2/pi as matter"
    ),
    of_formula!(
        "cos",
        "The cosine of an angle in radians.",
        trigonometric::cos,
        trigonometric::cos,
        "cos(x) from the remainder of x by pi/2, found with as many bits of 2/pi as matter"
    ),
    of_formula!(
        "tan",
        "The tangent of an angle in radians.",
        trigonometric::tan,
        trigonometric::tan,
        "tan(x), a quotient of sine and cosine of the remainder of x by pi/2"
    ),
    of_formula!(
        "asin",
        "The angle in radians whose sine is `x`.",
        arc::asin,
        arc::asin,
        "asin(x), a polynomial up to 1/2, and pi/2 - 2 asin(sqrt((1 - x)/2)) beyond"
    )
    .in_numpy(&["arcsin"]),
    of_formula!(
        "acos",
        "The angle in radians whose cosine is `x`.",
        arc::acos,
        arc::acos,
        "acos(x): pi/2 - asin(x), and 2 asin(sqrt((1 - x)/2)) beyond 1/2"
    )
    .in_numpy(&["arccos"]),
    of_formula!(
        "atan",
        "The angle in radians whose tangent is `x`.",
        arc::atan,
        arc::atan,
        "atan(x) = atan(c) + atan((x - c)/(1 + c x)) with a c of 0, 1 or infinity"
    )
    .in_numpy(&["arctan"]),
    of_formula!(
        "sinh",
        "The hyperbolic sine.",
        hyperbolic::sinh,
        hyperbolic::sinh,
        "sinh(k ln(2) + r) by the formula for a sum"
    ),
    of_formula!(
        "cosh",
        "The hyperbolic cosine.",
        hyperbolic::cosh,
        hyperbolic::cosh,
        "cosh(k ln(2) + r) by the formula for a sum"
    ),
    of_formula!(
        "tanh",
        "The hyperbolic tangent.",
        hyperbolic::tanh,
        hyperbolic::tanh,
        "tanh(x), the quotient of sine and cosine"
    ),
    of_formula!(
        "asinh",
        "The inverse of `sinh`.",
        area::asinh,
        area::asinh,
        "asinh(x): a polynomial where x is small, else the logarithm of x + sqrt(x^2 + 1)"
    )
    .in_numpy(&["arcsinh"]),
    of_formula!(
        "acosh",
        "The inverse of `cosh`; NaN below one.",
        area::acosh,
        area::acosh,
        "acosh(x): a polynomial where x is near 1, else the logarithm of x + sqrt(x^2 - 1)"
    )
    .in_numpy(&["arccosh"]),
    of_formula!(
        "atanh",
        "The inverse of `tanh`; NaN beyond one.",
        area::atanh,
        area::atanh,
        "atanh(x): a polynomial where x is small, else half the logarithm of (1 + x)/(1 - x)"
    )
    .in_numpy(&["arctanh"]),
    of_formula!(
        "cbrt",
        "The cube root, of negative numbers too.",
        cbrt::cbrt,
        cbrt::cbrt,
        "cbrt(2^(3 n) m) = 2^n cbrt(m), by a polynomial and two steps that improve it"
    ),
    of_formula!(
        "gamma",
        "The gamma function: `(x - 1)!` for whole numbers.",
        gamma::gamma,
        gamma::gamma,
        "gamma(x) by Stirling's series from 8 on, by its recurrence below, mirrored at 0"
    )
    .in_dace("tgamma"),
    of_formula!(
        "erf",
        "The error function.",
        erf::erf,
        erf::erf,
        "erf(x): a polynomial up to 1/2, else 1 - erfc(x)"
    ),
    of_formula!(
        "erfc",
        "One less the error function, exact where that is small.",
        erf::erfc,
        erf::erfc,
        "erfc(x) = exp(-x^2) f(t) / (1 + 2 x), a polynomial f in t = (x - 4)/(x + 4)"
    ),
    Builtin::new(
        "floor",
        "floor(x)",
        "The next whole number toward minus infinity; keeps the type.",
        unary(UnaryPrimitive::Floor),
    )
    .integers(IntegerTreatment::Themselves),
    Builtin::new(
        "ceil",
        "ceil(x)",
        "The next whole number toward infinity; keeps the type.",
        unary(UnaryPrimitive::Ceiling),
    )
    .integers(IntegerTreatment::Themselves),
    Builtin::new(
        "trunc",
        "trunc(x)",
        "`x` without what is behind the point; keeps the type.",
        unary(UnaryPrimitive::Truncation),
    )
    .integers(IntegerTreatment::Themselves),
    Builtin::new(
        "round",
        "round(x)",
        "The nearest whole number, of two the even one; the result is a float.",
        unary(UnaryPrimitive::Nearest),
    )
    .in_dace("rint"),
    Builtin::new(
        "round_away_from_zero",
        "round_away_from_zero(x)",
        "The nearest whole number, of two the one further from zero.",
        unary(UnaryPrimitive::NearestAway),
    )
    .in_dace("round"),
    Builtin::new("isnan", "isnan(x)", "Whether `x` is not a number.", predicate(Predicate::Nan)),
    Builtin::new("isinf", "isinf(x)", "Whether `x` is infinite.", predicate(Predicate::Infinite)),
    Builtin::new(
        "isfinite",
        "isfinite(x)",
        "Whether `x` is neither infinite nor NaN.",
        predicate(Predicate::Finite),
    ),
];

#[cfg(test)]
mod tests {
    use super::super::POWER;
    use super::super::record::{Definition, Op, Step, ValueKind};
    use super::*;
    use crate::entity::Handle;
    use crate::types::{DType, Function, math};

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
        for function in Function::all() {
            for dtype in [DType::Float64, DType::Float32] {
                let Some(definition) = function.definition(dtype) else { continue };
                for x in samples() {
                    if dtype == DType::Float64 {
                        let expected = function.of_f64(x, x).to_bits();
                        assert_eq!(done(definition, &[x]), expected, "{function}({x:?})");
                    } else {
                        let x = math::narrow(x);
                        let expected = u64::from(function.of_f32(x, x).to_bits());
                        assert_eq!(done(definition, &[f64::from(x)]), expected, "{function}({x:?})");
                    }
                }
            }
        }
    }

    #[test]
    fn recorded_steps_compute_powers_with_a_fused_operation_too() {
        let double = POWER.definition(DType::Float64).expect("floats have powers");
        let single = POWER.definition(DType::Float32).expect("floats have powers");
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
    fn every_primitive_is_one_function_of_as_many_operands() {
        for op in Primitive::all() {
            let functions: Vec<_> = Function::all().filter(|it| it.primitive() == Some(op)).collect();
            assert_eq!(functions, [Function::of_primitive(op)], "{op:?}");
            assert_eq!(functions[0].arity(), op.arity(), "{op:?}");
            assert_eq!(functions[0].name(), op.name(), "what texts say in two places");
        }
    }

    #[test]
    fn a_row_stands_alone_or_instead_of_another_one() {
        for (at, row) in ROWS.iter().enumerate() {
            assert!(ROWS[..at].iter().all(|it| it.name != row.name), "{}", row.name);
            let written = row.instead_of.unwrap_or(row.name);
            assert!(row.form.starts_with(&format!("{written}(")), "{}", row.form);
            assert_eq!(row.about.is_empty(), row.instead_of.is_some(), "{}", row.name);
            if let Meaning::Formula(formula) = row.meaning {
                assert_eq!(formula.name, row.name);
            }
        }
    }

    #[test]
    fn loops_compute_what_the_formula_does() {
        let loops = ROWS.iter().filter_map(|row| match row.meaning {
            Meaning::Formula(formula) => formula.loops.map(|loops| (formula, loops)),
            Meaning::Primitive(_) => None,
        });
        let from: Vec<f64> = samples().take(300).collect();
        let single: Vec<f32> = from.iter().map(|it| math::narrow(*it)).collect();
        let mut n_loops = 0;
        for (formula, loops) in loops {
            let (mut doubles, mut singles) = (vec![0.0; from.len()], vec![0.0; from.len()]);
            (loops.double)(&mut doubles, &from);
            (loops.single)(&mut singles, &single);
            for at in 0..from.len() {
                let (x, y) = (from[at], single[at]);
                assert_eq!(doubles[at].to_bits(), (formula.double)(x, x).to_bits(), "{}({x})", formula.name);
                assert_eq!(singles[at].to_bits(), (formula.single)(y, y).to_bits(), "{}({y})", formula.name);
            }
            n_loops += 1;
        }
        assert!(n_loops > 0);
    }

    #[test]
    fn every_transcendental_function_has_a_definition_that_uses_each_of_its_steps() {
        for function in Function::all() {
            for dtype in [DType::Float64, DType::Float32] {
                let definition = function.definition(dtype);
                assert_eq!(definition.is_some(), function.is_transcendental(), "{function}");
                let Some(definition) = definition else { continue };
                assert!(definition.uses().iter().all(|&it| it > 0), "{function}");
                let of = if dtype == DType::Float32 { ValueKind::Single } else { ValueKind::Double };
                assert_eq!(definition.steps[definition.result].op.kind(), of, "{function}");
            }
        }
    }
}
