//! The text that the page shows before any program of it has arrived: the first example's, in colours.
//!
//! The text is taken from the gallery whenever the page is built, so it is no copy that could grow old.

use std::fs;

use anyhow::{Context, Result};

use crate::process::root;

/// The element that waits for the text. With Trunk it stays empty, and `boot.js` fetches the text.
const PLACE: &str = "<pre class=\"first-text\" id=\"first-text\" data-gallery=\"";

/// `index.html` with the text of the gallery entry that its element names.
pub(super) fn filled(html: &str) -> Result<String> {
    let start = html.find(PLACE).context("static/index.html: there is no element for the first text")?;
    let name_at = start + PLACE.len();
    let end =
        html[name_at..].find('>').context("static/index.html: the element of the first text has no end")?;
    let name = html[name_at..].split('"').next().unwrap_or_default();
    let text = fs::read_to_string(root().join("static/gallery").join(name).with_extension("py"))
        .with_context(|| format!("static/index.html names `{name}`"))?;
    let at = name_at + end + 1;
    Ok(format!("{}{}{}", &html[..at], coloured(&text), &html[at..]))
}

const KEYWORDS: [&str; 18] = [
    "and", "as", "assert", "class", "def", "elif", "else", "for", "from", "if", "import", "in", "is", "not",
    "or", "return", "while", "with",
];

/// Python as HTML: one `<i>` a line, which the style sheet numbers, and words in the editor's colours.
fn coloured(text: &str) -> String {
    let mut html = String::new();
    let mut is_in_docstring = false;
    let mut is_head = true;
    for line in text.lines() {
        // A card shows the head of the text.
        is_head &= line.starts_with('#');
        html += if is_head { "<i class=\"first-head\">" } else { "<i>" };
        let mut rest = line;
        while let Some(first) = rest.chars().next() {
            let (len, class) = if is_in_docstring || rest.starts_with("\"\"\"") {
                let from = if is_in_docstring { 0 } else { 3 };
                let end = rest[from..].find("\"\"\"").map(|it| it + from + 3);
                is_in_docstring = end.is_none();
                (end.unwrap_or(rest.len()), "string")
            } else if first == '#' {
                (rest.len(), "comment")
            } else if first.is_ascii_digit() {
                (length(rest, |it| it.is_ascii_alphanumeric() || it == '.'), "number")
            } else if first == '"' || first == '\'' {
                (rest[1..].find(first).map_or(rest.len(), |it| it + 2), "string")
            } else if first.is_alphabetic() || first == '_' {
                let len = length(rest, |it| it.is_alphanumeric() || it == '_');
                let is_called = rest[len..].starts_with('(');
                let word = &rest[..len];
                (
                    len,
                    if KEYWORDS.contains(&word) {
                        "keyword"
                    } else if is_called {
                        "function"
                    } else {
                        ""
                    },
                )
            } else {
                (first.len_utf8(), "")
            };
            let shown = escaped(&rest[..len]);
            match class {
                "" => html += &shown,
                _ => html += &format!("<span class=\"first-{class}\">{shown}</span>"),
            }
            rest = &rest[len..];
        }
        html += "\n</i>";
    }
    html
}

fn length(text: &str, belongs: impl Fn(char) -> bool) -> usize {
    text.find(|it| !belongs(it)).unwrap_or(text.len())
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_have_the_editors_colours() {
        let html = coloured("# <b>\nif f(x) < 1.5e3:\n");
        let expected = "<i class=\"first-head\"><span class=\"first-comment\"># &lt;b&gt;</span>\n</i><i><span class=\"first-keyword\">if</span> \
            <span class=\"first-function\">f</span>(x) &lt; <span class=\"first-number\">1.5e3</span>:\n</i>";
        assert_eq!(html, expected);
    }

    #[test]
    fn a_docstring_goes_on_until_it_ends() {
        let html = coloured("\"\"\"a\nb\"\"\" c\n");
        let expected = "<i><span class=\"first-string\">\"\"\"a</span>\n</i><i><span class=\"first-string\">b\"\"\"</span> c\n</i>";
        assert_eq!(html, expected);
    }

    #[test]
    fn nothing_of_the_text_is_lost() {
        let html =
            filled(&format!("<body>{PLACE}geostrophic_adjustment\" aria-hidden=\"true\"></pre></body>"))
                .expect("the entry is there");
        let mut text = String::new();
        for part in html.split('<') {
            text += part.split_once('>').map_or(part, |it| it.1);
        }
        let text = text.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&");
        let entry =
            fs::read_to_string(root().join("static/gallery/geostrophic_adjustment.py")).expect("it is there");
        assert_eq!(text, entry);
        assert!(filled("<body></body>").is_err());
    }
}
