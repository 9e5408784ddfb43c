//! The rules of the SDFG.

use std::collections::{BTreeMap, BTreeSet};

use super::nodes::{
    BlockKind, Condition, Container, ControlFlowRegion, Edge, Input, Map, Memlet, NestedSdfg, Node, NodeKind,
    Operand, RunTimeSubscript, Sdfg, State, Storage, Strides, Tasklet,
};
use super::subset::is_at_most;
use crate::entity::Handle;
use crate::expr::Expr;
use crate::expr::validate::{LeafType, validate as validate_expr};
use crate::space::{Affine, Size, Symbol};
use crate::types::DType;

/// All violations, each as one sentence; they are faults of ours, never the user's.
#[must_use]
pub fn validate(sdfg: &Sdfg) -> Vec<String> {
    let mut found = Vec::new();
    graph(sdfg, &mut found);
    found
}

fn graph(sdfg: &Sdfg, found: &mut Vec<String>) {
    let mut rules = Rules { sdfg, found, labels: BTreeSet::new() };
    rules.containers();
    let known: Vec<Symbol> = sdfg.symbols.clone();
    rules.region(&sdfg.region, &known);
}

struct Rules<'a> {
    sdfg: &'a Sdfg,
    found: &'a mut Vec<String>,
    labels: BTreeSet<&'a str>,
}

impl<'a> Rules<'a> {
    fn fault(&mut self, text: impl Into<String>) {
        let text = text.into();
        self.found.push(format!("{}: {text}", self.sdfg.name));
    }

    fn containers(&mut self) {
        let mut names: BTreeSet<&str> = self.sdfg.symbols.iter().map(Symbol::name).collect();
        for (handle, it) in self.sdfg.containers.iter() {
            if !names.insert(&it.name) {
                self.fault(format!("the name `{}` is used twice", it.name));
            }
            if it.shape.len() != it.shift.len() || it.shape.len() < it.axes.len() {
                self.fault(format!("shape, shift and axes of `{}` differ in rank", it.name));
            }
            if let Strides::Given(strides) = &it.strides {
                if strides.len() != it.shape.len() {
                    self.fault(format!("shape and strides of `{}` differ in rank", it.name));
                }
                for symbol in strides.iter().filter(|symbol| !self.sdfg.symbols.contains(symbol)) {
                    self.found.push(format!("{}: the stride `{symbol}` is not a symbol", self.sdfg.name));
                }
            }
            for symbol in it.level_symbols().filter(|symbol| !self.sdfg.symbols.contains(symbol)) {
                self.found.push(format!("{}: the size `{symbol}` is not a symbol", self.sdfg.name));
            }
            if it.storage == Storage::Register && !it.is_scalar() {
                self.fault(format!("`{}` is in a register and has a shape", it.name));
            }
            if it.is_transient && it.storage == Storage::Caller {
                self.fault(format!("`{}` is transient and belongs to the caller", it.name));
            }
            if it.is_transient == self.sdfg.arguments.contains(&handle) {
                self.fault(format!("`{}` is either transient or an argument", it.name));
            }
        }
    }

    fn region(&mut self, region: &'a ControlFlowRegion, known: &[Symbol]) {
        let n = region.blocks.len();
        // From the first block a single chain reaches every other one.
        let is_chain = region.edges.len() + 1 == n.max(1)
            && (1..n).all(|at| region.edges.iter().any(|it| it.target == at && it.source < n))
            && (0..n).all(|at| region.edges.iter().filter(|it| it.source == at).count() <= 1)
            && region.edges.iter().all(|it| it.target != 0);
        if !is_chain {
            self.fault("the blocks of a region are not one chain");
        }
        for block in &region.blocks {
            if !self.labels.insert(&block.label) {
                self.fault(format!("the label `{}` is used twice", block.label));
            }
            match &block.kind {
                BlockKind::State(state) => self.state(&block.label, state, known),
                BlockKind::Loop(it) => {
                    self.size(&it.start, known);
                    self.size(&it.end, known);
                    if known.contains(&it.variable) {
                        self.fault(format!("the loop variable `{}` is known outside", it.variable));
                    }
                    let inside: Vec<Symbol> = known.iter().chain([&it.variable]).cloned().collect();
                    self.region(&it.body, &inside);
                }
                BlockKind::While(it) => {
                    self.condition(&it.condition, known);
                    self.region(&it.body, known);
                }
                BlockKind::Conditional(it) => {
                    if it.branches.is_empty() {
                        self.fault(format!("`{}` has no branch", block.label));
                    }
                    for branch in &it.branches {
                        self.condition(&branch.condition, known);
                        self.region(&branch.body, known);
                    }
                    if let Some(otherwise) = &it.otherwise {
                        self.region(otherwise, known);
                    }
                }
            }
        }
    }

    fn condition(&mut self, condition: &Condition, known: &[Symbol]) {
        if condition.dtype != DType::Bool {
            self.fault(format!("a condition has the type {}", condition.dtype));
        }
        condition.accesses(&mut |operand| match operand {
            Operand::Element { container, index } => {
                self.memlet(&Memlet::element(*container, index), known);
            }
            Operand::Symbolic(sum) => self.sum(sum, known),
        });
        let containers = &self.sdfg.containers;
        let leaf = |operand: &Operand, _: Option<&_>| match operand {
            Operand::Element { container, .. } => {
                let container = containers.get(*container).ok_or("a condition reads no container")?;
                Ok((container.name.clone(), container.dtype))
            }
            Operand::Symbolic(sum) => Ok((sum.to_string(), DType::Int64)),
        };
        self.typed(condition, &leaf, "a condition");
    }

    /// The rules of expressions themselves.
    fn typed<A>(&mut self, expr: &Expr<A>, leaf: &LeafType<'_, A>, place: &str) {
        let mut found = Vec::new();
        validate_expr(expr, leaf, &mut found);
        found.into_iter().for_each(|it| self.fault(format!("{place}: {it}")));
    }

    fn state(&mut self, label: &str, state: &'a State, known: &[Symbol]) {
        let is_known = |it: Handle<Node>| state.nodes.get(it).is_some();
        if !state.edges.iter().all(|it| is_known(it.source) && is_known(it.target)) {
            return self.fault(format!("an edge of `{label}` ends nowhere"));
        }
        for (handle, node) in state.nodes.iter() {
            self.node(state, handle, node, label);
        }
        for edge in &state.edges {
            self.edge(state, edge, label);
        }
        self.scope(state, None, known, label);
    }

    /// The nodes of one scope, with what is known there.
    fn scope(&mut self, state: &'a State, scope: Option<Handle<Node>>, known: &[Symbol], label: &str) {
        let Some(order) = state.in_order(scope) else {
            return self.fault(format!("the data flow of `{label}` runs in a circle"));
        };
        for edge in &state.edges {
            // An edge into a map belongs outside; one from its entry, or to its exit from within, inside.
            let (source, target) = (&state.nodes[edge.source], &state.nodes[edge.target]);
            let is_here = source.scope == scope && target.scope == scope
                || scope == Some(edge.source)
                || matches!(target.kind, NodeKind::MapExit { entry } if scope == Some(entry) && source.scope == scope);
            if let (Some(memlet), true) = (&edge.memlet, is_here) {
                self.memlet(memlet, known);
            }
        }
        for node in order {
            match &state.nodes[node].kind {
                NodeKind::Access(_) | NodeKind::MapExit { .. } => {}
                NodeKind::Tasklet(it) => self.tasklet(state, node, it, known),
                NodeKind::MapEntry(it) => {
                    let inside = self.map(it, known);
                    self.scope(state, Some(node), &inside, label);
                }
                NodeKind::NestedSdfg(it) => self.nested(state, node, it, known),
            }
        }
    }

    fn map(&mut self, map: &Map, known: &[Symbol]) -> Vec<Symbol> {
        let mut inside = known.to_vec();
        if map.params.is_empty() {
            self.fault("a map has no parameters");
        }
        for param in &map.params {
            self.size(&param.range.start, &inside);
            self.size(&param.range.end, &inside);
            if inside.contains(&param.symbol) {
                self.fault(format!("the parameter `{}` is known outside its map", param.symbol));
            }
            inside.push(param.symbol.clone());
        }
        inside
    }

    fn node(&mut self, state: &State, handle: Handle<Node>, node: &Node, label: &str) {
        let n_edges = state.edges_into(handle).count() + state.edges_out_of(handle).count();
        match &node.kind {
            NodeKind::Access(data) => {
                if self.sdfg.containers.get(*data).is_none() {
                    self.fault(format!("{handle} of `{label}` accesses no container"));
                }
                if n_edges == 0 {
                    self.fault(format!("{handle} of `{label}` is isolated"));
                }
            }
            NodeKind::MapEntry(_) => {
                let exits = state.nodes.iter().filter(
                    |(_, it)| matches!(it.kind, NodeKind::MapExit { entry } if entry == handle && it.scope == node.scope),
                );
                if exits.count() != 1 {
                    self.fault(format!("the map {handle} of `{label}` does not have one exit"));
                }
                self.passes_through(state, handle, label);
            }
            NodeKind::MapExit { .. } => self.passes_through(state, handle, label),
            NodeKind::Tasklet(_) | NodeKind::NestedSdfg(_) => {}
        }
        if let Some(scope) = node.scope
            && !matches!(state.nodes.get(scope).map(|it| &it.kind), Some(NodeKind::MapEntry(_)))
        {
            self.fault(format!("{handle} of `{label}` stands in a scope that is no map"));
        }
    }

    /// A container that goes in comes out, and the other way round.
    fn passes_through(&mut self, state: &State, node: Handle<Node>, label: &str) {
        let mut through: BTreeMap<Handle<Container>, [bool; 2]> = BTreeMap::new();
        let into = state.edges_into(node).map(|it| (0, &it.target_connector, &it.memlet));
        let out_of = state.edges_out_of(node).map(|it| (1, &it.source_connector, &it.memlet));
        for (side, connector, memlet) in into.chain(out_of) {
            if let Some(connector) = connector {
                self.fault(format!(
                    "an edge at {node} of `{label}` has the connector `{connector}` at a map"
                ));
            }
            if let Some(memlet) = memlet {
                through.entry(memlet.data).or_default()[side] = true;
            }
        }
        for (data, _) in through.into_iter().filter(|it| it.1 != [true; 2]) {
            let name = self.sdfg.containers.get(data).map_or("?", |it| it.name.as_str());
            self.fault(format!("`{name}` does not pass through {node} of `{label}`"));
        }
    }

    fn edge(&mut self, state: &State, edge: &Edge, label: &str) {
        let (source, target) = (&state.nodes[edge.source], &state.nodes[edge.target]);
        let leaves = matches!(target.kind, NodeKind::MapExit { entry } if source.scope == Some(entry));
        if source.scope != target.scope && target.scope != Some(edge.source) && !leaves {
            self.fault(format!("an edge of `{label}` from {} to {} crosses a map", edge.source, edge.target));
        }
        let accessed = [source, target].map(|it| match it.kind {
            NodeKind::Access(data) => Some(data),
            _ => None,
        });
        if let Some(memlet) = &edge.memlet
            && accessed.iter().any(Option::is_some)
            && !accessed.contains(&Some(memlet.data))
        {
            self.fault(format!("a memlet of `{label}` moves what neither end of its edge accesses"));
        }
    }

    fn tasklet(&mut self, state: &State, node: Handle<Node>, tasklet: &Tasklet, known: &[Symbol]) {
        let place = format!("the tasklet of {}", tasklet.origin.stmt);
        let mut names = BTreeSet::new();
        for connector in tasklet.inputs.iter().chain([&tasklet.output]) {
            let is_container = self.sdfg.containers.iter().any(|(_, it)| it.name == connector.name);
            let is_symbol = known.iter().any(|it| it.name() == connector.name);
            if is_container || is_symbol || !names.insert(&connector.name) {
                self.fault(format!("{place}: the connector `{}` has a name that is taken", connector.name));
            }
        }
        for connector in &tasklet.inputs {
            let edges: Vec<&Edge> = state
                .edges_into(node)
                .filter(|it| it.target_connector.as_ref() == Some(&connector.name))
                .collect();
            let picked = picked(tasklet, &connector.name);
            self.one_element(&place, &connector.name, connector.dtype, &edges, &picked);
        }
        for (at, found) in tasklet.found.iter().enumerate() {
            let is_container = self.sdfg.containers.iter().any(|(_, it)| it.name == found.name);
            let is_symbol = known.iter().any(|it| it.name() == found.name);
            if is_container || is_symbol || !names.insert(&found.name) {
                self.fault(format!("{place}: the index `{}` has a name that is taken", found.name));
            }
            if found.code.dtype != DType::Int64 {
                self.fault(format!("{place}: the index `{}` is {}", found.name, found.code.dtype));
            }
            self.size(&found.size, known);
            self.code(&place, tasklet, &found.code, at, known);
        }
        let edges: Vec<&Edge> = state.edges_out_of(node).filter(|it| it.source_connector.is_some()).collect();
        if edges.iter().any(|it| it.source_connector.as_ref() != Some(&tasklet.output.name)) {
            self.fault(format!("{place} has an edge at an unknown connector"));
        }
        let picked = [tasklet.output_at.as_slice()];
        self.one_element(&place, &tasklet.output.name, tasklet.output.dtype, &edges, &picked);
        for it in edges.iter().filter_map(|it| it.memlet.as_ref()) {
            self.checked_sizes(&place, tasklet, &tasklet.output_at, it);
        }
        for edge in state.edges_into(node) {
            let (Some(connector), Some(memlet)) = (&edge.target_connector, &edge.memlet) else { continue };
            for at in self::picked(tasklet, connector) {
                self.checked_sizes(&place, tasklet, at, memlet);
            }
        }
        if tasklet.code.dtype != tasklet.output.dtype {
            self.fault(format!("{place} gives {} as {}", tasklet.code.dtype, tasklet.output.dtype));
        }
        self.code(&place, tasklet, &tasklet.code, tasklet.found.len(), known);
    }

    /// Checks code that may use the first `n_found` indices that are found.
    fn code(&mut self, place: &str, tasklet: &Tasklet, code: &Expr<Input>, n_found: usize, known: &[Symbol]) {
        code.accesses(&mut |it| match it {
            Input::Connector(at) | Input::Element { connector: at, .. } if *at >= tasklet.inputs.len() => {
                self.fault(format!("{place} reads a connector that it lacks"));
            }
            Input::Connector(_) => {}
            Input::Element { at, .. } => {
                if at.is_empty() || at.iter().any(|it| it.found >= n_found) {
                    self.fault(format!("{place} reads at an index that is not found before"));
                }
            }
            Input::Symbolic(sum) => self.sum(sum, known),
        });
        let leaf = |input: &Input, _: Option<&_>| match input {
            Input::Connector(at) | Input::Element { connector: at, .. } => {
                let connector = tasklet.inputs.get(*at).ok_or("an input is missing")?;
                Ok((connector.name.clone(), connector.dtype))
            }
            Input::Symbolic(sum) => Ok((sum.to_string(), DType::Int64)),
        };
        self.typed(code, &leaf, place);
    }

    /// An index that is found is checked against the size of the dimension that it belongs to.
    fn checked_sizes(&mut self, place: &str, tasklet: &Tasklet, at: &[RunTimeSubscript], memlet: &Memlet) {
        let Some(container) = self.sdfg.containers.get(memlet.data) else { return };
        for it in at {
            let found = tasklet.found.get(it.found);
            if found.is_none_or(|found| container.shape.get(it.dimension) != Some(&found.size)) {
                self.fault(format!(
                    "{place}: an index of `{}` is not checked against its size",
                    container.name
                ));
            }
        }
    }

    /// `picked` says in which dimensions the tasklet picks an element, for each way in which it does.
    fn one_element(
        &mut self,
        place: &str,
        connector: &str,
        dtype: DType,
        edges: &[&Edge],
        picked: &[&[RunTimeSubscript]],
    ) {
        let [edge] = edges else {
            return self.fault(format!("{place}: `{connector}` has {} edges", edges.len()));
        };
        let Some(memlet) = &edge.memlet else {
            return self.fault(format!("{place}: `{connector}` moves nothing"));
        };
        let zero = Size::from(Affine::constant(0));
        for at in picked {
            let shape = self.sdfg.containers.get(memlet.data).map_or(&[][..], |it| &it.shape);
            let is_one = memlet.subset.iter().zip(shape).enumerate().all(|(dimension, (range, size))| {
                let is_picked = at.iter().any(|it| it.dimension == dimension);
                if is_picked { range.start == zero && range.end == *size } else { range.as_point().is_some() }
            });
            if !is_one {
                self.fault(format!("{place}: `{connector}` moves more than one element"));
            }
        }
        if self.sdfg.containers.get(memlet.data).is_some_and(|it| it.dtype != dtype) {
            self.fault(format!("{place}: `{connector}` has not the type of its container"));
        }
    }

    fn nested(&mut self, state: &State, node: Handle<Node>, nested: &NestedSdfg, known: &[Symbol]) {
        let inner = &nested.sdfg;
        for &argument in &inner.arguments {
            let it = &inner.containers[argument];
            let is_connector = |names: &[String]| names.contains(&it.name);
            if !is_connector(&nested.inputs) && !is_connector(&nested.outputs) {
                self.fault(format!("`{}` of `{}` has no connector", it.name, inner.name));
            }
            if is_written(inner, argument) && !is_connector(&nested.outputs) {
                self.fault(format!("`{}` is written in `{}` and does not leave it", it.name, inner.name));
            }
        }
        let into = nested.inputs.iter().map(|name| {
            (
                name,
                state
                    .edges_into(node)
                    .filter(|it| it.target_connector.as_ref() == Some(name))
                    .collect::<Vec<_>>(),
            )
        });
        let out_of = nested.outputs.iter().map(|name| {
            (name, state.edges_out_of(node).filter(|it| it.source_connector.as_ref() == Some(name)).collect())
        });
        for (name, edges) in into.chain(out_of) {
            let inside = inner.containers.find(|it| it.name == *name && !it.is_transient);
            let Some(inside) = inside.map(|it| &inner.containers[it]) else {
                self.fault(format!("the connector `{name}` of `{}` is no argument", inner.name));
                continue;
            };
            let [Edge { memlet: Some(memlet), .. }] = edges.as_slice() else {
                self.fault(format!("`{name}` of `{}` is not connected once", inner.name));
                continue;
            };
            let Some(outside) = self.sdfg.containers.get(memlet.data) else { continue };
            let is_same = (&outside.shape, &outside.strides, &outside.shift, outside.ring, outside.dtype)
                == (&inside.shape, &inside.strides, &inside.shift, inside.ring, inside.dtype);
            let zero = Size::from(Affine::constant(0));
            let is_whole = memlet
                .subset
                .iter()
                .zip(&outside.shape)
                .all(|(range, size)| range.start == zero && range.end == *size);
            if !is_same || !is_whole {
                self.fault(format!("`{name}` is not passed whole into `{}`", inner.name));
            }
        }
        for symbol in &inner.symbols {
            if !nested.symbol_mapping.iter().any(|(it, _)| it == symbol) {
                self.fault(format!("the symbol `{symbol}` of `{}` is not mapped", inner.name));
            }
        }
        for (_, value) in &nested.symbol_mapping {
            self.sum(value, known);
        }
        graph(inner, self.found);
    }

    fn memlet(&mut self, memlet: &Memlet, known: &[Symbol]) {
        let Some(container) = self.sdfg.containers.get(memlet.data) else {
            return self.fault("a memlet moves no container");
        };
        if memlet.subset.len() != container.shape.len() {
            return self.fault(format!(
                "a memlet of `{}` has the rank {}",
                container.name,
                memlet.subset.len()
            ));
        }
        let zero = Size::from(Affine::constant(0));
        for (range, size) in memlet.subset.iter().zip(&container.shape) {
            self.size(&range.start, known);
            self.size(&range.end, known);
            let is_below = range.start != zero && is_at_most(&range.start, &Affine::constant(-1).into());
            let is_beyond = range.end != *size && is_at_most(&super::subset::moved(size, 1), &range.end);
            if is_below || is_beyond {
                self.fault(format!(
                    "a memlet of `{}` moves {}:{} of 0:{size}",
                    container.name, range.start, range.end
                ));
            }
        }
    }

    fn size(&mut self, size: &Size, known: &[Symbol]) {
        match size {
            Size::Affine(sum) => self.sum(sum, known),
            Size::Min(parts) | Size::Max(parts) => parts.iter().for_each(|it| self.size(it, known)),
        }
    }

    fn sum(&mut self, sum: &Affine, known: &[Symbol]) {
        for (symbol, _) in sum.terms() {
            if !known.contains(symbol) {
                self.fault(format!("the symbol `{symbol}` is not known where it is used"));
            }
        }
    }
}

/// In which dimensions a tasklet picks an element of what comes in at a connector, for each way in which it does.
fn picked<'t>(tasklet: &'t Tasklet, connector: &str) -> Vec<&'t [RunTimeSubscript]> {
    let mut found: Vec<&[RunTimeSubscript]> = Vec::new();
    let codes = tasklet.found.iter().map(|it| &it.code).chain([&tasklet.code]);
    codes.for_each(|code| {
        code.accesses(&mut |it| {
            let (at, picked) = match it {
                Input::Connector(at) => (*at, &[][..]),
                Input::Element { connector, at } => (*connector, at.as_slice()),
                Input::Symbolic(_) => return,
            };
            if tasklet.inputs.get(at).is_some_and(|it| it.name == connector) {
                found.push(picked);
            }
        });
    });
    found
}

/// Whether something inside a graph writes one of its containers.
fn is_written(sdfg: &Sdfg, container: Handle<Container>) -> bool {
    fn in_region(region: &ControlFlowRegion, container: Handle<Container>) -> bool {
        region.blocks.iter().any(|block| match &block.kind {
            BlockKind::State(state) => state.edges.iter().any(|edge| {
                matches!(
                    state.nodes.get(edge.source).map(|it| &it.kind),
                    Some(NodeKind::Tasklet(_) | NodeKind::NestedSdfg(_))
                ) && edge.memlet.as_ref().is_some_and(|it| it.data == container)
            }),
            BlockKind::Loop(it) => in_region(&it.body, container),
            BlockKind::While(it) => in_region(&it.body, container),
            BlockKind::Conditional(it) => {
                it.branches.iter().any(|it| in_region(&it.body, container))
                    || it.otherwise.as_ref().is_some_and(|it| in_region(it, container))
            }
        })
    }
    in_region(&sdfg.region, container)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples;
    use crate::sdfg::from_schedule::lower;
    use crate::sdfg::nodes::{Block, InterstateEdge, Range};

    fn faults(change: impl FnOnce(&mut Sdfg)) -> String {
        let mut sdfg = lower(&samples::laplacian());
        change(&mut sdfg);
        validate(&sdfg).join("\n")
    }

    fn state(sdfg: &mut Sdfg) -> &mut State {
        match &mut sdfg.region.blocks[0].kind {
            BlockKind::State(state) => state,
            _ => panic!("the first block is a state"),
        }
    }

    fn tasklet(state: &State) -> Handle<Node> {
        state.nodes.find(|it| matches!(it.kind, NodeKind::Tasklet(_))).expect("there is a tasklet")
    }

    #[test]
    fn what_is_lowered_is_valid() {
        for tree in samples::all() {
            assert_eq!(validate(&lower(&tree)), Vec::<String>::new(), "{}", tree.name);
        }
    }

    #[test]
    fn two_containers_with_one_name_are_refused() {
        let found = faults(|sdfg| {
            let copy = sdfg.containers[sdfg.arguments[0]].clone();
            sdfg.arguments.push(sdfg.containers.push(copy));
        });
        assert!(found.contains("the name `q` is used twice"), "{found}");
    }

    #[test]
    fn a_missing_input_edge_is_refused() {
        let found = faults(|sdfg| {
            let state = state(sdfg);
            let node = tasklet(state);
            let gone = state.edges_into(node).next().expect("it has inputs").target_connector.clone();
            state.edges.retain(|it| it.target != node || it.target_connector != gone);
        });
        assert!(found.contains("the tasklet of s0: `q_in` has 0 edges"), "{found}");
    }

    #[test]
    fn a_memlet_of_lower_rank_is_refused() {
        let found = faults(|sdfg| {
            let state = state(sdfg);
            let node = tasklet(state);
            let edge = state.edges.iter_mut().find(|it| it.source == node).expect("it has an output");
            edge.memlet.as_mut().expect("it moves data").subset.pop();
        });
        assert!(found.contains("a memlet of `lap` has the rank 2"), "{found}");
    }

    #[test]
    fn an_index_out_of_bounds_is_refused() {
        let found = faults(|sdfg| {
            let state = state(sdfg);
            let memlet = state.edges.memlets_mut().next().expect("something moves");
            memlet.subset[0] = Range::new(Affine::constant(-1).into(), Affine::constant(1).into());
        });
        assert!(found.contains("moves -1:1 of 0:I + "), "{found}");
    }

    #[test]
    fn an_index_that_is_not_checked_is_refused() {
        let text = "\
schedule s
field a: float64[I, J, K] shift [0, 0, 0] read
field b: float64[I, J, K] shift [0, 0, 0] write
for k in [0, K) parallel:
  for j in [0, J) parallel:
    for i in [0, I) parallel:
      b[i, j, k] = a[i, j, {3}]
";
        let tree = samples::parsed(text);
        let faults = |change: &dyn Fn(&mut Tasklet)| {
            let mut sdfg = lower(&tree);
            let state = state(&mut sdfg);
            let node = tasklet(state);
            let NodeKind::Tasklet(it) = &mut state.nodes[node].kind else { panic!("it is a tasklet") };
            change(it);
            validate(&sdfg).join("\n")
        };
        assert_eq!(faults(&|_| {}), "");
        let found = faults(&|it| it.found.clear());
        assert!(found.contains("the tasklet of s0 reads at an index that is not found before"), "{found}");
        let found = faults(&|it| it.found[0].size = Affine::constant(9).into());
        assert!(found.contains("an index of `a` is not checked against its size"), "{found}");
        let found = faults(&|it| it.output_at.push(RunTimeSubscript { dimension: 2, found: 0 }));
        assert!(found.contains("`b_out` moves more than one element"), "{found}");
    }

    #[test]
    fn an_unknown_symbol_is_refused() {
        let found = faults(|sdfg| sdfg.symbols.retain(|it| it.name() != "J"));
        assert!(found.contains("the symbol `J` is not known where it is used"), "{found}");
    }

    #[test]
    fn a_circle_is_refused() {
        let found = faults(|sdfg| {
            let state = state(sdfg);
            let is_outside = |it: Handle<Node>| state.nodes[it].scope.is_none();
            let edge = state.edges.iter().find(|it| is_outside(it.source) && is_outside(it.target));
            let edge = edge.expect("data flows").clone();
            let (source, target) = (edge.target, edge.source);
            state.edges.push(Edge {
                source,
                target,
                source_connector: None,
                target_connector: None,
                memlet: None,
            });
        });
        assert!(found.contains("runs in a circle"), "{found}");
    }

    #[test]
    fn a_block_off_the_chain_is_refused() {
        let found = faults(|sdfg| {
            let kind = BlockKind::State(State::default());
            sdfg.region.blocks.push(Block { label: "state_0".to_owned(), kind });
        });
        assert!(
            found.contains("not one chain") && found.contains("the label `state_0` is used twice"),
            "{found}"
        );
        let found =
            faults(|sdfg| sdfg.region.edges.push(InterstateEdge { source: 0, target: 0, is_barrier: false }));
        assert!(found.contains("not one chain"), "{found}");
    }

    #[test]
    fn a_nested_graph_gets_whole_containers_and_all_its_symbols() {
        let mut sdfg = lower(&samples::sweep());
        let state = state(&mut sdfg);
        for node in state.nodes.handles() {
            if let NodeKind::NestedSdfg(nested) = &mut state.nodes[node].kind {
                nested.symbol_mapping.retain(|(it, _)| it.name() != "j");
                nested.outputs.clear();
                let data = nested.sdfg.arguments[0];
                nested.sdfg.containers[data].shape[0] = Affine::constant(1).into();
            }
        }
        let found = validate(&sdfg).join("\n");
        assert!(found.contains("the symbol `j` of `map_0_body` is not mapped"), "{found}");
        assert!(found.contains("`out` is written in `map_0_body` and does not leave it"), "{found}");
        assert!(found.contains("is not passed whole into `map_0_body`"), "{found}");
    }
}
