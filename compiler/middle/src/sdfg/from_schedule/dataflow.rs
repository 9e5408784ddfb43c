//! Builds one state: tasklets and maps, with memlets on every edge.

use std::collections::BTreeMap;

use super::effects::{Effects, range};
use super::{Context, Graph};
use crate::entity::Handle;
use crate::expr::{Expr, ExprKind};
use crate::schedule::nodes::{self as schedule, Access, Assign, Loop, Placement};
use crate::schedule::visit::numbering::Numbered;
use crate::sdfg::nodes::{
    Connector, Container, Edge, Input, Map, MapParam, Memlet, Node, NodeKind, Operand, Range, RunTimeIndex,
    RunTimeSubscript, Schedule, State, Tasklet, Volume,
};
use crate::sdfg::subset::{are_disjoint, sum, volume_over};
use crate::space::Affine;
use crate::types::{BinaryOp, DType, Value};

/// A state in the making. The caller has made sure that data flow can order the nodes that it adds.
#[derive(Debug, Default)]
pub(super) struct StateBuilder {
    state: State,
    scope: Scope,
}

/// The outermost part of a state, or the inside of a map.
#[derive(Debug, Default)]
struct Scope {
    entry: Option<Handle<Node>>,
    /// The writes here, in order.
    written: Vec<PendingWrite>,
    /// By container, the positions in `written`.
    writes_of: BTreeMap<Handle<Container>, Vec<usize>>,
    /// At the outermost level: the access nodes of data from before the state.
    before: BTreeMap<Handle<Container>, Handle<Node>>,
    /// Inside a map: the volume that is read through the entry, by container.
    through_entry: BTreeMap<Handle<Container>, Volume>,
}

/// A write, and the access node that holds its outcome once someone needs it.
#[derive(Debug)]
struct PendingWrite {
    memlet: Memlet,
    node: Handle<Node>,
    connector: Option<String>,
    access: Option<Handle<Node>>,
}

/// Where data comes from: a node and a connector of it.
type DataSource = (Handle<Node>, Option<String>);

impl Scope {
    fn write(&mut self, memlet: Memlet, node: Handle<Node>, connector: Option<String>) {
        self.writes_of.entry(memlet.data).or_default().push(self.written.len());
        self.written.push(PendingWrite { memlet, node, connector, access: None });
    }

    /// The positions of the writes of a container, in order.
    fn writes_of(&self, data: Handle<Container>) -> &[usize] {
        self.writes_of.get(&data).map_or(&[], Vec::as_slice)
    }
}

impl StateBuilder {
    /// Adds a statement or a parallel loop.
    pub(super) fn add<'c>(&mut self, graph: &mut Graph<'c>, node: Numbered<'c>) {
        let mut scope = std::mem::take(&mut self.scope);
        self.add_to(&mut scope, graph, node);
        self.scope = scope;
    }

    pub(super) fn finish(mut self) -> State {
        let mut scope = std::mem::take(&mut self.scope);
        for written in &mut scope.written {
            self.access_of(None, written);
        }
        self.state
    }

    fn add_to<'c>(&mut self, scope: &mut Scope, graph: &mut Graph<'c>, node: Numbered<'c>) {
        match node.it {
            schedule::Node::Assign(it) => self.add_tasklet(scope, graph, it),
            schedule::Node::Loop(it) => {
                let effects = graph.context.effects(node);
                self.add_map(scope, graph, node.as_part(it), &effects);
            }
            schedule::Node::If(_)
            | schedule::Node::While(_)
            | schedule::Node::Region(_)
            | schedule::Node::Where(_)
            | schedule::Node::Barrier => {
                unreachable!("control flow is a block, not a node")
            }
        }
    }

    fn add_tasklet(&mut self, scope: &mut Scope, graph: &Graph<'_>, assign: &Assign) {
        let mut reader = Reader { graph, moved: Vec::new(), inputs: Vec::new(), found: Vec::new() };
        let code = reader.value(&assign.value);
        let output_at = reader.found_indices(&assign.target);
        let Reader { moved, inputs, found, .. } = reader;
        let sources: Vec<(DataSource, Memlet)> =
            moved.into_iter().map(|memlet| (self.source(scope, &memlet), memlet)).collect();
        let containers = graph.containers();
        let target = &containers[graph.container(assign.target.container)];
        let name = free_name(graph, &inputs, &found, &format!("{}_out", target.name));
        let output = Connector { name: name.clone(), dtype: target.dtype };
        let names: Vec<String> = inputs.iter().map(|it| it.name.clone()).collect();
        let tasklet = Tasklet { inputs, found, output, output_at, code, origin: assign.origin.clone() };
        let node = self.push(scope.entry, NodeKind::Tasklet(tasklet));
        if let (true, Some(entry)) = (sources.is_empty(), scope.entry) {
            self.connect((entry, None), (node, None), None);
        }
        for ((source, memlet), name) in sources.into_iter().zip(names) {
            self.connect(source, (node, Some(name)), Some(memlet));
        }
        let memlet = moved_by(graph, &assign.target);
        scope.write(memlet, node, Some(name));
    }

    /// `effects` are those of all iterations.
    fn add_map<'c>(
        &mut self,
        scope: &mut Scope,
        graph: &mut Graph<'c>,
        outermost: Numbered<'c, Loop>,
        effects: &Effects,
    ) {
        let context = graph.context;
        let (params, innermost) = perfect_nest(context, outermost);
        let map = Map { params, schedule: lowered(outermost.placement) };
        let entry = self.push(scope.entry, NodeKind::MapEntry(map.clone()));
        let n_variables = graph.variables.len();
        graph.variables.extend(map.params.iter().map(|it| (it.axis, it.symbol.clone())));
        let mut inner = Scope { entry: Some(entry), ..Scope::default() };
        if context.is_one_scope(innermost) {
            let before = graph.enter(&innermost.children);
            for node in context.numbering.nodes(innermost.block(&innermost.it.children)) {
                self.add_to(&mut inner, graph, node);
            }
            graph.leave(before);
        } else {
            self.add_nested(&mut inner, graph, innermost);
        }
        graph.variables.truncate(n_variables);
        let exit = self.push(scope.entry, NodeKind::MapExit { entry });
        self.close_inputs(scope, &inner, graph, effects, &map, entry);
        self.close_outputs(scope, inner, graph, effects, &map, exit);
        self.order_loose_ends(entry, exit);
    }

    /// Leads the data that the map reads to its entry.
    fn close_inputs(
        &mut self,
        scope: &mut Scope,
        inner: &Scope,
        graph: &Graph<'_>,
        effects: &Effects,
        map: &Map,
        entry: Handle<Node>,
    ) {
        for touched in &effects.reads {
            let data = graph.container(touched.container);
            let Some(volume) = inner.through_entry.get(&data) else { continue };
            let volume = volume_over(volume, &map.params);
            let memlet = Memlet { data, subset: touched.subset.to_vec(), volume };
            let source = self.source(scope, &memlet);
            self.connect(source, (entry, None), Some(memlet));
        }
        if let (true, Some(outer)) = (inner.through_entry.is_empty(), scope.entry) {
            self.connect((outer, None), (entry, None), None);
        }
    }

    /// Leads the data that the map writes from its exit.
    fn close_outputs(
        &mut self,
        scope: &mut Scope,
        mut inner: Scope,
        graph: &Graph<'_>,
        effects: &Effects,
        map: &Map,
        exit: Handle<Node>,
    ) {
        let NodeKind::MapExit { entry } = self.state.nodes[exit].kind else { return };
        for touched in &effects.writes {
            let data = graph.container(touched.container);
            let mut volume: Option<Volume> = None;
            let writes = inner.writes_of(data);
            for (nth, &at) in writes.iter().enumerate() {
                let written = &inner.written[at];
                // A value that is overwritten before the iteration ends is not seen outside.
                let overwrites = |it: &PendingWrite| {
                    it.memlet.subset == written.memlet.subset && !it.memlet.volume.is_bound
                };
                if writes[nth + 1..].iter().any(|&it| overwrites(&inner.written[it])) {
                    continue;
                }
                let source = match written.access {
                    Some(access) => (access, None),
                    None => (written.node, written.connector.clone()),
                };
                let memlet = written.memlet.clone();
                volume = Some(volume.map_or_else(|| memlet.volume.clone(), |it| sum(&it, &memlet.volume)));
                self.connect(source, (exit, None), Some(memlet));
            }
            let Some(volume) = volume else { continue };
            let memlet =
                Memlet { data, subset: touched.subset.to_vec(), volume: volume_over(&volume, &map.params) };
            scope.write(memlet, exit, None);
        }
        // A value that only this iteration sees ends in its access node.
        for written in &mut inner.written {
            let leaves = self.state.edges_out_of(written.node).any(|it| {
                it.source_connector == written.connector
                    && it.memlet.as_ref().is_some_and(|it| it.data == written.memlet.data)
            });
            if !leaves {
                self.access_of(Some(entry), written);
            }
        }
    }

    /// Every node of a map lies between its entry and its exit.
    fn order_loose_ends(&mut self, entry: Handle<Node>, exit: Handle<Node>) {
        let is_loose = |&node: &Handle<Node>| {
            self.state.nodes[node].scope == Some(entry)
                && !matches!(self.state.nodes[node].kind, NodeKind::MapEntry(_))
                && self.state.edges_out_of(node).next().is_none()
        };
        let loose: Vec<_> = self.state.nodes.handles().filter(is_loose).collect();
        for node in loose {
            self.connect((node, None), (exit, None), None);
        }
    }

    /// Adds the body of `it` as a graph of its own, which gets whole containers.
    fn add_nested<'c>(&mut self, scope: &mut Scope, graph: &mut Graph<'c>, it: Numbered<'c, Loop>) {
        let effects = Effects::of_all(graph.context, it.block(&it.it.children));
        let nested = graph.nested(it, &effects);
        let (inputs, outputs) = (nested.inputs.clone(), nested.outputs.clone());
        let whole = |name: &String| {
            let data =
                graph.containers().find(|it| it.name == *name).expect("a nested graph gets what is here");
            let full = |size: &crate::space::Size| Range::new(Affine::constant(0).into(), size.clone());
            let subset: Vec<Range> = graph.containers()[data].shape.iter().map(full).collect();
            Memlet {
                data,
                subset: subset.clone(),
                volume: Volume { terms: vec![(1, subset)], is_bound: true },
            }
        };
        let node = self.push(scope.entry, NodeKind::NestedSdfg(nested));
        if let (true, Some(entry)) = (inputs.is_empty(), scope.entry) {
            self.connect((entry, None), (node, None), None);
        }
        for name in inputs {
            let memlet = whole(&name);
            let source = self.source(scope, &memlet);
            self.connect(source, (node, Some(name)), Some(memlet));
        }
        for connector in outputs {
            scope.write(whole(&connector), node, Some(connector));
        }
    }

    /// The source of the elements of `memlet`: the last write here that overlaps them, or data from outside.
    fn source(&mut self, scope: &mut Scope, memlet: &Memlet) -> DataSource {
        let overlaps = |it: &&usize| !are_disjoint(&scope.written[**it].memlet.subset, &memlet.subset);
        if let Some(&at) = scope.writes_of(memlet.data).iter().rev().find(overlaps) {
            return (self.access_of(scope.entry, &mut scope.written[at]), None);
        }
        match scope.entry {
            Some(entry) => {
                let volume = &memlet.volume;
                scope
                    .through_entry
                    .entry(memlet.data)
                    .and_modify(|total| *total = sum(total, volume))
                    .or_insert_with(|| volume.clone());
                (entry, None)
            }
            None => {
                let state = &mut self.state;
                let access = scope.before.entry(memlet.data).or_insert_with(|| {
                    state.nodes.push(Node { kind: NodeKind::Access(memlet.data), scope: None })
                });
                (*access, None)
            }
        }
    }

    fn access_of(&mut self, entry: Option<Handle<Node>>, written: &mut PendingWrite) -> Handle<Node> {
        if let Some(access) = written.access {
            return access;
        }
        let access = self.push(entry, NodeKind::Access(written.memlet.data));
        let source = (written.node, written.connector.clone());
        self.connect(source, (access, None), Some(written.memlet.clone()));
        written.access = Some(access);
        access
    }

    fn push(&mut self, scope: Option<Handle<Node>>, kind: NodeKind) -> Handle<Node> {
        self.state.nodes.push(Node { kind, scope })
    }

    fn connect(
        &mut self,
        source: DataSource,
        target: (Handle<Node>, Option<String>),
        memlet: Option<Memlet>,
    ) {
        self.state.edges.push(Edge {
            source: source.0,
            source_connector: source.1,
            target: target.0,
            target_connector: target.1,
            memlet,
        });
    }
}

/// The inputs of a tasklet, in the making.
struct Reader<'g, 'c> {
    graph: &'g Graph<'c>,
    /// For each input, the memlet of its edge.
    moved: Vec<Memlet>,
    inputs: Vec<Connector>,
    found: Vec<RunTimeIndex>,
}

impl Reader<'_, '_> {
    fn value(&mut self, expr: &schedule::Expr) -> Expr<Input> {
        let graph = self.graph;
        graph.converted(expr, &mut |access| self.read(access))
    }

    fn read(&mut self, access: &Access) -> Input {
        let at = self.found_indices(access);
        let memlet = moved_by(self.graph, access);
        let known = self.moved.iter().position(|it| *it == memlet);
        let connector = known.unwrap_or_else(|| {
            let containers = self.graph.containers();
            let container = &containers[memlet.data];
            let name = free_name(self.graph, &self.inputs, &self.found, &format!("{}_in", container.name));
            self.inputs.push(Connector { name, dtype: container.dtype });
            self.moved.push(memlet);
            self.moved.len() - 1
        });
        if at.is_empty() { Input::Connector(connector) } else { Input::Element { connector, at } }
    }

    /// The indices of an access that are found at run time, each evaluated before those that need it.
    fn found_indices(&mut self, access: &Access) -> Vec<RunTimeSubscript> {
        let shape = &self.graph.context.tree.containers[access.container].shape;
        let mut at = Vec::new();
        for (dimension, (index, size)) in access.index.iter().zip(shape).enumerate() {
            let Some(found) = &index.found else { continue };
            let code = self.index(&index.known, found);
            let known = self.found.iter().position(|it| it.code == code && it.size == *size);
            let found = known.unwrap_or_else(|| {
                let containers = self.graph.containers();
                let wanted = format!("{}_at", containers[self.graph.container(access.container)].name);
                let name = free_name(self.graph, &self.inputs, &self.found, &wanted);
                self.found.push(RunTimeIndex { name, code, size: size.clone() });
                self.found.len() - 1
            });
            at.push(RunTimeSubscript { dimension, found });
        }
        at
    }

    /// The sum of the part that symbols tell and the part that is found, as an int64.
    fn index(&mut self, known: &Affine, found: &schedule::Expr) -> Expr<Input> {
        let span = found.span;
        let node = |kind| Expr { kind, dtype: DType::Int64, span };
        let value = self.value(found);
        let value = if value.dtype == DType::Int64 {
            value
        } else {
            node(ExprKind::Cast(DType::Int64, Box::new(value)))
        };
        if *known == Affine::constant(0) {
            return value;
        }
        let known = match known.as_constant() {
            Some(known) => ExprKind::Literal(Value::Int64(known)),
            None => ExprKind::Access(Input::Symbolic(known.clone())),
        };
        node(ExprKind::Binary(BinaryOp::Add, Box::new(node(known)), Box::new(value)))
    }
}

/// The memlet of an access: its element, or all elements that it can be.
fn moved_by(graph: &Graph<'_>, access: &Access) -> Memlet {
    let data = graph.container(access.container);
    let shape = &graph.context.tree.containers[access.container].shape;
    let subset = access.index.iter().zip(shape).map(|(at, size)| range(at, size)).collect();
    let is_known = access.index.iter().all(|it| it.found.is_none());
    Memlet { data, subset, volume: if is_known { Volume::one() } else { Volume::at_most_one() } }
}

/// A name for a connector or an index that nothing else in the graph has.
fn free_name(graph: &Graph<'_>, taken: &[Connector], found: &[RunTimeIndex], wanted: &str) -> String {
    let is_free = |name: &str| {
        !taken.iter().any(|it| it.name == name)
            && !found.iter().any(|it| it.name == name)
            && !graph.names.contains(name)
    };
    let numbered = (1..).map(|number| format!("{wanted}_{number}"));
    std::iter::once(wanted.to_owned()).chain(numbered).find(|it| is_free(it)).unwrap_or_default()
}

/// The loops from `outermost` in that one map can hold, and the innermost of them.
///
/// A loop that has arrays of its own in each iteration is the innermost.
fn perfect_nest<'t>(
    context: &Context<'t>,
    outermost: Numbered<'t, Loop>,
) -> (Vec<MapParam>, Numbered<'t, Loop>) {
    let mut params = vec![param(&outermost)];
    let mut innermost = outermost;
    loop {
        let mut inside = context.numbering.nodes(innermost.block(&innermost.it.children));
        let (Some(only), None) = (inside.next(), inside.next()) else { break };
        let schedule::Node::Loop(next) = only.it else { break };
        let is_free = |size: &crate::space::Size| {
            params.iter().all(|it| !crate::sdfg::subset::mentions(size, &it.symbol))
        };
        let fits = !context.owners.contains(&innermost.variable)
            && next.order == schedule::Order::Parallel
            && next.placement == outermost.placement
            && outermost.placement != Placement::Simd
            && is_free(&next.start)
            && is_free(&next.end);
        if !fits {
            break;
        }
        params.push(param(next));
        innermost = only.as_part(next);
    }
    (params, innermost)
}

fn param(it: &Loop) -> MapParam {
    let range = Range::new(it.start.clone(), it.end.clone());
    MapParam { symbol: it.variable.clone(), axis: it.axis, range, step: it.step }
}

fn lowered(placement: Placement) -> Schedule {
    match placement {
        Placement::Sequential => Schedule::Sequential,
        Placement::Threads => Schedule::Threads,
        Placement::Simd => Schedule::Simd,
        Placement::Grid => Schedule::Grid,
        Placement::Block => Schedule::Block,
    }
}

impl From<Affine> for Input {
    fn from(sum: Affine) -> Self {
        Input::Symbolic(sum)
    }
}

impl From<Affine> for Operand {
    fn from(sum: Affine) -> Self {
        Operand::Symbolic(sum)
    }
}
