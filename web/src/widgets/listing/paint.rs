//! A line as HTML: colours, hits of a search, and the rows that it is broken into.

/// A run of characters of one colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Token {
    /// In bytes.
    pub length: usize,
    /// A class of the style sheets; empty for the text's own colour.
    pub class: &'static str,
}

/// Knows the colours of a text.
///
/// A line is painted with the state that the lines before it left: inside a comment, inside a string. The
/// state begins as 0.
#[derive(Clone, Copy, Debug)]
pub struct Painter {
    /// The tokens of a line, which together are the line.
    pub tokens: fn(&str, u8) -> Vec<Token>,
    /// The state behind a line, where lines leave any.
    pub after: Option<fn(&str, u8) -> u8>,
}

/// A range of bytes of a line that a search found, and whether it is the one that is looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hit {
    pub start: usize,
    pub end: usize,
    pub is_current: bool,
}

/// A line as HTML, all of its text escaped. Where it is broken, each row is an element of its own, and all but the
/// first are indented by `hang` characters.
pub fn line_html(line: &str, tokens: &[Token], hits: &[Hit], breaks: &[usize], hang: usize) -> String {
    let mut cuts: Vec<usize> = Vec::with_capacity(tokens.len() + 2 * hits.len() + breaks.len() + 1);
    let mut ends = Vec::with_capacity(tokens.len());
    let mut end = 0;
    for token in tokens {
        end += token.length;
        ends.push(end);
    }
    cuts.extend(&ends);
    cuts.extend(hits.iter().flat_map(|it| [it.start, it.end]));
    cuts.extend(breaks);
    cuts.push(line.len());
    cuts.sort_unstable();
    cuts.dedup();

    let mut html = String::with_capacity(line.len() * 2);
    if !breaks.is_empty() {
        html.push_str("<span class=\"row\">");
    }
    let mut start = 0;
    let mut token = 0;
    for end in cuts {
        let Some(text) = line.get(start..end).filter(|it| !it.is_empty()) else { continue };
        if breaks.contains(&start) {
            html.push_str("</span><span class=\"row\" data-hang=\"");
            html.extend(std::iter::repeat_n(' ', hang));
            html.push_str("\">");
        }
        while ends.get(token).is_some_and(|it| *it <= start) {
            token += 1;
        }
        let class = tokens.get(token).map_or("", |it| it.class);
        let hit = hits.iter().find(|it| it.start <= start && end <= it.end);
        if let Some(hit) = hit {
            html.push_str(if hit.is_current { "<mark data-current=\"true\">" } else { "<mark>" });
        }
        if class.is_empty() {
            push_escaped(&mut html, text);
        } else {
            html.push_str("<span class=\"");
            html.push_str(class);
            html.push_str("\">");
            push_escaped(&mut html, text);
            html.push_str("</span>");
        }
        if hit.is_some() {
            html.push_str("</mark>");
        }
        start = end;
    }
    if !breaks.is_empty() {
        html.push_str("</span>");
    }
    html
}

fn push_escaped(html: &mut String, text: &str) {
    for it in text.chars() {
        match it {
            '&' => html.push_str("&amp;"),
            '<' => html.push_str("&lt;"),
            '>' => html.push_str("&gt;"),
            '"' => html.push_str("&quot;"),
            _ => html.push(it),
        }
    }
}

/// Text as HTML shows it, in an attribute as well.
#[must_use]
pub fn escaped(text: &str) -> String {
    let mut html = String::with_capacity(text.len());
    push_escaped(&mut html, text);
    html
}

#[cfg(test)]
mod tests {
    use super::*;

    const WORD: Token = Token { length: 3, class: "tok-keyword" };
    const TEXT: Token = Token { length: 4, class: "" };

    #[test]
    fn a_hit_lies_across_colours() {
        let hit = Hit { start: 1, end: 5, is_current: true };
        assert_eq!(
            line_html("for <b>", &[WORD, TEXT], &[hit], &[], 0),
            "<span class=\"tok-keyword\">f</span><mark data-current=\"true\"><span class=\"tok-keyword\">or</span>\
             </mark><mark data-current=\"true\"> &lt;</mark>b&gt;"
        );
    }

    #[test]
    fn a_broken_line_is_rows_of_which_the_later_ones_hang() {
        assert_eq!(
            line_html("for a&b", &[WORD, TEXT], &[], &[4], 2),
            "<span class=\"row\"><span class=\"tok-keyword\">for</span> </span>\
             <span class=\"row\" data-hang=\"  \">a&amp;b</span>"
        );
    }

    #[test]
    fn what_a_painter_leaves_out_is_shown_without_colour() {
        assert_eq!(line_html("for a", &[WORD], &[], &[], 0), "<span class=\"tok-keyword\">for</span> a");
        assert_eq!(line_html("", &[], &[], &[], 0), "");
    }
}
