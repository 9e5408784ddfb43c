//! Takes branches and intermediate memory out of loops in vector lanes.
//!
//! A branch becomes a choice between values that are all computed. A value that is stored and read again
//! becomes a local.
//!
//! Lanes compute both arms anyway. A C compiler must not read the memory of an arm for lanes that do not take
//! the arm, so it masks each read. Branches with long arms stay where loops in strips will skip arms that no
//! point takes ([`split_loops`](super::split_loops)).
//!
//! ```text
//! if a[i, j, k] > 0.0:                     x_1 = a[i, j, k] + p[k]
//!   x = a[i, j, k] + p[k]                  x_2 = s
//! else:                                    x = x_1 if a[i, j, k] > 0.0 else x_2
//!   x = s
//! ```
//!
//! Besides, in the body of such a loop:
//!
//! - a value that is stored and read again at the same point is kept in a local, which is stored afterwards;
//! - a store that another one overwrites before anybody reads it is dropped;
//! - a store moves behind later reads of other elements of the array, since a compiler cannot know that they
//!   are apart;
//! - nested `min` and `max` test for NaN once.

use std::collections::BTreeMap;

mod extrema;

use super::super::nodes::{Assign, Branch, DimensionIndex, Element, If, Item, Local, Program, Read, Target};
use super::super::visit::{any, walk};
use super::split_loops::is_passed_over;
use super::{Names, PassCx, each_body};
use crate::diag::Origin;
use crate::entity::Handle;
use crate::expr::{Expr, ExprKind};
use crate::space::Symbol;
use crate::types::DType;
use extrema::ask_for_nan_once;

/// As options and remarks call it.
pub const NAME: &str = "loops/convert-branches";

/// A branch that becomes a choice has at most so many arms.
const MOST_ARMS: usize = 4;

/// Takes branches and memory out of the loops in vector lanes.
///
/// - **Precondition**: locals are not declared yet.
/// - **Effect**: new locals; assignments of locals in branches become choices, whose arms read nothing but
///   locals; stores that are overwritten unread are dropped.
/// - **Legality**: [`ConvertibleBranch::of`]. Every value is computed by the operations that computed it
///   before.
/// - **Why**: reads need no masks, and intermediate values are not read from memory.
pub fn convert_branches(program: &mut Program, cx: &mut PassCx) {
    each_body(program, &mut |items, names| in_lanes(items, names, cx));
    program.forget_reads();
}

/// Changes the loops in lanes among items, at any depth. The order of the changes matters: stores become
/// locals before branches are looked at, so arms read these locals.
fn in_lanes(items: &mut Vec<Item>, names: &mut Names<'_>, cx: &mut PassCx) {
    if items.iter().any(|it| matches!(it, Item::For(it) if it.is_simd)) && cx.may_change() {
        points_beside(items, names);
    }
    for item in items {
        match item {
            Item::For(it) if it.is_simd && is_plain(&it.body) => {
                if !cx.may_change() {
                    continue;
                }
                keep_values(&mut it.body, names);
                let variable = it.positions.variable.clone();
                drop_overwritten(&mut it.body, Some(&variable), names);
                read_before_storing(&mut it.body, names);
                for item in std::mem::take(&mut it.body) {
                    match item {
                        // Its arms are computed where some lane takes them.
                        Item::If(branches) if is_passed_over(&branches, it, &cx.options) => {
                            it.body.push(Item::If(branches));
                        }
                        Item::If(branches) => {
                            let origins: Vec<Origin> =
                                branches.branches.iter().map(|it| it.origin.clone()).collect();
                            match ConvertibleBranch::of(&branches, &it.body, &variable) {
                                Ok(choice) => {
                                    cx.applied(
                                        "the branch is a choice between values that all lanes compute",
                                        &origins,
                                    );
                                    names.decisions.forget_branch(branches.id);
                                    choice.make(branches, &mut it.body, names);
                                }
                                Err(blocked) => {
                                    cx.missed(format!("the branch stays: {}", blocked.reason()), &origins);
                                    it.body.push(Item::If(branches));
                                }
                            }
                        }
                        item => it.body.push(item),
                    }
                }
                ask_for_nan_once(&mut it.body, names);
                read_before_choosing(&mut it.body, &variable, names);
            }
            item => item.blocks_mut().into_iter().for_each(|it| in_lanes(it, names, cx)),
        }
    }
}

/// Does the same with points beside a row, where each statement is one point.
fn points_beside(items: &mut Vec<Item>, names: &mut Names<'_>) {
    let is_point = |it: &Item| matches!(it, Item::Assign(_));
    let mut rest = std::mem::take(items);
    while let Some(first) = rest.first().map(is_point) {
        let end = rest.iter().position(|it| is_point(it) != first).unwrap_or(rest.len());
        let behind = rest.split_off(end);
        if first {
            keep_values(&mut rest, names);
            drop_overwritten(&mut rest, None, names);
        }
        items.append(&mut rest);
        rest = behind;
    }
}

/// Reads the elements in arms of choices into locals, before the statement. A C compiler must not read them
/// for lanes that do not take the arm, so it would mask each read.
fn read_before_choosing(body: &mut Vec<Item>, variable: &Symbol, names: &mut Names<'_>) {
    for mut item in std::mem::take(body) {
        if let Item::Assign(it) = &mut item {
            let mut elements: Vec<(Element, DType)> = Vec::new();
            it.value.walk(&mut |expr| {
                let ExprKind::Ternary { condition, then, otherwise } = &expr.kind else { return };
                if !tells_points_apart(condition, variable, body) {
                    return;
                }
                for arm in [then, otherwise] {
                    arm.walk(&mut |expr| {
                        if let ExprKind::Access(Read::Element(element)) = &expr.kind
                            && element.index.iter().all(|it| matches!(it, DimensionIndex::Known(_)))
                            && elements.iter().all(|(known, _)| known != element)
                        {
                            elements.push((element.clone(), expr.dtype));
                        }
                    });
                }
            });
            let (span, origin) = (it.value.span, it.origin.clone());
            for (element, dtype) in elements {
                let wanted = names.arrays[element.array].name.clone().unwrap_or_default();
                let local = names.new_local(&wanted, dtype);
                replace_reads(&mut item, &element, local);
                let value = Expr { kind: ExprKind::Access(Read::Element(element)), dtype, span };
                body.push(Item::Assign(Assign {
                    target: Target::Local(local),
                    value,
                    origin: origin.clone(),
                }));
            }
        }
        body.push(item);
    }
}

/// Whether a condition differs from point to point along `variable`, behind the statements `before` of its loop.
fn tells_points_apart(condition: &Expr<Read>, variable: &Symbol, before: &[Item]) -> bool {
    let mut differs = false;
    condition.accesses(&mut |read| {
        differs |= match read {
            Read::Element(element) => element
                .index
                .iter()
                .any(|at| matches!(at, DimensionIndex::Known(sum) if sum.factor(variable) != 0)),
            Read::Local(local) => any(before, &mut |it| assigns(it, *local)),
            Read::Sum(_) => false,
        };
    });
    differs
}

/// Whether there are assignments and branches alone.
fn is_plain(items: &[Item]) -> bool {
    !any(items, &mut |it| !matches!(it, Item::Assign(_) | Item::If(_)))
}

/// Keeps a stored value in a local, where a later statement reads it.
///
/// ```text
/// t[i, k] = a[i, k] * 2.0                t_1 = a[i, k] * 2.0
/// b[i, k] = t[i, k] + t[i, k - 1]        t[i, k] = t_1
///                                        b[i, k] = t_1 + t[i, k - 1]
/// ```
///
/// Only reads of the very same element change. `t[i, k - 1]` was stored at another point, and stays a read of
/// memory.
fn keep_values(body: &mut Vec<Item>, names: &mut Names<'_>) {
    let mut at = 0;
    while at < body.len() {
        let first = at + 1;
        if let Some((element, end)) = stored_and_read(body, at)
            && let Item::Assign(store) = &mut body[at]
        {
            let local = if let ExprKind::Access(Read::Local(local)) = store.value.kind {
                local
            } else {
                let wanted = names.arrays[element.array].name.clone().unwrap_or_default();
                let local = names.new_local(&wanted, store.value.dtype);
                let kept = Expr { kind: ExprKind::Access(Read::Local(local)), ..store.value.clone() };
                let value = std::mem::replace(&mut store.value, kept);
                let origin = store.origin.clone();
                body.insert(at, Item::Assign(Assign { target: Target::Local(local), value, origin }));
                at += 1;
                local
            };
            body[at + 1..].iter_mut().take(end - first).for_each(|it| replace_reads(it, &element, local));
        }
        at += 1;
    }
}

/// Returns the element that a statement stores, and the end of the statements behind it that read the stored
/// value. Returns none if no statement reads it.
///
/// Elements that are found at run time stay in memory, and so do values that are no floats. A local that is
/// assigned again is not used, since it does not keep the stored value.
fn stored_and_read(body: &[Item], at: usize) -> Option<(Element, usize)> {
    let Item::Assign(Assign { target: Target::Element(element), value, .. }) = &body[at] else { return None };
    let is_known = element.index.iter().all(|it| matches!(it, DimensionIndex::Known(_)));
    if !is_known || !value.dtype.is_float() {
        return None;
    }
    if let ExprKind::Access(Read::Local(local)) = value.kind
        && any(&body[at + 1..], &mut |it| assigns(it, local))
    {
        return None;
    }
    let writes = |item: &Item| {
        any(
            std::slice::from_ref(item),
            &mut |it| matches!(it, Item::Assign(Assign { target: Target::Element(it), .. }) if it.array == element.array),
        )
    };
    // The next statement that writes the array reads before it does so, if it is one assignment.
    let end = match body[at + 1..].iter().position(writes).map(|it| at + 1 + it) {
        Some(next) if matches!(body[next], Item::Assign(_)) => next + 1,
        Some(next) => next,
        None => body.len(),
    };
    let mut is_read = false;
    walk(&body[at + 1..end], &mut |item| {
        item.each_expr(&mut |expr| {
            expr.accesses(&mut |it| is_read |= matches!(it, Read::Element(it) if it == element));
        });
    });
    is_read.then(|| (element.clone(), end))
}

/// Whether an item itself assigns a local.
fn assigns(item: &Item, local: Handle<Local>) -> bool {
    matches!(item, Item::Assign(Assign { target: Target::Local(it), .. }) if *it == local)
}

/// Drops each store that another one overwrites before its value is read. The read may be at this point, or
/// in another lane of the loop over this variable.
fn drop_overwritten(body: &mut Vec<Item>, lanes: Option<&Symbol>, names: &Names<'_>) {
    for at in (0..body.len()).rev() {
        if is_overwritten(body, at, lanes, names) {
            body.remove(at);
        }
    }
}

/// Whether the next store to the same element comes before any read of the value that this one stores. In
/// lanes, a point beside may read in between. So a read must be of another element at any two points.
fn is_overwritten(body: &[Item], at: usize, lanes: Option<&Symbol>, names: &Names<'_>) -> bool {
    let Item::Assign(Assign { target: Target::Element(element), .. }) = &body[at] else { return false };
    let stores = |item: &Item| matches!(item, Item::Assign(Assign { target: Target::Element(it), .. }) if it == element);
    let Some(next) = body[at + 1..].iter().position(stores) else { return false };
    let ring = names.arrays[element.array].ring;
    let is_apart = |read: &Element| match lanes {
        Some(variable) => element.is_apart_from_all(read, ring, variable),
        None => element.is_apart_from(read, ring),
    };
    let may_read = |read: &Element| read.array == element.array && !is_apart(read);
    let mut is_read = false;
    walk(&body[at + 1..=at + 1 + next], &mut |item| {
        item.each_expr(&mut |expr| {
            expr.accesses(&mut |it| is_read |= matches!(it, Read::Element(it) if may_read(it)));
        });
    });
    let is_known = element.index.iter().all(|it| matches!(it, DimensionIndex::Known(_)));
    is_known && !is_read
}

/// Moves the store of a local behind the statements that read other elements of the array. Else such a read
/// waits for the store, since a compiler cannot tell them apart.
fn read_before_storing(body: &mut Vec<Item>, names: &Names<'_>) {
    for at in (0..body.len()).rev() {
        let Item::Assign(Assign { target: Target::Element(stored), value, .. }) = &body[at] else { continue };
        let ExprKind::Access(Read::Local(local)) = value.kind else { continue };
        let ring = names.arrays[stored.array].ring;
        // The last statement that reads the array, as far as the store may go. It must not pass a statement
        // that touches its element, changes the local, or is no assignment.
        let mut last = at;
        for (place, item) in body.iter().enumerate().skip(at + 1) {
            let Item::Assign(it) = item else { break };
            let (mut is_free, mut is_read) = (!assigns(item, local), false);
            let mut meet = |other: &Element| {
                is_free &= other.array != stored.array || stored.is_apart_from(other, ring);
                is_read |= other.array == stored.array;
            };
            it.value.accesses(&mut |read| {
                if let Read::Element(other) = read {
                    meet(other);
                }
            });
            if let Target::Element(other) = &it.target {
                is_free &= other.array != stored.array || stored.is_apart_from(other, ring);
            }
            if !is_free {
                break;
            }
            if is_read {
                last = place;
            }
        }
        if last > at {
            let store = body.remove(at);
            body.insert(last, store);
        }
    }
}

/// Reads a local where an element was read.
fn replace_reads(item: &mut Item, element: &Element, local: Handle<Local>) {
    let replace = |expr: &mut Expr<Read>| {
        expr.accesses_mut(&mut |it| {
            if matches!(it, Read::Element(it) if it == element) {
                *it = Read::Local(local);
            }
        });
    };
    match item {
        Item::Assign(it) => replace(&mut it.value),
        Item::If(it) => it.branches.iter_mut().for_each(|it| replace(&mut it.condition)),
        _ => {}
    }
    item.blocks_mut().into_iter().flatten().for_each(|it| replace_reads(it, element, local));
}

/// Why a branch is no choice.
///
/// Each reason is work that lanes would do in addition. They would compute arms for nothing, store elements
/// that no point stores, or read elements that need not exist.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Blocked {
    TooManyArms,
    WritesMemory,
    Guards,
}

impl Blocked {
    fn reason(self) -> &'static str {
        match self {
            Blocked::TooManyArms => "it has too many arms to compute all of them at each point",
            Blocked::WritesMemory => "an arm does more than assign local values",
            Blocked::Guards => "its condition is the same for all points, or tells where an element exists",
        }
    }
}

/// A branch whose arms assign locals alone.
struct ConvertibleBranch {
    /// The locals that some arm assigns, in the order of their first assignments.
    targets: Vec<Handle<Local>>,
}

impl ConvertibleBranch {
    /// A branch as a choice, behind the statements `before` in the loop over `variable`.
    ///
    /// All arms will be evaluated. So a condition must tell points apart by stored values. A condition on
    /// positions is refused, since it may guard elements that need not exist.
    fn of(branches: &If, before: &[Item], variable: &Symbol) -> Result<Self, Blocked> {
        if branches.branches.len() >= MOST_ARMS {
            return Err(Blocked::TooManyArms);
        }
        let mut targets = Vec::new();
        for item in branches.branches.iter().flat_map(|it| &it.body).chain(&branches.otherwise) {
            let Item::Assign(Assign { target: Target::Local(local), .. }) = item else {
                return Err(Blocked::WritesMemory);
            };
            if !targets.contains(local) {
                targets.push(*local);
            }
        }
        for branch in &branches.branches {
            let mut is_fit = tells_points_apart(&branch.condition, variable, before);
            branch.condition.walk(&mut |it| {
                let ExprKind::Access(read) = &it.kind else { return };
                is_fit &= it.dtype != DType::Bool;
                is_fit &= match read {
                    Read::Element(element) => {
                        element.index.iter().all(|it| matches!(it, DimensionIndex::Known(_)))
                    }
                    Read::Local(local) => !targets.contains(local),
                    Read::Sum(_) => false,
                };
            });
            if !is_fit {
                return Err(Blocked::Guards);
            }
        }
        if targets.is_empty() { Err(Blocked::WritesMemory) } else { Ok(Self { targets }) }
    }

    /// Appends the arms, and the choices between the values that they assign.
    fn make(self, branches: If, items: &mut Vec<Item>, names: &mut Names<'_>) {
        let Some(origin) = branches.branches.first().map(|it| it.origin.clone()) else { return };
        let mut conditions = Vec::new();
        let mut arms = Vec::new();
        for Branch { condition, body, origin } in branches.branches {
            conditions.push(if self.targets.len() > 1 {
                let local = names.new_local("holds", DType::Bool);
                let read = Expr { kind: ExprKind::Access(Read::Local(local)), ..condition.clone() };
                items.push(Item::Assign(Assign { target: Target::Local(local), value: condition, origin }));
                read
            } else {
                condition
            });
            arms.push(self.arm(body, items, names));
        }
        let last = self.arm(branches.otherwise, items, names);
        let span = conditions[0].span;
        let read = |local: Handle<Local>, dtype: DType| Expr {
            kind: ExprKind::Access(Read::Local(local)),
            dtype,
            span,
        };
        let dtypes: Vec<DType> = self.targets.iter().map(|&it| names.locals[it].dtype).collect();
        let of_arm = |arm: &BTreeMap<Handle<Local>, Expr<Read>>, at: usize| {
            let target = self.targets[at];
            arm.get(&target).cloned().unwrap_or_else(|| read(target, dtypes[at]))
        };
        // For each target: its value if none of the conditions so far holds, and how many choices it takes.
        let mut values: Vec<Expr<Read>> = (0..self.targets.len()).map(|at| of_arm(&last, at)).collect();
        let mut choices = Vec::new();
        let mut to_come = vec![0_usize; values.len()];
        for (condition, arm) in conditions.iter().zip(&arms).rev() {
            for (at, n) in to_come.iter_mut().enumerate() {
                let then = of_arm(arm, at);
                if *n > 0 || !then.is_same(&values[at]) {
                    choices.push((at, condition, then));
                    *n += 1;
                }
            }
        }
        // Each statement makes one choice, and choices by one condition stand side by side. So a compiler
        // needs one mask for each condition, and none for combinations of them.
        let mut assign = |at: usize,
                          local: Handle<Local>,
                          value: Expr<Read>,
                          values: &mut Vec<Expr<Read>>| {
            values[at] = read(local, dtypes[at]);
            items.push(Item::Assign(Assign { target: Target::Local(local), value, origin: origin.clone() }));
        };
        for (at, condition, then) in choices {
            to_come[at] -= 1;
            let target = self.targets[at];
            let is_last = to_come[at] == 0;
            let wanted = names.locals[target].name.clone();
            let local = if is_last { target } else { names.new_local(&wanted, dtypes[at]) };
            let (condition, then) = (Box::new(condition.clone()), Box::new(then));
            let otherwise = Box::new(values[at].clone());
            let kind = ExprKind::Ternary { condition, then, otherwise };
            assign(at, local, Expr { kind, dtype: dtypes[at], span }, &mut values);
        }
        for (at, &target) in self.targets.iter().enumerate() {
            if !matches!(values[at].kind, ExprKind::Access(Read::Local(local)) if local == target) {
                assign(at, target, values[at].clone(), &mut values);
            }
        }
    }

    /// Appends the statements of an arm, under new names; returns the values that it assigns.
    fn arm(
        &self,
        body: Vec<Item>,
        items: &mut Vec<Item>,
        names: &mut Names<'_>,
    ) -> BTreeMap<Handle<Local>, Expr<Read>> {
        let mut assigned: BTreeMap<Handle<Local>, Expr<Read>> = BTreeMap::new();
        for item in body {
            let Item::Assign(Assign { target: Target::Local(target), mut value, origin }) = item else {
                continue;
            };
            replace_locals(&mut value, &assigned);
            let is_simple = match value.kind {
                ExprKind::Literal(_) => true,
                ExprKind::Access(Read::Local(local)) => !self.targets.contains(&local),
                _ => false,
            };
            let kept = if is_simple {
                value
            } else {
                let wanted = names.locals[target].name.clone();
                let local = names.new_local(&wanted, value.dtype);
                let kept = Expr { kind: ExprKind::Access(Read::Local(local)), ..value.clone() };
                items.push(Item::Assign(Assign { target: Target::Local(local), value, origin }));
                kept
            };
            assigned.insert(target, kept);
        }
        assigned
    }
}

/// Puts values in the place of locals.
fn replace_locals(expr: &mut Expr<Read>, values: &BTreeMap<Handle<Local>, Expr<Read>>) {
    if let ExprKind::Access(Read::Local(local)) = &expr.kind {
        if let Some(value) = values.get(local) {
            expr.kind = value.kind.clone();
        }
        return;
    }
    expr.operands_mut().into_iter().for_each(|it| replace_locals(it, values));
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::super::tests::{c, check};

    #[test]
    fn what_arms_read_is_read_before_where_the_choice_differs_from_point_to_point() {
        check(
            super::NAME,
            c(0),
            "  for i in [0, I) parallel simd:
    b[i, j, k] = s * (a[i - 1, j, k] if a[i, j, k] > s else a[i + 1, j, k])
",
            &expect![[r#"
                field p: float64[K] shift [0] along K given unused
                local a_1: float64
                local a_2: float64
                function step_1_at(k, j) of step 1:
                  for i in [0, I) parallel simd:
                    a_1 = a[i - 1, j, k]
                    a_2 = a[i + 1, j, k]
                    b[i, j, k] = s * (a_1 if a[i, j, k] > s else a_2)
            "#]],
        );
        check(
            super::NAME,
            c(0),
            "  for i in [0, I) parallel simd:
    b[i, j, k] = a[i - 1, j, k] if s > 0.0 else a[i + 1, j, k]
",
            &expect![[r#"
                field p: float64[K] shift [0] along K given unused
                function step_1_at(k, j) of step 1:
                  for i in [0, I) parallel simd:
                    b[i, j, k] = a[i - 1, j, k] if s > 0.0 else a[i + 1, j, k]
            "#]],
        );
    }

    #[test]
    fn a_branch_by_what_is_stored_at_the_point_is_a_choice() {
        check(
            super::NAME,
            c(0),
            "  for i in [0, I) parallel simd:
    if a[i, j, k] > s:
      x = a[i - 1, j, k] + 1.0
      x = x * 2.0
    elif a[i, j, k] > 0.0:
      x = 0.0
    else:
      x = a[i + 1, j, k] - 1.0
    b[i, j, k] = x
",
            &expect![[r#"
                field p: float64[K] shift [0] along K given unused
                local x_1: float64
                local x_2: float64
                local x_3: float64
                local x_4: float64
                function step_1_at(k, j) of step 1:
                  for i in [0, I) parallel simd:
                    x_1 = a[i - 1, j, k] + 1.0
                    x_2 = x_1 * 2.0
                    x_3 = a[i + 1, j, k] - 1.0
                    x_4 = 0.0 if a[i, j, k] > 0.0 else x_3
                    x = x_2 if a[i, j, k] > s else x_4
                    b[i, j, k] = x
                # the branch is a choice between values that all lanes compute
            "#]],
        );
    }

    #[test]
    fn what_guards_an_element_stays_a_branch() {
        check(
            super::NAME,
            c(0),
            "  for i in [0, I) parallel simd:
    x = 0.0
    if i > 0:
      x = a[i - 1, j, k]
    if s > 0.0:
      x = x + a[i, j, k]
    if a[i, j, k] > 0.0:
      b[i, j, k] = x
",
            &expect![[r#"
                field p: float64[K] shift [0] along K given unused
                function step_1_at(k, j) of step 1:
                  for i in [0, I) parallel simd:
                    x = 0.0
                    if i > 0:
                      x = a[i - 1, j, k]
                    if s > 0.0:
                      x = x + a[i, j, k]
                    if a[i, j, k] > 0.0:
                      b[i, j, k] = x
                # the branch stays: its condition is the same for all points, or tells where an element exists
                # the branch stays: its condition is the same for all points, or tells where an element exists
                # the branch stays: an arm does more than assign local values
            "#]],
        );
    }

    #[test]
    fn what_is_stored_and_overwritten_goes_where_nothing_reads_it() {
        check(
            super::NAME,
            c(0),
            "  for i in [0, I) parallel simd:
    b[i, j, k] = a[i, j, k]
    u[i, j, k] = b[i - 1, j, k]
    b[i, j, k] = u[i, j, k] + 2.0
    b[i, j, k] = 3.0
    b[i, j, k] = 4.0 if a[i, j, k] > 0.0 else 5.0
",
            &expect![[r#"
                field p: float64[K] shift [0] along K given unused
                local u_1: float64
                function step_1_at(k, j) of step 1:
                  for i in [0, I) parallel simd:
                    b[i, j, k] = a[i, j, k]
                    u_1 = b[i - 1, j, k]
                    u[i, j, k] = u_1
                    b[i, j, k] = 4.0 if a[i, j, k] > 0.0 else 5.0
            "#]],
        );
        // At another level, nothing was stored here.
        check(
            super::NAME,
            c(0),
            "  for k in [1, K) ascending:
    for i in [0, I) parallel simd:
      u[i, j, k] = a[i, j, k]
      b[i, j, k] = 2.0
      u[i, j, k] = u[i, j, k] - u[i, j, k - 1]
",
            &expect![[r#"
                field p: float64[K] shift [0] along K given unused
                local u_1: float64
                function step_1_at(j) of step 1:
                  for k in [1, K) ascending:
                    for i in [0, I) parallel simd:
                      u_1 = a[i, j, k]
                      b[i, j, k] = 2.0
                      u[i, j, k] = u_1 - u[i, j, k - 1]
            "#]],
        );
    }

    #[test]
    fn what_is_stored_and_read_again_is_a_local() {
        check(
            super::NAME,
            c(0),
            "  for i in [0, I) parallel simd:
    b[i, j, k] = a[i, j, k] + 1.0
    u[i, j, k] = b[i, j, k] * b[i, j, k]
    b[i, j, k] = b[i, j, k] + u[i - 1, j, k]
",
            &expect![[r#"
                field p: float64[K] shift [0] along K given unused
                local b_1: float64
                function step_1_at(k, j) of step 1:
                  for i in [0, I) parallel simd:
                    b_1 = a[i, j, k] + 1.0
                    u[i, j, k] = b_1 * b_1
                    b[i, j, k] = b_1 + u[i - 1, j, k]
            "#]],
        );
    }

    #[test]
    fn a_row_is_read_before_another_one_is_stored() {
        check(
            super::NAME,
            c(0),
            "  for i in [0, I) parallel simd:
    u[i, j + 1, k] = a[i, j, k] * 2.0
    b[i, j, k] = u[i, j + 1, k] - u[i, j, k]
",
            &expect![[r#"
                field p: float64[K] shift [0] along K given unused
                local u_1: float64
                function step_1_at(k, j) of step 1:
                  for i in [0, I) parallel simd:
                    u_1 = a[i, j, k] * 2.0
                    b[i, j, k] = u_1 - u[i, j, k]
                    u[i, j + 1, k] = u_1
            "#]],
        );
    }
}
