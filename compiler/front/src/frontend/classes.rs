//! Classes as far as constants need them: attributes, enumerations, and objects whose parts are known without running.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::bindings::ClassInfo;
use super::constants::{Constant, Evaluation, Opaque};
use super::evaluate::Environment;
use super::ids::ClassId;
use super::modules::{EnumFault, Names};
use super::syntax::{ClassDef, Expr, ExprKind, FunctionDef, Keyword, StmtKind};
use crate::diag::{FileId, Span};

/// How many classes one may inherit from, itself among them.
const MAX_LINEAGE: usize = 64;

impl<'p> Names<'p> {
    /// `Class.name`
    pub(super) fn class_attribute(&self, class: ClassId, name: &str, span: Span) -> Evaluation {
        let def = self.class(class).def;
        let lineage: Vec<ClassId> = self.lineage(class).collect();
        if let Some(span) = lineage.iter().find_map(|it| altered(self.class(*it).def)) {
            return Err(Opaque::new("what makes the class may change it", span));
        }
        let found = if self.has_base(class, &ENUMS) { self.member(class, name) } else { None };
        let found = found.or_else(|| self.inherited(class, name)).unwrap_or_else(|| {
            Err(Opaque::new(format!("the class `{}` has no attribute `{name}`", def.name.name), span))
        })?;
        self.hold_class(&lineage, name)?;
        Ok(found)
    }

    /// `self.name`: what a method assigns to it, if only one place does, or what the class has.
    pub(super) fn object_attribute(&self, class: ClassId, name: &str, span: Span) -> Evaluation {
        self.assigned(class, name, span).unwrap_or_else(|| self.class_attribute(class, name, span))
    }

    /// The value that the methods of a class or of its bases assign to an attribute of their object.
    fn assigned(&self, class: ClassId, name: &str, span: Span) -> Option<Evaluation> {
        self.lineage(class).find_map(|it| {
            let object = self.class(it).object;
            match self.scope(object).names.get(name)?.len() {
                1 => self.lookup_in(object, u32::MAX, name),
                _ => Some(Err(Opaque::new("it is assigned in several places", span))),
            }
        })
    }

    /// The attribute of a class or of its bases.
    fn inherited(&self, class: ClassId, name: &str) -> Option<Evaluation> {
        self.lineage(class).find_map(|it| self.lookup_in(self.class(it).body, u32::MAX, name))
    }

    /// The class and its ancestors, depth first: its first base, the bases of that one, then its second base.
    ///
    /// Only classes that the files define are listed, each once. Each is searched for when the iterator
    /// reaches it.
    pub fn lineage(&self, class: ClassId) -> impl Iterator<Item = ClassId> {
        let (mut next, mut last, mut seen) = (vec![class], None, Vec::new());
        std::iter::from_fn(move || {
            if let Some(last) = last.take() {
                next.extend(self.bases(last).into_iter().rev());
            }
            while let Some(class) = next.pop() {
                if seen.len() < MAX_LINEAGE && !seen.contains(&class) {
                    seen.push(class);
                    last = Some(class);
                    return Some(class);
                }
            }
            None
        })
    }

    /// The text of a class.
    #[must_use]
    pub fn class_def(&self, class: ClassId) -> &'p ClassDef {
        self.class(class).def
    }

    /// All classes of a file, in order of the text.
    pub fn class_ids(&self, file: FileId) -> impl Iterator<Item = ClassId> + '_ {
        self.classes(file).map(|it| it.0)
    }

    /// The bases that the files define.
    fn bases(&self, class: ClassId) -> Vec<ClassId> {
        let ClassInfo { def, scope, .. } = self.class(class);
        let environment = Environment::module(*scope, def.name.span.start);
        let base = |it: &Expr| match self.unnamed(&environment, it) {
            Ok(Constant::Class(base)) => Some(base),
            _ => None,
        };
        def.bases.iter().filter_map(base).collect()
    }

    /// A member of an enumeration; `auto()` counts on from the one before.
    fn member(&self, class: ClassId, name: &str) -> Option<Evaluation> {
        let ClassInfo { def, body, .. } = self.class(class);
        let mut next = Some(1);
        for stmt in &def.body {
            let StmtKind::Assign { targets, value } = &stmt.kind else { continue };
            let [target] = targets.as_slice() else { continue };
            let Some(target) = target.as_name() else {
                next = None;
                continue;
            };
            let found = match &value.kind {
                ExprKind::Call { function, .. }
                    if function.as_dotted().is_some_and(|it| it.last() == Some(&"auto")) =>
                {
                    next.map(Constant::Int)
                        .ok_or_else(|| Opaque::new("`auto()` follows a value that is not known", value.span))
                }
                // The binding of this statement, which is computed once.
                _ => self.lookup_in(*body, stmt.span.start + 1, target)?,
            };
            next = found.as_ref().ok().and_then(|it| it.as_int()?.checked_add(1));
            if target == name {
                return Some(found.map(|it| match it {
                    Constant::Int(it) => Constant::Member(it),
                    other => other,
                }));
            }
        }
        None
    }

    /// Whether the class is an enumeration of integers.
    #[must_use]
    pub fn is_int_enum(&self, class: ClassId) -> bool {
        self.has_base(class, &["IntEnum", "IntFlag"])
    }

    /// Whether the class, or one that it inherits from, has one of these bases.
    pub(super) fn has_base(&self, class: ClassId, names: &[&str]) -> bool {
        self.lineage(class).any(|it| has_base(self.class(it).def, names))
    }

    /// Whether each class that this one inherits from is among the files, or known by its name.
    fn knows_bases(&self, class: ClassId) -> bool {
        let known = |it: &Expr| last_part(it).is_some_and(|it| ENUMS.contains(&it) || PLAIN.contains(&it));
        self.lineage(class).all(|it| {
            let bases = &self.class(it).def.bases;
            bases.iter().filter(|it| !known(it)).count() <= self.bases(it).len()
        })
    }

    /// The faults of the classes of a file that are decorated as enumerations, each with the place of its
    /// name.
    ///
    /// GT4Py refuses such classes when it imports the file. Classes in functions are left out, since those
    /// functions may never be called.
    #[must_use]
    pub fn faulty_enums(&self, file: FileId) -> Vec<(&'p str, Span, EnumFault)> {
        let decorated = self.classes(file).filter(|(id, _)| self.is_marked_enum(*id));
        let faulty = decorated.filter_map(|(class, info)| {
            let name = &info.def.name;
            let fault = match self.enum_fault(class)? {
                EnumFault::NotOfIntegers if !self.knows_bases(class) => return None,
                // The second one of a name is the one too many.
                EnumFault::NamedTwice(other) if other > name.span => return None,
                fault => fault,
            };
            Some((&*name.name, name.span, fault))
        });
        faulty.collect()
    }

    /// Whether the class is decorated as an enumeration when its file is imported, so that its faults are told where it
    /// stands.
    #[must_use]
    pub fn is_marked_enum(&self, class: ClassId) -> bool {
        let ClassInfo { def, scope, .. } = self.class(class);
        let mut around = std::iter::successors(Some(*scope), |it| self.scope(*it).parent);
        is_decorated(def) && around.all(|it| it.index == 0 || self.scope(it).class.is_some())
    }

    /// A class that is called: an object with the defaults of its body, and of its bases', and what the call gives.
    pub(super) fn instance(
        &self,
        class: ClassId,
        args: Vec<Constant>,
        keywords: Vec<(String, Constant)>,
        span: Span,
    ) -> Evaluation {
        let mut members = BTreeMap::new();
        let mut fields = Vec::new();
        let mut is_made_by_hand = false;
        // The defaults of a class replace those of its bases, so the bases come first.
        let lineage: Vec<ClassId> = self.lineage(class).collect();
        for it in lineage.into_iter().rev() {
            self.defaults(it, &mut members, &mut fields, &mut is_made_by_hand);
        }
        if !args.is_empty() || !keywords.is_empty() {
            if is_made_by_hand || args.len() > fields.len() {
                return Err(Opaque::new("the object cannot be made without running the file", span));
            }
            members.extend(fields.iter().cloned().zip(args));
            for (name, value) in keywords {
                if !fields.contains(&name) {
                    return Err(Opaque::new(format!("the object takes no `{name}`"), span));
                }
                members.insert(name, value);
            }
        }
        if let Some(span) = self.lineage(class).find_map(|it| altered(self.class(it).def)) {
            return Err(Opaque::new("what makes the class may change it", span));
        }
        if members.is_empty() {
            return Err(Opaque::new("the object has no attributes that are known without running it", span));
        }
        Constant::Namespace(Arc::new(members)).bounded(span)
    }

    fn defaults(
        &self,
        class: ClassId,
        members: &mut BTreeMap<String, Constant>,
        fields: &mut Vec<String>,
        is_made_by_hand: &mut bool,
    ) {
        let ClassInfo { def, body, .. } = self.class(class);
        for &name in self.scope(*body).names.keys() {
            let value = match self.lookup_in(*body, u32::MAX, name) {
                Some(Ok(_)) if let Err(opaque) = self.hold_class(&[class], name) => {
                    Constant::Unsupported(Arc::from(opaque.why))
                }
                Some(Ok(value)) => value,
                Some(Err(opaque)) => Constant::Unsupported(Arc::from(opaque.why)),
                None => continue,
            };
            members.insert(name.to_owned(), value);
        }
        for stmt in &def.body {
            match &stmt.kind {
                StmtKind::AnnAssign { target, .. } => {
                    if let Some(name) = target.as_name()
                        && !fields.iter().any(|it| it == name)
                    {
                        fields.push(name.to_owned());
                    }
                }
                StmtKind::Function(function)
                    if matches!(&*function.name.name, "__init__" | "__post_init__") =>
                {
                    *is_made_by_hand |= function.name.name == "__init__";
                    for name in set_on_self(function) {
                        let why = "set when the object is made, which needs the file to run";
                        members.insert(name.to_owned(), Constant::Unsupported(Arc::from(why)));
                    }
                }
                _ => {}
            }
        }
    }
}

/// The attributes that a method assigns, at any depth.
fn set_on_self(function: &FunctionDef) -> Vec<&str> {
    fn look<'p>(body: &'p [super::syntax::Stmt], this: &str, found: &mut Vec<&'p str>) {
        for stmt in body {
            match &stmt.kind {
                StmtKind::Assign { targets, .. } => {
                    for part in targets.iter().flat_map(Expr::parts) {
                        target(part, this, found);
                    }
                }
                StmtKind::AnnAssign { target: it, .. } | StmtKind::AugAssign { target: it, .. } => {
                    target(it, this, found);
                }
                _ => stmt.blocks().into_iter().for_each(|it| look(it, this, found)),
            }
        }
    }
    fn target<'p>(expr: &'p Expr, this: &str, found: &mut Vec<&'p str>) {
        if let ExprKind::Attribute(value, name) = &expr.kind
            && value.as_name() == Some(this)
        {
            found.push(&name.name);
        }
    }
    let mut found = Vec::new();
    if let Some(this) = function.params.first() {
        look(&function.body, &this.name.name, &mut found);
    }
    found
}

/// Python's enumerations.
const ENUMS: [&str; 6] = ["IntEnum", "IntFlag", "Enum", "StrEnum", "Flag", "ReprEnum"];
/// Other bases that make no enumeration of integers.
const PLAIN: [&str; 6] = ["object", "int", "str", "float", "bool", "ABC"];

/// Decorators that leave the attributes of a class as they are.
const PLAIN_DECORATORS: [&str; 8] =
    ["dataclass", "enum", "unique", "final", "total_ordering", "runtime_checkable", "verify", "global_enum"];

/// A decorator or a metaclass that may give a class other attributes than its body.
fn altered(def: &ClassDef) -> Option<Span> {
    let is_plain = |it: &&Expr| {
        let name = match &it.kind {
            ExprKind::Call { function, .. } => last_part(function),
            _ => last_part(it),
        };
        !name.is_some_and(|it| PLAIN_DECORATORS.contains(&it))
    };
    let decorator = def.decorators.iter().find(is_plain).map(|it| it.span);
    let metaclass = |it: &&Keyword| {
        let is_abstract = last_part(&it.value) == Some("ABCMeta");
        it.name.as_ref().is_some_and(|it| it.name == "metaclass") && !is_abstract
    };
    decorator.or_else(|| def.keywords.iter().find(metaclass).map(|it| it.span))
}

/// `@gtscript.enum`
pub(super) fn is_decorated(def: &ClassDef) -> bool {
    def.decorators.iter().any(|it| last_part(it) == Some("enum"))
}

fn has_base(def: &ClassDef, names: &[&str]) -> bool {
    def.bases.iter().any(|it| last_part(it).is_some_and(|it| names.contains(&it)))
}

fn last_part(expr: &Expr) -> Option<&str> {
    expr.as_dotted().and_then(|it| it.last().copied())
}
