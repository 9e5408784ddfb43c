//! The steps of a program, at the points of one tile.

use super::lanes::{self, Operands, Registers};
use super::memory::{MissingLaneElement, TileMemory};
use super::program::{Step, TileElements, While};
use super::tile::Tile;
use crate::call::run::{MAX_ITERATIONS, Stop};
use crate::diag::Origin;
use crate::npir::nodes::Stencil;
use crate::types::DType;

/// How often a `while` asks whether to go on.
const ITERATIONS_PER_QUESTION: u64 = 1 << 8;

/// Runs the steps that depend on no point, before the first tile.
pub(super) fn prologue(steps: &[Step<'_>], registers: &mut Registers) {
    for step in steps {
        match step {
            Step::Compute { run, at } => run(registers, *at, lanes::LANES),
            Step::Formula { formula, dtype, at } => {
                lanes::formula(formula, *dtype, registers, *at, lanes::LANES);
            }
            // These depend on the point.
            Step::Position { .. }
            | Step::Load { .. }
            | Step::Store { .. }
            | Step::Where { .. }
            | Step::While(_)
            | Step::Region { .. } => {}
        }
    }
}

/// Works on one tile.
pub(super) struct Worker<'a> {
    stencil: &'a Stencil,
    memory: &'a mut TileMemory,
    registers: &'a mut Registers,
    tile: Tile,
    /// The lanes that count: all of the tile, or those before the first that trapped.
    ///
    /// Point by point, these would have been done before that one; one of them may trap in a later statement still.
    n: usize,
    trap: Option<Stop>,
    /// Is asked in long loops.
    go_on: &'a mut dyn FnMut() -> bool,
}

impl<'a> Worker<'a> {
    pub(super) fn new(
        stencil: &'a Stencil,
        memory: &'a mut TileMemory,
        registers: &'a mut Registers,
        tile: Tile,
        go_on: &'a mut dyn FnMut() -> bool,
    ) -> Self {
        let n = tile.points();
        Self { stencil, memory, registers, tile, n, trap: None, go_on }
    }

    /// Runs a program at all points of the tile.
    pub(super) fn run(&mut self, steps: &[Step<'_>]) -> Result<(), Stop> {
        self.steps(steps)?;
        self.trap.take().map_or(Ok(()), Err)
    }

    fn steps(&mut self, steps: &[Step<'_>]) -> Result<(), Stop> {
        for step in steps {
            match step {
                Step::Compute { run, at } => run(self.registers, *at, self.n),
                Step::Formula { formula, dtype, at } => {
                    lanes::formula(formula, *dtype, self.registers, *at, self.n);
                }
                Step::Position { to, axis } => {
                    let to = self.registers.integers_mut(*to);
                    for (lane, to) in to[..self.n].iter_mut().enumerate() {
                        *to = self.tile.cell(lane)[*axis];
                    }
                }
                Step::Load { to, spot, mask, origin } => {
                    let loaded = self.memory.load(*to, spot, *mask, (&self.tile, self.n), self.registers);
                    self.checked(loaded, spot, origin);
                }
                Step::Store { from, spot, mask, origin } => {
                    let stored = self.memory.store(*from, spot, *mask, (&self.tile, self.n), self.registers);
                    self.checked(stored, spot, origin);
                }
                Step::Where { mask, steps } => {
                    if self.registers.mask(*mask)[..self.n].contains(&true) {
                        self.steps(steps)?;
                    }
                }
                Step::While(it) => self.repeat(it)?,
                Step::Region { region, steps } => {
                    let domain = self.memory.domain;
                    // The tile is inside of it or outside of it.
                    if region.i.contains(self.tile.i.start, domain.i)
                        && region.j.contains(self.tile.j.start, domain.j)
                    {
                        self.steps(steps)?;
                    }
                }
            }
        }
        Ok(())
    }

    fn repeat(&mut self, it: &While<'_>) -> Result<(), Stop> {
        match it.within {
            Some(within) => {
                lanes::copy(DType::Bool)(
                    self.registers,
                    Operands { to: it.active, from: [within, 0, 0] },
                    self.n,
                );
            }
            None => self.registers.mask_mut(it.active).fill(true),
        }
        let mut iterations = 0;
        loop {
            self.steps(&it.condition)?;
            self.registers.narrow(it.active, it.holds, self.n);
            let Some(first) = self.registers.mask(it.active)[..self.n].iter().position(|&it| it) else {
                return Ok(());
            };
            iterations += 1;
            if iterations > MAX_ITERATIONS {
                self.trapped(first, Stop::endless(it.origin, self.tile.cell(first)));
                return Ok(());
            }
            if iterations % ITERATIONS_PER_QUESTION == 0 && !(self.go_on)() {
                return Err(Stop::Cancelled);
            }
            self.steps(&it.body)?;
        }
    }

    fn checked(&mut self, done: Result<(), MissingLaneElement>, spot: &TileElements, origin: &Origin) {
        if let Err(MissingLaneElement { lane, place }) = done {
            let name = &self.stencil.fields[spot.field].name;
            let stop = Stop::outside(name, &place, origin, self.tile.cell(lane));
            self.trapped(lane, stop);
        }
    }

    fn trapped(&mut self, lane: usize, stop: Stop) {
        self.n = lane;
        self.trap = Some(stop);
    }
}
