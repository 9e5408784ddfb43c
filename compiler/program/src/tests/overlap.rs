//! Phases of exchanges between ranks.

use expect_test::{Expect, expect};
use isobar_ground::space::Domain;
use serde_json::{Value as Json, json};

use super::{compiled, document, halo_field};
use crate::decomposition::{RankGrid, Topology, planned};
use crate::group::group_calls;
use crate::interpret::Answers;
use crate::interpret::HaloFill;
use crate::nodes::{ProgramIr, ProgramStmt, ProgramStmtKind};
use crate::overlap::overlap_exchanges;
use crate::print::listing;
use crate::validate::validate;

fn of_rank(body: &Json) -> ProgramIr {
    let mut compilation = compiled(&document(json!({
        "grid": {"halo": 1},
        "fields": {"q": halo_field(), "r": halo_field(), "s": halo_field(), "t": halo_field()},
        "scalars": {"n": {"role": "argument", "dtype": "int64"}},
        "stencils": {"lap": {"function": "main.lap", "domain": ["I", "J", "K"]},
            "set": {"function": "main.set", "domain": ["I", "J", "K"]}},
        "body": body})));
    let program = compilation.program.take().unwrap_or_else(|| panic!("{:#?}", compilation.diagnostics));
    let grid = RankGrid { topology: Topology::Tile(HaloFill::Periodic), layout: [2, 1] };
    planned(&program, &grid, 0, Domain::new(4, 4, 2)).unwrap()
}

/// The statements behind the pass.
fn check(body: &Json, expected: &Expect) {
    let mut program = of_rank(body);
    group_calls(&mut program);
    overlap_exchanges(&mut program, Answers::Callbacks);
    assert_eq!(validate(&program), Vec::<String>::new());
    let text = listing(&program).text;
    let (_, statements) = text.rsplit_once("\n\n").unwrap();
    expected.assert_eq(statements);
}

fn lap(q: &str, out: &str) -> Json {
    json!({"call": "lap", "args": {"q": q, "out": out}})
}

fn set(q: &str) -> Json {
    json!({"call": "set", "args": {"q": q, "to": "1.0"}})
}

fn exchange(q: &str, phase: &str) -> Json {
    json!({"exchange": [q], "width": 1, "phase": phase})
}

#[test]
fn an_exchange_is_under_way_while_calls_run_that_do_not_touch_its_fields() {
    // The call before writes other fields, and that behind reads others. A group stays one.
    check(
        &json!([set("q"), {"swap": ["s", "t"]}, set("r"), exchange("q", "update"), lap("s", "t"), lap("t", "s"),
            {"swap": ["s", "t"]}, lap("q", "r")]),
        &expect![[r#"
            call set(q=q, to=1.0)
            exchange start scalar 1 of q by exchange_0
            swap s and t
            call set(q=r, to=1.0)
            group 0
              call lap(q=s, out=t)
              call lap(q=t, out=s)
            swap s and t
            exchange wait scalar 1 of q by exchange_0
            call lap(q=q, out=r)
        "#]],
    );
}

#[test]
fn exchanges_that_stand_behind_each_other_wait_together() {
    check(
        &json!([
            set("q"),
            exchange("q", "update"),
            exchange("r", "update"),
            exchange("s", "update"),
            lap("q", "t")
        ]),
        &expect![[r#"
            call set(q=q, to=1.0)
            exchange start scalar 1 of q by exchange_0
            exchange start scalar 1 of r by exchange_1
            exchange start scalar 1 of s by exchange_2
            exchange wait scalar 1 of q by exchange_0
            call lap(q=q, out=t)
            exchange wait scalar 1 of s by exchange_2
            exchange wait scalar 1 of r by exchange_1
        "#]],
    );
}

#[test]
fn an_exchange_with_nothing_to_do_meanwhile_stays_whole() {
    check(
        &json!([
            set("q"),
            exchange("q", "update"),
            lap("q", "r"),
            exchange("r", "start"),
            exchange("r", "wait"),
            set("r")
        ]),
        &expect![[r#"
            call set(q=q, to=1.0)
            exchange update scalar 1 of q by exchange_0
            call lap(q=q, out=r)
            exchange update scalar 1 of r by exchange_1
            call set(q=r, to=1.0)
        "#]],
    );
}

#[test]
fn phases_stay_in_their_loop_and_pass_others() {
    check(
        &json!([{"for": "at", "range": [0, "n"], "body": [set("r"), {"swap": ["s", "t"]}, exchange("q", "update"),
                {"if": "n > 1", "then": [set("s")], "else": [lap("r", "t")]}]},
            exchange("q", "update"), {"for": "at", "range": [0, "n"], "body": [lap("q", "r")]}]),
        &expect![[r#"
            for at in range(0, n, 1)
              exchange start scalar 1 of q by exchange_0
              call set(q=r, to=1.0)
              swap s and t
              if n > 1
                call set(q=s, to=1.0)
              else
                call lap(q=r, out=t)
              exchange wait scalar 1 of q by exchange_0
            exchange update scalar 1 of q by exchange_0
            for at in range(0, n, 1)
              call lap(q=q, out=r)
        "#]],
    );
}

#[test]
fn nothing_passes_marks_and_other_exchanges_on_the_domain_alone() {
    check(
        &json!([set("s"), {"mark": "early"}, exchange("q", "update"), {"mark": "late"}, set("s")]),
        &expect![[r#"
            call set(q=s, to=1.0)
            mark "early"
            exchange update scalar 1 of q by exchange_0
            mark "late"
            call set(q=s, to=1.0)
        "#]],
    );
    // Without a plan, an exchange is a copy.
    let mut program = of_rank(&json!([set("s"), exchange("q", "update"), set("t")]));
    let no_plan = |it: &mut ProgramStmt| {
        if let ProgramStmtKind::Exchange(it) = &mut it.kind {
            it.plan = None;
        }
    };
    program.body.iter_mut().for_each(no_plan);
    let before = program.clone();
    overlap_exchanges(&mut program, Answers::Callbacks);
    assert_eq!(program.body, before.body);
}
