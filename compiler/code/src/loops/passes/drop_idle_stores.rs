//! Drops stores of values that lie there already.
//!
//! Models fill the corners of a field by a function that hands the field on unchanged elsewhere. Where
//! regions are pieces of loops, all pieces but the corners copy elements onto themselves.
//!
//! ```text
//! for i in [1, I) parallel simd:
//!   r = q[i, j, k]
//!   q[i, j, k] = r
//! ```

use std::collections::BTreeSet;

use super::super::nodes::{
    Assign, Decisions, DimensionIndex, Element, If, Item, Local, Program, Read, Target,
};
use super::super::visit::{any, walk};
use super::{PassCx, each_body};
use crate::entity::Handle;
use crate::expr::ExprKind;

/// As options and remarks call it.
pub const NAME: &str = "loops/drop-idle-stores";

/// Drops the stores, the locals that only they need, and loops and branches in which nothing is left.
///
/// - **Precondition**: locals are not declared yet.
/// - **Effect**: fewer statements.
/// - **Legality**: [`lies_there`]: nothing writes the element between its read and the store.
/// - **Why**: the rest of the field crosses memory twice for nothing.
pub fn drop_idle_stores(program: &mut Program, cx: &mut PassCx) {
    each_body(program, &mut |items, names| {
        if stores(items, cx) {
            unread(items);
            empty(items, names.decisions);
        }
    });
}

/// Drops the stores of a block and of all inside; returns whether there were any.
fn stores(items: &mut Vec<Item>, cx: &mut PassCx) -> bool {
    let mut has_some = false;
    let mut at = 0;
    while let Some(item) = items.get_mut(at) {
        for block in item.blocks_mut() {
            has_some |= stores(block, cx);
        }
        if is_idle(items, at) && cx.may_change() {
            if let Item::Assign(it) = items.remove(at) {
                cx.applied("what is stored lies there already", &[it.origin]);
            }
            has_some = true;
        } else {
            at += 1;
        }
    }
    has_some
}

fn is_idle(items: &[Item], at: usize) -> bool {
    let Item::Assign(Assign { target: Target::Element(stored), value, .. }) = &items[at] else {
        return false;
    };
    match &value.kind {
        ExprKind::Access(Read::Element(read)) => read == stored && is_known(stored),
        ExprKind::Access(Read::Local(local)) => is_known(stored) && lies_there(&items[..at], *local, stored),
        _ => false,
    }
}

fn is_known(element: &Element) -> bool {
    element.index.iter().all(|it| matches!(it, DimensionIndex::Known(_)))
}

/// Whether an element holds the value of a local behind these statements. The last statement that assigns the
/// local must read the element, and nothing behind it may write the array.
fn lies_there(before: &[Item], local: Handle<Local>, stored: &Element) -> bool {
    for item in before.iter().rev() {
        if let Item::Assign(Assign { target: Target::Local(it), value, .. }) = item
            && *it == local
        {
            return matches!(&value.kind, ExprKind::Access(Read::Element(read)) if read == stored);
        }
        let changes = any(std::slice::from_ref(item), &mut |it| match it {
            Item::Assign(Assign { target: Target::Local(it), .. }) => *it == local,
            Item::Assign(Assign { target: Target::Element(it), .. }) => it.array == stored.array,
            _ => false,
        });
        if changes {
            return false;
        }
    }
    false
}

/// Drops the assignments of locals that nothing reads, if their value is an access or a literal.
fn unread(items: &mut Vec<Item>) {
    let mut read = BTreeSet::new();
    walk(items, &mut |item| {
        item.each_expr(&mut |expr| {
            expr.accesses(&mut |it| {
                if let Read::Local(local) = it {
                    read.insert(*local);
                }
            });
        });
    });
    drop_unread(items, &read);
}

fn drop_unread(items: &mut Vec<Item>, read: &BTreeSet<Handle<Local>>) {
    items.retain(|it| match it {
        Item::Assign(Assign { target: Target::Local(local), value, .. }) => {
            read.contains(local) || !matches!(value.kind, ExprKind::Access(_) | ExprKind::Literal(_))
        }
        _ => true,
    });
    for item in items {
        item.blocks_mut().into_iter().for_each(|it| drop_unread(it, read));
    }
}

/// Drops loops and branches in which nothing is left.
fn empty(items: &mut Vec<Item>, decisions: &mut Decisions) {
    for item in items.iter_mut() {
        item.blocks_mut().into_iter().for_each(|it| empty(it, decisions));
    }
    items.retain(|it| match it {
        Item::For(it) => {
            if it.body.is_empty() {
                decisions.forget(it.id);
            }
            !it.body.is_empty()
        }
        Item::If(If { id, branches, otherwise }) => {
            let is_left = !otherwise.is_empty() || branches.iter().any(|it| !it.body.is_empty());
            if !is_left {
                decisions.forget_branch(*id);
            }
            is_left
        }
        _ => true,
    });
}
