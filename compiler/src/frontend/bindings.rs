//! What the bodies of one file bind: every assignment, import and definition, none of them evaluated.

use std::cell::{OnceCell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use super::constants::Evaluated;
use super::ids::{ClassId, FunctionId, ScopeId};
use super::makers::{Maker, may_build};
use super::parametrized::{FirstValue, first_values};
use super::program::is_stencil;
use super::syntax::{
    Alias, ClassDef, Expr, ExprKind, Foreign, FunctionDef, Keyword, Operator, Stmt, StmtKind,
};
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
    /// The names of a plain function's body.
    pub(super) inner: Option<ScopeId>,
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
    /// In a function, where its definition ends: its body runs at some time after that.
    pub(super) called_after: Option<u32>,
    /// `global` and `nonlocal` names of a function, with whether the module has them.
    elsewhere: BTreeMap<&'p str, bool>,
}

/// A part of a statement that is not sure to run, around a binding.
#[derive(Clone, Debug)]
pub(super) struct Guard<'p> {
    /// The whole statement.
    pub(super) stmt: &'p Stmt,
    /// The statements of this part.
    pub(super) inside: Span,
    pub(super) part: Part<'p>,
}

/// Which part of its statement.
#[derive(Clone, Copy, Debug)]
pub(super) enum Part<'p> {
    /// The test and whether it must hold.
    If(&'p Expr, bool),
    /// The body of a `try`, or what stands behind its `else`.
    Try,
    /// One `except`.
    Handler(usize),
}

/// One binding of a name.
#[derive(Debug)]
pub(super) struct Binding<'p> {
    pub(super) scope: ScopeId,
    pub(super) span: Span,
    /// When it happens, as a place of the text.
    pub(super) at: u32,
    /// It happens some time after that: a function does it.
    pub(super) is_floating: bool,
    /// From the outside in.
    pub(super) guards: Rc<[Guard<'p>]>,
    pub(super) what: Bound<'p>,
}

#[derive(Debug)]
pub(super) enum Bound<'p> {
    Value(&'p Expr),
    /// One element of an unpacked tuple.
    Element(&'p Expr, usize),
    Augmented(Operator, &'p str, &'p Expr),
    /// What the name holds behind a statement: a loop, `sizes.append(3)`, `sizes[0] = 3`.
    Behind(&'p Stmt, &'p str),
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

/// What may make another value of a list, a dict or an object that a name stands for, or that is a part of it.
#[derive(Debug)]
pub(super) struct Change<'p> {
    /// Where it is written.
    pub(super) scope: ScopeId,
    pub(super) span: Span,
    pub(super) at: u32,
    pub(super) is_floating: bool,
    /// The name itself has its new value as a binding; other names of the same object have not.
    pub(super) is_followed: bool,
    /// What is called with it, if it is handed to a call, which may leave it alone.
    pub(super) callee: Option<&'p Expr>,
}

/// `object.name = value`; without a name it may be any.
#[derive(Debug)]
pub(super) struct Store<'p> {
    pub(super) scope: ScopeId,
    pub(super) span: Span,
    pub(super) object: &'p Expr,
    pub(super) name: Option<&'p str>,
}

/// A name with the scope that binds it.
pub(super) type Place<'p> = (ScopeId, &'p str);

/// A name whose object a statement changes, before it is known which scope binds the name.
#[derive(Debug)]
struct Found<'p> {
    root: &'p str,
    change: Change<'p>,
    /// The statement that makes the new value, and what stands around it.
    behind: Option<(&'p Stmt, Rc<[Guard<'p>]>)>,
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
    /// The variable that holds what is built.
    pub(super) name: Option<&'p str>,
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
    pub(super) file: FileId,
    pub(super) scopes: Vec<Scope<'p>>,
    pub(super) bindings: Vec<Binding<'p>>,
    pub(super) functions: Vec<FunctionInfo<'p>>,
    pub(super) classes: Vec<ClassInfo<'p>>,
    /// `FieldBundleType.register(...)`, wherever it stands.
    pub(super) bundles: Vec<Registration<'p>>,
    /// In order of the text.
    pub(super) builds: Vec<Build<'p>>,
    pub(super) stores: Vec<Store<'p>>,
    pub(super) changes: BTreeMap<Place<'p>, Vec<Change<'p>>>,
    /// Names that may stand for the same object, or for parts of one.
    pub(super) aliases: OnceCell<BTreeMap<Place<'p>, BTreeSet<Place<'p>>>>,
    /// `exec(...)`, `globals()[...] = ...`: any name of the module may be another behind it.
    pub(super) rewritten: Option<Span>,
    /// For each binding.
    pub(super) memo: RefCell<Vec<Memo>>,
    found: Vec<Found<'p>>,
    /// The outermost loop of the present body, and what stands around it.
    around: Option<(&'p Stmt, Rc<[Guard<'p>]>)>,
}

const IN_A_LOOP: &str = "it is assigned in a loop";
const IN_A_MATCH: &str = "it is assigned in a `match`";
const WHILE_RUNNING: &str = "it changes while the file runs";

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
            stores: Vec::new(),
            changes: BTreeMap::new(),
            aliases: OnceCell::new(),
            rewritten: None,
            memo: RefCell::default(),
            found: Vec::new(),
            around: None,
        };
        let module = names.open(None);
        names.collect(module, body, &mut Vec::new());
        names.place_changes();
        let bindings = &names.bindings;
        for scope in &mut names.scopes {
            scope.names.values_mut().for_each(|it| it.sort_by_key(|&it| bindings[it].at));
        }
        names.memo = RefCell::new(vec![Memo::Untouched; names.bindings.len()]);
        names
    }

    fn open(&mut self, parent: Option<ScopeId>) -> ScopeId {
        let id = ScopeId { file: self.file, index: number(self.scopes.len()) };
        self.scopes.push(Scope { parent, ..Scope::default() });
        id
    }

    fn of_scope(&self, id: ScopeId) -> &Scope<'p> {
        &self.scopes[id.index as usize]
    }

    fn bind(&mut self, scope: ScopeId, name: &'p str, span: Span, guards: &[Guard<'p>], what: Bound<'p>) {
        let at = span.start;
        let guards = guards.into();
        self.bind_as(scope, name, Binding { scope, span, at, is_floating: false, guards, what });
    }

    /// Binds a name in its scope, or in that which `global` and `nonlocal` mean.
    fn bind_as(&mut self, scope: ScopeId, name: &'p str, binding: Binding<'p>) {
        let Some(&is_of_module) = self.of_scope(scope).elsewhere.get(name) else {
            self.bind_in(scope, name, binding);
            return;
        };
        let around = std::iter::successors(Some(scope), |it| self.of_scope(*it).parent).skip(1);
        let mut holders = around.filter(|it| self.of_scope(*it).class.is_none());
        let holder = match is_of_module {
            true => Some(ScopeId { file: self.file, index: 0 }),
            false => holders.find(|it| self.of_scope(*it).names.contains_key(name)),
        };
        let at = self.of_scope(scope).called_after.unwrap_or(binding.at);
        let what = Bound::Unknown("a function assigns it");
        let floating = Binding { at, is_floating: true, guards: Rc::default(), what, ..binding };
        self.bind_in(holder.unwrap_or(scope), name, floating);
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

    /// The scope that binds a name as a body sees it, and whether that body is a function's in it.
    fn holder(&self, scope: ScopeId, name: &str) -> Option<(ScopeId, bool)> {
        let (mut next, mut is_called) = (Some(scope), false);
        while let Some(id) = next {
            let of = self.of_scope(id);
            let is_hidden = of.class.is_some() && id != scope;
            if !is_hidden && !of.elsewhere.contains_key(name) && of.names.contains_key(name) {
                return Some((id, is_called));
            }
            is_called |= of.called_after.is_some();
            next = of.parent;
        }
        None
    }

    /// Gives each change to the name that it changes, and each new value that can be followed to its binding.
    fn place_changes(&mut self) {
        let module = ScopeId { file: self.file, index: 0 };
        for Found { root, mut change, behind } in std::mem::take(&mut self.found) {
            let (holder, is_called) = self.holder(change.scope, root).unwrap_or((module, false));
            change.is_floating = is_called;
            if is_called {
                let around = std::iter::successors(Some(change.scope), |it| self.of_scope(*it).parent);
                let starts = around.filter_map(|it| self.of_scope(it).called_after);
                change.at = starts.min().unwrap_or(change.at);
            }
            change.is_followed = behind.is_some() && holder == change.scope && !is_called;
            if let (Some((stmt, guards)), true) = (behind, change.is_followed) {
                let (scope, span) = (change.scope, change.span);
                let mut bind = |at, what| {
                    let guards = Rc::clone(&guards);
                    self.bind_in(holder, root, Binding { scope, span, at, is_floating: false, guards, what });
                };
                if is_loop(stmt) {
                    bind(stmt.span.start, Bound::Unknown(IN_A_LOOP));
                    change.at = stmt.span.end.saturating_sub(1);
                }
                bind(change.at, Bound::Behind(stmt, root));
            }
            self.changes.entry((holder, root)).or_default().push(change);
        }
    }

    /// Names that stand for the same object, or for parts of one, as far as their bindings tell.
    pub(super) fn aliases(&self) -> &BTreeMap<Place<'p>, BTreeSet<Place<'p>>> {
        self.aliases.get_or_init(|| {
            let mut found: BTreeMap<Place<'p>, BTreeSet<Place<'p>>> = BTreeMap::new();
            for (id, scope) in self.scopes.iter().enumerate() {
                let holder = ScopeId { file: self.file, index: number(id) };
                for (&name, bindings) in &scope.names {
                    for &binding in bindings {
                        let Binding { scope, what, .. } = &self.bindings[binding];
                        let mut mention = |it: &'p Expr| {
                            if let ExprKind::Name(other) = &it.kind
                                && let Some((at, _)) = self.holder(*scope, other)
                                && (at, other.as_str()) != (holder, name)
                            {
                                found.entry((holder, name)).or_default().insert((at, other));
                                found.entry((at, other)).or_default().insert((holder, name));
                            }
                        };
                        match what {
                            Bound::Value(value)
                            | Bound::Element(value, _)
                            | Bound::Augmented(_, _, value) => {
                                value.walk(&mut mention);
                            }
                            Bound::Behind(stmt, _) => stmt.each_own_expr(&mut |it| it.walk(&mut mention)),
                            _ => {}
                        }
                    }
                }
            }
            found
        })
    }

    fn collect(&mut self, scope: ScopeId, body: &'p [Stmt], guards: &mut Vec<Guard<'p>>) {
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
                    self.bind(scope, name, stmt.span, guards, Bound::Augmented(*op, name, value));
                }
                _ => self.bind_attribute(scope, target, stmt.span, guards, Bound::Unknown(WHILE_RUNNING)),
            },
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
            StmtKind::Function(def) => self.function(scope, def, stmt, guards),
            StmtKind::Class(def) => {
                let inner = self.open(Some(scope));
                let object = self.open(None);
                let id = ClassId { file: self.file, index: number(self.classes.len()) };
                self.scopes[inner.index as usize].class = Some(id);
                self.classes.push(ClassInfo { def, scope, body: inner, object });
                self.bind(scope, &def.name.name, stmt.span, guards, Bound::Class(id));
                let around = self.around.take();
                self.collect(inner, &def.body, &mut Vec::new());
                self.around = around;
            }
            StmtKind::If { test, then, otherwise } => {
                self.collect_part(scope, stmt, then, Part::If(test, true), guards);
                self.collect_part(scope, stmt, otherwise, Part::If(test, false), guards);
            }
            StmtKind::Try { body, handlers, otherwise, last } => {
                self.collect_part(scope, stmt, body, Part::Try, guards);
                for (at, handler) in handlers.iter().enumerate() {
                    if let Some(name) = &handler.name {
                        let inside = within(&handler.body, stmt);
                        guards.push(Guard { stmt, inside, part: Part::Handler(at) });
                        let what = Bound::Unknown("it is bound by an `except`");
                        self.bind(scope, &name.name, name.span, guards, what);
                        guards.pop();
                    }
                    self.collect_part(scope, stmt, &handler.body, Part::Handler(at), guards);
                }
                self.collect_part(scope, stmt, otherwise, Part::Try, guards);
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
                        self.bind(scope, name, stmt.span, guards, Bound::Unknown("it is deleted"));
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
        part: Part<'p>,
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

    /// A loop, or a statement that is followed like one: inside of it its names are not known; behind it they are what
    /// its last turn leaves. The bindings from `first` on are its own already.
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
        let is_definition = |it: &Binding<'p>| matches!(it.what, Bound::Function(_) | Bound::Class(_));
        let mut inside = BTreeSet::new();
        for index in first..self.bindings.len() {
            let binding = &mut self.bindings[index];
            // What a function inside does is none of the loop's.
            if binding.scope == scope && !is_definition(binding) && !binding.is_floating {
                binding.what = Bound::Unknown(why);
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
                what: Bound::Unknown(why),
            };
            self.bind_in(scope, name, head);
            let what = if is_outermost { Bound::Behind(stmt, name) } else { Bound::Unknown(why) };
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
        self.bind(scope, &def.name.name, stmt.span, guards, Bound::Function(id));
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

    /// What an assignment binds; without a value it is not known.
    fn bind_target(
        &mut self,
        scope: ScopeId,
        target: &'p Expr,
        stmt: &'p Stmt,
        guards: &[Guard<'p>],
        value: Option<&'p Expr>,
    ) {
        let unknown = || Bound::Unknown("it is unpacked from something that is not a tuple of numbers");
        match &target.kind {
            ExprKind::Name(name) => {
                self.bind(scope, name, stmt.span, guards, value.map_or_else(unknown, Bound::Value));
            }
            ExprKind::Tuple(parts) | ExprKind::List(parts) => {
                let is_plain = !parts.iter().any(|it| matches!(it.kind, ExprKind::Starred(_)));
                for (position, part) in parts.iter().enumerate() {
                    match (value, &part.kind) {
                        (Some(value), ExprKind::Name(name)) if is_plain => {
                            self.bind(scope, name, stmt.span, guards, Bound::Element(value, position));
                        }
                        _ => self.bind_target(scope, part, stmt, guards, None),
                    }
                }
            }
            ExprKind::Starred(inner) => self.bind_target(scope, inner, stmt, guards, None),
            _ => {
                let what = value.map_or_else(unknown, Bound::Value);
                self.bind_attribute(scope, target, stmt.span, guards, what);
            }
        }
    }

    /// The names of a target that only running the file gives a value.
    fn bind_unknown(&mut self, scope: ScopeId, target: &'p Expr, guards: &[Guard<'p>], why: &'static str) {
        match &target.kind {
            ExprKind::Name(name) => self.bind(scope, name, target.span, guards, Bound::Unknown(why)),
            ExprKind::Tuple(parts) | ExprKind::List(parts) => {
                parts.iter().for_each(|it| self.bind_unknown(scope, it, guards, why));
            }
            ExprKind::Starred(inner) => self.bind_unknown(scope, inner, guards, why),
            _ => self.bind_attribute(scope, target, target.span, guards, Bound::Unknown(why)),
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
                (Some(class), _) if position == 0 && is_decorated("classmethod") => Bound::Class(class),
                (Some(class), _) if position == 0 => {
                    let object = self.classes[class.index as usize].object;
                    self.scopes[inner.index as usize].this = Some((name, object));
                    Bound::This(class)
                }
                (_, Some(FirstValue::Whole(value))) => Bound::Value(value),
                (_, Some(FirstValue::Element(value, at))) => Bound::Element(value, at),
                (_, None) => Bound::Unknown("it is a parameter of the function around"),
            };
            let (at, guards) = (span.start, Rc::default());
            self.bind_in(inner, name, Binding { scope: around, span, at, is_floating: false, guards, what });
        }
        for name in &def.variadic {
            let what = Bound::Unknown("it is a parameter of the function around");
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
        what: Bound<'p>,
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

    /// What a statement does to the objects that names stand for, and the names that it binds inside of expressions.
    fn collect_changes(&mut self, scope: ScopeId, stmt: &'p Stmt, guards: &[Guard<'p>]) {
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

    /// What a call may do to its arguments, and to the object that it is a method of.
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
                self.stores.push(Store { scope, span, object, name });
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
            }
        }
    }

    /// `name[...] = value`, `name.attribute = value`, and what is deeper.
    fn stored(&mut self, scope: ScopeId, target: &'p Expr, stmt: &'p Stmt, guards: &[Guard<'p>]) {
        match &target.kind {
            ExprKind::Tuple(parts) | ExprKind::List(parts) => {
                parts.iter().for_each(|it| self.stored_deeply(scope, it, stmt.span));
            }
            // What methods assign to their object has bindings of its own.
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
            self.stores.push(Store { scope, span, object, name: Some(&name.name) });
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
        let change = Change { scope, span, at, is_floating, is_followed, callee };
        self.found.push(Found { root, change, behind });
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
                    self.builds.push(Build { scope, call: it, name });
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

/// Methods of lists, dicts and sets that make them others.
pub(super) const METHODS_THAT_CHANGE: [&str; 11] = [
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

/// The name that an object is reached by: `a` of `a.b[0].c`.
fn root_of(expr: &Expr) -> Option<&str> {
    match &expr.kind {
        ExprKind::Name(name) => Some(name),
        ExprKind::Attribute(value, _) | ExprKind::Subscript(value, _) => root_of(value),
        _ => None,
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

/// `globals()`, `locals()`, `vars()`
fn is_table_of_names(expr: &Expr) -> bool {
    matches!(&expr.kind, ExprKind::Call { function, args, .. }
        if args.is_empty() && matches!(function.as_name(), Some("globals" | "locals" | "vars")))
}

fn is_loop(stmt: &Stmt) -> bool {
    matches!(stmt.kind, StmtKind::For { .. } | StmtKind::While { .. } | StmtKind::Other { .. })
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
