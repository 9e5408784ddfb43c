//! Columns that take turns together: a loop along a row whose points repeat something until each is done, or which is
//! [cut](super::cuts).
//!
//! Lanes of a vector unit do the same thing at the same time, so a `while` at each point keeps a loop out of them.
//! Here a row runs in strips of a few points: what stands before the `while` for all of them, then turns for as long as
//! some go on, in which those that are done keep what they have, then what stands behind. Every point sees the
//! same operations in the same order.

use std::collections::{BTreeMap, BTreeSet};

use super::cuts::{self, is_cut, parts};
use super::print::File;
use crate::expr::Expr;
use crate::loops::nodes::{Assign, Declare, For, Item, Read, Target, While, any};
use crate::space::Axis;

/// Points of a strip: several vectors, so that the latency of one is hidden behind others, and few enough that
/// points that are done do not wait long for the rest.
const WIDTH: u32 = 32;

/// Whether points of a loop may take part in a loop in strips, whatever they repeat.
pub(super) fn is_in_lanes(it: &For) -> bool {
    let is_plain = |items: &[Item]| {
        !any(items, &mut |it| {
            matches!(it, Item::While(_) | Item::Checked(_) | Item::For(_) | Item::Launch(_))
        })
    };
    it.axis == Axis::I
        && it.is_parallel
        && it.positions.step == 1
        && it.body.iter().all(|it| match it {
            Item::While(it) => is_plain(&it.body),
            item => is_plain(std::slice::from_ref(item)),
        })
}

/// Whether points of a loop repeat something.
pub(super) fn has_turns(it: &For) -> bool {
    it.body.iter().any(|it| matches!(it, Item::While(_)))
}

/// The locals of a loop in strips whose values go from one part of its body to another.
fn lanes_of(it: &For, is_cut: bool) -> BTreeSet<usize> {
    // What is declared before the loop is the same for all points.
    let mut own = BTreeSet::new();
    crate::loops::nodes::walk(&it.body, &mut |item| {
        if let Item::Declare(it) = item {
            own.insert(it.local);
        }
    });
    let mut lanes = Lanes::default();
    for items in parts(&it.body, is_cut) {
        match items {
            [Item::While(it)] => {
                // A condition is asked in a loop of its own, so what it shares with the body is kept too.
                it.condition.accesses(&mut |read| {
                    if let Read::Local(local) = read {
                        lanes.locals.insert(*local);
                    }
                });
                parts(&it.body, is_cut).for_each(|it| lanes.part(it));
            }
            items => lanes.part(items),
        }
    }
    lanes.locals.retain(|it| own.contains(it));
    lanes.locals
}

/// Which locals more than one part names.
#[derive(Default)]
struct Lanes {
    first_part: BTreeMap<usize, usize>,
    locals: BTreeSet<usize>,
    n_parts: usize,
}

impl Lanes {
    fn part(&mut self, items: &[Item]) {
        let Self { first_part, locals, n_parts } = self;
        *n_parts += 1;
        crate::loops::nodes::walk(items, &mut |item| {
            each_local(item, &mut |local| {
                if first_part.entry(local).or_insert(*n_parts) != n_parts {
                    locals.insert(local);
                }
            });
        });
    }
}

/// Calls `each` for the locals that an item itself reads, writes or declares.
fn each_local(item: &Item, each: &mut dyn FnMut(usize)) {
    item.each_expr(&mut |expr: &Expr<Read>| {
        expr.accesses(&mut |read| {
            if let Read::Local(local) = read {
                each(*local);
            }
        });
    });
    match item {
        Item::Assign(Assign { target: Target::Local(local), .. }) | Item::Declare(Declare { local, .. }) => {
            each(*local);
        }
        _ => {}
    }
}

impl File<'_> {
    /// Whether a loop runs in strips.
    pub(super) fn has_strips(&self, it: &For) -> bool {
        has_turns(it) && is_in_lanes(it) || self.cuts() && is_cut(it, &self.streamed)
    }

    fn cuts(&self) -> bool {
        cuts::pay(self.options.vector_bytes)
    }

    /// Writes a loop in strips.
    pub(super) fn strips(&mut self, it: &For) {
        let lanes = lanes_of(it, self.cuts());
        let (variable, start, end, _) = self.bounds(&it.positions);
        self.open("loop", []);
        self.writer
            .line(format_args!("for (int64_t i_strip = {start}; i_strip < {end}; i_strip += {WIDTH}) {{"));
        self.writer.indent();
        self.writer.line(format_args!(
            "const int64_t i_end = {end} - i_strip < {WIDTH} ? {end} : i_strip + {WIDTH};"
        ));
        for &local in &lanes {
            let declared = self.local_array(local, WIDTH);
            self.writer.line(declared);
        }
        if has_turns(it) {
            self.writer.line(format_args!("int64_t goes_on[{WIDTH}];"));
        }
        self.lanes = lanes;
        let points = format!("for (int64_t {variable} = i_strip; {variable} < i_end; ++{variable}) {{");
        for part in parts(&it.body, self.cuts()) {
            match part {
                [Item::While(turns)] => self.turns(turns, &variable, &points),
                items => {
                    self.writer.line("#pragma omp simd");
                    self.lane_loop(&variable, &points, |this| this.items(items));
                }
            }
        }
        self.lanes = BTreeSet::new();
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

    /// Turns of all points of a strip, for as long as some go on.
    fn turns(&mut self, it: &While, variable: &str, points: &str) {
        self.open("while", [&it.origin]);
        let (counter, limit) = (self.program.integers[it.counter].clone(), self.options.max_turns);
        self.writer.line(format_args!("for (uint64_t {counter} = 0;; ++{counter}) {{"));
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
        for part in parts(&it.body, self.cuts()) {
            self.writer.line("#pragma omp simd");
            self.lane_loop(variable, points, |this| this.turn(part));
        }
        self.writer.dedent();
        self.writer.line("}");
        self.writer.close();
    }

    /// One turn at one point, which keeps what it has where it is done.
    fn turn(&mut self, items: &[Item]) {
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
                        self.turn(&branch.body);
                        self.writer.dedent();
                    }
                    if !it.otherwise.is_empty() {
                        self.writer.line("} else {");
                        self.writer.indent();
                        self.turn(&it.otherwise);
                        self.writer.dedent();
                    }
                    self.writer.line("}");
                    self.writer.close();
                }
                Item::Declare(_) | Item::Checked(_) | Item::For(_) | Item::Launch(_) | Item::While(_) => {
                    self.item(item)
                }
            }
        }
    }
}
