//! The parts of a sentence: what stands between back quotes is code.

/// The parts of a sentence, and whether each is code. A back quote without another one is a sign like any other.
#[must_use]
pub fn parts(text: &str) -> Vec<(&str, bool)> {
    let mut found = Vec::new();
    let mut rest = text;
    while let Some((before, quoted)) = rest.split_once('`') {
        let Some((code, after)) = quoted.split_once('`') else { break };
        found.push((before, false));
        found.push((code, true));
        rest = after;
    }
    found.push((rest, false));
    found.retain(|it| !it.0.is_empty());
    found
}

/// A sentence where there is text only: in a title, or in what is read aloud.
#[must_use]
pub fn plain(text: &str) -> String {
    parts(text).into_iter().map(|it| it.0).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_stands_between_back_quotes_is_code() {
        assert_eq!(parts("`q` is read"), [("q", true), (" is read", false)]);
        assert_eq!(
            parts("write `a = 1` or `b`"),
            [("write ", false), ("a = 1", true), (" or ", false), ("b", true)]
        );
        assert_eq!(parts("a ` alone"), [("a ` alone", false)]);
        assert_eq!(plain("`q` is ` alone"), "q is ` alone");
    }
}
