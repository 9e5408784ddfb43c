//! Arrays and scalars for a call, made from directives.

use super::generate::Sampled;
use super::{Directives, Generator};
use crate::backend::array::Array;
use crate::backend::launch::Call;
use crate::backend::signature::{AccessKind, Param, ParamKind, Signature};
use crate::space::{Axis, AxisSet, Domain};
use crate::types::{DType, Value};

/// A call of `signature` with what the directives say: fields just large enough
/// for the domain and the halo that the stencil touches, each with its own origin.
///
/// A field that is written and has no generator starts with zeros. A field that
/// is read and has none is left out, and so is a scalar without a value, for
/// [`bind`](crate::backend::launch::bind) to report. Ask [`bytes_for`] first.
#[must_use]
pub fn call_for(signature: &Signature, directives: &Directives, domain: Domain) -> Call {
    let mut call = Call { domain: Some([domain.i, domain.j, domain.k]), ..Call::default() };
    for param in signature.params.iter().filter(|it| it.access != AccessKind::None) {
        match param.kind {
            ParamKind::Scalar { .. } => {
                if let Some(given) = directives.scalars.iter().find(|it| it.name == param.name) {
                    call.scalars.insert(param.name.clone(), given.value);
                }
            }
            ParamKind::Field { axes, ref data_dims, dtype, .. } => {
                let origin = Axis::ALL.map(|axis| param.kind.halo(axis).0);
                let shape = shape_for(param, axes, data_dims, domain);
                let array = match directives.input(&param.name) {
                    Some(generator) => fill(generator, dtype, axes, &shape, origin, domain),
                    None if param.access == AccessKind::Write => Array::zeros(dtype, &shape),
                    None => continue,
                };
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
    let bytes = |param: &Param| match param.kind {
        ParamKind::Field { axes, ref data_dims, dtype, .. } if param.access != AccessKind::None => {
            let points = shape_for(param, axes, data_dims, domain)
                .into_iter()
                .fold(1_u64, |n, size| n.saturating_mul(u64::try_from(size).unwrap_or(u64::MAX)));
            points.saturating_mul(dtype.size_bytes() as u64)
        }
        ParamKind::Field { .. } | ParamKind::Scalar { .. } => 0,
    };
    signature.params.iter().map(bytes).fold(0, u64::saturating_add)
}

/// An array with the values of a generator at every point, halo included;
/// `origin` is the index of the first point of the compute domain along I, J, K.
/// What `shape` has behind the axes are data dimensions; each of their elements has random numbers of its own.
#[must_use]
pub fn fill(
    generator: &Generator,
    dtype: DType,
    axes: AxisSet,
    shape: &[usize],
    origin: [i64; 3],
    domain: Domain,
) -> Array {
    let mut array = Array::zeros(dtype, shape);
    let (mut points, mut strides) = (Axis::ALL.map(|_| 0..1), [0; 3]);
    for ((axis, &size), &stride) in axes.iter().zip(shape).zip(&array.strides) {
        let start = -origin[axis.index()];
        points[axis.index()] = start..start.saturating_add(i64::try_from(size).unwrap_or(i64::MAX));
        strides[axis.index()] = stride;
    }
    let n_points: usize = shape[..axes.len()].iter().product();
    let n_elements: usize = shape[axes.len()..].iter().product();
    for (number, start) in (0_u64..).zip((0..).step_by(n_points.max(1))).take(n_elements) {
        let generator = generator.of_element(number);
        // What is kept beside the array is no larger than it.
        let mut room = n_points * dtype.size_bytes() / size_of::<f64>();
        let sampled = Sampled::new(&generator, &points, domain, &mut room);
        let [i, j, k] = &points;
        for (k, from_k) in k.clone().zip((start..).step_by(strides[2].max(1))) {
            for (j, from_j) in j.clone().zip((from_k..).step_by(strides[1].max(1))) {
                for (i, position) in i.clone().zip((from_j..).step_by(strides[0].max(1))) {
                    array.elements.set(position, Value::Float64(sampled.at([i, j, k])).cast(dtype));
                }
            }
        }
    }
    array
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
    use crate::backend::launch::{ScalarInput, bind};
    use crate::diag::{FileId, Span};
    use crate::inputs::{directive, value_at};
    use crate::space::Reach;

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
