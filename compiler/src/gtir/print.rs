//! GTIR as text: declarations, then the vertical loops, one statement a line.
//!
//! Statements have the ids `s0`, `s1`, ... that they have at every level, vertical loops `v0`, `v1`, ...

use std::collections::BTreeMap;

use super::nodes::{Access, Expr, Field, ParamKind, Stencil, Stmt, StmtKind};
use crate::diag::{Listing, ListingWriter, StmtId};
use crate::entity::Handle;
use crate::expr::parse::spelled;
use crate::expr::print;

/// The whole stencil; [`parse`](super::parse) reads it back.
#[must_use]
pub fn listing(stencil: &Stencil) -> Listing {
    let mut printer = Printer { stencil, writer: ListingWriter::new(), seen: BTreeMap::new() };
    printer.writer.open("stencil", "stencil", []);
    printer.declarations();
    for (at, vertical_loop) in stencil.vertical_loops.iter().enumerate() {
        printer.writer.line("");
        printer.writer.open(format!("v{at}"), "vertical-loop", []);
        printer.writer.line(format!("{} {}", vertical_loop.order, vertical_loop.interval));
        printer.body(&vertical_loop.body);
        printer.writer.close();
    }
    printer.writer.close();
    printer.writer.finish()
}

struct Printer<'a> {
    stencil: &'a Stencil,
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
    }

    fn declaration(&self, field: Handle<Field>) -> String {
        let Field { name, axes, dtype, .. } = &self.stencil.fields[field];
        format!("{name}: {dtype}[{axes}]")
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
            StmtKind::Assign { target, value, .. } => {
                self.writer.open(id, "assign", [&stmt.origin]);
                let name = spelled(&self.stencil.fields[*target].name);
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
        print::text(expr, &|leaf| match *leaf {
            Access::Field { field, offset } => {
                let field = &self.stencil.fields[field];
                format!("{}{}", spelled(&field.name), offset.along_axes(field.axes))
            }
            Access::Scalar(scalar) => spelled(&self.stencil.scalars[scalar].name),
        })
    }
}
