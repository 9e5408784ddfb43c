//! The inputs of jobs that outlive the runner: copies of their uploads, one for all jobs that use it.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use rustix::fs::OFlags;

use crate::wire::Fields;

/// A file is copied in parts of this size.
const PART_BYTES: usize = 1024 * 1024;

/// The folder of the copies.
#[derive(Debug)]
pub(super) struct Inputs {
    folder: PathBuf,
    kept: Mutex<Vec<Input>>,
}

#[derive(Debug)]
struct Input {
    name: String,
    /// The upload, by which the next job that uses it finds the copy.
    of: Weak<File>,
    n_jobs: usize,
}

impl Inputs {
    /// # Errors
    ///
    /// When the folder cannot be made.
    pub(super) fn open(folder: PathBuf) -> io::Result<Self> {
        fs::create_dir_all(&folder)?;
        Ok(Self { folder, kept: Mutex::default() })
    }

    fn kept(&self) -> MutexGuard<'_, Vec<Input>> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A copy of the fields, on the disk when this returns; its name.
    ///
    /// # Errors
    ///
    /// Those of the system; then nothing is left of it.
    pub(super) fn keep(&self, fields: &Fields) -> io::Result<Option<String>> {
        let of = match fields {
            Fields::None => return Ok(None),
            Fields::Memory(_) => Weak::new(),
            Fields::File { file, .. } => Arc::downgrade(file),
        };
        if let Some(name) = share(&mut self.kept(), &of) {
            return Ok(Some(name));
        }
        let name = crate::random::hex(16);
        let path = self.folder.join(&name);
        // Without the lock: others end meanwhile.
        if let Err(error) = copy(fields, &path) {
            let _ = fs::remove_file(&path);
            return Err(error);
        }
        let mut kept = self.kept();
        if let Some(name) = share(&mut kept, &of) {
            // Another job was faster with the same upload.
            let _ = fs::remove_file(&path);
            return Ok(Some(name));
        }
        kept.push(Input { name: name.clone(), of, n_jobs: 1 });
        Ok(Some(name))
    }

    /// The fields that a runner before kept under this name; one more job uses them.
    ///
    /// # Errors
    ///
    /// When they are not there, or not as long as they were.
    pub(super) fn find(&self, name: &str, bytes: u64) -> io::Result<Fields> {
        let is_ours = name.len() == 32 && name.bytes().all(|it| it.is_ascii_hexdigit());
        if !is_ours {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        let mut kept = self.kept();
        if let Some(input) = kept.iter_mut().find(|it| it.name == name) {
            let file = input.of.upgrade().ok_or(io::ErrorKind::NotFound)?;
            input.n_jobs += 1;
            return Ok(Fields::File { file, bytes });
        }
        let flags = i32::try_from((OFlags::NOFOLLOW | OFlags::NONBLOCK).bits()).unwrap_or(0);
        let file = OpenOptions::new().read(true).custom_flags(flags).open(self.folder.join(name))?;
        let found = file.metadata()?;
        if !found.is_file() || found.len() != bytes {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        let file = Arc::new(file);
        kept.push(Input { name: name.to_owned(), of: Arc::downgrade(&file), n_jobs: 1 });
        Ok(Fields::File { file, bytes })
    }

    /// One job less uses it; after the last one it is removed.
    pub(super) fn release(&self, name: &str) {
        let mut kept = self.kept();
        let Some(at) = kept.iter().position(|it| it.name == name) else { return };
        kept[at].n_jobs -= 1;
        if kept[at].n_jobs == 0 {
            kept.remove(at);
            let _ = fs::remove_file(self.folder.join(name));
        }
    }

    /// Removes what no job uses: a runner may be ended between a copy and its job.
    pub(super) fn clear(&self) {
        let kept = self.kept();
        let Ok(entries) = fs::read_dir(&self.folder) else { return };
        for entry in entries.flatten() {
            let name = entry.file_name();
            if !kept.iter().any(|it| name.to_str() == Some(&it.name)) {
                let _ = fs::remove_file(entry.path());
            }
        }
    }
}

/// The copy of an upload that is there, for one more job.
fn share(kept: &mut [Input], of: &Weak<File>) -> Option<String> {
    let input = kept.iter_mut().find(|it| of.strong_count() > 0 && it.of.ptr_eq(of))?;
    input.n_jobs += 1;
    Some(input.name.clone())
}

fn copy(fields: &Fields, path: &Path) -> io::Result<()> {
    let mut out = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)?;
    match fields {
        Fields::None => {}
        Fields::Memory(bytes) => out.write_all(bytes)?,
        Fields::File { file, bytes } => {
            // Jobs read the same file meanwhile, so its position is nobody's.
            let mut part = vec![0; PART_BYTES];
            let mut at = 0;
            while at < *bytes {
                let length = usize::try_from(bytes - at).unwrap_or(PART_BYTES).min(PART_BYTES);
                file.read_exact_at(&mut part[..length], at)?;
                out.write_all(&part[..length])?;
                at += length as u64;
            }
        }
    }
    out.sync_all()?;
    match path.parent() {
        Some(folder) => File::open(folder)?.sync_all(),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_copy_is_shared_and_goes_with_its_last_job() {
        let folder = tempfile::tempdir().expect("a folder");
        let inputs = Inputs::open(folder.path().join("inputs")).expect("a folder");
        let mut file = tempfile::tempfile().expect("a file");
        file.write_all(b"fields").expect("it is ours");
        let fields = Fields::File { file: Arc::new(file), bytes: 6 };
        let first = inputs.keep(&fields).expect("there is room").expect("there are fields");
        assert_eq!(inputs.keep(&fields).expect("it is there"), Some(first.clone()));
        let path = folder.path().join("inputs").join(&first);
        assert_eq!(fs::read(&path).expect("it is there"), b"fields");
        inputs.release(&first);
        assert!(path.exists());
        inputs.release(&first);
        assert!(!path.exists());
    }

    #[test]
    fn only_whole_files_of_ours_are_found_and_others_are_cleared() {
        let folder = tempfile::tempdir().expect("a folder");
        let (whole, spare) = ("a".repeat(32), "b".repeat(32));
        for name in [&whole, &spare] {
            fs::write(folder.path().join(name), b"fields").expect("it is ours");
        }
        let inputs = Inputs::open(folder.path().to_owned()).expect("a folder");
        assert!(inputs.find(&whole, 7).is_err() && inputs.find("../secret", 6).is_err());
        assert_eq!(inputs.find(&whole, 6).expect("it is there").size_bytes(), 6);
        inputs.clear();
        assert!(folder.path().join(&whole).exists() && !folder.path().join(&spare).exists());
    }
}
