//! One job as its readers see it: a log of events that only grows, and the fields it wrote.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use isobar_protocol::field::FieldInfo;
use isobar_protocol::job::{EndReason, Event, EventKind, JobState};
use isobar_protocol::problem::Problem;
use tokio::sync::watch;

use crate::backends::events::milliseconds;

/// A job says no more than this; then progress and logs are left out, and what matters is still told.
const MOST_EVENTS: usize = 20_000;

/// A job.
#[derive(Debug)]
pub struct Job {
    pub id: String,
    /// How many runners had it, this one among them.
    pub starts: u32,
    accepted: Instant,
    /// Whether the next runner will know it.
    is_kept: AtomicBool,
    log: Mutex<Log>,
    /// How many events there are.
    grown: watch::Sender<usize>,
    /// Why the job shall end, once it shall.
    stop: watch::Sender<Option<EndReason>>,
}

#[derive(Debug, Default)]
struct Log {
    events: Vec<Event>,
    is_running: bool,
    ended: Option<EndReason>,
    infos: Vec<FieldInfo>,
    fields: BTreeMap<String, Arc<Vec<u8>>>,
    is_dropped: bool,
}

/// A field that a job wrote.
#[derive(Debug)]
pub enum Kept {
    /// Its elements: little-endian, C order.
    Here(Box<FieldInfo>, Arc<Vec<u8>>),
    /// It was there, and gave way to newer ones.
    Dropped,
    Unknown,
}

impl Job {
    pub(crate) fn new() -> Self {
        Self::with(crate::random::hex(16), 1)
    }

    /// A job of a runner before this one, to be done again.
    pub(crate) fn again(id: String, starts: u32, was_running: bool) -> Self {
        let job = Self::with(id, starts);
        job.tell(EventKind::Restarted { was_running });
        job.kept();
        job
    }

    /// A job that is over since a runner before this one; its fields are gone.
    pub(crate) fn of_the_past(id: String, starts: u32, reason: EndReason, problem: Option<Problem>) -> Self {
        let job = Self::with(id, starts);
        job.ends(reason, problem);
        job.drop_fields();
        job
    }

    fn with(id: String, starts: u32) -> Self {
        let job = Self {
            id,
            starts,
            accepted: Instant::now(),
            is_kept: AtomicBool::new(false),
            log: Mutex::default(),
            grown: watch::Sender::new(0),
            stop: watch::Sender::new(None),
        };
        job.tell(EventKind::Accepted { job: job.id.clone() });
        job
    }

    fn log(&self) -> MutexGuard<'_, Log> {
        // Nothing that holds the lock leaves the log half changed.
        self.log.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds an event; nothing is added after the end.
    pub(crate) fn tell(&self, what: EventKind) {
        let mut log = self.log();
        let is_spare = matches!(what, EventKind::Progress { .. } | EventKind::Log { .. });
        if log.ended.is_some() || (is_spare && log.events.len() >= MOST_EVENTS) {
            return;
        }
        if let EventKind::Ended { reason, .. } = what {
            log.ended = Some(reason);
        }
        let seq = log.events.len() as u64;
        log.events.push(Event { seq, t_ms: milliseconds(self.accepted.elapsed()), what });
        self.grown.send_replace(log.events.len());
    }

    /// From now on the next runner will know it.
    pub(crate) fn kept(&self) {
        self.is_kept.store(true, Ordering::Relaxed);
    }

    pub(crate) fn is_kept(&self) -> bool {
        self.is_kept.load(Ordering::Relaxed)
    }

    pub(crate) fn begins(&self) {
        self.log().is_running = true;
    }

    /// Adds a field that was written, and its event.
    pub(crate) fn keep(&self, info: FieldInfo, bytes: Vec<u8>) {
        {
            let mut log = self.log();
            log.fields.insert(info.name.clone(), Arc::new(bytes));
            log.infos.retain(|it| it.name != info.name);
            log.infos.push(info.clone());
        }
        self.tell(EventKind::Field { field: info });
    }

    pub(crate) fn ends(&self, reason: EndReason, problem: Option<Problem>) {
        self.tell(EventKind::Ended { reason, problem });
    }

    /// Asks the job to end; the first reason counts. Answers whether it was still going on.
    pub(crate) fn stop(&self, reason: EndReason) -> bool {
        if self.is_ended() {
            return false;
        }
        self.stop.send_if_modified(|it| it.is_none() && it.replace(reason).is_none());
        true
    }

    pub(crate) fn stop_asked(&self) -> watch::Receiver<Option<EndReason>> {
        self.stop.subscribe()
    }

    #[must_use]
    pub fn is_ended(&self) -> bool {
        self.log().ended.is_some()
    }

    #[must_use]
    pub fn is_working(&self) -> bool {
        let log = self.log();
        log.is_running && log.ended.is_none()
    }

    /// The events from number `first` on, and whether the last of them is the end.
    #[must_use]
    pub fn events_from(&self, first: usize) -> (Vec<Event>, bool) {
        let log = self.log();
        (log.events.get(first..).unwrap_or_default().to_vec(), log.ended.is_some())
    }

    /// Changes whenever an event is added.
    #[must_use]
    pub fn growth(&self) -> watch::Receiver<usize> {
        self.grown.subscribe()
    }

    #[must_use]
    pub fn state(&self) -> JobState {
        let log = self.log();
        let state = match (log.ended, log.is_running) {
            (Some(_), _) => "ended",
            (None, true) => "running",
            (None, false) => "queued",
        };
        JobState {
            job: self.id.clone(),
            state: state.to_owned(),
            reason: log.ended,
            fields: log.infos.clone(),
        }
    }

    #[must_use]
    pub fn field(&self, name: &str) -> Kept {
        let log = self.log();
        match (log.infos.iter().find(|it| it.name == name), log.fields.get(name)) {
            (Some(info), Some(bytes)) => Kept::Here(Box::new(info.clone()), Arc::clone(bytes)),
            (Some(_), None) if log.is_dropped => Kept::Dropped,
            // What it wrote before this runner was started is not known.
            (None, _) if log.is_dropped && log.infos.is_empty() => Kept::Dropped,
            _ => Kept::Unknown,
        }
    }

    pub(crate) fn kept_bytes(&self) -> u64 {
        self.log().fields.values().map(|it| it.len() as u64).sum()
    }

    /// Gives the memory of the fields back.
    pub(crate) fn drop_fields(&self) {
        let mut log = self.log();
        log.fields.clear();
        log.is_dropped = true;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_count_without_gaps_and_end_with_the_end() {
        let job = Job::new();
        job.tell(EventKind::Progress { done: 1, total: 2 });
        job.ends(EndReason::Ok, None);
        job.tell(EventKind::Progress { done: 2, total: 2 });
        job.ends(EndReason::Crash, None);
        let (events, is_over) = job.events_from(0);
        assert_eq!(events.iter().map(|it| it.seq).collect::<Vec<_>>(), [0, 1, 2]);
        assert!(is_over && matches!(events[2].what, EventKind::Ended { reason: EndReason::Ok, .. }));
        assert_eq!(job.events_from(2).0.len(), 1);
        assert_eq!(job.events_from(99).0.len(), 0);
    }

    #[test]
    fn a_chatterer_is_cut_short_and_its_end_is_told() {
        let job = Job::new();
        for done in 0..2 * MOST_EVENTS as u64 {
            job.tell(EventKind::Progress { done, total: 1 });
        }
        job.ends(EndReason::Ok, None);
        assert_eq!(job.events_from(0).0.len(), MOST_EVENTS + 1);
    }

    #[test]
    fn the_first_reason_to_stop_counts() {
        let job = Job::new();
        assert!(job.stop(EndReason::Cancelled) && job.stop(EndReason::RunnerShutdown));
        assert_eq!(*job.stop_asked().borrow(), Some(EndReason::Cancelled));
        job.ends(EndReason::Cancelled, None);
        assert!(!job.stop(EndReason::Cancelled));
    }
}
