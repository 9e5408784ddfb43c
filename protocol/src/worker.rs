//! Between the page and its worker: questions, and the answers that come back.
//!
//! Each message is a pair of JSON text and binary buffers; which buffers
//! accompany it stands with the variant.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::bench::CallStep;
use crate::compile::Compiled;
use crate::diagnostic::{Diagnostic, Position};
use crate::field::{Difference, FieldInfo};
use crate::lesson::{LessonResult, Task};
use crate::passes::{Moment, PassDiff, PassStep};
use crate::picture::{Histogram, Line, Reading, Summary};
use crate::report::MeasuredStep;
use crate::request::Request;
use crate::service::{Query, QueryAnswer};
use crate::why::Why;

/// A question of the page.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Question {
    /// The edit, run or view it is asked for; the answer repeats it, and a late answer is dropped.
    pub revision: u64,
    pub ask: Ask,
}

/// The work that is asked for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Ask {
    /// Answered by [`AnswerBody::Compiled`].
    Compile { request: Request },
    /// Compiles once more, watching the passes; answered by [`AnswerBody::Passes`].
    Passes { request: Request, moments: Vec<Moment> },
    /// Compiles once more, for the graph as a file that DaCe reads; answered by [`AnswerBody::Graph`].
    Graph { request: Request },
    /// A question of the editor about a file of the request's; answered by [`AnswerBody::Told`].
    Service { request: Request, file: String, query: Query },
    /// Runs `debug`, `webgpu` or `webgpu-fast` where the request asks for it, otherwise `numpy`. Answered by
    /// [`AnswerBody::Progress`] now and then, at last by [`AnswerBody::Ran`] or [`AnswerBody::RunEnded`]. Nothing
    /// is kept: a worker that runs can be ended at any time.
    Run { request: Request },
    /// Takes time steps of a run that goes on, each from where the one before left the fields. It begins anew where it is
    /// told to, and where more than scalars differ from the request before. Answered by [`AnswerBody::Stepped`]
    /// or [`AnswerBody::RunEnded`].
    Step { request: Request, restart: bool, count: u64 },
    /// Keeps fields as one of the two results, in place of those before; one buffer for each, in the form of
    /// [`FieldInfo`]. Answered by [`AnswerBody::Stored`].
    Store { which: Which, fields: Vec<FieldInfo> },
    /// Answered by [`AnswerBody::Slice`].
    Slice { of: Which, field: String, plane: Plane },
    /// Summarises the plane, or all of the field where there is none; answered by [`AnswerBody::Survey`].
    Survey { of: Which, field: String, element: u64, plane: Option<Plane> },
    /// Values along an axis through a cell, and around it; answered by [`AnswerBody::Line`].
    Line { of: Which, field: String, element: u64, along: Across, at: [i64; 3] },
    /// The values of a cell in every field; answered by [`AnswerBody::Cell`].
    Cell { at: [i64; 3], element: u64 },
    /// The 27 cells around a cell of one field, itself among them; answered by [`AnswerBody::Around`].
    Around { of: Which, field: String, element: u64, at: [i64; 3] },
    /// All fields of a result as NumPy reads them; answered by [`AnswerBody::Archive`].
    Archive { of: Which },
    /// Compares A and B, field by field; answered by [`AnswerBody::Compared`].
    Compare,
    /// Holds a text against what a lesson asks; answered by [`AnswerBody::Checked`], or [`AnswerBody::Failed`]
    /// where the lesson is at fault.
    Check { task: Box<Task> },
}

/// One of the two results that a worker keeps, or their difference.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Which {
    /// The fields that `debug` computed in the tab.
    #[default]
    A,
    /// The fields that a runner computed.
    B,
    /// A less B.
    Difference,
    /// The same over the larger of the two values.
    Relative,
    /// How many values of the type lie between the two.
    Ulp,
}

impl Which {
    /// Whether it takes both results.
    #[must_use]
    pub fn is_of_both(self) -> bool {
        match self {
            Which::A | Which::B => false,
            Which::Difference | Which::Relative | Which::Ulp => true,
        }
    }
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
    /// Whether what the array has around the domain is shown as well.
    #[serde(default)]
    pub has_halo: bool,
}

/// The axis that a plane cuts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Across {
    I,
    J,
    #[default]
    K,
}

/// An answer of the worker.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Answer {
    pub revision: u64,
    pub said: AnswerBody,
}

/// The content of the answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AnswerBody {
    /// The worker has started; nobody asked.
    Ready,
    /// So many bytes of its program have arrived, unpacked; `packed` where they travelled as fewer. Its boot script
    /// says so, before there is a program.
    Loading {
        arrived: u64,
        packed: bool,
    },
    Compiled {
        compiled: Box<Compiled>,
        defaults: Box<Defaults>,
        /// Whether nothing behind the OIR is in it, because the second part of the program has not come yet.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        is_half: bool,
    },
    /// The second part of the program has come: whole answers are to be had. Nobody asked.
    Whole,
    /// The moments that were asked for and reached, in the order of the question.
    Passes {
        steps: Vec<PassStep>,
        around: Vec<PassDiff>,
    },
    /// None where the text has errors.
    Graph {
        text: Option<String>,
    },
    Told {
        told: QueryAnswer,
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
        /// The statements of a program, where it is one.
        #[serde(default)]
        calls: Vec<CallStep>,
        /// The GPU of the browser that it ran on, where it did.
        gpu: Option<OnGpu>,
    },
    /// With one buffer for each field that is written, in the form of its description.
    Stepped {
        /// The steps since the beginning.
        step: u64,
        fields: Vec<FieldInfo>,
        /// The time of a step, on the average of those that were asked for.
        ms: f64,
    },
    /// The run ended without a result.
    RunEnded {
        why: Why,
        diagnostics: Vec<Diagnostic>,
        /// The cell at which it stopped itself.
        cell: Option<[i64; 3]>,
    },
    Stored,
    /// With one buffer: the values as f64, rows from the low end of the second axis on.
    Slice {
        slice: Slice,
    },
    Survey {
        summary: Summary,
        histogram: Histogram,
    },
    /// With one buffer: the rows that [`Line`] tells of.
    Line {
        line: Line,
    },
    Cell {
        readings: Vec<Reading>,
    },
    /// With one buffer: 27 values as f64, along k, then j, then i, from the cell before to the cell behind.
    Around {
        /// Which of them the array has.
        is_there: Vec<bool>,
    },
    /// With one buffer: the bytes of a `.npz` file.
    Archive,
    Compared {
        differences: Vec<Difference>,
    },
    /// With a buffer for each field of `shown`, in its order.
    Checked {
        checked: LessonResult,
    },
    /// The question could not be answered, as when a field does not exist.
    Failed {
        why: Why,
    },
}

/// How a run on a GPU of the browser computed, and on what.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OnGpu {
    /// Whether every f64 was an f32.
    pub is_fast: bool,
    /// As the browser calls it; `None` where it does not.
    pub name: Option<String>,
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
    /// The positions of the first column and of the first row; negative in a halo.
    #[serde(default)]
    pub first: [i64; 2],
    /// Of the values of the domain.
    #[serde(default)]
    pub summary: Summary,
}

/// Default values of a run where the request gives none. Most of them come from the text's run directives:
/// `# @domain`, `# @plot`, ...
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Defaults {
    pub title: String,
    pub about: String,
    pub domain: Option<[i64; 3]>,
    /// The first views to show.
    pub plots: Vec<Plot>,
    /// Generators by field, of the `# @input` lines.
    pub inputs: BTreeMap<String, String>,
    /// Values by name, of the `# @scalar` lines; in the form of a request.
    pub scalars: BTreeMap<String, serde_json::Value>,
    /// The docstring's words on the parameters.
    pub documented: BTreeMap<String, Documented>,
    /// Between which values scalars are of interest, where the `# @scalar` lines tell.
    pub ranges: BTreeMap<String, [f64; 2]>,
    /// Whether `# @step` lines lead from one time step to the next.
    pub has_steps: bool,
    /// Whether a class was compiled, as a program of several stencils.
    #[serde(default)]
    pub is_program: bool,
    /// The names that the stencil and its functions import from `__externals__`, in the order of the text.
    pub externals: Vec<DeclaredExternal>,
    /// The values that were made up, so that the text runs as it stands.
    pub made: GuessedInputs,
    /// The stencils of all files, those of the main file first, each in the order of its text.
    pub stencils: Vec<StencilPlace>,
    /// The functions of the main file, where no file has a stencil.
    pub functions: Vec<FunctionSketch>,
    /// Why generators of the request cannot be read, by field.
    pub refused: BTreeMap<String, String>,
    /// The modules that the stencil needs and that are not among the files.
    pub missing: Vec<MissingModule>,
}

/// Values that a run needs and nobody gave, in the form of a request. They are plausible guesses by name.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct GuessedInputs {
    /// The first of several stencils, where none was chosen or there is none of that name.
    pub stencil: Option<String>,
    /// The name that the request has in its place.
    pub instead_of: Option<String>,
    pub domain: Option<[i64; 3]>,
    pub externals: BTreeMap<String, serde_json::Value>,
    pub scalars: BTreeMap<String, serde_json::Value>,
    /// Generators by field.
    pub init: BTreeMap<String, String>,
}

impl GuessedInputs {
    /// The request with what it does not say itself.
    #[must_use]
    pub fn complete(&self, mut request: Request) -> Request {
        if self.stencil.is_some() && request.stencil == self.instead_of {
            request.stencil.clone_from(&self.stencil);
        }
        request.domain = request.domain.or(self.domain);
        for (name, value) in &self.externals {
            request.externals.entry(name.clone()).or_insert_with(|| value.clone());
        }
        for (name, value) in &self.scalars {
            request.scalars.entry(name.clone()).or_insert_with(|| value.clone());
        }
        if !self.init.is_empty() {
            let init = request.init.get_or_insert_default();
            for (name, generator) in &self.init {
                init.entry(name.clone()).or_insert_with(|| generator.clone());
            }
        }
        request
    }
}

/// A stencil of the files, and where it is written.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct StencilPlace {
    pub file: String,
    /// As a request for that file names it.
    pub name: String,
    /// The name in its `def`.
    pub at: Position,
    /// Its first line, decorators included, and its last.
    pub lines: [u32; 2],
    /// Whether it is a class, and so a program of several stencils.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_class: bool,
}

/// Facts about a function that a stencil calls.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FunctionSketch {
    pub name: String,
    /// The parameters without a default.
    pub params: Vec<String>,
    /// How many values it returns.
    pub results: usize,
}

/// A module that a page asks for.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct MissingModule {
    /// `model.stencils.basic`
    pub module: String,
    /// `model/stencils/basic.py`
    pub path: String,
    /// The stencil's use of it.
    pub names: Vec<String>,
    /// Where it is first imported.
    pub file: String,
    pub at: Position,
}

/// A docstring's words on a parameter.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Documented {
    /// In a few words, as a picture's title has them.
    pub title: String,
    /// As it is written: `m/s`; empty where none is.
    pub unit: String,
}

/// An external that the text asks for.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct DeclaredExternal {
    pub name: String,
    /// Its value where the request gives none, in the form of a request; `None` where it has none then.
    pub value: Option<GivenValue>,
    pub wanted: ExternalValueKind,
}

/// The use of an external in the text, which decides how a page asks for it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ExternalValueKind {
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
    pub by: ValueGiver,
}

/// The giver of a value that no request has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ValueGiver {
    /// An `# @external` line.
    Line,
    /// The parameter of a constructor has it.
    Default,
    /// The compiler knows the name, as it does `i_start`.
    Compiler,
    /// It is made up: a plausible value for how it is used.
    MadeUp,
}

/// A field that is worth a look, and at which level.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Plot {
    pub field: String,
    pub k: Option<u64>,
}
