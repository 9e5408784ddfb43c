//! Which modules a stencil would need that are not among the files: by name, with what comes from each.
//!
//! A page asks for them; a diagnostic says only which name has no value.

use std::collections::BTreeSet;

use super::bindings::BoundValue;
use super::constants::Constant;
use super::evaluate::{self, Environment};
use super::externals::{ExternalKind, ExternalUse, for_each_expr};
use super::given::{self, handed};
use super::modules::{FunctionId, Names, ScopeId};
use super::program::Program;
use super::syntax::{Expr, ExprKind};
use crate::diag::Span;

/// A module that is imported and is not among the files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MissingModule {
    /// As it would be imported from anywhere, as far as the files tell: `model.stencils.basic`.
    pub module: String,
    /// The names that the stencil needs of the module, in alphabetical order.
    pub names: BTreeSet<String>,
    /// The first import.
    pub span: Span,
}

impl MissingModule {
    /// Where it would lie: `model/stencils/basic.py`.
    #[must_use]
    pub fn path(&self) -> String {
        format!("{}.py", self.module.replace('.', "/"))
    }
}

/// How far values are followed through one another.
const MAX_STEPS: usize = 4096;

/// The modules that the stencils which `stencil` means cannot do without, in the order in which they are needed.
#[must_use]
pub fn of(
    program: &Program,
    names: &Names<'_>,
    stencil: Option<&str>,
    externals: &[ExternalUse],
) -> Vec<MissingModule> {
    let Some(main) = program.main else { return Vec::new() };
    let meant = given::meant(names, stencil);
    let ids: Vec<FunctionId> = names
        .functions(main)
        .filter(|(_, it)| meant.iter().any(|(meant, _)| meant.span == it.def.name.span))
        .map(|(id, _)| id)
        .collect();
    let mut search =
        Search { names, found: Vec::new(), waiting: ids.clone(), seen: BTreeSet::new(), steps: MAX_STEPS };
    for id in ids {
        search.builds(id, externals);
    }
    let mut reached = BTreeSet::new();
    while let Some(id) = search.waiting.pop() {
        if reached.insert(id) {
            search.function(id);
        }
    }
    search.found
}

/// Names with all that stands behind their dots, of expressions that are visited from the outside in.
#[derive(Default)]
struct DottedNames<'p> {
    names: Vec<&'p Expr>,
}

impl<'p> DottedNames<'p> {
    fn push(&mut self, expr: &'p Expr) {
        let is_part =
            |whole: &&'p Expr| whole.span.start <= expr.span.start && expr.span.end <= whole.span.end;
        if expr.as_dotted().is_some() && !self.names.last().is_some_and(is_part) {
            self.names.push(expr);
        }
    }
}

struct Search<'s, 'p> {
    names: &'s Names<'p>,
    found: Vec<MissingModule>,
    waiting: Vec<FunctionId>,
    /// Names by scope that were followed already.
    seen: BTreeSet<(ScopeId, String)>,
    steps: usize,
}

impl<'p> Search<'_, 'p> {
    fn function(&mut self, id: FunctionId) {
        let info = self.names.function(id);
        let mut read = DottedNames::default();
        for_each_expr(&info.def.body, &mut |it| read.push(it));
        let parts = info.def.params.iter().flat_map(|it| it.annotation.iter().chain(&it.default));
        for part in parts {
            part.walk(&mut |it| read.push(it));
        }
        let read = read.names;
        // A name that the body binds itself hides the same name of the file.
        let own: BTreeSet<&str> = info.def.params.iter().map(|it| it.name.name.as_str()).collect();
        for expr in read {
            if expr.as_dotted().is_some_and(|it| it.first().is_some_and(|first| !own.contains(first))) {
                self.value(info.scope, info.def.span.start, expr);
            }
        }
    }

    /// The functions that a call hands to a stencil as externals.
    fn builds(&mut self, id: FunctionId, externals: &[ExternalUse]) {
        let is_function = |name: &str| {
            externals.iter().any(|it| it.name == name && matches!(it.kind, ExternalKind::Function { .. }))
        };
        for build in handed(self.names, id) {
            let ExprKind::Call { keywords, .. } = &build.call.kind else { continue };
            let given =
                keywords.iter().filter(|it| it.name.as_ref().is_some_and(|it| it.name == "externals"));
            for keyword in given {
                let ExprKind::Dict(entries) = &keyword.value.kind else { continue };
                for (key, value) in entries {
                    if matches!(key.as_ref().map(|it| &it.kind), Some(ExprKind::Str(it)) if is_function(it)) {
                        self.value(build.scope, build.call.span.start, value);
                    }
                }
            }
        }
    }

    /// Follows a name, with what stands behind its dots, to a module that is missing or to functions.
    fn value(&mut self, scope: ScopeId, position: u32, expr: &Expr) {
        let Some(dotted) = expr.as_dotted() else { return };
        let Some((&first, _)) = dotted.split_first() else { return };
        if self.steps == 0 || !self.seen.insert((scope, dotted.join("."))) {
            return;
        }
        self.steps -= 1;
        match evaluate::expression(self.names, &Environment::module(scope, position), expr) {
            Ok(Constant::Function(id)) => self.waiting.push(id),
            // Nothing is known of what stands there: it may be a module in a module, or a name in one.
            Ok(Constant::Foreign(path)) if dotted.len() > 1 && !super::builtins::is_builtin_module(&path) => {
                if let Some((last, module)) = path.split_last() {
                    self.missing(module, last, expr.span);
                }
            }
            Ok(_) => {}
            Err(_) => self.binding(scope, first, &dotted),
        }
    }

    /// Follows the binding of a name that has no value.
    fn binding(&mut self, scope: ScopeId, name: &str, dotted: &[&str]) {
        let mut next = Some(scope);
        while let Some(id) = next {
            let bound = self.names.bound(id, name);
            if bound.is_empty() {
                self.stars(id, name);
            }
            for (scope, span, what) in bound {
                match what {
                    BoundValue::From { level, module, name } => {
                        if self.names.find_module(span.file, *level, module).is_none() {
                            let mut path = self.full(span, *level, module);
                            // `from model import ppm`, and then `ppm.p1`: a module, as Python spells those.
                            let of_module = dotted.get(1).filter(|_| name.starts_with(char::is_lowercase));
                            if of_module.is_some() {
                                path.push((*name).to_owned());
                            }
                            self.missing(&path, of_module.unwrap_or(name), span);
                        } else if let Some((scope, position)) = self.names.top_of(span, *level, module) {
                            self.name(scope, position, name);
                        }
                    }
                    BoundValue::Module(path) => {
                        let inner = &dotted[1..dotted.len().max(2) - 1];
                        let mut path = path.clone();
                        path.extend(inner.iter().map(|&it| it.to_owned()));
                        if self.names.find_module(span.file, 0, &path).is_none()
                            && let Some(last) = dotted.last().filter(|_| dotted.len() > 1)
                        {
                            self.missing(&path, last, span);
                        }
                    }
                    BoundValue::Value(value)
                    | BoundValue::Element(value, _)
                    | BoundValue::Augmented(_, _, value) => {
                        let mut read = DottedNames::default();
                        value.walk(&mut |it| read.push(it));
                        for it in read.names {
                            self.value(scope, span.start, it);
                        }
                    }
                    BoundValue::Behind(stmt, _) => {
                        let mut read = DottedNames::default();
                        stmt.each_own_expr(&mut |it| it.walk(&mut |it| read.push(it)));
                        for it in read.names {
                            self.value(scope, span.start, it);
                        }
                    }
                    BoundValue::Function(_)
                    | BoundValue::Class(_)
                    | BoundValue::This(_)
                    | BoundValue::Unknown(_) => {}
                }
            }
            next = self.names.parent(id);
        }
    }

    /// A name of another file, as if it were written there.
    fn name(&mut self, scope: ScopeId, position: u32, name: &str) {
        if self.steps == 0 || !self.seen.insert((scope, name.to_owned())) {
            return;
        }
        self.steps -= 1;
        match self.names.lookup(scope, position, name) {
            Some(Ok(Constant::Function(id))) => self.waiting.push(id),
            Some(Ok(_)) | None => {}
            Some(Err(_)) => self.binding(scope, name, &[name]),
        }
    }

    /// Notes that `from module import *` may have brought the name.
    fn stars(&mut self, scope: ScopeId, name: &str) {
        for (span, level, module) in self.names.starred(scope) {
            if self.names.find_module(span.file, level, module).is_none() {
                let path = self.full(span, level, module);
                self.missing(&path, name, span);
            }
        }
    }

    /// The path of a module from the outermost folder, as far as the files tell.
    fn full(&self, span: Span, level: u32, module: &[String]) -> Vec<String> {
        let importer = self.names.module_path(span.file).unwrap_or_default();
        let up = (level as usize).min(importer.len());
        let around = if level == 0 { &[][..] } else { &importer[..importer.len() - up] };
        [around, module].concat()
    }

    fn missing(&mut self, path: &[String], name: &str, span: Span) {
        // A module that is installed with Python is no file to add.
        if path.is_empty() || super::builtins::is_installed_module(path) {
            return;
        }
        let module = path.join(".");
        let at = self.found.iter().position(|it| it.module == module).unwrap_or_else(|| {
            self.found.push(MissingModule { module, names: BTreeSet::new(), span });
            self.found.len() - 1
        });
        if let Some(it) = self.found.get_mut(at) {
            it.names.insert(name.to_owned());
        }
    }
}
