//! The accesses of a graph to its containers, the role of each, and the scopes around it.
//!
//! The visitor tells the roles. Here each access also gets the block, the scopes around it (loops, branches
//! and maps, by handle) and its node. Passes ask this instead of walking the graph. A nested graph counts as
//! one node: each of its accesses is to a whole container.
//!
//! ```text
//! n2: map k in [0:K], j in [0:J], i in [0:I]
//!   n3: b[i, j, k] = a[i, j, k] * c
//! ```
//!
//! gives, with the scopes from outside in:
//!
//! ```text
//! b: write [i:i + 1, j:j + 1, k:k + 1] in map(k, j, i)
//! a: read [i:i + 1, j:j + 1, k:k + 1] in map(k, j, i)
//! c: read [] in map(k, j, i)
//! ```

use crate::entity::{Arena, Handle, Spelled};
use crate::sdfg::nodes::{
    BlockKind, Condition, Container, ControlFlowRegion, LoopRegion, Map, MapParam, Memlet, Node, NodeKind,
    Operand, Range, Sdfg, State, Tasklet,
};
use crate::sdfg::visit::{AccessRole, EdgeAccess};

/// All accesses of the containers of one graph.
#[derive(Clone, Debug)]
pub struct Accesses<'s> {
    scopes: Arena<Scope<'s>>,
    all: Vec<Access<'s>>,
    n_states: usize,
}

/// One access.
#[derive(Clone, Copy, Debug)]
pub struct Access<'s> {
    pub data: Handle<Container>,
    pub role: AccessRole,
    /// Position of the block of the outermost region that holds it, in the order in which they run.
    pub block: usize,
    /// The innermost scope around it.
    pub scope: Option<Handle<Scope<'s>>>,
    by: Accessor<'s>,
}

/// The condition or the node that accesses.
#[derive(Clone, Copy, Debug)]
enum Accessor<'s> {
    Condition,
    Node { state: &'s State, state_idx: usize, edge: EdgeAccess<'s> },
}

/// A loop, a branch or a map.
#[derive(Clone, Copy, Debug)]
pub struct Scope<'s> {
    outer: Option<Handle<Scope<'s>>>,
    kind: ScopeKind<'s>,
}

#[derive(Clone, Copy, Debug)]
enum ScopeKind<'s> {
    Loop(&'s LoopRegion),
    While,
    /// One of those of a conditional block.
    Branch,
    Map(&'s Map),
}

impl Spelled for Scope<'_> {
    const PREFIX: &'static str = "scope";
}

impl<'s> Access<'s> {
    /// The state, where a node of one accesses it.
    #[must_use]
    pub fn state(&self) -> Option<&'s State> {
        match self.by {
            Accessor::Condition => None,
            Accessor::Node { state, .. } => Some(state),
        }
    }

    /// The tasklet or nested graph, where it is not a condition.
    #[must_use]
    pub fn node(&self) -> Option<Handle<Node>> {
        match self.by {
            Accessor::Condition => None,
            Accessor::Node { edge, .. } => Some(edge.node),
        }
    }

    /// The node that its data comes from, where it is not a condition.
    #[must_use]
    pub fn source(&self) -> Option<Handle<Node>> {
        match self.by {
            Accessor::Condition => None,
            Accessor::Node { edge, .. } => Some(edge.source),
        }
    }

    /// Which state of the graph it is, in the order of the walk.
    #[must_use]
    pub fn state_idx(&self) -> Option<usize> {
        match self.by {
            Accessor::Condition => None,
            Accessor::Node { state_idx, .. } => Some(state_idx),
        }
    }

    /// The statement, where one accesses it.
    #[must_use]
    pub fn tasklet(&self) -> Option<&'s Tasklet> {
        match self.by {
            Accessor::Condition => None,
            Accessor::Node { state, edge, .. } => state.nodes[edge.node].kind.tasklet(),
        }
    }

    /// Whether a graph inside makes the access.
    #[must_use]
    pub fn is_by_graph(&self) -> bool {
        match self.by {
            Accessor::Condition => false,
            Accessor::Node { state, edge, .. } => state.nodes[edge.node].kind.nested().is_some(),
        }
    }

    /// The elements that a statement accesses in one iteration of all scopes around, where these are one.
    ///
    /// None for a nested graph, a condition or an index of run time: their elements are not known.
    #[must_use]
    pub fn element(&self) -> Option<&'s [Range]> {
        match self.by {
            Accessor::Node { edge, .. } if self.tasklet().is_some() && edge.memlet.as_element().is_some() => {
                Some(&edge.memlet.subset)
            }
            Accessor::Condition | Accessor::Node { .. } => None,
        }
    }
}

impl<'s> Accesses<'s> {
    /// The accesses of a graph, but not those of nested ones.
    #[must_use]
    pub fn of(sdfg: &'s Sdfg) -> Self {
        let mut all = Self { scopes: Arena::default(), all: Vec::new(), n_states: 0 };
        for (block, it) in sdfg.region.in_sequence().enumerate() {
            all.add_block(&it.kind, WalkPosition { block, scope: None });
        }
        all
    }

    /// All accesses, block after block.
    pub fn iter(&self) -> impl Iterator<Item = &Access<'s>> {
        self.all.iter()
    }

    /// The accesses of one container.
    pub fn of_container(&self, data: Handle<Container>) -> impl Iterator<Item = &Access<'s>> {
        self.all.iter().filter(move |it| it.data == data)
    }

    pub fn reads(&self, data: Handle<Container>) -> impl Iterator<Item = &Access<'s>> {
        self.of_container(data).filter(|it| !it.role.is_write())
    }

    pub fn writes(&self, data: Handle<Container>) -> impl Iterator<Item = &Access<'s>> {
        self.of_container(data).filter(|it| it.role.is_write())
    }

    /// Whether `access` always happens in the innermost scope around `outer`, or inside of that scope.
    #[must_use]
    pub fn is_within_scope_of(&self, access: &Access<'s>, outer: &Access<'s>) -> bool {
        outer.scope.is_none_or(|scope| self.around(access).any(|(it, _)| it == scope))
    }

    /// Whether a branch or a `while` may skip it.
    #[must_use]
    pub fn is_conditional(&self, access: &Access<'s>) -> bool {
        self.around(access).any(|(_, it)| match it.kind {
            ScopeKind::While | ScopeKind::Branch => true,
            ScopeKind::Loop(_) | ScopeKind::Map(_) => false,
        })
    }

    /// Whether a loop is around whose iterations run in order.
    #[must_use]
    pub fn is_in_loop(&self, access: &Access<'s>) -> bool {
        self.around(access).any(|(_, it)| match it.kind {
            ScopeKind::Loop(_) => true,
            ScopeKind::While | ScopeKind::Branch | ScopeKind::Map(_) => false,
        })
    }

    /// The loops around, those of maps too, from outside in.
    #[must_use]
    pub fn loops_around(&self, access: &Access<'s>) -> Vec<MapParam> {
        let mut scopes: Vec<_> = self.around(access).map(|(_, it)| it.kind).collect();
        scopes.reverse();
        let mut loops = Vec::new();
        for scope in scopes {
            match scope {
                ScopeKind::Loop(it) => loops.push(MapParam {
                    symbol: it.variable.clone(),
                    axis: it.axis,
                    range: Range::new(it.start.clone(), it.end.clone()),
                    step: it.step,
                }),
                ScopeKind::Map(it) => loops.extend_from_slice(&it.params),
                ScopeKind::While | ScopeKind::Branch => {}
            }
        }
        loops
    }

    /// Whether this has happened wherever the other one happens. It stands in a block before; or, in a state
    /// of the outermost region, a path leads from it to the other one.
    #[must_use]
    pub fn is_before(&self, access: &Access<'s>, later: &Access<'s>) -> bool {
        if access.block != later.block {
            return access.block < later.block;
        }
        match (self.outermost_state(access), access.node(), later.node()) {
            (Some(state), Some(one), Some(other)) => state.reaches(one, other),
            _ => false,
        }
    }

    /// The state that it stands in, where that is a block of the outermost region.
    #[must_use]
    pub fn outermost_state(&self, access: &Access<'s>) -> Option<&'s State> {
        let is_outermost = self.around(access).all(|(_, it)| matches!(it.kind, ScopeKind::Map(_)));
        access.state().filter(|_| is_outermost)
    }

    /// The scopes around, from inside out.
    fn around(&self, access: &Access<'s>) -> impl Iterator<Item = (Handle<Scope<'s>>, &Scope<'s>)> {
        let with_handle = |it: Handle<Scope<'s>>| (it, &self.scopes[it]);
        std::iter::successors(access.scope.map(with_handle), move |(_, it)| it.outer.map(with_handle))
    }

    fn enter(&mut self, at: WalkPosition<'s>, kind: ScopeKind<'s>) -> WalkPosition<'s> {
        WalkPosition { scope: Some(self.scopes.push(Scope { outer: at.scope, kind })), ..at }
    }

    fn add_region(&mut self, region: &'s ControlFlowRegion, at: WalkPosition<'s>) {
        region.in_sequence().for_each(|it| self.add_block(&it.kind, at));
    }

    fn add_block(&mut self, block: &'s BlockKind, at: WalkPosition<'s>) {
        match block {
            BlockKind::State(state) => self.add_state(state, at),
            BlockKind::Loop(it) => {
                let inside = self.enter(at, ScopeKind::Loop(it));
                self.add_region(&it.body, inside);
            }
            BlockKind::While(it) => {
                let inside = self.enter(at, ScopeKind::While);
                self.add_condition(&it.condition, inside);
                self.add_region(&it.body, inside);
            }
            BlockKind::Conditional(_) => {
                block.conditions().for_each(|it| self.add_condition(it, at));
                for region in block.regions() {
                    let inside = self.enter(at, ScopeKind::Branch);
                    self.add_region(region, inside);
                }
            }
        }
    }

    fn add_condition(&mut self, condition: &'s Condition, at: WalkPosition<'s>) {
        condition.accesses(&mut |operand| match operand {
            Operand::Element { container, .. } => {
                let (data, role, by) = (*container, AccessRole::Condition, Accessor::Condition);
                self.all.push(Access { data, role, block: at.block, scope: at.scope, by });
            }
            Operand::Symbolic(_) => {}
        });
    }

    fn add_state(&mut self, state: &'s State, at: WalkPosition<'s>) {
        let maps = self.enter_maps(state, at);
        let state_idx = self.n_states;
        self.n_states += 1;
        state.each_access(&mut |edge| {
            let scope = state.nodes[edge.node].scope.map_or(at.scope, |it| maps[it.index()]);
            let (data, role) = (edge.memlet.data, edge.role);
            let by = Accessor::Node { state, state_idx, edge };
            self.all.push(Access { data, role, block: at.block, scope, by });
        });
    }

    /// The scope of each map, by the index of its entry.
    fn enter_maps(&mut self, state: &'s State, at: WalkPosition<'s>) -> Vec<Option<Handle<Scope<'s>>>> {
        let mut maps = vec![None; state.nodes.len()];
        for entry in state.nodes.handles() {
            self.enter_map(state, at, entry, &mut maps);
        }
        maps
    }

    fn enter_map(
        &mut self,
        state: &'s State,
        at: WalkPosition<'s>,
        entry: Handle<Node>,
        maps: &mut [Option<Handle<Scope<'s>>>],
    ) {
        let (NodeKind::MapEntry(map), None) = (&state.nodes[entry].kind, maps[entry.index()]) else { return };
        let outer = state.nodes[entry].scope;
        if let Some(outer) = outer {
            self.enter_map(state, at, outer, maps);
        }
        let around = WalkPosition { scope: outer.map_or(at.scope, |it| maps[it.index()]), ..at };
        maps[entry.index()] = self.enter(around, ScopeKind::Map(map)).scope;
    }
}

/// Where a walk is.
#[derive(Clone, Copy)]
struct WalkPosition<'s> {
    block: usize,
    scope: Option<Handle<Scope<'s>>>,
}

/// An access by one piece of work of a scope: a tasklet, a nested graph, or a whole map inside.
#[derive(Clone, Copy, Debug)]
pub struct WorkAccess<'s> {
    /// The node at the edge. For a map, its entry for a read and its exit for a write.
    pub node: Handle<Node>,
    pub work: Work,
    pub role: AccessRole,
    pub memlet: &'s Memlet,
}

/// Where a piece of work starts and ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Work {
    pub starts: Handle<Node>,
    pub ends: Handle<Node>,
}

/// The accesses of the work right inside of a map, or of a state, in the order of the edges.
#[must_use]
pub fn of_work(state: &State, scope: Option<Handle<Node>>) -> Vec<WorkAccess<'_>> {
    let mut exits = vec![None; state.nodes.len()];
    state.exits().for_each(|(entry, exit)| exits[entry.index()] = Some(exit));
    let mut found = Vec::new();
    let mut add = |node: Handle<Node>, role: Option<AccessRole>, memlet| {
        let (starts, ends) = match state.nodes[node].kind {
            NodeKind::MapEntry(_) => (node, exits[node.index()].unwrap_or(node)),
            NodeKind::MapExit { entry } => (entry, node),
            NodeKind::Tasklet(_) | NodeKind::NestedSdfg(_) | NodeKind::Access(_) => (node, node),
        };
        if let Some(role) = role.filter(|_| state.nodes[node].scope == scope) {
            found.push(WorkAccess { node, work: Work { starts, ends }, role, memlet });
        }
    };
    for edge in &state.edges {
        let Some(memlet) = &edge.memlet else { continue };
        let out_of = match &state.nodes[edge.source].kind {
            NodeKind::MapExit { .. } => Some(AccessRole::Write),
            it => it.role_of_output(),
        };
        let into = match &state.nodes[edge.target].kind {
            NodeKind::MapEntry(_) => Some(AccessRole::Read),
            it => it.role_of_input(edge.target_connector.as_deref()),
        };
        add(edge.source, out_of, memlet);
        add(edge.target, into, memlet);
    }
    found
}

#[cfg(test)]
mod tests {
    use std::fmt::Write;

    use expect_test::expect;

    use super::*;
    use crate::samples::parsed;
    use crate::sdfg::from_schedule::lower;

    fn listed(tree: &str) -> String {
        let sdfg = lower(&parsed(tree));
        let accesses = Accesses::of(&sdfg);
        let mut text = String::new();
        for it in accesses.iter() {
            let role = match it.role {
                AccessRole::Read => "read",
                AccessRole::Condition => "condition",
                AccessRole::Index => "index",
                AccessRole::Write => "write",
            };
            let _ = write!(text, "block {} {role} {}", it.block, sdfg.containers[it.data].name);
            match it.element() {
                Some(element) => {
                    let at = element.iter().map(|it| it.as_point().map(ToString::to_string));
                    let at: Vec<String> = at.map(Option::unwrap_or_default).collect();
                    let _ = write!(text, "[{}]", at.join(", "));
                }
                None => text.push_str(" somewhere"),
            }
            let mut around: Vec<String> = accesses
                .around(it)
                .map(|(_, it)| match it.kind {
                    ScopeKind::Loop(it) => format!("loop {}", it.variable),
                    ScopeKind::While => "while".to_owned(),
                    ScopeKind::Branch => "branch".to_owned(),
                    ScopeKind::Map(it) => {
                        let params: Vec<String> = it.params.iter().map(|it| it.symbol.to_string()).collect();
                        format!("map {}", params.join(", "))
                    }
                })
                .collect();
            around.reverse();
            let _ = writeln!(text, " in {}", around.join(" / "));
        }
        text
    }

    #[test]
    fn each_access_has_its_role_and_the_scopes_around_it() {
        let tree = "\
schedule s
field a: float64[I, J, K] shift [0, 0, 0] read
field b: float64[I, J, K] shift [0, 0, 0] write
field n: int64[I, J] shift [0, 0] read
threads k in [0, K) parallel:
  for j in [0, J) parallel:
    for i in [0, I) parallel:
      b[i, j, k] = a[i, j, {n[i, j]}] + a[i, j, k]
";
        expect![[r#"
            block 0 index n[i, j] in map k / map j, i
            block 0 read a somewhere in map k / map j, i
            block 0 read a[i, j, k] in map k / map j, i
            block 0 write b[i, j, k] in map k / map j, i
        "#]]
        .assert_eq(&listed(tree));
    }

    #[test]
    fn control_flow_reads_its_conditions_and_holds_what_it_may_skip() {
        let tree = "\
schedule s
field b: float64[K] shift [0] write
scalar c: float64
for k in [0, K) ascending:
  if c > 0.0:
    b[k] = c
  else:
    b[k] = 0.0
";
        expect![[r#"
            block 0 condition c somewhere in loop k
            block 0 read c[] in loop k / branch
            block 0 write b[k] in loop k / branch
            block 0 write b[k] in loop k / branch
        "#]]
        .assert_eq(&listed(tree));
    }
}
