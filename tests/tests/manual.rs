//! The generated parts of the manual are as the sources say, and the ticks of the checklist are shown.

use expect_test::expect_file;
use isobar_compiler::schedule::step;
use isobar_compiler::sdfg;
use isobar_tests::checklist::faults;
use isobar_tests::{manual, root};

#[test]
fn the_page_of_diagnostics_is_up_to_date() {
    expect_file!["../../docs/diagnostics.md"].assert_eq(&manual::diagnostics().unwrap());
}

/// Codes without an example, beside those of comment lines, programs and schedules. They concern files that are too
/// large, arrays that a program lends, sources that only a request can break, and features that the compiler
/// lacks.
const WITHOUT_EXAMPLE: [&str; 4] = ["C07", "C08", "E54", "E90"];

#[test]
fn every_code_of_the_language_has_an_example() {
    let page = manual::diagnostics().unwrap();
    let without: Vec<&str> = page
        .split("\n## ")
        .skip(1)
        .filter(|it| !it.contains("```python"))
        .filter_map(|it| it.split(':').next())
        .filter(|it| !it.starts_with(['D', 'P', 'S']) && !WITHOUT_EXAMPLE.contains(it))
        .collect();
    assert_eq!(without, Vec::<&str>::new());
}

#[test]
fn the_page_of_schedules_has_steps_that_are_some_and_every_pass_of_the_graph() {
    let page = std::fs::read_to_string(root().join("docs/schedule.md")).unwrap();
    let (_, table) = page.split_once("| step | what it does | refused, where |\n").unwrap();
    let steps: Vec<&str> =
        table.lines().skip(1).map_while(|it| it.strip_prefix("| `")?.split('`').next()).collect();
    assert!(steps.len() > 15, "{steps:?}");
    for it in steps {
        // Words that carry a loop out share a row, and the loop stands behind the last of them.
        assert!(step::parse(it).or_else(|_| step::parse(&format!("{it} j@s0"))).is_ok(), "{it}");
    }
    let (_, design) = page.split_once("## Where the design comes from").unwrap();
    for pass in sdfg::passes::PASSES {
        let name = pass.name.strip_prefix("sdfg/").unwrap();
        assert!(design.contains(&format!("`{name}`")), "{name}");
    }
}

#[test]
fn every_ticked_row_of_the_checklist_names_a_test_that_is_where_it_says() {
    let list = std::fs::read_to_string(root().join("docs/checklist.md")).unwrap();
    assert_eq!(faults(&list, &root()), Vec::<String>::new());
    let n_ticked = list.lines().filter(|it| it.starts_with("- [x] ")).count();
    assert!(n_ticked > 60, "{n_ticked}");
}

/// The fault of a row, without its name.
fn wrong_with(row: &str) -> Vec<String> {
    let faults = faults(&format!("# A list\n\n- [x] **S9.9** {row}\n"), &root());
    faults.iter().map(|it| it.strip_prefix("S9.9: ").expect("the row is named").to_owned()).collect()
}

#[test]
fn a_row_of_the_checklist_without_its_test_is_refused() {
    let snapshots = "tests/tests/snapshots.rs";
    for (row, wrong) in [
        // Of another file, of no file, of a file that is not there.
        (
            "It is so: `tests/tests/snapshots.rs::the_page_of_diagnostics_is_up_to_date`.",
            format!("`{snapshots}::the_page_of_diagnostics_is_up_to_date` is not in {snapshots}"),
        ),
        (
            "It is so: `tests/tests/snapshots.rs::two_compilations_give_the_same_bytes`, `::it_is_so`.",
            format!("`::it_is_so` is not in {snapshots}"),
        ),
        ("It is so: `::it_is_so`.", "there is no file for `::it_is_so`".to_owned()),
        (
            "It is so: `tests/tests/nowhere.rs::it_is_so`.",
            "there is no file for `tests/tests/nowhere.rs::it_is_so`".to_owned(),
        ),
        ("It is so: `tests/tests/nowhere.rs`.", "there is no file for `tests/tests/nowhere.rs`".to_owned()),
        (
            "It is so: `test_it_is_so` of `python/tests/test_process.py`.",
            "`test_it_is_so` is not in python/tests/test_process.py".to_owned(),
        ),
        ("It is so: `test_it_is_so`.", "there is no file for `test_it_is_so`".to_owned()),
        (
            "It is so: `tests/e2e/8-passes.test.mjs::it is so`.",
            "`tests/e2e/8-passes.test.mjs::it is so` is not in tests/e2e/8-passes.test.mjs".to_owned(),
        ),
        // A function that is there and no test.
        ("It is so.", "no test is named".to_owned()),
        (
            "It is so: `cargo xtask bench`, `oir/nodes.rs`, [schedule.md](schedule.md).",
            "no test is named".to_owned(),
        ),
        ("It is so: `sdfg/nodes.rs::Tasklet`.", "no test is named".to_owned()),
        ("It is so: `tests/tests/manual.rs::wrong_with`.", "no test is named".to_owned()),
        ("It is so: `tests/src/checklist.rs`.", "no test is named".to_owned()),
        ("It is so: `docs/schedule.md`.", "no test is named".to_owned()),
    ] {
        assert_eq!(wrong_with(row), [wrong], "{row}");
    }
    // A part of a name is another one.
    let part = wrong_with("It is so: `tests/tests/snapshots.rs::two_compilations`.");
    assert_eq!(part, [format!("`{snapshots}::two_compilations` is not in {snapshots}")]);
    assert_eq!(faults("- [ ] **S9.9** It is not so: `::it_is_so`.\n", &root()), Vec::<String>::new());
}

#[test]
fn a_test_of_every_kind_is_found_where_a_row_says() {
    for row in [
        "`tests/tests/snapshots.rs::two_compilations_give_the_same_bytes`",
        "`session.rs::another_schedule_keeps_the_levels_above_it` holds it.",
        "`tests/tests/snapshots.rs` and `::two_compilations_give_the_same_bytes`",
        "`tests/tests/sdfg_files.rs::generated_graphs_read_back`, in shards",
        "`tests/tests/machine_code.rs::generated_stencils_give_the_bits_of_debug_in_all_layouts_for_all_machines`",
        "`native-runner/tests/budgets.rs::documents_that_wait_have_a_size_together`",
        "`debug/random_tests.rs::what_is_printed_reads_back`",
        "`test_a_thousand_builds_at_the_same_time_are_one` of `python/tests/test_process.py`",
        "`python/tests/test_process.py::test_a_thousand_builds_at_the_same_time_are_one`",
        "`tests/e2e/8-passes.test.mjs::nobody who types waits for the passes`",
        "`tests/conformance/07-regions.md`",
    ] {
        assert_eq!(wrong_with(row), Vec::<String>::new(), "{row}");
    }
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
        ["compiler", "protocol/src", "runtime/src", "native-runner/src", "native-runner/tests", "tests"]
    {
        sources(&root().join(folder), &mut all);
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
fn every_promise_of_a_runner_names_a_test_that_exists() {
    let all = tested();
    let read = |page: &str| std::fs::read_to_string(root().join(page)).unwrap();
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
