//! Functions of numbers: Python's own, those of `math`, and those of NumPy.

use std::sync::Arc;

use super::numbers::{Number, TOO_LARGE, binary, compare, meet, to_integer, truth, unary};
use crate::frontend::constants::{Constant, ElementType};
use crate::frontend::syntax::{Comparison, Operator, Sign};
use crate::types::math::{log_to_base, unary_f64};
use crate::types::{BinaryPrimitive, DType, Function, Primitive, UnaryPrimitive, Value};

const MAGNITUDE: Primitive = Primitive::Unary(UnaryPrimitive::Magnitude);
const NEAREST: Primitive = Primitive::Unary(UnaryPrimitive::Nearest);
const FLOORED_REMAINDER: Primitive = Primitive::Binary(BinaryPrimitive::FlooredRemainder);

/// The comparison of an extremum with another value that makes that one better.
fn extremum(op: Primitive) -> Option<Comparison> {
    match op {
        Primitive::Binary(BinaryPrimitive::Minimum) => Some(Comparison::Lt),
        Primitive::Binary(BinaryPrimitive::Maximum) => Some(Comparison::Gt),
        Primitive::Unary(_) | Primitive::Binary(_) | Primitive::Predicate(_) => None,
    }
}

/// The operation with which a function of Python rounds to an integer.
fn to_integers(name: &str, op: Option<Primitive>) -> Option<fn(f64) -> f64> {
    match name {
        "int_floor" => Some(f64::floor),
        "int_ceil" => Some(f64::ceil),
        "int_trunc" => Some(f64::trunc),
        _ => (op == Some(NEAREST)).then_some(|x| unary_f64(UnaryPrimitive::Nearest, x)),
    }
}

/// A call of a numeric function.
pub(super) fn numeric(name: &str, args: &[Constant]) -> Result<Constant, String> {
    let op = Function::builtin(name).and_then(Function::primitive);
    match (name, args) {
        (_, [several])
            if op.and_then(extremum).is_some()
                && let Some(parts @ [_, ..]) = several.elements() =>
        {
            if let [one] = parts {
                Ok(one.clone())
            } else {
                numeric(name, parts)
            }
        }
        (_, [first, rest @ ..])
            if let Some(better) = op.and_then(extremum)
                && !rest.is_empty() =>
        {
            let mut best = first;
            for it in rest {
                if compare(better, it, best)? {
                    best = it;
                }
            }
            Ok(best.clone())
        }
        ("pow", [base, exponent]) => binary(Operator::Pow, base, exponent),
        (_, [a, b]) if op == Some(FLOORED_REMAINDER) => binary(Operator::Mod, a, b),
        ("len", [it]) => {
            let length = match it {
                Constant::Dict(entries) => entries.len(),
                Constant::Str(text) => text.chars().count(),
                _ => it.elements().ok_or_else(|| format!("{} has no length", it.describe()))?.len(),
            };
            i64::try_from(length).map(Constant::Int).map_err(|_| TOO_LARGE.to_owned())
        }
        (_, [it]) if op == Some(MAGNITUDE) => match Number::of(it) {
            Some(Number::Int(it)) => it.checked_abs().map(Constant::Int).ok_or_else(|| TOO_LARGE.to_owned()),
            Some(Number::Float(it)) => Ok(Constant::Float(it.abs())),
            Some(Number::Typed(value)) if value.as_f64() < 0.0 => unary(Sign::Minus, it),
            Some(Number::Typed(value)) => Ok(Constant::Typed(value)),
            None => Err(format!("{} is not a number", it.describe())),
        },
        (_, [it]) if let Some(rounded) = to_integers(name, op) => {
            let value = Number::of(it).ok_or_else(|| format!("{} is not a number", it.describe()))?;
            if let Number::Int(it) = value {
                return Ok(Constant::Int(it));
            }
            to_integer(rounded(value.as_f64()))
        }
        ("iinfo" | "finfo", [Constant::Element(element)]) => type_info(element),
        ("log", [it, base]) => {
            let plain = |it: &Constant| match Number::of(it) {
                Some(Number::Typed(_)) | None => None,
                Some(number) => Some(number.as_f64()),
            };
            if let (Some(x), Some(base)) = (plain(it), plain(base))
                && let Some(y) = log_to_base(x, base)
            {
                return Ok(Constant::Float(y));
            }
            let one = |it: &Constant| numeric("log", std::slice::from_ref(it));
            binary(Operator::Div, &one(it)?, &one(base)?)
        }
        ("square", [it]) => binary(Operator::Mul, it, it),
        (_, [a, b]) => {
            let of_two: fn(f64, f64) -> f64 = match name {
                "atan2" => libm::atan2,
                "hypot" => libm::hypot,
                "copysign" => libm::copysign,
                "fmod" => libm::fmod,
                _ => return Err(format!("`{name}` is called with a wrong number of values")),
            };
            let number =
                |it: &Constant| Number::of(it).ok_or_else(|| format!("{} is not a number", it.describe()));
            let (a, b) = (number(a)?, number(b)?);
            let value = of_two(a.as_f64(), b.as_f64());
            // NumPy's functions keep the type of what they are given.
            Ok(match meet(a, b) {
                Some(dtype) if dtype.is_float() => Constant::Typed(Value::Float64(value).cast(dtype)),
                _ => Constant::Float(value),
            })
        }
        ("radians" | "degrees" | "log2" | "expm1" | "log1p" | "exp2", [it]) => {
            let number = Number::of(it).ok_or_else(|| format!("{} is not a number", it.describe()))?;
            let value = number.as_f64();
            let value = match name {
                "radians" => value * (std::f64::consts::PI / 180.0),
                "degrees" => value * (180.0 / std::f64::consts::PI),
                "log2" => libm::log2(value),
                "exp2" => libm::exp2(value),
                "expm1" => libm::expm1(value),
                _ => libm::log1p(value),
            };
            Ok(match number {
                Number::Typed(it) if it.dtype().is_float() => {
                    Constant::Typed(Value::Float64(value).cast(it.dtype()))
                }
                _ => Constant::Float(value),
            })
        }
        (_, [it]) => {
            let function = Function::builtin(name).filter(|it| it.arity() == 1);
            let function = function.ok_or_else(|| format!("`{name}` is not known while compiling"))?;
            let number = Number::of(it).ok_or_else(|| format!("{} is not a number", it.describe()))?;
            let value = match number {
                Number::Typed(Value::Float32(it)) => Constant::Typed(Value::Float32(function.of_f32(it, it))),
                Number::Typed(it) => {
                    Constant::Typed(Value::Float64(function.of_f64(it.as_f64(), it.as_f64())))
                }
                it => Constant::Float(function.of_f64(it.as_f64(), it.as_f64())),
            };
            Ok(if function.is_predicate() { Constant::Bool(truth(&value) == Some(true)) } else { value })
        }
        _ => Err(format!("`{name}` is called with a wrong number of values")),
    }
}

fn type_info(element: &ElementType) -> Result<Constant, String> {
    let int = |min: i64, max: i64| vec![("min", Constant::Int(min)), ("max", Constant::Int(max))];
    let members = match element {
        ElementType::Fixed(DType::Int8) => int(i8::MIN.into(), i8::MAX.into()),
        ElementType::Fixed(DType::Int16) => int(i16::MIN.into(), i16::MAX.into()),
        ElementType::Fixed(DType::Int32) => int(i32::MIN.into(), i32::MAX.into()),
        ElementType::Fixed(DType::Int64) | ElementType::Int => int(i64::MIN, i64::MAX),
        ElementType::Fixed(DType::Float32) => {
            let typed = |it| Constant::Typed(Value::Float32(it));
            vec![
                ("eps", typed(f32::EPSILON)),
                ("max", typed(f32::MAX)),
                ("min", typed(f32::MIN)),
                ("tiny", typed(f32::MIN_POSITIVE)),
                ("smallest_normal", typed(f32::MIN_POSITIVE)),
            ]
        }
        ElementType::Fixed(DType::Float64) | ElementType::Float => {
            let typed = |it| Constant::Typed(Value::Float64(it));
            vec![
                ("eps", typed(f64::EPSILON)),
                ("max", typed(f64::MAX)),
                ("min", typed(f64::MIN)),
                ("tiny", typed(f64::MIN_POSITIVE)),
                ("smallest_normal", typed(f64::MIN_POSITIVE)),
            ]
        }
        ElementType::Fixed(DType::Bool) | ElementType::Named(_) => {
            return Err("the type has no limits".to_owned());
        }
    };
    Ok(Constant::Namespace(Arc::new(
        members.into_iter().map(|(key, value)| (key.to_owned(), value)).collect(),
    )))
}
