//! Identifies this build by the hash of all sources that decide machine code.
//!
//! Code that one process made is kept for others, and found before anything is compiled. So its key has to
//! identify the compiler. The version does not suffice, since it stays the same for months of development.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

fn main() -> io::Result<()> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut files = vec![root.join("Cargo.lock")];
    for folder in ["compiler", "codegen/src", "runtime/src"] {
        println!("cargo::rerun-if-changed={}", root.join(folder).display());
        add(&root.join(folder), &mut files)?;
    }
    println!("cargo::rerun-if-changed={}", files[0].display());
    let mut hasher = Sha256::new();
    for file in files {
        // A file may be missing, as in a package without the other crates; then the version identifies the
        // build.
        let text = fs::read(&file).unwrap_or_default();
        hasher.update((text.len() as u64).to_le_bytes());
        hasher.update(text);
    }
    let hash: String = hasher.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
    println!("cargo::rustc-env=ISOBAR_SOURCES={hash}");
    Ok(())
}

/// Adds the files below a folder, in the order of their names.
fn add(folder: &Path, files: &mut Vec<PathBuf>) -> io::Result<()> {
    let Ok(entries) = fs::read_dir(folder) else { return Ok(()) };
    let mut paths = entries.map(|it| it.map(|it| it.path())).collect::<io::Result<Vec<_>>>()?;
    paths.sort();
    for path in paths {
        if path.is_dir() {
            add(&path, files)?;
        } else {
            files.push(path);
        }
    }
    Ok(())
}
