//! The process of a job, seen from outside: started, listened to, bounded, and ended with all that it started.
//!
//! Whatever it does, the answer is an end with a reason: nothing that it says is trusted further
//! than its length and form allow.

use std::os::unix::fs::FileExt;
use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use isobar_compiler::types::DType;
use isobar_protocol::field::FieldInfo;
use isobar_protocol::job::{EndReason, EventKind};
use isobar_protocol::problem::{LimitHit, Problem};
use isobar_runtime::cache;
use rustix::process::Signal;
use tokio::io::{AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::process::{ChildStderr, ChildStdin};
use tokio::sync::{mpsc, watch};

use super::keeping::Keeping;
use super::lifecycle::stopped_problem;
use super::memory::MemoryClaim;
use super::started::{WorkerPool, WorkerProcess};
use crate::confine::{REFUSED_STATUS, refused_calls};
use crate::problems;
use crate::wire::{self, Fields, GRANTED, Order, TooMuch, WorkerMessage};

/// The limits of a job.
#[derive(Debug)]
pub struct Bounds {
    /// Without the time that it waits for memory.
    pub run_ms: u64,
    /// All its results together.
    pub result_bytes: u64,
    pub room: MemoryClaim,
}

/// A file is read in parts of this size.
const PART_BYTES: u64 = 1024 * 1024;

/// The last words of a process that are kept.
const STDERR_BYTES: u64 = 64 * 1024;

/// Lets a process do what `order` says, under the name of the job, and hands on what it tells.
///
/// The process is over when this returns, and when this future is dropped.
pub async fn drive(
    waiting: &WorkerPool,
    job: &str,
    mut order: Order,
    fields: Fields,
    mut bounds: Bounds,
    mut stop: watch::Receiver<Option<EndReason>>,
    mut sink: impl FnMut(EventKind, Vec<u8>),
) -> (EndReason, Option<Problem>) {
    let WorkerProcess { group, mut child, stdin, stdout, stderr, folder } = match waiting.take(job) {
        Ok(started) => started,
        Err(error) => return not_started(&error),
    };
    // Most of what it tells is short.
    let mut stdout = BufReader::new(stdout);
    folder.path().clone_into(&mut order.temporary);
    job.clone_into(&mut order.job);
    if let Some(root) = order.cache.take() {
        match cache::prepare(&root) {
            Ok(readable) => {
                order.readable.extend(readable);
                order.cache = Some(root);
            }
            Err(why) => sink(EventKind::Log { text: cache::not_kept(&why) }, Vec::new()),
        }
    }
    let keeping = Keeping::of(&order, waiting.tools());
    let head = match wire::head(&order, fields.size_bytes()) {
        Ok(head) => head,
        Err(error) => return not_started(&error),
    };
    // Standard input stays open: its end tells the process that the runner is gone.
    let (grants, granted) = mpsc::channel(1);
    let feeding = tokio::spawn(feed(stdin, head, fields, granted));
    let last_words = tokio::spawn(listen(stderr));

    let worked = Worked::default();
    let (room, run_ms) = (&mut bounds.room, bounds.run_ms);
    let too_many_results = |too_much: &TooMuch| too_many_results(bounds.result_bytes, too_much);
    let mut left = bounds.result_bytes;
    let mut keeping = keeping;
    let listening = async {
        loop {
            // Entries for the cache do not count as results.
            match wire::read_said(&mut stdout, left.max(keeping.most_bytes())).await {
                Ok((WorkerMessage::Event(EventKind::Ended { reason, problem }), _)) => {
                    return Some((reason, problem));
                }
                Ok((WorkerMessage::Event(EventKind::Field { field }), bytes)) if is_whole(&field, &bytes) => {
                    let n = bytes.len() as u64;
                    if n > left {
                        let too_much = TooMuch { asked: n, allowed: left };
                        return Some((EndReason::Limit, Some(too_many_results(&too_much))));
                    }
                    left -= n;
                    sink(EventKind::Field { field }, bytes);
                }
                // Only the runner may send these.
                Ok((WorkerMessage::Event(EventKind::Accepted { .. } | EventKind::Queued { .. }), _)) => {}
                Ok((WorkerMessage::Event(EventKind::Field { .. }) | WorkerMessage::Compiled(_), _)) => {
                    return None;
                }
                Ok((WorkerMessage::Event(event), _)) => {
                    let (event, log) = keeping.heard(event).await;
                    if let Some(text) = log {
                        sink(EventKind::Log { text }, Vec::new());
                    }
                    sink(event, Vec::new());
                }
                Ok((WorkerMessage::Entry(handed), code)) => {
                    if let Some(text) = keeping.take(handed, code).await {
                        sink(EventKind::Log { text }, Vec::new());
                    }
                }
                Ok((WorkerMessage::Needs { bytes }, _)) => {
                    if !room.has(bytes) {
                        let text = "the job waits until other jobs give memory back".to_owned();
                        sink(EventKind::Log { text }, Vec::new());
                    }
                    worked.pauses(room.take(bytes)).await;
                    // Where nobody takes it, the process is over.
                    let _ = grants.send(GRANTED).await;
                }
                Ok((WorkerMessage::Runs, _)) => keeping.ends(),
                Err(error) => {
                    let too_much = error.get_ref().and_then(|it| it.downcast_ref::<TooMuch>());
                    return too_much.map(|it| (EndReason::Limit, Some(too_many_results(it))));
                }
            }
        }
    };
    let said = tokio::select! {
        said = listening => said,
        reason = stop.wait_for(Option::is_some) => {
            let reason = reason.ok().and_then(|it| *it).unwrap_or(EndReason::Cancelled);
            Some((reason, Some(stopped_problem(reason))))
        }
        () = worked.reaches(Duration::from_millis(run_ms)) => {
            Some((EndReason::Limit, Some(out_of_time(run_ms))))
        }
    };
    let status = if said.is_none() {
        // It closed its end: it is about to be over, and its status tells why.
        tokio::time::timeout(Duration::from_secs(5), child.wait()).await.ok().and_then(Result::ok)
    } else {
        None
    };
    drop(group);
    let _ = child.wait().await;
    feeding.abort();
    let last_words = tokio::time::timeout(Duration::from_secs(1), last_words).await;
    let last_words = last_words.ok().and_then(Result::ok).unwrap_or_default();
    let refused = refused_calls(&last_words);
    if !refused.is_empty() {
        tracing::warn!(job, calls = refused.join(","), "a job tried what no job may");
    }
    match said {
        Some((EndReason::Ok, _)) => (EndReason::Ok, None),
        Some((reason, problem)) => {
            if let Some(report) = problem.as_ref().and_then(|it| it.report_id.as_ref()) {
                tracing::error!(report, "a job's process failed: {}", in_short(&last_words));
            }
            (reason, problem)
        }
        None => died(status, &last_words, order.memory_bytes),
    }
}

/// How long a job has worked, without its pauses.
#[derive(Debug)]
struct Worked {
    begun: Instant,
    /// How long pauses took, and since when there is one.
    paused: Mutex<(Duration, Option<Instant>)>,
}

impl Default for Worked {
    fn default() -> Self {
        Self { begun: Instant::now(), paused: Mutex::default() }
    }
}

impl Worked {
    fn paused(&self) -> MutexGuard<'_, (Duration, Option<Instant>)> {
        self.paused.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn pauses(&self, pause: impl Future<Output = ()>) {
        let since = Instant::now();
        self.paused().1 = Some(since);
        pause.await;
        let mut paused = self.paused();
        *paused = (paused.0 + since.elapsed(), None);
    }

    async fn reaches(&self, limit: Duration) {
        loop {
            let (paused, since) = *self.paused();
            let paused = paused + since.map_or(Duration::ZERO, |it| it.elapsed());
            let left = limit.saturating_sub(self.begun.elapsed().saturating_sub(paused));
            if left.is_zero() {
                return;
            }
            tokio::time::sleep(left).await;
        }
    }
}

/// Sends an order and its fields, and then what is granted. Standard input stays open to the end.
pub(super) async fn feed(
    mut stdin: ChildStdin,
    head: Vec<u8>,
    fields: Fields,
    mut granted: mpsc::Receiver<u8>,
) {
    // Where it fails, the end of standard input comes too early, and the process ends.
    let mut is_heard = send(&mut stdin, head, fields).await.is_ok();
    while is_heard {
        match granted.recv().await {
            Some(word) => is_heard = stdin.write_all(&[word]).await.is_ok() && stdin.flush().await.is_ok(),
            None => std::future::pending().await,
        }
    }
}

async fn send(stdin: &mut ChildStdin, head: Vec<u8>, fields: Fields) -> std::io::Result<()> {
    stdin.write_all(&head).await?;
    match fields {
        Fields::None => {}
        Fields::Memory(bytes) => stdin.write_all(&bytes).await?,
        Fields::File { file, bytes } => {
            let mut at = 0;
            while at < bytes {
                let file = Arc::clone(&file);
                let part = usize::try_from((bytes - at).min(PART_BYTES)).unwrap_or(0);
                let read = tokio::task::spawn_blocking(move || {
                    let mut data = vec![0; part];
                    file.read_exact_at(&mut data, at).map(|()| data)
                });
                stdin.write_all(&read.await??).await?;
                at += part as u64;
            }
        }
    }
    stdin.flush().await
}

/// The last of what it writes to standard error.
pub(super) async fn listen(mut stderr: ChildStderr) -> String {
    let mut last = Vec::new();
    let mut part = [0; 4096];
    while let Ok(n @ 1..) = stderr.read(&mut part).await {
        last.extend_from_slice(&part[..n]);
        let spare = last.len().saturating_sub(usize::try_from(STDERR_BYTES).unwrap_or(0));
        last.drain(..spare);
    }
    String::from_utf8_lossy(&last).into_owned()
}

/// Whether a field's bytes are as many as its description says.
fn is_whole(field: &FieldInfo, bytes: &[u8]) -> bool {
    let size = DType::from_name(&field.dtype).map(|it| it.size_bytes() as u64);
    let wanted = field.shape.iter().try_fold(size.unwrap_or(0), |n, &it| n.checked_mul(it));
    size.is_some() && wanted == Some(bytes.len() as u64) && field.origin.len() == field.shape.len()
}

fn not_started(error: &std::io::Error) -> (EndReason, Option<Problem>) {
    let mut problem = problems::INTERNAL.problem(format!("the job's process cannot be started: {error}"));
    problem.report_id = Some(crate::random::hex(8));
    tracing::error!(report = problem.report_id, "{error}");
    (EndReason::Error, Some(problem))
}

fn too_many_results(most: u64, too_much: &TooMuch) -> Problem {
    let used = most - too_much.allowed;
    let asked = used.saturating_add(too_much.asked);
    problems::DOMAIN_TOO_LARGE
        .problem("the written fields are larger than what the runner keeps")
        .with_limit(LimitHit::new("results", most, asked, "bytes"))
}

fn out_of_time(run_ms: u64) -> Problem {
    problems::TIME_LIMIT
        .problem(format!("the job worked for {run_ms} ms and was ended"))
        .with_limit(LimitHit::of_time("time", run_ms))
}

/// The beginning of what a process said, in a line: what follows is the user's stencil, which no log needs.
pub(super) fn in_short(last_words: &str) -> String {
    let lines = last_words.lines().map(str::trim).filter(|it| !it.is_empty());
    lines.take(3).collect::<Vec<_>>().join(" ").chars().filter(|it| !it.is_control()).take(300).collect()
}

/// Why a process ended that did not say so itself.
fn died(status: Option<ExitStatus>, last_words: &str, memory: u64) -> (EndReason, Option<Problem>) {
    let signal = status.and_then(|it| it.signal());
    tracing::warn!(signal, "a job's process died: {}", in_short(last_words));
    if last_words.contains("memory allocation of") {
        let problem = problems::DOMAIN_TOO_LARGE
            .problem("the job ran out of the memory that it may have")
            .with_limit(LimitHit::new("memory", memory, memory, "bytes"));
        return (EndReason::Limit, Some(problem));
    }
    if status.and_then(|it| it.code()) == Some(REFUSED_STATUS)
        && let Some(call) = refused_calls(last_words).first()
    {
        let problem = problems::JOB_CRASHED.problem(format!(
            "the job's process made the system call `{call}`, which no job may, and was ended"
        ));
        return (EndReason::Crash, Some(problem));
    }
    if signal == Some(Signal::XCPU.as_raw()) {
        let problem = problems::TIME_LIMIT.problem("the job used up its processor time");
        return (EndReason::Limit, Some(problem));
    }
    let how = match (signal, status.and_then(|it| it.code())) {
        (Some(9), _) => {
            "it was killed from outside (signal 9): perhaps the machine ran out of memory".to_owned()
        }
        (Some(11), _) => "it touched memory that is not its own (signal 11)".to_owned(),
        (Some(6), _) => "it gave up (signal 6)".to_owned(),
        (Some(signal), _) => format!("signal {signal} ended it"),
        (None, Some(code)) => format!("it ended with status {code} without saying why"),
        (None, None) => "it said something that is not understood".to_owned(),
    };
    let problem = problems::JOB_CRASHED.problem(format!("the job's process crashed: {how}"));
    (EndReason::Crash, Some(problem))
}
