//! Takes input fields.

use axum::Json;
use axum::body::Body;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use isobar_protocol::job::UploadTicket;
use tokio::io::AsyncWriteExt;
use tokio_stream::StreamExt;

use super::body;
use crate::error::ApiError;
use crate::state::AppState;

/// `POST /v1/uploads` — an `.npz` file as `application/octet-stream`; its id goes into a job's `fields`.
///
/// The file is kept as it is: the job's process reads it, so that a bad one costs one job.
pub(crate) async fn upload(
    State(state): State<AppState>,
    headers: HeaderMap,
    body: Body,
) -> Result<(StatusCode, Json<UploadTicket>), ApiError> {
    body::check_type(&headers, "application/octet-stream")?;
    let limit = state.limits.upload_bytes;
    body::check_length(&headers, limit)?;
    let file = tempfile::tempfile().map_err(|error| ApiError::internal(&error))?;
    let mut file = tokio::fs::File::from_std(file);
    let mut parts = body.into_data_stream();
    let mut bytes: u64 = 0;
    while let Some(part) = parts.next().await {
        let part = part.map_err(|_| ApiError::InvalidRequest("the body broke off".to_owned()))?;
        bytes += part.len() as u64;
        if bytes > limit {
            return Err(body::too_large(limit, bytes));
        }
        file.write_all(&part).await.map_err(|error| ApiError::internal(&error))?;
    }
    file.flush().await.map_err(|error| ApiError::internal(&error))?;
    let (upload, bytes) = state.uploads.keep(file.into_std().await)?;
    Ok((StatusCode::CREATED, Json(UploadTicket { upload, bytes })))
}
