//! `cargo xtask e2e --measure` and `--faults`: the numbers of the page, as somebody who visits it has them.

use std::fs;

use anyhow::{Context, Result};

use crate::install;
use crate::page::{Profile, page};
use crate::process::{built, output, program, root, say, target_dir};

/// The lines that a table stands between.
type Place = [&'static str; 2];
const MEASURED: Place =
    ["<!-- measured by `cargo xtask e2e --measure` -->\n", "<!-- end of what was measured -->\n"];
const FAULTS: Place = ["<!-- injected by `cargo xtask e2e --faults` -->\n", "<!-- end of the faults -->\n"];

/// Builds page and runner as they are served, measures, prints the table and writes it to `docs/playground.md`.
pub(crate) fn measure() -> Result<()> {
    let table = printed_by("tests/e2e/measure.mjs", &[], "measure the page in Chromium: a few minutes")?;
    publish(MEASURED, &table)
}

/// Injects faults into a page as it is served, prints what they cost and writes it to `docs/playground.md`.
///
/// Fails where one cost more than it may: then nothing is written.
pub(crate) fn faults(count: u32) -> Result<()> {
    let count = count.to_string();
    let table = printed_by(
        "tests/e2e/faults.mjs",
        &[&count],
        "inject faults while somebody types: some seconds each",
    )?;
    publish(FAULTS, &table)
}

fn publish(place: Place, table: &str) -> Result<()> {
    print!("{table}");
    let file = root().join("docs/playground.md");
    let text = fs::read_to_string(&file).context("docs/playground.md")?;
    fs::write(file, replaced(&text, place, table)?).context("docs/playground.md")
}

/// Builds page and runner as they are served, and answers what a script prints that drives them.
pub(crate) fn printed_by(script: &str, args: &[&str], what: &str) -> Result<String> {
    page(Profile::Release)?;
    let chromium = install::chromium()?;
    built("isobar")?;
    say(what);
    let mut measure = program("node");
    measure.arg(script).args(args).env("ISOBAR_CHROMIUM", chromium);
    measure.env("ISOBAR_BIN", target_dir().join("debug").join("isobar"));
    output(&mut measure)
}

fn replaced(text: &str, [start, end]: Place, table: &str) -> Result<String> {
    let parts = text.split_once(start).and_then(|(before, rest)| Some((before, rest.split_once(end)?.1)));
    let (before, after) = parts.context("docs/playground.md has no place for the table")?;
    Ok(format!("{before}{start}\n{table}\n{end}{after}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_replaces_the_one_before() {
        for [start, end] in [MEASURED, FAULTS] {
            let text = format!("a\n{start}\nold\n\n{end}b\n");
            let once = replaced(&text, [start, end], "new\n").expect("it has a place");
            assert_eq!(once, format!("a\n{start}\nnew\n\n{end}b\n"));
            assert_eq!(replaced(&once, [start, end], "new\n").expect("it has a place"), once);
            assert!(replaced("a\n", [start, end], "new\n").is_err());
        }
    }
}
