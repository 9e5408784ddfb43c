//! The debug back end: an interpreter of OIR, statement by statement, that *defines the meaning* of a stencil.
//!
//! It runs OIR as it was lowered; every other back end must give the same bits.
//!
//! - A parallel execution is finished on all its levels before the next one starts.
//!   In a sweep, all executions are finished on one level before the next level starts.
//! - An execution runs point by point: all its statements at one point, then those at the next.
//!   A field that it writes is read only in the column of the point.
//!   In a parallel loop, a read at another level sees the value from before the execution.
//! - Parameters are written inside the compute domain only. Temporaries exist
//!   as far as they are touched, and start as NaN or the smallest integer.

mod points;
mod store;

pub mod source;

use std::ops::Range;

use crate::entity::Handle;
use crate::oir::analysis::extents::{Extents, clipped};
use crate::oir::nodes::{Field, HorizontalExecution, Section, Stencil, Stmt, Target};
use crate::space::{Extent, LoopOrder, Region};
use crate::types::Value;

use crate::call::launch::Launch;
use points::Point;
use store::DebugMemory;

pub use crate::call::run::{Control, MAX_ITERATIONS, NoControl, Stop, Trap};

/// How often a `while` asks whether to go on.
const ITERATIONS_PER_QUESTION: u64 = 1 << 12;

/// Runs a stencil. The arrays of `launch` are updated in place.
///
/// # Errors
///
/// When `control` or a fault ended the run early.
pub fn run(
    stencil: &Stencil,
    extents: &Extents,
    launch: &mut Launch,
    control: &mut dyn Control,
) -> Result<(), Stop> {
    let domain = launch.domain;
    if domain.points() == 0 {
        return Ok(());
    }
    let memory = DebugMemory::new(stencil, extents, launch);
    let locals = stencil.locals.iter().map(|(_, it)| Value::zero(it.dtype)).collect();
    let mut run = DebugRun { stencil, extents, memory, locals, control, done: 0, total: 0 };
    run.total = run.all_points();
    let result = run.vertical_loops();
    run.memory.give_back(stencil, launch);
    result
}

struct DebugRun<'a> {
    stencil: &'a Stencil,
    extents: &'a Extents,
    memory: DebugMemory,
    locals: Vec<Value>,
    control: &'a mut dyn Control,
    /// Points of statements, so far and in all.
    done: u64,
    total: u64,
}

impl DebugRun<'_> {
    fn vertical_loops(&mut self) -> Result<(), Stop> {
        let stencil = self.stencil;
        for vertical_loop in &stencil.vertical_loops {
            for section in &vertical_loop.sections {
                let levels = self.levels(section);
                match vertical_loop.order {
                    LoopOrder::Parallel => {
                        for &execution in &section.executions {
                            self.parallel(execution, levels.clone())?;
                        }
                    }
                    LoopOrder::Forward => self.sweep(section, levels)?,
                    LoopOrder::Backward => self.sweep(section, levels.rev())?,
                }
            }
        }
        Ok(())
    }

    fn levels(&self, section: &Section) -> Range<i64> {
        let n = self.memory.domain.k;
        section.interval.start.at(n).max(0)..section.interval.end.at(n).min(n)
    }

    fn sweep(&mut self, section: &Section, levels: impl Iterator<Item = i64>) -> Result<(), Stop> {
        for k in levels {
            for &execution in &section.executions {
                self.plane(execution, k)?;
            }
        }
        Ok(())
    }

    /// All levels of one execution, as if at once: reads at other points see what was there before.
    fn parallel(&mut self, execution: Handle<HorizontalExecution>, levels: Range<i64>) -> Result<(), Stop> {
        let moved = self.read_elsewhere_and_written(execution);
        moved.iter().for_each(|&it| self.memory.remember(it));
        let result = levels.into_iter().try_for_each(|k| self.plane(execution, k));
        moved.iter().for_each(|&it| self.memory.forget(it));
        result
    }

    fn read_elsewhere_and_written(&self, execution: Handle<HorizontalExecution>) -> Vec<Handle<Field>> {
        let touches = self.stencil.executions[execution].touches();
        let mut found: Vec<Handle<Field>> = Vec::new();
        for read in touches.iter().filter(|it| !it.is_write && !it.is_here()) {
            let Target::Field(field) = read.what else { continue };
            let is_written = touches.iter().any(|it| it.is_write && it.what == read.what);
            if is_written && !found.contains(&field) {
                found.push(field);
            }
        }
        found
    }

    /// One level of one execution.
    fn plane(&mut self, execution: Handle<HorizontalExecution>, k: i64) -> Result<(), Stop> {
        let stencil = self.stencil;
        let extent = self.extents.executions[execution];
        let body = stencil.executions[execution].body.as_slice();
        self.points(extent, body, k)?;
        self.done += self.points_of_plane(extent);
        if self.control.progress(self.done, self.total) { Ok(()) } else { Err(Stop::Cancelled) }
    }

    fn points(&mut self, extent: Extent, body: &[Stmt], k: i64) -> Result<(), Stop> {
        let (domain, all) = (self.memory.domain, Region::default());
        for j in clipped(extent.j, all.j, domain.j) {
            for i in clipped(extent.i, all.i, domain.i) {
                let mut go_on = || self.control.progress(self.done, self.total);
                let (memory, locals) = (&mut self.memory, self.locals.as_mut_slice());
                let mut point = Point { stencil: self.stencil, memory, cell: [i, j, k], locals };
                point.run(body, &mut go_on)?;
            }
        }
        Ok(())
    }

    fn points_of_plane(&self, extent: Extent) -> u64 {
        let along = |range: Range<i64>| u64::try_from(range.end - range.start).unwrap_or(0);
        let all = Region::default();
        along(clipped(extent.i, all.i, self.memory.domain.i))
            * along(clipped(extent.j, all.j, self.memory.domain.j))
    }

    fn all_points(&self) -> u64 {
        let sections = self.stencil.vertical_loops.iter().flat_map(|it| &it.sections);
        sections
            .map(|section| {
                let levels = u64::try_from(self.levels(section).count()).unwrap_or(0);
                let of_plane = |it: &Handle<_>| self.points_of_plane(self.extents.executions[*it]);
                levels * section.executions.iter().map(of_plane).sum::<u64>()
            })
            .sum()
    }
}

#[cfg(test)]
mod element_tests;
#[cfg(test)]
mod random_tests;
#[cfg(test)]
mod tests;
