//! Long statements, broken into lines.

use crate::diag::ListingWriter;

/// Longer statements are broken.
const LINE: usize = 96;

/// Writes a statement, broken into lines at operators where it is long.
pub(crate) fn statement(writer: &mut ListingWriter, text: &str) {
    let mut rest = text;
    let mut is_first = true;
    while rest.len() > LINE {
        let Some(at) = break_before(rest) else { break };
        writer.line(rest[..at].trim_end());
        rest = &rest[at..];
        if is_first {
            writer.indent();
            writer.indent();
            is_first = false;
        }
    }
    writer.line(rest);
    if !is_first {
        writer.dedent();
        writer.dedent();
    }
}

/// The last place before the limit where the loosest operator of least depth stands.
fn break_before(text: &str) -> Option<usize> {
    // From loosest to tightest; a comma stands before the break, the others after it.
    const LEVELS: [&[&str]; 6] = [&["= "], &["? ", ": "], &["|| "], &["&& "], &["+ ", "- "], &["* ", "/ "]];
    let (mut depth, mut n_brackets) = (0_i32, 0_i32);
    let mut best: Option<((i32, usize), usize)> = None;
    for (at, letter) in text.char_indices().take_while(|(at, _)| *at <= LINE) {
        match letter {
            '(' => depth += 1,
            ')' => depth -= 1,
            '[' => n_brackets += 1,
            ']' => n_brackets -= 1,
            ' ' if at > 20 && n_brackets == 0 => {
                let next = &text[at + 1..];
                let level = if text[..at].ends_with(',') {
                    Some(0)
                } else {
                    LEVELS.iter().position(|level| level.iter().any(|it| next.starts_with(it)))
                };
                let Some(level) = level else { continue };
                if best.is_none_or(|(least, _)| (depth, level) <= least) {
                    best = Some(((depth, level), at + 1));
                }
            }
            _ => {}
        }
    }
    best.map(|(_, at)| at)
}
