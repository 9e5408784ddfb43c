//! The compiled form of blocks: operations on registers, with loads and stores around them.

use super::lanes::{Compute, Operands, Reg};
use crate::diag::Origin;
use crate::entity::Handle;
use crate::npir::nodes::Field;
use crate::space::{Extent, Interval, LoopOrder, Offset, Region};
use crate::types::math::formula::Formula;
use crate::types::{DType, Value};

/// A whole stencil.
#[derive(Debug)]
pub(super) struct Program<'a> {
    /// How many registers there are of each type.
    pub(super) counts: [usize; DType::ALL.len()],
    /// Registers that hold one value all the time.
    pub(super) constants: Vec<(Reg, Value)>,
    /// Steps that depend on the constants alone, computed once.
    pub(super) prologue: Vec<Step<'a>>,
    pub(super) passes: Vec<Pass<'a>>,
}

/// A range of levels.
#[derive(Debug)]
pub(super) struct Pass<'a> {
    pub(super) order: LoopOrder,
    pub(super) interval: Interval,
    pub(super) blocks: Vec<Block<'a>>,
}

/// A range of columns.
#[derive(Debug)]
pub(super) struct Block<'a> {
    pub(super) extent: Extent,
    /// The fields to copy before.
    pub(super) kept: Vec<Handle<Field>>,
    /// All that limit a part of it.
    pub(super) regions: Vec<Region>,
    /// Whether it may end the run at some point.
    pub(super) may_trap: bool,
    pub(super) steps: Vec<Step<'a>>,
}

/// One thing to do for all points of a tile.
#[derive(Debug)]
pub(super) enum Step<'a> {
    Compute {
        run: Compute,
        at: Operands,
    },
    Formula {
        formula: &'static Formula,
        dtype: DType,
        at: Operands,
    },
    /// The positions along an axis, into a register of 64-bit integers.
    Position {
        to: usize,
        axis: usize,
    },
    Load {
        to: Reg,
        spot: TileElements,
        mask: Option<usize>,
        origin: &'a Origin,
    },
    Store {
        from: Reg,
        spot: TileElements,
        mask: Option<usize>,
        origin: &'a Origin,
    },
    /// Does this only where the mask is true anywhere.
    Where {
        mask: usize,
        steps: Vec<Step<'a>>,
    },
    While(Box<While<'a>>),
    Region {
        region: Region,
        steps: Vec<Step<'a>>,
    },
}

/// A loop of each point's own.
#[derive(Debug)]
pub(super) struct While<'a> {
    /// The mask of the points that go on.
    pub(super) active: usize,
    pub(super) within: Option<usize>,
    pub(super) condition: Vec<Step<'a>>,
    /// The register with the result of the condition.
    pub(super) holds: usize,
    pub(super) body: Vec<Step<'a>>,
    pub(super) origin: &'a Origin,
}

/// Elements of a field, seen from the points of a tile.
#[derive(Clone, Debug)]
pub(super) struct TileElements {
    pub(super) field: Handle<Field>,
    /// Whether the copy is meant that was made before the block.
    pub(super) is_kept: bool,
    pub(super) offset: Offset,
    pub(super) level: LevelIndex,
    pub(super) data: Vec<Datum>,
}

/// Which level.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LevelIndex {
    /// That of the offset.
    Offset,
    /// As many above the point as a register says.
    Above(usize),
    /// The one that a register says.
    At(usize),
}

/// An index of a data dimension.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Datum {
    Literal(i64),
    /// In a register.
    Found(usize),
}

impl TileElements {
    /// Whether all points mean elements that lie as the points do.
    pub(super) fn is_regular(&self) -> bool {
        self.level == LevelIndex::Offset && self.data.iter().all(|it| matches!(it, Datum::Literal(_)))
    }
}
