//! A stencil as it is handed to gt4py: its files, and its externals.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use isobar_compiler::config::{Config, External};
use isobar_compiler::frontend::externals::ExternalUse;
use isobar_compiler::project::Project;
use serde_json::{Map, Value as Json, json};

/// Writes all files of a project below `folder`.
///
/// # Errors
///
/// When one cannot be written.
pub fn write_files(project: &Project, folder: &Path) -> Result<()> {
    for (name, text) in &project.files {
        let path = folder.join(name);
        fs::create_dir_all(path.parent().unwrap_or(folder))?;
        fs::write(&path, text.as_bytes()).with_context(|| path.display().to_string())?;
    }
    Ok(())
}

/// The externals that are given, and those that are known here without being told.
#[must_use]
pub fn externals(config: &Config, used: &[ExternalUse]) -> Map<String, Json> {
    let known = used.iter().filter_map(|it| Some((it.name.clone(), config.external_of_ndsl(&it.name)?)));
    let given = config.externals.iter().map(|(name, it)| (name.clone(), it.clone()));
    known.chain(given).map(|(name, it)| (name, wire(&it))).collect()
}

/// An external as `--externals` spells it.
fn wire(external: &External) -> Json {
    match external {
        External::Bool(it) => json!(it),
        External::Int(it) => json!(it),
        External::Float(it) if it.is_finite() => json!(it),
        External::Float(it) => json!(it.to_string()),
        External::Typed(it) if it.dtype().is_int() => {
            json!({"dtype": it.dtype().name(), "value": it.as_i64()})
        }
        External::Typed(it) => json!({"dtype": it.dtype().name(), "value": it.as_f64()}),
        External::None | External::Unsupported(_) => Json::Null,
        External::Function(name) => json!({"function": name}),
        External::Member { enumeration, member } => json!({"enum": enumeration, "member": member}),
        External::Namespace(members) => {
            let members: Map<_, _> = members.iter().map(|(name, it)| (name.clone(), wire(it))).collect();
            json!({"namespace": members})
        }
        External::Axis { axis, index, offset } => {
            json!({"axis": axis.name(), "index": index, "offset": offset})
        }
    }
}
