//! The containers whose elements are all written before they are read, in one run of a tree.
//!
//! A container of a caller that is covered holds nothing from before a run, so it can be a temporary.
//! Boxes of indices tell what statements write for sure, and what they read at most.
//!
//! ```text
//! for k in [0, K):
//!   for j in [0, J), i in [0, I):
//!     t[i, j, k] = …                 writes [0, I) x [0, J) x [0, K)
//! for k in [1, K):
//!   for j in [0, J), i in [0, I):
//!     … = t[i, j, k - 1]             reads  [0, I) x [0, J) x [0, K - 1), which is inside
//! ```

use std::collections::{BTreeMap, BTreeSet};

use super::nodes::{
    Access, Container, Expr, HorizontalLoop, Node, Tree, VerticalLoop, position_symbol, size_symbol,
};
use super::visit::accesses;
use crate::entity::Handle;
use crate::space::assume::Assumptions;
use crate::space::{Affine, Axis, Bound, Level, LoopOrder, Region, Size, Symbol};

/// The containers with dimensions that are read, each element after it is written.
#[must_use]
pub fn covered(tree: &Tree) -> BTreeSet<Handle<Container>> {
    let mut walk = CoverageWalk {
        tree,
        known: Assumptions::some_point(),
        written: BTreeMap::new(),
        read: BTreeSet::new(),
        uncovered: BTreeSet::new(),
    };
    for node in &tree.children {
        match node {
            Node::VerticalLoop(it) => walk.vertical(it),
            other => walk.read_anything(other),
        }
    }
    &walk.read - &walk.uncovered
}

/// First and behind the last index, for each dimension.
type IndexBox = Vec<(Affine, Affine)>;

/// The values of loop variables: first, and behind the last.
type Ranges = BTreeMap<Symbol, (Affine, Affine)>;

struct CoverageWalk<'t> {
    tree: &'t Tree,
    known: Assumptions,
    /// By the loops so far.
    written: BTreeMap<Handle<Container>, Vec<IndexBox>>,
    read: BTreeSet<Handle<Container>>,
    uncovered: BTreeSet<Handle<Container>>,
}

/// A write that happens at each point of some ranges.
#[derive(Clone, Debug)]
struct SureWrite<'t> {
    access: &'t Access,
    ranges: Ranges,
}

/// The writes before an execution of a loop over levels.
struct Earlier<'a, 't> {
    order: LoopOrder,
    /// By executions before it, on the same level.
    same_level: &'a [SureWrite<'t>],
    /// By all executions of the loop.
    of_loop: &'a [SureWrite<'t>],
}

impl<'t> CoverageWalk<'t> {
    fn vertical(&mut self, it: &'t VerticalLoop) {
        let Some(levels) = affine_range(&it.start, &it.end) else {
            return it.children.iter().for_each(|it| self.read_anything(it));
        };
        let planes: Vec<(&HorizontalLoop, Ranges)> = it
            .children
            .iter()
            .filter_map(|child| match child {
                Node::HorizontalLoop(plane) => Some((plane, ranges(plane, &levels)?)),
                _ => None,
            })
            .collect();
        if planes.len() < it.children.len() {
            return it.children.iter().for_each(|it| self.read_anything(it));
        }
        let mut of_loop = Vec::new();
        let mut ends = Vec::new();
        for (plane, ranges) in &planes {
            self.sure_writes(&plane.children, ranges, &mut of_loop);
            ends.push(of_loop.len());
        }
        let mut n_before = 0;
        for ((plane, ranges), end) in planes.iter().zip(ends) {
            let earlier = Earlier { order: it.order, same_level: &of_loop[..n_before], of_loop: &of_loop };
            self.body(&plane.children, ranges, &mut Vec::new(), &earlier);
            n_before = end;
        }
        for write in of_loop {
            if let Some(found) = self.written_box(&write) {
                self.written.entry(write.access.container).or_default().push(found);
            }
        }
    }

    /// Nothing is known of these nodes.
    fn read_anything(&mut self, node: &Node) {
        let mut all = BTreeSet::new();
        node.walk(&mut |it| {
            let mut add = |it: &Access| all.extend([it.container]);
            it.expression().into_iter().for_each(|it| accesses(it, &mut add));
            it.target().into_iter().for_each(|it| it.walk(&mut add));
        });
        self.uncovered.extend(all);
    }

    /// The statements of an execution, in order. `here` has the elements that are written at this point.
    fn body(
        &mut self,
        nodes: &'t [Node],
        ranges: &Ranges,
        here: &mut Vec<&'t Access>,
        earlier: &Earlier<'_, 't>,
    ) {
        for node in nodes {
            if let Some(expr) = node.expression() {
                self.expression(expr, ranges, here, earlier);
            }
            if let Some(target) = node.target() {
                for found in target.index.iter().filter_map(|it| it.found.as_ref()) {
                    self.expression(found, ranges, here, earlier);
                }
            }
            match node {
                Node::Assign(it) => {
                    if it.target.index.iter().all(|it| it.found.is_none()) {
                        here.push(&it.target);
                    }
                }
                Node::If(it) => {
                    let (mut then, mut otherwise) = (here.clone(), here.clone());
                    self.body(&it.then, ranges, &mut then, earlier);
                    self.body(&it.otherwise, ranges, &mut otherwise, earlier);
                    then.retain(|it| otherwise.contains(it));
                    *here = then;
                }
                Node::While(it) => self.body(&it.body, ranges, &mut here.clone(), earlier),
                Node::Region(it) => {
                    let (inside, _) = self.within(ranges, it.region);
                    self.body(&it.children, &inside, &mut here.clone(), earlier);
                }
                Node::VerticalLoop(_) | Node::HorizontalLoop(_) => self.read_anything(node),
            }
        }
    }

    fn expression(
        &mut self,
        expr: &'t Expr,
        ranges: &Ranges,
        here: &[&'t Access],
        earlier: &Earlier<'_, 't>,
    ) {
        accesses(expr, &mut |access| {
            let container = &self.tree.containers[access.container];
            if container.shape.is_empty() {
                return;
            }
            self.read.insert(access.container);
            let is_known = self.uncovered.contains(&access.container) || here.contains(&access);
            if !is_known && !self.is_written(access, ranges, earlier) {
                self.uncovered.insert(access.container);
            }
        });
    }

    /// Whether every element that an access reads was written before, in whichever iteration.
    fn is_written(&self, access: &Access, ranges: &Ranges, earlier: &Earlier<'_, 't>) -> bool {
        let none = Vec::new();
        let written = self.written.get(&access.container).unwrap_or(&none);
        let Some(read) = self.read_box(access, ranges) else { return false };
        if self.covers(&read, written) {
            return true;
        }
        let container = &self.tree.containers[access.container];
        let along_k = container.axes.iter().position(|it| it == Axis::K);
        let level = |it: &Access| along_k.and_then(|at| it.index[at].as_known()).map(Affine::offset);
        let plane = |whole: &IndexBox| {
            let kept = whole.iter().enumerate().filter(|it| Some(it.0) != along_k);
            kept.map(|it| it.1.clone()).collect::<IndexBox>()
        };
        let of_level = |writes: &[SureWrite<'t>], wanted: Option<i64>| -> Vec<IndexBox> {
            let same = writes.iter().filter(|it| it.access.container == access.container);
            let same = same.filter(|it| level(it.access) == wanted);
            same.filter_map(|it| Some(plane(&self.written_box(it)?))).collect()
        };
        let is_found = access.index.iter().any(|it| it.found.is_some());
        if is_found {
            return false;
        }
        let own = level(access);
        if self.covers(&plane(&read), &of_level(earlier.same_level, own)) {
            return true;
        }
        // A sweep has written the levels behind it, but for those before its first one.
        let (Some(at), Some(own)) = (along_k, own) else { return false };
        let own_writes = earlier.of_loop.iter().filter(|it| it.access.container == access.container);
        let mut levels: Vec<i64> = own_writes.filter_map(|it| level(it.access)).collect();
        levels.sort_unstable();
        levels.dedup();
        levels.into_iter().any(|written_at| {
            let ahead = match earlier.order {
                LoopOrder::Forward => written_at - own,
                LoopOrder::Backward => own - written_at,
                LoopOrder::Parallel => return false,
            };
            if ahead <= 0 || !self.covers(&plane(&read), &of_level(earlier.of_loop, Some(written_at))) {
                return false;
            }
            let mut first = read.clone();
            let (start, end) = first[at].clone();
            first[at] = match earlier.order {
                LoopOrder::Backward => (end.clone().moved(-ahead), end),
                _ => (start.clone(), start.moved(ahead)),
            };
            self.covers(&first, written)
        })
    }

    /// Adds the writes that happen at each point of the ranges, whatever conditions say.
    fn sure_writes(&self, nodes: &'t [Node], ranges: &Ranges, out: &mut Vec<SureWrite<'t>>) {
        for node in nodes {
            match node {
                Node::Assign(it) if it.target.index.iter().all(|it| it.found.is_none()) => {
                    out.push(SureWrite { access: &it.target, ranges: ranges.clone() });
                }
                Node::If(it) => {
                    let (mut then, mut otherwise) = (Vec::new(), Vec::new());
                    self.sure_writes(&it.then, ranges, &mut then);
                    self.sure_writes(&it.otherwise, ranges, &mut otherwise);
                    then.retain(|one| {
                        otherwise.iter().any(|it| it.access == one.access && it.ranges == one.ranges)
                    });
                    out.extend(then);
                }
                Node::Region(it) => {
                    if let (inside, true) = self.within(ranges, it.region) {
                        self.sure_writes(&it.children, &inside, out);
                    }
                }
                Node::Assign(_) | Node::While(_) | Node::VerticalLoop(_) | Node::HorizontalLoop(_) => {}
            }
        }
    }

    /// The points of ranges that lie in a region, and whether these are all of them.
    fn within(&self, ranges: &Ranges, region: Region) -> (Ranges, bool) {
        let (mut inside, mut is_exact) = (ranges.clone(), true);
        for axis in [Axis::I, Axis::J] {
            let Some((start, end)) = inside.get_mut(&position_symbol(axis)) else { continue };
            let side = region.along(axis);
            if let Some(bound) = side.start.map(|it| position(axis, it)) {
                is_exact &= self.narrow(start, bound, true);
            }
            if let Some(bound) = side.end.map(|it| position(axis, it)) {
                is_exact &= self.narrow(end, bound, false);
            }
        }
        (inside, is_exact)
    }

    /// Takes the greater, or the less, of two ends. Answers whether it is known which one that is.
    fn narrow(&self, end: &mut Affine, other: Affine, takes_greater: bool) -> bool {
        let is_inside = |one: &Affine, other: &Affine| {
            let (less, more) = if takes_greater { (other, one) } else { (one, other) };
            self.known.is_at_most(&less.clone().into(), &more.clone().into())
        };
        if is_inside(&other, end) {
            *end = other;
            return true;
        }
        is_inside(end, &other)
    }

    /// The elements that an access may read; `None` where its index has another form.
    fn read_box(&self, access: &Access, ranges: &Ranges) -> Option<IndexBox> {
        let shape = &self.tree.containers[access.container].shape;
        let dimensions = access.index.iter().zip(shape);
        let all = dimensions.map(|(it, size)| match (it.as_known(), size) {
            (Some(known), _) => index_range(known, ranges),
            (None, Size::Affine(size)) => Some((Affine::constant(0), size.clone())),
            (None, Size::Min(_) | Size::Max(_)) => None,
        });
        all.collect()
    }

    /// The elements that a write covers; `None` where its loops may have no iteration at all for some index.
    fn written_box(&self, write: &SureWrite<'t>) -> Option<IndexBox> {
        let index = write.access.index.iter().map(|it| it.as_known());
        let known: Vec<&Affine> = index.collect::<Option<_>>()?;
        for (variable, (start, end)) in &write.ranges {
            let is_in_index = known.iter().any(|it| it.factor(variable) != 0);
            let has_one = || self.known.is_at_most(&start.clone().moved(1).into(), &end.clone().into());
            if !is_in_index && !has_one() {
                return None;
            }
        }
        known.into_iter().map(|it| index_range(it, &write.ranges)).collect()
    }

    /// Whether boxes hold all elements of another one. Ends that cannot be compared count as not held.
    fn covers(&self, read: &IndexBox, written: &[IndexBox]) -> bool {
        let mut n_steps = 0;
        self.covers_all(read, written, &mut n_steps)
    }

    fn covers_all(&self, read: &IndexBox, written: &[IndexBox], n_steps: &mut usize) -> bool {
        *n_steps += 1;
        let at_most =
            |one: &Affine, other: &Affine| self.known.is_at_most(&one.clone().into(), &other.clone().into());
        if read.iter().any(|(start, end)| at_most(end, start)) {
            return true;
        }
        // A box that is cut off leaves the parts beside it, which later boxes have to hold.
        let (mut rest, mut left) = (read.clone(), Vec::new());
        let Some((first, others)) = written.split_last() else { return false };
        for at in 0..rest.len() {
            let ((start, end), (from, to)) = (rest[at].clone(), &first[at]);
            if !at_most(from, &start) {
                if !at_most(&start, from) {
                    return self.covers_all(read, others, n_steps);
                }
                let mut before = rest.clone();
                before[at] = (start, from.clone());
                left.push(before);
                rest[at].0 = from.clone();
            }
            if !at_most(&end, to) {
                if !at_most(to, &end) {
                    return self.covers_all(read, others, n_steps);
                }
                let mut behind = rest.clone();
                behind[at] = (to.clone(), end);
                left.push(behind);
                rest[at].1 = to.clone();
            }
        }
        let may_go_on = *n_steps < MOST_STEPS;
        may_go_on
            && (left.iter().all(|it| self.covers_all(it, others, n_steps))
                || self.covers_all(read, others, n_steps))
    }
}

/// The most parts of a box that are looked at.
const MOST_STEPS: usize = 500;

fn affine_range(start: &Size, end: &Size) -> Option<(Affine, Affine)> {
    match (start, end) {
        (Size::Affine(start), Size::Affine(end)) => Some((start.clone(), end.clone())),
        _ => None,
    }
}

fn ranges(plane: &HorizontalLoop, levels: &(Affine, Affine)) -> Option<Ranges> {
    let i = affine_range(&plane.i.0, &plane.i.1)?;
    let j = affine_range(&plane.j.0, &plane.j.1)?;
    let of = |axis, range| (position_symbol(axis), range);
    Some(Ranges::from([of(Axis::I, i), of(Axis::J, j), of(Axis::K, levels.clone())]))
}

/// The position of a bound of a region.
fn position(axis: Axis, bound: Bound) -> Affine {
    let offset = i64::from(bound.offset);
    match bound.level {
        Level::Start => Affine::constant(offset),
        Level::End => Affine::beside(&size_symbol(axis), offset),
    }
}

/// The values of an index: `variable + constant`, or a constant.
fn index_range(index: &Affine, ranges: &Ranges) -> Option<(Affine, Affine)> {
    let mut variables = ranges.iter().filter(|(it, _)| index.factor(it) != 0);
    match (variables.next(), variables.next()) {
        (None, _) => Some((index.clone(), index.clone().moved(1))),
        (Some((variable, (start, end))), None) if index.factor(variable) == 1 => {
            Some((index.substituted(variable, start), index.substituted(variable, end)))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::oir::analysis::extents::extents;
    use crate::oir::parse::parse;
    use crate::tree::from_oir;

    /// The fields that are covered in a stencil.
    fn names_covered(text: &str) -> Vec<String> {
        let stencil = parse(&format!("\nstencil covered\n{text}")).expect("it is OIR");
        let tree = from_oir::lower(&stencil, &extents(&stencil));
        covered(&tree).into_iter().map(|it| tree.containers[it].name.clone()).collect()
    }

    #[test]
    fn what_is_written_at_the_point_or_around_it_first_is_covered() {
        let fields = "field a: float64[IJK]\nfield b: float64[IJK]\nfield c: float64[IJK]\nparallel\n";
        assert_eq!(
            names_covered(&format!("{fields}  [start, end)\n    x0\n      a = c\n      b = a\n")),
            ["a"]
        );
        // Beside the domain nothing wrote it.
        let beside = format!("{fields}  [start, end)\n    x0\n      a = c\n    x1\n      b = a[1,0,0]\n");
        assert_eq!(names_covered(&beside), Vec::<String>::new());
        // Two sections cover all levels together, and each of them a part.
        let levels = format!(
            "{fields}  [start, start+1)\n    x0\n      a = c\n  [start+1, end)\n    x1\n      a = c\n\
             parallel\n  [start, end)\n    x2\n      b = a\n"
        );
        assert_eq!(names_covered(&levels), ["a"]);
        let one = format!(
            "{fields}  [start+1, end)\n    x0\n      a = c\nparallel\n  [start, end)\n    x1\n      b = a\n"
        );
        assert_eq!(names_covered(&one), Vec::<String>::new());
    }

    #[test]
    fn a_condition_covers_where_both_arms_do() {
        let fields = "field a: float64[IJK]\nfield b: float64[IJK]\nfield c: float64[IJK]\nparallel\n  [start, end)\n    x0\n";
        let both = "      if c > 0.0\n        a = 1.0\n      else\n        a = 2.0\n      b = a\n";
        let one = "      if c > 0.0\n        a = 1.0\n      b = a\n";
        assert_eq!(names_covered(&format!("{fields}{both}")), ["a"]);
        assert_eq!(names_covered(&format!("{fields}{one}")), Vec::<String>::new());
    }

    #[test]
    fn a_region_covers_its_own_columns() {
        let of = |first: &str, second: &str| {
            names_covered(&format!(
                "field a: float64[IJK]\nfield b: float64[IJK]\nparallel\n  [start, end)\n    x0\n      region {first}\n        \
                 a = 1.0\n    x1\n      region {second}\n        b = a\n"
            ))
        };
        assert_eq!(of("i[start, start+1) j[, )", "i[start, start+1) j[, )"), ["a"]);
        assert_eq!(of("i[start, start+1) j[, )", "i[start, start+2) j[, )"), Vec::<String>::new());
        // Which of the two is smaller depends on the domain.
        assert_eq!(of("i[start, start+3) j[, )", "i[end-1, end) j[, )"), Vec::<String>::new());
    }

    #[test]
    fn a_sweep_covers_the_levels_behind_it() {
        let of = |order: &str, first: &str, rest: &str, level: i32| {
            names_covered(&format!(
                "field a: float64[IJK]\nfield c: float64[IJK]\n{order}\n  {first}\n    x0\n      a = c\n  {rest}\n    x1\n      \
                 a = a[0,0,{level}] + c\n"
            ))
        };
        assert_eq!(of("forward", "[start, start+1)", "[start+1, end)", -1), ["a"]);
        assert_eq!(of("forward", "[start, start+1)", "[start+1, end)", -2), Vec::<String>::new());
        assert_eq!(of("forward", "[start, start+2)", "[start+2, end)", -2), ["a"]);
        assert_eq!(of("backward", "[end-1, end)", "[start, end-1)", 1), ["a"]);
        // The level above is not written yet.
        assert_eq!(of("forward", "[start, start+1)", "[start+1, end-1)", 1), Vec::<String>::new());
    }

    #[test]
    fn a_plane_is_covered_once_a_level_has_written_it() {
        let fields = "field p: float64[IJ]\nfield c: float64[IJK]\nfield b: float64[IJK]\nforward\n";
        let first = "  [start, start+1)\n    x0\n      p = c\n";
        let rest =
            "  [start+1, end)\n    x1\n      p = p + c\nparallel\n  [start, end)\n    x2\n      b = p\n";
        assert_eq!(names_covered(&format!("{fields}{first}{rest}")), ["p"]);
        assert_eq!(names_covered(&format!("{fields}{rest}")), Vec::<String>::new());
    }
}
