//! Loops and kernels, and the code generators that write them as C, CUDA and WGSL. The generators decide nothing.

use isobar_ground::{call, diag, emit, entity, expr, pass, space, target, types};
use isobar_middle::sdfg;

// The levels.
pub mod loops;
pub mod kernel;

// Common parts of the code generators: blocks in braces, indices of elements, languages like C.
mod braces;
mod elements;
pub mod c_family;

// The code generators.
pub mod c;
pub mod cuda;
pub mod wgsl;
