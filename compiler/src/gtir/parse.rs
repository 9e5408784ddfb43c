//! GTIR read back from its text, so that a test can start from one.

use super::nodes::{Access, Expr, Field, Param, ParamKind, Scalar, Stencil, Stmt, StmtKind, VerticalLoop};
use crate::diag::outline::{Line, Unreadable, line_number, outline};
use crate::diag::{Origin, Span, StmtId};
use crate::entity::Handle;
use crate::expr::parse as expr;
use crate::space::{Affine, LoopOrder, Offset, parse as space};
use crate::types::{DType, Value};

/// Reads a stencil that [`listing`](super::print::listing) wrote. Statements are numbered in order,
/// and their place is their line in `text`.
///
/// # Errors
///
/// The first line that can't be read.
pub fn parse(text: &str) -> Result<Stencil, Unreadable> {
    let mut reader = Reader { stencil: Stencil::default(), n_stmts: 0 };
    for line in &outline(text) {
        let read = reader.top(line);
        read.map_err(|(span, message)| Unreadable { line: line_number(text, span), message })?;
    }
    Ok(reader.stencil)
}

type Read<T> = Result<T, (Span, String)>;

struct Reader {
    stencil: Stencil,
    n_stmts: u32,
}

impl Reader {
    fn top(&mut self, line: &Line<'_>) -> Read<()> {
        let fail = |message: &str| Err((line.span, message.to_owned()));
        let Some((word, rest)) = line.text.split_once(' ') else { return fail("a declaration was expected") };
        let order = match word {
            "stencil" => {
                self.stencil.name = rest.to_owned();
                self.stencil.span = line.span;
                return Ok(());
            }
            "field" | "temporary" => return self.field(rest, word == "temporary", line.span),
            "scalar" => return self.scalar(rest, line.span),
            "parallel" => LoopOrder::Parallel,
            "forward" => LoopOrder::Forward,
            "backward" => LoopOrder::Backward,
            _ => return fail("a declaration or a vertical loop was expected"),
        };
        let Some(interval) = space::interval(rest) else { return fail("an interval was expected") };
        let body = self.body(&line.children)?;
        self.stencil.vertical_loops.push(VerticalLoop { order, interval, span: line.span, body });
        Ok(())
    }

    fn field(&mut self, text: &str, is_temporary: bool, span: Span) -> Read<()> {
        let mut words = text.split(' ');
        let parsed = || {
            let name = text.split_once(": ")?.0.to_owned();
            let (dtype, axes) = text.split_once(": ")?.1.split(' ').next()?.split_once('[')?;
            let dtype = DType::from_name(dtype)?;
            Some(Field { name, axes: space::axes(axes.strip_suffix(']')?)?, dtype, is_temporary, span })
        };
        let field = parsed().ok_or_else(|| (span, "`name: type[axes]` was expected".to_owned()))?;
        let field = self.stencil.fields.push(field);
        if !is_temporary {
            let is_keyword_only = words.any(|it| it == "keyword");
            let is_optional = text.ends_with(" optional");
            let what = ParamKind::Field(field);
            self.stencil.params.push(Param { what, is_keyword_only, default: None, is_optional });
        }
        Ok(())
    }

    fn scalar(&mut self, text: &str, span: Span) -> Read<()> {
        let parsed = || {
            let (declaration, default) = match text.split_once(" = ") {
                Some((declaration, default)) => (declaration, Some(expr::number(default)?)),
                None => (text, None),
            };
            let (name, rest) = declaration.split_once(": ")?;
            let (dtype, is_keyword_only) = match rest.strip_suffix(" keyword") {
                Some(dtype) => (dtype, true),
                None => (rest, false),
            };
            Some((
                Scalar { name: name.to_owned(), dtype: DType::from_name(dtype)?, span },
                is_keyword_only,
                default,
            ))
        };
        let (scalar, is_keyword_only, default): (_, _, Option<Value>) =
            parsed().ok_or_else(|| (span, "`name: type` was expected".to_owned()))?;
        let what = ParamKind::Scalar(self.stencil.scalars.push(scalar));
        self.stencil.params.push(Param { what, is_keyword_only, default, is_optional: false });
        Ok(())
    }

    fn body(&mut self, lines: &[Line<'_>]) -> Read<Vec<Stmt>> {
        let mut body = Vec::new();
        let mut rest = lines;
        while let Some((line, after)) = rest.split_first() {
            rest = after;
            body.push(self.stmt(line, &mut rest)?);
        }
        Ok(body)
    }

    /// The statement at `line`; an `if` takes its other branches from `rest`.
    fn stmt(&mut self, line: &Line<'_>, rest: &mut &[Line<'_>]) -> Read<Stmt> {
        let origin = Origin::new(StmtId(self.n_stmts), &[line.span]);
        self.n_stmts += 1;
        let kind = self.stmt_kind(line, rest)?;
        Ok(Stmt { kind, origin })
    }

    fn stmt_kind(&mut self, line: &Line<'_>, rest: &mut &[Line<'_>]) -> Read<StmtKind> {
        let text = line.text;
        if let Some((name, value)) = text.split_once(" = ")
            && !name.contains(' ')
        {
            let target = self.named(name, line.span)?;
            return Ok(StmtKind::Assign {
                target,
                target_span: line.span,
                value: self.expr(value, line.span)?,
            });
        }
        if let Some(condition) = text.strip_prefix("if ").or_else(|| text.strip_prefix("elif ")) {
            let condition = self.expr(condition, line.span)?;
            let then = self.body(&line.children)?;
            let otherwise = match rest.split_first() {
                Some((next, after)) if next.text.starts_with("elif ") => {
                    *rest = after;
                    vec![self.stmt(next, rest)?]
                }
                Some((next, after)) if next.text == "else" => {
                    *rest = after;
                    self.body(&next.children)?
                }
                _ => Vec::new(),
            };
            return Ok(StmtKind::If { condition, then, otherwise });
        }
        if let Some(condition) = text.strip_prefix("while ") {
            let condition = self.expr(condition, line.span)?;
            return Ok(StmtKind::While { condition, body: self.body(&line.children)? });
        }
        if let Some(region) = text.strip_prefix("region ").and_then(space::region) {
            return Ok(StmtKind::Region { region, body: self.body(&line.children)? });
        }
        Err((line.span, "a statement was expected".to_owned()))
    }

    fn named(&self, name: &str, span: Span) -> Read<Handle<Field>> {
        let name = name.strip_prefix('$').unwrap_or(name);
        let found = self.stencil.fields.find(|it| it.name == name);
        found.ok_or_else(|| (span, format!("there is no field `{name}`")))
    }

    fn expr(&self, text: &str, span: Span) -> Read<Expr> {
        let stencil = &self.stencil;
        let mut leaf = |name: &str, index: &[Affine]| {
            if let Some(field) = stencil.fields.find(|it| it.name == name) {
                let declared = &stencil.fields[field];
                let offset = Offset::from_index(declared.axes, index)
                    .ok_or_else(|| format!("`{name}` has the axes {}", declared.axes))?;
                return Ok((Access::Field { field, offset }, declared.dtype));
            }
            let scalar = stencil.scalars.find(|it| it.name == name);
            let scalar = scalar.ok_or_else(|| format!("there is no `{name}`"))?;
            Ok((Access::Scalar(scalar), stencil.scalars[scalar].dtype))
        };
        expr::parse(text, span, &mut leaf).map_err(|message| (span, message))
    }
}
