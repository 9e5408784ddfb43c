//! The page's files, inside the binary.

use std::io::Read;

use axum::body::Body;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use flate2::read::GzDecoder;
use rust_embed::{Embed, EmbeddedFile};

/// The files that `cargo xtask page` built. In debug builds they are read from the folder at each request.
///
/// WebAssembly is here in its packed forms alone: as it is it would be a sixth of the program, and browsers take it
/// packed. [`plain`] unpacks it for other clients.
#[derive(Embed)]
#[folder = "../dist/"]
#[exclude = "*.wasm"]
#[allow_missing = true]
struct Page;

/// Scripts, styles and workers come from here alone, and nothing may frame the page.
const CONTENT_SECURITY_POLICY: &str = "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; \
    style-src 'self'; img-src 'self' data: blob:; font-src 'self'; connect-src 'self'; worker-src 'self'; \
    manifest-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

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
    let name = path.trim_start_matches('/');
    path == "/"
        || Page::get(name).is_some()
        || (is_packed_alone(name) && Page::get(&format!("{name}.gz")).is_some())
}

/// Whether this program holds a file in its packed forms alone.
fn is_packed_alone(name: &str) -> bool {
    name.ends_with(".wasm")
}

/// A file as it is before it is packed, and the mark that its `ETag` has where the bytes come from a packed form.
fn plain(name: &str) -> Option<(EmbeddedFile, &'static str)> {
    if !is_packed_alone(name) {
        return Some((Page::get(name)?, ""));
    }
    let mut file = Page::get(&format!("{name}.gz"))?;
    let mut bytes = Vec::new();
    GzDecoder::new(file.data.as_ref()).read_to_end(&mut bytes).ok()?;
    file.data = bytes.into();
    Some((file, "-plain"))
}

/// Endings of the packed twins that lie beside files, as `Content-Encoding` calls them; what is smaller comes first.
const ENCODINGS: [(&str, &str); 2] = [("br", ".br"), ("gzip", ".gz")];

/// A file of the page; `headers` are the request's, for `If-None-Match` and `Accept-Encoding`.
pub(crate) fn file(path: &str, headers: &HeaderMap) -> Response {
    let name = match path.trim_start_matches('/') {
        "" => "index.html",
        name => name,
    };
    let packed = ENCODINGS
        .iter()
        .filter_map(|(encoding, ending)| Some((*encoding, Page::get(&format!("{name}{ending}"))?)));
    let twins: Vec<_> = packed.collect();
    let has_twins = !twins.is_empty();
    let twin = twins.into_iter().find(|(encoding, _)| accepts(headers, encoding));
    let (encoding, file) = match twin {
        Some((encoding, file)) => (Some(encoding), Some((file, ""))),
        None => (None, plain(name)),
    };
    let Some((file, mark)) = file else {
        let mut response = (StatusCode::NOT_FOUND, NO_PAGE).into_response();
        response
            .headers_mut()
            .insert(header::CONTENT_TYPE, HeaderValue::from_static("text/html; charset=utf-8"));
        return response;
    };
    // Of the bytes that are sent: twins have other ones.
    let hash: String = file.metadata.sha256_hash()[..16].iter().map(|byte| format!("{byte:02x}")).collect();
    let etag = format!("\"{hash}{mark}\"");
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
    if let Some(encoding) = encoding {
        out.insert(header::CONTENT_ENCODING, HeaderValue::from_static(encoding));
    }
    if has_twins {
        out.insert(header::VARY, HeaderValue::from_static("accept-encoding"));
    }
    if is_versioned(name) {
        let forever = HeaderValue::from_static("public, max-age=31536000, immutable");
        out.insert(header::CACHE_CONTROL, forever);
    }
    response
}

/// Whether a client takes answers that are packed so.
fn accepts(headers: &HeaderMap, encoding: &str) -> bool {
    let named = headers.get_all(header::ACCEPT_ENCODING).iter().filter_map(|it| it.to_str().ok());
    named.flat_map(|it| it.split(',')).any(|it| {
        let mut parts = it.split(';').map(str::trim);
        let is_named = parts.next().is_some_and(|it| it.eq_ignore_ascii_case(encoding));
        // A weight of zero is a refusal.
        let is_refused =
            parts.filter_map(|it| it.strip_prefix("q=")?.parse::<f32>().ok()).any(|it| it <= 0.0);
        is_named && !is_refused
    })
}

/// Whether a file lies in a folder that is named after what is in it (`cargo xtask page`): `v-0123456789abcdef/boot.js`.
fn is_versioned(name: &str) -> bool {
    let folder = name.strip_prefix("v-").and_then(|it| it.split_once('/')).map(|it| it.0);
    folder.is_some_and(|it| it.len() == 16 && it.bytes().all(|it| it.is_ascii_hexdigit()))
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
    // Files that keep their name from build to build are revalidated each time. An unchanged file is answered
    // with "not modified".
    headers.entry(header::CACHE_CONTROL).or_insert(HeaderValue::from_static("no-cache"));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn taking(encodings: &'static str) -> HeaderMap {
        [(header::ACCEPT_ENCODING, HeaderValue::from_static(encodings))].into_iter().collect()
    }

    #[test]
    fn what_a_client_takes_is_read() {
        assert!(accepts(&taking("gzip, deflate, br, zstd"), "br"));
        assert!(accepts(&taking("gzip;q=1.0, BR;q=0.5"), "br"));
        assert!(!accepts(&taking("gzip, br;q=0"), "br"));
        assert!(!accepts(&taking("brotli, x-br"), "br"));
        assert!(!accepts(&HeaderMap::new(), "gzip"));
    }

    #[test]
    fn only_files_with_a_version_in_their_address_are_kept_for_good() {
        assert!(is_versioned("v-0123456789abcdef/style/main.css"));
        for name in ["index.html", "sw.js", "v-1/boot.js", "v-0123456789abcdeg/boot.js", "v-0123456789abcdef"]
        {
            assert!(!is_versioned(name), "{name}");
        }
    }
}
