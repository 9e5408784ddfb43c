//! Limits loops over points of a corner to these points.

use super::{PassCx, Target, named_at};
use crate::schedule::nodes::{Loop, Node, Tree};
use crate::schedule::step::{Pin, Step};
use crate::schedule::transform::Path;
use crate::schedule::transform::peel::{peel_regions, pieces};
use crate::space::{Axis, Region, Side};

pub const NAME: &str = "schedule/narrow-loops";

/// A region of more points is no corner.
const MOST_POINTS: i64 = 64;

/// Limits the loops over j and i whose statements all stand in one region of few points to that region.
///
/// - **Precondition**: a valid schedule tree, before loops are merged, for a processor.
/// - **Effect**: a loop over the few positions, without a test, in the place of one over all of them.
/// - **Legality**: [`peel_regions`]; of the pieces, one alone has statements.
/// - **Why**: copies around the corners of a tile are dozens of statements that read rows beside each other. In a front,
///   each of them runs as far ahead as the others need, and tests each row. By themselves they touch a few points.
pub fn narrow_loops(tree: &mut Tree, cx: &mut PassCx) {
    let Target { machine: Some(_), is_turned: false, .. } = cx.options else { return };
    let mut found: Vec<Path> = Vec::new();
    tree.each_loop(&mut |path, it| {
        if is_over(it, Axis::J) && n_points(it).is_some_and(|it| it <= MOST_POINTS) {
            found.push(path.clone());
        }
    });
    for path in found {
        narrow(tree, cx, &path);
        let rows = tree.loop_at(&path).map(|it| it.children.len()).unwrap_or_default();
        for at in 0..rows {
            let inner: Path = path.iter().copied().chain([at]).collect();
            if tree.loop_at(&inner).is_some_and(|it| is_over(it, Axis::I)) {
                narrow(tree, cx, &inner);
            }
        }
    }
}

/// Limits a loop where its statements all stand in one piece of it.
fn narrow(tree: &mut Tree, cx: &mut PassCx, path: &Path) {
    let Some(it) = tree.loop_at(path) else { return };
    if !pieces(it).is_ok_and(|it| it.len() == 1) {
        return;
    }
    let variable = it.variable.clone();
    let origin = tree.node(path).and_then(Node::first_origin).cloned();
    let is_pinned = origin.as_ref().is_some_and(|it| tree.pins.contains(&Pin::Guarded(it.stmt)));
    if is_pinned || !cx.may_change() {
        return;
    }
    let at = named_at(tree, cx, path);
    if peel_regions(tree, path).is_ok() {
        tree.steps.extend(at.map(Step::Peel));
        cx.applied(format!("the loop over `{variable}` has the positions of its region alone"), &origin);
    }
}

fn is_over(it: &Loop, axis: Axis) -> bool {
    it.axis == axis && it.variable.name() == axis.position_name()
}

/// The points of the region in which all statements of a loop stand. `None` where they stand in several regions, or where
/// the size depends on the domain.
fn n_points(it: &Loop) -> Option<i64> {
    let mut regions = Vec::new();
    it.children.iter().for_each(|it| regions_of(it, None, &mut regions));
    let (&first, others) = regions.split_first()?;
    let Region { i, j } = first.filter(|_| others.iter().all(|it| *it == first))?;
    length(i)?.checked_mul(length(j)?)
}

/// The regions of all statements; none for a statement outside.
fn regions_of(node: &Node, region: Option<Region>, found: &mut Vec<Option<Region>>) {
    match node {
        Node::Region(it) => it.children.iter().for_each(|node| regions_of(node, Some(it.region), found)),
        Node::Assign(_) => found.push(region),
        _ => node.children().into_iter().for_each(|it| regions_of(it, region, found)),
    }
}

/// How many positions a side has, where that is the same on all domains.
fn length(side: Side) -> Option<i64> {
    let (start, end) = side.start.zip(side.end)?;
    (start.level == end.level).then(|| i64::from(end.offset) - i64::from(start.offset))
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::super::tests::after;
    use super::*;

    fn check(loops: &str, expected: &Expect) {
        expected.assert_eq(&after(loops, narrow_loops, Target::CPU));
    }

    #[test]
    fn a_loop_around_a_corner_has_its_points_alone() {
        check(
            "
for k in [0, K) parallel:
  for j in [0, J) parallel:
    for i in [0, I) parallel:
      region i[start, start+1) j[end-2, end):
        b[i, j, k] = a[i + 2, j + 1, k]
",
            &expect![[r#"
                for k in [0, K) parallel:
                  for j in [max(J - 2, 0), J) parallel:
                    for i in [0, 1) parallel:
                      b[i, j, k] = a[i + 2, j + 1, k]
                applied: the loop over `j` has the positions of its region alone
                applied: the loop over `i` has the positions of its region alone
            "#]],
        );
    }

    #[test]
    fn an_edge_and_what_stands_beside_a_corner_stay() {
        check(
            "
for k in [0, K) parallel:
  for j in [0, J) parallel:
    for i in [0, I) parallel:
      region i[start, start+1) j[, ):
        b[i, j, k] = a[i + 2, j + 1, k]
for k in [0, K) parallel:
  for j in [0, J) parallel:
    for i in [0, I) parallel:
      region i[start, start+1) j[start, start+1):
        b[i, j, k] = a[i + 2, j + 1, k]
      p[i, j] = 1.0
",
            &expect![[r#"
                for k in [0, K) parallel:
                  for j in [0, J) parallel:
                    for i in [0, I) parallel:
                      region i[start, start+1) j[, ):
                        b[i, j, k] = a[i + 2, j + 1, k]

                for k in [0, K) parallel:
                  for j in [0, J) parallel:
                    for i in [0, I) parallel:
                      region i[start, start+1) j[start, start+1):
                        b[i, j, k] = a[i + 2, j + 1, k]
                      p[i, j] = 1.0
            "#]],
        );
    }
}
