//! Classes that may be programs: they have a constructor, and a method that calls stencils.

use super::program::{SourceFile, parse};
use super::syntax::StmtKind;
use crate::diag::{Diagnostics, Span};
use crate::project::Project;

/// A class with a method that can be a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModelClass {
    pub name: String,
    /// The place of its name.
    pub span: Span,
    /// The whole class.
    pub whole: Span,
    /// Its methods without an underscore in front, and `__call__` first.
    pub methods: Vec<String>,
}

/// A class that a request names in the place of a stencil, and its method.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModelChoice {
    pub class: String,
    pub method: String,
}

impl ModelChoice {
    /// The class and the method of a name: `Diffusion`, `model.Core:step`. `None` where a stencil is meant, as no class
    /// of the main file has the name.
    #[must_use]
    pub fn of(project: &Project, name: &str) -> Option<Self> {
        let (class, method) = name.split_once(':').unwrap_or((name, "__call__"));
        let own = class.rsplit_once('.').map_or(class, |it| it.1);
        let is_meant = name.contains(':') || models(project).iter().any(|it| it.name == own);
        is_meant.then(|| Self { class: class.to_owned(), method: method.to_owned() })
    }
}

/// The classes of a project's main file that may be programs: those with a constructor and another method.
#[must_use]
pub fn models(project: &Project) -> Vec<ModelClass> {
    let program = parse(project, &mut Diagnostics::default());
    program.main_file().map(|it| models_of(it)).unwrap_or_default()
}

/// The classes of a file that may be programs.
#[must_use]
pub fn models_of(file: &SourceFile) -> Vec<ModelClass> {
    let mut found = Vec::new();
    for stmt in &file.syntax().body {
        let StmtKind::Class(class) = &stmt.kind else { continue };
        let defs = class.body.iter().filter_map(|it| match &it.kind {
            StmtKind::Function(def) => Some(def),
            _ => None,
        });
        let names: Vec<&str> = defs.map(|it| it.name.name.as_str()).collect();
        if !names.contains(&"__init__") {
            continue;
        }
        let mut methods: Vec<String> =
            names.iter().filter(|it| !it.starts_with('_')).map(|&it| it.to_owned()).collect();
        if names.contains(&"__call__") {
            methods.insert(0, "__call__".to_owned());
        }
        if !methods.is_empty() {
            let (name, span) = (class.name.name.clone(), class.name.span);
            found.push(ModelClass { name, span, whole: stmt.span, methods });
        }
    }
    found
}
