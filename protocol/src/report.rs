//! The documents of `--format json`, always with `diagnostics`.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::bench::{Benchmark, CallStep, CopyRate, GraphStep, Memory};
use crate::compile::{Remark, Signature, StageText, Trace};
use crate::diagnostic::Diagnostic;
use crate::field::{self, FieldInfo};
use crate::job::{Backend, EndReason};
use crate::layout::Layout;
use crate::request::{Machine, Mode};
use crate::tune::{Tuned, Tuning};

/// `isobar check`
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct CheckReport {
    /// Of all files, in the order they were named.
    pub diagnostics: Vec<Diagnostic>,
    pub files: Vec<CheckedFile>,
}

/// `isobar export`
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ExportReport {
    pub diagnostics: Vec<Diagnostic>,
    /// The folder that was asked for.
    pub output: String,
    pub stencils: Vec<String>,
    /// Below the folder; empty where nothing was written.
    pub files: Vec<String>,
}

/// A file that was checked.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct CheckedFile {
    pub file: String,
    /// The stencils in it; there may be none.
    pub stencils: Vec<String>,
    /// The signatures of the compiled stencils, as far as they compile.
    pub signatures: Vec<Signature>,
    /// How many fixes `--fix` carried out; the diagnostics are those of the text after them.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub fixes: usize,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands it over so")]
fn is_zero(n: &usize) -> bool {
    *n == 0
}

/// `isobar emit`
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct EmitReport {
    pub diagnostics: Vec<Diagnostic>,
    pub stencil: Option<String>,
    /// The level; its `stage` is there and its `text` empty where it was not reached.
    #[serde(flatten)]
    pub level: StageText,
    /// Changes and refusals of the passes of this level and those before it, where they were asked for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub remarks: Vec<Remark>,
    /// The schedule as a document of steps, where that was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub steps: Option<String>,
    /// The level before and after each of its passes, where that was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trace: Option<Trace>,
}

/// `isobar doctor`
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct DoctorReport {
    /// The fault that was found.
    pub diagnostics: Vec<Diagnostic>,
    pub checks: Vec<Check>,
}

/// Something that was looked at.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Check {
    pub name: String,
    pub state: CheckState,
    pub found: String,
    /// The remedy; empty where it is fine.
    pub help: String,
}

/// How something is that was looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CheckState {
    Fine,
    /// A runner works without it, and less well.
    Warning,
    /// A runner does not work.
    Wrong,
}

/// `isobar run`
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunReport {
    pub diagnostics: Vec<Diagnostic>,
    pub backend: String,
    pub reason: EndReason,
    /// The fields that were written.
    pub fields: Vec<FieldInfo>,
    /// Of each of them, halo included: the first 16 digits of the SHA-256 of its bytes.
    pub hashes: BTreeMap<String, String>,
    /// Of each step of the work.
    pub timings: Vec<MeasuredStep>,
    /// `fast` where the bits may differ from those of `debug`.
    #[serde(default)]
    pub mode: Mode,
    /// The most memory that the run needed at a time; nothing where it was refused before that was known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory: Option<Memory>,
    /// The copy that the rate of `run` is held against.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub copy: Option<CopyRate>,
    /// How the fields lay that the call was given, and what was made of that; nothing of back ends that do not tell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub layout: Option<Layout>,
    /// Where the time of the call went, step by step of the graph.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub steps: Vec<GraphStep>,
    /// Where the time of a program went, statement by statement.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub calls: Vec<CallStep>,
    /// The schedule that was kept for it, where it had another than the compiler chooses.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tuned: Option<Tuned>,
    /// The file that holds the fields, where one was asked for.
    pub out: Option<String>,
}

/// `isobar bench`
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BenchReport {
    pub diagnostics: Vec<Diagnostic>,
    pub reason: EndReason,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory: Option<Memory>,
    /// Nothing where the stencil or the run failed.
    pub benchmark: Option<Benchmark>,
    /// The compiler's levels, which all back ends share, and the other steps of the job.
    pub timings: Vec<MeasuredStep>,
}

/// `isobar tune`
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TuneReport {
    pub diagnostics: Vec<Diagnostic>,
    pub reason: EndReason,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory: Option<Memory>,
    /// Nothing where the stencil or the run failed.
    pub tuning: Option<Tuning>,
    /// The file with the fastest schedule, where one was asked for.
    pub output: Option<String>,
}

/// `isobar compare --passes` and `isobar bisect`
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct CompareReport {
    pub diagnostics: Vec<Diagnostic>,
    pub stencil: Option<String>,
    /// The doors and passes behind which the stencil was run.
    pub steps: Vec<String>,
    pub domains: Vec<[i64; 3]>,
    /// The first that differs from what the stencil means; nothing where all agree.
    pub difference: Option<Difference>,
    /// The results of back ends, each held against `debug`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub backends: Vec<BackendComparison>,
}

/// The results of a back end, held against those of `debug`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BackendComparison {
    pub backend: String,
    /// Why its run ended.
    pub reason: EndReason,
    /// Every field that the stencil writes.
    pub fields: Vec<field::Difference>,
    /// Of all elements that differ, one that the earliest statement wrote.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first: Option<FirstElement>,
}

/// An element that differs, and where in the text it was written.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FirstElement {
    pub field: String,
    /// Per dimension: the position in the compute domain, then indices into data.
    pub at: Vec<i64>,
    /// As text that reads back to the same bits: of `debug`, and of the back end.
    pub values: [String; 2],
    /// Lines of the statement, counted from 1, the first and the last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lines: Option<[u32; 2]>,
}

/// A step of the compiler whose outcome differs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Difference {
    pub step: String,
    /// The change of the pass with which it differs first, counted from 1; `isobar bisect` looks for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub change: Option<usize>,
    /// Decides the order in which it shows; none where it shows in the order of the text.
    pub seed: Option<u64>,
    pub domain: [i64; 3],
    /// A sentence.
    pub what: String,
}

/// How long a step of a run took.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MeasuredStep {
    pub step: String,
    pub ms: f64,
    /// The least bytes that it had to move, where that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes: Option<u64>,
}

/// `isobar backends`
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct BackendsReport {
    pub diagnostics: Vec<Diagnostic>,
    pub backends: Vec<Backend>,
    /// The machine that schedules of runs are made for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub machine: Option<Machine>,
    /// Where each value of it is from.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub machine_from: BTreeMap<String, String>,
}

/// `isobar config`
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ConfigReport {
    pub diagnostics: Vec<Diagnostic>,
    pub values: Vec<ConfigValue>,
}

/// A value that decides how things run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ConfigValue {
    pub name: String,
    pub value: String,
    /// The variable or file that gave it, or could have.
    pub from: String,
}

/// `isobar cache`
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct CacheReport {
    pub diagnostics: Vec<Diagnostic>,
    /// The folder; nothing where there is none.
    pub folder: Option<String>,
    /// The one that was used last comes first.
    pub entries: Vec<CacheEntry>,
    /// The schedules that are kept, by stencil.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tuned: Vec<TunedEntry>,
    /// How many entries were removed, where that was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub removed: Option<usize>,
    /// Of `explain`: whether a run finds its code, and if not, why.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub explanation: Option<Explanation>,
}

/// Compiled code that is kept.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CacheEntry {
    /// Whose code it is, as `openmp`.
    #[serde(default)]
    pub backend: String,
    /// The hash of all that decides the code.
    pub key: String,
    pub stencil: String,
    pub bytes: u64,
    /// Whether it is as it was written.
    pub is_whole: bool,
    /// Seconds since it was made, or used last.
    #[serde(default)]
    pub unused_s: u64,
}

/// A schedule that is kept.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TunedEntry {
    pub stencil: String,
    pub threads: u32,
    #[serde(flatten)]
    pub tuned: Tuned,
}

/// Whether compiled code is found.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Explanation {
    pub key: String,
    pub is_hit: bool,
    /// The entry that is most like it, where it is not found.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nearest: Option<String>,
    /// The differences from that one: `text`, `flags`, `compiler`, `processor`, `version`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub differs: Vec<String>,
}
