//! Where a node stands in a tree.

use crate::schedule::nodes::{Loop, Node, Tree};

/// Positions among children, from the root on, through loops and limits: what is inside of a statement has no path.
pub type Path = Vec<usize>;

impl Tree {
    /// The nodes right inside the node at `path`; those of the root for an empty one.
    #[must_use]
    pub fn block(&self, path: &[usize]) -> Option<&[Node]> {
        let mut block = self.children.as_slice();
        for &at in path {
            block = inside(block.get(at)?)?;
        }
        Some(block)
    }

    /// The same, to be changed.
    pub fn block_mut(&mut self, path: &[usize]) -> Option<&mut Vec<Node>> {
        let mut block = &mut self.children;
        for &at in path {
            block = match block.get_mut(at)? {
                Node::Loop(it) => &mut it.children,
                Node::Where(it) => &mut it.children,
                Node::If(_) | Node::While(_) | Node::Region(_) | Node::Assign(_) | Node::Barrier => {
                    return None;
                }
            };
        }
        Some(block)
    }

    /// The node at `path`.
    #[must_use]
    pub fn node(&self, path: &[usize]) -> Option<&Node> {
        let (&last, outer) = path.split_last()?;
        self.block(outer)?.get(last)
    }

    /// The loop at `path`, where it is one.
    #[must_use]
    pub fn loop_at(&self, path: &[usize]) -> Option<&Loop> {
        match self.node(path)? {
            Node::Loop(it) => Some(it),
            Node::If(_)
            | Node::While(_)
            | Node::Region(_)
            | Node::Where(_)
            | Node::Assign(_)
            | Node::Barrier => None,
        }
    }

    /// The same, to be changed.
    pub fn loop_at_mut(&mut self, path: &[usize]) -> Option<&mut Loop> {
        let (&last, outer) = path.split_last()?;
        match self.block_mut(outer)?.get_mut(last)? {
            Node::Loop(it) => Some(it),
            Node::If(_)
            | Node::While(_)
            | Node::Region(_)
            | Node::Where(_)
            | Node::Assign(_)
            | Node::Barrier => None,
        }
    }

    /// Calls `each` for every loop with its path, outermost first, in textual order.
    pub fn each_loop(&self, each: &mut dyn FnMut(&Path, &Loop)) {
        each_loop_in(&self.children, &mut Vec::new(), each);
    }
}

/// Calls `each` for every loop of a block with its path below `path`.
fn each_loop_in(block: &[Node], path: &mut Path, each: &mut dyn FnMut(&Path, &Loop)) {
    for (at, node) in block.iter().enumerate() {
        path.push(at);
        if let Node::Loop(it) = node {
            each(path, it);
        }
        if let Some(inner) = inside(node) {
            each_loop_in(inner, path, each);
        }
        path.pop();
    }
}

fn inside(node: &Node) -> Option<&[Node]> {
    match node {
        Node::Loop(it) => Some(&it.children),
        Node::Where(it) => Some(&it.children),
        Node::If(_) | Node::While(_) | Node::Region(_) | Node::Assign(_) | Node::Barrier => None,
    }
}
