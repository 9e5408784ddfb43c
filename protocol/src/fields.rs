//! Fields with their values, where they are looked at: planes of them, their statistics, and how two of them differ.

mod looked;

use std::ops::Range;

use isobar_ground::call::array::{Array, Elements};
use isobar_ground::call::launch::{Argument, Launch};
use isobar_ground::call::signature::{ParamKind, Signature};
use isobar_ground::space::Axis;
use isobar_ground::types::{DType, Value};

use crate::field::{Difference, FieldInfo, Statistics};
use crate::worker::{Plane, Which};

pub use looked::{ResultView, Sheet, readings};

/// A field of a result: the whole array, halo included, with its description.
#[derive(Clone, Debug)]
pub struct ResultField {
    pub info: FieldInfo,
    array: Array,
}

/// Why a field or a plane cannot be had.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotThere(pub String);

impl ResultField {
    /// Keeps `array`, whose compute domain of `domain` points starts at `origin`, both per axis of the field.
    #[must_use]
    pub fn new(name: &str, axes: &str, array: Array, origin: Vec<i64>, domain: Vec<u64>) -> Self {
        let shape = array.shape.iter().map(|&n| n as u64).collect();
        let dtype = array.dtype().to_string();
        let mut kept = Self {
            info: FieldInfo {
                name: name.to_owned(),
                dtype,
                axes: axes.to_owned(),
                shape,
                origin,
                domain,
                statistics: Statistics::default(),
            },
            array,
        };
        kept.info.statistics = statistics(kept.compute_values());
        kept
    }

    /// A field as a runner sends it: its description, and its elements in C order, little-endian.
    ///
    /// # Errors
    ///
    /// When bytes and description do not belong together.
    pub fn from_bytes(info: FieldInfo, bytes: &[u8]) -> Result<Self, NotThere> {
        let broken = || NotThere(format!("the data of `{}` do not fit their description", info.name));
        let dtype = DType::ALL.into_iter().find(|it| it.to_string() == info.dtype).ok_or_else(broken)?;
        let shape: Option<Vec<usize>> = info.shape.iter().map(|&n| usize::try_from(n).ok()).collect();
        let shape = shape.ok_or_else(broken)?;
        let n = shape.len();
        let fits = info.origin.len() == n && info.domain.len() == n && info.axes.len() <= n;
        if !fits || !bytes.len().is_multiple_of(dtype.size_bytes()) {
            return Err(broken());
        }
        let array = Array::from_c_order(Elements::from_le_bytes(dtype, bytes), &shape).ok_or_else(broken)?;
        Ok(Self { info, array })
    }

    /// The elements as [`from_bytes`](Self::from_bytes) takes them.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        self.array.to_c_order_le_bytes()
    }

    /// A plane of the field, as f64. A field without the axis across is the same at every position.
    ///
    /// # Errors
    ///
    /// When the position is outside of the domain, or there is no such element.
    pub fn plane(&self, plane: Plane) -> Result<Sheet, NotThere> {
        ResultView::new(Which::A, Some(self), None, plane.element)?.sheet(plane)
    }

    fn axis(&self, letter: char) -> Option<usize> {
        self.info.axes.chars().position(|it| it == letter)
    }

    /// The points of the domain along an axis; one point where there is no such axis.
    fn held(&self, letter: char) -> AxisRange {
        match self.axis(letter) {
            None => AxisRange { points: 0..1, origin: 0, stride: 0 },
            Some(axis) => AxisRange {
                points: self.info.held()[axis].clone(),
                origin: self.info.origin[axis],
                stride: self.array.own_strides()[axis],
            },
        }
    }

    /// Where the elements of the data dimensions lie from the first one, the last index fastest.
    fn elements(&self) -> Vec<usize> {
        let axes = self.info.axes.len();
        let strides = self.array.own_strides();
        let dimensions = self.array.shape.iter().zip(strides).skip(axes);
        dimensions.fold(vec![0], |all, (&size, stride)| {
            all.into_iter().flat_map(|it| (0..size).map(move |at| it + at * stride)).collect()
        })
    }

    /// The elements of the compute domain that the array holds, i slowest, k and data fastest, each with its position
    /// (i, j, k).
    fn compute_cells(&self) -> impl Iterator<Item = ([u64; 3], Value)> + '_ {
        let elements = std::sync::Arc::new(self.elements());
        let held = std::sync::Arc::new(['I', 'J', 'K'].map(|it| self.held(it)));
        let [in_i, in_j, in_k] = [0, 1, 2].map(|axis: usize| held[axis].points.clone());
        let cells = in_i.flat_map(move |i| {
            let in_k = in_k.clone();
            in_j.clone().flat_map(move |j| in_k.clone().map(move |k| [i, j, k]))
        });
        cells.flat_map(move |cell| {
            let elements = std::sync::Arc::clone(&elements);
            let first: usize = held.iter().zip(cell).map(|(held, at)| held.position(at)).sum();
            (0..elements.len()).map(move |it| (cell, self.array.elements.get(first + elements[it])))
        })
    }

    fn compute_values(&self) -> impl Iterator<Item = f64> + '_ {
        self.compute_cells().map(|(_, value)| value.as_f64())
    }
}

/// Where those points of the compute domain lie along one axis that the array holds.
struct AxisRange {
    points: Range<u64>,
    origin: i64,
    stride: usize,
}

impl AxisRange {
    /// Where a held point lies, counted from the array's first element along the axis.
    fn position(&self, at: u64) -> usize {
        size(at.saturating_add_signed(self.origin)) * self.stride
    }
}

fn size(it: u64) -> usize {
    usize::try_from(it).unwrap_or(0)
}

/// The fields that a run wrote, in the order of the signature.
#[must_use]
pub fn written(signature: &Signature, launch: Launch) -> Vec<ResultField> {
    let domain = launch.domain;
    let params = signature.params.iter().zip(launch.arguments);
    let written = params.filter(|(param, _)| param.access.is_written());
    written
        .filter_map(|(param, argument)| match (&param.kind, argument) {
            (ParamKind::Field { axes, .. }, Argument::Field(field)) => {
                let mut origin: Vec<i64> = axes.iter().map(|axis| field.origin[axis.index()]).collect();
                let points = axes.iter().map(|axis| u64::try_from(domain.along(axis)).unwrap_or(0));
                let mut points: Vec<u64> = points.collect();
                for &size in field.array.shape.iter().skip(axes.len()) {
                    origin.push(0);
                    points.push(size as u64);
                }
                let names: String = axes.iter().map(Axis::name).collect();
                Some(ResultField::new(&param.name, &names, field.array, origin, points))
            }
            _ => None,
        })
        .collect()
}

/// Least, greatest and mean of the finite values, and how many are not finite.
#[must_use]
pub fn statistics(values: impl IntoIterator<Item = f64>) -> Statistics {
    let mut counted = Counted::default();
    values.into_iter().for_each(|it| counted.add(it));
    counted.ended()
}

/// The same of values that come one by one. The mean depends on their order.
#[derive(Clone, Copy, Debug)]
pub struct Counted {
    min: f64,
    max: f64,
    sum: f64,
    n: u64,
    nan: u64,
    inf: u64,
}

impl Default for Counted {
    fn default() -> Self {
        Self { min: f64::INFINITY, max: f64::NEG_INFINITY, sum: 0.0, n: 0, nan: 0, inf: 0 }
    }
}

impl Counted {
    #[inline]
    pub fn add(&mut self, value: f64) {
        if value.is_finite() {
            // Of two that are equal the first counts, whatever the machine makes of zeros with a sign.
            self.min = if value < self.min { value } else { self.min };
            self.max = if value > self.max { value } else { self.max };
            self.sum += value;
            self.n += 1;
        } else if value.is_nan() {
            self.nan += 1;
        } else {
            self.inf += 1;
        }
    }

    /// The statistics of all values so far.
    #[must_use]
    pub fn ended(self) -> Statistics {
        let Self { min, max, sum, n, nan, inf } = self;
        let of_some = |it: f64| (n > 0).then_some(it);
        #[expect(clippy::cast_precision_loss, reason = "a mean over fewer points than 2^53")]
        let mean = of_some(sum / n as f64);
        Statistics { min: of_some(min), max: of_some(max), mean, nan, inf }
    }
}

/// How `a` and `b` differ over their compute domains.
///
/// # Errors
///
/// When they are fields of different shapes or types.
pub fn difference(a: &ResultField, b: &ResultField) -> Result<Difference, NotThere> {
    let is_alike =
        a.info.axes == b.info.axes && a.info.domain == b.info.domain && a.info.dtype == b.info.dtype;
    if !is_alike || a.info.held() != b.info.held() {
        return Err(NotThere(format!(
            "`{}` is {} of {:?} in one result and {} of {:?} in the other; run both again",
            a.info.name, a.info.dtype, a.info.domain, b.info.dtype, b.info.domain
        )));
    }
    let mut found = Difference { name: a.info.name.clone(), max_ulp: Some(0), ..Difference::default() };
    let mut largest = Distance::Ulp(0);
    for ((cell, one), (_, other)) in a.compute_cells().zip(b.compute_cells()) {
        found.cells += 1;
        let distance = distance(one, other);
        if distance == Distance::Ulp(0) {
            continue;
        }
        found.differing += 1;
        let apart = (one.as_f64() - other.as_f64()).abs();
        if apart.is_finite() {
            found.max_abs = found.max_abs.max(apart);
        }
        if distance > largest {
            largest = distance;
            found.worst = Some(cell);
            found.worst_values = Some([exact(one), exact(other)]);
        }
    }
    found.max_ulp = match largest {
        Distance::Ulp(n) => Some(n),
        Distance::OneIsNan => None,
    };
    Ok(found)
}

/// How far two values are from each other; a NaN is farthest from all that is no NaN.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Distance {
    Ulp(u64),
    OneIsNan,
}

fn distance(one: Value, other: Value) -> Distance {
    let (is_nan, is_nan_too) = (one.as_f64().is_nan(), other.as_f64().is_nan());
    if is_nan || is_nan_too {
        return if is_nan && is_nan_too { Distance::Ulp(0) } else { Distance::OneIsNan };
    }
    Distance::Ulp(rank(one).abs_diff(rank(other)))
}

/// The position of a value among all values of its type; the two zeros are one apart, since their bits differ.
fn rank(value: Value) -> i64 {
    // Negative floats have their order reversed in their bits.
    match value {
        Value::Float64(it) => {
            let bits = it.to_bits().cast_signed();
            if bits < 0 { i64::MIN.wrapping_sub(bits).wrapping_sub(1) } else { bits }
        }
        Value::Float32(it) => {
            let bits = i64::from(it.to_bits().cast_signed());
            if bits < 0 { i64::from(i32::MIN) - bits - 1 } else { bits }
        }
        other => other.as_i64(),
    }
}

/// As text that reads back to the same bits.
#[must_use]
pub fn exact(value: Value) -> String {
    match value {
        Value::Float64(it) => format!("{it:?}"),
        Value::Float32(it) => format!("{it:?}"),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::worker::Across;

    fn field(shape: &[usize], origin: Vec<i64>, domain: Vec<u64>, values: Vec<f64>) -> ResultField {
        let axes = &"IJK"[..shape.len()];
        let array = Array::from_c_order(Elements::Float64(values.into()), shape).unwrap();
        ResultField::new("q", axes, array, origin, domain)
    }

    #[track_caller]
    fn assert_values(found: Vec<f64>, expected: &[f64]) {
        assert_eq!(found, expected);
    }

    fn plane(across: Across, at: u64) -> Plane {
        Plane { across, at, element: 0, has_halo: false }
    }

    fn ramp(n: usize) -> Vec<f64> {
        (0..n).map(|it| it as f64).collect()
    }

    #[test]
    fn a_plan_view_has_i_along_its_rows_and_leaves_the_halo_out() {
        let q = field(&[4, 3, 2], vec![1, 0, 0], vec![2, 3, 2], ramp(24));
        let plan = q.plane(plane(Across::K, 1)).unwrap();
        assert_eq!((plan.width, plan.height), (2, 3));
        assert_values(plan.values, &[7.0, 13.0, 9.0, 15.0, 11.0, 17.0]);
    }

    #[test]
    fn sections_have_k_upward_in_their_rows() {
        let q = field(&[4, 3, 2], vec![0, 0, 0], vec![4, 3, 2], ramp(24));
        let section = q.plane(plane(Across::I, 2)).unwrap();
        assert_eq!((section.width, section.height), (3, 2));
        assert_values(section.values, &[12.0, 14.0, 16.0, 13.0, 15.0, 17.0]);
    }

    #[test]
    fn a_plane_is_of_one_element_of_the_data_dimensions() {
        let array = Array::from_c_order(Elements::Float64(ramp(24).into()), &[2, 2, 3, 2]).unwrap();
        let v = ResultField::new("v", "IJ", array, vec![0; 4], vec![2, 2, 3, 2]);
        let of = |element| v.plane(Plane { element, ..plane(Across::K, 0) }).map(|it| it.values);
        assert_values(of(0).unwrap(), &[0.0, 12.0, 6.0, 18.0]);
        assert_eq!(v.info.data_index(5), [2, 1]);
        assert_values(of(5).unwrap(), &[5.0, 17.0, 11.0, 23.0]);
        assert!(of(6).is_err());
        assert_eq!((v.info.statistics.max, v.info.statistics.mean), (Some(23.0), Some(11.5)));
    }

    #[test]
    fn a_plane_outside_of_the_domain_is_refused() {
        let q = field(&[2, 2, 2], vec![0, 0, 0], vec![2, 2, 2], ramp(8));
        assert!(q.plane(plane(Across::K, 2)).is_err());
    }

    #[test]
    fn a_field_without_k_is_the_same_at_every_level() {
        let q = field(&[2, 2], vec![0, 0], vec![2, 2], ramp(4));
        assert_values(q.plane(plane(Across::K, 7)).unwrap().values, &[0.0, 2.0, 1.0, 3.0]);
    }

    #[test]
    fn what_the_array_leaves_out_of_the_domain_has_no_value() {
        let q = field(&[2, 1, 3], vec![0, -1, 1], vec![2, 2, 3], ramp(6));
        let section = q.plane(plane(Across::J, 1)).unwrap();
        assert_eq!((section.width, section.height), (2, 3));
        assert_values(section.values[..4].to_vec(), &[1.0, 4.0, 2.0, 5.0]);
        assert!(section.values[4..].iter().all(|it| it.is_nan()));
        assert!(q.plane(plane(Across::J, 0)).unwrap().values.iter().all(|it| it.is_nan()));
        assert_eq!(
            (q.info.statistics.min, q.info.statistics.max, q.info.statistics.nan),
            (Some(1.0), Some(5.0), 0)
        );
        let (other, same) = (field(&[2, 1, 3], vec![0, 0, 1], vec![2, 2, 3], ramp(6)), q.clone());
        assert!(difference(&q, &other).is_err());
        assert_eq!(difference(&q, &same).unwrap().cells, 4);
    }

    #[test]
    fn statistics_are_of_the_finite_values() {
        let found = statistics([1.0, f64::NAN, 3.0, f64::INFINITY]);
        assert_eq!((found.min, found.max, found.mean), (Some(1.0), Some(3.0), Some(2.0)));
        assert_eq!((found.nan, found.inf), (1, 1));
        assert_eq!(statistics([]), Statistics::default());
    }

    #[test]
    fn equal_bits_do_not_differ_and_neighbours_are_one_ulp_apart() {
        let a = field(&[2], vec![0], vec![2], vec![1.0, f64::NAN]);
        let same = difference(&a, &a).unwrap();
        assert_eq!((same.differing, same.max_ulp, same.cells), (0, Some(0), 2));
        let b = field(&[2], vec![0], vec![2], vec![1.0_f64.next_up(), f64::NAN]);
        let found = difference(&a, &b).unwrap();
        assert_eq!((found.differing, found.max_ulp, found.worst), (1, Some(1), Some([0, 0, 0])));
        assert_eq!(found.worst_values, Some(["1.0".to_owned(), "1.0000000000000002".to_owned()]));
    }

    #[test]
    fn the_zeros_differ_and_values_around_them_are_counted_through() {
        let a = field(&[2], vec![0], vec![2], vec![0.0, 0.0_f64.next_down()]);
        let b = field(&[2], vec![0], vec![2], vec![-0.0, 0.0_f64.next_up()]);
        let found = difference(&a, &b).unwrap();
        assert_eq!((found.differing, found.max_ulp, found.worst), (2, Some(3), Some([1, 0, 0])));
    }

    #[test]
    fn a_nan_is_farther_than_any_number() {
        let a = field(&[2], vec![0], vec![2], vec![0.0, 1.0]);
        let b = field(&[2], vec![0], vec![2], vec![f64::MAX, f64::NAN]);
        let found = difference(&a, &b).unwrap();
        assert_eq!((found.max_ulp, found.worst), (None, Some([1, 0, 0])));
    }

    #[test]
    fn data_that_do_not_fit_their_description_are_refused() {
        let q = field(&[2], vec![0], vec![2], vec![0.0, 1.0]);
        let bytes = q.to_bytes();
        let back = ResultField::from_bytes(q.info.clone(), &bytes).unwrap();
        assert_eq!(difference(&q, &back).unwrap().differing, 0);
        assert!(ResultField::from_bytes(q.info.clone(), &bytes[1..]).is_err());
        let short = FieldInfo { origin: Vec::new(), ..q.info.clone() };
        assert!(ResultField::from_bytes(short, &bytes).is_err());
        let unknown = FieldInfo { dtype: "float128".to_owned(), ..q.info };
        assert!(ResultField::from_bytes(unknown, &bytes).is_err());
    }
}
