//! The Tree IR as text.
//!
//! Ids are `n1`, `n2`, ... in order of the text.

use super::nodes::{Access, Container, ContainerKind, Expr, Node, Tree};
use crate::diag::{Listing, ListingWriter, Origin};
use crate::expr::print;

/// The whole tree: its containers, then its loops.
#[must_use]
pub fn listing(tree: &Tree) -> Listing {
    let mut printer = Printer { tree, writer: ListingWriter::new(), n_nodes: 0 };
    printer.writer.open("tree", "tree", []);
    printer.writer.line(format!("tree {}", tree.name));
    for (_, container) in tree.containers.iter() {
        printer.writer.line(declaration(container));
    }
    for child in &tree.children {
        printer.writer.line("");
        printer.node(child);
    }
    printer.writer.close();
    printer.writer.finish()
}

fn declaration(container: &Container) -> String {
    let Container { name, dtype, kind, shape, shift, .. } = container;
    let shape = || shape.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
    match kind {
        ContainerKind::Scalar => format!("scalar {name}: {dtype}"),
        ContainerKind::Local => format!("local {name}: {dtype}"),
        ContainerKind::Temporary => format!("temporary {name}: {dtype}[{}] shift {shift:?}", shape()),
        ContainerKind::Field { is_read, is_written } => {
            let access = match (is_read, is_written) {
                (true, true) => "read-write",
                (true, false) => "read",
                (false, _) => "write",
            };
            format!("field {name}: {dtype}[{}] shift {shift:?} {access}", shape())
        }
    }
}

struct Printer<'a> {
    tree: &'a Tree,
    writer: ListingWriter,
    n_nodes: usize,
}

impl Printer<'_> {
    fn open<'o>(&mut self, kind: &'static str, origins: impl IntoIterator<Item = &'o Origin>) {
        self.n_nodes += 1;
        self.writer.open(format!("n{}", self.n_nodes), kind, origins);
    }

    fn block(&mut self, children: &[Node]) {
        self.writer.indent();
        for child in children {
            self.node(child);
        }
        self.writer.dedent();
    }

    fn node(&mut self, node: &Node) {
        match node {
            Node::VerticalLoop(it) => {
                self.open("vertical-loop", []);
                self.writer.line(format!("{} k in [{}, {}):", it.order, it.start, it.end));
                self.block(&it.children);
            }
            Node::HorizontalLoop(it) => {
                self.open("horizontal-loop", []);
                let ((i, ni), (j, nj)) = (&it.i, &it.j);
                self.writer.line(format!("for j in [{j}, {nj}), i in [{i}, {ni}):"));
                self.block(&it.children);
            }
            Node::If(it) => {
                self.open("if", [&it.origin]);
                self.branches(it, "if");
            }
            Node::While(it) => {
                self.open("while", [&it.origin]);
                let condition = self.expression(&it.condition);
                self.writer.line(format!("while {condition}:"));
                self.block(&it.body);
            }
            Node::Region(it) => {
                self.open("region", [&it.origin]);
                self.writer.line(format!("region {}:", it.region));
                self.block(&it.children);
            }
            Node::Assign(it) => {
                self.open("assign", [&it.origin]);
                let line = format!("{} = {}", self.access(&it.target), self.expression(&it.value));
                self.writer.line(line);
            }
        }
        self.writer.close();
    }

    /// `if`, then an `if` alone in `else` as `elif`.
    fn branches(&mut self, it: &super::nodes::If, keyword: &str) {
        let condition = self.expression(&it.condition);
        self.writer.line(format!("{keyword} {condition}:"));
        self.block(&it.then);
        match it.otherwise.as_slice() {
            [] => {}
            [Node::If(nested)] => {
                self.open("if", [&nested.origin]);
                self.branches(nested, "elif");
                self.writer.close();
            }
            otherwise => {
                self.writer.line("else:");
                self.block(otherwise);
            }
        }
    }

    fn expression(&self, expr: &Expr) -> String {
        print::text(expr, &|access| self.access(access))
    }

    fn access(&self, access: &Access) -> String {
        print::element(&self.tree.containers[access.container].name, &access.index)
    }
}
