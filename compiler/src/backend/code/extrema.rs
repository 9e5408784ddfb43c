//! Extrema of extrema: one question for all of them, whether any operand is NaN.
//!
//! An extremum is NaN where either operand is, which takes a comparison and a choice beside its own. Of several within
//! each other the outermost is NaN where any operand of any of them is, and which NaN is nobody's choice.

use super::hoist::Names;
use super::nodes::{Assign, Item, Read, Target};
use crate::diag::Origin;
use crate::expr::{Expr, ExprKind};
use crate::types::{BinaryOp, DType, Function, Value};

/// Asks once for what several extrema within each other would ask.
///
/// - **Precondition**: the items are those of a loop in vector lanes; locals are not declared yet.
/// - **Effect**: operands that take computing are new locals.
/// - **Legality**: without NaN, `min` and `min_c` are the same, and so are `max` and `max_c`.
/// - **Why**: limiters are made of them, and lanes have an instruction for an extremum that does not look at NaN.
pub(super) fn ask_for_nan_once(body: &mut Vec<Item>, names: &mut Names<'_, '_>) {
    for mut item in std::mem::take(body) {
        if let Item::Assign(Assign { value, origin, .. }) = &mut item {
            let origin = origin.clone();
            trees(value, &origin, body, names);
        }
        body.push(item);
    }
}

/// Every tree of extrema in an expression; what its operands are computed by goes to `before`.
fn trees(expr: &mut Expr<Read>, origin: &Origin, before: &mut Vec<Item>, names: &mut Names<'_, '_>) {
    if n_extrema(expr) < 2 {
        expr.operands_mut().into_iter().for_each(|it| trees(it, origin, before, names));
        return;
    }
    let mut plain = expr.clone();
    let mut operands = Vec::new();
    leaves(&mut plain, &mut operands, origin, before, names);
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
    let ExprKind::Call(Function::Min | Function::Max, arguments) = &expr.kind else { return 0 };
    let is_nan = |it: &Expr<Read>| matches!(it.kind, ExprKind::Literal(value) if value.as_f64().is_nan());
    if !expr.dtype.is_float() || arguments.iter().any(is_nan) {
        return 0;
    }
    1 + arguments.iter().map(n_extrema).sum::<usize>()
}

/// Makes extrema that do not look at NaN of those at the top of an expression, and names of what they are taken of.
fn leaves(
    expr: &mut Expr<Read>,
    found: &mut Vec<Expr<Read>>,
    origin: &Origin,
    before: &mut Vec<Item>,
    names: &mut Names<'_, '_>,
) {
    if n_extrema(expr) > 0
        && let ExprKind::Call(function, arguments) = &mut expr.kind
    {
        *function = if *function == Function::Min { Function::MinC } else { Function::MaxC };
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

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::super::samples::check;

    #[test]
    fn extrema_of_extrema_ask_once_whether_anything_is_nan() {
        check(
            "  for k in [0, K) parallel:
    simd i in [0, I) parallel:
      t[i, j, k] = max(min(a[i, j, k], a[i + 1, j, k]), 2.0 * max(a[i, j, k], s))
      b[i, j, k] = max(min(a[i, j, k], 2.0 * s), min(1.0, a[i, j, k])) - min(a[i, j, k], s)
",
            &expect![[r#"
                  for (int64_t k = 0; k < K; ++k) {
                    for (int64_t i_row = 0; i_row < I; i_row += 512) {
                      const int64_t i_end = I - i_row < 512 ? I : i_row + 512;
                      double b_row[512];
                      #pragma omp simd
                      for (int64_t i = i_row; i < i_end; ++i) {
                        const double operand = 2.0 * isobar_max_f64(a[i * a_i + j * a_j + k * a_k], s);
                        const double extremum
                            = isobar_max_c_f64(isobar_min_c_f64(a[i * a_i + j * a_j + k * a_k],
                            a[(i + 1) * a_i + j * a_j + k * a_k]), operand);
                        t[i + j * t_j + k * t_k]
                            = a[i * a_i + j * a_j + k * a_k] != a[i * a_i + j * a_j + k * a_k]
                            || a[(i + 1) * a_i + j * a_j + k * a_k] != a[(i + 1) * a_i + j * a_j + k * a_k]
                            || operand != operand ? (double)NAN : extremum;
                        const double operand_1 = 2.0 * s;
                        const double extremum_1
                            = isobar_max_c_f64(isobar_min_c_f64(a[i * a_i + j * a_j + k * a_k], operand_1),
                            isobar_min_c_f64(1.0, a[i * a_i + j * a_j + k * a_k]));
                        b_to[(i - i_row) * b_step]
                            = (a[i * a_i + j * a_j + k * a_k] != a[i * a_i + j * a_j + k * a_k] || operand_1 != operand_1
                            ? (double)NAN : extremum_1) - isobar_min_f64(a[i * a_i + j * a_j + k * a_k], s);
                      }
                    }
                  }
            "#]],
        );
    }
}
