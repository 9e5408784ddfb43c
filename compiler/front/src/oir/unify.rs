//! One array for several parameters: the stencil in which these are one field.

use std::collections::BTreeMap;

use super::names::Names;
use super::nodes::{
    Access, Expr, Field, HorizontalExecution, Index, ParamKind, Stencil, Stmt, StmtKind, Target,
};
use super::visit::Visit;
use crate::diag::{Origin, Span};
use crate::entity::Handle;
use crate::expr::ExprKind;
use crate::space::{Offset, Region};

/// Why several parameters cannot be one field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnifyRefusal {
    /// The statement that writes the field, and the read of it beside the point, of an element found at run time.
    pub statement: Span,
    pub read: Span,
}

/// The stencil in which each pair of parameters, by position, is one field: the first of the two. The second stays a
/// parameter that no statement uses.
///
/// - **Precondition**: valid OIR as it was lowered; both of a pair are fields with the same axes, data dimensions and
///   type. The first of a pair is the second of no other.
/// - **Effect**: each statement reads what the statements before it wrote through any of the names. A
///   statement may read a neighbour of the element that it writes. It then reads the value from before the
///   statement, kept in a temporary, so that no point observes another point's progress.
///
/// # Errors
///
/// Where a statement reads a neighbour of what it writes, and which element that is shows at run time only.
pub fn unify(stencil: &mut Stencil, pairs: &[[usize; 2]]) -> Result<(), UnifyRefusal> {
    let field = |at: usize| match stencil.params.get(at).map(|it| it.what) {
        Some(ParamKind::Field(field)) => Some(field),
        Some(ParamKind::Scalar(_)) | None => None,
    };
    let renamed: BTreeMap<Handle<Field>, Handle<Field>> =
        pairs.iter().filter_map(|&[kept, other]| Some((field(other)?, field(kept)?))).collect();
    for (_, execution) in stencil.executions.iter_mut() {
        let mut rename = |it: &mut Target| {
            if let Some(&kept) = it.field().and_then(|field| renamed.get(&field)) {
                *it = Target::Field(kept);
            }
        };
        execution.body.iter_mut().for_each(|it| it.rename(&mut rename));
    }
    let mut names = Names::of(stencil);
    for at in 0..stencil.vertical_loops.len() {
        for section in 0..stencil.vertical_loops[at].sections.len() {
            let known = std::mem::take(&mut stencil.vertical_loops[at].sections[section].executions);
            let mut all = Vec::with_capacity(known.len());
            for execution in known {
                let kept = keep_neighbours(stencil, execution, &mut names)?;
                all.extend(kept);
                all.push(execution);
            }
            stencil.vertical_loops[at].sections[section].executions = all;
        }
    }
    Ok(())
}

/// A value that a statement reads beside the point.
#[derive(Clone, Debug)]
struct Neighbour {
    /// The read.
    value: Expr,
    /// The columns that it stands in.
    region: Option<Region>,
}

/// Has an execution read the neighbours of what it writes from temporaries; answers with the executions that fill
/// them, which come before it.
fn keep_neighbours(
    stencil: &mut Stencil,
    execution: Handle<HorizontalExecution>,
    names: &mut Names,
) -> Result<Vec<Handle<HorizontalExecution>>, UnifyRefusal> {
    let mut written: Vec<(Handle<Field>, Origin)> = Vec::new();
    let mut is_read_beside = false;
    stencil.executions[execution].each_touch(&mut |it| {
        is_read_beside |= it.is_read_beside();
        if let (true, Some(field)) = (it.is_write, it.what.field())
            && !stencil.fields[field].is_temporary
        {
            written.push((field, it.origin.clone()));
        }
    });
    if !is_read_beside || written.is_empty() {
        return Ok(Vec::new());
    }
    let mut body = std::mem::take(&mut stencil.executions[execution].body);
    let mut keep = NeighbourCopies { stencil, names, written: &written, kept: Vec::new() };
    let done = keep.body(&mut body, None);
    let kept = keep.kept;
    stencil.executions[execution].body = body;
    done?;
    Ok(kept.into_iter().map(|(neighbour, to, origin)| fill(stencil, neighbour, to, origin)).collect())
}

struct NeighbourCopies<'a> {
    stencil: &'a mut Stencil,
    names: &'a mut Names,
    /// The parameters that the execution writes, each with a statement that does.
    written: &'a [(Handle<Field>, Origin)],
    /// Each with its temporary, and the statement that reads it.
    kept: Vec<(Neighbour, Handle<Field>, Origin)>,
}

impl NeighbourCopies<'_> {
    fn body(&mut self, body: &mut [Stmt], region: Option<Region>) -> Result<(), UnifyRefusal> {
        for stmt in body {
            let origin = stmt.origin.clone();
            for expr in stmt.exprs_mut() {
                self.expr(expr, region, &origin)?;
            }
            let region = match &stmt.kind {
                StmtKind::Region { region, .. } => Some(*region),
                StmtKind::Assign { .. } | StmtKind::If { .. } | StmtKind::While { .. } => region,
            };
            for inner in stmt.bodies_mut() {
                self.body(inner, region)?;
            }
        }
        Ok(())
    }

    fn expr(&mut self, expr: &mut Expr, region: Option<Region>, origin: &Origin) -> Result<(), UnifyRefusal> {
        let (access, index) = match &expr.kind {
            ExprKind::Access(access) => (*access, None),
            ExprKind::Element(access, index) => (*access, Some(&**index)),
            _ => return expr.operands_mut().into_iter().try_for_each(|it| self.expr(it, region, origin)),
        };
        let Access::Field { field, offset } = access else { return Ok(()) };
        let Some((_, write)) = self.written.iter().find(|it| it.0 == field) else {
            // The index of the element may itself read beside the point.
            return expr.operands_mut().into_iter().try_for_each(|it| self.expr(it, region, origin));
        };
        if !offset.is_horizontal() {
            return expr.operands_mut().into_iter().try_for_each(|it| self.expr(it, region, origin));
        }
        if index.is_some_and(|it| it.level_offset().is_none() || it.literal_data().is_none()) {
            return Err(UnifyRefusal { statement: write.span(), read: expr.span });
        }
        let is_known = |it: &Neighbour| it.region == region && it.value.is_same(expr);
        let to = match self.kept.iter().find(|it| is_known(&it.0)) {
            Some(&(_, to, _)) => to,
            None => {
                let Field { name, axes, dtype, span, .. } = self.stencil.fields[field].clone();
                let name = self.names.unused_or_numbered(&format!("{name}_before"));
                let kept = Field { name, axes, data_dims: Vec::new(), dtype, is_temporary: true, span };
                let to = self.stencil.fields.push(kept);
                self.kept.push((Neighbour { value: expr.clone(), region }, to, origin.clone()));
                to
            }
        };
        expr.kind = ExprKind::Access(Access::Field { field: to, offset: Offset::CENTRE });
        Ok(())
    }
}

/// The execution that fills a temporary with a neighbour's value, at the points that ask for it.
fn fill(
    stencil: &mut Stencil,
    neighbour: Neighbour,
    to: Handle<Field>,
    origin: Origin,
) -> Handle<HorizontalExecution> {
    let Neighbour { value, region } = neighbour;
    let target = Target::Field(to);
    let assign = StmtKind::Assign { target, index: Index::HERE, target_span: origin.span(), value };
    let mut stmt = Stmt { kind: assign, origin: origin.clone() };
    if let Some(region) = region {
        stmt = Stmt { kind: StmtKind::Region { region, body: vec![stmt] }, origin };
    }
    stencil.executions.push(HorizontalExecution { body: vec![stmt] })
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::super::{parse::parse, print, validate::validate};
    use super::*;

    #[track_caller]
    fn check(text: &str, pairs: &[[usize; 2]], expected: &Expect) {
        let mut stencil = parse(text).expect("the test's own text");
        match unify(&mut stencil, pairs) {
            Ok(()) => {
                assert_eq!(validate(&stencil), Vec::<String>::new());
                expected.assert_eq(&print::listing(&stencil).text);
            }
            Err(refused) => {
                let read = &text[refused.read.start as usize..refused.read.end as usize];
                expected.assert_eq(&format!("refused: {read}\n"));
            }
        }
    }

    #[test]
    fn statements_read_what_was_written_through_either_name() {
        check(
            "
stencil twice
field q: float64[IJK]
field o: float64[IJK]
parallel
  [start, end)
    x0
      o = q + 1.0
    x1
      o = o + q
",
            &[[0, 1]],
            &expect![[r#"
                stencil twice
                field q: float64[IJK]
                field o: float64[IJK]

                parallel
                  [start, end)
                    x0
                      q = q + 1.0
                    x1
                      q = q + q
            "#]],
        );
    }

    #[test]
    fn a_neighbour_of_what_is_written_has_the_value_from_before() {
        check(
            "
stencil corners
field q: float64[IJK]
field o: float64[IJK]
parallel
  [start, end)
    x0
      o = q[1,0,0] + q[1,0,0]
    x1
      region i[start, start+1) j[, )
        o = q[0,5,0]
forward
  [start+1, end)
    x2
      o = q[0,-1,-1] if q[0,0,-1] > 0.0 else q
",
            &[[0, 1]],
            &expect![[r#"
                stencil corners
                field q: float64[IJK]
                field o: float64[IJK]
                temporary q_before: float64[IJK]
                temporary q_before_2: float64[IJK]
                temporary q_before_3: float64[IJK]

                parallel
                  [start, end)
                    x3
                      q_before = q[1,0,0]
                    x0
                      q = q_before + q_before
                    x4
                      region i[start, start+1) j[, )
                        q_before_2 = q[0,5,0]
                    x1
                      region i[start, start+1) j[, )
                        q = q_before_2

                forward
                  [start+1, end)
                    x5
                      q_before_3 = q[0,-1,-1]
                    x2
                      q = q_before_3 if q[0,0,-1] > 0.0 else q
            "#]],
        );
    }

    #[test]
    fn neighbours_of_what_another_statement_wrote_are_read_as_they_are() {
        check(
            "
stencil after
field q: float64[IJK]
field o: float64[IJK]
field r: float64[IJK]
parallel
  [start, end)
    x0
      o = 2.0
    x1
      r = q[1,0,0]
",
            &[[0, 1]],
            &expect![[r#"
                stencil after
                field q: float64[IJK]
                field o: float64[IJK]
                field r: float64[IJK]

                parallel
                  [start, end)
                    x0
                      q = 2.0
                    x1
                      r = q[1,0,0]
            "#]],
        );
    }

    #[test]
    fn a_neighbour_that_is_found_at_run_time_is_refused() {
        check(
            "
stencil found
field q: float64[IJK]
field o: float64[IJK]
field n: int64[IJK]
parallel
  [start, end)
    x0
      o = q[1,0,0].up(n)
",
            &[[0, 1]],
            &expect![[r#"
                refused: o = q[1,0,0].up(n)
            "#]],
        );
    }
}
