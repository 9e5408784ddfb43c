//! `isobar export` — a project that other languages call a stencil from.

use std::collections::BTreeSet;
use std::fs::{self, OpenOptions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use isobar_compiler::export::{
    self, BINDINGS, Binding, ExportedCode, File, MANIFEST, ManifestEntry, StencilCode,
};
use isobar_compiler::pipeline::{Compilation, NoHook};
use isobar_protocol::compile::Compiled;
use isobar_protocol::diagnostic::Diagnostic;
use isobar_protocol::report::ExportReport;
use isobar_protocol::request::{Mode, Request};

use super::program::{self, ProgramSource};
use super::{Outcome, Usage, human, print, print_json, say};
use crate::cli::{ExportArgs, Format};
use crate::compile::{self, ConfiguredProject};
use crate::document::{Document, shown};

pub(super) const GENERATOR: &str = concat!("isobar ", env!("CARGO_PKG_VERSION"));

pub(crate) fn export(args: &ExportArgs) -> Result<Outcome, Usage> {
    let bindings = bindings(&args.bindings)?;
    // Before anything is compiled: a folder in which something lies is somebody's.
    let place = ExportFolder::of(&args.output, args.force)?;
    let source = match &args.program {
        Some(path) => Some(ProgramSource::Document(path)),
        None => ProgramSource::class(args.file.as_deref(), &args.shared)?,
    };
    if source.is_none() && (args.halo.is_some() || args.halo_points.is_some() || !args.edges.is_empty()) {
        return Err(Usage::Wrong("--halo, --halo-points and --edges are for programs".to_owned()));
    }
    let (made, request) = match source {
        Some(source) => program::export(&source, args, bindings)?,
        None => of_stencils(args, bindings)?,
    };
    let mut report = ExportReport { output: shown(&args.output), ..ExportReport::default() };
    (report.stencils, report.diagnostics) = (made.stencils, made.diagnostics);
    if !made.files.is_empty() {
        place.write(&made.files)?;
        report.files = made.files.into_iter().map(|it| it.path).collect();
    }
    match args.shared.format {
        Format::Json => print_json(&report),
        Format::Human => {
            let found = human::diagnostics(&report.diagnostics, &request);
            if !found.is_empty() {
                say(found.trim_end());
            }
            for path in &report.files {
                print(&format!("{}\n", args.output.join(path).display()));
            }
        }
    }
    Ok(Outcome::of(&report.diagnostics))
}

/// The project of one stencil, or of all of a file.
fn of_stencils(
    args: &ExportArgs,
    bindings: Vec<&'static Binding>,
) -> Result<(ExportedProject, Request), Usage> {
    let mut request = Document::read(args.file.as_deref(), &args.shared)?.request;
    if let Some(axis) = &args.contiguous {
        request.passes.contiguous = serde_json::from_value(axis.as_str().into()).ok();
    }
    let made = compile::on_large_stack(|| project(&request, args.name.as_deref(), bindings));
    let made = made.map_err(|panic| vec![compile::crash(&panic)]).and_then(|it| it);
    let refused = |diagnostics| ExportedProject { diagnostics, ..ExportedProject::default() };
    Ok((made.unwrap_or_else(refused), request))
}

/// The rows of these names, each once, in the order of the table.
fn bindings(names: &[String]) -> Result<Vec<&'static Binding>, Usage> {
    let known = || BINDINGS.iter().map(|it| it.name).collect::<Vec<_>>().join(", ");
    if let Some(unknown) = names.iter().find(|it| Binding::named(it).is_none()) {
        return Err(Usage::Wrong(format!("no binding `{unknown}`: there are {}", known())));
    }
    Ok(BINDINGS.iter().filter(|it| names.iter().any(|name| name == it.name)).collect())
}

/// The files to write, with the diagnostics of their stencils; no files where there is an error.
#[derive(Debug, Default)]
pub(super) struct ExportedProject {
    pub(super) files: Vec<File>,
    pub(super) stencils: Vec<String>,
    pub(super) diagnostics: Vec<Diagnostic>,
}

/// The files of all stencils that are meant: the named one, or else all of the file.
fn project(
    request: &Request,
    name: Option<&str>,
    bindings: Vec<&'static Binding>,
) -> Result<ExportedProject, Vec<Diagnostic>> {
    let source = ConfiguredProject::of(request);
    let compile = |stencil: Option<&str>| {
        let mut source = source.clone();
        if let Some(stencil) = stencil {
            source.project.stencil = Some(stencil.to_owned());
        }
        source.compile(&mut NoHook)
    };
    let first = compile(None);
    let mut all = vec![Arc::clone(&first)];
    if source.project.stencil.is_none() && first.front.stencils.len() > 1 {
        all = first.front.stencils.iter().map(|(stencil, _)| compile(Some(stencil))).collect();
    }
    let told = |it: &Compilation| Compiled::new(&it.front, &it.notes, [], Vec::new()).diagnostics;
    let diagnostics: Vec<Diagnostic> = all.iter().flat_map(|it| told(it)).collect();
    if all.iter().any(|it| it.has_errors()) {
        return Err(diagnostics);
    }
    let of = |it: &'_ Arc<Compilation>| {
        it.c().is_some() && it.front.signature.is_some() && it.front.reference().is_some()
    };
    if !all.iter().all(of) {
        return Err(vec![compile::no_stencil(request)]);
    }
    let stencils: Vec<export::CompiledStencil<'_>> = all
        .iter()
        .filter_map(|it| {
            Some(export::CompiledStencil {
                signature: it.front.signature.as_ref()?,
                code: ExportedCode::Stencil(StencilCode {
                    artifact: it.c()?,
                    of_one_thread: it.c_of_one_thread()?,
                    oir: it.front.oir.as_ref()?,
                    extents: it.front.extents.as_ref()?,
                }),
                sources: it.front.sources().collect(),
            })
        })
        .collect();
    let names = stencils.iter().map(|it| it.signature.name.clone()).collect();
    let is_fast = request.options.mode == Mode::Fast;
    let request = export::Request { name, bindings, stencils, is_fast, generator: GENERATOR };
    match export::files(&request) {
        Ok(files) => Ok(ExportedProject { files, stencils: names, diagnostics }),
        Err(why) => {
            Err(vec![Diagnostic::without_place("R10", format!("the stencil is not exported: {why}"), "")])
        }
    }
}

/// A folder, and which of its files an export wrote.
struct ExportFolder {
    folder: PathBuf,
    owned: Vec<ManifestEntry>,
}

impl ExportFolder {
    /// A folder that is new or empty, or one whose files an export wrote where that is allowed.
    fn of(folder: &Path, is_forced: bool) -> Result<Self, Usage> {
        let unreadable = |error| Usage::Unreadable { path: shown(folder), error };
        let mut place = Self { folder: folder.to_owned(), owned: Vec::new() };
        match fs::metadata(folder) {
            Ok(it) if !it.is_dir() => Err(Usage::Wrong(format!("{} is no folder", shown(folder)))),
            Ok(_) if fs::read_dir(folder).map_err(unreadable)?.next().is_none() => Ok(place),
            Ok(_) if is_forced => {
                let manifest = folder.join(MANIFEST);
                if manifest.symlink_metadata().is_ok_and(|it| it.is_file()) {
                    place.owned = export::owned(&fs::read_to_string(&manifest).map_err(unreadable)?);
                }
                Ok(place)
            }
            Ok(_) => Err(Usage::Wrong(format!(
                "{} is not empty: name a new folder, or replace what an export wrote there with --force",
                shown(folder)
            ))),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(place),
            Err(error) => Err(unreadable(error)),
        }
    }

    /// Writes all files or, where one cannot be written, none.
    fn write(&self, files: &[File]) -> Result<(), Usage> {
        let unwritable = |path: &Path, error| Usage::Unwritable { path: shown(path), error };
        for file in files {
            self.check(file).map_err(|error| unwritable(&self.folder.join(&file.path), error))?;
        }
        let mut begun = StagedFiles::default();
        // The list comes first: what it names is ours, also where we are interrupted.
        let (manifest, others): (Vec<&File>, Vec<&File>) = files.iter().partition(|it| it.path == MANIFEST);
        let ordered: Vec<&File> = manifest.into_iter().chain(others).collect();
        for file in &ordered {
            let path = self.folder.join(&file.path);
            begun.write(&path, &file.text).map_err(|error| unwritable(&path, error))?;
        }
        begun.end().map_err(|(path, error)| unwritable(&path, error))?;
        self.remove_stale(files);
        Ok(())
    }

    /// Whether a file may be written: nothing is in its place, or what an export wrote.
    fn check(&self, file: &File) -> io::Result<()> {
        let mut path = self.folder.clone();
        let mut parts = file.path.split('/').peekable();
        while let Some(part) = parts.next() {
            path.push(part);
            let Ok(found) = path.symlink_metadata() else { continue };
            if found.is_symlink() {
                return Err(io::Error::other("a symbolic link is in its place"));
            }
            let is_last = parts.peek().is_none();
            let is_ours = (file.path == MANIFEST && !self.owned.is_empty())
                || self.owned.iter().any(|it| it.path == file.path);
            if is_last && !(found.is_file() && is_ours) {
                return Err(io::Error::other("there is such a file already, which no export wrote"));
            }
            if !is_last && !found.is_dir() {
                return Err(io::Error::other("a file is in the place of its folder"));
            }
        }
        Ok(())
    }

    /// Removes what an earlier export wrote and this one does not, unless somebody changed it.
    fn remove_stale(&self, files: &[File]) {
        let now: BTreeSet<&str> = files.iter().map(|it| it.path.as_str()).collect();
        for it in self.owned.iter().filter(|it| !now.contains(it.path.as_str())) {
            let path = self.folder.join(&it.path);
            let is_plain = self.check(&File { path: it.path.clone(), text: String::new() }).is_ok();
            let is_unchanged =
                is_plain && fs::read_to_string(&path).is_ok_and(|text| export::hash_of(&text) == it.sha256);
            if is_unchanged && fs::remove_file(&path).is_err() || is_plain && path.exists() {
                say(&format!("note: {} is of an earlier export, and stays", shown(&path)));
            }
        }
    }
}

/// Files that are written beside their places, and folders that were made for them; removed unless all is well.
#[derive(Default)]
struct StagedFiles {
    /// Each with its place.
    files: Vec<(PathBuf, PathBuf)>,
    folders: Vec<PathBuf>,
}

impl StagedFiles {
    fn write(&mut self, path: &Path, text: &str) -> io::Result<()> {
        let mut missing: Vec<&Path> =
            path.ancestors().skip(1).take_while(|it| !it.as_os_str().is_empty() && !it.exists()).collect();
        while let Some(folder) = missing.pop() {
            fs::create_dir(folder)?;
            self.folders.push(folder.to_owned());
        }
        let mut name = path.file_name().unwrap_or_default().to_owned();
        name.push(".isobar-part");
        let beside = path.with_file_name(name);
        let mut file = OpenOptions::new().write(true).create_new(true).open(&beside)?;
        self.files.push((beside, path.to_owned()));
        file.write_all(text.as_bytes())?;
        // A disk that is full says so here, before anything is replaced.
        file.sync_all()
    }

    fn end(mut self) -> Result<(), (PathBuf, io::Error)> {
        for (beside, path) in &self.files {
            fs::rename(beside, path).map_err(|error| (path.clone(), error))?;
        }
        self.files.clear();
        self.folders.clear();
        Ok(())
    }
}

impl Drop for StagedFiles {
    fn drop(&mut self) {
        for (beside, _) in &self.files {
            let _ = fs::remove_file(beside);
        }
        // Those that others put something into stay.
        for folder in self.folders.iter().rev() {
            let _ = fs::remove_dir(folder);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(path: &str, text: &str) -> File {
        File { path: path.to_owned(), text: text.to_owned() }
    }

    fn manifest(files: &[File]) -> File {
        let all: Vec<String> = files
            .iter()
            .map(|it| format!("{{\"path\": \"{}\", \"sha256\": \"{}\"}}", it.path, export::hash_of(&it.text)))
            .collect();
        file(MANIFEST, &format!("{{\"files\": [{}]}}", all.join(", ")))
    }

    fn written(folder: &Path, is_forced: bool, files: &[File]) -> Result<(), Usage> {
        let all: Vec<File> = files.iter().cloned().chain([manifest(files)]).collect();
        ExportFolder::of(folder, is_forced)?.write(&all)
    }

    #[test]
    fn a_folder_in_which_something_lies_is_left_alone() {
        let home = tempfile::tempdir().unwrap();
        fs::write(home.path().join("mine"), "x").unwrap();
        let error = written(home.path(), false, &[file("a", "1")]).unwrap_err();
        assert!(error.to_string().contains("--force"), "{error}");
        assert_eq!(fs::read_dir(home.path()).unwrap().count(), 1);
    }

    #[test]
    fn force_replaces_what_an_export_wrote_and_nothing_else() {
        let home = tempfile::tempdir().unwrap();
        let folder = home.path().join("new/project");
        written(&folder, false, &[file("src/a", "1"), file("b", "1"), file("c", "1")]).unwrap();
        fs::write(folder.join("mine"), "x").unwrap();
        fs::write(folder.join("c"), "changed").unwrap();
        written(&folder, true, &[file("src/a", "2")]).unwrap();
        assert_eq!(fs::read_to_string(folder.join("src/a")).unwrap(), "2");
        assert!(!folder.join("b").exists());
        assert_eq!(fs::read_to_string(folder.join("c")).unwrap(), "changed");
        assert_eq!(fs::read_to_string(folder.join("mine")).unwrap(), "x");
        let error = written(&folder, true, &[file("src/a", "3"), file("mine", "3")]).unwrap_err();
        assert!(error.to_string().contains("no export wrote"), "{error}");
        assert_eq!(fs::read_to_string(folder.join("src/a")).unwrap(), "2");
    }

    #[test]
    fn what_cannot_be_written_leaves_nothing_behind() {
        let home = tempfile::tempdir().unwrap();
        let folder = home.path().join("project");
        let long = "n".repeat(300);
        written(&folder, false, &[file("src/a", "1"), file(&long, "1")]).unwrap_err();
        assert!(!folder.exists());
    }

    #[cfg(unix)]
    #[test]
    fn a_link_in_the_way_is_not_followed() {
        let home = tempfile::tempdir().unwrap();
        let (folder, elsewhere) = (home.path().join("project"), home.path().join("elsewhere"));
        fs::create_dir(&elsewhere).unwrap();
        written(&folder, false, &[file("src/a", "1")]).unwrap();
        fs::remove_dir_all(folder.join("src")).unwrap();
        std::os::unix::fs::symlink(&elsewhere, folder.join("src")).unwrap();
        written(&folder, true, &[file("src/a", "2")]).unwrap_err();
        assert_eq!(fs::read_dir(&elsewhere).unwrap().count(), 0);
    }
}
