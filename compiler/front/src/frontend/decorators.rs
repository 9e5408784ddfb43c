//! Which functions are decorated as stencils, by whatever name a file calls the decorators of GTScript.

use std::collections::BTreeSet;

use super::syntax::{Expr, ExprKind, FunctionDef, Module, Stmt, StmtKind};
use crate::diag::{Similar, similar};

/// The decorators of stencils.
pub const STENCIL: [&str; 2] = ["stencil", "lazy_stencil"];
/// All decorators of GTScript.
const ALL: [&str; 5] = ["stencil", "lazy_stencil", "function", "lazy_function", "enum"];

/// The function of a decorator: the one that it calls, or the decorator itself.
#[must_use]
pub fn callee(decorator: &Expr) -> &Expr {
    match &decorator.kind {
        ExprKind::Call { function, .. } => function,
        _ => decorator,
    }
}

/// The decorator of GTScript that a misspelt one was meant to be; none where there is such a decorator.
#[must_use]
pub fn slip(name: &str) -> Option<Similar> {
    if ALL.contains(&name) { None } else { similar(name, ALL) }
}

/// Marks the functions that are decorated as stencils, also by a misspelt name.
pub(super) fn mark(module: &mut Module) {
    let mut bound = TopLevelNames::default();
    bound.read(&module.body);
    bound.mark(&mut module.body);
}

/// The names that the top level of a file binds.
#[derive(Debug, Default)]
struct TopLevelNames {
    /// Names of GTScript's module.
    gtscript: BTreeSet<String>,
    /// Names of its decorators of stencils.
    stencil: BTreeSet<String>,
    others: BTreeSet<String>,
    has_star: bool,
}

impl TopLevelNames {
    fn read(&mut self, body: &[Stmt]) {
        for stmt in body {
            match &stmt.kind {
                StmtKind::Import(names) => {
                    for it in names {
                        let path = &it.name.name;
                        match &it.alias {
                            Some(alias) if is_gtscript(path) => self.gtscript.insert(alias.name.clone()),
                            Some(alias) => self.others.insert(alias.name.clone()),
                            None => self.others.insert(path.split('.').next().unwrap_or(path).to_owned()),
                        };
                    }
                }
                StmtKind::ImportFrom { module, names, .. } => {
                    for it in names {
                        let bound = it.alias.as_ref().unwrap_or(&it.name).name.clone();
                        let name = &*it.name.name;
                        self.has_star |= name == "*";
                        if name == "gtscript" {
                            self.gtscript.insert(bound);
                        } else if STENCIL.contains(&name) && is_of_language(module) {
                            self.stencil.insert(bound);
                        } else {
                            self.others.insert(bound);
                        }
                    }
                }
                StmtKind::Function(def) => {
                    self.others.insert(def.name.name.clone());
                }
                StmtKind::Assign { targets, .. } => {
                    self.others.extend(targets.iter().filter_map(Expr::as_name).map(str::to_owned));
                }
                StmtKind::If { .. } | StmtKind::Try { .. } => {
                    stmt.blocks().into_iter().for_each(|it| self.read(it));
                }
                _ => {}
            }
        }
    }

    fn mark(&self, body: &mut [Stmt]) {
        for stmt in body {
            match &mut stmt.kind {
                StmtKind::Function(def) => {
                    def.is_stencil = !def.is_function && self.decorates(def);
                    self.mark(&mut def.body);
                }
                StmtKind::Class(def) => self.mark(&mut def.body),
                _ => stmt.blocks_mut().into_iter().for_each(|it| self.mark(it)),
            }
        }
    }

    fn decorates(&self, def: &FunctionDef) -> bool {
        def.decorators.iter().any(|it| {
            let dotted = callee(it).as_dotted();
            dotted.is_some_and(|it| match it[..] {
                [name] if self.stencil.contains(name) => true,
                // Numba and others have a decorator of that name.
                [name] if self.others.contains(name) => false,
                [name] => STENCIL.contains(&name) || !self.has_star && is_slip(name),
                [root, .., name] => {
                    let is_of_gtscript =
                        self.gtscript.contains(root) || it[..it.len() - 1].contains(&"gtscript");
                    is_of_gtscript && (STENCIL.contains(&name) || is_slip(name))
                }
                [] => false,
            })
        })
    }
}

fn is_slip(name: &str) -> bool {
    slip(name).is_some_and(|it| STENCIL.contains(&&*it.name))
}

fn is_gtscript(path: &str) -> bool {
    path.split('.').next_back() == Some("gtscript")
}

fn is_of_language(module: &str) -> bool {
    module.split('.').any(|it| matches!(it, "gt4py" | "gtscript" | "__gtscript__" | "ndsl" | "pace"))
}
