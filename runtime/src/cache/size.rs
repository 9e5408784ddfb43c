//! How large a cache becomes: what was not used for longest gives way.

use std::fs;
use std::path::Path;
use std::time::SystemTime;

use super::{DESCRIPTION, Entry, LOCK, PROOF, absent, entries};

/// All entries together have no more bytes.
pub const MOST_BYTES: u64 = 4 << 30;

/// Removes entries, the one first that was not used for longest, until there is room; some more, so that it is not done
/// for each. Answers how many.
pub(super) fn make_room(root: &Path, most: u64) -> usize {
    let mut all: Vec<(SystemTime, u64, Entry)> = entries(root)
        .into_iter()
        .map(|it| {
            let used = it.file(PROOF).metadata().and_then(|it| it.modified());
            let bytes = it.library().metadata().map_or(0, |it| it.len());
            (used.unwrap_or(SystemTime::UNIX_EPOCH), bytes, it)
        })
        .collect();
    let mut total: u64 = all.iter().map(|it| it.1).sum();
    if total <= most {
        return 0;
    }
    all.sort_by_key(|it| it.0);
    let mut n_removed = 0;
    for (_, bytes, entry) in all {
        if total <= most / 10 * 9 {
            break;
        }
        // Who has it loaded keeps it; who looks for it makes it anew.
        for kind in [PROOF, DESCRIPTION, LOCK, entry.kind.suffix()] {
            let _ = absent(fs::remove_file(entry.file(kind)));
        }
        total -= bytes;
        n_removed += 1;
    }
    n_removed
}
