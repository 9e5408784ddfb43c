//! The answer to a compilation: diagnostics, levels, and what the stencil takes.

use isobar_compiler::diag::Listing;
use serde::{Deserialize, Serialize};

use crate::diagnostic::{Diagnostic, Places, Position};

/// All that is known of a text.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Compiled {
    pub diagnostics: Vec<Diagnostic>,
    /// The stencils of the main file, in its order.
    pub stencils: Vec<String>,
    /// The one that was compiled.
    pub stencil: Option<String>,
    /// Every level that was reached, in the order of the journey.
    pub stages: Vec<StageText>,
    pub signature: Option<Signature>,
    /// What the passes did or had to leave, and why.
    pub remarks: Vec<Remark>,
    /// Milliseconds per door and pass, where there was a clock.
    pub timings: Vec<StepTime>,
}

/// A level, as text and as nodes.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct StageText {
    /// `definition`, `gtir`, `oir`, `tree`, `schedule`, `sdfg`, `c`.
    pub stage: String,
    pub text: String,
    /// A parent stands before its children.
    pub nodes: Vec<Node>,
}

/// A node of a level.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Node {
    pub id: String,
    pub kind: String,
    /// First line of the text, from 0, and the one after the last.
    pub lines: [u32; 2],
    /// Position of the node around it.
    pub parent: Option<usize>,
    /// Where the source asked for it: the statement, then the calls that inlined it.
    pub spans: Vec<Place>,
    /// The statements that it carries out, the same name at every level: nodes that share one are linked.
    pub links: Vec<String>,
}

/// A range of a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Place {
    pub file: String,
    pub start: Position,
    pub end: Position,
}

/// What a stencil takes.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Signature {
    pub name: String,
    pub fields: Vec<FieldParam>,
    pub scalars: Vec<ScalarParam>,
    pub min_levels: i64,
}

/// A field parameter.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FieldParam {
    pub name: String,
    pub dtype: String,
    /// `IJK`, `IJ`, `K`, ...
    pub axes: String,
    /// `none`, `read`, `write`, `read-write`.
    pub access: String,
    /// Per I, J, K: positions `lo` to `n + hi` are touched.
    pub boundary: [[i32; 2]; 3],
}

/// A scalar parameter.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ScalarParam {
    pub name: String,
    pub dtype: String,
    pub access: String,
    pub default: Option<serde_json::Value>,
}

/// A decision of the compiler.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Remark {
    pub pass: String,
    pub applied: bool,
    pub message: String,
    pub place: Option<Place>,
}

/// How long a step took.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StepTime {
    pub step: String,
    pub ms: f64,
}

impl StageText {
    /// The listing of a stage as it crosses a wire.
    #[must_use]
    pub fn new(stage: &str, listing: &Listing, places: &Places<'_>) -> Self {
        let nodes = listing.nodes.iter().map(|node| Node {
            id: node.id.clone(),
            kind: node.kind.to_owned(),
            lines: [node.lines.start, node.lines.end],
            parent: node.parent,
            spans: node
                .spans
                .iter()
                .map(|&span| {
                    let (file, start, end) = places.of(span);
                    Place { file, start, end }
                })
                .collect(),
            links: node.stmts.iter().map(ToString::to_string).collect(),
        });
        Self { stage: stage.to_owned(), text: listing.text.clone(), nodes: nodes.collect() }
    }
}
