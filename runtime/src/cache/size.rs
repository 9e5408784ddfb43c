//! The limit on the size of a cache: the entries that were not used for longest are removed.
//!
//! A file has the number of bytes of all entries. Each process adds to it under a lock. Counting a folder of
//! 18,000 files takes a quarter of a second. So entries are counted only where that number is missing, too
//! large, or a day old.

use std::fs::{self, File};
use std::io::{Read, Seek, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::time::{Duration, SystemTime};

use rustix::fs::{FlockOperation, OFlags, flock};

use super::{CodeEntry, DESCRIPTION, LOCK, PROOF, absent, entries};

/// The most bytes that all entries have together.
pub const MOST_BYTES: u64 = 4 << 30;

/// The file with the number.
const SIZE: &str = "size";
/// Age after which the entries are counted again. A process that is killed after it put an entry, and before
/// it added its bytes, leaves a wrong number until then.
const AGE: Duration = Duration::from_secs(24 * 3600);
/// The most characters that the number has as text.
const DIGITS: u64 = 64;

/// The bytes of all entries: as counted, plus those added since.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Size {
    bytes: u64,
    /// When they were counted, in seconds since 1970.
    counted: u64,
}

fn now() -> u64 {
    SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).map_or(0, |it| it.as_secs())
}

impl Size {
    /// The size in the file, where it is valid and not too old.
    fn read(file: &mut File) -> Option<Self> {
        let mut text = String::new();
        file.take(DIGITS).read_to_string(&mut text).ok()?;
        let (bytes, counted) = text.trim_end().split_once(' ')?;
        let found = Self { bytes: bytes.parse().ok()?, counted: counted.parse().ok()? };
        let is_young = now().checked_sub(found.counted).is_some_and(|it| it < AGE.as_secs());
        is_young.then_some(found)
    }

    fn write(self, file: &mut File) -> std::io::Result<()> {
        let text = format!("{} {}\n", self.bytes, self.counted);
        file.set_len(0)?;
        file.rewind()?;
        file.write_all(text.as_bytes())
    }
}

/// The bytes of the code of an entry, before and after a change.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct SizeChange {
    pub before: u64,
    pub now: u64,
}

/// Puts an entry into the cache. Removes others where all have more than `most` bytes; returns how many.
///
/// # Errors
///
/// The entry cannot be put there.
pub(super) fn grows(
    root: &Path,
    most: u64,
    place: impl FnOnce() -> std::io::Result<SizeChange>,
) -> std::io::Result<usize> {
    let not_a_link = OFlags::NOFOLLOW.bits().cast_signed();
    let opened = File::options()
        .read(true)
        .write(true)
        .create(true)
        .truncate(false)
        .mode(0o600)
        .custom_flags(not_a_link)
        .open(root.join(SIZE));
    // The lock admits one process: two would remove the same entries, and count an entry whose bytes are
    // still to be added.
    let Some(mut file) = opened.ok().filter(|it| flock(it, FlockOperation::LockExclusive).is_ok()) else {
        place()?;
        return Ok(make_room(root, most).1);
    };
    let placed = place().map(|grown| {
        let SizeChange { before, now } = grown;
        let known = Size::read(&mut file)
            .map(|it| Size { bytes: it.bytes.saturating_sub(before).saturating_add(now), ..it });
        let (size, n_removed) = match known.filter(|it| it.bytes <= most) {
            Some(size) => (size, 0),
            None => {
                let (bytes, n_removed) = make_room(root, most);
                (Size { bytes, counted: self::now() }, n_removed)
            }
        };
        if size.write(&mut file).is_err() {
            // The next process counts again.
            let _ = file.set_len(0);
        }
        n_removed
    });
    // Closing the file does not unlock it: a process that was forked meanwhile has the same file open.
    let _ = flock(&file, FlockOperation::Unlock);
    placed
}

/// Removes the number, since entries were removed elsewhere. The next process counts again.
pub(super) fn forget(root: &Path) -> std::io::Result<()> {
    absent(fs::remove_file(root.join(SIZE)))
}

/// Counts the entries, and removes those that were not used for longest until there is room. Removes some
/// more, so that it does not run again for each new entry. Returns the bytes that are left, and the number of
/// removed entries.
fn make_room(root: &Path, most: u64) -> (u64, usize) {
    let mut all: Vec<(SystemTime, u64, CodeEntry)> = entries(root)
        .into_iter()
        .map(|it| {
            let used = it.file(PROOF).metadata().and_then(|it| it.modified());
            let bytes = it.library().metadata().map_or(0, |it| it.len());
            (used.unwrap_or(SystemTime::UNIX_EPOCH), bytes, it)
        })
        .collect();
    let mut total: u64 = all.iter().map(|it| it.1).sum();
    if total <= most {
        return (total, 0);
    }
    all.sort_by_key(|it| it.0);
    let mut n_removed = 0;
    for (_, bytes, entry) in all {
        if total <= most / 10 * 9 {
            break;
        }
        // A process that has loaded the code keeps it; a process that looks for it makes it again.
        for kind in [PROOF, DESCRIPTION, LOCK, entry.kind.suffix()] {
            let _ = absent(fs::remove_file(entry.file(kind)));
        }
        total -= bytes;
        n_removed += 1;
    }
    (total, n_removed)
}

#[cfg(test)]
mod tests {
    use super::super::{CodeKind, KeyParts, private};
    use super::*;

    fn size(root: &Path) -> Option<u64> {
        Size::read(&mut File::open(root.join(SIZE)).ok()?).map(|it| it.bytes)
    }

    fn keep(root: &Path, text: &str, bytes: usize) -> CodeEntry {
        let folder = private(root, CodeKind::C.folder()).expect("it is ours");
        let parts = KeyParts::of(text, "-O3".to_owned(), "cc".to_owned());
        let entry = CodeEntry::of(CodeKind::C, folder, parts.key());
        entry.keep(&vec![0; bytes], "copy", &parts).expect("it is ours");
        entry
    }

    #[test]
    fn the_size_is_added_to_and_counted_anew_where_it_is_wrong() {
        let root = tempfile::tempdir().expect("a folder");
        let root = root.path();
        keep(root, "one", 100);
        assert_eq!(size(root), Some(100));
        // The planted file is not in the size, so nothing was counted.
        let planted = root.join(CodeKind::C.folder()).join("ab.so");
        fs::write(&planted, [0; 1000]).expect("it is ours");
        keep(root, "two", 50);
        keep(root, "two", 70);
        assert_eq!(size(root), Some(170));
        for wrong in ["", "garbage", "170", "-3 5", "170 5\n", "170 99999999999\n", "9999999999999 1\n"] {
            fs::write(root.join(SIZE), wrong).expect("it is ours");
            keep(root, "two", 70);
            assert_eq!(size(root), Some(1170), "{wrong:?}");
        }
        // A number that is too large is not believed either.
        Size { bytes: u64::MAX, counted: now() }
            .write(&mut File::create(root.join(SIZE)).expect("it is ours"))
            .expect("it is ours");
        keep(root, "two", 70);
        assert_eq!(size(root), Some(1170));
    }

    #[test]
    fn many_at_a_time_lose_no_bytes() {
        let root = tempfile::tempdir().expect("a folder");
        let root = root.path();
        std::thread::scope(|scope| {
            for thread in 0..4 {
                scope.spawn(move || {
                    for at in 0..25 {
                        keep(root, &format!("{thread} {at}"), 10);
                    }
                });
            }
        });
        assert_eq!(size(root), Some(1000));
        super::super::clear(root).expect("it is ours");
        assert_eq!(size(root), None);
    }

    #[test]
    fn beyond_the_limit_the_oldest_give_way_and_the_size_is_what_is_left() {
        let root = tempfile::tempdir().expect("a folder");
        let root = root.path();
        let entries: Vec<CodeEntry> = (0..5)
            .map(|at| {
                let entry = keep(root, &format!("int x{at};"), 100);
                let used = SystemTime::UNIX_EPOCH + Duration::from_secs(1000 * at);
                let proof = File::options().append(true).open(entry.file(PROOF)).expect("it is there");
                proof.set_modified(used).expect("it is ours");
                entry
            })
            .collect();
        entries[0].touch();
        let grows = |most| grows(root, most, || Ok(SizeChange::default())).expect("it is ours");
        assert_eq!(grows(500), 0);
        assert_eq!(grows(400), 2);
        let left: Vec<bool> = entries.iter().map(CodeEntry::is_whole).collect();
        assert_eq!(left, [true, false, false, true, true]);
        assert_eq!(size(root), Some(300));
    }
}
