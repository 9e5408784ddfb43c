//! Generated programs of stencil calls, and their runs by the interpreter, by back ends and on each level.

mod generate;
mod levels;
mod ranks;
mod results;
mod whole;

pub use generate::generated;
pub use levels::hold_program_levels;
pub use ranks::hold_on_ranks;
pub use results::{PrivateFields, hold_results, hold_results_in_code};
pub use whole::{WholeCase, hold_as_one, hold_case_as_one, hold_whole_program};

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use isobar_compiler::call::array::{Array, Elements};
use isobar_compiler::call::launch::ScalarInput;
use isobar_compiler::call::run::NoControl;
use isobar_compiler::config::Config;
use isobar_compiler::diag::Diagnostic;
use isobar_compiler::pass::PassOptions;
use isobar_compiler::types::{DType, Value};
use isobar_program::compile::{ProgramCompilation, compile};
use isobar_program::group::group_calls;
use isobar_program::interpret::{
    HaloFill, MOST_BYTES, ProgramInputs, ProgramInstance, ProgramReport, ProgramStop,
};
use isobar_program::nodes::{Container, ContainerRole};
use isobar_runtime::executors::{Executor, OwnedSetting, openmp};
use isobar_runtime::programs::ProgramCode;

/// How a program runs.
#[derive(Clone, Debug)]
pub struct ProgramRunner {
    /// The interpreter where there is none.
    pub executor: Option<Arc<dyn Executor>>,
    /// Whether calls that stand behind each other are one piece of code.
    pub joins_calls: bool,
    pub temporary: PathBuf,
}

/// The fields and the report behind the last run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProgramResult {
    /// The bits of all fields and the state after two runs.
    pub bits: Vec<Vec<u8>>,
    pub report: ProgramReport,
}

/// How many pieces of code a program had.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ProgramPieces {
    pub n_groups: usize,
    pub n_stencils: usize,
}

impl ProgramPieces {
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self { n_groups: self.n_groups + other.n_groups, n_stencils: self.n_stencils + other.n_stencils }
    }
}

/// The result after two runs, or the words for why a run ended.
///
/// # Errors
///
/// The diagnostics of a document or of a run.
pub fn ran(
    text: &str,
    domain: [i64; 3],
    runner: &ProgramRunner,
    scalars: &[(&str, ScalarInput)],
) -> Result<(ProgramResult, ProgramPieces), String> {
    let (inputs, instance, report, pieces) = ran_twice(text, (domain, HaloFill::Periodic), runner, scalars)?;
    let mut bits: Vec<_> = inputs.fields.values().map(bits_of).collect();
    bits.extend(instance.state("s").map(bits_of));
    Ok((ProgramResult { bits, report }, pieces))
}

/// Some of the fields after two runs.
fn ran_fields(
    text: &str,
    domain: ([i64; 3], HaloFill),
    runner: &ProgramRunner,
    names: &[&str],
) -> Result<BTreeMap<String, Array>, String> {
    let (inputs, ..) = ran_twice(text, domain, runner, &[])?;
    Ok(inputs.fields.into_iter().filter(|it| names.contains(&it.0.as_str())).collect())
}

/// A program after two runs.
type RanProgram = (ProgramInputs, ProgramInstance, ProgramReport, ProgramPieces);

fn ran_twice(
    text: &str,
    (domain, fill): ([i64; 3], HaloFill),
    runner: &ProgramRunner,
    scalars: &[(&str, ScalarInput)],
) -> Result<RanProgram, String> {
    let mut compilation = compile("model.json", text, Config::default());
    let Some(mut program) = compilation.program.take() else {
        let told = compilation.diagnostics.iter().map(|it| compilation.rendered(it));
        return Err(told.collect());
    };
    if runner.joins_calls {
        group_calls(&mut program);
    }
    let faults = |wrong: &[Diagnostic], compilation: &ProgramCompilation| {
        wrong.iter().map(|it| compilation.rendered(it)).collect::<String>()
    };
    let made = ProgramInstance::new(&program, &mut compilation.fronts, domain, fill, MOST_BYTES);
    let mut instance = made.map_err(|it| faults(&it, &compilation))?;
    let mut pieces = ProgramPieces::default();
    let mut code = None;
    if let Some(executor) = &runner.executor {
        let cc = openmp::find_compiler(None, &std::env::var_os("PATH").unwrap_or_default());
        let setting = OwnedSetting { cc, temporary: runner.temporary.clone(), ..OwnedSetting::embedded(2) };
        let mut made = ProgramCode::new(Arc::clone(executor), setting, PassOptions::default());
        let refused = made.prepare(&instance)?;
        if let Some((number, why)) = refused.first() {
            return Err(format!("group {number} has no code: {why}"));
        }
        pieces = ProgramPieces { n_groups: made.groups().count(), n_stencils: made.n_stencils() };
        code = Some(made);
    }
    let mut inputs = inputs_of(&instance, scalars);
    let mut report = ProgramReport::default();
    for _ in 0..2 {
        let ended = match &mut code {
            None => instance.run(&mut inputs, &mut NoControl),
            Some(code) => instance.run_with(&mut inputs, code, &mut NoControl),
        };
        report = ended.map_err(|stop| match stop {
            ProgramStop::Cancelled => "cancelled".to_owned(),
            ProgramStop::Fault(told) => faults(&told, &compilation),
        })?;
    }
    Ok((inputs, instance, report, pieces))
}

/// The fields that a program is given, and the scalars. `a` is 0.1 without another value.
fn inputs_of(instance: &ProgramInstance, scalars: &[(&str, ScalarInput)]) -> ProgramInputs {
    let mut inputs = ProgramInputs::default();
    let is_given = |it: &&Container| it.role == ContainerRole::Argument;
    for it in instance.program().containers.values().filter(is_given) {
        // The same in every program that has a field of this name.
        let seed = it.name.bytes().fold(1, |seed: u32, byte| seed.wrapping_mul(31).wrapping_add(byte.into()));
        let shape = instance.shape(&it.name).unwrap_or_default();
        inputs.fields.insert(it.name.clone(), in_c_order(&shape, seed));
    }
    inputs.scalars.insert("a".to_owned(), ScalarInput::Float(0.1));
    inputs.scalars.extend(scalars.iter().map(|(name, value)| ((*name).to_owned(), *value)));
    inputs
}

/// The bits in C order; those of NaN depend on the machine.
fn bits_of(array: &Array) -> Vec<u8> {
    let values = array.indices().map(|it| array.get(&it).as_f64());
    let bits = values.map(|it| if it.is_nan() { f64::NAN.to_bits() } else { it.to_bits() });
    bits.flat_map(u64::to_le_bytes).collect()
}

/// Whether a generated program has the bits of the interpreter on a back end, with and without joined calls.
///
/// # Errors
///
/// The domain, and what differs.
pub fn hold_program(seed: u64, runner: &ProgramRunner) -> Result<ProgramPieces, String> {
    let text = generated(seed);
    let alone = ProgramRunner { executor: None, joins_calls: false, ..runner.clone() };
    let mut pieces = ProgramPieces::default();
    for domain in DOMAINS {
        let expected = ran(&text, domain, &alone, &[]).map(|it| it.0);
        let found = ran(&text, domain, runner, &[]);
        match (expected, found) {
            (Ok(expected), Ok((found, its))) if expected == found => {
                pieces = pieces.and(its);
            }
            (Err(why), _) => return Err(format!("seed {seed} on {domain:?}: the interpreter says {why}")),
            (_, Err(why)) => return Err(format!("seed {seed} on {domain:?}: {why}\n{text}")),
            (Ok(expected), Ok((found, _))) => {
                let at = expected.bits.iter().zip(&found.bits).position(|it| it.0 != it.1);
                return Err(format!("seed {seed} on {domain:?}: field {at:?} differs\n{text}"));
            }
        }
    }
    Ok(pieces)
}

/// The smallest; one that ranges fill in part; and one of several tiles.
const DOMAINS: [[i64; 3]; 4] = [[1, 1, 2], [3, 2, 3], [9, 7, 4], [2, 40, 5]];

/// Numbers without order that are the same in every run, in C order.
fn in_c_order(shape: &[usize], seed: u32) -> Array {
    let elements = Elements::zeros(DType::Float64, shape.iter().product());
    let mut array =
        Array::from_c_order(elements, shape).unwrap_or_else(|| Array::zeros(DType::Float64, shape));
    let mut number = seed;
    for at in 0..array.elements.len() {
        number = number.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        array.elements.set(at, Value::Float64(f64::from(number >> 8) / 1e5 - 80.0));
    }
    array
}
