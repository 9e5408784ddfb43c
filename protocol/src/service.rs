//! Questions of an editor, and their answers.

use serde::{Deserialize, Serialize};

use crate::compile::SourceRange;
use crate::diagnostic::{Edit, Position};

/// A question about a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Query {
    /// Answered by [`QueryAnswer::Tokens`]. A query without a comment is answered by the variant of the same
    /// name.
    Tokens,
    Folds,
    /// Answered by [`QueryAnswer::Edits`].
    Format,
    Hover {
        at: Position,
    },
    Complete {
        at: Position,
    },
    Signature {
        at: Position,
    },
    /// Answered by [`QueryAnswer::Places`].
    Definition {
        at: Position,
    },
    /// Answered by [`QueryAnswer::Places`].
    References {
        at: Position,
    },
    /// The name that can be renamed there; answered by [`QueryAnswer::Name`] or [`QueryAnswer::Refused`].
    Name {
        at: Position,
    },
    /// Answered by [`QueryAnswer::Edits`] or [`QueryAnswer::Refused`].
    Rename {
        at: Position,
        name: String,
    },
}

/// An answer to a [`Query`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum QueryAnswer {
    /// There is no answer.
    Nothing,
    Tokens {
        /// The names of all classes of tokens.
        classes: Vec<String>,
        /// Each with its place, the position of its class, 1 for a declaration plus 2 for a write.
        tokens: Vec<(Position, Position, usize, u8)>,
    },
    Folds {
        folds: Vec<(Position, Position)>,
    },
    Edits {
        edits: Vec<Edit>,
    },
    Hover {
        place: SourceRange,
        code: String,
        /// Pairs of a label and a text.
        rows: Vec<(String, String)>,
        about: String,
    },
    Complete {
        /// The text that an item replaces.
        place: SourceRange,
        items: Vec<Item>,
    },
    Signature {
        label: String,
        /// Where each parameter stands in the label, in characters, and what is said about it.
        params: Vec<(u32, u32, String)>,
        active: Option<usize>,
        about: String,
    },
    Places {
        places: Vec<SourceOccurrence>,
    },
    Name {
        place: SourceRange,
        name: String,
    },
    Refused {
        why: String,
    },
}

/// Something that may be written.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Item {
    pub label: String,
    /// `field`, `function`, `offset`, ...
    pub kind: String,
    pub detail: String,
    pub about: String,
    pub insert: String,
}

/// A place with the line that it stands in.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SourceOccurrence {
    pub place: SourceRange,
    pub line: String,
}
