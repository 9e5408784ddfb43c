//! Loops over rows in blocks of a whole vector, and in vector lanes.

use super::print::File;
use crate::loops::nodes::For;

impl File<'_> {
    /// Writes the loops over blocks from `start` to `end`, and over the points of one. `last` is where the last block
    /// starts.
    pub(super) fn in_blocks(&mut self, it: &For, points: i64, (start, end, last): (&str, &str, &str)) {
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
        self.block_in_lanes(&it.body);
        self.writer.line("}");
    }
}

#[cfg(test)]
mod tests {
    use crate::c::{COptions, generate};
    use crate::loops::parse::parse;

    /// A short row and one that goes past the caches, as `loops/block-rows` leaves them.
    const BLOCKS: &str = "\
program s(a, b)
stream from 1000000 bytes
blocks from 11 points
field a: float64[I + 4, J, K] shift [2, 0, 0] along IJK given read
field b: float64[I, J, K] shift [0, 0, 0] along IJK given write streamed
temporary t: float64[I + 3] shift [1] along I packed private per thread

function step_1_at(j, k) of step 1:
  for i in [2, max(2, I - 1)) parallel simd in blocks of 8:
    t[i + 1] = a[i, j, k] - 1.0
  for i in [-1, I + 2) parallel simd in blocks of 8:
    t[i + 1] = a[i, j, k] * 2.0
  for i in [0, I) parallel simd in blocks of 8:
    stream b[i, j, k] through a row of 672 elements
    b[i, j, k] = t[i] + t[i + 2]

function step_1() of step 1:
  launch step_1_at():
    over j in [0, J)
    over k in [0, K)

step step_1 on all threads
";

    #[test]
    fn the_last_block_of_a_row_overlaps_the_one_before() {
        let program = parse(BLOCKS).expect("it is a program");
        let artifact = generate(&program, &COptions::default());
        let text = &artifact.listing.text;
        assert_eq!(text.matches("for (int64_t i_block = ").count(), 3, "{text}");
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
    fn a_program_without_blocks_takes_rows_of_any_length() {
        let plain = BLOCKS.replace(" in blocks of 8", "").replace("blocks from 11 points\n", "");
        let artifact = generate(&parse(&plain).expect("it is a program"), &COptions::default());
        assert!(!artifact.listing.text.contains("i_block += is_unit"));
        assert_eq!(artifact.least_points, 0);
    }
}
