//! Classes that may be programs: they have a constructor, and a method that calls stencils.

use super::program::{SourceFile, parse};
use super::syntax::{Expr, ExprKind, FunctionDef, Param, Sign, StmtKind};
use crate::config::External;
use crate::diag::{Diagnostics, Span};
use crate::project::Project;

/// A class with a method that can be a program.
#[derive(Clone, Debug, PartialEq)]
pub struct ModelClass {
    pub name: String,
    /// The place of its name.
    pub span: Span,
    /// The whole class.
    pub whole: Span,
    /// Its methods without an underscore in front, and `__call__` first.
    pub methods: Vec<String>,
    /// The parameters of its constructor behind `self`.
    pub constructor: Vec<ConstructorParam>,
}

/// A parameter of a constructor.
#[derive(Clone, Debug, PartialEq)]
pub struct ConstructorParam {
    pub name: String,
    /// A number or a condition that stands for it where a caller gives none.
    pub default: Option<External>,
    /// Whether its annotation is a floating-point type.
    pub is_float: bool,
}

impl ConstructorParam {
    fn new(param: &Param) -> Self {
        let is_float =
            |it: &Expr| matches!(&it.kind, ExprKind::Name(name) if name == "float" || name == "Float");
        Self {
            name: param.name.name.clone(),
            default: param.default.as_ref().and_then(number),
            is_float: param.annotation.as_ref().is_some_and(is_float),
        }
    }
}

/// A number or a condition that is written out.
fn number(expr: &Expr) -> Option<External> {
    match &expr.kind {
        ExprKind::Int(it) => Some(External::Int(*it)),
        ExprKind::Float(it) => Some(External::Float(*it)),
        ExprKind::Bool(it) => Some(External::Bool(*it)),
        ExprKind::Unary(Sign::Minus, inner) => match number(inner)? {
            External::Int(it) => it.checked_neg().map(External::Int),
            External::Float(it) => Some(External::Float(-it)),
            _ => None,
        },
        _ => None,
    }
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
        let defs: Vec<&FunctionDef> = defs.collect();
        let names: Vec<&str> = defs.iter().map(|it| it.name.name.as_str()).collect();
        let Some(init) = defs.iter().find(|it| it.name.name == "__init__") else { continue };
        let mut methods: Vec<String> =
            names.iter().filter(|it| !it.starts_with('_')).map(|&it| it.to_owned()).collect();
        if names.contains(&"__call__") {
            methods.insert(0, "__call__".to_owned());
        }
        if !methods.is_empty() {
            let (name, span) = (class.name.name.clone(), class.name.span);
            let constructor = init.params.iter().skip(1).map(ConstructorParam::new).collect();
            found.push(ModelClass { name, span, whole: stmt.span, methods, constructor });
        }
    }
    found
}
