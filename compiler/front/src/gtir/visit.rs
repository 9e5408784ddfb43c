//! The one place that knows the shape of a GTIR statement.

use super::nodes::{Access, Expr, Field, Stencil, Stmt, StmtKind};
use crate::diag::Span;
use crate::entity::Handle;
use crate::expr::{ExprKind, Index};
use crate::space::{Interval, Offset, Region};

/// The context of a statement.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Scope {
    /// The region that limits it.
    pub region: Option<Region>,
    /// Whether it stands in a branch or in a loop, so that some points may skip it.
    pub is_conditional: bool,
}

/// A field that a statement reads or writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FieldTouch {
    pub field: Handle<Field>,
    /// Where from the point; 0 along K where the level is found at run time.
    pub offset: Offset,
    /// Whether `offset` tells the level.
    pub is_level_known: bool,
    pub is_write: bool,
    pub span: Span,
    pub scope: Scope,
}

impl FieldTouch {
    /// Whether another column is read.
    #[must_use]
    pub fn is_read_beside(&self) -> bool {
        !self.is_write && self.offset.is_horizontal()
    }

    /// Whether another level is meant, or may be.
    #[must_use]
    pub fn is_of_other_level(&self) -> bool {
        self.offset.k != 0 || !self.is_level_known
    }
}

impl Stencil {
    /// Calls `each` for every read and write of a field, in program order, with the interval in which it stands.
    pub fn each_touch(&self, each: &mut impl FnMut(Interval, FieldTouch)) {
        for vertical_loop in &self.vertical_loops {
            let each = &mut |it| each(vertical_loop.interval, it);
            vertical_loop.body.iter().for_each(|it| it.each_touch(each));
        }
    }
}

/// The reads and writes of fields in a statement.
pub trait Touches {
    /// Every read and write of a field in this statement and those inside it, in program order.
    ///
    /// An assignment reads its value and the index of its target, then writes. A condition comes before the
    /// statements that depend on it.
    #[must_use]
    fn touches(&self) -> Vec<FieldTouch> {
        let mut found = Vec::new();
        self.each_touch(&mut |it| found.push(it));
        found
    }

    /// Calls `each` for what [`touches`](Self::touches) collects.
    fn each_touch(&self, each: &mut impl FnMut(FieldTouch));
}

impl Touches for Stmt {
    fn each_touch(&self, each: &mut impl FnMut(FieldTouch)) {
        each_touch_in(self, Scope::default(), each);
    }
}

fn each_touch_in(stmt: &Stmt, scope: Scope, each: &mut impl FnMut(FieldTouch)) {
    let inner = Scope { is_conditional: true, ..scope };
    match &stmt.kind {
        StmtKind::Assign { target, index, target_span, .. } => {
            stmt.exprs().for_each(|it| each_read(it, scope, each));
            let (field, span) = (*target, *target_span);
            let (offset, is_level_known) = at(Offset::CENTRE, index);
            each(FieldTouch { field, offset, is_level_known, is_write: true, span, scope });
        }
        StmtKind::If { condition, then, otherwise } => {
            each_read(condition, scope, each);
            then.iter().chain(otherwise).for_each(|it| each_touch_in(it, inner, each));
        }
        StmtKind::While { condition, body } => {
            each_read(condition, scope, each);
            body.iter().for_each(|it| each_touch_in(it, inner, each));
        }
        StmtKind::Region { region, body } => {
            let inner = Scope { region: Some(*region), ..scope };
            body.iter().for_each(|it| each_touch_in(it, inner, each));
        }
    }
}

fn each_read(expr: &Expr, scope: Scope, each: &mut impl FnMut(FieldTouch)) {
    expr.walk(&mut |it| {
        let (access, index) = match &it.kind {
            ExprKind::Access(access) => (access, None),
            ExprKind::Element(access, index) => (access, Some(index)),
            _ => return,
        };
        let Access::Field { field, offset } = *access else { return };
        let (offset, is_level_known) = index.map_or((offset, true), |index| at(offset, index));
        each(FieldTouch { field, offset, is_level_known, is_write: false, span: it.span, scope });
    });
}

/// The whole offset of an element, and whether it tells the level.
fn at(columns: Offset, index: &Index<Access>) -> (Offset, bool) {
    let k = index.level_offset();
    (Offset { k: k.unwrap_or(0), ..columns }, k.is_some())
}
