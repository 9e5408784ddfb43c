//! Whether the runner lives, and whether it takes jobs.

use axum::extract::State;

use crate::error::ApiError;
use crate::state::AppState;

/// `GET /healthz` — the process answers.
pub(crate) async fn alive() -> &'static str {
    "alive\n"
}

/// `GET /readyz` — it takes jobs, and has room for their files.
pub(crate) async fn ready(State(state): State<AppState>) -> Result<&'static str, ApiError> {
    if state.jobs.is_closed() {
        return Err(ApiError::ShuttingDown);
    }
    let checked = tokio::task::spawn_blocking(move || crate::ready::check(&state.tools)).await;
    checked.map_err(|error| ApiError::internal(&error))??;
    Ok("ready\n")
}
