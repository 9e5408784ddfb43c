//! What of the manual is made from the sources is as they say.

use expect_test::expect_file;
use isobar_tests::manual;

#[test]
fn the_page_of_diagnostics_is_up_to_date() {
    expect_file!["../../docs/diagnostics.md"].assert_eq(&manual::diagnostics().unwrap());
}

/// Codes without an example beside those of comment lines and schedules: those of files that are too large, of arrays that a program lends,
/// of sources that only a request can break, and
/// what the language has and this compiler has not.
const WITHOUT_EXAMPLE: [&str; 4] = ["C07", "C08", "E54", "E90"];

#[test]
fn every_code_of_the_language_has_an_example() {
    let page = manual::diagnostics().unwrap();
    let without: Vec<&str> = page
        .split("\n## ")
        .skip(1)
        .filter(|it| !it.contains("```python"))
        .filter_map(|it| it.split(':').next())
        .filter(|it| !it.starts_with(['D', 'S']) && !WITHOUT_EXAMPLE.contains(it))
        .collect();
    assert_eq!(without, Vec::<&str>::new());
}

/// Files of Rust below a folder, as one text.
fn sources(folder: &std::path::Path, all: &mut String) {
    for entry in std::fs::read_dir(folder).expect("the sources are there") {
        let path = entry.expect("it is a file or a folder").path();
        if path.is_dir() {
            sources(&path, all);
        } else if path.extension().is_some_and(|it| it == "rs") {
            all.push_str(&std::fs::read_to_string(&path).expect("it is text"));
        }
    }
}

#[test]
fn every_test_that_the_checklist_names_exists() {
    let list = std::fs::read_to_string(isobar_tests::root().join("docs/checklist.md")).unwrap();
    let mut all = String::new();
    for folder in ["compiler/src", "runtime/src", "native-runner/tests", "tests"] {
        sources(&isobar_tests::root().join(folder), &mut all);
    }
    let mut n_named = 0;
    for part in list.split('`').skip(1).step_by(2) {
        let Some((_, name)) = part.rsplit_once("::") else { continue };
        n_named += 1;
        // A name of tests in shards stands before a colon.
        let is_there = [format!("fn {name}"), format!("struct {name}"), format!("    {name}:")];
        let is_there = is_there.iter().any(|it| all.contains(it));
        assert!(is_there, "there is no `{name}`, which the checklist names as `{part}`");
    }
    assert!(n_named > 30, "{n_named}");
}
