//! An exchange on the only domain: where each element of a halo comes from.

use isobar_ground::call::array::Array;
use isobar_ground::space::{Axis, Domain};
use isobar_ground::types::Value;

use super::HaloFill;
use super::arrays::{gather, scatter};
use crate::nodes::{Container, ContainerPart};

/// The values that arrive in the halo of a part, each with its index.
pub(super) type ArrivingHalo = Vec<(Vec<usize>, Value)>;

/// Takes the values of a part's halo, as wide as `width` along I and J, on all levels.
pub(super) fn arriving(
    array: &Array,
    (container, part): (&Container, &ContainerPart),
    domain: Domain,
    width: u32,
    fill: HaloFill,
) -> ArrivingHalo {
    if fill == HaloFill::None {
        return Vec::new();
    }
    let own = gather(array, container, part);
    let mut found = Vec::new();
    for index in own.indices() {
        let mut source = index.clone();
        let (mut is_in_reach, mut is_beside) = (true, false);
        for (at, axis) in container.axes.iter().enumerate().filter(|it| it.1 != Axis::K) {
            let (n, width) = (domain.along(axis), i64::from(width));
            let origin = container.origin[axis.index()];
            let position = i64::try_from(index[at]).unwrap_or(i64::MAX) - origin;
            is_in_reach &= (-width..n + width).contains(&position);
            is_beside |= !(0..n).contains(&position);
            let from = match fill {
                HaloFill::Periodic => position.rem_euclid(n),
                HaloFill::ZeroGradient => position.clamp(0, n - 1),
                HaloFill::None => position,
            };
            source[at] = usize::try_from(from + origin).unwrap_or(usize::MAX);
        }
        if is_in_reach && is_beside {
            let value = own.get(&source);
            found.push((index, value));
        }
    }
    found
}

/// Stores what arrived.
pub(super) fn store(
    array: &mut Array,
    (container, part): (&Container, &ContainerPart),
    arrived: ArrivingHalo,
) {
    let mut own = gather(array, container, part);
    for (index, value) in arrived {
        let at = own.position(&index);
        own.elements.set(at, value);
    }
    scatter(array, container, part, &own);
}
