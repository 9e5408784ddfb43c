//! What a learner's text is held against, and what came of it.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::field::FieldInfo;
use crate::request::Request;

/// A text, and what a lesson asks of it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Task {
    /// The learner's text, with the choices of the page.
    pub request: Request,
    /// The lesson's `solution.py` and `checks.toml`.
    pub solution: String,
    pub checks: String,
    /// What was answered, by the names of questions and quizzes; of a quiz `right` or `wrong`.
    pub answers: BTreeMap<String, String>,
}

/// What came of one check.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Verdict {
    /// What it looks at, in the lesson's words.
    pub title: String,
    pub kind: String,
    pub is_passed: bool,
    /// What was found and what is expected; empty where it passed.
    pub message: String,
    /// What to look at next, in the lesson's words.
    pub hint: String,
    /// A line of the learner's text, from 1.
    pub line: Option<u32>,
}

/// What came of all of them.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Checked {
    /// In the order of the lesson. Those behind one that cannot go on are not there.
    pub verdicts: Vec<Verdict>,
    /// Of the first one that failed over a field.
    pub shown: Option<Shown>,
}

impl Checked {
    /// Whether the lesson is passed.
    #[must_use]
    pub fn is_passed(&self) -> bool {
        !self.verdicts.is_empty() && self.verdicts.iter().all(|it| it.is_passed)
    }
}

/// Two results to look at: the buffers come beside, in this order.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Shown {
    pub domain: [i64; 3],
    /// The field that differs, and the first cell that does.
    pub field: String,
    pub cell: [u64; 3],
    pub found: Vec<FieldInfo>,
    pub expected: Vec<FieldInfo>,
}
