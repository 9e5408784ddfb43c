//! The function of a program: its arrays, its scalars and its statements, in order.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use isobar_program::interpret::{GroupParam, HaloFill};
use isobar_program::nodes::{
    CallArgument, Container, ContainerPart, ContainerRole, ExchangeKind, ExchangePhase, HaloExchange,
    ProgramStmt, ProgramStmtKind,
};
use isobar_program::scalar::nodes::{ScalarExpr, ScalarRole, ScalarVariable};
use isobar_program::size::AffineSize;

use super::super::c::harmless;
use super::super::kernel::{TrapPlace, traps_of};
use super::super::listed;
use super::GroupText;
use super::arrays::size;
use super::events::{CallerStatement, CallerTask, number_of};
use super::expressions::{ScalarWriter, literal};
use crate::c::{c_type, math};
use crate::c_family::Language;
use crate::call::signature::ParamKind;
use crate::diag::{LineIndex, Span};
use crate::entity::Handle;
use crate::pipeline::whole::{WholeProgram, kept_scalars};
use crate::space::Axis;
use crate::types::{DType, Value};

const ABI: &str = crate::c::ABI;
const HELPERS: &str = include_str!("../texts/program.h");

/// A loop that calls no stencil ends too where the call is cancelled.
const GO_ON: &str = "if (call->cancel != NULL && *call->cancel != 0) {\n  status = 3;\n  goto end;\n}";

const NO_VALUE: &str = "a number of this statement has no value, as a quotient by zero";
const NO_END: &str = "the `while` does not end within its limit, or its condition has no value";
const ENDED: &str = "the function of the caller ended the run here";
const ENDED_OR_LEFT_OUT: &str =
    "the function of the caller ended the run here, or did not give a number that it has to give";
const TRAP: &str = "the program ends the run here";

/// The code of a program for calls with any number of threads, or with one.
pub(super) struct DriverText {
    pub(super) text: String,
    /// The function that tells how much memory a call needs.
    pub(super) workspace: String,
    pub(super) traps: Vec<TrapPlace>,
}

/// The name of a program's code, and the texts that it is made of.
#[derive(Clone, Copy)]
pub(super) struct Named<'d> {
    pub(super) name: &'d str,
    pub(super) of_caller: &'d [CallerStatement],
    /// Name and text of each file.
    pub(super) sources: &'d [(&'d str, &'d str)],
    pub(super) is_one_thread: bool,
}

/// Writes the statements of a program.
pub(super) struct Driver<'d, 'a> {
    pub(super) code: &'d WholeProgram,
    pub(super) groups: &'d [GroupText<'a>],
    named: Named<'d>,
    indices: Vec<LineIndex>,
    expressions: ScalarWriter,
    /// The statements so far.
    body: String,
    depth: usize,
    traps: Vec<TrapPlace>,
    /// The number of the first statement of each group's code among those that may end a run.
    firsts: Vec<u32>,
    n_statements: u32,
    n_callbacks: usize,
    /// The fields that exchanges which have begun keep their values in: each exchange with the numbers of its arrays.
    held: Vec<(HaloExchange, Vec<usize>)>,
    /// The declarations of these arrays.
    pub(super) held_arrays: Vec<Handle<Container>>,
}

pub(super) fn text(code: &WholeProgram, groups: &[GroupText<'_>], named: Named<'_>) -> DriverText {
    let mut first = 0;
    code.program.body.iter().for_each(|it| it.walk(&mut |_| first += 1));
    let (mut firsts, mut traps) = (Vec::new(), Vec::new());
    for group in groups {
        firsts.push(first);
        traps.extend(traps_of(&group.artifact.listing, first));
        let stmts = group.artifact.listing.nodes.iter().flat_map(|it| &it.stmts);
        first += stmts.map(|it| it.0 + 1).max().unwrap_or(0);
    }
    let mut driver = Driver {
        code,
        groups,
        named,
        indices: named.sources.iter().map(|it| LineIndex::new(it.1)).collect(),
        expressions: ScalarWriter::default(),
        body: String::new(),
        depth: 1,
        traps: Vec::new(),
        firsts,
        n_statements: 0,
        n_callbacks: 0,
        held: Vec::new(),
        held_arrays: Vec::new(),
    };
    driver.statements(&code.program.body);
    let text = driver.file();
    let workspace = driver.workspace();
    traps.splice(0..0, driver.traps);
    DriverText { text, workspace, traps }
}

/// The number of a type of elements in the interface.
fn dtype_number(dtype: DType) -> usize {
    DTYPES.iter().position(|it| *it == dtype).unwrap_or(0)
}

/// In the order of `abi.h`.
const DTYPES: [DType; 7] =
    [DType::Bool, DType::Int8, DType::Int16, DType::Int32, DType::Int64, DType::Float32, DType::Float64];

/// Whether a number that a callback did not give can be told from one that it gave: small integers have no bits to spare.
fn is_told_apart(dtype: DType) -> bool {
    !matches!(dtype, DType::Int8 | DType::Int16)
}

/// In the order of `caller_abi.h`.
fn kind_number(kind: ExchangeKind) -> usize {
    ExchangeKind::ALL.iter().position(|it| it.0 == kind).unwrap_or(0)
}

impl Driver<'_, '_> {
    fn line(&mut self, text: impl AsRef<str>) {
        for line in text.as_ref().lines() {
            let _ = writeln!(self.body, "{:1$}{line}", "", 2 * self.depth);
        }
    }

    fn open(&mut self, text: impl AsRef<str>) {
        self.line(text);
        self.depth += 1;
    }

    fn close(&mut self) {
        self.depth -= 1;
        self.line("}");
    }

    /// The last part of a file's name, and the line.
    fn place(&self, span: Span) -> Option<String> {
        let file = usize::from(span.file.0);
        let (&(name, text), index) = self.named.sources.get(file).zip(self.indices.get(file))?;
        Some(format!("{}:{}", harmless(name), index.line_col(text, span.start).line))
    }

    fn statements(&mut self, body: &[ProgramStmt]) {
        body.iter().for_each(|it| self.statement(it));
    }

    /// Ends the run with a statement where a condition holds.
    fn ends_where(&mut self, condition: &str, number: u32, (span, why): (Span, &'static str)) {
        if !self.traps.iter().any(|it| it.number == number) {
            self.traps.push(TrapPlace { number, span, why });
        }
        self.line(format!("if ({condition}) ISOBAR_END({number});"));
    }

    fn no_fault(&mut self, number: u32, span: Span) {
        self.ends_where("fault != 0", number, (span, NO_VALUE));
    }

    fn statement(&mut self, stmt: &ProgramStmt) {
        let number = self.n_statements;
        self.n_statements += 1;
        let span = stmt.span;
        if let Some(place) = self.place(span) {
            self.line(format!("/* {place} */"));
        }
        match &stmt.kind {
            ProgramStmtKind::Group { number: group, body } => self.group(*group, body),
            ProgramStmtKind::For { variable, range, body } => {
                self.for_loop(*variable, range, body, (number, span))
            }
            ProgramStmtKind::While { condition, limit, body } => {
                self.open("{");
                self.open(format!("for (uint64_t turn_{number} = 0;; ++turn_{number}) {{"));
                self.line(GO_ON);
                let holds = self.expressions.truth(condition);
                self.line(format!("const bool holds = {holds};"));
                self.ends_where("fault != 0", number, (span, NO_END));
                self.line("if (!holds) break;");
                self.line(format!("if (turn_{number} == UINT64_C({limit})) ISOBAR_END({number});"));
                self.statements(body);
                self.close();
                self.close();
            }
            ProgramStmtKind::If { condition, then, otherwise } => {
                self.open("{");
                let holds = self.expressions.truth(condition);
                self.line(format!("const bool holds = {holds};"));
                self.no_fault(number, span);
                self.open("if (holds) {");
                self.statements(then);
                if !otherwise.is_empty() {
                    self.depth -= 1;
                    self.open("} else {");
                    self.statements(otherwise);
                }
                self.close();
                self.close();
            }
            ProgramStmtKind::Let { variable, value } => self.give(*variable, value, (number, span)),
            ProgramStmtKind::Swap(one, other) => self.swap(one, other),
            ProgramStmtKind::Exchange(exchange) => match number_of(self.named.of_caller, exchange) {
                Some(which) => {
                    let phase = match exchange.phase {
                        ExchangePhase::Update => "ISOBAR_UPDATE",
                        ExchangePhase::Start => "ISOBAR_START",
                        ExchangePhase::Wait => "ISOBAR_WAIT",
                    };
                    self.ask(&self.named.of_caller[which], which, phase, (number, span));
                }
                None => self.exchange(exchange),
            },
            ProgramStmtKind::Trap(_) => self.ends_where("true", number, (span, TRAP)),
            ProgramStmtKind::Copy { from, to } if from != to => {
                self.open("{");
                let (from, to) = (self.part(from, "from"), self.part(to, "to"));
                self.line(format!("isobar_copy_all({to}, {from});"));
                self.close();
            }
            ProgramStmtKind::Fill { target, value } => {
                let dtype = self.code.program.containers[target.container].dtype;
                self.open("{");
                let value = self.expressions.stored(value, dtype);
                self.line(format!("const {} value = {value};", c_type(dtype)));
                self.no_fault(number, span);
                let target = self.part(target, "target");
                self.line(format!("isobar_fill_all({target}, &value);"));
                self.close();
            }
            ProgramStmtKind::Host { .. } => {
                let at = self.n_callbacks;
                self.n_callbacks += 1;
                let of_caller = self.named.of_caller.iter().enumerate();
                let mut callbacks = of_caller.filter(|it| matches!(it.1.what, CallerTask::Callback(_)));
                if let Some((which, it)) = callbacks.nth(at) {
                    self.ask(it, which, "ISOBAR_CALLBACK", (number, span));
                }
            }
            // Calls stand in groups.
            ProgramStmtKind::Mark(_) | ProgramStmtKind::Copy { .. } | ProgramStmtKind::Call(_) => {}
        }
    }

    fn give(&mut self, variable: Handle<ScalarVariable>, value: &ScalarExpr, (number, span): (u32, Span)) {
        let dtype = self.code.program.scalars[variable].dtype;
        let text = self.expressions.stored(value, dtype);
        self.line(format!("s_{} = {text};", variable.index()));
        self.no_fault(number, span);
    }

    fn for_loop(
        &mut self,
        variable: Handle<ScalarVariable>,
        range: &[ScalarExpr; 3],
        body: &[ProgramStmt],
        (number, span): (u32, Span),
    ) {
        self.open("{");
        for (name, expr) in ["from", "to", "by"].iter().zip(range) {
            let text = self.expressions.text(expr);
            self.line(format!("const int64_t {name}_{number} = (int64_t){text};"));
        }
        self.ends_where(&format!("fault != 0 || by_{number} == 0"), number, (span, NO_VALUE));
        self.open(format!(
            "for (int64_t at_{number} = from_{number}; by_{number} > 0 ? at_{number} < to_{number} : at_{number} > to_{number};) {{"
        ));
        self.line(GO_ON);
        let dtype = self.code.program.scalars[variable].dtype;
        let value = match dtype {
            DType::Int8 | DType::Int16 | DType::Int32 => {
                format!("isobar_to_{}(at_{number}, &fault)", dtype.name())
            }
            _ => format!("({})at_{number}", c_type(dtype)),
        };
        self.line(format!("s_{} = {value};", variable.index()));
        self.no_fault(number, span);
        self.statements(body);
        self.line(format!("if (__builtin_add_overflow(at_{number}, by_{number}, &at_{number})) break;"));
        self.close();
        self.close();
    }

    /// A whole array, or a part of it under a name of its own.
    fn part(&mut self, part: &ContainerPart, name: &str) -> String {
        let at = part.container.index();
        if part.data_index.is_empty() {
            return format!("&a[{at}]");
        }
        let n = part.data_index.len();
        self.line(format!(
            "const isobar_array {name} = isobar_part(&a[{at}], {n}, (const int64_t[]){{{}}});",
            listed(&part.data_index)
        ));
        format!("&{name}")
    }

    fn swap(&mut self, one: &ContainerPart, other: &ContainerPart) {
        if one == other {
            return;
        }
        let is_local = |it: &ContainerPart| {
            it.data_index.is_empty()
                && self.code.program.containers[it.container].role == ContainerRole::Local
        };
        self.open("{");
        if is_local(one) && is_local(other) {
            let [one, other] = [one, other].map(|it| it.container.index());
            // Each keeps its own origin.
            self.line(format!("char *const data = a[{one}].data;"));
            self.line(format!("a[{one}].data = a[{other}].data;"));
            self.line(format!("a[{other}].data = data;"));
        } else {
            let (one, other) = (self.part(one, "one"), self.part(other, "other"));
            self.line(format!("isobar_swap_all({one}, {other});"));
        }
        self.close();
    }

    fn exchange(&mut self, exchange: &HaloExchange) {
        if self.code.fill == HaloFill::None {
            return;
        }
        let fill = match self.code.fill {
            HaloFill::None => "ISOBAR_AS_IT_LIES",
            HaloFill::Periodic => "ISOBAR_PERIODIC",
            HaloFill::ZeroGradient => "ISOBAR_ZERO_GRADIENT",
        };
        let known = self.held.iter().find(|it| it.0.is_same(exchange)).map(|it| it.1.clone());
        let held = match exchange.phase {
            ExchangePhase::Update => Vec::new(),
            ExchangePhase::Start | ExchangePhase::Wait => known.unwrap_or_else(|| {
                let first = self.held_arrays.len();
                let numbers: Vec<usize> = (first..first + exchange.fields.len()).collect();
                self.held_arrays.extend(exchange.fields.iter().map(|it| it.container));
                self.held.push((exchange.clone(), numbers.clone()));
                numbers
            }),
        };
        let n = self.code.program.containers.len();
        for (at, field) in exchange.fields.iter().enumerate() {
            self.open("{");
            let own = self.part(field, "part");
            let container = &self.code.program.containers[field.container];
            let points = [Axis::I, Axis::J].map(|axis| {
                let is_staggered = i64::from(container.staggered.has(axis));
                size(AffineSize { axis: Some(axis), offset: is_staggered })
            });
            self.line(format!("const int64_t points[2] = {{I, J}}, own[2] = {{{}}};", listed(points)));
            let width = exchange.width;
            let Some(number) = held.get(at) else {
                self.line(format!("isobar_halo({own}, {own}, points, own, {width}, {fill});"));
                self.close();
                continue;
            };
            let mut kept = format!("&a[{}]", n + number);
            if !field.data_index.is_empty() {
                let index = &field.data_index;
                let (n_fixed, index) = (index.len(), listed(index));
                self.line(format!(
                    "const isobar_array kept = isobar_part({kept}, {n_fixed}, (const int64_t[]){{{index}}});"
                ));
                "&kept".clone_into(&mut kept);
            }
            self.line(match exchange.phase {
                ExchangePhase::Wait => {
                    format!("isobar_halo({own}, {kept}, points, own, {width}, ISOBAR_AS_IT_LIES);")
                }
                _ => format!("isobar_halo({kept}, {own}, points, own, {width}, {fill});"),
            });
            self.close();
        }
    }

    /// Leaves a statement to the caller, whose answer may end the run.
    fn ask(&mut self, it: &CallerStatement, which: usize, event: &str, (number, span): (u32, Span)) {
        let or_null = |is_empty: bool, name: &str| if is_empty { "NULL".to_owned() } else { name.to_owned() };
        self.open("{");
        let mut arrays = Vec::new();
        for (at, field) in it.fields.iter().enumerate() {
            arrays.push(self.part(&field.part, &format!("part_{at}")));
        }
        if !arrays.is_empty() {
            let names = listed(it.fields.iter().map(|it| format!("\"{}\"", it.name)));
            let dtypes = listed(it.fields.iter().map(|it| dtype_number(it.dtype)));
            let written = listed(it.fields.iter().map(|it| it.is_written));
            self.line(format!("const isobar_array *const arrays[] = {{{}}};", listed(arrays)));
            self.line(format!("static const char *const names[] = {{{names}}};"));
            self.line(format!("static const int32_t dtypes[] = {{{dtypes}}};"));
            self.line(format!("static const bool written[] = {{{written}}};"));
        }
        for value in &it.values {
            let place = format!("s_{}", value.variable.index());
            self.line(match is_told_apart(value.dtype) {
                true => format!("isobar_leave_out(&{place}, sizeof {place});"),
                false => format!("{place} = {};", literal(Value::undefined(value.dtype))),
            });
        }
        if !it.values.is_empty() {
            let names = listed(it.values.iter().map(|it| format!("\"{}\"", it.name)));
            let dtypes = listed(it.values.iter().map(|it| dtype_number(it.dtype)));
            let values = listed(it.values.iter().map(|it| format!("&s_{}", it.variable.index())));
            self.line(format!("static const char *const value_names[] = {{{names}}};"));
            self.line(format!("static const int32_t value_dtypes[] = {{{dtypes}}};"));
            self.line(format!("void *const values[] = {{{values}}};"));
        }
        let (name, kind, width) = match &it.what {
            CallerTask::Callback(name) => (name.as_str(), 0, 0),
            CallerTask::Exchange { plan, exchange } => {
                (plan.as_str(), kind_number(exchange.kind), exchange.width)
            }
        };
        let (no_fields, no_values) = (it.fields.is_empty(), it.values.is_empty());
        let field = |name| or_null(no_fields, name);
        let value = |name| or_null(no_values, name);
        self.line(format!(
            "const isobar_statement statement = {{{event}, {which}, {kind}, {width}, {}, {}, \"{name}\", {}, {}, {}, {}, {}, {}, {}, {{I, J, K}}}};",
            it.fields.len(),
            it.values.len(),
            field("arrays"),
            field("names"),
            field("dtypes"),
            field("written"),
            value("value_names"),
            value("value_dtypes"),
            value("values"),
        ));
        let name = self.named.name;
        let why = if no_values { ENDED } else { ENDED_OR_LEFT_OUT };
        self.ends_where(&format!("{name}_event(caller, &statement) != 0"), number, (span, why));
        for value in it.values.iter().filter(|it| is_told_apart(it.dtype)) {
            let place = format!("s_{}", value.variable.index());
            let is_left_out = format!("isobar_is_left_out(&{place}, sizeof {place})");
            self.ends_where(&is_left_out, number, (span, why));
        }
        self.close();
    }

    /// Calls the code of a group: first all scalars of its statements, in order.
    fn group(&mut self, group: usize, body: &[ProgramStmt]) {
        let program = &self.code.program;
        self.open("{");
        let mut values: BTreeMap<(usize, usize), String> = BTreeMap::new();
        for (position, stmt) in body.iter().enumerate() {
            let number = self.n_statements;
            self.n_statements += 1;
            match &stmt.kind {
                ProgramStmtKind::Call(call) => {
                    let params = &program.stencils[call.stencil].params;
                    let mut has_values = false;
                    for (at, (param, argument)) in params.iter().zip(&call.arguments).enumerate() {
                        let dtype = param.kind.dtype();
                        let value = match (argument, &param.kind) {
                            (Some(CallArgument::Scalar(expr)), _) => {
                                has_values = true;
                                self.expressions.stored(expr, dtype)
                            }
                            (None, ParamKind::Scalar { default: Some(value), .. }) => literal(*value),
                            _ => continue,
                        };
                        let name = format!("v_{position}_{at}");
                        self.line(format!("const {} {name} = {value};", c_type(dtype)));
                        values.insert((position, at), name);
                    }
                    if has_values {
                        self.no_fault(number, stmt.span);
                    }
                }
                ProgramStmtKind::Fill { target, value } => {
                    let dtype = program.containers[target.container].dtype;
                    let value = self.expressions.stored(value, dtype);
                    let name = format!("v_{position}_0");
                    self.line(format!("const {} {name} = {value};", c_type(dtype)));
                    self.no_fault(number, stmt.span);
                    values.insert((position, 0), name);
                }
                ProgramStmtKind::Let { variable, value } => self.give(*variable, value, (number, stmt.span)),
                _ => {}
            }
        }
        let scalars: Vec<String> = self
            .params(group, false)
            .into_iter()
            .filter_map(|it| match it {
                GroupParam::Scalar { statement, param } => Some(
                    values.get(&(statement, param)).map_or_else(|| "NULL".to_owned(), |it| format!("&{it}")),
                ),
                GroupParam::Container(_) => None,
            })
            .collect();
        self.lend(group);
        if !scalars.is_empty() {
            self.line(format!("const void *const scalars[] = {{{}}};", listed(scalars)));
            self.line("own.scalars = scalars;");
        }
        let name = &self.groups[group].name;
        let suffix = if self.named.is_one_thread { "_kernel_one_thread" } else { "" };
        self.line(format!("status = {name}{suffix}(&own);"));
        self.line(format!(
            "if (status == 1 && own.trap != NULL) own.trap->statement += {};",
            self.firsts[group]
        ));
        self.line("if (status != 0) goto end;");
        self.close();
    }

    /// The parameters of a group's code that are fields, or scalars, in its order.
    pub(super) fn params(&self, group: usize, are_fields: bool) -> Vec<GroupParam> {
        let compiled = &self.code.groups[group];
        let params =
            compiled.compilation.front.signature.as_ref().map(|it| it.params.as_slice()).unwrap_or_default();
        let arguments = self.groups[group].artifact.arguments.iter();
        let found = arguments.filter_map(|it| {
            let at = params.iter().position(|param| param.name == it.name)?;
            compiled.params.get(at).copied()
        });
        found.filter(|it| matches!(it, GroupParam::Container(_)) == are_fields).collect()
    }

    /// Lends a group's code its fields.
    fn lend(&mut self, group: usize) {
        let fields = self.params(group, true);
        for (at, field) in fields.iter().enumerate() {
            if let GroupParam::Container(handle) = field {
                self.line(format!("isobar_lend(&a[{}], K, &fields[{at}]);", handle.index()));
            }
        }
    }

    /// The whole file but the function about memory.
    fn file(&self) -> String {
        let program = &self.code.program;
        let mut text = format!("{ABI}\n{HELPERS}\n");
        for section in math::sections(Language::C, self.expressions.callees.iter().copied()) {
            let _ = writeln!(text, "{section}");
        }
        for it in self.groups {
            let name = &it.name;
            let _ = writeln!(
                text,
                "int32_t {name}(const isobar_call *call);\nint32_t {name}_kernel_one_thread(const isobar_call *call);\nuint64_t {name}_workspace(const isobar_call *call);"
            );
        }
        if !self.named.of_caller.is_empty() {
            let name = self.named.name;
            text += include_str!("../texts/caller.h");
            let _ = writeln!(
                text,
                "int32_t {name}_event(const void *caller, const isobar_statement *statement);"
            );
        }
        let n_arrays = (program.containers.len() + self.held_arrays.len()).max(1);
        let n_fields = (0..self.groups.len()).map(|it| self.params(it, true).len()).max().unwrap_or(0).max(1);
        let _ = writeln!(
            text,
            "\n#define ISOBAR_ARRAYS {n_arrays}\n#define ISOBAR_FIELDS {n_fields}\n\n\
             /* The arrays of the program on a domain; those of its own from `memory` on. Answers their bytes. */\n\
             static uint64_t isobar_arrays(const isobar_call *call, isobar_array *a, char *memory)\n{{\n  \
             const int64_t I = call->domain[0], J = call->domain[1], K = call->domain[2];\n  uint64_t size = 0;\n  (void)I, (void)J, (void)K, (void)memory;"
        );
        text += &self.arrays();
        text += "  return size;\n}\n\n";
        // The function about memory stands behind it in the file of all threads.
        let _ = writeln!(text, "static uint64_t isobar_needed(const isobar_call *call)\n{{");
        text += &self.needed();
        text += "}\n\n";
        text += "/* Ends the run with a statement. */\n#define ISOBAR_END(NUMBER) \\\n  do { \\\n    if (call->trap != NULL) *call->trap = (isobar_trap){.statement = (NUMBER)}; \\\n    status = 1; \\\n    goto end; \\\n  } while (0)\n\n";
        let _ = writeln!(text, "int32_t isobar_run(const isobar_call *call)\n{{");
        text += &self.entry();
        text += &self.body;
        let first = self.n_given_fields();
        for (at, (handle, it)) in kept_scalars(program).enumerate() {
            let (of, at) = (c_type(it.dtype), first + at);
            let _ = writeln!(text, "  *({of} *)call->fields[{at}].data = s_{};", handle.index());
        }
        text += "  goto end;\nend:\n";
        text += "  free(memory);\n  return status;\n}\n";
        text
    }

    fn entry(&self) -> String {
        let program = &self.code.program;
        let mut text = String::new();
        text += "  const int64_t I = call->domain[0], J = call->domain[1], K = call->domain[2];\n  (void)I, (void)J, (void)K;\n";
        let [i, j, k] = self.code.only.unwrap_or(self.code.least);
        if !self.named.of_caller.is_empty() {
            text += "  const void *const caller = ((const isobar_answered *)call)->caller;\n";
        }
        text += &match self.code.only {
            Some(_) => format!("  if (I != {i} || J != {j} || K != {k}) return 6;\n"),
            None => format!("  if (I < {i} || J < {j} || K < {k}) return 5;\n"),
        };
        text += "  if (call->cancel != NULL && *call->cancel != 0) return 3;\n";
        text += "  const uint64_t needed = isobar_needed(call);\n  char *memory = NULL, *workspace = call->workspace;\n";
        text += "  if (needed > 0 && (workspace == NULL || (uintptr_t)workspace % 64 != 0 || call->workspace_bytes < needed)) {\n";
        text += "    memory = needed < ISOBAR_BEYOND ? malloc((size_t)needed + 63) : NULL;\n    if (memory == NULL) return 2;\n";
        text += "    workspace = memory + (64 - (uintptr_t)memory % 64) % 64;\n  }\n";
        text += "  int32_t status = 0;\n  int fault = 0;\n  (void)fault;\n";
        text += "  isobar_array a[ISOBAR_ARRAYS];\n  isobar_field fields[ISOBAR_FIELDS];\n";
        text += "  const uint64_t size = isobar_arrays(call, a, workspace);\n";
        text += "  isobar_call own = *call;\n  own.fields = fields;\n  own.progress = NULL;\n  own.times = NULL;\n  own.workspace = needed > size ? workspace + size : NULL;\n  own.workspace_bytes = needed > size ? needed - size : 0;\n";
        let of_statements = self.arrays_of_statements();
        for handle in &self.code.undefined {
            if !of_statements.contains(&handle.index()) {
                continue;
            }
            let dtype = program.containers[*handle].dtype;
            let value = literal(Value::undefined(dtype));
            let _ = writeln!(
                text,
                "  isobar_fill_all(&a[{}], &(const {}){{{value}}});",
                handle.index(),
                c_type(dtype)
            );
        }
        let (mut n_given, mut n_kept) = (0, self.n_given_fields());
        for (handle, it) in program.scalars.iter() {
            let (at, of) = (handle.index(), c_type(it.dtype));
            let value = match it.role {
                ScalarRole::Argument => {
                    n_given += 1;
                    format!("*(const {of} *)call->scalars[{}]", n_given - 1)
                }
                ScalarRole::Constant(value) => literal(value),
                ScalarRole::State(_) => {
                    n_kept += 1;
                    format!("*(const {of} *)call->fields[{}].data", n_kept - 1)
                }
                ScalarRole::Local => literal(Value::undefined(it.dtype)),
            };
            let _ = writeln!(text, "  {of} s_{at} = {value};\n  (void)s_{at};");
        }
        text
    }
}
