//! The text forms of levels and of inputs: whatever is read can be printed.

#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| isobar_fuzz_targets::notation(text.as_bytes()));
