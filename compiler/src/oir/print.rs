//! OIR as text: declarations, then vertical loops, sections, executions and their statements.
//!
//! Statements have the ids `s0`, `s1`, ... that they have at every level, executions their
//! handles `x0`, `x1`, ..., vertical loops and sections `v0`, `v0.1`, ...

use std::collections::BTreeMap;

use super::analysis::extents::Extents;
use super::nodes::{Access, Expr, Field, HorizontalExecution, ParamKind, Stencil, Stmt, StmtKind, Target};
use crate::diag::{Listing, ListingWriter, StmtId};
use crate::entity::Handle;
use crate::expr::parse::spelled;
use crate::expr::print as expr;

/// The whole stencil; [`parse`](super::parse) reads it back.
#[must_use]
pub fn listing(stencil: &Stencil) -> Listing {
    print(stencil, None)
}

/// The whole stencil, with how far each execution runs.
#[must_use]
pub fn listing_with_extents(stencil: &Stencil, extents: &Extents) -> Listing {
    print(stencil, Some(extents))
}

fn print(stencil: &Stencil, extents: Option<&Extents>) -> Listing {
    let mut printer = Printer { stencil, extents, writer: ListingWriter::new(), seen: BTreeMap::new() };
    printer.writer.open("stencil", "stencil", []);
    printer.declarations();
    for (at, vertical_loop) in stencil.vertical_loops.iter().enumerate() {
        printer.writer.line("");
        printer.writer.open(format!("v{at}"), "vertical-loop", []);
        printer.writer.line(vertical_loop.order.to_string());
        printer.writer.indent();
        for (section_at, section) in vertical_loop.sections.iter().enumerate() {
            printer.writer.open(format!("v{at}.{section_at}"), "section", []);
            printer.writer.line(section.interval.to_string());
            printer.writer.indent();
            section.executions.iter().for_each(|&it| printer.execution(it));
            printer.writer.dedent();
            printer.writer.close();
        }
        printer.writer.dedent();
        printer.writer.close();
    }
    printer.writer.close();
    printer.writer.finish()
}

struct Printer<'a> {
    stencil: &'a Stencil,
    extents: Option<&'a Extents>,
    writer: ListingWriter,
    /// How often each statement was met: one that was copied has several nodes.
    seen: BTreeMap<StmtId, u32>,
}

impl Printer<'_> {
    fn declarations(&mut self) {
        self.writer.line(format!("stencil {}", self.stencil.name));
        for param in &self.stencil.params {
            let keyword = if param.is_keyword_only { " keyword" } else { "" };
            match param.what {
                ParamKind::Field(field) => {
                    let optional = if param.is_optional { " optional" } else { "" };
                    self.writer.line(format!("field {}{keyword}{optional}", self.declaration(field)));
                }
                ParamKind::Scalar(scalar) => {
                    let scalar = &self.stencil.scalars[scalar];
                    let default = param.default.map_or(String::new(), |it| format!(" = {it}"));
                    self.writer.line(format!("scalar {}: {}{keyword}{default}", scalar.name, scalar.dtype));
                }
            }
        }
        for (field, declared) in self.stencil.fields.iter() {
            if declared.is_temporary {
                self.writer.line(format!("temporary {}", self.declaration(field)));
            }
        }
        for (_, local) in self.stencil.locals.iter() {
            self.writer.line(format!("local {}: {}", local.name, local.dtype));
        }
    }

    fn declaration(&self, field: Handle<Field>) -> String {
        let Field { name, axes, dtype, .. } = &self.stencil.fields[field];
        format!("{name}: {dtype}[{axes}]")
    }

    fn execution(&mut self, execution: Handle<HorizontalExecution>) {
        self.writer.open(execution.to_string(), "horizontal-execution", []);
        let extent = self.extents.and_then(|it| it.executions.get(execution));
        self.writer.line(extent.map_or(execution.to_string(), |it| format!("{execution} on {it}")));
        self.body(&self.stencil.executions[execution].body);
        self.writer.close();
    }

    fn body(&mut self, body: &[Stmt]) {
        self.writer.indent();
        body.iter().for_each(|it| self.stmt(it, ""));
        self.writer.dedent();
    }

    /// `el` makes an `elif` of an `if`.
    fn stmt(&mut self, stmt: &Stmt, el: &str) {
        let times = self.seen.entry(stmt.origin.stmt).or_default();
        let id =
            if *times == 0 { stmt.origin.stmt.to_string() } else { format!("{}.{times}", stmt.origin.stmt) };
        *times += 1;
        match &stmt.kind {
            StmtKind::Assign { target, value } => {
                self.writer.open(id, "assign", [&stmt.origin]);
                let name = spelled(match *target {
                    Target::Field(field) => &self.stencil.fields[field].name,
                    Target::Local(local) => &self.stencil.locals[local].name,
                });
                self.writer.line(format!("{name} = {}", self.expr(value)));
            }
            StmtKind::If { condition, then, otherwise } => {
                self.writer.open(id, "if", [&stmt.origin]);
                self.writer.line(format!("{el}if {}", self.expr(condition)));
                self.body(then);
                match otherwise.as_slice() {
                    [] => {}
                    [only @ Stmt { kind: StmtKind::If { .. }, .. }] => self.stmt(only, "el"),
                    _ => {
                        self.writer.line("else");
                        self.body(otherwise);
                    }
                }
            }
            StmtKind::While { condition, body } => {
                self.writer.open(id, "while", [&stmt.origin]);
                self.writer.line(format!("while {}", self.expr(condition)));
                self.body(body);
            }
            StmtKind::Region { region, body } => {
                self.writer.open(id, "region", [&stmt.origin]);
                self.writer.line(format!("region {region}"));
                self.body(body);
            }
        }
        self.writer.close();
    }

    fn expr(&self, expr: &Expr) -> String {
        expr::text(expr, &|leaf| match *leaf {
            Access::Field { field, offset } => {
                let field = &self.stencil.fields[field];
                format!("{}{}", spelled(&field.name), offset.along_axes(field.axes))
            }
            Access::Local(local) => spelled(&self.stencil.locals[local].name),
            Access::Scalar(scalar) => spelled(&self.stencil.scalars[scalar].name),
        })
    }
}
