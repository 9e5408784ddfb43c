//! The levels of a class as texts.

use std::cell::RefCell;
use std::collections::BTreeMap;

use isobar_compiler::call::signature;
use isobar_compiler::entity::Handle;
use isobar_compiler::inputs::Directives;
use isobar_compiler::pass::Device;
use isobar_compiler::pipeline::group::compile_group;
use isobar_compiler::pipeline::registry;
use isobar_compiler::pipeline::whole::{OnePiece, WholeOptions, compile_as_one, compile_whole};
use isobar_compiler::pipeline::{NoHook, Stage};
use isobar_program::analysis::calls::aliases;
use isobar_program::analysis::interface;
use isobar_program::group::group_calls;
use isobar_program::interpret::Answers;
use isobar_program::nodes::{ProgramStencil, StencilCall};
use isobar_protocol::compile::{Compiled, Signature, StepTime};
use isobar_protocol::diagnostic::SpanResolver;
use isobar_protocol::request::Request;

use super::opened::{OpenedClass, ProgramChoice, USUAL_HALO};
use super::texts::{ProgramTexts, StencilOfProgram, numbered};

/// Compiles a class, and answers the stages that its request wants, and its arguments. `clock` tells milliseconds.
///
/// The program and the definitions of its stencils are always there.
pub fn compiled(
    request: &Request,
    choice: &ProgramChoice,
    clock: &dyn Fn() -> f64,
) -> (Compiled, Option<signature::Signature>) {
    let begun = clock();
    let mut opened = OpenedClass::of(request, choice, USUAL_HALO);
    let stencil = match choice {
        ProgramChoice::Class(choice) => Some(choice.class.clone()),
        ProgramChoice::Document => None,
    };
    let mut compiled = Compiled { stencil, ..Compiled::default() };
    compiled.diagnostics = opened.told(&opened.compilation.diagnostics);
    let signature = opened.compilation.program.as_ref().map(interface::signature);
    compiled.signature = signature.as_ref().map(Signature::new);
    let Some(mut program) = opened.compilation.program.take() else { return (compiled, None) };
    let first = [Stage::PROGRAM, Stage::DEFINITION];
    let later: Vec<Stage> = registry::texts().map(|it| it.stage).filter(|it| !first.contains(it)).collect();
    let wanted: Vec<Stage> = later.into_iter().filter(|it| request.wants(it.name())).collect();
    let options = request.config(&Directives::default()).passes;
    let mut one = None;
    if wanted.iter().any(|it| OnePiece::STAGES.contains(it)) && options.device == Device::Cpu {
        let (fill, only) = (opened.fill(request), Some(opened.domain));
        opened.compilation.program = Some(program.clone());
        let whole = compile_whole(
            &mut opened.compilation,
            WholeOptions { passes: &options, fill, answers: Answers::None, only },
        );
        // Where it is no single piece, the levels are those of its groups.
        one = whole.ok().and_then(|whole| {
            let piece = compile_as_one(&whole, &options, &mut NoHook).ok()?;
            Some((whole, piece))
        });
    }
    group_calls(&mut program);
    let (calls, groups) = numbered(&program);
    let fronts = RefCell::new(&mut opened.compilation.fronts);
    let front_of = |call: &StencilCall| {
        let stencil = &program.stencils[call.stencil];
        fronts.borrow_mut().unified(stencil, &aliases(&program, call)).ok()
    };
    let mut stencils: BTreeMap<Handle<ProgramStencil>, StencilOfProgram> = BTreeMap::new();
    for (number, call) in calls {
        let Some(front) = front_of(call) else { continue };
        let name = &program.stencils[call.stencil].name;
        let of = stencils.entry(call.stencil).or_insert_with(|| StencilOfProgram::new(name, front));
        of.calls.push(number);
    }
    let mut made = Vec::new();
    if !wanted.is_empty() {
        for (number, base, body) in groups {
            let group = compile_group(&program, (number, body), &front_of, &options, &mut NoHook);
            made.extend(group.ok().map(|it| (number, base, it)));
        }
    }
    let compiled_at = clock();
    let (name, text) = &opened.compilation.document;
    let files = opened.compilation.fronts.project().files.iter().map(|(name, text)| (&**name, &**text));
    let places = SpanResolver::new(files.chain([(name.as_str(), text.as_str())]));
    let stencils = stencils.into_values().collect();
    let texts = ProgramTexts { program: &program, places, stencils, groups: made, one };
    let stages = [Stage::PROGRAM, Stage::DEFINITION].into_iter().chain(wanted);
    compiled.stages = stages.filter_map(|it| texts.stage(it)).collect();
    compiled.remarks = texts.remarks();
    let step = |step: &str, ms: f64| StepTime { step: step.to_owned(), ms };
    compiled.timings = vec![step("program", compiled_at - begun), step("texts", clock() - compiled_at)];
    (compiled, signature)
}
