//! The text of kernels.

use std::collections::BTreeSet;

use super::words::{CudaNameUses, Names, Words};
use super::{CudaArtifact, Param, SHARED_ALIGNMENT, STATIC_SHARED_BYTES, Signature, elements, memory};
use crate::braces::{self, Braces};
use crate::c_family::Language;
use crate::c_family::expression::{Wording, at_least, c_element_type, c_type, helper_text};
use crate::c_family::lines::statement;
use crate::c_family::{binding::ATOM, math};
use crate::call::run::MAX_ITERATIONS;
use crate::diag::{ListingWriter, Origin};
use crate::emit::paste;
use crate::entity::Handle;
use crate::expr::Expr;
use crate::kernel::Kernels;
use crate::kernel::nodes::{ArrayMemory, BlockStep, Kernel, Stage};
use crate::loops::nodes::{
    Array, ArrayKind, Assign, BoundsCheck, Declare, Index, Item, Positions, Read, Target, While,
};
use crate::loops::visit::walk;
use crate::space::{Affine, Axis, Size};

const PRELUDE: &str = include_str!("../../../../shaders/prelude.cuh");
const STAGES: &str = include_str!("../../../../shaders/stages.cuh");
const TRAPS: &str = include_str!("../../../../shaders/traps.cuh");

/// Parameters beside each other are broken into lines of so many characters.
const WIDTH: usize = 96;

pub(super) fn text(kernels: &Kernels) -> CudaArtifact {
    let names = Names::of(kernels);
    let mut writer = ListingWriter::new();
    prologue(kernels, &mut writer);
    let mut slot = 0;
    let mut signatures = Vec::new();
    let mut n_listed = 0;
    for kernel in &kernels.kernels {
        // A kernel's parameters follow from the names in its text. So the text is written twice, first to
        // find them.
        let words = Words::new(kernels, kernel, &names);
        let mut draft = Printer { words, writer: ListingWriter::new(), slot, n_listed };
        draft.draft();
        let used = draft.words.used();
        let words = Words::new(kernels, kernel, &names);
        let mut printer = Printer { words, writer, slot, n_listed };
        signatures.push(printer.kernel(&used));
        debug_assert_eq!(printer.words.used().params, used.params, "the draft names the same");
        Printer { writer, slot, n_listed, .. } = printer;
    }
    CudaArtifact { listing: writer.finish(), kernels: signatures }
}

/// Writes the definitions in front of the kernels.
fn prologue(kernels: &Kernels, writer: &mut ListingWriter) {
    let mut wording = Wording::default();
    for kernel in &kernels.kernels {
        kernel.walk(&mut |item| item.each_expr(&mut |expr| wording.note(expr)));
        kernel.each_condition(&mut |expr| wording.note(expr));
    }
    let callees = wording.callees.iter().copied();
    let sections = std::iter::once(PRELUDE.to_owned())
        .chain(math::sections(Language::Cuda, callees))
        .chain(wording.helpers.iter().map(|it| helper_text(Language::Cuda, it)))
        .chain(kernels.kernels.iter().any(|it| !it.threads.is_empty()).then(|| STAGES.to_owned()))
        .chain((!kernels.places.is_empty()).then(|| TRAPS.to_owned()));
    for (at, section) in sections.enumerate() {
        if at > 0 {
            writer.line("");
        }
        paste(writer, &section);
    }
}

/// CUDA's names of the components of a thread's number.
const COMPONENTS: [&str; 3] = ["x", "y", "z"];

struct Printer<'p> {
    words: Words<'p>,
    writer: ListingWriter,
    /// Of the next place where a run may have to end.
    slot: usize,
    n_listed: usize,
}

impl Braces for Printer<'_> {
    fn writer(&mut self) -> &mut ListingWriter {
        &mut self.writer
    }

    fn open<'a>(&mut self, kind: &'static str, origins: impl IntoIterator<Item = &'a Origin>) {
        self.writer.open(format!("g{}", self.n_listed), kind, origins);
        self.n_listed += 1;
    }

    fn statement(&mut self, text: &str) {
        statement(&mut self.writer, text);
    }

    fn asked(text: String) -> String {
        format!("({text})")
    }

    fn condition(&mut self, expr: &Expr<Read>) -> String {
        self.words.expr(expr)
    }
}

impl Printer<'_> {
    fn array_type(&self, array: Handle<Array>) -> &'static str {
        c_element_type(self.words.kernels.program.arrays[array].dtype)
    }

    /// The body and what stands before it, for what they name alone.
    fn draft(&mut self) {
        self.positions_of_block();
        let kernel = self.words.kernel;
        self.pieces(&kernel.body);
        let used = self.words.used();
        if !is_static(self.words.kernels, kernel, &used) {
            used.shared.iter().for_each(|&it| self.words.takes(Param::SharedAt(it)));
        }
    }

    fn kernel(&mut self, used: &CudaNameUses) -> Signature {
        let Words { kernels, kernel, .. } = self.words;
        let n_threads = kernel.n_threads().max(1);
        let written = written(kernel);
        self.writer.line("");
        let n_steps = kernels.program.steps.len();
        self.writer.line(format_args!("/* Step {} of {n_steps} */", kernel.step + 1));
        self.open("kernel", []);
        self.writer.line(format_args!(
            "extern \"C\" __global__ void __launch_bounds__({n_threads}) {}(",
            kernel.name
        ));
        self.writer.indent();
        self.writer.indent();
        let mut params = used.params.iter().map(|it| self.declared(it, &written)).peekable();
        let mut lines = Vec::new();
        let mut line = String::new();
        while let Some(param) = params.next() {
            let end = if params.peek().is_some() { "," } else { ")" };
            if !line.is_empty() && line.len() + param.len() > WIDTH {
                lines.push(std::mem::take(&mut line));
            }
            if !line.is_empty() {
                line.push(' ');
            }
            line.push_str(&param);
            line.push_str(end);
        }
        lines.push(if line.is_empty() { ")".to_owned() } else { line });
        drop(params);
        lines.iter().for_each(|it| self.writer.line(it));
        self.writer.dedent();
        self.writer.dedent();
        self.writer.line("{");
        self.writer.indent();
        for param in &used.params {
            if let Some(given) = self.words.given_along_i(param) {
                let text =
                    format!("const isobar_index {} = ISOBAR_ALONG_I({given});", self.words.param(param));
                self.writer.line(text);
            }
        }
        let is_static = is_static(kernels, kernel, used);
        for &array in &used.shared {
            self.shared(array, is_static);
        }
        self.positions_of_block();
        self.threads(used);
        self.pieces(&kernel.body);
        self.writer.dedent();
        self.writer.line("}");
        self.writer.close();
        let mut threads = [1; 3];
        for (count, it) in threads.iter_mut().zip(&kernel.threads) {
            *count = it.count;
        }
        Signature {
            name: kernel.name.clone(),
            params: used.params.iter().cloned().collect(),
            threads,
            shared: used.shared.iter().copied().collect(),
            is_dynamic: !is_static,
            scratch: used.scratch.iter().copied().collect(),
            has_barriers: has_barriers(&kernel.body),
        }
    }

    fn declared(&self, param: &Param, written: &[Handle<Array>]) -> String {
        let name = self.words.given_along_i(param).map_or_else(|| self.words.param(param), str::to_owned);
        let program = &self.words.kernels.program;
        match param {
            Param::Pointer(array) => {
                let is_read_only = matches!(program.arrays[*array].kind, ArrayKind::Field { .. })
                    && !written.contains(array);
                let qualifier = if is_read_only { "const " } else { "" };
                // NVCC turns `x ? a : b` into one load from either pointer. If one of them is `const` and
                // `__restrict__`, it takes the load for one from read-only memory, and may miss earlier
                // stores. So only arrays that the kernel writes are `__restrict__`.
                let apart = if written.contains(array) { "__restrict__ " } else { "" };
                format!("{qualifier}{} *{apart}{name}", self.array_type(*array))
            }
            Param::Value(array) => format!("const {} {name}", c_type(program.arrays[*array].dtype)),
            Param::Size(_) | Param::Stride { .. } | Param::Levels { .. } | Param::Position(_) => {
                format!("const isobar_index {name}")
            }
            Param::SharedAt(_) => format!("const isobar_index {name}"),
            Param::Slots => format!("uint32_t *__restrict__ {name}"),
        }
    }

    /// An array in the block's memory.
    fn shared(&mut self, array: Handle<Array>, is_static: bool) {
        let (name, of) = (self.words.names.arrays[array].clone(), self.array_type(array));
        if is_static {
            let n = shared_elements(self.words.kernels, self.words.kernel, array).unwrap_or(0);
            self.writer.line(format_args!("ISOBAR_SHARED({of}, {name}, {n});"));
        } else {
            let at = self.words.param(&Param::SharedAt(array));
            self.words.takes(Param::SharedAt(array));
            self.writer.line(format_args!("ISOBAR_SHARED_AT({of}, {name}, {at});"));
        }
    }

    /// The positions that the block is for: the last one is the fastest.
    fn positions_of_block(&mut self) {
        let kernel = self.words.kernel;
        for (it, component) in kernel.grid.iter().rev().zip(COMPONENTS).rev() {
            let variable = self.words.symbol(&it.variable);
            let number = format!("(isobar_index)blockIdx.{component}");
            let distance = if it.step == 1 { number } else { format!("{} * {number}", it.step) };
            let text = match self.words.size(&it.start) {
                (start, _) if start == "0" => distance,
                (start, _) => format!("{start} + {distance}"),
            };
            self.statement(&format!("const isobar_index {variable} = {text};"));
        }
    }

    /// The numbers of the thread.
    fn threads(&mut self, used: &CudaNameUses) {
        let Words { kernel, names, .. } = self.words;
        let mut number = String::from("0");
        for (it, component) in kernel.threads.iter().zip(COMPONENTS).rev() {
            let name = names.thread_along(it.axis);
            self.writer
                .line(format_args!("const isobar_index {name} = (isobar_index)threadIdx.{component};"));
            number = match number.as_str() {
                "0" => name.to_owned(),
                slower => format!("({slower}) * {} + {name}", it.count),
            };
        }
        if used.thread {
            let thread = &names.thread;
            self.writer.line(format_args!("const isobar_index {thread} = {number};"));
        }
        if !used.scratch.is_empty() {
            let n_threads = kernel.n_threads().max(1);
            let ([of_all, n_of_all], thread) = (&names.scratch, &names.thread);
            let block = "((isobar_index)blockIdx.z * (isobar_index)gridDim.y + (isobar_index)blockIdx.y) * \
                         (isobar_index)gridDim.x + (isobar_index)blockIdx.x";
            let blocks = "(isobar_index)gridDim.x * (isobar_index)gridDim.y * (isobar_index)gridDim.z";
            self.statement(&format!("const isobar_index {n_of_all} = {n_threads} * {blocks};"));
            self.statement(&format!("const isobar_index {of_all} = ({block}) * {n_threads} + {thread};"));
        }
    }

    fn pieces(&mut self, pieces: &[BlockStep]) {
        pieces.iter().for_each(|it| self.piece(it));
    }

    fn piece(&mut self, piece: &BlockStep) {
        match piece {
            BlockStep::Stage(it) => self.stage(it),
            BlockStep::Barrier => self.writer.line("ISOBAR_BARRIER();"),
            BlockStep::For { positions, is_descending, body, .. } => {
                self.in_loop(|own| own.for_line(positions, *is_descending), |own| own.pieces(body));
            }
            BlockStep::If { branches, otherwise } => {
                let arms = branches.iter().map(|it| (&it.condition, &it.origin, it.body.as_slice()));
                self.branches(arms, braces::otherwise(otherwise), Self::pieces);
            }
            BlockStep::Each(items) => self.items(items),
            BlockStep::Once(items) => {
                let is_first = self.words.kernel.threads.iter();
                let is_first = is_first.map(|it| format!("{} == 0", self.words.names.thread_along(it.axis)));
                let is_first: Vec<String> = is_first.collect();
                self.once(&is_first, |own| {
                    own.own_arrays(items);
                    own.items(items);
                });
            }
        }
    }

    /// Positions, each on its thread.
    fn stage(&mut self, stage: &Stage) {
        self.open("stage", []);
        let kernel = self.words.kernel;
        let beside =
            kernel.threads.iter().filter(|it| stage.positions.iter().all(|(axis, _)| *axis != it.axis));
        let beside: Vec<String> =
            beside.map(|it| format!("{} == 0", self.words.names.thread_along(it.axis))).collect();
        let mut n_open = 0;
        if !beside.is_empty() {
            self.writer.line(format_args!("if ({}) {{", beside.join(" && ")));
            self.writer.indent();
            n_open += 1;
        }
        for (axis, positions) in &stage.positions {
            let Some(threads) = kernel.threads.iter().find(|it| it.axis == *axis) else { continue };
            let (variable, start) =
                (self.words.symbol(&positions.variable), self.words.size(&positions.start));
            let end = self.words.size(&positions.end).0;
            let thread = self.words.names.thread_along(*axis).to_owned();
            let (step, count) = (positions.step, i64::from(threads.count));
            let is_at_base = matches!(&positions.start, Size::Affine(it) if *it == threads.base);
            let times = |step: i64| if step == 1 { thread.clone() } else { format!("{step} * {thread}") };
            let first = match () {
                () if count == 1 => start.0,
                () if is_at_base && start.0 == "0" => times(step),
                () if is_at_base => format!("{} + {}", start.0, times(step)),
                () => {
                    let base = self.words.affine(&threads.base).0;
                    format!("isobar_first({}, {base}, {step}, {count}, {thread})", start.0)
                }
            };
            let stride = step * count;
            let next = if stride == 1 { format!("++{variable}") } else { format!("{variable} += {stride}") };
            self.statement(&format!(
                "for (isobar_index {variable} = {first}; {variable} < {end}; {next}) {{"
            ));
            self.writer.indent();
            n_open += 1;
        }
        self.own_arrays(&stage.items);
        self.items(&stage.items);
        for _ in 0..n_open {
            self.writer.dedent();
            self.writer.line("}");
        }
        self.writer.close();
    }

    fn for_line(&mut self, it: &Positions, is_descending: bool) {
        let variable = self.words.symbol(&it.variable);
        let (start, end) = (self.words.size(&it.start), self.words.size(&it.end).0);
        let line = match (is_descending, it.step) {
            (false, 1) => {
                format!("for (isobar_index {variable} = {}; {variable} < {end}; ++{variable}) {{", start.0)
            }
            (false, step) => {
                format!(
                    "for (isobar_index {variable} = {}; {variable} < {end}; {variable} += {step}) {{",
                    start.0
                )
            }
            (true, 1) => format!(
                "for (isobar_index {variable} = {end} - 1; {variable} >= {}; --{variable}) {{",
                start.0
            ),
            (true, step) => {
                let start = at_least(start, ATOM);
                format!(
                    "for (isobar_index {variable} = {start} + ({end} - {start} - 1) / {step} * {step}; {end} > {start} && \
                     {variable} >= {start}; {variable} -= {step}) {{"
                )
            }
        };
        self.statement(&line);
    }

    /// A block with the arrays that a thread has for itself there.
    /// Declares the arrays of registers that items name.
    fn own_arrays(&mut self, items: &[Item]) {
        let Words { kernels, names, .. } = self.words;
        let mut own = BTreeSet::new();
        walk(items, &mut |item| {
            item.each_element(&mut |it| {
                own.insert(it.array);
            });
        });
        for array in own {
            if memory(kernels, array) == Some(ArrayMemory::Registers) {
                let n = elements(kernels, array).unwrap_or(0).max(1);
                self.writer.line(format_args!("{} {}[{n}];", self.array_type(array), names.arrays[array]));
            }
        }
    }

    fn items(&mut self, items: &[Item]) {
        items.iter().for_each(|it| self.item(it));
    }

    fn block(&mut self, items: &[Item]) {
        self.writer.indent();
        self.items(items);
        self.writer.dedent();
    }

    fn item(&mut self, item: &Item) {
        match item {
            Item::Assign(Assign { target, value, origin }) => {
                self.open("assignment", [origin]);
                let target = match target {
                    Target::Element(it) => self.words.element(it),
                    Target::Local(local) => self.words.names.locals[*local].clone(),
                };
                let value = self.words.expr(value);
                self.statement(&format!("{target} = {value};"));
                self.writer.close();
            }
            Item::Declare(it) => self.declare(it),
            Item::Checked(it) => self.checked(it),
            Item::For(it) => {
                self.in_loop(|own| own.for_line(&it.positions, it.is_descending), |own| own.items(&it.body));
            }
            Item::If(it) => {
                self.branches(braces::arms(it), braces::otherwise(&it.otherwise), Self::items);
            }
            Item::While(it) => self.repeat(it),
            // Of a stage no part waits for other threads, and the passes of CPUs do not run before kernels.
            Item::Barrier | Item::Launch(_) | Item::Strips(_) => {
                debug_assert!(false, "a validator refuses it");
            }
        }
    }

    fn declare(&mut self, it: &Declare) {
        let local = &self.words.kernels.program.locals[it.local];
        let name = &self.words.names.locals[it.local];
        let qualifier = if it.is_const { "const " } else { "" };
        let declared = format!("{qualifier}{} {name}", c_type(local.dtype));
        match &it.value {
            Some((value, origin)) => {
                self.open("assignment", [origin]);
                let value = self.words.expr(value);
                self.statement(&format!("{declared} = {value};"));
                self.writer.close();
            }
            None => self.writer.line(format_args!("{declared} = 0;")),
        }
        if !local.is_read {
            self.writer.line(format_args!("(void){name};"));
        }
    }

    fn checked(&mut self, it: &BoundsCheck) {
        self.open("check", [&it.origin]);
        let mut outside = Vec::new();
        for Index { integer, value, size } in &it.indices {
            let name = self.words.names.integers[*integer].clone();
            let (value, size) = (self.words.expr(value), self.words.size(size).0);
            outside.push(format!("{name} < 0 || {name} >= {size}"));
            self.statement(&format!("const int64_t {name} = {value};"));
        }
        self.statement(&format!("if ({}) {{", outside.join(" || ")));
        self.writer.indent();
        self.raise();
        if it.is_in_while {
            self.writer.line("break;");
        }
        self.writer.dedent();
        self.writer.line("} else {");
        self.block(&it.body);
        self.writer.line("}");
        self.writer.close();
    }

    fn repeat(&mut self, it: &While) {
        self.open("while", [&it.origin]);
        let counter = self.words.names.integers[it.counter].clone();
        let condition = self.words.expr(&it.condition);
        self.statement(&format!("for (uint32_t {counter} = 0; {condition}; ++{counter}) {{"));
        self.writer.indent();
        self.writer.line(format_args!("if ({counter} == {MAX_ITERATIONS}u) {{"));
        self.writer.indent();
        self.raise();
        self.writer.line("break;");
        self.writer.dedent();
        self.writer.line("}");
        self.items(&it.body);
        self.writer.dedent();
        self.writer.line("}");
        self.writer.close();
    }

    /// Reports that the run must end at the next place of the program, at the cell at hand.
    fn raise(&mut self) {
        let kernels = self.words.kernels;
        let slot = self.slot;
        self.slot += 1;
        let Some(place) = kernels.places.get(slot) else { return };
        let numbering = place.numbering(kernels.halo);
        let [i, j, _] = numbering.cell;
        self.words.takes(Param::Slots);
        let sum = |it: Affine| self.words.affine(&it).0;
        let along = |axis: Axis| {
            self.words.takes(Param::Size(axis));
            format!("{} + {}", axis.name(), 2 * numbering.halo)
        };
        let slots = &self.words.names.slots;
        let (j, i) = (sum(j.moved(numbering.halo)), sum(i.moved(numbering.halo)));
        let (level, rows, columns) = (sum(numbering.level.clone()), along(Axis::J), along(Axis::I));
        let text = format!("isobar_raise(&{slots}[{slot}], {level}, {j}, {i}, {rows}, {columns});");
        self.statement(&text);
    }
}

/// Whether the sizes of all arrays in a block's memory are known here, and small enough that a launch need
/// not ask for the memory.
fn is_static(kernels: &Kernels, kernel: &Kernel, used: &CudaNameUses) -> bool {
    let bytes = used.shared.iter().try_fold(0_u64, |bytes, &array| {
        let size = kernels.program.arrays[array].dtype.size_bytes() as u64;
        let own = shared_elements(kernels, kernel, array)?.checked_mul(size)?;
        bytes.checked_add(own.checked_next_multiple_of(SHARED_ALIGNMENT)?)
    });
    bytes.is_some_and(|it| it <= STATIC_SHARED_BYTES)
}

/// The elements of an array in a block's memory.
fn shared_elements(kernels: &Kernels, kernel: &Kernel, array: Handle<Array>) -> Option<u64> {
    let of_thread = memory(kernels, array) == Some(ArrayMemory::SharedByThread);
    let threads = if of_thread { u64::from(kernel.n_threads().max(1)) } else { 1 };
    elements(kernels, array)?.checked_mul(threads)
}

/// The arrays that a kernel writes.
fn written(kernel: &Kernel) -> Vec<Handle<Array>> {
    let mut written = Vec::new();
    kernel.walk(&mut |item| {
        if let Item::Assign(Assign { target: Target::Element(it), .. }) = item {
            written.push(it.array);
        }
    });
    written
}

fn has_barriers(pieces: &[BlockStep]) -> bool {
    pieces.iter().any(|it| match it {
        BlockStep::Barrier => true,
        BlockStep::For { body, .. } => has_barriers(body),
        BlockStep::If { branches, otherwise } => {
            branches.iter().any(|it| has_barriers(&it.body)) || has_barriers(otherwise)
        }
        BlockStep::Stage(_) | BlockStep::Each(_) | BlockStep::Once(_) => false,
    })
}
