//! The worker: a loop around the compiler, and the keeper of the fields.
//!
//! The page starts this program three times: one compiles, one runs, one keeps the fields. So a run can be ended
//! in its midst, by ending its worker, and what ran before stays. A fourth one watches the passes, once the user
//! looks at them: it is slower than a compilation, and typing does not wait for it.

use std::cell::{Cell, RefCell};
use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;
use std::sync::Arc;

use isobar_front::frontend::models::ModelChoice;
use isobar_ground::pass::Timer;
use isobar_protocol::compile::{Compiled, StepTime};
use isobar_protocol::field::FieldInfo;
use isobar_protocol::fields::{NotThere, ResultField, ResultView, difference, readings};
use isobar_protocol::npz;
use isobar_protocol::picture::Line;
use isobar_protocol::report::MeasuredStep;
use isobar_protocol::request::Request;
use isobar_protocol::why::Why;
use isobar_protocol::worker::{Answer, AnswerBody, Ask, OnGpu, Question, Slice, Which};
use isobar_reference::front::texts::TEXTS;
use isobar_reference::front::{Front, Fronts};
use js_sys::{Array, ArrayBuffer, Float64Array, Uint8Array};
use wasm_bindgen::prelude::*;
use web_sys::{DedicatedWorkerGlobalScope, MessageEvent};

use isobar_parts::{PartLoadError, PartLoader};

use crate::compile::{
    Compiler, Later, ProgramPart, ProgramRan, ProgramSteps, StencilCall, StepResult, model_of,
};

/// A run on a GPU, under way.
pub type GpuRunFuture = Pin<Box<dyn Future<Output = Result<GpuRunResult, AnswerBody>>>>;

/// The result of a run on a GPU.
#[derive(Debug)]
pub struct GpuRunResult {
    pub fields: Vec<ResultField>,
    pub timings: Vec<MeasuredStep>,
    /// How it computed, and on what.
    pub gpu: OnGpu,
}

/// The work that needs the levels behind the OIR.
pub trait SecondPart: ProgramPart {
    /// A front through all levels behind it, with the texts that its request wants. `times` are those of the
    /// steps so far; `clock` tells milliseconds.
    fn compiled(
        &mut self,
        front: &Arc<Front>,
        request: &Request,
        times: Vec<StepTime>,
        clock: &dyn Fn() -> f64,
    ) -> Compiled;

    /// Answers a question about passes, graphs, the editor or lessons.
    fn answer(&mut self, fronts: &mut Fronts, ask: Ask) -> WorkerReply;

    /// Begins a run on a GPU of the browser; `is_fast` says whether doubles may be singles.
    fn run_on_gpu(
        &mut self,
        request: &Request,
        call: StencilCall,
        is_fast: bool,
        timer: Timer<fn() -> f64>,
    ) -> GpuRunFuture;
}

/// The entries of the second part.
#[derive(Debug)]
pub struct SecondPartEntries {
    pub start: fn() -> Box<dyn SecondPart>,
}

/// All that the worker remembers.
#[derive(Default)]
struct WorkerMemory {
    compiler: Compiler,
    /// The levels behind the OIR, once they are loaded.
    second: Option<Box<dyn SecondPart>>,
    /// The fields that were computed here, and those from a runner.
    a: Vec<ResultField>,
    b: Vec<ResultField>,
}

/// An answer with its buffers.
pub type WorkerReply = (AnswerBody, Vec<ArrayBuffer>);

/// Listens from now on; `load` gets the second part.
pub fn start(load: PartLoader<SecondPartEntries>) {
    console_error_panic_hook::set_once();
    let scope: DedicatedWorkerGlobalScope = js_sys::global().unchecked_into();
    let memory = Rc::new(RefCell::new(WorkerMemory::default()));
    let to_page = scope.clone();
    let is_coming = Cell::new(false);
    let is_hurried = Cell::new(false);
    let is_told = Rc::new(Cell::new(false));
    let on_message = Closure::<dyn Fn(MessageEvent)>::new(move |event: MessageEvent| {
        let parts: Array = event.data().unchecked_into();
        let question = parts.get(0).as_string().unwrap_or_default();
        let Ok(Question { revision, ask }) = serde_json::from_str(&question) else { return };
        let buffers: Vec<ArrayBuffer> = parts.iter().skip(1).map(JsCast::unchecked_into).collect();
        if let Ask::Run { request } = &ask
            && let Some(is_fast) = wants_gpu(request)
        {
            let (memory, to_page, request) = (Rc::clone(&memory), to_page.clone(), request.clone());
            wasm_bindgen_futures::spawn_local(async move {
                let (said, buffers) = match on_gpu(load, &memory, &request, is_fast).await {
                    Ok(GpuRunResult { fields, timings, gpu }) => ran(fields, timings, Some(gpu)),
                    Err(ended) => (ended, Vec::new()),
                };
                post(&to_page, revision, said, &buffers);
            });
            return;
        }
        if let Ask::Run { request } | Ask::Step { request, .. } = &ask
            && let Some(choice) = model_of(request)
        {
            let (memory, to_page, ask) = (Rc::clone(&memory), to_page.clone(), ask.clone());
            wasm_bindgen_futures::spawn_local(async move {
                let (said, buffers) = match opened(load, &memory).await {
                    Ok(()) => {
                        let mut progress =
                            |done, total| post(&to_page, revision, AnswerBody::Progress { done, total }, &[]);
                        memory.borrow_mut().run_program(&ask, &choice, &mut progress)
                    }
                    Err(PartLoadError) => (absent(), Vec::new()),
                };
                post(&to_page, revision, said, &buffers);
            });
            return;
        }
        if matches!(ask, Ask::Passes { .. } | Ask::Graph { .. } | Ask::Service { .. } | Ask::Check { .. }) {
            let (memory, to_page) = (Rc::clone(&memory), to_page.clone());
            let is_unhurried = matches!(ask, Ask::Service { .. });
            wasm_bindgen_futures::spawn_local(async move {
                // The editor asks before anybody has read its text.
                if is_unhurried && memory.borrow().second.is_none() {
                    unhurried(&to_page).await;
                }
                let (said, buffers) = match opened(load, &memory).await {
                    Ok(()) => memory.borrow_mut().answer_of_second(ask),
                    Err(PartLoadError) => (absent(), Vec::new()),
                };
                post(&to_page, revision, said, &buffers);
            });
            return;
        }
        let is_compilation = matches!(ask, Ask::Compile { .. });
        let is_wanted = is_compilation && wants_second(&ask);
        let mut progress = |done, total| post(&to_page, revision, AnswerBody::Progress { done, total }, &[]);
        let (said, buffers) = memory.borrow_mut().answer(ask, &buffers, &mut progress);
        post(&to_page, revision, said, &buffers);
        if is_compilation && memory.borrow().second.is_none() {
            // A compilation that wants the second part does not wait until it comes unasked.
            let is_first = !is_coming.replace(true);
            if is_first || is_wanted && !is_hurried.get() {
                is_hurried.set(is_wanted);
                fetch_second(load, Rc::clone(&memory), to_page.clone(), (is_wanted, Rc::clone(&is_told)));
            }
        }
    });
    // The listener lives as long as the worker does.
    let listener = on_message.into_js_value();
    if scope.add_event_listener_with_callback("message", listener.unchecked_ref()).is_ok() {
        post(&scope, 0, AnswerBody::Ready, &[]);
    }
}

/// Whether a compilation wants the text of a stage behind the OIR, or of all.
fn wants_second(ask: &Ask) -> bool {
    let Ask::Compile { request } = ask else { return false };
    request
        .stages
        .as_ref()
        .is_none_or(|all| all.iter().any(|it| !TEXTS.iter().any(|first| first.stage.name() == it)))
}

/// The delay before the second part is loaded, so that the first view is drawn before it. A question that
/// wants it does not wait.
const UNHURRIED_MS: f64 = 1500.0;

/// Between two attempts to load the second part.
const AGAIN_MS: f64 = 3000.0;

/// Waits until the worker has been there for so long that what a visitor sees first is drawn.
async fn unhurried(scope: &DedicatedWorkerGlobalScope) {
    pause(scope, UNHURRIED_MS - now_ms()).await;
}

async fn pause(scope: &DedicatedWorkerGlobalScope, ms: f64) {
    #[expect(clippy::cast_possible_truncation, reason = "a few thousand at most")]
    let ms = ms.max(0.0) as i32;
    let waited = js_sys::Promise::new(&mut |done, _| {
        // Without timers the promise never resolves.
        let _ = scope.set_timeout_with_callback_and_timeout_and_arguments_0(&done, ms);
    });
    let _ = wasm_bindgen_futures::JsFuture::from(waited).await;
}

/// Loads the second part, as soon as the network gives it, and tells the page that whole answers are to be had.
fn fetch_second(
    load: PartLoader<SecondPartEntries>,
    memory: Rc<RefCell<WorkerMemory>>,
    to_page: DedicatedWorkerGlobalScope,
    (is_wanted, is_told): (bool, Rc<Cell<bool>>),
) {
    wasm_bindgen_futures::spawn_local(async move {
        if !is_wanted {
            unhurried(&to_page).await;
        }
        while let Err(PartLoadError) = opened(load, &memory).await {
            pause(&to_page, AGAIN_MS).await;
        }
        if !is_told.replace(true) {
            post(&to_page, 0, AnswerBody::Whole, &[]);
        }
    });
}

/// Loads the second part, and starts it once.
async fn opened(
    load: PartLoader<SecondPartEntries>,
    memory: &RefCell<WorkerMemory>,
) -> Result<(), PartLoadError> {
    let entries = load().await?;
    memory.borrow_mut().second.get_or_insert_with(|| (entries.start)());
    Ok(())
}

fn absent() -> AnswerBody {
    AnswerBody::Failed { why: Why::PartMissing }
}

/// Whether a request wants a GPU of the browser; then, whether doubles may be singles there.
fn wants_gpu(request: &Request) -> Option<bool> {
    match request.backend.as_deref() {
        Some("webgpu") => Some(false),
        Some("webgpu-fast") => Some(true),
        _ => None,
    }
}

/// Runs on a GPU of the browser, for which kernels are compiled first.
async fn on_gpu(
    load: PartLoader<SecondPartEntries>,
    memory: &RefCell<WorkerMemory>,
    request: &Request,
    is_fast: bool,
) -> Result<GpuRunResult, AnswerBody> {
    opened(load, memory).await.map_err(|PartLoadError| absent())?;
    let run = {
        let memory = &mut *memory.borrow_mut();
        let mut timer = Timer::new(now_ms as fn() -> f64);
        let call = memory.compiler.begin(request, &mut timer)?;
        let second = memory.second.as_mut().ok_or_else(absent)?;
        second.run_on_gpu(request, call, is_fast, timer)
    };
    run.await
}

/// The fields of a run, with their buffers.
fn ran(fields: Vec<ResultField>, timings: Vec<MeasuredStep>, gpu: Option<OnGpu>) -> WorkerReply {
    let (fields, buffers) = sent(fields);
    (AnswerBody::Ran { fields, timings, calls: Vec::new(), gpu }, buffers)
}

/// The fields after some steps, with their buffers.
fn stepped(StepResult { step, fields, ms }: StepResult) -> WorkerReply {
    let (fields, buffers) = sent(fields);
    (AnswerBody::Stepped { step, fields, ms }, buffers)
}

/// The descriptions of fields, and their elements.
#[must_use]
pub fn sent(fields: Vec<ResultField>) -> (Vec<FieldInfo>, Vec<ArrayBuffer>) {
    let bytes = |it: &ResultField| Uint8Array::from(it.to_bytes().as_slice()).buffer();
    let buffers = fields.iter().map(bytes).collect();
    (fields.into_iter().map(|it| it.info).collect(), buffers)
}

fn post(scope: &DedicatedWorkerGlobalScope, revision: u64, said: AnswerBody, buffers: &[ArrayBuffer]) {
    let message = Array::new();
    message.push(&serde_json::to_string(&Answer { revision, said }).unwrap_or_default().into());
    let handed_over = Array::new();
    for buffer in buffers {
        message.push(buffer);
        handed_over.push(buffer);
    }
    // Refused for buffers that were handed over before: these were made for this message.
    let _ = scope.post_message_with_transfer(&message, &handed_over);
}

impl WorkerMemory {
    fn answer(
        &mut self,
        ask: Ask,
        buffers: &[ArrayBuffer],
        progress: &mut dyn FnMut(u64, u64),
    ) -> WorkerReply {
        let said = match ask {
            Ask::Compile { request } => {
                let is_half = self.second.is_none();
                if let Some(choice) = model_of(&request) {
                    let second = self.second.as_mut().map(|it| &mut **it as &mut dyn ProgramPart);
                    let (compiled, defaults) =
                        self.compiler.compile_program(&request, &choice, second, &now_ms);
                    let (compiled, defaults) = (Box::new(compiled), Box::new(defaults));
                    return (AnswerBody::Compiled { compiled, defaults, is_half }, Vec::new());
                }
                let mut later = self.second.as_mut().map(|second| {
                    move |front: &Arc<Front>, request: &Request, times| {
                        second.compiled(front, request, times, &now_ms)
                    }
                });
                let later = later.as_mut().map(|it| it as Later<'_>);
                let (compiled, defaults) = self.compiler.compile(&request, later, &now_ms);
                AnswerBody::Compiled { compiled: Box::new(compiled), defaults: Box::new(defaults), is_half }
            }
            Ask::Run { request } => match self.compiler.run(&request, &now_ms, progress) {
                Ok((fields, timings)) => return ran(fields, timings, None),
                Err(ended) => ended,
            },
            Ask::Step { request, restart, count } => {
                match self.compiler.step(&request, restart, count, &now_ms) {
                    Ok(it) => return stepped(it),
                    Err(ended) => ended,
                }
            }
            Ask::Store { which, fields } => self.store(which, fields, buffers),
            Ask::Slice { .. }
            | Ask::Survey { .. }
            | Ask::Line { .. }
            | Ask::Cell { .. }
            | Ask::Around { .. }
            | Ask::Archive { .. } => match self.shown(ask) {
                Ok(reply) => return reply,
                Err(why) => AnswerBody::Failed { why },
            },
            Ask::Compare => self.compare(),
            Ask::Passes { .. } | Ask::Graph { .. } | Ask::Service { .. } | Ask::Check { .. } => absent(),
        };
        (said, Vec::new())
    }

    fn run_program(
        &mut self,
        ask: &Ask,
        choice: &ModelChoice,
        progress: &mut dyn FnMut(u64, u64),
    ) -> WorkerReply {
        let Some(second) = &mut self.second else { return (absent(), Vec::new()) };
        let done = match ask {
            Ask::Run { request } => {
                let done = second.run_program(request, choice, &now_ms, progress);
                done.map(|ProgramRan { fields, timings, calls }| {
                    let (fields, buffers) = sent(fields);
                    (AnswerBody::Ran { fields, timings, calls, gpu: None }, buffers)
                })
            }
            Ask::Step { request, restart, count } => {
                let steps = ProgramSteps { restart: *restart, count: *count };
                second.step_program(request, choice, steps, &now_ms).map(stepped)
            }
            _ => Ok((absent(), Vec::new())),
        };
        done.unwrap_or_else(|ended| (ended, Vec::new()))
    }

    fn answer_of_second(&mut self, ask: Ask) -> WorkerReply {
        match &mut self.second {
            Some(second) => second.answer(&mut self.compiler.fronts, ask),
            None => (absent(), Vec::new()),
        }
    }

    fn store(&mut self, which: Which, fields: Vec<FieldInfo>, buffers: &[ArrayBuffer]) -> AnswerBody {
        let slot = if which == Which::B { &mut self.b } else { &mut self.a };
        // Those before go first: there may be no memory for both.
        slot.clear();
        for (info, buffer) in fields.into_iter().zip(buffers) {
            match ResultField::from_bytes(info, &Uint8Array::new(buffer).to_vec()) {
                Ok(kept) => slot.push(kept),
                Err(why) => return AnswerBody::Failed { why: why.into() },
            }
        }
        AnswerBody::Stored
    }

    /// Answers a question about the kept fields.
    fn shown(&self, ask: Ask) -> Result<WorkerReply, Why> {
        let numbers = |it: &[f64]| Float64Array::from(it).buffer();
        Ok(match ask {
            Ask::Slice { of, field, plane } => {
                let sheet = self.looked(of, &field, plane.element)?.sheet(plane)?;
                let dtype = self.dtype(&field);
                let (width, height) = (sheet.width as u64, sheet.height as u64);
                let (first, summary) = (sheet.first, sheet.summary);
                let slice = Slice { of, field, dtype, plane, width, height, first, summary };
                (AnswerBody::Slice { slice }, vec![numbers(&sheet.values)])
            }
            Ask::Survey { of, field, element, plane } => {
                let (summary, histogram) = self.looked(of, &field, element)?.survey(plane)?;
                (AnswerBody::Survey { summary, histogram }, Vec::new())
            }
            Ask::Line { of, field, element, along, at } => {
                let rows = self.looked(of, &field, element)?.line(along, at);
                let points = rows[0].len() as u64;
                let line = Line { of, field, along, at, points };
                (AnswerBody::Line { line }, vec![numbers(&rows.concat())])
            }
            Ask::Cell { at, element } => {
                (AnswerBody::Cell { readings: readings(&self.a, &self.b, at, element) }, Vec::new())
            }
            Ask::Around { of, field, element, at } => {
                let found = self.looked(of, &field, element)?.around(at);
                let (values, is_there): (Vec<f64>, Vec<bool>) = found.into_iter().unzip();
                (AnswerBody::Around { is_there }, vec![numbers(&values)])
            }
            Ask::Archive { of } => {
                let bytes = npz::archive(if of == Which::B { &self.b } else { &self.a })?;
                (AnswerBody::Archive, vec![Uint8Array::from(bytes.as_slice()).buffer()])
            }
            Ask::Compile { .. }
            | Ask::Passes { .. }
            | Ask::Graph { .. }
            | Ask::Service { .. }
            | Ask::Run { .. }
            | Ask::Step { .. }
            | Ask::Store { .. }
            | Ask::Check { .. }
            | Ask::Compare => return Err(Why::Said("this is no question about fields".to_owned())),
        })
    }

    fn looked(&self, of: Which, field: &str, element: u64) -> Result<ResultView<'_>, Why> {
        let [a, b] = [&self.a, &self.b].map(|all| all.iter().find(|it| it.info.name == field));
        ResultView::new(of, a, b, element)
            .map_err(|NotThere(said)| Why::NotShown { field: field.to_owned(), said })
    }

    fn dtype(&self, field: &str) -> String {
        let found = self.a.iter().chain(&self.b).find(|it| it.info.name == field);
        found.map(|it| it.info.dtype.clone()).unwrap_or_default()
    }

    fn compare(&self) -> AnswerBody {
        let mut differences = Vec::new();
        for a in &self.a {
            let Some(b) = self.b.iter().find(|it| it.info.name == a.info.name) else {
                return AnswerBody::Failed { why: Why::InOneOnly(a.info.name.clone()) };
            };
            match difference(a, b) {
                Ok(found) => differences.push(found),
                Err(why) => return AnswerBody::Failed { why: why.into() },
            }
        }
        if differences.is_empty() {
            return AnswerBody::Failed { why: Why::NothingToCompare };
        }
        AnswerBody::Compared { differences }
    }
}

/// The compiler has no clock; its worker has.
fn now_ms() -> f64 {
    let scope: DedicatedWorkerGlobalScope = js_sys::global().unchecked_into();
    scope.performance().map_or(0.0, |it| it.now())
}
