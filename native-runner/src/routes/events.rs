//! The events of a job, as they happen.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::sse::{Event, KeepAlive};
use axum::response::{IntoResponse, Sse};
use tokio::sync::mpsc;
use tokio_stream::wrappers::ReceiverStream;

use super::path::Path;
use crate::error::ApiError;
use crate::jobs::Job;
use crate::state::AppState;

/// A silent stream says that it lives this often.
const HEARTBEAT: Duration = Duration::from_secs(10);

/// `GET /v1/jobs/{id}/events` — server-sent events, from the first, or from the one after `Last-Event-ID`.
///
/// The stream ends after `ended`. A comment line comes when nothing else does.
pub(crate) async fn events(
    State(state): State<AppState>,
    Path(id): Path<String>,
    headers: HeaderMap,
) -> Result<impl IntoResponse, ApiError> {
    let job = state.jobs.get(&id)?;
    let first = match headers.get("last-event-id") {
        None => 0,
        Some(last) => {
            // Nobody can have an event that was not told yet.
            let told = job.n_events();
            let next = last.to_str().ok().and_then(|it| after(it.trim(), job.starts));
            next.filter(|it| *it <= told).ok_or_else(|| {
                ApiError::InvalidRequest(format!(
                    "`Last-Event-ID` is the number of the last event that arrived, and there are 0 to {}",
                    told.saturating_sub(1)
                ))
            })?
        }
    };
    // A small buffer: a slow reader waits here, while the log keeps what it has not read.
    let (sender, receiver) = mpsc::channel(16);
    tokio::spawn(forward(job, first, sender));
    let stream = Sse::new(ReceiverStream::new(receiver));
    Ok(stream.keep_alive(KeepAlive::new().interval(HEARTBEAT).text("heartbeat")))
}

/// The number of the event after the one with this name; 0 where that event is of an earlier runner.
fn after(last: &str, starts: u32) -> Option<usize> {
    let (of, seq) = last.split_once('.').unwrap_or(("1", last));
    let (of, seq) = (of.parse::<u32>().ok()?, seq.parse::<usize>().ok()?);
    Some(if of == starts { seq.saturating_add(1) } else { 0 })
}

/// The name of an event: its number, behind that of the start where the job was taken up again.
fn name(starts: u32, seq: u64) -> String {
    if starts == 1 { seq.to_string() } else { format!("{starts}.{seq}") }
}

async fn forward(job: Arc<Job>, mut next: usize, to: mpsc::Sender<Result<Event, Infallible>>) {
    let _reader = job.reader();
    let mut growth = job.growth();
    loop {
        let (events, is_over) = job.events_from(next);
        for event in events {
            next += 1;
            let Ok(data) = serde_json::to_string(&event) else { return };
            if to.send(Ok(Event::default().id(name(job.starts, event.seq)).data(data))).await.is_err() {
                return;
            }
        }
        if is_over {
            return;
        }
        tokio::select! {
            grown = growth.wait_for(|&it| it > next) => if grown.is_err() { return },
            () = to.closed() => return,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stream_goes_on_only_within_one_start() {
        for (starts, seq) in [(1, 0), (1, 7), (2, 7)] {
            let last = name(starts, seq);
            assert_eq!(after(&last, starts), Some(8 - usize::from(seq == 0) * 7), "{last}");
            assert_eq!(after(&last, 3), Some(0), "{last}");
        }
        for wrong in ["", "x", "1.", ".1", "-1", "1.2.3"] {
            assert_eq!(after(wrong, 1), None, "{wrong}");
        }
    }
}
