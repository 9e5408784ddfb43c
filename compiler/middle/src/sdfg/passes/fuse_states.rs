//! Makes one state of two that follow each other.

use std::collections::BTreeMap;

use super::PassCx;
use crate::entity::Handle;
use crate::sdfg::analysis::accesses::{Work, of_work};
use crate::sdfg::nodes::{Block, BlockKind, Container, ControlFlowRegion, Node, NodeKind, Sdfg, State};
use crate::sdfg::visit::AccessRole;

pub const NAME: &str = "sdfg/fuse-states";

/// Fuses each state with the one behind it, where data flow alone keeps their order.
///
/// - **Precondition**: a valid graph.
/// - **Effect**: fewer, larger states. Data that the second takes from the first flows directly.
/// - **Legality**: [`shared`]; every refusal becomes a remark.
/// - **Why**: between states everything waits for everything.
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
    let mut blocks: Vec<(Block, bool)> = Vec::new();
    // Facts about the last block, where that is a state.
    let mut known: Option<StateFacts> = None;
    for (mut block, is_behind_barrier) in region.take_sequence() {
        match &mut block.kind {
            BlockKind::State(second) => {
                let of_second = StateFacts::of(second);
                if let (false, Some((Block { kind: BlockKind::State(first), label }, _)), Some(of_first)) =
                    (is_behind_barrier, blocks.last_mut(), &mut known)
                {
                    match shared((first, of_first), (second, &of_second), names) {
                        Ok(shared) if cx.may_change() => {
                            cx.applied(format!("{} is part of {label}", block.label), None);
                            append(first, of_first, std::mem::take(second), &shared);
                            continue;
                        }
                        Ok(_) => {}
                        Err(reason) => {
                            cx.missed(format!("{} stays behind {label}: {reason}", block.label), None);
                        }
                    }
                }
                known = Some(of_second);
            }
            BlockKind::Loop(_) | BlockKind::While(_) | BlockKind::Conditional(_) => {
                block.kind.regions_mut().for_each(|it| fuse_in(it, names, cx));
                known = None;
            }
        }
        blocks.push((block, is_behind_barrier));
    }
    *region = ControlFlowRegion::with_barriers(blocks);
}

/// Facts about a state that are asked for over and over while others are added to it.
#[derive(Debug, Default)]
struct StateFacts {
    /// The access nodes of each container, outside of maps.
    accesses: BTreeMap<Handle<Container>, Vec<Handle<Node>>>,
    /// The work that reads and writes each container there, from where it starts to where it ends.
    work: BTreeMap<Handle<Container>, Vec<(AccessRole, Work)>>,
    /// The entry of each map, by its exit.
    entries: BTreeMap<Handle<Node>, Handle<Node>>,
}

impl StateFacts {
    fn of(state: &State) -> Self {
        let mut known =
            Self { entries: state.exits().map(|(entry, exit)| (exit, entry)).collect(), ..Self::default() };
        for (access, node) in state.nodes.iter() {
            if let (NodeKind::Access(data), None) = (&node.kind, node.scope) {
                known.accesses.entry(*data).or_default().push(access);
            }
        }
        for it in of_work(state, None) {
            known.work.entry(it.memlet.data).or_default().push((it.role, it.work));
        }
        known
    }

    /// All nodes that a path leads from to one of `targets`, and these; a map leads from its entry to its exit.
    fn leading_to(&self, state: &State, targets: impl IntoIterator<Item = Handle<Node>>) -> NodeSet {
        let mut reached = NodeSet { is_in: vec![false; state.nodes.len()] };
        let mut open: Vec<Handle<Node>> = targets.into_iter().collect();
        while let Some(node) = open.pop() {
            if !std::mem::replace(&mut reached.is_in[node.index()], true) {
                open.extend(state.edges_into(node).map(|it| it.source));
                open.extend(self.entries.get(&node));
            }
        }
        reached
    }

    /// The access node of a container that all others of it lead to, where there is one.
    fn last_access(&self, state: &State, data: Handle<Container>) -> Option<Handle<Node>> {
        let all = self.accesses.get(&data)?;
        if let [one] = all.as_slice() {
            return Some(*one);
        }
        // The last one made is the likeliest.
        all.iter().rev().copied().find(|&last| {
            let before = self.leading_to(state, [last]);
            all.iter().all(|&it| before.has(it))
        })
    }
}

/// Nodes of a state.
struct NodeSet {
    is_in: Vec<bool>,
}

impl NodeSet {
    fn has(&self, node: Handle<Node>) -> bool {
        self.is_in[node.index()]
    }
}

/// The access nodes with which `second` would start, each with the one of `first` that would take its place.
/// Or the reason why not every order of the two would be kept.
///
/// A path from one state to the other leads through such a node. There has to be a path between two pieces of
/// work that touch one container, if either of them writes it.
fn shared(
    (first, of_first): (&State, &StateFacts),
    (second, of_second): (&State, &StateFacts),
    names: &dyn Fn(Handle<Container>) -> String,
) -> Result<BTreeMap<Handle<Node>, Handle<Node>>, String> {
    let mut shared = BTreeMap::new();
    for (&data, accesses) in &of_second.accesses {
        let starts = accesses.iter().filter(|&&it| second.edges_into(it).next().is_none());
        let mut last = None;
        for &start in starts {
            let last = *last.get_or_insert_with(|| of_first.last_access(first, data));
            shared.extend(last.map(|it| (start, it)));
        }
    }
    for (data, after) in &of_second.work {
        let before = of_first.work.get(data).map_or(&[][..], Vec::as_slice);
        for (later_role, later) in after {
            let mut conflicts =
                before.iter().filter(|(role, _)| role.is_write() || later_role.is_write()).peekable();
            if conflicts.peek().is_none() {
                continue;
            }
            let from = of_second.leading_to(second, [later.starts]);
            let through = shared.iter().filter(|(start, _)| from.has(**start)).map(|(_, last)| *last);
            let reached = of_first.leading_to(first, through);
            if let Some((role, _)) = conflicts.find(|(_, it)| !reached.has(it.ends)) {
                let what = match (role.is_write(), later_role.is_write()) {
                    (true, true) => "both write",
                    (true, false) => "the second reads what is written here and there in the first,",
                    (false, _) => "the second overwrites what the first reads,",
                };
                return Err(format!("{what} `{}`", names(*data)));
            }
        }
    }
    Ok(shared)
}

/// Adds the nodes and edges of `second`, but for those whose place is taken.
fn append(
    first: &mut State,
    known: &mut StateFacts,
    second: State,
    shared: &BTreeMap<Handle<Node>, Handle<Node>>,
) {
    let of_second = StateFacts::of(&second);
    let n_before = first.nodes.len();
    let mut renamed = BTreeMap::new();
    for (handle, node) in second.nodes.iter() {
        let taken = shared.get(&handle).copied();
        renamed.insert(handle, taken.unwrap_or_else(|| first.nodes.push(node.clone())));
    }
    for &new in renamed.values().filter(|it| it.index() >= n_before) {
        let node = &mut first.nodes[new];
        node.scope = node.scope.map(|it| renamed[&it]);
        if let NodeKind::MapExit { entry } = &mut node.kind {
            *entry = renamed[entry];
        }
    }
    for edge in &second.edges {
        let mut edge = edge.clone();
        (edge.source, edge.target) = (renamed[&edge.source], renamed[&edge.target]);
        first.edges.push(edge);
    }
    for (data, accesses) in of_second.accesses {
        let new = accesses.iter().filter(|it| !shared.contains_key(it)).map(|it| renamed[it]);
        known.accesses.entry(data).or_default().extend(new);
    }
    for (data, work) in of_second.work {
        let moved = |(role, it): (AccessRole, Work)| {
            (role, Work { starts: renamed[&it.starts], ends: renamed[&it.ends] })
        };
        known.work.entry(data).or_default().extend(work.into_iter().map(moved));
    }
    known.entries.extend(of_second.entries.iter().map(|(exit, entry)| (renamed[exit], renamed[entry])));
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;
    use crate::samples::parsed;
    use crate::sdfg::from_schedule::lower;
    use crate::sdfg::passes::tests::after_graph;

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
