//! A program as text.
//!
//! The decisions of passes stand where they hold. Some are behind the bounds of a loop, others in lines of
//! their own at the start of its body. [`parse`](super::parse) reads the text back, so a test of a pass goes
//! from text to text.
//!
//! # Names
//!
//! The first lines tell what statements name:
//!
//! ```text
//! program s(a, b, dt)                  the arguments, in the order of the call
//! stream from 16777216 bytes           rows are stored past the caches from so many bytes of all fields on
//! blocks from 8 points                 loops in blocks need so many points along I
//! long text                            a compiler takes long for it
//! text in 5 parts                      it can be compiled in so many parts at the same time
//! field a: float64[I + 2, J, K] shift [1, 0, 0] along IJK given read
//! scalar dt: float64
//! temporary t: float64[I] shift [0] along I packed private keeping 2 in dimension 0 per thread rows from 7
//! symbol __a_K_above = levels above a  what a symbol stands for beside sizes and positions
//! integer n                            found at run time
//! local x: float64                     one that no statement declares yet
//! ```
//!
//! A shape has one size for each dimension, in points; the axes come first, then dimensions of data. An index
//! is a position plus the shift. `given` and `packed` tell where strides come from. `for q` at the end of an
//! array is its name in the stencil, where code has another name. `as shared` and `over b` tell where on a
//! GPU an array lives. `of grid` and `of block` tell which loop around has one for each iteration.
//!
//! # Statements
//!
//! An index is a position in the compute domain. In an array that a thread has for itself, it counts from the
//! start of that array.
//!
//! ```text
//! function step_1_at(k) of step 1:     with the positions that it gets
//!   let x: float64                     a declaration; `const` where it is assigned once
//!   a[i + 1, j, k] = x * int[k]        `int[..]` is an integer made of symbols
//!   find n in [0, K) = m[i, j]         an index of run time, and what it has to be less than
//!   check stop at [i, j, k] in sweep 0 turn k of 3:
//!     a[i, j, {n}] = 0.0               runs where all that is found exists; else the run ends
//!   while x > 0.0:
//!     turns t stop at [i, j, k] in sweep 0 turn k of 4
//!   barrier                            threads of a GPU's block wait for each other
//!   launch step_1_at(k):               calls a function for positions in parallel
//!     over j in [0, J) step 32
//! step step_1 on all threads may stop in sweep 0
//! ```
//!
//! The cell stands behind `stop at`. Several places may end a run; the cell, the sweep, the turn in it, and
//! the number of the outermost statement order them. So the first of them is where the stencil would have
//! ended.
//!
//! # What passes decide
//!
//! ```text
//! for k in [K - 1, K) ascending once:  a block and no loop, since there is one position at most
//! for i in [0, I) parallel simd masked overlapping split in blocks of 8:
//!   prefetch a[i, j + 6, k]
//!   stream b[i, j, k] through a row of 672 elements
//! if a[i, j, k] > 0.0:
//!   skip where no lane takes it        all lanes pass over this arm together
//!   skip the others where no lane takes them
//! strips of 32 i in [0, I) keeping x: float64:
//!   lanes:                             for all iterations of a strip, before the next part begins
//! ```

use std::fmt::{self, Display};

use itertools::Itertools;

use super::nodes::{
    Array, ArrayKind, BoundsCheck, Decisions, Declare, DimensionIndex, Element, For, Function, GpuAxis,
    GpuMemory, If, Integer, Item, Lanes, Launch, Positions, Program, Read, RowBuffer, Step, Storage, Stores,
    Strides, StripPart, Strips, SymbolMeaning, Target, Trap, While,
};
use super::visit::{declared, symbols};
use crate::diag::{Listing, ListingWriter, Origin};
use crate::entity::Handle;
use crate::expr::Expr;
use crate::expr::parse::spelled;
use crate::expr::print::text_in_loops;
use crate::space::{Affine, Ring};

/// The whole program: what it names, its functions, its steps; [`parse`](super::parse) reads it back.
#[must_use]
pub fn listing(program: &Program) -> Listing {
    let mut printer = Printer::of(program);
    printer.writer.open("program", "program", []);
    printer.names();
    for function in program.functions.values() {
        printer.writer.line("");
        printer.function(function);
    }
    printer.writer.line("");
    program.steps.iter().for_each(|it| printer.step(it));
    printer.writer.close();
    printer.writer.finish()
}

/// The line at the start of an arm that all lanes pass over together.
pub(super) const SKIP_ARM: &str = "skip where no lane takes it";

/// The line at the start of an arm, where all lanes pass over the others behind it together.
pub(super) const SKIP_OTHERS: &str = "skip the others where no lane takes them";

/// The word before an integer that is made of symbols; no variable has that name.
pub(super) const SUM: &str = "int";

/// Writes a program, and what other levels make of its statements.
pub(crate) struct Printer<'a> {
    program: &'a Program,
    writer: ListingWriter,
    n_nodes: usize,
}

impl<'a> Printer<'a> {
    /// With nothing written yet.
    pub(crate) fn of(program: &'a Program) -> Self {
        Self { program, writer: ListingWriter::new(), n_nodes: 0 }
    }

    /// The text.
    pub(crate) fn finish(self) -> Listing {
        self.writer.finish()
    }
}

impl Printer<'_> {
    pub(crate) fn close(&mut self) {
        self.writer.close();
    }

    pub(crate) fn line(&mut self, text: &str) {
        self.writer.line(text);
    }

    pub(crate) fn indented(&mut self, write: impl FnOnce(&mut Self)) {
        self.writer.indent();
        write(self);
        self.writer.dedent();
    }

    pub(crate) fn open<'o>(&mut self, kind: &'static str, origins: impl IntoIterator<Item = &'o Origin>) {
        self.n_nodes += 1;
        self.writer.open(format!("n{}", self.n_nodes), kind, origins);
    }

    /// Everything that statements name and no statement declares.
    pub(crate) fn names(&mut self) {
        let program = self.program;
        let arguments = program.arguments.iter().map(|&it| name_of(&program.arrays[it])).join(", ");
        self.writer.line(format_args!("program {}({arguments})", program.name));
        if let Some(bytes) = program.decisions.stream_from() {
            self.writer.line(format_args!("stream from {bytes} bytes"));
        }
        if program.decisions.least_points() != 0 {
            self.writer.line(format_args!("blocks from {} points", program.decisions.least_points()));
        }
        if program.decisions.is_long() {
            self.writer.line("long text");
        }
        if program.decisions.n_parts() > 1 {
            self.writer.line(format_args!("text in {} parts", program.decisions.n_parts()));
        }
        for (at, _) in program.arrays.iter().filter(|(_, it)| it.name.is_some()) {
            self.writer.line(declaration(program, at));
        }
        let used = symbols(program);
        for (symbol, meaning) in program.symbols.iter().filter(|(it, _)| used.contains(it)) {
            match meaning {
                SymbolMeaning::Size(_) => {}
                SymbolMeaning::Levels { array, side } => {
                    let array = name_of(&program.arrays[*array]);
                    self.writer.line(format_args!("symbol {symbol} = levels {} {array}", side.name()));
                }
                SymbolMeaning::Position(name) if name == symbol.name() => {}
                SymbolMeaning::Position(name) => {
                    self.writer.line(format_args!("symbol {symbol} = position {name}"))
                }
            }
        }
        program
            .integers
            .values()
            .for_each(|it| self.writer.line(format_args!("integer {}", spelled(&it.name))));
        let declared = declared(program);
        for (_, it) in program.locals.iter().filter(|(it, _)| !declared.contains(it)) {
            self.writer.line(format_args!("local {}: {}", spelled(&it.name), it.dtype));
        }
    }

    fn function(&mut self, it: &Function) {
        let Function { name, step, positions, body } = it;
        self.open("function", []);
        self.writer.line(format_args!("function {name}({}) of step {step}:", positions.iter().join(", ")));
        self.block(body);
        self.writer.close();
    }

    fn step(&mut self, it: &Step) {
        let Step { function, is_spread, ending } = it;
        self.open("step", []);
        let spread = if *is_spread { " on all threads" } else { "" };
        let ending = match ending.is_empty() {
            true => String::new(),
            false => format!(" may stop in sweep {}", ending.iter().join(", ")),
        };
        self.writer.line(format_args!("step {}{spread}{ending}", self.program.functions[*function].name));
        self.writer.close();
    }

    pub(crate) fn block(&mut self, items: &[Item]) {
        self.writer.indent();
        items.iter().for_each(|it| self.item(it));
        self.writer.dedent();
    }

    fn item(&mut self, item: &Item) {
        match item {
            Item::Assign(it) => {
                self.open("assign", [&it.origin]);
                let (target, value) = (self.target(&it.target), self.expression(&it.value));
                self.writer.line(format_args!("{target} = {value}"));
            }
            Item::Declare(it) => self.declare(it),
            Item::Checked(it) => self.checked(it),
            Item::For(it) => self.for_loop(it),
            Item::Strips(it) => self.strips(it),
            Item::Launch(it) => self.launch(it),
            Item::If(it) => self.branches(it),
            Item::While(it) => {
                self.open("while", [&it.origin]);
                let While { condition, trap, counter, body, .. } = it;
                self.turns(condition, trap, *counter);
                self.block(body);
            }
            Item::Barrier => {
                self.open("barrier", []);
                self.writer.line("barrier");
            }
        }
        self.writer.close();
    }

    fn declare(&mut self, it: &Declare) {
        self.open("declare", it.value.iter().map(|(_, origin)| origin));
        let local = &self.program.locals[it.local];
        let word = if it.is_const { "const" } else { "let" };
        let named = format!("{word} {}: {}", spelled(&local.name), local.dtype);
        match &it.value {
            None => self.writer.line(named),
            Some((value, _)) => self.writer.line(format_args!("{named} = {}", self.expression(value))),
        }
    }

    fn checked(&mut self, it: &BoundsCheck) {
        self.open("check", [&it.origin]);
        for index in &it.indices {
            let integer = spelled(&self.program.integers[index.integer].name);
            self.writer.line(format_args!(
                "find {integer} in [0, {}) = {}",
                index.size,
                self.expression(&index.value)
            ));
        }
        let within = if it.is_in_while { "check in while " } else { "check " };
        self.writer.line(format_args!("{within}{}:", stop(&it.trap)));
        self.block(&it.body);
    }

    fn for_loop(&mut self, it: &For) {
        self.open("loop", []);
        let decisions = &self.program.decisions;
        let marks = marks(it, decisions);
        self.writer.line(format_args!("for {} {marks}:", positions(&it.positions)));
        self.writer.indent();
        let prefetched = decisions.prefetched(it.id);
        if !prefetched.is_empty() {
            let rows = prefetched.iter().map(|it| self.element(it)).join(", ");
            self.writer.line(format_args!("prefetch {rows}"));
        }
        if let Some(Stores { rows, buffer }) = decisions.stores(it.id) {
            let rows = rows.iter().map(|it| self.element(it)).join(", ");
            let buffer = match buffer {
                RowBuffer::Row { elements } => format!("a row of {elements} elements"),
                RowBuffer::Registers { bytes } => format!("registers of {bytes} bytes"),
            };
            self.writer.line(format_args!("stream {rows} through {buffer}"));
        }
        self.writer.dedent();
        self.block(&it.body);
    }

    fn strips(&mut self, it: &Strips) {
        self.open("strips", []);
        let kept = it.kept.iter().map(|&it| {
            let local = &self.program.locals[it];
            format!("{}: {}", spelled(&local.name), local.dtype)
        });
        let kept = match it.kept.is_empty() {
            true => String::new(),
            false => format!(" keeping {}", kept.format(", ")),
        };
        self.writer.line(format_args!("strips of {} {}{kept}:", it.width, positions(&it.positions)));
        self.writer.indent();
        it.parts.iter().for_each(|it| self.part(it));
        self.writer.dedent();
    }

    fn part(&mut self, part: &StripPart) {
        match part {
            StripPart::Lanes(items) => self.lanes(items),
            StripPart::While(it) => {
                self.open("while", [&it.origin]);
                self.turns(&it.condition, &it.trap, it.counter);
                self.writer.indent();
                it.parts.iter().for_each(|it| self.lanes(it));
                self.writer.dedent();
                self.writer.close();
            }
            StripPart::Branch(it) => {
                self.open("branch", it.arms.iter().map(|it| &it.origin));
                for (at, arm) in it.arms.iter().enumerate() {
                    let word = if at == 0 { "if" } else { "elif" };
                    self.writer.line(format_args!("{word} {}:", self.expression(&arm.condition)));
                    self.parts(&arm.parts);
                }
                if !it.otherwise.is_empty() {
                    self.writer.line("else:");
                    self.parts(&it.otherwise);
                }
                self.writer.close();
            }
        }
    }

    fn parts(&mut self, parts: &[StripPart]) {
        self.writer.indent();
        parts.iter().for_each(|it| self.part(it));
        self.writer.dedent();
    }

    fn lanes(&mut self, items: &[Item]) {
        self.writer.line("lanes:");
        self.block(items);
    }

    fn turns(&mut self, condition: &Expr<Read>, trap: &Trap, counter: Handle<Integer>) {
        self.writer.line(format_args!("while {}:", self.expression(condition)));
        let counter = spelled(&self.program.integers[counter].name);
        self.writer.indented(|it| it.line(format_args!("turns {counter} {}", stop(trap))));
    }

    fn launch(&mut self, it: &Launch) {
        self.open("launch", []);
        let name = &self.program.functions[it.function].name;
        let outer = it.outer.iter().join(", ");
        self.writer.line(format_args!("launch {name}({outer}):"));
        self.writer.indent();
        it.positions.iter().for_each(|it| self.writer.line(format_args!("over {}", positions(it))));
        self.writer.dedent();
    }

    fn branches(&mut self, it: &If) {
        self.open("if", it.branches.iter().map(|it| &it.origin));
        for (at, branch) in it.branches.iter().enumerate() {
            let keyword = if at == 0 { "if" } else { "elif" };
            self.writer.line(format_args!("{keyword} {}:", self.expression(&branch.condition)));
            if let Some(skipped) = self.program.decisions.skipped(it.id) {
                let lines = [
                    skipped.arms.contains(&at).then_some(SKIP_ARM),
                    skipped.others.contains(&at).then_some(SKIP_OTHERS),
                ];
                self.writer.indented(|writer| lines.into_iter().flatten().for_each(|it| writer.line(it)));
            }
            self.block(&branch.body);
        }
        if !it.otherwise.is_empty() {
            self.writer.line("else:");
            self.block(&it.otherwise);
        }
    }

    pub(crate) fn expression(&self, expr: &Expr<Read>) -> String {
        text_in_loops(expr, &|it, f| self.read(it, f)).to_string()
    }

    fn read(&self, it: &Read, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match it {
            Read::Element(it) => self.element(it).fmt(f),
            Read::Local(it) => spelled(&self.program.locals[*it].name).fmt(f),
            Read::Sum(sum) => write!(f, "{SUM}[{sum}]"),
        }
    }

    fn target(&self, it: &Target) -> String {
        match it {
            Target::Element(it) => self.element(it),
            Target::Local(it) => spelled(&self.program.locals[*it].name).to_string(),
        }
    }

    fn element(&self, it: &Element) -> String {
        let name = spelled(name_of(&self.program.arrays[it.array]));
        if it.index.is_empty() {
            return name.to_string();
        }
        let index = it.index.iter().map(|at| match at {
            DimensionIndex::Known(sum) => sum.to_string(),
            DimensionIndex::Found { integer, shift } => {
                let integer = spelled(&self.program.integers[*integer].name);
                let known = &Affine::default() - shift;
                match known == Affine::default() {
                    true => format!("{{{integer}}}"),
                    false => format!("{known} + {{{integer}}}"),
                }
            }
        });
        format!("{name}[{}]", index.format(", "))
    }
}

/// Returns the name of an array in code; nothing names an array that has none.
fn name_of(array: &Array) -> &str {
    array.name.as_deref().unwrap_or_default()
}

/// `field q: float64[I + 1, J] shift [1, 0] along IJ given read`, and what passes decided about it.
fn declaration(program: &Program, at: Handle<Array>) -> String {
    let array = &program.arrays[at];
    let Array { dtype, axes, shape, shift, strides, storage, ring, .. } = array;
    let name = spelled(name_of(array));
    let kind = match array.kind {
        ArrayKind::Field { .. } => "field",
        ArrayKind::Scalar => "scalar",
        ArrayKind::Temporary => "temporary",
    };
    let mut text = format!("{kind} {name}: {dtype}");
    if !shape.is_empty() {
        text.push_str(&format!(
            "[{}] shift [{}] along {}",
            shape.iter().format(", "),
            shift.iter().format(", "),
            if axes.is_empty() { "none".to_owned() } else { axes.to_string() },
        ));
        text.push_str(match strides {
            Strides::Given => " given",
            Strides::Packed => " packed",
        });
    }
    match (array.kind, storage) {
        (ArrayKind::Field { is_read, is_written }, _) => text.push_str(match (is_read, is_written) {
            (true, true) => " read-write",
            (true, false) => " read",
            (false, true) => " write",
            (false, false) => " unused",
        }),
        (_, Storage::Caller) => {}
        (_, Storage::Heap) => text.push_str(" heap"),
        (_, Storage::Private) => text.push_str(" private"),
        (_, Storage::Register) => text.push_str(" register"),
    }
    if let Some(Ring { dimension, places }) = ring {
        text.push_str(&format!(" keeping {places} in dimension {dimension}"));
    }
    match array.place {
        None => {}
        Some(GpuMemory::Register) => text.push_str(" as register"),
        Some(GpuMemory::Shared) => text.push_str(" as shared"),
        Some(GpuMemory::Scratch) => text.push_str(" as scratch"),
        Some(GpuMemory::Over(output)) => {
            text.push_str(&format!(" over {}", spelled(name_of(&program.arrays[output]))));
        }
    }
    match array.owner {
        None => {}
        Some(GpuAxis::Grid) => text.push_str(" of grid"),
        Some(GpuAxis::Block) => text.push_str(" of block"),
    }
    if array.is_per_thread {
        text.push_str(" per thread");
    }
    let row_start = program.decisions.row_start(at);
    if row_start != 0 {
        text.push_str(&format!(" rows from {row_start}"));
    }
    if program.decisions.is_streamed(at) {
        text.push_str(" streamed");
    }
    if array.stencil_name != name_of(array) {
        text.push_str(&format!(" for {}", array.stencil_name));
    }
    text
}

/// `i in [0, I) step 32`
pub(crate) fn positions(it: &Positions) -> String {
    let Positions { variable, start, end, step } = it;
    let step = if *step == 1 { String::new() } else { format!(" step {step}") };
    format!("{variable} in [{start}, {end}){step}")
}

/// The order of a loop's iterations, then what carries them out, and how.
fn marks(it: &For, decisions: &Decisions) -> String {
    let Lanes { is_masked, may_overlap, is_split, block } = decisions.lanes(it.id);
    let order = match (it.is_parallel, it.is_descending) {
        (true, _) => "parallel",
        (false, false) => "ascending",
        (false, true) => "descending",
    };
    let gpu = it.gpu.map(|it| match it {
        GpuAxis::Grid => "grid",
        GpuAxis::Block => "block",
    });
    let words = [
        Some(order),
        gpu,
        it.is_simd.then_some("simd"),
        is_masked.then_some("masked"),
        may_overlap.then_some("overlapping"),
        is_split.then_some("split"),
        decisions.is_once(it.id).then_some("once"),
    ];
    let blocks = block.map(|it| format!(" in blocks of {it}")).unwrap_or_default();
    format!("{}{blocks}", words.into_iter().flatten().format(" "))
}

/// `stop at [i, j, k] in sweep 0 turn k of 3`: the cell, and the numbers that order several such places.
fn stop(it: &Trap) -> String {
    let Trap { sweep, turn, outermost, cell, .. } = it;
    format!("stop at [{}] in sweep {sweep} turn {turn} of {}", cell.iter().format(", "), outermost.0)
}
