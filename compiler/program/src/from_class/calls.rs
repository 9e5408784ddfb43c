//! Calls in constructors: functions and classes of the files, and Python's own functions.

use std::collections::BTreeMap;

use isobar_front::frontend::constants::Constant;
use isobar_front::frontend::evaluate::{compare, truth};
use isobar_front::frontend::modules::{ClassId, FunctionId};
use isobar_front::frontend::syntax::{Comparison, Expr, ExprKind, FunctionDef, Keyword, StmtKind};
use isobar_ground::diag::Span;

use super::statements::BuildFlow;
use super::values::{BuildHelper, Built, BuiltFrame};
use super::{Building, MOST_CALLS, ObjectBuilder};

/// The arguments of a call: by position and by name.
pub(super) type BuildArguments<'p> = (Vec<Built<'p>>, Vec<(String, Built<'p>)>);

/// A call as it is written: what is called, and its arguments.
type CallText<'p> = (&'p Expr, &'p [Expr], &'p [Keyword]);

/// Functions from outside that change nothing that a program needs.
const WITHOUT_EFFECT: [&str; 9] = [
    "orchestrate",
    "print",
    "log_on_rank_0",
    "info",
    "debug",
    "warning",
    "warn",
    "super.__init__",
    "register",
];

impl<'p> ObjectBuilder<'p> {
    pub(super) fn called(
        &mut self,
        (function, args, keywords): CallText<'p>,
        wanted: Option<&str>,
        whole: &'p Expr,
    ) -> Building<Built<'p>> {
        let at = whole.span;
        self.count(at)?;
        if function.as_name() == Some("super") {
            let this = self.frames.last().and_then(|it| it.this);
            let (of, class) = this.ok_or_else(|| Self::refused("`super()`", "it stands in no method", at))?;
            return Ok(Built::Super { of, class });
        }
        let callee = self.expr(function)?;
        if matches!(callee, Built::Constant(Constant::Numeric(_) | Constant::Element(_) | Constant::Word(_)))
            && function.as_dotted().is_none_or(|it| !it.last().is_some_and(|it| is_known(it)))
        {
            let known = self.computed(whole);
            if !matches!(known, Built::Unknown(_)) {
                return Ok(known);
            }
            let given = self.arguments(args, keywords)?;
            let name = function.as_dotted().and_then(|it| it.last().copied()).unwrap_or_default();
            return match self.python(name, &given, at)? {
                Some(made) => Ok(made),
                None => Ok(self.computed_of(function, &given, at)),
            };
        }
        let given = self.arguments(args, keywords)?;
        match callee {
            Built::Constant(Constant::Function(id)) => {
                let info = self.names.function(id);
                let name = info.def.name.name.as_str();
                if is_known(name) {
                    return self.outside(name, given, wanted, at);
                }
                if info.is_stencil {
                    return Err(Self::refused("the call", "a constructor runs no stencil", at));
                }
                self.result_name = wanted.map(str::to_owned);
                self.call_function(id, None, given, at)
            }
            Built::Constant(Constant::Class(class)) => {
                let name = self.names.class_name(class).0;
                if is_known(name) {
                    return self.outside(name, given, wanted, at);
                }
                self.instance(class, given, wanted, at)
            }
            Built::Constant(Constant::Word(name)) => self.outside(name, given, wanted, at),
            Built::Constant(Constant::Foreign(path)) => {
                let name = path.last().cloned().unwrap_or_default();
                self.outside(&name, given, wanted, at)
            }
            Built::Method { function, of } => {
                self.result_name = wanted.map(str::to_owned);
                self.call_function(function, Some(of), given, at)
            }
            Built::Local { def, frame } => {
                self.result_name = wanted.map(str::to_owned);
                self.call_local(def, &frame, given, at)
            }
            Built::Bound { of, method } => self.bound(*of, &method, given, wanted, at),
            Built::Outside(name) => {
                let root = function.as_dotted().and_then(|it| it.first().copied());
                if matches!(root, Some("np" | "numpy" | "math")) && !is_known(&name) {
                    return Ok(self.computed(whole));
                }
                self.outside(&name, given, wanted, at)
            }
            other @ (Built::Free(_) | Built::Unknown(_) | Built::Helper(BuildHelper::Setting(_))) => {
                self.spared(&given, &other.kind(), at)?;
                Ok(Built::Unknown(format!("a call of {}", other.kind())))
            }
            other => Err(Self::refused("the call", &format!("of {}", other.kind()), at)),
        }
    }

    /// A call of a function that the evaluator of constants knows, with arguments that are values already.
    fn computed_of(&mut self, function: &Expr, given: &BuildArguments<'p>, at: Span) -> Built<'p> {
        let named = |at_arg: usize| format!(" {at_arg}");
        let args = (0..given.0.len()).map(|it| Expr { kind: ExprKind::Name(named(it)), span: at }).collect();
        let names = given.0.iter().cloned().enumerate().map(|(it, value)| (named(it), value)).collect();
        let frame = Self::frame(names, self.frames.last(), None);
        let (function, keywords) = (Box::new(function.clone()), Vec::new());
        let call = Expr { kind: ExprKind::Call { function, args, keywords }, span: at };
        self.frames.push(frame);
        let value = self.computed(&call);
        self.frames.pop();
        match (value, given.0.iter().find(|it| it.is_unknown())) {
            (Built::Unknown(_), Some(unknown)) => {
                Built::Unknown(format!("it is computed of {}", unknown.kind()))
            }
            (value, _) => value,
        }
    }

    fn arguments(&mut self, args: &'p [Expr], keywords: &'p [Keyword]) -> Building<BuildArguments<'p>> {
        let mut by_position = Vec::new();
        for it in args {
            match &it.kind {
                ExprKind::Starred(inner) => {
                    let inner = self.expr(inner)?;
                    by_position.extend(self.elements(&inner, it.span)?);
                }
                _ => by_position.push(self.expr(it)?),
            }
        }
        let mut by_name = Vec::new();
        for Keyword { name, value, .. } in keywords {
            let told = self.named_expr(value, name.as_ref().map(|it| it.name.as_str()))?;
            match (name, told) {
                (Some(name), told) => by_name.push((name.name.clone(), told)),
                (None, Built::Table(it)) => {
                    for (key, told) in self.tables[it].clone() {
                        let Some(key) = key.as_text() else {
                            return Err(Self::refused("`**`", "its keys are no names", value.span));
                        };
                        by_name.push((key.to_owned(), told));
                    }
                }
                (None, other) => return Err(Self::unknown("`**`", &other, value.span)),
            }
        }
        Ok((by_position, by_name))
    }

    /// Refuses a call of something unknown that gets what it could change.
    pub(super) fn spared(&self, given: &BuildArguments<'p>, callee: &str, at: Span) -> Building<()> {
        let all = given.0.iter().chain(given.1.iter().map(|it| &it.1));
        let changed = all.into_iter().find(|it| {
            matches!(
                it,
                Built::List(_) | Built::Table(_) | Built::Object(_) | Built::Field(_) | Built::Elements(_)
            )
        });
        match changed {
            Some(it) => {
                let why = format!("{callee} gets {}, and may change it", it.kind());
                Err(Self::refused("the call", &why, at))
            }
            None => Ok(()),
        }
    }

    /// A function that the files do not have, by its name.
    fn outside(
        &mut self,
        name: &str,
        given: BuildArguments<'p>,
        wanted: Option<&str>,
        at: Span,
    ) -> Building<Built<'p>> {
        if let Some(made) = self.python(name, &given, at)? {
            return Ok(made);
        }
        if let Some(made) = self.framework(name, &given, wanted, at)? {
            return Ok(made);
        }
        if WITHOUT_EFFECT.contains(&name) {
            return Ok(Built::NONE);
        }
        self.spared(&given, &format!("`{name}`"), at)?;
        Ok(Built::Unknown(format!("a call of `{name}`, which is not among the files")))
    }

    /// One of Python's own functions.
    fn python(&mut self, name: &str, given: &BuildArguments<'p>, at: Span) -> Building<Option<Built<'p>>> {
        let lists = |this: &Self, all: &[Built<'p>]| {
            all.iter().map(|it| this.elements(it, at)).collect::<Building<Vec<_>>>()
        };
        Ok(Some(match (name, given.0.as_slice()) {
            ("range", args) => {
                let mut numbers = Vec::new();
                for it in args {
                    numbers.push(it.as_int().ok_or_else(|| Self::unknown("`range`", it, at))?);
                }
                let (first, end, step) = match numbers.as_slice() {
                    [end] => (0, *end, 1),
                    [first, end] => (*first, *end, 1),
                    [first, end, step] if *step != 0 => (*first, *end, *step),
                    _ => return Err(Self::refused("`range`", "it takes one to three numbers", at)),
                };
                let mut all = Vec::new();
                let mut value = first;
                while if step > 0 { value < end } else { value > end } {
                    self.count(at)?;
                    all.push(Built::int(value));
                    value = value.saturating_add(step);
                }
                Built::Tuple(all)
            }
            ("len", [one]) => {
                let n = self.elements(one, at)?.len();
                Built::int(i64::try_from(n).unwrap_or(i64::MAX))
            }
            ("enumerate", [one]) => {
                let all = self.elements(one, at)?;
                Built::Tuple((0..).zip(all).map(|(n, it)| Built::Tuple(vec![Built::int(n), it])).collect())
            }
            ("zip", all) => {
                let columns = lists(self, all)?;
                let n = columns.iter().map(Vec::len).min().unwrap_or_default();
                let row = |n: usize| Built::Tuple(columns.iter().map(|it| it[n].clone()).collect());
                Built::Tuple((0..n).map(row).collect())
            }
            ("tuple", [one]) => Built::Tuple(self.elements(one, at)?),
            ("list", [one]) => {
                let all = self.elements(one, at)?;
                self.list(all)
            }
            ("list", []) => self.list(Vec::new()),
            ("reversed", [one]) => Built::Tuple(self.elements(one, at)?.into_iter().rev().collect()),
            ("dict", args) => {
                let table = self.table(Vec::new());
                if let (Built::Table(made), Some(Built::Table(other))) = (&table, args.first()) {
                    self.tables[*made] = self.tables[*other].clone();
                }
                if let Built::Table(made) = table {
                    for (key, value) in given.1.clone() {
                        self.put(made, Built::Constant(Constant::Str(key.into())), value);
                    }
                }
                table
            }
            ("any" | "all" | "max" | "min", [Built::Constant(Constant::Array(parts))]) => {
                match Self::reduced(name, parts) {
                    Some(value) => Built::Constant(value),
                    None => return Ok(None),
                }
            }
            ("any" | "all", [one]) => {
                let mut all = Vec::new();
                for it in self.elements(one, at)? {
                    all.push(self.truth(&it).ok_or_else(|| Self::unknown("the condition", &it, at))?);
                }
                Built::bool(if name == "any" { all.contains(&true) } else { !all.contains(&false) })
            }
            ("getattr", [of, name, rest @ ..]) => {
                let Some(name) = name.as_text() else { return Err(Self::unknown("`getattr`", name, at)) };
                match (self.attribute(of, name, at)?, rest) {
                    (Built::Outside(_), [usual]) => usual.clone(),
                    (found, _) => found,
                }
            }
            ("hasattr", [Built::Object(of), name]) => match name.as_text() {
                Some(name) => {
                    Built::bool(!matches!(self.attribute(&Built::Object(*of), name, at)?, Built::Outside(_)))
                }
                None => return Err(Self::unknown("`hasattr`", name, at)),
            },
            ("setattr", [Built::Object(of), name, value]) => {
                let Some(name) = name.as_text() else { return Err(Self::unknown("`setattr`", name, at)) };
                self.objects[*of].attributes.insert(name.to_owned(), value.clone());
                Built::NONE
            }
            _ => return Ok(None),
        }))
    }

    /// One value of a vector; `None` where it has none.
    fn reduced(name: &str, parts: &[Constant]) -> Option<Constant> {
        let truths = || parts.iter().map(truth).collect::<Option<Vec<bool>>>();
        let extreme = |wanted: Comparison| {
            let mut parts = parts.iter();
            let first = parts.next()?.clone();
            parts.try_fold(first, |best, it| {
                Some(if compare(wanted, it, &best).ok()? { it.clone() } else { best })
            })
        };
        Some(match name {
            "any" => Constant::Bool(truths()?.contains(&true)),
            "all" => Constant::Bool(!truths()?.contains(&false)),
            "max" => extreme(Comparison::Gt)?,
            _ => extreme(Comparison::Lt)?,
        })
    }

    /// A method of a list, a dictionary or an object of a framework.
    fn bound(
        &mut self,
        of: Built<'p>,
        method: &str,
        given: BuildArguments<'p>,
        wanted: Option<&str>,
        at: Span,
    ) -> Building<Built<'p>> {
        match (&of, method, given.0.as_slice()) {
            (Built::List(it), "append", [value]) => self.lists[*it].push(value.clone()),
            (Built::List(it), "extend", [more]) => {
                let more = self.elements(more, at)?;
                self.lists[*it].extend(more);
            }
            (Built::List(it), "index", [value]) => {
                let all = self.lists[*it].clone();
                let place = all.iter().position(|it| self.is_same(it, value) == Some(true));
                let place = place.and_then(|it| i64::try_from(it).ok());
                return place
                    .map(Built::int)
                    .ok_or_else(|| Self::refused("`index`", "the list does not have the value", at));
            }
            (Built::Table(it), "keys", []) => {
                return Ok(Built::Tuple(self.tables[*it].iter().map(|it| it.0.clone()).collect()));
            }
            (Built::Table(it), "values", []) => {
                return Ok(Built::Tuple(self.tables[*it].iter().map(|it| it.1.clone()).collect()));
            }
            (Built::Table(it), "items", []) => {
                let pairs = self.tables[*it].iter();
                let pairs = pairs.map(|(key, value)| Built::Tuple(vec![key.clone(), value.clone()]));
                return Ok(Built::Tuple(pairs.collect()));
            }
            (Built::Table(it), "get", [key, rest @ ..]) => {
                let found = self.tables[*it].iter().find(|it| self.is_same(&it.0, key) == Some(true));
                let found = found.map(|it| it.1.clone());
                return Ok(found.or_else(|| rest.first().cloned()).unwrap_or(Built::NONE));
            }
            (Built::Table(it), "update", [Built::Table(other)]) => {
                for (key, value) in self.tables[*other].clone() {
                    self.put(*it, key, value);
                }
            }
            (Built::Constant(Constant::Array(parts)), "any" | "all" | "max" | "min", []) => {
                let value = Self::reduced(method, parts);
                return value
                    .map(Built::Constant)
                    .ok_or_else(|| Self::refused(&format!("`.{method}()`"), "of an array", at));
            }
            (Built::Helper(helper), ..) => {
                let helper = helper.clone();
                return self.method_of_helper(&helper, method, &given, wanted, at);
            }
            (Built::Object(_), "make_local", [_, rest @ ..]) => {
                let rest = (rest.to_vec(), given.1.clone());
                return self.quantity("local", &rest, wanted, at);
            }
            (Built::Field(_), "halo_spec", [n]) => {
                let width = n.as_int().and_then(|it| u32::try_from(it).ok());
                let width = width.ok_or_else(|| Self::unknown("the width", n, at))?;
                return Ok(Built::Helper(BuildHelper::HaloSpec(width)));
            }
            _ => {
                let what = format!("`.{method}(...)` of {}", of.kind());
                return Err(Self::refused(&what, "it is not followed", at));
            }
        }
        Ok(Built::NONE)
    }

    /// An object of a class of the files.
    pub(super) fn instance(
        &mut self,
        class: ClassId,
        given: BuildArguments<'p>,
        wanted: Option<&str>,
        at: Span,
    ) -> Building<Built<'p>> {
        let usual = self.names.class_name(class).0.to_lowercase();
        let object = self.object(class, wanted.unwrap_or(&usual));
        match self.method_of(class, "__init__") {
            Some((_, def)) => {
                if let Some(function) = self.function_of(def) {
                    self.call_function(function, Some(object), given, at)?;
                }
            }
            None => self.fill(class, object, given, at)?,
        }
        Ok(Built::Object(object))
    }

    /// The attributes of a class without a constructor, as `dataclass` makes them.
    fn fill(
        &mut self,
        class: ClassId,
        object: usize,
        (by_position, by_name): BuildArguments<'p>,
        at: Span,
    ) -> Building<()> {
        let mut by_position = by_position.into_iter();
        let mut by_name: BTreeMap<String, Built<'p>> = by_name.into_iter().collect();
        let lineage: Vec<ClassId> = self.names.lineage(class).collect();
        for class in lineage.into_iter().rev() {
            for stmt in &self.names.class_def(class).body {
                let StmtKind::AnnAssign { target, value: usual, .. } = &stmt.kind else { continue };
                let Some(name) = target.as_name() else { continue };
                let told = by_position.next().or_else(|| by_name.remove(name));
                let told = match (told, usual) {
                    (Some(told), _) => told,
                    (None, Some(usual)) => self.computed(usual),
                    (None, None) => Built::Unknown(format!("`{name}`, which is not given")),
                };
                self.objects[object].attributes.insert(name.to_owned(), told);
            }
        }
        match by_name.keys().next() {
            Some(name) => Err(Self::refused("the call", &format!("the class takes no `{name}`"), at)),
            None => Ok(()),
        }
    }

    /// Runs a function of the files; with an object, as a method of it.
    pub(super) fn call_function(
        &mut self,
        function: FunctionId,
        of: Option<usize>,
        given: BuildArguments<'p>,
        at: Span,
    ) -> Building<Built<'p>> {
        let info = self.names.function(function);
        // Where the text of a method stands tells what `super()` means.
        let this = of.map(|it| {
            let lineage = self.names.lineage(self.objects[it].class);
            let own =
                |class: &ClassId| {
                    self.names.class_def(*class).body.iter().any(
                        |stmt| matches!(&stmt.kind, StmtKind::Function(def) if std::ptr::eq(def, info.def)),
                    )
                };
            let class = lineage.into_iter().find(own).unwrap_or(self.objects[it].class);
            (it, class)
        });
        let frame = Self::frame(BTreeMap::new(), None, this);
        self.run(info.def, frame, given, at)
    }

    /// Runs a function that is defined within another one.
    fn call_local(
        &mut self,
        def: &'p FunctionDef,
        around: &BuiltFrame<'p>,
        given: BuildArguments<'p>,
        at: Span,
    ) -> Building<Built<'p>> {
        let frame = Self::frame(BTreeMap::new(), Some(around), around.this);
        self.run_in(def, frame, (given.0, given.1), at)
    }

    fn run(
        &mut self,
        def: &'p FunctionDef,
        frame: BuiltFrame<'p>,
        (by_position, by_name): BuildArguments<'p>,
        at: Span,
    ) -> Building<Built<'p>> {
        let own = frame.this.map(|it| Built::Object(it.0));
        let by_position = own.into_iter().chain(by_position).collect();
        self.run_in(def, frame, (by_position, by_name), at)
    }

    fn run_in(
        &mut self,
        def: &'p FunctionDef,
        frame: BuiltFrame<'p>,
        (by_position, by_name): BuildArguments<'p>,
        at: Span,
    ) -> Building<Built<'p>> {
        let frame = BuiltFrame { result_name: self.result_name.take(), ..frame };
        if self.frames.len() >= MOST_CALLS {
            return Err(Self::refused("the call", "functions call each other too deeply", at));
        }
        let what = format!("the call of `{}`", def.name.name);
        if !def.variadic.is_empty() && def.variadic.iter().any(|it| it.name != "kwargs") {
            return Err(Self::refused(&what, "it takes any number of arguments", at));
        }
        let mut by_position = by_position.into_iter();
        let mut by_name: BTreeMap<String, Built<'p>> = by_name.into_iter().collect();
        for param in &def.params {
            let name = &param.name.name;
            let told = if param.is_keyword_only { None } else { by_position.next() };
            let told = match (told.or_else(|| by_name.remove(name)), &param.default) {
                (Some(told), _) => told,
                // A default is computed where the function is written.
                (None, Some(usual)) => match self.computed(usual) {
                    Built::Unknown(_) => self.expr(usual)?,
                    told => told,
                },
                (None, None) => return Err(Self::refused(&what, &format!("`{name}` is not given"), at)),
            };
            frame.names.borrow_mut().insert(name.clone(), told);
        }
        if let Some(name) = by_name.keys().next().filter(|_| def.variadic.is_empty()) {
            return Err(Self::refused(&what, &format!("it has no parameter `{name}`"), at));
        }
        if by_position.next().is_some() {
            return Err(Self::refused(&what, "it has more arguments than parameters", at));
        }
        self.frames.push(frame);
        let flow = self.block(&def.body);
        self.frames.pop();
        match flow {
            Ok(BuildFlow::Return(value)) => Ok(value),
            Ok(_) => Ok(Built::NONE),
            Err(stop) if at == Span::default() => Err(stop),
            Err(stop) => Err(Box::new(stop.also(at, "called here"))),
        }
    }
}

/// Whether a name is one of the framework's that this compiler stands in for, also where its files are given.
fn is_known(name: &str) -> bool {
    super::helpers::KNOWN.contains(&name) || WITHOUT_EFFECT.contains(&name)
}
