//! Gives the outermost independent loops to threads.

use super::PassCx;
use crate::schedule::nodes::{Node, Order, Placement, Tree};

pub const NAME: &str = "schedule/place-threads";

/// Places the outermost parallel loop on every path on threads.
///
/// - **Precondition** — a valid schedule tree whose loops are in their final order.
/// - **Effect** — `Placement::Threads` on at most one loop of every path.
/// - **Legality** — a loop is parallel only where its iterations are independent, which merging keeps.
/// - **Why** — the outermost such loop has the most work for each thread and the fewest barriers.
pub fn place_threads(tree: &mut Tree, cx: &mut PassCx) {
    if cx.options.has_threads {
        tree.children.iter_mut().for_each(|it| place(it, cx));
    }
}

fn place(node: &mut Node, cx: &mut PassCx) {
    match node {
        Node::Loop(it) if it.order == Order::Parallel && cx.may_change() => {
            it.placement = Placement::Threads;
        }
        Node::Loop(_) | Node::If(_) | Node::While(_) | Node::Region(_) | Node::Where(_) | Node::Assign(_) => {
            node.blocks_mut().into_iter().flatten().for_each(|it| place(it, cx));
        }
    }
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;
    use crate::schedule::passes::Target;
    use crate::schedule::passes::tests::after;

    const LOOPS: &str = "
for k in [0, K) parallel:
  for j in [0, J) parallel:
    for i in [0, I) parallel:
      t[i, j + 1, k] = a[i, j, k]
for k in [1, K) ascending:
  for j in [0, J) parallel:
    for i in [0, I) parallel:
      t[i, j + 1, k] = t[i, j, k - 1]
  for j in [0, J) parallel:
    for i in [0, I) parallel:
      b[i, j, k] = t[i, j + 2, k]
";

    #[test]
    fn the_outermost_parallel_loop_of_each_path_is_spread() {
        // The sweep is not: its levels depend on each other.
        expect![[r#"
            threads k in [0, K) parallel:
              for j in [0, J) parallel:
                for i in [0, I) parallel:
                  t[i, j + 1, k] = a[i, j, k]

            for k in [1, K) ascending:
              threads j in [0, J) parallel:
                for i in [0, I) parallel:
                  t[i, j + 1, k] = t[i, j, k - 1]
              threads j in [0, J) parallel:
                for i in [0, I) parallel:
                  b[i, j, k] = t[i, j + 2, k]
        "#]]
        .assert_eq(&after(LOOPS, place_threads, Target::CPU));
    }

    #[test]
    fn one_core_keeps_its_loops() {
        let target = Target { has_threads: false, ..Target::CPU };
        assert_eq!(after(LOOPS, place_threads, target), after(LOOPS, |_, _| {}, target));
    }
}
