//! Bodies of requests. Their size is limited before they are read. They are understood, or refused with the
//! place of the mistake.

use std::time::Duration;

use axum::body::{Body, BodyDataStream};
use axum::http::{HeaderMap, HeaderValue, header};
use isobar_protocol::limits::Limits;
use isobar_protocol::problem::LimitHit;
use serde::de::DeserializeOwned;
use tokio_stream::StreamExt;

use crate::document::json::{self as document, Fault};
use crate::error::ApiError;

/// How much of a refused body is still taken, and for how long.
const FORGOTTEN_BYTES: usize = 256 * 1024 * 1024;
const FORGOTTEN: Duration = Duration::from_secs(5);

/// Reads a JSON document.
pub(crate) async fn json<T: DeserializeOwned>(
    headers: &HeaderMap,
    body: Body,
    limits: &Limits,
) -> Result<T, ApiError> {
    check_type(headers, "application/json")?;
    let bytes = in_time(limits.body_ms, bytes(headers, body, limits.body_bytes)).await?;
    let values = document::n_values(&bytes);
    if values > limits.document_values {
        let limit =
            LimitHit::new("number of values in the document", limits.document_values, values, "values");
        return Err(ApiError::TooLarge { limit });
    }
    document::read(&bytes).map_err(|Fault { line, column, message }| ApiError::BadJson {
        line,
        column,
        message,
    })
}

/// Gives a body a limited time to arrive.
pub(crate) async fn in_time<T>(
    limit_ms: u64,
    body: impl Future<Output = Result<T, ApiError>>,
) -> Result<T, ApiError> {
    let arrived = tokio::time::timeout(Duration::from_millis(limit_ms), body).await;
    arrived.unwrap_or(Err(ApiError::SlowBody { limit_ms }))
}

/// Checks the content type; parameters such as a charset are ignored. Nothing is unpacked.
pub(crate) fn check_type(headers: &HeaderMap, wanted: &'static str) -> Result<(), ApiError> {
    let is_plain = |it: &HeaderValue| it.as_bytes().eq_ignore_ascii_case(b"identity");
    if !headers.get_all(header::CONTENT_ENCODING).iter().all(is_plain) {
        return Err(ApiError::EncodedBody);
    }
    let given = headers.get(header::CONTENT_TYPE).and_then(|it| it.to_str().ok()).unwrap_or_default();
    let essence = given.split(';').next().unwrap_or_default().trim();
    if essence.eq_ignore_ascii_case(wanted) { Ok(()) } else { Err(ApiError::UnsupportedMediaType { wanted }) }
}

/// The parts of a body, unless it says itself that it is too long.
pub(crate) fn parts(headers: &HeaderMap, body: Body, limit: u64) -> Result<BodyDataStream, ApiError> {
    let length = headers.get(header::CONTENT_LENGTH).and_then(|it| it.to_str().ok()?.parse::<u64>().ok());
    let parts = body.into_data_stream();
    match length {
        Some(length) if length > limit => {
            // A client that asks before it sends need not send.
            if !headers.contains_key(header::EXPECT) {
                forget(parts);
            }
            Err(too_large(limit, length))
        }
        _ => Ok(parts),
    }
}

/// Receives the rest of a refused body and discards it. A client that only listens after sending everything
/// would otherwise see a broken connection instead of the reason.
pub(crate) fn forget(mut parts: BodyDataStream) {
    tokio::spawn(tokio::time::timeout(FORGOTTEN, async move {
        let mut bytes = 0;
        while let Some(Ok(part)) = parts.next().await {
            bytes += part.len();
            if bytes > FORGOTTEN_BYTES {
                break;
            }
        }
    }));
}

pub(crate) fn too_large(limit: u64, asked: u64) -> ApiError {
    ApiError::TooLarge { limit: LimitHit::new("request body", limit, asked, "bytes") }
}

pub(crate) fn broken_off() -> ApiError {
    ApiError::InvalidRequest("the body broke off".to_owned())
}

async fn bytes(headers: &HeaderMap, body: Body, limit: u64) -> Result<Vec<u8>, ApiError> {
    let mut parts = parts(headers, body, limit)?;
    let mut bytes = Vec::new();
    while let Some(part) = parts.next().await {
        let part = part.map_err(|_| broken_off())?;
        let asked = (bytes.len() + part.len()) as u64;
        if asked > limit {
            forget(parts);
            return Err(too_large(limit, asked));
        }
        bytes.extend_from_slice(&part);
    }
    Ok(bytes)
}
