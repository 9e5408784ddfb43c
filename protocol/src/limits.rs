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
    /// One upload of input fields.
    pub upload_bytes: u64,
    pub job_memory_bytes: u64,
    pub jobs_at_once: u64,
    /// Beyond those that work.
    pub jobs_waiting: u64,
    pub run_ms: u64,
    pub compile_ms: u64,
    /// All results that are kept, and as much again of uploads; the oldest give way.
    pub kept_bytes: u64,
    pub connections: u64,
    /// For the line and headers of a request; a connection that is silent for longer is closed.
    pub head_ms: u64,
    /// For the body of a JSON request.
    pub body_ms: u64,
    /// For an upload.
    pub upload_ms: u64,
}

impl Limits {
    /// For files of this machine, which nobody sent: whole models beside a library.
    #[must_use]
    pub fn with_local_files(self) -> Self {
        Self { source_bytes: 16 * 1024 * 1024, files: 1024, ..self }
    }
}

impl Default for Limits {
    fn default() -> Self {
        const MIB: u64 = 1024 * 1024;
        Self {
            source_bytes: MIB,
            files: FILES as u64,
            body_bytes: 16 * MIB,
            upload_bytes: 1024 * MIB,
            job_memory_bytes: 8 * 1024 * MIB,
            jobs_at_once: 2,
            jobs_waiting: 50,
            run_ms: 600_000,
            compile_ms: 60_000,
            kept_bytes: 2048 * MIB,
            connections: 256,
            head_ms: 10_000,
            body_ms: 30_000,
            upload_ms: 600_000,
        }
    }
}
