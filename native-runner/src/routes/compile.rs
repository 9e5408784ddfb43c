//! Compiles and answers with every level.

use std::time::Instant;

use axum::Json;
use axum::body::Body;
use axum::extract::{Extension, State};
use axum::http::HeaderMap;
use isobar_protocol::compile::Compiled;
use isobar_protocol::request::Request;

use super::body;
use crate::error::ApiError;
use crate::jobs::compiling;
use crate::limits;
use crate::state::AppState;
use crate::telemetry::metrics;
use crate::turns::Client;

/// `POST /v1/compile` — diagnostics, levels, signature. A stencil with errors is an answer, not a problem.
pub(crate) async fn compile(
    State(state): State<AppState>,
    Extension(client): Extension<Client>,
    headers: HeaderMap,
    body: Body,
) -> Result<Json<Compiled>, ApiError> {
    let request: Request = body::json(&headers, body, &state.limits).await?;
    limits::check_request(&request, &state.limits)?;
    state.tools.backends.wanted(&request)?;
    let begun = Instant::now();
    let compiled =
        compiling::guarded(request, &client, &state.waiting, &state.limits, &state.compiling).await?;
    metrics().compiled(begun.elapsed());
    Ok(Json(compiled))
}
