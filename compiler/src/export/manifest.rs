//! The list of what an export wrote, by which a later one knows its own files.

use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::{ABI, File, Project, Request};

/// The file that lists the others.
pub const MANIFEST: &str = "isobar-export.json";

/// A file that an export wrote, as its manifest tells.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ManifestEntry {
    pub path: String,
    pub sha256: String,
}

pub(super) fn text(project: &Project<'_>, request: &Request<'_>, files: &[File]) -> String {
    let mut hash = Sha256::new();
    for source in &request.stencils {
        for (_, text) in &source.sources {
            hash.update((text.len() as u64).to_le_bytes());
            hash.update(text);
        }
    }
    let files: Vec<Value> =
        files.iter().map(|it| json!({"path": it.path, "sha256": hash_of(&it.text)})).collect();
    let manifest = json!({
        "generator": request.generator,
        "abi": ABI,
        "name": project.name,
        "stencils": project.stencils.iter().map(|it| it.name.as_str()).collect::<Vec<_>>(),
        "bindings": project.bindings.iter().map(|it| it.name).collect::<Vec<_>>(),
        "mode": if project.is_fast { "fast" } else { "reproducible" },
        "sources_sha256": spelled(&hash.finalize()),
        "files": files,
    });
    format!("{manifest:#}\n")
}

/// The files that a manifest lists; none where it is none of ours. A path that leads out of the folder is not listed.
#[must_use]
pub fn owned(text: &str) -> Vec<ManifestEntry> {
    let Ok(manifest) = serde_json::from_str::<Value>(text) else { return Vec::new() };
    let files = manifest.get("files").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let read = |it: &Value| {
        let text = |key: &str| it.get(key).and_then(Value::as_str).map(str::to_owned);
        let path = text("path").filter(|it| it.split('/').all(is_name))?;
        Some(ManifestEntry { path, sha256: text("sha256")? })
    };
    files.iter().filter_map(read).collect()
}

/// Whether it is the name of a file or folder, and of none above.
fn is_name(part: &str) -> bool {
    let is_plain = |it: char| it.is_ascii_alphanumeric() || matches!(it, '.' | '_' | '-');
    !part.is_empty() && part.chars().all(is_plain) && !part.starts_with('.')
}

/// As a manifest has the hash of a file.
#[must_use]
pub fn hash_of(text: &str) -> String {
    spelled(&Sha256::digest(text))
}

fn spelled(bytes: &[u8]) -> String {
    bytes.iter().map(|it| format!("{it:02x}")).collect()
}
