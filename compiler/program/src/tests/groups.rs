//! Groups of statements.

use std::sync::Arc;

use expect_test::{Expect, expect};
use isobar_front::config::Config;
use isobar_ground::call::launch::Launch;
use isobar_ground::call::run::Control;
use isobar_reference::front::Front;
use serde_json::{Value as Json, json};

use super::generated::generated;
use super::{Run, compiled, document, halo_field};
use crate::compile::compile;
use crate::group::group_calls;
use crate::interpret::{
    GroupParam, GroupStop, HaloFill, ProgramStop, StencilInterpreter, StencilRunner, StencilStop,
};
use crate::nodes::ProgramStmtKind;
use crate::parse::parse;
use crate::print::listing;
use crate::validate::validate;

fn program(body: &Json) -> Json {
    document(json!({
        "grid": {"halo": 1},
        "fields": {"q": halo_field(), "r": halo_field(), "l": {"role": "local", "like": "q"},
            "column": {"role": "argument", "dtype": "float64", "axes": "K", "shape": ["K"], "origin": [0]},
            "table": {"role": "argument", "dtype": "float64", "axes": "IJK", "shape": ["I+2", "J+2", 7], "origin": [1, 1, 0]},
            "tracers": {"role": "argument", "dtype": "float64", "axes": "IJK", "shape": ["I+2", "J+2", "K", 40], "origin": [1, 1, 0],
                "staggered": "IJ"}},
        "scalars": {"n": {"role": "state", "dtype": "int64", "init": 1}},
        "stencils": {"copy": {"function": "main.copy", "domain": ["I", "J", "K"]},
            "add": {"function": "main.add", "domain": ["I", "J", "K"]},
            "turned": {"function": "main.add", "domain": ["J", "J", "K"]},
            "few": {"function": "main.copy", "domain": [1, "J", "K"]}},
        "body": body}))
}

/// The statements behind grouping, and the reasons of those that stand for themselves.
fn check(body: &Json, expected: &Expect) {
    let mut compilation = compiled(&program(body));
    let mut program = compilation.program.take().unwrap_or_else(|| panic!("{:#?}", compilation.diagnostics));
    let missed = group_calls(&mut program);
    assert_eq!(validate(&program), Vec::<String>::new());
    let text = listing(&program).text;
    assert_eq!(listing(&parse(&text).unwrap()).text, text);
    let reasons: String = missed.into_iter().map(|(_, why)| format!("alone: {why}\n")).collect();
    expected.assert_eq(&(text.split_once("\n\n").unwrap().1.to_owned() + &reasons));
}

#[test]
fn calls_copies_and_fills_that_stand_behind_each_other_are_a_group() {
    let copy = json!({"call": "copy", "args": {"a": "q", "b": "r"}});
    let add = json!({"call": "add", "args": {"q": "r", "by": "n"}});
    check(
        &json!([
            {"let": "n", "be": "n + 1"}, copy, {"let": "n", "be": "n + 1"}, {"mark": "here"}, add, {"let": "n", "be": "0"},
            {"exchange": ["q"], "width": 1},
            {"if": "n > 0", "then": [{"fill": "q", "with": 0}, {"copy": "q", "to": "r"}], "else": [add]},
            {"for": "it", "range": [3], "body": [copy, copy, {"swap": ["q", "r"]}, copy]},
            copy, {"host": "log", "reads": ["q"]}, copy]),
        &expect![[r#"
            let n = n + 1
            group 0
              call copy(a=q, b=r)
              let n = n + 1
              mark "here"
              call add(q=r, by=n)
            let n = 0
            exchange update scalar 1 of q
            if n > 0
              group 1
                fill q with 0
                copy q to r
            else
              call add(q=r, by=n)
            for it in range(0, 3, 1)
              group 2
                call copy(a=q, b=r)
                call copy(a=q, b=r)
              swap q and r
              call copy(a=q, b=r)
            call copy(a=q, b=r)
            host log(reads(q), writes(), gives())
            call copy(a=q, b=r)
        "#]],
    );
}

#[test]
fn fields_and_ranges_that_do_not_grow_with_the_domain_stand_for_themselves() {
    let few = json!({"call": "few", "args": {"a": "q", "b": "r"}});
    check(
        &json!([few, few, {"fill": "column", "with": 1}, few, few, {"fill": "table", "with": 1}, few, few,
            {"fill": "tracers", "with": 1}, few, few, {"call": "turned", "args": {"q": "q", "by": 1}}, few]),
        &expect![[r#"
            group 0
              call few(a=q, b=r)
              call few(a=q, b=r)
            fill column with 1
            group 1
              call few(a=q, b=r)
              call few(a=q, b=r)
            fill table with 1
            group 2
              call few(a=q, b=r)
              call few(a=q, b=r)
            fill tracers with 1
            group 3
              call few(a=q, b=r)
              call few(a=q, b=r)
            call turned(q=q, by=1)
            call few(a=q, b=r)
            alone: `column` lacks I or J
            alone: `table` has 7 points along K
            alone: `tracers` has 40 elements at a point
            alone: the range of `turned` has J points along I
        "#]],
    );
}

#[test]
fn the_interpreter_runs_a_group_as_its_statements() {
    for seed in 0..40 {
        let text = generated(seed).to_string();
        let mut results = Vec::new();
        for is_grouped in [false, true] {
            let mut compilation = compile("program.json", &text, Config::default());
            let mut program = compilation.program.take().unwrap();
            if is_grouped {
                group_calls(&mut program);
            }
            let mut run = Run::of(&program, &mut compilation, [3, 2, 2], HaloFill::Periodic);
            run.set("q", |at| (at % 7) as f64 - 2.0).set("r", |at| (at % 5) as f64 / 4.0);
            let report = run.run().unwrap();
            let bits = |name: &str| run.field(name).into_iter().map(f64::to_bits).collect::<Vec<_>>();
            results.push((bits("q"), bits("r"), report));
        }
        assert_eq!(results[0], results[1], "seed {seed}");
    }
}

/// Takes the scalars of groups, and stores nothing.
#[derive(Default)]
struct Recorder {
    launched: Vec<String>,
}

impl StencilRunner for Recorder {
    fn run(
        &mut self,
        front: &Arc<Front>,
        launch: &mut Launch,
        control: &mut dyn Control,
    ) -> Result<(), StencilStop> {
        self.launched.push("call".to_owned());
        StencilInterpreter.run(front, launch, control)
    }

    fn group(&mut self, _: usize) -> Option<Arc<[GroupParam]>> {
        let scalar = |statement| GroupParam::Scalar { statement, param: 1 };
        Some(Arc::new([scalar(0), scalar(2)]))
    }

    fn run_group(
        &mut self,
        number: usize,
        launch: &mut Launch,
        _: &mut dyn Control,
    ) -> Result<(), GroupStop> {
        self.launched.push(format!("group {number}: {:?}", launch.arguments));
        let stop = StencilStop::Fault { why: "it ends".to_owned(), statement: None };
        Err(GroupStop { stop, statement: Some(2) })
    }
}

/// The launches that a runner was asked for, and why the run ended, on a domain.
fn recorded(body: &Json, domain: [i64; 3]) -> (Vec<String>, String) {
    let mut compilation = compiled(&program(body));
    let mut program = compilation.program.take().unwrap();
    group_calls(&mut program);
    assert!(matches!(program.body[0].kind, ProgramStmtKind::Group { number: 0, .. }));
    let mut run = Run::of(&program, &mut compilation, domain, HaloFill::None);
    let mut recorder = Recorder::default();
    let ended =
        run.instance.run_with(&mut run.inputs, &mut recorder, &mut isobar_ground::call::run::NoControl);
    let why = match ended {
        Ok(_) | Err(ProgramStop::Cancelled) => String::new(),
        Err(ProgramStop::Fault(told)) => told.iter().map(|it| compilation.rendered(it)).collect(),
    };
    (recorder.launched, why)
}

#[test]
fn code_of_a_group_has_the_scalars_of_its_statements_and_tells_the_one_that_ended() {
    let add = |by: &str| json!({"call": "add", "args": {"q": "q", "by": by}});
    let (launched, why) = recorded(&json!([add("n"), {"let": "n", "be": "n + 2"}, add("n / 2")]), [2, 2, 2]);
    assert_eq!(launched, ["group 0: [Scalar(Float64(1.0)), Scalar(Float64(1.5))]"]);
    assert!(why.contains("error[P20]: `add` ended: it ends"), "{why}");
}

#[test]
fn a_scalar_without_a_value_ends_the_run_at_its_own_statement() {
    let add = |by: &str| json!({"call": "add", "args": {"q": "q", "by": by}});
    let (launched, why) = recorded(&json!([add("n"), add("1 / (n - 1)")]), [2, 2, 2]);
    // The first call is carried out before.
    assert_eq!(launched, ["call"]);
    assert!(why.contains("a divisor is zero"), "{why}");
}

#[test]
fn a_group_with_a_range_without_points_runs_call_by_call() {
    let mut document = program(&json!([
        {"call": "small", "args": {"a": "q", "b": "r"}}, {"call": "small", "args": {"a": "q", "b": "r"}}]));
    document["stencils"]["small"] = json!({"function": "main.copy", "domain": ["I-1", "J", "K"]});
    let mut compilation = compiled(&document);
    let mut program = compilation.program.take().unwrap();
    group_calls(&mut program);
    for (size, expected) in [(1, vec!["call", "call"]), (2, vec!["group 0: [Unused, Unused]"])] {
        let mut run = Run::of(&program, &mut compilation, [size, 2, 2], HaloFill::None);
        let mut recorder = Recorder::default();
        let _ =
            run.instance.run_with(&mut run.inputs, &mut recorder, &mut isobar_ground::call::run::NoControl);
        assert_eq!(recorder.launched, expected);
    }
}
