//! Request documents, as they come over a wire.

#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| isobar_fuzz_targets::request(text.as_bytes()));
