//! The files of a project as syntax trees, and the stencils among them.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, OnceLock};

use super::imports::{ModuleFiles, ModuleReference, assigned_attributes, imported};
use super::limits::MAX_FILES;
use super::parse as parser;
use super::syntax::{Alias, Expr, ExprKind, FunctionDef, Ident, Module, Stmt, StmtKind, WithItem};
use crate::diag::catalog::syntax as catalog;
use crate::diag::mend::mend;
use crate::diag::{Diagnostic, Diagnostics, FileId, Fix, Span, TextEdit, similar};
use crate::project::Project;

/// The files of a project; each is parsed when something of it is first needed.
#[derive(Clone, Debug, Default)]
pub struct Program {
    /// In the order of the project's files, so that a [`FileId`] finds its file.
    pub files: Vec<Arc<SourceFile>>,
    /// `None` where the project names a main file that it does not have.
    pub main: Option<FileId>,
    by_name: OnceLock<ModuleFiles>,
}

/// A file with its syntax tree.
#[derive(Debug)]
pub struct SourceFile {
    pub id: FileId,
    pub name: Arc<str>,
    pub text: Arc<str>,
    /// The path without `.py` and a final `__init__`, in parts: `model`, `stencils`, `ppm`.
    pub module: Vec<String>,
    /// Whether it is the `__init__.py` of its package: relative imports then start there.
    pub is_package: bool,
    parsed: OnceLock<(Module, Diagnostics)>,
    imported: OnceLock<BTreeSet<ModuleReference>>,
    assigned: OnceLock<BTreeSet<Box<str>>>,
}

impl SourceFile {
    fn new(id: FileId, name: &str, text: Arc<str>) -> Self {
        let path = name.strip_suffix(".py").unwrap_or(name).split('/');
        let mut module: Vec<String> =
            path.filter(|it| !it.is_empty() && *it != ".").map(str::to_owned).collect();
        let is_package = module.last().is_some_and(|it| it == "__init__");
        if is_package {
            module.pop();
        }
        let (parsed, imported, assigned) = (OnceLock::new(), OnceLock::new(), OnceLock::new());
        Self { id, name: name.into(), text, module, is_package, parsed, imported, assigned }
    }

    /// The syntax tree; of a file with syntax errors as far as it was understood.
    #[must_use]
    pub fn syntax(&self) -> &Module {
        &self.parsed().0
    }

    /// The errors in the syntax.
    #[must_use]
    pub fn errors(&self) -> &Diagnostics {
        &self.parsed().1
    }

    /// The modules that it may import.
    pub(super) fn imported(&self) -> &BTreeSet<ModuleReference> {
        self.imported.get_or_init(|| imported(&self.syntax().body))
    }

    /// The attributes that it may assign, as its text tells.
    pub(super) fn assigned(&self) -> &BTreeSet<Box<str>> {
        self.assigned.get_or_init(|| assigned_attributes(&self.text))
    }

    /// Every function that is meant as a stencil, those inside functions and classes too, in order of the text.
    /// Of two with one path the last one wins, as in Python.
    #[must_use]
    pub fn stencils(&self) -> Vec<StencilName> {
        let mut all: Vec<StencilName> = Vec::new();
        let mut last: BTreeMap<String, usize> = BTreeMap::new();
        for_each_stencil(&self.syntax().body, "", &mut |path, function| {
            let Ident { name, span } = &function.name;
            last.insert(path.clone(), all.len());
            all.push(StencilName {
                name: name.clone(),
                path,
                span: *span,
                whole: function.span,
                file: self.id,
            });
        });
        let mut found: Vec<StencilName> =
            (0..).zip(all).filter(|(at, it)| last.get(&it.path) == Some(at)).map(|(_, it)| it).collect();
        let mut known: BTreeMap<String, usize> = BTreeMap::new();
        for it in &found {
            *known.entry(it.name.clone()).or_default() += 1;
        }
        for it in found.iter_mut().filter(|it| known.get(&it.name).is_some_and(|&n| n > 1)) {
            it.name.clone_from(&it.path);
        }
        found
    }

    /// Whether the statements that a fix changes can be read as well as before.
    fn is_readable_with(&self, fix: &Fix) -> bool {
        let is_touched = |stmt: &&Stmt| {
            fix.edits.iter().any(|it| it.span.start <= stmt.span.end && stmt.span.start <= it.span.end)
        };
        if fix.edits.iter().any(|it| it.span.file != self.id) {
            return false;
        }
        let touched = || self.syntax().body.iter().filter(is_touched).map(|it| it.span);
        let edits = || fix.edits.iter().map(|it| it.span);
        let Some(whole) = touched().chain(edits()).reduce(Span::to) else { return false };
        // A comment behind a fix belongs to its line, and its line break to the statement.
        let rest = self.text.get(whole.end as usize..).and_then(|it| it.split_inclusive('\n').next());
        let end = whole.end as usize + rest.map_or(0, str::len);
        let Some(text) = self.text.get(whole.start as usize..end) else { return false };
        let edits = fix.edits.iter().map(|it| TextEdit {
            span: Span { start: it.span.start - whole.start, end: it.span.end - whole.start, ..it.span },
            text: it.text.clone(),
        });
        let fix = Fix { title: String::new(), edits: edits.collect() };
        let (mended, count) = mend(text, self.id, [&fix]);
        let faults = parser::faults(&mended);
        count == 1 && (faults == 0 || faults <= parser::faults(text))
    }

    fn parsed(&self) -> &(Module, Diagnostics) {
        self.parsed.get_or_init(|| {
            let mut found = Diagnostics::default();
            let syntax = parser::module(self.id, &self.text, &mut found);
            (syntax, found)
        })
    }
}

/// A stencil of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StencilName {
    /// Its name within the file: its own name, or its path where several stencils have the same name.
    pub name: String,
    /// Its own name behind those of the classes and functions around it: `Model.advect`, `make.advect`.
    pub path: String,
    /// The name in its `def`.
    pub span: Span,
    /// From `def` or the first decorator to the end.
    pub whole: Span,
    pub file: FileId,
}

/// The stencils that a name means: the one whose path it is, or else all whose path ends with it.
#[must_use]
pub fn named<'s>(stencils: &'s [StencilName], name: &str) -> Vec<&'s StencilName> {
    if let Some(exact) = stencils.iter().find(|it| it.path == name) {
        return vec![exact];
    }
    let ends_so = |it: &&StencilName| it.path.strip_suffix(name).is_some_and(|it| it.ends_with('.'));
    stencils.iter().filter(ends_so).collect()
}

/// Parsed files, kept from one compilation to the next: after an edit one file is parsed anew.
#[derive(Debug, Default)]
pub struct ParsedFiles {
    /// By path, the latest text last.
    known: BTreeMap<Arc<str>, Vec<Arc<SourceFile>>>,
}

/// So many fixes are read to see that they are sound; more wait until these are carried out.
const MOST_FIXES: usize = 64;

/// How many texts of one path are kept: the one before an edit, and after it is undone.
const VERSIONS: usize = 4;

impl ParsedFiles {
    /// The files of a project, as many as a compilation takes, in its order.
    pub fn of(&mut self, project: &Project) -> Vec<Arc<SourceFile>> {
        if self.known.len() > 2 * MAX_FILES {
            self.known.retain(|name, _| project.files.contains_key(&**name));
        }
        let files = (0..).map(FileId).zip(&project.files).take(MAX_FILES);
        files.map(|(id, (name, text))| self.file(id, name, text)).collect()
    }

    fn file(&mut self, id: FileId, name: &str, text: &Arc<str>) -> Arc<SourceFile> {
        if let Some(versions) = self.known.get_mut(name) {
            if let Some(at) = versions
                .iter()
                .position(|it| it.id == id && (Arc::ptr_eq(&it.text, text) || it.text == *text))
            {
                let found = versions.remove(at);
                versions.push(Arc::clone(&found));
                return found;
            }
            if versions.len() == VERSIONS {
                versions.remove(0);
            }
        }
        let file = Arc::new(SourceFile::new(id, name, Arc::clone(text)));
        self.known.entry(Arc::clone(&file.name)).or_default().push(Arc::clone(&file));
        file
    }
}

/// The files of a project, without memory of others; what is wrong with the main file goes to `diagnostics`.
pub fn parse(project: &Project, diagnostics: &mut Diagnostics) -> Program {
    Program::new(project, ParsedFiles::default().of(project), diagnostics)
}

impl Program {
    /// The text at a place; empty for a place that the files do not have.
    #[must_use]
    pub fn text(&self, span: Span) -> &str {
        let text = self.files.get(usize::from(span.file.0)).map_or("", |it| &it.text);
        text.get(span.start as usize..span.end as usize).unwrap_or("")
    }

    /// Leaves out what is said of lines whose syntax is broken, but for their syntax, and fixes that cannot be trusted.
    ///
    /// A fix stands where the statement that it changes can be read, before and after it.
    #[must_use]
    pub fn sound(&self, mut found: Vec<Diagnostic>) -> Vec<Diagnostic> {
        let read = |file: FileId| self.files.get(usize::from(file.0)).filter(|it| it.parsed.get().is_some());
        let is_in = |span: Span, lines: fn(&Module) -> &[Span]| {
            read(span.file).is_some_and(|it| {
                lines(it.syntax()).iter().any(|line| line.start <= span.end && span.start <= line.end)
            })
        };
        let is_syntax = |it: &Diagnostic| it.code == catalog::SYNTAX;
        let is_guesswork =
            |it: &Diagnostic| it.primary.as_ref().is_some_and(|it| is_in(it.span, |it| it.broken.as_slice()));
        found.retain(|it| is_syntax(it) || !is_guesswork(it));
        let mut n_read = 0;
        for it in found.iter_mut().filter(|it| !is_syntax(it)) {
            it.fixes.retain(|fix| {
                n_read += 1;
                let is_apart = |it: &TextEdit| {
                    !is_in(it.span, |it| it.slipped.as_slice()) && !is_in(it.span, |it| it.broken.as_slice())
                };
                let file = fix.edits.first().and_then(|it| read(it.span.file));
                n_read <= MOST_FIXES
                    && fix.edits.iter().all(is_apart)
                    && file.is_some_and(|it| it.is_readable_with(fix))
            });
        }
        found
    }

    /// Makes the program of these files of a project. Errors in the main file go to `diagnostics`.
    ///
    /// Errors in another file are reported once one of its names is needed.
    pub fn new(project: &Project, files: Vec<Arc<SourceFile>>, diagnostics: &mut Diagnostics) -> Self {
        if project.files.len() > files.len() {
            diagnostics.push(catalog::too_many_files(project.files.len(), files.len()));
        }
        let main = project.main_id().filter(|it| usize::from(it.0) < files.len());
        let program = Self { files, main, by_name: OnceLock::new() };
        match program.main_file() {
            Some(main) => diagnostics.extend(main.errors().iter().cloned()),
            None => diagnostics.push(catalog::main_file_missing(&project.main, project.files.keys())),
        }
        program
    }

    /// The files by the last part of their modules.
    pub(super) fn by_name(&self) -> &ModuleFiles {
        self.by_name
            .get_or_init(|| ModuleFiles::of(self.files.iter().map(|it| (it.id, it.module.as_slice()))))
    }

    /// The main file, if it is among the files.
    #[must_use]
    pub fn main_file(&self) -> Option<&Arc<SourceFile>> {
        self.files.get(usize::from(self.main?.0))
    }

    /// The stencils of the main file, in order of the text.
    #[must_use]
    pub fn stencils(&self) -> Vec<StencilName> {
        self.main_file().map_or_else(Vec::new, |it| it.stencils())
    }
}

/// Whether the module is where externals come from.
#[must_use]
pub fn is_externals(module: &str) -> bool {
    module == "__externals__" || module.ends_with(".__externals__")
}

/// Calls `each` for every name that the body of a function imports from `__externals__`,
/// wherever the import stands, with the place of the import.
pub fn for_each_external<'p>(body: &'p [Stmt], each: &mut impl FnMut(&'p Alias, Span)) {
    for stmt in body {
        match &stmt.kind {
            StmtKind::ImportFrom { level: 0, module, names } if is_externals(module) => {
                names.iter().for_each(|alias| each(alias, stmt.span));
            }
            StmtKind::If { then, otherwise, .. } => {
                for_each_external(then, each);
                for_each_external(otherwise, each);
            }
            StmtKind::While { body, .. } | StmtKind::With { body, .. } => for_each_external(body, each),
            _ => {}
        }
    }
}

/// The words that head a computation.
pub const HEADS: [&str; 3] = ["computation", "interval", "horizontal"];
/// The orders of a computation.
pub const ORDERS: [&str; 3] = ["PARALLEL", "FORWARD", "BACKWARD"];

/// Whether the function is meant as a stencil, and is not decorated as a function.
///
/// It is meant as one if it is decorated so, or if its own body has a `with computation(...)`, possibly
/// misspelt.
#[must_use]
pub fn is_stencil(function: &FunctionDef) -> bool {
    // A stencil may hold the `with` behind an `if` by mistake; it is still meant as one.
    fn has_computation(body: &[Stmt]) -> bool {
        body.iter().any(|stmt| match &stmt.kind {
            StmtKind::With { items, body } => is_computation(items) || looks_like_computation(items, body),
            StmtKind::If { then, otherwise, .. } => has_computation(then) || has_computation(otherwise),
            _ => false,
        })
    }
    !function.is_function && (function.is_stencil || has_computation(&function.body))
}

fn is_computation(items: &[WithItem]) -> bool {
    items.iter().any(|it| called(it) == Some("computation"))
}

/// The function that an item of a `with` calls, without the modules before it.
fn called(item: &WithItem) -> Option<&str> {
    match &item.context.kind {
        ExprKind::Call { function, .. } => last_name(function),
        _ => None,
    }
}

fn last_name(expr: &Expr) -> Option<&str> {
    expr.as_dotted().and_then(|it| it.last().copied())
}

/// Whether a `with` is a computation but for a slip: it has `interval(...)`, or two of a word like `computation`, an
/// order and an interval. Each alone stands in other people's `with`s too.
fn looks_like_computation(items: &[WithItem], body: &[Stmt]) -> bool {
    let is_order = |it: &Expr| last_name(it).is_some_and(|it| ORDERS.contains(&it));
    let has_order = items.iter().any(|it| match &it.context.kind {
        ExprKind::Call { args, keywords, .. } => {
            args.iter().chain(keywords.iter().map(|it| &it.value)).any(is_order)
        }
        _ => is_order(&it.context),
    });
    let takes_all = |it: &WithItem| match &it.context.kind {
        ExprKind::Call { args, .. } => matches!(args.as_slice(), [Expr { kind: ExprKind::Ellipsis, .. }]),
        _ => false,
    };
    let is_interval = |it: &WithItem| {
        called(it).is_some_and(|name| name == "interval" || takes_all(it) && is_like(name, "interval"))
    };
    if items.iter().any(|it| takes_all(it) && called(it) == Some("interval")) {
        return true;
    }
    let below = body.iter().filter_map(|it| match &it.kind {
        StmtKind::With { items, .. } => Some(items),
        _ => None,
    });
    let has_interval = items.iter().chain(below.flatten()).any(is_interval);
    let is_head = |it: &WithItem| {
        let name = called(it).or_else(|| last_name(&it.context));
        name.is_some_and(|it| it == "computation" || is_like(it, "computation"))
    };
    let signs = [items.iter().any(is_head), has_order, has_interval];
    signs.into_iter().filter(|it| *it).count() > 1
}

fn is_like(name: &str, word: &str) -> bool {
    similar(name, [word]).is_some()
}

/// Calls `each` for every stencil below `body` with its path; stencils and GTScript functions hold none.
fn for_each_stencil<'p>(body: &'p [Stmt], around: &str, each: &mut impl FnMut(String, &'p FunctionDef)) {
    let path = |name: &Ident| match around {
        "" => name.name.clone(),
        around => format!("{around}.{}", name.name),
    };
    for stmt in body {
        match &stmt.kind {
            StmtKind::Function(function) if is_stencil(function) => each(path(&function.name), function),
            StmtKind::Function(function) if function.is_function => {}
            StmtKind::Function(function) => for_each_stencil(&function.body, &path(&function.name), each),
            StmtKind::Class(class) => for_each_stencil(&class.body, &path(&class.name), each),
            _ => stmt.blocks().into_iter().for_each(|it| for_each_stencil(it, around, each)),
        }
    }
}

/// Calls `each` for every function below `body`, in order of the text.
pub fn for_each_function<'p>(body: &'p [Stmt], each: &mut impl FnMut(&'p FunctionDef)) {
    for stmt in body {
        match &stmt.kind {
            StmtKind::Function(function) => {
                each(function);
                for_each_function(&function.body, each);
            }
            StmtKind::Class(class) => for_each_function(&class.body, each),
            _ => stmt.blocks().into_iter().for_each(|it| for_each_function(it, each)),
        }
    }
}
