//! The compiler as the worker uses it: requests in, wire types out.

mod defaults;
mod documented;
mod made;
mod steps;

pub use steps::StepResult;

use std::fmt;
use std::sync::Arc;

use isobar_front::frontend::models::{ModelChoice, models};
use isobar_ground::call::launch::Launch;
use isobar_ground::call::run::{Control, Stop};
use isobar_ground::call::signature::Signature;
use isobar_ground::diag::catalog::compile_time::WHICH_STENCIL;
use isobar_ground::diag::{Diagnostic as Found, FileId, Origin};
use isobar_ground::pass::{Hook, NoHook, Step, StepKind, Timer};
use isobar_ground::space::Domain;
use isobar_protocol::bench::CallStep;
use isobar_protocol::compile::{Compiled, StepTime};
use isobar_protocol::diagnostic::{Diagnostic, SpanResolver};
use isobar_protocol::fields::{self, ResultField};
use isobar_protocol::names;
use isobar_protocol::report::MeasuredStep;
use isobar_protocol::request::Request;
use isobar_protocol::why::Why;
use isobar_protocol::worker::{AnswerBody, Defaults, GuessedInputs};
use isobar_reference::front::{Front, Fronts, texts};
use isobar_reference::inputs::{self, Directives};
use isobar_reference::{debug, numpy};

/// A tab has no more memory than this for the fields of one run.
pub const FIELD_BYTES: u64 = 1024 * 1024 * 1024;
/// The back end that defines the meaning.
const DEBUG: &str = "debug";
/// Milliseconds between two reports of progress.
const REPORT_MS: f64 = 60.0;

/// A program that was compiled.
#[derive(Debug, Default)]
pub struct ProgramFound {
    pub compiled: Compiled,
    /// Its arguments.
    pub signature: Option<Signature>,
}

/// The fields of a program that ran, with its times.
#[derive(Debug)]
pub struct ProgramRan {
    pub fields: Vec<ResultField>,
    pub timings: Vec<MeasuredStep>,
    /// Statement by statement.
    pub calls: Vec<CallStep>,
}

/// Wanted steps of a program.
#[derive(Clone, Copy, Debug)]
pub struct ProgramSteps {
    pub restart: bool,
    pub count: u64,
}

/// The work that needs whole programs.
pub trait ProgramPart {
    /// Compiles a class as a program.
    fn program(&mut self, request: &Request, choice: &ModelChoice, clock: &dyn Fn() -> f64) -> ProgramFound;

    /// Runs a class as a program, on the inputs that the request and the text describe.
    ///
    /// # Errors
    ///
    /// The answer that says why there is no result.
    fn run_program(
        &mut self,
        request: &Request,
        choice: &ModelChoice,
        clock: &dyn Fn() -> f64,
        progress: &mut dyn FnMut(u64, u64),
    ) -> Result<ProgramRan, AnswerBody>;

    /// Runs a class `count` times, from the beginning where it is told to or where more than scalars differ from before.
    ///
    /// # Errors
    ///
    /// The answer that says why there is no result; the run is over then.
    fn step_program(
        &mut self,
        request: &Request,
        choice: &ModelChoice,
        steps: ProgramSteps,
        clock: &dyn Fn() -> f64,
    ) -> Result<StepResult, AnswerBody>;
}

/// A compiler with its memory of what it compiled last.
#[derive(Debug, Default)]
pub struct Compiler {
    /// The stencils that it has compiled, up to the OIR.
    pub fronts: Fronts,
    /// The run that goes on from one time step to the next.
    stepping: Option<steps::PausedRun>,
}

/// Compiles the front of a request through all levels behind it, and makes the texts that the request wants.
/// It gets the times of the steps so far.
pub type Later<'a> = &'a mut dyn FnMut(&Arc<Front>, &Request, Vec<StepTime>) -> Compiled;

impl Compiler {
    /// Compiles the request's text, and makes the texts of the stages that it wants; `clock` tells
    /// milliseconds. Without `later`, the levels end with the OIR.
    pub fn compile(
        &mut self,
        request: &Request,
        later: Option<Later<'_>>,
        clock: &dyn Fn() -> f64,
    ) -> (Compiled, Defaults) {
        if let Err(refused) = refused_name(request) {
            return (Compiled { diagnostics: vec![refused], ..Compiled::default() }, Defaults::default());
        }
        let made::CompletedRequest { request, made, front, times } = self.completed(request, clock);
        let tile = request.config(&Directives::default()).tile;
        let mut defaults = defaults::of(&front, &request.project(), tile, made);
        defaults.refused = made::refused(&request);
        let mut compiled = match later {
            Some(later) => later(&front, &request, times),
            None => {
                let stages = texts::TEXTS.iter().map(|it| it.stage).filter(|it| request.wants(it.name()));
                let texts = stages.filter_map(|it| Some((it, front.listing(it)?)));
                Compiled::new(&front, &front.notes, texts, times)
            }
        };
        let has_stencils = defaults.stencils.iter().any(|it| !it.is_class);
        if !has_stencils && defaults.functions.is_empty() && !front.has_errors() {
            compiled.diagnostics.push(Diagnostic::without_place(
                WHICH_STENCIL.0,
                "the text has no stencil",
                "a stencil is a function whose body has `with computation(...)`; drop the file of a notebook onto the page",
            ));
        }
        (compiled, defaults)
    }

    /// Compiles the class of a request as a program. Without `second`, only the text's own settings are known.
    pub fn compile_program(
        &mut self,
        request: &Request,
        choice: &ModelChoice,
        second: Option<&mut dyn ProgramPart>,
        clock: &dyn Fn() -> f64,
    ) -> (Compiled, Defaults) {
        if let Err(refused) = refused_name(request) {
            return (Compiled { diagnostics: vec![refused], ..Compiled::default() }, Defaults::default());
        }
        // Its settings are those of the file, whichever stencil it begins with.
        let front = self.front(&Request { stencil: None, ..request.clone() }, &mut NoHook);
        let project = request.project();
        let mut made = GuessedInputs::default();
        if request.domain.is_none() && front.directives.domain.is_none() {
            made.domain = Some(made::DOMAIN);
        }
        let names = front.stencils.iter().map(|it| it.0.clone());
        let classes = models(&project);
        let mut compiled = Compiled {
            stencils: classes.iter().map(|it| it.name.clone()).chain(names).collect(),
            stencil: Some(choice.class.clone()),
            ..Compiled::default()
        };
        if let Some(second) = second {
            let request = made.complete(request.clone());
            let found = second.program(&request, choice, clock);
            if let Some(signature) = &found.signature {
                let known = made::known(&front.directives, &request);
                (made.init, made.scalars) = made::of_signature(signature, &known);
            }
            compiled = Compiled { stencils: compiled.stencils, stencil: compiled.stencil, ..found.compiled };
        }
        let tile = request.config(&Directives::default()).tile;
        let mut defaults = defaults::of(&front, &project, tile, made);
        defaults.refused = made::refused(request);
        (defaults.is_program, defaults.has_steps) = (true, false);
        if let Some(class) = classes.iter().find(|it| it.name == choice.class) {
            defaults.externals = defaults::of_constructor(class, &front.directives);
        }
        (compiled, defaults)
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
        let front = Arc::clone(&call.front);
        let mut reporter = Reporter::new(clock, progress);
        let ended = match (front.npir(), front.reference()) {
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
            _ => return Err(call.refused(Why::HasErrors, &call.front.notes.diagnostics)),
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

    /// Compiles the request's text and makes its inputs. The request describes them, or directives of the text.
    /// The page chooses all other inputs.
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
        let made::CompletedRequest { request, front, .. } = self.completed(request, &|| 0.0);
        timer.end(step("compile"));
        let refused = |why: Why, found: &[Found]| refused(&front, why, found);
        let Some(signature) = front.signature.as_ref().filter(|_| !front.has_errors()) else {
            return Err(refused(Why::HasErrors, &front.notes.diagnostics));
        };

        timer.begin(step("inputs"));
        let [i, j, k] = request.domain.or(front.directives.domain).unwrap_or(made::DOMAIN);
        let domain = Domain::new(i.max(0), j.max(0), k.max(0));
        let bytes = inputs::bytes_for(signature, domain);
        if bytes > FIELD_BYTES {
            const MIB: u64 = 1024 * 1024;
            let why = Why::TooLarge { needed: bytes / MIB, most: FIELD_BYTES / MIB };
            return Err(refused(why, &[]));
        }
        let directives = request.generators(&front.directives, signature).map_err(|it| refused(it, &[]))?;
        let mut call = inputs::call_for(signature, &directives, domain);
        call.scalars.extend(request.scalar_inputs().map_err(|it| refused(Why::ScalarIsNoNumber, &it))?);
        let launch = front.bind(call).map_err(|it| refused(Why::NotCallable, &it))?;
        timer.end(step("inputs"));
        Ok(StencilCall { front, launch })
    }

    fn front(&mut self, request: &Request, hook: &mut dyn Hook) -> Arc<Front> {
        // The directives of the text are the compiler's own matter.
        self.fronts.front(&request.project(), &request.config(&Directives::default()), hook)
    }
}

/// The class that a request means in the place of a stencil.
#[must_use]
pub fn model_of(request: &Request) -> Option<ModelChoice> {
    let project = request.project();
    let text = project.files.get(&project.main)?;
    let of_text = || inputs::directive::read(text, FileId::default()).0.stencil;
    let wanted = request.stencil.clone().or_else(of_text)?;
    ModelChoice::of(&project, &wanted)
}

/// A stencil, and what it is called with.
#[derive(Debug)]
pub struct StencilCall {
    pub front: Arc<Front>,
    pub launch: Launch,
}

impl StencilCall {
    /// The answer that says why there is no result.
    #[must_use]
    pub fn refused(&self, why: Why, found: &[Found]) -> AnswerBody {
        refused(&self.front, why, found)
    }

    /// The answer where a statement ended the run at a cell, in that time step where there are several.
    #[must_use]
    pub fn trapped(&self, said: Why, step: Option<u64>, origin: &Origin, cell: [i64; 3]) -> AnswerBody {
        let files = self.front.sources();
        let (_, start, _) = SpanResolver::new(files).of(origin.span());
        let why = Why::Trap { line: start.line, step, said: Box::new(said) };
        AnswerBody::RunEnded { why, diagnostics: Vec::new(), cell: Some(cell) }
    }

    /// The steps of a run; only those that compute have to move what it is asked for.
    #[must_use]
    pub fn measured(&self, steps: Vec<StepTime>) -> Vec<MeasuredStep> {
        let signature = self.front.signature.as_ref();
        let bytes = signature.map(|it| it.compulsory_bytes(self.launch.domain));
        let mut measured: Vec<MeasuredStep> = Vec::new();
        for StepTime { step, ms } in steps {
            // Both parts compile.
            match measured.iter_mut().find(|it| it.step == step) {
                Some(known) => known.ms += ms,
                None => {
                    let is_of_memory = !NOT_OF_MEMORY.contains(&step.as_str());
                    measured.push(MeasuredStep { step, ms, bytes: bytes.filter(|_| is_of_memory) });
                }
            }
        }
        measured
    }

    /// The fields that were written.
    #[must_use]
    pub fn written(self) -> Vec<ResultField> {
        let Self { front, launch } = self;
        front.signature.as_ref().map(|it| fields::written(it, launch)).unwrap_or_default()
    }
}

/// The steps of a run that compute no field.
const NOT_OF_MEMORY: [&str; 6] = ["compile", "inputs", "wgsl", "pipelines", "upload", "download"];

fn refused(front: &Front, why: Why, found: &[Found]) -> AnswerBody {
    let files = front.sources();
    let places = SpanResolver::new(files);
    let diagnostics = found.iter().map(|it| places.diagnostic(it)).collect();
    AnswerBody::RunEnded { why, diagnostics, cell: None }
}

/// Returns a diagnostic if a name of the request is refused.
fn refused_name(request: &Request) -> Result<(), Diagnostic> {
    let help = "name it with letters, digits and plain marks";
    names::check(request).map_err(|it| Diagnostic::without_place("R06", it.to_string(), help))
}

/// A step of a run.
#[must_use]
pub const fn step(name: &'static str) -> Step {
    Step { kind: StepKind::Door, name }
}

/// Tells the page how far a run is, not too often. The page ends a run by ending the worker.
pub struct Reporter<'a> {
    clock: &'a dyn Fn() -> f64,
    progress: &'a mut dyn FnMut(u64, u64),
    last: f64,
}

impl<'a> Reporter<'a> {
    /// A reporter that begins now. `clock` tells milliseconds.
    pub fn new(clock: &'a dyn Fn() -> f64, progress: &'a mut dyn FnMut(u64, u64)) -> Self {
        Self { clock, progress, last: clock() }
    }
}

impl fmt::Debug for Reporter<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Reporter").field("last", &self.last).finish_non_exhaustive()
    }
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
    use super::*;

    fn request(text: &str, domain: [i64; 3]) -> Request {
        Request {
            files: [("main.py".to_owned(), text.to_owned())].into(),
            domain: Some(domain),
            ..Request::default()
        }
    }

    #[test]
    fn a_text_with_nothing_to_run_is_told() {
        let found = |text: &str| {
            let (compiled, defaults) = Compiler::default().compile(&request(text, [8, 8, 12]), None, &|| 0.0);
            let codes: Vec<String> = compiled.diagnostics.into_iter().map(|it| it.code).collect();
            (codes, defaults.functions.len())
        };
        for text in ["", "{}", "x = 1", "def s(q):\n    return q\n", r#"{"cells": [], "nbformat": 4}"#] {
            assert_eq!(found(text), (vec!["E91".to_owned()], 0), "{text}");
        }
        // A button writes a stencil that calls it.
        assert_eq!(found("@function\ndef f(q):\n    return q\n"), (Vec::new(), 1));
    }
}
