//! The text of the Program IR, and back.

use expect_test::{Expect, expect};
use serde_json::{Value as Json, json};

use super::{compiled, document, halo_field};
use crate::compile::ProgramCompilation;
use crate::parse::parse;
use crate::print::listing;
use crate::validate::validate;

fn program_text(document: &Json) -> String {
    let compilation = compiled(document);
    let ProgramCompilation { program: Some(program), .. } = &compilation else {
        let told: Vec<String> = compilation.diagnostics.iter().map(|it| compilation.rendered(it)).collect();
        panic!("{}", told.join("\n"));
    };
    listing(program).text
}

fn check(document: &Json, expected: &Expect) {
    let text = program_text(document);
    expected.assert_eq(&text);
    assert_eq!(program_text(document), text, "the same document has the same text");
    let again = parse(&text).unwrap_or_else(|it| panic!("{it}\n{text}"));
    assert_eq!(validate(&again), Vec::<String>::new());
    assert_eq!(listing(&again).text, text);
}

#[test]
fn every_declaration_and_statement_is_printed_and_reads_back() {
    let program = document(json!({
        "grid": {"halo": 1, "edges": ["north"]},
        "fields": {
            "q": halo_field(),
            "given": {"role": "constant", "like": "q"},
            "s": {"role": "state", "like": "q", "init": "-inf"},
            "l": {"role": "local", "like": "q"},
            "plane": {"role": "state", "dtype": "int32", "axes": "IJ", "shape": ["I+2", 7]},
            "tracers": {"role": "argument", "dtype": "float64", "axes": "IJK", "shape": ["I+2", "J+2", "K", 3, 2]},
            "pair": {"view": "tracers", "data_index": [1]},
            "vapor": {"view": "pair", "data_index": [0]}},
        "scalars": {
            "dt": {"role": "argument", "dtype": "float32"},
            "n": {"role": "constant", "dtype": "int64", "value": -3},
            "calls": {"role": "state", "dtype": "int32", "init": 7}},
        "stencils": {
            "model.add": {"function": "main.add", "externals": {"flag": true, "c": {"dtype": "float32", "value": 0.1}}},
            "copy": {"function": "main.copy", "origin": {"_all_": [0, 0, 0], "a": [-1, 0, 0]}, "domain": ["I", 2, "K-1"]}},
        "plans": {"east": {"tag": 7, "neighbours": [{"rank": 2,
            "send": [{"field": 1, "along": [[2, 0, 1, 1], [0, 3, 2, -1], [1, 1, 1, 1]], "negated": true}],
            "receive": [{"field": 0, "along": [[0, 3, 1, 1], [1, 1, 1, 1], [2, 0, 1, 1]]}]}]}},
        "programs": {"twice": [{"call": "model.add", "args": {"q": "q"}}, {"call": "model.add", "args": {"q": "q", "by": 2}}]},
        "body": [
            {"program": "twice"},
            {"let": "calls", "be": "calls + 1"},
            {"let": "half", "dtype": "float32", "be": "dt / float32(2)"},
            {"fill": "l", "with": "float(dt)"},
            {"for": "it", "range": ["n", 5, 2], "body": [
                {"call": "copy", "args": {"a": "l", "b": "vapor"}},
                {"exchange": ["q", {"view": "tracers", "data_index": [0, 1]}], "phase": "start"},
                {"exchange": ["q", {"view": "tracers", "data_index": [0, 1]}], "phase": "wait"}]},
            {"while": "calls > 0 and not calls == 5", "limit": 10, "body": [{"let": "calls", "be": "calls - 1"}]},
            {"if": "half > float32(0.5)", "then": [{"mark": "a \"mark\"\n"}], "else": [
                {"if": "n < 0", "then": [{"trap": "n"}]}]},
            {"copy": "given", "to": "s"},
            {"swap": ["q", "s"]},
            {"exchange": ["q", "s"], "kind": "vector", "width": 1, "plan": "east"},
            {"swap": [{"view": "pair", "data_index": [1]}, "vapor"]},
            {"host": "log", "reads": ["q"], "writes": ["l", "vapor"], "gives": {"t": "bool"}}]}));
    check(
        &program,
        &expect![[r#"
            program test
            grid 1 north
            argument q: float64 IJK [I+2, J+2, K] at [1, 1, 0]
            constant given: float64 IJK [I+2, J+2, K] at [1, 1, 0]
            state s: float64 IJK [I+2, J+2, K] at [1, 1, 0] = -inf
            local l: float64 IJK [I+2, J+2, K] at [1, 1, 0]
            state plane: int32 IJ [I+2, 7] at [1, 1, 0] = 0
            argument tracers: float64 IJK [I+2, J+2, K] data [3, 2] at [1, 1, 0]
            scalar argument dt: float32
            scalar constant n: int64 = -3
            scalar state calls: int32 = 7
            scalar local half: float32
            scalar local it: int64
            scalar local t: bool
            stencil model.add = main.add on [I, J, K] at [0, 0, 0]
              levels 0
              external flag = true
              external c = {"dtype":"float32","value":0.1}
              field q: float64 IJK read-write needs [0:0, 0:0, 0:0] touches [0:0, 0:0, 0:0]
              scalar by: float64 read = 1.0
            stencil copy = main.copy on [I, 2, K-1] at [0, 0, 0]
              levels 0
              origin a [-1, 0, 0]
              field a: float64 IJK read needs [0:0, 0:0, 0:0] touches [0:0, 0:0, 0:0]
              field b: float64 IJK write needs [0:0, 0:0, 0:0] touches [0:0, 0:0, 0:0]
            plan east tag 7
              rank 2
                send 1 [2 0 1 +, 0 3 2 -, 1 1 1 +] negated
                receive 0 [0 3 1 +, 1 1 1 +, 2 0 1 +]

            call model.add(q=q)
            call model.add(q=q, by=2)
            let calls = calls + 1
            let half = dt / float32(2)
            fill l with float(dt)
            for it in range(n, 5, 2)
              call copy(a=l, b=tracers[1, 0])
              exchange start scalar 1 of q, tracers[0, 1]
              exchange wait scalar 1 of q, tracers[0, 1]
            while at most 10: calls > 0 and not calls == 5
              let calls = calls - 1
            if half > float32(0.5)
              mark "a \"mark\"\n"
            else
              if n < 0
                trap "n"
            copy given to s
            swap q and s
            exchange update vector 1 of q, s by east
            swap tracers[1, 1] and tracers[1, 0]
            host log(reads(q), writes(l, tracers[1, 0]), gives(t))
        "#]],
    );
}
