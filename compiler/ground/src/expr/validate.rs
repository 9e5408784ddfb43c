//! The rules of typed expressions, for the validators of all levels from GTIR on.

use super::{Expr, ExprKind, Index, Vertical};
use crate::types::{BinaryOp, DType};

/// Tells what a leaf is called and its type, or what is wrong with it, or with the index that picks an element of it.
pub type LeafType<'a, A> = dyn Fn(&A, Option<&Index<A>>) -> Result<(String, DType), String> + 'a;

/// Adds every violation in `expr`.
pub fn validate<A>(expr: &Expr<A>, leaf: &LeafType<'_, A>, violations: &mut Vec<String>) {
    for operand in expr.operands() {
        validate(operand, leaf, violations);
    }
    if let ExprKind::Element(_, index) = &expr.kind {
        violations.extend(index_violations(index));
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
        ExprKind::Access(_) | ExprKind::Element(..) => {
            let found = match &expr.kind {
                ExprKind::Element(access, index) => leaf(access, Some(index)),
                ExprKind::Access(access) => leaf(access, None),
                _ => return,
            };
            match found {
                Ok((name, declared)) => {
                    demand(declared == dtype, format!("`{name}` is {declared} and typed {dtype}"));
                }
                Err(wrong) => demand(false, wrong),
            }
        }
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

/// The violations of an index itself; its expressions are validated apart.
pub fn index_violations<A>(index: &Index<A>) -> Vec<String> {
    let mut found = Vec::new();
    for expr in index.exprs().filter(|it| !it.dtype.is_int()) {
        found.push(format!("an index is typed {}", expr.dtype));
    }
    if let Vertical::Above(Expr { kind: ExprKind::Literal(by), .. }) = &index.vertical {
        found.push(format!("the constant offset {by} counts as one of run time"));
    }
    found
}

/// The violations of what picks an element of the data dimensions of a field.
pub fn data_violations<A>(name: &str, data_dims: &[u32], data: &[Expr<A>]) -> Vec<String> {
    if data.len() != data_dims.len() {
        return vec![format!("`{name}` has {} data dimensions and {} indices", data_dims.len(), data.len())];
    }
    let mut found = Vec::new();
    for (expr, &size) in data.iter().zip(data_dims) {
        if let ExprKind::Literal(at) = expr.kind
            && !(0..i64::from(size)).contains(&at.as_i64())
        {
            found.push(format!("the index {at} of `{name}` is outside of its {size} elements"));
        }
    }
    found
}
