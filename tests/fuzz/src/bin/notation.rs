//! The text forms of levels and of inputs: whatever is read can be printed.

#![no_main]

use isobar_compiler::inputs;
use isobar_compiler::{gtir, oir, schedule};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    // Whether levels read back as they were is asked of generated ones; here of any text that nothing falls over.
    if let Ok(stencil) = gtir::parse::parse(text) {
        let _ = gtir::print::listing(&stencil);
    }
    if let Ok(stencil) = oir::parse::parse(text) {
        let _ = oir::print::listing(&stencil);
    }
    if let Ok(scheduled) = schedule::parse::parse(text) {
        let _ = schedule::print::listing(&scheduled);
    }
    if let Ok(generator) = inputs::parse::generator(text) {
        let printed = generator.to_string();
        assert_eq!(inputs::parse::generator(&printed).map(|it| it.to_string()), Ok(printed));
    }
});
