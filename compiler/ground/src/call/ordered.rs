//! Elements of a box, put in C order.
//!
//! Neighbours in memory lie along one dimension, neighbours of the result along another. Element by element,
//! each cache line of one side would be loaded many times, and evicted in between. Blocks of eight by eight
//! elements have whole lines of both.

/// Elements of a block along both of its dimensions.
const SIDE: usize = 8;

/// One dimension of a box.
#[derive(Clone, Copy)]
struct CopyDimension {
    n: usize,
    /// How far neighbours are apart, in elements.
    from: i64,
    to: usize,
}

/// The elements of a box in C order. It starts at a position of `all`, and these are its strides there; dimensions that
/// have none are not asked for.
///
/// # Panics
///
/// When it is not within `all`.
pub(super) fn gather<T: Copy + Default>(all: &[T], start: usize, shape: &[usize], strides: &[i64]) -> Vec<T> {
    let mut n = 1;
    let mut dimensions: Vec<CopyDimension> = Vec::with_capacity(shape.len());
    for (&size, &from) in shape.iter().zip(strides).rev() {
        // A dimension that goes on where the one behind it ends is one with it.
        match dimensions.last_mut() {
            _ if size == 1 => {}
            Some(last) if signed(last.n).checked_mul(last.from) == Some(from) => last.n *= size,
            _ => dimensions.push(CopyDimension { n: size, from, to: n }),
        }
        n *= size;
    }
    let mut out = vec![T::default(); n];
    if n == 0 {
        return out;
    }
    let one = CopyDimension { n: 1, from: 1, to: 1 };
    // The first one is the last of the result, whose neighbours lie side by side there.
    let across = if dimensions.is_empty() { one } else { dimensions.remove(0) };
    let nearest = (0..dimensions.len()).min_by_key(|&at| dimensions[at].from.unsigned_abs());
    let is_nearer = |at: &usize| dimensions[*at].from.unsigned_abs() < across.from.unsigned_abs();
    let along = nearest.filter(is_nearer).map(|at| dimensions.remove(at));
    each(&dimensions, (start, 0), &mut |from, to| match along {
        Some(along) => blocks(all, &mut out[to..], from, [along, across]),
        None => row(all, &mut out[to..], from, across),
    });
    out
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
                each(others, (behind(from, at, it.from), to + at * it.to), visit);
            }
        }
    }
}

fn row<T: Copy>(all: &[T], out: &mut [T], from: usize, along: CopyDimension) {
    let out = &mut out[..along.n];
    if along.from == 1 {
        out.copy_from_slice(&all[from..from + along.n]);
    } else {
        out.iter_mut().enumerate().for_each(|(at, it)| *it = all[behind(from, at, along.from)]);
    }
}

/// A plane: `along` has neighbours side by side in memory, or nearly, and `across` in the result.
fn blocks<T: Copy + Default>(all: &[T], out: &mut [T], from: usize, [along, across]: [CopyDimension; 2]) {
    for second in (0..across.n).step_by(SIDE) {
        let n_across = SIDE.min(across.n - second);
        for first in (0..along.n).step_by(SIDE) {
            let n_along = SIDE.min(along.n - first);
            let from = behind(behind(from, second, across.from), first, along.from);
            let to = first * along.to + second;
            if n_across == SIDE && n_along == SIDE && along.from == 1 {
                let mut block = [[T::default(); SIDE]; SIDE];
                for (at, line) in block.iter_mut().enumerate() {
                    let from = behind(from, at, across.from);
                    line.copy_from_slice(&all[from..from + SIDE]);
                }
                for at in 0..SIDE {
                    let to = to + at * along.to;
                    let line: &mut [T] = &mut out[to..to + SIDE];
                    line.iter_mut().zip(&block).for_each(|(it, line)| *it = line[at]);
                }
            } else {
                for at in 0..n_along {
                    for beside in 0..n_across {
                        let from = behind(behind(from, beside, across.from), at, along.from);
                        out[to + at * along.to + beside] = all[from];
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
            let found = gather(&all, start, &shape, &strides);
            assert_eq!(found, plainly(&all, start, &shape, &strides), "{start} {shape:?} {strides:?}");
        }
    }
}
