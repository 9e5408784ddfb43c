//! The results and the refusals of each transformation; each result is a valid tree.

mod merging;
mod recomputing;
mod tiles;

use expect_test::{Expect, expect};

use super::merge::merge;
use super::{
    Path, Refusal, contract, copy, distribute, peel, placement, recompute, roll, split, swap, tile, unit,
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
pub(super) fn after(loops: &str, transform: impl FnOnce(&mut Tree) -> Result<(), Refusal>) -> String {
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

pub(super) fn first(at: &[usize]) -> Path {
    at.to_vec()
}

/// Two stages in one loop over levels. The second writes `reads`, which reads values of the first.
fn stages(reads: &str) -> String {
    format!(
        "for k in [0, K) parallel:\n  for j in [-1, J + 1) parallel:\n    for i in [0, I) parallel:\n      t[i + 2, j + 2, k] = a[i + 2, j + 2, k]\n  for j in [0, J) parallel:\n    for i in [0, I) parallel:\n      b[i, j, k] = {reads}\n"
    )
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
    // A part without an iteration on any domain is none.
    for beside in [Affine::constant(-2), Affine::constant(0), Affine::beside(&k, 1)] {
        assert_eq!(at("parallel", beside), "");
    }
}

/// Loops over some rows. In each row, a loop along it hands a row of `t` to the next one.
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
fn pieces_keep_the_locals_that_they_read() {
    // The second value is read at the end of the row alone, the first at its start. A `while` reads values
    // for its next iteration too.
    check(
        "local x: float64\nlocal y: float64\nfor k in [0, K) parallel:\n  for j in [0, J) parallel:\n    for i in [0, I) parallel:\n      x = a[i, j, k]\n      region i[start, start+1) j[, ):\n        b[i, j, k] = x\n      x = a[i + 1, j, k]\n      y = 2.0\n      region i[end-1, end) j[, ):\n        y = 3.0\n        while y > x:\n          b[i, j, k] = x + y\n          y = y - 1.0\n",
        |tree| peel::peel_regions(tree, &first(&[0, 0, 0])),
        &expect![[r#"
            local x: float64
            local y: float64

            for k in [0, K) parallel:
              for j in [0, J) parallel:
                for i in [0, 1) parallel:
                  x = a[i, j, k]
                  b[i, j, k] = x
                  x = a[i + 1, j, k]
                  region i[end-1, ) j[, ):
                    y = 3.0
                    while y > x:
                      b[i, j, k] = x + y
                      y = y - 1.0
                for i in [max(I - 1, 1), I) parallel:
                  x = a[i + 1, j, k]
                  y = 3.0
                  while y > x:
                    b[i, j, k] = x + y
                    y = y - 1.0
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
fn loops_that_are_placed_differently_stay_apart() {
    let loops = "threads j in [0, J) parallel:\n  for i in [0, I) parallel:\n    b[i, j, 0] = 1.0\n\n\
                 for j in [0, J) parallel:\n  threads i in [0, I) parallel:\n    b[i, j, 1] = 2.0\n";
    assert_eq!(
        after(loops, |tree| merge(tree, &first(&[0]), Ranges::Equal)),
        "refused: the loop before it is placed elsewhere\n"
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
