//! The modules that a file may import, and the attributes of others that it may assign, as its text alone tells.

use std::collections::{BTreeMap, BTreeSet};

use super::syntax::{Stmt, StmtKind};
use crate::diag::FileId;

/// The module of an import: how many dots stand before it, and its path.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct ModuleReference {
    pub(super) level: u32,
    pub(super) path: Vec<String>,
}

/// All modules that a file may import, in functions too; `from a import b` may mean `a.b`.
pub(super) fn imported(body: &[Stmt]) -> BTreeSet<ModuleReference> {
    let mut found = BTreeSet::new();
    collect(body, &mut found);
    found
}

fn collect(body: &[Stmt], found: &mut BTreeSet<ModuleReference>) {
    let parts = |dotted: &str| dotted.split('.').filter(|it| !it.is_empty()).map(str::to_owned).collect();
    for stmt in body {
        match &stmt.kind {
            StmtKind::Import(aliases) => {
                found.extend(
                    aliases.iter().map(|it| ModuleReference { level: 0, path: parts(&it.name.name) }),
                );
            }
            StmtKind::ImportFrom { level, module, names } => {
                let path: Vec<String> = parts(module);
                let inner = names.iter().map(|it| [&path[..], std::slice::from_ref(&it.name.name)].concat());
                let inner: Vec<Vec<String>> = inner.collect();
                found.extend(
                    inner.into_iter().chain([path]).map(|path| ModuleReference { level: *level, path }),
                );
            }
            StmtKind::Function(def) => collect(&def.body, found),
            StmtKind::Class(def) => collect(&def.body, found),
            _ => stmt.blocks().into_iter().for_each(|it| collect(it, found)),
        }
    }
}

/// The files of a program by the last part of their modules.
#[derive(Clone, Debug, Default)]
pub(super) struct ModuleFiles(BTreeMap<Box<str>, Vec<FileId>>);

impl ModuleFiles {
    pub(super) fn of<'a>(files: impl Iterator<Item = (FileId, &'a [String])>) -> Self {
        let mut found: BTreeMap<Box<str>, Vec<FileId>> = BTreeMap::new();
        for (id, module) in files {
            let last = module.last().map_or("", String::as_str);
            found.entry(last.into()).or_default().push(id);
        }
        Self(found)
    }

    pub(super) fn ending_with(&self, name: &str) -> &[FileId] {
        self.0.get(name).map(Vec::as_slice).unwrap_or_default()
    }
}

/// Stands for all names: they are given as strings.
pub(super) const BY_NAME: &str = "setattr";

/// The names behind `.` and before `=` in a text, and `setattr` where it stands.
pub(super) fn assigned_attributes(text: &str) -> BTreeSet<Box<str>> {
    let mut found = BTreeSet::new();
    if text.contains("setattr") || text.contains("delattr") {
        found.insert(BY_NAME.into());
    }
    for (at, _) in text.match_indices('.') {
        let rest = &text[at + 1..];
        let end = rest.find(|it: char| !it.is_alphanumeric() && it != '_').unwrap_or(rest.len());
        let behind = rest[end..].trim_start_matches([' ', '\t', '\\']);
        let is_assigned = match behind.as_bytes() {
            [b'=', second, ..] => *second != b'=',
            [b'=' | b':' | b',' | b')' | b']', ..] => true,
            [b'+' | b'-' | b'*' | b'/' | b'%' | b'&' | b'|' | b'^' | b'@' | b'<' | b'>', rest @ ..] => {
                rest.iter().take(2).any(|it| *it == b'=')
            }
            _ => rest[end..].trim_start().starts_with("in "),
        };
        if end > 0 && is_assigned {
            found.insert(rest[..end].into());
        }
    }
    found
}
