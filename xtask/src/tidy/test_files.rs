//! Tests that would never run: files that no `main.rs` names, tests in programs, and examples in comments.
//!
//! The tests of a crate from outside are one program, and neither its own programs nor its comments are built as tests.
//! That saves a link for each file, and reading a crate once more.

use std::fs;
use std::path::Path;

use anyhow::Result;

use super::imports::blanked;
use crate::page::files_below;
use crate::process::root;

/// The crates that have such a program, each in `tests/` below its folder.
const PROGRAMS: [&str; 2] = ["native-runner", "tests"];

/// The crates that others name, whose comments are not built as tests.
const LIBRARIES: [&str; 22] = [
    "codegen",
    "compiler",
    "compiler/classes",
    "compiler/code",
    "compiler/equivalence",
    "compiler/front",
    "compiler/ground",
    "compiler/middle",
    "compiler/program",
    "compiler/reference",
    "compiler/service",
    "lessons",
    "native-runner",
    "protocol",
    "runtime",
    "tests",
    "tests/fuzz/targets",
    "tests/testing",
    "web",
    "web/first",
    "web/second",
    "web/model",
];

/// The files of tests that no file names, and crates whose tests are several programs.
pub(super) fn check() -> Result<Vec<String>> {
    let mut findings = Vec::new();
    for folder in PROGRAMS {
        let tests = root().join(folder).join("tests");
        let mut files = Vec::new();
        for file in files_below(&tests)?.into_iter().filter(|it| it.extension().is_some_and(|it| it == "rs"))
        {
            files.push((file.strip_prefix(&tests)?.display().to_string(), fs::read_to_string(&file)?));
        }
        findings.extend(
            unnamed(&files).into_iter().map(|it| {
                format!("{folder}/tests/{it}:1: nothing names this module, so its tests never run")
            }),
        );
        if !fs::read_to_string(root().join(folder).join("Cargo.toml"))?.contains("autotests = false") {
            findings
                .push(format!("{folder}/Cargo.toml:1: without `autotests = false` each file is a program"));
        }
    }
    for folder in LIBRARIES {
        if !fs::read_to_string(root().join(folder).join("Cargo.toml"))?.contains("doctest = false") {
            findings
                .push(format!("{folder}/Cargo.toml:1: without `doctest = false` its comments are a program"));
        }
    }
    Ok(findings)
}

/// Tests where nothing builds them: in the file of a program, and as code in a comment.
pub(super) fn check_file(name: &str, text: &str) -> Vec<String> {
    let mut findings = Vec::new();
    let is_program =
        (name.ends_with("/main.rs") || name.contains("/src/bin/")) && !name.starts_with("xtask/");
    if is_program && blanked(text).contains("#[test]") {
        findings.push(format!(
            "{name}:1: a program is not built as a test; what is tested stands in the library"
        ));
    }
    let mut is_open = false;
    for (at, line) in (1..).zip(text.lines()) {
        let line = line.trim_start();
        let Some(doc) = line.strip_prefix("///").or_else(|| line.strip_prefix("//!")) else {
            is_open = false;
            continue;
        };
        let Some(language) = doc.trim().strip_prefix("```") else { continue };
        if !is_open && (language.is_empty() || language.starts_with("rust")) {
            findings.push(format!(
                "{name}:{at}: an example that nothing runs: write a test, or name the language"
            ));
        }
        is_open = !is_open;
    }
    findings
}

/// Those of the files, paths and texts, that the file one up does not declare.
fn unnamed(files: &[(String, String)]) -> Vec<&str> {
    let declares = |parent: &str, module: &str| {
        let found = files.iter().find(|(name, _)| name == parent);
        found.is_some_and(|(_, text)| blanked(text).contains(&format!("mod {module};")))
    };
    let is_unnamed = |name: &str| {
        let path = Path::new(name);
        let own = path.with_extension("");
        let own = if own.ends_with("mod") { own.parent().unwrap_or(&own) } else { &own };
        let module = own.file_name().unwrap_or_default().to_string_lossy();
        let above = own.parent().filter(|it| !it.as_os_str().is_empty());
        let parents = match above {
            None => vec!["main.rs".to_owned()],
            Some(above) => vec![format!("{}/mod.rs", above.display()), format!("{}.rs", above.display())],
        };
        name != "main.rs" && !parents.iter().any(|it| declares(it, &module))
    };
    files.iter().map(|(name, _)| name.as_str()).filter(|it| is_unnamed(it)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tests_that_nothing_builds_are_found() {
        let example =
            "/// So:\n///\n/// ```\n/// f();\n/// ```\nfn f() {}\n/// ```text\n/// f\n/// ```\nfn g() {}\n";
        let findings = check_file("compiler/src/a.rs", example);
        assert!(findings.len() == 1 && findings[0].starts_with("compiler/src/a.rs:3:"), "{findings:?}");
        let program = "fn main() {}\n#[cfg(test)]\nmod tests {\n    #[test]\n    fn f() {}\n}\n";
        assert_eq!(check_file("tests/src/bin/a.rs", program).len(), 1);
        assert_eq!(check_file("tests/src/a.rs", program).len(), 0);
    }

    #[test]
    fn a_file_of_tests_that_nothing_names_is_found() {
        let files = [
            ("main.rs", "mod a;\nmod b;\n// mod c;\n"),
            ("a.rs", ""),
            ("b/mod.rs", "mod d;"),
            ("b/d.rs", ""),
            ("b/e.rs", ""),
            ("c.rs", ""),
        ];
        let files = files.map(|(name, text)| (name.to_owned(), text.to_owned()));
        assert_eq!(unnamed(&files), ["b/e.rs", "c.rs"]);
    }
}
