//! A search in a text that is drawn only in part, where the browser's own search cannot look.

/// Most places that are found: nobody goes through more.
pub const MOST_FOUND: usize = 5_000;

/// Where a text has what was searched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SearchMatch {
    pub line: u32,
    /// In bytes of the line.
    pub start: usize,
    pub end: usize,
}

/// The places of `wanted`, in order. A capital letter in it tells that capitals count.
pub fn find(text: &str, wanted: &str) -> Vec<SearchMatch> {
    if wanted.is_empty() {
        return Vec::new();
    }
    let counts_case = wanted.chars().any(char::is_uppercase);
    let mut found = Vec::new();
    for (line, of_line) in (0..).zip(text.lines()) {
        let mut start = 0;
        while let Some(at) = position(&of_line.as_bytes()[start..], wanted.as_bytes(), counts_case) {
            let (from, to) = (start + at, start + at + wanted.len());
            // Letters that are not ASCII are compared as they are, so a hit ends between characters.
            if of_line.is_char_boundary(from) && of_line.is_char_boundary(to) {
                found.push(SearchMatch { line, start: from, end: to });
                if found.len() >= MOST_FOUND {
                    return found;
                }
            }
            start = to;
        }
    }
    found
}

fn position(text: &[u8], wanted: &[u8], counts_case: bool) -> Option<usize> {
    let is_same = |it: &[u8]| if counts_case { it == wanted } else { it.eq_ignore_ascii_case(wanted) };
    text.windows(wanted.len()).position(is_same)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn places(text: &str, wanted: &str) -> Vec<(u32, usize)> {
        find(text, wanted).iter().map(|it| (it.line, it.start)).collect()
    }

    #[test]
    fn small_letters_find_both_and_capitals_themselves() {
        let text = "a Flux = flux\nFLUX";
        assert_eq!(places(text, "flux"), [(0, 2), (0, 9), (1, 0)]);
        assert_eq!(places(text, "Flux"), [(0, 2)]);
        assert_eq!(places(text, ""), []);
        assert_eq!(places("aaaa", "aa"), [(0, 0), (0, 2)], "hits do not overlap");
    }

    #[test]
    fn no_hit_cuts_a_character() {
        assert_eq!(places("é→é", "→"), [(0, 2)]);
        assert_eq!(places("x", "longer than the line"), []);
    }

    #[test]
    fn a_search_ends() {
        assert_eq!(find(&"a".repeat(MOST_FOUND * 2), "a").len(), MOST_FOUND);
    }
}
