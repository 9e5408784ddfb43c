//! From the schedule tree to the graph: what scopes take from outside, values between tasklets, and indices that are found
//! at run time.

use expect_test::{Expect, expect};

use super::lower;
use crate::entity::Handle;
use crate::samples::parsed;
use crate::sdfg::nodes::{Edge, Node, NodeKind, Sdfg};
use crate::sdfg::{
    file::json::{ControlFlowStyle, to_json},
    print::listing,
    validate::validate,
};

const ELEMENTS: &str = "\
schedule elements
field a: float64[I, J, __a_K_above + __a_K_below + K] shift [0, 0, __a_K_below] read-write
field v: float32[I, J, 3, 1] shift [0, 0, 0, 0] read-write
field n: int32[I, J] shift [0, 0] read
for k in [0, K) ascending:
  for j in [0, J) parallel:
    for i in [0, I) parallel:
      a[i, j, __a_K_below + k + {n[i, j]}] = a[i, j, __a_K_below + k] + float64(v[i, j, {n[i, j]}, {n[i, j] - int32(1)}])
      v[i, j, 1, 0] = float32(a[i, j, __a_K_below + {n[i, j] + int32(2)}])
";

fn graph(text: &str) -> Sdfg {
    let graph = lower(&parsed(text));
    assert_eq!(validate(&graph), Vec::<String>::new());
    graph
}

fn check(text: &str, expected: &Expect) {
    expected.assert_eq(&listing(&graph(text)).text);
}

#[test]
fn an_index_is_checked_in_the_tasklet_that_picks_the_element() {
    check(
        ELEMENTS,
        &expect![[r#"
            sdfg elements(a, v, n)
              inout a: float64[I, J, K + __a_K_above + __a_K_below]
              inout v: float32[I, J, 3, 1]
              in n: int32[I, J]
              n1: loop loop_0: k in [0:K] ascending
                n2: state state_0
                  n3: map j in [0:J], i in [0:I]
                    reads a[0:I, 0:J, 0:K + __a_K_above + __a_K_below], v[0:I, 0:J, 0:3, 0], n[0:I, 0:J]
                    writes a[0:I, 0:J, 0:K + __a_K_above + __a_K_below], v[0:I, 0:J, 1, 0]
                    n4: nested map_0_body(a, n, v) -> (a, v)
                      n5: state state_0
                        n6: v_at = int64(n[i, j]) in [0:3], else a trap
                        n6: v_at_1 = int64(n[i, j] - int32(1)) in [0:1], else a trap
                        n6: a_at = (__a_K_below + k) + int64(n[i, j]) in [0:K + __a_K_above + __a_K_below], else a trap
                        n6: a[i, j, a_at] = a[i, j, __a_K_below + k] + float64(v[i, j, v_at, v_at_1])
                      n7: state state_1
                        n8: a_at = __a_K_below + int64(n[i, j] + int32(2)) in [0:K + __a_K_above + __a_K_below], else a trap
                        n8: v[i, j, 1, 0] = float32(a[i, j, a_at])
        "#]],
    );
}

#[test]
fn a_file_holds_arrays_at_connectors_and_what_indices_are_checked_against() {
    let file = to_json(&graph(ELEMENTS), &[], ControlFlowStyle::Regions);
    let mut found = String::new();
    tasklets(&file, &mut found);
    expect![[r#"
        v_at = dace.int64(n_in)
        v_at_1 = dace.int64(n_in - (dace.int32(1)))
        a_at = (__a_K_below + k) + dace.int64(n_in)
        a_out[a_at] = a_in + dace.float64(v_in[v_at])
        {"v_at":"3","v_at_1":"1","a_at":"K + __a_K_above + __a_K_below"}
        a_at = (__a_K_below) + dace.int64(n_in + (dace.int32(2)))
        v_out = dace.float32(a_in[a_at])
        {"a_at":"K + __a_K_above + __a_K_below"}
    "#]]
    .assert_eq(&found);
}

/// The code of all tasklets, and the sizes for their indices.
fn tasklets(value: &serde_json::Value, found: &mut String) {
    if value["type"] == "Tasklet" {
        let attributes = &value["attributes"];
        let code = attributes["code"]["string_data"].as_str().unwrap_or_default();
        found.push_str(&format!("{code}\n{}\n", attributes["_meta_index_sizes"]));
    }
    match value {
        serde_json::Value::Array(all) => all.iter().for_each(|it| tasklets(it, found)),
        serde_json::Value::Object(all) => all.values().for_each(|it| tasklets(it, found)),
        _ => {}
    }
}

/// Two statements of one row: `t` is written by the first, and the second reads its neighbour.
const NEIGHBOUR: &str = "\
schedule neighbour
field a: float64[I + 1, J, K] shift [0, 0, 0] read
field b: float64[I, J, K] shift [0, 0, 0] write
temporary t: float64[I + 1, J, K] shift [0, 0, 0] heap
for k in [0, K) parallel:
  for j in [0, J) parallel:
    for i in [0, END) parallel:
      WRITE
    for i in [0, I) parallel:
      b[i, j, k] = t[i + 1, j, k]
";

#[test]
fn what_a_scope_writes_before_it_reads_it_is_no_input() {
    // Whether the scope around both statements takes `t` from outside.
    let taken = |end: &str, write: &str| {
        let text = listing(&graph(&NEIGHBOUR.replace("END", end).replace("WRITE", write))).text;
        let around = text.lines().find_map(|it| it.trim().strip_prefix("reads "));
        around.expect("it reads a field").contains("t[")
    };
    let write = "t[i, j, k] = a[i, j, k]";
    assert!(!taken("I + 1", write), "every element that is read was written before, in the same scope");
    assert!(taken("I", write), "the last element of a row is one from before");
    let perhaps = "if a[i, j, k] > 0.0:\n        t[i, j, k] = a[i, j, k]";
    assert!(taken("I + 1", perhaps), "what a branch may skip is one from before");
}

/// The memlets of a container between it and tasklets, in a graph and in those inside: written, and read.
fn moved(graph: &Sdfg, name: &str) -> [usize; 2] {
    let mut moved = [0, 0];
    graph.region.each_state(&mut |state| {
        let is_tasklet = |at: Handle<Node>| matches!(state.nodes[at].kind, NodeKind::Tasklet(_));
        let of_it =
            |edge: &&Edge| edge.memlet.as_ref().is_some_and(|it| graph.containers[it.data].name == name);
        for edge in state.edges.iter().filter(of_it) {
            moved[0] += usize::from(is_tasklet(edge.source));
            moved[1] += usize::from(is_tasklet(edge.target));
        }
    });
    graph.each_inner(&mut |inner| {
        let [written, read] = self::moved(&inner.sdfg, name);
        moved = [moved[0] + written, moved[1] + read];
    });
    moved
}

/// The names of all containers of a graph and of those inside.
fn containers(graph: &Sdfg) -> Vec<String> {
    let mut names: Vec<String> = graph.containers.iter().map(|(_, it)| it.name.clone()).collect();
    graph.each_inner(&mut |inner| names.extend(containers(&inner.sdfg)));
    names
}

#[test]
fn a_value_has_one_memlet_to_and_from_its_tasklets_and_none_within_one() {
    let graph = graph(
        "\
schedule values
field a: float64[I, J, K] shift [0, 0, 0] read
field n: int32[I, J] shift [0, 0] read
field b: float64[I, J, K] shift [0, 0, 0] write
local c: float64
for k in [0, K) parallel:
  for j in [0, J) parallel:
    for i in [0, I) parallel:
      c = a[i, j, {n[i, j]}] * 2.0
      b[i, j, k] = c + c * c
",
    );
    assert_eq!(moved(&graph, "c"), [1, 1]);
    // The level that one tasklet finds for itself is a name in its code.
    assert!(listing(&graph).text.contains(": a_at = "), "{}", listing(&graph).text);
    assert_eq!(moved(&graph, "a_at"), [0, 0]);
    assert!(!containers(&graph).contains(&"a_at".to_owned()));
}
