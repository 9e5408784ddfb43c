//! Goes through the bodies of a file for what they bind, and for the calls that build stencils.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use super::{
    Binding, BoundValue, BuildCall, ClassInfo, FileNames, FunctionInfo, Guard, GuardBranch, IN_A_LOOP,
    Registration, number,
};
use crate::diag::Span;
use crate::frontend::ids::{ClassId, FunctionId, ScopeId};
use crate::frontend::makers::{Maker, may_build};
use crate::frontend::parametrized::{FirstValue, first_values};
use crate::frontend::program::is_stencil;
use crate::frontend::syntax::{Alias, Expr, ExprKind, FunctionDef, Stmt, StmtKind};

const IN_A_MATCH: &str = "it is assigned in a `match`";
const WHILE_RUNNING: &str = "it changes while the file runs";

impl<'p> FileNames<'p> {
    pub(super) fn collect(&mut self, scope: ScopeId, body: &'p [Stmt], guards: &mut Vec<Guard<'p>>) {
        for stmt in body {
            self.collect_builds(scope, stmt);
            self.collect_changes(scope, stmt, guards);
            self.collect_stmt(scope, stmt, guards);
        }
    }

    fn collect_stmt(&mut self, scope: ScopeId, stmt: &'p Stmt, guards: &mut Vec<Guard<'p>>) {
        match &stmt.kind {
            StmtKind::Assign { targets, value } => {
                for target in targets {
                    self.bind_target(scope, target, stmt, guards, Some(value));
                }
            }
            StmtKind::AnnAssign { target, value: Some(value), .. } => {
                self.bind_target(scope, target, stmt, guards, Some(value));
            }
            StmtKind::AugAssign { target, op, value } => match &target.kind {
                ExprKind::Name(name) => {
                    self.bind(scope, name, stmt.span, guards, BoundValue::Augmented(*op, name, value));
                }
                _ => {
                    self.bind_attribute(scope, target, stmt.span, guards, BoundValue::Unknown(WHILE_RUNNING))
                }
            },
            StmtKind::Import(aliases) => {
                for Alias { name, alias } in aliases {
                    let path: Vec<String> = name.name.split('.').map(str::to_owned).collect();
                    match alias {
                        Some(alias) => {
                            self.bind(scope, &alias.name, stmt.span, guards, BoundValue::Module(path));
                        }
                        None => {
                            let first = name.name.split('.').next().unwrap_or(&name.name);
                            let what = BoundValue::Module(vec![first.to_owned()]);
                            self.bind(scope, first, stmt.span, guards, what);
                        }
                    }
                }
            }
            StmtKind::ImportFrom { level, module, names } => {
                let path: Vec<String> =
                    module.split('.').filter(|it| !it.is_empty()).map(str::to_owned).collect();
                for Alias { name, alias } in names {
                    let bound = alias.as_ref().unwrap_or(name);
                    let what = BoundValue::From { level: *level, module: path.clone(), name: &name.name };
                    self.bind(scope, &bound.name, stmt.span, guards, what);
                }
            }
            StmtKind::Function(def) => self.function(scope, def, stmt, guards),
            StmtKind::Class(def) => {
                let inner = self.open(Some(scope));
                let object = self.open(None);
                let id = ClassId { file: self.file, index: number(self.classes.len()) };
                self.scopes[inner.index as usize].class = Some(id);
                self.classes.push(ClassInfo { def, scope, body: inner, object });
                self.bind(scope, &def.name.name, stmt.span, guards, BoundValue::Class(id));
                let around = self.around.take();
                self.collect(inner, &def.body, &mut Vec::new());
                self.around = around;
            }
            StmtKind::If { test, then, otherwise } => {
                self.collect_part(scope, stmt, then, GuardBranch::If(test, true), guards);
                self.collect_part(scope, stmt, otherwise, GuardBranch::If(test, false), guards);
            }
            StmtKind::Try { body, handlers, otherwise, last } => {
                self.collect_part(scope, stmt, body, GuardBranch::Try, guards);
                for (at, handler) in handlers.iter().enumerate() {
                    if let Some(name) = &handler.name {
                        let inside = within(&handler.body, stmt);
                        guards.push(Guard { stmt, inside, part: GuardBranch::Handler(at) });
                        let what = BoundValue::Unknown("it is bound by an `except`");
                        self.bind(scope, &name.name, name.span, guards, what);
                        guards.pop();
                    }
                    self.collect_part(scope, stmt, &handler.body, GuardBranch::Handler(at), guards);
                }
                self.collect_part(scope, stmt, otherwise, GuardBranch::Try, guards);
                self.collect(scope, last, guards);
            }
            StmtKind::With { items, body } => {
                for target in items.iter().filter_map(|it| it.target.as_ref()) {
                    self.bind_unknown(scope, target, guards, "it is bound by a `with`");
                }
                self.collect(scope, body, guards);
            }
            StmtKind::While { .. } => self.collect_loop(scope, stmt, guards, IN_A_LOOP),
            StmtKind::For { target, .. } => {
                let first = self.bindings.len();
                self.bind_unknown(scope, target, guards, IN_A_LOOP);
                self.collect_loop_from(first, scope, stmt, guards, IN_A_LOOP);
            }
            StmtKind::Other { what, targets, .. } => match *what {
                "global" | "nonlocal" => {}
                "match" => {
                    let first = self.bindings.len();
                    targets.iter().for_each(|it| self.bind_unknown(scope, it, guards, IN_A_MATCH));
                    self.collect_loop_from(first, scope, stmt, guards, IN_A_MATCH);
                }
                "del" => {
                    for name in targets.iter().filter_map(Expr::as_name) {
                        self.bind(scope, name, stmt.span, guards, BoundValue::Unknown("it is deleted"));
                    }
                }
                _ => targets.iter().for_each(|it| self.bind_unknown(scope, it, guards, WHILE_RUNNING)),
            },
            StmtKind::Expr(Expr { kind: ExprKind::Call { function, args, keywords }, span }) => {
                if function.as_dotted().is_some_and(|it| it.ends_with(&["FieldBundleType", "register"])) {
                    self.bundles.push(Registration { scope, span: *span, args, keywords });
                }
            }
            StmtKind::AnnAssign { value: None, .. }
            | StmtKind::Return(_)
            | StmtKind::Expr(_)
            | StmtKind::Pass => {}
        }
    }

    /// The statements of one part of a statement.
    fn collect_part(
        &mut self,
        scope: ScopeId,
        stmt: &'p Stmt,
        body: &'p [Stmt],
        part: GuardBranch<'p>,
        guards: &mut Vec<Guard<'p>>,
    ) {
        guards.push(Guard { stmt, inside: within(body, stmt), part });
        self.collect(scope, body, guards);
        guards.pop();
    }

    fn collect_loop(
        &mut self,
        scope: ScopeId,
        stmt: &'p Stmt,
        guards: &mut Vec<Guard<'p>>,
        why: &'static str,
    ) {
        self.collect_loop_from(self.bindings.len(), scope, stmt, guards, why);
    }

    /// Collects the names of a loop, or of a statement that is treated like one.
    ///
    /// Inside of it the values of these names are not known. Behind it they have the values of the last
    /// iteration. The bindings from `first` on already belong to the statement.
    fn collect_loop_from(
        &mut self,
        first: usize,
        scope: ScopeId,
        stmt: &'p Stmt,
        guards: &mut Vec<Guard<'p>>,
        why: &'static str,
    ) {
        let outer = self.around.clone();
        self.around.get_or_insert_with(|| (stmt, guards.as_slice().into()));
        for block in stmt.blocks() {
            self.collect(scope, block, guards);
        }
        let is_outermost = outer.is_none();
        self.around = outer;
        let is_definition =
            |it: &Binding<'p>| matches!(it.what, BoundValue::Function(_) | BoundValue::Class(_));
        let mut inside = BTreeSet::new();
        for index in first..self.bindings.len() {
            let binding = &mut self.bindings[index];
            // A function inside changes names of its own.
            if binding.scope == scope && !is_definition(binding) && !binding.is_floating {
                binding.what = BoundValue::Unknown(why);
                binding.guards = guards.as_slice().into();
                inside.insert(index);
            }
        }
        let of_scope = &self.scopes[scope.index as usize].names;
        let names: Vec<&'p str> = of_scope
            .iter()
            .filter(|(_, them)| them.iter().any(|it| inside.contains(it)))
            .map(|(name, _)| *name)
            .collect();
        for name in names {
            let (span, is_floating) = (stmt.span, false);
            let head = Binding {
                scope,
                span,
                at: span.start,
                is_floating,
                guards: guards.as_slice().into(),
                what: BoundValue::Unknown(why),
            };
            self.bind_in(scope, name, head);
            let what = if is_outermost { BoundValue::Behind(stmt, name) } else { BoundValue::Unknown(why) };
            let at = span.end.saturating_sub(1);
            let guards = guards.as_slice().into();
            self.bind_in(scope, name, Binding { scope, span, at, is_floating, guards, what });
        }
    }

    fn function(&mut self, scope: ScopeId, def: &'p FunctionDef, stmt: &'p Stmt, guards: &[Guard<'p>]) {
        let id = FunctionId { file: self.file, index: number(self.functions.len()) };
        let is_stencil = is_stencil(def);
        let is_gtscript = def.is_function;
        self.functions.push(FunctionInfo { def, scope, is_stencil, is_gtscript, inner: None });
        self.bind(scope, &def.name.name, stmt.span, guards, BoundValue::Function(id));
        if is_stencil || is_gtscript {
            return;
        }
        // A plain function may define stencils, which see its names.
        let inner = self.open(Some(scope));
        self.functions[id.index as usize].inner = Some(inner);
        let mut elsewhere = BTreeMap::new();
        names_elsewhere(&def.body, &mut elsewhere);
        let it = &mut self.scopes[inner.index as usize];
        it.called_after = Some(def.span.end);
        it.elsewhere = elsewhere;
        self.bind_params(scope, inner, def);
        let around = self.around.take();
        self.collect(inner, &def.body, &mut Vec::new());
        self.around = around;
    }

    /// Binds the names of an assignment; without a value they are not known.
    fn bind_target(
        &mut self,
        scope: ScopeId,
        target: &'p Expr,
        stmt: &'p Stmt,
        guards: &[Guard<'p>],
        value: Option<&'p Expr>,
    ) {
        let unknown = || BoundValue::Unknown("it is unpacked from something that is not a tuple of numbers");
        match &target.kind {
            ExprKind::Name(name) => {
                self.bind(scope, name, stmt.span, guards, value.map_or_else(unknown, BoundValue::Value));
            }
            ExprKind::Tuple(parts) | ExprKind::List(parts) => {
                let is_plain = !parts.iter().any(|it| matches!(it.kind, ExprKind::Starred(_)));
                for (position, part) in parts.iter().enumerate() {
                    match (value, &part.kind) {
                        (Some(value), ExprKind::Name(name)) if is_plain => {
                            self.bind(scope, name, stmt.span, guards, BoundValue::Element(value, position));
                        }
                        _ => self.bind_target(scope, part, stmt, guards, None),
                    }
                }
            }
            ExprKind::Starred(inner) => self.bind_target(scope, inner, stmt, guards, None),
            _ => {
                let what = value.map_or_else(unknown, BoundValue::Value);
                self.bind_attribute(scope, target, stmt.span, guards, what);
            }
        }
    }

    /// The names of a target that only running the file gives a value.
    pub(super) fn bind_unknown(
        &mut self,
        scope: ScopeId,
        target: &'p Expr,
        guards: &[Guard<'p>],
        why: &'static str,
    ) {
        match &target.kind {
            ExprKind::Name(name) => self.bind(scope, name, target.span, guards, BoundValue::Unknown(why)),
            ExprKind::Tuple(parts) | ExprKind::List(parts) => {
                parts.iter().for_each(|it| self.bind_unknown(scope, it, guards, why));
            }
            ExprKind::Starred(inner) => self.bind_unknown(scope, inner, guards, why),
            _ => self.bind_attribute(scope, target, target.span, guards, BoundValue::Unknown(why)),
        }
    }

    /// The parameters of a plain function: the object of a method, the first values of a test, or nothing known.
    fn bind_params(&mut self, around: ScopeId, inner: ScopeId, def: &'p FunctionDef) {
        let is_decorated = |name: &str| def.decorators.iter().any(|it| it.as_name() == Some(name));
        let class = self.scopes[around.index as usize].class;
        let class = class.filter(|_| !is_decorated("staticmethod"));
        let listed = first_values(def);
        for (position, param) in def.params.iter().enumerate() {
            let (name, span) = (&param.name.name, param.name.span);
            let first = listed.iter().find(|(it, _)| it == name).map(|(_, it)| *it);
            let what = match (class, first) {
                (Some(class), _) if position == 0 && is_decorated("classmethod") => BoundValue::Class(class),
                (Some(class), _) if position == 0 => {
                    let object = self.classes[class.index as usize].object;
                    self.scopes[inner.index as usize].this = Some((name, object));
                    BoundValue::This(class)
                }
                (_, Some(FirstValue::Whole(value))) => BoundValue::Value(value),
                (_, Some(FirstValue::Element(value, at))) => BoundValue::Element(value, at),
                (_, None) => BoundValue::Unknown("it is a parameter of the function around"),
            };
            let (at, guards) = (span.start, Rc::default());
            self.bind_in(inner, name, Binding { scope: around, span, at, is_floating: false, guards, what });
        }
        for name in &def.variadic {
            let what = BoundValue::Unknown("it is a parameter of the function around");
            self.bind(inner, &name.name, name.span, &[], what);
        }
    }

    /// `self.name = value` in a method.
    fn bind_attribute(
        &mut self,
        scope: ScopeId,
        target: &'p Expr,
        span: Span,
        guards: &[Guard<'p>],
        what: BoundValue<'p>,
    ) {
        if let ExprKind::Attribute(object, name) = &target.kind
            && let Some((this, holder)) = self.scopes[scope.index as usize].this
            && object.as_name() == Some(this)
        {
            let (at, guards) = (span.start, guards.into());
            let binding = Binding { scope, span, at, is_floating: false, guards, what };
            self.bind_in(holder, &name.name, binding);
        }
    }

    /// The calls of a statement's own expressions that may build a stencil.
    fn collect_builds(&mut self, scope: ScopeId, stmt: &'p Stmt) {
        let name = match &stmt.kind {
            StmtKind::Assign { targets, .. } => match targets.as_slice() {
                [target] => last_name(target),
                _ => None,
            },
            StmtKind::AnnAssign { target, .. } => last_name(target),
            _ => None,
        };
        let mut look = |expr: &'p Expr| {
            expr.walk(&mut |it| {
                let ExprKind::Call { function, keywords, .. } = &it.kind else { return };
                let is_curried = match &function.kind {
                    ExprKind::Call { function, keywords, .. } => {
                        may_build(keywords) || Maker::of(function).is_some()
                    }
                    _ => false,
                };
                if is_curried || may_build(keywords) || Maker::of(function).is_some() {
                    self.builds.push(BuildCall { scope, call: it, name });
                }
            });
        };
        match &stmt.kind {
            StmtKind::Assign { value, .. } | StmtKind::AnnAssign { value: Some(value), .. } => look(value),
            StmtKind::Expr(value) | StmtKind::Return(Some(value)) => look(value),
            StmtKind::With { items, .. } => items.iter().for_each(|it| look(&it.context)),
            _ => {}
        }
    }
}

/// The name of a variable, or of the attribute of an object.
fn last_name(expr: &Expr) -> Option<&str> {
    match &expr.kind {
        ExprKind::Name(name) => Some(name),
        ExprKind::Attribute(_, name) => Some(&name.name),
        _ => None,
    }
}

/// From the first statement to the end of the last one.
fn within(body: &[Stmt], stmt: &Stmt) -> Span {
    match body {
        [first, .., last] => Span { end: last.span.end, ..first.span },
        [one] => one.span,
        [] => Span { start: stmt.span.end, ..stmt.span },
    }
}

/// The `global` and `nonlocal` names of a body, with whether the module has them.
fn names_elsewhere<'p>(body: &'p [Stmt], found: &mut BTreeMap<&'p str, bool>) {
    for stmt in body {
        if let StmtKind::Other { what: what @ ("global" | "nonlocal"), targets, .. } = &stmt.kind {
            found.extend(targets.iter().filter_map(Expr::as_name).map(|it| (it, *what == "global")));
        }
        stmt.blocks().into_iter().for_each(|it| names_elsewhere(it, found));
    }
}
