//! One job as its readers see it: a log of events that only grows, up to its limits, and the fields it wrote.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use isobar_protocol::field::FieldInfo;
use isobar_protocol::job::{EndReason, Event, EventKind, JobState};
use isobar_protocol::limits::Limits;
use isobar_protocol::problem::Problem;
use tokio::sync::watch;

use crate::backends::events::milliseconds;
use crate::turns::Client;

/// A job.
#[derive(Debug)]
pub struct Job {
    pub id: String,
    /// Whose it is; nobody's where it is taken up from a runner before this one.
    pub(crate) client: Client,
    /// Of the document that waits, or did.
    pub(crate) document_bytes: u64,
    limits: Limits,
    accepted: Instant,
    /// How many read its events, and when somebody last asked for it.
    readers: Mutex<(usize, Instant)>,
    /// How many runners had it, this one among them.
    pub starts: u32,
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
    /// Of the events as they are sent.
    bytes: u64,
    is_running: bool,
    ended: Option<EndReason>,
    infos: Vec<FieldInfo>,
    fields: BTreeMap<String, Arc<Vec<u8>>>,
    is_dropped: bool,
}

/// A field that a job wrote.
#[derive(Debug)]
pub enum JobField {
    /// Its elements: little-endian, C order.
    Here(Box<FieldInfo>, Arc<Vec<u8>>),
    /// It was there, and gave way to newer ones.
    Dropped,
    Unknown,
}

impl Job {
    pub(crate) fn new(limits: &Limits, client: Client, document_bytes: u64) -> Self {
        Self { client, ..Self::with(limits, document_bytes, crate::random::hex(16), 1) }
    }

    /// A job of a runner before this one, to be done again.
    pub(crate) fn again(
        limits: &Limits,
        document_bytes: u64,
        id: String,
        starts: u32,
        was_running: bool,
    ) -> Self {
        let job = Self::with(limits, document_bytes, id, starts);
        job.tell(EventKind::Restarted { was_running });
        job.kept();
        job
    }

    /// A job that is over since a runner before this one; its fields are gone.
    pub(crate) fn of_the_past(
        limits: &Limits,
        id: String,
        starts: u32,
        reason: EndReason,
        problem: Option<Problem>,
    ) -> Self {
        let job = Self::with(limits, 0, id, starts);
        job.ends(reason, problem);
        job.drop_fields();
        job
    }

    fn with(limits: &Limits, document_bytes: u64, id: String, starts: u32) -> Self {
        let now = Instant::now();
        let job = Self {
            id,
            client: Client::default(),
            document_bytes,
            limits: *limits,
            accepted: now,
            readers: Mutex::new((0, now)),
            starts,
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

    /// Adds an event, if there is room; answers whether there was. Progress and logs make room for what matters, and
    /// the end is always told. Nothing is added after it.
    pub(crate) fn tell(&self, what: EventKind) -> bool {
        let mut log = self.log();
        let Limits { events, event_bytes, events_bytes, .. } = self.limits;
        let seq = log.events.len() as u64;
        let event = Event { seq, t_ms: milliseconds(self.accepted.elapsed()), what };
        let bytes = size_of(&event);
        let part_of_room = match event.what {
            EventKind::Accepted { .. } | EventKind::Ended { .. } => None,
            EventKind::Progress { .. } | EventKind::Log { .. } => Some(2),
            _ => Some(1),
        };
        let is_too_much = part_of_room.is_some_and(|part| {
            seq >= events / part
                || bytes > event_bytes
                || log.bytes.saturating_add(bytes) > events_bytes / part
        });
        if log.ended.is_some() || is_too_much {
            return false;
        }
        if let EventKind::Ended { reason, .. } = event.what {
            log.ended = Some(reason);
        }
        log.bytes = log.bytes.saturating_add(bytes);
        log.events.push(event);
        self.grown.send_replace(log.events.len());
        true
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
        // The field is stored before its event is sent: a client that reads the event can fetch the field.
        {
            let mut log = self.log();
            log.fields.insert(info.name.clone(), Arc::new(bytes));
            log.infos.retain(|it| it.name != info.name);
            log.infos.push(info.clone());
        }
        let name = info.name.clone();
        if !self.tell(EventKind::Field { field: info }) {
            let mut log = self.log();
            log.fields.remove(&name);
            log.infos.retain(|it| it.name != name);
        }
    }

    /// Somebody shows that the job still counts.
    pub(crate) fn is_asked_for(&self) {
        self.readers().1 = Instant::now();
    }

    fn readers(&self) -> MutexGuard<'_, (usize, Instant)> {
        self.readers.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Somebody reads the events, until what this gives is dropped.
    pub(crate) fn reader(self: &Arc<Self>) -> Reader {
        self.readers().0 += 1;
        Reader(Arc::clone(self))
    }

    /// Since when nobody has read the events or asked for it.
    pub(crate) fn silent(&self) -> Duration {
        let (readers, asked) = *self.readers();
        if readers > 0 { Duration::ZERO } else { asked.elapsed() }
    }

    /// Ends when nobody has read the events or asked for the job for so long. Clients of one that a runner before this one
    /// accepted may have to find this one first.
    pub(crate) async fn abandoned(&self, after: Duration) {
        if self.starts > 1 {
            return std::future::pending().await;
        }
        loop {
            let silent = self.silent();
            if silent >= after {
                return;
            }
            tokio::time::sleep(after - silent).await;
        }
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

    /// Whether it is not over, and does not make room for another job.
    pub(crate) fn is_open(&self) -> bool {
        !self.is_ended() && *self.stop.borrow() != Some(EndReason::Limit)
    }

    /// The events from number `first` on, and whether the last of them is the end.
    #[must_use]
    pub fn events_from(&self, first: usize) -> (Vec<Event>, bool) {
        let log = self.log();
        (log.events.get(first..).unwrap_or_default().to_vec(), log.ended.is_some())
    }

    /// How many events were told.
    #[must_use]
    pub fn n_events(&self) -> usize {
        self.log().events.len()
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
    pub fn field(&self, name: &str) -> JobField {
        let log = self.log();
        match (log.infos.iter().find(|it| it.name == name), log.fields.get(name)) {
            (Some(info), Some(bytes)) => JobField::Here(Box::new(info.clone()), Arc::clone(bytes)),
            (Some(_), None) if log.is_dropped => JobField::Dropped,
            // Fields that a job wrote before this runner was started are not known.
            (None, _) if log.is_dropped && log.infos.is_empty() => JobField::Dropped,
            _ => JobField::Unknown,
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

/// One who reads the events of a job.
#[derive(Debug)]
pub(crate) struct Reader(Arc<Job>);

impl Drop for Reader {
    fn drop(&mut self) {
        let mut readers = self.0.readers();
        *readers = (readers.0.saturating_sub(1), Instant::now());
    }
}

/// How long an event is as it is sent.
fn size_of(event: &Event) -> u64 {
    struct Counter(u64);
    impl std::io::Write for Counter {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0 += bytes.len() as u64;
            Ok(bytes.len())
        }

        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    let mut counter = Counter(0);
    // An event that cannot be serialised is not sent.
    if serde_json::to_writer(&mut counter, event).is_ok() { counter.0 } else { u64::MAX }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn job() -> Job {
        Job::new(&Limits::default(), Client::default(), 0)
    }

    fn job_with(events: u64, events_bytes: u64) -> Job {
        Job::new(&Limits { events, events_bytes, ..Limits::default() }, Client::default(), 0)
    }

    #[test]
    fn events_count_without_gaps_and_end_with_the_end() {
        let job = job();
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
        let job = job_with(100, u64::MAX);
        for done in 0..200 {
            job.tell(EventKind::Progress { done, total: 1 });
        }
        assert_eq!(job.events_from(0).0.len(), 50, "half of the room is for what matters");
        for _ in 0..200 {
            job.tell(EventKind::Timing { name: "run".to_owned(), ms: 1.0, bytes: None });
        }
        job.ends(EndReason::Ok, None);
        let (events, is_over) = job.events_from(0);
        assert!(events.len() == 101 && is_over);
        assert!(matches!(events[100].what, EventKind::Ended { .. }));
    }

    #[test]
    fn long_events_are_bounded_by_their_bytes() {
        let text = "x".repeat(1000);
        let job = job_with(u64::MAX, 10_000);
        for _ in 0..100 {
            job.tell(EventKind::Log { text: text.clone() });
            job.tell(EventKind::Trap { message: text.clone(), diagnostic: None, cell: None });
        }
        let field = |name: usize| FieldInfo { name: format!("{name}-{text}"), ..FieldInfo::default() };
        for name in 0..100 {
            job.keep(field(name), Vec::new());
        }
        job.ends(EndReason::Ok, None);
        let (events, is_over) = job.events_from(0);
        let sent: u64 = events.iter().map(size_of).sum();
        assert!(is_over && events.len() < 12 && sent < 11_000, "{} events, {sent} bytes", events.len());
        let kept = events.iter().filter(|it| matches!(it.what, EventKind::Field { .. })).count();
        assert_eq!(job.state().fields.len(), kept, "what nobody hears of is not kept");
        let alone = Job::new(&Limits { event_bytes: 500, ..Limits::default() }, Client::default(), 0);
        alone.tell(EventKind::Log { text });
        assert_eq!(alone.events_from(0).0.len(), 1);
    }

    #[tokio::test]
    async fn a_job_is_abandoned_when_its_last_reader_has_gone_for_a_while() {
        let job = Arc::new(job());
        let after = Duration::from_millis(100);
        let readers = [job.reader(), job.reader()];
        for reader in readers {
            // While somebody reads, it takes as long as that does.
            let is_over = tokio::time::timeout(3 * after, job.abandoned(after)).await.is_ok();
            assert!(!is_over);
            drop(reader);
        }
        let gone = Instant::now();
        job.abandoned(after).await;
        assert!(gone.elapsed() >= after);
    }

    #[test]
    fn the_first_reason_to_stop_counts() {
        let job = job();
        assert!(job.stop(EndReason::Cancelled) && job.stop(EndReason::RunnerShutdown));
        assert_eq!(*job.stop_asked().borrow(), Some(EndReason::Cancelled));
        job.ends(EndReason::Cancelled, None);
        assert!(!job.stop(EndReason::Cancelled));
    }
}
