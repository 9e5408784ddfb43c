//! The life of one job: it waits, works in a process of its own, and ends, whatever happens.

use std::sync::Arc;
use std::time::{Duration, Instant};

use isobar_protocol::job::{EndReason, EventKind};
use isobar_protocol::problem::Problem;

use super::child::{self, Bounds};
use super::memory::MemoryClaim;
use super::queue::Shared;
use super::stream::Job;
use crate::backends::Backend;
use crate::error::ApiError;
use crate::problems;
use crate::telemetry::JobNote;
use crate::wire::{Fields, Order};

/// `order` is the document of an [`Order`] for `backend`, which is read when its turn comes.
pub(crate) async fn live(
    shared: Arc<Shared>,
    job: Arc<Job>,
    backend: &'static str,
    order: Vec<u8>,
    fields: Fields,
) {
    let mut stop = job.stop_asked();
    let abandoned_ms = shared.limits.abandoned_ms;
    let mut is_abandoned = false;
    let began = Instant::now();
    let mut worked = None;
    let place = tokio::select! {
        place = shared.turns.take(&job.client) => Some(place),
        _ = stop.wait_for(Option::is_some) => None,
        () = job.abandoned(Duration::from_millis(abandoned_ms)) => {
            is_abandoned = true;
            None
        }
    };
    shared.leaves_queue(&job);
    let stopped = *stop.borrow();
    let order = serde_json::from_slice::<Order>(&order).map_err(|error| ApiError::internal(&error));
    // The size of a file is not known before it is read: until then the job counts with all that it may have.
    let mut room = MemoryClaim::of(&shared.memory);
    if let (Some(_), None, Ok(order), false) = (&place, stopped, &order, fields.is_none()) {
        tokio::select! {
            () = room.take(order.memory_bytes) => {}
            _ = stop.wait_for(Option::is_some) => {}
        }
    }
    let gpu = order.as_ref().ok().and_then(|it| gpu(&shared, it));
    let mut fault = None;
    let stopped = *stop.borrow();
    if let (Some(_), None, Some(backend)) = (&place, stopped, gpu) {
        tokio::select! {
            sound = shared.gpus.are_sound(backend, &shared.waiting, &shared.limits) => fault = sound.err(),
            _ = stop.wait_for(Option::is_some) => {}
        }
    }
    let stopped = *stop.borrow();
    let (reason, code) = if is_abandoned {
        let detail = format!("the job waited, and nobody asked for it for {abandoned_ms} ms");
        ends(&shared, &job, EndReason::Cancelled, Some(problems::CANCELLED.problem(detail)))
    } else if let (Some(_place), None, Err(error)) = (&place, stopped, &order) {
        ends(&shared, &job, EndReason::Error, Some(error.problem()))
    } else if let (Some(_place), None, Some(fault)) = (&place, stopped, fault) {
        ends(&shared, &job, EndReason::Error, Some(fault))
    } else if let (Some(_place), None, Ok(order)) = (place, stopped, order) {
        // First, so that who sees it work knows that it is counted.
        shared.store.begins(&job.id);
        job.begins();
        worked = Some(Instant::now());
        let (run_ms, result_bytes) = (shared.limits.run_ms, shared.limits.kept_bytes);
        let bounds = Bounds { run_ms, result_bytes, room };
        let sink = |event: EventKind, bytes: Vec<u8>| match event {
            EventKind::Field { field } => job.keep(field, bytes),
            other => {
                job.tell(other);
            }
        };
        let (reason, problem) =
            child::drive(&shared.waiting, &job.id, order, fields, bounds, stop, sink).await;
        if gpu.is_some() {
            shared.gpus.ended(reason);
        }
        ends(&shared, &job, reason, problem)
    } else {
        let reason = stopped.unwrap_or(EndReason::Cancelled);
        ends(&shared, &job, reason, Some(stopped_problem(reason)))
    };
    let note = JobNote {
        job: &job.id,
        backend,
        reason,
        code: code.as_deref(),
        waited: worked.unwrap_or_else(Instant::now).duration_since(began),
        worked: worked.map(|it| it.elapsed()),
        result_bytes: job.kept_bytes(),
        starts: job.starts,
    };
    note.write();
    shared.make_room();
}

/// The first back end of a job that runs on a GPU.
fn gpu(shared: &Shared, order: &Order) -> Option<Backend> {
    let all = shared.tools.backends.all_of(&order.request).ok()?;
    all.into_iter().find(|it| it.is_on_gpu())
}

/// The back end of a job, as one of those that are known: this goes into lines and labels.
pub(super) fn backend(shared: &Shared, order: &Order) -> &'static str {
    if order.request.bench.is_some() {
        return "bench";
    }
    match shared.tools.backends.all_of(&order.request).as_deref() {
        Ok([backend, ..]) => backend.name(),
        Ok([]) | Err(_) => "unknown",
    }
}

/// The job is over, or waits for the next runner; why, and the kind of its problem.
fn ends(
    shared: &Shared,
    job: &Job,
    reason: EndReason,
    problem: Option<Problem>,
) -> (EndReason, Option<String>) {
    let code = problem.as_ref().map(|it| it.code.clone());
    if reason == EndReason::RunnerShutdown && job.is_kept() {
        shared.store.waits(&job.id);
        let detail =
            "the runner was told to end; it takes the job up again, under the same name, when it is started";
        job.ends(reason, Some(problems::SHUTTING_DOWN.problem(detail)));
    } else {
        shared.store.ends(&job.id, reason, problem.clone());
        job.ends(reason, problem);
    }
    (reason, code)
}

/// The problem to report for a job that was told to end.
pub(crate) fn stopped_problem(reason: EndReason) -> Problem {
    match reason {
        EndReason::RunnerShutdown => problems::SHUTTING_DOWN.problem("the runner was told to end"),
        EndReason::Limit => problems::OVERLOADED
            .problem("the queue was full, and the job made room for one of a client with fewer"),
        EndReason::Ok
        | EndReason::Cancelled
        | EndReason::Trap
        | EndReason::Crash
        | EndReason::Error
        | EndReason::Interrupted => problems::CANCELLED.problem("the job was cancelled"),
    }
}
