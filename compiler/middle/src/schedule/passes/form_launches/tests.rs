//! Loops that become launches, and the form that is chosen for each.

use expect_test::{Expect, expect};

use super::*;
use crate::schedule::passes::contract_temporaries::contract_temporaries;
use crate::schedule::passes::place_arrays::place_arrays;
use crate::schedule::passes::place_grid::place_grid;
use crate::schedule::{parse::parse, print::listing, validate::validate};

const FIELDS: &str = "\
schedule test
field a: float64[I + 2, J + 2, K] shift [1, 1, 0] read
field b: float64[I, J, K] shift [0, 0, 0] write
field p: float64[I, J] shift [0, 0] read-write
temporary t: float64[I + 2, J + 2, K] shift [1, 1, 0] heap
temporary u: float64[I, J, K] shift [0, 0, 0] heap
";

/// Returns the loops behind all passes that form launches, below the declarations of their temporaries alone.
fn formed(loops: &str, form: Option<GpuForm>) -> String {
    let mut tree = parse(&format!("{FIELDS}{loops}")).expect("the text is a schedule tree");
    assert_eq!(validate(&tree), Vec::<String>::new(), "before");
    let mut cx = PassCx::new(Target { gpu_form: form, keeps_steps: true, ..Target::GPU });
    let lowered = tree.clone();
    for pass in [form_launches, contract_temporaries, place_arrays, place_grid] {
        pass(&mut tree, &mut cx);
        assert_eq!(validate(&tree), Vec::<String>::new(), "{}", listing(&tree).text);
    }
    // The steps alone lead there as well.
    let mut again = lowered;
    for step in &tree.steps {
        step.clone().apply(&mut again).expect("a step that a pass took is legal");
    }
    assert_eq!(listing(&again).text, listing(&tree).text);
    let text = listing(&tree).text;
    let own = text.lines().filter(|it| it.starts_with("temporary")).map(|it| format!("{it}\n"));
    let (_, loops) = text.split_once("\n\n").expect("loops stand behind declarations");
    own.collect::<String>() + "\n" + loops
}

fn check(loops: &str, form: Option<GpuForm>, expected: &Expect) {
    expected.assert_eq(&formed(loops, form));
}

const SMOOTHED: &str = "
for k in [0, K) parallel:
  for j in [0, J) parallel:
    for i in [-1, I + 1) parallel:
      t[i + 1, j + 1, k] = a[i + 1, j + 1, k] * 2.0
  for j in [0, J) parallel:
    for i in [0, I) parallel:
      b[i, j, k] = t[i, j + 1, k] + t[i + 2, j + 1, k]
";

#[test]
fn stages_that_read_beside_the_point_share_a_tile() {
    check(
        SMOOTHED,
        Some(GpuForm::Tiles),
        &expect![[r#"
        temporary t: float64[34, 8] shift [-i_tile + 1, -j_tile] along IJ in i_tile shared
        temporary u: float64[I, J, K] shift [0, 0, 0] heap

        grid k in [0, K) parallel:
          grid j_tile in [0, J) step 8 parallel:
            grid i_tile in [0, I) step 32 parallel:
              block j in [j_tile, min(J, j_tile + 8)) parallel:
                block i in [i_tile - 1, min(I + 1, i_tile + 33)) parallel:
                  t[i - i_tile + 1, j - j_tile] = a[i + 1, j + 1, k] * 2.0
              barrier
              block j in [j_tile, min(J, j_tile + 8)) parallel:
                block i in [i_tile, min(I, i_tile + 32)) parallel:
                  b[i, j, k] = t[i - i_tile, j - j_tile] + t[i - i_tile + 2, j - j_tile]
    "#]],
    );
}

#[test]
fn each_stage_is_a_launch_where_points_are_asked_for() {
    check(
        SMOOTHED,
        Some(GpuForm::Points),
        &expect![[r#"
        temporary t: float64[I + 2, J + 2, K] shift [1, 1, 0] heap
        temporary u: float64[I, J, K] shift [0, 0, 0] heap

        grid k in [0, K) parallel:
          grid j_tile in [0, J) step 8 parallel:
            grid i_tile in [-1, I + 1) step 32 parallel:
              block j in [j_tile, min(J, j_tile + 8)) parallel:
                block i in [i_tile, min(I + 1, i_tile + 32)) parallel:
                  t[i + 1, j + 1, k] = a[i + 1, j + 1, k] * 2.0

        grid k in [0, K) parallel:
          grid j_tile in [0, J) step 8 parallel:
            grid i_tile in [0, I) step 32 parallel:
              block j in [j_tile, min(J, j_tile + 8)) parallel:
                block i in [i_tile, min(I, i_tile + 32)) parallel:
                  b[i, j, k] = t[i, j + 1, k] + t[i + 2, j + 1, k]
    "#]],
    );
}

#[test]
fn a_point_computes_again_what_it_reads_beside_it() {
    check(
        SMOOTHED,
        Some(GpuForm::Recomputed),
        &expect![[r#"
        temporary u: float64[I, J, K] shift [0, 0, 0] heap

        grid k in [0, K) parallel:
          grid j_tile in [0, J) step 8 parallel:
            grid i_tile in [0, I) step 32 parallel:
              block j in [j_tile, min(J, j_tile + 8)) parallel:
                block i in [i_tile, min(I, i_tile + 32)) parallel:
                  t_west = a[i, j + 1, k] * 2.0
                  t_east = a[i + 2, j + 1, k] * 2.0
                  b[i, j, k] = t_west + t_east
    "#]],
    );
}

#[test]
fn a_block_goes_along_its_rows_and_keeps_the_last_few() {
    let loops = "
for k in [0, K) parallel:
  for j in [-1, J + 1) parallel:
    for i in [-1, I + 1) parallel:
      t[i + 1, j + 1, k] = a[i + 1, j + 1, k] * 2.0
  for j in [0, J) parallel:
    for i in [0, I) parallel:
      b[i, j, k] = t[i, j + 1, k] + t[i + 2, j + 2, k] + t[i + 1, j, k]
";
    check(
        loops,
        Some(GpuForm::Rolled),
        &expect![[r#"
        temporary t: float64[114, 34] shift [-i_tile + 1, -j_tile + 1] along IJ in i_tile keeping 4 along J shared
        temporary u: float64[I, J, K] shift [0, 0, 0] heap

        grid k in [0, K) parallel:
          grid j_tile in [0, J) step 32 parallel:
            grid i_tile in [0, I) step 112 parallel:
              for j_front in [j_tile - 2, min(J, j_tile + 32)) ascending:
                for j in [j_front + 1, j_front + 2) parallel:
                  block i in [i_tile - 1, min(I + 1, i_tile + 113)) parallel:
                    t[i - i_tile + 1, j - j_tile + 1] = a[i + 1, j + 1, k] * 2.0
                barrier
                for j in [max(j_tile, j_front), j_front + 1) parallel:
                  block i in [i_tile, min(I, i_tile + 112)) parallel:
                    b[i, j, k] = t[i - i_tile, j - j_tile + 1] + t[i - i_tile + 2, j - j_tile + 2] + t[i - i_tile + 1, j - j_tile]
                barrier
    "#]],
    );
}

const SWEEPS: &str = "
for k in [0, 1) ascending:
  for j in [0, J) parallel:
    for i in [0, I) parallel:
      u[i, j, k] = a[i + 1, j + 1, k]
for k in [1, K) ascending:
  for j in [0, J) parallel:
    for i in [0, I) parallel:
      u[i, j, k] = u[i, j, k - 1] * a[i + 1, j + 1, k]
for k in [0, K) descending:
  for j in [0, J) parallel:
    for i in [0, I) parallel:
      b[i, j, k] = u[i, j, k]
      p[i, j] = p[i, j] + u[i, j, k]
";

#[test]
fn sweeps_of_columns_are_one_launch() {
    check(
        SWEEPS,
        None,
        &expect![[r#"
            temporary t: float64[I + 2, J + 2, K] shift [1, 1, 0] heap
            temporary u: float64[K] shift [0] along K in i shared

            grid j in [0, J) parallel:
              grid i_tile in [0, I) step 64 parallel:
                block i in [i_tile, min(I, i_tile + 64)) parallel:
                  for k in [0, 1) ascending:
                    u[k] = a[i + 1, j + 1, k]
                  for k in [1, K) ascending:
                    u[k] = u[k - 1] * a[i + 1, j + 1, k]
                  for k in [0, K) descending:
                    b[i, j, k] = u[k]
                    p[i, j] = p[i, j] + u[k]
        "#]],
    );
}

#[test]
fn what_sweeps_of_one_direction_do_at_a_level_is_done_together() {
    let loops = "
for k in [0, K) parallel:
  for j in [0, J) parallel:
    for i in [0, I) parallel:
      u[i, j, k] = exp(a[i + 1, j + 1, k])
for k in [0, 1) ascending:
  for j in [0, J) parallel:
    for i in [0, I) parallel:
      p[i, j] = 0.0
for k in [1, K) ascending:
  for j in [0, J) parallel:
    for i in [0, I) parallel:
      p[i, j] = p[i, j] + u[i, j, k]
for k in [0, K) parallel:
  for j in [0, J) parallel:
    for i in [0, I) parallel:
      b[i, j, k] = u[i, j, k]
";
    check(
        loops,
        Some(GpuForm::Columns),
        &expect![[r#"
        temporary t: float64[I + 2, J + 2, K] shift [1, 1, 0] heap
        temporary u: float64[K] shift [0] along K in i keeping 1 along K register

        grid j in [0, J) parallel:
          grid i_tile in [0, I) step 64 parallel:
            block i in [i_tile, min(I, i_tile + 64)) parallel:
              for k in [0, 1) ascending:
                u[k] = exp(a[i + 1, j + 1, k])
                p[i, j] = 0.0
                b[i, j, k] = u[k]
              for k in [1, K) ascending:
                u[k] = exp(a[i + 1, j + 1, k])
                p[i, j] = p[i, j] + u[k]
                b[i, j, k] = u[k]
    "#]],
    );
}

#[test]
fn what_waits_for_a_later_sweep_is_computed_again() {
    let loops = "
for k in [0, K) parallel:
  for j in [0, J) parallel:
    for i in [0, I) parallel:
      u[i, j, k] = log(a[i + 1, j + 1, k])
for k in [0, 1) ascending:
  for j in [0, J) parallel:
    for i in [0, I) parallel:
      p[i, j] = 0.0
for k in [1, K) ascending:
  for j in [0, J) parallel:
    for i in [0, I) parallel:
      p[i, j] = p[i, j] + u[i, j, k] * u[i, j, k]
for k in [K - 1, K) descending:
  for j in [0, J) parallel:
    for i in [0, I) parallel:
      t[i + 1, j + 1, k] = exp(p[i, j])
      b[i, j, k] = u[i, j, k]
for k in [0, K - 1) descending:
  for j in [0, J) parallel:
    for i in [0, I) parallel:
      t[i + 1, j + 1, k] = t[i + 1, j + 1, k + 1] + u[i, j, k]
for k in [0, K) ascending:
  for j in [0, J) parallel:
    for i in [0, I) parallel:
      b[i, j, k] = t[i + 1, j + 1, k]
";
    check(
        loops,
        Some(GpuForm::Columns),
        &expect![[r#"
            temporary t: float64[K] shift [0] along K in i shared
            temporary u: float64[K] shift [0] along K in i keeping 1 along K register

            grid j in [0, J) parallel:
              grid i_tile in [0, I) step 64 parallel:
                block i in [i_tile, min(I, i_tile + 64)) parallel:
                  for k in [0, 1) ascending:
                    u[k] = log(a[i + 1, j + 1, k])
                    p[i, j] = 0.0
                  for k in [1, K) ascending:
                    u[k] = log(a[i + 1, j + 1, k])
                    p[i, j] = p[i, j] + u[k] * u[k]
                  for k in [K - 1, K) descending:
                    u_again = log(a[i + 1, j + 1, k])
                    t[k] = exp(p[i, j])
                    b[i, j, k] = u_again
                  for k in [0, K - 1) descending:
                    u_again_2 = log(a[i + 1, j + 1, k])
                    t[k] = t[k + 1] + u_again_2
                  for k in [0, K) ascending:
                    b[i, j, k] = t[k]
        "#]],
    );
}

#[test]
fn levels_apart_are_one_launch_with_limits() {
    let loops = "
for k in [0, 1) parallel:
  for j in [0, J) parallel:
    for i in [0, I) parallel:
      b[i, j, k] = a[i + 1, j + 1, k]
for k in [1, K - 1) parallel:
  for j in [0, J) parallel:
    for i in [0, I) parallel:
      u[i, j, k] = a[i + 1, j + 1, k + 1] - a[i + 1, j + 1, k - 1]
      b[i, j, k] = u[i, j, k] + a[i, j + 1, k]
for k in [K - 1, K) parallel:
  for j in [0, J) parallel:
    for i in [0, I) parallel:
      b[i, j, k] = a[i + 1, j + 1, k]
";
    check(
        loops,
        None,
        &expect![[r#"
        temporary t: float64[I + 2, J + 2, K] shift [1, 1, 0] heap

        grid k in [0, K) parallel:
          grid j_tile in [0, J) step 8 parallel:
            grid i_tile in [0, I) step 32 parallel:
              block j in [j_tile, min(J, j_tile + 8)) parallel:
                block i in [i_tile, min(I, i_tile + 32)) parallel:
                  where k in [0, 1):
                    b[i, j, k] = a[i + 1, j + 1, k]
                  where k in [1, K - 1):
                    u = a[i + 1, j + 1, k + 1] - a[i + 1, j + 1, k - 1]
                    b[i, j, k] = u + a[i, j + 1, k]
                  where k in [K - 1, K):
                    b[i, j, k] = a[i + 1, j + 1, k]
    "#]],
    );
}

#[test]
fn levels_that_need_their_neighbours_wait_for_each_other() {
    let loops = "
for k in [1, K) ascending:
  for j in [0, J) parallel:
    for i in [0, I) parallel:
      t[i + 1, j + 1, k] = t[i + 2, j + 1, k - 1] + t[i, j + 1, k - 1]
for k in [1, K) ascending:
  for j in [0, J) parallel:
    for i in [0, I) parallel:
      b[i, j, k] = t[i + 1, j + 1, k]
";
    check(
        loops,
        None,
        &expect![[r#"
        temporary t: float64[I + 2, J + 2, K] shift [1, 1, 0] heap
        temporary u: float64[I, J, K] shift [0, 0, 0] heap

        for k in [1, K) ascending:
          grid j_tile in [0, J) step 8 parallel:
            grid i_tile in [0, I) step 32 parallel:
              block j in [j_tile, min(J, j_tile + 8)) parallel:
                block i in [i_tile, min(I, i_tile + 32)) parallel:
                  t[i + 1, j + 1, k] = t[i + 2, j + 1, k - 1] + t[i, j + 1, k - 1]

        grid j in [0, J) parallel:
          grid i_tile in [0, I) step 64 parallel:
            block i in [i_tile, min(I, i_tile + 64)) parallel:
              for k in [1, K) ascending:
                b[i, j, k] = t[i + 1, j + 1, k]
    "#]],
    );
}

#[test]
fn what_every_level_writes_into_one_plane_keeps_its_levels_in_a_thread() {
    let loops = "
for k in [0, K) parallel:
  for j in [0, J) parallel:
    for i in [0, I) parallel:
      p[i, j] = 1.0
";
    check(
        loops,
        Some(GpuForm::Points),
        &expect![[r#"
        temporary t: float64[I + 2, J + 2, K] shift [1, 1, 0] heap
        temporary u: float64[I, J, K] shift [0, 0, 0] heap

        grid j_tile in [0, J) step 8 parallel:
          grid i_tile in [0, I) step 32 parallel:
            for k in [0, K) parallel:
              block j in [j_tile, min(J, j_tile + 8)) parallel:
                block i in [i_tile, min(I, i_tile + 32)) parallel:
                  p[i, j] = 1.0
    "#]],
    );
}
