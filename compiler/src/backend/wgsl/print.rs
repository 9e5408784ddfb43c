//! Kernels as one module.

use std::collections::BTreeSet;

use super::binding::{ATOM, Bound, PREFIX, PRODUCT, SUM, at_least, called};
use super::expression::Wording;
use super::memory::{Lives, buffers, lengths, lives, named, written};
use super::names::Names;
use super::prelude::Prelude;
use super::{Artifact, Binding, Doubles, Entry, Param, WgslOptions};
use crate::backend::emit::formula::broken;
use crate::backend::emit::paste;
use crate::backend::kernel::Kernels;
use crate::backend::kernel::nodes::{Kernel, Piece, Stage};
use crate::backend::run::MAX_ITERATIONS;
use crate::diag::{ListingWriter, Origin};
use crate::expr::Expr;
use crate::loops::nodes::{
    Assign, At, Branch, Checked, Declare, Element, Index, Item, Meaning, Positions, Read, Strides, Target,
    While,
};
use crate::space::order::is_at_most;
use crate::space::{Affine, Axis, Ring, Size, Symbol};
use crate::types::{DType, Value};

/// Longer statements are broken.
const WIDTH: usize = 104;

/// The turns of a `while` that a statement inside has ended.
const STOPPED: &str = "0xffffffffu";

/// What the numbers of blocks and threads are called along each dimension.
const COMPONENTS: [&str; 3] = ["x", "y", "z"];

/// Calls `each` for the conditions that are the same for all threads.
pub(super) fn each_condition(pieces: &[Piece], each: &mut dyn FnMut(&Expr<Read>)) {
    for piece in pieces {
        match piece {
            Piece::For { body, .. } => each_condition(body, each),
            Piece::If { branches, otherwise } => {
                for it in branches {
                    each(&it.condition);
                    each_condition(&it.body, each);
                }
                each_condition(otherwise, each);
            }
            Piece::Stage(_) | Piece::Barrier | Piece::Each(_) | Piece::Once(_) => {}
        }
    }
}

/// What a kernel's text names beside its own variables.
#[derive(Clone, Debug, Default)]
struct Used {
    params: BTreeSet<Param>,
    /// Positions of the host's loops.
    outer: BTreeSet<usize>,
    /// Arrays of a thread.
    own: BTreeSet<usize>,
    /// Whether it needs the number of the thread in its block.
    thread: bool,
    /// Of the thread, and of the block, in the launch.
    of_all: [bool; 2],
}

/// Writes the module.
pub(super) fn module(kernels: &Kernels, options: &WgslOptions) -> Artifact {
    let names = Names::of(kernels);
    let lives = lives(kernels, options);
    let has_traps = !kernels.places.is_empty();
    // Sizes, tables, and traps, beside arrays.
    let n_beside = 2 + usize::from(has_traps);
    let most = usize::try_from(options.buffers).unwrap_or(usize::MAX).saturating_sub(n_beside).max(1);
    let buffers = buffers(kernels, &lives, options, most);
    let of_array = (0..kernels.program.arrays.len())
        .map(|array| {
            let at = buffers.iter().position(|it| it.arrays.contains(&array))?;
            Some(match buffers[at].arrays.len() {
                1 => names.arrays[array].clone(),
                _ => names.shared[at].clone(),
            })
        })
        .collect();
    let draft = || Printer {
        kernels,
        options,
        names: &names,
        lives: &lives,
        of_array: &of_array,
        kernel: 0,
        used: Used::default(),
        wording: Wording::new(*options),
        writer: ListingWriter::new(),
        slot: 0,
        turns: Vec::new(),
        n_listed: 0,
    };
    // What a kernel names is known once it is written: so each is written twice.
    let mut first = draft();
    let mut used = Vec::new();
    for kernel in 0..kernels.kernels.len() {
        first.kernel = kernel;
        first.body();
        used.push(std::mem::take(&mut first.used));
    }
    let mut params: Vec<Param> = Axis::ALL.map(Param::Size).into();
    for it in used.iter().flat_map(|it| &it.params) {
        if !params.contains(it) {
            params.push(it.clone());
        }
    }
    let prelude = Prelude::of(&first.wording.needs, options);
    let mut printer = draft();
    let has_tables = !prelude.tables.entries.is_empty();
    let n_outer = kernels.kernels.iter().map(|it| it.outer.len()).max().unwrap_or(0);
    let mut bindings = vec![Binding::Sizes];
    if has_tables {
        bindings.push(Binding::Tables);
    }
    if has_traps {
        bindings.push(Binding::Traps);
    }
    bindings.extend(buffers.iter().map(|it| Binding::Arrays {
        arrays: it.arrays.clone(),
        is_written: it.is_written,
        is_own: it.is_own,
    }));
    for (at, it) in bindings.iter().enumerate() {
        let (access, name, of) = match it {
            Binding::Sizes => ("read", "sizes".to_owned(), "array<u32>".to_owned()),
            Binding::Tables => {
                let of = if options.doubles == Doubles::Native { "f64" } else { "vec2<u32>" };
                ("read", "tables".to_owned(), format!("array<{of}>"))
            }
            Binding::Traps => ("read_write", "traps".to_owned(), "array<atomic<u32>>".to_owned()),
            Binding::Arrays { arrays, is_written, .. } => {
                let access = if *is_written { "read_write" } else { "read" };
                let name = arrays.first().and_then(|it| of_array[*it].clone()).unwrap_or_default();
                let of = options.element_type(kernels.program.arrays[arrays[0]].dtype);
                (access, name, format!("array<{of}>"))
            }
        };
        printer.writer.line(format_args!("@group(0) @binding({at}) var<storage, {access}> {name}: {of};"));
    }
    if n_outer > 0 {
        printer.writer.line("");
        printer.writer.line("// Of the loops of the host around a launch.");
        printer.writer.line("struct Launch {");
        for at in 0..n_outer {
            printer.writer.line(format_args!("  position_{at}: i32,"));
        }
        printer.writer.line("}");
        printer.writer.line("var<immediate> launch: Launch;");
    }
    printer.shared_arrays();
    for text in &prelude.texts {
        printer.writer.line("");
        paste(&mut printer.writer, text);
    }
    let mut entries = Vec::new();
    for (kernel, used) in used.iter().enumerate() {
        printer.kernel = kernel;
        entries.push(printer.entry(used, &params));
    }
    Artifact {
        listing: printer.writer.finish(),
        options: *options,
        bindings,
        params,
        tables: prelude.tables,
        entries,
        lives,
        immediate_bytes: 4 * u32::try_from(n_outer).unwrap_or(0),
    }
}

/// The word of the block of sizes at which a parameter stands: the first word is 0.
pub(super) fn word_of(params: &[Param], options: &WgslOptions, kernels: &Kernels, wanted: &Param) -> usize {
    let before = params.iter().take_while(|it| *it != wanted);
    1 + before.map(|it| it.words(kernels, options)).sum::<usize>()
}

struct Printer<'p> {
    kernels: &'p Kernels,
    options: &'p WgslOptions,
    names: &'p Names,
    lives: &'p [Option<Lives>],
    /// The buffer in which an array lies.
    of_array: &'p Vec<Option<String>>,
    /// The one at hand.
    kernel: usize,
    used: Used,
    wording: Wording,
    writer: ListingWriter,
    /// Of the next place where a run may have to end.
    slot: usize,
    /// The counters of the `while` around, from outside in.
    turns: Vec<String>,
    n_listed: usize,
}

impl<'p> Printer<'p> {
    fn at_hand(&self) -> &'p Kernel {
        &self.kernels.kernels[self.kernel]
    }

    fn open<'a>(&mut self, kind: &'static str, origins: impl IntoIterator<Item = &'a Origin>) {
        self.writer.open(format!("w{}", self.n_listed), kind, origins);
        self.n_listed += 1;
    }

    fn statement(&mut self, text: &str) {
        for part in broken(text, 0, WIDTH) {
            self.writer.line(part);
        }
    }

    /// Arrays of a block, each once.
    fn shared_arrays(&mut self) {
        let mut is_first = true;
        for (at, it) in self.lives.iter().enumerate() {
            let users: Vec<&Kernel> =
                self.kernels.kernels.iter().filter(|it| named(it).contains(&at)).collect();
            let n = match it {
                Some(Lives::Block(n)) => *n,
                // One kernel makes it.
                Some(Lives::BlockByThread(n)) => {
                    let most = users.iter().map(|it| u64::from(it.n_threads().max(1))).max();
                    n.saturating_mul(most.unwrap_or(1))
                }
                _ => continue,
            };
            if users.is_empty() {
                continue;
            }
            if is_first {
                self.writer.line("");
                self.writer.line("// Arrays of a block.");
                is_first = false;
            }
            let of = self.options.element_type(self.kernels.program.arrays[at].dtype);
            let name = &self.names.arrays[at];
            self.writer.line(format_args!("var<workgroup> {name}: array<{of}, {n}>;"));
        }
    }

    /// The entry point of the kernel at hand.
    fn entry(&mut self, used: &Used, params: &[Param]) -> Entry {
        let kernel = self.at_hand();
        let name = self.names.kernels[self.kernel].clone();
        let mut threads = [1; 3];
        for (count, it) in threads.iter_mut().zip(&kernel.threads) {
            *count = it.count;
        }
        let [x, y, z] = threads;
        let n_steps = self.kernels.program.steps.len();
        self.writer.line("");
        self.open("kernel", []);
        self.writer.line(format_args!("// Step {} of {n_steps}", kernel.step + 1));
        self.writer.line(format_args!("@compute @workgroup_size({x}, {y}, {z})"));
        let mut builtins = Vec::new();
        if !kernel.grid.is_empty() || used.of_all.contains(&true) {
            builtins.push("@builtin(workgroup_id) block_id: vec3<u32>");
        }
        if !kernel.threads.is_empty() {
            builtins.push("@builtin(local_invocation_id) thread_id: vec3<u32>");
        }
        if used.of_all.contains(&true) {
            builtins.push("@builtin(num_workgroups) n_blocks: vec3<u32>");
        }
        if builtins.is_empty() {
            self.writer.line(format_args!("fn {name}() {{"));
        } else {
            self.writer.line(format_args!("fn {name}("));
            builtins.iter().for_each(|it| self.writer.line(format_args!("    {it},")));
            self.writer.line(") {");
        }
        self.writer.indent();
        for it in params {
            if used.params.contains(it) {
                self.param(it, word_of(params, self.options, self.kernels, it));
            }
        }
        for &at in &used.outer {
            let variable = self.names.position(&kernel.outer[at]).unwrap_or_default().to_owned();
            self.writer.line(format_args!("let {variable} = launch.position_{at};"));
        }
        self.threads(used);
        for &at in &used.own {
            if let Some(Lives::Thread(n)) = self.lives[at] {
                let of = self.options.element_type(self.kernels.program.arrays[at].dtype);
                let name = &self.names.arrays[at];
                self.writer.line(format_args!("var {name}: array<{of}, {n}>;"));
            }
        }
        self.body();
        self.used = Used::default();
        self.writer.dedent();
        self.writer.line("}");
        self.writer.close();
        Entry { name, threads, writes: written([kernel]) }
    }

    /// A parameter as a value.
    fn param(&mut self, it: &Param, word: usize) {
        let name = self.name_of(it);
        let Param::Value(array) = it else {
            self.writer.line(format_args!("let {name} = bitcast<i32>(sizes[{word}]);"));
            return;
        };
        let dtype = self.options.computed(self.kernels.program.arrays[*array].dtype);
        let long = format!("u64(sizes[{word}]) | (u64(sizes[{}]) << 32u)", word + 1);
        let text = match dtype {
            it if self.options.is_pair(it) => format!("vec2<u32>(sizes[{word}], sizes[{}])", word + 1),
            DType::Bool => format!("sizes[{word}] != 0u"),
            DType::Int8 | DType::Int16 | DType::Int32 => format!("bitcast<i32>(sizes[{word}])"),
            DType::Float32 => format!("bitcast<f32>(sizes[{word}])"),
            DType::Int64 => format!("bitcast<i64>({long})"),
            DType::Float64 => format!("bitcast<f64>({long})"),
        };
        self.writer.line(format_args!("let {name} = {text};"));
    }

    fn name_of(&self, it: &Param) -> String {
        match it {
            Param::Size(axis) => axis.name().to_owned(),
            Param::Start(array) => format!("{}_at", self.names.arrays[*array]),
            Param::Elements(array) => format!("{}_size", self.names.arrays[*array]),
            Param::Stride { array, dimension } => {
                format!(
                    "{}{}",
                    self.names.arrays[*array],
                    self.kernels.program.arrays[*array].suffix(*dimension)
                )
            }
            Param::Levels { array, side } => format!("{}_{}", self.names.arrays[*array], side.name()),
            Param::Value(array) => self.names.arrays[*array].clone(),
        }
    }

    fn takes(&mut self, it: Param) -> String {
        let name = self.name_of(&it);
        self.used.params.insert(it);
        name
    }

    /// The numbers of the thread and of the block.
    fn threads(&mut self, used: &Used) {
        let kernel = self.at_hand();
        let mut number = String::new();
        for (it, component) in kernel.threads.iter().zip(COMPONENTS).rev() {
            let name = self.names.thread_along(it.axis);
            self.writer.line(format_args!("let {name} = i32(thread_id.{component});"));
            number = match number.is_empty() {
                true => name.to_owned(),
                false => format!("({number}) * {} + {name}", it.count),
            };
        }
        let number = if number.is_empty() { "0".to_owned() } else { number };
        let [of_threads, of_blocks] = used.of_all;
        if used.thread || of_threads {
            let thread = &self.names.thread;
            self.writer.line(format_args!("let {thread} = {number};"));
        }
        let [thread_of_all, block_of_all] = &self.names.of_all;
        if of_threads || of_blocks {
            let text = "i32((block_id.z * n_blocks.y + block_id.y) * n_blocks.x + block_id.x)";
            self.writer.line(format_args!("let {block_of_all} = {text};"));
        }
        if of_threads {
            let (n, n_of_all, thread) = (kernel.n_threads().max(1), &self.names.n_of_all, &self.names.thread);
            let text = format!("let {n_of_all} = {n} * i32(n_blocks.x * n_blocks.y * n_blocks.z);");
            self.writer.line(text);
            self.writer.line(format_args!("let {thread_of_all} = {block_of_all} * {n} + {thread};"));
        }
    }

    /// What a block does; its positions come first. The last one is the fastest.
    fn body(&mut self) {
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

    fn pieces(&mut self, pieces: &[Piece]) {
        pieces.iter().for_each(|it| self.piece(it));
    }

    fn piece(&mut self, piece: &Piece) {
        match piece {
            Piece::Stage(it) => self.stage(it),
            Piece::Barrier => {
                // What was written to a buffer is seen behind the first, to the block's memory behind the second.
                if self.shares_buffers() {
                    self.writer.line("storageBarrier();");
                }
                self.writer.line("workgroupBarrier();");
            }
            Piece::For { positions, is_descending, body, .. } => {
                self.open("loop", []);
                self.for_line(positions, *is_descending);
                self.writer.indent();
                self.pieces(body);
                self.writer.dedent();
                self.writer.line("}");
                self.writer.close();
            }
            Piece::If { branches, otherwise } => {
                self.open("branch", branches.iter().map(|it| &it.origin));
                for (at, arm) in branches.iter().enumerate() {
                    let condition = self.expr(&arm.condition).0;
                    let keyword = if at == 0 { "if" } else { "} else if" };
                    self.statement(&format!("{keyword} {condition} {{"));
                    self.writer.indent();
                    self.pieces(&arm.body);
                    self.writer.dedent();
                }
                if !otherwise.is_empty() {
                    self.writer.line("} else {");
                    self.writer.indent();
                    self.pieces(otherwise);
                    self.writer.dedent();
                }
                self.writer.line("}");
                self.writer.close();
            }
            Piece::Each(items) => self.items(items),
            Piece::Once(items) => {
                self.open("once", []);
                let kernel = self.at_hand();
                let is_first: Vec<String> = kernel
                    .threads
                    .iter()
                    .map(|it| format!("{} == 0", self.names.thread_along(it.axis)))
                    .collect();
                match is_first.as_slice() {
                    [] => self.writer.line("{"),
                    _ => self.writer.line(format_args!("if {} {{", is_first.join(" && "))),
                }
                self.block(items);
                self.writer.line("}");
                self.writer.close();
            }
        }
    }

    /// Whether threads of a block may read in a buffer what others of it wrote there.
    fn shares_buffers(&self) -> bool {
        let kernel = self.at_hand();
        let is_shared = |at: &usize| matches!(self.lives[*at], Some(Lives::Global | Lives::OfBlocks));
        let mut read = BTreeSet::new();
        let mut note = |expr: &Expr<Read>| {
            expr.accesses(&mut |it| {
                if let Read::Element(it) = it {
                    read.insert(it.array);
                }
            });
        };
        kernel.walk(&mut |item| item.each_expr(&mut note));
        each_condition(&kernel.body, &mut note);
        written([kernel]).iter().any(|it| is_shared(it) && read.contains(it))
    }

    /// Positions, each on its thread.
    fn stage(&mut self, stage: &Stage) {
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

    fn for_line(&mut self, it: &Positions, is_descending: bool) {
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
                self.open("loop", []);
                self.for_line(&it.positions, it.is_descending);
                self.block(&it.body);
                self.writer.line("}");
                self.writer.close();
            }
            Item::If(it) => {
                self.open("branch", it.branches.iter().map(|it| &it.origin));
                for (at, Branch { condition, body, .. }) in it.branches.iter().enumerate() {
                    let condition = self.expr(condition).0;
                    let keyword = if at == 0 { "if" } else { "} else if" };
                    self.statement(&format!("{keyword} {condition} {{"));
                    self.block(body);
                }
                if !it.otherwise.is_empty() {
                    self.writer.line("} else {");
                    self.block(&it.otherwise);
                }
                self.writer.line("}");
                self.writer.close();
            }
            Item::While(it) => self.repeat(it),
            Item::Barrier | Item::Launch(_) | Item::Strips(_) => {
                debug_assert!(false, "a validator refuses it");
            }
        }
    }

    fn checked(&mut self, it: &Checked) {
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

    /// A `while`. Some devices end a loop after so many turns of their own, and say nothing; so it is behind the loop
    /// that a text asks whether it would go on.
    fn repeat(&mut self, it: &While) {
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
    fn end_at(&mut self) {
        let noted = self.noted();
        self.statement(&noted);
    }

    /// The same as a statement that stands elsewhere.
    fn noted(&mut self) -> String {
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

    fn expr(&mut self, expr: &Expr<Read>) -> Bound {
        let mut wording = std::mem::replace(&mut self.wording, Wording::new(*self.options));
        let text = wording.of(expr, &mut |wording, read, dtype| self.read(wording, read, dtype));
        let mut needs = std::mem::take(&mut self.wording.needs);
        wording.needs.names.append(&mut needs.names);
        wording.needs.formulas.append(&mut needs.formulas);
        self.wording = wording;
        text
    }

    fn read(&mut self, wording: &mut Wording, read: &Read, dtype: DType) -> Bound {
        match read {
            Read::Local(local) => (self.names.locals[*local].clone(), ATOM),
            Read::Sum(sum) => match sum.as_constant() {
                Some(constant) => {
                    let span = crate::diag::Span::default();
                    let kind = crate::expr::ExprKind::Literal(Value::Int64(constant).cast(dtype));
                    let literal: Expr<Read> = Expr { kind, dtype, span };
                    wording.of(&literal, &mut |_, _, _| (String::new(), ATOM))
                }
                None => {
                    let text = self.affine(sum);
                    wording.cast(text, DType::Int32, dtype)
                }
            },
            Read::Element(it) if self.kernels.program.arrays[it.array].is_scalar_argument() => {
                (self.takes(Param::Value(it.array)), ATOM)
            }
            Read::Element(it) => {
                let text = self.element(it);
                wording.loaded(text, dtype)
            }
        }
    }

    fn symbol(&mut self, symbol: &Symbol) -> String {
        match self.kernels.program.symbols.get(symbol) {
            Some(&Meaning::Size(axis)) => self.takes(Param::Size(axis)),
            Some(&Meaning::Levels { array, side }) => self.takes(Param::Levels { array, side }),
            Some(Meaning::Position(_)) | None => {
                let kernel = self.at_hand();
                if let Some(at) = kernel.outer.iter().position(|it| it == symbol) {
                    self.used.outer.insert(at);
                }
                match self.names.position(symbol) {
                    Some(name) => name.to_owned(),
                    // The sizes of a domain are known by their names wherever nothing else has them.
                    None => match Axis::ALL.into_iter().find(|it| it.name() == symbol.name()) {
                        Some(axis) => self.takes(Param::Size(axis)),
                        None => symbol.name().to_owned(),
                    },
                }
            }
        }
    }

    fn affine(&mut self, sum: &Affine) -> Bound {
        let mut text = String::new();
        let mut n_terms = 0;
        let mut binding = ATOM;
        for (symbol, factor) in sum.terms() {
            let sign = match (n_terms, factor < 0) {
                (0, false) => "",
                (0, true) => "-",
                (_, false) => " + ",
                (_, true) => " - ",
            };
            text.push_str(sign);
            binding = if n_terms > 0 {
                SUM
            } else if factor < 0 {
                PREFIX
            } else {
                ATOM
            };
            if factor.unsigned_abs() != 1 {
                text.push_str(&format!("{} * ", factor.unsigned_abs()));
                binding = binding.min(PRODUCT);
            }
            text.push_str(&self.symbol(symbol));
            n_terms += 1;
        }
        match (n_terms, sum.offset()) {
            (0, constant) => (constant.to_string(), if constant < 0 { PREFIX } else { ATOM }),
            (_, 0) => (text, binding),
            (_, constant) if constant < 0 => (format!("{text} - {}", constant.unsigned_abs()), SUM),
            (_, constant) => (format!("{text} + {constant}"), SUM),
        }
    }

    fn size(&mut self, size: &Size) -> Bound {
        let (function, parts) = match size {
            Size::Affine(sum) => return self.affine(sum),
            Size::Min(parts) => ("min", parts),
            Size::Max(parts) => ("max", parts),
        };
        let mut all: Option<Bound> = None;
        for it in parts {
            let next = self.size(it);
            all = Some(match all {
                Some(all) => called(function, [all, next]),
                None => next,
            });
        }
        all.unwrap_or_else(|| ("0".to_owned(), ATOM))
    }

    /// An element where it lies in memory.
    fn element(&mut self, element: &Element) -> String {
        let at = element.array;
        let array = &self.kernels.program.arrays[at];
        let lives = self.lives[at].unwrap_or(Lives::Global);
        let mut terms = Vec::new();
        if lives.is_in_buffer() {
            terms.push(self.takes(Param::Start(at)));
        }
        let n_before = terms.len();
        for (dimension, index) in element.index.iter().enumerate() {
            let position = match index {
                At::Known(sum) => self.affine(sum),
                At::Found { integer, shift } => {
                    let found = self.names.integers[*integer].clone();
                    if *shift == Affine::default() {
                        (found, ATOM)
                    } else {
                        (format!("{found} - {}", at_least(self.affine(shift), ATOM)), SUM)
                    }
                }
            };
            if position.0 == "0" {
                continue;
            }
            let position = match Ring::places_along(array.ring, dimension) {
                Some(places) => (format!("({} & {})", at_least(position, PREFIX), places - 1), ATOM),
                None => position,
            };
            match self.stride(at, dimension) {
                stride if stride == "1" => terms.push(at_least(position, SUM)),
                stride => terms.push(format!("{} * {stride}", at_least(position, PRODUCT))),
            }
        }
        let own = if terms.len() == n_before { "0".to_owned() } else { terms[n_before..].join(" + ") };
        let start = terms.first().cloned().unwrap_or_default();
        let [of_all, block] = self.names.of_all.clone();
        let text = match lives {
            Lives::Global => {
                if terms.is_empty() {
                    "0".to_owned()
                } else {
                    terms.join(" + ")
                }
            }
            Lives::Block(_) => own,
            Lives::Thread(_) => {
                self.used.own.insert(at);
                own
            }
            Lives::BlockByThread(_) => {
                self.used.thread = true;
                let n = self.at_hand().n_threads().max(1);
                format!("({own}) * {n} + {}", self.names.thread)
            }
            Lives::OfThreads => {
                self.used.of_all[0] = true;
                format!("{start} + ({own}) * {} + {of_all}", self.names.n_of_all)
            }
            Lives::OfBlocks => {
                self.used.of_all[1] = true;
                let size = self.takes(Param::Elements(at));
                format!("{start} + {block} * {size} + {own}")
            }
        };
        let name = self.of_array[at].as_deref().unwrap_or(&self.names.arrays[at]);
        format!("{name}[{text}]")
    }

    /// The stride of an array: a number where that is the same for each call.
    fn stride(&mut self, at: usize, dimension: usize) -> String {
        let array = &self.kernels.program.arrays[at];
        if array.strides == Strides::Packed {
            let before = lengths(self.kernels, at, self.options).into_iter().take(dimension);
            if let Some(stride) = before.into_iter().try_fold(1_i64, |n, it| n.checked_mul(it?.max(0))) {
                return stride.to_string();
            }
        } else if self.options.is_unit && array.axes.iter().nth(dimension) == Some(Axis::I) {
            return "1".to_owned();
        }
        self.takes(Param::Stride { array: at, dimension })
    }
}
