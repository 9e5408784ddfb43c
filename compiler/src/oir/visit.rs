//! The one place that knows the shape of an OIR statement.

use super::nodes::{Access, Expr, HorizontalExecution, Stencil, Stmt, StmtKind, Target};
use crate::diag::{Origin, Span};
use crate::entity::Handle;
use crate::expr::ExprKind;
use crate::space::{Interval, LoopOrder, Offset, Region};

/// What stands around a statement, within its horizontal execution.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Scope {
    /// The region that limits it.
    pub region: Option<Region>,
    /// Whether it stands in a branch, a loop or a region, so that some points may skip it.
    pub is_conditional: bool,
}

/// Something that a statement reads or writes.
#[derive(Clone, Debug)]
pub struct Touch<'a> {
    pub what: Target,
    /// Where from the point; the centre for a write and for locals.
    pub offset: Offset,
    pub is_write: bool,
    /// The place of a read, or of the whole assignment.
    pub span: Span,
    pub scope: Scope,
    pub origin: &'a Origin,
}

impl Touch<'_> {
    /// Whether another column is read.
    #[must_use]
    pub fn is_read_beside(&self) -> bool {
        !self.is_write && self.offset.is_horizontal()
    }
}

impl HorizontalExecution {
    /// Every read and write of a field or local, in program order: the reads of an assignment,
    /// then its write; a condition before what depends on it.
    #[must_use]
    pub fn touches(&self) -> Vec<Touch<'_>> {
        let mut found = Vec::new();
        self.each_touch(&mut |touch| found.push(touch));
        found
    }

    /// Calls `each` for what [`touches`](Self::touches) gives, in the same order.
    pub fn each_touch<'a>(&'a self, each: &mut impl FnMut(Touch<'a>)) {
        self.body.iter().for_each(|it| it.each_touch(Scope::default(), each));
    }

    /// Whether anything of it reads or writes `what`.
    #[must_use]
    pub fn uses(&self, what: Target) -> bool {
        let mut is_used = false;
        self.each_touch(&mut |touch| is_used |= touch.what == what);
        is_used
    }
}

impl Stmt {
    fn each_touch<'a>(&'a self, scope: Scope, each: &mut impl FnMut(Touch<'a>)) {
        let inner = Scope { is_conditional: true, ..scope };
        let origin = &self.origin;
        match &self.kind {
            StmtKind::Assign { target, value, .. } => {
                each_read(value, scope, origin, each);
                let (offset, span) = (Offset::CENTRE, origin.span());
                each(Touch { what: *target, offset, is_write: true, span, scope, origin });
            }
            StmtKind::If { condition, then, otherwise } => {
                each_read(condition, scope, origin, each);
                then.iter().chain(otherwise).for_each(|it| it.each_touch(inner, each));
            }
            StmtKind::While { condition, body } => {
                each_read(condition, scope, origin, each);
                body.iter().for_each(|it| it.each_touch(inner, each));
            }
            StmtKind::Region { region, body } => {
                let inner = Scope { region: Some(*region), ..inner };
                body.iter().for_each(|it| it.each_touch(inner, each));
            }
        }
    }

    /// Calls `change` for every read and for every target in this statement and those inside it.
    pub fn rename(&mut self, change: &mut impl FnMut(&mut Target)) {
        let in_expr = |expr: &mut Expr, change: &mut dyn FnMut(&mut Target)| {
            expr.accesses_mut(&mut |access| {
                let Some(mut target) = access.target() else { return };
                change(&mut target);
                *access = match (target, *access) {
                    (Target::Field(field), Access::Field { offset, .. }) => Access::Field { field, offset },
                    (Target::Field(field), _) => Access::Field { field, offset: Offset::CENTRE },
                    (Target::Local(local), _) => Access::Local(local),
                };
            });
        };
        match &mut self.kind {
            StmtKind::Assign { target, value, .. } => {
                in_expr(value, change);
                change(target);
            }
            StmtKind::If { condition, then, otherwise } => {
                in_expr(condition, change);
                then.iter_mut().chain(otherwise).for_each(|it| it.rename(change));
            }
            StmtKind::While { condition, body } => {
                in_expr(condition, change);
                body.iter_mut().for_each(|it| it.rename(change));
            }
            StmtKind::Region { body, .. } => body.iter_mut().for_each(|it| it.rename(change)),
        }
    }
}

impl Access {
    /// The field or local that is read.
    #[must_use]
    pub fn target(self) -> Option<Target> {
        match self {
            Access::Field { field, .. } => Some(Target::Field(field)),
            Access::Local(local) => Some(Target::Local(local)),
            Access::Scalar(_) => None,
        }
    }
}

/// A horizontal execution with what it stands in.
#[derive(Clone, Copy, Debug)]
pub struct Placed {
    pub execution: Handle<HorizontalExecution>,
    pub order: LoopOrder,
    pub interval: Interval,
}

impl Stencil {
    /// All horizontal executions in program order.
    pub fn placed(&self) -> impl DoubleEndedIterator<Item = Placed> {
        self.vertical_loops.iter().flat_map(|vertical_loop| {
            vertical_loop.sections.iter().flat_map(|section| {
                let (order, interval) = (vertical_loop.order, section.interval);
                section.executions.iter().map(move |&execution| Placed { execution, order, interval })
            })
        })
    }
}

fn each_read<'a>(expr: &Expr, scope: Scope, origin: &'a Origin, each: &mut impl FnMut(Touch<'a>)) {
    expr.walk(&mut |it| {
        let ExprKind::Access(access) = it.kind else { return };
        let Some(what) = access.target() else { return };
        let offset = match access {
            Access::Field { offset, .. } => offset,
            Access::Scalar(_) | Access::Local(_) => Offset::CENTRE,
        };
        each(Touch { what, offset, is_write: false, span: it.span, scope, origin });
    });
}
