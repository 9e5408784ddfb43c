//! The number of a cell, by which a device tells the first one of several at which a run must end.
//!
//! Cells of one [`TrapSlot`](super::nodes::TrapSlot) are numbered in the order in which `debug` visits them:
//! by iteration of the sweep, then by level, row and column. So a device needs one 32-bit word for each
//! place, in which it keeps the least of all numbers.

use super::nodes::{Kernels, TrapSlot};
use crate::space::{Affine, Axis, Domain};

/// A word in which nothing was noted.
pub const NONE: u32 = u32::MAX;

/// How cells of a place are numbered: `(level * rows + (j + halo)) * columns + (i + halo)`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Numbering {
    /// `level` is this: the turn, or where turns have no order, the level; counted from 0.
    pub level: Affine,
    /// Of the cell; 0 along an axis without a loop.
    pub cell: [Affine; 3],
    pub halo: i64,
}

impl TrapSlot {
    /// How its cells are numbered.
    #[must_use]
    pub fn numbering(&self, halo: i64) -> Numbering {
        let cell = self.trap.cell.clone();
        let k = &cell[Axis::K.index()];
        let none = Affine::default();
        let level = if self.is_descending() {
            // K - 1 - k is the first turn.
            &Affine::beside(&crate::space::Symbol::new(Axis::K.name()), halo - 1) - k
        } else if self.trap.turn == none {
            k.clone().moved(halo)
        } else {
            self.trap.turn.clone().moved(halo)
        };
        Numbering { level, cell, halo }
    }

    /// Whether its sweep goes down.
    fn is_descending(&self) -> bool {
        let k = &self.trap.cell[Axis::K.index()];
        self.trap.turn != Affine::default() && self.trap.turn == &Affine::default() - k
    }

    /// The cell of a number.
    #[must_use]
    pub fn cell_of(&self, number: u32, halo: i64, domain: Domain) -> [i64; 3] {
        let (columns, rows) = (domain.i + 2 * halo, domain.j + 2 * halo);
        let number = i64::from(number);
        let (i, rest) = (number % columns - halo, number / columns);
        let (j, level) = (rest % rows - halo, rest / rows);
        let k = if self.is_descending() { domain.k + halo - 1 - level } else { level - halo };
        let has =
            |axis: Axis, at: i64| if self.trap.cell[axis.index()] == Affine::default() { 0 } else { at };
        [has(Axis::I, i), has(Axis::J, j), has(Axis::K, k)]
    }
}

impl Kernels {
    /// Whether all cells of a domain have numbers below [`NONE`].
    #[must_use]
    pub fn can_number(&self, domain: Domain) -> bool {
        if self.places.is_empty() {
            return true;
        }
        let along = |n: i64| n.saturating_add(2 * self.halo);
        let all = along(domain.i).saturating_mul(along(domain.j)).saturating_mul(along(domain.k));
        all < i64::from(NONE)
    }
}
