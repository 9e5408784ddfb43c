//! Which files an import means, and which of them run because the main file does.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::builtins;
use super::modules::Names;
use super::program::SourceFile;
use super::syntax::{Stmt, StmtKind};
use crate::diag::FileId;

/// The module of an import: how many dots stand before it, and its path.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Imported {
    level: u32,
    path: Vec<String>,
}

/// All modules that a file may import, in functions too; `from a import b` may mean `a.b`.
pub(super) fn imported(body: &[Stmt]) -> BTreeSet<Imported> {
    let mut found = BTreeSet::new();
    collect(body, &mut found);
    found
}

fn collect(body: &[Stmt], found: &mut BTreeSet<Imported>) {
    let parts = |dotted: &str| dotted.split('.').filter(|it| !it.is_empty()).map(str::to_owned).collect();
    for stmt in body {
        match &stmt.kind {
            StmtKind::Import(aliases) => {
                found.extend(aliases.iter().map(|it| Imported { level: 0, path: parts(&it.name.name) }));
            }
            StmtKind::ImportFrom { level, module, names } => {
                let path: Vec<String> = parts(module);
                let inner = names.iter().map(|it| [&path[..], std::slice::from_ref(&it.name.name)].concat());
                let inner: Vec<Vec<String>> = inner.collect();
                found.extend(inner.into_iter().chain([path]).map(|path| Imported { level: *level, path }));
            }
            StmtKind::Function(def) => collect(&def.body, found),
            StmtKind::Class(def) => collect(&def.body, found),
            _ => stmt.blocks().into_iter().for_each(|it| collect(it, found)),
        }
    }
}

/// The files of a program by the last part of their modules.
#[derive(Clone, Debug, Default)]
pub(super) struct ByName(BTreeMap<Box<str>, Vec<FileId>>);

impl ByName {
    pub(super) fn of(files: &[Arc<SourceFile>]) -> Self {
        let mut found: BTreeMap<Box<str>, Vec<FileId>> = BTreeMap::new();
        for file in files {
            let last = file.module.last().map_or("", String::as_str);
            found.entry(last.into()).or_default().push(file.id);
        }
        Self(found)
    }

    fn ending_with(&self, name: &str) -> &[FileId] {
        self.0.get(name).map(Vec::as_slice).unwrap_or_default()
    }
}

impl Names<'_> {
    /// The file that an import path means: the one whose path shares the longest end with it.
    #[must_use]
    pub fn find_module(&self, from: FileId, level: u32, path: &[String]) -> Option<FileId> {
        let files = &self.program.files;
        let mut wanted = path.to_vec();
        if level > 0 {
            let source = files.get(usize::from(from.0))?;
            let up = (level as usize).saturating_sub(usize::from(source.is_package));
            if let Some(keep) = source.module.len().checked_sub(up) {
                wanted = [&source.module[..keep], path].concat();
            }
        }
        if level == 0 && builtins::is_installed_module(path) {
            return None;
        }
        let must_match_whole = level == 0 && builtins::is_builtin_module(path);
        let importer: &[String] = files.get(usize::from(from.0)).map_or(&[], |it| &it.module);
        let mut best: Option<((usize, usize), FileId)> = None;
        for &id in self.program.by_name().ending_with(wanted.last()?) {
            let Some(file) = files.get(usize::from(id.0)) else { continue };
            let common =
                file.module.iter().rev().zip(wanted.iter().rev()).take_while(|(a, b)| a == b).count();
            let is_suffix = common == wanted.len() || common == file.module.len();
            if !is_suffix || must_match_whole && common < wanted.len() {
                continue;
            }
            // Of several that fit alike, the one that is nearest in the tree of folders.
            let near = file.module.iter().zip(importer).take_while(|(a, b)| a == b).count();
            if best.is_none_or(|(longest, _)| (common, near) > longest) {
                best = Some(((common, near), id));
            }
        }
        best.map(|(_, file)| file)
    }

    /// The files that the main file imports, those that they import, and the packages around each.
    pub(super) fn run_by_main(&self) -> &BTreeSet<FileId> {
        self.run_by_main.get_or_init(|| {
            let mut found = BTreeSet::new();
            let mut next: Vec<FileId> = self.program.main.into_iter().collect();
            while let Some(id) = next.pop() {
                let Some(file) = self.program.files.get(usize::from(id.0)).filter(|_| found.insert(id))
                else {
                    continue;
                };
                let imported = file.imported().iter();
                next.extend(imported.filter_map(|it| self.find_module(id, it.level, &it.path)));
                next.extend(self.packages_around(file));
            }
            found
        })
    }

    /// The `__init__.py` of each package that a file stands in.
    fn packages_around<'a>(&'a self, file: &'a SourceFile) -> impl Iterator<Item = FileId> + 'a {
        (1..file.module.len()).flat_map(move |end| {
            let package = &file.module[..end];
            let alike = self.program.by_name().ending_with(&file.module[end - 1]).iter().copied();
            alike.filter(move |id| {
                let it = self.program.files.get(usize::from(id.0));
                it.is_some_and(|it| it.is_package && it.module == package)
            })
        })
    }
}
