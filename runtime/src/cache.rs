//! The cache of compiled code, and of the copy rate of this machine: a folder that nobody else can write to.

mod handed;
mod keys;
pub mod records;
mod size;

use std::fs::{self, File};
use std::io::Write;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::LazyLock;
use std::time::{Duration, Instant, SystemTime};

use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;
use rustix::process::geteuid;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

pub use handed::{HandedEntry, hand_over};
pub use keys::PUBLIC;
pub use size::MOST_BYTES;
use size::SizeChange;

/// A kind of compiled code that the cache keeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum CodeKind {
    /// Libraries compiled from C.
    C,
    /// Modules compiled from CUDA C++.
    Cuda,
    /// Pipelines that drivers of Vulkan compiled from WGSL.
    Pipelines,
    /// Machine code that was made in a process, with the facts that its calls are checked against.
    Stencils,
}

impl CodeKind {
    const ALL: [CodeKind; 4] = [CodeKind::C, CodeKind::Cuda, CodeKind::Pipelines, CodeKind::Stencils];

    /// Its folder, below that of the cache.
    #[must_use]
    pub fn folder(self) -> &'static str {
        match self {
            CodeKind::C => "c",
            CodeKind::Cuda => "cuda",
            CodeKind::Pipelines => "wgpu",
            CodeKind::Stencils => "rayon",
        }
    }

    /// The back end that uses code of this kind.
    #[must_use]
    pub fn backend(self) -> &'static str {
        match self {
            CodeKind::C => "openmp",
            CodeKind::Cuda | CodeKind::Pipelines | CodeKind::Stencils => self.folder(),
        }
    }

    /// The suffix of files with code.
    fn suffix(self) -> &'static str {
        match self {
            CodeKind::C => "so",
            CodeKind::Cuda => "cubin",
            CodeKind::Pipelines => "pipelines",
            CodeKind::Stencils => "stencil",
        }
    }
}

/// The message for compiled code that cannot be kept. This costs only time.
pub fn not_kept(why: &dyn std::fmt::Display) -> String {
    format!("compiled code is not kept: {why}")
}

/// Puts in an entry of a process that may not write the cache; see [`hand_over`]. The key is computed from
/// the parts, so that the entry cannot replace another one.
///
/// # Errors
///
/// Why the entry is not there.
pub fn take(root: &Path, handed: &HandedEntry, code: Option<&[u8]>) -> Result<(), String> {
    let folder = private(root, handed.kind.folder())?;
    let entry = CodeEntry::of(handed.kind, folder, handed.parts.key());
    let keep = |code: &[u8]| entry.keep(code, &handed.stencil, &handed.parts).map(drop);
    let done = match code {
        // The file of a stencil grows by the records of each process.
        Some(code) if handed.kind == CodeKind::Stencils => {
            let _alone = entry.alone();
            let known = entry.whole().unwrap_or_default();
            records::joined(&known, code).map_or(Ok(()), |it| keep(&it))
        }
        Some(code) if !entry.is_whole() => keep(code),
        Some(_) | None => {
            entry.touch();
            Ok(())
        }
    };
    done.map_err(|why| why.to_string())
}

/// Makes the folders of a cache, for a caller that starts processes which may only read it. Returns the paths
/// that these processes read.
///
/// # Errors
///
/// Why there is no cache.
pub fn prepare(root: &Path) -> Result<Vec<PathBuf>, String> {
    let mut readable = Vec::new();
    for name in CodeKind::ALL.map(CodeKind::folder).into_iter().chain([OF_MACHINE, OF_TUNED]) {
        readable.push(private(root, name)?);
    }
    keys::secret(root).ok_or("it takes no key")?;
    readable.push(root.join(PUBLIC));
    Ok(readable)
}

/// Below the cache folder: measurements of this machine.
pub const OF_MACHINE: &str = "machine";
/// Below the cache folder: schedules that were found to be faster.
pub const OF_TUNED: &str = "tuned";

/// A folder below `root` in which nobody else can put anything; made where it is missing.
pub fn private(root: &Path, name: &str) -> Result<PathBuf, String> {
    let folder = root.join(name);
    // The message omits the path, since its reader need not know where the cache lies.
    let shown = format!("its folder `{name}`");
    let create = fs::DirBuilder::new().recursive(true).mode(0o700).create(&folder);
    create.map_err(|error| format!("{shown} cannot be made: {error}"))?;
    for path in [root, &folder] {
        // `symlink_metadata` looks at a link itself, not at its target.
        let shown = if path == root { "the folder of the cache".to_owned() } else { shown.clone() };
        let found = path.symlink_metadata().map_err(|error| format!("{shown}: {error}"))?;
        if !found.is_dir() {
            return Err(format!("{shown} is no folder, or a link to one; remove it"));
        }
        if found.uid() != geteuid().as_raw() {
            return Err(format!("{shown} belongs to somebody else"));
        }
        if found.mode() & 0o022 != 0 {
            return Err(format!("others can write to {shown}; run `chmod 700` on it, or remove it"));
        }
    }
    Ok(folder)
}

/// All that decides the code, as separate parts, so that a miss can be explained.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct KeyParts {
    /// The hash of the text that is compiled.
    pub text: String,
    pub flags: String,
    /// The path of the compiler, and its own description.
    pub compiler: String,
    /// The hash of the processor's own description; for a GPU, its architecture.
    pub processor: String,
    /// The version of this program.
    pub version: String,
}

impl KeyParts {
    pub fn of(text: &str, flags: String, compiler: String) -> Self {
        Self {
            text: hash(&[text.as_bytes()]),
            flags,
            compiler,
            processor: processor(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
        }
    }

    /// The parts of machine code that this program makes itself, for a stencil with these texts.
    pub fn of_own_code<'a>(texts: impl Iterator<Item = &'a str>, flags: String) -> Self {
        let texts: Vec<&[u8]> = texts.map(str::as_bytes).collect();
        Self {
            text: hash(&texts),
            flags,
            compiler: env!("ISOBAR_SOURCES").to_owned(),
            processor: processor(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
        }
    }

    fn named(&self) -> [(&'static str, &str); 5] {
        [
            ("text", &self.text),
            ("flags", &self.flags),
            ("compiler", &self.compiler),
            ("processor", &self.processor),
            ("version", &self.version),
        ]
    }

    pub fn key(&self) -> String {
        hash(&self.named().map(|(_, it)| it.as_bytes()))
    }

    fn differing(&self, other: &Self) -> Vec<&'static str> {
        let both = self.named().into_iter().zip(other.named());
        both.filter(|(one, other)| one.1 != other.1).map(|(it, _)| it.0).collect()
    }
}

/// The hash of the processor's own description.
pub fn processor() -> String {
    // Read once: the file is long where there are many processors.
    static TOLD: LazyLock<String> = LazyLock::new(|| {
        let told = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
        let told: Vec<&str> = ["model name", "flags", "Features", "CPU part"]
            .into_iter()
            .filter_map(|key| told.lines().find(|line| line.starts_with(key)))
            .collect();
        hash(&[told.join("\n").as_bytes()])
    });
    TOLD.clone()
}

/// The description of an entry, in a file beside its code.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
struct Description {
    stencil: String,
    parts: KeyParts,
}

/// An entry as a list of the cache shows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CacheEntry {
    pub kind: CodeKind,
    /// The hash of all that decides the code.
    pub key: String,
    pub stencil: String,
    /// Size of the code.
    pub bytes: u64,
    /// Whether the code is as it was written.
    pub is_whole: bool,
    /// The time since it was last used.
    pub unused: Duration,
}

/// Whether code is in the cache; if not, the parts in which the most similar entry differs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Explanation {
    pub key: String,
    pub is_hit: bool,
    /// The key of the most similar entry.
    pub nearest: Option<String>,
    /// The parts that differ from those of that entry.
    pub differs: Vec<&'static str>,
}

/// The proof that the owner of the cache has put this there; none where no key can be made.
#[must_use]
pub fn sign(root: &Path, what: &str) -> Option<String> {
    keys::prove(root, what)
}

/// Whether the owner of the cache has put this there.
#[must_use]
pub fn is_signed(root: &Path, what: &str, proof: &str) -> bool {
    keys::is_proven(root, what, proof)
}

/// Code in the cache, and the signature that proves that it is whole.
#[derive(Debug)]
pub struct CodeEntry {
    kind: CodeKind,
    folder: PathBuf,
    key: String,
}

/// The files of an entry beside its code.
const PROOF: &str = "proof";
const DESCRIPTION: &str = "json";
const LOCK: &str = "lock";

/// The right to make an entry. Others get it when this is dropped.
#[derive(Debug)]
pub struct EntryLock(File);

impl Drop for EntryLock {
    fn drop(&mut self) {
        // Closing the file does not unlock it: a process that was forked meanwhile has the same file open.
        let _ = flock(&self.0, FlockOperation::Unlock);
    }
}

/// Longest wait for another process that makes an entry: it may run on a machine that is gone.
const PATIENCE: Duration = Duration::from_secs(300);

impl CodeEntry {
    pub fn of(kind: CodeKind, folder: PathBuf, key: String) -> Self {
        Self { kind, folder, key }
    }

    fn file(&self, kind: &str) -> PathBuf {
        self.folder.join(format!("{}.{kind}", self.key))
    }

    pub fn library(&self) -> PathBuf {
        self.file(self.kind.suffix())
    }

    pub fn is_whole(&self) -> bool {
        self.whole().is_some()
    }

    /// The code, if it is as it was written.
    pub fn whole(&self) -> Option<Vec<u8>> {
        let code = fs::read(self.library()).ok()?;
        let proof = fs::read_to_string(self.file(PROOF)).ok()?;
        keys::is_proven(self.root(), &self.claim(&code), &proof).then_some(code)
    }

    /// Waits until nobody else makes this entry, in this process or in another one with the same folder. The
    /// caller then looks again whether the entry is there. Returns none where it cannot wait, or waited too
    /// long: then the entry may be made twice, which does no harm.
    pub fn alone(&self) -> Option<EntryLock> {
        if handed::is_elsewhere() {
            return None;
        }
        let file = File::options()
            .create(true)
            .truncate(false)
            .write(true)
            .mode(0o600)
            .open(self.file(LOCK))
            .ok()?;
        let begun = Instant::now();
        loop {
            match flock(&file, FlockOperation::NonBlockingLockExclusive) {
                Ok(()) => return Some(EntryLock(file)),
                Err(Errno::WOULDBLOCK | Errno::INTR) if begun.elapsed() < PATIENCE => {
                    std::thread::sleep(Duration::from_millis(5));
                }
                Err(_) => return None,
            }
        }
    }

    /// Notes that the entry was used. Ignores failures, which do no harm.
    pub fn touch(&self) {
        // The handed entry needs the parts of its key, which the description has.
        if handed::is_elsewhere() {
            let Description { stencil, parts } = self.description();
            handed::tell(self, None, &stencil, &parts);
            return;
        }
        let proof = File::options().append(true).open(self.file(PROOF));
        let _ = proof.and_then(|it| it.set_modified(SystemTime::now()));
    }

    /// Puts the entry into the cache. Each file appears whole or not at all, since others may read the entry
    /// at this moment. Returns whether the entry is there now; `false` where this process only hands it over.
    pub fn keep(&self, code: &[u8], stencil: &str, parts: &KeyParts) -> std::io::Result<bool> {
        if handed::tell(self, Some(code), stencil, parts) {
            return Ok(false);
        }
        let description = Description { stencil: stencil.to_owned(), parts: parts.clone() };
        let description = serde_json::to_vec(&description)?;
        let Some(proof) = keys::prove(self.root(), &self.claim(code)) else {
            return Err(std::io::Error::other("it has no key, and takes none"));
        };
        let place = || {
            let before = self.library().metadata().map_or(0, |it| it.len());
            put(&self.folder, &self.library(), code)?;
            put(&self.folder, &self.file(PROOF), proof.as_bytes())?;
            put(&self.folder, &self.file(DESCRIPTION), &description)?;
            Ok(SizeChange { before, now: code.len() as u64 })
        };
        size::grows(self.root(), MOST_BYTES, place)?;
        Ok(true)
    }

    /// The folder of the cache.
    fn root(&self) -> &Path {
        self.folder.parent().unwrap_or(&self.folder)
    }

    /// The text that the proof signs: this code under this key.
    fn claim(&self, code: &[u8]) -> String {
        hash(&[self.kind.folder().as_bytes(), self.key.as_bytes(), code])
    }

    fn description(&self) -> Description {
        // An entry of an earlier version has no description, or another one.
        let text = fs::read(self.file(DESCRIPTION)).unwrap_or_default();
        serde_json::from_slice(&text).unwrap_or_default()
    }
}

/// Writes a file that is whole or not there.
pub fn put(folder: &Path, path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    let mut file = tempfile::NamedTempFile::new_in(folder)?;
    file.write_all(bytes)?;
    file.persist(path).map(drop).map_err(|it| it.error)
}

/// The entries of a cache, the most recently used one first.
pub fn list(root: &Path) -> Vec<CacheEntry> {
    let mut found: Vec<(SystemTime, CacheEntry)> = Vec::new();
    for entry in entries(root) {
        let Ok(file) = entry.library().metadata() else { continue };
        let used = entry.file(PROOF).metadata().and_then(|it| it.modified());
        let described = CacheEntry {
            kind: entry.kind,
            stencil: entry.description().stencil,
            bytes: file.len(),
            is_whole: entry.is_whole(),
            unused: used.as_ref().map_or(Duration::ZERO, |it| it.elapsed().unwrap_or_default()),
            key: entry.key,
        };
        found.push((used.unwrap_or(SystemTime::UNIX_EPOCH), described));
    }
    found.sort_by(|one, other| other.0.cmp(&one.0).then_with(|| one.1.key.cmp(&other.1.key)));
    found.into_iter().map(|it| it.1).collect()
}

fn entries(root: &Path) -> Vec<CodeEntry> {
    CodeKind::ALL.into_iter().flat_map(|kind| entries_of(root, kind)).collect()
}

fn entries_of(root: &Path, kind: CodeKind) -> Vec<CodeEntry> {
    let folder = root.join(kind.folder());
    let Ok(files) = fs::read_dir(&folder) else { return Vec::new() };
    let key = |it: fs::DirEntry| {
        let name = it.file_name().into_string().ok()?;
        let key = name.strip_suffix(&format!(".{}", kind.suffix()))?;
        key.bytes().all(|it| it.is_ascii_hexdigit()).then(|| key.to_owned())
    };
    let mut keys: Vec<String> = files.flatten().filter_map(key).collect();
    keys.sort();
    keys.into_iter().map(|key| CodeEntry::of(kind, folder.clone(), key)).collect()
}

/// Removes all entries, the measurements of the machine, and the schedules that are kept. Returns the number
/// of entries and schedules that there were.
pub fn clear(root: &Path) -> std::io::Result<usize> {
    let entries = entries(root);
    for entry in &entries {
        for kind in [PROOF, DESCRIPTION, LOCK, entry.kind.suffix()] {
            absent(fs::remove_file(entry.file(kind)))?;
        }
    }
    // Also removes the locks of entries that could not be written.
    for kind in CodeKind::ALL {
        let files = fs::read_dir(root.join(kind.folder())).into_iter().flatten().flatten();
        for file in files.map(|it| it.path()).filter(|it| it.extension().is_some_and(|it| it == LOCK)) {
            absent(fs::remove_file(file))?;
        }
    }
    size::forget(root)?;
    absent(fs::remove_dir_all(root.join(OF_MACHINE)))?;
    let n_tuned = fs::read_dir(root.join(OF_TUNED)).map_or(0, Iterator::count);
    absent(fs::remove_dir_all(root.join(OF_TUNED)))?;
    Ok(entries.len() + n_tuned)
}

/// Treats a file that is gone already as removed.
pub fn absent(removed: std::io::Result<()>) -> std::io::Result<()> {
    match removed {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(()),
        other => other,
    }
}

/// Whether the code of these parts is there; if not, the parts in which the most similar entry differs.
pub fn explain(root: &Path, kind: CodeKind, stencil: &str, parts: &KeyParts) -> Explanation {
    let key = parts.key();
    let wanted = CodeEntry::of(kind, root.join(kind.folder()), key.clone());
    if wanted.is_whole() {
        return Explanation { key, is_hit: true, ..Explanation::default() };
    }
    let others =
        entries_of(root, kind).into_iter().filter(|it| it.key != key).map(|it| (it.description(), it.key));
    let others = others.map(|(it, key)| (it.stencil != stencil, it.parts.differing(parts), key));
    // An entry of the same stencil with another text is nearer than an entry of another stencil.
    match others.min_by_key(|(is_other, differs, key)| (*is_other, differs.len(), key.clone())) {
        Some((_, differs, nearest)) => Explanation { key, is_hit: false, nearest: Some(nearest), differs },
        None => Explanation { key, ..Explanation::default() },
    }
}

/// The hash of the parts and of their lengths.
pub fn hash(parts: &[&[u8]]) -> String {
    let mut hasher = Sha256::new();
    for part in parts {
        hasher.update((part.len() as u64).to_le_bytes());
        hasher.update(part);
    }
    hasher.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use isobar_testing::Shard;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn a_cache_that_others_can_write_to_is_not_used() {
        let home = tempfile::tempdir().expect("a folder");
        let (root, folder) = (home.path().join("isobar"), home.path().join("isobar/c"));
        assert_eq!(private(&root, CodeKind::C.folder()), Ok(folder.clone()));
        assert_eq!(folder.metadata().expect("it was made").mode() & 0o777, 0o700);
        for open in [&root, &folder] {
            fs::set_permissions(open, fs::Permissions::from_mode(0o777)).expect("it is ours");
            assert!(private(&root, CodeKind::C.folder()).is_err_and(|it| it.contains("others can write")));
            fs::set_permissions(open, fs::Permissions::from_mode(0o700)).expect("it is ours");
        }
        fs::rename(&folder, home.path().join("elsewhere")).expect("it is ours");
        std::os::unix::fs::symlink(home.path().join("elsewhere"), &folder).expect("a link");
        assert!(private(&root, CodeKind::C.folder()).is_err());
    }

    /// A cache with one entry, and the parts of that.
    fn cache() -> (tempfile::TempDir, CodeEntry, KeyParts) {
        let root = tempfile::tempdir().expect("a folder");
        let folder = private(root.path(), CodeKind::C.folder()).expect("it is ours");
        let parts = KeyParts::of("int x;", "-O3".to_owned(), "cc".to_owned());
        let entry = CodeEntry::of(CodeKind::C, folder, parts.key());
        entry.keep(b"code", "copy", &parts).expect("it is ours");
        (root, entry, parts)
    }

    #[test]
    fn an_entry_is_whole_or_not_there() {
        let (root, entry, parts) = cache();
        assert!(entry.is_whole());
        assert!(explain(root.path(), CodeKind::C, "copy", &parts).is_hit);
        fs::write(entry.library(), b"other code").expect("it is ours");
        assert!(!entry.is_whole());
        assert!(!explain(root.path(), CodeKind::C, "copy", &parts).is_hit);
        assert!(!list(root.path())[0].is_whole);
    }

    #[test]
    fn what_somebody_else_put_there_is_no_entry() {
        let (root, entry, parts) = cache();
        // The files are whole, with the proof of another owner.
        let (elsewhere, other, _) = cache();
        other.keep(b"planted", "copy", &parts).expect("it is ours");
        for kind in [CodeKind::C.suffix(), PROOF] {
            fs::copy(other.file(kind), entry.file(kind)).expect("they are ours");
        }
        assert!(other.is_whole() && !entry.is_whole());
        // With the proof of another entry.
        let next = KeyParts::of("long x;", "-O3".to_owned(), "cc".to_owned());
        let next = CodeEntry::of(CodeKind::C, entry.folder.clone(), next.key());
        entry.keep(b"code", "copy", &parts).expect("it is ours");
        for kind in [CodeKind::C.suffix(), PROOF] {
            fs::copy(entry.file(kind), next.file(kind)).expect("they are ours");
        }
        assert!(entry.is_whole() && !next.is_whole());
        // A process that may only read checks with the public half of the key. Without it no entry is whole.
        let key = root.path().join("key");
        assert_eq!(key.metadata().expect("it was made").mode() & 0o777, 0o600);
        fs::remove_file(&key).expect("it is ours");
        assert!(entry.is_whole());
        fs::remove_file(root.path().join(PUBLIC)).expect("it is ours");
        assert!(!entry.is_whole());
        drop(elsewhere);
    }

    #[test]
    fn what_is_handed_over_is_put_in_and_a_key_that_others_read_is_none() {
        let root = tempfile::tempdir().expect("a folder");
        assert_eq!(prepare(root.path()).map(|it| it.len()), Ok(7));
        let parts = KeyParts::of("int y;", "-O3".to_owned(), "cc".to_owned());
        let handed = HandedEntry { kind: CodeKind::C, stencil: "copy".to_owned(), parts: parts.clone() };
        assert_eq!(take(root.path(), &handed, Some(b"code")), Ok(()));
        let entry = CodeEntry::of(CodeKind::C, root.path().join("c"), parts.key());
        assert_eq!(entry.whole().as_deref(), Some(&b"code"[..]));
        fs::set_permissions(root.path().join("key"), fs::Permissions::from_mode(0o644)).expect("it is ours");
        assert!(
            take(root.path(), &HandedEntry { parts: KeyParts::default(), ..handed }, Some(b"code")).is_err()
        );
    }

    #[test]
    fn one_makes_an_entry_and_all_others_find_it() {
        let (root, entry, _) = cache();
        let parts = KeyParts::of("another", "-O3".to_owned(), "cc".to_owned());
        let made = std::sync::atomic::AtomicUsize::new(0);
        let key = parts.key();
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    for _ in 0..125 {
                        let entry = CodeEntry::of(CodeKind::C, entry.folder.clone(), key.clone());
                        if entry.is_whole() {
                            continue;
                        }
                        let _alone = entry.alone().expect("nobody takes long");
                        if !entry.is_whole() {
                            made.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
                            entry.keep(b"other code", "copy", &parts).expect("it is ours");
                        }
                    }
                });
            }
        });
        assert_eq!(made.into_inner(), 1);
        assert_eq!(list(root.path()).len(), 2);
        // A lock without an entry: a process took it, and could not write the code.
        drop(CodeEntry::of(CodeKind::C, entry.folder.clone(), hash(&[b"nothing"])).alone());
        clear(root.path()).expect("it is ours");
        assert_eq!(fs::read_dir(&entry.folder).expect("it is there").count(), 0);
    }

    /// Names the folder into which a process puts entries until it is killed.
    const PUBLISHING: &str = "ISOBAR_TEST_PUBLISHING";

    /// The entries that are put there, each with its code.
    fn published(folder: &Path) -> impl Iterator<Item = (CodeEntry, KeyParts, Vec<u8>)> {
        ["one", "two", "three"].into_iter().map(|text| {
            let parts = KeyParts::of(text, "-O3".to_owned(), "cc".to_owned());
            (
                CodeEntry::of(CodeKind::C, folder.to_owned(), parts.key()),
                parts,
                text.repeat(50_000).into_bytes(),
            )
        })
    }

    isobar_testing::shards! {
        whoever_is_killed_while_it_puts_an_entry_leaves_no_wrong_one: 8 shards of killed;
    }

    fn killed(shard: Shard) {
        if let Some(folder) = std::env::var_os(PUBLISHING) {
            // The process that is started below: it goes on until it is killed.
            loop {
                for (entry, parts, code) in published(Path::new(&folder)) {
                    let _alone = entry.alone();
                    entry.keep(&code, "copy", &parts).expect("it is ours");
                }
            }
        }
        let root = tempfile::tempdir().expect("a folder");
        let folder = private(root.path(), CodeKind::C.folder()).expect("it is ours");
        let (mut n_hits, mut n_misses) = (0, 0);
        for turn in shard.of(0_u64..1000) {
            let own = std::env::current_exe().expect("this program");
            let name = "cache::tests::whoever_is_killed_while_it_puts_an_entry_leaves_no_wrong_one";
            let name = format!("{name}::shard_{}", shard.number + 1);
            let mut publishing = std::process::Command::new(own)
                .args([name.as_str(), "--exact", "--nocapture", "--quiet"])
                .env(PUBLISHING, &folder)
                .stdout(std::process::Stdio::null())
                .spawn()
                .expect("it is this program");
            std::thread::sleep(Duration::from_micros(2000 + turn * 7919 % 6000));
            publishing.kill().expect("it goes on until then");
            publishing.wait().expect("it was killed");
            for (entry, _, code) in published(&folder) {
                match entry.whole() {
                    Some(found) => {
                        assert!(found == code, "turn {turn}");
                        n_hits += 1;
                    }
                    None => n_misses += 1,
                }
                // The process puts the same entries again. In some iterations their proofs are removed, so
                // that some entries are always incomplete.
                if turn / 8 % 3 == 0 {
                    let _ = fs::remove_file(entry.file(PROOF));
                }
            }
        }
        assert!(n_hits > 0 && n_misses > 0, "{n_hits} hits, {n_misses} misses");
        // The lock of a process is released when it ends.
        assert!(published(&folder).all(|it| it.0.alone().is_some()));
    }

    #[test]
    fn a_miss_is_explained_by_the_nearest_entry() {
        let (root, entry, parts) = cache();
        let other = KeyParts { flags: "-O2".to_owned(), text: "another".to_owned(), ..parts.clone() };
        let found = explain(root.path(), CodeKind::C, "copy", &other);
        assert_eq!(
            (found.is_hit, found.nearest, found.differs),
            (false, Some(entry.key), vec!["text", "flags"])
        );
        assert_eq!(clear(root.path()).expect("it is ours"), 1);
        assert_eq!(list(root.path()), []);
        let nothing = explain(root.path(), CodeKind::C, "copy", &parts);
        assert_eq!((nothing.is_hit, nothing.nearest), (false, None));
    }

    #[test]
    fn every_part_decides_the_key_and_where_one_ends() {
        let parts = |text: &str, flags: &str| KeyParts::of(text, flags.to_owned(), "cc".to_owned());
        let keys =
            [parts("a", "b").key(), parts("b", "a").key(), parts("", "ab").key(), parts("ab", "").key()];
        for (at, key) in keys.iter().enumerate() {
            assert!(!keys[..at].contains(key));
        }
        // Code of another compiler, processor or version is not found.
        let here = parts("a", "b");
        let other = || "another".to_owned();
        for elsewhere in [
            KeyParts { compiler: other(), ..here.clone() },
            KeyParts { processor: other(), ..here.clone() },
            KeyParts { version: other(), ..here.clone() },
        ] {
            assert_ne!(elsewhere.key(), here.key(), "{elsewhere:?}");
        }
        assert_ne!(hash(&[b"a", b"b"]), hash(&[b"ab", b""]));
    }
}
