//! The meaning of the operators on single values.
//!
//! The interpreter and constant folding both come here, so a folded expression
//! has the bits that it would have had at run time.

use crate::types::{BinaryOp, DType, Function, UnaryOp, Value, math};

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
    /// The remainder with the sign of the divisor.
    #[must_use]
    fn modulo(self, other: Self) -> Self;
    /// C++'s `std::min`, which is the first where either is NaN.
    #[must_use]
    fn lesser_of_c(self, other: Self) -> Self;
    /// C++'s `std::max`, which is the first where either is NaN.
    #[must_use]
    fn greater_of_c(self, other: Self) -> Self;
    /// C's remainder, with the sign of the dividend.
    #[must_use]
    fn modulo_of_c(self, other: Self) -> Self;
    /// An integer exponent may have another type than the base.
    #[must_use]
    fn power(self, exponent: Value) -> Self;
    /// NaN if either is.
    #[must_use]
    fn lesser(self, other: Self) -> Self;
    /// NaN if either is.
    #[must_use]
    fn greater(self, other: Self) -> Self;
    /// A function of one argument with a result of the same type.
    #[must_use]
    fn called(self, function: Function) -> Self;
    /// `isnan`, `isinf`, `isfinite`.
    #[must_use]
    fn is(self, predicate: Function) -> bool;
    /// The value of this type that `value` converts to.
    #[must_use]
    fn from_value(value: Value) -> Self;
    /// The value as one of the language.
    #[must_use]
    fn to_value(self) -> Value;
}

macro_rules! float_element {
    (
        $float:ident, $variant:ident, $modulo:ident, $power:ident, $min:ident, $max:ident, $call:ident,
        $min_c:ident, $max_c:ident, $modulo_c:ident
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
            fn modulo(self, other: Self) -> Self {
                math::$modulo(self, other)
            }
            fn power(self, exponent: Value) -> Self {
                math::$power(self, Self::from_value(exponent))
            }
            fn lesser(self, other: Self) -> Self {
                math::$min(self, other)
            }
            fn greater(self, other: Self) -> Self {
                math::$max(self, other)
            }
            fn lesser_of_c(self, other: Self) -> Self {
                math::$min_c(self, other)
            }
            fn greater_of_c(self, other: Self) -> Self {
                math::$max_c(self, other)
            }
            fn modulo_of_c(self, other: Self) -> Self {
                math::$modulo_c(self, other)
            }
            fn called(self, function: Function) -> Self {
                math::$call(function, self)
            }
            fn is(self, predicate: Function) -> bool {
                match predicate {
                    Function::IsNan => self.is_nan(),
                    Function::IsInf => self.is_infinite(),
                    _ => self.is_finite(),
                }
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
float_element!(f32, Float32, mod_f32, pow_f32, min_f32, max_f32, call_f32, min_c_f32, max_c_f32, mod_c_f32);
float_element!(f64, Float64, mod_f64, pow_f64, min_f64, max_f64, call_f64, min_c_f64, max_c_f64, mod_c_f64);

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
            fn modulo(self, other: Self) -> Self {
                Self::from_value(Value::Int64(math::mod_int(i64::from(self), i64::from(other))))
            }
            fn power(self, exponent: Value) -> Self {
                Self::from_value(Value::Int64(integer_power(i64::from(self), exponent.as_i64())))
            }
            fn lesser(self, other: Self) -> Self {
                Ord::min(self, other)
            }
            fn greater(self, other: Self) -> Self {
                Ord::max(self, other)
            }
            fn lesser_of_c(self, other: Self) -> Self {
                Ord::min(self, other)
            }
            fn greater_of_c(self, other: Self) -> Self {
                Ord::max(self, other)
            }
            fn modulo_of_c(self, other: Self) -> Self {
                Self::from_value(Value::Int64(math::mod_c_int(i64::from(self), i64::from(other))))
            }
            fn called(self, function: Function) -> Self {
                // Rounding leaves an integer what it is; no other function is typed with one.
                if function == Function::Abs { self.wrapping_abs() } else { self }
            }
            fn is(self, predicate: Function) -> bool {
                predicate == Function::IsFinite
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
    fn modulo(self, _: Self) -> Self {
        false
    }
    fn power(self, exponent: Value) -> Self {
        self | (exponent.as_i64() == 0)
    }
    fn lesser(self, other: Self) -> Self {
        self & other
    }
    fn greater(self, other: Self) -> Self {
        self | other
    }
    fn lesser_of_c(self, other: Self) -> Self {
        self & other
    }
    fn greater_of_c(self, other: Self) -> Self {
        self | other
    }
    fn modulo_of_c(self, _: Self) -> Self {
        false
    }
    fn called(self, _: Function) -> Self {
        self
    }
    fn is(self, predicate: Function) -> bool {
        predicate == Function::IsFinite
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
        BinaryOp::Mod => left.modulo(right).to_value(),
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
    match function {
        Function::Min => first.lesser(E::from_value(second)).to_value(),
        Function::Max => first.greater(E::from_value(second)).to_value(),
        Function::Mod => first.modulo(E::from_value(second)).to_value(),
        Function::MinC => first.lesser_of_c(E::from_value(second)).to_value(),
        Function::MaxC => first.greater_of_c(E::from_value(second)).to_value(),
        Function::ModC => first.modulo_of_c(E::from_value(second)).to_value(),
        it if it.is_predicate() => Value::Bool(first.is(it)),
        it => first.called(it).to_value(),
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
        for function in [Function::Min, Function::Max] {
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
