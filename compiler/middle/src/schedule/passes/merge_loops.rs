//! Merges neighbouring loops over the same range into one.

use super::{PassCx, named};
use crate::schedule::analysis::summary::Summary;
use crate::schedule::nodes::{Loop, Node, Tree};
use crate::schedule::step::{Pin, Ranges, Step};
use crate::schedule::transform::merge::{common_order, join, keep_values_apart, may_follow, summary};
use crate::schedule::transform::{Path, Refusal};

pub const NAME: &str = "schedule/merge-loops";

/// Merges each loop into the one before it, where legal; then the same inside the merged body.
///
/// - **Precondition**: a valid schedule tree, all loops sequentially placed.
/// - **Effect**: fewer, longer loops; statements keep their order within an iteration.
/// - **Legality**: [`may_merge`](crate::schedule::transform::merge::may_merge); every refusal becomes a remark.
/// - **Why**: the elements that one loop leaves in the cache are there for the next one.
pub fn merge_loops(tree: &mut Tree, cx: &mut PassCx) {
    merge_inside(tree, cx, &mut Path::new());
}

/// Merges the loops right inside the node at `path`, from the first to the last, and then the loops inside of
/// those.
fn merge_inside(tree: &mut Tree, cx: &mut PassCx, path: &mut Path) {
    let mut at = 0;
    let mut so_far = None;
    while let Some(block) = tree.block(path)
        && at + 1 < block.len()
    {
        let (Node::Loop(prev), Node::Loop(next)) = (&block[at], &block[at + 1]) else {
            (at, so_far) = (at + 1, None);
            continue;
        };
        let before = so_far.take().unwrap_or_else(|| summary(tree, prev));
        let after = summary(tree, next);
        let about = block[at + 1].first_origin().cloned();
        let refusal = pinned(tree, next).or_else(|| may_merge(tree, prev, next, (&before, &after)).err());
        match refusal {
            None if cx.may_change() => {
                cx.applied(format!("the loop over `{}` continues the one before it", prev.variable), &about);
                let (first, second) = (named(tree, cx, path, at), named(tree, cx, path, at + 1));
                if let Some((first, second)) = first.zip(second) {
                    tree.steps.push(Step::Merge { first, second, ranges: Ranges::Equal });
                }
                if let Some(block) = tree.block_mut(path)
                    && let (Node::Loop(next), Some(Node::Loop(prev))) =
                        (block.remove(at + 1), block.get_mut(at))
                {
                    join(prev, next);
                }
                let mut both = before;
                both.extend(after);
                so_far = Some(both);
            }
            None => (at, so_far) = (at + 1, Some(after)),
            Some(refusal) => {
                cx.missed(refusal.to_string(), &about);
                (at, so_far) = (at + 1, Some(after));
            }
        }
    }
    for at in 0..tree.block(path).map_or(0, <[Node]>::len) {
        path.push(at);
        merge_inside(tree, cx, path);
        path.pop();
    }
}

/// A statement inside that is to be kept apart.
pub(super) fn pinned(tree: &Tree, next: &Loop) -> Option<Refusal> {
    if tree.pins.is_empty() {
        return None;
    }
    let first = next.children.first()?.first_origin()?;
    tree.pins.contains(&Pin::Apart(first.stmt)).then(|| Refusal::new(format!("{} is kept apart", first.stmt)))
}

/// Whether the second loop may continue the first.
fn may_merge(tree: &Tree, prev: &Loop, next: &Loop, summaries: (&Summary, &Summary)) -> Result<(), Refusal> {
    let order = common_order(prev, next, Ranges::Equal)?;
    keep_values_apart(tree, prev, next)?;
    may_follow(tree, (prev, next), order, summaries)
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;
    use crate::schedule::passes::Target;
    use crate::schedule::passes::tests::after;

    fn check(loops: &str, expected: Expect) {
        expected.assert_eq(&after(loops, merge_loops, Target::CPU));
    }

    #[test]
    fn loops_that_meet_at_the_point_become_one() {
        check(
            "
for k in [0, K) parallel:
  for j in [0, J) parallel:
    for i in [0, I) parallel:
      t[i, j + 1, k] = a[i + 2, j, k]
for k in [0, K) parallel:
  for j in [0, J) parallel:
    for i in [0, I) parallel:
      c = t[i, j + 1, k] * s
      b[i, j, k] = c
for k in [0, K) parallel:
  for j in [0, J) parallel:
    for i in [0, I) parallel:
      b[i, j, k] = b[i, j, k] + a[i + 1, j + 1, k]
",
            expect![[r#"
                for k in [0, K) parallel:
                  for j in [0, J) parallel:
                    for i in [0, I) parallel:
                      t[i, j + 1, k] = a[i + 2, j, k]
                      c = t[i, j + 1, k] * s
                      b[i, j, k] = c
                      b[i, j, k] = b[i, j, k] + a[i + 1, j + 1, k]
                applied: the loop over `k` continues the one before it
                applied: the loop over `k` continues the one before it
                applied: the loop over `j` continues the one before it
                applied: the loop over `j` continues the one before it
                applied: the loop over `i` continues the one before it
                applied: the loop over `i` continues the one before it
            "#]],
        );
    }

    #[test]
    fn loops_of_the_same_one_row_become_one_whatever_they_read() {
        check(
            "
for k in [0, K) parallel:
  for j in [0, 1) parallel:
    for i in [I - 1, I) parallel:
      t[i, j + 1, k] = b[i - 1, j + 2, k]
  for j in [0, 1) parallel:
    for i in [I - 1, I) parallel:
      b[i, j, k] = t[i, j + 1, k]
  for j in [0, 2) parallel:
    for i in [I - 1, I) parallel:
      t[i, j + 1, k] = b[i - 1, j + 2, k]
  for j in [0, 2) parallel:
    for i in [I - 1, I) parallel:
      b[i, j, k] = t[i, j + 1, k]
",
            expect![[r#"
                for k in [0, K) parallel:
                  for j in [0, 1) parallel:
                    for i in [I - 1, I) parallel:
                      t[i, j + 1, k] = b[i - 1, j + 2, k]
                      b[i, j, k] = t[i, j + 1, k]
                  for j in [0, 2) parallel:
                    for i in [I - 1, I) parallel:
                      t[i, j + 1, k] = b[i - 1, j + 2, k]
                  for j in [0, 2) parallel:
                    for i in [I - 1, I) parallel:
                      b[i, j, k] = t[i, j + 1, k]
                applied: the loop over `j` continues the one before it
                missed: the loop before it has another range
                missed: `b` must be finished beside the point before this loop may start
                applied: the loop over `i` continues the one before it
            "#]],
        );
    }

    #[test]
    fn loops_of_different_range_stay_apart() {
        check(
            "
for k in [0, K) parallel:
  for j in [-1, J) parallel:
    for i in [0, I) parallel:
      t[i, j + 1, k] = 1.0
  for j in [0, J) parallel:
    for i in [0, I) parallel:
      b[i, j, k] = 2.0
for k in [1, K) parallel:
  for j in [0, J) parallel:
    for i in [0, I) parallel:
      b[i, j, k] = 3.0
",
            expect![[r#"
                for k in [0, K) parallel:
                  for j in [-1, J) parallel:
                    for i in [0, I) parallel:
                      t[i, j + 1, k] = 1.0
                  for j in [0, J) parallel:
                    for i in [0, I) parallel:
                      b[i, j, k] = 2.0

                for k in [1, K) parallel:
                  for j in [0, J) parallel:
                    for i in [0, I) parallel:
                      b[i, j, k] = 3.0
                missed: the loop before it has another range
                missed: the loop before it has another range
            "#]],
        );
    }

    #[test]
    fn loops_of_different_order_stay_apart() {
        check(
            "
for k in [0, K) parallel:
  for j in [0, J) parallel:
    for i in [0, I) parallel:
      t[i, j + 1, k] = 1.0
for k in [0, K) ascending:
  for j in [0, J) parallel:
    for i in [0, I) parallel:
      b[i, j, k] = 2.0
for k in [0, K) descending:
  for j in [0, J) parallel:
    for i in [0, I) parallel:
      b[i, j, k] = 3.0
",
            expect![[r#"
                for k in [0, K) ascending:
                  for j in [0, J) parallel:
                    for i in [0, I) parallel:
                      t[i, j + 1, k] = 1.0
                      b[i, j, k] = 2.0

                for k in [0, K) descending:
                  for j in [0, J) parallel:
                    for i in [0, I) parallel:
                      b[i, j, k] = 3.0
                applied: the loop over `k` continues the one before it
                missed: the loop before it runs in another order
                applied: the loop over `j` continues the one before it
                applied: the loop over `i` continues the one before it
            "#]],
        );
    }

    #[test]
    fn a_neighbour_is_read_after_all_of_them_are_written() {
        check(
            "
for k in [0, K) parallel:
  for j in [0, J) parallel:
    for i in [0, I) parallel:
      t[i, j + 1, k] = a[i + 1, j + 1, k]
for k in [0, K) parallel:
  for j in [0, J) parallel:
    for i in [0, I) parallel:
      b[i, j, k] = t[i, j, k]
",
            expect![[r#"
                for k in [0, K) parallel:
                  for j in [0, J) parallel:
                    for i in [0, I) parallel:
                      t[i, j + 1, k] = a[i + 1, j + 1, k]
                  for j in [0, J) parallel:
                    for i in [0, I) parallel:
                      b[i, j, k] = t[i, j, k]
                applied: the loop over `k` continues the one before it
                missed: `t` must be finished beside the point before this loop may start
            "#]],
        );
    }

    #[test]
    fn a_neighbour_is_overwritten_after_all_have_read_it() {
        check(
            "
for k in [0, K) parallel:
  for j in [0, J) parallel:
    for i in [0, I) parallel:
      if t[i, j + 2, k] > 0.0:
        b[i, j, k] = 1.0
for k in [0, K) parallel:
  for j in [0, J) parallel:
    for i in [0, I) parallel:
      t[i, j + 1, k] = a[i + 1, j + 1, k]
",
            expect![[r#"
                for k in [0, K) parallel:
                  for j in [0, J) parallel:
                    for i in [0, I) parallel:
                      if t[i, j + 2, k] > 0.0:
                        b[i, j, k] = 1.0
                  for j in [0, J) parallel:
                    for i in [0, I) parallel:
                      t[i, j + 1, k] = a[i + 1, j + 1, k]
                applied: the loop over `k` continues the one before it
                missed: `t` must be finished beside the point before this loop may start
            "#]],
        );
    }

    #[test]
    fn a_sweep_may_look_back_and_not_ahead() {
        let sweeps = |order: &str, level: &str| {
            format!(
                "
for k in [1, K - 1) {order}:
  for j in [0, J) parallel:
    for i in [0, I) parallel:
      t[i, j + 1, k] = a[i + 1, j + 1, k]
for k in [1, K - 1) {order}:
  for j in [0, J) parallel:
    for i in [0, I) parallel:
      b[i, j, k] = t[i, j + 1, {level}]
"
            )
        };
        let is_merged = |order: &str, level: &str| {
            let found = after(&sweeps(order, level), merge_loops, Target::CPU);
            let refusal = "missed: `t` must be finished beside the point before this loop may start\n";
            let is_refused = found.ends_with(refusal);
            assert_eq!(is_refused, found.matches("for k").count() == 2, "{found}");
            !is_refused
        };
        for (order, level, expected) in [
            ("ascending", "k - 1", true),
            ("ascending", "k", true),
            ("ascending", "k + 1", false),
            ("descending", "k - 1", false),
            ("descending", "k", true),
            ("descending", "k + 1", true),
            ("parallel", "k - 1", false),
            ("parallel", "k", true),
            ("parallel", "k + 1", false),
        ] {
            assert_eq!(is_merged(order, level), expected, "{order} {level}");
        }
    }

    #[test]
    fn a_level_that_is_found_at_run_time_may_be_any() {
        let loops = |order: &str| {
            format!(
                "
for k in [0, K) {order}:
  for j in [0, J) parallel:
    for i in [0, I) parallel:
      b[i, j, k] = a[i + 1, j + 1, k]
for k in [0, K) {order}:
  for j in [0, J) parallel:
    for i in [0, I) parallel:
      p[i, j] = b[i, j, k + {{n[i, 0]}}]
"
            )
        };
        for order in ["parallel", "ascending", "descending"] {
            let found = after(&loops(order), merge_loops, Target::CPU);
            let refusal = "missed: `b` must be finished beside the point before this loop may start\n";
            assert!(found.ends_with(refusal), "{found}");
            assert_eq!(found.matches("for k").count(), 2, "{found}");
        }
    }

    #[test]
    fn columns_merge_whatever_levels_they_touch_in_a_sweep() {
        check(
            "
for k in [0, K) ascending:
  for j in [0, J) parallel:
    for i in [0, I) parallel:
      b[i, j, k + {n[i, 0]}] = a[i + 1, j + 1, k]
  for j in [0, J) parallel:
    for i in [0, I) parallel:
      p[i, j] = b[i, j, {n[i, 1]}]
",
            expect![[r#"
                for k in [0, K) ascending:
                  for j in [0, J) parallel:
                    for i in [0, I) parallel:
                      b[i, j, k + {n[i, 0]}] = a[i + 1, j + 1, k]
                      p[i, j] = b[i, j, {n[i, 1]}]
                applied: the loop over `j` continues the one before it
                applied: the loop over `i` continues the one before it
            "#]],
        );
    }

    #[test]
    fn elements_that_numbers_tell_apart_do_not_meet() {
        let is_merged = |one: &str, other: &str| {
            let loops = format!(
                "
for k in [0, K) parallel:
  for j in [0, J) parallel:
    for i in [0, I) parallel:
      m[i, {one}] = 1.0
for k in [0, K) parallel:
  for j in [0, J) parallel:
    for i in [0, I) parallel:
      p[i, j] = m[i + 1, {other}]
"
            );
            after(&loops, merge_loops, Target::CPU).matches("for i").count() == 1
        };
        assert!(is_merged("0", "1"));
        assert!(!is_merged("1", "1"));
        assert!(!is_merged("0", "{n[i, 0]}"));
    }

    #[test]
    fn sweeps_that_update_one_plane_stay_apart() {
        check(
            "
for k in [0, K) ascending:
  for j in [0, J) parallel:
    for i in [0, I) parallel:
      p[i, j] = p[i, j] + a[i + 1, j + 1, k]
for k in [0, K) ascending:
  for j in [0, J) parallel:
    for i in [0, I) parallel:
      b[i, j, k] = p[i, j]
",
            expect![[r#"
                for k in [0, K) ascending:
                  for j in [0, J) parallel:
                    for i in [0, I) parallel:
                      p[i, j] = p[i, j] + a[i + 1, j + 1, k]

                for k in [0, K) ascending:
                  for j in [0, J) parallel:
                    for i in [0, I) parallel:
                      b[i, j, k] = p[i, j]
                missed: `p` must be finished beside the point before this loop may start
            "#]],
        );
    }
}
