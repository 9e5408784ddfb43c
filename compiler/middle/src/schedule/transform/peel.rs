//! Splits a loop around regions into several loops without them.

use std::collections::BTreeSet;

use super::unused::drop_unused;
use super::{Path, Refusal};
use crate::schedule::nodes::{Container, Loop, Node, Order, Storage, Tree, Where};
use crate::space::order::{greatest, is_at_most, least};
use crate::space::{Affine, Axis, Bound, Level, Region, Side, Size, Symbol};

/// Splits a loop over i or j at the bounds of the regions inside, and takes the regions apart along that
/// axis. A loop over k is split at the limits inside: in turned loops, these are regions too.
///
/// - **Effect**: pieces between neighbouring bounds, each with the statements that run there. A piece leaves
///   out locals that nobody reads in it.
/// - **Legality**: the loop has no order, so its iterations may run piece by piece.
/// - **Why**: without a test at each point, the long piece in the middle runs in vector lanes.
///
/// Loops are peeled here and not on the OIR. A piece is a choice of loops and changes no statement's meaning.
/// Whether it pays depends on the lengths of the loops, which the OIR does not know. Statements of one loop
/// already run point by point. So the other condition, that no point needs another one, holds for every loop
/// without order. Both forms are compared with the stencil in `equivalence/tests.rs`.
///
/// # Errors
///
/// The reason why not; the tree is as it was.
pub fn peel_regions(tree: &mut Tree, path: &Path) -> Result<(), Refusal> {
    let it = tree.loop_at(path).ok_or_else(|| Refusal::new("there is no such loop"))?;
    let owned =
        |(_, c): &(_, &Container)| matches!(&c.storage, Storage::Private(owner) if *owner == it.variable);
    if tree.containers.iter().any(|it| owned(&it)) {
        return Err(Refusal::new(format!("arrays live in an iteration over `{}`", it.variable)));
    }
    let mut pieces = pieces(it)?;
    drop_unused(tree, &mut pieces);
    let Some((&at, outer)) = path.split_last() else { return Ok(()) };
    if let Some(block) = tree.block_mut(outer) {
        block.splice(at..=at, pieces);
    }
    Ok(())
}

/// Returns a loop for each piece, from the first position to the last.
///
/// # Errors
///
/// The reason why it cannot be split.
pub fn pieces(it: &Loop) -> Result<Vec<Node>, Refusal> {
    let axis = it.axis;
    if it.variable.name() != axis.position_name() {
        return Err(Refusal::new("regions are of positions"));
    }
    if it.order != Order::Parallel {
        return Err(Refusal::new(format!("the loop over `{}` has an order", it.variable)));
    }
    let mut cuts = BTreeSet::new();
    it.children.iter().for_each(|it| bounds_of(it, axis, &mut cuts));
    if cuts.is_empty() {
        return Err(Refusal::new("no region limits it"));
    }
    // Bounds that count from the start come first, then those that count from the end. On a domain too small
    // for that order, a piece between them is empty. There, a piece before the last bound from the start may
    // lie behind a bound from the end. Such a piece keeps its tests for bounds from the end.
    let cuts: Vec<Bound> = cuts.into_iter().collect();
    let (start, end) = (&it.start, &it.end);
    let mut edges = vec![start.clone()];
    for cut in &cuts {
        let at = least(&greatest(&place_of(*cut, axis), edges.last().unwrap_or(start)), end);
        edges.push(at);
    }
    edges.push(end.clone());
    let n_from_start = cuts.iter().take_while(|it| it.level == Level::Start).count();
    let piece = |(at, range): (usize, &[Size])| {
        if is_at_most(&range[1], &range[0]) {
            return None;
        }
        let mut children = it.children.clone();
        let (start, end) = (range[0].clone(), range[1].clone());
        resolve(&mut children, axis, &|bound| {
            let has_begun = cuts.iter().position(|it| *it == bound).is_some_and(|cut| cut < at);
            let place = place_of(bound, axis);
            match n_from_start <= at || bound.level == Level::Start {
                true => Some(has_begun),
                // A domain has a point, so a bound that counts from its end is never before its start.
                false if is_at_most(&end, &place) => Some(false),
                false => is_at_most(&place, &start).then_some(true),
            }
        });
        (!children.is_empty()).then(|| Node::Loop(Loop { start, end, children, ..it.clone() }))
    };
    Ok(edges.windows(2).enumerate().filter_map(piece).collect())
}

/// The bounds of the regions inside along an axis; along K, those of limits.
pub(in crate::schedule) fn bounds_of(node: &Node, axis: Axis, found: &mut BTreeSet<Bound>) {
    let side = match node {
        Node::Region(it) => it.region.along(axis),
        Node::Where(it) if axis == Axis::K => limits(it, axis).unwrap_or_default(),
        _ => Side::default(),
    };
    found.extend([side.start, side.end].into_iter().flatten());
    node.children().into_iter().for_each(|it| bounds_of(it, axis, found));
}

/// Both limits of positions along an axis, where each has a fixed distance from a side of the domain.
fn limits(it: &Where, axis: Axis) -> Option<Side> {
    let bound = |size: &Size| {
        let Size::Affine(sum) = size else { return None };
        let offset = i32::try_from(sum.offset()).ok()?;
        let size = Symbol::new(axis.name());
        let level = match sum.terms().collect::<Vec<_>>().as_slice() {
            [] => Level::Start,
            [(symbol, 1)] if **symbol == size => Level::End,
            _ => return None,
        };
        Some(Bound { level, offset })
    };
    let is_of_loop = it.variable.name() == axis.position_name();
    Some(Side { start: Some(bound(&it.start)?), end: Some(bound(&it.end)?) }).filter(|_| is_of_loop)
}

pub(in crate::schedule) fn place_of(bound: Bound, axis: Axis) -> Size {
    match bound.level {
        Level::Start => Affine::constant(bound.offset.into()).into(),
        Level::End => Affine::beside(&Symbol::new(axis.name()), bound.offset.into()).into(),
    }
}

/// Takes the side along `axis` off each region, and drops nodes outside of the piece. `has_begun` tells
/// whether a bound lies at or before the piece, where that is known.
fn resolve(block: &mut Vec<Node>, axis: Axis, has_begun: &dyn Fn(Bound) -> Option<bool>) {
    for mut node in std::mem::take(block) {
        let is_outside = |side: Side| {
            side.start.and_then(has_begun) == Some(false) || side.end.and_then(has_begun) == Some(true)
        };
        let unknown = |bound: &Bound| has_begun(*bound).is_none();
        if let Node::Where(it) = &mut node
            && axis == Axis::K
            && let Some(side) = limits(it, axis)
        {
            if is_outside(side) {
                continue;
            }
            if ![side.start, side.end].iter().flatten().any(unknown) {
                resolve(&mut it.children, axis, has_begun);
                block.append(&mut it.children);
                continue;
            }
        }
        if let Node::Region(it) = &mut node {
            let side = it.region.along(axis);
            if is_outside(side) {
                continue;
            }
            let left = Side { start: side.start.filter(unknown), end: side.end.filter(unknown) };
            match axis {
                Axis::I => it.region.i = left,
                Axis::J => it.region.j = left,
                Axis::K => {}
            }
        }
        node.blocks_mut().into_iter().for_each(|it| resolve(it, axis, has_begun));
        match node {
            Node::Region(it) if it.region == Region::default() => block.extend(it.children),
            Node::Region(it) if it.children.is_empty() => {}
            Node::If(it) if it.then.is_empty() && it.otherwise.is_empty() => {}
            Node::Loop(it) if it.children.is_empty() => {}
            Node::Where(it) if it.children.is_empty() => {}
            node => block.push(node),
        }
    }
}
