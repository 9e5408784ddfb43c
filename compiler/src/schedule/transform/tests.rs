//! What each transformation makes, and what it refuses; each outcome also runs, and gives what the tree gave before.

use expect_test::{Expect, expect};

use super::merge::merge;
use super::{
    Path, Refusal, contract, copy, distribute, peel, placement, recompute, repeat, roll, split, swap, tile,
    unit,
};
use crate::schedule::analysis::accesses::{AccessPaths, Accesses};
use crate::schedule::nodes::{Node, Placement, Tree};
use crate::schedule::parse::parse;
use crate::schedule::print::listing;
use crate::schedule::step::Ranges;
use crate::schedule::validate::validate;
use crate::space::{Affine, Axis, Symbol};

const FIELDS: &str = "\
schedule test
field a: float64[I + 4, J + 4, K] shift [2, 2, 0] read
field b: float64[I, J, K] shift [0, 0, 0] read-write
field p: float64[I, J] shift [0, 0] read-write
field n: int64[I, J] shift [0, 0] read
temporary t: float64[I + 4, J + 4, K] shift [2, 2, 0] heap
temporary u: float64[I + 4, J + 4, K] shift [2, 2, 0] heap
local c: float64
";

fn tree(loops: &str) -> Tree {
    let tree = parse(&format!("{FIELDS}{loops}")).expect("the text is a schedule tree");
    assert_eq!(validate(&tree), Vec::<String>::new(), "before");
    tree
}

/// The loops of a tree as text.
fn body_of(tree: &Tree) -> String {
    let text = listing(tree).text;
    let (_, loops) = text.split_once("\n\n").expect("loops stand behind a line of their own");
    format!("{loops}\n")
}

/// The tree behind its declarations of fields, or the reason.
fn after(loops: &str, transform: impl FnOnce(&mut Tree) -> Result<(), Refusal>) -> String {
    let mut tree = tree(loops);
    let before = listing(&tree).text;
    match transform(&mut tree) {
        Ok(()) => {
            assert_eq!(validate(&tree), Vec::<String>::new(), "after");
            let text = listing(&tree).text;
            let changed = text.lines().filter(|line| !FIELDS.lines().any(|it| it == *line));
            changed.skip_while(|it| it.is_empty()).map(|it| format!("{it}\n")).collect()
        }
        Err(refusal) => {
            assert_eq!(listing(&tree).text, before, "what is refused is left as it is");
            format!("refused: {refusal}\n")
        }
    }
}

fn check(loops: &str, transform: impl FnOnce(&mut Tree) -> Result<(), Refusal>, expected: &Expect) {
    expected.assert_eq(&after(loops, transform));
}

fn nest(range: &str, order: &str, body: &str) -> String {
    format!(
        "for k in {range} {order}:\n  for j in [0, J) parallel:\n    for i in [0, I) parallel:\n      {body}\n"
    )
}

fn first(at: &[usize]) -> Path {
    at.to_vec()
}

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
    // What the first does at `one` levels ahead, and the second at `other`: legal where no element is touched
    // in another order than before.
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

/// Two loops over a row, of which the one does `one` at i and the other reads it, merged on the domain.
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
fn loops_change_places_where_the_rows_of_a_sweep_are_independent() {
    check(
        &nest("[1, K)", "ascending", "t[i + 2, j + 2, k] = t[i + 2, j + 2, k - 1]"),
        |tree| swap::swap(tree, &first(&[0])),
        &expect![[r#"
            for j in [0, J) parallel:
              for k in [1, K) ascending:
                for i in [0, I) parallel:
                  t[i + 2, j + 2, k] = t[i + 2, j + 2, k - 1]
        "#]],
    );
    check(
        &nest("[1, K)", "ascending", "t[i + 2, j + 2, k] = t[i + 2, j + 3, k - 1]"),
        |tree| swap::swap(tree, &first(&[0])),
        &expect![[r#"
            refused: `t` is touched in several iterations over `j` of one sweep over `k`
        "#]],
    );
    // Iterations without an order may be interleaved in any way.
    let parallel = nest("[0, K)", "parallel", "b[i, j, k] = a[i, j + 2, k] + a[i + 2, j, k]");
    assert!(after(&parallel, |tree| swap::swap(tree, &first(&[0]))).starts_with("for j in"));
    assert!(
        after(&parallel, |tree| swap::swap(tree, &first(&[0, 0])))
            .contains("  for i in [0, I) parallel:\n    for j")
    );
}

const SWEEP_OF_TWO: &str = "\
for k in [1, K) ascending:
  for j in [0, J) parallel:
    for i in [0, I) parallel:
      t[i + 2, j + 2, k] = FIRST
  for j in [0, J) parallel:
    for i in [0, I) parallel:
      b[i, j, k] = t[i + 2, j + 2, k]
";

#[test]
fn a_sweep_is_cut_where_nothing_comes_back_from_the_second_part() {
    let cut = |first_value: &str| {
        after(&SWEEP_OF_TWO.replace("FIRST", first_value), |tree| {
            distribute::distribute(tree, &first(&[0]), 1)
        })
    };
    expect![[r#"
        for k in [1, K) ascending:
          for j in [0, J) parallel:
            for i in [0, I) parallel:
              t[i + 2, j + 2, k] = t[i + 2, j + 2, k - 1]
        for k in [1, K) ascending:
          for j in [0, J) parallel:
            for i in [0, I) parallel:
              b[i, j, k] = t[i + 2, j + 2, k]
    "#]]
    .assert_eq(&cut("t[i + 2, j + 2, k - 1]").replace("\n\n", "\n"));
    assert_eq!(cut("b[i, j, k - 1]"), "refused: `b` goes from one iteration over `k` to the next\n");
    let with_local = "for k in [0, K) parallel:\n  for j in [0, J) parallel:\n    for i in [0, I) parallel:\n      c = 1.0\n      b[i, j, k] = c\n";
    assert_eq!(
        after(with_local, |tree| distribute::distribute(tree, &first(&[0, 0, 0]), 1)),
        "refused: `c` lives in an iteration over `i`\n"
    );
}

#[test]
fn a_loop_is_split_within_its_range() {
    let at = |order: &str, position: Affine| {
        let text = after(&nest("[0, K)", order, "b[i, j, k] = 1.0"), |tree| {
            split::split(tree, &first(&[0]), &position)
        });
        text.lines().filter(|it| it.starts_with("for")).map(|it| format!("{it} ")).collect::<String>()
    };
    let k = Symbol::new("K");
    assert_eq!(at("parallel", Affine::constant(1)), "for k in [0, 1) parallel: for k in [1, K) parallel: ");
    assert_eq!(
        at("ascending", Affine::beside(&k, -1)),
        "for k in [0, K - 1) ascending: for k in [K - 1, K) ascending: "
    );
    assert_eq!(
        at("descending", Affine::beside(&k, -1)),
        "for k in [K - 1, K) descending: for k in [0, K - 1) descending: "
    );
    // A domain may have fewer levels.
    assert_eq!(
        at("parallel", Affine::constant(3)),
        "for k in [0, min(3, K)) parallel: for k in [min(3, K), K) parallel: "
    );
}

/// Loops over some rows, of which each hands a row of `t` from one loop along it to the next.
fn rows(range: &str) -> String {
    format!(
        "for k in [0, K) parallel:
  for j in {range} parallel:
    for i in [0, I) parallel:
      t[i + 2, j + 2, k] = a[i + 2, j + 2, k]
    for i in [0, I) parallel:
      b[i, j, k] = t[i + 2, j + 2, k]
"
    )
}

/// Gives each row its own `t`.
fn with_rows_of_their_own(tree: &mut Tree) -> Result<(), Refusal> {
    let t = tree.containers.find(|it| it.name == "t").expect("it is there");
    let uses = AccessPaths::of(tree);
    contract::contract(tree, &first(&[0, 0]), t, uses.paths(t))
}

#[test]
fn what_lives_in_an_iteration_lives_in_those_of_each_part_of_its_loop() {
    check(
        &rows("[0, J)"),
        |tree| {
            with_rows_of_their_own(tree)?;
            split::split(tree, &first(&[0, 0]), &Affine::constant(1))
        },
        &expect![[r#"
            temporary t: float64[I + 4] shift [2] along I in j

            for k in [0, K) parallel:
              for j in [0, 1) parallel:
                for i in [0, I) parallel:
                  t[i + 2] = a[i + 2, j + 2, k]
                for i in [0, I) parallel:
                  b[i, j, k] = t[i + 2]
              for j in [1, J) parallel:
                for i in [0, I) parallel:
                  t[i + 2] = a[i + 2, j + 2, k]
                for i in [0, I) parallel:
                  b[i, j, k] = t[i + 2]
        "#]],
    );
}

#[test]
fn what_lives_in_an_iteration_lives_in_that_around_where_there_is_no_other() {
    check(
        &rows("[0, 1)"),
        |tree| {
            with_rows_of_their_own(tree)?;
            unit::drop_unit_loop(tree, &first(&[0, 0]))
        },
        &expect![[r#"
            temporary t: float64[I + 4] shift [2] along I in k

            for k in [0, K) parallel:
              for i in [0, I) parallel:
                t[i + 2] = a[i + 2, 2, k]
              for i in [0, I) parallel:
                b[i, 0, k] = t[i + 2]
        "#]],
    );
}

#[test]
fn loops_inside_are_bounded_by_the_part_that_is_left() {
    check(
        &stages("t[i + 2, j + 1, k] + t[i + 2, j + 3, k]"),
        |tree| {
            roll::roll(tree, &first(&[0]), (0, 2), Axis::J)?;
            split::split(tree, &first(&[0, 0]), &Affine::constant(0))
        },
        &expect![[r#"
            for k in [0, K) parallel:
              for j_front in [-2, 0) ascending:
                for j in [j_front + 1, j_front + 2) parallel:
                  for i in [0, I) parallel:
                    t[i + 2, j + 2, k] = a[i + 2, j + 2, k]
              for j_front in [0, J) ascending:
                for j in [j_front + 1, j_front + 2) parallel:
                  for i in [0, I) parallel:
                    t[i + 2, j + 2, k] = a[i + 2, j + 2, k]
                for j in [j_front, j_front + 1) parallel:
                  for i in [0, I) parallel:
                    b[i, j, k] = t[i + 2, j + 1, k] + t[i + 2, j + 3, k]
        "#]],
    );
}

#[test]
fn what_a_sweep_writes_and_reads_again_has_a_copy() {
    let sweep = |body: &str| {
        format!(
            "for j in [0, J) parallel:
  for k in [0, 1) ascending:
    for i in [0, I) parallel:
      b[i, j, k] = a[i + 2, j + 2, k]
  for k in [1, K) ascending:
    for i in [0, I) parallel:
{body}"
        )
    };
    let copied = |loops: &str| {
        after(loops, |tree| {
            let b = tree.containers.find(|it| it.name == "b").expect("it is there");
            copy::copy_results(tree, &first(&[0]), b)
        })
    };
    let found = copied(&sweep("      b[i, j, k] = b[i, j, k - 1] + a[i + 2, j + 2, k]\n"));
    expect![[r#"
        temporary b_1: float64[I, J, K] shift [0, 0, 0] heap

        for j in [0, J) parallel:
          for k in [0, 1) ascending:
            for i in [0, I) parallel:
              b_1[i, j, k] = a[i + 2, j + 2, k]
              b[i, j, k] = b_1[i, j, k]
          for k in [1, K) ascending:
            for i in [0, I) parallel:
              b_1[i, j, k] = b_1[i, j, k - 1] + a[i + 2, j + 2, k]
              b[i, j, k] = b_1[i, j, k]
    "#]]
    .assert_eq(&found);
    for (body, reason) in [
        ("b[i, j, k] = a[i + 2, j + 2, k]", "`b` is read at the level at hand alone"),
        ("b[i, j, k] = b[i, j, k - 2]", "`b` is no result of one sweep that it reads again"),
        ("b[i, j, k] = b[i, j, k - 1] + b[i, j, k]", "`b` is no result of one sweep that it reads again"),
        ("b[i, j, k] = b[i + 1, j, k - 1]", "`b` is no result of one sweep that it reads again"),
        ("b[i, j, k] = b[i, j, {n[i, j]}]", "`b` is touched where only the run tells"),
        ("if a[i, j, k] > 0.0:\n        b[i, j, k] = b[i, j, k - 1]", "`b` is written under a condition"),
    ] {
        assert_eq!(copied(&sweep(&format!("      {body}\n"))), format!("refused: {reason}\n"), "{body}");
    }
    let planes = nest("[0, K)", "ascending", "p[i, j] = 1.0");
    let p = after(&planes, |tree| {
        let p = tree.containers.find(|it| it.name == "p").expect("it is there");
        copy::copy_results(tree, &first(&[0]), p)
    });
    assert_eq!(p, "refused: `p` is no field of three dimensions that is written\n");
}

#[test]
fn regions_become_pieces_and_small_domains_keep_their_tests() {
    check(
        "for k in [0, K) parallel:\n  for j in [0, J) parallel:\n    for i in [0, I) parallel:\n      b[i, j, k] = 0.0\n      region i[start, start+1) j[, ):\n        b[i, j, k] = 1.0\n      region i[end-2, end) j[start, start+1):\n        b[i, j, k] = 2.0\n",
        |tree| peel::peel_regions(tree, &first(&[0, 0, 0])),
        &expect![[r#"
            for k in [0, K) parallel:
              for j in [0, J) parallel:
                for i in [0, 1) parallel:
                  b[i, j, k] = 0.0
                  b[i, j, k] = 1.0
                  region i[end-2, ) j[start, start+1):
                    b[i, j, k] = 2.0
                for i in [1, max(I - 2, 1)) parallel:
                  b[i, j, k] = 0.0
                for i in [max(I - 2, 1), I) parallel:
                  b[i, j, k] = 0.0
                  region i[, ) j[start, start+1):
                    b[i, j, k] = 2.0
        "#]],
    );
}

#[test]
fn a_loop_that_runs_once_goes_where_nobody_asks_for_its_position() {
    check(
        &nest("[K - 1, K)", "ascending", "b[i, j, k] = t[i + 2, j + 2, k - 1]"),
        |tree| unit::drop_unit_loop(tree, &first(&[0])),
        &expect![[r#"
            for j in [0, J) parallel:
              for i in [0, I) parallel:
                b[i, j, K - 1] = t[i + 2, j + 2, K - 2]
        "#]],
    );
    for (range, body, reason) in [
        ("[K - 2, K)", "b[i, j, k] = 1.0", "the loop over `k` may have several iterations"),
        ("[0, 1)", "b[i, j, k] = float64(k)", "the position `k` itself is asked for inside"),
        ("[0, 1)", "b[i, j, k] = a[i, j, {n[i, j]}]", "the position `k` itself is asked for inside"),
    ] {
        let found = after(&nest(range, "parallel", body), |tree| unit::drop_unit_loop(tree, &first(&[0])));
        assert_eq!(found, format!("refused: {reason}\n"));
    }
}

/// Two stages in one loop over levels, of which the second reads `reads` of what the first makes.
fn stages(reads: &str) -> String {
    format!(
        "for k in [0, K) parallel:\n  for j in [-1, J + 1) parallel:\n    for i in [0, I) parallel:\n      t[i + 2, j + 2, k] = a[i + 2, j + 2, k]\n  for j in [0, J) parallel:\n    for i in [0, I) parallel:\n      b[i, j, k] = {reads}\n"
    )
}

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
    // What is computed again must not read what another tile may have changed.
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
    // What is done with before the front goes on is each row's own.
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

#[test]
fn an_array_is_contracted_where_no_iteration_sees_what_another_left() {
    let rows = "for j in [0, J) parallel:\n  for k in [1, K) ascending:\n    for i in [0, I) parallel:\n      t[i + 2, j + 2, k] = VALUE\n      b[i, j, k] = t[i + 2, j + 2, k]\n";
    let contracted = |value: &str, at: &[usize]| {
        let at = first(at);
        after(&rows.replace("VALUE", value), |tree| {
            let t = tree.containers.find(|it| it.name == "t").expect("it is there");
            contract::contract(tree, &at, t, AccessPaths::of(tree).paths(t))
        })
    };
    assert!(
        contracted("1.0", &[0]).starts_with("temporary t: float64[I + 4, K] shift [2, 0] along IK in j\n")
    );
    assert!(contracted("1.0", &[0, 0]).starts_with("temporary t: float64[I + 4] shift [2] along I in k\n"));
    assert!(contracted("1.0", &[0, 0, 0]).starts_with("local t: float64\n"), "a value in a register");
    let carried = "t[i + 2, j + 2, k - 1] + 1.0";
    assert!(
        contracted(carried, &[0]).starts_with("temporary t: float64[I + 4, K]"),
        "a row has all its levels"
    );
    assert_eq!(
        contracted(carried, &[0, 0]),
        "refused: `t` hands values from one iteration over `k` to the next\n"
    );
    assert_eq!(
        contracted("t[i + 2, j + 3, k]", &[0]),
        "refused: `t` is touched in several iterations over `j`\n"
    );
    let refused = |name: &str| {
        after(&rows.replace("VALUE", "1.0"), |tree| {
            let it = tree.containers.find(|it| it.name == name).expect("it is there");
            contract::contract(tree, &first(&[0]), it, AccessPaths::of(tree).paths(it))
        })
    };
    assert_eq!(refused("b"), "refused: `b` is no temporary\n");
    assert_eq!(refused("u"), "refused: `u` is used outside of the loop over `j`\n");
}

#[test]
fn only_what_has_no_order_is_given_to_several() {
    let placed = |loops: &str, at: &[&[usize]], placements: &[Placement]| {
        after(loops, |tree| {
            at.iter().zip(placements).try_for_each(|(at, it)| placement::place(tree, &first(at), *it))
        })
    };
    let sweep = nest("[1, K)", "ascending", "b[i, j, k] = b[i, j, k - 1]");
    assert_eq!(placed(&sweep, &[&[0]], &[Placement::Threads]), "refused: the loop over `k` has an order\n");
    let parallel = nest("[0, K)", "parallel", "b[i, j, k] = a[i, j, k]");
    let gpu = placed(
        &parallel,
        &[&[0], &[0, 0], &[0, 0, 0]],
        &[Placement::Grid, Placement::Grid, Placement::Block],
    );
    assert!(
        gpu.starts_with("grid k in [0, K) parallel:\n  grid j in [0, J) parallel:\n    block i in [0, I)"),
        "{gpu}"
    );
    assert_eq!(
        placed(&parallel, &[&[0, 0, 0]], &[Placement::Block]),
        "refused: no loop around is given to a grid\n"
    );
    let searched = nest("[0, K)", "parallel", "b[i, j, k] = a[i, j, {n[i, j]}]");
    assert_eq!(
        placed(&searched, &[&[0, 0, 0]], &[Placement::Simd]),
        "refused: a statement inside may end the run\n"
    );
}

#[test]
fn a_place_is_found_through_loops_and_limits() {
    let tree = tree(
        "for k in [0, K) parallel:\n  where k in [1, K):\n    for j in [0, J) parallel:\n      for i in [0, I) parallel:\n        b[i, j, k] = 1.0\n",
    );
    let mut found = Vec::new();
    tree.each_loop(&mut |path, it| found.push((it.variable.to_string(), path.clone())));
    assert_eq!(
        found,
        [("k".to_owned(), vec![0]), ("j".to_owned(), vec![0, 0, 0]), ("i".to_owned(), vec![0, 0, 0, 0])]
    );
    assert!(matches!(tree.node(&[0, 0]), Some(Node::Where(_))));
    assert!(tree.loop_at(&first(&[0, 0])).is_none());
}

fn plane(i: &str, j: &str, body: &str) -> String {
    format!("  for j in {j} parallel:\n    for i in {i} parallel:\n      {body}\n")
}

fn recomputed(nests: &[String]) -> String {
    let loops = format!("for k in [0, K) parallel:\n{}", nests.concat());
    let n = nests.len();
    after(&loops, |tree| {
        let counts = Accesses::of(&tree.children).counts();
        recompute::recompute(tree, &first(&[0]), (0, n), &counts).map(drop)
    })
}

#[test]
fn a_position_computes_what_it_reads_at_each_offset() {
    let wide = "[-1, I + 1)";
    let nests = [
        plane(wide, "[0, J)", "t[i + 2, j + 2, k] = a[i + 3, j + 2, k] - a[i + 1, j + 2, k]"),
        plane(wide, "[0, J)", "u[i + 2, j + 2, k] = t[i + 2, j + 2, k] * 2.0"),
        plane("[0, I)", "[0, J)", "b[i, j, k] = u[i + 3, j + 2, k] - u[i + 1, j + 2, k] + b[i, j, k]"),
    ];
    expect![[r#"
        local t: float64
        local u: float64
        local t_west: float64
        local t_east: float64
        local u_west: float64
        local u_east: float64

        for k in [0, K) parallel:
          for j in [0, J) parallel:
            for i in [0, I) parallel:
              t_west = a[i + 2, j + 2, k] - a[i, j + 2, k]
              t_east = a[i + 4, j + 2, k] - a[i + 2, j + 2, k]
              u_west = t_west * 2.0
              u_east = t_east * 2.0
              b[i, j, k] = u_east - u_west + b[i, j, k]
    "#]]
    .assert_eq(&recomputed(&nests));
}

#[test]
fn what_is_overwritten_or_used_elsewhere_is_not_computed_again() {
    let read = |field: &str| format!("t[i + 2, j + 2, k] = {field}");
    let plain = |body: &str| plane("[0, I)", "[0, J)", body);
    let of_t = "b[i, j, k] = t[i + 2, j + 2, k]";
    let beside = "b[i, j, k] = t[i + 3, j + 2, k]";
    let found = [
        [plain(&read("b[i + 1, j, k]")), plain(of_t)],
        [plain(&read("b[i, j, k]")), plain(of_t)],
        [plain(&read("b[i, j, k]")), plain(beside)],
        [plain("p[i, j] = 1.0"), plain(of_t)],
    ];
    let told: Vec<String> = found.iter().map(|it| recomputed(it)).collect();
    expect![[r#"
        refused: `b` is overwritten while others still read it

        local t: float64
        local t_here: float64

        for k in [0, K) parallel:
          for j in [0, J) parallel:
            for i in [0, I) parallel:
              t_here = b[i, j, k]
              b[i, j, k] = t_here

        refused: a loop over `i` has not all positions that are needed

        refused: `p` is used elsewhere
    "#]]
    .assert_eq(&told.join("\n"));
}

/// Sweeps of a column, of which the last one reads what the first one wrote.
fn sweeps(value: &str, levels: &str, read: &str) -> String {
    format!(
        "for j in [0, J) parallel:
  for i in [0, I) parallel:
    for k in {levels} ascending:
      u[i + 2, j + 2, k] = {value}
    for k in [0, K) descending:
      b[i, j, k] = {read}
"
    )
}

fn again(loops: &str, name: &str) -> String {
    let it = |tree: &mut Tree| {
        let found = tree.containers.find(|it| it.name == name).expect("it is declared");
        repeat::repeat(tree, &first(&[0, 0, 1]), found)
    };
    after(loops, it)
}

#[test]
fn a_later_sweep_computes_again_what_it_reads() {
    expect![[r#"
        local u_again: float64

        for j in [0, J) parallel:
          for i in [0, I) parallel:
            for k in [0, K) ascending:
              u[i + 2, j + 2, k] = a[i + 2, j + 2, k] * 2.0
            for k in [0, K) descending:
              u_again = a[i + 2, j + 2, k] * 2.0
              b[i, j, k] = u_again + p[i, j]
    "#]]
    .assert_eq(&again(&sweeps("a[i + 2, j + 2, k] * 2.0", "[0, K)", "u[i + 2, j + 2, k] + p[i, j]"), "u"));
    // What it is computed from comes along.
    let chain = "for j in [0, J) parallel:
  for i in [0, I) parallel:
    for k in [0, K) ascending:
      c = a[i + 2, j + 2, k] * 2.0
      t[i + 2, j + 2, k] = c + 1.0
      u[i + 2, j + 2, k] = t[i + 2, j + 2, k] / c
    for k in [1, K) descending:
      b[i, j, k] = u[i + 2, j + 2, k] + u[i + 2, j + 2, k - 1]
";
    expect![[r#"
        local c_again: float64
        local t_again: float64
        local u_again: float64
        local c_again_2: float64
        local t_again_2: float64
        local u_again_2: float64

        for j in [0, J) parallel:
          for i in [0, I) parallel:
            for k in [0, K) ascending:
              c = a[i + 2, j + 2, k] * 2.0
              t[i + 2, j + 2, k] = c + 1.0
              u[i + 2, j + 2, k] = t[i + 2, j + 2, k] / c
            for k in [1, K) descending:
              c_again = a[i + 2, j + 2, k - 1] * 2.0
              t_again = c_again + 1.0
              u_again = t_again / c_again
              c_again_2 = a[i + 2, j + 2, k] * 2.0
              t_again_2 = c_again_2 + 1.0
              u_again_2 = t_again_2 / c_again_2
              b[i, j, k] = u_again_2 + u_again
    "#]]
    .assert_eq(&again(chain, "u"));
}

#[test]
fn what_would_be_another_value_is_not_computed_again() {
    let plain = "a[i + 2, j + 2, k] * 2.0";
    let read = "u[i + 2, j + 2, k]";
    for (loops, reason) in [
        (sweeps("b[i, j, k] * 2.0", "[0, K)", read), "`b` is overwritten"),
        (sweeps("p[i, j] * 2.0", "[1, K)", read), "`u` is not computed at all levels before"),
        (sweeps(plain, "[0, K)", "u[i + 3, j + 2, k]"), "`u` is read beside the column"),
        (sweeps(plain, "[0, K - 1)", read), "`u` is not computed at all levels before"),
        (sweeps(plain, "[0, K)", "p[i, j]"), "`u` is not read there"),
        (sweeps("a[{n[i, j]}, j + 2, k]", "[0, K)", read), "`a` is read where only the run tells"),
        (
            sweeps(plain, "[0, K)", read) + "      u[i + 2, j + 2, k] = 1.0\n",
            "`u` is written in the loop itself",
        ),
        (
            sweeps(plain, "[0, K)", read).replace(
                "      u[i + 2, j + 2, k] = a",
                "      if p[i, j] > 0.0:\n        u[i + 2, j + 2, k] = 1.0\n      u[i + 2, j + 2, k] = a",
            ),
            "`u` is written under a condition",
        ),
        (
            sweeps(plain, "[0, K)", read).replace(
                "      u[i + 2, j + 2, k] = a",
                "      u[i + 2, j + 2, k] = 1.0\n      u[i + 2, j + 2, k] = a",
            ),
            "`u` is computed in several ways",
        ),
    ] {
        assert_eq!(again(&loops, "u"), format!("refused: {reason}\n"), "{loops}");
    }
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
