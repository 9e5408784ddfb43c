//! The page's files, the pages about problems, and what is nothing at all.

use axum::extract::Request;
use axum::http::Method;
use axum::response::{Html, IntoResponse, Response};

use isobar_protocol::names::visible;

use super::path::Path;
use crate::error::ApiError;
use crate::{assets, problems};

/// A file of the page, or 404.
pub(crate) async fn file(request: Request) -> Response {
    let path = request.uri().path();
    if !assets::is_file(path) {
        return ApiError::NotFound(format!("address `{}`", visible(path))).into_response();
    }
    if request.method() != Method::GET && request.method() != Method::HEAD {
        return ApiError::MethodNotAllowed { method: request.method().to_string() }.into_response();
    }
    assets::file(path, request.headers())
}

/// The address exists, the method does not.
pub(crate) async fn wrong_method(method: Method) -> ApiError {
    ApiError::MethodNotAllowed { method: method.to_string() }
}

/// `GET /problems/{code}` — what a kind of problem means and what to do.
pub(crate) async fn problem(Path(code): Path<String>) -> Result<Html<String>, ApiError> {
    // Everything shown comes from our own table, nothing from the request.
    let kind =
        problems::by_code(&code).ok_or_else(|| ApiError::NotFound("such kind of problem".to_owned()))?;
    let next: String = kind.next.iter().map(|it| format!("<li>{it}</li>")).collect();
    Ok(Html(format!(
        "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><title>{title}</title>\
         <h1>{title}</h1><p>{about}</p><p>What to do:</p><ul>{next}</ul>\
         <p>Code <code>{code}</code>, status {status}.</p></html>\n",
        title = kind.title,
        about = kind.about,
        code = kind.code,
        status = kind.status,
    )))
}
