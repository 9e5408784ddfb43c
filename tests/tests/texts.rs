//! The text of the stage `python` runs under a Python without any package, and gives the bits of `debug`.

use std::path::Path;

use isobar_compiler::pipeline::Stage;
use isobar_compiler::space::Domain;
use isobar_tests::agree::prepare::call;
use isobar_tests::agree::subject::Subject;
use isobar_tests::root;
use isobar_tests::texts::{run_all, write_case};

/// Generated stencils beside those of the gallery.
const GENERATED: u64 = 40;

#[test]
fn python_texts_give_the_bits_of_debug_under_a_plain_python() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("python-texts");
    let _ = std::fs::remove_dir_all(&folder);
    let domain = Domain::new(5, 4, 6);
    let mut subjects = Subject::of_folder("gallery", &root().join("static/gallery"), domain).unwrap();
    subjects.extend(Subject::of_folder("facts", &root().join("tests/golden/facts"), domain).unwrap());
    subjects.extend(Subject::generated(GENERATED));
    let mut written = 0;
    for (number, subject) in subjects.iter().enumerate() {
        let compilation = subject.compile();
        // Some of the facts are what is refused.
        let Some(listing) = compilation.listing(Stage::PYTHON).filter(|_| !compilation.has_errors()) else {
            continue;
        };
        // Functions that the text leaves to Python's library have the bits of that library, so no such text
        // is run.
        if listing.text.contains("def platform") {
            continue;
        }
        let signature = compilation.front.signature.as_ref().unwrap();
        let launch = compilation.front.bind(call(subject, &compilation, signature).unwrap()).unwrap();
        written += usize::from(
            write_case(&folder.join(format!("{number:03}")), Stage::PYTHON, &compilation, &launch).unwrap(),
        );
    }
    let (ran, wrong) = run_all(Path::new("python3"), &folder).unwrap();
    assert_eq!(ran, written);
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert!(ran > 50, "only {ran} ran");
}
