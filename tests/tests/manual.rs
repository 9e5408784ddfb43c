//! What of the manual is made from the sources is as they say.

use expect_test::expect_file;
use isobar_tests::manual;

#[test]
fn the_page_of_diagnostics_is_up_to_date() {
    expect_file!["../../docs/diagnostics.md"].assert_eq(&manual::diagnostics().unwrap());
}

/// Codes without an example beside those of comment lines and schedules: those of files that are too large, of sources that only a request can break, and
/// what the language has and this compiler has not.
const WITHOUT_EXAMPLE: [&str; 3] = ["C07", "E54", "E90"];

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
