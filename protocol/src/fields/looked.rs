//! Views of two results: the values of one, or their difference, cell by cell.

use std::ops::Range;

use isobar_ground::call::array::Elements;
use isobar_ground::types::Value;

use super::{Distance, NotThere, ResultField, distance, exact, size};
use crate::field::FieldInfo;
use crate::picture::{Extreme, Histogram, Reading, Summary};
use crate::worker::{Across, Plane, Which};

/// Bins of a histogram at most.
const BINS: usize = 48;
/// Fields of whole numbers have a bin for each, up to so many.
const WHOLE_BINS: f64 = 64.0;

/// A field of one result, or of two and how they differ.
#[derive(Debug)]
pub struct ResultView<'a> {
    one: Access<'a>,
    other: Option<Access<'a>>,
    of: Which,
    info: &'a FieldInfo,
}

/// Values of a plane, rows from the low end of the second axis on.
#[derive(Clone, Debug, PartialEq)]
pub struct Sheet {
    pub width: usize,
    pub height: usize,
    /// The positions of the first column and of the first row; negative in a halo.
    pub first: [i64; 2],
    pub values: Vec<f64>,
    pub summary: Summary,
}

impl<'a> ResultView<'a> {
    /// The field of the results that is looked at.
    ///
    /// # Errors
    ///
    /// When a result is missing, has no such element, or is another field in A than in B.
    pub fn new(
        of: Which,
        a: Option<&'a ResultField>,
        b: Option<&'a ResultField>,
        element: u64,
    ) -> Result<Self, NotThere> {
        let missing = || NotThere("there is no such result yet".to_owned());
        let (one, other) = match of {
            Which::A => (a, None),
            Which::B => (b, None),
            Which::Difference | Which::Relative | Which::Ulp => (a, Some(b.ok_or_else(missing)?)),
        };
        let one = one.ok_or_else(missing)?;
        if let Some(other) = other {
            let is_alike = one.info.axes == other.info.axes
                && one.info.domain == other.info.domain
                && one.info.dtype == other.info.dtype;
            if !is_alike {
                return Err(NotThere(format!(
                    "the two results for `{}` have different domains or types; run both again",
                    one.info.name
                )));
            }
        }
        let other = other.map(|it| Access::new(it, element)).transpose()?;
        Ok(Self { one: Access::new(one, element)?, other, of, info: &one.info })
    }

    /// A plane of the domain, or of all that the array has where the plane asks for the halo.
    ///
    /// # Errors
    ///
    /// When the position is outside of the domain.
    pub fn sheet(&self, plane: Plane) -> Result<Sheet, NotThere> {
        let [first, second, across] = axes_of(plane.across);
        let at = i64::try_from(plane.at).unwrap_or(i64::MAX);
        if self.one.has(across) && at >= self.one.points(across) {
            return Err(NotThere(format!("`{}` has no {} = {at}", self.info.name, ["i", "j", "k"][across])));
        }
        let (columns, rows) = (self.range(first, plane.has_halo), self.range(second, plane.has_halo));
        let mut values = Vec::with_capacity(length(&columns) * length(&rows));
        let mut found = Counting::default();
        let mut cell = [0; 3];
        cell[across] = if self.one.has(across) { at } else { 0 };
        for row in rows.clone() {
            cell[second] = row;
            for column in columns.clone() {
                cell[first] = column;
                let seen = self.at(cell);
                values.push(seen.value);
                // The summary beside the picture covers the domain only, without the halo.
                if self.one.is_in_domain(cell) {
                    found.add(cell, &seen);
                }
            }
        }
        Ok(Sheet {
            width: length(&columns),
            height: length(&rows),
            first: [columns.start, rows.start],
            values,
            summary: found.ended(self.other.is_some()),
        })
    }

    /// The summary of the plane, or of the whole domain, and how often its values are how large.
    ///
    /// # Errors
    ///
    /// When the position of the plane is outside of the domain.
    pub fn survey(&self, plane: Option<Plane>) -> Result<(Summary, Histogram), NotThere> {
        let (summary, values) = match plane {
            Some(plane) => {
                let sheet = self.sheet(Plane { has_halo: false, ..plane })?;
                (sheet.summary, sheet.values)
            }
            None => self.whole(),
        };
        let histogram = histogram(&summary, &values);
        Ok((summary, histogram))
    }

    /// All cells of the domain.
    fn whole(&self) -> (Summary, Vec<f64>) {
        let mut found = Counting::default();
        let mut values = Vec::new();
        for k in 0..self.one.points(2) {
            for j in 0..self.one.points(1) {
                for i in 0..self.one.points(0) {
                    let seen = self.at([i, j, k]);
                    found.add([i, j, k], &seen);
                    values.push(seen.value);
                }
            }
        }
        (found.ended(self.other.is_some()), values)
    }

    /// Values along an axis through a cell, and mean, least and greatest beside it: four rows of as many points.
    #[must_use]
    pub fn line(&self, along: Across, at: [i64; 3]) -> [Vec<f64>; 4] {
        let axis = number(along);
        let beside = |axis: usize| if self.one.has(axis) { 0..self.one.points(axis) } else { 0..1 };
        let mut rows: [Vec<f64>; 4] = Default::default();
        for position in 0..self.one.points(axis) {
            let mut cell = at;
            cell[axis] = position;
            rows[0].push(self.at(cell).value);
            let mut found = Counting::default();
            let (second, third) = match along {
                Across::K => (beside(0), beside(1)),
                Across::I => (beside(1), at[2]..at[2].saturating_add(1)),
                Across::J => (beside(0), at[2]..at[2].saturating_add(1)),
            };
            for one in second {
                for other in third.clone() {
                    let cell = match along {
                        Across::K => [one, other, position],
                        Across::I => [position, one, other],
                        Across::J => [one, position, other],
                    };
                    found.add(cell, &self.at(cell));
                }
            }
            let found = found.ended(false);
            let or_nan = |it: Option<f64>| it.unwrap_or(f64::NAN);
            rows[1].push(or_nan(found.mean));
            rows[2].push(or_nan(found.min.map(|it| it.value)));
            rows[3].push(or_nan(found.max.map(|it| it.value)));
        }
        rows
    }

    /// The 27 cells around a cell, along k, then j, then i: what each has, and whether the array has it. Along an axis
    /// that the field has not there is nothing beside the cell.
    #[must_use]
    pub fn around(&self, at: [i64; 3]) -> Vec<(f64, bool)> {
        let beside = [-1_i64, 0, 1];
        let mut found = Vec::with_capacity(27);
        for k in beside {
            for j in beside {
                for i in beside {
                    let steps = [i, j, k];
                    let is_along = (0..3).all(|axis| steps[axis] == 0 || self.one.has(axis));
                    let cell = [0, 1, 2].map(|axis| at[axis].saturating_add(steps[axis]));
                    let seen = self.at(cell);
                    found.push((seen.value, seen.is_there && is_along));
                }
            }
        }
        found
    }

    fn range(&self, axis: usize, has_halo: bool) -> Range<i64> {
        let points = self.one.points(axis);
        if has_halo && self.one.has(axis) {
            let all = &self.one.all[axis];
            all.start.min(0)..all.end.max(points)
        } else {
            0..points
        }
    }

    /// The value in a cell; NaN where no array has it.
    fn at(&self, cell: [i64; 3]) -> CellValue {
        let one = self.one.get(cell);
        let Some(other) = &self.other else {
            return CellValue {
                value: one.map_or(f64::NAN, Value::as_f64),
                is_there: one.is_some(),
                differs: false,
            };
        };
        let (Some(one), Some(other)) = (one, other.get(cell)) else {
            return CellValue { value: f64::NAN, is_there: false, differs: false };
        };
        let apart = distance(one, other);
        let is_same = apart == Distance::Ulp(0);
        CellValue {
            value: if is_same { 0.0 } else { self.between(one, other, apart) },
            is_there: true,
            differs: !is_same,
        }
    }

    /// How two values differ that have not the same bits.
    fn between(&self, one: Value, other: Value, apart: Distance) -> f64 {
        let (a, b) = (one.as_f64(), other.as_f64());
        match self.of {
            Which::Relative => {
                let larger = a.abs().max(b.abs());
                // Zeros of two signs differ in no value.
                if larger == 0.0 { 0.0 } else { (a - b) / larger }
            }
            #[expect(clippy::cast_precision_loss, reason = "a colour; the inspector has all digits")]
            Which::Ulp => match apart {
                Distance::Ulp(ulp) => ulp as f64,
                Distance::OneIsNan => f64::NAN,
            },
            Which::A | Which::B | Which::Difference => a - b,
        }
    }
}

/// The values of one cell, for each field of either result.
#[must_use]
pub fn readings(a: &[ResultField], b: &[ResultField], at: [i64; 3], element: u64) -> Vec<Reading> {
    let more = b.iter().filter(|it| a.iter().all(|other| other.info.name != it.info.name));
    let infos = a.iter().chain(more).map(|it| &it.info);
    let read = |all: &[ResultField], name: &str| {
        let kept = all.iter().find(|it| it.info.name == name)?;
        let access = Access::new(kept, element.min(kept.info.n_elements().saturating_sub(1))).ok()?;
        access.get(at)
    };
    let one = |info: &FieldInfo| {
        let (a, b) = (read(a, &info.name), read(b, &info.name));
        let both = a.zip(b).filter(|(a, b)| a.dtype() == b.dtype());
        let ulp = both.and_then(|(a, b)| match distance(a, b) {
            Distance::Ulp(ulp) => Some(ulp),
            Distance::OneIsNan => None,
        });
        let difference = both.map(|(a, b)| {
            // Equal infinities differ by nothing.
            let apart = if ulp == Some(0) { 0.0 } else { a.as_f64() - b.as_f64() };
            exact(Value::Float64(apart))
        });
        Reading {
            field: info.name.clone(),
            dtype: info.dtype.clone(),
            a: a.map(exact),
            b: b.map(exact),
            difference,
            ulp,
            value: a.or(b).map(Value::as_f64).filter(|it| it.is_finite()),
        }
    };
    infos.map(one).collect()
}

/// The value in a cell.
struct CellValue {
    value: f64,
    is_there: bool,
    /// Whether the two results have other bits.
    differs: bool,
}

/// Where the elements of a field lie, by their position relative to the compute domain.
#[derive(Debug)]
struct Access<'a> {
    elements: &'a Elements,
    /// Of the element of the data dimensions.
    start: usize,
    /// Points of the domain; 1 along an axis that the field has not.
    points: [i64; 3],
    /// The positions that the array holds; none along an axis that the field has not, where every position is the same.
    all: [Range<i64>; 3],
    has: [bool; 3],
    strides: [usize; 3],
}

impl<'a> Access<'a> {
    fn new(kept: &'a ResultField, element: u64) -> Result<Self, NotThere> {
        let info = &kept.info;
        let start = usize::try_from(element).ok().and_then(|it| kept.elements().get(it).copied());
        let start =
            start.ok_or_else(|| NotThere(format!("`{}` has no element {element} at a point", info.name)))?;
        let mut access = Self {
            elements: &kept.array.elements,
            start,
            points: [1; 3],
            all: [0..0, 0..0, 0..0],
            has: [false; 3],
            strides: [0; 3],
        };
        let strides = kept.array.own_strides();
        for (at, letter) in ['I', 'J', 'K'].into_iter().enumerate() {
            let Some(axis) = kept.axis(letter) else { continue };
            let signed = |it: u64| i64::try_from(it).unwrap_or(i64::MAX);
            let origin = info.origin[axis];
            access.has[at] = true;
            access.points[at] = signed(info.domain[axis]);
            access.all[at] = origin.saturating_neg()..signed(info.shape[axis]).saturating_sub(origin);
            access.strides[at] = strides[axis];
        }
        Ok(access)
    }

    fn has(&self, axis: usize) -> bool {
        self.has[axis]
    }

    fn points(&self, axis: usize) -> i64 {
        self.points[axis]
    }

    fn is_in_domain(&self, cell: [i64; 3]) -> bool {
        (0..3).all(|axis| !self.has[axis] || (0..self.points[axis]).contains(&cell[axis]))
    }

    fn get(&self, cell: [i64; 3]) -> Option<Value> {
        let mut position = self.start;
        for (axis, at) in cell.into_iter().enumerate().filter(|(axis, _)| self.has[*axis]) {
            let all = &self.all[axis];
            if !all.contains(&at) {
                return None;
            }
            position += size(at.abs_diff(all.start)) * self.strides[axis];
        }
        Some(self.elements.get(position))
    }
}

/// A summary that is being made.
#[derive(Debug, Default)]
struct Counting {
    found: Summary,
    n: u64,
    mean: f64,
    /// The sum of squared distances from the mean so far (B. P. Welford, 1962).
    squares: f64,
    differing: u64,
    has_parts: bool,
}

impl Counting {
    fn add(&mut self, cell: [i64; 3], seen: &CellValue) {
        if !seen.is_there {
            return;
        }
        let found = &mut self.found;
        found.cells += 1;
        self.differing += u64::from(seen.differs);
        let value = seen.value;
        if value.is_nan() {
            found.nan += 1;
            found.first_nan.get_or_insert(cell);
        } else if value.is_infinite() {
            found.inf += 1;
            found.first_inf.get_or_insert(cell);
        } else {
            if found.min.is_none_or(|it| value < it.value) {
                found.min = Some(Extreme { value, at: cell });
            }
            if found.max.is_none_or(|it| value > it.value) {
                found.max = Some(Extreme { value, at: cell });
            }
            self.n += 1;
            #[expect(clippy::cast_precision_loss, reason = "fewer points than 2^53")]
            let n = self.n as f64;
            let away = value - self.mean;
            self.mean += away / n;
            self.squares += away * (value - self.mean);
            self.has_parts |= value.fract() != 0.0;
        }
    }

    fn ended(self, is_of_both: bool) -> Summary {
        #[expect(clippy::cast_precision_loss, reason = "fewer points than 2^53")]
        let n = self.n as f64;
        let is_some = self.n > 0;
        let finite = |it: f64| Some(it).filter(|it| is_some && it.is_finite());
        Summary {
            mean: finite(self.mean),
            deviation: finite((self.squares / n).sqrt()),
            is_whole: is_some && !self.has_parts,
            differing: is_of_both.then_some(self.differing),
            ..self.found
        }
    }
}

/// How often the finite values lie in each bin between the extremes.
fn histogram(summary: &Summary, values: &[f64]) -> Histogram {
    let (Some(min), Some(max)) = (summary.min, summary.max) else { return Histogram::default() };
    let (min, max) = (min.value, max.value);
    let is_each = summary.is_whole && max - min < WHOLE_BINS;
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "below 64")]
    let (low, high, n) = if is_each {
        (min - 0.5, max + 0.5, (max - min) as usize + 1)
    } else if min < max {
        (min, max, BINS)
    } else {
        // One value has a bin around it.
        let around = if min == 0.0 { 0.5 } else { min.abs() / 2.0 };
        (min - around, max + around, 1)
    };
    let mut counts = vec![0; n];
    // Halves first: the width may be more than a double can hold.
    let width = high / 2.0 - low / 2.0;
    for value in values.iter().filter(|it| it.is_finite()) {
        #[expect(clippy::cast_precision_loss, reason = "below 64")]
        let part = (value / 2.0 - low / 2.0) / width * n as f64;
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "cut to the bins")]
        let bin = (part.max(0.0) as usize).min(n - 1);
        counts[bin] += 1;
    }
    Histogram { low, high, counts }
}

/// The axes along the columns, along the rows, and across a plane.
fn axes_of(across: Across) -> [usize; 3] {
    match across {
        Across::I => [1, 2, 0],
        Across::J => [0, 2, 1],
        Across::K => [0, 1, 2],
    }
}

fn number(axis: Across) -> usize {
    match axis {
        Across::I => 0,
        Across::J => 1,
        Across::K => 2,
    }
}

fn length(range: &Range<i64>) -> usize {
    usize::try_from(range.end.saturating_sub(range.start)).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use isobar_ground::call::array::Array;

    use super::*;

    fn kept(values: Vec<f64>, shape: &[usize], origin: Vec<i64>, domain: Vec<u64>) -> ResultField {
        let array = Array::from_c_order(Elements::Float64(values.into()), shape).unwrap();
        ResultField::new("q", &"IJK"[..shape.len()], array, origin, domain)
    }

    fn ramp(n: usize) -> Vec<f64> {
        (0..n).map(|it| it as f64).collect()
    }

    fn plan(at: u64) -> Plane {
        Plane { across: Across::K, at, element: 0, has_halo: false }
    }

    fn looked(kept: &ResultField) -> ResultView<'_> {
        ResultView::new(Which::A, Some(kept), None, 0).unwrap()
    }

    fn differences(of: Which, a: &[f64], b: &[f64]) -> Sheet {
        let n = a.len();
        let field = |values: &[f64]| kept(values.to_vec(), &[n, 1], vec![0; 2], vec![n as u64, 1]);
        let (a, b) = (field(a), field(b));
        ResultView::new(of, Some(&a), Some(&b), 0).unwrap().sheet(plan(0)).unwrap()
    }

    #[test]
    fn the_summary_of_a_plane_names_the_cells_of_its_extremes() {
        let q = kept(ramp(24), &[4, 3, 2], vec![1, 0, 0], vec![2, 3, 2]);
        let found = looked(&q).sheet(plan(1)).unwrap();
        assert_eq!(found.values, [7.0, 13.0, 9.0, 15.0, 11.0, 17.0]);
        let summary = found.summary;
        assert_eq!(summary.min, Some(Extreme { value: 7.0, at: [0, 0, 1] }));
        assert_eq!(summary.max, Some(Extreme { value: 17.0, at: [1, 2, 1] }));
        assert_eq!((summary.mean, summary.cells, summary.differing), (Some(12.0), 6, None));
        // Of 7, 9, 11, 13, 15, 17 as NumPy's `std`.
        assert!((summary.deviation.unwrap() - 3.415_650_255_319_866).abs() < 1e-14);
    }

    #[test]
    fn a_cell_has_neighbours_where_the_array_goes_on() {
        let q = kept(ramp(24), &[4, 3, 2], vec![1, 0, 0], vec![2, 3, 2]);
        let found = looked(&q).around([0, 0, 1]);
        let at = |i: usize, j: usize, k: usize| found[(k * 3 + j) * 3 + i];
        assert_eq!((found.len(), at(1, 1, 1)), (27, (7.0, true)));
        // To the west lies the halo, to the south and below nothing.
        assert_eq!(
            (at(0, 1, 1), at(2, 1, 1), at(1, 2, 1), at(1, 1, 0)),
            ((1.0, true), (13.0, true), (9.0, true), (6.0, true))
        );
        assert!(!at(1, 0, 1).1 && !at(1, 1, 2).1);
        // A field of the plane has one level.
        let plane = kept(ramp(9), &[3, 3], vec![0; 2], vec![3, 3]);
        let found = looked(&plane).around([1, 1, 5]);
        assert_eq!(found.iter().filter(|it| it.1).count(), 9);
        assert_eq!(found[13], (4.0, true));
    }

    #[test]
    fn the_halo_is_shown_where_it_is_asked_for_and_is_not_counted() {
        let q = kept(ramp(24), &[4, 3, 2], vec![1, 0, 0], vec![2, 3, 2]);
        let found = looked(&q).sheet(Plane { has_halo: true, ..plan(1) }).unwrap();
        assert_eq!((found.width, found.height, found.first), (4, 3, [-1, 0]));
        assert_eq!(found.values[..4], [1.0, 7.0, 13.0, 19.0]);
        assert_eq!(found.summary.cells, 6);
        assert_eq!(found.summary.min, Some(Extreme { value: 7.0, at: [0, 0, 1] }));
    }

    #[test]
    fn what_is_not_finite_is_counted_with_its_first_cell() {
        let q = kept(vec![1.0, f64::NAN, f64::INFINITY, f64::NAN], &[2, 2], vec![0; 2], vec![2, 2]);
        let (found, histogram) = looked(&q).survey(None).unwrap();
        assert_eq!((found.nan, found.inf, found.cells), (2, 1, 4));
        // k slowest, i fastest: (1, 0) comes before (0, 1).
        assert_eq!((found.first_nan, found.first_inf), (Some([0, 1, 0]), Some([1, 0, 0])));
        assert_eq!((found.mean, found.deviation), (Some(1.0), Some(0.0)));
        assert_eq!(histogram.counts.iter().sum::<u64>(), 1);
    }

    #[test]
    fn a_difference_has_statistics_of_its_own() {
        let found = differences(Which::Difference, &[1.0, 0.5, 3.0], &[1.0, 1.0, 1.0]);
        assert_eq!(found.values, [0.0, -0.5, 2.0]);
        assert_eq!(found.summary.min, Some(Extreme { value: -0.5, at: [1, 0, 0] }));
        assert_eq!(found.summary.max, Some(Extreme { value: 2.0, at: [2, 0, 0] }));
        assert_eq!(found.summary.differing, Some(2));
        assert!(!found.summary.is_identical());
    }

    #[test]
    fn results_with_the_same_bits_are_identical_and_zeros_of_two_signs_are_not() {
        let values = [1.0, f64::NAN, f64::INFINITY];
        let same = differences(Which::Difference, &values, &values);
        assert!(same.summary.is_identical());
        assert!(same.values.iter().all(|it| it.to_bits() == 0), "{:?}", same.values);
        let zeros = differences(Which::Difference, &[0.0, 1.0], &[-0.0, 1.0]);
        assert_eq!((zeros.summary.differing, zeros.summary.is_identical()), (Some(1), false));
    }

    #[test]
    fn relative_differences_are_of_the_larger_value_and_ulp_are_counted() {
        let relative = differences(Which::Relative, &[2.0, 0.0, -4.0], &[1.0, -0.0, 4.0]);
        assert_eq!(relative.values, [0.5, 0.0, -2.0]);
        let ulp = differences(Which::Ulp, &[1.0, 1.0], &[1.0_f64.next_up().next_up(), f64::NAN]);
        assert_eq!(ulp.values[..1], [2.0]);
        assert!(ulp.values[1].is_nan());
    }

    #[test]
    fn a_profile_has_the_column_and_the_mean_of_each_level() {
        let q = kept(ramp(12), &[2, 2, 3], vec![0; 3], vec![2, 2, 3]);
        let [column, mean, low, high] = looked(&q).line(Across::K, [1, 0, 2]);
        assert_eq!(column, [6.0, 7.0, 8.0]);
        assert_eq!((mean, low, high), (vec![4.5, 5.5, 6.5], vec![0.0, 1.0, 2.0], vec![9.0, 10.0, 11.0]));
        let [row, mean, ..] = looked(&q).line(Across::I, [0, 1, 2]);
        assert_eq!((row, mean), (vec![5.0, 11.0], vec![3.5, 9.5]));
    }

    #[test]
    fn bins_hold_all_finite_values_and_whole_numbers_have_their_own() {
        let of = |values: &[f64]| {
            let q = kept(values.to_vec(), &[values.len()], vec![0], vec![values.len() as u64]);
            looked(&q).survey(None).unwrap().1
        };
        let whole = of(&[1.0, 3.0, 3.0, f64::NAN]);
        assert_eq!((whole.low, whole.high, whole.counts), (0.5, 3.5, vec![1, 0, 2]));
        let parts = of(&[0.0, 0.5, 1.0]);
        assert_eq!((parts.counts.len(), parts.counts[0], parts.counts[24], parts.counts[47]), (48, 1, 1, 1));
        assert_eq!(of(&[-f64::MAX, 0.5, f64::MAX]).counts.iter().sum::<u64>(), 3);
        assert_eq!(of(&[0.25]), Histogram { low: 0.125, high: 0.375, counts: vec![1] });
        assert_eq!(of(&[f64::NAN]), Histogram::default());
    }

    #[test]
    fn a_cell_is_read_in_all_fields_of_both_results() {
        let a = [kept(vec![1.0, 2.0], &[2], vec![0], vec![2])];
        let b = [kept(vec![1.0, 2.0_f64.next_up()], &[2], vec![0], vec![2])];
        let found = readings(&a, &b, [1, 5, 7], 0);
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].a.as_deref(), Some("2.0"));
        assert_eq!(found[0].b.as_deref(), Some("2.0000000000000004"));
        assert_eq!((found[0].ulp, found[0].value), (Some(1), Some(2.0)));
        assert_eq!(readings(&a, &[], [2, 0, 0], 0)[0].a, None, "there is no such cell");
    }

    #[test]
    fn results_of_different_domains_have_no_difference() {
        let a = kept(ramp(2), &[2], vec![0], vec![2]);
        let b = kept(ramp(3), &[3], vec![0], vec![3]);
        assert!(ResultView::new(Which::Difference, Some(&a), Some(&b), 0).is_err());
        assert!(ResultView::new(Which::Difference, Some(&a), None, 0).is_err());
        assert!(ResultView::new(Which::A, Some(&a), None, 1).is_err());
    }
}
