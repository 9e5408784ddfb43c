//! Moves a sweep over levels inside the loop over rows.

use super::{PassCx, named};
use crate::schedule::nodes::{Loop, Node, Order, Tree};
use crate::schedule::step::Step;
use crate::schedule::transform::swap::{may_swap, swap};
use crate::schedule::transform::{Path, Refusal};
use crate::space::Axis;

pub const NAME: &str = "schedule/sink-sequential-levels";

/// Turns `k { j { ... } }` into `j { k { ... } }`, where `k` has an order and the rows are independent.
///
/// - **Precondition**: a valid schedule tree; loops are merged as far as they can be.
/// - **Effect**: the sweep runs inside each row; nothing else moves.
/// - **Legality**: the sweep holds one loop over rows alone, and no row touches elements that another one
///   writes.
/// - **Why**: rows can then be spread over threads once for the whole sweep, not once for each level. The
///   levels of one row stay in the cache.
pub fn sink_sequential_levels(tree: &mut Tree, cx: &mut PassCx) {
    if cx.options.has_grid {
        return;
    }
    for at in 0..tree.children.len() {
        let node = &tree.children[at];
        let Node::Loop(levels) = node else { continue };
        if levels.axis != Axis::K || levels.order == Order::Parallel {
            continue;
        }
        match may_sink(tree, levels) {
            Ok(()) if cx.may_change() => {
                cx.applied("each row runs through its levels on its own", node.first_origin());
                let at_levels = named(tree, cx, &Path::new(), at);
                if swap(tree, &vec![at]).is_ok() {
                    tree.steps.extend(at_levels.map(Step::Swap));
                }
            }
            Ok(()) => {}
            Err(why) => cx.missed(why.to_string(), node.first_origin()),
        }
    }
}

fn may_sink(tree: &Tree, levels: &Loop) -> Result<(), Refusal> {
    let [Node::Loop(rows)] = levels.children.as_slice() else {
        return Err(Refusal::new("the sweep has several loops over rows, which could not be merged"));
    };
    if rows.axis != Axis::J || rows.order != Order::Parallel {
        return Err(Refusal::new("the loop inside the sweep is not over rows"));
    }
    may_swap(tree, levels)
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;
    use crate::schedule::passes::Target;
    use crate::schedule::passes::tests::after;

    fn check(loops: &str, expected: Expect) {
        expected.assert_eq(&after(loops, sink_sequential_levels, Target::CPU));
    }

    #[test]
    fn a_sweep_of_independent_rows_moves_inside_them() {
        check(
            "
for k in [1, K) ascending:
  for j in [0, J) parallel:
    for i in [0, I) parallel:
      t[i, j + 1, k] = t[i, j + 1, k - 1] + a[i, j + 2, k]
      p[i, j] = p[i, j] + t[i, j + 1, k]
for k in [0, K - 1) descending:
  for j in [0, J) parallel:
    for i in [0, I) parallel:
      b[i, j, k] = b[i, j, k + 1]
",
            expect![[r#"
                for j in [0, J) parallel:
                  for k in [1, K) ascending:
                    for i in [0, I) parallel:
                      t[i, j + 1, k] = t[i, j + 1, k - 1] + a[i, j + 2, k]
                      p[i, j] = p[i, j] + t[i, j + 1, k]

                for j in [0, J) parallel:
                  for k in [0, K - 1) descending:
                    for i in [0, I) parallel:
                      b[i, j, k] = b[i, j, k + 1]
                applied: each row runs through its levels on its own
                applied: each row runs through its levels on its own
            "#]],
        );
    }

    #[test]
    fn levels_without_order_stay_outside() {
        check(
            "
for k in [0, K) parallel:
  for j in [0, J) parallel:
    for i in [0, I) parallel:
      b[i, j, k] = 1.0
",
            expect![[r#"
                for k in [0, K) parallel:
                  for j in [0, J) parallel:
                    for i in [0, I) parallel:
                      b[i, j, k] = 1.0
            "#]],
        );
    }

    #[test]
    fn rows_that_read_each_other_wait_for_each_level() {
        // Row j at level k needs row j - 1 of level k - 1.
        check(
            "
for k in [1, K) ascending:
  for j in [0, J) parallel:
    for i in [0, I) parallel:
      t[i, j + 1, k] = t[i, j, k - 1]
",
            expect![[r#"
                for k in [1, K) ascending:
                  for j in [0, J) parallel:
                    for i in [0, I) parallel:
                      t[i, j + 1, k] = t[i, j, k - 1]
                missed: `t` is touched in several iterations over `j` of one sweep over `k`
            "#]],
        );
    }

    #[test]
    fn a_sweep_of_several_passes_over_the_rows_stays() {
        check(
            "
for k in [1, K) ascending:
  for j in [-1, J) parallel:
    for i in [0, I) parallel:
      t[i, j + 1, k] = b[i, j, k - 1]
  for j in [0, J) parallel:
    for i in [0, I) parallel:
      b[i, j, k] = t[i, j, k]
",
            expect![[r#"
                for k in [1, K) ascending:
                  for j in [-1, J) parallel:
                    for i in [0, I) parallel:
                      t[i, j + 1, k] = b[i, j, k - 1]
                  for j in [0, J) parallel:
                    for i in [0, I) parallel:
                      b[i, j, k] = t[i, j, k]
                missed: the sweep has several loops over rows, which could not be merged
            "#]],
        );
    }

    #[test]
    fn only_a_loop_over_rows_moves_outside() {
        check(
            "
for k in [0, K) ascending:
  for i in [0, I) parallel:
    for j in [0, J) parallel:
      p[i, j] = p[i, j] + 1.0
",
            expect![[r#"
                for k in [0, K) ascending:
                  for i in [0, I) parallel:
                    for j in [0, J) parallel:
                      p[i, j] = p[i, j] + 1.0
                missed: the loop inside the sweep is not over rows
            "#]],
        );
    }
}
