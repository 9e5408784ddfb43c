//! The life of one job: it waits, works in a process of its own, and ends, whatever happens.

use std::sync::Arc;

use isobar_protocol::job::{EndReason, EventKind};
use isobar_protocol::problem::Problem;

use super::child::{self, Bounds};
use super::queue::Shared;
use super::stream::Job;
use crate::problems;
use crate::wire::{Fields, Order};

pub(crate) async fn live(shared: Arc<Shared>, job: Arc<Job>, order: Order, fields: Fields) {
    let mut stop = job.stop_asked();
    let permit = tokio::select! {
        permit = shared.slots.acquire() => permit.ok(),
        _ = stop.wait_for(Option::is_some) => None,
    };
    shared.leaves_queue(&job);
    let stopped = *stop.borrow();
    if let (Some(_permit), None) = (permit, stopped) {
        job.begins();
        let bounds = Bounds { run_ms: shared.limits.run_ms, result_bytes: shared.limits.kept_bytes };
        let sink = |event: EventKind, bytes: Vec<u8>| match event {
            EventKind::Field { field } => job.keep(field, bytes),
            other => job.tell(other),
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
