//! Whether the runner lives, and whether it takes jobs.

use axum::extract::State;

use crate::error::ApiError;
use crate::state::AppState;

/// `GET /healthz` — the process answers.
pub(crate) async fn alive() -> &'static str {
    "alive\n"
}

/// `GET /readyz` — it takes jobs.
pub(crate) async fn ready(State(state): State<AppState>) -> Result<&'static str, ApiError> {
    if state.jobs.is_closed() { Err(ApiError::ShuttingDown) } else { Ok("ready\n") }
}
