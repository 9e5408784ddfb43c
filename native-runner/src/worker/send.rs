//! The written fields: described, and handed over part by part, so that none is there twice.

use isobar_compiler::call::array::{Array, Elements, StoredElement as _};
use isobar_compiler::call::launch::{Argument, FieldArgument, Launch};
use isobar_compiler::call::signature::Signature;
use isobar_compiler::for_elements;
use isobar_compiler::space::{Axis, Domain};
use isobar_protocol::field::{FieldInfo, Statistics};
use isobar_protocol::fields::Counted;
use isobar_protocol::job::EventKind;
use isobar_runtime::wanted::FetchSelection;

use super::Tell;
use crate::plan;

/// Tells what is wanted of every field that the stencil may write, each with its elements.
pub(super) fn fields(signature: &Signature, launch: &Launch, wanted: &FetchSelection, tell: Tell<'_>) {
    for (position, (param, argument)) in signature.params.iter().zip(&launch.arguments).enumerate() {
        let (Some(axes), Argument::Field(field)) = (plan::axes_of(&param.kind), argument) else { continue };
        if !param.access.is_written() || !wanted.asks_for(position) {
            continue;
        }
        let plane = wanted.plane_of(axes, field).and_then(|it| it.cut(&field.array));
        let across = wanted.plane.map(|it| it.0).filter(|_| plane.is_some());
        let array = plane.as_ref().unwrap_or(&field.array);
        // Put in order once where that takes little memory, else while it is described and again while it is sent.
        let ordered = (bytes(array) <= AT_ONCE_BYTES).then(|| in_c_order(array)).flatten();
        let array = ordered.as_ref().unwrap_or(array);
        let axes: Vec<Axis> = axes.iter().filter(|it| Some(*it) != across).collect();
        let info = described(&param.name, &axes, field, array, launch.domain);
        tell(EventKind::Field { field: info }, Some(array));
    }
}

/// The same elements, which lie in C order.
fn in_c_order(array: &Array) -> Option<Array> {
    Array::from_c_order(array.c_order(array.first, &array.shape), &array.shape)
}

/// A field of so many bytes may be there twice.
const AT_ONCE_BYTES: u64 = 16 << 20;

/// How many bytes all parts of an array have together.
pub(super) fn bytes(array: &Array) -> u64 {
    let n: usize = array.shape.iter().product();
    (n as u64).saturating_mul(array.dtype().size_bytes() as u64)
}

/// As many elements are handed over at a time, or those of one position along the first dimension.
const PART: usize = 64 * 1024;

/// The elements of an array in C order, little-endian, in parts.
pub(super) fn parts(array: &Array) -> impl Iterator<Item = Vec<u8>> {
    slices(array, array.first, array.shape.clone()).map(|it| it.to_le_bytes())
}

/// The elements of a box in C order, in parts; it starts at a position of the array and has its strides.
fn slices(array: &Array, start: usize, shape: Vec<usize>) -> impl Iterator<Item = Elements> {
    let (first, rest) = shape.split_first().map_or((1, &[][..]), |(&first, rest)| (first, rest));
    let of_rest: usize = rest.iter().product();
    let at_once = (PART / of_rest.max(1)).max(1);
    let stride = array.own_strides().first().copied().unwrap_or(0);
    (0..first).step_by(at_once).map(move |from| {
        let mut shape = shape.clone();
        if let Some(first) = shape.first_mut() {
            *first = at_once.min(*first - from);
        }
        array.c_order(start + from * stride, &shape)
    })
}

/// A field, or a plane of it, whose array has these axes.
fn described(name: &str, axes: &[Axis], field: &FieldArgument, array: &Array, domain: Domain) -> FieldInfo {
    let points = |&axis: &Axis| u64::try_from(domain.along(axis)).unwrap_or(0);
    let data = array.shape.iter().skip(axes.len()).map(|&size| size as u64);
    let origin = axes.iter().map(|axis| field.origin[axis.index()]);
    let mut info = FieldInfo {
        name: name.to_owned(),
        dtype: array.dtype().to_string(),
        axes: axes.iter().map(|it| it.name()).collect(),
        shape: array.shape.iter().map(|&it| it as u64).collect(),
        origin: origin.chain(data.clone().map(|_| 0)).collect(),
        domain: axes.iter().map(points).chain(data).collect(),
        statistics: Statistics::default(),
    };
    info.statistics = statistics(array, &info);
    info
}

/// Of the compute domain, as far as the array holds it; the mean is summed in C order, so that it is the same everywhere.
fn statistics(array: &Array, info: &FieldInfo) -> Statistics {
    let mut counted = Counted::default();
    let held = info.held();
    let first = held.iter().zip(&info.origin).map(|(held, origin)| held.start.saturating_add_signed(*origin));
    let index = |it: u64| usize::try_from(it).unwrap_or(0);
    let strides = array.own_strides();
    let start: usize = first.zip(&strides).map(|(at, stride)| index(at) * stride).sum();
    let sizes: Vec<usize> = held.iter().map(|it| index(it.end - it.start)).collect();
    if !sizes.contains(&0) {
        for slice in slices(array, start, sizes) {
            // Counted in registers.
            let mut so_far = counted;
            for_elements!(&slice, all => all.iter().for_each(|it| so_far.add(it.value().as_f64())));
            counted = so_far;
        }
    }
    counted.ended()
}

#[cfg(test)]
mod tests {
    use super::*;
    use isobar_compiler::types::{DType, Value};

    #[test]
    fn c_order_and_statistics_follow_the_strides() {
        let mut array = Array::zeros(DType::Float64, &[2, 3]);
        for (n, index) in array.indices().enumerate() {
            let position = array.position(&index);
            array.elements.set(position, Value::Float64(n as f64));
        }
        array.elements.set(array.position(&[1, 1]), Value::Float64(f64::NAN));
        assert_eq!(parts(&array).collect::<Vec<_>>().concat(), array.to_c_order_le_bytes());
        assert_eq!(bytes(&array), 6 * 8);
        let info = |origin: [i64; 2], domain: [u64; 2]| FieldInfo {
            shape: vec![2, 3],
            origin: origin.to_vec(),
            domain: domain.to_vec(),
            ..FieldInfo::default()
        };
        let found = statistics(&array, &info([0, 1], [2, 2]));
        assert_eq!((found.min, found.max, found.nan, found.inf), (Some(1.0), Some(5.0), 1, 0));
        assert_eq!(found.mean, Some((1.0 + 2.0 + 5.0) / 3.0));
        // The second of two rows is the first of the array, which does not hold the other.
        assert_eq!(statistics(&array, &info([-1, 2], [2, 1])).max, Some(2.0));
        assert_eq!(statistics(&array, &info([-3, 0], [3, 1])), Statistics::default());
    }

    #[test]
    fn parts_are_bounded_and_lose_nothing() {
        for shape in [vec![], vec![0, 3], vec![7, 40_000], vec![200_000], vec![3, 2, 70_000]] {
            let mut array = Array::zeros(DType::Int32, &shape);
            for (n, index) in (0..).zip(array.indices()) {
                let position = array.position(&index);
                array.elements.set(position, Value::Int32(n));
            }
            let all: Vec<_> = parts(&array).collect();
            assert_eq!(all.concat(), array.to_c_order_le_bytes(), "{shape:?}");
            let of_one = shape.iter().skip(1).product::<usize>();
            assert!(all.iter().all(|it| it.len() <= 4 * PART.max(of_one)), "{shape:?}");
        }
    }
}
