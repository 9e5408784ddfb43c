//! Every limit, in one place: the page, the runner, the documentation and the tests read these.

use serde::{Deserialize, Serialize};

/// Longest encoded share link, in characters of the fragment.
pub const LINK_CHARS: usize = 64 * 1024;
/// A link longer than this is offered with a warning: some programs cut it.
pub const LINK_WARN_CHARS: usize = 8 * 1024;
/// Largest state that a share link may inflate to.
pub const LINK_INFLATED_BYTES: usize = 1024 * 1024;
/// Longest name of a file, a stencil or a field, in characters.
pub const NAME_CHARS: usize = 128;
/// Most files in a project.
pub const FILES: usize = 256;
/// Points that the page runs in the tab without asking.
pub const TAB_POINTS: i64 = 16 * 1024 * 1024;

/// Limits of a runner.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Limits {
    pub source_bytes: u64,
    pub files: u64,
    /// The body of a JSON request.
    pub body_bytes: u64,
    /// Numbers, texts, lists and objects in such a document, keys too: each takes more memory than it has bytes.
    pub document_values: u64,
    /// One upload of input fields.
    pub upload_bytes: u64,
    pub job_memory_bytes: u64,
    /// Of all jobs that run at a time; a further one waits before its fields are made.
    pub jobs_memory_bytes: u64,
    pub jobs_at_once: u64,
    /// Beyond those that work.
    pub jobs_waiting: u64,
    /// The documents of all jobs that wait or work.
    pub waiting_bytes: u64,
    /// For a job that waits, until somebody asks for it: then its client counts as gone.
    pub abandoned_ms: u64,
    /// Of one job.
    pub threads: u64,
    pub run_ms: u64,
    pub compile_ms: u64,
    /// After it a compilation makes room for one that waits.
    pub compile_turn_ms: u64,
    /// All results that are kept, and as much again of uploads; the oldest give way.
    pub kept_bytes: u64,
    /// The events that one job may send: their number, the bytes of one event, and the bytes of all together.
    pub events: u64,
    pub event_bytes: u64,
    pub events_bytes: u64,
    /// Uploads that are kept; the oldest give way.
    pub uploads: u64,
    /// After it an upload is forgotten.
    pub upload_age_ms: u64,
    /// For the beginning of an upload, while others arrive.
    pub upload_wait_ms: u64,
    /// After it an upload makes room for one that waits, if it is slower than this or its client has more of them.
    pub upload_turn_ms: u64,
    pub upload_bytes_per_s: u64,
    pub connections: u64,
    /// Of one address. There are more in all, so that no address alone can take them.
    pub connections_per_address: u64,
    /// For the line and headers of a request; a connection that is silent for longer is closed.
    pub head_ms: u64,
    /// For the body of a JSON request.
    pub body_ms: u64,
    /// For an upload.
    pub upload_ms: u64,
    /// For a reader to take something of an answer that is there for it.
    pub write_ms: u64,
}

/// Most connections that a runner can be told to take: ten thousand who wait for events leave some for others.
pub const MOST_CONNECTIONS: u64 = 10_240;
/// Of one job, where the machine does not say how many are of use.
pub const MOST_THREADS: u64 = 1024;

impl Limits {
    /// For files of this machine, which nobody sent: whole models beside a library.
    #[must_use]
    pub fn with_local_files(self) -> Self {
        Self { source_bytes: 16 * 1024 * 1024, files: 1024, threads: MOST_THREADS, ..self }
    }
}

impl Default for Limits {
    fn default() -> Self {
        const MIB: u64 = 1024 * 1024;
        Self {
            source_bytes: MIB,
            files: FILES as u64,
            body_bytes: 2 * MIB,
            document_values: 100_000,
            upload_bytes: 1024 * MIB,
            job_memory_bytes: 8 * 1024 * MIB,
            jobs_memory_bytes: 16 * 1024 * MIB,
            jobs_at_once: 2,
            jobs_waiting: 50,
            waiting_bytes: 32 * MIB,
            abandoned_ms: 60_000,
            threads: MOST_THREADS,
            run_ms: 600_000,
            compile_ms: 60_000,
            compile_turn_ms: 5_000,
            kept_bytes: 2048 * MIB,
            events: 20_000,
            event_bytes: 4 * MIB,
            events_bytes: 8 * MIB,
            uploads: 64,
            upload_age_ms: 900_000,
            upload_wait_ms: 30_000,
            upload_turn_ms: 5_000,
            upload_bytes_per_s: 256 * 1024,
            connections: 256,
            connections_per_address: 64,
            head_ms: 10_000,
            body_ms: 30_000,
            upload_ms: 600_000,
            write_ms: 30_000,
        }
    }
}
