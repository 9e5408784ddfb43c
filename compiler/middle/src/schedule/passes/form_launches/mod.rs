//! Forms launches of a GPU from the loops of a tree.

mod candidate;
#[cfg(test)]
mod tests;
mod ways;

use super::merge_loops::pinned;
use super::{PassCx, Target};
use crate::diag::{Origin, Traffic};
use crate::entity::Handle;
use crate::pass::{GpuForm, GpuModel};
use crate::schedule::analysis::gpu::compulsory_bytes;
use crate::schedule::nodes::{Container, ContainerKind, Node, Order, Tree};
use crate::schedule::transform::Refusal;
use crate::schedule::transform::refusal::name_of;
use crate::space::Axis;
use candidate::{
    Candidate, CandidateRemark, ExpectedCost, LaunchStrategy, candidate, costed, milliseconds, shapes,
};
use ways::{columns, merge_inside, merge_levels, repeat_values};

pub const NAME: &str = "schedule/form-launches";

/// Gives each nest of loops, or several that follow each other, the shape of a launch.
///
/// - **Precondition**: a valid schedule tree of nests `k { j { i } .. }`, merged as far as they can be.
/// - **Effect**: the outermost loops are those over tiles or over columns, and one block does everything
///   inside. A sweep whose levels depend on neighbouring columns stays outside, around a launch for each
///   level.
/// - **Legality**: that of the steps it takes: [`tile`](crate::schedule::transform::tile::tile),
///   [`cut`](crate::schedule::transform::cut::cut),
///   [`distribute`](crate::schedule::transform::distribute::distribute). The result must be a launch without
///   races.
/// - **Why**: arrays that stay in a block's own memory cost no traffic. The pass chooses the way that
///   [`cost_of`](crate::schedule::analysis::gpu::cost_of) expects to be fastest.
pub fn form_launches(tree: &mut Tree, cx: &mut PassCx) {
    let Target { has_grid: true, gpu: Some(gpu), gpu_form: forced, .. } = cx.options else { return };
    let mut first = 0;
    while first < tree.children.len() {
        first += form_from(tree, cx, (&gpu, forced), first);
    }
}

/// Decides about the outermost node at `first`, and those behind it. Returns how many nodes are settled.
fn form_from(
    tree: &mut Tree,
    cx: &mut PassCx,
    (gpu, forced): (&GpuModel, Option<GpuForm>),
    first: usize,
) -> usize {
    let origins: Vec<Origin> = tree.children[first].first_origin().cloned().into_iter().collect();
    let group = columns_together(tree, cx, gpu, first);
    let of_one = |at: usize| best_of(tree, cx, (gpu, forced), at);
    let alone = match (of_one(first), levels_together(tree, cx, (gpu, forced), first)) {
        (Ok(one), Some(all)) => {
            let apart = ExpectedCost::of(&one).and_all(first + 1..first + all.taken, &of_one);
            let is_better = apart.is_none_or(|it| ExpectedCost::of(&all).is_better_than(it));
            Ok(if is_better { all } else { one })
        }
        (Err(_), Some(all)) => Ok(all),
        (alone, None) => alone,
    };
    let chosen = match (group, alone) {
        (Some((group, _)), Err(_)) => Some(group),
        (Some((group, rest)), Ok(alone)) => {
            // Both costs are those of the same nodes: the nodes that one side does not take are added, each
            // by itself.
            let all = group.taken.max(alone.taken);
            let as_group = ExpectedCost::of(&group).and_all(first + group.taken..first + all, &of_one);
            let apart = ExpectedCost::of(&alone).and_all(first + alone.taken..first + all, &of_one);
            let is_forced = forced == Some(GpuForm::Columns);
            let is_other = forced.is_some() && !is_forced;
            let is_better = is_forced
                || !is_other
                    && match (as_group, apart) {
                        (Some(group), Some(apart)) => group.is_better_than(apart),
                        (Some(_), None) => true,
                        (None, _) => false,
                    };
            if !is_better && let Some(rest) = rest {
                cx.missed(format!("the launch ends here: {rest}"), &origins);
            }
            if let (false, true, Some(one), Some(other)) =
                (is_better, group.taken > alone.taken, as_group, apart)
                && !is_other
            {
                let message = format!(
                    "one launch of {} loops over levels would take {}, and launches of their own take {}",
                    group.taken,
                    milliseconds(one.time),
                    milliseconds(other.time)
                );
                cx.missed(message, &origins);
            }
            Some(if is_better { group } else { alone })
        }
        (None, Ok(alone)) => Some(alone),
        (None, Err(refusal)) => {
            cx.missed(format!("does not run on a grid: {refusal}"), &origins);
            None
        }
    };
    let Some(chosen) = chosen else { return 1 };
    if !cx.may_change() {
        return 1;
    }
    let ends = tree.children.get(first + chosen.taken).map(|next| {
        (
            ends_because(tree, first, chosen.taken),
            next.first_origin().cloned().into_iter().collect::<Vec<_>>(),
        )
    });
    if let (Some(form), Some(why)) = (forced, &chosen.instead) {
        cx.missed(format!("form {} is not taken: {why}", form.name()), &origins);
    }
    tell(tree, cx, &chosen, &origins);
    if let Some((Some(why), origins)) = ends {
        cx.missed(format!("starts a launch of its own: {why}"), &origins);
    }
    let n_steps = tree.steps.len();
    *tree = chosen.tree;
    if !cx.options.keeps_steps {
        tree.steps.truncate(n_steps);
    }
    chosen.made
}

/// Remarks how a launch runs, in terms of GPU programming.
fn tell(tree: &Tree, cx: &mut PassCx, chosen: &Candidate, origins: &[Origin]) {
    let how = match chosen.way {
        LaunchStrategy::Columns { joined: false, .. } => "a thread runs through all levels of a column",
        LaunchStrategy::Columns { joined: true, .. } => {
            "a thread runs through all levels of a column, and does at a level what several sweeps do there"
        }
        LaunchStrategy::Tiles { .. } if chosen.launches.iter().all(|it| it.shared_bytes == 0) => {
            "a block computes a tile, a thread for each point"
        }
        LaunchStrategy::Tiles { .. } => "a block computes a tile, and its threads share what they compute",
        LaunchStrategy::Recomputed { .. } => {
            "a thread computes a point, and again what it reads of its neighbours, in registers"
        }
        LaunchStrategy::Rolled { .. } => {
            "a block goes along its rows, and its threads share the last few of each stage"
        }
        LaunchStrategy::Points { .. } => "a thread computes a point",
        LaunchStrategy::Apart { .. } => "stages run in launches of their own",
        LaunchStrategy::Levels { .. } => "levels wait for each other, each in launches of its own",
    };
    let n = chosen.launches.len();
    let bytes = chosen.bytes();
    let mut all: Vec<String> = Vec::new();
    for it in &chosen.launches {
        let shared = match it.shared_bytes {
            0 => String::new(),
            bytes => format!(", {bytes} bytes of shared memory"),
        };
        let one = format!(
            "{:.0} blocks of {} threads, about {} registers each{shared}, {} blocks at a time on a multiprocessor ({:.0} % of its threads)",
            it.blocks,
            it.threads,
            it.registers,
            it.resident,
            100.0 * it.occupancy
        );
        if all.last() != Some(&one) {
            all.push(one);
        }
    }
    let plural = if n == 1 { "one launch".to_owned() } else { format!("{n} launches") };
    let first = chosen.first;
    let nodes = tree.children.get(first..first + chosen.taken).unwrap_or_default();
    let traffic = Traffic { before: compulsory_bytes(tree, nodes), after: bytes };
    cx.remark(true, format!("{plural}: {how}; {}", all.join("; ")), origins, Some(traffic));
    for it in &chosen.told {
        cx.remark(it.is_applied, it.message.clone(), &it.origins, it.traffic);
    }
}

/// Says why the nodes taken and the one behind them are not one launch.
fn ends_because(tree: &Tree, first: usize, taken: usize) -> Option<String> {
    let mut candidate = tree.clone();
    match columns(&mut candidate, (first, taken + 1), 32) {
        Ok(()) => Some("one launch of both would take longer".to_owned()),
        Err(refusal) => Some(refusal.reason),
    }
}

/// Finds the most nodes from `first` on that threads can run through column by column. The text says why the
/// next node is not among them.
fn columns_together(
    tree: &Tree,
    cx: &PassCx,
    gpu: &GpuModel,
    first: usize,
) -> Option<(Candidate, Option<String>)> {
    let threads = threads_of_columns(gpu);
    let mut best = None;
    let mut rest = None;
    for count in 1..=tree.children.len() - first {
        match columns_of(tree, cx, gpu, threads, (first, count)) {
            Ok(it) => best = Some(it),
            Err(refusal) => {
                rest = Some(refusal.reason);
                break;
            }
        }
    }
    let mut best = repeated(best?, cx, gpu);
    // Arrays that fit nowhere may fit where fewer threads share the memory.
    if best.launches.iter().any(|it| it.scratch_bytes > 0.0)
        && threads > GROUP
        && let Ok(fewer) = columns_of(tree, cx, gpu, GROUP, (first, best.taken))
    {
        let fewer = repeated(fewer, cx, gpu);
        if !best.is_better_than(&fewer) {
            best = fewer;
        }
    }
    Some((best, rest))
}

/// The number of threads that do the same at the same time.
const GROUP: i64 = 32;

/// Columns, in which sweeps run one after the other, or level by level where that is faster.
fn columns_of(
    tree: &Tree,
    cx: &PassCx,
    gpu: &GpuModel,
    threads: i64,
    nodes: (usize, usize),
) -> Result<Candidate, Refusal> {
    let of = |joined| candidate(tree, cx, gpu, LaunchStrategy::Columns { threads, joined }, nodes);
    match (of(false), of(true)) {
        (Ok(one), Ok(other)) => Ok(if other.is_better_than(&one) { other } else { one }),
        (Ok(it), Err(_)) | (Err(_), Ok(it)) => Ok(it),
        (Err(refusal), Err(_)) => Err(refusal),
    }
}

/// Merges the nodes from `first` on whose levels have no order into one loop over all their levels. Returns
/// the best way for that loop.
fn levels_together(
    tree: &Tree,
    cx: &PassCx,
    (gpu, forced): (&GpuModel, Option<GpuForm>),
    first: usize,
) -> Option<Candidate> {
    let mut merged = tree.clone();
    let mut taken = 1;
    while let Some(Node::Loop(next)) = tree.children.get(first + taken) {
        if next.order != Order::Parallel
            || pinned(tree, next).is_some()
            || merge_levels(&mut merged, first).is_err()
        {
            break;
        }
        taken += 1;
    }
    if taken == 1 {
        return None;
    }
    merge_inside(&mut merged, &vec![first]);
    let best = best_of(&merged, cx, (gpu, forced), first).ok()?;
    Some(Candidate { taken, ..best })
}

/// Lets later sweeps of the same columns compute arrays again that are otherwise kept for them. Does so where
/// storing and loading an array takes longer than computing it.
fn repeated(mut best: Candidate, cx: &PassCx, gpu: &GpuModel) -> Candidate {
    let arrays: Vec<Handle<Container>> = best
        .tree
        .containers
        .iter()
        .filter(|(_, it)| it.kind == ContainerKind::Temporary && !it.shape.is_empty())
        .map(|(handle, _)| handle)
        .collect();
    for container in arrays {
        let array = &best.tree.containers[container];
        let name = name_of(array).to_owned();
        let nodes = best.tree.children.get(best.first..).unwrap_or_default();
        let origins: Vec<Origin> = nodes.iter().find_map(|it| first_use(it, container)).into_iter().collect();
        let has_scratch = best.launches.iter().any(|it| it.scratch_bytes > 0.0);
        let mut formed = best.tree.clone();
        match repeat_values(&mut formed, &vec![best.first, 0, 0], container) {
            Ok(true) => {}
            Ok(false) => continue,
            Err(why) => {
                if has_scratch {
                    let message = format!("`{name}` is not computed again by a later sweep: {why}");
                    best.told.push(CandidateRemark { is_applied: false, message, origins, traffic: None });
                }
                continue;
            }
        }
        let Ok(other) = costed(formed, cx, gpu, best.way, (best.first, best.taken, best.made)) else {
            continue;
        };
        let mut all = std::mem::take(&mut best.told);
        let traffic = Some(Traffic { before: best.bytes(), after: other.bytes() });
        if other.work() < best.work() {
            let message =
                format!("`{name}` is computed again by a later sweep, and does not wait for it in memory");
            all.push(CandidateRemark { is_applied: true, message, origins, traffic });
            best = other;
        } else if other.bytes() < best.bytes() {
            let message = format!(
                "`{name}` is not computed again by a later sweep: memory and arithmetic would take {} instead of {}",
                milliseconds(other.work()),
                milliseconds(best.work())
            );
            all.push(CandidateRemark { is_applied: false, message, origins, traffic });
        }
        best.told = all;
    }
    best
}

/// The statement that uses a container first.
fn first_use(node: &Node, container: Handle<Container>) -> Option<Origin> {
    let mut found = None;
    node.walk(&mut |it| {
        let mut uses = false;
        it.each_own_access(&mut |_, access| uses |= access.container == container);
        if found.is_none() && uses {
            found = it.origin().cloned();
        }
    });
    found
}

fn threads_of_columns(gpu: &GpuModel) -> i64 {
    i64::from(gpu.threads_of_block.min(64))
}

/// The fastest way for one node, or the requested form where it is legal.
fn best_of(
    tree: &Tree,
    cx: &PassCx,
    (gpu, forced): (&GpuModel, Option<GpuForm>),
    at: usize,
) -> Result<Candidate, Refusal> {
    let Some(Node::Loop(levels)) = tree.children.get(at) else {
        return Err(Refusal::new("it is no loop over levels"));
    };
    let is_sweep = levels.order != Order::Parallel;
    let n_stages: usize = levels.children.iter().map(n_stages).sum();
    let mut ways: Vec<(GpuForm, LaunchStrategy)> = Vec::new();
    for (rows, columns) in shapes(gpu) {
        let form = match (is_sweep, n_stages) {
            (true, _) => GpuForm::Sweeps,
            (false, 1) => GpuForm::Points,
            (false, _) => GpuForm::Tiles,
        };
        let all_levels: &[i64] = if is_sweep { &[1] } else { &[1, 4] };
        ways.extend(all_levels.iter().map(|&levels| (form, LaunchStrategy::Tiles { rows, columns, levels })));
        if !is_sweep && n_stages > 1 {
            ways.push((GpuForm::Points, LaunchStrategy::Points { rows, columns }));
            ways.push((GpuForm::Recomputed, LaunchStrategy::Recomputed { rows, columns }));
        }
        ways.push((GpuForm::Levels, LaunchStrategy::Levels { rows, columns }));
    }
    if !is_sweep && n_stages > 1 {
        let threads = i64::from(gpu.threads_of_block.min(128));
        // The other `halo` threads of a block compute the positions beside its columns.
        ways.extend(
            [(32, 16), (64, 16), (64, 8), (64, 4)].map(|(rows, halo)| {
                (GpuForm::Rolled, LaunchStrategy::Rolled { rows, columns: threads - halo })
            }),
        );
    }
    ways.push((
        GpuForm::Columns,
        LaunchStrategy::Columns { threads: threads_of_columns(gpu), joined: false },
    ));
    if !is_sweep && levels.children.len() > 1 && forced.is_none_or(|it| it == GpuForm::Tiles) {
        ways.extend((1..levels.children.len()).map(|cut| (GpuForm::Tiles, LaunchStrategy::Apart { cut })));
    }
    let compulsory = compulsory_bytes(tree, std::slice::from_ref(&tree.children[at]));
    let mut best: Option<Candidate> = None;
    let mut refusal = None;
    // The other forms are tried only where the requested one is not legal.
    for is_asked in [true, false] {
        for (form, way) in &ways {
            let is_wanted = forced.is_none_or(|it| it == *form);
            if is_wanted != is_asked
                || matches!(way, LaunchStrategy::Apart { .. }) && best_fits(best.as_ref(), compulsory)
            {
                continue;
            }
            match candidate(tree, cx, gpu, *way, (at, 1)) {
                Ok(it) if best.as_ref().is_none_or(|known| !known.is_better_than(&it)) => best = Some(it),
                Ok(_) => {}
                Err(why) => refusal = refusal.or(Some(why)),
            }
        }
        if let Some(best) = &mut best {
            best.instead = if is_asked { None } else { refusal.take() };
            break;
        }
    }
    best.ok_or_else(|| refusal.unwrap_or_else(|| Refusal::new("no form of it is a launch")))
}

/// Whether one launch moves little more than it has to, with at least two blocks at work on each
/// multiprocessor. Then no cut is tried.
fn best_fits(best: Option<&Candidate>, compulsory: f64) -> bool {
    best.is_some_and(|it| {
        matches!(it.launches.as_slice(), [only] if only.resident >= 2 && only.bytes <= 1.15 * compulsory)
    })
}

/// The stages of a node: the nodes side by side in a loop over rows, or the node itself.
fn n_stages(node: &Node) -> usize {
    match node {
        Node::Loop(it) if it.axis == Axis::J => it.children.len().max(1),
        _ => 1,
    }
}
