//! Our half: compiled and run here, and written down for gt4py.

use std::collections::BTreeMap;
use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use isobar_compiler::call::array::Array;
use isobar_compiler::call::launch::{Argument, Call, ScalarInput};
use isobar_compiler::call::signature::{AccessKind, ParamKind, Signature};
use isobar_compiler::debug::{self, NoControl};
use isobar_compiler::diag::Severity;
use isobar_compiler::inputs;
use isobar_compiler::pipeline::Compilation;
use isobar_compiler::space::Domain;
use isobar_compiler::types::Value;
use isobar_runner::npz;
use serde_json::{Map, Value as Json, json};

use super::handed;
use super::subject::Subject;
use super::values::physical;
use crate::conformance;

/// Our result for a stencil.
#[derive(Clone, Debug)]
pub enum Ours {
    /// The written fields after a run, whole arrays.
    Ran(BTreeMap<String, Array>),
    /// It compiles, but the run with these inputs ended early.
    NotRun(String),
    Refused {
        code: &'static str,
        message: String,
    },
    Crashed(String),
}

/// One comparison: our result, and where gt4py finds the same stencil.
#[derive(Clone, Debug)]
pub struct Prepared {
    pub id: String,
    pub ours: Ours,
    /// The codes of the warnings.
    pub warnings: Vec<&'static str>,
    /// Whether it stands on a conformance page, which says what is refused.
    pub is_of_page: bool,
    /// An entry of `cases.json`.
    pub case: Json,
    pub folder: PathBuf,
}

/// Compiles and runs a stencil, and writes its files and inputs below `root`.
///
/// # Errors
///
/// When a file cannot be written.
pub fn prepare(subject: &Subject, number: usize, root: &Path) -> Result<Prepared> {
    let id = format!("{number:04}");
    let folder = root.join(&id);
    fs::create_dir_all(&folder)?;
    // The stencils of a checkout share its files.
    let is_alone = subject.project.files.len() == 1;
    let source = if is_alone { folder.clone() } else { root.join(&subject.origin) };
    if is_alone || !source.exists() {
        handed::write_files(&subject.project, &source)?;
    }
    let mut case = json!({
        "id": id,
        "folder": folder,
        "source": source,
        "files": subject.project.files.keys().collect::<Vec<_>>(),
        "main": subject.project.main,
        "stencil": subject.stencil,
        "precision": subject.precision,
        "externals": handed::externals(&subject.config, &[]),
        "dtypes": subject.config.dtypes,
        "accepted": false,
        "backends": ["numpy", "debug"],
        "written": [],
        "scalars": {},
        "origin": {},
    });
    let mut warnings = Vec::new();
    let done = catch_unwind(AssertUnwindSafe(|| {
        let compilation = subject.compile();
        if compilation.has_errors() {
            let first = compilation.notes.diagnostics.iter().find(|it| it.severity == Severity::Error);
            let (code, message) = first.map_or(("", String::new()), |it| (it.code.0, it.message.clone()));
            return Ok(Ours::Refused { code, message });
        }
        warnings = compilation.notes.diagnostics.iter().map(|it| it.code.0).collect();
        let config = subject.config.clone().for_domain(compilation.front.directives.domain);
        case["externals"] = json!(handed::externals(&config, &compilation.front.externals));
        accepted(subject, &compilation, &mut case, &folder)
    }));
    let ours = match done {
        Ok(ours) => ours?,
        Err(panic) => {
            let text = panic.downcast_ref::<&str>().map(|it| (*it).to_owned());
            Ours::Crashed(text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_default())
        }
    };
    Ok(Prepared { id, ours, warnings, is_of_page: subject.block.is_some(), case, folder })
}

/// The run of a stencil that compiles, and what gt4py needs for the same one.
fn accepted(subject: &Subject, compilation: &Compilation, case: &mut Json, folder: &Path) -> Result<Ours> {
    let signature = compilation.front.signature.as_ref().context("no signature")?;
    let call = call(subject, compilation, signature)?;
    case["accepted"] = json!(true);
    case["domain"] = json!(call.domain);
    // A `while` of gt4py's `numpy` evaluates its condition over whole arrays.
    if subject.has_while() {
        case["backends"] = json!(["debug"]);
    }
    case["origin"] = call.origin.iter().map(|(name, it)| (name.clone(), json!(it))).collect();
    case["scalars"] = scalars(signature, &call);
    let written = signature.params.iter().filter(|it| it.access.is_written());
    case["written"] = written.map(|it| json!(it.name)).collect();
    write_inputs(&call, &folder.join("in.npz"))?;
    run(compilation, call)
}

/// Compiles a stencil and runs it here.
///
/// # Errors
///
/// When it does not compile.
pub fn ours(subject: &Subject) -> Result<Ours> {
    let compilation = subject.compile();
    let signature = compilation.front.signature.as_ref().filter(|_| !compilation.has_errors());
    let call = call(subject, &compilation, signature.context("it does not compile")?)?;
    run(&compilation, call)
}

/// The inputs that the subject says; others are random, and depend on its name alone.
///
/// # Errors
///
/// When the subject describes inputs that cannot be made.
pub fn call(subject: &Subject, compilation: &Compilation, signature: &Signature) -> Result<Call> {
    if let Some(block) = &subject.block
        && compilation.front.directives.domain.is_some()
    {
        return conformance::call(block, compilation, signature);
    }
    let Domain { i, j, k } = subject.domain;
    let domain = Domain::new(i, j, k.max(signature.min_levels));
    let seed = subject.name.bytes().fold(7_u64, |hash, byte| hash.wrapping_mul(31).wrapping_add(byte.into()));
    Ok(inputs::call_for(signature, &physical(signature, seed % 100_000), domain))
}

fn run(compilation: &Compilation, call: Call) -> Result<Ours> {
    let signature = compilation.front.signature.as_ref().context("no signature")?;
    let mut launch = match compilation.front.bind(call) {
        Ok(launch) => launch,
        Err(wrong) => {
            let told: Vec<_> = wrong.iter().map(|it| format!("{} {}", it.code, it.message)).collect();
            return Ok(Ours::NotRun(told.join("; ")));
        }
    };
    let (oir, extents) = (
        compilation.front.oir.as_ref().context("no OIR")?,
        compilation.front.extents.as_ref().context("no extents")?,
    );
    if let Err(stop) = debug::run(oir, extents, &mut launch, &mut NoControl) {
        return Ok(Ours::NotRun(format!("{stop:?}")));
    }
    let arguments = signature.params.iter().zip(launch.arguments);
    let written = arguments.filter_map(|(param, argument)| match argument {
        Argument::Field(field) if param.access.is_written() => Some((param.name.clone(), field.array)),
        _ => None,
    });
    Ok(Ours::Ran(written.collect()))
}

fn scalars(signature: &Signature, call: &Call) -> Json {
    let mut found = Map::new();
    for param in signature.params.iter().filter(|it| it.access != AccessKind::None) {
        let ParamKind::Scalar { default, .. } = &param.kind else { continue };
        let given = call.scalars.get(&param.name).copied().or(default.map(ScalarInput::Typed));
        let value = match given {
            Some(ScalarInput::Bool(it)) => json!(it),
            Some(ScalarInput::Int(it)) => json!(it),
            Some(ScalarInput::Float(it)) => json!(it),
            Some(ScalarInput::Typed(Value::Bool(it))) => json!(it),
            Some(ScalarInput::Typed(it)) if it.dtype().is_int() => json!(it.as_i64()),
            Some(ScalarInput::Typed(it)) => json!(it.as_f64()),
            None => continue,
        };
        found.insert(param.name.clone(), value);
    }
    Json::Object(found)
}

fn write_inputs(call: &Call, path: &Path) -> Result<()> {
    let bytes: Vec<_> = call.fields.iter().map(|(name, it)| (name, it, it.to_c_order_le_bytes())).collect();
    let arrays = bytes.iter().map(|(name, array, bytes)| {
        let shape = array.shape.iter().map(|&it| it as u64).collect();
        (name.as_str(), array.dtype().name(), shape, bytes.as_slice())
    });
    Ok(npz::write(fs::File::create(path)?, arrays)?)
}
