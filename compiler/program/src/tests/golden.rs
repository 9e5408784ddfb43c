//! Numbers of other implementations.

use isobar_ground::call::launch::ScalarInput;
use serde_json::json;

use super::{Run, document};
use crate::interpret::HaloFill;

/// Diffusion by two stencils and a local, twice, as NDSL's numpy back end computes it, to the bit.
#[test]
fn a_diffusion_of_two_stencils_has_the_bits_of_numpy() {
    let program = document(json!({
        "grid": {"halo": 3},
        "fields": {
            "q": {"role": "argument", "dtype": "float64", "axes": "IJK", "shape": ["I+7", "J+7", "K+1"], "origin": [3, 3, 0]},
            "l": {"role": "local", "like": "q"}},
        "scalars": {"a": {"role": "argument", "dtype": "float64"}, "n": {"role": "argument", "dtype": "int64"}},
        "stencils": {
            "lap": {"function": "main.lap", "externals": {}, "origin": [0, 0, 0], "domain": ["I", "J", "K"]},
            "step": {"function": "main.step", "origin": {"_all_": [0, 0, 0]}, "domain": ["I", "J", "K"]}},
        "body": [
            {"for": "it", "range": [0, "n"], "body": [
                {"call": "lap", "args": {"q": "q", "out": "l"}},
                {"if": "it == n - 1", "then": [{"mark": "last"}]},
                {"call": "step", "args": {"q": "q", "l": "l", "a": "a"}}]}]}));
    let mut run = Run::new(&program, [6, 6, 3], HaloFill::None);
    run.scalar("a", ScalarInput::Float(0.1)).scalar("n", ScalarInput::Int(2));
    let q = run.inputs.fields.get_mut("q").unwrap();
    assert_eq!(q.shape, [13, 13, 4]);
    let mut number = 0_u32;
    for i in 3..9 {
        for j in 3..9 {
            for k in 0..3 {
                let at = q.position(&[i, j, k]);
                q.elements.set(at, isobar_ground::types::Value::Float64(f64::from(number * number)));
                number += 1;
            }
        }
    }
    let report = run.run().unwrap();
    assert_eq!((report.marks, report.n_calls), (vec![("last".to_owned(), 1)], 4));
    let q = &run.inputs.fields["q"];
    let column = |i: usize, j: usize| [0, 1, 2].map(|k| q.get(&[i + 3, j + 3, k]).as_f64());
    assert_eq!(
        column(2, 2).map(f64::to_bits),
        [1897.1999999999998, 1982.1999999999998, 2069.2].map(f64::to_bits)
    );
    assert_eq!(column(0, 5).map(f64::to_bits), [278.28000000000003_f64, 303.54, 330.12].map(f64::to_bits));
}

/// The page of the manual shows two stencils, and the program of them.
#[test]
fn the_program_of_the_manual_compiles_and_runs() {
    let page = include_str!("../../../../docs/programs.md");
    let block = |kind: &str| page.split(&format!("```{kind}\n")).nth(1).unwrap().split("```").next().unwrap();
    let mut program: serde_json::Value = serde_json::from_str(block("json")).unwrap();
    program["files"]["main.py"] = block("python").into();
    let mut run = Run::new(&program, [4, 3, 2], HaloFill::Periodic);
    run.set("q", |at| (at % 5) as f64).scalar("a", ScalarInput::Float(0.25)).scalar("n", ScalarInput::Int(3));
    let sum = |run: &Run| {
        let q = &run.inputs.fields["q"];
        let inner = (3..7).flat_map(|i| (3..6).map(move |j| [i, j, 0]));
        inner.map(|it| q.get(&it).as_f64()).sum::<f64>()
    };
    let before = sum(&run);
    assert_eq!(run.run().unwrap().n_calls, 6);
    // Quarters of integers: no sum is rounded.
    assert_eq!(sum(&run).to_bits(), before.to_bits(), "diffusion on a periodic domain keeps the sum");
}
