//! Our half: the graph as files, the inputs, and what they must become.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result, bail};
use isobar_compiler::call::array::Array;
use isobar_compiler::call::launch::{Argument, FieldArgument, Launch};
use isobar_compiler::call::signature::ParamKind;
use isobar_compiler::debug::{self, NoControl};
use isobar_compiler::expr::{Expr, ExprKind};
use isobar_compiler::oir::nodes::Stencil;
use isobar_compiler::pipeline::{Compilation, NoHook};
use isobar_compiler::sdfg::file::json::{ControlFlowStyle, to_json};
use isobar_compiler::sdfg::nodes::{Container, Sdfg};
use isobar_compiler::space::{Axis, AxisSet, Domain, Symbol, names};
use isobar_compiler::types::{BinaryOp, Primitive, Value};
use serde_json::{Value as Json, json};

use crate::programs::WholeCase;

/// A stencil or a program that DaCe is asked for.
#[derive(Clone, Debug)]
pub struct Case {
    pub id: String,
    pub name: String,
    /// Entries of the list of cases: one for each form.
    pub entries: Vec<Json>,
    /// The expected values of the written fields, by the name of the container.
    pub expected: BTreeMap<String, Array>,
    /// Whether every operation is one that IEEE 754 decides to the bit.
    pub is_exact: bool,
}

/// The forms of a file, with the names that they have in results.
const FORMS: [(ControlFlowStyle, &str); 2] =
    [(ControlFlowStyle::Regions, "native"), (ControlFlowStyle::Flat, "flat")];

/// Runs a stencil here, and writes its files and inputs below `root`.
///
/// # Errors
///
/// When it does not run here, or a file cannot be written.
pub fn prepare(id: &str, name: &str, compilation: &Compilation, launch: Launch, root: &Path) -> Result<Case> {
    let (oir, extents) = compilation.front.reference().context("it has no OIR")?;
    let mut after = launch.clone();
    if let Err(stop) = debug::run(oir, extents, &mut after, &mut NoControl) {
        bail!("it stops: {stop}");
    }
    files(id, name, compilation, (&launch, &after), is_exact(oir), root)
}

/// Runs a program here, and writes the files of its graph and its inputs below `root`.
///
/// # Errors
///
/// When it has no graph or does not run here, or a file cannot be written.
pub fn prepare_program(id: &str, case: &mut WholeCase, launch: &Launch, root: &Path) -> Result<Case> {
    let compilation = case.as_one(&mut NoHook)?;
    let after = case.meant(launch).map_err(|it| anyhow::anyhow!("it stops: {it:?}"))?;
    files(id, id, &compilation, (launch, &after), true, root)
}

/// Writes the files and the inputs of a call, whose outcome is known.
fn files(
    id: &str,
    name: &str,
    compilation: &Compilation,
    (launch, after): (&Launch, &Launch),
    is_exact: bool,
    root: &Path,
) -> Result<Case> {
    let graph = compilation.levels.sdfg.as_ref().context("it has no graph")?;
    let folder = root.join(id);
    fs::create_dir_all(&folder)?;
    let call = call(graph, compilation, launch, &folder)?;
    let signature = compilation.front.signature.as_ref().context("it has no signature")?;
    let mut expected = BTreeMap::new();
    for (param, argument) in signature.params.iter().zip(&after.arguments) {
        if let Argument::Field(field) = argument {
            expected.insert(names::of_container(&param.name), field.array.clone());
        }
    }
    let sources: Vec<(&str, &str)> = compilation.front.sources().collect();
    let mut entries = Vec::new();
    for (form, form_name) in FORMS {
        let file = folder.join(format!("{form_name}.sdfg"));
        fs::write(&file, to_json(graph, &sources, form).to_string())?;
        let mut entry = call.clone();
        entry["id"] = json!(id);
        entry["form"] = json!(form_name);
        entry["file"] = json!(file);
        entry["has_warnings"] = json!(!compilation.notes.diagnostics.is_empty());
        entries.push(entry);
    }
    Ok(Case { id: id.to_owned(), name: name.to_owned(), entries, expected, is_exact })
}

/// Returns the arguments of the graph: symbols, fields with the part that it touches, scalars.
fn call(graph: &Sdfg, compilation: &Compilation, launch: &Launch, folder: &Path) -> Result<Json> {
    let signature = compilation.front.signature.as_ref().context("it has no signature")?;
    let Domain { i, j, k } = launch.domain;
    let mut symbols = BTreeMap::from([("I".to_owned(), i), ("J".to_owned(), j), ("K".to_owned(), k)]);
    let (mut fields, mut scalars) = (json!({}), json!({}));
    for &handle in &graph.arguments {
        let container = &graph.containers[handle];
        let named = names::of_stencil(&container.name);
        let at = signature.params.iter().position(|it| it.name == named);
        match at.map(|at| (&signature.params[at].kind, &launch.arguments[at])) {
            Some((ParamKind::Field { axes, .. }, Argument::Field(field))) => {
                let [below, above] = field.levels_beside(*axes, launch.domain);
                symbols.insert(names::levels_below(&container.name).name().to_owned(), below);
                symbols.insert(names::levels_above(&container.name).name().to_owned(), above);
                fields[&container.name] = self::field(container, *axes, field, &mut symbols, folder)?;
            }
            Some((_, Argument::Scalar(value))) => {
                let value_of = match value {
                    Value::Bool(it) => json!(it),
                    Value::Float32(_) | Value::Float64(_) => json!(value.as_f64()),
                    it => json!(it.as_i64()),
                };
                scalars[&container.name] = json!({"dtype": value.dtype().name(), "value": value_of});
            }
            _ => bail!("`{named}` was not passed"),
        }
    }
    let wanted = |name: &String| graph.symbols.iter().any(|it| it.name() == name);
    symbols.retain(|name, _| wanted(name));
    Ok(json!({"symbols": symbols, "fields": fields, "scalars": scalars}))
}

/// The whole array, where in it the part begins that the graph touches, and how large that is.
fn field(
    container: &Container,
    axes: AxisSet,
    field: &FieldArgument,
    symbols: &mut BTreeMap<String, i64>,
    folder: &Path,
) -> Result<Json> {
    let file = folder.join(&container.name);
    fs::write(&file, field.array.to_c_order_le_bytes())?;
    let known = symbols.clone();
    let value_of = |symbol: &Symbol| known.get(symbol.name()).copied();
    let axes: Vec<Axis> = axes.iter().collect();
    let (mut start, mut window) = (Vec::new(), Vec::new());
    for (dimension, (length, shift)) in container.shape.iter().zip(&container.shift).enumerate() {
        let origin = axes.get(dimension).map_or(0, |axis| field.origin[axis.index()]);
        start.push(origin - shift.evaluated(value_of).context("a shift has a value")?);
        window.push(length.evaluated(&mut |it| value_of(it)).context("a length has a value")?);
        let along = axes.get(dimension).map(ToString::to_string);
        let along = along.unwrap_or_else(|| format!("data{}", dimension - axes.len()));
        // In C order, as the file has it.
        let stride: usize = field.array.shape[dimension + 1..].iter().product();
        symbols.insert(format!("__{}_{along}_stride", container.name), i64::try_from(stride)?);
    }
    Ok(json!({
        "file": file, "dtype": container.dtype.name(), "shape": field.array.shape,
        "start": start, "window": window,
    }))
}

/// Whether IEEE 754 decides every operation to the bit; libraries differ in the others.
fn is_exact(oir: &Stencil) -> bool {
    let mut is_exact = true;
    for (_, execution) in oir.executions.iter() {
        for stmt in &execution.body {
            stmt.walk(&mut |stmt| {
                stmt.exprs().for_each(|expr| expr.walk(&mut |it| is_exact &= is_exact_node(it)))
            });
        }
    }
    is_exact
}

fn is_exact_node<A>(expr: &Expr<A>) -> bool {
    match &expr.kind {
        ExprKind::Binary(op, ..) => *op != BinaryOp::Pow,
        ExprKind::Call(function, _) => match function.primitive() {
            Some(Primitive::Unary(_) | Primitive::Predicate(_)) => true,
            Some(Primitive::Binary(op)) => !op.is_remainder(),
            None => false,
        },
        _ => true,
    }
}
