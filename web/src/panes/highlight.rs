//! Colours for the texts of the stages: simple enough for all of them, since they share words.

use crate::widgets::listing::escaped;

/// Words of the stages and of C that say how things are arranged.
const KEYWORDS: [&str; 66] = [
    "stencil",
    "field",
    "fields",
    "temporary",
    "temporaries",
    "scalar",
    "scalars",
    "parallel",
    "forward",
    "backward",
    "computation",
    "interval",
    "section",
    "vertical",
    "loop",
    "horizontal",
    "region",
    "execution",
    "if",
    "elif",
    "else",
    "while",
    "for",
    "in",
    "out",
    "inout",
    "return",
    "start",
    "end",
    "and",
    "or",
    "not",
    "map",
    "state",
    "tasklet",
    "memlet",
    "access",
    "container",
    "void",
    "const",
    "static",
    "restrict",
    "inline",
    "struct",
    "sizeof",
    "break",
    "continue",
    "do",
    "switch",
    "case",
    "default",
    "include",
    "define",
    "pragma",
    "omp",
    "let",
    "function",
    "call",
    "param",
    "params",
    "domain",
    "with",
    "read",
    "write",
    "schedule",
    "sweep",
];

/// Words that name types and axes.
const TYPES: [&str; 22] = [
    "float32",
    "float64",
    "int8",
    "int16",
    "int32",
    "int64",
    "bool",
    "double",
    "float",
    "int",
    "long",
    "char",
    "int8_t",
    "int16_t",
    "int32_t",
    "int64_t",
    "uint64_t",
    "size_t",
    "ptrdiff_t",
    "I",
    "J",
    "K",
];

/// A line of a stage as HTML.
#[must_use]
pub fn paint(line: &str) -> String {
    let mut html = String::with_capacity(line.len() * 2);
    let mut rest = line;
    while let Some(first) = rest.chars().next() {
        let (length, class) = if rest.starts_with("//") || rest.starts_with("# ") || rest.starts_with("/*") {
            (rest.len(), "tok-comment")
        } else if first.is_alphabetic() || first == '_' {
            let length = length_of(rest, |it| it.is_alphanumeric() || it == '_');
            let word = &rest[..length];
            let class = if KEYWORDS.contains(&word) {
                "tok-keyword"
            } else if TYPES.contains(&word) {
                "tok-type"
            } else {
                ""
            };
            (length, class)
        } else if first == '%' && rest[1..].starts_with(|it: char| it.is_ascii_alphanumeric()) {
            (1 + length_of(&rest[1..], char::is_alphanumeric), "tok-name")
        } else if first.is_ascii_digit() {
            (number_length(rest), "tok-number")
        } else if first == '"' {
            let length = rest[1..].find('"').map_or(rest.len(), |it| it + 2);
            (length, "tok-string")
        } else {
            (length_of(rest, |it| !it.is_alphanumeric() && !"_%\"/#".contains(it)).max(first.len_utf8()), "")
        };
        let (token, after) = rest.split_at(length);
        if class.is_empty() {
            html.push_str(&escaped(token));
        } else {
            html.push_str("<span class=\"");
            html.push_str(class);
            html.push_str("\">");
            html.push_str(&escaped(token));
            html.push_str("</span>");
        }
        rest = after;
    }
    html
}

fn length_of(text: &str, belongs: impl Fn(char) -> bool) -> usize {
    text.find(|it| !belongs(it)).unwrap_or(text.len())
}

/// With point and exponent: `1.5e-3`, `0x1p-3`.
fn number_length(text: &str) -> usize {
    let mut before = ' ';
    let end = text.char_indices().find(|&(_, it)| {
        let belongs = it.is_ascii_alphanumeric()
            || it == '.'
            || (matches!(it, '-' | '+') && matches!(before, 'e' | 'E' | 'p'));
        before = it;
        !belongs
    });
    end.map_or(text.len(), |(at, _)| at)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The text that a browser would show.
    fn text_of(html: &str) -> String {
        let mut text = String::new();
        let mut rest = html;
        while let Some((before, after)) = rest.split_once('<') {
            text.push_str(before);
            rest = after.split_once('>').map_or("", |it| it.1);
        }
        text.push_str(rest);
        text.replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", "\"").replace("&amp;", "&")
    }

    #[test]
    fn words_numbers_and_comments_are_told_apart() {
        assert_eq!(
            paint("if q[1,0] < 1.5e-3"),
            "<span class=\"tok-keyword\">if</span> q[<span class=\"tok-number\">1</span>,\
             <span class=\"tok-number\">0</span>] &lt; <span class=\"tok-number\">1.5e-3</span>"
        );
        assert_eq!(paint("x // y"), "x <span class=\"tok-comment\">// y</span>");
    }

    #[test]
    fn no_character_is_lost() {
        for line in [
            "",
            "  a = b - 1.0 / c;",
            "\"open",
            "é % /* x */ #",
            "<b>&amp;</b>",
            "%7 = %x#!",
            "1e-",
            "\u{1f300}/",
        ] {
            assert_eq!(text_of(&paint(line)), line);
        }
    }
}
