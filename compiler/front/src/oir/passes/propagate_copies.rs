//! Reads the original where a value at the point is a copy.

use std::collections::BTreeMap;

use super::PassCx;
use crate::entity::Handle;
use crate::expr::ExprKind;
use crate::oir::analysis::versions::Versions;
use crate::oir::nodes::{Access, Expr, Local, Stencil, Stmt, StmtKind, Target};

pub const NAME: &str = "oir/propagate-copies";

/// Replaces reads of locals that are copies of locals, scalar parameters or literals.
///
/// - **Precondition**: valid OIR.
/// - **Effect**: copies that nothing reads, which pruning drops.
/// - **Legality**: [`Copies::original`]: neither the copy nor its original was assigned since.
/// - **Why**: inlined functions pass their arguments and results from name to name.
pub fn propagate_copies(stencil: &mut Stencil, cx: &mut PassCx) {
    for (_, execution) in stencil.executions.iter_mut() {
        let mut walk = Copies { versions: Versions::default(), known: BTreeMap::new(), cx };
        walk.body(&mut execution.body);
    }
}

struct Copies<'a> {
    versions: Versions,
    known: BTreeMap<Handle<Local>, LocalCopy>,
    cx: &'a mut PassCx,
}

/// The original of a local that is a copy.
struct LocalCopy {
    /// The version of the local that is.
    version: u32,
    original: ExprKind<Access>,
    /// The version of the original, where it has any.
    of: Vec<(Target, u32)>,
    /// Whether it may be replaced; asked at its first read.
    is_wanted: Option<bool>,
}

impl Copies<'_> {
    fn body(&mut self, body: &mut [Stmt]) {
        body.iter_mut().for_each(|it| self.stmt(it));
    }

    fn stmt(&mut self, stmt: &mut Stmt) {
        if let StmtKind::While { body, .. } = &stmt.kind {
            // Its condition and body run again after the body.
            self.versions.change_all(body);
        }
        let mut n_replaced = 0;
        let last = stmt.exprs().count().saturating_sub(1);
        for (at, expr) in stmt.exprs_mut().enumerate() {
            // The last is the value or the condition; the others find the element to write.
            n_replaced += self.replace(expr, at < last);
        }
        if n_replaced > 0 {
            self.cx.applied("reads the original of a copy", [&stmt.origin]);
        }
        match &mut stmt.kind {
            StmtKind::Assign { target, value, .. } => {
                let of = self.versions.read_by(value);
                self.versions.change(*target);
                let is_leaf = matches!(
                    value.kind,
                    ExprKind::Literal(_) | ExprKind::Access(Access::Local(_) | Access::Scalar(_))
                );
                if let (Target::Local(local), true) = (*target, is_leaf) {
                    let (version, original) = (self.versions.of(*target), value.kind.clone());
                    self.known.insert(local, LocalCopy { version, original, of, is_wanted: None });
                }
            }
            StmtKind::If { .. } | StmtKind::While { .. } | StmtKind::Region { .. } => {
                for body in stmt.bodies_mut() {
                    self.body(body);
                    self.versions.change_all(body);
                }
            }
        }
    }

    /// Replaces reads of copies by their originals where that is possible, and returns the number of replaced
    /// reads.
    ///
    /// Inside an index that is found at run time (`finds`), no literal is put in, since a literal may not
    /// lead out of a field.
    fn replace(&mut self, expr: &mut Expr, finds: bool) -> usize {
        if let ExprKind::Access(Access::Local(local)) = expr.kind {
            let Some(original) = self.original(local, finds) else { return 0 };
            expr.kind = original;
            return 1;
        }
        let finds = finds || matches!(expr.kind, ExprKind::Element(..));
        expr.operands_mut().into_iter().map(|it| self.replace(it, finds)).sum()
    }

    /// The expression that `local` copies here; `None` if it must not be replaced.
    fn original(&mut self, local: Handle<Local>, finds: bool) -> Option<ExprKind<Access>> {
        let copy = self.known.get_mut(&local)?;
        if finds && matches!(copy.original, ExprKind::Literal(_)) {
            return None;
        }
        let is_current =
            self.versions.of(Target::Local(local)) == copy.version && self.versions.are_current(&copy.of);
        if !is_current {
            return None;
        }
        let is_wanted = *copy.is_wanted.get_or_insert_with(|| self.cx.may_change());
        is_wanted.then(|| copy.original.clone())
    }
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;
    use crate::oir::passes::tests::after;

    fn check(body: &str, expected: Expect) {
        let text = format!(
            "
stencil copies
field a: float64[IJK]
field b: float64[IJK]
scalar s: float64
local t: float64
local u: float64
local v: float64
parallel
  [start, end)
    x0
{body}"
        );
        let found = after(&text, propagate_copies);
        let (_, found) = found.split_once("x0\n").expect("it has an execution");
        let found: String =
            found.lines().map(|it| format!("{}\n", it.strip_prefix("      ").unwrap_or(it))).collect();
        expected.assert_eq(&found);
    }

    #[test]
    fn copies_of_locals_scalars_and_literals_are_not_read() {
        check(
            "      t = a
      u = t
      v = u
      b = v + u
      u = s
      if u > 0.0
        v = 1.0
        b = v * u
",
            expect![[r#"
                t = a
                u = t
                v = t
                b = t + t
                u = s
                if s > 0.0
                  v = 1.0
                  b = 1.0 * s
                applied: reads the original of a copy
                applied: reads the original of a copy
                applied: reads the original of a copy
                applied: reads the original of a copy
            "#]],
        );
    }

    #[test]
    fn a_copy_is_read_once_either_side_was_assigned() {
        // `t` changes, `u` changes in a branch, and `v` in the loop that reads it.
        check(
            "      t = a
      u = t
      t = 2.0 * a
      b = u
      u = s
      if a > 0.0
        u = a
      b = b + u
      v = s
      while v > 0.0
        b = b + v
        v = v - 1.0
",
            expect![[r#"
                      t = a
                      u = t
                      t = 2.0 * a
                      b = u
                      u = s
                      if a > 0.0
                        u = a
                      b = b + u
                      v = s
                      while v > 0.0
                        b = b + v
                        v = v - 1.0
            "#]],
        );
    }
}
