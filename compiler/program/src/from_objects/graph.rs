//! The object graph: what Python's live objects hold, as JSON.
//!
//! A walker in Python writes it. It has the texts of the methods, and the values of all that they name: numbers, fields,
//! stencils, other objects. Nothing in it was traced, so loops and run-time scalars are still in the texts.

use serde::Deserialize;
use serde_json::Value as Json;

use crate::document::Entries;
use crate::document::nodes::{FieldEntry, GridEntry, PlaceEntry, PlanEntry, ScalarEntry, StencilEntry};

/// An object graph with the method that is the program.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ObjectGraph {
    /// The version of this form: 1.
    pub isobar_objects: u32,
    pub name: String,
    /// The files of the stencils, and those of the methods, by name.
    pub files: Entries<String>,
    #[serde(default)]
    pub grid: GridEntry,
    #[serde(default)]
    pub fields: Entries<FieldEntry>,
    #[serde(default)]
    pub scalars: Entries<ScalarEntry>,
    /// For paths that stand for what the caller gives: what they are where no use tells.
    #[serde(default)]
    pub hints: Entries<GraphHint>,
    #[serde(default)]
    pub stencils: Entries<GraphStencil>,
    /// The plans of exchanges between ranks.
    #[serde(default)]
    pub plans: Entries<PlanEntry>,
    #[serde(default)]
    pub objects: Entries<GraphObject>,
    #[serde(default)]
    pub functions: Entries<GraphFunction>,
    /// The fields that the caller reads behind a run, beside those that it gives by paths; all where it says nothing.
    #[serde(default)]
    pub results: Option<Vec<String>>,
    pub entry: GraphEntry,
}

/// A stencil with the names of its parameters, in order.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GraphStencil {
    pub stencil: StencilEntry,
    pub params: Vec<String>,
    /// The types of the parameters. They type the arguments that have no type of their own. Object graphs of Python leave
    /// them out.
    #[serde(default)]
    pub kinds: Vec<Option<GraphParam>>,
}

/// The type of a parameter.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GraphParam {
    pub dtype: String,
    /// Those of a field; a number has none.
    #[serde(default)]
    pub axes: Option<String>,
    #[serde(default)]
    pub data_dims: Vec<u32>,
}

/// The annotation of a method's parameter.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GraphHint {
    #[serde(default)]
    pub kind: Option<GraphParam>,
    #[serde(default)]
    pub at: Option<PlaceEntry>,
}

/// An object with what the methods may ask it for.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GraphObject {
    /// For messages.
    pub class: String,
    #[serde(default)]
    pub attributes: Entries<Json>,
    /// Its methods, by name: functions of the graph.
    #[serde(default)]
    pub methods: Entries<String>,
}

/// A function with a text.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GraphFunction {
    pub file: String,
    /// The line of its `def`.
    pub line: u32,
    /// The values of the names that it takes from outside.
    #[serde(default)]
    pub names: Entries<Json>,
}

/// The call that is the program.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GraphEntry {
    pub function: String,
    /// The object whose method it is.
    #[serde(default)]
    pub object: Option<String>,
    #[serde(default)]
    pub args: Vec<Json>,
    #[serde(default)]
    pub keywords: Entries<Json>,
}
