//! The folder of a job: for its owner alone, and gone when the job is over.
//!
//! Everything that a job writes beside its results lies there, that of the C compiler too. Whoever
//! starts the job removes it, because a job that is ended cannot. What a runner leaves that was itself
//! ended without notice, the next one clears.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;

use rustix::io::Errno;
use rustix::process::{Pid, geteuid, test_kill_process};
use tempfile::TempDir;

/// Followed by the number of the process that it belongs to.
const PREFIX: &str = "isobar-";

/// A new folder below `temporary`.
///
/// # Errors
///
/// Those of the system.
pub(crate) fn make(temporary: &Path) -> std::io::Result<TempDir> {
    let prefix = format!("{PREFIX}{}-", std::process::id());
    let owner_alone = fs::Permissions::from_mode(0o700);
    // The rest of its name cannot be guessed.
    tempfile::Builder::new().prefix(&prefix).permissions(owner_alone).tempdir_in(temporary)
}

/// Removes the folders of processes that are gone.
pub(crate) fn clear(temporary: &Path) {
    let Ok(entries) = fs::read_dir(temporary) else { return };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let owner = name.to_str().and_then(|it| it.strip_prefix(PREFIX)?.split_once('-'));
        let Some(owner) = owner.and_then(|(pid, _)| Pid::from_raw(pid.parse().ok()?)) else { continue };
        // Of the entry itself, never of what a link leads to.
        let is_ours = entry.metadata().is_ok_and(|it| it.is_dir() && it.uid() == geteuid().as_raw());
        if is_ours && test_kill_process(owner) == Err(Errno::SRCH) {
            // Another runner may be at it, too.
            let _ = fs::remove_dir_all(entry.path());
        }
    }
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
        for name in ["isobar-2000000000-x", "isobar-notes", "isobar--x", "other-2000000000-x"] {
            fs::create_dir_all(at(name).join("below")).expect("a folder");
        }
        std::os::unix::fs::symlink(at("other-2000000000-x"), at("isobar-2000000000-link")).expect("a link");
        clear(temporary.path());
        assert!(!at("isobar-2000000000-x").exists());
        assert!(ours.path().exists() && at("isobar-notes").exists() && at("isobar--x").exists());
        assert!(at("other-2000000000-x").join("below").exists());
    }
}
