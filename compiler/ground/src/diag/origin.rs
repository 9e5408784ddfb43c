//! Where a statement of an IR came from.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::Span;

/// Names a statement of the Definition IR; every later level keeps the name, so
/// that statements of all levels can be linked. Listings spell it `s7`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct StmtId(pub u32);

impl fmt::Display for StmtId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "s{}", self.0)
    }
}

/// The statement that asked for a node, and its places in the text. The first place is where it is written.
/// Then come the call that inlined it, the call of that, ...
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(into = "(StmtId, Vec<Span>)", try_from = "(StmtId, Vec<Span>)")]
pub struct Origin {
    pub stmt: StmtId,
    spans: Arc<[Span]>,
}

impl From<Origin> for (StmtId, Vec<Span>) {
    fn from(Origin { stmt, spans }: Origin) -> Self {
        (stmt, spans.to_vec())
    }
}

impl TryFrom<(StmtId, Vec<Span>)> for Origin {
    type Error = &'static str;

    fn try_from((stmt, spans): (StmtId, Vec<Span>)) -> Result<Self, Self::Error> {
        if spans.is_empty() { Err("a statement is written somewhere") } else { Ok(Self::new(stmt, &spans)) }
    }
}

impl Origin {
    /// `spans` starts with the statement itself, then the calls from inside out.
    ///
    /// # Panics
    ///
    /// When `spans` is empty.
    #[must_use]
    pub fn new(stmt: StmtId, spans: &[Span]) -> Self {
        assert!(!spans.is_empty(), "a statement is written somewhere");
        Self { stmt, spans: Arc::from(spans) }
    }

    /// Where the statement is written.
    #[must_use]
    pub fn span(&self) -> Span {
        self.spans[0]
    }

    /// The statement, then the calls that inlined it, from inside out.
    #[must_use]
    pub fn spans(&self) -> &[Span] {
        &self.spans
    }
}
