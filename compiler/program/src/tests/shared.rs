//! Programs of one process share the stencils of equal texts and options, and no others.

use std::sync::Arc;

use isobar_front::config::Config;
use isobar_reference::front::Front;
use serde_json::{Value as Json, json};

use super::{bare_field, document};
use crate::compile::{ProgramCompilation, ProgramOptions, compile};
use crate::stencils::SharedStencils;

/// A program that adds to a field, looks at edges, and gives one field twice.
fn program(domain: &Json) -> Json {
    document(json!({
        "fields": {"q": bare_field("argument"), "r": bare_field("argument")},
        "stencils": {"add": {"function": "main.add"}, "ends": {"function": "main.ends"},
            "copy": {"function": "main.copy", "domain": domain}},
        "body": [{"call": "add", "args": {"q": "q"}}, {"call": "ends", "args": {"q": "q"}},
            {"call": "copy", "args": {"a": "r", "b": "r"}}]}))
}

fn compiled(document: &Json, options: ProgramOptions) -> ProgramCompilation {
    let compiled = compile("program.json", &document.to_string(), options);
    assert!(!compiled.has_errors(), "{:#?}", compiled.diagnostics);
    compiled
}

/// The stencils of the calls: `add`, `ends`, and `copy` on one field.
fn fronts(of: &mut ProgramCompilation) -> Vec<Arc<Front>> {
    let program = of.program.as_ref().unwrap();
    let pairs: [&[[usize; 2]]; 3] = [&[], &[], &[[0, 1]]];
    let all = program.stencils.values().zip(pairs);
    all.map(|(stencil, pairs)| of.fronts.unified(stencil, pairs).unwrap()).collect()
}

fn are_same(one: &[Arc<Front>], other: &[Arc<Front>]) -> Vec<bool> {
    one.iter().zip(other).map(|(one, other)| Arc::ptr_eq(one, other)).collect()
}

#[test]
fn programs_of_equal_texts_share_their_stencils() {
    let shared = SharedStencils::default();
    let options = || ProgramOptions { shared: shared.clone(), ..Config::default().into() };
    let mut first = compiled(&program(&json!(["I", "J", "K"])), options());
    let of_first = fronts(&mut first);
    let others = [
        // Another program of the same texts, whose range is another one.
        (compiled(&program(&json!(["I", "J", 1])), options()), [true, true, true]),
        // Another place on the tile: `ends` reads it.
        (
            compiled(&program(&json!(["I", "J", "K"])), ProgramOptions { edges: [false; 4], ..options() }),
            [true, false, true],
        ),
        (compiled(&program(&json!(["I", "J", "K"])), Config::default().into()), [false; 3]),
    ];
    for (at, (mut other, expected)) in others.into_iter().enumerate() {
        assert_eq!(are_same(&of_first, &fronts(&mut other)), expected, "{at}");
    }
    let mut text = program(&json!(["I", "J", "K"]));
    let changed = text["files"]["main.py"].as_str().unwrap().replace("q = q + by", "q = q - by");
    text["files"]["main.py"] = json!(changed);
    assert_eq!(are_same(&of_first, &fronts(&mut compiled(&text, options()))), [false; 3]);
}

#[test]
fn stencils_with_faults_are_told_in_each_program() {
    let shared = SharedStencils::default();
    let mut text = program(&json!(["I", "J", "K"]));
    let changed = text["files"]["main.py"].as_str().unwrap().replace("q = q + by", "q = p + by");
    text["files"]["main.py"] = json!(changed);
    let told = || {
        let options = ProgramOptions { shared: shared.clone(), ..Config::default().into() };
        let compiled = compile("program.json", &text.to_string(), options);
        compiled.diagnostics.iter().map(|it| compiled.rendered(it)).collect::<Vec<_>>()
    };
    let first = told();
    assert!(first[0].contains("`p`"), "{first:?}");
    assert_eq!(told(), first);
}
