//! The meaning of the operators on single values.
//!
//! The interpreter and constant folding both come here, so a folded expression
//! has the bits that it would have had at run time.

use crate::types::math::builtins::Meaning;
use crate::types::math::formula::Formula;
use crate::types::{
    BinaryOp, BinaryPrimitive, DType, Function, Predicate, Primitive, UnaryOp, UnaryPrimitive, Value, math,
};

/// A type of the language with its operations, for code that knows the type beforehand.
///
/// Integers wrap. Booleans count as the numbers 0 and 1 where a number is asked
/// for, which typed expressions do not do.
pub trait Element: Copy + PartialEq + PartialOrd + std::fmt::Debug + 'static {
    #[must_use]
    fn negated(self) -> Self;
    #[must_use]
    fn plus(self, other: Self) -> Self;
    #[must_use]
    fn minus(self, other: Self) -> Self;
    #[must_use]
    fn times(self, other: Self) -> Self;
    /// Integers do not divide: the typing makes floats of them. As for `%`, division by zero gives 0.
    #[must_use]
    fn divided_by(self, other: Self) -> Self;
    /// An integer exponent may have another type than the base.
    #[must_use]
    fn power(self, exponent: Value) -> Self;
    /// A primitive of one operand.
    #[must_use]
    fn unary(self, op: UnaryPrimitive) -> Self;
    /// A primitive of two operands.
    #[must_use]
    fn binary(self, op: BinaryPrimitive, other: Self) -> Self;
    /// The answer about it.
    #[must_use]
    fn holds(self, question: Predicate) -> bool;
    /// The value of a formula; no integer is typed as an argument of one, and it would be the result.
    #[must_use]
    fn formula(self, formula: &Formula, other: Self) -> Self;
    /// The value of this type that `value` converts to.
    #[must_use]
    fn from_value(value: Value) -> Self;
    /// The value as one of the language.
    #[must_use]
    fn to_value(self) -> Value;
}

macro_rules! float_element {
    (
        $float:ident, $variant:ident, $power:ident, $unary:ident, $binary:ident, $holds:ident, $precision:ident
    ) => {
        impl Element for $float {
            fn negated(self) -> Self {
                -self
            }
            fn plus(self, other: Self) -> Self {
                self + other
            }
            fn minus(self, other: Self) -> Self {
                self - other
            }
            fn times(self, other: Self) -> Self {
                self * other
            }
            fn divided_by(self, other: Self) -> Self {
                self / other
            }
            fn power(self, exponent: Value) -> Self {
                math::$power(self, Self::from_value(exponent))
            }
            #[inline]
            fn unary(self, op: UnaryPrimitive) -> Self {
                math::$unary(op, self)
            }
            #[inline]
            fn binary(self, op: BinaryPrimitive, other: Self) -> Self {
                math::$binary(op, self, other)
            }
            #[inline]
            fn holds(self, question: Predicate) -> bool {
                math::$holds(question, self)
            }
            fn formula(self, formula: &Formula, other: Self) -> Self {
                (formula.$precision)(self, other)
            }
            fn from_value(value: Value) -> Self {
                match value.cast(DType::$variant) {
                    Value::$variant(it) => it,
                    _ => 0.0,
                }
            }
            fn to_value(self) -> Value {
                Value::$variant(self)
            }
        }
    };
}
float_element!(f32, Float32, pow_f32, unary_f32, binary_f32, holds_f32, single);
float_element!(f64, Float64, pow_f64, unary_f64, binary_f64, holds_f64, double);

macro_rules! int_element {
    ($int:ident, $variant:ident) => {
        impl Element for $int {
            fn negated(self) -> Self {
                self.wrapping_neg()
            }
            fn plus(self, other: Self) -> Self {
                self.wrapping_add(other)
            }
            fn minus(self, other: Self) -> Self {
                self.wrapping_sub(other)
            }
            fn times(self, other: Self) -> Self {
                self.wrapping_mul(other)
            }
            fn divided_by(self, other: Self) -> Self {
                if other == 0 { 0 } else { self.wrapping_div(other) }
            }
            fn power(self, exponent: Value) -> Self {
                Self::from_value(Value::Int64(integer_power(i64::from(self), exponent.as_i64())))
            }
            #[inline]
            fn unary(self, op: UnaryPrimitive) -> Self {
                Self::from_value(Value::Int64(math::unary_int(op, i64::from(self))))
            }
            #[inline]
            fn binary(self, op: BinaryPrimitive, other: Self) -> Self {
                match op {
                    BinaryPrimitive::Minimum | BinaryPrimitive::Lesser => Ord::min(self, other),
                    BinaryPrimitive::Maximum | BinaryPrimitive::Greater => Ord::max(self, other),
                    BinaryPrimitive::FlooredRemainder | BinaryPrimitive::TruncatedRemainder => {
                        let value = math::binary_int(op, i64::from(self), i64::from(other));
                        Self::from_value(Value::Int64(value))
                    }
                }
            }
            fn holds(self, question: Predicate) -> bool {
                question.of_integers()
            }
            fn formula(self, _: &Formula, _: Self) -> Self {
                self
            }
            fn from_value(value: Value) -> Self {
                match value.cast(DType::$variant) {
                    Value::$variant(it) => it,
                    _ => 0,
                }
            }
            fn to_value(self) -> Value {
                Value::$variant(self)
            }
        }
    };
}
int_element!(i8, Int8);
int_element!(i16, Int16);
int_element!(i32, Int32);
int_element!(i64, Int64);

/// `false` and `true` are 0 and 1, and every number but 0 is `true`.
impl Element for bool {
    fn negated(self) -> Self {
        self
    }
    fn plus(self, other: Self) -> Self {
        self | other
    }
    fn minus(self, other: Self) -> Self {
        self ^ other
    }
    fn times(self, other: Self) -> Self {
        self & other
    }
    fn divided_by(self, other: Self) -> Self {
        self & other
    }
    fn power(self, exponent: Value) -> Self {
        self | (exponent.as_i64() == 0)
    }
    fn unary(self, _: UnaryPrimitive) -> Self {
        self
    }
    fn binary(self, op: BinaryPrimitive, other: Self) -> Self {
        match op {
            BinaryPrimitive::Minimum | BinaryPrimitive::Lesser => self & other,
            BinaryPrimitive::Maximum | BinaryPrimitive::Greater => self | other,
            BinaryPrimitive::FlooredRemainder | BinaryPrimitive::TruncatedRemainder => false,
        }
    }
    fn holds(self, question: Predicate) -> bool {
        question.of_integers()
    }
    fn formula(self, _: &Formula, _: Self) -> Self {
        self
    }
    fn from_value(value: Value) -> Self {
        value.cast(DType::Bool) == Value::Bool(true)
    }
    fn to_value(self) -> Value {
        Value::Bool(self)
    }
}

/// `base ** exponent`, wrapping. A negative exponent gives the real power
/// truncated toward zero, and 0 for the base 0.
#[must_use]
pub fn integer_power(base: i64, exponent: i64) -> i64 {
    math::pow_int(base, exponent).unwrap_or(match base {
        1 => 1,
        -1 if exponent % 2 == 0 => 1,
        -1 => -1,
        _ => 0,
    })
}

/// Calls `$body` with `$a` bound to the number in `$value`.
macro_rules! for_value {
    ($value:expr, $a:ident => $body:expr) => {
        match $value {
            Value::Bool($a) => $body,
            Value::Int8($a) => $body,
            Value::Int16($a) => $body,
            Value::Int32($a) => $body,
            Value::Int64($a) => $body,
            Value::Float32($a) => $body,
            Value::Float64($a) => $body,
        }
    };
}

/// The result of an operator with one operand.
#[must_use]
pub fn unary(op: UnaryOp, operand: Value) -> Value {
    match op {
        UnaryOp::Plus => operand,
        UnaryOp::Minus => for_value!(operand, it => it.negated().to_value()),
        UnaryOp::Not => Value::Bool(!bool::from_value(operand)),
    }
}

/// The result of an operator on operands of the type that it needs; see [`Expr`](super::Expr).
///
/// The left operand's type decides where they differ, which typed expressions do not do but for powers.
#[must_use]
pub fn binary(op: BinaryOp, left: Value, right: Value) -> Value {
    for_value!(left, it => binary_of(op, it, right))
}

fn binary_of<E: Element>(op: BinaryOp, left: E, right: Value) -> Value {
    if op == BinaryOp::Pow {
        return left.power(right).to_value();
    }
    let right = E::from_value(right);
    match op {
        BinaryOp::Add => left.plus(right).to_value(),
        BinaryOp::Sub => left.minus(right).to_value(),
        BinaryOp::Mul => left.times(right).to_value(),
        BinaryOp::Div => left.divided_by(right).to_value(),
        BinaryOp::Mod => left.binary(BinaryPrimitive::FlooredRemainder, right).to_value(),
        BinaryOp::Pow => left.power(right.to_value()).to_value(),
        BinaryOp::And => Value::Bool(bool::from_value(left.to_value()) & bool::from_value(right.to_value())),
        BinaryOp::Or => Value::Bool(bool::from_value(left.to_value()) | bool::from_value(right.to_value())),
        BinaryOp::Lt => Value::Bool(left < right),
        BinaryOp::Le => Value::Bool(left <= right),
        BinaryOp::Gt => Value::Bool(left > right),
        BinaryOp::Ge => Value::Bool(left >= right),
        BinaryOp::Eq => Value::Bool(left == right),
        BinaryOp::Ne => Value::Bool(left != right),
    }
}

/// The result of a function; a missing argument counts as the first.
#[must_use]
pub fn call(function: Function, first: Value, second: Option<Value>) -> Value {
    let second = second.unwrap_or(first);
    for_value!(first, it => call_of(function, it, second))
}

fn call_of<E: Element>(function: Function, first: E, second: Value) -> Value {
    match function.row().meaning {
        Meaning::Primitive(Primitive::Unary(op)) => first.unary(op).to_value(),
        Meaning::Primitive(Primitive::Binary(op)) => first.binary(op, E::from_value(second)).to_value(),
        Meaning::Primitive(Primitive::Predicate(question)) => Value::Bool(first.holds(question)),
        Meaning::Formula(formula) => first.formula(formula, E::from_value(second)).to_value(),
    }
}

/// One of two values.
#[must_use]
pub fn ternary(condition: Value, then: Value, otherwise: Value) -> Value {
    if bool::from_value(condition) { then } else { otherwise }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn int(op: BinaryOp, a: i32, b: i32) -> i64 {
        binary(op, Value::Int32(a), Value::Int32(b)).as_i64()
    }

    #[test]
    fn integers_wrap() {
        assert_eq!(int(BinaryOp::Add, i32::MAX, 1), i64::from(i32::MIN));
        assert_eq!(int(BinaryOp::Mul, 1 << 20, 1 << 20), 0);
        assert_eq!(unary(UnaryOp::Minus, Value::Int8(i8::MIN)), Value::Int8(i8::MIN));
    }

    #[test]
    fn remainders_have_the_sign_of_the_divisor() {
        assert_eq!(int(BinaryOp::Mod, -5, 3), 1);
        assert_eq!(int(BinaryOp::Mod, 5, -3), -1);
        assert_eq!(int(BinaryOp::Mod, 5, 0), 0);
        let float = |a, b| binary(BinaryOp::Mod, Value::Float64(a), Value::Float64(b)).as_f64();
        assert_eq!(float(-5.0, 3.0).to_bits(), 1.0_f64.to_bits());
        assert_eq!(float(5.0, -3.0).to_bits(), (-1.0_f64).to_bits());
    }

    #[test]
    fn min_and_max_propagate_nan_from_either_side() {
        let (nan, one) = (Value::Float64(f64::NAN), Value::Float64(1.0));
        for op in [BinaryPrimitive::Minimum, BinaryPrimitive::Maximum] {
            let function = Function::of_primitive(Primitive::Binary(op));
            assert!(call(function, nan, Some(one)).as_f64().is_nan());
            assert!(call(function, one, Some(nan)).as_f64().is_nan());
        }
    }

    #[test]
    fn powers_of_integers_are_integers() {
        assert_eq!(int(BinaryOp::Pow, -3, 3), -27);
        assert_eq!(int(BinaryOp::Pow, 2, 31), i64::from(i32::MIN));
        assert_eq!(int(BinaryOp::Pow, 2, -1), 0);
        assert_eq!(int(BinaryOp::Pow, -1, -3), -1);
        assert_eq!(int(BinaryOp::Pow, 0, -1), 0);
    }

    #[test]
    fn comparisons_with_nan_are_false_but_for_inequality() {
        let nan = Value::Float32(f32::NAN);
        for op in [BinaryOp::Lt, BinaryOp::Le, BinaryOp::Gt, BinaryOp::Ge, BinaryOp::Eq] {
            assert_eq!(binary(op, nan, nan), Value::Bool(false), "{op}");
        }
        assert_eq!(binary(BinaryOp::Ne, nan, nan), Value::Bool(true));
    }

    #[test]
    fn float_powers_take_integer_exponents() {
        let power = binary(BinaryOp::Pow, Value::Float32(1.5), Value::Int64(2));
        assert_eq!(power, Value::Float32(2.25));
    }
}
