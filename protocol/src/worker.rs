//! Between the page and its worker: questions, and the answers that come back.
//!
//! Each message is a pair of JSON text and binary buffers; which buffers
//! accompany it stands with the variant.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::compile::Compiled;
use crate::diagnostic::Diagnostic;
use crate::field::{Difference, FieldInfo};
use crate::passes::{Around, Moment, PassStep};
use crate::report::MeasuredStep;
use crate::request::Request;
use crate::service::{Query, Told};

/// What the page asks.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Question {
    /// The edit, run or view it is asked for; the answer repeats it, and a late answer is dropped.
    pub revision: u64,
    pub ask: Ask,
}

/// What is to be done.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Ask {
    /// Answered by [`Said::Compiled`].
    Compile { request: Request },
    /// Compiles once more, watching the passes; answered by [`Said::Passes`].
    Passes { request: Request, moments: Vec<Moment> },
    /// What the editor asks about a file of the request's; answered by [`Said::Told`].
    Service { request: Request, file: String, query: Query },
    /// Runs `debug`, `webgpu` or `webgpu-fast` where the request asks for it, and else `numpy`; answered by [`Said::Progress`] now and then, at last by [`Said::Ran`] or [`Said::RunEnded`].
    /// Nothing is kept: a worker that runs can be ended at any time.
    Run { request: Request },
    /// Keeps fields as one of the two results, in place of those before; one buffer for each, in the form of
    /// [`FieldInfo`]. Answered by [`Said::Stored`].
    Store { which: Which, fields: Vec<FieldInfo> },
    /// Answered by [`Said::Slice`].
    Slice { of: Which, field: String, plane: Plane },
    /// Compares A and B, field by field; answered by [`Said::Compared`].
    Compare,
}

/// One of the two results that a worker keeps, or their difference.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Which {
    /// What `debug` computed in the tab.
    #[default]
    A,
    /// What a runner computed.
    B,
    /// A less B.
    Difference,
}

/// A plane through the compute domain.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Plane {
    /// The axis across it: `K` is the plan view.
    pub across: Across,
    /// Position along that axis.
    pub at: u64,
    /// The number of the element of the data dimensions, where the last index counts fastest.
    #[serde(default)]
    pub element: u64,
}

/// The axis that a plane cuts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Across {
    I,
    J,
    #[default]
    K,
}

/// What the worker answers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Answer {
    pub revision: u64,
    pub said: Said,
}

/// What it says.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Said {
    /// The worker has started; nobody asked.
    Ready,
    Compiled {
        compiled: Box<Compiled>,
        defaults: Defaults,
    },
    /// The moments that were asked for and reached, in the order of the question.
    Passes {
        steps: Vec<PassStep>,
        around: Vec<Around>,
    },
    Told {
        told: Told,
    },
    /// Statements of the run that are finished.
    Progress {
        done: u64,
        total: u64,
    },
    /// With one buffer for each field, in the form of its description.
    Ran {
        fields: Vec<FieldInfo>,
        timings: Vec<MeasuredStep>,
        /// How it computed and on what, where that is no matter of course.
        note: String,
    },
    /// The run ended without a result.
    RunEnded {
        message: String,
        diagnostics: Vec<Diagnostic>,
        /// The cell at which it stopped itself.
        cell: Option<[i64; 3]>,
    },
    Stored,
    /// With one buffer: the values as f64, rows from the low end of the second axis on.
    Slice {
        slice: Slice,
    },
    Compared {
        differences: Vec<Difference>,
    },
    /// The question could not be answered, as when a field does not exist.
    Failed {
        message: String,
    },
}

/// A plane of values.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Slice {
    pub of: Which,
    pub field: String,
    pub dtype: String,
    pub plane: Plane,
    /// Points along the first and along the second axis of the plane.
    pub width: u64,
    pub height: u64,
}

/// What a run takes where the request gives nothing: most of it stands in the text's run directives
/// (`# @domain`, `# @plot`, ...).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Defaults {
    pub title: String,
    pub about: String,
    pub domain: Option<[i64; 3]>,
    /// What to look at first.
    pub plots: Vec<Plot>,
    /// Generators by field, of the `# @input` lines.
    pub inputs: BTreeMap<String, String>,
    /// Values by name, of the `# @scalar` lines; in the form of a request.
    pub scalars: BTreeMap<String, serde_json::Value>,
    /// What the stencil and its functions import from `__externals__`, in the order of the text.
    pub externals: Vec<DeclaredExternal>,
}

/// An external that the text asks for.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct DeclaredExternal {
    pub name: String,
    /// What it is where the request says nothing, in the form of a request; `None` where it has no value then.
    pub value: Option<GivenValue>,
    pub wanted: Wanted,
}

/// What the text uses an external as, which decides how a page asks for it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Wanted {
    /// Also what nothing more is known of.
    #[default]
    Number,
    WholeNumber,
    Condition,
    Position,
    /// Its attributes are used.
    Object,
    /// One of these, each as a path from the main file; the likeliest first.
    Function(Vec<String>),
}

/// A value, and who gives it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct GivenValue {
    pub value: serde_json::Value,
    /// By an `# @external` line; else the compiler knows the name, as it does `i_start`.
    pub is_of_text: bool,
}

/// A field that is worth a look, and at which level.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Plot {
    pub field: String,
    pub k: Option<u64>,
}
