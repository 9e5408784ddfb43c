//! Whether what a checklist says is shown: each ticked row names a test, and each test is where the row says.
//!
//! A row names a test as `` `path/to/file.rs::function` ``, and a further one of the same file as `` `::function` ``.
//! A browser's scenario stands behind its file in the same way. A test of Python may be `` `test_name` of
//! `path/to/file.py` ``. A file that has nothing but tests may be named as a whole, and so may a page of stencils.

use std::path::{Path, PathBuf};

/// The faults of the ticked rows of a list, in the repository below `root`.
#[must_use]
pub fn faults(list: &str, root: &Path) -> Vec<String> {
    let ticked = list.lines().filter_map(|it| it.strip_prefix("- [x] "));
    ticked.flat_map(|row| faults_of_row(row, root)).collect()
}

fn faults_of_row(row: &str, root: &Path) -> Vec<String> {
    let name = row.split("**").nth(1).unwrap_or(row);
    let spans: Vec<&str> = row.split('`').skip(1).step_by(2).collect();
    let mut faults = Vec::new();
    let mut n_tests = 0;
    // The file that `::function` is about.
    let mut last: Option<File> = None;
    for (at, span) in spans.iter().enumerate() {
        let Some(named) = Named::read(span, &spans[at + 1..]) else { continue };
        if !named.path.is_empty() {
            last = File::find(named.path, root);
        }
        match &last {
            None => faults.push(format!("{name}: there is no file for `{span}`")),
            Some(file) => match file.holds(named.item) {
                Holds::Test => n_tests += 1,
                Holds::Other => {}
                Holds::Nothing => {
                    faults.push(format!("{name}: `{span}` is not in {}", file.path.display()));
                }
            },
        }
    }
    if n_tests == 0 && faults.is_empty() {
        faults.push(format!("{name}: no test is named"));
    }
    faults
}

/// The file or test that a span of code in a row names; spans of other kinds name nothing.
struct Named<'a> {
    /// Empty for the file that was named before.
    path: &'a str,
    /// A part of the file; without one, all of it.
    item: Option<&'a str>,
}

impl<'a> Named<'a> {
    fn read(span: &'a str, behind: &[&'a str]) -> Option<Self> {
        if let Some((path, item)) = span.split_once("::") {
            return Some(Self { path, item: Some(item) });
        }
        let is_word = span.chars().all(|it| it.is_ascii_alphanumeric() || it == '_');
        if span.starts_with("test_") && is_word {
            let file = behind.iter().find(|it| kind_of(it) == Some(Kind::Python));
            return Some(Self { path: file.copied().unwrap_or(span), item: Some(span) });
        }
        let is_path = kind_of(span).is_some() && !span.contains([' ', '*']);
        is_path.then_some(Self { path: span, item: None })
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Rust,
    Python,
    Browser,
    Page,
}

fn kind_of(path: &str) -> Option<Kind> {
    match Path::new(path).extension()?.to_str()? {
        "rs" => Some(Kind::Rust),
        "py" => Some(Kind::Python),
        "mjs" => Some(Kind::Browser),
        "md" => Some(Kind::Page),
        _ => None,
    }
}

/// The kind of a part of a file.
enum Holds {
    Test,
    /// Something that shows nothing by itself.
    Other,
    Nothing,
}

struct File {
    /// From the root.
    path: PathBuf,
    kind: Kind,
    text: String,
}

/// The sources of the compiler's crates that pass their modules on.
const COMPILER: [&str; 6] = [
    "compiler/src",
    "compiler/ground/src",
    "compiler/front/src",
    "compiler/reference/src",
    "compiler/middle/src",
    "compiler/code/src",
];

impl File {
    /// The file that a row means: below the compiler's sources, or from the root.
    fn find(named: &str, root: &Path) -> Option<Self> {
        let kind = kind_of(named)?;
        let in_compiler = COMPILER.iter().map(|it| Path::new(it).join(named));
        // A crate of the compiler that is one room: `service/tests.rs`.
        let in_room =
            named.split_once('/').map(|(room, file)| Path::new("compiler").join(room).join("src").join(file));
        let mut paths = in_compiler.chain(in_room).chain([PathBuf::from(named)]);
        let path = paths.find(|it| root.join(it).is_file())?;
        let text = std::fs::read_to_string(root.join(&path)).ok()?;
        Some(Self { path, kind, text })
    }

    fn holds(&self, item: Option<&str>) -> Holds {
        let Some(item) = item else { return if self.is_all_tests() { Holds::Test } else { Holds::Other } };
        let has = |start: &str| self.text.lines().any(|it| it.trim_start().starts_with(start));
        let is_test = match self.kind {
            Kind::Rust => has_test(&self.text, item),
            Kind::Python => has(&format!("def {item}(")) && item.starts_with("test_"),
            Kind::Browser => has(&format!("scenario(\"{item}\"")),
            Kind::Page => false,
        };
        let is_item = |word: &str| {
            let declared = format!("{word} {item}");
            let ends = |it: &str| !it.starts_with(|it: char| it.is_alphanumeric() || it == '_');
            self.text.match_indices(&declared).any(|(at, _)| ends(&self.text[at + declared.len()..]))
        };
        match self.kind {
            _ if is_test => Holds::Test,
            Kind::Rust if ["fn", "struct", "enum", "trait", "const"].into_iter().any(is_item) => Holds::Other,
            Kind::Rust | Kind::Python | Kind::Browser | Kind::Page => Holds::Nothing,
        }
    }

    /// Whether nothing but tests is in it, or a test runs all of it.
    fn is_all_tests(&self) -> bool {
        match self.kind {
            Kind::Rust => {
                // The package of tests has sources that are none.
                let below = self.path.strip_prefix("tests/tests").unwrap_or(&self.path);
                let is_test_file = below != self.path || is_among_tests(below);
                is_test_file && (self.text.contains("#[test]") || self.text.contains(" shards of "))
            }
            Kind::Python => self.path.starts_with("python/tests") && self.text.contains("def test_"),
            Kind::Browser => self.path.starts_with("tests/e2e") && self.text.contains("\nscenario("),
            Kind::Page => self.path.starts_with("tests/conformance"),
        }
    }
}

/// Whether a file is one of the tests of its crate or module.
fn is_among_tests(path: &Path) -> bool {
    path.iter().skip(1).any(|it| it == "tests" || it == "tests.rs")
}

/// Whether a file of Rust has a test of this name: a function behind `#[test]`, or one that is run in shards.
fn has_test(text: &str, name: &str) -> bool {
    let (function, shards) = (format!("fn {name}("), format!("{name}:"));
    let mut is_marked = false;
    let mut lines = text.lines().map(str::trim);
    while let Some(line) = lines.next() {
        if line.starts_with("#[test]") || line.starts_with("#[tokio::test") {
            is_marked = true;
        } else if let Some(behind) = line.strip_prefix(&shards) {
            // A long one stands on the next line.
            let behind = if behind.is_empty() { lines.next().unwrap_or_default() } else { behind };
            if behind.contains(" shards of ") {
                return true;
            }
        } else if !line.starts_with("#[") && !line.starts_with("//") {
            let declared = line.trim_start_matches("pub ").trim_start_matches("async ");
            if is_marked && declared.starts_with(&function) {
                return true;
            }
            is_marked = false;
        }
    }
    false
}
