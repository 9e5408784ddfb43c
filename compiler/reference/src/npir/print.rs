//! NPIR as text: declarations, then passes, blocks and their statements.
//!
//! Statements keep their ids from the Definition IR. If `s0` became several statements, the later ones are
//! `s0.1`, `s0.2`, ... Passes are `v0`, `v1`, ..., and their blocks `v0.0`, `v0.1`, ...

use std::collections::BTreeMap;
use std::fmt::{self, Display};

use super::nodes::{Access, Block, Expr, Field, Local, ParamKind, Stencil, Stmt, StmtKind, Target};
use crate::diag::{Listing, ListingWriter, StmtId};
use crate::entity::Handle;
use crate::expr::declaration::Declaration;
use crate::expr::parse::spelled;
use crate::expr::print;

/// The whole stencil.
#[must_use]
pub fn listing(stencil: &Stencil) -> Listing {
    let mut printer = Printer { stencil, out: ListingWriter::new(), seen: BTreeMap::new() };
    printer.stencil();
    printer.out.finish()
}

struct Printer<'a> {
    stencil: &'a Stencil,
    out: ListingWriter,
    /// How often each statement was met: one that became several has several nodes.
    seen: BTreeMap<StmtId, u32>,
}

impl Printer<'_> {
    fn stencil(&mut self) {
        self.out.open("stencil", "stencil", []);
        self.out.line(format_args!("stencil {}", self.stencil.name));
        self.declarations();
        for (at, pass) in self.stencil.passes.iter().enumerate() {
            self.out.line("");
            self.out.open(format!("v{at}"), "vertical-pass", []);
            self.out.line(format_args!("{} {}", pass.order, pass.interval));
            self.out.indent();
            for (block_at, block) in pass.blocks.iter().enumerate() {
                self.out.open(format!("v{at}.{block_at}"), "block", []);
                self.block(block);
                self.out.close();
            }
            self.out.dedent();
            self.out.close();
        }
        self.out.close();
    }

    fn declarations(&mut self) {
        let stencil = self.stencil;
        for param in &stencil.params {
            let is_keyword_only = param.is_keyword_only;
            self.out.line(match param.what {
                ParamKind::Field(field) => {
                    let Field { name, axes, data_dims, dtype, .. } = stencil.fields[field].clone();
                    let is_optional = param.is_optional;
                    Declaration::Field { name, dtype, axes, data_dims, is_keyword_only, is_optional }
                }
                ParamKind::Scalar(scalar) => {
                    let scalar = &stencil.scalars[scalar];
                    let (name, dtype) = (scalar.name.clone(), scalar.dtype);
                    Declaration::Scalar { name, dtype, is_keyword_only, default: param.default }
                }
            });
        }
        for (_, field) in stencil.fields.iter().filter(|(_, it)| it.is_temporary) {
            let Field { name, axes, data_dims, dtype, extent, .. } = field.clone();
            let declaration = Declaration::Temporary { name, dtype, axes, data_dims };
            self.out.line(format_args!("{declaration} on {extent}"));
        }
        for (_, local) in stencil.locals.iter() {
            let Local { name, dtype, is_mask, .. } = local;
            if *is_mask {
                self.out.line(format_args!("mask {name}"));
            } else {
                self.out.line(Declaration::Local { name: name.clone(), dtype: *dtype });
            }
        }
    }

    fn block(&mut self, block: &Block) {
        self.out.line(format_args!("block {}", block.extent));
        self.out.indent();
        for &field in &block.kept {
            let Field { name, kept_as, .. } = &self.stencil.fields[field];
            let kept_as = kept_as.as_deref().unwrap_or_default();
            self.out.line(format_args!("{} = copy of {}", spelled(kept_as), spelled(name)));
        }
        self.stmts(&block.body);
        self.out.dedent();
    }

    fn stmts(&mut self, body: &[Stmt]) {
        if body.is_empty() {
            self.out.line("pass");
        }
        body.iter().for_each(|it| self.stmt(it));
    }

    fn stmt(&mut self, stmt: &Stmt) {
        let name = stmt.origin.stmt;
        let times = self.seen.entry(name).or_default();
        let id = if *times == 0 { name.to_string() } else { format!("{name}.{times}") };
        *times += 1;
        self.out.open(id, kind(stmt), [&stmt.origin]);
        let local = |it: Handle<Local>| spelled(&self.stencil.locals[it].name);
        let within = |mask: Option<Handle<Local>>| {
            fmt::from_fn(move |f| mask.map_or(Ok(()), |it| write!(f, " where {}", local(it))))
        };
        match &stmt.kind {
            StmtKind::Assign { target, index, value, mask } => {
                let target = match *target {
                    Target::Field(field) => spelled(&self.stencil.fields[field].name),
                    Target::Local(it) => local(it),
                };
                let spell = |it: &Access, f: &mut fmt::Formatter<'_>| access(self.stencil, *it, f);
                let index = print::index(index, &spell);
                let value = expr(self.stencil, value);
                self.out.line(format_args!("{target}{index} = {value}{}", within(*mask)));
            }
            StmtKind::Mask { mask, within: outer, condition } => {
                let condition = expr(self.stencil, condition);
                self.out.line(format_args!("{} = {condition}{}", local(*mask), within(*outer)));
            }
            StmtKind::Rest { mask, within: outer, of } => {
                self.out.line(format_args!("{} = not {}{}", local(*mask), local(*of), within(*outer)));
            }
            StmtKind::While { active, within: outer, condition, body } => {
                let condition = expr(self.stencil, condition);
                self.out.line(format_args!("while {} = {condition}{}", local(*active), within(*outer)));
                self.out.indent();
                self.stmts(body);
                self.out.dedent();
            }
            StmtKind::Region { region, body } => {
                self.out.line(format_args!("region {region}"));
                self.out.indent();
                self.stmts(body);
                self.out.dedent();
            }
        }
        self.out.close();
    }
}

fn kind(stmt: &Stmt) -> &'static str {
    match stmt.kind {
        StmtKind::Assign { .. } => "assign",
        StmtKind::Mask { .. } | StmtKind::Rest { .. } => "mask",
        StmtKind::While { .. } => "while",
        StmtKind::Region { .. } => "region",
    }
}

fn expr<'a>(stencil: &'a Stencil, expr: &'a Expr) -> impl Display + 'a {
    fmt::from_fn(move |f| print::text(expr, &|it: &Access, f| access(stencil, *it, f)).fmt(f))
}

fn access(stencil: &Stencil, leaf: Access, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    match leaf {
        Access::Field { field, offset } => {
            let field = &stencil.fields[field];
            write!(f, "{}{}", spelled(&field.name), offset.along_axes(field.axes))
        }
        Access::Kept { field, offset } => {
            let field = &stencil.fields[field];
            let name = field.kept_as.as_deref().unwrap_or_default();
            write!(f, "{}{}", spelled(name), offset.along_axes(field.axes))
        }
        Access::Local(local) => spelled(&stencil.locals[local].name).fmt(f),
        Access::Scalar(scalar) => spelled(&stencil.scalars[scalar].name).fmt(f),
    }
}
