//! Every way a request can fail, and how that is told: RFC 9457, `application/problem+json`.

use axum::Json;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use isobar_protocol::diagnostic::{Diagnostic, Position};
use isobar_protocol::names::{message, visible};
use isobar_protocol::problem::{LimitHit, Problem};

use crate::problems::{self, Kind};

/// A request that cannot be answered as asked. A new variant must pick a kind of problem.
#[derive(Debug, thiserror::Error)]
pub enum ApiError {
    #[error("the request is not valid JSON: {message}")]
    BadJson { line: usize, column: usize, message: String },
    #[error("{0}")]
    InvalidRequest(String),
    #[error("this needs the token that `isobar serve` printed")]
    Unauthenticated,
    #[error("too many requests with a wrong token came from this address")]
    TooManyFailures { retry_after_ms: u64 },
    #[error("this runner does not answer for the host `{}`", visible(.0))]
    ForeignHost(String),
    #[error("this runner does not answer pages of `{}`", visible(.0))]
    ForeignOrigin(String),
    #[error("there is no {0}")]
    NotFound(String),
    #[error("`{}` is not possible here", visible(method))]
    MethodNotAllowed { method: String },
    #[error("{0}")]
    Gone(String),
    #[error("the {} is larger than allowed", limit.name)]
    TooLarge { limit: LimitHit },
    #[error("the body must be sent as `{wanted}`")]
    UnsupportedMediaType { wanted: &'static str },
    #[error("the body is sent with a `Content-Encoding`, and is taken without one")]
    EncodedBody,
    #[error("no back end named `{}` on this runner", visible(name))]
    UnknownBackend { name: String, known: Vec<&'static str> },
    #[error("no stage named `{}` on this runner", visible(name))]
    UnknownStage { name: String, known: Vec<&'static str> },
    #[error("the back end `{name}` cannot run here: {reason}")]
    BackendUnavailable { name: String, reason: String },
    #[error("the queue is full, {waiting} jobs are waiting")]
    QueueFull { waiting: u64 },
    #[error("the inputs of the jobs at hand hold {held} bytes, and at most {allowed} are kept")]
    InputsFull { held: u64, allowed: u64 },
    #[error("all compilers of this runner have been busy for {limit_ms} ms")]
    CompilersBusy { limit_ms: u64 },
    #[error("no upload that arrives has ended for {limit_ms} ms, and no more arrive at a time")]
    UploadsBusy { limit_ms: u64 },
    #[error("the documents of the jobs at hand have {held} bytes, and at most {allowed} are kept")]
    DocumentsFull { held: u64, allowed: u64 },
    #[error("all {allowed} connections of this runner are in use")]
    TooManyConnections { allowed: u64 },
    #[error("all {allowed} connections that one address may have are in use")]
    TooManyOfAddress { allowed: u64 },
    #[error("the runner cannot keep files: {0}")]
    NoRoom(&'static str),
    #[error("the runner takes no jobs that it could finish: {0}")]
    NotReady(&'static str),
    #[error("the request body did not arrive within {limit_ms} ms")]
    SlowBody { limit_ms: u64 },
    #[error("the compilation took longer than {limit_ms} ms")]
    CompileTimedOut { limit_ms: u64 },
    #[error("the compilation took longer than {turn_ms} ms, and made room for one that waited")]
    CompileMadeRoom { turn_ms: u64 },
    #[error("the upload was slow, or one of many, and made room after {turn_ms} ms for one that waited")]
    UploadMadeRoom { turn_ms: u64 },
    #[error("the runner is shutting down")]
    ShuttingDown,
    /// A fault of ours; `source` goes to the log, the client gets the report's name.
    #[error("the runner made an error; its log has the report {report}")]
    Internal { report: String },
}

impl ApiError {
    fn kind(&self) -> &'static Kind {
        match self {
            ApiError::BadJson { .. } | ApiError::InvalidRequest(_) | ApiError::UnknownStage { .. } => {
                &problems::INVALID_REQUEST
            }
            ApiError::Unauthenticated => &problems::UNAUTHENTICATED,
            ApiError::TooManyFailures { .. } => &problems::RATE_LIMITED,
            ApiError::ForeignHost(_) | ApiError::ForeignOrigin(_) => &problems::FORBIDDEN,
            ApiError::NotFound(_) => &problems::NOT_FOUND,
            ApiError::MethodNotAllowed { .. } => &problems::METHOD_NOT_ALLOWED,
            ApiError::Gone(_) => &problems::GONE,
            ApiError::TooLarge { .. } => &problems::PAYLOAD_TOO_LARGE,
            ApiError::UnsupportedMediaType { .. } | ApiError::EncodedBody => {
                &problems::UNSUPPORTED_MEDIA_TYPE
            }
            ApiError::UnknownBackend { .. } | ApiError::BackendUnavailable { .. } => {
                &problems::BACKEND_UNAVAILABLE
            }
            ApiError::QueueFull { .. }
            | ApiError::InputsFull { .. }
            | ApiError::DocumentsFull { .. }
            | ApiError::UploadsBusy { .. }
            | ApiError::CompilersBusy { .. }
            | ApiError::TooManyConnections { .. }
            | ApiError::TooManyOfAddress { .. } => &problems::OVERLOADED,
            ApiError::NoRoom(_) => &problems::NO_ROOM,
            ApiError::NotReady(_) => &problems::NOT_READY,
            ApiError::SlowBody { .. } => &problems::SLOW_BODY,
            ApiError::UploadMadeRoom { .. } => &problems::OVERLOADED,
            ApiError::CompileTimedOut { .. } | ApiError::CompileMadeRoom { .. } => &problems::TIMED_OUT,
            ApiError::ShuttingDown => &problems::SHUTTING_DOWN,
            ApiError::Internal { .. } => &problems::INTERNAL,
        }
    }

    /// The problem as it crosses the wire.
    #[must_use]
    pub fn problem(&self) -> Problem {
        let mut problem = self.kind().problem(self.to_string());
        match self {
            ApiError::BadJson { line, column, message: what } => {
                let at = Position { line: place(*line), col: place(*column) };
                problem.detail = message(format!("line {line}, column {column}: {what}"));
                let fault = Diagnostic::without_place("Q01", what.clone(), "");
                problem.diagnostics = vec![Diagnostic { start: at, end: at, ..fault }];
            }
            ApiError::TooLarge { limit } => problem.limit = Some(limit.clone()),
            ApiError::TooManyFailures { retry_after_ms } => problem.retry_after_ms = Some(*retry_after_ms),
            ApiError::QueueFull { .. }
            | ApiError::InputsFull { .. }
            | ApiError::DocumentsFull { .. }
            | ApiError::UploadsBusy { .. }
            | ApiError::UploadMadeRoom { .. }
            | ApiError::CompilersBusy { .. } => {
                problem.retry_after_ms = Some(5_000);
            }
            ApiError::NoRoom(_) | ApiError::NotReady(_) => problem.retry_after_ms = Some(30_000),
            ApiError::TooManyConnections { .. } | ApiError::TooManyOfAddress { .. } => {
                problem.retry_after_ms = Some(1_000);
                problem.next = vec!["close connections that are not needed".to_owned()];
            }
            ApiError::UnknownBackend { known, .. } | ApiError::UnknownStage { known, .. } => {
                problem.next = vec![format!("choose one of {}", known.join(", "))];
            }
            ApiError::CompileTimedOut { limit_ms } => {
                problem.limit = Some(LimitHit::of_time("compile time", *limit_ms))
            }
            ApiError::CompileMadeRoom { turn_ms } => {
                problem.limit = Some(LimitHit::of_time("compile time while others wait", *turn_ms));
            }
            ApiError::SlowBody { limit_ms } => {
                problem.limit = Some(LimitHit::of_time("request body", *limit_ms))
            }
            ApiError::Internal { report } => problem.report_id = Some(report.clone()),
            ApiError::InvalidRequest(_)
            | ApiError::Unauthenticated
            | ApiError::ForeignHost(_)
            | ApiError::ForeignOrigin(_)
            | ApiError::NotFound(_)
            | ApiError::MethodNotAllowed { .. }
            | ApiError::Gone(_)
            | ApiError::UnsupportedMediaType { .. }
            | ApiError::EncodedBody
            | ApiError::BackendUnavailable { .. }
            | ApiError::ShuttingDown => {}
        }
        problem
    }

    /// A fault of ours: writes `what` to the log under a new report name.
    pub(crate) fn internal(what: &dyn std::fmt::Display) -> Self {
        let report = crate::random::hex(8);
        tracing::error!(report, "{what}");
        ApiError::Internal { report }
    }
}

/// `1 error`, `2 errors`.
pub(crate) fn count(n: usize, what: &str) -> String {
    format!("{n} {what}{}", if n == 1 { "" } else { "s" })
}

fn place(n: usize) -> u32 {
    u32::try_from(n).unwrap_or(u32::MAX)
}

impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        self.response()
    }
}

impl ApiError {
    pub(crate) fn response(&self) -> Response {
        let problem = self.problem();
        let status = StatusCode::from_u16(problem.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let retry = problem.retry_after_ms.map(|ms| HeaderValue::from(ms.div_ceil(1000)));
        let mut response = (status, Json(problem)).into_response();
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/problem+json"));
        if let Some(retry) = retry {
            headers.insert(header::RETRY_AFTER, retry);
        }
        if matches!(self, ApiError::Unauthenticated) {
            headers.insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer realm=\"isobar\""));
        }
        response
    }
}
