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
    copy(from, &mut rows, container);
    rows
}

/// Whether neighbours along I lie side by side; a container without I has no rows.
pub(super) fn is_in_rows(array: &Array, container: &Container) -> bool {
    !container.axes.has(Axis::I) || array.strides.first() == Some(&1) || array.shape.first() == Some(&1)
}

/// Copies all elements between two arrays of one container.
pub(super) fn copy(from: &Array, to: &mut Array, container: &Container) {
    let [sources, targets] = [from, &*to].map(|it| whole(it, container));
    for (source, target) in sources.into_iter().zip(targets) {
        to.elements.set(target, from.elements.get(source));
    }
}

/// Where all elements lie, in the order of their indices in C.
fn whole(array: &Array, container: &Container) -> Vec<usize> {
    places(array, container, &[]).0
}

/// Where the elements of a part lie among those of its container, in the order of its indices in C.
pub(super) fn positions(
    array: &Array,
    container: &Container,
    part: &ContainerPart,
) -> (Vec<usize>, Vec<usize>) {
    places(array, container, &part.data_index)
}

fn places(array: &Array, container: &Container, data_index: &[u32]) -> (Vec<usize>, Vec<usize>) {
    let n_axes = container.axes.len();
    let n_index = data_index.len();
    let is_left = |at: &usize| *at < n_axes || *at >= n_axes + n_index;
    let left: Vec<usize> = (0..array.shape.len()).filter(is_left).collect();
    let shape: Vec<usize> = left.iter().map(|&at| array.shape[at]).collect();
    let mut index = vec![0; array.shape.len()];
    for (slot, &at) in index[n_axes.min(array.shape.len())..].iter_mut().zip(data_index) {
        *slot = at as usize;
    }
    let mut found = vec![array.position(&index)];
    for &at in &left {
        let stride = isize::try_from(array.strides[at]).unwrap_or(0);
        let steps: Vec<isize> = (0..).take(array.shape[at]).map(|it: isize| it * stride).collect();
        found = found
            .iter()
            .flat_map(|it| steps.iter().map(move |step| it.saturating_add_signed(*step)))
            .collect();
    }
    (found, shape)
}

/// A copy of a part.
pub(super) fn gather(array: &Array, container: &Container, part: &ContainerPart) -> Array {
    let (positions, shape) = positions(array, container, part);
    let mut elements = Elements::zeros(container.dtype, positions.len());
    for (to, from) in positions.into_iter().enumerate() {
        elements.set(to, array.elements.get(from));
    }
    Array::from_c_order(elements, &shape).unwrap_or_else(|| absent(container.dtype))
}

/// Stores a part. `from` has its shape.
pub(super) fn scatter(array: &mut Array, container: &Container, part: &ContainerPart, from: &Array) {
    let (positions, _) = positions(array, container, part);
    for (to, index) in positions.into_iter().zip(from.indices()) {
        array.elements.set(to, from.get(&index));
    }
}
