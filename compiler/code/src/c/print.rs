//! The text of the generated file.

use std::collections::BTreeSet;

use super::pieces::{BEHIND, EXTREMA, FETCH, OWN, PARTS, RAISE, RESERVE, ROW, TIMES, UNIT};
use super::streams::{self, Streams, threshold};
use super::words::Words;
use super::{COptions, Temporary, math};
use crate::braces::{self, Braces};
use crate::c_family::Language;
use crate::c_family::expression::{Wording, c_element_type, c_type, helper_text, says_nan_or_infinity};
use crate::c_family::lines::statement;
use crate::diag::{Listing, ListingWriter, Origin};
use crate::emit::paste;
use crate::entity::Handle;
use crate::expr::Expr;
use crate::loops::analysis::uses::Uses;
use crate::loops::nodes::{
    Array, ArrayKind, BoundsCheck, Function, Index, Item, Local, Program, Read, Side, Storage, Strides,
    Target, Trap,
};
use crate::loops::visit::{any, walk};
use crate::space::{Affine, Axis, Size, Symbol};

/// A file.
pub(super) struct PrintedFile {
    pub(super) listing: Listing,
    /// How many steps a run reports.
    pub(super) n_steps: usize,
    /// The arrays that a run allocates.
    pub(super) temporaries: Vec<Temporary>,
    /// Whether it carries functions of mathematics.
    pub(super) has_mathematics: bool,
    /// A function for the end of the file that tells what a call allocates.
    pub(super) workspace: String,
}

/// Writes the file.
pub(super) fn file(program: &Program, options: &COptions) -> PrintedFile {
    let mut wording = Wording::default();
    program.each_expr(&mut |expr| wording.note(expr));
    let writer = ListingWriter::new();
    let mut file = File {
        program,
        wording,
        options,
        writer,
        n_listed: 0,
        lanes: BTreeSet::new(),
        streams: Streams::none(),
        is_in_lanes: false,
    };
    file.prologue();
    file.functions();
    file.entry();
    let has_mathematics = !file.wording.callees.is_empty();
    let listing = std::mem::take(&mut file.writer).finish();
    file.workspace();
    let workspace = file.writer.finish().text;
    let n_steps = program.steps.len();
    let temporaries = program.arrays.iter().filter_map(|(at, it)| {
        let (row_unit, is_per_thread) = (it.row_unit(), it.is_per_thread);
        let (dtype, places) = (it.dtype, program.places(at).collect());
        it.is_own().then_some(Temporary { dtype, places, is_per_thread, row_unit })
    });
    let temporaries = temporaries.collect();
    PrintedFile { listing, n_steps, temporaries, has_mathematics, workspace }
}

pub(super) struct File<'p> {
    pub(super) program: &'p Program,
    /// The functions that the text calls.
    wording: Wording,
    pub(super) options: &'p COptions,
    pub(super) writer: ListingWriter,
    n_listed: usize,
    /// Locals with one value for each lane of the current strip.
    pub(super) lanes: BTreeSet<Handle<Local>>,
    pub(super) streams: Streams,
    /// Whether every point of a loop in vector lanes comes to the statement at hand.
    pub(super) is_in_lanes: bool,
}

impl Braces for File<'_> {
    fn writer(&mut self) -> &mut ListingWriter {
        &mut self.writer
    }

    fn open<'a>(&mut self, kind: &'static str, origins: impl IntoIterator<Item = &'a Origin>) {
        self.writer.open(format!("c{}", self.n_listed), kind, origins);
        self.n_listed += 1;
    }

    fn statement(&mut self, text: &str) {
        statement(&mut self.writer, text);
    }

    fn asked(text: String) -> String {
        format!("({text})")
    }

    fn condition(&mut self, expr: &Expr<Read>) -> String {
        self.text(expr)
    }
}

impl File<'_> {
    fn prologue(&mut self) {
        paste(&mut self.writer, super::ABI);
        let used = || self.wording.callees.iter().copied();
        for section in math::sections(Language::C, used()) {
            self.writer.line("");
            paste(&mut self.writer, &section);
        }
        if let Some(section) = math::shared(used()).filter(|_| self.program.decisions.is_long()) {
            self.writer.line("");
            paste(&mut self.writer, &section);
        }
        let mut says = false;
        self.program.each_expr(&mut |expr| says |= says_nan_or_infinity(expr));
        if used().next().is_none() && says {
            self.writer.line("#include <math.h>");
        }
        if !self.program.steps.is_empty() {
            self.writer.line("");
            self.writer.line("#include <omp.h>");
            self.writer.line("");
            paste(&mut self.writer, UNIT);
        }
        if !self.wording.helpers.is_empty() {
            self.writer.line("");
            self.writer.line("/* Arithmetic that is defined for all operands. */");
        }
        for helper in &self.wording.helpers {
            paste(&mut self.writer, &helper_text(Language::C, helper));
        }
        if self.has_alternatives() {
            self.writer.line("");
            paste(&mut self.writer, EXTREMA);
        }
        if self.prefetches_rows() {
            self.writer.line("");
            paste(&mut self.writer, FETCH);
        }
        if self.streams_rows() {
            self.writer.line("");
            paste(&mut self.writer, &threshold(self.program.decisions.stream_from()));
            self.writer.line("");
            paste(&mut self.writer, streams::PAST_CACHES);
            let [has_rows, has_pieces] = self.has_buffers();
            for (is_used, text) in [(has_pieces, streams::PIECES), (has_rows, streams::ROWS)] {
                if is_used {
                    self.writer.line("");
                    paste(&mut self.writer, text);
                }
            }
            self.writer.line("");
            paste(&mut self.writer, streams::END);
        }
        if self.program.has_traps() {
            self.writer.line("");
            paste(&mut self.writer, RAISE);
            if self.program.has_whiles() {
                self.writer.line("");
                paste(&mut self.writer, BEHIND);
            }
        }
        if self.temporaries().next().is_some() {
            self.writer.line("");
            paste(&mut self.writer, RESERVE);
            if self.program.arrays.values().any(|it| it.row_unit() > 1) {
                self.writer.line("");
                paste(&mut self.writer, ROW);
            }
            if self.program.arrays.values().any(starts_at_line) {
                self.writer.line("");
                paste(&mut self.writer, OWN);
            }
            if self.temporaries().any(|(_, it)| it.shape.len() > it.axes.len()) {
                self.writer.line("");
                paste(&mut self.writer, TIMES);
            }
        }
        self.writer.line("");
        self.run_type();
    }

    /// Whether a bound is the least or greatest of several.
    fn has_alternatives(&self) -> bool {
        let is_one = |size: &Size| matches!(size, Size::Min(_) | Size::Max(_));
        let mut is_any = self.program.decisions.least_points() > 0;
        is_any |= self.temporaries().any(|(_, it)| it.shape.iter().any(is_one));
        for function in self.program.functions.values() {
            walk(&function.body, &mut |item| {
                item.each_size(&mut |size| is_any |= is_one(size));
            });
        }
        is_any
    }

    /// Whether some loop prefetches rows.
    fn prefetches_rows(&self) -> bool {
        let decisions = &self.program.decisions;
        let is_one = |it: &Item| matches!(it, Item::For(it) if !decisions.prefetched(it.id).is_empty());
        self.program.functions.values().any(|it| any(&it.body, &mut |it| is_one(it)))
    }

    /// Whether rows of some array are stored past the caches.
    pub(super) fn streams_rows(&self) -> bool {
        self.program.decisions.streamed().next().is_some()
    }

    /// The arrays that a run allocates.
    pub(super) fn temporaries(&self) -> impl Iterator<Item = (Handle<Array>, &Array)> {
        let all = self.program.arrays.iter();
        all.filter(|(_, it)| matches!(it.storage, Storage::Heap | Storage::Private))
    }

    pub(super) fn name(&self, array: Handle<Array>) -> &str {
        self.program.arrays[array].name.as_deref().unwrap_or_default()
    }

    /// The sides of the domain for which a call passes the number of further levels of a container's array.
    pub(super) fn sides(array: &Array) -> impl Iterator<Item = Side> {
        let is_told = array.strides != Strides::Packed && array.level_symbols().next().is_some();
        [Side::Below, Side::Above].into_iter().filter(move |_| is_told)
    }

    fn run_type(&mut self) {
        self.writer
            .line("/* What one run works on: pointers to the start of the compute domain, and strides. */");
        self.writer.line("struct run {");
        self.writer.indent();
        self.writer.line("int64_t I, J, K;");
        self.writer.line("bool is_unit; /* neighbours along i lie side by side in every field */");
        self.writer.line("int threads;");
        if self.streams_rows() {
            self.writer.line("bool streams; /* the fields are more than the caches keep */");
        }
        if self.program.has_traps() {
            self.writer.line("struct isobar_raised *raised;");
        }
        for array in self.program.arrays.values() {
            let it = array;
            let Some(name) = &array.name else { continue };
            let ctype = c_element_type(it.dtype);
            if array.is_scalar_argument() {
                self.writer.line(format_args!("{} {name};", c_type(it.dtype)));
                continue;
            }
            let qualifier = if is_written(it) { "" } else { "const " };
            self.writer.line(format_args!("{qualifier}{ctype} *{name};"));
            let strides = array.strided().map(|dimension| format!("{name}{}", it.suffix(dimension)));
            let sides = Self::sides(it).map(|side| format!("{name}_{}", side.name()));
            let strides: Vec<String> = strides.chain(sides).collect();
            if !strides.is_empty() {
                self.writer.line(format_args!("int64_t {};", strides.join(", ")));
            }
        }
        if self.program.arrays.values().any(|it| it.is_per_thread) {
            self.writer
                .line("uint64_t each; /* in bytes, from the arrays of one thread to those of the next */");
        }
        self.writer.dedent();
        self.writer.line("};");
    }

    fn functions(&mut self) {
        let program = self.program;
        if self.program.decisions.n_parts() == 1 {
            program.functions.handles().for_each(|it| self.function(it));
            return;
        }
        self.writer.line("");
        paste(&mut self.writer, PARTS);
        for step in program.steps.iter().filter(|it| it.is_spread) {
            let name = &program.functions[step.function].name;
            self.writer
                .line(format_args!("ISOBAR_STEP void {name}(const struct run *run, const bool is_unit);"));
        }
        let step_of = |it: &Handle<Function>| program.functions[*it].step;
        let functions: Vec<Handle<Function>> = program.functions.handles().collect();
        for of_step in functions.chunk_by(|one, other| step_of(one) == step_of(other)) {
            // Steps that threads do not share are compiled with the entry.
            let step = step_of(&of_step[0]);
            let is_spread = program.steps.get(step - 1).is_some_and(|it| it.is_spread);
            self.writer.line("");
            self.writer.line(format_args!("#if ISOBAR_HERE({})", if is_spread { step } else { 0 }));
            of_step.iter().for_each(|&it| self.function(it));
            self.writer.line("#endif");
        }
    }

    fn function(&mut self, handle: Handle<Function>) {
        let program = self.program;
        let function = &program.functions[handle];
        let is_step = program.steps.iter().find(|it| it.function == handle);
        let positions = function.positions.iter().map(|it| format!(", const int64_t {}", self.position(it)));
        let positions: String = positions.collect();
        let about = self.about(handle, is_step.is_some());
        self.writer.line("");
        self.writer.line(format_args!("/* {about} */"));
        // Functions called in a loop are inlined twice: for neighbours side by side, and for any other
        // strides.
        let is_copied = !is_step.is_some_and(|it| it.is_spread);
        let linkage = match is_copied {
            true => "static inline __attribute__((always_inline))",
            false if self.program.decisions.n_parts() > 1 => "ISOBAR_STEP",
            false => "static",
        };
        self.writer.line(format_args!(
            "{linkage} void {}(const struct run *run, const bool is_unit{positions})",
            function.name
        ));
        self.writer.line("{");
        self.writer.indent();
        let uses = Uses::of_all(self.program, &function.body);
        let needs_unit = self.preamble(&uses) || any(&function.body, &mut |it| matches!(it, Item::Launch(_)));
        // Every function has the same parameters, whether or not it needs them all.
        let positions = function.positions.iter().filter(|it| !uses.positions.contains(*it));
        let mut unused: Vec<String> = positions.map(|it| self.position(it)).collect();
        if uses.arrays.is_empty() && uses.sizes.is_empty() && uses.levels.is_empty() && !needs_unit {
            unused.push("run".to_owned());
        }
        if !needs_unit {
            unused.push("is_unit".to_owned());
        }
        for name in unused {
            self.writer.line(format_args!("(void){name};"));
        }
        self.items(&function.body);
        let stores = |it: &Item| matches!(it, Item::For(it) if program.decisions.stores(it.id).is_some());
        if any(&function.body, &mut |it| stores(it)) {
            self.writer.line("if (is_unit && run->streams) isobar_end_stream();");
        }
        self.writer.dedent();
        self.writer.line("}");
    }

    /// Names what a function uses; tells whether that depends on the strides along i.
    fn preamble(&mut self, uses: &Uses) -> bool {
        let sizes: Vec<String> = Axis::ALL
            .iter()
            .filter(|it| uses.sizes.contains(&it.index()))
            .map(|axis| format!("{axis} = run->{axis}"))
            .collect();
        if !sizes.is_empty() {
            self.writer.line(format_args!("const int64_t {};", sizes.join(", ")));
        }
        if uses.arrays.iter().any(|&at| self.program.arrays[at].is_per_thread) {
            self.writer.line("const uint64_t own = (uint64_t)omp_get_thread_num() * run->each;");
        }
        let mut needs_unit = false;
        for &at in &uses.arrays {
            let array = &self.program.arrays[at];
            let it = array;
            let name = self.name(at).to_owned();
            if array.is_scalar_argument() {
                self.writer.line(format_args!("const {} {name} = run->{name};", c_type(it.dtype)));
                continue;
            }
            let qualifier = if is_written(it) { "" } else { "const " };
            let ctype = c_element_type(it.dtype);
            let row_start = self.program.decisions.row_start(at);
            let start = match (array.is_per_thread, starts_at_line(array).then_some(row_start)) {
                (false, _) => format!("run->{name}"),
                (true, None) => format!("({ctype} *)(void *)((char *)run->{name} + own)"),
                (true, Some(0)) => format!("isobar_own(run->{name}, own)"),
                (true, Some(first)) => format!("({ctype} *)isobar_own(run->{name}, own) + {first}"),
            };
            self.writer.line(format_args!("{qualifier}{ctype} *restrict const {name} = {start};"));
            let strides: Vec<String> = array
                .strided()
                .filter(|dimension| uses.strides.contains(&(at, *dimension)))
                .map(|dimension| {
                    let stride = format!("{name}{}", it.suffix(dimension));
                    let is_unit = dimension == 0 && it.axes.has(Axis::I) && it.strides != Strides::Packed;
                    needs_unit |= is_unit;
                    let given = format!("run->{stride}");
                    match from_row_to_row(array, &given) {
                        Some(whole_lines) => format!("{stride} = {whole_lines}"),
                        None if is_unit => format!("{stride} = is_unit ? 1 : {given}"),
                        None => format!("{stride} = {given}"),
                    }
                })
                .collect();
            if !strides.is_empty() {
                self.writer.line(format_args!("const int64_t {};", strides.join(", ")));
            }
        }
        for &(at, side) in &uses.levels {
            let name = format!("{}_{}", self.name(at), side.name());
            self.writer.line(format_args!("const int64_t {name} = run->{name};"));
        }
        needs_unit
    }

    pub(super) fn items(&mut self, items: &[Item]) {
        items.iter().for_each(|item| self.item(item));
    }

    pub(super) fn item(&mut self, item: &Item) {
        match item {
            Item::Assign(it) => {
                self.open("assignment", [&it.origin]);
                let target = self.target(&it.target);
                let value = self.text(&it.value);
                self.statement(&format!("{target} = {value};"));
                self.writer.close();
            }
            Item::Declare(it) => {
                let local = &self.program.locals[it.local];
                let qualifier = if it.is_const { "const " } else { "" };
                let declared = if self.lanes.contains(&it.local) {
                    self.words().local(it.local)
                } else {
                    format!("{qualifier}{} {}", c_type(local.dtype), local.name)
                };
                match &it.value {
                    Some((value, origin)) => {
                        self.open("assignment", [origin]);
                        let value = self.text(value);
                        self.statement(&format!("{declared} = {value};"));
                        self.writer.close();
                    }
                    None => self.writer.line(format_args!("{declared} = 0;")),
                }
                // It is computed for the trap that it may end in.
                if !self.program.locals[it.local].is_read {
                    self.writer.line(format_args!("(void){};", local.name));
                }
            }
            Item::Checked(it) => self.checked(it),
            // Parts that a barrier separates already run one after the other here.
            Item::Barrier => {}
            Item::Strips(it) => self.strips(it),
            Item::For(it) => match self.program.decisions.stores(it.id) {
                Some(stores) => self.streamed(it, stores),
                None => self.counted(it),
            },
            Item::Launch(it) => {
                self.open("parallel-loop", []);
                let collapse = if it.positions.len() > 1 {
                    format!(" collapse({})", it.positions.len())
                } else {
                    String::new()
                };
                if self.options.has_threads {
                    self.writer.line(format_args!(
                        "#pragma omp parallel for schedule(static) num_threads(run->threads){collapse}"
                    ));
                }
                for positions in &it.positions {
                    let (variable, start, end, next) = self.bounds(positions);
                    self.writer
                        .line(format_args!("for (int64_t {variable} = {start}; {variable} < {end}; {next})"));
                }
                let all = it.outer.iter().chain(it.positions.iter().map(|it| &it.variable));
                let arguments: String = all.map(|it| format!(", {}", self.position(it))).collect();
                let name = &self.program.functions[it.function].name;
                self.writer.indent();
                self.writer.line(format_args!("if (ISOBAR_IS_UNIT(is_unit)) {name}(run, true{arguments});"));
                self.writer.line(format_args!("else {name}(run, false{arguments});"));
                self.writer.dedent();
                self.writer.close();
            }
            Item::If(it) => {
                let is_in_lanes = std::mem::replace(&mut self.is_in_lanes, false);
                self.branches(braces::arms(it), braces::otherwise(&it.otherwise), Self::items);
                self.is_in_lanes = is_in_lanes;
            }
            Item::While(it) => {
                self.open("while", [&it.origin]);
                let (counter, limit) = (&self.program.integers[it.counter].name, self.options.max_turns);
                let condition = self.text(&it.condition);
                let done = self.done(&it.trap);
                self.statement(&format!("for (uint64_t {counter} = {done}; {condition}; ++{counter}) {{"));
                self.writer.indent();
                self.writer.line(format_args!("if ({counter} == {limit}u) {{"));
                let raise = self.raise(&it.trap);
                self.writer.line(format_args!("  {raise}"));
                self.writer.line("  break;");
                self.writer.line("}");
                self.items(&it.body);
                self.writer.dedent();
                self.writer.line("}");
                self.writer.close();
            }
        }
    }

    fn checked(&mut self, it: &BoundsCheck) {
        self.open("check", [&it.origin]);
        let mut outside = Vec::new();
        for Index { integer, value, size } in &it.indices {
            let (name, value) = (&self.program.integers[*integer].name, self.text(value));
            outside.push(format!("{name} < 0 || {name} >= {}", self.words().size(size).0));
            self.statement(&format!("const int64_t {name} = {value};"));
        }
        self.statement(&format!("if ({}) {{", outside.join(" || ")));
        let raise = self.raise(&it.trap);
        self.writer.line(format_args!("  {raise}"));
        if it.is_in_while {
            self.writer.line("  break;");
        }
        self.writer.line("} else {");
        self.block(&it.body);
        self.writer.line("}");
        self.writer.close();
    }

    /// The text of an assignment's target.
    pub(super) fn target(&self, target: &Target) -> String {
        match target {
            Target::Element(element) => self.words().element(element).0,
            Target::Local(local) => self.words().local(*local),
        }
    }

    /// The declaration of a local with one value for each lane.
    pub(super) fn local_array(&self, local: Handle<Local>, length: u32) -> String {
        let local = &self.program.locals[local];
        format!("{} {}[{length}];", c_type(local.dtype), local.name)
    }

    pub(super) fn words(&self) -> Words<'_> {
        Words {
            program: self.program,
            lanes: &self.lanes,
            streams: &self.streams,
            is_sharing: self.program.decisions.is_long() && self.is_in_lanes,
        }
    }

    pub(super) fn text(&self, expr: &Expr<Read>) -> String {
        self.words().expr(expr)
    }

    fn position(&self, symbol: &Symbol) -> String {
        self.words().symbol(symbol)
    }

    /// Reports that the run must end at a cell.
    pub(super) fn raise(&self, Trap { statement, sweep, turn, outermost, cell }: &Trap) -> String {
        let words = self.words();
        let [i, j, k] = cell.each_ref().map(|it| words.affine(it).0);
        let turn = words.affine(turn).0;
        let (outermost, statement) = (outermost.0, statement.0);
        format!("isobar_raise(run->raised, {sweep}, {turn}, {outermost}, {statement}, {i}, {j}, {k});")
    }

    /// How many iterations of a `while` count as done at a cell.
    pub(super) fn done(&self, Trap { sweep, turn, outermost, cell, .. }: &Trap) -> String {
        let words = self.words();
        let [i, j, k] = cell.each_ref().map(|it| words.affine(it).0);
        let (turn, outermost, limit) = (words.affine(turn).0, outermost.0, self.options.max_turns);
        format!("isobar_done(run->raised, {limit}u, {sweep}, {turn}, {outermost}, {i}, {j}, {k})")
    }

    /// Describes a function, for the comment above it.
    fn about(&self, at: Handle<Function>, is_step: bool) -> String {
        let function = &self.program.functions[at];
        if !is_step {
            let n_own = function.positions.len() - self.n_outer(at);
            let own = &function.positions[function.positions.len() - n_own..];
            let own: Vec<String> = own.iter().map(|it| self.position(it)).collect();
            return format!("What step {} does at one position {}.", function.step, own.join(", "));
        }
        let describe = |item: &Item| match item {
            Item::For(it) => {
                let (variable, start, end, _) = self.bounds(&it.positions);
                if it.is_descending {
                    format!("{variable} from {end} down to {start}")
                } else {
                    format!("{variable} from {start} to {end}")
                }
            }
            Item::Launch(it) => {
                let parts = it.positions.iter().map(|it| {
                    let (variable, start, end, _) = self.bounds(it);
                    let step = if it.step == 1 { String::new() } else { format!(" in steps of {}", it.step) };
                    format!("{variable} from {start} to {end}{step}")
                });
                format!("{}, shared by the threads", parts.collect::<Vec<_>>().join(", "))
            }
            Item::Strips(it) => {
                let (variable, start, end, _) = self.bounds(&it.positions);
                format!("{variable} from {start} to {end}")
            }
            Item::Assign(_)
            | Item::Declare(_)
            | Item::Checked(_)
            | Item::If(_)
            | Item::While(_)
            | Item::Barrier => "once".to_owned(),
        };
        function.body.last().map(describe).unwrap_or_default()
    }

    /// How many positions of a function are those of loops around its launch.
    fn n_outer(&self, at: Handle<Function>) -> usize {
        let mut n_outer = 0;
        for it in self.program.functions.values() {
            walk(&it.body, &mut |item| {
                if let Item::Launch(launch) = item
                    && launch.function == at
                {
                    n_outer = launch.outer.len();
                }
            });
        }
        n_outer
    }

    /// Prints the body of a loop in vector lanes.
    pub(super) fn block_in_lanes(&mut self, items: &[Item]) {
        self.is_in_lanes = true;
        self.block(items);
        self.is_in_lanes = false;
    }

    pub(super) fn block(&mut self, items: &[Item]) {
        self.writer.indent();
        self.items(items);
        self.writer.dedent();
    }
}

/// The elements from the start of a row to that of the next, where rows of this length start at cache lines.
pub(super) fn from_row_to_row(array: &Array, length: &str) -> Option<String> {
    let ctype = c_element_type(array.dtype);
    (array.row_unit() > 1).then(|| format!("isobar_row({length}, sizeof({ctype}))"))
}

/// Whether the memory of an array of a thread starts at a cache line, and what stands before its first element there is
/// known here.
pub(super) fn starts_at_line(array: &Array) -> bool {
    array.is_per_thread
        && (array.storage == Storage::Private || array.shift.iter().all(|it| *it == Affine::constant(0)))
}

pub(super) fn is_written(array: &Array) -> bool {
    !matches!(array.kind, ArrayKind::Field { is_written: false, .. } | ArrayKind::Scalar)
}
