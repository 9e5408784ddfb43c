//! Runs loops over rows in blocks of as many points as the widest vector has lanes.
//!
//! A row of a domain is some sixteen of these vectors. A C compiler splits each row loop into peel, main and
//! remainder loop. With many short rows this costs a tenth. So loops run in blocks of whole vectors, and the
//! last block overlaps the one before it: some points are computed twice. Without a remainder loop, a long
//! body is compiled only once.
//!
//! ```text
//! for i in [0, I) parallel simd:           for i in [0, I) parallel simd in blocks of 8:
//!   b[i, j, k] = a[i, j, k]                  b[i, j, k] = a[i, j, k]
//! ```

use super::super::analysis::operations::n_operations;
use super::super::analysis::repeat::{each_element, may_repeat_with_branches};
use super::super::nodes::{For, Item, Lanes, Positions, Program};
use super::super::visit::walk;
use super::PassCx;
use crate::space::{Affine, Axis, Size, Symbol};
use crate::target::Remainder;
use crate::types::DType;

/// As options and remarks call it.
pub const NAME: &str = "loops/block-rows";

/// Marks the loops that run in blocks of whole vectors.
///
/// - **Precondition**: locals are declared.
/// - **Effect**: [`Lanes::block`](super::super::nodes::Lanes::block), [`Decisions::least_points`](super::super::nodes::Decisions::least_points).
/// - **Legality**: [`block_of`]: points may be computed twice, and rows are as long as a block.
/// - **Why**: the target's [`remainder`](crate::target::Target::remainder). Where points compute
///   transcendental functions, a run gains nothing. A long program still compiles faster.
pub fn block_rows(program: &mut Program, cx: &mut PassCx) {
    let Remainder::Blocks { bytes, least_loops, least_operations } = cx.options.remainder.value else {
        return;
    };
    let mut has_functions = false;
    program.each_expr(&mut |expr| expr.walk(&mut |it| has_functions |= it.is_transcendental()));
    let mut found = BlockTotals { bytes, least: 0, most_loops: 0 };
    program.functions.values().for_each(|it| found.iteration(program, &it.body));
    let is_long = found.most_loops > 0 && n_operations(program) >= least_operations;
    let is_faster = !has_functions && found.most_loops >= least_loops;
    if !(is_long || is_faster) || !cx.may_change() {
        return;
    }
    program.decisions.set_least_points(found.least);
    cx.applied(
        format!(
            "rows of {} points or more are computed in whole vectors: {}",
            found.least, cx.options.remainder.reason
        ),
        [],
    );
    let mut blocks = Vec::new();
    for function in program.functions.values() {
        walk(&function.body, &mut |item| {
            if let Item::For(it) = item
                && let Some(block) = block_of(program, it, bytes)
            {
                blocks.push((it.id, Some(block.points)));
            }
        });
    }
    for (of, block) in blocks {
        let lanes = program.decisions.lanes(of);
        program.decisions.set_lanes(of, Lanes { block, ..lanes });
    }
}

/// A row that may be computed in blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct RowBlock {
    /// Points of a block.
    points: i64,
    /// The domain must have at least so many points along I.
    least: i64,
}

/// Totals of the loops that may be computed in blocks.
struct BlockTotals {
    bytes: i64,
    /// The domain must have at least so many points along I.
    least: i64,
    /// The most of these loops in one iteration of a loop around.
    most_loops: usize,
}

impl BlockTotals {
    /// Looks through one iteration of a loop.
    fn iteration(&mut self, program: &Program, items: &[Item]) {
        let n_loops = self.loops_of(program, items);
        self.most_loops = self.most_loops.max(n_loops);
    }

    /// How many loops over rows there are in the iteration at hand.
    fn loops_of(&mut self, program: &Program, items: &[Item]) -> usize {
        let mut n_loops = 0;
        for item in items {
            match item {
                Item::For(it) if let Some(block) = block_of(program, it, self.bytes) => {
                    n_loops += 1;
                    self.least = self.least.max(block.least);
                }
                Item::For(it) if it.positions.only_turn().is_none() => self.iteration(program, &it.body),
                item => {
                    n_loops += item.blocks().into_iter().map(|it| self.loops_of(program, it)).sum::<usize>()
                }
            }
        }
        n_loops
    }
}

/// How a loop over a row is computed in blocks, where it may be.
fn block_of(program: &Program, it: &For, bytes: i64) -> Option<RowBlock> {
    if !it.is_simd || it.axis != Axis::I || it.is_descending || it.positions.only_turn().is_some() {
        return None;
    }
    let beside = points_beside(&it.positions)?;
    let points = bytes / size_of_elements(program, &it.body)?;
    may_repeat_with_branches(program, it).then_some(RowBlock { points, least: points - beside })
}

/// By how many points a loop over a row is longer than the domain, at least.
fn points_beside(Positions { start, end, step, .. }: &Positions) -> Option<i64> {
    let (Size::Affine(start), 1) = (start, step) else { return None };
    let start = start.as_constant()?;
    let domain = Affine::symbol(&Symbol::new(Axis::I.name()));
    let behind = |it: &Size| if let Size::Affine(it) = it { it.distance_from(&domain) } else { None };
    let behind = match end {
        Size::Affine(_) => behind(end),
        Size::Max(parts) => parts.iter().filter_map(behind).max(),
        Size::Min(_) => None,
    };
    Some(behind? - start)
}

/// The bytes of an element, where all have one size and some are floats.
fn size_of_elements(program: &Program, body: &[Item]) -> Option<i64> {
    let mut dtypes: Vec<DType> = Vec::new();
    each_element(body, &mut |it, _| dtypes.push(program.arrays[it.array].dtype));
    let first = dtypes.iter().find(|it| it.is_float())?.size_bytes();
    let is_one = dtypes.iter().all(|it| it.size_bytes() == first);
    is_one.then(|| i64::try_from(first).ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::super::tests::{after, c};

    /// Four loops over rows in blocks, where they gain something; the last loop is `last`.
    fn blocks(last: &str, vector_bytes: u32) -> String {
        let loops = format!(
            "
  for i in [-1, I + 2) parallel simd:
    t[i + 1] = a[i, j, k] * 2.0
  for i in [-1, I + 2) parallel simd:
    u[i, j, k] = a[i, j, k] + t[i + 1]
  for i in [2, max(2, I - 1)) parallel simd:
    t[i + 1] = a[i, j, k] - 1.0
{last}"
        );
        after(&[super::NAME], c(vector_bytes), &loops)
    }

    const WRITES: &str = "  for i in [0, I) parallel simd:\n    b[i, j, k] = t[i] + u[i + 2, j, k]\n";

    #[test]
    fn four_loops_over_rows_in_one_turn_are_computed_in_blocks() {
        let text = blocks(WRITES, 64);
        assert_eq!(text.matches(" in blocks of 8:").count(), 4, "{text}");
        // The shortest loop has three points less than the domain.
        assert!(text.contains("blocks from 11 points"), "{text}");
    }

    #[test]
    fn rows_stay_whole_where_points_cannot_be_computed_twice_or_it_gains_nothing() {
        let is_whole = |last: &str, vector_bytes: u32| !blocks(last, vector_bytes).contains("blocks");
        assert!(!is_whole(WRITES, 64));
        assert!(is_whole(WRITES, 32), "vectors have 32 bytes");
        let reads = |value: &str| {
            format!("  for i in [0, I) parallel simd:\n    b[i, j, k] = {value} + u[i + 2, j, k]\n")
        };
        assert!(is_whole(&reads("b[i, j, k]"), 64), "it reads what it writes");
        assert!(is_whole(&reads("log(t[i])"), 64), "there is mathematics");
        let many: Vec<String> = (0..40).map(|at| format!("log(t[i] + {at}.0)")).collect();
        assert!(!is_whole(&reads(&many.join(" + ")), 64), "it is long, and compiled once");
        assert!(is_whole(&WRITES.replace("[0, I)", "[0, 7)"), 64), "the row has a length of its own");
    }
}
