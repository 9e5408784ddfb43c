//! Which names the files bind, and where: the part of the index that the syntax trees know.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use isobar_front::frontend::Names;
use isobar_front::frontend::program::{Program, is_externals, is_stencil};
use isobar_front::frontend::syntax::{Alias, ClassDef, Expr, ExprKind, FunctionDef, Ident, Stmt, StmtKind};
use isobar_ground::diag::{FileId, Span};

/// Imports may pass a name on this often.
const MAX_CHAIN: usize = 32;

/// A name of the files, wherever it is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct SymbolId(pub usize);

/// A name of the files, with its kind and its bindings.
#[derive(Clone, Debug)]
pub struct Symbol {
    pub name: String,
    pub kind: SymbolKind,
    /// Where it is bound, its definition first.
    pub bindings: Vec<Span>,
    /// The function around it.
    pub owner: Option<SymbolId>,
}

/// The kind of a name of the files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SymbolKind {
    Stencil,
    /// Decorated as a GTScript function.
    Function,
    /// Any other function.
    PlainFunction,
    Class,
    /// Of a stencil: a field or a scalar.
    Parameter,
    /// Of any other function.
    Argument,
    /// A name that a stencil assigns.
    Temporary,
    /// A name that a GTScript function assigns.
    Local,
    /// A name from `__externals__`: one for all files.
    External,
    /// A name that is assigned outside of stencils and GTScript functions.
    Constant,
    /// A name in the body of a class.
    Member,
    /// A module, with its file where it is among the files.
    Module(Option<FileId>),
    /// `b` of `from lib import a as b`.
    Alias(SymbolId),
    /// A name of a module that is not among the files.
    Foreign,
}

/// The role of an occurrence of a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum OccurrenceRole {
    Declaration,
    Write,
    Read,
    /// In an `import`.
    Import,
    /// `name=` in a call.
    Keyword,
    /// In a comment line `# @input name ...`.
    Directive,
}

/// The names that one body binds.
#[derive(Clone, Debug)]
pub struct Scope {
    pub file: FileId,
    pub parent: Option<usize>,
    /// The function or class whose body it is; none at the top of a file.
    pub owner: Option<SymbolId>,
    /// Bytes of the body; found by the index, who knows the tokens.
    pub body: Range<u32>,
    /// Where the name of the `def` ends, from where the index looks for the body.
    pub(super) header: u32,
    /// Of a function, in their order.
    pub params: Vec<SymbolId>,
    /// In which order they were first bound does not matter: names are looked up.
    entries: BTreeMap<String, ScopeEntry>,
    /// `from x import *`
    stars: Vec<ModulePath>,
}

/// A module as an import names it.
#[derive(Clone, Debug)]
struct ModulePath {
    level: u32,
    parts: Vec<String>,
}

#[derive(Clone, Copy, Debug)]
enum ScopeEntry {
    Symbol(SymbolId),
    Import(usize),
}

/// `from path import name as alias`
#[derive(Clone, Debug)]
struct Import {
    file: FileId,
    path: ModulePath,
    name: Ident,
    alias: Option<Ident>,
    owner: Option<SymbolId>,
    /// Known once all files are.
    symbol: Option<SymbolId>,
}

/// The target of an import.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ImportTarget {
    Symbol(SymbolId),
    File(FileId),
}

/// Everything that the trees of all files bind.
#[derive(Clone, Debug, Default)]
pub struct Scopes {
    pub symbols: Vec<Symbol>,
    /// The top of each file first, in the order of the files.
    pub scopes: Vec<Scope>,
    pub(super) externals: BTreeMap<String, SymbolId>,
    /// Where a name is bound: its scope, and what happens to it there.
    bound: BTreeMap<(FileId, u32), (usize, String, OccurrenceRole)>,
    /// Where an import spells a name of another module; the position among `imports`.
    imported: BTreeMap<(FileId, u32), usize>,
    imports: Vec<Import>,
    /// Imports as statements, each from its start to its end: their other names are modules.
    import_statements: BTreeMap<(FileId, u32), u32>,
}

impl Scopes {
    /// Walks all files.
    #[must_use]
    pub fn new(program: &Program, names: &Names<'_>) -> Self {
        let mut scopes = Self::default();
        for position in 0..program.files.len() {
            let file = FileId(u16::try_from(position).unwrap_or(u16::MAX));
            scopes.open(file, None, None, 0);
        }
        for (scope, file) in program.files.iter().enumerate() {
            scopes.walk(scope, &file.syntax().body, names);
        }
        scopes.resolve_imports(names);
        scopes
    }

    #[must_use]
    pub fn symbol(&self, SymbolId(id): SymbolId) -> &Symbol {
        &self.symbols[id]
    }

    /// The symbol behind an alias; any other is itself.
    #[must_use]
    pub fn behind(&self, mut id: SymbolId) -> SymbolId {
        for _ in 0..MAX_CHAIN {
            match self.symbol(id).kind {
                SymbolKind::Alias(next) => id = next,
                _ => break,
            }
        }
        id
    }

    /// The scope of a function's or class's body.
    #[must_use]
    pub fn scope_of(&self, owner: SymbolId) -> Option<&Scope> {
        self.scopes.iter().find(|it| it.owner == Some(owner))
    }

    /// The symbol that `name` means in a scope, or in those around it.
    #[must_use]
    pub fn lookup(&self, scope: usize, name: &str, names: &Names<'_>) -> Option<SymbolId> {
        let mut next = Some(scope);
        while let Some(at) = next {
            let scope = &self.scopes[at];
            match scope.entries.get(name) {
                Some(&ScopeEntry::Symbol(id)) => return Some(id),
                Some(&ScopeEntry::Import(import)) => return self.imports[import].symbol,
                None => {}
            }
            for star in &scope.stars {
                let file = names.find_module(scope.file, star.level, &star.parts);
                if let Some(ImportTarget::Symbol(id)) = file.and_then(|it| self.export(it, name, names, 0)) {
                    return Some(id);
                }
            }
            next = scope.parent;
        }
        None
    }

    /// The names of a scope alone.
    pub fn names_in(&self, scope: usize) -> impl Iterator<Item = (&str, SymbolId)> {
        self.scopes[scope].entries.iter().filter_map(|(name, entry)| {
            let id = match *entry {
                ScopeEntry::Symbol(id) => id,
                ScopeEntry::Import(import) => self.imports[import].symbol?,
            };
            Some((name.as_str(), id))
        })
    }

    /// Every name that a scope sees, the nearest first.
    #[must_use]
    pub fn visible(&self, scope: usize, names: &Names<'_>) -> Vec<SymbolId> {
        let mut found: Vec<SymbolId> = Vec::new();
        let mut seen = BTreeSet::new();
        let mut next = Some(scope);
        while let Some(at) = next {
            let scope = &self.scopes[at];
            let stars =
                scope.stars.iter().filter_map(|it| names.find_module(scope.file, it.level, &it.parts));
            for at in std::iter::once(at).chain(stars.map(|it| usize::from(it.0))) {
                // In the order of the text.
                let mut own: Vec<SymbolId> = self
                    .names_in(at)
                    .filter(|(name, _)| seen.insert((*name).to_owned()))
                    .map(|it| it.1)
                    .collect();
                own.sort();
                found.extend(own);
            }
            next = scope.parent;
        }
        found
    }

    /// The symbol that is bound at a place, and its role there.
    pub(super) fn bound_at(&self, file: FileId, start: u32) -> Option<(SymbolId, OccurrenceRole)> {
        if let Some((scope, name, role)) = self.bound.get(&(file, start)) {
            let id = match self.scopes[*scope].entries.get(name)? {
                ScopeEntry::Symbol(id) => *id,
                ScopeEntry::Import(import) => self.imports[*import].symbol?,
            };
            return Some((id, *role));
        }
        None
    }

    /// The target of the name that an import has at a place.
    pub(super) fn imported_at(&self, file: FileId, start: u32, names: &Names<'_>) -> Option<ImportTarget> {
        let import = &self.imports[*self.imported.get(&(file, start))?];
        self.target(import, names, 0)
    }

    /// Whether a place is inside of an import.
    pub(super) fn is_in_import(&self, file: FileId, at: u32) -> bool {
        let before = self.import_statements.range((file, 0)..=(file, at)).next_back();
        before.is_some_and(|(_, &end)| at < end)
    }

    /// A name at the top of a file, through its imports.
    pub(super) fn export(
        &self,
        file: FileId,
        name: &str,
        names: &Names<'_>,
        depth: usize,
    ) -> Option<ImportTarget> {
        if depth > MAX_CHAIN {
            return None;
        }
        let scope = self.scopes.get(usize::from(file.0))?;
        match scope.entries.get(name) {
            Some(&ScopeEntry::Symbol(id)) => match self.symbol(id).kind {
                SymbolKind::Module(Some(file)) => Some(ImportTarget::File(file)),
                _ => Some(ImportTarget::Symbol(id)),
            },
            Some(&ScopeEntry::Import(import)) => self.target(&self.imports[import], names, depth + 1),
            None => scope.stars.iter().find_map(|star| {
                let next = names.find_module(file, star.level, &star.parts)?;
                self.export(next, name, names, depth + 1)
            }),
        }
    }

    fn target(&self, import: &Import, names: &Names<'_>, depth: usize) -> Option<ImportTarget> {
        let Import { file, path, name, .. } = import;
        if let Some(from) = names.find_module(*file, path.level, &path.parts)
            && let Some(found) = self.export(from, &name.name, names, depth)
        {
            return Some(found);
        }
        let whole = [&path.parts[..], std::slice::from_ref(&name.name)].concat();
        names.find_module(*file, path.level, &whole).map(ImportTarget::File)
    }

    fn resolve_imports(&mut self, names: &Names<'_>) {
        for at in 0..self.imports.len() {
            let import = self.imports[at].clone();
            let bound = import.alias.as_ref().unwrap_or(&import.name);
            let kind = match self.target(&import, names, 0) {
                Some(ImportTarget::Symbol(id)) if import.alias.is_none() => {
                    self.imports[at].symbol = Some(id);
                    continue;
                }
                Some(ImportTarget::Symbol(id)) => SymbolKind::Alias(id),
                Some(ImportTarget::File(file)) => SymbolKind::Module(Some(file)),
                None => SymbolKind::Foreign,
            };
            let id = self.add(&bound.name, kind, bound.span, import.owner);
            self.imports[at].symbol = Some(id);
        }
    }

    fn open(&mut self, file: FileId, parent: Option<usize>, owner: Option<SymbolId>, header: u32) -> usize {
        let (params, entries, stars) = (Vec::new(), BTreeMap::new(), Vec::new());
        self.scopes.push(Scope { file, parent, owner, body: 0..u32::MAX, header, params, entries, stars });
        self.scopes.len() - 1
    }

    fn add(&mut self, name: &str, kind: SymbolKind, span: Span, owner: Option<SymbolId>) -> SymbolId {
        self.symbols.push(Symbol { name: name.to_owned(), kind, bindings: vec![span], owner });
        SymbolId(self.symbols.len() - 1)
    }

    /// Binds a name: makes a symbol, or adds a place to the one that the scope has.
    fn bind(&mut self, scope: usize, ident: &Ident, kind: SymbolKind) -> Option<SymbolId> {
        if ident.name.is_empty() {
            return None;
        }
        let at = (ident.span.file, ident.span.start);
        let (id, role) = match self.scopes[scope].entries.get(&ident.name) {
            Some(&ScopeEntry::Symbol(id)) => {
                self.symbols[id.0].bindings.push(ident.span);
                (Some(id), OccurrenceRole::Write)
            }
            Some(ScopeEntry::Import(_)) => (None, OccurrenceRole::Write),
            None => {
                let id = self.add(&ident.name, kind, ident.span, self.scopes[scope].owner);
                self.scopes[scope].entries.insert(ident.name.clone(), ScopeEntry::Symbol(id));
                (Some(id), OccurrenceRole::Declaration)
            }
        };
        self.bound.insert(at, (scope, ident.name.clone(), role));
        id
    }

    fn walk(&mut self, scope: usize, body: &[Stmt], names: &Names<'_>) {
        for stmt in body {
            match &stmt.kind {
                StmtKind::Function(def) => self.function(scope, def, names),
                StmtKind::Class(def) => self.class(scope, def, names),
                StmtKind::Import(aliases) => {
                    self.import_statements.insert((stmt.span.file, stmt.span.start), stmt.span.end);
                    aliases.iter().for_each(|it| self.import(scope, it, names));
                }
                StmtKind::ImportFrom { level, module, names: aliases } => {
                    self.import_statements.insert((stmt.span.file, stmt.span.start), stmt.span.end);
                    let parts: Vec<String> =
                        module.split('.').filter(|it| !it.is_empty()).map(str::to_owned).collect();
                    for alias in aliases {
                        if *level == 0 && is_externals(module) {
                            self.external(scope, alias);
                        } else {
                            self.import_from(
                                scope,
                                alias,
                                ModulePath { level: *level, parts: parts.clone() },
                            );
                        }
                    }
                }
                StmtKind::Assign { targets, .. } => targets.iter().for_each(|it| self.assign(scope, it)),
                StmtKind::AugAssign { target, .. } | StmtKind::AnnAssign { target, .. } => {
                    self.assign(scope, target);
                }
                StmtKind::With { items, .. } => {
                    items.iter().filter_map(|it| it.target.as_ref()).for_each(|it| self.assign(scope, it));
                }
                StmtKind::If { .. }
                | StmtKind::While { .. }
                | StmtKind::For { .. }
                | StmtKind::Other { .. }
                | StmtKind::Try { .. }
                | StmtKind::Return(_)
                | StmtKind::Expr(_)
                | StmtKind::Pass => {}
            }
            stmt.blocks().into_iter().for_each(|it| self.walk(scope, it, names));
        }
    }

    fn function(&mut self, scope: usize, def: &FunctionDef, names: &Names<'_>) {
        let kind = if is_stencil(def) {
            SymbolKind::Stencil
        } else if def.is_function {
            SymbolKind::Function
        } else {
            SymbolKind::PlainFunction
        };
        let owner = self.bind(scope, &def.name, kind);
        if let Some(SymbolId(it)) = owner {
            // Of two definitions the last one holds.
            self.symbols[it].kind = kind;
        }
        let header = def.name.span.end;
        let inner = self.open(def.name.span.file, Some(scope), owner, header);
        self.scopes[inner].body = header..def.span.end;
        let kind = if kind == SymbolKind::Stencil { SymbolKind::Parameter } else { SymbolKind::Argument };
        for name in def.params.iter().map(|it| &it.name).chain(&def.variadic) {
            if let Some(id) = self.bind(inner, name, kind) {
                self.scopes[inner].params.push(id);
            }
        }
        self.walk(inner, &def.body, names);
    }

    fn class(&mut self, scope: usize, def: &ClassDef, names: &Names<'_>) {
        let owner = self.bind(scope, &def.name, SymbolKind::Class);
        let header = def.name.span.end;
        let inner = self.open(def.name.span.file, Some(scope), owner, header);
        self.scopes[inner].body = header..def.body.last().map_or(header, |it| it.span.end);
        self.walk(inner, &def.body, names);
    }

    fn import(&mut self, scope: usize, alias: &Alias, names: &Names<'_>) {
        let Alias { name, alias } = alias;
        let path: Vec<String> = name.name.split('.').map(str::to_owned).collect();
        let first = path.first().cloned().unwrap_or_default();
        let end = name.span.start + u32::try_from(first.len()).unwrap_or(0);
        let (ident, path) = match alias {
            Some(alias) => (alias.clone(), path),
            None => (Ident { name: first.clone(), span: Span { end, ..name.span } }, vec![first]),
        };
        let file = names.find_module(name.span.file, 0, &path);
        self.bind(scope, &ident, SymbolKind::Module(file));
    }

    fn import_from(&mut self, scope: usize, alias: &Alias, path: ModulePath) {
        let Alias { name, alias } = alias;
        if name.name == "*" {
            self.scopes[scope].stars.push(path);
            return;
        }
        if name.name.is_empty() {
            return;
        }
        let (file, owner) = (name.span.file, self.scopes[scope].owner);
        let position = self.imports.len();
        let bound = alias.as_ref().unwrap_or(name).clone();
        let at = (file, name.span.start);
        self.imported.insert(at, position);
        self.bound.insert((file, bound.span.start), (scope, bound.name.clone(), OccurrenceRole::Import));
        self.scopes[scope].entries.entry(bound.name).or_insert(ScopeEntry::Import(position));
        let (name, alias) = (name.clone(), alias.clone());
        self.imports.push(Import { file, path, name, alias, owner, symbol: None });
    }

    fn external(&mut self, scope: usize, alias: &Alias) {
        let name = &alias.name;
        if name.name.is_empty() || name.name == "*" {
            return;
        }
        let id = match self.externals.get(&name.name) {
            Some(&id) => {
                self.symbols[id.0].bindings.push(name.span);
                id
            }
            None => {
                let id = self.add(&name.name, SymbolKind::External, name.span, None);
                self.externals.insert(name.name.clone(), id);
                id
            }
        };
        let bound = alias.alias.as_ref().unwrap_or(name);
        for ident in [name, bound] {
            let at = (ident.span.file, ident.span.start);
            self.bound.insert(at, (scope, bound.name.clone(), OccurrenceRole::Import));
        }
        self.scopes[scope].entries.insert(bound.name.clone(), ScopeEntry::Symbol(id));
    }

    fn assign(&mut self, scope: usize, target: &Expr) {
        match &target.kind {
            ExprKind::Name(name) => {
                let kind = self.kind_of_assigned(scope);
                self.bind(scope, &Ident { name: name.clone(), span: target.span }, kind);
            }
            ExprKind::Subscript(value, _) | ExprKind::Starred(value) => self.assign(scope, value),
            ExprKind::Tuple(parts) | ExprKind::List(parts) => {
                parts.iter().for_each(|it| self.assign(scope, it));
            }
            _ => {}
        }
    }

    fn kind_of_assigned(&self, scope: usize) -> SymbolKind {
        match self.scopes[scope].owner.map(|it| self.symbol(it).kind) {
            Some(SymbolKind::Stencil) => SymbolKind::Temporary,
            Some(SymbolKind::Function) => SymbolKind::Local,
            Some(SymbolKind::Class) => SymbolKind::Member,
            _ => SymbolKind::Constant,
        }
    }
}
