//! Errors of the API, after RFC 9457: `application/problem+json`.

use serde::{Deserialize, Serialize};

use crate::diagnostic::Diagnostic;

/// An error of a request, with advice.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Problem {
    /// A page about this kind of problem, on the runner itself: `/problems/payload-too-large`.
    #[serde(rename = "type")]
    pub kind: String,
    pub title: String,
    pub status: u16,
    pub detail: String,
    /// The last part of `type`.
    pub code: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<LimitHit>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry_after_ms: Option<u64>,
    /// Advice on the next step.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub next: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub diagnostics: Vec<Diagnostic>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub report_id: Option<String>,
}

impl Problem {
    /// The same, with the limit that was reached.
    #[must_use]
    pub fn with_limit(self, limit: LimitHit) -> Self {
        Self { limit: Some(limit), ..self }
    }
}

/// The limit that was reached.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LimitHit {
    pub name: String,
    pub allowed: u64,
    pub asked: u64,
    pub unit: String,
}

impl LimitHit {
    #[must_use]
    pub fn new(name: &str, allowed: u64, asked: u64, unit: &str) -> Self {
        Self { name: name.to_owned(), allowed, asked, unit: unit.to_owned() }
    }

    /// A time that ran out: nobody knows how much more would have been needed.
    #[must_use]
    pub fn of_time(name: &str, ms: u64) -> Self {
        Self::new(name, ms, ms, "ms")
    }
}
