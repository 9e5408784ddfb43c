//! The runner that serves this page: requests with its token, and the events of a job.

use std::time::Duration;

use isobar_protocol::job::{Capabilities, Event, EventKind, JobTicket};
use isobar_protocol::problem::Problem;
use isobar_protocol::request::Request;
use js_sys::{ArrayBuffer, Promise, Reflect, Uint8Array};
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::JsFuture;
use web_sys::{ReadableStreamDefaultReader, RequestInit, Response};

use super::locale::t;
use super::page::sleep;
use super::sse::Reader;

/// How long a stream may be silent: the runner sends a heartbeat every ten seconds.
const SILENCE: Duration = Duration::from_secs(25);
/// How often a broken stream is taken up again, and how long is waited before.
const RESUMES: u32 = 3;
const BEFORE_RESUME: Duration = Duration::from_millis(400);

/// Why the runner did not do what it was asked.
#[derive(Clone, Debug, PartialEq)]
pub enum RunnerError {
    /// No answer, or none any more.
    Lost,
    /// It answered that it will not.
    Refused(Box<Problem>),
    /// It answered something that this page does not understand.
    Garbled(String),
}

/// Talks to the runner of this origin.
#[derive(Clone, Debug)]
pub struct Runner {
    token: String,
}

impl Runner {
    #[must_use]
    pub fn new(token: String) -> Self {
        Self { token }
    }

    /// Asks the runner for its description and its capabilities.
    ///
    /// # Errors
    ///
    /// When it cannot be reached, or refuses the token.
    pub async fn capabilities(&self) -> Result<Capabilities, RunnerError> {
        let response = self.send("GET", "v1/capabilities", None, None).await?;
        read_json(&response).await
    }

    /// Hands a job in.
    ///
    /// # Errors
    ///
    /// When the runner refuses it, as for a stencil with errors.
    pub async fn submit(&self, request: &Request) -> Result<JobTicket, RunnerError> {
        let body = serde_json::to_string(request).map_err(|it| RunnerError::Garbled(it.to_string()))?;
        let response = self.send("POST", "v1/jobs", Some(&body), None).await?;
        read_json(&response).await
    }

    /// Asks for the end of a job; its events tell when that has come.
    ///
    /// # Errors
    ///
    /// When the runner cannot be reached.
    pub async fn cancel(&self, job: &str) -> Result<(), RunnerError> {
        self.send("DELETE", &format!("v1/jobs/{job}"), None, None).await.map(|_| ())
    }

    /// The elements of a written field.
    ///
    /// # Errors
    ///
    /// When the runner has dropped it or cannot be reached.
    pub async fn field(&self, job: &str, name: &str) -> Result<ArrayBuffer, RunnerError> {
        let response = self
            .send("GET", &format!("v1/jobs/{job}/fields/{}", js_sys::encode_uri_component(name)), None, None)
            .await?;
        let buffer = response.array_buffer().map_err(|_| RunnerError::Lost)?;
        JsFuture::from(buffer).await.map(JsCast::unchecked_into).map_err(|_| RunnerError::Lost)
    }

    /// Follows a job to its end; a stream that breaks is taken up where it broke.
    ///
    /// # Errors
    ///
    /// When the runner stops answering.
    pub async fn follow(&self, job: &str, mut on_event: impl FnMut(EventKind)) -> Result<(), RunnerError> {
        let mut last_id = None;
        let mut left = RESUMES;
        loop {
            match self.follow_once(job, &mut last_id, &mut on_event).await {
                Ok(true) => return Ok(()),
                // The stream ended or broke before the job did.
                Ok(false) | Err(RunnerError::Lost) if left > 0 => {
                    left -= 1;
                    sleep(BEFORE_RESUME).await;
                }
                Ok(false) => return Err(RunnerError::Lost),
                Err(error) => return Err(error),
            }
        }
    }

    /// Whether the job's last event came.
    async fn follow_once(
        &self,
        job: &str,
        last_id: &mut Option<String>,
        on_event: &mut impl FnMut(EventKind),
    ) -> Result<bool, RunnerError> {
        let path = format!("v1/jobs/{job}/events");
        let response = self.send("GET", &path, None, last_id.as_deref()).await?;
        let body = response.body().ok_or(RunnerError::Lost)?;
        let stream: ReadableStreamDefaultReader = body.get_reader().unchecked_into();
        let mut reader = Reader::default();
        loop {
            let Some(piece) = next_piece(&stream).await? else { return Ok(false) };
            for message in reader.take(&piece) {
                // Events of a later runner may be of a kind that is not known here.
                if let Ok(event) = serde_json::from_str::<Event>(&message.data) {
                    let is_last = matches!(event.what, EventKind::Ended { .. });
                    on_event(event.what);
                    if is_last {
                        return Ok(true);
                    }
                }
                last_id.clone_from(&message.id);
            }
        }
    }

    async fn send(
        &self,
        method: &str,
        path: &str,
        body: Option<&str>,
        last_id: Option<&str>,
    ) -> Result<Response, RunnerError> {
        let window = web_sys::window().ok_or(RunnerError::Lost)?;
        let init = RequestInit::new();
        init.set_method(method);
        let headers = web_sys::Headers::new().map_err(|_| RunnerError::Lost)?;
        let set = |name: &str, value: &str| {
            headers.set(name, value).map_err(|_| RunnerError::Garbled(t!("files-no-header", name = name)))
        };
        set("authorization", &format!("Bearer {}", self.token))?;
        if body.is_some() {
            set("content-type", "application/json")?;
        }
        if let Some(id) = last_id {
            set("last-event-id", id)?;
        }
        init.set_headers(&headers);
        if let Some(body) = body {
            init.set_body(&body.into());
        }
        let sent = JsFuture::from(window.fetch_with_str_and_init(&format!("./{path}"), &init)).await;
        let response: Response = sent.map_err(|_| RunnerError::Lost)?.unchecked_into();
        if response.ok() {
            return Ok(response);
        }
        let status = response.status();
        match read_json::<Problem>(&response).await {
            Ok(problem) => Err(RunnerError::Refused(Box::new(problem))),
            Err(_) => Err(RunnerError::Garbled(format!("status {status}"))),
        }
    }
}

async fn read_json<T: serde::de::DeserializeOwned>(response: &Response) -> Result<T, RunnerError> {
    let text = JsFuture::from(response.text().map_err(|_| RunnerError::Lost)?).await;
    let text = text.map_err(|_| RunnerError::Lost)?.as_string().unwrap_or_default();
    serde_json::from_str(&text).map_err(|error| RunnerError::Garbled(error.to_string()))
}

/// The next piece of a stream, `None` at its end.
async fn next_piece(stream: &ReadableStreamDefaultReader) -> Result<Option<Vec<u8>>, RunnerError> {
    let silence = wasm_bindgen_futures::future_to_promise(async {
        sleep(SILENCE).await;
        Ok(JsValue::UNDEFINED)
    });
    let read: Promise = stream.read();
    let first = JsFuture::from(Promise::race(&js_sys::Array::of2(&read, &silence))).await;
    let result = first.map_err(|_| RunnerError::Lost)?;
    if result.is_undefined() {
        // Nobody reads on: the browser may close the connection.
        let _ = stream.cancel();
        return Err(RunnerError::Lost);
    }
    let is_done = Reflect::get(&result, &"done".into()).is_ok_and(|it| it.is_truthy());
    if is_done {
        return Ok(None);
    }
    let piece = Reflect::get(&result, &"value".into()).map_err(|_| RunnerError::Lost)?;
    Ok(Some(piece.unchecked_into::<Uint8Array>().to_vec()))
}
