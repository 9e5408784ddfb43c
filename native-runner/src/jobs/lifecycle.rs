//! The life of one job: it waits, works in a process of its own, and ends, whatever happens.

use std::sync::Arc;
use std::time::Instant;

use isobar_protocol::job::{EndReason, EventKind};
use isobar_protocol::problem::Problem;

use super::child::{self, Bounds};
use super::queue::Shared;
use super::stream::Job;
use crate::problems;
use crate::telemetry::JobNote;
use crate::wire::{Fields, Order};

pub(crate) async fn live(shared: Arc<Shared>, job: Arc<Job>, order: Order, fields: Fields) {
    let mut stop = job.stop_asked();
    let backend = backend(&shared, &order);
    let began = Instant::now();
    let mut worked = None;
    let permit = tokio::select! {
        permit = shared.slots.acquire() => permit.ok(),
        _ = stop.wait_for(Option::is_some) => None,
    };
    shared.leaves_queue(&job);
    let stopped = *stop.borrow();
    let (reason, code) = if let (Some(_permit), None) = (permit, stopped) {
        // First, so that who sees it work knows that it is counted.
        shared.store.begins(&job.id);
        job.begins();
        worked = Some(Instant::now());
        let bounds = Bounds { run_ms: shared.limits.run_ms, result_bytes: shared.limits.kept_bytes };
        let sink = |event: EventKind, bytes: Vec<u8>| match event {
            EventKind::Field { field } => job.keep(field, bytes),
            other => job.tell(other),
        };
        let (reason, problem) = child::drive(&shared.tools, &job.id, order, fields, bounds, stop, sink).await;
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

/// The back end of a job, as one of those that are known: this goes into lines and labels.
fn backend(shared: &Shared, order: &Order) -> &'static str {
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

/// What is said of a job that was told to end.
pub(crate) fn stopped_problem(reason: EndReason) -> Problem {
    match reason {
        EndReason::RunnerShutdown => problems::SHUTTING_DOWN.problem("the runner was told to end"),
        EndReason::Ok
        | EndReason::Cancelled
        | EndReason::Limit
        | EndReason::Trap
        | EndReason::Crash
        | EndReason::Error
        | EndReason::Interrupted => problems::CANCELLED.problem("the job was cancelled"),
    }
}
