//! The part of the help that describes the language.

use crate::bridge::locale;

/// The language, and the comment lines that describe a run: a document like any other, in English.
const LANGUAGE: &str = include_str!("../../../static/help.html");
/// The same in other languages, by their tags.
const TRANSLATED: [(&str, &str); 1] = [("de", include_str!("../../../static/help.de.html"))];

/// That document in the language of the page.
#[must_use]
pub fn in_short() -> &'static str {
    let spoken = locale::language();
    TRANSLATED.iter().find(|(tag, _)| *tag == spoken).map_or(LANGUAGE, |(_, text)| text)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The texts between these tags.
    fn all_of<'a>(text: &'a str, tag: &str) -> Vec<&'a str> {
        let (begin, end) = (format!("<{tag}>"), format!("</{tag}>"));
        text.split(&begin).skip(1).filter_map(|it| it.split_once(&end)).map(|it| it.0).collect()
    }

    #[test]
    fn every_language_has_the_same_code_and_words_of_its_own() {
        for (tag, text) in TRANSLATED {
            assert_eq!(all_of(text, "code"), all_of(LANGUAGE, "code"), "{tag}");
            assert_eq!(all_of(text, "dt"), all_of(LANGUAGE, "dt"), "{tag}");
            let (told, english) = (all_of(text, "dd"), all_of(LANGUAGE, "dd"));
            assert_eq!(told.len(), english.len(), "{tag}");
            assert!(told.iter().zip(english).all(|(it, other)| *it != other), "{tag}");
        }
    }
}
