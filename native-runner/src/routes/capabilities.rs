//! The version and the capabilities of this runner.

use axum::Json;
use axum::extract::State;
use isobar_protocol::job::Capabilities;

use crate::state::AppState;

/// `GET /v1/capabilities`
pub(crate) async fn capabilities(State(state): State<AppState>) -> Json<Capabilities> {
    Json(Capabilities {
        product: "isobar".to_owned(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        backends: state.backends.clone(),
        stages: state.tools.backends.texts().map(|it| it.stage.to_string()).collect(),
        cores: state.tools.cores,
        machine: Some(state.tools.machine.clone()),
        sandbox: state.confined.told(),
        limits: state.limits,
        jobs_waiting: state.jobs.waiting(),
        jobs_kept: state.jobs.are_kept(),
    })
}
