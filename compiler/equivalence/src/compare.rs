//! Holds every level and every pass against what the stencil means.

use std::fmt;

use super::journey::{Journey, Level};
use super::run::{Options, Stop, Writers};
use super::{kernel, loops, schedule, sdfg};
use isobar_compiler::call::launch::{Argument, Launch};
use isobar_compiler::debug::{self, NoControl};
use isobar_compiler::diag::StmtId;
use isobar_compiler::oir::analysis::extents::{Extents, extents};
use isobar_compiler::oir::analysis::program_order;
use isobar_compiler::oir::nodes::{ParamKind, Stencil};
use isobar_compiler::pass::DecisionLimit;
use isobar_compiler::space::Axis;
use isobar_compiler::types::Value;

/// A result of a step that differs from the meaning of the stencil.
#[derive(Clone, Debug, PartialEq)]
pub struct Divergence {
    /// The door or pass, as `schedule/merge-loops`.
    pub step: String,
    /// The seed of the order in which it shows; none where it shows in the order of the text.
    pub seed: Option<u64>,
    pub what: RunDifference,
    /// The change of the pass that makes the difference, where it was looked for.
    pub decision: Option<Decision>,
}

/// One change that a pass made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decision {
    /// Counted from 1, in the order in which the pass makes them.
    pub number: usize,
    /// The pass's own remark on the change.
    pub remark: Option<String>,
}

/// How a run differs from what it should be.
#[derive(Clone, Debug, PartialEq)]
pub enum RunDifference {
    /// An element has another value.
    Element(DifferingElement),
    /// One ended early, or both did, and not in the same way.
    End { expected: Option<Stop>, found: Option<Stop> },
    /// The level breaks its own rules, so that it means nothing.
    Invalid(Vec<String>),
}

/// An element that has another value.
#[derive(Clone, Debug, PartialEq)]
pub struct DifferingElement {
    pub field: String,
    /// Per dimension of the field: the position in the compute domain, then indices into data.
    pub at: Vec<i64>,
    pub expected: Value,
    pub found: Value,
    /// The statement that wrote it last; none where nothing did.
    pub stmt: Option<StmtId>,
}

/// Runs a stencil as it means and after every door and every pass; answers the names of the steps, and the first
/// whose outcome differs. Orders that must not matter are tried as they are written, and as each seed decides.
#[must_use]
pub fn compare(journey: &Journey, launch: &Launch, seeds: &[u64]) -> (Vec<String>, Option<Divergence>) {
    let reference = ReferenceRun::of(journey.oir(), launch);
    let (mut names, mut found) = (Vec::new(), None);
    journey.go(None, &mut |step, level, _| {
        names.push(step.to_owned());
        // An unchanged level needs no run.
        found = level.and_then(|it| reference.divergence(step, &it, seeds));
        found.is_none()
    });
    (names, found)
}

/// Finds the first step whose outcome differs as [`compare`] does, but with few runs. A wrong outcome stays
/// wrong, so each run rules out half of the steps that are left. Then finds the change of the pass that makes
/// the difference, by allowing it fewer and fewer changes. Answers the names of the steps that were run.
#[must_use]
pub fn bisect(journey: &Journey, launch: &Launch, seeds: &[u64]) -> (Vec<String>, Option<Divergence>) {
    let reference = ReferenceRun::of(journey.oir(), launch);
    let mut names: Vec<String> = Vec::new();
    journey.go(None, &mut |step, level, _| {
        names.extend(level.map(|_| step.to_owned()));
        true
    });
    let (mut run, mut first) = (Vec::new(), None);
    // All steps before `low` are right, and that at `high` is wrong once `first` is known.
    let (mut low, mut high) = (0, names.len());
    let mut at = names.len().saturating_sub(1);
    while low < high {
        run.push(names[at].clone());
        match reference.divergence_at(journey, at, seeds) {
            Some(divergence) => (first, high) = (Some(divergence), at),
            None => low = at + 1,
        }
        at = low + (high - low) / 2;
    }
    if let Some(divergence) = &mut first {
        divergence.decision = reference.decision(journey, &divergence.step, seeds);
    }
    (run, first)
}

/// No pass makes so many changes to one stencil.
const MOST_CHANGES: usize = 1 << 20;

/// The outcome of a stencil by definition.
#[derive(Debug)]
pub struct ReferenceRun<'a> {
    oir: &'a Stencil,
    launch: &'a Launch,
    after: Launch,
    end: Option<Stop>,
}

impl<'a> ReferenceRun<'a> {
    /// Runs the OIR as it was lowered.
    #[must_use]
    pub fn of(oir: &'a Stencil, launch: &'a Launch) -> Self {
        let mut after = launch.clone();
        let end = run_oir(oir, &extents(oir), &mut after).err();
        Self { oir, launch, after, end }
    }

    /// Why it ended early, where it did.
    #[must_use]
    pub fn end(&self) -> Option<&Stop> {
        self.end.as_ref()
    }

    /// The first way in which a level differs; each seed is tried.
    #[must_use]
    pub fn divergence(&self, step: &str, level: &Level<'_>, seeds: &[u64]) -> Option<Divergence> {
        let orders: Vec<Option<u64>> = match level {
            // The OIR has no orders that do not matter.
            Level::Oir(..) => vec![None],
            Level::Schedule(_) | Level::Sdfg(_) | Level::Loops(_) | Level::Kernels(_) => {
                std::iter::once(None).chain(seeds.iter().copied().map(Some)).collect()
            }
        };
        let violations = level.violations();
        if !violations.is_empty() {
            let what = RunDifference::Invalid(violations);
            return Some(Divergence { step: step.to_owned(), seed: None, what, decision: None });
        }
        orders.into_iter().find_map(|seed| {
            let what = self.difference(level, seed)?;
            Some(Divergence { step: step.to_owned(), seed, what, decision: None })
        })
    }

    /// The same for the step of that number, of those that left another level.
    fn divergence_at(&self, journey: &Journey, number: usize, seeds: &[u64]) -> Option<Divergence> {
        let (mut at, mut found) = (0, None);
        journey.go(None, &mut |step, level, _| {
            let Some(level) = level else { return true };
            if at == number {
                found = self.divergence(step, &level, seeds);
            }
            at += 1;
            at <= number
        });
        found
    }

    /// The first change of a pass with which its outcome differs; none where the step is a door.
    fn decision(&self, journey: &Journey, pass: &str, seeds: &[u64]) -> Option<Decision> {
        let attempt = |changes: usize| {
            let (mut is_wrong, mut remark) = (false, None);
            let limit = DecisionLimit { pass: pass.to_owned(), decisions: changes };
            journey.go(Some(limit), &mut |step, level, told| {
                if step != pass {
                    return true;
                }
                is_wrong = level.is_some_and(|it| self.divergence(step, &it, seeds).is_some());
                remark = told.map(str::to_owned);
                false
            });
            (is_wrong, remark)
        };
        let mut high = 1;
        while !attempt(high).0 {
            high *= 2;
            if high > MOST_CHANGES {
                return None;
            }
        }
        // With `low` changes all is right.
        let mut low = if attempt(0).0 { return None } else { high / 2 };
        while high - low > 1 {
            let middle = low + (high - low) / 2;
            if attempt(middle).0 {
                high = middle;
            } else {
                low = middle;
            }
        }
        Some(Decision { number: high, remark: attempt(high).1 })
    }

    fn difference(&self, level: &Level<'_>, seed: Option<u64>) -> Option<RunDifference> {
        let options = Options { seed, ..Options::default() };
        let mut launch = self.launch.clone();
        let end = run(self.oir, level, &mut launch, &options).err();
        // The debug back end stops at the first place that it comes to. A pass of this level may let it come to
        // another one before; the levels below find the first of all again.
        let are_traps = matches!((&end, &self.end), (Some(Stop::Trap(_)), Some(Stop::Trap(_))));
        if matches!(level, Level::Oir(..)) && are_traps {
            return None;
        }
        if end != self.end {
            return Some(RunDifference::End { expected: self.end.clone(), found: end });
        }
        // A run that ends early leaves what it has done so far, which depends on the order.
        if end.is_some() || !self.differs_from(&launch) {
            return None;
        }
        let mut options = options;
        options.keeps_writers = true;
        let mut again = self.launch.clone();
        let writers = run(self.oir, level, &mut again, &options).ok();
        self.first_element(&launch, writers.as_ref()).map(RunDifference::Element)
    }

    /// Of all elements in which what a run left differs, one that the earliest statement wrote.
    #[must_use]
    pub fn earliest(&self, left: &Launch) -> Option<DifferingElement> {
        let extents = extents(self.oir);
        let options = Options { keeps_writers: true, ..Options::default() };
        let mut again = self.launch.clone();
        let writers = run(self.oir, &Level::Oir(self.oir, &extents), &mut again, &options).ok();
        self.first_element(left, writers.as_ref())
    }

    fn differs_from(&self, launch: &Launch) -> bool {
        self.after.arguments.iter().zip(&launch.arguments).any(|pair| match pair {
            (Argument::Field(expected), Argument::Field(found)) => {
                expected.array.elements != found.array.elements
                    && (0..expected.array.elements.len())
                        .any(|at| !is_same(expected.array.elements.get(at), found.array.elements.get(at)))
            }
            _ => false,
        })
    }

    /// Of all elements that differ, one that the earliest statement wrote.
    fn first_element(&self, launch: &Launch, writers: Option<&Writers>) -> Option<DifferingElement> {
        let mut first: Option<DifferingElement> = None;
        for (number, param) in self.oir.params.iter().enumerate() {
            let (ParamKind::Field(field), Argument::Field(expected), Argument::Field(found)) =
                (param.what, &self.after.arguments[number], &launch.arguments[number])
            else {
                continue;
            };
            let declared = &self.oir.fields[field];
            for index in expected.array.indices() {
                let (expected_value, value) = (expected.array.get(&index), found.array.get(&index));
                if is_same(expected_value, value) {
                    continue;
                }
                let position = expected.array.position(&index);
                let stmt = writers.and_then(|it| it.of(number, position));
                let is_earlier = |known: &DifferingElement| {
                    stmt.is_some_and(|it| known.stmt.is_none_or(|known| it < known))
                };
                if first.as_ref().is_some_and(|known| !is_earlier(known)) {
                    continue;
                }
                let axes: Vec<Axis> = declared.axes.iter().collect();
                let at = index.iter().enumerate().map(|(dimension, &at)| {
                    let origin = axes.get(dimension).map_or(0, |axis| expected.origin[axis.index()]);
                    i64::try_from(at).unwrap_or(i64::MAX) - origin
                });
                let at = at.collect();
                let field = declared.name.clone();
                first = Some(DifferingElement { field, at, expected: expected_value, found: value, stmt });
            }
        }
        first
    }
}

/// Runs a level; on the OIR it is the debug back end that does.
fn run(oir: &Stencil, level: &Level<'_>, launch: &mut Launch, options: &Options) -> Result<Writers, Stop> {
    let (params, order) = (parameters(oir), program_order(oir));
    match level {
        Level::Oir(stencil, extents) => {
            if options.keeps_writers {
                // The next level as it comes from the door tells who wrote what.
                let explicit = isobar_compiler::tree::from_oir::lower(stencil, extents);
                let tree = isobar_compiler::schedule::from_tree::lower(&explicit);
                return schedule::run(&tree, &params, &order, launch, options);
            }
            run_oir(stencil, extents, launch).map(|()| Writers::default())
        }
        Level::Schedule(tree) => schedule::run(tree, &params, &order, launch, options),
        Level::Sdfg(graph) => sdfg::run(graph, &params, &order, launch, options),
        Level::Loops(program) => loops::run(program, &params, &order, launch, options),
        Level::Kernels(kernels) => kernel::run(kernels, &params, &order, launch, options),
    }
}

fn run_oir(stencil: &Stencil, extents: &Extents, launch: &mut Launch) -> Result<(), Stop> {
    debug::run(stencil, extents, launch, &mut NoControl).map_err(|stop| match stop {
        debug::Stop::Trap(trap) => Stop::Trap(trap),
        debug::Stop::Cancelled => Stop::Fault("nobody cancels this run".to_owned()),
    })
}

/// The names of the parameters, in the order of the arguments of a launch.
#[must_use]
pub fn parameters(oir: &Stencil) -> Vec<&str> {
    let name = |what: ParamKind| match what {
        ParamKind::Field(field) => oir.fields[field].name.as_str(),
        ParamKind::Scalar(scalar) => oir.scalars[scalar].name.as_str(),
    };
    oir.params.iter().map(|it| name(it.what)).collect()
}

/// Whether two values have the same bits; one NaN is as good as another.
fn is_same(one: Value, other: Value) -> bool {
    one == other || (one.as_f64().is_nan() && other.as_f64().is_nan())
}

impl fmt::Display for Divergence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Divergence { step, seed, what, decision } = self;
        write!(f, "after {step}")?;
        if let Some(Decision { number, remark }) = decision {
            write!(f, ", with its change {number}")?;
            remark.as_ref().map_or(Ok(()), |it| write!(f, " ({it})"))?;
        }
        if let Some(seed) = seed {
            write!(f, ", in the order of seed {seed}")?;
        }
        write!(f, ": {what}")
    }
}

impl fmt::Display for RunDifference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RunDifference::Element(DifferingElement { field, at, expected, found, stmt }) => {
                let at: Vec<String> = at.iter().map(ToString::to_string).collect();
                write!(f, "`{field}` at [{}] is {found} and should be {expected}", at.join(", "))?;
                stmt.map_or(Ok(()), |it| write!(f, ", as {it} wrote it"))
            }
            RunDifference::End { expected, found } => {
                let said =
                    |end: &Option<Stop>| end.as_ref().map_or("ends well".to_owned(), ToString::to_string);
                write!(f, "the run stops otherwise: {}; expected: {}", said(found), said(expected))
            }
            RunDifference::Invalid(violations) => {
                write!(f, "the level breaks its rules: {}", violations.join("; "))
            }
        }
    }
}
