//! The debug back end: an interpreter of OIR, statement by statement, that *defines the meaning* of a stencil.
//!
//! It runs OIR as it was lowered; every other back end must give the same bits.
//!
//! - A parallel execution is finished on all its levels before the next one
//!   starts; in a sweep, all executions are finished on one level before the next.
//! - An assignment is evaluated before it is stored. An execution that branches
//!   or loops, or has several statements, runs point by point (or as if); nothing
//!   it writes is read beside the point, and a read at another level sees, in a
//!   parallel loop, the values from before the execution.
//! - Parameters are written inside the compute domain only. Temporaries exist
//!   as far as they are touched, and start as NaN or the smallest integer.

mod points;
mod rows;
mod store;

use std::fmt;
use std::ops::Range;

use crate::diag::Origin;
use crate::entity::{Handle, SideTable};
use crate::oir::analysis::extents::{Extents, clipped};
use crate::oir::nodes::{Field, HorizontalExecution, Section, Stencil, Stmt, StmtKind, Target};
use crate::space::{Extent, LoopOrder, Region};
use crate::types::Value;

use super::launch::Launch;
use points::Point;
use rows::{Points, Rows};
use store::{Memory, Outside};

/// At most this many iterations of one `while` at one point.
pub const MAX_ITERATIONS: u64 = 1_000_000;

/// How often a `while` asks whether to go on.
const ITERATIONS_PER_QUESTION: u64 = 1 << 12;

/// Watches a run, and may end it.
pub trait Control {
    /// Is told now and then how many points of how many are done; answers whether to go on.
    fn progress(&mut self, done: u64, total: u64) -> bool;
}

/// Watches nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoControl;

impl Control for NoControl {
    fn progress(&mut self, _done: u64, _total: u64) -> bool {
        true
    }
}

/// Why a run ended before its end. The fields then hold what was computed so far.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stop {
    /// [`Control`] said so.
    Cancelled,
    /// The stencil did what it must not.
    Trap(Trap),
}

/// A fault at one point of one statement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trap {
    /// One sentence, lower-case, without a final dot.
    pub message: String,
    pub origin: Origin,
    /// Position i, j, k in the compute domain.
    pub cell: [i64; 3],
}

impl fmt::Display for Stop {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Stop::Cancelled => f.write_str("cancelled"),
            Stop::Trap(Trap { message, origin, cell: [i, j, k] }) => {
                write!(f, "{message}, in {} at i={i}, j={j}, k={k}", origin.stmt)
            }
        }
    }
}

impl std::error::Error for Stop {}

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
    let memory = Memory::new(stencil, extents, launch);
    let locals = stencil.locals.iter().map(|(_, it)| Value::zero(it.dtype)).collect();
    let mut runs_by_point = SideTable::default();
    for (execution, it) in stencil.executions.iter() {
        // What passes have merged runs point by point, which would show a merge that is not legal.
        // So does what finds its elements at run time.
        let is_merged = it.body.len() > 1 || !stencil.locals.is_empty();
        runs_by_point.insert(execution, is_merged || it.has_elements());
    }
    let mut run = Run { stencil, extents, runs_by_point, memory, locals, control, done: 0, total: 0 };
    run.total = run.all_points();
    let result = run.vertical_loops();
    run.memory.give_back(stencil, launch);
    result
}

struct Run<'a> {
    stencil: &'a Stencil,
    extents: &'a Extents,
    /// Whether an execution runs point by point, and not along rows.
    runs_by_point: SideTable<HorizontalExecution, bool>,
    memory: Memory,
    locals: Vec<Value>,
    control: &'a mut dyn Control,
    /// Points of statements, so far and in all.
    done: u64,
    total: u64,
}

impl Run<'_> {
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
        if self.runs_by_point[execution] {
            self.points(extent, body, k)?;
        } else {
            self.rows(extent, body, k)?;
        }
        self.done += self.points_of_plane(extent);
        if self.control.progress(self.done, self.total) { Ok(()) } else { Err(Stop::Cancelled) }
    }

    fn rows(&mut self, extent: Extent, body: &[Stmt], k: i64) -> Result<(), Stop> {
        // The region of a block is taken off here, so that rows outside cost nothing.
        let (region, body) = match body {
            [Stmt { kind: StmtKind::Region { region, body }, .. }] => (*region, body.as_slice()),
            body => (Region::default(), body),
        };
        let domain = self.memory.domain;
        let i = clipped(extent.i, region.i, domain.i);
        if i.is_empty() {
            return Ok(());
        }
        for j in clipped(extent.j, region.j, domain.j) {
            let mut go_on = || self.control.progress(self.done, self.total);
            let mut rows = Rows { stencil: self.stencil, memory: &mut self.memory, go_on: &mut go_on };
            rows.run(body, &Points { i: i.clone(), j, k }, None)?;
        }
        Ok(())
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

fn endless(stmt: &Stmt, cell: [i64; 3]) -> Stop {
    let message = format!("a `while` loop did not end within {MAX_ITERATIONS} iterations");
    Stop::Trap(Trap { message, origin: stmt.origin.clone(), cell })
}

fn outside(stencil: &Stencil, fault: &Outside, origin: &Origin) -> Stop {
    let name = &stencil.fields[fault.field].name;
    let message = format!("`{name}{}` does not exist", fault.place);
    Stop::Trap(Trap { message, origin: origin.clone(), cell: fault.cell })
}

#[cfg(test)]
mod element_tests;
#[cfg(test)]
mod random_tests;
#[cfg(test)]
mod tests;
