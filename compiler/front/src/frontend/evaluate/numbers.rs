//! Python's arithmetic on numbers that are known: sums, comparisons, and conversions from type to type.

use crate::frontend::constants::{AxisPosition, Constant, ElementType};
use crate::frontend::syntax::{Comparison, Operator, Sign};
use crate::types::math::{binary_f32, binary_f64, binary_int, pow_f32, pow_f64};
use crate::types::{BinaryPrimitive, DType, Value};

/// Whether Python takes a value for true; `None` where it cannot be said.
#[must_use]
pub fn truth(value: &Constant) -> Option<bool> {
    match value {
        Constant::Bool(it) => Some(*it),
        Constant::Int(it) | Constant::Member(it) => Some(*it != 0),
        Constant::Float(it) => Some(*it != 0.0),
        Constant::Typed(it) => Some(it.cast(DType::Bool) == Value::Bool(true)),
        Constant::None => Some(false),
        Constant::Str(it) => Some(!it.is_empty()),
        Constant::Tuple(it) | Constant::List(it) => Some(!it.is_empty()),
        Constant::Dict(it) => Some(!it.is_empty()),
        Constant::Function(_)
        | Constant::Class(_)
        | Constant::Object(_)
        | Constant::Namespace(_)
        | Constant::Module(_) => Some(true),
        _ => None,
    }
}

/// A number as the arithmetic sees it.
#[derive(Clone, Copy, Debug)]
pub(super) enum Number {
    Int(i64),
    Float(f64),
    Typed(Value),
}

impl Number {
    pub(super) fn of(value: &Constant) -> Option<Self> {
        match value {
            Constant::Bool(it) => Some(Number::Int(i64::from(*it))),
            Constant::Int(it) | Constant::Member(it) => Some(Number::Int(*it)),
            Constant::Float(it) => Some(Number::Float(*it)),
            Constant::Typed(it) => Some(Number::Typed(*it)),
            _ => None,
        }
    }

    #[expect(clippy::cast_precision_loss, reason = "Python converts in the same way")]
    pub(super) fn as_f64(self) -> f64 {
        match self {
            Number::Int(it) => it as f64,
            Number::Float(it) => it,
            Number::Typed(it) => it.as_f64(),
        }
    }
}

/// The type in which two numbers meet: NumPy's rules, where a plain Python number adapts.
pub(super) fn meet(left: Number, right: Number) -> Option<DType> {
    let with_python = |dtype: DType, is_float: bool| {
        if is_float && !dtype.is_float() { DType::Float64 } else { dtype }
    };
    match (left, right) {
        (Number::Typed(a), Number::Typed(b)) => Some(match (a.dtype(), b.dtype()) {
            (DType::Int64 | DType::Int32, DType::Float32) | (DType::Float32, DType::Int64 | DType::Int32) => {
                DType::Float64
            }
            (a, b) => a.max(b),
        }),
        (Number::Typed(it), other) | (other, Number::Typed(it)) => {
            Some(with_python(it.dtype(), matches!(other, Number::Float(_))))
        }
        _ => None,
    }
}

fn cast(number: Number, dtype: DType) -> Value {
    match number {
        Number::Int(it) => Value::Int64(it).cast(dtype),
        Number::Float(it) => Value::Float64(it).cast(dtype),
        Number::Typed(it) => it.cast(dtype),
    }
}

/// An operator with one operand.
///
/// # Errors
///
/// Why it has no value.
pub fn unary(sign: Sign, operand: &Constant) -> Result<Constant, String> {
    if sign == Sign::Not {
        return truth(operand)
            .map(|it| Constant::Bool(!it))
            .ok_or_else(|| format!("{} is neither true nor false", operand.describe()));
    }
    let number = Number::of(operand).ok_or_else(|| format!("{} is not a number", operand.describe()))?;
    match (sign, number) {
        (Sign::Plus, Number::Int(it)) => Ok(Constant::Int(it)),
        (Sign::Plus, _) => Ok(operand.clone()),
        (Sign::Minus, Number::Int(it)) => {
            it.checked_neg().map(Constant::Int).ok_or_else(|| "the integer does not fit 64 bits".to_owned())
        }
        (Sign::Minus, Number::Float(it)) => Ok(Constant::Float(-it)),
        (Sign::Minus, Number::Typed(it)) => Ok(Constant::Typed(match it {
            Value::Float32(it) => Value::Float32(-it),
            Value::Float64(it) => Value::Float64(-it),
            other => Value::Int64(other.as_i64().wrapping_neg()).cast(other.dtype()),
        })),
        (Sign::Invert, Number::Int(it)) => Ok(Constant::Int(!it)),
        (Sign::Invert, _) => Err("`~` takes an integer".to_owned()),
        (Sign::Not, _) => Err("handled above".to_owned()),
    }
}

/// `left op right` as Python computes it.
///
/// # Errors
///
/// Why there is no value.
pub fn binary(op: Operator, left: &Constant, right: &Constant) -> Result<Constant, String> {
    if let Some(moved) = move_position(op, left, right) {
        return moved;
    }
    match (op, left, right) {
        (Operator::Add, Constant::Tuple(a), Constant::Tuple(b)) => {
            return Ok(Constant::Tuple(a.iter().chain(&**b).cloned().collect()));
        }
        (Operator::Add, Constant::List(a), Constant::List(b)) => {
            return Ok(Constant::List(a.iter().chain(&**b).cloned().collect()));
        }
        (Operator::Add, Constant::Str(a), Constant::Str(b)) => {
            if a.len() + b.len() > LONGEST_STRING {
                return Err("the string is too long".to_owned());
            }
            return Ok(Constant::Str(format!("{a}{b}").into()));
        }
        _ => {}
    }
    let not_a_number = |it: &Constant| format!("{} is not a number", it.describe());
    let a = Number::of(left).ok_or_else(|| not_a_number(left))?;
    let b = Number::of(right).ok_or_else(|| not_a_number(right))?;
    if let Some(dtype) = meet(a, b) {
        let dtype = if op == Operator::Div && !dtype.is_float() { DType::Float64 } else { dtype };
        let (a, b) = (cast(a, dtype), cast(b, dtype));
        return match (a, b) {
            (Value::Float32(a), Value::Float32(b)) => {
                float32(op, a, b).map(|it| Constant::Typed(Value::Float32(it)))
            }
            (Value::Float64(a), Value::Float64(b)) => {
                float64(op, a, b).map(|it| Constant::Typed(Value::Float64(it)))
            }
            (a, b) => match integer(op, a.as_i64(), b.as_i64())? {
                Constant::Int(it) => Ok(Constant::Typed(Value::Int64(it).cast(dtype))),
                other => Ok(other),
            },
        };
    }
    match (a, b) {
        (Number::Int(a), Number::Int(b)) => integer(op, a, b),
        (a, b) => float64(op, a.as_f64(), b.as_f64()).map(Constant::Float),
    }
}

/// `I[0] + 1`; `None` where no position is involved. Also `K + 1` of an axis alone is not a number.
fn move_position(op: Operator, left: &Constant, right: &Constant) -> Option<Result<Constant, String>> {
    let (position, shift) = match (left, right) {
        (Constant::Position(it), shift) => (*it, shift.as_int()),
        (shift, Constant::Position(it)) if op == Operator::Add => (*it, shift.as_int()),
        (_, Constant::Position(_)) => {
            return Some(Err("a position along an axis takes `+` and `-` of an integer".to_owned()));
        }
        _ => return None,
    };
    let shift = match op {
        Operator::Add => shift,
        Operator::Sub => shift.and_then(i64::checked_neg),
        _ => None,
    };
    Some(match shift.and_then(|it| position.offset.checked_add(it)) {
        Some(offset) => Ok(Constant::Position(AxisPosition { offset, ..position })),
        None => Err("a position along an axis takes `+` and `-` of an integer".to_owned()),
    })
}

/// How many bytes a string has that others are put together to.
const LONGEST_STRING: usize = 1 << 16;

pub(super) const TOO_LARGE: &str = "the integer does not fit 64 bits";
const BY_ZERO: &str = "it divides by zero";

#[expect(clippy::cast_precision_loss, reason = "Python converts in the same way")]
fn integer(op: Operator, a: i64, b: i64) -> Result<Constant, String> {
    let value = match op {
        Operator::Add => a.checked_add(b),
        Operator::Sub => a.checked_sub(b),
        Operator::Mul => a.checked_mul(b),
        Operator::Div if b == 0 => return Err(BY_ZERO.to_owned()),
        Operator::Div => return Ok(Constant::Float(a as f64 / b as f64)),
        Operator::FloorDiv | Operator::Mod if b == 0 => return Err(BY_ZERO.to_owned()),
        Operator::FloorDiv => {
            let rounds_up = a.checked_rem(b).is_some_and(|it| it != 0) && (a < 0) != (b < 0);
            a.checked_div(b).map(|it| it - i64::from(rounds_up))
        }
        Operator::Mod => Some(binary_int(BinaryPrimitive::FlooredRemainder, a, b)),
        Operator::Pow if b < 0 => return float64(op, a as f64, b as f64).map(Constant::Float),
        Operator::Pow => u32::try_from(b).ok().and_then(|it| a.checked_pow(it)),
        Operator::BitAnd => Some(a & b),
        Operator::BitOr => Some(a | b),
        Operator::BitXor => Some(a ^ b),
        Operator::ShiftLeft => {
            u32::try_from(b).ok().filter(|&it| it < 63).and_then(|it| a.checked_mul(1_i64 << it))
        }
        Operator::ShiftRight => u32::try_from(b).ok().map(|it| a >> it.min(63)),
        Operator::MatMul => return Err("`@` takes matrices".to_owned()),
    };
    value.map(Constant::Int).ok_or_else(|| TOO_LARGE.to_owned())
}

fn float64(op: Operator, a: f64, b: f64) -> Result<f64, String> {
    Ok(match op {
        Operator::Add => a + b,
        Operator::Sub => a - b,
        Operator::Mul => a * b,
        Operator::Div | Operator::FloorDiv | Operator::Mod if b == 0.0 => return Err(BY_ZERO.to_owned()),
        Operator::Div => a / b,
        Operator::FloorDiv => (a / b).floor(),
        Operator::Mod => binary_f64(BinaryPrimitive::FlooredRemainder, a, b),
        Operator::Pow => {
            if a == 0.0 && b < 0.0 {
                return Err(BY_ZERO.to_owned());
            }
            if a < 0.0 && b.fract() != 0.0 {
                return Err("a broken power of a negative number is not real".to_owned());
            }
            pow_f64(a, b)
        }
        other => return Err(format!("`{}` takes integers", other.symbol())),
    })
}

fn float32(op: Operator, a: f32, b: f32) -> Result<f32, String> {
    Ok(match op {
        Operator::Add => a + b,
        Operator::Sub => a - b,
        Operator::Mul => a * b,
        Operator::Div => a / b,
        Operator::FloorDiv => (a / b).floor(),
        Operator::Mod => binary_f32(BinaryPrimitive::FlooredRemainder, a, b),
        Operator::Pow => pow_f32(a, b),
        other => return Err(format!("`{}` takes integers", other.symbol())),
    })
}

/// `left op right` as Python compares.
///
/// # Errors
///
/// Why it cannot be known.
pub fn compare(op: Comparison, left: &Constant, right: &Constant) -> Result<bool, String> {
    use std::cmp::Ordering;
    if [left, right].into_iter().any(|it| matches!(it, Constant::Array(_))) {
        return Err("arrays are compared element by element".to_owned());
    }
    let order = match (Number::of(left), Number::of(right)) {
        (Some(Number::Int(a)), Some(Number::Int(b))) => Some(a.cmp(&b)),
        (Some(a), Some(b)) => a.as_f64().partial_cmp(&b.as_f64()),
        _ => match op {
            Comparison::In | Comparison::NotIn => None,
            _ if matches!(
                (left, right),
                (
                    Constant::Namespace(_) | Constant::Dict(_) | Constant::Array(_),
                    Constant::Namespace(_) | Constant::Dict(_) | Constant::Array(_)
                )
            ) =>
            {
                return Err("objects are not compared".to_owned());
            }
            _ if left == right => Some(Ordering::Equal),
            _ => match op {
                Comparison::Eq | Comparison::Is => return Ok(false),
                Comparison::Ne | Comparison::IsNot => return Ok(true),
                _ => return Err(format!("{} and {} have no order", left.describe(), right.describe())),
            },
        },
    };
    Ok(match op {
        Comparison::Eq | Comparison::Is => order == Some(Ordering::Equal),
        Comparison::Ne | Comparison::IsNot => order != Some(Ordering::Equal),
        Comparison::Lt => order == Some(Ordering::Less),
        Comparison::Le => matches!(order, Some(Ordering::Less | Ordering::Equal)),
        Comparison::Gt => order == Some(Ordering::Greater),
        Comparison::Ge => matches!(order, Some(Ordering::Greater | Ordering::Equal)),
        Comparison::In | Comparison::NotIn => {
            let keys: Vec<Constant>;
            let parts = match right {
                Constant::Tuple(parts) | Constant::List(parts) => &**parts,
                Constant::Dict(entries) => {
                    keys = entries.iter().map(|(key, _)| key.clone()).collect();
                    &keys
                }
                Constant::Str(_) => return Err("a string is not searched while compiling".to_owned()),
                _ => return Err(format!("{} has no elements", right.describe())),
            };
            let is_in = parts.iter().any(|it| compare(Comparison::Eq, left, it) == Ok(true));
            is_in == (op == Comparison::In)
        }
    })
}

/// A call of an element type: `np.float32(0.1)`, `int(2.5)`.
pub(super) fn convert(element: &ElementType, value: &Constant) -> Result<Constant, String> {
    let number = match value {
        // `float("inf")`
        Constant::Str(text) => match text.trim().to_ascii_lowercase().as_str() {
            "inf" | "+inf" | "infinity" => Number::Float(f64::INFINITY),
            "-inf" | "-infinity" => Number::Float(f64::NEG_INFINITY),
            "nan" => Number::Float(f64::NAN),
            text => text.parse().map(Number::Float).map_err(|_| "the string is not a number".to_owned())?,
        },
        other => Number::of(other).ok_or_else(|| format!("{} is not a number", other.describe()))?,
    };
    match element {
        ElementType::Fixed(DType::Bool) => Ok(Constant::Bool(cast(number, DType::Bool) == Value::Bool(true))),
        ElementType::Fixed(dtype) => Ok(Constant::Typed(cast(number, *dtype))),
        ElementType::Float => Ok(Constant::Float(number.as_f64())),
        ElementType::Int => to_integer(number.as_f64().trunc()).or_else(|why| match number {
            Number::Int(it) => Ok(Constant::Int(it)),
            _ => Err(why),
        }),
        ElementType::Named(name) => Err(format!("`{name}` is not a type that can be called")),
    }
}

/// A whole float as a Python integer.
#[expect(clippy::cast_possible_truncation, reason = "the range is checked")]
pub(super) fn to_integer(value: f64) -> Result<Constant, String> {
    // The first value beyond the range of 64 bits.
    const LIMIT: f64 = (1_u64 << 63) as f64;
    if (-LIMIT..LIMIT).contains(&value) { Ok(Constant::Int(value as i64)) } else { Err(TOO_LARGE.to_owned()) }
}
