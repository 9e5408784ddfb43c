//! Links that hold a workspace: as they come, and what they unpack to.

#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| isobar_fuzz_targets::link(text.as_bytes()));
