//! Checks that every request passes first, whatever its method and path.

use std::net::SocketAddr;
use std::sync::Arc;

use axum::extract::{ConnectInfo, Request, State};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use super::{Access, access};
use crate::auth::guests::Guest;
use crate::error::ApiError;
use crate::state::AppState;

/// Notes the client, checks host, origin and token, and adds the headers that protect an answer from other
/// sites.
pub(crate) async fn guard(State(state): State<AppState>, mut request: Request, next: Next) -> Response {
    let client = request.extensions().get::<Arc<Guest>>().map(|it| it.client()).unwrap_or_default();
    request.extensions_mut().insert(client);
    let mut response = match check(&state, &request) {
        Ok(()) => next.run(request).await,
        Err(error) => error.into_response(),
    };
    crate::assets::guard(&mut response);
    response
}

fn check(state: &AppState, request: &Request) -> Result<(), ApiError> {
    state.hosts.check_host(request.uri(), request.headers())?;
    match access(request.method(), request.uri().path()) {
        Access::Public => Ok(()),
        Access::Token => {
            state.hosts.check_origin(request.headers())?;
            let from = request.extensions().get::<ConnectInfo<SocketAddr>>().map(|it| it.0.ip());
            state.auth.check(request.headers(), from)?;
            if let Some(guest) = request.extensions().get::<Arc<Guest>>() {
                guest.is_known();
            }
            Ok(())
        }
    }
}
