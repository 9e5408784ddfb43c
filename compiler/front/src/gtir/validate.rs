//! Every rule of GTIR. A violation is a bug of this compiler.

use super::nodes::{Access, Expr, ParamKind, Stencil, Stmt, StmtKind};
use crate::expr::{self, Index};
use crate::space::{Axis, AxisSet, LoopOrder};
use crate::types::DType;

/// All violations; none in a valid stencil.
#[must_use]
pub fn validate(stencil: &Stencil) -> Vec<String> {
    let mut check = Check { stencil, violations: Vec::new() };
    check.params();
    for vertical_loop in &stencil.vertical_loops {
        vertical_loop.body.iter().for_each(|it| check.stmt(it, vertical_loop.order, false));
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
        names.sort_unstable();
        let is_unique = names.windows(2).all(|pair| pair[0] != pair[1]);
        self.demand(is_unique, || "two fields or scalars have the same name".to_owned());
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

    fn stmt(&mut self, stmt: &Stmt, order: LoopOrder, is_in_region: bool) {
        let id = stmt.origin.stmt;
        stmt.exprs().for_each(|it| self.expr(it, stmt));
        match &stmt.kind {
            StmtKind::Assign { target, index, value, .. } => match self.stencil.fields.get(*target) {
                None => self.demand(false, || format!("{id} assigns what is not declared")),
                Some(field) => {
                    let (name, is_plane) = (&field.name, field.axes == AxisSet::IJ);
                    let is_typed = field.dtype == value.dtype;
                    self.demand(is_typed, || format!("{id} assigns {} to `{name}`", value.dtype));
                    let has_axes = field.axes == AxisSet::IJK || is_plane && order != LoopOrder::Parallel;
                    self.demand(has_axes, || format!("{id} assigns `{name}`, which lacks axes"));
                    let is_here = index.level_offset() == Some(0) || order != LoopOrder::Parallel;
                    self.demand(is_here, || format!("{id} assigns another level of `{name}` in parallel"));
                    let mut found = expr::validate::index_violations(index);
                    found.extend(expr::validate::data_violations(name, &field.data_dims, &index.data));
                    self.violations.extend(found.into_iter().map(|it| format!("{id}: {it}")));
                }
            },
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
                if index.is_some_and(|it| !field.axes.has(Axis::K) && it.level_offset() != Some(0)) {
                    return Err(format!("`{}` has no levels", field.name));
                }
                let is_along = |axis: Axis| field.axes.has(axis) || offset.along(axis) == 0;
                if !Axis::ALL.into_iter().all(is_along) {
                    return Err(format!("`{}` is read at {offset}", field.name));
                }
                Ok((field.name.clone(), field.dtype))
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
