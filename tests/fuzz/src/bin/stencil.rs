//! Any text, in a file of any name, through every level, and run on a tiny domain. Its C holds nothing but what may
//! stand in C.

#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    isobar_fuzz::keep(text);
    isobar_fuzz_targets::stencil(text.as_bytes());
});
