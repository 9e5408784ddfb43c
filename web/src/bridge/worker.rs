//! The worker, as the page sees it: questions go in, answers come out, a crash is told.

use isobar_protocol::worker::{Answer, Question};
use js_sys::{Array, ArrayBuffer};
use wasm_bindgen::prelude::*;
use web_sys::{ErrorEvent, MessageEvent, WorkerOptions, WorkerType};

use super::locale::t;
use super::page;

/// A worker that runs; dropped, it is stopped in the midst of whatever it does.
#[derive(Debug)]
pub struct Worker {
    inner: web_sys::Worker,
    _on_message: Closure<dyn Fn(MessageEvent)>,
    _on_error: Closure<dyn Fn(ErrorEvent)>,
}

impl Worker {
    /// Starts a worker. Questions may be asked at once.
    ///
    /// # Errors
    ///
    /// When the browser has no workers or refuses the script.
    pub fn start(
        on_answer: impl Fn(Answer, Vec<ArrayBuffer>) + 'static,
        on_crash: impl Fn(String) + 'static,
    ) -> Result<Self, String> {
        let options = WorkerOptions::new();
        options.set_type(WorkerType::Module);
        let inner = web_sys::Worker::new_with_options(&page::program("worker-boot.js"), &options)
            .map_err(|error| t!("files-worker-refused", why = format!("{error:?}")))?;

        let on_message = Closure::<dyn Fn(MessageEvent)>::new(move |event: MessageEvent| {
            let parts: Array = event.data().unchecked_into();
            let answer = parts.get(0).as_string().and_then(|it| serde_json::from_str(&it).ok());
            if let Some(answer) = answer {
                on_answer(answer, parts.iter().skip(1).map(JsCast::unchecked_into).collect());
            }
        });
        let on_error = Closure::<dyn Fn(ErrorEvent)>::new(move |event: ErrorEvent| {
            event.prevent_default();
            // A script that could not be loaded sends an event without a message.
            let message = js_sys::Reflect::get(&event, &"message".into()).ok().and_then(|it| it.as_string());
            on_crash(message.unwrap_or_else(|| t!("files-worker-missing").to_owned()));
        });
        inner.set_onmessage(Some(on_message.as_ref().unchecked_ref()));
        inner.set_onerror(Some(on_error.as_ref().unchecked_ref()));
        Ok(Self { inner, _on_message: on_message, _on_error: on_error })
    }

    /// Asks; the buffers are handed over and are empty here afterwards.
    pub fn ask(&self, question: &Question, buffers: &[ArrayBuffer]) {
        let message = Array::new();
        message.push(&serde_json::to_string(question).unwrap_or_default().into());
        let handed_over = Array::new();
        for buffer in buffers {
            message.push(buffer);
            handed_over.push(buffer);
        }
        // Refused when a buffer was handed over before: the question then stays without an answer.
        let _ = self.inner.post_message_with_transfer(&message, &handed_over);
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        self.inner.set_onmessage(None);
        self.inner.set_onerror(None);
        self.inner.terminate();
    }
}
