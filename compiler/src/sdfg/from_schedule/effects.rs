//! What a part of the schedule tree reads and writes, and what that orders.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::marker::PhantomData;
use std::rc::Rc;

use super::Context;
use crate::entity::Handle;
use crate::schedule::nodes::{Access, Container, Expr, Loop, Node, Storage, Subscript, Tree};
use crate::schedule::visit::accesses;
use crate::sdfg::nodes::Range;
use crate::sdfg::subset::{are_disjoint, clipped, holds, propagated, union};
use crate::space::{Affine, Size, Symbol};

/// Elements of a container of the schedule tree.
#[derive(Clone, Debug)]
pub(super) struct Touched {
    pub(super) container: Handle<Container>,
    /// Shared, since each scope around has it too.
    pub(super) subset: Rc<[Range]>,
}

/// What a node needs from before, and what it leaves behind.
#[derive(Clone, Debug, Default)]
pub(super) struct Effects {
    /// Reads that no earlier write of the node itself covers.
    pub(super) reads: Vec<Touched>,
    pub(super) writes: Vec<Touched>,
    /// Positions in `writes` that control flow cannot skip.
    certain: BTreeSet<usize>,
}

/// Effects that were asked for before: a node is asked for once by each scope around it.
///
/// Nodes are told apart by where they lie: the tree is borrowed as long as this lives, so none can take
/// the place of another.
#[derive(Debug, Default)]
pub(super) struct Memo<'t> {
    known: RefCell<BTreeMap<*const Node, Rc<Effects>>>,
    tree: PhantomData<&'t Node>,
}

impl<'t> Memo<'t> {
    pub(super) fn get_or(&self, node: &'t Node, compute: impl FnOnce() -> Effects) -> Rc<Effects> {
        let key = std::ptr::from_ref(node);
        if let Some(known) = self.known.borrow().get(&key) {
            return Rc::clone(known);
        }
        let effects = Rc::new(compute());
        self.known.borrow_mut().insert(key, Rc::clone(&effects));
        effects
    }
}

impl Effects {
    /// The effects of nodes that run one after the other.
    pub(super) fn of_all<'t>(cx: &Context<'t>, nodes: &'t [Node]) -> Self {
        let mut all = Self::default();
        for node in nodes {
            all.then(&Self::of(cx, node), Certainty::Always);
        }
        all
    }

    /// The effects of one node.
    pub(super) fn of<'t>(cx: &Context<'t>, node: &'t Node) -> Rc<Self> {
        cx.effects.get_or(node, || Self::computed(cx, node))
    }

    fn computed<'t>(cx: &Context<'t>, node: &'t Node) -> Self {
        let mut effects = Self::default();
        match node {
            Node::Assign(assign) => {
                effects.read(cx, &assign.value);
                effects.write(cx, &assign.target);
            }
            Node::Loop(it) => effects = Self::of_loop(cx, it),
            Node::If(it) => {
                effects.read(cx, &it.condition);
                let then = Self::of_all(cx, &it.then);
                let otherwise = Self::of_all(cx, &it.otherwise);
                let in_both: Vec<Touched> =
                    then.certain_writes().filter(|it| otherwise.covers(it)).cloned().collect();
                // Neither branch sees what the other wrote.
                let before = effects.clone();
                effects.then(&then, Certainty::Perhaps);
                let mut other = before;
                other.then(&otherwise, Certainty::Perhaps);
                effects.reads.extend(other.reads);
                effects.writes.extend(other.writes);
                for touched in in_both {
                    effects.certain.insert(effects.writes.len());
                    effects.writes.push(touched);
                }
            }
            Node::While(it) => {
                effects.read(cx, &it.condition);
                effects.then(&Self::of_all(cx, &it.body), Certainty::Perhaps);
            }
            Node::Region(it) => effects.then(&Self::of_all(cx, &it.children), Certainty::Perhaps),
            Node::Where(it) => effects.then(&Self::of_all(cx, &it.children), Certainty::Perhaps),
        }
        effects
    }

    /// The effects of all iterations, without what only one iteration sees.
    fn of_loop<'t>(cx: &Context<'t>, it: &'t Loop) -> Self {
        let Context { tree, uses, .. } = cx;
        let mut effects = Self::default();
        let body = Self::of_all(cx, &it.children);
        let over = Range::new(it.start.clone(), it.end.clone());
        let inside = Uses::of_loop(it);
        let spread = |touched: &Touched| Touched {
            container: touched.container,
            // What a region keeps from being touched is cut off again.
            subset: touched
                .subset
                .iter()
                .zip(&tree.containers[touched.container].shape)
                .map(|(at, size)| clipped(propagated(at, &it.variable, &over), size))
                .collect(),
        };
        let is_seen = |touched: &Touched| !uses.is_private(tree, touched.container, &inside);
        effects.reads = body.reads.iter().filter(|it| is_seen(it)).map(spread).collect();
        for (at, touched) in body.writes.iter().enumerate().filter(|(_, it)| is_seen(it)) {
            if body.certain.contains(&at) && touches_all(touched, it) {
                effects.certain.insert(effects.writes.len());
            }
            effects.writes.push(spread(touched));
        }
        effects
    }

    fn read(&mut self, cx: &Context<'_>, expr: &Expr) {
        accesses(expr, &mut |access| self.read_element(cx, access));
    }

    fn read_element(&mut self, cx: &Context<'_>, access: &Access) {
        let touched = Touched::element(cx.tree, access);
        if !self.covers(&touched) {
            self.reads.push(touched);
        }
    }

    fn write(&mut self, cx: &Context<'_>, target: &Access) {
        target.walk(&mut |access| {
            if !std::ptr::eq(access, target) {
                self.read_element(cx, access);
            }
        });
        // Of a range that an index is found in, one element is written.
        if target.index.iter().all(|it| it.found.is_none()) {
            self.certain.insert(self.writes.len());
        }
        self.writes.push(Touched::element(cx.tree, target));
    }

    fn then(&mut self, next: &Self, certainty: Certainty) {
        for touched in &next.reads {
            if !self.covers(touched) {
                self.reads.push(touched.clone());
            }
        }
        for (at, touched) in next.writes.iter().enumerate() {
            if certainty == Certainty::Always && next.certain.contains(&at) {
                self.certain.insert(self.writes.len());
            }
            self.writes.push(touched.clone());
        }
    }

    /// One read and one write per container, in the order of containers, as memlets around a map have them.
    pub(super) fn merged(&self, tree: &Tree) -> Self {
        let (reads, writes) = (united(tree, &self.reads), united(tree, &self.writes));
        let mut merged = Self { reads, writes, ..Self::default() };
        let is_certain = |it: &Touched| self.covers(it);
        merged.certain = (0..merged.writes.len()).filter(|&at| is_certain(&merged.writes[at])).collect();
        merged
    }

    fn touches(&self, other: &Touched) -> bool {
        self.reads.iter().chain(&self.writes).any(|it| it.conflicts(other))
    }

    fn overwrites(&self, other: &Touched) -> bool {
        self.writes.iter().any(|it| it.conflicts(other))
    }

    fn certain_writes(&self) -> impl Iterator<Item = &Touched> {
        self.certain.iter().map(|&at| &self.writes[at])
    }

    fn covers(&self, read: &Touched) -> bool {
        self.certain_writes().any(|it| it.container == read.container && holds(&it.subset, &read.subset))
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Certainty {
    Always,
    Perhaps,
}

fn united(tree: &Tree, parts: &[Touched]) -> Vec<Touched> {
    let mut by_container = BTreeMap::<_, Rc<[Range]>>::new();
    for part in parts {
        by_container
            .entry(part.container)
            .and_modify(|all| {
                if !holds(all, &part.subset) {
                    let shape = &tree.containers[part.container].shape;
                    let whole = shape.iter().map(|size| Range::new(Affine::constant(0).into(), size.clone()));
                    // Nothing is wider than all of a dimension, also where the symbols do not show it.
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
    by_container.into_iter().map(|(container, subset)| Touched { container, subset }).collect()
}

/// Whether the writes of all iterations together leave no gap in the spread subset: each
/// dimension follows the variable step by step, or not at all.
fn touches_all(touched: &Touched, it: &Loop) -> bool {
    touched.subset.iter().all(|range| match range.as_point() {
        Some(at) => at.factor(&it.variable).abs() <= 1,
        None => range_is_free_of(range, it),
    })
}

fn range_is_free_of(range: &Range, it: &Loop) -> bool {
    let over = Range::new(it.start.clone(), it.end.clone());
    propagated(range, &it.variable, &over) == *range
}

impl Touched {
    pub(super) fn element(tree: &Tree, access: &Access) -> Self {
        let shape = &tree.containers[access.container].shape;
        let subset = access.index.iter().zip(shape).map(|(at, size)| range(at, size)).collect();
        Self { container: access.container, subset }
    }
}

/// What an index can be: all of its dimension, where it is found at run time.
pub(super) fn range(at: &Subscript, size: &Size) -> Range {
    match at.as_known() {
        Some(at) => Range::point(at),
        None => Range::new(Affine::constant(0).into(), size.clone()),
    }
}

/// How often each container is accessed in a part of the tree.
#[derive(Clone, Debug, Default)]
pub(super) struct Uses {
    accesses: BTreeMap<Handle<Container>, usize>,
    /// The variables of the loops in this part.
    variables: BTreeSet<Symbol>,
}

impl Uses {
    pub(super) fn of_all(nodes: &[Node]) -> Self {
        let mut uses = Self::default();
        uses.add(nodes);
        uses
    }

    /// Those of all iterations of a loop.
    pub(super) fn of_loop(it: &Loop) -> Self {
        let mut uses = Self::of_all(&it.children);
        uses.variables.insert(it.variable.clone());
        uses
    }

    /// The containers that are accessed, in their order.
    pub(super) fn containers(&self) -> impl Iterator<Item = Handle<Container>> {
        self.accesses.keys().copied()
    }

    /// Whether a container holds values of one iteration of a loop with the uses
    /// `inside`, so that nothing outside sees it. `self` are the uses of the whole tree.
    pub(super) fn is_private(&self, tree: &Tree, container: Handle<Container>, inside: &Uses) -> bool {
        let may_be = match &tree.containers[container].storage {
            Storage::Register => true,
            Storage::Private(variable) => inside.variables.contains(variable),
            Storage::Caller | Storage::Heap => false,
        };
        may_be && self.accesses.get(&container) == inside.accesses.get(&container)
    }

    pub(super) fn add(&mut self, nodes: &[Node]) {
        for node in nodes {
            match node {
                Node::Loop(it) => {
                    self.variables.insert(it.variable.clone());
                    self.add(&it.children);
                }
                Node::Region(it) => self.add(&it.children),
                Node::Where(it) => self.add(&it.children),
                Node::If(it) => {
                    self.add_expr(&it.condition);
                    self.add(&it.then);
                    self.add(&it.otherwise);
                }
                Node::While(it) => {
                    self.add_expr(&it.condition);
                    self.add(&it.body);
                }
                Node::Assign(it) => {
                    self.add_expr(&it.value);
                    it.target.walk(&mut |access| self.add_access(access));
                }
            }
        }
    }

    pub(super) fn add_expr(&mut self, expr: &Expr) {
        accesses(expr, &mut |access| self.add_access(access));
    }

    fn add_access(&mut self, access: &Access) {
        *self.accesses.entry(access.container).or_default() += 1;
    }
}

/// Which elements of one scope are ordered by data flow alone.
#[derive(Debug, Default)]
pub(super) struct Order {
    elements: Vec<Ordered>,
}

#[derive(Debug)]
struct Ordered {
    effects: Rc<Effects>,
    /// Elements that data reaches this one from, over any number of steps.
    ancestors: BTreeSet<usize>,
}

impl Order {
    /// Adds an element behind the others, if data flow puts it behind every one that it conflicts with.
    pub(super) fn admit(&mut self, effects: Rc<Effects>) -> bool {
        let mut ancestors = BTreeSet::new();
        for read in &effects.reads {
            let overlaps = |it: &Ordered| it.effects.writes.iter().any(|it| it.conflicts(read));
            let Some(writer) = self.elements.iter().rposition(overlaps) else { continue };
            // An access node stands for all that its readers see, so that nothing else needs to reach them.
            if !self.elements[writer].effects.covers(read) {
                return false;
            }
            ancestors.insert(writer);
            ancestors.extend(&self.elements[writer].ancestors);
        }
        let is_ordered = |(at, earlier): (usize, &Ordered)| {
            let (reads, writes) = (&earlier.effects.reads, &earlier.effects.writes);
            ancestors.contains(&at)
                || !(writes.iter().any(|it| effects.touches(it))
                    || reads.iter().any(|it| effects.overwrites(it)))
        };
        if !self.elements.iter().enumerate().all(is_ordered) {
            return false;
        }
        self.elements.push(Ordered { effects, ancestors });
        true
    }
}

impl Touched {
    fn conflicts(&self, other: &Touched) -> bool {
        self.container == other.container && !are_disjoint(&self.subset, &other.subset)
    }
}
