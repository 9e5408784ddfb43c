//! Loops over rows that may compute some points twice, so that the last vector of a row is a whole one too.

use super::super::nodes::{Assign, DimensionIndex, Element, For, Item, Program, Read, Target};
use super::super::visit::{any, walk};

/// Whether points of a loop may be computed twice.
///
/// The body holds assignments alone, and its locals are the point's own. No point reads an element that some
/// point writes.
///
/// ```text
/// b[i] = a[i] + 1.0          may be done twice: it reads what no point writes
/// a[i] = a[i] + 1.0          may not: the second time would add another 1.0
/// b[i] = a[i]; c[i] = b[i]   may not be told here, though it could
/// ```
#[must_use]
pub fn may_repeat(program: &Program, it: &For) -> bool {
    let is_assigned = |it: &Item| matches!(it, Item::Assign(_) | Item::Declare(_));
    it.body.iter().all(is_assigned) && may_repeat_with_branches(program, it)
}

/// The same for loops whose points have branches too.
///
/// ```text
/// b[i] = a[i]                    may be done twice: both times the branch is taken, or neither
/// if a[i] > 0.0: b[i] = 2.0
/// ```
#[must_use]
pub fn may_repeat_with_branches(program: &Program, it: &For) -> bool {
    let (body, variable) = (&it.body, &it.positions.variable);
    let mut own = Vec::new();
    walk(body, &mut |item| {
        if let Item::Declare(it) = item {
            own.push(it.local);
        }
    });
    let is_kept_apart = |item: &Item| match item {
        Item::Assign(Assign { target: Target::Local(local), .. }) => own.contains(local),
        Item::Assign(_) | Item::Declare(_) | Item::If(_) => true,
        Item::Checked(_)
        | Item::For(_)
        | Item::Strips(_)
        | Item::Launch(_)
        | Item::While(_)
        | Item::Barrier => false,
    };
    if any(body, &mut |item| !is_kept_apart(item)) {
        return false;
    }
    let (mut read, mut written) = (Vec::new(), Vec::new());
    each_element(body, &mut |it, is_written| {
        if is_written { written.push(it.clone()) } else { read.push(it.clone()) }
    });
    let is_known = |it: &Element| it.index.iter().all(|at| matches!(at, DimensionIndex::Known(_)));
    written.iter().all(|one| {
        let ring = program.arrays[one.array].ring;
        let is_same = |other: &Element| other.array == one.array;
        // A vector that repeats some points computes others for the first time. So the elements must differ
        // at any two points of the row.
        let is_apart = |other: &Element| one.is_apart_from_all(other, ring, variable);
        is_known(one)
            && read.iter().filter(|it| is_same(it)).all(is_apart)
            && written.iter().filter(|it| is_same(it)).all(|other| other == one || is_apart(other))
    })
}

/// Calls `each` for the elements that items read or write, at any depth, and tells which.
pub fn each_element(items: &[Item], each: &mut dyn FnMut(&Element, bool)) {
    walk(items, &mut |item| {
        if let Item::Assign(Assign { target: Target::Element(element), .. }) = item {
            each(element, true);
        }
        item.each_expr(&mut |expr| {
            expr.accesses(&mut |read| {
                if let Read::Element(element) = read {
                    each(element, false);
                }
            });
        });
    });
}
