//! The page's files, inside the binary.

use axum::body::Body;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use rust_embed::Embed;

/// What `cargo xtask page` built. In debug builds the files are read from the folder at each request.
#[derive(Embed)]
#[folder = "../dist/"]
#[allow_missing = true]
struct Page;

/// Scripts, styles and workers come from here alone, and nothing may frame the page.
const CONTENT_SECURITY_POLICY: &str = "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; \
    style-src 'self'; img-src 'self' data: blob:; font-src 'self'; connect-src 'self'; worker-src 'self'; \
    base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// Shown where the binary has no page.
const NO_PAGE: &str = "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><title>Isobar</title>\
    <h1>This runner was built without its page</h1>\
    <p>Build the page with <code>cargo xtask page</code> and the runner again, or run <code>cargo xtask play</code>, \
    which does both. The command line and the HTTP API work as they are.</p></html>\n";

/// Whether the page was built before this program.
pub(crate) fn has_page() -> bool {
    Page::get("index.html").is_some()
}

/// Whether a path of a request names a file of the page.
pub(crate) fn is_file(path: &str) -> bool {
    path == "/" || Page::get(path.trim_start_matches('/')).is_some()
}

/// A file of the page; `headers` are the request's, for `If-None-Match`.
pub(crate) fn file(path: &str, headers: &HeaderMap) -> Response {
    let name = match path.trim_start_matches('/') {
        "" => "index.html",
        name => name,
    };
    let Some(file) = Page::get(name) else {
        let mut response = (StatusCode::NOT_FOUND, NO_PAGE).into_response();
        response
            .headers_mut()
            .insert(header::CONTENT_TYPE, HeaderValue::from_static("text/html; charset=utf-8"));
        return response;
    };
    let hash: String = file.metadata.sha256_hash()[..16].iter().map(|byte| format!("{byte:02x}")).collect();
    let etag = format!("\"{hash}\"");
    let is_known = headers.get(header::IF_NONE_MATCH).is_some_and(|it| it.as_bytes() == etag.as_bytes());
    let mut response = if is_known {
        StatusCode::NOT_MODIFIED.into_response()
    } else {
        Response::new(Body::from(file.data))
    };
    let kind = mime_guess::from_path(name).first_or_octet_stream();
    let kind = if kind.type_() == "text" { format!("{kind}; charset=utf-8") } else { kind.to_string() };
    let out = response.headers_mut();
    if let Ok(kind) = HeaderValue::from_str(&kind) {
        out.insert(header::CONTENT_TYPE, kind);
    }
    if let Ok(etag) = HeaderValue::from_str(&etag) {
        out.insert(header::ETAG, etag);
    }
    response
}

/// Headers of every answer: what a browser may do with it.
pub(crate) fn guard(response: &mut Response) {
    let headers = response.headers_mut();
    for (name, value) in [
        ("content-security-policy", CONTENT_SECURITY_POLICY),
        ("cross-origin-opener-policy", "same-origin"),
        ("cross-origin-embedder-policy", "require-corp"),
        ("cross-origin-resource-policy", "same-origin"),
        ("x-content-type-options", "nosniff"),
        ("x-frame-options", "DENY"),
        ("referrer-policy", "no-referrer"),
        ("permissions-policy", "camera=(), microphone=(), geolocation=(), usb=()"),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
    // Files keep their names from build to build: a browser asks each time and is answered "not modified".
    headers.entry(header::CACHE_CONTROL).or_insert(HeaderValue::from_static("no-cache"));
}
