//! The back ends that run a level as it stands. `debug` defines the meaning, and `numpy` is faster.

use isobar_front::oir;
use isobar_ground::{call, diag, emit, entity, expr, for_elements, space, types};

// The level of whole arrays.
pub mod npir;

// Common parts of the Python texts of both.
pub mod python;

// Back ends.
pub mod debug;
pub mod numpy;
