//! The page of every diagnostic, from the doc comments of their codes and from the conformance pages.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use crate::conformance::{Block, blocks};
use crate::root;

/// The documentation of one code.
#[derive(Debug, Default)]
struct Page {
    /// The paragraphs of its doc comments; the first one is its title.
    paragraphs: Vec<String>,
}

/// The text of `docs/diagnostics.md`.
///
/// # Errors
///
/// When a source cannot be read.
pub fn diagnostics() -> Result<String> {
    let mut pages: BTreeMap<String, Page> = BTreeMap::new();
    for path in files(&root().join("compiler/ground/src/diag/catalog"), "rs")? {
        let source = std::fs::read_to_string(&path)?;
        for (code, paragraphs) in codes(&source) {
            pages.entry(code).or_default().paragraphs.extend(paragraphs);
        }
    }
    let examples = examples()?;
    let mut out = String::from(
        "# Diagnostics\n\n\
         Every code that the compiler says, with its reason and, where there is one, an example that gives it and one that does not.\n\
         `isobar explain E16` prints the part about a code.\n\
         `E..` is about the stencil, `C..` about a call, `D..` about comment lines, `P..` about a program, `S..` about a schedule, `W..` is a warning or a hint.\n\n\
         This file is made from the sources: `cargo xtask manual` writes it, and a test compares.\n",
    );
    for (code, page) in &pages {
        let mut paragraphs = page.paragraphs.iter();
        let title = paragraphs.next().context("a code has a doc comment")?;
        let _ = write!(out, "\n## {code}: {}\n", lower_first(title.trim_end_matches('.')));
        for paragraph in paragraphs {
            let _ = write!(out, "\n{paragraph}\n");
        }
        let Some(example) = examples.get(code.as_str()) else { continue };
        let _ = write!(out, "\n```python\n{}```\n", example.wrong.text);
        if let Some(right) = &example.right {
            let _ = write!(out, "\nThis is fine:\n\n```python\n{}```\n", right.text);
        }
        let _ = write!(out, "\nMore in [{}](../tests/conformance/{}).\n", example.heading, example.file);
    }
    Ok(out)
}

fn lower_first(text: &str) -> String {
    // A first word that is code, or an axis, stays as it is.
    let is_word = text.chars().nth(1).is_some_and(|it| it.is_lowercase() || it == ' ');
    let mut letters = text.chars();
    match letters.next() {
        Some(first) if is_word => first.to_lowercase().chain(letters).collect(),
        _ => text.to_owned(),
    }
}

fn files(folder: &Path, extension: &str) -> Result<Vec<PathBuf>> {
    let mut paths = Vec::new();
    for entry in std::fs::read_dir(folder).with_context(|| folder.display().to_string())? {
        let path = entry?.path();
        if path.extension().is_some_and(|it| it == extension) {
            paths.push(path);
        }
    }
    paths.sort();
    Ok(paths)
}

/// Each `pub const NAME: Code = Code("E16");` of a source, with the paragraphs of its doc comment.
fn codes(source: &str) -> Vec<(String, Vec<String>)> {
    let mut found = Vec::new();
    let mut paragraphs: Vec<String> = Vec::new();
    let mut is_open = false;
    for line in source.lines() {
        if let Some(text) = line.strip_prefix("///") {
            let text = text.trim();
            match paragraphs.last_mut() {
                Some(last) if is_open && !text.is_empty() => {
                    last.push(' ');
                    last.push_str(text);
                }
                _ if !text.is_empty() => paragraphs.push(text.to_owned()),
                _ => {}
            }
            is_open = !text.is_empty();
            continue;
        }
        let code = line.strip_prefix("pub const ").and_then(|it| it.split_once(": Code = Code(\""));
        if let Some((_, code)) = code {
            found.push((code.trim_end_matches("\");").to_owned(), std::mem::take(&mut paragraphs)));
        }
        paragraphs.clear();
        is_open = false;
    }
    found
}

/// A stencil that gives a code, and one that does not.
#[derive(Debug)]
struct Example {
    wrong: Block,
    right: Option<Block>,
    heading: String,
    file: String,
}

/// For each code the shortest stencil of the pages that gives it and as little else as there is.
fn examples() -> Result<BTreeMap<String, Example>> {
    let mut found: BTreeMap<String, ((usize, usize), Example)> = BTreeMap::new();
    for path in files(&root().join("tests/conformance"), "md")? {
        let file = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let page = blocks(&std::fs::read_to_string(&path)?);
        for block in &page {
            let said = block.diagnostics();
            let refused = block.lines_of("refused").map(|it| it.trim_matches(['[', ']']).to_owned());
            let codes = said.iter().map(|it| it.2.clone()).chain(refused);
            let right = page.iter().find(|it| {
                let is_fine = it.diagnostics().is_empty() && it.lines_of("refused").next().is_none();
                it.heading == block.heading && is_fine
            });
            for code in codes {
                let rank = (said.len(), block.text.lines().count());
                let example = || Example {
                    wrong: block.clone(),
                    right: right.cloned(),
                    heading: block.heading.replace('`', ""),
                    file: file.clone(),
                };
                match found.get(&code) {
                    Some((best, _)) if *best <= rank => {}
                    _ => {
                        found.insert(code, (rank, example()));
                    }
                }
            }
        }
    }
    Ok(found.into_iter().map(|(code, (_, example))| (code, example)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_comment_above_a_code_is_its_page() {
        let source = "/// A title\n/// on two lines.\n///\n/// And why.\npub const A: Code = Code(\"E01\");\n\
                      /// Not a code.\npub fn f() {}\npub const B: Code = Code(\"E02\");\n";
        let expected = vec![
            ("E01".to_owned(), vec!["A title on two lines.".to_owned(), "And why.".to_owned()]),
            ("E02".to_owned(), vec![]),
        ];
        assert_eq!(codes(source), expected);
    }
}
