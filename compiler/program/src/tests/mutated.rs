//! Documents with random slips: each is understood or refused, and nothing else happens.

use isobar_ground::call::run::NoControl;
use serde_json::{Map, Value as Json, json};

use super::generated::{Draw, generated};
use super::{compiled, document, halo_field};
use crate::compile::compile;
use crate::document::ProgramDocument;
use crate::interpret::{HaloFill, ProgramInputs, ProgramInstance};
use crate::parse::parse;
use crate::print::listing;
use crate::validate::validate;

/// Values that a slip may put anywhere.
fn other(draw: &mut Draw) -> Json {
    let texts = [
        "q", "l", "it", "I", "K-1", "1 / 0", "it +", "main.lap", "local", "state", "float32", "scalar",
        "wait",
    ];
    match draw.below(8) {
        0 => json!(null),
        1 => json!(-1),
        2 => json!(0.5),
        3 => json!(u64::MAX),
        4 => json!([]),
        5 => json!({"view": "q", "data_index": [0]}),
        _ => json!(texts[usize::try_from(draw.below(texts.len() as u64)).unwrap()]),
    }
}

/// Changes one value somewhere inside.
fn change(at: &mut Json, draw: &mut Draw) {
    let n = match at {
        Json::Object(entries) => entries.len(),
        Json::Array(items) => items.len(),
        _ => 0,
    };
    if n == 0 || draw.below(6) == 0 {
        *at = other(draw);
        return;
    }
    let chosen = usize::try_from(draw.below(n as u64)).unwrap();
    match at {
        Json::Array(items) => match draw.below(5) {
            0 => drop(items.remove(chosen)),
            1 => items.push(items[chosen].clone()),
            _ => change(&mut items[chosen], draw),
        },
        Json::Object(entries) => {
            let key = entries.keys().nth(chosen).unwrap().clone();
            match draw.below(8) {
                0 => drop(entries.remove(&key)),
                1 => {
                    let value = entries.remove(&key).unwrap();
                    let names = ["q", "body", "limit", "it", "wait", "view", "a b", "K"];
                    entries.insert(names[usize::try_from(draw.below(8)).unwrap()].to_owned(), value);
                }
                _ => change(entries.get_mut(&key).unwrap(), draw),
            }
        }
        _ => {}
    }
}

/// A document with every kind of statement.
fn full() -> Json {
    let mut tracers = halo_field();
    tracers["shape"] = json!(["I+2", "J+2", "K", 3]);
    document(json!({
        "grid": {"halo": 1, "edges": []},
        "fields": {
            "q": halo_field(), "tracers": tracers,
            "l": {"role": "local", "like": "q"},
            "s": {"role": "state", "like": "q", "init": 2},
            "vapor": {"view": "tracers", "data_index": [1]}},
        "scalars": {"it": {"role": "state", "dtype": "int64"}, "c": {"role": "constant", "dtype": "float32", "value": 1.5}},
        "stencils": {"lap": {"function": "main.lap", "externals": {"e": 1}}, "add": {"function": "main.add", "origin": {"q": [0, 0, 0]}}},
        "programs": {"g": [{"call": "add", "args": {"q": "q", "by": "it"}}]},
        "body": [
            {"program": "g"},
            {"call": "lap", "args": {"q": "q", "out": "l"}},
            {"for": "n", "range": [0, 3, 2], "body": [
                {"exchange": ["q", "vapor"], "kind": "scalar", "width": 1, "phase": "start"},
                {"let": "it", "be": "it + n"},
                {"exchange": ["q", "vapor"], "kind": "scalar", "width": 1, "phase": "wait"}]},
            {"while": "it > 0", "limit": 9, "body": [{"let": "it", "be": "it - 1"}]},
            {"if": "it == 0 and c > float32(1)", "then": [{"copy": "q", "to": "s"}, {"mark": "m"}], "else": [{"trap": "t"}]},
            {"swap": ["q", "s"]},
            {"fill": {"view": "tracers", "data_index": [0]}, "with": "float(c)", "at": {"file": "main.py", "line": 2, "col": 5}}]}))
}

#[test]
fn a_document_with_slips_is_understood_or_refused() {
    let (mut n_right, mut n_wrong) = (0, 0);
    let mut draw = Draw(11);
    assert!(!compiled(&full()).has_errors(), "{:#?}", compiled(&full()).diagnostics);
    for round in 0..1500 {
        let mut mutant = if round % 4 == 0 { generated(round) } else { full() };
        for _ in 0..=draw.below(3) {
            // Texts of stencils are not the matter here, and stay.
            let files = mutant["files"].clone();
            change(&mut mutant, &mut draw);
            if !mutant.is_object() {
                mutant = Json::Object(Map::new());
            }
            mutant["files"] = files;
        }
        let mut compilation = compiled(&mutant);
        for told in &compilation.diagnostics {
            assert!(told.help.is_some() || !told.code.0.starts_with('P'), "{told:#?}");
            let _ = compilation.rendered(told);
        }
        let Some(program) = compilation.program.take() else {
            n_wrong += 1;
            assert!(compilation.has_errors(), "{mutant:#}");
            continue;
        };
        n_right += 1;
        let text = listing(&program).text;
        let again = parse(&text).unwrap_or_else(|it| panic!("{it}\n{text}"));
        assert_eq!((listing(&again).text, validate(&again)), (text, Vec::new()), "{mutant:#}");
        let domain = [1 + i64::from(round % 3 == 0), 1, 2];
        let made =
            ProgramInstance::new(&program, &mut compilation.fronts, domain, HaloFill::Periodic, 1 << 20);
        let Ok(mut instance) = made else { continue };
        let mut inputs = ProgramInputs::default();
        for it in program.containers.values().filter(|it| matches!(it.role.name(), "argument" | "constant")) {
            let shape = instance.shape(&it.name).unwrap();
            inputs.fields.insert(it.name.clone(), isobar_ground::call::array::Array::zeros(it.dtype, &shape));
        }
        // It ends well, or tells why.
        let _ = instance.run(&mut inputs, &mut NoControl);
    }
    assert!(n_right > 100 && n_wrong > 500, "{n_right} right, {n_wrong} wrong");
}

#[test]
fn a_document_is_written_as_it_was_read() {
    for document in [full(), generated(3)] {
        let read: ProgramDocument = serde_json::from_value(document).unwrap();
        let written = serde_json::to_string(&read).unwrap();
        let again: ProgramDocument = serde_json::from_str(&written).unwrap();
        assert_eq!(again, read);
        assert_eq!(serde_json::to_string(&again).unwrap(), written);
    }
}

#[test]
fn texts_that_break_off_are_refused() {
    let text = serde_json::to_string(&full()).unwrap();
    let config = isobar_front::config::Config::default;
    for end in (0..text.len()).step_by(7).filter(|it| text.is_char_boundary(*it)) {
        let compilation = compile("program.json", &text[..end], config());
        assert!(compilation.has_errors(), "{}", &text[..end]);
        compilation.diagnostics.iter().for_each(|it| drop(compilation.rendered(it)));
    }
    // The text of the level too.
    let program = compiled(&full()).program.unwrap();
    let listed = listing(&program).text;
    for end in (0..listed.len()).filter(|it| listed.is_char_boundary(*it)) {
        if let Ok(again) = parse(&listed[..end]) {
            let _ = (validate(&again), listing(&again));
        }
    }
}
