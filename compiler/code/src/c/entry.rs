//! The function that is called: it takes the arguments, allocates, and does the steps.

use super::print::{File, from_row_to_row, starts_at_line};
use crate::c_family::binding::ATOM;
use crate::c_family::expression::{affine, at_least, c_element_type, c_type, size};
use crate::entity::Handle;
use crate::loops::nodes::{Array, ArrayKind, BETWEEN_THREADS, Program, Storage, SymbolMeaning};
use crate::space::{Affine, Axis, AxisSet, Size, Symbol};

impl File<'_> {
    /// The function that a runner calls.
    pub(super) fn entry(&mut self) {
        self.writer.line("");
        let is_part = self.program.decisions.n_parts() > 1;
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
                .values()
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
        let least = self.program.decisions.least_points();
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
        let temporaries: Vec<(Handle<Array>, Array)> =
            self.temporaries().map(|(at, it)| (at, it.clone())).collect();
        if temporaries.is_empty() {
            return;
        }
        self.writer.line("");
        self.writer.line("/* All temporaries in one piece: the caller's, or one of this call. */");
        self.reserved(&temporaries);
        let (program, arrays) = (self.program, &self.program.arrays);
        let mut spell = |symbol: &Symbol| spelled(program, symbol);
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
            let row_start = program.decisions.row_start(*at);
            if row_start > 0 && !starts_at_line(&arrays[*at]) {
                start.push(row_start.to_string());
            }
            let mut stride: Option<String> = None;
            let places: Vec<Size> = program.places(*at).collect();
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

    /// How much a call needs, in bytes, and where in it each temporary starts.
    fn reserved(&mut self, temporaries: &[(Handle<Array>, Array)]) {
        self.writer.line("uint64_t size = 0;");
        let program = self.program;
        let arrays = &program.arrays;
        let has_own = temporaries.iter().any(|(at, _)| arrays[*at].is_per_thread);
        if has_own {
            self.writer.line("/* Those of each thread lie together, a page from the next thread's: what the processor fetches");
            self.writer.line("   ahead of one thread is not what another one writes. */");
            self.writer.line(format_args!("uint64_t each = {BETWEEN_THREADS};"));
        }
        let mut spell = |symbol: &Symbol| spelled(program, symbol);
        for (at, it) in temporaries {
            let name = self.name(*at).to_owned();
            let ctype = c_element_type(it.dtype);
            let places: Vec<Size> = program.places(*at).collect();
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
    }

    /// A function that tells how much memory a call needs for its temporaries, with what aligning them may cost.
    pub(super) fn workspace(&mut self) {
        self.writer.line("static uint64_t isobar_workspace(const isobar_call *call)");
        self.writer.line("{");
        self.writer.indent();
        let temporaries: Vec<(Handle<Array>, Array)> =
            self.temporaries().map(|(at, it)| (at, it.clone())).collect();
        if temporaries.is_empty() {
            self.writer.line("(void)call;");
            self.writer.line("return 0;");
        } else {
            self.writer.line("const int64_t I = call->domain[0], J = call->domain[1], K = call->domain[2];");
            self.writer.line("if (I <= 0 || J <= 0 || K <= 0) return 0;");
            self.writer.line("struct run run = {.I = I, .J = J, .K = K};");
            self.writer.line("run.threads = call->threads > 0 ? (int)call->threads : omp_get_max_threads();");
            let fields =
                |it: &&Handle<Array>| matches!(self.program.arrays[**it].kind, ArrayKind::Field { .. });
            for (number, &at) in self.program.arguments.iter().filter(fields).enumerate() {
                let name = self.name(at).to_owned();
                for side in Self::sides(&self.program.arrays[at]) {
                    self.writer
                        .line(format_args!("run.{name}_{0} = call->fields[{number}].{0};", side.name()));
                }
            }
            self.reserved(&temporaries);
            self.writer.line("(void)run;");
            self.writer.line("return size < UINT64_MAX - 63 ? size + 63 : UINT64_MAX;");
        }
        self.writer.dedent();
        self.writer.line("}");
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

/// A size as the entry calls it.
fn spelled(program: &Program, symbol: &Symbol) -> String {
    match program.symbols.get(symbol) {
        Some(&SymbolMeaning::Levels { array: at, side }) => {
            format!("run.{}_{}", program.arrays[at].name.as_deref().unwrap_or_default(), side.name())
        }
        _ => symbol.name().to_owned(),
    }
}
