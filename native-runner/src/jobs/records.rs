//! The records that outlive the runner, in one file: the unfinished jobs, and the last of the finished ones.
//!
//! Every change is one transaction, and on the disk when it is made. A file that cannot be read is put aside.

use std::collections::BTreeSet;
use std::fs::{self, File, OpenOptions};
use std::os::unix::fs::OpenOptionsExt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

use isobar_protocol::job::EndReason;
use isobar_protocol::problem::Problem;
use redb::backends::FileBackend;
use redb::{Database, ReadableDatabase, ReadableTable, TableDefinition, WriteTransaction};
use rustix::fs::OFlags;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

/// The name has the version of what is written; another version has a file of its own.
const FILE: &str = "jobs-1.redb";
/// Where a file goes that cannot be read.
const BROKEN: &str = "jobs-1.redb.broken";
/// Jobs that are over and can still be asked about.
pub(super) const MOST_ENDED: usize = 200;
/// A problem that is longer is kept without its diagnostics.
const MOST_PROBLEM_BYTES: usize = 64 * 1024;
const CACHE_BYTES: usize = 4 * 1024 * 1024;

/// The request document of each job that is not over.
const DOCUMENTS: TableDefinition<'_, &str, &[u8]> = TableDefinition::new("documents");
/// The other values of such a job, by its name: a [`PendingJob`].
const OPEN: TableDefinition<'_, &str, &[u8]> = TableDefinition::new("open");
/// The jobs that are over, in the order of their ends: a [`FinishedJob`].
const ENDED: TableDefinition<'_, u64, &[u8]> = TableDefinition::new("ended");

/// A job that is not over.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct PendingJob {
    /// Its place in the order of admission.
    pub order: u64,
    /// Of the document, in hexadecimal.
    pub hash: String,
    /// The file with its inputs.
    pub input: Option<String>,
    pub input_bytes: u64,
    /// How many runners had it.
    pub starts: u32,
    /// How often a runner was ended without notice while it worked.
    pub interrupted: u32,
}

/// A job that is over.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FinishedJob {
    pub id: String,
    pub reason: EndReason,
    pub problem: Option<Problem>,
}

/// A change of what is kept.
#[derive(Clone, Debug)]
pub(super) enum RecordChange {
    Waits { id: String, open: PendingJob, document: Vec<u8> },
    Ends(FinishedJob),
}

/// A job as the runner before left it.
#[derive(Clone, Debug)]
pub(super) struct InheritedJob {
    pub id: String,
    pub open: PendingJob,
    pub document: Vec<u8>,
    /// Whether it worked when that runner ended.
    pub was_running: bool,
}

/// A file with what was in it.
#[derive(Debug)]
pub(super) struct LoadedRecords {
    pub records: Records,
    pub left: Vec<InheritedJob>,
    pub ended: Vec<FinishedJob>,
    /// That something was lost.
    pub warning: Option<String>,
}

/// The file, which is opened again after it failed.
#[derive(Debug)]
pub(super) struct Records {
    folder: PathBuf,
    database: Option<Database>,
}

impl Records {
    /// Opens what is in `folder`; `working` are the jobs that worked when the runner before ended. A file that cannot be
    /// read is put aside, which the warning tells.
    ///
    /// # Errors
    ///
    /// When there can be no such file.
    pub(super) fn open(folder: &Path, working: &BTreeSet<String>) -> Result<LoadedRecords, String> {
        let mut records = Self { folder: folder.to_owned(), database: None };
        let wrong = match guarded(|| records.load(working)) {
            Ok((left, ended)) => return Ok(LoadedRecords { records, left, ended, warning: None }),
            Err(RecordsError::Damaged(wrong)) => wrong,
            Err(RecordsError::System(wrong)) => return Err(wrong),
        };
        records.database = None;
        let (file, broken) = (folder.join(FILE), folder.join(BROKEN));
        let _ = fs::remove_file(&broken).or_else(|_| fs::remove_dir_all(&broken));
        fs::rename(&file, &broken).map_err(|_| wrong.clone())?;
        let (left, ended) = guarded(|| records.load(working)).map_err(RecordsError::reason)?;
        let told =
            format!("{} cannot be read ({wrong}) and is now {BROKEN}: its jobs are lost", file.display());
        Ok(LoadedRecords { records, left, ended, warning: Some(told) })
    }

    /// Makes all of the changes or none.
    ///
    /// # Errors
    ///
    /// Those of the file. It is opened anew for the next changes.
    pub(super) fn change(&mut self, changes: &[RecordChange]) -> Result<(), String> {
        let done = guarded(|| {
            let write = self.database()?.begin_write()?;
            for change in changes {
                apply(&write, change)?;
            }
            Ok(write.commit()?)
        });
        if done.is_err() {
            self.database = None;
        }
        done.map_err(RecordsError::reason)
    }

    fn database(&mut self) -> Result<&Database, redb::Error> {
        if self.database.is_none() {
            let mut options = OpenOptions::new();
            // It holds what clients sent: for its owner alone.
            options.read(true).write(true).create(true).truncate(false).mode(0o600);
            let flags = i32::try_from((OFlags::NOFOLLOW | OFlags::NONBLOCK).bits()).unwrap_or(0);
            let file: File = options.custom_flags(flags).open(self.folder.join(FILE))?;
            let mut builder = Database::builder();
            builder.set_cache_size(CACHE_BYTES).set_check_integrity_on_open(true);
            self.database = Some(builder.create_with_backend(FileBackend::new(file)?)?);
        }
        self.database.as_ref().ok_or(redb::Error::DatabaseClosed)
    }

    /// Everything that is there, after what a new start changes.
    fn load(
        &mut self,
        working: &BTreeSet<String>,
    ) -> Result<(Vec<InheritedJob>, Vec<FinishedJob>), redb::Error> {
        let database = self.database()?;
        let write = database.begin_write()?;
        // Also makes the tables where they are missing.
        let left = left(&write, working)?;
        for job in &left {
            put_open(&write, &job.id, &job.open)?;
        }
        write.open_table(ENDED)?;
        write.commit()?;
        let ended = ended(database)?;
        if let Some(database) = &mut self.database {
            // Documents of jobs that are over leave room behind, which nothing else gives back.
            database.compact().map_err(|it| redb::Error::Corrupted(it.to_string()))?;
        }
        Ok((left, ended))
    }
}

/// The hash of a document, as [`PendingJob`] has it.
pub(super) fn hash(document: &[u8]) -> String {
    Sha256::digest(document).iter().map(|it| format!("{it:02x}")).collect()
}

/// Why the file could not be used.
#[derive(Debug)]
enum RecordsError {
    /// The content is damaged.
    Damaged(String),
    /// The system refuses for now; the content may be whole.
    System(String),
}

impl RecordsError {
    fn reason(self) -> String {
        match self {
            RecordsError::Damaged(reason) | RecordsError::System(reason) => reason,
        }
    }
}

/// The file's own checks end in a panic where it is damaged in a way that they did not expect.
fn guarded<T>(act: impl FnOnce() -> Result<T, redb::Error>) -> Result<T, RecordsError> {
    use std::io::ErrorKind::{InvalidData, IsADirectory, UnexpectedEof};
    let Ok(done) = catch_unwind(AssertUnwindSafe(act)) else {
        return Err(RecordsError::Damaged("it is damaged".to_owned()));
    };
    done.map_err(|error| match &error {
        redb::Error::Io(io) if !matches!(io.kind(), InvalidData | IsADirectory | UnexpectedEof) => {
            RecordsError::System(error.to_string())
        }
        redb::Error::DatabaseAlreadyOpen => RecordsError::System(error.to_string()),
        _ => RecordsError::Damaged(error.to_string()),
    })
}

fn left(write: &WriteTransaction, working: &BTreeSet<String>) -> Result<Vec<InheritedJob>, redb::Error> {
    let (opens, documents) = (write.open_table(OPEN)?, write.open_table(DOCUMENTS)?);
    let mut left = Vec::new();
    for entry in opens.iter()? {
        let (id, open) = entry?;
        let id = id.value().to_owned();
        let mut open: PendingJob = read(open.value())?;
        let document = documents.get(id.as_str())?.map(|it| it.value().to_vec()).unwrap_or_default();
        let was_running = working.contains(&id);
        open.starts = open.starts.saturating_add(1);
        open.interrupted = open.interrupted.saturating_add(u32::from(was_running));
        left.push(InheritedJob { id, open, document, was_running });
    }
    left.sort_by_key(|it| it.open.order);
    Ok(left)
}

fn ended(database: &Database) -> Result<Vec<FinishedJob>, redb::Error> {
    let table = database.begin_read()?.open_table(ENDED)?;
    table.iter()?.map(|entry| read(entry?.1.value())).collect()
}

fn apply(write: &WriteTransaction, change: &RecordChange) -> Result<(), redb::Error> {
    match change {
        RecordChange::Waits { id, open, document } => {
            write.open_table(DOCUMENTS)?.insert(id.as_str(), document.as_slice())?;
            put_open(write, id, open)
        }
        RecordChange::Ends(ended) => {
            write.open_table(DOCUMENTS)?.remove(ended.id.as_str())?;
            write.open_table(OPEN)?.remove(ended.id.as_str())?;
            let mut table = write.open_table(ENDED)?;
            let next = table.last()?.map_or(0, |(order, _)| order.value() + 1);
            table.insert(next, ended_bytes(ended).as_slice())?;
            // The numbers have no gaps: the oldest go first.
            table.retain(|order, _| next - order < MOST_ENDED as u64)?;
            Ok(())
        }
    }
}

fn put_open(write: &WriteTransaction, id: &str, open: &PendingJob) -> Result<(), redb::Error> {
    write.open_table(OPEN)?.insert(id, bytes(open).as_slice())?;
    Ok(())
}

fn ended_bytes(ended: &FinishedJob) -> Vec<u8> {
    let all = bytes(ended);
    if all.len() <= MOST_PROBLEM_BYTES {
        return all;
    }
    let mut short = ended.clone();
    if let Some(problem) = &mut short.problem {
        problem.diagnostics.clear();
    }
    bytes(&short)
}

fn bytes<T: Serialize>(record: &T) -> Vec<u8> {
    serde_json::to_vec(record)
        .expect("records have string keys and no fallible parts, so they always serialise")
}

fn read<T: serde::de::DeserializeOwned>(bytes: &[u8]) -> Result<T, redb::Error> {
    serde_json::from_slice(bytes).map_err(|error| redb::Error::Corrupted(error.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn open_of(order: u64, document: &[u8]) -> PendingJob {
        let hash = hash(document);
        PendingJob { order, hash, input: None, input_bytes: 0, starts: 1, interrupted: 0 }
    }

    fn waits(id: &str, order: u64) -> RecordChange {
        RecordChange::Waits { id: id.to_owned(), open: open_of(order, b"{}"), document: b"{}".to_vec() }
    }

    fn ends(id: &str) -> RecordChange {
        RecordChange::Ends(FinishedJob { id: id.to_owned(), reason: EndReason::Ok, problem: None })
    }

    #[test]
    fn what_waits_and_works_is_found_again_in_its_order() {
        let folder = tempfile::tempdir().expect("a folder");
        let mut records = Records::open(folder.path(), &BTreeSet::new()).expect("a new file").records;
        records.change(&[waits("b", 1), waits("a", 0), waits("c", 2), ends("c")]).expect("it is written");
        drop(records);
        for (working, interrupted) in [(vec!["a", "c"], 1), (vec![], 1), (vec!["a"], 2)] {
            let working = working.into_iter().map(str::to_owned).collect();
            let LoadedRecords { left, ended, warning, .. } =
                Records::open(folder.path(), &working).expect("it is there");
            let found: Vec<_> = left.iter().map(|it| (it.id.as_str(), it.open.interrupted)).collect();
            assert_eq!(found, [("a", interrupted), ("b", 0)]);
            assert_eq!((ended.len(), ended[0].id.as_str(), warning), (1, "c", None));
        }
    }

    #[test]
    fn the_newest_ends_are_kept() {
        let folder = tempfile::tempdir().expect("a folder");
        let mut records = Records::open(folder.path(), &BTreeSet::new()).expect("a new file").records;
        let all: Vec<RecordChange> = (0..MOST_ENDED + 50).map(|it| ends(&it.to_string())).collect();
        records.change(&all).expect("it is written");
        drop(records);
        let ended = Records::open(folder.path(), &BTreeSet::new()).expect("it is there").ended;
        assert_eq!((ended.len(), ended[0].id.as_str()), (MOST_ENDED, "50"));
    }

    #[test]
    fn a_damaged_file_is_put_aside() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join(FILE);
        let mut records = Records::open(folder.path(), &BTreeSet::new()).expect("a new file").records;
        records.change(&[waits("a", 0)]).expect("it is written");
        drop(records);
        let whole = std::fs::read(&file).expect("it is there");
        let flipped: Vec<u8> = whole.iter().map(|it| !it).collect();
        let spotted: Vec<u8> =
            whole.iter().enumerate().map(|(at, it)| if at % 97 == 0 { !it } else { *it }).collect();
        for damaged in [&whole[..whole.len() / 2], &whole[..100], b"garbage", &flipped, &spotted] {
            fs::write(&file, damaged).expect("it is ours");
            let LoadedRecords { mut records, left, warning, .. } =
                Records::open(folder.path(), &BTreeSet::new()).expect("a new file");
            assert!(left.is_empty() && warning.is_some_and(|it| it.contains(BROKEN)));
            records.change(&[waits("b", 0)]).expect("the new one works");
        }
        fs::remove_file(&file).expect("it is ours");
        fs::create_dir(&file).expect("a folder in its place");
        assert!(Records::open(folder.path(), &BTreeSet::new()).expect("a new file").warning.is_some());
    }

    #[test]
    fn a_file_that_cannot_be_opened_for_now_stays() {
        let folder = tempfile::tempdir().expect("a folder");
        let elsewhere = folder.path().join("elsewhere");
        let mut records = Records::open(folder.path(), &BTreeSet::new()).expect("a new file").records;
        records.change(&[waits("a", 0)]).expect("it is written");
        drop(records);
        let file = folder.path().join(FILE);
        fs::rename(&file, &elsewhere).expect("it is ours");
        std::os::unix::fs::symlink(&elsewhere, &file).expect("a link, which is not followed");
        Records::open(folder.path(), &BTreeSet::new()).expect_err("it is refused");
        assert!(file.is_symlink() && elsewhere.exists());
    }
}
