//! The rules of the Tree IR.

use std::collections::BTreeSet;

use super::nodes::{Access, ContainerKind, Node, Tree, position_symbol};
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
        if it.shape.len() != it.axes.len() || it.shift.len() != it.axes.len() {
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
            expr.accesses(&mut |access| self.access(access, positions));
            let leaf = |access: &Access, _: Option<&_>| {
                let container =
                    self.tree.containers.get(access.container).ok_or("an access names nothing")?;
                Ok((container.name.clone(), container.dtype))
            };
            expr::validate::validate(expr, &leaf, &mut self.found);
        }
        if let Some(target) = node.target() {
            self.access(target, positions);
        }
        for child in node.children() {
            self.node(child, positions);
        }
        positions.truncate(n_outer);
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
        for (axis, index) in container.axes.iter().zip(&access.index) {
            let symbol = position_symbol(axis);
            if !positions.contains(&axis) || index.terms().any(|it| it != (&symbol, 1)) {
                self.found.push(format!("`{}` has the index {index} along {axis}", container.name));
            }
        }
    }
}
