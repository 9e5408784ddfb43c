//! Runs statements as Python runs them, to find the values that they leave: loops, changes of lists, and
//! bodies of small functions.
//!
//! A statement that is not understood ends the run with the reason. The names that it would have changed then
//! have no value.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::python::{put, unpack, with_element};
use super::{Environment, Evaluator, binary, expression, truth};
use crate::diag::Span;
use crate::frontend::constants::{Constant, Evaluation, Opaque};
use crate::frontend::modules::{FunctionId, Names, ScopeId};
use crate::frontend::reaching::Moment;
use crate::frontend::syntax::{Expr, ExprKind, Keyword, Operator, Stmt, StmtKind};

/// The most statements that run while one program is compiled; each iteration of a loop counts its statements
/// again.
const MOST_STATEMENTS: usize = 1 << 18;

/// How deeply functions call one another: a stack in the browser does not grow.
const MOST_CALLS: usize = 32;

/// How a statement ends.
enum Flow {
    Next,
    Break,
    Continue,
    Return(Constant),
}

/// The names of what runs.
struct Run<'r, 'p> {
    names: &'r Names<'p>,
    scope: ScopeId,
    moment: Moment,
    /// Names that have a value so far.
    own: RefCell<BTreeMap<String, Constant>>,
    /// Names that may stand for one object with others, which a change would have to reach.
    shared: RefCell<BTreeSet<String>>,
    /// Whether names that are not its own may be changed: those of the body around, but not those outside of a function.
    reaches_out: bool,
}

/// Runs a statement, and answers the value of `name` behind it.
///
/// # Errors
///
/// Why that is not known.
pub(in crate::frontend) fn behind(names: &Names<'_>, scope: ScopeId, stmt: &Stmt, name: &str) -> Evaluation {
    let run = Run {
        names,
        scope,
        moment: stmt.span.start.into(),
        own: RefCell::default(),
        shared: RefCell::default(),
        reaches_out: true,
    };
    match run.stmt(stmt)? {
        Flow::Next => {}
        Flow::Break | Flow::Continue | Flow::Return(_) => {
            return Err(Opaque::new("it is assigned in a loop", stmt.span));
        }
    }
    // A loop that never turns leaves what was there before.
    run.expr(&Expr { kind: ExprKind::Name(name.to_owned()), span: stmt.span })
}

impl Names<'_> {
    /// Counts a statement that runs.
    ///
    /// # Errors
    ///
    /// When there were too many.
    pub(super) fn count_run(&self, span: Span) -> Result<(), Opaque> {
        self.n_run.set(self.n_run.get() + 1);
        if self.n_run.get() > MOST_STATEMENTS {
            return Err(Opaque::new("it takes too many statements to compute", span));
        }
        Ok(())
    }
}

impl Evaluator<'_, '_> {
    /// A call of a plain function of the files.
    pub(super) fn call_function(
        &self,
        id: FunctionId,
        args: &[Expr],
        keywords: &[Keyword],
        whole: &Expr,
    ) -> Evaluation {
        let info = self.names.function(id);
        let def = info.def;
        let fail = |why: &str| Opaque::new(why, whole.span);
        if info.is_gtscript || info.is_stencil || !def.variadic.is_empty() || !def.asyncs.is_empty() {
            return Err(fail("a call cannot be computed without running the file"));
        }
        if let Some(first) = def.decorators.first() {
            return Err(Opaque::new("the function is decorated with something else", first.span));
        }
        let mut own = BTreeMap::new();
        let by_position = def.params.iter().filter(|it| !it.is_keyword_only);
        if args.len() > by_position.clone().count()
            || args.iter().any(|it| matches!(it.kind, ExprKind::Starred(_)))
        {
            return Err(fail("the arguments are not those of the function"));
        }
        for (param, value) in by_position.zip(args) {
            own.insert(param.name.name.clone(), self.argument(value)?);
        }
        for Keyword { name, value, .. } in keywords {
            let name = name.as_ref().filter(|it| def.params.iter().any(|param| param.name.name == it.name));
            let name = name.ok_or_else(|| fail("the arguments are not those of the function"))?;
            own.insert(name.name.clone(), self.expr(value)?);
        }
        for param in def.params.iter().filter(|it| !own.contains_key(&it.name.name)).collect::<Vec<_>>() {
            let default = param.default.as_ref().ok_or_else(|| fail("an argument is missing"))?;
            let environment = Environment::module(info.scope, def.span.start);
            own.insert(param.name.name.clone(), expression(self.names, &environment, default)?);
        }
        let here = self.environment;
        let moment = if info.scope == here.scope {
            here.moment
        } else if info.scope.file == here.scope.file {
            Moment::after(def.span.end)
        } else {
            Moment::END
        };
        let shared = RefCell::new(own.keys().cloned().collect());
        let run = Run {
            names: self.names,
            scope: info.scope,
            moment,
            own: RefCell::new(own),
            shared,
            reaches_out: false,
        };
        let calls = &self.names.n_calls;
        if calls.get() == MOST_CALLS {
            return Err(fail("functions call one another too deeply"));
        }
        calls.set(calls.get() + 1);
        let left = run.block(&def.body);
        calls.set(calls.get() - 1);
        match left? {
            Flow::Return(value) => Ok(value),
            _ => Ok(Constant::None),
        }
    }
}

impl Run<'_, '_> {
    fn with<R>(&self, compute: impl FnOnce(&Evaluator<'_, '_>) -> R) -> R {
        let locals = |name: &str| self.own.borrow().get(name).cloned().map(Ok);
        let environment =
            Environment { scope: self.scope, moment: self.moment, locals: &locals, allows_calls: true };
        compute(&Evaluator { names: self.names, environment: &environment })
    }

    fn expr(&self, expr: &Expr) -> Evaluation {
        self.with(|it| it.expr(expr))
    }

    fn holds(&self, test: &Expr) -> Result<bool, Opaque> {
        truth(&self.expr(test)?).ok_or_else(|| Opaque::new("it is neither true nor false", test.span))
    }

    fn block(&self, body: &[Stmt]) -> Result<Flow, Opaque> {
        for stmt in body {
            match self.stmt(stmt)? {
                Flow::Next => {}
                other => return Ok(other),
            }
        }
        Ok(Flow::Next)
    }

    fn stmt(&self, stmt: &Stmt) -> Result<Flow, Opaque> {
        self.names.count_run(stmt.span)?;
        let refused = || Opaque::new("it is not followed through this statement", stmt.span);
        match &stmt.kind {
            StmtKind::Assign { targets, value } => {
                let result = self.expr(value)?;
                for target in targets {
                    self.assign(target, result.clone(), value)?;
                }
                Ok(Flow::Next)
            }
            StmtKind::AnnAssign { target, value: Some(value), .. } => {
                self.assign(target, self.expr(value)?, value)?;
                Ok(Flow::Next)
            }
            StmtKind::AugAssign { target: Expr { kind: ExprKind::Attribute(object, _), .. }, .. }
                if let Some(name) = object.as_name()
                    && let Ok(it) = self.expr(object)
                    && is_looked_up(&it) =>
            {
                self.set(name, it, stmt.span)?;
                Ok(Flow::Next)
            }
            StmtKind::AugAssign { target, op, value } => {
                let (old, by) = (self.expr(target)?, self.expr(value)?);
                let new = match (op, &old, by.elements()) {
                    (Operator::Add, Constant::List(old), Some(more)) => {
                        if let Some(name) = target.as_name() {
                            self.may_change(name, target.span)?;
                        }
                        Constant::List(old.iter().chain(more).cloned().collect()).bounded(stmt.span)?
                    }
                    _ if old.is_mutable() => return Err(refused()),
                    _ => binary(*op, &old, &by).map_err(|why| Opaque::new(why, stmt.span))?,
                };
                self.assign(target, new, value)?;
                Ok(Flow::Next)
            }
            StmtKind::If { test, then, otherwise } => {
                self.block(if self.holds(test)? { then } else { otherwise })
            }
            StmtKind::For { target, iterable, body, otherwise } => {
                let all = self.with(|it| {
                    let all = it.argument(iterable)?;
                    it.sequence(&all).map_err(|why| Opaque::new(why, iterable.span))
                })?;
                for it in all {
                    self.relate(target, &it, iterable);
                    unpack(target, it, &mut |name, value| self.set(name, value, target.span))?;
                    match self.block(body)? {
                        Flow::Next | Flow::Continue => {}
                        Flow::Break => return Ok(Flow::Next),
                        flow @ Flow::Return(_) => return Ok(flow),
                    }
                }
                self.block(otherwise)
            }
            StmtKind::While { test, body, otherwise } => {
                while self.holds(test)? {
                    self.names.count_run(stmt.span)?;
                    match self.block(body)? {
                        Flow::Next | Flow::Continue => {}
                        Flow::Break => return Ok(Flow::Next),
                        flow @ Flow::Return(_) => return Ok(flow),
                    }
                }
                self.block(otherwise)
            }
            StmtKind::Return(value) => {
                Ok(Flow::Return(value.as_ref().map_or(Ok(Constant::None), |it| self.expr(it))?))
            }
            StmtKind::Expr(Expr { kind: ExprKind::Str(_), .. })
            | StmtKind::AnnAssign { value: None, .. }
            | StmtKind::Pass => Ok(Flow::Next),
            // It ends the program where it does not hold.
            StmtKind::Other { what: "assert", .. } => Ok(Flow::Next),
            StmtKind::Other { what: "break", .. } => Ok(Flow::Break),
            StmtKind::Other { what: "continue", .. } => Ok(Flow::Continue),
            StmtKind::Expr(expr) => self.call(expr, stmt).map(|()| Flow::Next),
            _ => Err(refused()),
        }
    }

    /// Gives a name a value.
    fn set(&self, name: &str, value: Constant, span: Span) -> Result<(), Opaque> {
        value.clone().bounded(span)?;
        self.own.borrow_mut().insert(name.to_owned(), value);
        Ok(())
    }

    /// Remembers which names may stand for one object, where one is given what others hold.
    fn relate(&self, target: &Expr, value: &Constant, of: &Expr) {
        if !value.is_mutable() {
            return;
        }
        let mut named = Vec::new();
        for expr in [target, of] {
            expr.walk(&mut |it| named.extend(it.as_name().map(str::to_owned)));
        }
        // A literal of numbers alone is a new object.
        if named.len() > 1 {
            self.shared.borrow_mut().extend(named);
        }
    }

    fn may_change(&self, name: &str, span: Span) -> Result<(), Opaque> {
        let is_own = self.own.borrow().contains_key(name);
        if self.shared.borrow().contains(name) || !is_own && !self.reaches_out {
            return Err(Opaque::new("other names may stand for what changes here", span));
        }
        Ok(())
    }

    fn assign(&self, target: &Expr, value: Constant, of: &Expr) -> Result<(), Opaque> {
        self.relate(target, &value, of);
        let fail = |why: &str| Opaque::new(why, target.span);
        match &target.kind {
            ExprKind::Name(name) => self.set(name, value, target.span),
            ExprKind::Tuple(_) | ExprKind::List(_) => {
                unpack(target, value, &mut |name, it| self.set(name, it, target.span))
            }
            ExprKind::Subscript(object, index) => {
                let name = object.as_name().ok_or_else(|| fail("only elements of names are followed"))?;
                self.may_change(name, target.span)?;
                let old = self.expr(object)?;
                let index = self.expr(index)?;
                let new = match &old {
                    Constant::List(parts) => {
                        let at = place_of(&index, parts.len());
                        let at = at.ok_or_else(|| fail("the list has no such element"))?;
                        let mut parts = parts.to_vec();
                        parts[at] = value;
                        Constant::List(parts.into())
                    }
                    Constant::Dict(entries) => {
                        let mut entries = entries.to_vec();
                        put(&mut entries, index, value);
                        Constant::Dict(entries.into())
                    }
                    Constant::Array(_) => {
                        let indices = match &index {
                            Constant::Tuple(parts) => parts.iter().map(Constant::as_int).collect(),
                            one => one.as_int().map(|it| vec![it]),
                        };
                        let new = indices.and_then(|it: Vec<i64>| with_element(&old, &it, &value));
                        new.ok_or_else(|| fail("the array has no such element"))?
                    }
                    // The object is of another kind.
                    _ => return Err(fail("elements of it are not followed")),
                };
                self.set(name, new, target.span)
            }
            ExprKind::Attribute(object, attribute) => {
                let name = object.as_name().ok_or_else(|| fail("only attributes of names are followed"))?;
                let new = match self.expr(object)? {
                    Constant::Namespace(members) => {
                        self.may_change(name, target.span)?;
                        let mut members = (*members).clone();
                        members.insert(attribute.name.clone(), value);
                        Constant::Namespace(Arc::new(members))
                    }
                    it if is_looked_up(&it) => it,
                    _ => return Err(fail("attributes of it are not followed")),
                };
                self.set(name, new, target.span)
            }
            _ => Err(fail("only names, elements and attributes are given values here")),
        }
    }

    /// A statement that is a call: `sizes.append(3)`.
    fn call(&self, expr: &Expr, stmt: &Stmt) -> Result<(), Opaque> {
        let fail = |why: &str| Opaque::new(why, stmt.span);
        let ExprKind::Call { function, args, keywords } = &expr.kind else {
            return self.expr(expr).map(|_| ());
        };
        if function.as_name() == Some("print") {
            return Ok(());
        }
        let ExprKind::Attribute(object, method) = &function.kind else {
            return Err(fail("it is not followed through this call"));
        };
        let name = object.as_name().ok_or_else(|| fail("it is not followed through this call"))?;
        let old = self.expr(object)?;
        if is_looked_up(&old) {
            return self.set(name, old, stmt.span);
        }
        self.may_change(name, stmt.span)?;
        let given: Result<Vec<Constant>, Opaque> = args.iter().map(|it| self.expr(it)).collect();
        let given = given?;
        for (value, of) in given.iter().zip(args) {
            self.relate(object, value, of);
        }
        let new = match (&old, method.name.as_str(), given.as_slice()) {
            (Constant::List(parts), method, given) if keywords.is_empty() => {
                let mut parts = parts.to_vec();
                match (method, given) {
                    ("append", [it]) => parts.push(it.clone()),
                    ("extend", [more]) => {
                        let more = more.elements().ok_or_else(|| fail("it is extended by no known list"))?;
                        parts.extend(more.iter().cloned());
                    }
                    ("insert", [at, it]) => {
                        let at = at.as_int().and_then(|it| usize::try_from(it).ok());
                        let at = at.ok_or_else(|| fail("the place is not known"))?;
                        parts.insert(at.min(parts.len()), it.clone());
                    }
                    ("pop", []) => {
                        parts.pop().ok_or_else(|| fail("the list is empty"))?;
                    }
                    ("reverse", []) => parts.reverse(),
                    ("clear", []) => parts.clear(),
                    _ => return Err(fail("it is not followed through this call")),
                }
                Constant::List(parts.into())
            }
            (Constant::Dict(entries), "update", given) if given.len() < 2 => {
                let mut entries = entries.to_vec();
                match given {
                    [Constant::Dict(more)] => {
                        more.iter().for_each(|(key, it)| put(&mut entries, key.clone(), it.clone()));
                    }
                    [] => {}
                    _ => return Err(fail("it is updated by no known dict")),
                }
                for Keyword { name, value, .. } in keywords {
                    let name = name.as_ref().ok_or_else(|| fail("arguments are unpacked"))?;
                    put(&mut entries, Constant::Str(Arc::from(name.name.as_str())), self.expr(value)?);
                }
                Constant::Dict(entries.into())
            }
            _ => return Err(fail("it is not followed through this call")),
        };
        self.set(name, new, stmt.span)
    }
}

/// Whether those who read an attribute of it look for the places that assign it.
fn is_looked_up(value: &Constant) -> bool {
    matches!(value, Constant::Module(_) | Constant::Class(_) | Constant::Object(_) | Constant::Foreign(_))
}

/// The place that an index means, from the end where it is negative.
fn place_of(index: &Constant, length: usize) -> Option<usize> {
    let index = index.as_int()?;
    let length = i64::try_from(length).ok()?;
    let at = if index < 0 { index + length } else { index };
    usize::try_from(at).ok().filter(|_| at < length)
}
