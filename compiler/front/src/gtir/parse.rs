//! GTIR read back from its text, so that a test can start from one.

use super::nodes::{Access, Field, Param, ParamKind, Scalar, Stencil, Stmt, VerticalLoop};
use crate::diag::Span;
use crate::diag::outline::{LineResult, ListingFault, OutlineLine, outline};
use crate::expr::Subscript;
use crate::expr::declaration::{self, Declaration};
use crate::expr::statement::parse::StmtReader;
use crate::space::{LoopOrder, Offset, parse as space};

/// Reads a stencil that [`listing`](super::print::listing) wrote. Statements are numbered in order,
/// and their place is their line in `text`.
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
            let is_declared = self.declare(declared.map_err(|it| fail(&it))?, line.span);
            return is_declared.then_some(()).ok_or_else(|| fail("GTIR has no locals"));
        }
        let (order, interval) = line.text.split_once(' ').unwrap_or((line.text, ""));
        let order = LoopOrder::from_name(order)
            .ok_or_else(|| fail("a declaration or a vertical loop was expected"))?;
        let interval = space::interval(interval).ok_or_else(|| fail("an interval was expected"))?;
        let body = self.body(&line.children)?;
        self.stencil.vertical_loops.push(VerticalLoop { order, interval, span: line.span, body });
        Ok(())
    }

    /// Whether this level can have what is declared.
    fn declare(&mut self, declared: Declaration, span: Span) -> bool {
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
            Declaration::Local { .. } => return false,
        }
        true
    }

    fn body(&mut self, lines: &[OutlineLine<'_>]) -> LineResult<Vec<Stmt>> {
        let stencil = &self.stencil;
        let mut target = |name: &str| {
            stencil.fields.find(|it| it.name == name).ok_or_else(|| format!("there is no field `{name}`"))
        };
        let mut leaf = |name: &str, index: Vec<Subscript<Access>>| {
            if let Some(field) = stencil.fields.find(|it| it.name == name) {
                let declared = &stencil.fields[field];
                let offset = index.iter().map(Subscript::as_constant).collect::<Option<Vec<_>>>();
                let offset = offset
                    .and_then(|it| Offset::from_index(declared.axes, &it))
                    .ok_or_else(|| format!("`{name}` has the axes {}", declared.axes))?;
                return Ok((Access::Field { field, offset }, declared.dtype));
            }
            let scalar = stencil.scalars.find(|it| it.name == name);
            let scalar = scalar.ok_or_else(|| format!("there is no `{name}`"))?;
            Ok((Access::Scalar(scalar), stencil.scalars[scalar].dtype))
        };
        StmtReader { target: &mut target, leaf: &mut leaf, n_stmts: &mut self.n_stmts }.body(lines)
    }
}
