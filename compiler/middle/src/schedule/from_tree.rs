//! Tree IR to schedule tree: one loop for each axis, nothing chosen yet.

use super::nodes::{
    Access, Assign, Container, ContainerKind, Expr, If, Loop, Node, Order, Placement, RegionScope, Storage,
    Tree, While,
};
use crate::entity::Handle;
use crate::space::{Axis, LoopOrder, Size};
use crate::tree::nodes as tree;

/// The same loops, every choice still open: all run one after the other.
#[must_use]
pub fn lower(from: &tree::Tree) -> Tree {
    let mut to = Tree { name: from.name.clone(), span: from.span, ..Tree::default() };
    for (_, it) in from.containers.iter() {
        to.containers.push(container(it));
    }
    to.children = nodes(&from.children);
    to
}

/// Containers are carried over one by one, so their positions stay.
fn container(it: &tree::Container) -> Container {
    let (kind, storage) = match it.kind {
        tree::ContainerKind::Field { is_read, is_written } => {
            (ContainerKind::Field { is_read, is_written }, Storage::Caller)
        }
        tree::ContainerKind::Scalar => (ContainerKind::Scalar, Storage::Caller),
        tree::ContainerKind::Temporary => (ContainerKind::Temporary, Storage::Heap),
        tree::ContainerKind::Local => (ContainerKind::Local, Storage::Register),
    };
    Container {
        name: it.name.clone(),
        dtype: it.dtype,
        kind,
        axes: it.axes,
        shape: it.shape.clone(),
        shift: it.shift.clone(),
        storage,
        ring: None,
        place: None,
        span: it.span,
    }
}

fn nodes(from: &[tree::Node]) -> Vec<Node> {
    from.iter().map(node).collect()
}

fn node(from: &tree::Node) -> Node {
    match from {
        tree::Node::VerticalLoop(it) => {
            let order = match it.order {
                LoopOrder::Parallel => Order::Parallel,
                LoopOrder::Forward => Order::Ascending,
                LoopOrder::Backward => Order::Descending,
            };
            loop_over(Axis::K, (&it.start, &it.end), order, nodes(&it.children))
        }
        tree::Node::HorizontalLoop(it) => {
            let inner = loop_over(Axis::I, (&it.i.0, &it.i.1), Order::Parallel, nodes(&it.children));
            loop_over(Axis::J, (&it.j.0, &it.j.1), Order::Parallel, vec![inner])
        }
        tree::Node::If(it) => Node::If(If {
            condition: expression(&it.condition),
            then: nodes(&it.then),
            otherwise: nodes(&it.otherwise),
            origin: it.origin.clone(),
        }),
        tree::Node::While(it) => Node::While(While {
            condition: expression(&it.condition),
            body: nodes(&it.body),
            origin: it.origin.clone(),
        }),
        tree::Node::Region(it) => Node::Region(RegionScope {
            region: it.region,
            children: nodes(&it.children),
            origin: it.origin.clone(),
        }),
        tree::Node::Assign(it) => Node::Assign(Assign {
            target: access(&it.target),
            value: expression(&it.value),
            origin: it.origin.clone(),
        }),
    }
}

fn loop_over(axis: Axis, (start, end): (&Size, &Size), order: Order, children: Vec<Node>) -> Node {
    Node::Loop(Loop {
        variable: tree::position_symbol(axis),
        axis,
        start: start.clone(),
        end: end.clone(),
        step: 1,
        order,
        placement: Placement::Sequential,
        children,
    })
}

fn expression(expr: &tree::Expr) -> Expr {
    expr.map_accesses(&mut access)
}

fn access(it: &tree::Access) -> Access {
    let index = it.index.iter().map(|it| it.map_accesses(&mut access)).collect();
    Access { container: Handle::new(it.container.index()), index }
}
