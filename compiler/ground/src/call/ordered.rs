//! Copies of boxes between arrays that lie otherwise.
//!
//! Neighbours in memory lie along one dimension on one side, and along another on the other side. Element by element,
//! each cache line of one side would be loaded many times, and evicted in between. Blocks of eight by eight
//! elements have whole lines of both.

use super::array::c_strides;

/// Elements of a block along both of its dimensions.
const SIDE: usize = 8;

/// One dimension of a box.
#[derive(Clone, Copy)]
struct CopyDimension {
    n: usize,
    /// How far neighbours are apart, in elements.
    from: i64,
    to: i64,
}

/// Where a box lies among elements: the position of its first element, and its strides.
#[derive(Clone, Copy)]
pub(super) struct BoxPlace<'a> {
    pub(super) start: usize,
    pub(super) strides: &'a [i64],
}

/// The elements of a box in C order.
///
/// # Panics
///
/// When it is not within `all`.
pub(super) fn gather<T: Copy + Default>(all: &[T], from: BoxPlace, shape: &[usize]) -> Vec<T> {
    let mut out = vec![T::default(); shape.iter().product()];
    copy((all, from), (&mut out, BoxPlace { start: 0, strides: &c_strides(shape) }), shape);
    out
}

/// Copies the elements of a box. Where an element of the target is that of several indices, it gets the value of one of
/// them.
///
/// # Panics
///
/// When the box is not within the elements of a side.
pub(super) fn copy<T: Copy + Default>(
    (all, from): (&[T], BoxPlace),
    (out, to): (&mut [T], BoxPlace),
    shape: &[usize],
) {
    if shape.contains(&0) {
        return;
    }
    let mut dimensions: Vec<CopyDimension> = Vec::with_capacity(shape.len());
    let strides = from.strides.iter().zip(to.strides);
    dimensions.extend(shape.iter().zip(strides).map(|(&n, (&from, &to))| CopyDimension { n, from, to }));
    dimensions.retain(|it| it.n > 1);
    dimensions.sort_by_key(|it| it.to.unsigned_abs());
    // A dimension that goes on where the one before it ends is one with it, on both sides.
    dimensions.dedup_by(|next, last| {
        let goes_on = |one: i64, next: i64| signed(last.n).checked_mul(one) == Some(next);
        let is_one = goes_on(last.from, next.from) && goes_on(last.to, next.to);
        if is_one {
            last.n *= next.n;
        }
        is_one
    });
    let one = CopyDimension { n: 1, from: 1, to: 1 };
    // Its neighbours lie side by side in the target.
    let across = if dimensions.is_empty() { one } else { dimensions.remove(0) };
    let nearest = (0..dimensions.len()).min_by_key(|&at| dimensions[at].from.unsigned_abs());
    let is_nearer = |at: &usize| dimensions[*at].from.unsigned_abs() < across.from.unsigned_abs();
    let along = nearest.filter(is_nearer).map(|at| dimensions.remove(at));
    each(&dimensions, (from.start, to.start), &mut |from, to| match along {
        Some(along) => blocks(all, out, (from, to), [along, across]),
        None => row(all, out, (from, to), across),
    });
}

fn signed(n: usize) -> i64 {
    i64::try_from(n).unwrap_or(i64::MAX)
}

/// The position so many elements behind another one.
fn behind(position: usize, at: usize, stride: i64) -> usize {
    let distance = isize::try_from(signed(at).saturating_mul(stride)).unwrap_or(isize::MAX);
    position.wrapping_add_signed(distance)
}

/// Visits all pairs of positions, the slowest dimension of the result around the others.
fn each(dimensions: &[CopyDimension], (from, to): (usize, usize), visit: &mut impl FnMut(usize, usize)) {
    match dimensions.split_last() {
        None => visit(from, to),
        Some((it, others)) => {
            for at in 0..it.n {
                each(others, (behind(from, at, it.from), behind(to, at, it.to)), visit);
            }
        }
    }
}

fn row<T: Copy>(all: &[T], out: &mut [T], (from, to): (usize, usize), along: CopyDimension) {
    let CopyDimension { n, from: stride, to: target } = along;
    match (stride, target) {
        (1, 1) => out[to..to + n].copy_from_slice(&all[from..from + n]),
        (_, 1) => {
            let out = &mut out[to..to + n];
            out.iter_mut().enumerate().for_each(|(at, it)| *it = all[behind(from, at, stride)]);
        }
        _ => (0..n).for_each(|at| out[behind(to, at, target)] = all[behind(from, at, stride)]),
    }
}

/// A plane: `along` has neighbours side by side in memory, or nearly, and `across` in the target.
fn blocks<T: Copy + Default>(
    all: &[T],
    out: &mut [T],
    (from, to): (usize, usize),
    [along, across]: [CopyDimension; 2],
) {
    for second in (0..across.n).step_by(SIDE) {
        let n_across = SIDE.min(across.n - second);
        for first in (0..along.n).step_by(SIDE) {
            let n_along = SIDE.min(along.n - first);
            let from = behind(behind(from, second, across.from), first, along.from);
            let to = behind(behind(to, second, across.to), first, along.to);
            if n_across == SIDE && n_along == SIDE && along.from == 1 && across.to == 1 {
                let mut block = [[T::default(); SIDE]; SIDE];
                for (at, line) in block.iter_mut().enumerate() {
                    let from = behind(from, at, across.from);
                    line.copy_from_slice(&all[from..from + SIDE]);
                }
                for at in 0..SIDE {
                    let to = behind(to, at, along.to);
                    let line: &mut [T] = &mut out[to..to + SIDE];
                    line.iter_mut().zip(&block).for_each(|(it, line)| *it = line[at]);
                }
            } else {
                for at in 0..n_along {
                    let (from, to) = (behind(from, at, along.from), behind(to, at, along.to));
                    for beside in 0..n_across {
                        out[behind(to, beside, across.to)] = all[behind(from, beside, across.from)];
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Element by element.
    fn plainly(all: &[u32], start: usize, shape: &[usize], strides: &[i64]) -> Vec<u32> {
        match (shape, strides) {
            (&[n, ref shape @ ..], &[stride, ref strides @ ..]) => {
                (0..n).flat_map(|at| plainly(all, behind(start, at, stride), shape, strides)).collect()
            }
            _ => vec![all[start]],
        }
    }

    #[test]
    fn whatever_lies_where_comes_in_c_order() {
        let all: Vec<u32> = (0..40_000).collect();
        for (start, shape, strides) in [
            (7, vec![], vec![]),
            (0, vec![0, 3], vec![1, 1]),
            (5, vec![1, 1, 1], vec![1, 20, 400]),
            // As fields lie, with rooms between rows, whole blocks and parts of them.
            (0, vec![20, 19, 21], vec![1, 24, 480]),
            (50, vec![16, 8, 32], vec![1, 24, 480]),
            (3, vec![9, 1, 17], vec![1, 24, 480]),
            (3, vec![5, 6], vec![1, 24]),
            // In C order, and partly so.
            (0, vec![20, 19, 21], vec![399, 21, 1]),
            (2, vec![20, 10, 21], vec![399, 21, 1]),
            (0, vec![20, 19, 21], vec![21, 420, 1]),
            (0, vec![20, 19, 21], vec![19, 1, 380]),
            // Data dimensions behind the axes.
            (0, vec![10, 11, 12, 2, 3], vec![1, 10, 110, 1320, 2640]),
            (0, vec![10, 11, 12, 2, 3], vec![6, 60, 660, 1, 2]),
            // Lent arrays: elements apart, backwards, and one element at many indices.
            (1, vec![12, 13, 14], vec![2, 30, 400]),
            (9_999, vec![20, 9, 10], vec![-1, -20, -400]),
            (500, vec![20, 9, 10], vec![1, -20, 400]),
            (4, vec![20, 9, 10], vec![0, 0, 0]),
            (4, vec![20, 9, 10], vec![0, 10, 1]),
            (4, vec![20, 9, 10], vec![1, 0, 20]),
        ] {
            let place = BoxPlace { start, strides: &strides };
            let found = gather(&all, place, &shape);
            assert_eq!(found, plainly(&all, start, &shape, &strides), "{start} {shape:?} {strides:?}");
            if strides.contains(&0) {
                continue;
            }
            // And back to where they were: nothing beside them is written.
            let own = c_strides(&shape);
            let mut back = vec![u32::MAX; all.len()];
            let c_order = BoxPlace { start: 0, strides: &own };
            copy((&found, c_order), (&mut back, place), &shape);
            let written: Vec<u32> = back.iter().copied().filter(|it| *it != u32::MAX).collect();
            let mut expected = found.clone();
            expected.sort_unstable();
            assert_eq!(written, expected, "{start} {shape:?} {strides:?}");
        }
    }

    #[test]
    fn boxes_go_from_any_order_to_any_other() {
        let all: Vec<u32> = (0..8_000).collect();
        let shape = [15, 12, 13];
        // One runs backwards along its first dimension.
        let orders = [[1, 16, 200], [200, 16, 1], [16, 256, 1], [-1, 256, 16], [2, 40, 500]];
        for from in orders {
            for to in orders {
                let [start, first] = [from, to].map(|it| if it[0] < 0 { 14 } else { 0 });
                let mut out = vec![0; all.len()];
                let [source, target] =
                    [BoxPlace { start, strides: &from }, BoxPlace { start: first, strides: &to }];
                copy((&all, source), (&mut out, target), &shape);
                assert_eq!(
                    plainly(&out, first, &shape, &to),
                    plainly(&all, start, &shape, &from),
                    "{from:?} {to:?}"
                );
            }
        }
    }
}
