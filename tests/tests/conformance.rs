//! Every stencil of the conformance pages does what its page says.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on may end")]

use std::fmt::Write;
use std::path::PathBuf;

use isobar_tests::conformance::{blocks, check};
use isobar_tests::root;

fn pages() -> Vec<(String, String)> {
    let folder = root().join("tests/conformance");
    let mut paths: Vec<PathBuf> = std::fs::read_dir(folder).unwrap().map(|it| it.unwrap().path()).collect();
    paths.retain(|it| it.extension().is_some_and(|it| it == "md"));
    paths.sort();
    let name = |it: &PathBuf| it.file_name().unwrap().to_string_lossy().into_owned();
    paths.iter().map(|it| (name(it), std::fs::read_to_string(it).unwrap())).collect()
}

#[test]
fn every_stencil_of_the_pages_does_what_its_page_says() {
    let mut wrong = String::new();
    let mut count = 0;
    for (name, page) in pages() {
        for block in blocks(&page) {
            count += 1;
            let checked = std::panic::catch_unwind(|| check(&block));
            let why = match checked {
                Ok(Ok(())) => continue,
                Ok(Err(why)) => format!("{why:#}"),
                Err(_) => "it panics".to_owned(),
            };
            let _ = writeln!(wrong, "{name}:{}, {}\n{why}\n", block.line, block.heading);
        }
    }
    assert!(wrong.is_empty(), "of {count} stencils:\n\n{wrong}");
    println!("{count} stencils");
}
