//! The addresses of the runner: what each takes, and who may ask.

pub mod capabilities;
pub mod compile;
pub mod events;
pub mod fields;
pub mod health;
pub mod jobs;
pub mod metrics;
pub mod page;
pub mod uploads;

mod body;
mod guard;
mod observe;
mod path;

use axum::Router;
use axum::http::Method;
use axum::routing::{MethodRouter, delete, get, post};

use crate::state::AppState;

/// The clients that may use an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Everybody who reaches the runner under one of its names.
    Public,
    /// Those who show the token.
    Token,
}

/// An address of the API.
#[derive(Clone, Copy, Debug)]
pub struct Route {
    /// In small letters, as the router's functions are named.
    pub method: &'static str,
    pub path: &'static str,
    pub access: Access,
}

macro_rules! routes {
    ($($access:ident $method:ident $path:literal => $handler:expr;)*) => {
        /// Every address but the files of the page. An address that is not listed here needs the token, too.
        pub const ROUTES: &[Route] = &[$(Route {
            method: stringify!($method), path: $path, access: Access::$access,
        }),*];

        fn table() -> Vec<(&'static str, MethodRouter<AppState>)> {
            vec![$(($path, $method($handler))),*]
        }
    };
}

routes! {
    Public get "/healthz" => health::alive;
    Public get "/readyz" => health::ready;
    Public get "/problems/{code}" => page::problem;
    Token get "/v1/capabilities" => capabilities::capabilities;
    Token post "/v1/compile" => compile::compile;
    Token post "/v1/uploads" => uploads::upload;
    Token post "/v1/jobs" => jobs::submit;
    Token get "/v1/jobs/{id}" => jobs::state;
    Token delete "/v1/jobs/{id}" => jobs::cancel;
    Token get "/v1/jobs/{id}/events" => events::events;
    Token get "/v1/jobs/{id}/fields/{name}" => fields::field;
}

/// All addresses behind the guard, which sees each request before any routing.
pub(crate) fn router(state: AppState) -> Router {
    let mut inner = Router::new();
    for (path, handler) in table() {
        inner = inner.route(path, handler);
    }
    let inner = inner
        .fallback(page::file)
        .method_not_allowed_fallback(page::wrong_method)
        .layer(axum::extract::DefaultBodyLimit::disable())
        .with_state(state.clone());
    let guarded = Router::new()
        .fallback_service(inner)
        .layer(axum::middleware::from_fn_with_state(state, guard::guard));
    guarded.layer(axum::middleware::from_fn(observe::observe))
}

/// The access of an address: one that is not known to be public needs the token.
fn access(method: &Method, path: &str) -> Access {
    let is_read = method == Method::GET || method == Method::HEAD;
    let is_listed = ROUTES.iter().any(|route| {
        let is_below = route.path.split_once('{').is_some_and(|(start, _)| path.starts_with(start));
        route.access == Access::Public && (route.path == path || is_below)
    });
    if is_read && (is_listed || crate::assets::is_file(path)) { Access::Public } else { Access::Token }
}
