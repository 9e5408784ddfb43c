//! Makes one state of two that follow each other.

use std::collections::BTreeMap;

use super::PassCx;
use crate::entity::Handle;
use crate::sdfg::nodes::{Block, BlockKind, Container, ControlFlowRegion, Node, NodeKind, Sdfg, State};

pub const NAME: &str = "sdfg/fuse-states";

/// Fuses each state with the one behind it, where data flow alone keeps their order.
///
/// - **Precondition** — a valid graph.
/// - **Effect** — fewer, larger states. Data that the second takes from the first flows directly.
/// - **Legality** — [`fused`]; every refusal becomes a remark.
/// - **Why** — between states everything waits for everything.
pub fn fuse_states(sdfg: &mut Sdfg, cx: &mut PassCx) {
    sdfg.each_nested_mut(&mut |nested| {
        let containers = &nested.sdfg.containers;
        let names = |it: Handle<Container>| containers[it].name.clone();
        fuse_in(&mut nested.sdfg.region, &names, cx);
    });
    let containers = &sdfg.containers;
    fuse_in(&mut sdfg.region, &|it| containers[it].name.clone(), cx);
}

fn fuse_in(region: &mut ControlFlowRegion, names: &dyn Fn(Handle<Container>) -> String, cx: &mut PassCx) {
    let mut given: Vec<Option<Block>> = std::mem::take(&mut region.blocks).into_iter().map(Some).collect();
    let mut blocks: Vec<Block> = Vec::new();
    let mut next = Some(0);
    while let Some(mut block) = next.and_then(|at| given.get_mut(at)?.take()) {
        next = region.edges.iter().find(|edge| Some(edge.source) == next).map(|edge| edge.target);
        match &mut block.kind {
            BlockKind::State(second) => {
                if let Some(Block { kind: BlockKind::State(first), label }) = blocks.last_mut() {
                    match fused(first, second, names) {
                        Ok(both) if cx.may_change() => {
                            cx.applied(format!("{} is part of {label}", block.label), None);
                            *first = both;
                            continue;
                        }
                        Ok(_) => {}
                        Err(reason) => {
                            cx.missed(format!("{} stays behind {label}: {reason}", block.label), None);
                        }
                    }
                }
            }
            BlockKind::Loop(it) => fuse_in(&mut it.body, names, cx),
            BlockKind::While(it) => fuse_in(&mut it.body, names, cx),
            BlockKind::Conditional(it) => {
                it.branches.iter_mut().for_each(|it| fuse_in(&mut it.body, names, cx));
                it.otherwise.iter_mut().for_each(|it| fuse_in(it, names, cx));
            }
        }
        blocks.push(block);
    }
    *region = ControlFlowRegion::sequence(blocks);
}

/// Both states as one, where a path keeps in order whatever must be.
fn fused(
    first: &State,
    second: &State,
    names: &dyn Fn(Handle<Container>) -> String,
) -> Result<State, String> {
    let mut both = first.clone();
    let last = last_accesses(first);
    let mut renamed: BTreeMap<Handle<Node>, Handle<Node>> = BTreeMap::new();
    for (handle, node) in second.nodes.iter() {
        let is_start = node.scope.is_none() && second.edges_into(handle).next().is_none();
        let known = match node.kind {
            NodeKind::Access(data) if is_start => last.get(&data).copied(),
            _ => None,
        };
        renamed.insert(handle, known.unwrap_or_else(|| both.nodes.push(node.clone())));
    }
    for (handle, node) in second.nodes.iter() {
        let new = renamed[&handle];
        if new.index() < first.nodes.len() {
            continue;
        }
        both.nodes[new].scope = node.scope.map(|it| renamed[&it]);
        if let NodeKind::MapExit { entry } = &mut both.nodes[new].kind {
            *entry = renamed[entry];
        }
    }
    for edge in &second.edges {
        let mut edge = edge.clone();
        (edge.source, edge.target) = (renamed[&edge.source], renamed[&edge.target]);
        both.edges.push(edge);
    }
    let reached = both.reached();
    let (before, after) =
        (touches(&both, |it| it < first.nodes.len()), touches(&both, |it| it >= first.nodes.len()));
    for one in &before {
        for other in after.iter().filter(|it| it.data == one.data && (it.is_write || one.is_write)) {
            if !reached[one.ends.index()][other.starts.index()] {
                let what = match (one.is_write, other.is_write) {
                    (true, true) => "both write",
                    (true, false) => "the second reads what is written here and there in the first,",
                    _ => "the second overwrites what the first reads,",
                };
                return Err(format!("{what} `{}`", names(one.data)));
            }
        }
    }
    Ok(both)
}

/// A node right in a state that reads or writes a container, and where its work starts and ends.
struct Touch {
    data: Handle<Container>,
    is_write: bool,
    starts: Handle<Node>,
    ends: Handle<Node>,
}

fn touches(state: &State, is_meant: impl Fn(usize) -> bool) -> Vec<Touch> {
    let exits: BTreeMap<_, _> = state.exits().collect();
    let entries: BTreeMap<_, _> = state.exits().map(|(entry, exit)| (exit, entry)).collect();
    let mut found = Vec::new();
    for edge in &state.edges {
        let Some(memlet) = &edge.memlet else { continue };
        let is_access = |it: Handle<Node>| matches!(state.nodes[it].kind, NodeKind::Access(_));
        let (node, is_write) = match (is_access(edge.source), is_access(edge.target)) {
            (true, false) => (edge.target, false),
            (false, true) => (edge.source, true),
            _ => continue,
        };
        let access = if is_write { edge.target } else { edge.source };
        if state.nodes[access].scope.is_none() && is_meant(node.index()) {
            let starts = entries.get(&node).copied().unwrap_or(node);
            let ends = exits.get(&node).copied().unwrap_or(node);
            found.push(Touch { data: memlet.data, is_write, starts, ends });
        }
    }
    found
}

/// For each container the access node that all others of it lead to, where there is one.
fn last_accesses(state: &State) -> BTreeMap<Handle<Container>, Handle<Node>> {
    let mut of: BTreeMap<Handle<Container>, Vec<Handle<Node>>> = BTreeMap::new();
    for (handle, node) in state.nodes.iter() {
        if let (NodeKind::Access(data), None) = (&node.kind, node.scope) {
            of.entry(*data).or_default().push(handle);
        }
    }
    let reached = state.reached();
    let last = |all: &Vec<Handle<Node>>| {
        all.iter().copied().find(|last| all.iter().all(|it| it == last || reached[it.index()][last.index()]))
    };
    of.iter().filter_map(|(data, all)| Some((*data, last(all)?))).collect()
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;
    use crate::sdfg::from_schedule::lower;
    use crate::sdfg::passes::tests::after_graph;
    use crate::sdfg::samples::parsed;

    /// The loops of a tree, each in a state of its own.
    fn apart(tree: &str) -> Sdfg {
        let mut tree = parsed(tree);
        let children = std::mem::take(&mut tree.children);
        let mut whole: Option<Sdfg> = None;
        let mut blocks = Vec::new();
        for (at, child) in children.into_iter().enumerate() {
            tree.children = vec![child];
            // All containers are there whatever the loop touches, with the same handles.
            let mut graph = lower(&tree);
            let mut block = graph.region.blocks.remove(0);
            block.label = format!("state_{at}");
            blocks.push(block);
            whole.get_or_insert(graph);
        }
        let mut whole = whole.expect("there is a loop");
        whole.region = ControlFlowRegion::sequence(blocks);
        whole
    }

    fn check(loops: &str, expected: &expect_test::Expect) {
        let tree = format!(
            "\
schedule fuse
field a: float64[I, J, K] shift [0, 0, 0] read-write
field b: float64[I, J, K] shift [0, 0, 0] read-write
field c: float64[I, J, K] shift [0, 0, 0] read-write
{loops}"
        );
        expected.assert_eq(&after_graph(apart(&tree), fuse_states));
    }

    const B_OF_A: &str = "for k in [0, K) parallel:
  for j in [0, J) parallel:
    for i in [0, I) parallel:
      b[i, j, k] = a[i, j, k]
";

    #[test]
    fn what_flows_from_one_state_to_the_next_flows_directly() {
        let loops = format!(
            "{B_OF_A}for k in [0, K) parallel:
  for j in [0, J) parallel:
    for i in [0, I) parallel:
      c[i, j, k] = b[i, j, k] + a[i, j, k]
"
        );
        check(
            &loops,
            &expect![[r#"
            sdfg fuse(a, b, c)
              inout a: float64[I, J, K]
              inout b: float64[I, J, K]
              inout c: float64[I, J, K]
              n1: state state_0
                n2: map k in [0:K], j in [0:J], i in [0:I]
                  reads a[0:I, 0:J, 0:K]
                  writes b[0:I, 0:J, 0:K]
                  n3: b[i, j, k] = a[i, j, k]
                n4: map k in [0:K], j in [0:J], i in [0:I]
                  reads a[0:I, 0:J, 0:K], b[0:I, 0:J, 0:K]
                  writes c[0:I, 0:J, 0:K]
                  n5: c[i, j, k] = b[i, j, k] + a[i, j, k]
            applied: state_1 is part of state_0
        "#]],
        );
    }

    #[test]
    fn what_the_first_reads_is_not_overwritten_too_early() {
        let loops = format!(
            "{B_OF_A}for k in [0, K) parallel:
  for j in [0, J) parallel:
    for i in [0, I) parallel:
      a[i, j, k] = c[i, j, k]
"
        );
        check(
            &loops,
            &expect![[r#"
            sdfg fuse(a, b, c)
              inout a: float64[I, J, K]
              inout b: float64[I, J, K]
              inout c: float64[I, J, K]
              n1: state state_0
                n2: map k in [0:K], j in [0:J], i in [0:I]
                  reads a[0:I, 0:J, 0:K]
                  writes b[0:I, 0:J, 0:K]
                  n3: b[i, j, k] = a[i, j, k]
              n4: state state_1
                n5: map k in [0:K], j in [0:J], i in [0:I]
                  reads c[0:I, 0:J, 0:K]
                  writes a[0:I, 0:J, 0:K]
                  n6: a[i, j, k] = c[i, j, k]
            missed: state_1 stays behind state_0: the second overwrites what the first reads, `a`
        "#]],
        );
    }

    /// The remark about two loops, each in a state of its own.
    fn told(first: &str, second: &str) -> String {
        let nest = |it: &str| {
            format!(
                "for k in [0, K) parallel:\n  for j in [0, J) parallel:\n    for i in [0, I) parallel:\n      {it}\n"
            )
        };
        let header = "schedule fuse\n\
                      field a: float64[I, J, K] shift [0, 0, 0] read-write\n\
                      field b: float64[I, J, K] shift [0, 0, 0] read-write\n\
                      field c: float64[I, J, K] shift [0, 0, 0] read-write\n";
        let found = after_graph(apart(&format!("{header}{}{}", nest(first), nest(second))), fuse_states);
        found.lines().last().unwrap_or_default().to_owned()
    }

    #[test]
    fn the_later_of_two_writes_stays_the_later() {
        let found = told("b[i, j, k] = a[i, j, k]", "b[i, j, k] = c[i, j, k]");
        assert_eq!(found, "missed: state_1 stays behind state_0: both write `b`");
    }
}
