//! Lets a loop itself compute the values that it reads beside its own position, in registers.

use std::collections::{BTreeMap, BTreeSet};

use super::refusal::name_of;
use super::{Path, Refusal};
use crate::entity::Handle;
use crate::expr::ExprKind;
use crate::schedule::analysis::accesses::Counts;
use crate::schedule::nodes::{
    Access, Assign, Container, ContainerKind, Expr, Loop, Node, Order, Storage, Tree,
};
use crate::schedule::visit::AccessRole;
use crate::space::order::is_at_most;
use crate::space::{Affine, Axis, AxisSet, Symbol};

/// The most statements that one body gets beside its own.
const MOST_STATEMENTS: usize = 256;

/// Moves the work of `count` nests of the block at `outer`, from `first` on, into the last of them. Each of
/// its positions computes in locals the values that it reads of the others, at every offset at which it reads
/// them.
///
/// - **Effect**: the nests before the last are gone, and so are their temporaries; neighbouring positions
///   compute the same values again.
/// - **Legality**: [`plan`].
/// - **Why**: positions do not wait for each other, and these values are stored nowhere. A thread of a GPU
///   has registers enough, and it waits for memory.
///
/// `counts` are those of the whole tree. Returns how many statements the last nest has now.
///
/// # Errors
///
/// The reason why not; the tree is as it was.
pub fn recompute(
    tree: &mut Tree,
    outer: &Path,
    (first, count): (usize, usize),
    counts: &Counts,
) -> Result<usize, Refusal> {
    let block = tree.block(outer).unwrap_or_default();
    let Some(nodes) = block.get(first..first + count) else {
        return Err(Refusal::new("there are no such nodes"));
    };
    let plan = plan(tree, nodes, counts)?;
    let nests: Vec<Nest> = nodes.iter().map(Nest::of).collect::<Result<_, _>>()?;
    let names: BTreeSet<String> = tree.containers.iter().map(|(_, it)| it.name.clone()).collect();
    let mut making =
        LocalMaker { containers: &tree.containers, new: Vec::new(), known: BTreeMap::new(), names };
    let mut body = Vec::new();
    for (number, nest) in nests.iter().enumerate().take(nests.len() - 1) {
        for (shift, wanted) in plan.needed.range((number, LEAST)..=(number, MOST)).map(|(at, it)| (at.1, it))
        {
            for it in nest.body.iter().filter(|it| wanted.contains(&it.target.container)) {
                let value = making.shifted(&plan, &nests, number, shift, &it.value);
                let container = making.local(number, shift, it.target.container, &plan);
                let target = Access { container, index: Vec::new() };
                body.push(Node::Assign(Assign { target, value, origin: it.origin.clone() }));
            }
        }
    }
    let last = nests.len() - 1;
    let own: Vec<Assign> = nests[last]
        .body
        .iter()
        .map(|it| {
            let value = making.shifted(&plan, &nests, last, [0; 3], &it.value);
            Assign { target: it.target.clone(), value, origin: it.origin.clone() }
        })
        .collect();
    body.extend(own.into_iter().map(Node::Assign));
    let new = making.new;
    let gone: BTreeSet<Handle<Container>> =
        nests[..last].iter().flat_map(|it| it.body.iter().map(|it| it.target.container)).collect();
    for it in new {
        tree.containers.push(it);
    }
    let n = body.len();
    // Nothing accesses these any more.
    for target in gone {
        let it = &mut tree.containers[target];
        it.kind = ContainerKind::Local;
        it.storage = Storage::Register;
        (it.axes, it.shape, it.shift) = (AxisSet::of(&[]), Vec::new(), Vec::new());
    }
    if let Some(block) = tree.block_mut(outer) {
        let mut kept = block.splice(first..first + count, []).last();
        if let Some(innermost) = kept.as_mut().and_then(innermost_mut) {
            innermost.children = body;
        }
        block.splice(first..first, kept);
    }
    Ok(n)
}

const LEAST: [i64; 3] = [i64::MIN; 3];
const MOST: [i64; 3] = [i64::MAX; 3];

/// The containers needed of each nest, by distance from a position of the last one.
#[derive(Debug)]
pub(in crate::schedule) struct RecomputePlan {
    needed: BTreeMap<(usize, [i64; 3]), BTreeSet<Handle<Container>>>,
}

impl RecomputePlan {
    /// How many statements the last nest would have beside its own.
    pub(in crate::schedule) fn n_statements(&self) -> usize {
        self.needed.values().map(BTreeSet::len).sum()
    }
}

/// Plans the values to be computed again.
///
/// All nodes are nests of parallel loops over the same axes that hold assignments alone. Nests before the
/// last one write temporaries that nothing else uses, and that the last one does not write. A nest covers all positions at which later ones need
/// it. The other nests read a container that the last one writes only at the very point.
///
/// # Errors
///
/// The reason why not.
pub(in crate::schedule) fn plan(
    tree: &Tree,
    nodes: &[Node],
    counts: &Counts,
) -> Result<RecomputePlan, Refusal> {
    let [.., last_node] = nodes else { return Err(Refusal::new("there is nothing to compute again")) };
    let about = |it: Refusal| it.about(last_node);
    let nests: Vec<Nest> = nodes.iter().map(Nest::of).collect::<Result<_, _>>().map_err(about)?;
    let last = nests.len() - 1;
    if last == 0 {
        return Err(Refusal::new("there is no loop before it").about(last_node));
    }
    let axes = |it: &Nest<'_>| it.loops.iter().map(|it| it.variable.clone()).collect::<BTreeSet<Symbol>>();
    if nests.iter().any(|it| axes(it) != axes(&nests[last])) {
        return Err(Refusal::new("the loops are over other axes").about(last_node));
    }
    let mut inside: Counts = Counts::new();
    for nest in &nests {
        for it in &nest.body {
            it.each_access(&mut |_, access| *inside.entry(access.container).or_default() += 1);
        }
    }
    let own = |container: Handle<Container>| {
        let it = &tree.containers[container];
        matches!(it.kind, ContainerKind::Temporary | ContainerKind::Local)
            && counts.get(&container) == inside.get(&container)
    };
    for it in nests[..last].iter().flat_map(|it| it.body.iter()) {
        let target = it.target.container;
        if !own(target) {
            let name = name_of(&tree.containers[target]);
            return Err(Refusal::new(format!("`{name}` is used elsewhere")).about(last_node));
        }
        if nests[last].writes(target).is_some() {
            let name = name_of(&tree.containers[target]);
            return Err(Refusal::new(format!("`{name}` is written again by the last loop")).about(last_node));
        }
    }
    let mut at = RecomputePlanner { tree, nests: &nests, needed: BTreeMap::new() };
    at.nest(last, [0; 3], None).map_err(about)?;
    for number in (0..last).rev() {
        let shifts: Vec<[i64; 3]> =
            at.needed.range((number, LEAST)..=(number, MOST)).map(|(at, _)| at.1).collect();
        for shift in shifts {
            let wanted = at.needed[&(number, shift)].clone();
            at.nest(number, shift, Some(wanted)).map_err(about)?;
        }
    }
    let plan = RecomputePlan { needed: at.needed };
    if plan.n_statements() > MOST_STATEMENTS {
        let n = plan.n_statements();
        return Err(Refusal::new(format!("a position would compute {n} values")).about(last_node));
    }
    Ok(plan)
}

/// A nest of loops around assignments.
struct Nest<'t> {
    loops: Vec<&'t Loop>,
    body: Vec<&'t Assign>,
}

impl<'t> Nest<'t> {
    fn of(node: &'t Node) -> Result<Self, Refusal> {
        let refuse = |why: &str| Err(Refusal::new(why));
        let mut loops = Vec::new();
        let mut at = node;
        loop {
            let Node::Loop(it) = at else { return refuse("a statement stands beside loops") };
            if it.order != Order::Parallel || it.step != 1 {
                return refuse("a loop has an order");
            }
            if it.variable.name() != it.axis.position_name() {
                return refuse("a loop is one over tiles");
            }
            loops.push(it);
            match it.children.as_slice() {
                [inner @ Node::Loop(_)] => at = inner,
                children => {
                    let body = children.iter().map(|it| match it {
                        Node::Assign(it) => Some(it),
                        Node::Loop(_)
                        | Node::If(_)
                        | Node::While(_)
                        | Node::Region(_)
                        | Node::Where(_)
                        | Node::Barrier => None,
                    });
                    return match body.collect::<Option<Vec<_>>>() {
                        Some(body) => Ok(Self { loops, body }),
                        None => refuse("there are branches or loops at a point"),
                    };
                }
            }
        }
    }

    fn along(&self, axis: Axis) -> Option<&'t Loop> {
        self.loops.iter().find(|it| it.axis == axis).copied()
    }

    fn writes(&self, container: Handle<Container>) -> Option<&'t Access> {
        self.body.iter().map(|it| &it.target).find(|it| it.container == container)
    }
}

impl Assign {
    fn each_access<'a>(&'a self, each: &mut dyn FnMut(AccessRole, &'a Access)) {
        self.value.accesses(&mut |it| it.walk_as(AccessRole::Read, each));
        self.target.walk_as(AccessRole::Write, each);
    }
}

/// The nest that computed the value of a read, and its distance from the position at hand.
fn source(nests: &[Nest<'_>], number: usize, read: &Access) -> Option<(usize, Result<[i64; 3], ()>)> {
    let writer = (0..number).rev().find_map(|it| nests[it].writes(read.container).map(|write| (it, write)));
    writer.map(|(nest, write)| (nest, distance(write, read)))
}

/// The distance of a read from the write of the same container, along each axis.
fn distance(write: &Access, read: &Access) -> Result<[i64; 3], ()> {
    let mut shift = [0; 3];
    for (to, from) in write.index.iter().zip(&read.index) {
        if to.found.is_some() || from.found.is_some() {
            return Err(());
        }
        let along = from.known.distance_from(&to.known).ok_or(())?;
        let axis = Axis::ALL.into_iter().find(|it| to.known.factor(&Symbol::new(it.position_name())) == 1);
        match axis {
            Some(axis) => shift[axis.index()] = along,
            None if along == 0 => {}
            None => return Err(()),
        }
    }
    Ok(shift)
}

struct RecomputePlanner<'t> {
    tree: &'t Tree,
    nests: &'t [Nest<'t>],
    needed: BTreeMap<(usize, [i64; 3]), BTreeSet<Handle<Container>>>,
}

impl RecomputePlanner<'_> {
    /// Notes the containers that a nest needs of those before it, at this distance from the position at hand.
    /// `wanted` are those that are wanted of this nest, or all where it is `None`. It grows by the containers
    /// that these need of the same nest.
    fn nest(
        &mut self,
        number: usize,
        shift: [i64; 3],
        mut wanted: Option<BTreeSet<Handle<Container>>>,
    ) -> Result<(), Refusal> {
        let nests = self.nests;
        let nest = &nests[number];
        self.covers(number, shift)?;
        for (at, it) in nest.body.iter().enumerate().rev() {
            if wanted.as_ref().is_some_and(|it_| !it_.contains(&it.target.container)) {
                continue;
            }
            if shift != [0; 3] && has_position(&it.value) {
                return Err(Refusal::new("a statement reads its position"));
            }
            let mut reads = Vec::new();
            it.value.accesses(&mut |access| access.walk_as(AccessRole::Read, &mut |_, it| reads.push(it)));
            for read in reads {
                let name = || name_of(&self.tree.containers[read.container]).to_owned();
                // A value computed before in the same nest belongs to this very position.
                let own = nest.body[..at].iter().rev().find(|it| it.target.container == read.container);
                if let Some(own) = own {
                    if distance(&own.target, read) != Ok([0; 3]) {
                        return Err(Refusal::new(format!(
                            "`{}` is read beside the point in one loop",
                            name()
                        )));
                    }
                    if let Some(wanted) = &mut wanted {
                        wanted.insert(read.container);
                    }
                    continue;
                }
                match source(nests, number, read) {
                    Some(_) if number + 1 == nests.len() && nest.writes(read.container).is_some() => {
                        return Err(Refusal::new(format!("`{}` is written again where it is read", name())));
                    }
                    Some((from, Ok(beside))) => {
                        let at = [0, 1, 2].map(|it| shift[it] + beside[it]);
                        self.needed.entry((from, at)).or_default().insert(read.container);
                    }
                    Some((_, Err(()))) => {
                        return Err(Refusal::new(format!("`{}` is read where only the run tells", name())));
                    }
                    None => self.unwritten(number, shift, read)?,
                }
            }
        }
        if let Some(wanted) = wanted {
            self.needed.insert((number, shift), wanted);
        }
        Ok(())
    }

    /// Whether the loops of a nest come to all positions at this distance from those of the last nest.
    fn covers(&self, number: usize, shift: [i64; 3]) -> Result<(), Refusal> {
        let last = &self.nests[self.nests.len() - 1];
        for it in &last.loops {
            let Some(own) = self.nests[number].along(it.axis) else { continue };
            let by = shift[it.axis.index()];
            if !is_at_most(&own.start, &it.start.moved(by)) || !is_at_most(&it.end.moved(by), &own.end) {
                let axis = it.axis.position_name();
                return Err(Refusal::new(format!(
                    "a loop over `{axis}` has not all positions that are needed"
                )));
            }
        }
        Ok(())
    }

    /// Checks a read of a container that no nest before wrote. The last nest may overwrite it at the very
    /// point alone.
    fn unwritten(&self, number: usize, shift: [i64; 3], read: &Access) -> Result<(), Refusal> {
        let last = self.nests.len() - 1;
        let container = &self.tree.containers[read.container];
        let name = name_of(container);
        if matches!(container.kind, ContainerKind::Temporary | ContainerKind::Local)
            && self.nests.iter().any(|it| it.writes(read.container).is_some())
        {
            return Err(Refusal::new(format!("`{name}` is read before it is written")));
        }
        if number == last {
            return Ok(());
        }
        let is_apart = self.nests[last].body.iter().filter(|it| it.target.container == read.container);
        for write in is_apart {
            let beside = distance(&write.target, read);
            let at = beside.map(|it| [0, 1, 2].map(|axis| shift[axis] + it[axis]));
            if at != Ok([0; 3]) {
                return Err(Refusal::new(format!("`{name}` is overwritten while others still read it")));
            }
        }
        Ok(())
    }
}

pub(super) fn has_position(expr: &Expr) -> bool {
    let mut has = false;
    expr.walk(&mut |it| has |= matches!(it.kind, ExprKind::Position(_)));
    has
}

struct LocalMaker<'t> {
    containers: &'t crate::entity::Arena<Container>,
    new: Vec<Container>,
    /// The local that stands for a container of a nest at a distance.
    known: BTreeMap<(usize, [i64; 3], Handle<Container>), Handle<Container>>,
    names: BTreeSet<String>,
}

impl LocalMaker<'_> {
    /// The local that holds the value of a nest at a distance.
    fn local(
        &mut self,
        number: usize,
        shift: [i64; 3],
        of: Handle<Container>,
        plan: &RecomputePlan,
    ) -> Handle<Container> {
        if let Some(&known) = self.known.get(&(number, shift, of)) {
            return known;
        }
        let it = &self.containers[of];
        let n = plan.needed.iter().filter(|(_, wanted)| wanted.contains(&of)).count();
        let is_free = |name: &String| !self.names.contains(name);
        let stem = if n == 1 { format!("{}_here", name_of(it)) } else { named(name_of(it), shift) };
        let mut others = (2_u32..).map(|number| format!("{stem}_{number}"));
        let name = Some(stem.clone()).filter(is_free).or_else(|| others.find(is_free)).unwrap_or(stem);
        self.names.insert(name.clone());
        let local = Container::local(name, it);
        let handle = Handle::new(self.containers.len() + self.new.len());
        self.new.push(local);
        self.known.insert((number, shift, of), handle);
        handle
    }

    /// An expression of a nest at a distance from the position at hand.
    fn shifted(
        &mut self,
        plan: &RecomputePlan,
        nests: &[Nest<'_>],
        number: usize,
        shift: [i64; 3],
        expr: &Expr,
    ) -> Expr {
        let last = nests.len() - 1;
        expr.map_accesses(&mut |read| {
            // A value computed before in the same nest.
            if let Some(&container) = self.known.get(&(number, shift, read.container)) {
                return Access { container, index: Vec::new() };
            }
            let is_own = number == last && nests[last].writes(read.container).is_some();
            let from = source(nests, number, read).filter(|_| !is_own);
            if let Some((from, Ok(beside))) = from {
                let at = [0, 1, 2].map(|it| shift[it] + beside[it]);
                let container = self.local(from, at, read.container, plan);
                return Access { container, index: Vec::new() };
            }
            moved(read, shift)
        })
    }
}

/// An element at this distance.
pub(super) fn moved(access: &Access, shift: [i64; 3]) -> Access {
    let mut moved = access.clone();
    for subscript in &mut moved.index {
        for axis in Axis::ALL {
            let position = Symbol::new(axis.position_name());
            let by = Affine::beside(&position, shift[axis.index()]);
            subscript.known = subscript.known.substituted(&position, &by);
        }
        if let Some(found) = &mut subscript.found {
            **found = found.map_accesses(&mut |it| self::moved(it, shift));
        }
    }
    moved
}

/// `laplacian_east`, `laplacian_2_north_west`: the distance as a direction on the map.
fn named(stem: &str, shift: [i64; 3]) -> String {
    let words = [["west", "east"], ["south", "north"], ["below", "above"]];
    let mut name = stem.to_owned();
    for (by, [negative, positive]) in shift.into_iter().zip(words) {
        if by != 0 {
            name.push('_');
            if by.abs() > 1 {
                name.push_str(&format!("{}_", by.abs()));
            }
            name.push_str(if by < 0 { negative } else { positive });
        }
    }
    if shift == [0; 3] {
        name.push_str("_here");
    }
    name
}

fn innermost_mut(node: &mut Node) -> Option<&mut Loop> {
    let Node::Loop(it) = node else { return None };
    if matches!(it.children.as_slice(), [Node::Loop(_)]) {
        return it.children.first_mut().and_then(innermost_mut);
    }
    Some(it)
}
