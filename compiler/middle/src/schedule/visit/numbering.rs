//! Handles for the nodes of a tree that does not change, to which facts are attached.
//!
//! Nodes are numbered as they stand in the text, each before what is inside. A walk starts at [`Numbering::root`] and
//! hands on nodes together with their handles, so that nobody has to look for the handle of a node.
//!
//! ```text
//! 0  for k in [0, K) parallel:
//! 1    if c > 0.0:
//! 2      b[k] = c
//!      else:
//! 3      b[k] = 0.0
//! 4  for k in [0, K) parallel:
//! ```

use std::ops::Deref;

use crate::entity::Handle;
use crate::schedule::nodes::{Node, Tree};

/// How many nodes each node is, with all that is inside.
#[derive(Clone, Debug)]
pub struct Numbering {
    /// By the index of the handle.
    sizes: Vec<usize>,
}

/// A node, or what it is, with its handle.
#[derive(Debug)]
pub struct Numbered<'t, T = Node> {
    pub it: &'t T,
    pub handle: Handle<Node>,
}

/// Nodes that follow each other.
#[derive(Clone, Copy, Debug)]
pub struct NumberedBlock<'t> {
    pub nodes: &'t [Node],
    /// The index of the handle of the first one.
    first: usize,
}

impl<T> Clone for Numbered<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<T> Copy for Numbered<'_, T> {}

impl<T> Deref for Numbered<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        self.it
    }
}

impl<'t, T> Numbered<'t, T> {
    /// The same node seen as what it is.
    #[must_use]
    pub fn as_part<P>(self, part: &'t P) -> Numbered<'t, P> {
        Numbered { it: part, handle: self.handle }
    }

    /// The first of the blocks inside, which are `nodes`.
    #[must_use]
    pub fn block(self, nodes: &'t [Node]) -> NumberedBlock<'t> {
        NumberedBlock { nodes, first: self.handle.index() + 1 }
    }
}

impl Numbering {
    #[must_use]
    pub fn of(tree: &Tree) -> Self {
        let mut sizes = Vec::new();
        for node in &tree.children {
            add(node, &mut sizes);
        }
        Self { sizes }
    }

    /// The outermost nodes of the tree that was numbered.
    #[must_use]
    pub fn root<'t>(&self, tree: &'t Tree) -> NumberedBlock<'t> {
        NumberedBlock { nodes: &tree.children, first: 0 }
    }

    /// The nodes of a block, in order.
    pub fn nodes<'t>(&self, block: NumberedBlock<'t>) -> impl Iterator<Item = Numbered<'t>> {
        let mut next = block.first;
        block.nodes.iter().map(move |it| {
            let handle = Handle::new(next);
            next += self.sizes[next];
            Numbered { it, handle }
        })
    }

    /// The second block of a node, which is `nodes`, behind the first one.
    #[must_use]
    pub fn block_behind<'t>(&self, first: NumberedBlock<'t>, nodes: &'t [Node]) -> NumberedBlock<'t> {
        let size: usize = self.nodes(first).map(|it| self.sizes[it.handle.index()]).sum();
        NumberedBlock { nodes, first: first.first + size }
    }
}

/// Adds a node and what is inside; answers how many nodes these are.
fn add(node: &Node, sizes: &mut Vec<usize>) -> usize {
    let own = sizes.len();
    sizes.push(1);
    let inside: usize = node.children().into_iter().map(|it| add(it, sizes)).sum();
    sizes[own] += inside;
    sizes[own]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(numbering: &Numbering, block: NumberedBlock<'_>, seen: &mut Vec<usize>) {
        for node in numbering.nodes(block) {
            seen.push(node.handle.index());
            match node.it {
                Node::If(it) => {
                    let then = node.block(&it.then);
                    check(numbering, then, seen);
                    check(numbering, numbering.block_behind(then, &it.otherwise), seen);
                }
                Node::Loop(it) => check(numbering, node.block(&it.children), seen),
                Node::While(it) => check(numbering, node.block(&it.body), seen),
                Node::Region(it) => check(numbering, node.block(&it.children), seen),
                Node::Where(it) => check(numbering, node.block(&it.children), seen),
                Node::Assign(_) | Node::Barrier => {}
            }
        }
    }

    #[test]
    fn every_node_has_the_next_number_in_the_order_of_the_text() {
        let tree = crate::schedule::parse::parse(
            "\
schedule s
field b: float64[K] shift [0] write
scalar c: float64
for k in [0, K) parallel:
  if c > 0.0:
    b[k] = c
    b[k] = c + 1.0
  else:
    b[k] = 0.0
for k in [0, K) parallel:
  b[k] = b[k] + 1.0
",
        )
        .expect("the text is a schedule tree");
        let numbering = Numbering::of(&tree);
        let mut seen = Vec::new();
        check(&numbering, numbering.root(&tree), &mut seen);
        assert_eq!(seen, (0..7).collect::<Vec<_>>());
    }
}
