//! Connections: taken up to a number, and given a limited time to say what they want.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::extract::ConnectInfo;
use axum::response::{IntoResponse, Response};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use isobar_protocol::limits::Limits;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Semaphore, watch};
use tower::ServiceExt;

use crate::error::ApiError;
use crate::telemetry::metrics::Connection;

/// The line and headers of a request are no longer.
const HEAD_BYTES: usize = 32 * 1024;
/// Connections beyond the limit that are told so at a time; the others are closed without a word.
const REFUSED_AT_ONCE: usize = 32;
/// Such a connection may take this long to hear it.
const REFUSAL: Duration = Duration::from_secs(2);
/// After the system had no connection to give, it is asked again.
const PAUSE: Duration = Duration::from_millis(100);

/// Answers connections until `stop`; those that are open then end with the answer that they are at.
pub async fn serve(listener: TcpListener, app: Router, limits: Limits, stop: impl Future<Output = ()>) {
    let permits = |most: usize| Arc::new(Semaphore::new(most));
    let (taken, refused) = (permits(count(limits.connections)), permits(REFUSED_AT_ONCE));
    let ending = watch::Sender::new(false);
    let mut stop = pin!(stop);
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            () = &mut stop => break,
        };
        let (stream, from) = match accepted {
            Ok(accepted) => accepted,
            Err(error) => {
                tracing::warn!("no connection can be taken: {error}");
                tokio::time::sleep(PAUSE).await;
                continue;
            }
        };
        if let Ok(permit) = Arc::clone(&taken).try_acquire_owned() {
            let (app, is_ending) = (app.clone(), ending.subscribe());
            tokio::spawn(async move {
                answer(stream, from, app, limits, is_ending).await;
                drop(permit);
            });
        } else if let Ok(permit) = Arc::clone(&refused).try_acquire_owned() {
            tokio::spawn(async move {
                let _ = tokio::time::timeout(REFUSAL, refuse(stream, limits.connections)).await;
                drop(permit);
            });
        }
    }
    ending.send_replace(true);
    // All permits are back when all connections have ended.
    let _ = taken.acquire_many(u32::try_from(count(limits.connections)).unwrap_or(u32::MAX)).await;
}

fn count(limit: u64) -> usize {
    usize::try_from(limit).unwrap_or(usize::MAX).clamp(1, 1 << 16)
}

fn http(head_ms: u64) -> http1::Builder {
    let mut http = http1::Builder::new();
    // It holds for the first request and for each next one: a connection that is silent for longer is closed.
    http.timer(TokioTimer::new()).header_read_timeout(Duration::from_millis(head_ms));
    http.max_header_size(HEAD_BYTES);
    http
}

/// Answers one connection, request by request.
async fn answer(
    stream: TcpStream,
    from: SocketAddr,
    app: Router,
    limits: Limits,
    mut is_ending: watch::Receiver<bool>,
) {
    let _counted = Connection::open();
    let service = service_fn(move |request: hyper::Request<Incoming>| {
        let mut request = request.map(Body::new);
        request.extensions_mut().insert(ConnectInfo(from));
        app.clone().oneshot(request)
    });
    // Events are small, and worth nothing when they come late.
    let _ = stream.set_nodelay(true);
    let connection = http(limits.head_ms).serve_connection(TokioIo::new(stream), service);
    let mut connection = pin!(connection);
    // A connection that breaks off is no event.
    tokio::select! {
        _ = connection.as_mut() => return,
        _ = is_ending.wait_for(|it| *it) => connection.as_mut().graceful_shutdown(),
    }
    let _ = connection.await;
}

/// Tells a connection that there are too many.
async fn refuse(stream: TcpStream, allowed: u64) {
    let service = service_fn(move |_: hyper::Request<Incoming>| async move {
        let mut response = ApiError::TooManyConnections { allowed }.into_response();
        crate::assets::guard(&mut response);
        Ok::<Response, Infallible>(response)
    });
    let mut http = http(u64::try_from(REFUSAL.as_millis()).unwrap_or(u64::MAX));
    let _ = http.keep_alive(false).serve_connection(TokioIo::new(stream), service).await;
}
