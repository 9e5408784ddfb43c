//! The file of a stencil: values that other processes find by the stencil's text and all that decides its
//! code.
//!
//! The file grows when values are made for further arrays. Ranks of a model ask for the same values at the
//! same time. One of them makes a value, and the others wait and read it.

use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::cache::records::{self, StencilRecord};
use crate::cache::{CodeEntry, CodeKind, KeyParts, private};

/// The file of one stencil.
#[derive(Debug)]
pub struct StencilFile {
    entry: CodeEntry,
    parts: KeyParts,
    /// The name in lists. Where a caller asks for the only stencil of a text, the compilation sets the name
    /// later.
    stencil: OnceLock<String>,
    records: Mutex<Vec<StencilRecord>>,
}

impl StencilFile {
    /// Reads the file of a stencil below the cache folder `root`; none where no file can be there.
    #[must_use]
    pub fn open(root: &Path, parts: KeyParts, stencil: Option<&str>) -> Option<Arc<Self>> {
        let folder = private(root, CodeKind::Stencils.folder()).ok()?;
        let entry = CodeEntry::of(CodeKind::Stencils, folder, parts.key());
        let stencil = stencil.map(|it| OnceLock::from(it.to_owned())).unwrap_or_default();
        let file = Self { entry, parts, stencil, records: Mutex::default() };
        file.read();
        if !file.records().is_empty() {
            file.entry.touch();
        }
        Some(Arc::new(file))
    }

    fn records(&self) -> MutexGuard<'_, Vec<StencilRecord>> {
        self.records.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes over the records of other processes. A file that cannot be read has none.
    fn read(&self) {
        let found = self.entry.whole().and_then(|it| postcard::from_bytes::<Vec<StencilRecord>>(&it).ok());
        let mut records = self.records();
        for it in found.into_iter().flatten() {
            if !records.iter().any(|known| known.key == it.key) {
                records.push(it);
            }
        }
    }

    fn find<T: DeserializeOwned>(&self, key: &[u8]) -> Option<T> {
        let records = self.records();
        let found = records.iter().find(|it| it.key == key)?;
        postcard::from_bytes(&found.value).ok()
    }

    /// Adds a record. A disk that refuses it does no harm.
    fn put(&self, key: Vec<u8>, value: Vec<u8>) {
        let mut records = self.records();
        records.retain(|it| it.key != key);
        records.push(StencilRecord { key, value });
        records::bound(&mut records);
        let bytes = postcard::to_allocvec(&*records);
        // The lock is released before the file is written. A child that is forked meanwhile lacks the writing
        // thread, and would wait for the lock forever.
        drop(records);
        if let Ok(bytes) = bytes {
            let stencil = self.stencil.get().map_or("", String::as_str);
            let _ = self.entry.keep(&bytes, stencil, &self.parts);
        }
    }

    /// The value of a key, made by one of all processes that ask. `make` may not ask for another value of
    /// this file.
    ///
    /// # Errors
    ///
    /// Why it cannot be made. Reasons are not stored.
    fn get_or_make<T: Serialize + DeserializeOwned, E>(
        &self,
        key: &impl Serialize,
        make: impl FnOnce() -> Result<T, E>,
    ) -> Result<T, E> {
        let Ok(key) = postcard::to_allocvec(key) else { return make() };
        if let Some(found) = self.find(&key) {
            return Ok(found);
        }
        let _alone = self.entry.alone();
        self.read();
        if let Some(found) = self.find(&key) {
            return Ok(found);
        }
        let made = make()?;
        if let Ok(value) = postcard::to_allocvec(&made) {
            self.put(key, value);
        }
        Ok(made)
    }
}

/// The values of one variant in the file of its stencil.
#[derive(Clone, Debug)]
pub struct FileSection {
    file: Arc<StencilFile>,
    /// The variant, as bytes.
    variant: Vec<u8>,
}

impl FileSection {
    /// The section of a variant.
    #[must_use]
    pub fn of(file: &Arc<StencilFile>, variant: &impl Serialize) -> Self {
        let variant = postcard::to_allocvec(variant).unwrap_or_default();
        Self { file: Arc::clone(file), variant }
    }

    /// Sets the name of the stencil in lists, unless the caller gave one.
    pub fn call(&self, stencil: &str) {
        let _ = self.file.stencil.set(stencil.to_owned());
    }

    /// The value under a name and a key, where the file has it.
    #[must_use]
    pub fn find<T: DeserializeOwned>(&self, name: &str, key: &impl Serialize) -> Option<T> {
        self.file.find(&postcard::to_allocvec(&(&self.variant, name, key)).ok()?)
    }

    /// The value under a name and a key, made by one of all processes that ask. `make` may not ask for
    /// another value of this file.
    ///
    /// # Errors
    ///
    /// Why it cannot be made. Reasons are not stored.
    pub fn get_or_make<T: Serialize + DeserializeOwned, E>(
        &self,
        name: &str,
        key: &impl Serialize,
        make: impl FnOnce() -> Result<T, E>,
    ) -> Result<T, E> {
        self.file.get_or_make(&(&self.variant, name, key), make)
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    fn parts(text: &str) -> KeyParts {
        KeyParts::of(text, String::new(), String::new())
    }

    fn made(section: &FileSection, key: u32) -> Result<String, u32> {
        section.get_or_make("name", &key, || Ok(format!("made {key}")))
    }

    fn kept(section: &FileSection, key: u32) -> Result<String, u32> {
        section.get_or_make("name", &key, || Err(key))
    }

    #[test]
    fn another_process_finds_what_was_made_and_nothing_else() {
        let root = tempfile::tempdir().expect("a folder");
        let open = |text: &str| {
            FileSection::of(&StencilFile::open(root.path(), parts(text), Some("s")).expect("it is ours"), &0)
        };
        let (one, early) = (open("a"), open("a"));
        assert_eq!(made(&one, 1), Ok("made 1".to_owned()));
        assert_eq!(made(&FileSection::of(&one.file, &1), 1), Ok("made 1".to_owned()));
        // A process that opened the file earlier reads it again before it makes a value.
        assert_eq!(kept(&early, 1), Ok("made 1".to_owned()));
        let other = open("a");
        assert_eq!(kept(&other, 1), Ok("made 1".to_owned()));
        assert_eq!(kept(&other, 2), Err(2));
        assert_eq!(kept(&FileSection::of(&other.file, &2), 1), Err(1));
        assert_eq!(kept(&open("b"), 1), Err(1));
        // Two processes each add a value, and neither loses the value of the other.
        assert_eq!(made(&other, 3), Ok("made 3".to_owned()));
        assert_eq!(made(&one, 4), Ok("made 4".to_owned()));
        assert_eq!([1, 3, 4].map(|it| kept(&open("a"), it).is_ok()), [true; 3]);
    }

    #[test]
    fn a_stencil_that_nobody_named_has_the_name_that_was_found() {
        let root = tempfile::tempdir().expect("a folder");
        let open = |name| {
            FileSection::of(&StencilFile::open(root.path(), parts("a"), name).expect("it is ours"), &0)
        };
        let names =
            || -> Vec<String> { crate::cache::list(root.path()).into_iter().map(|it| it.stencil).collect() };
        let one = open(None);
        let make = || {
            one.call("advect");
            Ok::<u32, u32>(1)
        };
        assert_eq!(one.get_or_make("name", &1, make), Ok(1));
        assert_eq!(names(), ["advect"]);
        let other = open(Some("Model.advect"));
        other.call("advect");
        assert!(made(&other, 2).is_ok());
        assert_eq!(names(), ["Model.advect"]);
    }

    #[test]
    fn what_is_truncated_or_foreign_is_made_anew() {
        let root = tempfile::tempdir().expect("a folder");
        let open = || {
            FileSection::of(&StencilFile::open(root.path(), parts("a"), Some("s")).expect("it is ours"), &0)
        };
        let one = open();
        assert_eq!(made(&one, 1), Ok("made 1".to_owned()));
        let file = one.file.entry.library();
        let whole = fs::read(&file).expect("it is there");
        for wrong in [&whole[..whole.len() - 1], b"", b"something else"] {
            fs::write(&file, wrong).expect("it is ours");
            assert_eq!(kept(&open(), 1), Err(1));
            // A valid proof does not make invalid records readable.
            one.file.entry.keep(wrong, "s", &parts("a")).expect("it is ours");
            assert_eq!(kept(&open(), 1), Err(1));
        }
        assert_eq!(made(&open(), 1), Ok("made 1".to_owned()));
        assert_eq!(kept(&open(), 1), Ok("made 1".to_owned()));
    }

    #[test]
    fn one_of_many_makes_it() {
        let root = tempfile::tempdir().expect("a folder");
        let n_made = AtomicUsize::new(0);
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    for key in 0..10_u32 {
                        let section = FileSection::of(
                            &StencilFile::open(root.path(), parts("a"), Some("s")).expect("it is ours"),
                            &0,
                        );
                        let make = || {
                            n_made.fetch_add(1, Ordering::Relaxed);
                            std::thread::sleep(std::time::Duration::from_millis(1));
                            Ok::<u32, ()>(2 * key)
                        };
                        assert_eq!(section.get_or_make("name", &key, make), Ok(2 * key));
                    }
                });
            }
        });
        assert_eq!(n_made.into_inner(), 10);
    }
}
