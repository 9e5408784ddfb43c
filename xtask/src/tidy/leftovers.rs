//! Finds what must not be left in a file: paths of somebody's machine, switched-off tests, files without end.

use super::imports::blanked;

/// A file wants to be read in one sitting; past this it is usually two ideas.
const LONGEST: usize = 900;

/// Folders of one machine, spelled in two parts so that this file does not find itself.
const MACHINE_PATHS: [(&str, &str); 4] = [("/ro", "ot/"), ("/ho", "me/"), ("/Use", "rs/"), ("/wo", "rk/")];

/// Text that people read and write; other files (fields, pictures, lock files) are left alone.
const TEXT: [&str; 13] =
    ["rs", "md", "toml", "js", "mjs", "css", "html", "json", "py", "sh", "yml", "yaml", "run"];

/// Folders whose code runs plans, and looks into no level.
const RUNS_PLANS: [&str; 2] = ["runtime/", "web/"];

/// The levels, as code of other crates would reach for them.
const LEVELS: [&str; 6] =
    ["compilation.levels", "front.definition", "front.gtir", "front.oir", "front.extents", "front.optimized"];

/// The findings in one file, `name` below the root.
pub(super) fn check(name: &str, text: &str) -> Vec<String> {
    let extension = name.rsplit(['.', '/']).next().unwrap_or_default();
    if !TEXT.contains(&extension) || name.ends_with("package-lock.json") {
        return Vec::new();
    }
    let mark = MARK.concat();
    let switched_off = SWITCHED_OFF.concat();
    let mut findings = Vec::new();
    let lines = text.lines().count();
    if matches!(extension, "rs" | "js" | "mjs" | "css") && lines > LONGEST {
        findings.push(format!("{name}:{LONGEST}: {lines} lines: find the two ideas and give each its file"));
    }
    for (at, line) in (1..).zip(text.lines()) {
        for (start, end) in MACHINE_PATHS {
            if names_folder(line, &format!("{start}{end}")) {
                findings.push(format!("{name}:{at}: a path of one machine: `{start}{end}...`"));
            }
        }
        if has_bare_mark(line) {
            findings.push(format!("{name}:{at}: a {mark} says which issue it waits for: {mark}(#12)"));
        }
    }
    if extension == "rs" {
        let code = blanked(text);
        for (at, line) in (1..).zip(code.lines()) {
            if line.contains(&switched_off) {
                findings.push(format!(
                    "{name}:{at}: a test that never runs: make it pass, skip aloud, or delete it"
                ));
            }
            if line.contains("dbg!(") {
                findings.push(format!("{name}:{at}: a `dbg!` was left behind"));
            }
            if RUNS_PLANS.iter().any(|it| name.starts_with(it)) && LEVELS.iter().any(|it| line.contains(it)) {
                findings.push(format!(
                    "{name}:{at}: levels stay in the compiler: take a plan, or ask the compilation"
                ));
            }
        }
    }
    findings
}

/// The folder at the start of a path: not in the middle of an address or of a longer path.
fn names_folder(line: &str, folder: &str) -> bool {
    line.match_indices(folder).any(|(at, _)| {
        !line[..at]
            .ends_with(|it: char| it.is_alphanumeric() || matches!(it, '.' | '_' | '-' | '}' | ')' | '*'))
    })
}

/// The mark of work to be done, spelled in two parts as well.
const MARK: [&str; 2] = ["TO", "DO"];

/// How an attribute begins that switches a test off.
const SWITCHED_OFF: [&str; 2] = ["#[", "ignore"];

fn has_bare_mark(line: &str) -> bool {
    let word = MARK.concat();
    line.match_indices(&word).any(|(at, _)| {
        let is_part = |it: char| it.is_alphanumeric() || it == '_';
        let after = &line[at + word.len()..];
        !line[..at].ends_with(is_part) && !after.starts_with(is_part) && !after.starts_with("(#")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_leftover_is_found_with_its_line() {
        let mark = MARK.concat();
        let switched_off = SWITCHED_OFF.concat();
        let text = format!(
            "fn f() {{\n    // {mark} later\n    // {mark}(#3) fine\n}}\n{switched_off}]\nfn g() {{ dbg!(1); }}\n"
        );
        let findings = check("a/b.rs", &text);
        assert_eq!(findings.len(), 3, "{findings:?}");
        assert!(findings[0].starts_with("a/b.rs:2:"), "{findings:?}");
        assert!(findings[1].starts_with("a/b.rs:5:"), "{findings:?}");
        assert!(findings[2].starts_with("a/b.rs:6:"), "{findings:?}");
    }

    #[test]
    fn a_level_that_is_read_where_plans_run_is_found() {
        for level in ["compilation.levels.sdfg", "compilation.front.oir"] {
            let text = format!("fn f() {{\n    let it = {level};\n}}\n");
            assert_eq!(check("runtime/src/a.rs", &text).len(), 1);
            assert_eq!(check("compiler/src/a.rs", &text).len(), 0);
        }
        assert_eq!(check("runtime/src/a.rs", "// compilation.levels\n").len(), 0);
    }

    #[test]
    fn a_path_of_one_machine_is_found_and_an_address_is_not() {
        let path = ["/ro", "ot/.cargo"].concat();
        assert_eq!(check("a.md", &format!("see {path}")).len(), 1);
        assert_eq!(check("a.md", &format!("see https://host.org{path}")).len(), 0);
    }

    #[test]
    fn a_file_without_end_is_found() {
        assert_eq!(check("a.rs", &"x\n".repeat(LONGEST + 1)).len(), 1);
        assert_eq!(check("a.rs", &"x\n".repeat(LONGEST)).len(), 0);
    }
}
