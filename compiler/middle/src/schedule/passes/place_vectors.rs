//! Gives innermost independent loops to vector lanes.

use super::{PassCx, named_at};
use crate::schedule::nodes::{Order, Placement, Tree};
use crate::schedule::step::Step;
use crate::schedule::transform::Path;
use crate::schedule::transform::placement::{may_place, place};

pub const NAME: &str = "schedule/place-vectors";

/// Places each innermost parallel loop over i in vector lanes.
///
/// - **Precondition**: a valid schedule tree whose loops are in their final order.
/// - **Effect**: `Placement::Simd` on loops over i that hold no loop, no `while`, and nothing that can end
///   the run.
/// - **Legality**: the loop is parallel; lanes change no result, since nothing is reassociated. An index that
///   is found at run time is checked, and lanes cannot stop one by one.
/// - **Why**: arrays are contiguous along i.
pub fn place_vectors(tree: &mut Tree, cx: &mut PassCx) {
    if !cx.options.has_vectors {
        return;
    }
    let mut chosen: Vec<Path> = Vec::new();
    tree.each_loop(&mut |path, it| {
        let is_candidate = it.axis == cx.options.contiguous
            && it.order == Order::Parallel
            && it.placement == Placement::Sequential;
        if is_candidate && may_place(tree, path, Placement::Simd).is_ok() {
            chosen.push(path.clone());
        }
    });
    for path in chosen {
        if cx.may_change() && place(tree, &path, Placement::Simd).is_ok() {
            let step = named_at(tree, cx, &path).map(|it| Step::Place(Placement::Simd, it));
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
      if a[i + 1, j + 1, k] > 0.0:
        b[i, j, k] = s
";

    #[test]
    fn an_innermost_loop_over_i_runs_in_lanes() {
        expect![[r#"
            for k in [0, K) parallel:
              for j in [0, J) parallel:
                simd i in [0, I) parallel:
                  if a[i + 1, j + 1, k] > 0.0:
                    b[i, j, k] = s
        "#]]
        .assert_eq(&after(LOOPS, place_vectors, Target::CPU));
    }

    #[test]
    fn other_loops_do_not() {
        // One holds a loop at the point, one another loop, one is on threads, and the last is not over i.
        expect![[r#"
            for k in [0, K) parallel:
              for j in [0, J) parallel:
                for i in [0, I) parallel:
                  if s > 0.0:
                    while b[i, j, k] < s:
                      b[i, j, k] = b[i, j, k] + 1.0

            for j in [0, J) parallel:
              for i in [0, I) parallel:
                for k in [0, K) ascending:
                  p[i, j] = p[i, j] + b[i, j, k]

            for k in [0, K) ascending:
              for j in [0, 1) ascending:
                threads i in [0, I) parallel:
                  p[i, j] = b[i, j, k]

            for k in [0, K) parallel:
              for i in [0, I) parallel:
                for j in [0, J) parallel:
                  b[i, j, k] = 0.0
        "#]]
        .assert_eq(&after(
            "
for k in [0, K) parallel:
  for j in [0, J) parallel:
    for i in [0, I) parallel:
      if s > 0.0:
        while b[i, j, k] < s:
          b[i, j, k] = b[i, j, k] + 1.0
for j in [0, J) parallel:
  for i in [0, I) parallel:
    for k in [0, K) ascending:
      p[i, j] = p[i, j] + b[i, j, k]
for k in [0, K) ascending:
  for j in [0, 1) ascending:
    threads i in [0, I) parallel:
      p[i, j] = b[i, j, k]
for k in [0, K) parallel:
  for i in [0, I) parallel:
    for j in [0, J) parallel:
      b[i, j, k] = 0.0
",
            place_vectors,
            Target::CPU,
        ));
    }

    #[test]
    fn an_index_that_is_checked_stays_out_of_lanes() {
        let check = |statement: &str| {
            let loops = format!(
                "
for k in [0, K) parallel:
  for j in [0, J) parallel:
    for i in [0, I) parallel:
      {statement}
"
            );
            after(&loops, place_vectors, Target::CPU).contains("simd")
        };
        assert!(check("b[i, j, k] = a[i, j, 0]"));
        assert!(!check("b[i, j, k] = a[i, j, k + {2}]"));
        assert!(!check("b[i, j, {2}] = a[i, j, k]"));
        assert!(!check("b[i, j, k] = p[i, j] + a[i, {n[i, {3}]}, k]"));
    }

    #[test]
    fn a_machine_without_lanes_keeps_its_loops() {
        let target = Target { has_vectors: false, ..Target::CPU };
        assert_eq!(after(LOOPS, place_vectors, target.clone()), after(LOOPS, |_, _| {}, target));
    }
}
