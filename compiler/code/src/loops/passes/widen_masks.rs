//! Stores the truth values of a thread's rows as integers of the size of the floats beside them.
//!
//! A C compiler chooses one number of lanes for a loop: as many as a vector has of the narrowest element. Where a loop
//! over doubles reads a row of bytes, an iteration of the vector loop is 64 points, in eight vectors for each double. The
//! last points of a row run one by one, up to 63 of them.
//!
//! ```text
//! temporary m: bool[I] along I in j        temporary m: int64[I] along I in j
//!
//! for i in [0, I) parallel simd:           for i in [0, I) parallel simd:
//!   m[i] = a[i, j, k] > 0.0                  m[i] = int64(a[i, j, k] > 0.0)
//! for i in [0, I) parallel simd:           for i in [0, I) parallel simd:
//!   b[i, j, k] = 1.0 if m[i] else 2.0        b[i, j, k] = 1.0 if m[i] != 0 else 2.0
//! ```

use super::super::nodes::{Array, ArrayKind, Assign, For, Item, Program, Read, Target};
use super::super::visit::walk;
use super::PassCx;
use crate::entity::Handle;
use crate::expr::{Expr, ExprKind};
use crate::types::{BinaryOp, DType, Value};

/// As options and remarks call it.
pub const NAME: &str = "loops/widen-masks";

/// Gives rows of truth values the size of the floats that are computed beside them.
///
/// - **Precondition**: locals are not declared yet.
/// - **Effect**: [`Array::dtype`]; stores convert, and reads compare with zero.
/// - **Legality**: [`width_of`]. No bit of a field changes: 0 and 1 mean what `False` and `True` do.
/// - **Why**: the target's [`has_mixed_lanes`](crate::target::Target::has_mixed_lanes). Rows of a thread lie in the first
///   cache, so their size costs nothing.
pub fn widen_masks(program: &mut Program, cx: &mut PassCx) {
    if cx.options.has_mixed_lanes.value {
        return;
    }
    for array in program.arrays.handles() {
        let Some(width) = width_of(program, array) else { continue };
        if !cx.may_change() {
            continue;
        }
        program.arrays[array].dtype = width;
        for function in program.functions.values_mut() {
            widen(&mut function.body, array, width);
        }
        cx.applied(
            format!(
                "truth values of `{}` are stored as {width}: {}",
                program.arrays[array].stencil_name, cx.options.has_mixed_lanes.reason
            ),
            [],
        );
    }
}

/// Returns the integer type that replaces truth values of an array. Each thread must have the array. All
/// floats in the loops in lanes that touch it must have one size.
fn width_of(program: &Program, array: Handle<Array>) -> Option<DType> {
    let Array { dtype: DType::Bool, kind: ArrayKind::Temporary, is_per_thread: true, .. } =
        &program.arrays[array]
    else {
        return None;
    };
    let mut floats: Vec<DType> = Vec::new();
    for function in program.functions.values() {
        walk(&function.body, &mut |item| {
            if let Item::For(it) = item
                && it.is_simd
                && touches(it, array)
            {
                walk(&it.body, &mut |item| {
                    item.each_element(&mut |it| floats.push(program.arrays[it.array].dtype));
                });
            }
        });
    }
    floats.retain(|it| it.is_float());
    let first = *floats.first()?;
    match first {
        _ if floats.iter().any(|it| *it != first) => None,
        DType::Float32 => Some(DType::Int32),
        _ => Some(DType::Int64),
    }
}

fn touches(it: &For, array: Handle<Array>) -> bool {
    let mut is_found = false;
    walk(&it.body, &mut |item| item.each_element(&mut |it| is_found |= it.array == array));
    is_found
}

/// Converts values that are stored in the array, and compares values that are read from it with zero.
fn widen(items: &mut [Item], array: Handle<Array>, width: DType) {
    for item in items {
        item.exprs_mut().into_iter().for_each(|it| compare(it, array, width));
        if let Item::Assign(Assign { target: Target::Element(element), value, .. }) = item
            && element.array == array
        {
            let span = value.span;
            let literal = Expr { kind: ExprKind::Literal(Value::Bool(false)), dtype: DType::Bool, span };
            let stored = Box::new(std::mem::replace(value, literal));
            *value = Expr { kind: ExprKind::Cast(width, stored), dtype: width, span };
        }
        item.blocks_mut().into_iter().for_each(|it| widen(it, array, width));
    }
}

fn compare(expr: &mut Expr<Read>, array: Handle<Array>, width: DType) {
    if matches!(&expr.kind, ExprKind::Access(Read::Element(it)) if it.array == array) {
        let zero = if width == DType::Int32 { Value::Int32(0) } else { Value::Int64(0) };
        let zero = Expr { kind: ExprKind::Literal(zero), dtype: width, span: expr.span };
        let read = Expr { dtype: width, ..expr.clone() };
        expr.kind = ExprKind::Binary(BinaryOp::Ne, Box::new(read), Box::new(zero));
        return;
    }
    expr.operands_mut().into_iter().for_each(|it| compare(it, array, width));
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::super::tests::{after, c, check};
    use crate::target::Target;

    const MASKS: &str = "  for i in [0, I) parallel simd:
    m[i] = a[i, j, k] > 0.0
  for i in [0, I) parallel simd:
    b[i, j, k] = a[i, j, k] if m[i] else 2.0
";

    #[test]
    fn a_row_of_truth_values_is_as_wide_as_the_floats_beside_it() {
        check(
            super::NAME,
            c(0),
            MASKS,
            &expect![[r#"
            temporary m: int64[I] shift [0] along I packed private per thread
            function step_1_at(k, j) of step 1:
              for i in [0, I) parallel simd:
                m[i] = int64(a[i, j, k] > 0.0)
              for i in [0, I) parallel simd:
                b[i, j, k] = a[i, j, k] if m[i] != 0 else 2.0
            # truth values of `m` are stored as int64: a C compiler makes as many lanes as the narrowest element has in a vector, which most rows do not fill
        "#]],
        );
    }

    #[test]
    fn it_is_half_as_wide_beside_floats_of_half_the_size() {
        check(
            super::NAME,
            c(0),
            "  for i in [0, I) parallel simd:
    m[i] = v[i] > float32(0.0)
  for i in [0, I) parallel simd:
    v[i] = float32(1.0) if m[i] else float32(2.0)
",
            &expect![[r#"
                temporary m: int32[I] shift [0] along I packed private per thread
                function step_1_at(k, j) of step 1:
                  for i in [0, I) parallel simd:
                    m[i] = int32(v[i] > float32(0.0))
                  for i in [0, I) parallel simd:
                    v[i] = float32(1.0) if m[i] != int32(0) else float32(2.0)
                # truth values of `m` are stored as int32: a C compiler makes as many lanes as the narrowest element has in a vector, which most rows do not fill
            "#]],
        );
    }

    #[test]
    fn it_stays_a_row_of_bytes_where_lanes_may_be_of_several_sizes() {
        let of_machine_code = after(&[super::NAME], Target::native(512, None), MASKS);
        assert!(!of_machine_code.contains("temporary m: "), "{of_machine_code}");
    }

    #[test]
    fn it_stays_a_row_of_bytes_beside_floats_of_two_sizes() {
        let mixed = "  for i in [0, I) parallel simd:\n    m[i] = a[i, j, k] > float64(v[i])\n";
        let text = after(&[super::NAME], c(0), mixed);
        assert!(!text.contains("temporary m: "), "{text}");
    }
}
