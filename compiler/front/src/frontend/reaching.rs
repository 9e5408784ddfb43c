//! Which binding of a name holds at a place.
//!
//! The last one before the place does, as long as all that may change the name up to there is understood. A name whose
//! later change is not understood has no value: the value before it would be a guess.

use std::collections::BTreeSet;

use super::bindings::{
    Binding, BoundValue, FileNames, Guard, GuardBranch, ObjectChange, ScopedName, SharedParts,
};
use super::builtins;
use super::constants::{Constant, Evaluation, Opaque};
use super::evaluate::{self, Environment};
use super::ids::ScopeId;
use super::modules::{MAX_CHAIN, MachineAssumption, Names};
use super::syntax::{Expr, ExprKind, Stmt, StmtKind};
use crate::diag::Span;

const UNDER_A_CONDITION: &str = "it stands under a condition that is not known: ";
const CHANGES_UNDER_A_CONDITION: &str = "it changes under a condition that is not known: ";
/// How often a name may change behind a function that reads it.
const MOST_CHANGES: usize = 64;

/// When a name is read, as places of the text of its scope.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Moment {
    /// Not before this place.
    from: u32,
    /// And not behind this one.
    to: u32,
}

impl Moment {
    /// When all of a file has run.
    pub const END: Self = Self { from: u32::MAX, to: u32::MAX };

    /// At some time behind a place: when a function is called is not known.
    #[must_use]
    pub fn after(place: u32) -> Self {
        Self { from: place, to: u32::MAX }
    }

    /// At some time between two places.
    #[must_use]
    pub fn between(from: u32, to: u32) -> Self {
        Self { from, to }
    }

    /// Whether a place comes before the last time.
    pub(super) fn is_behind(self, place: u32) -> bool {
        place < self.to
    }

    fn is_exact(self) -> bool {
        self.from == self.to
    }
}

impl From<u32> for Moment {
    fn from(place: u32) -> Self {
        Self { from: place, to: place }
    }
}

/// A value with the binding that gives it.
#[derive(Clone, Debug)]
struct ReachingValue {
    value: Constant,
    at: u32,
}

/// Whether a `try` comes to its end without an exception.
enum TryOutcome {
    Passes,
    /// A module is imported that is not there.
    Absent(Span, String),
    Unknown(Span),
}

impl<'p> Names<'p> {
    /// The value of `name` in a scope at some time; `None` when nothing binds it there and the language does
    /// not know it.
    #[must_use]
    pub fn lookup(&self, scope: ScopeId, moment: impl Into<Moment>, name: &str) -> Option<Evaluation> {
        let mut moment = moment.into();
        let (mut next, mut is_called) = (Some(scope), false);
        while let Some(id) = next {
            let it = self.scope(id);
            // A method does not see the names of its class.
            let is_hidden = is_called && it.class.is_some();
            if let Some(found) = (!is_hidden).then(|| self.lookup_in(id, moment, name)).flatten() {
                return Some(found);
            }
            if let Some(place) = it.called_after {
                moment = Moment::after(place);
                is_called = true;
            }
            next = it.parent;
        }
        builtins::language_name(name, self.config).map(Ok)
    }

    /// The same in one scope alone.
    pub(super) fn lookup_in(&self, id: ScopeId, moment: impl Into<Moment>, name: &str) -> Option<Evaluation> {
        let moment = moment.into();
        let file = self.of_file(id.file);
        let events = self.events(file, id, name);
        if events.is_empty() {
            return None;
        }
        let is_before = |place: u32| move |it: &&usize| file.bindings[**it].at < place;
        // A function may run at any time behind its definition.
        let floating = events.iter().filter(is_before(moment.to)).find(|it| file.bindings[**it].is_floating);
        if let Some(&it) = floating
            && let BoundValue::Unknown(why) = file.bindings[it].what
        {
            return Some(Err(Opaque::change(why, file.bindings[it].span)));
        }
        let events: Vec<usize> = events.into_iter().filter(|it| !file.bindings[*it].is_floating).collect();
        let n_before = events.iter().filter(is_before(moment.from)).count();
        let found = self.reach(file, &events[..n_before], 0, moment.from, name);
        let found = match found {
            Ok(Some(first)) if moment.is_exact() => Ok(Some(first)),
            // A function may also use what is bound after it.
            Ok(first) => {
                let end = if moment.is_exact() { u32::MAX } else { moment.to };
                self.reach_later(file, (&events, n_before), first, end, name)
            }
            Err(why) => Err(why),
        };
        let found = found.and_then(|found| {
            let Some(found) = found else { return Ok(None) };
            if id.index == 0 {
                self.hold_module(file, id.file, moment, name)?;
            }
            self.hold_object(file, (id, name), &found, moment)?;
            Ok(Some(found.value))
        });
        found.transpose()
    }

    /// Lists the bindings of a name in a scope, and each `import *`, in order of time.
    fn events(&self, file: &FileNames<'p>, id: ScopeId, name: &str) -> Vec<usize> {
        let scope = &file.scopes[id.index as usize];
        let mut events = scope.names.get(name).cloned().unwrap_or_default();
        if !scope.stars.is_empty() {
            events.extend(&scope.stars);
            events.sort_by_key(|it| file.bindings[*it].at);
        }
        events
    }

    /// The values that a name has at later times must be the same as the first one.
    fn reach_later(
        &self,
        file: &FileNames<'p>,
        (events, n_before): (&[usize], usize),
        first: Option<ReachingValue>,
        end: u32,
        name: &str,
    ) -> Result<Option<ReachingValue>, Opaque> {
        let mut found = first;
        let later: BTreeSet<u32> =
            events[n_before..].iter().map(|it| file.bindings[*it].at).filter(|it| *it < end).collect();
        let is_many = later.len() > MOST_CHANGES;
        for at in later {
            let upto = events.iter().filter(|it| file.bindings[**it].at <= at).count();
            let place = at.saturating_add(1);
            let next = self.reach(file, &events[..upto], 0, place, name);
            let span =
                events[..upto].last().map_or(Span::new(file.file, at, at), |it| file.bindings[*it].span);
            match (next, &found) {
                (Ok(None), _) => {}
                (Ok(next), None) => found = next,
                (Ok(Some(next)), Some(it)) if next.value == it.value && !is_many => found = Some(next),
                (Ok(_), Some(_)) => {
                    return Err(Opaque::change(
                        "it has another value further down, and may be read before or after",
                        span,
                    ));
                }
                (Err(why), None) => return Err(why),
                (Err(_), Some(_)) => {
                    return Err(Opaque::change(
                        "it changes further down, and may be read before or after",
                        span,
                    ));
                }
            }
        }
        Ok(found)
    }

    /// The value that the last of some bindings gives. The name is read at `from`.
    ///
    /// Bindings with a guard at `depth` belong to a statement that may not run. Those of one such statement
    /// are taken together.
    fn reach(
        &self,
        file: &FileNames<'p>,
        events: &[usize],
        depth: usize,
        from: u32,
        name: &str,
    ) -> Result<Option<ReachingValue>, Opaque> {
        let mut doubt: Option<Opaque> = None;
        let mut end = events.len();
        while let Some(&last) = events[..end].last() {
            let binding = &file.bindings[last];
            let found = match binding.guards.get(depth) {
                None => {
                    end -= 1;
                    self.of_event(file, last, name, &mut doubt)?
                }
                Some(guard) => {
                    let stmt = guard.stmt;
                    let is_of_it = |it: &&usize| {
                        let guard = file.bindings[**it].guards.get(depth);
                        guard.is_some_and(|it| std::ptr::eq(it.stmt, stmt))
                    };
                    let start = end - events[..end].iter().rev().take_while(is_of_it).count();
                    let (before, group) = (&events[..start], &events[start..end]);
                    end = start;
                    self.reach_guarded(file, (before, group), depth, from, name)?
                }
            };
            if let Some(found) = found {
                return doubt.map_or(Ok(Some(found)), Err);
            }
        }
        Ok(None)
    }

    /// Finds the value of one binding; none for an `import *` that does not bring the name.
    fn of_event(
        &self,
        file: &FileNames<'p>,
        event: usize,
        name: &str,
        doubt: &mut Option<Opaque>,
    ) -> Result<Option<ReachingValue>, Opaque> {
        let binding = &file.bindings[event];
        let at = binding.at;
        if let BoundValue::From { level, module, name: "*" } = &binding.what {
            let Some(found) = self.through_star(binding, *level, module, name) else {
                let from = binding.scope.file;
                if self.find_module(from, *level, module).is_none() && !builtins::is_builtin_module(module) {
                    let dots = ".".repeat(*level as usize);
                    let why = format!(
                        "`from {dots}{} import *` may bring another one, and that module is not among the files",
                        module.join(".")
                    );
                    doubt.get_or_insert(Opaque::change(why, binding.span));
                }
                return Ok(None);
            };
            return found.map(|value| Some(ReachingValue { value, at }));
        }
        self.value(file, event).map(|value| Some(ReachingValue { value, at }))
    }

    /// `name` as an `import *` brings it.
    fn through_star(
        &self,
        star: &Binding<'p>,
        level: u32,
        module: &[String],
        name: &str,
    ) -> Option<Evaluation> {
        let from = star.scope.file;
        let Some(inner) = self.find_module(from, level, module).and_then(|it| self.module_scope(it)) else {
            let is_known = level == 0 && builtins::is_installed_module(module);
            return is_known.then(|| builtins::module_attribute(module, name, self.config)).flatten().map(Ok);
        };
        let key = (inner, name.to_owned());
        if self.star_depth.get() > MAX_CHAIN || !self.stars.borrow_mut().insert(key.clone()) {
            return None;
        }
        self.star_depth.set(self.star_depth.get() + 1);
        let found = match self.brings(inner, name, star.span) {
            Ok(true) => self.lookup_in(inner, Moment::END, name),
            Ok(false) => None,
            Err(why) => self.lookup_in(inner, Moment::END, name).map(|_| Err(why)),
        };
        if found.is_some() {
            self.stars.borrow_mut().remove(&key);
        }
        self.star_depth.set(self.star_depth.get() - 1);
        if self.star_depth.get() == 0 {
            self.stars.borrow_mut().clear();
        }
        found
    }

    /// Whether `import *` of a module takes a name: those that `__all__` lists, or that do not begin with `_`.
    fn brings(&self, module: ScopeId, name: &str, span: Span) -> Result<bool, Opaque> {
        if name == "__all__" || !self.scope(module).names.contains_key("__all__") {
            return Ok(!name.starts_with('_'));
        }
        let listed = self.lookup_in(module, Moment::END, "__all__").and_then(Result::ok);
        match listed.as_ref().and_then(Constant::elements) {
            Some(listed) => Ok(listed.iter().any(|it| matches!(it, Constant::Str(it) if **it == *name))),
            None => Err(Opaque::new("what `__all__` of the module lists is not known", span)),
        }
    }

    /// Finds the value behind a statement that is not sure to run.
    fn reach_guarded(
        &self,
        file: &FileNames<'p>,
        (before, group): (&[usize], &[usize]),
        depth: usize,
        from: u32,
        name: &str,
    ) -> Result<Option<ReachingValue>, Opaque> {
        let guard = |it: usize| &file.bindings[it].guards[depth];
        let of = |is_it: &dyn Fn(&Guard<'p>) -> bool| -> Vec<usize> {
            group.iter().copied().filter(|it| is_it(guard(*it))).collect()
        };
        let within = |events: &[usize]| self.reach(file, events, depth + 1, from, name);
        // A reader inside of a part knows that this part runs.
        let around =
            group.iter().map(|it| guard(*it)).find(|it| it.inside.start <= from && from < it.inside.end);
        let first = guard(group[0]);
        match first.part {
            GuardBranch::If(test, _) => {
                let holds =
                    |wanted: bool| of(&|it| matches!(it.part, GuardBranch::If(_, holds) if holds == wanted));
                // While a condition is decided, nothing that depends on it has happened yet.
                if self.computing.borrow().contains(&test.span) {
                    return Ok(None);
                }
                if let Some(Guard { part: GuardBranch::If(_, is_then), .. }) = around {
                    return within(&holds(*is_then));
                }
                let environment = Environment::module(file.bindings[group[0]].scope, test.span.start);
                let decided = self.unnamed(&environment, test).and_then(|it| {
                    evaluate::truth(&it)
                        .ok_or_else(|| Opaque::new("the condition around it is not a number", test.span))
                });
                match decided {
                    Ok(decided) => within(&holds(decided)),
                    Err(opaque) => {
                        let why = [UNDER_A_CONDITION, CHANGES_UNDER_A_CONDITION]
                            .iter()
                            .find_map(|it| opaque.why.strip_prefix(it))
                            .unwrap_or(&opaque.why);
                        let place = opaque.span.filter(|it| it.file == test.span.file).unwrap_or(test.span);
                        let earlier = || self.reach(file, before, depth, from, name);
                        let unknown = match earlier() {
                            Ok(None) => Opaque::new(format!("{UNDER_A_CONDITION}{why}"), place),
                            _ => Opaque::change(format!("{CHANGES_UNDER_A_CONDITION}{why}"), test.span),
                        };
                        let ways = [holds(true), holds(false)];
                        let ways = ways.iter().map(|events| match within(events) {
                            Ok(None) => earlier(),
                            found => found,
                        });
                        agreed(ways, unknown)
                    }
                }
            }
            GuardBranch::Try | GuardBranch::Handler(_) => {
                let body = of(&|it| matches!(it.part, GuardBranch::Try));
                let handler = |at: usize| of(&|it| matches!(it.part, GuardBranch::Handler(it) if it == at));
                match around.map(|it| it.part) {
                    Some(GuardBranch::Handler(at)) => {
                        if let found @ Some(_) = within(&handler(at))? {
                            return Ok(found);
                        }
                        return match body.is_empty() {
                            true => Ok(None),
                            false => {
                                Err(Opaque::change("it is assigned in a `try` that failed", first.stmt.span))
                            }
                        };
                    }
                    Some(_) => return within(&body),
                    None => {}
                }
                let StmtKind::Try { handlers, .. } = &first.stmt.kind else { return Ok(None) };
                let scope = file.bindings[group[0]].scope;
                let earlier = || self.reach(file, before, depth, from, name);
                let or_earlier = |events: &[usize]| match within(events) {
                    Ok(None) => earlier(),
                    found => found,
                };
                let goes_on = |at: &usize| !handlers[*at].body.iter().any(leaves);
                match self.outcome(scope, first.stmt) {
                    TryOutcome::Passes => within(&body),
                    TryOutcome::Absent(span, module) => {
                        let Some(at) = (0..handlers.len()).find(goes_on) else { return within(&body) };
                        self.assume(span, MachineAssumption::Absent { module });
                        let found = within(&handler(at));
                        let early: Vec<usize> =
                            body.iter().copied().filter(|it| file.bindings[*it].at < span.start).collect();
                        match found {
                            Ok(None) if early.is_empty() => Ok(None),
                            Ok(None) => within(&early),
                            found => found,
                        }
                    }
                    TryOutcome::Unknown(place) => {
                        let why = "it depends on whether the `try` around it fails";
                        let mut ways = vec![or_earlier(&body)];
                        for at in (0..handlers.len()).filter(goes_on) {
                            let events = handler(at);
                            // It may have failed before the name was assigned, or after that.
                            if events.is_empty() {
                                ways.push(earlier());
                            } else {
                                ways.push(or_earlier(&events));
                            }
                        }
                        agreed(ways.into_iter(), Opaque::change(why, place))
                    }
                }
            }
        }
    }

    /// Whether the body of a `try` is sure to come to its end.
    fn outcome(&self, scope: ScopeId, stmt: &Stmt) -> TryOutcome {
        let StmtKind::Try { body, otherwise, .. } = &stmt.kind else { return TryOutcome::Unknown(stmt.span) };
        for it in body.iter().chain(otherwise) {
            let environment = Environment::module(scope, it.span.start);
            let passes = match &it.kind {
                StmtKind::Pass => true,
                StmtKind::Import(aliases) => {
                    let path = |name: &str| name.split('.').map(str::to_owned).collect::<Vec<_>>();
                    let missing = aliases
                        .iter()
                        .map(|it| &it.name.name)
                        .find(|name| !self.has_module(scope, 0, &path(name)));
                    if let Some(name) = missing {
                        return TryOutcome::Absent(it.span, name.clone());
                    }
                    aliases.iter().all(|it| !is_optional(&path(&it.name.name)))
                }
                StmtKind::ImportFrom { level, module, names } => {
                    let path: Vec<String> =
                        module.split('.').filter(|it| !it.is_empty()).map(str::to_owned).collect();
                    if names
                        .iter()
                        .any(|name| !self.has_name(scope, it.span, (*level, &path), &name.name.name))
                    {
                        return TryOutcome::Absent(
                            it.span,
                            format!("{}{module}", ".".repeat(*level as usize)),
                        );
                    }
                    !is_optional(&path)
                }
                StmtKind::Assign { targets, value } => {
                    targets.iter().all(|it| it.as_name().is_some())
                        && self.unnamed(&environment, value).is_ok()
                }
                StmtKind::AnnAssign { target, value: Some(value), .. } => {
                    target.as_name().is_some() && self.unnamed(&environment, value).is_ok()
                }
                StmtKind::Expr(Expr { kind: ExprKind::Str(_), .. }) => true,
                StmtKind::Function(def) => def.decorators.is_empty() || def.is_function || def.is_stencil,
                _ => false,
            };
            if !passes {
                return TryOutcome::Unknown(it.span);
            }
        }
        TryOutcome::Passes
    }

    fn has_module(&self, scope: ScopeId, level: u32, path: &[String]) -> bool {
        self.find_module(scope.file, level, path).is_some() || level == 0 && builtins::is_python_module(path)
    }

    /// Whether `from module import name` finds it.
    fn has_name(&self, scope: ScopeId, span: Span, (level, path): (u32, &[String]), name: &str) -> bool {
        if name == "*" {
            return self.has_module(scope, level, path);
        }
        let known = self.import_from((scope.file, span), level, path, name);
        known.is_ok() || level == 0 && builtins::is_python_module(path)
    }

    /// Refuses an object that another statement changes under one of its names.
    fn hold_object(
        &self,
        file: &FileNames<'p>,
        place: ScopedName<'_>,
        found: &ReachingValue,
        moment: Moment,
    ) -> Result<(), Opaque> {
        if !found.value.is_mutable() || file.changes.is_empty() {
            return Ok(());
        }
        let Some((&own, _)) = self.scope(place.0).names.get_key_value(place.1) else { return Ok(()) };
        let aliases = file.aliases();
        let mut seen: BTreeSet<ScopedName<'p>> = BTreeSet::new();
        let mut next = vec![(place.0, own)];
        while let Some(at) = next.pop() {
            if !seen.insert(at) {
                continue;
            }
            let is_own = at == (place.0, own);
            if !is_own && self.shares_nothing(file, at) {
                continue;
            }
            for change in file.changes.get(&at).into_iter().flatten() {
                let is_in_time = change.at < moment.to && (change.is_floating || change.at > found.at);
                // A number that is passed changes nothing of the object that it is a part of.
                let passed = change.passed.filter(|_| is_own).and_then(|it| part_of(&found.value, it));
                let is_of_number = passed.is_some_and(Constant::has_no_parts);
                let is_out = is_own && change.is_followed || is_of_number;
                if is_in_time && !is_out && self.harms(file, at, change) {
                    let why = match is_own {
                        true => "it may be changed here".to_owned(),
                        false => format!("`{}`, which may be the same object, changes here", at.1),
                    };
                    return Err(Opaque::change(why, change.span));
                }
            }
            let is_shared = |shared: &SharedParts<'p>| match shared {
                // A number that another name holds is no part that both have.
                SharedParts::These(parts) if is_own => {
                    !parts.iter().all(|it| part_of(&found.value, it).is_some_and(Constant::has_no_parts))
                }
                SharedParts::All | SharedParts::These(_) => true,
            };
            next.extend(aliases.get(&at).into_iter().flatten().filter(|it| is_shared(it.1)).map(|it| *it.0));
        }
        Ok(())
    }

    /// Whether a name is imported and stands for a type, a function of numbers, or a number: no two names share a part of it.
    fn shares_nothing(&self, file: &FileNames<'p>, (scope, name): ScopedName<'p>) -> bool {
        let &[binding] = self.events(file, scope, name).as_slice() else { return false };
        // Others may be on their way to a value now, by way of this question.
        if !matches!(file.bindings[binding].what, BoundValue::From { .. }) {
            return false;
        }
        match self.value(file, binding) {
            Ok(Constant::Element(_) | Constant::Field(_) | Constant::Word(_) | Constant::Numeric(_)) => true,
            Ok(value) => value.has_no_parts(),
            Err(_) => false,
        }
    }

    /// Whether a change may reach an object: not where the name stands for what has no parts.
    fn harms(&self, file: &FileNames<'p>, (scope, name): ScopedName<'p>, change: &ObjectChange<'p>) -> bool {
        let events = self.events(file, scope, name);
        let before = if change.is_floating { u32::MAX } else { change.at };
        let events: Vec<usize> = events
            .into_iter()
            .filter(|it| file.bindings[*it].at < before && !file.bindings[*it].is_floating)
            .collect();
        let is_without_parts = match self.reach(file, &events, 0, before, name) {
            Ok(Some(found)) => !found.value.is_mutable(),
            // The file does not bind the name: it is a function or a module.
            Ok(None) => true,
            Err(_) => false,
        };
        !is_without_parts && change.callee.is_none_or(|it| !self.is_harmless(change, it))
    }

    /// Whether a call leaves its arguments alone.
    fn is_harmless(&self, change: &ObjectChange<'p>, callee: &Expr) -> bool {
        let environment = Environment::module(change.scope, change.span.start);
        match self.unnamed(&environment, callee) {
            Ok(
                Constant::Numeric(_)
                | Constant::Word(_)
                | Constant::Element(_)
                | Constant::Class(_)
                | Constant::Field(_),
            ) => true,
            Ok(Constant::Function(id)) => {
                let info = self.function(id);
                info.is_gtscript || info.is_stencil || self.leaves_alone(info.inner)
            }
            Ok(_) => false,
            Err(_) => match callee.as_dotted().as_deref() {
                Some([name]) => HARMLESS.contains(name),
                Some(["np" | "numpy" | "math" | "json" | "os" | "logging" | "warnings" | "copy", ..]) => true,
                _ => false,
            },
        }
    }

    /// Whether a plain function changes none of its parameters.
    fn leaves_alone(&self, inner: Option<ScopeId>) -> bool {
        let Some(inner) = inner else { return false };
        let file = self.of_file(inner.file);
        !file.changes.iter().any(|((scope, _), _)| *scope == inner)
    }
}

/// Python's functions that change none of their arguments.
const HARMLESS: [&str; 25] = [
    "print",
    "len",
    "range",
    "list",
    "tuple",
    "dict",
    "set",
    "frozenset",
    "sum",
    "sorted",
    "reversed",
    "enumerate",
    "zip",
    "map",
    "filter",
    "any",
    "all",
    "isinstance",
    "issubclass",
    "repr",
    "str",
    "type",
    "id",
    "hash",
    "super",
];

/// The one value that several ways lead to, or why that is not known.
fn agreed(
    ways: impl Iterator<Item = Result<Option<ReachingValue>, Opaque>>,
    unknown: Opaque,
) -> Result<Option<ReachingValue>, Opaque> {
    let mut found: Option<ReachingValue> = None;
    for way in ways {
        match (way, &mut found) {
            (Ok(Some(it)), None) => found = Some(it),
            (Ok(Some(it)), Some(known)) if it.value == known.value => known.at = known.at.max(it.at),
            _ => return Err(unknown),
        }
    }
    Ok(found)
}

/// The part of a value that an expression names: `a.b` of the value of `a`. A part is one of a table alone: attributes may be
/// computed otherwise.
fn part_of<'v>(value: &'v Constant, expr: &Expr) -> Option<&'v Constant> {
    match &expr.kind {
        ExprKind::Name(_) => Some(value),
        ExprKind::Attribute(object, name) => match part_of(value, object)? {
            Constant::Namespace(members) => members.get(&*name.name),
            _ => None,
        },
        _ => None,
    }
}

/// Whether a statement leaves the block around it.
fn leaves(stmt: &Stmt) -> bool {
    match &stmt.kind {
        StmtKind::Return(_) | StmtKind::Other { what: "raise" | "continue" | "break", .. } => true,
        StmtKind::Expr(Expr { kind: ExprKind::Call { function, .. }, .. }) => {
            let dotted = function.as_dotted();
            dotted.is_some_and(|it| {
                matches!(it.as_slice(), ["sys", "exit"] | ["exit" | "quit"] | ["pytest", "skip"])
            })
        }
        _ => false,
    }
}

/// A module that many machines lack.
fn is_optional(path: &[String]) -> bool {
    path.first().is_some_and(|it| it == "cupy")
}
