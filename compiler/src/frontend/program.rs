//! The files of a project as syntax trees, and the stencils among them.

use std::sync::Arc;

use super::limits::MAX_FILES;
use super::parse as parser;
use super::syntax::{Alias, ExprKind, FunctionDef, Module, Stmt, StmtKind};
use crate::diag::catalog::syntax as catalog;
use crate::diag::{Diagnostics, FileId, Span};
use crate::project::Project;

/// Every file of a project, parsed; a file with syntax errors as far as it was understood.
#[derive(Clone, Debug, Default)]
pub struct Program {
    /// In the order of the project's files, so that a [`FileId`] finds its file.
    pub files: Vec<SourceFile>,
    /// `None` where the project names a main file that it does not have.
    pub main: Option<FileId>,
}

/// A parsed file.
#[derive(Clone, Debug, Default)]
pub struct SourceFile {
    /// The path without `.py` and a final `__init__`, in parts: `model`, `stencils`, `ppm`.
    pub module: Vec<String>,
    /// Whether it is the `__init__.py` of its package: relative imports then start there.
    pub is_package: bool,
    pub text: Arc<str>,
    pub syntax: Module,
}

/// A stencil of the main file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StencilName {
    pub name: String,
    /// The name in its `def`.
    pub span: Span,
    pub file: FileId,
}

/// Parses every file; what is wrong with their syntax goes to `diagnostics`.
pub fn parse(project: &Project, diagnostics: &mut Diagnostics) -> Program {
    let mut program = Program { files: Vec::new(), main: project.main_id() };
    for (position, (name, text)) in project.files.iter().enumerate() {
        let Some(file) = u16::try_from(position).ok().filter(|_| position < MAX_FILES).map(FileId) else {
            diagnostics.push(catalog::too_many_files(project.files.len(), MAX_FILES));
            break;
        };
        let mut module: Vec<String> = name
            .strip_suffix(".py")
            .unwrap_or(name)
            .split('/')
            .filter(|it| !it.is_empty() && *it != ".")
            .map(str::to_owned)
            .collect();
        let is_package = module.last().is_some_and(|it| it == "__init__");
        if is_package {
            module.pop();
        }
        let syntax = parser::module(file, text, diagnostics);
        program.files.push(SourceFile { module, is_package, text: Arc::from(text.as_str()), syntax });
    }
    if program.main.is_none() {
        diagnostics.push(catalog::main_file_missing(&project.main, project.files.keys()));
    }
    program
}

impl Program {
    /// The text at a place; empty for a place that the files do not have.
    #[must_use]
    pub fn text(&self, span: Span) -> &str {
        let text = self.files.get(usize::from(span.file.0)).map_or("", |it| &it.text);
        text.get(span.start as usize..span.end as usize).unwrap_or("")
    }

    /// The stencils of the main file, in order of the text: every function whose
    /// body has a `with computation(...)`, those inside functions and classes too.
    #[must_use]
    pub fn stencils(&self) -> Vec<StencilName> {
        let Some(file) = self.main.and_then(|it| self.files.get(usize::from(it.0))) else {
            return Vec::new();
        };
        let mut found = Vec::new();
        for_each_function(&file.syntax.body, &mut |function| {
            if is_stencil(function) {
                let name = &function.name;
                found.push(StencilName { name: name.name.clone(), span: name.span, file: name.span.file });
            }
        });
        found
    }

    /// What the files import from `__externals__`, each name once, in order of the text;
    /// of all stencils only what the one called `stencil` in the main file imports, if there is one.
    #[must_use]
    pub fn imported_externals(&self, stencil: Option<&str>) -> Vec<String> {
        let mut found = Vec::new();
        for file in &self.files {
            for_each_function(&file.syntax.body, &mut |function| {
                let is_other =
                    |wanted| wanted != function.name.name || self.main != Some(function.name.span.file);
                if is_stencil(function) && stencil.is_some_and(is_other) {
                    return;
                }
                for_each_external(&function.body, &mut |alias, _| {
                    if !found.contains(&alias.name.name) {
                        found.push(alias.name.name.clone());
                    }
                });
            });
        }
        found
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

/// Whether the function is decorated as a GTScript function: `@function`, `@gtscript.function`,
/// `@lazy_function(...)`, `@function_collection("name")`.
#[must_use]
pub fn is_function(function: &FunctionDef) -> bool {
    function.decorators.iter().any(|decorator| {
        let name = match &decorator.kind {
            ExprKind::Call { function, .. } => function,
            _ => decorator,
        };
        name.as_dotted().is_some_and(|it| {
            matches!(it.last(), Some(&"function" | &"lazy_function" | &"function_collection"))
        })
    })
}

/// Whether the function's own body has a `with computation(...)`, and it is not decorated as a function.
#[must_use]
pub fn is_stencil(function: &FunctionDef) -> bool {
    // A stencil may hold the `with` behind an `if` by mistake; it is still meant as one.
    fn has_computation(body: &[Stmt]) -> bool {
        body.iter().any(|stmt| match &stmt.kind {
            StmtKind::With { items, .. } => items.iter().any(|it| match &it.context.kind {
                ExprKind::Call { function, .. } => {
                    function.as_dotted().is_some_and(|it| it.last() == Some(&"computation"))
                }
                _ => false,
            }),
            StmtKind::If { then, otherwise, .. } => has_computation(then) || has_computation(otherwise),
            _ => false,
        })
    }
    has_computation(&function.body) && !is_function(function)
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
            StmtKind::If { then, otherwise, .. } => {
                for_each_function(then, each);
                for_each_function(otherwise, each);
            }
            StmtKind::Try { body, fallback } => {
                for_each_function(body, each);
                for_each_function(fallback, each);
            }
            StmtKind::While { body, .. } | StmtKind::With { body, .. } | StmtKind::Other { body, .. } => {
                for_each_function(body, each);
            }
            _ => {}
        }
    }
}
