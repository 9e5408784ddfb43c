//! An exchange on the only domain: where each element of a halo comes from.

use isobar_ground::call::array::Array;
use isobar_ground::space::{Axis, Domain};
use isobar_ground::types::Value;

use super::HaloFill;
use crate::nodes::{Container, ContainerPart};

/// The values that arrive in the halo of a part, each with the place of its element.
pub(super) type ArrivingHalo = Vec<(usize, Value)>;

/// A position of a halo's reach along I or J, as an index of the array.
#[derive(Clone, Copy, Debug)]
struct HaloPosition {
    index: usize,
    /// The index that its value comes from.
    source: usize,
    /// Whether it lies beside the domain.
    is_beside: bool,
}

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
    let mut index = vec![0; array.shape.len()];
    for (slot, &at) in index[container.axes.len()..].iter_mut().zip(&part.data_index) {
        *slot = at as usize;
    }
    let along = |axis| positions(array, container, axis, (domain, width, fill));
    let (along_i, along_j) = (along(Axis::I), along(Axis::J));
    let beside_j: Vec<HaloPosition> = along_j.iter().copied().filter(|it| it.is_beside).collect();
    let columns = columns(array, container, part);
    let mut place = |axis: [Option<usize>; 2], at: [usize; 2]| {
        for (dimension, at) in axis.into_iter().zip(at) {
            if let Some(dimension) = dimension {
                index[dimension] = at;
            }
        }
        array.position(&index)
    };
    let dimensions = [Axis::I, Axis::J].map(|it| container.axes.iter().position(|axis| axis == it));
    let mut found = Vec::new();
    for i in along_i {
        for j in if i.is_beside { &along_j } else { &beside_j } {
            let target = place(dimensions, [i.index, j.index]);
            let source = place(dimensions, [i.source, j.source]);
            found.extend(columns.iter().map(|&it| {
                let value = array.elements.get(source.saturating_add_signed(it));
                (target.saturating_add_signed(it), value)
            }));
        }
    }
    found
}

/// The reach of a halo along an axis, within the array; one position where the field lacks the axis.
fn positions(
    array: &Array,
    container: &Container,
    axis: Axis,
    (domain, width, fill): (Domain, u32, HaloFill),
) -> Vec<HaloPosition> {
    let Some(dimension) = container.axes.iter().position(|it| it == axis) else {
        return vec![HaloPosition { index: 0, source: 0, is_beside: false }];
    };
    let (n, width, origin) = (domain.along(axis), i64::from(width), container.origin[axis.index()]);
    let own = n + i64::from(container.staggered.has(axis));
    let position = |index: usize| {
        let position = i64::try_from(index).ok()? - origin;
        let from = match fill {
            HaloFill::Periodic if (0..own).contains(&position) => position,
            HaloFill::Periodic => position.rem_euclid(n),
            HaloFill::ZeroGradient => position.clamp(0, own - 1),
            HaloFill::None => position,
        };
        let source = usize::try_from(from + origin).ok()?;
        let is_beside = !(0..own).contains(&position);
        (-width..own + width).contains(&position).then_some(HaloPosition { index, source, is_beside })
    };
    (0..array.shape[dimension]).filter_map(position).collect()
}

/// The distances, in elements, of all levels and data elements of a part from its first one.
fn columns(array: &Array, container: &Container, part: &ContainerPart) -> Vec<isize> {
    let n_axes = container.axes.len();
    let is_fixed = |at: usize| at >= n_axes && at - n_axes < part.data_index.len();
    let is_horizontal = |at: usize| container.axes.iter().nth(at).is_some_and(|it| it != Axis::K);
    let mut distances = vec![0];
    for (at, (&size, &stride)) in array.shape.iter().zip(&array.strides).enumerate() {
        if is_fixed(at) || is_horizontal(at) {
            continue;
        }
        let stride = isize::try_from(stride).unwrap_or(0);
        let steps: Vec<isize> = (0..).take(size).map(|it: isize| it * stride).collect();
        distances = distances.iter().flat_map(|it| steps.iter().map(move |step| it + step)).collect();
    }
    distances
}

/// Stores what arrived.
pub(super) fn store(array: &mut Array, arrived: ArrivingHalo) {
    for (at, value) in arrived {
        array.elements.set(at, value);
    }
}
