//! The names that the bodies of one file bind, by assignments, imports and definitions. None of them is
//! evaluated.

mod changes;
mod collect;

use std::cell::{OnceCell, RefCell};
use std::collections::BTreeMap;
use std::rc::Rc;

use super::constants::Evaluation;
use super::ids::{ClassId, FunctionId, ScopeId};
use super::reaching::Moment;
use super::syntax::{ClassDef, Expr, ExprKind, FunctionDef, Keyword, Operator, Stmt, StmtKind};
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

impl FunctionInfo<'_> {
    /// The time at which the names of its body are read.
    ///
    /// That is when its decorator runs. A `lazy_function` or `lazy_stencil` waits for the first use, so it
    /// reads them at some later time.
    #[must_use]
    pub fn moment(&self) -> Moment {
        let is_lazy = |it: &Expr| {
            let name = match &it.kind {
                ExprKind::Call { function, .. } => function.as_dotted(),
                _ => it.as_dotted(),
            };
            name.is_some_and(|it| matches!(it.last(), Some(&("lazy_function" | "lazy_stencil"))))
        };
        match self.def.decorators.iter().any(is_lazy) {
            true => Moment::after(self.def.span.end),
            false => self.def.span.start.into(),
        }
    }
}

#[derive(Debug)]
pub(super) struct ClassInfo<'p> {
    pub(super) def: &'p ClassDef,
    /// Where it is defined.
    pub(super) scope: ScopeId,
    pub(super) body: ScopeId,
    /// The attributes that its methods assign to their object.
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
    /// The name of the object in a method, and the scope of the object's attributes.
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
    pub(super) part: GuardBranch<'p>,
}

/// Which part of its statement.
#[derive(Clone, Copy, Debug)]
pub(super) enum GuardBranch<'p> {
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
    pub(super) what: BoundValue<'p>,
}

#[derive(Debug)]
pub(super) enum BoundValue<'p> {
    Value(&'p Expr),
    /// One element of an unpacked tuple.
    Element(&'p Expr, usize),
    Augmented(Operator, &'p str, &'p Expr),
    /// The value that a statement leaves: a loop, `sizes.append(3)`, `sizes[0] = 3`.
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

/// A statement that may change the list, dict or object of a name, or a part of it.
#[derive(Debug)]
pub(super) struct ObjectChange<'p> {
    /// Where it is written.
    pub(super) scope: ScopeId,
    pub(super) span: Span,
    pub(super) at: u32,
    pub(super) is_floating: bool,
    /// The name itself has its new value as a binding; other names of the same object have not.
    pub(super) is_followed: bool,
    /// The function that gets it as an argument; that function may leave it alone.
    pub(super) callee: Option<&'p Expr>,
    /// The argument, where it is a part of the object: `a.b` of `a`.
    pub(super) passed: Option<&'p Expr>,
}

/// `object.name = value`; without a name it may be any.
#[derive(Debug)]
pub(super) struct AttributeStore<'p> {
    pub(super) scope: ScopeId,
    pub(super) span: Span,
    pub(super) object: &'p Expr,
    pub(super) name: Option<&'p str>,
}

/// The names that may share an object with a name, or parts of it.
pub(super) type SharingNames<'p> = BTreeMap<ScopedName<'p>, SharedParts<'p>>;

/// The parts of an object that another name may stand for, or hold.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum SharedParts<'p> {
    /// Any.
    All,
    /// These attributes of attributes: `a.b` of `a`.
    These(Vec<&'p Expr>),
}

impl Default for SharedParts<'_> {
    fn default() -> Self {
        Self::These(Vec::new())
    }
}

impl<'p> SharedParts<'p> {
    fn add(&mut self, more: Self) {
        match (&mut *self, more) {
            (Self::These(all), Self::These(more)) => all.extend(more),
            _ => *self = Self::All,
        }
    }
}

/// A name with the scope that binds it.
pub(super) type ScopedName<'p> = (ScopeId, &'p str);

/// A name whose object a statement changes, before it is known which scope binds the name.
#[derive(Debug)]
struct UnresolvedChange<'p> {
    root: &'p str,
    change: ObjectChange<'p>,
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
pub(super) struct BuildCall<'p> {
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
    Done(Evaluation),
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
    pub(super) builds: Vec<BuildCall<'p>>,
    pub(super) stores: Vec<AttributeStore<'p>>,
    pub(super) changes: BTreeMap<ScopedName<'p>, Vec<ObjectChange<'p>>>,
    /// Names that may stand for the same object, or for parts of one.
    pub(super) aliases: OnceCell<BTreeMap<ScopedName<'p>, SharingNames<'p>>>,
    /// `exec(...)`, `globals()[...] = ...`: any name of the module may be another behind it.
    pub(super) rewritten: Option<Span>,
    /// For each binding.
    pub(super) memo: RefCell<Vec<Memo>>,
    found: Vec<UnresolvedChange<'p>>,
    /// The outermost loop of the present body, and what stands around it.
    around: Option<(&'p Stmt, Rc<[Guard<'p>]>)>,
}

const IN_A_LOOP: &str = "it is assigned in a loop";

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

    fn bind(
        &mut self,
        scope: ScopeId,
        name: &'p str,
        span: Span,
        guards: &[Guard<'p>],
        what: BoundValue<'p>,
    ) {
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
        let what = BoundValue::Unknown("a function assigns it");
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
        for UnresolvedChange { root, mut change, behind } in std::mem::take(&mut self.found) {
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
                    bind(stmt.span.start, BoundValue::Unknown(IN_A_LOOP));
                    change.at = stmt.span.end.saturating_sub(1);
                }
                bind(change.at, BoundValue::Behind(stmt, root));
            }
            self.changes.entry((holder, root)).or_default().push(change);
        }
    }

    /// Whether a name stands for a module of numbers alone, which holds no object that two names could share.
    fn is_numeric_module(&self, scope: ScopeId, name: &str) -> bool {
        let bindings = self.of_scope(scope).names.get(name).map(Vec::as_slice).unwrap_or_default();
        let is_it = |path: &[String]| matches!(path, [root, ..] if root == "numpy" || root == "math");
        let is_import =
            |it: &usize| matches!(&self.bindings[*it].what, BoundValue::Module(path) if is_it(path));
        !bindings.is_empty() && bindings.iter().all(is_import)
    }

    /// Names that stand for the same object, or for parts of one, as far as their bindings tell.
    pub(super) fn aliases(&self) -> &BTreeMap<ScopedName<'p>, SharingNames<'p>> {
        self.aliases.get_or_init(|| {
            let mut found: BTreeMap<ScopedName<'p>, SharingNames<'p>> = BTreeMap::new();
            for (id, scope) in self.scopes.iter().enumerate() {
                let holder = ScopeId { file: self.file, index: number(id) };
                for (&name, bindings) in &scope.names {
                    for &binding in bindings {
                        let Binding { scope, what, .. } = &self.bindings[binding];
                        let mut mention = |it: &'p Expr| {
                            if let Some(&[other, ref part @ ..]) = it.as_dotted().as_deref()
                                && let Some((at, _)) = self.holder(*scope, other)
                                && (at, other) != (holder, name)
                                && !self.is_numeric_module(at, other)
                            {
                                let shared = if part.is_empty() {
                                    SharedParts::All
                                } else {
                                    SharedParts::These(vec![it])
                                };
                                found
                                    .entry((at, other))
                                    .or_default()
                                    .entry((holder, name))
                                    .or_default()
                                    .add(shared);
                                let others = found.entry((holder, name)).or_default();
                                others.insert((at, other), SharedParts::All);
                            }
                            match it.kind {
                                ExprKind::Binary(operator, ..) => operator.may_share(),
                                // Its names are those above.
                                ExprKind::Attribute(..) => it.as_dotted().is_none(),
                                _ => true,
                            }
                        };
                        match what {
                            BoundValue::Value(value)
                            | BoundValue::Element(value, _)
                            | BoundValue::Augmented(_, _, value) => {
                                value.walk_into(&mut mention);
                            }
                            BoundValue::Behind(stmt, _) => {
                                stmt.each_own_expr(&mut |it| it.walk_into(&mut mention))
                            }
                            _ => {}
                        }
                    }
                }
            }
            found
        })
    }
}

fn is_loop(stmt: &Stmt) -> bool {
    matches!(stmt.kind, StmtKind::For { .. } | StmtKind::While { .. } | StmtKind::Other { .. })
}
