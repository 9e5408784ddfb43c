//! A type name that three rooms define tells a reader little: it gets a prefix, unless it is a word that levels share.

use std::collections::{BTreeMap, BTreeSet};

use super::imports::blanked;
use super::sources::Source;

/// A name may stand in so many rooms.
const MOST_ROOMS: usize = 2;

/// Names that more rooms have: nodes of every level, the classes that a room names after its task, and the field's own
/// words. The list can only become shorter.
const SHARED: [&str; 70] = [
    "Access",
    "Answer",
    "Argument",
    "Assign",
    "Backend",
    "Binding",
    "Block",
    "Cache",
    "Call",
    "Check",
    "Code",
    "Compiler",
    "Container",
    "ContainerKind",
    "Definition",
    "Device",
    "Difference",
    "Element",
    "Fault",
    "Field",
    "Files",
    "Frame",
    "GpuMemory",
    "Graph",
    "Group",
    "If",
    "Index",
    "Input",
    "Item",
    "Launch",
    "Level",
    "Line",
    "Local",
    "Lowering",
    "Machine",
    "Names",
    "Node",
    "Numbering",
    "Operand",
    "Options",
    "Outcome",
    "Param",
    "ParamKind",
    "Printer",
    "Program",
    "Project",
    "Reader",
    "Refusal",
    "RegionScope",
    "Rules",
    "Scalar",
    "Scope",
    "Shared",
    "Side",
    "Signature",
    "Stage",
    "State",
    "Stencil",
    "Step",
    "Stmt",
    "StmtKind",
    "Storage",
    "Style",
    "Summary",
    "Target",
    "Tile",
    "Trap",
    "VerticalLoop",
    "While",
    "Writer",
];

/// Names that too many rooms define, and rows of the list that are of no use any more.
pub(super) fn check(sources: &[&Source]) -> Vec<String> {
    let mut rooms: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for it in sources.iter().filter(|it| !it.name.starts_with("tests/") && !it.name.contains("/tests")) {
        for name in defined(&it.text) {
            rooms.entry(name).or_default().insert(room(&it.name));
        }
    }
    let is_shared = |name: &str| rooms.get(name).is_some_and(|it| it.len() > MOST_ROOMS);
    let new = rooms.iter().filter(|(name, _)| is_shared(name) && !SHARED.contains(&name.as_str()));
    let new = new.map(|(name, rooms)| {
        let rooms: Vec<&str> = rooms.iter().map(String::as_str).collect();
        format!(
            "{}: `{name}` is a type of {} rooms: give it a prefix (the style guide's \"Names\")",
            rooms.join(", "),
            rooms.len()
        )
    });
    let old = SHARED.iter().filter(|it| !is_shared(it));
    let old = old.map(|it| {
        format!("xtask/src/tidy/names.rs:1: `{it}` is no type of three rooms any more, so the entry can go")
    });
    new.chain(old).collect()
}

/// The room of a file: its crate, and the folder or file below `src`.
fn room(name: &str) -> String {
    let (folder, below) = name.split_once("/src/").unwrap_or_default();
    // The crates inside the compiler's folder are one house, and each crate above it is one room.
    let (folder, above) = folder.split_once('/').unwrap_or((folder, ""));
    let room = below.split('/').next().unwrap_or_default();
    let room = if ["equivalence", "program", "service"].contains(&above) { above } else { room };
    format!("{folder}/{}", room.trim_end_matches(".rs"))
}

/// The types that a text defines outside of its tests.
fn defined(text: &str) -> Vec<String> {
    let code = blanked(text);
    let code = code.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
    let name = |line: &str| {
        let line = line.trim_start();
        let line = match line.strip_prefix("pub") {
            Some(it) if it.starts_with('(') => it.split_once(')')?.1.trim_start(),
            Some(it) if it.starts_with(' ') => it.trim_start(),
            Some(_) | None => line,
        };
        let rest = ["struct ", "enum ", "trait "].iter().find_map(|it| line.strip_prefix(it))?;
        let end = rest.find(|it: char| !it.is_alphanumeric() && it != '_').unwrap_or(rest.len());
        (end > 0).then(|| rest[..end].to_owned())
    };
    code.lines().filter_map(name).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn source(name: &str, text: &str) -> Source {
        Source { module: Vec::new(), name: name.to_owned(), text: text.to_owned(), imports: Vec::new() }
    }

    #[test]
    fn a_name_of_three_rooms_is_found_and_one_of_two_is_not() {
        let text = "pub(crate) struct Vague {\n}\nenum Exact { A }\n// struct Comment\n";
        let files = ["compiler/src/a.rs", "compiler/src/b/x.rs", "web/src/c.rs"].map(|it| source(it, text));
        let two = [source("compiler/src/d.rs", "trait Two {}"), source("web/src/d.rs", "struct Two;")];
        let all: Vec<&Source> = files.iter().chain(&two).collect();
        let found: Vec<String> = check(&all).into_iter().filter(|it| !it.contains("any more")).collect();
        assert_eq!(found.len(), 2, "{found:?}");
        assert!(found.iter().all(|it| it.starts_with("compiler/a, compiler/b, web/c: ")), "{found:?}");
    }

    #[test]
    fn types_of_tests_and_comments_do_not_count() {
        let text = "struct One;\n#[cfg(test)]\nmod tests {\n    struct Two;\n}\n";
        assert_eq!(defined(text), ["One"]);
    }
}
