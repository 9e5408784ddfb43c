//! Joins two maps into one.

use std::collections::{BTreeMap, BTreeSet};

use super::{MapEnds, Pair, Scene, map_of, renaming};
use crate::entity::Handle;
use crate::sdfg::analysis::Accesses;
use crate::sdfg::analysis::accesses::Access;
use crate::sdfg::nodes::{
    Container, ContainerKind, Edge, Memlet, Node, NodeKind, Range, Sdfg, State, Storage, Strides, Volume,
};
use crate::sdfg::subset::{are_disjoint, holds, sum, union};
use crate::space::AxisSet;

/// The state with the body of the second map behind the body of the first, the `pairs` in order.
///
/// # Errors
///
/// An iteration of the second would get only a part of the data that it reads from the same one of the first.
/// Or data would enter or leave the one map at two moments.
pub(super) fn joined(
    scene: &Scene<'_>,
    first: MapEnds,
    second: MapEnds,
    pairs: &[Pair],
) -> Result<State, String> {
    let mut state = scene.state.clone();
    if let (Some(one), Some(other)) = (map_of(scene.state, first.entry), map_of(scene.state, second.entry)) {
        for (from, to) in &renaming(one, other).0 {
            state.rename_inside(second.entry, from, to);
        }
    }
    for (_, node) in state.nodes.iter_mut() {
        if node.scope == Some(second.entry) {
            node.scope = Some(first.entry);
        }
    }
    let mut join = Join { scene, first, second, state, removed: BTreeSet::from([second.entry, second.exit]) };
    join.inputs()?;
    join.outputs()?;
    for &(before, after) in pairs {
        if !join.state.reaches(before, after) {
            join.state.order(before, after);
        }
    }
    let removed = join.removed;
    join.state.remove(&|it| removed.contains(&it));
    Ok(join.state)
}

struct Join<'s> {
    scene: &'s Scene<'s>,
    first: MapEnds,
    second: MapEnds,
    state: State,
    removed: BTreeSet<Handle<Node>>,
}

impl Join<'_> {
    fn name(&self, data: Handle<Container>) -> &str {
        &self.scene.containers[data].name
    }

    /// Takes the inputs of the second map from the first, or lets them enter with those of the first.
    fn inputs(&mut self) -> Result<(), String> {
        let (first, second) = (self.first, self.second);
        let edges = std::mem::take(&mut self.state.edges);
        let (into, rest): (Vec<Edge>, Vec<Edge>) =
            edges.into_iter().partition(|it| it.target == second.entry);
        self.state.edges = rest.into();
        let is_handed = |state: &State, it: &Edge| {
            it.source == first.exit || state.edges_into(it.source).any(|it| it.source == first.exit)
        };
        // Data that nothing in this state wrote before is the same at every node that stands for it.
        let is_start: Vec<bool> =
            self.state.nodes.handles().map(|it| self.state.edges_into(it).next().is_none()).collect();
        let nodes = &self.scene.state.nodes;
        let is_first =
            |it: &Edge| matches!(nodes[it.source].kind, NodeKind::Access(_)) && is_start[it.source.index()];
        for edge in into {
            let handed = is_handed(&self.state, &edge);
            match &edge.memlet {
                None if handed => {}
                None => self.state.edges.push(Edge { target: first.entry, ..edge }),
                Some(memlet) if handed => self.hand_over(memlet.data)?,
                Some(memlet) => {
                    let data = memlet.data;
                    let moves = |it: &&mut Edge| {
                        it.target == first.entry && it.memlet.as_ref().is_some_and(|it| it.data == data)
                    };
                    match self.state.edges.iter_mut().find(moves) {
                        None => self.state.edges.push(Edge { target: first.entry, ..edge }),
                        Some(known) if known.source == edge.source || is_first(known) && is_first(&edge) => {
                            widen(known, memlet);
                        }
                        Some(_) => {
                            return Err(format!("they read `{}` at two moments", self.name(data)));
                        }
                    }
                }
            }
        }
        for edge in self.state.edges.iter_mut().filter(|it| it.source == second.entry) {
            edge.source = first.entry;
        }
        Ok(())
    }

    /// Lets iterations of the second map read `data` from its writer in the first.
    fn hand_over(&mut self, data: Handle<Container>) -> Result<(), String> {
        let readers: Vec<usize> = (0..self.state.edges.len())
            .filter(|&at| {
                let edge = &self.state.edges[at];
                edge.source == self.second.entry && edge.memlet.as_ref().is_some_and(|it| it.data == data)
            })
            .collect();
        for reader in readers {
            let Some(wanted) = self.state.edges[reader].memlet.clone() else { continue };
            let writers: Vec<usize> = (0..self.state.edges.len())
                .filter(|&at| {
                    let edge = &self.state.edges[at];
                    let meets = |it: &Memlet| it.data == data && !are_disjoint(&it.subset, &wanted.subset);
                    edge.target == self.first.exit && edge.memlet.as_ref().is_some_and(meets)
                })
                .collect();
            let [writer] = writers.as_slice() else {
                return Err(format!(
                    "not one statement writes what an iteration reads of `{}`",
                    self.name(data)
                ));
            };
            let written = self.state.edges[*writer].memlet.clone();
            if !written.is_some_and(|it| holds(&it.subset, &wanted.subset)) {
                return Err(format!(
                    "an iteration does not write all that it reads of `{}`",
                    self.name(data)
                ));
            }
            let access = self.access_behind(*writer, data);
            let edge = &mut self.state.edges[reader];
            (edge.source, edge.source_connector) = (access, None);
        }
        Ok(())
    }

    /// The access node between a writer and the exit.
    fn access_behind(&mut self, writer: usize, data: Handle<Container>) -> Handle<Node> {
        let edge = self.state.edges[writer].clone();
        if matches!(self.state.nodes[edge.source].kind, NodeKind::Access(_)) {
            return edge.source;
        }
        let access =
            self.state.nodes.push(Node { kind: NodeKind::Access(data), scope: Some(self.first.entry) });
        let inner = &mut self.state.edges[writer];
        (inner.target, inner.target_connector) = (access, None);
        self.state.edges.push(Edge { source: access, source_connector: None, ..edge });
        access
    }

    /// Lets the outputs of the second map leave with those of the first.
    fn outputs(&mut self) -> Result<(), String> {
        let (first, second) = (self.first, self.second);
        for edge in self.state.edges.iter_mut().filter(|it| it.target == second.exit) {
            edge.target = first.exit;
        }
        let edges = std::mem::take(&mut self.state.edges);
        let (out_of, rest): (Vec<Edge>, Vec<Edge>) =
            edges.into_iter().partition(|it| it.source == second.exit);
        self.state.edges = rest.into();
        for mut edge in out_of {
            edge.source = first.exit;
            if let Some(memlet) = edge.memlet.clone() {
                let known = self.state.edges.iter().position(|it| {
                    it.source == first.exit && it.memlet.as_ref().is_some_and(|it| it.data == memlet.data)
                });
                if let Some(known) = known {
                    let known = self.state.edges.remove(known);
                    let is_seen = self.state.edges_out_of(known.target).next().is_some();
                    if known.target != edge.target && is_seen {
                        let name = self.name(memlet.data);
                        return Err(format!("something reads `{name}` before the second map writes it"));
                    }
                    if known.target != edge.target {
                        self.removed.insert(known.target);
                    }
                    known.memlet.iter().for_each(|it| widen(&mut edge, it));
                }
            }
            self.state.edges.push(edge);
        }
        Ok(())
    }
}

/// Lets an edge move another memlet too.
fn widen(edge: &mut Edge, by: &Memlet) {
    if let Some(memlet) = &mut edge.memlet {
        memlet.subset = union(&memlet.subset, &by.subset);
        memlet.volume = sum(&memlet.volume, &by.volume);
    }
}

/// Makes a value of each array from which every iteration only needs the one element that it wrote itself.
pub(super) fn keep_in_iterations(sdfg: &mut Sdfg) {
    for (data, _) in found_in_iterations(sdfg) {
        let container = &mut sdfg.containers[data];
        container.kind = ContainerKind::Local;
        container.storage = Storage::Register;
        container.strides = Strides::Packed;
        container.axes = AxisSet::of(&[]);
        (container.shape, container.shift) = (Vec::new(), Vec::new());
        sdfg.region.each_state_mut(&mut |state| {
            let moves = |it: &Edge| it.memlet.as_ref().is_some_and(|it| it.data == data);
            let is_end = |state: &State, it: Handle<Node>| {
                matches!(state.nodes[it].kind, NodeKind::MapEntry(_) | NodeKind::MapExit { .. })
            };
            let kept = std::mem::take(&mut state.edges).into_iter();
            let kept: Vec<Edge> = kept
                .filter(|it| !(moves(it) && (is_end(state, it.source) || is_end(state, it.target))))
                .collect();
            state.edges = kept.into();
            for memlet in
                state.edges.iter_mut().filter_map(|it| it.memlet.as_mut()).filter(|it| it.data == data)
            {
                (memlet.subset, memlet.volume) = (Vec::new(), Volume::one());
            }
            state.remove(&|_| false);
        });
    }
}

/// The common place of all reads and writes of an array: the state, the scope, and the element.
///
/// All are in one state: of two states, one would see values that the other wrote.
type ElementInScope = (usize, Handle<Node>, Vec<Range>);

fn found_in_iterations(sdfg: &Sdfg) -> BTreeMap<Handle<Container>, ElementInScope> {
    let is_array = |it: &Container| it.is_transient && !it.is_scalar();
    let mut open: BTreeSet<Handle<Container>> =
        sdfg.containers.iter().filter(|(_, it)| is_array(it)).map(|(it, _)| it).collect();
    let mut places: BTreeMap<Handle<Container>, ElementInScope> = BTreeMap::new();
    for access in Accesses::of(sdfg).iter() {
        if !open.contains(&access.data) {
            continue;
        }
        let is_at_one_place = match place_of(access) {
            Some(place) => *places.entry(access.data).or_insert_with(|| place.clone()) == place,
            None => false,
        };
        if !is_at_one_place {
            open.remove(&access.data);
        }
    }
    places.retain(|it, _| open.contains(it));
    places
}

/// The place where a statement accesses the one element that is written in the same iteration; `None` for
/// other accesses.
fn place_of(access: &Access<'_>) -> Option<ElementInScope> {
    let state = access.state()?;
    let element = access.element()?;
    // Data that enters the map comes from outside of the iteration.
    if !access.role.is_write() && !matches!(state.nodes[access.source()?].kind, NodeKind::Access(_)) {
        return None;
    }
    let scope = state.nodes[access.node()?].scope?;
    Some((access.state_idx()?, scope, element.to_vec()))
}
