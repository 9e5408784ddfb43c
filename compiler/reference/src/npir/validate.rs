//! Every rule of NPIR. A violation is a bug of this compiler.

use std::collections::BTreeSet;

use super::nodes::{Access, Block, Expr, Index, Local, Stencil, Stmt, StmtKind, Target};
use crate::entity::Handle;
use crate::expr;
use crate::space::{AxisSet, LoopOrder};
use crate::types::DType;

/// All violations; none in a valid stencil.
#[must_use]
pub fn validate(stencil: &Stencil) -> Vec<String> {
    let mut check = Check { stencil, violations: Vec::new() };
    for pass in &stencil.passes {
        check.demand(!pass.blocks.is_empty(), || "a vertical pass is empty".to_owned());
        pass.blocks.iter().for_each(|it| check.block(it, pass.order));
    }
    check.violations
}

struct Check<'a> {
    stencil: &'a Stencil,
    violations: Vec<String>,
}

impl Check<'_> {
    fn demand(&mut self, holds: bool, what: impl FnOnce() -> String) {
        if !holds {
            self.violations.push(what());
        }
    }

    fn block(&mut self, block: &Block, order: LoopOrder) {
        let is_sweep = order != LoopOrder::Parallel;
        self.demand(!is_sweep || block.kept.is_empty(), || "a sweep keeps values from before".to_owned());
        let mut written = BTreeSet::new();
        for stmt in &block.body {
            stmt.walk(&mut |it| {
                if let StmtKind::Assign { target: Target::Field(field), .. } = it.kind {
                    written.insert(field);
                }
            });
        }
        let mut made = BTreeSet::new();
        for stmt in &block.body {
            self.stmt(stmt, order, false, &mut made);
            stmt.walk(&mut |it| {
                it.reads(&mut |access, _| match *access {
                    Access::Field { field, offset } => {
                        let is_free = !offset.is_horizontal() || !written.contains(&field);
                        self.demand(is_free, || {
                            format!("{} reads beside the point what its block writes", it.origin.stmt)
                        });
                    }
                    Access::Kept { field, .. } => {
                        let is_kept = block.kept.contains(&field)
                            && self.stencil.fields.get(field).is_some_and(|it| it.kept_as.is_some());
                        self.demand(is_kept, || format!("{} reads what is not kept", it.origin.stmt));
                    }
                    Access::Scalar(_) | Access::Local(_) => {}
                });
            });
        }
    }

    /// `made` are the masks that exist where the statement begins.
    fn stmt(
        &mut self,
        stmt: &Stmt,
        order: LoopOrder,
        is_in_region: bool,
        made: &mut BTreeSet<Handle<Local>>,
    ) {
        let id = stmt.origin.stmt;
        stmt.exprs().for_each(|it| self.expr(it, stmt));
        let of = if let StmtKind::Rest { of, .. } = stmt.kind { Some(of) } else { None };
        for mask in stmt.limiting_mask().into_iter().chain(of) {
            self.demand(made.contains(&mask), || format!("{id} uses a mask that is not made before"));
        }
        if let Some(mask) = stmt.made_mask() {
            let is_mask = self.stencil.locals.get(mask).is_some_and(|it| it.is_mask);
            self.demand(is_mask, || format!("{id} makes a mask of what is none"));
            made.insert(mask);
        }
        match &stmt.kind {
            StmtKind::Assign { target, index, value, .. } => {
                self.assign(*target, index, value.dtype, stmt, order);
            }
            StmtKind::Mask { condition, .. } | StmtKind::While { condition, .. } => {
                self.demand(condition.dtype == DType::Bool, || {
                    format!("{id} has a condition that is not bool")
                });
            }
            StmtKind::Rest { .. } => {}
            StmtKind::Region { .. } => {
                self.demand(!is_in_region, || format!("{id} is a region inside a region"));
            }
        }
        let is_in_region = is_in_region || matches!(stmt.kind, StmtKind::Region { .. });
        stmt.children().iter().for_each(|it| self.stmt(it, order, is_in_region, made));
    }

    fn assign(&mut self, target: Target, index: &Index, dtype: DType, stmt: &Stmt, order: LoopOrder) {
        let (stencil, id) = (self.stencil, stmt.origin.stmt);
        let (declared, axes) = match target {
            Target::Field(field) => match stencil.fields.get(field) {
                Some(field) => {
                    let mut found = expr::validate::index_violations(index);
                    found.extend(expr::validate::data_violations(&field.name, &field.data_dims, &index.data));
                    self.violations.extend(found.into_iter().map(|it| format!("{id}: {it}")));
                    (field.dtype, field.axes)
                }
                None => return self.demand(false, || format!("{id} assigns what is not declared")),
            },
            Target::Local(local) => match stencil.locals.get(local) {
                Some(local) => {
                    self.demand(index.is_here(), || format!("{id} assigns an element of a local"));
                    self.demand(!local.is_mask, || format!("{id} assigns a mask"));
                    (local.dtype, AxisSet::IJK)
                }
                None => return self.demand(false, || format!("{id} assigns what is not declared")),
            },
        };
        self.demand(declared == dtype, || format!("{id} assigns {dtype} to {declared}"));
        let has_axes = axes == AxisSet::IJK || axes == AxisSet::IJ && order != LoopOrder::Parallel;
        self.demand(has_axes, || format!("{id} assigns a field with the axes {axes}"));
        let is_here = index.level_offset() == Some(0) || order != LoopOrder::Parallel;
        self.demand(is_here, || format!("{id} assigns another level in parallel"));
    }

    fn expr(&mut self, expr: &Expr, stmt: &Stmt) {
        let stencil = self.stencil;
        let leaf = |access: &Access, index: Option<&Index>| match *access {
            Access::Field { field, offset } | Access::Kept { field, offset } => {
                let field = stencil.fields.get(field).ok_or("a field that is read is not declared")?;
                let data = index.map_or(&[][..], |it| &it.data);
                if let Some(wrong) =
                    expr::validate::data_violations(&field.name, &field.data_dims, data).pop()
                {
                    return Err(wrong);
                }
                let mut axes = crate::space::Axis::ALL.into_iter();
                if !axes.all(|axis| field.axes.has(axis) || offset.along(axis) == 0) {
                    return Err(format!("`{}` is read at {offset}", field.name));
                }
                Ok((field.name.clone(), field.dtype))
            }
            Access::Local(local) => {
                let local = stencil.locals.get(local).ok_or("a local that is read is not declared")?;
                Ok((local.name.clone(), local.dtype))
            }
            Access::Scalar(scalar) => {
                let scalar = stencil.scalars.get(scalar).ok_or("a scalar that is read is not declared")?;
                Ok((scalar.name.clone(), scalar.dtype))
            }
        };
        let mut found = Vec::new();
        expr::validate::validate(expr, &leaf, &mut found);
        self.violations.extend(found.into_iter().map(|it| format!("{}: {it}", stmt.origin.stmt)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::npir::from_oir::lower;
    use crate::oir::analysis::extents::extents;
    use crate::oir::parse::parse;

    const BRANCH: &str = "
stencil branch
field a: float64[IJK]
field b: float64[IJK]
parallel
  [start, end)
    x0
      if a > 0.0
        b = a
";

    fn branch() -> Stencil {
        let stencil = parse(BRANCH).expect("the text is OIR");
        lower(&stencil, &extents(&stencil))
    }

    #[test]
    fn a_mask_is_made_before_it_is_used() {
        let mut stencil = branch();
        assert_eq!(validate(&stencil), Vec::<String>::new());
        stencil.passes[0].blocks[0].body.reverse();
        assert_eq!(validate(&stencil), ["s1 uses a mask that is not made before"]);
    }

    #[test]
    fn a_copy_is_read_only_where_it_was_made() {
        let stencil = parse(&BRANCH.replace("b = a", "b = b[0,0,1]")).expect("the text is OIR");
        let mut stencil = lower(&stencil, &extents(&stencil));
        assert_eq!(validate(&stencil), Vec::<String>::new());
        stencil.passes[0].blocks[0].kept.clear();
        assert_eq!(validate(&stencil), ["s1 reads what is not kept"]);
    }
}
