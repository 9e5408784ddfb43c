//! The Definition IR as text.

use super::nodes::{Access, Expr, Field, ParamDefault, ParamKind, Stencil, Stmt, StmtKind};
use crate::diag::{Listing, ListingWriter, Origin};
use crate::entity::Handle;
use crate::expr::print;
use crate::space::{Axis, Offset};

/// The whole stencil: one statement to a line, names as they are written, offsets along the
/// axes that a field has. The type of a temporary stands where it is declared.
#[must_use]
pub fn listing(stencil: &Stencil) -> Listing {
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
            out.indented(|out| body(stencil, &computation.body, out));
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

fn body(stencil: &Stencil, stmts: &[Stmt], out: &mut ListingWriter) {
    if stmts.is_empty() {
        out.line("pass");
    }
    for stmt in stmts {
        statement(stencil, stmt, "if", out);
    }
}

/// `keyword` is `elif` for an `if` alone in the `else` of another.
fn statement(stencil: &Stencil, stmt: &Stmt, keyword: &str, out: &mut ListingWriter) {
    let origin: [&Origin; 1] = [&stmt.origin];
    let id = stmt.origin.stmt.to_string();
    match &stmt.kind {
        StmtKind::Assign { target, value, .. } => {
            out.open(id, "assign", origin);
            let target = &stencil.fields[*target].name;
            out.line(format!("{target} = {}", text(stencil, value)));
        }
        StmtKind::If { condition, then, otherwise } => {
            out.open(id, "if", origin);
            out.line(format!("{keyword} {}", text(stencil, condition)));
            out.indented(|out| body(stencil, then, out));
            match otherwise.as_slice() {
                [] => {}
                [only] if matches!(only.kind, StmtKind::If { .. }) => statement(stencil, only, "elif", out),
                _ => {
                    out.line("else");
                    out.indented(|out| body(stencil, otherwise, out));
                }
            }
        }
        StmtKind::While { condition, body: inner } => {
            out.open(id, "while", origin);
            out.line(format!("while {}", text(stencil, condition)));
            out.indented(|out| body(stencil, inner, out));
        }
        StmtKind::Region { region, body: inner } => {
            out.open(id, "region", origin);
            out.line(format!("region {region}"));
            out.indented(|out| body(stencil, inner, out));
        }
    }
    out.close();
}

/// An expression of `stencil` in the language's own notation.
#[must_use]
pub fn text(stencil: &Stencil, expr: &Expr) -> String {
    print::text(expr, &|access| match *access {
        Access::Scalar(scalar) => stencil.scalars[scalar].name.clone(),
        Access::Field { field, offset } => read(stencil, field, offset),
    })
}

fn read(stencil: &Stencil, field: Handle<Field>, offset: Offset) -> String {
    let Field { name, axes, .. } = &stencil.fields[field];
    if offset == Offset::CENTRE {
        return name.clone();
    }
    let offsets: Vec<String> = axes.iter().map(|axis: Axis| offset.along(axis).to_string()).collect();
    format!("{name}[{}]", offsets.join(","))
}
