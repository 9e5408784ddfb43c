//! Whole programs: their groups as code, and all of a program as one schedule, one graph and one piece of code.

use std::collections::BTreeMap;
use std::sync::Arc;

use anyhow::{Result, anyhow, ensure};
use isobar_compiler::call::array::Array;
use isobar_compiler::call::launch::{Argument, FieldArgument, Launch, ScalarInput};
use isobar_compiler::call::run::{Control, NoControl};
use isobar_compiler::config::Config;
use isobar_compiler::front::Front;
use isobar_compiler::pass::{Hook, PassOptions};
use isobar_compiler::pipeline::whole::{WholeOptions, WholeProgram, compile_as_one, compile_whole};
use isobar_compiler::pipeline::{Compilation, NoHook};
use isobar_compiler::sdfg::file::import::from_json;
use isobar_compiler::sdfg::file::json::{ControlFlowStyle, to_json};
use isobar_compiler::space::Domain;
use isobar_compiler::types::Value;
use isobar_equivalence::run::Options;
use isobar_equivalence::sdfg as sdfg_run;
use isobar_program::compile::{ProgramCompilation, compile};
use isobar_program::interpret::{
    Answers, Callback, HaloFill, MOST_BYTES, ProgramInputs, ProgramInstance, ProgramStop, StencilInterpreter,
    StencilRunner, StencilStop,
};
use isobar_program::nodes::{ContainerRole, ProgramIr};
use isobar_program::scalar::nodes::ScalarRole;
use isobar_runtime::executors::rayon::Rayon;
use isobar_runtime::executors::{OwnedSetting, prepare_compiled};

use super::generated;
use super::levels::{LevelWatch, differing};
use crate::levels::Held;

/// A program whose groups are compiled, with the texts of its places.
#[derive(Debug)]
pub struct WholeCase {
    pub compilation: ProgramCompilation,
    pub whole: WholeProgram,
    pub fill: HaloFill,
}

impl WholeCase {
    /// Compiles the groups of a document for all domains that are large enough.
    ///
    /// # Errors
    ///
    /// The diagnostics.
    pub fn of(text: &str, fill: HaloFill) -> Result<Self, String> {
        Self::on(text, fill, None)
    }

    /// The same for one domain alone, where there is one.
    ///
    /// # Errors
    ///
    /// The diagnostics.
    pub fn on(text: &str, fill: HaloFill, only: Option<[i64; 3]>) -> Result<Self, String> {
        Self::asking(text, (fill, only), Answers::None)
    }

    /// The same, where callers of the code answer statements. In `meant`, exchanges store what `fill` says all the same.
    ///
    /// # Errors
    ///
    /// The diagnostics.
    pub fn asking(
        text: &str,
        (fill, only): (HaloFill, Option<[i64; 3]>),
        answers: Answers,
    ) -> Result<Self, String> {
        let mut compilation = compile("model.json", text, Config::default());
        let told = |compilation: &ProgramCompilation| {
            compilation.diagnostics.iter().map(|it| compilation.rendered(it)).collect::<String>()
        };
        if compilation.has_errors() {
            return Err(told(&compilation));
        }
        let made = compile_whole(
            &mut compilation,
            WholeOptions { passes: &PassOptions::default(), fill, answers, only },
        );
        let whole = made.map_err(|it| it.iter().map(|it| compilation.rendered(it)).collect::<String>())?;
        Ok(Self { compilation, whole, fill })
    }

    /// All of the program as one piece of code.
    ///
    /// # Errors
    ///
    /// The statements that have no place in a tree.
    pub fn as_one(&self, hook: &mut dyn Hook) -> Result<Compilation> {
        let made = compile_as_one(&self.whole, &PassOptions::default(), hook);
        made.map(|it| it.compilation)
            .map_err(|it| anyhow!(it.iter().map(|it| self.compilation.rendered(it)).collect::<String>()))
    }

    /// The arguments of a call, with state as its first run has it.
    #[must_use]
    pub fn launch(&self, domain: Domain, scalars: &BTreeMap<&str, Value>) -> Launch {
        let program = &self.whole.program;
        let arguments = self.whole.signature.params.iter().map(|param| {
            let Some(handle) = program.containers.find(|it| it.name == param.name) else {
                let kept = program.scalars.values().find(|it| it.name == param.name).map(|it| it.role);
                let Some(ScalarRole::State(first)) = kept else {
                    return Argument::Scalar(scalars[param.name.as_str()]);
                };
                let mut array = Array::zeros(first.dtype(), &[1]);
                array.elements.set(0, first);
                return Argument::Field(FieldArgument { array, origin: [0; 3] });
            };
            let it = &program.containers[handle];
            let along = it.shape.iter().map(|size| usize::try_from(size.on(domain)).unwrap_or(0));
            let shape: Vec<usize> = along.chain(it.data_dims.iter().map(|&it| it as usize)).collect();
            let mut array = Array::zeros(it.dtype, &shape);
            if !matches!(it.role, ContainerRole::State(_)) {
                fill(
                    &mut array,
                    param
                        .name
                        .bytes()
                        .fold(7, |seed: u32, byte| seed.wrapping_mul(31).wrapping_add(byte.into())),
                );
            }
            Argument::Field(FieldArgument { array, origin: it.origin })
        });
        Launch { domain, arguments: arguments.collect() }
    }

    /// The arguments behind the program's first run, by the interpreter.
    ///
    /// # Errors
    ///
    /// Where the run ends.
    pub fn meant(&mut self, launch: &Launch) -> Result<Launch, ProgramStop> {
        self.meant_by(launch, &mut |_| Err("nobody answers it".to_owned()))
    }

    /// The same, with the answers to callbacks.
    ///
    /// # Errors
    ///
    /// Where the run ends.
    pub fn meant_by(
        &mut self,
        launch: &Launch,
        answer: &mut dyn FnMut(&mut Callback<'_>) -> Result<(), String>,
    ) -> Result<Launch, ProgramStop> {
        let program: &ProgramIr = &self.whole.program;
        let Domain { i, j, k } = launch.domain;
        let fronts = &mut self.compilation.fronts;
        let made = ProgramInstance::with_callbacks(program, fronts, [i, j, k], self.fill, MOST_BYTES);
        let mut instance = made.map_err(ProgramStop::Fault)?;
        let mut inputs = ProgramInputs::default();
        let named = || self.whole.signature.params.iter().zip(&launch.arguments);
        let is_given = |name: &str| {
            let mut all =
                program.containers.values().filter(|it| !matches!(it.role, ContainerRole::State(_)));
            all.any(|it| it.name == name)
        };
        for (param, argument) in named() {
            let name = param.name.clone();
            match argument {
                Argument::Field(it) if is_given(&name) => drop(inputs.fields.insert(name, it.array.clone())),
                Argument::Scalar(it) => drop(inputs.scalars.insert(name, ScalarInput::Typed(*it))),
                Argument::Field(_) | Argument::Unused => {}
            }
        }
        instance.run_with(&mut inputs, &mut AnsweringInterpreter { answer }, &mut NoControl)?;
        let mut after = launch.clone();
        for (argument, (param, _)) in after.arguments.iter_mut().zip(named()) {
            let Argument::Field(field) = argument else { continue };
            let found = inputs.fields.get(&param.name).or_else(|| instance.state(&param.name)).cloned();
            let found = found.unwrap_or_else(|| {
                let value = instance.scalar(&param.name).expect("each field is given or kept");
                let mut array = Array::zeros(value.dtype(), &[1]);
                array.elements.set(0, value);
                array
            });
            for index in found.indices() {
                let at = field.array.position(&index);
                field.array.elements.set(at, found.get(&index));
            }
        }
        Ok(after)
    }
}

/// Runs stencils as `debug` does, with the answers of a test.
struct AnsweringInterpreter<'a> {
    answer: &'a mut dyn FnMut(&mut Callback<'_>) -> Result<(), String>,
}

impl StencilRunner for AnsweringInterpreter<'_> {
    fn run(
        &mut self,
        front: &Arc<Front>,
        launch: &mut Launch,
        control: &mut dyn Control,
    ) -> Result<(), StencilStop> {
        StencilInterpreter.run(front, launch, control)
    }

    fn host(&mut self, callback: &mut Callback<'_>) -> Result<(), StencilStop> {
        (self.answer)(callback).map_err(|why| StencilStop::Fault { why, statement: None })
    }
}

/// Numbers without order, the same in every run.
fn fill(array: &mut Array, seed: u32) {
    let mut number = seed;
    for at in 0..array.elements.len() {
        number = number.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        let value = f64::from(number >> 8) / 1e5 - 80.0;
        array.elements.set(at, Value::Float64(value).cast(array.dtype()));
    }
}

/// Whether a generated program means the same as one schedule, one graph and one piece of code, in any order that must not
/// matter.
///
/// # Errors
///
/// The first step whose outcome differs, with the text of the program.
pub fn hold_whole_program(seed: u64) -> Result<Held> {
    let text = generated(seed);
    let fill = [HaloFill::Periodic, HaloFill::ZeroGradient, HaloFill::None][usize::try_from(seed % 3)?];
    let domain = [Domain::new(5, 4, 3), Domain::new(4, 6, 2)][usize::try_from(seed % 2)?];
    let scalars = BTreeMap::from([("a", Value::Float64(0.1))]);
    let held = hold_as_one(&text, fill, domain, &scalars, seed);
    held.map_err(|why| anyhow!("program of seed {seed}: {why:#}\n{text}"))
}

/// The same for a document.
///
/// # Errors
///
/// The first step whose outcome differs.
pub fn hold_as_one(
    text: &str,
    fill: HaloFill,
    domain: Domain,
    scalars: &BTreeMap<&str, Value>,
    seed: u64,
) -> Result<Held> {
    let case = WholeCase::of(text, fill).map_err(anyhow::Error::msg)?;
    hold_case_as_one(case, domain, scalars, seed)
}

/// The same for a program whose groups are compiled.
///
/// # Errors
///
/// The same.
pub fn hold_case_as_one(
    mut case: WholeCase,
    domain: Domain,
    scalars: &BTreeMap<&str, Value>,
    seed: u64,
) -> Result<Held> {
    let launch = case.launch(domain, scalars);
    let expected = case.meant(&launch).map_err(|it| anyhow!("{it:?}"))?;
    // The first compilation tells the order of the statements.
    let order = case.as_one(&mut NoHook)?.front.order();
    let names: Vec<&str> = case.whole.signature.params.iter().map(|it| it.name.as_str()).collect();
    let mut watch = LevelWatch {
        names: &names,
        order: &order,
        seeds: [None, Some(seed), Some(seed + 1)],
        launch: &launch,
        expected,
        n_runs: 0,
        wrong: None,
    };
    let compilation = case.as_one(&mut watch)?;
    if let Some(wrong) = watch.wrong.take() {
        return Err(anyhow!(wrong));
    }
    ensure!(compilation.is_whole(), "not all passes ran");
    let LevelWatch { expected, n_runs, .. } = watch;
    let differs = |found: &Launch| differing(&names, &expected, found);
    let graph = compilation.graph().ok_or_else(|| anyhow!("there is no graph"))?;
    for form in [ControlFlowStyle::Regions, ControlFlowStyle::Flat] {
        let file = to_json(graph, &[], form);
        let read = from_json(&file).map_err(|why| anyhow!("{form:?}: {why}"))?;
        ensure!(to_json(&read, &[], form) == file, "{form:?}: the graph reads back as another one");
        let mut own = launch.clone();
        sdfg_run::run(&read, &names, &order, &mut own, &Options::default())?;
        ensure!(differs(&own).is_none(), "{form:?}: {:?}", differs(&own));
    }
    let mut own = launch.clone();
    let setting = OwnedSetting::embedded(2);
    let made = prepare_compiled(&Rayon, &compilation, setting.borrow(), &|_| ());
    let ended = made.and_then(|mut it| it.run(&mut own));
    ended.map_err(|why| anyhow!("rayon: {why:?}"))?;
    ensure!(differs(&own).is_none(), "rayon: {:?}", differs(&own));
    Ok(Held { runs: n_runs, ..Held::default() })
}
