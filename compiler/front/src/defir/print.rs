//! The Definition IR as text.

use std::fmt;

use super::nodes::{Access, Expr, Field, ParamDefault, ParamKind, Stencil};
use crate::diag::{Listing, ListingWriter};
use crate::entity::Handle;
use crate::expr::declaration::sizes;
use crate::expr::print;
use crate::expr::statement::print::StmtPrinter;

/// The whole stencil: one statement to a line, names as they are written, offsets along the
/// axes that a field has. The type of a temporary stands where it is declared.
#[must_use]
pub fn listing(stencil: &Stencil) -> Listing {
    let target =
        |&field: &Handle<Field>, f: &mut fmt::Formatter<'_>| f.write_str(&stencil.fields[field].name);
    let access = |leaf: &Access, f: &mut fmt::Formatter<'_>| access(f, stencil, leaf);
    let mut stmts = StmtPrinter::new(&target, &access);
    let mut out = ListingWriter::new();
    out.open(stencil.name.clone(), "stencil", []);
    out.line(format_args!("stencil {}({})", stencil.name, signature(stencil)));
    out.indented(|out| {
        for (_, field) in stencil.fields.iter().filter(|(_, it)| it.is_temporary) {
            out.line(temporary(field));
        }
        for (position, computation) in stencil.computations.iter().enumerate() {
            out.open(format!("computation{position}"), "computation", []);
            let bound = |word: &'static str, bound: &Option<Expr>| {
                let bound = bound.as_ref().map(|it| print::text(it, &access).to_string());
                bound.map_or_else(String::new, |it| format!(" {word} {it}"))
            };
            let (from, to) = (bound("from", &computation.from), bound("to", &computation.to));
            out.line(format_args!("computation {} {}{from}{to}", computation.order, computation.interval));
            stmts.body(&computation.body, out);
            out.close();
        }
    });
    out.close();
    out.finish()
}

fn signature(stencil: &Stencil) -> String {
    let mut parts = Vec::new();
    let mut is_keyword_only = false;
    for param in &stencil.params {
        if param.is_keyword_only && !is_keyword_only {
            is_keyword_only = true;
            parts.push("*".to_owned());
        }
        let mut text = match param.what {
            ParamKind::Field(field) => {
                let Field { name, axes, data_dims, dtype, .. } = &stencil.fields[field];
                let dtype = dtype.map_or("auto", |it| it.name());
                format!("{name}: {dtype}[{axes}]{}", sizes(data_dims))
            }
            ParamKind::Scalar(scalar) => {
                let scalar = &stencil.scalars[scalar];
                format!("{}: {}", scalar.name, scalar.dtype)
            }
        };
        match param.default {
            ParamDefault::Required => {}
            ParamDefault::None => text.push_str(" = None"),
            ParamDefault::Value(value) => text.push_str(&format!(" = {}", value.digits())),
        }
        parts.push(text);
    }
    parts.join(", ")
}

fn temporary(field: &Field) -> String {
    let dtype = field.dtype.map_or("auto", |it| it.name());
    format!("temporary {}: {dtype}[{}]{}", field.name, field.axes, sizes(&field.data_dims))
}

/// An expression of `stencil` in the language's own notation.
#[must_use]
pub fn text(stencil: &Stencil, expr: &Expr) -> String {
    print::text(expr, &|leaf, f| access(f, stencil, leaf)).to_string()
}

fn access(f: &mut fmt::Formatter<'_>, stencil: &Stencil, leaf: &Access) -> fmt::Result {
    match *leaf {
        Access::Scalar(scalar) => f.write_str(&stencil.scalars[scalar].name),
        Access::Field { field, offset } => {
            let Field { name, axes, .. } = &stencil.fields[field];
            write!(f, "{name}{}", offset.along_axes(*axes))
        }
    }
}
