//! OIR read back from its text, so that a test can start from one.

use super::nodes::{
    Access, Field, HorizontalExecution, Local, Param, ParamKind, Scalar, Section, Stencil, Stmt, Target,
    VerticalLoop,
};
use crate::diag::Span;
use crate::diag::outline::{LineResult, ListingFault, OutlineLine, outline};
use crate::expr::Subscript;
use crate::expr::declaration::{self, Declaration};
use crate::expr::statement::parse::StmtReader;
use crate::space::{LoopOrder, Offset, parse as space};

/// Reads a stencil that [`listing`](super::print::listing) wrote. Statements and executions are
/// numbered in order, and the place of a statement is its line in `text`. Extents and caches are skipped.
///
/// # Errors
///
/// The first line that can't be read.
pub fn parse(text: &str) -> Result<Stencil, ListingFault> {
    let mut reader = Reader { stencil: Stencil::default(), n_stmts: 0 };
    for line in &outline(text) {
        reader.top(line).map_err(|wrong| ListingFault::at(text, wrong))?;
    }
    Ok(reader.stencil)
}

struct Reader {
    stencil: Stencil,
    n_stmts: u32,
}

impl Reader {
    fn top(&mut self, line: &OutlineLine<'_>) -> LineResult<()> {
        let fail = |message: &str| (line.span, message.to_owned());
        if let Some(declared) = declaration::parse(line.text) {
            self.declare(declared.map_err(|it| fail(&it))?, line.span);
            return Ok(());
        }
        let order = LoopOrder::from_name(line.text)
            .ok_or_else(|| fail("a declaration or a vertical loop was expected"))?;
        // A remark tells what is found again from the rest.
        let sections = line.children.iter().filter(|it| !it.text.starts_with('#'));
        let sections = sections.map(|it| self.section(it)).collect::<LineResult<_>>()?;
        self.stencil.vertical_loops.push(VerticalLoop { order, sections });
        Ok(())
    }

    fn declare(&mut self, declared: Declaration, span: Span) {
        let stencil = &mut self.stencil;
        match declared {
            Declaration::Stencil { name } => (stencil.name, stencil.span) = (name, span),
            Declaration::Field { name, dtype, axes, data_dims, is_keyword_only, is_optional } => {
                let field = Field { name, axes, data_dims, dtype, is_temporary: false, span };
                let what = ParamKind::Field(stencil.fields.push(field));
                stencil.params.push(Param { what, is_keyword_only, default: None, is_optional });
            }
            Declaration::Scalar { name, dtype, is_keyword_only, default } => {
                let what = ParamKind::Scalar(stencil.scalars.push(Scalar { name, dtype, span }));
                stencil.params.push(Param { what, is_keyword_only, default, is_optional: false });
            }
            Declaration::Temporary { name, dtype, axes, data_dims } => {
                stencil.fields.push(Field { name, axes, data_dims, dtype, is_temporary: true, span });
            }
            Declaration::Local { name, dtype } => {
                stencil.locals.push(Local { name, dtype, span });
            }
        }
    }

    fn section(&mut self, line: &OutlineLine<'_>) -> LineResult<Section> {
        let interval = space::interval(line.text);
        let interval = interval.ok_or_else(|| (line.span, "an interval was expected".to_owned()))?;
        let mut executions = Vec::new();
        for line in &line.children {
            let (name, extent) = line.text.split_once(' ').unwrap_or((line.text, "on"));
            let number = name.strip_prefix('x').and_then(|it| it.parse::<u32>().ok());
            if number.is_none() || !extent.starts_with("on") {
                return Err((line.span, "a horizontal execution was expected".to_owned()));
            }
            let body = self.body(&line.children)?;
            executions.push(self.stencil.executions.push(HorizontalExecution { body }));
        }
        Ok(Section { interval, executions })
    }

    fn body(&mut self, lines: &[OutlineLine<'_>]) -> LineResult<Vec<Stmt>> {
        let stencil = &self.stencil;
        let named = |name: &str| {
            let field = stencil.fields.find(|it| it.name == name).map(Target::Field);
            field.or_else(|| stencil.locals.find(|it| it.name == name).map(Target::Local))
        };
        let mut target =
            |name: &str| named(name).ok_or_else(|| format!("there is no field or local `{name}`"));
        let mut leaf = |name: &str, index: Vec<Subscript<Access>>| match named(name) {
            Some(Target::Field(field)) => {
                let declared = &stencil.fields[field];
                let offset = index.iter().map(Subscript::as_constant).collect::<Option<Vec<_>>>();
                let offset = offset
                    .and_then(|it| Offset::from_index(declared.axes, &it))
                    .ok_or_else(|| format!("`{name}` has the axes {}", declared.axes))?;
                Ok((Access::Field { field, offset }, declared.dtype))
            }
            Some(Target::Local(local)) => Ok((Access::Local(local), stencil.locals[local].dtype)),
            None => {
                let scalar = stencil.scalars.find(|it| it.name == name);
                let scalar = scalar.ok_or_else(|| format!("there is no `{name}`"))?;
                Ok((Access::Scalar(scalar), stencil.scalars[scalar].dtype))
            }
        };
        StmtReader { target: &mut target, leaf: &mut leaf, n_stmts: &mut self.n_stmts }.body(lines)
    }
}
