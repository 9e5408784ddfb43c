//! An exchange on the only domain: where each element of a halo comes from.

use isobar_ground::call::array::Array;
use isobar_ground::space::{Axis, Domain};

use super::HaloFill;
use super::arrays::ElementBox;
use crate::nodes::{Container, ContainerPart};

/// A position of a halo's reach along I or J, as an index of the array.
#[derive(Clone, Copy, Debug)]
struct HaloPosition {
    index: usize,
    /// The index that its value comes from.
    source: usize,
    /// Whether it lies beside the domain.
    is_beside: bool,
}

/// Neighbouring positions, all beside the domain or all in it.
#[derive(Clone, Copy, Debug)]
struct HaloRun {
    first: HaloPosition,
    n: usize,
    /// The distance of the sources of neighbours.
    step: i64,
}

/// The boxes of a part's halo, as wide as `width` along I and J, on all levels: where elements come from, and where to. No
/// element is in two of them.
pub(super) fn halo_boxes(
    array: &Array,
    (container, part): (&Container, &ContainerPart),
    domain: Domain,
    width: u32,
    fill: HaloFill,
) -> Vec<[ElementBox; 2]> {
    if fill == HaloFill::None {
        return Vec::new();
    }
    let whole = ElementBox::of_part(array, container, part);
    let along = |axis| runs(&positions(array, container, axis, (domain, width, fill)));
    let (along_i, along_j) = (along(Axis::I), along(Axis::J));
    // Axes come first, so that their positions are those of the whole array.
    let dimensions = [Axis::I, Axis::J].map(|it| container.axes.iter().position(|axis| axis == it));
    let mut all = Vec::new();
    for i in &along_i {
        for j in along_j.iter().filter(|j| i.first.is_beside || j.first.is_beside) {
            let (mut from, mut to) = (whole.clone(), whole.clone());
            for (dimension, run) in dimensions.into_iter().zip([i, j]) {
                let Some(dimension) = dimension else { continue };
                let stride = whole.strides[dimension];
                let start = |start: usize, at: usize| {
                    let distance = isize::try_from(stride).unwrap_or(0) * isize::try_from(at).unwrap_or(0);
                    start.saturating_add_signed(distance)
                };
                from.start = start(from.start, run.first.source);
                from.shape[dimension] = run.n;
                from.strides[dimension] = stride * run.step;
                to.start = start(to.start, run.first.index);
                to.shape[dimension] = run.n;
            }
            all.push([from, to]);
        }
    }
    all
}

/// Positions as runs whose sources lie in equal steps.
fn runs(positions: &[HaloPosition]) -> Vec<HaloRun> {
    let mut runs: Vec<HaloRun> = Vec::new();
    let signed = |it: usize| i64::try_from(it).unwrap_or(i64::MAX);
    for &it in positions {
        if let Some(run) = runs.last_mut().filter(|run| run.first.is_beside == it.is_beside) {
            let last = signed(run.first.source) + run.step * signed(run.n - 1);
            let step = signed(it.source) - last;
            if run.n == 1 || step == run.step {
                run.step = step;
                run.n += 1;
                continue;
            }
        }
        runs.push(HaloRun { first: it, n: 1, step: 0 });
    }
    runs
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
