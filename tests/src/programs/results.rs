//! Generated programs that name their results. Their other fields become locals, which share memory.

use std::sync::Arc;

use isobar_compiler::config::Config;
use isobar_program::compile::compile;
use isobar_program::interpret::HaloFill;
use isobar_program::nodes::ContainerRole;
use isobar_runtime::executors::{Executor, rayon};
use serde_json::{Value as Json, json};

use crate::levels::Held;

use super::generate::{Draw, STENCILS};
use super::{DOMAINS, ProgramRunner, bits_of, ran_fields};

/// The fields that are no results.
const PRIVATE: [&str; 6] = ["x0", "x1", "x2", "x3", "x4", "x5"];

/// The fields that are results.
const RESULTS: [&str; 2] = ["q", "r"];

/// Stencils that write each point of their range, and those that read what they write.
const WHOLE: [&str; 6] = ["lap", "two", "masked", "up", "down", "step"];
const PARTIAL: [&str; 4] = ["edges", "above", "found", "all_of_it"];

/// The fates of the private fields of a program.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PrivateFields {
    /// Those that are locals.
    pub n_locals: usize,
    /// Those that stay arguments, since earlier values matter.
    pub n_kept: usize,
}

/// Whether a generated program has the same results where its other fields are locals.
///
/// # Errors
///
/// The domain, and what differs.
pub fn hold_results(seed: u64, runner: &ProgramRunner) -> Result<PrivateFields, String> {
    let document = generated(seed);
    let mut shorter = document.clone();
    shorter["results"] = json!(RESULTS);
    let [all, few] = [&document, &shorter].map(Json::to_string);
    let alone = ProgramRunner { executor: None, joins_calls: false, ..runner.clone() };
    for (at, domain) in DOMAINS.into_iter().enumerate() {
        let fills = [HaloFill::Periodic, HaloFill::None, HaloFill::ZeroGradient];
        let of_run = (domain, fills[at % fills.len()]);
        let expected = ran_fields(&all, of_run, &alone, &RESULTS);
        let expected =
            expected.map_err(|why| format!("seed {seed} on {domain:?}: the interpreter says {why}"))?;
        for runner in [&alone, runner] {
            let found = ran_fields(&few, of_run, runner, &RESULTS);
            let found = found.map_err(|why| format!("seed {seed} on {domain:?}: {why}\n{few}"))?;
            let differs = |name: &str| bits_of(&expected[name]) != bits_of(&found[name]);
            if let Some(name) = RESULTS.iter().find(|it| differs(it)) {
                return Err(format!("seed {seed} on {domain:?}: `{name}` differs with {runner:?}\n{few}"));
            }
        }
    }
    let compiled = compile("model.json", &few, Config::default());
    let containers = compiled.program.iter().flat_map(|it| it.containers.values());
    let n_locals = containers.filter(|it| it.role == ContainerRole::Local).count();
    Ok(PrivateFields { n_locals, n_kept: compiled.kept.len() })
}

/// The same on `rayon`, with joined calls.
///
/// # Errors
///
/// As for [`hold_results`].
pub fn hold_results_in_code(seed: u64) -> anyhow::Result<Held> {
    let executor: Arc<dyn Executor> = Arc::new(rayon::Rayon);
    let runner =
        ProgramRunner { executor: Some(executor), joins_calls: true, temporary: std::env::temp_dir() };
    let found = hold_results(seed, &runner).map_err(anyhow::Error::msg)?;
    Ok(Held { runs: (found.n_locals + found.n_kept) as u64, ..Held::default() })
}

/// A program whose private fields mostly have values of this run, on ranges of several widths.
fn generated(seed: u64) -> Json {
    let mut draw = Draw(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ 0x5DEE_CE66);
    draw.below(2);
    let field = json!({"role": "argument", "dtype": "float64", "axes": "IJK",
        "shape": ["I+6", "J+6", "K+1"], "origin": [3, 3, 0]});
    let plane =
        json!({"role": "local", "dtype": "float64", "axes": "IJ", "shape": ["I+6", "J+6"], "origin": [3, 3]});
    let mut fields = json!({"p": plane});
    for name in RESULTS.iter().chain(&PRIVATE) {
        fields[*name] = field.clone();
    }
    // A state that is no result becomes a local as well.
    if draw.below(2) == 0 {
        fields["x5"]["role"] = json!("state");
        fields["x5"]["init"] = json!(0.5);
    }
    let mut stencils = json!({});
    for function in WHOLE.iter().chain(&PARTIAL) {
        for width in 0..3_i64 {
            // The narrowest may have no points on the smallest domain.
            let is_empty = width == 0 && draw.below(2) == 0;
            let more = if is_empty { -1 } else { 2 * width };
            let domain = json!([format!("I{more:+}"), format!("J{more:+}"), "K"]);
            stencils[format!("{function}_{width}")] = json!({"function": format!("main.{function}"),
                "origin": [-width, -width, 0], "domain": domain});
        }
    }
    let mut body = Vec::new();
    for _ in 0..3 {
        body.extend(statements(&mut draw, 2));
    }
    json!({
        "isobar_program": 1, "name": "private", "files": {"main.py": STENCILS}, "grid": {"halo": 3},
        "fields": fields,
        "scalars": {"a": {"role": "argument", "dtype": "float64"},
            "it": {"role": "state", "dtype": "int64", "init": 1}},
        "stencils": stencils,
        "body": body,
    })
}

fn statements(draw: &mut Draw, depth: u64) -> Vec<Json> {
    let n = 2 + draw.below(4);
    (0..n).flat_map(|_| statement(draw, depth)).collect()
}

fn statement(draw: &mut Draw, depth: u64) -> Vec<Json> {
    let any = |draw: &mut Draw| {
        if draw.below(3) == 0 { draw.one(&RESULTS) } else { draw.one(&PRIVATE) }
    };
    match draw.below(if depth > 0 { 16 } else { 13 }) {
        0 => vec![json!({"copy": any(draw), "to": draw.one(&PRIVATE)})],
        1 => vec![json!({"fill": draw.one(&PRIVATE), "with": draw.below(3)})],
        2 => vec![json!({"let": "it", "be": "it + 1"})],
        3 => vec![json!({"swap": [draw.one(&PRIVATE), any(draw)]})],
        // All ranks come to an exchange, so none stands below a condition.
        4 if depth == 2 => vec![json!({"exchange": [any(draw)], "width": 1 + draw.below(2)})],
        5 => {
            let (one, other) = (any(draw), any(draw));
            vec![called(draw, &PARTIAL, 2, one, other)]
        }
        13 => {
            let body = statements(draw, depth - 1);
            vec![json!({"for": format!("n{depth}"), "range": [0, draw.below(4)], "body": body})]
        }
        14 | 15 => {
            let [then, other] = [0, 1].map(|_| statements(draw, depth - 1));
            vec![json!({"if": "it % 2 == 0", "then": then, "else": other})]
        }
        // A field is written on a wide range, and read on a narrower one.
        _ => {
            let (source, private, result) = (any(draw), draw.one(&PRIVATE), draw.one(&RESULTS));
            let wide = if draw.below(4) == 0 { PARTIAL.as_slice() } else { &WHOLE[..5] };
            let mut made = vec![called(draw, wide, 3, source, private)];
            if draw.below(2) == 0 {
                let other = draw.one(&PRIVATE);
                made.push(called(draw, &WHOLE, 2, private, other));
                made.push(called(draw, &WHOLE, 1, other, result));
            } else {
                made.push(called(draw, &WHOLE, 2, private, result));
            }
            made
        }
    }
}

/// A call of a function on a range that is less than `widths` points wider on each side than the domain.
fn called(draw: &mut Draw, functions: &[&str], widths: u64, a: &str, b: &str) -> Json {
    let function = draw.one(functions);
    let width = if draw.below(4) == 0 { draw.below(widths) } else { widths - 1 };
    let mut args = json!({"a": a, "b": b});
    match function {
        "step" => args["by"] = json!("a / (it + 1)"),
        "found" => args["at"] = json!("it % 2"),
        _ => {}
    }
    json!({"call": format!("{function}_{width}"), "args": args})
}
