//! Drops the assignments of temporaries and values at the point that nothing reads.

use std::collections::BTreeSet;

use super::PassCx;
use crate::oir::nodes::{Stencil, Stmt, StmtKind, Target};

pub const NAME: &str = "oir/prune-temporaries";
pub const LOCALS: &str = "oir/prune-locals";

/// Drops every assignment to a temporary that is never read, again and again until there is none.
///
/// - **Precondition**: valid OIR.
/// - **Effect**: fewer statements, temporaries and locals; extents may shrink.
/// - **Legality**: nothing reads it, and what computes it cannot end the run. A `while` stays even if its body
///   becomes empty: whether it ends is part of the meaning.
/// - **Why**: functions compute several results, and callers use some of them.
pub fn prune_temporaries(stencil: &mut Stencil, cx: &mut PassCx) {
    let mut settled = BTreeSet::new();
    while let Some(dead) = first_dead(stencil, &settled)
        && cx.may_change()
    {
        settled.insert(dead);
        let name = match dead {
            Target::Field(field) => stencil.fields[field].name.clone(),
            Target::Local(local) => stencil.locals[local].name.clone(),
        };
        let mut dropped = Vec::new();
        for (_, execution) in stencil.executions.iter_mut() {
            drop_assignments(&mut execution.body, dead, &mut dropped);
        }
        for stmt in dropped {
            cx.applied(format!("`{name}` is never read, so it is not computed"), [&stmt.origin]);
        }
    }
}

/// The first temporary or local that is written, never read, and not settled.
fn first_dead(stencil: &Stencil, settled: &BTreeSet<Target>) -> Option<Target> {
    let (mut read, mut written) = (BTreeSet::new(), BTreeSet::new());
    for (_, execution) in stencil.executions.iter() {
        execution.each_touch(&mut |touch| {
            if touch.is_write { &mut written } else { &mut read }.insert(touch.what);
        });
    }
    let is_own = |it: &Target| it.field().is_none_or(|field| stencil.fields[field].is_temporary);
    written.difference(&read).copied().find(|it| is_own(it) && !settled.contains(it))
}

fn drop_assignments(body: &mut Vec<Stmt>, dead: Target, dropped: &mut Vec<Stmt>) {
    for mut stmt in std::mem::take(body) {
        let is_empty = match &mut stmt.kind {
            StmtKind::Assign { target, .. } => *target == dead && !stmt.may_end_run(),
            StmtKind::If { then, otherwise, .. } => {
                drop_assignments(then, dead, dropped);
                drop_assignments(otherwise, dead, dropped);
                then.is_empty() && otherwise.is_empty() && !stmt.may_end_run()
            }
            StmtKind::While { body, .. } => {
                drop_assignments(body, dead, dropped);
                false
            }
            StmtKind::Region { body, .. } => {
                drop_assignments(body, dead, dropped);
                body.is_empty()
            }
        };
        match stmt.kind {
            StmtKind::Assign { .. } if is_empty => dropped.push(stmt),
            _ if is_empty => {}
            _ => body.push(stmt),
        }
    }
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
