//! Tells what can be done for arrays of other layouts than the one that loops are made for.

use super::PassCx;
use crate::diag::Origin;
use crate::schedule::nodes::Tree;
use crate::schedule::turn;
use crate::space::Axis;

pub const NAME: &str = "schedule/weigh-layouts";

/// Tells whether loops can be turned for fields that lie along k. The layout of fields is known when they are
/// passed. A call then takes the way that is expected to be fastest, and tells it.
///
/// - **Precondition**: loops as they were lowered, for fields along i, on a CPU.
/// - **Effect**: a remark; the tree stays.
/// - **Legality**: [`turn::turned`].
/// - **Why**: users of NumPy arrays see their cost before anything runs.
pub fn weigh_layouts(tree: &mut Tree, cx: &mut PassCx) {
    if cx.options.has_grid || cx.options.contiguous != Axis::I || cx.options.is_turned {
        return;
    }
    let mut origins: Vec<Origin> = Vec::new();
    tree.children.iter().for_each(|it| it.walk(&mut |it| origins.extend(it.origin().cloned())));
    match turn::turned(tree) {
        Ok(_) => cx.applied("for fields along k, lanes can be along k: levels have no order", &origins),
        Err(why) => {
            let message =
                format!("fields along k are copied into rows along i, or read as they lie: {}", why.reason());
            cx.missed(message, &origins);
        }
    }
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::super::Target;
    use super::super::tests::after;
    use super::weigh_layouts;

    fn remarks(loops: &str, target: Target) -> String {
        let found = after(loops, weigh_layouts, target);
        found.lines().filter(|it| it.contains("fields along k")).collect()
    }

    #[test]
    fn what_can_be_done_for_fields_along_k_is_told() {
        let of = |order: &str| {
            format!(
                "for k in [0, K) {order}:
  for j in [0, J) parallel:
    for i in [0, I) parallel:
      b[i, j, k] = a[i, j, k]
"
            )
        };
        expect!["applied: for fields along k, lanes can be along k: levels have no order"]
            .assert_eq(&remarks(&of("parallel"), Target::CPU));
        expect!["missed: fields along k are copied into rows along i, or read as they lie: levels follow each other in columns"].assert_eq(&remarks(&of("ascending"), Target::CPU));
        let turned = Target::CPU.turned();
        assert_eq!(remarks(&of("ascending"), turned), "");
    }
}
