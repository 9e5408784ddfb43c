//! The rules of typed expressions, for the validators of all levels from GTIR on.

use super::{Expr, ExprKind};
use crate::types::{BinaryOp, DType};

/// Tells what a leaf is called and its type, or what is wrong with it.
pub type LeafType<'a, A> = dyn Fn(&A) -> Result<(String, DType), String> + 'a;

/// Adds every violation in `expr`.
pub fn validate<A>(expr: &Expr<A>, leaf: &LeafType<'_, A>, violations: &mut Vec<String>) {
    for operand in expr.operands() {
        validate(operand, leaf, violations);
    }
    let dtype = expr.dtype;
    let mut demand = |holds: bool, what: String| {
        if !holds {
            violations.push(what);
        }
    };
    match &expr.kind {
        ExprKind::Literal(value) => {
            demand(value.dtype() == dtype, format!("the literal {value} is typed {dtype}"));
        }
        ExprKind::Access(access) => match leaf(access) {
            Ok((name, declared)) => {
                demand(declared == dtype, format!("`{name}` is {declared} and typed {dtype}"));
            }
            Err(wrong) => demand(false, wrong),
        },
        ExprKind::Position(_) => demand(dtype == DType::Int64, format!("a position is typed {dtype}")),
        ExprKind::Unary(op, operand) => {
            let result = op.result(operand.dtype);
            demand(result == Some(dtype), format!("`{}` of {} is typed {dtype}", op.symbol(), operand.dtype));
        }
        ExprKind::Binary(op, left, right) => {
            let (left, right) = (left.dtype, right.dtype);
            let has_operands = *op == BinaryOp::Pow || left == right;
            demand(has_operands, format!("`{op}` has the operands {left} and {right}"));
            let is_taken = match op {
                _ if op.is_logical() => left == DType::Bool,
                _ if op.is_comparison() => true,
                BinaryOp::Div => left.is_float(),
                _ => left != DType::Bool,
            };
            demand(is_taken, format!("`{op}` does not take {left}"));
            let gives_bool = op.is_logical() || op.is_comparison();
            let result = if gives_bool { DType::Bool } else { left };
            demand(result == dtype, format!("`{op}` of {left} is typed {dtype}"));
        }
        ExprKind::Ternary { condition, then, otherwise } => {
            demand(condition.dtype == DType::Bool, format!("a ternary's condition is {}", condition.dtype));
            let is_same = then.dtype == dtype && otherwise.dtype == dtype;
            demand(is_same, format!("a ternary of {} and {} is typed {dtype}", then.dtype, otherwise.dtype));
        }
        ExprKind::Call(function, arguments) => {
            let n = arguments.len();
            demand(n == function.arity(), format!("`{function}` has {n} arguments"));
            let Some(taken) = arguments.first().map(|it| it.dtype) else { return };
            let is_same = arguments.iter().all(|it| it.dtype == taken);
            let is_taken = taken.is_float() || (taken.is_int() && function.keeps_integers());
            demand(is_same && is_taken, format!("`{function}` does not take {taken}"));
            let result = if function.is_predicate() { DType::Bool } else { taken };
            demand(result == dtype, format!("`{function}` of {taken} is typed {dtype}"));
        }
        ExprKind::Cast(to, _) => demand(*to == dtype, format!("a cast to {to} is typed {dtype}")),
    }
}
