//! Every rule of OIR. A violation is a bug of this compiler.

use super::analysis::definite_assignment::read_unassigned;
use super::analysis::extents::extents;
use super::nodes::{Access, Expr, ParamKind, Stencil, Stmt, StmtKind, Target, VerticalLoop};
use crate::entity::SideTable;
use crate::expr::{self, Index};
use crate::space::{Axis, AxisSet, LoopOrder};
use crate::types::DType;

/// All violations; none in a valid stencil.
#[must_use]
pub fn validate(stencil: &Stencil) -> Vec<String> {
    let mut check = Check { stencil, violations: Vec::new() };
    check.params();
    for vertical_loop in &stencil.vertical_loops {
        check.sections(vertical_loop);
    }
    check.executions();
    // The checks below follow handles, so these must be valid.
    if check.violations.is_empty() {
        check.neighbours();
        check.locals();
        check.outputs();
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

    fn params(&mut self) {
        let stencil = self.stencil;
        let mut names: Vec<&str> = stencil.fields.iter().map(|(_, it)| it.name.as_str()).collect();
        names.extend(stencil.scalars.iter().map(|(_, it)| it.name.as_str()));
        names.extend(stencil.locals.iter().map(|(_, it)| it.name.as_str()));
        names.sort_unstable();
        let is_unique = names.windows(2).all(|pair| pair[0] != pair[1]);
        self.demand(is_unique, || "two fields, scalars or locals have the same name".to_owned());
        for param in &stencil.params {
            let is_declared = match param.what {
                ParamKind::Field(field) => stencil.fields.get(field).is_some_and(|it| !it.is_temporary),
                ParamKind::Scalar(scalar) => stencil.scalars.get(scalar).is_some(),
            };
            self.demand(is_declared, || "a parameter is not declared".to_owned());
        }
        let n_params =
            stencil.fields.iter().filter(|(_, it)| !it.is_temporary).count() + stencil.scalars.len();
        self.demand(n_params == stencil.params.len(), || "a field or scalar is not a parameter".to_owned());
    }

    fn sections(&mut self, vertical_loop: &VerticalLoop) {
        self.demand(!vertical_loop.sections.is_empty(), || "a vertical loop is empty".to_owned());
        for pair in vertical_loop.sections.windows(2) {
            let (first, second) = (pair[0].interval, pair[1].interval);
            let is_in_order = match vertical_loop.order {
                LoopOrder::Parallel | LoopOrder::Forward => first.end <= second.start,
                LoopOrder::Backward => second.end <= first.start,
            };
            self.demand(is_in_order, || format!("section {second} does not follow {first}"));
        }
    }

    /// Each execution stands in one place, and its statements are right.
    fn executions(&mut self) {
        let stencil = self.stencil;
        let mut seen = SideTable::default();
        for placed in stencil.placed() {
            let execution = placed.execution;
            self.demand(seen.insert(execution, ()).is_none(), || format!("{execution} stands in two places"));
            match stencil.executions.get(execution) {
                Some(it) => it.body.iter().for_each(|it| self.stmt(it, placed.order, false)),
                None => self.demand(false, || format!("{execution} is not declared")),
            }
        }
    }

    /// No point may observe another point's progress.
    fn neighbours(&mut self) {
        for (execution, it) in self.stencil.executions.iter() {
            let touches = it.touches();
            for read in touches.iter().filter(|it| it.is_read_beside()) {
                let is_written = touches.iter().any(|it| it.is_write && it.what == read.what);
                self.demand(!is_written, || format!("{execution} reads beside the point what it writes"));
            }
        }
    }

    /// A local is written before it is read, and lives in one execution.
    fn locals(&mut self) {
        let stencil = self.stencil;
        let mut homes = SideTable::default();
        for (execution, it) in stencil.executions.iter() {
            let unassigned = read_unassigned(&it.body);
            for touch in it.touches() {
                let Target::Local(local) = touch.what else { continue };
                let home = *homes.get(local).unwrap_or(&execution);
                homes.insert(local, home);
                let name = &stencil.locals[local].name;
                self.demand(home == execution, || format!("`{name}` lives in {home} and {execution}"));
                let is_written_first = !unassigned.contains(&touch.what);
                self.demand(is_written_first, || format!("`{name}` is read before it is written"));
            }
        }
    }

    /// Parameters are written in the compute domain only.
    fn outputs(&mut self) {
        let stencil = self.stencil;
        let extents = extents(stencil);
        for (execution, it) in stencil.executions.iter() {
            for write in it.touches().iter().filter(|it| it.is_write) {
                let Target::Field(field) = write.what else { continue };
                let declared = &stencil.fields[field];
                let runs = extents.within(execution, write.scope.region);
                let is_inside = declared.is_temporary || runs.is_none_or(|it| it.is_zero());
                self.demand(is_inside, || {
                    format!("{execution} writes `{}` beyond the domain", declared.name)
                });
            }
        }
    }

    fn stmt(&mut self, stmt: &Stmt, order: LoopOrder, is_in_region: bool) {
        let id = stmt.origin.stmt;
        stmt.exprs().for_each(|it| self.expr(it, stmt));
        match &stmt.kind {
            StmtKind::Assign { target, index, value, .. } => {
                self.assign(*target, index, value.dtype, stmt, order);
            }
            StmtKind::If { condition, .. } | StmtKind::While { condition, .. } => {
                self.demand(condition.dtype == DType::Bool, || {
                    format!("{id} has a condition that is not bool")
                });
            }
            StmtKind::Region { .. } => {
                self.demand(!is_in_region, || format!("{id} is a region inside a region"));
            }
        }
        let is_in_region = is_in_region || matches!(stmt.kind, StmtKind::Region { .. });
        stmt.children().for_each(|it| self.stmt(it, order, is_in_region));
    }

    fn assign(&mut self, target: Target, index: &Index<Access>, dtype: DType, stmt: &Stmt, order: LoopOrder) {
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
        let leaf = |access: &Access, index: Option<&Index<Access>>| match *access {
            Access::Field { field, offset } => {
                let field = stencil.fields.get(field).ok_or("a field that is read is not declared")?;
                let data = index.map_or(&[][..], |it| &it.data);
                if let Some(wrong) =
                    expr::validate::data_violations(&field.name, &field.data_dims, data).pop()
                {
                    return Err(wrong);
                }
                let is_along = |axis: Axis| field.axes.has(axis) || offset.along(axis) == 0;
                if !Axis::ALL.into_iter().all(is_along) {
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
