//! The text of the generated file.

use std::collections::BTreeSet;

use super::pieces::{EXTREMA, FETCH, OWN, PARTS, RAISE, RESERVE, ROW, TIMES, UNIT};
use super::streams::{self, Streams, threshold};
use super::words::Words;
use super::{COptions, Temporary, math};
use crate::backend::emit::braces::{self, Braces};
use crate::backend::emit::c_family::Language;
use crate::backend::emit::c_family::binding::ATOM;
use crate::backend::emit::c_family::expression::{
    Wording, affine, at_least, c_element_type, c_type, helper_text, says_nan_or_infinity, size,
};
use crate::backend::emit::c_family::lines::statement;
use crate::backend::emit::paste;
use crate::diag::{Listing, ListingWriter, Origin};
use crate::expr::Expr;
use crate::loops::analysis::uses::Uses;
use crate::loops::nodes::{
    Array, ArrayKind, BETWEEN_THREADS, Checked, Index, Item, Meaning, Program, Read, Side, Storage, Strides,
    Target, Trap,
};
use crate::loops::visit::{any, walk};
use crate::space::{Affine, Axis, AxisSet, Size, Symbol};

/// A file.
pub(super) struct Printed {
    pub(super) listing: Listing,
    /// How many steps a run reports.
    pub(super) n_steps: usize,
    /// What a run allocates.
    pub(super) temporaries: Vec<Temporary>,
    /// In how many parts it can be compiled.
    pub(super) n_parts: usize,
    /// Whether it carries functions of mathematics.
    pub(super) has_mathematics: bool,
}

/// Writes the file.
pub(super) fn file(program: &Program, options: &COptions) -> Printed {
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
    };
    file.prologue();
    file.functions();
    file.entry();
    let n_parts = file.n_parts();
    let has_mathematics = !file.wording.callees.is_empty();
    let listing = file.writer.finish();
    let n_steps = program.steps.len();
    let temporaries = program.arrays.iter().filter_map(|it| {
        let (row_unit, is_per_thread) = (it.row_unit(), it.is_per_thread);
        let (dtype, places) = (it.dtype, it.places().collect());
        it.is_own().then_some(Temporary { dtype, places, is_per_thread, row_unit })
    });
    let temporaries = temporaries.collect();
    Printed { listing, n_steps, temporaries, n_parts, has_mathematics }
}

pub(super) struct File<'p> {
    pub(super) program: &'p Program,
    /// The functions that the text calls.
    wording: Wording,
    pub(super) options: &'p COptions,
    pub(super) writer: ListingWriter,
    n_listed: usize,
    /// The locals of which each lane of the strip at hand has one.
    pub(super) lanes: BTreeSet<usize>,
    pub(super) streams: Streams,
}

/// A file with so many steps that threads share can be compiled in parts.
const PARTS_FROM: usize = 4;

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
        paste(&mut self.writer, include_str!("abi.h"));
        let used = || self.wording.callees.iter().copied();
        for section in math::sections(Language::C, used()) {
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
            paste(&mut self.writer, &threshold(self.program.stream_from));
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
        }
        if self.temporaries().next().is_some() {
            self.writer.line("");
            paste(&mut self.writer, RESERVE);
            if self.program.arrays.iter().any(|it| it.row_unit() > 1) {
                self.writer.line("");
                paste(&mut self.writer, ROW);
            }
            if self.program.arrays.iter().any(starts_at_line) {
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
        let mut is_any = self.program.least_points > 0;
        is_any |= self.temporaries().any(|(_, it)| it.shape.iter().any(is_one));
        for function in &self.program.functions {
            walk(&function.body, &mut |item| {
                item.each_size(&mut |size| is_any |= is_one(size));
            });
        }
        is_any
    }

    /// Whether some loop prefetches rows.
    fn prefetches_rows(&self) -> bool {
        let is_one = |it: &Item| matches!(it, Item::For(it) if !it.prefetched.is_empty());
        self.program.functions.iter().any(|it| any(&it.body, &mut |it| is_one(it)))
    }

    /// Whether rows of some array are stored past the caches.
    fn streams_rows(&self) -> bool {
        self.program.arrays.iter().any(|it| it.is_streamed)
    }

    /// What a run allocates.
    fn temporaries(&self) -> impl Iterator<Item = (usize, &Array)> {
        let all = self.program.arrays.iter().enumerate();
        all.filter(|(_, it)| matches!(it.storage, Storage::Heap | Storage::Private))
    }

    fn name(&self, array: usize) -> &str {
        self.program.arrays[array].name.as_deref().unwrap_or_default()
    }

    /// What the call tells of the levels of a container's array.
    fn sides(array: &Array) -> impl Iterator<Item = Side> {
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
        for array in &self.program.arrays {
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
        if self.program.arrays.iter().any(|it| it.is_per_thread) {
            self.writer
                .line("uint64_t each; /* in bytes, from the arrays of one thread to those of the next */");
        }
        self.writer.dedent();
        self.writer.line("};");
    }

    /// In how many parts the file can be compiled at the same time, each with the loops of some steps.
    fn n_parts(&self) -> usize {
        let n_spread = self.program.steps.iter().filter(|it| it.is_spread).count();
        if n_spread >= PARTS_FROM { n_spread } else { 1 }
    }

    fn functions(&mut self) {
        let program = self.program;
        if self.n_parts() == 1 {
            (0..program.functions.len()).for_each(|at| self.function(at));
            return;
        }
        self.writer.line("");
        paste(&mut self.writer, PARTS);
        for step in program.steps.iter().filter(|it| it.is_spread) {
            let name = &program.functions[step.function].name;
            self.writer
                .line(format_args!("ISOBAR_STEP void {name}(const struct run *run, const bool is_unit);"));
        }
        let mut at = 0;
        for of_step in program.functions.chunk_by(|one, other| one.step == other.step) {
            // What is not shared by the threads is a part of the entry.
            let step = of_step[0].step;
            let is_spread = program.steps.get(step - 1).is_some_and(|it| it.is_spread);
            self.writer.line("");
            self.writer.line(format_args!("#if ISOBAR_HERE({})", if is_spread { step } else { 0 }));
            (at..at + of_step.len()).for_each(|at| self.function(at));
            at += of_step.len();
            self.writer.line("#endif");
        }
    }

    /// Prints a function, by its position in [`Program::functions`].
    fn function(&mut self, at: usize) {
        let program = self.program;
        let function = &program.functions[at];
        let is_step = program.steps.iter().find(|it| it.function == at);
        let positions = function.positions.iter().map(|it| format!(", const int64_t {}", self.position(it)));
        let positions: String = positions.collect();
        let about = self.about(at, is_step.is_some());
        self.writer.line("");
        self.writer.line(format_args!("/* {about} */"));
        // The compiler copies what stands in a loop, once for neighbours side by side and once for all else.
        let is_copied = !is_step.is_some_and(|it| it.is_spread);
        let linkage = match is_copied {
            true => "static inline __attribute__((always_inline))",
            false if self.n_parts() > 1 => "ISOBAR_STEP",
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
        if any(&function.body, &mut |it| matches!(it, Item::For(it) if it.stores.is_some())) {
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
            let start = match (array.is_per_thread, starts_at_line(array).then_some(array.row_start)) {
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
            // What it keeps apart runs one after the other here.
            Item::Barrier => {}
            Item::Strips(it) => self.strips(it),
            Item::For(it) => match &it.stores {
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
                self.writer.line(format_args!(
                    "#pragma omp parallel for schedule(static) num_threads(run->threads){collapse}"
                ));
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
                self.branches(braces::arms(it), braces::otherwise(&it.otherwise), Self::items);
            }
            Item::While(it) => {
                self.open("while", [&it.origin]);
                let (counter, limit) = (&self.program.integers[it.counter], self.options.max_turns);
                let condition = self.text(&it.condition);
                self.statement(&format!("for (uint64_t {counter} = 0; {condition}; ++{counter}) {{"));
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

    fn checked(&mut self, it: &Checked) {
        self.open("check", [&it.origin]);
        let mut outside = Vec::new();
        for Index { integer, value, size } in &it.indices {
            let (name, value) = (&self.program.integers[*integer], self.text(value));
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

    /// What an assignment writes.
    pub(super) fn target(&self, target: &Target) -> String {
        match target {
            Target::Element(element) => self.words().element(element).0,
            Target::Local(local) => self.words().local(*local),
        }
    }

    /// The declaration of a local of which each lane has one.
    pub(super) fn local_array(&self, local: usize, length: u32) -> String {
        let local = &self.program.locals[local];
        format!("{} {}[{length}];", c_type(local.dtype), local.name)
    }

    pub(super) fn words(&self) -> Words<'_> {
        Words { program: self.program, lanes: &self.lanes, streams: &self.streams }
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

    /// What a function does, for the comment above it.
    fn about(&self, at: usize, is_step: bool) -> String {
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
    fn n_outer(&self, at: usize) -> usize {
        let mut n_outer = 0;
        for it in &self.program.functions {
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

    pub(super) fn block(&mut self, items: &[Item]) {
        self.writer.indent();
        self.items(items);
        self.writer.dedent();
    }

    fn entry(&mut self) {
        self.writer.line("");
        let is_part = self.n_parts() > 1;
        if is_part {
            self.writer.line("#if ISOBAR_HERE(0)");
        }
        self.writer.line("int32_t isobar_run(const isobar_call *call)");
        self.writer.line("{");
        self.writer.indent();
        self.writer.line("const int64_t I = call->domain[0], J = call->domain[1], K = call->domain[2];");
        // Without a point there is nothing to write, and what surrounds it need not exist.
        self.writer.line("if (I <= 0 || J <= 0 || K <= 0) return 0;");
        self.writer.line("struct run run = {.I = I, .J = J, .K = K, .is_unit = true};");
        self.writer.line("run.threads = call->threads > 0 ? (int)call->threads : omp_get_max_threads();");
        if self.streams_rows() {
            let fields = self
                .program
                .arrays
                .iter()
                .filter(|it| matches!(it.kind, ArrayKind::Field { .. }) && it.axes == AxisSet::IJK);
            let bytes: u64 = fields.map(|it| it.dtype.size_bytes() as u64).sum();
            self.writer.line(format_args!(
                "run.streams = (double)I * (double)J * (double)K * {bytes}.0 > ISOBAR_STREAM_FROM;"
            ));
        }
        if self.program.has_traps() {
            self.writer.line("struct isobar_raised raised = {.is_raised = false};");
            self.writer.line("run.raised = &raised;");
        }
        self.arguments();
        let least = self.program.least_points;
        if least > 0 {
            self.writer.line("/* Rows are computed in blocks of whole vectors, of which the last one ends with the row. */");
            self.writer.line(format_args!("run.is_unit = run.is_unit && I >= {least};"));
        }
        if !self.program.steps.is_empty() {
            self.writer.line("if (ISOBAR_IS_UNIT(run.is_unit) != run.is_unit) return 4;");
        }
        self.temporaries_at_entry();
        self.steps();
        self.writer.dedent();
        self.writer.line("}");
        if is_part {
            self.writer.line("#endif");
        }
    }

    fn arguments(&mut self) {
        let (mut n_fields, mut n_scalars) = (0, 0);
        for &at in &self.program.arguments {
            let it = &self.program.arrays[at];
            let name = self.name(at).to_owned();
            let ctype = c_element_type(it.dtype);
            if matches!(it.kind, ArrayKind::Field { .. }) {
                self.writer.line(format_args!("run.{name} = call->fields[{n_fields}].data;"));
                let field = format!("call->fields[{n_fields}]");
                for dimension in it.strided() {
                    let stride = format!("run.{name}{}", it.suffix(dimension));
                    let axis = it.axes.iter().nth(dimension);
                    let given = match axis {
                        Some(axis) => format!("stride[{}]", axis.index()),
                        None => format!("data_stride[{}]", dimension - it.axes.len()),
                    };
                    self.writer.line(format_args!("{stride} = {field}.{given};"));
                    if axis == Some(Axis::I) {
                        self.writer.line(format_args!("run.is_unit = run.is_unit && {stride} == 1;"));
                    }
                }
                for side in Self::sides(it) {
                    self.writer.line(format_args!("run.{name}_{0} = {field}.{0};", side.name()));
                }
                n_fields += 1;
            } else {
                let truth = if ctype == c_type(it.dtype) { "" } else { " != 0" };
                self.writer
                    .line(format_args!("run.{name} = *(const {ctype} *)call->scalars[{n_scalars}]{truth};"));
                n_scalars += 1;
            }
        }
    }

    fn temporaries_at_entry(&mut self) {
        let temporaries: Vec<(usize, Array)> = self.temporaries().map(|(at, it)| (at, it.clone())).collect();
        if temporaries.is_empty() {
            return;
        }
        self.writer.line("");
        self.writer.line("/* All temporaries in one piece: the caller's, or one of this call. */");
        self.writer.line("uint64_t size = 0;");
        let arrays = &self.program.arrays;
        let has_own = temporaries.iter().any(|(at, _)| arrays[*at].is_per_thread);
        if has_own {
            self.writer.line("/* Those of each thread lie together, a page from the next thread's: what the processor fetches");
            self.writer.line("   ahead of one thread is not what another one writes. */");
            self.writer.line(format_args!("uint64_t each = {BETWEEN_THREADS};"));
        }
        let mut spell = |symbol: &Symbol| match self.program.symbols.get(symbol) {
            Some(&Meaning::Levels { array: at, side }) => {
                format!("run.{}_{}", arrays[at].name.as_deref().unwrap_or_default(), side.name())
            }
            _ => symbol.name().to_owned(),
        };
        for (at, it) in &temporaries {
            let name = self.name(*at).to_owned();
            let ctype = c_element_type(it.dtype);
            let places: Vec<Size> = arrays[*at].places().collect();
            let (points, data) = places.split_at(it.axes.len());
            let mut lengths: Vec<String> = points.iter().map(|it| size(it, &mut spell).0).collect();
            if let Some(row) = lengths.first_mut() {
                *row = from_row_to_row(&arrays[*at], row).unwrap_or_else(|| row.clone());
            }
            lengths.resize(3, "1".to_owned());
            let mut bytes = format!("sizeof({ctype})");
            for length in data {
                bytes = format!("isobar_times({bytes}, {})", size(length, &mut spell).0);
            }
            let lengths = lengths.join(", ");
            let total = if arrays[*at].is_per_thread { "each" } else { "size" };
            self.writer.line(format_args!(
                "const uint64_t {name}_at = isobar_reserve(&{total}, {lengths}, {bytes});"
            ));
        }
        if has_own {
            self.writer.line("run.each = each;");
            self.writer.line("const uint64_t own_at = isobar_reserve(&size, run.threads, 1, 1, each);");
        }
        self.writer.line("char *memory = NULL, *workspace = call->workspace;");
        self.writer.line(
            "if (workspace == NULL || (uintptr_t)workspace % 64 != 0 || call->workspace_bytes < size) {",
        );
        self.writer.line("  memory = size < SIZE_MAX - 63 ? malloc((size_t)size + 63) : NULL;");
        self.writer.line("  if (memory == NULL) return 2;");
        self.writer.line("  workspace = memory + (64 - (uintptr_t)memory % 64) % 64;");
        self.writer.line("}");
        for (at, it) in &temporaries {
            let name = self.name(*at).to_owned();
            let ctype = c_element_type(it.dtype);
            let mut start = Vec::new();
            // Functions know it where they can tell a compiler so.
            if arrays[*at].row_start > 0 && !starts_at_line(&arrays[*at]) {
                start.push(arrays[*at].row_start.to_string());
            }
            let mut stride: Option<String> = None;
            let places: Vec<Size> = arrays[*at].places().collect();
            for dimension in 0..it.shape.len() {
                if dimension > 0 {
                    let own = format!("run.{name}{}", it.suffix(dimension));
                    let length = size(&places[dimension - 1], &mut spell);
                    let row = from_row_to_row(&arrays[*at], &length.0).filter(|_| dimension == 1);
                    let factor = row.unwrap_or_else(|| at_least(length, ATOM));
                    let value = stride.map_or(factor.clone(), |it| format!("{it} * {factor}"));
                    self.writer.line(format_args!("{own} = {value};"));
                    stride = Some(own);
                }
                let shift = &it.shift[dimension];
                if it.storage == Storage::Private {
                    continue;
                }
                let text = affine(shift, 0, &mut spell).0;
                match &stride {
                    _ if *shift == Affine::constant(0) => {}
                    None => start.push(text),
                    Some(stride) => start.push(format!("{text} * {stride}")),
                }
            }
            let start: String = start.iter().map(|it| format!(" + {it}")).collect();
            let own = if arrays[*at].is_per_thread { "own_at + " } else { "" };
            self.writer
                .line(format_args!("run.{name} = ({ctype} *)(void *)(workspace + {own}{name}_at){start};"));
        }
    }

    fn steps(&mut self) {
        let has_memory = self.temporaries().next().is_some();
        self.writer.line("");
        self.writer.line("int32_t status = 0;");
        let total = self.program.steps.len();
        if total > 0 {
            self.writer.line("if (call->times != NULL) call->times[0] = omp_get_wtime();");
        }
        for (at, step) in self.program.steps.iter().enumerate() {
            let name = &self.program.functions[step.function].name;
            self.writer.line(format_args!("/* Step {} of {total} */", at + 1));
            self.writer.line("if (call->cancel != NULL && *call->cancel != 0) {");
            self.writer.line("  status = 3;");
            self.writer.line("  goto end;");
            self.writer.line("}");
            if step.is_spread {
                self.writer.line(format_args!("{name}(&run, run.is_unit);"));
            } else {
                self.writer.line(format_args!("if (ISOBAR_IS_UNIT(run.is_unit)) {name}(&run, true);"));
                self.writer.line(format_args!("else {name}(&run, false);"));
            }
            if self.program.has_traps() {
                // A step behind this one may have to end the run in a sweep that stands before in the text.
                let is_before = match self.program.least_sweep_after(at) {
                    Some(to_come) => format!(" && raised.sweep <= {to_come}"),
                    None => String::new(),
                };
                self.writer.line(format_args!("if (raised.is_raised{is_before}) {{"));
                self.writer.line("  if (call->trap != NULL) *call->trap = raised.first;");
                self.writer.line("  status = 1;");
                self.writer.line("  goto end;");
                self.writer.line("}");
            }
            self.writer.line(format_args!("if (call->progress != NULL) *call->progress = {};", at + 1));
            self.writer
                .line(format_args!("if (call->times != NULL) call->times[{}] = omp_get_wtime();", at + 1));
        }
        if total > 0 {
            self.writer.dedent();
            self.writer.line("end:");
            self.writer.indent();
        }
        if has_memory {
            self.writer.line("free(memory);");
        }
        self.writer.line("return status;");
    }
}

/// The elements from the start of a row to that of the next, where rows of this length start at cache lines.
fn from_row_to_row(array: &Array, length: &str) -> Option<String> {
    let ctype = c_element_type(array.dtype);
    (array.row_unit() > 1).then(|| format!("isobar_row({length}, sizeof({ctype}))"))
}

/// Whether the memory of an array of a thread starts at a cache line, and what stands before its first element there is
/// known here.
fn starts_at_line(array: &Array) -> bool {
    array.is_per_thread
        && (array.storage == Storage::Private || array.shift.iter().all(|it| *it == Affine::constant(0)))
}

fn is_written(array: &Array) -> bool {
    !matches!(array.kind, ArrayKind::Field { is_written: false, .. } | ArrayKind::Scalar)
}
