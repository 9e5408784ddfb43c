//! Fields that are no results, and the memory that locals share.

use isobar_ground::entity::Handle;
use isobar_ground::space::Domain;
use serde_json::{Value as Json, json};

use super::{compiled, document};
use crate::analysis::lifetimes::{GroupContainers, SharedMemory, shared_memory};
use crate::group::group_calls;
use crate::nodes::{Container, ContainerRole, ProgramIr, ProgramStmtKind};

/// A program of `q`, which is a result, and of `x`, `y`, `z`, which are none.
fn private(body: &Json) -> Json {
    let field = |role: &str| json!({"role": role, "dtype": "float64", "axes": "IJK", "shape": ["I+4", "J+4", "K"], "origin": [2, 2, 0]});
    let stencil = |function: &str, more: i64| {
        let domain = json!([format!("I+{}", 2 * more), format!("J+{}", 2 * more), "K"]);
        json!({"function": format!("main.{function}"), "origin": [-more, -more, 0], "domain": domain})
    };
    let part = |origin: i64, size: Json| json!({"function": "main.copy", "origin": [origin, 0, 0], "domain": [size, "J", "K"]});
    document(json!({
        "grid": {"halo": 2}, "results": ["q"],
        "fields": {"q": field("argument"), "x": field("argument"), "y": field("state"), "z": field("argument"),
            "n": {"role": "argument", "dtype": "int64", "axes": "IJK", "shape": ["I+4", "J+4", "K"], "origin": [2, 2, 0]}},
        "scalars": {"n_times": {"role": "argument", "dtype": "int64"}},
        "stencils": {"copy": stencil("copy", 0), "wide": stencil("copy", 1), "lap": stencil("lap", 0),
            "corner": stencil("corner", 1), "lower": stencil("lower", 0), "moving": stencil("moving", 0),
            "all": stencil("copy", 2), "one": part(0, json!(1)),
            "first": {"function": "main.first", "domain": ["I-3", "J", "K"]},
            "first_of_all": {"function": "main.first", "domain": ["I", "J", "K"]}, "left": part(0, json!(2)), "right": part(2, json!("I-2"))},
        "body": body,
    }))
}

fn call(stencil: &str, a: &str, b: &str) -> Json {
    let params = if stencil == "lap" { ["q", "out"] } else { ["a", "b"] };
    json!({"call": stencil, "args": {params[0]: a, params[1]: b}})
}

/// The locals, and the fields that stay what they were, with the reason.
fn outcome(body: &Json) -> (Vec<String>, Vec<String>) {
    let compilation = compiled(&private(body));
    let told: Vec<_> = compilation.diagnostics.iter().map(|it| compilation.rendered(it)).collect();
    let program = compilation.program.unwrap_or_else(|| panic!("{told:?}"));
    let locals = program.containers.values().filter(|it| it.role == ContainerRole::Local);
    let locals = locals.map(|it| it.name.clone()).collect();
    (locals, compilation.kept.iter().map(|it| format!("{} {}: {}", it.role, it.name, it.why)).collect())
}

#[track_caller]
fn holds(body: &Json, locals: &[&str], kept: &[&str]) {
    let (found, stays) = outcome(body);
    assert_eq!((found.as_slice(), stays.as_slice()), (strings(locals).as_slice(), strings(kept).as_slice()));
}

fn strings(of: &[&str]) -> Vec<String> {
    of.iter().map(|it| (*it).to_owned()).collect()
}

const FIRST_X: &str = "argument x: it may be read before this run has written it";

#[test]
fn fields_that_each_run_writes_before_it_reads_them_become_locals() {
    holds(&json!([call("copy", "q", "x"), call("copy", "x", "y"), call("copy", "y", "q")]), &["x", "y"], &[]);
    // Nothing reads `z`, and nothing writes `n`. A level that is found at run time is one of those that are written.
    let found = json!({"call": "moving", "args": {"a": "x", "b": "q", "n": "n"}});
    holds(&json!([call("copy", "q", "z"), call("all", "q", "x"), found]), &["x", "z"], &[]);
    // On a wider range, and as two halves.
    holds(&json!([call("wide", "q", "x"), call("lap", "x", "q")]), &["x"], &[]);
    holds(&json!([call("left", "q", "x"), call("right", "q", "x"), call("copy", "x", "q")]), &["x"], &[]);
    holds(&json!([{"fill": "x", "with": 0}, call("lap", "x", "q")]), &["x"], &[]);
    // On each way, and in each iteration.
    let both =
        json!({"if": "n_times > 1", "then": [call("copy", "q", "x")], "else": [{"fill": "x", "with": 1}]});
    holds(&json!([both, call("copy", "x", "q")]), &["x"], &[]);
    let within = json!([call("copy", "q", "x"), call("copy", "x", "q")]);
    holds(&json!([{"for": "it", "range": [0, "n_times"], "body": within}]), &["x"], &[]);
}

#[test]
fn fields_whose_earlier_values_may_matter_stay_what_they_are() {
    holds(&json!([call("copy", "x", "q"), call("copy", "q", "x")]), &[], &[FIRST_X]);
    // The halo that is read is not written.
    holds(&json!([call("copy", "q", "x"), call("lap", "x", "q")]), &[], &[FIRST_X]);
    holds(&json!([call("right", "q", "x"), call("copy", "x", "q")]), &[], &[FIRST_X]);
    // Some points are written where the corner is the tile's own, and the lowest level keeps its value.
    holds(&json!([call("corner", "q", "x"), call("copy", "x", "q")]), &[], &[FIRST_X]);
    holds(&json!([call("lower", "q", "x"), call("copy", "x", "q")]), &[], &[FIRST_X]);
    // A sum over all runs.
    holds(
        &json!([call("lower", "q", "y")]),
        &[],
        &["state y: it may be read before this run has written it"],
    );
    // On one way alone, and after a loop that may have no iteration.
    let one = json!({"if": "n_times > 1", "then": [call("copy", "q", "x")]});
    holds(&json!([one, call("copy", "x", "q")]), &[], &[FIRST_X]);
    let within = json!({"for": "it", "range": [0, "n_times"], "body": [call("copy", "q", "x")]});
    holds(&json!([within, call("copy", "x", "q")]), &[], &[FIRST_X]);
    // A run may say that exchanges store nothing.
    let exchanged = json!([call("copy", "q", "x"), {"exchange": ["x"], "width": 2}, call("lap", "x", "q")]);
    holds(&exchanged, &[], &[FIRST_X]);
    // A range without points writes nothing, so its region does not.
    let first = json!({"call": "first", "args": {"a": "q", "b": "x"}});
    holds(&json!([first, call("one", "x", "q")]), &[], &[FIRST_X]);
    let first = json!({"call": "first_of_all", "args": {"a": "q", "b": "x"}});
    holds(&json!([first, call("one", "x", "q")]), &["x"], &[]);
    // An exchange of what is not written, and a field that gets what another one held.
    holds(&json!([{"exchange": ["x"], "width": 2}, call("lap", "x", "q")]), &[], &[FIRST_X]);
    let swapped = json!([{"swap": ["x", "z"]}, call("copy", "z", "q")]);
    let kept = [FIRST_X, "argument z: it may be read before this run has written it"];
    holds(&swapped, &[], &kept);
}

#[test]
fn a_callback_keeps_the_fields_that_it_may_read() {
    let host = |exact: bool| json!({"host": "plot", "exact": exact, "reads": ["x"]});
    let body =
        |host: Json| json!([call("copy", "q", "x"), call("copy", "x", "z"), host, call("copy", "z", "q")]);
    holds(&body(host(true)), &["z"], &["argument x: a callback may read it"]);
    let all = ["argument x: a callback may read it", "argument z: a callback may read it"];
    holds(&body(host(false)), &[], &all);
}

/// The plan of the memory of a program's locals. `groups` says whether its groups are pieces of code.
fn memory(body: &Json, groups: bool) -> (ProgramIr, SharedMemory) {
    let mut program = compiled(&private(body)).program.unwrap();
    let mut containers = GroupContainers::new();
    if groups {
        group_calls(&mut program);
        for stmt in &program.body {
            if let ProgramStmtKind::Group { number, .. } = &stmt.kind {
                containers.insert(*number, [handle(&program, "q")].into());
            }
        }
    }
    let domain = Domain::new(4, 3, 2);
    let elements =
        |it: &Container| it.shape.iter().map(|it| usize::try_from(it.on(domain)).unwrap_or(0)).product();
    let plan = shared_memory(&program, &containers, &elements, &|_| false);
    (program, plan)
}

fn handle(program: &ProgramIr, name: &str) -> Handle<Container> {
    program.containers.find(|it| it.name == name).unwrap()
}

#[track_caller]
fn shares(body: &Json, expected: [Option<usize>; 3]) {
    let (program, plan) = memory(body, false);
    let found = ["x", "y", "z"].map(|it| plan.memory_of[handle(&program, it).index()]);
    assert_eq!(found, expected);
    let n = expected.into_iter().flatten().max().map_or(0, |it| it + 1);
    assert_eq!(plan.sizes, vec![8 * 7 * 2; n]);
}

#[test]
fn locals_that_live_at_different_times_share_memory() {
    let chain =
        [call("copy", "q", "x"), call("copy", "x", "y"), call("copy", "y", "z"), call("copy", "z", "q")];
    shares(&json!(chain), [Some(0), Some(1), Some(0)]);
    // All three are needed by one call after the other.
    let late = [
        call("copy", "q", "x"),
        call("copy", "q", "y"),
        call("copy", "y", "z"),
        call("copy", "x", "q"),
        call("copy", "z", "q"),
    ];
    shares(&json!(late), [Some(0), Some(1), Some(2)]);
    // A loop may come back to a call that reads `x`: `z` must not lie there.
    let body = [call("copy", "x", "y"), call("copy", "y", "z"), call("copy", "z", "q")];
    let again = json!([call("copy", "q", "x"), {"for": "it", "range": [0, "n_times"], "body": body}]);
    shares(&again, [Some(0), Some(1), Some(2)]);
    // Within one iteration they may.
    let body =
        [call("copy", "q", "x"), call("copy", "x", "y"), call("copy", "y", "z"), call("copy", "z", "q")];
    let within = json!([{"for": "it", "range": [0, "n_times"], "body": body}]);
    shares(&within, [Some(0), Some(1), Some(0)]);
    // Arrays that a swap exchanges stay apart.
    let swapped = json!([{"fill": "x", "with": 0}, {"fill": "z", "with": 1}, {"swap": ["x", "z"]},
        call("copy", "x", "q"), call("copy", "q", "y"), call("copy", "y", "q")]);
    shares(&swapped, [None, Some(0), None]);
}

#[test]
fn locals_inside_of_the_code_of_a_group_need_no_memory() {
    let body = json!([call("copy", "q", "x"), call("copy", "x", "y"), call("copy", "y", "q")]);
    let (_, plan) = memory(&body, true);
    assert_eq!(plan.sizes, Vec::<usize>::new());
}
