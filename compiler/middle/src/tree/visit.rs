//! The one place that knows the shape of a tree.

use super::nodes::{Access, Expr, Node};
use crate::diag::Origin;

impl Node {
    /// The nodes directly inside, in order; both branches of an `if`.
    pub fn children(&self) -> Vec<&Node> {
        match self {
            Node::VerticalLoop(it) => it.children.iter().collect(),
            Node::HorizontalLoop(it) => it.children.iter().collect(),
            Node::If(it) => it.then.iter().chain(&it.otherwise).collect(),
            Node::While(it) => it.body.iter().collect(),
            Node::Region(it) => it.children.iter().collect(),
            Node::Assign(_) => Vec::new(),
        }
    }

    /// The expression that this node itself evaluates.
    pub fn expression(&self) -> Option<&Expr> {
        match self {
            Node::VerticalLoop(_) | Node::HorizontalLoop(_) | Node::Region(_) => None,
            Node::If(it) => Some(&it.condition),
            Node::While(it) => Some(&it.condition),
            Node::Assign(it) => Some(&it.value),
        }
    }

    /// The element that this node itself writes.
    pub fn target(&self) -> Option<&Access> {
        match self {
            Node::Assign(it) => Some(&it.target),
            Node::VerticalLoop(_)
            | Node::HorizontalLoop(_)
            | Node::If(_)
            | Node::While(_)
            | Node::Region(_) => None,
        }
    }

    /// The statement of this node; none for loops, which are no statements.
    pub fn origin(&self) -> Option<&Origin> {
        match self {
            Node::VerticalLoop(_) | Node::HorizontalLoop(_) => None,
            Node::If(it) => Some(&it.origin),
            Node::While(it) => Some(&it.origin),
            Node::Region(it) => Some(&it.origin),
            Node::Assign(it) => Some(&it.origin),
        }
    }

    /// Calls `each` for this node and every one inside it, outermost first.
    pub fn walk<'a>(&'a self, each: &mut impl FnMut(&'a Node)) {
        each(self);
        for child in self.children() {
            child.walk(each);
        }
    }
}

impl Access {
    /// Calls `each` for every access that finds this one's element, and then for this one.
    pub fn walk<'a>(&'a self, each: &mut dyn FnMut(&'a Access)) {
        for found in self.index.iter().filter_map(|it| it.found.as_ref()) {
            accesses(found, each);
        }
        each(self);
    }
}

/// Calls `each` for every access of an expression, those in its indices too.
pub fn accesses<'a>(expr: &'a Expr, each: &mut dyn FnMut(&'a Access)) {
    expr.accesses(&mut |access| access.walk(each));
}
