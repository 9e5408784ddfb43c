//! The accesses of a loop's body along its variable, joined so that two bodies are compared in one walk.

use std::collections::{BTreeMap, BTreeSet};

use super::accesses::Accesses;
use super::dependence::{Distance, distance, is_private};
use crate::entity::Handle;
use crate::schedule::nodes::{Access, Container, Loop, Node, Order, Subscript, Tree};
use crate::space::{Affine, Ring, Symbol};

/// How far along a variable the accesses of some nodes lie from the iteration, per container.
#[derive(Clone, Debug, Default)]
pub struct Summary {
    of: BTreeMap<Handle<Container>, Vec<AccessGroup>>,
}

/// The accesses of a container to one row, level or element of data, which are kept apart from its other
/// accesses.
#[derive(Clone, Debug)]
struct AccessGroup {
    /// The index along each dimension, where it is the same in all iterations.
    fixed: Vec<Option<Affine>>,
    ring: Option<Ring>,
    reads: Option<Hull>,
    writes: Option<Hull>,
}

/// From the least to the greatest distance; none where an access may be to the element of any iteration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Hull(Option<(i64, i64)>);

impl Hull {
    fn of(distance: Distance) -> Self {
        match distance {
            Distance::Exactly(at) => Self(Some((at, at))),
            Distance::Everywhere => Self(None),
        }
    }

    fn union(self, other: Self) -> Self {
        Self(self.0.zip(other.0).map(|(a, b)| (a.0.min(b.0), a.1.max(b.1))))
    }
}

/// The distance of an access along the loop over `variable`, in positions. Indices of an array of a tile
/// count from the start of the tile.
fn beside(container: &Container, access: &Access, variable: &Symbol) -> Distance {
    let along = access.index.iter().zip(&container.shift).find(|(it, _)| it.known.factor(variable) != 0);
    match (distance(access, variable), along) {
        (Distance::Everywhere, Some((index, shift)))
            if access.index.iter().filter(|it| it.known.factor(variable) != 0).count() == 1
                && index.found.is_none() =>
        {
            let distance = (&(&index.known - shift) - &Affine::symbol(variable)).as_constant();
            distance.map_or(Distance::Everywhere, Distance::Exactly)
        }
        (known, _) => known,
    }
}

impl Summary {
    /// Summarises the accesses inside of a loop. Leaves out values that no other iteration sees: they cause
    /// no conflict.
    #[must_use]
    pub fn of(tree: &Tree, it: &Loop) -> Self {
        let mut varying = BTreeSet::from([&it.variable]);
        for child in &it.children {
            child.walk(&mut |it| {
                varying.extend(if let Node::Loop(it) = it { Some(&it.variable) } else { None })
            });
        }
        let mut all = Self::default();
        for touch in Accesses::of(&it.children).iter() {
            let container = &tree.containers[touch.access.container];
            if !is_private(container) {
                all.add(container, touch.access, touch.role.is_write(), (&it.variable, &varying));
            }
        }
        all
    }

    fn add(
        &mut self,
        container: &Container,
        access: &Access,
        is_write: bool,
        (variable, varying): (&Symbol, &BTreeSet<&Symbol>),
    ) {
        let fixed_at = |index: &Subscript| {
            let is_fixed = index.found.is_none() && index.known.terms().all(|(it, _)| !varying.contains(it));
            is_fixed.then(|| index.known.clone())
        };
        let fixed: Vec<Option<Affine>> = access.index.iter().map(fixed_at).collect();
        let hull = Hull::of(beside(container, access, variable));
        let entries = self.of.entry(access.container).or_default();
        let at = entries.iter().position(|it| it.fixed == fixed).unwrap_or_else(|| {
            entries.push(AccessGroup { fixed, ring: container.ring, reads: None, writes: None });
            entries.len() - 1
        });
        let known = if is_write { &mut entries[at].writes } else { &mut entries[at].reads };
        *known = Some(known.map_or(hull, |known| known.union(hull)));
    }

    /// Adds the accesses of other nodes of the same loop.
    pub fn extend(&mut self, other: Self) {
        for (container, more) in other.of {
            let entries = self.of.entry(container).or_default();
            for it in more {
                match entries.iter_mut().find(|known| known.fixed == it.fixed) {
                    Some(known) => {
                        let join = |a: Option<Hull>, b: Option<Hull>| match (a, b) {
                            (Some(a), Some(b)) => Some(a.union(b)),
                            (a, b) => a.or(b),
                        };
                        (known.reads, known.writes) =
                            (join(known.reads, it.reads), join(known.writes, it.writes));
                    }
                    None => entries.push(it),
                }
            }
        }
    }

    /// Returns the number of iterations by which a loop with these accesses has to run ahead of `later` at
    /// least. Then it reaches each element that both touch no later than `later` does. Iterations are counted
    /// upward.
    ///
    /// # Errors
    ///
    /// The container where any iteration may touch any element.
    pub fn lead(&self, later: &Self) -> Result<Option<i64>, Handle<Container>> {
        let mut least = None;
        for (&container, entries) in &self.of {
            let Some(others) = later.of.get(&container) else { continue };
            for one in entries {
                for other in others.iter().filter(|it| may_meet(one, it)) {
                    let pairs =
                        [(one.writes, other.reads), (one.reads, other.writes), (one.writes, other.writes)];
                    for (one, other) in pairs.into_iter().filter_map(|(one, other)| one.zip(other)) {
                        let (Some(one), Some(other)) = (one.0, other.0) else { return Err(container) };
                        least = least.max(Some(other.1 - one.0));
                    }
                }
            }
        }
        Ok(least)
    }

    /// The same accesses of an iteration that lies `distance` positions behind.
    #[must_use]
    pub fn moved(mut self, distance: i64) -> Self {
        let of_all = self.of.values_mut().flatten();
        for hull in of_all.flat_map(|it| [&mut it.reads, &mut it.writes]).flatten() {
            hull.0 = hull.0.map(|(lo, hi)| (lo + distance, hi + distance));
        }
        self
    }

    /// Whether any element of a container is touched.
    #[must_use]
    pub fn touches(&self, container: Handle<Container>) -> bool {
        self.of.contains_key(&container)
    }

    /// Finds a container that forbids running iteration n of `later` right after iteration n of this loop.
    /// Without a merge, iteration n of `later` runs after all iterations of this loop.
    ///
    /// Without an order, both must touch an element in the same iteration. With an order, this loop must
    /// reach an element no later than `later` does.
    #[must_use]
    pub fn conflict(&self, later: &Self, order: Order) -> Option<Handle<Container>> {
        let is_in_order = |one: Hull, other: Hull| match (one.0, other.0) {
            (Some(one), Some(other)) => match order {
                Order::Parallel => one.0 == one.1 && other == one,
                Order::Ascending => one.0 >= other.1,
                Order::Descending => one.1 <= other.0,
            },
            _ => false,
        };
        let is_fine =
            |one: Option<Hull>, other: Option<Hull>| one.zip(other).is_none_or(|(a, b)| is_in_order(a, b));
        later.of.iter().find_map(|(&container, entries)| {
            let earlier = self.of.get(&container)?;
            let is_legal = entries.iter().all(|other| {
                earlier.iter().filter(|one| may_meet(one, other)).all(|one| {
                    is_fine(one.writes, other.reads)
                        && is_fine(one.reads, other.writes)
                        && is_fine(one.writes, other.writes)
                })
            });
            (!is_legal).then_some(container)
        })
    }
}

/// Whether accesses of two entries can be to the same element. They cannot where their fixed indices differ
/// by a constant. In a ring, that constant must be no multiple of its places.
fn may_meet(one: &AccessGroup, other: &AccessGroup) -> bool {
    let mut indices = one.fixed.iter().zip(&other.fixed).enumerate();
    !indices.any(|(dimension, (a, b))| {
        let distance = a.as_ref().zip(b.as_ref()).and_then(|(a, b)| a.distance_from(b)).unwrap_or(0);
        Ring::places_along(one.ring, dimension).map_or(distance, |places| distance % places) != 0
    })
}
