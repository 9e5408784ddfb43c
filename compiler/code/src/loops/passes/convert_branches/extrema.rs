//! Nested extrema: one test for all of them, whether any operand is NaN.
//!
//! An extremum is NaN where either operand is, which takes a comparison and a choice beside its own. The
//! outermost of several nested extrema is NaN where any operand of any of them is. Which of several NaNs it
//! is may differ. An operand needs no test if another one is computed from it, since arithmetic hands NaN on.

use super::super::super::nodes::{Assign, Item, Read, Target};
use super::super::super::visit::any;
use super::super::Names;
use crate::diag::Origin;
use crate::expr::{Expr, ExprKind};
use crate::types::{BinaryOp, BinaryPrimitive, DType, Function, Primitive, UnaryOp, UnaryPrimitive, Value};

/// Tests for NaN once, where several nested extrema would each test.
///
/// - **Precondition**: the items are those of a loop in vector lanes; locals are not declared yet.
/// - **Effect**: operands that take computing are new locals.
/// - **Legality**: without NaN, `min` and `min_c` are the same, and so are `max` and `max_c`.
/// - **Why**: limiters consist of extrema, and lanes have an instruction for an extremum that does not test
///   for NaN.
pub(super) fn ask_for_nan_once(body: &mut Vec<Item>, names: &mut Names<'_>) {
    for mut item in std::mem::take(body) {
        if let Item::Assign(Assign { value, origin, .. }) = &mut item {
            let origin = origin.clone();
            trees(value, &origin, body, names);
        }
        body.push(item);
    }
}

/// Changes every tree of extrema in an expression; the statements that compute its operands go to `before`.
fn trees(expr: &mut Expr<Read>, origin: &Origin, before: &mut Vec<Item>, names: &mut Names<'_>) {
    if n_extrema(expr) < 2 {
        expr.operands_mut().into_iter().for_each(|it| trees(it, origin, before, names));
        return;
    }
    let mut plain = expr.clone();
    let mut operands = Vec::new();
    leaves(&mut plain, &mut operands, origin, before, names);
    let operands = without_inputs(operands, before);
    let is_nan = |it: Expr<Read>| {
        let span = it.span;
        let kind = ExprKind::Binary(BinaryOp::Ne, Box::new(it.clone()), Box::new(it));
        Expr { kind, dtype: DType::Bool, span }
    };
    let either = |one: Expr<Read>, other: Expr<Read>| {
        let span = one.span;
        let kind = ExprKind::Binary(BinaryOp::Or, Box::new(one), Box::new(other));
        Expr { kind, dtype: DType::Bool, span }
    };
    if let Some(condition) = operands.into_iter().map(is_nan).reduce(either) {
        let nan =
            if expr.dtype == DType::Float32 { Value::Float32(f32::NAN) } else { Value::Float64(f64::NAN) };
        let named = |kind: ExprKind<Read>| Box::new(Expr { kind, dtype: expr.dtype, span: expr.span });
        // Lanes compute it anyway; where it stands in a choice, C compilers mask it.
        let local = names.new_local("extremum", expr.dtype);
        let (then, otherwise) = (named(ExprKind::Literal(nan)), named(ExprKind::Access(Read::Local(local))));
        let (target, origin) = (Target::Local(local), origin.clone());
        before.push(Item::Assign(Assign { target, value: plain, origin }));
        expr.kind = ExprKind::Ternary { condition: Box::new(condition), then, otherwise };
    }
}

/// How many extrema of floats stand within each other, without anything between; none where a literal is NaN.
fn n_extrema(expr: &Expr<Read>) -> usize {
    let ExprKind::Call(function, arguments) = &expr.kind else { return 0 };
    if without_nan(*function).is_none() {
        return 0;
    }
    let is_nan = |it: &Expr<Read>| matches!(it.kind, ExprKind::Literal(value) if value.as_f64().is_nan());
    if !expr.dtype.is_float() || arguments.iter().any(is_nan) {
        return 0;
    }
    1 + arguments.iter().map(n_extrema).sum::<usize>()
}

/// Returns the extremum that is the same where nothing is NaN, and does not test for it. Returns none for
/// functions that are no extrema, or that do not test either.
fn without_nan(function: Function) -> Option<Function> {
    let Some(Primitive::Binary(op)) = function.primitive() else { return None };
    match op {
        BinaryPrimitive::Minimum | BinaryPrimitive::Maximum => {
            Some(Function::of_primitive(Primitive::Binary(op.of_c())))
        }
        BinaryPrimitive::Lesser
        | BinaryPrimitive::Greater
        | BinaryPrimitive::FlooredRemainder
        | BinaryPrimitive::TruncatedRemainder => None,
    }
}

/// Whether it hands NaN on, as sums and products do.
fn is_arithmetic(function: Function) -> bool {
    matches!(
        function.primitive(),
        Some(Primitive::Unary(UnaryPrimitive::Magnitude | UnaryPrimitive::SquareRoot))
    )
}

/// Replaces the extrema at the top of an expression by those that do not test for NaN, and names their
/// operands.
fn leaves(
    expr: &mut Expr<Read>,
    found: &mut Vec<Expr<Read>>,
    origin: &Origin,
    before: &mut Vec<Item>,
    names: &mut Names<'_>,
) {
    if n_extrema(expr) > 0
        && let ExprKind::Call(function, arguments) = &mut expr.kind
        && let Some(plain) = without_nan(*function)
    {
        *function = plain;
        arguments.iter_mut().for_each(|it| leaves(it, found, origin, before, names));
        return;
    }
    match expr.kind {
        ExprKind::Literal(_) => return,
        ExprKind::Access(_) => {}
        _ => {
            trees(expr, origin, before, names);
            let local = names.new_local("operand", expr.dtype);
            let kept = Expr { kind: ExprKind::Access(Read::Local(local)), ..expr.clone() };
            let value = std::mem::replace(expr, kept);
            let (target, origin) = (Target::Local(local), origin.clone());
            before.push(Item::Assign(Assign { target, value, origin }));
        }
    }
    if !found.iter().any(|it| it.is_same(expr)) {
        found.push(expr.clone());
    }
}

/// Returns the operands, without those from which another operand was computed by the statements `before`.
fn without_inputs(operands: Vec<Expr<Read>>, before: &[Item]) -> Vec<Expr<Read>> {
    let sources: Vec<Expr<Read>> = operands.iter().map(|it| source(it, before).0.clone()).collect();
    let is_input = |at: usize| {
        let is_of = |input: usize, of: usize| {
            is_always_the_same(&sources[input], before) && hands_on(&operands[of], &sources[input], before)
        };
        // Of two equal operands, the first is tested.
        (0..operands.len()).any(|of| of != at && is_of(at, of) && (of < at || !is_of(of, at)))
    };
    operands.iter().enumerate().filter(|(at, _)| !is_input(*at)).map(|(_, it)| it.clone()).collect()
}

/// Follows a local to the value that it was assigned, through any number of other locals. Returns the value
/// and the statements before it. Where the value is not known, returns the expression itself.
fn source<'a>(expr: &'a Expr<Read>, before: &'a [Item]) -> (&'a Expr<Read>, &'a [Item]) {
    let ExprKind::Access(Read::Local(local)) = expr.kind else { return (expr, before) };
    let is_own = |it: &Item| matches!(it, Item::Assign(it) if it.target == Target::Local(local));
    let last = before.iter().rposition(|it| any(std::slice::from_ref(it), &mut |it| is_own(it)));
    match last.map(|at| (&before[at], at)) {
        Some((Item::Assign(it), at)) => source(&it.value, &before[..at]),
        _ => (expr, before),
    }
}

/// Whether none of the statements writes what an expression reads.
fn is_always_the_same(expr: &Expr<Read>, statements: &[Item]) -> bool {
    let mut is_written = false;
    expr.accesses(&mut |read| {
        is_written |= any(statements, &mut |it| match (it, read) {
            (Item::Assign(Assign { target: Target::Element(it), .. }), Read::Element(read)) => {
                it.array == read.array
            }
            (Item::Assign(Assign { target: Target::Local(it), .. }), Read::Local(read)) => it == read,
            _ => false,
        });
    });
    !is_written
}

/// Whether an expression is NaN wherever `input` is.
fn hands_on(expr: &Expr<Read>, input: &Expr<Read>, before: &[Item]) -> bool {
    let (expr, before) = source(expr, before);
    if expr.is_same(input) {
        return true;
    }
    expr.dtype.is_float()
        && match &expr.kind {
            ExprKind::Unary(UnaryOp::Plus | UnaryOp::Minus, it) => hands_on(it, input, before),
            ExprKind::Binary(BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul | BinaryOp::Div, one, other) => {
                hands_on(one, input, before) || hands_on(other, input, before)
            }
            ExprKind::Call(function, of) if is_arithmetic(*function) => {
                of.iter().any(|it| hands_on(it, input, before))
            }
            _ => false,
        }
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::super::super::tests::{c, check};

    #[test]
    fn extrema_of_extrema_ask_once_whether_anything_is_nan() {
        check(
            super::super::NAME,
            c(0),
            "  for i in [0, I) parallel simd:
    u[i, j, k] = max(min(a[i, j, k], a[i + 1, j, k]), 2.0 * max(a[i, j, k], s))
    b[i, j, k] = max(min(a[i, j, k], 2.0 * s), min(1.0, a[i, j, k])) - min(a[i, j, k], s)
",
            &expect![[r#"
                field p: float64[K] shift [0] along K given unused
                local operand: float64
                local extremum: float64
                local operand_1: float64
                local extremum_1: float64
                function step_1_at(k, j) of step 1:
                  for i in [0, I) parallel simd:
                    operand = 2.0 * max(a[i, j, k], s)
                    extremum = max_c(min_c(a[i, j, k], a[i + 1, j, k]), operand)
                    u[i, j, k] = NaN if a[i, j, k] != a[i, j, k] or a[i + 1, j, k] != a[i + 1, j, k] or operand != operand else extremum
                    operand_1 = 2.0 * s
                    extremum_1 = max_c(min_c(a[i, j, k], operand_1), min_c(1.0, a[i, j, k]))
                    b[i, j, k] = (NaN if a[i, j, k] != a[i, j, k] or operand_1 != operand_1 else extremum_1) - min(a[i, j, k], s)
            "#]],
        );
    }

    #[test]
    fn what_another_operand_was_computed_from_is_not_asked_about() {
        check(
            super::super::NAME,
            c(0),
            "  for i in [0, I) parallel simd:
    x = 0.5 * (a[i, j, k] - a[i + 1, j, k])
    b[i, j, k] = max(min(a[i, j, k], a[i + 1, j, k]), min(x, a[i + 2, j, k]))
",
            &expect![[r#"
                field p: float64[K] shift [0] along K given unused
                local extremum: float64
                function step_1_at(k, j) of step 1:
                  for i in [0, I) parallel simd:
                    x = 0.5 * (a[i, j, k] - a[i + 1, j, k])
                    extremum = max_c(min_c(a[i, j, k], a[i + 1, j, k]), min_c(x, a[i + 2, j, k]))
                    b[i, j, k] = NaN if x != x or a[i + 2, j, k] != a[i + 2, j, k] else extremum
            "#]],
        );
    }
}
