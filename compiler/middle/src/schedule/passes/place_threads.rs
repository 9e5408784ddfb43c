//! Gives the outermost independent loops to threads.

use super::{PassCx, named_at};
use crate::schedule::nodes::{Order, Placement, Tree};
use crate::schedule::step::Step;
use crate::schedule::transform::Path;
use crate::schedule::transform::placement::place;

pub const NAME: &str = "schedule/place-threads";

/// Places the outermost parallel loop on every path on threads.
///
/// - **Precondition**: a valid schedule tree whose loops are in their final order.
/// - **Effect**: `Placement::Threads` on at most one loop of every path.
/// - **Legality**: a loop is parallel only where its iterations are independent, which merging keeps.
/// - **Why**: the outermost such loop has the most work for each thread and the fewest barriers.
pub fn place_threads(tree: &mut Tree, cx: &mut PassCx) {
    if !cx.options.has_threads {
        return;
    }
    let mut chosen: Vec<Path> = Vec::new();
    tree.each_loop(&mut |path, it| {
        let is_inside = chosen.iter().any(|outer| path.starts_with(outer));
        if it.order == Order::Parallel && !is_inside {
            chosen.push(path.clone());
        }
    });
    for path in chosen {
        if cx.may_change() && place(tree, &path, Placement::Threads).is_ok() {
            let step = named_at(tree, cx, &path).map(|it| Step::Place(Placement::Threads, it));
            tree.steps.extend(step);
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
        assert_eq!(after(LOOPS, place_threads, target.clone()), after(LOOPS, |_, _| {}, target));
    }
}
