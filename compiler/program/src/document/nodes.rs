//! The entries of a program document.

use serde::{Deserialize, Serialize};

use super::Entries;

/// A whole document.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProgramDocument {
    /// The version of the form: 1.
    pub isobar_program: u32,
    pub name: String,
    /// Texts of the stencils by path, as in a request.
    #[serde(default)]
    pub files: Entries<String>,
    #[serde(default)]
    pub grid: GridEntry,
    #[serde(default)]
    pub fields: Entries<FieldEntry>,
    #[serde(default)]
    pub scalars: Entries<ScalarEntry>,
    #[serde(default)]
    pub stencils: Entries<StencilEntry>,
    /// Groups of statements, put in where they are named.
    #[serde(default)]
    pub programs: Entries<Vec<StatementEntry>>,
    /// Plans by which this rank sends and receives in exchanges.
    #[serde(default, skip_serializing_if = "Entries::is_empty")]
    pub plans: Entries<PlanEntry>,
    /// The callbacks of `host` statements, for the caller that answers them.
    #[serde(default, skip_serializing_if = "Entries::is_empty")]
    pub hosts: Entries<HostEntry>,
    /// The arguments and the state that the caller reads behind a run; all of them where it says nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub results: Option<Vec<String>>,
    pub body: Vec<StatementEntry>,
}

/// A callback with its arguments, in the form of an object graph.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HostEntry {
    pub callback: String,
    #[serde(default)]
    pub args: Vec<serde_json::Value>,
    #[serde(default)]
    pub keywords: Entries<serde_json::Value>,
}

/// The plan of an exchange between ranks.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PlanEntry {
    pub tag: u32,
    pub neighbours: Vec<NeighbourEntry>,
}

/// The messages to and from another rank.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NeighbourEntry {
    pub rank: u32,
    pub send: Vec<StripEntry>,
    pub receive: Vec<StripEntry>,
}

/// A box of a field.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StripEntry {
    /// Among the fields of the exchange, from 0.
    pub field: u32,
    /// For each dimension, from the slowest to the fastest of the message: its number, the first index, points, and a step
    /// of 1 or -1.
    pub along: Vec<[i64; 4]>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub negated: bool,
}

/// The grid around the compute domain.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GridEntry {
    #[serde(default)]
    pub halo: u32,
    /// The edges of the tile that are this domain's own; all four where it says nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub edges: Option<Vec<EdgeEntry>>,
}

impl GridEntry {
    /// Leaves edges of the tile out that are not the domain's, in the order west, east, south, north.
    pub(crate) fn keep_edges(&mut self, are_own: [bool; 4]) {
        let all = [EdgeEntry::West, EdgeEntry::East, EdgeEntry::South, EdgeEntry::North];
        let given = self.edges.take().unwrap_or_else(|| all.to_vec());
        let kept = all.into_iter().zip(are_own).filter(|it| it.1 && given.contains(&it.0));
        self.edges = Some(kept.map(|it| it.0).collect());
    }
}

/// An edge of the tile.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum EdgeEntry {
    West,
    East,
    South,
    North,
}

/// The role of a field or scalar.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum RoleEntry {
    /// The caller's.
    Argument,
    /// The program's own, kept between runs.
    State,
    /// Given, and never written.
    Constant,
    /// Without a value at the start of a run, and gone at its end.
    Local,
}

/// A field, or another name for a part of one.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FieldEntry {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub role: Option<RoleEntry>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dtype: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub axes: Option<String>,
    /// Sizes along the axes, then those of the data dimensions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shape: Option<Vec<SizeEntry>>,
    /// The index of the first point of the compute domain, for each axis.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub origin: Option<Vec<i64>>,
    /// The axes along which it has one more point than the compute domain, each between two of its points: `I`, `J` or `IJ`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub staggered: Option<String>,
    /// A field with the same type, axes, shape, origin and staggering.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub like: Option<String>,
    /// The first value of a state; zero where it says nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub init: Option<serde_json::Value>,
    /// The field that this is a part of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub view: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data_index: Option<Vec<u32>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<PlaceEntry>,
}

/// A scalar.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ScalarEntry {
    pub role: RoleEntry,
    pub dtype: String,
    /// The value of a constant.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<serde_json::Value>,
    /// The first value of a state; zero where it says nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub init: Option<serde_json::Value>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<PlaceEntry>,
}

/// An integer, or a text as `I+7`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum SizeEntry {
    Number(i64),
    Text(String),
}

/// A stencil with its range.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StencilEntry {
    /// A module and a name in it: `main.lap`.
    pub function: String,
    #[serde(default)]
    pub externals: Entries<serde_json::Value>,
    /// Counted from the start of the compute domain, for all fields or by parameter.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub origin: Option<OriginEntry>,
    /// The whole compute domain where it says nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub domain: Option<[SizeEntry; 3]>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<PlaceEntry>,
}

/// One origin for all fields, or one for each parameter that has another, with `_all_` for the others.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum OriginEntry {
    All([i64; 3]),
    Each(Entries<[i64; 3]>),
}

impl Eq for Entries<[i64; 3]> {}

/// A place in one of the files, from 1.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PlaceEntry {
    pub file: String,
    pub line: u32,
    pub col: u32,
}

/// A field as an argument: its name, or a part of one without a name.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum ArgumentEntry {
    /// A field, or a scalar expression.
    Text(String),
    Bool(bool),
    Number(serde_json::Number),
    View(ViewEntry),
}

/// A part of a field at some index of its data dimensions.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ViewEntry {
    pub view: String,
    pub data_index: Vec<u32>,
}

/// A scalar expression, or a number.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum ScalarText {
    Text(String),
    Bool(bool),
    Number(serde_json::Number),
}

/// The phase of an exchange.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PhaseEntry {
    Start,
    Wait,
    Update,
}

/// How an exchange treats its fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ExchangeKindEntry {
    Scalar,
    Vector,
    Interface,
}

/// A statement: the entries of all kinds. `read` checks that those of one kind are there, and no others.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "lowercase")]
pub struct StatementEntry {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub args: Option<Entries<ArgumentEntry>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub program: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub r#for: Option<String>,
    /// Where it stops; where it starts and stops; with the step behind.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub range: Option<Vec<ScalarText>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub body: Option<Vec<StatementEntry>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub r#while: Option<ScalarText>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub r#if: Option<ScalarText>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub then: Option<Vec<StatementEntry>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub r#else: Option<Vec<StatementEntry>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub r#let: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dtype: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub be: Option<ScalarText>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub copy: Option<ArgumentEntry>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to: Option<ArgumentEntry>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fill: Option<ArgumentEntry>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub with: Option<ScalarText>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub swap: Option<[ArgumentEntry; 2]>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exchange: Option<Vec<ArgumentEntry>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<ExchangeKindEntry>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub width: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub phase: Option<PhaseEntry>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plan: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reads: Option<Vec<ArgumentEntry>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub writes: Option<Vec<ArgumentEntry>>,
    /// The scalars that it gives, with their types.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gives: Option<Entries<String>>,
    /// Whether it touches no field that it does not name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exact: Option<bool>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mark: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trap: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<PlaceEntry>,
}
