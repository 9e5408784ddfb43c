//! Notes each request with its answer, whatever became of it.

use std::net::SocketAddr;
use std::pin::Pin;
use std::task::{Context, Poll};

use axum::body::{Body, Bytes};
use axum::extract::{ConnectInfo, Request};
use axum::http::{Method, header};
use axum::middleware::Next;
use axum::response::Response;
use hyper::body::{Frame, SizeHint};

use super::ROUTES;
use crate::telemetry::RequestNote;

/// Notes the request when the last of its answer was sent, or when nobody waits for it any more.
pub(crate) async fn observe(request: Request, next: Next) -> Response {
    let path = request.uri().path();
    let from = request.extensions().get::<ConnectInfo<SocketAddr>>().map(|it| it.0.ip());
    let mut note = RequestNote::new(method(request.method()), route(path), from);
    note.job = job(path);
    let response = next.run(request).await;
    note.answered(response.status().as_u16());
    if note.job.is_none() {
        let location = response.headers().get(header::LOCATION).and_then(|it| it.to_str().ok());
        note.job = location.and_then(job);
    }
    response.map(|inner| Body::new(Noted { inner, note }))
}

/// A body that counts what is sent of it.
struct Noted {
    inner: Body,
    note: RequestNote,
}

impl hyper::body::Body for Noted {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        let polled = Pin::new(&mut self.inner).poll_frame(cx);
        if let Poll::Ready(Some(Ok(frame))) = &polled {
            self.note.bytes += frame.data_ref().map_or(0, |it| it.len() as u64);
        }
        polled
    }

    fn is_end_stream(&self) -> bool {
        self.inner.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.inner.size_hint()
    }
}

/// A method that is one of HTTP's own: others are a client's words.
fn method(method: &Method) -> &'static str {
    const KNOWN: [&str; 9] = ["GET", "POST", "DELETE", "HEAD", "OPTIONS", "PUT", "PATCH", "CONNECT", "TRACE"];
    KNOWN.into_iter().find(|it| *it == method.as_str()).unwrap_or("other")
}

/// The address as it stands in the table, never as it was sent.
fn route(path: &str) -> &'static str {
    let is_like = |pattern: &str| {
        let (mut wanted, mut given) = (pattern.split('/'), path.split('/'));
        loop {
            match (wanted.next(), given.next()) {
                (None, None) => return true,
                (Some(wanted), Some(given)) if wanted.starts_with('{') || wanted == given => {}
                _ => return false,
            }
        }
    };
    let listed = ROUTES.iter().map(|it| it.path).find(|it| is_like(it));
    listed.unwrap_or(if crate::assets::is_file(path) { "page" } else { "none" })
}

/// The job that an address names, where it is formed as the runner forms such names.
fn job(path: &str) -> Option<String> {
    let id = path.strip_prefix("/v1/jobs/")?.split('/').next()?;
    let is_ours = id.len() == 32 && id.bytes().all(|it| it.is_ascii_digit() || (b'a'..=b'f').contains(&it));
    is_ours.then(|| id.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_that_a_client_wrote_is_noted() {
        let id = "0123456789abcdef0123456789abcdef";
        for (path, wanted) in [
            ("/v1/jobs", "/v1/jobs"),
            (&format!("/v1/jobs/{id}/fields/secret"), "/v1/jobs/{id}/fields/{name}"),
            ("/v1/jobs/secret", "/v1/jobs/{id}"),
            ("/v1/jobs/a/b/c/d", "none"),
            ("/problems/secret", "/problems/{code}"),
            ("/secret", "none"),
            ("/", "page"),
        ] {
            assert_eq!(route(path), wanted, "{path}");
        }
        assert_eq!(job(&format!("/v1/jobs/{id}/events")).as_deref(), Some(id));
        assert_eq!(job("/v1/jobs/secret"), None);
        assert_eq!(job(&format!("/v1/jobs/{}", id.to_uppercase())), None);
        let secret = Method::from_bytes(b"SECRET").expect("a method");
        assert_eq!((method(&Method::GET), method(&secret)), ("GET", "other"));
    }
}
