//! Typed code in a file: what its Python does not tell, in the notation of our listings.
//!
//! The format's own code has no types, no sizes and no places. Our readers take these from entries that others skip.

use std::fmt;

use serde_json::{Value, json};

use crate::diag::{FileId, Origin, Span, StmtId};
use crate::entity::{Arena, Handle};
use crate::expr::parse::{parse, spelled};
use crate::expr::print::text_in_loops;
use crate::expr::{Expr, Subscript};
use crate::sdfg::nodes::{Condition, Container, Input, Operand, RunTimeIndex, RunTimeSubscript, Tasklet};
use crate::space::Affine;
use crate::types::DType;

/// Stands before a sum of symbols, which is one leaf.
const SUM: &str = "__";

pub(super) fn condition_text(condition: &Condition, containers: &Arena<Container>) -> String {
    let leaf = |it: &Operand, f: &mut fmt::Formatter<'_>| match it {
        Operand::Symbolic(sum) => write!(f, "{SUM}[{sum}]"),
        Operand::Element { container, index } => {
            write!(f, "{}", spelled(&containers[*container].name))?;
            let index: Vec<String> = index.iter().map(ToString::to_string).collect();
            if index.is_empty() { Ok(()) } else { write!(f, "[{}]", index.join(", ")) }
        }
    };
    text_in_loops(condition, &leaf).to_string()
}

pub(super) fn read_condition(
    text: &str,
    span: Span,
    containers: &Arena<Container>,
) -> Result<Condition, String> {
    parse(text, span, &mut |name, index| {
        let index = known(index)?;
        if name == SUM {
            return Ok((Operand::Symbolic(only(index)?), DType::Int64));
        }
        let container = containers.find(|it| it.name == name);
        let container = container.ok_or_else(|| format!("there is no container `{name}`"))?;
        Ok((Operand::Element { container, index }, containers[container].dtype))
    })
}

pub(super) fn code_text(code: &Expr<Input>, tasklet: &Tasklet) -> String {
    let name = |at: usize| tasklet.inputs.get(at).map_or("", |it| it.name.as_str());
    let leaf = |it: &Input, f: &mut fmt::Formatter<'_>| match it {
        Input::Symbolic(sum) => write!(f, "{SUM}[{sum}]"),
        Input::Connector(at) => write!(f, "{}", spelled(name(*at))),
        Input::Element { connector, at } => {
            write!(f, "{}[{}]", spelled(name(*connector)), picked(at, tasklet))
        }
    };
    text_in_loops(code, &leaf).to_string()
}

/// Pairs of a dimension and the name of the index into it.
fn picked(at: &[RunTimeSubscript], tasklet: &Tasklet) -> String {
    let pair = |it: &RunTimeSubscript| {
        let found = tasklet.found.get(it.found).map_or("", |it| it.name.as_str());
        format!("{}, {found}", it.dimension)
    };
    at.iter().map(pair).collect::<Vec<_>>().join(", ")
}

pub(super) fn read_code(text: &str, span: Span, tasklet: &Tasklet) -> Result<Expr<Input>, String> {
    parse(text, span, &mut |name, index| {
        let index = known(index)?;
        if name == SUM {
            return Ok((Input::Symbolic(only(index)?), DType::Int64));
        }
        let at = tasklet.inputs.iter().position(|it| it.name == name);
        let connector = at.ok_or_else(|| format!("there is no connector `{name}`"))?;
        let dtype = tasklet.inputs[connector].dtype;
        if index.is_empty() {
            return Ok((Input::Connector(connector), dtype));
        }
        Ok((Input::Element { connector, at: pairs(&index, &tasklet.found)? }, dtype))
    })
}

/// The entry of a tasklet for our readers: its typed code, its found indices and its origin.
pub(super) fn tasklet_entry(tasklet: &Tasklet) -> Value {
    let found: Vec<Value> = tasklet
        .found
        .iter()
        .map(|it| json!([it.name, code_text(&it.code, tasklet), it.size.to_string()]))
        .collect();
    let mut entry =
        json!({"code": code_text(&tasklet.code, tasklet), "origin": origin_entry(&tasklet.origin)});
    if !found.is_empty() {
        entry["found"] = json!(found);
        entry["output_at"] = json!(picked(&tasklet.output_at, tasklet));
    }
    entry
}

/// The pairs that [`picked`] wrote.
pub(super) fn read_picked(text: &str, found: &[RunTimeIndex]) -> Result<Vec<RunTimeSubscript>, String> {
    if text.is_empty() {
        return Ok(Vec::new());
    }
    let part = |it: &str| crate::space::parse::affine(it).ok_or_else(|| format!("`{it}` is no index"));
    pairs(&text.split(',').map(part).collect::<Result<Vec<_>, _>>()?, found)
}

fn pairs(index: &[Affine], found: &[RunTimeIndex]) -> Result<Vec<RunTimeSubscript>, String> {
    let pair = |pair: &[Affine]| {
        let [dimension, name] = pair else { return Err("an index has no name".to_owned()) };
        let dimension = dimension.as_constant().and_then(|it| usize::try_from(it).ok());
        let name = name.to_string();
        let at = found.iter().position(|it| it.name == name);
        let (Some(dimension), Some(found)) = (dimension, at) else {
            return Err(format!("`{name}` is found nowhere"));
        };
        Ok(RunTimeSubscript { dimension, found })
    };
    index.chunks(2).map(pair).collect()
}

fn known<A>(index: Vec<Subscript<A>>) -> Result<Vec<Affine>, String> {
    let known = |it: Subscript<A>| it.as_known().cloned().ok_or_else(|| "an index is computed".to_owned());
    index.into_iter().map(known).collect()
}

fn only(index: Vec<Affine>) -> Result<Affine, String> {
    <[Affine; 1]>::try_from(index).map(|[sum]| sum).map_err(|_| "one sum was expected".to_owned())
}

/// The statement, and its places as file, start and end.
pub(super) fn origin_entry(origin: &Origin) -> Value {
    let place = |it: &Span| json!([it.file.0, it.start, it.end]);
    json!([origin.stmt.0, origin.spans().iter().map(place).collect::<Vec<_>>()])
}

pub(super) fn read_origin(entry: &Value) -> Option<Origin> {
    let number = |it: &Value| it.as_u64().and_then(|it| u32::try_from(it).ok());
    let place = |it: &Value| {
        let file = it[0].as_u64().and_then(|it| u16::try_from(it).ok())?;
        Some(Span::new(FileId(file), number(&it[1])?, number(&it[2])?))
    };
    let spans: Vec<Span> = entry[1].as_array()?.iter().map(place).collect::<Option<_>>()?;
    (!spans.is_empty()).then(|| number(&entry[0]).map(|stmt| Origin::new(StmtId(stmt), &spans)))?
}

pub(super) fn named(containers: &Arena<Container>, name: &str) -> Option<Handle<Container>> {
    containers.find(|it| it.name == name)
}
