//! Splits loops at the bounds of regions, or leaves the test where that is cheaper.

use std::collections::BTreeSet;

use super::{PassCx, named_at};
use crate::diag::StmtId;
use crate::schedule::analysis::cost::{Machine, RangeEnd, sizes, value};
use crate::schedule::nodes::{Loop, Node, Order, Tree};
use crate::schedule::step::{Pin, Step};
use crate::schedule::transform::Path;
use crate::schedule::transform::peel::{bounds_of, peel_regions as peel, pieces};
use crate::space::{Axis, Bound, names};

pub const NAME: &str = "schedule/peel-regions";

/// Peels the regions off loops over rows and columns where the long piece is worth the short ones.
///
/// - **Precondition**: a valid schedule tree whose loops are in their final order.
/// - **Effect**: pieces of loops, each with the statements that run there.
/// - **Legality**: the loop has no order.
/// - **Why**: a loop without a test at each point runs in lanes. But each piece is a copy of the code, so a
///   loop with many bounds, or a short one, keeps its tests.
pub fn peel_regions(tree: &mut Tree, cx: &mut PassCx) {
    let Some(machine) = cx.options.machine.clone() else { return };
    // In turned loops the former axis I is K, and its regions are limits.
    let axes = if cx.options.is_turned { [Axis::K, Axis::J] } else { [Axis::J, Axis::I] };
    for axis in axes {
        peel_below(tree, cx, &Path::new(), (&machine, axis));
    }
}

/// Peels the loops over an axis below a node.
pub(super) fn peel_below(tree: &mut Tree, cx: &mut PassCx, below: &Path, (machine, axis): (&Machine, Axis)) {
    let mut loops = Vec::new();
    tree.each_loop(&mut |path, it| {
        if path.starts_with(below)
            && it.axis == axis
            && it.variable.name() == axis.position_name()
            && it.order == Order::Parallel
        {
            let mut cuts = BTreeSet::new();
            it.children.iter().for_each(|it| bounds_of(it, axis, &mut cuts));
            if !cuts.is_empty() {
                loops.push((path.clone(), cuts));
            }
        }
    });
    let mut ranges = sizes(machine);
    for axis in Axis::ALL {
        let n = machine.domain[axis.index()];
        ranges.insert(names::tile(axis), (n / 2, n / 2));
        // A loop that follows a front does all its positions in turn.
        ranges.insert(names::front(axis), (0, n - 1));
    }
    // From the last, so that the places of those before stay.
    for (path, cuts) in loops.into_iter().rev() {
        let Some(it) = tree.loop_at(&path) else { continue };
        let length = value(&it.end, &ranges, RangeEnd::Greatest) - value(&it.start, &ranges, RangeEnd::Least);
        let pinned = pinned(tree, it);
        match pinned.map_or_else(|| worth(it, length, &cuts), |stmt| Err(format!("{stmt} is kept guarded"))) {
            Ok(()) if cx.may_change() => carry_out(tree, cx, &path),
            Ok(()) => {}
            Err(why) => cx.missed(why, tree.node(&path).and_then(Node::first_origin)),
        }
    }
}

/// A statement inside whose regions stay tests.
fn pinned(tree: &Tree, it: &Loop) -> Option<StmtId> {
    let mut found = None;
    for child in it.children.iter().filter(|_| !tree.pins.is_empty()) {
        child.walk(&mut |it| {
            let stmt = it.origin().map(|it| it.stmt);
            found = found.or(stmt.filter(|&it| tree.pins.contains(&Pin::Guarded(it))));
        });
    }
    found
}

/// Whether the pieces are worth their code.
fn worth(it: &Loop, length: i64, cuts: &BTreeSet<Bound>) -> Result<(), String> {
    let pieces = pieces(it).map_err(|it| format!("regions stay tests: {it}"))?;
    // A limit along K may be that of the loop itself.
    let n = if it.axis == Axis::K { pieces.len() } else { cuts.len() + 1 };
    if length < 4 * i64::try_from(n).unwrap_or(i64::MAX) {
        return Err(format!("regions stay tests: {n} pieces of {length} positions would all be short"));
    }
    let whole = statements(&it.children);
    let all: usize = pieces.iter().map(of_piece).sum();
    if all > MOST_STATEMENTS && all > 2 * whole {
        return Err(format!(
            "regions stay tests: {n} pieces would have {all} statements in the place of {whole}"
        ));
    }
    Ok(())
}

/// As many statements as all pieces of a loop together may have, if they are more than twice those of the loop.
const MOST_STATEMENTS: usize = 150;

fn of_piece(node: &Node) -> usize {
    statements(std::slice::from_ref(node))
}

fn statements(nodes: &[Node]) -> usize {
    let mut n = 0;
    for node in nodes {
        node.walk(&mut |it| n += usize::from(matches!(it, Node::Assign(_))));
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
