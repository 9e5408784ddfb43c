//! How a stencil is built: by decorators, and by calls that are handed it.

use super::Builder;
use crate::diag::catalog::{computations, functions, names, warnings};
use crate::diag::{Diagnostic, Similar, Span};
use crate::frontend::arguments::{self, UnknownArgument};
use crate::frontend::builtins::is_language_module;
use crate::frontend::constants::Constant;
use crate::frontend::decorators::{STENCIL, callee, slip};
use crate::frontend::evaluate::{self, Environment};
use crate::frontend::modules::{FunctionId, FunctionInfo};
use crate::frontend::syntax::{Expr, ExprKind, Stmt, StmtKind};

impl<'p> Builder<'_, 'p> {
    /// Tells misspelt decorators and arguments that nothing takes.
    pub(super) fn check_making(&mut self, id: FunctionId, stencil: FunctionInfo<'p>) {
        for decorator in &stencil.def.decorators {
            self.check_decorator(stencil, decorator);
        }
        for UnknownArgument { maker, name, similar } in arguments::unknown(self.names, id) {
            let known: Vec<&str> = maker.listed().collect();
            self.report(warnings::unknown_argument(
                maker.name,
                &name.name,
                name.span,
                &known,
                similar.as_ref(),
            ));
        }
    }

    fn check_decorator(&mut self, stencil: FunctionInfo<'p>, decorator: &'p Expr) {
        let written = callee(decorator);
        let Some(name) = last_ident(written) else { return };
        let Some(similar) = slip(name.0) else { return };
        let is_of_gtscript = match &written.kind {
            // A name that nothing binds.
            ExprKind::Name(name) => self.names.lookup(stencil.scope, stencil.def.span.start, name).is_none(),
            ExprKind::Attribute(module, _) => self.is_gtscript(stencil, module),
            _ => false,
        };
        if is_of_gtscript {
            let whole = self.names.text(written.span);
            self.report(names::unknown_decorator(whole, name.1, &similar));
        }
    }

    /// The decorator that a plain function may have been meant to have.
    fn misspelt_decorator(&self, function: FunctionInfo<'p>) -> Option<(Span, Similar)> {
        function.def.decorators.iter().find_map(|it| {
            let written = callee(it);
            let (name, span) = last_ident(written)?;
            let similar = slip(name).filter(|it| it.name.ends_with("function"))?;
            let is_meant = match &written.kind {
                ExprKind::Attribute(module, _) => self.is_gtscript(function, module),
                _ => self.names.lookup(function.scope, function.def.span.start, name).is_none(),
            };
            is_meant.then_some((span, similar))
        })
    }

    fn is_gtscript(&self, function: FunctionInfo<'p>, module: &Expr) -> bool {
        let environment = Environment::module(function.scope, function.def.span.start);
        match evaluate::expression(self.names, &environment, module) {
            Ok(Constant::Word(word)) => word == "gtscript",
            Ok(Constant::Foreign(path)) => path.last().is_some_and(|it| it == "gtscript"),
            Ok(Constant::Module(file)) => self.names.module_path(file).is_some_and(is_language_module),
            _ => false,
        }
    }

    /// Tells that a stencil has no computation; whether it has none.
    pub(super) fn lacks_computation(&mut self, stencil: FunctionInfo<'p>) -> bool {
        fn has_with(body: &[Stmt]) -> bool {
            body.iter().any(|it| match &it.kind {
                StmtKind::With { .. } => true,
                StmtKind::If { then, otherwise, .. } => has_with(then) || has_with(otherwise),
                _ => false,
            })
        }
        let def = stencil.def;
        if has_with(&def.body) {
            return false;
        }
        let meant = |it: &&Expr| {
            let name = last_ident(callee(it)).map(|it| it.0);
            name.is_some_and(|it| STENCIL.contains(&it) || slip(it).is_some())
        };
        let decorator = def.decorators.iter().find(meant).map_or(def.name.span, |it| callee(it).span);
        self.report(computations::no_computation(&def.name.name, def.name.span, decorator));
        true
    }

    /// The error for a call of a function that has no decorator, or a misspelt one.
    pub(super) fn undecorated(&self, function: FunctionInfo<'p>, call: Span) -> Diagnostic {
        let name = &function.def.name;
        match self.misspelt_decorator(function) {
            Some((span, similar)) => functions::misdecorated_function(&name.name, call, span, &similar),
            None => functions::plain_function(&name.name, call, name.span),
        }
    }
}

/// The last name of a dotted one, with its place.
pub(super) fn last_ident(expr: &Expr) -> Option<(&str, Span)> {
    match &expr.kind {
        ExprKind::Name(name) => Some((name, expr.span)),
        ExprKind::Attribute(_, name) => Some((&name.name, name.span)),
        _ => None,
    }
}
