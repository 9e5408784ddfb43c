//! Questions to a worker that are awaited one by one, and what became of the worker.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::rc::Rc;

use isobar_protocol::worker::{Answer, AnswerBody, Ask, Question};
use js_sys::{ArrayBuffer, Function, Promise};
use wasm_bindgen::JsValue;
use wasm_bindgen_futures::JsFuture;

use super::worker::Worker;

/// Why an answer will never come.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WorkerEnd {
    /// The worker was stopped on purpose.
    Stopped,
    /// Its program did not start, with this message.
    NotLoaded(String),
    /// It fell over, with this message.
    Crashed(String),
}

type AskResult = Result<(AnswerBody, Vec<ArrayBuffer>), WorkerEnd>;

/// A question that was asked: where its answer goes, and whom to wake then.
#[derive(Debug, Default)]
struct PendingQuestion {
    reply: RefCell<Option<AskResult>>,
    wake: RefCell<Option<Function>>,
}

impl PendingQuestion {
    fn settle(&self, reply: AskResult) {
        *self.reply.borrow_mut() = Some(reply);
        if let Some(wake) = self.wake.borrow_mut().take() {
            // Resolving a promise does not fail.
            let _ = wake.call0(&JsValue::NULL);
        }
    }
}

type Queue = Rc<RefCell<BTreeMap<u64, Rc<PendingQuestion>>>>;

/// A worker that can have several open questions at a time.
#[derive(Debug)]
pub struct Asker {
    worker: RefCell<Option<Worker>>,
    waiting: Queue,
    asked: Cell<u64>,
    /// Why there will be no more answers: it may have fallen over before anybody asked.
    gone: Rc<RefCell<Option<WorkerEnd>>>,
}

impl Asker {
    /// Starts a worker; `on_progress` hears how far a run is.
    ///
    /// # Errors
    ///
    /// When the browser refuses.
    pub fn start(on_progress: impl Fn(u64, u64) + 'static) -> Result<Rc<Self>, String> {
        let waiting = Queue::default();
        let (answered, crashed) = (waiting.clone(), waiting.clone());
        let has_started = Rc::new(Cell::new(false));
        let starts = has_started.clone();
        let on_answer = move |Answer { revision, said }, buffers| match said {
            AnswerBody::Ready => starts.set(true),
            // The compiler's worker, which starts beside it, tells the same.
            AnswerBody::Loading { .. } => {}
            AnswerBody::Progress { done, total } => on_progress(done, total),
            said => {
                let waiting = answered.borrow_mut().remove(&revision);
                if let Some(waiting) = waiting {
                    waiting.settle(Ok((said, buffers)));
                }
            }
        };
        let gone = Rc::new(RefCell::new(None));
        let remembered = gone.clone();
        let on_crash = move |message: String| {
            let why =
                if has_started.get() { WorkerEnd::Crashed(message) } else { WorkerEnd::NotLoaded(message) };
            remembered.replace(Some(why.clone()));
            settle_all(&crashed, &why);
        };
        let worker = RefCell::new(Some(Worker::start(on_answer, on_crash)?));
        Ok(Rc::new(Self { worker, waiting, asked: Cell::new(0), gone }))
    }

    /// Whether it will not answer any more: another one is to be started.
    #[must_use]
    pub fn is_gone(&self) -> bool {
        self.gone.borrow().is_some()
    }

    /// Asks and waits; the buffers are handed over.
    ///
    /// # Errors
    ///
    /// When the worker ends before it answers.
    pub async fn ask(&self, ask: Ask, buffers: Vec<ArrayBuffer>) -> AskResult {
        let gone = self.gone.borrow().clone();
        if let Some(gone) = gone {
            return Err(gone);
        }
        let revision = self.asked.get() + 1;
        self.asked.set(revision);
        let waiting = Rc::new(PendingQuestion::default());
        let promise = Promise::new(&mut |resolve, _| {
            waiting.wake.replace(Some(resolve));
        });
        self.waiting.borrow_mut().insert(revision, waiting.clone());
        match &*self.worker.borrow() {
            Some(worker) => worker.ask(&Question { revision, ask }, &buffers),
            None => return Err(WorkerEnd::Stopped),
        }
        // A promise that is only ever resolved.
        let _ = JsFuture::from(promise).await;
        waiting.reply.take().unwrap_or(Err(WorkerEnd::Stopped))
    }

    /// Ends the worker in the midst of whatever it does.
    pub fn stop(&self) {
        self.worker.replace(None);
        self.gone.replace(Some(WorkerEnd::Stopped));
        settle_all(&self.waiting, &WorkerEnd::Stopped);
    }
}

fn settle_all(queue: &Queue, gone: &WorkerEnd) {
    let all = std::mem::take(&mut *queue.borrow_mut());
    for waiting in all.into_values() {
        waiting.settle(Err(gone.clone()));
    }
}
