//! Which fields of a call share memory: the same array for several of them, or arrays that overlap.
//!
//! Memory of our own never does; what somebody lends may.

use std::ops::{Range, RangeInclusive};

use super::launch::{Argument, FieldArgument, Launch};
use super::signature::{AccessKind, ParamKind, Signature};
use crate::diag::Diagnostic;
use crate::diag::catalog::call;
use crate::for_elements;
use crate::space::{Axis, AxisSet};
use crate::types::DType;

/// Returns the pairs of parameters, by position, that are given the same array: the first of its parameters,
/// and another one. Each such array is written through at least one parameter. `touched` gives the touched
/// positions per parameter and axis, counted from the start of the compute domain. Along K all levels of an
/// array count, since some may be found at run time.
///
/// # Errors
///
/// C08: fields overlap in another way and one of them is written, or a written field has the same element at
/// several points.
pub fn shared(
    signature: &Signature,
    launch: &mut Launch,
    touched: &[Option<[Range<i64>; 3]>],
) -> Result<Vec<[usize; 2]>, Vec<Diagnostic>> {
    let mut views = Vec::new();
    for (position, (param, argument)) in signature.params.iter().zip(&mut launch.arguments).enumerate() {
        if let (ParamKind::Field { axes, .. }, Argument::Field(field), Some(Some(ranges))) =
            (&param.kind, argument, touched.get(position))
            && for_elements!(&field.array.elements, it => it.is_lent())
        {
            let is_written = matches!(param.access, AccessKind::Write | AccessKind::ReadWrite);
            views.push(View::of(position, *axes, field, ranges, is_written));
        }
    }
    let name = |view: &View| signature.params[view.position].name.as_str();
    let mut wrong: Vec<Diagnostic> = views
        .iter()
        .filter(|it| it.is_written && it.shows_one_twice())
        .map(|it| call::one_for_many(name(it)))
        .collect();
    // The first view of the array that each shows.
    let mut first: Vec<usize> = (0..views.len()).collect();
    for (at, view) in views.iter().enumerate() {
        for (before, other) in views.iter().enumerate().take(at) {
            if !(view.is_written || other.is_written) || !view.meets(other) {
                continue;
            }
            if view.is_same(other) {
                let (from, to) = (first[at].max(first[before]), first[at].min(first[before]));
                first.iter_mut().filter(|it| **it == from).for_each(|it| *it = to);
            } else {
                let written = if view.is_written { view } else { other };
                wrong.push(call::overlapping(name(other), name(view), name(written)));
            }
        }
    }
    if !wrong.is_empty() {
        return Err(wrong);
    }
    let pairs = first.iter().zip(&views).filter(|&(&first, view)| views[first].position != view.position);
    Ok(pairs.map(|(&first, view)| [views[first].position, view.position]).collect())
}

/// The part of an array that a call touches.
#[derive(Debug)]
struct View {
    position: usize,
    /// Axes and type.
    declared: (AxisSet, DType),
    shape: Vec<usize>,
    origin: [i64; 3],
    /// The address of the element at the start of the compute domain, and of the first one that is touched.
    start: i64,
    address: i64,
    element_bytes: i64,
    /// Along each dimension: bytes between neighbours, and how many are touched.
    steps: Vec<ViewDimension>,
    is_written: bool,
}

/// A dimension of a view, or of what tells two of them apart.
#[derive(Clone, Copy, Debug)]
struct ViewDimension {
    bytes: i64,
    n: i64,
}

impl View {
    fn of(
        position: usize,
        axes: AxisSet,
        field: &mut FieldArgument,
        touched: &[Range<i64>; 3],
        is_written: bool,
    ) -> Self {
        let element_bytes = i64::try_from(field.array.dtype().size_bytes()).unwrap_or(i64::MAX);
        let base = for_elements!(&mut field.array.elements, it => it.as_mut_ptr().addr());
        let base = i64::try_from(base).unwrap_or(i64::MAX);
        let address_of = |element: i64| base.saturating_add(element.saturating_mul(element_bytes));
        let mut behind = i64::try_from(field.array.first).unwrap_or(i64::MAX);
        let mut steps = Vec::with_capacity(field.array.shape.len());
        for (dimension, axis) in axes.iter().enumerate() {
            let (stride, origin) = (field.array.strides[dimension], field.origin[axis.index()]);
            let size = i64::try_from(field.array.shape[dimension]).unwrap_or(i64::MAX);
            let range = match axis {
                Axis::K => 0..size,
                Axis::I | Axis::J => {
                    let range = &touched[axis.index()];
                    origin + range.start..origin + range.end
                }
            };
            behind = behind.saturating_add(range.start.saturating_mul(stride));
            steps.push(ViewDimension {
                bytes: stride.saturating_mul(element_bytes),
                n: range.end - range.start,
            });
        }
        for (&stride, &size) in field.array.strides.iter().zip(&field.array.shape).skip(axes.len()) {
            let n = i64::try_from(size).unwrap_or(i64::MAX);
            steps.push(ViewDimension { bytes: stride.saturating_mul(element_bytes), n });
        }
        Self {
            position,
            declared: (axes, field.array.dtype()),
            shape: field.array.shape.clone(),
            origin: field.origin,
            start: address_of(field.start(axes)),
            address: address_of(behind),
            element_bytes,
            steps,
            is_written,
        }
    }

    /// Whether an element of it stands at several points.
    fn shows_one_twice(&self) -> bool {
        // Two points that differ along this dimension, and anyhow along the others.
        (0..self.steps.len()).any(|at| {
            let ViewDimension { bytes, n } = self.steps[at];
            if n < 2 {
                return false;
            }
            let other = |it: &ViewDimension| Distances { bytes: it.bytes, range: 1 - it.n..=it.n - 1 };
            let before = self.steps[..at].iter().map(other);
            let behind = self.steps[at + 1..].iter().map(other);
            let distances = before.chain(behind).chain([Distances { bytes, range: 1..=n - 1 }]);
            reaches(distances.collect(), 1 - self.element_bytes..=self.element_bytes - 1)
        })
    }

    /// Whether a byte belongs to elements of both.
    fn meets(&self, other: &Self) -> bool {
        if self.steps.iter().chain(&other.steps).any(|it| it.n <= 0) {
            return false;
        }
        let own = self.steps.iter().map(|it| Distances { bytes: it.bytes, range: 0..=it.n - 1 });
        let others = other.steps.iter().map(|it| Distances { bytes: it.bytes, range: 1 - it.n..=0 });
        let apart = other.address.saturating_sub(self.address);
        reaches(own.chain(others).collect(), apart - self.element_bytes + 1..=apart + other.element_bytes - 1)
    }

    /// Whether both show the same elements at the same points.
    fn is_same(&self, other: &Self) -> bool {
        let is_unused = |at: usize| self.steps[at].n < 2 && other.steps[at].n < 2;
        self.declared == other.declared
            && self.start == other.start
            && (self.shape == other.shape && self.origin == other.origin)
            && (0..self.steps.len()).all(|at| self.steps[at].bytes == other.steps[at].bytes || is_unused(at))
    }
}

/// Bytes between two elements of one dimension: as many times as a number of the range.
#[derive(Clone, Debug)]
struct Distances {
    bytes: i64,
    range: RangeInclusive<i64>,
}

/// So many numbers are tried before an answer is given up: arrays of models take a few.
const MOST_TRIES: u32 = 100_000;

/// Whether a sum of distances, one of each, lies in a range; also where that takes too long to tell.
fn reaches(mut distances: Vec<Distances>, target: RangeInclusive<i64>) -> bool {
    for it in &mut distances {
        if it.bytes < 0 {
            (it.bytes, it.range) = (-it.bytes, -it.range.end()..=-it.range.start());
        }
    }
    distances.retain(|it| it.bytes != 0);
    distances.sort_by_key(|it| std::cmp::Reverse(it.bytes));
    // Of those that are alike the sum alone matters.
    distances.dedup_by(|it, kept| {
        let is_alike = it.bytes == kept.bytes;
        if is_alike {
            kept.range = kept.range.start() + it.range.start()..=kept.range.end() + it.range.end();
        }
        is_alike
    });
    let mut tries = 0;
    reaches_with(&distances, &target, &mut tries)
}

fn reaches_with(distances: &[Distances], target: &RangeInclusive<i64>, tries: &mut u32) -> bool {
    let Some((Distances { bytes, range }, smaller)) = distances.split_first() else {
        return target.contains(&0);
    };
    // The least and greatest sum of the smaller distances.
    let least: i64 =
        smaller.iter().map(|it| it.bytes.saturating_mul(*it.range.start())).fold(0, i64::saturating_add);
    let most: i64 =
        smaller.iter().map(|it| it.bytes.saturating_mul(*it.range.end())).fold(0, i64::saturating_add);
    let first = div_ceil(target.start().saturating_sub(most), *bytes).max(*range.start());
    let last = target.end().saturating_sub(least).div_euclid(*bytes).min(*range.end());
    for number in first..=last {
        *tries += 1;
        if *tries > MOST_TRIES {
            return true;
        }
        let by = bytes.saturating_mul(number);
        let left = target.start().saturating_sub(by)..=target.end().saturating_sub(by);
        if reaches_with(smaller, &left, tries) {
            return true;
        }
    }
    false
}

/// `bytes` is positive.
fn div_ceil(number: i64, bytes: i64) -> i64 {
    -(number.saturating_neg().div_euclid(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every sum, one after the other.
    fn by_trying(distances: &[(i64, RangeInclusive<i64>)], target: &RangeInclusive<i64>) -> bool {
        match distances.split_first() {
            None => target.contains(&0),
            Some(((bytes, range), others)) => range.clone().any(|it| {
                let by = bytes * it;
                by_trying(others, &(target.start() - by..=target.end() - by))
            }),
        }
    }

    #[test]
    fn a_sum_is_found_where_there_is_one() {
        let mut state = 7_u64;
        let mut random = |below: i64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            i64::try_from((state >> 33) % below.unsigned_abs()).unwrap()
        };
        let mut found = 0;
        for _ in 0..20_000 {
            let n = random(5);
            let distances: Vec<_> = (0..n)
                .map(|_| {
                    let (bytes, start) = (8 * (random(9) - 4), random(5) - 3);
                    (bytes, start..=start + random(4))
                })
                .collect();
            let start = random(160) - 80;
            let target = start..=start + random(15);
            let expected = by_trying(&distances, &target);
            let given =
                distances.iter().map(|(bytes, range)| Distances { bytes: *bytes, range: range.clone() });
            assert_eq!(reaches(given.collect(), target.clone()), expected, "{distances:?} {target:?}");
            found += u32::from(expected);
        }
        assert!((2000..18_000).contains(&found), "{found}");
    }
}
