//! Takes jobs, tells their state, cancels them.

use axum::Json;
use axum::body::Body;
use axum::extract::{Extension, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use isobar_protocol::job::{EndReason, JobState, JobTicket};
use isobar_protocol::request::{FieldsInput, Request};

use super::body;
use super::path::Path;
use crate::error::ApiError;
use crate::limits;
use crate::state::AppState;
use crate::turns::Client;
use crate::wire::{Fields, Order};

/// `POST /v1/jobs` — queues a run and answers at once; the stencil is compiled in the job's process.
///
/// Progress and results follow on `GET /v1/jobs/{id}/events`.
pub(crate) async fn submit(
    State(state): State<AppState>,
    Extension(client): Extension<Client>,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, ApiError> {
    let mut request: Request = body::json(&headers, body, &state.limits).await?;
    limits::check_request(&request, &state.limits)?;
    for backend in state.tools.backends.all_of(&request)? {
        backend.check(&state.tools.found())?;
    }
    let fields = match request.fields.take() {
        Some(FieldsInput::Name(id)) => state.uploads.get(&id)?.fields(),
        inline => {
            request.fields = inline;
            Fields::None
        }
    };
    let document = state.jobs.document(&request);
    let order = Order::new(request, !fields.is_none(), &state.limits, &state.tools);
    let job = state.jobs.admit(client, order, fields, document).await?;
    let location = [(header::LOCATION, format!("/v1/jobs/{}", job.id))];
    Ok((StatusCode::CREATED, location, Json(JobTicket { job: job.id.clone() })).into_response())
}

/// `GET /v1/jobs/{id}`
pub(crate) async fn state(
    State(state): State<AppState>,
    Path(id): Path<String>,
) -> Result<Json<JobState>, ApiError> {
    Ok(Json(state.jobs.get(&id)?.state()))
}

/// `DELETE /v1/jobs/{id}` — ends the job; the event `ended` follows. A job that is over stays as it is.
pub(crate) async fn cancel(
    State(state): State<AppState>,
    Path(id): Path<String>,
) -> Result<(StatusCode, Json<JobState>), ApiError> {
    let job = state.jobs.get(&id)?;
    job.stop(EndReason::Cancelled);
    Ok((StatusCode::ACCEPTED, Json(job.state())))
}
