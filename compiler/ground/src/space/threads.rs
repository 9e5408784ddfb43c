//! How many threads share the positions of a tile.

/// As many threads as run in step.
const GROUP: i64 = 32;

/// Returns the number of threads along a tile of so many positions. More threads than a group are rounded up
/// to whole groups. The additional threads would be idle; they compute positions that the tile needs beside
/// itself.
#[must_use]
pub fn of_tile(positions: i64) -> i64 {
    if positions > GROUP { (positions + GROUP - 1) / GROUP * GROUP } else { positions }
}
