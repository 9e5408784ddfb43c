//! The request document as the command line makes it: options and files in, texts out.

pub mod json;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use isobar_compiler::diag::cells;
use isobar_compiler::pipeline::route;
use isobar_compiler::project::Project;
use isobar_protocol::request::{FieldsInput, Request};
use isobar_protocol::{names, notebook};
use isobar_runtime::machine::DetectedMachine;
use serde::de::DeserializeOwned;

use crate::cli::Shared;

/// The command line cannot be followed. Exit code 2.
#[derive(Debug, thiserror::Error)]
pub enum Usage {
    #[error("cannot read {path}: {error}")]
    Unreadable { path: String, error: std::io::Error },
    #[error("{path} is not UTF-8")]
    NotUtf8 { path: String },
    #[error("cannot write {path}: {error}")]
    Unwritable { path: String, error: std::io::Error },
    #[error("{path}:{}:{}: {}", fault.line, fault.column, fault.message)]
    BadJson { path: String, fault: json::Fault },
    #[error("{0}")]
    Wrong(String),
}

/// A request whose files are read.
#[derive(Clone, Debug, Default)]
pub struct Document {
    /// Without `path`, `modules`, `out`, and a name in `fields`.
    pub request: Request,
    pub fields: Option<PathBuf>,
    pub out: Option<PathBuf>,
}

/// The full name of a pass, which may be given without its level where that leaves no doubt.
///
/// # Errors
///
/// When there is no such pass, or there are several.
pub fn known_pass(name: &str) -> Result<String, Usage> {
    let all: Vec<&str> = route::passes().map(|it| it.1).collect();
    let of_any_level = |it: &&str| it.split_once('/').is_some_and(|(_, own)| own == name);
    let found: Vec<&str> = match all.iter().find(|&&it| it == name) {
        Some(it) => vec![it],
        None => all.iter().copied().filter(of_any_level).collect(),
    };
    match found.as_slice() {
        [it] => Ok((*it).to_owned()),
        [] => Err(Usage::Wrong(format!("no pass `{name}`: there are {}", all.join(", ")))),
        several => Err(Usage::Wrong(format!("which `{name}`: {}?", several.join(" or ")))),
    }
}

/// No file of a project is larger; a larger one is read no further.
const MOST_BYTES: u64 = 64 * 1024 * 1024;

impl Document {
    /// Reads what `shared` and `file` name; options go before the entries of `--request`.
    ///
    /// # Errors
    ///
    /// When a file cannot be read or a document is malformed.
    pub fn read(file: Option<&Path>, shared: &Shared) -> Result<Self, Usage> {
        let mut document = match &shared.request {
            Some(path) => Self::from_file(path, shared)?,
            None => Self::default(),
        };
        let request = &mut document.request;
        if let Some(file) = file {
            request.files.clear();
            let name = name_of(file, shared)?;
            request.files.insert(name.clone(), source(file)?);
            request.main = Some(name);
        }
        for module in &shared.modules {
            add_module(&mut request.files, module)?;
        }
        if request.main_file().is_none() {
            return Err(Usage::Wrong(match &request.main {
                Some(main) => format!("the document has no file `{main}`, which it names as `main`"),
                None => "name a file, or give `main` in the document".to_owned(),
            }));
        }
        if shared.stencil.is_some() {
            request.stencil.clone_from(&shared.stencil);
        }
        if let Some(path) = &shared.externals {
            request.externals = json(path)?;
        }
        if let Some(path) = &shared.dtypes {
            request.dtypes = json(path)?;
        }
        if let Some(precision) = &shared.precision {
            request.precision = precision.parse().ok();
        }
        if let Some(constants) = &shared.constants {
            request.constants = serde_json::from_value(constants.as_str().into()).ok();
        }
        if let Some(tile) = &shared.tile {
            request.tile = serde_json::from_value(tile.as_str().into()).ok();
        }
        if let Some(minmax) = &shared.minmax {
            request.minmax = serde_json::from_value(minmax.as_str().into()).ok();
        }
        if let Some(modulo) = &shared.modulo {
            request.modulo = serde_json::from_value(modulo.as_str().into()).ok();
        }
        if let Some(path) = &shared.schedule {
            let name = name_of(path, shared)?;
            request.files.insert(name.clone(), plain(path)?);
            request.passes.schedule = Some(name);
        }
        if let Some(path) = &shared.machine {
            request.passes.machine = Some(match path.to_str() {
                Some("here") => (&DetectedMachine::here().machine).into(),
                _ => json(path)?,
            });
        }
        if let Some(mode) = &shared.mode {
            request.options.mode = serde_json::from_value(mode.as_str().into()).unwrap_or_default();
        }
        if shared.no_tuned {
            request.options.tuned = Some(false);
        }
        for pass in &shared.skip {
            let pass = known_pass(pass)?;
            if route::is_needed(&pass) {
                let message = format!("`{pass}` cannot be skipped: code is made of what it makes");
                return Err(Usage::Wrong(message));
            }
            request.passes.skip.push(pass);
        }
        if !shared.domain.is_empty() {
            let domain = <[i64; 3]>::try_from(shared.domain.as_slice())
                .map_err(|_| Usage::Wrong("--domain takes three numbers: I,J,K".to_owned()))?;
            request.domain = Some(domain);
        }
        if let Some(path) = &shared.origin {
            request.origin = json(path)?;
        }
        if let Some(path) = &shared.scalars {
            request.scalars = json(path)?;
        }
        if shared.fields.is_some() {
            request.fields = None;
            document.fields.clone_from(&shared.fields);
        }
        if shared.out.is_some() {
            document.out.clone_from(&shared.out);
        }
        if !matches!(request.precision, None | Some(32 | 64)) {
            return Err(Usage::Wrong("`precision` is 32 or 64".to_owned()));
        }
        names::check_others(request).map_err(|it| Usage::Wrong(it.to_string()))?;
        Ok(document)
    }

    /// Paths in a document are relative to it.
    fn from_file(path: &Path, shared: &Shared) -> Result<Self, Usage> {
        let mut request: Request = json(path)?;
        names::check(&request).map_err(|it| Usage::Wrong(format!("{}: {it}", shown(path))))?;
        let home = path.parent().unwrap_or(Path::new(""));
        if let Some(main) = request.path.take() {
            let main = home.join(main);
            let name = name_of(&main, shared)?;
            request.files.insert(name.clone(), source(&main)?);
            request.main = Some(name);
        }
        for module in std::mem::take(&mut request.modules) {
            add_module(&mut request.files, &home.join(module))?;
        }
        let fields = match request.fields.take() {
            Some(FieldsInput::Name(name)) => Some(home.join(name)),
            inline => {
                request.fields = inline;
                None
            }
        };
        let out = request.out.take().map(|out| home.join(out));
        Ok(Self { request, fields, out })
    }
}

/// The Python files below a folder, by the names that they have as modules.
pub(crate) fn modules(folder: &Path) -> Result<BTreeMap<String, String>, Usage> {
    let mut files = BTreeMap::new();
    add_module(&mut files, folder)?;
    Ok(files)
}

/// Adds the modules of a path. A file is a module of its own name. Files below a folder are named relative to
/// the folder. Where the folder is a package, its name comes first.
fn add_module(files: &mut BTreeMap<String, String>, path: &Path) -> Result<(), Usage> {
    let unreadable = |error| Usage::Unreadable { path: shown(path), error };
    if !path.metadata().map_err(unreadable)?.is_dir() {
        return insert(files, last(path), path);
    }
    let root = if path.join("__init__.py").is_file() { path.parent().unwrap_or(path) } else { path };
    let mut folders = vec![path.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).map_err(unreadable)? {
            let entry = entry.map_err(unreadable)?;
            let kind = entry.file_type().map_err(unreadable)?;
            if kind.is_dir() {
                // Editors keep old notebooks there.
                if entry.file_name() != ".ipynb_checkpoints" {
                    folders.push(entry.path());
                }
            } else if entry.path().extension().is_some_and(|it| it == "py" || it == "ipynb") {
                let below = entry.path();
                let below = below.strip_prefix(root).unwrap_or(&below);
                let parts: Vec<_> = below.components().map(|it| it.as_os_str().to_string_lossy()).collect();
                insert(files, parts.join("/"), &entry.path())?;
            }
        }
    }
    Ok(())
}

fn insert(files: &mut BTreeMap<String, String>, name: String, path: &Path) -> Result<(), Usage> {
    let name = readable(name)?;
    // The main file may lie in the folder of its modules.
    if files.keys().any(|it| *it == name) {
        return Ok(());
    }
    files.insert(name, source(path)?);
    Ok(())
}

/// The Python of a file: of a notebook that of its code cells.
fn source(path: &Path) -> Result<String, Usage> {
    let text = text(path)?;
    if !cells::is_notebook(&shown(path)) {
        return Ok(text);
    }
    notebook::script(&text)
        .ok_or_else(|| Usage::Wrong(format!("{} is no notebook: it has no cells", shown(path))))
}

fn text(path: &Path) -> Result<String, Usage> {
    use std::io::Read;
    let unreadable = |error| Usage::Unreadable { path: shown(path), error };
    let file = std::fs::File::open(path).map_err(unreadable)?;
    let mut bytes = Vec::new();
    file.take(MOST_BYTES).read_to_end(&mut bytes).map_err(unreadable)?;
    Ok(Project::text_of(bytes))
}

/// The text of a document; only of a program its place is told by the compiler.
fn plain(path: &Path) -> Result<String, Usage> {
    let text = text(path)?;
    match text.contains('\0') {
        true => Err(Usage::NotUtf8 { path: shown(path) }),
        false => Ok(text),
    }
}

fn json<T: DeserializeOwned>(path: &Path) -> Result<T, Usage> {
    json::read(plain(path)?.as_bytes()).map_err(|fault| Usage::BadJson { path: shown(path), fault })
}

/// The name of a file in a request: its path, or for a runner elsewhere only the last part of the path.
fn name_of(path: &Path, shared: &Shared) -> Result<String, Usage> {
    readable(if shared.runner.is_some() { last(path) } else { shown(path) })
}

/// The name of a file without its folder.
fn last(path: &Path) -> String {
    path.file_name().map(|it| it.to_string_lossy().into_owned()).unwrap_or_default()
}

/// Paths of this machine may be long, and lead anywhere; what they are made of is checked.
fn readable(name: String) -> Result<String, Usage> {
    match names::readable(&name) {
        Ok(()) => Ok(name),
        Err(why) => Err(Usage::Wrong(names::BadName { of: "a file", name, why }.to_string())),
    }
}

/// A path as it is named in messages.
pub(crate) fn shown(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}
