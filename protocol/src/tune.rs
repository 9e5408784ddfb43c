//! Results of `isobar tune`, and the part of them that runs use.

use serde::{Deserialize, Serialize};

use crate::bench::Samples;
use crate::request::Mode;

/// Schedules of one stencil on one back end and domain, measured against the one that the compiler chooses.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Tuning {
    pub stencil: String,
    pub backend: String,
    pub domain: [i64; 3],
    pub threads: u32,
    pub mode: Mode,
    /// Under which name the fastest is kept: the hash of all that decides for which runs it is.
    pub key: String,
    /// The measured schedules: first the one that the compiler chooses, then the others from the fastest on.
    pub candidates: Vec<Candidate>,
    /// How many others say the same as one of these in the end.
    pub same: u32,
    /// How many were not tried, since there was no time or they were more than asked for.
    pub untried: u32,
    /// The position of the fastest that is faster than the first for certain; none where there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub chosen: Option<usize>,
    /// Whether it is kept, so that runs take it.
    pub is_kept: bool,
}

/// A schedule that was measured.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Candidate {
    /// In which it differs from the first.
    pub what: String,
    /// Of its calls; nothing where it was not called again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub calls: Option<Samples>,
    /// Its time as a part of that of the first in the same round.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ratio: Option<Samples>,
    /// Whether its results are those of the first, bit by bit. Another result, or a run that a statement ends, is a fault
    /// of the compiler.
    pub agrees: bool,
    /// The schedule as `--schedule` takes it.
    pub document: String,
}

/// A schedule that was kept for this stencil, and is taken in the place of the compiler's own.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Tuned {
    /// As in the list of the cache.
    pub key: String,
    pub backend: String,
    /// In which it differs from what the compiler chooses.
    pub what: String,
    /// Where it was measured.
    pub domain: [i64; 3],
    pub ms: f64,
    /// The compiler's own, in the same rounds.
    pub default_ms: f64,
}
