//! Arrays of containers, and their parts.

use isobar_ground::call::array::{Array, Elements};
use isobar_ground::space::{Axis, Domain};
use isobar_ground::types::{DType, Value};

use crate::nodes::{Container, ContainerPart};

/// Points along the axes, then along the data dimensions; 0 where a size is negative.
pub(super) fn shape(container: &Container, domain: Domain) -> Vec<usize> {
    let along = container.shape.iter().map(|it| usize::try_from(it.on(domain)).unwrap_or(0));
    along.chain(container.data_dims.iter().map(|&it| it as usize)).collect()
}

/// An array of one value.
pub(super) fn filled(container: &Container, domain: Domain, value: Value) -> Array {
    let mut array = Array::zeros(container.dtype, &shape(container, domain));
    let n = array.elements.len();
    array.elements = Elements::filled(value, n);
    array
}

/// An array whose elements are elsewhere.
pub(super) fn absent(dtype: DType) -> Array {
    Array { elements: Elements::zeros(dtype, 0), first: 0, shape: Vec::new(), strides: Vec::new() }
}

/// An array with neighbours along I side by side, and the elements of `from`.
pub(super) fn in_rows(from: &Array, container: &Container) -> Array {
    let mut rows = Array::zeros(container.dtype, &from.shape);
    copy(from, &mut rows);
    rows
}

/// Whether neighbours along I lie side by side; a container without I has no rows.
pub(super) fn is_in_rows(array: &Array, container: &Container) -> bool {
    !container.axes.has(Axis::I) || array.strides.first() == Some(&1) || array.shape.first() == Some(&1)
}

/// Copies all elements between two arrays of one shape and type.
pub(super) fn copy(from: &Array, to: &mut Array) {
    let (first, strides) = (to.first, to.strides.clone());
    to.copy_box((first, &strides), (from, from.first, &from.strides), &from.shape);
}

/// Elements of an array that form a box: where its first element lies, and points and strides along its dimensions.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ElementBox {
    pub start: usize,
    pub shape: Vec<usize>,
    /// In elements.
    pub strides: Vec<i64>,
}

impl ElementBox {
    /// A part of a container's array; its dimensions are those that no index fixes.
    pub(super) fn of_part(array: &Array, container: &Container, part: &ContainerPart) -> Self {
        let n_axes = container.axes.len().min(array.shape.len());
        let fixed = n_axes..n_axes + part.data_index.len();
        let mut index = vec![0; array.shape.len()];
        for (slot, &at) in index[n_axes..].iter_mut().zip(&part.data_index) {
            *slot = at as usize;
        }
        let left: Vec<usize> = (0..array.shape.len()).filter(|it| !fixed.contains(it)).collect();
        Self {
            start: array.position(&index),
            shape: left.iter().map(|&it| array.shape[it]).collect(),
            strides: left.iter().map(|&it| array.strides[it]).collect(),
        }
    }

    /// The number of elements.
    #[must_use]
    pub fn n(&self) -> usize {
        self.shape.iter().product()
    }
}

/// A part as an array that tells how its elements lie, and has none.
pub(super) fn part_view(array: &Array, container: &Container, part: &ContainerPart) -> Array {
    let ElementBox { start, shape, strides } = ElementBox::of_part(array, container, part);
    Array { elements: Elements::zeros(container.dtype, 0), first: start, shape, strides }
}

/// Whether an array has exactly the elements of its shape, none of them twice, and no stride is negative.
pub(super) fn is_dense(array: &Array) -> bool {
    let n: usize = array.shape.iter().product();
    let is_ahead = |(&n, &stride): (&usize, &i64)| n <= 1 || stride > 0;
    array.first == 0 && n == array.elements.len() && array.shape.iter().zip(&array.strides).all(is_ahead)
}

/// A copy of a part.
pub(super) fn gather(array: &Array, container: &Container, part: &ContainerPart) -> Array {
    let ElementBox { start, shape, strides } = ElementBox::of_part(array, container, part);
    let mut copied = Array::zeros(container.dtype, &shape);
    let own = copied.strides.clone();
    copied.copy_box((0, &own), (array, start, &strides), &shape);
    copied
}

/// Stores a part. `from` has its shape.
pub(super) fn scatter(array: &mut Array, container: &Container, part: &ContainerPart, from: &Array) {
    let ElementBox { start, shape, strides } = ElementBox::of_part(array, container, part);
    array.copy_box((start, &strides), (from, from.first, &from.strides), &shape);
}
