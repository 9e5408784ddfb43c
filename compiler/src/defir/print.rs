//! The Definition IR as text.

use super::nodes::{Access, Expr, Field, ParamDefault, ParamKind, Stencil};
use crate::diag::{Listing, ListingWriter};
use crate::entity::Handle;
use crate::expr::print;
use crate::expr::statement::print::StmtPrinter;

/// The whole stencil: one statement to a line, names as they are written, offsets along the
/// axes that a field has. The type of a temporary stands where it is declared.
#[must_use]
pub fn listing(stencil: &Stencil) -> Listing {
    let target = |&field: &Handle<Field>| stencil.fields[field].name.clone();
    let access = |leaf: &Access| access(stencil, leaf);
    let mut stmts = StmtPrinter::new(&target, &access);
    let mut out = ListingWriter::new();
    out.open(stencil.name.clone(), "stencil", []);
    out.line(format!("stencil {}({})", stencil.name, signature(stencil)));
    out.indented(|out| {
        for (_, field) in stencil.fields.iter().filter(|(_, it)| it.is_temporary) {
            out.line(temporary(field));
        }
        for (position, computation) in stencil.computations.iter().enumerate() {
            out.open(format!("computation{position}"), "computation", []);
            out.line(format!("computation {} {}", computation.order, computation.interval));
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
                let Field { name, axes, dtype, .. } = &stencil.fields[field];
                let dtype = dtype.map_or("auto", |it| it.name());
                format!("{name}: {dtype}[{axes}]")
            }
            ParamKind::Scalar(scalar) => {
                let scalar = &stencil.scalars[scalar];
                format!("{}: {}", scalar.name, scalar.dtype)
            }
        };
        match param.default {
            ParamDefault::Required => {}
            ParamDefault::None => text.push_str(" = None"),
            ParamDefault::Value(value) => text.push_str(&format!(" = {value}")),
        }
        parts.push(text);
    }
    parts.join(", ")
}

fn temporary(field: &Field) -> String {
    let dtype = field.dtype.map_or("auto", |it| it.name());
    format!("temporary {}: {dtype}[{}]", field.name, field.axes)
}

/// An expression of `stencil` in the language's own notation.
#[must_use]
pub fn text(stencil: &Stencil, expr: &Expr) -> String {
    print::text(expr, &|leaf| access(stencil, leaf))
}

fn access(stencil: &Stencil, leaf: &Access) -> String {
    match *leaf {
        Access::Scalar(scalar) => stencil.scalars[scalar].name.clone(),
        Access::Field { field, offset } => {
            let Field { name, axes, .. } = &stencil.fields[field];
            format!("{name}{}", offset.along_axes(*axes))
        }
    }
}
