//! Expressions as the Python that a `.sdfg` file holds, for tasklets and conditions.

use crate::expr::{Expr, ExprKind};
use crate::space::Size;
use crate::types::{BinaryOp, BinaryPrimitive, DType, Primitive, UnaryOp, Value};

const FLOORED_REMAINDER: Primitive = Primitive::Binary(BinaryPrimitive::FlooredRemainder);
const TRUNCATED_REMAINDER: Primitive = Primitive::Binary(BinaryPrimitive::TruncatedRemainder);

/// The expression, with parentheses around every compound operand: nobody reads it, and
/// no reader of the format gets a precedence wrong.
pub(super) fn text<A>(expr: &Expr<A>, leaf: &dyn Fn(&A) -> String) -> String {
    let operand = |it: &Expr<A>| {
        let text = text(it, leaf);
        let is_atom = matches!(it.kind, ExprKind::Access(_) | ExprKind::Call(..) | ExprKind::Cast(..));
        if is_atom { text } else { format!("({text})") }
    };
    match &expr.kind {
        ExprKind::Literal(value) => literal(*value),
        ExprKind::Access(it) | ExprKind::Element(it, _) => leaf(it),
        ExprKind::Position(axis) => axis.position_name().to_owned(),
        ExprKind::Unary(op, it) => {
            let symbol = match op {
                UnaryOp::Plus => "+",
                UnaryOp::Minus => "-",
                UnaryOp::Not => "not ",
            };
            format!("{symbol}{}", operand(it))
        }
        // Python's `%` has the sign of the divisor, but it becomes C++'s, which has not.
        ExprKind::Binary(BinaryOp::Mod, left, right) => floored_modulo(&operand(left), &operand(right)),
        ExprKind::Binary(op, left, right) => format!("{} {op} {}", operand(left), operand(right)),
        ExprKind::Ternary { condition, then, otherwise } => {
            format!("{} if {} else {}", operand(then), operand(condition), operand(otherwise))
        }
        ExprKind::Call(function, arguments) => match (function.primitive(), arguments.as_slice()) {
            (Some(FLOORED_REMAINDER), [left, right]) => floored_modulo(&operand(left), &operand(right)),
            // Python's `%` becomes C++'s, which is what is asked for.
            (Some(TRUNCATED_REMAINDER), [left, right]) if expr.dtype.is_int() => {
                format!("{} % {}", operand(left), operand(right))
            }
            _ => {
                let arguments: Vec<String> = arguments.iter().map(|it| text(it, leaf)).collect();
                // DaCe's own `min` and `max` follow C++'s rule already.
                let name = function.row().in_dace.unwrap_or(function.name());
                format!("{name}({})", arguments.join(", "))
            }
        },
        ExprKind::Cast(to, it) => format!("{}({})", dtype(*to), text(it, leaf)),
    }
}

fn floored_modulo(left: &str, right: &str) -> String {
    format!("{left} - {right} * floor({left} / {right})")
}

fn literal(value: Value) -> String {
    match value {
        Value::Bool(it) => if it { "True" } else { "False" }.to_owned(),
        Value::Float64(it) if it.is_finite() => format!("{it:?}"),
        Value::Float32(it) if it.is_finite() => format!("dace.float32({it:?})"),
        Value::Int64(it) => it.to_string(),
        Value::Float32(_) | Value::Float64(_) => {
            let it = value.as_f64();
            let magnitude = if it.is_nan() { "math.nan" } else { "math.inf" };
            let sign = if it < 0.0 { "-" } else { "" };
            format!("{}({sign}{magnitude})", dtype(value.dtype()))
        }
        Value::Int8(_) | Value::Int16(_) | Value::Int32(_) => {
            format!("{}({})", dtype(value.dtype()), value.as_i64())
        }
    }
}

fn dtype(dtype: DType) -> String {
    if dtype == DType::Bool { "dace.bool_".to_owned() } else { format!("dace.{dtype}") }
}

/// A bound in a statement, where functions are Python's.
pub(super) fn bound(size: &Size) -> String {
    let (name, parts) = match size {
        Size::Affine(sum) => return sum.to_string(),
        Size::Min(parts) => ("min", parts),
        Size::Max(parts) => ("max", parts),
    };
    let folded = parts.iter().map(bound).reduce(|all, next| format!("{name}({all}, {next})"));
    folded.unwrap_or_default()
}

/// A size in a symbolic expression.
pub(super) fn symbolic(size: &Size) -> String {
    let (name, parts) = match size {
        Size::Affine(sum) => return sum.to_string(),
        Size::Min(parts) => ("Min", parts),
        Size::Max(parts) => ("Max", parts),
    };
    let parts: Vec<String> = parts.iter().map(symbolic).collect();
    format!("{name}({})", parts.join(", "))
}
