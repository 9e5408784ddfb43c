//! Typed statements read back from their text.

use super::{Stmt, StmtKind};
use crate::diag::outline::{LineResult, OutlineLine};
use crate::diag::{Origin, Span, StmtId};
use crate::expr::Expr;
use crate::expr::parse::{self, LeafReader};
use crate::space;

/// Finds what a name that is assigned stands for.
pub type TargetReader<'a, T> = dyn FnMut(&str) -> Result<T, String> + 'a;

/// Reads statements that a [`StmtPrinter`](super::print::StmtPrinter) wrote. They are numbered in order,
/// and their place is their line.
pub struct StmtReader<'a, T, A> {
    pub target: &'a mut TargetReader<'a, T>,
    pub leaf: &'a mut LeafReader<'a, A>,
    /// How many statements were read before.
    pub n_stmts: &'a mut u32,
}

impl<T, A> std::fmt::Debug for StmtReader<'_, T, A> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("StmtReader").field("n_stmts", &self.n_stmts).finish_non_exhaustive()
    }
}

impl<T, A> StmtReader<'_, T, A> {
    /// The statements of these lines.
    ///
    /// # Errors
    ///
    /// The first line that can't be read.
    pub fn body(&mut self, lines: &[OutlineLine<'_>]) -> LineResult<Vec<Stmt<T, A>>> {
        let mut body = Vec::new();
        let mut rest = lines;
        while let Some((line, after)) = rest.split_first() {
            rest = after;
            if line.text != "pass" {
                body.push(self.stmt(line, &mut rest)?);
            }
        }
        Ok(body)
    }

    /// The statement at `line`; an `if` takes its other branches from `rest`.
    fn stmt(&mut self, line: &OutlineLine<'_>, rest: &mut &[OutlineLine<'_>]) -> LineResult<Stmt<T, A>> {
        let origin = Origin::new(StmtId(*self.n_stmts), &[line.span]);
        *self.n_stmts += 1;
        let kind = self.kind(line, rest)?;
        Ok(Stmt { kind, origin })
    }

    fn kind(&mut self, line: &OutlineLine<'_>, rest: &mut &[OutlineLine<'_>]) -> LineResult<StmtKind<T, A>> {
        let (text, span) = (line.text, line.span);
        if let Some((target, value)) = text.split_once(" = ") {
            let (name, index) = parse::target(target, span, self.leaf).map_err(|message| (span, message))?;
            let target = (self.target)(name).map_err(|message| (span, message))?;
            return Ok(StmtKind::Assign { target, index, target_span: span, value: self.expr(value, span)? });
        }
        if let Some(condition) = text.strip_prefix("if ").or_else(|| text.strip_prefix("elif ")) {
            let condition = self.expr(condition, span)?;
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
            let condition = self.expr(condition, span)?;
            return Ok(StmtKind::While { condition, body: self.body(&line.children)? });
        }
        if let Some(region) = text.strip_prefix("region ").and_then(space::parse::region) {
            return Ok(StmtKind::Region { region, body: self.body(&line.children)? });
        }
        Err((span, "a statement was expected".to_owned()))
    }

    fn expr(&mut self, text: &str, span: Span) -> LineResult<Expr<A>> {
        parse::parse(text, span, self.leaf).map_err(|message| (span, message))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diag::ListingWriter;
    use crate::diag::outline::{ListingFault, outline};
    use crate::expr::statement::print::StmtPrinter;
    use crate::types::DType;

    fn read(text: &str) -> Result<Vec<Stmt<String, String>>, ListingFault> {
        let mut target =
            |name: &str| if name == "x" { Err("`x` is read-only".to_owned()) } else { Ok(name.to_owned()) };
        let mut leaf = |name: &str, _: Vec<crate::expr::Subscript<String>>| {
            let dtype = if name.starts_with('c') { DType::Bool } else { DType::Float64 };
            Ok((name.to_owned(), dtype))
        };
        let mut reader = StmtReader { target: &mut target, leaf: &mut leaf, n_stmts: &mut 0 };
        reader.body(&outline(text)).map_err(|wrong| ListingFault::at(text, wrong))
    }

    #[test]
    fn statements_read_back_as_they_were_written() {
        let text = "  a = b + 1.0
  if c
    pass
  elif a > b
    while c2
      pass
  else
    region i[start, start+1) j[, )
      a.up(1).A[b, 2] = b
    if not c
      b = a
  b = a
";
        let body = read(text).expect(text);
        let mut out = ListingWriter::new();
        let name = |it: &String, f: &mut std::fmt::Formatter<'_>| f.write_str(it);
        StmtPrinter::new(&name, &name).body(&body, &mut out);
        let listing = out.finish();
        assert_eq!(listing.text, text);
        let names: Vec<&str> = listing.nodes.iter().map(|it| it.id.as_str()).collect();
        assert_eq!(names, ["s0", "s1", "s2", "s3", "s4", "s5", "s6", "s7", "s8"]);
    }

    #[test]
    fn what_cannot_be_read_is_named_with_its_line() {
        for (text, expected) in [
            ("a = b\nelse\n  a = b", "line 2: a statement was expected"),
            ("a = b\nx = a", "line 2: `x` is read-only"),
            ("if c\n  a = b +", "line 2: the expression ends too early"),
            ("while\n  a = b", "line 1: a statement was expected"),
            ("region i[, )\n  a = b", "line 1: a statement was expected"),
        ] {
            assert_eq!(read(text).expect_err(text).to_string(), expected);
        }
    }
}
