//! The worker: a loop around the compiler, and the keeper of the fields.
//!
//! The page starts this program three times: one compiles, one runs, one keeps the fields. So a run can be ended
//! in its midst, by ending its worker, and what ran before stays. A fourth one watches the passes, once somebody
//! looks at them: it is slower than a compilation is, and nobody who types waits for it.

use std::cell::RefCell;
use std::rc::Rc;

use isobar_compiler::pass::Timer;
use isobar_protocol::field::FieldInfo;
use isobar_protocol::fields::{Kept, NotThere, Values, difference};
use isobar_protocol::report::MeasuredStep;
use isobar_protocol::request::Request;
use isobar_protocol::worker::{Answer, Ask, Plane, Question, Said, Slice, Which};
use js_sys::{Array, ArrayBuffer, Float64Array, Uint8Array};
use wasm_bindgen::prelude::*;
use web_sys::{DedicatedWorkerGlobalScope, MessageEvent};

use crate::compile::Compiler;
use crate::gpu::{self, Ran};

/// All that the worker remembers.
#[derive(Debug, Default)]
struct Memory {
    compiler: Compiler,
    /// What was computed here, and what came from a runner.
    a: Vec<Kept>,
    b: Vec<Kept>,
}

/// An answer with its buffers.
type Reply = (Said, Vec<ArrayBuffer>);

/// Listens from now on.
pub fn start() {
    console_error_panic_hook::set_once();
    let scope: DedicatedWorkerGlobalScope = js_sys::global().unchecked_into();
    let memory = Rc::new(RefCell::new(Memory::default()));
    let to_page = scope.clone();
    let on_message = Closure::<dyn Fn(MessageEvent)>::new(move |event: MessageEvent| {
        let parts: Array = event.data().unchecked_into();
        let question = parts.get(0).as_string().unwrap_or_default();
        let Ok(Question { revision, ask }) = serde_json::from_str(&question) else { return };
        let buffers: Vec<ArrayBuffer> = parts.iter().skip(1).map(JsCast::unchecked_into).collect();
        if let Ask::Run { request } = &ask
            && let Some(is_fast) = on_gpu(request)
        {
            let mut timer = Timer::new(now_ms as fn() -> f64);
            let begun = memory.borrow_mut().compiler.begin(request, &mut timer);
            let to_page = to_page.clone();
            wasm_bindgen_futures::spawn_local(async move {
                let (said, buffers) = match begun {
                    Ok(call) => match gpu::run(call, is_fast, timer).await {
                        Ok(Ran { fields, timings, note }) => ran(fields, timings, note),
                        Err(ended) => (ended, Vec::new()),
                    },
                    Err(ended) => (ended, Vec::new()),
                };
                post(&to_page, revision, said, &buffers);
            });
            return;
        }
        let mut progress = |done, total| post(&to_page, revision, Said::Progress { done, total }, &[]);
        let (said, buffers) = memory.borrow_mut().answer(ask, &buffers, &mut progress);
        post(&to_page, revision, said, &buffers);
    });
    // The listener lives as long as the worker does.
    let listener = on_message.into_js_value();
    if scope.add_event_listener_with_callback("message", listener.unchecked_ref()).is_ok() {
        post(&scope, 0, Said::Ready, &[]);
    }
}

/// Whether a request wants a GPU of the browser; then, whether doubles may be singles there.
fn on_gpu(request: &Request) -> Option<bool> {
    match request.backend.as_deref() {
        Some("webgpu") => Some(false),
        Some("webgpu-fast") => Some(true),
        _ => None,
    }
}

/// The fields of a run, with their buffers.
fn ran(fields: Vec<Kept>, timings: Vec<MeasuredStep>, note: String) -> Reply {
    let bytes = |it: &Kept| Uint8Array::from(it.to_bytes().as_slice()).buffer();
    let buffers = fields.iter().map(bytes).collect();
    let fields = fields.into_iter().map(|it| it.info).collect();
    (Said::Ran { fields, timings, note }, buffers)
}

fn post(scope: &DedicatedWorkerGlobalScope, revision: u64, said: Said, buffers: &[ArrayBuffer]) {
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

impl Memory {
    fn answer(&mut self, ask: Ask, buffers: &[ArrayBuffer], progress: &mut dyn FnMut(u64, u64)) -> Reply {
        let said = match ask {
            Ask::Compile { request } => {
                let (compiled, defaults) = self.compiler.compile(&request, &now_ms);
                Said::Compiled { compiled: Box::new(compiled), defaults }
            }
            Ask::Passes { request, moments } => {
                let (steps, around) = self.compiler.passes(request, &moments);
                Said::Passes { steps, around }
            }
            Ask::Service { request, file, query } => {
                Said::Told { told: self.compiler.tell(&request, &file, &query) }
            }
            Ask::Run { request } => match self.compiler.run(&request, &now_ms, progress) {
                Ok((fields, timings)) => return ran(fields, timings, String::new()),
                Err(ended) => ended,
            },
            Ask::Store { which, fields } => self.store(which, fields, buffers),
            Ask::Slice { of, field, plane } => match self.plane(of, &field, plane) {
                Ok((dtype, Values { width, height, values })) => {
                    let (width, height) = (width as u64, height as u64);
                    let slice = Slice { of, field, dtype, plane, width, height };
                    return (Said::Slice { slice }, vec![Float64Array::from(values.as_slice()).buffer()]);
                }
                Err(NotThere(message)) => Said::Failed { message },
            },
            Ask::Compare => self.compare(),
        };
        (said, Vec::new())
    }

    fn store(&mut self, which: Which, fields: Vec<FieldInfo>, buffers: &[ArrayBuffer]) -> Said {
        let slot = if which == Which::B { &mut self.b } else { &mut self.a };
        // Those before go first: there may be no memory for both.
        slot.clear();
        for (info, buffer) in fields.into_iter().zip(buffers) {
            match Kept::from_bytes(info, &Uint8Array::new(buffer).to_vec()) {
                Ok(kept) => slot.push(kept),
                Err(NotThere(message)) => return Said::Failed { message },
            }
        }
        Said::Stored
    }

    fn plane(&self, of: Which, field: &str, plane: Plane) -> Result<(String, Values), NotThere> {
        let one = |of: Which| {
            let kept = if of == Which::B { &self.b } else { &self.a };
            let found = kept.iter().find(|it| it.info.name == field);
            found.ok_or_else(|| NotThere(format!("there is no result for `{field}` yet")))
        };
        let first = one(of)?;
        let mut values = first.plane(plane)?;
        if of == Which::Difference {
            let second = one(Which::B)?.plane(plane)?;
            if (second.width, second.height) != (values.width, values.height) {
                return Err(NotThere(format!("the two results for `{field}` have different domains")));
            }
            for (value, other) in values.values.iter_mut().zip(second.values) {
                // Equal infinities and two NaNs are no difference.
                let is_same = value.to_bits() == other.to_bits() || (value.is_nan() && other.is_nan());
                *value = if is_same { 0.0 } else { *value - other };
            }
        }
        Ok((first.info.dtype.clone(), values))
    }

    fn compare(&self) -> Said {
        let mut differences = Vec::new();
        for a in &self.a {
            let Some(b) = self.b.iter().find(|it| it.info.name == a.info.name) else {
                let message = format!("`{}` is in one of the two results only; run both again", a.info.name);
                return Said::Failed { message };
            };
            match difference(a, b) {
                Ok(found) => differences.push(found),
                Err(NotThere(message)) => return Said::Failed { message },
            }
        }
        if differences.is_empty() {
            return Said::Failed { message: "there are no two results to compare yet".to_owned() };
        }
        Said::Compared { differences }
    }
}

/// The compiler has no clock; its worker has.
fn now_ms() -> f64 {
    let scope: DedicatedWorkerGlobalScope = js_sys::global().unchecked_into();
    scope.performance().map_or(0.0, |it| it.now())
}
