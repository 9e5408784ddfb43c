//! Figures for Prometheus, on a listener of its own and without a token.

use axum::Router;
use axum::extract::{Request, State};
use axum::http::header;
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use axum::routing::get;

use crate::auth::Hosts;
use crate::error::ApiError;
use crate::state::AppState;
use crate::telemetry::metrics::{self, CONTENT_TYPE, Now};

/// `GET /metrics` alone, under the names of `hosts`.
pub(crate) fn router(state: AppState, hosts: Hosts) -> Router {
    let nothing = || async { ApiError::NotFound("address but `/metrics` here".to_owned()) };
    Router::new()
        .route("/metrics", get(figures))
        .fallback(nothing)
        .with_state(state)
        .layer(axum::middleware::from_fn_with_state(hosts, guard))
}

async fn figures(State(state): State<AppState>) -> Result<Response, ApiError> {
    let text = tokio::task::spawn_blocking(move || {
        let waiting = state.jobs.waiting() as usize;
        let cache = state.tools.cache.as_deref();
        metrics::metrics().text(Now { waiting, working: state.jobs.working(), cache })
    });
    let text = text.await.map_err(|error| ApiError::internal(&error))?;
    Ok(([(header::CONTENT_TYPE, CONTENT_TYPE)], text).into_response())
}

/// Refuses requests under a name that somebody else points at this machine. No page of another site can read
/// figures.
async fn guard(State(hosts): State<Hosts>, request: Request, next: Next) -> Response {
    let (uri, headers) = (request.uri(), request.headers());
    let checked = hosts.check_host(uri, headers).and_then(|()| hosts.check_origin(headers));
    let mut response = match checked {
        Ok(()) => next.run(request).await,
        Err(error) => error.into_response(),
    };
    crate::assets::guard(&mut response);
    response
}
