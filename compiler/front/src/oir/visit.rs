//! The one place that knows the shape of an OIR statement.

use super::nodes::{Access, Expr, HorizontalExecution, Index, Stencil, Stmt, StmtKind, Target};
use crate::diag::{Origin, Span};
use crate::entity::Handle;
use crate::expr::ExprKind;
use crate::space::{Interval, LoopOrder, Offset, Region};

/// The context of a statement within its horizontal execution.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Scope {
    /// The region that limits it.
    pub region: Option<Region>,
    /// Whether it stands in a branch, a loop or a region, so that some points may skip it.
    pub is_conditional: bool,
}

/// Something that a statement reads or writes.
#[derive(Clone, Debug)]
pub struct TargetTouch<'a> {
    pub what: Target,
    /// Where from the point; the centre for locals, and 0 along K where the level is found at run time.
    pub offset: Offset,
    /// Whether `offset` tells the level.
    pub is_level_known: bool,
    /// Which element of the data dimensions, where literals tell it; empty where the field has none.
    pub data: Option<Vec<i64>>,
    pub is_write: bool,
    /// The place of a read, or of the whole assignment.
    pub span: Span,
    pub scope: Scope,
    pub origin: &'a Origin,
}

impl TargetTouch<'_> {
    /// Whether another column is read.
    #[must_use]
    pub fn is_read_beside(&self) -> bool {
        !self.is_write && self.offset.is_horizontal()
    }

    /// Whether it is one of several elements at its point, those of data dimensions.
    #[must_use]
    pub fn is_part(&self) -> bool {
        self.data.as_ref().is_none_or(|it| !it.is_empty())
    }

    /// Whether it is the point itself that is meant, whatever the data dimensions.
    #[must_use]
    pub fn is_here(&self) -> bool {
        self.offset == Offset::CENTRE && self.is_level_known
    }

    /// Whether another level is meant, or may be.
    #[must_use]
    pub fn is_of_other_level(&self) -> bool {
        self.offset.k != 0 || !self.is_level_known
    }
}

impl HorizontalExecution {
    /// Every read and write of a field or local, in program order.
    ///
    /// An assignment reads its value and the index of its target, then writes. A condition comes before the
    /// statements that depend on it.
    #[must_use]
    pub fn touches(&self) -> Vec<TargetTouch<'_>> {
        let mut found = Vec::new();
        self.each_touch(&mut |touch| found.push(touch));
        found
    }

    /// Calls `each` for what [`touches`](Self::touches) gives, in the same order.
    pub fn each_touch<'a>(&'a self, each: &mut impl FnMut(TargetTouch<'a>)) {
        self.body.iter().for_each(|it| each_touch(it, Scope::default(), each));
    }

    /// Whether it reads or writes elements that offsets alone do not tell.
    #[must_use]
    pub fn has_elements(&self) -> bool {
        let mut is_found = false;
        for stmt in &self.body {
            stmt.walk(&mut |it| {
                is_found |= matches!(&it.kind, StmtKind::Assign { index, .. } if !index.is_here());
                it.exprs().for_each(|expr| {
                    expr.walk(&mut |it| is_found |= matches!(it.kind, ExprKind::Element(..)));
                });
            });
        }
        is_found
    }

    /// Whether anything of it reads or writes `what`.
    #[must_use]
    pub fn uses(&self, what: Target) -> bool {
        let mut is_used = false;
        self.each_touch(&mut |touch| is_used |= touch.what == what);
        is_used
    }
}

/// Questions and changes that concern a statement with those inside it.
pub trait Visit {
    /// Whether it finds an element at run time, which may not exist: then the run ends there.
    #[must_use]
    fn may_end_run(&self) -> bool;

    /// Calls `change` for every read and for every target in this statement and those inside it.
    fn rename(&mut self, change: &mut impl FnMut(&mut Target));
}

impl Visit for Stmt {
    fn may_end_run(&self) -> bool {
        let mut may = false;
        self.walk(&mut |it| {
            may |= matches!(&it.kind, StmtKind::Assign { index, .. } if is_found(index));
            may |= it.exprs().any(may_end_run);
        });
        may
    }

    fn rename(&mut self, change: &mut impl FnMut(&mut Target)) {
        match &mut self.kind {
            StmtKind::Assign { target, index, value, .. } => {
                value.accesses_mut(&mut |it| it.rename(change));
                index.exprs_mut().for_each(|expr| expr.accesses_mut(&mut |it| it.rename(change)));
                change(target);
            }
            StmtKind::If { condition, then, otherwise } => {
                condition.accesses_mut(&mut |it| it.rename(change));
                then.iter_mut().chain(otherwise).for_each(|it| it.rename(change));
            }
            StmtKind::While { condition, body } => {
                condition.accesses_mut(&mut |it| it.rename(change));
                body.iter_mut().for_each(|it| it.rename(change));
            }
            StmtKind::Region { body, .. } => body.iter_mut().for_each(|it| it.rename(change)),
        }
    }
}

fn each_touch<'a>(stmt: &'a Stmt, scope: Scope, each: &mut impl FnMut(TargetTouch<'a>)) {
    let inner = Scope { is_conditional: true, ..scope };
    let origin = &stmt.origin;
    match &stmt.kind {
        StmtKind::Assign { target, index, .. } => {
            stmt.exprs().for_each(|it| each_read(it, scope, origin, each));
            let k = index.level_offset();
            each(TargetTouch {
                what: *target,
                offset: Offset::new(0, 0, k.unwrap_or(0)),
                is_level_known: k.is_some(),
                data: index.literal_data(),
                is_write: true,
                span: origin.span(),
                scope,
                origin,
            });
        }
        StmtKind::If { condition, then, otherwise } => {
            each_read(condition, scope, origin, each);
            then.iter().chain(otherwise).for_each(|it| each_touch(it, inner, each));
        }
        StmtKind::While { condition, body } => {
            each_read(condition, scope, origin, each);
            body.iter().for_each(|it| each_touch(it, inner, each));
        }
        StmtKind::Region { region, body } => {
            let inner = Scope { region: Some(*region), ..inner };
            body.iter().for_each(|it| each_touch(it, inner, each));
        }
    }
}

/// Whether an expression finds an element at run time, which may not exist: then the run ends there.
#[must_use]
pub fn may_end_run(expr: &Expr) -> bool {
    let mut may = false;
    expr.walk(&mut |it| may |= matches!(&it.kind, ExprKind::Element(_, index) if is_found(index)));
    may
}

/// Whether it takes the run to know which element is meant.
fn is_found(index: &Index) -> bool {
    index.level_offset().is_none() || index.literal_data().is_none()
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

    /// Where from the point it is read, as far as the leaf tells; the centre for what is no field.
    #[must_use]
    pub fn offset(self) -> Offset {
        match self {
            Access::Field { offset, .. } => offset,
            Access::Scalar(_) | Access::Local(_) => Offset::CENTRE,
        }
    }

    fn rename(&mut self, change: &mut impl FnMut(&mut Target)) {
        let Some(mut target) = self.target() else { return };
        change(&mut target);
        *self = match target {
            Target::Field(field) => Access::Field { field, offset: self.offset() },
            Target::Local(local) => Access::Local(local),
        };
    }
}

/// A horizontal execution with what it stands in.
#[derive(Clone, Copy, Debug)]
pub struct PlacedExecution {
    pub execution: Handle<HorizontalExecution>,
    pub order: LoopOrder,
    pub interval: Interval,
}

impl Stencil {
    /// All horizontal executions in program order.
    pub fn placed(&self) -> impl DoubleEndedIterator<Item = PlacedExecution> {
        self.vertical_loops.iter().flat_map(|vertical_loop| {
            vertical_loop.sections.iter().flat_map(|section| {
                let (order, interval) = (vertical_loop.order, section.interval);
                section.executions.iter().map(move |&execution| PlacedExecution {
                    execution,
                    order,
                    interval,
                })
            })
        })
    }
}

fn each_read<'a>(expr: &Expr, scope: Scope, origin: &'a Origin, each: &mut impl FnMut(TargetTouch<'a>)) {
    expr.walk(&mut |it| {
        let (access, index) = match &it.kind {
            ExprKind::Access(access) => (access, None),
            ExprKind::Element(access, index) => (access, Some(index)),
            _ => return,
        };
        let Some(what) = access.target() else { return };
        let mut offset = access.offset();
        let k = index.map_or(Some(offset.k), |it| it.level_offset());
        offset.k = k.unwrap_or(0);
        let data = index.map_or(Some(Vec::new()), |it| it.literal_data());
        each(TargetTouch {
            what,
            offset,
            is_level_known: k.is_some(),
            data,
            is_write: false,
            span: it.span,
            scope,
            origin,
        });
    });
}
