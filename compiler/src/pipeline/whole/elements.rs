//! The statements that touch all elements of a part, or of a halo: copies, fills, swaps and exchanges.

use isobar_program::interpret::{Answers, HaloFill};
use isobar_program::nodes::{Container as ProgramContainer, ContainerPart, ExchangePhase, HaloExchange};
use itertools::Itertools;

use super::halos::{HaloBox, HaloSource, halo_boxes, least_points};
use super::schedule::{Building, affine};
use crate::diag::Span;
use crate::entity::Handle;
use crate::expr::ExprKind;
use crate::schedule::nodes::{
    Access, Assign, Container, ContainerKind, Expr, Loop, Node, Order, Placement, Storage, Subscript,
};
use crate::space::{Affine, Axis, Size, Symbol};

/// The most elements of data at a point that statements name one by one.
const MOST_ELEMENTS: usize = 1024;

impl Building<'_> {
    /// The same element of another part.
    pub(super) fn beside(&self, at: &Access, part: &ContainerPart, other: &ContainerPart) -> Access {
        let n_axes = self.whole.program.containers[part.container].axes.len();
        let points = at.index[..n_axes].iter().cloned();
        let chosen = other.data_index.iter().map(|&it| Affine::constant(it.into()).into());
        let data = at.index[n_axes + part.data_index.len()..].iter().cloned();
        Access { container: self.fields[&other.container], index: points.chain(chosen).chain(data).collect() }
    }

    pub(super) fn value_at(&self, access: Access, span: Span) -> Expr {
        let dtype = self.tree.containers[access.container].dtype;
        Expr { kind: ExprKind::Access(access), dtype, span }
    }

    /// Exchanges all elements of two parts.
    pub(super) fn swap(
        &mut self,
        one: &ContainerPart,
        other: &ContainerPart,
        span: Span,
        nodes: &mut Vec<Node>,
    ) -> Option<()> {
        let own = self.own(one.container);
        self.own(other.container);
        let name = self.unused("swapped");
        let held = Container::local(name, &self.tree.containers[own]);
        let held = self.tree.containers.push(held);
        let origin = self.origin(span);
        let (part, other) = (one.clone(), other.clone());
        self.each_element(one, span, nodes, &|building, target| {
            let second = building.beside(&target, &part, &other);
            let held = Access { container: held, index: Vec::new() };
            let moves = [(held.clone(), target.clone()), (target, second.clone()), (second, held)];
            let moved = moves.map(|(target, from)| {
                let value = building.value_at(from, span);
                Node::Assign(Assign { target, value, origin: origin.clone() })
            });
            moved.to_vec()
        })
    }

    /// Statements for each element of a part, in loops over its points.
    pub(super) fn each_element(
        &mut self,
        part: &ContainerPart,
        span: Span,
        nodes: &mut Vec<Node>,
        statements: &dyn Fn(&Self, Access) -> Vec<Node>,
    ) -> Option<()> {
        let program = &self.whole.program;
        let it = &program.containers[part.container];
        let points = it.axes.iter().zip(&it.shape).map(|(axis, &size)| {
            let origin = it.origin[axis.index()];
            (axis, (Affine::constant(-origin), affine(size).moved(-origin)))
        });
        let points: Vec<(Axis, (Affine, Affine))> = points.collect();
        let index = points.iter().map(|(axis, _)| {
            Affine::beside(&Symbol::new(axis.position_name()), it.origin[axis.index()]).into()
        });
        let index: Vec<Subscript> = index.collect();
        let Some(elements) = data_elements(part.data_dims(program)) else {
            self.refuse("a statement", &format!("`{}` has many elements at a point", it.name), span);
            return None;
        };
        let container = self.own(part.container);
        let mut inside = Vec::new();
        for data in elements {
            let chosen = part.data_index.iter().map(|&it| i64::from(it)).chain(data);
            let data = chosen.map(|it| Affine::constant(it).into());
            let target = Access { container, index: index.iter().cloned().chain(data).collect() };
            inside.extend(statements(self, target));
        }
        nodes.extend(in_loops(&points, Placement::Threads, inside));
        Some(())
    }

    /// Stores in halos the values that the opposite edge or the nearest points have.
    pub(super) fn exchange(
        &mut self,
        exchange: &HaloExchange,
        span: Span,
        nodes: &mut Vec<Node>,
    ) -> Option<()> {
        if self.whole.answers == Answers::Exchanges {
            self.refuse("an exchange", "the caller of the program carries it out", span);
            return None;
        }
        if self.whole.fill == HaloFill::None {
            return Some(());
        }
        let held = match exchange.phase {
            ExchangePhase::Update => None,
            ExchangePhase::Start | ExchangePhase::Wait => Some(self.held_by(exchange)),
        };
        let program = &self.whole.program;
        for (at, part) in exchange.fields.iter().enumerate() {
            let it = &program.containers[part.container];
            let (Some(boxes), Some(elements)) =
                (halo_boxes(it, exchange.width, self.whole.fill), data_elements(part.data_dims(program)))
            else {
                self.refuse("an exchange", &format!("`{}` has a shape of its own", it.name), span);
                return None;
            };
            let elements: Vec<Vec<i64>> = elements.collect();
            let least = least_points(it, exchange.width);
            if let Some([i, j, _]) = self.whole.only
                && self.whole.fill == HaloFill::Periodic
                && (i < least[0] || j < least[1])
            {
                let why = format!("the halo of `{}` is wider than the domain", it.name);
                self.refuse("an exchange", &why, span);
                return None;
            }
            let own = self.own(part.container);
            let held = held.as_ref().map(|it| it[at]);
            let (to, from) = match (exchange.phase, held) {
                (ExchangePhase::Start, Some(held)) => (held, own),
                (ExchangePhase::Wait, Some(held)) => (own, held),
                _ => (own, own),
            };
            // The values of a `start` stand where a `wait` stores them.
            let stays = exchange.phase == ExchangePhase::Wait;
            for HaloBox { points, sources } in boxes {
                let origin = self.origin(span);
                let mut inside = Vec::new();
                for data in &elements {
                    let chosen = part.data_index.iter().map(|&it| i64::from(it)).chain(data.iter().copied());
                    let data: Vec<Subscript> = chosen.map(|it| Affine::constant(it).into()).collect();
                    let index = |is_source: bool| {
                        let points = points.iter().map(|(axis, _)| {
                            let here = Affine::symbol(&Symbol::new(axis.position_name()));
                            let at = match sources[axis.index()].as_ref().filter(|_| is_source) {
                                Some(HaloSource::Moved(by)) => &here + by,
                                Some(HaloSource::At(place)) => place.clone(),
                                None => here,
                            };
                            Subscript::from(at.moved(it.origin[axis.index()]))
                        });
                        points.chain(data.iter().cloned()).collect()
                    };
                    let target = Access { container: to, index: index(false) };
                    let value = self.value_at(Access { container: from, index: index(!stays) }, span);
                    inside.push(Node::Assign(Assign { target, value, origin: origin.clone() }));
                }
                nodes.extend(in_loops(&points, Placement::Sequential, inside));
            }
        }
        Some(())
    }

    /// The fields that keep the values of an exchange from its start to its wait.
    fn held_by(&mut self, exchange: &HaloExchange) -> Vec<Handle<Container>> {
        if let Some(known) = self.held.iter().find(|it| it.0.is_same(exchange)) {
            return known.1.clone();
        }
        let program = &self.whole.program;
        let fields = exchange.fields.iter().map(|part| {
            let it = &program.containers[part.container];
            let of = ProgramContainer { name: format!("{}_sent", it.name), ..it.clone() };
            self.field(&of, ContainerKind::Temporary, Storage::Heap)
        });
        let fields: Vec<Handle<Container>> = fields.collect();
        self.held.push((exchange.clone(), fields.clone()));
        fields
    }
}

/// The indices of all elements at a point; none where there are too many.
fn data_elements(dims: &[u32]) -> Option<impl Iterator<Item = Vec<i64>>> {
    let mut sizes = dims.iter().map(|&it| it as usize);
    sizes.try_fold(1, usize::checked_mul).filter(|&it| it <= MOST_ELEMENTS)?;
    let one = dims.is_empty().then(Vec::new);
    let all = dims.iter().map(|&size| 0..i64::from(size)).multi_cartesian_product();
    Some(one.into_iter().chain(all.filter(|it| !it.is_empty())))
}

/// Loops over the points, the levels outermost.
fn in_loops(points: &[(Axis, (Affine, Affine))], outermost: Placement, inside: Vec<Node>) -> Vec<Node> {
    let mut nodes = inside;
    let n = points.len();
    for (at, (axis, (start, end))) in points.iter().enumerate() {
        let placement = if at + 1 == n { outermost } else { Placement::Sequential };
        nodes = vec![Node::Loop(Loop {
            variable: Symbol::new(axis.position_name()),
            axis: *axis,
            start: Size::from(start.clone()),
            end: Size::from(end.clone()),
            step: 1,
            order: Order::Parallel,
            placement,
            children: nodes,
        })];
    }
    nodes
}
