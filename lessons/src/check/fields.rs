//! Whether a stencil computes what the solution does, on inputs that the learner does not see.

use std::collections::BTreeMap;

use isobar_compiler::call::launch::Launch;
use isobar_compiler::call::run::{NoControl, Stop};
use isobar_compiler::debug;
use isobar_compiler::inputs::{self, Directives};
use isobar_compiler::pipeline::Compilation;
use isobar_compiler::space::Domain;
use isobar_protocol::diagnostic::SpanResolver;
use isobar_protocol::fields::{self, ResultField};
use isobar_protocol::worker::{Across, Plane};
use serde::Deserialize;
use serde_json::{Map, Value};

use super::{CheckFailure, Desk, Look, Pictures, directives_of};

/// `kind = "field"`
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Fields {
    /// Those to compare; all that the solution writes where it is empty.
    pub fields: Vec<String>,
    pub domains: Vec<[i64; 3]>,
    /// Generators and values in place of those of the solution.
    pub inputs: BTreeMap<String, String>,
    pub scalars: Map<String, Value>,
    pub externals: BTreeMap<String, Value>,
    /// The differences that are allowed: any of them that holds does.
    pub ulp: u64,
    pub abs: f64,
    pub rel: f64,
}

/// The domains that are tried where a check names none.
const DOMAINS: [[i64; 3]; 2] = [[7, 5, 6], [12, 9, 4]];

pub(super) fn look(desk: &mut Desk<'_>, wanted: &Fields) -> Look {
    let solution = desk.compile(true, &wanted.externals);
    let directives = directives_of(&solution, &wanted.inputs, &wanted.scalars)?;
    let learner = match desk.sound() {
        Ok(_) => desk.compile(false, &wanted.externals),
        Err(failed) => return Ok(Err(failed)),
    };
    if let Err(failed) = same_parameters(&learner, &solution) {
        return Ok(Err(failed));
    }
    let domains: &[[i64; 3]] = if wanted.domains.is_empty() { &DOMAINS } else { &wanted.domains };
    for &domain in domains {
        let (expected, _) = ran(&solution, &directives, domain)
            .map_err(|failed| format!("solution.py on {domain:?}: {}", failed.message))?;
        let found = match ran(&learner, &directives, domain) {
            Ok((found, _)) => found,
            Err(failed) => return Ok(Err(failed)),
        };
        if let Some(message) = missing(wanted, &expected) {
            return Err(message);
        }
        if let Err(failed) = compared(wanted, domain, &found, &expected) {
            return Ok(Err(failed));
        }
    }
    Ok(Ok(()))
}

fn missing(wanted: &Fields, expected: &[ResultField]) -> Option<String> {
    let absent = wanted.fields.iter().find(|name| expected.iter().all(|it| it.info.name != **name))?;
    Some(format!("checks.toml: the solution does not write `{absent}`"))
}

/// A learner who renames a parameter is told so, and not that something is missing.
fn same_parameters(learner: &Compilation, solution: &Compilation) -> Result<(), CheckFailure> {
    let (Some(learner), Some(solution)) = (&learner.front.signature, &solution.front.signature) else {
        return Ok(());
    };
    for param in &solution.params {
        if learner.param(&param.name).is_none() {
            return Err(CheckFailure::last(format!(
                "the stencil has no parameter `{}` any more: keep the line with `def` as it was",
                param.name
            )));
        }
    }
    Ok(())
}

/// The fields that `debug` writes, and those of the call as they were before.
pub(super) fn ran(
    compilation: &Compilation,
    directives: &Directives,
    domain: [i64; 3],
) -> Result<(Vec<ResultField>, Launch), CheckFailure> {
    let [i, j, k] = domain;
    let (Some(signature), Some(oir), Some(extents)) =
        (&compilation.front.signature, &compilation.front.oir, &compilation.front.extents)
    else {
        return Err(CheckFailure::last(
            "there is no stencil in the text: it is a `def` with `with computation(...)`",
        ));
    };
    let call = inputs::call_for(signature, directives, Domain::new(i, j, k));
    let launch = compilation.front.bind(call).map_err(|found| {
        let said = found.first().map(|it| it.message.clone()).unwrap_or_default();
        let help = "a field that is read before it is written has to come from outside";
        CheckFailure::last(format!("on {i}×{j}×{k} points the stencil cannot be called: {said}; {help}"))
    })?;
    let before = launch.clone();
    let mut launch = launch;
    match debug::run(oir, extents, &mut launch, &mut NoControl) {
        Ok(()) => Ok((fields::written(signature, launch), before)),
        Err(Stop::Cancelled) => Err(CheckFailure::last("the run was stopped")),
        Err(Stop::Trap(trap)) => {
            let (_, start, _) = SpanResolver::new(compilation.front.sources()).of(trap.origin.span());
            let [ti, tj, tk] = trap.cell;
            let message = format!(
                "on {i}×{j}×{k} points the run stops in line {} at i, j, k = {ti}, {tj}, {tk}: {}",
                start.line, trap.message
            );
            Err(CheckFailure { line: Some(start.line), ..CheckFailure::last(message) })
        }
    }
}

/// The values of a field in its compute domain, level by level, each with rows along i.
pub(super) fn values(of: &ResultField) -> Vec<([u64; 3], f64)> {
    let levels = of.info.axes.find('K').and_then(|at| of.info.domain.get(at)).copied().unwrap_or(1);
    let mut all = Vec::new();
    for k in 0..levels {
        for element in 0..of.info.n_elements() {
            let Ok(plane) = of.plane(Plane { across: Across::K, at: k, element, has_halo: false }) else {
                continue;
            };
            for (at, value) in plane.values.into_iter().enumerate() {
                let (row, column) = (at / plane.width.max(1), at % plane.width.max(1));
                all.push(([column as u64, row as u64, k], value));
            }
        }
    }
    all
}

fn compared(
    wanted: &Fields,
    domain: [i64; 3],
    found: &[ResultField],
    expected: &[ResultField],
) -> Result<(), CheckFailure> {
    let is_wanted = |name: &str| wanted.fields.is_empty() || wanted.fields.iter().any(|it| it == name);
    for right in expected.iter().filter(|it| is_wanted(&it.info.name)) {
        let name = &right.info.name;
        let Some(ours) = found.iter().find(|it| it.info.name == *name) else {
            return Err(CheckFailure::new(format!(
                "nothing is written to `{name}` yet: an assignment `{name} = …` is missing"
            )));
        };
        let is_single = right.info.dtype == "float32";
        let (ours_all, right_all) = (values(ours), values(right));
        let wrong: Vec<_> = ours_all
            .iter()
            .zip(&right_all)
            .filter(|((_, one), (_, other))| !is_near(*one, *other, wanted, is_single))
            .collect();
        let Some(((cell, one), (_, other))) = wrong.first() else { continue };
        let [i, j, k] = *cell;
        let [ni, nj, nk] = domain;
        let mut message = format!(
            "`{name}` differs in {} of {} cells of a run on {ni}×{nj}×{nk} points. The first one is at i, j, k = {i}, {j}, {k}: found {}, expected {}",
            wrong.len(),
            right_all.len(),
            shown(*one),
            shown(*other),
        );
        if let Some(sight) = sight(&wrong, &ours_all, domain) {
            message.push_str(". ");
            message.push_str(sight);
        }
        let pictures = Pictures {
            domain,
            field: name.clone(),
            cell: *cell,
            found: found.to_vec(),
            expected: expected.to_vec(),
        };
        return Err(CheckFailure { pictures: Some(Box::new(pictures)), ..CheckFailure::new(message) });
    }
    Ok(())
}

/// A value and its place.
type Cell = ([u64; 3], f64);

/// Names a property that all wrong cells share, where it hints at the mistake.
fn sight(wrong: &[(&Cell, &Cell)], all: &[Cell], domain: [i64; 3]) -> Option<&'static str> {
    let [ni, nj, nk] = domain.map(|it| u64::try_from(it).unwrap_or(0));
    let every = |is: &dyn Fn(&Cell) -> bool| wrong.iter().all(|(one, _)| is(one));
    if every(&|it| it.1.is_nan()) {
        return Some("All of the wrong cells are NaN: something is read there that nothing was written to");
    }
    if wrong.len() == all.len() {
        let is_zero = |it: &Cell| it.1.to_bits() << 1 == 0;
        if all.iter().all(is_zero) {
            return Some("It is 0 everywhere");
        }
        if wrong.iter().all(|(one, other)| (one.1 + other.1).abs() <= 1e-12 * other.1.abs()) {
            return Some("Every cell has the right size and the other sign");
        }
        return None;
    }
    if nk > 1 && every(&|it| it.0[2] == 0) {
        return Some("Only the first level is wrong");
    }
    if nk > 1 && every(&|it| it.0[2] == nk - 1) {
        return Some("Only the last level is wrong");
    }
    if every(&|it| it.0[0] == 0 || it.0[0] + 1 == ni || it.0[1] == 0 || it.0[1] + 1 == nj) {
        return Some("Only cells at the edge of the domain are wrong");
    }
    None
}

fn is_near(one: f64, other: f64, wanted: &Fields, is_single: bool) -> bool {
    if one.is_nan() || other.is_nan() {
        return one.is_nan() && other.is_nan();
    }
    let apart = (one - other).abs();
    // Equal infinities have no difference.
    apart <= wanted.abs
        || apart <= wanted.rel * one.abs().max(other.abs())
        || ulps(one, other, is_single) <= wanted.ulp
}

/// How many numbers of the type lie between two; the two zeros are one.
#[expect(clippy::cast_possible_truncation, reason = "values of a field of single precision fit one")]
fn ulps(one: f64, other: f64, is_single: bool) -> u64 {
    let rank = |it: f64| {
        if is_single {
            let bits = i64::from((it as f32).to_bits().cast_signed());
            if bits < 0 { i64::from(i32::MIN) - bits } else { bits }
        } else {
            let bits = it.to_bits().cast_signed();
            if bits < 0 { i64::MIN.wrapping_sub(bits) } else { bits }
        }
    };
    rank(one).abs_diff(rank(other))
}

/// As a person reads it: what is needed to see the difference, and no noise of rounding.
pub(super) fn shown(value: f64) -> String {
    if value.is_nan() {
        return "NaN".to_owned();
    }
    let size = value.abs();
    if size > 0.0 && !(1e-4..1e6).contains(&size) && value.is_finite() {
        return format!("{value:.6e}");
    }
    let text = format!("{value:.8}");
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_near_by_any_of_the_three_measures() {
        let exact = Fields::default();
        assert!(is_near(0.0, -0.0, &exact, false));
        assert!(is_near(f64::NAN, f64::NAN, &exact, false));
        assert!(is_near(f64::INFINITY, f64::INFINITY, &exact, false));
        assert!(!is_near(1.0, 1.0_f64.next_up(), &exact, false));
        assert!(!is_near(f64::NAN, 1.0, &Fields { abs: f64::INFINITY, ..Fields::default() }, false));
        assert!(is_near(1.0, 1.0_f64.next_up(), &Fields { ulp: 1, ..Fields::default() }, false));
        assert!(is_near(0.0, 1e-9, &Fields { abs: 1e-8, ..Fields::default() }, false));
        assert!(is_near(1e9, 1e9 + 1.0, &Fields { rel: 1e-8, ..Fields::default() }, false));
        let next = f64::from(1.0_f32.next_up());
        assert!(is_near(1.0, next, &Fields { ulp: 1, ..Fields::default() }, true));
        assert!(!is_near(1.0, next, &Fields { ulp: 1, ..Fields::default() }, false));
    }

    #[test]
    fn numbers_are_shown_without_noise() {
        assert_eq!(shown(0.5), "0.5");
        assert_eq!(shown(0.1 + 0.2), "0.3");
        assert_eq!(shown(-3.0), "-3");
        assert_eq!(shown(1e-9), "1.000000e-9");
        assert_eq!(shown(f64::NAN), "NaN");
    }
}
