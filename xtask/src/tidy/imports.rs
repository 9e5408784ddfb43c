//! Reads the paths that a Rust file names, without a parser of Rust: `use` trees, and `crate::` paths in code.

/// A path that a file names: from `crate`, or from the name of another crate or of a module below its own.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Import {
    pub(super) line: usize,
    pub(super) path: Vec<String>,
    /// The name of the path in this file; `*` for everything in it.
    pub(super) name: String,
    /// Whether others find it here: `pub use`.
    pub(super) is_passed_on: bool,
}

/// Every path of `text`, the file of `module`, outside of comments, strings and its tests.
pub(super) fn of(text: &str, module: &[String]) -> Vec<Import> {
    let code = blanked(text);
    let code = before_tests(&code);
    let mut imports = Vec::new();
    let mut at = 0;
    while at < code.len() {
        let line = || code[..at].matches('\n').count() + 1;
        let rest = &code[at..];
        if starts_word(code, at, "use ") {
            let end = rest.find(';').unwrap_or(rest.len());
            let mut paths = Vec::new();
            expand(&rest["use ".len()..end], &mut Vec::new(), &mut paths);
            let (line, is_passed_on) = (line(), is_public(&code[..at]));
            imports.extend(paths.into_iter().map(|(path, name)| Import {
                line,
                path: absolute(path, module),
                name,
                is_passed_on,
            }));
            at += end;
        } else if ["crate::", "super::", "std::", "isobar_"].iter().any(|it| starts_word(code, at, it)) {
            let end =
                rest.find(|it: char| !(it.is_alphanumeric() || it == '_' || it == ':')).unwrap_or(rest.len());
            let path = rest[..end].split("::").filter(|it| !it.is_empty()).map(str::to_owned).collect();
            let (line, path) = (line(), absolute(path, module));
            imports.push(Import { line, path, name: String::new(), is_passed_on: false });
            at += end;
        } else {
            // The next character that one of these words begins with.
            let next = rest.char_indices().skip(1).find(|(_, it)| matches!(it, 'u' | 'c' | 's' | 'i'));
            at += next.map_or(rest.len(), |it| it.0);
        }
    }
    imports
}

/// The code before the tests of a file. A module of another file that is declared for tests ends nothing.
fn before_tests(code: &str) -> &str {
    let is_here = |after: &str| {
        let line = after.lines().next().unwrap_or_default();
        let line =
            if line.starts_with("pub(") { line.split_once(") ").map_or(line, |it| it.1) } else { line };
        line.starts_with("mod ") && line.trim_end().ends_with('{')
    };
    let mark = "#[cfg(test)]\n";
    let tests = code.match_indices(mark).find(|(at, _)| is_here(&code[at + mark.len()..]));
    tests.map_or(code, |(at, _)| &code[..at])
}

/// The modules that `text`, the file of `module`, declares for its tests alone: `#[cfg(test)] mod samples;`.
pub(super) fn test_modules(text: &str, module: &[String]) -> Vec<Vec<String>> {
    let code = blanked(text);
    let declared = code.split("#[cfg(test)]").skip(1).filter_map(|after| {
        let after = after.trim_start().trim_start_matches("pub(crate) ").trim_start_matches("pub(super) ");
        let (name, _) = after.strip_prefix("mod ")?.split_once(';')?;
        (!name.contains('{')).then(|| name.trim().to_owned())
    });
    declared.map(|name| module.iter().cloned().chain([name]).collect()).collect()
}

fn starts_word(code: &str, at: usize, word: &str) -> bool {
    let is_part = |it: char| it.is_alphanumeric() || it == '_' || it == ':';
    code[at..].starts_with(word) && !code[..at].ends_with(is_part)
}

/// Whether the code ends in `pub` or `pub(...)`.
fn is_public(code: &str) -> bool {
    let code = code.trim_end();
    let bare = if code.ends_with(')') { code.rfind('(').map_or(code, |at| &code[..at]) } else { code };
    bare.ends_with("pub")
}

/// `a::{b, c::{self, d as e}}` becomes `a::b`, `a::c`, `a::c::d`, each with its name here: `b`, `c`, `e`.
fn expand(tree: &str, before: &mut Vec<String>, paths: &mut Vec<(Vec<String>, String)>) {
    let depth = before.len();
    let (names, group) = match tree.split_once('{') {
        Some((names, group)) => (names, Some(group.rsplit_once('}').map_or(group, |(inside, _)| inside))),
        None => (tree, None),
    };
    let is_all = names.trim_end().ends_with('*');
    let (names, alias) =
        names.split_once(" as ").map_or((names, None), |(names, it)| (names, Some(it.trim())));
    before.extend(
        names
            .split("::")
            .map(str::trim)
            .filter(|it| !it.is_empty() && *it != "self" && *it != "*")
            .map(str::to_owned),
    );
    if names.trim_start().starts_with("self::") && depth == 0 {
        before.insert(0, "self".to_owned());
    }
    match group {
        None => {
            let last = before.last().map_or("", String::as_str);
            let name = if is_all { "*" } else { alias.unwrap_or(last) };
            paths.push((before.clone(), name.to_owned()));
        }
        Some(group) => {
            for branch in branches(group) {
                expand(branch, before, paths);
            }
        }
    }
    before.truncate(depth);
}

/// The parts of a group, split at the commas that are not inside a group of their own.
fn branches(group: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    let (mut depth, mut start) = (0_usize, 0);
    for (at, it) in group.char_indices() {
        match it {
            '{' => depth += 1,
            '}' => depth = depth.saturating_sub(1),
            ',' if depth == 0 => {
                parts.push(&group[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    parts.push(&group[start..]);
    parts.retain(|it| !it.trim().is_empty());
    parts
}

/// Resolves `self` and `super` against the file's module.
fn absolute(path: Vec<String>, module: &[String]) -> Vec<String> {
    let ups = path.iter().take_while(|it| *it == "super").count();
    let is_relative = ups > 0 || path.first().is_some_and(|it| it == "self");
    if !is_relative {
        return path;
    }
    let skip = if ups > 0 { ups } else { 1 };
    let kept = &module[..module.len().saturating_sub(ups)];
    ["crate".to_owned()].into_iter().chain(kept.iter().cloned()).chain(path.into_iter().skip(skip)).collect()
}

/// `text` with its comments and strings made of blanks, line by line as long as before.
pub(super) fn blanked(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    let blank =
        |out: &mut String, part: &str| out.extend(part.chars().map(|it| if it == '\n' { '\n' } else { ' ' }));
    while let Some(first) = rest.chars().next() {
        // Most characters begin nothing, and sources are long.
        let plain = rest.find(['/', '"', '\'', 'r', 'b']).unwrap_or(rest.len());
        if plain > 0 {
            out.push_str(&rest[..plain]);
            rest = &rest[plain..];
            continue;
        }
        let length = if rest.starts_with("//") {
            rest.find('\n').unwrap_or(rest.len())
        } else if rest.starts_with("/*") {
            rest.find("*/").map_or(rest.len(), |at| at + 2)
        } else if first == '"' {
            string_length(rest)
        } else if let Some(hashes) = raw_string(rest) {
            let end = format!("\"{}", "#".repeat(hashes));
            let body = hashes + 2;
            rest[body..].find(&end).map_or(rest.len(), |at| body + at + end.len())
        } else if rest.starts_with("'\"'") {
            3
        } else if rest.starts_with("'\\\"'") {
            4
        } else {
            out.push(first);
            rest = &rest[first.len_utf8()..];
            continue;
        };
        blank(&mut out, &rest[..length]);
        rest = &rest[length..];
    }
    out
}

fn string_length(text: &str) -> usize {
    let mut escaped = false;
    for (at, it) in text.char_indices().skip(1) {
        match it {
            '\\' if !escaped => escaped = true,
            '"' if !escaped => return at + 1,
            _ => escaped = false,
        }
    }
    text.len()
}

/// The number of `#` of a raw string that starts here.
fn raw_string(text: &str) -> Option<usize> {
    let after = text.strip_prefix('r')?;
    let hashes = after.len() - after.trim_start_matches('#').len();
    after[hashes..].starts_with('"').then_some(hashes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn paths(text: &str, module: &[&str]) -> Vec<String> {
        let module: Vec<String> = module.iter().map(|&it| it.to_owned()).collect();
        of(text, &module).into_iter().map(|it| it.path.join("::")).collect()
    }

    #[test]
    fn groups_are_taken_apart() {
        let text = "use crate::{a::{self, B as C}, d};\nuse std::fmt;\n";
        assert_eq!(paths(text, &[]), ["crate::a", "crate::a::B", "crate::d", "std::fmt"]);
    }

    #[test]
    fn relative_paths_are_made_absolute() {
        let text = "use super::nodes::X;\nuse self::y::Z;\nfn f() { super::super::g(); }\n";
        assert_eq!(paths(text, &["a", "b"]), ["crate::a::nodes::X", "crate::a::b::y::Z", "crate::g"]);
    }

    #[test]
    fn a_path_that_is_passed_on_has_the_name_that_others_use() {
        let text = "pub(crate) use a::{B as C, d::*};\nuse e::f;\n";
        let told: Vec<_> = of(text, &[]).into_iter().map(|it| (it.name, it.is_passed_on)).collect();
        assert_eq!(told, [("C".to_owned(), true), ("*".to_owned(), true), ("f".to_owned(), false)]);
    }

    #[test]
    fn a_module_for_tests_in_another_file_ends_nothing() {
        let text =
            "#[cfg(test)]\nmod samples;\nuse crate::a;\n#[cfg(test)]\nmod tests {\n    use crate::b;\n}\n";
        assert_eq!(paths(text, &[]), ["crate::a"]);
    }

    #[test]
    fn strings_and_comments_are_not_code() {
        let text = "// use crate::a;\nconst A: &str = \"use crate::b;\";\nconst B: &str = r#\"use \"crate::c;\"#;\nuse crate::d;";
        assert_eq!(paths(text, &[]), ["crate::d"]);
    }

    #[test]
    fn modules_for_tests_are_known_by_their_declaration() {
        let text = "mod a;\n#[cfg(test)]\nmod samples;\n#[cfg(test)]\nmod tests { mod x; }\n";
        assert_eq!(test_modules(text, &["sdfg".to_owned()]), [["sdfg", "samples"]]);
    }

    #[test]
    fn blanking_keeps_the_lines() {
        let text = "a\n/* b\n c */\n\"d\n\"e";
        assert_eq!(blanked(text), "a\n    \n     \n  \n e");
    }
}
