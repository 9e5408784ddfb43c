//! Maps that become one, and maps that stay two.

use expect_test::{Expect, expect};

use super::*;
use crate::samples::parsed;
use crate::sdfg::from_schedule::lower;
use crate::sdfg::nodes::{BlockKind, ControlFlowRegion};
use crate::sdfg::passes::tests::{after_graph, remarks_in};

const HEADER: &str = "\
schedule maps
field a: float64[I + 2, J, K] shift [1, 0, 0] read-write
field b: float64[I + 2, J, K] shift [1, 0, 0] read-write
field c: float64[I + 2, J, K] shift [1, 0, 0] read-write
field p: float64[I + 2, J] shift [1, 0] read-write
temporary t: float64[I + 2, J, K] shift [1, 0, 0] heap
local s: float64
";

/// Loops over these levels, one around each statement.
fn loops(parts: &[(&str, &str)]) -> String {
    let around = |(levels, it): &(&str, &str)| {
        let it = it.replace(';', "\n      ");
        format!(
            "for k in {levels} parallel:\n  for j in [0, J) parallel:\n    for i in [0, I) parallel:\n      {it}\n"
        )
    };
    HEADER.to_owned() + &parts.iter().map(around).collect::<String>()
}

fn all_levels(statements: &[&str]) -> String {
    loops(&statements.iter().map(|it| ("[0, K)", *it)).collect::<Vec<_>>())
}

/// The graph of a tree in one state, each map behind the one before it. No tree gives that graph, but a file
/// may hold it.
fn in_one_state(tree: &str) -> Sdfg {
    let mut graph = lower(&parsed(tree));
    let mut states = std::mem::take(&mut graph.region.blocks).into_iter();
    let mut whole = states.next().expect("there is a state");
    let BlockKind::State(all) = &mut whole.kind else { panic!("it is no state") };
    for block in states {
        let BlockKind::State(next) = block.kind else { panic!("it is no state") };
        let first = all.nodes.len();
        let moved = |it: Handle<Node>| Handle::new(it.index() + first);
        let maps =
            |of: &State| of.exits().filter(|(entry, _)| of.nodes[*entry].scope.is_none()).collect::<Vec<_>>();
        let last = maps(all).last().expect("there is a map").1;
        let entry = moved(maps(&next).first().expect("there is a map").0);
        for (_, node) in next.nodes.iter() {
            let mut node = node.clone();
            node.scope = node.scope.map(moved);
            if let NodeKind::MapExit { entry } = &mut node.kind {
                *entry = moved(*entry);
            }
            all.nodes.push(node);
        }
        for mut edge in next.edges {
            (edge.source, edge.target) = (moved(edge.source), moved(edge.target));
            all.edges.push(edge);
        }
        all.order(last, entry);
    }
    graph.region = ControlFlowRegion::sequence(vec![whole]);
    graph
}

fn check(tree: &str, expected: &Expect) {
    let found = after_graph(in_one_state(tree), fuse_maps);
    let kept = found.lines().skip_while(|it| !it.contains("inout p")).skip(1);
    expected.assert_eq(&kept.map(|it| format!("{it}\n")).collect::<String>());
}

/// The remarks.
fn told(tree: &str) -> String {
    remarks_in(&after_graph(in_one_state(tree), fuse_maps))
}

#[test]
fn what_the_next_map_reads_at_the_same_point_needs_no_array() {
    check(
        &all_levels(&["t[i + 1, j, k] = a[i, j, k] * 2.0", "b[i + 1, j, k] = t[i + 1, j, k] + 1.0"]),
        &expect![[r#"
              local t: float64
              n1: state state_0
                n2: map k in [0:K], j in [0:J], i in [0:I]
                  reads a[0:I, 0:J, 0:K]
                  writes b[1:I + 1, 0:J, 0:K]
                  n3: t = a[i, j, k] * 2.0
                  n4: b[i + 1, j, k] = t + 1.0
            applied: both maps touch `t`, and are one now
        "#]],
    );
}

#[test]
fn what_others_read_too_stays_an_array() {
    check(
        &all_levels(&[
            "t[i + 1, j, k] = a[i, j, k] * 2.0",
            "b[i + 1, j, k] = t[i + 1, j, k] + 1.0",
            "c[i + 1, j, k] = t[i, j, k]",
        ]),
        &expect![[r#"
              temporary t: float64[I + 2, J, K]
              n1: state state_0
                n2: map k in [0:K], j in [0:J], i in [0:I]
                  reads a[0:I, 0:J, 0:K]
                  writes t[1:I + 1, 0:J, 0:K], b[1:I + 1, 0:J, 0:K]
                  n3: t[i + 1, j, k] = a[i, j, k] * 2.0
                  n4: b[i + 1, j, k] = t[i + 1, j, k] + 1.0
                n5: map k in [0:K], j in [0:J], i in [0:I]
                  reads t[0:I, 0:J, 0:K]
                  writes c[1:I + 1, 0:J, 0:K]
                  n6: c[i + 1, j, k] = t[i, j, k]
            applied: both maps touch `t`, and are one now
            missed: both maps touch `t`, but stay two: in the second an iteration reads what another one of the first wrote, `t`
        "#]],
    );
}

#[test]
fn maps_that_read_the_same_become_one_whatever_stands_between() {
    check(
        &loops(&[
            ("[0, K)", "b[i + 1, j, k] = a[i, j, k]"),
            ("[0, 1)", "p[i + 1, j] = a[i, j, k]"),
            ("[0, K)", "c[i + 1, j, k] = a[i + 2, j, k]"),
        ]),
        &expect![[r#"
              n1: state state_0
                n2: map k in [0:K], j in [0:J], i in [0:I]
                  reads a[0:I + 2, 0:J, 0:K]
                  writes b[1:I + 1, 0:J, 0:K], c[1:I + 1, 0:J, 0:K]
                  n3: b[i + 1, j, k] = a[i, j, k]
                  n4: c[i + 1, j, k] = a[i + 2, j, k]
                n5: map k in [0:1], j in [0:J], i in [0:I]
                  reads a[0:I, 0:J, 0]
                  writes p[1:I + 1, 0:J]
                  n6: p[i + 1, j] = a[i, j, k]
            applied: both maps touch `a`, and are one now
            missed: both maps touch `a`, but stay two: they have other ranges
        "#]],
    );
}

#[test]
fn maps_inside_of_fused_maps_are_fused() {
    let nest = |it: &str| {
        format!(
            "threads k in [0, K) parallel:\n  for j in [0, J) parallel:\n    simd i in [0, I) parallel:\n      {it}\n"
        )
    };
    let tree = HEADER.to_owned()
        + &nest("t[i + 1, j, k] = a[i, j, k] * 2.0")
        + &nest("b[i + 1, j, k] = t[i + 1, j, k]");
    check(
        &tree,
        &expect![[r#"
          local t: float64
          n1: state state_0
            n2: map k in [0:K], threads
              reads a[0:I, 0:J, 0:K]
              writes b[1:I + 1, 0:J, 0:K]
              n3: map j in [0:J]
                reads a[0:I, 0:J, k]
                writes b[1:I + 1, 0:J, k]
                n4: map i in [0:I], simd
                  reads a[0:I, j, k]
                  writes b[1:I + 1, j, k]
                  n5: t = a[i, j, k] * 2.0
                  n6: b[i + 1, j, k] = t
        applied: both maps touch `t`, and are one now
        applied: both maps touch `t`, and are one now
        applied: both maps touch `t`, and are one now
    "#]],
    );
}

#[test]
fn what_is_overwritten_at_the_same_point_is_read_before() {
    check(
        &all_levels(&["b[i + 1, j, k] = a[i + 1, j, k]", "a[i + 1, j, k] = c[i + 1, j, k]"]),
        &expect![[r#"
          n1: state state_0
            n2: map k in [0:K], j in [0:J], i in [0:I]
              reads a[1:I + 1, 0:J, 0:K], c[1:I + 1, 0:J, 0:K]
              writes b[1:I + 1, 0:J, 0:K], a[1:I + 1, 0:J, 0:K]
              n3: b[i + 1, j, k] = a[i + 1, j, k]
              n4: a[i + 1, j, k] = c[i + 1, j, k]
        applied: both maps touch `a`, and are one now
    "#]],
    );
}

#[test]
fn the_later_of_two_writes_of_a_point_stays_the_later() {
    check(
        &all_levels(&["b[i + 1, j, k] = a[i + 1, j, k]", "b[i + 1, j, k] = a[i + 1, j, k] + 1.0"]),
        &expect![[r#"
              n1: state state_0
                n2: map k in [0:K], j in [0:J], i in [0:I]
                  reads a[1:I + 1, 0:J, 0:K]
                  writes b[1:I + 1, 0:J, 0:K]
                  n3: b[i + 1, j, k] = a[i + 1, j, k]
                  n4: b[i + 1, j, k] = a[i + 1, j, k] + 1.0
            applied: both maps touch `a`, and are one now
        "#]],
    );
}

#[test]
fn a_value_of_each_iteration_may_have_one_name_in_both() {
    check(
        &all_levels(&[
            "s = a[i + 1, j, k];b[i + 1, j, k] = s",
            "s = a[i + 1, j, k] * 2.0;c[i + 1, j, k] = s",
        ]),
        &expect![[r#"
              local s: float64
              local s_1: float64
              n1: state state_0
                n2: map k in [0:K], j in [0:J], i in [0:I]
                  reads a[1:I + 1, 0:J, 0:K]
                  writes b[1:I + 1, 0:J, 0:K], c[1:I + 1, 0:J, 0:K]
                  n3: s = a[i + 1, j, k]
                  n4: b[i + 1, j, k] = s
                  n5: s_1 = a[i + 1, j, k] * 2.0
                  n6: c[i + 1, j, k] = s_1
            applied: both maps touch `a`, and are one now
        "#]],
    );
}

#[test]
fn neighbours_that_the_first_writes_are_not_read_too_early() {
    let tree = all_levels(&["t[i + 1, j, k] = a[i, j, k]", "b[i + 1, j, k] = t[i + 2, j, k]"]);
    expect!["missed: both maps touch `t`, but stay two: in the second an iteration reads what another one of the first wrote, `t`"].assert_eq(&told(&tree));
}

#[test]
fn neighbours_that_the_first_reads_are_not_overwritten_too_early() {
    let tree = all_levels(&["b[i + 1, j, k] = a[i + 2, j, k]", "a[i + 1, j, k] = c[i, j, k]"]);
    expect!["missed: both maps touch `a`, but stay two: in the second an iteration overwrites what another one of the first reads, `a`"].assert_eq(&told(&tree));
}

#[test]
fn neighbours_that_the_first_writes_are_not_overwritten_too_early() {
    let tree = all_levels(&["b[i + 1, j, k] = a[i + 1, j, k]", "b[i, j, k] = a[i, j, k]"]);
    expect!["missed: both maps touch `a`, but stay two: in the second an iteration overwrites what another one of the first wrote, `b`"].assert_eq(&told(&tree));
}

#[test]
fn a_plane_that_every_level_meets_keeps_maps_apart() {
    let tree = loops(&[("[0, 1)", "p[i + 1, j] = a[i, j, k]"), ("[0, 1)", "b[i + 1, j, k] = p[i + 1, j]")]);
    expect!["missed: both maps touch `p`, but stay two: in the second an iteration reads what another one of the first wrote, `p`"].assert_eq(&told(&tree));
}

#[test]
fn parts_that_do_not_meet_are_no_obstacle() {
    let tree =
        all_levels(&["p[0, j] = 1.0;b[i + 1, j, k] = a[i, j, k]", "c[i + 1, j, k] = a[i, j, k] + p[1, j]"]);
    expect!["applied: both maps touch `a`, and are one now"].assert_eq(&told(&tree));
}

#[test]
fn the_first_statement_that_ends_the_run_stays_the_first() {
    let tree = all_levels(&["b[i + 1, j, k] = a[i, j, k]", "c[i + 1, j, k] = a[i, j, {k + 1}]"]);
    expect!["missed: both maps touch `a`, but stay two: a statement may end the run, and the first of several must stay the first"].assert_eq(&told(&tree));
}

#[test]
fn other_ranges_stay_apart() {
    let tree = loops(&[("[0, K)", "b[i + 1, j, k] = a[i, j, k]"), ("[1, K)", "c[i + 1, j, k] = a[i, j, k]")]);
    expect!["missed: both maps touch `a`, but stay two: they have other ranges"].assert_eq(&told(&tree));
}

#[test]
fn what_needs_the_first_and_is_needed_by_the_second_stays_between() {
    let tree = loops(&[
        ("[0, K)", "t[i + 1, j, k] = a[i, j, k]"),
        ("[0, 1)", "p[i + 1, j] = t[i + 2, j, k]"),
        ("[0, K)", "b[i + 1, j, k] = t[i + 1, j, k] + p[i + 1, j]"),
    ]);
    let tree = tree.replacen("for k in [0, 1)", "threads k in [0, 1)", 1);
    expect!["missed: both maps touch `t`, but stay two: something between them needs the first and is needed by the second"].assert_eq(&told(&tree));
}

#[test]
fn maps_that_have_nothing_in_common_stay_as_they_are() {
    let tree = all_levels(&["b[i + 1, j, k] = a[i, j, k]", "c[i + 1, j, k] = 2.0"]);
    expect![""].assert_eq(&told(&tree));
}

#[test]
fn another_schedule_is_another_map() {
    let tree = all_levels(&["b[i + 1, j, k] = a[i, j, k]", "c[i + 1, j, k] = a[i, j, k]"]);
    let tree = tree.replacen("for k", "threads k", 1);
    expect![""].assert_eq(&told(&tree));
}

#[test]
fn what_somebody_keeps_apart_stays_apart() {
    let tree = all_levels(&["b[i + 1, j, k] = a[i, j, k]", "c[i + 1, j, k] = a[i, j, k]"]);
    let mut graph = lower(&parsed(&tree));
    graph.keep_maps_apart();
    let found = after_graph(graph, fuse_maps);
    expect!["missed: both maps touch `a`, but stay two: s1 is kept apart"]
        .assert_eq(found.lines().last().expect("a remark"));
}

/// The inner `j` would take the place of the outer one, where loops are made of the graph.
#[test]
fn a_parameter_that_a_nested_graph_binds_anew_keeps_its_name() {
    let tree = "
for j in [0, J) parallel:
  for k in [0, K) ascending:
    for i in [0, I) parallel:
      b[i + 1, j, k] = a[i, j, k]
for j_tile in [0, J) parallel:
  for k in [0, K) ascending:
    for j in [j_tile, min(J, j_tile + 1)) parallel:
      for i in [0, I) parallel:
        c[i + 1, j, k] = a[i, j, k]
";
    expect!["missed: both maps touch `a`, but stay two: the second uses the name of a parameter of the first for something else"]
        .assert_eq(&told(&(HEADER.to_owned() + tree.trim_start())));
}

#[test]
fn parameters_of_other_names_are_renamed() {
    let tree = all_levels(&["b[i + 1, j, k] = a[i, j, k]", "c[i + 1, j, k] = a[i, j, k] * float64(k)"]);
    let mut graph = lower(&parsed(&tree));
    graph.region.each_state_mut(&mut |state| {
        let (from, to) = (Symbol::new("k"), Symbol::new("k_other"));
        let second = state.exits().last().expect("there are two maps").0;
        state.rename_inside(second, &from, &to);
        if let NodeKind::MapEntry(map) = &mut state.nodes[second].kind {
            map.params[0].symbol = to;
        }
    });
    let found = after_graph(graph, fuse_maps);
    let kept = found.lines().skip_while(|it| !it.contains("n2: map"));
    expect![[r#"
            n2: map k in [0:K], j in [0:J], i in [0:I]
              reads a[0:I, 0:J, 0:K]
              writes b[1:I + 1, 0:J, 0:K], c[1:I + 1, 0:J, 0:K]
              n3: b[i + 1, j, k] = a[i, j, k]
              n4: c[i + 1, j, k] = a[i, j, k] * float64(k)
        applied: both maps touch `a`, and are one now
    "#]]
    .assert_eq(&kept.map(|it| format!("{it}\n")).collect::<String>());
}
