//! The Program IR as text: declarations, then statements, one a line.

use std::collections::BTreeMap;

use isobar_ground::call::signature::{Param, ParamKind};
use isobar_ground::diag::{Listing, ListingWriter, Origin, StmtId};
use isobar_ground::space::{AxisSet, Reach};
use itertools::Itertools;

use crate::nodes::{
    CallArgument, ContainerPart, ContainerRole, EDGES, ProgramIr, ProgramStencil, ProgramStmt,
    ProgramStmtKind, StencilCall,
};
use crate::plan::{ExchangePlan, StripDimension};
use crate::scalar::ScalarExpr;
use crate::scalar::nodes::ScalarRole;
use crate::scalar::print::printed;

/// The whole program; [`parse`](super::parse::parse) reads it back.
#[must_use]
pub fn listing(program: &ProgramIr) -> Listing {
    listing_with(program, &BTreeMap::new())
}

/// The same, where some groups are texts of another level instead of their statements, by their numbers.
#[must_use]
pub fn listing_with(program: &ProgramIr, groups: &BTreeMap<usize, String>) -> Listing {
    let mut printer = ProgramPrinter { program, groups, out: ListingWriter::new(), n_statements: 0 };
    printer.out.open("program", "program", []);
    printer.declarations();
    printer.out.line("");
    printer.body(&program.body);
    printer.out.close();
    printer.out.finish()
}

struct ProgramPrinter<'p> {
    program: &'p ProgramIr,
    /// Texts in the place of statements.
    groups: &'p BTreeMap<usize, String>,
    out: ListingWriter,
    n_statements: u32,
}

/// A list as texts write it: `[1, 2]`.
fn list(items: impl IntoIterator<Item = impl std::fmt::Display>) -> String {
    format!("[{}]", items.into_iter().join(", "))
}

/// Data dimensions, where there are some.
fn data(dims: &[u32]) -> String {
    if dims.is_empty() { String::new() } else { format!(" data {}", list(dims)) }
}

/// A dimension of a strip.
fn along(it: &StripDimension) -> String {
    let direction = if it.is_backwards { '-' } else { '+' };
    format!("{} {} {} {direction}", it.dimension, it.first, it.n)
}

fn axes(axes: AxisSet) -> String {
    if axes.is_empty() { "-".to_owned() } else { axes.to_string() }
}

impl ProgramPrinter<'_> {
    fn declarations(&mut self) {
        let program = self.program;
        self.out.line(format_args!("program {}", program.name));
        let edges = EDGES.into_iter().zip(program.grid.edges).filter(|it| it.1).map(|it| it.0);
        self.out.line(
            ["grid".to_owned(), program.grid.halo.to_string()]
                .into_iter()
                .chain(edges.map(str::to_owned))
                .join(" "),
        );
        for (handle, it) in program.containers.iter() {
            let first = match it.role {
                ContainerRole::State(value) => format!(" = {}", value.digits()),
                ContainerRole::Argument | ContainerRole::Constant | ContainerRole::Local => String::new(),
            };
            self.out.open(handle.to_string(), "container", []);
            let staggered =
                if it.staggered.is_empty() { String::new() } else { format!(" staggered {}", it.staggered) };
            self.out.line(format_args!(
                "{} {}: {} {} {}{}{staggered} at {}{first}",
                it.role.name(),
                it.name,
                it.dtype,
                axes(it.axes),
                list(&it.shape),
                data(&it.data_dims),
                list(it.origin),
            ));
            self.out.close();
        }
        for (handle, it) in program.scalars.iter() {
            let (role, value) = match it.role {
                ScalarRole::Argument => ("argument", None),
                ScalarRole::Local => ("local", None),
                ScalarRole::Constant(value) => ("constant", Some(value)),
                ScalarRole::State(value) => ("state", Some(value)),
            };
            let value = value.map_or(String::new(), |it| format!(" = {}", it.digits()));
            self.out.open(handle.to_string(), "scalar", []);
            self.out.line(format_args!("scalar {role} {}: {}{value}", it.name, it.dtype));
            self.out.close();
        }
        for (handle, it) in program.stencils.iter() {
            self.out.open(handle.to_string(), "stencil", []);
            self.stencil(it);
            self.out.close();
        }
        for (handle, it) in program.plans.iter() {
            self.out.open(handle.to_string(), "plan", []);
            self.plan(it);
            self.out.close();
        }
    }

    fn plan(&mut self, it: &ExchangePlan) {
        self.out.line(format_args!("plan {} tag {}", it.name, it.tag));
        for neighbour in it.neighbours.iter() {
            self.out.indented(|out| {
                out.line(format_args!("rank {}", neighbour.rank));
                out.indented(|out| {
                    for (word, strips) in [("send", &neighbour.sent), ("receive", &neighbour.received)] {
                        for it in strips {
                            let negated = if it.is_negated { " negated" } else { "" };
                            out.line(format_args!(
                                "{word} {} {}{negated}",
                                it.field,
                                list(it.along.iter().map(along))
                            ));
                        }
                    }
                });
            });
        }
    }

    fn stencil(&mut self, it: &ProgramStencil) {
        let (domain, origin) = (list(it.domain), list(it.origin));
        self.out.line(format_args!("stencil {} = {} on {domain} at {origin}", it.name, it.function));
        self.out.indented(|out| {
            out.line(format_args!("levels {}", it.min_levels));
            it.externals.iter().for_each(|(name, value)| out.line(format_args!("external {name} = {value}")));
            it.origins.iter().for_each(|(name, at)| out.line(format_args!("origin {name} {}", list(at))));
            it.params.iter().for_each(|param| out.line(param_text(param)));
        });
    }

    fn body(&mut self, body: &[ProgramStmt]) {
        for stmt in body {
            let id = StmtId(self.n_statements);
            self.n_statements += 1;
            self.out.open(id.to_string(), kind_of(&stmt.kind), [&Origin::new(id, &[stmt.span])]);
            self.statement(&stmt.kind);
            self.out.close();
        }
    }

    fn inner(&mut self, body: &[ProgramStmt]) {
        self.out.indent();
        self.body(body);
        self.out.dedent();
    }

    fn statement(&mut self, kind: &ProgramStmtKind) {
        let program = self.program;
        let expr = |it: &ScalarExpr| printed(it, &program.scalars);
        let part = |it: &ContainerPart| it.spelled(program);
        let parts = |them: &[ContainerPart]| them.iter().map(part).join(", ");
        match kind {
            ProgramStmtKind::Call(call) => self.out.line(call_text(program, call)),
            ProgramStmtKind::For { variable, range, body } => {
                let name = &program.scalars[*variable].name;
                self.out.line(format_args!("for {name} in range({})", range.iter().map(expr).join(", ")));
                self.inner(body);
            }
            ProgramStmtKind::While { condition, limit, body } => {
                self.out.line(format_args!("while at most {limit}: {}", expr(condition)));
                self.inner(body);
            }
            ProgramStmtKind::If { condition, then, otherwise } => {
                self.out.line(format_args!("if {}", expr(condition)));
                self.inner(then);
                if !otherwise.is_empty() {
                    self.out.line("else");
                    self.inner(otherwise);
                }
            }
            ProgramStmtKind::Let { variable, value } => {
                self.out.line(format_args!("let {} = {}", program.scalars[*variable].name, expr(value)));
            }
            ProgramStmtKind::Copy { from, to } => {
                self.out.line(format_args!("copy {} to {}", part(from), part(to)))
            }
            ProgramStmtKind::Fill { target, value } => {
                self.out.line(format_args!("fill {} with {}", part(target), expr(value)));
            }
            ProgramStmtKind::Swap(one, other) => {
                self.out.line(format_args!("swap {} and {}", part(one), part(other)));
            }
            ProgramStmtKind::Exchange(it) => {
                let (phase, kind) = (it.phase.name(), it.kind.name());
                let plan = it.plan.map_or(String::new(), |it| format!(" by {}", program.plans[it].name));
                let fields = parts(&it.fields);
                self.out.line(format_args!("exchange {phase} {kind} {} of {fields}{plan}", it.width));
            }
            ProgramStmtKind::Host { name, reads, writes, gives, is_exact } => {
                let gives = gives.iter().map(|it| &program.scalars[*it].name).join(", ");
                let (reads, writes) = (parts(reads), parts(writes));
                let word = if *is_exact { "exact host" } else { "host" };
                self.out
                    .line(format_args!("{word} {name}(reads({reads}), writes({writes}), gives({gives}))"));
            }
            ProgramStmtKind::Group { number, body } => {
                self.out.line(format_args!("group {number}"));
                match self.groups.get(number) {
                    None => self.inner(body),
                    Some(text) => {
                        self.n_statements += u32::try_from(body.len()).unwrap_or(0);
                        self.out.indented(|out| text.lines().for_each(|it| out.line(it)));
                    }
                }
            }
            ProgramStmtKind::Mark(label) => self.out.line(format_args!("mark {}", quoted(label))),
            ProgramStmtKind::Trap(message) => self.out.line(format_args!("trap {}", quoted(message))),
        }
    }
}

/// A text on one line, as JSON has it.
fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

fn kind_of(kind: &ProgramStmtKind) -> &'static str {
    match kind {
        ProgramStmtKind::Call(_) => "call",
        ProgramStmtKind::For { .. } => "for",
        ProgramStmtKind::While { .. } => "while",
        ProgramStmtKind::If { .. } => "if",
        ProgramStmtKind::Let { .. } => "let",
        ProgramStmtKind::Copy { .. } => "copy",
        ProgramStmtKind::Fill { .. } => "fill",
        ProgramStmtKind::Swap(..) => "swap",
        ProgramStmtKind::Exchange(_) => "exchange",
        ProgramStmtKind::Host { .. } => "host",
        ProgramStmtKind::Group { .. } => "group",
        ProgramStmtKind::Mark(_) => "mark",
        ProgramStmtKind::Trap(_) => "trap",
    }
}

fn call_text(program: &ProgramIr, call: &StencilCall) -> String {
    let stencil = &program.stencils[call.stencil];
    let given = stencil.params.iter().zip(&call.arguments).filter_map(|(param, argument)| {
        let text = match argument.as_ref()? {
            CallArgument::Field(part) => part.spelled(program),
            CallArgument::Scalar(expr) => printed(expr, &program.scalars),
        };
        Some(format!("{}={text}", param.name))
    });
    format!("call {}({})", stencil.name, given.into_iter().join(", "))
}

/// Where positions along each axis start and end, as in `[-1:1, 0:0, 0:0]`.
fn reaches(reaches: &[Reach; 3]) -> String {
    list(reaches.iter().map(|it| format!("{}:{}", it.lo, it.hi)))
}

fn param_text(param: &Param) -> String {
    let keyword = if param.is_keyword_only { " keyword" } else { "" };
    match &param.kind {
        ParamKind::Field { axes: of, data_dims, dtype, boundary, reach } => format!(
            "field {}: {dtype} {}{} {}{keyword} needs {} touches {}",
            param.name,
            axes(*of),
            data(data_dims),
            param.access,
            reaches(boundary),
            reaches(reach),
        ),
        ParamKind::Scalar { dtype, default } => {
            let default = default.map_or(String::new(), |it| format!(" = {}", it.digits()));
            format!("scalar {}: {dtype} {}{keyword}{default}", param.name, param.access)
        }
    }
}
