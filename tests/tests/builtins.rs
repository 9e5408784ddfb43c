//! Few files name a builtin: adding one is a row of a table, its formula, and little more.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use isobar_compiler::types::Function;

/// The crates whose sources are counted. Tests, texts that are printed from a definition, and the documentation are not.
const CRATES: [&str; 18] = [
    "compiler",
    "compiler/ground",
    "compiler/front",
    "compiler/reference",
    "compiler/program",
    "compiler/middle",
    "compiler/code",
    "compiler/equivalence",
    "compiler/classes",
    "compiler/service",
    "codegen",
    "runtime",
    "native-runner",
    "protocol",
    "web",
    "web/first",
    "web/second",
    "web/model",
];

/// How many files name a builtin, at most.
const MOST_FILES: usize = 4;

/// Files in which some of the names mean something else, and what.
const OTHERS: &[(&str, &[&str], &str)] = &[
    ("compiler/code/src/wgsl/print/places.rs", &["min", "max"], "the text of a size"),
    ("compiler/src/export/touched.rs", &["min", "max"], "functions of Rust's integers"),
    ("compiler/program/src/from_class/calls.rs", &["min", "max"], "functions of Python's lists"),
    ("compiler/program/src/from_class/expressions.rs", &["min", "max"], "methods of NumPy's arrays"),
    ("compiler/program/src/from_objects/calls.rs", &["min", "max"], "functions of Python's lists"),
    (
        "compiler/program/src/from_objects/values.rs",
        &["abs", "min", "max", "round"],
        "functions of Python's numbers",
    ),
    ("compiler/ground/src/space/affine.rs", &["min", "max"], "the text of a size"),
    ("compiler/ground/src/space/parse.rs", &["min", "max"], "the text of a size"),
    ("compiler/middle/src/sdfg/file/python.rs", &["min", "max"], "the text of a size"),
    (
        "compiler/program/src/scalar/nodes.rs",
        &["abs", "exp", "floor", "log", "max", "min", "round", "sqrt"],
        "functions of Python's numbers",
    ),
    (
        "compiler/src/pipeline/whole/scalars.rs",
        &["abs", "floor", "round", "trunc"],
        "functions of Python's numbers",
    ),
    ("compiler/front/src/frontend/evaluate/functions.rs", &["min", "max"], "attributes of `numpy.finfo`"),
    ("compiler/front/src/frontend/builtins.rs", &["min", "max"], "attributes of `sys.float_info`"),
    ("compiler/ground/src/types/math/pow.rs", &["log"], "the name of a value in a formula"),
    ("native-runner/src/cli/shared.rs", &["mod"], "an option"),
    ("native-runner/src/commands/cache.rs", &["min"], "a unit of time"),
    ("native-runner/src/commands/config.rs", &["log"], "a setting"),
    ("native-runner/src/commands/human.rs", &["min", "max"], "a column of statistics"),
    ("protocol/src/request.rs", &["mod"], "a key of a request"),
    ("web/first/src/compile/documented.rs", &["min"], "a unit of time"),
    ("web/src/panes/inputs/model.rs", &["mod"], "an element's id"),
    ("web/src/panes/problems.rs", &["log"], "an element's role"),
    ("protocol/src/share/mod.rs", &["mod"], "a key of a link"),
];

/// Lists the words of a language, which no name in a text may be, whatever they mean there.
const RESERVED: &str = "compiler/code/src/wgsl/words.rs";

#[test]
fn adding_a_builtin_touches_at_most_four_files() {
    let named = named();
    for (name, files) in &named {
        assert!(
            files.contains("compiler/ground/src/types/math/builtins.rs"),
            "`{name}` has a row: {files:?}"
        );
    }
    let many: Vec<_> = named.iter().filter(|it| it.1.len() > MOST_FILES).collect();
    assert!(many.is_empty(), "these are named in more than {MOST_FILES} files: {many:#?}");
}

#[test]
fn no_back_end_names_a_formula() {
    for (name, files) in named() {
        let is_formula = Function::from_name(&name).is_some_and(Function::is_transcendental);
        for file in files.iter().filter(|_| is_formula) {
            // The inputs of a run are no back end: generators are made of formulas.
            let is_input = file.starts_with("compiler/reference/src/inputs/");
            let of_back_ends = ["compiler/code/", "compiler/reference/", "codegen/", "runtime/"];
            let is_back_end = !is_input && of_back_ends.iter().any(|it| file.starts_with(it));
            assert!(!is_back_end, "`{name}` is named in {file}");
        }
    }
}

#[test]
fn what_means_something_else_is_there() {
    for (file, names, what) in OTHERS {
        let text = std::fs::read_to_string(root().join(file)).expect(file);
        for name in *names {
            assert!(names_in(&text).contains(*name), "{file} has no `{name}` for {what}");
        }
    }
}

/// The files that name each function, by its name.
fn named() -> BTreeMap<String, BTreeSet<String>> {
    let mut named: BTreeMap<String, BTreeSet<String>> =
        Function::all().map(|it| (it.name().to_owned(), BTreeSet::new())).collect();
    for file in CRATES.iter().flat_map(|it| sources(&root().join(it).join("src"))) {
        let text = std::fs::read_to_string(&file).expect("sources are texts");
        let below = file.strip_prefix(root()).expect("it is below").to_string_lossy().replace('\\', "/");
        if below == RESERVED {
            continue;
        }
        let is_other = |name: &str| OTHERS.iter().any(|it| it.0 == below && it.1.contains(&name));
        for name in names_in(&text).into_iter().filter(|it| !is_other(it)) {
            if let Some(files) = named.get_mut(&name) {
                files.insert(below.clone());
            }
        }
    }
    named
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the workspace").to_owned()
}

/// The Rust sources below a folder, but for files of tests.
fn sources(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).expect("a folder of sources") {
        let path = entry.expect("an entry").path();
        let stem = path.file_stem().expect("a name").to_string_lossy().into_owned();
        if stem == "tests" || stem.ends_with("_tests") {
            continue;
        }
        if path.is_dir() {
            found.extend(sources(&path));
        } else if path.extension().is_some_and(|it| it == "rs") {
            found.push(path);
        }
    }
    found
}

/// Returns the words that may name a builtin in the text of a source, without its comments and tests. These
/// are whole strings, words behind the `::` of a path or the `fn` of a generic function, and the stem of
/// `sin_f64`.
fn names_in(text: &str) -> BTreeSet<String> {
    let text = text.split("\n#[cfg(test)]\nmod ").next().unwrap_or_default();
    let mut names = BTreeSet::new();
    let mut rest = text;
    let mut before = "";
    while let Some(first) = rest.chars().next() {
        if rest.starts_with("//") {
            rest = &rest[rest.find('\n').unwrap_or(rest.len())..];
            continue;
        }
        if let Some(string) = rest.strip_prefix('"') {
            let (content, behind) = string_of(string);
            names.insert(content.to_owned());
            (before, rest) = ("\"", behind);
            continue;
        }
        // A quote in quotes; what else stands in them does no harm.
        if let Some(behind) = rest.strip_prefix("'\"'").or_else(|| rest.strip_prefix("'\\\"'")) {
            rest = behind;
            continue;
        }
        if !is_of_word(first) {
            if !first.is_whitespace() {
                before = if rest.starts_with("::") { "::" } else { "" };
            }
            rest = &rest[if rest.starts_with("::") { 2 } else { first.len_utf8() }..];
            continue;
        }
        let (word, behind) = rest.split_at(rest.find(|it| !is_of_word(it)).unwrap_or(rest.len()));
        let is_definition = before == "fn" && behind.starts_with('<');
        let is_of_std = || ["f64::", "f32::", "Ord::"].iter().any(|it| ends_with(text, rest, it));
        // In front of another `::` it is a module.
        let is_path = before == "::" && !behind.starts_with("::") && !is_of_std();
        if is_definition || is_path {
            names.insert(word.to_owned());
        }
        for suffix in ["_f64", "_f32", "_single"] {
            names.extend(word.strip_suffix(suffix).map(str::to_owned));
        }
        (before, rest) = (word, behind);
    }
    names
}

/// Whether the text before `rest`, its end, ends with something.
fn ends_with(text: &str, rest: &str, end: &str) -> bool {
    text[..text.len() - rest.len()].ends_with(end)
}

/// A string up to its closing quote, and what is behind that.
fn string_of(text: &str) -> (&str, &str) {
    let mut is_escaped = false;
    for (at, it) in text.char_indices() {
        match it {
            '"' if !is_escaped => return (&text[..at], &text[at + 1..]),
            _ => is_escaped = it == '\\' && !is_escaped,
        }
    }
    (text, "")
}

fn is_of_word(it: char) -> bool {
    it.is_ascii_alphanumeric() || it == '_'
}

#[test]
fn names_are_strings_paths_and_definitions() {
    let text = "\
// \"in_comment\"
fn defined<T: Real>(x: T) -> T {
    let quote = '\"';
    call(\"in \\\" string\", \"whole\", math::behind_path(x), math::module::call(x), x.method(), f64::of_std(x), single_f32(x))
}

#[cfg(test)]
mod tests {
    const NAME: &str = \"in_test\";
}
";
    let names = names_in(text);
    let has = |name: &str| names.contains(name);
    assert!(has("defined") && has("whole") && has("behind_path") && has("single"), "{names:?}");
    for name in ["in_comment", "method", "module", "of_std", "in_test", "string", "in", "x"] {
        assert!(!has(name), "{name}");
    }
}
