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
