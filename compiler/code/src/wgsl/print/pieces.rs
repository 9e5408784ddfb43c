//! The body of a block: stages whose positions its threads share, loops around them, and barriers.

use std::collections::BTreeSet;

use super::super::binding::{ATOM, SUM, at_least};
use super::super::memory::{ArrayPlacement, written};
use super::{COMPONENTS, Printer};
use crate::braces::{self, Braces};
use crate::entity::Handle;
use crate::expr::Expr;
use crate::kernel::nodes::{BlockStep, Stage};
use crate::loops::nodes::{Array, Positions, Read};
use crate::space::Size;
use crate::space::order::is_at_most;

impl Printer<'_> {
    /// Writes the body of a block. The positions of the block come first; the last one is the fastest.
    pub(super) fn body(&mut self) {
        let kernel = self.at_hand();
        for (it, component) in kernel.grid.iter().rev().zip(COMPONENTS).rev() {
            let variable = self.symbol(&it.variable);
            let number = format!("i32(block_id.{component})");
            let distance = if it.step == 1 { number } else { format!("{} * {number}", it.step) };
            let text = match self.size(&it.start) {
                (start, _) if start == "0" => distance,
                start => format!("{} + {distance}", at_least(start, SUM)),
            };
            self.statement(&format!("let {variable} = {text};"));
        }
        self.pieces(&kernel.body);
    }

    pub(super) fn pieces(&mut self, pieces: &[BlockStep]) {
        pieces.iter().for_each(|it| self.piece(it));
    }

    pub(super) fn piece(&mut self, piece: &BlockStep) {
        match piece {
            BlockStep::Stage(it) => self.stage(it),
            BlockStep::Barrier => {
                // The first barrier makes writes to buffers visible, the second those to the block's memory.
                if self.shares_buffers() {
                    self.writer.line("storageBarrier();");
                }
                self.writer.line("workgroupBarrier();");
            }
            BlockStep::For { positions, is_descending, body, .. } => {
                self.in_loop(|own| own.for_line(positions, *is_descending), |own| own.pieces(body));
            }
            BlockStep::If { branches, otherwise } => {
                let arms = branches.iter().map(|it| (&it.condition, &it.origin, it.body.as_slice()));
                self.branches(arms, braces::otherwise(otherwise), Self::pieces);
            }
            BlockStep::Each(items) => self.items(items),
            BlockStep::Once(items) => {
                let is_first = self.at_hand().threads.iter();
                let is_first = is_first.map(|it| format!("{} == 0", self.names.thread_along(it.axis)));
                let is_first: Vec<String> = is_first.collect();
                self.once(&is_first, |own| own.items(items));
            }
        }
    }

    /// Whether threads of a block may read in a buffer what others of it wrote there.
    pub(super) fn shares_buffers(&self) -> bool {
        let kernel = self.at_hand();
        let is_shared = |at: &Handle<Array>| {
            matches!(self.lives.get(*at), Some(ArrayPlacement::Global | ArrayPlacement::OfBlocks))
        };
        let mut read = BTreeSet::new();
        let mut note = |expr: &Expr<Read>| {
            expr.accesses(&mut |it| {
                if let Read::Element(it) = it {
                    read.insert(it.array);
                }
            });
        };
        kernel.walk(&mut |item| item.each_expr(&mut note));
        kernel.each_condition(&mut note);
        written([kernel]).iter().any(|it| is_shared(it) && read.contains(it))
    }

    /// Positions, each on its thread.
    pub(super) fn stage(&mut self, stage: &Stage) {
        self.open("stage", []);
        let kernel = self.at_hand();
        let beside: Vec<String> = kernel
            .threads
            .iter()
            .filter(|it| stage.positions.iter().all(|(axis, _)| *axis != it.axis))
            .map(|it| format!("{} == 0", self.names.thread_along(it.axis)))
            .collect();
        let mut n_open = 0;
        if !beside.is_empty() {
            self.writer.line(format_args!("if {} {{", beside.join(" && ")));
            self.writer.indent();
            n_open += 1;
        } else {
            // Positions of other stages have the same names.
            self.writer.line("{");
            self.writer.indent();
            n_open += 1;
        }
        for (axis, positions) in &stage.positions {
            let Some(threads) = kernel.threads.iter().find(|it| it.axis == *axis) else { continue };
            let variable = self.symbol(&positions.variable);
            let (start, end) = (self.size(&positions.start), self.size(&positions.end).0);
            let thread = self.names.thread_along(*axis).to_owned();
            let (step, count) = (positions.step, i64::from(threads.count));
            let is_at_base = matches!(&positions.start, Size::Affine(it) if *it == threads.base);
            let times = if step == 1 { thread.clone() } else { format!("{step} * {thread}") };
            let first = match () {
                () if count == 1 => start.0,
                () if is_at_base && start.0 == "0" => times,
                () if is_at_base => format!("{} + {times}", at_least(start, SUM)),
                () => {
                    self.wording.needs.names.insert("first_position".to_owned());
                    let base = self.affine(&threads.base).0;
                    format!("first_position({}, {base}, {step}, {count}, {thread})", start.0)
                }
            };
            let stride = step * count;
            // At most one for each thread.
            if is_at_most(&positions.end, &positions.start.moved(stride)) {
                self.statement(&format!("let {variable} = {first};"));
                self.statement(&format!("if {variable} < {end} {{"));
            } else {
                let next =
                    if stride == 1 { format!("{variable}++") } else { format!("{variable} += {stride}") };
                self.statement(&format!("for (var {variable} = {first}; {variable} < {end}; {next}) {{"));
            }
            self.writer.indent();
            n_open += 1;
        }
        self.items(&stage.items);
        for _ in 0..n_open {
            self.writer.dedent();
            self.writer.line("}");
        }
        self.writer.close();
    }

    pub(super) fn for_line(&mut self, it: &Positions, is_descending: bool) {
        let variable = self.symbol(&it.variable);
        let (start, end) = (self.size(&it.start), self.size(&it.end));
        let line = match (is_descending, it.step) {
            (false, step) => {
                let next = if step == 1 { format!("{variable}++") } else { format!("{variable} += {step}") };
                format!("for (var {variable} = {}; {variable} < {}; {next}) {{", start.0, end.0)
            }
            (true, 1) => {
                let end = at_least(end, SUM);
                format!("for (var {variable} = {end} - 1; {variable} >= {}; {variable}--) {{", start.0)
            }
            (true, step) => {
                // Without a position it starts below its start: the quotient is that of whole steps.
                let (start, end) = (at_least(start, ATOM), at_least(end, ATOM));
                format!(
                    "for (var {variable} = {start} + select((({end} - {start} - 1) / {step}) * {step}, -{step}, \
                     {end} <= {start}); {variable} >= {start}; {variable} -= {step}) {{"
                )
            }
        };
        self.statement(&line);
    }
}
