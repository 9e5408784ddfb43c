//! Takes input fields.

use axum::Json;
use axum::body::{Body, BodyDataStream};
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
    let parts = body::parts(&headers, body, state.limits.upload_bytes)?;
    // A few at a time: each may grow to the limit before it is kept, and only then do older ones give way.
    let _permit = state.uploads.begin().await?;
    let file = body::in_time(state.limits.upload_ms, receive(parts, state.limits.upload_bytes)).await?;
    let (upload, bytes) = state.uploads.keep(file)?;
    Ok((StatusCode::CREATED, Json(UploadTicket { upload, bytes })))
}

/// Writes what comes to a file without a name.
async fn receive(mut parts: BodyDataStream, limit: u64) -> Result<std::fs::File, ApiError> {
    let file = tempfile::tempfile().map_err(|error| ApiError::internal(&error))?;
    let mut file = tokio::fs::File::from_std(file);
    let mut bytes: u64 = 0;
    while let Some(part) = parts.next().await {
        let part = part.map_err(|_| body::broken_off())?;
        bytes += part.len() as u64;
        if bytes > limit {
            body::forget(parts);
            return Err(body::too_large(limit, bytes));
        }
        file.write_all(&part).await.map_err(|error| ApiError::internal(&error))?;
    }
    file.flush().await.map_err(|error| ApiError::internal(&error))?;
    Ok(file.into_std().await)
}
