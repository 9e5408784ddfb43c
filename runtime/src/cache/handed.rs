//! Entries of a process that may not write the cache: it hands them over to the process that started it.

use std::sync::OnceLock;

use serde::{Deserialize, Serialize};

use super::{CodeEntry, CodeKind, KeyParts};

/// An entry that another process is to put in, or to note as used.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct HandedEntry {
    pub kind: CodeKind,
    pub stencil: String,
    pub parts: KeyParts,
}

type Take = Box<dyn Fn(HandedEntry, Option<&[u8]>) + Send + Sync>;

static TAKE: OnceLock<Take> = OnceLock::new();

/// From now on this process writes nothing to the cache. It calls `take` for each entry: with the code of a
/// new entry, and without code for an entry that was used.
pub fn hand_over(take: impl Fn(HandedEntry, Option<&[u8]>) + Send + Sync + 'static) {
    let _ = TAKE.set(Box::new(take));
}

/// Whether another process puts in the entries of this one.
pub(super) fn is_elsewhere() -> bool {
    TAKE.get().is_some()
}

/// Hands an entry over; returns whether this process does so.
pub(super) fn tell(entry: &CodeEntry, code: Option<&[u8]>, stencil: &str, parts: &KeyParts) -> bool {
    let Some(take) = TAKE.get() else { return false };
    take(HandedEntry { kind: entry.kind, stencil: stencil.to_owned(), parts: parts.clone() }, code);
    true
}
