//! Copies and fills of whole containers, as statements of the tree.

use itertools::Itertools;

use super::{Splice, SpliceRefusal};
use crate::diag::Origin;
use crate::entity::Handle;
use crate::expr::ExprKind;
use crate::space::{Affine, Axis, LoopOrder, Size};
use crate::tree::nodes::{
    Access, Assign, Container, Expr, HorizontalLoop, Node, Subscript, VerticalLoop, position_symbol,
};

/// All elements of a container, or those at an index of its first data dimensions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ContainerElements {
    pub container: Handle<Container>,
    pub data_index: Vec<u32>,
}

/// The most elements of data at a point that statements name one by one.
const MOST_ELEMENTS: usize = 32;

impl Splice {
    /// Copies each element of a part to the element of another part at the same place. The caller has checked that both
    /// have the same shape and type.
    ///
    /// # Errors
    ///
    /// Where a container lacks I or J, or has many elements at a point.
    pub fn copy(
        &mut self,
        from: &ContainerElements,
        to: &ContainerElements,
        origin: &Origin,
    ) -> Result<(), SpliceRefusal> {
        let source = &self.tree.containers[from.container];
        let (n_axes, n_first) = (source.axes.len(), from.data_index.len());
        let first = from.data_index.clone();
        self.each_element(to, origin, &|target, dtype| {
            let points = target[..n_axes].iter().cloned();
            let part = first.iter().map(|&it| Affine::constant(it.into()).into());
            let data = target[n_axes + to.data_index.len()..].iter().cloned();
            let index: Vec<Subscript> = points.chain(part).chain(data).collect();
            debug_assert!(index.len() >= n_axes + n_first, "all dimensions have an index");
            let read = Access { container: from.container, index };
            Expr { kind: ExprKind::Access(read), dtype, span: origin.span() }
        })
    }

    /// Stores a scalar, which has the type of the elements, in each element of a part.
    ///
    /// # Errors
    ///
    /// As for [`copy`](Self::copy).
    pub fn fill(
        &mut self,
        target: &ContainerElements,
        value: Handle<Container>,
        origin: &Origin,
    ) -> Result<(), SpliceRefusal> {
        self.each_element(target, origin, &|_, dtype| {
            let read = Access { container: value, index: Vec::new() };
            Expr { kind: ExprKind::Access(read), dtype, span: origin.span() }
        })
    }

    fn each_element(
        &mut self,
        part: &ContainerElements,
        origin: &Origin,
        value: &dyn Fn(&[Subscript], crate::types::DType) -> Expr,
    ) -> Result<(), SpliceRefusal> {
        let it = &self.tree.containers[part.container];
        let along = |axis: Axis| {
            let dimension = it.axes.iter().position(|it| it == axis)?;
            let Size::Affine(size) = &it.shape[dimension] else { return None };
            let before = &Affine::constant(0) - &it.shift[dimension];
            Some((Size::from(before.clone()), Size::from(size + &before)))
        };
        let (Some(i), Some(j)) = (along(Axis::I), along(Axis::J)) else {
            return Err(SpliceRefusal(format!("`{}` lacks I or J", it.name)));
        };
        let data = it.shape.iter().skip(it.axes.len() + part.data_index.len());
        let data = data.map(|size| match size {
            Size::Affine(size) => size.as_constant(),
            Size::Min(_) | Size::Max(_) => None,
        });
        let data: Option<Vec<i64>> = data.collect();
        let mut n_elements = data.iter().flatten().map(|&it| usize::try_from(it).unwrap_or(0));
        let n_elements = n_elements.try_fold(1, usize::checked_mul).filter(|&it| it <= MOST_ELEMENTS);
        let (Some(data), Some(_)) = (data, n_elements) else {
            return Err(SpliceRefusal(format!("`{}` has many elements at a point", it.name)));
        };
        let points: Vec<Subscript> = it
            .axes
            .iter()
            .zip(&it.shift)
            .map(|(axis, shift)| (&Affine::symbol(&position_symbol(axis)) + shift).into())
            .collect();
        let (order, (start, end)) = match along(Axis::K) {
            Some(levels) => (LoopOrder::Parallel, levels),
            None => (LoopOrder::Forward, (Affine::constant(0).into(), Affine::constant(1).into())),
        };
        let mut children = Vec::new();
        for element in data.iter().map(|&size| 0..size).multi_cartesian_product() {
            let number = |it: i64| Affine::constant(it).into();
            let part_index = part.data_index.iter().map(|&it| number(it.into()));
            let index: Vec<Subscript> =
                points.iter().cloned().chain(part_index).chain(element.into_iter().map(number)).collect();
            let value = value(&index, it.dtype);
            let target = Access { container: part.container, index };
            children.push(Node::Assign(Assign { target, value, origin: origin.clone() }));
        }
        let plane = Node::HorizontalLoop(HorizontalLoop { i, j, children });
        self.tree.children.push(Node::VerticalLoop(VerticalLoop {
            order,
            start,
            end,
            children: vec![plane],
        }));
        Ok(())
    }
}
