//! The expected cost of a launch on a GPU: bytes, arithmetic, shared memory, and how full the device is.
//!
//! `time = launch + max(memory / fill, arithmetic / at_work, shared memory) / fullness`. Memory counts the
//! box around all accesses of the launch once: elements that neighbouring tiles read again are in the second
//! cache. `fill` is the ratio of the bytes in flight to those that hide the latency of memory, at most 1.
//! Arithmetic is the longer of issue and arithmetic of 64 bits. `at_work` is the ratio of the threads to
//! those that hide the latency of arithmetic, at most 1. `fullness` is that of the last wave of blocks.

use super::cost::{RangeEnd, Ranges, boxes, operations_of, restore, sizes, value};
use super::launch::{Launch, elements, own_arrays, shared_bytes, threads};
use crate::pass::GpuModel;
use crate::schedule::analysis::cost::Machine;
use crate::schedule::nodes::{ContainerKind, GpuMemory, Node, Placement, Tree};
use crate::space::Axis;
use crate::types::DType;

/// The domain that launches are compared on.
const DOMAIN: [i64; 3] = [256, 256, 80];

/// The resources that one launch needs, and its expected time.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct LaunchCost {
    pub blocks: f64,
    pub threads: i64,
    /// Blocks that one multiprocessor holds at a time.
    pub resident: i64,
    /// Threads that it holds, as a part of those that it could hold.
    pub occupancy: f64,
    /// Shared memory of a block.
    pub shared_bytes: i64,
    /// Registers of a thread, about.
    pub registers: i64,
    /// Between memory and chip.
    pub bytes: f64,
    /// The part of `bytes` that moves arrays of iterations that fit nowhere nearer.
    pub scratch_bytes: f64,
    pub operations: f64,
    pub time_ns: f64,
    /// The sum of the times of memory and arithmetic at their full rates. Less of it is better, whichever of
    /// the two hides the other one.
    pub work_ns: f64,
}

/// The sizes that launches are compared on.
#[must_use]
pub(in crate::schedule) fn domain() -> Ranges {
    sizes(&Machine { domain: DOMAIN, ..Machine::CPU })
}

/// Levels of the domain that launches are compared on.
#[must_use]
pub fn levels() -> i64 {
    DOMAIN[2]
}

/// Bytes of fields that some nodes have to move whatever their schedule: inputs once, outputs once.
#[must_use]
pub fn compulsory_bytes(tree: &Tree, nodes: &[Node]) -> f64 {
    let mut ranges = domain();
    let all = boxes(tree, nodes, &mut ranges);
    let fields =
        all.iter().filter(|it| matches!(tree.containers[it.container].kind, ContainerKind::Field { .. }));
    fields.map(|it| it.traffic(tree, &ranges)).sum()
}

/// The cost of one launch.
#[must_use]
pub fn cost_of(tree: &Tree, launch: &Launch<'_>, gpu: &GpuModel) -> LaunchCost {
    let mut ranges = domain();
    // A loop of the host around runs the launch in each of its iterations.
    let mut turns_around = 1.0;
    for depth in 1..launch.path.len() {
        if let Some(it) = tree.loop_at(&launch.path[..depth]) {
            let (start, end) =
                (value(&it.start, &ranges, RangeEnd::Least), value(&it.end, &ranges, RangeEnd::Greatest));
            turns_around *= turns(start, end, it.step);
            let middle = (start + end) / 2;
            ranges.insert(it.variable.clone(), (middle, middle));
        }
    }
    let Some(node) = tree.node(&launch.path) else { return LaunchCost::default() };
    let nodes = std::slice::from_ref(node);
    let mut bytes: f64 = boxes(tree, nodes, &mut ranges).iter().map(|it| it.traffic(tree, &ranges)).sum();
    let operations = operations_of(node, &mut ranges);
    let mut blocks = 1.0;
    for it in &launch.grid {
        let (start, end) =
            (value(&it.start, &ranges, RangeEnd::Least), value(&it.end, &ranges, RangeEnd::Greatest));
        blocks *= turns(start, end, it.step);
    }
    let threads = threads(launch).iter().product::<i64>().max(1);
    let shared = shared_bytes(tree, launch, Some(levels())).unwrap_or(i64::MAX);
    let words = |dtype: DType| if dtype.size_bytes() > 4 { 2 } else { 1 };
    let mut registers = 24 + 2 * locals_at_once(tree, node);
    let arrays = own_arrays(tree, launch);
    for &(handle, _) in arrays.iter().filter(|it| tree.containers[it.0].place == Some(GpuMemory::Register)) {
        let container = &tree.containers[handle];
        let n = elements(container, Some(levels())).unwrap_or(i64::MAX / 64);
        registers += n.min(512) * words(container.dtype);
    }
    let by_registers = i64::from(gpu.registers) / (threads * round_up(registers.min(255), 8)).max(1);
    let by_shared = i64::try_from(gpu.shared_bytes).unwrap_or(i64::MAX) / (shared.saturating_add(1024));
    let by_threads = i64::from(gpu.threads) / threads;
    let resident = by_registers.min(by_shared).min(by_threads).min(32);
    let at_once = (resident * i64::from(gpu.multiprocessors)).max(1) as f64;
    let (mut shared_traffic, mut scratch_bytes) = (0.0, 0.0);
    for (handle, is_of_thread) in arrays {
        let container = &tree.containers[handle];
        let n = elements(container, Some(levels())).unwrap_or(i64::MAX / 64);
        let size = n as f64 * container.dtype.size_bytes() as f64;
        let copies = if is_of_thread { blocks * threads as f64 } else { blocks };
        match container.place {
            Some(GpuMemory::Register) => {}
            // An array in scratch memory goes to memory and comes back.
            Some(GpuMemory::Scratch) => scratch_bytes += 2.0 * size * copies,
            // An array over an output is read back from the second cache, where that holds all arrays in
            // flight.
            Some(GpuMemory::Over(_)) => {
                if at_once.min(blocks) * threads as f64 * size > gpu.l2_bytes as f64 {
                    bytes += 2.0 * size * copies;
                }
            }
            Some(GpuMemory::Shared) | None => shared_traffic += 4.0 * size * copies,
        }
    }
    bytes += scratch_bytes;
    let is_wide = tree
        .containers
        .iter()
        .any(|(_, it)| it.dtype == DType::Float64 && matches!(it.kind, ContainerKind::Field { .. }));
    let waves = (blocks / at_once).max(1e-9);
    let fullness = waves / waves.ceil();
    // Little's law: a latency of 700 ns, and the bytes that a thread asks for before it waits. A thread that
    // goes through levels also asks for the bytes of some levels ahead.
    let is_column = launch.grid.iter().all(|it| it.axis != Axis::K);
    let asked = if is_column { 72.0 } else { 32.0 };
    let in_flight = at_once.min(blocks) * threads as f64 * asked;
    let needed = f64::from(gpu.bandwidth_gb) * 700.0;
    let fill = (in_flight / needed).min(1.0);
    let cycles = f64::from(gpu.clock_mhz) * 1e-3 * f64::from(gpu.multiprocessors);
    let memory = bytes / f64::from(gpu.bandwidth_gb);
    // Arithmetic has a latency as well, during which other threads compute.
    let of_each = at_once.min(blocks) * threads as f64 / f64::from(gpu.multiprocessors);
    let at_work = (of_each / f64::from(gpu.threads_at_work.max(1))).min(1.0);
    let rate = f64::from(gpu.lanes) * cycles;
    let (stages, barriers) = stages_of(launch.body, &mut ranges);
    let turns = stages * f64::from(gpu.stage_ps) + barriers * f64::from(gpu.barrier_ps);
    let turns = blocks * threads as f64 * turns * 1e-3 / f64::from(gpu.multiprocessors);
    // Addresses and moves count as much again as arithmetic.
    let issue = 2.0 * operations / rate + turns;
    let wide = if is_wide { operations * f64::from(gpu.f64_ratio) / rate } else { 0.0 };
    let arithmetic = issue.max(wide);
    let on_chip = shared_traffic / rate;
    let busy = (memory / fill.max(1e-3)).max(arithmetic / at_work).max(on_chip) / fullness;
    let time = turns_around * (f64::from(gpu.launch_ns) + busy);
    LaunchCost {
        blocks,
        threads,
        resident,
        occupancy: (resident.max(0) * threads) as f64 / f64::from(gpu.threads),
        shared_bytes: shared,
        registers,
        bytes: bytes * turns_around,
        operations,
        scratch_bytes: scratch_bytes * turns_around,
        work_ns: turns_around * (memory + arithmetic),
        time_ns: if resident < 1 { f64::INFINITY } else { time },
    }
}

/// The number of stages that a block runs, and of barriers.
fn stages_of(nodes: &[Node], ranges: &mut Ranges) -> (f64, f64) {
    let (mut stages, mut barriers) = (0.0, 0.0);
    for node in nodes {
        match node {
            Node::Barrier => barriers += 1.0,
            Node::Loop(it) if it.placement == Placement::Block => stages += 1.0,
            Node::Loop(it) => {
                let (start, end) =
                    (value(&it.start, ranges, RangeEnd::Least), value(&it.end, ranges, RangeEnd::Greatest));
                let turns = turns(start, end, it.step);
                let outer = ranges.insert(it.variable.clone(), (start, start));
                let inside = stages_of(&it.children, ranges);
                restore(ranges, &it.variable, outer);
                stages += inside.0 * turns;
                barriers += inside.1 * turns;
            }
            Node::Where(it) => {
                let inside = stages_of(&it.children, ranges);
                stages += inside.0;
                barriers += inside.1;
            }
            Node::If(_) | Node::While(_) | Node::Region(_) | Node::Assign(_) => {}
        }
    }
    (stages, barriers)
}

fn turns(start: i64, end: i64, step: i64) -> f64 {
    ((end - start).max(0) + step - 1).div_euclid(step) as f64
}

fn round_up(n: i64, to: i64) -> i64 {
    (n + to - 1) / to * to
}

/// An estimate of the values without a dimension that are alive at once.
fn locals_at_once(tree: &Tree, node: &Node) -> i64 {
    let mut seen = std::collections::BTreeSet::new();
    node.walk(&mut |it| {
        it.each_own_access(&mut |_, access| {
            if tree.containers[access.container].shape.is_empty() {
                seen.insert(access.container);
            }
        });
    });
    // Not all of them live at the same time.
    i64::try_from(seen.len()).unwrap_or(0).min(16)
}
