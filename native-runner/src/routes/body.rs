//! Bodies of requests: limited before they are read, and understood or refused with the place.

use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::http::{HeaderMap, header};
use isobar_protocol::problem::LimitHit;
use serde::de::DeserializeOwned;

use crate::error::ApiError;

/// A document has to arrive within this time.
const PATIENCE: Duration = Duration::from_secs(30);

/// Reads a JSON document of at most `limit` bytes.
pub(crate) async fn json<T: DeserializeOwned>(
    headers: &HeaderMap,
    body: Body,
    limit: u64,
) -> Result<T, ApiError> {
    check_type(headers, "application/json")?;
    let bytes = tokio::time::timeout(PATIENCE, bytes(headers, body, limit)).await;
    let bytes = bytes.map_err(|_| ApiError::SlowBody)??;
    serde_json::from_slice(&bytes).map_err(|error| {
        // Its message ends with the place, which has a field of its own.
        let message = error.to_string();
        let message = message.split(" at line ").next().unwrap_or_default().to_owned();
        ApiError::BadJson { line: error.line(), column: error.column(), message }
    })
}

/// Checks the content type; parameters such as a charset are ignored.
pub(crate) fn check_type(headers: &HeaderMap, wanted: &'static str) -> Result<(), ApiError> {
    let given = headers.get(header::CONTENT_TYPE).and_then(|it| it.to_str().ok()).unwrap_or_default();
    let essence = given.split(';').next().unwrap_or_default().trim();
    if essence.eq_ignore_ascii_case(wanted) { Ok(()) } else { Err(ApiError::UnsupportedMediaType { wanted }) }
}

/// Refuses a body that says itself that it is too long.
pub(crate) fn check_length(headers: &HeaderMap, limit: u64) -> Result<(), ApiError> {
    let length = headers.get(header::CONTENT_LENGTH).and_then(|it| it.to_str().ok()?.parse::<u64>().ok());
    match length {
        Some(length) if length > limit => Err(too_large(limit, length)),
        _ => Ok(()),
    }
}

pub(crate) fn too_large(limit: u64, asked: u64) -> ApiError {
    let name = "request body".to_owned();
    ApiError::TooLarge { limit: LimitHit { name, allowed: limit, asked, unit: "bytes".to_owned() } }
}

async fn bytes(headers: &HeaderMap, body: Body, limit: u64) -> Result<Bytes, ApiError> {
    check_length(headers, limit)?;
    let most = usize::try_from(limit).unwrap_or(usize::MAX);
    axum::body::to_bytes(body, most).await.map_err(|_| too_large(limit, limit.saturating_add(1)))
}
