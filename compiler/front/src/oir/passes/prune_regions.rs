//! Drops regions that meet no point that their statement runs on.

use super::PassCx;
use crate::oir::analysis::extents::{ExtentsOf, never_meets};
use crate::oir::nodes::{Stencil, Stmt, StmtKind};
use crate::space::Extent;

pub const NAME: &str = "oir/prune-regions";

/// Drops every region that is outside of where its execution runs, on domains of any size.
///
/// - **Precondition**: valid OIR.
/// - **Effect**: fewer statements.
/// - **Legality**: [`never_meets`].
/// - **Why**: on most processes of a large run the edges of a tile are elsewhere, given as `I[0] - 32767`.
pub fn prune_regions(stencil: &mut Stencil, cx: &mut PassCx) {
    let extents = cx.get::<ExtentsOf>(stencil);
    for (execution, it) in stencil.executions.iter_mut() {
        let Some(&extent) = extents.executions.get(execution) else { continue };
        drop_regions(&mut it.body, extent, cx);
    }
}

fn drop_regions(body: &mut Vec<Stmt>, extent: Extent, cx: &mut PassCx) {
    for mut stmt in std::mem::take(body) {
        match &mut stmt.kind {
            StmtKind::Region { region, body } if never_meets(extent, *region) && cx.may_change() => {
                let inside = body.iter().map(|it| &it.origin);
                cx.applied(
                    format!("the region {region} is outside of what is computed here"),
                    std::iter::once(&stmt.origin).chain(inside),
                );
                continue;
            }
            StmtKind::If { then, otherwise, .. } => {
                drop_regions(then, extent, cx);
                drop_regions(otherwise, extent, cx);
            }
            StmtKind::While { body, .. } => drop_regions(body, extent, cx),
            StmtKind::Assign { .. } | StmtKind::Region { .. } => {}
        }
        body.push(stmt);
    }
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;
    use crate::oir::passes::tests::after;

    #[test]
    fn regions_that_are_elsewhere_are_dropped() {
        let found = after(
            "
stencil edges
field a: float64[IJK]
field b: float64[IJK]
parallel
  [start, end)
    x0
      b = a
    x1
      region i[start-32767, start-32766) j[, )
        b = a[-1,0,0]
    x2
      region i[end, end+1) j[, )
        b = a[1,0,0]
    x3
      region i[start+5, start+6) j[, )
        b = 0.0
",
            prune_regions,
        );
        expect![[r#"
            stencil edges
            field a: float64[IJK]
            field b: float64[IJK]

            parallel
              [start, end)
                x0
                  b = a
                x1
                  region i[start+5, start+6) j[, )
                    b = 0.0
            applied: the region i[start-32767, start-32766) j[, ) is outside of what is computed here
            applied: the region i[end, end+1) j[, ) is outside of what is computed here
        "#]]
        .assert_eq(&found);
    }

    #[test]
    fn regions_that_some_domain_meets_stay() {
        // One on the extent of `t`, one that a domain of one column alone meets; a branch changes nothing.
        expect![[r#"
            stencil edges
            field a: float64[IJK]
            field b: float64[IJK]
            temporary t: float64[IJK]

            parallel
              [start, end)
                x0
                  t = a
                x1
                  region i[start-1, start) j[, )
                    t = 0.0
                x2
                  if a > 0.0
                    region i[end-1, start+1) j[start, start+1)
                      b = 3.0
                x3
                  region i[start, start+1) j[, )
                    b = t[-1,0,0]
            applied: the region i[end+4, ) j[, ) is outside of what is computed here
        "#]]
        .assert_eq(&after(
            "
stencil edges
field a: float64[IJK]
field b: float64[IJK]
temporary t: float64[IJK]
parallel
  [start, end)
    x0
      t = a
    x1
      region i[start-1, start) j[, )
        t = 0.0
    x2
      if a > 0.0
        region i[end-1, start+1) j[start, start+1)
          b = 3.0
        region i[end+4, ) j[, )
          b = 2.0
    x3
      region i[start, start+1) j[, )
        b = t[-1,0,0]
",
            prune_regions,
        ));
    }
}
