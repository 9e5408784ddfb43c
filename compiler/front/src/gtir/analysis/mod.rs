//! Facts about GTIR, and the rules that rest on them.

pub mod dependencies;
pub mod k_boundary;
pub mod min_levels;
pub mod recurrence;
