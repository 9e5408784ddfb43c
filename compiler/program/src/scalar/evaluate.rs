//! The value of an expression, with Python's rules.

use std::cmp::Ordering;

use isobar_ground::entity::Handle;
use isobar_ground::types::{DType, Function, Value};

use super::nodes::{
    ScalarComparison, ScalarExpr, ScalarExprKind, ScalarFunction, ScalarOperator, ScalarSign, ScalarType,
    ScalarValue, ScalarVariable,
};
use super::numbers::{self, Reason};

/// The expression that has no value, and the reason.
#[derive(Clone, Debug, PartialEq)]
pub struct NoValue {
    pub expr: ScalarExpr,
    pub reason: Reason,
}

type Evaluated = Result<ScalarValue, NoValue>;

/// The value of an expression. `value_of` has the values of variables; a variable that the validator let through
/// has one.
///
/// # Errors
///
/// Where Python raises an exception, and where an integer leaves 64 bits.
pub fn evaluate(expr: &ScalarExpr, value_of: &dyn Fn(Handle<ScalarVariable>) -> ScalarValue) -> Evaluated {
    let value = |it: &ScalarExpr| evaluate(it, value_of);
    let fail = |reason| NoValue { expr: expr.clone(), reason };
    match &expr.kind {
        ScalarExprKind::Literal(it) => Ok(*it),
        ScalarExprKind::Variable(it) => Ok(value_of(*it)),
        ScalarExprKind::Unary(sign, operand) => unary(*sign, value(operand)?).map_err(fail),
        ScalarExprKind::Binary(operator, left, right) => {
            binary(*operator, expr.of, value(left)?, value(right)?).map_err(fail)
        }
        ScalarExprKind::Compare(first, rest) => {
            let mut left = value(first)?;
            for (comparison, right) in rest {
                let right = value(right)?;
                if !holds(*comparison, left, right) {
                    return Ok(ScalarValue::Bool(false));
                }
                left = right;
            }
            Ok(ScalarValue::Bool(true))
        }
        ScalarExprKind::And(parts) => first_that(parts, &value, |it| !is_true(it)),
        ScalarExprKind::Or(parts) => first_that(parts, &value, is_true),
        ScalarExprKind::Conditional { test, then, otherwise } => {
            value(if is_true(value(test)?) { then } else { otherwise })
        }
        ScalarExprKind::Call(function, args) => {
            let args = args.iter().map(value).collect::<Result<Vec<_>, _>>()?;
            call(*function, &args).map_err(fail)
        }
    }
}

/// The first operand that decides, or the last one.
fn first_that(
    parts: &[ScalarExpr],
    value: &dyn Fn(&ScalarExpr) -> Evaluated,
    decides: impl Fn(ScalarValue) -> bool,
) -> Evaluated {
    let mut found = ScalarValue::Bool(false);
    for part in parts {
        found = value(part)?;
        if decides(found) {
            break;
        }
    }
    Ok(found)
}

/// Whether Python takes a value as true: all numbers but zero, NaN too.
#[must_use]
pub fn is_true(value: ScalarValue) -> bool {
    match value {
        ScalarValue::Bool(it) => it,
        ScalarValue::Int(it) => it != 0,
        ScalarValue::Float(it) => it != 0.0,
        ScalarValue::Single(it) => it != 0.0,
    }
}

/// The value that a variable or parameter of a type takes.
///
/// # Errors
///
/// Where the type does not hold it.
pub fn stored(value: ScalarValue, dtype: DType) -> Result<Value, Reason> {
    let typed = value.value().cast(dtype);
    match (value, typed) {
        (ScalarValue::Int(it), Value::Int8(_) | Value::Int16(_) | Value::Int32(_))
            if typed.as_i64() != it =>
        {
            Err("an integer does not fit its type")
        }
        (ScalarValue::Float(it), Value::Float32(single)) if it.is_finite() && single.is_infinite() => {
            Err("a number leaves single precision")
        }
        _ => Ok(typed),
    }
}

fn unary(sign: ScalarSign, operand: ScalarValue) -> Result<ScalarValue, Reason> {
    let operand = match (sign, operand) {
        (ScalarSign::Not, _) => return Ok(ScalarValue::Bool(!is_true(operand))),
        (_, ScalarValue::Bool(it)) => ScalarValue::Int(i64::from(it)),
        _ => operand,
    };
    Ok(match (sign, operand) {
        (ScalarSign::Minus, ScalarValue::Int(it)) => ScalarValue::Int(numbers::checked(it.checked_neg())?),
        (ScalarSign::Minus, ScalarValue::Float(it)) => ScalarValue::Float(-it),
        (ScalarSign::Minus, ScalarValue::Single(it)) => ScalarValue::Single(-it),
        _ => operand,
    })
}

fn as_int(value: ScalarValue) -> i64 {
    value.value().as_i64()
}

fn as_float(value: ScalarValue) -> f64 {
    value.value().as_f64()
}

fn binary(
    operator: ScalarOperator,
    of: ScalarType,
    left: ScalarValue,
    right: ScalarValue,
) -> Result<ScalarValue, Reason> {
    if let (ScalarValue::Single(a), ScalarValue::Single(b)) = (left, right) {
        return single(operator, a, b).map(ScalarValue::Single);
    }
    let are_integers = left.of().is_integral() && right.of().is_integral();
    if are_integers {
        let (a, b) = (as_int(left), as_int(right));
        if of == ScalarType::Float && operator == ScalarOperator::Div {
            return numbers::true_div(a, b).map(ScalarValue::Float);
        }
        if of == ScalarType::Int {
            let result = match operator {
                ScalarOperator::Add => numbers::checked(a.checked_add(b)),
                ScalarOperator::Sub => numbers::checked(a.checked_sub(b)),
                ScalarOperator::Mul => numbers::checked(a.checked_mul(b)),
                ScalarOperator::FloorDiv => numbers::floor_div(a, b),
                ScalarOperator::Mod => numbers::modulo(a, b),
                ScalarOperator::Pow => numbers::power(a, b),
                ScalarOperator::Div => unreachable!("a quotient of integers is a float"),
            };
            return result.map(ScalarValue::Int);
        }
    }
    let (a, b) = (as_float(left), as_float(right));
    let result = match operator {
        ScalarOperator::Add => a + b,
        ScalarOperator::Sub => a - b,
        ScalarOperator::Mul => a * b,
        ScalarOperator::Div => numbers::float_div(a, b)?,
        ScalarOperator::FloorDiv => numbers::float_divmod(a, b)?.0,
        ScalarOperator::Mod => numbers::float_divmod(a, b)?.1,
        ScalarOperator::Pow => numbers::float_power(a, b)?,
    };
    Ok(ScalarValue::Float(result))
}

fn single(operator: ScalarOperator, a: f32, b: f32) -> Result<f32, Reason> {
    Ok(match operator {
        ScalarOperator::Add => a + b,
        ScalarOperator::Sub => a - b,
        ScalarOperator::Mul => a * b,
        ScalarOperator::Div if b == 0.0 => return Err("a divisor is zero"),
        ScalarOperator::Div => a / b,
        ScalarOperator::FloorDiv | ScalarOperator::Mod | ScalarOperator::Pow => {
            unreachable!("typing refuses these in single precision")
        }
    })
}

fn order(left: ScalarValue, right: ScalarValue) -> Option<Ordering> {
    let is_integral = |it: ScalarValue| it.of().is_integral();
    match (is_integral(left), is_integral(right)) {
        (true, true) => Some(as_int(left).cmp(&as_int(right))),
        (true, false) => numbers::compare(as_int(left), as_float(right)),
        (false, true) => numbers::compare(as_int(right), as_float(left)).map(Ordering::reverse),
        (false, false) => as_float(left).partial_cmp(&as_float(right)),
    }
}

fn holds(comparison: ScalarComparison, left: ScalarValue, right: ScalarValue) -> bool {
    let order = order(left, right);
    match comparison {
        ScalarComparison::Eq => order == Some(Ordering::Equal),
        ScalarComparison::Ne => order != Some(Ordering::Equal),
        ScalarComparison::Lt => order == Some(Ordering::Less),
        ScalarComparison::Le => matches!(order, Some(Ordering::Less | Ordering::Equal)),
        ScalarComparison::Gt => order == Some(Ordering::Greater),
        ScalarComparison::Ge => matches!(order, Some(Ordering::Greater | Ordering::Equal)),
    }
}

fn call(function: ScalarFunction, args: &[ScalarValue]) -> Result<ScalarValue, Reason> {
    let arg = args.first().copied().unwrap_or(ScalarValue::Bool(false));
    // The first extreme one stays, as with NaN in Python.
    let extreme = |comparison| {
        let mut found = arg;
        for &it in args {
            if holds(comparison, it, found) {
                found = it;
            }
        }
        Ok(found)
    };
    let whole = |round: fn(f64) -> f64| match arg {
        ScalarValue::Bool(_) | ScalarValue::Int(_) => Ok(ScalarValue::Int(as_int(arg))),
        ScalarValue::Float(_) | ScalarValue::Single(_) => {
            numbers::to_int(round(as_float(arg))).map(ScalarValue::Int)
        }
    };
    match function {
        ScalarFunction::Min => extreme(ScalarComparison::Lt),
        ScalarFunction::Max => extreme(ScalarComparison::Gt),
        ScalarFunction::Abs => Ok(match arg {
            ScalarValue::Bool(it) => ScalarValue::Int(i64::from(it)),
            ScalarValue::Int(it) => ScalarValue::Int(numbers::checked(it.checked_abs())?),
            ScalarValue::Float(it) => ScalarValue::Float(it.abs()),
            ScalarValue::Single(it) => ScalarValue::Single(it.abs()),
        }),
        ScalarFunction::Round => whole(f64::round_ties_even),
        ScalarFunction::Floor => whole(f64::floor),
        ScalarFunction::Int => whole(f64::trunc),
        ScalarFunction::Bool => Ok(ScalarValue::Bool(is_true(arg))),
        ScalarFunction::Exp | ScalarFunction::Log | ScalarFunction::Sqrt => {
            elementary(function, as_float(arg)).map(ScalarValue::Float)
        }
        ScalarFunction::Cast(dtype) => cast(arg, dtype),
    }
}

/// Where C's function answers a finite number with NaN or an infinity, Python raises an exception.
fn elementary(function: ScalarFunction, x: f64) -> Result<f64, Reason> {
    let result = Function::from_name(function.name()).map_or(f64::NAN, |it| it.of_f64(x, x));
    if x.is_finite() && !result.is_finite() {
        return Err("the function has no finite value there");
    }
    if !x.is_nan() && result.is_nan() {
        return Err("the function is not defined there");
    }
    Ok(result)
}

fn cast(arg: ScalarValue, dtype: DType) -> Result<ScalarValue, Reason> {
    let arg = match (arg, dtype.is_int()) {
        (ScalarValue::Float(_) | ScalarValue::Single(_), true) => {
            ScalarValue::Int(numbers::to_int(as_float(arg).trunc())?)
        }
        _ => arg,
    };
    stored(arg, dtype).map(ScalarValue::read)
}
