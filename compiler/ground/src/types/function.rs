//! The built-in functions of the language, as expressions call them.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::DType;
use super::math::builtins::{Builtin, IntegerTreatment, Meaning, ROWS};
use super::math::record::Definition;
use super::math::{binary_f32, binary_f64, holds_f32, holds_f64, unary_f32, unary_f64};
use super::primitive::Primitive;

/// A built-in function: a row of the [table](super::math::builtins).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct Function(u8);

impl From<Function> for String {
    fn from(function: Function) -> Self {
        function.name().to_owned()
    }
}

impl TryFrom<String> for Function {
    type Error = String;

    fn try_from(name: String) -> Result<Self, Self::Error> {
        Self::from_name(&name).ok_or_else(|| format!("no function is called `{name}`"))
    }
}

impl Function {
    /// All functions, in the order of the table.
    pub fn all() -> impl Iterator<Item = Function> {
        (0..).take(ROWS.len()).map(Function)
    }

    /// The functions that a stencil can call.
    pub fn builtins() -> impl Iterator<Item = Function> {
        Self::all().filter(|it| it.row().instead_of.is_none())
    }

    /// All that is to be known of it.
    #[must_use]
    pub fn row(self) -> &'static Builtin {
        &ROWS[usize::from(self.0)]
    }

    /// The name in the IRs' text; that of a [builtin](Self::builtins) is also the language's.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.row().name
    }

    /// The function of that name in the IRs' text.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::all().find(|it| it.name() == name)
    }

    /// The function that a stencil calls by that name.
    #[must_use]
    pub fn builtin(name: &str) -> Option<Self> {
        Self::builtins().find(|it| it.name() == name)
    }

    /// The function that NumPy calls by that name, which may differ from the language's.
    #[must_use]
    pub fn of_numpy(name: &str) -> Option<Self> {
        Self::builtins().find(|it| it.row().in_numpy.contains(&name))
    }

    /// The function that a primitive is.
    #[must_use]
    pub fn of_primitive(op: Primitive) -> Self {
        Self::all().find(|it| it.primitive() == Some(op)).expect("every primitive has a row, as a test holds")
    }

    /// The name in the text of a stencil that calls it.
    #[must_use]
    pub fn written(self) -> &'static str {
        self.row().instead_of.unwrap_or(self.name())
    }

    /// How many arguments it takes, exactly.
    #[must_use]
    pub fn arity(self) -> usize {
        match self.row().meaning {
            Meaning::Primitive(op) => op.arity(),
            Meaning::Formula(formula) => formula.params.len(),
        }
    }

    /// The operation that it is; none where it is a formula.
    #[must_use]
    pub fn primitive(self) -> Option<Primitive> {
        match self.row().meaning {
            Meaning::Primitive(op) => Some(op),
            Meaning::Formula(_) => None,
        }
    }

    /// The steps that it is, for numbers of a type; none where it is a primitive, and of integers.
    #[must_use]
    pub fn definition(self, dtype: DType) -> Option<&'static Definition> {
        match self.row().meaning {
            Meaning::Primitive(_) => None,
            Meaning::Formula(formula) => formula.definition(dtype),
        }
    }

    /// Whether it asks about a float and answers with a bool.
    #[must_use]
    pub fn is_predicate(self) -> bool {
        matches!(self.primitive(), Some(Primitive::Predicate(_)))
    }

    /// Whether integers stay integers; every other function takes them to floats first.
    #[must_use]
    pub fn keeps_integers(self) -> bool {
        self.row().integers != IntegerTreatment::Converted
    }

    /// Whether its bits depend on an approximation, so that there must be one definition for all back ends.
    #[must_use]
    pub fn is_transcendental(self) -> bool {
        matches!(self.row().meaning, Meaning::Formula(_))
    }

    /// Whether it takes a division, or about as long; a [transcendental](Self::is_transcendental) one takes longer.
    #[must_use]
    pub fn divides(self) -> bool {
        self.primitive().is_some_and(Primitive::divides)
    }

    /// The value at numbers in double precision.
    ///
    /// Total, so that no caller can make it panic. A predicate answers 1 or 0, and a function of one argument
    /// does not look at the second.
    #[must_use]
    pub fn of_f64(self, x: f64, y: f64) -> f64 {
        match self.row().meaning {
            Meaning::Primitive(Primitive::Unary(op)) => unary_f64(op, x),
            Meaning::Primitive(Primitive::Binary(op)) => binary_f64(op, x, y),
            Meaning::Primitive(Primitive::Predicate(question)) => f64::from(u8::from(holds_f64(question, x))),
            Meaning::Formula(formula) => (formula.double)(x, y),
        }
    }

    /// The value at numbers in single precision; like [`of_f64`](Self::of_f64) total.
    #[must_use]
    pub fn of_f32(self, x: f32, y: f32) -> f32 {
        match self.row().meaning {
            Meaning::Primitive(Primitive::Unary(op)) => unary_f32(op, x),
            Meaning::Primitive(Primitive::Binary(op)) => binary_f32(op, x, y),
            Meaning::Primitive(Primitive::Predicate(question)) => f32::from(u8::from(holds_f32(question, x))),
            Meaning::Formula(formula) => (formula.single)(x, y),
        }
    }
}

impl fmt::Debug for Function {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl fmt::Display for Function {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::super::math::narrow;
    use super::*;

    fn named(name: &str) -> Function {
        Function::from_name(name).expect("a row")
    }

    #[test]
    fn every_function_of_one_argument_answers_for_every_kind_of_number() {
        let kinds = [
            0.0,
            -0.0,
            1.0,
            -1.0,
            0.5,
            5e-324,
            -5e-324,
            f64::MAX,
            f64::MIN,
            f64::INFINITY,
            f64::NEG_INFINITY,
            f64::NAN,
        ];
        for function in Function::all() {
            for x in kinds {
                let y = function.of_f64(x, x);
                let single = function.of_f32(narrow(x), narrow(x));
                if x.is_nan() && !function.is_predicate() {
                    assert!(y.is_nan() && single.is_nan(), "{function}(nan)");
                }
            }
        }
    }

    #[test]
    fn predicates_answer_one_or_zero() {
        assert_eq!(named("isnan").of_f64(f64::NAN, 0.0).to_bits(), 1.0_f64.to_bits());
        assert_eq!(named("isinf").of_f64(f64::NEG_INFINITY, 0.0).to_bits(), 1.0_f64.to_bits());
        assert_eq!(named("isfinite").of_f32(f32::INFINITY, 0.0).to_bits(), 0.0_f32.to_bits());
    }

    /// C99, annex F.9, and what is representable.
    #[test]
    fn special_values_are_those_of_c99() {
        const INF: f64 = f64::INFINITY;
        const NAN: f64 = f64::NAN;
        use std::f64::consts::{FRAC_PI_2, PI};
        let odd = [
            ("sin", 0.0, 0.0),
            ("tan", 0.0, 0.0),
            ("asin", 0.0, 0.0),
            ("asin", 1.0, FRAC_PI_2),
            ("atan", 0.0, 0.0),
            ("atan", INF, FRAC_PI_2),
            ("sinh", 0.0, 0.0),
            ("sinh", INF, INF),
            ("sinh", 711.0, INF),
            ("tanh", 0.0, 0.0),
            ("tanh", INF, 1.0),
            ("tanh", 20.0, 1.0),
            ("asinh", 0.0, 0.0),
            ("asinh", INF, INF),
            ("atanh", 0.0, 0.0),
            ("atanh", 1.0, INF),
            ("cbrt", 0.0, 0.0),
            ("cbrt", 27.0, 3.0),
            ("cbrt", 1e-300, 1e-100),
            ("cbrt", INF, INF),
            ("erf", 0.0, 0.0),
            ("erf", INF, 1.0),
            ("erf", 7.0, 1.0),
        ];
        let others = [
            ("sin", INF, NAN),
            ("sin", -INF, NAN),
            ("cos", INF, NAN),
            ("tan", INF, NAN),
            ("cos", 0.0, 1.0),
            ("cos", -0.0, 1.0),
            ("asin", 1.000_000_000_000_000_2, NAN),
            ("asin", INF, NAN),
            ("acos", 1.0, 0.0),
            ("acos", -1.0, PI),
            ("acos", 0.0, FRAC_PI_2),
            ("acos", -1.000_000_000_000_000_2, NAN),
            ("cosh", 0.0, 1.0),
            ("cosh", INF, INF),
            ("cosh", -INF, INF),
            ("cosh", -711.0, INF),
            ("acosh", 1.0, 0.0),
            ("acosh", 0.999_999_999_999_999_9, NAN),
            ("acosh", -INF, NAN),
            ("acosh", INF, INF),
            ("atanh", 1.000_000_000_000_000_2, NAN),
            ("atanh", -INF, NAN),
            ("gamma", 0.0, INF),
            ("gamma", -0.0, -INF),
            ("gamma", 1.0, 1.0),
            ("gamma", 2.0, 1.0),
            ("gamma", 5.0, 24.0),
            ("gamma", 19.0, 6_402_373_705_728_000.0),
            ("gamma", -1.0, NAN),
            ("gamma", -1e300, NAN),
            ("gamma", -INF, NAN),
            ("gamma", INF, INF),
            ("gamma", 172.0, INF),
            ("gamma", -184.5, -0.0),
            ("gamma", -185.5, 0.0),
            ("gamma", 5e-324, INF),
            ("erfc", 0.0, 1.0),
            ("erfc", INF, 0.0),
            ("erfc", -INF, 2.0),
            ("erfc", 28.0, 0.0),
            ("erfc", -7.0, 2.0),
        ];
        let mirrored = odd.iter().flat_map(|&(f, x, y)| [(f, x, y), (f, -x, -y)]);
        for (name, x, expected) in mirrored.chain(others) {
            let y = named(name).of_f64(x, x);
            assert_eq!(y.to_bits(), expected.to_bits(), "{name}({x}) = {y}");
        }
        for function in Function::all().filter(|it| it.is_transcendental()) {
            for nan in [f64::NAN, -f64::NAN, f64::from_bits(0xfff0_0000_0000_0001)] {
                assert_eq!(function.of_f64(nan, nan).to_bits(), f64::NAN.to_bits(), "{function}");
                assert_eq!(function.of_f32(narrow(nan), narrow(nan)).to_bits(), 0x7fc0_0000, "{function}");
            }
        }
    }
}
