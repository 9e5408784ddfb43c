//! Arrays and scalars for a call, made from directives.

use std::ops::Range;

use super::generate::SampledGenerator;
use super::rows::{LEAST_BYTES, RowLayout, Rows};
use super::workers::{CallingThread, WorkItem, Workers};
use super::{Directives, Generator};
use crate::call::array::{Array, Elements, StoredElement};
use crate::call::launch::Call;
use crate::call::signature::{AccessKind, Param, ParamKind, Signature};
use crate::for_elements;
use crate::space::{Axis, AxisSet, Domain};
use crate::types::DType;

/// Makes a call of `signature` with the inputs of the directives.
///
/// Fields are just large enough for the domain and the halo that the stencil touches, each with its own
/// origin. A field that is written and has no generator starts with zeros. A field that is read and has none
/// is left out, and so is a scalar without a value, for [`bind`](crate::call::launch::bind) to report. Ask
/// [`bytes_for`] first.
#[must_use]
pub fn call_for(signature: &Signature, directives: &Directives, domain: Domain) -> Call {
    call_with(signature, directives, domain, Rows::Dense, &CallingThread)
}

/// Makes a call as [`call_for`] does, with fields laid out in memory as `rows` tells.
///
/// The worker that fills a part of a field is the first to touch its memory. Zeros are not touched here, but
/// by the first later write. Ask [`bytes_with`] first.
#[must_use]
pub fn call_with(
    signature: &Signature,
    directives: &Directives,
    domain: Domain,
    rows: Rows,
    workers: &dyn Workers,
) -> Call {
    let mut call = Call { domain: Some([domain.i, domain.j, domain.k]), ..Call::default() };
    for param in signature.params.iter().filter(|it| it.access != AccessKind::None) {
        match param.kind {
            ParamKind::Scalar { .. } => {
                if let Some(given) = directives.scalars.iter().find(|it| it.name == param.name) {
                    call.scalars.insert(param.name.clone(), given.value);
                }
            }
            ParamKind::Field { axes, ref data_dims, dtype, .. } => {
                let generator = directives.input(&param.name);
                if generator.is_none() && param.access != AccessKind::Write {
                    continue;
                }
                let origin = Axis::ALL.map(|axis| param.kind.halo(axis).0);
                let shape = shape_for(param, axes, data_dims, domain);
                let mut array = zeros(dtype, axes, shape, origin, rows);
                if let Some(generator) = generator {
                    // Others would be asked for longer than they would work.
                    let is_small = array.elements.bytes() < LEAST_BYTES;
                    let workers = if is_small { &CallingThread } else { workers };
                    fill_on(&mut array, generator, axes, origin, domain, workers);
                }
                call.fields.insert(param.name.clone(), array);
                call.origin.insert(param.name.clone(), origin.to_vec());
            }
        }
    }
    call
}

/// The bytes that the fields of [`call_for`] take; saturates. While one is filled, it takes twice its own at most.
#[must_use]
pub fn bytes_for(signature: &Signature, domain: Domain) -> u64 {
    bytes_with(signature, domain, Rows::Dense)
}

/// The bytes that the fields of [`call_with`] take, with the room between rows; as [`bytes_for`].
#[must_use]
pub fn bytes_with(signature: &Signature, domain: Domain, rows: Rows) -> u64 {
    let bytes = |param: &Param| match param.kind {
        ParamKind::Field { axes, ref data_dims, dtype, .. } if param.access != AccessKind::None => {
            let shape = shape_for(param, axes, data_dims, domain);
            let RowLayout { n, line_bytes, .. } = rows.plan(dtype, axes, &shape);
            Elements::bytes_at_line(dtype, n, line_bytes) as u64
        }
        ParamKind::Field { .. } | ParamKind::Scalar { .. } => 0,
    };
    signature.params.iter().map(bytes).fold(0, u64::saturating_add)
}

/// The strides of a field of [`call_with`], in elements, per axis and then per data dimension; none of a scalar.
#[must_use]
pub fn strides_with(param: &Param, domain: Domain, rows: Rows) -> Option<Vec<usize>> {
    let ParamKind::Field { axes, ref data_dims, dtype, .. } = param.kind else { return None };
    Some(rows.plan(dtype, axes, &shape_for(param, axes, data_dims, domain)).strides)
}

/// An array of zeros; `origin` is the index of the first point of the compute domain along I, J, K.
fn zeros(dtype: DType, axes: AxisSet, shape: Vec<usize>, origin: [i64; 3], rows: Rows) -> Array {
    let RowLayout { strides, n, line_bytes } = rows.plan(dtype, axes, &shape);
    let at = |(axis, stride): (Axis, &usize)| {
        usize::try_from(origin[axis.index()]).unwrap_or(0).saturating_mul(*stride)
    };
    let first = axes.iter().zip(&strides).map(at).fold(0, usize::saturating_add);
    let elements = Elements::zeros_at_line(dtype, n, first, line_bytes);
    let strides = strides.iter().map(|&it| i64::try_from(it).unwrap_or(i64::MAX)).collect();
    Array { elements, first: 0, shape, strides }
}

/// Makes an array with the values of a generator at every point, halo included.
///
/// `origin` is the index of the first point of the compute domain along I, J, K. The dimensions of `shape`
/// behind the axes are data dimensions. Each of their elements has random numbers of its own.
#[must_use]
pub fn fill(
    generator: &Generator,
    dtype: DType,
    axes: AxisSet,
    shape: &[usize],
    origin: [i64; 3],
    domain: Domain,
) -> Array {
    let mut array = zeros(dtype, axes, shape.to_vec(), origin, Rows::Dense);
    fill_on(&mut array, generator, axes, origin, domain, &CallingThread);
    array
}

/// Fills an array as [`fill`] does, on whatever threads there are.
fn fill_on(
    array: &mut Array,
    generator: &Generator,
    axes: AxisSet,
    origin: [i64; 3],
    domain: Domain,
    workers: &dyn Workers,
) {
    let (mut points, mut strides) = (Axis::ALL.map(|_| 0..1), [0; 3]);
    for ((axis, &size), stride) in axes.iter().zip(&array.shape).zip(array.own_strides()) {
        let start = -origin[axis.index()];
        points[axis.index()] = start..start.saturating_add(i64::try_from(size).unwrap_or(i64::MAX));
        strides[axis.index()] = stride;
    }
    let slowest = axes.iter().last().unwrap_or(Axis::K);
    let levels = axes.len().checked_sub(1).map_or(1, |last| array.shape[last]);
    if axes.is_empty() {
        // The elements of a table lie side by side, each of one point.
        strides[slowest.index()] = 1;
    }
    let n_points: usize = array.shape[..axes.len()].iter().product();
    let n_elements: usize = array.shape[axes.len()..].iter().product();
    // The sampled values take no more memory than the array itself.
    let n_values = n_points * array.dtype().size_bytes() / size_of::<f64>();
    let generators: Vec<Generator> =
        (0_u64..).take(n_elements).map(|number| generator.of_element(number)).collect();
    let sampled = |it| SampledGenerator::new(it, &points, domain, &mut n_values.clone());
    let sampled: Vec<SampledGenerator<'_>> = generators.iter().map(sampled).collect();
    // Levels of all elements, one behind the other in memory.
    let slices = Slices { sampled: &sampled, points: &points, strides, slowest, levels };
    let total = levels * n_elements;
    let pieces = workers.pieces().clamp(1, total.max(1));
    let start_of = |piece: usize| piece * total / pieces;
    for_elements!(&mut array.elements, all => {
        let mut rest: &mut [_] = all;
        let mut work: Vec<WorkItem<'_>> = Vec::with_capacity(pieces);
        for piece in 0..pieces {
            let these = start_of(piece)..start_of(piece + 1);
            let (part, behind) = rest.split_at_mut(these.len() * strides[slowest.index()]);
            rest = behind;
            let slices = &slices;
            work.push(Box::new(move || slices.fill(part, these)));
        }
        workers.all(work);
    });
}

/// An array in slices across its slowest axis, in the order of memory. The slices of the first element of the
/// data dimensions come first, then those of the next.
struct Slices<'g> {
    /// Of each element.
    sampled: &'g [SampledGenerator<'g>],
    points: &'g [Range<i64>; 3],
    /// In elements of the array, along I, J, K.
    strides: [usize; 3],
    slowest: Axis,
    /// Slices of each element.
    levels: usize,
}

impl Slices<'_> {
    /// Fills the part of an array that these slices are.
    fn fill<T: StoredElement>(&self, part: &mut [T], these: Range<usize>) {
        let [along_i, along_j, along_k] = self.strides.map(|it| it.max(1));
        let all = self.points[self.slowest.index()].clone();
        let mut row = Vec::new();
        for (slice, part) in these.zip(part.chunks_mut(self.strides[self.slowest.index()].max(1))) {
            let level = all.start + i64::try_from(slice % self.levels).unwrap_or(i64::MAX);
            let sampled = &self.sampled[slice / self.levels];
            let mut points = self.points.clone();
            points[self.slowest.index()] = level..level + 1;
            let [i, j, k] = points;
            for (k, from_k) in k.zip((0..).step_by(along_k)) {
                for (j, from_j) in j.clone().zip((from_k..).step_by(along_j)) {
                    row.resize(usize::try_from(i.end - i.start).unwrap_or(0), 0.0);
                    sampled.row([i.start, j, k], &mut row);
                    let elements = part.get_mut(from_j..).unwrap_or_default();
                    elements
                        .iter_mut()
                        .step_by(along_i)
                        .zip(&row)
                        .for_each(|(it, value)| *it = T::of_float(*value));
                }
            }
        }
    }
}

fn shape_for(param: &Param, axes: AxisSet, data_dims: &[u32], domain: Domain) -> Vec<usize> {
    let size = |axis| {
        let (before, after) = param.kind.halo(axis);
        usize::try_from(before + domain.along(axis) + after).unwrap_or(0)
    };
    let data = data_dims.iter().map(|&size| usize::try_from(size).unwrap_or(usize::MAX));
    axes.iter().map(size).chain(data).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::call::launch::{ScalarInput, bind};
    use crate::diag::{FileId, Span};
    use crate::inputs::{directive, value_at};
    use crate::space::Reach;
    use crate::types::Value;

    fn field(name: &str, axes: AxisSet, dtype: DType, boundary: [Reach; 3], access: AccessKind) -> Param {
        let kind = ParamKind::Field { axes, data_dims: Vec::new(), dtype, boundary, reach: boundary };
        Param { name: name.to_owned(), kind, access, is_keyword_only: false, span: Span::default() }
    }

    fn signature() -> Signature {
        let zero = [Reach::ZERO; 3];
        let wide = [Reach::new(-2, 3), Reach::new(1, 1), Reach::ZERO];
        let below = [Reach::ZERO, Reach::ZERO, Reach::new(0, 1)];
        let alpha = ParamKind::Scalar { dtype: DType::Float32, default: None };
        Signature {
            name: "s".to_owned(),
            params: vec![
                field("q", AxisSet::IJK, DType::Float32, wide, AccessKind::Read),
                field("p", AxisSet::K, DType::Int32, below, AccessKind::Read),
                field("out", AxisSet::IJK, DType::Float64, zero, AccessKind::Write),
                field("unused", AxisSet::IJK, DType::Float64, zero, AccessKind::None),
                Param { kind: alpha, ..field("alpha", AxisSet::K, DType::Bool, zero, AccessKind::Read) },
            ],
            min_levels: 1,
        }
    }

    fn call(text: &str) -> Call {
        call_for(&signature(), &directive::read(text, FileId(0)).0, Domain::new(4, 3, 2))
    }

    /// Does pieces of work in another order than they are handed over.
    struct Backwards(usize);

    impl Workers for Backwards {
        fn pieces(&self) -> usize {
            self.0
        }

        fn all(&self, work: Vec<WorkItem<'_>>) {
            assert!((1..=self.0).contains(&work.len()));
            work.into_iter().rev().for_each(|it| it());
        }
    }

    #[test]
    fn a_call_from_directives_binds() {
        let call =
            call("# @input q linear(high=4)\n# @input p linear(high=10, along=k)\n# @scalar alpha = 2\n");
        assert_eq!(call.scalars["alpha"], ScalarInput::Int(2));
        assert_eq!((&call.fields["q"].shape[..], &call.origin["q"][..]), (&[9, 4, 2][..], &[2, 0, 0][..]));
        assert_eq!(call.fields["q"].get(&[0, 3, 1]), Value::Float32(-1.5));
        // (k + 0.5) / 2 * 10, as integers
        assert_eq!([0, 1, 2].map(|k| call.fields["p"].get(&[k]).as_i64()), [2, 7, 12]);
        assert_eq!(call.fields["out"].shape, [4, 3, 2]);
        assert!(!call.fields.contains_key("unused"));
        assert!(bind(&signature(), call).is_ok());
    }

    #[test]
    fn every_element_has_the_value_of_its_point() {
        let text = "sum(random(low=-1, high=3, seed=7), checker(low=0, high=1, cells=3), linear(low=0, high=9, along=k))";
        let generator = crate::inputs::parse::generator(text).unwrap();
        let (origin, domain) = ([2, 1, 3], Domain::new(3, 4, 2));
        for (axes, shape) in [(AxisSet::IJK, &[7, 6, 5][..]), (AxisSet::IJ, &[4, 6]), (AxisSet::K, &[5])] {
            let array = fill(&generator, DType::Float64, axes, shape, origin, domain);
            let count: usize = shape.iter().product();
            for element in 0..count {
                let (mut rest, mut index, mut point) = (element, Vec::new(), [0; 3]);
                for (axis, &size) in axes.iter().zip(shape) {
                    index.push(rest % size);
                    point[axis.index()] = i64::try_from(rest % size).unwrap() - origin[axis.index()];
                    rest /= size;
                }
                let expected = Value::Float64(value_at(&generator, point, domain));
                assert_eq!(array.get(&index), expected, "{axes} at {point:?}");
            }
        }
    }

    #[test]
    fn where_rows_lie_and_who_fills_them_changes_no_value() {
        let mut signature = signature();
        if let ParamKind::Field { data_dims, .. } = &mut signature.params[1].kind {
            *data_dims = vec![2, 3];
        }
        let text = "# @input q sum(random(low=0, high=1, seed=3), linear(high=4))\n# @input p random(low=0, high=99, seed=5)\n# @input out linear(high=7, along=j)\n";
        let directives = directive::read(text, FileId(0)).0;
        // A row of `q` has 155 points, 16 to a line of 64 bytes; a row of `out` has 150, 8 to a line.
        let domain = Domain::new(150, 40, 30);
        let plain = call_for(&signature, &directives, domain);
        assert_eq!(plain.fields["q"].strides, [1, 155, 155 * 41]);
        for bytes in [64, 128] {
            let rows = Rows::AtLines { bytes };
            for pieces in [1, 7, 1000] {
                let call = call_with(&signature, &directives, domain, rows, &Backwards(pieces));
                assert_eq!(call.origin, plain.origin);
                for (name, array) in &call.fields {
                    assert_eq!(array.shape, plain.fields[name].shape);
                    assert_eq!(
                        array.to_c_order_le_bytes(),
                        plain.fields[name].to_c_order_le_bytes(),
                        "{name}"
                    );
                }
                let q = &call.fields["q"];
                assert_eq!(q.strides, [1, 160, 160 * 41]);
                let Elements::Float32(elements) = &q.elements else { panic!("another type") };
                let start_of = |j, k| elements[q.position(&[2, j, k])..].as_ptr().addr();
                assert!((0..41).all(|j| start_of(j, 7).is_multiple_of(bytes)));
                let made: usize = call.fields.values().map(|it| it.elements.bytes()).sum();
                assert_eq!(bytes_with(&signature, domain, rows), made as u64);
                let strides = strides_with(&signature.params[0], domain, rows);
                assert_eq!(strides, Some(q.own_strides()));
            }
        }
    }

    #[test]
    fn each_element_of_a_table_has_a_value() {
        let mut signature = signature();
        if let ParamKind::Field { axes, data_dims, .. } = &mut signature.params[1].kind {
            (*axes, *data_dims) = (AxisSet::of(&[]), vec![300, 70]);
        }
        let directives = directive::read("# @input p random(low=1, high=1000, seed=5)\n", FileId(0)).0;
        let domain = Domain::new(4, 3, 2);
        let plain = call_for(&signature, &directives, domain);
        let table = &plain.fields["p"];
        let values: Vec<f64> = table.indices().map(|it| table.get(&it).as_f64()).collect();
        assert_eq!(values.len(), 300 * 70);
        assert!(
            values.iter().all(|it| (1.0..=1000.0).contains(it)) && values[0].to_bits() != values[1].to_bits()
        );
        let rows = Rows::AtLines { bytes: 64 };
        let shared = call_with(&signature, &directives, domain, rows, &Backwards(7));
        assert_eq!(shared.fields["p"].to_c_order_le_bytes(), table.to_c_order_le_bytes());
    }

    #[test]
    fn rooms_between_rows_are_a_tenth_of_a_field_at_most() {
        let rows = Rows::AtLines { bytes: 64 };
        for n in 1..200 {
            let domain = Domain::new(n, n, 20);
            let (dense, wide) = (bytes_for(&signature(), domain), bytes_with(&signature(), domain, rows));
            assert!((dense..=dense + dense / 10).contains(&wide), "{n}: {dense} {wide}");
        }
    }

    #[test]
    fn each_element_of_data_dimensions_has_random_numbers_of_its_own() {
        let generator = crate::inputs::parse::generator("random(low=0, high=1, seed=1)").unwrap();
        let domain = Domain::new(2, 2, 2);
        let plain = fill(&generator, DType::Float64, AxisSet::IJ, &[2, 2], [0; 3], domain);
        let array = fill(&generator, DType::Float64, AxisSet::IJ, &[2, 2, 3, 2], [0; 3], domain);
        assert_eq!(array.get(&[1, 0, 0, 0]), plain.get(&[1, 0]));
        let numbers: std::collections::BTreeSet<u64> =
            array.indices().map(|it| array.get(&it).as_f64().to_bits()).collect();
        assert_eq!(numbers.len(), 24);
    }

    #[test]
    fn data_dimensions_stand_behind_the_axes() {
        let mut signature = signature();
        if let ParamKind::Field { data_dims, .. } = &mut signature.params[2].kind {
            *data_dims = vec![3, 2];
        }
        let given =
            |text: &str| call_for(&signature, &directive::read(text, FileId(0)).0, Domain::new(4, 3, 2));
        let call = given("# @input q constant(1)\n# @input p constant(1)\n# @scalar alpha = 2\n");
        assert_eq!(call.fields["out"].shape, [4, 3, 2, 3, 2]);
        let is_bound = |origin: &[i64]| {
            let mut call = call.clone();
            call.origin.insert("out".to_owned(), origin.to_vec());
            bind(&signature, call).map(|_| ()).map_err(|it| it[0].code.to_string())
        };
        assert_eq!(is_bound(&[0, 0, 0]), Ok(()));
        assert_eq!(is_bound(&[0, 0, 0, 0, 0]), Ok(()));
        assert_eq!(is_bound(&[0, 0, 0, 1, 0]), Err("C02".to_owned()));
        assert_eq!(is_bound(&[0, 0, 0, 0]), Err("C02".to_owned()));
        for shape in [&[4, 3, 2][..], &[4, 3, 2, 2, 3]] {
            let mut call = call.clone();
            call.fields.insert("out".to_owned(), Array::zeros(DType::Float64, shape));
            let found = bind(&signature, call).unwrap_err();
            assert_eq!(found[0].code.to_string(), "C02", "{shape:?}");
        }
    }

    #[test]
    fn what_no_directive_gives_is_reported_as_missing() {
        let codes: Vec<_> =
            bind(&signature(), call("")).unwrap_err().iter().map(|it| it.code.to_string()).collect();
        assert_eq!(codes, ["C06", "C06", "C06"]);
    }

    #[test]
    fn bytes_count_the_halo_and_do_not_overflow() {
        assert_eq!(bytes_for(&signature(), Domain::new(4, 3, 2)), 9 * 4 * 2 * 4 + 3 * 4 + 4 * 3 * 2 * 8);
        let huge = Domain::new(1 << 20, 1 << 20, 1 << 20);
        assert!(bytes_for(&signature(), huge) > 1 << 60);
    }
}
