//! The ranks that cut a tile, or the six faces of a cube.
//!
//! ```text
//!        one tile, 3 x 2 ranks                  a cube, 1 x 1 ranks on each face
//!
//!   j ^  +----+----+----+                          +---+---+
//!     |  | 3  | 4  | 5  |                          | 4 | 5 |     Odd faces have the next one at their north,
//!     |  +----+----+----+                      +---+---+---+     and even ones at their east. The other two
//!     |  | 0  | 1  | 2  |                      | 2 | 3 |         edges are turned: north of face 0 is the
//!     +--+----+----+----+--> i             +---+---+---+         west of face 2.
//!                                          | 0 | 1 |
//!                                          +---+---+
//! ```

mod plan;
#[cfg(test)]
mod tests;

use isobar_ground::space::Axis;
pub use plan::planned;

use crate::interpret::HaloFill;

/// How ranks cut a domain. Ranks are counted along I first, then along J, then over the faces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RankGrid {
    pub topology: Topology,
    /// Ranks of a tile or face along I and J.
    pub layout: [u32; 2],
}

/// The neighbours of a tile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Topology {
    /// One tile, whose outer halo is filled so.
    Tile(HaloFill),
    /// Six faces, which are neighbours of each other.
    Cube,
}

/// The faces of a cube.
const N_FACES: i64 = 6;

/// A rank by its tile, and its place there along I and J.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RankPlace {
    pub tile: i64,
    pub at: [i64; 2],
}

/// The neighbour of a rank in some direction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RankBeside {
    pub place: RankPlace,
    /// The steps to it along I and J. At an outer edge of a tile, a direction has none.
    pub moved: [i64; 2],
    /// Quarters by which its axes are turned: `+i` here is `+j` there for one, `-i` for two, and `-j` for three.
    pub turns: usize,
}

impl RankGrid {
    /// The tiles.
    #[must_use]
    pub fn n_tiles(&self) -> u32 {
        match self.topology {
            Topology::Tile(_) => 1,
            Topology::Cube => 6,
        }
    }

    /// The ranks of all tiles.
    #[must_use]
    pub fn n_ranks(&self) -> u32 {
        let [i, j] = self.layout;
        self.n_tiles().saturating_mul(i).saturating_mul(j)
    }

    /// The compute domain of each rank.
    ///
    /// # Errors
    ///
    /// Why the ranks cannot cut a domain of this size.
    pub fn domain_of_rank(&self, whole: [i64; 3]) -> Result<[i64; 3], String> {
        let [i, j, k] = whole;
        for (axis, n, ranks) in [(Axis::I, i, self.layout[0]), (Axis::J, j, self.layout[1])] {
            if ranks == 0 || n % i64::from(ranks) != 0 {
                return Err(format!("{n} points along {axis} are not cut into {ranks} equal parts"));
            }
        }
        let [ranks_i, ranks_j] = self.layout.map(i64::from);
        if self.topology == Topology::Cube && (i != j || ranks_i != ranks_j) {
            return Err(format!(
                "faces of a cube are square, and these have {i}x{j} points on {ranks_i}x{ranks_j} ranks"
            ));
        }
        Ok([i / ranks_i, j / ranks_j, k])
    }

    /// The tile of a rank, and the place of the rank there, along I and J.
    #[must_use]
    pub fn tile_and_place(&self, rank: u32) -> (u32, [u32; 2]) {
        let [i, j] = self.layout.map(|it| it.max(1));
        (rank / (i * j), [rank % i, rank / i % j])
    }

    /// Whether edges of the tile are a rank's own, where they are the whole domain's.
    #[must_use]
    pub fn edges_of_rank(&self, rank: u32, of_whole: [bool; 4]) -> [bool; 4] {
        let (_, [i, j]) = self.tile_and_place(rank);
        let [n_i, n_j] = self.layout;
        let [west, east, south, north] = of_whole;
        [west && i == 0, east && i + 1 == n_i, south && j == 0, north && j + 1 == n_j]
    }

    fn place(&self, rank: u32) -> RankPlace {
        let (tile, at) = self.tile_and_place(rank);
        RankPlace { tile: i64::from(tile), at: at.map(i64::from) }
    }

    fn rank(&self, place: RankPlace) -> u32 {
        let [i, j] = self.layout.map(i64::from);
        let rank = (place.tile * j + place.at[1]) * i + place.at[0];
        u32::try_from(rank).expect("a place lies in the layout")
    }

    /// The neighbour in a direction of -1, 0 and 1 along I and J. Around the corners of a cube there is none.
    fn beside(&self, from: RankPlace, direction: [i64; 2]) -> Option<RankBeside> {
        let layout = self.layout.map(i64::from);
        let beyond = [0, 1].map(|axis| from.at[axis] + direction[axis]);
        let leaves = [0, 1].map(|axis| !(0..layout[axis]).contains(&beyond[axis]));
        let unturned = |at, moved| Some(RankBeside { place: RankPlace { at, ..from }, moved, turns: 0 });
        match self.topology {
            Topology::Tile(HaloFill::Periodic) => {
                unturned([0, 1].map(|axis| beyond[axis].rem_euclid(layout[axis])), direction)
            }
            Topology::Tile(HaloFill::None | HaloFill::ZeroGradient) => {
                let moved = [0, 1].map(|axis| if leaves[axis] { 0 } else { direction[axis] });
                unturned([0, 1].map(|axis| from.at[axis] + moved[axis]), moved)
            }
            Topology::Cube => {
                let axis = match leaves {
                    [false, false] => return unturned(beyond, direction),
                    [true, false] => 0,
                    [false, true] => 1,
                    [true, true] => return None,
                };
                let (step, turns) = across(from.tile, axis, direction[axis]);
                let mut at = beyond;
                at[axis] = at[axis].rem_euclid(layout[axis]);
                // Ranks of a face are a square: their middles turn as points do.
                let at = turned(at.map(|it| 2 * it + 1), 2 * layout[0], turns).map(|it| it / 2);
                let tile = (from.tile + step).rem_euclid(N_FACES);
                Some(RankBeside { place: RankPlace { tile, at }, moved: direction, turns })
            }
        }
    }
}

/// The face behind an edge, counted from this one, and the quarters by which it is turned.
fn across(face: i64, axis: usize, side: i64) -> (i64, usize) {
    match (face % 2 == 0, axis, side > 0) {
        (true, 0, true) => (1, 0),
        (true, 0, false) => (-2, 1),
        (true, _, true) => (2, 3),
        (true, _, false) => (-1, 0),
        (false, 0, true) => (2, 1),
        (false, 0, false) => (-1, 0),
        (false, _, true) => (1, 0),
        (false, _, false) => (-2, 3),
    }
}

/// A point of a square that has its corner at zero, as a square that is turned has it.
fn turned([a, b]: [i64; 2], size: i64, turns: usize) -> [i64; 2] {
    match turns % 4 {
        0 => [a, b],
        1 => [size - b, a],
        2 => [size - a, size - b],
        _ => [b, size - a],
    }
}
