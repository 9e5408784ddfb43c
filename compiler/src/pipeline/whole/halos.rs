//! The halo of a field as boxes of points, each with the place that its values come from on the only domain.

use isobar_program::interpret::HaloFill;
use isobar_program::nodes::Container;

use crate::space::{Affine, Axis, Symbol};

/// Points beside the domain.
#[derive(Clone, Debug)]
pub(super) struct HaloBox {
    /// The first point and the one behind the last, along each axis of the field.
    pub(super) points: Vec<(Axis, (Affine, Affine))>,
    /// Where the value of a point lies along I, J and K, where that is another position.
    pub(super) sources: [Option<HaloSource>; 3],
}

/// The position of a value along an axis.
#[derive(Clone, Debug)]
pub(super) enum HaloSource {
    /// So far from the point.
    Moved(Affine),
    /// The same for all points.
    At(Affine),
}

/// The points along one axis that have their values from one side.
struct HaloRange {
    points: (Affine, Affine),
    source: Option<HaloSource>,
}

/// The boxes of a field's halo, as wide as `width` along I and J; none where its shape does not follow the domain.
///
/// Values of a periodic domain come from one period away, so a domain needs [`least_points`].
pub(super) fn halo_boxes(it: &Container, width: u32, fill: HaloFill) -> Option<Vec<HaloBox>> {
    let along = |axis| ranges(it, axis, i64::from(width), fill);
    let (along_i, along_j) = (along(Axis::I)?, along(Axis::J)?);
    let levels = it.axes.iter().zip(&it.shape).find(|it| it.0 == Axis::K).map(|(_, size)| {
        let origin = it.origin[Axis::K.index()];
        let n = match size.axis {
            Some(axis) => Affine::beside(&Symbol::new(axis.name()), size.offset),
            None => Affine::constant(size.offset),
        };
        (Affine::constant(-origin), n.moved(-origin))
    });
    let mut boxes = Vec::new();
    for i in &along_i {
        for j in along_j.iter().filter(|j| i.source.is_some() || j.source.is_some()) {
            let of = |axis: Axis| match axis {
                Axis::I => Some(i.points.clone()),
                Axis::J => Some(j.points.clone()),
                Axis::K => levels.clone(),
            };
            let points = it.axes.iter().filter_map(|axis| Some((axis, of(axis)?))).collect();
            boxes.push(HaloBox { points, sources: [i.source.clone(), j.source.clone(), None] });
        }
    }
    Some(boxes)
}

/// The fewest points along I and J whose halo has its values from one period away.
pub(super) fn least_points(it: &Container, width: u32) -> [i64; 2] {
    [Axis::I, Axis::J].map(|axis| {
        let size = it.axes.iter().zip(&it.shape).find(|it| it.0 == axis).map(|it| it.1);
        let [before, behind] = size.map_or([0; 2], |size| beside(it, axis, size.offset, i64::from(width)));
        before.max(behind + i64::from(it.staggered.has(axis)))
    })
}

/// The points of a halo before the domain and behind it. `n_more` is how many more points the array has than the domain.
fn beside(it: &Container, axis: Axis, n_more: i64, width: i64) -> [i64; 2] {
    let origin = it.origin[axis.index()];
    let behind = n_more - origin - i64::from(it.staggered.has(axis));
    [width.min(origin).max(0), width.min(behind).max(0)]
}

/// The halo before the domain, the domain's own points and the halo behind them; one position where the field lacks the axis.
fn ranges(it: &Container, axis: Axis, width: i64, fill: HaloFill) -> Option<Vec<HaloRange>> {
    let Some((_, size)) = it.axes.iter().zip(&it.shape).find(|it| it.0 == axis) else {
        let nowhere = (Affine::constant(0), Affine::constant(0));
        return Some(vec![HaloRange { points: nowhere, source: None }]);
    };
    if size.axis != Some(axis) {
        return None;
    }
    let n = Symbol::new(axis.name());
    let own = Affine::beside(&n, i64::from(it.staggered.has(axis)));
    let [before, behind] = beside(it, axis, size.offset, width);
    let source = |is_before: bool| match fill {
        HaloFill::None => None,
        HaloFill::Periodic => {
            Some(HaloSource::Moved(Affine::of([(n.clone(), if is_before { 1 } else { -1 })], 0)))
        }
        HaloFill::ZeroGradient if is_before => Some(HaloSource::At(Affine::constant(0))),
        HaloFill::ZeroGradient => Some(HaloSource::At(own.clone().moved(-1))),
    };
    let start = Affine::constant(0);
    let mut all = Vec::new();
    if before > 0 {
        all.push(HaloRange { points: (Affine::constant(-before), start.clone()), source: source(true) });
    }
    all.push(HaloRange { points: (start, own.clone()), source: None });
    if behind > 0 {
        all.push(HaloRange { points: (own.clone(), own.clone().moved(behind)), source: source(false) });
    }
    Some(all)
}
