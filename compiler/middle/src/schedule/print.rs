//! The schedule tree as text.
//!
//! Ids are `n1`, `n2`, ... in order of the text.

use std::fmt::{self, Display};

use super::nodes::{
    Access, Container, ContainerKind, Expr, GpuMemory, If, Loop, Node, Order, Placement, Storage, Tree,
};
use crate::diag::{Listing, ListingWriter, Origin};
use crate::expr::print;

/// The whole tree: its containers, then its loops; [`parse`](super::parse) reads it back.
#[must_use]
pub fn listing(tree: &Tree) -> Listing {
    let mut printer = Printer { tree, writer: ListingWriter::new(), n_nodes: 0 };
    printer.writer.open("tree", "schedule", []);
    printer.writer.line(format_args!("schedule {}", tree.name));
    for (_, container) in tree.containers.iter() {
        printer.writer.line(declaration(tree, container));
    }
    for child in &tree.children {
        printer.writer.line("");
        printer.node(child);
    }
    printer.writer.close();
    printer.writer.finish()
}

fn declaration(tree: &Tree, container: &Container) -> String {
    let Container { name, dtype, kind, shape, shift, storage, ring, place, .. } = container;
    let shape = || shape.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
    let shift = || format!("[{}]", shift.iter().map(ToString::to_string).collect::<Vec<_>>().join(", "));
    match kind {
        ContainerKind::Scalar => format!("scalar {name}: {dtype}"),
        ContainerKind::Local => format!("local {name}: {dtype}"),
        ContainerKind::Temporary => {
            let storage = match storage {
                Storage::Caller => "caller".to_owned(),
                Storage::Heap => "heap".to_owned(),
                Storage::Private(variable) => format!("along {} in {variable}", container.axes),
                Storage::Register => "register".to_owned(),
            };
            let kept = ring.and_then(|it| Some((it.places, container.axes.iter().nth(it.dimension)?)));
            let kept = kept.map_or(String::new(), |(places, axis)| format!(" keeping {places} along {axis}"));
            let place = place.map_or(String::new(), |it| format!(" {}", place_text(tree, it)));
            format!("temporary {name}: {dtype}[{}] shift {} {storage}{kept}{place}", shape(), shift())
        }
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

/// The place of an array, as a declaration and a step write it.
#[must_use]
pub fn place_text(tree: &Tree, place: GpuMemory) -> String {
    match place {
        GpuMemory::Register => "register".to_owned(),
        GpuMemory::Shared => "shared".to_owned(),
        GpuMemory::Scratch => "scratch".to_owned(),
        GpuMemory::Over(output) => format!("over {}", tree.containers[output].name),
    }
}

/// The head of a loop, from its placement to its order: `threads k in [0, K) parallel:`.
fn header(it: &Loop) -> String {
    let placement = match it.placement {
        Placement::Sequential => "for",
        Placement::Threads => "threads",
        Placement::Simd => "simd",
        Placement::Grid => "grid",
        Placement::Block => "block",
    };
    let order = match it.order {
        Order::Parallel => "parallel",
        Order::Ascending => "ascending",
        Order::Descending => "descending",
    };
    let step = if it.step == 1 { String::new() } else { format!(" step {}", it.step) };
    format!("{placement} {} in [{}, {}){step} {order}:", it.variable, it.start, it.end)
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
            Node::Loop(it) => {
                self.open("loop", []);
                self.writer.line(header(it));
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
            Node::Where(it) => {
                self.open("where", []);
                self.writer.line(format_args!("where {} in [{}, {}):", it.variable, it.start, it.end));
                self.block(&it.children);
            }
            Node::Assign(it) => {
                self.open("assign", [&it.origin]);
                let (target, value) = (access(self.tree, &it.target), expression(self.tree, &it.value));
                self.writer.line(format_args!("{target} = {value}"));
            }
            Node::Barrier => {
                self.open("barrier", []);
                self.writer.line("barrier");
            }
        }
        self.writer.close();
    }

    /// `if`, then an `if` alone in `else` as `elif`.
    fn branches(&mut self, it: &If, keyword: &str) {
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
