//! The reads and writes of a part of the schedule tree, and the order that they demand.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use rustc_hash::FxHashSet;

use super::Context;
use crate::entity::{Handle, SideTable};
use crate::schedule::analysis::accesses::{Accesses, Counts};
use crate::schedule::nodes::{Access, Container, Loop, Node, Storage, Subscript, Tree};
use crate::schedule::visit::numbering::{Numbered, NumberedBlock};
use crate::sdfg::nodes::Range;
use crate::sdfg::subset::{are_disjoint, clipped, holds, propagated, union};
use crate::space::{Affine, Size, Symbol};

/// Elements of a container of the schedule tree.
#[derive(Clone, Debug)]
pub(super) struct ContainerSubset {
    pub(super) container: Handle<Container>,
    /// Shared, since each scope around has it too.
    pub(super) subset: Rc<[Range]>,
}

/// The elements that a node needs from before, and those that it writes.
#[derive(Clone, Debug, Default)]
pub(super) struct Effects {
    /// Reads that no earlier write of the node itself covers.
    pub(super) reads: Vec<ContainerSubset>,
    pub(super) writes: Vec<ContainerSubset>,
    /// Those of `writes` that control flow cannot skip, by container and position.
    certain: BTreeSet<(Handle<Container>, usize)>,
}

/// Facts about nodes of the tree that were computed before: every scope around a node asks for them.
#[derive(Debug)]
pub(super) struct Memo<Fact> {
    known: RefCell<SideTable<Node, Fact>>,
}

impl<Fact> Default for Memo<Fact> {
    fn default() -> Self {
        Self { known: RefCell::default() }
    }
}

impl<Fact: Clone> Memo<Fact> {
    pub(super) fn get_or(&self, node: Handle<Node>, compute: impl FnOnce() -> Fact) -> Fact {
        if let Some(known) = self.known.borrow().get(node) {
            return known.clone();
        }
        let fact = compute();
        self.known.borrow_mut().insert(node, fact.clone());
        fact
    }
}

impl Effects {
    /// The effects of nodes that run one after the other.
    pub(super) fn of_all<'t>(cx: &Context<'t>, nodes: NumberedBlock<'t>) -> Self {
        let mut all = Self::default();
        for node in cx.numbering.nodes(nodes) {
            all.then(&Self::of(cx, node), Certainty::Always);
        }
        all
    }

    /// The effects of one node.
    pub(super) fn of<'t>(cx: &Context<'t>, node: Numbered<'t>) -> Rc<Self> {
        cx.effects.get_or(node.handle, || Rc::new(Self::computed(cx, node)))
    }

    fn computed<'t>(cx: &Context<'t>, node: Numbered<'t>) -> Self {
        let mut effects = Self::default();
        effects.reads_of(cx, &node);
        match node.it {
            Node::Assign(assign) => effects.write(cx, &assign.target),
            Node::Loop(it) => effects = Self::of_loop(cx, node.as_part(it)),
            Node::If(it) => {
                let in_then = node.block(&it.then);
                let then = Self::of_all(cx, in_then);
                let otherwise = Self::of_all(cx, cx.numbering.block_behind(in_then, &it.otherwise));
                let in_both: Vec<ContainerSubset> =
                    then.certain_writes().filter(|it| otherwise.covers(it)).cloned().collect();
                // Neither branch sees what the other wrote.
                let before = effects.clone();
                effects.then(&then, Certainty::Perhaps);
                let mut other = before;
                other.then(&otherwise, Certainty::Perhaps);
                effects.reads.extend(other.reads);
                effects.writes.extend(other.writes);
                for touched in in_both {
                    effects.push_certain(touched);
                }
            }
            Node::While(it) => {
                effects.then(&Self::of_all(cx, node.block(&it.body)), Certainty::Perhaps);
            }
            Node::Region(it) => {
                effects.then(&Self::of_all(cx, node.block(&it.children)), Certainty::Perhaps);
            }
            Node::Where(it) => {
                effects.then(&Self::of_all(cx, node.block(&it.children)), Certainty::Perhaps);
            }
            Node::Barrier => {}
        }
        effects
    }

    /// The effects of all iterations, without values that only one iteration sees.
    fn of_loop<'t>(cx: &Context<'t>, it: Numbered<'t, Loop>) -> Self {
        let Context { tree, uses, .. } = cx;
        let mut effects = Self::default();
        let body = Self::of_all(cx, it.block(&it.it.children));
        let over = Range::new(it.start.clone(), it.end.clone());
        let inside = cx.uses_of(it);
        let spread = |touched: &ContainerSubset| ContainerSubset {
            container: touched.container,
            // A region may keep the loop from elements outside of the array, which are cut off again.
            subset: touched
                .subset
                .iter()
                .zip(&tree.containers[touched.container].shape)
                .map(|(at, size)| clipped(propagated(at, &it.variable, &over), size))
                .collect(),
        };
        let is_seen = |touched: &ContainerSubset| !uses.is_private(cx, touched.container, &inside);
        effects.reads = body.reads.iter().filter(|it| is_seen(it)).map(spread).collect();
        for (at, touched) in body.writes.iter().enumerate().filter(|(_, it)| is_seen(it)) {
            if body.is_certain(at) && touches_all(touched, &it) {
                effects.push_certain(spread(touched));
            } else {
                effects.writes.push(spread(touched));
            }
        }
        effects
    }

    /// Adds the elements that a node itself reads.
    fn reads_of(&mut self, cx: &Context<'_>, node: &Node) {
        node.each_own_access(&mut |role, access| {
            if !role.is_write() {
                self.read_element(cx, access);
            }
        });
    }

    fn read_element(&mut self, cx: &Context<'_>, access: &Access) {
        let touched = ContainerSubset::element(cx.tree, access);
        if !self.covers(&touched) {
            self.reads.push(touched);
        }
    }

    fn write(&mut self, cx: &Context<'_>, target: &Access) {
        let touched = ContainerSubset::element(cx.tree, target);
        // Only one element of the range of a found index is written.
        if target.index.iter().all(|it| it.found.is_none()) {
            self.push_certain(touched);
        } else {
            self.writes.push(touched);
        }
    }

    fn then(&mut self, next: &Self, certainty: Certainty) {
        for touched in &next.reads {
            if !self.covers(touched) {
                self.reads.push(touched.clone());
            }
        }
        for (at, touched) in next.writes.iter().enumerate() {
            if certainty == Certainty::Always && next.is_certain(at) {
                self.push_certain(touched.clone());
            } else {
                self.writes.push(touched.clone());
            }
        }
    }

    fn push_certain(&mut self, touched: ContainerSubset) {
        self.certain.insert((touched.container, self.writes.len()));
        self.writes.push(touched);
    }

    fn is_certain(&self, at: usize) -> bool {
        self.certain.contains(&(self.writes[at].container, at))
    }

    /// One read and one write per container, in the order of containers, as memlets around a map have them.
    pub(super) fn merged(&self, tree: &Tree) -> Self {
        let (reads, writes) = (united(tree, &self.reads), united(tree, &self.writes));
        let mut merged = Self { reads, writes, ..Self::default() };
        let places = merged.writes.iter().enumerate();
        merged.certain =
            places.filter(|(_, it)| self.covers(it)).map(|(at, it)| (it.container, at)).collect();
        merged
    }

    fn overwrites(&self, other: &ContainerSubset) -> bool {
        self.writes.iter().any(|it| it.conflicts(other))
    }

    fn overwrites_all_of(&self, other: &ContainerSubset) -> bool {
        self.writes.iter().any(|it| it.container == other.container && holds(&it.subset, &other.subset))
    }

    fn certain_writes(&self) -> impl Iterator<Item = &ContainerSubset> {
        self.certain.iter().map(|&(_, at)| &self.writes[at])
    }

    fn covers(&self, read: &ContainerSubset) -> bool {
        let of_container = (read.container, 0)..=(read.container, usize::MAX);
        self.certain.range(of_container).any(|&(_, at)| holds(&self.writes[at].subset, &read.subset))
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Certainty {
    Always,
    Perhaps,
}

fn united(tree: &Tree, parts: &[ContainerSubset]) -> Vec<ContainerSubset> {
    let mut by_container = BTreeMap::<_, Rc<[Range]>>::new();
    for part in parts {
        by_container
            .entry(part.container)
            .and_modify(|all| {
                if !holds(all, &part.subset) {
                    let shape = &tree.containers[part.container].shape;
                    let whole = shape.iter().map(|size| Range::new(Affine::constant(0).into(), size.clone()));
                    // No range is wider than a whole dimension, even where the symbols do not show it.
                    let united =
                        union(all, &part.subset).into_iter().zip(whole).zip(all.iter().zip(&*part.subset));
                    *all = united
                        .map(
                            |((union, whole), (one, other))| {
                                if whole == *one || whole == *other { whole } else { union }
                            },
                        )
                        .collect();
                }
            })
            .or_insert_with(|| Rc::clone(&part.subset));
    }
    by_container.into_iter().map(|(container, subset)| ContainerSubset { container, subset }).collect()
}

/// Whether the writes of all iterations together leave no gap in the spread subset. For that, each dimension
/// follows the variable step by step, or not at all.
fn touches_all(touched: &ContainerSubset, it: &Loop) -> bool {
    touched.subset.iter().all(|range| match range.as_point() {
        Some(at) => at.factor(&it.variable).abs() <= 1,
        None => range_is_free_of(range, it),
    })
}

fn range_is_free_of(range: &Range, it: &Loop) -> bool {
    let over = Range::new(it.start.clone(), it.end.clone());
    propagated(range, &it.variable, &over) == *range
}

impl ContainerSubset {
    pub(super) fn element(tree: &Tree, access: &Access) -> Self {
        let shape = &tree.containers[access.container].shape;
        let subset = access.index.iter().zip(shape).map(|(at, size)| range(at, size)).collect();
        Self { container: access.container, subset }
    }
}

/// The range of an index: its whole dimension, where it is found at run time.
pub(super) fn range(at: &Subscript, size: &Size) -> Range {
    match at.as_known() {
        Some(at) => Range::point(at),
        None => Range::new(Affine::constant(0).into(), size.clone()),
    }
}

/// The accesses in a part of the tree, and the loops in it.
#[derive(Clone, Debug, Default)]
pub(super) struct SubtreeAccesses {
    counts: Counts,
    /// The variables of the loops.
    variables: BTreeSet<Symbol>,
}

impl SubtreeAccesses {
    pub(super) fn of_all(nodes: &[Node]) -> Self {
        let mut variables = BTreeSet::new();
        for node in nodes {
            node.walk(&mut |it| {
                if let Node::Loop(it) = it {
                    variables.insert(it.variable.clone());
                }
            });
        }
        Self { counts: Accesses::of(nodes).counts(), variables }
    }

    /// All iterations of a loop.
    pub(super) fn of_loop(it: &Loop) -> Self {
        let mut inside = Self::of_all(&it.children);
        inside.variables.insert(it.variable.clone());
        inside
    }

    /// The containers that are accessed, in their order.
    pub(super) fn containers(&self) -> impl Iterator<Item = Handle<Container>> {
        self.counts.keys().copied()
    }

    /// Whether a container is private to a loop with the uses `inside`. Then nothing outside sees the values
    /// that the loop leaves in it, and the loop sees none from outside. `self` is the whole tree.
    pub(super) fn is_private(
        &self,
        cx: &Context<'_>,
        container: Handle<Container>,
        inside: &SubtreeAccesses,
    ) -> bool {
        match &cx.tree.containers[container].storage {
            // Each loop over that variable has its own array: if a loop was split, each part has one.
            Storage::Private(variable) => inside.variables.contains(variable),
            Storage::Register if !cx.handed_on.contains(&container) => true,
            Storage::Register => self.counts.get(&container) == inside.counts.get(&container),
            Storage::Caller | Storage::Heap => false,
        }
    }
}

/// The registers that some loop takes from outside. The body of such a loop reads them where no statement of
/// it has written them before.
///
/// All other registers hold values of one iteration of the loop that they stand in.
pub(super) fn handed_on(tree: &Tree) -> BTreeSet<Handle<Container>> {
    let mut walk =
        WriteTracker { tree, written: FxHashSet::default(), trail: Vec::new(), found: BTreeSet::new() };
    walk.block(&tree.children);
    walk.found
}

/// A walk through a tree.
struct WriteTracker<'a> {
    tree: &'a Tree,
    /// The containers written before the node at hand, in the loop around it.
    written: FxHashSet<Handle<Container>>,
    /// The same, in the order in which they were written.
    trail: Vec<Handle<Container>>,
    found: BTreeSet<Handle<Container>>,
}

impl WriteTracker<'_> {
    fn block(&mut self, nodes: &[Node]) {
        for node in nodes {
            node.each_own_access(&mut |role, access| {
                if role.is_write() {
                    self.write(access.container);
                } else {
                    self.read(access);
                }
            });
            match node {
                Node::Assign(_) | Node::Barrier => {}
                Node::If(it) => {
                    let in_then = self.branch(&it.then);
                    let in_otherwise: FxHashSet<_> = self.branch(&it.otherwise).into_iter().collect();
                    in_then.into_iter().filter(|it| in_otherwise.contains(it)).for_each(|it| self.write(it));
                }
                // A write that may be skipped does not count for the nodes behind it.
                Node::While(it) => drop(self.branch(&it.body)),
                Node::Region(it) => drop(self.branch(&it.children)),
                Node::Where(it) => drop(self.branch(&it.children)),
                Node::Loop(it) => {
                    let (written, trail) =
                        (std::mem::take(&mut self.written), std::mem::take(&mut self.trail));
                    self.block(&it.children);
                    (self.written, self.trail) = (written, trail);
                }
            }
        }
    }

    fn write(&mut self, container: Handle<Container>) {
        if self.written.insert(container) {
            self.trail.push(container);
        }
    }

    /// Visits nodes that may not run. Returns the containers that they write and that were not written
    /// before.
    fn branch(&mut self, nodes: &[Node]) -> Vec<Handle<Container>> {
        let before = self.trail.len();
        self.block(nodes);
        let inside = self.trail.split_off(before);
        for it in &inside {
            self.written.remove(it);
        }
        inside
    }

    fn read(&mut self, access: &Access) {
        let is_register = match &self.tree.containers[access.container].storage {
            Storage::Register => true,
            Storage::Private(_) | Storage::Caller | Storage::Heap => false,
        };
        if is_register && !self.written.contains(&access.container) {
            self.found.insert(access.container);
        }
    }
}

/// The elements of one scope that data flow alone puts in order. An element is a statement or a loop.
#[derive(Debug, Default)]
pub(super) struct ElementOrder {
    elements: Vec<OrderedElement>,
    /// The elements that read and that write something of a container, in order.
    readers: BTreeMap<Handle<Container>, Vec<usize>>,
    writers: BTreeMap<Handle<Container>, Vec<usize>>,
}

#[derive(Debug)]
struct OrderedElement {
    effects: Rc<Effects>,
    /// The elements whose data this one reads.
    sources: BTreeSet<usize>,
}

impl ElementOrder {
    /// Adds an element behind the others, if data flow puts it behind every one that it conflicts with.
    pub(super) fn admit(&mut self, effects: Rc<Effects>) -> bool {
        let mut sources = BTreeSet::new();
        for read in &effects.reads {
            let overwrites = |it: &&usize| self.elements[**it].effects.overwrites(read);
            let Some(&writer) = all_of(&self.writers, read).iter().rev().find(overwrites) else { continue };
            // A reader gets its data from one access node, so one writer has to cover the read.
            if !self.elements[writer].effects.covers(read) {
                return false;
            }
            sources.insert(writer);
        }
        let is_behind = |touched: &ContainerSubset, is_write: bool| {
            // The search ends at an element that overwrites all that is touched. Earlier elements that
            // conflict lie before that overwriter already: this was checked when it was added.
            let mut overwriter = None;
            for &writer in all_of(&self.writers, touched).iter().rev() {
                let it = &self.elements[writer].effects;
                if it.overwrites(touched) && !self.reaches(writer, &sources) {
                    return false;
                }
                if it.overwrites_all_of(touched) {
                    overwriter = Some(writer);
                    break;
                }
            }
            let readers = all_of(&self.readers, touched).iter().rev();
            let readers = readers.take_while(|&&it| overwriter.is_none_or(|overwriter| it > overwriter));
            let is_read =
                |it: &&usize| self.elements[**it].effects.reads.iter().any(|it| it.conflicts(touched));
            !is_write || readers.filter(is_read).all(|&it| self.reaches(it, &sources))
        };
        let is_ordered = effects.reads.iter().all(|it| is_behind(it, false))
            && effects.writes.iter().all(|it| is_behind(it, true));
        if !is_ordered {
            return false;
        }
        let at = self.elements.len();
        for (all, touched) in [(&mut self.readers, &effects.reads), (&mut self.writers, &effects.writes)] {
            for container in touched.iter().map(|it| it.container).collect::<BTreeSet<_>>() {
                all.entry(container).or_default().push(at);
            }
        }
        self.elements.push(OrderedElement { effects, sources });
        true
    }

    /// Whether an element is one of `sources`, or data flows from it to one of them over any number of steps.
    fn reaches(&self, from: usize, sources: &BTreeSet<usize>) -> bool {
        if sources.contains(&from) {
            return true;
        }
        let mut seen = BTreeSet::new();
        // Data flows forward: no element before `from` has its data.
        let mut open: Vec<usize> = sources.range(from..).copied().collect();
        while let Some(at) = open.pop() {
            let sources = &self.elements[at].sources;
            if sources.contains(&from) {
                return true;
            }
            if seen.insert(at) {
                open.extend(sources.range(from..));
            }
        }
        false
    }
}

fn all_of<'e>(
    elements: &'e BTreeMap<Handle<Container>, Vec<usize>>,
    touched: &ContainerSubset,
) -> &'e [usize] {
    elements.get(&touched.container).map_or(&[], Vec::as_slice)
}

impl ContainerSubset {
    fn conflicts(&self, other: &ContainerSubset) -> bool {
        self.container == other.container && !are_disjoint(&self.subset, &other.subset)
    }
}
