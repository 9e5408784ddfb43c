//! Computes at compile time what does not depend on the run.

use super::PassCx;
use crate::expr::{ExprKind, evaluate};
use crate::oir::nodes::{Expr, Stencil, Stmt, StmtKind};
use crate::oir::visit::may_end_run;
use crate::types::{BinaryOp, DType, UnaryOp, Value};

pub const NAME: &str = "oir/fold-constants";

/// Folds operations on literals, takes out operations that leave their operand what it is, and drops the branches
/// that never run.
///
/// - **Precondition**: valid OIR.
/// - **Effect**: smaller expressions, fewer statements.
/// - **Legality**: the rules in [`simpler`] hold for every bit of every operand, NaN, infinities and signed
///   zeros among them. A float's `x ** 2` stays, since code generators know it as `x * x`. An access that
///   finds its element at run time is not dropped, since it may end the run.
/// - **Why**: externals and inlined functions leave `dt * 1.0` and `if False` behind.
pub fn fold_constants(stencil: &mut Stencil, cx: &mut PassCx) {
    for (_, execution) in stencil.executions.iter_mut() {
        fold_body(&mut execution.body, cx);
    }
}

fn fold_body(body: &mut Vec<Stmt>, cx: &mut PassCx) {
    let mut folded = Vec::with_capacity(body.len());
    for mut stmt in std::mem::take(body) {
        fold_exprs(&mut stmt, cx);
        stmt.bodies_mut().for_each(|it| fold_body(it, cx));
        match taken(&stmt) {
            Some(is_true) if cx.may_change() => {
                let message = format!("the condition is always {}", if is_true { "true" } else { "false" });
                cx.applied(message, dropped(&stmt, is_true));
                if let StmtKind::If { then, otherwise, .. } = stmt.kind {
                    folded.extend(if is_true { then } else { otherwise });
                }
            }
            _ => folded.push(stmt),
        }
    }
    *body = folded;
}

/// Which branch is always taken; a loop that may be dropped is one whose body never is.
fn taken(stmt: &Stmt) -> Option<bool> {
    let literal = |condition: &Expr| match condition.kind {
        ExprKind::Literal(Value::Bool(it)) => Some(it),
        _ => None,
    };
    match &stmt.kind {
        StmtKind::If { condition, .. } => literal(condition),
        // One that is always true never ends, and that is its meaning.
        StmtKind::While { condition, .. } => literal(condition).filter(|it| !it),
        StmtKind::Assign { .. } | StmtKind::Region { .. } => None,
    }
}

/// The statement and what never runs inside it.
fn dropped(stmt: &Stmt, is_true: bool) -> Vec<&crate::diag::Origin> {
    let body = match &stmt.kind {
        StmtKind::If { otherwise, .. } if is_true => otherwise,
        StmtKind::If { then: body, .. } | StmtKind::While { body, .. } => body,
        StmtKind::Assign { .. } | StmtKind::Region { .. } => return Vec::new(),
    };
    let mut origins = vec![&stmt.origin];
    body.iter().for_each(|it| it.walk(&mut |it| origins.push(&it.origin)));
    origins
}

fn fold_exprs(stmt: &mut Stmt, cx: &mut PassCx) {
    // The last is the value or the condition; the others find the element to write.
    if !stmt.exprs().last().is_some_and(has_simpler) || !cx.may_change() {
        return;
    }
    if let Some(expr) = stmt.exprs_mut().last() {
        fold(expr);
    }
    cx.applied("part of it is computed at compile time", [&stmt.origin]);
}

fn has_simpler(expr: &Expr) -> bool {
    !is_element(expr) && (simpler(expr).is_some() || expr.operands().any(has_simpler))
}

/// An access that finds its element at run time stays as it is. An offset of run time may lead out of a
/// field, and a literal may not.
fn is_element(expr: &Expr) -> bool {
    matches!(expr.kind, ExprKind::Element(..))
}

/// From inside out, so that what became a literal is folded on.
fn fold(expr: &mut Expr) {
    if is_element(expr) {
        return;
    }
    expr.operands_mut().into_iter().for_each(fold);
    while let Some(kind) = simpler(expr) {
        // Where it is written stays what it was.
        let dtype = expr.dtype;
        *expr = Expr { kind, dtype, span: expr.span };
    }
}

/// A simpler form of the outermost operation, with the same bits.
fn simpler(expr: &Expr) -> Option<ExprKind<crate::oir::nodes::Access>> {
    let kept = |it: &Expr| Some(it.kind.clone());
    let literal = |value: Value| is_spelled(value).then_some(ExprKind::Literal(value));
    match &expr.kind {
        ExprKind::Literal(_) | ExprKind::Access(_) | ExprKind::Element(..) | ExprKind::Position(_) => None,
        ExprKind::Unary(op, operand) => match (op, &operand.kind) {
            (_, ExprKind::Literal(it)) => literal(evaluate::unary(*op, *it)),
            (UnaryOp::Plus, _) => kept(operand),
            (UnaryOp::Minus | UnaryOp::Not, ExprKind::Unary(inner, it)) if inner == op => kept(it),
            _ => None,
        },
        ExprKind::Binary(op, left, right) => match (value_of(left), value_of(right)) {
            (Some(left), Some(right)) => literal(evaluate::binary(*op, left, right)),
            (None, Some(value)) => with_right(*op, left, value, right),
            (Some(value), None) => with_left(*op, value, right),
            (None, None) => None,
        },
        ExprKind::Ternary { condition, then, otherwise } => match value_of(condition) {
            Some(Value::Bool(true)) if !may_end_run(otherwise) => kept(then),
            Some(Value::Bool(false)) if !may_end_run(then) => kept(otherwise),
            None if then.is_same(otherwise) && !may_end_run(condition) => kept(then),
            _ => None,
        },
        ExprKind::Call(function, arguments) => {
            let values: Vec<Value> = arguments.iter().map(value_of).collect::<Option<_>>()?;
            literal(evaluate::call(*function, *values.first()?, values.get(1).copied()))
        }
        ExprKind::Cast(to, operand) => match &operand.kind {
            _ if operand.dtype == *to => kept(operand),
            ExprKind::Literal(it) => literal(it.cast(*to)),
            ExprKind::Cast(between, it) if it.dtype == *to && holds(*between, it.dtype) => kept(it),
            _ => None,
        },
    }
}

/// `operand op value`.
fn with_right(
    op: BinaryOp,
    operand: &Expr,
    value: Value,
    literal: &Expr,
) -> Option<ExprKind<crate::oir::nodes::Access>> {
    let is_float = operand.dtype.is_float();
    let kept = || Some(operand.kind.clone());
    let instead = |value: Value| (!may_end_run(operand)).then_some(ExprKind::Literal(value));
    match op {
        BinaryOp::Mul if is(value, 1.0) => kept(),
        BinaryOp::Div if is_float && is(value, 1.0) => kept(),
        // The inverse of a power of two is exact, so both round the same number.
        BinaryOp::Div if is_float => {
            let inverse = inverse(value)?;
            let inverse = Expr { kind: ExprKind::Literal(inverse), ..literal.clone() };
            Some(ExprKind::Binary(BinaryOp::Mul, Box::new(operand.clone()), Box::new(inverse)))
        }
        // -0 is the zero that changes nothing: -0 + 0 is 0.
        BinaryOp::Add if is_zero(value) && (!is_float || value.has_sign()) => kept(),
        BinaryOp::Sub if is_zero(value) && (!is_float || !value.has_sign()) => kept(),
        BinaryOp::Mul if !is_float && is_zero(value) => instead(value),
        BinaryOp::Pow if !is_float && operand.dtype != DType::Bool && value.dtype().is_int() => {
            match value.as_i64() {
                0 => instead(Value::Int64(1).cast(operand.dtype)),
                1 => kept(),
                _ => None,
            }
        }
        BinaryOp::And if value == Value::Bool(true) => kept(),
        BinaryOp::Or if value == Value::Bool(false) => kept(),
        BinaryOp::And | BinaryOp::Or => instead(value),
        _ => None,
    }
}

/// `value op operand`.
fn with_left(op: BinaryOp, value: Value, operand: &Expr) -> Option<ExprKind<crate::oir::nodes::Access>> {
    let is_float = operand.dtype.is_float();
    let kept = || Some(operand.kind.clone());
    let instead = |value: Value| (!may_end_run(operand)).then_some(ExprKind::Literal(value));
    match op {
        BinaryOp::Mul if is(value, 1.0) => kept(),
        BinaryOp::Add if is_zero(value) && (!is_float || value.has_sign()) => kept(),
        BinaryOp::Mul if !is_float && is_zero(value) => instead(value),
        BinaryOp::And if value == Value::Bool(true) => kept(),
        BinaryOp::Or if value == Value::Bool(false) => kept(),
        BinaryOp::And | BinaryOp::Or => instead(value),
        _ => None,
    }
}

fn value_of(expr: &Expr) -> Option<Value> {
    match expr.kind {
        ExprKind::Literal(it) => Some(it),
        _ => None,
    }
}

/// Results that no literal of the language spells stay operations, so that readers see how they came about.
fn is_spelled(value: Value) -> bool {
    value.as_f64().is_finite()
}

#[expect(clippy::float_cmp, reason = "asks for an exact value")]
fn is(value: Value, number: f64) -> bool {
    value.dtype() != DType::Bool && value.as_f64() == number
}

fn is_zero(value: Value) -> bool {
    is(value, 0.0)
}

/// One divided by a power of two, where both have all their bits.
fn inverse(value: Value) -> Option<Value> {
    let is_power_of_two = match value {
        Value::Float32(it) => it.is_normal() && it.to_bits() & 0x007f_ffff == 0,
        Value::Float64(it) => it.is_normal() && it.to_bits() & 0x000f_ffff_ffff_ffff == 0,
        _ => false,
    };
    let inverse = match value {
        Value::Float32(it) => Value::Float32(1.0 / it),
        Value::Float64(it) => Value::Float64(1.0 / it),
        _ => return None,
    };
    let is_normal = match inverse {
        Value::Float32(it) => it.is_normal(),
        Value::Float64(it) => it.is_normal(),
        _ => false,
    };
    (is_power_of_two && is_normal).then_some(inverse)
}

/// Whether every value of `inner` is one of `outer`, so that there and back again changes nothing.
fn holds(outer: DType, inner: DType) -> bool {
    use DType::{Bool, Float32, Float64, Int8, Int16, Int32, Int64};
    match inner {
        Bool => true,
        Int8 => outer != Bool,
        Int16 => matches!(outer, Int32 | Int64 | Float32 | Float64),
        Int32 => matches!(outer, Int64 | Float64),
        Float32 => outer == Float64,
        Int64 | Float64 => false,
    }
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;
    use crate::oir::passes::tests::after;

    /// Folds the value of `b = ...`.
    fn folded(value: &str) -> String {
        let text = format!(
            "
stencil one
field a: float64[IJK]
field b: float64[IJK]
field n: int32[IJK]
field c: bool[IJK]
scalar x: float64
parallel
  [start, end)
    x0
      b = {value}
"
        );
        let found = after(&text, fold_constants);
        let line = found.lines().find_map(|it| it.trim().strip_prefix("b = ")).expect("it assigns `b`");
        line.to_owned()
    }

    #[test]
    fn operations_on_literals_are_done() {
        for (before, expected) in [
            ("a * (2.0 + 3.0)", "a * 5.0"),
            ("-(1.0) * a", "-1.0 * a"),
            ("sqrt(4.0) + a", "2.0 + a"),
            ("max(1.0, 2.0) + a", "2.0 + a"),
            ("a if 1.0 < 2.0 else x", "a"),
            ("a if 1.0 > 2.0 or false else x", "x"),
            ("2.0 ** 3 * a", "8.0 * a"),
        ] {
            assert_eq!(folded(before), expected, "{before}");
        }
    }

    #[test]
    fn what_leaves_an_operand_as_it_is_goes() {
        for (before, expected) in [
            ("a * 1.0", "a"),
            ("1.0 * a / 1.0", "a"),
            ("a - 0.0", "a"),
            ("a + -0.0", "a"),
            ("+a", "a"),
            ("-(-a)", "a"),
            ("a / 4.0", "a * 0.25"),
            ("a if a > x else a", "a"),
        ] {
            assert_eq!(folded(before), expected, "{before}");
        }
    }

    #[test]
    fn what_changes_a_bit_of_some_operand_stays() {
        // -0 + 0, NaN * 0, 0 / 0, a power that is rounded otherwise, thirds, and what is no number.
        for text in [
            "a + 0.0",
            "0.0 + a",
            "a * 0.0",
            "0.0 * a",
            "a / a",
            "a ** 2",
            "a / 3.0",
            "a - a",
            "1.0 / 0.0",
            "a - -0.0",
        ] {
            assert_eq!(folded(text), text);
        }
    }

    #[test]
    fn every_rule_gives_the_same_bits() {
        let operands = [
            0.0,
            -0.0,
            1.0,
            -1.5,
            f64::MIN_POSITIVE,
            5e-324,
            f64::MAX,
            f64::INFINITY,
            f64::NEG_INFINITY,
            f64::NAN,
        ];
        let read = Expr {
            kind: ExprKind::Position(crate::space::Axis::K),
            dtype: DType::Float64,
            span: crate::diag::Span::default(),
        };
        let literals = [0.0, -0.0, 1.0, -1.0, 2.0, 0.125, -4.0, 3.0];
        let mut n_rules = 0;
        for op in [BinaryOp::Add, BinaryOp::Sub, BinaryOp::Mul, BinaryOp::Div] {
            for literal in literals {
                let of = Expr { kind: ExprKind::Literal(Value::Float64(literal)), ..read.clone() };
                for (left, right) in [(&read, &of), (&of, &read)] {
                    let expr = Expr {
                        kind: ExprKind::Binary(op, Box::new(left.clone()), Box::new(right.clone())),
                        ..read.clone()
                    };
                    let Some(kind) = simpler(&expr) else { continue };
                    n_rules += 1;
                    let simple = Expr { kind, ..read.clone() };
                    for operand in operands {
                        let (one, other) = (computed(&expr, operand), computed(&simple, operand));
                        assert!(
                            one == other || one.as_f64().is_nan() && other.as_f64().is_nan(),
                            "{literal} {op} {operand}"
                        );
                    }
                }
            }
        }
        assert!(n_rules > 8, "{n_rules}");
    }

    /// The value where `operand` is read.
    fn computed(expr: &Expr, operand: f64) -> Value {
        match &expr.kind {
            ExprKind::Literal(it) => *it,
            ExprKind::Binary(op, left, right) => {
                evaluate::binary(*op, computed(left, operand), computed(right, operand))
            }
            _ => Value::Float64(operand),
        }
    }

    #[test]
    fn branches_that_never_run_are_dropped() {
        expect![[r#"
            stencil dead
            field a: float64[IJK]
            field b: float64[IJK]

            parallel
              [start, end)
                x0
                  b = 2.0
                  if a > 0.0
                    b = 3.0
                  while true
                    b = 4.0
            applied: part of it is computed at compile time
            applied: the condition is always false
            applied: the condition is always false
        "#]]
        .assert_eq(&after(
            "
stencil dead
field a: float64[IJK]
field b: float64[IJK]
parallel
  [start, end)
    x0
      if 1.0 > 2.0
        b = 1.0
      else
        b = 2.0
      if a > 0.0
        b = 3.0
        while false
          b = 5.0
      while true
        b = 4.0
",
            fold_constants,
        ));
    }

    #[test]
    fn what_finds_an_element_at_run_time_stays() {
        let text = "
stencil found
field a: float64[IJK]
field n: int64[IJK]

parallel
  [start, end)
    x0
      a = 1.0 if true else a.up(n)
      a = a.up(1 + 2)
";
        assert_eq!(after(text, fold_constants).trim(), text.trim());
    }
}
