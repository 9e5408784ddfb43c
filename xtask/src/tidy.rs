//! `cargo xtask tidy`: what each room imports, and what must not be left in a source file, or stand in its comments.

mod circles;
mod documentation;
mod imports;
mod leftovers;
mod names;
mod prose;
mod sources;
mod table;
mod test_files;

use std::collections::BTreeSet;
use std::fs;

use anyhow::{Result, bail};

use crate::process::{output, program, root, say};
use crate::rooms::{room_of, rooms};
use sources::{Source, Sources};

/// Checks everything and prints every finding, one in a line, as `file:line: what is wrong`.
pub(crate) fn tidy() -> Result<()> {
    say("tidy: what each room imports, and leftovers in the sources");
    let mut findings = Vec::new();
    let folders: BTreeSet<&str> = rooms().map(|it| it.folder).collect();
    let crates = folders.into_iter().map(Sources::read).collect::<Result<Vec<_>>>()?;
    for sources in &crates {
        findings.extend(sources.files.iter().flat_map(|it| check_file(sources, it)));
        findings.extend(circles::check(sources, circles::KNOWN));
    }
    findings.extend(table::check(&crates));
    findings.extend(test_files::check()?);
    let chores = ["xtask", "tests"].into_iter().map(Sources::read).collect::<Result<Vec<_>>>()?;
    let all: Vec<&Source> = crates.iter().chain(&chores).flat_map(|it| &it.files).collect();
    findings.extend(all.iter().flat_map(|it| test_files::check_file(&it.name, &it.text)));
    let of_crates: Vec<&Source> = crates.iter().flat_map(|it| &it.files).collect();
    findings.extend(names::check(&of_crates));
    let (figures, too_little) = documentation::check(&all, documentation::SHARES);
    findings.extend(too_little);
    let files = texts()?;
    findings.extend(files.iter().flat_map(|(file, text)| leftovers::check(file, text)));
    let (refused, notes) = prose::check(&files)?;
    findings.extend(refused);
    for line in figures.iter().chain(&notes).chain(&findings) {
        println!("{line}");
    }
    if findings.is_empty() {
        return Ok(());
    }
    bail!("tidy has {} findings", findings.len())
}

/// Keeps the numbers of today, where they are lower than those of before.
pub(crate) fn lower() -> Result<()> {
    prose::lower(&texts()?)
}

/// The files that git knows or would add, with their texts.
fn texts() -> Result<Vec<(String, String)>> {
    let read = |file: String| fs::read_to_string(root().join(&file)).ok().map(|text| (file, text));
    Ok(tracked_files()?.into_iter().filter_map(read).collect())
}

/// The files that git knows or would add, sorted.
fn tracked_files() -> Result<Vec<String>> {
    let list = output(program("git").args(["ls-files", "--cached", "--others", "--exclude-standard"]))?;
    let mut files: Vec<String> = list.lines().map(str::to_owned).collect();
    files.sort();
    files.dedup();
    Ok(files)
}

/// The findings in one file: imports that its row does not allow.
fn check_file(sources: &Sources, source: &Source) -> Vec<String> {
    let (module, name) = (&source.module, &source.name);
    let Some(room) = room_of(&sources.folder, module) else {
        return vec![format!("{name}:1: this room is not in the table of xtask/src/rooms.rs")];
    };
    // A line that names several items of one module breaks the rule once.
    let mut findings = BTreeSet::new();
    for import in &source.imports {
        let broken = match sources.target(import) {
            Some(target) => {
                let is_fine = target == module || target.is_empty() || room.may_use(module, target);
                (!is_fine).then(|| format!("does not use `{}`", target.join("::")))
            }
            None => room.refuses(&import.path).map(|never| format!("never names `{never}`")),
        };
        if let Some(rule) = broken {
            let (line, module) = (import.line, module.join("::"));
            let finding =
                format!("{name}:{line}: `{module}` {rule} (the style guide's \"What a line may touch\")");
            findings.insert((line, finding));
        }
    }
    findings.into_iter().map(|(_, finding)| finding).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The findings in one file, `f.rs`, beside which there are others.
    fn check(module: &str, text: &str) -> Vec<String> {
        let known = ["oir", "oir/nodes", "oir/passes", "oir/from_gtir", "gtir/nodes", "gtir/passes", "diag"];
        let mut texts: Vec<_> = known.iter().filter(|it| **it != module).map(|it| (*it, "")).collect();
        texts.push((module, text));
        let all = sources::tests::sources("compiler", &texts);
        let file = all.files.iter().find(|it| it.module.join("/") == module).expect("it was just added");
        check_file(&all, file).into_iter().map(|it| it.replacen(&file.name, "f.rs", 1)).collect()
    }

    #[test]
    fn a_line_that_stays_in_its_room_is_fine() {
        assert_eq!(
            check("oir/from_gtir", "use super::nodes::Stencil;\nuse crate::{diag::Span, gtir::nodes};\n"),
            [""; 0]
        );
    }

    #[test]
    fn an_import_of_a_pass_of_the_level_above_is_found_with_its_line() {
        let text = "//! A door.\n\nuse crate::{\n    diag::Span,\n    gtir::{nodes, passes::fold},\n};\n";
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
}
