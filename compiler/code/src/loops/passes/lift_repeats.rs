//! Brings each `while` that stands in a branch out of it, where lanes run it in strips.
//!
//! A `while` of all points of a strip stands in the body of the loop itself. One in a branch comes to stand
//! there too, for the points that take the branch. A local keeps whether a point takes it, and the statements
//! around the `while` test that local.
//!
//! ```text
//! if a[i, j, k] > 1.0:                     taken = a[i, j, k] > 1.0
//!   x = a[i, j, k]                         if taken:
//!   while x > 1.0:                           x = a[i, j, k]
//!     x = x / 2.0                          while taken and x > 1.0:
//!   b[i, j, k] = x                           x = x / 2.0
//!                                          if taken:
//!                                            b[i, j, k] = x
//! ```

use super::super::nodes::{Assign, Branch, For, If, Item, Local, Program, Read, Target as Written, While};
use super::super::visit::{any, each_origin};
use super::{Names, PassCx, each_body};
use crate::diag::{Origin, Span};
use crate::entity::Handle;
use crate::expr::{Expr, ExprKind};
use crate::space::Axis;
use crate::target::Divergence;
use crate::types::{BinaryOp, DType, UnaryOp};

/// As options and remarks call it.
pub const NAME: &str = "loops/lift-repeats";

/// Brings each `while` out of the branches around it.
///
/// - **Precondition**: no local is declared.
/// - **Effect**: in loops along rows, a `while` stands in no branch; new locals tell which branches a point takes.
/// - **Legality**: iterations are parallel, and hold no other loop and no index that is checked. A condition
///   is evaluated once, at its old place, and only for points that come to it.
/// - **Why**: the target's [`divergence`](crate::target::Target::divergence).
pub fn lift_repeats(program: &mut Program, cx: &mut PassCx) {
    if !matches!(cx.options.divergence.value, Divergence::Strips { .. }) {
        return;
    }
    each_body(program, &mut |items, names| loops(items, names, cx));
}

fn loops(items: &mut [Item], names: &mut Names<'_>, cx: &mut PassCx) {
    for item in items {
        if let Item::For(it) = item
            && may_be_lifted(it)
        {
            if cx.may_change() {
                let mut origins: Vec<Origin> = Vec::new();
                it.body.iter().filter(|it| is_branch_around(it)).for_each(|it| {
                    each_origin(std::slice::from_ref(it), &mut |it| origins.push(it.clone()));
                });
                let body = std::mem::take(&mut it.body);
                block(body, None, names, &mut it.body);
                let reason = cx.options.divergence.reason;
                cx.applied(format!("the `while` comes out of its branch: {reason}"), &origins);
            }
            continue;
        }
        item.blocks_mut().into_iter().for_each(|it| loops(it, names, cx));
    }
}

/// A branch with a `while` inside.
fn is_branch_around(item: &Item) -> bool {
    matches!(item, Item::If(_)) && any(std::slice::from_ref(item), &mut |it| matches!(it, Item::While(_)))
}

/// Whether a loop along a row has such a branch, and nothing else that keeps its points out of strips.
fn may_be_lifted(it: &For) -> bool {
    let is_plain = !any(&it.body, &mut |item| match item {
        Item::Checked(_) | Item::For(_) | Item::Strips(_) | Item::Launch(_) | Item::Barrier => true,
        // One at a time.
        Item::While(it) => any(&it.body, &mut |it| matches!(it, Item::While(_))),
        _ => false,
    });
    it.axis == Axis::I
        && it.is_parallel
        && it.positions.step == 1
        && is_plain
        && it.body.iter().any(is_branch_around)
}

/// Moves items to `to`, where no branch is around; `taken` tells at run time whether a point comes to them.
fn block(items: Vec<Item>, taken: Option<Handle<Local>>, names: &mut Names<'_>, to: &mut Vec<Item>) {
    for item in items {
        match item {
            Item::If(it) if is_branch_around_any(&it) => branches(it, taken, names, to),
            Item::While(it) => {
                let condition = match taken {
                    Some(taken) => both(local(taken, it.condition.span), it.condition),
                    None => it.condition,
                };
                to.push(Item::While(While { condition, ..it }));
            }
            other => match taken {
                Some(taken) => guarded(other, taken, names, to),
                None => to.push(other),
            },
        }
    }
}

fn is_branch_around_any(it: &If) -> bool {
    let has_while = |items: &[Item]| any(items, &mut |it| matches!(it, Item::While(_)));
    it.branches.iter().any(|it| has_while(&it.body)) || has_while(&it.otherwise)
}

/// Appends each branch behind the one before: a point that took one takes no other.
fn branches(it: If, taken: Option<Handle<Local>>, names: &mut Names<'_>, to: &mut Vec<Item>) {
    names.decisions.forget_branch(it.id);
    // Whether a point comes to the branches at all; empty where all points do.
    let mut open: Vec<Handle<Local>> = taken.into_iter().collect();
    let mut before: Vec<Handle<Local>> = Vec::new();
    let mut last: Option<Origin> = None;
    for Branch { condition, body, origin } in it.branches {
        let mut value = condition;
        for &earlier in before.iter().rev() {
            let span = value.span;
            value = both(not(local(earlier, span)), value);
        }
        for &outer in &open {
            let span = value.span;
            value = both(local(outer, span), value);
        }
        let own = assigned(value, &origin, names, to);
        block(body, Some(own), names, to);
        before.push(own);
        last = Some(origin);
    }
    let (Some(origin), false) = (last, it.otherwise.is_empty()) else { return };
    let span = Span::default();
    let mut all =
        before.iter().map(|&it| not(local(it, span))).chain(open.drain(..).map(|it| local(it, span)));
    let Some(first) = all.next() else { return };
    let value = all.fold(first, |value, it| both(it, value));
    let own = assigned(value, &origin, names, to);
    block(it.otherwise, Some(own), names, to);
}

/// A new local with the value of a condition.
fn assigned(value: Expr<Read>, origin: &Origin, names: &mut Names<'_>, to: &mut Vec<Item>) -> Handle<Local> {
    let own = names.new_local("taken", DType::Bool);
    to.push(Item::Assign(Assign { target: Written::Local(own), value, origin: origin.clone() }));
    own
}

/// Appends an item for the points that come to it, in the branch of the item before if that is for the same
/// points.
fn guarded(item: Item, taken: Handle<Local>, names: &mut Names<'_>, to: &mut Vec<Item>) {
    if let Some(Item::If(last)) = to.last_mut()
        && let [Branch { condition, body, .. }] = last.branches.as_mut_slice()
        && last.otherwise.is_empty()
        && condition.kind == ExprKind::Access(Read::Local(taken))
    {
        body.push(item);
        return;
    }
    let mut origin = None;
    each_origin(std::slice::from_ref(&item), &mut |it| {
        origin.get_or_insert_with(|| it.clone());
    });
    // An item without an origin does nothing.
    let Some(origin) = origin else { return };
    let condition = local(taken, origin.span());
    let branch = Branch { condition, body: vec![item], origin };
    to.push(Item::If(If { id: names.new_branch(), branches: vec![branch], otherwise: Vec::new() }));
}

fn local(it: Handle<Local>, span: Span) -> Expr<Read> {
    Expr { kind: ExprKind::Access(Read::Local(it)), dtype: DType::Bool, span }
}

fn not(it: Expr<Read>) -> Expr<Read> {
    let span = it.span;
    Expr { kind: ExprKind::Unary(UnaryOp::Not, Box::new(it)), dtype: DType::Bool, span }
}

/// Both; the second one is evaluated only where the first is true.
fn both(one: Expr<Read>, other: Expr<Read>) -> Expr<Read> {
    let span = other.span;
    Expr { kind: ExprKind::Binary(BinaryOp::And, Box::new(one), Box::new(other)), dtype: DType::Bool, span }
}
