//! The ways in which loops can become launches, the expected time of each, and which of two is better.

use super::ways::{columns, in_rows, join_levels, level_by_level, points, recomputed, reference, tiles};
use crate::diag::{Origin, Traffic};
use crate::pass::GpuModel;
use crate::schedule::analysis::gpu::{LaunchCost, cost_of};
use crate::schedule::analysis::launch::launches;
use crate::schedule::nodes::{Node, Tree};
use crate::schedule::passes::contract_temporaries::contract_temporaries;
use crate::schedule::passes::place_arrays::place_arrays;
use crate::schedule::passes::place_grid::place_grid;
use crate::schedule::passes::{PassCx, Target};
use crate::schedule::step::Step;
use crate::schedule::transform::Refusal;

/// A way to run some of the outermost nodes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum LaunchStrategy {
    /// A thread for each column, in blocks of `threads`. Where `joined`, loops over levels that overlap
    /// become one.
    Columns { threads: i64, joined: bool },
    /// Tiles of `rows` and `columns`, and of `levels` where these have no order.
    Tiles { rows: i64, columns: i64, levels: i64 },
    /// A thread for each point, which computes again what it reads beside it.
    Recomputed { rows: i64, columns: i64 },
    /// Strips of `rows`, through which a block goes row by row, in tiles of `columns`.
    Rolled { rows: i64, columns: i64 },
    /// A launch for each stage, with a thread for each point.
    Points { rows: i64, columns: i64 },
    /// Two loops over levels: the stages before a cut, and those behind it.
    Apart { cut: usize },
    /// A launch for each nest and level.
    Levels { rows: i64, columns: i64 },
}

/// The result of running nodes in a way.
pub(super) struct Candidate {
    pub(super) way: LaunchStrategy,
    /// The tree whose nodes run in this way.
    pub(super) tree: Tree,
    /// The first of the outermost nodes that it takes, how many it takes, and how many they become.
    pub(super) first: usize,
    pub(super) taken: usize,
    pub(super) made: usize,
    /// The expected costs of the launches.
    pub(super) launches: Vec<LaunchCost>,
    pub(super) time: f64,
    /// Remarks on values that later sweeps compute again, or do not, though that would spare memory.
    pub(super) told: Vec<CandidateRemark>,
    /// Why it is not of the form that is asked for.
    pub(super) instead: Option<Refusal>,
}

/// A remark on a candidate.
pub(super) struct CandidateRemark {
    pub(super) is_applied: bool,
    pub(super) message: String,
    pub(super) origins: Vec<Origin>,
    pub(super) traffic: Option<Traffic>,
}

/// The expected cost of some launches.
#[derive(Clone, Copy, Debug)]
pub(super) struct ExpectedCost {
    pub(super) time: f64,
    pub(super) bytes: f64,
    pub(super) has_while: bool,
}

impl ExpectedCost {
    pub(super) fn of(it: &Candidate) -> Self {
        let nodes = it.tree.children.get(it.first..it.first + it.made).unwrap_or_default();
        let mut has_while = false;
        nodes.iter().for_each(|it| it.walk(&mut |it| has_while |= matches!(it, Node::While(_))));
        Self { time: it.time, bytes: it.bytes(), has_while }
    }

    /// Adds the cost of other nodes, each in its best way; none where one of them has no way.
    pub(super) fn and_all(
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

    /// Whether this is better than `other`. The time of arithmetic is known less well than that of memory. So
    /// of two that take about as long, the one that moves clearly less is better.
    pub(super) fn is_better_than(self, other: Self) -> bool {
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

/// Two times count as about the same up to this factor. `ABOUT_UNSURE` is the factor where there is a
/// `while`, whose number of iterations is unknown.
pub(super) const ABOUT: f64 = 1.15;
pub(super) const ABOUT_UNSURE: f64 = 1.5;

/// This part of the bytes is clearly less.
pub(super) const LESS: f64 = 0.87;

pub(super) fn milliseconds(ns: f64) -> String {
    format!("{:.2} ms", ns * 1e-6)
}

impl Candidate {
    pub(super) fn is_better_than(&self, other: &Self) -> bool {
        ExpectedCost::of(self).is_better_than(ExpectedCost::of(other))
    }

    pub(super) fn bytes(&self) -> f64 {
        self.launches.iter().map(|it| it.bytes).sum()
    }

    pub(super) fn work(&self) -> f64 {
        self.launches.iter().map(|it| it.work_ns).sum()
    }
}

/// The tree with some of its outermost nodes run in a way, and the expected cost of these.
pub(super) fn candidate(
    tree: &Tree,
    cx: &PassCx,
    gpu: &GpuModel,
    way: LaunchStrategy,
    (first, taken): (usize, usize),
) -> Result<Candidate, Refusal> {
    let mut formed = tree.clone();
    let behind = formed.children.len() - first - taken;
    match way {
        LaunchStrategy::Columns { threads, joined } => {
            columns(&mut formed, (first, taken), threads)?;
            if joined {
                join_levels(&mut formed, &vec![first, 0, 0])?;
            }
        }
        LaunchStrategy::Tiles { rows, columns, levels } => {
            tiles(&mut formed, first, [rows, columns, levels])?
        }
        LaunchStrategy::Recomputed { rows, columns } => recomputed(&mut formed, first, [rows, columns])?,
        LaunchStrategy::Rolled { rows, columns } => in_rows(&mut formed, first, [rows, columns])?,
        LaunchStrategy::Points { rows, columns } => points(&mut formed, first, [rows, columns])?,
        LaunchStrategy::Levels { rows, columns } => level_by_level(&mut formed, first, [rows, columns])?,
        LaunchStrategy::Apart { cut } => {
            return apart(&formed, cx, gpu, (first, cut));
        }
    }
    let made = formed.children.len() - behind - first;
    costed(formed, cx, gpu, way, (first, taken, made))
}

/// Estimates the cost of a tree in which `made` launches from `first` on took the place of `taken` nodes.
pub(super) fn costed(
    formed: Tree,
    cx: &PassCx,
    gpu: &GpuModel,
    way: LaunchStrategy,
    (first, taken, made): (usize, usize, usize),
) -> Result<Candidate, Refusal> {
    // The tree as the passes behind this one leave it.
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

/// Distributes the stages of a node over two loops over levels, each in its best way.
pub(super) fn apart(
    tree: &Tree,
    cx: &PassCx,
    gpu: &GpuModel,
    (at, cut): (usize, usize),
) -> Result<Candidate, Refusal> {
    let mut cut_tree = tree.clone();
    let second = reference(&cut_tree, &vec![at, cut])?;
    Step::Distribute { at: reference(&cut_tree, &vec![at])?, before: second }.apply(&mut cut_tree)?;
    // Each half as one launch of tiles, and the second one first, so that the place of the first stays.
    let best_half = |tree: &Tree, at: usize| {
        let all = shapes(gpu).map(|(rows, columns)| {
            candidate(tree, cx, gpu, LaunchStrategy::Tiles { rows, columns, levels: 1 }, (at, 1))
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
        way: LaunchStrategy::Apart { cut },
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

/// Rows and columns of the tiles that are tried; the last ones leave more room for each array.
pub(super) fn shapes(gpu: &GpuModel) -> [(i64, i64); 3] {
    let threads = i64::from(gpu.threads_of_block.min(256));
    [(threads / 32, 32), (threads / 64, 64), (threads / 64, 32)]
        .map(|(rows, columns): (i64, i64)| (rows.max(1), columns.min(threads)))
}
