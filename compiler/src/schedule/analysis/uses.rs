//! Which statements access a container, and how often.

use std::collections::BTreeMap;

use super::dependence::touches;
use crate::entity::Handle;
use crate::schedule::nodes::{Container, Node, Tree};
use crate::schedule::visit::place::Path;

/// How often each container is accessed.
pub type Counts = BTreeMap<Handle<Container>, usize>;

/// Counts the accesses below `nodes`.
#[must_use]
pub fn counted(nodes: &[Node]) -> Counts {
    let mut counts = Counts::new();
    for touch in touches(nodes) {
        *counts.entry(touch.access.container).or_default() += 1;
    }
    counts
}

/// The statements that access each container, by their paths, in textual order.
///
/// An `if`, a `while` or a region counts as one statement: what is inside of it has no path.
#[derive(Clone, Debug, Default)]
pub struct Uses {
    paths: BTreeMap<Handle<Container>, Vec<Path>>,
}

impl Uses {
    #[must_use]
    pub fn of(tree: &Tree) -> Self {
        Self::below(tree, &[])
    }

    /// Those below the node at `path`.
    #[must_use]
    pub fn below(tree: &Tree, path: &[usize]) -> Self {
        let mut uses = Self::default();
        uses.visit(tree.block(path).unwrap_or_default(), &mut path.to_vec());
        uses
    }

    #[must_use]
    pub fn paths(&self, container: Handle<Container>) -> &[Path] {
        self.paths.get(&container).map_or(&[], Vec::as_slice)
    }

    /// The innermost loop or limit that holds all uses; the root where nothing else does.
    #[must_use]
    pub fn owner(&self, container: Handle<Container>) -> Option<Path> {
        let mut around = self.paths(container).iter().map(|it| &it[..it.len() - 1]);
        let first = around.next()?;
        let common = |known: usize, path: &[usize]| {
            path.iter().zip(&first[..known]).take_while(|(one, other)| one == other).count()
        };
        Some(first[..around.fold(first.len(), common)].to_vec())
    }

    fn visit(&mut self, block: &[Node], path: &mut Path) {
        for (at, node) in block.iter().enumerate() {
            path.push(at);
            match node {
                Node::Loop(it) => self.visit(&it.children, path),
                Node::Where(it) => self.visit(&it.children, path),
                Node::If(_) | Node::While(_) | Node::Region(_) | Node::Assign(_) => {
                    for touch in touches(std::slice::from_ref(node)) {
                        let known = self.paths.entry(touch.access.container).or_default();
                        if known.last() != Some(path) {
                            known.push(path.clone());
                        }
                    }
                }
            }
            path.pop();
        }
    }
}
