//! The life of one job: it waits, works in a process of its own, and ends, whatever happens.

use std::sync::Arc;
use std::time::Duration;

use isobar_protocol::job::{EndReason, EventKind};
use isobar_protocol::problem::Problem;

use super::child::{self, Bounds};
use super::queue::Shared;
use super::stream::Job;
use crate::error::ApiError;
use crate::problems;
use crate::wire::{Fields, Order};

/// `order` is the document of an [`Order`], which is read when its turn comes.
pub(crate) async fn live(shared: Arc<Shared>, job: Arc<Job>, order: Vec<u8>, fields: Fields) {
    let mut stop = job.stop_asked();
    let abandoned_ms = shared.limits.abandoned_ms;
    let mut is_abandoned = false;
    let permit = tokio::select! {
        permit = shared.slots.acquire() => permit.ok(),
        _ = stop.wait_for(Option::is_some) => None,
        () = job.abandoned(Duration::from_millis(abandoned_ms)) => {
            is_abandoned = true;
            None
        }
    };
    shared.leaves_queue(&job);
    if is_abandoned {
        let detail = format!("the job waited, and nobody asked for it for {abandoned_ms} ms");
        job.ends(EndReason::Cancelled, Some(problems::CANCELLED.problem(detail)));
        return;
    }
    let stopped = *stop.borrow();
    let order = serde_json::from_slice::<Order>(&order).map_err(|error| ApiError::internal(&error));
    if let (Some(_permit), None) = (permit, stopped) {
        let order = match order {
            Ok(order) => order,
            Err(error) => return job.ends(EndReason::Error, Some(error.problem())),
        };
        job.begins();
        let bounds = Bounds { run_ms: shared.limits.run_ms, result_bytes: shared.limits.kept_bytes };
        let sink = |event: EventKind, bytes: Vec<u8>| match event {
            EventKind::Field { field } => job.keep(field, bytes),
            other => {
                job.tell(other);
            }
        };
        let (reason, problem) = child::drive(&shared.tools, &job.id, order, fields, bounds, stop, sink).await;
        job.ends(reason, problem);
    } else {
        let reason = stopped.unwrap_or(EndReason::Cancelled);
        job.ends(reason, Some(stopped_problem(reason)));
    }
    shared.make_room();
}

/// What is said of a job that was told to end.
pub(crate) fn stopped_problem(reason: EndReason) -> Problem {
    match reason {
        EndReason::RunnerShutdown => problems::SHUTTING_DOWN.problem("the runner was told to end"),
        EndReason::Ok
        | EndReason::Cancelled
        | EndReason::Limit
        | EndReason::Trap
        | EndReason::Crash
        | EndReason::Error => problems::CANCELLED.problem("the job was cancelled"),
    }
}
