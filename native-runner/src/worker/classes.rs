//! Runs of classes as programs: their stencils as code of a back end, and the statements around them.

use std::cell::Cell;
use std::time::Instant;

use isobar_classes::run::{ClassRun, ClassStop, RunSetting};
use isobar_compiler::call::run::Control;
use isobar_compiler::diag::catalog::call;
use isobar_compiler::diag::catalog::programs::RUN_INPUT;
use isobar_compiler::frontend::models::ModelChoice;
use isobar_compiler::inputs::Directives;
use isobar_program::interpret::{StencilInterpreter, StencilRunner};
use isobar_protocol::diagnostic::{Diagnostic, SpanResolver};
use isobar_protocol::job::{EndReason, EventKind};
use isobar_protocol::why::Why;
use isobar_runtime::executors::OwnedSetting;
use isobar_runtime::programs::ProgramCode;

use super::{End, Tell, room, runs, said, send, too_much, unknown_backend, wanted};
use crate::backends::events::{Event, PROGRESS, milliseconds, step};
use crate::backends::{Backend, Backends, Failure};
use crate::plan::{self, Refusal};
use crate::problems;
use crate::translate;
use crate::wire::Order;

/// The answer to a measurement of a class.
pub(super) fn not_yet() -> End {
    let why = "a class runs as a program here, and is not measured or tuned: choose one of its stencils";
    End(EndReason::Error, Some(problems::CALL_REFUSED.problem(why)))
}

/// Compiles a class, runs it once, and tells the fields that it writes.
pub(super) fn run(
    order: &Order,
    backends: &Backends,
    choice: &ModelChoice,
    npz: Option<Vec<u8>>,
    tell: Tell<'_>,
) -> Result<(), End> {
    let all = backends.all_of(&order.request).map_err(|_| unknown_backend())?;
    let &[backend] = all.as_slice() else { return Err(unknown_backend()) };
    if backend.is_on_gpu() {
        let why = format!("a program keeps its fields on the host, and `{}` runs on a GPU", backend.name());
        return Err(End(EndReason::Error, Some(problems::BACKEND_UNAVAILABLE.problem(why))));
    }
    let executors = [backend.executor()];
    let room = room(order, &executors);
    let fields = plan::given_fields(&order.request, npz, &room).map_err(|it| match it {
        Refusal::Memory { asked, allowed } => End(EndReason::Limit, Some(too_much(asked, allowed))),
        Refusal::Call(found) => {
            let files = order.request.files.iter().map(|(name, text)| (name.as_str(), text.as_str()));
            let places = SpanResolver::new(files);
            refused(found.iter().map(|it| places.diagnostic(it)), tell)
        }
        Refusal::Unmade => unknown_backend(),
    })?;
    let sink = |event: Event| tell(translate::event(event), None);
    let options = order.request.config(&Directives::default()).passes;
    let [executor] = executors;
    let mut code = (backend != Backend::DEBUG)
        .then(|| ProgramCode::new(executor.into(), OwnedSetting::of(order.setting()), options));
    let mut interpreter = StencilInterpreter;
    let allowed = order.memory_bytes;
    let asked = Cell::new(None);
    let admits = |bytes: u64| {
        if bytes > allowed {
            asked.set(Some(bytes));
            return Err(Why::NotCallable);
        }
        said::ask(bytes);
        Ok(())
    };
    let setting = RunSetting {
        fields,
        makes_inputs: order.request.init.is_some(),
        joins_calls: code.as_ref().is_some_and(ProgramCode::joins_calls),
        admits: &admits,
    };
    let begun = step("compile", &sink, || ClassRun::begin(&order.request, choice, setting));
    let mut run = begun.map_err(|it| match asked.get() {
        Some(bytes) => End(EndReason::Limit, Some(too_much(bytes, allowed))),
        None => not_begun(it, tell),
    })?;
    let names = || run.signature().params.iter().map(|it| it.name.as_str());
    let unknown = order.request.init.iter().flatten().find(|(name, _)| names().all(|it| it != *name));
    if let Some((name, _)) = unknown {
        let told = call::no_such_parameter(&run.signature().name, name, names());
        return Err(refused([run.places().diagnostic(&told)], tell));
    }
    if let Some(code) = &mut code {
        let prepared = step("prepare", &sink, || code.prepare(run.instance()));
        prepared.map_err(unavailable)?;
        let fitted = step("fit", &sink, || run.prepare(|instance, inputs| code.fit(instance, inputs)));
        fitted.map_err(|it| ended(it, tell))?;
    }
    runs(order, &[backend]).map_err(|it| match it {
        Failure::Machine(why) => unavailable(why),
        _ => unavailable(String::new()),
    })?;
    let mut reporter = ProgressReporter { tell, next: Instant::now() + PROGRESS };
    let runner: &mut dyn StencilRunner = match &mut code {
        Some(code) => code,
        None => &mut interpreter,
    };
    let begun = Instant::now();
    let now = || milliseconds(begun.elapsed());
    let ran = step("run", &sink, || run.advance_measured(runner, &mut reporter, &now));
    let calls = ran.map_err(|it| ended(it, tell))?;
    tell(EventKind::Calls { calls }, None);
    let (signature, launch) = run.into_launch();
    let wanted = wanted(order.request.results.as_ref(), &signature, launch.domain)?;
    step("fields", &sink, || send::fields(&signature, &launch, &wanted, tell));
    Ok(())
}

/// Why the class does not run, with its diagnostics.
fn not_begun(ClassStop { why, diagnostics }: ClassStop, tell: Tell<'_>) -> End {
    let problem = match why {
        Why::HasErrors => problems::COMPILE_FAILED.problem("the class is no program"),
        Why::Generator { field, text, said } => problems::CALL_REFUSED
            .problem(format!("the generator `{text}` of `{field}` is not understood: {said}")),
        _ => problems::CALL_REFUSED.problem("the arguments do not fit the program"),
    };
    diagnostics.into_iter().for_each(|diagnostic| tell(EventKind::Diagnostic { diagnostic }, None));
    End(EndReason::Error, Some(problem))
}

/// Why a run ended early: a program stops at a statement, or was not given what it needs.
fn ended(stop: ClassStop, tell: Tell<'_>) -> End {
    let is_of_call = |it: &Diagnostic| it.code == RUN_INPUT.0;
    if stop.diagnostics.iter().any(is_of_call) {
        return refused(stop.diagnostics, tell);
    }
    if matches!(stop.why, Why::Stopped) {
        return End(EndReason::Cancelled, Some(problems::CANCELLED.problem("the run was cancelled")));
    }
    let diagnostic = stop.diagnostics.into_iter().next();
    let message = diagnostic.as_ref().map(|it| it.message.clone()).unwrap_or_default();
    tell(EventKind::Trap { message: message.clone(), diagnostic, cell: None }, None);
    End(EndReason::Trap, Some(problems::RUN_TRAPPED.problem(message)))
}

fn refused(found: impl IntoIterator<Item = Diagnostic>, tell: Tell<'_>) -> End {
    found.into_iter().for_each(|diagnostic| tell(EventKind::Diagnostic { diagnostic }, None));
    End(EndReason::Error, Some(problems::CALL_REFUSED.problem("the arguments do not fit the program")))
}

fn unavailable(why: String) -> End {
    End(EndReason::Error, Some(problems::BACKEND_UNAVAILABLE.problem(why)))
}

/// Tells the runner how far a run is, not too often.
struct ProgressReporter<'a> {
    tell: Tell<'a>,
    next: Instant,
}

impl Control for ProgressReporter<'_> {
    fn progress(&mut self, done: u64, total: u64) -> bool {
        if Instant::now() >= self.next {
            self.next = Instant::now() + PROGRESS;
            (self.tell)(translate::event(Event::Progress { done, total }), None);
        }
        true
    }
}
