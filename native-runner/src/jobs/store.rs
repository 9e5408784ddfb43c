//! Keeps accepted jobs until they are over, so that they outlive a runner that is ended without notice.
//!
//! A thread of its own writes what changes; what comes while it writes goes into one transaction.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, DirBuilder, File, OpenOptions, TryLockError};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::time::{Duration, Instant};

use isobar_protocol::job::EndReason;
use isobar_protocol::problem::Problem;
use isobar_protocol::request::Request;
use isobar_runtime::cache;
use rustix::fs::OFlags;
use tokio::sync::oneshot;

use super::inputs::Inputs;
use super::records::{self, FinishedJob, InheritedJob, LoadedRecords, PendingJob, RecordChange, Records};
use crate::wire::Fields;

/// The time to wait for the folder. A killed runner may have been starting a process. That process holds the
/// runner's files until it executes its own program.
const PATIENCE: Duration = Duration::from_secs(1);
const LOOK: Duration = Duration::from_millis(5);

/// Below the folder of a runner's state, for its owner alone.
const FOLDER: &str = "jobs";
const INPUTS: &str = "inputs";
const WORKING: &str = "working";
/// Locked by the runner that uses the folder.
const LOCK: &str = "lock";
/// So many changes at most go into one transaction.
const MOST_AT_ONCE: usize = 256;
/// Changes that could not be written and are tried again.
const MOST_PENDING: usize = 4096;
/// Ends wait so long for company, or for a job that somebody waits for: each transaction is a wait for the disk.
const GATHER: Duration = Duration::from_millis(25);
/// After a failure the disk is left alone for so long.
const PAUSE: Duration = Duration::from_secs(1);

/// The store of jobs, or none. Cheap to copy.
#[derive(Clone, Debug, Default)]
pub struct Store(Option<Arc<Shared>>);

#[derive(Debug)]
struct Shared {
    to: Sender<Message>,
    inputs: Arc<Inputs>,
    working: Working,
    next: AtomicU64,
}

#[derive(Debug)]
enum Message {
    Change(Box<RecordChange>, Option<oneshot::Sender<bool>>),
    Close(oneshot::Sender<()>),
}

/// The jobs that the previous runner left.
#[derive(Debug, Default)]
pub struct RecoveredJobs {
    /// Those that waited or worked, the first first.
    pub jobs: Vec<FoundJob>,
    pub ended: Vec<FinishedJob>,
    /// Why something is missing.
    pub warning: Option<String>,
}

/// A job that is not over.
#[derive(Debug)]
pub struct FoundJob {
    pub id: String,
    /// The work to do, or why it is not known.
    pub work: Result<(Request, Fields), String>,
    /// How many runners had it, this one among them.
    pub starts: u32,
    /// How often a runner was ended without notice while it worked.
    pub interrupted: u32,
    pub was_running: bool,
}

impl Store {
    /// Keeps nothing.
    #[must_use]
    pub fn none() -> Self {
        Self::default()
    }

    /// Keeps jobs below `folder`, which one runner at a time can use.
    ///
    /// # Errors
    ///
    /// When nothing can be kept there, with the reason.
    pub fn open(folder: &Path) -> Result<(Self, RecoveredJobs), String> {
        let folder = self::folder(folder)?;
        let shown = folder.display();
        let lock = lock(&folder)?;
        let inputs = Inputs::open(folder.join(INPUTS)).map_err(|error| format!("{shown}: {error}"))?;
        let working = Working::open(folder.join(WORKING)).map_err(|error| format!("{shown}: {error}"))?;
        let LoadedRecords { records, left, ended, warning } = Records::open(&folder, &working.names())?;
        // They are counted now.
        working.clear();
        let next = left.iter().map(|it| it.open.order + 1).max().unwrap_or(0);
        let names = left.iter().filter_map(|it| Some((it.id.clone(), it.open.input.clone()?))).collect();
        let jobs = left.into_iter().map(|it| found(it, &inputs)).collect();
        inputs.clear();
        let inputs = Arc::new(inputs);
        let (to, from) = mpsc::channel();
        let writer =
            Writer { records, names, inputs: Arc::clone(&inputs), working: working.clone(), _lock: lock };
        let spawned = std::thread::Builder::new().name("jobs-store".to_owned()).spawn(|| writer.serve(from));
        spawned.map_err(|error| format!("no thread can be started: {error}"))?;
        let store = Self(Some(Arc::new(Shared { to, inputs, working, next: AtomicU64::new(next) })));
        Ok((store, RecoveredJobs { jobs, ended, warning }))
    }

    #[must_use]
    pub fn is_there(&self) -> bool {
        self.0.is_some()
    }

    /// Writes a job down; whether it is on the disk.
    pub(crate) async fn keep(&self, id: &str, document: Vec<u8>, fields: Fields) -> bool {
        let Some(shared) = self.0.clone() else { return false };
        let bytes = fields.size_bytes();
        let inputs = Arc::clone(&shared.inputs);
        let copied = match fields.is_none() {
            true => Ok(Ok(None)),
            false => tokio::task::spawn_blocking(move || inputs.keep(&fields)).await,
        };
        let input = match copied {
            Ok(Ok(input)) => input,
            Ok(Err(error)) => {
                tracing::warn!("the inputs of a job cannot be kept: {error}");
                return false;
            }
            Err(_) => return false,
        };
        let open = PendingJob {
            order: shared.next.fetch_add(1, Ordering::Relaxed),
            hash: records::hash(&document),
            input: input.clone(),
            input_bytes: bytes,
            starts: 1,
            interrupted: 0,
        };
        let (done, is_done) = oneshot::channel();
        let change = RecordChange::Waits { id: id.to_owned(), open, document };
        let is_kept = shared.to.send(Message::Change(Box::new(change), Some(done))).is_ok()
            && is_done.await == Ok(true);
        if let (false, Some(input)) = (is_kept, input) {
            shared.inputs.release(&input);
        }
        is_kept
    }

    /// The job works.
    pub(crate) fn begins(&self, id: &str) {
        if let Some(shared) = &self.0 {
            shared.working.add(id);
        }
    }

    /// The job waits again, for the next runner.
    pub(crate) fn waits(&self, id: &str) {
        if let Some(shared) = &self.0 {
            shared.working.remove(id);
        }
    }

    /// The job is over; this is written soon.
    pub(crate) fn ends(&self, id: &str, reason: EndReason, problem: Option<Problem>) {
        if let Some(shared) = &self.0 {
            let change = RecordChange::Ends(FinishedJob { id: id.to_owned(), reason, problem });
            // The thread ends with the store.
            let _ = shared.to.send(Message::Change(Box::new(change), None));
        }
    }

    /// Writes what is left, and lets go of the folder.
    pub(crate) async fn close(&self) {
        let Some(shared) = &self.0 else { return };
        let (done, is_done) = oneshot::channel();
        if shared.to.send(Message::Close(done)).is_ok() {
            let _ = is_done.await;
        }
    }
}

/// The folder of the jobs below that of a runner's state, made where it is missing.
pub(crate) fn folder(state: &Path) -> Result<PathBuf, String> {
    let shown = state.display();
    let make = DirBuilder::new().recursive(true).mode(0o700).create(state);
    make.map_err(|error| format!("{shown} cannot be made: {error}"))?;
    // A service's folder may be a link that the system made.
    let state = fs::canonicalize(state).map_err(|error| format!("{shown}: {error}"))?;
    cache::private(&state, FOLDER)
}

fn lock(folder: &Path) -> Result<File, String> {
    let flags = i32::try_from((OFlags::NOFOLLOW | OFlags::NONBLOCK).bits()).unwrap_or(0);
    let mut options = OpenOptions::new();
    let options = options.write(true).create(true).truncate(false).mode(0o600).custom_flags(flags);
    let shown = folder.display();
    let file = options.open(folder.join(LOCK)).map_err(|error| format!("{shown}: {error}"))?;
    let begun = Instant::now();
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(file),
            Err(TryLockError::WouldBlock) if begun.elapsed() < PATIENCE => std::thread::sleep(LOOK),
            Err(TryLockError::WouldBlock) => return Err(format!("another runner uses {shown}")),
            Err(TryLockError::Error(error)) => return Err(format!("{shown} cannot be locked: {error}")),
        }
    }
}

/// A job with what it needs.
fn found(left: InheritedJob, inputs: &Inputs) -> FoundJob {
    let InheritedJob { id, open, document, was_running } = left;
    let work = || {
        if records::hash(&document) != open.hash {
            return Err("its document is damaged".to_owned());
        }
        let request = serde_json::from_slice(&document)
            .map_err(|_| "its document is of another version of the runner".to_owned())?;
        let fields = match &open.input {
            None => Fields::None,
            Some(name) => inputs
                .find(name, open.input_bytes)
                .map_err(|_| "its inputs are not there any more".to_owned())?,
        };
        Ok((request, fields))
    };
    FoundJob { work: work(), id, starts: open.starts, interrupted: open.interrupted, was_running }
}

/// The jobs that work, each an empty file: it is there after a kill of the runner, and takes no wait for the disk.
#[derive(Clone, Debug)]
struct Working(PathBuf);

impl Working {
    fn open(folder: PathBuf) -> std::io::Result<Self> {
        fs::create_dir_all(&folder)?;
        Ok(Self(folder))
    }

    fn names(&self) -> BTreeSet<String> {
        let entries = fs::read_dir(&self.0).into_iter().flatten().flatten();
        entries.filter_map(|it| it.file_name().into_string().ok()).collect()
    }

    fn clear(&self) {
        for name in self.names() {
            self.remove(&name);
        }
    }

    fn add(&self, id: &str) {
        // Without it, an interruption is not counted.
        let _ = File::create(self.0.join(id));
    }

    fn remove(&self, id: &str) {
        let _ = fs::remove_file(self.0.join(id));
    }
}

/// Changes that go into one transaction.
#[derive(Default)]
struct Batch {
    changes: Vec<RecordChange>,
    /// The callers who wait for it.
    asked: Vec<oneshot::Sender<bool>>,
    closing: Option<oneshot::Sender<()>>,
}

/// The thread that writes.
struct Writer {
    records: Records,
    /// The inputs of each job that has some.
    names: BTreeMap<String, String>,
    inputs: Arc<Inputs>,
    working: Working,
    _lock: File,
}

impl Writer {
    fn serve(mut self, from: Receiver<Message>) {
        let mut pending: Vec<RecordChange> = Vec::new();
        let mut is_failing = false;
        while let Some(batch) = gathered(&from, std::mem::take(&mut pending)) {
            let written = self.records.change(&batch.changes);
            match &written {
                Ok(()) if is_failing => tracing::info!("jobs are kept again"),
                Err(error) if !is_failing => tracing::warn!("jobs cannot be kept: {error}"),
                Ok(()) | Err(_) => {}
            }
            is_failing = written.is_err();
            for done in batch.asked {
                let _ = done.send(!is_failing);
            }
            for change in batch.changes {
                self.follow(change, is_failing, &mut pending);
            }
            if let Some(done) = batch.closing {
                drop(self);
                let _ = done.send(());
                return;
            }
        }
    }

    /// Updates the inputs after a change, or queues the change for the next try where it could not be
    /// written.
    fn follow(&mut self, change: RecordChange, has_failed: bool, pending: &mut Vec<RecordChange>) {
        match change {
            // The caller was told that the job is not kept.
            RecordChange::Waits { .. } if has_failed => {}
            RecordChange::Waits { id, open, .. } => {
                self.names.extend(open.input.map(|name| (id, name)));
            }
            RecordChange::Ends(_) if has_failed => {
                if pending.len() < MOST_PENDING {
                    pending.push(change);
                }
            }
            RecordChange::Ends(ended) => {
                self.working.remove(&ended.id);
                if let Some(name) = self.names.remove(&ended.id) {
                    self.inputs.release(&name);
                }
            }
        }
    }
}

/// The next changes, behind those that could not be written; nothing once nobody can send any more.
fn gathered(from: &Receiver<Message>, pending: Vec<RecordChange>) -> Option<Batch> {
    let mut next = match pending.is_empty() {
        true => Ok(from.recv().ok()?),
        false => from.recv_timeout(PAUSE),
    };
    if matches!(next, Err(RecvTimeoutError::Disconnected)) {
        return None;
    }
    let mut batch = Batch { changes: pending, ..Batch::default() };
    let until = Instant::now() + GATHER;
    let mut n_new = 0;
    while let Ok(message) = next {
        match message {
            Message::Change(change, done) => {
                batch.asked.extend(done);
                batch.changes.push(*change);
            }
            Message::Close(done) => {
                batch.closing = Some(done);
                return Some(batch);
            }
        }
        n_new += 1;
        if n_new == MOST_AT_ONCE {
            return Some(batch);
        }
        next = match batch.asked.is_empty() {
            true => from.recv_timeout(until.saturating_duration_since(Instant::now())),
            false => from.try_recv().map_err(|_| RecvTimeoutError::Timeout),
        };
    }
    Some(batch)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_that_is_let_go_of_a_moment_later_is_waited_for() {
        let state = tempfile::tempdir().expect("a folder");
        let folder = folder(state.path()).expect("it is ours");
        let held = lock(&folder).expect("nobody has it");
        let opened = std::thread::scope(|scope| {
            scope.spawn(move || {
                std::thread::sleep(Duration::from_millis(100));
                drop(held);
            });
            Store::open(state.path())
        });
        let _kept = opened.expect("it is free by now");
        assert!(lock(&folder).is_err_and(|why| why.contains("another runner")));
    }
}
