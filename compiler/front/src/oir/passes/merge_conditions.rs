//! Asks once what several neighbouring statements ask.

use std::collections::BTreeSet;
use std::fmt;

use super::PassCx;
use crate::expr::ExprKind;
use crate::oir::analysis::versions::{assigned, reads_any};
use crate::oir::nodes::{Expr, Stencil, Stmt, StmtKind, Target};
use crate::types::UnaryOp;

pub const NAME: &str = "oir/merge-conditions";

/// Merges neighbouring branches on the same condition or on its opposite, and neighbouring equal regions.
/// Where a loop or a branch has just tested a condition, also removes the branches on it inside.
///
/// - **Precondition**: valid OIR; after executions were merged, so that branches are neighbours.
/// - **Effect**: fewer, longer branches; the statements that they hold keep their order.
/// - **Legality**: [`may_merge`]; every refusal becomes a remark.
/// - **Why**: text that tests each assignment by itself costs one branch for each of them.
pub fn merge_conditions(stencil: &mut Stencil, cx: &mut PassCx) {
    for (_, execution) in stencil.executions.iter_mut() {
        merge_body(&mut execution.body, cx);
    }
}

fn merge_body(body: &mut Vec<Stmt>, cx: &mut PassCx) {
    let mut merged: Vec<Stmt> = Vec::with_capacity(body.len());
    // The targets that the last of these assigns. A thousand branches may have joined it, so the set is kept
    // up to date.
    let mut changed = BTreeSet::new();
    for mut next in std::mem::take(body) {
        if let StmtKind::While { condition, body } = &mut next.kind {
            flatten(EnclosingCondition { condition, is_true: true, by: "loop" }, body, cx);
        }
        let assigned = assigned(std::slice::from_ref(&next));
        if let Some(prev) = merged.last_mut() {
            match may_merge(prev, &changed, &next) {
                Some(Ok(likeness)) if cx.may_change() => {
                    cx.applied(likeness.to_string(), [&next.origin]);
                    append(prev, next, likeness);
                    changed.extend(assigned);
                    continue;
                }
                Some(Err(blocked)) => cx.missed(blocked.to_string(), [&next.origin]),
                _ => {}
            }
        }
        changed = assigned;
        merged.push(next);
    }
    // Inside, once all has come together that stands beside each other there.
    for stmt in &mut merged {
        if let StmtKind::If { condition, then, otherwise } = &mut stmt.kind {
            flatten(EnclosingCondition { condition, is_true: true, by: "branch" }, then, cx);
            flatten(EnclosingCondition { condition, is_true: false, by: "branch" }, otherwise, cx);
        }
        stmt.bodies_mut().for_each(|it| merge_body(it, cx));
    }
    *body = merged;
}

/// How two neighbours are alike.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Likeness {
    SameCondition,
    OppositeCondition,
    SameRegion,
}

impl fmt::Display for Likeness {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Likeness::SameCondition => "runs in the branch before it, whose condition is the same",
            Likeness::OppositeCondition => "runs as the other branch of the condition before it",
            Likeness::SameRegion => "runs in the region before it, which is the same",
        })
    }
}

/// Why two statements that ask the same stay apart: the first changes what the second asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChangesItsCondition;

impl fmt::Display for ChangesItsCondition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("not merged: the branch before it changes what the condition reads")
    }
}

/// Whether the bodies of `next` may run in those of `prev`; nothing where they ask different things.
///
/// `changed` is what `prev` assigns. Regions ask where a point lies, which nothing changes.
fn may_merge(
    prev: &Stmt,
    changed: &BTreeSet<Target>,
    next: &Stmt,
) -> Option<Result<Likeness, ChangesItsCondition>> {
    match (&prev.kind, &next.kind) {
        (StmtKind::Region { region, .. }, StmtKind::Region { region: other, .. }) => {
            (region == other).then_some(Ok(Likeness::SameRegion))
        }
        (StmtKind::If { condition, .. }, StmtKind::If { condition: other, .. }) => {
            let likeness = if condition.is_same(other) {
                Likeness::SameCondition
            } else if negated(condition).is_some_and(|it| it.is_same(other))
                || negated(other).is_some_and(|it| it.is_same(condition))
            {
                Likeness::OppositeCondition
            } else {
                return None;
            };
            let changes = reads_any(condition, changed);
            Some(if changes { Err(ChangesItsCondition) } else { Ok(likeness) })
        }
        _ => None,
    }
}

/// The operand of a negation.
fn negated(condition: &Expr) -> Option<&Expr> {
    match &condition.kind {
        ExprKind::Unary(UnaryOp::Not, it) => Some(it),
        _ => None,
    }
}

fn append(prev: &mut Stmt, next: Stmt, likeness: Likeness) {
    match (&mut prev.kind, next.kind) {
        (StmtKind::Region { body, .. }, StmtKind::Region { body: other, .. }) => body.extend(other),
        (
            StmtKind::If { then, otherwise, .. },
            StmtKind::If { then: next_then, otherwise: next_otherwise, .. },
        ) => {
            let (same, other) = match likeness {
                Likeness::OppositeCondition => (next_otherwise, next_then),
                Likeness::SameCondition | Likeness::SameRegion => (next_then, next_otherwise),
            };
            then.extend(same);
            otherwise.extend(other);
        }
        _ => {}
    }
}

/// The condition of a statement around.
#[derive(Clone, Copy)]
struct EnclosingCondition<'a> {
    condition: &'a Expr,
    /// The value of the condition inside that statement.
    is_true: bool,
    by: &'static str,
}

impl EnclosingCondition<'_> {
    /// The value of another condition there, if it follows.
    fn answer(self, other: &Expr) -> Option<bool> {
        if other.is_same(self.condition) {
            Some(self.is_true)
        } else if negated(other).is_some_and(|it| it.is_same(self.condition))
            || negated(self.condition).is_some_and(|it| it.is_same(other))
        {
            Some(!self.is_true)
        } else {
            None
        }
    }
}

/// Removes the branches of a body whose condition follows from the one around, as long as that still holds.
fn flatten(asked: EnclosingCondition<'_>, body: &mut Vec<Stmt>, cx: &mut PassCx) {
    let EnclosingCondition { condition, by, .. } = asked;
    let mut flat: Vec<Stmt> = Vec::with_capacity(body.len());
    let mut holds = true;
    for stmt in std::mem::take(body) {
        let answer = match &stmt.kind {
            StmtKind::If { condition: it, .. } => asked.answer(it),
            _ => None,
        };
        if let Some(is_true) = answer
            && holds
            && cx.may_change()
        {
            let StmtKind::If { then, otherwise, .. } = stmt.kind else { continue };
            let (taken, left) = if is_true { (then, otherwise) } else { (otherwise, then) };
            let mut origins = vec![&stmt.origin];
            left.iter().for_each(|it| it.walk(&mut |it| origins.push(&it.origin)));
            cx.applied(format!("the condition is that of the {by}, and still holds"), origins);
            holds = !reads_any(condition, &assigned(&taken));
            flat.extend(taken);
            continue;
        }
        if answer.is_some() && !holds {
            let why = format!("stays: the {by}'s condition may have changed since it was asked");
            cx.missed(why, [&stmt.origin]);
        }
        holds = holds && !reads_any(condition, &assigned(std::slice::from_ref(&stmt)));
        flat.push(stmt);
    }
    *body = flat;
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;
    use crate::oir::passes::tests::after;

    /// The body of the one execution, before and after.
    fn check(body: &str, expected: Expect) {
        let text = format!(
            "
stencil branches
field a: float64[IJK]
field b: float64[IJK]
field c: float64[IJK]
parallel
  [start, end)
    x0
{body}"
        );
        let found = after(&text, merge_conditions);
        let (_, found) = found.split_once("x0\n").expect("it has an execution");
        let found: String =
            found.lines().map(|it| format!("{}\n", it.strip_prefix("      ").unwrap_or(it))).collect();
        expected.assert_eq(&found);
    }

    #[test]
    fn equal_and_opposite_conditions_are_asked_once() {
        check(
            "      if a > 0.0
        b = 1.0
      if a > 0.0
        c = b
      else
        c = 2.0
      if not a > 0.0
        b = 3.0
",
            expect![[r#"
                if a > 0.0
                  b = 1.0
                  c = b
                else
                  c = 2.0
                  b = 3.0
                applied: runs in the branch before it, whose condition is the same
                applied: runs as the other branch of the condition before it
            "#]],
        );
    }

    #[test]
    fn a_condition_that_the_branch_before_changes_is_asked_again() {
        check(
            "      if a > 0.0
        b = 1.0
        if b > 0.0
          a = 0.0
      if a > 0.0
        b = 2.0
      if c > 0.0
        b = 1.0
      else
        c = 1.0
      if not c > 0.0
        b = 2.0
",
            expect![[r#"
                if a > 0.0
                  b = 1.0
                  if b > 0.0
                    a = 0.0
                if a > 0.0
                  b = 2.0
                if c > 0.0
                  b = 1.0
                else
                  c = 1.0
                if not c > 0.0
                  b = 2.0
                missed: not merged: the branch before it changes what the condition reads
                missed: not merged: the branch before it changes what the condition reads
            "#]],
        );
    }

    #[test]
    fn a_local_in_a_condition_counts_as_well() {
        let text = "
stencil locals
field b: float64[IJK]
local m: bool

parallel
  [start, end)
    x0
      m = b > 0.0
      if m
        b = 1.0
        m = b > 2.0
      if m
        b = 2.0
";
        let found = after(text, merge_conditions);
        assert!(found.starts_with(text.trim_start()), "{found}");
    }

    #[test]
    fn equal_regions_are_one() {
        check(
            "      region i[start, start+1) j[, )
        b = a
      region i[start, start+1) j[, )
        c = b
      region i[end-1, end) j[, )
        c = a
",
            expect![[r#"
                region i[start, start+1) j[, )
                  b = a
                  c = b
                region i[end-1, end) j[, )
                  c = a
                applied: runs in the region before it, which is the same
            "#]],
        );
    }

    #[test]
    fn a_branch_on_the_condition_around_it_is_decided() {
        check(
            "      if a > 0.0
        b = 1.0
      if a > 0.0
        c = b
      else
        if a > 0.0
          c = 2.0
        if not a > 0.0
          a = 3.0
        if a > 0.0
          c = 4.0
",
            expect![[r#"
                if a > 0.0
                  b = 1.0
                  c = b
                else
                  a = 3.0
                  if a > 0.0
                    c = 4.0
                applied: runs in the branch before it, whose condition is the same
                applied: the condition is that of the branch, and still holds
                applied: the condition is that of the branch, and still holds
                missed: stays: the branch's condition may have changed since it was asked
            "#]],
        );
    }

    #[test]
    fn a_branch_on_the_condition_of_its_loop_goes_as_long_as_that_holds() {
        check(
            "      while a > 0.0
        b = 1.0
        if a > 0.0
          a = a - b
        else
          c = 5.0
        if a > 0.0
          c = 1.0
",
            expect![[r#"
                while a > 0.0
                  b = 1.0
                  a = a - b
                  if a > 0.0
                    c = 1.0
                applied: the condition is that of the loop, and still holds
                missed: stays: the loop's condition may have changed since it was asked
            "#]],
        );
    }
}
