//! Compiles and answers with every level.

use std::sync::Arc;
use std::time::Instant;

use axum::Json;
use axum::body::Body;
use axum::extract::State;
use axum::http::HeaderMap;
use isobar_protocol::compile::Compiled;
use isobar_protocol::request::Request;

use super::body;
use crate::error::ApiError;
use crate::jobs::compiling;
use crate::limits;
use crate::state::AppState;
use crate::telemetry::metrics;

/// `POST /v1/compile` — diagnostics, levels, signature. A stencil with errors is an answer, not a problem.
pub(crate) async fn compile(
    State(state): State<AppState>,
    headers: HeaderMap,
    body: Body,
) -> Result<Json<Compiled>, ApiError> {
    let request: Request = body::json(&headers, body, &state.limits).await?;
    limits::check_request(&request, &state.limits)?;
    state.tools.backends.wanted(&request)?;
    let slots = Arc::clone(&state.compiling);
    let begun = Instant::now();
    let compiled = compiling::guarded(request, &state.waiting, &state.limits, slots).await?;
    metrics().compiled(begun.elapsed());
    Ok(Json(compiled))
}
