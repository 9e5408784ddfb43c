//! Halos that are read though they are older than the points beside them.

use serde_json::{Value as Json, json};

use super::{document, told};

/// The warnings of a program on fields with a halo of two points.
fn warned(body: &Json) -> Vec<String> {
    let field = |role: &str| json!({"role": role, "dtype": "float64", "axes": "IJK", "shape": ["I+4", "J+4", "K"], "origin": [2, 2, 0]});
    told(&document(json!({
        "grid": {"halo": 2},
        "fields": {"q": field("argument"), "r": field("argument")},
        "scalars": {"n": {"role": "argument", "dtype": "int64"}},
        "stencils": {
            "lap": {"function": "main.lap", "domain": ["I", "J", "K"]},
            "wide": {"function": "main.lap", "origin": [-1, -1, 0], "domain": ["I+2", "J+2", "K"]},
            "add": {"function": "main.add", "domain": ["I", "J", "K"]},
            "set": {"function": "main.set", "domain": ["I", "J", "K"]},
            "set_wide": {"function": "main.set", "origin": [-1, -1, 0], "domain": ["I+2", "J+2", "K"]},
            "left": {"function": "main.set", "domain": [2, "J", "K"]}},
        "body": body,
    })))
}

fn lap(stencil: &str) -> Json {
    json!({"call": stencil, "args": {"q": "q", "out": "r"}})
}

fn set(stencil: &str) -> Json {
    json!({"call": stencil, "args": {"q": "q", "to": "1.0"}})
}

fn exchange(width: u32, phase: &str) -> Json {
    json!({"exchange": ["q"], "width": width, "phase": phase})
}

const STALE: &str = "P21: `q` is read to depth 1 of its halo at the start of I, and is valid to 0";

#[test]
fn a_halo_is_stale_behind_a_write_and_valid_behind_an_exchange() {
    let none = Vec::<String>::new();
    let update = || exchange(1, "update");
    // The caller's halo is right; a write makes it stale.
    assert_eq!(warned(&json!([lap("lap"), update(), lap("lap")])), none);
    assert_eq!(warned(&json!([update(), set("set"), lap("lap")])), [STALE]);
    assert_eq!(warned(&json!([set("set"), update(), lap("lap")])), none);
    // As wide as the exchange, or as the write, and no wider.
    let deeper = STALE.replace("depth 1", "depth 2").replace("to 0", "to 1");
    assert_eq!(warned(&json!([set("set"), update(), lap("wide")])), [deeper.as_str()]);
    assert_eq!(warned(&json!([update(), set("set_wide"), lap("lap")])), none);
    assert_eq!(warned(&json!([update(), set("set_wide"), lap("wide")])), [deeper]);
    // Taken before the write.
    let between = json!([exchange(1, "start"), set("set"), exchange(1, "wait"), lap("lap")]);
    assert_eq!(warned(&between), [STALE]);
    assert_eq!(warned(&json!([set("set"), exchange(1, "start"), exchange(1, "wait"), lap("lap")])), none);
}

#[test]
fn a_halo_is_looked_at_on_each_way() {
    let none = Vec::<String>::new();
    let update = || exchange(1, "update");
    let again = |body: Json| json!([update(), {"for": "it", "range": [0, "n"], "body": body}]);
    // The second iteration reads the halo of the first one.
    assert_eq!(warned(&again(json!([lap("lap"), set("set")]))), [STALE]);
    assert_eq!(warned(&again(json!([update(), lap("lap"), set("set")]))), none);
    // One way writes. The other one may be taken.
    let may = json!({"if": "n > 1", "then": [set("set")]});
    assert_eq!(warned(&json!([update(), may, lap("lap")])), none);
    let both = json!({"if": "n > 1", "then": [set("set")], "else": [set("set"), {"mark": "late"}]});
    assert_eq!(warned(&json!([update(), both, lap("lap")])), [STALE]);
}

#[test]
fn nothing_is_told_of_fields_without_neighbours_and_of_those_that_several_calls_write() {
    let none = Vec::<String>::new();
    let other = json!({"exchange": ["r"], "width": 1});
    assert_eq!(warned(&json!([other, set("set"), lap("lap")])), none);
    assert_eq!(warned(&json!([exchange(1, "update"), set("left"), lap("lap")])), none);
    assert_eq!(
        warned(&json!([exchange(1, "update"), set("set"), {"fill": "q", "with": 0}, lap("lap")])),
        none
    );
}
