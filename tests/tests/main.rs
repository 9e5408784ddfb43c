//! The tests that cross rooms, as one program: linking happens once.
//!
//! `cargo test -p isobar-tests conformance::` runs those of one module. `cargo xtask tidy` finds a file that is missing
//! here.

mod advice;
mod agreed;
mod bridge;
mod builtins;
mod by_hand;
mod client_text;
mod conformance;
mod cut;
mod emulation;
mod equivalence;
mod exported;
mod exported_callers;
mod exported_programs;
mod features;
mod fixes;
mod gallery;
mod generated_c;
mod golden;
mod gpu;
mod machine_code;
mod manual;
mod math_accuracy;
mod math_bits;
mod numpy;
mod programs;
mod ranks;
mod read_back;
mod schedule;
mod shared;
mod sdfg_files;
mod snapshots;
mod texts;
mod tiles;
