//! What the bodies of one file bind: every assignment, import and definition, none of them evaluated.

use std::cell::RefCell;
use std::collections::BTreeMap;

use super::constants::Evaluated;
use super::ids::{ClassId, FunctionId, ScopeId};
use super::makers::{Maker, may_build};
use super::parametrized::{FirstValue, first_values};
use super::program::is_stencil;
use super::syntax::{Alias, ClassDef, Expr, ExprKind, FunctionDef, Keyword, Operator, Stmt, StmtKind};
use crate::diag::{FileId, Span};

/// A function with the place whose names it sees.
#[derive(Clone, Copy, Debug)]
pub struct FunctionInfo<'p> {
    pub def: &'p FunctionDef,
    /// Where it is defined.
    pub scope: ScopeId,
    pub is_stencil: bool,
    /// Whether it is decorated as a GTScript function.
    pub is_gtscript: bool,
}

#[derive(Debug)]
pub(super) struct ClassInfo<'p> {
    pub(super) def: &'p ClassDef,
    /// Where it is defined.
    pub(super) scope: ScopeId,
    pub(super) body: ScopeId,
    /// What its methods assign to attributes of their object.
    pub(super) object: ScopeId,
}

#[derive(Debug, Default)]
pub(super) struct Scope<'p> {
    pub(super) parent: Option<ScopeId>,
    pub(super) names: BTreeMap<&'p str, Vec<usize>>,
    /// `from x import *`
    pub(super) stars: Vec<usize>,
    /// The class whose body it is.
    pub(super) class: Option<ClassId>,
    /// What a method calls its object, and the object's attributes.
    this: Option<(&'p str, ScopeId)>,
}

/// One binding of a name.
#[derive(Debug)]
pub(super) struct Binding<'p> {
    pub(super) scope: ScopeId,
    pub(super) span: Span,
    /// The tests of the `if`s around it, and whether they must hold.
    pub(super) guards: Vec<(&'p Expr, bool)>,
    pub(super) what: Bound<'p>,
}

#[derive(Debug)]
pub(super) enum Bound<'p> {
    Value(&'p Expr),
    /// One element of an unpacked tuple.
    Element(&'p Expr, usize),
    Augmented(Operator, &'p str, &'p Expr),
    /// `import a.b as c`, or `import a` of `import a.b`.
    Module(Vec<String>),
    From {
        level: u32,
        module: Vec<String>,
        name: &'p str,
    },
    Function(FunctionId),
    Class(ClassId),
    /// `self`
    This(ClassId),
    /// A loop variable, a `with` target, ...: known only when the file runs.
    Unknown(&'static str),
}

/// `FieldBundleType.register(name, sizes, element)`
#[derive(Debug)]
pub(super) struct Registration<'p> {
    pub(super) scope: ScopeId,
    pub(super) span: Span,
    pub(super) args: &'p [Expr],
    pub(super) keywords: &'p [Keyword],
}

/// A call that may tell how a stencil is built.
#[derive(Clone, Copy, Debug)]
pub(super) struct Build<'p> {
    pub(super) scope: ScopeId,
    pub(super) call: &'p Expr,
}

/// How far the value of a binding is.
#[derive(Clone, Debug)]
pub(super) enum Memo {
    Untouched,
    InProgress,
    Done(Evaluated),
}

/// The scopes of one file; the first is that of the module.
#[derive(Debug)]
pub(super) struct FileNames<'p> {
    file: FileId,
    pub(super) scopes: Vec<Scope<'p>>,
    pub(super) bindings: Vec<Binding<'p>>,
    pub(super) functions: Vec<FunctionInfo<'p>>,
    pub(super) classes: Vec<ClassInfo<'p>>,
    /// `FieldBundleType.register(...)`, wherever it stands.
    pub(super) bundles: Vec<Registration<'p>>,
    /// In order of the text.
    pub(super) builds: Vec<Build<'p>>,
    /// For each binding.
    pub(super) memo: RefCell<Vec<Memo>>,
}

fn number(position: usize) -> u32 {
    u32::try_from(position).unwrap_or(u32::MAX)
}

impl<'p> FileNames<'p> {
    /// Finds every binding of a file.
    pub(super) fn of(file: FileId, body: &'p [Stmt]) -> Self {
        let mut names = Self {
            file,
            scopes: Vec::new(),
            bindings: Vec::new(),
            functions: Vec::new(),
            classes: Vec::new(),
            bundles: Vec::new(),
            builds: Vec::new(),
            memo: RefCell::default(),
        };
        let module = names.open(None);
        names.collect(module, body, &mut Vec::new());
        names.memo = RefCell::new(vec![Memo::Untouched; names.bindings.len()]);
        names
    }

    fn open(&mut self, parent: Option<ScopeId>) -> ScopeId {
        let id = ScopeId { file: self.file, index: number(self.scopes.len()) };
        self.scopes.push(Scope { parent, ..Scope::default() });
        id
    }

    fn bind(
        &mut self,
        scope: ScopeId,
        name: &'p str,
        span: Span,
        guards: &[(&'p Expr, bool)],
        what: Bound<'p>,
    ) {
        self.bind_in(scope, name, Binding { scope, span, guards: guards.to_vec(), what });
    }

    /// Binds a name in a scope that need not be the one where its value stands.
    fn bind_in(&mut self, holder: ScopeId, name: &'p str, binding: Binding<'p>) {
        let index = self.bindings.len();
        self.bindings.push(binding);
        let scope = &mut self.scopes[holder.index as usize];
        if name == "*" {
            scope.stars.push(index);
        } else {
            scope.names.entry(name).or_default().push(index);
        }
    }

    /// What the name holds is another from here on, in the body that binds it.
    fn change(&mut self, scope: ScopeId, name: &'p str, span: Span, guards: &[(&'p Expr, bool)]) {
        let of = |it: ScopeId| &self.scopes[it.index as usize];
        let mut around = std::iter::successors(Some(scope), |it| of(*it).parent);
        let holder = around.find(|it| of(*it).names.contains_key(name)).unwrap_or(scope);
        let what = Bound::Unknown("it changes while the file runs");
        self.bind_in(holder, name, Binding { scope, span, guards: guards.to_vec(), what });
    }

    fn collect(&mut self, scope: ScopeId, body: &'p [Stmt], guards: &mut Vec<(&'p Expr, bool)>) {
        for stmt in body {
            self.collect_builds(scope, stmt);
            for name in changed(stmt) {
                self.change(scope, name, stmt.span, guards);
            }
            match &stmt.kind {
                StmtKind::Assign { targets, value } => {
                    for target in targets {
                        match &target.kind {
                            ExprKind::Name(name) => {
                                self.bind(scope, name, stmt.span, guards, Bound::Value(value));
                            }
                            ExprKind::Tuple(parts) | ExprKind::List(parts) => {
                                for (position, part) in parts.iter().enumerate() {
                                    if let ExprKind::Name(name) = &part.kind {
                                        let what = Bound::Element(value, position);
                                        self.bind(scope, name, stmt.span, guards, what);
                                    }
                                }
                            }
                            _ => self.bind_attribute(scope, target, stmt.span, guards, Bound::Value(value)),
                        }
                    }
                }
                StmtKind::AnnAssign { target, value: Some(value), .. } => {
                    if let ExprKind::Name(name) = &target.kind {
                        self.bind(scope, name, stmt.span, guards, Bound::Value(value));
                    } else {
                        self.bind_attribute(scope, target, stmt.span, guards, Bound::Value(value));
                    }
                }
                StmtKind::AugAssign { target, op, value } => {
                    if let ExprKind::Name(name) = &target.kind {
                        self.bind(scope, name, stmt.span, guards, Bound::Augmented(*op, name, value));
                    } else {
                        let what = Bound::Unknown("it changes while the file runs");
                        self.bind_attribute(scope, target, stmt.span, guards, what);
                    }
                }
                StmtKind::Import(aliases) => {
                    for Alias { name, alias } in aliases {
                        let path: Vec<String> = name.name.split('.').map(str::to_owned).collect();
                        match alias {
                            Some(alias) => {
                                self.bind(scope, &alias.name, stmt.span, guards, Bound::Module(path));
                            }
                            None => {
                                let first = name.name.split('.').next().unwrap_or(&name.name);
                                let what = Bound::Module(vec![first.to_owned()]);
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
                        let what = Bound::From { level: *level, module: path.clone(), name: &name.name };
                        self.bind(scope, &bound.name, stmt.span, guards, what);
                    }
                }
                StmtKind::Function(def) => {
                    let id = FunctionId { file: self.file, index: number(self.functions.len()) };
                    let is_stencil = is_stencil(def);
                    let is_gtscript = def.is_function;
                    self.functions.push(FunctionInfo { def, scope, is_stencil, is_gtscript });
                    self.bind(scope, &def.name.name, stmt.span, guards, Bound::Function(id));
                    if !is_stencil && !is_gtscript {
                        // A plain function may define stencils, which see its names.
                        let inner = self.open(Some(scope));
                        self.bind_params(scope, inner, def);
                        self.collect(inner, &def.body, &mut Vec::new());
                    }
                }
                StmtKind::Class(def) => {
                    let inner = self.open(Some(scope));
                    let object = self.open(None);
                    let id = ClassId { file: self.file, index: number(self.classes.len()) };
                    self.scopes[inner.index as usize].class = Some(id);
                    self.classes.push(ClassInfo { def, scope, body: inner, object });
                    self.bind(scope, &def.name.name, stmt.span, guards, Bound::Class(id));
                    self.collect(inner, &def.body, &mut Vec::new());
                }
                StmtKind::If { test, then, otherwise } => {
                    guards.push((test, true));
                    self.collect(scope, then, guards);
                    guards.pop();
                    guards.push((test, false));
                    self.collect(scope, otherwise, guards);
                    guards.pop();
                }
                StmtKind::Try { body, fallback } => {
                    // The body's bindings are tried first: lookups walk backward.
                    self.collect(scope, fallback, guards);
                    self.collect(scope, body, guards);
                }
                StmtKind::With { items, body } => {
                    for name in items.iter().filter_map(|it| it.target.as_ref()?.as_name()) {
                        let what = Bound::Unknown("it is bound by a `with`");
                        self.bind(scope, name, stmt.span, guards, what);
                    }
                    self.collect(scope, body, guards);
                }
                StmtKind::While { body, .. } | StmtKind::For { body, .. } | StmtKind::Other { body, .. } => {
                    let first = self.bindings.len();
                    self.collect(scope, body, guards);
                    for binding in &mut self.bindings[first..] {
                        if !matches!(binding.what, Bound::Function(_) | Bound::Class(_)) {
                            binding.what = Bound::Unknown("it is assigned in a loop");
                        }
                    }
                }
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
    }

    /// The parameters of a plain function: the object of a method, the first values of a test, or nothing known.
    fn bind_params(&mut self, around: ScopeId, inner: ScopeId, def: &'p FunctionDef) {
        let is_static = |it: &Expr| matches!(it.as_name(), Some("staticmethod" | "classmethod"));
        let class = self.scopes[around.index as usize].class;
        let class = class.filter(|_| !def.decorators.iter().any(is_static));
        let listed = first_values(def);
        for (position, param) in def.params.iter().enumerate() {
            let (name, span) = (&param.name.name, param.name.span);
            let first = listed.iter().find(|(it, _)| it == name).map(|(_, it)| *it);
            let what = match (class, first) {
                (Some(class), _) if position == 0 => {
                    let object = self.classes[class.index as usize].object;
                    self.scopes[inner.index as usize].this = Some((name, object));
                    Bound::This(class)
                }
                (_, Some(FirstValue::Whole(value))) => Bound::Value(value),
                (_, Some(FirstValue::Element(value, at))) => Bound::Element(value, at),
                (_, None) => Bound::Unknown("it is a parameter of the function around"),
            };
            self.bind_in(inner, name, Binding { scope: around, span, guards: Vec::new(), what });
        }
    }

    /// `self.name = value` in a method.
    fn bind_attribute(
        &mut self,
        scope: ScopeId,
        target: &'p Expr,
        span: Span,
        guards: &[(&'p Expr, bool)],
        what: Bound<'p>,
    ) {
        if let ExprKind::Attribute(object, name) = &target.kind
            && let Some((this, holder)) = self.scopes[scope.index as usize].this
            && object.as_name() == Some(this)
        {
            self.bind_in(holder, &name.name, Binding { scope, span, guards: guards.to_vec(), what });
        }
    }

    /// The calls of a statement's own expressions that may build a stencil.
    fn collect_builds(&mut self, scope: ScopeId, stmt: &'p Stmt) {
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
                    self.builds.push(Build { scope, call: it });
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

/// The lists and dicts that a statement makes others: `sizes.append(3)`, `sizes[0] = 3`.
fn changed(stmt: &Stmt) -> Vec<&str> {
    fn element(target: &Expr) -> Option<&str> {
        match &target.kind {
            ExprKind::Subscript(whole, _) => whole.as_name(),
            _ => None,
        }
    }
    match &stmt.kind {
        StmtKind::Expr(Expr { kind: ExprKind::Call { function, .. }, .. }) => match &function.kind {
            ExprKind::Attribute(whole, method) => {
                let changes =
                    ["append", "extend", "insert", "remove", "pop", "clear", "sort", "reverse", "update"];
                whole.as_name().filter(|_| changes.contains(&&*method.name)).into_iter().collect()
            }
            _ => Vec::new(),
        },
        StmtKind::Assign { targets, .. } => targets.iter().filter_map(element).collect(),
        StmtKind::AugAssign { target, .. } => element(target).into_iter().collect(),
        _ => Vec::new(),
    }
}
