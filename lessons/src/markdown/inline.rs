//! Inline Markdown: the parts of a paragraph.

/// A part of a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Inline {
    Text(String),
    Code(String),
    Strong(Vec<Inline>),
    Emphasis(Vec<Inline>),
    Link {
        to: String,
        inner: Vec<Inline>,
    },
    /// A word of the glossary: `[[halo]]`, or `[[extent|extents]]` where it is written otherwise.
    Term {
        word: String,
        shown: String,
    },
}

/// Reads the text of a paragraph.
#[must_use]
pub fn inlines(text: &str) -> Vec<Inline> {
    read(text, 0)
}

/// The text alone.
#[must_use]
pub fn plain(inlines: &[Inline]) -> String {
    let one = |it: &Inline| match it {
        Inline::Text(text) | Inline::Code(text) => text.clone(),
        Inline::Strong(inner) | Inline::Emphasis(inner) | Inline::Link { inner, .. } => plain(inner),
        Inline::Term { shown, .. } => shown.clone(),
    };
    inlines.iter().map(one).collect()
}

const DEEPEST: usize = 4;

fn read(text: &str, depth: usize) -> Vec<Inline> {
    let mut found = Vec::new();
    let mut said = String::new();
    let mut rest = text;
    while let Some(sign) = rest.chars().next() {
        let taken = if depth < DEEPEST { special(rest, depth) } else { None };
        match taken {
            Some((inline, after)) => {
                if !said.is_empty() {
                    found.push(Inline::Text(std::mem::take(&mut said)));
                }
                found.push(inline);
                rest = after;
            }
            None => {
                let mut signs = rest.chars();
                signs.next();
                // A sign that would begin something is meant as it is behind a backslash.
                if sign == '\\'
                    && let Some(next) = signs.clone().next().filter(char::is_ascii_punctuation)
                {
                    said.push(next);
                    signs.next();
                } else {
                    said.push(sign);
                }
                rest = signs.as_str();
            }
        }
    }
    if !said.is_empty() {
        found.push(Inline::Text(said));
    }
    found
}

/// The inline element at the beginning of the text, and the text behind it.
fn special(text: &str, depth: usize) -> Option<(Inline, &str)> {
    if let Some(rest) = text.strip_prefix("``") {
        let (code, after) = rest.split_once("``")?;
        return Some((Inline::Code(code.trim().to_owned()), after));
    }
    if let Some(rest) = text.strip_prefix('`') {
        let (code, after) = rest.split_once('`')?;
        return Some((Inline::Code(code.to_owned()), after));
    }
    if let Some(rest) = text.strip_prefix("[[") {
        let (inner, after) = rest.split_once("]]")?;
        let (word, shown) = inner.split_once('|').unwrap_or((inner, inner));
        return Some((Inline::Term { word: word.trim().to_owned(), shown: shown.trim().to_owned() }, after));
    }
    if let Some(rest) = text.strip_prefix('[') {
        let end = closing(rest)?;
        let to = rest[end + 1..].strip_prefix('(')?;
        let (to, after) = to.split_once(')')?;
        return Some((
            Inline::Link { to: to.trim().to_owned(), inner: read(&rest[..end], depth + 1) },
            after,
        ));
    }
    if let Some(rest) = text.strip_prefix("**") {
        let (inner, after) = rest.split_once("**").filter(|it| !it.0.is_empty())?;
        return Some((Inline::Strong(read(inner, depth + 1)), after));
    }
    if let Some(rest) = text.strip_prefix('*') {
        let (inner, after) = rest.split_once('*').filter(|it| !it.0.is_empty())?;
        // `2 * 3 * 4` is a product.
        if inner.starts_with(' ') || inner.ends_with(' ') {
            return None;
        }
        return Some((Inline::Emphasis(read(inner, depth + 1)), after));
    }
    None
}

/// Where the bracket that is open here is closed.
fn closing(text: &str) -> Option<usize> {
    let (mut depth, mut is_code) = (0_i32, false);
    for (at, sign) in text.char_indices() {
        match sign {
            '`' => is_code = !is_code,
            '[' if !is_code => depth += 1,
            ']' if !is_code && depth == 0 => return Some(at),
            ']' if !is_code => depth -= 1,
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_emphasis_links_and_words_are_read() {
        let found = inlines("a `b*c` **d** *e* [f `[1]`](g.md#h) [[halo|halos]] 2 * 3 * 4 \\*");
        let text = |it: &str| Inline::Text(it.to_owned());
        let inner = vec![text("f "), Inline::Code("[1]".to_owned())];
        assert_eq!(
            found,
            [
                text("a "),
                Inline::Code("b*c".to_owned()),
                text(" "),
                Inline::Strong(vec![text("d")]),
                text(" "),
                Inline::Emphasis(vec![text("e")]),
                text(" "),
                Inline::Link { to: "g.md#h".to_owned(), inner },
                text(" "),
                Inline::Term { word: "halo".to_owned(), shown: "halos".to_owned() },
                text(" 2 * 3 * 4 *"),
            ]
        );
        assert_eq!(plain(&found), "a b*c d e f [1] halos 2 * 3 * 4 *");
    }

    #[test]
    fn brackets_without_a_link_are_brackets() {
        assert_eq!(inlines("q[1, 0, 0] and [x]"), [Inline::Text("q[1, 0, 0] and [x]".to_owned())]);
    }
}
