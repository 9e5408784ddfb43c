//! Keeps values at hand that a sweep writes into a field and reads again a level later.

use super::{PassCx, Target, named_at};
use crate::entity::Handle;
use crate::schedule::analysis::accesses::Accesses;
use crate::schedule::nodes::{Container, ContainerKind, Loop, Node, Order, Tree};
use crate::schedule::step::Step;
use crate::schedule::transform::Path;
use crate::schedule::transform::copy;
use crate::space::Axis;
use crate::space::names::of_stencil;

pub const NAME: &str = "schedule/copy-results";

/// Gives sweeps inside of loops over rows two levels of their own for the values that they write into a field
/// and read again.
///
/// - **Precondition**: a valid schedule tree whose loops are in their final order, for a machine with vectors and
///   rows that lie side by side.
/// - **Effect**: temporaries of two levels, and fields that are only written.
/// - **Legality**: [`copy::copy_results`], where two levels of the copy will do.
/// - **Why**: a large field that nobody reads is stored past the caches. It is then not fetched before, which
///   takes a sixth off the bytes of a tridiagonal solver.
pub fn copy_results(tree: &mut Tree, cx: &mut PassCx) {
    let Target { machine: Some(_), has_vectors: true, contiguous: Axis::I, .. } = cx.options else { return };
    let mut candidates: Vec<(Path, Handle<Container>)> = Vec::new();
    tree.each_loop(&mut |path, it| {
        if it.axis != Axis::K {
            candidates.extend(results(tree, it).into_iter().map(|field| (path.clone(), field)));
        }
    });
    for (owner, field) in candidates {
        let Some(uses) = copy::small_copy(tree, &owner, field) else { continue };
        if !cx.may_change() {
            return;
        }
        let origin = tree.node(&owner).and_then(Node::first_origin).cloned();
        let (name, at) = (tree.containers[field].name.clone(), named_at(tree, cx, &owner));
        copy::carry_out(tree, field, &uses);
        cx.applied(format!("`{}` is computed in two levels that stay at hand", of_stencil(&name)), &origin);
        tree.steps.extend(at.map(|owner| Step::Copy { container: name, owner }));
    }
}

/// The fields that a sweep right inside a loop writes and reads.
fn results(tree: &Tree, it: &Loop) -> Vec<Handle<Container>> {
    let is_sweep =
        |node: &&Node| matches!(node, Node::Loop(it) if it.axis == Axis::K && it.order != Order::Parallel);
    let mut found = Vec::new();
    for sweep in it.children.iter().filter(is_sweep) {
        let all = Accesses::of(std::slice::from_ref(sweep));
        for field in all.iter().filter(|it| it.role.is_write()).map(|it| it.access.container) {
            let is_field = matches!(tree.containers[field].kind, ContainerKind::Field { .. });
            let is_read = all.has_read_of(field);
            if is_field && is_read && !found.contains(&field) {
                found.push(field);
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;
    use crate::schedule::passes::tests::after;

    #[test]
    fn a_result_that_the_next_level_reads_stays_at_hand() {
        let loops = "
for j in [0, J) parallel:
  for k in [0, 1) ascending:
    for i in [0, I) parallel:
      b[i, j, k] = a[i + 1, j + 1, k]
  for k in [1, K) ascending:
    for i in [0, I) parallel:
      b[i, j, k] = b[i, j, k - 1] + a[i + 1, j + 1, k]
";
        expect![[r#"
            temporary b_1: float64[I, J, K] shift [0, 0, 0] heap

            for j in [0, J) parallel:
              for k in [0, 1) ascending:
                for i in [0, I) parallel:
                  b_1[i, j, k] = a[i + 1, j + 1, k]
                  b[i, j, k] = b_1[i, j, k]
              for k in [1, K) ascending:
                for i in [0, I) parallel:
                  b_1[i, j, k] = b_1[i, j, k - 1] + a[i + 1, j + 1, k]
                  b[i, j, k] = b_1[i, j, k]
            applied: `b` is computed in two levels that stay at hand
        "#]]
        .assert_eq(&after(loops, copy_results, Target::CPU));
        // On a GPU, and where rows do not lie side by side, nothing goes past the caches.
        let untouched = |target| assert!(!after(loops, copy_results, target).contains("b_1"));
        untouched(Target::GPU);
        untouched(Target { contiguous: Axis::K, ..Target::CPU });
    }
}
