//! Merges neighbouring loops over one axis into one, in which each runs as far ahead as those behind it need.

use super::refusal::name_of;
use super::tile::{is_around, is_in, place_of, stages};
use super::{Path, Refusal};
use crate::schedule::analysis::summary::Summary;
use crate::schedule::nodes::{Loop, Node, Order, Placement, Tree};
use crate::schedule::transform::merge::summary;
use crate::space::order::{greatest, is_at_most, least};
use crate::space::{Affine, Axis, Size, Symbol, names};

/// The plan of rolling a block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rolling {
    /// The first position of the front, and the one behind its last.
    pub range: (Size, Size),
    /// The loops over the axis, in order.
    pub stages: Vec<Stage>,
}

/// A loop over positions along the axis, inside the block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stage {
    /// Below the block that is rolled: its first entry counts from the first of the nodes.
    pub path: Path,
    pub start: Size,
    pub end: Size,
    /// How far ahead of the front it runs.
    pub ahead: i64,
}

/// Puts a loop over a front around `count` nodes of the block at `outer`, from `first` on. Each loop over
/// `axis` inside runs one position for each of the front's. It runs so far ahead of the front that those
/// behind it in the text find the elements that they read.
///
/// - **Effect**: the loops run position by position, each in turn; nothing is computed twice. The front has
///   an order.
/// - **Legality**: [`plan`].
/// - **Why**: a loop needs a few rows at a time of those that another one leaves for it. These stay in the
///   nearest cache.
///
/// # Errors
///
/// The reason why not; the tree is as it was.
pub fn roll(
    tree: &mut Tree,
    outer: &Path,
    (first, count): (usize, usize),
    axis: Axis,
) -> Result<(), Refusal> {
    let block = tree.block(outer).unwrap_or_default();
    let Some(nodes) = block.get(first..first + count) else {
        return Err(Refusal::new("there are no such nodes"));
    };
    let plan = plan(tree, nodes, axis)?;
    let variable = names::front(axis);
    if is_around(tree, outer, &variable) {
        return Err(Refusal::new(format!("a loop over `{variable}` stands around already")));
    }
    if nodes.iter().any(|it| is_in(it, &variable)) {
        return Err(Refusal::new(format!("a loop over `{variable}` stands inside already")));
    }
    let Some(block) = tree.block_mut(outer) else { return Ok(()) };
    let nodes: Vec<Node> = block.splice(first..first + count, []).collect();
    block.insert(first, Node::Loop(rolled(nodes, &plan, axis)));
    Ok(())
}

/// The nodes as rolling leaves them; arrays are as they were.
#[must_use]
pub(in crate::schedule) fn rolled(mut nodes: Vec<Node>, plan: &Rolling, axis: Axis) -> Loop {
    let variable = names::front(axis);
    for stage in &plan.stages {
        let Some((block, at)) = place_of(&mut nodes, &stage.path) else { continue };
        let Some(Node::Loop(it)) = block.get_mut(at) else { continue };
        (it.start, it.end) = stage.limited(&variable, &plan.range);
    }
    let (start, end) = plan.range.clone();
    let (order, placement) = (Order::Ascending, Placement::Sequential);
    Loop { variable, axis, start, end, step: 1, order, placement, children: nodes }
}

impl Stage {
    /// Its one position while the front is at `variable`, or none where it has no such position.
    fn limited(&self, variable: &Symbol, front: &(Size, Size)) -> (Size, Size) {
        let beside = |distance: i64| Size::Affine(Affine::beside(variable, self.ahead + distance));
        let begins_with_it = is_at_most(&self.start, &front.0.moved(self.ahead));
        let ends_with_it = is_at_most(&front.1.moved(self.ahead), &self.end);
        let start = if begins_with_it { beside(0) } else { greatest(&self.start, &beside(0)) };
        let end = if ends_with_it { beside(1) } else { least(&self.end, &beside(1)) };
        (start, end)
    }
}

/// Finds out how far ahead each loop over `axis` inside the nodes has to run.
///
/// The loops have no order and run one after the other. If two of them touch an element and one of them
/// writes it, the first must come to it no later than the second does. This holds for every kind of
/// dependence. Iterations of one loop have no order, so they may run in the order of the front.
///
/// # Errors
///
/// The reason why there is no such distance.
pub fn plan(tree: &Tree, nodes: &[Node], axis: Axis) -> Result<Rolling, Refusal> {
    let found = stages(nodes, &Symbol::new(axis.position_name()))?;
    if found.len() < 2 {
        return Err(Refusal::new("it is one loop"));
    }
    // The accesses of the loops later in the text, seen from the front.
    let mut later = Summary::default();
    let mut planned = Vec::new();
    for it in found.iter().rev() {
        let about = |refusal: Refusal| refusal.about(&Node::Loop(it.node.clone()));
        if is_inside_of_loop(nodes, &it.path) {
            return Err(about(Refusal::new(format!(
                "a loop stands around that over `{}`",
                it.node.variable
            ))));
        }
        if it.node.step != 1 {
            return Err(about(Refusal::new("it does not run position by position")));
        }
        let of_stage = summary(tree, it.node);
        let lead = of_stage.lead(&later).map_err(|container| {
            let name = name_of(&tree.containers[container]);
            about(Refusal::new(format!("`{name}` is touched in any order along {axis}")))
        })?;
        // No loop runs behind the front, where the last ones run: accesses at the same position stay
        // together.
        let ahead = lead.unwrap_or(0).max(0);
        later.extend(of_stage.moved(ahead));
        planned.push(Stage {
            path: it.path.clone(),
            start: it.node.start.clone(),
            end: it.node.end.clone(),
            ahead,
        });
    }
    planned.reverse();
    let range = planned
        .iter()
        .map(|it| (it.start.moved(-it.ahead), it.end.moved(-it.ahead)))
        .reduce(|a, b| (least(&a.0, &b.0), greatest(&a.1, &b.1)));
    match range {
        Some(range) => Ok(Rolling { range, stages: planned }),
        None => Err(Refusal::new("no loop stands inside")),
    }
}

/// Whether a loop stands around the node at `path`, below `nodes`.
fn is_inside_of_loop(nodes: &[Node], path: &[usize]) -> bool {
    let mut block = nodes;
    for &at in &path[..path.len() - 1] {
        match block.get(at) {
            Some(Node::Where(it)) => block = &it.children,
            _ => return true,
        }
    }
    false
}
