//! Makes launches of a GPU of the loops of a tree.

mod ways;

use super::contract_temporaries::contract_temporaries;
use super::merge_loops::pinned;
use super::place_arrays::place_arrays;
use super::place_grid::place_grid;
use super::{PassCx, Target};
use crate::diag::{Origin, Traffic};
use crate::entity::Handle;
use crate::pass::{GpuForm, GpuModel};
use crate::schedule::analysis::gpu::{LaunchCost, compulsory_bytes, cost_of};
use crate::schedule::analysis::launch::launches;
use crate::schedule::nodes::{Container, ContainerKind, Node, Order, Tree};
use crate::schedule::step::Step;
use crate::schedule::transform::Refusal;
use crate::schedule::transform::refusal::name_of;
use crate::space::Axis;
use ways::{
    columns, in_rows, join_levels, level_by_level, merge_inside, merge_levels, points, recomputed, reference,
    repeat_values, tiles,
};

pub const NAME: &str = "schedule/form-launches";

/// Gives each nest of loops, or several that follow each other, the shape of a launch.
///
/// - **Precondition**: a valid schedule tree of nests `k { j { i } .. }`, merged as far as they can be.
/// - **Effect**: the outermost loops are those over tiles, or over columns, and everything inside is what one block
///   does; a sweep whose levels depend on what lies beside the column stays outside, around a launch for each level.
/// - **Legality**: that of the steps it takes: [`tile`](crate::schedule::transform::tile::tile),
///   [`cut`](crate::schedule::transform::cut::cut), [`distribute`](crate::schedule::transform::distribute::distribute);
///   what comes of them must be a launch without races.
/// - **Why**: what stays in a block's own memory costs no traffic. Chosen is what
///   [`cost_of`](crate::schedule::analysis::gpu::cost_of) expects to be fastest.
pub fn form_launches(tree: &mut Tree, cx: &mut PassCx) {
    let Target { has_grid: true, gpu: Some(gpu), gpu_form: forced, .. } = cx.options else { return };
    let mut first = 0;
    while first < tree.children.len() {
        first += form_from(tree, cx, (&gpu, forced), first);
    }
}

/// A way to run some of the outermost nodes.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Way {
    /// A thread for each column, in blocks of so many; loops over levels that overlap are one where they are `joined`.
    Columns { threads: i64, joined: bool },
    /// Tiles of so many rows and columns, and levels where these have no order.
    Tiles { rows: i64, columns: i64, levels: i64 },
    /// A thread for each point, which computes again what it reads beside it.
    Recomputed { rows: i64, columns: i64 },
    /// Strips of so many rows, through which a block goes row by row, in tiles of so many columns.
    Rolled { rows: i64, columns: i64 },
    /// The same for each loop nest alone.
    Points { rows: i64, columns: i64 },
    /// The stages before a cut, and those behind it.
    Apart { cut: usize },
    /// A launch for each nest and level.
    Levels { rows: i64, columns: i64 },
}

/// What a way brings.
struct Candidate {
    way: Way,
    /// The tree with it.
    tree: Tree,
    /// From which of the outermost nodes on, how many it takes, and how many they become.
    first: usize,
    taken: usize,
    made: usize,
    /// The launches, as they are expected to be.
    launches: Vec<LaunchCost>,
    time: f64,
    /// What later sweeps compute again, and what not, though it would spare memory.
    told: Vec<Told>,
    /// Why it is not of the form that is asked for.
    instead: Option<Refusal>,
}

/// What a remark says of a candidate.
struct Told {
    is_applied: bool,
    message: String,
    origins: Vec<Origin>,
    traffic: Option<Traffic>,
}

/// What some launches are expected to take.
#[derive(Clone, Copy, Debug)]
struct Expected {
    time: f64,
    bytes: f64,
    has_while: bool,
}

impl Expected {
    fn of(it: &Candidate) -> Self {
        let nodes = it.tree.children.get(it.first..it.first + it.made).unwrap_or_default();
        let mut has_while = false;
        nodes.iter().for_each(|it| it.walk(&mut |it| has_while |= matches!(it, Node::While(_))));
        Self { time: it.time, bytes: it.bytes(), has_while }
    }

    /// With what others take, each in its best way; none where one of them has none.
    fn and_all(
        self,
        others: std::ops::Range<usize>,
        best: &dyn Fn(usize) -> Result<Candidate, Refusal>,
    ) -> Option<Self> {
        others.into_iter().try_fold(self, |sum, at| {
            let it = Self::of(&best(at).ok()?);
            let has_while = sum.has_while || it.has_while;
            Some(Self { time: sum.time + it.time, bytes: sum.bytes + it.bytes, has_while })
        })
    }

    /// What arithmetic takes is known less well than what is moved: of two that take about as long, the one that
    /// moves clearly less is better.
    fn is_better_than(self, other: Self) -> bool {
        let about = if self.has_while || other.has_while { ABOUT_UNSURE } else { ABOUT };
        if self.bytes < LESS * other.bytes {
            self.time <= about * other.time
        } else if other.bytes < LESS * self.bytes {
            about * self.time < other.time
        } else {
            self.time <= other.time
        }
    }
}

/// So many times as long is about as long; and where there is a `while`, of which nobody knows how often it turns.
const ABOUT: f64 = 1.15;
const ABOUT_UNSURE: f64 = 1.5;

/// This part of the bytes is clearly less.
const LESS: f64 = 0.87;

fn milliseconds(ns: f64) -> String {
    format!("{:.2} ms", ns * 1e-6)
}

impl Candidate {
    fn is_better_than(&self, other: &Self) -> bool {
        Expected::of(self).is_better_than(Expected::of(other))
    }

    fn bytes(&self) -> f64 {
        self.launches.iter().map(|it| it.bytes).sum()
    }

    fn work(&self) -> f64 {
        self.launches.iter().map(|it| it.work_ns).sum()
    }
}

/// Decides about the outermost node at `first`, and those behind it; answers how many nodes are settled.
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
            let apart = Expected::of(&one).and_all(first + 1..first + all.taken, &of_one);
            let is_better = apart.is_none_or(|it| Expected::of(&all).is_better_than(it));
            Ok(if is_better { all } else { one })
        }
        (Err(_), Some(all)) => Ok(all),
        (alone, None) => alone,
    };
    let chosen = match (group, alone) {
        (Some((group, _)), Err(_)) => Some(group),
        (Some((group, rest)), Ok(alone)) => {
            // What those behind the first ones would take by themselves.
            let all = group.taken.max(alone.taken);
            let as_group = Expected::of(&group).and_all(first + group.taken..first + all, &of_one);
            let apart = Expected::of(&alone).and_all(first + alone.taken..first + all, &of_one);
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

/// What a launch is, in the words of whoever programs GPUs.
fn tell(tree: &Tree, cx: &mut PassCx, chosen: &Candidate, origins: &[Origin]) {
    let how = match chosen.way {
        Way::Columns { joined: false, .. } => "a thread runs through all levels of a column",
        Way::Columns { joined: true, .. } => {
            "a thread runs through all levels of a column, and does at a level what several sweeps do there"
        }
        Way::Tiles { .. } if chosen.launches.iter().all(|it| it.shared_bytes == 0) => {
            "a block computes a tile, a thread for each point"
        }
        Way::Tiles { .. } => "a block computes a tile, and its threads share what they compute",
        Way::Recomputed { .. } => {
            "a thread computes a point, and again what it reads of its neighbours, in registers"
        }
        Way::Rolled { .. } => "a block goes along its rows, and its threads share the last few of each stage",
        Way::Points { .. } => "a thread computes a point",
        Way::Apart { .. } => "stages run in launches of their own",
        Way::Levels { .. } => "levels wait for each other, each in launches of its own",
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

/// Why the nodes taken and the one behind them are not one launch.
fn ends_because(tree: &Tree, first: usize, taken: usize) -> Option<String> {
    let mut candidate = tree.clone();
    match columns(&mut candidate, (first, taken + 1), 32) {
        Ok(()) => Some("one launch of both would take longer".to_owned()),
        Err(refusal) => Some(refusal.reason),
    }
}

/// The most nodes from `first` on that threads can run through column by column, and why not the next one.
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
    // What fits nowhere may fit where fewer threads share it.
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

/// Threads that do the same at the same time.
const GROUP: i64 = 32;

/// Columns, in which sweeps run one after the other, or level by level where that is faster.
fn columns_of(
    tree: &Tree,
    cx: &PassCx,
    gpu: &GpuModel,
    threads: i64,
    nodes: (usize, usize),
) -> Result<Candidate, Refusal> {
    let of = |joined| candidate(tree, cx, gpu, Way::Columns { threads, joined }, nodes);
    match (of(false), of(true)) {
        (Ok(one), Ok(other)) => Ok(if other.is_better_than(&one) { other } else { one }),
        (Ok(it), Err(_)) | (Err(_), Ok(it)) => Ok(it),
        (Err(refusal), Err(_)) => Err(refusal),
    }
}

/// The nodes from `first` on whose levels have no order, as one loop over all their levels, in the best way for that.
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

/// The same columns, of which later sweeps compute again what waits for them otherwise, where loading and storing it
/// takes longer than computing it.
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
                    best.told.push(Told { is_applied: false, message, origins, traffic: None });
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
            all.push(Told { is_applied: true, message, origins, traffic });
            best = other;
        } else if other.bytes() < best.bytes() {
            let message = format!(
                "`{name}` is not computed again by a later sweep: memory and arithmetic would take {} instead of {}",
                milliseconds(other.work()),
                milliseconds(best.work())
            );
            all.push(Told { is_applied: false, message, origins, traffic });
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

/// Rows and columns of the tiles that are tried; the last ones leave more room for each array.
fn shapes(gpu: &GpuModel) -> [(i64, i64); 3] {
    let threads = i64::from(gpu.threads_of_block.min(256));
    [(threads / 32, 32), (threads / 64, 64), (threads / 64, 32)]
        .map(|(rows, columns): (i64, i64)| (rows.max(1), columns.min(threads)))
}

fn threads_of_columns(gpu: &GpuModel) -> i64 {
    i64::from(gpu.threads_of_block.min(64))
}

/// The fastest way for one node, or the one that is asked for where it is legal.
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
    let mut ways: Vec<(GpuForm, Way)> = Vec::new();
    for (rows, columns) in shapes(gpu) {
        let form = match (is_sweep, n_stages) {
            (true, _) => GpuForm::Sweeps,
            (false, 1) => GpuForm::Points,
            (false, _) => GpuForm::Tiles,
        };
        let all_levels: &[i64] = if is_sweep { &[1] } else { &[1, 4] };
        ways.extend(all_levels.iter().map(|&levels| (form, Way::Tiles { rows, columns, levels })));
        if !is_sweep && n_stages > 1 {
            ways.push((GpuForm::Points, Way::Points { rows, columns }));
            ways.push((GpuForm::Recomputed, Way::Recomputed { rows, columns }));
        }
        ways.push((GpuForm::Levels, Way::Levels { rows, columns }));
    }
    if !is_sweep && n_stages > 1 {
        let threads = i64::from(gpu.threads_of_block.min(128));
        // What the halo needs is computed by the threads that are left of a whole group.
        ways.extend(
            [(32, 16), (64, 16), (64, 8), (64, 4)]
                .map(|(rows, halo)| (GpuForm::Rolled, Way::Rolled { rows, columns: threads - halo })),
        );
    }
    ways.push((GpuForm::Columns, Way::Columns { threads: threads_of_columns(gpu), joined: false }));
    if !is_sweep && levels.children.len() > 1 && forced.is_none_or(|it| it == GpuForm::Tiles) {
        ways.extend((1..levels.children.len()).map(|cut| (GpuForm::Tiles, Way::Apart { cut })));
    }
    let compulsory = compulsory_bytes(tree, std::slice::from_ref(&tree.children[at]));
    let mut best: Option<Candidate> = None;
    let mut refusal = None;
    // Only where what is asked for is not legal, the others.
    for is_asked in [true, false] {
        for (form, way) in &ways {
            let is_wanted = forced.is_none_or(|it| it == *form);
            if is_wanted != is_asked
                || matches!(way, Way::Apart { .. }) && best_fits(best.as_ref(), compulsory)
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

/// Whether one launch does it, with little more than what has to be moved, and at least two blocks are at work on each
/// multiprocessor: then no cut is tried.
fn best_fits(best: Option<&Candidate>, compulsory: f64) -> bool {
    best.is_some_and(|it| {
        matches!(it.launches.as_slice(), [only] if only.resident >= 2 && only.bytes <= 1.15 * compulsory)
    })
}

/// Loops over rows, and those that stand beside each other in one.
fn n_stages(node: &Node) -> usize {
    match node {
        Node::Loop(it) if it.axis == Axis::J => it.children.len().max(1),
        _ => 1,
    }
}

/// The tree with some of its outermost nodes run in a way, and what that is expected to take.
fn candidate(
    tree: &Tree,
    cx: &PassCx,
    gpu: &GpuModel,
    way: Way,
    (first, taken): (usize, usize),
) -> Result<Candidate, Refusal> {
    let mut formed = tree.clone();
    let behind = formed.children.len() - first - taken;
    match way {
        Way::Columns { threads, joined } => {
            columns(&mut formed, (first, taken), threads)?;
            if joined {
                join_levels(&mut formed, &vec![first, 0, 0])?;
            }
        }
        Way::Tiles { rows, columns, levels } => tiles(&mut formed, first, [rows, columns, levels])?,
        Way::Recomputed { rows, columns } => recomputed(&mut formed, first, [rows, columns])?,
        Way::Rolled { rows, columns } => in_rows(&mut formed, first, [rows, columns])?,
        Way::Points { rows, columns } => points(&mut formed, first, [rows, columns])?,
        Way::Levels { rows, columns } => level_by_level(&mut formed, first, [rows, columns])?,
        Way::Apart { cut } => {
            return apart(&formed, cx, gpu, (first, cut));
        }
    }
    let made = formed.children.len() - behind - first;
    costed(formed, cx, gpu, way, (first, taken, made))
}

/// What a tree is expected to take that has a number of launches, which took the place of others.
fn costed(
    formed: Tree,
    cx: &PassCx,
    gpu: &GpuModel,
    way: Way,
    (first, taken, made): (usize, usize, usize),
) -> Result<Candidate, Refusal> {
    // As the passes behind this one leave it.
    let options = Target { keeps_steps: false, ..cx.options.clone() };
    let mut cx = PassCx::new(options);
    let mut placed = formed.clone();
    contract_temporaries(&mut placed, &mut cx);
    place_arrays(&mut placed, &mut cx);
    place_grid(&mut placed, &mut cx);
    let all = launches(&placed);
    let mine: Vec<_> = all.iter().filter(|it| (first..first + made).contains(&it.path[0])).collect();
    let n_placed = (first..first + made).filter(|at| mine.iter().any(|it| it.path[0] == *at)).count();
    if mine.is_empty() || n_placed < made {
        let why =
            cx.remarks().iter().rev().find_map(|it| it.message.strip_prefix("does not run on a grid: "));
        return Err(Refusal::new(why.unwrap_or("it is no launch")));
    }
    let launches: Vec<LaunchCost> = mine.iter().map(|it| cost_of(&placed, it, gpu)).collect();
    if let Some(it) = launches.iter().find(|it| it.resident < 1) {
        let reason = if it.shared_bytes > i64::try_from(gpu.shared_bytes_of_block).unwrap_or(i64::MAX) {
            format!("a block would need {} bytes of shared memory", it.shared_bytes)
        } else {
            format!("a block would need {} registers", it.registers * it.threads)
        };
        return Err(Refusal::new(reason));
    }
    let time = launches.iter().map(|it| it.time_ns).sum();
    Ok(Candidate { way, tree: formed, first, taken, made, launches, time, told: Vec::new(), instead: None })
}

/// The node with its stages in two loops over levels, each in its best way.
fn apart(tree: &Tree, cx: &PassCx, gpu: &GpuModel, (at, cut): (usize, usize)) -> Result<Candidate, Refusal> {
    let mut cut_tree = tree.clone();
    let second = reference(&cut_tree, &vec![at, cut])?;
    Step::Distribute { at: reference(&cut_tree, &vec![at])?, before: second }.apply(&mut cut_tree)?;
    // Each half as one launch of tiles, and the second one first, so that the place of the first stays.
    let best_half = |tree: &Tree, at: usize| {
        let all = shapes(gpu).map(|(rows, columns)| {
            candidate(tree, cx, gpu, Way::Tiles { rows, columns, levels: 1 }, (at, 1))
        });
        let mut best: Option<Candidate> = None;
        let mut refusal = None;
        for it in all {
            match it {
                Ok(it) if best.as_ref().is_none_or(|known| it.time < known.time) => best = Some(it),
                Ok(_) => {}
                Err(why) => refusal = refusal.or(Some(why)),
            }
        }
        best.ok_or_else(|| refusal.unwrap_or_else(|| Refusal::new("it is no tile")))
    };
    let behind = best_half(&cut_tree, at + 1)?;
    let before = best_half(&behind.tree, at)?;
    let mut launches = before.launches;
    launches.extend(behind.launches);
    Ok(Candidate {
        way: Way::Apart { cut },
        tree: before.tree,
        first: at,
        taken: 1,
        made: before.made + behind.made,
        launches,
        time: before.time + behind.time,
        told: Vec::new(),
        instead: None,
    })
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;
    use crate::schedule::{parse::parse, print::listing, validate::validate};

    const FIELDS: &str = "\
schedule test
field a: float64[I + 2, J + 2, K] shift [1, 1, 0] read
field b: float64[I, J, K] shift [0, 0, 0] write
field p: float64[I, J] shift [0, 0] read-write
temporary t: float64[I + 2, J + 2, K] shift [1, 1, 0] heap
temporary u: float64[I, J, K] shift [0, 0, 0] heap
";

    /// What comes of loops behind all passes that form launches, without declarations, and what is told.
    fn formed(loops: &str, form: Option<GpuForm>) -> String {
        let mut tree = parse(&format!("{FIELDS}{loops}")).expect("the text is a schedule tree");
        assert_eq!(validate(&tree), Vec::<String>::new(), "before");
        let mut cx = PassCx::new(Target { gpu_form: form, keeps_steps: true, ..Target::GPU });
        let lowered = tree.clone();
        for pass in [form_launches, contract_temporaries, place_arrays, place_grid] {
            pass(&mut tree, &mut cx);
            assert_eq!(validate(&tree), Vec::<String>::new(), "{}", listing(&tree).text);
        }
        // The steps alone lead there as well.
        let mut again = lowered;
        for step in &tree.steps {
            step.clone().apply(&mut again).expect("a step that a pass took is legal");
        }
        assert_eq!(listing(&again).text, listing(&tree).text);
        let text = listing(&tree).text;
        let own = text.lines().filter(|it| it.starts_with("temporary")).map(|it| format!("{it}\n"));
        let (_, loops) = text.split_once("\n\n").expect("loops stand behind declarations");
        own.collect::<String>() + "\n" + loops
    }

    fn check(loops: &str, form: Option<GpuForm>, expected: &Expect) {
        expected.assert_eq(&formed(loops, form));
    }

    const SMOOTHED: &str = "
for k in [0, K) parallel:
  for j in [0, J) parallel:
    for i in [-1, I + 1) parallel:
      t[i + 1, j + 1, k] = a[i + 1, j + 1, k] * 2.0
  for j in [0, J) parallel:
    for i in [0, I) parallel:
      b[i, j, k] = t[i, j + 1, k] + t[i + 2, j + 1, k]
";

    #[test]
    fn stages_that_read_beside_the_point_share_a_tile() {
        check(
            SMOOTHED,
            Some(GpuForm::Tiles),
            &expect![[r#"
            temporary t: float64[34, 8] shift [-i_tile + 1, -j_tile] along IJ in i_tile shared
            temporary u: float64[I, J, K] shift [0, 0, 0] heap

            grid k in [0, K) parallel:
              grid j_tile in [0, J) step 8 parallel:
                grid i_tile in [0, I) step 32 parallel:
                  block j in [j_tile, min(J, j_tile + 8)) parallel:
                    block i in [i_tile - 1, min(I + 1, i_tile + 33)) parallel:
                      t[i - i_tile + 1, j - j_tile] = a[i + 1, j + 1, k] * 2.0
                  barrier
                  block j in [j_tile, min(J, j_tile + 8)) parallel:
                    block i in [i_tile, min(I, i_tile + 32)) parallel:
                      b[i, j, k] = t[i - i_tile, j - j_tile] + t[i - i_tile + 2, j - j_tile]
        "#]],
        );
    }

    #[test]
    fn each_stage_is_a_launch_where_points_are_asked_for() {
        check(
            SMOOTHED,
            Some(GpuForm::Points),
            &expect![[r#"
            temporary t: float64[I + 2, J + 2, K] shift [1, 1, 0] heap
            temporary u: float64[I, J, K] shift [0, 0, 0] heap

            grid k in [0, K) parallel:
              grid j_tile in [0, J) step 8 parallel:
                grid i_tile in [-1, I + 1) step 32 parallel:
                  block j in [j_tile, min(J, j_tile + 8)) parallel:
                    block i in [i_tile, min(I + 1, i_tile + 32)) parallel:
                      t[i + 1, j + 1, k] = a[i + 1, j + 1, k] * 2.0

            grid k in [0, K) parallel:
              grid j_tile in [0, J) step 8 parallel:
                grid i_tile in [0, I) step 32 parallel:
                  block j in [j_tile, min(J, j_tile + 8)) parallel:
                    block i in [i_tile, min(I, i_tile + 32)) parallel:
                      b[i, j, k] = t[i, j + 1, k] + t[i + 2, j + 1, k]
        "#]],
        );
    }

    #[test]
    fn a_point_computes_again_what_it_reads_beside_it() {
        check(
            SMOOTHED,
            Some(GpuForm::Recomputed),
            &expect![[r#"
            temporary u: float64[I, J, K] shift [0, 0, 0] heap

            grid k in [0, K) parallel:
              grid j_tile in [0, J) step 8 parallel:
                grid i_tile in [0, I) step 32 parallel:
                  block j in [j_tile, min(J, j_tile + 8)) parallel:
                    block i in [i_tile, min(I, i_tile + 32)) parallel:
                      t_west = a[i, j + 1, k] * 2.0
                      t_east = a[i + 2, j + 1, k] * 2.0
                      b[i, j, k] = t_west + t_east
        "#]],
        );
    }

    #[test]
    fn a_block_goes_along_its_rows_and_keeps_the_last_few() {
        let loops = "
for k in [0, K) parallel:
  for j in [-1, J + 1) parallel:
    for i in [-1, I + 1) parallel:
      t[i + 1, j + 1, k] = a[i + 1, j + 1, k] * 2.0
  for j in [0, J) parallel:
    for i in [0, I) parallel:
      b[i, j, k] = t[i, j + 1, k] + t[i + 2, j + 2, k] + t[i + 1, j, k]
";
        check(
            loops,
            Some(GpuForm::Rolled),
            &expect![[r#"
            temporary t: float64[114, 34] shift [-i_tile + 1, -j_tile + 1] along IJ in i_tile keeping 4 along J shared
            temporary u: float64[I, J, K] shift [0, 0, 0] heap

            grid k in [0, K) parallel:
              grid j_tile in [0, J) step 32 parallel:
                grid i_tile in [0, I) step 112 parallel:
                  for j_front in [j_tile - 2, min(J, j_tile + 32)) ascending:
                    for j in [j_front + 1, j_front + 2) parallel:
                      block i in [i_tile - 1, min(I + 1, i_tile + 113)) parallel:
                        t[i - i_tile + 1, j - j_tile + 1] = a[i + 1, j + 1, k] * 2.0
                    barrier
                    for j in [max(j_tile, j_front), j_front + 1) parallel:
                      block i in [i_tile, min(I, i_tile + 112)) parallel:
                        b[i, j, k] = t[i - i_tile, j - j_tile + 1] + t[i - i_tile + 2, j - j_tile + 2] + t[i - i_tile + 1, j - j_tile]
                    barrier
        "#]],
        );
    }

    const SWEEPS: &str = "
for k in [0, 1) ascending:
  for j in [0, J) parallel:
    for i in [0, I) parallel:
      u[i, j, k] = a[i + 1, j + 1, k]
for k in [1, K) ascending:
  for j in [0, J) parallel:
    for i in [0, I) parallel:
      u[i, j, k] = u[i, j, k - 1] * a[i + 1, j + 1, k]
for k in [0, K) descending:
  for j in [0, J) parallel:
    for i in [0, I) parallel:
      b[i, j, k] = u[i, j, k]
      p[i, j] = p[i, j] + u[i, j, k]
";

    #[test]
    fn sweeps_of_columns_are_one_launch() {
        check(
            SWEEPS,
            None,
            &expect![[r#"
                temporary t: float64[I + 2, J + 2, K] shift [1, 1, 0] heap
                temporary u: float64[K] shift [0] along K in i shared

                grid j in [0, J) parallel:
                  grid i_tile in [0, I) step 64 parallel:
                    block i in [i_tile, min(I, i_tile + 64)) parallel:
                      for k in [0, 1) ascending:
                        u[k] = a[i + 1, j + 1, k]
                      for k in [1, K) ascending:
                        u[k] = u[k - 1] * a[i + 1, j + 1, k]
                      for k in [0, K) descending:
                        b[i, j, k] = u[k]
                        p[i, j] = p[i, j] + u[k]
            "#]],
        );
    }

    #[test]
    fn what_sweeps_of_one_direction_do_at_a_level_is_done_together() {
        let loops = "
for k in [0, K) parallel:
  for j in [0, J) parallel:
    for i in [0, I) parallel:
      u[i, j, k] = exp(a[i + 1, j + 1, k])
for k in [0, 1) ascending:
  for j in [0, J) parallel:
    for i in [0, I) parallel:
      p[i, j] = 0.0
for k in [1, K) ascending:
  for j in [0, J) parallel:
    for i in [0, I) parallel:
      p[i, j] = p[i, j] + u[i, j, k]
for k in [0, K) parallel:
  for j in [0, J) parallel:
    for i in [0, I) parallel:
      b[i, j, k] = u[i, j, k]
";
        check(
            loops,
            Some(GpuForm::Columns),
            &expect![[r#"
            temporary t: float64[I + 2, J + 2, K] shift [1, 1, 0] heap
            temporary u: float64[K] shift [0] along K in i keeping 1 along K register

            grid j in [0, J) parallel:
              grid i_tile in [0, I) step 64 parallel:
                block i in [i_tile, min(I, i_tile + 64)) parallel:
                  for k in [0, 1) ascending:
                    u[k] = exp(a[i + 1, j + 1, k])
                    p[i, j] = 0.0
                    b[i, j, k] = u[k]
                  for k in [1, K) ascending:
                    u[k] = exp(a[i + 1, j + 1, k])
                    p[i, j] = p[i, j] + u[k]
                    b[i, j, k] = u[k]
        "#]],
        );
    }

    #[test]
    fn what_waits_for_a_later_sweep_is_computed_again() {
        let loops = "
for k in [0, K) parallel:
  for j in [0, J) parallel:
    for i in [0, I) parallel:
      u[i, j, k] = log(a[i + 1, j + 1, k])
for k in [0, 1) ascending:
  for j in [0, J) parallel:
    for i in [0, I) parallel:
      p[i, j] = 0.0
for k in [1, K) ascending:
  for j in [0, J) parallel:
    for i in [0, I) parallel:
      p[i, j] = p[i, j] + u[i, j, k] * u[i, j, k]
for k in [K - 1, K) descending:
  for j in [0, J) parallel:
    for i in [0, I) parallel:
      t[i + 1, j + 1, k] = exp(p[i, j])
      b[i, j, k] = u[i, j, k]
for k in [0, K - 1) descending:
  for j in [0, J) parallel:
    for i in [0, I) parallel:
      t[i + 1, j + 1, k] = t[i + 1, j + 1, k + 1] + u[i, j, k]
for k in [0, K) ascending:
  for j in [0, J) parallel:
    for i in [0, I) parallel:
      b[i, j, k] = t[i + 1, j + 1, k]
";
        check(
            loops,
            Some(GpuForm::Columns),
            &expect![[r#"
                temporary t: float64[K] shift [0] along K in i shared
                temporary u: float64[K] shift [0] along K in i keeping 1 along K register

                grid j in [0, J) parallel:
                  grid i_tile in [0, I) step 64 parallel:
                    block i in [i_tile, min(I, i_tile + 64)) parallel:
                      for k in [0, 1) ascending:
                        u[k] = log(a[i + 1, j + 1, k])
                        p[i, j] = 0.0
                      for k in [1, K) ascending:
                        u[k] = log(a[i + 1, j + 1, k])
                        p[i, j] = p[i, j] + u[k] * u[k]
                      for k in [K - 1, K) descending:
                        u_again = log(a[i + 1, j + 1, k])
                        t[k] = exp(p[i, j])
                        b[i, j, k] = u_again
                      for k in [0, K - 1) descending:
                        u_again_2 = log(a[i + 1, j + 1, k])
                        t[k] = t[k + 1] + u_again_2
                      for k in [0, K) ascending:
                        b[i, j, k] = t[k]
            "#]],
        );
    }

    #[test]
    fn levels_apart_are_one_launch_with_limits() {
        let loops = "
for k in [0, 1) parallel:
  for j in [0, J) parallel:
    for i in [0, I) parallel:
      b[i, j, k] = a[i + 1, j + 1, k]
for k in [1, K - 1) parallel:
  for j in [0, J) parallel:
    for i in [0, I) parallel:
      u[i, j, k] = a[i + 1, j + 1, k + 1] - a[i + 1, j + 1, k - 1]
      b[i, j, k] = u[i, j, k] + a[i, j + 1, k]
for k in [K - 1, K) parallel:
  for j in [0, J) parallel:
    for i in [0, I) parallel:
      b[i, j, k] = a[i + 1, j + 1, k]
";
        check(
            loops,
            None,
            &expect![[r#"
            temporary t: float64[I + 2, J + 2, K] shift [1, 1, 0] heap

            grid k in [0, K) parallel:
              grid j_tile in [0, J) step 8 parallel:
                grid i_tile in [0, I) step 32 parallel:
                  block j in [j_tile, min(J, j_tile + 8)) parallel:
                    block i in [i_tile, min(I, i_tile + 32)) parallel:
                      where k in [0, 1):
                        b[i, j, k] = a[i + 1, j + 1, k]
                      where k in [1, K - 1):
                        u = a[i + 1, j + 1, k + 1] - a[i + 1, j + 1, k - 1]
                        b[i, j, k] = u + a[i, j + 1, k]
                      where k in [K - 1, K):
                        b[i, j, k] = a[i + 1, j + 1, k]
        "#]],
        );
    }

    #[test]
    fn levels_that_need_their_neighbours_wait_for_each_other() {
        let loops = "
for k in [1, K) ascending:
  for j in [0, J) parallel:
    for i in [0, I) parallel:
      t[i + 1, j + 1, k] = t[i + 2, j + 1, k - 1] + t[i, j + 1, k - 1]
for k in [1, K) ascending:
  for j in [0, J) parallel:
    for i in [0, I) parallel:
      b[i, j, k] = t[i + 1, j + 1, k]
";
        check(
            loops,
            None,
            &expect![[r#"
            temporary t: float64[I + 2, J + 2, K] shift [1, 1, 0] heap
            temporary u: float64[I, J, K] shift [0, 0, 0] heap

            for k in [1, K) ascending:
              grid j_tile in [0, J) step 8 parallel:
                grid i_tile in [0, I) step 32 parallel:
                  block j in [j_tile, min(J, j_tile + 8)) parallel:
                    block i in [i_tile, min(I, i_tile + 32)) parallel:
                      t[i + 1, j + 1, k] = t[i + 2, j + 1, k - 1] + t[i, j + 1, k - 1]

            grid j in [0, J) parallel:
              grid i_tile in [0, I) step 64 parallel:
                block i in [i_tile, min(I, i_tile + 64)) parallel:
                  for k in [1, K) ascending:
                    b[i, j, k] = t[i + 1, j + 1, k]
        "#]],
        );
    }

    #[test]
    fn what_every_level_writes_into_one_plane_keeps_its_levels_in_a_thread() {
        let loops = "
for k in [0, K) parallel:
  for j in [0, J) parallel:
    for i in [0, I) parallel:
      p[i, j] = 1.0
";
        check(
            loops,
            Some(GpuForm::Points),
            &expect![[r#"
            temporary t: float64[I + 2, J + 2, K] shift [1, 1, 0] heap
            temporary u: float64[I, J, K] shift [0, 0, 0] heap

            grid j_tile in [0, J) step 8 parallel:
              grid i_tile in [0, I) step 32 parallel:
                for k in [0, K) parallel:
                  block j in [j_tile, min(J, j_tile + 8)) parallel:
                    block i in [i_tile, min(I, i_tile + 32)) parallel:
                      p[i, j] = 1.0
        "#]],
        );
    }
}
