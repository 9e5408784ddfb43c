//! The texts that an editor has open, and the modules that lie around them.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::str::FromStr;

use isobar_compiler::project::Project;
use lsp_types::Uri;

/// No more files belong to one project.
const MOST_FILES: usize = 1024;
/// No more files are looked through for modules.
const MOST_PATHS: usize = 20_000;
/// A longer file is no stencil.
const MOST_BYTES: u64 = 1024 * 1024;

/// The open files, and files of the disk as far as known.
#[derive(Debug, Default)]
pub struct Files {
    roots: Vec<PathBuf>,
    /// Texts by path, as the editor has them.
    open: BTreeMap<PathBuf, String>,
    /// Every Python file below the roots, once somebody asked.
    paths: Option<Vec<PathBuf>>,
    /// Texts of the disk that were read.
    read: BTreeMap<PathBuf, Option<String>>,
}

impl Files {
    #[must_use]
    pub fn new(roots: Vec<PathBuf>) -> Self {
        Self { roots, ..Self::default() }
    }

    /// Takes a text of the editor in place of the one before.
    pub fn open(&mut self, uri: &Uri, text: String) {
        if let Some(path) = path_of(uri) {
            self.open.insert(path, text);
        }
    }

    pub fn close(&mut self, uri: &Uri) {
        if let Some(path) = path_of(uri) {
            self.open.remove(&path);
        }
    }

    /// The open files.
    #[must_use]
    pub fn opened(&self) -> Vec<Uri> {
        self.open.keys().filter_map(|it| uri_of(it)).collect()
    }

    /// Forgets the files of the disk, so that they are read again.
    pub fn forget_the_disk(&mut self) {
        self.paths = None;
        self.read.clear();
    }

    /// A file with the modules that it imports, and those that these import; none where the file is not open.
    pub fn project(&mut self, uri: &Uri) -> Option<Project> {
        let main = path_of(uri)?;
        let text = self.open.get(&main)?.clone();
        let mut wanted = imported(&text);
        let mut asked = BTreeSet::new();
        let mut files = BTreeMap::from([(name_of(&main), text.into())]);
        while let Some(module) = wanted.pop_first() {
            if !asked.insert(module.clone()) {
                continue;
            }
            for path in self.named(&module, &main) {
                let name = name_of(&path);
                if files.len() >= MOST_FILES || files.contains_key(&name) {
                    continue;
                }
                if let Some(text) = self.text(&path) {
                    wanted.extend(imported(&text));
                    files.insert(name, text.into());
                }
            }
        }
        Some(Project { files, main: name_of(&main), stencil: None })
    }

    fn text(&mut self, path: &Path) -> Option<String> {
        if let Some(text) = self.open.get(path) {
            return Some(text.clone());
        }
        let read = || {
            let is_small = std::fs::metadata(path).is_ok_and(|it| it.is_file() && it.len() <= MOST_BYTES);
            is_small.then(|| std::fs::read(path).ok()).flatten().map(Project::text_of)
        };
        self.read.entry(path.to_owned()).or_insert_with(read).clone()
    }

    /// The files of that module's last name, below the roots and beside the main file.
    fn named(&mut self, module: &str, main: &Path) -> Vec<PathBuf> {
        let roots = &self.roots;
        let paths = self.paths.get_or_insert_with(|| {
            let mut found = Vec::new();
            roots.iter().for_each(|it| walk(it, &mut found));
            found
        });
        let beside =
            main.parent().map(|it| [it.join(format!("{module}.py")), it.join(module).join("__init__.py")]);
        let is_it = |path: &&PathBuf| {
            let stem = path.file_stem().and_then(|it| it.to_str());
            let folder = path.parent().and_then(|it| it.file_name()).and_then(|it| it.to_str());
            stem == Some(module) || stem == Some("__init__") && folder == Some(module)
        };
        let mut found: Vec<PathBuf> = paths.iter().filter(is_it).cloned().collect();
        found.extend(beside.into_iter().flatten().filter(|it| it.is_file()));
        found
    }
}

/// Every name that the imports of a text may mean a module by.
fn imported(text: &str) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    let mut is_open = false;
    for line in text.lines() {
        let line = line.trim_start();
        let starts = line.starts_with("from ") || line.starts_with("import ");
        if starts || is_open {
            let words = line.split(|it: char| !it.is_alphanumeric() && it != '_');
            names.extend(words.filter(|it| !it.is_empty()).map(str::to_owned));
            let opens = line.contains('(') || line.trim_end().ends_with('\\');
            is_open = (starts && opens || is_open) && !line.contains(')');
        }
    }
    names
}

/// The Python files below a folder, but for those that no project is made of.
fn walk(folder: &Path, found: &mut Vec<PathBuf>) {
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    let mut entries: Vec<_> = entries.flatten().map(|it| it.path()).collect();
    entries.sort();
    for path in entries {
        if found.len() >= MOST_PATHS {
            return;
        }
        let name = path.file_name().and_then(|it| it.to_str()).unwrap_or("");
        if path.is_dir() {
            let is_left_out =
                name.starts_with('.') || matches!(name, "node_modules" | "__pycache__" | "target");
            if !is_left_out && !path.is_symlink() && !path.join("pyvenv.cfg").is_file() {
                walk(&path, found);
            }
        } else if name.ends_with(".py") {
            found.push(path);
        }
    }
}

/// How a project names a file.
#[must_use]
pub fn name_of(path: &Path) -> String {
    path.to_string_lossy().replace('\\', "/")
}

/// The file of a `file:` address.
#[must_use]
pub fn path_of(uri: &Uri) -> Option<PathBuf> {
    let rest = uri.as_str().strip_prefix("file://")?;
    let path = &rest[rest.find('/')?..];
    let mut bytes = Vec::new();
    let mut left = path.bytes();
    while let Some(byte) = left.next() {
        if byte != b'%' {
            bytes.push(byte);
            continue;
        }
        let digits = [left.next()?, left.next()?];
        bytes.push(u8::from_str_radix(std::str::from_utf8(&digits).ok()?, 16).ok()?);
    }
    let path = String::from_utf8(bytes).ok()?;
    // `/C:/folder` on Windows.
    let drive = path.strip_prefix('/').filter(|it| it.as_bytes().get(1) == Some(&b':'));
    Some(PathBuf::from(drive.unwrap_or(&path)))
}

/// The address of a file.
#[must_use]
pub fn uri_of(path: &Path) -> Option<Uri> {
    let name = name_of(path);
    let mut out = String::from(if name.starts_with('/') { "file://" } else { "file:///" });
    for byte in name.bytes() {
        if byte.is_ascii_alphanumeric() || matches!(byte, b'/' | b'-' | b'_' | b'.' | b'~') {
            out.push(char::from(byte));
        } else {
            out.push_str(&format!("%{byte:02X}"));
        }
    }
    Uri::from_str(&out).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_names_its_file_and_back() {
        let path = Path::new("/ü/a b%/c.py");
        let uri = uri_of(path).expect("an address");
        assert_eq!(uri.as_str(), "file:///%C3%BC/a%20b%25/c.py");
        assert_eq!(path_of(&uri).expect("a file"), path);
    }

    #[test]
    fn imports_over_several_lines_are_read_to_their_end() {
        let text = "from a.b import (\n    c,\n    d,\n)\nx = e\nimport f as g\n";
        let found = imported(text);
        for name in ["a", "b", "c", "d", "f"] {
            assert!(found.contains(name), "{name}");
        }
        assert!(!found.contains("e") && !found.contains("x"));
    }
}
