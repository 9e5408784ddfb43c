//! The Tree IR as text.
//!
//! Ids are `n1`, `n2`, ... in order of the text.

use std::fmt::{self, Display};

use super::nodes::{Access, Container, ContainerKind, Expr, Node, Tree};
use crate::diag::{Listing, ListingWriter, Origin};
use crate::expr::print;

/// The whole tree: its containers, then its loops.
#[must_use]
pub fn listing(tree: &Tree) -> Listing {
    let mut printer = Printer { tree, writer: ListingWriter::new(), n_nodes: 0 };
    printer.writer.open("tree", "tree", []);
    printer.writer.line(format_args!("tree {}", tree.name));
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
    let shift = || format!("[{}]", shift.iter().map(ToString::to_string).collect::<Vec<_>>().join(", "));
    match kind {
        ContainerKind::Scalar => format!("scalar {name}: {dtype}"),
        ContainerKind::Local => format!("local {name}: {dtype}"),
        ContainerKind::Temporary => format!("temporary {name}: {dtype}[{}] shift {}", shape(), shift()),
        ContainerKind::Field { is_read, is_written } => {
            let access = match (is_read, is_written) {
                (true, true) => "read-write",
                (true, false) => "read",
                (false, _) => "write",
            };
            format!("field {name}: {dtype}[{}] shift {} {access}", shape(), shift())
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
                self.writer.line(format_args!("{} k in [{}, {}):", it.order, it.start, it.end));
                self.block(&it.children);
            }
            Node::HorizontalLoop(it) => {
                self.open("horizontal-loop", []);
                let ((i, ni), (j, nj)) = (&it.i, &it.j);
                self.writer.line(format_args!("for j in [{j}, {nj}), i in [{i}, {ni}):"));
                self.block(&it.children);
            }
            Node::If(it) => {
                self.open("if", [&it.origin]);
                self.branches(it, "if");
            }
            Node::While(it) => {
                self.open("while", [&it.origin]);
                let condition = expression(self.tree, &it.condition);
                self.writer.line(format_args!("while {condition}:"));
                self.block(&it.body);
            }
            Node::Region(it) => {
                self.open("region", [&it.origin]);
                self.writer.line(format_args!("region {}:", it.region));
                self.block(&it.children);
            }
            Node::Assign(it) => {
                self.open("assign", [&it.origin]);
                let (target, value) = (access(self.tree, &it.target), expression(self.tree, &it.value));
                self.writer.line(format_args!("{target} = {value}"));
            }
        }
        self.writer.close();
    }

    /// `if`, then an `if` alone in `else` as `elif`.
    fn branches(&mut self, it: &super::nodes::If, keyword: &str) {
        let condition = expression(self.tree, &it.condition);
        self.writer.line(format_args!("{keyword} {condition}:"));
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
}

fn expression<'a>(tree: &'a Tree, expr: &'a Expr) -> impl fmt::Display + 'a {
    fmt::from_fn(move |f| print::text_in_loops(expr, &|it, f| access(tree, it).fmt(f)).fmt(f))
}

fn access<'a>(tree: &'a Tree, access: &'a Access) -> impl fmt::Display + 'a {
    fmt::from_fn(move |f| {
        let name = &tree.containers[access.container].name;
        print::element(name, &access.index, &|it, f| self::access(tree, it).fmt(f)).fmt(f)
    })
}
