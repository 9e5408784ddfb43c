//! Pages to blocks, and blocks to what they say about themselves.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use isobar_protocol::request::Arithmetic;

use crate::root;

/// One stencil of a page.
#[derive(Clone, Debug, Default)]
pub struct Block {
    pub heading: String,
    /// The line of the page on which the stencil's text starts.
    pub line: usize,
    pub text: String,
    /// Files beside it.
    pub modules: BTreeMap<String, String>,
    pub precision: u32,
    pub halo: i64,
    /// Whether `min` and `max`, and whether `%` and `mod`, compute as C does.
    pub minmax: Option<Arithmetic>,
    pub modulo: Option<Arithmetic>,
}

/// The stencils of all pages, in their order, each with the file of its page.
///
/// # Panics
///
/// When a page cannot be read.
#[must_use]
pub fn all_blocks() -> Vec<(String, Block)> {
    let folder = root().join("tests/conformance");
    let entries = std::fs::read_dir(folder).expect("the pages are there");
    let mut paths: Vec<_> = entries.map(|it| it.expect("it is a page").path()).collect();
    paths.retain(|it| it.extension().is_some_and(|it| it == "md"));
    paths.sort();
    let of_page = |path: &PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let found = blocks(&std::fs::read_to_string(path).expect("it is text"));
        found.into_iter().map(move |it| (name.clone(), it))
    };
    paths.iter().flat_map(of_page).collect()
}

/// The stencils of a page, in their order.
///
/// # Panics
///
/// When a fence has an option that is not known, or no end.
#[must_use]
pub fn blocks(page: &str) -> Vec<Block> {
    let mut found = Vec::new();
    let mut heading = String::new();
    let mut modules = BTreeMap::new();
    let mut lines = page.lines().enumerate();
    while let Some((number, line)) = lines.next() {
        if let Some(text) = line.strip_prefix('#') {
            text.trim_start_matches('#').trim().clone_into(&mut heading);
            modules.clear();
        }
        let Some(info) = line.strip_prefix("```") else { continue };
        let mut text = String::new();
        loop {
            let (_, line) =
                lines.next().unwrap_or_else(|| panic!("the block in line {} has no end", number + 1));
            if line == "```" {
                break;
            }
            text += line;
            text.push('\n');
        }
        let mut words = info.split_whitespace();
        match words.next() {
            Some("stencil") => {
                let (heading, modules) = (heading.clone(), modules.clone());
                let mut block =
                    Block { heading, line: number + 2, text, modules, precision: 64, ..Block::default() };
                for word in words {
                    match word.split_once('=') {
                        Some(("precision", "32")) => block.precision = 32,
                        Some(("halo", "1")) => block.halo = 1,
                        Some(("minmax", "c")) => block.minmax = Some(Arithmetic::C),
                        Some(("mod", "c")) => block.modulo = Some(Arithmetic::C),
                        _ => panic!("line {}: `{word}` is no option of a stencil", number + 1),
                    }
                }
                found.push(block);
            }
            Some("module") => {
                modules.insert(words.next().unwrap_or_default().to_owned(), text);
            }
            _ => {}
        }
    }
    found
}

/// The comments of a block about itself, by keyword; see the [module](super).
impl Block {
    /// The diagnostics that must be: line from 1, `error`, `warning` or `hint`, code.
    #[must_use]
    pub fn diagnostics(&self) -> BTreeSet<(usize, String, String)> {
        let mut expected = BTreeSet::new();
        for (number, line) in self.text.lines().enumerate() {
            for severity in ["error", "warning", "hint"] {
                for after in line.split(&format!("{severity}[")).skip(1) {
                    let code = after.split(']').next().unwrap_or_default();
                    // Said of the text as a whole where it stands alone.
                    let number = if line.starts_with(&format!("# {severity}[")) { 0 } else { number + 1 };
                    expected.insert((number, severity.to_owned(), code.to_owned()));
                }
            }
        }
        expected
    }

    /// The rest of every comment line that starts with a keyword.
    pub fn lines_of<'b>(&'b self, keyword: &'b str) -> impl Iterator<Item = &'b str> {
        let of = move |line: &'b str| {
            let rest = line.trim_start().strip_prefix("# ")?.strip_prefix(keyword)?;
            (rest.is_empty() || rest.starts_with([' ', '['])).then(|| rest.trim())
        };
        self.text.lines().filter_map(of)
    }

    /// `# keyword name = value`, by name.
    ///
    /// # Panics
    ///
    /// When the line is none.
    #[must_use]
    pub fn values_of<'b>(&'b self, keyword: &'b str) -> Vec<(&'b str, &'b str)> {
        let pair = |line: &'b str| match str::split_once(line, '=') {
            Some((name, value)) => (name.trim(), value.trim()),
            None => panic!("`# {keyword} {line}` has no `=`"),
        };
        self.lines_of(keyword).map(pair).collect()
    }
}
