//! Loops over positions, and what has one position at most.

use super::print::File;
use crate::braces::Braces;
use crate::loops::analysis::uses::Uses;
use crate::loops::nodes::{DimensionIndex, Element, For, Positions};
use crate::space::Size;

impl File<'_> {
    /// Writes a loop, or the block or the branch that stands for one.
    pub(super) fn counted(&mut self, it: &For) {
        let is_once = self.program.decisions.is_once(it.id);
        if let Some((position, needs)) = it.positions.only_turn().filter(|_| is_once) {
            return self.only_turn(it, (&position, &needs));
        }
        if let Some(block) = self.program.decisions.lanes(it.id).block {
            self.open("loop", []);
            let (_, start, end, _) = self.bounds(&it.positions);
            let last = self.words().size(&it.positions.end.moved(-block)).0;
            self.in_blocks(it, block, (&start, &end, &last));
            self.writer.close();
            return;
        }
        self.open("loop", []);
        if it.is_simd {
            self.writer.line("#pragma omp simd");
        }
        let (variable, start, end, next) = self.bounds(&it.positions);
        self.writer.line(if it.is_descending {
            format!("for (int64_t {variable} = {end} - 1; {variable} >= {start}; --{variable}) {{")
        } else {
            format!("for (int64_t {variable} = {start}; {variable} < {end}; {next}) {{")
        });
        self.prefetch(self.program.decisions.prefetched(it.id));
        if it.is_simd {
            self.block_in_lanes(&it.body);
        } else {
            self.block(&it.body);
        }
        self.writer.line("}");
        self.writer.close();
    }

    /// The body at a position, under the conditions that there is one: each says that the first is below the second.
    fn only_turn(&mut self, it: &For, (position, needs): (&Size, &[(Size, Size)])) {
        self.open("loop", []);
        let words = self.words();
        let needs: Vec<String> = needs
            .iter()
            .map(|(low, high)| format!("{} < {}", words.size(low).0, words.size(high).0))
            .collect();
        let (variable, position) = (words.symbol(&it.positions.variable), words.size(position).0);
        self.writer.line(match needs.as_slice() {
            [] => "{".to_owned(),
            needs => format!("if ({}) {{", needs.join(" && ")),
        });
        if Uses::of_all(self.program, &it.body).positions.contains(&it.positions.variable) {
            self.writer.line(format_args!("  const int64_t {variable} = {position};"));
        }
        self.block(&it.body);
        self.writer.line("}");
        self.writer.close();
    }

    /// Prefetches rows, all along i.
    fn prefetch(&mut self, rows: &[Element]) {
        let Some(Some(DimensionIndex::Known(along))) = rows.first().map(|it| it.index.first()) else {
            return;
        };
        let along = self.words().affine(along).0;
        self.writer.indent();
        let line = |element: &Element| self.program.arrays[element.array].dtype.size_bytes();
        let step = 64 / rows.iter().map(line).max().unwrap_or(8).max(1);
        self.writer.line(format_args!(
            "for (int64_t {along} = 0; is_unit && {along} < run->I; {along} += {step}) {{"
        ));
        for row in rows {
            let element = self.words().element(row).0;
            self.writer.line(format_args!("  ISOBAR_FETCH({element});"));
        }
        self.writer.line("}");
        self.writer.dedent();
    }

    /// Variable, start, end, and the step from one iteration to the next.
    pub(super) fn bounds(&self, it: &Positions) -> (String, String, String, String) {
        let variable = self.words().symbol(&it.variable);
        let next = stepped(&variable, it.step);
        (variable, self.words().size(&it.start).0, self.words().size(&it.end).0, next)
    }
}

/// The increment of a loop variable: `++i` or `i += 8`.
fn stepped(variable: &str, step: i64) -> String {
    if step == 1 { format!("++{variable}") } else { format!("{variable} += {step}") }
}
