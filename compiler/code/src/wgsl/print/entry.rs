//! The entry point of a kernel: its attributes, and the values in front of what it does.

use super::super::memory::{ArrayPlacement, written};
use super::super::{KernelEntry, Param};
use super::{COMPONENTS, Printer, WgslNameUses, word_of};
use crate::braces::Braces;
use crate::types::DType;

impl Printer<'_> {
    /// The entry point of the kernel at hand.
    pub(super) fn entry(&mut self, used: &WgslNameUses, params: &[Param]) -> KernelEntry {
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
            if let Some(ArrayPlacement::Thread(n)) = self.lives.get(at).copied() {
                let of = self.options.element_type(self.kernels.program.arrays[at].dtype);
                let name = &self.names.arrays[at];
                self.writer.line(format_args!("var {name}: array<{of}, {n}>;"));
            }
        }
        self.body();
        self.used = WgslNameUses::default();
        self.writer.dedent();
        self.writer.line("}");
        self.writer.close();
        KernelEntry { name, threads, writes: written([kernel]) }
    }

    /// A parameter as a value.
    pub(super) fn param(&mut self, it: &Param, word: usize) {
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

    pub(super) fn name_of(&self, it: &Param) -> String {
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

    pub(super) fn takes(&mut self, it: Param) -> String {
        let name = self.name_of(&it);
        self.used.params.insert(it);
        name
    }

    /// The numbers of the thread and of the block.
    pub(super) fn threads(&mut self, used: &WgslNameUses) {
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
}
