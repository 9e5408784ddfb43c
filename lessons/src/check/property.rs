//! Laws that a result keeps, whatever way it was computed.

use std::collections::BTreeMap;

use isobar_compiler::call::launch::{Argument, Launch};
use isobar_compiler::pipeline::Compilation;
use isobar_protocol::fields::ResultField;
use serde::Deserialize;
use serde_json::{Map, Value};

use super::fields::{ran, shown, values};
use super::{CheckFailure, Desk, Look, directives_of};

/// `kind = "property"`
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Property {
    pub law: Law,
    /// The field that the law constrains, after the run.
    pub field: String,
    /// The input that the field is compared with.
    #[serde(default)]
    pub before: String,
    /// The sum of the field times this input is conserved.
    #[serde(default)]
    pub weight: String,
    /// Mirroring the field along this axis leaves it unchanged.
    #[serde(default)]
    pub along: String,
    #[serde(default)]
    pub low: Option<f64>,
    #[serde(default)]
    pub high: Option<f64>,
    #[serde(default)]
    pub domains: Vec<[i64; 3]>,
    #[serde(default)]
    pub inputs: BTreeMap<String, String>,
    #[serde(default)]
    pub scalars: Map<String, Value>,
    /// Relative to the largest number that takes part.
    #[serde(default = "rounding")]
    pub within: f64,
}

fn rounding() -> f64 {
    1e-12
}

/// A law that a result obeys.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Law {
    /// The sum over each column is that of the input.
    ConservesColumns,
    /// The sum over the domain is that of the input.
    Conserves,
    /// No value lies outside of those of the input, halo included.
    NoNewExtrema,
    Symmetric,
    /// All values lie from `low` to `high`.
    Bounded,
    /// No value is NaN or infinite.
    Finite,
}

pub(super) fn look(desk: &mut Desk<'_>, wanted: &Property) -> Look {
    let solution = desk.compile(true, &BTreeMap::new());
    let directives = directives_of(&solution, &wanted.inputs, &wanted.scalars)?;
    let learner = match desk.sound() {
        Ok(learner) => learner,
        Err(failed) => return Ok(Err(failed)),
    };
    let usual = [[12, 9, 6]];
    let domains: &[[i64; 3]] = if wanted.domains.is_empty() { &usual } else { &wanted.domains };
    for &domain in domains {
        let (written, before) = match ran(&learner, &directives, domain) {
            Ok(ran) => ran,
            Err(failed) => return Ok(Err(failed)),
        };
        let Some(field) = written.iter().find(|it| it.info.name == wanted.field) else {
            let message =
                format!("nothing is written to `{0}` yet: an assignment `{0} = …` is missing", wanted.field);
            return Ok(Err(CheckFailure::new(message)));
        };
        if let Err(message) = held(wanted, &learner, field, &before, domain)? {
            return Ok(Err(CheckFailure::new(message)));
        }
    }
    Ok(Ok(()))
}

fn held(
    wanted: &Property,
    compilation: &Compilation,
    field: &ResultField,
    before: &Launch,
    domain: [i64; 3],
) -> Result<Result<(), String>, String> {
    let name = &wanted.field;
    let after = values(field);
    let at = |[i, j, k]: [u64; 3]| format!("at i, j, k = {i}, {j}, {k}");
    if let Some((cell, value)) = after.iter().find(|it| !it.1.is_finite()) {
        return Ok(Err(format!("`{name}` is {} {}", shown(*value), at(*cell))));
    }
    let input = |name: &str| {
        Input::of(compilation, before, name).ok_or_else(|| format!("checks.toml: there is no input `{name}`"))
    };
    Ok(match wanted.law {
        Law::Finite => Ok(()),
        Law::Bounded => {
            let (low, high) = (wanted.low.unwrap_or(f64::NEG_INFINITY), wanted.high.unwrap_or(f64::INFINITY));
            match after.iter().find(|it| it.1 < low || it.1 > high) {
                Some((cell, value)) => Err(format!(
                    "`{name}` is {} {}, and is to stay from {} to {}",
                    shown(*value),
                    at(*cell),
                    shown(low),
                    shown(high)
                )),
                None => Ok(()),
            }
        }
        Law::NoNewExtrema => {
            let input = input(&wanted.before)?;
            let (low, high) = input.range();
            let room = wanted.within * low.abs().max(high.abs());
            match after.iter().find(|it| it.1 < low - room || it.1 > high + room) {
                Some((cell, value)) => Err(format!(
                    "`{name}` is {} {}, but `{}` had nothing outside of {} to {}: that is a new extremum",
                    shown(*value),
                    at(*cell),
                    wanted.before,
                    shown(low),
                    shown(high)
                )),
                None => Ok(()),
            }
        }
        Law::Symmetric => {
            let axis = match wanted.along.as_str() {
                "j" => 1,
                "k" => 2,
                _ => 0,
            };
            let n = u64::try_from(domain[axis]).unwrap_or(0);
            let by_cell: BTreeMap<[u64; 3], f64> = after.iter().copied().collect();
            let largest = after.iter().fold(0.0_f64, |most, it| most.max(it.1.abs()));
            let differs = after.iter().find_map(|(cell, value)| {
                let mut mirrored = *cell;
                mirrored[axis] = n - 1 - cell[axis];
                let other = by_cell.get(&mirrored).copied().unwrap_or(f64::NAN);
                let is_same = (value - other).abs() <= wanted.within * largest;
                (!is_same).then_some((*cell, *value, mirrored, other))
            });
            match differs {
                Some((cell, value, mirrored, other)) => Err(format!(
                    "the inputs are the same from both sides along {}, but `{name}` is {} {} and {} {}",
                    ["i", "j", "k"][axis],
                    shown(value),
                    at(cell),
                    shown(other),
                    at(mirrored)
                )),
                None => Ok(()),
            }
        }
        Law::Conserves | Law::ConservesColumns => {
            let input = input(&wanted.before)?;
            let weight = if wanted.weight.is_empty() {
                None
            } else {
                Some(
                    self::Input::of(compilation, before, &wanted.weight)
                        .ok_or("checks.toml: there is no such weight")?,
                )
            };
            let weighed =
                |cell: [u64; 3], value: f64| weight.as_ref().map_or(value, |it| value * it.at(cell));
            let mut sums: BTreeMap<[u64; 2], (f64, f64, f64)> = BTreeMap::new();
            for &(cell, value) in &after {
                let key = if wanted.law == Law::Conserves { [0, 0] } else { [cell[0], cell[1]] };
                let sum = sums.entry(key).or_default();
                let (old, new) = (weighed(cell, input.at(cell)), weighed(cell, value));
                *sum = (sum.0 + old, sum.1 + new, sum.2 + old.abs().max(new.abs()));
            }
            match sums.iter().find(|(_, (old, new, size))| (old - new).abs() > wanted.within * size) {
                Some(([i, j], (old, new, _))) => {
                    let place = if wanted.law == Law::Conserves {
                        "over the domain".to_owned()
                    } else {
                        format!("over the column i, j = {i}, {j}")
                    };
                    Err(format!(
                        "the sum of `{name}` {place} is {}, and that of `{}` was {}: {} got lost",
                        shown(*new),
                        wanted.before,
                        shown(*old),
                        shown(old - new)
                    ))
                }
                None => Ok(()),
            }
        }
    })
}

/// A field as it was before the run.
struct Input<'a> {
    array: &'a isobar_compiler::call::array::Array,
    /// Per axis of I, J, K, its dimension.
    dimensions: [Option<usize>; 3],
    origin: [i64; 3],
}

impl<'a> Input<'a> {
    fn of(compilation: &Compilation, launch: &'a Launch, name: &str) -> Option<Self> {
        let signature = compilation.front.signature.as_ref()?;
        let at = signature.params.iter().position(|it| it.name == name)?;
        let Argument::Field(field) = launch.arguments.get(at)? else { return None };
        let isobar_compiler::call::signature::ParamKind::Field { axes, .. } = &signature.params[at].kind
        else {
            return None;
        };
        let mut dimensions = [None; 3];
        for (dimension, axis) in axes.iter().enumerate() {
            dimensions[axis.index()] = Some(dimension);
        }
        Some(Self { array: &field.array, dimensions, origin: field.origin })
    }

    fn at(&self, cell: [u64; 3]) -> f64 {
        let mut index = vec![0; self.array.shape.len()];
        for (axis, dimension) in self.dimensions.iter().enumerate() {
            if let Some(dimension) = dimension {
                let at = cell[axis].saturating_add_signed(self.origin[axis]);
                index[*dimension] = usize::try_from(at).unwrap_or(0);
            }
        }
        let is_there = index.iter().zip(&self.array.shape).all(|(at, n)| at < n);
        if is_there { self.array.get(&index).as_f64() } else { f64::NAN }
    }

    /// The least and the greatest value, halo included.
    fn range(&self) -> (f64, f64) {
        self.array
            .indices()
            .map(|it| self.array.get(&it).as_f64())
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), it| (low.min(it), high.max(it)))
    }
}
