//! Loops over rows, in blocks of as many points as the widest vector has lanes.
//!
//! A row of a domain is some sixteen of these vectors. Of a loop over it a compiler makes three: up to where a line of
//! memory starts, whole vectors, and what is left over; where many short loops follow each other, as behind a front, that
//! takes as long as a tenth of them. Blocks are whole vectors; the last one ends with the row, so that some points
//! are computed twice.

use super::print::File;
use crate::loops::nodes::{For, Item, Positions, Program};
use crate::loops::repeat::{each_element, may_repeat};
use crate::space::{Affine, Axis, Size, Symbol};
use crate::types::DType;

/// What a machine has whose vectors have 32 registers: with fewer, blocks gain nothing.
const VECTOR_BYTES: u64 = 64;

/// Fewer loops over rows in one turn of the loop around gain nothing.
const LEAST_LOOPS: usize = 4;

/// A row that may be computed in blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Block {
    /// Points of a block.
    pub(super) points: i64,
    /// So many points along I the domain must have.
    least: i64,
}

/// How many points along I a domain must have for the blocks of a program; none where it has no blocks.
pub(super) fn least_points(program: &Program, vector_bytes: u64) -> Option<i64> {
    if vector_bytes < VECTOR_BYTES {
        return None;
    }
    let mut found = Found { least: 0, most_loops: 0 };
    program.functions.iter().for_each(|it| found.turn(program, &it.body));
    (found.most_loops >= LEAST_LOOPS).then_some(found.least)
}

/// What there is of loops that may be computed in blocks.
struct Found {
    /// So many points along I the domain must have.
    least: i64,
    /// In one turn of a loop around.
    most_loops: usize,
}

impl Found {
    /// Looks through what happens in one turn of a loop.
    fn turn(&mut self, program: &Program, items: &[Item]) {
        let n_loops = self.loops_of(program, items);
        self.most_loops = self.most_loops.max(n_loops);
    }

    /// How many loops over rows there are in the turn at hand.
    fn loops_of(&mut self, program: &Program, items: &[Item]) -> usize {
        let mut n_loops = 0;
        for item in items {
            match item {
                Item::For(it) if let Some(block) = block_of(program, it) => {
                    n_loops += 1;
                    self.least = self.least.max(block.least);
                }
                Item::For(it) if it.positions.only_turn().is_none() => self.turn(program, &it.body),
                item => {
                    n_loops += item.blocks().into_iter().map(|it| self.loops_of(program, it)).sum::<usize>()
                }
            }
        }
        n_loops
    }
}

/// How a loop over a row is computed in blocks, where it may be.
pub(super) fn block_of(program: &Program, it: &For) -> Option<Block> {
    if !it.is_simd || it.axis != Axis::I || it.is_descending || it.positions.only_turn().is_some() {
        return None;
    }
    let beside = points_beside(&it.positions)?;
    let points = i64::try_from(VECTOR_BYTES).ok()? / size_of_elements(program, &it.body)?;
    may_repeat(program, it).then_some(Block { points, least: points - beside })
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

/// The bytes of an element, where all are floats of one size.
fn size_of_elements(program: &Program, body: &[Item]) -> Option<i64> {
    let mut dtypes: Vec<DType> = Vec::new();
    each_element(body, &mut |it, _| dtypes.push(program.arrays[it.array].container.dtype));
    let first = *dtypes.first()?;
    let is_one = first.is_float() && dtypes.iter().all(|it| *it == first);
    is_one.then(|| i64::try_from(first.size_bytes()).ok()).flatten()
}

impl File<'_> {
    /// How a loop of the file is computed in blocks, where it is.
    pub(super) fn blocks(&self, it: &For) -> Option<Block> {
        self.least_points.and_then(|_| block_of(self.program, it))
    }

    /// Writes the loops over blocks from `start` to `end`, and over the points of one. `last` is where the last block
    /// starts.
    pub(super) fn in_blocks(&mut self, it: &For, block: Block, (start, end, last): (&str, &str, &str)) {
        let Block { points, .. } = block;
        self.writer.line(format_args!(
            "for (int64_t i_block = {start}; i_block < {end}; i_block += is_unit ? {points} : INT64_MAX / 2) {{"
        ));
        self.writer.indent();
        self.writer
            .line(format_args!("const int64_t i_from = is_unit ? isobar_least(i_block, {last}) : i_block;"));
        self.writer.line(format_args!("const int64_t i_to = is_unit ? i_from + {points} : {end};"));
        self.in_lanes(it, ("i_from", "i_to"));
        self.writer.dedent();
        self.writer.line("}");
    }

    /// Writes a loop over points in vector lanes.
    pub(super) fn in_lanes(&mut self, it: &For, (start, end): (&str, &str)) {
        let variable = self.words().symbol(&it.positions.variable);
        self.writer.line("#pragma omp simd");
        self.writer
            .line(format_args!("for (int64_t {variable} = {start}; {variable} < {end}; ++{variable}) {{"));
        self.block(&it.body);
        self.writer.line("}");
    }
}

#[cfg(test)]
mod tests {
    use crate::backend::c::{Artifact, COptions, generate};
    use crate::sdfg::{from_schedule, samples};

    /// What becomes of four loops over rows, of which the last one is `last`.
    fn generated(last: &str, vector_bytes: u64) -> Artifact {
        let tree = samples::parsed(&format!(
            "\
schedule same
field a: float64[I + 4, J, K] shift [2, 0, 0] read
field b: float64[I, J, K] shift [0, 0, 0] read-write
temporary s: float64[I + 3] shift [1] along I in j
temporary t: float64[I + 3] shift [1] along I in j
threads j in [0, J) parallel:
  for k in [0, K) parallel:
    simd i in [-1, I + 2) parallel:
      s[i + 1] = a[i, j, k] * 2.0
    simd i in [-1, I + 2) parallel:
      t[i + 1] = a[i, j, k] + s[i + 1]
    simd i in [2, max(2, I - 1)) parallel:
      s[i + 1] = a[i, j, k] - 1.0
{last}"
        ));
        generate(&from_schedule::lower(&tree), &COptions { vector_bytes, ..COptions::default() })
    }

    const WRITES: &str = "    simd i in [0, I) parallel:\n      b[i, j, k] = s[i] + t[i + 2]\n";

    #[test]
    fn four_loops_over_rows_in_one_turn_are_computed_in_blocks() {
        let artifact = generated(WRITES, 64);
        let text = &artifact.listing.text;
        assert_eq!(text.matches("for (int64_t i_block = ").count(), 4, "{text}");
        // The shortest loop has three points less than the domain.
        assert_eq!(artifact.least_points, 11);
        assert!(text.contains("run.is_unit = run.is_unit && I >= 11;"), "{text}");
        assert!(
            text.contains("const int64_t i_from = is_unit ? isobar_least(i_block, I - 6) : i_block;"),
            "{text}"
        );
        assert!(artifact.flags(false).contains(&"-fno-ivopts"));
        // Where the last part of a row is short, the one before it is so much longer.
        assert!(text.contains("i_end = I - i_row < 680 ? I : i_row + 672;"), "{text}");
        assert!(text.contains("double b_row[680];"), "{text}");
    }

    #[test]
    fn rows_stay_whole_where_points_cannot_be_computed_twice_or_it_gains_nothing() {
        let is_whole = |last: &str, vector_bytes: u64| {
            let artifact = generated(last, vector_bytes);
            !artifact.listing.text.contains("i_block += is_unit") && artifact.least_points == 0
        };
        assert!(!is_whole(WRITES, 64));
        assert!(is_whole(WRITES, 32), "vectors have 32 bytes");
        let reads =
            |what: &str| format!("    simd i in [0, I) parallel:\n      b[i, j, k] = {what} + t[i + 2]\n");
        assert!(is_whole(&reads("b[i, j, k]"), 64), "it reads what it writes");
        assert!(is_whole(&reads("log(s[i])"), 64), "there is mathematics");
        assert!(is_whole(&WRITES.replace("[0, I)", "[0, 7)"), 64), "the row has a length of its own");
    }
}
