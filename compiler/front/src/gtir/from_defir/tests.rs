//! Types and rules, from GTIR text whose types are forgotten first.

use expect_test::{Expect, expect};

use super::*;
use crate::expr::{self, Vertical};
use crate::gtir::{nodes as gtir, parse::parse, print::listing, validate::validate};

/// The Definition IR of a stencil: temporaries lose their type, but for those called `typed_...`.
fn definition(text: &str) -> def::Stencil {
    let typed = parse(text).expect("the text is GTIR");
    let mut stencil = def::Stencil { name: typed.name.clone(), span: typed.span, ..Default::default() };
    for (_, field) in typed.fields.iter() {
        let is_typed = !field.is_temporary || field.name.starts_with("typed_");
        stencil.fields.push(def::Field {
            name: field.name.clone(),
            axes: field.axes,
            data_dims: field.data_dims.clone(),
            dtype: is_typed.then_some(field.dtype),
            is_temporary: field.is_temporary,
            span: field.span,
        });
    }
    for (_, scalar) in typed.scalars.iter() {
        let gtir::Scalar { name, dtype, span } = scalar.clone();
        stencil.scalars.push(def::Scalar { name, dtype, span });
    }
    for param in &typed.params {
        stencil.params.push(def::Param {
            what: match param.what {
                gtir::ParamKind::Field(field) => def::ParamKind::Field(same(field)),
                gtir::ParamKind::Scalar(scalar) => def::ParamKind::Scalar(same(scalar)),
            },
            is_keyword_only: param.is_keyword_only,
            default: match param.default {
                Some(value) => def::ParamDefault::Value(value),
                None if param.is_optional => def::ParamDefault::None,
                None => def::ParamDefault::Required,
            },
        });
    }
    for vertical_loop in &typed.vertical_loops {
        let gtir::VerticalLoop { order, interval, span, body } = vertical_loop.clone();
        let (from, to, body) = (None, None, forget_all(&body));
        stencil.computations.push(def::Computation { order, interval, from, to, span, body });
    }
    stencil
}

fn forget_all(body: &[gtir::Stmt]) -> Vec<def::Stmt> {
    body.iter().map(forget).collect()
}

fn forget(stmt: &gtir::Stmt) -> def::Stmt {
    let kind = match &stmt.kind {
        gtir::StmtKind::Assign { target, index, target_span, value } => {
            let (target, target_span) = (same(*target), *target_span);
            def::StmtKind::Assign { target, index: untyped_index(index), target_span, value: untyped(value) }
        }
        gtir::StmtKind::If { condition, then, otherwise } => def::StmtKind::If {
            condition: untyped(condition),
            then: forget_all(then),
            otherwise: forget_all(otherwise),
        },
        gtir::StmtKind::While { condition, body } => {
            def::StmtKind::While { condition: untyped(condition), body: forget_all(body) }
        }
        gtir::StmtKind::Region { region, body } => {
            def::StmtKind::Region { region: *region, body: forget_all(body) }
        }
    };
    def::Stmt { kind, origin: stmt.origin.clone() }
}

fn untyped(typed: &gtir::Expr) -> def::Expr {
    let boxed = |it: &gtir::Expr| Box::new(untyped(it));
    let kind = match &typed.kind {
        ExprKind::Literal(value) => ExprKind::Literal(*value),
        ExprKind::Access(leaf) => ExprKind::Access(untyped_leaf(*leaf)),
        ExprKind::Element(leaf, index) => {
            ExprKind::Element(untyped_leaf(*leaf), Box::new(untyped_index(index)))
        }
        ExprKind::Position(axis) => ExprKind::Position(*axis),
        ExprKind::Unary(op, operand) => ExprKind::Unary(*op, boxed(operand)),
        ExprKind::Binary(op, left, right) => ExprKind::Binary(*op, boxed(left), boxed(right)),
        ExprKind::Ternary { condition, then, otherwise } => {
            ExprKind::Ternary { condition: boxed(condition), then: boxed(then), otherwise: boxed(otherwise) }
        }
        ExprKind::Call(function, arguments) => {
            ExprKind::Call(*function, arguments.iter().map(untyped).collect())
        }
        ExprKind::Cast(to, operand) => ExprKind::Cast(*to, boxed(operand)),
    };
    expr::Expr { kind, dtype: (), span: typed.span }
}

fn untyped_leaf(leaf: gtir::Access) -> def::Access {
    match leaf {
        gtir::Access::Field { field, offset } => def::Access::Field { field: same(field), offset },
        gtir::Access::Scalar(scalar) => def::Access::Scalar(same(scalar)),
    }
}

fn untyped_index(index: &gtir::Index) -> def::Index {
    def::Index {
        vertical: match &index.vertical {
            Vertical::Offset(by) => Vertical::Offset(*by),
            Vertical::Above(by) => Vertical::Above(untyped(by)),
            Vertical::At(level) => Vertical::At(untyped(level)),
        },
        data: index.data.iter().map(untyped).collect(),
    }
}

const FIELDS: &str = "
stencil s
field a: float64[IJK]
field b: float64[IJK]
field f: float32[IJK]
field n: int64[IJK]
field m: int32[IJK]
field c: bool[IJK]
field p: float64[IJ]
field w: float64[K]
scalar x: float64
temporary t: float64[IJK]
temporary u: float64[IJK]
temporary q: float64[IJ]
";

fn single_precision() -> Config {
    Config { literal_int: DType::Int32, literal_float: DType::Float32, ..Config::default() }
}

/// Lowers `body`: the typed text behind the declarations, then the diagnostics.
fn lowered_with(config: &Config, body: &str) -> String {
    let mut diagnostics = Diagnostics::default();
    let stencil = lower(&definition(&format!("{FIELDS}{body}")), config, &mut diagnostics);
    let mut found = String::new();
    if let Some(stencil) = &stencil {
        assert_eq!(validate(stencil), Vec::<String>::new());
        let text = listing(stencil).text;
        let temporaries =
            text.lines().filter(|it| it.starts_with("temporary ")).collect::<Vec<_>>().join("\n");
        let loops = text.split_once("\n\n").map_or("", |it| it.1);
        found = format!("{temporaries}\n\n{loops}");
    }
    assert_eq!(stencil.is_none(), diagnostics.has_errors());
    for diagnostic in diagnostics.iter() {
        found.push_str(&format!("{} {}\n", diagnostic.code, diagnostic.message));
    }
    found
}

#[track_caller]
fn check(body: &str, expected: Expect) {
    expected.assert_eq(&lowered_with(&Config::default(), body));
}

/// Only the codes, in the order found.
fn codes(body: &str) -> Vec<&'static str> {
    let mut diagnostics = Diagnostics::default();
    lower(&definition(&format!("{FIELDS}{body}")), &Config::default(), &mut diagnostics);
    diagnostics.iter().map(|it| it.code.0).collect()
}

#[test]
fn the_first_value_types_a_temporary_also_in_a_branch() {
    check(
        "
parallel [start, end)
  if c
    t = 0
  else
    t = 0.5 * a
  u = t + f
  b = u
",
        expect![[r#"
            temporary t: int64[IJK]
            temporary u: float32[IJK]
            temporary q: float64[IJ]

            parallel [start, end)
              if c
                t = 0
              else
                t = int64(0.5 * a)
              u = float32(t) + f
              b = float64(u)
            W02 a float64 is assigned to `t`, which is int64: the fraction is lost
        "#]],
    );
}

#[test]
fn a_declared_type_stays() {
    let text = format!(
        "{}temporary typed_t: float32[IJK]\nparallel [start, end)\n  typed_t = a\n  b = typed_t\n",
        FIELDS
    );
    let mut diagnostics = Diagnostics::default();
    let stencil = lower(&definition(&text), &Config::default(), &mut diagnostics).expect("legal");
    assert!(listing(&stencil).text.ends_with("  typed_t = float32(a)\n  b = float64(typed_t)\n"));
}

#[test]
fn operands_take_the_larger_type() {
    check(
        "
parallel [start, end)
  a = n + f
  a = m * n - c
  a = a if n > m else f
  n = n % m
  a = max(f, n)
  c = c == (a < n)
",
        expect![[r#"
            temporary t: float64[IJK]
            temporary u: float64[IJK]
            temporary q: float64[IJ]

            parallel [start, end)
              a = float64(float32(n) + f)
              a = float64(int64(m) * n - int64(c))
              a = a if n > int64(m) else float64(f)
              n = n % int64(m)
              a = float64(max(f, float32(n)))
              c = c == (a < float64(n))
        "#]],
    );
}

#[test]
fn integers_divide_in_the_precision_of_literals() {
    check(
        "parallel [start, end)\n  a = n / m\n  m = m / int32(2)\n  f = n / f\n",
        expect![[r#"
        temporary t: float64[IJK]
        temporary u: float64[IJK]
        temporary q: float64[IJ]

        parallel [start, end)
          a = float64(n) / float64(m)
          m = int32(float64(m) / 2.0)
          f = float32(n) / f
        W03 two integers are divided in float64; GT4Py does it in float32
        W03 two integers are divided in float64; GT4Py does it in float32
    "#]],
    );
    let single = single_precision();
    let found = lowered_with(&single, "parallel [start, end)\n  a = n / m\n");
    assert!(found.contains("a = float64(float32(n) / float32(m))"), "{found}");
}

#[test]
fn functions_of_integers_are_floats_but_for_those_that_keep_them() {
    check(
        "
parallel [start, end)
  a = sqrt(n) + abs(n) + floor(m)
  c = isnan(a) or isinf(f)
",
        expect![[r#"
            temporary t: float64[IJK]
            temporary u: float64[IJK]
            temporary q: float64[IJ]

            parallel [start, end)
              a = float64(sqrt(float32(n)) + float32(abs(n)) + float32(m))
              c = isnan(a) or isinf(f)
        "#]],
    );
}

#[test]
fn exponents_keep_their_type() {
    check(
        "
parallel [start, end)
  a = f ** 2 + n ** 2 + a ** f + n ** a + 2 ** (-1)
",
        expect![[r#"
            temporary t: float64[IJK]
            temporary u: float64[IJK]
            temporary q: float64[IJ]

            parallel [start, end)
              a = float64(f ** 2 + float32(n ** 2)) + a ** f + float64(n) ** a + 2.0 ** (-1)
            W03 an integer is taken to a negative power in float64; GT4Py fails at run time
        "#]],
    );
}

#[test]
fn the_level_is_an_integer_of_literal_precision() {
    let single = single_precision();
    let found = lowered_with(&single, "parallel [start, end)\n  m = K + int32(1)\n");
    assert!(found.contains("m = int32(K) + int32(1)\n"), "{found}");
    assert!(lowered_with(&Config::default(), "parallel [start, end)\n  n = K + 1\n").contains("n = K + 1\n"));
}

#[test]
fn logic_and_numbers_do_not_mix() {
    check(
        "
parallel [start, end)
  if n
    a = 1.0
  while f
    a = 1.0
  a = 1.0 if x else 2.0
  c = not a
  c = c and n
  a = c + c
  a = -c
  a = sqrt(c)
  a = a + c
",
        expect![[r#"
            E36 the condition of `if` has the type int64, and must be bool
            E36 the condition of `while` has the type float32, and must be bool
            E36 the condition of a ternary has the type float64, and must be bool
            E37 `not` takes bools, and this operand has the type float64
            E37 `and` takes bools, and this operand has the type int64
            E37 `+` takes numbers, and both operands are bool
            E37 `-` takes a number, and its operand is bool
            E37 `sqrt` takes a number, and its argument is bool
        "#]],
    );
}

#[test]
fn a_fault_is_told_once() {
    check(
        "parallel [start, end)\n  t = -c\n  u = t + 1.0\n  b = u\n",
        expect![[r#"
        E37 `-` takes a number, and its operand is bool
    "#]],
    );
}

#[test]
fn surprises_of_types_are_warned_of() {
    check(
        "
parallel [start, end)
  t = 0
  t = a
  n = a
  f = f * 0.5
  b = t
",
        expect![[r#"
            temporary t: int64[IJK]
            temporary u: float64[IJK]
            temporary q: float64[IJ]

            parallel [start, end)
              t = 0
              t = int64(a)
              n = int64(a)
              f = float32(float64(f) * 0.5)
              b = float64(t)
            W02 a float64 is assigned to `t`, which is int64: the fraction is lost
            W06 the literal 0.5 is float64 and takes this float32 expression to float64
        "#]],
    );
}

#[test]
fn only_points_with_an_element_of_their_own_are_assigned() {
    check(
        "
parallel [start, end)
  p = 1.0
  w = 1.0
forward [start, end)
  p = a
  q = p
  w = 1.0
",
        expect![[r#"
            E24 `p` has the axes IJ and cannot be assigned in a parallel computation
            E24 `w` has the axes K and cannot be assigned in a parallel computation
            E24 `w` has the axes K and cannot be assigned in a forward computation
        "#]],
    );
}

#[test]
fn an_assignment_does_not_read_its_target_beside_the_point() {
    check(
        "parallel [start, end)\n  t = a\n  t = t[1,0,0]\n  b = t\n",
        expect![[r#"
        E18 `t` is read at [1,0,0] by the assignment that writes it
    "#]],
    );
}

#[test]
fn a_parameter_is_not_written_and_read_beside_in_one_loop() {
    check(
        "parallel [start, end)\n  b = a[1,0,0]\n  a = b\n",
        expect![[r#"
        E19 `a` is read at [1,0,0] in the computation that writes it
    "#]],
    );
    assert_eq!(codes("parallel [start, end)\n  a = b\n  b = a[0,1,0]\n"), ["E19"]);
    assert!(codes("parallel [start, end)\n  t = a\n  b = t[1,0,0]\n").is_empty());
}

#[test]
fn parallel_reads_of_other_levels_of_what_is_written_are_warned_of() {
    check(
        "parallel [start+1, end)\n  t = a[0,0,-1]\n  a = t\n",
        expect![[r#"
        temporary t: float64[IJK]
        temporary u: float64[IJK]
        temporary q: float64[IJ]

        parallel [start+1, end)
          t = a[0,0,-1]
          a = t
        W07 `a` is read at [0,0,-1] in a parallel computation that writes it
    "#]],
    );
    assert!(codes("parallel [start, start+1)\n  b = a[0,0,1]\n  a = b\n").is_empty());
    assert!(codes("forward [start+1, end)\n  b = a[0,0,-1]\n  a = b\n").is_empty());
}

#[test]
fn loops_and_branches_do_not_read_beside_what_they_write() {
    check(
        "
parallel [start, end)
  t = a
  while t < 3.0
    t = t[1,0,0] + 1.0
  u = 0.0
  while u < 3.0
    t = u[1,0,0]
    u = u + 1.0
  b = t
",
        expect![[r#"
            E18 `t` is read at [1,0,0] by the assignment that writes it
            E22 a `while` loop reads `u` at [1,0,0] and writes it
        "#]],
    );
    check(
        "
parallel [start, end)
  t = 0.0
  if a > 0.0
    t = a
    b = t[1,0,0]
",
        expect![[r#"
            E23 `t` is read at [1,0,0] inside the `if` that writes it
        "#]],
    );
}

#[test]
fn a_region_does_not_read_beside_what_was_written_before() {
    check(
        "
parallel [start, end)
  t = a
  region i[start, start+1) j[, )
    b = t[1,0,0]
",
        expect![[r#"
            E15 a horizontal region reads `t` at [1,0,0], and `t` was written before
        "#]],
    );
    // Written in regions only, or written later.
    assert!(
        codes(
            "
parallel [start, end)
  region i[start, start+2) j[, )
    t = a
  region i[start, start+1) j[, )
    b = t[1,0,0] + u[1,0,0]
  u = 0.0
"
        )
        .iter()
        .all(|it| *it != "E15")
    );
    assert_eq!(
        codes("parallel [start, end)\n  region i[start, start+2) j[, )\n    t = a\n    b = t[1,0,0]\n"),
        ["E15"]
    );
}

#[test]
fn a_temporary_of_one_block_has_no_other_levels() {
    check(
        "forward [start+1, end)\n  if a > 0.0\n    t = a\n    b = t[0,0,-1]\n",
        expect![[r#"
        E23 `t` is read at [0,0,-1], and no other statement uses it
    "#]],
    );
    assert!(codes("forward [start+1, end)\n  t = a\n  b = t[0,0,-1]\n").is_empty());
}

#[test]
fn a_temporary_is_not_read_beyond_its_levels() {
    check(
        "
parallel [start, end)
  t = a
parallel [start, end)
  b = t[0,0,1]
parallel [start+1, end)
  b = t[0,0,-2]
",
        expect![[r#"
            E23 the temporary `t` is read 1 level above the last, where it does not exist
            E23 the temporary `t` is read 1 level below the first, where it does not exist
        "#]],
    );
}

#[test]
fn a_sweep_does_not_need_ever_more_neighbours() {
    check(
        "
parallel [start, end)
  t = 0.0
forward [start+1, end)
  u = t[0,0,-1] + a
  t = u[1,0,0]
forward [start, end)
  b = t
",
        expect![[r#"
            E23 the read of `u` at [1,0,0] needs one more neighbour for each level of the forward sweep
        "#]],
    );
    // The neighbour's value does not come back into the sweep.
    assert!(
        codes(
            "
forward [start, start+1)
  t = a
forward [start+1, end)
  t = t[0,0,-1] + a
  b = t[1,0,0]
"
        )
        .is_empty()
    );
}

#[test]
fn a_swap_that_is_none_is_warned_of() {
    let mut stencil = definition(&format!("{FIELDS}parallel [start, end)\n  a = b\n  b = a\n"));
    let body = &mut stencil.computations[0].body;
    // The halves of a tuple assignment have the same place.
    body[1].origin = crate::diag::Origin::new(body[1].origin.stmt, body[0].origin.spans());
    let mut diagnostics = Diagnostics::default();
    lower(&stencil, &Config::default(), &mut diagnostics);
    assert_eq!(diagnostics.iter().map(|it| it.code.0).collect::<Vec<_>>(), ["W05"]);
}

#[test]
fn bounds_of_run_time_become_a_guard_of_each_statement() {
    let mut stencil =
        definition(&format!("{FIELDS}\nforward [start, end)\n  b = a[0,0,-1]\n  t = a[0,0,1] + x\n"));
    let of = |name: &str| {
        let field = stencil.fields.find(|it| it.name == name).expect(name);
        let kind = ExprKind::Access(def::Access::Field { field, offset: crate::space::Offset::CENTRE });
        def::Expr { kind, dtype: (), span: Span::default() }
    };
    let (from, to) = (of("m"), of("n"));
    stencil.computations[0].from = Some(from);
    stencil.computations[0].to = Some(to.clone());
    let lower = |stencil: &def::Stencil| {
        let mut found = Diagnostics::default();
        let typed = lower(stencil, &Config::default(), &mut found);
        let text = typed.map(|it| {
            assert_eq!(validate(&it), Vec::<String>::new());
            listing(&it).text
        });
        (text, found)
    };
    let (text, _) = lower(&stencil);
    let text = text.expect("the stencil is legal");
    let body = &text[text.find("forward").expect("there is one loop")..];
    expect_test::expect![[r#"
        forward [start, end)
          if K >= int64(m) and K < n
            b = a.at(K + -1)
          if K >= int64(m) and K < n
            t = a.at(K + 1) + x
    "#]]
    .assert_eq(body);

    // Only the side that is known at run time may leave the domain.
    stencil.computations[0].from = None;
    let (text, _) = lower(&stencil);
    assert!(text.expect("the stencil is legal").contains("b = a[0,0,-1]"));
    stencil.computations[0].to = Some(of("c"));
    let (text, found) = lower(&stencil);
    assert_eq!(text, None);
    assert_eq!(found.sorted()[0].code.0, "E10");
}
