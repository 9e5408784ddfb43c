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

/// The sources that have tests, as one text.
fn tested() -> String {
    let mut all = String::new();
    for folder in
        ["compiler/src", "protocol/src", "runtime/src", "native-runner/src", "native-runner/tests", "tests"]
    {
        sources(&isobar_tests::root().join(folder), &mut all);
    }
    all
}

/// Checks that a page names only tests that exist; answers how many it names.
fn names_tests(page: &str, text: &str, all: &str) -> usize {
    let mut n_named = 0;
    for part in text.split('`').skip(1).step_by(2) {
        let Some((_, name)) = part.rsplit_once("::") else { continue };
        n_named += 1;
        // A name of tests in shards stands before a colon.
        let is_there = [format!("fn {name}"), format!("struct {name}"), format!("    {name}:")];
        let is_there = is_there.iter().any(|it| all.contains(it));
        assert!(is_there, "there is no `{name}`, which {page} names as `{part}`");
    }
    n_named
}

#[test]
fn every_test_that_the_checklist_names_exists() {
    let list = std::fs::read_to_string(isobar_tests::root().join("docs/checklist.md")).unwrap();
    let n_named = names_tests("the checklist", &list, &tested());
    assert!(n_named > 30, "{n_named}");
}

#[test]
fn every_promise_of_a_runner_names_a_test_that_exists() {
    let all = tested();
    let read = |page: &str| std::fs::read_to_string(isobar_tests::root().join(page)).unwrap();
    for page in ["docs/operating.md", "docs/reliability.md", "docs/schedule.md"] {
        let text = read(page);
        // Other words with `::` are names of log lines.
        let tests = text.split("(test").skip(1).filter_map(|it| it.split(')').next());
        for it in tests {
            names_tests(page, it, &all);
        }
    }
    let page = read("SECURITY.md");
    let promised = page.split("## What is promised").nth(1).unwrap().split("\n## ").next().unwrap();
    let without: Vec<&str> = promised
        .lines()
        .filter(|it| it.starts_with("- "))
        .filter(|it| it.split("(test").skip(1).all(|it| names_tests("SECURITY.md", it, &all) == 0))
        .collect();
    assert_eq!(without, Vec::<&str>::new(), "promises without a test");
}
