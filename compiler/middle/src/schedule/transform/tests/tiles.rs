//! Tiles, and rows that run behind a front.

use super::*;

fn in_tiles(tree: &mut Tree, outer: &Path, nodes: (usize, usize), rows: i64) -> Result<(), Refusal> {
    let counts = Accesses::of(&tree.children).counts();
    tile::tile(tree, outer, nodes, Axis::J, rows, &counts).map(drop)
}

#[test]
fn a_tile_computes_again_what_it_needs_beside_itself() {
    check(
        &stages("t[i + 2, j + 1, k] + t[i + 2, j + 3, k]"),
        |tree| in_tiles(tree, &first(&[0]), (0, 2), 8),
        &expect![[r#"
            temporary t: float64[I + 4, 10] shift [2, -j_tile + 1] along IJ in j_tile

            for k in [0, K) parallel:
              for j_tile in [0, J) step 8 parallel:
                for j in [j_tile - 1, min(J + 1, j_tile + 9)) parallel:
                  for i in [0, I) parallel:
                    t[i + 2, j - j_tile + 1] = a[i + 2, j + 2, k]
                for j in [j_tile, min(J, j_tile + 8)) parallel:
                  for i in [0, I) parallel:
                    b[i, j, k] = t[i + 2, j - j_tile] + t[i + 2, j - j_tile + 2]
        "#]],
    );
    // Without anything beside, a tile of one row is that row.
    check(
        &stages("t[i + 2, j + 2, k]"),
        |tree| in_tiles(tree, &first(&[0]), (0, 2), 1),
        &expect![[r#"
            temporary t: float64[I + 4] shift [2] along I in j

            for k in [0, K) parallel:
              for j in [0, J) parallel:
                for i in [0, I) parallel:
                  t[i + 2] = a[i + 2, j + 2, k]
                for i in [0, I) parallel:
                  b[i, j, k] = t[i + 2]
        "#]],
    );
}

#[test]
fn tiles_that_would_depend_on_each_other_are_refused() {
    let refused = |loops: &str| after(loops, |tree| in_tiles(tree, &first(&[0]), (0, 2), 8));
    // Others see `b`: no tile may compute a row of it again, or read one beside its own.
    let written = stages("1.0").replace("t[i + 2, j + 2, k] =", "p[i, j] =");
    let read_beside = written.replace("b[i, j, k] = 1.0", "b[i, j, k] = p[i, j + 1]");
    assert_eq!(refused(&read_beside), "refused: `p` is written, and touched beside the point\n");
    // A value that is computed again must not read an element that another tile may have changed.
    let changed = "for k in [0, K) parallel:\n  for j in [0, J) parallel:\n    for i in [0, I) parallel:\n      b[i, j, k] = 1.0\n      t[i + 2, j + 2, k] = b[i, j, k]\n  for j in [0, J) parallel:\n    for i in [0, I) parallel:\n      u[i + 2, j + 2, k] = t[i + 2, j + 3, k]\n      p[i, j] = u[i + 2, j + 2, k]\n";
    assert_eq!(
        refused(changed),
        "refused: what is needed beside a tile is computed together with `b`, which others see\n"
    );
    let swept = "for k in [0, K) ascending:\n  for j in [0, J) parallel:\n    for i in [0, I) parallel:\n      t[i + 2, j + 2, k] = u[i + 2, j + 3, k]\n  for j in [0, J) parallel:\n    for i in [0, I) parallel:\n      u[i + 2, j + 2, k + 1] = t[i + 2, j + 2, k]\n  for j in [0, J) parallel:\n    for i in [0, I) parallel:\n      b[i, j, k] = t[i + 2, j + 2, k]\n";
    let whole = after(swept, |tree| in_tiles(tree, &Path::new(), (0, 1), 8));
    assert_eq!(whole, "refused: `u` is needed ever farther beside a tile\n");
}

#[test]
fn rows_run_as_far_ahead_as_those_behind_them_need() {
    let rows = stages("t[i + 2, j + 1, k] + t[i + 2, j + 3, k]");
    let in_rows = |tree: &mut Tree| roll::roll(tree, &first(&[0]), (0, 2), Axis::J);
    check(
        &rows,
        in_rows,
        &expect![[r#"
        for k in [0, K) parallel:
          for j_front in [-2, J) ascending:
            for j in [j_front + 1, j_front + 2) parallel:
              for i in [0, I) parallel:
                t[i + 2, j + 2, k] = a[i + 2, j + 2, k]
            for j in [max(0, j_front), j_front + 1) parallel:
              for i in [0, I) parallel:
                b[i, j, k] = t[i + 2, j + 1, k] + t[i + 2, j + 3, k]
    "#]],
    );
    // Of all rows that have an index, those that are needed at a time have a place.
    let with_ring = |tree: &mut Tree| {
        in_rows(tree)?;
        let t = tree.containers.find(|it| it.name == "t").expect("it is there");
        contract::contract(tree, &first(&[0]), t, AccessPaths::of(tree).paths(t))
    };
    assert!(
        after(&rows, with_ring)
            .starts_with("temporary t: float64[I + 4, J + 4] shift [2, 2] along IJ in k keeping 4 along J\n")
    );
    // Values that are used up before the front goes on belong to each row.
    let own = |loops: &str| {
        let mut tree = tree(loops);
        in_rows(&mut tree).expect("rows may follow each other");
        after(&body_of(&tree), |tree| {
            let t = tree.containers.find(|it| it.name == "t").expect("it is there");
            contract::contract(tree, &first(&[0, 0]), t, AccessPaths::of(tree).paths(t))
        })
    };
    assert_eq!(own(&rows), "refused: `t` hands values from one iteration over `j_front` to the next\n");
    let at_the_point = own(&stages("t[i + 2, j + 2, k]"));
    assert!(at_the_point.starts_with("temporary t: float64[I + 4] shift [2] along I in j_front\n"));
}

#[test]
fn of_levels_that_one_sweep_writes_and_reads_two_have_a_place() {
    let is_kept = |range: &str, order: &str, body: &str| {
        let loops = format!(
            "for j in [0, J) parallel:
  for k in [K - 1, K) descending:
    for i in [0, I) parallel:
      t[i + 2, j + 2, k] = a[i + 2, j + 2, k]
  for k in {range} {order}:
    for i in [0, I) parallel:
{body}"
        );
        let found = after(&loops, |tree| {
            let t = tree.containers.find(|it| it.name == "t").expect("it is there");
            contract::contract(tree, &first(&[0]), t, AccessPaths::of(tree).paths(t))
        });
        let kept = "temporary t: float64[I + 4, K] shift [2, 0] along IK in j";
        assert!(found.starts_with(kept), "{found}");
        found.starts_with(&format!("{kept} keeping 2 along K\n"))
    };
    let write = "      t[i + 2, j + 2, k] = t[i + 2, j + 2, k + 1] + 1.0\n";
    let read = "      b[i, j, k] = t[i + 2, j + 2, k]\n";
    let both = format!("{write}{read}");
    assert!(is_kept("[0, K - 1)", "descending", &both));
    // Levels are missing between both loops, or the second turns round.
    assert!(!is_kept("[0, K - 2)", "descending", &both));
    assert!(!is_kept("[0, K - 1)", "ascending", &both));
    // A level is read that is farther away, before it is written, or written at some points only.
    assert!(!is_kept("[0, K - 2)", "descending", &both.replace("k + 1", "k + 2")));
    assert!(!is_kept("[0, K - 1)", "descending", &format!("{read}{write}")));
    let guarded = format!("      if b[i, j, k] > 0.0:\n  {write}{read}");
    assert!(!is_kept("[0, K - 1)", "descending", &guarded));
    // The point beside the last one is read, which one level has and the next one has not.
    let apart = |points: &str| format!("{write}    for i in {points} parallel:\n{read}");
    assert!(is_kept("[0, K - 1)", "descending", &apart("[0, I)")));
    assert!(!is_kept("[0, K - 1)", "descending", &apart("[0, I + 1)")));
}

#[test]
fn the_lead_of_a_row_keeps_every_order_of_a_write_with_another_access() {
    let at = |place: &str, j: i64| format!("{place}[i + 2, j + {}, k]", 2 + j);
    let lead = |one: &str, two: &str| {
        let loops = format!(
            "for k in [0, K) parallel:\n  for j in [0, J) parallel:\n    for i in [0, I) parallel:\n      {one}\n  for j in [0, J) parallel:\n    for i in [0, I) parallel:\n      {two}\n"
        );
        let tree = tree(&loops);
        let nodes = tree.block(&[0]).expect("it is there");
        roll::plan(&tree, nodes, Axis::J).map(|it| it.stages[0].ahead)
    };
    for one in [-1, 0, 1] {
        for other in [-1, 0, 1] {
            let expected = Ok((other - one).max(0));
            let write = |j| format!("{} = 1.0", at("t", j));
            let read = |j| format!("b[i, j, k] = {}", at("t", j));
            let keep = |j| format!("u[i + 2, j + 2, k] = {}", at("t", j));
            assert_eq!(lead(&write(one), &read(other)), expected, "RAW {one} {other}");
            assert_eq!(lead(&keep(one), &write(other)), expected, "WAR {one} {other}");
            assert_eq!(lead(&write(one), &write(other)), expected, "WAW {one} {other}");
        }
    }
    let reason =
        lead("t[i + 2, j + 2, k] = 1.0", "b[i, j, k] = t[i + 2, 1, k]").expect_err("any row is read");
    assert_eq!(reason.reason, "`t` is touched in any order along J");
    assert_eq!(lead("t[i + 2, 0, k] = 1.0", "b[i, j, k] = t[i + 2, 1, k]"), Ok(0), "numbers tell them apart");
}

#[test]
fn what_is_no_row_after_row_does_not_roll() {
    let refused = |loops: &str, outer: &[usize], n| {
        after(loops, |tree| roll::roll(tree, &first(outer), (0, n), Axis::J))
    };
    let two = nest("[0, K)", "parallel", "t[i + 2, j + 2, k] = 1.0")
        + &nest("[0, K)", "parallel", "b[i, j, k] = t[i + 2, j + 3, k]");
    assert_eq!(refused(&two, &[], 2), "refused: a loop stands around that over `j`\n");
    assert_eq!(refused(&two, &[0], 1), "refused: it is one loop\n");
    let rows = stages("t[i + 2, j + 1, k]");
    let mut tree = tree(&rows);
    roll::roll(&mut tree, &first(&[0]), (0, 2), Axis::J).expect("rows may follow each other");
    let twice = refused(&body_of(&tree), &[0], 1);
    assert_eq!(twice, "refused: a loop over `j_front` stands inside already\n");
}
