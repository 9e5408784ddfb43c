//! `cargo xtask tidy`: what each room imports, and what must not be left in a source file.

mod imports;
mod leftovers;

use crate::page::files_below;
use crate::process::{output, program, root, say};
use crate::rooms::room_of;
use anyhow::{Result, bail};
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// The crates whose rooms the table describes.
const CRATES: [&str; 6] = ["compiler", "codegen", "runtime", "protocol", "web", "native-runner"];

/// Checks everything and prints every finding, one in a line, as `file:line: what is wrong`.
pub(crate) fn tidy() -> Result<()> {
    say("tidy: what each room imports, and leftovers in the sources");
    let mut findings = Vec::new();
    for folder in CRATES {
        findings.extend(check_rooms(folder)?);
    }
    for file in tracked_files()? {
        if let Ok(text) = fs::read_to_string(root().join(&file)) {
            findings.extend(leftovers::check(&file, &text));
        }
    }
    for finding in &findings {
        println!("{finding}");
    }
    if findings.is_empty() {
        return Ok(());
    }
    bail!("tidy has {} findings", findings.len())
}

/// The files that git knows or would add, sorted.
fn tracked_files() -> Result<Vec<String>> {
    let list = output(program("git").args(["ls-files", "--cached", "--others", "--exclude-standard"]))?;
    let mut files: Vec<String> = list.lines().map(str::to_owned).collect();
    files.sort();
    files.dedup();
    Ok(files)
}

fn check_rooms(folder: &str) -> Result<Vec<String>> {
    let src = root().join(folder).join("src");
    let mut sources = Vec::new();
    for file in files_below(&src)? {
        if file.extension().is_some_and(|it| it == "rs") {
            let below = file.strip_prefix(&src)?.to_owned();
            sources.push((
                module_of(&below),
                format!("{folder}/src/{}", below.display()),
                fs::read_to_string(&file)?,
            ));
        }
    }
    let modules: BTreeSet<Vec<String>> = sources.iter().map(|(module, ..)| module.clone()).collect();
    let for_tests: Vec<Vec<String>> =
        sources.iter().flat_map(|(module, _, text)| imports::test_modules(text, module)).collect();
    sources.retain(|(module, ..)| !for_tests.iter().any(|it| module.starts_with(it)));
    Ok(sources
        .iter()
        .flat_map(|(module, name, text)| check_file(folder, module, name, text, &modules))
        .collect())
}

/// The findings in one file. `modules` are all of its crate's, to tell a module from an item.
fn check_file(
    folder: &str,
    module: &[String],
    name: &str,
    text: &str,
    modules: &BTreeSet<Vec<String>>,
) -> Vec<String> {
    let Some(room) = room_of(folder, module) else {
        return vec![format!("{name}:1: this room is not in the table of xtask/src/rooms.rs")];
    };
    let own_crate = format!("isobar_{}", if folder == "native-runner" { "runner" } else { folder });
    // A line that names several items of one module breaks the rule once.
    let mut findings = BTreeSet::new();
    for import in imports::of(text, module) {
        let inside = match import.path.first() {
            Some(first) if first == "crate" || *first == own_crate => Some(&import.path[1..]),
            _ => None,
        };
        if let Some(path) = inside {
            let target = nearest_module(path, modules);
            if target != module && !target.is_empty() && !room.may_use(module, target) {
                findings.insert((
                    import.line,
                    format!(
                        "{name}:{}: `{}` does not use `{}` (the style guide's \"What a line may touch\")",
                        import.line,
                        module.join("::"),
                        target.join("::"),
                    ),
                ));
            }
        } else if let Some(never) = room.refuses(&import.path) {
            findings.insert((
                import.line,
                format!(
                    "{name}:{}: `{}` never names `{never}` (the style guide's \"What a line may touch\")",
                    import.line,
                    module.join("::"),
                ),
            ));
        }
    }
    findings.into_iter().map(|(_, finding)| finding).collect()
}

/// `oir/passes/merge.rs` is `[oir, passes, merge]`; `lib.rs` and `main.rs` are the crate's root, `[]`.
fn module_of(file: &Path) -> Vec<String> {
    let mut module: Vec<String> = file
        .with_extension("")
        .components()
        .map(|it| it.as_os_str().to_string_lossy().into_owned())
        .collect();
    if module.last().is_some_and(|it| it == "mod")
        || matches!(module.as_slice(), [it] if it == "lib" || it == "main")
    {
        module.pop();
    }
    module
}

/// The longest start of `path` that is a module: what is left names an item of it.
fn nearest_module<'a>(path: &'a [String], modules: &BTreeSet<Vec<String>>) -> &'a [String] {
    (0..=path.len()).rev().map(|n| &path[..n]).find(|start| modules.contains(*start)).unwrap_or(&[])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn modules(paths: &[&str]) -> BTreeSet<Vec<String>> {
        paths.iter().map(|it| path(it)).collect()
    }

    fn path(text: &str) -> Vec<String> {
        text.split('/').map(str::to_owned).collect()
    }

    fn check(module: &str, text: &str) -> Vec<String> {
        let known =
            modules(&["oir", "oir/nodes", "oir/passes", "oir/from_gtir", "gtir", "gtir/passes", "diag"]);
        check_file("compiler", &path(module), "f.rs", text, &known)
    }

    #[test]
    fn a_line_that_stays_in_its_room_is_fine() {
        assert_eq!(
            check("oir/from_gtir", "use super::nodes::Stencil;\nuse crate::{diag::Span, gtir};\n"),
            [""; 0]
        );
    }

    #[test]
    fn an_import_of_a_pass_of_the_level_above_is_found_with_its_line() {
        let text = "//! A door.\n\nuse crate::{\n    diag::Span,\n    gtir::{self, passes::fold},\n};\n";
        let findings = check("oir/from_gtir", text);
        assert_eq!(findings.len(), 1, "{findings:?}");
        assert!(
            findings[0].starts_with("f.rs:3: `oir::from_gtir` does not use `gtir::passes`"),
            "{findings:?}"
        );
    }

    #[test]
    fn a_path_in_the_middle_of_the_code_is_found() {
        let findings = check("diag", "fn f() {\n    crate::oir::print();\n}\n");
        assert_eq!(findings.len(), 1, "{findings:?}");
        assert!(findings[0].starts_with("f.rs:2:"), "{findings:?}");
    }

    #[test]
    fn the_clock_is_off_limits_in_the_compiler() {
        assert_eq!(check("oir/nodes", "use std::time::Instant;\n").len(), 1);
        assert_eq!(check("oir/nodes", "use std::collections::BTreeMap;\n").len(), 0);
    }

    #[test]
    fn tests_and_comments_may_name_anything() {
        let text = "// crate::gtir::passes\n/* use crate::gtir; */\n#[cfg(test)]\nmod tests {\n    use crate::gtir;\n}\n";
        assert_eq!(check("diag", text), [""; 0]);
    }

    #[test]
    fn files_become_modules() {
        assert_eq!(module_of(Path::new("oir/passes/mod.rs")), ["oir", "passes"]);
        assert_eq!(module_of(Path::new("lib.rs")), [""; 0]);
        assert_eq!(module_of(Path::new("oir/print.rs")), ["oir", "print"]);
    }
}
