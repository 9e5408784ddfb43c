//! Diagnostics and tables for people.

use std::fmt::Write;

use isobar_protocol::diagnostic::Diagnostic;
use isobar_protocol::field::FieldInfo;
use isobar_protocol::request::Request;

/// Diagnostics with the lines they are about.
pub(crate) fn diagnostics(found: &[Diagnostic], request: &Request) -> String {
    let text = |file: &str| request.files.get(file).map_or("", String::as_str);
    let mut out = String::new();
    for it in found {
        let _ = writeln!(out, "{}[{}]: {}", it.severity, it.code, it.message);
        if !it.file.is_empty() {
            let width =
                if it.start.line == it.end.line { it.end.col.saturating_sub(it.start.col) } else { u32::MAX };
            place(&mut out, &it.file, text(&it.file), (it.start.line, it.start.col), width, &it.label);
        }
        for related in &it.related {
            let width = related.end.col.saturating_sub(related.start.col);
            let start = (related.start.line, related.start.col);
            place(&mut out, &related.file, text(&related.file), start, width, &related.message);
        }
        for note in &it.notes {
            let _ = writeln!(out, "  = note: {note}");
        }
        if let Some(help) = &it.help {
            let _ = writeln!(out, "  = help: {help}");
        }
        out.push('\n');
    }
    out
}

fn place(out: &mut String, file: &str, text: &str, (line, col): (u32, u32), width: u32, label: &str) {
    let _ = writeln!(out, "  --> {file}:{line}:{col}");
    let Some(source) = text.lines().nth((line as usize).saturating_sub(1)) else { return };
    let skipped = (col as usize).saturating_sub(1);
    let number = line.to_string();
    let indent = " ".repeat(number.len());
    // Tabs keep their width in the line below, so that the marks stand under the text.
    let before: String = source.chars().take(skipped).map(|it| if it == '\t' { it } else { ' ' }).collect();
    let rest = source.trim_end().chars().count().saturating_sub(skipped).max(1);
    let marks = "^".repeat((width.max(1) as usize).min(rest));
    // A control character of the text must not reach the terminal as one.
    let shown: String =
        source.chars().map(|it| if it.is_control() && it != '\t' { '\u{fffd}' } else { it }).collect();
    let line = format!("{indent} | {before}{marks} {label}");
    let _ = writeln!(out, "{indent} |\n{number} | {shown}\n{}", line.trim_end());
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

/// A table of fields with their statistics.
pub(crate) fn fields(fields: &[FieldInfo]) -> String {
    let number = |it: Option<f64>| it.map_or_else(|| "-".to_owned(), |it| format!("{it:.6e}"));
    let head = ["field", "type", "axes", "domain", "min", "max", "mean", "nan", "inf"].map(str::to_owned);
    let mut rows = vec![head];
    for it in fields {
        let domain: Vec<String> = it.domain.iter().map(ToString::to_string).collect();
        let of = it.statistics;
        rows.push([
            it.name.clone(),
            it.dtype.clone(),
            it.axes.clone(),
            domain.join("x"),
            number(of.min),
            number(of.max),
            number(of.mean),
            of.nan.to_string(),
            of.inf.to_string(),
        ]);
    }
    table(&rows)
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
