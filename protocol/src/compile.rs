//! The answer to a compilation: diagnostics, levels, and what the stencil takes.

use isobar_compiler::backend::signature::{self, ParamKind};
use isobar_compiler::diag::{self, Listing};
use isobar_compiler::pipeline::Compilation;
use isobar_compiler::space::Axis;
use isobar_compiler::types::Value;
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
    /// The sizes of the dimensions behind the axes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub data_dims: Vec<u32>,
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

impl Compiled {
    /// A compilation as it crosses a wire; `timings` are the caller's, who has the clock.
    #[must_use]
    pub fn new(compilation: &Compilation, timings: Vec<StepTime>) -> Self {
        let places = Places::new(compilation.sources());
        Self {
            diagnostics: compilation.diagnostics.iter().map(|it| places.diagnostic(it)).collect(),
            stencils: compilation.stencils.iter().map(|(name, _)| name.clone()).collect(),
            stencil: compilation.stencil.clone(),
            stages: compilation
                .listings()
                .map(|(stage, listing)| StageText::new(stage.name(), listing, &places))
                .collect(),
            signature: compilation.signature.as_ref().map(Signature::new),
            remarks: compilation.remarks.iter().map(|it| Remark::new(it, &places)).collect(),
            timings,
        }
    }
}

impl Signature {
    /// A signature as it crosses a wire.
    #[must_use]
    pub fn new(signature: &signature::Signature) -> Self {
        let mut out =
            Self { name: signature.name.clone(), min_levels: signature.min_levels, ..Self::default() };
        for param in &signature.params {
            let (name, access) = (param.name.clone(), param.access.to_string());
            let dtype = param.kind.dtype().to_string();
            match &param.kind {
                ParamKind::Field { axes, data_dims, boundary, .. } => out.fields.push(FieldParam {
                    name,
                    dtype,
                    axes: axes.to_string(),
                    data_dims: data_dims.clone(),
                    access,
                    boundary: Axis::ALL.map(|axis| [boundary[axis.index()].lo, boundary[axis.index()].hi]),
                }),
                ParamKind::Scalar { default, .. } => {
                    out.scalars.push(ScalarParam { name, dtype, access, default: default.map(json) });
                }
            }
        }
        out
    }
}

/// A value as JSON; what JSON has no number for is spelled as externals spell it.
fn json(value: Value) -> serde_json::Value {
    match value {
        Value::Bool(it) => it.into(),
        Value::Float32(_) | Value::Float64(_) => {
            let it = value.as_f64();
            serde_json::Number::from_f64(it).map_or_else(
                || {
                    let name = if it.is_nan() {
                        "nan"
                    } else if it > 0.0 {
                        "inf"
                    } else {
                        "-inf"
                    };
                    name.into()
                },
                serde_json::Value::Number,
            )
        }
        Value::Int8(_) | Value::Int16(_) | Value::Int32(_) | Value::Int64(_) => value.as_i64().into(),
    }
}

impl Remark {
    /// A remark as it crosses a wire.
    #[must_use]
    pub fn new(remark: &diag::Remark, places: &Places<'_>) -> Self {
        let place = remark.origin.as_ref().map(|origin| {
            let (file, start, end) = places.of(origin.span());
            Place { file, start, end }
        });
        Self {
            pass: remark.pass.to_owned(),
            applied: remark.is_applied,
            message: remark.message.clone(),
            place,
        }
    }
}
