//! Strip-mined loops: loops over the points of a strip, one behind the other.
//!
//! A `while` of all points of a strip goes on as long as one of them does; those that have ended keep what they have.

use std::collections::BTreeSet;

use super::print::File;
use crate::braces::Braces;
use crate::loops::nodes::{BranchOfStrip, Item, StripPart, Strips, Target, Trap, WhileOfStrip};
use crate::space::{Affine, Symbol};

/// Data common to the loops over the points of a strip.
#[derive(Clone, Copy)]
struct StripContext<'t> {
    variable: &'t str,
    /// The head of such a loop.
    points: &'t str,
    width: u32,
}

impl File<'_> {
    /// Writes a loop in strips.
    pub(super) fn strips(&mut self, it: &Strips) {
        let width = it.width;
        let (variable, start, end, _) = self.bounds(&it.positions);
        self.open("loop", []);
        self.writer
            .line(format_args!("for (int64_t i_strip = {start}; i_strip < {end}; i_strip += {width}) {{"));
        self.writer.indent();
        self.writer.line(format_args!(
            "const int64_t i_end = {end} - i_strip < {width} ? {end} : i_strip + {width};"
        ));
        for &local in &it.kept {
            let declared = self.local_array(local, width);
            self.writer.line(declared);
        }
        if it.parts.iter().any(|it| matches!(it, StripPart::While(_))) {
            self.writer.line(format_args!("int64_t goes_on[{width}];"));
        }
        self.lanes = it.kept.iter().copied().collect();
        let points = format!("for (int64_t {variable} = i_strip; {variable} < i_end; ++{variable}) {{");
        let of_strip = StripContext { variable: &variable, points: &points, width };
        it.parts.iter().for_each(|it| self.part(it, of_strip, None));
        self.lanes = BTreeSet::new();
        self.writer.dedent();
        self.writer.line("}");
        self.writer.close();
    }

    /// A part of a strip, in an arm of so many branches with this number.
    fn part(&mut self, part: &StripPart, of_strip: StripContext<'_>, arm: Option<(usize, usize)>) {
        let StripContext { variable, points, .. } = of_strip;
        match part {
            StripPart::While(it) => self.while_of_strip(it, variable, points),
            StripPart::Branch(it) => self.branch_of_strip(it, of_strip, arm),
            StripPart::Lanes(items) => {
                self.writer.line("#pragma omp simd");
                self.lane_loop(variable, points, |this| {
                    this.is_in_lanes = arm.is_none();
                    if let Some((depth, number)) = arm {
                        this.statement(&format!("if (arm_{depth}[lane] == {number}) {{"));
                        this.block(items);
                        this.writer.line("}");
                    } else {
                        this.items(items);
                    }
                    this.is_in_lanes = false;
                });
            }
        }
    }

    /// Each arm for the points that take it, where there are such. Arms are numbered from 1; 0 is none.
    fn branch_of_strip(
        &mut self,
        it: &BranchOfStrip,
        of_strip: StripContext<'_>,
        outer: Option<(usize, usize)>,
    ) {
        let StripContext { variable, points, width } = of_strip;
        let depth = outer.map_or(1, |(depth, _)| depth + 1);
        self.open("branch", it.arms.iter().map(|it| &it.origin));
        self.writer.line("{");
        self.writer.indent();
        self.writer.line(format_args!("int64_t arm_{depth}[{width}];"));
        self.writer.line(format_args!("uint64_t arms_{depth} = 0;"));
        self.writer.line(format_args!("#pragma omp simd reduction(| : arms_{depth})"));
        let last = if it.otherwise.is_empty() { 0 } else { it.arms.len() + 1 };
        let mut taken = String::new();
        for (at, arm) in it.arms.iter().enumerate() {
            taken.push_str(&format!("{} ? {} : ", self.text(&arm.condition), at + 1));
        }
        taken.push_str(&last.to_string());
        if let Some((depth, number)) = outer {
            taken = format!("arm_{depth}[lane] == {number} ? ({taken}) : 0");
        }
        self.lane_loop(variable, points, |this| {
            this.statement(&format!("arm_{depth}[lane] = {taken};"));
            this.writer.line(format_args!("arms_{depth} |= (uint64_t)1 << arm_{depth}[lane];"));
        });
        for (at, parts) in it.arms().enumerate().filter(|(_, parts)| !parts.is_empty()) {
            let number = at + 1;
            self.writer.line(format_args!("if ((arms_{depth} >> {number} & 1) != 0) {{"));
            self.writer.indent();
            parts.iter().for_each(|it| self.part(it, of_strip, Some((depth, number))));
            self.writer.dedent();
            self.writer.line("}");
        }
        self.writer.dedent();
        self.writer.line("}");
        self.writer.close();
    }

    fn lane_loop(&mut self, variable: &str, points: &str, body: impl FnOnce(&mut Self)) {
        self.writer.line(points);
        self.writer.indent();
        self.writer.line(format_args!("const int64_t lane = {variable} - i_strip;"));
        self.writer.line("(void)lane;");
        body(self);
        self.writer.dedent();
        self.writer.line("}");
    }

    /// Iterations of all points of a strip, as long as some go on.
    fn while_of_strip(&mut self, it: &WhileOfStrip, variable: &str, points: &str) {
        self.open("while", [&it.origin]);
        let (counter, limit) = (self.program.integers[it.counter].name.clone(), self.options.max_turns);
        let done = self.done_of_strip(&it.trap, variable);
        self.writer.line(format_args!("for (uint64_t {counter} = {done};; ++{counter}) {{"));
        self.writer.indent();
        self.writer.line("int64_t some_go_on = 0;");
        self.writer.line("#pragma omp simd reduction(| : some_go_on)");
        let condition = self.text(&it.condition);
        self.lane_loop(variable, points, |this| {
            this.statement(&format!("goes_on[lane] = {condition};"));
            this.writer.line("some_go_on |= goes_on[lane];");
        });
        self.writer.line("if (some_go_on == 0) break;");
        self.writer.line(format_args!("if ({counter} == {limit}u) {{"));
        self.writer.indent();
        let raise = self.raise(&it.trap);
        self.writer.line(points);
        self.writer.line(format_args!("  if (goes_on[{variable} - i_strip] != 0) {raise}"));
        self.writer.line("}");
        self.writer.line("break;");
        self.writer.dedent();
        self.writer.line("}");
        for part in &it.parts {
            self.writer.line("#pragma omp simd");
            self.lane_loop(variable, points, |this| this.iteration(part));
        }
        self.writer.dedent();
        self.writer.line("}");
        self.writer.close();
    }

    /// How many iterations count as done for all of a strip: those of its first point, which comes before the others.
    fn done_of_strip(&self, trap: &Trap, variable: &str) -> String {
        let variable = Symbol::new(variable);
        let factors =
            [&trap.turn, &trap.cell[0], &trap.cell[1], &trap.cell[2]].map(|it| it.factor(&variable));
        if factors != [0, 1, 0, 0] {
            return "0".to_owned();
        }
        let first = Affine::symbol(&Symbol::new("i_strip"));
        let mut of_first = trap.clone();
        of_first.cell[0] = trap.cell[0].substituted(&variable, &first);
        self.done(&of_first)
    }

    /// One iteration at one point, which keeps what it has where it has ended.
    fn iteration(&mut self, items: &[Item]) {
        for item in items {
            match item {
                Item::Assign(it) => {
                    let target = self.target(&it.target);
                    let value = self.text(&it.value);
                    let is_own = matches!(&it.target, Target::Local(local) if !self.lanes.contains(local));
                    self.open("assignment", [&it.origin]);
                    if is_own {
                        self.statement(&format!("{target} = {value};"));
                    } else {
                        self.statement(&format!("{target} = goes_on[lane] != 0 ? ({value}) : {target};"));
                    }
                    self.writer.close();
                }
                Item::If(it) => {
                    self.open("branch", it.branches.iter().map(|it| &it.origin));
                    for (at, branch) in it.branches.iter().enumerate() {
                        let condition = self.text(&branch.condition);
                        let keyword = if at == 0 { "if" } else { "} else if" };
                        self.statement(&format!("{keyword} ({condition}) {{"));
                        self.writer.indent();
                        self.iteration(&branch.body);
                        self.writer.dedent();
                    }
                    if !it.otherwise.is_empty() {
                        self.writer.line("} else {");
                        self.writer.indent();
                        self.iteration(&it.otherwise);
                        self.writer.dedent();
                    }
                    self.writer.line("}");
                    self.writer.close();
                }
                Item::Declare(_)
                | Item::Checked(_)
                | Item::For(_)
                | Item::Strips(_)
                | Item::Launch(_)
                | Item::While(_)
                | Item::Barrier => self.item(item),
            }
        }
    }
}
