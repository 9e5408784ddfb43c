//! Shrinks an array to the part that one iteration of a loop needs, and gives each iteration its own.

use std::collections::{BTreeMap, BTreeSet};

use super::refusal::name_of;
use super::{Path, Refusal};
use crate::entity::Handle;
use crate::schedule::analysis::accesses::{AccessWithRole, Accesses};
use crate::schedule::analysis::dependence::{Distance, distance};
use crate::schedule::nodes::{Access, Container, ContainerKind, Loop, Node, Order, Storage, Subscript, Tree};
use crate::space::order::is_at_most;
use crate::space::{Affine, Axis, AxisSet, Ring, Size, Symbol, names};

/// Gives each iteration of the loop at `owner` its own array in the place of `container`, which the
/// statements at `uses` access.
///
/// - **Effect**: a dimension along which an iteration touches one position goes. One along a tile becomes as
///   long as the tile and the positions needed beside it. One along a front inside of the loop keeps as many
///   positions as lie between the accesses that come first and last to an element. The other dimensions stay.
///   Without any, it is a value in a register.
/// - **Legality**: [`Contraction::of`].
/// - **Why**: an array that fits into a cache costs no traffic, and arrays of their own let iterations run at
///   the same time.
///
/// # Errors
///
/// The reason why not; the tree is as it was.
pub fn contract(
    tree: &mut Tree,
    owner: &Path,
    container: Handle<Container>,
    uses: &[Path],
) -> Result<(), Refusal> {
    let plan = Contraction::of(tree, owner, container, uses)?;
    let Some(it) = tree.loop_at(owner) else { return Ok(()) };
    let variable = it.variable.clone();
    for path in uses {
        let place = path.split_last().and_then(|(&at, outer)| tree.block_mut(outer)?.get_mut(at));
        place.into_iter().for_each(|node| {
            node.each_access_mut(&mut |access| {
                if access.container == container {
                    plan.rewrite(access);
                }
            });
        });
    }
    let it = &mut tree.containers[container];
    let (n_axes, mut at) = (it.axes.len(), 0);
    let axes: Vec<Axis> = it
        .axes
        .iter()
        .zip(&plan.dimensions)
        .filter(|(_, how)| **how != Dimension::Dropped)
        .map(|(axis, _)| axis)
        .collect();
    it.axes = AxisSet::of(&axes);
    debug_assert!(plan.dimensions.len() >= n_axes, "a plan has an entry for each dimension");
    let (mut shape, mut shift, mut ring) = (Vec::new(), Vec::new(), None);
    for how in &plan.dimensions {
        match how {
            Dimension::Dropped => {}
            Dimension::Kept | Dimension::Ring { .. } => {
                if let Dimension::Ring { length } = how {
                    ring = Some(Ring::of(shape.len(), *length));
                }
                shape.push(it.shape[at].clone());
                shift.push(it.shift[at].clone());
            }
            Dimension::Window { tile, lo, length } => {
                shape.push(Affine::constant(*length).into());
                shift.push(&Affine::constant(-lo) - &Affine::symbol(tile));
            }
        }
        at += 1;
    }
    let is_value = shape.is_empty();
    (it.shape, it.shift, it.ring) = (shape, shift, ring);
    it.storage = if is_value { Storage::Register } else { Storage::Private(variable) };
    if is_value {
        it.kind = ContainerKind::Local;
    }
    Ok(())
}

/// The change of each dimension of an array.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Contraction {
    dimensions: Vec<Dimension>,
    /// The former shift of each dimension: index = position + shift.
    shift: Vec<Affine>,
}

/// The change of one dimension.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Dimension {
    Kept,
    Dropped,
    /// Positions from `tile + lo` on.
    Window {
        tile: Symbol,
        lo: i64,
        length: i64,
    },
    /// All positions have an index, and this many neighbours have a place at a time.
    Ring {
        length: i64,
    },
}

impl Dimension {
    /// How many positions are touched, where these are neighbours.
    fn length(&self) -> Option<i64> {
        match self {
            Self::Dropped => Some(1),
            Self::Window { length, .. } => Some(*length),
            Self::Kept | Self::Ring { .. } => None,
        }
    }
}

impl Contraction {
    /// Plans an array of its own for each iteration of the loop at `owner`.
    ///
    /// All statements that access the array, which are those at `uses`, stand in that loop. No iteration sees
    /// values that another one left: the loop has no order, or each iteration touches elements that no other
    /// one does.
    ///
    /// # Errors
    ///
    /// The reason why there cannot be one.
    pub fn of(
        tree: &Tree,
        owner: &Path,
        container: Handle<Container>,
        uses: &[Path],
    ) -> Result<Self, Refusal> {
        let array = &tree.containers[container];
        if array.kind != ContainerKind::Temporary {
            return Err(Refusal::new(format!("`{}` is no temporary", name_of(array))));
        }
        Self::of_any(tree, owner, container, uses)
    }

    /// The same for an array of any kind, as a copy of it would shrink.
    pub(in crate::schedule) fn of_any(
        tree: &Tree,
        owner: &Path,
        container: Handle<Container>,
        uses: &[Path],
    ) -> Result<Self, Refusal> {
        let it = tree.loop_at(owner).ok_or_else(|| Refusal::new("there is no such loop"))?;
        let array = &tree.containers[container];
        let name = name_of(array);
        if uses.is_empty() || !uses.iter().all(|it| it.starts_with(owner)) {
            return Err(Refusal::new(format!("`{name}` is used outside of the loop over `{}`", it.variable)));
        }
        let around: Vec<&Loop> =
            (1..=owner.len()).filter_map(|depth| tree.loop_at(&owner[..depth])).collect();
        let shifts = array.shift.iter().flat_map(Affine::terms).map(|(symbol, _)| symbol);
        let inner = shifts.filter(|it| names::is_variable(it));
        if let Some(inner) = inner.into_iter().find(|inner| !around.iter().any(|it| it.variable == **inner)) {
            return Err(Refusal::new(format!("`{name}` is an array of an iteration over `{inner}` inside")));
        }
        let found = accesses_of(tree, owner, container, uses);
        let one_distance = |variable: &Symbol| {
            let mut all = found.iter().map(|(it, _)| distance(it.access, variable));
            let first = all.next().filter(|it| *it != Distance::Everywhere);
            first.is_some() && all.all(|it| Some(it) == first)
        };
        // Each iteration over a front must touch one position, which no other iteration over the front
        // touches.
        let is_front = it.variable == names::front(it.axis) && array.axes.has(it.axis);
        if it.order != Order::Parallel && !is_front && !one_distance(&it.variable) {
            let reason =
                format!("`{name}` hands values from one iteration over `{}` to the next", it.variable);
            return Err(Refusal::new(reason));
        }
        let mut dimensions = Vec::new();
        let mut has_ring = false;
        let mut at = 0;
        for axis in array.axes.iter() {
            let position = Symbol::new(axis.position_name());
            let is_found = found.iter().any(|(it, _)| it.access.index[at].found.is_some());
            let counts_here = around.iter().any(|it| it.variable == position);
            dimensions.push(if counts_here {
                if is_found || !one_distance(&position) {
                    return Err(Refusal::new(format!(
                        "`{name}` is touched in several iterations over `{position}`"
                    )));
                }
                Dimension::Dropped
            } else {
                let (tile, front) = (names::tile(axis), names::front(axis));
                let is_around = |variable: &Symbol| around.iter().any(|it| it.variable == *variable);
                let along = |variable: &Symbol| {
                    (!is_found).then(|| window(&found, (at, &array.shift[at]), &position, variable)).flatten()
                };
                if is_around(&front) {
                    match along(&front) {
                        Some(Dimension::Dropped) => Dimension::Dropped,
                        _ => {
                            return Err(Refusal::new(format!(
                                "`{name}` hands values from one iteration over `{front}` to the next"
                            )));
                        }
                    }
                } else if is_inside_of_one(tree, owner, &front, uses)
                    && !has_ring
                    && let Some(length) = along(&front).and_then(|it| it.length())
                {
                    Dimension::Ring { length }
                } else if is_around(&tile) {
                    along(&tile).unwrap_or(Dimension::Kept)
                } else if axis == Axis::K && !has_ring && !is_found && array.shape.len() == array.axes.len() {
                    let levels = swept(tree, owner, container, (at, &array.shift[at]), uses)
                        .filter(|_| is_written_wherever_read(array, &found));
                    levels.map_or(Dimension::Kept, |length| Dimension::Ring { length })
                } else {
                    Dimension::Kept
                }
            });
            has_ring |= matches!(dimensions.last(), Some(Dimension::Ring { .. }));
            at += 1;
        }
        dimensions.extend(array.shape[at..].iter().map(|_| Dimension::Kept));
        Ok(Self { dimensions, shift: array.shift.clone() })
    }

    /// Whether a dimension becomes smaller than that of the array, which may have been contracted before.
    #[must_use]
    pub fn is_smaller(&self, array: &Container) -> bool {
        self.dimensions.iter().zip(&array.shape).any(|(how, size)| match how {
            Dimension::Kept => false,
            Dimension::Dropped => true,
            Dimension::Ring { .. } => array.ring.is_none(),
            Dimension::Window { length, .. } => *size != Size::Affine(Affine::constant(*length)),
        })
    }

    /// Whether only a few levels have a place at a time.
    #[must_use]
    pub fn keeps_a_ring(&self) -> bool {
        self.dimensions.iter().any(|it| matches!(it, Dimension::Ring { .. }))
    }

    fn rewrite(&self, access: &mut Access) {
        let old: Vec<Subscript> = std::mem::take(&mut access.index);
        let parts = old.into_iter().zip(self.dimensions.iter().zip(&self.shift));
        access.index = parts
            .filter_map(|(index, (how, shift))| match how {
                Dimension::Dropped => None,
                Dimension::Kept | Dimension::Ring { .. } => Some(index),
                Dimension::Window { tile, lo, .. } => {
                    let position = &(&index.known - shift) - &Affine::symbol(tile);
                    Some(Subscript { known: position.moved(-lo), found: index.found })
                }
            })
            .collect();
    }
}

/// The number of neighbouring levels needed at a time of an array that one sweep writes and reads. A sweep is
/// made of loops over levels of one order, right inside the loop at `owner`. Each of them goes on where the
/// one before it ends.
///
/// Each level is written before it is read, at all points that are read of any level. It is read until the
/// sweep has done the next level.
pub(super) fn swept(
    tree: &Tree,
    owner: &Path,
    container: Handle<Container>,
    (dimension, shift): (usize, &Affine),
    uses: &[Path],
) -> Option<i64> {
    let places: BTreeSet<usize> =
        uses.iter().map(|it| it.get(owner.len()).copied()).collect::<Option<_>>()?;
    let block = tree.block(owner)?;
    let (mut levels, mut last, mut written) = (1, None::<&Loop>, None);
    for place in places {
        let Node::Loop(it) = block.get(place)? else { return None };
        if it.axis != Axis::K || it.order == Order::Parallel || it.step != 1 {
            return None;
        }
        let goes_on = match last {
            // The next loop looks back to one level at most, and this loop has a level.
            None => match (&it.start, &it.end) {
                (Size::Affine(start), Size::Affine(end)) => (end - start).as_constant()? >= 1,
                _ => false,
            },
            Some(last) if it.order != last.order => false,
            Some(last) if it.order == Order::Ascending => it.start == last.end,
            Some(last) => it.end == last.start,
        };
        let all = Accesses::of(&it.children);
        let mine: Vec<_> = all.of_container(container).collect();
        let beside = |access: &Access| {
            (&(&access.index[dimension].known - shift) - &Affine::symbol(&it.variable)).as_constant()
        };
        for touch in mine.iter().filter(|it| it.role.is_write()) {
            let here = beside(touch.access)?;
            if *written.get_or_insert(here) != here {
                return None;
            }
        }
        let written = written?;
        let mut farthest = 0;
        for touch in &mine {
            let ahead = beside(touch.access)? - written;
            let ago = if it.order == Order::Ascending { -ahead } else { ahead };
            if !(0..=1).contains(&ago) {
                return None;
            }
            farthest = farthest.max(ago);
        }
        let is_here = |access: &Access| access.container == container && beside(access) == Some(written);
        let mut is_written = false;
        if !goes_on
            || last.is_none() && farthest > 0
            || !reads_what_is_written(&it.children, &is_here, &mut is_written)
        {
            return None;
        }
        if !is_written {
            return None;
        }
        levels = levels.max(farthest + 1);
        last = Some(it);
    }
    Some(levels)
}

/// Whether all writes of an array are to the same points of a level, and no read is of any other point.
pub(super) fn is_written_wherever_read(array: &Container, found: &[(AccessWithRole<'_>, Bounds)]) -> bool {
    let horizontal = |axis: &(usize, Axis)| axis.1 != Axis::K;
    array.axes.iter().enumerate().filter(horizontal).all(|(dimension, axis)| {
        let reach = |(it, bounds): &(AccessWithRole<'_>, Bounds)| {
            let index = &it.access.index[dimension];
            let place = index.as_known()? - &array.shift[dimension];
            let position = Symbol::new(axis.position_name());
            let (start, end) = match bounds.get(&position) {
                Some(bounds) => bounds.clone(),
                // The loop stands around the one that has the array for itself.
                None => (Affine::symbol(&position).into(), Affine::symbol(&position).moved(1).into()),
            };
            let beside = (&place - &Affine::symbol(&position)).as_constant()?;
            Some((start.moved(beside), end.moved(beside)))
        };
        let (writes, reads): (Vec<_>, Vec<_>) = found.iter().partition(|(it, _)| it.role.is_write());
        let mut written = writes.into_iter().map(reach);
        let Some(Some(all)) = written.next() else { return false };
        written.all(|it| it.as_ref() == Some(&all))
            && reads.into_iter().all(|it| {
                reach(it).is_some_and(|(start, end)| is_at_most(&all.0, &start) && is_at_most(&end, &all.1))
            })
    })
}

/// Whether no read of the level at hand stands before its first write that no condition guards.
fn reads_what_is_written(nodes: &[Node], is_here: &impl Fn(&Access) -> bool, is_written: &mut bool) -> bool {
    nodes.iter().all(|node| {
        if let Node::Loop(it) = node {
            return reads_what_is_written(&it.children, is_here, is_written);
        }
        let all = Accesses::of(std::slice::from_ref(node));
        let mut here = all.iter().filter(|it| is_here(it.access));
        let is_fine = *is_written || here.clone().all(|it| it.role.is_write());
        *is_written |= matches!(node, Node::Assign(_)) && here.any(|it| it.role.is_write());
        is_fine
    })
}

/// Whether one loop over `variable`, below the one at `owner`, holds all uses.
fn is_inside_of_one(tree: &Tree, owner: &Path, variable: &Symbol, uses: &[Path]) -> bool {
    let Some(first) = uses.first() else { return false };
    (owner.len() + 1..first.len()).any(|depth| {
        tree.loop_at(&first[..depth]).is_some_and(|it| it.variable == *variable)
            && uses.iter().all(|it| it.starts_with(&first[..depth]))
    })
}

/// The positions that are touched within a tile, or while a front is at one position. None where a loop over
/// positions is not limited to the tile or the front.
fn window(
    found: &[(AccessWithRole<'_>, Bounds)],
    (dimension, shift): (usize, &Affine),
    position: &Symbol,
    tile: &Symbol,
) -> Option<Dimension> {
    let (mut lo, mut hi) = (i64::MAX, i64::MIN);
    for (it, bounds) in found {
        let (start, end) = bounds.get(position)?;
        let place = &it.access.index[dimension].known - shift;
        let beside = (&place - &Affine::symbol(position)).as_constant()?;
        lo = lo.min(part_beside(start, tile)? + beside);
        hi = hi.max(part_beside(end, tile)? + beside);
    }
    if hi - lo == 1 {
        return Some(Dimension::Dropped);
    }
    (lo < hi).then(|| Dimension::Window { tile: tile.clone(), lo, length: hi - lo })
}

/// The distance of a bound from the start of the tile, where one of its parts counts from there. It is a
/// lower limit for a `max` of several parts, and an upper one for a `min`.
fn part_beside(bound: &Size, tile: &Symbol) -> Option<i64> {
    match bound {
        Size::Affine(sum) => (sum - &Affine::symbol(tile)).as_constant(),
        Size::Min(parts) | Size::Max(parts) => parts.iter().find_map(|it| part_beside(it, tile)),
    }
}

/// The ranges of the loops around, by variable.
pub(super) type Bounds = BTreeMap<Symbol, (Size, Size)>;

/// The accesses of a container in the statements at `uses`, with the loops around them inside the one at `owner`.
pub(super) fn accesses_of<'t>(
    tree: &'t Tree,
    owner: &Path,
    container: Handle<Container>,
    uses: &[Path],
) -> Vec<(AccessWithRole<'t>, Bounds)> {
    let mut found = Vec::new();
    for path in uses {
        let loops = (owner.len() + 1..path.len()).filter_map(|depth| tree.loop_at(&path[..depth]));
        let mut bounds: Bounds =
            loops.map(|it| (it.variable.clone(), (it.start.clone(), it.end.clone()))).collect();
        let statement = tree.node(path).map_or(&[][..], std::slice::from_ref);
        collect(statement, &mut bounds, container, &mut found);
    }
    found
}

/// The accesses of a container, with the loops around them inside of the block.
fn collect<'t>(
    nodes: &'t [Node],
    bounds: &mut Bounds,
    container: Handle<Container>,
    found: &mut Vec<(AccessWithRole<'t>, Bounds)>,
) {
    for node in nodes {
        node.each_own_access(&mut |role, access| {
            if access.container == container {
                found.push((AccessWithRole { access, role }, bounds.clone()));
            }
        });
        if let Node::Loop(it) = node {
            bounds.insert(it.variable.clone(), (it.start.clone(), it.end.clone()));
        }
        for child in node.children() {
            collect(std::slice::from_ref(child), bounds, container, found);
        }
        if let Node::Loop(it) = node {
            bounds.remove(&it.variable);
        }
    }
}
