//! Puts conditions where they are asked.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use super::PassCx;
use crate::entity::Handle;
use crate::expr::ExprKind;
use crate::oir::analysis::versions::Versions;
use crate::oir::analysis::weight::weight;
use crate::oir::nodes::{Access, Expr, HorizontalExecution, Local, Stencil, Stmt, StmtKind, Target};
use crate::oir::visit::may_end_run;
use crate::types::DType;

pub const NAME: &str = "oir/inline-conditions";

/// Replaces a boolean value at the point by the expression that it was assigned, where conditions ask for it.
///
/// - **Precondition**: valid OIR; temporaries that can be are locals.
/// - **Effect**: fewer boolean locals.
/// - **Legality**: [`Mask::blocked`] tells why one stays; that becomes a remark.
/// - **Why**: back ends see the comparison that a branch depends on, and keep no `bool` beside the numbers.
pub fn inline_conditions(stencil: &mut Stencil, cx: &mut PassCx) {
    for (_, execution) in stencil.executions.iter_mut() {
        let masks = masks(&stencil.locals, execution);
        if masks.is_empty() {
            continue;
        }
        let mut inlined = BTreeSet::new();
        for (&local, mask) in &masks {
            let name = &stencil.locals[local].name;
            match mask.blocked() {
                None if cx.may_change() => {
                    cx.applied(format!("`{name}` stands in the condition itself"), &mask.origin);
                    inlined.insert(local);
                }
                Some(blocked) if mask.is_asked => {
                    cx.missed(format!("`{name}` is kept: {blocked}"), &mask.origin);
                }
                _ => {}
            }
        }
        let mut values = BTreeMap::new();
        replace(&mut execution.body, &inlined, &mut values);
    }
}

/// A boolean local, and what speaks against reading its expression instead.
#[derive(Debug, Default)]
struct Mask {
    origin: Option<crate::diag::Origin>,
    n_assigned: u32,
    n_read: u32,
    weight: u32,
    /// The values that its expression reads, with versions; for another mask that it reads, also the values
    /// read there.
    reads: Vec<(Target, u32)>,
    /// Whether a condition reads it, and whether all that read it are conditions or other masks.
    is_asked: bool,
    is_value: bool,
    is_changed: bool,
    is_repeated: bool,
    may_end_run: bool,
}

/// Why a boolean value stays one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Blocked {
    AssignedAgain,
    OperandChanged,
    Costly,
    Repeated,
    Value,
    MayEndRun,
}

impl fmt::Display for Blocked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Blocked::AssignedAgain => "it is assigned in several places",
            Blocked::OperandChanged => "what it was computed from changes before it is asked",
            Blocked::Costly => "it is asked several times, and takes long to compute",
            Blocked::Repeated => "a loop asks it again and again",
            Blocked::Value => "it is not only asked but also stored",
            Blocked::MayEndRun => "what computes it may end the run",
        })
    }
}

impl Mask {
    /// Why it must stay, or had better.
    fn blocked(&self) -> Option<Blocked> {
        [
            (self.n_assigned != 1, Blocked::AssignedAgain),
            (self.may_end_run, Blocked::MayEndRun),
            (self.is_changed, Blocked::OperandChanged),
            (self.is_value || !self.is_asked, Blocked::Value),
            (self.is_repeated, Blocked::Repeated),
            (self.n_read > 1 && self.weight > 1, Blocked::Costly),
        ]
        .into_iter()
        .find_map(|(is_so, blocked)| is_so.then_some(blocked))
    }
}

fn masks(
    locals: &crate::entity::Arena<Local>,
    execution: &HorizontalExecution,
) -> BTreeMap<Handle<Local>, Mask> {
    let mut walk = MaskWalk { locals, versions: Versions::default(), masks: BTreeMap::new(), n_loops: 0 };
    walk.body(&execution.body);
    walk.masks
}

struct MaskWalk<'a> {
    locals: &'a crate::entity::Arena<Local>,
    versions: Versions,
    masks: BTreeMap<Handle<Local>, Mask>,
    /// How many loops stand around.
    n_loops: u32,
}

impl MaskWalk<'_> {
    fn body(&mut self, body: &[Stmt]) {
        body.iter().for_each(|it| self.stmt(it));
    }

    fn stmt(&mut self, stmt: &Stmt) {
        match &stmt.kind {
            StmtKind::Assign { target, index, value, .. } => {
                index.exprs().for_each(|it| self.reads(it, false));
                match *target {
                    Target::Local(local) if self.locals[local].dtype == DType::Bool => {
                        self.reads(value, true);
                        let mut reads = self.versions.read_by(value);
                        for at in 0..reads.len() {
                            let Target::Local(inner) = reads[at].0 else { continue };
                            reads.extend(self.masks.get(&inner).into_iter().flat_map(|it| it.reads.clone()));
                        }
                        self.versions.change(*target);
                        let mask = self.masks.entry(local).or_default();
                        mask.n_assigned += 1;
                        mask.weight = weight(value);
                        mask.reads = reads;
                        mask.may_end_run = may_end_run(value);
                        mask.origin = Some(stmt.origin.clone());
                    }
                    _ => {
                        self.reads(value, false);
                        self.versions.change(*target);
                    }
                }
            }
            StmtKind::If { condition, .. } => self.reads(condition, true),
            StmtKind::While { condition, body } => {
                self.versions.change_all(body);
                self.n_loops += 1;
                self.reads(condition, true);
            }
            StmtKind::Region { .. } => {}
        }
        for body in stmt.bodies() {
            self.body(body);
            self.versions.change_all(body);
        }
        self.n_loops -= u32::from(matches!(stmt.kind, StmtKind::While { .. }));
    }

    /// `is_asked` where the value is a condition, or one that is kept for later.
    fn reads(&mut self, expr: &Expr, is_asked: bool) {
        match &expr.kind {
            ExprKind::Access(Access::Local(local)) => {
                let Some(mask) = self.masks.get_mut(local) else { return };
                mask.n_read += 1;
                mask.is_asked |= is_asked;
                mask.is_value |= !is_asked;
                mask.is_repeated |= self.n_loops > 0;
                mask.is_changed |= !self.versions.are_current(&mask.reads);
            }
            ExprKind::Ternary { condition, then, otherwise } => {
                self.reads(then, is_asked);
                self.reads(condition, true);
                self.reads(otherwise, is_asked);
            }
            _ => expr.operands().for_each(|it| self.reads(it, is_asked)),
        }
    }
}

/// Drops the assignments of these locals and puts what they assign where the locals are read.
fn replace(
    body: &mut Vec<Stmt>,
    inlined: &BTreeSet<Handle<Local>>,
    values: &mut BTreeMap<Handle<Local>, ExprKind<Access>>,
) {
    body.retain_mut(|stmt| {
        stmt.exprs_mut().for_each(|it| replace_reads(it, values));
        if let StmtKind::Assign { target: Target::Local(local), value, .. } = &stmt.kind
            && inlined.contains(local)
        {
            values.insert(*local, value.kind.clone());
            return false;
        }
        stmt.bodies_mut().for_each(|it| replace(it, inlined, values));
        true
    });
}

fn replace_reads(expr: &mut Expr, values: &BTreeMap<Handle<Local>, ExprKind<Access>>) {
    if let ExprKind::Access(Access::Local(local)) = expr.kind {
        if let Some(value) = values.get(&local) {
            expr.kind = value.clone();
        }
        return;
    }
    expr.operands_mut().into_iter().for_each(|it| replace_reads(it, values));
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;
    use crate::oir::passes::tests::after;

    fn check(body: &str, expected: Expect) {
        let text = format!(
            "
stencil masks
field a: float64[IJK]
field b: float64[IJK]
field flag: bool[IJK]
local m: bool
local n: bool
parallel
  [start, end)
    x0
{body}"
        );
        let found = after(&text, inline_conditions);
        let (_, found) = found.split_once("x0\n").expect("it has an execution");
        let found: String =
            found.lines().map(|it| format!("{}\n", it.strip_prefix("      ").unwrap_or(it))).collect();
        expected.assert_eq(&found);
    }

    #[test]
    fn a_condition_is_where_it_is_asked() {
        check(
            "      m = a > 0.0
      n = m and a < 5.0
      if n
        b = 1.0
      m = a > b
",
            expect![[r#"
                m = a > 0.0
                if m and a < 5.0
                  b = 1.0
                m = a > b
                missed: `m` is kept: it is assigned in several places
                applied: `n` stands in the condition itself
            "#]],
        );
        check(
            "      m = a > 0.0
      n = m and a < 5.0
      if n
        b = 1.0
      b = 2.0 if m else b
",
            expect![[r#"
                if a > 0.0 and a < 5.0
                  b = 1.0
                b = 2.0 if a > 0.0 else b
                applied: `m` stands in the condition itself
                applied: `n` stands in the condition itself
            "#]],
        );
    }

    #[test]
    fn a_condition_whose_operand_changes_stays() {
        // Directly, in a branch before it is asked, and through another condition.
        check(
            "      m = a > 0.0
      a = 1.0
      if m
        b = 1.0
",
            expect![[r#"
                m = a > 0.0
                a = 1.0
                if m
                  b = 1.0
                missed: `m` is kept: what it was computed from changes before it is asked
            "#]],
        );
        check(
            "      m = a > 0.0
      n = not m
      if b > 0.0
        a = 1.0
      if n
        b = 1.0
",
            expect![[r#"
                n = not a > 0.0
                if b > 0.0
                  a = 1.0
                if n
                  b = 1.0
                applied: `m` stands in the condition itself
                missed: `n` is kept: what it was computed from changes before it is asked
            "#]],
        );
    }

    #[test]
    fn a_condition_that_is_stored_costly_or_asked_in_a_loop_stays() {
        check(
            "      m = a * b + 1.0 > 0.0
      if m
        b = 1.0
        a = 2.0 if m else 3.0
",
            expect![[r#"
                m = a * b + 1.0 > 0.0
                if m
                  b = 1.0
                  a = 2.0 if m else 3.0
                missed: `m` is kept: what it was computed from changes before it is asked
            "#]],
        );
        check(
            "      m = a > 0.0
      n = a * a + a > 1.0
      flag = m
      while m
        b = 1.0
      if n
        b = 1.0
      if n
        b = 2.0
",
            expect![[r#"
                m = a > 0.0
                n = a * a + a > 1.0
                flag = m
                while m
                  b = 1.0
                if n
                  b = 1.0
                if n
                  b = 2.0
                missed: `m` is kept: it is not only asked but also stored
                missed: `n` is kept: it is asked several times, and takes long to compute
            "#]],
        );
    }
}
