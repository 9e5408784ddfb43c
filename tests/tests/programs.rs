//! Programs of stencil calls on back ends that make code, against the interpreter: the same bits in every field and state.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on may end")]

use std::path::Path;
use std::sync::Arc;

use isobar_compiler::call::array::{Array, Elements};
use isobar_compiler::call::launch::ScalarInput;
use isobar_compiler::call::run::NoControl;
use isobar_compiler::config::Config;
use isobar_compiler::pass::PassOptions;
use isobar_compiler::types::{DType, Value};
use isobar_program::compile::compile;
use isobar_program::interpret::{
    HaloFill, MOST_BYTES, ProgramInputs, ProgramInstance, ProgramReport, ProgramStop,
};
use isobar_runtime::executors::{Executor, OwnedSetting, interpreters, openmp, rayon};
use isobar_runtime::programs::ProgramCode;
use serde_json::{Value as Json, json};

const STENCILS: &str = "
def lap(q: Field[float], out: Field[float]):
    with computation(PARALLEL), interval(...):
        out = q[-1, 0, 0] + q[1, 0, 0] + q[0, -1, 0] + q[0, 1, 0] - 4.0 * q

def step(q: Field[float], l: Field[float], a: float):
    with computation(PARALLEL), interval(...):
        q = q + a * l

def corner(to: Field[float], of: Field[float]):
    from __externals__ import i_start, j_start
    with computation(PARALLEL), interval(...):
        with horizontal(region[i_start - 1, j_start - 1]):
            to = of[1, 1, 0]

def down(q: Field[float], total: Field[float]):
    with computation(FORWARD):
        with interval(0, 1):
            total = q
        with interval(1, None):
            total = total[0, 0, -1] + q

def gathered(q: Field[float], out: Field[float], at: int):
    with computation(PARALLEL), interval(...):
        out = q[0, 0, at]
";

/// A field with a halo of two points along I and J.
fn field(role: &str) -> Json {
    json!({"role": role, "dtype": "float64", "axes": "IJK", "shape": ["I+4", "J+4", "K"], "origin": [2, 2, 0]})
}

fn document(body: &Json) -> String {
    let tracers = json!({"role": "argument", "dtype": "float64", "axes": "IJK",
        "shape": ["I+4", "J+4", "K", 2], "origin": [2, 2, 0]});
    json!({
        "isobar_program": 1, "name": "model", "files": {"main.py": STENCILS}, "grid": {"halo": 2},
        "fields": {"q": field("argument"), "r": field("argument"), "s": field("state"), "l": field("local"),
            "tracers": tracers},
        "scalars": {"a": {"role": "argument", "dtype": "float64"}, "n": {"role": "argument", "dtype": "int64"}},
        "stencils": {
            "lap": {"function": "main.lap", "domain": ["I", "J", "K"]},
            "wide": {"function": "main.lap", "origin": [-1, -1, 0], "domain": ["I+2", "J+2", "K"]},
            "step": {"function": "main.step", "domain": ["I", "J", "K"]},
            "corner": {"function": "main.corner", "origin": [-1, -1, 0], "domain": ["I+2", "J+2", "K"]},
            "down": {"function": "main.down", "domain": ["I", "J", "K"]},
            "gathered": {"function": "main.gathered", "domain": ["I", "J", "K"]}},
        "body": body,
    })
    .to_string()
}

/// A step of a model: halos, two ranges of one function, one field as two parameters, a state, a view, run-time scalars.
fn model() -> String {
    let tracer = |at: u32| json!({"view": "tracers", "data_index": [at]});
    document(&json!([
        {"fill": "l", "with": 0.0},
        {"for": "it", "range": [0, "n"], "body": [
            {"exchange": ["q"], "kind": "scalar", "width": 2, "phase": "update"},
            {"call": "wide", "args": {"q": "q", "out": "l"}},
            {"call": "corner", "args": {"to": "l", "of": "l"}},
            {"call": "step", "args": {"q": "q", "l": "l", "a": "a / (it + 1)"}},
            {"if": "it % 2 == 0", "then": [{"call": "down", "args": {"q": "q", "total": "s"}}],
                "else": [{"call": "lap", "args": {"q": "q", "out": "r"}}]},
            {"call": "step", "args": {"q": tracer(1), "l": tracer(0), "a": "a"}},
            {"call": "step", "args": {"q": "r", "l": "s", "a": "0.5 if it > 0 else -a"}}]}]))
}

/// Numbers without order that are the same in every run, in C order.
fn numbered(shape: &[usize], seed: u32) -> Array {
    let elements = Elements::zeros(DType::Float64, shape.iter().product());
    let mut array = Array::from_c_order(elements, shape).unwrap();
    let mut number = seed;
    for at in 0..array.elements.len() {
        number = number.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        array.elements.set(at, Value::Float64(f64::from(number >> 8) / 1e5 - 80.0));
    }
    array
}

/// The bits of all fields and the state after two runs, or the words for why a run ended.
fn ran(
    text: &str,
    domain: [i64; 3],
    executor: Option<Arc<dyn Executor>>,
    at: i64,
) -> Result<(Vec<Vec<u8>>, ProgramReport), String> {
    let mut compilation = compile("model.json", text, Config::default());
    let program = compilation.program.take().unwrap_or_else(|| panic!("{:#?}", compilation.diagnostics));
    let mut instance =
        ProgramInstance::new(&program, &mut compilation.fronts, domain, HaloFill::Periodic, MOST_BYTES)
            .unwrap();
    let folder = tempfile::tempdir().unwrap();
    let mut code = executor.map(|it| {
        let cc = openmp::find_compiler(None, &std::env::var_os("PATH").unwrap_or_default());
        let setting = OwnedSetting { cc, temporary: folder.path().to_owned(), ..OwnedSetting::embedded(2) };
        let mut code = ProgramCode::new(it, setting, PassOptions::default());
        code.prepare(instance.fronts()).unwrap();
        assert_eq!(code.n_stencils(), instance.fronts().count());
        code
    });
    let mut inputs = ProgramInputs::default();
    for (seed, name) in (1..).zip(["q", "r", "tracers"]) {
        let shape = instance.shape(name).unwrap();
        inputs.fields.insert(name.to_owned(), numbered(&shape, seed));
    }
    inputs.scalars.insert("a".to_owned(), ScalarInput::Float(0.1));
    inputs.scalars.insert("n".to_owned(), ScalarInput::Int(at));
    let mut report = ProgramReport::default();
    for _ in 0..2 {
        let ended = match &mut code {
            None => instance.run(&mut inputs, &mut NoControl),
            Some(code) => instance.run_with(&mut inputs, code, &mut NoControl),
        };
        report = ended.map_err(|stop| match stop {
            ProgramStop::Cancelled => "cancelled".to_owned(),
            ProgramStop::Fault(told) => told.iter().map(|it| compilation.rendered(it)).collect(),
        })?;
    }
    let mut bits: Vec<_> = inputs.fields.values().map(Array::to_c_order_le_bytes).collect();
    bits.push(instance.state("s").unwrap().to_c_order_le_bytes());
    Ok((bits, report))
}

/// The back ends of the host that can run here, by name.
fn executors() -> Vec<(&'static str, Arc<dyn Executor>)> {
    let mut all: Vec<(&'static str, Arc<dyn Executor>)> =
        vec![("numpy", Arc::new(interpreters::Numpy)), ("rayon", Arc::new(rayon::Rayon))];
    let path = std::env::var_os("PATH").unwrap_or_default();
    match openmp::find_compiler(None, Path::new(&path).as_os_str()) {
        Ok(_) => all.push(("openmp", Arc::new(openmp::Openmp))),
        Err(why) => isobar_testing::skip_part("a program on `openmp`", &why),
    }
    all
}

#[test]
fn a_step_of_a_model_has_the_bits_of_the_interpreter() {
    let text = model();
    for domain in [[1, 1, 2], [3, 2, 2], [9, 7, 5], [33, 17, 12]] {
        let expected = ran(&text, domain, None, 3).unwrap();
        assert_eq!(expected.1.n_calls, 18);
        for (name, executor) in executors() {
            assert!(ran(&text, domain, Some(executor), 3).unwrap() == expected, "{name} on {domain:?}");
        }
    }
}

#[test]
fn a_call_that_ends_the_run_tells_its_statement_and_point_on_each_back_end() {
    let text = document(&json!([
        {"fill": "l", "with": 0.0},
        {"call": "gathered", "args": {"q": "q", "out": "r", "at": "n"}}]));
    let told = ran(&text, [4, 3, 2], None, 5).unwrap_err();
    assert!(told.contains("`q.at(5)` does not exist, in s0 at i=0, j=0, k=0"), "{told}");
    // Other back ends do not name the element.
    for (name, executor) in executors() {
        let found = ran(&text, [4, 3, 2], Some(executor), 5).unwrap_err();
        for part in [
            "error[P20]: `gathered` ended: ",
            ", in s0 at i=0, j=0, k=0",
            "main.py:25:9",
            "by this statement",
        ] {
            assert!(found.contains(part) && told.contains(part), "{name}: {found}");
        }
    }
}
