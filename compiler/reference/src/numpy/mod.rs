//! The numpy back end: NPIR, executed as operations on whole arrays, and printed as NumPy source.
//!
//! A block is compiled once into operations on registers of many lanes. It then runs tile by tile, so that
//! values passed between two statements stay in the cache. Fields that a block writes are read in it only in
//! the current column, so the result is the same as statement by statement. The operations are those of the
//! interpreter, and so are the bits.
//!
//! If all statements that may trap are in one block, a run ends with the trap that the interpreter reports.
//! If two traps are in blocks that passes have merged or moved, it may end with the other one.

mod lanes;
mod program;
mod compile;
mod tile;
mod memory;
mod execute;

pub mod source;

use std::ops::Range;

use crate::call::launch::Launch;
use crate::call::run::{Control, Stop};
use crate::npir::nodes::Stencil;
use crate::space::{LoopOrder, Reach};
use execute::Worker;
use lanes::Registers;
use memory::TileMemory;
use program::{Block, Pass};
use tile::Tile;

/// Runs a stencil. The arrays of `launch` are updated in place.
///
/// # Errors
///
/// When `control` or a fault ended the run early.
pub fn run(stencil: &Stencil, launch: &mut Launch, control: &mut dyn Control) -> Result<(), Stop> {
    if launch.domain.points() == 0 {
        return Ok(());
    }
    let (memory, scalars) = TileMemory::new(stencil, launch);
    let program = compile::compile(stencil, &scalars);
    let mut registers = Registers::new(program.counts);
    for &(reg, value) in &program.constants {
        registers.fill(reg, value);
    }
    execute::prologue(&program.prologue, &mut registers);
    let total = program.passes.iter().map(|it| points(it, &memory)).sum();
    let mut run = NumpyRun { stencil, memory, registers, control, done: 0, total };
    let result = program.passes.iter().try_for_each(|it| run.pass(it));
    run.memory.give_back(stencil, launch);
    result
}

struct NumpyRun<'a> {
    stencil: &'a Stencil,
    memory: TileMemory,
    registers: Registers,
    control: &'a mut dyn Control,
    /// Points of blocks, so far and in all.
    done: u64,
    total: u64,
}

impl NumpyRun<'_> {
    fn pass(&mut self, pass: &Pass<'_>) -> Result<(), Stop> {
        let levels = levels(pass, &self.memory);
        let tiles: Vec<Vec<Tile>> = pass.blocks.iter().map(|it| tiles(it, &self.memory)).collect();
        let blocks = || pass.blocks.iter().zip(&tiles);
        match pass.order {
            LoopOrder::Parallel => blocks().try_for_each(|(block, tiles)| {
                block.kept.iter().for_each(|&it| self.memory.keep(it));
                let result = levels.clone().try_for_each(|k| self.plane(block, tiles, k));
                block.kept.iter().for_each(|&it| self.memory.forget(it));
                result
            }),
            LoopOrder::Forward => levels
                .into_iter()
                .try_for_each(|k| blocks().try_for_each(|(it, tiles)| self.plane(it, tiles, k))),
            LoopOrder::Backward => {
                levels.rev().try_for_each(|k| blocks().try_for_each(|(it, tiles)| self.plane(it, tiles, k)))
            }
        }
    }

    /// One level of one block.
    fn plane(&mut self, block: &Block<'_>, tiles: &[Tile], k: i64) -> Result<(), Stop> {
        for tile in tiles {
            let mut go_on = || self.control.progress(self.done, self.total);
            let tile = Tile { k, ..tile.clone() };
            let mut worker =
                Worker::new(self.stencil, &mut self.memory, &mut self.registers, tile, &mut go_on);
            worker.run(&block.steps)?;
        }
        self.done += tiles.iter().map(|it| it.points() as u64).sum::<u64>();
        if self.control.progress(self.done, self.total) { Ok(()) } else { Err(Stop::Cancelled) }
    }
}

fn tiles(block: &Block<'_>, memory: &TileMemory) -> Vec<Tile> {
    tile::tiles(block.extent, &block.regions, memory.domain, block.may_trap)
}

fn levels(pass: &Pass<'_>, memory: &TileMemory) -> Range<i64> {
    let n = memory.domain.k;
    pass.interval.start.at(n).max(0)..pass.interval.end.at(n).min(n)
}

/// Points of all blocks of a pass, on all their levels.
fn points(pass: &Pass<'_>, memory: &TileMemory) -> u64 {
    let levels = levels(pass, memory).count() as u64;
    let along = |reach: Reach, size: i64| {
        u64::try_from(size + i64::from(reach.hi) - i64::from(reach.lo)).unwrap_or(0)
    };
    let of_plane = |it: &Block<'_>| along(it.extent.i, memory.domain.i) * along(it.extent.j, memory.domain.j);
    levels * pass.blocks.iter().map(of_plane).sum::<u64>()
}
