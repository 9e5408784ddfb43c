//! Merges neighbouring loops over the same range into one.

use std::fmt;
use std::mem;

use super::PassCx;
use crate::schedule::analysis::dependence::{Distance, conflicts, distance, is_private, touches};
use crate::schedule::nodes::{Container, Loop, Node, Order, Tree};
use crate::space::names::of_stencil;

pub const NAME: &str = "schedule/merge-loops";

/// Merges each loop into the one before it, where legal; then the same inside the merged body.
///
/// - **Precondition** — a valid schedule tree, all loops sequentially placed.
/// - **Effect** — fewer, longer loops; statements keep their order within an iteration.
/// - **Legality** — [`may_merge`]; every refusal becomes a remark.
/// - **Why** — what one loop leaves in the cache, the next one finds there.
pub fn merge_loops(tree: &mut Tree, cx: &mut PassCx) {
    let mut children = mem::take(&mut tree.children);
    merge_siblings(tree, cx, &mut children);
    tree.children = children;
}

fn merge_siblings(tree: &Tree, cx: &mut PassCx, block: &mut Vec<Node>) {
    let mut merged: Vec<Node> = Vec::new();
    for next in mem::take(block) {
        let (Some(Node::Loop(prev)), Node::Loop(it)) = (merged.last_mut(), &next) else {
            merged.push(next);
            continue;
        };
        match may_merge(tree, prev, it) {
            Ok(()) if cx.may_change() => {
                let message = format!("the loop over `{}` continues the one before it", it.variable);
                cx.applied(message, next.first_origin());
                if let Node::Loop(it) = next {
                    prev.children.extend(it.children);
                }
            }
            Ok(()) => merged.push(next),
            Err(blocked) => {
                cx.missed(blocked.to_string(), next.first_origin());
                merged.push(next);
            }
        }
    }
    for node in &mut merged {
        for inner in node.blocks_mut() {
            merge_siblings(tree, cx, inner);
        }
    }
    *block = merged;
}

/// Why two loops stay apart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Blocked {
    RangesDiffer,
    OrdersDiffer,
    /// The second loop reads or writes this at another iteration than the first.
    TouchedBeside(String),
}

impl fmt::Display for Blocked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Blocked::RangesDiffer => f.write_str("the loop before it has another range"),
            Blocked::OrdersDiffer => f.write_str("the loop before it runs in another order"),
            Blocked::TouchedBeside(name) => {
                write!(f, "`{name}` must be finished beside the point before this loop may start")
            }
        }
    }
}

/// Whether iteration n of `next` may run right after iteration n of `prev`.
///
/// In loops without order, both must touch a shared element in the same
/// iteration. In a sweep, `next` may also look back, at what earlier iterations
/// of `prev` have finished: a read at most as far ahead as the write, and the
/// other way round for a value that is still to be read.
fn may_merge(tree: &Tree, prev: &Loop, next: &Loop) -> Result<(), Blocked> {
    if prev.axis != next.axis || prev.start != next.start || prev.end != next.end {
        return Err(Blocked::RangesDiffer);
    }
    if prev.order != next.order {
        return Err(Blocked::OrdersDiffer);
    }
    let (first, second) = (touches(&prev.children), touches(&next.children));
    for (one, other) in conflicts(&first, &second) {
        let container = &tree.containers[one.access.container];
        if is_private(container) {
            continue;
        }
        let blocked = |it: &Container| Err(Blocked::TouchedBeside(of_stencil(&it.name).to_owned()));
        let (one, other) =
            match (distance(one.access, &prev.variable), distance(other.access, &next.variable)) {
                (Distance::Exactly(one), Distance::Exactly(other)) => (one, other),
                _ => return blocked(container),
            };
        // Elements of `prev` must have been touched no later than those of `next`.
        let is_in_order = match prev.order {
            Order::Parallel => one == other,
            Order::Ascending => one >= other,
            Order::Descending => one <= other,
        };
        if !is_in_order {
            return blocked(container);
        }
    }
    Ok(())
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
                missed: the loop before it runs in another order
                missed: the loop before it runs in another order
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
