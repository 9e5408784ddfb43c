//! The jobs of a runner: those that work, those that wait, and the results that are kept.
//!
//! Clients have fair turns. A full queue makes room for a client with fewer jobs: the client with the most
//! jobs loses a waiting one. The results of the client with the most results are dropped first.

use std::collections::VecDeque;
use std::fs::File;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use isobar_protocol::job::{EndReason, EventKind};
use isobar_protocol::limits::Limits;
use isobar_protocol::problem::Problem;
use isobar_protocol::request::Request;
use tokio::sync::oneshot;

use super::gpus::Gpus;
use super::lifecycle;
use super::memory::Memory;
use super::records::MOST_ENDED;
use super::started::WorkerPool;
use super::store::{FoundJob, RecoveredJobs, Store};
use super::stream::Job;
use crate::config::Tools;
use crate::error::ApiError;
use crate::problems;
use crate::telemetry::JobNote;
use crate::turns::{Client, Rules, Shares, Turns};
use crate::wire::{Fields, Order};

/// A job that worked so often when its runner was ended without notice is not tried again.
const MOST_INTERRUPTED: u32 = 2;
/// A job that is told to end gets this long.
const END: Duration = Duration::from_secs(2);
/// A job whose connection is closed makes room after this part of the time after which it counts as abandoned.
const PART_OF_ABANDONED: u64 = 12;
/// How often it is looked whether jobs have ended.
const LOOK: Duration = Duration::from_millis(20);

/// All jobs of this runner. Cheap to copy.
#[derive(Clone, Debug)]
pub struct Jobs(Arc<Shared>);

#[derive(Debug)]
pub(crate) struct Shared {
    pub limits: Limits,
    pub tools: Arc<Tools>,
    /// Processes that wait for jobs.
    pub waiting: WorkerPool,
    pub store: Store,
    /// One place for each job that may work.
    pub turns: Turns,
    /// The bytes that their fields may have together.
    pub memory: Memory,
    pub gpus: Gpus,
    is_closed: AtomicBool,
    table: Mutex<Table>,
}

#[derive(Debug, Default)]
struct Table {
    /// Oldest first.
    jobs: VecDeque<Arc<Job>>,
    /// The inputs of jobs that are not over, each with its size; several jobs may share one.
    inputs: Vec<(Weak<File>, u64)>,
    waiting: VecDeque<Arc<Job>>,
}

impl Jobs {
    #[must_use]
    pub fn new(limits: Limits, waiting: WorkerPool, tools: Arc<Tools>, store: Store) -> Self {
        let at_once = usize::try_from(limits.jobs_at_once).unwrap_or(1).clamp(1, 1024);
        Self(Arc::new(Shared {
            limits,
            tools,
            waiting,
            store,
            turns: Turns::new(Rules { places: at_once, beside: 0, turn: None, least_rate: 0 }),
            memory: Memory::new(limits.jobs_memory_bytes),
            gpus: Gpus::default(),
            is_closed: AtomicBool::new(false),
            table: Mutex::default(),
        }))
    }

    /// The request document to store, where jobs are kept.
    pub(crate) fn document(&self, request: &Request) -> Option<Vec<u8>> {
        self.0.store.is_there().then(|| serde_json::to_vec(request).ok()).flatten()
    }

    /// Takes a job of a client; `fields` is the `.npz` with its inputs. Where there is a `document`, the job is on the disk when
    /// this returns, or has told that it is not.
    ///
    /// # Errors
    ///
    /// When too many wait, when their inputs are too much, or when the runner ends.
    pub async fn admit(
        &self,
        client: Client,
        order: Order,
        fields: Fields,
        document: Option<Vec<u8>>,
    ) -> Result<Arc<Job>, ApiError> {
        if self.is_closed() {
            return Err(ApiError::ShuttingDown);
        }
        // Kept as text while it waits: a document that is read takes many times the memory.
        let backend = lifecycle::backend(&self.0, &order);
        let (asked, given) = (order.request.options.threads, order.threads);
        let order = serde_json::to_vec(&order).map_err(|error| ApiError::internal(&error))?;
        let limits = &self.0.limits;
        let job = Arc::new(Job::new(limits, client, order.len() as u64));
        if let Some(asked) = asked.filter(|it| *it > given) {
            let text = format!("{asked} threads were asked for, and a job has {given} here at most");
            job.tell(EventKind::Log { text });
        }
        {
            let mut table = self.0.table();
            table.make_room_for(&job, limits)?;
            table.hold(&fields, limits.kept_bytes)?;
            table.waiting.push_back(Arc::clone(&job));
            table.jobs.push_back(Arc::clone(&job));
            table.forget(self.0.limits.kept_bytes);
            if !self.0.turns.is_free() {
                table.tell_positions();
            }
        }
        let (written, is_written) = oneshot::channel();
        let (shared, of_task) = (Arc::clone(&self.0), Arc::clone(&job));
        // A task, so that the job lives on where its client does not wait for the answer.
        tokio::spawn(async move {
            if let Some(document) = document {
                if shared.store.keep(&of_task.id, document, fields.clone()).await {
                    of_task.kept();
                } else {
                    let text =
                        "this job is lost when the runner is ended without notice: it cannot be written down";
                    of_task.tell(EventKind::Log { text: text.to_owned() });
                }
            }
            let _ = written.send(());
            lifecycle::live(shared, of_task, backend, order, fields).await;
        });
        let _ = is_written.await;
        Ok(job)
    }

    /// Takes up what the runner before left. The limits held for it when it was admitted.
    pub fn take_up(&self, found: RecoveredJobs) {
        let shared = &self.0;
        for it in found.ended {
            self.remember(Job::of_the_past(&shared.limits, it.id, 1, it.reason, it.problem));
        }
        for FoundJob { id, work, starts, interrupted, was_running } in found.jobs {
            let work = match work {
                Ok(_) if interrupted >= MOST_INTERRUPTED => Err(format!(
                    "the runner was ended {interrupted} times without notice while this job worked"
                )),
                Ok(work) => Ok(work),
                Err(why) => Err(format!("the runner was ended, and the job cannot be taken up: {why}")),
            };
            let (request, fields) = match work {
                Ok(work) => work,
                Err(detail) => {
                    let problem: Option<Problem> = Some(problems::INTERRUPTED.problem(detail));
                    shared.store.ends(&id, EndReason::Interrupted, problem.clone());
                    JobNote::interrupted(&id, starts).write();
                    self.remember(Job::of_the_past(
                        &shared.limits,
                        id,
                        starts,
                        EndReason::Interrupted,
                        problem,
                    ));
                    continue;
                }
            };
            let order = Order::new(request, !fields.is_none(), &shared.limits, &shared.tools);
            let backend = lifecycle::backend(shared, &order);
            let Ok(order) = serde_json::to_vec(&order) else { continue };
            let job = Arc::new(Job::again(&shared.limits, order.len() as u64, id, starts, was_running));
            {
                let mut table = shared.table();
                // They were counted before: none is refused.
                let _ = table.hold(&fields, u64::MAX);
                table.waiting.push_back(Arc::clone(&job));
                table.jobs.push_back(Arc::clone(&job));
            }
            tokio::spawn(lifecycle::live(Arc::clone(shared), job, backend, order, fields));
        }
    }

    fn remember(&self, job: Job) {
        self.0.table().jobs.push_back(Arc::new(job));
    }

    /// The job of that id.
    ///
    /// # Errors
    ///
    /// 404.
    pub fn get(&self, id: &str) -> Result<Arc<Job>, ApiError> {
        let table = self.0.table();
        let found = table.jobs.iter().find(|it| it.id == id).cloned();
        if let Some(job) = &found {
            job.is_asked_for();
        }
        found.ok_or_else(|| ApiError::NotFound("job of this name".to_owned()))
    }

    /// How many jobs wait.
    #[must_use]
    pub fn waiting(&self) -> u32 {
        u32::try_from(self.0.table().waiting.len()).unwrap_or(u32::MAX)
    }

    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.0.is_closed.load(Ordering::SeqCst)
    }

    /// Whether jobs outlive a runner that is ended without notice.
    #[must_use]
    pub fn are_kept(&self) -> bool {
        self.0.store.is_there()
    }

    /// How many jobs work.
    #[must_use]
    pub fn working(&self) -> usize {
        self.0.table().jobs.iter().filter(|it| it.is_working()).count()
    }

    /// Takes no more jobs, ends those that wait, and gives those that work until `hurry` to end by themselves. Then waits
    /// until the readers of all could know it.
    pub async fn close(&self, hurry: impl Future<Output = ()>) {
        self.0.is_closed.store(true, Ordering::SeqCst);
        let jobs: Vec<Arc<Job>> = self.0.table().jobs.iter().cloned().collect();
        for job in jobs.iter().filter(|it| !it.is_working()) {
            job.stop(EndReason::RunnerShutdown);
        }
        tokio::select! {
            () = all_ended(&jobs) => {}
            () = hurry => {
                for job in &jobs {
                    job.stop(EndReason::RunnerShutdown);
                }
                let _ = tokio::time::timeout(END, all_ended(&jobs)).await;
            }
        }
        self.0.store.close().await;
    }
}

async fn all_ended(jobs: &[Arc<Job>]) {
    while !jobs.iter().all(|it| it.is_ended()) {
        tokio::time::sleep(LOOK).await;
    }
}

impl Shared {
    fn table(&self) -> MutexGuard<'_, Table> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The job no longer waits: it works, or was stopped before.
    pub(crate) fn leaves_queue(&self, job: &Arc<Job>) {
        let mut table = self.table();
        let before = table.waiting.len();
        table.waiting.retain(|it| !Arc::ptr_eq(it, job));
        if table.waiting.len() != before {
            table.tell_positions();
        }
    }

    /// Room for the results of `job`, by dropping older ones.
    pub(crate) fn make_room(&self) {
        self.table().forget(self.limits.kept_bytes);
    }
}

impl Table {
    /// Tells those that wait how many are before them: the first of each client, then the second of each.
    fn tell_positions(&self) {
        let of = u32::try_from(self.waiting.len()).unwrap_or(u32::MAX);
        let mut before = Shares::default();
        let mut order: Vec<([u64; 2], &Arc<Job>)> = Vec::new();
        for job in &self.waiting {
            let key = job.client.key();
            order.push((before.of(key), job));
            before.add(key, 1);
        }
        order.sort_by_key(|it| it.0);
        for (position, (_, job)) in (1..).zip(order) {
            job.tell(EventKind::Queued { position, of });
        }
    }

    /// Makes room for one more job, unless there is room or no other client has more jobs than this one. The
    /// newest waiting jobs of the client with the most jobs leave, beginning with those that nobody follows.
    /// Jobs of closed connections may belong to this client. They make room for others of their address once
    /// nobody has asked for them for some time.
    fn make_room_for(&self, job: &Job, limits: &Limits) -> Result<(), ApiError> {
        // Waiting and working jobs together: a job that was just taken does not work yet.
        let mut open: Vec<&Arc<Job>> = self.jobs.iter().filter(|it| it.is_open()).collect();
        let most = limits.jobs_waiting.saturating_add(limits.jobs_at_once.max(1));
        let (key, bytes) = (job.client.key(), job.document_bytes);
        let left = Duration::from_millis(limits.abandoned_ms / PART_OF_ABANDONED);
        let mut leaving = Vec::new();
        loop {
            let held: u64 = open.iter().map(|it| it.document_bytes).sum();
            let is_too_many = open.len() as u64 >= most;
            if !is_too_many && bytes.saturating_add(held) <= limits.waiting_bytes {
                break;
            }
            let amount = |it: &Job| if is_too_many { 1 } else { it.document_bytes };
            let shares: Shares = open.iter().map(|it| (it.client.key(), amount(it))).collect();
            let may_go = |it: &Job| {
                let is_left = !it.client.is_gone() || it.client.key().0 != key.0 || it.silent() >= left;
                !it.is_working() && is_left && shares.exceeds(it.client.key(), key, amount(job))
            };
            let order = |at: &usize| (shares.of(open[*at].client.key()), !open[*at].silent().is_zero(), *at);
            let Some(at) = (0..open.len()).filter(|at| may_go(open[*at])).max_by_key(order) else {
                let waiting = self.waiting.len() as u64;
                return Err(match is_too_many {
                    true => ApiError::QueueFull { waiting },
                    false => ApiError::DocumentsFull { held, allowed: limits.waiting_bytes },
                });
            };
            leaving.push(open.remove(at));
        }
        for job in leaving {
            job.stop(EndReason::Limit);
        }
        Ok(())
    }

    /// Counts the inputs of one more job: an upload that gave way to others lives as long as a job needs it.
    fn hold(&mut self, fields: &Fields, allowed: u64) -> Result<(), ApiError> {
        self.inputs.retain(|(file, _)| file.strong_count() > 0);
        let Fields::File { file, bytes } = fields else { return Ok(()) };
        let input = Arc::downgrade(file);
        if self.inputs.iter().any(|(it, _)| it.ptr_eq(&input)) {
            return Ok(());
        }
        let held = self.inputs.iter().map(|(_, bytes)| bytes).sum::<u64>();
        if held.saturating_add(*bytes) > allowed {
            return Err(ApiError::InputsFull { held, allowed });
        }
        self.inputs.push((input, *bytes));
        Ok(())
    }

    /// Drops results beyond the limits: the oldest of the client with the most.
    fn forget(&mut self, kept_bytes: u64) {
        let mut total: u64 = self.jobs.iter().map(|it| it.kept_bytes()).sum();
        while total > kept_bytes {
            let Some(at) = self.oldest_of_largest(Job::kept_bytes) else { break };
            total -= self.jobs[at].kept_bytes();
            self.jobs[at].drop_fields();
        }
        let spare = self.jobs.iter().filter(|it| it.is_ended()).count().saturating_sub(MOST_ENDED);
        for _ in 0..spare {
            let Some(at) = self.oldest_of_largest(|_| 1) else { break };
            self.jobs.remove(at);
        }
    }

    /// The oldest job of the client that has the most, among those that are over and have some amount.
    fn oldest_of_largest(&self, amount: impl Fn(&Job) -> u64) -> Option<usize> {
        let over = || (0..).zip(&self.jobs).filter(|(_, it)| it.is_ended() && amount(it) > 0);
        let shares: Shares = over().map(|(_, it)| (it.client.key(), amount(it))).collect();
        let largest = shares.largest()?;
        over().find(|(_, it)| it.client.key() == largest).map(|it| it.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn job(client: &Client, bytes: u64) -> Arc<Job> {
        Arc::new(Job::new(&Limits::default(), client.clone(), bytes))
    }

    fn clients() -> ([Client; 2], [Arc<()>; 2]) {
        let open = [Arc::new(()), Arc::new(())];
        ([0, 1].map(|at| Client::new([10, 0, 0, 1].into(), &open[at])), open)
    }

    #[test]
    fn a_full_queue_makes_room_for_a_client_with_fewer_jobs() {
        let ([many, late], _open) = clients();
        let limits = Limits { jobs_at_once: 1, jobs_waiting: 3, waiting_bytes: 100, ..Limits::default() };
        let mut table = Table::default();
        let all: Vec<Arc<Job>> = (0..4).map(|_| job(&many, 10)).collect();
        table.jobs.extend(all.iter().cloned());
        let refused = table.make_room_for(&job(&many, 10), &limits).expect_err("it has all of them");
        assert!(matches!(refused, ApiError::QueueFull { .. }), "{refused}");
        for n in 1..=2 {
            let next = job(&late, 10);
            let done = table.make_room_for(&next, &limits);
            assert_eq!(done.is_ok(), n == 1 || all.iter().filter(|it| it.is_open()).count() == 2, "{n}");
            table.jobs.push_back(next);
        }
        // The newest went, and it stops where both have the same.
        assert_eq!(all.iter().map(|it| it.is_open()).collect::<Vec<_>>(), [true, true, false, false]);
        assert!(table.make_room_for(&job(&late, 10), &limits).is_err());
        // The same by the bytes of documents.
        let mut table = Table::default();
        let large = [job(&many, 45), job(&many, 45)];
        table.jobs.extend(large.iter().cloned());
        assert!(table.make_room_for(&job(&many, 20), &limits).is_err());
        assert!(table.make_room_for(&job(&late, 20), &limits).is_ok());
        assert!(large[0].is_open() && !large[1].is_open());
    }

    #[test]
    fn jobs_of_closed_connections_make_room_at_their_address_where_nobody_asks_for_them() {
        let ([script, late], [of_script, _of_late]) = clients();
        let limits = Limits { jobs_at_once: 1, jobs_waiting: 3, abandoned_ms: 600, ..Limits::default() };
        let mut table = Table::default();
        let all: Vec<Arc<Job>> = (0..4).map(|_| job(&script, 10)).collect();
        table.jobs.extend(all.iter().cloned());
        drop(of_script);
        assert!(table.make_room_for(&job(&late, 10), &limits).is_err(), "they may be its own");
        std::thread::sleep(Duration::from_millis(60));
        let _follows = all[3].reader();
        assert!(table.make_room_for(&job(&late, 10), &limits).is_ok());
        assert_eq!(all.iter().map(|it| it.is_open()).collect::<Vec<_>>(), [true, true, false, true]);
    }

    #[test]
    fn jobs_of_one_client_do_not_push_out_what_is_kept_of_another() {
        let ([many, late], _open) = clients();
        let mut table = Table::default();
        let over = |client: &Client| {
            let job = job(client, 10);
            job.ends(EndReason::Ok, None);
            job
        };
        let one = over(&late);
        table.jobs.push_back(Arc::clone(&one));
        table.jobs.extend((0..MOST_ENDED + 50).map(|_| over(&many)));
        table.forget(u64::MAX);
        assert_eq!(table.jobs.len(), MOST_ENDED);
        assert!(table.jobs.iter().any(|it| Arc::ptr_eq(it, &one)));
    }

    #[test]
    fn inputs_count_once_and_as_long_as_a_job_needs_them() {
        let input = |bytes| Fields::File { file: Arc::new(tempfile::tempfile().expect("a file")), bytes };
        let mut table = Table::default();
        let (first, second) = (input(60), input(50));
        table.hold(&first, 100).expect("there is room");
        table.hold(&first.clone(), 100).expect("it is there already");
        table.hold(&Fields::None, 0).expect("nothing needs no room");
        let refused = table.hold(&second, 100).expect_err("together they are too much");
        assert!(matches!(refused, ApiError::InputsFull { held: 60, allowed: 100 }), "{refused}");
        assert_eq!(refused.problem().status, 503);
        drop(first);
        table.hold(&second, 100).expect("the first is not needed any more");
    }
}
