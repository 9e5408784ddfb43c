//! The levels behind the OIR: one line for each lowering, one table of passes for each level.

use std::sync::Arc;

use super::{Compilation, Pipelines};
use crate::diag::Diagnostics;
use crate::front::Front;
use crate::oir::analysis::extents::extents;
use crate::pass::{Hook, Notes, PassOptions, Trip};
use crate::project::Project;
use crate::schedule::document::OpenChoices;
use crate::schedule::step::Pin;
use crate::schedule::turn::TurnRefusal;
use crate::{loops, schedule, sdfg, tree};

use super::levels::Levels;

/// A stencil on its way from the OIR, with the faults of its schedule so far.
pub(super) struct BackTrip<'a> {
    pub(super) front: &'a Front,
    pub(super) trip: Trip<'a>,
    pub(super) found: Diagnostics,
    levels: Levels,
    refusal: Option<TurnRefusal>,
}

/// Compiles a front through all levels behind it, with these passes. Its notes are those of the front, and
/// what the levels add.
///
/// # Errors
///
/// Why the axes I and K cannot be exchanged, where the options ask for that.
pub(super) fn lower(
    front: Arc<Front>,
    pipelines: &Pipelines,
    project: &Project,
    options: &PassOptions,
    hook: &mut dyn Hook,
) -> Result<Compilation, TurnRefusal> {
    let mut at = BackTrip::new(&front, options, front.notes.clone(), hook);
    if front.is_whole {
        at.levels_through(pipelines, project);
    }
    at.compilation(&front)
}

/// Compiles a tree that was made of several calls. Its front has their files and their signature.
pub(super) fn lower_tree(
    front: &Arc<Front>,
    explicit: tree::Tree,
    options: &PassOptions,
    hook: &mut dyn Hook,
) -> Compilation {
    let mut at = BackTrip::new(front, options, Notes::default(), hook);
    let explicit = at.trip.door("tree", || explicit);
    at.levels_behind(explicit, &Pipelines::of(options), &Project::default());
    // Loops of a tree are turned for a stencil alone, so there is no refusal.
    at.compilation(front).unwrap_or_default()
}

/// Compiles a schedule whose passes are done. Its front has the files and the signature.
pub(super) fn lower_schedule(
    front: &Arc<Front>,
    scheduled: schedule::Tree,
    options: &PassOptions,
    hook: &mut dyn Hook,
) -> Compilation {
    let mut at = BackTrip::new(front, options, Notes::default(), hook);
    let scheduled = at.trip.door("schedule", || scheduled);
    at.trip.validate(
        "schedule",
        || schedule::validate::validate(&scheduled),
        || schedule::print::listing(&scheduled),
    );
    if at.trip.show_first(&scheduled) {
        at.levels.schedule = Some(scheduled);
        at.levels_behind_schedule(&Pipelines::of(options), None);
    }
    at.compilation(front).unwrap_or_default()
}

/// A schedule that somebody wrote.
struct WrittenSchedule<'w> {
    project: &'w Project,
    name: &'w str,
    /// The schedule before it.
    before: schedule::Tree,
    /// The choices that it leaves to passes.
    open: OpenChoices,
}

impl<'a> BackTrip<'a> {
    fn new(front: &'a Front, options: &'a PassOptions, notes: Notes, hook: &'a mut dyn Hook) -> Self {
        let levels = Levels { options: options.clone(), ..Levels::default() };
        let trip = Trip::new(hook, options, notes);
        Self { front, trip, found: Diagnostics::default(), levels, refusal: None }
    }
}

impl BackTrip<'_> {
    /// The result of the trip.
    fn compilation(self, front: &Arc<Front>) -> Result<Compilation, TurnRefusal> {
        let BackTrip { trip, found, levels, refusal, .. } = self;
        if let Some(refusal) = refusal {
            return Err(refusal);
        }
        let mut notes = trip.notes;
        notes.diagnostics.extend(front.as_written(found));
        notes.diagnostics.sort_by_key(|it| it.primary.as_ref().map(|label| label.span));
        Ok(Compilation::new(Arc::clone(front), notes, levels))
    }

    /// Lowers through all levels, as far as the passes and the schedule let it.
    fn levels_through(&mut self, pipelines: &Pipelines, project: &Project) -> Option<()> {
        let optimized = self.front.optimized.as_ref()?;
        let extents = extents(optimized);
        let explicit = self.trip.door("tree", || tree::from_oir::lower(optimized, &extents));
        self.levels_behind(explicit, pipelines, project)
    }

    /// Lowers a tree through all levels behind it.
    fn levels_behind(
        &mut self,
        explicit: tree::Tree,
        pipelines: &Pipelines,
        project: &Project,
    ) -> Option<()> {
        let options = self.trip.options;
        let trip = &mut self.trip;
        trip.validate("tree", || tree::validate::validate(&explicit), || tree::print::listing(&explicit));
        trip.show("tree", &|| tree::print::listing(&explicit));

        let mut scheduled = trip.door("schedule", || schedule::from_tree::lower(&explicit));
        if options.turned {
            match schedule::turn::turned(&scheduled) {
                Ok(turned) => scheduled = turned,
                Err(refusal) => {
                    self.refusal = Some(refusal);
                    return None;
                }
            }
        }
        trip.validate(
            "schedule",
            || schedule::validate::validate(&scheduled),
            || schedule::print::listing(&scheduled),
        );
        self.levels.tree = Some(explicit);
        self.pins(&mut scheduled);
        let written = options.schedule.as_ref().map(|name| (name.as_str(), scheduled.clone()));
        let open = match &options.schedule {
            Some(name) => self.document(project, name, &mut scheduled),
            None => Some(OpenChoices::All),
        };
        let trip = &mut self.trip;
        let is_whole = match open {
            Some(OpenChoices::All) => {
                trip.passes(&pipelines.schedule, &mut scheduled, pipelines.machine.clone())
            }
            Some(OpenChoices::Graph | OpenChoices::Nothing) => trip.show_first(&scheduled),
            None => false,
        };
        let is_legal = match &written {
            Some((name, _)) => self.hold_rules(project, name, &scheduled),
            None => true,
        };
        self.levels.schedule = Some(scheduled);
        if !is_whole || !is_legal {
            return None;
        }
        let written = written.zip(open);
        let written = written.map(|((name, before), open)| WrittenSchedule { project, name, before, open });
        self.levels_behind_schedule(pipelines, written)
    }

    /// Lowers the schedule through all levels behind it.
    fn levels_behind_schedule(
        &mut self,
        pipelines: &Pipelines,
        written: Option<WrittenSchedule<'_>>,
    ) -> Option<()> {
        let scheduled = self.levels.schedule.as_ref()?;
        let trip = &mut self.trip;
        let mut flow = trip.door("sdfg", || sdfg::from_schedule::lower(scheduled));
        trip.validate("sdfg", || sdfg::validate::validate(&flow), || sdfg::print::listing(&flow));
        flow.order = self.front.order();
        let apart = scheduled.pins.iter().filter(|it| matches!(it, Pin::Apart(_)));
        flow.apart = apart.map(|it| it.stmt()).collect();
        if written.as_ref().is_some_and(|it| it.open == OpenChoices::Nothing) {
            flow.keep_maps_apart();
        }
        let is_whole = trip.passes(&pipelines.sdfg, &mut flow, ());
        if !is_whole {
            self.levels.sdfg = Some(flow);
            return None;
        }
        let mut program = trip.door("loops", || loops::lower(&flow));
        if let Some(it) = &written {
            self.hold_bounds(it.project, it.name, (&it.before, &program))?;
        }
        let trip = &mut self.trip;
        trip.validate("loops", || loops::validate::validate(&program), || loops::print::listing(&program));
        let is_whole = trip.passes(&pipelines.loops, &mut program, pipelines.code.clone());
        let levels = &mut self.levels;
        (levels.sdfg, levels.loops, levels.is_whole) = (Some(flow), Some(program), is_whole);
        is_whole.then_some(())
    }
}
