//! Indices that are found at run time, from the schedule tree to the graph.

use expect_test::{Expect, expect};

use super::lower;
use crate::sdfg::nodes::Sdfg;
use crate::sdfg::{
    file::json::{Form, to_json},
    print::listing,
    samples::parsed,
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
    let file = to_json(&graph(ELEMENTS), &[], Form::Regions);
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
