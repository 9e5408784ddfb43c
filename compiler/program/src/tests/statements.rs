//! The meaning of each statement.

use isobar_ground::call::launch::ScalarInput;
use isobar_ground::types::Value;
use serde_json::{Value as Json, json};

use super::{Run, all, bare_field, document, halo_field, told};
use crate::interpret::HaloFill;

/// A program over one row along I, with a halo of one.
fn row(body: Json) -> Json {
    row_with(json!({}), json!({}), body)
}

fn row_with(fields: Json, scalars: Json, body: Json) -> Json {
    let mut all = json!({"q": {
        "role": "argument", "dtype": "float64", "axes": "IJK", "shape": ["I+2", 3, "K"], "origin": [1, 1, 0]}});
    all.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
    let mut stencils = json!({});
    for name in ["lap", "step", "shift", "add", "set", "copy", "corner", "lower"] {
        stencils[name] = json!({"function": format!("main.{name}")});
    }
    stencils["first"] = json!({"function": "main.set", "domain": [1, 1, 1]});
    stencils["wide"] = json!({"function": "main.corner", "origin": [-1, -1, 0], "domain": ["I+2", 2, "K"]});
    stencils["beside"] =
        json!({"function": "main.copy", "origin": {"b": [1, 0, 0]}, "domain": ["I", "J", "K"]});
    document(json!({"fields": all, "scalars": scalars, "stencils": stencils, "body": body}))
}

/// The row of `q` behind a run that starts with 10, 11, 12, ...
fn ran(program: &Json, n: i64, fill: HaloFill) -> Vec<f64> {
    let mut run = Run::new(program, [n, 1, 1], fill);
    start(&mut run);
    run.ran();
    middle(&run)
}

fn start(run: &mut Run) {
    // In C order j runs faster: the middle one of three is the row.
    run.set("q", |at| if at % 3 == 1 { (10 + at / 3) as f64 } else { 0.0 });
}

fn middle(run: &Run) -> Vec<f64> {
    run.field("q").into_iter().skip(1).step_by(3).collect()
}

#[test]
fn a_field_that_is_passed_twice_is_one_field() {
    // Each right-hand side is read completely before it is stored, as NumPy does.
    let program = row(json!([{"call": "shift", "args": {"a": "q", "b": "q"}}]));
    assert_eq!(ran(&program, 4, HaloFill::None), [10.0, 10.0, 11.0, 12.0, 13.0, 15.0]);
    assert_eq!(ran(&program, 1, HaloFill::None), [10.0, 10.0, 12.0]);
}

#[test]
fn corners_of_one_field_are_filled_from_itself() {
    let program = row(json!([{"call": "wide", "args": {"a": "q", "b": "q"}}]));
    let mut run = Run::new(&program, [2, 1, 1], HaloFill::None);
    run.set("q", |at| at as f64).ran();
    // Columns of three along J: the first of the first and of the last one are halo corners.
    assert_eq!(run.field("q"), [1.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 19.0, 10.0, 11.0]);
}

#[test]
fn edges_stay_where_they_are_when_a_range_is_larger() {
    let mut program = document(json!({
        "fields": {"q": halo_field()},
        "stencils": {
            "ends": {"function": "main.ends"},
            "wide": {"function": "main.ends", "origin": [-1, -1, 0], "domain": ["I+2", "J+1", "K"]}},
        "body": [{"call": "wide", "args": {"q": "q"}}]}));
    let written = |program: &Json| {
        let mut run = Run::new(program, [3, 2, 1], HaloFill::None);
        let q = run.ran().field("q");
        q.iter().enumerate().filter(|it| *it.1 > 0.0).map(|it| it.0).collect::<Vec<_>>()
    };
    // The last point of the domain, in both ranges: index 3 of 5 along I, 2 of 4 along J.
    assert_eq!(written(&program), [3 * 4 + 2]);
    program["body"][0]["call"] = json!("ends");
    assert_eq!(written(&program), [3 * 4 + 2]);
    // Without the eastern edge, no column of the range is at it.
    program["grid"] = json!({"edges": ["west", "south", "north"]});
    assert_eq!(written(&program), [] as [usize; 0]);
    // The end of a range of fixed size lies elsewhere on each domain.
    program["grid"] = json!({});
    program["stencils"]["ends"]["domain"] = json!([2, "J", "K"]);
    assert!(!told(&program).is_empty());
}

#[test]
fn a_sweep_over_one_field_sees_the_levels_below_as_they_are_now() {
    let program = row(json!([{"call": "lower", "args": {"a": "q", "b": "q"}}]));
    let mut run = Run::new(&program, [1, 1, 4], HaloFill::None);
    run.set("q", |_| 1.0).ran();
    let column: Vec<f64> = run.field("q")[16..20].to_vec();
    assert_eq!(column, [1.0, 2.0, 3.0, 4.0]);
}

#[test]
fn a_field_that_is_only_read_may_be_passed_at_two_origins() {
    let fields = json!({"l": {"role": "local", "like": "q"}});
    let body = json!([
        {"fill": "l", "with": 5},
        {"call": "beside", "args": {"a": "q", "b": "l"}},
        {"copy": "l", "to": "q"}]);
    let program = row_with(fields, json!({}), body);
    assert_eq!(ran(&program, 2, HaloFill::None), [5.0, 5.0, 11.0, 12.0]);
}

#[test]
fn loops_and_conditions_run_as_in_python() {
    let program = row(json!([
        {"let": "n", "be": 0},
        {"for": "it", "range": [3], "body": [{"let": "n", "be": "n * 10 + it"}]},
        {"for": "at", "range": [7, 0, -3], "body": [
            {"if": "at == 7", "then": [{"mark": "seven"}], "else": [
                {"if": "at % 2 == 0", "then": [{"mark": "even"}], "else": [{"mark": "odd"}]}]}]},
        {"while": "n > 0", "limit": 2, "body": [{"let": "n", "be": "n // 10"}, {"mark": "while"}]},
        {"call": "first", "args": {"q": "q", "to": "n * 100 + it * 10 + at"}}]));
    let mut run = Run::new(&program, [2, 1, 1], HaloFill::None);
    let report = run.run().unwrap();
    let marks: Vec<(&str, u64)> = report.marks.iter().map(|it| (it.0.as_str(), it.1)).collect();
    assert_eq!(marks, [("seven", 1), ("even", 1), ("odd", 1), ("while", 2)]);
    assert_eq!(middle(&run), [0.0, 21.0, 0.0, 0.0], "the variables keep their last values");
}

#[test]
fn a_range_is_computed_once_and_may_be_empty() {
    let scalars = json!({"n": {"role": "argument", "dtype": "int64"}});
    let program = row_with(
        json!({}),
        scalars,
        json!([
        {"let": "end", "be": "n"},
        {"for": "it", "range": ["end"], "body": [
            {"let": "end", "be": 100},
            {"call": "add", "args": {"q": "q"}}]}]),
    );
    for n in [-1, 0, 1, 3] {
        let mut run = Run::new(&program, [1, 1, 1], HaloFill::None);
        start(&mut run);
        let report = run.scalar("n", ScalarInput::Int(n)).run().unwrap();
        assert_eq!(report.n_calls, u64::try_from(n.max(0)).unwrap());
        assert_eq!(middle(&run), [10.0, 11.0 + n.max(0) as f64, 12.0]);
    }
}

#[test]
fn state_keeps_its_values_between_runs_and_locals_do_not() {
    let fields = json!({
        "sum": {"role": "state", "like": "q", "init": 0.5},
        "l": {"role": "local", "like": "q"}});
    let scalars = json!({"n": {"role": "state", "dtype": "int32", "init": 40}});
    let program = row_with(
        fields,
        scalars,
        json!([
        {"let": "n", "be": "n + 1"},
        {"call": "add", "args": {"q": "sum", "by": "n"}},
        {"if": "n == 41", "then": [{"fill": "l", "with": 1.0}]},
        {"call": "copy", "args": {"a": "l", "b": "q"}}]),
    );
    assert_eq!(told(&program), ["P12: `l` may be read where nothing has written it"]);
    let mut run = Run::with_warnings(&program, [1, 1, 1], HaloFill::None);
    start(&mut run);
    let sum = |run: &Run| all(run.instance.state("sum").unwrap())[4];
    run.ran();
    assert_eq!((sum(&run), middle(&run)), (41.5, vec![10.0, 1.0, 12.0]));
    run.ran();
    assert_eq!(vec![sum(&run)], [83.5]);
    assert!(middle(&run)[1].is_nan(), "a local is forgotten between runs");
}

#[test]
fn fields_are_copied_filled_and_swapped_as_a_whole() {
    let fields = json!({
        "l": {"role": "local", "like": "q"},
        "m": {"role": "local", "like": "q"}});
    let program = row_with(
        fields,
        json!({}),
        json!([
        {"copy": "q", "to": "l"},
        {"fill": "m", "with": "2 ** 3"},
        {"swap": ["l", "m"]},
        {"call": "add", "args": {"q": "m"}},
        {"swap": ["q", "l"]},
        {"call": "copy", "args": {"a": "m", "b": "q"}}]),
    );
    assert_eq!(ran(&program, 2, HaloFill::None), [8.0, 12.0, 13.0, 8.0]);
}

#[test]
fn parts_of_a_field_are_fields() {
    let mut tracers = bare_field("argument");
    tracers["shape"] = json!(["I", "J", "K", 2, 2]);
    let fields = json!({
        "tracers": tracers,
        "vapor": {"view": "tracers", "data_index": [0, 1]},
        "dry": {"view": "tracers", "data_index": [1, 0]}});
    let stencils = json!({"copy": {"function": "main.copy"}, "add": {"function": "main.add"}});
    let program = document(json!({"fields": fields, "stencils": stencils, "body": [
        {"call": "copy", "args": {"a": "vapor", "b": {"view": "tracers", "data_index": [0, 0]}}},
        {"call": "add", "args": {"q": "vapor", "by": 0.5}},
        {"swap": ["vapor", "dry"]},
        {"fill": {"view": "tracers", "data_index": [1, 1]}, "with": -1}]}));
    let mut run = Run::new(&program, [1, 2, 1], HaloFill::None);
    run.set("tracers", |at| at as f64).ran();
    assert_eq!(run.field("tracers"), [1.0, 2.0, 1.5, -1.0, 5.0, 6.0, 5.5, -1.0]);
}

#[test]
fn an_exchange_fills_the_halo_as_the_request_says() {
    let program = row(json!([{"exchange": ["q"], "width": 1}]));
    assert_eq!(ran(&program, 3, HaloFill::None), [10.0, 11.0, 12.0, 13.0, 14.0]);
    assert_eq!(ran(&program, 3, HaloFill::Periodic), [13.0, 11.0, 12.0, 13.0, 11.0]);
    assert_eq!(ran(&program, 3, HaloFill::ZeroGradient), [11.0, 11.0, 12.0, 13.0, 13.0]);
    assert_eq!(ran(&program, 1, HaloFill::Periodic), [11.0, 11.0, 11.0]);
}

#[test]
fn corners_and_all_levels_of_a_halo_are_exchanged() {
    let program = document(json!({
        "fields": {"q": {"role": "argument", "dtype": "float64", "axes": "IJK",
            "shape": ["I+4", "J+4", "K+1"], "origin": [2, 2, 0]}},
        "body": [{"exchange": ["q"], "kind": "scalar", "width": 2, "phase": "update"}]}));
    let mut run = Run::new(&program, [2, 1, 1], HaloFill::Periodic);
    run.set("q", |at| at as f64).ran();
    let q = &run.inputs.fields["q"];
    // The two points of the domain, on the two levels of the array.
    let inner = |i: usize, k: usize| ((i + 2) * 5 + 2) as f64 * 2.0 + k as f64;
    for i in 0..6 {
        for j in 0..5 {
            for k in 0..2 {
                assert_eq!(q.get(&[i, j, k]), Value::Float64(inner(i % 2, k)), "{i} {j} {k}");
            }
        }
    }
}

#[test]
fn an_exchange_sends_what_was_there_when_it_started() {
    let program = row(json!([
        {"exchange": ["q"], "width": 1, "phase": "start"},
        {"call": "add", "args": {"q": "q", "by": 100}},
        {"exchange": ["q"], "width": 1, "phase": "wait"}]));
    assert_eq!(ran(&program, 2, HaloFill::Periodic), [12.0, 111.0, 112.0, 11.0]);
}

#[test]
fn groups_are_put_in_where_they_are_named() {
    let mut program = row(json!([{"program": "outer"}, {"program": "inner"}]));
    program["programs"] = json!({
        "inner": [{"call": "add", "args": {"q": "q"}}],
        "outer": [{"program": "inner"}, {"call": "add", "args": {"q": "q", "by": 10}}, {"program": "inner"}]});
    assert_eq!(ran(&program, 1, HaloFill::None), [10.0, 24.0, 12.0]);
}

#[test]
fn a_run_that_cannot_go_on_tells_where() {
    let scalars =
        json!({"n": {"role": "argument", "dtype": "int64"}, "x": {"role": "argument", "dtype": "float64"}});
    for (body, n, expected) in [
        (
            json!([{"let": "m", "be": "n * n"}]),
            1_i64 << 40,
            "P19: `n * n` has no value: an integer leaves 64 bits",
        ),
        (
            json!([{"let": "m", "dtype": "int32", "be": "n"}]),
            1 << 31,
            "P19: `n` has no value: an integer does not fit its type",
        ),
        (
            json!([{"let": "m", "dtype": "float32", "be": "x * 1e300"}]),
            0,
            "P19: `x * 1e300` has no value: a number leaves single precision",
        ),
        (
            json!([{"call": "add", "args": {"q": "q", "by": "1 / n"}}]),
            0,
            "P19: `1 / n` has no value: a divisor is zero",
        ),
        (
            json!([{"for": "it", "range": [0, 5, "n"], "body": []}]),
            0,
            "P19: `n` has no value: a step of zero ends nowhere",
        ),
        (
            json!([{"while": "n == n", "limit": 3, "body": []}]),
            0,
            "P20: a `while` did not end within 3 iterations",
        ),
        (json!([{"if": "n > 1", "then": [{"trap": "n is large"}]}]), 2, "P20: n is large"),
    ] {
        let program = row_with(json!({}), scalars.clone(), body);
        let mut run = Run::new(&program, [1, 1, 1], HaloFill::None);
        start(&mut run);
        run.scalar("n", ScalarInput::Int(n)).scalar("x", ScalarInput::Float(2.0));
        assert_eq!(run.run().unwrap_err(), expected);
        assert_eq!(middle(&run), [10.0, 11.0, 12.0], "the fields come back");
    }
}

#[test]
fn inputs_have_the_types_and_sizes_of_the_document() {
    let scalars = json!({"n": {"role": "argument", "dtype": "int8"}});
    let program = row_with(json!({}), scalars, json!([{"call": "add", "args": {"q": "q", "by": "n"}}]));
    let mut run = Run::new(&program, [2, 1, 1], HaloFill::None);
    assert_eq!(run.run().unwrap_err(), "P18: the scalar `n` is not given");
    for (input, expected) in [
        (ScalarInput::Int(128), "P18: `n` has the type int8, and the integer 128 is given"),
        (ScalarInput::Float(1.0), "P18: `n` has the type int8, and the number 1.0 is given"),
        (ScalarInput::Bool(true), "P18: `n` has the type int8, and the boolean true is given"),
    ] {
        assert_eq!(run.scalar("n", input).run().unwrap_err(), expected);
    }
    run.scalar("n", ScalarInput::Int(-1)).scalar("m", ScalarInput::Int(1));
    assert_eq!(run.run().unwrap_err(), "P18: the program takes no `m`");
    run.inputs.scalars.remove("m");
    let field = run.inputs.fields.remove("q").unwrap();
    assert_eq!(run.run().unwrap_err(), "P18: the field `q` is not given");
    let short = isobar_ground::call::array::Array::zeros(field.dtype(), &[3, 3, 1]);
    run.inputs.fields.insert("q".to_owned(), short);
    let wrong = "P18: `q` is float64 [3, 3, 1], and the program needs float64 [4, 3, 1]";
    assert_eq!(run.run().unwrap_err(), wrong);
    run.inputs.fields.insert("q".to_owned(), field);
    run.ran();
}

#[test]
fn the_smallest_domain_runs() {
    let mut program = row(json!([]));
    program["fields"] = json!({"q": halo_field(), "l": {"role": "local", "like": "q"}});
    program["stencils"]["top"] = json!({"function": "main.copy", "domain": ["I-1", "J", "K-1"]});
    program["body"] = json!([
        {"call": "lap", "args": {"q": "q", "out": "l"}},
        {"call": "step", "args": {"q": "q", "l": "l", "a": 1}},
        {"call": "top", "args": {"a": "l", "b": "q"}}]);
    let mut run = Run::new(&program, [1, 1, 1], HaloFill::None);
    run.set("q", |at| at as f64).ran();
    assert_eq!(run.field("q"), [0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]);
}
