//! The one place that knows the shape of a GTIR statement.

use super::nodes::{Access, Expr, Field, Stmt, StmtKind};
use crate::diag::Span;
use crate::entity::Handle;
use crate::expr::ExprKind;
use crate::space::{Offset, Region};

/// What stands around a statement.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Scope {
    /// The region that limits it.
    pub region: Option<Region>,
    /// Whether it stands in a branch or in a loop, so that some points may skip it.
    pub is_conditional: bool,
}

/// A field that a statement reads or writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Touch {
    pub field: Handle<Field>,
    /// Where from the point; the centre for a write.
    pub offset: Offset,
    pub is_write: bool,
    pub span: Span,
    pub scope: Scope,
}

impl Touch {
    /// Whether another column is read.
    #[must_use]
    pub fn is_read_beside(&self) -> bool {
        !self.is_write && self.offset.is_horizontal()
    }
}

impl Stmt {
    /// Every read and write of a field in this statement and those inside it, in program order:
    /// the reads of an assignment, then its write; a condition before what depends on it.
    #[must_use]
    pub fn touches(&self) -> Vec<Touch> {
        let mut found = Vec::new();
        self.collect_touches(Scope::default(), &mut found);
        found
    }

    fn collect_touches(&self, scope: Scope, found: &mut Vec<Touch>) {
        let inner = Scope { is_conditional: true, ..scope };
        match &self.kind {
            StmtKind::Assign { target, target_span, value } => {
                collect_reads(value, scope, found);
                let (field, span) = (*target, *target_span);
                found.push(Touch { field, offset: Offset::CENTRE, is_write: true, span, scope });
            }
            StmtKind::If { condition, then, otherwise } => {
                collect_reads(condition, scope, found);
                then.iter().chain(otherwise).for_each(|it| it.collect_touches(inner, found));
            }
            StmtKind::While { condition, body } => {
                collect_reads(condition, scope, found);
                body.iter().for_each(|it| it.collect_touches(inner, found));
            }
            StmtKind::Region { region, body } => {
                let inner = Scope { region: Some(*region), ..scope };
                body.iter().for_each(|it| it.collect_touches(inner, found));
            }
        }
    }
}

fn collect_reads(expr: &Expr, scope: Scope, found: &mut Vec<Touch>) {
    expr.walk(&mut |it| {
        if let ExprKind::Access(Access::Field { field, offset }) = it.kind {
            found.push(Touch { field, offset, is_write: false, span: it.span, scope });
        }
    });
}
