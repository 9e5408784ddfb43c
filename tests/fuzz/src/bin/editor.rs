//! Whatever an editor asks about any text, half typed or nonsense.

#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    isobar_fuzz::keep(text);
    isobar_fuzz_targets::editor(text.as_bytes());
});
