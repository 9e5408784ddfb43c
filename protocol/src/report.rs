//! What the command line prints with `--format json`: one document, always with `diagnostics`.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::compile::{Remark, Signature, StageText, Trace};
use crate::diagnostic::Diagnostic;
use crate::field::FieldInfo;
use crate::job::{Backend, EndReason};

/// `isobar check`
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct CheckReport {
    /// Of all files, in the order they were named.
    pub diagnostics: Vec<Diagnostic>,
    pub files: Vec<CheckedFile>,
}

/// A file that was checked.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct CheckedFile {
    pub file: String,
    /// The stencils in it; there may be none.
    pub stencils: Vec<String>,
    /// What the compiled ones take, as far as they compile.
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
    /// What the passes of this level and those before it did or had to leave, where that was asked for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub remarks: Vec<Remark>,
    /// The schedule as a document of steps, where that was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub steps: Option<String>,
    /// The level before and after each of its passes, where that was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trace: Option<Trace>,
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
    /// The file that holds the fields, where one was asked for.
    pub out: Option<String>,
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
    /// What it had to move at least, where that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes: Option<u64>,
}

/// `isobar backends`
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct BackendsReport {
    pub diagnostics: Vec<Diagnostic>,
    pub backends: Vec<Backend>,
}
