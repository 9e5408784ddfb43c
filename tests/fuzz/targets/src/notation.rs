//! The text forms of levels and of inputs: each text that is read can be printed.

use isobar_compiler::inputs;
use isobar_compiler::{gtir, oir, schedule};

pub fn notation(input: &[u8]) {
    let Ok(text) = std::str::from_utf8(input) else { return };
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
}
