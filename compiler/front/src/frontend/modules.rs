//! Which name means what: scopes, imports across files, all resolved on demand.
//!
//! Nothing is run in file order. A name is looked up from the place that uses
//! it, through the bindings that stand before that place; its value is computed
//! once. So circular imports resolve, and what no stencil needs is never looked at.

use std::cell::{Cell, OnceCell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;
use std::sync::Arc;

pub use super::bindings::FunctionInfo;
use super::bindings::{Binding, BoundValue, BuildCall, ClassInfo, FileNames, Memo, Registration, Scope};
use super::builtins;
use super::classes::is_decorated;
use super::constants::{Constant, ElementType, Evaluation, Opaque};
use super::evaluate::{self, Environment};
use super::field_types;
pub use super::ids::{ClassId, FunctionId, ScopeId};
use super::program::{Program, SourceFile};
use super::syntax::Expr;
use crate::config::{Config, External};
use crate::diag::{FileId, Span};

/// How many names may be computed through one another: `A1 = A0 + 1`, `A2 = A1 + 1`, ...
pub(super) const MAX_CHAIN: usize = 64;
/// How deeply expressions may nest, with those of the names in them: a stack in the browser does not grow.
const MAX_DEPTH: usize = 1024;
const FROM_ITSELF: &str = "it is computed from itself";
const CHAIN_TOO_LONG: &str = "it is computed through too many other names";

/// Why the members of an enumeration cannot be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EnumFault {
    NotOfIntegers,
    /// Another one with the same name is here.
    NamedTwice(Span),
}

/// The values of the names of a program. A file is read when one of its names is needed.
#[derive(Debug)]
pub struct Names<'p> {
    pub(super) program: &'p Program,
    pub config: &'p Config,
    /// In the order of the program's files.
    files: Vec<OnceCell<FileNames<'p>>>,
    chain: Cell<usize>,
    /// How deeply the expression nests that is being computed.
    depth: Cell<usize>,
    /// The names that are being searched through `import *`, or were not found that way. Such imports may
    /// form cycles.
    pub(super) stars: RefCell<BTreeSet<(ScopeId, String)>>,
    pub(super) star_depth: Cell<usize>,
    /// The expressions that are being computed and have no name: conditions, bases of classes, ...
    pub(super) computing: RefCell<Vec<Span>>,
    /// The assumptions so far, by the place of each.
    assumed: RefCell<BTreeMap<Span, MachineAssumption>>,
    /// How many statements were run so far.
    pub(super) n_run: Cell<usize>,
    /// How many functions of the files are being called within one another.
    pub(super) n_calls: Cell<usize>,
    /// The files that may assign an attribute of something outside, by its name.
    pub(super) assigning: RefCell<BTreeMap<String, Rc<[FileId]>>>,
    /// The files that run when the main file does.
    pub(super) run_by_main: OnceCell<BTreeSet<FileId>>,
}

/// An assumption about the machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MachineAssumption {
    /// An environment variable is not set: its default holds.
    Unset { variable: String },
    /// A module is not there, as it is not among the files: what `except` says holds.
    Absent { module: String },
}

impl<'p> Names<'p> {
    /// The names of a program, none of them looked at.
    #[must_use]
    pub fn new(program: &'p Program, config: &'p Config) -> Self {
        Self {
            program,
            config,
            files: program.files.iter().map(|_| OnceCell::new()).collect(),
            chain: Cell::new(0),
            depth: Cell::new(0),
            stars: RefCell::new(BTreeSet::new()),
            star_depth: Cell::new(0),
            computing: RefCell::default(),
            assumed: RefCell::default(),
            n_run: Cell::new(0),
            n_calls: Cell::new(0),
            assigning: RefCell::default(),
            run_by_main: OnceCell::new(),
        }
    }

    /// The assumptions behind all values so far, in order of files and text.
    #[must_use]
    pub fn assumed(&self) -> Vec<(Span, MachineAssumption)> {
        self.assumed.borrow().iter().map(|(span, it)| (*span, it.clone())).collect()
    }

    pub(super) fn assume(&self, span: Span, what: MachineAssumption) {
        self.assumed.borrow_mut().insert(span, what);
    }

    /// The names of a file, which is read now if it was not before.
    pub(super) fn of_file(&self, file: FileId) -> &FileNames<'p> {
        // A `FileId` outside the program is the fault of who made it.
        let position = usize::from(file.0);
        self.files[position].get_or_init(|| FileNames::of(file, &self.program.files[position].syntax().body))
    }

    pub(super) fn scope(&self, scope: ScopeId) -> &Scope<'p> {
        &self.of_file(scope.file).scopes[scope.index as usize]
    }

    /// The text at a place.
    #[must_use]
    pub fn text(&self, span: Span) -> &'p str {
        self.program.text(span)
    }

    /// The path of a file as a module.
    #[must_use]
    pub fn module_path(&self, file: FileId) -> Option<&'p [String]> {
        self.program.files.get(usize::from(file.0)).map(|it| it.module.as_slice())
    }

    /// How many bytes a file has.
    #[must_use]
    pub fn end_of(&self, file: FileId) -> u32 {
        let text = self.program.files.get(usize::from(file.0)).map_or("", |it| &it.text);
        u32::try_from(text.len()).unwrap_or(u32::MAX)
    }

    /// Every name that the files bind in a scope or around it, but for what `import *` brings.
    #[must_use]
    pub fn visible(&self, scope: ScopeId) -> BTreeSet<&'p str> {
        let scopes = std::iter::successors(Some(scope), |it| self.scope(*it).parent);
        scopes.flat_map(|id| self.scope(id).names.keys().copied()).collect()
    }

    /// The names that may follow the dot of a value, as far as the files tell.
    #[must_use]
    pub fn attributes(&self, value: &Constant) -> Vec<String> {
        let of_scope =
            |scope: ScopeId| self.scope(scope).names.keys().map(|&it| it.to_owned()).collect::<Vec<String>>();
        match value {
            Constant::Namespace(members) => members.keys().cloned().collect(),
            Constant::Class(class) => of_scope(self.class(*class).body),
            Constant::Module(file) => self.module_scope(*file).map(of_scope).unwrap_or_default(),
            Constant::Foreign(path) => builtins::known_names(path).map(str::to_owned).collect(),
            _ => Vec::new(),
        }
    }

    /// All files of the program.
    pub fn files(&self) -> impl Iterator<Item = FileId> + use<> {
        (0..).map(FileId).take(self.program.files.len())
    }

    /// The files that something was needed of.
    pub fn reached(&self) -> impl Iterator<Item = &'p SourceFile> {
        let files = self.files.iter().zip(&self.program.files);
        files.filter(|(names, _)| names.get().is_some()).map(|(_, file)| &**file)
    }

    #[must_use]
    pub fn function(&self, function: FunctionId) -> FunctionInfo<'p> {
        self.of_file(function.file).functions[function.index as usize]
    }

    pub(super) fn class(&self, class: ClassId) -> &ClassInfo<'p> {
        &self.of_file(class.file).classes[class.index as usize]
    }

    /// All functions of a file, in order of the text.
    pub fn functions(&self, file: FileId) -> impl Iterator<Item = (FunctionId, &FunctionInfo<'p>)> {
        (0..).map(move |index| FunctionId { file, index }).zip(&self.of_file(file).functions)
    }

    /// All classes of a file, in order of the text.
    pub(super) fn classes(&self, file: FileId) -> impl Iterator<Item = (ClassId, &ClassInfo<'p>)> {
        (0..).map(move |index| ClassId { file, index }).zip(&self.of_file(file).classes)
    }

    /// The calls of a file that may tell how a stencil is built, in order of the text.
    pub(super) fn builds(&self, file: FileId) -> &[BuildCall<'p>] {
        &self.of_file(file).builds
    }

    /// The bindings of `name` in a scope, the last first, each with its scope and the place where it is
    /// written.
    pub(super) fn bound(&self, id: ScopeId, name: &str) -> Vec<(ScopeId, Span, &BoundValue<'p>)> {
        let file = self.of_file(id.file);
        let of_name = self.scope(id).names.get(name).map(Vec::as_slice).unwrap_or_default();
        let of_name = of_name.iter().rev().map(|&it| &file.bindings[it]);
        of_name.map(|it| (it.scope, it.span, &it.what)).collect()
    }

    /// Each `from module import *` of a scope: its place, level and module.
    pub(super) fn starred(&self, id: ScopeId) -> Vec<(Span, u32, &[String])> {
        let file = self.of_file(id.file);
        let of_scope = self.scope(id).stars.iter().map(|&it| &file.bindings[it]);
        let read = of_scope.filter_map(|it| match &it.what {
            BoundValue::From { level, module, .. } => Some((it.span, *level, module.as_slice())),
            _ => None,
        });
        read.collect()
    }

    /// The scope around another.
    pub(super) fn parent(&self, id: ScopeId) -> Option<ScopeId> {
        self.scope(id).parent
    }

    /// The top level of the file that an import means, and the end of that file.
    pub(super) fn top_of(&self, at: Span, level: u32, module: &[String]) -> Option<(ScopeId, u32)> {
        let file = self.find_module(at.file, level, module)?;
        Some((self.module_scope(file)?, u32::MAX))
    }

    /// The names of a file's top level.
    #[must_use]
    pub fn module_scope(&self, file: FileId) -> Option<ScopeId> {
        (usize::from(file.0) < self.files.len()).then_some(ScopeId { file, index: 0 })
    }

    /// Computes the value of a part of the present expression, one level deeper; an error if that nests too
    /// deeply.
    pub(super) fn deeper(&self, span: Span, compute: impl FnOnce() -> Evaluation) -> Evaluation {
        let depth = self.depth.get();
        if depth >= MAX_DEPTH {
            return Err(Opaque::new(CHAIN_TOO_LONG, span));
        }
        self.depth.set(depth + 1);
        let value = compute();
        self.depth.set(depth);
        value
    }

    /// The value of an expression that no name stands for, on the way to the value of another one.
    pub(super) fn unnamed(&self, environment: &Environment<'_>, expr: &Expr) -> Evaluation {
        let why = {
            let computing = self.computing.borrow();
            match computing.contains(&expr.span) {
                true => Some(FROM_ITSELF),
                false => (computing.len() >= MAX_CHAIN).then_some(CHAIN_TOO_LONG),
            }
        };
        if let Some(why) = why {
            return Err(Opaque::new(why, expr.span));
        }
        self.computing.borrow_mut().push(expr.span);
        let value = evaluate::expression(self, environment, expr);
        self.computing.borrow_mut().pop();
        value
    }

    /// The value of a binding, computed at most once.
    pub(super) fn value(&self, file: &FileNames<'p>, index: usize) -> Evaluation {
        let binding = &file.bindings[index];
        match &file.memo.borrow()[index] {
            Memo::Done(value) => return value.clone(),
            Memo::InProgress => return Err(Opaque::new(FROM_ITSELF, binding.span)),
            Memo::Untouched => {}
        }
        if self.chain.get() >= MAX_CHAIN {
            return Err(Opaque::new(CHAIN_TOO_LONG, binding.span));
        }
        file.memo.borrow_mut()[index] = Memo::InProgress;
        self.chain.set(self.chain.get() + 1);
        let value = self.compute(binding);
        self.chain.set(self.chain.get() - 1);
        file.memo.borrow_mut()[index] = Memo::Done(value.clone());
        value
    }

    fn compute(&self, binding: &Binding<'p>) -> Evaluation {
        let environment = Environment::module(binding.scope, binding.span.start);
        match &binding.what {
            BoundValue::Value(value) => evaluate::expression(self, &environment, value),
            BoundValue::Element(value, position) => {
                let whole = evaluate::expression(self, &environment, value)?;
                let part = whole.elements().and_then(|it| it.get(*position));
                part.cloned().ok_or_else(|| {
                    Opaque::new("it is unpacked from something that is not a tuple of numbers", value.span)
                })
            }
            BoundValue::Behind(stmt, name) => evaluate::behind(self, binding.scope, stmt, name),
            BoundValue::Augmented(op, name, value) => {
                let old = self.lookup(binding.scope, binding.span.start, name).unwrap_or_else(|| {
                    Err(Opaque::new(format!("`{name}` has no value before"), binding.span))
                })?;
                let value = evaluate::expression(self, &environment, value)?;
                evaluate::binary(*op, &old, &value).map_err(|why| Opaque::new(why, binding.span))
            }
            BoundValue::Module(path) => Ok(match self.find_module(binding.scope.file, 0, path) {
                Some(file) => Constant::Module(file),
                None => Constant::Foreign(Arc::from(path.as_slice())),
            }),
            BoundValue::From { level, module, name } => self.import(binding, *level, module, name),
            BoundValue::Function(function) => Ok(Constant::Function(*function)),
            BoundValue::Class(class) => Ok(Constant::Class(*class)),
            BoundValue::This(class) => Ok(Constant::Object(*class)),
            BoundValue::Unknown(why) => Err(Opaque::change(*why, binding.span)),
        }
    }

    /// A name at the top of a file. Where only running the file would tell, a module that is known without a
    /// file says what it knows.
    fn name_of(&self, file: FileId, name: &str) -> Option<Evaluation> {
        let scope = self.module_scope(file)?;
        let module = &self.program.files.get(usize::from(file.0))?.module;
        let known = || {
            let known = builtins::is_builtin_module(module);
            known.then(|| builtins::module_attribute(module, name, self.config)).flatten()
        };
        // A word of the language is not evaluated from the files that define the language itself.
        if builtins::is_language_module(module)
            && let Some(word) = builtins::language_name(name, self.config)
        {
            return Some(Ok(word));
        }
        Some(self.lookup_in(scope, u32::MAX, name)?.or_else(|opaque| known().ok_or(opaque)))
    }

    /// `from module import name`
    fn import(&self, binding: &Binding<'p>, level: u32, module: &[String], name: &str) -> Evaluation {
        self.import_from((binding.scope.file, binding.span), level, module, name)
    }

    /// Finds the value that `from module import name` brings.
    pub(super) fn import_from(
        &self,
        (from, span): (FileId, Span),
        level: u32,
        module: &[String],
        name: &str,
    ) -> Evaluation {
        let found = self.find_module(from, level, module).and_then(|file| self.name_of(file, name));
        let opaque = match found {
            Some(Ok(found)) => return Ok(found),
            Some(Err(opaque)) => Some(opaque),
            None => None,
        };
        // A package that does not bind the name, or by an import of its own module alone, has a module of that name.
        let mut path = module.to_vec();
        path.push(name.to_owned());
        if let Some(file) = self.find_module(from, level, &path) {
            return Ok(Constant::Module(file));
        }
        if let Some(known) = builtins::module_attribute(module, name, self.config) {
            return Ok(known);
        }
        if let Some(opaque) = opaque {
            return Err(opaque);
        }
        if level == 0 && builtins::is_builtin_module(&path) {
            return Ok(Constant::Foreign(Arc::from(path)));
        }
        let dots = ".".repeat(level as usize);
        let module = module.join(".");
        Err(Opaque::new(
            format!("it comes from the module `{dots}{module}`, which is not among the files"),
            span,
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
        if level == 0 && builtins::is_installed_module(path) {
            return None;
        }
        let must_match_whole = level == 0 && builtins::is_builtin_module(path);
        let importer: &[String] = files.get(usize::from(from.0)).map_or(&[], |it| &it.module);
        let mut best: Option<((usize, usize), FileId)> = None;
        for &id in self.program.by_name().ending_with(wanted.last()?) {
            let Some(file) = files.get(usize::from(id.0)) else { continue };
            let common =
                file.module.iter().rev().zip(wanted.iter().rev()).take_while(|(a, b)| a == b).count();
            let is_suffix = common == wanted.len() || common == file.module.len();
            if !is_suffix || must_match_whole && common < wanted.len() {
                continue;
            }
            // Of several that fit alike, the one that is nearest in the tree of folders.
            let near = file.module.iter().zip(importer).take_while(|(a, b)| a == b).count();
            if best.is_none_or(|(longest, _)| (common, near) > longest) {
                best = Some(((common, near), id));
            }
        }
        best.map(|(_, file)| file)
    }

    /// The files that the main file imports, those that they import, and the packages around each.
    pub(super) fn run_by_main(&self) -> &BTreeSet<FileId> {
        self.run_by_main.get_or_init(|| {
            let mut found = BTreeSet::new();
            let mut next: Vec<FileId> = self.program.main.into_iter().collect();
            while let Some(id) = next.pop() {
                let Some(file) = self.program.files.get(usize::from(id.0)).filter(|_| found.insert(id))
                else {
                    continue;
                };
                let imported = file.imported().iter();
                next.extend(imported.filter_map(|it| self.find_module(id, it.level, &it.path)));
                next.extend(self.packages_around(file));
            }
            found
        })
    }

    /// The `__init__.py` of each package that a file stands in.
    fn packages_around<'a>(&'a self, file: &'a SourceFile) -> impl Iterator<Item = FileId> + 'a {
        (1..file.module.len()).flat_map(move |end| {
            let package = &file.module[..end];
            let alike = self.program.by_name().ending_with(&file.module[end - 1]).iter().copied();
            alike.filter(move |id| {
                let it = self.program.files.get(usize::from(id.0));
                it.is_some_and(|it| it.is_package && it.module == package)
            })
        })
    }

    /// `value.name`
    pub fn attribute(&self, value: &Constant, name: &str, span: Span) -> Evaluation {
        match value {
            Constant::Namespace(members) => match members.get(name) {
                Some(Constant::Unsupported(why)) => Err(Opaque::new(format!("it is {why}"), span)),
                Some(value) => Ok(value.clone()),
                None => Err(Opaque::new(format!("the object has no attribute `{name}`"), span)),
            },
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
                Err(builtins::not_known(&inner, span))
            }
            Constant::Word("os.environ") if name == "get" => Ok(Constant::Word("os.getenv")),
            // Where NDSL's own files are among the modules.
            Constant::Class(class) if name == "T" && self.class_name(*class).0 == "FieldBundleType" => {
                Ok(Constant::Word("FieldBundleType.T"))
            }
            Constant::Class(class) => self.class_attribute(*class, name, span),
            Constant::Object(class) => self.object_attribute(*class, name, span),
            Constant::Member(it) if name == "value" => Ok(Constant::Int(*it)),
            // A member of an enumeration of strings.
            Constant::Str(_) if name == "value" => Ok(value.clone()),
            Constant::Word("FieldBundleType") if name == "T" => Ok(Constant::Word("FieldBundleType.T")),
            // `gtscript.Field`, where `gtscript` is not imported.
            Constant::Word("gtscript") => builtins::language_name(name, self.config)
                .ok_or_else(|| Opaque::new(format!("`gtscript` has no name `{name}`"), span)),
            Constant::Unsupported(what) => Err(Opaque::new(format!("it is {what}"), span)),
            other => Err(Opaque::new(format!("{} has no attribute `{name}`", other.describe()), span)),
        }
    }

    /// The type of a bundle of fields: as the files register it, or as the dtypes name it.
    pub(super) fn bundle(&self, name: &Arc<str>, span: Span) -> Evaluation {
        let may_register = |it: &SourceFile| it.text.contains("FieldBundleType.register");
        let files = (0..).map(FileId).zip(&self.program.files).filter(|(_, it)| may_register(it));
        for Registration { scope, span, args, keywords } in
            files.flat_map(|(file, _)| &self.of_file(file).bundles)
        {
            let environment = Environment::module(*scope, span.start);
            let [given, sizes, element] =
                super::syntax::arguments(["name", "data_dims", "dtype"], args, keywords)
                    .map(|it| it.map(|it| self.unnamed(&environment, it)));
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

    /// The name of a class where it is defined.
    #[must_use]
    pub fn class_name(&self, class: ClassId) -> (&'p str, Span) {
        let name = &self.class(class).def.name;
        (&name.name, name.span)
    }

    /// The fault for which the members of a class cannot be read in a stencil; `None` if it is not meant as
    /// an enumeration.
    #[must_use]
    pub fn enum_fault(&self, class: ClassId) -> Option<EnumFault> {
        let def = self.class(class).def;
        if (self.has_base(class, &["Enum"]) || is_decorated(def)) && !self.is_int_enum(class) {
            return Some(EnumFault::NotOfIntegers);
        }
        let is_twin =
            |it: &&ClassInfo<'p>| it.def.name.name == def.name.name && it.def.name.span != def.name.span;
        let of_file = self.of_file(class.file).classes.iter();
        let twin = of_file.filter(is_twin).find(|it| is_decorated(it.def) && is_decorated(def))?;
        Some(EnumFault::NamedTwice(twin.def.name.span))
    }

    /// The value of an external; names in it are looked up from the main file.
    pub fn external(&self, external: &External, span: Span) -> Evaluation {
        let from_main = |dotted: &str| -> Evaluation {
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
}
