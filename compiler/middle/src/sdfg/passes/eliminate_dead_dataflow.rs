//! Takes out values that are computed for nobody.

use std::collections::BTreeSet;

use super::PassCx;
use crate::diag::Origin;
use crate::entity::Handle;
use crate::sdfg::analysis::Accesses;
use crate::sdfg::nodes::{Block, BlockKind, Container, ControlFlowRegion, Node, NodeKind, Sdfg, State};

pub const NAME: &str = "sdfg/eliminate-dead-dataflow";

/// Takes out each statement whose value nothing reads, and the maps and states that are empty then.
///
/// - **Precondition**: a valid graph.
/// - **Effect**: fewer tasklets; values that only they read may be taken out in turn.
/// - **Legality**: [`may_go`]; every refusal becomes a remark.
/// - **Why**: such a value costs its computation, and often a pass over memory.
pub fn eliminate_dead_dataflow(sdfg: &mut Sdfg, cx: &mut PassCx) {
    while eliminate_once(sdfg, cx) {}
    let containers = &sdfg.containers;
    let mut reported = BTreeSet::new();
    let dead = dead_containers(sdfg);
    sdfg.region.each_state(&mut |state| {
        for (node, data) in writers(state, &dead) {
            if let Err(reason) = may_go(state, node)
                && reported.insert(data)
            {
                let name = &containers[data].name;
                cx.missed(format!("`{name}` is read nowhere, but stays: {reason}"), origin(state, node));
            }
        }
    });
}

/// One iteration; returns whether something was taken out.
fn eliminate_once(sdfg: &mut Sdfg, cx: &mut PassCx) -> bool {
    let mut is_changed = false;
    sdfg.each_inner_mut(&mut |nested| {
        is_changed |= eliminate_once(&mut nested.sdfg, cx);
        nested.sdfg.drop_unused_containers();
    });
    let dead = dead_containers(sdfg);
    if dead.is_empty() {
        return is_changed;
    }
    let containers = &sdfg.containers;
    sdfg.region.each_state_mut(&mut |state| {
        let mut removed = BTreeSet::new();
        for (node, data) in writers(state, &dead) {
            if may_go(state, node).is_ok() && cx.may_change() {
                let name = &containers[data].name;
                cx.applied(format!("nothing reads `{name}`, so it is not computed"), origin(state, node));
                removed.insert(node);
            }
        }
        if !removed.is_empty() {
            state.remove(&|it| removed.contains(&it));
            is_changed = true;
        }
    });
    if is_changed {
        drop_empty_states(&mut sdfg.region);
    }
    is_changed
}

/// The transient containers that nothing reads.
fn dead_containers(sdfg: &Sdfg) -> BTreeSet<Handle<Container>> {
    let transient = sdfg.containers.iter().filter(|(_, it)| it.is_transient).map(|(it, _)| it);
    let mut dead: BTreeSet<Handle<Container>> = transient.collect();
    for access in Accesses::of(sdfg).iter().filter(|it| !it.role.is_write()) {
        dead.remove(&access.data);
    }
    dead
}

/// The tasklets and nested graphs that write one of these.
fn writers(state: &State, of: &BTreeSet<Handle<Container>>) -> Vec<(Handle<Node>, Handle<Container>)> {
    let mut found: Vec<(Handle<Node>, Handle<Container>)> = Vec::new();
    state.each_access(&mut |it| {
        if it.role.is_write() && of.contains(&it.memlet.data) {
            found.push((it.node, it.memlet.data));
        }
    });
    found
}

/// Whether a node whose output nothing reads may go.
fn may_go(state: &State, node: Handle<Node>) -> Result<(), &'static str> {
    match &state.nodes[node].kind {
        NodeKind::Tasklet(it) if !it.found.is_empty() => Err("its index may have to end the run"),
        NodeKind::Tasklet(_) => Ok(()),
        NodeKind::NestedSdfg(_) | NodeKind::Access(_) | NodeKind::MapEntry(_) | NodeKind::MapExit { .. } => {
            Err("a graph that does more writes it")
        }
    }
}

fn origin(state: &State, node: Handle<Node>) -> Option<&Origin> {
    state.nodes[node].kind.tasklet().map(|it| &it.origin)
}

/// Takes states without nodes out of the chain, but for those that a barrier stands before or behind.
pub(super) fn drop_empty_states(region: &mut ControlFlowRegion) {
    let is_empty = |it: &Block| matches!(&it.kind, BlockKind::State(state) if state.nodes.is_empty());
    let blocks: Vec<(Block, bool)> = region.take_sequence().collect();
    let behind: Vec<bool> = blocks.iter().map(|(_, is_behind)| *is_behind).collect();
    let mut kept = Vec::new();
    for (at, (mut block, is_behind_barrier)) in blocks.into_iter().enumerate() {
        let is_before_barrier = behind.get(at + 1).is_some_and(|it| *it);
        if is_empty(&block) && !is_behind_barrier && !is_before_barrier {
            continue;
        }
        block.kind.regions_mut().for_each(drop_empty_states);
        kept.push((block, is_behind_barrier));
    }
    *region = ControlFlowRegion::with_barriers(kept);
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;
    use crate::sdfg::passes::tests::after;

    #[test]
    fn what_nothing_reads_is_not_computed_and_what_only_that_reads_neither() {
        let tree = "\
schedule dead
field a: float64[I, J, K] shift [0, 0, 0] read
field b: float64[I, J, K] shift [0, 0, 0] write
temporary t: float64[I, J, K] shift [0, 0, 0] heap
temporary u: float64[I, J, K] shift [0, 0, 0] heap
local c: float64
threads k in [0, K) parallel:
  for j in [0, J) parallel:
    for i in [0, I) parallel:
      t[i, j, k] = a[i, j, k]
threads k in [0, K) parallel:
  for j in [0, J) parallel:
    for i in [0, I) parallel:
      u[i, j, k] = t[i, j, k] * 2.0
      c = a[i, j, k]
      b[i, j, k] = a[i, j, k]
";
        expect![[r#"
            sdfg dead(a, b)
              in a: float64[I, J, K]
              out b: float64[I, J, K]
              n1: state state_0
                n2: map k in [0:K], threads
                  reads a[0:I, 0:J, 0:K]
                  writes b[0:I, 0:J, 0:K]
                  n3: map j in [0:J], i in [0:I]
                    reads a[0:I, 0:J, k]
                    writes b[0:I, 0:J, k]
                    n4: b[i, j, k] = a[i, j, k]
            applied: nothing reads `u`, so it is not computed
            applied: nothing reads `c`, so it is not computed
            applied: nothing reads `t`, so it is not computed
        "#]]
        .assert_eq(&after(tree, eliminate_dead_dataflow));
    }

    #[test]
    fn what_may_have_to_end_the_run_stays() {
        let tree = "\
schedule dead
field a: float64[I, J, K] shift [0, 0, 0] read
field n: int64[I, J] shift [0, 0] read
temporary t: float64[I, J, K] shift [0, 0, 0] heap
for k in [0, K) parallel:
  for j in [0, J) parallel:
    for i in [0, I) parallel:
      t[i, j, k] = a[i, j, {n[i, j]}]
";
        expect![[r#"
            sdfg dead(a, n)
              in a: float64[I, J, K]
              in n: int64[I, J]
              temporary t: float64[I, J, K]
              n1: state state_0
                n2: map k in [0:K], j in [0:J], i in [0:I]
                  reads a[0:I, 0:J, 0:K], n[0:I, 0:J]
                  writes t[0:I, 0:J, 0:K]
                  n3: a_at = n[i, j] in [0:K], else a trap
                  n3: t[i, j, k] = a[i, j, a_at]
            missed: `t` is read nowhere, but stays: its index may have to end the run
        "#]]
        .assert_eq(&after(tree, eliminate_dead_dataflow));
    }
}
