//! Which iterations of loops touch the same elements, and in which order they must.
//!
//! An index that symbols tell is `position + constant`, so along a loop an access lies a number of
//! iterations away, or every iteration touches it. One that is found at run time may be any.

use super::accesses::{AccessWithRole, Accesses};
use crate::entity::Handle;
use crate::schedule::nodes::{Access, Container, Node};
use crate::space::Symbol;

/// Where along the loop over `variable` an access lies, relative to the iteration.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Distance {
    /// This many iterations away.
    Exactly(i64),
    /// Any number: the element does not depend on the iteration, or in a way that is not looked into.
    Everywhere,
}

/// The distance of an access along the loop over `variable`.
#[must_use]
pub fn distance(access: &Access, variable: &Symbol) -> Distance {
    let mut along = access.index.iter().filter(|it| it.known.factor(variable) != 0);
    match (along.next(), along.next()) {
        (Some(index), None) => match index.distance_from(variable) {
            Some(distance) => Distance::Exactly(distance),
            None => Distance::Everywhere,
        },
        (None, _) | (Some(_), Some(_)) => Distance::Everywhere,
    }
}

/// Whether two accesses to one container can be to the same element: not where numbers tell them apart.
fn may_meet(one: &Access, other: &Access) -> bool {
    one.index.iter().zip(&other.index).all(|(one, other)| match (one.as_constant(), other.as_constant()) {
        (Some(one), Some(other)) => one == other,
        _ => true,
    })
}

/// The pairs of accesses, one of `first` and one of `second`, that may be to one element, which one of the two writes.
pub fn conflicts<'a, 'b>(
    first: &'b [AccessWithRole<'a>],
    second: &'b [AccessWithRole<'a>],
) -> impl Iterator<Item = (&'b AccessWithRole<'a>, &'b AccessWithRole<'a>)> {
    first.iter().flat_map(move |one| {
        second.iter().filter_map(move |other| {
            let is_conflict = one.access.container == other.access.container
                && (one.role.is_write() || other.role.is_write());
            (is_conflict && may_meet(one.access, other.access)).then_some((one, other))
        })
    })
}

/// Whether no iteration sees what another one wrote: a local lives within one, and a scalar is never written.
#[must_use]
pub fn is_private(container: &Container) -> bool {
    container.shape.is_empty()
}

/// Two accesses that keep a loop from running its iterations in any order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CarriedDependence {
    pub container: Handle<Container>,
}

/// Whether the iterations of a loop over `variable` around `body` can run in any order.
///
/// # Errors
///
/// The container that carries a value from one iteration to another.
pub fn carried(
    body: &[Node],
    variable: &Symbol,
    is_private: &dyn Fn(Handle<Container>) -> bool,
) -> Result<(), CarriedDependence> {
    let all = Accesses::of(body);
    for (one, other) in conflicts(&all, &all) {
        let container = one.access.container;
        if is_private(container) {
            continue;
        }
        match (distance(one.access, variable), distance(other.access, variable)) {
            (Distance::Exactly(one), Distance::Exactly(other)) if one == other => {}
            _ => return Err(CarriedDependence { container }),
        }
    }
    Ok(())
}
