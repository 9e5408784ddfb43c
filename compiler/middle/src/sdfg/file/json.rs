//! The graph as the JSON of a `.sdfg` file, in the dialect that every reader of the format takes.

use std::collections::BTreeSet;

use serde_json::{Map as JsonMap, Value, json};

use super::flat::FlatGraph;
use super::portable::{portable, with_wide_numbers};
use super::{notation, python};
use crate::diag::{FileId, LineIndex, Origin, Span};
use crate::entity::{Arena, Handle};
use crate::sdfg::nodes::{
    Block, BlockKind, Condition, Container, ContainerKind, ControlFlowRegion, Edge, Input, LoopOrder,
    LoopRegion, Map, Memlet, NestedSdfg, Node, NodeKind, Operand, Range, RunTimeSubscript, Schedule, Sdfg,
    State, Storage, Strides, Tasklet, Volume,
};
use crate::space::{Affine, Size, Symbol};

/// The version whose symbolic strings are plain, which older and newer readers parse alike.
const DIALECT: &str = "1.0.2";

/// How control flow is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ControlFlowStyle {
    /// Loops and branches as blocks.
    #[default]
    Regions,
    /// States alone, with conditions on the edges between them, for old readers and viewers.
    Flat,
}

/// The whole graph. `files` are names and texts of the sources, in the order of their ids, and
/// give nodes their places; without them the nodes have none.
#[must_use]
pub fn to_json(sdfg: &Sdfg, files: &[(&str, &str)], form: ControlFlowStyle) -> Value {
    let indices = files.iter().map(|it| LineIndex::new(it.1)).collect();
    let mut writer = Writer { files, indices, form, n_graphs: 0 };
    let mut root = writer.sdfg(&portable(sdfg));
    root["dace_version"] = json!(DIALECT);
    root
}

pub(super) struct Writer<'f> {
    files: &'f [(&'f str, &'f str)],
    indices: Vec<LineIndex>,
    form: ControlFlowStyle,
    /// Regions and graphs so far, numbered depth first.
    n_graphs: usize,
}

impl Writer<'_> {
    fn sdfg(&mut self, sdfg: &Sdfg) -> Value {
        let mut arrays = JsonMap::new();
        let in_maps = containers_in_maps(&sdfg.region);
        for (handle, it) in sdfg.containers.iter() {
            let mut descriptor = self.descriptor(it);
            if it.is_transient && (it.storage != Storage::Register || !in_maps.contains(&handle)) {
                // Without it, readers allocate anew in each iteration what one state alone uses.
                descriptor["attributes"]["lifetime"] = json!("SDFG");
            }
            arrays.insert(it.name.clone(), descriptor);
        }
        let mut symbols = JsonMap::new();
        for symbol in &sdfg.symbols {
            symbols.insert(symbol.name().to_owned(), json!("int64"));
        }
        // Loop variables too: without a type, a reader declares them twice.
        loop_variables(&sdfg.region, &mut |it| {
            symbols.insert(it.name().to_owned(), json!("int64"));
        });
        let arguments: Vec<&str> =
            sdfg.arguments.iter().map(|&it| sdfg.containers[it].name.as_str()).collect();
        let mut attributes = json!({
            "name": sdfg.name,
            "arg_names": arguments,
            "_arrays": arrays,
            "symbols": symbols,
        });
        if self.form == ControlFlowStyle::Regions && has_control_flow(&sdfg.region) {
            attributes["using_experimental_blocks"] = json!(true);
            attributes["using_explicit_control_flow"] = json!(true);
        }
        if let Some(place) = self.place(sdfg.span) {
            attributes["debuginfo"] = place;
        }
        match self.form {
            ControlFlowStyle::Regions => self.region("SDFG", "", attributes, sdfg, &sdfg.region),
            ControlFlowStyle::Flat => {
                let number = self.n_graphs;
                self.n_graphs += 1;
                let FlatGraph { nodes, edges } = self.flattened(sdfg, &sdfg.region);
                // Old viewers have other names for the number and the start.
                json!({
                    "type": "SDFG", "label": "", "id": null, "collapsed": false,
                    "cfg_list_id": number, "sdfg_list_id": number, "start_block": 0, "start_state": 0,
                    "attributes": attributes, "nodes": nodes, "edges": edges,
                })
            }
        }
    }

    fn descriptor(&self, container: &Container) -> Value {
        let place = self.place(container.span);
        let storage = match container.storage {
            Storage::Register => "Register",
            Storage::Caller | Storage::Heap | Storage::Private => "Default",
        };
        let entry = container_entry(container);
        if container.is_scalar() {
            return json!({"type": "Scalar", "attributes": {
                "_meta_isobar": entry,
                "dtype": container.dtype.name(), "shape": ["1"], "transient": container.is_transient,
                "storage": storage, "debuginfo": place,
            }});
        }
        let lengths: Vec<String> =
            container.shape.iter().map(|it| format!("({})", python::symbolic(it))).collect();
        let strides: Vec<String> = match &container.strides {
            Strides::Given(symbols) => symbols.iter().map(ToString::to_string).collect(),
            Strides::Packed => (0..lengths.len())
                .map(|at| if at == 0 { "1".to_owned() } else { lengths[..at].join("*") })
                .collect(),
        };
        let shape: Vec<String> = container.shape.iter().map(python::symbolic).collect();
        // Readers skip what begins with `_meta`: index = position in the compute domain + shift.
        json!({"type": "Array", "attributes": {
            "_meta_isobar": entry,
            "_meta_shift": container.shift.iter().map(number_or_sum).collect::<Vec<_>>(),
            "dtype": container.dtype.name(), "shape": shape, "strides": strides,
            "offset": vec!["0"; shape.len()], "total_size": lengths.join("*"),
            "transient": container.is_transient, "storage": storage, "debuginfo": place,
        }})
    }

    fn region(
        &mut self,
        kind: &str,
        label: &str,
        attributes: Value,
        sdfg: &Sdfg,
        region: &ControlFlowRegion,
    ) -> Value {
        let number = self.n_graphs;
        self.n_graphs += 1;
        let is_state = |it: Option<&Block>| it.is_some_and(|it| matches!(it.kind, BlockKind::State(_)));
        let prefix = if label.is_empty() { String::new() } else { format!("{label}_") };
        let mut nodes = Vec::new();
        // A transient needs a state to be allocated in and one to be freed in.
        if !is_state(region.blocks.first()) {
            nodes.push(empty_state(&format!("{prefix}enter")));
        }
        let n_before = nodes.len();
        for block in &region.blocks {
            nodes.push(self.block(sdfg, block));
        }
        let edges = region.edges.iter();
        let mut edges: Vec<(usize, usize, bool)> =
            edges.map(|it| (it.source + n_before, it.target + n_before, it.is_barrier)).collect();
        if n_before > 0 && !region.blocks.is_empty() {
            edges.insert(0, (0, 1, false));
        }
        if !region.blocks.is_empty() && !is_state(region.blocks.last()) {
            edges.push((nodes.len() - 1, nodes.len(), false));
            nodes.push(empty_state(&format!("{prefix}leave")));
        }
        for (at, node) in nodes.iter_mut().enumerate() {
            node["id"] = json!(at);
        }
        let edges: Vec<Value> = edges.into_iter().map(interstate_edge).collect();
        json!({
            "type": kind, "label": label, "id": null, "collapsed": false, "cfg_list_id": number,
            "start_block": 0, "attributes": attributes, "nodes": nodes, "edges": edges,
        })
    }

    fn block(&mut self, sdfg: &Sdfg, block: &Block) -> Value {
        let label = &block.label;
        match &block.kind {
            BlockKind::State(state) => self.state(label, sdfg, state),
            BlockKind::Loop(it) => {
                let attributes = loop_attributes(it);
                self.region("LoopRegion", label, attributes, sdfg, &it.body)
            }
            BlockKind::While(it) => {
                let mut attributes = json!({
                    "loop_variable": "", "init_statement": null, "update_statement": null,
                    "loop_condition": code(&condition(&it.condition, &sdfg.containers)),
                });
                attributes["_meta_isobar"] = condition_entry(&it.condition, &it.origin, &sdfg.containers);
                self.add_place(&mut attributes, it.origin.span());
                self.region("LoopRegion", label, attributes, sdfg, &it.body)
            }
            BlockKind::Conditional(it) => {
                let number = self.n_graphs;
                self.n_graphs += 1;
                let (mut branches, mut entries) = (Vec::new(), Vec::new());
                for (at, branch) in it.branches.iter().enumerate() {
                    entries.push(condition_entry(&branch.condition, &branch.origin, &sdfg.containers));
                    let test = code(&condition(&branch.condition, &sdfg.containers));
                    let label = format!("{label}_{at}");
                    let body = self.region("ControlFlowRegion", &label, json!({}), sdfg, &branch.body);
                    branches.push(json!([test, body]));
                }
                if let Some(otherwise) = &it.otherwise {
                    let label = format!("{label}_else");
                    let body = self.region("ControlFlowRegion", &label, json!({}), sdfg, otherwise);
                    branches.push(json!([null, body]));
                }
                json!({
                    "type": "ConditionalBlock", "label": label, "id": null, "collapsed": false,
                    "cfg_list_id": number, "start_block": null,
                    "attributes": {"_meta_isobar": entries}, "branches": branches,
                })
            }
        }
    }

    pub(super) fn state(&mut self, label: &str, sdfg: &Sdfg, state: &State) -> Value {
        let exits = |entry: Handle<Node>| {
            state
                .nodes
                .handles()
                .find(|&it| matches!(state.nodes[it].kind, NodeKind::MapExit { entry: of } if of == entry))
        };
        let mut nodes = Vec::new();
        for (handle, node) in state.nodes.iter() {
            let mut value = self.node(sdfg, state, handle);
            let (entry, exit) = match node.kind {
                NodeKind::MapEntry(_) => (None, exits(handle)),
                NodeKind::MapExit { entry } => (Some(entry), Some(handle)),
                _ => (node.scope, node.scope.and_then(exits)),
            };
            let spelled =
                |it: Option<Handle<Node>>| it.map_or(Value::Null, |it| json!(it.index().to_string()));
            value["id"] = json!(handle.index());
            value["scope_entry"] = spelled(entry);
            value["scope_exit"] = spelled(exit);
            nodes.push(value);
        }
        let mut scopes = JsonMap::new();
        for (handle, node) in state.nodes.iter() {
            let owner = node.scope.map_or_else(|| "-1".to_owned(), |it| it.index().to_string());
            let members = scopes.entry(owner).or_insert_with(|| json!([]));
            if let Value::Array(members) = members {
                members.push(json!(handle.index()));
            }
        }
        let edges: Vec<Value> = state.edges.iter().map(|it| edge(it, state, &sdfg.containers)).collect();
        json!({
            "type": "SDFGState", "label": label, "id": null, "collapsed": false, "scope_dict": scopes,
            "nodes": nodes, "edges": edges, "attributes": {},
        })
    }

    fn node(&mut self, sdfg: &Sdfg, state: &State, handle: Handle<Node>) -> Value {
        let connectors = |names: &mut dyn Iterator<Item = String>| {
            Value::Object(names.map(|it| (it, Value::Null)).collect::<JsonMap<_, _>>())
        };
        let containers = &sdfg.containers;
        let inputs = connectors(
            &mut state.edges_into(handle).filter_map(|it| target_connector(it, &state.nodes, containers)),
        );
        let outputs = connectors(
            &mut state.edges_out_of(handle).filter_map(|it| source_connector(it, &state.nodes, containers)),
        );
        let (kind, label, mut attributes) = match &state.nodes[handle].kind {
            NodeKind::Access(data) => {
                let name = &sdfg.containers[*data].name;
                ("AccessNode", name.clone(), json!({"data": name}))
            }
            NodeKind::Tasklet(it) => {
                let label = it.origin.stmt.to_string();
                let mut attributes = json!({"label": label, "code": code(&tasklet_code(it, state, handle))});
                if !it.found.is_empty() {
                    // The format has no traps: what an index is checked against is for our readers.
                    let sizes =
                        it.found.iter().map(|it| (it.name.clone(), json!(python::symbolic(&it.size))));
                    attributes["_meta_index_sizes"] = Value::Object(sizes.collect());
                }
                attributes["_meta_isobar"] = notation::tasklet_entry(it);
                self.add_place(&mut attributes, it.origin.span());
                ("Tasklet", label, attributes)
            }
            NodeKind::MapEntry(it) => {
                let label = map_label(it);
                ("MapEntry", label.clone(), map_attributes(it, &label))
            }
            NodeKind::MapExit { entry } => {
                let label = match &state.nodes[*entry].kind {
                    NodeKind::MapEntry(it) => map_label(it),
                    _ => String::new(),
                };
                ("MapExit", label, json!({}))
            }
            NodeKind::NestedSdfg(it) => ("NestedSDFG", it.sdfg.name.clone(), self.nested(it)),
        };
        attributes["in_connectors"] = inputs;
        attributes["out_connectors"] = outputs;
        json!({"type": kind, "label": label, "attributes": attributes})
    }

    fn nested(&mut self, nested: &NestedSdfg) -> Value {
        let mut mapping = JsonMap::new();
        for (symbol, value) in &nested.symbol_mapping {
            mapping.insert(symbol.name().to_owned(), json!(value.to_string()));
        }
        json!({"label": nested.sdfg.name, "sdfg": self.sdfg(&nested.sdfg), "symbol_mapping": mapping})
    }

    fn add_place(&self, attributes: &mut Value, span: Span) {
        if let Some(place) = self.place(span) {
            attributes["debuginfo"] = place;
        }
    }

    fn place(&self, span: Span) -> Option<Value> {
        let FileId(file) = span.file;
        let (name, text) = self.files.get(usize::from(file))?;
        let index = &self.indices[usize::from(file)];
        let (start, end) = (index.line_col(text, span.start), index.line_col(text, span.end));
        Some(json!({
            "type": "DebugInfo", "filename": name, "start_line": start.line, "start_column": start.col,
            "end_line": end.line, "end_column": end.col,
        }))
    }
}

/// The role of a container in the stencil, which a descriptor does not tell.
fn container_entry(container: &Container) -> Value {
    let kind = match container.kind {
        ContainerKind::Field { is_read, is_written } => json!({"reads": is_read, "writes": is_written}),
        ContainerKind::Scalar => json!("scalar"),
        ContainerKind::Temporary => json!("temporary"),
        ContainerKind::Local => json!("local"),
    };
    json!({
        "kind": kind, "axes": container.axes.to_string(), "is_private": container.storage == Storage::Private,
    })
}

/// A condition as it is, and the statement that asks it.
pub(super) fn condition_entry(
    condition: &Condition,
    origin: &Origin,
    containers: &Arena<Container>,
) -> Value {
    json!({
        "condition": notation::condition_text(condition, containers),
        "origin": notation::origin_entry(origin),
    })
}

fn number_or_sum(sum: &Affine) -> Value {
    sum.as_constant().map_or_else(|| json!(sum.to_string()), |it| json!(it))
}

/// A line for each index that is found, then the assignment.
fn tasklet_code(tasklet: &Tasklet, state: &State, node: Handle<Node>) -> String {
    // A connector is an array with only those dimensions in which its memlet moves more than one index.
    let element = |name: &str, at: &[RunTimeSubscript], edge: Option<&Edge>| {
        let subset = edge.and_then(|it| it.memlet.as_ref()).map_or(&[][..], |it| &it.subset);
        let is_array =
            |it: &&RunTimeSubscript| subset.get(it.dimension).is_some_and(|it| it.as_point().is_none());
        let index: Vec<&str> =
            at.iter().filter(is_array).map(|it| tasklet.found[it.found].name.as_str()).collect();
        if index.is_empty() { name.to_owned() } else { format!("{name}[{}]", index.join(", ")) }
    };
    let input = |connector: usize, at: &[RunTimeSubscript]| {
        let name = tasklet.inputs.get(connector).map_or("", |it| it.name.as_str());
        let edge = state.edges_into(node).find(|it| it.target_connector.as_deref() == Some(name));
        element(name, at, edge)
    };
    let leaf = |it: &Input| match it {
        Input::Connector(at) => input(*at, &[]),
        Input::Element { connector, at } => input(*connector, at),
        Input::Symbolic(sum) => format!("({sum})"),
    };
    let found = tasklet.found.iter().map(|it| format!("{} = {}\n", it.name, python::text(&it.code, &leaf)));
    let name = &tasklet.output.name;
    let edge = state.edges_out_of(node).find(|it| it.source_connector.as_ref() == Some(name));
    let target = element(name, &tasklet.output_at, edge);
    format!("{}{target} = {}", found.collect::<String>(), python::text(&tasklet.code, &leaf))
}

pub(super) fn condition(condition: &Condition, containers: &Arena<Container>) -> String {
    python::text(&with_wide_numbers(condition), &|it: &Operand| match it {
        Operand::Element { container, index } => {
            let name = &containers[*container].name;
            let index: Vec<String> = index.iter().map(ToString::to_string).collect();
            if index.is_empty() { name.clone() } else { format!("{name}[{}]", index.join(", ")) }
        }
        Operand::Symbolic(sum) => format!("({sum})"),
    })
}

/// The first value of a loop's variable, the condition to go on, and the next value.
pub(super) fn loop_code(it: &LoopRegion) -> [String; 3] {
    let variable = &it.variable;
    let (start, end) = (python::bound(&it.start), python::bound(&it.end));
    match it.order {
        LoopOrder::Ascending => [start, format!("{variable} < {end}"), format!("{variable} + {}", it.step)],
        LoopOrder::Descending => {
            [format!("{end} - 1"), format!("{variable} >= {start}"), format!("{variable} - 1")]
        }
    }
}

fn loop_attributes(it: &LoopRegion) -> Value {
    let variable = &it.variable;
    let [init, test, update] = loop_code(it);
    json!({
        "loop_variable": variable.name(), "init_statement": code(&format!("{variable} = {init}")),
        "loop_condition": code(&test), "update_statement": code(&format!("{variable} = {update}")),
        "_meta_isobar": loop_entry(it),
    })
}

/// The bounds of a loop as they are, which the code does not tell.
pub(super) fn loop_entry(it: &LoopRegion) -> Value {
    json!({
        "start": it.start.to_string(), "end": it.end.to_string(), "step": it.step,
        "descends": it.order == LoopOrder::Descending,
    })
}

fn map_label(map: &Map) -> String {
    let names: Vec<&str> = map.params.iter().map(|it| it.symbol.name()).collect();
    format!("map_{}", names.join("_"))
}

fn map_attributes(map: &Map, label: &str) -> Value {
    let schedule = match map.schedule {
        Schedule::Threads => "CPU_Multicore",
        Schedule::Sequential | Schedule::Simd => "Sequential",
        Schedule::Grid => "GPU_Device",
        Schedule::Block => "GPU_ThreadBlock",
    };
    let params: Vec<&str> = map.params.iter().map(|it| it.symbol.name()).collect();
    let mut range = subset(map.params.iter().map(|it| &it.range).collect());
    for (at, param) in map.params.iter().enumerate() {
        range["ranges"][at]["step"] = json!(param.step.to_string());
    }
    let mut attributes = json!({
        "label": label, "params": params, "range": range, "schedule": schedule, "collapse": params.len(),
    });
    if map.schedule == Schedule::Simd {
        attributes["_meta_isobar"] = json!("simd");
    }
    attributes
}

/// The name of the start of an edge in the format.
pub(super) fn source_connector(
    edge: &Edge,
    nodes: &Arena<Node>,
    containers: &Arena<Container>,
) -> Option<String> {
    match &nodes[edge.source].kind {
        NodeKind::MapEntry(_) | NodeKind::MapExit { .. } => of_map("OUT_", edge, containers),
        NodeKind::Access(_) | NodeKind::Tasklet(_) | NodeKind::NestedSdfg(_) => edge.source_connector.clone(),
    }
}

/// The name of the end of an edge in the format.
pub(super) fn target_connector(
    edge: &Edge,
    nodes: &Arena<Node>,
    containers: &Arena<Container>,
) -> Option<String> {
    match &nodes[edge.target].kind {
        NodeKind::MapEntry(_) | NodeKind::MapExit { .. } => of_map("IN_", edge, containers),
        NodeKind::Access(_) | NodeKind::Tasklet(_) | NodeKind::NestedSdfg(_) => edge.target_connector.clone(),
    }
}

/// A container that goes into a map as `IN_x` comes out as `OUT_x`.
fn of_map(way: &str, edge: &Edge, containers: &Arena<Container>) -> Option<String> {
    edge.memlet.as_ref().map(|it| format!("{way}{}", containers[it.data].name))
}

fn edge(edge: &Edge, state: &State, containers: &Arena<Container>) -> Value {
    let mut moved = memlet(edge.memlet.as_ref(), containers);
    let (source, target) = (&state.nodes[edge.source].kind, &state.nodes[edge.target].kind);
    if matches!((source, target), (NodeKind::Access(_), NodeKind::MapExit { .. })) && edge.memlet.is_some() {
        // A container leaves the map that holds it for itself. Without the place where it arrives,
        // readers of the format take this for a copy to the start of the container.
        moved["attributes"]["other_subset"] = moved["attributes"]["subset"].clone();
        moved["attributes"]["is_data_src"] = json!(true);
    }
    json!({
        "type": "MultiConnectorEdge",
        "src": edge.source.index().to_string(),
        "src_connector": source_connector(edge, &state.nodes, containers),
        "dst": edge.target.index().to_string(),
        "dst_connector": target_connector(edge, &state.nodes, containers),
        "attributes": {"data": moved},
    })
}

fn memlet(memlet: Option<&Memlet>, containers: &Arena<Container>) -> Value {
    let Some(memlet) = memlet else {
        return json!({"type": "Memlet", "attributes": {"volume": "0"}});
    };
    let one_value = Range::point(&Affine::constant(0));
    let ranges: Vec<&Range> =
        if memlet.subset.is_empty() { vec![&one_value] } else { memlet.subset.iter().collect() };
    json!({"type": "Memlet", "attributes": {
        "data": containers[memlet.data].name, "subset": subset(ranges), "volume": volume(&memlet.volume),
        "dynamic": memlet.volume.is_bound,
    }})
}

/// Ends are inclusive in the format.
fn subset(ranges: Vec<&Range>) -> Value {
    let ranges: Vec<Value> = ranges
        .into_iter()
        .map(|it| {
            let last = crate::sdfg::subset::moved(&it.end, -1);
            json!({"start": python::symbolic(&it.start), "end": python::symbolic(&last), "step": "1", "tile": "1"})
        })
        .collect();
    json!({"type": "Range", "ranges": ranges})
}

fn volume(volume: &Volume) -> String {
    let length = |it: &Range| match (&it.start, &it.end) {
        (Size::Affine(start), Size::Affine(end)) => format!("({})", end - start),
        (start, end) => format!("({} - ({}))", python::symbolic(end), python::symbolic(start)),
    };
    let terms = volume.terms.iter().map(|(number, ranges)| {
        let lengths = ranges.iter().map(length).filter(|it| it != "(1)");
        let factors: Vec<String> =
            (*number != 1).then(|| number.to_string()).into_iter().chain(lengths).collect();
        if factors.is_empty() { "1".to_owned() } else { factors.join("*") }
    });
    let terms: Vec<String> = terms.collect();
    terms.join(" + ")
}

pub(super) fn empty_state(label: &str) -> Value {
    json!({
        "type": "SDFGState", "label": label, "id": null, "collapsed": false, "scope_dict": {"-1": []},
        "nodes": [], "edges": [], "attributes": {},
    })
}

fn interstate_edge((source, target, is_barrier): (usize, usize, bool)) -> Value {
    // The format has no barriers: it is for our readers.
    let attributes = if is_barrier { json!({"_meta_isobar": "barrier"}) } else { json!({}) };
    json!({
        "type": "Edge", "src": source.to_string(), "dst": target.to_string(),
        "attributes": {"data": {"type": "InterstateEdge", "label": "", "attributes": attributes}},
    })
}

pub(super) fn code(text: &str) -> Value {
    json!({"string_data": text, "language": "Python"})
}

fn has_control_flow(region: &ControlFlowRegion) -> bool {
    region.blocks.iter().any(|block| match &block.kind {
        BlockKind::State(state) => state.nodes.iter().any(|(_, node)| match &node.kind {
            NodeKind::NestedSdfg(it) => has_control_flow(&it.sdfg.region),
            _ => false,
        }),
        BlockKind::Loop(_) | BlockKind::While(_) | BlockKind::Conditional(_) => true,
    })
}

/// The containers that iterations of a map use, without those of nested graphs.
fn containers_in_maps(region: &ControlFlowRegion) -> BTreeSet<Handle<Container>> {
    let mut found = BTreeSet::new();
    region.each_state(&mut |state| {
        found.extend(state.nodes.values().filter_map(|node| match node.kind {
            NodeKind::Access(data) => node.scope.map(|_| data),
            _ => None,
        }));
    });
    found
}

fn loop_variables(region: &ControlFlowRegion, each: &mut dyn FnMut(&Symbol)) {
    for block in &region.blocks {
        match &block.kind {
            BlockKind::State(_) => {}
            BlockKind::Loop(it) => {
                each(&it.variable);
                loop_variables(&it.body, each);
            }
            BlockKind::While(it) => loop_variables(&it.body, each),
            BlockKind::Conditional(it) => {
                it.branches.iter().for_each(|it| loop_variables(&it.body, each));
                if let Some(it) = &it.otherwise {
                    loop_variables(it, each);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples;
    use crate::sdfg::from_schedule::lower;

    /// The lifetimes of the containers of a graph and of those inside, by their names.
    fn lifetimes(graph: &Value, found: &mut Vec<(String, bool)>) {
        match graph {
            Value::Object(entries) => {
                if let Some(Value::Object(arrays)) = graph["attributes"].get("_arrays") {
                    let all = arrays.iter().filter(|it| it.1["attributes"]["transient"] == true);
                    found.extend(all.map(|it| (it.0.clone(), it.1["attributes"]["lifetime"] == "SDFG")));
                }
                entries.values().for_each(|it| lifetimes(it, found));
            }
            Value::Array(all) => all.iter().for_each(|it| lifetimes(it, found)),
            _ => {}
        }
    }

    #[test]
    fn what_passes_from_one_iteration_to_the_next_lives_as_long_as_its_graph() {
        let of = |tree| {
            let mut found = Vec::new();
            lifetimes(&to_json(&lower(&tree), &[], ControlFlowStyle::Regions), &mut found);
            found
        };
        // Iterations of a map have one each.
        let expected = [("lap".to_owned(), true), ("flux".to_owned(), false)];
        assert_eq!(of(samples::laplacian()), expected);
        let expected = ["x", "n", "if_0_1_holds"].map(|name| (name.to_owned(), true));
        assert_eq!(of(samples::columns()), expected);
    }
}
