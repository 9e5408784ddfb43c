//! The statements of a thread at a position.

use super::super::binding::{ATOM, SUM, at_least, called};
use super::{Param, Printer};
use crate::braces::{self, Braces};
use crate::call::run::MAX_ITERATIONS;
use crate::loops::nodes::{Assign, BoundsCheck, Declare, Index, Item, Target, While};
use crate::space::Axis;
use crate::types::DType;

/// The turns of a `while` that a statement inside has ended.
const STOPPED: &str = "0xffffffffu";

impl Printer<'_> {
    pub(super) fn items(&mut self, items: &[Item]) {
        items.iter().for_each(|it| self.item(it));
    }

    pub(super) fn block(&mut self, items: &[Item]) {
        self.writer.indent();
        self.items(items);
        self.writer.dedent();
    }

    pub(super) fn item(&mut self, item: &Item) {
        match item {
            Item::Assign(Assign { target, value, origin }) => {
                self.open("assignment", [origin]);
                let value = self.expr(value);
                let text = match target {
                    Target::Element(it) => {
                        let dtype = self.kernels.program.arrays[it.array].dtype;
                        let value = self.wording.stored(value, dtype);
                        format!("{} = {value};", self.element(it))
                    }
                    Target::Local(local) => format!("{} = {};", self.names.locals[*local], value.0),
                };
                self.statement(&text);
                self.writer.close();
            }
            Item::Declare(Declare { local, value, is_const }) => {
                let dtype = self.kernels.program.locals[*local].dtype;
                let (name, of) = (self.names.locals[*local].clone(), self.options.value_type(dtype));
                match value {
                    Some((value, origin)) => {
                        self.open("assignment", [origin]);
                        let value = self.expr(value).0;
                        let keyword = if *is_const { "let" } else { "var" };
                        self.statement(&format!("{keyword} {name}: {of} = {value};"));
                        self.writer.close();
                    }
                    None => self.writer.line(format_args!("var {name}: {of};")),
                }
            }
            Item::Checked(it) => self.checked(it),
            Item::For(it) => {
                self.in_loop(|own| own.for_line(&it.positions, it.is_descending), |own| own.items(&it.body));
            }
            Item::If(it) => {
                self.branches(braces::arms(it), braces::otherwise(&it.otherwise), Self::items);
            }
            Item::While(it) => self.repeat(it),
            Item::Barrier | Item::Launch(_) | Item::Strips(_) => {
                debug_assert!(false, "a validator refuses it");
            }
        }
    }

    pub(super) fn checked(&mut self, it: &BoundsCheck) {
        self.open("check", [&it.origin]);
        let mut outside = Vec::new();
        for Index { integer, value, size } in &it.indices {
            let name = self.names.integers[*integer].clone();
            let text = self.expr(value);
            let index = match value.dtype {
                DType::Int64 => {
                    self.wording.needs.names.insert("index_of_i64".to_owned());
                    called("index_of_i64", [text]).0
                }
                dtype => self.wording.cast(text, dtype, DType::Int32).0,
            };
            self.statement(&format!("let {name} = {index};"));
            let size = at_least(self.size(size), SUM);
            outside.push(format!("{name} < 0 || {name} >= {size}"));
        }
        self.statement(&format!("if {} {{", outside.join(" || ")));
        self.writer.indent();
        self.end_at();
        if let Some(counter) = self.turns.last().filter(|_| it.is_in_while) {
            self.writer.line(format_args!("{counter} = {STOPPED};"));
            self.writer.line("break;");
        }
        self.writer.dedent();
        if !it.body.is_empty() {
            self.writer.line("} else {");
            self.block(&it.body);
        }
        self.writer.line("}");
        self.writer.close();
    }

    /// Writes a `while`. Some devices end a loop after a number of iterations of their own, and report
    /// nothing. So the text tests behind the loop whether it would go on.
    pub(super) fn repeat(&mut self, it: &While) {
        self.open("while", [&it.origin]);
        let counter = self.names.integers[it.counter].clone();
        let condition = self.expr(&it.condition);
        self.writer.line("{");
        self.writer.indent();
        self.writer.line(format_args!("var {counter} = 0u;"));
        self.statement(&format!("for (; {}; {counter}++) {{", condition.0));
        self.writer.indent();
        self.writer.line(format_args!("if {counter} == {MAX_ITERATIONS}u {{ break; }}"));
        let noted = self.noted();
        self.turns.push(counter.clone());
        self.items(&it.body);
        self.turns.pop();
        self.writer.dedent();
        self.writer.line("}");
        let condition = at_least(condition, ATOM);
        self.statement(&format!("if {counter} != {STOPPED} && {condition} {{"));
        self.writer.indent();
        self.statement(&noted);
        self.writer.dedent();
        self.writer.line("}");
        self.writer.dedent();
        self.writer.line("}");
        self.writer.close();
    }

    /// Notes that the run must end at the next place of the program, at the cell at hand.
    pub(super) fn end_at(&mut self) {
        let noted = self.noted();
        self.statement(&noted);
    }

    /// The same as a statement that stands elsewhere.
    pub(super) fn noted(&mut self) -> String {
        let slot = self.slot;
        self.slot += 1;
        let Some(place) = self.kernels.places.get(slot) else { return String::new() };
        let numbering = place.numbering(self.kernels.halo);
        let halo = numbering.halo;
        let [i, j, _] = numbering.cell;
        self.wording.needs.names.insert("end_at".to_owned());
        let (level, j, i) =
            (self.affine(&numbering.level).0, self.affine(&j.moved(halo)).0, self.affine(&i.moved(halo)).0);
        let [columns, rows] =
            [Axis::I, Axis::J].map(|axis| format!("{} + {}", self.takes(Param::Size(axis)), 2 * halo));
        format!("end_at({slot}u, {level}, {j}, {i}, {rows}, {columns});")
    }
}
