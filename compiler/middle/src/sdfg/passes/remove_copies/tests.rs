//! Copies that go, and copies that stay.

use super::*;
use crate::sdfg::passes::tests::{after, remarks_in};

const HEADER: &str = "\
schedule copies
field a: float64[I + 2, J, K] shift [1, 0, 0] read-write
field b: float64[I, J, K] shift [0, 0, 0] read-write
temporary t: float64[I + 2, J, K] shift [1, 0, 0] heap
temporary u: float64[I, J, K] shift [0, 0, 0] heap
";

/// A loop over all points, and behind it beside them, around each statement.
fn loops(statements: &[&str]) -> String {
    let around = |it: &&str| {
        format!(
            "for k in [0, K) parallel:\n  for j in [0, J) parallel:\n    for i in [0, I) parallel:\n      {it}\n"
        )
    };
    HEADER.to_owned() + &statements.iter().map(around).collect::<String>()
}

/// Checks the graph behind its header, and the remarks.
fn check(tree: &str, expected: &expect_test::Expect) {
    let found = after(tree, remove_copies);
    let kept = found.lines().skip_while(|it| !it.contains("state") && !it.contains("temporary"));
    expected.assert_eq(&kept.map(|it| format!("{it}\n")).collect::<String>());
}

/// The one remark.
fn told(tree: &str) -> String {
    remarks_in(&after(tree, remove_copies))
}

#[test]
fn what_reads_a_copy_reads_the_original() {
    let expected = expect_test::expect![[r#"
          n1: state state_0
            n2: map k in [0:K], j in [0:J], i in [0:I]
              reads a[1:I + 2, 0:J, 0:K]
              writes b[0:I, 0:J, 0:K]
              n3: b[i, j, k] = a[i + 1, j, k] + a[i + 2, j, k]
        applied: `t` is a copy of `a`, and needs no place of its own
    "#]];
    check(
        &loops(&["t[i + 1, j, k] = a[i + 1, j, k]", "b[i, j, k] = t[i + 1, j, k] + a[i + 2, j, k]"]),
        &expected,
    );
}

#[test]
fn what_is_copied_out_is_written_there_at_once() {
    let expected = expect_test::expect![[r#"
          n1: state state_0
            n2: map k in [0:K], j in [0:J], i in [0:I]
              reads a[0:I + 2, 0:J, 0:K]
              writes b[0:I, 0:J, 0:K]
              n3: b[i, j, k] = a[i, j, k] + a[i + 2, j, k]
        applied: `b` is a copy of `u`, and needs no place of its own
    "#]];
    check(&loops(&["u[i, j, k] = a[i, j, k] + a[i + 2, j, k]", "b[i, j, k] = u[i, j, k]"]), &expected);
}

#[test]
fn a_copy_inside_of_a_shared_loop_goes_too() {
    let expected = expect_test::expect![[r#"
          n1: state state_0
            n2: map k in [0:K], threads
              reads a[1:I + 1, 0:J, 0:K]
              writes b[0:I, 0:J, 0:K]
              n3: map j in [0:J], i in [0:I]
                reads a[1:I + 1, 0:J, k]
                writes b[0:I, 0:J, k]
                n4: b[i, j, k] = a[i + 1, j, k]
        applied: `t` is a copy of `a`, and needs no place of its own
    "#]];
    let nest = |statement: &str| {
        format!("  for j in [0, J) parallel:\n    for i in [0, I) parallel:\n      {statement}\n")
    };
    let inside = nest("t[i + 1, j, k] = a[i + 1, j, k]") + &nest("b[i, j, k] = t[i + 1, j, k]");
    check(&format!("{HEADER}threads k in [0, K) parallel:\n{inside}"), &expected);
}

#[test]
fn old_values_that_are_overwritten_later_stay() {
    let tree = loops(&[
        "t[i + 1, j, k] = a[i + 1, j, k]",
        "a[i + 1, j, k] = 2.0",
        "b[i, j, k] = t[i + 1, j, k] * 2.0",
    ]);
    expect_test::expect!["missed: `t` is a copy of `a`, but stays: `a` is written too"]
        .assert_eq(&told(&tree));
}

#[test]
fn a_copy_to_which_more_is_written_stays() {
    let tree = loops(&[
        "t[i + 1, j, k] = a[i + 1, j, k]",
        "t[i + 1, j, k] = 2.0",
        "b[i, j, k] = t[i + 1, j, k] * 2.0",
    ]);
    expect_test::expect!["missed: `t` is a copy of `a`, but stays: something else is written to it too"]
        .assert_eq(&told(&tree));
}

#[test]
fn a_copy_of_which_more_is_read_stays() {
    let tree = loops(&["t[i + 1, j, k] = a[i + 1, j, k]", "b[i, j, k] = t[i, j, k] * 2.0"]);
    expect_test::expect!["missed: `t` is a copy of `a`, but stays: more is read of it than was copied"]
        .assert_eq(&told(&tree));
}

#[test]
fn what_is_read_elsewhere_too_is_not_copied_away() {
    let tree = loops(&["u[i, j, k] = 2.0", "b[i, j, k] = u[i, j, k]", "a[i, j, k] = u[i, j, k]"]);
    expect_test::expect!["missed: `b` is a copy of `u`, but stays: `u` is read elsewhere too; missed: `a` is a copy of `u`, but stays: `u` is read elsewhere too"].assert_eq(&told(&tree));
}

#[test]
fn a_target_that_is_read_before_it_is_written_stays() {
    let tree =
        loops(&["u[i, j, k] = b[i, j, k] * 2.0", "a[i, j, k] = b[i, j, k]", "b[i, j, k] = u[i, j, k]"]);
    expect_test::expect!["missed: `b` is a copy of `u`, but stays: `b` is used elsewhere too"]
        .assert_eq(&told(&tree));
}

#[test]
fn a_target_is_not_written_beside_what_is_copied() {
    let tree = loops(&["t[i, j, k] = 2.0", "b[i, j, k] = t[i + 1, j, k]"]);
    expect_test::expect!["missed: `b` is a copy of `t`, but stays: more is written to `t` than is copied"]
        .assert_eq(&told(&tree));
}

#[test]
fn a_copy_that_control_flow_may_skip_stays() {
    let tree = loops(&["u[i, j, k] = 2.0"])
        + "for k in [0, K) ascending:\n  for j in [0, J) parallel:\n    for i in [0, I) parallel:\n      b[i, j, k] = u[i, j, k]\n";
    expect_test::expect!["missed: `b` is a copy of `u`, but stays: it is not made once and for all"]
        .assert_eq(&told(&tree));
}

#[test]
fn another_type_is_no_copy() {
    let tree =
        loops(&["t[i + 1, j, k] = float64(float32(a[i + 1, j, k]))", "b[i, j, k] = t[i + 1, j, k] * 2.0"]);
    expect_test::expect![""].assert_eq(&told(&tree));
}
