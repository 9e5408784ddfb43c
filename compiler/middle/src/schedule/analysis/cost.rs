//! The expected cost of a tree on a machine: bytes between memory and cache, and arithmetic.
//!
//! The model counts reuse within a scope, by the elements that one iteration of a loop touches. If they fit
//! into the cache of a core, each element that the loop touches crosses the bus once, however often it is
//! touched. If they do not fit, each part of the iteration pays for its own elements. Elements are counted as
//! the smallest box around the accesses of a container. An array that is written before it is read costs only
//! its writing. An array that lives in an iteration costs nothing, but takes up room in the cache.

use std::collections::BTreeMap;

use crate::entity::Handle;
use crate::expr::{Expr, ExprKind};
use crate::pass::MachineModel;
use crate::schedule::nodes::{Access, Container, ContainerKind, Loop, Node, Storage, Tree};
use crate::space::{Affine, Axis, Ring, Size, Symbol};
use crate::types::{BinaryOp, Primitive, UnaryPrimitive};

/// The machine and the domain that a schedule is made for.
#[derive(Clone, Debug, PartialEq)]
pub struct Machine {
    pub cores: i64,
    /// Bytes of the cache of one core that a schedule should use.
    pub cache_bytes: f64,
    /// Bytes per nanosecond from memory, for one core.
    pub bytes_per_ns: f64,
    /// Operations per nanosecond of one core, in vectors.
    pub operations_per_ns: f64,
    /// Bytes of a cache line, the unit of transfers between caches.
    pub line_bytes: i64,
    /// Points along I, J, K that sizes are taken to be.
    pub domain: [i64; 3],
}

impl Machine {
    /// A core of a server of today: three quarters of 1 MiB, memory and vectors that a few cores share.
    pub const CPU: Machine = Machine {
        cores: 8,
        cache_bytes: 768.0 * 1024.0,
        bytes_per_ns: 8.0,
        operations_per_ns: 6.0,
        line_bytes: 64,
        domain: [128, 128, 80],
    };

    /// The machine of a model: where it says nothing, as [`Machine::CPU`].
    #[must_use]
    pub fn of(model: &MachineModel) -> Self {
        // Data that leaves a small second cache comes back from a large last one, which is far nearer than
        // memory.
        let behind = model.share_of_last_cache_bytes().min(COUNTED_BEHIND);
        let counted = model.core_cache_bytes().map(|it| it.max(behind));
        // A quarter is left for code, the stack and other programs, which nobody counts.
        let cache_bytes = counted.map_or(Self::CPU.cache_bytes, |it| 0.75 * it as f64);
        // C compilers do not use wider vectors unless they are told to.
        let lanes = f64::from(model.vector_bytes.clamp(16, 32)) / 32.0;
        Self {
            cores: i64::from(model.cores.max(1)),
            cache_bytes: cache_bytes.max(16.0 * 1024.0),
            operations_per_ns: Self::CPU.operations_per_ns * lanes,
            line_bytes: i64::from(model.line_bytes.max(1)),
            ..Self::CPU
        }
    }
}

/// The most bytes of a core's share of the last cache that count as its own: the size of second caches of
/// today. With half of that in the second cache, arrays of a row of vertical advection and tridiagonal
/// systems stay in both caches. These kernels then take two thirds to three quarters of the time that they
/// take with arrays in memory. Laplacians along k gain too. No other kernel changes by more than a twentieth.
const COUNTED_BEHIND: u64 = 1 << 20;

/// The cost of a tree or of a part of it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Cost {
    /// Between memory and cache.
    pub bytes: f64,
    /// Additions and multiplications; a division counts as several, a transcendental function as many.
    pub operations: f64,
}

impl Cost {
    /// The time on one core in nanoseconds: the longer of memory and arithmetic, and a tenth of the shorter.
    #[must_use]
    pub fn time(self, machine: &Machine) -> f64 {
        let (memory, work) = (self.bytes / machine.bytes_per_ns, self.operations / machine.operations_per_ns);
        memory.max(work) + 0.1 * memory.min(work)
    }
}

/// Where loop variables and sizes lie: from the least to the greatest value.
pub(in crate::schedule) type Ranges = BTreeMap<Symbol, (i64, i64)>;

/// Sizes as the machine's domain has them.
#[must_use]
pub(in crate::schedule) fn sizes(machine: &Machine) -> Ranges {
    let size = |axis: Axis| (Symbol::new(axis.name()), machine.domain[axis.index()]);
    Axis::ALL.into_iter().map(size).map(|(symbol, n)| (symbol, (n, n))).collect()
}

/// The cost of a whole tree.
#[must_use]
pub fn cost(tree: &Tree, machine: &Machine) -> Cost {
    let (mut ranges, mut operations) = (sizes(machine), 0.0);
    let bytes = bytes_of_block(tree, &tree.children, &mut ranges, machine);
    for node in &tree.children {
        operations += operations_of(node, &mut ranges);
    }
    Cost { bytes, operations }
}

/// Bytes that have to cross the bus whatever the schedule: inputs once, outputs once.
#[must_use]
pub fn compulsory_bytes(tree: &Tree, machine: &Machine) -> f64 {
    let ranges = &mut sizes(machine);
    let boxes = boxes(tree, &tree.children, ranges);
    let of_caller =
        |it: &&ContainerFootprint| matches!(tree.containers[it.container].kind, ContainerKind::Field { .. });
    boxes.iter().filter(of_caller).map(|it| it.traffic(tree, ranges)).sum()
}

/// The part of its boxes that a tree touches, weighted by traffic. It is small where the tree computes in a
/// few corners only.
#[must_use]
pub fn touched_part(tree: &Tree, machine: &Machine) -> f64 {
    let ranges = &mut sizes(machine);
    let touched = touched(tree, &tree.children, ranges);
    let (mut part, mut all) = (0.0, 0.0);
    for it in boxes(tree, &tree.children, ranges) {
        let (bytes, traffic) = (it.bytes(tree), it.traffic(tree, ranges));
        let own = touched.get(&it.container).copied().unwrap_or(0.0).min(bytes);
        all += traffic;
        part += if bytes > 0.0 { traffic * own / bytes } else { 0.0 };
    }
    if all > 0.0 { part / all } else { 1.0 }
}

/// An upper limit of the bytes of each container that nodes touch. Elements that all iterations of a loop
/// touch count once; elements that only some of them share may count more often.
fn touched(tree: &Tree, nodes: &[Node], ranges: &mut Ranges) -> BTreeMap<Handle<Container>, f64> {
    let mut found = BTreeMap::new();
    for node in nodes {
        let whole = boxes(tree, std::slice::from_ref(node), ranges);
        let inside = match node {
            Node::Loop(it) => {
                let (turns, middle) = turns_of(it, ranges);
                let outer = ranges.insert(it.variable.clone(), (middle, middle));
                let of_one = touched(tree, &it.children, ranges);
                restore(ranges, &it.variable, outer);
                Some((of_one, turns as f64))
            }
            Node::Where(it) => Some((touched(tree, &it.children, ranges), 1.0)),
            Node::If(_) | Node::While(_) | Node::Region(_) | Node::Assign(_) | Node::Barrier => None,
        };
        for it in whole {
            let own = inside.as_ref().map_or(f64::INFINITY, |(of_one, turns)| {
                of_one.get(&it.container).copied().unwrap_or(0.0) * turns
            });
            *found.entry(it.container).or_insert(0.0) += it.bytes(tree).min(own);
        }
    }
    found
}

/// The part of a container that some nodes touch.
#[derive(Clone, Debug)]
pub(in crate::schedule) struct ContainerFootprint {
    pub(in crate::schedule) container: Handle<Container>,
    /// From the least to the greatest index, per dimension.
    pub(in crate::schedule) ranges: Vec<(i64, i64)>,
    pub(in crate::schedule) is_written: bool,
    /// Whether something is read that these nodes may not have written before.
    pub(in crate::schedule) is_needed: bool,
}

impl ContainerFootprint {
    pub(in crate::schedule) fn bytes(&self, tree: &Tree) -> f64 {
        let container = &tree.containers[self.container];
        let length = |(dimension, &(lo, hi)): (usize, &(i64, i64))| {
            let places = Ring::places_along(container.ring, dimension).unwrap_or(i64::MAX);
            (hi - lo + 1).clamp(0, places) as f64
        };
        let size = container.dtype.size_bytes() as f64;
        self.ranges.iter().enumerate().map(length).product::<f64>() * size
    }

    /// The bytes that cross the bus if each element does so once in each direction. An array that lives in an
    /// iteration crosses the bus only where the whole iteration did not fit into the cache. Then these nodes
    /// are a part of that iteration, and its variable is among the `ranges`.
    pub(in crate::schedule) fn traffic(&self, tree: &Tree, ranges: &Ranges) -> f64 {
        let of_memory = match &tree.containers[self.container].storage {
            Storage::Caller | Storage::Heap => true,
            Storage::Private(owner) => ranges.contains_key(owner),
            Storage::Register => false,
        };
        if !of_memory || tree.containers[self.container].shape.is_empty() {
            return 0.0;
        }
        self.bytes(tree) * (f64::from(u8::from(self.is_written)) + f64::from(u8::from(self.is_needed)))
    }
}

/// The parts of all containers that nodes touch while variables lie in `ranges`.
pub(in crate::schedule) fn boxes(
    tree: &Tree,
    nodes: &[Node],
    ranges: &mut Ranges,
) -> Vec<ContainerFootprint> {
    let mut found = BTreeMap::new();
    add_boxes(tree, nodes, ranges, Certainty::Always, &mut found);
    found.into_values().collect()
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Certainty {
    Always,
    Perhaps,
}

fn add_boxes(
    tree: &Tree,
    nodes: &[Node],
    ranges: &mut Ranges,
    certainty: Certainty,
    found: &mut BTreeMap<Handle<Container>, ContainerFootprint>,
) {
    for node in nodes {
        node.each_own_access(&mut |role, access| {
            add(tree, access, ranges, role.is_write().then_some(certainty), found);
        });
        match node {
            Node::Loop(it) => {
                let range = (
                    value(&it.start, ranges, RangeEnd::Least),
                    value(&it.end, ranges, RangeEnd::Greatest) - 1,
                );
                if range.0 > range.1 {
                    continue;
                }
                let outer = ranges.insert(it.variable.clone(), range);
                add_boxes(tree, &it.children, ranges, certainty, found);
                restore(ranges, &it.variable, outer);
            }
            Node::Where(it) => {
                let known = ranges.get(&it.variable).copied().unwrap_or((i64::MIN, i64::MAX));
                let start = value(&it.start, ranges, RangeEnd::Least).max(known.0);
                let end = (value(&it.end, ranges, RangeEnd::Greatest) - 1).min(known.1);
                if start > end {
                    continue;
                }
                let outer = ranges.insert(it.variable.clone(), (start, end));
                add_boxes(tree, &it.children, ranges, certainty, found);
                restore(ranges, &it.variable, outer);
            }
            Node::If(it) => {
                add_boxes(tree, &it.then, ranges, Certainty::Perhaps, found);
                add_boxes(tree, &it.otherwise, ranges, Certainty::Perhaps, found);
            }
            Node::While(it) => add_boxes(tree, &it.body, ranges, Certainty::Perhaps, found),
            Node::Region(it) => add_boxes(tree, &it.children, ranges, Certainty::Perhaps, found),
            Node::Assign(_) | Node::Barrier => {}
        }
    }
}

pub(in crate::schedule) fn restore(ranges: &mut Ranges, variable: &Symbol, outer: Option<(i64, i64)>) {
    match outer {
        Some(outer) => drop(ranges.insert(variable.clone(), outer)),
        None => drop(ranges.remove(variable)),
    }
}

/// Adds an access. A container whose first access is a certain write needs nothing from before. The model
/// assumes that this write covers all elements that are read later.
fn add(
    tree: &Tree,
    access: &Access,
    ranges: &Ranges,
    written: Option<Certainty>,
    found: &mut BTreeMap<Handle<Container>, ContainerFootprint>,
) {
    let container = access.container;
    let shape = &tree.containers[container].shape;
    let along = access.index.iter().zip(shape).map(|(index, size)| match index.as_known() {
        Some(known) => affine_range(known, ranges),
        None => (0, value(size, ranges, RangeEnd::Greatest) - 1),
    });
    match found.get_mut(&container) {
        Some(it) => {
            for (known, new) in it.ranges.iter_mut().zip(along) {
                *known = (known.0.min(new.0), known.1.max(new.1));
            }
            it.is_written |= written.is_some();
        }
        None => {
            let is_needed = written != Some(Certainty::Always);
            let (ranges, is_written) = (along.collect(), written.is_some());
            found.insert(container, ContainerFootprint { container, ranges, is_written, is_needed });
        }
    }
}

fn affine_range(sum: &Affine, ranges: &Ranges) -> (i64, i64) {
    sum.terms().fold((sum.offset(), sum.offset()), |(lo, hi), (symbol, factor)| {
        // The number of levels beside the domain is known only at a call; the model takes it to be 0.
        let (least, greatest) = ranges.get(symbol).copied().unwrap_or((0, 0));
        if factor > 0 {
            (lo + factor * least, hi + factor * greatest)
        } else {
            (lo + factor * greatest, hi + factor * least)
        }
    })
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(in crate::schedule) enum RangeEnd {
    Least,
    Greatest,
}

/// The least or the greatest value of a size.
pub(in crate::schedule) fn value(size: &Size, ranges: &Ranges, end: RangeEnd) -> i64 {
    match size {
        Size::Affine(sum) => {
            let (least, greatest) = affine_range(sum, ranges);
            if end == RangeEnd::Least { least } else { greatest }
        }
        Size::Min(parts) => parts.iter().map(|it| value(it, ranges, end)).min().unwrap_or(0),
        Size::Max(parts) => parts.iter().map(|it| value(it, ranges, end)).max().unwrap_or(0),
    }
}

/// The number of iterations of a loop, and the value of its variable halfway.
fn turns_of(it: &Loop, ranges: &Ranges) -> (i64, i64) {
    let start = value(&it.start, ranges, RangeEnd::Least);
    let n = (value(&it.end, ranges, RangeEnd::Greatest) - start).max(0);
    let turns = (n + it.step - 1) / it.step;
    (turns, start + (turns / 2) * it.step)
}

/// Bytes that a block moves when it runs once.
pub(in crate::schedule) fn bytes_of_block(
    tree: &Tree,
    block: &[Node],
    ranges: &mut Ranges,
    machine: &Machine,
) -> f64 {
    let all = boxes(tree, block, ranges);
    if all.iter().map(|it| it.bytes(tree)).sum::<f64>() <= machine.cache_bytes {
        return all.iter().map(|it| it.traffic(tree, ranges)).sum();
    }
    block.iter().map(|node| bytes_of_node(tree, node, ranges, machine)).sum()
}

fn bytes_of_node(tree: &Tree, node: &Node, ranges: &mut Ranges, machine: &Machine) -> f64 {
    let (variable, children, turns, middle) = match node {
        Node::Loop(it) => {
            let (turns, middle) = turns_of(it, ranges);
            (&it.variable, &it.children, turns, middle)
        }
        Node::Where(it) => return bytes_of_block(tree, &it.children, ranges, machine),
        Node::If(_) | Node::While(_) | Node::Region(_) | Node::Assign(_) | Node::Barrier => {
            return boxes(tree, std::slice::from_ref(node), ranges)
                .iter()
                .map(|it| it.traffic(tree, ranges))
                .sum();
        }
    };
    if turns == 0 {
        return 0.0;
    }
    let outer = ranges.insert(variable.clone(), (middle, middle));
    let of_one: f64 = boxes(tree, children, ranges).iter().map(|it| it.bytes(tree)).sum();
    let bytes = if of_one <= machine.cache_bytes {
        restore(ranges, variable, outer);
        let whole = boxes(tree, std::slice::from_ref(node), ranges);
        return whole.iter().map(|it| it.traffic(tree, ranges)).sum();
    } else {
        bytes_of_block(tree, children, ranges, machine) * turns as f64
    };
    restore(ranges, variable, outer);
    bytes
}

/// Arithmetic of a node.
pub(in crate::schedule) fn operations_of(node: &Node, ranges: &mut Ranges) -> f64 {
    let own = node.expression().map_or(0.0, operations_in);
    match node {
        Node::Loop(it) => {
            let (turns, middle) = turns_of(it, ranges);
            let outer = ranges.insert(it.variable.clone(), (middle, middle));
            let of_one: f64 = it.children.iter().map(|it| operations_of(it, ranges)).sum();
            restore(ranges, &it.variable, outer);
            of_one * turns as f64
        }
        // The number of iterations is unknown; those of models are a few.
        Node::While(it) => 8.0 * (own + it.body.iter().map(|it| operations_of(it, ranges)).sum::<f64>()),
        Node::If(_) | Node::Region(_) | Node::Where(_) | Node::Assign(_) | Node::Barrier => {
            own + node.children().into_iter().map(|it| operations_of(it, ranges)).sum::<f64>()
        }
    }
}

/// The square root, which takes as long as a division. Calls of remainders were not measured and count as
/// other calls.
const SQUARE_ROOT: Primitive = Primitive::Unary(UnaryPrimitive::SquareRoot);

/// Additions and multiplications of an expression. A slower operation counts as several of them.
fn operations_in(expr: &Expr<Access>) -> f64 {
    let mut total = 0.0;
    expr.walk(&mut |it| {
        total += match &it.kind {
            ExprKind::Binary(BinaryOp::Div | BinaryOp::Mod, ..) => 8.0,
            ExprKind::Binary(BinaryOp::Pow, ..) if it.squared().is_some() => 1.0,
            ExprKind::Binary(BinaryOp::Pow, ..) => 60.0,
            ExprKind::Call(function, _) if function.primitive() == Some(SQUARE_ROOT) => 8.0,
            ExprKind::Call(function, _) if function.is_transcendental() => 40.0,
            ExprKind::Binary(..) | ExprKind::Unary(..) | ExprKind::Ternary { .. } | ExprKind::Call(..) => 1.0,
            ExprKind::Literal(_)
            | ExprKind::Access(_)
            | ExprKind::Element(..)
            | ExprKind::Position(_)
            | ExprKind::Cast(..) => 0.0,
        };
    });
    total
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schedule::parse::parse;

    const MACHINE: Machine = Machine {
        cores: 2,
        cache_bytes: 1000.0,
        bytes_per_ns: 10.0,
        operations_per_ns: 4.0,
        line_bytes: 64,
        domain: [10, 10, 10],
    };

    fn of(loops: &str) -> Cost {
        let text = format!(
            "schedule s\nfield a: float64[I + 2, J, K] shift [1, 0, 0] read\nfield b: float64[I, J, K] shift [0, 0, 0] write\ntemporary t: float64[I, J, K] shift [0, 0, 0] heap\n{loops}"
        );
        cost(&parse(&text).expect("it is a tree"), &MACHINE)
    }

    #[test]
    fn what_fits_is_read_once() {
        // Twelve by ten by ten are read, and ten by ten by ten written.
        let one = of(
            "for k in [0, K) parallel:\n  for j in [0, J) parallel:\n    for i in [0, I) parallel:\n      b[i, j, k] = a[i, j, k] + a[i + 2, j, k]\n",
        );
        assert_eq!(one, Cost { bytes: 8.0 * (1200.0 + 1000.0), operations: 1000.0 });
    }

    #[test]
    fn what_computes_in_corners_touches_a_part() {
        let part = |loops: &str| {
            let text = format!(
                "schedule s\nfield a: float64[I, J, K] shift [0, 0, 0] read\nfield b: float64[I, J, K] shift [0, 0, 0] write\n{loops}"
            );
            touched_part(&parse(&text).expect("it is a tree"), &MACHINE)
        };
        let copy = |j: &str, i: &str| {
            format!("  for j in {j} parallel:\n    for i in {i} parallel:\n      b[i, j, k] = a[i, j, k]\n")
        };
        let near = |found: f64, meant: f64| (found - meant).abs() < 1e-12;
        assert!(near(part(&format!("for k in [0, K) parallel:\n{}", copy("[0, J)", "[0, I)"))), 1.0));
        let corners = [copy("[0, 1)", "[0, 1)"), copy("[J - 1, J)", "[I - 1, I)")].concat();
        assert!(near(part(&format!("for k in [0, K) parallel:\n{corners}")), 0.02));
    }

    #[test]
    fn what_does_not_fit_is_paid_for_by_each_part() {
        let stages = |inner: &str| {
            format!(
                "for k in [0, K) parallel:\n  for j in [0, J) parallel:\n    for i in [0, I) parallel:\n      t[i, j, k] = a[i, j, k]\n{inner}  for j in [0, J) parallel:\n    for i in [0, I) parallel:\n      b[i, j, k] = t[i, j, k] * a[i + 1, j, k]\n"
            )
        };
        // A level of each is 800 bytes: written, and read again by the second loop, which reads `a` again too.
        let apart = of(&stages(""));
        assert_eq!(
            apart,
            Cost { bytes: 8.0 * (1000.0 + 1000.0 + 1000.0 + 1000.0 + 1000.0), operations: 1000.0 }
        );
        let together = of(
            "for k in [0, K) parallel:\n  for j in [0, J) parallel:\n    for i in [0, I) parallel:\n      t[i, j, k] = a[i, j, k]\n      b[i, j, k] = t[i, j, k] * a[i + 1, j, k]\n",
        );
        assert_eq!(together, Cost { bytes: 8.0 * (1100.0 + 1000.0 + 1000.0), operations: 1000.0 });
    }

    #[test]
    fn a_model_decides_what_it_tells_and_no_more() {
        use crate::pass::Cache;
        let model = |caches: &[u64], vector_bytes| MachineModel {
            cores: 4,
            caches: caches.iter().map(|&bytes| Cache { bytes, cores: 2 }).collect(),
            line_bytes: 64,
            vector_bytes,
        };
        let own = Machine::of(&model(&[32 << 10, 2 << 20, 64 << 20], 64));
        assert_eq!(own, Machine { cores: 4, ..Machine::CPU });
        assert_eq!(Machine::of(&model(&[], 32)), Machine { cores: 4, ..Machine::CPU });
        // A share of the last cache makes up for a small second one, but no further.
        let of_caches = |caches: &[u64]| Machine::of(&model(caches, 32));
        let counted = |kib: f64| Machine { cores: 4, cache_bytes: 0.75 * 1024.0 * kib, ..Machine::CPU };
        assert_eq!(of_caches(&[32 << 10, 256 << 10]), counted(128.0));
        assert_eq!(of_caches(&[32 << 10, 256 << 10, 1 << 20]), counted(512.0));
        assert_eq!(of_caches(&[32 << 10, 256 << 10, 32 << 20]), counted(1024.0));
        let small = Machine::of(&model(&[64 << 10], 16));
        assert_eq!((small.cache_bytes, small.operations_per_ns), (0.75 * 32.0 * 1024.0, 3.0));
    }
}
