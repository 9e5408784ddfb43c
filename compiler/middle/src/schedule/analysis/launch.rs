//! One launch of a GPU: its grid, its stages, and which of these have to wait for each other.
//!
//! ```text
//! for k in [1, K) ascending:                a loop of the host around launches
//!   grid j_tile in [0, J) step 8:           the grid: outermost, each loop alone in the one around
//!     grid i_tile in [0, I) step 32:
//!       block j in [j_tile, ..):            a stage
//!         block i in [i_tile - 1, ..): ..
//!       barrier
//!       block j in [j_tile, ..):            another stage
//!         block i in [i_tile, ..): ..
//! ```
//!
//! The distance of a position from the start of the tile tells the thread that runs it, in all stages alike.
//! So one thread makes all accesses at the same position of two stages, in the order of the text. If one
//! stage writes any other element that another one touches, only a barrier between the two orders these
//! accesses. Blocks never wait for each other.

use std::collections::BTreeSet;

use crate::entity::Handle;
use crate::schedule::nodes::{
    Access, Container, ContainerKind, GpuMemory, Loop, Node, Placement, Storage, Tree,
};
use crate::schedule::visit::place::Path;
use crate::space::threads::of_tile;
use crate::space::{Affine, Axis, Ring, Size, Symbol, names};

/// A nest that runs as one launch.
#[derive(Clone, Debug)]
pub struct Launch<'t> {
    /// Where its outermost loop stands.
    pub path: Path,
    /// The loops of the grid, from outside in.
    pub grid: Vec<&'t Loop>,
    /// The work of one block, right inside of the innermost loop of the grid; `body_path` is its place.
    pub body: &'t [Node],
    pub body_path: Path,
}

/// The launches of a tree, in the order of the text.
#[must_use]
pub fn launches(tree: &Tree) -> Vec<Launch<'_>> {
    let mut found = Vec::new();
    collect(&tree.children, &mut Path::new(), &mut found);
    found
}

fn collect<'t>(nodes: &'t [Node], path: &mut Path, found: &mut Vec<Launch<'t>>) {
    for (at, node) in nodes.iter().enumerate() {
        path.push(at);
        match node {
            Node::Loop(it) if it.placement == Placement::Grid => found.push(Launch::at(it, path.clone())),
            Node::Loop(it) => collect(&it.children, path, found),
            Node::Where(it) => collect(&it.children, path, found),
            Node::If(_) | Node::While(_) | Node::Region(_) | Node::Assign(_) | Node::Barrier => {}
        }
        path.pop();
    }
}

impl<'t> Launch<'t> {
    /// The launch whose outermost loop this is.
    #[must_use]
    pub fn at(outermost: &'t Loop, path: Path) -> Self {
        let (mut grid, mut body_path, mut body) =
            (vec![outermost], path.clone(), outermost.children.as_slice());
        while let [Node::Loop(only)] = body
            && only.placement == Placement::Grid
        {
            grid.push(only);
            body_path.push(0);
            body = &only.children;
        }
        Self { path, grid, body, body_path }
    }

    /// All accesses inside of the launch.
    fn touches(&self) -> Vec<LaunchAccess<'t>> {
        let mut all = Vec::new();
        let mut around = self.grid.clone();
        self.body.iter().for_each(|it| touches_of(it, &mut around, &mut all));
        all
    }
}

/// An access, and the loops around it, from the outermost of the launch on.
#[derive(Clone, Debug)]
struct LaunchAccess<'t> {
    access: &'t Access,
    is_write: bool,
    around: Vec<&'t Loop>,
}

fn touches_of<'t>(node: &'t Node, around: &mut Vec<&'t Loop>, all: &mut Vec<LaunchAccess<'t>>) {
    node.each_own_access(&mut |role, access| {
        all.push(LaunchAccess { access, is_write: role.is_write(), around: around.clone() });
    });
    if let Node::Loop(it) = node {
        around.push(it);
    }
    node.children().into_iter().for_each(|it| touches_of(it, around, all));
    if let Node::Loop(_) = node {
        around.pop();
    }
}

/// How far beside the position `variable` an access lies; none where that is not one distance.
fn beside(tree: &Tree, access: &Access, variable: &Symbol) -> Option<i64> {
    let shift = &tree.containers[access.container].shift;
    let mut along = access.index.iter().zip(shift).filter(|(it, _)| it.known.factor(variable) != 0);
    let ((index, shift), None) = (along.next()?, along.next()) else { return None };
    let known = index.as_known()?;
    (&(known - shift) - &Affine::symbol(variable)).as_constant()
}

/// Whether two accesses to one container can be to the same element where all symbols but the varying ones
/// are equal.
fn may_meet(container: &Container, one: &Access, other: &Access, varying: &BTreeSet<&Symbol>) -> bool {
    let is_fixed = |sum: &Affine| sum.terms().all(|(it, _)| !varying.contains(it));
    !one.index.iter().zip(&other.index).enumerate().any(|(dimension, (one, other))| {
        let (Some(one), Some(other)) = (one.as_known(), other.as_known()) else { return false };
        let distance = if is_fixed(one) && is_fixed(other) { one.distance_from(other) } else { None };
        let distance = distance.unwrap_or(0);
        Ring::places_along(container.ring, dimension).map_or(distance, |places| distance % places) != 0
    })
}

/// The loop around an access whose iterations have a container for themselves.
fn owner(container: &Container, around: &[&Loop]) -> Option<usize> {
    match &container.storage {
        Storage::Private(variable) => around.iter().position(|it| it.variable == *variable),
        Storage::Register | Storage::Caller | Storage::Heap => None,
    }
}

/// Whether each thread has a container for itself, as far as an access inside of these loops sees.
fn is_of_thread(container: &Container, around: &[&Loop]) -> bool {
    if container.shape.is_empty() {
        return true;
    }
    let is_block = |it: &&Loop| it.placement == Placement::Block;
    owner(container, around).is_some_and(|at| around[..=at].iter().any(is_block))
}

/// Returns as one sentence why the blocks of a launch cannot run in any order, with the container; `None` if
/// they can.
#[must_use]
pub fn carried_by_grid(tree: &Tree, launch: &Launch<'_>) -> Option<(Handle<Container>, String)> {
    let all = launch.touches();
    let varying = varying(launch.grid.iter().copied(), launch.body);
    for (at, one) in all.iter().enumerate() {
        let container = &tree.containers[one.access.container];
        if container.shape.is_empty() || owner(container, &one.around).is_some() {
            continue;
        }
        for other in all[at..].iter().filter(|it| it.access.container == one.access.container) {
            if !(one.is_write || other.is_write) || !may_meet(container, one.access, other.access, &varying) {
                continue;
            }
            let apart = launch.grid.iter().find(|grid| !is_of_one_block(tree, grid, one, other));
            if let Some(grid) = apart {
                let name = names::of_stencil(&container.name);
                let reason = format!("`{name}` is touched by several blocks along `{}`", grid.variable);
                return Some((one.access.container, reason));
            }
        }
    }
    None
}

/// Whether two accesses to an element are always of one iteration of a loop of the grid.
fn is_of_one_block(tree: &Tree, grid: &Loop, one: &LaunchAccess<'_>, other: &LaunchAccess<'_>) -> bool {
    let position = Symbol::new(grid.axis.position_name());
    if grid.variable == position {
        let distance = beside(tree, one.access, &position);
        return distance.is_some() && distance == beside(tree, other.access, &position);
    }
    // Tiles do not share the positions inside of them.
    let in_tile = |it: &LaunchAccess<'_>| {
        let around = it.around.iter().find(|it| it.variable == position)?;
        let (lo, hi) = reach(around, &it.around, &grid.variable)?;
        (lo >= 0 && hi <= grid.step).then(|| beside(tree, it.access, &position)).flatten()
    };
    let distance = in_tile(one);
    distance.is_some() && distance == in_tile(other)
}

/// The bounds of a loop over positions, counted from the start of a tile. The loop may follow a front.
fn reach(positions: &Loop, around: &[&Loop], tile: &Symbol) -> Option<(i64, i64)> {
    let front = around.iter().find(|it| it.variable == names::front(positions.axis));
    let lo = part_beside(&positions.start, tile).or_else(|| {
        let front = front?;
        Some(part_beside(&positions.start, &front.variable)? + part_beside(&front.start, tile)?)
    });
    let hi = part_beside(&positions.end, tile).or_else(|| {
        let front = front?;
        Some(part_beside(&positions.end, &front.variable)? + part_beside(&front.end, tile)? - 1)
    });
    lo.zip(hi)
}

/// The distance of a bound from a symbol: a lower limit of it for a `max` of several, an upper one for a
/// `min`.
pub(in crate::schedule) fn part_beside(bound: &Size, symbol: &Symbol) -> Option<i64> {
    match bound {
        Size::Affine(sum) => (sum - &Affine::symbol(symbol)).as_constant(),
        Size::Min(parts) | Size::Max(parts) => parts.iter().find_map(|it| part_beside(it, symbol)),
    }
}

/// The variables of loops and of those inside.
fn varying<'t>(loops: impl Iterator<Item = &'t Loop>, nodes: &'t [Node]) -> BTreeSet<&'t Symbol> {
    let mut varying: BTreeSet<&Symbol> = loops.map(|it| &it.variable).collect();
    for node in nodes {
        node.walk(&mut |it| {
            if let Node::Loop(it) = it {
                varying.insert(&it.variable);
            }
        });
    }
    varying
}

/// Finds the barriers that are missing in a launch. Returns the path of each child that needs a barrier
/// before it, with the container that needs it. Where the last entry of a path is the number of children, the
/// barrier belongs behind the last child.
#[must_use]
pub fn missing_barriers(tree: &Tree, launch: &Launch<'_>) -> Vec<(Path, Handle<Container>)> {
    let mut search = BarrierSearch {
        tree,
        varying: varying(std::iter::empty(), launch.body),
        around: launch.grid.clone(),
        missing: Vec::new(),
    };
    search.block(launch.body, &mut launch.body_path.clone(), &mut BarrierInterval::default());
    search.missing
}

struct BarrierSearch<'t> {
    tree: &'t Tree,
    /// The variables of loops inside of the body: they differ between the threads and the iterations of a
    /// block.
    varying: BTreeSet<&'t Symbol>,
    around: Vec<&'t Loop>,
    missing: Vec<(Path, Handle<Container>)>,
}

/// The accesses between two barriers.
#[derive(Clone, Debug, Default)]
struct BarrierInterval<'t> {
    /// Since the last barrier.
    open: Vec<LaunchAccess<'t>>,
    /// Since the start of a block, before its first barrier.
    head: Vec<LaunchAccess<'t>>,
    has_barrier: bool,
}

impl<'t> BarrierInterval<'t> {
    fn barrier(&mut self) {
        self.open.clear();
        self.has_barrier = true;
    }

    fn add(&mut self, touches: &[LaunchAccess<'t>]) {
        self.open.extend_from_slice(touches);
        if !self.has_barrier {
            self.head.extend_from_slice(touches);
        }
    }
}

impl<'t> BarrierSearch<'t> {
    fn block(&mut self, block: &'t [Node], path: &mut Path, interval: &mut BarrierInterval<'t>) {
        for (at, node) in block.iter().enumerate() {
            path.push(at);
            match node {
                Node::Barrier => interval.barrier(),
                Node::Loop(it) if it.placement != Placement::Block && has_parts(it) => {
                    self.around.push(it);
                    // The accesses open before the loop meet its first iteration; those that an iteration
                    // leaves open meet the next.
                    let mut inside =
                        BarrierInterval { open: interval.open.clone(), ..BarrierInterval::default() };
                    self.block(&it.children, path, &mut inside);
                    let own_tail: Vec<LaunchAccess<'t>> =
                        if inside.has_barrier { inside.open.clone() } else { inside.head.clone() };
                    let wraps = self.conflict(&own_tail, &inside.head);
                    if let Some(container) = wraps {
                        path.push(it.children.len());
                        self.missing.push((path.clone(), container));
                        path.pop();
                    }
                    self.around.pop();
                    // A loop without an iteration has run no barrier inside.
                    if wraps.is_none() {
                        interval.add(&own_tail);
                    }
                    let head = std::mem::take(&mut inside.head);
                    if !interval.has_barrier {
                        interval.head.extend(head);
                    }
                }
                _ => {
                    let mut touches = Vec::new();
                    touches_of(node, &mut self.around, &mut touches);
                    if let Some(container) = self.conflict(&interval.open, &touches) {
                        self.missing.push((path.clone(), container));
                        interval.barrier();
                    }
                    interval.add(&touches);
                }
            }
            path.pop();
        }
    }

    /// Finds a container where two threads may touch the same element while one of them writes it.
    fn conflict(&self, first: &[LaunchAccess<'_>], second: &[LaunchAccess<'_>]) -> Option<Handle<Container>> {
        for one in first {
            for other in second.iter().filter(|it| it.access.container == one.access.container) {
                let container = &self.tree.containers[one.access.container];
                let is_conflict = (one.is_write || other.is_write)
                    && !is_of_thread(container, &one.around)
                    && may_meet(container, one.access, other.access, &self.varying)
                    && !self.is_of_one_thread(one, other);
                if is_conflict {
                    return Some(one.access.container);
                }
            }
        }
        None
    }

    /// Whether two accesses to an element are always of one thread.
    fn is_of_one_thread(&self, one: &LaunchAccess<'_>, other: &LaunchAccess<'_>) -> bool {
        let blocks = |it: &LaunchAccess<'_>| -> BTreeSet<Symbol> {
            let all = it.around.iter().filter(|it| it.placement == Placement::Block);
            all.map(|it| it.variable.clone()).collect()
        };
        let variables = blocks(one);
        !variables.is_empty()
            && variables == blocks(other)
            && variables.iter().all(|variable| {
                let distance = beside(self.tree, one.access, variable);
                distance.is_some() && distance == beside(self.tree, other.access, variable)
            })
    }
}

/// Whether a stage stands inside of a node, or it is one.
pub(in crate::schedule) fn has_stages(node: &Node) -> bool {
    let mut found = false;
    node.walk(&mut |it| {
        found |=
            matches!(it, Node::Barrier) || matches!(it, Node::Loop(it) if it.placement == Placement::Block);
    });
    found
}

/// Whether barriers may stand inside of a loop: stages do, and more than one of them in turn.
fn has_parts(it: &Loop) -> bool {
    let is_one = follows_front(it)
        && matches!(it.children.as_slice(), [Node::Loop(only)] if only.placement == Placement::Block);
    !is_one && it.children.iter().any(has_stages)
}

/// Whether a loop runs only at the position of the front along its axis, or not at all.
#[must_use]
pub fn follows_front(it: &Loop) -> bool {
    let front = names::front(it.axis);
    let bounds = part_beside(&it.start, &front).zip(part_beside(&it.end, &front));
    it.step == 1 && bounds.is_some_and(|(start, end)| end - start == 1)
}

/// All faults of the launches of a tree, each as one sentence.
#[must_use]
pub fn faults(tree: &Tree) -> Vec<String> {
    let mut found = Vec::new();
    let mut seen = Structure { grid: 0, block: 0, found: &mut found };
    seen.nodes(&tree.children, true, &mut Vec::new());
    for launch in launches(tree) {
        found.extend(faults_of(tree, &launch));
    }
    found
}

/// All faults of one launch, each as one sentence.
#[must_use]
pub fn faults_of(tree: &Tree, launch: &Launch<'_>) -> Vec<String> {
    let mut found: Vec<String> =
        carried_by_grid(tree, launch).into_iter().map(|(_, reason)| reason).collect();
    for (_, container) in missing_barriers(tree, launch) {
        let name = names::of_stencil(&tree.containers[container].name);
        found.push(format!("two threads of a block touch `{name}` and no barrier stands between"));
    }
    let threads: i64 = threads(launch).iter().product();
    if threads > MOST_THREADS {
        found.push(format!("a block has {threads} threads"));
    }
    let shared = shared_bytes(tree, launch, None).unwrap_or(0);
    if shared > MOST_SHARED {
        found.push(format!("a block has {shared} bytes of shared memory"));
    }
    found
}

/// The most threads that any block can have.
const MOST_THREADS: i64 = 1024;

/// The most shared memory that any block can have, in bytes.
const MOST_SHARED: i64 = 227 << 10;

/// Threads of a block along j and i: as many as a tile has positions that they share, in whole groups of threads.
#[must_use]
pub fn threads(launch: &Launch<'_>) -> [i64; 2] {
    let is_shared = |axis: Axis| {
        let mut found = false;
        launch.body.iter().for_each(|node| {
            node.walk(&mut |it| {
                found |= matches!(it, Node::Loop(it) if it.axis == axis && it.placement == Placement::Block);
            });
        });
        found
    };
    let along = |axis: Axis| {
        let tile = launch.grid.iter().find(|it| it.variable == names::tile(axis));
        tile.filter(|_| is_shared(axis)).map_or(1, |it| of_tile(it.step))
    };
    [along(Axis::J), along(Axis::I)]
}

/// The arrays that iterations inside of a launch have for themselves. The flag tells whether each thread has
/// its own.
#[must_use]
pub fn own_arrays(tree: &Tree, launch: &Launch<'_>) -> Vec<(Handle<Container>, bool)> {
    let mut found: Vec<(Handle<Container>, bool)> = Vec::new();
    for touch in launch.touches() {
        let container = &tree.containers[touch.access.container];
        if !container.shape.is_empty()
            && owner(container, &touch.around).is_some()
            && !found.iter().any(|it| it.0 == touch.access.container)
        {
            found.push((touch.access.container, is_of_thread(container, &touch.around)));
        }
    }
    found
}

/// The number of elements of an array. `levels` stands for the size along k; none where the number is not
/// known.
#[must_use]
pub fn elements(container: &Container, levels: Option<i64>) -> Option<i64> {
    let mut all = 1;
    for (dimension, size) in container.shape.iter().enumerate() {
        let length = match (Ring::places_along(container.ring, dimension), size) {
            (Some(places), _) => places,
            (None, Size::Affine(sum)) => {
                let levels =
                    levels.map(|it| sum.substituted(&Symbol::new(Axis::K.name()), &Affine::constant(it)));
                levels.as_ref().unwrap_or(sum).as_constant()?
            }
            (None, Size::Min(_) | Size::Max(_)) => return None,
        };
        all *= length.max(0);
    }
    Some(all)
}

/// The shared memory of a block; none where it depends on sizes that are not known.
#[must_use]
pub fn shared_bytes(tree: &Tree, launch: &Launch<'_>, levels: Option<i64>) -> Option<i64> {
    let mut all = 0;
    for (handle, is_of_thread) in own_arrays(tree, launch) {
        let container = &tree.containers[handle];
        if container.place == Some(GpuMemory::Shared) {
            let copies = if is_of_thread { threads(launch).iter().product() } else { 1 };
            let size = i64::try_from(container.dtype.size_bytes()).unwrap_or(8);
            all += elements(container, levels)? * copies * size;
        }
    }
    Some(all)
}

/// Where grids, blocks and barriers stand.
struct Structure<'f> {
    grid: usize,
    block: usize,
    found: &'f mut Vec<String>,
}

impl Structure<'_> {
    /// `is_open` tells whether a grid may start here: nothing but loops of the host stands around.
    fn nodes(&mut self, nodes: &[Node], is_open: bool, inside: &mut Vec<Symbol>) {
        let is_alone = nodes.len() == 1;
        for node in nodes {
            match node {
                Node::Barrier => {
                    if self.grid == 0 || self.block > 0 {
                        self.found.push("a barrier stands outside of a grid, or in a stage".to_owned());
                    }
                }
                Node::Loop(it) => self.looped(it, is_open, is_alone, inside),
                Node::If(_) | Node::While(_) | Node::Region(_) | Node::Where(_) => {
                    let has_barrier = || {
                        let mut found = false;
                        node.walk(&mut |it| found |= matches!(it, Node::Barrier));
                        found
                    };
                    if has_barrier() {
                        self.found.push("a barrier stands under a condition".to_owned());
                    }
                    for child in node.children() {
                        self.nodes(std::slice::from_ref(child), false, inside);
                    }
                }
                Node::Assign(_) => {}
            }
        }
    }

    fn looped(&mut self, it: &Loop, is_open: bool, is_alone: bool, inside: &mut Vec<Symbol>) {
        let variable = &it.variable;
        let (grid, block) = (self.grid, self.block);
        let mut is_open_inside = false;
        match it.placement {
            Placement::Grid => {
                let is_first = self.grid == 0;
                if !is_open || !is_first && !is_alone {
                    self.found.push(format!("the grid over `{variable}` is no perfect nest from outside in"));
                }
                if self.grid == 3 {
                    self.found.push(format!("the grid over `{variable}` is the fourth loop of a grid"));
                }
                self.grid += 1;
                is_open_inside = true;
            }
            Placement::Block => {
                if self.grid == 0 {
                    self.found.push(format!("the block over `{variable}` stands in no grid"));
                }
                if self.block == 2 {
                    self.found.push(format!("the block over `{variable}` is the third loop of a stage"));
                }
                self.block += 1;
                let is_stage = |it: &Node| matches!(it, Node::Loop(it) if it.placement == Placement::Block);
                if it.children.iter().any(is_stage) && it.children.len() > 1 {
                    self.found.push(format!("several stages stand in the block over `{variable}`"));
                }
            }
            Placement::Sequential | Placement::Threads | Placement::Simd => {
                is_open_inside = is_open && self.grid == 0;
                let mut is_uniform = true;
                for bound in [&it.start, &it.end] {
                    bound.each_symbol(&mut |symbol| is_uniform &= !inside.contains(symbol));
                }
                let mut has_barrier = false;
                it.children
                    .iter()
                    .for_each(|it| it.walk(&mut |it| has_barrier |= matches!(it, Node::Barrier)));
                if has_barrier && (!is_uniform || it.placement != Placement::Sequential) {
                    self.found.push(format!(
                        "a barrier stands in the loop over `{variable}`, which threads leave apart"
                    ));
                }
            }
        }
        if it.placement == Placement::Block {
            inside.push(variable.clone());
        }
        self.nodes(&it.children, is_open_inside, inside);
        if it.placement == Placement::Block {
            inside.pop();
        }
        (self.grid, self.block) = (grid, block);
    }
}

/// Whether more than a launch's own iterations see a container.
#[must_use]
pub fn outlives(container: &Container) -> bool {
    !container.shape.is_empty()
        && match container.kind {
            ContainerKind::Field { .. } | ContainerKind::Temporary => {
                matches!(container.storage, Storage::Caller | Storage::Heap)
            }
            ContainerKind::Scalar | ContainerKind::Local => false,
        }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schedule::parse::parse;

    const TREE: &str = "\
schedule test
field a: float64[I + 2, J, K] shift [1, 0, 0] read
field b: float64[I, J, K] shift [0, 0, 0] read-write
field p: float64[I, J] shift [0, 0] write
temporary t: float64[34, 8] shift [-i_tile + 1, -j_tile] along IJ in i_tile shared
grid k_tile in [0, K) step 4 parallel:
  grid j_tile in [0, J) step 8 parallel:
    grid i_tile in [0, I) step 32 parallel:
      for k in [k_tile, min(K, k_tile + 4)) ascending:
        block j in [j_tile, min(J, j_tile + 8)) parallel:
          block i in [i_tile - 1, min(I + 1, i_tile + 33)) parallel:
            t[i - i_tile + 1, j - j_tile] = a[i + 1, j, k]
        barrier
        block j in [j_tile, min(J, j_tile + 8)) parallel:
          block i in [i_tile, min(I, i_tile + 32)) parallel:
            b[i, j, k] = t[i - i_tile, j - j_tile] + t[i - i_tile + 2, j - j_tile]
        barrier
";

    #[test]
    fn each_fault_of_a_launch_is_told() {
        let of = |at: &str, instead: &str| {
            assert!(TREE.contains(at), "{at}");
            faults(&parse(&TREE.replacen(at, instead, 1)).expect("it is a tree"))
        };
        assert_eq!(of("barrier", "barrier"), Vec::<String>::new());
        let waits = ["two threads of a block touch `t` and no barrier stands between"];
        // Before the second stage, and before the first one of the next level.
        assert_eq!(of("        barrier\n", ""), waits);
        assert_eq!(of("j_tile]\n        barrier\n", "j_tile]\n"), waits);
        // At the same position it is the same thread.
        let same = of(
            "t[i - i_tile, j - j_tile] + t[i - i_tile + 2, j - j_tile]\n        barrier",
            "t[i - i_tile + 1, j - j_tile]",
        );
        assert_eq!(same, Vec::<String>::new());
        assert_eq!(of("b[i, j, k] =", "p[i, j] ="), ["`p` is touched by several blocks along `k_tile`"]);
        let beside = of("b[i, j, k] = t[i - i_tile", "b[i, j, k] = b[i + 1, j, k] + t[i - i_tile");
        assert_eq!(beside, ["`b` is touched by several blocks along `i_tile`"]);
        // Positions of two tiles.
        let twice =
            of("block i in [i_tile, min(I, i_tile + 32))", "block i in [i_tile, min(I, i_tile + 33))");
        assert_eq!(twice, ["`b` is touched by several blocks along `i_tile`"]);
        let many = of("j_tile in [0, J) step 8", "j_tile in [0, J) step 64");
        assert_eq!(many, ["a block has 2048 threads"]);
        let large = of("float64[34, 8]", "float64[34, 900]");
        assert_eq!(large, ["a block has 244800 bytes of shared memory"]);
        assert_eq!(
            of("  grid j_tile in", "  for j_tile in"),
            ["the grid over `i_tile` is no perfect nest from outside in"]
        );
        assert_eq!(
            of(
                "      for k in [k_tile, min(K, k_tile + 4)) ascending:\n        block j",
                "      block k in [k_tile, min(K, k_tile + 4)) parallel:\n        block j"
            ),
            [
                "several stages stand in the block over `k`",
                "the block over `i` is the third loop of a stage",
                "a barrier stands outside of a grid, or in a stage",
                "the block over `i` is the third loop of a stage",
                "a barrier stands outside of a grid, or in a stage",
            ]
        );
    }
}
