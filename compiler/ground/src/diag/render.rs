//! A diagnostic as text for a terminal, in the manner of rustc.

use std::fmt::Write;

use super::{Diagnostic, FileId, Label, LineIndex, Span, cells};

/// The longest part of a source line that is shown.
const MAX_WIDTH: usize = 160;

/// The diagnostic with the lines it is about, underlined, without colours; ends with a newline.
///
/// `files` gives name and text of a file. A place that the text does not have
/// is named without its line.
#[must_use]
pub fn render<'f>(diagnostic: &Diagnostic, files: &dyn Fn(FileId) -> (&'f str, &'f str)) -> String {
    let mut out = format!("{}[{}]: {}\n", diagnostic.severity.name(), diagnostic.code, diagnostic.message);
    let primary = diagnostic.primary.as_ref();
    let labels: Vec<(&Label, char)> = primary
        .map(|it| (it, '^'))
        .into_iter()
        .chain(diagnostic.secondary.iter().map(|it| (it, '-')))
        .collect();
    let numbers: Vec<u32> = labels.iter().map(|(label, _)| Lines::of(label.span, files).shown).collect();
    let margin = numbers.iter().max().map_or(1, |it| it.to_string().len());

    // The primary place comes first; those of the same file follow in order of their lines.
    let mut last_file = None;
    let mut rest: Vec<(&Label, char)> = labels.iter().skip(1).copied().collect();
    rest.sort_by_key(|(label, _)| (label.span.file, label.span.start));
    let first = labels.first().copied();
    let mut shown: Vec<(&Label, char)> = first.into_iter().chain(rest).collect();
    if let Some(first) = first {
        // Lines before the primary one are shown before it, where the file is the same.
        shown.sort_by_key(|(label, _)| {
            let is_elsewhere = label.span.file != first.0.span.file;
            (is_elsewhere, label.span.file, Lines::of(label.span, files).number)
        });
    }
    let mut last_line = None;
    for (label, mark) in shown {
        let lines = Lines::of(label.span, files);
        if last_file != Some(label.span.file) {
            let arrow = if last_file.is_none() { "-->" } else { ":::" };
            let at = match first {
                Some((primary, _)) if last_file.is_none() && primary.span.file == label.span.file => {
                    primary.span
                }
                _ => label.span,
            };
            let place = Lines::of(at, files);
            let cell = place.cell.map_or(String::new(), |it| format!("cell {it}:"));
            let _ = writeln!(out, "{:margin$}{arrow} {}:{cell}{}:{}", "", place.name, place.shown, place.col);
            let _ = writeln!(out, "{:margin$} |", "");
            last_file = Some(label.span.file);
            last_line = None;
        }
        if last_line.is_some_and(|it| lines.number > it + 1) {
            let _ = writeln!(out, "{:margin$}...", "");
        }
        if last_line != Some(lines.number) {
            let _ = writeln!(out, "{:>margin$} | {}", lines.shown, lines.text);
        }
        last_line = Some(lines.number);
        let underline = mark.to_string().repeat(lines.width);
        let line =
            format!("{:margin$} | {:indent$}{underline} {}", "", "", label.text, indent = lines.indent);
        out.push_str(line.trim_end());
        out.push('\n');
    }
    if first.is_some() {
        let _ = writeln!(out, "{:margin$} |", "");
    }
    let help = diagnostic.help.iter().map(|it| ("help", it));
    let notes = diagnostic.notes.iter().map(|it| ("note", it));
    let fixes = diagnostic.fixes.iter().map(|it| ("fix", &it.title));
    for (kind, text) in help.chain(notes).chain(fixes) {
        let _ = writeln!(out, "{:margin$} = {kind}: {text}", "");
    }
    out
}

/// The line that a place starts on, and where it is on it.
struct Lines<'f> {
    name: &'f str,
    /// Counts in the whole text.
    number: u32,
    /// Of a notebook, the cell, where `shown` counts.
    cell: Option<u32>,
    shown: u32,
    col: u32,
    text: String,
    /// Characters before the place, and in it.
    indent: usize,
    width: usize,
}

impl<'f> Lines<'f> {
    fn of(span: Span, files: &dyn Fn(FileId) -> (&'f str, &'f str)) -> Self {
        let (name, text) = files(span.file);
        let at = LineIndex::new(text).line_col(text, span.start);
        let start = (span.start as usize).min(text.len());
        let line_start = text.get(..start).and_then(|it| it.rfind('\n')).map_or(0, |it| it + 1);
        let line = text.get(line_start..).and_then(|it| it.lines().next()).unwrap_or("");
        let end = (span.end as usize).min(line_start + line.len()).max(start);
        let width = text.get(start..end).map_or(1, |it| it.chars().count()).max(1);
        let indent = at.col as usize - 1;
        // A tab is one column wide, so that the underline stands below its text.
        let shown: String =
            line.chars().map(|it| if it.is_control() { ' ' } else { it }).take(MAX_WIDTH).collect();
        let (indent, width) = (indent.min(MAX_WIDTH), width.min(MAX_WIDTH.saturating_sub(indent).max(1)));
        let cell = cells::is_notebook(name).then(|| cells::cell_of(text, at.line)).flatten();
        let (cell, number) = cell.map_or((None, at.line), |(cell, line)| (Some(cell), line));
        Self { name, number: at.line, cell, shown: number, col: at.col, text: shown, indent, width }
    }
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;
    use crate::diag::{Code, TextEdit};

    #[test]
    fn places_of_one_file_stand_in_their_order() {
        let text = "alpha = 1\nbeta = 2\n\ngamma = alpha + delta\n";
        let file = FileId(0);
        let diagnostic =
            Diagnostic::error(Code("E07"), "nothing is named `delta`", Span::new(file, 36, 41), "not known")
                .also(Span::new(file, 0, 5), "first here")
                .help("did you mean `beta`?")
                .note("names are case-sensitive")
                .fix("write `beta`", [TextEdit::replace(Span::new(file, 36, 41), "beta")]);
        expect![[r#"
            error[E07]: nothing is named `delta`
             --> a.py:4:17
              |
            1 | alpha = 1
              | ----- first here
             ...
            4 | gamma = alpha + delta
              |                 ^^^^^ not known
              |
              = help: did you mean `beta`?
              = note: names are case-sensitive
              = fix: write `beta`
        "#]]
        .assert_eq(&render(&diagnostic, &|_| ("a.py", text)));
    }

    #[test]
    fn a_place_beyond_the_text_does_no_harm() {
        let diagnostic = Diagnostic::error(Code("E00"), "broken", Span::new(FileId(3), 70, 90), "here");
        expect![[r#"
            error[E00]: broken
             --> é.py:1:2
              |
            1 | é
              |  ^ here
              |
        "#]]
        .assert_eq(&render(&diagnostic, &|_| ("é.py", "é")));
    }
}
