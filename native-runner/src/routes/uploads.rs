//! Takes input fields.

use std::io::ErrorKind;
use std::path::Path;

use axum::Json;
use axum::body::{Body, BodyDataStream};
use axum::extract::{Extension, State};
use axum::http::{HeaderMap, StatusCode};
use isobar_protocol::job::UploadTicket;
use isobar_protocol::limits::Limits;
use tokio::io::AsyncWriteExt;
use tokio_stream::StreamExt;

use super::body;
use crate::error::ApiError;
use crate::state::AppState;
use crate::turns::{Client, TurnSlot};

/// `POST /v1/uploads` — an `.npz` file as `application/octet-stream`; its id goes into a job's `fields`.
///
/// The file is kept as it is: the job's process reads it, so that a bad one costs one job.
pub(crate) async fn upload(
    State(state): State<AppState>,
    Extension(client): Extension<Client>,
    headers: HeaderMap,
    body: Body,
) -> Result<(StatusCode, Json<UploadTicket>), ApiError> {
    body::check_type(&headers, "application/octet-stream")?;
    let parts = body::parts(&headers, body, state.limits.upload_bytes)?;
    // A few at a time: each may grow to the limit before it is kept, and only then do older ones give way.
    let place = state.uploads.begin(&client).await?;
    let receiving = receive(parts, &state.tools.temporary, &state.limits, &place);
    let file = body::in_time(state.limits.upload_ms, receiving).await?;
    drop(place);
    let (upload, bytes) = state.uploads.keep(&client, file)?;
    Ok((StatusCode::CREATED, Json(UploadTicket { upload, bytes })))
}

/// Writes what comes to a file without a name. It must go on coming, and fast enough while others wait.
async fn receive(
    mut parts: BodyDataStream,
    temporary: &Path,
    limits: &Limits,
    place: &TurnSlot,
) -> Result<std::fs::File, ApiError> {
    let file = tempfile::tempfile_in(temporary).map_err(|error| no_room(&error))?;
    let mut file = tokio::fs::File::from_std(file);
    let mut bytes: u64 = 0;
    loop {
        let next = tokio::select! {
            next = body::in_time(limits.body_ms, async { Ok(parts.next().await) }) => next?,
            () = place.is_sent_away() => {
                body::forget(parts);
                return Err(ApiError::UploadMadeRoom { turn_ms: limits.upload_turn_ms });
            }
        };
        let Some(part) = next else { break };
        let part = part.map_err(|_| body::broken_off())?;
        bytes += part.len() as u64;
        place.moves(part.len() as u64);
        if bytes > limits.upload_bytes {
            body::forget(parts);
            return Err(body::too_large(limits.upload_bytes, bytes));
        }
        if let Err(error) = file.write_all(&part).await {
            body::forget(parts);
            return Err(no_room(&error));
        }
    }
    file.flush().await.map_err(|error| no_room(&error))?;
    Ok(file.into_std().await)
}

/// The error of a file that cannot be written; it does not name the place of the file.
fn no_room(error: &std::io::Error) -> ApiError {
    tracing::warn!("an upload cannot be written: {error}");
    ApiError::NoRoom(match error.kind() {
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded => "its temporary folder is full",
        ErrorKind::FileTooLarge => "its files may not be so large",
        _ => "its temporary folder cannot be written",
    })
}
