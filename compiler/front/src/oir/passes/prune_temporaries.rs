//! Drops the assignments of temporaries and values at the point that nothing reads.

use std::collections::BTreeSet;

use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use super::PassCx;
use crate::diag::Origin;
use crate::oir::nodes::{Stencil, Stmt, StmtKind, Target};
use crate::oir::visit::{Visit, may_end_run};

pub const NAME: &str = "oir/prune-temporaries";
pub const LOCALS: &str = "oir/prune-locals";
pub const INLINED: &str = "oir/prune-inlined";

/// Drops every assignment to a temporary that is never read, again and again until there is none.
///
/// - **Precondition**: valid OIR.
/// - **Effect**: fewer statements, temporaries and locals; extents may shrink.
/// - **Legality**: nothing reads it, and what computes it cannot end the run. A `while` stays even if its body
///   becomes empty: whether it ends is part of the meaning.
/// - **Why**: functions compute several results, and callers use some of them.
pub fn prune_temporaries(stencil: &mut Stencil, cx: &mut PassCx) {
    let mut uses = TargetUses::of(stencil);
    // A target that becomes unread is added. Each is looked at once, since a stencil may have a thousand.
    while let Some(dead) = uses.dead.pop_first()
        && cx.may_change()
    {
        let name = match dead {
            Target::Field(field) => &stencil.fields[field].name,
            Target::Local(local) => &stencil.locals[local].name,
        };
        for origin in uses.drop_assignments(dead) {
            cx.applied(format!("`{name}` is never read, so it is not computed"), [&origin]);
        }
    }
    let mut at = 0;
    for (_, execution) in stencil.executions.iter_mut() {
        remove(&mut execution.body, &uses.stmts, &mut at);
    }
}

/// The statements of a stencil in program order, and the reads and assignments of each target.
struct TargetUses {
    stmts: Vec<StmtUses>,
    /// How many reads are left of each.
    n_reads: FxHashMap<Target, usize>,
    /// The assignments of each, by position.
    assignments: FxHashMap<Target, Vec<usize>>,
    /// Written and not read any more.
    dead: BTreeSet<Target>,
}

/// A statement, and what must go before it can.
struct StmtUses {
    origin: Origin,
    /// The statement around it.
    parent: Option<usize>,
    reads: SmallVec<[Target; 4]>,
    n_inside: usize,
    /// An assignment, a branch or a region that cannot end the run; a `while` never.
    may_go: bool,
    is_gone: bool,
}
impl TargetUses {
    fn of(stencil: &Stencil) -> Self {
        let mut all = Self {
            stmts: Vec::new(),
            n_reads: FxHashMap::default(),
            assignments: FxHashMap::default(),
            dead: BTreeSet::new(),
        };
        for (_, execution) in stencil.executions.iter() {
            execution.body.iter().for_each(|it| all.add(it, None));
        }
        let is_own = |it: &Target| it.field().is_none_or(|field| stencil.fields[field].is_temporary);
        // Those of parameters never go.
        all.assignments.retain(|it, _| is_own(it));
        let is_read = |it: &&Target| all.n_reads.contains_key(it);
        all.dead = all.assignments.keys().filter(|it| !is_read(it)).copied().collect();
        all
    }

    fn add(&mut self, stmt: &Stmt, parent: Option<usize>) {
        let at = self.stmts.len();
        let mut reads = SmallVec::new();
        stmt.exprs().for_each(|it| it.accesses(&mut |it| reads.extend(it.target())));
        for &what in &reads {
            *self.n_reads.entry(what).or_default() += 1;
        }
        if let StmtKind::Assign { target, .. } = stmt.kind {
            self.assignments.entry(target).or_default().push(at);
        }
        let may_go = match &stmt.kind {
            StmtKind::Assign { .. } => !stmt.may_end_run(),
            StmtKind::If { condition, .. } => !may_end_run(condition),
            StmtKind::Region { .. } => true,
            StmtKind::While { .. } => false,
        };
        let n_inside = stmt.children().count();
        let origin = stmt.origin.clone();
        self.stmts.push(StmtUses { origin, parent, reads, n_inside, may_go, is_gone: false });
        stmt.children().for_each(|it| self.add(it, Some(at)));
    }

    /// Drops the assignments of `dead` that may go, and what is empty without them; answers where they came from.
    fn drop_assignments(&mut self, dead: Target) -> Vec<Origin> {
        let mut dropped = Vec::new();
        for at in self.assignments.remove(&dead).unwrap_or_default() {
            if self.stmts[at].may_go {
                dropped.push(self.stmts[at].origin.clone());
                self.drop_stmt(at);
            }
        }
        dropped
    }

    fn drop_stmt(&mut self, at: usize) {
        self.stmts[at].is_gone = true;
        for what in std::mem::take(&mut self.stmts[at].reads) {
            let Some(n_reads) = self.n_reads.get_mut(&what) else { continue };
            *n_reads -= 1;
            if *n_reads == 0 && self.assignments.contains_key(&what) {
                self.dead.insert(what);
            }
        }
        let Some(around) = self.stmts[at].parent else { return };
        self.stmts[around].n_inside -= 1;
        if self.stmts[around].n_inside == 0 && self.stmts[around].may_go {
            self.drop_stmt(around);
        }
    }
}

/// Removes the statements that are gone; `at` counts them all in program order.
fn remove(body: &mut Vec<Stmt>, stmts: &[StmtUses], at: &mut usize) {
    body.retain_mut(|stmt| {
        let is_gone = stmts[*at].is_gone;
        *at += 1;
        stmt.bodies_mut().for_each(|it| remove(it, stmts, at));
        !is_gone
    });
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;
    use crate::oir::passes::tests::after;

    #[test]
    fn what_is_never_read_is_not_computed() {
        let found = after(
            "
stencil unused
field a: float64[IJK]
field b: float64[IJK]
temporary t: float64[IJK]
temporary u: float64[IJK]
parallel
  [start, end)
    x0
      t = a[2,0,0]
    x1
      if t > 0.0
        u = t
    x2
      b = a
",
            prune_temporaries,
        );
        expect![[r#"
            stencil unused
            field a: float64[IJK]
            field b: float64[IJK]

            parallel
              [start, end)
                x0
                  b = a
            applied: `u` is never read, so it is not computed
            applied: `t` is never read, so it is not computed
        "#]]
        .assert_eq(&found);
    }

    #[test]
    fn a_loop_keeps_its_condition() {
        let found = after(
            "
stencil counts
field a: float64[IJK]
temporary n: int64[IJK]
temporary u: int64[IJK]
parallel
  [start, end)
    x0
      n = 0
    x1
      while n < 3
        n = n + 1
        u = n
    x2
      a = 1.0
",
            prune_temporaries,
        );
        assert!(found.contains("while n < 3\n        n = n + 1\n    x2"), "{found}");
    }

    #[test]
    fn what_anything_reads_stays() {
        // A condition reads `t`, its own next value `n`; and a parameter belongs to the caller.
        expect![[r#"
            stencil used
            field a: float64[IJK]
            field b: float64[IJK]
            temporary t: float64[IJK]
            temporary n: float64[IJK]

            forward
              [start+1, end)
                x0
                  t = a
                  n = n[0,0,-1] + 1.0
                x1
                  if t > 0.0
                    b = 1.0
        "#]]
        .assert_eq(&after(
            "
stencil used
field a: float64[IJK]
field b: float64[IJK]
temporary t: float64[IJK]
temporary n: float64[IJK]
forward
  [start+1, end)
    x0
      t = a
      n = n[0,0,-1] + 1.0
    x1
      if t > 0.0
        b = 1.0
",
            prune_temporaries,
        ));
    }
}
