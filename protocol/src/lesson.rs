//! A learner's task and the result of its checks.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::field::FieldInfo;
use crate::request::Request;

/// A learner's text, with the solution and the checks of its lesson.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Task {
    /// The learner's text, with the choices of the page.
    pub request: Request,
    /// The lesson's `solution.py` and `checks.toml`.
    pub solution: String,
    pub checks: String,
    /// The learner's answers, by the names of questions and quizzes; for a quiz `right` or `wrong`.
    pub answers: BTreeMap<String, String>,
}

/// The result of one check.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Verdict {
    /// The subject of the check, in the lesson's words.
    pub title: String,
    pub kind: String,
    pub is_passed: bool,
    /// The found and the expected value; empty where the check passed.
    pub message: String,
    /// Where to look next, in the lesson's words.
    pub hint: String,
    /// A line of the learner's text, from 1.
    pub line: Option<u32>,
}

/// The results of all checks.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct LessonResult {
    /// In the order of the lesson. Checks behind one that cannot go on are left out.
    pub verdicts: Vec<Verdict>,
    /// The fields of the first check that failed over a field.
    pub shown: Option<FieldMismatch>,
}

impl LessonResult {
    /// Whether the lesson is passed.
    #[must_use]
    pub fn is_passed(&self) -> bool {
        !self.verdicts.is_empty() && self.verdicts.iter().all(|it| it.is_passed)
    }
}

/// Two results to look at: the buffers come beside, in this order.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct FieldMismatch {
    pub domain: [i64; 3],
    /// The field that differs, and the first cell that does.
    pub field: String,
    pub cell: [u64; 3],
    pub found: Vec<FieldInfo>,
    pub expected: Vec<FieldInfo>,
}
