//! Inputs as a model would have them, known by the names of parameters and a seed.

use isobar_compiler::call::launch::ScalarInput;
use isobar_compiler::call::signature::{ParamKind, Signature};
use isobar_compiler::diag::Span;
use isobar_compiler::inputs::{Directives, Generator, InputDirective, ScalarDirective};
use isobar_compiler::types::DType;

/// Parts of names, and between which bounds such a field lies; the first that fits counts.
const RANGES: [(&str, f64, f64); 20] = [
    ("delp", 500.0, 1500.0),
    ("pressure", 2.0e4, 1.0e5),
    ("pkz", 10.0, 30.0),
    ("peln", 5.0, 12.0),
    ("pe", 2.0e4, 1.0e5),
    ("temperature", 250.0, 310.0),
    ("theta", 290.0, 340.0),
    ("pt", 250.0, 310.0),
    ("ta", 250.0, 310.0),
    ("qv", 1.0e-4, 2.0e-2),
    ("delz", -300.0, -50.0),
    ("dz", 50.0, 300.0),
    ("rho", 0.3, 1.3),
    ("area", 0.8, 1.2),
    ("wind", -20.0, 30.0),
    ("courant", -0.9, 0.9),
    ("frac", 0.0, 1.0),
    ("flag", 0.0, 2.0),
    ("index", 0.0, 3.0),
    ("signed", -2.0, 2.0),
];

/// A generator for every field and a value for every scalar without a default.
#[must_use]
pub fn physical(signature: &Signature, seed: u64) -> Directives {
    let mut directives = Directives::default();
    let span = Span::default();
    for (param, number) in signature.params.iter().zip(1..) {
        match &param.kind {
            ParamKind::Field { dtype, .. } => {
                let seed = seed.wrapping_mul(1_000_003).wrapping_add(number);
                let generator = if *dtype == DType::Bool {
                    Generator::Checker { low: 0.0, high: 1.0, cells: 3.0 }
                } else {
                    let (low, high) = range(&param.name, *dtype);
                    Generator::Random { low, high, seed }
                };
                directives.inputs.push(InputDirective { field: param.name.clone(), generator, span });
            }
            ParamKind::Scalar { default: Some(_), .. } => {}
            ParamKind::Scalar { dtype, default: None } => {
                let value = match dtype {
                    DType::Bool => ScalarInput::Bool(!seed.is_multiple_of(2)),
                    it if it.is_int() => ScalarInput::Int(2),
                    _ => ScalarInput::Float(0.625),
                };
                directives.scalars.push(ScalarDirective { name: param.name.clone(), value, span });
            }
        }
    }
    directives
}

fn range(name: &str, dtype: DType) -> (f64, f64) {
    let name = name.to_lowercase();
    let known = RANGES.iter().find(|(part, ..)| name.split('_').any(|word| word.starts_with(part)));
    match (dtype, known) {
        (_, Some((_, low, high))) => (*low, *high),
        (it, None) if it.is_int() => (1.0, 6.0),
        (_, None) => (0.25, 1.75),
    }
}
