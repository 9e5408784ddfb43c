//! GTIR as text: declarations, then the vertical loops, one statement a line.
//!
//! Statements have the ids `s0`, `s1`, ... that they have up to OIR, vertical loops `v0`, `v1`, ...

use std::fmt::{self, Display};

use super::nodes::{Access, Field, ParamKind, Stencil};
use crate::diag::{Listing, ListingWriter};
use crate::entity::Handle;
use crate::expr::declaration::Declaration;
use crate::expr::parse::spelled;
use crate::expr::statement::print::StmtPrinter;

/// The whole stencil; [`parse`](super::parse) reads it back.
#[must_use]
pub fn listing(stencil: &Stencil) -> Listing {
    let name = |field: Handle<Field>| spelled(&stencil.fields[field].name);
    let target = |&field: &Handle<Field>, f: &mut fmt::Formatter<'_>| name(field).fmt(f);
    let access = |leaf: &Access, f: &mut fmt::Formatter<'_>| match *leaf {
        Access::Field { field, offset } => {
            write!(f, "{}{}", name(field), offset.along_axes(stencil.fields[field].axes))
        }
        Access::Scalar(scalar) => spelled(&stencil.scalars[scalar].name).fmt(f),
    };
    let mut stmts = StmtPrinter::new(&target, &access);
    let mut out = ListingWriter::new();
    out.open("stencil", "stencil", []);
    declarations(stencil).iter().for_each(|it| out.line(it));
    for (at, vertical_loop) in stencil.vertical_loops.iter().enumerate() {
        out.line("");
        out.open(format!("v{at}"), "vertical-loop", []);
        out.line(format_args!("{} {}", vertical_loop.order, vertical_loop.interval));
        stmts.body(&vertical_loop.body, &mut out);
        out.close();
    }
    out.close();
    out.finish()
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
    found
}
