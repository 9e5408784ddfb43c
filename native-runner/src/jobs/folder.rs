//! The folder of a job: for its owner alone, and gone when the job is over.
//!
//! All files of a job except its results lie there, those of the C compiler too. The process that starts a
//! job removes the folder, because a killed job cannot. A killed runner leaves folders behind; the next
//! runner clears them.

use std::fs::{self, File, TryLockError};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;

use rustix::io::Errno;
use rustix::process::{Pid, geteuid, test_kill_process};
use tempfile::TempDir;

/// Followed by the number of the process that it belongs to.
const PREFIX: &str = "isobar-job-";
/// Letters and digits at the end of its name, which nobody can guess.
const N_RANDOM: usize = 16;
const OWNER_ALONE: u32 = 0o700;

/// A folder that is removed when this is dropped.
#[derive(Debug)]
pub(crate) struct Folder {
    folder: TempDir,
    /// Locked as long as the folder is in use, also for those who do not see our process.
    _lock: File,
}

impl Folder {
    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }
}

/// A new folder below `temporary`.
///
/// # Errors
///
/// Those of the system.
pub(crate) fn make(temporary: &Path) -> std::io::Result<Folder> {
    let prefix = format!("{PREFIX}{}-", std::process::id());
    let folder = tempfile::Builder::new()
        .prefix(&prefix)
        .rand_bytes(N_RANDOM)
        .permissions(fs::Permissions::from_mode(OWNER_ALONE))
        .tempdir_in(temporary)?;
    let lock = File::open(folder.path())?;
    match lock.try_lock() {
        // A file system without locks: the number of the process says that it is in use.
        Ok(()) | Err(TryLockError::Error(_)) => Ok(Folder { folder, _lock: lock }),
        Err(TryLockError::WouldBlock) => Err(std::io::ErrorKind::ResourceBusy.into()),
    }
}

/// Removes the folders of processes that are gone.
pub(crate) fn clear(temporary: &Path) {
    let Ok(entries) = fs::read_dir(temporary) else { return };
    for entry in entries.flatten() {
        let Some(owner) = entry.file_name().to_str().and_then(owner) else { continue };
        // Of the entry itself, never of what a link leads to.
        let is_ours = entry.metadata().is_ok_and(|it| {
            it.is_dir() && it.uid() == geteuid().as_raw() && it.mode() & 0o777 == OWNER_ALONE
        });
        if !is_ours || test_kill_process(owner) != Err(Errno::SRCH) {
            continue;
        }
        // The process may live where its number is not seen, as in a container.
        let Ok(folder) = File::open(entry.path()) else { continue };
        if folder.try_lock().is_ok() {
            // Another runner may be at it, too.
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

/// The process of a folder of that name.
fn owner(name: &str) -> Option<Pid> {
    let (pid, random) = name.strip_prefix(PREFIX)?.split_once('-')?;
    let is_random = random.len() == N_RANDOM && random.chars().all(|it| it.is_ascii_alphanumeric());
    Pid::from_raw(pid.parse().ok()?).filter(|_| is_random)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_is_private_and_only_what_nobody_owns_is_cleared() {
        let temporary = tempfile::tempdir().expect("a folder");
        let at = |name: &str| temporary.path().join(name);
        let ours = make(temporary.path()).expect("a folder");
        let mode = ours.path().metadata().expect("it is there").permissions().mode();
        assert_eq!(mode & 0o777, 0o700);
        // No process has this number: it is beyond what the system gives.
        let [left, used, open] = ["a", "b", "c"].map(|it| format!("isobar-job-2000000000-{}", it.repeat(16)));
        let others = ["isobar-2024-results", "isobar-job-2000000000-results", "isobar-job--aaaaaaaaaaaaaaaa"];
        for name in [left.as_str(), &used, &open].into_iter().chain(others) {
            fs::create_dir_all(at(name).join("below")).expect("a folder");
            let mode = fs::Permissions::from_mode(if name == open { 0o755 } else { 0o700 });
            fs::set_permissions(at(name), mode).expect("it is ours");
        }
        let link = format!("isobar-job-2000000000-{}", "d".repeat(16));
        std::os::unix::fs::symlink(at(others[0]), at(&link)).expect("a link");
        let in_use = File::open(at(&used)).expect("it is there");
        in_use.lock().expect("nobody else has it");
        clear(temporary.path());
        assert!(!at(&left).exists());
        assert!(ours.path().exists() && at(&used).exists() && at(&open).exists());
        assert!(others.iter().all(|it| at(it).join("below").exists()));
        drop(in_use);
        clear(temporary.path());
        assert!(!at(&used).exists());
    }
}
