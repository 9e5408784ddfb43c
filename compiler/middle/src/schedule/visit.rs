//! The one place that knows the shape of a schedule tree.

pub mod numbering;
pub mod place;

use super::nodes::{Access, Expr, Loop, Node, Where};
use crate::diag::Origin;
use crate::space::Size;

/// The purpose of an access to a container.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum AccessRole {
    /// A statement computes with it.
    Read,
    /// Control flow depends on it.
    Condition,
    /// It selects the element of another container.
    Index,
    Write,
}

impl AccessRole {
    #[must_use]
    pub fn is_write(self) -> bool {
        match self {
            AccessRole::Write => true,
            AccessRole::Read | AccessRole::Condition | AccessRole::Index => false,
        }
    }
}

impl Node {
    /// The nodes directly inside, in order; both branches of an `if`.
    pub fn children(&self) -> Vec<&Node> {
        match self {
            Node::Loop(it) => it.children.iter().collect(),
            Node::If(it) => it.then.iter().chain(&it.otherwise).collect(),
            Node::While(it) => it.body.iter().collect(),
            Node::Region(it) => it.children.iter().collect(),
            Node::Where(it) => it.children.iter().collect(),
            Node::Assign(_) | Node::Barrier => Vec::new(),
        }
    }

    /// The lists of nodes directly inside, to be changed.
    pub fn blocks_mut(&mut self) -> Vec<&mut Vec<Node>> {
        match self {
            Node::Loop(it) => vec![&mut it.children],
            Node::If(it) => vec![&mut it.then, &mut it.otherwise],
            Node::While(it) => vec![&mut it.body],
            Node::Region(it) => vec![&mut it.children],
            Node::Where(it) => vec![&mut it.children],
            Node::Assign(_) | Node::Barrier => Vec::new(),
        }
    }

    /// The expression that this node itself evaluates.
    pub fn expression(&self) -> Option<&Expr> {
        match self {
            Node::Loop(_) | Node::Region(_) | Node::Where(_) | Node::Barrier => None,
            Node::If(it) => Some(&it.condition),
            Node::While(it) => Some(&it.condition),
            Node::Assign(it) => Some(&it.value),
        }
    }

    /// The element that this node itself writes.
    pub fn target(&self) -> Option<&Access> {
        match self {
            Node::Assign(it) => Some(&it.target),
            Node::Loop(_)
            | Node::If(_)
            | Node::While(_)
            | Node::Region(_)
            | Node::Where(_)
            | Node::Barrier => None,
        }
    }

    /// Calls `each` for every access of this node itself, with its role. Reads come before the write, and the
    /// accesses in an index before the element that it finds.
    pub fn each_own_access<'a>(&'a self, each: &mut dyn FnMut(AccessRole, &'a Access)) {
        match self {
            Node::Assign(it) => {
                it.value.accesses(&mut |access| access.walk_as(AccessRole::Read, each));
                it.target.walk_as(AccessRole::Write, each);
            }
            Node::If(it) => it.condition.accesses(&mut |access| access.walk_as(AccessRole::Condition, each)),
            Node::While(it) => {
                it.condition.accesses(&mut |access| access.walk_as(AccessRole::Condition, each))
            }
            Node::Loop(_) | Node::Region(_) | Node::Where(_) | Node::Barrier => {}
        }
    }

    /// The statement of this node; none for loops, limits and barriers, which are no statements.
    pub fn origin(&self) -> Option<&Origin> {
        match self {
            Node::Loop(_) | Node::Where(_) | Node::Barrier => None,
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

    /// The first statement inside, for remarks about a loop.
    pub fn first_origin(&self) -> Option<&Origin> {
        self.origin().or_else(|| self.children().into_iter().find_map(Node::first_origin))
    }
}

impl Node {
    /// Calls `change` for every bound of a loop or limit, here and inside.
    pub fn each_size_mut(&mut self, change: &mut dyn FnMut(&mut Size)) {
        match self {
            Node::Loop(Loop { start, end, .. }) | Node::Where(Where { start, end, .. }) => {
                change(start);
                change(end);
            }
            Node::If(_) | Node::While(_) | Node::Region(_) | Node::Assign(_) | Node::Barrier => {}
        }
        self.blocks_mut().into_iter().flatten().for_each(|it| it.each_size_mut(change));
    }

    /// Calls `change` for every access, here and inside. The accesses in an index come before the element
    /// that it finds.
    pub fn each_access_mut(&mut self, change: &mut dyn FnMut(&mut Access)) {
        match self {
            Node::If(it) => accesses_mut(&mut it.condition, change),
            Node::While(it) => accesses_mut(&mut it.condition, change),
            Node::Assign(it) => {
                accesses_mut(&mut it.value, change);
                it.target.walk_mut(change);
            }
            Node::Loop(_) | Node::Region(_) | Node::Where(_) | Node::Barrier => {}
        }
        self.blocks_mut().into_iter().flatten().for_each(|it| it.each_access_mut(change));
    }
}

impl Access {
    /// Calls `change` for every access in this one's index, and then for this one.
    fn walk_mut(&mut self, change: &mut dyn FnMut(&mut Access)) {
        for found in self.index.iter_mut().filter_map(|it| it.found.as_mut()) {
            accesses_mut(found, change);
        }
        change(self);
    }

    /// Calls `each` for every access in this one's index, and then for this one, which has a role.
    pub(in crate::schedule) fn walk_as<'a>(
        &'a self,
        role: AccessRole,
        each: &mut dyn FnMut(AccessRole, &'a Access),
    ) {
        for found in self.index.iter().filter_map(|it| it.found.as_ref()) {
            found.accesses(&mut |access| access.walk_as(AccessRole::Index, each));
        }
        each(role, self);
    }
}

fn accesses_mut(expr: &mut Expr, change: &mut dyn FnMut(&mut Access)) {
    expr.accesses_mut(&mut |access| access.walk_mut(change));
}
