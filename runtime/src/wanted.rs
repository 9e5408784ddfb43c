//! The parts of written fields that are copied back after calls, and their place in memory.

use isobar_compiler::call::array::{Array, Elements};
use isobar_compiler::call::launch::FieldArgument;
use isobar_compiler::space::{Axis, AxisSet};

/// The parts of the fields that are copied back from where they were computed. All other elements stay as
/// they were before the calls.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FetchSelection {
    /// Positions in the launch; `None` asks for every field that is written.
    pub arguments: Option<Vec<usize>>,
    /// Of fields that have this axis, only this point of the compute domain along it.
    pub plane: Option<(Axis, i64)>,
}

impl FetchSelection {
    /// Whether anything of an argument comes back.
    #[must_use]
    pub fn asks_for(&self, position: usize) -> bool {
        self.arguments.as_ref().is_none_or(|it| it.contains(&position))
    }

    /// The plane of a field that is wanted. `None` where the whole field is wanted, or its array does not
    /// hold the plane.
    #[must_use]
    pub fn plane_of(&self, axes: AxisSet, field: &FieldArgument) -> Option<ArrayPlane> {
        let (axis, at) = self.plane?;
        let dimension = axes.iter().position(|it| it == axis)?;
        let at = usize::try_from(field.origin[axis.index()].checked_add(at)?).ok()?;
        ArrayPlane::of(&field.array, dimension, at)
    }
}

/// The elements of an array at one index along a dimension, as they lie in memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArrayPlane {
    /// The position of the first element.
    pub first: usize,
    /// For each remaining dimension, in order: the number of elements, and the distance between two
    /// neighbours in elements.
    pub dimensions: Vec<[usize; 2]>,
}

impl ArrayPlane {
    fn of(array: &Array, dimension: usize, at: usize) -> Option<Self> {
        let strides = array.own_strides();
        let mut dimensions: Vec<[usize; 2]> =
            array.shape.iter().zip(&strides).map(|(&n, &stride)| [n, stride]).collect();
        let [_, stride] = *dimensions.get(dimension).filter(|it| at < it[0])?;
        dimensions.remove(dimension);
        Some(Self { first: at * stride, dimensions })
    }

    /// The number of elements.
    #[must_use]
    pub fn n(&self) -> usize {
        self.dimensions.iter().map(|it| it[0]).product()
    }

    /// The same elements in the order of memory: the last dimension has the smallest stride.
    #[must_use]
    pub fn as_it_lies(&self) -> Self {
        let mut lying = self.clone();
        lying.dimensions.sort_by_key(|it| std::cmp::Reverse(it[1]));
        lying
    }

    /// Positions in the array, the last dimension fastest.
    pub fn positions(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.n()).map(|number| {
            let (mut rest, mut position) = (number, self.first);
            for &[n, stride] in self.dimensions.iter().rev() {
                position += rest % n * stride;
                rest /= n;
            }
            position
        })
    }

    /// Copies the elements to an array of the remaining dimensions.
    #[must_use]
    pub fn cut(&self, array: &Array) -> Option<Array> {
        let mut elements = Elements::zeros(array.dtype(), self.n());
        for (at, position) in self.positions().enumerate() {
            elements.set(at, array.elements.get(position));
        }
        let shape: Vec<usize> = self.dimensions.iter().map(|it| it[0]).collect();
        Array::from_c_order(elements, &shape)
    }

    /// Writes elements to the array, given in the order of [`positions`](Self::positions).
    pub(crate) fn put(&self, array: &mut Array, came: &Elements) {
        for (at, position) in self.positions().enumerate() {
            array.elements.set(position, came.get(at));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use isobar_compiler::types::{DType, Value};

    fn numbered(shape: &[usize]) -> Array {
        let mut array = Array::zeros(DType::Int32, shape);
        for (n, index) in (0..).zip(array.indices()) {
            let position = array.position(&index);
            array.elements.set(position, Value::Int32(n));
        }
        array
    }

    #[test]
    fn a_plane_is_what_has_one_index_along_a_dimension() {
        let array = numbered(&[2, 3, 4]);
        for (dimension, at, shape, expected) in [
            (0, 1, [3, 4], vec![12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23]),
            (1, 2, [2, 4], vec![8, 9, 10, 11, 20, 21, 22, 23]),
            (2, 3, [2, 3], vec![3, 7, 11, 15, 19, 23]),
        ] {
            let plane = ArrayPlane::of(&array, dimension, at).unwrap();
            let cut = plane.cut(&array).unwrap();
            assert_eq!(cut.shape, shape);
            let values: Vec<i64> = cut.indices().map(|it| cut.get(&it).as_i64()).collect();
            assert_eq!(values, expected);
            // The same elements in another order.
            let lying = plane.as_it_lies();
            let (mut one, mut other): (Vec<_>, Vec<_>) =
                (plane.positions().collect(), lying.positions().collect());
            assert!(other.is_sorted(), "{other:?}");
            one.sort_unstable();
            other.sort_unstable();
            assert_eq!(one, other);
            let mut back = Array::zeros(DType::Int32, &[2, 3, 4]);
            plane.put(&mut back, &cut.elements);
            assert_eq!(plane.cut(&back), Some(cut));
        }
        assert_eq!(ArrayPlane::of(&array, 0, 2), None);
    }

    #[test]
    fn fields_without_the_axis_come_back_whole() {
        let field = FieldArgument { array: numbered(&[4, 5]), origin: [1, 1, 0] };
        let wanted = |axis, at| FetchSelection { arguments: Some(vec![2]), plane: Some((axis, at)) };
        let ij: AxisSet = AxisSet::IJ;
        assert_eq!(wanted(Axis::K, 0).plane_of(ij, &field), None);
        assert_eq!(wanted(Axis::J, 3).plane_of(ij, &field).map(|it| it.n()), Some(4));
        // Outside of its array a field has no plane.
        assert_eq!(wanted(Axis::J, 4).plane_of(ij, &field), None);
        assert_eq!(wanted(Axis::J, -2).plane_of(ij, &field), None);
        assert!(wanted(Axis::J, 0).asks_for(2) && !wanted(Axis::J, 0).asks_for(1));
        assert!(FetchSelection::default().asks_for(1));
    }
}
