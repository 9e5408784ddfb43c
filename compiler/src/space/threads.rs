//! How many threads share the positions of a tile.

/// As many threads as run in step.
const GROUP: i64 = 32;

/// Threads along a tile of so many positions: those of a whole group where they are more than one, since what a tile
/// needs beside itself is then computed by threads that would have nothing to do.
#[must_use]
pub fn of_tile(positions: i64) -> i64 {
    if positions > GROUP { (positions + GROUP - 1) / GROUP * GROUP } else { positions }
}
