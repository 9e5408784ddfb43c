//! From one time step to the next: which fields take whose values, and what stands in their halos.
//!
//! ```text
//! # @step q = q_out            after a step, q takes the values of q_out; its halo stays as it is
//! # @step q = q_out periodic   and its halo those of the opposite edge
//! # @step h closed             h carries on by itself; its halo takes the values of the nearest points
//! ```
//!
//! Fields that a stencil reads and writes carry on without such a line.

use crate::call::array::Array;
use crate::call::launch::{Argument, FieldArgument, Launch};
use crate::call::signature::{Param, ParamKind, Signature};
use crate::diag::Span;
use crate::for_elements;
use crate::space::{Axis, AxisSet, Domain};

/// `# @step q = q_out periodic`
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StepDirective {
    pub field: String,
    /// The field whose values it takes, where it does not carry on by itself.
    pub from: Option<String>,
    pub halo: Halo,
    pub span: Span,
}

/// The values in the halo of a field along I and J when a step begins.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Halo {
    /// The values that stood there before.
    #[default]
    Kept,
    /// The values of the opposite edge.
    Periodic,
    /// The values of the nearest points of the domain.
    Closed,
}

impl StepDirective {
    /// Why a stencil of this signature cannot take the line; nothing where it can.
    #[must_use]
    pub fn refusal(&self, signature: &Signature) -> Option<String> {
        let known = |name: &str| match signature.param(name) {
            Some(Param { kind: ParamKind::Field { axes, data_dims, dtype, .. }, .. }) => {
                Ok((axes, data_dims, dtype))
            }
            Some(_) => Err(format!("`{name}` is a scalar, and fields take steps")),
            None => Err(format!("`{}` has no field `{name}`", signature.name)),
        };
        let field = match known(&self.field) {
            Ok(it) => it,
            Err(why) => return Some(why),
        };
        match self.from.as_deref().map(known) {
            None => None,
            Some(Err(why)) => Some(why),
            Some(Ok(from)) => (field != from).then(|| {
                let from = self.from.as_deref().unwrap_or_default();
                format!("`{}` and `{from}` have different axes or types", self.field)
            }),
        }
    }
}

/// Fills the halos that the lines tell of, before the first step.
pub fn begin(steps: &[StepDirective], signature: &Signature, launch: &mut Launch) {
    for step in usable(steps, signature) {
        if let Some((at, axes)) = field(signature, &step.field) {
            fill_halo(launch, at, axes, step.halo);
        }
    }
}

/// Moves values to where the next step reads them, line by line.
pub fn advance(steps: &[StepDirective], signature: &Signature, launch: &mut Launch) {
    for step in usable(steps, signature) {
        let Some((to, axes)) = field(signature, &step.field) else { continue };
        if let Some((from, _)) = step.from.as_deref().and_then(|it| field(signature, it)) {
            copy(launch, from, to, axes);
        }
        fill_halo(launch, to, axes, step.halo);
    }
}

fn usable<'s>(steps: &'s [StepDirective], signature: &Signature) -> impl Iterator<Item = &'s StepDirective> {
    steps.iter().filter(|it| it.refusal(signature).is_none())
}

fn field(signature: &Signature, name: &str) -> Option<(usize, AxisSet)> {
    let at = signature.params.iter().position(|it| it.name == name)?;
    match signature.params[at].kind {
        ParamKind::Field { axes, .. } => Some((at, axes)),
        ParamKind::Scalar { .. } => None,
    }
}

/// The compute domain of one field becomes that of another.
fn copy(launch: &mut Launch, from: usize, to: usize, axes: AxisSet) {
    let domain = launch.domain;
    let Ok([Argument::Field(from), Argument::Field(to)]) = launch.arguments.get_disjoint_mut([from, to])
    else {
        return;
    };
    let source: Vec<usize> = places(from, axes, domain, |_, at, n| (0..n).contains(&at).then_some(at))
        .map(|(here, _)| here)
        .collect();
    let target = places(to, axes, domain, |_, at, n| (0..n).contains(&at).then_some(at)).map(|it| it.0);
    let pairs: Vec<(usize, usize)> = source.into_iter().zip(target).collect();
    for (source, target) in pairs {
        let value = from.array.elements.get(source);
        to.array.elements.set(target, value);
    }
}

fn fill_halo(launch: &mut Launch, at: usize, axes: AxisSet, halo: Halo) {
    let domain = launch.domain;
    let Some(Argument::Field(field)) = launch.arguments.get_mut(at) else { return };
    if halo == Halo::Kept || domain.i == 0 || domain.j == 0 {
        return;
    }
    let inside = move |axis: Axis, at: i64, n: i64| match (axis, halo) {
        (Axis::K, _) | (_, Halo::Kept) => Some(at),
        (_, Halo::Periodic) => Some(at.rem_euclid(n)),
        (_, Halo::Closed) => Some(at.clamp(0, n - 1)),
    };
    let moves: Vec<(usize, usize)> =
        places(field, axes, domain, inside).filter(|(here, source)| here != source).collect();
    for_elements!(&mut field.array.elements, values => {
        for (here, source) in moves {
            values[here] = values[source];
        }
    });
}

/// All positions of a field for which `source` names a position along each axis, and where that lies. Positions count
/// from the first point of the compute domain; in the order of the array's indices.
fn places(
    field: &FieldArgument,
    axes: AxisSet,
    domain: Domain,
    source: impl Fn(Axis, i64, i64) -> Option<i64>,
) -> impl Iterator<Item = (usize, usize)> {
    let Array { shape, .. } = &field.array;
    // Per dimension: the indices that are taken, each with the one that stands for it.
    let along: Vec<Vec<(usize, usize)>> = shape
        .iter()
        .enumerate()
        .map(|(dimension, &size)| {
            let Some(axis) = axes.iter().nth(dimension) else {
                return (0..size).map(|it| (it, it)).collect();
            };
            let origin = field.origin[axis.index()];
            let n = domain.along(axis);
            let of_index = |index: usize| {
                let at = i64::try_from(index).ok()? - origin;
                let there = usize::try_from(source(axis, at, n)? + origin).ok()?;
                (there < size).then_some((index, there))
            };
            (0..size).filter_map(of_index).collect()
        })
        .collect();
    let n: usize = along.iter().map(Vec::len).product();
    let array = &field.array;
    let all = (0..n).map(move |mut at| {
        let (mut here, mut there) = (vec![0; along.len()], vec![0; along.len()]);
        for (dimension, indices) in along.iter().enumerate().rev() {
            (here[dimension], there[dimension]) = indices[at % indices.len()];
            at /= indices.len();
        }
        (array.position(&here), array.position(&there))
    });
    all.collect::<Vec<_>>().into_iter()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::call::run::NoControl;
    use crate::config::Config;
    use crate::debug;
    use crate::front::front;
    use crate::inputs;
    use crate::pass::NoHook;
    use crate::project::Project;

    /// The values of `q` after some steps, from the first point of its array on.
    fn after(steps: usize, lines: &str, body: &str) -> Vec<f64> {
        let text = format!(
            "# @domain 4 1 1\n# @input q linear(low=-0.5, high=3.5, along=i)\n{lines}\n\
             from gt4py.cartesian.gtscript import Field, PARALLEL, computation, interval\n\n\
             def advect(q: Field[float], q_out: Field[float]):\n    \
             with computation(PARALLEL), interval(...):\n        {body}\n"
        );
        let project = Project::of_one("main.py", &text);
        let front = front(&project, &Config::default(), &mut NoHook);
        assert!(!front.has_errors(), "{:?}", front.notes.diagnostics);
        let signature = front.signature.as_ref().unwrap();
        let domain = Domain::new(4, 1, 1);
        let call = inputs::call_for(signature, &front.directives, domain);
        let mut launch = front.bind(call).unwrap();
        let (oir, extents) = front.reference().unwrap();
        begin(&front.directives.steps, signature, &mut launch);
        for _ in 0..steps {
            debug::run(oir, extents, &mut launch, &mut NoControl).unwrap();
            advance(&front.directives.steps, signature, &mut launch);
        }
        let Argument::Field(q) = &launch.arguments[0] else { panic!("q is a field") };
        (0..q.array.shape[0]).map(|at| q.array.get(&[at, 0, 0]).as_f64()).collect()
    }

    #[test]
    fn values_travel_with_the_steps_and_round_the_domain() {
        let shift = "q_out = q[-1, 0, 0]";
        assert_eq!(after(0, "# @step q = q_out periodic", shift), [3.0, 0.0, 1.0, 2.0, 3.0]);
        assert_eq!(after(1, "# @step q = q_out periodic", shift), [2.0, 3.0, 0.0, 1.0, 2.0]);
        assert_eq!(after(4, "# @step q = q_out periodic", shift), [3.0, 0.0, 1.0, 2.0, 3.0]);
        assert_eq!(after(2, "# @step q = q_out closed", shift), [0.0, 0.0, 0.0, 0.0, 1.0]);
        // The halo is where the generator put it, one step before the first point.
        assert_eq!(after(2, "# @step q = q_out", shift), [-1.0, -1.0, -1.0, 0.0, 1.0]);
    }

    #[test]
    fn without_a_line_a_field_that_is_written_carries_on() {
        assert_eq!(after(3, "", "q = q + 1.0\n        q_out = q"), [3.0, 4.0, 5.0, 6.0]);
    }
}
