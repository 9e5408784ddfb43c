//! Every stencil of the conformance pages does what its page says.

use std::fmt::Write;

use isobar_tests::conformance::{all_blocks, check};

#[test]
fn every_stencil_of_the_pages_does_what_its_page_says() {
    let mut wrong = String::new();
    let mut count = 0;
    for (page, block) in all_blocks() {
        count += 1;
        let checked = std::panic::catch_unwind(|| check(&block));
        let why = match checked {
            Ok(Ok(())) => continue,
            Ok(Err(why)) => format!("{why:#}"),
            Err(_) => "it panics".to_owned(),
        };
        let _ = writeln!(wrong, "{page}:{}, {}\n{why}\n", block.line, block.heading);
    }
    assert!(wrong.is_empty(), "of {count} stencils:\n\n{wrong}");
}
