//! The compiler as the worker uses it: requests in, wire types out.

mod defaults;
mod documented;
mod made;
mod steps;

pub use steps::StepResult;

use std::sync::Arc;

use isobar_compiler::call::launch::Launch;
use isobar_compiler::call::run::{Control, Stop};
use isobar_compiler::diag::Origin;
use isobar_compiler::diag::catalog::compile_time::WHICH_STENCIL;
use isobar_compiler::inputs::{self, Directives};
use isobar_compiler::pass::Timer;
use isobar_compiler::pipeline::registry::{self, StageListing};
use isobar_compiler::pipeline::{Compilation, Hook, NoHook, Step, StepKind};
use isobar_compiler::project::Project;
use isobar_compiler::sdfg::file::json::{ControlFlowStyle, to_json};
use isobar_compiler::session::Session;
use isobar_compiler::space::Domain;
use isobar_compiler::{debug, numpy};
use isobar_lessons::check::Outcome;
use isobar_protocol::compile::{Compiled, StepTime};
use isobar_protocol::diagnostic::{Diagnostic, SpanResolver};
use isobar_protocol::fields::{self, ResultField};
use isobar_protocol::lesson::Task;
use isobar_protocol::names;
use isobar_protocol::passes::{Moment, PassDiff, PassStep};
use isobar_protocol::report::MeasuredStep;
use isobar_protocol::request::Request;
use isobar_protocol::service::{self, Query, QueryAnswer};
use isobar_protocol::why::Why;
use isobar_protocol::worker::{AnswerBody, Defaults};
use isobar_service::Desk;

/// A tab has no more memory than this for the fields of one run.
const FIELD_BYTES: u64 = 1024 * 1024 * 1024;
/// The back end that defines the meaning.
const DEBUG: &str = "debug";
/// Milliseconds between two reports of progress.
const REPORT_MS: f64 = 60.0;

/// A compiler with its memory of what it compiled last.
#[derive(Debug, Default)]
pub struct Compiler {
    session: Session,
    desk: Desk,
    /// The run that goes on from one time step to the next.
    stepping: Option<steps::PausedRun>,
}

impl Compiler {
    /// Compiles the request's text, and makes the texts of the stages that it wants; `clock` tells milliseconds.
    pub fn compile(&mut self, request: &Request, clock: &dyn Fn() -> f64) -> (Compiled, Defaults) {
        if let Err(refused) = refused_name(request) {
            return (Compiled { diagnostics: vec![refused], ..Compiled::default() }, Defaults::default());
        }
        let made::CompletedRequest { request, made, compilation, times } = self.completed(request, clock);
        let tile = request.config(&Directives::default()).tile;
        let mut defaults = defaults::of(&compilation, &project(&request), tile, made);
        defaults.refused = made::refused(&request);
        let is_wanted = |it: &&StageListing| {
            request.stages.as_ref().is_none_or(|wanted| wanted.iter().any(|name| name == it.stage.name()))
        };
        let texts = registry::texts().filter(is_wanted);
        let mut compiled = Compiled::new(&compilation, texts, times);
        if defaults.stencils.is_empty() && defaults.functions.is_empty() && !compilation.has_errors() {
            compiled.diagnostics.push(Diagnostic::without_place(
                WHICH_STENCIL.0,
                "the text has no stencil",
                "a stencil is a function whose body has `with computation(...)`; drop the file of a notebook onto the page",
            ));
        }
        (compiled, defaults)
    }

    /// Tells what each pass of the request's compilation did, and shows the levels at these moments.
    pub fn passes(&mut self, mut request: Request, moments: &[Moment]) -> (Vec<PassStep>, Vec<PassDiff>) {
        request.passes.trace = true;
        let compilation = self.compilation(&request, &mut NoHook);
        let around = moments.iter().filter_map(|it| PassDiff::new(&compilation, it)).collect();
        (PassStep::all(&compilation, &request.passes.skip), around)
    }

    /// The graph of the request's stencil as a file that DaCe reads; none where the text has errors.
    pub fn graph(&mut self, request: &Request) -> Option<String> {
        let compilation = self.compilation(request, &mut NoHook);
        let sources: Vec<(&str, &str)> = compilation.sources().collect();
        let graph = compilation.graph()?;
        Some(format!("{:#}\n", to_json(graph, &sources, ControlFlowStyle::Regions)))
    }

    /// Answers what the editor asks about a file.
    pub fn tell(&mut self, request: &Request, file: &str, query: &Query) -> QueryAnswer {
        let config = request.config(&Directives::default());
        service::answer(&mut self.desk, &mut self.session, &project(request), &config, file, query)
    }

    /// Runs `debug`, where the request asks for it, or `numpy`, on inputs that the text's directives describe.
    ///
    /// # Errors
    ///
    /// The answer that says why there is no result.
    pub fn run(
        &mut self,
        request: &Request,
        clock: &dyn Fn() -> f64,
        progress: &mut dyn FnMut(u64, u64),
    ) -> Result<(Vec<ResultField>, Vec<MeasuredStep>), AnswerBody> {
        let mut timer = Timer::new(clock);
        let mut call = self.begin(request, &mut timer)?;
        let compilation = Arc::clone(&call.compilation);
        let mut reporter = Reporter { clock, progress, last: clock() };
        let ended = match (compilation.arrays(), compilation.reference()) {
            (Some(npir), _) if request.backend.as_deref() != Some(DEBUG) => {
                timer.begin(step("numpy"));
                let ended = numpy::run(npir, &mut call.launch, &mut reporter);
                timer.end(step("numpy"));
                ended
            }
            (_, Some((oir, extents))) => {
                timer.begin(step(DEBUG));
                let ended = debug::run(oir, extents, &mut call.launch, &mut reporter);
                timer.end(step(DEBUG));
                ended
            }
            _ => return Err(call.refused(Why::HasErrors, &call.compilation.diagnostics)),
        };
        match ended {
            Ok(()) => {}
            Err(Stop::Cancelled) => return Err(call.refused(Why::Stopped, &[])),
            Err(Stop::Trap(trap)) => {
                return Err(call.trapped(trap.message.into(), None, &trap.origin, trap.cell));
            }
        }
        let measured = call.measured(StepTime::of(&timer.into_times()));
        Ok((call.written(), measured))
    }

    /// Compiles the request's text and makes the inputs that the request, its directives or nobody describes.
    ///
    /// # Errors
    ///
    /// The answer that says why there is nothing to run.
    pub fn begin<C: FnMut() -> f64>(
        &mut self,
        request: &Request,
        timer: &mut Timer<C>,
    ) -> Result<StencilCall, AnswerBody> {
        refused_name(request).map_err(|it| AnswerBody::RunEnded {
            why: Why::Said(it.message.clone()),
            diagnostics: vec![it],
            cell: None,
        })?;
        timer.begin(step("compile"));
        // A request of the page is complete, unless the page does not know the made-up values yet.
        let made::CompletedRequest { request, compilation, .. } = self.completed(request, &|| 0.0);
        timer.end(step("compile"));
        let refused =
            |why: Why, found: &[isobar_compiler::diag::Diagnostic]| refused(&compilation, why, found);
        let Some(signature) = compilation.signature.as_ref().filter(|_| !compilation.has_errors()) else {
            return Err(refused(Why::HasErrors, &compilation.diagnostics));
        };

        timer.begin(step("inputs"));
        let [i, j, k] = request.domain.or(compilation.directives.domain).unwrap_or(made::DOMAIN);
        let domain = Domain::new(i.max(0), j.max(0), k.max(0));
        let bytes = inputs::bytes_for(signature, domain);
        if bytes > FIELD_BYTES {
            const MIB: u64 = 1024 * 1024;
            let why = Why::TooLarge { needed: bytes / MIB, most: FIELD_BYTES / MIB };
            return Err(refused(why, &[]));
        }
        let directives = made::with_generators(&compilation.directives, &request, signature)
            .map_err(|it| refused(it, &[]))?;
        let mut call = inputs::call_for(signature, &directives, domain);
        call.scalars.extend(request.scalar_inputs().map_err(|it| refused(Why::ScalarIsNoNumber, &it))?);
        let launch = compilation.bind(call).map_err(|it| refused(Why::NotCallable, &it))?;
        timer.end(step("inputs"));
        Ok(StencilCall { compilation, launch })
    }

    /// Holds a learner's text against what a lesson asks.
    ///
    /// # Errors
    ///
    /// Where the lesson is at fault.
    pub fn check(&mut self, task: &Task) -> Result<Outcome, String> {
        isobar_lessons::check::check(&mut self.session, task)
    }

    fn compilation(&mut self, request: &Request, hook: &mut dyn Hook) -> Arc<Compilation> {
        // The directives of the text are the compiler's own matter.
        self.session.compile(&project(request), &request.config(&Directives::default()), hook)
    }
}

/// A stencil, and what it is called with.
#[derive(Debug)]
pub struct StencilCall {
    pub compilation: Arc<Compilation>,
    pub launch: Launch,
}

impl StencilCall {
    /// The answer that says why there is no result.
    #[must_use]
    pub fn refused(&self, why: Why, found: &[isobar_compiler::diag::Diagnostic]) -> AnswerBody {
        refused(&self.compilation, why, found)
    }

    /// The answer where a statement ended the run at a cell, in that time step where there are several.
    #[must_use]
    pub fn trapped(&self, said: Why, step: Option<u64>, origin: &Origin, cell: [i64; 3]) -> AnswerBody {
        let files = self.compilation.sources();
        let (_, start, _) = SpanResolver::new(files).of(origin.span());
        let why = Why::Trap { line: start.line, step, said: Box::new(said) };
        AnswerBody::RunEnded { why, diagnostics: Vec::new(), cell: Some(cell) }
    }

    /// The steps of a run; only those that compute have to move what it is asked for.
    #[must_use]
    pub fn measured(&self, steps: Vec<StepTime>) -> Vec<MeasuredStep> {
        let signature = self.compilation.signature.as_ref();
        let bytes = signature.map(|it| it.compulsory_bytes(self.launch.domain));
        let measured = steps.into_iter().map(|StepTime { step, ms }| {
            let is_of_memory = !NOT_OF_MEMORY.contains(&step.as_str());
            MeasuredStep { step, ms, bytes: bytes.filter(|_| is_of_memory) }
        });
        measured.collect()
    }

    /// The fields that were written.
    #[must_use]
    pub fn written(self) -> Vec<ResultField> {
        let Self { compilation, launch } = self;
        compilation.signature.as_ref().map(|it| fields::written(it, launch)).unwrap_or_default()
    }
}

/// The steps of a run that compute no field.
const NOT_OF_MEMORY: [&str; 6] = ["compile", "inputs", "wgsl", "pipelines", "upload", "download"];

fn refused(compilation: &Compilation, why: Why, found: &[isobar_compiler::diag::Diagnostic]) -> AnswerBody {
    let files = compilation.sources();
    let places = SpanResolver::new(files);
    let diagnostics = found.iter().map(|it| places.diagnostic(it)).collect();
    AnswerBody::RunEnded { why, diagnostics, cell: None }
}

/// Returns a diagnostic if a name of the request is refused.
fn refused_name(request: &Request) -> Result<(), Diagnostic> {
    let help = "name it with letters, digits and plain marks";
    names::check(request).map_err(|it| Diagnostic::without_place("R06", it.to_string(), help))
}

fn project(request: &Request) -> Project {
    let main = request.main_file().unwrap_or_default().to_owned();
    let files = request.files.iter().map(|(name, text)| (name.clone(), text.as_str().into())).collect();
    Project { files, main, stencil: request.stencil.clone() }
}

/// A step of a run.
pub(crate) const fn step(name: &'static str) -> Step {
    Step { kind: StepKind::Door, name }
}

/// Tells the page how far a run is, not too often. The page ends a run by ending the worker.
struct Reporter<'a> {
    clock: &'a dyn Fn() -> f64,
    progress: &'a mut dyn FnMut(u64, u64),
    last: f64,
}

impl Control for Reporter<'_> {
    fn progress(&mut self, done: u64, total: u64) -> bool {
        let now = (self.clock)();
        if now - self.last >= REPORT_MS {
            self.last = now;
            (self.progress)(done, total);
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use isobar_compiler::pipeline::Stage;

    use super::*;
    use crate::state::gallery::{ENTRIES, tests::text};

    fn request(text: &str, domain: [i64; 3]) -> Request {
        Request {
            files: [("main.py".to_owned(), text.to_owned())].into(),
            domain: Some(domain),
            ..Request::default()
        }
    }

    #[test]
    fn the_whole_gallery_compiles_and_runs() {
        for entry in ENTRIES {
            let mut compiler = Compiler::default();
            let request = request(&text(entry.name), [8, 8, 12]);
            let (compiled, defaults) = compiler.compile(&request, &|| 0.0);
            assert_eq!(compiled.diagnostics, [], "{}", entry.name);
            assert_eq!(compiled.stages.len(), Stage::ALL.len(), "{}", entry.name);
            assert!(!defaults.plots.is_empty(), "{}", entry.name);
            let (fields, _) = compiler.run(&request, &|| 0.0, &mut |_, _| {}).unwrap();
            assert!(fields.iter().any(|it| it.info.name == defaults.plots[0].field), "{}", entry.name);
        }
    }

    #[test]
    fn a_text_with_nothing_to_run_is_told() {
        let found = |text: &str| {
            let (compiled, defaults) = Compiler::default().compile(&request(text, [8, 8, 12]), &|| 0.0);
            let codes: Vec<String> = compiled.diagnostics.into_iter().map(|it| it.code).collect();
            (codes, defaults.functions.len())
        };
        for text in ["", "{}", "x = 1", "def s(q):\n    return q\n", r#"{"cells": [], "nbformat": 4}"#] {
            assert_eq!(found(text), (vec!["E91".to_owned()], 0), "{text}");
        }
        // A button writes a stencil that calls it.
        assert_eq!(found("@function\ndef f(q):\n    return q\n"), (Vec::new(), 1));
    }

    #[test]
    fn no_other_text_is_made_than_those_that_are_wanted() {
        let mut compiler = Compiler::default();
        let mut request = request(&text(ENTRIES[0].name), [8, 8, 12]);
        let mut made = |stages: &[&str]| {
            request.stages = Some(stages.iter().map(|it| (*it).to_owned()).collect());
            let (compiled, _) = compiler.compile(&request, &|| 0.0);
            compiled.stages.into_iter().map(|it| it.stage).collect::<Vec<_>>()
        };
        assert_eq!(made(&["oir", "definition"]), ["definition", "oir"]);
        assert_eq!(made(&["c"]), ["c"], "what was left out is made when it is asked for");
    }

    #[test]
    fn both_back_ends_of_a_tab_give_the_same_fields() {
        for entry in ENTRIES {
            let mut compiler = Compiler::default();
            let [meant, found] = ["debug", "numpy"].map(|backend| {
                let request =
                    Request { backend: Some(backend.to_owned()), ..request(&text(entry.name), [7, 5, 12]) };
                let (fields, timings) = compiler.run(&request, &|| 0.0, &mut |_, _| {}).unwrap();
                let run = timings.last().unwrap();
                assert_eq!(run.step, backend);
                // Only a run has to move what it is asked for.
                assert!(run.bytes.is_some_and(|it| it > 0));
                assert_eq!(timings.iter().filter(|it| it.bytes.is_some()).count(), 1);
                fields.iter().map(ResultField::to_bytes).collect::<Vec<_>>()
            });
            assert_eq!(meant, found, "{}", entry.name);
        }
    }

    #[test]
    fn every_pass_of_the_gallery_can_be_looked_at() {
        for entry in ENTRIES {
            let mut compiler = Compiler::default();
            let request = request(&text(entry.name), [8, 8, 12]);
            let (steps, _) = compiler.passes(request.clone(), &[]);
            let moment = |it: &PassStep| Moment { stage: it.stage.clone(), pass: Some(it.pass.clone()) };
            let moments: Vec<Moment> = steps.iter().map(moment).collect();
            let (steps, around) = compiler.passes(request, &moments);
            assert_eq!(around.len(), steps.len(), "{}", entry.name);
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
            compiler.compile(&request(text, [1, 1, 1]), &|| 0.0);
            compiler.passes(request(text, [1, 1, 1]), &[Moment { stage: "oir".to_owned(), pass: None }]);
            assert!(compiler.run(&request(text, [1, 1, 1]), &|| 0.0, &mut |_, _| {}).is_err());
        }
    }
}
