//! Requests through all levels: the texts behind the OIR, the passes, the graph, and the checks of lessons.

use std::sync::Arc;

use isobar_compiler::front::{Front, Fronts};
use isobar_compiler::frontend::models::ModelChoice;
use isobar_compiler::inputs::Directives;
use isobar_compiler::pass::Timer;
use isobar_compiler::pipeline::registry::{self, StageListing};
use isobar_compiler::pipeline::{Compilation, Hook, NoHook, Stage, route};
use isobar_compiler::sdfg::file::json::{ControlFlowStyle, to_json};
use isobar_compiler::session::Session;
use isobar_lessons::check::Outcome;
use isobar_protocol::compile::{Compiled, StepTime};
use isobar_protocol::lesson::Task;
use isobar_protocol::passes::{Moment, PassDiff, PassStep, TracedPasses};
use isobar_protocol::request::Request;
use isobar_protocol::service::{Query, QueryAnswer};
use isobar_protocol::worker::AnswerBody;
use isobar_service::Desk;
use isobar_worker_first::compile::{ProgramFound, ProgramPart, ProgramRan, ProgramSteps, StepResult};

use crate::answers::answer;
use crate::programs::ProgramDesk;

/// All levels of the last stencils, and the editor's last text.
#[derive(Debug, Default)]
pub struct LaterStages {
    session: Session,
    desk: Desk,
    programs: ProgramDesk,
}

impl ProgramPart for LaterStages {
    fn program(&mut self, request: &Request, choice: &ModelChoice, clock: &dyn Fn() -> f64) -> ProgramFound {
        self.programs.program(request, choice, clock)
    }

    fn run_program(
        &mut self,
        request: &Request,
        choice: &ModelChoice,
        clock: &dyn Fn() -> f64,
        progress: &mut dyn FnMut(u64, u64),
    ) -> Result<ProgramRan, AnswerBody> {
        self.programs.run_program(request, choice, clock, progress)
    }

    fn step_program(
        &mut self,
        request: &Request,
        choice: &ModelChoice,
        steps: ProgramSteps,
        clock: &dyn Fn() -> f64,
    ) -> Result<StepResult, AnswerBody> {
        self.programs.step_program(request, choice, steps, clock)
    }
}

impl LaterStages {
    /// A front through all levels behind it, with the texts that its request wants. `times` are those of the
    /// steps so far; `clock` tells milliseconds.
    pub fn compiled(
        &mut self,
        front: &Arc<Front>,
        request: &Request,
        mut times: Vec<StepTime>,
        clock: &dyn Fn() -> f64,
    ) -> Compiled {
        let mut timer = Timer::new(clock);
        let compilation = self.compilation_of(front, request, &mut timer);
        times.extend(StepTime::of(&timer.into_times()));
        let wanted = |it: &&StageListing| request.wants(it.stage.name());
        let texts = registry::texts().filter(wanted);
        let texts = texts.filter_map(|it| Some((it.stage, compilation.text(it)?)));
        let compiled = Compiled::new(front, &compilation.notes, texts, times);
        Compiled { steps: compilation.schedule_steps(), ..compiled }
    }

    /// Tells what each pass of the request's compilation did, and shows the levels at these moments.
    pub fn passes(
        &mut self,
        fronts: &mut Fronts,
        mut request: Request,
        moments: &[Moment],
    ) -> (Vec<PassStep>, Vec<PassDiff>) {
        request.passes.trace = true;
        let compilation = self.compilation(fronts, &request);
        let passes: Vec<(Stage, &'static str)> = route::passes().collect();
        let traced = TracedPasses { passes: &passes, trace: compilation.notes.trace.as_ref() };
        let around = moments.iter().filter_map(|it| PassDiff::new(traced, it)).collect();
        let skipped = |pass: &str| request.passes.skip.iter().any(|it| it == pass) && !route::is_needed(pass);
        (PassStep::all(traced, skipped), around)
    }

    /// The graph of the request's stencil as a file that DaCe reads; none where the text has errors.
    pub fn graph(&mut self, fronts: &mut Fronts, request: &Request) -> Option<String> {
        let compilation = self.compilation(fronts, request);
        let sources: Vec<(&str, &str)> = compilation.front.sources().collect();
        let graph = compilation.graph()?;
        Some(format!("{:#}\n", to_json(graph, &sources, ControlFlowStyle::Regions)))
    }

    /// Answers a question of the editor about a file.
    pub fn tell(&mut self, fronts: &mut Fronts, request: &Request, file: &str, query: &Query) -> QueryAnswer {
        let config = request.config(&Directives::default());
        answer(&mut self.desk, fronts, &request.project(), &config, file, query)
    }

    /// Holds a learner's text against the task of a lesson.
    ///
    /// # Errors
    ///
    /// Where the lesson is at fault.
    pub fn check(&mut self, task: &Task) -> Result<Outcome, String> {
        isobar_lessons::check::check(&mut self.session, task)
    }

    /// All levels of a front.
    pub fn compilation_of(
        &mut self,
        front: &Arc<Front>,
        request: &Request,
        hook: &mut dyn Hook,
    ) -> Arc<Compilation> {
        let options = request.config(&Directives::default()).passes;
        self.session.compile_front(Arc::clone(front), &request.project(), &options, hook)
    }

    fn compilation(&mut self, fronts: &mut Fronts, request: &Request) -> Arc<Compilation> {
        let config = request.config(&Directives::default());
        let front = fronts.front(&request.project(), &config, &mut NoHook);
        self.compilation_of(&front, request, &mut NoHook)
    }
}

#[cfg(test)]
mod tests {
    use isobar_protocol::fields::ResultField;
    use isobar_protocol::worker::Defaults;
    use isobar_worker_first::compile::Compiler;

    use super::*;

    /// The stencils of the gallery, each with its name.
    fn gallery() -> Vec<(String, String)> {
        let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../static/gallery");
        let files = std::fs::read_dir(folder).unwrap().map(|it| it.unwrap().path());
        let named = |it: std::path::PathBuf| {
            (it.file_stem().unwrap().to_string_lossy().into_owned(), std::fs::read_to_string(it).unwrap())
        };
        let mut found: Vec<_> =
            files.filter(|it| it.extension().is_some_and(|it| it == "py")).map(named).collect();
        found.sort();
        assert!(found.len() > 5, "{found:?}");
        found
    }

    /// A request through both parts.
    fn both(compiler: &mut Compiler, request: &Request) -> (Compiled, Defaults) {
        let mut later = LaterStages::default();
        let mut behind =
            |front: &Arc<Front>, request: &Request, times| later.compiled(front, request, times, &|| 0.0);
        compiler.compile(request, Some(&mut behind), &|| 0.0)
    }

    fn request(text: &str, domain: [i64; 3]) -> Request {
        Request {
            files: [("main.py".to_owned(), text.to_owned())].into(),
            domain: Some(domain),
            ..Request::default()
        }
    }

    #[test]
    fn the_whole_gallery_compiles_and_runs() {
        for (name, text) in gallery() {
            let mut compiler = Compiler::default();
            let request = request(&text, [8, 8, 12]);
            let (compiled, defaults) = both(&mut compiler, &request);
            assert_eq!(compiled.diagnostics, [], "{}", name);
            assert_eq!(compiled.stages.len(), Stage::OF_STENCIL.len(), "{}", name);
            assert!(!defaults.plots.is_empty(), "{}", name);
            let (fields, _) = compiler.run(&request, &|| 0.0, &mut |_, _| {}).unwrap();
            assert!(fields.iter().any(|it| it.info.name == defaults.plots[0].field), "{}", name);
        }
    }

    #[test]
    fn no_other_text_is_made_than_those_that_are_wanted() {
        let mut compiler = Compiler::default();
        let mut request = request(&gallery()[0].1, [8, 8, 12]);
        let mut made = |stages: &[&str]| {
            request.stages = Some(stages.iter().map(|it| (*it).to_owned()).collect());
            let (compiled, _) = both(&mut compiler, &request);
            compiled.stages.into_iter().map(|it| it.stage).collect::<Vec<_>>()
        };
        assert_eq!(made(&["oir", "definition"]), ["definition", "oir"]);
        assert_eq!(made(&["c"]), ["c"], "what was left out is made when it is asked for");
    }

    #[test]
    fn both_back_ends_of_a_tab_give_the_same_fields() {
        for (name, text) in gallery() {
            let mut compiler = Compiler::default();
            let [meant, found] = ["debug", "numpy"].map(|backend| {
                let request = Request { backend: Some(backend.to_owned()), ..request(&text, [7, 5, 12]) };
                let (fields, timings) = compiler.run(&request, &|| 0.0, &mut |_, _| {}).unwrap();
                let run = timings.last().unwrap();
                assert_eq!(run.step, backend);
                // Only a run has to move what it is asked for.
                assert!(run.bytes.is_some_and(|it| it > 0));
                assert_eq!(timings.iter().filter(|it| it.bytes.is_some()).count(), 1);
                fields.iter().map(ResultField::to_bytes).collect::<Vec<_>>()
            });
            assert_eq!(meant, found, "{}", name);
        }
    }

    #[test]
    fn every_pass_of_the_gallery_can_be_looked_at() {
        for (name, text) in gallery() {
            let mut compiler = Compiler::default();
            let request = request(&text, [8, 8, 12]);
            let (steps, _) = LaterStages::default().passes(&mut compiler.fronts, request.clone(), &[]);
            let moment = |it: &PassStep| Moment { stage: it.stage.clone(), pass: Some(it.pass.clone()) };
            let moments: Vec<Moment> = steps.iter().map(moment).collect();
            let (steps, around) = LaterStages::default().passes(&mut compiler.fronts, request, &moments);
            assert_eq!(around.len(), steps.len(), "{}", name);
            for (step, around) in steps.iter().zip(around) {
                let count = |mark| around.marks.chars().filter(|it| *it == mark).count();
                assert_eq!((count('-'), count('+')), (step.removed, step.added), "{}", step.pass);
            }
        }
    }

    #[test]
    fn any_text_is_answered() {
        for text in ["", "def", ")]}", "# @domain\n", "def f(a):\n    with computation(", "\u{1f300}"] {
            let mut compiler = Compiler::default();
            both(&mut compiler, &request(text, [1, 1, 1]));
            LaterStages::default().passes(
                &mut compiler.fronts,
                request(text, [1, 1, 1]),
                &[Moment { stage: "oir".to_owned(), pass: None }],
            );
            assert!(compiler.run(&request(text, [1, 1, 1]), &|| 0.0, &mut |_, _| {}).is_err());
        }
    }
}
