//! The Python files below a folder.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, Result, bail};
use isobar_compiler::diag::Diagnostics;
use isobar_compiler::frontend::limits::MAX_FILES;
use isobar_compiler::frontend::program::SourceFile;
use isobar_compiler::frontend::{ParsedFiles, Program};
use isobar_compiler::project::Project;

use super::distinct::with_distinct_names;
use super::expected::{self, Expectations};
use super::suites::annotated;

/// The Python files below a folder, and those of libraries that they import.
#[derive(Debug)]
pub struct Checkout {
    /// All files; the main one and the stencil are set for each stencil.
    project: Project,
    /// The files whose stencils are meant.
    own: BTreeSet<String>,
    parsed: ParsedFiles,
}

impl Checkout {
    /// Reads all files below `root` and `libraries`; folders whose name starts with a dot are passed over.
    ///
    /// # Errors
    ///
    /// When a folder cannot be read, or there are more files than one project may have.
    /// A file that is no text is left out.
    pub fn read(root: &Path, libraries: &[PathBuf]) -> Result<Self> {
        let mut files = read_below(root)?;
        let own = files.keys().cloned().collect();
        for library in libraries {
            for (name, text) in read_below(library)? {
                files.entry(name).or_insert(text);
            }
        }
        if files.len() > MAX_FILES {
            bail!("{} has {} Python files, and {MAX_FILES} are allowed", root.display(), files.len());
        }
        let project = Project { files, main: String::new(), stencil: None };
        Ok(Self { project, own, parsed: ParsedFiles::default() })
    }

    /// All files, whichever stencil is meant.
    #[must_use]
    pub fn files(&self) -> &Project {
        &self.project
    }

    /// Every stencil: its file and its name, each once.
    pub fn stencils(&mut self) -> Vec<(String, String)> {
        let files = self.parsed.of(&self.project);
        let of = |file: &Arc<SourceFile>| {
            let names: BTreeSet<String> = file.stencils().into_iter().map(|it| it.name).collect();
            names.into_iter().map(|name| (file.name.to_string(), name)).collect::<Vec<_>>()
        };
        files.iter().filter(|it| self.own.contains(&*it.name)).flat_map(of).collect()
    }

    /// Returns the expectations that the tests of a file have of its stencils.
    pub(super) fn expectations(&mut self, file: &str) -> Expectations {
        let files = self.parsed.of(&self.project);
        let found = files.iter().find(|it| &*it.name == file);
        found.map(|it| expected::expectations(&it.syntax().body)).unwrap_or_default()
    }

    /// All files, with one stencil as the one that is meant.
    pub fn project(&mut self, main: &str, stencil: &str) -> &Project {
        main.clone_into(&mut self.project.main);
        self.project.stencil = Some(stencil.to_owned());
        &self.project
    }

    /// The functions of the files that could stand for an external of [`project`](Self::project) that is called.
    pub fn functions(&mut self, name: &str, n_args: usize) -> Vec<String> {
        let files = self.parsed.of(&self.project);
        let program = Program::new(&self.project, files, &mut Diagnostics::default());
        isobar_compiler::frontend::externals::candidates(&program, name, n_args)
    }
}

fn read_below(root: &Path) -> Result<BTreeMap<String, Arc<str>>> {
    let mut files = BTreeMap::new();
    let mut folders: Vec<PathBuf> = vec![root.to_owned()];
    while let Some(folder) = folders.pop() {
        let entries = std::fs::read_dir(&folder).with_context(|| folder.display().to_string())?;
        for entry in entries {
            let path = entry?.path();
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            if path.is_dir() && !path.is_symlink() && !name.starts_with('.') {
                folders.push(path);
            } else if name.ends_with(".py")
                && let Ok(text) = std::fs::read_to_string(&path)
            {
                let below = path.strip_prefix(root).unwrap_or(&path);
                let text = with_distinct_names(&annotated(&text));
                files.insert(below.to_string_lossy().into_owned(), text.into());
            }
        }
    }
    Ok(files)
}
