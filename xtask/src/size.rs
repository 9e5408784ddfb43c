//! `cargo xtask size`: how large the page is, and how long it takes to load.

use crate::measure::printed_by;
use crate::process::root;
use anyhow::{Context, Result};
use serde::Deserialize;
use std::fmt::Write as _;
use std::fs;

/// The output of `tests/e2e/size.mjs`.
#[derive(Debug, Deserialize)]
struct Measured {
    files: Vec<FileSize>,
    loads: usize,
    /// Bytes of all answers until the compiler has answered, with an empty cache, and how many answers.
    wire_bytes: u64,
    answers: usize,
    /// Milliseconds from the start of the navigation to the mounted page, and to the compiler's first answer.
    mounted_ms: Spread,
    ready_ms: Spread,
    browser: String,
}

#[derive(Debug, Deserialize)]
struct FileSize {
    name: String,
    raw: u64,
    gzip: u64,
    brotli: u64,
}

#[derive(Debug, Deserialize)]
struct Spread {
    median: f64,
    least: f64,
    greatest: f64,
}

/// Builds the page and the runner, measures, prints the table and writes it to `docs/benchmarks/size.md`.
pub(crate) fn size() -> Result<()> {
    let printed = printed_by(
        "tests/e2e/size.mjs",
        &[],
        "measure the files, and load the page in Chromium several times",
    )?;
    let measured: Measured = serde_json::from_str(&printed).context("what tests/e2e/size.mjs printed")?;
    let table = table(&measured);
    print!("{table}");
    let file = root().join("docs/benchmarks/size.md");
    if let Some(folder) = file.parent() {
        fs::create_dir_all(folder)?;
    }
    fs::write(file, table).context("docs/benchmarks/size.md")
}

fn table(measured: &Measured) -> String {
    let mut out = String::from(
        "# The page's size and load time\n\nWritten by `cargo xtask size`; sizes in bytes, gzip at level 9, brotli at 11.\n\n\
         | file | raw | gzip | brotli |\n|---|---:|---:|---:|\n",
    );
    let mut total = (0, 0, 0);
    for FileSize { name, raw, gzip, brotli } in &measured.files {
        total = (total.0 + raw, total.1 + gzip, total.2 + brotli);
        let _ = writeln!(out, "| `{name}` | {raw} | {gzip} | {brotli} |");
    }
    let _ = writeln!(out, "| **all** | {} | {} | {} |\n", total.0, total.1, total.2);
    let Measured { loads, wire_bytes, answers, mounted_ms, ready_ms, browser, .. } = measured;
    let _ = writeln!(
        out,
        "A first load is {wire_bytes} bytes over the wire, with headers, in {answers} answers: what is packed travels packed.\n"
    );
    let _ = writeln!(
        out,
        "Load time, {loads} loads with an empty cache from the runner on the same machine, {browser}, headless:\n"
    );
    let _ = writeln!(
        out,
        "| from the start of the navigation to | median ms | least | greatest |\n|---|---:|---:|---:|"
    );
    for (name, it) in [("the mounted page", mounted_ms), ("the compiler's first answer", ready_ms)] {
        let _ = writeln!(out, "| {name} | {:.0} | {:.0} | {:.0} |", it.median, it.least, it.greatest);
    }
    out
}
