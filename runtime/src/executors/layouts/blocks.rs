//! Copies by blocks, between arrays whose neighbours lie side by side along different axes.
//!
//! A copy element by element asks for each line of one of the two arrays many times, since caches lose the
//! line in between. Blocks of eight by eight elements are whole lines of both.

use std::ops::Range;

use super::copies::LINE_BYTES;

/// One dimension of a box: its number of elements, and the distance of neighbours on both sides, in elements.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct BoxDimension {
    pub(super) n: usize,
    pub(super) from: isize,
    pub(super) to: isize,
}

/// Elements of a block along both of its dimensions.
const SIDE: usize = 8;

/// Which way a box is copied: from the array of a caller to one in rows, or back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CopyDirection {
    There,
    Back,
}

/// How a box is copied: the dimensions of a row of blocks, and of all such rows.
///
/// The blocks of a row follow the dimension along which the caller's array is contiguous. Lines of that array
/// may begin anywhere, and each is finished before the next. In the array in rows, a block covers whole
/// lines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct BlockCopy {
    /// The outer dimensions, in descending order of their strides in the array in rows.
    around: Vec<BoxDimension>,
    /// The contiguous dimension of the array in rows, cut into pieces of [`SIDE`] behind the first `lead`
    /// elements.
    across: BoxDimension,
    lead: usize,
    /// The contiguous dimension of the caller's array.
    along: BoxDimension,
    way: CopyDirection,
    /// Whether non-temporal stores write the whole lines of the array in rows.
    is_streamed: bool,
}

impl BlockCopy {
    /// The plan of a box with these dimensions. The first line of the array in rows begins behind `lead`
    /// elements.
    pub(super) fn of(
        dimensions: &[BoxDimension],
        way: CopyDirection,
        (lead, is_streamed): (usize, bool),
    ) -> Self {
        let in_rows = |it: &BoxDimension| if way == CopyDirection::There { it.to } else { it.from };
        let of_caller = |it: &BoxDimension| if way == CopyDirection::There { it.from } else { it.to };
        let mut left: Vec<BoxDimension> = dimensions.iter().copied().filter(|it| it.n != 1).collect();
        // The dimension with the least stride is the one along the lines of a side.
        let across = take_nearest(&mut left, in_rows);
        let along = take_nearest(&mut left, of_caller);
        left.sort_by_key(|it| std::cmp::Reverse(in_rows(it).unsigned_abs()));
        let lead = lead.min(across.n);
        Self {
            around: left,
            across,
            lead,
            along,
            way,
            is_streamed: is_streamed && way == CopyDirection::There,
        }
    }

    /// The number of rows of blocks, which may be copied in any order.
    pub(super) fn rows(&self) -> usize {
        self.around.iter().map(|it| it.n).product::<usize>() * self.pieces()
    }

    fn pieces(&self) -> usize {
        usize::from(self.lead > 0) + (self.across.n - self.lead).div_ceil(SIDE)
    }

    /// Copies some rows of blocks.
    ///
    /// # Safety
    ///
    /// Each element of the box may be read behind `from` and written behind `to`. The type of the elements
    /// has as many bytes as `T`. No other thread writes them.
    #[expect(unsafe_code, reason = "elements are moved between two arrays by their addresses")]
    pub(super) unsafe fn copy<T: Copy>(&self, from: *const T, to: *mut T, rows: Range<usize>) {
        let pieces = self.pieces();
        for row in rows {
            let (mut rest, piece) = (row / pieces, row % pieces);
            let (mut from, mut to) = (from, to);
            for it in self.around.iter().rev() {
                let at = (rest % it.n).cast_signed();
                rest /= it.n;
                from = from.wrapping_offset(at * it.from);
                to = to.wrapping_offset(at * it.to);
            }
            let (first, n) = match self.lead {
                0 => (piece * SIDE, SIDE),
                lead if piece == 0 => (0, lead),
                lead => (lead + (piece - 1) * SIDE, SIDE),
            };
            let n = n.min(self.across.n - first);
            from = from.wrapping_offset(first.cast_signed() * self.across.from);
            to = to.wrapping_offset(first.cast_signed() * self.across.to);
            // SAFETY: these elements are a part of the box.
            unsafe { self.copy_row(from, to, n) };
        }
        if self.is_streamed {
            end_stream();
        }
    }

    /// Copies a row of blocks: `n` elements across, and all elements along the contiguous dimension of the
    /// caller's array.
    #[expect(unsafe_code, reason = "elements are moved between two arrays by their addresses")]
    unsafe fn copy_row<T: Copy>(&self, from: *const T, to: *mut T, n: usize) {
        let (across, along) = (self.across, self.along);
        // The distances of a block's rows on both sides, and how far ahead rows are prefetched.
        let (is_whole, from_row, to_row, ahead) = match self.way {
            CopyDirection::There => {
                let ahead = SIDE.cast_signed() * across.from;
                (across.to == 1 && along.from == 1, across.from, along.to, ahead)
            }
            CopyDirection::Back => {
                let ahead = 2 * SIDE.cast_signed() * along.from;
                (across.from == 1 && along.to == 1, along.from, across.to, ahead)
            }
        };
        let mut at = 0;
        if n == SIDE && is_whole {
            while at + SIDE <= along.n {
                let from = from.wrapping_offset(at.cast_signed() * along.from);
                let to = to.wrapping_offset(at.cast_signed() * along.to);
                prefetch(from.wrapping_offset(ahead), from_row);
                // SAFETY: a block of the box, which is whole along both dimensions.
                unsafe { block(from, from_row, to, to_row, self.is_streamed) };
                at += SIDE;
            }
        }
        for at in at..along.n {
            let (at, n) = (at.cast_signed(), n.cast_signed());
            for beside in 0..n {
                let from = from.wrapping_offset(at * along.from + beside * across.from);
                let to = to.wrapping_offset(at * along.to + beside * across.to);
                // SAFETY: an element of the box.
                unsafe { to.write(from.read()) };
            }
        }
    }
}

/// Prefetches the rows of a block. Nothing is read, so they need not exist.
#[inline]
fn prefetch<T>(from: *const T, row: isize) {
    #[cfg(target_arch = "x86_64")]
    for at in 0..SIDE.cast_signed() {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: each processor of this kind has the instruction, which faults at no address.
        #[expect(unsafe_code, reason = "the instruction takes an address")]
        unsafe {
            _mm_prefetch::<_MM_HINT_T0>(from.wrapping_offset(at * row).cast());
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (from, row);
}

/// Makes non-temporal stores visible to later reads of any thread.
fn end_stream() {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: each processor of this kind has it.
    #[expect(unsafe_code, reason = "an instruction of the processor")]
    unsafe {
        std::arch::x86_64::_mm_sfence();
    }
}

/// Removes and returns the dimension of the least `stride`. Where none is left, that is a dimension of one
/// element.
fn take_nearest(left: &mut Vec<BoxDimension>, stride: impl Fn(&BoxDimension) -> isize) -> BoxDimension {
    let nearest = (0..left.len()).min_by_key(|&at| match stride(&left[at]).unsigned_abs() {
        // A stride of 0 says nothing, since the neighbours are one element.
        0 => usize::MAX,
        it => it,
    });
    nearest.map_or(BoxDimension { n: 1, from: 0, to: 0 }, |at| left.remove(at))
}

/// Transposes a block: eight rows of eight elements, `from_row` apart, become eight columns, `to_row` apart.
#[expect(unsafe_code, reason = "elements are moved between two arrays by their addresses")]
#[inline]
unsafe fn block<T: Copy>(from: *const T, from_row: isize, to: *mut T, to_row: isize, is_streamed: bool) {
    #[cfg(target_arch = "x86_64")]
    if size_of::<T>() == 8 {
        let is_at_lines =
            to.addr().is_multiple_of(LINE_BYTES) && (to_row * 8).cast_unsigned().is_multiple_of(LINE_BYTES);
        // SAFETY: the same elements, whose bits are moved as they are. Columns that are streamed lie at whole
        // lines.
        return unsafe {
            match is_streamed && is_at_lines {
                true => block_of_words::<true>(from.cast(), from_row, to.cast(), to_row),
                false => block_of_words::<false>(from.cast(), from_row, to.cast(), to_row),
            }
        };
    }
    // SAFETY: rows and columns of the block.
    let rows: [[T; SIDE]; SIDE] = std::array::from_fn(|at| unsafe {
        from.wrapping_offset(at.cast_signed() * from_row).cast::<[T; SIDE]>().read_unaligned()
    });
    for column in 0..SIDE {
        let all: [T; SIDE] = rows.map(|it| it[column]);
        let to = to.wrapping_offset(column.cast_signed() * to_row).cast::<[T; SIDE]>();
        // SAFETY: as above.
        unsafe { to.write_unaligned(all) };
    }
}

/// The same for elements of eight bytes, two by two in registers; past the caches, if every column is a line.
#[cfg(target_arch = "x86_64")]
#[expect(unsafe_code, reason = "elements are moved between two arrays by their addresses")]
#[inline]
unsafe fn block_of_words<const IS_STREAMED: bool>(
    from: *const u64,
    from_row: isize,
    to: *mut u64,
    to_row: isize,
) {
    use std::arch::x86_64::{
        __m128i, _mm_castpd_si128, _mm_castsi128_pd, _mm_loadu_si128, _mm_storeu_si128, _mm_stream_si128,
        _mm_unpackhi_pd, _mm_unpacklo_pd,
    };
    for column in (0..SIDE).step_by(2) {
        for row in (0..SIDE).step_by(2) {
            let upper = from.wrapping_offset(row.cast_signed() * from_row).wrapping_add(column);
            let lower = upper.wrapping_offset(from_row);
            let left = to.wrapping_offset(column.cast_signed() * to_row).wrapping_add(row);
            let right = left.wrapping_offset(to_row);
            // SAFETY: pairs of neighbours of the block; each processor of this kind has these instructions, and they
            // move bits.
            unsafe {
                let upper = _mm_castsi128_pd(_mm_loadu_si128(upper.cast()));
                let lower = _mm_castsi128_pd(_mm_loadu_si128(lower.cast()));
                let store = |to: *mut u64, it: __m128i| match IS_STREAMED {
                    true => _mm_stream_si128(to.cast(), it),
                    false => _mm_storeu_si128(to.cast(), it),
                };
                store(left, _mm_castpd_si128(_mm_unpacklo_pd(upper, lower)));
                store(right, _mm_castpd_si128(_mm_unpackhi_pd(upper, lower)));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Strides of a dense array of that shape, the dimensions in this order from the fastest on.
    fn dense(shape: [usize; 3], order: [usize; 3]) -> [isize; 3] {
        let (mut strides, mut n) = ([0; 3], 1);
        for at in order {
            strides[at] = n;
            n *= shape[at].cast_signed();
        }
        strides
    }

    fn check<T: Copy + Default + PartialEq + std::fmt::Debug>(
        shape: [usize; 3],
        orders: [[usize; 3]; 2],
        of: fn(usize) -> T,
    ) {
        let [from, to] = orders.map(|it| dense(shape, it));
        let n = shape.iter().product();
        let source: Vec<T> = (0..n).map(of).collect();
        let mut target = vec![T::default(); n];
        let dimensions: Vec<BoxDimension> =
            (0..3).map(|at| BoxDimension { n: shape[at], from: from[at], to: to[at] }).collect();
        for (way, how) in [
            (CopyDirection::There, (0, false)),
            (CopyDirection::There, (3, true)),
            (CopyDirection::Back, (5, false)),
        ] {
            target.fill(T::default());
            let plan = BlockCopy::of(&dimensions, way, how);
            // In two parts, the second one first.
            let half = plan.rows() / 2;
            for rows in [half..plan.rows(), 0..half] {
                // SAFETY: both have all elements of the box.
                #[expect(unsafe_code, reason = "this is what is tested")]
                unsafe {
                    plan.copy(source.as_ptr(), target.as_mut_ptr(), rows);
                }
            }
            compare(shape, [from, to], &source, &target);
        }
    }

    fn compare<T: Copy + PartialEq + std::fmt::Debug>(
        shape: [usize; 3],
        [from, to]: [[isize; 3]; 2],
        source: &[T],
        target: &[T],
    ) {
        for i in 0..shape[0] {
            for j in 0..shape[1] {
                for k in 0..shape[2] {
                    let place = |strides: [isize; 3]| {
                        let at = [i, j, k];
                        (0..3).map(|it| at[it] * strides[it].unsigned_abs()).sum::<usize>()
                    };
                    assert_eq!(
                        target[place(to)],
                        source[place(from)],
                        "{shape:?} {from:?} {to:?} at {i}, {j}, {k}"
                    );
                }
            }
        }
    }

    #[test]
    fn each_element_comes_to_its_place_whatever_the_orders() {
        let all = [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]];
        for shape in [[17, 3, 24], [8, 8, 8], [1, 9, 16], [23, 1, 1], [5, 16, 7], [0, 4, 4]] {
            for from in all {
                for to in all {
                    check(shape, [from, to], |at| at as f64);
                    check(shape, [from, to], |at| at as f32);
                    check(shape, [from, to], |at| u16::try_from(at).unwrap_or(0));
                    check(shape, [from, to], |at| at.is_multiple_of(3));
                }
            }
        }
    }

    #[test]
    fn neighbours_that_are_one_element_are_repeated_and_others_run_backwards() {
        // Three rows of one element each, and five columns from the last to the first.
        let source = [1, 2, 3, 4, 5];
        let mut target = [0; 15];
        let dimensions = [BoxDimension { n: 3, from: 0, to: 1 }, BoxDimension { n: 5, from: -1, to: 3 }];
        let plan = BlockCopy::of(&dimensions, CopyDirection::There, (0, false));
        // SAFETY: the source is read from its last element on.
        #[expect(unsafe_code, reason = "this is what is tested")]
        unsafe {
            plan.copy(&raw const source[4], target.as_mut_ptr(), 0..plan.rows());
        }
        assert_eq!(target, [5, 5, 5, 4, 4, 4, 3, 3, 3, 2, 2, 2, 1, 1, 1]);
    }
}
