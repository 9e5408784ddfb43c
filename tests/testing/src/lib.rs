//! Shared by the tests of all crates: skips that are counted, and long loops as several tests.
//!
//! It depends on no other crate, so that each crate can name it as a dependency of its tests.

pub mod seeds;
pub mod shard;
pub mod skip;

pub use shard::Shard;
pub use skip::{skip, skip_part};
