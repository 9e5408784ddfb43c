//! The accesses of a schedule tree to its containers, and the role of each.
//!
//! The visitor tells the roles. [`Accesses`] lists the accesses of some nodes in textual order. [`Counts`]
//! tells how often each container is accessed, and so whether some nodes hold all its accesses.
//! [`AccessPaths`] lists, by handle of the container, the paths of the statements that access it.
//!
//! ```text
//! for k in [0, K) ascending:
//!   if c > 0.0:
//!     b[k] = a[{n[k]}]
//! ```
//!
//! has `condition c`, `index n[k]`, `read a[{n[k]}]` and `write b[k]`, each once, all by the statement at the path 0.0.

use std::collections::BTreeMap;
use std::ops::Deref;

use crate::entity::Handle;
use crate::schedule::nodes::{Access, Container, Node, Tree};
use crate::schedule::visit::AccessRole;
use crate::schedule::visit::place::Path;

/// All accesses of some nodes, in textual order. In a statement, reads come before the write, and the
/// accesses in an index come before the element that it finds.
#[derive(Clone, Debug, Default)]
pub struct Accesses<'t> {
    all: Vec<AccessWithRole<'t>>,
}

/// An access and its role.
#[derive(Clone, Copy, Debug)]
pub struct AccessWithRole<'t> {
    pub access: &'t Access,
    pub role: AccessRole,
}

/// How often each container is accessed.
pub type Counts = BTreeMap<Handle<Container>, usize>;

impl<'t> Accesses<'t> {
    /// Collects the accesses of nodes and of all nodes inside them.
    #[must_use]
    pub fn of(nodes: &'t [Node]) -> Self {
        let mut all = Vec::new();
        for node in nodes {
            node.walk(&mut |it| {
                it.each_own_access(&mut |role, access| all.push(AccessWithRole { access, role }))
            });
        }
        Self { all }
    }

    /// The accesses to one container.
    pub fn of_container(&self, container: Handle<Container>) -> impl Iterator<Item = &AccessWithRole<'t>> {
        self.all.iter().filter(move |it| it.access.container == container)
    }

    #[must_use]
    pub fn has_write_of(&self, container: Handle<Container>) -> bool {
        self.of_container(container).any(|it| it.role.is_write())
    }

    #[must_use]
    pub fn has_read_of(&self, container: Handle<Container>) -> bool {
        self.of_container(container).any(|it| !it.role.is_write())
    }

    #[must_use]
    pub fn counts(&self) -> Counts {
        let mut counts = Counts::new();
        for it in &self.all {
            *counts.entry(it.access.container).or_default() += 1;
        }
        counts
    }
}

impl<'t> Deref for Accesses<'t> {
    type Target = [AccessWithRole<'t>];

    fn deref(&self) -> &[AccessWithRole<'t>] {
        &self.all
    }
}

/// The statements that access each container, by their paths, in textual order.
///
/// An `if`, a `while` or a region counts as one statement: the nodes inside of it have no path.
#[derive(Clone, Debug, Default)]
pub struct AccessPaths {
    paths: BTreeMap<Handle<Container>, Vec<Path>>,
}

impl AccessPaths {
    #[must_use]
    pub fn of(tree: &Tree) -> Self {
        Self::below(tree, &[])
    }

    /// The paths below the node at `path`.
    #[must_use]
    pub fn below(tree: &Tree, path: &[usize]) -> Self {
        let mut found = Self::default();
        found.visit(tree.block(path).unwrap_or_default(), &mut path.to_vec());
        found
    }

    #[must_use]
    pub fn paths(&self, container: Handle<Container>) -> &[Path] {
        self.paths.get(&container).map_or(&[], Vec::as_slice)
    }

    /// The innermost loop or limit that holds all accesses; the root where nothing else does.
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
                    for it in Accesses::of(std::slice::from_ref(node)).iter() {
                        let known = self.paths.entry(it.access.container).or_default();
                        if known.last() != Some(path) {
                            known.push(path.clone());
                        }
                    }
                }
                Node::Barrier => {}
            }
            path.pop();
        }
    }
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;
    use crate::schedule::parse::parse;

    #[test]
    fn each_access_has_its_role_and_the_path_of_its_statement() {
        let tree = parse(
            "\
schedule s
field a: float64[I, J, K] shift [0, 0, 0] read
field b: float64[K] shift [0] write
field n: int64[K] shift [0] read
scalar c: float64
for k in [0, K) ascending:
  if c > 0.0:
    b[k] = a[0, 0, {n[k]}]
  else:
    b[k] = c
",
        )
        .expect("the text is a schedule tree");
        let name = |it: Handle<Container>| tree.containers[it].name.as_str();
        let accesses = Accesses::of(&tree.children);
        let listed: Vec<String> = accesses
            .iter()
            .map(|it| {
                let role = match it.role {
                    AccessRole::Read => "read",
                    AccessRole::Condition => "condition",
                    AccessRole::Index => "index",
                    AccessRole::Write => "write",
                };
                format!("{role} {}", name(it.access.container))
            })
            .collect();
        expect!["condition c, index n, read a, write b, read c, write b"].assert_eq(&listed.join(", "));
        let paths = AccessPaths::of(&tree);
        let counts = accesses.counts();
        let listed: Vec<String> = counts
            .into_iter()
            .map(|(it, count)| format!("{} {count} {:?} in {:?}", name(it), paths.paths(it), paths.owner(it)))
            .collect();
        expect![[r#"
            a 1 [[0, 0]] in Some([0])
            b 2 [[0, 0]] in Some([0])
            n 1 [[0, 0]] in Some([0])
            c 2 [[0, 0]] in Some([0])"#]]
        .assert_eq(&listed.join("\n"));
    }
}
