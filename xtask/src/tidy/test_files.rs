//! Tests of a crate are one program: a file that its `main.rs` does not name would never run.

use std::fs;
use std::path::Path;

use anyhow::Result;

use super::imports::blanked;
use crate::page::files_below;
use crate::process::root;

/// The crates that have such a program, each in `tests/` below its folder.
const PROGRAMS: [&str; 2] = ["native-runner", "tests"];

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
    Ok(findings)
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
