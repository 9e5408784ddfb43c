//! Statements that run for every element of the data dimensions at a point.

use itertools::Itertools;

use super::super::nodes::{Access, Assign, Container, ContainerKind, Expr, Node, Subscript, While};
use super::Lowering;
use crate::diag::Origin;
use crate::expr::ExprKind;
use crate::space::{Affine, AxisSet};
use crate::types::{BinaryOp, DType, Value};

/// The most elements that are written out one by one. More elements get a loop that does so many in each
/// iteration.
const ONE_BY_ONE: i64 = 16;

impl Lowering<'_> {
    /// The assignments that `assign` makes for the indices of every element.
    pub(super) fn for_each_element(
        &mut self,
        data_dims: &[u32],
        origin: &Origin,
        assign: &mut dyn FnMut(&[Subscript]) -> Assign,
    ) -> Vec<Node> {
        let sizes: Vec<i64> = data_dims.iter().map(|&size| size.into()).collect();
        if sizes.iter().try_fold(1, |n: i64, size| n.checked_mul(*size)).is_some_and(|n| n <= ONE_BY_ONE) {
            let indices = sizes.iter().map(|&size| 0..size).multi_cartesian_product();
            let at = |index: Vec<i64>| index.into_iter().map(|it| Affine::constant(it).into()).collect_vec();
            return indices.map(|it| Node::Assign(assign(&at(it)))).collect();
        }
        self.loops(&sizes, origin, &mut Vec::new(), assign)
    }

    fn loops(
        &mut self,
        sizes: &[i64],
        origin: &Origin,
        outer: &mut Vec<Subscript>,
        assign: &mut dyn FnMut(&[Subscript]) -> Assign,
    ) -> Vec<Node> {
        let Some((&size, rest)) = sizes.split_first() else { return vec![Node::Assign(assign(outer))] };
        let counter = self.tree.containers.push(Container {
            name: self.unused_name("element"),
            dtype: DType::Int64,
            kind: ContainerKind::Local,
            axes: AxisSet::of(&[]),
            shape: Vec::new(),
            shift: Vec::new(),
            span: origin.span(),
        });
        let counter = Access { container: counter, index: Vec::new() };
        let expr = |kind, dtype| Expr { kind, dtype, span: origin.span() };
        let integer = |it: i64| expr(ExprKind::Literal(Value::Int64(it)), DType::Int64);
        let count = || expr(ExprKind::Access(counter.clone()), DType::Int64);
        let joined =
            |op, to: i64, dtype| expr(ExprKind::Binary(op, Box::new(count()), Box::new(integer(to))), dtype);
        let set = |value| Node::Assign(Assign { target: counter.clone(), value, origin: origin.clone() });
        // The innermost loop takes several elements in one iteration, which also keeps its iterations few.
        let in_a_turn = if rest.is_empty() { ONE_BY_ONE.min(size) } else { 1 };
        let whole = size - size % in_a_turn;
        let mut body = Vec::new();
        for at in 0..in_a_turn {
            outer.push(Subscript::found(Affine::constant(at), count()));
            body.extend(self.loops(rest, origin, outer, assign));
            outer.pop();
        }
        body.push(set(joined(BinaryOp::Add, in_a_turn, DType::Int64)));
        let condition = joined(BinaryOp::Lt, whole, DType::Bool);
        let repeat = Node::While(While { condition, body, origin: origin.clone() });
        let mut nodes = vec![set(integer(0)), repeat];
        for at in whole..size {
            outer.push(Affine::constant(at).into());
            nodes.extend(self.loops(rest, origin, outer, assign));
            outer.pop();
        }
        nodes
    }
}
