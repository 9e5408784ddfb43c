//! The records in the file of a stencil, and how two files become one.

use serde::{Deserialize, Serialize};

/// Records that are kept of one stencil: a model has one or two for each kind of arrays that it calls it
/// with.
const MOST: usize = 256;

/// A value that is kept, with its key.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct StencilRecord {
    pub key: Vec<u8>,
    pub value: Vec<u8>,
}

/// Joins two files of one stencil. Where both have a key, the record of the first stays. None where the first
/// has all records.
pub(super) fn joined(known: &[u8], other: &[u8]) -> Option<Vec<u8>> {
    let read = |it: &[u8]| postcard::from_bytes::<Vec<StencilRecord>>(it).ok();
    // A file that cannot be read has no records.
    let (mut all, other) = (read(known).unwrap_or_default(), read(other)?);
    let new = |it: &StencilRecord| !all.iter().any(|known| known.key == it.key);
    let new: Vec<StencilRecord> = other.into_iter().filter(new).collect();
    if new.is_empty() {
        return None;
    }
    all.extend(new);
    bound(&mut all);
    postcard::to_allocvec(&all).ok()
}

/// Removes the oldest records beyond the limit, except the first one, which all others need.
pub fn bound(records: &mut Vec<StencilRecord>) {
    let spare = records.len().saturating_sub(MOST);
    if spare > 0 {
        records.drain(1..=spare);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_files_are_joined_and_nothing_that_is_known_changes() {
        let file = |all: &[[&str; 2]]| {
            let record = |it: &[&str; 2]| StencilRecord { key: it[0].into(), value: it[1].into() };
            postcard::to_allocvec(&all.iter().map(record).collect::<Vec<_>>()).expect("memory takes it")
        };
        let (one, other) = (file(&[["a", "1"], ["b", "2"]]), file(&[["b", "3"], ["c", "4"]]));
        assert_eq!(joined(&one, &other), Some(file(&[["a", "1"], ["b", "2"], ["c", "4"]])));
        assert_eq!(joined(&one, &one), None);
        assert_eq!(joined(&one, b"something else"), None);
        assert_eq!(joined(b"something else", &one), Some(one));
    }
}
