//! Schedules that a person wrote: a document, and lines `# @keep` of the text.

use super::lowering::BackTrip;
use crate::call::signature::ParamKind;
use crate::diag::catalog::{directive, schedule as catalog};
use crate::diag::{Span, StmtId};
use crate::inputs::LoopProperty;
use crate::loops::analysis::bounds::{GuaranteedPositions, OutOfBoundsAccess, outside};
use crate::pass::{Device, check};
use crate::project::Project;
use crate::schedule::document::{ApplyOutcome, OpenChoices, ScheduleCommand};
use crate::schedule::step::Pin;
use crate::space::assume::Assumptions;
use crate::space::{Axis, Reach, Symbol, names};
use crate::{loops, schedule, sdfg};

impl BackTrip<'_> {
    /// Adds the pins that lines `# @keep` of the text ask for.
    pub(super) fn pins(&mut self, tree: &mut schedule::Tree) {
        let keeps = &self.front.directives.keeps;
        let Some(first) = keeps.first() else { return };
        let written = schedule::document::statements_in(tree, first.span.file);
        for it in keeps {
            let pin = match it.keep {
                LoopProperty::Apart => Pin::Apart,
                LoopProperty::Whole => Pin::Whole,
                LoopProperty::Guarded => Pin::Guarded,
            };
            let in_line = (it.below.start, StmtId(0))..(it.below.end, StmtId(0));
            let mut stmts = written.range(in_line).map(|(_, stmt)| *stmt).peekable();
            if stmts.peek().is_none() {
                self.found.push(directive::without_statement("keep", it.span, it.below));
            }
            tree.pins.extend(stmts.map(pin));
        }
    }

    /// Applies the schedule in a file. Returns the choices that it leaves to the passes; nothing where the
    /// document is wrong.
    pub(super) fn document(
        &mut self,
        project: &Project,
        name: &str,
        tree: &mut schedule::Tree,
    ) -> Option<OpenChoices> {
        self.trip.show("schedule", &|| schedule::print::listing(tree));
        let Some(file) = project.file_id(name) else {
            self.found.push(catalog::missing(name, tree.span));
            return None;
        };
        let text = project.text(file);
        let span = |at: &std::ops::Range<usize>| {
            let offset = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
            Span::new(file, offset(at.start), offset(at.end))
        };
        let document = match schedule::document::parse(text) {
            Ok(document) => document,
            Err(wrong) => {
                let told = wrong
                    .iter()
                    .map(|it| catalog::unreadable(&text[it.at.clone()], &it.message, span(&it.at)));
                self.found.extend(told.collect::<Vec<_>>());
                return None;
            }
        };
        let applied = match self.trip.options.device {
            Device::Cpu => schedule::document::apply(tree, &document),
            Device::Gpu => schedule::document::apply_for_gpu(tree, &document),
        };
        match applied {
            ApplyOutcome::Whole { open } => {
                check(
                    "a schedule document",
                    || schedule::validate::validate(tree),
                    || schedule::print::listing(tree),
                );
                if let Some(trace) = &mut self.trip.notes.trace {
                    trace.record(
                        "schedule",
                        Some("schedule/document"),
                        Some(&schedule::print::listing(tree)),
                    );
                }
                Some(open)
            }
            ApplyOutcome::Refused { line, refusal } => {
                let told =
                    catalog::refused(&text[line.clone()], &refusal.reason, span(&line), &refusal.origins);
                self.found.push(told);
                None
            }
        }
    }

    /// Checks a written schedule against the rules of the tree, in every build. Passes may have changed it.
    pub(super) fn hold_rules(&mut self, project: &Project, name: &str, tree: &schedule::Tree) -> bool {
        let Some(fault) = schedule::validate::validate(tree).into_iter().next() else { return true };
        if let Some((at, span)) = last_line(project, name) {
            let text = project.file_id(name).map_or("", |it| project.text(it));
            self.found.push(catalog::refused(
                &text[at],
                &format!("it leaves no schedule: {fault}"),
                span,
                &[],
            ));
        }
        false
    }

    /// Checks that the loops of a written schedule stay inside their arrays.
    /// `before` is the tree that the steps started from. Returns `None` where an access is not proven to be
    /// inside. It then reports the first step that leads there.
    pub(super) fn hold_bounds(
        &mut self,
        project: &Project,
        name: &str,
        (before, program): (&schedule::Tree, &loops::Program),
    ) -> Option<()> {
        let known = self.known_at_calls();
        let at_first = || loops::lower(&sdfg::from_schedule::lower(before));
        let has_told_levels = program.arrays.values().any(|it| it.level_symbols().next().is_some());
        let held = if has_told_levels {
            GuaranteedPositions::of(&at_first())
        } else {
            GuaranteedPositions::default()
        };
        let wrong = outside(program, &held, &known).into_iter().next();
        let Some(wrong) = wrong else { return Some(()) };
        let file = project.file_id(name)?;
        let text = project.text(file);
        let document = schedule::document::parse(text).ok()?;
        let steps = document.lines.iter().filter(|it| matches!(it.order, ScheduleCommand::Step(_)));
        let mut tree = before.clone();
        let mut told = (document.lines.last().map(|it| it.at.clone()).unwrap_or_default(), wrong);
        for line in steps {
            let step = schedule::document::Document { lines: vec![line.clone()] };
            if !matches!(schedule::document::apply(&mut tree, &step), ApplyOutcome::Whole { .. }) {
                break;
            }
            let program = loops::lower(&sdfg::from_schedule::lower(&tree));
            if let Some(wrong) = outside(&program, &held, &known).into_iter().next() {
                told = (line.at.clone(), wrong);
                break;
            }
        }
        let (at, OutOfBoundsAccess { array, index, size, origin }) = told;
        let offset = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
        let span = Span::new(file, offset(at.start), offset(at.end));
        let reason = format!("the index `{index}` of `{array}` is not seen to be in [0, {size})");
        let about: Vec<_> = origin.into_iter().collect();
        self.found.push(catalog::refused(&text[at], &reason, span, &about));
        None
    }

    /// The facts that hold for every accepted call: enough levels, and the levels that are read of each
    /// array.
    fn known_at_calls(&self) -> Assumptions {
        let mut known = Assumptions::some_point();
        let Some(signature) = &self.front.signature else { return known };
        let levels = if self.trip.options.turned { Axis::I } else { Axis::K };
        known = known.with_least(&Symbol::new(levels.name()), signature.min_levels.max(1));
        for param in &signature.params {
            let ParamKind::Field { axes, boundary, .. } = &param.kind else { continue };
            let Reach { lo, hi } = boundary[Axis::K.index()];
            let name = names::of_container(&param.name);
            if axes.has(Axis::K) {
                known = known
                    .with_least(&names::levels_below(&name), -i64::from(lo))
                    .with_least(&names::levels_above(&name), i64::from(hi));
            }
        }
        known
    }
}

/// The last line of a document that is not empty, and its place.
fn last_line(project: &Project, name: &str) -> Option<(std::ops::Range<usize>, Span)> {
    let file = project.file_id(name)?;
    let document = schedule::document::parse(project.text(file)).ok()?;
    let at = document.lines.last().map(|it| it.at.clone()).unwrap_or_default();
    let offset = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
    let span = Span::new(file, offset(at.start), offset(at.end));
    Some((at, span))
}
