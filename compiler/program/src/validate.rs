//! Every rule of the Program IR. A violation is a bug of this compiler: a document's faults are diagnostics.

use isobar_ground::call::signature::{Param, ParamKind};
use isobar_ground::diag::Span;
use isobar_ground::entity::Handle;
use isobar_ground::types::DType;
use itertools::Itertools;

use crate::analysis::{calls, exchanges, ranks};
use crate::nodes::{
    CallArgument, ContainerPart, ContainerRole, ProgramIr, ProgramStmt, ProgramStmtKind, StencilCall,
};
use crate::scalar::nodes::{ScalarExprKind, ScalarRole, ScalarType};
use crate::scalar::{ScalarExpr, ScalarVariable};

/// All violations; none in a valid program.
#[must_use]
pub fn validate(program: &ProgramIr) -> Vec<String> {
    let mut check = ProgramCheck { program, violations: Vec::new(), loops: Vec::new(), groups: Vec::new() };
    check.declarations();
    check.body(&program.body);
    let faults = exchanges::order_faults(program).into_iter().chain(ranks::rank_faults(program));
    check.violations.extend(faults.map(|it| it.message));
    check.violations
}

struct ProgramCheck<'p> {
    program: &'p ProgramIr,
    violations: Vec<String>,
    /// The variables of the loops around.
    loops: Vec<Handle<ScalarVariable>>,
    /// The numbers of the groups so far.
    groups: Vec<usize>,
}

impl ProgramCheck<'_> {
    fn demand(&mut self, holds: bool, what: impl FnOnce() -> String) {
        if !holds {
            self.violations.push(what());
        }
    }

    fn declarations(&mut self) {
        let program = self.program;
        let data = program.containers.values().map(|it| it.name.as_str());
        let data = data.chain(program.scalars.values().map(|it| it.name.as_str()));
        let twice =
            data.duplicates().chain(program.stencils.values().map(|it| it.name.as_str()).duplicates());
        twice.for_each(|it| self.violations.push(format!("two have the name `{it}`")));
        for it in program.containers.values() {
            let name = &it.name;
            self.demand(it.shape.len() == it.axes.len(), || format!("`{name}` lacks the size of an axis"));
            let is_typed = match it.role {
                ContainerRole::State(value) => value.dtype() == it.dtype,
                ContainerRole::Argument | ContainerRole::Constant | ContainerRole::Local => true,
            };
            self.demand(is_typed, || format!("`{name}` starts with a value of another type"));
        }
        for it in program.scalars.values() {
            let is_typed = match it.role {
                ScalarRole::Constant(value) | ScalarRole::State(value) => value.dtype() == it.dtype,
                ScalarRole::Argument | ScalarRole::Local => true,
            };
            self.demand(is_typed, || format!("`{}` starts with a value of another type", it.name));
        }
    }

    fn body(&mut self, body: &[ProgramStmt]) {
        body.iter().for_each(|it| self.statement(it));
    }

    fn statement(&mut self, stmt: &ProgramStmt) {
        match &stmt.kind {
            ProgramStmtKind::Call(call) => self.call(call, stmt.span),
            ProgramStmtKind::For { variable, range, body } => {
                range.iter().for_each(|it| self.expr(it));
                let is_integral = range.iter().all(|it| it.of.is_integral());
                self.demand(is_integral, || "a range has a bound that is no integer".to_owned());
                self.given(*variable, ScalarType::Int);
                self.loops.push(*variable);
                self.body(body);
                self.loops.pop();
            }
            ProgramStmtKind::While { condition, limit, body } => {
                self.expr(condition);
                self.demand(*limit > 0, || "a `while` has no limit".to_owned());
                self.body(body);
            }
            ProgramStmtKind::If { condition, then, otherwise } => {
                self.expr(condition);
                self.body(then);
                self.body(otherwise);
            }
            ProgramStmtKind::Let { variable, value } => {
                self.expr(value);
                self.given(*variable, value.of);
            }
            ProgramStmtKind::Copy { from, to } => {
                if self.part(from) && self.written(to) {
                    self.alike(from, to);
                }
            }
            ProgramStmtKind::Fill { target, value } => {
                self.expr(value);
                if self.written(target) {
                    self.becomes(value, self.program.containers[target.container].dtype);
                }
            }
            ProgramStmtKind::Swap(one, other) => {
                if self.written(one) && self.written(other) {
                    self.alike(one, other);
                }
            }
            ProgramStmtKind::Exchange(exchange) => {
                if exchange.fields.iter().all(|it| self.written(it)) && exchange.plan.is_none() {
                    let faults = exchanges::size_faults(self.program, exchange, stmt.span);
                    self.violations.extend(faults.into_iter().map(|it| it.message));
                }
                let has_plan = exchange.plan.is_none_or(|it| self.program.plans.get(it).is_some());
                self.demand(has_plan, || "an exchange has a plan that is not there".to_owned());
            }
            ProgramStmtKind::Host { reads, writes, gives, .. } => {
                reads.iter().for_each(|it| {
                    self.part(it);
                });
                writes.iter().for_each(|it| {
                    self.written(it);
                });
                for it in gives {
                    let of =
                        self.program.scalars.get(*it).map_or(ScalarType::Int, |it| ScalarType::of(it.dtype));
                    self.given(*it, of);
                }
            }
            ProgramStmtKind::Group { number, body } => {
                self.demand(!self.groups.contains(number), || format!("two groups have the number {number}"));
                self.groups.push(*number);
                let is_simple = |it: &ProgramStmt| {
                    matches!(
                        it.kind,
                        ProgramStmtKind::Call(_)
                            | ProgramStmtKind::Let { .. }
                            | ProgramStmtKind::Copy { .. }
                            | ProgramStmtKind::Fill { .. }
                            | ProgramStmtKind::Mark(_)
                    )
                };
                self.demand(body.iter().all(is_simple), || "a group holds a block or a barrier".to_owned());
                self.body(body);
            }
            ProgramStmtKind::Mark(_) | ProgramStmtKind::Trap(_) => {}
        }
    }

    /// A scalar that a statement gives a value of some type.
    fn given(&mut self, variable: Handle<ScalarVariable>, of: ScalarType) {
        let Some(scalar) = self.program.scalars.get(variable) else {
            return self.violations.push("a scalar that is written is not declared".to_owned());
        };
        let is_free = matches!(scalar.role, ScalarRole::Local | ScalarRole::State(_));
        let is_free = is_free && !self.loops.contains(&variable);
        self.demand(is_free, || format!("`{}` is written", scalar.name));
        self.demand(of.may_become(scalar.dtype), || format!("`{}` is given a {of}", scalar.name));
    }

    fn becomes(&mut self, value: &ScalarExpr, dtype: DType) {
        self.demand(value.of.may_become(dtype), || format!("a {} becomes a {dtype}", value.of));
    }

    /// Whether the part exists.
    fn part(&mut self, part: &ContainerPart) -> bool {
        let container = self.program.containers.get(part.container);
        let is_there = container.is_some_and(|it| {
            let index = part.data_index.iter().zip_longest(&it.data_dims);
            index.into_iter().all(|pair| match pair {
                itertools::EitherOrBoth::Both(at, size) => at < size,
                itertools::EitherOrBoth::Left(_) => false,
                itertools::EitherOrBoth::Right(_) => true,
            })
        });
        self.demand(is_there, || "a part of a container does not exist".to_owned());
        is_there
    }

    fn written(&mut self, part: &ContainerPart) -> bool {
        let is_there = self.part(part);
        let is_free = is_there && self.program.containers[part.container].role != ContainerRole::Constant;
        self.demand(is_free || !is_there, || {
            format!("`{}` is a constant and is written", part.spelled(self.program))
        });
        is_there
    }

    fn alike(&mut self, one: &ContainerPart, other: &ContainerPart) {
        let names = [one, other].map(|it| it.spelled(self.program));
        for (property, _) in calls::differences(self.program, one, other) {
            self.violations.push(format!("`{}` and `{}` differ in their {property}", names[0], names[1]));
        }
        self.demand(!one.overlaps_in_part(other), || format!("`{}` and `{}` overlap", names[0], names[1]));
    }

    fn call(&mut self, call: &StencilCall, span: Span) {
        let Some(stencil) = self.program.stencils.get(call.stencil) else {
            return self.violations.push("a stencil that is called is not declared".to_owned());
        };
        let n_violations = self.violations.len();
        let is_whole = stencil.params.len() == call.arguments.len();
        self.demand(is_whole, || format!("a call of `{}` has too few arguments", stencil.name));
        for (param, argument) in stencil.params.iter().zip(&call.arguments) {
            self.argument(&stencil.name, param, argument.as_ref());
        }
        if self.violations.len() == n_violations {
            let faults = calls::faults(self.program, call, span);
            self.violations.extend(faults.into_iter().map(|it| it.message));
        }
    }

    fn argument(&mut self, stencil: &str, param: &Param, argument: Option<&CallArgument>) {
        let name = &param.name;
        match (&param.kind, argument) {
            (ParamKind::Field { axes, data_dims, dtype, .. }, Some(CallArgument::Field(part))) => {
                if self.part(part) {
                    let container = &self.program.containers[part.container];
                    let fits = container.axes == *axes
                        && container.dtype == *dtype
                        && part.data_dims(self.program) == data_dims;
                    self.demand(fits, || {
                        format!("`{name}` of `{stencil}` is given a field that does not fit")
                    });
                }
            }
            (ParamKind::Scalar { dtype, .. }, Some(CallArgument::Scalar(value))) => {
                self.expr(value);
                self.becomes(value, *dtype);
            }
            (ParamKind::Scalar { default: Some(_), .. }, None) => {}
            (_, None) => {
                let is_used = param.access.is_read() || param.access.is_written();
                self.demand(!is_used, || format!("`{name}` of `{stencil}` is not given"));
            }
            (_, Some(_)) => self.demand(false, || format!("`{name}` of `{stencil}` is of another kind")),
        }
    }

    /// The types of an expression's variables are those of their declarations.
    fn expr(&mut self, expr: &ScalarExpr) {
        if let ScalarExprKind::Variable(variable) = expr.kind {
            let of = self.program.scalars.get(variable).map(|it| ScalarType::of(it.dtype));
            self.demand(of == Some(expr.of), || "a scalar that is read has another type".to_owned());
        }
        expr.children().into_iter().for_each(|it| self.expr(it));
    }
}
