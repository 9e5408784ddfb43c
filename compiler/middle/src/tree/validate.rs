//! The rules of the Tree IR.

use std::collections::BTreeSet;

use super::nodes::{Access, ContainerKind, Expr, Node, Tree, position_symbol};
use super::visit::accesses;
use crate::expr;
use crate::space::Axis;
use crate::types::DType;

/// All violations, each as one sentence; they are faults of ours, never the user's.
#[must_use]
pub fn validate(tree: &Tree) -> Vec<String> {
    let mut rules = Rules { tree, found: Vec::new() };
    let mut names = BTreeSet::new();
    for (handle, it) in tree.containers.iter() {
        if !names.insert(it.name.as_str()) {
            rules.found.push(format!("{handle}: the name `{}` is used twice", it.name));
        }
        if it.shape.len() < it.axes.len() || it.shift.len() != it.shape.len() {
            rules.found.push(format!("`{}`: shape, shift and axes {} differ in rank", it.name, it.axes));
        }
    }
    for child in &tree.children {
        rules.node(child, &mut Vec::new());
    }
    rules.found
}

struct Rules<'a> {
    tree: &'a Tree,
    found: Vec<String>,
}

impl Rules<'_> {
    fn node(&mut self, node: &Node, positions: &mut Vec<Axis>) {
        let n_outer = positions.len();
        match node {
            Node::VerticalLoop(_) if positions.is_empty() => positions.push(Axis::K),
            Node::VerticalLoop(_) => self.found.push("a vertical loop stands inside another loop".to_owned()),
            Node::HorizontalLoop(_) if *positions == [Axis::K] => positions.extend([Axis::I, Axis::J]),
            Node::HorizontalLoop(_) => {
                self.found.push("a horizontal loop stands elsewhere than in a vertical loop".to_owned());
            }
            Node::If(_) | Node::While(_) | Node::Region(_) | Node::Assign(_) => {
                if positions.len() != 3 {
                    self.found.push("a statement stands outside a horizontal loop".to_owned());
                }
            }
        }
        match node {
            Node::If(it) if it.condition.dtype != DType::Bool => {
                self.found.push("the condition of an if is not bool".to_owned());
            }
            Node::While(it) if it.condition.dtype != DType::Bool => {
                self.found.push("the condition of a while is not bool".to_owned());
            }
            Node::Assign(it) => self.assignment(&it.target, it.value.dtype),
            Node::If(_)
            | Node::While(_)
            | Node::VerticalLoop(_)
            | Node::HorizontalLoop(_)
            | Node::Region(_) => {}
        }
        if let Some(expr) = node.expression() {
            accesses(expr, &mut |access| self.access(access, positions));
            self.expression(expr);
        }
        if let Some(target) = node.target() {
            target.walk(&mut |access| self.access(access, positions));
        }
        for child in node.children() {
            self.node(child, positions);
        }
        positions.truncate(n_outer);
    }

    /// The rules of expressions themselves.
    fn expression(&mut self, expr: &Expr) {
        let leaf = |access: &Access, element: Option<&_>| {
            let container = self.tree.containers.get(access.container).ok_or("an access names nothing")?;
            if element.is_some() {
                return Err(format!("an index of `{}` is not in full rank", container.name));
            }
            Ok((container.name.clone(), container.dtype))
        };
        expr::validate::validate(expr, &leaf, &mut self.found);
    }

    fn assignment(&mut self, target: &Access, value: DType) {
        let Some(container) = self.tree.containers.get(target.container) else { return };
        if container.dtype != value {
            self.found.push(format!("`{}` is {} and is given {value}", container.name, container.dtype));
        }
        if matches!(container.kind, ContainerKind::Scalar | ContainerKind::Field { is_written: false, .. }) {
            self.found.push(format!("`{}` is written and is not to be", container.name));
        }
    }

    fn access(&mut self, access: &Access, positions: &[Axis]) {
        let Some(container) = self.tree.containers.get(access.container) else {
            self.found.push(format!("an access names {}, which does not exist", access.container));
            return;
        };
        if access.index.len() != container.shape.len() {
            self.found.push(format!("`{}` is read with {} indices", container.name, access.index.len()));
        }
        let axes = container.axes.iter().map(Some).chain(std::iter::repeat(None));
        for (axis, (index, shift)) in axes.zip(access.index.iter().zip(&container.shift)) {
            let place = &index.known - shift;
            let symbol = axis.filter(|axis| positions.contains(axis)).map(position_symbol);
            if place.terms().any(|(it, factor)| Some(it) != symbol.as_ref() || factor != 1) {
                let name = axis.map_or("data", Axis::name);
                self.found.push(format!("`{}` has the index {place} along {name}", container.name));
            }
            if let Some(found) = &index.found {
                if !found.dtype.is_int() {
                    self.found.push(format!("an index of `{}` is typed {}", container.name, found.dtype));
                }
                self.expression(found);
            }
        }
    }
}
