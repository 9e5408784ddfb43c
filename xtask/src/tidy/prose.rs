//! Forms of sentences that have to be read twice: a file has no more of them than `prose.tsv` keeps.
//!
//! New files have none. Numbers may only fall: `cargo xtask tidy --lower` writes them anew.

use std::collections::BTreeMap;
use std::fs;

use anyhow::{Context, Result, bail};

use crate::process::root;

const KEPT: &str = "xtask/src/tidy/prose.tsv";
/// More words than a sentence is read with at once.
const MOST_WORDS: usize = 25;

/// A form that the style guide refuses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Form {
    /// `What ...` or `Who ...` as the subject.
    What,
    Whoever,
    OfWhich,
    /// `else` as the last word.
    Else,
    /// More than [`MOST_WORDS`].
    Long,
}

impl Form {
    const ALL: [Self; 5] = [Self::What, Self::Whoever, Self::OfWhich, Self::Else, Self::Long];

    fn name(self) -> &'static str {
        match self {
            Self::What => "\"What ...\" or \"Who ...\" as a subject",
            Self::Whoever => "\"whoever\"",
            Self::OfWhich => "\"of which\"",
            Self::Else => "a final \"else\"",
            Self::Long => "sentences over 25 words",
        }
    }

    fn is_of(self, sentence: &str) -> bool {
        let words = || sentence.split_whitespace().filter(|it| it.contains(char::is_alphanumeric));
        let first = words().next().unwrap_or_default();
        let lower = || unquoted(sentence).to_lowercase();
        match self {
            Self::What => matches!(first, "What" | "Who"),
            Self::Whoever => lower().split(|it: char| !it.is_alphabetic()).any(|it| it == "whoever"),
            Self::OfWhich => lower().contains("of which"),
            Self::Else => {
                words().next_back().is_some_and(|it| it.trim_end_matches(['.', ',', ';', ':']) == "else")
            }
            Self::Long => words().count() > MOST_WORDS,
        }
    }
}

/// A sentence without its parts in quotes and backticks, which it only mentions.
fn unquoted(sentence: &str) -> String {
    let mut kept = String::new();
    let mut until: Option<char> = None;
    for it in sentence.chars() {
        match until {
            Some(end) if it == end => until = None,
            Some(_) => {}
            None if matches!(it, '"' | '`') => until = Some(it),
            None => kept.push(it),
        }
    }
    kept
}

/// How many sentences of each form a file has, in the order of [`Form::ALL`].
type Counts = [usize; 5];

/// The comments of Rust, and the text of Markdown; lists that programs make and pages of examples are neither.
fn is_read(file: &str) -> bool {
    let made = [
        "docs/benchmarks/",
        "docs/diagnostics.md",
        "docs/checklist.md",
        "tests/conformance/",
        "tests/advice/",
    ];
    !made.iter().any(|it| file.starts_with(it)) && (file.ends_with(".rs") || file.ends_with(".md"))
}

/// The findings of all files, and what might be kept from now on.
pub(super) fn check(files: &[(String, String)]) -> Result<(Vec<String>, Vec<String>)> {
    let kept = kept()?;
    let (mut findings, mut n_fewer) = (Vec::new(), 0);
    for (file, text) in files.iter().filter(|it| is_read(&it.0)) {
        let found = sentences(file, text);
        let counts = counts(&found);
        let most = kept.get(file).copied().unwrap_or_default();
        for (at, form) in Form::ALL.into_iter().enumerate() {
            n_fewer += most[at].saturating_sub(counts[at]);
            if counts[at] > most[at] {
                let lines = found.iter().filter(|it| form.is_of(&it.1)).map(|it| it.0.to_string());
                let lines: Vec<String> = lines.collect();
                findings.push(format!(
                    "{file}:{}: {} stand in {} places, and {} may (the style guide's \"Comments\"): lines {}",
                    lines[0],
                    form.name(),
                    counts[at],
                    most[at],
                    lines.join(", ")
                ));
            }
        }
    }
    let note =
        format!("{n_fewer} fewer sentences of refused forms than {KEPT} keeps: `cargo xtask tidy --lower`");
    Ok((findings, if n_fewer > 0 { vec![note] } else { Vec::new() }))
}

/// Writes the numbers of today, where none is larger than before.
pub(super) fn lower(files: &[(String, String)]) -> Result<()> {
    let path = root().join(KEPT);
    if path.exists() {
        let (findings, _) = check(files)?;
        if !findings.is_empty() {
            bail!("some numbers are larger than before:\n{}", findings.join("\n"));
        }
    }
    let mut text = String::from("# file\twhat\twhoever\tof which\telse\tover 25 words\n");
    for (file, content) in files.iter().filter(|it| is_read(&it.0)) {
        let counts = counts(&sentences(file, content));
        if counts != Counts::default() {
            text.push_str(&format!("{file}\t{}\n", counts.map(|it| it.to_string()).join("\t")));
        }
    }
    fs::write(&path, text).with_context(|| format!("{} cannot be written", path.display()))
}

fn kept() -> Result<BTreeMap<String, Counts>> {
    let text = fs::read_to_string(root().join(KEPT)).with_context(|| format!("{KEPT} cannot be read"))?;
    let mut kept = BTreeMap::new();
    for line in text.lines().filter(|it| !it.starts_with('#')) {
        let mut columns = line.split('\t');
        let file = columns.next().unwrap_or_default();
        let numbers: Vec<usize> =
            columns.map(str::parse).collect::<Result<_, _>>().context(line.to_owned())?;
        let counts = Counts::try_from(numbers).ok().with_context(|| format!("{KEPT}: {line}"))?;
        kept.insert(file.to_owned(), counts);
    }
    Ok(kept)
}

fn counts(found: &[(usize, String)]) -> Counts {
    Form::ALL.map(|form| found.iter().filter(|it| form.is_of(&it.1)).count())
}

/// The sentences of a file, each with its line.
fn sentences(file: &str, text: &str) -> Vec<(usize, String)> {
    let is_markdown = file.ends_with(".md");
    let mut found = Vec::new();
    let (mut paragraph, mut is_code) = (Vec::new(), false);
    for (number, line) in (1..).zip(text.lines()) {
        let line = match is_markdown {
            true => Some(line.trim()),
            false => comment(line),
        };
        let is_fence = line.is_some_and(|it| it.starts_with("```"));
        let Some(line) = line.filter(|it| !it.is_empty() && !is_fence && !is_code) else {
            end(&mut paragraph, &mut found);
            is_code = line.is_some() && is_code != is_fence;
            continue;
        };
        // Tables are no sentences, nor are headings; an item of a list starts a new one.
        if line.starts_with(['|', '#', '<', '>']) {
            end(&mut paragraph, &mut found);
            continue;
        }
        let item = line.strip_prefix("- ").or_else(|| line.strip_prefix("* "));
        if item.is_some() || is_markdown {
            end(&mut paragraph, &mut found);
        }
        paragraph.push((number, item.unwrap_or(line).to_owned()));
    }
    end(&mut paragraph, &mut found);
    found
}

/// The text of a line that is only a comment.
fn comment(line: &str) -> Option<&str> {
    let line = line.trim_start();
    ["///", "//!", "//"].into_iter().find_map(|it| line.strip_prefix(it)).map(str::trim)
}

/// Takes the sentences of a paragraph.
fn end(paragraph: &mut Vec<(usize, String)>, found: &mut Vec<(usize, String)>) {
    let mut sentence = String::new();
    let mut start = None;
    for (number, line) in paragraph.drain(..) {
        for word in line.split_whitespace() {
            start.get_or_insert(number);
            sentence.push_str(word);
            sentence.push(' ');
            if word.trim_end_matches(['"', ')', '`', '*']).ends_with(['.', '!', '?']) && !is_short_form(word)
            {
                found.extend(start.take().map(|it| (it, std::mem::take(&mut sentence))));
            }
        }
    }
    found.extend(start.map(|it| (it, sentence)));
}

fn is_short_form(word: &str) -> bool {
    ["e.g.", "i.e.", "...", "cf.", "vs."].contains(&word.trim_start_matches('('))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn forms(text: &str) -> Vec<(usize, Form)> {
        let found = sentences("a.rs", text);
        let of = |(line, it): &(usize, String)| {
            Form::ALL.into_iter().filter(|form| form.is_of(it)).map(|form| (*line, form)).collect::<Vec<_>>()
        };
        found.iter().flat_map(of).collect()
    }

    #[test]
    fn each_form_is_found_with_its_line() {
        assert_eq!(
            forms("/// What is kept.\nfn f() {}\n// It ends. Who waits goes on.\n"),
            [(1, Form::What), (3, Form::What)]
        );
        assert_eq!(
            forms("//! One, of\n//! which there are two; it goes to whoever asks.\n"),
            [(1, Form::Whoever), (1, Form::OfWhich)]
        );
        assert_eq!(forms("// It names \"of which\" and `whoever`.\n"), []);
        assert_eq!(forms("    // It is this, or something else.\n"), [(1, Form::Else)]);
        let words = |n: usize| format!("/// {}.\n", vec!["word"; n].join(" "));
        assert_eq!(forms(&words(25)), []);
        assert_eq!(forms(&words(26)), [(1, Form::Long)]);
    }

    #[test]
    fn code_tables_and_other_lines_are_no_sentences() {
        let text = "/// One.\n/// ```text\n/// What is\n/// ```\n/// | What | is |\nlet what = \"What is\"; // What\n/// Two.\n";
        assert_eq!(forms(text), []);
    }

    #[test]
    fn a_line_of_markdown_ends_a_sentence_and_an_item_starts_one() {
        let found = sentences("a.md", "One\ntwo\n- What is three\n");
        let shown: Vec<&str> = found.iter().map(|it| it.1.trim()).collect();
        assert_eq!(shown, ["One", "two", "What is three"]);
    }
}
