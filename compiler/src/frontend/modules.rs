//! Which name means what: scopes, imports across files, all resolved on demand.
//!
//! Nothing is run in file order. A name is looked up from the place that uses
//! it, through the bindings that stand before that place; its value is computed
//! once. So circular imports resolve, and what no stencil needs is never looked at.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::builtins;
use super::constants::{Constant, ElementType, Evaluated, Opaque};
use super::evaluate::{self, Environment};
use super::field_types;
use super::program::{Program, is_function, is_stencil};
use super::syntax::{Alias, ClassDef, Expr, ExprKind, FunctionDef, Keyword, Operator, Stmt, StmtKind};
use crate::config::{Config, External};
use crate::diag::{FileId, Span};

/// How many names may be computed through one another: `A1 = A0 + 1`, `A2 = A1 + 1`, ...
const MAX_CHAIN: usize = 64;

/// A function of the files.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FunctionId(pub u32);

/// A class of the files.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ClassId(pub u32);

/// The names that one body binds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ScopeId(u32);

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
struct ClassInfo<'p> {
    def: &'p ClassDef,
    body: ScopeId,
}

#[derive(Debug, Default)]
struct Scope<'p> {
    file: FileId,
    parent: Option<ScopeId>,
    names: BTreeMap<&'p str, Vec<usize>>,
    /// `from x import *`
    stars: Vec<usize>,
}

/// One binding of a name.
#[derive(Debug)]
struct Binding<'p> {
    scope: ScopeId,
    span: Span,
    /// The tests of the `if`s around it, and whether they must hold.
    guards: Vec<(&'p Expr, bool)>,
    what: Bound<'p>,
}

#[derive(Debug)]
enum Bound<'p> {
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
    /// A loop variable, a `with` target, ...: known only when the file runs.
    Unknown(&'static str),
}

/// `FieldBundleType.register(name, sizes, element)`
#[derive(Debug)]
struct Registration<'p> {
    scope: ScopeId,
    span: Span,
    args: &'p [Expr],
    keywords: &'p [Keyword],
}

#[derive(Clone, Debug)]
enum Memo {
    Untouched,
    InProgress,
    Done(Evaluated),
}

/// All scopes of a program, with what their names are worth.
#[derive(Debug)]
pub struct Names<'p> {
    program: &'p Program,
    pub config: &'p Config,
    scopes: Vec<Scope<'p>>,
    bindings: Vec<Binding<'p>>,
    functions: Vec<FunctionInfo<'p>>,
    classes: Vec<ClassInfo<'p>>,
    modules: Vec<ScopeId>,
    /// `FieldBundleType.register(...)`, wherever it stands.
    bundles: Vec<Registration<'p>>,
    memo: RefCell<Vec<Memo>>,
    chain: Cell<usize>,
    /// What is being looked for through `import *`, or was looked for in vain: those imports may form circles.
    stars: RefCell<BTreeSet<(ScopeId, String)>>,
    star_depth: Cell<usize>,
}

impl<'p> Names<'p> {
    /// Finds every binding of every file; evaluates none.
    #[must_use]
    pub fn new(program: &'p Program, config: &'p Config) -> Self {
        let mut names = Self {
            program,
            config,
            scopes: Vec::new(),
            bindings: Vec::new(),
            functions: Vec::new(),
            classes: Vec::new(),
            modules: Vec::new(),
            bundles: Vec::new(),
            memo: RefCell::new(Vec::new()),
            chain: Cell::new(0),
            stars: RefCell::new(BTreeSet::new()),
            star_depth: Cell::new(0),
        };
        for (position, file) in program.files.iter().enumerate() {
            let scope = names.open(FileId(u16::try_from(position).unwrap_or(u16::MAX)), None);
            names.modules.push(scope);
            names.collect(scope, &file.syntax.body, &mut Vec::new());
        }
        names.memo = RefCell::new(vec![Memo::Untouched; names.bindings.len()]);
        names
    }

    #[must_use]
    pub fn function(&self, function: FunctionId) -> FunctionInfo<'p> {
        self.functions[function.0 as usize]
    }

    /// All functions, in order of files and text.
    pub fn functions(&self) -> impl Iterator<Item = (FunctionId, &FunctionInfo<'p>)> {
        (0..).map(FunctionId).zip(&self.functions)
    }

    /// The names of a file's top level.
    #[must_use]
    pub fn module_scope(&self, file: FileId) -> Option<ScopeId> {
        self.modules.get(usize::from(file.0)).copied()
    }

    fn open(&mut self, file: FileId, parent: Option<ScopeId>) -> ScopeId {
        let id = ScopeId(u32::try_from(self.scopes.len()).unwrap_or(u32::MAX));
        self.scopes.push(Scope { file, parent, ..Scope::default() });
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
        let index = self.bindings.len();
        self.bindings.push(Binding { scope, span, guards: guards.to_vec(), what });
        let scope = &mut self.scopes[scope.0 as usize];
        if name == "*" {
            scope.stars.push(index);
        } else {
            scope.names.entry(name).or_default().push(index);
        }
    }

    fn collect(&mut self, scope: ScopeId, body: &'p [Stmt], guards: &mut Vec<(&'p Expr, bool)>) {
        for stmt in body {
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
                            _ => {}
                        }
                    }
                }
                StmtKind::AnnAssign { target, value: Some(value), .. } => {
                    if let ExprKind::Name(name) = &target.kind {
                        self.bind(scope, name, stmt.span, guards, Bound::Value(value));
                    }
                }
                StmtKind::AugAssign { target, op, value } => {
                    if let ExprKind::Name(name) = &target.kind {
                        self.bind(scope, name, stmt.span, guards, Bound::Augmented(*op, name, value));
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
                    let id = FunctionId(u32::try_from(self.functions.len()).unwrap_or(u32::MAX));
                    let is_stencil = is_stencil(def);
                    let is_gtscript = is_function(def);
                    self.functions.push(FunctionInfo { def, scope, is_stencil, is_gtscript });
                    self.bind(scope, &def.name.name, stmt.span, guards, Bound::Function(id));
                    if !is_stencil && !is_gtscript {
                        // A plain function may define stencils, which see its names.
                        let file = self.scopes[scope.0 as usize].file;
                        let inner = self.open(file, Some(scope));
                        for param in &def.params {
                            let what = Bound::Unknown("it is a parameter of the function around");
                            self.bind(inner, &param.name.name, param.name.span, &[], what);
                        }
                        self.collect(inner, &def.body, &mut Vec::new());
                    }
                }
                StmtKind::Class(def) => {
                    let file = self.scopes[scope.0 as usize].file;
                    let inner = self.open(file, Some(scope));
                    let id = ClassId(u32::try_from(self.classes.len()).unwrap_or(u32::MAX));
                    self.classes.push(ClassInfo { def, body: inner });
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
                StmtKind::While { body, .. } | StmtKind::Other { body, .. } => {
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

    /// What `name` means at byte `position` of the scope's file; `None` when nothing binds it there
    /// and the language does not know it.
    #[must_use]
    pub fn lookup(&self, scope: ScopeId, position: u32, name: &str) -> Option<Evaluated> {
        let mut next = Some(scope);
        while let Some(id) = next {
            if let Some(found) = self.lookup_in(id, position, name) {
                return Some(found);
            }
            next = self.scopes[id.0 as usize].parent;
        }
        builtins::language_name(name, self.config).map(Ok)
    }

    /// The same in one scope alone.
    fn lookup_in(&self, scope: ScopeId, position: u32, name: &str) -> Option<Evaluated> {
        let scope = &self.scopes[scope.0 as usize];
        let mut failed = None;
        if let Some(candidates) = scope.names.get(name) {
            let before = |it: &&usize| self.bindings[**it].span.start < position;
            // The last one before the place; a function may also use what is bound after it.
            let earlier = candidates.iter().rev().filter(before);
            let later = candidates.iter().filter(|it| !before(it));
            for &binding in earlier.chain(later) {
                match self.is_taken(binding) {
                    Ok(true) => {}
                    Ok(false) => continue,
                    Err(why) => {
                        failed.get_or_insert(Err(why));
                        continue;
                    }
                }
                match self.value(binding) {
                    Ok(value) => return Some(Ok(value)),
                    // An import in a `try` that fails has a fallback before it.
                    Err(why) => {
                        failed.get_or_insert(Err(why));
                        if !matches!(self.bindings[binding].what, Bound::From { .. } | Bound::Module(_)) {
                            break;
                        }
                    }
                }
            }
        }
        if failed.is_none() && !scope.stars.is_empty() {
            return self.lookup_through_stars(scope, name);
        }
        failed
    }

    /// `name` in the files of which a scope imports everything.
    fn lookup_through_stars(&self, scope: &Scope<'p>, name: &str) -> Option<Evaluated> {
        let mut found = None;
        self.star_depth.set(self.star_depth.get() + 1);
        for &star in &scope.stars {
            let Bound::From { level, module, .. } = &self.bindings[star].what else { continue };
            let Some(inner) =
                self.find_module(scope.file, *level, module).and_then(|it| self.module_scope(it))
            else {
                continue;
            };
            let key = (inner, name.to_owned());
            if self.star_depth.get() > MAX_CHAIN || !self.stars.borrow_mut().insert(key.clone()) {
                continue;
            }
            found = self.lookup_in(inner, u32::MAX, name);
            if found.is_some() {
                self.stars.borrow_mut().remove(&key);
                break;
            }
        }
        self.star_depth.set(self.star_depth.get() - 1);
        if self.star_depth.get() == 0 {
            self.stars.borrow_mut().clear();
        }
        found
    }

    /// Whether the `if`s around a binding let it happen.
    fn is_taken(&self, binding: usize) -> Result<bool, Opaque> {
        let binding = &self.bindings[binding];
        for &(test, expected) in &binding.guards {
            let environment = Environment::module(binding.scope, test.span.start);
            let holds = evaluate::expression(self, &environment, test).and_then(|it| {
                evaluate::truth(&it)
                    .ok_or_else(|| Opaque::new("the condition around it is not a number", test.span))
            });
            match holds {
                Ok(holds) if holds == expected => {}
                Ok(_) => return Ok(false),
                Err(opaque) => {
                    let why = format!("it stands under a condition that is not known: {}", opaque.why);
                    return Err(Opaque { why, span: opaque.span });
                }
            }
        }
        Ok(true)
    }

    /// The value of a binding, computed at most once.
    fn value(&self, index: usize) -> Evaluated {
        let binding = &self.bindings[index];
        match &self.memo.borrow()[index] {
            Memo::Done(value) => return value.clone(),
            Memo::InProgress => return Err(Opaque::new("it is computed from itself", binding.span)),
            Memo::Untouched => {}
        }
        if self.chain.get() >= MAX_CHAIN {
            return Err(Opaque::new("it is computed through too many other names", binding.span));
        }
        self.memo.borrow_mut()[index] = Memo::InProgress;
        self.chain.set(self.chain.get() + 1);
        let value = self.compute(binding);
        self.chain.set(self.chain.get() - 1);
        self.memo.borrow_mut()[index] = Memo::Done(value.clone());
        value
    }

    fn compute(&self, binding: &Binding<'p>) -> Evaluated {
        let environment = Environment::module(binding.scope, binding.span.start);
        match &binding.what {
            Bound::Value(value) => evaluate::expression(self, &environment, value),
            Bound::Element(value, position) => match evaluate::expression(self, &environment, value)? {
                Constant::Tuple(parts) if *position < parts.len() => Ok(parts[*position].clone()),
                _ => Err(Opaque::new(
                    "it is unpacked from something that is not a tuple of numbers",
                    value.span,
                )),
            },
            Bound::Augmented(op, name, value) => {
                let old = self.lookup(binding.scope, binding.span.start, name).unwrap_or_else(|| {
                    Err(Opaque::new(format!("`{name}` has no value before"), binding.span))
                })?;
                let value = evaluate::expression(self, &environment, value)?;
                evaluate::binary(*op, &old, &value).map_err(|why| Opaque::new(why, binding.span))
            }
            Bound::Module(path) => Ok(match self.find_module(self.file(binding.scope), 0, path) {
                Some(file) => Constant::Module(file),
                None => Constant::Foreign(Arc::from(path.as_slice())),
            }),
            Bound::From { level, module, name } => self.import(binding, *level, module, name),
            Bound::Function(function) => Ok(Constant::Function(*function)),
            Bound::Class(class) => Ok(Constant::Class(*class)),
            Bound::Unknown(why) => Err(Opaque::new(*why, binding.span)),
        }
    }

    fn file(&self, scope: ScopeId) -> FileId {
        self.scopes[scope.0 as usize].file
    }

    /// A name at the top of a file. Where only running the file would tell, a module that is known without a
    /// file says what it knows.
    fn name_of(&self, file: FileId, name: &str) -> Option<Evaluated> {
        let &scope = self.modules.get(usize::from(file.0))?;
        let module = &self.program.files.get(usize::from(file.0))?.module;
        let known = || {
            let known = builtins::is_builtin_module(module);
            known.then(|| builtins::module_attribute(module, name, self.config)).flatten()
        };
        // What the language itself is made of is no text to compile.
        if builtins::is_language_module(module)
            && let Some(word) = builtins::language_name(name, self.config)
        {
            return Some(Ok(word));
        }
        Some(self.lookup_in(scope, u32::MAX, name)?.or_else(|opaque| known().ok_or(opaque)))
    }

    /// `from module import name`
    fn import(&self, binding: &Binding<'p>, level: u32, module: &[String], name: &str) -> Evaluated {
        let from = self.file(binding.scope);
        if let Some(file) = self.find_module(from, level, module)
            && let Some(found) = self.name_of(file, name)
        {
            return found;
        }
        let mut path = module.to_vec();
        path.push(name.to_owned());
        if let Some(file) = self.find_module(from, level, &path) {
            return Ok(Constant::Module(file));
        }
        if let Some(known) = builtins::module_attribute(module, name, self.config) {
            return Ok(known);
        }
        if level == 0 && builtins::is_builtin_module(&path) {
            return Ok(Constant::Foreign(Arc::from(path)));
        }
        let dots = ".".repeat(level as usize);
        let module = module.join(".");
        Err(Opaque::new(
            format!("it comes from the module `{dots}{module}`, which is not among the files"),
            binding.span,
        ))
    }

    /// The file that an import path means: the one whose path shares the longest end with it.
    #[must_use]
    pub fn find_module(&self, from: FileId, level: u32, path: &[String]) -> Option<FileId> {
        let files = &self.program.files;
        let mut wanted = path.to_vec();
        if level > 0 {
            let source = files.get(usize::from(from.0))?;
            let up = (level as usize).saturating_sub(usize::from(source.is_package));
            if let Some(keep) = source.module.len().checked_sub(up) {
                wanted = [&source.module[..keep], path].concat();
            }
        }
        if wanted.is_empty() {
            return None;
        }
        let must_match_whole = level == 0 && builtins::is_builtin_module(path);
        let mut best: Option<(usize, FileId)> = None;
        for (position, file) in files.iter().enumerate() {
            let id = FileId(u16::try_from(position).ok()?);
            let common =
                file.module.iter().rev().zip(wanted.iter().rev()).take_while(|(a, b)| a == b).count();
            let is_suffix = common > 0 && (common == wanted.len() || common == file.module.len());
            let is_match = is_suffix && (!must_match_whole || common == wanted.len());
            if is_match && best.is_none_or(|(longest, _)| common > longest) {
                best = Some((common, id));
            }
        }
        best.map(|(_, file)| file)
    }

    /// `value.name`
    pub fn attribute(&self, value: &Constant, name: &str, span: Span) -> Evaluated {
        match value {
            Constant::Namespace(members) => members
                .get(name)
                .cloned()
                .ok_or_else(|| Opaque::new(format!("the object has no attribute `{name}`"), span)),
            Constant::Module(file) => {
                if let Some(found) = self.name_of(*file, name) {
                    return found;
                }
                let module = self.program.files.get(usize::from(file.0)).map_or(&[][..], |it| &it.module);
                let path = [module, &[name.to_owned()]].concat();
                self.find_module(*file, 0, &path)
                    .filter(|it| it != file)
                    .map(Constant::Module)
                    .ok_or_else(|| Opaque::new(format!("the module has no name `{name}`"), span))
            }
            Constant::Foreign(path) => {
                let inner = [&path[..], &[name.to_owned()]].concat();
                if let Some(file) = self.find_module(span.file, 0, &inner) {
                    return Ok(Constant::Module(file));
                }
                if let Some(file) = self.find_module(span.file, 0, path)
                    && let Some(found) = self.name_of(file, name)
                {
                    return found;
                }
                if let Some(known) = builtins::module_attribute(path, name, self.config) {
                    return Ok(known);
                }
                // It may be a package on the way to a module.
                let is_inside = builtins::is_builtin_module(&inner) && path.len() < 3;
                if is_inside || path.len() < 8 && !builtins::is_builtin_module(path) {
                    return Ok(Constant::Foreign(Arc::from(inner)));
                }
                let module = path.join(".");
                Err(Opaque::new(format!("`{name}` of the module `{module}` is not known"), span))
            }
            Constant::Class(class) => {
                let class = &self.classes[class.0 as usize];
                let is_enum = class.def.bases.iter().any(|it| {
                    it.as_dotted()
                        .is_some_and(|it| matches!(it.last(), Some(&"IntEnum" | &"Enum" | &"IntFlag")))
                });
                match self.lookup_in(class.body, u32::MAX, name) {
                    Some(Ok(Constant::Int(value))) if is_enum => Ok(Constant::Member(value)),
                    Some(found) => found,
                    None => {
                        let class = &class.def.name.name;
                        Err(Opaque::new(format!("the class `{class}` has no attribute `{name}`"), span))
                    }
                }
            }
            Constant::Word("FieldBundleType") if name == "T" => Ok(Constant::Word("FieldBundleType.T")),
            // `gtscript.Field`, where `gtscript` is not imported.
            Constant::Word("gtscript") => builtins::language_name(name, self.config)
                .ok_or_else(|| Opaque::new(format!("`gtscript` has no name `{name}`"), span)),
            Constant::Unsupported(what) => Err(Opaque::new(format!("it is {what}"), span)),
            other => Err(Opaque::new(format!("{} has no attribute `{name}`", other.describe()), span)),
        }
    }

    /// The type of a bundle of fields: as the files register it, or as the dtypes name it.
    pub(super) fn bundle(&self, name: &Arc<str>, span: Span) -> Evaluated {
        for Registration { scope, span, args, keywords } in &self.bundles {
            let environment = Environment::module(*scope, span.start);
            let [given, sizes, element] = evaluate::arguments(["name", "data_dims", "dtype"], args, keywords)
                .map(|it| it.map(|it| evaluate::expression(self, &environment, it)));
            let (Some(Ok(Constant::Str(given))), Some(sizes)) = (given, sizes) else { continue };
            if given != *name {
                continue;
            }
            let element =
                element.unwrap_or(Ok(Constant::Element(ElementType::Fixed(self.config.literal_float))))?;
            return field_types::with_data(&sizes?, &element)
                .map(Constant::Field)
                .map_err(|why| Opaque::new(why, *span));
        }
        if self.config.dtypes.contains_key(&**name) {
            return Ok(Constant::Element(ElementType::Named(name.clone())));
        }
        let why = format!(
            "no file has `FieldBundleType.register(\"{name}\", (...))`, and the dtypes have no \"{name}\""
        );
        Err(Opaque::new(why, span))
    }

    /// Whether the class is an enumeration of integers.
    #[must_use]
    pub fn is_int_enum(&self, class: ClassId) -> bool {
        let bases = &self.classes[class.0 as usize].def.bases;
        bases
            .iter()
            .any(|it| it.as_dotted().is_some_and(|it| matches!(it.last(), Some(&"IntEnum" | &"IntFlag"))))
    }

    /// The value of an external; names in it are looked up from the main file.
    pub fn external(&self, external: &External, span: Span) -> Evaluated {
        let from_main = |dotted: &str| -> Evaluated {
            let scope = self.program.main.and_then(|it| self.module_scope(it));
            let mut parts = dotted.split('.');
            let first = parts.next().unwrap_or(dotted);
            let mut value = scope.and_then(|it| self.lookup(it, u32::MAX, first)).unwrap_or_else(|| {
                // A path that the main file does not import may still be among the files.
                Ok(Constant::Foreign(Arc::from([first.to_owned()])))
            })?;
            for part in parts {
                value = self.attribute(&value, part, span)?;
            }
            match value {
                Constant::Foreign(_) => {
                    Err(Opaque::new(format!("no function or class `{dotted}` is in the files"), span))
                }
                value => Ok(value),
            }
        };
        Ok(match external {
            External::Bool(it) => Constant::Bool(*it),
            External::Int(it) => Constant::Int(*it),
            External::Float(it) => Constant::Float(*it),
            External::Typed(it) => Constant::Typed(*it),
            External::None => Constant::None,
            External::Function(name) => match from_main(name)? {
                it @ Constant::Function(_) => it,
                other => {
                    return Err(Opaque::new(
                        format!("`{name}` is {} and not a function", other.describe()),
                        span,
                    ));
                }
            },
            External::Member { enumeration, member } => {
                let class = from_main(enumeration)?;
                self.attribute(&class, member, span)?
            }
            External::Namespace(members) => {
                let mut values = BTreeMap::new();
                for (name, member) in members {
                    let value = self
                        .external(member, span)
                        .unwrap_or_else(|opaque| Constant::Unsupported(Arc::from(opaque.why)));
                    values.insert(name.clone(), value);
                }
                Constant::Namespace(Arc::new(values))
            }
            External::Axis { axis, index: None, .. } => Constant::Axis(*axis),
            External::Axis { axis, index: Some(index), offset } => {
                Constant::Position(super::constants::AxisPosition {
                    axis: *axis,
                    index: *index,
                    offset: *offset,
                })
            }
            External::Unsupported(what) => Constant::Unsupported(Arc::from(what.as_str())),
        })
    }

    /// A class called without arguments: an object with the defaults of its body.
    pub(super) fn instance(&self, class: ClassId, span: Span) -> Evaluated {
        let class = &self.classes[class.0 as usize];
        let scope = &self.scopes[class.body.0 as usize];
        let mut members = BTreeMap::new();
        for &name in scope.names.keys() {
            let value = match self.lookup_in(class.body, u32::MAX, name) {
                Some(Ok(value)) => value,
                Some(Err(opaque)) => Constant::Unsupported(Arc::from(opaque.why)),
                None => continue,
            };
            members.insert(name.to_owned(), value);
        }
        if members.is_empty() {
            return Err(Opaque::new("the object has no attributes that are known without running it", span));
        }
        Ok(Constant::Namespace(Arc::new(members)))
    }
}
