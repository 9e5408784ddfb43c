//! The rules of the schedule tree.

use std::collections::BTreeSet;

use super::analysis::launch;
use super::nodes::{Access, Container, Expr, Node, Order, Placement, Storage, Tree};
use crate::expr::{self, ExprKind};
use crate::space::names::{is_size, is_variable};
use crate::space::{Affine, Axis, Side, Size, Symbol};
use crate::types::DType;

/// All violations, each as one sentence; they are faults of ours, never the user's.
#[must_use]
pub fn validate(tree: &Tree) -> Vec<String> {
    let mut found = rules(tree);
    found.extend(launch::faults(tree));
    found
}

/// The same without the rules of a whole launch, which steps complete one by one.
#[must_use]
pub fn rules(tree: &Tree) -> Vec<String> {
    let shifts = tree.containers.iter().flat_map(|(_, it)| &it.shift).flat_map(Affine::terms);
    let sizes = tree.containers.iter().flat_map(|(_, it)| &it.shape).filter_map(|it| match it {
        Size::Affine(sum) => Some(sum),
        Size::Min(_) | Size::Max(_) => None,
    });
    let symbols = shifts.chain(sizes.flat_map(Affine::terms)).map(|(it, _)| it);
    let levels = symbols.filter(|it| !is_size(it) && !is_variable(it)).collect();
    let mut rules = Rules { tree, levels, found: Vec::new() };
    let mut names = BTreeSet::new();
    for (_, it) in tree.containers.iter() {
        if !names.insert(it.name.as_str()) {
            rules.found.push(format!("the name `{}` is used twice", it.name));
        }
        if it.shape.len() != it.shift.len() || it.shape.len() < it.axes.len() {
            rules.found.push(format!("shape, shift and axes of `{}` differ in rank", it.name));
        }
        if it.shift.iter().flat_map(Affine::terms).any(|(symbol, _)| is_variable(symbol))
            && !matches!(it.storage, Storage::Private(_))
        {
            rules.found.push(format!("`{}` counts from a loop variable and is not private", it.name));
        }
        if it.ring.is_some_and(|ring| ring.dimension >= it.shape.len() || ring.places.count_ones() != 1)
            || it.ring.is_some() && !matches!(it.storage, Storage::Private(_))
        {
            rules.found.push(format!("`{}` has a ring along no dimension of its own", it.name));
        }
        if it.place.is_some() && !matches!(it.storage, Storage::Private(_)) {
            rules.found.push(format!("`{}` has a place and is not private", it.name));
        }
        if it.storage == Storage::Register && !it.shape.is_empty() {
            rules.found.push(format!("`{}` is in a register and has a shape", it.name));
        }
    }
    for child in &tree.children {
        rules.node(child, &mut Vec::new());
    }
    rules.found
}

struct Rules<'a> {
    tree: &'a Tree,
    /// How many levels arrays have beside the domain, where that is told at the call.
    levels: BTreeSet<&'a Symbol>,
    found: Vec<String>,
}

impl Rules<'_> {
    fn node(&mut self, node: &Node, outer: &mut Vec<(Symbol, Axis, Placement)>) {
        let n_outer = outer.len();
        match node {
            Node::Loop(it) => {
                if outer.iter().any(|(variable, ..)| *variable == it.variable) {
                    self.found.push(format!("the loop variable `{}` is used twice on one path", it.variable));
                }
                if it.placement != Placement::Sequential && it.order != Order::Parallel {
                    self.found.push(format!(
                        "the loop over `{}` has an order and is placed in parallel",
                        it.variable
                    ));
                }
                if outer.iter().any(|(.., placement)| *placement == Placement::Simd) {
                    self.found.push(format!("the loop over `{}` stands inside vector lanes", it.variable));
                }
                if it.placement == Placement::Threads
                    && outer.iter().any(|(.., placement)| *placement == Placement::Threads)
                {
                    self.found
                        .push(format!("the loop over `{}` spreads threads inside threads", it.variable));
                }
                if it.step < 1 || it.step > 1 && (is_position(&it.variable) || it.order == Order::Descending)
                {
                    self.found.push(format!("the loop over `{}` has the step {}", it.variable, it.step));
                }
                for size in [&it.start, &it.end] {
                    self.bound(size, outer);
                }
                outer.push((it.variable.clone(), it.axis, it.placement));
            }
            Node::Where(it) => {
                if !outer.iter().any(|(variable, ..)| *variable == it.variable) {
                    self.found.push(format!("no loop counts the `{}` that is limited", it.variable));
                }
                for size in [&it.start, &it.end] {
                    self.bound(size, outer);
                }
            }
            Node::Region(it) => {
                for axis in [Axis::I, Axis::J] {
                    if it.region.along(axis) != Side::default() {
                        self.position(axis, outer);
                    }
                }
            }
            Node::If(_) | Node::While(_) | Node::Assign(_) | Node::Barrier => {}
        }
        let condition = match node {
            Node::If(it) => Some(&it.condition),
            Node::While(it) => Some(&it.condition),
            Node::Loop(_) | Node::Region(_) | Node::Where(_) | Node::Assign(_) | Node::Barrier => None,
        };
        if condition.is_some_and(|it| it.dtype != DType::Bool) {
            self.found.push("a condition is not bool".to_owned());
        }
        if let Node::Assign(it) = node
            && let Some(container) = self.tree.containers.get(it.target.container)
            && container.dtype != it.value.dtype
        {
            self.found
                .push(format!("`{}` is {} and is given {}", container.name, container.dtype, it.value.dtype));
        }
        if let Some(expr) = node.expression() {
            expr.walk(&mut |it| {
                if let ExprKind::Position(axis) = it.kind {
                    self.position(axis, outer);
                }
            });
            self.expression(expr);
        }
        node.each_own_access(&mut |_, access| self.access(access, outer));
        for child in node.children() {
            self.node(child, outer);
        }
        outer.truncate(n_outer);
    }

    /// A position is known where a loop counts it.
    fn position(&mut self, axis: Axis, outer: &[(Symbol, Axis, Placement)]) {
        let name = axis.position_name();
        if !outer.iter().any(|(it, ..)| it.name() == name) {
            self.found.push(format!("the position along {axis} is asked for outside any loop over it"));
        }
    }

    /// A bound counts from sizes, from the levels that arrays have, and from the variables of loops around.
    fn bound(&mut self, size: &Size, outer: &[(Symbol, Axis, Placement)]) {
        size.each_symbol(&mut |symbol| {
            if !is_size(symbol) && !self.levels.contains(symbol) && !outer.iter().any(|(it, ..)| it == symbol)
            {
                self.found.push(format!("a bound counts from `{symbol}`, which no loop around counts"));
            }
        });
    }

    /// Where a private container is used, the loop whose iterations own it stands around.
    fn privacy(&mut self, container: &Container, outer: &[(Symbol, Axis, Placement)]) {
        if let Storage::Private(variable) = &container.storage
            && !outer.iter().any(|(it, ..)| it == variable)
        {
            self.found
                .push(format!("`{}` is private to `{variable}` and used outside of it", container.name));
        }
        let Storage::Private(owner) = &container.storage else { return };
        let mut around = outer.iter().map(|(it, ..)| it);
        let owners: Vec<&Symbol> =
            around.by_ref().take_while(|it| *it != owner).chain(std::iter::once(owner)).collect();
        for (symbol, _) in container.shift.iter().flat_map(Affine::terms) {
            if is_variable(symbol) && !owners.contains(&symbol) {
                self.found.push(format!(
                    "`{}` is private to `{owner}` and counts from `{symbol}` inside of it",
                    container.name
                ));
            }
        }
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

    fn access(&mut self, access: &Access, outer: &[(Symbol, Axis, Placement)]) {
        let Some(container) = self.tree.containers.get(access.container) else {
            self.found.push("an access names a container that does not exist".to_owned());
            return;
        };
        self.privacy(container, outer);
        if access.index.len() != container.shape.len() {
            self.found.push(format!("`{}` is read with {} indices", container.name, access.index.len()));
        }
        for found in access.index.iter().filter_map(|it| it.found.as_ref()) {
            if !found.dtype.is_int() {
                self.found.push(format!("an index of `{}` is typed {}", container.name, found.dtype));
            }
            self.expression(found);
        }
        for (symbol, _) in access.index.iter().flat_map(|it| it.known.terms()) {
            let is_told = container.shift.iter().any(|it| it.factor(symbol) != 0);
            if (!is_told && !is_size(symbol) || is_variable(symbol))
                && !outer.iter().any(|(variable, ..)| variable == symbol)
            {
                self.found.push(format!(
                    "`{}` is indexed by `{symbol}`, which no loop around it counts",
                    container.name
                ));
            }
        }
    }
}

fn is_position(symbol: &Symbol) -> bool {
    Axis::ALL.iter().any(|axis| axis.position_name() == symbol.name())
}
