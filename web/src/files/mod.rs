//! Files that somebody drops onto the page or chooses: folders and archives as well, within limits, and total.
//!
//! Of a folder that is larger than a workspace those files are taken that have stencils, then those that these import.

pub mod zip;

use std::collections::{BTreeMap, BTreeSet};

use isobar_protocol::{names, notebook};

use crate::bridge::locale::t;

/// Most files in a workspace, and most bytes of all of them.
pub const MOST_FILES: usize = 64;
pub const MOST_BYTES: usize = 1024 * 1024;

/// The files that were taken, with notes about the rest.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ImportedFiles {
    /// Texts by path.
    pub files: BTreeMap<String, String>,
    pub notes: Vec<String>,
}

/// All Python files that were dropped, those of archives too, whatever their number.
#[must_use]
pub fn read(dropped: Vec<(String, Vec<u8>)>) -> ImportedFiles {
    let mut taken = ImportedFiles::default();
    let mut all = BTreeMap::new();
    let mut n_foreign = 0;
    for (name, bytes) in dropped {
        if name.to_ascii_lowercase().ends_with(".zip") {
            match zip::read(&bytes) {
                Ok(archive) => {
                    taken.notes.extend(archive.notes);
                    for (name, bytes) in archive.files {
                        n_foreign += usize::from(!add(&mut all, &mut taken.notes, &name, bytes));
                    }
                }
                Err(why) => {
                    taken.notes.push(t!("files-not-opened", name = names::visible(&name), why = why));
                }
            }
        } else {
            n_foreign += usize::from(!add(&mut all, &mut taken.notes, &name, bytes));
        }
    }
    if n_foreign > 0 && all.is_empty() {
        taken.notes.push(t!("files-only-python").to_owned());
    }
    taken.files = all;
    taken
}

/// Takes what fits beside `n_files` files of `n_bytes` bytes.
#[must_use]
pub fn take(read: ImportedFiles, n_files: usize, n_bytes: usize) -> ImportedFiles {
    let mut taken = ImportedFiles { notes: read.notes, ..ImportedFiles::default() };
    let all = read.files;
    let (files, n_left) = chosen(all, MOST_FILES.saturating_sub(n_files), MOST_BYTES.saturating_sub(n_bytes));
    if n_left > 0 {
        taken.notes.push(t!("files-left-out", n = n_left, most = MOST_FILES));
    }
    taken.files = files;
    taken
}

/// Adds a Python file, or the code cells of a notebook as a file. A note tells of one that cannot be read.
/// Returns whether the file is a Python file or a notebook.
fn add(all: &mut BTreeMap<String, String>, notes: &mut Vec<String>, name: &str, bytes: Vec<u8>) -> bool {
    let name = name.replace('\\', "/");
    let name = name.trim_start_matches("./").trim_start_matches('/');
    let stem = name.strip_suffix(".ipynb");
    if !name.ends_with(".py") && stem.is_none() {
        return false;
    }
    let shown = names::visible(name);
    let name = stem.map_or_else(|| name.to_owned(), |it| format!("{it}.py"));
    if names::file(&name).is_err() {
        notes.push(t!("files-no-name", name = shown));
        return true;
    }
    match String::from_utf8(bytes) {
        Ok(text) if text.contains('\0') => notes.push(t!("files-no-text", name = shown)),
        Ok(text) if stem.is_some() => match notebook::script(&text) {
            Some(script) => drop(all.insert(name, script)),
            None => notes.push(t!("files-no-notebook", name = shown)),
        },
        Ok(text) => drop(all.insert(name, text)),
        Err(_) => notes.push(t!("files-not-utf8", name = shown)),
    }
    true
}

/// As many files as fit, those with stencils first; and how many do not.
fn chosen(
    all: BTreeMap<String, String>,
    most_files: usize,
    most_bytes: usize,
) -> (BTreeMap<String, String>, usize) {
    let total: usize = all.values().map(String::len).sum();
    if all.len() <= most_files && total <= most_bytes {
        return (all, 0);
    }
    let imported: BTreeSet<String> =
        all.values().filter(|it| has_stencil(it)).flat_map(|it| imports(it)).collect();
    let mut ranked: Vec<_> = all.into_iter().collect();
    ranked.sort_by_cached_key(|(name, text)| {
        let is_test = name.split('/').any(|it| it == "tests" || it == "test" || it.starts_with("test_"));
        let is_imported = imported.iter().any(|it| is_module(name, it));
        let rank = match (has_stencil(text), is_imported) {
            (true, _) => 0,
            (false, true) => 1,
            (false, false) => 2,
        };
        (is_test, rank, name.clone())
    });
    let (mut files, mut bytes, mut n_left) = (BTreeMap::new(), 0_usize, 0);
    for (name, text) in ranked {
        if files.len() < most_files && bytes + text.len() <= most_bytes {
            bytes += text.len();
            files.insert(name, text);
        } else {
            n_left += 1;
        }
    }
    (files, n_left)
}

/// Whether a text looks as if it had a stencil.
#[must_use]
pub fn has_stencil(text: &str) -> bool {
    text.contains("computation(")
}

/// The file to start from: the first with a stencil, or the first.
#[must_use]
pub fn main_of(files: &BTreeMap<String, String>) -> Option<&str> {
    let with = files.iter().find(|(_, text)| has_stencil(text));
    with.or_else(|| files.iter().next()).map(|(name, _)| name.as_str())
}

/// Whether a file is the module of that path: `model/basic.py` is `model.basic`, and may be meant by `basic`.
#[must_use]
pub fn is_module(file: &str, module: &str) -> bool {
    let path = file.strip_suffix(".py").unwrap_or(file);
    let path = path.strip_suffix("/__init__").unwrap_or(path);
    let wanted = module.replace('.', "/");
    path == wanted || path.ends_with(&format!("/{wanted}")) || wanted.ends_with(&format!("/{path}"))
}

/// The modules that lines of a text import, and the names from them, which may be modules as well.
fn imports(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    for line in text.lines() {
        let mut words = line.split_whitespace();
        let module = match (words.next(), words.next()) {
            (Some("from" | "import"), Some(module)) => module.trim_matches(['.', ',']),
            _ => continue,
        };
        if module.is_empty() {
            continue;
        }
        found.push(module.to_owned());
        if words.next() == Some("import") {
            let names = words.map(|it| it.trim_matches(['(', ')', ',']));
            found.extend(names.filter(|it| !it.is_empty()).map(|it| format!("{module}.{it}")));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn take_all(dropped: Vec<(String, Vec<u8>)>, n_files: usize, n_bytes: usize) -> ImportedFiles {
        take(read(dropped), n_files, n_bytes)
    }

    #[test]
    fn of_a_notebook_the_code_cells_are_taken() {
        let notebook = r##"{"cells": [{"cell_type": "code", "source": ["%pylab\n", "x = 1"]}]}"##;
        let taken = take_all(vec![file("n/a.ipynb", notebook), file("b.ipynb", "x = 1")], 0, 0);
        assert_eq!(taken.files.keys().collect::<Vec<_>>(), ["n/a.py"]);
        assert_eq!(taken.files["n/a.py"], "# %% cell 1\npass\nx = 1\n");
        assert_eq!(taken.notes.len(), 1);
    }

    fn file(name: &str, text: &str) -> (String, Vec<u8>) {
        (name.to_owned(), text.as_bytes().to_vec())
    }

    #[test]
    fn python_files_are_taken_and_others_are_not() {
        let taken =
            take_all(vec![file("a.py", "x = 1\n"), file("README.md", "text"), file("./p/b.py", "")], 0, 0);
        assert_eq!(taken.files.keys().collect::<Vec<_>>(), ["a.py", "p/b.py"]);
        assert_eq!(taken.notes, [""; 0]);
        assert_eq!(take_all(vec![file("a.md", "")], 0, 0).notes.len(), 1);
    }

    #[test]
    fn names_that_escape_and_bytes_that_are_no_text_are_left_out_and_told() {
        let dropped = vec![
            file("../a.py", ""),
            file("a\u{202e}.py", ""),
            ("b.py".to_owned(), vec![0xff, 0xfe]),
            file("c.py", "a\0b"),
            file("d.py", ""),
        ];
        let taken = take_all(dropped, 0, 0);
        assert_eq!(taken.files.keys().collect::<Vec<_>>(), ["d.py"]);
        assert_eq!(taken.notes.len(), 4);
        assert!(taken.notes.iter().all(|it| !it.contains('\u{202e}')));
    }

    #[test]
    fn of_too_many_files_those_with_stencils_and_their_modules_are_taken() {
        let mut dropped: Vec<_> = (0..80).map(|it| file(&format!("m/a{it:02}.py"), "x = 1\n")).collect();
        dropped.push(file("m/z.py", "from m.y import f\nwith computation(PARALLEL):\n"));
        dropped.push(file("m/y.py", "def f(): ...\n"));
        let taken = take_all(dropped, 4, 0);
        assert_eq!(taken.files.len(), MOST_FILES - 4);
        assert!(taken.files.contains_key("m/z.py") && taken.files.contains_key("m/y.py"));
        assert!(taken.notes[0].starts_with("22 of the files"), "{:?}", taken.notes);
        assert_eq!(main_of(&taken.files), Some("m/z.py"));
    }

    #[test]
    fn no_workspace_has_more_bytes_than_are_allowed() {
        let half = "#".repeat(MOST_BYTES / 2 + 1);
        let taken = take_all(vec![file("a.py", &half), file("b.py", &half)], 0, 0);
        assert_eq!(taken.files.len(), 1);
        assert!(take_all(vec![file("a.py", "x")], 0, MOST_BYTES).files.is_empty());
    }

    #[test]
    fn a_file_is_the_module_of_its_path() {
        assert!(is_module("repo/model/basic.py", "model.basic"));
        assert!(is_module("basic.py", "model.basic"));
        assert!(is_module("model/__init__.py", "model"));
        assert!(!is_module("model/other.py", "model.basic"));
        assert!(!is_module("abasic.py", "basic"));
    }
}
