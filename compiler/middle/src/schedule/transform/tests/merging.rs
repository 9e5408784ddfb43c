//! Loops that become one.

use super::*;

/// Whether the loop over levels around `two` may continue that around `one`.
fn merged(order: &str, one: &str, two: &str) -> bool {
    let loops = nest("[1, K - 1)", order, one) + &nest("[1, K - 1)", order, two);
    !after(&loops, |tree| merge(tree, &first(&[0]), Ranges::Equal)).starts_with("refused")
}

#[test]
fn merging_keeps_every_order_of_a_write_with_another_access() {
    let at = |k: i64| match k {
        0 => "k".to_owned(),
        1 => "k + 1".to_owned(),
        _ => "k - 1".to_owned(),
    };
    // The first access is `one` levels ahead, and the second `other` levels. Merging is legal where no
    // element is touched in another order than before.
    for (order, is_legal) in [
        ("parallel", (|one, other| one == other) as fn(i64, i64) -> bool),
        ("ascending", |one, other| one >= other),
        ("descending", |one, other| one <= other),
    ] {
        for one in [-1, 0, 1] {
            for other in [-1, 0, 1] {
                let write = |k| format!("t[i + 2, j + 2, {}] = 1.0", at(k));
                let read = |k| format!("b[i, j, k] = t[i + 2, j + 2, {}]", at(k));
                let keep = |k| format!("u[i + 2, j + 2, k] = t[i + 2, j + 2, {}]", at(k));
                let legal = is_legal(one, other);
                assert_eq!(merged(order, &write(one), &read(other)), legal, "RAW {order} {one} {other}");
                assert_eq!(merged(order, &keep(one), &write(other)), legal, "WAR {order} {one} {other}");
                assert_eq!(merged(order, &write(one), &write(other)), legal, "WAW {order} {one} {other}");
            }
        }
    }
    // A plane is touched by all levels: in a sweep its values go from one to the next.
    assert!(!merged("ascending", "p[i, j] = a[i + 2, j + 2, k]", "b[i, j, k] = p[i, j]"));
    assert!(merged("ascending", "b[i, j, k] = p[i, j]", "u[i + 2, j + 2, k] = p[i, j]"), "both only read it");
}

#[test]
fn ranges_of_every_kind_merge_with_limits() {
    let merge_of = |one: &str, two: &str| {
        let loops = nest(one, "parallel", "t[i + 2, j + 2, k] = a[i + 2, j + 2, k]")
            + &nest(two, "parallel", "b[i, j, k] = t[i + 2, j + 2, k]");
        let text = after(&loops, |tree| merge(tree, &first(&[0]), Ranges::Limited));
        let heads =
            text.lines().map(str::trim).filter(|it| it.starts_with("for k") || it.starts_with("where"));
        heads.collect::<Vec<_>>().join(" ")
    };
    assert_eq!(merge_of("[0, K)", "[1, K)"), "for k in [0, K) parallel: where k in [1, K):");
    assert_eq!(merge_of("[1, K)", "[0, K)"), "for k in [0, K) parallel: where k in [1, K):");
    assert_eq!(
        merge_of("[0, K - 1)", "[1, K)"),
        "for k in [0, K) parallel: where k in [0, K - 1): where k in [1, K):"
    );
    assert_eq!(
        merge_of("[0, 1)", "[K - 1, K)"),
        "for k in [0, K) parallel: where k in [0, 1): where k in [K - 1, K):"
    );
    assert_eq!(merge_of("[0, K)", "[0, K)"), "for k in [0, K) parallel:");
}

/// Two loops over a row, merged on the domain. The first writes `t` at i, and the second does `read`.
fn in_domain(first_range: &str, second_range: &str, read: &str) -> String {
    let loops = format!(
        "for k in [0, K) parallel:
  for j in [0, J) parallel:
    for i in {first_range} parallel:
      t[i + 2, j + 2, k] = a[i + 2, j + 2, k]
    for i in {second_range} parallel:
      u[i + 2, j + 2, k] = {read}
"
    );
    after(&loops, |tree| merge(tree, &first(&[0, 0, 0]), Ranges::Domain))
}

#[test]
fn loops_over_a_row_meet_in_the_domain() {
    expect![[r#"
        for k in [0, K) parallel:
          for j in [0, J) parallel:
            for i in [-1, 0) parallel:
              t[i + 2, j + 2, k] = a[i + 2, j + 2, k]
            for i in [I, I + 1) parallel:
              t[i + 2, j + 2, k] = a[i + 2, j + 2, k]
            for i in [-2, 0) parallel:
              u[i + 2, j + 2, k] = t[i + 2, j + 2, k]
            for i in [0, I) parallel:
              t[i + 2, j + 2, k] = a[i + 2, j + 2, k]
              u[i + 2, j + 2, k] = t[i + 2, j + 2, k]
    "#]]
    .assert_eq(&in_domain("[-1, I + 1)", "[-2, I)", "t[i + 2, j + 2, k]"));
    let refused = |one: &str, other: &str, read: &str| in_domain(one, other, read).starts_with("refused");
    assert!(refused("[1, I)", "[0, I)", "t[i + 2, j + 2, k]"), "the first lacks a point of the domain");
    assert!(refused("[-1, I + 1)", "[0, I)", "t[i + 3, j + 2, k]"), "a neighbour is read of the same row");
    // Another row is another element, as long as each has a place.
    assert!(!refused("[-1, I + 1)", "[0, I)", "t[i + 3, j + 1, k]"));
}

#[test]
fn rows_that_share_a_place_are_one() {
    let meets = |ring: &str| {
        let text = format!(
            "\
schedule test
field a: float64[I + 4, J + 4, K] shift [2, 2, 0] read
field b: float64[I, J, K] shift [0, 0, 0] write
temporary t: float64[I + 4, J + 4] shift [2, 2] along IJ in k{ring}
for k in [0, K) parallel:
  for j_front in [0, J) ascending:
    for i in [0, I) parallel:
      t[i + 2, j_front + 4] = a[i + 2, j_front + 4, k]
    for i in [0, I) parallel:
      b[i, j_front, k] = t[i + 3, j_front + 2]
"
        );
        let mut tree = crate::schedule::parse::parse(&text).expect("the text is a schedule tree");
        merge(&mut tree, &first(&[0, 0, 0]), Ranges::Equal).is_ok()
    };
    assert!(meets(""));
    assert!(meets(" keeping 4 along J"));
    assert!(!meets(" keeping 2 along J"), "the third row takes the place of the first");
}

#[test]
fn a_loop_without_an_order_joins_a_sweep() {
    let loops = nest("[0, K)", "parallel", "t[i + 2, j + 2, k] = a[i + 2, j + 2, k]")
        + &nest("[0, K)", "ascending", "p[i, j] = p[i, j] + t[i + 2, j + 2, k]");
    check(
        &loops,
        |tree| merge(tree, &first(&[0]), Ranges::Equal),
        &expect![[r#"
            for k in [0, K) ascending:
              for j in [0, J) parallel:
                for i in [0, I) parallel:
                  t[i + 2, j + 2, k] = a[i + 2, j + 2, k]
              for j in [0, J) parallel:
                for i in [0, I) parallel:
                  p[i, j] = p[i, j] + t[i + 2, j + 2, k]
        "#]],
    );
    let opposite = nest("[0, K)", "descending", "t[i + 2, j + 2, k] = 1.0")
        + &nest("[0, K)", "ascending", "p[i, j] = 0.0");
    check(
        &opposite,
        |tree| merge(tree, &first(&[0]), Ranges::Equal),
        &expect![[r#"
            refused: the loop before it runs in another order
        "#]],
    );
}

#[test]
fn limits_of_merged_loops_stand_inside_where_they_are_to() {
    let loops = nest("[0, 1)", "parallel", "b[i, j, k] = 1.0")
        + &nest("[1, K)", "parallel", "b[i, j, k] = a[i + 2, j + 2, k]");
    check(
        &loops,
        |tree| merge(tree, &first(&[0]), Ranges::Inside),
        &expect![[r#"
        for k in [0, K) parallel:
          for j in [0, J) parallel:
            for i in [0, I) parallel:
              where k in [0, 1):
                b[i, j, k] = 1.0
          for j in [0, J) parallel:
            for i in [0, I) parallel:
              where k in [1, K):
                b[i, j, k] = a[i + 2, j + 2, k]
    "#]],
    );
    let beside = nest("[0, 1)", "parallel", "b[i, j, k] = 1.0")
        + &nest("[1, K)", "parallel", "t[i + 2, j + 2, k] = b[i, j, k - 1]");
    check(
        &beside,
        |tree| merge(tree, &first(&[0]), Ranges::Inside),
        &expect![[r#"
        refused: `b` must be finished beside the point before this loop may start
    "#]],
    );
}
