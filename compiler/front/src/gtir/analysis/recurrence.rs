//! Refuses a sweep along k in which each level needs one more neighbour than the level before (E23).
//!
//! `s = q[0,0,-1] + a` then `q = s[1,0,0]`, FORWARD: the value on level k comes
//! from a column k points away. No extent is wide enough for every number of levels.

use std::collections::BTreeSet;

use crate::diag::catalog::rules;
use crate::diag::{Diagnostics, Span};
use crate::entity::Handle;
use crate::space::{Axis, LoopOrder, Offset};

use super::super::nodes::{Field, Stencil, VerticalLoop};
use super::super::visit::{FieldTouch, Touches};

/// One assignment's dependence of what it writes on what it reads.
struct Dependence {
    writes: Handle<Field>,
    reads: Handle<Field>,
    offset: Offset,
    span: Span,
    /// The value comes from a level that the sweep has visited before.
    is_lagging: bool,
}

/// Reports every recurrence; whether there was none.
pub fn check(stencil: &Stencil, diagnostics: &mut Diagnostics) -> bool {
    let mut is_legal = true;
    for vertical_loop in stencil.vertical_loops.iter().filter(|it| it.order != LoopOrder::Parallel) {
        let edges = edges(stencil, vertical_loop);
        for beside in edges.iter().filter(|it| it.offset.is_horizontal()) {
            let cycle = |it: &&Dependence| {
                it.is_lagging
                    && reaches(&edges, beside.reads, it.writes)
                    && reaches(&edges, it.reads, beside.writes)
            };
            if let Some(lag) = edges.iter().find(cycle) {
                let name = &stencil.fields[beside.reads].name;
                let order = vertical_loop.order;
                let found = rules::recurrence_beside(name, beside.offset, beside.span, lag.span, order);
                diagnostics.push(found);
                is_legal = false;
            }
        }
    }
    is_legal
}

fn edges(stencil: &Stencil, vertical_loop: &VerticalLoop) -> Vec<Dependence> {
    let mut edges = Vec::new();
    let blocks: Vec<Vec<FieldTouch>> = vertical_loop.body.iter().map(|it| it.touches()).collect();
    // Without a neighbour there is nothing to need more and more of.
    if !blocks.iter().flatten().any(FieldTouch::is_read_beside) {
        return edges;
    }
    for (at, block) in blocks.iter().enumerate() {
        for write in block.iter().filter(|it| it.is_write) {
            for read in block.iter().filter(|it| !it.is_write) {
                let is_behind = blocks.iter().flatten().any(|it| {
                    it.is_write && it.field == read.field && is_before(vertical_loop.order, read, it)
                });
                // One plane serves all levels: read before it is written, it holds the level before.
                let is_plane = !stencil.fields[read.field].axes.has(Axis::K);
                let is_written_before =
                    || blocks[..at].iter().flatten().any(|it| it.is_write && it.field == read.field);
                edges.push(Dependence {
                    writes: write.field,
                    reads: read.field,
                    offset: read.offset,
                    span: read.span,
                    is_lagging: is_behind || (is_plane && !is_written_before()),
                });
            }
        }
    }
    edges
}

/// Whether the sweep can have written on an earlier level what is read.
fn is_before(order: LoopOrder, read: &FieldTouch, write: &FieldTouch) -> bool {
    if !read.is_level_known || !write.is_level_known {
        return true;
    }
    match order {
        LoopOrder::Forward => read.offset.k < write.offset.k,
        LoopOrder::Backward => read.offset.k > write.offset.k,
        LoopOrder::Parallel => false,
    }
}

/// Whether a value of `from`, read within the loop, can be a value of `to` or depend on one. Follows the
/// dependences from `from` until `to` is met.
fn reaches(edges: &[Dependence], from: Handle<Field>, to: Handle<Field>) -> bool {
    let mut seen = BTreeSet::from([from]);
    let mut open = vec![from];
    while let Some(field) = open.pop() {
        if field == to {
            return true;
        }
        for edge in edges.iter().filter(|it| it.writes == field) {
            if seen.insert(edge.reads) {
                open.push(edge.reads);
            }
        }
    }
    false
}
