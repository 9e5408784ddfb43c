//! The answer to a compilation: diagnostics, levels, and what the stencil takes.

use isobar_ground::call::signature::{self, ParamKind};
use isobar_ground::diag::{self, Listing};
use isobar_ground::pass::{self, Notes, StepKind, TimedStep};
use isobar_ground::space::Axis;
use isobar_ground::types::Value;
use isobar_reference::front::{Front, Stage};
use serde::{Deserialize, Serialize};

use crate::diagnostic::{Diagnostic, Position, SpanResolver};

/// All that is known of a text.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Compiled {
    pub diagnostics: Vec<Diagnostic>,
    /// The stencils of the main file, in its order; where several have one name, by their paths, as `Model.advect`.
    pub stencils: Vec<String>,
    /// The one that was compiled.
    pub stencil: Option<String>,
    /// Those of the wanted stages that were reached, in the order of the journey.
    pub stages: Vec<StageText>,
    pub signature: Option<Signature>,
    /// The changes that passes made or had to refuse, and why.
    pub remarks: Vec<Remark>,
    /// The statements that passes removed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tombstones: Vec<Tombstone>,
    /// The schedule as a document that gives it again, where that was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub steps: Option<String>,
    /// Values that passes measured.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub log: Vec<Logged>,
    /// The levels before and after each pass, where they were asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trace: Option<Trace>,
    /// Milliseconds per door and pass, where there was a clock.
    pub timings: Vec<StepTime>,
}

/// A level, as text and as nodes.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct StageText {
    /// By its name, as `oir`.
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
    pub spans: Vec<SourceRange>,
    /// The statements that it carries out, the same name at every level: nodes that share one are linked.
    pub links: Vec<String>,
}

/// A range of a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SourceRange {
    pub file: String,
    pub start: Position,
    pub end: Position,
}

/// The parameters of a stencil.
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
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Remark {
    pub pass: String,
    pub applied: bool,
    pub message: String,
    /// Of the statements that it is about.
    pub places: Vec<SourceRange>,
    /// The statements themselves, as nodes are linked to them.
    pub links: Vec<String>,
    /// Bytes that the whole stencil moves, as predicted: without the change, and with it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub traffic: Option<[f64; 2]>,
}

/// A statement that a pass removed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tombstone {
    /// The statement, as nodes of the levels before are linked to it.
    pub link: String,
    pub place: SourceRange,
    pub stage: String,
    pub pass: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// A value that a pass measured.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Logged {
    pub pass: String,
    pub name: String,
    /// The meaning of the value, with its unit.
    pub about: String,
    pub value: serde_json::Value,
}

/// Levels before and after each pass. Steps share the nodes that did not change.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Trace {
    pub nodes: Vec<TraceNode>,
    pub steps: Vec<TraceStep>,
}

/// A node of a level, as it was at some time.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TraceNode {
    pub kind: String,
    /// The statements that it carries out itself.
    pub links: Vec<String>,
    /// Its lines and the nodes inside, in order.
    pub parts: Vec<TracePart>,
}

/// A line, or a node by its position; with spaces before it, beyond those of the node around.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum TracePart {
    Line(usize, String),
    Node(usize, usize),
}

/// A level after a pass, or as it was lowered.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TraceStep {
    pub stage: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pass: Option<String>,
    /// The node that is the whole level.
    pub node: usize,
    /// The lines that the pass changed.
    pub changes: Vec<Change>,
}

/// A line of what a pass changed: the mark ` `, `-`, `+`, or `.` for lines that stayed, and the text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Change(pub char, pub String);

/// How long a step took.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StepTime {
    pub step: String,
    pub ms: f64,
}

impl StepTime {
    /// Doors and passes as they were timed, in milliseconds; a pipeline is the sum of its passes.
    #[must_use]
    pub fn of(times: &[TimedStep]) -> Vec<Self> {
        let own = times.iter().filter(|it| it.step.kind != StepKind::Pipeline);
        own.map(|it| Self { step: it.step.name.to_owned(), ms: it.took }).collect()
    }
}

/// Bytes as people read them, with decimal units.
#[must_use]
pub fn bytes(n: f64) -> String {
    match n {
        _ if n >= 1e9 => format!("{:.2} GB", n / 1e9),
        _ if n >= 1e6 => format!("{:.2} MB", n / 1e6),
        _ if n >= 1e3 => format!("{:.2} kB", n / 1e3),
        _ => format!("{n:.0} B"),
    }
}

impl StageText {
    /// The listing of a stage as it crosses a wire.
    #[must_use]
    pub fn new(stage: &str, listing: &Listing, places: &SpanResolver<'_>) -> Self {
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
                    SourceRange { file, start, end }
                })
                .collect(),
            links: node.stmts.iter().map(ToString::to_string).collect(),
        });
        Self { stage: stage.to_owned(), text: listing.text.clone(), nodes: nodes.collect() }
    }
}

impl Compiled {
    /// A stencil as it crosses a wire, with the notes of its compilation and these texts. `timings` are the
    /// caller's, who has the clock.
    #[must_use]
    pub fn new<'a>(
        front: &Front,
        notes: &Notes,
        texts: impl IntoIterator<Item = (Stage, &'a Listing)>,
        timings: Vec<StepTime>,
    ) -> Self {
        let places = SpanResolver::new(front.sources());
        Self {
            diagnostics: notes.diagnostics.iter().map(|it| places.diagnostic(it)).collect(),
            stencils: front.stencils.iter().map(|(name, _)| name.clone()).collect(),
            stencil: front.stencil.clone(),
            stages: texts.into_iter().map(|(of, it)| StageText::new(of.name(), it, &places)).collect(),
            signature: front.signature.as_ref().map(|it| {
                let signature = Signature::new(it);
                // Of two with one name it tells which.
                Signature { name: front.stencil.clone().unwrap_or(signature.name), ..signature }
            }),
            remarks: notes.remarks.iter().map(|it| Remark::new(it, &places)).collect(),
            tombstones: notes.tombstones.iter().map(|it| Tombstone::new(it, &places)).collect(),
            steps: None,
            log: notes.log.iter().map(Logged::new).collect(),
            trace: notes.trace.as_ref().map(Trace::new),
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
    pub fn new(remark: &diag::Remark, places: &SpanResolver<'_>) -> Self {
        Self {
            pass: remark.pass.to_owned(),
            applied: remark.is_applied,
            message: remark.message.clone(),
            places: remark.origins.iter().map(|it| place(it.span(), places)).collect(),
            links: remark.origins.iter().map(|it| it.stmt.to_string()).collect(),
            traffic: remark.traffic.map(|it| [it.before, it.after]),
        }
    }
}

fn place(span: diag::Span, places: &SpanResolver<'_>) -> SourceRange {
    let (file, start, end) = places.of(span);
    SourceRange { file, start, end }
}

impl Tombstone {
    fn new(it: &diag::Tombstone, places: &SpanResolver<'_>) -> Self {
        Self {
            link: it.origin.stmt.to_string(),
            place: place(it.origin.span(), places),
            stage: it.level.to_owned(),
            pass: it.pass.to_owned(),
            reason: it.reason.clone(),
        }
    }
}

impl Logged {
    fn new(it: &pass::LogEntry) -> Self {
        Self {
            pass: it.pass.to_owned(),
            name: it.point.name.to_owned(),
            about: it.point.about.to_owned(),
            value: it.value.to_json(),
        }
    }
}

impl Trace {
    fn new(trace: &pass::Trace) -> Self {
        let part = |it: &pass::TraceItem| match it {
            pass::TraceItem::Line { indent, text } => TracePart::Line(*indent, text.clone()),
            pass::TraceItem::Node { indent, node } => TracePart::Node(*indent, node.index()),
        };
        let nodes = trace.nodes().iter().map(|it| TraceNode {
            kind: it.kind.to_owned(),
            links: it.stmts.iter().map(ToString::to_string).collect(),
            parts: it.parts.iter().map(part).collect(),
        });
        let steps = trace.steps.iter().enumerate().map(|(at, it)| TraceStep {
            stage: it.level.to_owned(),
            pass: it.pass.map(str::to_owned),
            node: it.after.index(),
            changes: trace
                .before(at)
                .filter(|before| before.after != it.after)
                .map(|before| trace.changes(before.after, it.after).into_iter().map(Change::from).collect())
                .unwrap_or_default(),
        });
        Self { nodes: nodes.collect(), steps: steps.collect() }
    }
}

impl From<pass::ComparedLine> for Change {
    fn from(change: pass::ComparedLine) -> Self {
        match change {
            pass::ComparedLine::Same(line) => Self(' ', line),
            pass::ComparedLine::Kept(1) => Self('.', "1 line".to_owned()),
            pass::ComparedLine::Kept(n) => Self('.', format!("{n} lines")),
            pass::ComparedLine::Removed(line) => Self('-', line),
            pass::ComparedLine::Added(line) => Self('+', line),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::bytes;

    #[test]
    fn bytes_have_the_unit_that_makes_them_short() {
        assert_eq!([12.0, 1500.0, 2.5e9].map(bytes), ["12 B", "1.50 kB", "2.50 GB"]);
    }
}
