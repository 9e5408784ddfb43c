//! A process that may not write the cache hands over what it made, and who started it puts it in.

use std::sync::OnceLock;

use serde::{Deserialize, Serialize};

use super::{Entry, Kind, Parts};

/// An entry that somebody else is to put in, or to note as used.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Handed {
    pub kind: Kind,
    pub stencil: String,
    pub parts: Parts,
}

type Take = Box<dyn Fn(Handed, Option<&[u8]>) + Send + Sync>;

static TAKE: OnceLock<Take> = OnceLock::new();

/// From now on this process writes nothing there, and tells `take` of each entry: with its code where it is new, and
/// without where it was used.
pub fn hand_over(take: impl Fn(Handed, Option<&[u8]>) + Send + Sync + 'static) {
    let _ = TAKE.set(Box::new(take));
}

/// Whether somebody else puts in what this process makes.
pub(super) fn is_elsewhere() -> bool {
    TAKE.get().is_some()
}

/// Tells who puts it in; answers whether somebody does.
pub(super) fn tell(entry: &Entry, code: Option<&[u8]>, stencil: &str, parts: &Parts) -> bool {
    let Some(take) = TAKE.get() else { return false };
    take(Handed { kind: entry.kind, stencil: stencil.to_owned(), parts: parts.clone() }, code);
    true
}
