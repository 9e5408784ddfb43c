//! Reads a graph from the file that was written of it.
//!
//! Only files of ours are read, in both forms. The graph that was read is written again and compared. So a
//! change that is not understood is found, with its place.

mod flat;

use std::fmt;

use serde_json::Value;

use super::json::{ControlFlowStyle, source_connector, target_connector, to_json};
use super::notation::{named, read_code, read_condition, read_origin, read_picked};
use crate::diag::{FileId, Origin, Span};
use crate::entity::{Arena, Handle};
use crate::expr::{Expr, ExprKind};
use crate::sdfg::nodes::{
    Block, BlockKind, Branch, ConditionalBlock, Connector, Container, ContainerKind, ControlFlowRegion, Edge,
    InterstateEdge, LoopOrder, LoopRegion, Map, MapParam, Memlet, NestedSdfg, Node, NodeKind, Range,
    RunTimeIndex, RunTimeSubscript, Schedule, Sdfg, State, Storage, Strides, Tasklet, Volume, WhileLoop,
};
use crate::sdfg::subset::moved;
use crate::space::{Affine, Axis, Size, Symbol, parse};
use crate::types::{DType, Value as Number};

/// Why a file is not read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SdfgImportError {
    /// Where in the file, as `nodes[2].attributes.range`.
    pub place: String,
    pub why: String,
}

impl fmt::Display for SdfgImportError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", if self.place.is_empty() { "the file" } else { &self.place }, self.why)
    }
}

impl std::error::Error for SdfgImportError {}

/// Reads the graph that [`to_json`] wrote.
///
/// # Errors
///
/// Where the file is none of ours, or was changed in a way that is not understood.
pub fn from_json(file: &Value) -> Result<Sdfg, SdfgImportError> {
    let here = FileValue { value: file, place: String::new() };
    if file["type"] != "SDFG" {
        return here.fail("it is no graph");
    }
    let sdfg = graph(&here)?;
    let form = if is_flat(&here) { ControlFlowStyle::Flat } else { ControlFlowStyle::Regions };
    let again = to_json(&sdfg, &[], form);
    match first_difference(file, &again, String::new()) {
        Some(place) => Err(SdfgImportError { place, why: "something here is not understood".to_owned() }),
        None => Ok(sdfg),
    }
}

/// Whether loops and branches of a graph are states and edges: only then it has the name of old viewers for its number.
fn is_flat(file: &FileValue<'_>) -> bool {
    file.value["sdfg_list_id"].is_number()
}

/// Where two files differ, but for places in texts, which only one of them may have.
fn first_difference(one: &Value, other: &Value, place: String) -> Option<String> {
    match (one, other) {
        (Value::Object(entries), Value::Object(others)) => {
            let names = entries.keys().chain(others.keys().filter(|it| !entries.contains_key(*it)));
            names.filter(|it| *it != "debuginfo").find_map(|name| {
                let inside = if place.is_empty() { name.clone() } else { format!("{place}.{name}") };
                first_difference(&one[name.as_str()], &other[name.as_str()], inside)
            })
        }
        (Value::Array(all), Value::Array(others)) if all.len() == others.len() => {
            let mut pairs = all.iter().zip(others).enumerate();
            pairs.find_map(|(at, (one, other))| first_difference(one, other, format!("{place}[{at}]")))
        }
        _ => (one != other).then_some(place),
    }
}

/// A value of the file, and where it stands.
struct FileValue<'v> {
    value: &'v Value,
    place: String,
}

impl<'v> FileValue<'v> {
    fn fail<T>(&self, why: impl Into<String>) -> Result<T, SdfgImportError> {
        Err(SdfgImportError { place: self.place.clone(), why: why.into() })
    }

    fn get(&self, name: &str) -> FileValue<'v> {
        let place = if self.place.is_empty() { name.to_owned() } else { format!("{}.{name}", self.place) };
        FileValue { value: &self.value[name], place }
    }

    fn at(&self, index: usize) -> FileValue<'v> {
        FileValue { value: &self.value[index], place: format!("{}[{index}]", self.place) }
    }

    fn text(&self) -> Result<&'v str, SdfgImportError> {
        self.value.as_str().map_or_else(|| self.fail("a text was expected"), Ok)
    }

    fn all(&self) -> Result<Vec<FileValue<'v>>, SdfgImportError> {
        match self.value.as_array() {
            Some(all) => Ok((0..all.len()).map(|at| self.at(at)).collect()),
            None => self.fail("a list was expected"),
        }
    }

    fn entries(&self) -> Result<Vec<(&'v String, FileValue<'v>)>, SdfgImportError> {
        match self.value.as_object() {
            Some(all) => Ok(all.keys().map(|name| (name, self.get(name))).collect()),
            None => self.fail("entries were expected"),
        }
    }

    fn number(&self) -> Result<usize, SdfgImportError> {
        let number = self.value.as_u64().or_else(|| self.value.as_str()?.parse().ok());
        let number = number.and_then(|it| usize::try_from(it).ok());
        number.map_or_else(|| self.fail("a number was expected"), Ok)
    }

    fn affine(&self) -> Result<Affine, SdfgImportError> {
        if let Some(number) = self.value.as_i64() {
            return Ok(Affine::constant(number));
        }
        parse::affine(self.text()?).map_or_else(|| self.fail("a sum of symbols was expected"), Ok)
    }

    fn size(&self) -> Result<Size, SdfgImportError> {
        size(self.text()?).map_or_else(|| self.fail("a size was expected"), Ok)
    }

    fn read<T>(&self, read: Result<T, String>) -> Result<T, SdfgImportError> {
        read.or_else(|why| self.fail(why))
    }

    fn some<T>(&self, it: Option<T>, why: &str) -> Result<T, SdfgImportError> {
        it.map_or_else(|| self.fail(why), Ok)
    }
}

fn size(text: &str) -> Option<Size> {
    parse::size(&text.replace("Min(", "min(").replace("Max(", "max("))
}

fn nowhere() -> Span {
    Span::new(FileId::default(), 0, 0)
}

fn graph(file: &FileValue<'_>) -> Result<Sdfg, SdfgImportError> {
    let attributes = file.get("attributes");
    let mut containers = Arena::default();
    for (name, descriptor) in attributes.get("_arrays").entries()? {
        containers.push(container(name, &descriptor)?);
    }
    let mut sdfg =
        Sdfg { name: attributes.get("name").text()?.to_owned(), span: nowhere(), ..Sdfg::default() };
    for name in attributes.get("arg_names").all()? {
        let known = named(&containers, name.text()?);
        sdfg.arguments.push(name.some(known, "there is no array of that name")?);
    }
    sdfg.containers = containers;
    sdfg.region = if is_flat(file) { flat::region(file, &sdfg)? } else { region(file, &sdfg)? };
    let mut variables = Vec::new();
    loop_variables(&sdfg.region, &mut variables);
    let symbols = attributes.get("symbols").entries()?;
    let symbols = symbols.into_iter().map(|(name, _)| Symbol::new(name));
    sdfg.symbols = symbols.filter(|it| !variables.contains(it)).collect();
    Ok(sdfg)
}

fn loop_variables(region: &ControlFlowRegion, found: &mut Vec<Symbol>) {
    for block in &region.blocks {
        match &block.kind {
            BlockKind::State(_) => {}
            BlockKind::Loop(it) => {
                found.push(it.variable.clone());
                loop_variables(&it.body, found);
            }
            BlockKind::While(it) => loop_variables(&it.body, found),
            BlockKind::Conditional(it) => {
                it.branches.iter().for_each(|it| loop_variables(&it.body, found));
                it.otherwise.iter().for_each(|it| loop_variables(it, found));
            }
        }
    }
}

fn container(name: &str, descriptor: &FileValue<'_>) -> Result<Container, SdfgImportError> {
    let attributes = descriptor.get("attributes");
    let entry = attributes.get("_meta_isobar");
    let kind = entry.get("kind");
    let kind = match kind.value.as_str() {
        Some("scalar") => ContainerKind::Scalar,
        Some("temporary") => ContainerKind::Temporary,
        Some("local") => ContainerKind::Local,
        _ => match (kind.value["reads"].as_bool(), kind.value["writes"].as_bool()) {
            (Some(is_read), Some(is_written)) => ContainerKind::Field { is_read, is_written },
            _ => return entry.fail("it does not say what it is for a stencil: the file is none of ours"),
        },
    };
    let dtype = attributes.get("dtype");
    let dtype = dtype.some(DType::from_name(dtype.text()?), "there is no such type here")?;
    let axes = entry.get("axes");
    let axes = axes.some(parse::axes(axes.text()?), "axes were expected")?;
    let is_transient = attributes.get("transient").value == true;
    let (mut shape, mut shift, mut strides) = (Vec::new(), Vec::new(), Strides::Packed);
    if descriptor.value["type"] == "Array" {
        shape = attributes.get("shape").all()?.iter().map(FileValue::size).collect::<Result<_, _>>()?;
        shift =
            attributes.get("_meta_shift").all()?.iter().map(FileValue::affine).collect::<Result<_, _>>()?;
        if matches!(kind, ContainerKind::Field { .. }) {
            let names = attributes.get("strides").all()?;
            strides =
                Strides::Given(names.iter().map(|it| it.text().map(Symbol::new)).collect::<Result<_, _>>()?);
        }
    }
    let storage = match (attributes.get("storage").text()?, kind) {
        ("Register", _) => Storage::Register,
        _ if entry.value["is_private"] == true => Storage::Private,
        (_, ContainerKind::Field { .. } | ContainerKind::Scalar) => Storage::Caller,
        _ => Storage::Heap,
    };
    let span = nowhere();
    let name = name.to_owned();
    // A file knows no rings: its arrays have all places. Nor does it know where on a GPU they live.
    let (ring, place) = (None, None);
    Ok(Container { name, dtype, kind, is_transient, axes, shape, shift, strides, storage, ring, place, span })
}

fn region(file: &FileValue<'_>, sdfg: &Sdfg) -> Result<ControlFlowRegion, SdfgImportError> {
    let mut blocks = Vec::new();
    // States for the allocation of transients stand before and behind blocks that are none.
    let nodes = file.get("nodes").all()?;
    let is_added = |it: &FileValue<'_>, end: &str| {
        it.value["type"] == "SDFGState"
            && it.value["nodes"].as_array().is_some_and(Vec::is_empty)
            && it.value["label"].as_str().is_some_and(|label| label.ends_with(end))
    };
    let first = usize::from(nodes.first().is_some_and(|it| is_added(it, "enter")));
    let last =
        nodes.len() - usize::from(nodes.len() > 1 && nodes.last().is_some_and(|it| is_added(it, "leave")));
    for node in nodes.get(first..last).unwrap_or_default() {
        blocks.push(block(node, sdfg)?);
    }
    let mut edges = Vec::new();
    for edge in file.get("edges").all()? {
        let ends = [edge.get("src").number()?, edge.get("dst").number()?];
        if ends.iter().all(|it| (first..last).contains(it)) {
            let is_barrier = edge.value["attributes"]["data"]["attributes"]["_meta_isobar"] == "barrier";
            edges.push(InterstateEdge { source: ends[0] - first, target: ends[1] - first, is_barrier });
        }
    }
    Ok(ControlFlowRegion { blocks, edges })
}

fn block(file: &FileValue<'_>, sdfg: &Sdfg) -> Result<Block, SdfgImportError> {
    let label = file.get("label").text()?.to_owned();
    let attributes = file.get("attributes");
    let entry = attributes.get("_meta_isobar");
    let kind = match file.get("type").text()? {
        "SDFGState" => BlockKind::State(state(file, sdfg)?),
        "LoopRegion" if attributes.get("loop_variable").text()?.is_empty() => {
            let (condition, origin) = condition(&entry, sdfg)?;
            BlockKind::While(WhileLoop { condition, body: region(file, sdfg)?, origin })
        }
        "LoopRegion" => {
            BlockKind::Loop(loop_region(&attributes.get("loop_variable"), &entry, region(file, sdfg)?)?)
        }
        "ConditionalBlock" => {
            let mut block = ConditionalBlock { branches: Vec::new(), otherwise: None };
            for (at, branch) in file.get("branches").all()?.iter().enumerate() {
                let body = region(&branch.at(1), sdfg)?;
                if branch.value[0].is_null() {
                    block.otherwise = Some(body);
                } else {
                    let (condition, origin) = condition(&entry.at(at), sdfg)?;
                    block.branches.push(Branch { condition, body, origin });
                }
            }
            BlockKind::Conditional(block)
        }
        other => return file.fail(format!("a block `{other}` is not known here")),
    };
    Ok(Block { label, kind })
}

fn loop_region(
    variable: &FileValue<'_>,
    entry: &FileValue<'_>,
    body: ControlFlowRegion,
) -> Result<LoopRegion, SdfgImportError> {
    let name = variable.text()?;
    let descends = entry.get("descends").value == true;
    Ok(LoopRegion {
        variable: Symbol::new(name),
        axis: variable.some(axis_of(name), "it counts along no axis")?,
        start: entry.get("start").size()?,
        end: entry.get("end").size()?,
        step: i64::try_from(entry.get("step").number()?).unwrap_or(1),
        order: if descends { LoopOrder::Descending } else { LoopOrder::Ascending },
        body,
    })
}

fn condition(
    entry: &FileValue<'_>,
    sdfg: &Sdfg,
) -> Result<(crate::sdfg::nodes::Condition, Origin), SdfgImportError> {
    let origin = origin(entry)?;
    let text = entry.get("condition");
    let read = read_condition(text.text()?, origin.span(), &sdfg.containers);
    Ok((text.read(read)?, origin))
}

fn origin(entry: &FileValue<'_>) -> Result<Origin, SdfgImportError> {
    let origin = entry.get("origin");
    origin.some(read_origin(origin.value), "it does not say which statement it is: the file is none of ours")
}

/// The axis of a position or of a tile's start.
fn axis_of(variable: &str) -> Option<Axis> {
    Axis::ALL.into_iter().find(|axis| variable.starts_with(axis.position_name()))
}

fn state(file: &FileValue<'_>, sdfg: &Sdfg) -> Result<State, SdfgImportError> {
    let mut state = State::default();
    let nodes = file.get("nodes").all()?;
    let handle = |it: &FileValue<'_>| {
        let number = it.number()?;
        if number < nodes.len() { Ok(Handle::new(number)) } else { it.fail("there is no such node") }
    };
    for edge in file.get("edges").all()? {
        let memlet = memlet(&edge.get("attributes").get("data").get("attributes"), sdfg)?;
        let connector = |name: &str| edge.value[name].as_str().map(str::to_owned);
        state.edges.push(Edge {
            source: handle(&edge.get("src"))?,
            source_connector: connector("src_connector"),
            target: handle(&edge.get("dst"))?,
            target_connector: connector("dst_connector"),
            memlet,
        });
    }
    let mut scopes = vec![None; nodes.len()];
    for (owner, members) in file.get("scope_dict").entries()? {
        for member in members.all()? {
            let scope = owner.parse().ok().filter(|it| *it < nodes.len()).map(Handle::new);
            scopes[handle(&member)?.index()] = scope;
        }
    }
    for (at, file) in nodes.iter().enumerate() {
        let kind = node(file, at, &state, sdfg)?;
        state.nodes.push(Node { kind, scope: scopes[at] });
    }
    let State { nodes, edges } = &mut state;
    for (edge, entry) in edges.iter_mut().zip(file.get("edges").all()?) {
        let is_map =
            |it: Handle<Node>| matches!(nodes[it].kind, NodeKind::MapEntry(_) | NodeKind::MapExit { .. });
        if is_map(edge.source)
            && edge.source_connector.take() != source_connector(edge, nodes, &sdfg.containers)
        {
            return entry.get("src_connector").fail("a map calls its connectors after containers");
        }
        if is_map(edge.target)
            && edge.target_connector.take() != target_connector(edge, nodes, &sdfg.containers)
        {
            return entry.get("dst_connector").fail("a map calls its connectors after containers");
        }
    }
    Ok(state)
}

fn node(file: &FileValue<'_>, at: usize, state: &State, sdfg: &Sdfg) -> Result<NodeKind, SdfgImportError> {
    let attributes = file.get("attributes");
    Ok(match file.get("type").text()? {
        "AccessNode" => {
            let data = attributes.get("data");
            NodeKind::Access(data.some(named(&sdfg.containers, data.text()?), "there is no such array")?)
        }
        "Tasklet" => NodeKind::Tasklet(tasklet(&attributes, Handle::new(at), state, sdfg)?),
        "MapEntry" => NodeKind::MapEntry(map(&attributes)?),
        "MapExit" => NodeKind::MapExit { entry: Handle::new(file.get("scope_entry").number()?) },
        "NestedSDFG" => {
            let names = |name: &str| {
                let entries = attributes.get(name).entries()?;
                Ok(entries.into_iter().map(|it| it.0.clone()).collect::<Vec<_>>())
            };
            let mapping = attributes.get("symbol_mapping").entries()?;
            let mapping = mapping.into_iter().map(|(name, value)| Ok((Symbol::new(name), value.affine()?)));
            NodeKind::NestedSdfg(NestedSdfg {
                sdfg: graph(&attributes.get("sdfg"))?,
                inputs: names("in_connectors")?,
                outputs: names("out_connectors")?,
                symbol_mapping: mapping.collect::<Result<_, _>>()?,
            })
        }
        other => return file.fail(format!("a node `{other}` is not known here")),
    })
}

fn tasklet(
    attributes: &FileValue<'_>,
    node: Handle<Node>,
    state: &State,
    sdfg: &Sdfg,
) -> Result<Tasklet, SdfgImportError> {
    let entry = attributes.get("_meta_isobar");
    let origin = origin(&entry)?;
    let connector = |name: &Option<String>, memlet: &Option<Memlet>| {
        let dtype = sdfg.containers[memlet.as_ref()?.data].dtype;
        Some(Connector { name: name.clone()?, dtype })
    };
    let inputs =
        state.edges_into(node).filter_map(|it| connector(&it.target_connector, &it.memlet)).collect();
    let output = state.edges_out_of(node).find_map(|it| connector(&it.source_connector, &it.memlet));
    let output = attributes.some(output, "a tasklet writes nothing")?;
    let span = origin.span();
    let code = Expr { kind: ExprKind::Literal(Number::Bool(false)), dtype: DType::Bool, span };
    let mut tasklet = Tasklet {
        inputs,
        found: Vec::new(),
        output,
        output_at: Vec::<RunTimeSubscript>::new(),
        code,
        origin,
    };
    if !entry.get("found").value.is_null() {
        for found in entry.get("found").all()? {
            let code = found.at(1);
            let code = code.read(read_code(code.text()?, span, &tasklet))?;
            tasklet.found.push(RunTimeIndex {
                name: found.at(0).text()?.to_owned(),
                code,
                size: found.at(2).size()?,
            });
        }
        let at = entry.get("output_at");
        tasklet.output_at = at.read(read_picked(at.text()?, &tasklet.found))?;
    }
    let code = entry.get("code");
    tasklet.code = code.read(read_code(code.text()?, span, &tasklet))?;
    Ok(tasklet)
}

fn map(attributes: &FileValue<'_>) -> Result<Map, SdfgImportError> {
    let schedule = attributes.get("schedule");
    let schedule = match (schedule.text()?, attributes.get("_meta_isobar").value.as_str()) {
        ("CPU_Multicore", _) => Schedule::Threads,
        ("GPU_Device", _) => Schedule::Grid,
        ("GPU_ThreadBlock", _) => Schedule::Block,
        ("Sequential", Some("simd")) => Schedule::Simd,
        ("Sequential", _) => Schedule::Sequential,
        (other, _) => return schedule.fail(format!("a schedule `{other}` is not known here")),
    };
    let ranges = attributes.get("range").get("ranges").all()?;
    let params = attributes.get("params").all()?;
    let mut map = Map { params: Vec::new(), schedule };
    for (name, given) in params.iter().zip(&ranges) {
        map.params.push(MapParam {
            symbol: Symbol::new(name.text()?),
            axis: name.some(axis_of(name.text()?), "it counts along no axis")?,
            range: range(given)?,
            step: i64::try_from(given.get("step").number()?).unwrap_or(1),
        });
    }
    Ok(map)
}

/// Ends are inclusive in the format.
fn range(file: &FileValue<'_>) -> Result<Range, SdfgImportError> {
    Ok(Range::new(file.get("start").size()?, moved(&file.get("end").size()?, 1)))
}

fn memlet(attributes: &FileValue<'_>, sdfg: &Sdfg) -> Result<Option<Memlet>, SdfgImportError> {
    let data = attributes.get("data");
    if data.value.is_null() {
        return Ok(None);
    }
    let data = data.some(named(&sdfg.containers, data.text()?), "there is no such array")?;
    let ranges = attributes.get("subset").get("ranges").all()?;
    let is_one_value = sdfg.containers[data].is_scalar();
    let subset =
        if is_one_value { Vec::new() } else { ranges.iter().map(range).collect::<Result<_, _>>()? };
    let volume = attributes.get("volume");
    let terms = volume.some(volume_terms(volume.text()?), "a volume was expected")?;
    let is_bound = attributes.get("dynamic").value == true;
    Ok(Some(Memlet { data, subset, volume: Volume { terms, is_bound } }))
}

/// Sums of products of lengths in parentheses.
fn volume_terms(text: &str) -> Option<Vec<(u64, Vec<Range>)>> {
    let term = |text: &str| {
        let (mut number, mut ranges) = (1, Vec::new());
        for factor in split_outside(text, "*") {
            match factor.strip_prefix('(').and_then(|it| it.strip_suffix(')')) {
                None => number = factor.parse().ok()?,
                Some(length) => ranges.push(length_range(length)?),
            }
        }
        Some((number, ranges))
    };
    split_outside(text, " + ").into_iter().map(term).collect()
}

/// A range of that length: `I + 1`, or `end - (start)` where that is no sum.
fn length_range(text: &str) -> Option<Range> {
    if let Some(length) = parse::affine(text) {
        return Some(Range::new(Affine::constant(0).into(), length.into()));
    }
    let [end, start] = <[&str; 2]>::try_from(split_outside(text, " - (")).ok()?;
    Some(Range::new(size(start.strip_suffix(')')?)?, size(end)?))
}

/// The parts between separators that stand in no parentheses.
fn split_outside<'t>(text: &'t str, separator: &str) -> Vec<&'t str> {
    let (mut parts, mut depth, mut start) = (Vec::new(), 0, 0);
    for (at, letter) in text.char_indices() {
        if depth == 0 && at >= start && text[at..].starts_with(separator) {
            parts.push(&text[start..at]);
            start = at + separator.len();
        }
        depth += i32::from(letter == '(') - i32::from(letter == ')');
    }
    parts.push(&text[start..]);
    parts
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples;
    use crate::sdfg::{from_schedule::lower, validate::validate};

    #[test]
    fn a_file_reads_back_as_it_was_written() {
        for tree in samples::all() {
            for form in [ControlFlowStyle::Regions, ControlFlowStyle::Flat] {
                let file = to_json(&lower(&tree), &[], form);
                let read = from_json(&file).unwrap_or_else(|why| panic!("{}: {why}", tree.name));
                assert_eq!(validate(&read), Vec::<String>::new(), "{}", tree.name);
                assert_eq!(to_json(&read, &[], form), file, "{}", tree.name);
            }
        }
    }

    #[test]
    fn both_forms_of_a_graph_are_read_as_the_same_graph() {
        for tree in samples::all() {
            let graph = lower(&tree);
            let read = |form| from_json(&to_json(&graph, &[], form)).expect("it is a file of ours");
            let again = |read: &Sdfg| to_json(read, &[], ControlFlowStyle::Regions);
            assert_eq!(
                again(&read(ControlFlowStyle::Flat)),
                again(&read(ControlFlowStyle::Regions)),
                "{}",
                tree.name
            );
        }
    }

    #[test]
    fn an_edge_that_leads_elsewhere_makes_no_loop() {
        let tree = samples::parsed(
            "\
schedule sweep
field a: float64[I, J, K] shift [0, 0, 0] read-write
for k in [1, K) ascending:
  for j in [0, J) parallel:
    for i in [0, I) parallel:
      a[i, j, k] = a[i, j, k - 1]
",
        );
        let file = to_json(&lower(&tree), &[], ControlFlowStyle::Flat);
        let mut states = file["nodes"].as_array().expect("there are states").iter();
        let guard = states.position(|it| it["label"] == "loop_0_guard").expect("there is a loop").to_string();
        let edges = file["edges"].as_array().expect("there are edges");
        assert_eq!(edges.len(), 4);
        for (at, edge) in edges.iter().enumerate() {
            let mut changed = file.clone();
            let end = if edge["src"] == guard { "dst" } else { "src" };
            changed["edges"][at][end] = guard.clone().into();
            assert!(from_json(&changed).is_err(), "edge {at}");
        }
    }

    #[test]
    fn a_change_that_is_not_understood_is_found_with_its_place() {
        let file = to_json(&lower(&samples::laplacian()), &[], ControlFlowStyle::Regions);
        let said = |change: &dyn Fn(&mut Value)| {
            let mut changed = file.clone();
            change(&mut changed);
            from_json(&changed).expect_err("it was changed").to_string()
        };
        let found = said(&|it| it["attributes"]["_arrays"]["q"]["attributes"]["dtype"] = "float99".into());
        assert_eq!(found, "attributes._arrays.q.attributes.dtype: there is no such type here");
        let found = said(&|it| it["nodes"][0]["nodes"][0]["attributes"]["setzero"] = true.into());
        assert_eq!(found, "nodes[0].nodes[0].attributes.setzero: something here is not understood");
        let found = said(&|it| {
            let nodes = it["nodes"][0]["nodes"].as_array_mut().expect("there are nodes");
            let tasklet = nodes.iter_mut().find(|it| it["type"] == "Tasklet").expect("there is one");
            tasklet["attributes"]["code"]["string_data"] = "lap_out = 1".into();
        });
        assert!(found.ends_with("attributes.code.string_data: something here is not understood"), "{found}");
        let found = said(&|it| it["type"] = "State".into());
        assert_eq!(found, "the file: it is no graph");
    }
}
