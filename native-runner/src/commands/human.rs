//! Diagnostics and tables for people.

use std::collections::BTreeMap;
use std::fmt::Write;

use isobar_compiler::diag::mend::Finding;
use isobar_compiler::diag::{self, Code, FileId, Label, Span, render};
use isobar_protocol::bench::{CallStep, CopyRate, GraphStep, Memory, gigabytes_per_second};
use isobar_protocol::compile::{Remark, bytes};
use isobar_protocol::diagnostic::{Diagnostic, Edit, Position};
use isobar_protocol::field::FieldInfo;
use isobar_protocol::report::MeasuredStep;
use isobar_protocol::request::Request;
use isobar_protocol::tune::Tuned;

/// Diagnostics with the lines they are about, as the compiler shows them.
pub(crate) fn diagnostics(found: &[Diagnostic], request: &Request) -> String {
    let files: Vec<(&str, &str)> =
        request.files.iter().map(|(name, text)| (name.as_str(), text.as_str())).collect();
    found.iter().map(|it| one(it, &files) + "\n").collect()
}

fn one(found: &Diagnostic, files: &[(&str, &str)]) -> String {
    let label = |file: &str, start, end, text: &str| {
        let at = files.iter().position(|(name, _)| *name == file)?;
        let text_of_file = files[at].1;
        let span = Span::new(
            FileId(u16::try_from(at).ok()?),
            offset(text_of_file, start),
            offset(text_of_file, end),
        );
        Some(Label { span, text: text.to_owned() })
    };
    let related = found.related.iter();
    let shown = diag::Diagnostic {
        // Its first line is replaced below: of codes and severities the compiler knows only its own.
        code: Code(""),
        severity: diag::Severity::Error,
        message: String::new(),
        primary: label(&found.file, found.start, found.end, &found.label),
        secondary: related.filter_map(|it| label(&it.file, it.start, it.end, &it.message)).collect(),
        help: found.help.clone(),
        notes: found.notes.clone(),
        // Its title is all that is shown.
        fixes: found
            .fixes
            .iter()
            .map(|it| diag::Fix { title: it.title.clone(), edits: Vec::new() })
            .collect(),
        // A button of the page.
        remedy: None,
    };
    let file = |FileId(at): FileId| files.get(usize::from(at)).copied().unwrap_or_default();
    let rendered = render::render(&shown, &file);
    let below = rendered.split_once('\n').map_or("", |it| it.1);
    format!("{}[{}]: {}\n{below}", found.severity, found.code, found.message)
}

/// The changes that passes made or missed, one to a line, each with its place in the text.
pub(crate) fn remarks(all: &[Remark]) -> String {
    let mut text = String::new();
    for Remark { pass, applied, message, places, traffic, .. } in all {
        let place = places.first().map(|it| format!("{}:{}:{}: ", it.file, it.start.line, it.start.col));
        let word = if *applied { "applied" } else { "missed" };
        let traffic = traffic.map(|[before, after]| format!(" ({} -> {})", bytes(before), bytes(after)));
        let (place, traffic) = (place.unwrap_or_default(), traffic.unwrap_or_default());
        let _ = writeln!(text, "{place}{word}[{pass}]: {message}{traffic}");
    }
    text
}

/// A fix with its places as bytes of the file `name`; `None` where it changes another file.
fn fix(fix: &isobar_protocol::diagnostic::Fix, name: &str, text: &str) -> Option<diag::Fix> {
    let edit = |it: &Edit| {
        let span = Span::new(FileId(0), offset(text, it.start), offset(text, it.end));
        (it.file == name).then(|| diag::TextEdit::replace(span, it.text.as_str()))
    };
    let edits = fix.edits.iter().map(edit).collect::<Option<Vec<_>>>()?;
    Some(diag::Fix { title: fix.title.clone(), edits })
}

/// A diagnostic as far as carrying out its fix on the file `name` goes.
pub(crate) fn finding(found: &Diagnostic, name: &str, text: &str) -> Finding {
    Finding {
        code: found.code.clone(),
        message: found.message.clone(),
        is_error: found.severity == diag::Severity::Error.name(),
        start: (found.file == name && found.start.line > 0).then(|| offset(text, found.start)),
        fix: found.fixes.first().and_then(|it| fix(it, name, text)),
    }
}

/// The byte of a text that a position names.
fn offset(text: &str, Position { line, col }: Position) -> u32 {
    let before = (line as usize).saturating_sub(1);
    let start: usize = text.split_inclusive('\n').take(before).map(str::len).sum();
    let line = text[start..].lines().next().unwrap_or_default();
    // A position behind the last line, or behind its last character, is the end.
    let within = line.char_indices().nth((col as usize).saturating_sub(1)).map_or(line.len(), |it| it.0);
    u32::try_from(start + within).unwrap_or(u32::MAX)
}

/// `3.7 TiB (4082402592000 bytes)`, `600 ms`.
pub(crate) fn amount(n: u64, unit: &str) -> String {
    let power = [(40, "TiB"), (30, "GiB"), (20, "MiB"), (10, "KiB")].into_iter().find(|it| n >> it.0 > 0);
    match power {
        Some((power, name)) if unit == "bytes" => {
            format!("{:.1} {name} ({n} bytes)", n as f64 / (1_u64 << power) as f64)
        }
        _ => format!("{n} {unit}"),
    }
}

/// A table of fields: their whole arrays with the hash of their bytes, and statistics of their compute domains.
pub(crate) fn fields(fields: &[FieldInfo], hashes: &BTreeMap<String, String>) -> String {
    let sizes = |it: &[u64]| it.iter().map(ToString::to_string).collect::<Vec<_>>().join("x");
    let head = ["field", "type", "axes", "shape", "domain", "min", "max", "mean", "nan", "inf", "hash"];
    let mut rows = vec![head.map(str::to_owned)];
    for it in fields {
        let of = it.statistics;
        rows.push([
            it.name.clone(),
            it.dtype.clone(),
            it.axes.clone(),
            sizes(&it.shape),
            sizes(&it.domain),
            number(of.min),
            number(of.max),
            number(of.mean),
            of.nan.to_string(),
            of.inf.to_string(),
            hashes.get(&it.name).cloned().unwrap_or_default(),
        ]);
    }
    table(&rows)
}

/// The memory that a run needs, in a line.
pub(crate) fn memory(it: &Memory) -> String {
    let mut text = format!("memory: {} of fields", short(it.fields_bytes));
    if it.workspace_bytes > 0 {
        text += &format!(" + {} of temporaries", short(it.workspace_bytes));
    }
    if it.scratch_bytes > 0 {
        let threads = if it.threads == 1 { "1 thread".to_owned() } else { format!("{} threads", it.threads) };
        text += &format!(" + {} of {threads}", short(it.scratch_bytes));
    }
    format!("{text} = {}, of {} allowed", short(it.asked_bytes()), short(it.allowed_bytes))
}

/// Bytes with three digits that count.
fn short(bytes: u64) -> String {
    const UNITS: [&str; 5] = ["bytes", "KiB", "MiB", "GiB", "TiB"];
    let (mut value, mut unit) = (bytes as f64, 0);
    while value >= 1000.0 && unit + 1 < UNITS.len() {
        (value, unit) = (value / 1024.0, unit + 1);
    }
    let digits = if unit == 0 || value >= 100.0 { 0 } else { 1 };
    format!("{value:.digits$} {}", UNITS[unit])
}

/// How long each step took; a run against copying, where that was measured.
pub(crate) fn steps(all: &[MeasuredStep], copy: Option<CopyRate>) -> String {
    let mut rows = vec![["step", "ms", "GB/s", "of copy"].map(str::to_owned)];
    rows.extend(all.iter().map(|it| {
        let rate = it.bytes.and_then(|bytes| gigabytes_per_second(bytes, it.ms));
        let part = it.bytes.zip(copy).and_then(|(bytes, copy)| copy.part(bytes, it.ms));
        [
            it.step.clone(),
            format!("{:.3}", it.ms),
            rate.map(|it| format!("{it:.2}")).unwrap_or_default(),
            part.map(percent).unwrap_or_default(),
        ]
    }));
    let mut text = table(&rows);
    if let Some(copy) = copy {
        text += &format!("\n{}\n", copies(copy));
    }
    text
}

/// The copy rate that runs are compared with.
pub(crate) fn copies(copy: CopyRate) -> String {
    let rate = copy.bytes_per_s / 1e9;
    match copy.threads {
        0 => format!("the GPU copies {rate:.1} GB/s within its memory"),
        1 => format!("this machine copies {rate:.1} GB/s with 1 thread"),
        threads => format!("this machine copies {rate:.1} GB/s with {threads} threads"),
    }
}

/// Where the time of a call went.
pub(crate) fn graph_steps(all: &[GraphStep]) -> String {
    let total: f64 = all.iter().map(|it| it.ms).sum();
    let mut rows = vec![["step of the graph", "ms", "", "lines"].map(str::to_owned)];
    rows.extend(all.iter().map(|it| {
        let part = if total > 0.0 { percent(it.ms / total) } else { String::new() };
        [format!("{}: {}", it.step, it.writes.join(", ")), format!("{:.3}", it.ms), part, it.lines()]
    }));
    table(&rows)
}

/// Not more statements of a program than these are shown: those that took most of the time.
const MOST_CALLS: usize = 40;

/// Where the time of a program went, statement by statement.
pub(crate) fn calls(all: &[CallStep]) -> String {
    let total: f64 = all.iter().filter(|it| it.depth == 0).map(|it| it.ms).sum();
    let mut longest: Vec<usize> = (0..all.len()).filter(|it| all[*it].count > 0).collect();
    longest.sort_by(|one, other| all[*other].ms.total_cmp(&all[*one].ms));
    let n_left_out = longest.len().saturating_sub(MOST_CALLS);
    longest.truncate(MOST_CALLS);
    longest.sort_unstable();
    let mut rows = vec![["statement", "times", "ms", "", "GB/s", "line"].map(str::to_owned)];
    rows.extend(longest.into_iter().map(|it| {
        let it = &all[it];
        [
            format!("{}{}", "  ".repeat(it.depth as usize), shortened(&it.text)),
            it.count.to_string(),
            format!("{:.3}", it.ms),
            if total > 0.0 { percent(it.ms / total) } else { String::new() },
            it.bytes_per_s().map(|it| format!("{:.2}", it / 1e9)).unwrap_or_default(),
            it.place.as_ref().map(|it| format!("{}:{}", it.file, it.line)).unwrap_or_default(),
        ]
    }));
    let mut text = table(&rows);
    if n_left_out > 0 {
        text += &format!("{n_left_out} statements that took less are left out\n");
    }
    text
}

/// A line of a table.
fn shortened(text: &str) -> String {
    const MOST: usize = 60;
    if text.chars().count() <= MOST {
        return text.to_owned();
    }
    text.chars().take(MOST - 3).chain("...".chars()).collect()
}

/// That a schedule was taken which was kept.
pub(crate) fn tuned(it: &Tuned) -> String {
    let [i, j, k] = it.domain;
    format!(
        "{} runs a schedule that `isobar tune` kept ({}): {:.3} ms for {:.3} on {i}x{j}x{k}; --no-tuned runs without",
        it.backend, it.what, it.ms, it.default_ms
    )
}

/// `97 %`
pub(crate) fn percent(part: f64) -> String {
    format!("{:.0} %", 100.0 * part)
}

/// Six digits that count.
fn number(it: Option<f64>) -> String {
    let Some(it) = it else { return "-".to_owned() };
    let size = it.abs();
    if size != 0.0 && !(1e-4..1e6).contains(&size) {
        return format!("{it:.5e}");
    }
    let before_point = (0..=6).find(|&n| size < 10_f64.powi(n)).unwrap_or(6);
    let leading_zeros = (1..=4).rev().find(|&n| size < 10_f64.powi(-n)).unwrap_or(0);
    let digits = if size == 0.0 { 0 } else { 6 - before_point + leading_zeros };
    let text = format!("{it:.0$}", usize::try_from(digits).unwrap_or(0));
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}

/// Rows under each other, the first column to the left and the others to the right.
pub(crate) fn table<const N: usize>(rows: &[[String; N]]) -> String {
    let widths: [usize; N] =
        std::array::from_fn(|at| rows.iter().map(|row| row[at].chars().count()).max().unwrap_or(0));
    let mut out = String::new();
    for row in rows {
        let mut line = String::new();
        for (at, (cell, width)) in row.iter().zip(widths).enumerate() {
            let _ = if at == 0 { write!(line, "{cell:<width$}") } else { write!(line, "  {cell:>width$}") };
        }
        let _ = writeln!(out, "{}", line.trim_end());
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn diagnostics_look_as_those_of_the_compiler() {
        let files = [("main.py".to_owned(), "é = 1\nb = né + é\n".to_owned())].into();
        let request = Request { files, ..Request::default() };
        let mut found = Diagnostic::without_place("E07", "nothing is named `né`", "assign it");
        found.file = "main.py".to_owned();
        (found.start, found.end) = (Position { line: 2, col: 5 }, Position { line: 2, col: 7 });
        let expected = "\
error[E07]: nothing is named `né`
 --> main.py:2:5
  |
2 | b = né + é
  |     ^^
  |
  = help: assign it

";
        assert_eq!(diagnostics(&[found], &request), expected);
        let plain = Diagnostic::without_place("R09", "`a.py` has no stencil", "");
        assert_eq!(diagnostics(&[plain], &request), "error[R09]: `a.py` has no stencil\n\n");
    }

    #[test]
    fn numbers_are_short_and_lose_nothing_that_counts() {
        for (value, text) in [
            (0.0, "0"),
            (-0.5, "-0.5"),
            (287.0, "287"),
            (159.49, "159.49"),
            (1.0 / 3.0, "0.333333"),
            (0.001_234_567, "0.00123457"),
            (999_999.5, "1000000"),
            (123_456.7, "123457"),
            (1e6, "1.00000e6"),
            (-1.25e-9, "-1.25000e-9"),
        ] {
            assert_eq!(number(Some(value)), text, "{value}");
        }
        assert_eq!(amount(4_082_402_592_000, "bytes"), "3.7 TiB (4082402592000 bytes)");
        assert_eq!((amount(600, "ms"), amount(5, "bytes")), ("600 ms".to_owned(), "5 bytes".to_owned()));
    }
}
