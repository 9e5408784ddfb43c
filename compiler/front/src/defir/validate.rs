//! The rules that every Definition IR keeps. A violation is a bug of this compiler.

use std::collections::BTreeSet;

use super::nodes::{Access, Expr, ParamKind, Stencil, Stmt, StmtKind};
use crate::diag::StmtId;
use crate::expr::ExprKind;
use crate::space::{Axis, Level};
use crate::types::Function;

/// All violations, each with the place where it was found; empty for a valid stencil.
///
/// - Every handle names something of this stencil; fields have names of their own.
/// - Parameters stand before temporaries, each in the signature once, and have a type.
/// - A statement has a number of its own and at least one place in the text.
/// - An offset is zero along an axis that its field lacks; each data dimension has an index.
/// - Regions do not nest; an interval on one side is not reversed.
/// - A builtin has as many arguments as it takes; `and`, `or` and the like have two operands by shape.
#[must_use]
pub fn validate(stencil: &Stencil) -> Vec<String> {
    let mut validator = Validator { stencil, found: Vec::new(), stmts: BTreeSet::new() };
    validator.declarations();
    for (position, computation) in stencil.computations.iter().enumerate() {
        let interval = computation.interval;
        let is_reversed = match (interval.start.level, interval.end.level) {
            (Level::Start, Level::End) => false,
            (Level::End, Level::Start) => true,
            _ => interval.start.offset >= interval.end.offset,
        };
        if is_reversed {
            validator.found.push(format!("computation {position} has the interval {interval}"));
        }
        validator.body(&computation.body, false);
    }
    validator.found
}

struct Validator<'s> {
    stencil: &'s Stencil,
    found: Vec<String>,
    stmts: BTreeSet<StmtId>,
}

impl Validator<'_> {
    fn declarations(&mut self) {
        let Stencil { params, fields, scalars, .. } = self.stencil;
        let mut names = BTreeSet::new();
        for name in fields.iter().map(|(_, it)| &it.name).chain(scalars.iter().map(|(_, it)| &it.name)) {
            if !names.insert(name) {
                self.found.push(format!("two things are named `{name}`"));
            }
        }
        let (mut next_field, mut next_scalar) = (0, 0);
        for param in params {
            match param.what {
                ParamKind::Field(field) => {
                    if field.index() != next_field {
                        self.found.push(format!("field parameter {field} is not the next in the arena"));
                    }
                    next_field += 1;
                }
                ParamKind::Scalar(scalar) => {
                    if scalar.index() != next_scalar {
                        self.found.push(format!("scalar parameter {scalar} is not the next in the arena"));
                    }
                    next_scalar += 1;
                }
            }
        }
        for (handle, field) in fields.iter() {
            if field.is_temporary != (handle.index() >= next_field) {
                self.found.push(format!("`{}` stands among the wrong fields", field.name));
            }
            if !field.is_temporary && field.dtype.is_none() {
                self.found.push(format!("the parameter `{}` has no type", field.name));
            }
        }
        if scalars.len() != next_scalar {
            self.found.push("a scalar is not a parameter".to_owned());
        }
    }

    fn body(&mut self, body: &[Stmt], is_in_region: bool) {
        for stmt in body {
            let id = stmt.origin.stmt;
            if !self.stmts.insert(id) {
                self.found.push(format!("two statements are named {id}"));
            }
            match &stmt.kind {
                StmtKind::Assign { target, index, .. } => match self.stencil.fields.get(*target) {
                    None => self.found.push(format!("{id} assigns an unknown field {target}")),
                    Some(field) if !field.axes.has(Axis::I) || !field.axes.has(Axis::J) => {
                        self.found.push(format!("{id} assigns `{}`, which lacks columns", field.name));
                    }
                    Some(field) if field.data_dims.len() != index.data.len() => {
                        self.found.push(format!("{id} assigns no element of `{}`", field.name));
                    }
                    Some(_) => {}
                },
                StmtKind::Region { .. } if is_in_region => {
                    self.found.push(format!("the region {id} stands inside another"));
                }
                StmtKind::If { .. } | StmtKind::While { .. } | StmtKind::Region { .. } => {}
            }
            for expr in stmt.exprs() {
                expr.walk(&mut |it| match &it.kind {
                    ExprKind::Access(access) => self.access(id, *access, &[]),
                    ExprKind::Element(access, index) => self.access(id, *access, &index.data),
                    ExprKind::Call(function, arguments) => self.call(id, *function, arguments.len()),
                    _ => {}
                });
            }
            let is_region = matches!(stmt.kind, StmtKind::Region { .. });
            match &stmt.kind {
                StmtKind::Assign { .. } => {}
                StmtKind::If { then, otherwise, .. } => {
                    self.body(then, is_in_region);
                    self.body(otherwise, is_in_region);
                }
                StmtKind::While { body, .. } | StmtKind::Region { body, .. } => {
                    self.body(body, is_in_region || is_region);
                }
            }
        }
    }

    fn access(&mut self, stmt: StmtId, access: Access, data: &[Expr]) {
        match access {
            Access::Scalar(scalar) => {
                if self.stencil.scalars.get(scalar).is_none() {
                    self.found.push(format!("{stmt} reads an unknown scalar {scalar}"));
                }
            }
            Access::Field { field, offset } => match self.stencil.fields.get(field) {
                None => self.found.push(format!("{stmt} reads an unknown field {field}")),
                Some(it) => {
                    if it.data_dims.len() != data.len() {
                        self.found.push(format!("{stmt} reads no element of `{}`", it.name));
                    }
                    for axis in Axis::ALL {
                        if !it.axes.has(axis) && offset.along(axis) != 0 {
                            self.found
                                .push(format!("{stmt} reads `{}` beside its axes, at {offset}", it.name));
                        }
                    }
                }
            },
        }
    }

    fn call(&mut self, stmt: StmtId, function: Function, arguments: usize) {
        if function.arity() != arguments {
            self.found.push(format!("{stmt} calls {function} with {arguments} arguments"));
        }
    }
}
