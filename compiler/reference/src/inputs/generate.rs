//! From a formula to numbers: the same bits on every machine.

use std::f64::consts::TAU;
use std::iter;
use std::ops::Range;

use super::Generator;
use crate::space::{Axis, Domain};
use crate::types::math::{exp, trigonometric};

impl Generator {
    /// The generator of one element of data dimensions, numbered in the order of an array: it has random
    /// numbers of its own. The first has those of a field without data dimensions.
    #[must_use]
    pub(super) fn of_element(&self, number: u64) -> Self {
        let all = |parts: &[Self]| parts.iter().map(|it| it.of_element(number)).collect();
        match self {
            Generator::Random { low, high, seed } if number > 0 => {
                Generator::Random { low: *low, high: *high, seed: splitmix64(*seed ^ splitmix64(number)) }
            }
            Generator::Sum(parts) => Generator::Sum(all(parts)),
            Generator::Product(parts) => Generator::Product(all(parts)),
            _ => self.clone(),
        }
    }
}

/// The value at `point`, counted from the first point of the compute domain;
/// along an axis that a field lacks, the point is at 0.
#[must_use]
pub fn value_at(generator: &Generator, point: [i64; 3], domain: Domain) -> f64 {
    let between = |low: f64, high: f64, part: f64| low + (high - low) * part;
    match generator {
        Generator::Constant(value) => *value,
        Generator::Linear { low, high, along } => between(*low, *high, position(point, domain, *along)),
        Generator::Wave { low, high, cycles } => {
            let turns: f64 = Axis::ALL
                .into_iter()
                .zip(cycles)
                .filter(|&(_, &cycles)| cycles != 0.0)
                .map(|(axis, cycles)| cycles * position(point, domain, axis))
                .sum();
            between(*low, *high, 0.5 + 0.5 * trigonometric::sin(TAU * turns))
        }
        Generator::Bell { low, high, at, width } => {
            let squares: f64 = Axis::ALL
                .into_iter()
                .zip(at)
                .filter_map(|(axis, at)| at.map(|at| (position(point, domain, axis) - at) / width))
                .map(|distance| distance * distance)
                .sum();
            between(*low, *high, exp::exp(-0.5 * squares))
        }
        Generator::Random { low, high, seed } => between(*low, *high, uniform(*seed, point)),
        Generator::Checker { low, high, cells } => {
            let cell = |axis| (position(point, domain, axis) * cells).floor();
            let is_even = (cell(Axis::I) + cell(Axis::J)).rem_euclid(2.0) < 1.0;
            if is_even { *low } else { *high }
        }
        Generator::Sum(parts) => parts.iter().map(|it| value_at(it, point, domain)).sum(),
        Generator::Product(parts) => parts.iter().map(|it| value_at(it, point, domain)).product(),
    }
}

/// A generator over a box of points: what does not vary along an axis is computed once for that axis.
pub(super) enum SampledGenerator<'g> {
    /// Another value at each point.
    Each(&'g Generator, Domain),
    Shared(ValueTable),
    Random(RandomBox),
    Sum(Vec<SampledGenerator<'g>>),
    Product(Vec<SampledGenerator<'g>>),
}

/// Random numbers of a box: the part of their hash that I and J have a say in is the same at all levels.
pub(super) struct RandomBox {
    low: f64,
    high: f64,
    /// Along I and J.
    start: [i64; 2],
    /// Points along I.
    length: usize,
    hashes: Vec<u64>,
}

/// Values by point, with the stride 0 along axes without a say.
pub(super) struct ValueTable {
    start: [i64; 3],
    strides: [usize; 3],
    values: Vec<f64>,
}

impl<'g> SampledGenerator<'g> {
    /// `points` along I, J and K; all tables together have at most `room` values.
    pub(super) fn new(
        generator: &'g Generator,
        points: &[Range<i64>; 3],
        domain: Domain,
        room: &mut usize,
    ) -> Self {
        let mut all =
            |parts: &'g [Generator]| parts.iter().map(|it| Self::new(it, points, domain, room)).collect();
        match generator {
            Generator::Sum(parts) => SampledGenerator::Sum(all(parts)),
            Generator::Product(parts) => SampledGenerator::Product(all(parts)),
            Generator::Random { low, high, seed } => {
                let [i, j, _] = points;
                let size = length(i).saturating_mul(length(j));
                if size > *room {
                    return SampledGenerator::Each(generator, domain);
                }
                *room -= size;
                SampledGenerator::Random(RandomBox::new([*low, *high], *seed, [i, j]))
            }
            _ => {
                let size = size(&shared(generator, points));
                if size >= self::size(points) || size > *room {
                    return SampledGenerator::Each(generator, domain);
                }
                *room -= size;
                SampledGenerator::Shared(ValueTable::new(generator, points, domain))
            }
        }
    }

    /// As [`value_at`], at each of the points along I from `point` on.
    pub(super) fn row(&self, point: [i64; 3], row: &mut [f64]) {
        match self {
            SampledGenerator::Random(random) => random.row(point, row),
            SampledGenerator::Each(generator, domain) => {
                for (i, value) in (point[0]..).zip(row) {
                    *value = value_at(generator, [i, point[1], point[2]], *domain);
                }
            }
            SampledGenerator::Shared(table) => table.row(point, row),
            // From what a sum and a product of nothing are, and in the same order.
            SampledGenerator::Sum(parts) => {
                fold(parts, point, row, iter::empty::<f64>().sum(), |all, it| all + it)
            }
            SampledGenerator::Product(parts) => {
                fold(parts, point, row, iter::empty::<f64>().product(), |all, it| all * it)
            }
        }
    }
}

fn fold(
    parts: &[SampledGenerator<'_>],
    point: [i64; 3],
    row: &mut [f64],
    none: f64,
    with: fn(f64, f64) -> f64,
) {
    let mut of_part = vec![0.0; row.len()];
    row.fill(none);
    for part in parts {
        part.row(point, &mut of_part);
        row.iter_mut().zip(&of_part).for_each(|(all, it)| *all = with(*all, *it));
    }
}

impl RandomBox {
    fn new([low, high]: [f64; 2], seed: u64, [i, j]: [&Range<i64>; 2]) -> Self {
        let seed = splitmix64(seed);
        // That of I is the same in all rows.
        let along_i: Vec<u64> = i.clone().map(|i| mixed(seed, i)).collect();
        let hashes = j.clone().flat_map(|j| along_i.iter().map(move |&hash| mixed(hash, j))).collect();
        Self { low, high, start: [i.start, j.start], length: length(i), hashes }
    }

    fn row(&self, [i, j, k]: [i64; 3], row: &mut [f64]) {
        let (low, width) = (self.low, self.high - self.low);
        let [i, j] = [i - self.start[0], j - self.start[1]].map(|it| usize::try_from(it).unwrap_or(0));
        for (value, &hash) in row.iter_mut().zip(&self.hashes[j * self.length + i..]) {
            *value = low + width * fraction(mixed(hash, k));
        }
    }
}

impl ValueTable {
    fn new(generator: &Generator, points: &[Range<i64>; 3], domain: Domain) -> Self {
        let varies = varies(generator);
        let start = Axis::ALL.map(|axis| points[axis.index()].start);
        let along = shared(generator, points);
        let packed = [1, length(&along[0]), length(&along[0]) * length(&along[1])];
        let strides = Axis::ALL.map(|it| if varies[it.index()] { packed[it.index()] } else { 0 });
        let mut values = Vec::with_capacity(size(&along));
        let [i, j, k] = along;
        for k in k {
            for j in j.clone() {
                values.extend(i.clone().map(|i| value_at(generator, [i, j, k], domain)));
            }
        }
        Self { start, strides, values }
    }

    fn row(&self, point: [i64; 3], row: &mut [f64]) {
        let along = |axis: usize| {
            usize::try_from(point[axis] - self.start[axis]).map_or(0, |it| it * self.strides[axis])
        };
        let first = along(0) + along(1) + along(2);
        match self.strides[0] {
            0 => row.fill(self.values[first]),
            _ => row.copy_from_slice(&self.values[first..first + row.len()]),
        }
    }
}

/// The points, with one for all along the axes where the values do not differ.
fn shared(generator: &Generator, points: &[Range<i64>; 3]) -> [Range<i64>; 3] {
    let varies = varies(generator);
    Axis::ALL.map(|axis| {
        let points = &points[axis.index()];
        if varies[axis.index()] { points.clone() } else { points.start..(points.start + 1).min(points.end) }
    })
}

fn size(points: &[Range<i64>; 3]) -> usize {
    points.iter().map(length).fold(1, usize::saturating_mul)
}

fn length(points: &Range<i64>) -> usize {
    usize::try_from(points.end.saturating_sub(points.start)).unwrap_or(0)
}

/// Along which axes the values can differ.
fn varies(generator: &Generator) -> [bool; 3] {
    match generator {
        Generator::Constant(_) => [false; 3],
        Generator::Linear { along, .. } => Axis::ALL.map(|axis| axis == *along),
        Generator::Wave { cycles, .. } => cycles.map(|it| it != 0.0),
        Generator::Bell { at, .. } => at.map(|it| it.is_some()),
        Generator::Checker { .. } => [true, true, false],
        Generator::Random { .. } | Generator::Sum(_) | Generator::Product(_) => [true; 3],
    }
}

/// Where a point lies along `axis`: 0 and 1 are the outer faces of the compute domain.
#[expect(clippy::cast_precision_loss, reason = "indices are far below 2^53")]
fn position(point: [i64; 3], domain: Domain, axis: Axis) -> f64 {
    (point[axis.index()] as f64 + 0.5) / domain.along(axis).max(1) as f64
}

/// A uniform number in `0 .. 1`. It is a hash of the indices and not the next number of a stream. So a point
/// has the same value whatever the halo, the size, or the order of filling.
fn uniform(seed: u64, point: [i64; 3]) -> f64 {
    hashed(splitmix64(seed), point)
}

fn hashed(seed: u64, point: [i64; 3]) -> f64 {
    fraction(point.into_iter().fold(seed, mixed))
}

#[expect(clippy::cast_sign_loss, reason = "bits are what is asked for")]
fn mixed(hash: u64, at: i64) -> u64 {
    splitmix64(hash ^ at as u64)
}

#[expect(clippy::cast_precision_loss, reason = "53 bits fill the fraction of a double exactly")]
fn fraction(hash: u64) -> f64 {
    (hash >> 11) as f64 / (1_u64 << 53) as f64
}

/// The output function of SplitMix64 (Steele, Lea and Flood, 2014), one step from `state`.
fn splitmix64(state: u64) -> u64 {
    let mut z = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

#[cfg(test)]
#[expect(clippy::float_cmp, reason = "the values are exact")]
mod tests {
    use super::*;
    use crate::inputs::parse;

    fn at(text: &str, point: [i64; 3]) -> f64 {
        value_at(&parse::generator(text).unwrap(), point, Domain::new(4, 5, 8))
    }

    #[test]
    fn positions_are_centres_of_cells_and_go_on_in_the_halo() {
        let line = "linear(low=0, high=8, along=k)";
        assert_eq!([-1, 0, 7, 8].map(|k| at(line, [0, 0, k])), [-0.5, 0.5, 7.5, 8.5]);
        assert_eq!(at("linear(low=1, high=0, along=i)", [3, 0, 0]), 0.125);
    }

    #[test]
    fn a_wave_swings_between_its_bounds() {
        // x = 1/8 and 3/8 with two cycles: a quarter and three quarters of a turn.
        assert_eq!(at("wave(low=-3, high=5, i=2)", [0, 0, 0]), 5.0);
        assert!((at("wave(low=-3, high=5, i=2)", [1, 0, 0]) + 3.0).abs() < 1e-14);
        assert!((at("wave(low=-3, high=5, j=1)", [9, 2, 0]) - 1.0).abs() < 1e-14);
    }

    #[test]
    fn a_bell_is_highest_at_its_centre_and_flat_along_other_axes() {
        let bell = "bell(low=1, high=3, at_j=0.5, width=0.2)";
        assert_eq!(at(bell, [0, 2, 0]), 3.0);
        assert_eq!(at(bell, [3, 2, 7]), 3.0);
        // One width away: exp(-1/2).
        assert!((at(bell, [0, 3, 0]) - (1.0 + 2.0 * 0.606_530_659_712_633_4)).abs() < 1e-12);
    }

    /// The expected values come from an independent implementation in Python.
    #[test]
    fn random_values_depend_on_seed_and_point_alone() {
        let random = |seed: u64, point| at(&format!("random(low=0, high=1, seed={seed})"), point);
        let expected = [0.884_789_816_534_913_2, 0.008_171_307_894_694_89, 0.565_029_813_753_156_5];
        assert_eq!([random(1, [0, 0, 0]), random(1, [-1, 0, 3]), random(2, [0, 0, 0])], expected);
        let generator = Generator::Random { low: 0.0, high: 1.0, seed: 1 };
        assert_eq!(value_at(&generator, [0, 0, 0], Domain::new(99, 1, 1)), expected[0]);
    }

    #[test]
    fn random_values_fill_their_range_evenly() {
        let mean =
            (0..1000).map(|i| at("random(low=-1, high=3, seed=7)", [i, 2 * i, -i])).sum::<f64>() / 1000.0;
        assert!((mean - 1.0).abs() < 0.1, "{mean}");
    }

    #[test]
    fn a_checker_alternates_along_both_axes_and_into_the_halo() {
        let row = |j| [-1, 0, 1, 2, 3, 4].map(|i| at("checker(low=0, high=1, cells=4)", [i, j, 5]));
        assert_eq!(row(0), [1.0, 0.0, 1.0, 0.0, 1.0, 0.0]);
        assert_eq!(row(-1), [0.0, 1.0, 0.0, 1.0, 0.0, 1.0]);
    }

    #[test]
    fn a_box_of_points_has_the_values_of_its_points() {
        let points = [-1..5, 2..4, -2..9];
        for text in [
            "constant(3)",
            "linear(low=0, high=8, along=k)",
            "wave(low=-3, high=5, i=2, k=0.3)",
            "wave(low=-3, high=5, i=1, j=2, k=3)",
            "bell(low=1, high=3, at_j=0.5, width=0.2)",
            "random(low=-1, high=3, seed=7)",
            "checker(low=0, high=1, cells=4)",
            "sum(product(random(low=0, high=1, seed=2), linear(low=0, high=8, along=j)), bell(low=1, high=3, at_i=0.1, width=0.2))",
        ] {
            let generator = parse::generator(text).unwrap();
            let domain = Domain::new(4, 5, 8);
            // With tables for all, for some, and for none.
            for room in [1000, 15, 0] {
                let sampled = SampledGenerator::new(&generator, &points, domain, &mut room.clone());
                for point in [[-1, 2, -2], [4, 3, 8], [0, 2, 5], [3, 3, 0]] {
                    let mut row = vec![0.0; usize::try_from(5 - point[0]).unwrap()];
                    sampled.row(point, &mut row);
                    for (i, found) in (point[0]..).zip(row) {
                        let expected = value_at(&generator, [i, point[1], point[2]], domain);
                        assert_eq!(found.to_bits(), expected.to_bits(), "{text} at {i} of {point:?}");
                    }
                }
            }
        }
    }

    #[test]
    fn tables_take_no_more_room_than_they_have() {
        fn values(sampled: &SampledGenerator<'_>) -> usize {
            match sampled {
                SampledGenerator::Each(..) => 0,
                SampledGenerator::Shared(table) => table.values.len(),
                SampledGenerator::Random(random) => random.hashes.len(),
                SampledGenerator::Sum(parts) | SampledGenerator::Product(parts) => {
                    parts.iter().map(values).sum()
                }
            }
        }
        let parts = vec!["checker(low=0, high=1, cells=4)"; 16].join(", ");
        let generator = parse::generator(&format!("sum({parts})")).unwrap();
        let domain = Domain::new(10, 10, 2);
        let of = |points: [Range<i64>; 3], mut room| {
            values(&SampledGenerator::new(&generator, &points, domain, &mut room))
        };
        assert_eq!(of([0..10, 0..10, 0..2], 450), 400);
        // Nothing is shared along an axis with one point.
        assert_eq!(of([0..10, 0..10, 0..1], 450), 0);
        let parts = vec!["random(low=0, high=1, seed=1)"; 16].join(", ");
        let generator = parse::generator(&format!("sum({parts})")).unwrap();
        let box_of_points = [0..10, 0..10, 0..2];
        assert_eq!(values(&SampledGenerator::new(&generator, &box_of_points, domain, &mut 450)), 400);
    }

    #[test]
    fn sums_and_products_work_point_by_point() {
        assert_eq!(at("sum(constant(2), linear(low=0, high=8, along=k))", [0, 0, 3]), 5.5);
        assert_eq!(at("product(3, linear(low=0, high=8, along=k), 2)", [0, 0, 0]), 3.0);
    }

    #[test]
    fn an_empty_domain_has_finite_values() {
        let value = value_at(
            &Generator::Linear { low: 0.0, high: 1.0, along: Axis::I },
            [0, 0, 0],
            Domain::new(0, 0, 0),
        );
        assert_eq!(value, 0.5);
    }
}
