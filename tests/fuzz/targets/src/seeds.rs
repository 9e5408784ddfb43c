//! Inputs to start from: our own texts, and those that broke a target once.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};

/// Inputs that broke a target once, in a folder for each target. The folder of a target that never broke is absent.
const KEPT: &str = "tests/fuzz/corpus";

/// A request with each kind of entry.
const REQUEST: &str = r#"{"files": {"main.py": "x = 1"}, "main": "main.py", "stencil": "s", "backend": "debug", "externals": {"a": 1.5}, "domain": [8, 8, 5], "origin": {"_all_": [3, 3, 0]}, "scalars": {"x": 0.1}}"#;

/// The inputs of a target, always in the same order.
///
/// # Errors
///
/// When a file cannot be read, and when there is no target of that name.
pub fn of_target(target: &str) -> Result<Vec<Vec<u8>>> {
    let mut found = Vec::new();
    match target {
        "stencil" | "editor" => {
            for from in ["static/gallery", "tests/golden/facts", "tests/agree/stencils"] {
                found.extend(files(&root().join(from), ".py")?);
            }
            for page in files(&root().join("tests/conformance"), ".md")? {
                found.extend(blocks(&String::from_utf8(page)?).into_iter().map(String::into_bytes));
            }
        }
        "notation" => {
            for ending in [".gtir.txt", ".oir.txt", ".schedule.txt"] {
                found.extend(files(&root().join("tests/snapshots"), ending)?);
            }
            found.push(b"sum(bell(low=0, high=1, at_i=0.4), random(low=0, high=1, seed=3))".to_vec());
        }
        "request" => found.push(REQUEST.into()),
        "link" => {
            for kept in files(&root().join("tests/links"), ".txt")? {
                let lines = kept.split(|&it| it == b'\n').filter(|it| !it.is_empty());
                found.extend(lines.map(<[u8]>::to_vec));
            }
        }
        other => anyhow::bail!("there is no target `{other}`"),
    }
    found.extend(files(&root().join(KEPT).join(target), "")?);
    ensure!(!found.is_empty(), "there are no inputs to start `{target}` from");
    Ok(found)
}

/// Writes the inputs of a target as files into a folder, which has nothing else in it afterwards.
///
/// # Errors
///
/// When the folder cannot be written, and as [`of_target`].
pub fn write(target: &str, folder: &Path) -> Result<()> {
    let inputs = of_target(target)?;
    if folder.exists() {
        fs::remove_dir_all(folder)?;
    }
    fs::create_dir_all(folder)?;
    for (number, input) in inputs.iter().enumerate() {
        fs::write(folder.join(format!("{number:04}")), input)?;
    }
    Ok(())
}

/// The root of the repository.
fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../..")
}

/// The files of a folder whose names end so; none where there is no such folder.
fn files(folder: &Path, ending: &str) -> Result<Vec<Vec<u8>>> {
    let Ok(entries) = fs::read_dir(folder) else { return Ok(Vec::new()) };
    let mut paths: Vec<PathBuf> = entries.filter_map(|it| it.ok().map(|it| it.path())).collect();
    paths.retain(|it| it.to_string_lossy().ends_with(ending));
    paths.sort();
    paths.iter().map(|it| fs::read(it).with_context(|| it.display().to_string())).collect()
}

/// The code blocks of a page that hold stencils.
fn blocks(page: &str) -> Vec<String> {
    let of_part = |part: &str| {
        let code = part.split_once('\n').map_or("", |(_, it)| it);
        code.split("```").next().unwrap_or_default().to_owned()
    };
    page.split("```stencil").skip(1).map(of_part).collect()
}
