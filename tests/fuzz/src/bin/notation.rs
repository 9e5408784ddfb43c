//! The text forms of levels and of inputs: whatever is read, prints and reads back as the same.

#![no_main]

use isobar_compiler::inputs;
use isobar_compiler::{gtir, oir, schedule};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    if let Ok(stencil) = gtir::parse::parse(text) {
        let printed = gtir::print::listing(&stencil).text;
        let again = gtir::parse::parse(&printed).expect("what is printed reads back");
        assert_eq!(gtir::print::listing(&again).text, printed);
    }
    if let Ok(stencil) = oir::parse::parse(text) {
        let printed = oir::print::listing(&stencil).text;
        let again = oir::parse::parse(&printed).expect("what is printed reads back");
        assert_eq!(oir::print::listing(&again).text, printed);
    }
    if let Ok(scheduled) = schedule::parse::parse(text) {
        let printed = schedule::print::listing(&scheduled).text;
        let again = schedule::parse::parse(&printed).expect("what is printed reads back");
        assert_eq!(schedule::print::listing(&again).text, printed);
    }
    if let Ok(generator) = inputs::parse::generator(text) {
        let printed = generator.to_string();
        assert_eq!(inputs::parse::generator(&printed).map(|it| it.to_string()), Ok(printed));
    }
});
