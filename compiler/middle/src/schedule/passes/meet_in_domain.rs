//! Merges neighbouring loops over a row on the compute domain, though some have points beside it.

use super::merge_loops::pinned;
use super::{PassCx, Target, named, named_at};
use crate::diag::Origin;
use crate::schedule::analysis::cost::{self, operations_of};
use crate::schedule::nodes::{Loop, Node, Placement, Tree};
use crate::schedule::step::{Ranges, Step};
use crate::schedule::transform::Path;
use crate::schedule::transform::merge::{may_merge, merge};
use crate::schedule::transform::placement::may_place;
use crate::schedule::transform::split::split;
use crate::schedule::transform::unit::drop_unit_loop;
use crate::space::{Affine, Axis, Size, Symbol, names};

pub const NAME: &str = "schedule/meet-in-domain";

/// Splits fronts at the position from which all their stages run, and merges the loops over a row behind it.
///
/// - **Precondition**: a valid schedule tree whose loops are in their final order, for a machine with vectors and
///   rows that lie side by side.
/// - **Effect**: where stages start one after the other behind a front, the first few rows become a loop of
///   their own. Behind them stages have no limits. There neighbours over a row become one loop on the compute
///   domain, where they may. Points beside the domain stay by themselves. A front without merged loops stays
///   as it is.
/// - **Legality**: [`split`](crate::schedule::transform::split),
///   [`drop_unit_loop`](crate::schedule::transform::unit), and [`merge`](crate::schedule::transform::merge)
///   [in the domain](Ranges::Domain).
/// - **Why**: a row that one loop leaves for the next is read again from the nearest cache, and such reads
///   bound `hdiff`. Rows of the domain start at cache lines, those beside it do not.
pub fn meet_in_domain(tree: &mut Tree, cx: &mut PassCx) {
    let Target { machine: Some(_), has_vectors: true, contiguous: Axis::I, .. } = cx.options else { return };
    let mut fronts: Vec<Path> = Vec::new();
    tree.each_loop(&mut |path, it| {
        if it.variable == names::front(it.axis) {
            fronts.push(path.clone());
        }
    });
    // From the last, so that the places of those before stay.
    for path in fronts.into_iter().rev() {
        let Some((trial, merged)) = rearranged(tree, &path, cx) else { continue };
        if !cx.may_change() {
            return;
        }
        *tree = trial;
        for origin in merged {
            cx.applied("the loop over `i` continues the one before it on the compute domain", &origin);
        }
    }
}

/// Splits the front at `path` and merges the loops behind the split. Returns the tree, and the first
/// statement of each loop that continues the one before it; none where too few merge.
fn rearranged(tree: &Tree, path: &Path, cx: &PassCx) -> Option<(Tree, Vec<Option<Origin>>)> {
    let all_run = all_run_from(tree.loop_at(path)?)?;
    let mut tree = tree.clone();
    // Stages that run once are dropped first, so that they do not hinder those that run once only behind the
    // split.
    drop_stages(&mut tree, path, cx);
    let mut behind = path.clone();
    if tree.loop_at(path)?.start != all_run.clone().into() {
        let at = named_at(&tree, cx, path);
        split(&mut tree, path, &all_run).ok()?;
        tree.steps.extend(at.map(|at| Step::Split { at, position: all_run }));
        *behind.last_mut()? += 1;
        drop_stages(&mut tree, &behind, cx);
    }
    let n_loops = tree.block(&behind)?.len();
    let mut merged = Vec::new();
    // From the last, so that the places of those before stay.
    for (first, count) in groups(&tree, &behind).into_iter().rev() {
        let mut at = first;
        for _ in 1..count {
            let [one, other] = [at, at + 1].map(|at| [behind.as_slice(), &[at]].concat());
            merged.push(tree.node(&other)?.first_origin().cloned());
            let (before, ranges) = (tree.block(&behind)?.len(), merging(&tree, &one, &other)?);
            let names = named(&tree, cx, &behind, at).zip(named(&tree, cx, &behind, at + 1));
            merge(&mut tree, &one, ranges).ok()?;
            tree.steps.extend(names.map(|(first, second)| Step::Merge { first, second, ranges }));
            at += tree.block(&behind)?.len() + 1 - before;
        }
    }
    (merged.len() * LEAST_PART >= n_loops).then_some((tree, merged))
}

/// At least one in so many loops has to go, or the code of the first rows is not worth it.
const LEAST_PART: usize = 3;

/// Drops the loops over rows in which a front's stages run once, from the last to the first.
fn drop_stages(tree: &mut Tree, path: &Path, cx: &PassCx) {
    for at in (0..tree.block(path).map_or(0, <[Node]>::len)).rev() {
        let stage = [path.as_slice(), &[at]].concat();
        let name = named_at(tree, cx, &stage);
        // Refused where the loop may run several times.
        if tree.loop_at(&stage).is_some_and(|it| it.axis != Axis::I) && drop_unit_loop(tree, &stage).is_ok() {
            tree.steps.extend(name.map(Step::Drop));
        }
    }
}

/// The neighbours inside the loop at `path` that may be one loop, by the first and their number.
///
/// Groups are formed from the last: then the values that a statement leaves for those right behind it are
/// still at hand.
fn groups(tree: &Tree, path: &Path) -> Vec<(usize, usize)> {
    let n = tree.block(path).map_or(0, <[Node]>::len);
    let place = |at: usize| [path.as_slice(), &[at]].concat();
    let operations = |(first, count): (usize, usize)| -> f64 {
        let loops = (first..first + count).filter_map(|it| tree.loop_at(&place(it)));
        loops.flat_map(|it| &it.children).map(|it| operations_of(it, &mut cost::Ranges::new())).sum()
    };
    let mut found: Vec<(usize, usize)> = Vec::new();
    for at in (0..n).filter(|it| in_lanes(tree, &place(*it))).rev() {
        let may_join = |&(first, count): &(usize, usize)| {
            first == at + 1
                && operations((at, count + 1)) <= MOST_OPERATIONS
                && (first..first + count).all(|it| merging(tree, &place(at), &place(it)).is_some())
        };
        match found.last_mut().filter(|it| may_join(it)) {
            Some(group) => *group = (at, group.1 + 1),
            None => found.push((at, 1)),
        }
    }
    found.reverse();
    found
}

/// The position of a front from which all of its stages run; none where that is not known.
fn all_run_from(front: &Loop) -> Option<Affine> {
    let Size::Affine(start) = &front.start else { return None };
    let mut from = start.as_constant()?;
    for child in &front.children {
        let Node::Loop(stage) = child else { return None };
        if stage.axis == Axis::I {
            continue;
        }
        let Size::Affine(end) = &stage.end else { return None };
        let ahead = end.distance_from(&Affine::symbol(&front.variable))? - 1;
        let first = match &stage.start {
            Size::Affine(it) => {
                (it.distance_from(&Affine::symbol(&front.variable))? == ahead).then_some(from)?
            }
            Size::Max(parts) => parts.iter().filter_map(constant).max()? - ahead,
            Size::Min(_) => return None,
        };
        from = from.max(first);
    }
    Some(Affine::constant(from))
}

fn constant(size: &Size) -> Option<i64> {
    if let Size::Affine(it) = size { it.as_constant() } else { None }
}

/// Whether lanes may carry out the loop at `path`, which is over a row.
fn in_lanes(tree: &Tree, path: &Path) -> bool {
    tree.loop_at(path).is_some_and(|it| it.axis == Axis::I) && may_place(tree, path, Placement::Simd).is_ok()
}

/// How the loop at `first` and one behind it may merge: whole, or on the compute domain.
fn merging(tree: &Tree, first: &Path, second: &Path) -> Option<Ranges> {
    let (one, other) = (tree.loop_at(first)?, tree.loop_at(second)?);
    if pinned(tree, other).is_some() {
        return None;
    }
    let few_beside = has_few_beside(one) && has_few_beside(other);
    let ranges = [Ranges::Equal, Ranges::Domain].into_iter().filter(|it| *it == Ranges::Equal || few_beside);
    ranges.into_iter().find(|it| may_merge(tree, one, other, *it).is_ok())
}

/// Loops of more operations together stay apart: they wait for arithmetic, not for memory.
const MOST_OPERATIONS: f64 = 16.0;

/// The most points on each side of the compute domain that are computed one by one.
const MOST_BESIDE: i64 = 1;

fn has_few_beside(it: &Loop) -> bool {
    let (Size::Affine(start), Size::Affine(end)) = (&it.start, &it.end) else { return false };
    let domain = Affine::symbol(&Symbol::new(it.axis.name()));
    let beside = [start.as_constant().map(|it| -it), end.distance_from(&domain)];
    beside.iter().all(|it| it.is_some_and(|it| (0..=MOST_BESIDE).contains(&it)))
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;
    use crate::schedule::passes::tests::after;

    /// Two stages behind a front. The second is a loop over `range` that writes `read`.
    fn stages(range: &str, read: &str) -> String {
        let loops = format!(
            "
for k in [0, K) parallel:
  for j_front in [-1, J) ascending:
    for j in [j_front + 1, j_front + 2) parallel:
      for i in [0, I) parallel:
        t[i, j + 1, k] = a[i + 1, j + 1, k]
    for j in [max(0, j_front), j_front + 1) parallel:
      for i in {range} parallel:
        b[i, j, k] = {read}
"
        );
        after(&loops, meet_in_domain, Target::CPU)
    }

    #[test]
    fn stages_of_a_front_are_one_loop_once_all_run() {
        expect![[r#"
            for k in [0, K) parallel:
              for j_front in [-1, 0) ascending:
                for i in [0, I) parallel:
                  t[i, j_front + 2, k] = a[i + 1, j_front + 2, k]
              for j_front in [0, J) ascending:
                for i in [0, I) parallel:
                  t[i, j_front + 2, k] = a[i + 1, j_front + 2, k]
                  b[i, j_front, k] = t[i, j_front + 1, k] - t[i, j_front + 2, k]
            applied: the loop over `i` continues the one before it on the compute domain
        "#]]
        .assert_eq(&stages("[0, I)", "t[i, j + 1, k] - t[i, j + 2, k]"));
    }

    #[test]
    fn a_front_of_which_no_loops_merge_stays_as_it_is() {
        let is_whole = |range: &str, read: &str| stages(range, read).matches("for j_front").count() == 1;
        assert!(!is_whole("[0, I)", "t[i, j + 2, k]"));
        assert!(is_whole("[0, I - 1)", "t[i + 1, j + 2, k]"), "one has not all of the domain");
        assert!(is_whole("[0, I)", &["t[i, j + 2, k]"; 20].join(" * ")), "there is too much to compute");
        assert!(is_whole("[0, I)", "a[i + 1, j + 1, {n[i, 0]}]"), "lanes cannot end a run");
    }
}
