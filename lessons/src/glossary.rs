//! Words that explain themselves.

use serde::{Deserialize, Serialize};

use crate::toml::{self, TomlError};

/// A `glossary.toml`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Glossary {
    #[serde(rename = "term")]
    pub terms: Vec<Term>,
}

/// A word, in one or two sentences.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Term {
    /// As texts name it, in small letters.
    pub word: String,
    /// As the card is headed.
    pub title: String,
    pub means: String,
    /// Where more stands: `language`, or `language#a-stencil`.
    #[serde(default)]
    pub manual: String,
}

impl Glossary {
    /// Reads a `glossary.toml`.
    ///
    /// # Errors
    ///
    /// Where it is not of its form.
    pub fn read(text: &str) -> Result<Self, TomlError> {
        toml::read(text)
    }

    /// Looks up a word, in any case of letters.
    #[must_use]
    pub fn term(&self, word: &str) -> Option<&Term> {
        let word = word.to_lowercase();
        self.terms.iter().find(|it| it.word == word)
    }
}
