//! OIR as text: declarations, then vertical loops, sections, executions and their statements.
//!
//! Statements have the ids `s0`, `s1`, ... that they have from the Definition IR on, executions their
//! handles `x0`, `x1`, ..., vertical loops and sections `v0`, `v0.1`, ...

use std::fmt::{self, Display};

use super::analysis::caches::{Cache, Caches};
use super::analysis::extents::Extents;
use super::nodes::{Access, Field, Local, ParamKind, Section, Stencil, Target};
use crate::diag::{Listing, ListingWriter};
use crate::expr::declaration::Declaration;
use crate::expr::parse::spelled;
use crate::expr::statement::print::StmtPrinter;

/// The whole stencil; [`parse`](super::parse) reads it back.
#[must_use]
pub fn listing(stencil: &Stencil) -> Listing {
    print(stencil, None, None)
}

/// The whole stencil, with how far each execution runs.
#[must_use]
pub fn listing_with_extents(stencil: &Stencil, extents: &Extents) -> Listing {
    print(stencil, Some(extents), None)
}

/// The whole stencil, with how far each execution runs, and what each vertical loop could keep at hand.
#[must_use]
pub fn listing_with_facts(stencil: &Stencil, extents: &Extents, caches: &Caches) -> Listing {
    print(stencil, Some(extents), Some(caches))
}

fn print(stencil: &Stencil, extents: Option<&Extents>, caches: Option<&Caches>) -> Listing {
    let target = |target: &Target, f: &mut fmt::Formatter<'_>| match *target {
        Target::Field(field) => spelled(&stencil.fields[field].name).fmt(f),
        Target::Local(local) => spelled(&stencil.locals[local].name).fmt(f),
    };
    let access = |leaf: &Access, f: &mut fmt::Formatter<'_>| match *leaf {
        Access::Field { field, offset } => {
            let field = &stencil.fields[field];
            write!(f, "{}{}", spelled(&field.name), offset.along_axes(field.axes))
        }
        Access::Local(local) => spelled(&stencil.locals[local].name).fmt(f),
        Access::Scalar(scalar) => spelled(&stencil.scalars[scalar].name).fmt(f),
    };
    let stmts = StmtPrinter::new(&target, &access);
    let mut printer = Printer { stencil, extents, caches, stmts, out: ListingWriter::new() };
    printer.stencil();
    printer.out.finish()
}

struct Printer<'a> {
    stencil: &'a Stencil,
    extents: Option<&'a Extents>,
    caches: Option<&'a Caches>,
    stmts: StmtPrinter<'a, Target, Access>,
    out: ListingWriter,
}

impl Printer<'_> {
    fn stencil(&mut self) {
        self.out.open("stencil", "stencil", []);
        for declaration in declarations(self.stencil) {
            self.out.line(declaration);
        }
        for (at, vertical_loop) in self.stencil.vertical_loops.iter().enumerate() {
            self.out.line("");
            self.out.open(format!("v{at}"), "vertical-loop", []);
            self.out.line(vertical_loop.order);
            self.out.indent();
            for Cache { field, kind } in self.caches.and_then(|it| it.loops.get(at)).into_iter().flatten() {
                self.out.line(format_args!("# `{}` {kind}", self.stencil.fields[*field].name));
            }
            for (section_at, section) in vertical_loop.sections.iter().enumerate() {
                self.out.open(format!("v{at}.{section_at}"), "section", []);
                self.section(section);
                self.out.close();
            }
            self.out.dedent();
            self.out.close();
        }
        self.out.close();
    }

    fn section(&mut self, section: &Section) {
        self.out.line(section.interval);
        self.out.indent();
        for &execution in &section.executions {
            self.out.open(execution.to_string(), "horizontal-execution", []);
            let extent = self.extents.and_then(|it| it.executions.get(execution));
            match extent {
                Some(extent) => self.out.line(format_args!("{execution} on {extent}")),
                None => self.out.line(execution),
            }
            self.stmts.body(&self.stencil.executions[execution].body, &mut self.out);
            self.out.close();
        }
        self.out.dedent();
    }
}

fn declarations(stencil: &Stencil) -> Vec<Declaration> {
    let mut found = vec![Declaration::Stencil { name: stencil.name.clone() }];
    for param in &stencil.params {
        let is_keyword_only = param.is_keyword_only;
        found.push(match param.what {
            ParamKind::Field(field) => {
                let Field { name, axes, data_dims, dtype, .. } = stencil.fields[field].clone();
                let is_optional = param.is_optional;
                Declaration::Field { name, dtype, axes, data_dims, is_keyword_only, is_optional }
            }
            ParamKind::Scalar(scalar) => {
                let (name, dtype) = (stencil.scalars[scalar].name.clone(), stencil.scalars[scalar].dtype);
                Declaration::Scalar { name, dtype, is_keyword_only, default: param.default }
            }
        });
    }
    for (_, field) in stencil.fields.iter().filter(|(_, it)| it.is_temporary) {
        let Field { name, axes, data_dims, dtype, .. } = field.clone();
        found.push(Declaration::Temporary { name, dtype, axes, data_dims });
    }
    for (_, local) in stencil.locals.iter() {
        let Local { name, dtype, .. } = local.clone();
        found.push(Declaration::Local { name, dtype });
    }
    found
}
