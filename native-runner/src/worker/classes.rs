//! Runs of classes as programs: their stencils as code of a back end, and the statements around them.

mod measure;

use std::cell::Cell;
use std::collections::BTreeMap;
use std::time::Instant;

use isobar_classes::opened::ProgramChoice;
use isobar_classes::run::{ClassRun, ClassStop, RunSetting};
use isobar_compiler::call::array::Array;
use isobar_compiler::call::run::Control;
use isobar_compiler::diag::catalog::call;
use isobar_compiler::diag::catalog::programs::RUN_INPUT;
use isobar_compiler::inputs::Directives;
use isobar_program::interpret::{ProgramBytes, StencilInterpreter};
use isobar_protocol::bench::{CallStep, Memory};
use isobar_protocol::diagnostic::{Diagnostic, SpanResolver};
use isobar_protocol::job::{EndReason, EventKind};
use isobar_protocol::why::Why;
use isobar_runtime::executors::OwnedSetting;
use isobar_runtime::programs::ProgramCode;
pub(super) use measure::measure;

use super::{End, Tell, room, runs, said, send, too_much, unknown_backend, wanted};
use crate::backends::events::{Event, PROGRESS, Sink, milliseconds, step};
use crate::backends::{Backend, Backends, Failure};
use crate::plan::{self, Refusal};
use crate::problems;
use crate::translate;
use crate::wire::Order;

/// The answer to a class that is to be tuned.
pub(super) fn no_tuning() -> End {
    let why = "a class runs as a program here, and is not tuned: choose one of its stencils";
    End(EndReason::Error, Some(problems::CALL_REFUSED.problem(why)))
}

/// A class that is ready to run on a back end.
struct ReadyClass {
    run: ClassRun,
    /// The code of its stencils; none where `debug` runs them.
    code: Option<ProgramCode>,
}

impl ReadyClass {
    fn advance(&mut self, control: &mut dyn Control) -> Result<(), ClassStop> {
        match &mut self.code {
            Some(code) => self.run.advance(code, control),
            None => self.run.advance(&mut StencilInterpreter, control),
        }
    }

    fn advance_measured(&mut self, control: &mut dyn Control) -> Result<Vec<CallStep>, ClassStop> {
        let begun = Instant::now();
        let now = || milliseconds(begun.elapsed());
        match &mut self.code {
            Some(code) => self.run.advance_measured(code, control, &now),
            None => self.run.advance_measured(&mut StencilInterpreter, control, &now),
        }
    }
}

/// A class, the back end that runs it, and whether calls that stand behind each other become one piece of code there.
#[derive(Clone, Copy)]
struct ClassOn<'a> {
    choice: &'a ProgramChoice,
    backend: Backend,
    joins_calls: bool,
}

/// The arrays that a request gives.
fn given(order: &Order, npz: Option<Vec<u8>>, tell: Tell<'_>) -> Result<BTreeMap<String, Array>, End> {
    let room = room(order, &[]);
    plan::given_fields(&order.request, npz, &room).map_err(|it| match it {
        Refusal::Memory { asked, allowed } => End(EndReason::Limit, Some(too_much(asked, allowed))),
        Refusal::Call(found) => {
            let files = order.request.files.iter().map(|(name, text)| (name.as_str(), text.as_str()));
            let places = SpanResolver::new(files);
            refused(found.iter().map(|it| places.diagnostic(it)), tell)
        }
        Refusal::Unmade => unknown_backend(),
    })
}

/// The code of a back end, which has no stencil yet; none for `debug`.
fn code(order: &Order, backend: Backend) -> Option<ProgramCode> {
    let options = order.request.config(&Directives::default()).passes;
    (backend != Backend::DEBUG)
        .then(|| ProgramCode::new(backend.executor().into(), OwnedSetting::of(order.setting()), options))
}

/// Compiles a class, and makes all that its run needs. `shared_bytes` are there already.
fn ready(
    order: &Order,
    class: ClassOn<'_>,
    fields: BTreeMap<String, Array>,
    (shared_bytes, sink): (&Cell<u64>, Sink<'_>),
    tell: Tell<'_>,
) -> Result<ReadyClass, End> {
    let ClassOn { choice, backend, joins_calls } = class;
    let mut code = code(order, backend);
    let allowed = order.memory_bytes;
    let asked = Cell::new(None);
    let admits = |bytes: ProgramBytes| {
        let all = shared_bytes.get().saturating_add(bytes.sum());
        if all > allowed {
            asked.set(Some(all));
            return Err(Why::NotCallable);
        }
        shared_bytes.set(all);
        said::ask(all);
        let ProgramBytes { given: fields_bytes, own: workspace_bytes } = bytes;
        let (threads, scratch_bytes) = (order.threads, 0);
        let memory = Memory { fields_bytes, workspace_bytes, scratch_bytes, threads, allowed_bytes: allowed };
        // Of a measurement, each program has as much.
        if all == bytes.sum() {
            tell(EventKind::Memory { memory }, None);
        }
        Ok(())
    };
    let setting = RunSetting {
        fields,
        makes_inputs: order.request.init.is_some(),
        shares_memory: code.is_some(),
        joins_calls: joins_calls && code.as_ref().is_some_and(ProgramCode::joins_calls),
        admits: &admits,
    };
    let begun = step("compile", sink, || ClassRun::begin(&order.request, choice, setting));
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
        step("prepare", sink, || code.prepare(run.instance())).map_err(unavailable)?;
        let fitted = step("fit", sink, || run.prepare(|instance, inputs| code.fit(instance, inputs)));
        fitted.map_err(|it| ended(it, tell))?;
    }
    Ok(ReadyClass { run, code })
}

/// From now on code runs that was made here.
fn begin(order: &Order, backends: &[Backend]) -> Result<(), End> {
    runs(order, backends).map_err(|it| match it {
        Failure::Machine(why) => unavailable(why),
        _ => unavailable(String::new()),
    })
}

/// Compiles a class, runs it once, and tells the fields that it writes.
pub(super) fn run(
    order: &Order,
    backends: &Backends,
    choice: &ProgramChoice,
    npz: Option<Vec<u8>>,
    tell: Tell<'_>,
) -> Result<(), End> {
    let all = backends.all_of(&order.request).map_err(|_| unknown_backend())?;
    let &[backend] = all.as_slice() else { return Err(unknown_backend()) };
    let sink = |event: Event| tell(translate::event(event), None);
    let fields = given(order, npz, tell)?;
    let class = ClassOn { choice, backend, joins_calls: true };
    let mut ready = ready(order, class, fields, (&Cell::new(0), &sink), tell)?;
    begin(order, &[backend])?;
    let mut reporter = ProgressReporter { tell, next: Instant::now() + PROGRESS };
    let ran = step("run", &sink, || ready.advance_measured(&mut reporter));
    let calls = ran.map_err(|it| ended(it, tell))?;
    tell(EventKind::Calls { calls }, None);
    let (signature, launch) = ready.run.into_launch();
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
