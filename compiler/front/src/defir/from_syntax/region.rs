//! `with horizontal(region[...], ...)`.

use super::Builder;
use super::computation::Call;
use super::scope::ExpectedKind;
use crate::defir::nodes::{Stmt, StmtKind};
use crate::diag::catalog::computations as catalog;
use crate::diag::{Span, TextEdit};
use crate::frontend::constants::{AxisPosition, Constant};
use crate::frontend::syntax::{self as tree, ExprKind};
use crate::space::{Axis, Bound, Level, Region, Side};

/// Beyond every domain with its halo. Models write far places for "not on this rank": NDSL writes 32767.
const FARTHEST: i64 = 1 << 24;

impl<'p> Builder<'_, 'p> {
    /// The body once for each region, in their order; `span` is what asked for it.
    pub(super) fn region(
        &mut self,
        horizontal: Call<'p>,
        body: &'p [tree::Stmt],
        span: Span,
        out: &mut Vec<Stmt>,
    ) {
        if self.is_in_region {
            self.report(catalog::with_in_region(span));
            return;
        }
        if let Some(keyword) = horizontal.keywords.first() {
            self.report(catalog::bad_region("`horizontal` takes regions, without keywords", keyword.span));
        }
        if horizontal.args.is_empty() {
            self.report(catalog::bad_region("`horizontal` names no region", horizontal.span));
        }
        let regions: Vec<Option<Region>> = horizontal.args.iter().map(|it| self.rectangle(it)).collect();
        // The statement's number comes before those inside it.
        let mut origin = self.origin(span);
        self.is_in_region = true;
        let mut built = Vec::new();
        self.stmts(body, &mut built);
        self.is_in_region = false;
        for (position, region) in regions.into_iter().flatten().enumerate() {
            if self.is_too_large {
                return;
            }
            let body = if position == 0 {
                built.clone()
            } else {
                origin = self.origin(span);
                self.copy(&built)
            };
            out.push(Stmt { kind: StmtKind::Region { region, body }, origin: origin.clone() });
        }
    }

    /// `region[i, j]`
    fn rectangle(&mut self, expr: &'p tree::Expr) -> Option<Region> {
        let index = match &expr.kind {
            ExprKind::Subscript(value, index)
                if value.as_dotted().is_some_and(|it| it.last() == Some(&"region")) =>
            {
                index
            }
            ExprKind::Missing => return None,
            _ => {
                self.report(catalog::bad_region("`horizontal` takes regions", expr.span));
                return None;
            }
        };
        let [i, j] = index.parts() else {
            let entry = match index.parts() {
                [only] if !matches!(only.kind, ExprKind::Slice { .. }) => Some(only.span),
                _ => None,
            };
            self.report(catalog::region_of_one_axis(index.span, entry));
            return None;
        };
        let (i, j) = (self.side(i, Axis::I), self.side(j, Axis::J));
        Some(Region { i: i?, j: j? })
    }

    fn side(&mut self, expr: &'p tree::Expr, axis: Axis) -> Option<Side> {
        let side = match &expr.kind {
            ExprKind::Slice { lower, upper, step } => {
                if let Some(step) = step {
                    self.report(catalog::bad_region("a region has no step", step.span));
                    return None;
                }
                let mut bound = |it: &'p Option<Box<tree::Expr>>| match it {
                    None => Some(None),
                    Some(it) => self.region_bound(it, axis).map(Some),
                };
                let (start, end) = (bound(lower), bound(upper));
                Side { start: start?, end: end? }
            }
            _ => {
                let start = self.region_bound(expr, axis)?;
                Side { start: Some(start), end: Some(Bound { offset: start.offset + 1, ..start }) }
            }
        };
        if let (Some(start), Some(end)) = (side.start, side.end)
            && start.level == end.level
            && end.offset < start.offset
        {
            self.report(catalog::bad_region("the region ends before it starts", expr.span));
            return None;
        }
        Some(side)
    }

    fn region_bound(&mut self, expr: &'p tree::Expr, axis: Axis) -> Option<Bound> {
        let position = match self.place(expr) {
            Ok(position) => position,
            Err(why) => {
                if let Some(why) = why {
                    self.report(catalog::bad_region(&why, expr.span));
                }
                return None;
            }
        };
        let (level, offset) = match position {
            RegionBound::Position(it) if it.axis != axis => {
                self.report(catalog::region_of_wrong_axis(axis, it.axis, expr.span));
                return None;
            }
            RegionBound::Position(it) => {
                let level = if it.index >= 0 { Level::Start } else { Level::End };
                (level, it.index.saturating_add(it.offset))
            }
            RegionBound::Integer(it) => (if it >= 0 { Level::Start } else { Level::End }, it),
        };
        // A place beyond every domain and halo is as far as any other such place.
        let offset = offset.clamp(-FARTHEST, FARTHEST);
        Some(Bound { level, offset: i32::try_from(offset).unwrap_or_default() })
    }

    /// A place along an axis: `I[0]`, `i_start + 1`, `3`. The reason is missing where it is reported.
    fn place(&mut self, expr: &'p tree::Expr) -> Result<RegionBound, Option<String>> {
        if self.is_missing_external(expr, ExpectedKind::Position)
            || self.is_unknown_name(expr)
            || matches!(expr.kind, ExprKind::Missing)
        {
            return Err(None);
        }
        match &expr.kind {
            ExprKind::Subscript(value, index) => {
                let Ok(Constant::Axis(axis)) = self.evaluate(value, false) else {
                    return Err(Some("only `I` and `J` are indexed inside a region".to_owned()));
                };
                if matches!(index.kind, ExprKind::Slice { .. }) {
                    return Err(Some(format!("`{axis}[...]` takes 0 or -1 and no slice")));
                }
                match self.evaluate(index, false).ok().and_then(|it| it.as_int()) {
                    Some(index @ (0 | -1)) => {
                        Ok(RegionBound::Position(AxisPosition { axis, index, offset: 0 }))
                    }
                    found => {
                        let edit = found.filter(|_| matches!(value.kind, ExprKind::Name(_)));
                        let edit = edit.map(|it| counted_from_an_edge(axis, it, expr.span));
                        self.report(catalog::region_index(axis, index.span, edit));
                        Err(None)
                    }
                }
            }
            ExprKind::Binary(op @ (tree::Operator::Add | tree::Operator::Sub), left, right) => {
                let (left, right) = (self.place(left)?, self.place(right)?);
                let is_sum = *op == tree::Operator::Add;
                let (position, shift) = match (left, right) {
                    (RegionBound::Position(it), RegionBound::Integer(shift)) => {
                        (it, if is_sum { shift } else { shift.saturating_neg() })
                    }
                    (RegionBound::Integer(shift), RegionBound::Position(it)) if is_sum => (it, shift),
                    (RegionBound::Integer(a), RegionBound::Integer(b)) => {
                        return Ok(RegionBound::Integer(a.saturating_add(if is_sum {
                            b
                        } else {
                            b.saturating_neg()
                        })));
                    }
                    _ => return Err(Some("only integers are added to a place along an axis".to_owned())),
                };
                Ok(RegionBound::Position(AxisPosition {
                    offset: position.offset.saturating_add(shift),
                    ..position
                }))
            }
            _ => match self.evaluate(expr, false) {
                Ok(Constant::Position(it)) => Ok(RegionBound::Position(it)),
                Ok(value) => match value.as_int() {
                    Some(it) => Ok(RegionBound::Integer(it)),
                    None => {
                        Err(Some(format!("a bound of the region is {} and not a place", value.describe())))
                    }
                },
                Err(opaque) => Err(Some(format!(
                    "a bound of the region is not known while compiling, because {}",
                    opaque.why
                ))),
            },
        }
    }
}

/// `I[2]` as `I[0] + 2`, `I[-3]` as `I[-1] - 2`.
fn counted_from_an_edge(axis: Axis, index: i64, span: Span) -> TextEdit {
    let text = if index > 0 {
        format!("{axis}[0] + {index}")
    } else {
        format!("{axis}[-1] - {}", index.saturating_add(1).saturating_neg())
    };
    TextEdit::replace(span, text)
}

/// The value of one bound of a region.
#[derive(Clone, Copy)]
enum RegionBound {
    Position(AxisPosition),
    /// Counted from the start if it is 0 or more, from the end if it is negative.
    Integer(i64),
}
