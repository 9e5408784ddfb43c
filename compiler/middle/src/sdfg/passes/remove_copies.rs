//! Takes out copies that change nothing but the name.

#[cfg(test)]
mod tests;

use super::PassCx;
use super::eliminate_dead_dataflow::drop_empty_states;
use crate::diag::Origin;
use crate::entity::Handle;
use crate::expr::ExprKind;
use crate::sdfg::analysis::Accesses;
use crate::sdfg::analysis::accesses::Access;
use crate::sdfg::nodes::{
    Container, Edge, Input, Memlet, Node, NodeKind, Range, Sdfg, State, Storage, Tasklet,
};
use crate::sdfg::subset::{holds, propagated_over, sum, union};

pub const NAME: &str = "sdfg/remove-copies";

/// Takes out each statement that copies one array to another, where the graph owns one of the two. All other
/// statements then use the one array that is left.
///
/// - **Precondition**: a valid graph, in which no element is read that was not written before.
/// - **Effect**: one array less, and one pass over it less.
/// - **Legality**: [`may_read_original`] and [`may_write_target`]; every refusal becomes a remark.
/// - **Why**: a copy costs a read and a write of each element, and computes nothing.
pub fn remove_copies(sdfg: &mut Sdfg, cx: &mut PassCx) {
    sdfg.each_inner_mut(&mut |nested| {
        remove_copies(&mut nested.sdfg, cx);
        nested.sdfg.drop_unused_containers();
    });
    while remove_one(sdfg, cx) {}
}

/// A statement that moves elements of one array to another, with the same distance along each dimension.
#[derive(Clone, Debug)]
struct CopyStatement {
    from: Handle<Container>,
    to: Handle<Container>,
    /// Index in `from` - index in `to`, per dimension.
    distance: Vec<i64>,
    origin: Origin,
}

/// Removes the first copy that may go. Tells why the others stay once none is left that may.
fn remove_one(sdfg: &mut Sdfg, cx: &mut PassCx) -> bool {
    let copies = copies(sdfg);
    if copies.is_empty() {
        return false;
    }
    let all = Accesses::of(sdfg);
    let mut refused = Vec::new();
    for copy in copies {
        let (from, to) = (&sdfg.containers[copy.from], &sdfg.containers[copy.to]);
        let (from_name, to_name) = (from.name.clone(), to.name.clone());
        let result = match (to.is_transient, from.is_transient) {
            (true, _) => may_read_original(sdfg, &all, &copy).map(|()| (copy.to, copy.from)),
            (false, true) => may_write_target(sdfg, &all, &copy).map(|()| (copy.from, copy.to)),
            // Both are the caller's.
            (false, false) => continue,
        };
        match result {
            Ok((gone, kept)) if cx.may_change() => {
                cx.applied(
                    format!("`{to_name}` is a copy of `{from_name}`, and needs no place of its own"),
                    [&copy.origin],
                );
                replace(sdfg, gone, kept, &copy);
                return true;
            }
            Ok(_) => return false,
            Err(why) => refused
                .push((format!("`{to_name}` is a copy of `{from_name}`, but stays: {why}"), copy.origin)),
        }
    }
    refused.into_iter().for_each(|(message, origin)| cx.missed(message, [&origin]));
    false
}

/// The statements of this graph that only copy.
fn copies(sdfg: &Sdfg) -> Vec<CopyStatement> {
    let mut found = Vec::new();
    sdfg.region.each_state(&mut |state| {
        for (node, it) in state.nodes.iter() {
            if let NodeKind::Tasklet(tasklet) = &it.kind
                && let Some(copy) = as_copy(sdfg, state, node, tasklet)
            {
                found.push(copy);
            }
        }
    });
    found
}

fn as_copy(sdfg: &Sdfg, state: &State, node: Handle<Node>, tasklet: &Tasklet) -> Option<CopyStatement> {
    if !matches!(tasklet.code.kind, ExprKind::Access(Input::Connector(0))) || !tasklet.found.is_empty() {
        return None;
    }
    let read = state.edges_into(node).find_map(|it| it.memlet.as_ref())?;
    let written = state.edges_out_of(node).find_map(|it| it.memlet.as_ref())?;
    let (from, to) = (&sdfg.containers[read.data], &sdfg.containers[written.data]);
    let is_array = |it: &Container| !it.is_scalar() && it.storage != Storage::Register;
    if from.dtype != to.dtype || !is_array(from) || !is_array(to) || read.data == written.data {
        return None;
    }
    let pairs = read.as_element()?.into_iter().zip(written.as_element()?);
    let distance = pairs.map(|(from, to)| from.distance_from(&to)).collect::<Option<Vec<i64>>>()?;
    let has_rank = distance.len() == from.shape.len() && distance.len() == to.shape.len();
    has_rank.then(|| CopyStatement {
        from: read.data,
        to: written.data,
        distance,
        origin: tasklet.origin.clone(),
    })
}

/// Whether a nested graph, a condition or an index of run time accesses a container, at elements that are not
/// known.
fn is_picked_of(all: &Accesses<'_>, data: Handle<Container>) -> bool {
    all.of_container(data).any(|it| it.element().is_none())
}

/// The elements that an access covers in all iterations of the loops around.
fn covered(all: &Accesses<'_>, access: &Access<'_>) -> Vec<Range> {
    propagated_over(access.element().unwrap_or_default(), &all.loops_around(access))
}

/// Whether readers of the copy may read the original.
fn may_read_original(sdfg: &Sdfg, all: &Accesses<'_>, copy: &CopyStatement) -> Result<(), String> {
    let original = &sdfg.containers[copy.from].name;
    if is_picked_of(all, copy.to) {
        return Err("a graph inside, a condition or an index of run time picks of it".to_owned());
    }
    if all.writes(copy.to).count() != 1 {
        return Err("something else is written to it too".to_owned());
    }
    if all.writes(copy.from).next().is_some() {
        return Err(format!("`{original}` is written too"));
    }
    let Some(written) = all.writes(copy.to).next().map(|it| covered(all, it)) else {
        return Err("it is not written".to_owned());
    };
    if !all.reads(copy.to).all(|it| holds(&written, &covered(all, it))) {
        return Err("more is read of it than was copied".to_owned());
    }
    Ok(())
}

/// Whether writers of the original may write its copy. Nothing but the copying statement reads the original.
fn may_write_target(sdfg: &Sdfg, all: &Accesses<'_>, copy: &CopyStatement) -> Result<(), String> {
    let (original, target) = (&sdfg.containers[copy.from].name, &sdfg.containers[copy.to].name);
    if is_picked_of(all, copy.from) || is_picked_of(all, copy.to) {
        return Err("a graph inside, a condition or an index of run time picks of one of them".to_owned());
    }
    if all.reads(copy.from).count() != 1 {
        return Err(format!("`{original}` is read elsewhere too"));
    }
    if all.of_container(copy.to).count() != 1 {
        return Err(format!("`{target}` is used elsewhere too"));
    }
    let Some(read) = all.reads(copy.from).next() else {
        return Err("it is not read".to_owned());
    };
    if all.is_conditional(read) || all.is_in_loop(read) {
        return Err("it is not made once and for all".to_owned());
    }
    let copied = covered(all, read);
    let mut is_covered = false;
    for write in all.writes(copy.from) {
        if !all.is_before(write, read) {
            return Err(format!("`{original}` is written behind it"));
        }
        let written = covered(all, write);
        if !holds(&copied, &written) {
            return Err(format!("more is written to `{original}` than is copied"));
        }
        is_covered |= !all.is_conditional(write) && holds(&written, &copied);
    }
    if is_covered { Ok(()) } else { Err(format!("only some of `{original}` may be written")) }
}

/// Takes the copy out, and lets all accesses of `gone` access `kept`.
fn replace(sdfg: &mut Sdfg, gone: Handle<Container>, kept: Handle<Container>, copy: &CopyStatement) {
    let is_original_kept = kept == copy.from;
    // From an index of the one that goes to the same element of the one that stays.
    let sign = if is_original_kept { 1 } else { -1 };
    let distance: Vec<i64> = copy.distance.iter().map(|it| sign * it).collect();
    sdfg.region.each_state_mut(&mut |state| {
        let removed: Vec<Handle<Node>> = state
            .nodes
            .handles()
            .filter(|&it| match &state.nodes[it].kind {
                NodeKind::Tasklet(_) => is_copy(state, it, copy),
                // Nothing but the copy writes there, and nothing reads it.
                NodeKind::Access(data) => !is_original_kept && *data == kept,
                _ => false,
            })
            .collect();
        if is_original_kept {
            read_original(state, gone, kept);
        } else {
            state.remove(&|it| removed.contains(&it));
        }
        for edge in &mut state.edges {
            let Some(memlet) = edge.memlet.as_mut().filter(|it| it.data == gone) else { continue };
            memlet.data = kept;
            move_by(memlet, &distance);
        }
        for (_, node) in state.nodes.iter_mut() {
            if matches!(node.kind, NodeKind::Access(data) if data == gone) {
                node.kind = NodeKind::Access(kept);
            }
        }
        if is_original_kept {
            join_sources(state, kept);
            state.remove(&|it| removed.contains(&it));
        }
    });
    drop_empty_states(&mut sdfg.region);
}

fn is_copy(state: &State, node: Handle<Node>, copy: &CopyStatement) -> bool {
    let moves = |edge: &Edge, data| edge.memlet.as_ref().is_some_and(|it| it.data == data);
    matches!(state.nodes[node].kind, NodeKind::Tasklet(_))
        && state.edges_into(node).any(|it| moves(it, copy.from))
        && state.edges_out_of(node).any(|it| moves(it, copy.to))
}

/// Cuts the edges from the copying statement to its array. Readers inside of the same map get the original
/// from its entry.
fn read_original(state: &mut State, gone: Handle<Container>, kept: Handle<Container>) {
    let nodes = &state.nodes;
    let is_written = |edge: &Edge| {
        let is_access = matches!(nodes[edge.target].kind, NodeKind::Access(_));
        let is_exit = |it: Handle<Node>| matches!(nodes[it].kind, NodeKind::MapExit { .. });
        is_access
            || is_exit(edge.target)
            || is_exit(edge.source)
            || matches!(nodes[edge.source].kind, NodeKind::Tasklet(_))
    };
    state.edges.retain(|it| !(it.memlet.as_ref().is_some_and(|it| it.data == gone) && is_written(it)));
    for edge in &mut state.edges {
        let source = &state.nodes[edge.source];
        if let (NodeKind::Access(data), Some(entry)) = (&source.kind, source.scope)
            && (*data == gone || *data == kept)
        {
            (edge.source, edge.source_connector) = (entry, None);
        }
    }
}

/// Lets all readers of a container, which nothing writes, read it from one node. Each map takes it once.
fn join_sources(state: &mut State, data: Handle<Container>) {
    let accesses = state.nodes.iter().filter(|(_, it)| matches!(it.kind, NodeKind::Access(it) if it == data));
    let accesses: Vec<Handle<Node>> =
        accesses.filter(|(_, it)| it.scope.is_none()).map(|(it, _)| it).collect();
    let Some(&first) = accesses.first() else { return };
    for edge in state.edges.iter_mut().filter(|it| accesses.contains(&it.source)) {
        edge.source = first;
    }
    let mut joined: Vec<Edge> = Vec::new();
    for edge in std::mem::take(&mut state.edges) {
        let is_entry = matches!(state.nodes[edge.target].kind, NodeKind::MapEntry(_));
        let moves = |it: &Edge| it.memlet.as_ref().is_some_and(|it| it.data == data);
        let known =
            joined.iter_mut().find(|it| is_entry && it.target == edge.target && moves(it) && moves(&edge));
        match (known.and_then(|it| it.memlet.as_mut()), &edge.memlet) {
            (Some(memlet), Some(more)) => {
                memlet.subset = union(&memlet.subset, &more.subset);
                memlet.volume = sum(&memlet.volume, &more.volume);
            }
            _ => joined.push(edge),
        }
    }
    state.edges = joined.into();
}

fn move_by(memlet: &mut Memlet, distance: &[i64]) {
    for (range, &distance) in memlet.subset.iter_mut().zip(distance) {
        *range = Range::new(range.start.moved(distance), range.end.moved(distance));
    }
}
