//! Markdown, as lessons and the manual are written in: no raw HTML, and blocks of our own between `:::`.
//!
//! Headings, paragraphs, lists, tables, code, quotes and rules; inside of text code, emphasis, links, and words that
//! explain themselves: `[[halo]]`. `::: name key=value` begins a block that ends at a line `:::`; what it means is the
//! reader's matter. HTML is not interpreted: it is text.

mod inline;

pub use inline::{Inline, inlines, plain};

/// A part of a text.
#[derive(Clone, Debug, PartialEq)]
pub enum Block {
    Heading {
        level: u8,
        text: Vec<Inline>,
        /// As links name it: letters and digits of the text, with hyphens between.
        id: String,
    },
    Paragraph(Vec<Inline>),
    Code {
        language: String,
        text: String,
    },
    List {
        is_ordered: bool,
        items: Vec<Vec<Block>>,
        /// Of a list with boxes `[ ]` and `[x]`, whether each is ticked; else empty.
        marks: Vec<bool>,
    },
    Table {
        head: Vec<Vec<Inline>>,
        rows: Vec<Vec<Vec<Inline>>>,
    },
    Quote(Vec<Block>),
    Rule,
    /// `::: name key=value …`
    Special {
        name: String,
        args: Vec<(String, String)>,
        blocks: Vec<Block>,
    },
}

/// Reads a text; there is none that cannot be read.
#[must_use]
pub fn read(text: &str) -> Vec<Block> {
    let lines: Vec<&str> = text.lines().collect();
    blocks(&lines, 0)
}

/// How deep blocks lie in each other at most: what is deeper is a paragraph.
const DEEPEST: usize = 6;

fn blocks(lines: &[&str], depth: usize) -> Vec<Block> {
    let mut found = Vec::new();
    let mut at = 0;
    while at < lines.len() {
        let line = lines[at];
        let said = line.trim();
        if said.is_empty() {
            at += 1;
            continue;
        }
        if let Some(language) = said.strip_prefix("```") {
            let end = (at + 1..lines.len()).find(|&it| lines[it].trim() == "```").unwrap_or(lines.len());
            let text = lines[at + 1..end].join("\n");
            found.push(Block::Code { language: language.trim().to_owned(), text });
            at = end + 1;
            continue;
        }
        if depth < DEEPEST
            && let Some(head) = said.strip_prefix(":::").map(str::trim).filter(|it| !it.is_empty())
        {
            let end = end_of_special(lines, at);
            let (name, args) = head_of_special(head);
            let inner = blocks(&lines[(at + 1).min(end)..end], depth + 1);
            found.push(Block::Special { name, args, blocks: inner });
            at = end + 1;
            continue;
        }
        if let Some((level, text)) = heading(said) {
            let text = inlines(text);
            let id = slug(&plain(&text));
            found.push(Block::Heading { level, text, id });
            at += 1;
            continue;
        }
        if said.len() >= 3 && said.chars().all(|it| it == '-') {
            found.push(Block::Rule);
            at += 1;
            continue;
        }
        if depth < DEEPEST && said.starts_with('>') {
            let end = (at..lines.len()).find(|&it| !lines[it].trim().starts_with('>')).unwrap_or(lines.len());
            let inner: Vec<&str> = lines[at..end].iter().map(|it| quoted(it)).collect();
            found.push(Block::Quote(blocks(&inner, depth + 1)));
            at = end;
            continue;
        }
        if said.starts_with('|') && lines.get(at + 1).is_some_and(|it| is_ruler(it)) {
            let end = (at..lines.len()).find(|&it| !lines[it].trim().starts_with('|')).unwrap_or(lines.len());
            let rows = lines[at + 2..end].iter().map(|it| cells(it)).collect();
            found.push(Block::Table { head: cells(said), rows });
            at = end;
            continue;
        }
        if depth < DEEPEST
            && let Some(first) = bullet(line)
        {
            let (list, end) = list(lines, at, first.is_ordered, depth);
            found.push(list);
            at = end;
            continue;
        }
        let end = (at + 1..lines.len()).find(|&it| ends_paragraph(lines[it])).unwrap_or(lines.len());
        let text = lines[at..end].iter().map(|it| it.trim()).collect::<Vec<_>>().join("\n");
        found.push(Block::Paragraph(inlines(&text)));
        at = end;
    }
    found
}

fn ends_paragraph(line: &str) -> bool {
    let said = line.trim();
    said.is_empty()
        || said.starts_with("```")
        || said.starts_with(":::")
        || said.starts_with('>')
        || heading(said).is_some()
        || bullet(line).is_some()
}

fn heading(said: &str) -> Option<(u8, &str)> {
    let level = said.bytes().take_while(|it| *it == b'#').count();
    let text = said.get(level..)?.strip_prefix(' ')?;
    (1..=6).contains(&level).then(|| (u8::try_from(level).unwrap_or(6), text.trim()))
}

/// As GitHub makes it, so that links hold in both places.
#[must_use]
pub fn slug(text: &str) -> String {
    let signs = text.chars().filter_map(|it| match it {
        ' ' | '-' => Some('-'),
        it if it.is_alphanumeric() || it == '_' => Some(it),
        _ => None,
    });
    signs.flat_map(char::to_lowercase).collect()
}

fn quoted(line: &str) -> &str {
    let said = line.trim().trim_start_matches('>');
    said.strip_prefix(' ').unwrap_or(said)
}

fn is_ruler(line: &str) -> bool {
    let said = line.trim();
    said.starts_with('|')
        && said.contains("---")
        && said.chars().all(|it| matches!(it, '|' | '-' | ':' | ' '))
}

fn cells(line: &str) -> Vec<Vec<Inline>> {
    let said = line.trim().trim_start_matches('|');
    let said = said.strip_suffix('|').unwrap_or(said);
    let mut cells = vec![String::new()];
    let (mut is_escaped, mut is_code, mut is_term) = (false, false, false);
    for (at, sign) in said.char_indices() {
        let cell = cells.last_mut();
        match sign {
            '|' if !is_escaped && !is_code && !is_term => cells.push(String::new()),
            '\\' if !is_escaped => is_escaped = true,
            _ => {
                if let Some(cell) = cell {
                    if is_escaped && sign != '|' {
                        cell.push('\\');
                    }
                    cell.push(sign);
                    // `[[word|shown]]` is one thing.
                    is_term = match is_term {
                        true => !cell.ends_with("]]"),
                        false => !is_code && cell.ends_with("[[") && said[at..].contains("]]"),
                    };
                }
                is_code ^= sign == '`';
                is_escaped = false;
            }
        }
    }
    cells.iter().map(|it| inlines(it.trim())).collect()
}

/// The line after the block that begins at `at`.
fn end_of_special(lines: &[&str], at: usize) -> usize {
    let mut depth = 0_usize;
    let mut is_code = false;
    for (here, line) in lines.iter().enumerate().skip(at) {
        let said = line.trim();
        is_code ^= said.starts_with("```");
        if is_code {
            continue;
        }
        if said == ":::" {
            depth = depth.saturating_sub(1);
            if depth == 0 {
                return here;
            }
        } else if said.starts_with(":::") {
            depth += 1;
        }
    }
    lines.len()
}

fn head_of_special(head: &str) -> (String, Vec<(String, String)>) {
    let mut words = Vec::new();
    let (mut word, mut is_text) = (String::new(), false);
    for sign in head.chars() {
        match sign {
            '"' => is_text = !is_text,
            ' ' if !is_text => words.push(std::mem::take(&mut word)),
            it => word.push(it),
        }
    }
    words.push(word);
    let mut words = words.into_iter().filter(|it| !it.is_empty());
    let name = words.next().unwrap_or_default();
    let arg = |it: String| match it.split_once('=') {
        Some((key, value)) => (key.to_owned(), value.to_owned()),
        None => (it, String::new()),
    };
    (name, words.map(arg).collect())
}

/// How a line begins an item.
struct Bullet {
    is_ordered: bool,
    /// Signs before it, and up to its text.
    indent: usize,
    width: usize,
}

fn bullet(line: &str) -> Option<Bullet> {
    let indent = line.len() - line.trim_start().len();
    let said = &line[indent..];
    if said.starts_with("- ") || said.starts_with("* ") {
        return Some(Bullet { is_ordered: false, indent, width: indent + 2 });
    }
    let digits = said.bytes().take_while(u8::is_ascii_digit).count();
    (1..=3).contains(&digits).then_some(())?;
    said[digits..].starts_with(". ").then_some(Bullet {
        is_ordered: true,
        indent,
        width: indent + digits + 2,
    })
}

fn list(lines: &[&str], start: usize, is_ordered: bool, depth: usize) -> (Block, usize) {
    let indent = bullet(lines[start]).map_or(0, |it| it.indent);
    let mut items: Vec<Vec<String>> = Vec::new();
    let mut at = start;
    let mut width = 0;
    while at < lines.len() {
        let line = lines[at];
        if let Some(found) = bullet(line).filter(|it| it.indent == indent && it.is_ordered == is_ordered) {
            width = found.width;
            items.push(vec![line[found.width..].to_owned()]);
        } else if line.trim().is_empty() {
            // An item goes on behind an empty line where the next one is indented, or another item.
            let next = lines[at..].iter().find(|it| !it.trim().is_empty());
            let goes_on = next.is_some_and(|it| {
                let of_item = it.len() - it.trim_start().len() >= width;
                of_item || bullet(it).is_some_and(|it| it.indent == indent && it.is_ordered == is_ordered)
            });
            if !goes_on {
                break;
            }
            if let Some(item) = items.last_mut() {
                item.push(String::new());
            }
        } else {
            let before = line.len() - line.trim_start().len();
            if before < width && ends_paragraph(line) {
                break;
            }
            if let Some(item) = items.last_mut() {
                item.push(line.get(width.min(before)..).unwrap_or_default().to_owned());
            }
        }
        at += 1;
    }
    let mut marks = Vec::new();
    for item in &mut items {
        let boxed = item.first().and_then(|it| {
            let rest = it.strip_prefix("[ ] ").map(|rest| (false, rest));
            rest.or_else(|| it.strip_prefix("[x] ").map(|rest| (true, rest)))
        });
        if let Some((is_ticked, rest)) = boxed.map(|(mark, rest)| (mark, rest.to_owned())) {
            marks.push(is_ticked);
            item[0] = rest;
        }
    }
    if marks.len() != items.len() {
        marks.clear();
    }
    let read = |item: &Vec<String>| {
        let lines: Vec<&str> = item.iter().map(String::as_str).collect();
        blocks(&lines, depth + 1)
    };
    (Block::List { is_ordered, items: items.iter().map(read).collect(), marks }, at)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(it: &str) -> Vec<Inline> {
        vec![Inline::Text(it.to_owned())]
    }

    #[test]
    fn the_usual_parts_are_read() {
        let found = read("# A b\n\nOne\ntwo.\n- x\n  more\n- y\n\n1. z\n\n```py\na < b\n```\n---\n> q\n");
        assert_eq!(
            found,
            [
                Block::Heading { level: 1, text: text("A b"), id: "a-b".to_owned() },
                Block::Paragraph(text("One\ntwo.")),
                Block::List {
                    is_ordered: false,
                    items: vec![vec![Block::Paragraph(text("x\nmore"))], vec![Block::Paragraph(text("y"))]],
                    marks: Vec::new(),
                },
                Block::List {
                    is_ordered: true,
                    items: vec![vec![Block::Paragraph(text("z"))]],
                    marks: Vec::new()
                },
                Block::Code { language: "py".to_owned(), text: "a < b".to_owned() },
                Block::Rule,
                Block::Quote(vec![Block::Paragraph(text("q"))]),
            ]
        );
    }

    #[test]
    fn a_table_has_cells_with_bars_in_code() {
        let found = read("| a | b |\n|---|---|\n| `x|y` | \\|r\\| |\n");
        let Block::Table { head, rows } = &found[0] else { panic!("{found:?}") };
        assert_eq!((head.len(), rows.len(), rows[0].len()), (2, 1, 2));
        assert_eq!(rows[0][0], [Inline::Code("x|y".to_owned())]);
        assert_eq!(rows[0][1], text("|r|"));
    }

    #[test]
    fn a_table_has_cells_with_words_that_are_shown_otherwise() {
        let found = read("| a | b |\n|---|---|\n| [[oir|OIR]] | [[ x |\n");
        let Block::Table { rows, .. } = &found[0] else { panic!("{found:?}") };
        assert_eq!(rows[0].len(), 2, "{rows:?}");
        assert!(matches!(&rows[0][0][..], [Inline::Term { .. }]), "{rows:?}");
        assert_eq!(rows[0][1], text("[[ x"));
    }

    #[test]
    fn special_blocks_hold_blocks() {
        let found = read("::: hint n=1 title=\"a b\"\nOne.\n\n::: note\nTwo.\n:::\n:::\nThree.\n");
        let Block::Special { name, args, blocks } = &found[0] else { panic!("{found:?}") };
        assert_eq!(name, "hint");
        assert_eq!(args[1], ("title".to_owned(), "a b".to_owned()));
        assert_eq!(blocks.len(), 2);
        assert_eq!(found[1], Block::Paragraph(text("Three.")));
    }

    #[test]
    fn html_is_text_and_nothing_is_unreadable() {
        assert_eq!(read("<script>x</script>"), [Block::Paragraph(text("<script>x</script>"))]);
        for odd in
            ["```", ":::", "::: x", "- ", "|", "> > > > > > > > > x", "[[", "[a](", "**", "`", "1. ", "#"]
        {
            assert!(read(odd).len() <= 3, "{odd}");
        }
        let deep = "- ".repeat(400) + "x";
        assert!(read(&deep).len() <= 3);
    }
}
