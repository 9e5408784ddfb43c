//! Refusals, each with its words.

use expect_test::expect;
use isobar_ground::space::Domain;
use serde_json::{Value as Json, json};

use super::{Run, STENCILS, bare_field, compiled, document, halo_field, told};
use crate::compile::compile;
use crate::interpret::{HaloFill, MOST_BYTES, ProgramBytes, ProgramInstance};

/// A program that is right, for documents with one fault.
fn right() -> Json {
    let mut tracers = bare_field("argument");
    tracers["shape"] = json!(["I", "J", "K", 4]);
    document(json!({
        "grid": {"halo": 1},
        "fields": {
            "q": halo_field(), "r": halo_field(),
            "l": {"role": "local", "like": "q"},
            "given": {"role": "constant", "like": "q"},
            "small": bare_field("argument"),
            "tracers": tracers,
            "which": {"role": "argument", "like": "q", "dtype": "int64"},
            "single": {"role": "argument", "like": "q", "dtype": "float32"}},
        "scalars": {"a": {"role": "argument", "dtype": "float64"}, "n": {"role": "argument", "dtype": "int64"}},
        "stencils": {
            "lap": {"function": "main.lap"},
            "step": {"function": "main.step"},
            "shift": {"function": "main.shift"},
            "copy": {"function": "main.copy"},
            "moved": {"function": "main.copy", "origin": {"a": [-1, 0, 0]}, "domain": ["I", "J", "K"]},
            "moving": {"function": "main.moving"},
            "add": {"function": "main.add"}},
        "body": [{"call": "add", "args": {"q": "q"}}]}))
}

/// The document with another value at a path.
fn with(path: &[&str], value: Json) -> Json {
    let mut all = right();
    let (last, before) = path.split_last().unwrap();
    let mut at = &mut all;
    for step in before {
        at = &mut at[*step];
    }
    at[*last] = value;
    all
}

fn body(statements: Json) -> Json {
    with(&["body"], statements)
}

#[test]
fn every_fault_of_a_document_has_its_code_and_its_words() {
    assert_eq!(told(&right()), Vec::<String>::new());
    let call = |name: &str, args: Json| json!([{"call": name, "args": args}]);
    for (wrong, expected) in [
        (
            with(&["isobar_program"], json!(2)),
            vec!["P01: the document cannot be read: its version is 2, and this compiler reads 1"],
        ),
        (
            with(&["filds"], json!({})),
            vec![
                "P01: the document cannot be read: `filds`: unknown field `filds`, expected one of `isobar_program`, `name`, `files`, `grid`, `fields`, `scalars`, `stencils`, `programs`, `plans`, `hosts`, `results`, `body`",
            ],
        ),
        (
            with(&["grid", "halo"], json!(-1)),
            vec!["P01: the document cannot be read: `grid.halo`: invalid value: integer `-1`, expected u32"],
        ),
        (
            body(json!([{"at": {"file": "main.py", "line": 1, "col": 1}}])),
            vec!["P01: a statement does not say what it does"],
        ),
        (body(json!([{"mark": "m", "trap": "t"}])), vec!["P01: one statement says several: `mark`, `trap`"]),
        (body(json!([{"mark": "m", "limit": 3}])), vec!["P01: `limit` is no entry of `mark`"]),
        (body(json!([{"if": "n", "else": []}])), vec!["P01: `if` has no entry `then`"]),
        (
            with(&["fields", "x"], json!({"role": "local", "dtype": "int8"})),
            vec!["P01: `field` has no entry `axes`", "P01: `field` has no entry `shape`"],
        ),
        (
            with(&["fields", "x"], json!({"view": "tracers", "role": "local", "data_index": [0]})),
            vec!["P01: `role` is no entry of `view`"],
        ),
        (
            with(
                &["fields", "x"],
                json!({"role": "local", "dtype": "int8", "axes": "I", "shape": ["I"], "staggered": "J"}),
            ),
            vec!["P02: there is no set of axes `J`"],
        ),
        (body(call("lapp", json!({}))), vec!["P02: there is no stencil `lapp`"]),
        (body(call("add", json!({"q": "qq"}))), vec!["P02: there is no field `qq`"]),
        (body(call("add", json!({"q": "q", "by": "aa"}))), vec!["P02: there is no scalar `aa`"]),
        (body(json!([{"program": "nothing"}])), vec!["P02: there is no group `nothing`"]),
        (
            body(json!([{"mark": "m", "at": {"file": "other.py", "line": 1, "col": 1}}])),
            vec!["P02: there is no file `other.py`"],
        ),
        (
            with(&["stencils", "x"], json!({"function": "main.lapp"})),
            vec!["P02: there is no stencil function `main.lapp`"],
        ),
        (
            with(&["stencils", "x"], json!({"function": "other.lap"})),
            vec!["P02: there is no stencil function `other.lap`"],
        ),
        (
            with(&["fields", "x"], json!({"role": "local", "like": "nothing"})),
            vec!["P02: there is no field `nothing`"],
        ),
        (with(&["fields", "q", "dtype"], json!("double")), vec!["P02: there is no type `double`"]),
        (with(&["fields", "q", "axes"], json!("KJI")), vec!["P02: there is no set of axes `KJI`"]),
        (
            with(&["fields", "x"], json!({"view": "tracers", "data_index": [4]})),
            vec!["P02: there is no index `4`"],
        ),
        (
            with(&["fields", "K"], halo_field()),
            vec!["P03: `K` cannot be a name here: axes and positions have it"],
        ),
        (
            with(&["fields", "a b"], halo_field()),
            vec!["P03: `a b` cannot be a name here: it is no name of Python"],
        ),
        (
            with(&["fields", "lambda"], halo_field()),
            vec!["P03: `lambda` cannot be a name here: it is no name of Python"],
        ),
        (
            with(&["scalars", "q"], json!({"role": "argument", "dtype": "int64"})),
            vec!["P03: `q` cannot be a name here: a field has it"],
        ),
        (body(json!([{"let": "q", "be": 1}])), vec!["P03: `q` cannot be a name here: a field has it"]),
        (with(&["fields", "l", "like"], json!("l")), vec!["P04: the field `l` leads back to itself"]),
        (with(&["fields", "q", "shape"], json!(["2*I", "J+2", "K"])), vec!["P05: `2*I` is no size"]),
        (
            with(&["fields", "q", "shape"], json!(["I+2", "J+2"])),
            vec!["P05: this shape has 2 entries, and needs 3"],
        ),
        (with(&["fields", "q", "origin"], json!([1])), vec!["P05: this origin has 1 entries, and needs 3"]),
        (with(&["stencils", "add", "domain"], json!(["I", "J", "n"])), vec!["P05: `n` is no size"]),
        (
            with(&["stencils", "add", "origin"], json!({"p": [0, 0, 0]})),
            vec!["P06: `add` has no parameter `p`"],
        ),
        (body(call("add", json!({}))), vec!["P06: `add` needs the field `q`"]),
        (body(call("step", json!({"q": "q", "l": "r"}))), vec!["P06: `step` needs the scalar `a`"]),
        (body(call("add", json!({"q": "q", "bye": 1}))), vec!["P06: `add` has no parameter `bye`"]),
        (body(call("add", json!({"q": "n"}))), vec!["P06: `q` takes a field, and this is a scalar"]),
        (body(call("add", json!({"q": 1.5}))), vec!["P06: `this entry` takes a field, and this is a number"]),
        (
            body(call("add", json!({"q": "q", "by": "r"}))),
            vec!["P06: `by` takes a scalar, and this is a field"],
        ),
        (
            body(call("add", json!({"q": "single"}))),
            vec!["P07: `single` and `q` differ in their type: float32 and float64"],
        ),
        (
            body(call("add", json!({"q": "tracers"}))),
            vec!["P07: `tracers` and `q` differ in their data dimensions: [4] and []"],
        ),
        (
            body(json!([{"copy": "small", "to": "q"}])),
            vec![
                "P07: `small` and `q` differ in their shape: I, J, K and I+2, J+2, K",
                "P07: `small` and `q` differ in their origin: [0, 0, 0] and [1, 1, 0]",
            ],
        ),
        (
            body(json!([{"let": "t", "be": 1}, {"let": "t", "dtype": "bool", "be": "True"}])),
            vec!["P07: `t` has the type int64, and bool is written here"],
        ),
        (body(call("add", json!({"q": "given"}))), vec!["P08: `given` is a constant and is written"]),
        (body(json!([{"fill": "given", "with": 0}])), vec!["P08: `given` is a constant and is written"]),
        (body(json!([{"let": "a", "be": 1.0}])), vec!["P08: `a` is a scalar argument and is written"]),
        (
            body(json!([{"for": "it", "range": [2], "body": [{"let": "it", "be": 0}]}])),
            vec!["P08: `it` is a variable of a loop around it and is written"],
        ),
        (
            body(json!([{"if": "a <", "then": []}])),
            vec!["P09: `a <` is no scalar expression: Python does not read it"],
        ),
        (
            body(json!([{"for": "it", "range": [], "body": []}])),
            vec![
                "P09: `range` is no scalar expression: a range has its end, its start and end, or these and a step",
            ],
        ),
        (
            body(json!([{"for": "it", "range": ["a"], "body": []}])),
            vec!["P10: `a`: the bounds of a range are integers"],
        ),
        (
            body(json!([{"let": "t", "dtype": "int64", "be": "a"}])),
            vec!["P10: `a`: its type is float, and that of `t` is int64"],
        ),
        (
            body(json!([{"fill": "q", "with": true}])),
            vec!["P10: `True`: its type is bool, and that of `q` is float64"],
        ),
        (
            body(call("copy", json!({"a": "l", "b": "q"}))),
            vec!["P11: `l` is read, and nothing has written it"],
        ),
        (
            body(json!([{"if": "n", "then": [{"let": "t", "be": 1}]}, {"let": "u", "be": "t"}])),
            vec!["P11: `t` has no value on some way to here"],
        ),
        (
            body(json!([{"for": "it", "range": ["n"], "body": []}, {"let": "u", "be": "it"}])),
            vec!["P11: `it` has no value on some way to here"],
        ),
        (
            body(json!([{"while": "n > u", "limit": 2, "body": [{"let": "u", "be": 1}]}])),
            vec!["P02: there is no scalar `u`"],
        ),
        (
            body(json!([{"exchange": ["q"], "phase": "wait"}])),
            vec!["P13: the exchange of `q` waits and has not started"],
        ),
        (
            body(json!([{"exchange": ["q"], "phase": "start"}])),
            vec!["P13: the exchange of `q` has no `wait`"],
        ),
        (
            body(
                json!([{"exchange": ["q"], "phase": "start"}, {"exchange": ["q"], "phase": "start"}, {"exchange": ["q"], "phase": "wait"}]),
            ),
            vec!["P13: the exchange of `q` starts twice"],
        ),
        (
            body(
                json!([{"exchange": ["q"], "phase": "start"}, {"exchange": ["q"]}, {"exchange": ["q"], "phase": "wait"}]),
            ),
            vec!["P13: the exchange of `q` starts again before its `wait`"],
        ),
        (
            body(
                json!([{"for": "it", "range": [2], "body": [{"exchange": ["q"], "phase": "start"}]}, {"exchange": ["q"], "phase": "wait"}]),
            ),
            vec![
                "P13: the exchange of `q` starts in each iteration, and its `wait` stands outside",
                "P13: the exchange of `q` waits and has not started",
            ],
        ),
        (
            body(call("moved", json!({"a": "q", "b": "q"}))),
            vec!["P14: `q` and `q` share elements in part, and one of them is written"],
        ),
        (
            body(json!([{"copy": "tracers", "to": {"view": "tracers", "data_index": [1]}}])),
            vec![
                "P07: `tracers` and `tracers[1]` differ in their data dimensions: [4] and []",
                "P14: `tracers` and `tracers[1]` share elements in part, and one of them is written",
            ],
        ),
        (body(json!([{"while": "n > 0", "body": []}])), vec!["P15: this `while` has no limit"]),
        (body(json!([{"while": "n > 0", "limit": 0, "body": []}])), vec!["P15: this `while` has no limit"]),
        (
            body(call("lap", json!({"q": "small", "out": "r"}))),
            vec![
                "P16: `small` lacks 1 elements at the start of I, which `q` touches",
                "P16: `small` lacks 1 elements at the end of I, which `q` touches",
                "P16: `small` lacks 1 elements at the start of J, which `q` touches",
                "P16: `small` lacks 1 elements at the end of J, which `q` touches",
            ],
        ),
        (
            body(json!([{"exchange": ["q"], "width": 2}])),
            vec![
                "P16: `q` lacks 1 elements at the start of I, which `exchange` touches",
                "P16: `q` lacks 1 elements at the end of I, which `exchange` touches",
                "P16: `q` lacks 1 elements at the start of J, which `exchange` touches",
                "P16: `q` lacks 1 elements at the end of J, which `exchange` touches",
            ],
        ),
        (
            body(json!([{"if": "n", "then": [{"exchange": ["q"]}]}])),
            vec![
                "P17: the exchange of `q` is refused: it stands below a condition, and all ranks must come to it in the same order",
            ],
        ),
        (
            with(&["stencils", "x"], json!({"function": "main.last"})),
            vec!["E06: the external `k_end` has no value"],
        ),
        (with(&["results"], json!(["q", "qq"])), vec!["P02: there is no field `qq`"]),
        (
            with(&["results"], json!(["l"])),
            vec!["P17: the result `l` is refused: a local has no value of its own behind a run"],
        ),
        (with(&["fields", "q", "init"], json!(0)), vec!["P01: `init` is no entry of `field`"]),
        (
            with(&["scalars", "s"], json!({"role": "state", "dtype": "int8", "init": 300})),
            vec!["P07: 300 is no value of type int8"],
        ),
        (
            with(&["stencils", "x"], json!({"function": "main.add", "externals": {"e": [1]}})),
            vec!["P17: the external `e` is refused: its form is not known"],
        ),
        (
            with(
                &["files", "main.py"],
                json!(format!(
                    "{STENCILS}\ndef bad(q: Field[float]):\n    with computation(PARALLEL), interval(...):\n        q = p\n"
                )),
            ),
            vec![],
        ),
    ] {
        assert_eq!(told(&wrong), expected);
    }
}

#[test]
fn groups_that_contain_themselves_are_refused_with_the_way() {
    let mut wrong = body(json!([{"program": "one"}]));
    wrong["programs"] =
        json!({"one": [{"program": "two"}], "two": [{"if": "n", "then": [{"program": "one"}]}]});
    let compilation = compiled(&wrong);
    let cycle = &compilation.diagnostics[0];
    assert_eq!(
        (cycle.code.to_string().as_str(), cycle.message.as_str()),
        ("P04", "the group `one` contains itself")
    );
    assert_eq!(cycle.notes, ["the way is `one` to `two` to `one`"]);
}

#[test]
fn groups_that_grow_without_end_are_refused() {
    let mut wrong = body(json!([{"program": "g20"}]));
    wrong["programs"] = json!({"g0": [{"mark": "m"}]});
    for n in 1..=20 {
        let before = format!("g{}", n - 1);
        wrong["programs"][format!("g{n}")] = json!([{"program": before}, {"program": before}]);
    }
    let expected = "P17: this document is refused: 262144 statements are the most, with those of all groups";
    assert_eq!(told(&wrong), [expected]);
}

#[test]
fn a_fault_points_at_its_entry_or_at_the_place_that_it_names() {
    let text = r#"{"isobar_program": 1, "name": "p",
 "files": {"main.py": "def f(q: Field[float]):\n    with computation(PARALLEL), interval(...):\n        q = 1.0\n"},
 "fields": {"q": {"role": "argument", "dtype": "float64", "axes": "IJK", "shape": ["I", "J", "K"]}},
 "stencils": {"f": {"function": "main.f"}},
 "body": [
  {"call": "f", "args": {"q": "p"}},
  {"for": "it", "range": [0, "n"], "body": []},
  {"call": "f", "args": {"r": "q"}, "at": {"file": "main.py", "line": 3, "col": 9}}]}"#;
    let compilation = compile("program.json", text, isobar_front::config::Config::default());
    let rendered: Vec<String> = compilation.diagnostics.iter().map(|it| compilation.rendered(it)).collect();
    expect![[r#"
        error[P06]: `f` has no parameter `r`
         --> main.py:3:9
          |
        3 |         q = 1.0
          |         ^^^^^^^ not known
          |
          = help: its parameters are `q`

        error[P06]: `f` needs the field `q`
         --> main.py:3:9
          |
        3 |         q = 1.0
          |         ^^^^^^^ not passed
          |
          = help: add `"q"` to `args`

        error[P02]: there is no field `p`
         --> program.json:6:31
          |
        6 |   {"call": "f", "args": {"q": "p"}},
          |                               ^^^ not known
          |
          = help: there are `q`

        error[P02]: there is no scalar `n`
         --> program.json:7:30
          |
        7 |   {"for": "it", "range": [0, "n"], "body": []},
          |                              ^^^ not known
          |
          = help: add the scalar to the document
    "#]]
    .assert_eq(&rendered.join("\n"));
    for (text, place) in [
        ("{\"isobar_program\": 1,\n \"name\": }", "2:10"),
        ("{\"name\": 1, \"name\": 2}", "1:10"),
        ("", "1:1"),
        ("{}", "1:1"),
        ("[", "1:1"),
    ] {
        let compilation = compile("program.json", text, isobar_front::config::Config::default());
        let rendered = compilation.rendered(&compilation.diagnostics[0]);
        assert!(rendered.contains(&format!("program.json:{place}\n")), "{rendered}");
    }
    let twice = r#"{"isobar_program": 1, "name": "p", "body": [], "scalars": {"a": {"role": "local", "dtype": "int8"}, "a": {"role": "local", "dtype": "int8"}}}"#;
    let compilation = compile("program.json", twice, isobar_front::config::Config::default());
    assert_eq!(compilation.diagnostics[0].message, "the entry `a` stands here twice");
}

#[test]
fn faults_of_a_stencil_are_told_at_its_line() {
    let wrong = "def bad(q: Field[float]):\n    with computation(PARALLEL), interval(...):\n        q = p\n";
    let mut program = with(&["files", "main.py"], json!(format!("{wrong}{STENCILS}")));
    program["stencils"]["bad"] = json!({"function": "main.bad"});
    program["body"] = json!([{"call": "bad", "args": {"nothing": "q"}}]);
    let compilation = compiled(&program);
    let told: Vec<String> = compilation.diagnostics.iter().map(|it| it.code.to_string()).collect();
    assert_eq!(told, ["E07"], "a call of it is not checked: {:#?}", compilation.diagnostics);
    assert!(compilation.rendered(&compilation.diagnostics[0]).contains("main.py:3:13"));
}

#[test]
fn the_last_level_of_a_comment_line_is_not_that_of_a_range() {
    let mut program = with(&["files", "main.py"], json!(format!("# @domain 4 4 4\n{STENCILS}")));
    program["stencils"]["x"] = json!({"function": "main.last"});
    let why = "ranges have levels of their own; give it in `externals`";
    assert_eq!(told(&program), [format!("P17: the external `k_end` is refused: {why}")]);
    program["stencils"]["x"]["externals"] = json!({"k_end": 3});
    assert_eq!(told(&program), Vec::<String>::new());
}

#[test]
fn locals_are_written_where_they_are_read() {
    let unwritten = "P11: `l` is read, and nothing has written it";
    let maybe = "P12: `l` may be read where nothing has written it";
    let lap = json!({"call": "lap", "args": {"q": "q", "out": "l"}});
    let read = json!({"call": "copy", "args": {"a": "l", "b": "q"}});
    let wide = json!({"call": "lap", "args": {"q": "l", "out": "q"}});
    let fill = json!({"fill": "l", "with": 0});
    for (statements, expected) in [
        (json!([lap, read]), vec![]),
        (json!([read, lap]), vec![unwritten]),
        (json!([lap, wide]), vec![maybe]),
        (json!([fill, wide]), vec![]),
        (json!([lap, {"exchange": ["l"]}, wide]), vec![]),
        (json!([{"exchange": ["l"]}]), vec![unwritten]),
        (json!([{"if": "n", "then": [lap]}, read]), vec![maybe]),
        (json!([{"if": "n", "then": [lap], "else": [fill]}, read]), vec![]),
        (json!([{"if": "n", "then": [lap], "else": [{"trap": "no"}]}, read]), vec![]),
        (json!([{"for": "it", "range": ["n"], "body": [lap]}, read]), vec![maybe]),
        (json!([{"for": "it", "range": [2], "body": [lap]}, read]), vec![]),
        (json!([{"for": "it", "range": [2], "body": [read, lap]}]), vec![unwritten]),
        (json!([{"for": "it", "range": [2], "body": [{"if": "it > 0", "then": [read]}, lap]}]), vec![maybe]),
        (json!([{"copy": "l", "to": "q"}]), vec![unwritten]),
        (json!([lap, {"copy": "l", "to": "q"}]), vec![maybe]),
        (json!([{"call": "add", "args": {"q": "l"}}]), vec![maybe]),
    ] {
        assert_eq!(told(&body(statements.clone())), expected, "{statements:#}");
    }
}

#[test]
fn what_only_a_domain_or_a_run_can_tell_is_told_before_anything_runs() {
    let fault = |document: &Json, domain: [i64; 3], most_bytes: u64| {
        let mut compilation = compiled(document);
        let program = compilation.program.take().unwrap_or_else(|| panic!("{:#?}", compilation.diagnostics));
        let made =
            ProgramInstance::new(&program, &mut compilation.fronts, domain, HaloFill::None, most_bytes);
        let told = made.map(|_| ()).unwrap_err();
        assert!(told.iter().all(|it| it.primary.is_some() || it.code.to_string() == "P18"), "{told:#?}");
        format!("{}: {}", told[0].code, told[0].message)
    };
    let fixed = json!({"role": "argument", "dtype": "float64", "axes": "IJK", "shape": [5, 5, "K"], "origin": [1, 1, 0]});
    let mut program = with(&["fields", "q"], fixed);
    for (domain, expected) in [
        ([0, 1, 1], "P18: the domain is 0x1x1"),
        ([1, 1, 1 << 21], "P18: the domain is 1x1x2097152"),
        ([5, 1, 1], "C04: field `q` has 5 points along I, but the call needs 6"),
    ] {
        let told = fault(&program, domain, MOST_BYTES);
        assert!(told.starts_with(&expected[..4]), "{told}");
    }
    assert!(fault(&program, [2, 2, 2], 100).starts_with("P18: the fields take "));
    // A caller that answers callbacks has its own fields already.
    let mut compilation = compiled(&program);
    let checked = compilation.program.take().unwrap();
    let own = ProgramBytes::of(&checked, Domain::new(2, 2, 2)).own;
    for (most_bytes, is_right) in [(own, true), (own - 1, false)] {
        let fronts = &mut compilation.fronts;
        let made = ProgramInstance::with_callbacks(&checked, fronts, [2, 2, 2], HaloFill::None, most_bytes);
        assert_eq!(made.is_ok(), is_right);
    }
    program["body"] = json!([{"exchange": ["q"], "width": 1}]);
    assert_eq!(
        fault(&program, [4, 1, 1], MOST_BYTES),
        "P16: `q` lacks 1 elements at the end of I, which `exchange` touches"
    );
    program["body"] = json!([{"exchange": ["q"], "kind": "interface"}]);
    assert_eq!(
        fault(&program, [1, 1, 1], MOST_BYTES),
        "P17: an exchange of kind `interface` is refused: it is between ranks, and this run has none: give it a layout, as \
         `--layout 1,1`"
    );
    program["body"] = json!([{"host": "log", "reads": ["q"]}]);
    assert_eq!(
        fault(&program, [1, 1, 1], MOST_BYTES),
        "P17: the callback `log` is refused: this compiler calls nothing outside of a program"
    );
    program["body"] = json!([]);
    program["stencils"]["add"]["domain"] = json!(["I", "J", "K-3"]);
    assert_eq!(
        fault(&program, [1, 1, 1], MOST_BYTES),
        "P18: the size K-3 of the range of `add` is negative on 1x1x1"
    );
}

#[test]
fn a_warning_does_not_stop_a_run() {
    let program = body(json!([{"call": "add", "args": {"q": "l"}}]));
    let run = Run::with_warnings(&program, [1, 1, 1], HaloFill::None);
    assert!(run.instance.shape("l").is_some());
}
