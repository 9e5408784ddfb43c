//! Splits loops at the bounds of regions, or leaves the test where that is cheaper.

use std::collections::BTreeSet;

use super::{PassCx, named_at};
use crate::schedule::analysis::cost::{End, sizes, value};
use crate::schedule::nodes::{Loop, Node, Order, Tree};
use crate::schedule::step::Step;
use crate::schedule::transform::Path;
use crate::schedule::transform::peel::{bounds_of, peel_regions as peel};
use crate::space::{Axis, Bound};

pub const NAME: &str = "schedule/peel-regions";

/// Peels the regions off loops over rows and columns where the long piece is worth the short ones.
///
/// - **Precondition**: a valid schedule tree whose loops are in their final order.
/// - **Effect**: pieces of loops, each with the statements that run there.
/// - **Legality**: the loop has no order.
/// - **Why**: without a test at each point a loop runs in lanes; but each piece is a copy of the code, so a loop
///   with many bounds, or a short one, keeps its tests.
pub fn peel_regions(tree: &mut Tree, cx: &mut PassCx) {
    let Some(machine) = cx.options.machine.clone() else { return };
    for axis in [Axis::J, Axis::I] {
        let mut loops = Vec::new();
        tree.each_loop(&mut |path, it| {
            if it.axis == axis && it.variable.name() == axis.position_name() && it.order == Order::Parallel {
                let mut cuts = BTreeSet::new();
                it.children.iter().for_each(|it| bounds_of(it, axis, &mut cuts));
                if !cuts.is_empty() {
                    loops.push((path.clone(), cuts, statements(it)));
                }
            }
        });
        let mut ranges = sizes(&machine);
        for axis in Axis::ALL {
            let n = machine.domain[axis.index()];
            ranges.insert(crate::space::names::tile(axis), (n / 2, n / 2));
        }
        // From the last, so that the places of those before stay.
        for (path, cuts, size) in loops.into_iter().rev() {
            let Some(it) = tree.loop_at(&path) else { continue };
            let length = value(&it.end, &ranges, End::Greatest) - value(&it.start, &ranges, End::Least);
            match worth(length, &cuts, size) {
                Ok(()) if cx.may_change() => carry_out(tree, cx, &path),
                Ok(()) => {}
                Err(why) => cx.missed(why, tree.node(&path).and_then(Node::first_origin)),
            }
        }
    }
}

/// Whether the pieces are worth their code.
fn worth(length: i64, cuts: &BTreeSet<Bound>, size: usize) -> Result<(), String> {
    let pieces = cuts.len() + 1;
    if length < 4 * i64::try_from(pieces).unwrap_or(i64::MAX) {
        return Err(format!("regions stay tests: {pieces} pieces of {length} positions would all be short"));
    }
    if pieces * size > MOST_STATEMENTS {
        return Err(format!("regions stay tests: {pieces} pieces of {size} statements would be much code"));
    }
    Ok(())
}

/// As many statements as all pieces of a loop together may have.
const MOST_STATEMENTS: usize = 120;

fn statements(it: &Loop) -> usize {
    let mut n = 0;
    for child in &it.children {
        child.walk(&mut |it| n += usize::from(matches!(it, Node::Assign(_))));
    }
    n
}

fn carry_out(tree: &mut Tree, cx: &mut PassCx, path: &Path) {
    let at = named_at(tree, cx, path);
    let origin = tree.node(path).and_then(Node::first_origin).cloned();
    match peel(tree, path) {
        Ok(()) => {
            tree.steps.extend(at.map(Step::Peel));
            cx.applied("regions are pieces of the loop, and no tests inside of it", &origin);
        }
        Err(refusal) => cx.missed(format!("regions stay tests: {refusal}"), &origin),
    }
}
