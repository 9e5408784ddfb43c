//! Hoists long loop-invariant computations before the loop.
//!
//! A C compiler does this where it sees through memory. Lanes of machine code, and elements that are stored
//! on the way, hide it. No bit depends on it: each value is computed by the operations that computed it
//! before.
//!
//! ```text
//! for i in [0, I) parallel simd:           once = exp(s * p[k])
//!   b[i, j, k] = a[i, j, k] * exp(s * p[k])
//!                                          for i in [0, I) parallel simd:
//!                                            b[i, j, k] = a[i, j, k] * once
//! ```

use std::collections::{BTreeMap, BTreeSet};

use super::super::nodes::{Array, Assign, DimensionIndex, Element, For, Item, Local, Program, Read, Target};
use super::super::visit::walk;
use super::{Names, PassCx, each_body};
use crate::diag::Origin;
use crate::entity::Handle;
use crate::expr::{Expr, ExprKind};
use crate::space::{Axis, Symbol};
use crate::types::BinaryOp;

/// As options and remarks call it.
pub const NAME: &str = "loops/hoist-invariants";

/// Moves long computations that are the same in all iterations of a loop before it.
///
/// - **Precondition**: locals are not declared yet.
/// - **Effect**: new locals, which are assigned once, before the outermost loop that all their operands allow.
/// - **Legality**: [`HoistedLoop::is_same`]. An element is read earlier only where every iteration of the
///   loop reads it. It is never read before a loop over levels, since levels need not exist.
/// - **Why**: without it, a value that depends on the level alone is a division or a logarithm at each point
///   of a plane.
pub fn hoist_invariants(program: &mut Program, cx: &mut PassCx) {
    each_body(program, &mut |items, names| hoist(items, names, cx));
}

/// Hoists out of all loops of a body. A local that became another name for a hoisted value is not assigned
/// any more, if nothing reads it.
fn hoist(items: &mut Vec<Item>, names: &mut Names<'_>, cx: &mut PassCx) {
    let mut copies = BTreeSet::new();
    block(items, names, &mut copies, cx);
    if copies.is_empty() {
        return;
    }
    let mut reads = BTreeSet::new();
    walk(items, &mut |item| {
        item.each_expr(&mut |expr| {
            expr.accesses(&mut |read| {
                if let Read::Local(local) = read {
                    reads.insert(*local);
                }
            });
        });
    });
    copies.retain(|it| !reads.contains(it));
    drop_assignments(items, &copies);
}

/// The loops of a block, from outside in.
fn block(
    items: &mut Vec<Item>,
    names: &mut Names<'_>,
    copies: &mut BTreeSet<Handle<Local>>,
    cx: &mut PassCx,
) {
    for mut item in std::mem::take(items) {
        if let Item::For(it) = &mut item {
            let mut around = HoistedLoop::of(it, names, cx);
            let mut known = AvailableValues::default();
            around.items(&mut it.body, &mut known, ExecutionCertainty::Always);
            copies.append(&mut around.copies);
            items.append(&mut around.before);
        }
        item.blocks_mut().into_iter().for_each(|it| block(it, names, copies, cx));
        items.push(item);
    }
}

/// Whether statements run in every iteration.
///
/// A statement that perhaps runs may read elements that do not exist in other iterations. So these are not
/// read before the loop. Scalars and locals always exist.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ExecutionCertainty {
    Always,
    Perhaps,
}

/// Elements and locals whose values are those of a local from before the loop.
#[derive(Clone, Default)]
struct AvailableValues {
    elements: BTreeMap<Element, Handle<Local>>,
    locals: BTreeMap<Handle<Local>, Handle<Local>>,
}

impl AvailableValues {
    /// Forgets what items write.
    fn forget(&mut self, written: &WriteSet) {
        self.elements.retain(|it, _| !written.arrays.contains(&it.array));
        self.locals.retain(|it, _| !written.locals.contains(it));
    }
}

/// The arrays and locals that items write, at any depth, and the positions of the loops among them.
#[derive(Default)]
struct WriteSet {
    arrays: BTreeSet<Handle<Array>>,
    locals: BTreeSet<Handle<Local>>,
    positions: BTreeSet<Symbol>,
    /// Whether they run a function, which may write any array.
    launches: bool,
    has_levels: bool,
}

impl WriteSet {
    fn by(items: &[Item]) -> Self {
        let mut written = Self::default();
        walk(items, &mut |item| match item {
            Item::Assign(Assign { target: Target::Element(element), .. }) => {
                written.arrays.insert(element.array);
            }
            Item::Assign(Assign { target: Target::Local(local), .. }) => {
                written.locals.insert(*local);
            }
            Item::Strips(it) => {
                written.positions.insert(it.positions.variable.clone());
            }
            Item::For(it) => {
                written.positions.insert(it.positions.variable.clone());
                written.has_levels |= it.axis == Axis::K;
            }
            Item::Launch(_) => written.launches = true,
            Item::Declare(_) | Item::Checked(_) | Item::If(_) | Item::While(_) | Item::Barrier => {}
        });
        written
    }
}

/// A loop, and the statements that are hoisted before it.
struct HoistedLoop<'l, 'a> {
    axis: Axis,
    written: WriteSet,
    names: &'l mut Names<'a>,
    cx: &'l mut PassCx,
    before: Vec<Item>,
    /// The hoisted values, each with its local.
    values: Vec<(Expr<Read>, Handle<Local>)>,
    /// Locals that are a copy of a hoisted value.
    copies: BTreeSet<Handle<Local>>,
}

impl<'l, 'a> HoistedLoop<'l, 'a> {
    /// A loop before which nothing is hoisted yet, with all that its body may change.
    fn of(it: &For, names: &'l mut Names<'a>, cx: &'l mut PassCx) -> Self {
        let mut written = WriteSet::by(&it.body);
        written.positions.insert(it.positions.variable.clone());
        written.has_levels |= it.axis == Axis::K;
        Self {
            axis: it.axis,
            written,
            names,
            cx,
            before: Vec::new(),
            values: Vec::new(),
            copies: BTreeSet::new(),
        }
    }

    /// Goes through a body in the order in which it runs, and keeps the values known so far. A loop or a
    /// `while` first forgets the writes of its own body, since an earlier iteration may have made them. A
    /// branch or a check forgets them afterwards.
    fn items(&mut self, items: &mut [Item], known: &mut AvailableValues, runs: ExecutionCertainty) {
        for item in items {
            match item {
                Item::Assign(it) => self.assign(it, known, runs),
                Item::For(it) => {
                    let written = WriteSet::by(&it.body);
                    known.forget(&written);
                    self.items(&mut it.body, &mut known.clone(), runs);
                }
                Item::If(it) => {
                    for branch in &mut it.branches {
                        self.expr(
                            &mut branch.condition,
                            &branch.origin,
                            known,
                            ExecutionCertainty::Perhaps,
                            None,
                        );
                    }
                    let written = it.branches.iter().map(|it| WriteSet::by(&it.body));
                    let written: Vec<WriteSet> = written.chain([WriteSet::by(&it.otherwise)]).collect();
                    let bodies = it.branches.iter_mut().map(|it| &mut it.body).chain([&mut it.otherwise]);
                    bodies.for_each(|it| self.items(it, &mut known.clone(), ExecutionCertainty::Perhaps));
                    written.iter().for_each(|it| known.forget(it));
                }
                Item::While(it) => {
                    let written = WriteSet::by(&it.body);
                    known.forget(&written);
                    self.expr(&mut it.condition, &it.origin, known, ExecutionCertainty::Perhaps, None);
                    self.items(&mut it.body, &mut known.clone(), ExecutionCertainty::Perhaps);
                }
                Item::Checked(it) => {
                    let written = WriteSet::by(&it.body);
                    self.items(&mut it.body, &mut known.clone(), ExecutionCertainty::Perhaps);
                    known.forget(&written);
                }
                // Strips are made behind this pass, so their writes are unknown here.
                Item::Launch(_) | Item::Strips(_) => *known = AvailableValues::default(),
                // Writes of other threads stand in the loops before it, with all their iterations.
                Item::Declare(_) | Item::Barrier => {}
            }
        }
    }

    /// Hoists out of the value, and notes the new value of the target. If that is a value from before the
    /// loop, later reads of the target become reads of that value. They may be hoisted in turn.
    fn assign(&mut self, it: &mut Assign, known: &mut AvailableValues, runs: ExecutionCertainty) {
        let wanted = match &it.target {
            Target::Element(element) => self.names.arrays[element.array].name.clone(),
            Target::Local(local) => Some(self.names.locals[*local].name.clone()),
        };
        self.expr(&mut it.value, &it.origin, known, runs, wanted.as_deref());
        let value = match it.value.kind {
            ExprKind::Access(Read::Local(local)) if !self.written.locals.contains(&local) => Some(local),
            _ => None,
        };
        match &it.target {
            Target::Element(element) => {
                known.elements.retain(|it, _| it.array != element.array);
                let is_found = element.index.iter().any(|it| matches!(it, DimensionIndex::Found { .. }));
                if let Some(local) = value.filter(|_| !is_found) {
                    known.elements.insert(element.clone(), local);
                }
            }
            Target::Local(target) => {
                known.locals.remove(target);
                if let Some(local) = value {
                    known.locals.insert(*target, local);
                    self.copies.insert(*target);
                }
            }
        }
    }

    /// Replaces known reads by locals, and hoists the largest parts that may stand before the loop.
    fn expr(
        &mut self,
        expr: &mut Expr<Read>,
        origin: &Origin,
        known: &AvailableValues,
        runs: ExecutionCertainty,
        wanted: Option<&str>,
    ) {
        expr.accesses_mut(&mut |read| {
            let local = match read {
                Read::Element(element) => known.elements.get(element),
                Read::Local(local) => known.locals.get(local),
                Read::Sum(_) => None,
            };
            if let Some(&local) = local {
                *read = Read::Local(local);
            }
        });
        self.parts(expr, origin, runs, wanted);
    }

    /// Hoists the largest parts first: an expression that cannot be hoisted as a whole may have operands that
    /// can. An expression of a few additions is not worth a register.
    fn parts(
        &mut self,
        expr: &mut Expr<Read>,
        origin: &Origin,
        runs: ExecutionCertainty,
        wanted: Option<&str>,
    ) {
        if !takes_long(expr) {
            return;
        }
        if !expr.dtype.is_float() || !self.is_same(expr, runs) {
            expr.operands_mut().into_iter().for_each(|it| self.parts(it, origin, runs, None));
            return;
        }
        let found = self.values.iter().find(|(value, _)| value.is_same(expr)).map(|it| it.1);
        if found.is_none() && !self.cx.may_change() {
            return;
        }
        let local = found.unwrap_or_else(|| {
            self.cx.applied(
                format!(
                    "what is the same for all {} is computed once before the loop",
                    self.axis.position_name()
                ),
                [origin],
            );
            let wanted = wanted.map_or_else(|| "once".to_owned(), |it| format!("{it}_once"));
            let local = self.names.new_local(&wanted, expr.dtype);
            let (target, value) = (Target::Local(local), expr.clone());
            self.values.push((expr.clone(), local));
            self.before.push(Item::Assign(Assign { target, value, origin: origin.clone() }));
            local
        });
        expr.kind = ExprKind::Access(Read::Local(local));
    }

    /// Whether an expression has the same value in all iterations, and may be evaluated before the first of them.
    ///
    /// It names no position of this loop or of one inside, and no index of run time. It reads no local and no
    /// array that the body writes. The body launches no function, since that may write any array. A loop over
    /// levels may have no iteration, so no element is read before it.
    fn is_same(&self, expr: &Expr<Read>, runs: ExecutionCertainty) -> bool {
        let written = &self.written;
        let mut is_same = true;
        expr.walk(&mut |it| match &it.kind {
            ExprKind::Access(Read::Element(it)) => {
                let is_there =
                    it.index.is_empty() || runs == ExecutionCertainty::Always && !written.has_levels;
                let is_fixed = |at: &DimensionIndex| match at {
                    DimensionIndex::Known(sum) => sum.terms().all(|(it, _)| !written.positions.contains(it)),
                    DimensionIndex::Found { .. } => false,
                };
                is_same &= is_there && !written.launches && !written.arrays.contains(&it.array);
                is_same &= it.index.iter().all(is_fixed);
            }
            ExprKind::Access(Read::Local(local)) => is_same &= !written.locals.contains(local),
            ExprKind::Access(Read::Sum(sum)) => {
                is_same &= sum.terms().all(|(it, _)| !written.positions.contains(it));
            }
            ExprKind::Element(..) | ExprKind::Position(_) => is_same = false,
            _ => {}
        });
        is_same
    }
}

/// Whether a part of it takes longer than some additions.
pub(super) fn takes_long(expr: &Expr<Read>) -> bool {
    let mut takes_long = false;
    expr.walk(&mut |it| takes_long |= is_long(it));
    takes_long
}

/// Whether the operation itself, without its operands, takes longer than some additions.
#[must_use]
pub fn is_long(expr: &Expr<Read>) -> bool {
    match &expr.kind {
        ExprKind::Binary(BinaryOp::Div | BinaryOp::Mod, left, _) => left.dtype.is_float(),
        ExprKind::Call(function, _) => function.divides() || function.is_transcendental(),
        _ => expr.is_transcendental(),
    }
}

/// Takes out the assignments of these locals.
fn drop_assignments(items: &mut Vec<Item>, locals: &BTreeSet<Handle<Local>>) {
    items.retain(
        |item| !matches!(item, Item::Assign(Assign { target: Target::Local(it), .. }) if locals.contains(it)),
    );
    for item in items {
        item.blocks_mut().into_iter().for_each(|it| drop_assignments(it, locals));
    }
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::super::tests::{c, check};

    #[test]
    fn what_depends_on_the_level_alone_is_computed_once_for_it() {
        check(
            super::NAME,
            c(0),
            "  for k in [0, K) parallel:
    for i in [0, I) parallel simd:
      u[i, j, k] = 2.0 / p[k]
      x = sqrt(u[i, j, k])
      b[i, j, k] = a[i, j, k] * x + exp(-s) / (u[i, j, k] + 1.0)
",
            &expect![[r#"
                local once: float64
                local u_once: float64
                local x_once: float64
                local once_1: float64
                function step_1_at(j) of step 1:
                  once = exp(-s)
                  for k in [0, K) parallel:
                    u_once = 2.0 / p[k]
                    x_once = sqrt(u_once)
                    once_1 = once / (u_once + 1.0)
                    for i in [0, I) parallel simd:
                      u[i, j, k] = u_once
                      b[i, j, k] = a[i, j, k] * x_once + once_1
                # what is the same for all k is computed once before the loop
                # what is the same for all i is computed once before the loop
                # what is the same for all i is computed once before the loop
                # what is the same for all i is computed once before the loop
            "#]],
        );
    }

    #[test]
    fn what_differs_from_point_to_point_stays() {
        check(
            super::NAME,
            c(0),
            "  for k in [0, K) parallel:
    for i in [0, I) parallel simd:
      x = 2.0 / a[i, j, k]
      u[i, j, k] = 1.0 / p[k]
      u[i, j, k] = u[i, j, k] + x
      b[i, j, k] = 3.0 / u[i, j, k]
",
            &expect![[r#"
                local u_once: float64
                function step_1_at(j) of step 1:
                  for k in [0, K) parallel:
                    u_once = 1.0 / p[k]
                    for i in [0, I) parallel simd:
                      x = 2.0 / a[i, j, k]
                      u[i, j, k] = u_once
                      u[i, j, k] = u_once + x
                      b[i, j, k] = 3.0 / u[i, j, k]
                # what is the same for all i is computed once before the loop
            "#]],
        );
    }

    #[test]
    fn an_element_is_read_where_it_was_read_before() {
        check(
            super::NAME,
            c(0),
            "  for k in [1, K) parallel:
    for i in [0, I) parallel simd:
      if a[i, j, k] > s:
        b[i, j, k] = 1.0 / p[k - 1] + 1.0 / s
      else:
        b[i, j, k] = 1.0 / p[0]
",
            &expect![[r#"
                local once: float64
                function step_1_at(j) of step 1:
                  once = 1.0 / s
                  for k in [1, K) parallel:
                    for i in [0, I) parallel simd:
                      if a[i, j, k] > s:
                        b[i, j, k] = 1.0 / p[k - 1] + once
                      else:
                        b[i, j, k] = 1.0 / p[0]
                # what is the same for all k is computed once before the loop
            "#]],
        );
    }
}
