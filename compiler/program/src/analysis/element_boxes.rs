//! Boxes of elements of a container, which hold for all domains.

use std::collections::BTreeMap;

use isobar_ground::call::signature::Param;
use isobar_ground::entity::Handle;
use isobar_ground::space::{Axis, Bound, ElementBox, FieldElements, Interval, Level};

use super::calls::aliases;
use crate::nodes::{ContainerPart, ProgramIr, ProgramStencil, ProgramStmtKind, StencilCall};
use crate::size::AffineSize;
use crate::stencils::ProgramFronts;

/// The most boxes that are kept of a container. Others are forgotten, as if nothing had been written there.
const MOST_BOXES: usize = 64;

/// Elements of some part of a container.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PartBox {
    /// Of the first data dimensions.
    pub data_index: Vec<u32>,
    /// From where to before where, along each of the axes; none for all elements.
    pub ranges: Option<Vec<IndexRange>>,
}

/// The first index, and the one behind the last.
pub type IndexRange = [AffineSize; 2];

impl PartBox {
    /// Whether each element of `other` is one of this box, on every domain of at least these points.
    #[must_use]
    pub fn holds(&self, other: &Self, least: [i64; 3]) -> bool {
        let is_inside = |(inner, outer): (&IndexRange, &IndexRange)| {
            outer[0].is_at_most(inner[0], least) && inner[1].is_at_most(outer[1], least)
        };
        other.data_index.starts_with(&self.data_index)
            && match (&self.ranges, &other.ranges) {
                (None, _) => true,
                (Some(_), None) => false,
                (Some(outer), Some(inner)) => inner.iter().zip(outer).all(is_inside),
            }
    }

    /// The boxes of all elements in which the two, side by side along one axis, are one.
    fn joined(&self, other: &Self, least: [i64; 3]) -> Vec<Self> {
        let (Some(one), Some(two)) = (&self.ranges, &other.ranges) else { return Vec::new() };
        if self.data_index != other.data_index {
            return Vec::new();
        }
        let along = |joined: usize| {
            let pairs = one.iter().zip(two).enumerate();
            let ranges = pairs.map(|(at, (one, two))| {
                let is_touching = one[0].is_at_most(two[1], least) && two[0].is_at_most(one[1], least);
                let [low, high] = sorted([one[0], two[0]], least)?;
                let [first, last] = sorted([one[1], two[1]], least)?;
                if at == joined { is_touching.then_some([low, last]) } else { Some([high, first]) }
            });
            let ranges = ranges.collect::<Option<Vec<_>>>()?;
            Some(Self { data_index: self.data_index.clone(), ranges: Some(ranges) })
        };
        (0..one.len()).filter_map(along).collect()
    }
}

/// The smaller of two sizes, and the larger one; none where that depends on the domain.
fn sorted([one, other]: [AffineSize; 2], least: [i64; 3]) -> Option<[AffineSize; 2]> {
    if one.is_at_most(other, least) {
        Some([one, other])
    } else {
        other.is_at_most(one, least).then_some([other, one])
    }
}

/// Adds a box to others, with those that it makes together with them.
pub fn add(all: &mut Vec<PartBox>, new: PartBox, least: [i64; 3]) {
    let mut fresh = vec![new];
    while let Some(new) = fresh.pop() {
        if all.iter().any(|it| it.holds(&new, least)) {
            continue;
        }
        all.retain(|it| !new.holds(it, least));
        if all.len() < MOST_BOXES {
            fresh.extend(all.iter().flat_map(|it| it.joined(&new, least)));
            all.push(new);
        }
    }
}

/// A stencil, and the pairs of its parameters that are one field.
type CallKey = (Handle<ProgramStencil>, Vec<[usize; 2]>);

/// The elements that the stencils of a program touch.
#[derive(Clone, Debug, Default)]
pub struct StencilElements {
    /// For each parameter.
    of: BTreeMap<CallKey, Vec<FieldElements>>,
    /// No run has fewer points along I, J, K.
    least: [i64; 3],
}

impl StencilElements {
    /// Those of all calls.
    #[must_use]
    pub fn of(program: &ProgramIr, fronts: &mut ProgramFronts) -> Self {
        let (mut all, mut least) = (BTreeMap::new(), [1; 3]);
        // A domain that makes a size negative is refused.
        let ranges = program.stencils.values().flat_map(|it| it.domain);
        for size in ranges.chain(program.containers.values().flat_map(|it| it.shape.iter().copied())) {
            if let Some(axis) = size.axis {
                least[axis.index()] = least[axis.index()].max(size.offset.saturating_neg());
            }
        }
        program.body.iter().for_each(|it| {
            it.walk(&mut |stmt| {
                if let ProgramStmtKind::Call(call) = &stmt.kind {
                    let ProgramStencil { domain: [.., levels], min_levels, .. } =
                        &program.stencils[call.stencil];
                    // So is one with too few levels.
                    if levels.axis == Some(Axis::K) {
                        least[Axis::K.index()] =
                            least[Axis::K.index()].max(min_levels.saturating_sub(levels.offset));
                    }
                    let key = (call.stencil, aliases(program, call));
                    if !all.contains_key(&key) {
                        let front = fronts.unified(&program.stencils[call.stencil], &key.1);
                        all.extend(front.ok().map(|it| (key, it.elements().to_vec())));
                    }
                }
            });
        });
        Self { of: all, least }
    }

    /// The fewest points along I, J, K that a run has.
    #[must_use]
    pub fn least(&self) -> [i64; 3] {
        self.least
    }

    /// For each parameter of a call; none where its stencil has no code.
    #[must_use]
    pub fn of_call(&self, program: &ProgramIr, call: &StencilCall) -> Option<&[FieldElements]> {
        self.of.get(&(call.stencil, aliases(program, call))).map(Vec::as_slice)
    }
}

/// Whether the range of a call has the points of a box: one that counts from one end alone needs a point.
#[must_use]
pub fn is_met(program: &ProgramIr, call: &StencilCall, it: &ElementBox, least: [i64; 3]) -> bool {
    let domain = program.stencils[call.stencil].domain;
    let axes = [(Axis::I, Some(it.i)), (Axis::J, Some(it.j)), (Axis::K, it.k)];
    axes.into_iter().all(|(axis, range)| {
        range.is_none_or(|it| (it.start.level, it.end.level) == (Level::Start, Level::End))
            || AffineSize::constant(1).is_at_most(domain[axis.index()], least)
    })
}

/// The elements of a container that a box of a call's parameter means.
#[must_use]
pub fn placed(
    program: &ProgramIr,
    call: &StencilCall,
    (param, part): (&Param, &ContainerPart),
    it: &ElementBox,
) -> PartBox {
    let stencil = &program.stencils[call.stencil];
    let container = &program.containers[part.container];
    let origin = stencil.origin_of(&param.name);
    let ranges = container.axes.iter().zip(&container.shape).map(|(axis, &size)| {
        let range = match axis {
            Axis::I => Some(it.i),
            Axis::J => Some(it.j),
            Axis::K => it.k,
        };
        let Some(Interval { start, end }) = range else { return [AffineSize::constant(0), size] };
        let at = axis.index();
        let first = container.origin[at].saturating_add(origin[at]);
        let index = |bound: Bound| {
            let from = match bound.level {
                Level::Start => AffineSize::constant(0),
                Level::End => stencil.domain[at],
            };
            from.moved(first).moved(i64::from(bound.offset))
        };
        [index(start), index(end)]
    });
    let within = it.data.iter().flatten().map_while(|&at| u32::try_from(at).ok());
    PartBox {
        data_index: part.data_index.iter().copied().chain(within).collect(),
        ranges: Some(ranges.collect()),
    }
}
