//! The door from the Definition IR: gives every expression its type, makes every
//! conversion explicit, and holds the statements to the rules of the language.

mod bounds;
mod guards;
mod typing;

use crate::config::Config;
use crate::defir::nodes as def;
use crate::diag::catalog::{compile_time, names, rules, types, warnings};
use crate::diag::{Diagnostic, Diagnostics, Severity, Span};
use crate::entity::{Handle, SideTable};
use crate::expr::ExprKind;
use crate::space::Level;
use crate::types::DType;

use self::bounds::{find_levels_at_run_time, guarded};
use super::analysis;
use super::nodes::{Access, Expr, Field, Param, ParamKind, Scalar, Stencil, Stmt, StmtKind, VerticalLoop};

/// Types a stencil and checks it; `None` where it has errors.
///
/// A temporary gets the type of the first value that is assigned to it in program order, even where that
/// assignment stands in a branch. Later values are converted.
pub fn lower(source: &def::Stencil, config: &Config, diagnostics: &mut Diagnostics) -> Option<Stencil> {
    let mut lowering = Lowering {
        source,
        config,
        diagnostics,
        typings: SideTable::default(),
        scalars: source.scalars.iter().map(|(_, it)| it.dtype).collect(),
        has_failed: false,
    };
    for (field, declared) in source.fields.iter() {
        let typing = declared.dtype.map_or(Typing::Unassigned, Typing::Declared);
        lowering.typings.insert(same(field), typing);
    }
    let vertical_loops = source.computations.iter().flat_map(|it| lowering.computation(it)).collect();
    let stencil = lowering.finish(vertical_loops);
    let has_failed = lowering.has_failed;

    let is_legal = analysis::dependencies::check(&stencil, diagnostics)
        & analysis::recurrence::check(&stencil, diagnostics)
        & analysis::k_boundary::check(&stencil, diagnostics);
    (is_legal && !has_failed).then_some(stencil)
}

/// The errors in the part of a stencil that was understood, in addition to those that are known.
///
/// Statements are missing from this part, so an error that one more statement could correct is not reported.
/// A temporary, for example, may have further levels and uses. Where a branch could not be decided, both arms
/// are there, and only the types of expressions are checked.
pub fn faults_of_part(source: &def::Stencil, config: &Config, known: &Diagnostics) -> Vec<Diagnostic> {
    let is_undecided =
        known.iter().any(|it| matches!(it.code, compile_time::NOT_EVALUABLE | names::EXTERNAL));
    let mut found = Diagnostics::default();
    let _ = lower(source, config, &mut found);
    let is_certain = |it: &Diagnostic| match it.code {
        types::CONDITION_NOT_BOOL | types::LOGIC_AND_NUMBERS => true,
        rules::TEMPORARY_OUT_OF_REACH => false,
        _ => it.severity == Severity::Error && !is_undecided,
    };
    found.iter().filter(|it| is_certain(it)).cloned().collect()
}

/// The known type of a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Typing {
    /// A temporary that no statement has assigned yet.
    Unassigned,
    /// The text says it.
    Declared(DType),
    /// The first value decided, at this place.
    Inferred(DType, Span),
    /// The first value has a fault, which was reported.
    Faulty,
}

impl Typing {
    fn dtype(self) -> Option<DType> {
        match self {
            Typing::Declared(dtype) | Typing::Inferred(dtype, _) => Some(dtype),
            Typing::Unassigned | Typing::Faulty => None,
        }
    }
}

struct Lowering<'a> {
    source: &'a def::Stencil,
    config: &'a Config,
    diagnostics: &'a mut Diagnostics,
    typings: SideTable<Field, Typing>,
    scalars: Vec<DType>,
    has_failed: bool,
}

/// The arenas of both levels hold the same entities in the same order.
fn same<A, B>(handle: Handle<A>) -> Handle<B> {
    Handle::new(handle.index())
}

impl Lowering<'_> {
    /// The vertical loops of a computation: one, but for what a guarded read makes wait.
    fn computation(&mut self, computation: &def::Computation) -> Vec<VerticalLoop> {
        let &def::Computation { order, interval, span, .. } = computation;
        let bounds = self.run_time_bounds(computation);
        let mut body = self.body(&computation.body);
        if let Some(is_inside) = bounds {
            body = body.into_iter().map(|it| guarded(it, &is_inside)).collect();
            let mut may_leave = |_, k: i32| {
                let low = computation.from.is_some() && interval.start.level == Level::Start;
                let high = computation.to.is_some() && interval.end.level == Level::End;
                low && interval.start.offset + k < 0 || high && interval.end.offset + k > 0
            };
            body.iter_mut().for_each(|it| find_levels_at_run_time(it, &mut may_leave));
        }
        let runs = guards::guard_reads(self.source, (order, interval), body);
        runs.into_iter().map(|body| VerticalLoop { order, interval, span, body }).collect()
    }

    fn body(&mut self, body: &[def::Stmt]) -> Vec<Stmt> {
        for (first, second) in body.iter().zip(body.iter().skip(1)) {
            self.warn_of_swap(first, second);
        }
        body.iter().filter_map(|it| self.stmt(it)).collect()
    }

    /// The statement, or nothing where it has a fault.
    fn stmt(&mut self, stmt: &def::Stmt) -> Option<Stmt> {
        let kind = match &stmt.kind {
            def::StmtKind::Assign { target, index, target_span, value } => {
                let index = self.index(&self.source.fields[*target].name, index);
                let assigned = self.assign(same(*target), *target_span, value)?;
                StmtKind::Assign {
                    target: same(*target),
                    index: index?,
                    target_span: *target_span,
                    value: assigned,
                }
            }
            def::StmtKind::If { condition, then, otherwise } => {
                let condition = self.condition("`if`", condition);
                let (then, otherwise) = (self.body(then), self.body(otherwise));
                StmtKind::If { condition: condition?, then, otherwise }
            }
            def::StmtKind::While { condition, body } => {
                let condition = self.condition("`while`", condition);
                let body = self.body(body);
                StmtKind::While { condition: condition?, body }
            }
            def::StmtKind::Region { region, body } => {
                StmtKind::Region { region: *region, body: self.body(body) }
            }
        };
        Some(Stmt { kind, origin: stmt.origin.clone() })
    }

    /// The value that is assigned, in the type of the target, which it may decide.
    fn assign(&mut self, target: Handle<Field>, target_span: Span, value: &def::Expr) -> Option<Expr> {
        let value = self.expr(value);
        let dtype = match (self.typings[target], &value) {
            (Typing::Unassigned, Some(value)) => {
                self.typings.insert(target, Typing::Inferred(value.dtype, target_span));
                value.dtype
            }
            (Typing::Unassigned, None) => {
                self.typings.insert(target, Typing::Faulty);
                return None;
            }
            (Typing::Inferred(dtype, first), Some(value)) => {
                if dtype.is_int() && value.dtype.is_float() {
                    let name = &self.source.fields[same(target)].name;
                    let span = value.span;
                    let found = warnings::float_into_integer(name, dtype, value.dtype, span, first);
                    self.diagnostics.push(found);
                }
                dtype
            }
            (known, _) => known.dtype()?,
        };
        Some(converted(value?, dtype))
    }

    fn condition(&mut self, of: &str, condition: &def::Expr) -> Option<Expr> {
        let condition = self.expr(condition)?;
        if condition.dtype != DType::Bool {
            let is_simple = typing::is_simple(&condition);
            self.refuse(types::condition_not_bool(of, condition.dtype, condition.span, is_simple));
            return None;
        }
        Some(condition)
    }

    /// The halves of `a, b = b, a` follow each other and have the same place in the text.
    fn warn_of_swap(&mut self, first: &def::Stmt, second: &def::Stmt) {
        let copied = |stmt: &def::Stmt| match &stmt.kind {
            def::StmtKind::Assign { target, index, value, .. } if index.is_here() => match value.kind {
                ExprKind::Access(def::Access::Field { field, .. }) => Some((*target, field)),
                _ => None,
            },
            _ => None,
        };
        let (Some(one), Some(other)) = (copied(first), copied(second)) else { return };
        if one.0 == other.1
            && one.1 == other.0
            && one.0 != one.1
            && first.origin.span() == second.origin.span()
        {
            let name = |field: Handle<def::Field>| &self.source.fields[field].name;
            let found = warnings::not_a_swap(name(one.0), name(one.1), first.origin.span());
            self.diagnostics.push(found);
        }
    }

    fn refuse(&mut self, diagnostic: crate::diag::Diagnostic) {
        self.has_failed = true;
        self.diagnostics.push(diagnostic);
    }

    fn finish(&self, vertical_loops: Vec<VerticalLoop>) -> Stencil {
        let source = self.source;
        let mut stencil = Stencil { name: source.name.clone(), span: source.span, ..Stencil::default() };
        for (handle, field) in source.fields.iter() {
            stencil.fields.push(Field {
                name: field.name.clone(),
                axes: field.axes,
                data_dims: field.data_dims.clone(),
                // A temporary that was never assigned, or with a fault, is not read either.
                dtype: self.typings[same(handle)].dtype().unwrap_or(self.config.literal_float),
                is_temporary: field.is_temporary,
                span: field.span,
            });
        }
        for (_, scalar) in source.scalars.iter() {
            let (name, dtype, span) = (scalar.name.clone(), scalar.dtype, scalar.span);
            stencil.scalars.push(Scalar { name, dtype, span });
        }
        stencil.params = source.params.iter().map(param).collect();
        // A computation whose statements were all decided away does nothing.
        stencil.vertical_loops =
            vertical_loops.into_iter().filter(|it: &VerticalLoop| !it.body.is_empty()).collect();
        stencil
    }
}

fn param(param: &def::Param) -> Param {
    Param {
        what: match param.what {
            def::ParamKind::Field(field) => ParamKind::Field(same(field)),
            def::ParamKind::Scalar(scalar) => ParamKind::Scalar(same(scalar)),
        },
        is_keyword_only: param.is_keyword_only,
        default: match param.default {
            def::ParamDefault::Value(value) => Some(value),
            def::ParamDefault::Required | def::ParamDefault::None => None,
        },
        is_optional: param.default == def::ParamDefault::None,
    }
}

/// The expression converted to a type; a literal is converted here and now.
fn converted(expr: Expr, to: DType) -> Expr {
    if expr.dtype == to {
        return expr;
    }
    let span = expr.span;
    let kind = match expr.kind {
        ExprKind::Literal(value) => ExprKind::Literal(value.cast(to)),
        kind => ExprKind::Cast(to, Box::new(Expr { kind, ..expr })),
    };
    Expr { kind, dtype: to, span }
}

/// Converts a leaf of the Definition IR.
fn access(access: def::Access) -> Access {
    match access {
        def::Access::Field { field, offset } => Access::Field { field: same(field), offset },
        def::Access::Scalar(scalar) => Access::Scalar(same(scalar)),
    }
}

#[cfg(test)]
mod tests;
