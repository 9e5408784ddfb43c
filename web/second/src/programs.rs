//! Classes as programs in a tab: their levels, and runs by the interpreter.

use isobar_classes::levels;
use isobar_classes::opened::ProgramChoice;
use isobar_classes::run::{ClassRun, ClassStop, RunSetting};
use isobar_compiler::call::run::NoControl;
use isobar_compiler::frontend::models::ModelChoice;
use isobar_program::interpret::{ProgramBytes, StencilInterpreter, StencilRunner, StencilsOnArrays};
use isobar_protocol::report::MeasuredStep;
use isobar_protocol::request::Request;
use isobar_protocol::why::Why;
use isobar_protocol::worker::AnswerBody;
use isobar_worker_first::compile::{
    FIELD_BYTES, ProgramFound, ProgramPart, ProgramRan, ProgramSteps, Reporter, StepResult,
};

/// The programs of a tab.
#[derive(Debug, Default)]
pub struct ProgramDesk {
    /// The program that goes on from one time step to the next.
    stepping: Option<ClassRun>,
}

impl ProgramPart for ProgramDesk {
    fn program(&mut self, request: &Request, choice: &ModelChoice, clock: &dyn Fn() -> f64) -> ProgramFound {
        let (compiled, signature) = levels::compiled(request, &ProgramChoice::Class(choice.clone()), clock);
        ProgramFound { compiled, signature }
    }

    fn run_program(
        &mut self,
        request: &Request,
        choice: &ModelChoice,
        clock: &dyn Fn() -> f64,
        progress: &mut dyn FnMut(u64, u64),
    ) -> Result<ProgramRan, AnswerBody> {
        let begun = clock();
        let mut run = begin(request, choice)?;
        let inputs_at = clock();
        let (name, mut runner) = runner(request);
        let mut reporter = Reporter::new(clock, progress);
        let calls = run.advance_measured(&mut *runner, &mut reporter, clock).map_err(ended)?;
        let step = |step: &str, ms: f64| MeasuredStep { step: step.to_owned(), ms, bytes: None };
        let timings = vec![step("compile", inputs_at - begun), step(name, clock() - inputs_at)];
        Ok(ProgramRan { fields: run.written(), timings, calls })
    }

    fn step_program(
        &mut self,
        request: &Request,
        choice: &ModelChoice,
        ProgramSteps { restart, count }: ProgramSteps,
        clock: &dyn Fn() -> f64,
    ) -> Result<StepResult, AnswerBody> {
        let before = self.stepping.take().filter(|it| !restart && it.is_of(request));
        let mut run = match before {
            Some(mut it) => {
                it.set_scalars(request).map_err(ended)?;
                it
            }
            None => begin(request, choice)?,
        };
        let since = clock();
        let (_, mut runner) = runner(request);
        for _ in 0..count {
            run.advance(&mut *runner, &mut NoControl).map_err(ended)?;
        }
        #[expect(clippy::cast_precision_loss, reason = "a time that is shown")]
        let ms = (clock() - since) / count.max(1) as f64;
        let stepped = StepResult { step: run.n_runs(), fields: run.written(), ms };
        self.stepping = Some(run);
        Ok(stepped)
    }
}

/// The back end that a request asks for, of those that a tab has for programs.
fn runner(request: &Request) -> (&'static str, Box<dyn StencilRunner>) {
    match request.backend.as_deref() {
        Some("debug") => ("debug", Box::new(StencilInterpreter)),
        _ => ("numpy", Box::new(StencilsOnArrays)),
    }
}

fn begin(request: &Request, choice: &ModelChoice) -> Result<ClassRun, AnswerBody> {
    let admits = |bytes: ProgramBytes| {
        let needed = bytes.sum();
        let mib = |it: u64| it.div_ceil(1024 * 1024);
        let too_large = Why::TooLarge { needed: mib(needed), most: mib(FIELD_BYTES) };
        if needed > FIELD_BYTES { Err(too_large) } else { Ok(()) }
    };
    let setting = RunSetting {
        fields: [].into(),
        makes_inputs: true,
        joins_calls: false,
        shares_memory: false,
        admits: &admits,
    };
    ClassRun::begin(request, &ProgramChoice::Class(choice.clone()), setting).map_err(ended)
}

fn ended(ClassStop { why, diagnostics }: ClassStop) -> AnswerBody {
    AnswerBody::RunEnded { why, diagnostics, cell: None }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use isobar_compiler::pipeline::Stage;
    use isobar_protocol::compile::Compiled;
    use isobar_protocol::worker::{ExternalValueKind, GivenValue, ValueGiver};
    use isobar_worker_first::compile::{Compiler, model_of};

    use super::*;

    const DIFFUSION: &str = include_str!("../../../static/gallery/programs/diffusion_steps.py");
    const SHALLOW_WATER: &str = include_str!("../../../static/gallery/programs/shallow_water_model.py");

    fn request(text: &str) -> Request {
        Request {
            files: [("main.py".to_owned(), text.to_owned())].into(),
            domain: Some([10, 8, 3]),
            ..Request::default()
        }
    }

    fn compiled(request: &Request) -> Compiled {
        let choice = model_of(request).unwrap();
        let mut later = ProgramDesk::default();
        Compiler::default().compile_program(request, &choice, Some(&mut later), &|| 0.0).0
    }

    #[test]
    fn numbers_of_a_constructor_are_offered_with_the_values_of_the_text() {
        let constructor =
            "comm, width: int = 2, factor: Float = -1, name=\"x\", is_wide=False, order=1, q=None";
        let text = DIFFUSION.replace("comm):", &format!("{constructor}):"));
        let request = request(&format!("# @external order = 6\n# @external stranger = 1\n{text}"));
        let choice = model_of(&request).unwrap();
        let mut later = ProgramDesk::default();
        let (_, defaults) = Compiler::default().compile_program(&request, &choice, Some(&mut later), &|| 0.0);
        let declared: Vec<_> = defaults
            .externals
            .into_iter()
            .map(|it| {
                let GivenValue { value, by } = it.value.unwrap();
                (it.name, value.to_string(), by, it.wanted)
            })
            .collect();
        let expected = [
            ("width", "2", ValueGiver::Default, ExternalValueKind::WholeNumber),
            ("factor", "-1", ValueGiver::Default, ExternalValueKind::Number),
            ("is_wide", "false", ValueGiver::Default, ExternalValueKind::Condition),
            ("order", "6", ValueGiver::Line, ExternalValueKind::WholeNumber),
        ]
        .map(|(name, value, by, wanted)| (name.to_owned(), value.to_owned(), by, wanted));
        assert_eq!(declared, expected);
    }

    /// The links of a stage's nodes in whose lines a text stands.
    fn links(compiled: &Compiled, stage: Stage, part: &str) -> BTreeSet<String> {
        let text = compiled.stages.iter().find(|it| it.stage == stage.name()).unwrap();
        let at = text.text.lines().position(|it| it.contains(part));
        let line = u32::try_from(at.unwrap_or_else(|| panic!("{part} in {}", text.text))).unwrap() + 1;
        let nodes = text.nodes.iter().filter(|it| it.lines.contains(&line));
        nodes.flat_map(|it| it.links.iter().cloned()).collect()
    }

    #[test]
    fn the_programs_of_the_gallery_have_all_levels() {
        for text in [DIFFUSION, SHALLOW_WATER] {
            let compiled = compiled(&request(text));
            assert_eq!(compiled.diagnostics, []);
            let stages: Vec<&str> = compiled.stages.iter().map(|it| it.stage.as_str()).collect();
            let all: Vec<&str> = Stage::ALL.iter().map(|it| it.name()).collect();
            assert_eq!(stages, all);
        }
    }

    #[test]
    fn a_call_lights_up_in_all_levels() {
        let compiled = compiled(&request(SHALLOW_WATER));
        let call = links(&compiled, Stage::PROGRAM, "call turn_and_press(");
        assert!(!call.is_empty());
        let statement = links(&compiled, Stage::DEFINITION, "vorticity = ");
        assert!(!statement.is_empty() && statement.is_subset(&call), "{statement:?} {call:?}");
        for (stage, part) in [(Stage::OIR, "vorticity = "), (Stage::TREE, "vorticity[i + 3, j + 3, k] = ")] {
            let here = links(&compiled, stage, part);
            assert!(!statement.is_disjoint(&here), "{stage}: {here:?}");
        }
        // Two calls of one stencil.
        let rub = links(&compiled, Stage::DEFINITION, "mixed = ");
        let calls: BTreeSet<&str> = rub.iter().filter_map(|it| it.split('.').next()).collect();
        assert_eq!(calls.len(), 2, "{rub:?}");
    }

    #[test]
    fn a_program_goes_on_from_one_time_step_to_the_next() {
        let wanted = request(DIFFUSION);
        let choice = model_of(&wanted).unwrap();
        let mut later = ProgramDesk::default();
        let steps = |restart, count| ProgramSteps { restart, count };
        let values = |it: &StepResult| it.fields[0].to_bytes();
        let first = later.step_program(&wanted, &choice, steps(true, 1), &|| 0.0).unwrap();
        let ran = later.run_program(&wanted, &choice, &|| 0.0, &mut |_, _| {}).unwrap();
        assert_eq!(ran.fields[0].to_bytes(), values(&first));
        let of_loop: Vec<(&str, u64)> = ran.calls.iter().map(|it| (&*it.text, it.count)).collect();
        assert_eq!(of_loop[0].1, 1);
        assert_eq!(of_loop[2], ("call laplacian(q=q, out=tendency)", 4));
        let apply = &ran.calls[3];
        assert_eq!((apply.depth, apply.bytes), (1, 3 * 8 * 10 * 8 * 3));
        let third = later.step_program(&wanted, &choice, steps(false, 2), &|| 0.0).unwrap();
        assert_eq!((third.step, first.step), (3, 1));
        let anew = later.step_program(&wanted, &choice, steps(true, 3), &|| 0.0).unwrap();
        assert_eq!(values(&anew), values(&third));
        // A scalar changes on the way; another text begins again.
        let scalars = [("n_small".to_owned(), 0.into())].into();
        let idle = Request { scalars, ..wanted.clone() };
        let fourth = later.step_program(&idle, &choice, steps(false, 1), &|| 0.0).unwrap();
        assert_eq!((fourth.step, values(&fourth)), (4, values(&third)));
        let other = request(&DIFFUSION.replace("i=6", "i=3"));
        let begun = later.step_program(&other, &choice, steps(false, 1), &|| 0.0).unwrap();
        assert_eq!(begun.step, 1);
    }

    #[test]
    fn classes_are_offered_beside_stencils() {
        let text = DIFFUSION.replace("# @stencil Diffusion\n", "");
        let wanted = request(&text);
        assert_eq!(model_of(&wanted), None);
        let (compiled, defaults) = Compiler::default().compile(&wanted, None, &|| 0.0);
        assert_eq!(compiled.stencil.as_deref(), Some("laplacian"));
        let offered: Vec<(&str, bool)> =
            defaults.stencils.iter().map(|it| (&*it.name, it.is_class)).collect();
        assert_eq!(offered, [("laplacian", false), ("apply", false), ("Diffusion", true)]);
        assert!(!defaults.is_program && !compiled.stages.iter().any(|it| it.stage == "program"));
        let class = defaults.stencils.last().unwrap();
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines[class.at.line as usize - 1], "class Diffusion:");
        // A file of classes alone has no stencil.
        let alone = request("class A:\n    def __init__(self): pass\n    def step(self): pass\n");
        let (compiled, _) = Compiler::default().compile(&alone, None, &|| 0.0);
        assert!(compiled.diagnostics.iter().any(|it| it.message.contains("no stencil")));
    }

    #[test]
    fn a_class_that_is_no_program_is_told_where_it_is() {
        let broken = DIFFUSION.replace("halo_update(q, n_points=1)", "halo_update(q, n_points=self.width)");
        let compiled = compiled(&request(&broken));
        let found = &compiled.diagnostics[0];
        assert!(found.message.contains("width"), "{found:?}");
        assert_eq!(compiled.stencil.as_deref(), Some("Diffusion"));
        let wanted = request(&broken);
        let ended =
            ProgramDesk::default().run_program(&wanted, &model_of(&wanted).unwrap(), &|| 0.0, &mut |_, _| {});
        assert!(matches!(ended, Err(AnswerBody::RunEnded { why: Why::HasErrors, .. })));
    }
}
