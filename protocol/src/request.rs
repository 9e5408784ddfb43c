//! The request document: all that decides a compilation or a run.
//!
//! `isobar --request`, `POST /v1/compile`, `POST /v1/jobs` and the page's worker take the same one.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::layout::UnitStrideAxis;
use crate::worker::Across;

/// A request to compile and run. Everything but the files and `main` may be left out.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Request {
    /// Texts by name.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub files: BTreeMap<String, String>,
    /// Instead of `files`, on the command line only: the main file, relative to the document.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// With `path`: further files or folders of modules.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub modules: Vec<String>,
    /// The file among `files` to start from; may be left out when there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub main: Option<String>,
    /// Which stencil; may be left out when the main file has one, or names one in `# @stencil`. Where several have one
    /// name, it stands behind those of the classes and functions around it: `Model.advect`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stencil: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub backend: Option<String>,
    /// Numbers, booleans, `null`, the strings `nan`, `inf`, `-inf`, and the objects
    /// `{dtype, value}`, `{function}`, `{enum, member}`, `{namespace}`, `{axis, index, offset}`.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub externals: BTreeMap<String, serde_json::Value>,
    /// Types by name; the keys `float` and `int` retype literals too.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub dtypes: BTreeMap<String, String>,
    /// 32 or 64: both literal precisions at once.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub precision: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub literal_int_precision: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub literal_float_precision: Option<u32>,
    /// Which physical constants `ndsl.constants` holds: `UFS` where it is left out, `GFDL` or `GEOS`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub constants: Option<Constants>,
    /// Where on its tile the domain lies, which says what NDSL's axis offsets are; the whole tile where it is left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tile: Option<Tile>,
    /// The result of `min` and `max` where an operand is NaN: `numpy` (NaN) where it is left out, or `c` (the
    /// first operand).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub minmax: Option<Arithmetic>,
    /// Which sign `%` and `mod` have: `numpy` (the divisor's) where it is left out, or `c` (the dividend's).
    #[serde(rename = "mod", skip_serializing_if = "Option::is_none")]
    pub modulo: Option<Arithmetic>,
    /// Points of the compute domain along I, J, K.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub domain: Option<[i64; 3]>,
    /// Of a program: the values that its exchanges store in halos; as its text says where this is left out, and else none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub halo: Option<HaloValues>,
    /// Index of the first compute point in each field; `_all_` for all others.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub origin: BTreeMap<String, Vec<i64>>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub scalars: BTreeMap<String, serde_json::Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fields: Option<FieldsInput>,
    /// Makes every field and scalar that is not given from its `# @input` or
    /// `# @scalar` line; entries here (name to generator) go before those lines.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub init: Option<BTreeMap<String, String>>,
    /// The part of the written fields that is answered; all of them where it is left out. A back end on a GPU
    /// copies nothing more back to the host.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub results: Option<Results>,
    /// Where the written fields go; on the command line only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub out: Option<String>,
    #[serde(skip_serializing_if = "Options::is_default")]
    pub options: Options,
    #[serde(skip_serializing_if = "Passes::is_default")]
    pub passes: Passes,
    /// The stages whose texts the answer of a compilation holds; every one where this is left out. No other text is
    /// made. A job has no such answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stages: Option<Vec<String>>,
    /// Measures instead of running once; no field is answered. Its back ends stand in the place of `backend`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bench: Option<Bench>,
    /// Looks for a faster schedule of `backend` instead of running once, and keeps it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tune: Option<Tune>,
}

/// How long is looked for a faster schedule.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Tune {
    /// How many schedules are tried at most; 24 where it is left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub candidates: Option<u32>,
    /// After so many seconds nothing new is begun; 120 where it is left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seconds: Option<u32>,
    /// Measures the time of the processor and not that of the clock, with one thread.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub processor_time: bool,
}

impl Tune {
    pub const CANDIDATES: u32 = 24;
    pub const SECONDS: u32 = 120;
}

/// The settings of a measurement.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Bench {
    pub backends: Vec<String>,
    /// How often each of them is called; 31 where it is left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rounds: Option<u32>,
    /// The axes along which arrays of callers lie that back ends of a CPU are measured on as well.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub layouts: Vec<UnitStrideAxis>,
}

impl Bench {
    /// As often each is called where nobody says how often.
    pub const ROUNDS: u32 = 31;
    pub const MOST_ROUNDS: u32 = 10_000;

    /// The axes of `layouts`, each once.
    #[must_use]
    pub fn axes(&self) -> Vec<UnitStrideAxis> {
        [UnitStrideAxis::I, UnitStrideAxis::J, UnitStrideAxis::K]
            .into_iter()
            .filter(|it| self.layouts.contains(it))
            .collect()
    }
}

/// Which passes of the compiler run, and what is kept of them. Nothing here changes a result.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Passes {
    /// Passes that do not run, as `oir/merge-horizontal-executions`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub skip: Vec<String>,
    /// The last pass; what comes behind it is not made.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stop_after: Option<String>,
    /// How many changes one of them may make.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<PassLimit>,
    /// The file among `files` that says how loops run, in the place of the passes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub schedule: Option<String>,
    /// The target of the schedule: `cpu` where it is left out, or a GPU: `gpu`, which is `h100`, or `h200`,
    /// `webgpu`, `lavapipe`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub device: Option<Device>,
    /// The maker of code for the loops of a processor: `c` where it is left out, or `native`. That code has the vectors
    /// of the machine, or of 256 bits without one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub code: Option<Code>,
    /// The machine that the schedule is made for. A run is scheduled for the machine that it runs on where this is
    /// left out; what is only printed, for a common one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub machine: Option<Machine>,
    /// How launches of a GPU are formed, where nothing forbids it: `points`, `P`, `T`, `R`, `C`, `S` or `L`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gpu_form: Option<GpuForm>,
    /// Along which axis neighbours lie side by side in memory: `i` where it is left out, `j` or `k`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub contiguous: Option<Contiguous>,
    /// Whether the answer holds the schedule as a document of steps.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub steps: bool,
    /// Whether the answer holds every level before and after each pass.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub trace: bool,
}

/// The properties of a machine that decide a schedule. Equal machines give equal schedules, wherever they are
/// made.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Machine {
    /// As many threads as can work at the same time.
    pub cores: u32,
    /// For data, the one next to the core first.
    pub caches: Vec<Cache>,
    /// The size of a cache line, in bytes.
    pub line_bytes: u32,
    /// The widest vector of the processor.
    pub vector_bytes: u32,
}

/// A cache of a machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Cache {
    pub bytes: u64,
    /// How many cores share it.
    pub cores: u32,
}

/// A kind of machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Device {
    Cpu,
    /// The same as [`Device::H100`].
    Gpu,
    H100,
    H200,
    WebGpu,
    Lavapipe,
}

/// A maker of code for loops.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Code {
    /// A C compiler, as for `openmp`.
    C,
    /// The process that runs it, as for `rayon`.
    Native,
}

/// How the statements of a launch share their work among the threads of a GPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum GpuForm {
    #[serde(rename = "points")]
    Points,
    #[serde(rename = "P")]
    Recomputed,
    #[serde(rename = "T")]
    Tiles,
    #[serde(rename = "R")]
    Rolled,
    #[serde(rename = "C")]
    Columns,
    #[serde(rename = "S")]
    Sweeps,
    #[serde(rename = "L")]
    Levels,
}

/// An axis along which neighbours lie side by side.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Contiguous {
    I,
    J,
    K,
}

/// At most so many decisions of a pass are carried out.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PassLimit {
    pub pass: String,
    pub decisions: usize,
}

impl Passes {
    fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

/// A set of physical constants.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum Constants {
    Ufs,
    Gfdl,
    Geos,
}

/// The values that exchanges of the only domain store in halos: nothing, those of the opposite edge, or of the nearest points.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum HaloValues {
    None,
    Periodic,
    ZeroGradient,
}

/// Whose meaning an operation has where NumPy and C++ differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Arithmetic {
    NumPy,
    C,
}

/// Where on a tile of the cubed sphere the domain lies: all of it, no edge, or one edge.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Tile {
    Single,
    Interior,
    West,
    East,
    South,
    North,
}

/// Where the input fields come from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum FieldsInput {
    /// The command line: a path of an `.npz`. The API: the id of an upload.
    Name(String),
    /// The data itself, by parameter name.
    Inline(BTreeMap<String, InlineField>),
}

/// An array in a document.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct InlineField {
    pub dtype: String,
    /// Points per axis of the field.
    pub shape: Vec<u64>,
    /// Base64 of the elements, little-endian, C order.
    pub data: String,
}

/// The part of the written fields that is answered.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Results {
    /// The names of some; all where it is left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fields: Option<Vec<String>>,
    /// A plane of those that have the axis, which then lack it; the others are answered whole.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub plane: Option<PlaneAt>,
}

/// A plane of the compute domain, halo included along its own axes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PlaneAt {
    /// The axis across it.
    pub across: Across,
    /// The point of the compute domain along that axis.
    pub at: u64,
}

/// How to run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Options {
    pub mode: Mode,
    /// Threads of the back end; all cores where it is missing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub threads: Option<u32>,
    /// Whether the code of `openmp` has a table of the stencil's lines, for debuggers and profilers.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub lines: bool,
    /// Whether a schedule is taken that was kept for this stencil; it is where this is left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tuned: Option<bool>,
}

impl Options {
    fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

/// Whether results may depend on the back end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    /// The bits of the `debug` back end.
    #[default]
    Reproducible,
    /// Products and sums may become one operation and change places: the last bits may differ, and with them
    /// whatever depends on them.
    Fast,
}

impl Mode {
    /// As documents spell it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Mode::Reproducible => "reproducible",
            Mode::Fast => "fast",
        }
    }
}
