//! Compiles and runs one block, and compares what comes of it with what the block says.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use anyhow::{Context, Result, bail, ensure};
use isobar_compiler::call::array::Array;
use isobar_compiler::call::launch::{Argument, Call, Launch};
use isobar_compiler::call::signature::{AccessKind, Param, ParamKind, Signature};
use isobar_compiler::config::Config;
use isobar_compiler::debug::{self, NoControl};
use isobar_compiler::diag::LineIndex;
use isobar_compiler::inputs::call::fill;
use isobar_compiler::pipeline::{Compilation, NoHook, route};
use isobar_compiler::project::Project;
use isobar_compiler::space::{Axis, AxisSet, Domain};
use isobar_compiler::types::{DType, Value};
use isobar_protocol::request::Request;

use super::block::Block;
use super::values::{Position, Values};
use crate::against::numpy_gives_the_bits_of_debug;

/// The letters of positions along I, J, K, and of data indices.
const LETTERS: [char; 3] = ['i', 'j', 'k'];
const DATA_LETTERS: [char; 3] = ['c', 'd', 'e'];

/// Checks a block.
///
/// # Errors
///
/// Everything that came out otherwise.
pub fn check(block: &Block) -> Result<()> {
    let compilation = compile(block)?;
    let found = said(&compilation);
    let expected = block.diagnostics();
    if found.keys().cloned().collect::<BTreeSet<_>>() != expected {
        let mut text = String::from("it is said:\n");
        for ((line, severity, code), message) in &found {
            let _ = writeln!(text, "  {severity}[{code}] in line {line}: {message}");
        }
        text += "and this was expected:\n";
        for (line, severity, code) in &expected {
            let _ = writeln!(text, "  {severity}[{code}] in line {line}");
        }
        bail!(text);
    }
    if compilation.has_errors() {
        return Ok(());
    }
    ensure!(compilation.c().is_some(), "it does not reach generated code");
    if compilation.front.directives.domain.is_none() {
        let left = ["expect", "refused", "stops"].iter().find(|it| block.lines_of(it).next().is_some());
        ensure!(left.is_none(), "it is not run, since it has no `# @domain`");
        return Ok(());
    }
    run(block, &compilation)
}

/// Compiles a block with what it asks for.
///
/// # Errors
///
/// When an external is no JSON.
pub fn compile(block: &Block) -> Result<Compilation> {
    let mut project = Project::of_one("main.py", &block.text);
    project.files.extend(block.modules.iter().map(|(name, text)| (name.clone(), text.as_str().into())));
    Ok(route::compile(&project, &config(block)?, &mut NoHook))
}

/// The options that a block asks for.
///
/// # Errors
///
/// When an external is no JSON.
pub fn config(block: &Block) -> Result<Config> {
    let json = |text: &str| serde_json::from_str(text).with_context(|| format!("`{text}` is no JSON"));
    let mut request = Request {
        precision: Some(block.precision),
        minmax: block.minmax,
        modulo: block.modulo,
        ..Request::default()
    };
    for (name, value) in block.values_of("external") {
        request.externals.insert(name.to_owned(), json(value)?);
    }
    for (name, value) in block.values_of("dtype") {
        request.dtypes.insert(name.to_owned(), value.trim_matches('"').to_owned());
    }
    Ok(request.config(&isobar_compiler::inputs::Directives::default()))
}

/// Returns the diagnostics by line, severity and code; line 0 is the text as a whole.
fn said(compilation: &Compilation) -> BTreeMap<(usize, String, String), String> {
    let key = compilation.notes.diagnostics.iter().map(|it| {
        let line = it.primary.as_ref().map_or(0, |label| {
            let file = &compilation.front.files[usize::from(label.span.file.0)];
            let line = LineIndex::new(&file.text).line(label.span.start) as usize;
            if &*file.name == "main.py" { line } else { 0 }
        });
        ((line, it.severity.name().to_owned(), it.code.to_string()), it.message.clone())
    });
    key.collect()
}

fn run(block: &Block, compilation: &Compilation) -> Result<()> {
    let signature = compilation.front.signature.as_ref().context("there is no signature")?;
    let call = call(block, compilation, signature)?;
    let refused: Vec<&str> = block.lines_of("refused").map(|it| it.trim_matches(['[', ']'])).collect();
    let mut launch = match compilation.front.bind(call) {
        Ok(launch) => launch,
        Err(wrong) => {
            let codes: Vec<&str> = wrong.iter().map(|it| it.code.0).collect();
            let told: Vec<&str> = wrong.iter().map(|it| it.message.as_str()).collect();
            ensure!(codes == refused, "the call is refused with {codes:?}, not {refused:?}: {told:?}");
            return Ok(());
        }
    };
    ensure!(refused.is_empty(), "the call is not refused");
    numpy_gives_the_bits_of_debug(compilation, &launch)?;
    let oir = compilation.front.oir.as_ref().context("there is no OIR")?;
    let extents = compilation.front.extents.as_ref().context("there are no extents")?;
    let stops = block.lines_of("stops").next().is_some();
    match debug::run(oir, extents, &mut launch, &mut NoControl) {
        Ok(()) => ensure!(!stops, "the run does not stop"),
        Err(_) if stops => return Ok(()),
        Err(stop) => bail!("the run stops: {stop}"),
    }
    compare(block, signature, &launch)
}

/// The call that a block describes.
///
/// # Errors
///
/// When it describes none that can be made.
pub fn call(block: &Block, compilation: &Compilation, signature: &Signature) -> Result<Call> {
    let directives = &compilation.front.directives;
    let [i, j, k] = directives.domain.context("there is no domain")?;
    let domain = Domain::new(i, j, k);
    let mut given = BTreeMap::new();
    for (left, right) in block.values_of("input") {
        let (name, values) = Values::parse(left, right)?;
        ensure!(signature.param(&name).is_some(), "there is no parameter `{name}`");
        given.insert(name, values);
    }
    let mut call = Call { domain: Some([domain.i, domain.j, domain.k]), ..Call::default() };
    for scalar in &directives.scalars {
        call.scalars.insert(scalar.name.clone(), scalar.value);
    }
    let numbers = |keyword| -> Result<BTreeMap<&str, Vec<i64>>> {
        block
            .values_of(keyword)
            .into_iter()
            .map(|(name, text)| {
                Ok((name, text.split_whitespace().map(str::parse).collect::<Result<_, _>>()?))
            })
            .collect()
    };
    let (shapes, origins) = (numbers("array")?, numbers("origin")?);
    let dtypes: BTreeMap<&str, &str> = block.values_of("elements").into_iter().collect();
    for param in signature.params.iter().filter(|it| it.access != AccessKind::None) {
        let ParamKind::Field { axes, ref data_dims, dtype, .. } = param.kind else { continue };
        let name = param.name.as_str();
        if block.lines_of("without").any(|it| it == name) {
            continue;
        }
        let halo = |axis: Axis| {
            let (low, high) = param.kind.halo(axis);
            let wanted = if axis == Axis::K { 0 } else { block.halo };
            (low.max(wanted), high.max(wanted))
        };
        let origin = Axis::ALL.map(|axis| if axes.has(axis) { halo(axis).0 } else { 0 });
        let shape: Vec<usize> = match shapes.get(name) {
            Some(shape) => shape.iter().map(|&it| usize::try_from(it)).collect::<Result<_, _>>()?,
            None => {
                let of_axis = |axis| usize::try_from(halo(axis).0 + domain.along(axis) + halo(axis).1);
                let data = data_dims.iter().map(|&it| usize::try_from(it));
                axes.iter().map(of_axis).chain(data).collect::<Result<_, _>>()?
            }
        };
        let origin = origins.get(name).cloned().unwrap_or_else(|| origin.to_vec());
        let dtype = match dtypes.get(name) {
            Some(name) => DType::from_name(name).with_context(|| format!("`{name}` is no type"))?,
            None => dtype,
        };
        let array = match (given.get(name), directives.input(name)) {
            (Some(values), _) => {
                let mut array = Array::zeros(dtype, &shape);
                let of_axes = || axes.iter().map(|axis| origin.get(axis.index()).copied().unwrap_or(0));
                for (at, position) in positions(axes, &shape, &of_axes().collect::<Vec<_>>()) {
                    let outside = if dtype.is_float() { f64::NAN } else { 0.0 };
                    let value = values.at(&position)?.unwrap_or(outside);
                    array.elements.set(offset(&array, &at), Value::Float64(value).cast(dtype));
                }
                array
            }
            (None, Some(generator)) => {
                let origin: [i64; 3] = origin.clone().try_into().ok().context("three entries")?;
                fill(generator, dtype, axes, &shape, origin, domain)
            }
            (None, None) => Array::zeros(dtype, &shape),
        };
        call.fields.insert(name.to_owned(), array);
        call.origin.insert(name.to_owned(), origin);
    }
    Ok(call)
}

/// Every index of an array, with its position in the domain.
fn positions(axes: AxisSet, shape: &[usize], origin: &[i64]) -> Vec<(Vec<usize>, Position)> {
    let mut letters: Vec<char> = axes.iter().map(|it| LETTERS[it.index()]).collect();
    letters.extend(DATA_LETTERS);
    let mut all = Vec::new();
    let mut at = vec![0; shape.len()];
    if shape.contains(&0) {
        return all;
    }
    loop {
        let start = |dimension: usize| origin.get(dimension).copied().unwrap_or(0);
        let position = at.iter().enumerate().map(|(dimension, &index)| {
            (letters[dimension], i64::try_from(index).unwrap_or(i64::MAX) - start(dimension))
        });
        all.push((at.clone(), position.collect()));
        let Some(dimension) = (0..at.len()).rev().find(|&it| at[it] + 1 < shape[it]) else { return all };
        at[dimension] += 1;
        at[dimension + 1..].fill(0);
    }
}

fn offset(array: &Array, at: &[usize]) -> usize {
    array.position(at)
}

fn compare(block: &Block, signature: &Signature, launch: &Launch) -> Result<()> {
    let field = |name: &str| -> Result<(&Param, &isobar_compiler::call::launch::FieldArgument)> {
        let position = signature.params.iter().position(|it| it.name == name);
        let position = position.with_context(|| format!("there is no parameter `{name}`"))?;
        match &launch.arguments[position] {
            Argument::Field(field) => Ok((&signature.params[position], field)),
            _ => bail!("`{name}` is no field that is used"),
        }
    };
    for line in block.lines_of("expect") {
        let is_exact = line.find('=').is_some_and(|at| !line[..at].contains('~'));
        let sign = if is_exact { '=' } else { '~' };
        let (left, right) = line.split_once(sign).with_context(|| format!("`{line}` has no `=`"))?;
        let (name, values) = Values::parse(left.trim(), right.trim())?;
        let (param, argument) = field(&name)?;
        let ParamKind::Field { axes, dtype, .. } = param.kind else { bail!("`{name}` is no field") };
        let array = &argument.array;
        let origin: Vec<i64> = axes.iter().map(|axis| argument.origin[axis.index()]).collect();
        let mut seen = 0;
        for (at, position) in positions(axes, &array.shape, &origin) {
            let is_inside = |axis: Axis| {
                position
                    .get(&LETTERS[axis.index()])
                    .is_none_or(|it| (0..launch.domain.along(axis)).contains(it))
            };
            let is_in_domain = Axis::ALL.into_iter().all(is_inside);
            // A list says nothing about the halo along axes that it does not name.
            if !Axis::ALL.into_iter().all(|it| is_inside(it) || values.names(LETTERS[it.index()])) {
                continue;
            }
            let expected = match values.at(&position)? {
                Some(expected) => expected,
                None if is_in_domain => bail!("`{name}` has a point more than expected, at {position:?}"),
                None => continue,
            };
            seen += 1;
            let found = array.elements.get(offset(array, &at));
            let expected = Value::Float64(expected).cast(dtype);
            let is_same = found == expected
                || found.as_f64().is_nan() && expected.as_f64().is_nan()
                || !is_exact && is_next_to(found.as_f64(), expected.as_f64(), dtype);
            ensure!(is_same, "`{name}` is {found} at {position:?}, not {expected}");
        }
        ensure!(seen > 0 || launch.domain.points() == 0, "`{name}` has no points");
    }
    Ok(())
}

/// Whether two numbers are the same or neighbours in a type.
fn is_next_to(a: f64, b: f64, dtype: DType) -> bool {
    let unit = if dtype == DType::Float32 { f64::from(f32::EPSILON) } else { f64::EPSILON };
    (a - b).abs() <= unit * a.abs().max(b.abs())
}
