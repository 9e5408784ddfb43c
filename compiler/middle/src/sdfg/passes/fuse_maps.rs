//! Makes one map of two that run over the same points.

mod join;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};

use self::join::{joined, keep_in_iterations};
use super::PassCx;
use crate::diag::{Origin, StmtId};
use crate::entity::{Arena, Handle};
use crate::sdfg::analysis::accesses::{WorkAccess, of_work};
use crate::sdfg::nodes::{Container, Edge, Map, Node, NodeKind, Range, Sdfg, State, Storage};
use crate::sdfg::subset::{are_disjoint, propagated_over};
use crate::space::Symbol;

pub const NAME: &str = "sdfg/fuse-maps";

/// The number of maps before each one that are looked at.
const LOOK_BACK: usize = 8;

/// A state with more nodes is left as it is. Where loops are merged on the schedule tree, the largest has
/// some hundred.
const MOST_NODES: usize = 400;

/// Fuses each map with one before it in the same scope, where both have the same iterations and touch the
/// same data. Then fuses the maps inside of it.
///
/// - **Precondition**: a valid graph.
/// - **Effect**: fewer, larger maps. An iteration of the fused map runs that of the first and then that of
///   the second. Loops keep their order, their nesting and their marks. An array that nobody else sees
///   becomes a value of each iteration, where each iteration needs only its own element.
/// - **Legality**: [`may_fuse`], and the checks that [`joined`] makes on its way; every refusal becomes a
///   remark.
/// - **Why**: the elements that the first map leaves in the cache are there for the second. The schedule tree
///   merges neighbours. Data flow also finds maps that have others in between which neither depends on.
pub fn fuse_maps(sdfg: &mut Sdfg, cx: &mut PassCx) {
    let apart = std::mem::take(&mut sdfg.apart);
    sdfg.each_nested_mut(&mut |nested| fuse_in(&mut nested.sdfg, &apart, cx));
    fuse_in(sdfg, &apart, cx);
    sdfg.apart = apart;
}

fn fuse_in(sdfg: &mut Sdfg, apart: &BTreeSet<StmtId>, cx: &mut PassCx) {
    let containers = &sdfg.containers;
    let mut is_changed = false;
    sdfg.region.each_state_mut(&mut |state| {
        if state.nodes.len() > MOST_NODES {
            let message = format!("a state of {} nodes is not searched for maps", state.nodes.len());
            cx.missed(message, None);
            return;
        }
        let (mut from, mut refused) = (Cursor::default(), Vec::new());
        loop {
            let scene = Scene { state, containers, apart, members: members(state) };
            match fused_once(&scene, &mut from, &mut refused) {
                Some((both, message, about)) if cx.may_change() => {
                    cx.applied(message, &about);
                    *state = both;
                    is_changed = true;
                }
                Some(_) => break,
                None => {
                    refused.into_iter().for_each(|(message, about)| cx.missed(message, &about));
                    break;
                }
            }
        }
    });
    if is_changed {
        keep_in_iterations(sdfg);
    }
}

/// The place where the search goes on. Maps before it were looked at, and stay as they are.
#[derive(Clone, Copy, Debug, Default)]
struct Cursor {
    scope: usize,
    /// The second map, among those of the scope.
    map: usize,
}

/// The nodes right inside each map, by its entry, and outside of all.
type Members = BTreeMap<Option<Handle<Node>>, Vec<Handle<Node>>>;

fn members(state: &State) -> Members {
    let mut members = Members::new();
    for (node, it) in state.nodes.iter() {
        members.entry(it.scope).or_default().push(node);
    }
    members
}

/// A state, its scopes and its containers.
struct Scene<'s> {
    state: &'s State,
    members: Members,
    containers: &'s Arena<Container>,
    /// Statements whose loops do not continue others.
    apart: &'s BTreeSet<StmtId>,
}

/// Both ends of a map.
#[derive(Clone, Copy, Debug)]
struct MapEnds {
    entry: Handle<Node>,
    exit: Handle<Node>,
}

/// A remark, and the statements that it is about.
type FusionRemark = (String, Vec<Origin>);

impl Scene<'_> {
    /// The nodes inside a map, at any depth.
    fn inside(&self, entry: Handle<Node>) -> Vec<Handle<Node>> {
        let (mut inside, mut next) = (Vec::new(), vec![entry]);
        while let Some(entry) = next.pop() {
            for &node in self.members.get(&Some(entry)).into_iter().flatten() {
                inside.push(node);
                if matches!(self.state.nodes[node].kind, NodeKind::MapEntry(_)) {
                    next.push(node);
                }
            }
        }
        inside
    }
}

/// Fuses the next two maps that can be fused, from the outermost scope in.
fn fused_once(
    scene: &Scene<'_>,
    from: &mut Cursor,
    refused: &mut Vec<FusionRemark>,
) -> Option<(State, String, Vec<Origin>)> {
    let state = scene.state;
    let mut of_scopes: BTreeMap<Option<Handle<Node>>, Vec<MapEnds>> = BTreeMap::new();
    for (entry, exit) in state.exits() {
        of_scopes.entry(state.nodes[entry].scope).or_default().push(MapEnds { entry, exit });
    }
    for (number, (scope, mut maps)) in of_scopes.into_iter().enumerate().skip(from.scope) {
        if number > from.scope {
            *from = Cursor { scope: number, map: 0 };
        }
        if maps.len() < 2 {
            continue;
        }
        let order = state.in_order(scope)?;
        let place: BTreeMap<_, _> = order.into_iter().enumerate().map(|(at, node)| (node, at)).collect();
        maps.sort_by_key(|it| place.get(&it.entry));
        for (at, &second) in maps.iter().enumerate().skip(from.map) {
            from.map = at;
            let mut nearest = None;
            for &first in maps[..at].iter().rev().take(LOOK_BACK) {
                let Some(common) = in_common(scene, first, second) else { continue };
                let result =
                    may_fuse(scene, first, second).and_then(|pairs| joined(scene, first, second, &pairs));
                let name = &scene.containers[common].name;
                let about = || {
                    [first, second].iter().filter_map(|it| first_origin(scene, it.entry).cloned()).collect()
                };
                match result {
                    Ok(both) => {
                        return Some((both, format!("both maps touch `{name}`, and are one now"), about()));
                    }
                    Err(why) => {
                        nearest.get_or_insert_with(|| {
                            (format!("both maps touch `{name}`, but stay two: {why}"), about())
                        });
                    }
                }
            }
            refused.extend(nearest);
        }
    }
    None
}

/// The first array that both maps touch, where these have the same schedule, axes and steps.
fn in_common(scene: &Scene<'_>, first: MapEnds, second: MapEnds) -> Option<Handle<Container>> {
    let (one, other) = (map_of(scene.state, first.entry)?, map_of(scene.state, second.entry)?);
    let is_alike = one.schedule == other.schedule
        && one.params.len() == other.params.len()
        && one
            .params
            .iter()
            .zip(&other.params)
            .all(|(one, other)| one.axis == other.axis && one.step == other.step);
    if !is_alike {
        return None;
    }
    let moved = |ends: MapEnds| {
        let edges = scene.state.edges_into(ends.entry).chain(scene.state.edges_out_of(ends.exit));
        edges.filter_map(|it| it.memlet.as_ref()).map(|it| it.data).collect::<BTreeSet<_>>()
    };
    moved(first).intersection(&moved(second)).copied().find(|&it| !scene.containers[it].is_scalar())
}

/// Two nodes; the first must have ended before the second starts.
type Pair = (Handle<Node>, Handle<Node>);

/// Whether each iteration of the second map may run right after the same one of the first. Returns the pairs
/// of nodes inside that then have to stay in order.
fn may_fuse(scene: &Scene<'_>, first: MapEnds, second: MapEnds) -> Result<Vec<Pair>, String> {
    let state = scene.state;
    let (Some(one), Some(other)) = (map_of(state, first.entry), map_of(state, second.entry)) else {
        return Err("one of them is no map".to_owned());
    };
    let names = renaming(one, other);
    let ranges = |it: &Map| it.params.iter().map(|it| it.range.clone()).collect::<Vec<_>>();
    if ranges(one) != names.ranges(&ranges(other)) {
        return Err("they have other ranges".to_owned());
    }
    if names.0.iter().any(|(_, to)| mentions(state, second.entry, to)) {
        return Err("the second uses the name of a parameter of the first for something else".to_owned());
    }
    if let Some(pinned) = origins(scene, second.entry).into_iter().find(|it| scene.apart.contains(&it.stmt)) {
        return Err(format!("{} is kept apart", pinned.stmt));
    }
    if [first, second].iter().any(|it| may_end(scene, it.entry)) {
        return Err("a statement may end the run, and the first of several must stay the first".to_owned());
    }
    // Nodes between them may only be data that the first hands to the second.
    let (behind, before) = (state.reached_from(first.exit), state.leading_to(second.entry));
    if state.leading_to(first.entry)[second.exit.index()] {
        return Err("the first needs what the second does".to_owned());
    }
    for between in state.nodes.handles().filter(|it| behind[it.index()] && before[it.index()]) {
        if [first.exit, second.entry].contains(&between) {
            continue;
        }
        let is_handed = matches!(state.nodes[between].kind, NodeKind::Access(_))
            && state.edges_into(between).all(|it| it.source == first.exit);
        if !is_handed {
            return Err("something between them needs the first and is needed by the second".to_owned());
        }
    }
    let (before, after) = (of_work_in(state, first), of_work_in(state, second));
    let mut pairs = Vec::new();
    for one in &before {
        let data = one.memlet.data;
        let is_conflict =
            |it: &&WorkAccess<'_>| it.memlet.data == data && (it.role.is_write() || one.role.is_write());
        for other in after.iter().filter(is_conflict) {
            let subset = names.ranges(&other.memlet.subset);
            let map = map_of(state, first.entry).map_or(&[][..], |it| &it.params);
            let all = |subset: &[Range]| propagated_over(subset, map);
            if is_own(scene, first, second, data)
                || is_of_one_iteration(&one.memlet.subset, &subset, map_params(map))
            {
                pairs.push((one.work.ends, other.work.starts));
            } else if !are_disjoint(&all(&one.memlet.subset), &all(&subset)) {
                let name = &scene.containers[data].name;
                let what = match (one.role.is_write(), other.role.is_write()) {
                    (true, true) => {
                        "in the second an iteration overwrites what another one of the first wrote"
                    }
                    (true, false) => "in the second an iteration reads what another one of the first wrote",
                    (false, _) => "in the second an iteration overwrites what another one of the first reads",
                };
                return Err(format!("{what}, `{name}`"));
            }
        }
    }
    Ok(pairs)
}

fn map_of(state: &State, entry: Handle<Node>) -> Option<&Map> {
    match &state.nodes[entry].kind {
        NodeKind::MapEntry(map) => Some(map),
        NodeKind::Access(_) | NodeKind::MapExit { .. } | NodeKind::Tasklet(_) | NodeKind::NestedSdfg(_) => {
            None
        }
    }
}

/// The accesses of the work right inside of a map. The reads of each node come before its writes.
fn of_work_in(state: &State, map: MapEnds) -> Vec<WorkAccess<'_>> {
    let mut found = of_work(state, Some(map.entry));
    found.sort_by_key(|it| (it.node, it.role.is_write()));
    found
}

fn map_params(params: &[crate::sdfg::nodes::MapParam]) -> Vec<&Symbol> {
    params.iter().map(|it| &it.symbol).collect()
}

/// Whether each iteration of each map has the container for itself.
fn is_own(scene: &Scene<'_>, first: MapEnds, second: MapEnds, data: Handle<Container>) -> bool {
    let container = &scene.containers[data];
    let moves = |it: &&Edge| it.memlet.as_ref().is_some_and(|it| it.data == data);
    let enters = |ends: MapEnds| scene.state.edges_into(ends.entry).any(|it| moves(&it));
    // Data also crosses where it leaves for a node from which somebody reads it.
    let is_read = |access| scene.state.edges_out_of(access).any(|it| moves(&it));
    let crosses = |ends: MapEnds| {
        enters(ends) || scene.state.edges_out_of(ends.exit).filter(moves).any(|it| is_read(it.target))
    };
    container.is_transient && container.storage == Storage::Register && !crosses(first) && !crosses(second)
}

/// Whether two subsets can only meet in the same iteration: every parameter is told by an index that both have.
fn is_of_one_iteration(one: &[Range], other: &[Range], params: Vec<&Symbol>) -> bool {
    params.iter().all(|param| {
        one.iter().zip(other).any(|(one, other)| {
            let (Some(one), Some(other)) = (one.as_point(), other.as_point()) else { return false };
            let is_told = |symbol: &Symbol| one.factor(symbol) != 0;
            one == other && is_told(param) && !params.iter().any(|it| it != param && is_told(it))
        })
    })
}

/// From the parameters of the second map to those of the first, where they are not the same.
struct Renaming(Vec<(Symbol, Symbol)>);

fn renaming(first: &Map, second: &Map) -> Renaming {
    let pairs = second.params.iter().zip(&first.params);
    let pairs = pairs.map(|(from, to)| (from.symbol.clone(), to.symbol.clone()));
    Renaming(pairs.filter(|(from, to)| from != to).collect())
}

impl Renaming {
    fn ranges(&self, subset: &[Range]) -> Vec<Range> {
        self.0.iter().fold(subset.to_vec(), |subset, (from, to)| {
            subset.iter().map(|it| it.with_symbol(from, to)).collect()
        })
    }
}

/// Whether something inside a map names a symbol, or has it as a parameter.
fn mentions(state: &State, entry: Handle<Node>, symbol: &Symbol) -> bool {
    let mut copy = state.clone();
    let other = Symbol::new("");
    copy.rename_inside(entry, symbol, &other) > 0
}

/// Whether something inside a map may have to end the run.
fn may_end(scene: &Scene<'_>, entry: Handle<Node>) -> bool {
    scene.inside(entry).into_iter().any(|node| scene.state.nodes[node].kind.may_end())
}

/// The statements inside a map.
fn origins<'s>(scene: &Scene<'s>, entry: Handle<Node>) -> Vec<&'s Origin> {
    let mut found = Vec::new();
    for node in scene.inside(entry) {
        scene.state.nodes[node].kind.each_origin(&mut |it| found.push(it));
    }
    found
}

fn first_origin<'s>(scene: &Scene<'s>, entry: Handle<Node>) -> Option<&'s Origin> {
    origins(scene, entry).into_iter().min_by_key(|it| it.stmt)
}
