//! The known name that a misspelt one was meant to be.

use std::cmp::Reverse;

use super::{Diagnostic, Span, TextEdit};

/// The longest name that is looked at; comparing two takes the product of their lengths.
const MAX_CHARS: usize = 64;

/// A known name that is close to another one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Similar {
    pub name: String,
    /// Whether no other known name is as close, so that it may be put in without asking.
    pub is_alone: bool,
}

/// The closest of the `known` names, where one is close enough. For each three letters of the longer name,
/// one letter may be added, left out, replaced or swapped with its neighbour. A name in other capitals is
/// always close.
///
/// Names that differ in a digit alone are never close: `q1` and `q2` are two names, not a slip.
#[must_use]
pub fn similar<'n>(name: &str, known: impl IntoIterator<Item = &'n str>) -> Option<Similar> {
    let length = name.chars().count();
    if length > MAX_CHARS {
        return None;
    }
    let common_start = |it: &str| name.chars().zip(it.chars()).take_while(|(a, b)| a == b).count();
    let mut found: Vec<(usize, Reverse<usize>, &str)> = known
        .into_iter()
        .filter(|it| *it != name && !it.is_empty() && it.len() <= MAX_CHARS)
        .filter_map(|it| {
            let distance = distance(name, it);
            let limit = length.max(it.chars().count()) / 3;
            (distance <= limit && !differs_in_digits(name, it))
                .then(|| (distance, Reverse(common_start(it)), it))
        })
        .collect();
    found.sort_unstable();
    found.dedup();
    let &(distance, _, first) = found.first()?;
    let is_alone = found.get(1).is_none_or(|second| second.0 > distance);
    Some(Similar { name: first.to_owned(), is_alone })
}

/// How many slips are between two names; none where only capitals differ.
fn distance(a: &str, b: &str) -> usize {
    if a.eq_ignore_ascii_case(b) { 0 } else { strsim::osa_distance(a, b) }
}

fn differs_in_digits(a: &str, b: &str) -> bool {
    let letters = |it: &str| it.chars().filter(|it| !it.is_ascii_digit()).collect::<String>();
    let has_digits = |it: &str| it.contains(|it: char| it.is_ascii_digit());
    (has_digits(a) || has_digits(b)) && letters(a) == letters(b)
}

impl Diagnostic {
    /// Asks whether `similar` was meant by what stands at `span`.
    #[must_use]
    pub fn did_you_mean(self, similar: &Similar, span: Span) -> Self {
        self.did_they_mean(similar, span, &[])
    }

    /// The same where it was meant in `further` places too.
    #[must_use]
    pub fn did_they_mean(self, similar: &Similar, span: Span, further: &[Span]) -> Self {
        let name = &similar.name;
        let asked = self.help(format!("did you mean `{name}`?"));
        if !similar.is_alone {
            return asked;
        }
        let spans = std::iter::once(&span).chain(further);
        asked.fix(format!("write `{name}`"), spans.map(|it| TextEdit::replace(*it, name.as_str())))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn closest(name: &str, known: &[&str]) -> String {
        let found = similar(name, known.iter().copied());
        found.map_or_else(String::new, |it| if it.is_alone { it.name } else { format!("{}?", it.name) })
    }

    #[test]
    fn a_slip_is_found_and_another_name_is_not() {
        assert_eq!(closest("lpa", &["flux", "lap"]), "lap");
        assert_eq!(closest("PARALEL", &["PARALLEL", "FORWARD"]), "PARALLEL");
        assert_eq!(closest("forward", &["PARALLEL", "FORWARD"]), "FORWARD");
        assert_eq!(closest("FloatFeild", &["FloatField", "IntField"]), "FloatField");
        assert_eq!(closest("flux", &["out", "q"]), "");
        assert_eq!(closest("a", &["b"]), "");
        assert_eq!(closest("q1", &["q", "q2"]), "");
        assert_eq!(closest("", &["q"]), "");
        assert_eq!(closest(&"x".repeat(100_000), &["x"]), "");
    }

    #[test]
    fn of_two_that_are_as_close_none_is_put_in_unasked() {
        assert_eq!(closest("tmpx", &["tmpa", "tmpb"]), "tmpa?");
        assert_eq!(closest("tmpx", &["tmpa", "tmpa"]), "tmpa");
    }
}
