//! How far the numbers of a schedule may go, so that sums of them with the sizes of any domain stay exact.

/// So many positions a tile has at most.
pub const MOST_POSITIONS: i64 = 1 << 20;

/// So far a position may lie from the size or the variable that it counts from.
pub const MOST_DISTANCE: i64 = 1 << 20;

/// So often a size or a variable may count in a position.
pub const MOST_FACTOR: i64 = 16;
