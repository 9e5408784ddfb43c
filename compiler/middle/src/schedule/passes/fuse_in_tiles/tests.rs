//! Groups of loops, and the tiles that are chosen for them.

use expect_test::{Expect, expect};

use super::*;
use crate::schedule::parse::parse;
use crate::schedule::print::listing;
use crate::schedule::validate::validate;

/// Holds the result on loops, where a core has a cache for so many columns of one array.
fn check(loops: &str, columns: i64, expected: Expect) {
    let text = format!(
        "schedule test
field a: float64[I + 2, J, K] shift [1, 0, 0] read
field b: float64[I + 2, J, K] shift [1, 0, 0] read-write
temporary t: float64[I + 2, J, K] shift [1, 0, 0] heap
{loops}"
    );
    let machine = Machine { cache_bytes: (columns * 80 * 8) as f64, ..Machine::CPU };
    let target = Target { machine: Some(machine), keeps_steps: true, ..Target::CPU };
    found_in(&text, target, &expected);
}

/// Holds the result on a tree, with the steps and the remarks.
fn found_in(text: &str, target: Target, expected: &Expect) {
    let mut tree = parse(text).expect("the text is a schedule tree");
    assert_eq!(validate(&tree), Vec::<String>::new());
    let mut cx = PassCx::new(target);
    fuse_in_tiles(&mut tree, &mut cx);
    assert_eq!(validate(&tree), Vec::<String>::new());
    let printed = listing(&tree).text;
    let mut found = printed[printed.find("temporary").unwrap_or(0)..].to_owned();
    tree.steps.iter().for_each(|it| found.push_str(&format!("{it}\n")));
    for remark in cx.remarks() {
        let word = if remark.is_applied { "applied" } else { "missed" };
        found.push_str(&format!("{word}: {}\n", remark.message));
    }
    expected.assert_eq(&found);
}

fn sweeps(read: &str, read_of_b: &str) -> String {
    format!(
        "for k in [1, K) ascending:
  for j in [0, J) parallel:
    for i in [-1, I + 1) parallel:
      t[i + 1, j, k] = t[i + 1, j, k - 1] + a[i + 1, j, k]
for k in [0, K - 1) descending:
  for j in [0, J) parallel:
    for i in [0, I) parallel:
      b[i + 1, j, k] = {read} + {read_of_b} * a[i + 1, j, k]
"
    )
}

#[test]
fn sweeps_share_the_points_of_a_row_that_fit() {
    check(
        &sweeps("t[i + 1, j, k]", "b[i + 1, j, k + 1]"),
        100,
        expect![[r#"
        temporary t: float64[32, K] shift [-i_tile, 0] along IK in i_tile

        for j in [0, J) parallel:
          for i_tile in [0, I) step 32 parallel:
            for k in [1, K) ascending:
              for i in [i_tile, min(I + 1, i_tile + 32)) parallel:
                t[i - i_tile, k] = t[i - i_tile, k - 1] + a[i + 1, j, k]
            for k in [0, K - 1) descending:
              for i in [i_tile, min(I, i_tile + 32)) parallel:
                b[i + 1, j, k] = t[i - i_tile, k] + b[i + 1, j, k + 1] * a[i + 1, j, k]
        tile j 1 k@s0 .. k@s1
        tile i 32 k@s0 .. k@s1
        applied: run in tiles of 32 points of a row, and each has its own `t`
    "#]],
    );
}

/// Holds the result on turned loops with neighbours along J and K; `at` stands around the second stage.
fn turned(at: &str, columns: i64, expected: Expect) {
    let indent = if at.is_empty() { "" } else { "  " };
    let limit = if at.is_empty() { String::new() } else { format!("      {at}\n") };
    let text = format!(
        "schedule test
field a: float64[I, J + 4, K + 4] shift [0, 2, 2] read
field b: float64[I, J, K] shift [0, 0, 0] write
temporary t: float64[I, J + 2, K + 2] shift [0, 1, 1] heap
temporary u: float64[I, J, K + 1] shift [0, 0, 0] heap
for k in [-1, K + 1) parallel:
  for j in [-1, J + 1) parallel:
    for i in [0, I) parallel:
      t[i, j + 1, k + 1] = a[i, j + 1, k + 2] + a[i, j + 3, k + 2] + a[i, j + 2, k + 1] + a[i, j + 2, k + 3]
for k in [0, K + 1) parallel:
  for j in [0, J) parallel:
    for i in [0, I) parallel:
      u[i, j, k] = t[i, j + 1, k + 1] - t[i, j + 1, k]
{limit}{indent}      u[i, j, k] = u[i, j, k] * 2.0
for k in [0, K) parallel:
  for j in [0, J) parallel:
    for i in [0, I) parallel:
      b[i, j, k] = u[i, j, k + 1] - u[i, j, k] + t[i, j, k + 1] - t[i, j + 2, k + 1]
"
    );
    let machine = Machine { cache_bytes: (columns * 128 * 8) as f64, ..Machine::CPU };
    found_in(&text, Target { machine: Some(machine), keeps_steps: true, ..Target::CPU }.turned(), &expected);
}

#[test]
fn turned_loops_run_behind_a_front_in_tiles_of_rows() {
    turned(
        "",
        400,
        expect![[r#"
        temporary t: float64[I, 10, K + 2] shift [0, -j_tile + 1, 1] along IJK in j_tile
        temporary u: float64[I, 8, K + 1] shift [0, -j_tile, 0] along IJK in j_tile

        for j_tile in [0, J) step 8 parallel:
          for k_front in [-2, K) ascending:
            for k in [k_front + 1, k_front + 2) parallel:
              for j in [j_tile - 1, min(J + 1, j_tile + 9)) parallel:
                for i in [0, I) parallel:
                  t[i, j - j_tile + 1, k + 1] = a[i, j + 1, k + 2] + a[i, j + 3, k + 2] + a[i, j + 2, k + 1] + a[i, j + 2, k + 3]
            for k in [max(0, k_front + 1), k_front + 2) parallel:
              for j in [j_tile, min(J, j_tile + 8)) parallel:
                for i in [0, I) parallel:
                  u[i, j - j_tile, k] = t[i, j - j_tile + 1, k + 1] - t[i, j - j_tile + 1, k]
                  u[i, j - j_tile, k] = u[i, j - j_tile, k] * 2.0
            for k in [max(0, k_front), k_front + 1) parallel:
              for j in [j_tile, min(J, j_tile + 8)) parallel:
                for i in [0, I) parallel:
                  b[i, j, k] = u[i, j - j_tile, k + 1] - u[i, j - j_tile, k] + t[i, j - j_tile, k + 1] - t[i, j - j_tile + 2, k + 1]
        tile j 8 k@s0 .. k@s3
        roll k k@s0 .. k@s3
        applied: run in tiles of 8 rows, and level by level in each, and each has its own `t`, `u`
    "#]],
    );
}

#[test]
fn limits_of_turned_loops_are_stages_of_the_front() {
    turned(
        "where k in [0, 1):",
        400,
        expect![[r#"
        temporary t: float64[I, 10, K + 2] shift [0, -j_tile + 1, 1] along IJK in j_tile
        temporary u: float64[I, 8, K + 1] shift [0, -j_tile, 0] along IJK in j_tile

        for j_tile in [0, J) step 8 parallel:
          for k_front in [-2, K) ascending:
            for k in [k_front + 1, k_front + 2) parallel:
              for j in [j_tile - 1, min(J + 1, j_tile + 9)) parallel:
                for i in [0, I) parallel:
                  t[i, j - j_tile + 1, k + 1] = a[i, j + 1, k + 2] + a[i, j + 3, k + 2] + a[i, j + 2, k + 1] + a[i, j + 2, k + 3]
            for k in [max(0, k_front + 1), min(1, k_front + 2)) parallel:
              for j in [j_tile, min(J, j_tile + 8)) parallel:
                for i in [0, I) parallel:
                  u[i, j - j_tile, k] = t[i, j - j_tile + 1, k + 1] - t[i, j - j_tile + 1, k]
                  u[i, j - j_tile, k] = u[i, j - j_tile, k] * 2.0
            for k in [max(1, k_front + 1), k_front + 2) parallel:
              for j in [j_tile, min(J, j_tile + 8)) parallel:
                for i in [0, I) parallel:
                  u[i, j - j_tile, k] = t[i, j - j_tile + 1, k + 1] - t[i, j - j_tile + 1, k]
            for k in [max(0, k_front), k_front + 1) parallel:
              for j in [j_tile, min(J, j_tile + 8)) parallel:
                for i in [0, I) parallel:
                  b[i, j, k] = u[i, j - j_tile, k + 1] - u[i, j - j_tile, k] + t[i, j - j_tile, k + 1] - t[i, j - j_tile + 2, k + 1]
        tile j 8 k@s0 .. k@s3
        peel k@s1
        roll k k@s0 .. k@s3
        applied: regions are pieces of the loop, and no tests inside of it
        applied: run in tiles of 8 rows, and level by level in each, and each has its own `t`, `u`
    "#]],
    );
}

#[test]
fn points_beside_a_tile_are_computed_again() {
    check(
        &sweeps("t[i, j, k] - t[i + 2, j, k]", "b[i + 1, j, k + 1]"),
        60,
        expect![[r#"
        temporary t: float64[18, K] shift [-i_tile + 1, 0] along IK in i_tile

        for j in [0, J) parallel:
          for i_tile in [0, I) step 16 parallel:
            for k in [1, K) ascending:
              for i in [i_tile - 1, min(I + 1, i_tile + 17)) parallel:
                t[i - i_tile + 1, k] = t[i - i_tile + 1, k - 1] + a[i + 1, j, k]
            for k in [0, K - 1) descending:
              for i in [i_tile, min(I, i_tile + 16)) parallel:
                b[i + 1, j, k] = t[i - i_tile, k] - t[i - i_tile + 2, k] + b[i + 1, j, k + 1] * a[i + 1, j, k]
        tile j 1 k@s0 .. k@s1
        tile i 16 k@s0 .. k@s1
        applied: run in tiles of 16 points of a row, and each has its own `t`
    "#]],
    );
}

#[test]
fn what_tiles_would_read_of_each_other_keeps_the_sweeps_apart() {
    check(
        &sweeps("t[i + 1, j, k]", "b[i, j, k + 1]"),
        100,
        expect![[r#"
        temporary t: float64[I + 2, J, K] shift [1, 0, 0] heap

        for k in [1, K) ascending:
          for j in [0, J) parallel:
            for i in [-1, I + 1) parallel:
              t[i + 1, j, k] = t[i + 1, j, k - 1] + a[i + 1, j, k]

        for k in [0, K - 1) descending:
          for j in [0, J) parallel:
            for i in [0, I) parallel:
              b[i + 1, j, k] = t[i + 1, j, k] + b[i, j, k + 1] * a[i + 1, j, k]
        missed: does not run in tiles with what is before it: one row of all their arrays does not fit into the cache, and parts of rows will not do: `b` is written, and touched beside the point
    "#]],
    );
}

#[test]
fn where_a_line_does_not_fit_each_sweep_runs_by_itself() {
    check(
        &sweeps("t[i + 1, j, k]", "b[i + 1, j, k + 1]"),
        20,
        expect![[r#"
        temporary t: float64[I + 2, J, K] shift [1, 0, 0] heap

        for k in [1, K) ascending:
          for j in [0, J) parallel:
            for i in [-1, I + 1) parallel:
              t[i + 1, j, k] = t[i + 1, j, k - 1] + a[i + 1, j, k]

        for k in [0, K - 1) descending:
          for j in [0, J) parallel:
            for i in [0, I) parallel:
              b[i + 1, j, k] = t[i + 1, j, k] + b[i + 1, j, k + 1] * a[i + 1, j, k]
        missed: does not run in tiles with what is before it: one row of all their arrays does not fit into the cache, and parts of rows will not do: one line of all their arrays does not fit into the cache
    "#]],
    );
}
