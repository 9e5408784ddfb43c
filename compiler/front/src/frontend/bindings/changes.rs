//! The changes that statements make to the objects that names stand for.
//!
//! Statements assign elements and attributes of such an object, call its methods, and pass it to functions.

use std::rc::Rc;

use super::{AttributeStore, FileNames, Guard, ObjectChange, UnresolvedChange};
use crate::diag::Span;
use crate::frontend::ids::ScopeId;
use crate::frontend::makers::{Maker, may_build};
use crate::frontend::syntax::{Expr, ExprKind, Foreign, Keyword, Stmt, StmtKind};

/// Methods of lists, dicts and sets that make them others.
const METHODS_THAT_CHANGE: [&str; 11] = [
    "append",
    "extend",
    "insert",
    "remove",
    "pop",
    "clear",
    "sort",
    "reverse",
    "update",
    "setdefault",
    "add",
];

/// Methods of lists, dicts, strings and arrays that leave them alone.
const HARMLESS_METHODS: [&str; 18] = [
    "get",
    "items",
    "keys",
    "values",
    "copy",
    "index",
    "count",
    "format",
    "join",
    "split",
    "lower",
    "upper",
    "startswith",
    "endswith",
    "tolist",
    "item",
    "astype",
    "strip",
];

impl<'p> FileNames<'p> {
    /// Collects the changes that a statement makes to objects with names, and the names that it binds inside
    /// expressions.
    pub(super) fn collect_changes(&mut self, scope: ScopeId, stmt: &'p Stmt, guards: &[Guard<'p>]) {
        match &stmt.kind {
            StmtKind::Assign { targets, .. } => {
                targets.iter().for_each(|it| self.stored(scope, it, stmt, guards));
            }
            StmtKind::AugAssign { target, .. } => match target.as_name() {
                // A list stays the same object.
                Some(name) => self.changed(scope, name, stmt.span, None, None),
                None => self.stored(scope, target, stmt, guards),
            },
            StmtKind::AnnAssign { target, value: Some(_), .. } => self.stored(scope, target, stmt, guards),
            StmtKind::Other { what: "del", targets, .. } => {
                for it in targets.iter().filter(|it| it.as_name().is_none()) {
                    self.stored_deeply(scope, it, stmt.span);
                }
            }
            StmtKind::For { target, .. } => self.stored(scope, target, stmt, guards),
            _ => {}
        }
        let whole = match &stmt.kind {
            StmtKind::Expr(it) => Some(it),
            _ => None,
        };
        stmt.each_own_expr(&mut |own| {
            own.walk(&mut |it| match &it.kind {
                ExprKind::Other(_, Some(inner)) => {
                    if let Foreign::Assignment { target, .. } = &**inner {
                        self.bind_unknown(scope, target, guards, "it is assigned inside of an expression");
                    }
                }
                ExprKind::Call { function, args, keywords } => {
                    let is_whole = whole.is_some_and(|whole| std::ptr::eq(whole, it));
                    self.called(scope, function, args, keywords, (stmt, is_whole), guards);
                }
                _ => {}
            });
        });
    }

    /// Notes that a call may change its arguments, and the object of its method.
    fn called(
        &mut self,
        scope: ScopeId,
        function: &'p Expr,
        args: &'p [Expr],
        keywords: &'p [Keyword],
        (stmt, is_whole): (&'p Stmt, bool),
        guards: &[Guard<'p>],
    ) {
        let span = stmt.span;
        match (function.as_name(), args) {
            (Some("setattr" | "delattr"), [object, rest @ ..]) => {
                let name = match rest.first().map(|it| &it.kind) {
                    Some(ExprKind::Str(name)) => Some(name.as_str()),
                    _ => None,
                };
                self.stores.push(AttributeStore { scope, span, object, name });
                if let Some(root) = root_of(object) {
                    self.changed(scope, root, span, None, None);
                }
                return;
            }
            (Some("exec"), [_]) if keywords.is_empty() => self.rewritten = self.rewritten.or(Some(span)),
            _ => {}
        }
        if let ExprKind::Attribute(object, method) = &function.kind {
            if is_table_of_names(object) && METHODS_THAT_CHANGE.contains(&&*method.name) {
                self.rewritten = self.rewritten.or(Some(span));
            }
            match object.as_name() {
                Some(root) if is_whole && METHODS_THAT_CHANGE.contains(&&*method.name) => {
                    self.changed(scope, root, span, None, Some((stmt, guards.into())));
                }
                _ => {
                    if let Some(root) = root_of(object).filter(|_| !HARMLESS_METHODS.contains(&&*method.name))
                    {
                        self.changed(scope, root, span, Some(function), None);
                    }
                }
            }
        }
        if Maker::of(function).is_some() || may_build(keywords) {
            return;
        }
        for it in args.iter().chain(keywords.iter().map(|it| &it.value)) {
            let it = if let ExprKind::Starred(inner) = &it.kind { inner } else { it };
            if let Some(root) = root_of(it) {
                self.changed(scope, root, span, Some(function), None);
                if it.as_name().is_none()
                    && let Some(last) = self.found.last_mut()
                {
                    last.change.passed = Some(it);
                }
            }
        }
    }

    /// `name[...] = value`, `name.attribute = value`, and what is deeper.
    fn stored(&mut self, scope: ScopeId, target: &'p Expr, stmt: &'p Stmt, guards: &[Guard<'p>]) {
        match &target.kind {
            ExprKind::Tuple(parts) | ExprKind::List(parts) => {
                parts.iter().for_each(|it| self.stored_deeply(scope, it, stmt.span));
            }
            // Attributes that methods assign have bindings of their own.
            ExprKind::Attribute(object, _) if self.is_this(scope, object) => {}
            ExprKind::Subscript(object, _) | ExprKind::Attribute(object, _) => {
                self.store(scope, target, stmt.span);
                if is_table_of_names(object) {
                    self.rewritten = self.rewritten.or(Some(stmt.span));
                }
                match (object.as_name(), root_of(object)) {
                    (Some(root), _) => {
                        let behind = Some((stmt, guards.into()));
                        self.changed(scope, root, stmt.span, None, behind);
                    }
                    (None, Some(root)) => self.changed(scope, root, stmt.span, None, None),
                    (None, None) => {}
                }
            }
            _ => {}
        }
    }

    fn stored_deeply(&mut self, scope: ScopeId, target: &'p Expr, span: Span) {
        match &target.kind {
            ExprKind::Tuple(parts) | ExprKind::List(parts) => {
                parts.iter().for_each(|it| self.stored_deeply(scope, it, span));
            }
            ExprKind::Subscript(object, _) | ExprKind::Attribute(object, _) => {
                self.store(scope, target, span);
                if let Some(root) = root_of(object) {
                    self.changed(scope, root, span, None, None);
                }
            }
            _ => {}
        }
    }

    fn store(&mut self, scope: ScopeId, target: &'p Expr, span: Span) {
        if let ExprKind::Attribute(object, name) = &target.kind
            && !self.is_this(scope, object)
        {
            self.stores.push(AttributeStore { scope, span, object, name: Some(&name.name) });
        }
    }

    /// Whether it is `self` in a method.
    fn is_this(&self, scope: ScopeId, object: &Expr) -> bool {
        self.of_scope(scope).this.is_some_and(|(this, _)| object.as_name() == Some(this))
    }

    fn changed(
        &mut self,
        scope: ScopeId,
        root: &'p str,
        span: Span,
        callee: Option<&'p Expr>,
        behind: Option<(&'p Stmt, Rc<[Guard<'p>]>)>,
    ) {
        // In a loop, what the last turn leaves.
        let behind = behind.map(|own| self.around.clone().unwrap_or(own));
        let (at, is_floating, is_followed) = (span.start, false, false);
        let change = ObjectChange { scope, span, at, is_floating, is_followed, callee, passed: None };
        self.found.push(UnresolvedChange { root, change, behind });
    }
}

/// The name that an object is reached by: `a` of `a.b[0].c`.
fn root_of(expr: &Expr) -> Option<&str> {
    match &expr.kind {
        ExprKind::Name(name) => Some(name),
        ExprKind::Attribute(value, _) | ExprKind::Subscript(value, _) => root_of(value),
        _ => None,
    }
}

/// `globals()`, `locals()`, `vars()`
fn is_table_of_names(expr: &Expr) -> bool {
    matches!(&expr.kind, ExprKind::Call { function, args, .. }
        if args.is_empty() && matches!(function.as_name(), Some("globals" | "locals" | "vars")))
}
