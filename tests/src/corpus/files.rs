//! The Python files below a folder, and which of them a file needs.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use isobar_compiler::diag::Diagnostics;
use isobar_compiler::frontend::limits::MAX_FILES;
use isobar_compiler::frontend::program::for_each_function;
use isobar_compiler::frontend::syntax::{Stmt, StmtKind};
use isobar_compiler::frontend::{self, Program};
use isobar_compiler::project::Project;

/// The Python files below a folder.
#[derive(Debug)]
pub struct Checkout {
    /// Text by path below the folder.
    files: BTreeMap<String, String>,
    parsed: BTreeMap<String, Program>,
    /// The files that end in a module's path: `stencils/ppm` finds `model/stencils/ppm.py`.
    by_ending: BTreeMap<String, Vec<String>>,
}

impl Checkout {
    /// Reads all files below `root`; folders whose name starts with a dot are passed over.
    ///
    /// # Errors
    ///
    /// When a folder cannot be read. A file that is no text is left out.
    pub fn read(root: &Path) -> Result<Self> {
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
                    files.insert(below.to_string_lossy().into_owned(), text);
                }
            }
        }
        let mut by_ending: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for name in files.keys() {
            let module = name.trim_end_matches(".py").trim_end_matches("/__init__");
            let starts = std::iter::once(0).chain(module.match_indices('/').map(|(at, _)| at + 1));
            for start in starts {
                by_ending.entry(module[start..].to_owned()).or_default().push(name.clone());
            }
        }
        let parse = |(name, text): (&String, &String)| {
            let program = frontend::parse(&Project::of_one(name, text), &mut Diagnostics::default());
            (name.clone(), program)
        };
        let parsed = files.iter().map(parse).collect();
        Ok(Self { files, parsed, by_ending })
    }

    /// Every stencil: its file and its name, each once.
    #[must_use]
    pub fn stencils(&self) -> Vec<(String, String)> {
        let of = |(file, program): (&String, &Program)| {
            let names: BTreeSet<String> = program.stencils().into_iter().map(|it| it.name).collect();
            names.into_iter().map(|name| (file.clone(), name)).collect::<Vec<_>>()
        };
        self.parsed.iter().flat_map(of).collect()
    }

    /// A stencil with its file, and the files that this imports, directly or not; the nearest first, as many as compile.
    #[must_use]
    pub fn project(&self, main: &str, stencil: &str) -> Project {
        let mut wanted = VecDeque::from([main.to_owned()]);
        let mut files = BTreeMap::new();
        while let Some(name) = wanted.pop_front() {
            if files.len() == MAX_FILES || files.contains_key(&name) {
                continue;
            }
            wanted.extend(self.imports(&name));
            let text = self.files[&name].clone();
            files.insert(name, text);
        }
        Project { files, main: main.to_owned(), stencil: Some(stencil.to_owned()) }
    }

    /// The files that one file imports.
    fn imports(&self, name: &str) -> BTreeSet<String> {
        let mut modules = BTreeSet::new();
        if let Some(file) = self.parsed[name].files.first() {
            imported(&file.syntax.body, name, &mut modules);
            for_each_function(&file.syntax.body, &mut |it| imported(&it.body, name, &mut modules));
        }
        let nearest = |module: &String| {
            // Of several, the one that has most of its path in common.
            let found = self.by_ending.get(module)?.iter();
            found
                .max_by_key(|it| it.bytes().zip(name.bytes()).take_while(|(one, other)| one == other).count())
        };
        modules.iter().filter_map(nearest).cloned().collect()
    }
}

/// The modules that statements import, as paths; what is imported from a package may be one of its modules.
fn imported(body: &[Stmt], file: &str, found: &mut BTreeSet<String>) {
    for stmt in body {
        match &stmt.kind {
            StmtKind::Import(aliases) => {
                found.extend(aliases.iter().map(|it| it.name.name.replace('.', "/")));
            }
            StmtKind::ImportFrom { level, module, names } => {
                let mut parts: Vec<&str> = Vec::new();
                if let Some(up) = level.checked_sub(1) {
                    let folders: Vec<&str> = file.split('/').rev().skip(1 + up as usize).collect();
                    parts.extend(folders.into_iter().rev());
                }
                parts.extend(module.split('.').filter(|it| !it.is_empty()));
                let module = parts.join("/");
                found.extend(names.iter().map(|it| format!("{module}/{}", it.name.name)));
                found.insert(module);
            }
            StmtKind::If { then, otherwise, .. } => {
                imported(then, file, found);
                imported(otherwise, file, found);
            }
            StmtKind::Try { body, fallback } => {
                imported(body, file, found);
                imported(fallback, file, found);
            }
            _ => {}
        }
    }
}
