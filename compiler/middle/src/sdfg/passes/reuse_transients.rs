//! Lets arrays share memory that are not needed at the same time.

use std::collections::{BTreeMap, BTreeSet};

use super::PassCx;
use crate::entity::Handle;
use crate::pass::{LogPoint, LogValue};
use crate::sdfg::analysis::Accesses;
use crate::sdfg::nodes::{BlockKind, Container, NestedSdfg, Node, NodeKind, Sdfg, Storage};

pub const NAME: &str = "sdfg/reuse-transients";

/// The memory that is allocated for a run.
pub const PEAK_MEMORY: LogPoint = LogPoint {
    name: "peak-memory",
    about: "the sizes of all arrays that are allocated for the run, in bytes",
};

/// Gives each array the memory of an earlier one of the same shape that is not needed any more.
///
/// - **Precondition**: a valid graph, in which no element is read that was not written before.
/// - **Effect**: fewer arrays; statements keep their order.
/// - **Legality**: [`may_share`]; every refusal of arrays of the same shape becomes a remark.
/// - **Why**: less memory, and elements that were just written are still in the cache.
pub fn reuse_transients(sdfg: &mut Sdfg, cx: &mut PassCx) {
    let mut lives = lives(sdfg);
    let candidates: Vec<Handle<Container>> = lives.keys().copied().collect();
    let mut shared: BTreeMap<Handle<Container>, Handle<Container>> = BTreeMap::new();
    // The one that is needed first comes first.
    let mut in_order = candidates.clone();
    in_order.sort_by_key(|it| (lives[it].first_block(), *it));
    for (at, &later) in in_order.iter().enumerate() {
        let mut reason = None;
        for earlier in in_order[..at].iter().copied().filter(|it| !shared.contains_key(it)) {
            let (one, other) = (&sdfg.containers[earlier], &sdfg.containers[later]);
            if !is_alike(one, other) {
                continue;
            }
            match may_share(sdfg, &lives[&earlier], &lives[&later], (earlier, later)) {
                Ok(()) if cx.may_change() => {
                    cx.applied(format!("`{}` is kept where `{}` was", other.name, one.name), None);
                    let life = lives.remove(&later).unwrap_or_default();
                    lives.entry(earlier).or_default().extend(life);
                    shared.insert(later, earlier);
                    reason = None;
                    break;
                }
                Ok(()) => break,
                Err(why) => reason = Some((one.name.clone(), why)),
            }
        }
        if let Some((earlier, why)) = reason {
            let name = &sdfg.containers[later].name;
            cx.missed(format!("`{name}` is not kept where `{earlier}` was: {why}"), None);
        }
    }
    let mut groups: BTreeMap<Handle<Container>, Vec<String>> = BTreeMap::new();
    for later in in_order.iter().filter(|it| shared.contains_key(it)) {
        let earlier = shared[later];
        let (from, to) = (sdfg.containers[*later].name.clone(), sdfg.containers[earlier].name.clone());
        sdfg.replace_containers(&mut |it| if it == *later { earlier } else { it });
        rename_arguments(sdfg, &from, &to);
        groups.entry(earlier).or_insert_with(|| vec![to]).push(from);
    }
    for (container, names) in groups {
        let joined = joined_name(&names);
        if !is_name_taken(sdfg, &joined) {
            rename_arguments(sdfg, &names[0], &joined);
            sdfg.containers[container].name = joined;
        }
    }
    sdfg.drop_unused_containers();
    cx.log(&PEAK_MEMORY, LogValue::Text(peak_memory(sdfg)));
}

/// A name that says what an array holds one after the other.
fn joined_name(names: &[String]) -> String {
    match names {
        [one, other] => format!("{one}_{other}"),
        [one, other, ..] => format!("{one}_{other}_etc"),
        _ => names.concat(),
    }
}

/// Whether something in this graph or in one inside it has the name.
fn is_name_taken(sdfg: &Sdfg, name: &str) -> bool {
    let mut is_taken = sdfg.containers.iter().any(|(_, it)| it.name == name)
        || sdfg.symbols.iter().any(|it| it.name() == name)
        || has_connector(sdfg, name);
    sdfg.each_inner(&mut |nested| is_taken |= is_name_taken(&nested.sdfg, name));
    is_taken
}

/// The uses of an array, by block. In a state, these are nodes right in it; a map counts by its entry.
#[derive(Clone, Debug, Default)]
struct Lifetime {
    of_blocks: BTreeMap<usize, BTreeSet<Handle<Node>>>,
}

impl Lifetime {
    fn first_block(&self) -> usize {
        self.of_blocks.keys().next().copied().unwrap_or(0)
    }

    fn last_block(&self) -> usize {
        self.of_blocks.keys().next_back().copied().unwrap_or(0)
    }

    fn extend(&mut self, other: Lifetime) {
        for (block, nodes) in other.of_blocks {
            self.of_blocks.entry(block).or_default().extend(nodes);
        }
    }
}

/// The lives of all arrays that are allocated for the run.
fn lives(sdfg: &Sdfg) -> BTreeMap<Handle<Container>, Lifetime> {
    let is_array = |it: Handle<Container>| {
        let container = &sdfg.containers[it];
        container.is_transient && container.storage == Storage::Heap
    };
    let mut lives: BTreeMap<Handle<Container>, Lifetime> = BTreeMap::new();
    let accesses = Accesses::of(sdfg);
    for access in accesses.iter().filter(|it| is_array(it.data)) {
        let nodes = lives.entry(access.data).or_default().of_blocks.entry(access.block).or_default();
        if let (Some(state), Some(node)) = (accesses.outermost_state(access), access.node()) {
            nodes.insert(state.scopes_around(node).last().unwrap_or(node));
        }
    }
    lives
}

/// Whether two arrays lie in memory in the same way.
fn is_alike(one: &Container, other: &Container) -> bool {
    one.dtype == other.dtype
        && one.axes == other.axes
        && one.shape == other.shape
        && one.shift == other.shift
        && one.ring == other.ring
        && one.strides == other.strides
}

/// Whether all is done with one array before anything is done with the other.
fn may_share(
    sdfg: &Sdfg,
    earlier: &Lifetime,
    later: &Lifetime,
    (one, other): (Handle<Container>, Handle<Container>),
) -> Result<(), &'static str> {
    if is_name_in_the_way(sdfg, &sdfg.containers[one].name, &sdfg.containers[other].name) {
        return Err("a graph inside has something of that name");
    }
    if earlier.last_block() < later.first_block() {
        return Ok(());
    }
    if earlier.last_block() > later.first_block() {
        return Err("both are needed at the same time");
    }
    let at = earlier.last_block();
    let Some(BlockKind::State(state)) = sdfg.region.in_sequence().nth(at).map(|it| &it.kind) else {
        return Err("both are needed in one loop");
    };
    let reached = state.reached();
    let exits: BTreeMap<_, _> = state.exits().collect();
    let (Some(first), Some(second)) = (earlier.of_blocks.get(&at), later.of_blocks.get(&at)) else {
        return Err("both are needed at the same time");
    };
    // All work on the one ends before any on the other starts.
    let end = |node: &Handle<Node>| exits.get(node).copied().unwrap_or(*node);
    let is_before =
        |one: &Handle<Node>, other: &Handle<Node>| one != other && reached[end(one).index()][other.index()];
    let all_before = first.iter().all(|one| second.iter().all(|other| is_before(one, other)));
    if all_before { Ok(()) } else { Err("nothing makes the one wait for the end of the other") }
}

/// Whether a nested graph that is passed the later array has its own use for the name of the earlier one.
fn is_name_in_the_way(sdfg: &Sdfg, earlier: &str, later: &str) -> bool {
    let mut is_in_the_way = false;
    sdfg.each_inner(&mut |nested| {
        let inner = &nested.sdfg;
        let has = |name: &str| inner.containers.iter().any(|(_, it)| it.name == name);
        let is_connector = has_connector(inner, earlier);
        is_in_the_way |= has(later) && (has(earlier) || is_connector);
        is_in_the_way |= is_name_in_the_way(inner, earlier, later);
    });
    is_in_the_way
}

fn has_connector(sdfg: &Sdfg, name: &str) -> bool {
    let mut has = false;
    sdfg.region.each_state(&mut |state| {
        for (_, node) in state.nodes.iter() {
            if let Some(it) = node.kind.tasklet() {
                has |= it.output.name == name
                    || it.inputs.iter().any(|it| it.name == name)
                    || it.found.iter().any(|it| it.name == name);
            }
        }
    });
    has
}

/// Renames what is called after a container: what nested graphs have of it.
fn rename_arguments(sdfg: &mut Sdfg, from: &str, to: &str) {
    sdfg.region.each_state_mut(&mut |state| {
        let mut nested = Vec::new();
        for (handle, node) in state.nodes.iter_mut() {
            if let NodeKind::NestedSdfg(it) = &mut node.kind {
                nested.push(handle);
                rename_argument(it, from, to);
            }
        }
        for edge in &mut state.edges {
            for (node, connector) in
                [(edge.source, &mut edge.source_connector), (edge.target, &mut edge.target_connector)]
            {
                if nested.contains(&node) && connector.as_deref() == Some(from) {
                    *connector = Some(to.to_owned());
                }
            }
        }
    });
}

fn rename_argument(nested: &mut NestedSdfg, from: &str, to: &str) {
    for name in nested.inputs.iter_mut().chain(&mut nested.outputs).filter(|it| *it == from) {
        to.clone_into(name);
    }
    for (_, container) in nested.sdfg.containers.iter_mut().filter(|(_, it)| it.name == from) {
        to.clone_into(&mut container.name);
    }
    rename_arguments(&mut nested.sdfg, from, to);
}

/// The bytes of all arrays, as a sum of products of symbols.
fn peak_memory(sdfg: &Sdfg) -> String {
    let mut terms: BTreeMap<String, usize> = BTreeMap::new();
    for (_, it) in sdfg.containers.iter().filter(|(_, it)| it.is_transient && it.storage == Storage::Heap) {
        let length = |it: String| if it.contains(' ') { format!("({it})") } else { it };
        let lengths: Vec<String> = it.shape.iter().map(|it| length(it.to_string())).collect();
        *terms.entry(lengths.join(" * ")).or_default() += it.dtype.size_bytes();
    }
    let terms: Vec<String> = terms.into_iter().map(|(points, bytes)| format!("{bytes} * {points}")).collect();
    if terms.is_empty() { "0".to_owned() } else { terms.join(" + ") }
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;
    use crate::sdfg::passes::tests::after;

    #[test]
    fn arrays_that_are_not_needed_at_the_same_time_share_memory() {
        let tree = "\
schedule share
field a: float64[I, J, K] shift [0, 0, 0] read
field b: float64[I, J, K] shift [0, 0, 0] write
temporary t: float64[I, J, K] shift [0, 0, 0] heap
temporary u: float64[I, J, K] shift [0, 0, 0] heap
temporary v: float64[I, J, K] shift [0, 0, 0] heap
for k in [0, K) parallel:
  for j in [0, J) parallel:
    for i in [0, I) parallel:
      t[i, j, k] = a[i, j, k]
for k in [1, K) ascending:
  for j in [0, J) parallel:
    for i in [0, I) parallel:
      u[i, j, k] = t[i, j, k - 1]
for k in [1, K) descending:
  for j in [0, J) parallel:
    for i in [0, I) parallel:
      v[i, j, k] = u[i, j, k]
for k in [1, K) parallel:
  for j in [0, J) parallel:
    for i in [0, I) parallel:
      b[i, j, k] = v[i, j, k]
";
        expect![[r#"
            sdfg share(a, b)
              in a: float64[I, J, K]
              out b: float64[I, J, K]
              temporary t_v: float64[I, J, K]
              temporary u: float64[I, J, K]
              n1: state state_0
                n2: map k in [0:K], j in [0:J], i in [0:I]
                  reads a[0:I, 0:J, 0:K]
                  writes t_v[0:I, 0:J, 0:K]
                  n3: t_v[i, j, k] = a[i, j, k]
              n4: loop loop_0: k in [1:K] ascending
                n5: state state_1
                  n6: map j in [0:J], i in [0:I]
                    reads t_v[0:I, 0:J, k - 1]
                    writes u[0:I, 0:J, k]
                    n7: u[i, j, k] = t_v[i, j, k - 1]
              n8: loop loop_1: k in [1:K] descending
                n9: state state_2
                  n10: map j in [0:J], i in [0:I]
                    reads u[0:I, 0:J, k]
                    writes t_v[0:I, 0:J, k]
                    n11: t_v[i, j, k] = u[i, j, k]
              n12: state state_3
                n13: map k in [1:K], j in [0:J], i in [0:I]
                  reads t_v[0:I, 0:J, 1:K]
                  writes b[0:I, 0:J, 1:K]
                  n14: b[i, j, k] = t_v[i, j, k]
            missed: `u` is not kept where `t` was: both are needed in one loop
            applied: `v` is kept where `t` was
        "#]]
        .assert_eq(&after(tree, reuse_transients));
    }
}
