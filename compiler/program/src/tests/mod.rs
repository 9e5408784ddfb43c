//! Programs from document to result.

mod classes;
mod generated;
mod golden;
mod groups;
mod halos;
mod mutated;
mod objects;
mod overlap;
mod refused;
mod results;
mod shared;
mod statements;
mod texts;

use isobar_front::config::Config;
use isobar_ground::call::array::{Array, Elements};
use isobar_ground::call::launch::ScalarInput;
use isobar_ground::call::run::NoControl;
use serde_json::{Value as Json, json};

use crate::compile::{ProgramCompilation, compile};
use crate::interpret::{HaloFill, MOST_BYTES, ProgramInputs, ProgramInstance, ProgramReport, ProgramStop};
use crate::nodes::ProgramIr;

/// The stencils of all tests.
pub(super) const STENCILS: &str = "\
def lap(q: Field[float], out: Field[float]):
    with computation(PARALLEL), interval(...):
        out = q[-1, 0, 0] + q[1, 0, 0] + q[0, -1, 0] + q[0, 1, 0] - 4.0 * q

def step(q: Field[float], l: Field[float], a: float):
    with computation(PARALLEL), interval(...):
        q = q + a * l

def shift(a: Field[float], b: Field[float]):
    with computation(PARALLEL), interval(...):
        b = a[-1, 0, 0]

def add(q: Field[float], by: float = 1.0):
    with computation(PARALLEL), interval(...):
        q = q + by

def set(q: Field[float], to: float):
    with computation(PARALLEL), interval(...):
        q = to

def copy(a: Field[float], b: Field[float]):
    with computation(PARALLEL), interval(...):
        b = a

def corner(a: Field[float], b: Field[float]):
    from __externals__ import i_end, i_start, j_start
    with computation(PARALLEL), interval(...):
        with horizontal(region[i_start - 1, j_start - 1], region[i_end + 1, j_start - 1]):
            b = a[0, 1, 0] + a

def first(a: Field[float], b: Field[float]):
    with computation(PARALLEL), interval(...):
        with horizontal(region[I[0], :]):
            b = a

def last(q: Field[float]):
    from __externals__ import k_end
    with computation(PARALLEL), interval(...):
        q = k_end

def ends(q: Field[float]):
    from __externals__ import i_end, local_je
    with computation(PARALLEL), interval(...):
        with horizontal(region[i_end, local_je]):
            q = 7.0

def lower(a: Field[float], b: Field[float]):
    with computation(FORWARD), interval(1, None):
        b = a[0, 0, -1] + b

def moving(a: Field[float], b: Field[float], n: Field[int]):
    with computation(FORWARD), interval(...):
        b = a[0, 0, n]
";

/// A document with the stencils of all tests.
pub(super) fn document(mut parts: Json) -> Json {
    let mut all = json!({"isobar_program": 1, "name": "test", "files": {"main.py": STENCILS}});
    all.as_object_mut().unwrap().append(parts.as_object_mut().unwrap());
    all
}

pub(super) fn compiled(document: &Json) -> ProgramCompilation {
    compile("program.json", &serde_json::to_string_pretty(document).unwrap(), Config::default())
}

/// Codes and messages of all diagnostics.
pub(super) fn told(document: &Json) -> Vec<String> {
    compiled(document).diagnostics.iter().map(|it| format!("{}: {}", it.code, it.message)).collect()
}

/// A program that compiles without a word, on a domain.
pub(super) struct Run {
    pub(super) instance: ProgramInstance,
    pub(super) inputs: ProgramInputs,
}

impl Run {
    /// With all fields of the caller zero.
    pub(super) fn new(document: &Json, domain: [i64; 3], fill: HaloFill) -> Self {
        assert_eq!(told(document), Vec::<String>::new());
        Self::with_warnings(document, domain, fill)
    }

    pub(super) fn with_warnings(document: &Json, domain: [i64; 3], fill: HaloFill) -> Self {
        let mut compilation = compiled(document);
        let told: Vec<String> = compilation.diagnostics.iter().map(|it| compilation.rendered(it)).collect();
        let Some(program) = compilation.program.take() else { panic!("{}", told.join("\n")) };
        Self::of(&program, &mut compilation, domain, fill)
    }

    /// A program with the stencils of a compilation.
    pub(super) fn of(
        program: &ProgramIr,
        compilation: &mut ProgramCompilation,
        domain: [i64; 3],
        fill: HaloFill,
    ) -> Self {
        let made = ProgramInstance::new(program, &mut compilation.fronts, domain, fill, MOST_BYTES);
        let instance = made.unwrap_or_else(|wrong| panic!("{wrong:#?}"));
        let mut inputs = ProgramInputs::default();
        for it in program.containers.values() {
            if matches!(it.role.name(), "argument" | "constant") {
                let shape = instance.shape(&it.name).unwrap();
                inputs.fields.insert(it.name.clone(), Array::zeros(it.dtype, &shape));
            }
        }
        Self { instance, inputs }
    }

    /// Values of an array in C order.
    pub(super) fn set(&mut self, name: &str, value: impl Fn(usize) -> f64) -> &mut Self {
        let shape = self.instance.shape(name).unwrap();
        let n: usize = shape.iter().product();
        let elements = Elements::Float64((0..n).map(value).collect::<Vec<_>>().into());
        self.inputs.fields.insert(name.to_owned(), Array::from_c_order(elements, &shape).unwrap());
        self
    }

    pub(super) fn scalar(&mut self, name: &str, value: ScalarInput) -> &mut Self {
        self.inputs.scalars.insert(name.to_owned(), value);
        self
    }

    pub(super) fn run(&mut self) -> Result<ProgramReport, String> {
        self.instance.run(&mut self.inputs, &mut NoControl).map_err(|stop| match stop {
            ProgramStop::Cancelled => "cancelled".to_owned(),
            ProgramStop::Fault(told) => format!("{}: {}", told[0].code, told[0].message),
        })
    }

    pub(super) fn ran(&mut self) -> &mut Self {
        self.run().unwrap();
        self
    }

    /// The elements of a field of the caller's in C order.
    pub(super) fn field(&self, name: &str) -> Vec<f64> {
        all(&self.inputs.fields[name])
    }
}

pub(super) fn all(array: &Array) -> Vec<f64> {
    array.indices().map(|it| array.get(&it).as_f64()).collect()
}

/// A field of the caller's over I, J, K with a halo of one.
pub(super) fn halo_field() -> Json {
    json!({"role": "argument", "dtype": "float64", "axes": "IJK", "shape": ["I+2", "J+2", "K"], "origin": [1, 1, 0]})
}

/// A field over I, J, K without a halo.
pub(super) fn bare_field(role: &str) -> Json {
    json!({"role": role, "dtype": "float64", "axes": "IJK", "shape": ["I", "J", "K"], "origin": [0, 0, 0]})
}
